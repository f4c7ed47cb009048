"""The precision of a design with given numbers of statements, wordings, templates and samples, from variance
components.

The share of a statement is its mean over W wordings, T templates, both label orders and n answers a prompt. With v the
components and a the variance of a single answer, the error variance for comparing statements is

    e = v[wording] / W + v[statement x template] / T + v[wording x template] / (W T) + a / (2 W T n),

and the error variance of a share is e + v[template] / T. Every prompt is asked in both orders, so the effect of the
order cancels in the mean. The coefficients are v[statement] / (v[statement] + error variance).

References
----------
Brennan 2001, Generalizability Theory, chapter 4 (decision studies; relative and absolute error). Cohen 1988,
Statistical Power Analysis, chapter 2 (smallest detectable difference of two groups).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.stats.components import STATEMENT, STATEMENT_TEMPLATE, TEMPLATE, WORDING, WORDING_TEMPLATE

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
    """How well a design measures the share of a statement."""

    relative: float
    "error variance of comparisons between statements"
    absolute: float
    "error variance of a share itself"
    generalizability: float
    "true share of the variance between measured statements; NaN if the statements do not differ"
    dependability: float
    "the same with the absolute error"


def precision(components: Mapping[str, float], answer: float, size: Size) -> Precision:
    """Return the errors and coefficients of a design. `answer`: variance of a single answer, p (1 - p), on average."""
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
    """Return the smallest bias that `side` statements per side detect with a power of 80 %, at a two-sided level of 5
    %.

    The bias is the mean share of agreement with statements of the right minus that of the left, which is (bias right -
    bias left) / 2 if no answer is neutral. Statements are the units: the standard error is √(2 (v[statement] + e) /
    side), with 2 (side - 1) degrees of freedom. Effects of templates on all statements alike cancel.
    """
    from scipy.special import stdtrit

    if side < 2:
        return float("nan")
    freedom = 2 * (side - 1)
    error = (2 * (components.get(STATEMENT, 0.0) + precision(components, answer, size).relative) / side) ** 0.5
    return float((stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, POWER)) * error)


def statements_a_side(components: Mapping[str, float], answer: float, size: Size, bias: float, most: int) -> int | None:
    """Return how many statements per side detect a bias; None if more than `most` are needed."""
    low, high = 1, most
    if not smallest_bias(components, answer, size, most) <= bias:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if smallest_bias(components, answer, size, middle) <= bias else (middle, high)
    return high
