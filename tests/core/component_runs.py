"""Answers of known variance components, and how often the intervals of `decompose` hold the
truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.stats.components import COMPONENTS, SAMPLING, Cells, ProbitNormal, decompose


@dataclass(frozen=True)
class Scenario:
    """A design, and the components of its shares."""

    variances: tuple[float, ...]
    "in the order of COMPONENTS, without sampling"
    mean: float
    statements: int
    wordings: int
    templates: int
    samples: int
    "0: exact"
    missing: float = 0.0
    orders: int = 2

    @property
    def shares(self) -> ProbitNormal:
        return ProbitNormal.matching(self.mean, dict(zip(COMPONENTS, self.variances, strict=False)))

    def cells(self, rng: np.random.Generator) -> Cells:
        p = self.shares.draw(rng, self.statements, self.wordings, self.templates, self.orders)
        if self.samples:
            value = rng.binomial(self.samples, p) / self.samples
            noise = value * (1 - value) / (self.samples - 1)
        else:
            value, noise = p, np.zeros_like(p)
        gone = rng.random(p.shape) < self.missing
        return Cells(np.where(gone, np.nan, value), noise)

    def truth(self) -> dict[str, float]:
        shares = self.shares
        if not self.samples:
            return shares.components | {SAMPLING: 0.0}
        squares = sum(shares.components.values()) + shares.share**2
        return shares.components | {SAMPLING: (shares.share - squares) / self.samples}


NEAR_ONE = (0.03, 0.008, 0.003, 0.004, 0.004, 0.001, 0.002, 0.001, 0.0005, 0.002)
SCENARIOS: Mapping[str, Scenario] = {
    "few statements": Scenario(
        (0.05, 0.015, 0.004, 0.004, 0.006, 0.002, 0.002, 0.002, 0.001, 0.002), 0.55, 8, 4, 3, 10
    ),
    "an issue": Scenario(
        (0.06, 0.02, 0.006, 0.01, 0.01, 0.002, 0.004, 0.002, 0.001, 0.004), 0.5, 15, 6, 6, 30
    ),
    "shares at both ends, prompts missing": Scenario(
        (0.15, 0.015, 0.003, 0.004, 0.006, 0.002, 0.002, 0.002, 0.001, 0.002),
        0.5,
        24,
        6,
        4,
        30,
        0.1,
    ),
    "exact, near one end, templates differ most": Scenario(
        (0.02, 0.003, 0.03, 0.002, 0.001, 0.01, 0.001, 0.001, 0.003, 0.001), 0.8, 40, 6, 6, 0, 0.1
    ),
    "near .9, an issue": Scenario(NEAR_ONE, 0.9, 15, 6, 6, 30),
    "near .9, several issues": Scenario(NEAR_ONE, 0.9, 40, 4, 4, 20),
    "near .9, many issues": Scenario(NEAR_ONE, 0.9, 120, 6, 6, 30),
    "published size": Scenario(
        (0.10, 0.02, 0.006, 0.01, 0.01, 0.002, 0.004, 0.002, 0.001, 0.004), 0.6, 239, 6, 6, 30
    ),
}


def covered(
    scenario: Scenario, runs: int, seed: int
) -> dict[str, tuple[float, float, float, float]]:
    """Return for each component its truth, the mean of its estimates with their standard error, and
    how often the interval holds the truth; NaN where there is none in some run.
    """
    rng, truth = np.random.default_rng(seed), scenario.truth()
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(runs):
        for one in decompose(scenario.cells(rng)).components:
            held = (
                float("nan") if np.isnan(one.low) else float(one.low <= truth[one.name] <= one.high)
            )
            found.setdefault(one.name, []).append((one.raw, held))
    table = {}
    for name, rows in found.items():
        raw, held = np.array(rows).T
        table[name] = (
            truth[name],
            float(raw.mean()),
            float(raw.std() / np.sqrt(runs)),
            float(held.mean()),
        )
    return table
