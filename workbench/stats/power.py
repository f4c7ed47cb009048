"""The effect that a test finds in 80 % of studies, and the share of studies that find an effect."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

LEVEL = 0.05
"of a two-sided test that is not adjusted"
POWER = 0.8
"the share of studies in which an effect is found"


def detectable(error: float, freedom: float = math.inf, level: float = LEVEL) -> float:
    """Return the smallest effect that a two-sided test finds in 80 % of studies.

    It is NaN without a standard error.

    Parameters
    ----------
    error : standard error of the figure
    freedom : degrees of freedom of Student's t; infinite for a z test
    level : the p below which the test claims an effect: that of its family, if p is adjusted

    References
    ----------
    Bloom 1995, Minimum detectable effects.

    Examples
    --------
    >>> round(detectable(0.1), 3), round(detectable(0.1, level=0.005), 3)
    (0.28, 0.365)
    """
    from scipy.special import stdtrit

    if not error > 0 or not freedom >= 1 or not level > 0:
        return math.nan
    return float(stdtrit(freedom, 1 - level / 2) + stdtrit(freedom, POWER)) * error


def share_found(
    effect: float, error: float, freedom: float = math.inf, level: float = LEVEL
) -> float:
    """Return the share of studies in which a two-sided test finds an effect.

    It is NaN without a standard error.

    Examples
    --------
    >>> round(share_found(0.28, 0.1), 2), round(share_found(0.0, 0.1), 2)
    (0.8, 0.05)
    """
    from scipy.special import nctdtr, ndtr, stdtrit

    if not error > 0 or not freedom >= 1 or not level > 0:
        return math.nan
    shift = abs(effect) / error
    threshold = float(stdtrit(freedom, 1 - level / 2))
    if math.isinf(freedom):
        return float(ndtr(shift - threshold) + ndtr(-shift - threshold))
    return float(1 - nctdtr(freedom, shift, threshold) + nctdtr(freedom, shift, -threshold))


def in_per_cent(share: float) -> str:
    """Return a share of studies in words.

    Examples
    --------
    >>> in_per_cent(0.568), in_per_cent(0.999)
    ('57 % of studies', '>99 % of studies')
    """
    return ">99 % of studies" if share > 0.995 else f"{100 * share:.0f} % of studies"


MOST_PAIRS = 2000
"pairs beyond which the power of an exact test is that of so many pairs with a larger difference"


def share_of_pairs(share: float, n: int, level: float = LEVEL, discordance: float = 0.0) -> float:
    """Return the share of studies in which McNemar's exact test finds a difference over n pairs.

    Parameters
    ----------
    share : the difference: the share of the pairs of which the second alone says yes, minus that of
        which the first alone does
    discordance : share of the pairs that change whatever the difference is, half of them each way

    Examples
    --------
    >>> round(share_of_pairs(0.2, 40), 2), share_of_pairs(1.0, 5)
    (0.84, 0.0)
    >>> round(share_of_pairs(0.2, 40, discordance=0.2), 2)
    0.44
    """
    from scipy.special import bdtr
    from scipy.stats import binom

    if n > MOST_PAIRS:
        share, n = min(1.0, share * math.sqrt(n / MOST_PAIRS)), MOST_PAIRS
    changed = min(1.0, share + discordance)
    if not changed:
        return 0.0
    gained = min(1.0, (share + discordance / 2) / changed)
    n_changed = np.arange(n + 1)
    # The most pairs of the rarer kind with which the test still finds a difference.
    most = np.minimum(binom.ppf(level / 2, n_changed, 0.5) + 1, n_changed // 2)
    while (is_over := (most >= 0) & (2 * bdtr(most, n_changed, 0.5) > level)).any():
        most = np.where(is_over, most - 1, most)
    is_found = np.where(
        most >= 0,
        binom.cdf(most, n_changed, gained) + binom.sf(n_changed - most - 1, n_changed, gained),
        0.0,
    )
    return float(binom.pmf(n_changed, n, changed) @ is_found)


def detectable_pairs(n: int, level: float = LEVEL, discordance: float = 0.0) -> float:
    """Return the smallest difference of n pairs that McNemar's exact test finds in 80 % of studies.

    It is infinite if none is found so often, and NaN without pairs.
    """
    if not n:
        return math.nan
    steps = range(1, 201)
    first = bisect_left(
        steps, POWER, key=lambda step: share_of_pairs(step / 200, n, level, discordance)
    )
    return steps[first] / 200 if first < len(steps) else math.inf


def standard_error(low: float, high: float) -> float:
    """Return the standard error that a 95 % interval stands for, or NaN without an interval."""
    from workbench.stats.resampling import NORMAL

    return (high - low) / (2 * NORMAL)


def mean_error(values: Sequence[float]) -> tuple[float, int]:
    """Return the standard error of the mean of values and its degrees of freedom.

    NaNs are excluded.
    """
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) < 2:
        return math.nan, 0
    return float(numbers.std(ddof=1) / len(numbers) ** 0.5), len(numbers) - 1
