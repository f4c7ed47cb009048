"""Draws each kind of picture with matplotlib: import this once something is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.domain.verdicts import Estimate, Verdict
from workbench.figures.pictures.kinds import (
    Bars,
    Cell,
    Grid,
    Intervals,
    Lines,
    Place,
    Plane,
    Point,
    Spider,
    hollow,
)
from workbench.figures.pictures.picture import Picture
from workbench.figures.shown import estimate, number
from workbench.figures.table import MARKS, WORDS
from workbench.figures.write.plots import style
from workbench.figures.write.plots.texts import Text, Texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@singledispatch
def draw(picture: Picture) -> Figure:
    """Return a picture as a figure of matplotlib."""
    raise TypeError(f"{type(picture).__name__} is no picture")


# ── intervals ─────────────────────────────────────────────────────────────────────────────────────

LINE, GAP = 0.16, 0.1
"height of a value, and gap between two labels, in inches"


@draw.register(Intervals)
def _intervals(picture: Intervals) -> Figure:
    """Return a drawn forest plot."""
    looks = style.looks(picture.series, picture.baselines)
    places, centres, height = _places(picture)
    labels = [style.short(label) for label in picture.labels]
    numbers = [_number(picture, point) for point in picture.points]
    names = [name for name in picture.series if name]
    legend = [*names, *(picture.reference if _compared(picture) else ())]
    of = style.canvas(
        height,
        left=style.widest(labels) + 0.2,
        right=style.widest(numbers, style.SMALL) + 0.2,
        top=style.legend_height(legend) + 0.05,
    )
    axes = of.axes
    style.put_axis(axes, picture.axis)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    texts = Texts(axes)
    for at, label in zip(centres, labels, strict=True):
        texts.beside(Text(0, at, label, "right", style.NORMAL, across=-6))
    axes.spines["left"].set_visible(False)
    # every other label is shaded, to guide the eye
    edges = [0.0]
    for centre in centres:
        edges.append(2 * centre - edges[-1])
    for low, high in list(pairwise(edges))[1::2]:
        axes.axhspan(low, min(high, height), color=style.INK, alpha=0.05, linewidth=0, zorder=0)
    for point, at, figure in zip(picture.points, places, numbers, strict=True):
        texts.beside(Text(1, at, figure, across=6))
        if point.value.defined:
            _point(axes, point, at, looks[point.series], several=len(picture.reference) > 1)
        else:
            why = style.short(f"undefined: {point.value.undefined}", 56)
            texts.beside(Text(0, at, why, italic=True, colour=style.GREY, across=4))
    style.put_legend(of, _handles(picture, names, looks), legend)
    return of.figure


def _places(picture: Intervals) -> tuple[list[float], list[float], float]:
    """Return the position of each point, the middle of each label's lines, and the total height."""
    top, of_label = 0.0, dict[str, list[int]]()
    for at, point in enumerate(picture.points):
        of_label.setdefault(point.label, []).append(at)
    places, centres = [0.0] * len(picture.points), []
    for members in of_label.values():
        for row, at in enumerate(members):
            places[at] = top + GAP / 2 + (row + 0.5) * LINE
        bottom = top + GAP + len(members) * LINE
        centres.append((top + bottom) / 2)
        top = bottom
    return places, centres, top


def _reference(place: int) -> dict[str, Any]:
    """Return the style of the mark of a reference."""
    mark = style.REFERENCES[place % len(style.REFERENCES)]
    return {
        "marker": mark,
        "color": style.GREY,
        "markersize": 8 if mark == "|" else 5,
        "markeredgewidth": 1.2,
        "linestyle": "none",
    }


def _point(axes: Axes, point: Point, at: float, look: style.Look, *, several: bool) -> None:
    value = point.value
    for place, one in enumerate(point.references):
        if not math.isnan(one):
            axes.plot([one], [at], **_reference(place if several else 0), zorder=1)
    if not math.isnan(value.low):
        ends = [value.low, value.high]
        axes.plot(
            ends,
            [at, at],
            color=look.colour,
            linewidth=1.4,
            marker="|",
            markersize=4,
            markeredgewidth=1.2,
            zorder=2,
        )
    axes.plot([value.value], [at], **marked(look, open_=hollow(value)), zorder=3, clip_on=False)


def marked(look: style.Look, *, open_: bool) -> dict[str, Any]:
    """Return the style of a value's mark; it is open if there are too few data for an interval."""
    return {
        "marker": look.mark,
        "markersize": 5,
        "color": look.colour,
        "markerfacecolor": style.PAPER if open_ else look.colour,
        "markeredgecolor": look.colour,
        "markeredgewidth": 1.1,
        "linestyle": "none",
    }


def _number(picture: Intervals, point: Point) -> str:
    """Return the value as tables have it, with what stands behind it; empty where it is
    undefined.
    """
    if not point.value.defined:
        return ""
    return f"{estimate(point.value, picture.axis.kind)} {point.beside}".strip()


def _compared(picture: Intervals) -> bool:
    return bool(picture.reference) and any(point.references for point in picture.points)


def _handles(picture: Intervals, names: list[str], looks: dict[str, style.Look]) -> list[Any]:
    from matplotlib.lines import Line2D

    found = [Line2D([], [], **marked(looks[name], open_=False)) for name in names]
    if _compared(picture):
        found += [Line2D([], [], **_reference(place)) for place in range(len(picture.reference))]
    return found


# ── bars ──────────────────────────────────────────────────────────────────────────────────────────

BAR_LINE = 0.24


@draw.register(Bars)
def _bars(picture: Bars) -> Figure:
    """Return drawn bars; the number follows a bar with one part."""
    from matplotlib.patches import Patch

    looks = style.looks(picture.series)
    names = [name for name in picture.series if name]
    labels = [style.short(bar.label) for bar in picture.bars]
    numbers = [
        number(bar.parts[0][1], picture.axis.kind) if len(bar.parts) == 1 else ""
        for bar in picture.bars
    ]
    of = style.canvas(
        BAR_LINE * len(labels),
        left=style.widest(labels) + 0.2,
        right=style.widest(numbers, style.SMALL) + 0.2,
        top=style.legend_height(names) + 0.05,
    )
    axes = of.axes
    style.put_axis(axes, picture.axis)
    axes.set_xlim(picture.axis.low, picture.axis.high)
    axes.set_ylim(len(labels), 0)
    axes.set_yticks([])
    texts = Texts(axes)
    axes.grid(axis="x", color=style.GREY, alpha=0.25, linewidth=0.5)
    for at, bar in enumerate(picture.bars):
        begin = 0.0
        for name, size in bar.parts:
            if not math.isnan(size):
                look = looks[name]
                axes.barh(
                    at + 0.5,
                    size,
                    0.7,
                    left=begin,
                    facecolor=(look.colour, 0.45),
                    edgecolor=look.colour,
                    linewidth=0.7,
                    hatch=look.hatch,
                )
                begin += size
        texts.beside(Text(0, at + 0.5, labels[at], "right", style.NORMAL, across=-6))
        texts.beside(Text(1, at + 0.5, numbers[at], across=6))
    handles = [
        Patch(
            facecolor=(looks[name].colour, 0.45),
            edgecolor=looks[name].colour,
            hatch=looks[name].hatch,
        )
        for name in names
    ]
    style.put_legend(of, handles, names)
    return of.figure


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────

HEIGHT, WIDEST = 3.2, 5.6


@draw.register(Lines)
def _lines(picture: Lines) -> Figure:
    """Return drawn curves; several series are distinguished by mark and dash."""
    from matplotlib.lines import Line2D

    named = [line.series for line in picture.lines if line.series]
    legend = [*named, *([picture.identity] if picture.identity else [])]
    looks = style.looks([line.series for line in picture.lines])
    of = style.canvas(
        HEIGHT, left=0.75, right=style.WIDTH - WIDEST, top=style.legend_height(legend) + 0.1
    )
    axes = of.axes
    style.put_axis(axes, picture.x)
    style.put_axis(axes, picture.y, vertical=True)
    axes.grid(color=style.GREY, alpha=0.25, linewidth=0.5)
    for line in picture.lines:
        _curve(axes, line.points, looks[line.series])
    if picture.identity:
        put_identity(axes, picture.x.low, picture.x.high)
    handles = [
        Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash})
        for name in named
    ]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(of, handles, legend)
    return of.figure


def put_identity(axes: Axes, low: float, high: float) -> None:
    """Draw the diagonal."""
    axes.plot([low, high], [low, high], color=style.GREY, linewidth=0.8, linestyle=":", zorder=0.6)


def _curve(axes: Axes, points: Sequence[tuple[float, Estimate]], look: style.Look) -> None:
    there = [(at, value) for at, value in points if value.defined]
    axes.plot(
        [at for at, _ in there],
        [value.value for _, value in there],
        color=look.colour,
        linestyle=look.dash,
        linewidth=1.4,
        zorder=2,
    )
    band = [(at, value.low, value.high) for at, value in there if not math.isnan(value.low)]
    if band:
        places, low, high = map(list, zip(*band, strict=True))
        axes.fill_between(places, low, high, color=look.colour, alpha=0.15, linewidth=0, zorder=1)
    for at, value in there:
        axes.plot([at], [value.value], **marked(look, open_=hollow(value)), zorder=3, clip_on=False)


# ── plane ─────────────────────────────────────────────────────────────────────────────────────────

SIDE = 4.2
"inches of a square plane"
SPOTS = ((1, 1), (-1, 1), (1, -2), (-1, -2), (1, 3), (-1, 3), (1, -4), (-1, -4), (1, 5))
"possible positions of a point's label, in steps to the right and up"


@draw.register(Plane)
def _plane(picture: Plane) -> Figure:
    """Return a drawn plane; points without a position are listed below it."""
    from matplotlib.lines import Line2D

    named = [name for name in picture.series if name]
    legend = [*named, *([picture.identity] if picture.identity else [])]
    looks = style.looks(picture.series)
    left_out = [f"{place.label}: undefined, {_why(place)}" for place in picture.left_out]
    of = style.canvas(
        SIDE,
        left=0.8,
        right=style.WIDTH - 0.8 - SIDE - 0.9 * (not picture.square),
        top=style.legend_height(legend) + 0.1,
        bottom=0.5 + 0.16 * len(left_out),
    )
    axes = of.axes
    style.put_axis(axes, picture.x)
    style.put_axis(axes, picture.y, vertical=True)
    if picture.identity:
        put_identity(axes, picture.x.low, picture.x.high)
    placed = [place for place in picture.places if place.placed]
    for place in placed:
        look = looks[place.series]
        x, y = place.x, place.y
        if not math.isnan(x.low):
            axes.plot(
                [x.low, x.high],
                [y.value, y.value],
                color=look.colour,
                linewidth=1.1,
                alpha=0.8,
                zorder=2,
            )
        if not math.isnan(y.low):
            axes.plot(
                [x.value, x.value],
                [y.low, y.high],
                color=look.colour,
                linewidth=1.1,
                alpha=0.8,
                zorder=2,
            )
        axes.plot([x.value], [y.value], **marked(look, open_=place.hollow), zorder=3)
    if picture.labelled:
        _labels(axes, picture, placed)
    for row, text in enumerate(left_out):
        of.figure.text(
            0.8 / style.WIDTH,
            (0.05 + 0.16 * row) / of.figure.get_figheight(),
            style.short(text, 90),
            fontsize=style.SMALL,
            style="italic",
            color=style.GREY,
        )
    handles = [Line2D([], [], **marked(looks[name], open_=False)) for name in named]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(of, handles, legend)
    return of.figure


def _why(place: Place) -> str:
    return place.x.undefined or place.y.undefined


def _labels(axes: Axes, picture: Plane, placed: list[Place]) -> None:
    """Write each label beside its point, at the first of some spots where no other label stands;
    where all are taken the point has none, and the table says what it is.
    """
    unit = (picture.x.high - picture.x.low) / 60, (picture.y.high - picture.y.low) / 60
    taken: list[tuple[float, float, float, float]] = [
        (
            place.x.value - unit[0],
            place.y.value - unit[1],
            place.x.value + unit[0],
            place.y.value + unit[1],
        )
        for place in placed
    ]
    for place in placed:
        text = style.short(place.label)
        width = style.inches(text, style.SMALL) / SIDE * (picture.x.high - picture.x.low)
        for dx, dy in SPOTS:
            x, y = place.x.value + dx * 0.9 * unit[0], place.y.value + dy * 0.9 * unit[1]
            box = (x if dx > 0 else x - width, y, x + width if dx > 0 else x, y + 2 * unit[1])
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                side = "left" if dx > 0 else "right"
                axes.text(x, y, text, fontsize=style.SMALL, ha=side, va="bottom", zorder=4)
                break


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# ── spider ────────────────────────────────────────────────────────────────────────────────────────

SPIDER_SIDE = 3.6


@draw.register(Spider)
def _spider(picture: Spider) -> Figure:
    """Return a drawn spider."""
    from matplotlib.lines import Line2D

    names = [name for name in picture.lines if name]
    looks = style.looks(list(picture.lines), picture.baselines)
    margin = (style.WIDTH - SPIDER_SIDE) / 2
    of = style.canvas(
        SPIDER_SIDE,
        left=margin,
        right=margin,
        top=style.legend_height(names) + 0.4,
        bottom=0.4,
        polar=True,
    )
    axes: Any = of.axes
    turns = [2 * math.pi * at / len(picture.spokes) for at in range(len(picture.spokes))]
    _web(axes, picture, turns)
    for name, values in picture.lines.items():
        look = looks[name]
        ends = [
            (turn, value.value) for turn, value in zip(turns, values, strict=True) if value.defined
        ]
        whole = len(ends) == len(turns)
        drawn = (
            [*ends, ends[0]]
            if whole
            else [
                (turn, value.value if value.defined else math.nan)
                for turn, value in zip([*turns, 2 * math.pi], [*values, values[0]], strict=True)
            ]
        )
        axes.plot(
            *zip(*drawn, strict=True),
            color=look.colour,
            linestyle=look.dash,
            linewidth=1.2,
            zorder=2,
        )
        for (turn, value), at in zip(ends, (one for one in values if one.defined), strict=True):
            axes.plot([turn], [value], **marked(look, open_=hollow(at)), zorder=3, clip_on=False)
    handles = [
        Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash})
        for name in names
    ]
    style.put_legend(of, handles, names)
    return of.figure


def _web(axes: Axes, picture: Spider, turns: list[float]) -> None:
    """Draw spokes and rings, with the numbers of the rings on the first spoke."""
    polar: Any = axes
    axis = picture.axis
    rings = [axis.low + step * (axis.high - axis.low) / 4 for step in range(1, 5)]
    polar.set_theta_zero_location("N")
    polar.set_theta_direction(-1)
    polar.set_ylim(axis.low, axis.high)
    polar.set_yticks(
        rings,
        [axis.tick(round(ring, 10)) for ring in rings],
        fontsize=style.SMALL,
        color=style.GREY,
    )
    polar.set_rlabel_position(math.degrees(turns[1]) / 2)
    polar.set_xticks(turns, [""] * len(turns))
    polar.grid(color=style.GREY, alpha=0.4, linewidth=0.5)
    polar.spines["polar"].set_visible(False)
    if axis.low < 0 < axis.high:
        around = [2 * math.pi * at / 90 for at in range(91)]
        polar.plot(around, [0.0] * 91, color=style.GREY, linewidth=0.9, zorder=1)
    for turn, spoke in zip(turns, picture.spokes, strict=True):
        across = math.sin(turn)
        side = "center" if abs(across) < 0.1 else "left" if across > 0 else "right"
        polar.text(
            turn,
            axis.high + 0.06 * (axis.high - axis.low),
            style.short(spoke),
            fontsize=style.SMALL,
            ha=side,
            va="center",
        )


# ── grid ──────────────────────────────────────────────────────────────────────────────────────────

ROW = 0.2
LEAST = 0.42
"least width of a column in inches"
FULL = 0.55
"opacity of the full shade, on which text is legible in dark and light themes"
FILLS = {
    Verdict.PASS: (style.BLUE, 0.35),
    Verdict.FAIL: (style.VERMILLION, 0.45),
    Verdict.INSUFFICIENT: (style.INK, 0.12),
    Verdict.VOID: (style.INK, 0.0),
}


@draw.register(Grid)
def _grid(picture: Grid) -> Figure:
    """Return a drawn grid."""
    rows, columns = (
        [style.short(row) for row in picture.rows],
        [style.short(column) for column in picture.columns],
    )
    texts = [cell.text for row in picture.cells for cell in row]
    wide = max(LEAST, style.widest(texts, style.SMALL) + 0.16)
    left = style.widest(rows) + 0.15 + (0.25 if picture.titles[0] else 0)
    used = sorted(
        {cell.verdict for row in picture.cells for cell in row if cell.verdict},
        key=list(Verdict).index,
    )
    names = [f"{MARKS[verdict]} {WORDS[verdict]}" for verdict in used]
    legend = style.legend_height(names)
    titled = 0.25 if picture.titles[1] else 0
    wide = min(max(wide, (style.WIDTH - left - 0.15) / len(columns)), 1.5)
    slanted = style.widest(columns, style.SMALL) > wide - 0.06
    top = (style.widest(columns, style.SMALL) * 0.72 + 0.2) if slanted else 0.28
    room = style.widest(columns, style.SMALL) * 0.72 if slanted else 0.15
    of = style.canvas(
        ROW * len(rows),
        left=left,
        right=max(room, style.WIDTH - left - wide * len(columns)),
        top=top + legend + titled,
        bottom=0.3 if picture.unit else 0.1,
        width=max(style.WIDTH, left + wide * len(columns) + room),
    )
    axes = of.axes
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    _shades(axes, picture)
    _texts(axes, picture, rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    turned: dict[str, Any] = (
        {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    )
    places = [at + 0.5 for at in range(len(columns))]
    axes.set_xticks(places, columns, fontsize=style.SMALL, **turned)
    axes.set_yticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(picture.titles[1], fontsize=style.NORMAL)
    _row_title(of, picture.titles[0])
    if picture.unit:
        of.figure.text(
            left / of.figure.get_figwidth(),
            0.08 / of.figure.get_figheight(),
            f"in {picture.unit}",
            fontsize=style.SMALL,
            color=style.GREY,
        )
    style.put_legend(of, [_swatch(verdict) for verdict in used], names)
    return of.figure


def _row_title(of: style.Canvas, title: str) -> None:
    """Write the title of the rows beside their labels."""
    if title:
        box = of.axes.get_position()
        of.figure.text(
            0.12 / of.figure.get_figwidth(),
            (box.y0 + box.y1) / 2,
            title,
            fontsize=style.NORMAL,
            rotation=90,
            ha="center",
            va="center",
        )


def _texts(axes: Axes, picture: Grid, rows: list[str]) -> None:
    texts = Texts(axes)
    for at, (row, cells) in enumerate(zip(rows, picture.cells, strict=True)):
        texts.beside(Text(0, at + 0.5, row, "right", style.NORMAL, across=-4))
        for column, cell in enumerate(cells):
            texts.add(
                Text(column + 0.5, at + 0.5, cell.text, "center", italic=bool(cell.undefined))
            )


def _shades(axes: Axes, picture: Grid) -> None:
    """Draw all cells with the same look together."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    drawn: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for row, cells in enumerate(picture.cells):
        for column, cell in enumerate(cells):
            drawn.setdefault(_look(cell, picture.scale), []).append((column + 0.03, row + 0.06))
    for (colour, alpha), corners in drawn.items():
        points = [
            point
            for x, y in corners
            for point in ((x, y), (x + 0.94, y), (x + 0.94, y + 0.88), (x, y + 0.88), (x, y))
        ]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        axes.add_patch(
            PathPatch(
                Path(points, codes),
                facecolor=(colour, alpha),
                edgecolor=(style.GREY, 0.5),
                linewidth=0.4,
            )
        )


def _look(cell: Cell, scale: tuple[float, float] | None) -> tuple[str, float]:
    """Return the colour and the opacity of a cell."""
    if cell.verdict is not None:
        return FILLS[cell.verdict]
    if scale is None or math.isnan(cell.value):
        return style.INK, 0.0
    most = max(abs(scale[0]), abs(scale[1])) or 1.0
    share = min(1.0, abs(cell.value) / most)
    return style.VERMILLION if cell.value < 0 else style.BLUE, round(FULL * share, 2)


def _swatch(verdict: Verdict) -> Any:
    from matplotlib.patches import Patch

    colour, alpha = FILLS[verdict]
    return Patch(facecolor=(colour, alpha), edgecolor=(style.GREY, 0.5), linewidth=0.4)
