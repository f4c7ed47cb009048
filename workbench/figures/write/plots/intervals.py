"""A forest plot: a line for each value, with its interval and its number."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.figures.pictures.kinds import Intervals, Point, hollow
from workbench.figures.shown import estimate
from workbench.figures.write.plots import style
from workbench.figures.write.plots.texts import Text, Texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE, GAP = 0.16, 0.1
"height of a value, and gap between two labels, in inches"


def draw(picture: Intervals) -> Figure:
    """Return a drawn forest plot."""
    looks = style.looks(picture.series, picture.baselines)
    places, centres, height = _places(picture)
    labels = [style.short(label) for label in picture.labels]
    numbers = [_number(picture, point) for point in picture.points]
    names = [name for name in picture.series if name]
    legend = [*names, *([picture.reference] if _compared(picture) else [])]
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
    for point, at, number in zip(picture.points, places, numbers, strict=True):
        texts.beside(Text(1, at, number, across=6))
        if point.value.defined:
            _point(axes, point, at, looks[point.series])
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


def _point(axes: Axes, point: Point, at: float, look: style.Look) -> None:
    value = point.value
    for one in point.references:
        axes.plot([one], [at], marker="|", color=style.GREY, markersize=8, markeredgewidth=1.2, zorder=1)
    if not math.isnan(value.low):
        ends = [value.low, value.high]
        axes.plot(
            ends, [at, at], color=look.colour, linewidth=1.4, marker="|", markersize=4, markeredgewidth=1.2, zorder=2
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
    """Return the value as tables have it, with what stands behind it; empty where it is undefined."""
    if not point.value.defined:
        return ""
    return f"{estimate(point.value, picture.axis.kind)} {point.beside}".strip()


def _compared(picture: Intervals) -> bool:
    return bool(picture.reference) and any(point.references for point in picture.points)


def _handles(picture: Intervals, names: list[str], looks: dict[str, style.Look]) -> list[Any]:
    from matplotlib.lines import Line2D

    found = [Line2D([], [], **marked(looks[name], open_=False)) for name in names]
    if _compared(picture):
        found.append(Line2D([], [], marker="|", color=style.GREY, markersize=8, markeredgewidth=1.2, linestyle="none"))
    return found
