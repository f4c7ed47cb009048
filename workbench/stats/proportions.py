"""The leaning of a binary sample: its interval, and whether the leaning is clear enough to count as reliable.

A prompt is asked n times, and k answers are in favour. Ceron et al. (2024, section 5.4) bootstrap the share k/n. The
bootstrap distribution of a mean of zeros and ones is known, Binomial(n, k/n)/n, so its percentiles are computed here
instead of drawn, without noise or seed, with one table lookup per cell.

References
----------
Ceron, Falk, Barić, Nikolaev, Padó 2024, Beyond prompt brittleness, TACL 12.
Wilson 1927, Probable inference, the law of succession, and statistical inference, JASA 22.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray, whole_numbers

ReliabilityRule = Literal["printed", "coded"]

TIE = 1e-9
"cumulative probabilities that differ by less than this are equal; rounding errors are near 1e-11 at n = 5000"


def leaning_interval(k: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return the exact percentile bootstrap interval of the shares k/n.

    The ends are the quantiles of Binomial(n, k/n)/n at (1 - level)/2 and (1 + level)/2: the smallest share whose
    cumulative probability reaches that level.

    Parameters
    ----------
    k, n : integer arrays that broadcast, 0 <= k <= n: answers in favour, and readable answers

    Returns
    -------
    low, high : shares, in the broadcast shape; NaN where n = 0

    Examples
    --------
    >>> low, high = leaning_interval([8, 30, 0], [30, 30, 0])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.133, 1.0, nan], [0.433, 1.0, nan])
    """
    positives, sizes = _counts(k, n)
    distinct = np.flatnonzero(np.bincount(sizes.ravel()))
    tables = [_interval_table(int(size), level) for size in distinct]
    if not tables:
        return np.empty(sizes.shape), np.empty(sizes.shape)
    first_row = np.zeros(distinct[-1] + 1, dtype=np.int64)
    first_row[distinct] = np.cumsum([0, *(distinct[:-1] + 1)])
    found = np.concatenate(tables)[first_row[sizes] + positives]
    return found[..., 0], found[..., 1]


def is_reliable(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    rule: ReliabilityRule = "printed",
    low: float = 0.45,
    high: float = 0.55,
    level: float = 0.95,
) -> BoolArray:
    """Return whether the samples lean clearly to one side; False if n = 0.

    `printed`: the interval lies wholly below `low` or wholly above `high`. The paper asks that both values lie outside
    the interval, to ensure "a clear leaning towards either the positive or the negative stance"; an interval between
    the two, which occurs for a large n and a share near one half, has no clear leaning and is not reliable. `coded`: as
    in the authors' released code, only `high` has to lie outside the interval, so that 9 to 11 of 30 are reliable as
    well.

    The caller checks whether n is large enough to judge.

    Examples
    --------
    >>> is_reliable([8, 9, 11, 21, 22], 30).tolist()
    [True, False, False, False, True]
    >>> is_reliable([8, 9, 11, 21, 22], 30, rule="coded").tolist()
    [True, True, True, False, True]
    """
    if rule not in ("printed", "coded"):
        raise UnknownName(f"reliability rule {rule!r} is unknown; choose 'printed' or 'coded'")
    lower, upper = leaning_interval(k, n, level)
    ceiling = low if rule == "printed" else high
    return np.asarray((lower > high) | (upper < ceiling), dtype=np.bool_)


def wilson_interval(k: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of the shares k/n; NaN where n = 0.

    (k + z²/2 ± z sqrt(k (n - k)/n + z²/4)) / (n + z²). Unlike the bootstrap interval, it has a positive width at k = 0
    and k = n.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0, 0.2775)
    """
    positives, sizes = _counts(k, n)
    z = NormalDist().inv_cdf((1 + level) / 2)
    observed = np.where(sizes > 0, sizes, np.nan)
    centre = positives + z * z / 2
    half = z * np.sqrt(positives * (observed - positives) / observed + z * z / 4)
    low, high = (centre - half) / (observed + z * z), (centre + half) / (observed + z * z)
    # Exact at the ends, where rounding would put the share itself just outside the interval.
    return np.where(positives == 0, 0 * low, low), np.where(positives == sizes, 1 + 0 * high, high)


def wilson_of_share(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share with an effective n, which need not be whole; NaN where n is 0.

    Examples
    --------
    >>> [round(end, 4) for end in wilson_of_share(0.0, 10)]
    [0.0, 0.2775]
    """
    if not n > 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((centre + side * half) / (1 + z * z / n) for side in (-1, 1))
    return (0.0 if share <= 0 else max(0.0, low)), (1.0 if share >= 1 else min(1.0, high))


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    positives, sizes = np.broadcast_arrays(whole_numbers(k), whole_numbers(n))
    if np.any(positives < 0) or np.any(positives > sizes):
        raise ValueError("k must lie between 0 and n")
    return positives, sizes


@lru_cache(maxsize=1024)
def _interval_table(n: int, level: float) -> FloatArray:
    """Return the interval for every k of n, as a read-only array (n + 1, 2)."""
    tail = (1 - level) / 2
    table = np.full((n + 1, 2), np.nan)
    if n > 0:
        table[[0, n]] = [[0.0, 0.0], [1.0, 1.0]]  # all answers are equal, and so are all resamples
    if n > 1:
        smallest, cumulative = _binomial_cdf(n)
        for column, wanted in enumerate((tail, 1 - tail)):
            table[1:n, column] = (smallest + np.argmax(cumulative >= wanted - TIE * tail, axis=1)) / n
    table.flags.writeable = False
    return table


def _binomial_cdf(n: int) -> tuple[IntArray, FloatArray]:
    """Return P(X <= x) of Binomial(n, k/n) for k = 1..n-1 in a window of x around k, and the first x of each window.

    By Hoeffding's inequality, less than 2 exp(-2 * 4.5²), or 6e-18, lies outside k ± 4.5 sqrt(n), so the work grows
    with n sqrt(n) instead of n².
    """
    reach = math.ceil(4.5 * math.sqrt(n))
    k = np.arange(1, n)[:, None]
    x = k + np.arange(-reach, reach + 1)
    inside = np.clip(x, 0, n)
    log_factorial = np.array([math.lgamma(i + 1) for i in range(n + 1)])
    log_mass = log_factorial[n] - log_factorial[inside] - log_factorial[n - inside]
    log_mass += inside * np.log(k / n) + (n - inside) * np.log((n - k) / n)
    return k[:, 0] - reach, np.cumsum(np.where(x == inside, np.exp(log_mass), 0.0), axis=1)
