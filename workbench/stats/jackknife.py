"""Intervals from the values of a statistic with each unit left out, on a scale on which the statistic is nearly normal.

Nothing is drawn: the same data have the same interval whatever the seed.

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
    """Return the standard error of a statistic from its values without each of n units: (n,). NaN values are left out.

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

    Of macro F1 it covered 92-98 % with 16 to 88 items, where the accelerated bootstrap covered 90-99 % and percentiles
    89-99 % (700 simulations each, Monte Carlo error 1 point). NaN at 0 and 1, and where no unit moves the value.

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

    The ratio of disagreements is skewed where few units disagree. On its logarithm the interval of Krippendorff's
    ordinal α covered 92-97 % with 12 to 60 units, from two that disagree on; the accelerated bootstrap covered 80-97 %
    (700 simulations each, Monte Carlo error 1 point).

    freedom : degrees of freedom, units with an answer other than the most frequent one less one

    NaN at 1, for fewer than two units that disagree, and where no unit moves the value.

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
