"""A spider: closed lines around a centre, with a mark on each spoke."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.figures.pictures.kinds import Spider, hollow
from workbench.figures.write.plots import style
from workbench.figures.write.plots.intervals import marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDE = 3.6


def draw(picture: Spider) -> Figure:
    """Return a drawn spider."""
    from matplotlib.lines import Line2D

    names = [name for name in picture.lines if name]
    looks = style.looks(list(picture.lines), picture.baselines)
    margin = (style.WIDTH - SIDE) / 2
    of = style.canvas(SIDE, left=margin, right=margin, top=style.legend_height(names) + 0.4, bottom=0.4, polar=True)
    axes: Any = of.axes
    turns = [2 * math.pi * at / len(picture.spokes) for at in range(len(picture.spokes))]
    _web(axes, picture, turns)
    for name, values in picture.lines.items():
        look = looks[name]
        ends = [(turn, value.value) for turn, value in zip(turns, values, strict=True) if value.defined]
        whole = len(ends) == len(turns)
        drawn = [*ends, ends[0]] if whole else [
            (turn, value.value if value.defined else math.nan)
            for turn, value in zip([*turns, 2 * math.pi], [*values, values[0]], strict=True)
        ]  # fmt: skip
        axes.plot(*zip(*drawn, strict=True), color=look.colour, linestyle=look.dash, linewidth=1.2, zorder=2)
        for (turn, value), at in zip(ends, (one for one in values if one.defined), strict=True):
            axes.plot([turn], [value], **marked(look, open_=hollow(at)), zorder=3, clip_on=False)
    handles = [Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash}) for name in names]
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
    polar.set_yticks(rings, [axis.tick(round(ring, 10)) for ring in rings], fontsize=style.SMALL, color=style.GREY)
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
            turn, axis.high + 0.06 * (axis.high - axis.low), style.short(spoke), fontsize=style.SMALL, ha=side,
            va="center",
        )  # fmt: skip
