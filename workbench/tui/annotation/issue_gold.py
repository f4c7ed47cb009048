"""How far annotators agree on each policy issue, and what the gold labels are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.tui.annotation.issue_gold_format import (
    EXPLAIN,
    gold_details,
    gold_overview,
    issue_columns,
    issue_record,
)
from workbench.tui.annotation.issue_grid_format import scheme_text
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.widgets.fluid_table import FluidTable
from workbench.tui.widgets.record_table import Record, RecordTable

if TYPE_CHECKING:
    from workbench.pipeline.issues import IssueOverview

NO_ISSUES = """This instrument has no policy issues yet. l offers the eight of smartvote and labels for them;
others come from a file: workbench issues STORE --scheme FILE"""


class IssueGoldScreen(StoreScreen):
    """The issues of an instrument with agreement, gold and ties."""

    CSS_PATH = "issue_gold.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "decide", "Decide", tooltip="Decide all ties, of whatever issue"),
        Binding("l", "label", "Label", tooltip="Label statements, blind to what others said"),
        Binding("w", "whose", "Whose", tooltip="Count a source's own labels before people's, or people's only"),
        Binding("i", "issues", "Issues", tooltip="Read what every issue means"),
        Binding("escape,q", "dismiss(None)", "Leave", key_display="Esc"),
    ]

    table = query_one("#issues", FluidTable)

    @dataclass
    class Computed(Message):
        """The numbers are there."""

        found: IssueOverview

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._whose = "gold"
        self._found: IssueOverview | None = None

    def compose_body(self) -> ComposeResult:
        yield Static("Computing the coefficients and their intervals …", id="overview", markup=False)
        yield FluidTable(issue_columns, name="issues")
        with VerticalScroll(id="about", can_focus=False):
            yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"policy issues › {self._instrument} › gold"
        self.table.display = False
        self.table.focus()

    def on_screen_resume(self) -> None:
        self.action_refresh()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        self.call_after_refresh(self._show_details)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "decide":
            return self._found is not None and self._found.report.ties > 0
        return self._found is not None or action not in ("whose", "issues")

    @on(Computed)
    def take(self, event: Computed) -> None:
        self._found = event.found
        self.trouble.hide()
        self.table.display = bool(event.found.issues)
        overview = gold_overview(event.found.report, self._whose) if event.found.issues else Content(NO_ISSUES)
        self.query_one("#overview", Static).update(overview)
        self.title_bar.note = f"{event.found.report.ties:,} to decide" if event.found.report.ties else ""
        self.table.show_for_width(self._records)
        self.refresh_bindings()
        self._show_details()

    @on(RecordTable.RowHighlighted)
    def _show_details(self) -> None:
        place = self._place()
        if self._found is None or place is None:
            return
        details = gold_details(
            self._found.report.issues[place], self._found.issues[place], max(20, self.size.width - 4)
        )
        self.query_one("#details", Static).update(details)

    @on(RecordTable.RowSelected)
    def open_issue(self) -> None:
        """List the statements of the issue under the cursor."""
        from workbench.tui.annotation.issue_cases import IssueCasesScreen

        if (issue := self.table.current) is not None:
            self.app.push_screen(IssueCasesScreen(self._instrument, issue, self._whose))

    def action_decide(self) -> None:
        from workbench.tui.annotation.issue_cases import IssueCasesScreen

        self.app.push_screen(IssueCasesScreen(self._instrument, None, self._whose))

    def action_label(self) -> None:
        from workbench.tui.annotation.issue_grid import IssueGridScreen

        self.app.push_screen(IssueGridScreen(self._instrument))

    def action_whose(self) -> None:
        self._whose = "people" if self._whose == "gold" else "gold"
        self.action_refresh()

    def action_issues(self) -> None:
        if self._found is not None:
            self.app.push_screen(TextScreen("What supporting each issue means", scheme_text(self._found.issues)))

    def action_refresh(self) -> None:
        self.compute(self._whose)

    def _place(self) -> int | None:
        """Return which issue is under the cursor."""
        names = [issue.name for issue in self._found.issues] if self._found is not None else []
        return names.index(self.table.current) if self.table.current in names else None

    def _records(self, width: int) -> list[Record]:
        if self._found is None:
            return []
        pairs = zip(self._found.report.issues, self._found.issues, strict=True)
        return [issue_record(issue, definition, width) for issue, definition in pairs]

    @work(thread=True, exclusive=True, exit_on_error=False, group="agreement")
    def compute(self, whose: str) -> None:
        from stores.core.store import Store
        from workbench.pipeline.issues import issue_overview

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            found = issue_overview(store, self._instrument, whose=whose)
        if not worker.is_cancelled:
            self.post_message(self.Computed(found))
