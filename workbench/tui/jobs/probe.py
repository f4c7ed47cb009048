"""The screen of a job's probe: its answers with readings, before the run starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import literal
from workbench.tui.jobs.job_acts import JobActs, form_of
from workbench.tui.kit.base import in_background, say_below, worker
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.rulings.ruling import RuledText, RulingKeys, ruling_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.record_table import Record, RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.domain.probe_results import ProbedAnswer

CHOICE = "R starts the run · e changes the settings · S stops the job · Esc leaves the job waiting"
REFRESH_S = 1.0
RULED = 3
"number of visible rulings on a wording"
ROW = 200
"maximum number of characters of an answer in its row"

EXPLAIN = section("screens-jobs", "A probe")


class ProbeScreen(RulingKeys, JobActs):
    """The screen of a probe's answers. It waits for a probe that is not there yet."""

    CSS_PATH = "probe.tcss"
    PLACE = "jobs › probe"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("R", "go_on", "Continue", tooltip="Start the run, or continue it"),
        Binding("e", "edit", "Settings", tooltip="Open the form as filled in, and change it"),
        Binding("S", "cancel", "Stop", tooltip="Stop the job; its work stays"),
        Binding("escape", "back", "Back", key_display="Esc", tooltip="Leave the job waiting"),
    ]

    told = query_one("#told", Static)
    table = query_one("#answers", RecordTable)
    details = query_one("#details", Static)

    def __init__(self, job_id: int) -> None:
        super().__init__()
        self._job_id = job_id
        self._job: Job | None = None
        self._shown: tuple[ProbedAnswer, ...] = ()
        self._reading = False

    def compose_body(self) -> ComposeResult:
        yield Static("Reading the job …", id="told", markup=False)
        yield RecordTable(
            [
                RecordColumn("read_as", "read as", 12),
                RecordColumn("statement", "statement", 10),
                RecordColumn("variant", "wording", 14, least=100),
                RecordColumn("template", "template", 14, least=120),
                RecordColumn("answer", "answer", None),
            ],
            name="answers",
        )
        with VerticalScroll(id="below", can_focus=False):
            yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.set_interval(REFRESH_S, self.tick)
        self.action_refresh()
        self.read_standing()

    def tick(self) -> None:
        """Poll the store until a decision is possible, or nothing more comes."""
        job = self._job
        if self.is_current and (job is None or (job.active and not job.question)):
            with in_background():
                self.action_refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        job = self._job
        if action in ("go_on", "edit"):
            return job is not None and bool(job.question or job.ended_badly)
        if action == "cancel":
            return job is not None and (job.active or bool(job.question))
        return action != "rule" or bool(self._shown)

    def ruled_place(self) -> RuledPlace | None:
        """Return the wording of an answer, and the answer itself once the run has stored it."""
        row_key, job = self.table.current, self._job
        if row_key is None or job is None:
            return None
        probed_answer = self._shown[int(row_key)]
        order = ("swapped",) if probed_answer.order == "swapped" else ()
        names = (probed_answer.statement, probed_answer.variant, probed_answer.template, *order)
        return RuledPlace((str(job.spec.get("instrument", "")),), names, text=probed_answer.text)

    def show_standing(self) -> None:
        self._show_details()

    def ruled_here(self) -> Sequence[str]:
        place = self.ruled_place()
        return self.standing.on_place(replace(place, text=None)) if place is not None else ()

    @on(RecordTable.RowHighlighted)
    def _show_details(self) -> None:
        row_key = self.table.current
        if row_key is None or int(row_key) >= len(self._shown):
            self.details.update("")
            return
        probed_answer = self._shown[int(row_key)]
        answer_text = (
            f"{probed_answer.statement} · {probed_answer.variant} · {probed_answer.template}, "
            f"labels {probed_answer.order} · read as: {probed_answer.read_as}"
        )
        reason_text = f"\n{probed_answer.reason}" if probed_answer.reason else ""
        content = Content.assemble(
            "\n", visible(probed_answer.text or "(empty)", lines=True), visible(reason_text)
        )
        heading_lines = [
            Content.styled(visible(answer_text), "$text-muted"),
            *ruling_lines(self.ruled_here()[:RULED]),
        ]
        self.details.update(Content("\n").join([*heading_lines, content]))

    @on(RecordTable.RowSelected)
    def open_answer(self) -> None:
        """Show an answer in full."""
        probed_answer = self._shown[int(self.table.current or 0)]
        text = Content(visible(probed_answer.text or probed_answer.reason or "(empty)", lines=True))
        title = f"{probed_answer.statement} · {probed_answer.variant} · {probed_answer.read_as}"
        self.app.push_screen(RuledText(title, text, wide=True, rulings=self.ruled_here()))

    def say_begun(self, job_id: int, *, only_failed: bool) -> None:  # noqa: ARG002
        self.say_done(f"Job {job_id} continues.")

    def say_done(self, sentence: str) -> None:
        say_below(self, sentence)
        self.app.pop_screen()

    def say_elsewhere(self, job_id: int, about: str, *, only_failed: bool) -> None:  # noqa: ARG002
        self.say_done(f"{about} R in the list of jobs continues it here.")

    def action_refresh(self) -> None:
        if not self._reading:
            self._reading = True
            self.look()

    def action_go_on(self) -> None:
        self.go_on(self._job_id)

    def action_edit(self) -> None:
        """Open the form as it was filled. A job started from it replaces this one."""
        if self._job is not None:
            # The screen stays until then, because leaving it would end its workers.
            form = form_of(self._job.kind, like=self._job.id)
            with_answer(self, form, lambda job: self.replace(self._job_id, job))

    def action_cancel(self) -> None:
        self.stop(self._job_id)

    def action_back(self) -> None:
        if self._job is not None and self._job.question:
            say_below(self, f"Job {self._job_id} waits for your decision: press Enter on it.")
        self.app.pop_screen()

    @worker("look")
    async def look(self) -> None:
        def load(store: Store) -> Job:
            from workbench.jobs import launch

            launch.reap()
            return store.jobs.get(self._job_id)

        job = await self.with_store(load)
        self._reading, self._job = False, job
        self.trouble.hide()
        self.told.update(Content(visible(told(job), lines=True)))
        probe_result = job.probed
        rows = (
            ()
            if probe_result is None
            else tuple(
                sorted(probe_result.answers, key=lambda probed_answer: not probed_answer.fault)
            )
        )
        if rows != self._shown:
            self._shown = rows
            self.table.show(
                [_record(number, probed_answer) for number, probed_answer in enumerate(rows)]
            )
        self.table.display = bool(rows)
        self.title_bar.note = visible(str(job.spec.get("model", "")))
        self.refresh_bindings()
        self._show_details()


def told(job: Job) -> str:
    """Return the text of a job's probe, with the possible decisions."""
    probe_result = job.probed
    if probe_result is None and job.active:
        return (
            f"Job {job.id} starts with a probe of some twenty answers. "
            f"{job.message or 'Its worker is starting …'}"
        )
    if probe_result is None:
        return ended(job)
    next_text = f"\n{CHOICE}" if job.question else f"\n{ended(job)}"
    return f"{probe_result.describe()}.{next_text}"


def ended(job: Job) -> str:
    """Return the state of a job with its reason, and what to do if it ended badly."""
    reason_text = f": {job.message}" if job.message else ""
    advice = "\ne opens the form as filled in; R tries again" if job.ended_badly else ""
    return f"Job {job.id} {job.stands}{reason_text}{advice}"


def _record(number: int, one: ProbedAnswer) -> Record:
    style = "" if one.fault else "bold"
    text = " ".join((one.text or one.reason or "(empty)")[:ROW].split())
    cells = (
        literal(one.read_as, 12, style),
        literal(one.statement, 10),
        literal(one.variant, 14),
        literal(one.template, 14),
        literal(text or "(blanks)", ROW),
    )
    return str(number), cells
