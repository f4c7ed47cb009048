"""A value and its interval drawn on a scale: on a line around 0, or as a share of the whole."""

from __future__ import annotations

import math

from rich.text import Text

from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.table import Value
from workbench.tui.widgets.leaning_bar import place
from workbench.tui.widgets.whisker import whisker, whisker_scale


def picture(value: Value, width: int, scale: tuple[float, float], reference: float | None = None) -> Text:
    """Return a value on a scale, `width` columns wide: a filled bar from 0, or a dot on a line with 0 in its middle.

    Examples
    --------
    >>> picture(Estimate(0.3, 0.2, 0.5, 10, 0), 21, (0.0, 1.0)).plain
    '▆▆▆▆├─●───┤          '
    >>> picture(Estimate(-0.5, -0.8, -0.2, 10, 0), 21, (-1.0, 1.0)).plain
    '  ├──●──┤ │          '
    """
    found, low, high, undefined = _parts(value)
    if scale[0] < 0:
        limit = max(-scale[0], scale[1])
        beside = math.nan if reference is None else reference
        return whisker(found, low, high, width, limit=limit, reference=beside, undefined=undefined)
    if math.isnan(found):
        return Text(undefined[:width].ljust(width), style="dim italic", no_wrap=True)
    return _share([(one - scale[0]) / (scale[1] - scale[0]) for one in (found, low, high)], width)


def picture_scale(scale: tuple[float, float], width: int) -> str:
    """Return the heading of a column of pictures."""
    if scale[0] < 0:
        return whisker_scale(width, max(-scale[0], scale[1]))
    if scale == (0.0, 1.0):
        return f"0{'50'.center(max(0, width - 6))}100 %"[:width]
    low, high = f"{scale[0]:g}", f"{scale[1]:g}"
    return f"{low}{high.rjust(max(0, width - len(low)))}"[:width]


def _parts(value: Value) -> tuple[float, float, float, str]:
    if isinstance(value, Estimate):
        return value.value, value.low, value.high, value.undefined
    if isinstance(value, MeanSd):
        return value.mean, math.nan, math.nan, ""
    found = float(value) if isinstance(value, int | float) else math.nan
    return found, math.nan, math.nan, ""


def _share(ends: list[float], width: int) -> Text:
    value, low, high = ends
    at = place(value, width)
    signs = ["▆" if column < at else " " for column in range(width)]
    if not math.isnan(low):
        first, last = place(low, width), place(high, width)
        for column in range(first, last + 1):
            signs[column] = "─"
        signs[first], signs[last] = "├", "┤"
    signs[at] = "●"
    return Text("".join(signs), no_wrap=True)
