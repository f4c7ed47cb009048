"""A person answers a survey: one statement at a time, agree or disagree, on disk before the next one shows.

Nothing here says which variant of which statement is shown, or what anybody or any model said of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from workbench.annotation.survey import Design
from workbench.errors import WorkbenchError
from workbench.tui.annotation.annotate_format import title_note
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.item_screen import GUIDE, LEAVE, SKIP, UNDO, ItemScreen
from workbench.tui.annotation.survey_format import EXPLAIN
from workbench.tui.annotation.survey_session import RespondentSession, waiting
from workbench.tui.kit.person_dialog import PersonDialog


class SurveyScreen(ItemScreen[RespondentSession]):
    """One person's answers to an instrument, after an introduction; then the next person's."""

    EXPLAIN = EXPLAIN
    OPENING = ""
    CLOSED = "Enter asks for another name; F5 tries again."
    NO_STEPS = "nothing to undo"
    UNIT = "statement"
    STATEMENT_LINES = 10
    TIME_LEFT = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "go_on", "Continue", key_display="Enter", tooltip="Begin; at the end, hand over to the next person"
        ),
        Binding("n", "further", "More", tooltip="Continue with statements that you have not answered"),
        replace(SKIP, tooltip="Skip: move it to the end; the second time, leave it unanswered"),
        UNDO,
        GUIDE,
        LEAVE,
    ]

    @dataclass
    class Known(Message):
        """Who has something left to answer."""

        names: tuple[str, ...]

    def __init__(self, instrument: str, design: Design | None = None, respondent: str | None = None) -> None:
        super().__init__("survey", instrument, respondent)
        self.instrument = instrument
        self._design = design or Design()

    def on_mount(self) -> None:
        if self._who is None:
            self.look()
        else:
            self._welcome(self._who)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "go_on":
            return not self.asking
        if action == "further":
            return self._view is not None and bool(self._view.more)
        return super().check_action(action, parameters)

    @property
    def text(self) -> ReadText:
        return self.statement

    @on(Known)
    def ask_name(self, event: Known) -> None:
        """Ask who answers; nobody answering leaves the screen."""
        note = "Your name or a pseudonym, the same each time. Your answers are stored under it."
        self.app.push_screen(PersonDialog(event.names, None, note=note, what="respondent"), self._take_name)

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        if self._who is None:
            self.show_page(Content(""))

    def action_go_on(self) -> None:
        """Begin; at the end, let the next person answer."""
        if self._busy or self.asking:
            return
        if self._view is not None and self._view.item is not None and self._codebook is not None:
            self.show_view(self.Shown(replace(self._view, page=None), self._codebook, ""))
        elif self._who is not None:
            self.run_worker(self._hand_over(), exclusive=True, group="hand over", exit_on_error=False)

    def action_further(self) -> None:
        """Go on with statements that this person was not asked about."""
        if self._view is not None and self._view.more and not self._busy:
            self.ask(lambda session: session.go_further(), "", lost="")

    def action_refresh(self) -> None:
        if self._thread is None and self._who is None and self.trouble.shown:
            self.trouble.hide()
            self.look()
        else:
            super().action_refresh()

    def _take_name(self, name: str | None) -> None:
        if name is None:
            self.call_later(self.action_leave)
        else:
            self._welcome(name)

    def _welcome(self, name: str) -> None:
        """Begin a person's session, where they are."""
        self._who = name
        self.title_bar.note = title_note(name, None)
        self.show_page(Content("Opening the survey …"))
        self.begin(lambda path: RespondentSession(path, self.instrument, name, self._design))
        self.go_on("")

    async def _hand_over(self) -> None:
        """End this person's session, and ask for the next one: nothing of the one before stays on the screen."""
        self._busy = True
        await self.end()
        self._view, self._who, self._said = None, None, ""
        self.title_bar.note = ""
        self.trouble.hide()
        self.show_page(Content(""))
        self.say(Content(""))
        self.refresh_bindings()
        self.look()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self) -> None:
        worker = get_current_worker()
        names = waiting(self.store_path, self.instrument)
        if not worker.is_cancelled:
            self.post_message(self.Known(names))
