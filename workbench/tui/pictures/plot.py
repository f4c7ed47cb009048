"""Pictures drawn with plotext: one character a mark, so that marks and not colours tell series
apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import Axis, Bars, Intervals, Lines, Plane, Spider, hollow
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
"of Okabe and Ito (2008)"
GREY: Colour = (128, 128, 128)
PLAIN = "default"
"colour of the terminal; a text without one stands on plotext's white, whatever the theme"
FULL, HOLLOW = "●◆■▲▼★", "○◇□△▽☆"
PARTS = "█▒▓░▚"
"of bars"
LINES = 20
"of a terminal that a plane has, about"
BASELINES = "▸◂×+"
WIDE = 110
"columns from which a line has its number beside its label"
LABEL = 30
"columns of a label"
SPOKE = 22
"columns of a label beside a spider"
LEAST_WIDTH, LEAST_HEIGHT = 30, 6
"of a picture"
FRAME = 3
"lines of the horizontal axis: its line, numbers and title"


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is told from others."""

    mark: str
    hollow: str
    colour: Colour


def looks(series: Sequence[str], baselines: Sequence[str] = ()) -> dict[str, Look]:
    """Return how each series looks; baselines are grey."""
    found = {
        name: Look(sign, sign, GREY)
        for name, sign in zip(baselines, BASELINES * len(baselines), strict=False)
    }
    for at, name in enumerate(name for name in series if name not in found):
        found[name] = Look(
            FULL[at % len(FULL)], HOLLOW[at % len(HOLLOW)], COLOURS[at % len(COLOURS)]
        )
    return found


def marks(picture: Picture) -> list[tuple[str, str, Colour]]:
    """Return what each mark means: sign, series, colour; nothing where there is one series without
    a name.
    """
    if isinstance(picture, Bars):
        of = {name: PARTS[at % len(PARTS)] for at, name in enumerate(picture.series)}
        return [
            (of[name], name, COLOURS[at % len(COLOURS)])
            for at, name in enumerate(picture.series)
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
    """Return for how many lines of values there is room."""
    return max(1, height - FRAME)


def draw(plt: Any, picture: Picture, width: int) -> None:
    """Draw a picture on a canvas of plotext. Whatever is not a picture of these kinds leaves it
    empty.
    """
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
    of = looks(picture.series, picture.baselines)
    labels = list[str]()
    for at, point in enumerate(picture.points):
        look, value = of[point.series], point.value
        name = point.label if at == 0 or picture.points[at - 1].label != point.label else ""
        shown = f" {estimate(value, picture.axis.kind)}" if width >= WIDE else ""
        labels.append(f"{_cut(name)}{shown if value.defined else ' undefined'}")
        for one in point.references if picture.reference else ():
            if not math.isnan(one):
                plt.scatter([one], [-at], marker="│", color=GREY)
        _dash(plt, value, -at, look.colour)
        if value.defined:
            plt.scatter(
                [value.value],
                [-at],
                marker=look.hollow if hollow(value) else look.mark,
                color=look.colour,
            )
    _rows(plt, labels)
    _across(plt, picture.axis)


def _bars(plt: Any, picture: Bars, width: int) -> None:
    labels = list[str]()
    for at, bar in enumerate(picture.bars):
        begin = 0.0
        for name, size in bar.parts:
            if size > 0:
                place = picture.series.index(name)
                mark, colour = PARTS[place % len(PARTS)], COLOURS[place % len(COLOURS)]
                plt.plot([begin, begin + size], [-at, -at], marker=mark, color=colour)
                begin += size
        alone = (
            f" {number(bar.parts[0][1], picture.axis.kind)}"
            if len(bar.parts) == 1 and width >= WIDE
            else ""
        )
        labels.append(f"{_cut(bar.label)}{alone}")
    _rows(plt, labels)
    _across(plt, picture.axis)


def _lines(plt: Any, picture: Lines, width: int) -> None:  # noqa: ARG001
    of = looks([line.series for line in picture.lines])
    for line in picture.lines:
        there = [(at, value) for at, value in line.points if value.defined]
        look = of[line.series]
        if picture.identity:
            ends = [picture.x.low, picture.x.high]
            plt.plot(ends, ends, marker="dot", color=GREY)
        plt.plot(
            [at for at, _ in there],
            [value.value for _, value in there],
            marker="braille",
            color=look.colour,
        )
        for at, value in there:
            if not math.isnan(value.low):
                plt.plot([at, at], [value.low, value.high], marker="│", color=look.colour)
            plt.scatter(
                [at],
                [value.value],
                marker=look.hollow if hollow(value) else look.mark,
                color=look.colour,
            )
    for marked, _ in picture.x.references:
        plt.vline(marked, GREY)
    _across(plt, picture.x, zero=False)
    _upwards(plt, picture.y)


def _plane(plt: Any, picture: Plane, width: int) -> None:
    """Draw points with their labels; one that would stand on another label is left out, and the
    table says it.
    """
    of = looks(picture.series)
    step = (
        (picture.x.high - picture.x.low) / max(1, width),
        (picture.y.high - picture.y.low) / LINES,
    )
    taken: list[tuple[float, float, float]] = []
    if picture.identity:
        ends = [picture.x.low, picture.x.high]
        plt.plot(ends, ends, marker="dot", color=GREY)
    for place in picture.places:
        if not place.placed:
            continue
        look, x, y = of[place.series], place.x, place.y
        if not math.isnan(x.low):
            plt.plot([x.low, x.high], [y.value, y.value], marker="─", color=look.colour)
        if not math.isnan(y.low):
            plt.plot([x.value, x.value], [y.low, y.high], marker="│", color=look.colour)
        mark = look.hollow if place.hollow else look.mark
        plt.scatter([x.value], [y.value], marker=mark, color=look.colour)
        if picture.labelled:
            late = x.value > (picture.x.low + 2 * picture.x.high) / 3
            label = f"{_cut(place.label)} {mark}" if late else f"{mark} {_cut(place.label)}"
            side = "right" if late else "left"
            reach = (len(label) + 1) * step[0]
            begin, end = (x.value - reach, x.value) if late else (x.value, x.value + reach)
            if not any(
                abs(y.value - at) < step[1] and begin < high and low < end
                for at, low, high in taken
            ):
                taken.append((y.value, begin, end))
                plt.text(
                    label, x.value, y.value, alignment=side, color=look.colour, background=PLAIN
                )
    _across(plt, picture.x)
    _upwards(plt, picture.y)


def _spider(plt: Any, picture: Spider, width: int) -> None:  # noqa: ARG001
    of = looks(list(picture.lines), picture.baselines)
    span = picture.axis.high - picture.axis.low
    turns = [2 * math.pi * at / len(picture.spokes) for at in range(len(picture.spokes))]

    def place(turn: float, value: float) -> tuple[float, float]:
        share = (value - picture.axis.low) / span
        return share * math.sin(turn), share * math.cos(turn)

    around = [2 * math.pi * at / 60 for at in range(61)]
    for ring in {picture.axis.high, max(0.0, picture.axis.low)}:
        plt.plot(*_across_up(place(turn, ring) for turn in around), marker="dot", color=GREY)
    for name, values in picture.lines.items():
        look = of[name]
        closed = [*zip(turns, values, strict=True), (turns[0], values[0])]
        for (turn, value), (after, other) in pairwise(closed):
            if value.defined and other.defined:
                ends = place(turn, value.value), place(after, other.value)
                plt.plot(*_across_up(ends), marker="braille", color=look.colour)
        for turn, value in zip(turns, values, strict=True):
            if value.defined:
                mark = look.hollow if hollow(value) else look.mark
                plt.scatter(*_across_up([place(turn, value.value)]), marker=mark, color=look.colour)
    for turn, spoke in zip(turns, picture.spokes, strict=True):
        x, y = 1.12 * math.sin(turn), 1.12 * math.cos(turn)
        side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        plt.text(_cut(spoke, SPOKE), x, y, alignment=side, color=PLAIN, background=PLAIN)
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
    plt.yticks([-at for at in range(len(labels))], labels)
    plt.ylim(-max(1, len(labels) - 1), 0)


def _across(plt: Any, axis: Axis, *, zero: bool = True) -> None:
    plt.xlim(axis.low, axis.high)
    plt.xticks(axis.ticks, [axis.tick(place) for place in axis.ticks])
    low, high = axis.ends
    plt.xlabel(f"◂ {low} · {axis.label} · {high} ▸" if low else axis.label)
    for value, _ in axis.references if zero else ():
        plt.vline(value, GREY)


def _upwards(plt: Any, axis: Axis) -> None:
    plt.ylim(axis.low, axis.high)
    plt.yticks(axis.ticks, [axis.tick(place) for place in axis.ticks])
    for value, _ in axis.references:
        plt.hline(value, GREY)


def _cut(text: str, most: int = LABEL) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
