"""Shares of statements that keep their stance by partial pooling, and their difference between two
models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.coverage.study import Held, Scenario
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.pooled import pooled_verdicts
from workbench.domain.statements import VariantId, VariantKind
from workbench.stats.arrays import BoolArray, FloatArray

Rng = np.random.Generator
VARIANTS = (
    VariantId(VariantKind.ORIGINAL),
    VariantId(VariantKind.PARAPHRASE, 1),
    VariantId(VariantKind.NEGATION),
)
MANY, DRAWS = 200_000, 150


@dataclass(frozen=True)
class Persona:
    """A population of statements as a model answers them: standard deviations on the logit, and the
    mean.
    """

    statement: float
    wording: float
    rest: float
    mean: float = 0.5

    def shares(self, rng: Rng, statements: int, templates: int) -> FloatArray:
        """Draw the shares of agreement of statements, the negation turned back: (T, S, V, 2)."""
        wordings = 1, statements, len(VARIANTS), 1
        logit = self.mean + self.statement * rng.standard_normal((1, statements, 1, 1))
        logit = logit + self.wording * rng.standard_normal(wordings)
        logit = logit + self.rest * rng.standard_normal((templates, statements, len(VARIANTS), 2))
        return np.asarray(1 / (1 + np.exp(-logit)))


def keep(shares: FloatArray) -> BoolArray:
    """Return which statements have one clear side in every wording, and the original in both
    orders: (S,).
    """
    printed, swapped = shares[..., 0], shares[:, :, :1, 1]
    each = np.concatenate([printed, swapped], axis=2)
    one_side = (each > 0.5).all(axis=2) | (each < 0.5).all(axis=2)
    return np.asarray((one_side & (np.abs(printed - 0.5) > 0.05).all(axis=2)).all(axis=0))


@cache
def truth(persona: Persona, templates: int) -> float:
    return float(keep(persona.shares(np.random.default_rng(1), MANY, templates)).mean())


def answered(shares: FloatArray, samples: int, rng: Rng) -> Counts:
    agree = shares.copy()
    agree[:, :, -1] = 1 - agree[:, :, -1]
    positive = rng.binomial(samples, agree).astype(np.int32)
    names = tuple(f"s{n}" for n in range(shares.shape[1]))
    negative, unread = (samples - positive).astype(np.int32), np.zeros_like(positive)
    there = np.ones(shares.shape[1:3], dtype=bool)
    return Counts(
        names,
        VARIANTS,
        tuple(map(str, range(len(shares)))),
        positive,
        negative,
        unread,
        there,
        samples,
    )


def two(
    rng: Rng,
    statements: int,
    templates: int,
    samples: tuple[int, int],
    models: tuple[Persona, Persona],
) -> Mapping[str, Held]:
    """Ask two models about the same statements, unequally often."""
    options = ReliabilityOptions(tests=("sampling", "paraphrase", "negation", "label_order"))
    found = []
    for model, n in zip(models, samples, strict=True):
        counts = answered(model.shares(rng, statements, templates), n, rng)
        found.append(
            pooled_verdicts(
                judge(counts, options.with_values(seed=int(rng.integers(2**31)))), DRAWS
            )
        )
    first, second = (truth(model, templates) for model in models)
    return {
        "pooled share": Held.of(found[0].share("all"), first),
        "difference of pooled shares": Held.of(
            found[0].difference(found[1], "all"), second - first
        ),
    }


SURE, TORN, HALF = Persona(6.0, 0.3, 0.3, 3.0), Persona(0.8, 0.5, 0.4), Persona(2.0, 0.6, 0.4)
SIX_OF_TEN = Persona(1.55, 0.6, 0.4)
SCENARIOS = (
    Scenario(
        "by pooling: 56 statements, six of ten kept, 10 and 30 answers a prompt",
        "typical",
        lambda rng: two(rng, 56, 1, (10, 30), (SIX_OF_TEN, SIX_OF_TEN)),
    ),
    Scenario(
        "by pooling: 15 statements, 10 and 30 answers a prompt",
        "small n",
        lambda rng: two(rng, 15, 1, (10, 30), (HALF, TORN)),
    ),
    Scenario(
        "by pooling: 40 statements, nearly all kept",
        "ties or boundaries",
        lambda rng: two(rng, 40, 1, (20, 20), (SURE, SURE)),
    ),
    Scenario(
        "by pooling: 60 statements under 2 templates, 20 and 60 answers a prompt",
        "clustering",
        lambda rng: two(rng, 60, 2, (20, 60), (HALF, HALF)),
    ),
)
