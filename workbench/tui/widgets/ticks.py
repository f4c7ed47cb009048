"""Ticks that are read without colour: Textual draws an X in every box and tells the ticked ones by its colour alone."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Checkbox, SelectionList

TICKED, EMPTY = "X", " "


class TickList(SelectionList[str]):
    """A list of names to tick."""

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= self.option_count or self.get_option_at_index(place).value in self.selected:
            return line
        side, button, *rest = line
        return Strip([side, Segment(EMPTY, button.style), *rest])


class Tick(Checkbox):
    """A yes or no."""

    def render(self) -> Content:
        self.BUTTON_INNER = TICKED if self.value else EMPTY
        return super().render()
