"""Bars with their parts, distinguished by hatches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from workbench.figures.pictures.kinds import Bars
from workbench.figures.shown import number
from workbench.figures.write.plots import style
from workbench.figures.write.plots.texts import Text, Texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE = 0.24


def draw(picture: Bars) -> Figure:
    """Return drawn bars; the number follows a bar with one part."""
    from matplotlib.patches import Patch

    looks = style.looks(picture.series)
    names = [name for name in picture.series if name]
    labels = [style.short(bar.label) for bar in picture.bars]
    numbers = [number(bar.parts[0][1], picture.axis.kind) if len(bar.parts) == 1 else "" for bar in picture.bars]
    of = style.canvas(
        LINE * len(labels), left=style.widest(labels) + 0.2, right=style.widest(numbers, style.SMALL) + 0.2,
        top=style.legend_height(names) + 0.05,
    )  # fmt: skip
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
                    at + 0.5, size, 0.7, left=begin, facecolor=(look.colour, 0.45), edgecolor=look.colour,
                    linewidth=0.7, hatch=look.hatch,
                )  # fmt: skip
                begin += size
        texts.beside(Text(0, at + 0.5, labels[at], "right", style.NORMAL, across=-6))
        texts.beside(Text(1, at + 0.5, numbers[at], across=6))
    handles = [
        Patch(facecolor=(looks[name].colour, 0.45), edgecolor=looks[name].colour, hatch=looks[name].hatch)
        for name in names
    ]
    style.put_legend(of, handles, names)
    return of.figure
