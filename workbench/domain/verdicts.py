"""The outcome of a test and the number behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """Whether a test was passed, or why one cannot say."""

    PASS = "pass"
    FAIL = "fail"
    INSUFFICIENT = "insufficient"
    VOID = "void"
    """the test cannot fail for this item: it compares a prompt with itself or with nothing. In no
    denominator
    """


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict on a test that is made several times, for instance under each template."""

    verdict: Verdict
    "of all times together"
    passed: int
    tested: int
    "times that the test can fail"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty, or why there is none."""

    value: float
    "NaN where it is undefined; `undefined` then says why"
    low: float
    high: float
    "95 % interval; NaN where there is none"
    n: int
    "units it rests on"
    excluded: int = 0
    "units that could not be used"
    undefined: str = ""
    "why there is no value: `all answers equal`; empty where there is one"
    interval: str = field(default="", compare=False, repr=False, kw_only=True)
    "name of the method of the interval in `workbench.figures.intervals`; empty where there is none"
    few: str = field(default="", compare=False, repr=False, kw_only=True)
    "why there is a value and no interval: `too few for an interval: 3 statements`"

    @property
    def defined(self) -> bool:
        return not self.undefined


class Bounds(NamedTuple):
    """The least and the greatest value that a number can have, whatever is missing: bounds, not an
    interval (Manski).

    Examples
    --------
    >>> Bounds(-0.1, 0.4).turn(0.3), Bounds(0.1, 0.4).turn(0.3), Bounds(-0.1, 0.4).turn(0.0)
    (True, False, False)
    """

    low: float
    "NaN where nothing is known, and nothing is missing"
    high: float

    @property
    def wide(self) -> bool:
        """Whether the missing answers make a difference."""
        return self.high - self.low > ROUNDING

    def turn(self, value: float) -> bool:
        """Return whether what is missing could make 0, or the other sign, of a value that is
        not 0.
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
    "NaN where there is no value"
    sd: float
    "NaN where there are too few values"
    n: int
    "values it rests on"
    excluded: int = 0
    "values that are undefined (NaN)"
