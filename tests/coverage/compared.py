"""Differences of shares of two runs, over the same items and over items of their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.coverage.study import Held, Scenario
from workbench.stats.hypothesis_tests import paired_ends, unpaired_ends

Rng = np.random.Generator


def paired(rng: Rng, items: int, cells: tuple[float, float, float]) -> Mapping[str, Held]:
    """Draw items of which a share says yes in both runs, in the first alone, in the second
    alone.
    """
    _, lost, gained, _ = rng.multinomial(items, [*cells, 1 - sum(cells)]).tolist()
    return {
        "difference of paired shares": Held(*paired_ends(lost, gained, items), cells[2] - cells[1])
    }


def unpaired(rng: Rng, first: int, second: int, shares: tuple[float, float]) -> Mapping[str, Held]:
    hits = rng.binomial(first, shares[0]), rng.binomial(second, shares[1])
    ends = unpaired_ends(int(hits[0]), first, int(hits[1]), second)
    return {"difference of unpaired shares": Held(*ends, shares[1] - shares[0])}


SCENARIOS = (
    Scenario(
        "two runs on the same 12 statements",
        "small n",
        lambda rng: paired(rng, 12, (0.3, 0.1, 0.3)),
    ),
    Scenario(
        "two runs on 40 statements, which hardly differ",
        "ties or boundaries",
        lambda rng: paired(rng, 40, (0.85, 0.02, 0.06)),
    ),
    Scenario(
        "two runs on 120 statements", "typical", lambda rng: paired(rng, 120, (0.35, 0.1, 0.2))
    ),
    Scenario(
        "two languages, 12 statements each",
        "small n",
        lambda rng: unpaired(rng, 12, 11, (0.4, 0.65)),
    ),
    Scenario(
        "two languages, 40 statements each, nearly all of which pass",
        "ties or boundaries",
        lambda rng: unpaired(rng, 40, 36, (0.97, 0.9)),
    ),
    Scenario(
        "two languages, 120 statements each",
        "typical",
        lambda rng: unpaired(rng, 120, 110, (0.45, 0.6)),
    ),
)
