"""Fields of forms: a line of text, and ticks that are legible without colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Checkbox, Input, SelectionList


class Field(Input):
    """A line of text, selected on focus so that typing replaces it, except for a blank.

    Nobody means a blank alone, and people who come by Tab from a list have the thumb on Space.
    """

    def on_key(self, event: events.Key) -> None:
        """Put the cursor behind the text instead of replacing it by a blank."""
        if event.key == "space" and self.value and self.selected_text == self.value:
            event.prevent_default()
            event.stop()
            self.cursor_position = len(self.value)


TICKED, EMPTY = "X", " "


class TickList(SelectionList[str]):
    """A list of names to tick. Its cursor is visible at once, so that the first Down moves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False, tooltip="Go down"),
        Binding("k", "cursor_up", "Up", show=False, tooltip="Go up"),
    ]

    def on_focus(self) -> None:
        self._show_cursor()

    def add_options(self, items: Iterable[Any]) -> Self:
        """Add names. A cursor that was gone with the previous names comes back."""
        super().add_options(items)
        if self.has_focus:
            self.call_after_refresh(self._show_cursor)
        return self

    def _show_cursor(self) -> None:
        if self.highlighted is None and self.option_count:
            self.highlighted = 0

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        row = self.scroll_offset.y + y
        if row >= self.option_count or self.get_option_at_index(row).value in self.selected:
            return line
        margin, button, *segments = line
        return Strip([margin, Segment(EMPTY, button.style), *segments])


class Tick(Checkbox):
    """A tick for yes or no."""

    def render(self) -> Content:
        self.BUTTON_INNER = TICKED if self.value else EMPTY
        return super().render()
