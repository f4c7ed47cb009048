"""Values drawn in characters: with their intervals on a line, as a share, and in a plane.

Lines
-----
An estimate is a dot with its interval on a line around 0.

          ╎    ├──●──┤ │          ●: the value   ├ ┤: its 95 % interval   │: 0   ╎: its reference value
               ○       │          ○: a value with too little data for an interval

The signs show everything. Colour only repeats it.

Planes
------
A plane with points and the crosses of their intervals, drawn in characters.

                      ┊ cultural right
       ├──────●A──┤   ┊
    economic left┄┄┄┄┄┼┄┄┄┄┄┄┄economic right

Letters and marks distinguish points. Colour only repeats which one is selected. Axes are dotted,
intervals solid. A mark is hollow if a coordinate has too little data for an interval. Points at one
position share a mark, and their letters are beside each other.
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
"dots of a value, and of one with too little data for an interval"
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
    """Return a value with its interval on a line from -limit to limit, `width` columns wide.

    Values beyond the limits are drawn at the ends.

    Parameters
    ----------
    value, low, high
        The value and its interval, NaN if missing.
    references
        The values with a broken mark.
    undefined
        The reason that replaces the picture without a value.
    few
        Whether there is too little data for an interval. The dot is hollow then.

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
    characters, styles = [" "] * width, ["dim"] * width
    zero = _column(0.0, limit, width)
    characters[zero] = ZERO
    for reference in references:
        characters[_column(reference, limit, width)] = REFERENCE
    low_column, high_column, value_column = (
        _column(number, limit, width) for number in (low, high, value)
    )
    if not math.isnan(low) and low_column < high_column:
        for column in range(low_column, high_column + 1):
            characters[column] = CROSSED.get(characters[column], "─")
            styles[column] = "bold"
        characters[low_column], characters[high_column] = "├", "┤"
    characters[value_column], styles[value_column] = (HOLLOW, "dim") if few else (FULL, "bold")
    return Text.assemble(*zip(characters, styles, strict=True), no_wrap=True)


def reason(undefined: str, width: int) -> Text:
    """Return the reason why there is no value, in place of its picture.

    A reason that is too long ends with an ellipsis.

    Examples
    --------
    >>> reason("all answers equal", 12).plain, reason("no answers", 12).plain
    ('all answers…', 'no answers  ')
    """
    text = Text(undefined, style="dim italic", no_wrap=True)
    text.truncate(max(0, width), overflow="ellipsis", pad=True)
    return text


def stem(value: float, width: int, *, limit: float) -> Text:
    """Return a dot on a stem from 0, or blanks without a value.

    Examples
    --------
    >>> stem(-0.05, 21, limit=0.1).plain, stem(0.02, 9, limit=0.1).plain
    ('     ●────│          ', '    │●   ')
    """
    if width < 1 or math.isnan(value):
        return Text(" " * max(0, width), no_wrap=True)
    characters = [" "] * width
    zero, value_column = _column(0.0, limit, width), _column(value, limit, width)
    for column in range(min(zero, value_column), max(zero, value_column)):
        characters[column] = "─"
    characters[zero], characters[value_column] = ZERO, "●"
    return Text("".join(characters), no_wrap=True)


def whisker_scale(width: int, limit: float = 1.0) -> str:
    """Return the axis labels above a column of whiskers.

    Examples
    --------
    >>> whisker_scale(21)
    '-1.0      0      +1.0'
    """
    if width < 11:
        return "0".center(width)
    characters = [" "] * width
    low, high = (
        (f"{-limit:.1f}", f"{limit:+.1f}") if limit < 10 else (f"{-limit:.0f}", f"{limit:+.0f}")
    )
    for text, start in ((low, 0), ("0", _column(0.0, limit, width)), (high, width - len(high))):
        characters[start : start + len(text)] = text
    return "".join(characters)[:width]


def place(share: float, width: int) -> int:
    """Return the column of a share of a width."""
    return max(0, min(width - 1, math.floor(share * (width - 1) + 0.5)))


def _column(value: float, limit: float, width: int) -> int:
    return 0 if math.isnan(value) else place((value + limit) / (2 * limit), width)


MARK, CROSSED_SHARE, AT_END = "│", "┼", "╪"
"marks of a reference on a bar: alone, within the interval, at an end of it"


def picture(
    value: Value, width: int, scale: tuple[float, float], references: Sequence[float] = ()
) -> Text:
    """Return a value on a scale: a filled bar from 0, or a dot on a line with 0 in its middle.

    It is `width` columns wide.

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
    number, low, high, undefined = _parts(value)
    is_few = isinstance(value, Estimate) and bool(value.few)
    start, end = scale
    if start < 0:
        return whisker(
            number,
            low,
            high,
            width,
            limit=max(-start, end),
            references=references,
            undefined=undefined,
            few=is_few,
        )
    if math.isnan(number):
        return reason(undefined, width)
    shares = [(bound - start) / (end - start) for bound in (number, low, high)]
    reference_shares = [(reference - start) / (end - start) for reference in references]
    return _share_bar(shares, reference_shares, width, few=is_few)


def picture_scale(scale: tuple[float, float], width: int, references: Sequence[float] = ()) -> str:
    """Return the heading of a column of pictures.

    `references` are the values that all of them mark.

    Examples
    --------
    >>> picture_scale((0.0, 1.0), 31, (0.45, 0.55))
    '0            45 55        100 %'
    """
    start, end = scale
    if start < 0:
        return whisker_scale(width, max(-start, end))
    if scale == (0.0, 1.0):
        return _percent_scale(width, references)
    low, high = f"{start:g}", f"{end:g}"
    return f"{low}{high.rjust(max(0, width - len(low)))}"[:width]


def _percent_scale(width: int, references: Sequence[float]) -> str:
    """Return the heading of shares, with the references or 50 in the middle if there is room."""
    low, high = "0", "100 %"
    middle, centre = "50", 0.5
    if references:
        middle = " ".join(f"{100 * reference:g}" for reference in references)
        centre = sum(references) / len(references)
    middle_start = place(centre, width) - len(middle) // 2
    if middle_start >= 2 and middle_start + len(middle) < width - len(high):
        low = low.ljust(middle_start) + middle
    return low.ljust(width - len(high)) + high


def _parts(value: Value) -> tuple[float, float, float, str]:
    if isinstance(value, Estimate):
        return value.value, value.low, value.high, value.undefined
    if isinstance(value, MeanSd):
        return value.mean, math.nan, math.nan, ""
    number = float(value) if isinstance(value, int | float) else math.nan
    return number, math.nan, math.nan, ""


def _share_bar(
    shares: Sequence[float], references: Sequence[float], width: int, *, few: bool
) -> Text:
    """Return a share as a filled bar with its interval. `shares`: the value, its low and high."""
    value, low, high = shares
    value_column = place(value, width)
    reference_columns = {place(share, width) for share in references if 0 <= share <= 1}
    characters = ["▆"] * value_column + [" "] * (width - value_column)
    for column in reference_columns:
        characters[column] = MARK
    if not math.isnan(low):
        ends = {place(low, width): "├", place(high, width): "┤"}
        for column in range(min(ends), max(ends) + 1):
            characters[column] = CROSSED_SHARE if column in reference_columns else "─"
        for column, sign in ends.items():
            characters[column] = AT_END if column in reference_columns else sign
    characters[value_column] = HOLLOW if few else FULL
    return Text("".join(characters), no_wrap=True)


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
"marks of sources in their order, repeated after the last, and hollow with too little data"
MARGIN = 5
"columns at the left for the numbers of the vertical axis"
LEAST_WIDTH, LEAST_HEIGHT = 24, 5
ROOMY = 44
"columns from which the ends of the axes have their dimension's name"


@dataclass(frozen=True, slots=True)
class CoordinateInterval:
    """A coordinate with its interval. The ends are NaN without an interval."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ends(self) -> tuple[float, ...]:
        """The numbers that the picture must contain, without NaN."""
        return tuple(end for end in (self.low, self.value, self.high) if not math.isnan(end))


@dataclass(frozen=True, slots=True)
class CoordinatePoint:
    """A point of the plane. One with a coordinate that is NaN is not drawn."""

    letter: str
    x: CoordinateInterval
    y: CoordinateInterval
    mark: str = MARKS[0]
    chosen: bool = False

    @property
    def placed(self) -> bool:
        return not (math.isnan(self.x.value) or math.isnan(self.y.value))


@dataclass(frozen=True, slots=True)
class PlaneRange:
    """The visible part of the plane."""

    left: float = -1.0
    right: float = 1.0
    bottom: float = -1.0
    top: float = 1.0


FULL_SCALE = PlaneRange()


def fitted(points: Iterable[CoordinatePoint]) -> PlaneRange:
    """Return a scale that shows all intervals and 0, with one unit on both axes.

    It is the full scale without a point.

    Examples
    --------
    >>> fitted([CoordinatePoint("A", CoordinateInterval(0.2, 0.1, 0.4), CoordinateInterval(-0.2))])
    PlaneRange(left=0.0, right=0.5, bottom=-0.4, top=0.1)
    """
    placed = [point for point in points if point.placed]
    if not placed:
        return FULL_SCALE
    spans = [
        _span(end for axis in axes for end in axis.ends)
        for axes in ([point.x for point in placed], [point.y for point in placed])
    ]
    width = max(high - low for low, high in spans)
    (left, right), (bottom, top) = (_widened(*span, width) for span in spans)
    return PlaneRange(left, right, bottom, top)


def _span(ends: Iterable[float]) -> tuple[float, float]:
    """Return tenths around the values and 0, at least 0.2 wide."""
    values = [0.0, *ends]
    low, high = math.floor(min(values) * 10 - 1e-9) / 10, math.ceil(max(values) * 10 + 1e-9) / 10
    return (max(-1.0, low) if min(values) < 0 else 0.0), (
        min(1.0, high) if max(values) > 0 else 0.0
    )


def _widened(low: float, high: float, width: float) -> tuple[float, float]:
    """Return a span of this width around one that is not wider, within -1 and 1."""
    extra = width - (high - low)
    low = round(max(-1.0, low - math.floor(extra * 10 / 2 + 0.5) / 10), 1)
    return low, round(min(1.0, low + width), 1)


def draw(
    points: Sequence[CoordinatePoint],
    width: int,
    height: int,
    scale: PlaneRange = FULL_SCALE,
    names: tuple[str, str] = ("economic", "cultural"),
) -> list[list[Cell]]:
    """Return `height` rows of `width` cells, or only blanks if that is too small for a picture.

    Points outside the scale are drawn at its edge. An interval that goes on there ends in an arrow.
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
            *((character, "axis") for character in numbers.get(row, "").rjust(MARGIN - 1) + " "),
            *canvas.rows[row],
            (" ", ""),
        ]
        for row in range(canvas.height)
    ]
    return [*rows, [(character, "axis") for character in _foot(canvas, width)]]


class _Canvas:
    """The inner part of the picture. Row 0 is the top."""

    def __init__(self, width: int, height: int, scale: PlaneRange) -> None:
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
        """Draw the axes through 0, with the names of their ends."""
        row, column = self.row(0), self.column(0)
        self.rows[row] = [("┄", "axis")] * self.width
        for axis_row in range(self.height):
            self.rows[axis_row][column] = ("┊", "axis")
        self.rows[row][column] = ("┼", "axis")
        x_prefix, y_prefix = (f"{name} " if self.width >= ROOMY else "" for name in names)
        if column > len(x_prefix) + 5:
            self.write(row, 0, f"{x_prefix}left ", "name")
        if self.width - column > len(x_prefix) + 7:
            self.write(row, self.width - len(x_prefix) - 6, f" {x_prefix}right", "name")
        name_column = (
            column + 2
            if column + 2 + len(y_prefix) + 5 <= self.width
            else column - 2 - len(y_prefix) - 5
        )
        if row > 0:
            self.write(0, name_column, f"{y_prefix}right", "name")
        if row < self.height - 1:
            self.write(self.height - 1, name_column, f"{y_prefix}left", "name")

    def cross(self, point: CoordinatePoint) -> None:
        """Draw the intervals of a point."""
        role: Role = "chosen" if point.chosen else "interval"
        scale, row, column = self.scale, self.row(point.y.value), self.column(point.x.value)
        if not math.isnan(point.x.low) and (first := self.column(point.x.low)) < (
            last := self.column(point.x.high)
        ):
            for position in range(first, last + 1):
                self.put(row, position, "─", role)
            self.put(row, first, "├" if point.x.low >= scale.left else "◂", role)
            self.put(row, last, "┤" if point.x.high <= scale.right else "▸", role)
        if not math.isnan(point.y.low) and (first := self.row(point.y.high)) < (
            last := self.row(point.y.low)
        ):
            for position in range(first, last + 1):
                self.put(position, column, "│", role)
            self.put(first, column, "┬" if point.y.high <= scale.top else "▴", role)
            self.put(last, column, "┴" if point.y.low >= scale.bottom else "▾", role)

    def put(self, row: int, column: int, sign: str, role: Role) -> None:
        """Draw a piece of an interval, or a crossing if another one goes across."""
        current = self.rows[row][column][0]
        if {current, sign} == {"─", "│"}:
            sign = "┼"
        self.rows[row][column] = (sign, role)

    def marks(self, points: Sequence[CoordinatePoint]) -> None:
        """Draw the points, and beside each position the letters of its points."""
        points_by_cell: defaultdict[tuple[int, int], list[CoordinatePoint]] = defaultdict(list)
        for point in points:
            points_by_cell[self.row(point.y.value), self.column(point.x.value)].append(point)
        taken_cells = set(points_by_cell)
        for (row, column), cell_points in sorted(points_by_cell.items()):
            role: Role = "chosen" if any(point.chosen for point in cell_points) else "point"
            self.rows[row][column] = (cell_points[0].mark, role)
            text = letters(cell_points)
            free_spot = next(
                (
                    spot
                    for spot in self._spots(row, column, len(text))
                    if not taken_cells & _cells(spot, text)
                ),
                None,
            )
            if free_spot is not None:
                taken_cells |= _cells(free_spot, text)
                self.write(*free_spot, text, role)

    def _spots(self, row: int, column: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield the cells where letters may begin.

        These are right and left of the position, then further and further above and below.
        """
        for distance in range(self.height):
            for spot_row in (row,) if distance == 0 else (row - distance, row + distance):
                for spot_column in (column + 1, column - size):
                    if (
                        0 <= spot_row < self.height
                        and spot_column >= 0
                        and spot_column + size <= self.width
                    ):
                        yield spot_row, spot_column

    def write(self, row: int, column: int, text: str, role: Role) -> None:
        for offset, character in enumerate(text):
            if 0 <= column + offset < self.width:
                self.rows[row][column + offset] = (character, role)


def letters(there: Sequence[CoordinatePoint]) -> str:
    """Return the letters of points that share a position, each after its mark if that differs.

    Only marks other than that of the first point are written.

    Examples
    --------
    >>> here = CoordinateInterval(0.0)
    >>> points = [CoordinatePoint(letter, here, here) for letter in "AB"]
    >>> letters([*points, CoordinatePoint("C", here, here, "◆")])
    'AB◆C'
    """
    text = "".join(point.letter for point in there if point.mark == there[0].mark)
    for point in there:
        text += f"{point.mark}{point.letter}" if point.mark != there[0].mark else ""
    return text


def _cells(spot: tuple[int, int], text: str) -> set[tuple[int, int]]:
    return {(spot[0], spot[1] + offset) for offset in range(len(text))}


def _numbers(canvas: _Canvas) -> dict[int, str]:
    """Return the numbers of the vertical axis by row."""
    scale = canvas.scale
    return {canvas.row(y): _number(y) for y in (scale.bottom, scale.top, 0.0)}


def _foot(canvas: _Canvas, width: int) -> str:
    """Return the numbers of the horizontal axis, each under its column."""
    line = [" "] * width
    for x in (canvas.scale.left, canvas.scale.right, 0.0):
        text = _number(x)
        start = max(0, min(width - len(text), MARGIN + canvas.column(x) - len(text) // 2))
        line[start : start + len(text)] = text
    return "".join(line)


def _number(value: float) -> str:
    return f"{value:+.1f}" if abs(value) > 1e-9 else "0"


class Plane(Widget):
    """Points on the economic and the cultural axis, on the full scale or as near as they allow."""

    DEFAULT_CSS = """
    Plane {
        width: 1fr;
        height: 1fr;
        min-height: 5;
    }
    """

    points: reactive[tuple[CoordinatePoint, ...]] = reactive(())
    near: reactive[bool] = reactive(False)

    @property
    def scale(self) -> PlaneRange:
        return fitted(self.points) if self.near else FULL_SCALE

    def render(self) -> Content:
        rows = draw(self.points, self.size.width, self.size.height, self.scale)
        return Content("\n").join(_line(row) for row in rows)


def _line(row: Sequence[Cell]) -> Content:
    runs = (
        ("".join(character for character, _ in run), STYLES[role])
        for role, run in groupby(row, key=lambda cell: cell[1])
    )
    return Content.assemble(*runs)
