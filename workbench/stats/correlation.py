"""Pearson's correlation with its test, and the cases in which it is undefined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FEWEST = 3
"pairs: two always lie on a line"
ON_A_LINE = "all points lie on a line"
CONSTANT = 1e-13
"values that vary by less than this share of their mean are equal up to rounding (scipy warns at the same limit)"


@dataclass(frozen=True, slots=True)
class Pearson:
    """A correlation, or the reason why it is undefined."""

    r: float
    "NaN if undefined; `undefined` then gives the reason, and t and p are NaN too"
    t: float
    "NaN where there is no test"
    df: int
    "n - 2, never below 0"
    p: float
    "two-sided, of no correlation between normally distributed variables; NaN where there is no test"
    n: int
    "pairs in which both values are defined"
    undefined: str = ""
    "why there is no correlation"
    untested: str = ""
    "why a defined correlation has no test; empty if it has one"


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Pearson:
    """Return r = Σ (x - mean x)(y - mean y) / root(Σ (x - mean x)² Σ (y - mean y)²) and t = r root(df / (1 - r²)).

    Pairs with a NaN are excluded. Undefined for fewer than 3 pairs, and if all values of either variable are equal.
    Points that all lie on a line have r = 1 or -1 and no test, because there is no residual variance. (scipy gives p =
    0, even for three points.)

    References
    ----------
    Student 1908, Probable error of a correlation coefficient: t with n - 2 degrees of freedom.

    Examples
    --------
    >>> found = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(found.r, 3), round(found.t, 3), found.df, round(found.p, 3)
    (0.8, 1.886, 2, 0.2)
    >>> pearson([1, 2, 3], [5, 5, 5]).undefined
    'all values of one variable are equal'
    """
    pairs = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < FEWEST:
        return _undefined(n, f"fewer than {FEWEST} pairs of values")
    centred = pairs - pairs.mean(axis=1, keepdims=True)
    norms = np.sqrt((centred**2).sum(axis=1))
    if (norms <= CONSTANT * np.abs(pairs.mean(axis=1))).any():
        return _undefined(n, "all values of one variable are equal")
    x_unit, y_unit = centred / norms[:, None]
    return _tested(float(np.clip(x_unit @ y_unit, -1, 1)), n)


def _tested(r: float, n: int) -> Pearson:
    from scipy.special import stdtr

    df, left = n - 2, 1 - r * r
    if left <= CONSTANT:
        return Pearson(float(np.copysign(1, r)), float("nan"), df, float("nan"), n, untested=ON_A_LINE)
    t = float(r * np.sqrt(df / left))
    return Pearson(r, t, df, 2 * float(stdtr(df, -abs(t))), n)


def _undefined(n: int, why: str) -> Pearson:
    nan = float("nan")
    return Pearson(nan, nan, max(0, n - 2), nan, n, why)
