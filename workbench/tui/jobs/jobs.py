"""The screen of jobs: progress and results, started, stopped and resumed from any terminal."""

from __future__ import annotations

import math
import time
from asyncio import to_thread
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench import registry
from workbench.domain.job_kinds import DRAFT, SAMPLE
from workbench.errors import JobError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.jobs.job_acts import JobActs, form_of
from workbench.tui.jobs.job_kind_dialog import JobKindDialog
from workbench.tui.jobs.job_lines import (
    DONE,
    UNDRAWN,
    UNREADABLE,
    is_stopping,
    is_timed,
    job_details,
    job_record,
    steps_at_once,
    stop_question,
    stopping_message,
)
from workbench.tui.jobs.probe import ProbeScreen
from workbench.tui.kit.base import app_of, in_background, say, with_store_name, worker
from workbench.tui.kit.dialogs import NumberDialog, TextScreen, confirm, with_answer
from workbench.tui.routes import lead
from workbench.tui.widgets.record_table import RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from stores.runs.run_rows import Run
    from workbench.pipeline.planning import Plan

REFRESH_S = 1.0
STARTING_S = 30.0
"seconds after which a worker that was started here is given up if it has not taken its job"
IDLE_TICKS = 5
LOG_LINES = 30

NO_JOBS = """No jobs yet.

n starts one: ask a model, train a classifier, or classify answers. A form shows the cost before anything starts."""  # noqa: E501


def can_pause(job: Job) -> bool:
    """Return whether a job can be paused: it waits, or runs without being told to end."""
    if job.state == "running":
        return not (job.pausing or job.stopping)
    return job.state == "queued"


def can_resume(job: Job) -> bool:
    """Return whether a job can be resumed, also before it has paused."""
    return job.state in ("queued", "paused", "cancelled", "failed", "lost") or job.pausing


def can_delete(job: Job) -> bool:
    """Return whether a job can be deleted. If it has stored something, it can be hidden instead."""
    return job.state in ("failed", "cancelled", "done")


FITS: dict[str, Callable[[Job], bool]] = {
    "pause": can_pause,
    "cancel": lambda job: job.state in ("queued", "running", "paused", "lost"),
    "resume": can_resume,
    "retry": lambda job: job.state in ("failed", "cancelled") and job.failed_items > 0,
    "at_once": lambda job: job.kind in (SAMPLE, DRAFT) and job.state != "done",
    "anew": lambda job: job.kind == SAMPLE and job.done > 0,
    "probe": lambda job: job.probed is not None,
    "edit": lambda job: job.ended_badly or job.state == "paused",
    "hide": lambda job: job.ended_badly or job.state == "done",
    "delete": can_delete,
    "log": lambda _: True,
}
"whether an action fits a job, by action"


class JobsScreen(JobActs):
    """The screen of all jobs, the newest first."""

    CSS_PATH = "jobs.tcss"
    PLACE = "jobs"
    EXPLAIN = section("screens-jobs", "The list of jobs")
    DECIDES: ClassVar[frozenset[str]] = frozenset(
        ["pause", "cancel", "resume", "retry", "at_once", "anew", "hide", "delete"]
    )
    FREE: ClassVar[frozenset[str]] = frozenset({"new"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Start a new job"),
        Binding("p", "pause", "Pause", tooltip="Pause the job; its work is stored"),
        Binding("S", "cancel", "Stop", tooltip="Stop the job; its work stays"),
        Binding(
            "R",
            "resume",
            "Resume",
            tooltip="Resume the job with what is missing, or start a waiting job",
        ),
        Binding("y", "retry", "Retry failed", tooltip="Retry only what failed"),
        Binding(
            "a",
            "at_once",
            "Batch size",
            tooltip="Change how many calls, or rows of a batch, run at once",
        ),
        Binding(
            "e",
            "edit",
            "Edit",
            tooltip="Change the settings: open the form as filled in for this job",
        ),
        Binding(
            "A",
            "anew",
            "Ask anew",
            tooltip="Ask anew what the job asked: a run of its own, named by the date",
        ),
        Binding("b", "probe", "Probe", tooltip="Show the answers of the job's probe"),
        Binding("l", "log", "Log", tooltip="Show the job's log"),
        Binding("H", "hide", "Hide", tooltip="Hide the job, or list it again"),
        Binding("X", "hidden", "Hidden jobs", show=False, tooltip="Show or hide hidden jobs"),
        Binding(
            "T,delete",
            "delete",
            "Delete",
            key_display="T",
            tooltip="Delete a job that has stored nothing",
        ),
        Binding("q", "app.leave", "Leave", tooltip="Go home; running jobs continue"),
    ]

    table = query_one("#jobs", RecordTable)
    details = query_one("#details", Static)
    log_box = query_one("#log", VerticalScroll)
    tail = query_one("#tail", Static)

    def __init__(self) -> None:
        super().__init__()
        self._with_hidden = False
        self._probed: set[int] = set()
        "jobs started here whose probe opens as soon as they are listed"
        self._jobs: dict[str, Job] = {}
        self._logs: dict[int, str] = {}
        self._tail = ""
        self._seen = False
        self._reading = False
        self._ticks = 0
        self._new: int | None = None
        "number of a job that was started here and is not listed yet"
        self._begun: dict[int, float] = {}
        "when a worker was started here for a job, by the monotonic clock"

    def compose_body(self) -> ComposeResult:
        columns = [
            RecordColumn("number", "job", 3),
            RecordColumn("kind", "kind", 8),
            RecordColumn("state", "state", 11),
            RecordColumn("subject", "what", None),
            RecordColumn("bar", "", 5, least=100),
            RecordColumn("share", "", 5, least=90),
            RecordColumn("done", "done", DONE),
            RecordColumn("rate", "/s", 7, least=90),
            RecordColumn("eta", "ETA", 10),
        ]
        with Vertical(classes="parts"):
            yield RecordTable(columns, name="jobs").add_class("list")
            with Vertical(classes="about"):
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
        """Poll the store, each second while a job is active, else at intervals after a write."""
        self._ticks += 1
        active = any(job.active for job in self._jobs.values())
        if (
            self.is_current
            and (active or self._ticks % IDLE_TICKS == 0)
            and (self.has_changed() or active)
        ):
            with in_background():
                self.action_refresh()

    def go_to_job(self, number: int) -> None:
        """Move the cursor to a job, once it is listed."""
        self._new = number
        self.action_refresh()

    @property
    def current(self) -> Job | None:
        """The job under the cursor."""
        return self._jobs.get(self.table.current or "")

    def _offer(self, jobs: tuple[Job, ...]) -> None:
        """Tell once that a job lost its worker, and how to resume it."""
        for job in jobs:
            previous = self._jobs.get(str(job.id))
            if job.state == "lost" and (previous is None or previous.state != "lost"):
                message = (
                    f"Job {job.id} lost its worker; everything it stored is safe. R resumes it."
                )
                self.notify(message, markup=False, severity="warning")

    def say_begun(self, job_id: int, *, only_failed: bool) -> None:
        self._begun[job_id] = time.monotonic()
        self.say_done(f"Job {job_id} {'retries what failed' if only_failed else 'continues'}.")

    def say_done(self, sentence: str) -> None:
        say(self, sentence)
        self.action_refresh()

    @on(RecordTable.RowSelected)
    def open_row(self) -> None:
        """Show the probe of a job that waits for a decision on it, or else the log."""
        job = self.current
        if job is not None and job.question and job.probed is not None:
            self.action_probe()
        else:
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
            started_at = self._begun.get(job.id, -math.inf)
            self.details.update(job_details(job, begun=time.monotonic() - started_at < STARTING_S))
        self._show_tail("" if job is None else self._logs.get(job.id, ""))

    def _show_tail(self, text: str) -> None:
        if text != self._tail:
            self._tail = text
            self.tail.update(Content(visible(text, lines=True)))
            self.log_box.anchor()  # The end stays visible, whenever the line gets its position.
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

    def leads_to(self, mode: str) -> bool:
        """Show the figures of the job under the cursor in a mode of results.

        Return whether the job asks a model and the mode shows results.
        """
        job = self.current
        has_figures = (
            job is not None
            and job.kind == SAMPLE
            and any(place.mode == mode for place in registry.places())
        )
        if job is not None and has_figures:
            self.show_figures(job, mode)
        return has_figures

    @worker("run", opens=True)
    async def show_figures(self, job: Job, mode: str) -> None:
        """Show the figures of the run with a job's answers, or of others if it has none."""

        def load(store: Store) -> Run | None:
            from workbench.evidence.runs import run_of_job

            return run_of_job(store, job)

        run = await self.with_store(load)
        if run is None:
            app_of(self).show_mode(mode)
            current_screen, message = (
                self.app.screen,
                f"Job {job.id} has no answers; these answers are from other jobs",
            )
            current_screen.call_after_refresh(lambda: say(current_screen, message, warns=True))
        else:
            lead(self.app, (mode, run))

    def action_new(self) -> None:
        """Ask for the kind of a job, then for its settings."""
        with_answer(
            self,
            JobKindDialog(),
            lambda kind: with_answer(self, form_of(kind), self._started),
        )

    def action_cancel(self) -> None:
        job = self.current
        if job is None:
            return
        if is_stopping(job):
            say(self, stopping_message(job), warns=True)
            return

        confirm(self, stop_question(job), "stop it", "let it run", lambda: self.stop(job.id))

    def action_pause(self) -> None:
        def pause(store: Store, job_id: int) -> str:
            job = store.jobs.pause(job_id)
            state_text = (
                "is paused" if job.state == "paused" else f"pauses after the current {job.unit}"
            )
            return f"Job {job_id} {state_text}. R resumes it."

        if (job := self.current) is not None:
            self.carry_out(lambda store: pause(store, job.id))

    def action_resume(self) -> None:
        """Resume a job.

        Ask first if no answer was readable, or the model seems not to sample.
        """
        job = self.current
        if job is None:
            return
        if job.question not in (UNREADABLE, UNDRAWN):
            self.go_on(job.id)
            return

        confirm(
            self,
            f"{job.message}\n\nContinue anyway?",
            "continue anyway",
            "not now",
            lambda: self.go_on(job.id),
        )

    def action_probe(self) -> None:
        if (job := self.current) is not None and job.probed is not None:
            self.app.push_screen(ProbeScreen(job.id))

    def action_edit(self) -> None:
        """Open the form of a job as it was filled. A job started from it replaces this one."""
        job = self.current
        if job is None:
            return

        def started(new_job: int) -> None:
            self.replace(job.id, new_job)
            self._started(new_job)

        with_answer(self, form_of(job.kind, like=job.id), started)

    def action_anew(self) -> None:
        if (job := self.current) is not None:
            self.plan_anew(job)

    @worker("ask", newest=False, opens=True)
    async def plan_anew(self, job: Job) -> None:
        """Show the plan of asking a job's prompts again, and start it if the user agrees."""

        def load(store: Store) -> tuple[Plan, str]:
            from workbench.commands.again import anew, from_elsewhere
            from workbench.pipeline import planning

            return planning.plan(store, anew(store, job.id)), from_elsewhere(store, job.id)

        plan, origin = await self.with_store(load)
        question = (
            f"{origin}\n{plan.describe()}\n\nAsk this anew, as a run of {plan.design.occasion}?"
        ).lstrip()
        confirm(
            self, question, "ask it", "not now", lambda: self.start_anew(plan, batched=job.batched)
        )

    @worker("start", newest=False)
    async def start_anew(self, plan: Plan, *, batched: bool) -> None:
        def start(store: Store) -> int:
            from workbench.jobs import launch

            return launch.start(store, plan.design, plan, batched=batched)

        self._started(await self.with_store(start))

    def action_hide(self) -> None:
        if (job := self.current) is not None:
            self.hide(job.id, hidden=not job.hidden)

    def hide(self, job_id: int, *, hidden: bool) -> None:
        def act(store: Store) -> str:
            store.jobs.hide(job_id, hidden=hidden)
            return (
                f"Job {job_id} is hidden; X lists hidden jobs."
                if hidden
                else f"Job {job_id} is listed."
            )

        self.carry_out(act)

    def action_hidden(self) -> None:
        self._with_hidden = not self._with_hidden
        self.action_refresh()

    def action_delete(self) -> None:
        if (job := self.current) is not None:
            self.look_what_goes(job.id)

    @worker("ask", newest=False, opens=True)
    async def look_what_goes(self, job_id: int) -> None:
        """Show what is deleted with a job, and delete it if the user agrees.

        If it cannot be deleted, show the reason, and hide it instead.
        """

        def load(store: Store) -> tuple[str, bool]:
            from workbench.jobs.tidying import what_goes

            try:
                return what_goes(store, job_id), True
            except JobError as error:
                return str(error), False

        message, is_deletable = await self.with_store(load)
        if is_deletable:
            self.ask_to_delete(job_id, message)
        else:
            self.ask_to_hide(job_id, message)

    def ask_to_hide(self, job_id: int, why: str) -> None:
        confirm(
            self,
            with_store_name(self.app, why),
            "hide it",
            "keep it",
            lambda: self.hide(job_id, hidden=True),
        )

    def ask_to_delete(self, job_id: int, goes: str) -> None:
        def act(store: Store) -> str:
            from workbench.jobs.tidying import delete

            delete(store, job_id)
            return f"Deleted job {job_id}."

        question = f"{goes[:1].upper()}{goes[1:]}.\n\nDelete it?"
        confirm(self, question, "delete it", "keep it", lambda: self.carry_out(act))

    def action_retry(self) -> None:
        if (job := self.current) is not None:
            self.go_on(job.id, only_failed=True)

    def say_elsewhere(self, job_id: int, about: str, *, only_failed: bool) -> None:
        """Show whom a job from elsewhere asks and who pays, and resume it if the user agrees."""
        confirm(
            self,
            f"{about}\n\nContinue it here?",
            "continue",
            "not now",
            lambda: self.go_on(job_id, only_failed=only_failed, consent=True),
        )

    def action_at_once(self) -> None:
        """Ask how many units may be in progress at once."""
        job = self.current
        if job is None:
            return

        def bound(store: Store, maximum: int) -> str:
            store.jobs.set_concurrency(job.id, maximum or None)
            return (
                f"Job {job.id}: "
                f"{f'at most {maximum:,} at once' if maximum else 'the original number at once'}."
            )

        dialog = NumberDialog(f"Job {job.id}: batch size", job.concurrency, steps_at_once(job))
        with_answer(
            self,
            dialog,
            lambda new_maximum: self.carry_out(lambda store: bound(store, new_maximum)),
        )

    def action_log(self) -> None:
        if (job := self.current) is not None:
            self.show_log(job.id)

    def _started(self, job: int) -> None:
        say(self, f"Started job {job}. It continues when you leave.")
        self._new, self._begun[job] = job, time.monotonic()
        self._probed.add(job)
        self.action_refresh()

    @worker("log", opens=True)
    async def show_log(self, job_id: int) -> None:
        def load(path: Path) -> str:
            from workbench.jobs import launch

            return launch.log_tail(path, job_id, lines=1000)

        text = await to_thread(load, self.store_path) or "The job has not written anything yet."
        self.app.push_screen(
            TextScreen(f"Log of job {job_id}", Content(visible(text, lines=True)), wide=True)
        )

    @worker("look")
    async def look(self) -> None:
        jobs, logs = await self.with_store(read_jobs)
        self._reading, self._seen = False, True
        self._offer(jobs)
        self._with_hidden = self._with_hidden or any(
            job.hidden and job.id == self._new for job in jobs
        )
        visible_jobs = [job for job in jobs if self._with_hidden or not job.hidden]
        self._jobs = {str(job.id): job for job in visible_jobs}
        self._logs = logs
        self.trouble.hide()
        numbers = [job.id for job in visible_jobs]
        row = numbers.index(self._new) if self._new in numbers else None
        self._new = None if row is not None else self._new
        self.table.leave_out(
            *(() if any(is_timed(job) for job in visible_jobs) else ("rate", "eta"))
        )
        self.table.show([job_record(job) for job in visible_jobs], at=row)
        self.table.display = bool(visible_jobs)
        self.title_bar.note = _note(jobs, len(jobs) - len(visible_jobs))
        self._show_details()
        self._show_probes()

    def _show_probes(self) -> None:
        """Show the probe of a job that was just started here once, as it waits for a decision."""
        for number in sorted(self._probed):
            job = self._jobs.get(str(number))
            if job is not None and self.is_current:
                self._probed.discard(number)
                if job.probe is not None and job.probe.asks and (job.active or job.question):
                    probe_screen = ProbeScreen(number)
                    probe_screen.EXPECTED = False
                    self.app.push_screen(probe_screen)
                    return


def _note(jobs: Sequence[Job], hidden: int) -> str:
    """Return the note in the title: numbers of active, waiting and hidden jobs."""
    n_active = sum(job.active and not job.question for job in jobs)
    n_waiting = sum(bool(job.question) for job in jobs)
    counts = {"active": n_active, "waiting for you": n_waiting, "hidden": hidden}
    return " · ".join(f"{count} {label}" for label, count in counts.items() if count)


def read_jobs(store: Store) -> tuple[tuple[Job, ...], dict[int, str]]:
    """Return the jobs, and the end of each one's log."""
    from workbench.jobs import launch

    launch.reap()
    jobs = store.jobs.list()
    return jobs, {job.id: launch.log_tail(store.path, job.id, lines=LOG_LINES) for job in jobs}
