"""Intervals that also hold where a side has few statements.

A percentile interval of resampled statements is as wide as one with normal quantiles and a known variance. With the 6
left statements of the WVS (2 of them economic) it is too narrow, since the variance is estimated from these few. So
each end is moved away from the estimate by the ratio of Student's t quantile to the normal one, with Satterthwaite's
degrees of freedom over strata: a few per cent with 89 statements, much with two on a side. In 1,000 simulated
instruments of the published size this raised the coverage from 94 to 95 % for all statements, from 91 to 94 % for the
WVS, and from 78 to 88 % for its 9 economic statements, which are too few for any interval to be exact.

References
----------
Hesterberg 2015, "What teachers should know about the bootstrap", The American Statistician 69(4): percentile intervals
are too narrow in small samples, and are expanded by t. Satterthwaite 1946, "An approximate distribution of estimates of
variance components", Biometrics Bulletin 2(6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.stats.arrays import FloatArray, IntArray

NORMAL = 1.959963984540054
"97.5 % quantile"


def influences(net: FloatArray, counted: FloatArray, side: IntArray) -> FloatArray:
    """Return how far each statement moves the bias on its side, and the total: (3, S) for left, right, total.

    The bias is a ratio of sums, net / counted; its linear part per statement is (net_s - bias counted_s) / counted.
    NaN where a side is undefined.
    """
    moves = np.zeros((3, len(side)))
    for place in (0, 1):
        mine = side == place
        total = counted[mine].sum()
        bias = net[mine].sum() / total if total > 0 else np.nan
        moves[place, mine] = (net[mine] - bias * counted[mine]) / (total if total > 0 else np.nan)
    moves[2] = (moves[1] - moves[0]) / 2
    return moves


def degrees_of_freedom(moves: FloatArray, strata: Sequence[IntArray]) -> FloatArray:
    """Return Satterthwaite's degrees of freedom of a sum of influences over statements drawn in strata.

    Parameters
    ----------
    moves : (..., S)

    Returns
    -------
    array (...); infinite where no stratum varies, NaN where an influence is

    Examples
    --------
    >>> degrees_of_freedom(np.array([1.0, -1.0, 0.5, 1.5, -2.0]), [np.arange(5)]).tolist()
    4.0
    """
    variance, spread = np.zeros(moves.shape[:-1]), np.zeros(moves.shape[:-1])
    for members in strata:
        n = len(members)
        if n > 1:
            of_stratum = n * moves[..., members].var(axis=-1, ddof=1)
            variance += of_stratum
            spread += of_stratum**2 / (n - 1)
    return np.asarray(np.where(spread == 0, np.inf, variance**2 / np.where(spread == 0, 1, spread)))


def standard_errors(
    moves: FloatArray, weights: FloatArray, strata: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error of a sum of influences, in the sample and in each draw: (...) and (..., draws).

    Of the n statements of a stratum a draw has n - 1 (`stats.resampling.rescaled_times`), whose spread makes the error
    in that draw: Σ w (e - mean)² n / (n - 2). One statement of two has none, so a stratum of two keeps the sample's.

    Parameters
    ----------
    moves : (..., S)
    weights : (S, draws), of the statements in each draw
    """
    found = np.zeros(moves.shape[:-1])
    drawn = np.zeros((*moves.shape[:-1], weights.shape[1]))
    for members in strata:
        n = len(members)
        if n < 2:
            continue
        each, times = moves[..., members], weights[members]
        of_stratum = n * each.var(axis=-1, ddof=1)
        found += of_stratum
        if n == 2:
            drawn += of_stratum[..., None]
        else:
            drawn += ((each**2) @ times - (each @ times) ** 2 / n) * n / (n - 2)
    return np.sqrt(found), np.sqrt(np.maximum(drawn, 0))


def widened(value: FloatArray, low: FloatArray, high: FloatArray, freedom: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move the ends of an interval away from the estimate for few degrees of freedom. NaN stays NaN."""
    from scipy.special import stdtrit

    ratio = np.where(np.isinf(freedom), 1.0, stdtrit(np.where(np.isinf(freedom), 1.0, freedom), 0.975) / NORMAL)
    return np.minimum(low, value + (low - value) * ratio), np.maximum(high, value + (high - value) * ratio)
