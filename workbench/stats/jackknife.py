"""Jackknife intervals, on a scale on which the statistic is nearly normal.

Nothing is drawn at random: the same data have the same interval for every seed.

References
----------
Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11 (standard error of the jackknife). Agresti 2013,
Categorical Data Analysis, 3.1.4 (the delta method on the logit).
"""

from __future__ import annotations

import math

import numpy as np

from workbench.stats.arrays import FloatArray

NOTHING = (float("nan"), float("nan"))


def standard_error(left_out: FloatArray) -> float:
    """Return the standard error of a statistic from its values without each of n units: (n,). NaN values are excluded.

    Examples
    --------
    >>> round(standard_error(np.array([2.5, 2.0, 1.5])), 4)  # the mean of 1, 2, 3: its standard error is 1 / sqrt(3)
    0.5774
    """
    known = left_out[~np.isnan(left_out)]
    n = len(known)
    return math.sqrt((n - 1) / n * float(((known - known.mean()) ** 2).sum())) if n > 1 else float("nan")


def logit_interval(value: float, left_out: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of a share-like statistic of n units: Student's t with n - 1 degrees, on the logit.

    For macro F1 with 16 to 88 items it covered 92-98 %, the accelerated bootstrap 90-99 % and percentiles 89-99 % (700
    simulations each, Monte Carlo error 1 point). NaN for values of 0 and 1, and if leaving out a unit never changes the
    value.

    Examples
    --------
    >>> [round(end, 2) for end in logit_interval(0.8, np.array([0.75, 0.85, 0.8, 0.78, 0.82]))]
    [0.55, 0.93]
    """
    error = standard_error(left_out)
    if not 0 < value < 1 or not error > 0:
        return NOTHING
    reach = _student(len(left_out) - 1) * error / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return _expit(centre - reach), _expit(centre + reach)


def disagreement_interval(value: float, left_out: FloatArray, freedom: int) -> tuple[float, float]:
    """Return the 95 % interval of a coefficient 1 - Do / De: Student's t on the scale of log(1 - value).

    The ratio of disagreements is skewed if few units disagree. On its logarithm the interval of Krippendorff's ordinal
    α covered 92-97 % with 12 to 60 units, at least two of them with disagreement; the accelerated bootstrap covered
    80-97 % (700 simulations each, Monte Carlo error 1 point).

    freedom : degrees of freedom: the number of units with an answer other than the most frequent one, minus one

    NaN for a value of 1, for fewer than two units with disagreement, and if leaving out a unit never changes the value.

    Examples
    --------
    >>> low, high = disagreement_interval(0.5, np.array([0.4, 0.6, 0.5, 0.45, 0.55]), 4)
    >>> round(low, 2), round(high, 2)
    (-0.11, 0.77)
    """
    left = left_out[~np.isnan(left_out)]
    if not value < 1 or len(left) < 2 or left.max() >= 1:
        return NOTHING
    error = standard_error(np.log(1 - left))
    if not error > 0:
        return NOTHING
    reach, centre = _student(freedom) * error, math.log(1 - value)
    return 1 - math.exp(centre + reach), 1 - math.exp(centre - reach)


def _student(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(1, freedom), 0.975))


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value))


__all__ = ["disagreement_interval", "logit_interval", "standard_error"]
