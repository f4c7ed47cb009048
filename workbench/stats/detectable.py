"""The smallest effect that a design detects before any model is asked: two-sided 5 %, power 80 %.

Each is a multiple of a standard error, t[.975] + t[.8], with the degrees of freedom of the design. Statements,
questions or people are the units: answers to one of them are not independent.

References
----------
Cohen 1988, Statistical Power Analysis, chapters 2 and 4. Fleiss, Cohen and Everitt 1969, "Large sample standard errors
of kappa and weighted kappa", Psychological Bulletin 72(5): of kappa where there is no agreement.
"""

from __future__ import annotations

from workbench.stats.decision_study import LEVEL, POWER
from workbench.stats.proportions import wilson_interval

MOST = 0.5
"the largest standard deviation that shares between 0 and 1 can have"


def smallest_difference(spread: float, first: int, second: int) -> float:
    """Return the smallest detectable difference between the means of two groups of units; NaN with fewer than 2 units.

    spread : standard deviation of the units

    Examples
    --------
    >>> round(smallest_difference(0.5, 44, 45), 3)
    0.3
    """
    if min(first, second) < 2:
        return float("nan")
    return float(_times(first + second - 2) * spread * (1 / first + 1 / second) ** 0.5)


def smallest_mean(spread: float, units: int) -> float:
    """Return the smallest detectable difference of a mean from 0; NaN with fewer than 2 units.

    spread : standard deviation of the units

    Examples
    --------
    >>> round(smallest_mean(0.2, 40), 3)
    0.091
    """
    return _times(units - 1) * spread / units**0.5 if units > 1 else float("nan")


def smallest_kappa(units: int) -> float:
    """Return the smallest detectable Cohen's kappa over pairs if both answers are equally frequent; NaN if there is
    none.

    Its standard error is then 1 / sqrt(n) without agreement beyond chance.

    Examples
    --------
    >>> round(smallest_kappa(239), 2), round(smallest_kappa(16), 2)
    (0.18, 0.7)
    """
    from scipy.special import ndtri

    found = float(ndtri(1 - LEVEL / 2) + ndtri(POWER)) / units**0.5 if units else 1.0
    return found if found < 1 else float("nan")


def widest(units: int) -> float:
    """Return the largest half-width of Wilson's interval of a share, which is that of a share of one half.

    Examples
    --------
    >>> round(widest(16), 2), round(widest(239), 3)
    (0.22, 0.063)
    """
    low, high = (float(end) for end in wilson_interval(units // 2, units)) if units else (0.0, 1.0)
    return (high - low) / 2


def _times(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, POWER))


__all__ = ["MOST", "smallest_difference", "smallest_kappa", "smallest_mean", "widest"]
