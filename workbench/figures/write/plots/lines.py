"""Curves with their bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import Lines, hollow
from workbench.figures.write.plots import style
from workbench.figures.write.plots.intervals import marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, WIDEST = 3.2, 5.6


def draw(picture: Lines) -> Figure:
    """Return drawn curves; several series are distinguished by mark and dash."""
    from matplotlib.lines import Line2D

    named = [line.series for line in picture.lines if line.series]
    legend = [*named, *([picture.identity] if picture.identity else [])]
    looks = style.looks([line.series for line in picture.lines])
    of = style.canvas(HEIGHT, left=0.75, right=style.WIDTH - WIDEST, top=style.legend_height(legend) + 0.1)
    axes = of.axes
    style.put_axis(axes, picture.x)
    style.put_axis(axes, picture.y, vertical=True)
    axes.grid(color=style.GREY, alpha=0.25, linewidth=0.5)
    for line in picture.lines:
        _curve(axes, line.points, looks[line.series])
    if picture.identity:
        put_identity(axes, picture.x.low, picture.x.high)
    handles = [Line2D([], [], **{**marked(looks[name], open_=False), "linestyle": looks[name].dash}) for name in named]
    if picture.identity:
        handles.append(Line2D([], [], color=style.GREY, linewidth=0.8, linestyle=":"))
    style.put_legend(of, handles, legend)
    return of.figure


def put_identity(axes: Axes, low: float, high: float) -> None:
    """Draw the diagonal."""
    axes.plot([low, high], [low, high], color=style.GREY, linewidth=0.8, linestyle=":", zorder=0.6)


def _curve(axes: Axes, points: Sequence[tuple[float, Estimate]], look: style.Look) -> None:
    there = [(at, value) for at, value in points if value.defined]
    axes.plot([at for at, _ in there], [value.value for _, value in there], color=look.colour, linestyle=look.dash,
              linewidth=1.4, zorder=2)  # fmt: skip
    band = [(at, value.low, value.high) for at, value in there if not math.isnan(value.low)]
    if band:
        places, low, high = map(list, zip(*band, strict=True))
        axes.fill_between(places, low, high, color=look.colour, alpha=0.15, linewidth=0, zorder=1)
    for at, value in there:
        axes.plot([at], [value.value], **marked(look, open_=hollow(value)), zorder=3, clip_on=False)
