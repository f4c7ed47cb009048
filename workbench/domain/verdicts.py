"""The verdict on a test and the number behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """The result of a test, or why there is none."""

    PASS = "pass"
    FAIL = "fail"
    INSUFFICIENT = "insufficient"
    VOID = "void"
    """the test cannot fail for this item: it compares a prompt with itself or with nothing

    Such an item is in no denominator.
    """


@dataclass(frozen=True, slots=True)
class RepeatedVerdict:
    """A verdict on a test that is made several times, for instance under each template."""

    verdict: Verdict
    "the verdict on all times together"
    passed: int
    tested: int
    "number of times that the test can fail"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty, or why there is none."""

    value: float
    "NaN if it is undefined, with the reason in `undefined`"
    low: float
    high: float
    "end of the 95 % interval, or NaN without one"
    n: int
    "number of units it rests on"
    excluded: int = 0
    "number of units that could not be used"
    undefined: str = ""
    """why there is no value: `all answers equal`

    It is empty if there is one.
    """
    interval: str = field(default="", compare=False, repr=False, kw_only=True)
    "method of the interval in `workbench.figures.intervals`, or an empty string without one"
    few: str = field(default="", compare=False, repr=False, kw_only=True)
    "why there is a value and no interval: `too few for an interval: 3 statements`"

    @property
    def defined(self) -> bool:
        return not self.undefined


class Bounds(NamedTuple):
    """The least and the greatest value that a number can have, whatever is missing.

    These are bounds, not an interval (Manski).

    Examples
    --------
    >>> Bounds(-0.1, 0.4).turn(0.3), Bounds(0.1, 0.4).turn(0.3), Bounds(-0.1, 0.4).turn(0.0)
    (True, False, False)
    """

    low: float
    "NaN if nothing is known, and nothing is missing"
    high: float

    @property
    def wide(self) -> bool:
        """Whether the missing answers make a difference."""
        return self.high - self.low > ROUNDING

    def turn(self, value: float) -> bool:
        """Return whether missing data could make a value 0, or give it the other sign.

        A value of 0 cannot turn.
        """
        return (
            self.low <= ROUNDING
            if value > ROUNDING
            else self.high >= -ROUNDING
            if value < -ROUNDING
            else False
        )


ROUNDING = 1e-9
UNKNOWN = Bounds(float("nan"), float("nan"))


@dataclass(frozen=True, slots=True)
class MeanSd:
    """The centre and spread of some values, for instance of a coefficient over templates."""

    mean: float
    "NaN without values"
    sd: float
    "NaN with too few values"
    n: int
    "number of values it rests on"
    excluded: int = 0
    "number of values that are undefined (NaN)"
