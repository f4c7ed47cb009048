"""Pictures drawn with plotext: one character per mark, so that marks distinguish the series."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import (
    Axis,
    Bars,
    Intervals,
    Line,
    Lines,
    Place,
    Plane,
    Spider,
    hollow,
)
from workbench.figures.pictures.picture import Picture
from workbench.figures.shown import estimate, number

Colour = tuple[int, int, int]
COLOURS: Sequence[Colour] = (
    (86, 180, 233),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (213, 94, 0),
)
"palette of Okabe and Ito (2008)"
GREY: Colour = (128, 128, 128)
PLAIN = "default"
"colour of the terminal; text without a colour would be on plotext's white in any theme"
FULL, HOLLOW = "●◆■▲▼★", "○◇□△▽☆"
PARTS = "█▒▓░▚"
"characters of the parts of bars"
LINES = 20
"approximate number of terminal lines of a plane"
BASELINES = "▸◂×+"
WIDE = 110
"columns from which a line has its number beside its label"
LABEL = 30
"columns of a label"
SPOKE = 22
"columns of a label beside a spider"
LEAST_WIDTH, LEAST_HEIGHT = 30, 6
"least size of a picture"
FRAME = 3
"lines of the horizontal axis: its line, numbers and title"


@dataclass(frozen=True, slots=True)
class SeriesLook:
    """The look that distinguishes a series from others."""

    mark: str
    hollow: str
    colour: Colour


def looks(series: Sequence[str], baselines: Sequence[str] = ()) -> dict[str, SeriesLook]:
    """Return the look of each series. Baselines are grey."""
    looks_by_name = {
        name: SeriesLook(sign, sign, GREY)
        for name, sign in zip(baselines, BASELINES * len(baselines), strict=False)
    }
    for index, name in enumerate(name for name in series if name not in looks_by_name):
        looks_by_name[name] = SeriesLook(
            FULL[index % len(FULL)], HOLLOW[index % len(HOLLOW)], COLOURS[index % len(COLOURS)]
        )
    return looks_by_name


def marks(picture: Picture) -> list[tuple[str, str, Colour]]:
    """Return the legend: the mark, name and colour of each series.

    It is empty for a single series without a name.
    """
    if isinstance(picture, Bars):
        mark_by_name = {
            name: PARTS[index % len(PARTS)] for index, name in enumerate(picture.series)
        }
        return [
            (mark_by_name[name], name, COLOURS[index % len(COLOURS)])
            for index, name in enumerate(picture.series)
            if name
        ]
    series, baselines = _series(picture)
    return [
        (look.mark, name, look.colour)
        for name, look in looks(series, baselines).items()
        if name and name in series
    ]


def _series(picture: Picture) -> tuple[Sequence[str], Sequence[str]]:
    if isinstance(picture, Intervals):
        return picture.series, picture.baselines
    if isinstance(picture, Spider):
        return list(picture.lines), picture.baselines
    if isinstance(picture, Lines):
        return [line.series for line in picture.lines], ()
    return (picture.series, ()) if isinstance(picture, Plane) else ((), ())


def most(height: int) -> int:
    """Return the number of lines of values that fit."""
    return max(1, height - FRAME)


def draw(plt: Any, picture: Picture, width: int) -> None:
    """Draw a picture on a canvas of plotext. A picture of another kind leaves it empty."""
    plt.clear_figure()
    plt.frame(False)
    drawers: Mapping[type[Picture], Callable[[Any, Any, int], None]] = {
        Intervals: _intervals,
        Bars: _bars,
        Lines: _lines,
        Plane: _plane,
        Spider: _spider,
    }
    if (drawer := drawers.get(type(picture))) is not None:
        drawer(plt, picture, width)


def _intervals(plt: Any, picture: Intervals, width: int) -> None:
    look_by_name = looks(picture.series, picture.baselines)
    labels = list[str]()
    for index, point in enumerate(picture.points):
        look, value = look_by_name[point.series], point.value
        name = point.label if index == 0 or picture.points[index - 1].label != point.label else ""
        value_text = f" {estimate(value, picture.axis.kind)}" if width >= WIDE else ""
        labels.append(f"{_cut(name)}{value_text if value.defined else ' undefined'}")
        for reference in point.references if picture.reference else ():
            if not math.isnan(reference):
                plt.scatter([reference], [-index], marker="│", color=GREY)
        _dash(plt, value, -index, look.colour)
        if value.defined:
            plt.scatter(
                [value.value],
                [-index],
                marker=look.hollow if hollow(value) else look.mark,
                color=look.colour,
            )
    _rows(plt, labels)
    _across(plt, picture.axis)


def _bars(plt: Any, picture: Bars, width: int) -> None:
    labels = list[str]()
    for index, bar in enumerate(picture.bars):
        start = 0.0
        for name, size in bar.parts:
            if size > 0:
                series_index = picture.series.index(name)
                mark, colour = (
                    PARTS[series_index % len(PARTS)],
                    COLOURS[series_index % len(COLOURS)],
                )
                plt.plot([start, start + size], [-index, -index], marker=mark, color=colour)
                start += size
        value_text = (
            f" {number(bar.parts[0][1], picture.axis.kind)}"
            if len(bar.parts) == 1 and width >= WIDE
            else ""
        )
        labels.append(f"{_cut(bar.label)}{value_text}")
    _rows(plt, labels)
    _across(plt, picture.axis)


def _lines(plt: Any, picture: Lines, width: int) -> None:  # noqa: ARG001
    look_by_name = looks([line.series for line in picture.lines])
    for line in picture.lines:
        if picture.identity:
            _diagonal(plt, picture.x)
        _line(plt, line, look_by_name[line.series])
    for x_reference, _ in picture.x.references:
        plt.vline(x_reference, GREY)
    _across(plt, picture.x, zero=False)
    _upwards(plt, picture.y)


def _line(plt: Any, line: Line, look: SeriesLook) -> None:
    """Draw the defined points of a line, with their intervals."""
    points = [(x, value) for x, value in line.points if value.defined]
    plt.plot(
        [x for x, _ in points],
        [value.value for _, value in points],
        marker="braille",
        color=look.colour,
    )
    for x, value in points:
        if not math.isnan(value.low):
            plt.plot([x, x], [value.low, value.high], marker="│", color=look.colour)
        mark = look.hollow if hollow(value) else look.mark
        plt.scatter([x], [value.value], marker=mark, color=look.colour)


def _diagonal(plt: Any, axis: Axis) -> None:
    """Draw the line on which both coordinates are equal."""
    ends = [axis.low, axis.high]
    plt.plot(ends, ends, marker="dot", color=GREY)


def _plane(plt: Any, picture: Plane, width: int) -> None:
    """Draw points with their labels.

    A label that would overlap another one is left out. The table has it.
    """
    look_by_name = looks(picture.series)
    labels = _PlaneLabels(plt, picture, width)
    if picture.identity:
        _diagonal(plt, picture.x)
    for point in picture.places:
        if not point.placed:
            continue
        look = look_by_name[point.series]
        mark = look.hollow if point.hollow else look.mark
        _cross(plt, point, look.colour)
        plt.scatter([point.x.value], [point.y.value], marker=mark, color=look.colour)
        if picture.labelled:
            labels.write(point, mark, look.colour)
    _across(plt, picture.x)
    _upwards(plt, picture.y)


def _cross(plt: Any, point: Place, colour: Colour) -> None:
    """Draw the intervals of a point."""
    x, y = point.x, point.y
    if not math.isnan(x.low):
        plt.plot([x.low, x.high], [y.value, y.value], marker="─", color=colour)
    if not math.isnan(y.low):
        plt.plot([x.value, x.value], [y.low, y.high], marker="│", color=colour)


class _PlaneLabels:
    """The labels of the points of a plane, written where there is room."""

    def __init__(self, plt: Any, picture: Plane, width: int):
        self._plt = plt
        self._x_axis = picture.x
        self._column = (picture.x.high - picture.x.low) / max(1, width)
        "width of a terminal column, in units of the horizontal axis"
        self._line = (picture.y.high - picture.y.low) / LINES
        self._spans: list[tuple[float, float, float]] = []
        "vertical coordinate, start and end of each label"

    def write(self, point: Place, mark: str, colour: Colour) -> None:
        """Write the label of a point beside its mark, unless it would overlap another one."""
        x, y = point.x.value, point.y.value
        # In the last third of the axis, a label ends at its point.
        is_late = x > (self._x_axis.low + 2 * self._x_axis.high) / 3
        name = _cut(point.label)
        label = f"{name} {mark}" if is_late else f"{mark} {name}"
        reach = (len(label) + 1) * self._column
        start, end = (x - reach, x) if is_late else (x, x + reach)
        if self._overlaps(y, start, end):
            return
        self._spans.append((y, start, end))
        self._plt.text(
            label,
            x,
            y,
            alignment="right" if is_late else "left",
            color=colour,
            background=PLAIN,
        )

    def _overlaps(self, y: float, start: float, end: float) -> bool:
        return any(
            abs(y - other_y) < self._line and start < other_end and other_start < end
            for other_y, other_start, other_end in self._spans
        )


def _spider(plt: Any, picture: Spider, width: int) -> None:  # noqa: ARG001
    look_by_name = looks(list(picture.lines), picture.baselines)
    span = picture.axis.high - picture.axis.low
    angles = [2 * math.pi * index / len(picture.spokes) for index in range(len(picture.spokes))]

    def place(direction: float, value: float) -> tuple[float, float]:
        share = (value - picture.axis.low) / span
        return share * math.sin(direction), share * math.cos(direction)

    circle_angles = [2 * math.pi * step / 60 for step in range(61)]
    for radius in {picture.axis.high, max(0.0, picture.axis.low)}:
        plt.plot(
            *_across_up(place(circle_angle, radius) for circle_angle in circle_angles),
            marker="dot",
            color=GREY,
        )
    for name, values in picture.lines.items():
        look = look_by_name[name]
        closed_line = [*zip(angles, values, strict=True), (angles[0], values[0])]
        for (angle, value), (next_angle, next_value) in pairwise(closed_line):
            if value.defined and next_value.defined:
                end_points = place(angle, value.value), place(next_angle, next_value.value)
                plt.plot(*_across_up(end_points), marker="braille", color=look.colour)
        for angle, value in zip(angles, values, strict=True):
            if value.defined:
                mark = look.hollow if hollow(value) else look.mark
                plt.scatter(
                    *_across_up([place(angle, value.value)]), marker=mark, color=look.colour
                )
    for angle, spoke in zip(angles, picture.spokes, strict=True):
        x, y = 1.12 * math.sin(angle), 1.12 * math.cos(angle)
        alignment = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        plt.text(_cut(spoke, SPOKE), x, y, alignment=alignment, color=PLAIN, background=PLAIN)
    plt.xlim(-2.6, 2.6)
    plt.ylim(-1.2, 1.2)
    plt.xticks([])
    plt.yticks([])


def _across_up(points: Any) -> tuple[list[float], list[float]]:
    x, y = zip(*points, strict=True)
    return list(x), list(y)


def _dash(plt: Any, value: Estimate, at: float, colour: Colour) -> None:
    """Draw an interval."""
    if value.defined and not math.isnan(value.low):
        plt.plot([value.low, value.high], [at, at], marker="─", color=colour)
        plt.scatter([value.low], [at], marker="├", color=colour)
        plt.scatter([value.high], [at], marker="┤", color=colour)


def _rows(plt: Any, labels: Sequence[str]) -> None:
    """Write a label at each line."""
    plt.yticks([-index for index in range(len(labels))], labels)
    plt.ylim(-max(1, len(labels) - 1), 0)


def _across(plt: Any, axis: Axis, *, zero: bool = True) -> None:
    plt.xlim(axis.low, axis.high)
    plt.xticks(axis.ticks, [axis.tick(tick) for tick in axis.ticks])
    low, high = axis.ends
    plt.xlabel(f"◂ {low} · {axis.label} · {high} ▸" if low else axis.label)
    for value, _ in axis.references if zero else ():
        plt.vline(value, GREY)


def _upwards(plt: Any, axis: Axis) -> None:
    plt.ylim(axis.low, axis.high)
    plt.yticks(axis.ticks, [axis.tick(tick) for tick in axis.ticks])
    for value, _ in axis.references:
        plt.hline(value, GREY)


def _cut(text: str, most: int = LABEL) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
