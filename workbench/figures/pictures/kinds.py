"""The kinds of pictures as values: bars, cells, intervals, curves, planes, spiders.

The module also has what they share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate, MeanSd, Verdict
from workbench.figures.pictures.picture import MOST_SAID, Picture, split
from workbench.figures.shown import estimate, number
from workbench.figures.table import WORDS, Kind, Value

NAN = math.nan
PERCENT = {Kind.SHARE: "%", Kind.POINTS: "percentage points", Kind.SIZE: "percentage points"}
"units of kinds that are written as a hundred times their value"
MOST_TICKS = 5
"the largest number of steps between ticks"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its measure, unit and range."""

    title: str
    kind: Kind
    low: float
    high: float
    references: tuple[tuple[float, str], ...] = ()
    "reference values with their meanings: (0.5, `as often as not`), or a plain line without words"
    ends: tuple[str, str] = ("", "")
    "meaning of its low and its high end: left, right"

    @property
    def label(self) -> str:
        """Title and unit: `share (%)`."""
        unit = PERCENT.get(self.kind, "")
        return f"{self.title} ({unit})" if unit and self.title else self.title or unit

    @property
    def ticks(self) -> list[float]:
        """The round tick positions on the axis, three to six."""
        span = self.high - self.low
        if not span > 0:
            return [self.low]
        power = 10.0 ** math.floor(math.log10(span))
        step = next(
            power * fraction
            for fraction in (0.2, 0.25, 0.5, 1.0, 2.0)
            if span / (power * fraction) <= MOST_TICKS
        )
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step_number * step, 10) for step_number in range(first, last + 1)]

    def tick(self, value: float) -> str:
        """Return the text of a position on the axis, without its unit: `50`, `-0.5`."""
        if self.kind in PERCENT:
            return (
                f"{100 * value:+g}".removesuffix("+0")
                if self.kind is Kind.POINTS and value
                else f"{100 * value:g}"
            )
        return f"{value:g}"


def estimated(value: Value) -> Estimate | None:
    """Return the value of a cell to draw, or None if it has no value, not even an undefined one."""
    if isinstance(value, Estimate):
        return value
    if isinstance(value, MeanSd):
        return (
            None
            if math.isnan(value.mean)
            else Estimate(value.mean, NAN, NAN, value.n, value.excluded)
        )
    if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value):
        return Estimate(float(value), NAN, NAN, 0)
    return None


def hollow(value: Estimate) -> bool:
    """Return whether a value has too few data for an interval. Its mark is then hollow."""
    return value.defined and bool(value.few)


def reach(values: Iterable[Estimate], extra: Iterable[float] = ()) -> tuple[float, float]:
    """Return the smallest and largest of the values, interval ends and `extra`.

    The result is 0 to 1 without any.
    """
    ends = [
        end
        for value in values
        if value.defined
        for end in (value.value, value.low, value.high)
        if not math.isnan(end)
    ]
    ends += [end for end in extra if not math.isnan(end)]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def said(name: str, value: Estimate, kind: Kind) -> str:
    """Return `left 43.2 % [38.0, 49.1]`, and whether the mark is hollow."""
    text = f"{name} {estimate(value, kind)}"
    return f"{text} (hollow)" if hollow(value) else text


def undefined_said(values: Sequence[Estimate]) -> list[str]:
    """Return a note on undefined values with their reasons, or nothing without any."""
    counts = Counter(value.undefined for value in values if not value.defined)
    return [f"Undefined: {count:,} ({reason})." for reason, count in counts.items()]


def hollow_said(values: Sequence[Estimate]) -> list[str]:
    """Return a note on hollow marks with their reasons, or nothing without any."""
    counts = Counter(value.few for value in values if hollow(value))
    return [f"Hollow: {count:,} ({reason})." for reason, count in counts.items()]


def extremes(names: Sequence[str], values: Sequence[Estimate], kind: Kind) -> str:
    """Return the range of the defined values as text."""
    defined = [
        (value.value, name) for name, value in zip(names, values, strict=True) if value.defined
    ]
    if not defined:
        return "No value is defined."
    low, high = min(defined), max(defined)
    return f"From {number(low[0], kind)} ({low[1]}) to {number(high[0], kind)} ({high[1]})."


def fitted(
    low: float, high: float, within: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return round ends around a range and 0, within the possible range of the values.

    Examples
    --------
    >>> fitted(-0.07, 0.31, (-1.0, 1.0)), fitted(0.0, 0.97, (0.0, 1.0)), fitted(0.2, 0.2)
    ((-0.1, 0.4), (0.0, 1.0), (0.0, 0.2))
    """
    low, high = min(low, 0.0), max(high, 0.0)
    step = 10.0 ** math.floor(math.log10((high - low) or 1.0))
    round_ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = (
        round(end, 10) for end in (round_ends if round_ends[0] < round_ends[1] else (0.0, step))
    )
    return (max(first, within[0]), min(last, within[1])) if within else (first, last)


MOST_BARS = 48
"most bars of a page"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its parts, from left to right."""

    label: str
    parts: Sequence[tuple[str, float]]
    "(series, size), where NaN is no value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(Picture):
    """Bars from top to bottom."""

    axis: Axis
    bars: Sequence[Bar]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(name for bar in self.bars for name, _ in bar.parts))

    @property
    def empty(self) -> bool:
        return not self.bars

    def pages(self) -> Sequence[Self]:
        pages = split(self.bars, MOST_BARS)
        return [self.paged(page, len(pages), bars=bars) for page, bars in enumerate(pages, 1)]

    def _description(self) -> str:
        summary = f"{plural(len(self.bars), 'bar')} on the axis {self.axis.label}"
        if len(self.bars) > MOST_SAID:
            return f"{summary}, the numbers of the table of the same title."
        return f"{summary}: {'; '.join(map(self._bar_said, self.bars))}."

    def _bar_said(self, bar: Bar) -> str:
        parts = [
            f"{name} {'undefined' if math.isnan(size) else number(size, self.axis.kind)}".strip()
            for name, size in bar.parts
        ]
        return f"{bar.label} {', '.join(parts)}"


MOST_ROWS = 60
"most rows of a page"
MOST_CELLS_SAID = 25
"most cells that a description for screen readers lists"


@dataclass(frozen=True, slots=True)
class Cell:
    """A verdict, or a formatted number."""

    text: str
    value: float = math.nan
    "value of its shade, or NaN without a shade"
    verdict: Verdict | None = None
    undefined: str = ""
    "why there is no value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Picture):
    """Rows of cells. A cell shows its number or mark, and its shade repeats it."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    scale: tuple[float, float] | None = None
    """values of no shade and of full shade, or None for verdicts

    Values below 0 have another colour.
    """
    titles: tuple[str, str] = ("", "")
    "meaning of rows and columns: `people say`, `read as`"
    unit: str = ""
    "unit of the numbers"

    @property
    def empty(self) -> bool:
        return not (self.rows and self.columns)

    def pages(self) -> Sequence[Self]:
        row_groups = split(range(len(self.rows)), MOST_ROWS)
        if len(row_groups) == 1:
            return (self,)
        return [
            self.paged(
                page,
                len(row_groups),
                rows=[self.rows[row] for row in group],
                cells=[self.cells[row] for row in group],
            )
            for page, group in enumerate(row_groups, 1)
        ]

    def _description(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        summary = f"{plural(len(self.rows), 'row')} of {plural(len(self.columns), 'column')}{unit}"
        if any(cell.verdict for row in self.cells for cell in row):
            return f"{summary}. {' '.join(map(self._column_said, range(len(self.columns))))}"
        if len(self.rows) * len(self.columns) <= MOST_CELLS_SAID:
            rows = (
                f"{name}: {', '.join(map(_cell_said, self.columns, cells))}"
                for name, cells in zip(self.rows, self.cells, strict=True)
            )
            return f"{summary}. {'; '.join(rows)}."
        return f"{summary}, the numbers of the table of the same title."

    def _column_said(self, place: int) -> str:
        counts = Counter(cells[place].verdict for cells in self.cells)
        parts = [f"{counts[verdict]:,} {WORDS[verdict]}" for verdict in Verdict if counts[verdict]]
        return f"{self.columns[place]}: {', '.join(parts) or 'nothing'}."


def _cell_said(column: str, cell: Cell) -> str:
    return f"{column} {cell.text} ({cell.undefined})" if cell.undefined else f"{column} {cell.text}"


MOST_LINES = 48
"most lines of a page"


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval."""

    label: str
    "label of its line"
    value: Estimate
    series: str = ""
    "its series, if a line has several: a model"
    references: tuple[float, ...] = ()
    "references for this value only"
    beside: str = ""
    "text after the value, such as stars of significance"

    @property
    def named(self) -> str:
        """The name of the value: line and series."""
        return f"{self.label}, {self.series}" if self.series else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(Picture):
    """Points in lines from top to bottom, grouped by label."""

    axis: Axis
    points: Sequence[Point]
    baselines: Sequence[str] = ()
    "series that are not models, but references for comparison"
    reference: tuple[str, ...] = ()
    "meaning of the points' references, of each or of all: `always agrees`"

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(point.label for point in self.points))

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(point.series for point in self.points))

    @property
    def empty(self) -> bool:
        return not self.points

    def pages(self) -> Sequence[Self]:
        label_groups = split(self.labels, max(1, MOST_LINES // max(1, len(self.series))))
        if len(label_groups) == 1:
            return (self,)
        return [
            self.paged(
                page,
                len(label_groups),
                points=[point for point in self.points if point.label in set(group)],
            )
            for page, group in enumerate(label_groups, 1)
        ]

    def _description(self) -> str:
        values, names = (
            [point.value for point in self.points],
            [point.named for point in self.points],
        )
        summary = f"{plural(len(values), 'value')} on the axis {self.axis.label}"
        if len(values) <= MOST_SAID:
            sentences = (
                said(name, value, self.axis.kind) for name, value in zip(names, values, strict=True)
            )
            return " ".join([f"{summary}: {'; '.join(sentences)}.", *hollow_said(values)])
        return " ".join(
            [
                f"{summary}.",
                extremes(names, values, self.axis.kind),
                *undefined_said(values),
                *hollow_said(values),
            ]
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One curve."""

    series: str
    points: Sequence[tuple[float, Estimate]]
    "(position on the horizontal axis, value)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Picture):
    """Curves over one horizontal axis."""

    x: Axis
    y: Axis
    lines: Sequence[Line]
    identity: str = ""
    "meaning of the diagonal, or empty if it is not drawn"

    @property
    def empty(self) -> bool:
        return not any(line.points for line in self.lines)

    def _description(self) -> str:
        sentences = [
            f"{plural(len(self.lines), 'curve')} of {self.y.label} against {self.x.label}."
        ]
        for line in self.lines:
            values = [value for _, value in line.points]
            names = [f"at {self.x.title} {self.x.tick(position)}" for position, _ in line.points]
            sentences += [f"{line.series or self.y.title}: {extremes(names, values, self.y.kind)}"]
            sentences += [*undefined_said(values), *hollow_said(values)]
        return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class Place:
    """A point of a plane. It has no position if a coordinate is undefined."""

    label: str
    x: Estimate
    y: Estimate
    series: str = ""

    @property
    def placed(self) -> bool:
        return self.x.defined and self.y.defined

    @property
    def hollow(self) -> bool:
        """Whether a coordinate has too few data for an interval."""
        return hollow(self.x) or hollow(self.y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane(Picture):
    """Points of a plane, with optional labels."""

    x: Axis
    y: Axis
    places: Sequence[Place]
    labelled: bool = True
    square: bool = False
    "whether both axes have the same unit length"
    identity: str = ""
    "the meaning of equal coordinates, or empty if no such line is drawn"

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(point.series for point in self.places))

    @property
    def left_out(self) -> list[Place]:
        """The points without a position."""
        return [point for point in self.places if not point.placed]

    @property
    def empty(self) -> bool:
        return not self.places

    def _description(self) -> str:
        sentences = [f"{plural(len(self.places), 'point')} by {self.x.label} and {self.y.label}."]
        if len(self.places) <= MOST_SAID:
            sentences += [
                f"{self._name(point)}: {self._coordinates(point)}." for point in self.places
            ]
        else:
            sentences += undefined_said(
                [coordinate for point in self.left_out for coordinate in (point.x, point.y)]
            )
        sentences += hollow_said(
            [coordinate for point in self.places for coordinate in (point.x, point.y)]
        )
        return " ".join(sentences)

    def _coordinates(self, place: Place) -> str:
        return ", ".join(
            said(axis.title, value, axis.kind)
            for axis, value in ((self.x, place.x), (self.y, place.y))
        )

    @staticmethod
    def _name(place: Place) -> str:
        return (
            f"{place.label}, {place.series}"
            if place.series and place.series != place.label
            else place.label
        )


FEWEST_SPOKES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Spider(Picture):
    """Closed lines through a value on each spoke. A line is interrupted at undefined values."""

    axis: Axis
    "axis of every spoke, with its low end in the centre"
    spokes: Sequence[str]
    lines: Mapping[str, Sequence[Estimate]]
    "series -> value on each spoke"
    baselines: Sequence[str] = ()

    @property
    def empty(self) -> bool:
        values = [value for line in self.lines.values() for value in line]
        return len(self.spokes) < FEWEST_SPOKES or not any(value.defined for value in values)

    def _description(self) -> str:
        sentences = [f"{plural(len(self.spokes), 'spoke')}, {self.axis.label}."]
        for name, values in self.lines.items():
            prefix = f"{name}: " if name else ""
            if len(self.spokes) * len(self.lines) <= 2 * MOST_SAID:
                parts = (
                    said(spoke, value, self.axis.kind)
                    for spoke, value in zip(self.spokes, values, strict=True)
                )
                sentences.append(f"{prefix}{'; '.join(parts)}.")
            else:
                sentences.append(f"{prefix}{extremes(self.spokes, values, self.axis.kind)}")
                sentences += undefined_said(values)
            sentences += hollow_said(values)
        return " ".join(sentences)
