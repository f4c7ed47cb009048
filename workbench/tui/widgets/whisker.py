"""An estimate as a dot with its interval on a line around 0.

          ╎    ├──●──┤ │          ●: the value   ├ ┤: its 95 % interval   │: 0   ╎: what it is compared with
               ○       │          ○: a value on which too little rests for an interval

The signs carry everything; colour only repeats it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

ZERO, REFERENCE = "│", "╎"
FULL, HOLLOW = "●", "○"
"of a value, and of one on which too little rests for an interval"
CROSSED = {ZERO: "┼", REFERENCE: "╫"}


def whisker(
    value: float,
    low: float,
    high: float,
    width: int,
    *,
    limit: float = 1.0,
    references: Sequence[float] = (),
    undefined: str = "",
    few: bool = False,
) -> Text:
    """Return the line, `width` columns from -limit to limit; what lies beyond is drawn at the end.

    Parameters
    ----------
    value, low, high : NaN where there is none; without a value, `undefined` stands there.
    references : where a broken mark stands.
    few : whether too little rests on the value for an interval; its dot is hollow.

    Examples
    --------
    >>> whisker(-0.5, -0.8, -0.2, 21).plain
    '  ├──●──┤ │          '
    >>> whisker(0.1, -0.3, 0.5, 21, references=[-0.6]).plain
    '    ╎  ├──┼●───┤     '
    >>> whisker(math.nan, math.nan, math.nan, 21, undefined="no answers").plain
    'no answers           '
    >>> whisker(1.0, math.nan, math.nan, 11, few=True).plain
    '     │    ○'
    """
    if width < 1 or math.isnan(value):
        return reason(undefined, width)
    signs, styles = [" "] * width, ["dim"] * width
    zero = _column(0.0, limit, width)
    signs[zero] = ZERO
    for reference in references:
        signs[_column(reference, limit, width)] = REFERENCE
    first, last, at = (_column(end, limit, width) for end in (low, high, value))
    if not math.isnan(low) and first < last:
        for column in range(first, last + 1):
            signs[column] = CROSSED.get(signs[column], "─")
            styles[column] = "bold"
        signs[first], signs[last] = "├", "┤"
    signs[at], styles[at] = (HOLLOW, "dim") if few else (FULL, "bold")
    return Text.assemble(*zip(signs, styles, strict=True), no_wrap=True)


def reason(undefined: str, width: int) -> Text:
    """Return why there is no value, where its picture would be; cut with a sign where there is too little room.

    Examples
    --------
    >>> reason("all answers equal", 12).plain, reason("no answers", 12).plain
    ('all answers…', 'no answers  ')
    """
    found = Text(undefined, style="dim italic", no_wrap=True)
    found.truncate(max(0, width), overflow="ellipsis", pad=True)
    return found


def stem(value: float, width: int, *, limit: float) -> Text:
    """Return a dot on a stem from 0; nothing but blanks where there is no value.

    Examples
    --------
    >>> stem(-0.05, 21, limit=0.1).plain, stem(0.02, 9, limit=0.1).plain
    ('     ●────│          ', '    │●   ')
    """
    if width < 1 or math.isnan(value):
        return Text(" " * max(0, width), no_wrap=True)
    signs = [" "] * width
    zero, at = _column(0.0, limit, width), _column(value, limit, width)
    for column in range(min(zero, at), max(zero, at)):
        signs[column] = "─"
    signs[zero], signs[at] = ZERO, "●"
    return Text("".join(signs), no_wrap=True)


def whisker_scale(width: int, limit: float = 1.0) -> str:
    """Return the axis labels above a column of whiskers.

    Examples
    --------
    >>> whisker_scale(21)
    '-1.0      0      +1.0'
    """
    if width < 11:
        return "0".center(width)
    signs = [" "] * width
    low, high = (f"{-limit:.1f}", f"{limit:+.1f}") if limit < 10 else (f"{-limit:.0f}", f"{limit:+.0f}")
    for text, at in ((low, 0), ("0", _column(0.0, limit, width)), (high, width - len(high))):
        signs[at : at + len(text)] = text
    return "".join(signs)[:width]


def place(share: float, width: int) -> int:
    """Return the column of a share of a width."""
    return max(0, min(width - 1, math.floor(share * (width - 1) + 0.5)))


def _column(value: float, limit: float, width: int) -> int:
    return 0 if math.isnan(value) else place((value + limit) / (2 * limit), width)
