"""Points between two axes, with the cross of their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from workbench.figures.pictures.kinds import Place, Plane
from workbench.figures.write.plots import style
from workbench.figures.write.plots.intervals import marked
from workbench.figures.write.plots.lines import put_identity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDE = 4.2
"inches of a square plane"
SPOTS = ((1, 1), (-1, 1), (1, -2), (-1, -2), (1, 3), (-1, 3), (1, -4), (-1, -4), (1, 5))
"possible positions of a point's label, in steps to the right and up"


def draw(picture: Plane) -> Figure:
    """Return a drawn plane; points without a position are listed below it."""
    from matplotlib.lines import Line2D

    named = [name for name in picture.series if name]
    legend = [*named, *([picture.identity] if picture.identity else [])]
    looks = style.looks(picture.series)
    left_out = [f"{place.label}: undefined, {_why(place)}" for place in picture.left_out]
    of = style.canvas(
        SIDE, left=0.8, right=style.WIDTH - 0.8 - SIDE - 0.9 * (not picture.square),
        top=style.legend_height(legend) + 0.1, bottom=0.5 + 0.16 * len(left_out),
    )  # fmt: skip
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
            axes.plot([x.low, x.high], [y.value, y.value], color=look.colour, linewidth=1.1, alpha=0.8, zorder=2)
        if not math.isnan(y.low):
            axes.plot([x.value, x.value], [y.low, y.high], color=look.colour, linewidth=1.1, alpha=0.8, zorder=2)
        axes.plot([x.value], [y.value], **marked(look, open_=place.hollow), zorder=3)
    if picture.labelled:
        _labels(axes, picture, placed)
    for row, text in enumerate(left_out):
        of.figure.text(
            0.8 / style.WIDTH, (0.05 + 0.16 * row) / of.figure.get_figheight(), style.short(text, 90),
            fontsize=style.SMALL, style="italic", color=style.GREY,
        )  # fmt: skip
    handles = [Line2D([], [], **marked(looks[name], open_=False)) for name in named]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(of, handles, legend)
    return of.figure


def _why(place: Place) -> str:
    return place.x.undefined or place.y.undefined


def _labels(axes: Axes, picture: Plane, placed: list[Place]) -> None:
    """Write each label beside its point, at the first of some spots where no other label stands; where all are taken
    the point has none, and the table says what it is.
    """
    unit = (picture.x.high - picture.x.low) / 60, (picture.y.high - picture.y.low) / 60
    taken: list[tuple[float, float, float, float]] = [
        (place.x.value - unit[0], place.y.value - unit[1], place.x.value + unit[0], place.y.value + unit[1])
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


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
