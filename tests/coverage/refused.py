"""Refusals: some statements are refused nearly always and most never, so answers to one statement
go together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.coverage.study import Held, Scenario
from workbench.domain.statements import Side
from workbench.evidence.answered import refusal_gaps, refusal_rates
from workbench.evidence.refusals import AnswerKinds, ModelRefusals, StatementGroups

ANSWERS = 90


def refused(
    rng: np.random.Generator,
    sizes: tuple[int, int],
    means: tuple[float, float],
    alike: float,
    unequal: float = 0.0,
) -> Mapping[str, Held | Sequence[Held]]:
    """Draw refusals. unequal : standard deviation of the logarithm of a statement's number of
    answers
    """
    asked = []
    for side, size, mean in zip(Side, sizes, means, strict=True):
        shares = rng.beta(alike * mean, alike * (1 - mean), size)
        answers = np.ceil(ANSWERS * np.exp(unequal * rng.standard_normal(size))).astype(np.int64)
        asked += [
            StatementGroups(f"{side} {n}", AnswerKinds(int(of), int(k)), side=side)
            for n, (of, k) in enumerate(zip(answers, rng.binomial(answers, shares), strict=True))
        ]
    of = [ModelRefusals("m", tuple(asked))]
    names = [side.value for side in Side]
    truth = dict(zip(names, means, strict=True))
    found = {row.group: row.refused for row in refusal_rates(of)}
    sign = 1 if names[0] == Side.LEFT.value else -1
    difference = refusal_gaps(of, int(rng.integers(2**31)))[0].found.difference
    return {
        "share over statements": [Held.of(found[name], truth[name]) for name in names],
        "difference of refusal rates": Held.of(difference, sign * (means[0] - means[1])),
    }


SCENARIOS = (
    Scenario(
        "refusals, 8 and 10 statements a side",
        "small n",
        lambda rng: refused(rng, (8, 10), (0.3, 0.3), 2.0),
    ),
    Scenario(
        "refusals, 40 statements a side, 2 and 5 % refused",
        "ties or boundaries",
        lambda rng: refused(rng, (40, 40), (0.02, 0.05), 2.0),
    ),
    Scenario(
        "refusals, 40 statements a side that differ much",
        "clustering",
        lambda rng: refused(rng, (40, 50), (0.1, 0.3), 1.0),
    ),
    Scenario(
        "refusals, 12 and 40 statements a side with very unequal numbers of answers",
        "clustering",
        lambda rng: refused(rng, (12, 40), (0.1, 0.3), 2.0, 1.0),
    ),
    Scenario(
        "refusals, 40 statements a side with unequal numbers of answers",
        "clustering",
        lambda rng: refused(rng, (40, 40), (0.3, 0.5), 2.0, 0.6),
    ),
    Scenario(
        "refusals, 20 statements a side with very unequal numbers of answers, 5 and 20 % refused",
        "ties or boundaries",
        lambda rng: refused(rng, (20, 20), (0.05, 0.2), 2.0, 1.0),
    ),
    Scenario(
        "refusals, 8 and 10 statements a side, one side hardly ever and the other nearly "
        "always refused",
        "ties or boundaries",
        lambda rng: refused(rng, (8, 10), (0.05, 0.9), 1.0),
    ),
)
