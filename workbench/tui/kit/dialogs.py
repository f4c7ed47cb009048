"""Small screens above a screen: a text to read, a question to answer, the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.types import CSSPathType
from textual.widgets import Button, Static

from workbench.tui.format import visible


class TextScreen(ModalScreen[None]):
    """A text to read, literally."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("dialogs.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,f1,question_mark", "dismiss(None)", "Close", key_display="Esc"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
        Binding("p", "page", "Whole page", tooltip="Read the whole help page"),
    ]

    def __init__(
        self,
        title: str,
        text: str | Content,
        *,
        wide: bool = False,
        page: Callable[[], Screen[Any]] | None = None,
        closed_by: Sequence[str] = (),
    ) -> None:
        """`page`: makes the screen of the help page that says more. `closed_by`: the keys that opened this text."""
        super().__init__(classes="-wide" if wide else "")
        self._title, self._text, self._page, self._closed_by = title, text, page, closed_by
        for key in closed_by:
            self._bindings.bind(key, "dismiss(None)", "Close", show=False)

    def compose(self) -> ComposeResult:
        text = self._text if isinstance(self._text, Content) else Content(visible(self._text, lines=True))
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = " · ".join(
                [*["p whole page"] * (self._page is not None), " or ".join([*self._closed_by, "Esc"]) + " back"]
            )
            with VerticalScroll():
                yield Static(text, markup=False, id="text")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "page" or self._page is not None

    def action_page(self) -> None:
        if self._page is not None:
            self.app.switch_screen(self._page())

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_down(self) -> None:
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        self.query_one(VerticalScroll).scroll_up(animate=False)


class ConfirmScreen(ModalScreen[bool]):
    """A question; dismisses whether the answer is yes."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes"),
        Binding("n,escape,q", "dismiss(False)", "No", key_display="n"),
        Binding("left,right", "app.focus_next", "Other button", show=False),
    ]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Static(visible(self._question, lines=True), markup=False, id="text")
            with Horizontal(classes="buttons"):
                yield Button(f"y  {self._yes}", id="yes", variant="warning", compact=True)
                yield Button(f"n  {self._no}", id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")
