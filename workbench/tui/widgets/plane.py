"""A plane with points and the crosses of their intervals, drawn in characters.

                      ┊ cultural right
       ├──────●A──┤   ┊
    economic left┄┄┄┄┄┼┄┄┄┄┄┄┄economic right

Letters and marks tell points apart; colour only repeats which one is chosen. Axes are dotted, intervals solid. A mark
is hollow where too little rests on a coordinate for an interval. Points that fall on one place share a mark, and their
letters stand beside each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.tui.widgets.whisker import place

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
MARKS, HOLLOW = "●◆■▲▼★", "○◇□△▽☆"
"""for sources, the first for the first one, they begin anew when there are more; and the same hollow, where too little
rests on a coordinate for an interval"""
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


FULL = Scale()


def fitted(points: Iterable[Point]) -> Scale:
    """Return a scale that shows all intervals and 0, with one unit on both axes; the whole one where there is no point.

    Examples
    --------
    >>> fitted([Point("A", Interval(0.2, 0.1, 0.4), Interval(-0.2))])
    Scale(left=0.0, right=0.5, bottom=-0.4, top=0.1)
    """
    placed = [point for point in points if point.placed]
    if not placed:
        return FULL
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
    return (max(-1.0, low) if min(values) < 0 else 0.0), (min(1.0, high) if max(values) > 0 else 0.0)


def _widened(low: float, high: float, width: float) -> tuple[float, float]:
    """Return a span of this width around one that is not wider, within -1 and 1."""
    more = width - (high - low)
    low = round(max(-1.0, low - math.floor(more * 10 / 2 + 0.5) / 10), 1)
    return low, round(min(1.0, low + width), 1)


def draw(
    points: Sequence[Point],
    width: int,
    height: int,
    scale: Scale = FULL,
    names: tuple[str, str] = ("economic", "cultural"),
) -> list[list[Cell]]:
    """Return `height` rows of `width` cells; nothing but blanks where that is too small for a picture.

    What lies outside the scale is drawn at its edge; an interval that goes on there ends in an arrow.
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
        [*((c, "axis") for c in numbers.get(row, "").rjust(MARGIN - 1) + " "), *canvas.rows[row], (" ", "")]
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
        return self.height - 1 - place((y - self.scale.bottom) / (self.scale.top - self.scale.bottom), self.height)

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
        if not math.isnan(point.x.low) and (first := self.column(point.x.low)) < (last := self.column(point.x.high)):
            for at in range(first, last + 1):
                self.put(row, at, "─", role)
            self.put(row, first, "├" if point.x.low >= scale.left else "◂", role)
            self.put(row, last, "┤" if point.x.high <= scale.right else "▸", role)
        if not math.isnan(point.y.low) and (first := self.row(point.y.high)) < (last := self.row(point.y.low)):
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
            at = next((spot for spot in self._spots(row, column, len(text)) if not taken & _cells(spot, text)), None)
            if at is not None:
                taken |= _cells(at, text)
                self.write(*at, text, role)

    def _spots(self, row: int, column: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield where letters may begin: right of the place, left of it, then ever further above and below."""
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
    """Return the letters of points that share a place; a mark other than the one before stands before its letter.

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
    """Points on the economic and the cultural axis, on the whole plane or as near as their intervals allow."""

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
        return fitted(self.points) if self.near else FULL

    def render(self) -> Content:
        rows = draw(self.points, self.size.width, self.size.height, self.scale)
        return Content("\n").join(_line(row) for row in rows)


def _line(row: Sequence[Cell]) -> Content:
    runs = (("".join(sign for sign, _ in run), STYLES[role]) for role, run in groupby(row, key=lambda cell: cell[1]))
    return Content.assemble(*runs)
