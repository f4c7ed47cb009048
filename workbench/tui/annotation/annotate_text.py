"""The texts an annotator reads: literal, of any length, and saying when they have truly been painted."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from workbench.tui.widgets.long_text import LongText


class ReadText(LongText, inherit_bindings=False):
    """A text that is exchanged for the next one. Letters are left to the screen: they are labels."""

    DEFAULT_CSS = """
    ReadText {
        scrollbar-gutter: stable;
    }
    ReadText.-notice {
        text-style: italic;
        color: $text-muted;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_down", "Line below", show=False),
        Binding("up", "scroll_up", "Line above", show=False),
        Binding("space,pagedown", "page_down", "Page below", show=False),
        Binding("pageup", "page_up", "Page above", show=False),
        Binding("home", "scroll_home", "Beginning", show=False),
        Binding("end", "scroll_end", "End", show=False),
    ]

    class Painted(Message):
        """The text was drawn for the first time."""

        def __init__(self, widget: ReadText) -> None:
            super().__init__()
            self.widget = widget

        @property
        def control(self) -> ReadText:
            return self.widget

    def __init__(self, *, name: str, most: int | None = None) -> None:
        super().__init__("", name=name)
        self._most = most
        "lines that it grows to; None: its place is fixed"
        self._height = 0
        self._fresh = False

    def show(self, text: str, *, notice: bool = False) -> None:
        """Show another text, from its beginning. Give it text that is safe to print."""
        self._text, self._fresh = text, True
        self.set_class(notice, "-notice")
        if self.outer_size.width:
            self._fold()
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._grow()

    def action_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def render_line(self, y: int) -> Strip:
        if self._fresh:
            self._fresh = False
            self.post_message(self.Painted(self))
        return super().render_line(y)

    def _fold(self) -> None:
        super().on_resize(events.Resize(self.size, self.virtual_size))
        self._grow()

    def _grow(self) -> None:
        if self._most is not None:
            height = max(1, min(self._most, len(self._lines)))
            if height != self._height:
                self._height = self.styles.height = height
