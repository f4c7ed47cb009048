"""The list of a person's own labels, from which one is labelled again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.domain.annotations import Subject
from workbench.tui.annotation.annotate_format import given_line

if TYPE_CHECKING:
    from workbench.tui.annotation.session import Given


class GivenScreen(ModalScreen[int | None]):
    """A person's own labels, the newest first; dismisses the unit to label again."""

    DEFAULT_CSS = """
    GivenScreen {
        align: center middle;
        background: $background 60%;
    }
    GivenScreen .dialog {
        width: 100%;
        max-width: 80;
        height: auto;
        max-height: 90%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    GivenScreen OptionList {
        height: auto;
        max-height: 100%;
        padding: 0;
        border: none;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    GivenScreen OptionList:focus {
        border: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v", "dismiss(None)", "Back", key_display="Esc"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, given: Sequence[Given], subject: Subject) -> None:
        super().__init__()
        self._given, self._subject = tuple(given), subject

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Your newest labels in this queue"
            dialog.border_subtitle = "Enter change the label · Esc back"
            if self._given:
                options = [Option(given_line(one, self._subject)) for one in self._given]
                lined = [part for option in options for part in (option, None)]  # None is a line between two
                yield OptionList(*lined[:-1], markup=False)
            else:
                yield Static("You have not labelled anything here yet.", markup=False)

    def on_mount(self) -> None:
        if self._given:
            self.query_one(OptionList).highlighted = 0
            self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._given[event.option_index].unit)

    def action_down(self) -> None:
        for choices in self.query(OptionList):
            choices.action_cursor_down()

    def action_up(self) -> None:
        for choices in self.query(OptionList):
            choices.action_cursor_up()
