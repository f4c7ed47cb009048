"""What forms with fields have in common: they are worked out once typing pauses, and Leave closes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Input, Select

from workbench.tui.kit.dialogs import TextScreen

if TYPE_CHECKING:
    from textual.timer import Timer

PAUSE_S = 0.3
"typing pauses for so long before the form is worked out"


class FieldsForm(ModalScreen[ScreenResultType]):
    """A form; `#leave` closes it, `explain` says what its fields mean."""

    EXPLAIN = ""
    _pause: Timer | None = None

    def soon(self, work_out: Callable[[], object]) -> None:
        """Work out the form once typing pauses."""
        self.no_longer()
        self._pause = self.set_timer(PAUSE_S, work_out)

    def no_longer(self) -> None:
        """Do not wait for a pause any more: the form is worked out now, or later."""
        if self._pause is not None:
            self._pause.stop()

    @on(Button.Pressed, "#leave")
    def leave_pressed(self) -> None:
        self.dismiss(None)

    def action_explain(self) -> None:
        self.app.push_screen(TextScreen("The fields", self.EXPLAIN))

    def typed(self, name: str) -> str:
        """Return what an input holds."""
        return self.query_one(f"#{name}", Input).value

    def chosen(self, name: str) -> str:
        """Return what a select holds, "" for nothing."""
        select = self.query_one(f"#{name}", Select)
        return "" if select.is_blank() else str(select.value)
