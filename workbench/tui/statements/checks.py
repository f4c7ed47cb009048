"""Checks: what is odd about an instrument, the way to each place, and the findings that somebody lets stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.errors import WorkbenchError
from workbench.help.sections import section
from workbench.tui import routes
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.editor_dialog import as_person
from workbench.tui.kit.status import say
from workbench.tui.kit.waive_dialog import WaiveDialog
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.ruling import RulingKeys
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.findings_explained import counts_line, empty_text, models_line
from workbench.tui.statements.findings_view import FindingsView, findings_sheet

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.checks import Waiver
    from stores.jobs.job_rows import Job
    from workbench.pipeline.checking import Checked, CheckReport

LOOK_AT_JOB_S = 1.0

EXPLAIN = section("screens-statements", "Findings")


class ChecksScreen(RulingKeys, StoreScreen):
    """The findings of one instrument, errors first."""

    CSS_PATH = "checks.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "waive", "Waive", tooltip="Waive this finding, with a reason"),
        Binding("u", "unwaive", "Unwaive", tooltip="Remove the waiver"),
        Binding("R", "run", "Run models", tooltip="Start a job that checks the wordings with models"),
        Binding("escape", "leave", "Back", key_display="Esc"),
    ]

    view = query_one(FindingsView)

    @dataclass
    class Reported(Message):
        """The instrument was checked."""

        report: CheckReport
        sheet: Sheet
        job: Job | None
        "the newest check of it, while it is under way"

    @dataclass
    class Decided(Message):
        """A finding was waived, or its waiver taken back."""

        report: CheckReport
        sheet: Sheet

    @dataclass
    class JobSeen(Message):
        """It is known how far a job is."""

        job: Job

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._report: CheckReport | None = None
        self._job: int | None = None
        self._looking = False
        self.PLACE = f"statements › {instrument} › findings"

    def compose_body(self) -> ComposeResult:
        yield Static("Checking …", id="counts", markup=False)
        yield FindingsView()
        yield Static(id="models", markup=False)

    def on_screen_resume(self) -> None:
        self.read_standing()

    def on_mount(self) -> None:
        self.set_interval(LOOK_AT_JOB_S, self.tick)
        self.look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        current = self.current
        if action == "waive":
            return current is not None and current.waiver is None
        if action == "unwaive":
            return current is not None and current.waiver is not None
        if action == "rule":
            return self.ruled_place() is not None
        return True

    @property
    def current(self) -> Checked | None:
        """The finding under the cursor."""
        return self.view.finding

    @on(Reported)
    def show_report(self, event: Reported) -> None:
        self.trouble.hide()
        if event.job is not None:
            self._job = event.job.id
        self._show(event.report, event.sheet)

    @on(Decided)
    def show_decision(self, event: Decided) -> None:
        """Show a waiver at once: checking all again would take a large instrument seconds."""
        self._show(event.report, event.sheet)

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
        said = f"Job {job.id} {job.stands}: {visible(job.message)}"
        self.notify(said, markup=False, severity="information" if job.state == "done" else "error")
        self.look()

    @on(SheetView.Current)
    def offer_what_fits(self) -> None:
        self.refresh_bindings()

    @on(SheetView.Opened)
    def go_there(self, event: SheetView.Opened) -> None:
        """Open the editor at the wording that the finding is about."""
        if self._report is None or (current := self.current) is None:
            return
        ref, _, language = event.links[event.at].subject
        refs = tuple(dict.fromkeys(link.subject[0] for link in event.links))
        in_language = language or self._report.instrument.language
        editor = routes.screen("statement", self._instrument, ref, in_language, refs, current.finding.variant)
        self.app.push_screen(editor, lambda _: self.action_refresh())

    def ruled_place(self) -> RuledPlace | None:
        """Return the wording that the finding under the cursor is about, or the statement; a template has no place."""
        return self._place(self.view.at) if self.view.at is not None else None

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        self.view.follow()

    def _rulings_on(self, at: int) -> Sequence[str]:
        place = self._place(at) if self.standing.every else None
        return self.standing.at(place) if place is not None else ()

    def _place(self, at: int) -> RuledPlace | None:
        sheet = self.view.sheet
        finding = sheet.table.rows[at][1].finding if sheet is not None and at < len(sheet.table.rows) else None
        if finding is None or finding.ref is None:
            return None
        words = (finding.ref, *([str(finding.variant)] if finding.variant is not None else []))
        return RuledPlace((self._instrument,), words, language=finding.language or "")

    def action_refresh(self) -> None:
        self.look()

    def action_leave(self) -> None:
        """Show all findings again; with all in sight, go back."""
        if not self.view.take_back():
            self.app.pop_screen()

    def action_waive(self) -> None:
        """Ask for the reason, and who gives it, and let the finding stand."""
        current, report = self.current, self._report
        if current is None or report is None:
            return

        def as_somebody(person: str, reason: str) -> None:
            self.decide(_waiving(current, reason, person), report)

        def waive(reason: str | None) -> None:
            if reason is not None:
                as_person(self, self._instrument, lambda person: as_somebody(person, reason))

        self.app.push_screen(WaiveDialog(current.finding), waive)

    def action_unwaive(self) -> None:
        current, report = self.current, self._report
        if current is None or report is None:
            return

        def unwaive(person: str) -> None:
            self.decide(_unwaiving(current, person), report)

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
            self.query_one("#counts", Static).update("")
        super().failed(error)

    def _started(self, job: int | None) -> None:
        if job is not None:
            self._job = job
            say(self, f"Job {job} is running. Its findings appear here when it is done.")

    def _show(self, report: CheckReport, sheet: Sheet) -> None:
        """Show the findings; the cursor stays on its finding, or where it was."""
        self._report = report
        self.query_one("#counts", Static).update(Content(counts_line(report)).stylize("bold"))
        if self._job is None:
            self.query_one("#models", Static).update(Content(visible(models_line(report))))
        self.view.empty = empty_text(report)
        self.view.show(sheet)
        self.refresh_bindings()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        from stores.core.store import Store
        from workbench.pipeline.checking import check_report, running_check

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            report, job = check_report(store, self._instrument), running_check(store, self._instrument)
        sheet = findings_sheet(report)
        if not worker.is_cancelled:
            self.post_message(self.Reported(report, sheet, job))

    @work(thread=True, exit_on_error=False, group="decide", description="waiver")
    def decide(self, act: Callable[[Store, str], tuple[Checked, Waiver | None]], report: CheckReport) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            decided, waiver = act(store, self._instrument)
        checked = tuple(replace(one, waiver=waiver) if one is decided else one for one in report.checked)
        report = replace(report, checked=checked)
        self.post_message(self.Decided(report, findings_sheet(report)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="job")
    def look_at_job(self, number: int) -> None:
        from stores.core.store import Store

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            job = store.jobs.get(number)
        if not worker.is_cancelled:
            self.post_message(self.JobSeen(job))


def _waiving(one: Checked, reason: str, person: str) -> Callable[[Store, str], tuple[Checked, Waiver | None]]:
    return lambda store, name: (one, store.checks.waive(name, one.finding, reason=reason, person=person))


def _unwaiving(one: Checked, person: str) -> Callable[[Store, str], tuple[Checked, Waiver | None]]:
    def unwaive(store: Store, name: str) -> tuple[Checked, Waiver | None]:
        store.checks.unwaive(name, one.finding, person=person)
        return one, None

    return unwaive
