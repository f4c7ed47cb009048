"""Checks: what is odd about an instrument, the way to each place, and the findings that somebody lets stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Input, Static
from textual.worker import get_current_worker

from workbench.domain.findings import SEVERITIES
from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.editor_dialog import as_person
from workbench.tui.kit.waive_dialog import WaiveDialog
from workbench.tui.statements.checks_format import (
    COLUMNS,
    Filters,
    codes,
    counts_line,
    empty_text,
    filter_line,
    finding_details,
    finding_record,
    key,
    models_line,
)
from workbench.tui.widgets.record_table import RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.checks import Waiver
    from stores.jobs.job_rows import Job
    from workbench.pipeline.checking import Checked, CheckReport

LOOK_AT_JOB_S = 1.0

EXPLAIN = """✗ error    results would be wrong; mend it before an audit
! warning  look at it
· note     a hint; many of these are as they should be
○ waived   somebody let it stand, with a reason. A waiver holds for
           the very texts that it was given on: when one of them
           changes, the finding is back. Waivers are kept for ever.

Enter goes to the wording, s and c show one severity and one kind of
finding after another, / finds in findings and texts. w lets a finding
stand, v shows those, u takes the waiver back. J and K scroll below.

r lets models look at the wordings, in a worker: an encoder says how near
they are to each other, and an inference model, where you have one,
whether the expected relation holds. Figures are hints: below, the two
texts stand with what differs. Words that only the first has are marked
−[word], words that only the second has +[word]; ␣ is a blank at an end."""


class FindingTable(RecordTable):
    """The list of findings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Go there", key_display="Enter", tooltip="Edit the wording it is about"),
    ]


class ChecksScreen(StoreScreen):
    """The findings of one instrument, errors first."""

    CSS_PATH = "checks.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "waive", "Waive", tooltip="Let this finding stand, with a reason"),
        Binding("u", "unwaive", "Unwaive", tooltip="Take the waiver back"),
        Binding("v", "waived", "Waived", tooltip="Show waived findings too, or hide them"),
        Binding("s", "severity", "Severity", tooltip="Show errors, warnings, notes, all"),
        Binding("c", "code", "Kind", tooltip="Show one kind of finding after another"),
        Binding("slash", "search", "Find", key_display="/", tooltip="Find in findings and texts"),
        Binding("x", "clear", "All", show=False, tooltip="Take away filters"),
        Binding("r", "run", "Run models", tooltip="Let models look at the wordings, in a worker"),
        Binding("J", "scroll(1)", "Down", show=False, tooltip="Scroll the texts below down"),
        Binding("K", "scroll(-1)", "Up", show=False, tooltip="Scroll the texts below up"),
        Binding("escape", "leave", "Back", key_display="Esc"),
    ]

    table = query_one("#findings", FindingTable)
    details = query_one("#details", Static)
    box = query_one("#search", Input)

    @dataclass
    class Reported(Message):
        """The instrument was checked."""

        report: CheckReport
        job: Job | None
        "the newest check of it, while it is under way"

    @dataclass
    class Decided(Message):
        """A finding was waived, or its waiver taken back."""

        key: str
        waiver: Waiver | None

    @dataclass
    class JobSeen(Message):
        """It is known how far a job is."""

        job: Job

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._report: CheckReport | None = None
        self._filters = Filters()
        self._shown: dict[str, Checked] = {}
        self._job: int | None = None
        self._looking = False
        self.PLACE = f"statements › {instrument} › findings"

    def compose_body(self) -> ComposeResult:
        yield Input(placeholder="find in findings and texts", id="search", compact=True)
        yield Static(id="counts", markup=False)
        yield FindingTable(COLUMNS, name="findings")
        with VerticalScroll(id="below", can_focus=False):
            yield Static("Checking …", id="details", markup=False)
        yield Static(id="models", markup=False)

    def on_mount(self) -> None:
        self.box.display = False
        self.table.focus()
        self.set_interval(LOOK_AT_JOB_S, self.tick)
        self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        current = self.current
        if action == "waive":
            return current is not None and current.waiver is None
        if action == "unwaive":
            return current is not None and current.waiver is not None
        if action in ("waived", "severity", "code", "search"):
            return self._report is not None and bool(self._report.checked)
        return True

    @property
    def current(self) -> Checked | None:
        """The finding under the cursor."""
        return self._shown.get(self.table.current or "")

    @on(Reported)
    def show_report(self, event: Reported) -> None:
        self.trouble.hide()
        self._report = event.report
        if event.job is not None:
            self._job = event.job.id
        self._show()

    @on(Decided)
    def show_decision(self, event: Decided) -> None:
        """Show a waiver at once: checking all again would take a large instrument seconds."""
        if self._report is not None:
            checked = tuple(
                replace(one, waiver=event.waiver) if key(one) == event.key else one for one in self._report.checked
            )
            self._report = replace(self._report, checked=checked)
            self._show()

    @on(JobSeen)
    def show_job(self, event: JobSeen) -> None:
        from workbench.tui.format import job_mark, percent

        job = event.job
        self._looking = False
        if job.active:
            line = f"job {job.id} {job_mark(job.state)} {percent(job.done, job.total)} · {visible(job.message)}"
            self.query_one("#models", Static).update(Content(line))
            return
        self._job = None
        said = f"Job {job.id} {job.state}: {visible(job.message)}"
        self.notify(said, markup=False, severity="information" if job.state == "done" else "error")
        self.look()

    @on(DataTable.RowHighlighted, "#findings")
    def show_details(self) -> None:
        self.refresh_bindings()
        if (current := self.current) is not None:
            self.details.update(finding_details(current))
            self.query_one("#below", VerticalScroll).scroll_home(animate=False)

    @on(RecordTable.RowSelected, "#findings")
    def go_there(self) -> None:
        """Open the editor at the wording that the finding is about."""
        current = self.current
        if current is None or self._report is None:
            return
        finding = current.finding
        if finding.ref is None:
            self.notify(f"{visible(finding.code)} is about no single statement.", markup=False)
            return
        from workbench.tui.statements.statement import StatementScreen

        refs = dict.fromkeys(one.finding.ref for one in self._shown.values() if one.finding.ref is not None)
        language = finding.language or self._report.instrument.language
        editor = StatementScreen(self._instrument, finding.ref, language, tuple(refs), at=finding.variant)
        self.app.push_screen(editor, self._edited)

    @on(Input.Changed, "#search")
    def search_typed(self, event: Input.Changed) -> None:
        self._filters = replace(self._filters, text=event.value.strip())
        self._show()

    @on(Input.Submitted, "#search")
    def search_done(self) -> None:
        self.box.display = bool(self._filters.text)
        self.table.focus()

    def action_refresh(self) -> None:
        self.look()

    def action_search(self) -> None:
        self.box.display = True
        self.box.focus()

    def action_clear(self) -> None:
        """Take the filters away; waived findings stay shown or hidden."""
        self.box.value = ""
        self.box.display = False
        self._filters = Filters(waived=self._filters.waived)
        self._show()
        self.table.focus()

    def action_leave(self) -> None:
        """Take the search away; without one, go back."""
        if self.box.display:
            self.box.value = ""
            self.box.display = False
            self.table.focus()
        else:
            self.app.pop_screen()

    def action_scroll(self, by: int) -> None:
        self.query_one("#below", VerticalScroll).scroll_relative(y=by, animate=False)

    def action_severity(self) -> None:
        choices = ["", *SEVERITIES]
        at = choices.index(self._filters.severity)
        self._filters = replace(self._filters, severity=choices[(at + 1) % len(choices)], code="")
        self._show()

    def action_code(self) -> None:
        """Show the next kind among those that the other filters leave."""
        if self._report is None:
            return
        others = replace(self._filters, code="")
        choices = ["", *codes(one for one in self._report.checked if others.take(one))]
        at = choices.index(self._filters.code) if self._filters.code in choices else 0
        self._filters = replace(self._filters, code=choices[(at + 1) % len(choices)])
        self._show()

    def action_waived(self) -> None:
        self._filters = replace(self._filters, waived=not self._filters.waived)
        self._show()

    def action_waive(self) -> None:
        """Ask for the reason, and who gives it, and let the finding stand."""
        if (current := self.current) is None:
            return

        def as_somebody(person: str, reason: str) -> None:
            self.decide(_waiving(current, reason, person), current)

        def waive(reason: str | None) -> None:
            if reason is not None:
                as_person(self, self._instrument, lambda person: as_somebody(person, reason))

        self.app.push_screen(WaiveDialog(current.finding), waive)

    def action_unwaive(self) -> None:
        if (current := self.current) is None:
            return

        def unwaive(person: str) -> None:
            self.decide(_unwaiving(current, person), current)

        as_person(self, self._instrument, unwaive)

    def action_run(self) -> None:
        from workbench.tui.statements.check_form import CheckForm

        self.app.push_screen(CheckForm(self._instrument), self._started)

    def tick(self) -> None:
        """See how far the models are."""
        if self._job is not None and self.is_current and not self._looking:
            self._looking = True
            self.look_at_job(self._job)

    def failed(self, error: WorkbenchError) -> None:
        self._looking = False
        if self._report is None:
            self.details.update("")
        super().failed(error)

    def _edited(self, _ref: str | None) -> None:
        self.look()

    def _started(self, job: int | None) -> None:
        if job is not None:
            self._job = job
            self.notify(f"Job {job} runs. What it finds shows here when it is done.", markup=False)

    def _show(self) -> None:
        """Show what the filters leave; the cursor stays on its finding, or where it was."""
        report = self._report
        if report is None:
            return
        self._shown = {key(one): one for one in report.checked if self._filters.take(one)}
        line = filter_line(self._filters, len(self._shown), report)
        counts = Content.assemble((counts_line(report), "bold"), f"   {visible(line)}" if line else "")
        self.query_one("#counts", Static).update(counts)
        if self._job is None:
            self.query_one("#models", Static).update(Content(visible(models_line(report))))
        self.table.display = bool(self._shown)
        self.table.show([finding_record(one) for one in self._shown.values()])
        if self._shown:
            self.show_details()
        else:
            self.details.update(empty_text(self._filters, report))
        if self._shown and not self.box.has_focus:
            self.table.focus()
        self.refresh_bindings()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        from stores.core.store import Store
        from workbench.pipeline.checking import check_report, running_check

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            report, job = check_report(store, self._instrument), running_check(store, self._instrument)
        if not worker.is_cancelled:
            self.post_message(self.Reported(report, job))

    @work(thread=True, exit_on_error=False, group="decide")
    def decide(self, act: Callable[[Store, str], Waiver | None], one: Checked) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            waiver = act(store, self._instrument)
        self.post_message(self.Decided(key(one), waiver))

    @work(thread=True, exclusive=True, exit_on_error=False, group="job")
    def look_at_job(self, number: int) -> None:
        from stores.core.store import Store

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            job = store.jobs.get(number)
        if not worker.is_cancelled:
            self.post_message(self.JobSeen(job))


def _waiving(one: Checked, reason: str, person: str) -> Callable[[Store, str], Waiver | None]:
    return lambda store, name: store.checks.waive(name, one.finding, reason=reason, person=person)


def _unwaiving(one: Checked, person: str) -> Callable[[Store, str], Waiver | None]:
    def unwaive(store: Store, name: str) -> None:
        store.checks.unwaive(name, one.finding, person=person)

    return unwaive
