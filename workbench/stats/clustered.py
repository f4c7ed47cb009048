"""Intervals of shares and means over clusters: statements, people, or whatever a claim generalises over.

Observations within a cluster are dependent, so the clusters are the units. The variance of a ratio is the variance of
its linearisation over clusters. A share has Wilson's interval at the effective number of answers, which has a positive
width at 0 and 1 too; other figures have Student's. Both use Satterthwaite's degrees of freedom over strata.

References
----------
Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts estimated
from survey data", Survey Methodology 24(2). Cochran 1977, Sampling Techniques, section 6.4 (ratios). Satterthwaite
1946.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray
from workbench.stats.proportions import wilson_of_share

NORMAL = 1.959963984540054
"97.5 % quantile"
Ends = tuple[float, float]
FEWEST = 6
"least number of clusters with the rarer answer from which a variance is estimated"
NOTHING: Ends = (float("nan"), float("nan"))
Strata = Sequence[npt.NDArray[np.integer]]


def ratio_moves(hits: npt.ArrayLike, counts: npt.ArrayLike) -> FloatArray:
    """Return the influence of each cluster on the ratio Σ hits / Σ counts, to first order: (C,); the sum is 0."""
    of, among = np.asarray(hits, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    total = among.sum()
    return np.asarray((of - of.sum() / total * among) / total)


def variance(moves: FloatArray, strata: Strata | None = None) -> tuple[float, float]:
    """Return the variance of a sum over clusters drawn in strata, and its degrees of freedom (0: nothing varies).

    A stratum of one cluster shows no variance: all such strata are merged, or a single one is merged with the first
    stratum.
    """
    groups = [np.arange(len(moves))] if strata is None else _joined(strata)
    found = spread = 0.0
    for members in groups:
        n = len(members)
        if n > 1:
            part = n * float(np.var(moves[members], ddof=1))
            found += part
            spread += part**2 / (n - 1)
    return found, (found**2 / spread if spread > 0 else 0.0)


def _joined(strata: Strata) -> list[npt.NDArray[np.integer]]:
    single = [members for members in strata if len(members) == 1]
    groups = [members for members in strata if len(members) > 1]
    if len(single) > 1 or not groups:
        return [*groups, np.concatenate(single)] if single else groups
    return [np.concatenate([groups[0], *single]), *groups[1:]]


def share_interval(hits: npt.ArrayLike, counts: npt.ArrayLike, strata: Strata | None = None) -> Ends:
    """Return Wilson's interval of the share Σ hits / Σ counts at the effective number of answers.

    That number is p (1 - p) / variance, times (normal / Student's quantile)² for few clusters. If fewer than `FEWEST`
    clusters have the rarer answer, which is too few to estimate their variance, the effective number is at most the
    number of clusters that have an answer: with 40 statements of which 2 % have only unreadable answers, intervals
    without this limit covered 82 %. NaN for fewer than two clusters.

    Parameters
    ----------
    hits, counts : (C,), per cluster; 0 <= hits <= counts

    Examples
    --------
    >>> [round(end, 3) for end in share_interval([0] * 10, [30] * 10)]
    [0.0, 0.278]
    """
    of, among = np.asarray(hits, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    clusters = int(np.count_nonzero(among > 0))
    if clusters < 2:
        return NOTHING
    share = float(of.sum() / among.sum())
    rarer = of > 0 if share <= 0.5 else of < among
    most = clusters if np.count_nonzero(rarer) < FEWEST else np.inf
    return share_ends(share, ratio_moves(of, among), clusters, strata, most)


def share_ends(
    share: float, moves: FloatArray, clusters: int, strata: Strata | None = None, most: float = np.inf
) -> Ends:
    """Return `share_interval` of a share from the influence of each cluster on it.

    most : upper limit of the effective number of answers
    """
    from scipy.special import stdtrit

    share = min(1.0, max(0.0, share))
    found, freedom = variance(moves, strata)
    if found <= 1e-18 or not 0 < share < 1:
        return wilson_of_share(float(round(share)) if not 0 < share < 1 else share, clusters)
    t = float(stdtrit(freedom, 0.975))
    return wilson_of_share(share, min(most, share * (1 - share) / found * (NORMAL / t) ** 2))


def student_interval(value: float, moves: FloatArray, strata: Strata | None = None) -> Ends:
    """Return value ± t sqrt(variance); NaN if nothing varies.

    Examples
    --------
    >>> [round(end, 2) for end in student_interval(1.0, np.array([0.1, -0.1, 0.2, -0.2]))]
    [-0.16, 2.16]
    """
    from scipy.special import stdtrit

    found, freedom = variance(moves, strata)
    if found <= 1e-18:
        return NOTHING
    reach = float(stdtrit(freedom, 0.975)) * found**0.5
    return value - reach, value + reach


def widened(value: FloatArray, low: FloatArray, high: FloatArray, freedom: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Widen an interval around the estimate to allow for few degrees of freedom. NaN stays NaN."""
    from scipy.special import stdtrit

    ratio = np.where(np.isinf(freedom), 1.0, stdtrit(np.where(np.isinf(freedom), 1.0, freedom), 0.975) / NORMAL)
    return np.minimum(low, value + (low - value) * ratio), np.maximum(high, value + (high - value) * ratio)
