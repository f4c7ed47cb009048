"""A text above a screen of rulings: the whole of a row, an exact prompt; `r` rules on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from workbench.figures.visible import visible
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.rulings.ruling import below, rule_below, ruled_by


class RuledText(TextScreen):
    """The text of what is under the cursor of the screen below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "rule", "Rule", tooltip="Rule on this")]

    def __init__(self, title: str, text: str | Content, *, wide: bool = False, rulings: Sequence[str] = ()) -> None:
        """`rulings`: what was ruled on it, as far as it may be seen."""
        whole = text if isinstance(text, Content) else Content(visible(text, lines=True))
        super().__init__(title, Content("\n").join([*ruled_by(rulings), whole]), wide=wide)

    def on_mount(self) -> None:
        if below(self) is not None:
            self.query_one(".dialog", Vertical).border_subtitle = "r rule · Esc back"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return below(self) is not None if action == "rule" else super().check_action(action, parameters)

    def action_rule(self) -> None:
        rule_below(self)


__all__ = ["RuledText"]
