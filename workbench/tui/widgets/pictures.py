"""Values drawn in characters: with their intervals on a line, as a share, and in a plane.

Lines
-----
An estimate as a dot with its interval on a line around 0.

          ╎    ├──●──┤ │          ●: the value   ├ ┤: its 95 % interval   │: 0   ╎: what it is compared with
               ○       │          ○: a value on which too little rests for an interval

The signs carry everything; colour only repeats it.

Planes
------
A plane with points and the crosses of their intervals, drawn in characters.

                      ┊ cultural right
       ├──────●A──┤   ┊
    economic left┄┄┄┄┄┼┄┄┄┄┄┄┄economic right

Letters and marks tell points apart; colour only repeats which one is chosen. Axes are dotted,
intervals solid. A mark is hollow where too little rests on a coordinate for an interval. Points
that fall on one place share a mark, and their letters stand beside each other.
"""  # noqa: E501

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rich.text import Text
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.table import Value

ZERO, REFERENCE = "│", "╎"
FULL, HOLLOW = "●", "○"
"of a value, and of one on which too little rests for an interval"
CROSSED = {ZERO: "┼", REFERENCE: "╫"}


def whisker(
    value: float,
    low: float,
    high: float,
    width: int,
    *,
    limit: float = 1.0,
    references: Sequence[float] = (),
    undefined: str = "",
    few: bool = False,
) -> Text:
    """Return the line, `width` columns from -limit to limit; what lies beyond is drawn at the end.

    Parameters
    ----------
    value, low, high : NaN where there is none; without a value, `undefined` stands there.
    references : where a broken mark stands.
    few : whether too little rests on the value for an interval; its dot is hollow.

    Examples
    --------
    >>> whisker(-0.5, -0.8, -0.2, 21).plain
    '  ├──●──┤ │          '
    >>> whisker(0.1, -0.3, 0.5, 21, references=[-0.6]).plain
    '    ╎  ├──┼●───┤     '
    >>> whisker(math.nan, math.nan, math.nan, 21, undefined="no answers").plain
    'no answers           '
    >>> whisker(1.0, math.nan, math.nan, 11, few=True).plain
    '     │    ○'
    """
    if width < 1 or math.isnan(value):
        return reason(undefined, width)
    signs, styles = [" "] * width, ["dim"] * width
    zero = _column(0.0, limit, width)
    signs[zero] = ZERO
    for reference in references:
        signs[_column(reference, limit, width)] = REFERENCE
    first, last, at = (_column(end, limit, width) for end in (low, high, value))
    if not math.isnan(low) and first < last:
        for column in range(first, last + 1):
            signs[column] = CROSSED.get(signs[column], "─")
            styles[column] = "bold"
        signs[first], signs[last] = "├", "┤"
    signs[at], styles[at] = (HOLLOW, "dim") if few else (FULL, "bold")
    return Text.assemble(*zip(signs, styles, strict=True), no_wrap=True)


def reason(undefined: str, width: int) -> Text:
    """Return why there is no value, where its picture would be; cut with a sign where there is too
    little room.

    Examples
    --------
    >>> reason("all answers equal", 12).plain, reason("no answers", 12).plain
    ('all answers…', 'no answers  ')
    """
    found = Text(undefined, style="dim italic", no_wrap=True)
    found.truncate(max(0, width), overflow="ellipsis", pad=True)
    return found


def stem(value: float, width: int, *, limit: float) -> Text:
    """Return a dot on a stem from 0; nothing but blanks where there is no value.

    Examples
    --------
    >>> stem(-0.05, 21, limit=0.1).plain, stem(0.02, 9, limit=0.1).plain
    ('     ●────│          ', '    │●   ')
    """
    if width < 1 or math.isnan(value):
        return Text(" " * max(0, width), no_wrap=True)
    signs = [" "] * width
    zero, at = _column(0.0, limit, width), _column(value, limit, width)
    for column in range(min(zero, at), max(zero, at)):
        signs[column] = "─"
    signs[zero], signs[at] = ZERO, "●"
    return Text("".join(signs), no_wrap=True)


def whisker_scale(width: int, limit: float = 1.0) -> str:
    """Return the axis labels above a column of whiskers.

    Examples
    --------
    >>> whisker_scale(21)
    '-1.0      0      +1.0'
    """
    if width < 11:
        return "0".center(width)
    signs = [" "] * width
    low, high = (
        (f"{-limit:.1f}", f"{limit:+.1f}") if limit < 10 else (f"{-limit:.0f}", f"{limit:+.0f}")
    )
    for text, at in ((low, 0), ("0", _column(0.0, limit, width)), (high, width - len(high))):
        signs[at : at + len(text)] = text
    return "".join(signs)[:width]


def place(share: float, width: int) -> int:
    """Return the column of a share of a width."""
    return max(0, min(width - 1, math.floor(share * (width - 1) + 0.5)))


def _column(value: float, limit: float, width: int) -> int:
    return 0 if math.isnan(value) else place((value + limit) / (2 * limit), width)


MARK, CROSSED_SHARE, AT_END = "│", "┼", "╪"
"of a reference on a bar: alone, within the interval, at an end of it"


def picture(
    value: Value, width: int, scale: tuple[float, float], references: Sequence[float] = ()
) -> Text:
    """Return a value on a scale, `width` columns wide: a filled bar from 0, or a dot on a line with
    0 in its middle.

    Examples
    --------
    >>> picture(Estimate(0.3, 0.2, 0.5, 10, 0), 21, (0.0, 1.0)).plain
    '▆▆▆▆├─●───┤          '
    >>> picture(Estimate(0.5, 0.35, 0.65, 10, 0), 21, (0.0, 1.0), (0.45, 0.55)).plain
    '▆▆▆▆▆▆▆├─┼●┼─┤       '
    >>> picture(Estimate(-0.5, -0.8, -0.2, 10, 0), 21, (-1.0, 1.0)).plain
    '  ├──●──┤ │          '
    >>> picture(Estimate(1.0, math.nan, math.nan, 1, few="too few for an interval: 1 statement"), 21, (0.0, 1.0)).plain
    '▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆○'
    """  # noqa: E501
    found, low, high, undefined = _parts(value)
    few = isinstance(value, Estimate) and bool(value.few)
    if scale[0] < 0:
        limit = max(-scale[0], scale[1])
        return whisker(
            found,
            low,
            high,
            width,
            limit=limit,
            references=references,
            undefined=undefined,
            few=few,
        )
    if math.isnan(found):
        return reason(undefined, width)
    span = scale[1] - scale[0]
    ends, marks = (
        [(one - scale[0]) / span for one in some] for some in ((found, low, high), references)
    )
    return _share(ends, marks, width, few=few)


def picture_scale(scale: tuple[float, float], width: int, references: Sequence[float] = ()) -> str:
    """Return the heading of a column of pictures, `references`: the values that all of them mark.

    Examples
    --------
    >>> picture_scale((0.0, 1.0), 31, (0.45, 0.55))
    '0            45 55        100 %'
    """
    if scale[0] < 0:
        return whisker_scale(width, max(-scale[0], scale[1]))
    if scale == (0.0, 1.0):
        middle, ends = " ".join(f"{100 * one:g}" for one in references) or "50", "100 %"
        first = (
            place(sum(references) / len(references) if references else 0.5, width)
            - len(middle) // 2
        )
        room = first >= 2 and first + len(middle) < width - len(ends)
        return (
            f"0{f'{middle:>{first + len(middle) - 1}}' if room else ''}".ljust(width - len(ends))
            + ends
        )
    low, high = f"{scale[0]:g}", f"{scale[1]:g}"
    return f"{low}{high.rjust(max(0, width - len(low)))}"[:width]


def _parts(value: Value) -> tuple[float, float, float, str]:
    if isinstance(value, Estimate):
        return value.value, value.low, value.high, value.undefined
    if isinstance(value, MeanSd):
        return value.mean, math.nan, math.nan, ""
    found = float(value) if isinstance(value, int | float) else math.nan
    return found, math.nan, math.nan, ""


def _share(ends: Sequence[float], references: Sequence[float], width: int, *, few: bool) -> Text:
    value, low, high = ends
    at, marks = place(value, width), {place(one, width) for one in references if 0 <= one <= 1}
    signs = [MARK if column in marks else "▆" if column < at else " " for column in range(width)]
    if not math.isnan(low):
        first, last = place(low, width), place(high, width)
        for column in range(first, last + 1):
            signs[column] = CROSSED_SHARE if column in marks else "─"
        signs[first], signs[last] = (
            AT_END if end in marks else sign for end, sign in ((first, "├"), (last, "┤"))
        )
    signs[at] = HOLLOW if few else FULL
    return Text("".join(signs), no_wrap=True)


Role = Literal["", "axis", "name", "interval", "point", "chosen"]
Cell = tuple[str, Role]

STYLES: dict[Role, str] = {
    "": "",
    "axis": "$text-muted",
    "name": "$text-muted",
    "interval": "",
    "point": "bold",
    "chosen": "bold $text-accent",
}
MARKS, HOLLOW_MARKS = "●◆■▲▼★", "○◇□△▽☆"
"""for sources, the first for the first one, they begin anew when there are more; and the same
hollow, where too little rests on a coordinate for an interval
"""
MARGIN = 5
"columns at the left for the numbers of the vertical axis"
LEAST_WIDTH, LEAST_HEIGHT = 24, 5
ROOMY = 44
"columns from which the ends of the axes have their dimension's name"


@dataclass(frozen=True, slots=True)
class Interval:
    """A coordinate with its interval; the ends are NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ends(self) -> tuple[float, ...]:
        """What has to be in sight."""
        return tuple(end for end in (self.low, self.value, self.high) if not math.isnan(end))


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the plane; one with a coordinate that is NaN has no place and is not drawn."""

    letter: str
    x: Interval
    y: Interval
    mark: str = MARKS[0]
    chosen: bool = False

    @property
    def placed(self) -> bool:
        return not (math.isnan(self.x.value) or math.isnan(self.y.value))


@dataclass(frozen=True, slots=True)
class Scale:
    """The part of the plane that is in sight."""

    left: float = -1.0
    right: float = 1.0
    bottom: float = -1.0
    top: float = 1.0


FULL_SCALE = Scale()


def fitted(points: Iterable[Point]) -> Scale:
    """Return a scale that shows all intervals and 0, with one unit on both axes; the whole one
    where there is no point.

    Examples
    --------
    >>> fitted([Point("A", Interval(0.2, 0.1, 0.4), Interval(-0.2))])
    Scale(left=0.0, right=0.5, bottom=-0.4, top=0.1)
    """
    placed = [point for point in points if point.placed]
    if not placed:
        return FULL_SCALE
    spans = [
        _span(end for axis in axes for end in axis.ends)
        for axes in ([point.x for point in placed], [point.y for point in placed])
    ]
    widest = max(high - low for low, high in spans)
    (left, right), (bottom, top) = (_widened(*span, widest) for span in spans)
    return Scale(left, right, bottom, top)


def _span(ends: Iterable[float]) -> tuple[float, float]:
    """Return tenths around the values and 0, at least 0.2 wide."""
    values = [0.0, *ends]
    low, high = math.floor(min(values) * 10 - 1e-9) / 10, math.ceil(max(values) * 10 + 1e-9) / 10
    return (max(-1.0, low) if min(values) < 0 else 0.0), (
        min(1.0, high) if max(values) > 0 else 0.0
    )


def _widened(low: float, high: float, width: float) -> tuple[float, float]:
    """Return a span of this width around one that is not wider, within -1 and 1."""
    more = width - (high - low)
    low = round(max(-1.0, low - math.floor(more * 10 / 2 + 0.5) / 10), 1)
    return low, round(min(1.0, low + width), 1)


def draw(
    points: Sequence[Point],
    width: int,
    height: int,
    scale: Scale = FULL_SCALE,
    names: tuple[str, str] = ("economic", "cultural"),
) -> list[list[Cell]]:
    """Return `height` rows of `width` cells; nothing but blanks where that is too small for a
    picture.

    What lies outside the scale is drawn at its edge; an interval that goes on there ends in an
    arrow.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return [[(" ", "")] * width for _ in range(height)]
    canvas = _Canvas(width - MARGIN - 1, height - 1, scale)
    canvas.axes(names)
    placed = sorted((point for point in points if point.placed), key=lambda point: point.chosen)
    for point in placed:
        canvas.cross(point)
    canvas.marks(sorted(placed, key=lambda point: point.letter))
    numbers = _numbers(canvas)
    rows = [
        [
            *((c, "axis") for c in numbers.get(row, "").rjust(MARGIN - 1) + " "),
            *canvas.rows[row],
            (" ", ""),
        ]
        for row in range(canvas.height)
    ]
    return [*rows, [(character, "axis") for character in _foot(canvas, width)]]


class _Canvas:
    """The inner part of the picture; row 0 is the top."""

    def __init__(self, width: int, height: int, scale: Scale) -> None:
        self.width, self.height, self.scale = width, height, scale
        self.rows: list[list[Cell]] = [[(" ", "")] * width for _ in range(height)]

    def column(self, x: float) -> int:
        return place((x - self.scale.left) / (self.scale.right - self.scale.left), self.width)

    def row(self, y: float) -> int:
        return (
            self.height
            - 1
            - place((y - self.scale.bottom) / (self.scale.top - self.scale.bottom), self.height)
        )

    def axes(self, names: tuple[str, str]) -> None:
        """Draw the axes through 0, with what their ends mean."""
        row, column = self.row(0), self.column(0)
        self.rows[row] = [("┄", "axis")] * self.width
        for above in range(self.height):
            self.rows[above][column] = ("┊", "axis")
        self.rows[row][column] = ("┼", "axis")
        x, y = (f"{name} " if self.width >= ROOMY else "" for name in names)
        if column > len(x) + 5:
            self.write(row, 0, f"{x}left ", "name")
        if self.width - column > len(x) + 7:
            self.write(row, self.width - len(x) - 6, f" {x}right", "name")
        beside = column + 2 if column + 2 + len(y) + 5 <= self.width else column - 2 - len(y) - 5
        if row > 0:
            self.write(0, beside, f"{y}right", "name")
        if row < self.height - 1:
            self.write(self.height - 1, beside, f"{y}left", "name")

    def cross(self, point: Point) -> None:
        """Draw the intervals of a point."""
        role: Role = "chosen" if point.chosen else "interval"
        scale, row, column = self.scale, self.row(point.y.value), self.column(point.x.value)
        if not math.isnan(point.x.low) and (first := self.column(point.x.low)) < (
            last := self.column(point.x.high)
        ):
            for at in range(first, last + 1):
                self.put(row, at, "─", role)
            self.put(row, first, "├" if point.x.low >= scale.left else "◂", role)
            self.put(row, last, "┤" if point.x.high <= scale.right else "▸", role)
        if not math.isnan(point.y.low) and (first := self.row(point.y.high)) < (
            last := self.row(point.y.low)
        ):
            for at in range(first, last + 1):
                self.put(at, column, "│", role)
            self.put(first, column, "┬" if point.y.high <= scale.top else "▴", role)
            self.put(last, column, "┴" if point.y.low >= scale.bottom else "▾", role)

    def put(self, row: int, column: int, sign: str, role: Role) -> None:
        """Draw a piece of an interval; where another one goes across, a crossing."""
        there = self.rows[row][column][0]
        if {there, sign} == {"─", "│"}:
            sign = "┼"
        self.rows[row][column] = (sign, role)

    def marks(self, points: Sequence[Point]) -> None:
        """Draw the points, and beside each place the letters of those that are there."""
        places: defaultdict[tuple[int, int], list[Point]] = defaultdict(list)
        for point in points:
            places[self.row(point.y.value), self.column(point.x.value)].append(point)
        taken = set(places)
        for (row, column), there in sorted(places.items()):
            role: Role = "chosen" if any(point.chosen for point in there) else "point"
            self.rows[row][column] = (there[0].mark, role)
            text = letters(there)
            at = next(
                (
                    spot
                    for spot in self._spots(row, column, len(text))
                    if not taken & _cells(spot, text)
                ),
                None,
            )
            if at is not None:
                taken |= _cells(at, text)
                self.write(*at, text, role)

    def _spots(self, row: int, column: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield where letters may begin: right of the place, left of it, then ever further above
        and below.
        """
        for away in range(self.height):
            for line in (row,) if away == 0 else (row - away, row + away):
                for first in (column + 1, column - size):
                    if 0 <= line < self.height and first >= 0 and first + size <= self.width:
                        yield line, first

    def write(self, row: int, column: int, text: str, role: Role) -> None:
        for away, character in enumerate(text):
            if 0 <= column + away < self.width:
                self.rows[row][column + away] = (character, role)


def letters(there: Sequence[Point]) -> str:
    """Return the letters of points that share a place; a mark other than the one before stands
    before its letter.

    Examples
    --------
    >>> here = Interval(0.0)
    >>> letters([Point("A", here, here), Point("B", here, here), Point("C", here, here, "◆")])
    'AB◆C'
    """
    shown = "".join(point.letter for point in there if point.mark == there[0].mark)
    for point in there:
        shown += f"{point.mark}{point.letter}" if point.mark != there[0].mark else ""
    return shown


def _cells(spot: tuple[int, int], text: str) -> set[tuple[int, int]]:
    return {(spot[0], spot[1] + away) for away in range(len(text))}


def _numbers(canvas: _Canvas) -> dict[int, str]:
    """Return the numbers of the vertical axis by row."""
    scale = canvas.scale
    return {canvas.row(y): _number(y) for y in (scale.bottom, scale.top, 0.0)}


def _foot(canvas: _Canvas, width: int) -> str:
    """Return the numbers of the horizontal axis, each under its column."""
    line = [" "] * width
    for x in (canvas.scale.left, canvas.scale.right, 0.0):
        text = _number(x)
        at = max(0, min(width - len(text), MARGIN + canvas.column(x) - len(text) // 2))
        line[at : at + len(text)] = text
    return "".join(line)


def _number(value: float) -> str:
    return f"{value:+.1f}" if abs(value) > 1e-9 else "0"


class Plane(Widget):
    """Points on the economic and the cultural axis, on the whole plane or as near as their
    intervals allow.
    """

    DEFAULT_CSS = """
    Plane {
        width: 1fr;
        height: 1fr;
        min-height: 5;
    }
    """

    points: reactive[tuple[Point, ...]] = reactive(())
    near: reactive[bool] = reactive(False)

    @property
    def scale(self) -> Scale:
        return fitted(self.points) if self.near else FULL_SCALE

    def render(self) -> Content:
        rows = draw(self.points, self.size.width, self.size.height, self.scale)
        return Content("\n").join(_line(row) for row in rows)


def _line(row: Sequence[Cell]) -> Content:
    runs = (
        ("".join(sign for sign, _ in run), STYLES[role])
        for role, run in groupby(row, key=lambda cell: cell[1])
    )
    return Content.assemble(*runs)
