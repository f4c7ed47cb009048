"""Student's t-test of whether the mean of one sample differs from 0, and the cases in which there is no test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NO_VALUES = "no values"
ONE_VALUE = "one value has no spread"
ALL_EQUAL = "all values equal"
ROUNDING = 1e-12
"values that differ by less than this share of the largest are equal up to rounding"


@dataclass(frozen=True, slots=True)
class MeanTest:
    """A mean with its interval and its two-sided test against 0."""

    mean: float
    "NaN if there are no values"
    low: float
    "95 % interval of Student's t; NaN where there is no test"
    high: float
    sd: float
    "divisor n - 1; NaN for fewer than two values"
    t: float
    "NaN where there is no test"
    df: int
    "n - 1, never below 0"
    p: float
    "two-sided; NaN where there is no test"
    n: int
    degenerate: str = ""
    "why there is no test: `all values equal`, `one value has no spread`, `no values`; empty if there is one"

    @property
    def tested(self) -> bool:
        """Whether there is a test."""
        return not self.degenerate


def mean_test(values: npt.ArrayLike, resolution: float = 0.0) -> MeanTest:
    """Return t = mean / (sd / root(n)) with n - 1 degrees of freedom, and mean ± t(0.975) sd / root(n).

    NaNs are excluded. Fewer than two values, or values that are all equal, have no test and no interval, and
    `degenerate` gives the reason: the test compares a mean with the spread of the values, and equal values have none.
    (scipy gives p = 0 for two equal values other than 0.)

    Parameters
    ----------
    resolution : values that differ by at most this, in their own unit, are equal: rounding errors of equal values would
    give an arbitrary t

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
    if np.ptp(numbers) <= max(resolution, ROUNDING * float(np.abs(numbers).max())):
        return MeanTest(mean if abs(mean) > resolution else 0.0, nan, nan, 0.0, nan, n - 1, nan, n, ALL_EQUAL)
    return _tested(mean, float(numbers.std(ddof=1)), n)


def _tested(mean: float, sd: float, n: int) -> MeanTest:
    from scipy.special import stdtr, stdtrit  # importing scipy.stats takes most of a second

    se = sd / np.sqrt(n)
    t = float(mean / se)
    reach = float(stdtrit(n - 1, 0.975) * se)
    return MeanTest(mean, mean - reach, mean + reach, sd, t, n - 1, 2 * float(stdtr(n - 1, -abs(t))), n)
