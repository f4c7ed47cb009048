"""A leaning as a picture: the share that agrees, its interval, and the marks that the interval has to leave out.

    ░░░░░░░░░│▒▒│░░├──●─┤░░        clear: the interval leaves out 45 and 55 %
    ░░░░░░├──┼●─┼──┤░░░░░░░        not clear: it crosses both

The signs carry everything; colour only repeats it.
"""

from __future__ import annotations

import math

from rich.text import Text

LOW, HIGH = 0.45, 0.55
"Ceron et al. 2024, section 5.4"


def leaning_bar(
    leaning: float,
    low: float,
    high: float,
    width: int,
    *,
    marks: tuple[float, float] = (LOW, HIGH),
) -> Text:
    """Return the bar, `width` columns wide, from 0 to 100 %.

    Parameters
    ----------
    leaning, low, high : in [0, 1]; NaN where nothing was readable, which the bar then says.
    marks : the two ends of the band in the middle.

    Examples
    --------
    >>> leaning_bar(0.8, 0.7, 0.9, 21).plain
    '░░░░░░░░░│▒│░░├─●─┤░░'
    >>> leaning_bar(0.5, 0.35, 0.65, 21).plain
    '░░░░░░░├─┼●┼─┤░░░░░░░'
    >>> leaning_bar(float("nan"), float("nan"), float("nan"), 21).plain
    'no readable answers  '
    """
    if math.isnan(leaning):
        text = Text("no readable answers"[:width].ljust(width), style="dim italic")
        text.no_wrap = True
        return text
    cells = _track(width, marks)
    styles = ["dim"] * width
    first, last, at = (place(share, width) for share in (low, high, leaning))
    if first < last:
        for column in range(first, last + 1):
            cells[column] = "┼" if cells[column] == "│" else "─"
            styles[column] = "bold"
        cells[first] = "╪" if cells[first] == "┼" else "├"
        cells[last] = "╪" if cells[last] == "┼" else "┤"
    cells[at], styles[at] = "●", "bold"
    return Text.assemble(*zip(cells, styles, strict=True), no_wrap=True)


def leaning_scale(width: int, marks: tuple[float, float] = (LOW, HIGH)) -> str:
    """Return the heading of a column of bars: `0 %      45 55     100 %`.

    Examples
    --------
    >>> leaning_scale(31)
    '0 %          45  55       100 %'
    """
    low, high = (f"{100 * mark:.0f}" for mark in marks)
    first, last = place(marks[0], width), place(marks[1], width)
    middle_at = max(4, first - len(low) + 1)
    middle = low + " " * max(1, last - first - 1) + high
    left = "0 %".ljust(middle_at) + middle
    return (left + "100 %".rjust(width - len(left)))[:width] if len(left) + 6 <= width else left[:width]


def place(share: float, width: int) -> int:
    """Return the column of a share."""
    return max(0, min(width - 1, math.floor(share * (width - 1) + 0.5)))


def _track(width: int, marks: tuple[float, float]) -> list[str]:
    cells = ["░"] * width
    first, last = (place(mark, width) for mark in marks)
    for column in range(first, last + 1):
        cells[column] = "▒"
    cells[first] = cells[last] = "│"
    return cells
