"""A value and its interval drawn on a scale: on a line around 0, or as a share of the whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from workbench.domain.verdicts import Estimate, MeanSd
from workbench.figures.table import Value
from workbench.tui.widgets.whisker import FULL, HOLLOW, place, reason, whisker, whisker_scale

MARK, CROSSED, AT_END = "│", "┼", "╪"
"of a reference on a bar: alone, within the interval, at an end of it"


def picture(value: Value, width: int, scale: tuple[float, float], references: Sequence[float] = ()) -> Text:
    """Return a value on a scale, `width` columns wide: a filled bar from 0, or a dot on a line with 0 in its middle.

    Examples
    --------
    >>> picture(Estimate(0.3, 0.2, 0.5, 10, 0), 21, (0.0, 1.0)).plain
    '▆▆▆▆├─●───┤          '
    >>> picture(Estimate(0.5, 0.35, 0.65, 10, 0), 21, (0.0, 1.0), (0.45, 0.55)).plain
    '▆▆▆▆▆▆▆├─┼●┼─┤       '
    >>> picture(Estimate(-0.5, -0.8, -0.2, 10, 0), 21, (-1.0, 1.0)).plain
    '  ├──●──┤ │          '
    >>> picture(Estimate(1.0, math.nan, math.nan, 1, few="too few for an interval: 1 statement"), 21, (0.0, 1.0)).plain
    '▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆○'
    """
    found, low, high, undefined = _parts(value)
    few = isinstance(value, Estimate) and bool(value.few)
    if scale[0] < 0:
        limit = max(-scale[0], scale[1])
        return whisker(found, low, high, width, limit=limit, references=references, undefined=undefined, few=few)
    if math.isnan(found):
        return reason(undefined, width)
    span = scale[1] - scale[0]
    ends, marks = ([(one - scale[0]) / span for one in some] for some in ((found, low, high), references))
    return _share(ends, marks, width, few=few)


def picture_scale(scale: tuple[float, float], width: int, references: Sequence[float] = ()) -> str:
    """Return the heading of a column of pictures, `references`: the values that all of them mark.

    Examples
    --------
    >>> picture_scale((0.0, 1.0), 31, (0.45, 0.55))
    '0            45 55        100 %'
    """
    if scale[0] < 0:
        return whisker_scale(width, max(-scale[0], scale[1]))
    if scale == (0.0, 1.0):
        middle, ends = " ".join(f"{100 * one:g}" for one in references) or "50", "100 %"
        first = place(sum(references) / len(references) if references else 0.5, width) - len(middle) // 2
        room = first >= 2 and first + len(middle) < width - len(ends)
        return f"0{f'{middle:>{first + len(middle) - 1}}' if room else ''}".ljust(width - len(ends)) + ends
    low, high = f"{scale[0]:g}", f"{scale[1]:g}"
    return f"{low}{high.rjust(max(0, width - len(low)))}"[:width]


def _parts(value: Value) -> tuple[float, float, float, str]:
    if isinstance(value, Estimate):
        return value.value, value.low, value.high, value.undefined
    if isinstance(value, MeanSd):
        return value.mean, math.nan, math.nan, ""
    found = float(value) if isinstance(value, int | float) else math.nan
    return found, math.nan, math.nan, ""


def _share(ends: Sequence[float], references: Sequence[float], width: int, *, few: bool) -> Text:
    value, low, high = ends
    at, marks = place(value, width), {place(one, width) for one in references if 0 <= one <= 1}
    signs = [MARK if column in marks else "▆" if column < at else " " for column in range(width)]
    if not math.isnan(low):
        first, last = place(low, width), place(high, width)
        for column in range(first, last + 1):
            signs[column] = CROSSED if column in marks else "─"
        signs[first], signs[last] = (AT_END if end in marks else sign for end, sign in ((first, "├"), (last, "┤")))
    signs[at] = HOLLOW if few else FULL
    return Text("".join(signs), no_wrap=True)
