"""A random control sample of answers, drawn within strata, and the estimated share of misread answers.

The unit is one answer. A simple random sample without replacement is drawn within each stratum, so the counts of
distinct answers in the sample are multivariate hypergeometric. An answer is included with probability n / N of its
stratum.

References
----------
Wilson 1927, Probable inference, the law of succession, and statistical inference, JASA 22.
Zou, Huang, Zhang 2009, A note on confidence interval estimation for a linear function of binomial proportions,
Computational Statistics & Data Analysis 53 (MOVER, which combines the limits of each proportion).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import IntArray
from workbench.stats.proportions import wilson_interval

LEAST = 20
"least number of decided answers for an interval of the rate"


@dataclass(frozen=True, slots=True)
class Stratum:
    """The counts of one stratum."""

    size: int
    "all answers of the stratum, N"
    decided: int
    "drawn answers that a person has judged to be misread or not"
    misread: int


def allocated(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Return how many answers to draw from each stratum: equal numbers, or all answers of a smaller stratum.

    Examples
    --------
    >>> allocated([1000, 1000], 50), allocated([10, 1000], 50), allocated([3, 4], 50)
    ((25, 25), (10, 40), (3, 4))
    """
    found, left = [0] * len(sizes), n
    for rank, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        found[at] = min(sizes[at], left // (len(sizes) - rank))
        left -= found[at]
    return tuple(found)


def drawn(counts: npt.ArrayLike, n: int, rng: np.random.Generator) -> IntArray:
    """Return how often each distinct answer is drawn: n of all answers, without replacement, in random order.

    counts : how often each answer was given
    Returns the indices of the drawn answers in `counts`: (n,)
    """
    often = rng.multivariate_hypergeometric(np.asarray(counts, dtype=np.int64), n, method="marginals")
    return np.asarray(rng.permutation(np.repeat(np.arange(len(often)), often)), dtype=np.int64)


def misread_rate(strata: Sequence[Stratum]) -> Estimate:
    """Return the share of all answers that are misread, sum N_h / N * k_h / n_h, from the decided answers of each
    stratum.

    The interval combines Wilson's limits l_h, u_h of the strata: p - sqrt(sum (W_h (p_h - l_h))²) and
    p + sqrt(sum (W_h (u_h - p_h))²) with W_h = N_h / N (MOVER). For one stratum it is Wilson's. It ignores that answers
    are drawn without replacement, so it is too wide if most answers are drawn.

    Examples
    --------
    >>> found = misread_rate([Stratum(900, 50, 0), Stratum(100, 50, 10)])
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.02, 0.011, 0.086)
    """
    there = [one for one in strata if one.size]
    n = sum(one.decided for one in there)
    nan = math.nan
    if not n or any(not one.decided for one in there):
        return Estimate(nan, nan, nan, n, undefined="a group of statements has no decided answer yet")
    weights = np.array([one.size for one in there]) / sum(one.size for one in there)
    k, sizes = np.array([one.misread for one in there]), np.array([one.decided for one in there])
    shares = k / sizes
    value = float(weights @ shares)
    if n < LEAST:
        return Estimate(value, nan, nan, n, few=f"too few for an interval: {n} of {LEAST} answers")
    low, high = wilson_interval(k, sizes)
    below, above = (float(np.sqrt(((weights * gap) ** 2).sum())) for gap in (shares - low, high - shares))
    return Estimate(value, max(0.0, value - below), min(1.0, value + above), n, interval="misread answers")
