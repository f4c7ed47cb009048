"""Common parts of pictures: axes, estimates, and their descriptions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind, Value

NAN = math.nan
PERCENT = {Kind.SHARE: "%", Kind.POINTS: "percentage points", Kind.SIZE: "percentage points"}
"units of kinds that are written as a hundred times their value"
MOST_TICKS = 5
"most steps between ticks"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its measure, unit and range."""

    title: str
    kind: Kind
    low: float
    high: float
    references: tuple[tuple[float, str], ...] = ()
    "reference values with their meanings: (0.5, `as often as not`); without words, a plain line"
    ends: tuple[str, str] = ("", "")
    "meaning of its low and its high end: left, right"

    @property
    def label(self) -> str:
        """Title and unit: `share (%)`."""
        unit = PERCENT.get(self.kind, "")
        return f"{self.title} ({unit})" if unit and self.title else self.title or unit

    @property
    def ticks(self) -> list[float]:
        """Round tick positions on the axis, three to six."""
        span = self.high - self.low
        if not span > 0:
            return [self.low]
        power = 10.0 ** math.floor(math.log10(span))
        step = next(power * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if span / (power * part) <= MOST_TICKS)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(place * step, 10) for place in range(first, last + 1)]

    def tick(self, value: float) -> str:
        """Return the text of a position on the axis, without its unit: `50`, `-0.5`."""
        if self.kind in PERCENT:
            return f"{100 * value:+g}".removesuffix("+0") if self.kind is Kind.POINTS and value else f"{100 * value:g}"
        return f"{value:g}"


def estimated(value: Value) -> Estimate | None:
    """Return the value of a cell to draw; None if it has no value, not even an undefined one."""
    if isinstance(value, Estimate):
        return value
    if isinstance(value, MeanSd):
        return None if math.isnan(value.mean) else Estimate(value.mean, NAN, NAN, value.n, value.excluded)
    if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value):
        return Estimate(float(value), NAN, NAN, 0)
    return None


def hollow(value: Estimate) -> bool:
    """Return whether a value has too few data for an interval, so that its mark is hollow."""
    return value.defined and bool(value.few)


def reach(values: Iterable[Estimate], extra: Iterable[float] = ()) -> tuple[float, float]:
    """Return the smallest and largest of the values, interval ends and `extra`; 0 to 1 without any."""
    ends = [end for one in values if one.defined for end in (one.value, one.low, one.high) if not math.isnan(end)]
    ends += [end for end in extra if not math.isnan(end)]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def said(name: str, value: Estimate, kind: Kind) -> str:
    """Return `left 43.2 % [38.0, 49.1]`, and whether the mark is hollow."""
    shown = f"{name} {estimate(value, kind)}"
    return f"{shown} (hollow)" if hollow(value) else shown


def undefined_said(values: Sequence[Estimate]) -> list[str]:
    """Return a note on undefined values with their reasons; empty without any."""
    why = Counter(one.undefined for one in values if not one.defined)
    return [f"Undefined: {n:,} ({reason})." for reason, n in why.items()]


def hollow_said(values: Sequence[Estimate]) -> list[str]:
    """Return a note on hollow marks with their reasons; empty without any."""
    why = Counter(one.few for one in values if hollow(one))
    return [f"Hollow: {n:,} ({reason})." for reason, n in why.items()]


def extremes(names: Sequence[str], values: Sequence[Estimate], kind: Kind) -> str:
    """Return the range of the defined values as text."""
    defined = [(one.value, name) for name, one in zip(names, values, strict=True) if one.defined]
    if not defined:
        return "No value is defined."
    low, high = min(defined), max(defined)
    return f"From {number(low[0], kind)} ({low[1]}) to {number(high[0], kind)} ({high[1]})."


def fitted(low: float, high: float, within: tuple[float, float] | None = None) -> tuple[float, float]:
    """Return round ends around a range and 0, within the possible range of the values.

    Examples
    --------
    >>> fitted(-0.07, 0.31, (-1.0, 1.0)), fitted(0.0, 0.97, (0.0, 1.0)), fitted(0.2, 0.2)
    ((-0.1, 0.4), (0.0, 1.0), (0.0, 0.2))
    """
    low, high = min(low, 0.0), max(high, 0.0)
    step = 10.0 ** math.floor(math.log10((high - low) or 1.0))
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = (round(end, 10) for end in (ends if ends[0] < ends[1] else (0.0, step)))
    return (max(first, within[0]), min(last, within[1])) if within else (first, last)
