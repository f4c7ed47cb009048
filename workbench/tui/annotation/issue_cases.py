"""The statements behind an issue's agreement: ties first, nobody named; one key decides and is committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.domain.instruments import IssueDefinition
from workbench.errors import ConflictError, WorkbenchError
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.issue_gold_format import (
    CASE_KEYS,
    CASES_EXPLAIN,
    SHOWN,
    case_columns,
    case_details,
    case_key,
    case_record,
    chosen,
    decided_line,
    nothing_listed,
)
from workbench.tui.annotation.issue_grid_format import KEYS, scheme_text
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.widgets.fluid_table import FluidTable
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.annotation.issues import Case
    from workbench.pipeline.issues import IssueOverview

DEFINITION_LINES = 3


@dataclass(frozen=True, slots=True)
class Step:
    """A decision of this sitting."""

    case: Case
    "as it was when it was decided"
    before: int | None


class IssueCasesScreen(StoreScreen):
    """What annotators said, statement by statement, and what was decided."""

    CSS_PATH = "issue_cases.tcss"
    EXPLAIN = CASES_EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a,plus,1", "decide(1)", "+1", key_display="a", tooltip="Decide +1: agreeing supports the issue"),
        Binding("d,minus", "decide(-1)", "−1", key_display="d", tooltip="Decide −1: disagreeing supports the issue"),
        Binding("n,0", "decide(0)", "0", key_display="n", tooltip="Decide 0: not related to the issue"),
        Binding("space,backspace,delete", "withdraw", "Take back", key_display="Space", tooltip="Take a decision back"),
        Binding("z", "undo", "Undo", tooltip="Undo the last decision, and the one before"),
        Binding("x", "cycle", "More", tooltip="List what is to decide, where people differ, or all"),
        Binding("t", "text", "Text", show=False, tooltip="Read the whole statement"),
        Binding("i", "issues", "Issues", tooltip="Read what every issue means"),
        Binding("escape,q", "dismiss(None)", "Leave", key_display="Esc"),
        Binding("2,3,4,5,6,7,8,9,h", "nothing", show=False),
    ]

    table = query_one("#cases", FluidTable)
    statement = query_one("#statement", ReadText)

    @dataclass
    class Found(Message):
        """Everything was read."""

        found: IssueOverview

    @dataclass
    class Decided(Message):
        """A decision is in the store, or was taken back."""

        found: IssueOverview
        key: str
        said: Content
        step: Step | None
        "None: a step was undone"

    @dataclass
    class Changed(Message):
        """The labels changed while they were looked at; nothing was written."""

        found: IssueOverview

    def __init__(self, instrument: str, issue: str | None, whose: str = "gold") -> None:
        super().__init__()
        self._instrument, self._issue, self._whose = instrument, issue, whose
        self._found: IssueOverview | None = None
        self._cases: dict[str, Case] = {}
        self._texts: dict[str, str] = {}
        self._definitions: dict[str, IssueDefinition] = {}
        self._listed: tuple[str, ...] = ()
        self._shown = SHOWN[0] if issue is None else SHOWN[1]
        self._steps: list[Step] = []
        self._said = Content("")
        self._busy = True

    def compose_body(self) -> ComposeResult:
        yield Static("Reading the labels …", id="empty", markup=False)
        yield FluidTable(self._columns, name="cases")
        with Vertical(id="below"):
            yield ReadText(name="statement")
            yield Static(id="details", markup=False)
            yield Static(KEYS, id="keys", markup=False)
        yield Static(id="said", markup=False)

    def on_mount(self) -> None:
        name = "all issues" if self._issue is None else self._issue.replace("_", " ")
        self.title_bar.place = f"policy issues › {name}"
        self.query_one("#below").display = self.table.display = False
        self.table.focus()
        self.read()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        self.call_after_refresh(self._show_case)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "withdraw":
            return self.current is not None and self.current.adjudicated is not None
        if action == "undo":
            return bool(self._steps)
        return self.current is not None or action not in ("decide", "text")

    @property
    def auditor(self) -> str | None:
        """Who decides."""
        return getattr(self.app, "annotator", None)

    @property
    def current(self) -> Case | None:
        """The case under the cursor."""
        return self._cases.get(self.table.current or "")

    @on(Found)
    def take(self, event: Found) -> None:
        self._busy = False
        self.trouble.hide()
        self._learn(event.found)
        self._list(at=0 if not self._listed else None)

    @on(Decided)
    def go_on(self, event: Decided) -> None:
        """Show the decision in its row, which stays where it is, and go on to the next tie."""
        self._busy = False
        self.trouble.hide()
        self._learn(event.found)
        if event.step is not None:
            self._steps.append(event.step)
        else:
            self._steps.pop()
        self._said = event.said
        self._show_rows()
        if event.step is None:
            self._go_to(event.key)
        elif self.table.current == event.key and self._cases[event.key].adjudicated is not None:
            self._next_tie()
        self._show_case()

    @on(Changed)
    def look_again(self, event: Changed) -> None:
        self._busy = False
        self._learn(event.found)
        self._show_rows()
        self._show_case()
        self.notify("These labels changed while they were shown. Nothing was decided: look again.", markup=False)

    @on(RecordTable.RowHighlighted)
    def _show_case(self) -> None:
        """Show the statement, the issue and the labels under the cursor."""
        self.refresh_bindings()
        self.query_one("#said", Static).update(self._said, layout=False)
        case = self.current
        if case is None:
            return
        from workbench.annotation.issues import anonymous

        width = max(20, self.size.width - 2)
        definition = self._definitions[case.issue]
        details = case_details(case, anonymous(case), definition, width, DEFINITION_LINES)
        self.query_one("#details", Static).update(details, layout=False)
        self.statement.show(visible(self._texts.get(case.statement, ""), lines=True))

    @on(RecordTable.RowSelected)
    def action_text(self) -> None:
        if (case := self.current) is not None:
            self.app.push_screen(TextScreen(case.statement, self._texts.get(case.statement, "")))

    def action_decide(self, label: int) -> None:
        """Commit a decision on the labels that are shown."""
        case = self.current
        if self._busy or case is None:
            return
        if self.auditor is None:
            self._ask_name(partial(self.action_decide, label))
            return
        self._commit(Step(case, case.adjudicated), label)

    def action_withdraw(self) -> None:
        case = self.current
        if not self._busy and case is not None and case.adjudicated is not None and self.auditor is not None:
            self._commit(Step(case, case.adjudicated), CASE_KEYS["space"])

    def action_undo(self) -> None:
        """Put back what stood before the last decision of this sitting."""
        if not self._busy and self._steps and self.auditor is not None:
            self._busy = True
            self.put_back(self._steps[-1], self.auditor)

    def action_cycle(self) -> None:
        """List what is to decide, where people differ, or everything that anybody labelled."""
        self._shown = SHOWN[(SHOWN.index(self._shown) + 1) % len(SHOWN)]
        self._list()

    def action_issues(self) -> None:
        text = scheme_text(tuple(self._definitions.values()))
        self.app.push_screen(TextScreen("What supporting each issue means", text))

    def action_nothing(self) -> None:
        """Take keys that lead away elsewhere: one of them pressed by mistake must not."""

    def action_refresh(self) -> None:
        if not self._busy or self.trouble.shown:
            self.read()

    def failed(self, error: WorkbenchError) -> None:
        self._busy = False
        super().failed(error)

    def _commit(self, step: Step, label: int | None) -> None:
        self._busy = True
        self.decide(step, label, self.auditor or "")

    def _ask_name(self, then: Callable[[], None]) -> None:
        from workbench.tui.kit.person_dialog import PersonDialog

        def take(name: str | None) -> None:
            if name is not None:
                setattr(self.app, "annotator", name)  # noqa: B010
                then()

        self.app.push_screen(PersonDialog((), note="Your decisions are kept under this name."), take)

    def _learn(self, found: IssueOverview) -> None:
        self._found = found
        self._texts = found.texts()
        self._definitions = {issue.name: issue for issue in found.issues}
        self._cases = {case_key(case): case for case in found.report.cases if self._issue in (None, case.issue)}
        self._listed = tuple(key for key in self._listed if key in self._cases)
        left = sum(case.open for case in self._cases.values())
        self.title_bar.note = f"{left:,} to decide · {self._shown}"

    def _list(self, at: int | None = None) -> None:
        """List the cases that are meant, ties first."""
        cases = list(self._cases.values())
        self._listed = tuple(case_key(case) for case in chosen(cases, self._shown))
        empty = self.query_one("#empty", Static)
        empty.display = not self._listed
        empty.update(nothing_listed(self._shown, cases))
        self.table.display = self.query_one("#below").display = bool(self._listed)
        self.title_bar.note = f"{sum(case.open for case in cases):,} to decide · {self._shown}"
        self._show_rows(at)
        if self._listed:
            self.table.focus()
        self._show_case()

    def _show_rows(self, at: int | None = None) -> None:
        self.table.show_for_width(self._records, at=at)

    def _next_tie(self) -> None:
        """Go down to the next case that is to be decided, around the end; stay where there is none."""
        count, row = len(self._listed), self.table.cursor_row
        for step in range(1, count):
            if self._cases[self._listed[(row + step) % count]].open:
                self.table.show_row((row + step) % count)
                return

    def _go_to(self, key: str) -> None:
        if key not in self._listed:
            self._shown = SHOWN[2]
            self._list()
        if key in self._listed:
            self.table.show_row(self._listed.index(key))

    def _columns(self, width: int) -> list[Column]:
        return case_columns(width, self._issue is None)

    def _records(self, width: int) -> list[Record]:
        from workbench.annotation.issues import anonymous

        rows = [(key, self._cases[key]) for key in self._listed]
        return [
            case_record(key, case, anonymous(case), self._texts.get(case.statement, ""), width, self._issue is None)
            for key, case in rows
        ]

    @work(thread=True, exclusive=True, exit_on_error=False, group="read")
    def read(self) -> None:
        worker = get_current_worker()
        found = self._overview()
        if not worker.is_cancelled:
            self.post_message(self.Found(found))

    @work(thread=True, exit_on_error=False, group="commit")
    def decide(self, step: Step, label: int | None, auditor: str) -> None:
        """Commit a decision on the labels that were shown; on others, show those."""
        case = step.case
        try:
            self._write(case, label, auditor, dict(case.labels))
        except ConflictError:
            self.post_message(self.Changed(self._overview()))
            return
        said = decided_line(label, case.issue, case.statement, undo=True)
        self.post_message(self.Decided(self._overview(), case_key(case), said, step))

    @work(thread=True, exit_on_error=False, group="commit")
    def put_back(self, step: Step, auditor: str) -> None:
        case = step.case
        self._write(case, step.before, auditor, None)
        said = Content(f"undone: {visible(case.statement)} {visible(case.issue).replace('_', ' ')}")
        self.post_message(self.Decided(self._overview(), case_key(case), said, None))

    def _write(self, case: Case, label: int | None, auditor: str, seen: Mapping[str, int] | None) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            store.issues.adjudicate(self._instrument, case.statement, case.issue, label, auditor, seen=seen)

    def _overview(self) -> IssueOverview:
        """Read labels and what follows from them; nothing here shows an interval, so next to none are computed."""
        from stores.core.store import Store
        from workbench.pipeline.issues import issue_overview

        with Store.open(self.store_path) as store:
            return issue_overview(store, self._instrument, whose=self._whose, resamples=1)
