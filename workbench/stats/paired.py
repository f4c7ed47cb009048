"""Comparison of two or more runs on the same items: McNemar's test, Cochran's Q, and differences of shares.

An item is decided if every run says yes or no. Among decided items, only those on which the runs differ are evidence of
a change.

References
----------
McNemar 1947, Note on the sampling error of the difference between correlated proportions or percentages.
Cochran 1950, The comparison of percentages in matched samples. Bonett and Price 2012, Adjusted Wald confidence
interval for a difference of binomial proportions based on paired data. Newcombe 1998, Interval estimation for the
difference between independent proportions, method 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.stats.clustered import NORMAL, NOTHING, Ends
from workbench.stats.proportions import wilson_of_share


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test: that both kinds of change are equally likely.

    min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2). NaN if no pair differs: there is nothing to test.

    Parameters
    ----------
    only_first, only_second : pairs in which the first alone, and the second alone, says yes

    Examples
    --------
    >>> round(mcnemar(1, 8), 4), mcnemar(3, 3), mcnemar(0, 0)
    (0.0391, 1.0, nan)
    """
    from scipy.special import bdtr

    changed = only_first + only_second
    if changed == 0:
        return float("nan")
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), changed, 0.5)))


def paired_ends(only_first: int, only_second: int, n: int) -> Ends:
    """Return the 95 % interval of (c - b) / n, the second share minus the first over the same n items.

    Bonett and Price: d ± z sqrt((b' + c' - d²) / (n + 2)), where b' = (b + 1) / (n + 2), c' = (c + 1) / (n + 2) and
    d = c' - b', cut at -1 and 1. Its width is positive even if no pair differs. NaN without pairs.

    Examples
    --------
    >>> [round(end, 3) for end in paired_ends(1, 8, 40)]
    [0.02, 0.313]
    >>> [round(end, 3) for end in paired_ends(0, 0, 10)]
    [-0.231, 0.231]
    """
    if n == 0:
        return NOTHING
    b, c = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    reach = NORMAL * float(np.sqrt((b + c - (c - b) ** 2) / (n + 2)))
    return max(-1.0, c - b - reach), min(1.0, c - b + reach)


def unpaired_ends(first: int, of_first: int, second: int, of_second: int) -> Ends:
    """Return the 95 % interval of the second share minus the first, over different items.

    Newcombe's method 10, from both Wilson intervals (l, u): the lower end is d - sqrt((q - l')² + (u - p)²), of shares
    p and q with intervals (l, u) and (l', u'). NaN if a side has no items.

    Examples
    --------
    >>> [round(end, 3) for end in unpaired_ends(5, 20, 14, 20)]
    [0.141, 0.657]
    """
    if not of_first or not of_second:
        return NOTHING
    p, q = first / of_first, second / of_second
    (low, high), (low_q, high_q) = wilson_of_share(p, of_first), wilson_of_share(q, of_second)
    below, above = np.hypot(q - low_q, high - p), np.hypot(high_q - q, p - low)
    return float(q - p - below), float(q - p + above)


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Cochran's test of whether several runs say yes equally often on the same items."""

    q: float
    "NaN if no item differs between the runs, or there are fewer than two runs"
    df: int
    p: float
    "by chi-squared with df degrees of freedom"
    n: int
    "items decided in all runs"
    differ: int
    "those of the n items on which the runs differ; the approximation needs about 24 / runs or more"


def cochran_q(yes: npt.ArrayLike) -> CochranQ:
    """Return Cochran's test of (items, runs), 1 for yes and 0 for no.

    Q = (k - 1) (k Σ C_j² - N²) / (k N - Σ R_i²), of column sums C, row sums R and their total N.

    Examples
    --------
    >>> found = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]])
    >>> round(found.q, 3), found.df, round(found.p, 3), found.n, found.differ
    (6.0, 2, 0.05, 6, 4)
    """
    from scipy.special import chdtrc

    table = np.atleast_2d(np.asarray(yes, dtype=np.float64))
    n, runs = table.shape
    rows = table.sum(axis=1)
    differ = int(np.count_nonzero((rows > 0) & (rows < runs)))
    df = max(0, runs - 1)
    if not differ or runs < 2:
        return CochranQ(float("nan"), df, float("nan"), n, differ)
    total = table.sum()
    columns = table.sum(axis=0)
    q = df * (runs * (columns**2).sum() - total**2) / (runs * total - (rows**2).sum())
    return CochranQ(float(q), df, float(chdtrc(df, q)), n, differ)
