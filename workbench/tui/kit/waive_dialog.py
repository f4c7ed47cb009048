"""Why a finding may stand: the reason, asked before anything is waived."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.domain.findings import LintFinding
from workbench.tui.format import visible

LONGEST_REASON = 500
"characters, as the store has it"


class WaiveDialog(ModalScreen[str | None]):
    """Asks for a reason; dismisses it, or None where the finding is not to be waived."""

    CSS_PATH = "../statements/checks.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Do not waive")]

    def __init__(self, finding: LintFinding) -> None:
        super().__init__()
        self._finding = finding

    def compose(self) -> ComposeResult:
        finding = self._finding
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(f"Waive {visible(finding.code)}: why?")
            dialog.border_subtitle = "Enter waive · Esc back"
            yield Static(Content(visible(f"{finding.subject}: {finding.message}"[:300])), markup=False, classes="-dim")
            yield Input(placeholder="the reason, for the next reader", id="reason", max_length=LONGEST_REASON,
                        compact=True)  # fmt: skip
            yield Static("The waiver holds until one of the texts changes.", id="trouble", markup=False, classes="-dim")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Accept the reason without invisible characters; ask for one if nothing is left."""
        reason = " ".join("".join(c if c.isprintable() else " " for c in event.value).split())
        if reason:
            self.dismiss(reason)
        else:
            self.query_one("#trouble", Static).update("✗ A waiver needs a reason: say why you accept the finding.")
