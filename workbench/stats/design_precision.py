"""The precision of a design before a model is asked.

Its measures are detectable effects, and sizes that reach a precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.stats.components import (
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
)
from workbench.stats.proportions import wilson_interval

MOST = 0.5
"the largest standard deviation that shares between 0 and 1 can have"


def smallest_difference(spread: float, first: int, second: int) -> float:
    """Return the smallest detectable difference of two groups' means.

    It is NaN with fewer than 2 units.

    Parameters
    ----------
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
    """Return the smallest detectable difference of a mean from 0, or NaN with fewer than 2 units.

    Parameters
    ----------
    spread : standard deviation of the units

    Examples
    --------
    >>> round(smallest_mean(0.2, 40), 3)
    0.091
    """
    return _times(units - 1) * spread / units**0.5 if units > 1 else float("nan")


def smallest_kappa(units: int) -> float:
    """Return the smallest detectable Cohen's kappa over pairs with equal margins.

    It is NaN if there is none.

    Its standard error is then 1 / sqrt(n) without agreement beyond chance.

    Examples
    --------
    >>> round(smallest_kappa(239), 2), round(smallest_kappa(16), 2)
    (0.18, 0.7)
    """
    from scipy.special import ndtri

    kappa = float(ndtri(1 - LEVEL / 2) + ndtri(POWER)) / units**0.5 if units else 1.0
    return kappa if kappa < 1 else float("nan")


def widest(units: int) -> float:
    """Return the largest half-width of Wilson's interval of a share: that of one half.

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


ORDERS = 2
"label orders per prompt"
LEVEL, POWER = 0.05, 0.8
"of the test of a bias, two-sided"


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a design."""

    statements: int
    wordings: int
    "per statement, including the original"
    templates: int
    samples: int
    "answers per prompt"

    @property
    def prompts(self) -> int:
        return self.statements * self.wordings * self.templates * ORDERS

    @property
    def answers(self) -> int:
        return self.prompts * self.samples


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision with which a design measures the share of a statement."""

    relative: float
    "error variance of comparisons between statements"
    absolute: float
    "error variance of a share itself"
    generalizability: float
    "true share of the variance between measured statements; NaN if the statements do not differ"
    dependability: float
    "the same with the absolute error"


def precision(components: Mapping[str, float], answer: float, size: Size) -> Precision:
    """Return the errors and coefficients of a design.

    `answer` is the variance of a single answer, p (1 - p), on average.
    """
    cells = size.wordings * size.templates
    relative = (
        components.get(WORDING, 0.0) / size.wordings
        + components.get(STATEMENT_TEMPLATE, 0.0) / size.templates
        + components.get(WORDING_TEMPLATE, 0.0) / cells
        + answer / (ORDERS * cells * size.samples)
    )
    absolute = relative + components.get(TEMPLATE, 0.0) / size.templates
    between = components.get(STATEMENT, 0.0)
    return Precision(relative, absolute, _share(between, relative), _share(between, absolute))


def _share(between: float, error: float) -> float:
    return between / (between + error) if between + error > 0 else float("nan")


def smallest_bias(components: Mapping[str, float], answer: float, size: Size, side: int) -> float:
    """Return the smallest bias that `side` statements per side detect.

    They detect it with a power of 80 %, at a two-sided level of 5 %.

    The bias is the mean share of agreement with statements of the right minus that of the left,
    which is (bias right - bias left) / 2 if no answer is neutral. Statements are the units: the
    standard error is √(2 (v[statement] + e) / side), with 2 (side - 1) degrees of freedom. Effects
    of templates on all statements alike cancel.
    """
    from scipy.special import stdtrit

    if side < 2:
        return float("nan")
    freedom = 2 * (side - 1)
    error = (
        2 * (components.get(STATEMENT, 0.0) + precision(components, answer, size).relative) / side
    ) ** 0.5
    return float((stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, POWER)) * error)


def statements_a_side(
    components: Mapping[str, float], answer: float, size: Size, bias: float, most: int
) -> int | None:
    """Return the number of statements per side that detect a bias.

    It is None if it is more than `most`.
    """
    low, high = 1, most
    if not smallest_bias(components, answer, size, most) <= bias:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if smallest_bias(components, answer, size, middle) <= bias
            else (middle, high)
        )
    return high
