"""A whole number, asked for in a small dialog."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.tui.format import visible

MOST = 100_000


class NumberDialog(ModalScreen[int | None]):
    """Asks for a number; dismisses it, 0 where the field is left empty, or None where it was left."""

    CSS_PATH = "dialogs.tcss"
    DEFAULT_CSS = """
    NumberDialog {
        align: center middle;
        background: $background 60%;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    box = query_one("#number", Input)
    note = query_one("#note", Static)

    def __init__(self, title: str, current: int | None, note: str) -> None:
        super().__init__()
        self._title, self._current, self._note = title, current, note

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = "Enter continue · empty: the usual number · Esc back"
            value = "" if self._current is None else str(self._current)
            yield Input(value, placeholder="a whole number", id="number", compact=True)
            yield Static(Content(visible(self._note)), id="note", markup=False)

    def on_mount(self) -> None:
        self.box.focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Take the number, or say why it cannot be one."""
        text = event.value.strip()
        if text and not (text.isdecimal() and 1 <= int(text) <= MOST):
            wrong = f"✗ {text[:20]!r}: give a whole number from 1 to {MOST:,}, or leave the field empty"
            self.note.update(Content.styled(visible(wrong), "$text-error"))
            return
        self.dismiss(int(text) if text else 0)
