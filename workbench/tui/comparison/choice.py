"""The dialog that chooses the runs of a comparison, marked in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.figures.visible import visible
from workbench.tui.kit.dialogs import TICK

FEWEST = 2


class CompareScreen(ModalScreen[tuple[str, ...] | None]):
    """A choice of runs. It returns two or more names in the order of marking, or None."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Compare", priority=True, tooltip="Compare the ticked runs"),
        Binding("space", "mark", "Mark", tooltip="Tick or untick this run"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
        Binding("escape,q", "dismiss(None)", "Cancel", tooltip="Close without changing anything"),
    ]

    runs = query_one("#runs", OptionList)

    def __init__(self, names: Sequence[str], marked: Sequence[str] = ()) -> None:
        super().__init__()
        self._names = tuple(names)
        self.marked = [name for name in marked if name in self._names]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Choose the runs to compare"
            yield OptionList(id="runs", markup=False)

    def on_mount(self) -> None:
        self._fill(0)
        self.runs.focus()

    @on(OptionList.OptionSelected)
    def action_mark(self) -> None:
        """Mark the run under the cursor, or remove its mark."""
        row = self.runs.highlighted
        if row is not None:
            name = self._names[row]
            self.marked = [marked_name for marked_name in self.marked if marked_name != name] + [
                name
            ] * (name not in self.marked)
            self._fill(row)

    def action_apply(self) -> None:
        if len(self.marked) >= FEWEST:
            self.dismiss(tuple(self.marked))
        else:
            self._say("mark two or more")

    def action_down(self) -> None:
        self.runs.action_cursor_down()

    def action_up(self) -> None:
        self.runs.action_cursor_up()

    def _fill(self, at: int) -> None:
        self.runs.set_options(Option(self._line(name)) for name in self._names)
        self.runs.highlighted = at
        self._say("Enter compare" if len(self.marked) >= FEWEST else "mark two or more")

    def _line(self, name: str) -> Content:
        number_text = f" {self.marked.index(name) + 1}" if name in self.marked else ""
        return Content(f" {TICK[name in self.marked]}{number_text:2} {visible(name)}")

    def _say(self, words: str) -> None:
        self.query_one(Vertical).border_subtitle = f"Space mark · {words} · Esc cancel"


__all__ = ["CompareScreen"]
