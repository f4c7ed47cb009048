"""The drawing of each kind of picture with matplotlib. Import this once something is drawn."""

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
    heights, centres, height = _places(picture)
    labels = [style.short(label) for label in picture.labels]
    numbers = [_number(picture, point) for point in picture.points]
    names = [name for name in picture.series if name]
    legend = [*names, *(picture.reference if _compared(picture) else ())]
    canvas = style.canvas(
        height,
        left=style.widest(labels) + 0.2,
        right=style.widest(numbers, style.SMALL) + 0.2,
        top=style.legend_height(legend) + 0.05,
    )
    axes = canvas.axes
    style.put_axis(axes, picture.axis)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    texts = Texts(axes)
    for y, label in zip(centres, labels, strict=True):
        texts.beside(Text(0, y, label, "right", style.NORMAL, across=-6))
    axes.spines["left"].set_visible(False)
    # every other label is shaded, to guide the eye
    edges = [0.0]
    for middle in centres:
        edges.append(2 * middle - edges[-1])
    for low, high in list(pairwise(edges))[1::2]:
        axes.axhspan(low, min(high, height), color=style.INK, alpha=0.05, linewidth=0, zorder=0)
    for point, y, value_text in zip(picture.points, heights, numbers, strict=True):
        texts.beside(Text(1, y, value_text, across=6))
        if point.value.defined:
            _point(axes, point, y, looks[point.series], several=len(picture.reference) > 1)
        else:
            reason = style.short(f"undefined: {point.value.undefined}", 56)
            texts.beside(Text(0, y, reason, italic=True, colour=style.GREY, across=4))
    style.put_legend(canvas, _handles(picture, names, looks), legend)
    return canvas.figure


def _places(picture: Intervals) -> tuple[list[float], list[float], float]:
    """Return the position of each point, the middle of each label's lines, and the total height."""
    top, indices_by_label = 0.0, dict[str, list[int]]()
    for index, point in enumerate(picture.points):
        indices_by_label.setdefault(point.label, []).append(index)
    heights, centres = [0.0] * len(picture.points), []
    for members in indices_by_label.values():
        for row, index in enumerate(members):
            heights[index] = top + GAP / 2 + (row + 0.5) * LINE
        bottom = top + GAP + len(members) * LINE
        centres.append((top + bottom) / 2)
        top = bottom
    return heights, centres, top


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


def _point(axes: Axes, point: Point, position: float, look: style.Look, *, several: bool) -> None:
    value = point.value
    for index, reference in enumerate(point.references):
        if not math.isnan(reference):
            axes.plot([reference], [position], **_reference(index if several else 0), zorder=1)
    if not math.isnan(value.low):
        ends = [value.low, value.high]
        axes.plot(
            ends,
            [position, position],
            color=look.colour,
            linewidth=1.4,
            marker="|",
            markersize=4,
            markeredgewidth=1.2,
            zorder=2,
        )
    axes.plot(
        [value.value], [position], **marked(look, open_=hollow(value)), zorder=3, clip_on=False
    )


def marked(look: style.Look, *, open_: bool) -> dict[str, Any]:
    """Return the style of a value's mark. It is open if there are too few data for an interval."""
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
    """Return the value as tables have it, with the text after it.

    The result is empty if it is undefined.
    """
    if not point.value.defined:
        return ""
    return f"{estimate(point.value, picture.axis.kind)} {point.beside}".strip()


def _compared(picture: Intervals) -> bool:
    return bool(picture.reference) and any(point.references for point in picture.points)


def _handles(picture: Intervals, names: list[str], looks: dict[str, style.Look]) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **marked(looks[name], open_=False)) for name in names]
    if _compared(picture):
        handles += [Line2D([], [], **_reference(index)) for index in range(len(picture.reference))]
    return handles


# ── bars ──────────────────────────────────────────────────────────────────────────────────────────

BAR_LINE = 0.24


@draw.register(Bars)
def _bars(picture: Bars) -> Figure:
    """Return drawn bars. The number follows a bar with one part."""
    from matplotlib.patches import Patch

    looks = style.looks(picture.series)
    names = [name for name in picture.series if name]
    labels = [style.short(bar.label) for bar in picture.bars]
    numbers = [
        number(bar.parts[0][1], picture.axis.kind) if len(bar.parts) == 1 else ""
        for bar in picture.bars
    ]
    canvas = style.canvas(
        BAR_LINE * len(labels),
        left=style.widest(labels) + 0.2,
        right=style.widest(numbers, style.SMALL) + 0.2,
        top=style.legend_height(names) + 0.05,
    )
    axes = canvas.axes
    style.put_axis(axes, picture.axis)
    axes.set_xlim(picture.axis.low, picture.axis.high)
    axes.set_ylim(len(labels), 0)
    axes.set_yticks([])
    texts = Texts(axes)
    axes.grid(axis="x", color=style.GREY, alpha=0.25, linewidth=0.5)
    for index, bar in enumerate(picture.bars):
        begin = 0.0
        for name, size in bar.parts:
            if not math.isnan(size):
                look = looks[name]
                axes.barh(
                    index + 0.5,
                    size,
                    0.7,
                    left=begin,
                    facecolor=(look.colour, 0.45),
                    edgecolor=look.colour,
                    linewidth=0.7,
                    hatch=look.hatch,
                )
                begin += size
        texts.beside(Text(0, index + 0.5, labels[index], "right", style.NORMAL, across=-6))
        texts.beside(Text(1, index + 0.5, numbers[index], across=6))
    handles = [
        Patch(
            facecolor=(looks[name].colour, 0.45),
            edgecolor=looks[name].colour,
            hatch=looks[name].hatch,
        )
        for name in names
    ]
    style.put_legend(canvas, handles, names)
    return canvas.figure


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────

HEIGHT, WIDEST = 3.2, 5.6


@draw.register(Lines)
def _lines(picture: Lines) -> Figure:
    """Return drawn curves. Several series are distinguished by mark and dash."""
    from matplotlib.lines import Line2D

    names = [line.series for line in picture.lines if line.series]
    legend = [*names, *([picture.identity] if picture.identity else [])]
    looks = style.looks([line.series for line in picture.lines])
    canvas = style.canvas(
        HEIGHT, left=0.75, right=style.WIDTH - WIDEST, top=style.legend_height(legend) + 0.1
    )
    axes = canvas.axes
    style.put_axis(axes, picture.x)
    style.put_axis(axes, picture.y, vertical=True)
    axes.grid(color=style.GREY, alpha=0.25, linewidth=0.5)
    for line in picture.lines:
        _curve(axes, line.points, looks[line.series])
    if picture.identity:
        put_identity(axes, picture.x.low, picture.x.high)
    handles = [
        Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash})
        for name in names
    ]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(canvas, handles, legend)
    return canvas.figure


def put_identity(axes: Axes, low: float, high: float) -> None:
    """Draw the diagonal."""
    axes.plot([low, high], [low, high], color=style.GREY, linewidth=0.8, linestyle=":", zorder=0.6)


def _curve(axes: Axes, points: Sequence[tuple[float, Estimate]], look: style.Look) -> None:
    defined = [(x_value, value) for x_value, value in points if value.defined]
    axes.plot(
        [x_value for x_value, _ in defined],
        [value.value for _, value in defined],
        color=look.colour,
        linestyle=look.dash,
        linewidth=1.4,
        zorder=2,
    )
    band = [
        (x_value, value.low, value.high) for x_value, value in defined if not math.isnan(value.low)
    ]
    if band:
        x_positions, low, high = map(list, zip(*band, strict=True))
        axes.fill_between(
            x_positions, low, high, color=look.colour, alpha=0.15, linewidth=0, zorder=1
        )
    for x, value in defined:
        axes.plot([x], [value.value], **marked(look, open_=hollow(value)), zorder=3, clip_on=False)


# ── plane ─────────────────────────────────────────────────────────────────────────────────────────

SIDE = 4.2
"side of a square plane in inches"
SPOTS = ((1, 1), (-1, 1), (1, -2), (-1, -2), (1, 3), (-1, 3), (1, -4), (-1, -4), (1, 5))
"possible positions of a point's label, in steps to the right and up"


@draw.register(Plane)
def _plane(picture: Plane) -> Figure:
    """Return a drawn plane. Points without a position are listed below it."""
    from matplotlib.lines import Line2D

    names = [name for name in picture.series if name]
    legend = [*names, *([picture.identity] if picture.identity else [])]
    looks = style.looks(picture.series)
    left_out = [f"{spot.label}: undefined, {_why(spot)}" for spot in picture.left_out]
    canvas = style.canvas(
        SIDE,
        left=0.8,
        right=style.WIDTH - 0.8 - SIDE - 0.9 * (not picture.square),
        top=style.legend_height(legend) + 0.1,
        bottom=0.5 + 0.16 * len(left_out),
    )
    axes = canvas.axes
    style.put_axis(axes, picture.x)
    style.put_axis(axes, picture.y, vertical=True)
    if picture.identity:
        put_identity(axes, picture.x.low, picture.x.high)
    placed = [spot for spot in picture.places if spot.placed]
    for point in placed:
        look = looks[point.series]
        x, y = point.x, point.y
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
        axes.plot([x.value], [y.value], **marked(look, open_=point.hollow), zorder=3)
    if picture.labelled:
        _labels(axes, picture, placed)
    for row, text in enumerate(left_out):
        canvas.figure.text(
            0.8 / style.WIDTH,
            (0.05 + 0.16 * row) / canvas.figure.get_figheight(),
            style.short(text, 90),
            fontsize=style.SMALL,
            style="italic",
            color=style.GREY,
        )
    handles = [Line2D([], [], **marked(looks[name], open_=False)) for name in names]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(canvas, handles, legend)
    return canvas.figure


def _why(place: Place) -> str:
    return place.x.undefined or place.y.undefined


def _labels(axes: Axes, picture: Plane, placed: list[Place]) -> None:
    """Write each label beside its point, at the first free spot.

    If all spots are taken by other labels the point has none, and the table has its name.
    """
    unit = (picture.x.high - picture.x.low) / 60, (picture.y.high - picture.y.low) / 60
    boxes: list[tuple[float, float, float, float]] = [
        (
            place.x.value - unit[0],
            place.y.value - unit[1],
            place.x.value + unit[0],
            place.y.value + unit[1],
        )
        for place in placed
    ]
    for point in placed:
        text = style.short(point.label)
        width = style.inches(text, style.SMALL) / SIDE * (picture.x.high - picture.x.low)
        for dx, dy in SPOTS:
            x, y = point.x.value + dx * 0.9 * unit[0], point.y.value + dy * 0.9 * unit[1]
            box = (x if dx > 0 else x - width, y, x + width if dx > 0 else x, y + 2 * unit[1])
            if not any(_overlap(box, other) for other in boxes):
                boxes.append(box)
                side = "left" if dx > 0 else "right"
                axes.text(x, y, text, fontsize=style.SMALL, ha=side, va="bottom", zorder=4)
                break


def _overlap(
    first: tuple[float, float, float, float], second: tuple[float, float, float, float]
) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )


# ── spider ────────────────────────────────────────────────────────────────────────────────────────

SPIDER_SIDE = 3.6


@draw.register(Spider)
def _spider(picture: Spider) -> Figure:
    """Return a drawn spider."""
    from matplotlib.lines import Line2D

    names = [name for name in picture.lines if name]
    looks = style.looks(list(picture.lines), picture.baselines)
    margin = (style.WIDTH - SPIDER_SIDE) / 2
    canvas = style.canvas(
        SPIDER_SIDE,
        left=margin,
        right=margin,
        top=style.legend_height(names) + 0.4,
        bottom=0.4,
        polar=True,
    )
    axes: Any = canvas.axes
    turns = [2 * math.pi * index / len(picture.spokes) for index in range(len(picture.spokes))]
    _web(axes, picture, turns)
    for name, values in picture.lines.items():
        look = looks[name]
        ends = [
            (turn, value.value) for turn, value in zip(turns, values, strict=True) if value.defined
        ]
        is_closed = len(ends) == len(turns)
        path = (
            [*ends, ends[0]]
            if is_closed
            else [
                (turn, value.value if value.defined else math.nan)
                for turn, value in zip([*turns, 2 * math.pi], [*values, values[0]], strict=True)
            ]
        )
        axes.plot(
            *zip(*path, strict=True),
            color=look.colour,
            linestyle=look.dash,
            linewidth=1.2,
            zorder=2,
        )
        for (turn, value), drawn_value in zip(
            ends, (candidate for candidate in values if candidate.defined), strict=True
        ):
            axes.plot(
                [turn], [value], **marked(look, open_=hollow(drawn_value)), zorder=3, clip_on=False
            )
    handles = [
        Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash})
        for name in names
    ]
    style.put_legend(canvas, handles, names)
    return canvas.figure


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
        circle = [2 * math.pi * step_ / 90 for step_ in range(91)]
        polar.plot(circle, [0.0] * 91, color=style.GREY, linewidth=0.9, zorder=1)
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
"minimum width of a column in inches"
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
    column_width = max(LEAST, style.widest(texts, style.SMALL) + 0.16)
    left = style.widest(rows) + 0.15 + (0.25 if picture.titles[0] else 0)
    verdicts = sorted(
        {cell.verdict for row in picture.cells for cell in row if cell.verdict},
        key=list(Verdict).index,
    )
    names = [f"{MARKS[verdict]} {WORDS[verdict]}" for verdict in verdicts]
    legend = style.legend_height(names)
    title_height = 0.25 if picture.titles[1] else 0
    column_width = min(max(column_width, (style.WIDTH - left - 0.15) / len(columns)), 1.5)
    are_slanted = style.widest(columns, style.SMALL) > column_width - 0.06
    top = (style.widest(columns, style.SMALL) * 0.72 + 0.2) if are_slanted else 0.28
    room = style.widest(columns, style.SMALL) * 0.72 if are_slanted else 0.15
    canvas = style.canvas(
        ROW * len(rows),
        left=left,
        right=max(room, style.WIDTH - left - column_width * len(columns)),
        top=top + legend + title_height,
        bottom=0.3 if picture.unit else 0.1,
        width=max(style.WIDTH, left + column_width * len(columns) + room),
    )
    axes = canvas.axes
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    _shades(axes, picture)
    _texts(axes, picture, rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    rotation: dict[str, Any] = (
        {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if are_slanted else {}
    )
    positions = [index + 0.5 for index in range(len(columns))]
    axes.set_xticks(positions, columns, fontsize=style.SMALL, **rotation)
    axes.set_yticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(picture.titles[1], fontsize=style.NORMAL)
    _row_title(canvas, picture.titles[0])
    if picture.unit:
        canvas.figure.text(
            left / canvas.figure.get_figwidth(),
            0.08 / canvas.figure.get_figheight(),
            f"in {picture.unit}",
            fontsize=style.SMALL,
            color=style.GREY,
        )
    style.put_legend(canvas, [_swatch(verdict) for verdict in verdicts], names)
    return canvas.figure


def _row_title(canvas: style.Canvas, title: str) -> None:
    """Write the title of the rows beside their labels."""
    if title:
        box = canvas.axes.get_position()
        canvas.figure.text(
            0.12 / canvas.figure.get_figwidth(),
            (box.y0 + box.y1) / 2,
            title,
            fontsize=style.NORMAL,
            rotation=90,
            ha="center",
            va="center",
        )


def _texts(axes: Axes, picture: Grid, rows: list[str]) -> None:
    texts = Texts(axes)
    for index, (row, cells) in enumerate(zip(rows, picture.cells, strict=True)):
        texts.beside(Text(0, index + 0.5, row, "right", style.NORMAL, across=-4))
        for column, cell in enumerate(cells):
            texts.add(
                Text(column + 0.5, index + 0.5, cell.text, "center", italic=bool(cell.undefined))
            )


def _shades(axes: Axes, picture: Grid) -> None:
    """Draw all cells with the same look together."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners_by_look: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for row, cells in enumerate(picture.cells):
        for column, cell in enumerate(cells):
            corners_by_look.setdefault(_look(cell, picture.scale), []).append(
                (column + 0.03, row + 0.06)
            )
    for (colour, alpha), corners in corners_by_look.items():
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
    maximum = max(abs(scale[0]), abs(scale[1])) or 1.0
    share = min(1.0, abs(cell.value) / maximum)
    return style.VERMILLION if cell.value < 0 else style.BLUE, round(FULL * share, 2)


def _swatch(verdict: Verdict) -> Any:
    from matplotlib.patches import Patch

    colour, alpha = FILLS[verdict]
    return Patch(facecolor=(colour, alpha), edgecolor=(style.GREY, 0.5), linewidth=0.4)
