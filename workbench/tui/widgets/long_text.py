"""A text of any length, shown literally. Only the visible lines are drawn.

A `Static` lays out all of its text, which takes seconds for 50,000 short lines.
"""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

MARKED = Style(bold=True, underline=True)


def folded(text: str, width: int) -> list[tuple[int, int]]:
    """Return the ranges of lines of at most `width` columns, broken at blanks where possible.

    Examples
    --------
    >>> [ "one two three"[a:b] for a, b in folded("one two three", 8) ]
    ['one two ', 'three']
    >>> folded("", 8)
    [(0, 0)]
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        stop = start + len(line)
        if len(line) <= width and line.isascii():
            lines.append((start, stop))
        else:
            lines += _folded_line(text, start, stop, width)
        start = stop + 1
    return lines


def _folded_line(text: str, first: int, stop: int, width: int) -> list[tuple[int, int]]:
    lines = []
    while first < stop:
        end = _fitting(text, first, stop, width)
        blank = text.rfind(" ", first, end) + 1 if end < stop else end
        lines.append((first, blank if blank > first else end))
        first = lines[-1][1]
    return lines or [(first, stop)]


def _fitting(text: str, first: int, stop: int, width: int) -> int:
    """Return the end of a line that begins at `first`, after at least one character."""
    piece = text[first : min(stop, first + width)]
    if piece.isascii():
        return first + len(piece)
    n_columns = 0
    for index, character in enumerate(piece):
        n_columns += cell_len(character)
        if n_columns > width:
            return first + max(1, index)
    return first + len(piece)


class LongText(ScrollView, can_focus=True):
    """A scrollable text with a marked range. The text has to be safe to print."""

    DEFAULT_CSS = """
    LongText {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, tooltip="Go down"),
        Binding("k", "scroll_up", "Up", show=False, tooltip="Go up"),
    ]

    def __init__(self, text: str, marked: tuple[int, int] = (0, 0), *, name: str) -> None:
        super().__init__(id=name)
        self._text, self._marked = text, marked
        self._lines: list[tuple[int, int]] = []

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width)

    def show(self, text: str) -> None:
        """Show another text, from its beginning."""
        self._text, self._marked = text, (0, 0)
        self.scroll_home(animate=False)
        if self.size.width:
            self._lay_out(self.size.width)

    def _lay_out(self, width: int) -> None:
        self._lines = folded(self._text, max(1, width - 1))
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    @property
    def lines(self) -> list[str]:
        """The lines of the text as they are shown."""
        return [self._text[start:stop] for start, stop in self._lines]

    def render_line(self, y: int) -> Strip:
        line_index = y + round(self.scroll_offset.y)
        width, style = self.size.width, self.rich_style
        if line_index >= len(self._lines):
            return Strip.blank(width, style)
        start, stop = self._lines[line_index]
        marked_start, marked_stop = (min(max(bound, start), stop) for bound in self._marked)
        ranges = (
            (start, marked_start, style),
            (marked_start, marked_stop, style + MARKED),
            (marked_stop, stop, style),
        )
        segments = [
            Segment(self._text[part_start:part_stop], part_style)
            for part_start, part_stop, part_style in ranges
            if part_stop > part_start
        ]
        return Strip(segments).adjust_cell_length(width, style)
