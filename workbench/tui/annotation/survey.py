"""A person answers a survey: one statement at a time, agree or disagree, on disk before the next one shows.

As on the screen of annotators, an answer and the step to the next statement are one call in the desk's thread, and a
key counts only if it was pressed after the statement was painted: what was typed ahead never answers a statement that
nobody saw. Nothing here says which variant of which statement is shown, or what anybody or any model said of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.annotation.survey import Design
from workbench.errors import StoreError, StoreGone, WorkbenchError
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.survey_desk import SurveyDesk, View, waiting
from workbench.tui.annotation.survey_format import (
    EXPLAIN,
    NAME_COLUMNS,
    end_text,
    intro_text,
    key_row,
    last_line,
    progress_line,
    title_note,
)
from workbench.tui.format import literal, visible
from workbench.tui.kit.base import StoreScreen, as_trouble, offer_copy
from workbench.tui.kit.person_dialog import PersonDialog

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.runs.respondent import Question, Respondent

T = TypeVar("T")

GLANCE_S = 0.1
"after a statement was painted; nobody answers what they see faster, but a key that bounces does"
CLICK_S = 0.5
"the same for the mouse: the second half of a double click"
WAITING_S = 0.5
"from which the screen says that it waits for the store"
CLOSING_S = 2.0
"for which leaving waits for the store"
MOST_LINES = 10  # that a statement grows to; what is longer scrolls
GIVEN = {True: "agree", False: "disagree"}


class SurveyScreen(StoreScreen):
    """One person's answers to an instrument."""

    CSS_PATH = "survey.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "answer(True)", "Agree", tooltip="Agree with the statement"),
        Binding("d", "answer(False)", "Disagree", tooltip="Disagree with the statement"),
        Binding("s", "skip", "Skip", tooltip="Skip: put it behind all others; the second time, leave it unanswered"),
        Binding("z", "undo", "Take back", tooltip="Take back the last answer, and the one before"),
        Binding("enter", "go_on", "Go on", key_display="Enter", tooltip="Begin; at the end, hand over to the next"),
        Binding("n", "further", "More", tooltip="Go on with statements that you were not asked about"),
        Binding("j,down", "scroll_text(1)", "Line below", show=False),
        Binding("k,up", "scroll_text(-1)", "Line above", show=False),
        Binding("escape,q", "leave", "Leave", key_display="q", tooltip="Leave; all answers are saved"),
        Binding("h,0,1,2,3,4,5,6,7,8,9", "nothing", show=False),
    ]

    statement = query_one("#statement", ReadText)
    keys_line = query_one("#keys", Static)
    pace = query_one("#pace", Static)
    text = query_one("#text", Static)

    @dataclass
    class Known(Message):
        """Who has something left to answer."""

        names: tuple[str, ...]

    @dataclass
    class Shown(Message):
        """What was asked for is committed, and this is before the person now."""

        view: View
        said: str

    @dataclass
    class Failed(Message):
        """Something could not be done."""

        error: BaseException
        lost: str
        "what was not written, for the person; nothing where all was"
        said: str = ""
        "what was written before it failed"

    def __init__(self, instrument: str, design: Design | None = None, respondent: str | None = None) -> None:
        super().__init__()
        self.PLACE = f"survey · {literal(instrument, NAME_COLUMNS).plain}"
        self.instrument = instrument
        self._design = design or Design()
        self._name = respondent
        self._desk: SurveyDesk | None = None
        self._view: View | None = None
        self._begun = False
        "whether the introduction was read"
        self._busy = True
        self._painted = False
        self._seen_at = 0.0
        self._said = ""
        self._timer: Timer | None = None

    def compose_body(self) -> ComposeResult:
        with Vertical(id="room"):
            with VerticalScroll(id="page", can_focus=False):
                yield Static(id="text", markup=False)
            with Vertical(id="sheet"):
                yield ReadText(name="statement", most=MOST_LINES)
                yield Static(id="more", markup=False)
                yield Static(id="keys", markup=False)
            yield Static(id="pace", markup=False)

    def on_mount(self) -> None:
        self.add_class("-reading")
        if self._name is None:
            self.look()
        else:
            self._sit(self._name)

    async def on_unmount(self) -> None:
        await self._rise()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        view = self._view if self._begun else None
        asking = view is not None and view.question is not None
        if action in ("answer", "skip"):
            return asking
        if action == "undo":
            return view is not None
        if action == "go_on":
            return not asking
        return action != "further" or (view is not None and bool(view.further))

    @property
    def ready(self) -> bool:
        """Whether a key pressed now would count."""
        return self._accepts(monotonic())

    def on_key(self, event: events.Key) -> None:
        """Take answers, with or without Caps Lock; drop keys that came before the statement was seen."""
        if not self._begun or self._view is None or event.key.lower() not in ("a", "d", "s", "z"):
            return
        event.stop()
        key = event.key.lower()
        if self._accepts(event.time):
            if key in "ad":
                self._give(key == "a", event.time)
            elif key == "s":
                self.action_skip()
            else:
                self.action_undo()

    @on(Known)
    def ask_name(self, event: Known) -> None:
        """Ask who answers; nobody answering leaves the screen."""
        note = "Your name or a pseudonym, the same each time. Answers are kept under it."
        self.app.push_screen(PersonDialog(event.names, None, note=note, what="respondent"), self._take_name)

    @on(Shown)
    def show_view(self, event: Shown) -> None:
        """Put what comes next on the screen. Keys count again when it was painted."""
        self._answered()
        self.trouble.hide()
        self._view, self._said = event.view, event.said
        self.title_bar.note = title_note(self._name or "", event.view.progress)
        question = event.view.question
        self.set_class(not self._begun or question is None, "-reading")
        if not self._begun and question is not None:
            self.text.update(intro_text(self._name or "", event.view.progress))
        elif question is None:
            self._begun = True
            self.text.update(end_text(self._name or "", event.view))
            self.query_one("#page", VerticalScroll).scroll_home(animate=False)
        else:
            self._show_question(question)
        self._painted = question is None or not self._begun
        self._seen_at = monotonic() if self._painted else self._seen_at
        self._show_pace(Content(""))
        self.refresh_bindings()

    @on(ReadText.Painted)
    def see(self, event: ReadText.Painted) -> None:
        """Let keys count once the statement was painted, and count the time from there."""
        self._painted, self._seen_at = True, event.time
        rest = self.statement.max_scroll_y > 0
        self.query_one("#more", Static).update(
            f"{len(self.statement.lines):,} lines, space shows more" if rest else "", layout=False
        )

    @on(Failed)
    def show_failure(self, event: Failed) -> None:
        """Say what went wrong, and whether anything was not written. The statement stays where it is."""
        self._answered()
        error = as_trouble(event.error)
        if isinstance(error, StoreGone):
            offer_copy(self.app, error)
        if event.lost:
            error = StoreError(f"{event.lost} was NOT saved. The statement stays here: press the key again.\n\n{error}")
        elif event.said:
            error = StoreError(f"{event.said}; only the next one could not be read: F5 tries again.\n\n{error}")
            self._painted = False  # its statement is done with: keys wait for the next one
        self.failed(error)

    def failed(self, error: WorkbenchError) -> None:
        if self._view is None:
            self.text.update("" if self._name is None else "Enter asks for another name; F5 tries again.")
        super().failed(error)

    def store_gone(self) -> None:
        self._said = ""
        self._show_pace(Content.styled("✗ the store is gone", "bold $text-error"))

    def store_moved(self) -> None:
        """Let the person press the key again: what was before them stays there."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        if self._desk is not None:
            self._desk.move(self.store_path)

    def action_answer(self, agrees: bool) -> None:
        """Answer by the mouse, the footer or by name."""
        at = monotonic()
        if self._accepts(at) and at >= self._seen_at + CLICK_S:
            self._give(agrees, at)

    def action_skip(self) -> None:
        """Put the statement behind all others; the second time, leave it without an answer."""
        if self._view is None or self._view.question is None or not self._accepts(monotonic()):
            return
        position, elapsed = self._view.question.position, self._elapsed(monotonic())
        self._ask(lambda respondent: respondent.skip(position, elapsed), "skipped", lost="the skip")

    def action_undo(self) -> None:
        """Take back the newest answer or skip."""
        desk = self._desk
        if self._view is None or desk is None or not self._accepts(monotonic()):
            return
        if not self._view.progress.steps:
            self._show_pace(Content("there is nothing to take back"))
            return

        def undo(respondent: Respondent) -> Message:
            question = respondent.undo()
            view = desk.view(respondent) if question is None else desk.view_of(respondent, question)
            return self.Shown(view, "taken back")

        self._submit(undo, lost="the undo")

    def action_go_on(self) -> None:
        """Begin; at the end, let the next person sit down."""
        if self._busy:
            return
        if self._view is not None and not self._begun:
            self._begun = True
            self.show_view(self.Shown(self._view, ""))
        elif self._name is not None and (self._view is None or self._view.question is None):
            self.run_worker(self._hand_over(), exclusive=True, group="hand over")

    def action_further(self) -> None:
        """Go on with statements that this person was not asked about."""
        desk = self._desk
        if desk is None or self._view is None or not self._view.further or self._busy:
            return
        self._busy = True
        self._hear(desk.go_further(), lambda view: self.Shown(view, ""), "")

    def action_scroll_text(self, lines: int) -> None:
        shown = self.query_one("#page", VerticalScroll) if self.has_class("-reading") else self.statement
        shown.scroll_relative(y=lines, animate=False)

    def action_refresh(self) -> None:
        """Go on where the store could not be opened or read."""
        if self._desk is not None and not self._busy and self.trouble.shown:
            self._ask(lambda _: None, self._said, lost="")
        elif self._desk is None and self._name is None and self.trouble.shown:
            self.trouble.hide()
            self.look()

    def action_nothing(self) -> None:
        """Take keys that lead away elsewhere: one of them pressed by mistake must not."""

    async def action_leave(self) -> None:
        """Leave. What is being saved is saved first."""
        await self.app.run_action("back")

    def _take_name(self, name: str | None) -> None:
        if name is None:
            self.call_later(self.action_leave)
        else:
            self._sit(name)

    def _sit(self, name: str) -> None:
        """Seat a person, and read where they are."""
        self._name = name
        self.title_bar.note = title_note(name, None)
        self.text.update("Opening the survey …")
        self._desk = SurveyDesk(self.store_path, self.instrument, name, self._design)
        self._ask(lambda _: None, "", lost="")

    async def _rise(self) -> None:
        if self._desk is not None:
            desk, self._desk = self._desk, None
            await asyncio.wait([asyncio.wrap_future(desk.close())], timeout=CLOSING_S)

    async def _hand_over(self) -> None:
        """Let this person go, and ask for the next one: nothing of the one before stays on the screen."""
        self._busy = True
        await self._rise()
        self._view, self._name, self._begun, self._said = None, None, False, ""
        self.title_bar.note = ""
        self.trouble.hide()
        self.text.update("")
        self.pace.update("")
        self.refresh_bindings()
        self.look()

    def _accepts(self, at: float) -> bool:
        return not self._busy and self._begun and self._painted and at >= self._seen_at + GLANCE_S

    def _elapsed(self, at: float) -> int:
        return max(0, round(1000 * (at - self._seen_at)))

    def _give(self, agrees: bool, at: float) -> None:
        """Commit an answer, then go on; `at` is when its key was pressed."""
        if self._view is None or self._view.question is None:
            return
        position, elapsed = self._view.question.position, self._elapsed(at)
        self._ask(
            lambda respondent: respondent.answer(position, agrees, elapsed),
            f"{GIVEN[agrees]} (saved)",
            lost=GIVEN[agrees],
        )

    def _ask(self, step: Callable[[Respondent], None], said: str, *, lost: str) -> None:
        """Take a step, then show what comes next."""
        desk = self._desk
        if desk is None:
            return

        def ask(respondent: Respondent) -> Message:
            step(respondent)
            try:
                return self.Shown(desk.view(respondent), said)
            except Exception as error:  # the step is on disk: the one thing that a person must not be told wrongly
                return self.Failed(error, "", said)

        self._submit(ask, lost)

    def _submit(self, ask: Callable[[Respondent], Message], lost: str) -> None:
        """Have the desk do something; its answer comes as a message."""
        if self._desk is not None:
            self._busy = True
            self._hear(self._desk.submit(ask), lambda message: message, lost)

    def _hear(self, future: Future[T], told: Callable[[T], Message], lost: str) -> None:
        def answer(done: Future[T]) -> None:
            error = done.exception()
            self.post_message(told(done.result()) if error is None else self.Failed(error, lost))

        future.add_done_callback(answer)
        self._timer = self.set_timer(WAITING_S, self.still_waits)

    def _answered(self) -> None:
        self._busy = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def still_waits(self) -> None:
        """Say that one waits, unless the answer came while the clock's message was on its way."""
        if self._busy:
            self._show_pace(Content.styled("waiting for the store; nothing is lost …", "bold"))

    def _show_question(self, question: Question) -> None:
        self.statement.show(visible(question.text, lines=True))
        self.statement.focus()
        self.keys_line.update(key_row(question.taken_back), layout=False)

    def _show_pace(self, instead: Content) -> None:
        """Show how far this person is and what was done last, or something else instead of that."""
        if instead.plain or self._view is None:
            self.pace.update(instead, layout=False)
            return
        said = last_line(self._said, self._view.progress.steps) if self._said else Content("")
        self.pace.update(progress_line(self._view.progress, said), layout=False)

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        worker = get_current_worker()
        names = waiting(self.store_path, self.instrument)
        if not worker.is_cancelled:
            self.post_message(self.Known(names))
