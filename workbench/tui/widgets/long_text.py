"""A text of any length, literally: only the lines in sight are drawn.

A `Static` lays out all of its text: 50,000 short lines take it seconds.
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
    """Return where lines begin and stop when none may be wider than `width`, broken at blanks where
    possible.

    Examples
    --------
    >>> [ "one two three"[a:b] for a, b in folded("one two three", 8) ]
    ['one two ', 'three']
    >>> folded("", 8)
    [(0, 0)]
    """
    lines: list[tuple[int, int]] = []
    first = 0
    for line in text.split("\n"):
        stop = first + len(line)
        if len(line) <= width and line.isascii():
            lines.append((first, stop))
        else:
            lines += _folded_line(text, first, stop, width)
        first = stop + 1
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
    """Return where a line that begins at `first` has to stop; always behind at least one
    character.
    """
    piece = text[first : min(stop, first + width)]
    if piece.isascii():
        return first + len(piece)
    used = 0
    for place, character in enumerate(piece):
        used += cell_len(character)
        if used > width:
            return first + max(1, place)
    return first + len(piece)


class LongText(ScrollView, can_focus=True):
    """A text to scroll in, some of it marked. Give it text that is safe to print."""

    DEFAULT_CSS = """
    LongText {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
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
        """The text as it is shown, line by line."""
        return [self._text[first:stop] for first, stop in self._lines]

    def render_line(self, y: int) -> Strip:
        at = y + round(self.scroll_offset.y)
        width, style = self.size.width, self.rich_style
        if at >= len(self._lines):
            return Strip.blank(width, style)
        first, stop = self._lines[at]
        a, b = (min(max(edge, first), stop) for edge in self._marked)
        parts = ((first, a, style), (a, b, style + MARKED), (b, stop, style))
        segments = [Segment(self._text[begin:end], how) for begin, end, how in parts if end > begin]
        return Strip(segments).adjust_cell_length(width, style)
