"""Jobs: what runs, how fast, what came back; started, stopped and resumed here or from any other terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.jobs.job_kind_dialog import CLASSIFY, DRAFT, SAMPLE, TRAIN, JobKindDialog
from workbench.tui.jobs.job_lines import DONE, job_details, job_record, steps_at_once, stop_question, unit
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.number_dialog import NumberDialog
from workbench.tui.kit.status import say
from workbench.tui.routes import screen
from workbench.tui.widgets.record_table import Column, RecordTable

if TYPE_CHECKING:
    from stores.jobs.job_rows import Job

REFRESH_S = 1.0
STARTING_S = 30.0
"after so long a worker that was started here and has not taken its job is no longer waited for"
IDLE_TICKS = 5
LOG_LINES = 30

FORMS = {SAMPLE: "jobs.job_form.JobForm", TRAIN: "train", CLASSIFY: "classify", DRAFT: "draft"}
"kind of a job -> the screen that starts it"

NO_JOBS = """No jobs yet.

n starts one: ask a model, train a classifier, or let one read. A form shows what it comes to before anything starts."""

EXPLAIN = """kind        ask: a model is asked; train: a classifier learns from
            people's labels; classify: a classifier reads answers;
            draft: a model proposes wordings
state       queued: waits for a worker, or for its turn: jobs that
            load a model on this machine run one after another
            ($WORKBENCH_LOCAL_JOBS: so many at once), R begins one now;
            paused (p): all it has is stored, and its worker keeps the
            model for 10 min ($WORKBENCH_HOLD_S), unless another job
            waits; cancelled: stopped on request; lost: its worker is
            gone without a word. All but running and done can be
            resumed (R): only what is missing is done. y asks again
            only what failed
done        answers stored of those planned; steps of those planned (a
            training may end before, when its dev macro F1 no longer
            rises); responses read of those there are
/s          answers, steps or responses a second of this attempt; the
            ETA assumes that rate

ask
cut off     share of this attempt's answers that end within the model's
            thought: there is nothing to read, and more tokens help
unreadable  share of this attempt's answers in which no label was found;
            they count as unreadable, never as a stance. Only where a
            rule reads: free-text answers wait for a classifier
refused     those of them that decline to answer
drawn again of multiple-choice questions: answers that are no letter
            that is offered. They are kept, do not count, and are drawn
            again until there are enough, or no tries are left. How
            many of a round will be letters is not known before: the
            valid ones more than needed count, too
shared      share of prompt tokens that did not go through the model
            again, because prompts begin alike
merged      the same for answers: samples that begin alike are computed
            once
calls       of a served model, with what they cost where prices are set
            ($WORKBENCH_PRICE_IN, _OUT, _MAX_COST). m changes how many
            are under way at once, or how large a batch is

train
loss        mean over the pairs since the last report
dev macro F1   mean F1 over the stances of the held-out training
            responses: it chooses the step that is kept. The test set
            is looked at once, at the end
lr          learning rate at this step

A job ends by itself, and says so, before the disk is full ($WORKBENCH_MIN_FREE_MB).
Leaving the screen or the program does not stop a job; c does."""


FITS: dict[str, Callable[[Job], bool]] = {
    "pause": lambda job: job.state == "queued" or (job.state == "running" and not (job.pausing or job.stopping)),
    "cancel": lambda job: job.state in ("queued", "running", "paused", "lost"),
    "resume": lambda job: job.state in ("queued", "paused", "cancelled", "failed", "lost") or job.pausing,
    "retry": lambda job: job.state in ("failed", "cancelled") and job.failed_items > 0,
    "at_once": lambda job: job.kind in (SAMPLE, DRAFT) and job.state != "done",
    "log": lambda _: True,
}
"whether an action fits a job"


class JobsScreen(StoreScreen):
    """Every job, the newest first."""

    CSS_PATH = "jobs.tcss"
    PLACE = "jobs"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Start a new job"),
        Binding("p", "pause", "Pause", tooltip="Pause the job; what it has done is stored"),
        Binding("c", "cancel", "Cancel", tooltip="Ask the job to stop; what it has done stays"),
        Binding("R", "resume", "Resume", tooltip="Resume the job: do only what is missing; begin one that waits"),
        Binding("y", "retry", "Retry failed", tooltip="Ask again what failed, and nothing else"),
        Binding("m", "at_once", "At once", tooltip="Change how many calls, or rows of a batch, are under way at once"),
        Binding("l", "log", "Log", tooltip="Read the job's log"),
        Binding("q", "app.leave", "Leave", tooltip="Go home; running jobs go on"),
    ]

    table = query_one("#jobs", RecordTable)
    details = query_one("#details", Static)
    log_box = query_one("#log", VerticalScroll)
    tail = query_one("#tail", Static)

    @dataclass
    class Seen(Message):
        """The jobs were read."""

        jobs: tuple[Job, ...]
        logs: dict[int, str]

    @dataclass
    class Done(Message):
        """Something that was asked for happened."""

        sentence: str

    @dataclass
    class Begun(Message):
        """A job goes on."""

        job: int
        only_failed: bool

    @dataclass
    class Elsewhere(Message):
        """A job that is to go on was created elsewhere."""

        job: int
        about: str
        only_failed: bool

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[str, Job] = {}
        self._logs: dict[int, str] = {}
        self._tail = ""
        self._seen = False
        self._reading = False
        self._ticks = 0
        self._new: int | None = None
        "number of a job that was started here and is not listed yet"
        self._begun: dict[int, float] = {}
        "when a worker was started here for a job; by the monotonic clock"

    def compose_body(self) -> ComposeResult:
        yield RecordTable(
            [
                Column("number", "job", 3),
                Column("kind", "kind", 8),
                Column("state", "state", 11),
                Column("subject", "what", None),
                Column("bar", "", 5, least=100),
                Column("share", "", 5, least=90),
                Column("done", "done", DONE),
                Column("rate", "/s", 7, least=90),
                Column("eta", "ETA", 10),
            ],
            name="jobs",
        )
        yield Static("Reading the jobs …", id="details", markup=False)
        with VerticalScroll(id="log", can_focus=False) as log:
            log.border_title = "log"
            yield Static(id="tail", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action not in FITS:
            return True
        job = self.current
        return job is not None and FITS[action](job)

    def tick(self) -> None:
        """Look again: each second while a job is active, now and then otherwise."""
        self._ticks += 1
        active = any(job.active for job in self._jobs.values())
        if self.is_current and (active or self._ticks % IDLE_TICKS == 0):
            self.action_refresh()

    def show_job(self, job: int) -> None:
        """Put the cursor on a job, once it is listed."""
        self._new = job
        self.action_refresh()

    @property
    def current(self) -> Job | None:
        """The job under the cursor."""
        return self._jobs.get(self.table.current or "")

    @on(Seen)
    def show_jobs(self, event: Seen) -> None:
        self._reading, self._seen = False, True
        self._offer(event.jobs)
        self._jobs = {str(job.id): job for job in event.jobs}
        self._logs = event.logs
        self.trouble.hide()
        numbers = [job.id for job in event.jobs]
        at = numbers.index(self._new) if self._new in numbers else None
        self._new = None if at is not None else self._new
        self.table.show([job_record(job) for job in event.jobs], at=at)
        self.table.display = bool(event.jobs)
        active = sum(job.active for job in event.jobs)
        self.title_bar.note = f"{active} active" if active else ""
        self._show_details()

    def _offer(self, jobs: tuple[Job, ...]) -> None:
        """Say once that a job lost its worker, and how it goes on."""
        for job in jobs:
            before = self._jobs.get(str(job.id))
            if job.state == "lost" and (before is None or before.state != "lost"):
                words = f"Job {job.id} lost its worker; nothing that it stored is lost. R goes on with it."
                self.notify(words, markup=False, severity="warning")

    @on(Begun)
    def say_begun(self, event: Begun) -> None:
        self._begun[event.job] = time.monotonic()
        how = "asks again what failed" if event.only_failed else "goes on"
        self.post_message(self.Done(f"Job {event.job} {how}."))

    @on(Done)
    def say_done(self, event: Done) -> None:
        say(self, event.sentence)
        self.action_refresh()

    @on(RecordTable.RowSelected)
    def open_row(self) -> None:
        self.action_log()

    @on(RecordTable.RowHighlighted)
    def _show_details(self) -> None:
        self.refresh_bindings()
        if not self._seen:
            return
        job = self.current
        if job is None:
            self.details.update(NO_JOBS)
        else:
            began = self._begun.get(job.id, -math.inf)
            self.details.update(job_details(job, begun=time.monotonic() - began < STARTING_S))
        self._show_tail("" if job is None else self._logs.get(job.id, ""))

    def _show_tail(self, text: str) -> None:
        if text != self._tail:
            self._tail = text
            self.tail.update(Content(visible(text, lines=True)))
            self.log_box.call_after_refresh(self.log_box.scroll_end, animate=False)
        self.log_box.display = bool(text)

    def failed(self, error: WorkbenchError) -> None:
        self._reading = False
        if not self._seen:
            self.details.update("")
        super().failed(error)

    def action_refresh(self) -> None:
        if not self._reading:
            self._reading = True
            self.look()

    def action_new(self) -> None:
        """Ask what kind of job to start, then what it is to do."""

        def chosen(kind: str | None) -> None:
            if kind is not None:
                self.app.push_screen(screen(FORMS[kind]), self._started)

        self.app.push_screen(JobKindDialog(), chosen)

    def action_cancel(self) -> None:
        job = self.current
        if job is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.stop(job.id)

        self.app.push_screen(ConfirmScreen(stop_question(job), "stop it", "let it run"), answered)

    def action_pause(self) -> None:
        if (job := self.current) is not None:
            self.pause(job.id)

    def action_resume(self) -> None:
        if (job := self.current) is not None:
            self.go_on(job.id)

    def action_retry(self) -> None:
        if (job := self.current) is not None:
            self.go_on(job.id, only_failed=True)

    @on(Elsewhere)
    def ask_consent(self, event: Elsewhere) -> None:
        """Show whom a job from elsewhere asks and at whose cost, and let it go on where the person agrees."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.go_on(event.job, only_failed=event.only_failed, consent=True)

        self.app.push_screen(ConfirmScreen(f"{event.about}\n\nLet it go on here?", "go on", "leave it"), answered)

    def action_at_once(self) -> None:
        """Ask how many may be under way at once."""
        job = self.current
        if job is None:
            return

        def chosen(most: int | None) -> None:
            if most is not None:
                self.bound(job.id, most)

        self.app.push_screen(
            NumberDialog(f"Job {job.id}: how many at once", job.concurrency, steps_at_once(job)), chosen
        )

    def action_log(self) -> None:
        if (job := self.current) is not None:
            self.read_log(job.id)

    def _started(self, job: int | None) -> None:
        if job is not None:
            say(self, f"Job {job} is started. It goes on when you leave.")
            self._new, self._begun[job] = job, time.monotonic()
            self.action_refresh()

    @dataclass
    class LogRead(Message):
        """A log is there to be shown."""

        job: int
        text: str

    @on(LogRead)
    def show_log(self, event: LogRead) -> None:
        text = event.text or "The job has not written anything yet."
        self.app.push_screen(TextScreen(f"Log of job {event.job}", Content(visible(text, lines=True)), wide=True))

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        jobs, logs = read_jobs(self.store_path)
        self.post_message(self.Seen(jobs, logs))

    @work(thread=True, exit_on_error=False, group="ask")
    def stop(self, job_id: int) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            job = store.jobs.request_stop(job_id)
        how = "is cancelled" if job.state == "cancelled" else f"stops after the {unit(job)} at hand"
        self.post_message(self.Done(f"Job {job_id} {how}."))

    @work(thread=True, exit_on_error=False, group="ask")
    def pause(self, job_id: int) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            job = store.jobs.pause(job_id)
        how = "is paused" if job.state == "paused" else f"pauses after the {unit(job)} at hand"
        self.post_message(self.Done(f"Job {job_id} {how}. R goes on with it."))

    @work(thread=True, exit_on_error=False, group="ask")
    def bound(self, job_id: int, most: int) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            store.jobs.set_concurrency(job_id, most or None)
        how = f"at most {most:,} at once" if most else "as many at once as at first"
        self.post_message(self.Done(f"Job {job_id}: {how}."))

    @work(thread=True, exit_on_error=False, group="ask")
    def go_on(self, job_id: int, *, only_failed: bool = False, consent: bool = False) -> None:
        """Resume a job, or ask again what failed."""
        from stores.core.store import Store
        from workbench.jobs import launch
        from workbench.jobs.origin import ElsewhereError

        with Store.open(self.store_path) as store:
            try:
                (launch.retry if only_failed else launch.resume)(store, job_id, consent=consent)
            except ElsewhereError as error:
                self.post_message(self.Elsewhere(job_id, error.about, only_failed))
                return
        self.post_message(self.Begun(job_id, only_failed))

    @work(thread=True, exclusive=True, exit_on_error=False, group="log")
    def read_log(self, job_id: int) -> None:
        from workbench.jobs import launch

        self.post_message(self.LogRead(job_id, launch.log_tail(self.store_path, job_id, lines=1000)))


def read_jobs(path: Path) -> tuple[tuple[Job, ...], dict[int, str]]:
    """Return the jobs, and the end of each one's log."""
    from stores.core.store import Store
    from workbench.jobs import launch

    launch.reap()
    with Store.open(path) as store:
        jobs = store.jobs.list()
    return jobs, {job.id: launch.log_tail(path, job.id, lines=LOG_LINES) for job in jobs}
