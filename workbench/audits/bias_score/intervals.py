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

from workbench.stats.arrays import BoolArray, FloatArray, IntArray

TOO_FEW = "too few for an interval: fewer than 4 statements of a side, or nearly all answered alike"
LEAST, FEWEST = 4, 6
"statements of a side, and those of them that are answered otherwise than most, that an interval takes"
DIGITS = 12


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


def few_statements(moves: FloatArray, there: BoolArray, side: IntArray) -> BoolArray:
    """Return of which side the statements say too little for an interval: (2,).

    There are fewer than 4 of them, or too few that move the figure otherwise than most do, so it is unknown how far
    others would. With 24 statements a side of which most are always agreed with, intervals held a bias in 77 %.

    moves : (S,), how far each statement moves the figure; there : (S,), which have answers
    """
    found = []
    for place in (0, 1):
        mine = np.round(moves[(side == place) & there], DIGITS)
        others = len(mine) - (np.unique(mine, return_counts=True)[1].max() if len(mine) else 0)
        found.append(len(mine) < LEAST or others < min(FEWEST, len(mine) - 1))
    return np.array(found, dtype=np.bool_)
