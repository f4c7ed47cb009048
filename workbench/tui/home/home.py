"""Home: the state of the project at a glance, and the next step where something is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench import registry
from workbench.errors import WorkbenchError
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.home.home_lines import home_lines, is_to_do
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.status import say
from workbench.tui.leading import lead
from workbench.tui.overview import Judgement, Overview, import_shipped, read_judgement, read_overview
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.runs.run_rows import Run

REFRESH_S = 1.0
IDLE_TICKS = 5
"seconds between two looks while no job is active: another terminal may start one"
JUDGING = "Judging the answers …"
WAITING = "Looking for what waits for an auditor …"

STORE_HELP = section("screens-home", "Home")
PEOPLE_HELP = section("screens-home", "Home: people and classifiers")
MODE_OF = {
    "instrument": "statements",
    "job": "jobs",
    "responses": "audit",
    "labels": "annotate",
    "classifier": "results",
}
"kind of a line -> where Enter on it goes, where that is not a mode of this name"


def explain() -> str:
    """Return what the lines mean, those of every audit included."""
    audits = (audit.home_help for audit in registry.every_audit() if audit.home_help)
    return "\n".join((STORE_HELP, *audits, PEOPLE_HELP))


def keys_to_audits() -> list[BindingType]:
    """Return the keys that lead to the results of audits: their digits, and a letter."""
    return [
        Binding(
            ",".join(filter(None, (place.key, place.letter))),
            f"app.go('{place.mode}')",
            place.label or place.mode.capitalize(),
            show=bool(place.label),
            tooltip=place.tooltip,
        )
        for place in registry.places()
    ]


class FactList(OptionList):
    """The lines of Home."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "Open", key_display="Enter")]


class HomeScreen(StoreScreen):
    """What there is, what runs, and what waits."""

    CSS_PATH = "home.tcss"
    PLACE = "home"
    EXPLAIN = explain()
    FOOTER_FIRST = ("select", "review")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("2,s", "app.go('statements')", "Statements", tooltip="Go to Statements"),
        Binding("3", "app.go('jobs')", "Jobs", tooltip="Go to Jobs"),
        Binding("5,a", "app.go('annotate')", "Label", tooltip="Go to Annotate: queues, labels, adjudication"),
        Binding("i", "import", "Import", tooltip="Import statements, questions or answers from files, with a preview"),
        Binding("j", "row(1)", "Row below", show=False, tooltip="Go to the next line"),
        Binding("k", "row(-1)", "Row above", show=False, tooltip="Go to the previous line"),
        Binding("g", "edge(-1)", "First row", show=False, tooltip="Go to the first line"),
        Binding("G", "edge(1)", "Last row", show=False, tooltip="Go to the last line"),
        *keys_to_audits(),
        Binding("V", "review", "Review", tooltip="Open the review queue: what an auditor reviews first"),
    ]

    facts = query_one("#facts", OptionList)
    notice = query_one("#notice", Static)

    @dataclass
    class Seen(Message):
        """The store was read."""

        overview: Overview

    @dataclass
    class Judged(Message):
        """Checks and verdicts are there."""

        judgement: Judgement

    @dataclass
    class Imported(Message):
        """Something came into the store."""

        sentence: str

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None
        self._judgement: Judgement | None = None
        self._judged_for: tuple[object, object] | None = None
        self._began: str | None = None
        "line that the cursor was put on before all lines were known: unless a person moves it, it goes on to a task"
        self._reading = self._judging = self._every_task = False
        self._review_wanted = False
        "V was pressed before it was known what waits"
        self._ticks = 0
        self._timer: Timer | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(id="notice", markup=False)
        yield FactList(Option(Content.styled("Opening the store …", "dim"), id="opening"), id="facts", markup=False)

    def on_mount(self) -> None:
        self.facts.focus()
        self._timer = self.set_interval(REFRESH_S, self.tick)

    def on_screen_resume(self) -> None:
        self._look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "review" or (self._overview is not None and bool(self._overview.answers))

    def on_resize(self) -> None:
        self._show()

    def tick(self) -> None:
        """Look again: each second while a job is active, now and then otherwise."""
        self._ticks += 1
        active = self._overview is not None and bool(self._overview.active)
        if self.is_current and (active or self._ticks % IDLE_TICKS == 0):
            self._look()

    @on(Seen)
    def show_overview(self, event: Seen) -> None:
        self._reading = False
        self._overview = event.overview
        self.trouble.hide()
        self.show_notice()
        self._show()
        if not self._judging and self._is_new(event.overview):
            self._judging = True
            self.title_bar.note = JUDGING
            self.judge()

    def _is_new(self, overview: Overview) -> bool:
        """Return whether something is to be judged anew, and take note of it. What people do counts at once, what an
        active job writes counts when it has ended. A job may end without an answer more.
        """
        jobs = tuple((job.id, job.state, job.question, job.active or job.done) for job in overview.jobs)
        before, work = self._judged_for, (overview.work, jobs)
        made = before[1] if before is not None and overview.active else overview.made
        self._judged_for = (work, made)
        return self._judged_for != before

    def show_notice(self) -> None:
        """Show what the store has to say, and what of a person's own keys is not used."""
        said = (self._overview.notice if self._overview is not None else "", getattr(self.app, "notice", ""))
        notice = "\n".join(filter(None, said))
        self.notice.update(Content(visible(notice, lines=True)))
        self.notice.set_class(bool(notice), "-shown")

    @on(Judged)
    def show_judgement(self, event: Judged) -> None:
        self._judgement, self._judging = event.judgement, False
        self.title_bar.note = ""
        self._show()
        if self._review_wanted and self.is_current:
            self.action_review()
        self._review_wanted = False

    @on(Imported)
    def say_imported(self, event: Imported) -> None:
        self.title_bar.note = ""
        say(self, event.sentence)
        self.action_refresh()

    @on(OptionList.OptionSelected)
    def open_line(self, event: OptionList.OptionSelected) -> None:
        kind = (event.option_id or "").partition(":")[0]
        mode = MODE_OF.get(kind, kind)
        if event.option_id == "next:import":
            self._import_shipped()
        elif event.option_id == "next:job":
            self.app.switch_mode("jobs")
        elif kind == "more":
            self._every_task = True
            self._show()
        elif kind == "todo":
            self._begin((event.option_id or "").partition(":")[2])
        elif (run := self._run_of(event.option_id or "")) is not None:
            lead(self.app, (mode, run))
        elif mode in self.app.MODES:
            self.app.switch_mode(mode)

    def _run_of(self, key: str) -> Run | None:
        """Return the run that a line is about."""
        audits = self._judgement.audits if self._judgement is not None else ()
        return next((one.run for of in audits for one in of.lines if f"{of.mode}:{one.key}" == key), None)

    def _begin(self, key: str) -> None:
        """Go where a task is done."""
        tasks = self._judgement.tasks if self._judgement is not None else ()
        task = next((one for one in tasks if one.key == key), None)
        if task is not None:
            lead(self.app, task.route)

    def failed(self, error: WorkbenchError) -> None:
        if self._judging:
            self._judged_for = None  # the next look at the store tries again
        self._reading = self._judging = self._review_wanted = False
        self.title_bar.note = ""
        super().failed(error)
        if self._overview is None:
            self.facts.clear_options()

    def action_row(self, step: int) -> None:
        """Go to the next line, or the one before."""
        if step > 0:
            self.facts.action_cursor_down()
        else:
            self.facts.action_cursor_up()

    def action_edge(self, end: int) -> None:
        """Go to the last line, or the first one."""
        if end > 0:
            self.facts.action_last()
        else:
            self.facts.action_first()

    def action_refresh(self) -> None:
        """Read the store again and judge it anew, whether or not it has changed."""
        self._judged_for = None
        self._look()

    def action_review(self) -> None:
        """Open the review queue that the list of what to do names, else that of the run that was answered last.

        Where that list is still being worked out, the queue opens when it is there.
        """
        if self._judgement is None and any(one.group == "judge" and not one.is_finished for one in self.workers):
            self._review_wanted, self.title_bar.note = True, WAITING
            return
        lead(self.app, self.review_route())

    def review_route(self) -> Sequence[object]:
        """Return what leads to the review queue that the list of what to do names, as far as it is known."""
        tasks = self._judgement.tasks if self._judgement is not None else ()
        return next((one.route for one in tasks if one.route[0] == "review"), ("review",))

    def action_import(self) -> None:
        self.app.push_screen(screen("import", lambda sentence: self.post_message(self.Imported(sentence))))

    def _import_shipped(self) -> None:
        self.title_bar.note = "Importing veldania …"
        self.bring_shipped()

    def _look(self) -> None:
        if not self._reading:
            self._reading = True
            self.look()

    def _show(self) -> None:
        if self._overview is None:
            return
        width = self.size.width or 80
        lines = home_lines(self._overview, self._judgement, width, every_task=self._every_task)
        self.refresh_bindings()
        held = [option.id for option in self.facts.options]
        if held == [key for key, _ in lines]:
            for key, prompt in lines:
                if self.facts.get_option(key).prompt != prompt:
                    self.facts.replace_option_prompt(key, prompt)
            return
        at = self.facts.highlighted_option.id if self.facts.highlighted_option else None
        keys = [key for key, _ in lines]
        ends = next((n for n, key in enumerate(keys) if not is_to_do(key)), 0)
        options = [Option(prompt, id=key) for key, prompt in lines]
        self.facts.set_options([*options[:ends], *([None] * bool(ends)), *options[ends:]])
        first = next((n for n, key in enumerate(keys) if is_to_do(key)), 0)
        stays = at in keys and at != self._began
        self.facts.highlighted = keys.index(str(at)) if stays else first
        self._began = keys[first] if self._judgement is None else None

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        self.post_message(self.Seen(read_overview(self.store_path)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="judge")
    def judge(self) -> None:
        self.post_message(self.Judged(read_judgement(self.store_path)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="import")
    def bring_shipped(self) -> None:
        self.post_message(self.Imported(import_shipped(self.store_path)))
