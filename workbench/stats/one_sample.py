"""Whether a mean differs from 0: Student's t-test of one sample, and the cases in which it says nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NO_VALUES = "no values"
ONE_VALUE = "one value has no spread"
ALL_EQUAL = "all values equal"


@dataclass(frozen=True, slots=True)
class MeanTest:
    """A mean with its interval and its two-sided test against 0."""

    mean: float
    "NaN where there are no values"
    low: float
    "95 % interval of Student's t; NaN for fewer than two values"
    high: float
    sd: float
    "divisor n - 1"
    t: float
    "infinite where all values are the same number other than 0; NaN where they are all 0"
    df: int
    "n - 1, never below 0"
    p: float
    "NaN where there is no t"
    n: int
    degenerate: str = ""
    "why the test says little: `all values equal`, `one value has no spread`, `no values`; empty where it is sound"


def mean_test(values: npt.ArrayLike, resolution: float = 0.0) -> MeanTest:
    """Return t = mean / (sd / root(n)) with n - 1 degrees of freedom, and mean ± t(0.975) sd / root(n).

    NaNs are left out. Where all values are equal this follows scipy: t is infinite and p is 0, or neither exists if the
    values are 0. The interval has no width then, and `degenerate` says so: few values without any spread are seldom
    from a population without any.

    Parameters
    ----------
    resolution : values that differ by no more than this are equal, in their own unit: what is left of equal values
        after rounding would have a t of any size

    References
    ----------
    Student 1908, The probable error of a mean.

    Examples
    --------
    >>> found = mean_test([1, 2, 3, 6])
    >>> round(found.mean, 3), round(found.low, 3), round(found.t, 3), found.df, round(found.p, 4)
    (3.0, -0.437, 2.777, 3, 0.0691)
    >>> mean_test([4.0]).degenerate
    'one value has no spread'
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = numbers[~np.isnan(numbers)]
    n, nan = len(numbers), float("nan")
    if n == 0:
        return MeanTest(nan, nan, nan, nan, nan, 0, nan, 0, NO_VALUES)
    mean = float(numbers.mean())
    if n == 1:
        return MeanTest(mean, nan, nan, nan, nan, 0, nan, 1, ONE_VALUE)
    if np.ptp(numbers) <= resolution:
        return _all_equal(mean if abs(mean) > resolution else 0.0, n)
    return _tested(mean, float(numbers.std(ddof=1)), n)


def _tested(mean: float, sd: float, n: int) -> MeanTest:
    from scipy.special import stdtr, stdtrit  # of scipy.stats itself the import alone takes most of a second

    se = sd / np.sqrt(n)
    t = float(mean / se)
    reach = float(stdtrit(n - 1, 0.975) * se)
    return MeanTest(mean, mean - reach, mean + reach, sd, t, n - 1, 2 * float(stdtr(n - 1, -abs(t))), n)


def _all_equal(mean: float, n: int) -> MeanTest:
    nan = float("nan")
    t, p = (float(np.copysign(np.inf, mean)), 0.0) if mean else (nan, nan)
    return MeanTest(mean, mean, mean, 0.0, t, n - 1, p, n, ALL_EQUAL)
