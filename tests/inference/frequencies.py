"""Are these counts draws from that distribution? Cells that are too rare for chi-square are counted
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, chi2_contingency

RARE = 5.0
"expected count below which a cell is counted with others"
ALPHA = 0.01


def against_exact(
    observed: Mapping[Any, float], probabilities: Mapping[Any, float]
) -> tuple[float, int]:
    """Return (chi-square statistic, degrees of freedom); what cannot occur must not have."""
    assert set(observed) <= set(probabilities), "something was drawn that cannot be"
    n = sum(observed.values())
    expected = {cell: n * p for cell, p in probabilities.items()}
    common = [cell for cell, e in expected.items() if e >= RARE]
    seen = [float(observed.get(cell, 0)) for cell in common]
    wanted = [expected[cell] for cell in common]
    rest = n - sum(wanted)
    if rest >= RARE:
        seen, wanted = [*seen, n - sum(seen)], [*wanted, rest]
    elif common:  # too little is left for a cell of its own
        smallest = int(np.argmin(wanted))
        seen[smallest] += n - sum(seen)
        wanted[smallest] += rest
    found, should = np.array(seen), np.array(wanted)
    return float(((found - should) ** 2 / should).sum()), max(len(should) - 1, 0)


def p_value(statistic: tuple[float, int]) -> float:
    return float(chi2.sf(*statistic)) if statistic[1] else 1.0


def of_two_samples(left: Mapping[Any, float], right: Mapping[Any, float]) -> float:
    """Return the p-value of two samples of one size having one distribution."""
    cells = sorted(set(left) | set(right), key=repr)
    both: NDArray[np.float64] = np.array(
        [[sample.get(cell, 0) for cell in cells] for sample in (left, right)]
    )
    rare = both.sum(axis=0) < 2 * RARE
    table = np.column_stack([both[:, ~rare], both[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0


def any_rejected(p_values: Sequence[float], alpha: float = ALPHA) -> bool:
    """Return whether Holm's procedure rejects any hypothesis: its first step is Bonferroni's."""
    return min(p_values) <= alpha / len(p_values)


def total(statistics: Sequence[tuple[float, int]]) -> float:
    """Return where the sum of independent statistics lies in its distribution: near 1 the counts
    fit too badly, near 0 better than chance allows, as where counts are rounded shares instead of
    draws.
    """
    return float(chi2.cdf(sum(s for s, _ in statistics), sum(df for _, df in statistics)))


def first_tokens(answers: Mapping[tuple[int, ...], float]) -> dict[Any, float]:
    """Return how often each first token occurs; () where an answer has none."""
    found: dict[Any, float] = {}
    for answer, weight in answers.items():
        found[answer[:1]] = found.get(answer[:1], 0) + weight
    return found
