"""The questionnaire itself: questions with their roles, scales with what each answer means, and changing both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static

from workbench.domain.questionnaires import Meaning, Question, Scale
from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError
from workbench.tui.row_keys import row_parts
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.dialogs import ConfirmScreen
from workbench.tui.screens.editor_dialog import as_person
from workbench.tui.screens.questionnaire_explain import QUESTIONS
from workbench.tui.screens.questionnaire_questions_format import (
    Held,
    about,
    change_words,
    mapping_words,
    question_columns,
    question_details,
    question_record,
    remapped,
    scale_columns,
    scale_details,
    scale_records,
    with_change,
)
from workbench.tui.widgets.record_table import Record

if TYPE_CHECKING:
    from stores.store import Store

Write = Callable[["Store"], object]


class QuestionTable(FluidTable):
    """The questions, in the order in which they are asked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "screen.change('role')", "Role", tooltip="Make it a target or a context question"),
        Binding("l", "screen.change('leaning')", "Leaning", tooltip="Say which pole a yes leans to"),
        Binding("t", "screen.change('form')", "Form", tooltip="Ask it as a question, or whether one agrees"),
        Binding("a", "screen.change('scale')", "Scale", tooltip="Take the next scale"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor"


class ScaleTable(FluidTable):
    """The answers of all scales."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "screen.means('yes')", "Yes", tooltip="This answer means yes"),
        Binding("n", "screen.means('no')", "No", tooltip="This answer means no"),
        Binding("e", "screen.means('neutral')", "Neutral", tooltip="This answer is neutral"),
        Binding("m", "screen.means('missing')", "Missing", tooltip="This answer counts as none"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor"


class QuestionsScreen(StoreScreen):
    """Questions, or scales."""

    CSS_PATH = "questionnaire_questions.tcss"
    PLACE = "results › questionnaire › questions"
    EXPLAIN = QUESTIONS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "turn", "Questions/scales", key_display="Tab", tooltip="Show the scales, or the questions"),
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    questions = query_one("#questions", QuestionTable)
    scales = query_one("#scales", ScaleTable)

    @dataclass
    class Found(Message):
        """The questionnaire is read."""

        held: Held

    @dataclass
    class Changed(Message):
        """A change is kept."""

        said: str

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._held: Held | None = None

    def compose_body(self) -> ComposeResult:
        yield Static("Reading …", id="about", markup=False)
        yield QuestionTable(question_columns, name="questions")
        yield ScaleTable(scale_columns, name="scales")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.scales.display = False
        self.questions.focus()
        self.action_refresh()

    @on(Found)
    def put(self, event: Found) -> None:
        self._held = event.held
        self.trouble.hide()
        self.query_one("#about", Static).update(about(event.held, self._instrument))
        self.questions.show_for_width(self._question_records)
        self.scales.show_for_width(lambda _: scale_records(event.held))
        self.follow()

    @on(Changed)
    def say_changed(self, event: Changed) -> None:
        self.notify(event.said, markup=False, timeout=4)
        self.action_refresh()

    @on(DataTable.RowHighlighted)
    def follow(self) -> None:
        of = self._held
        if of is None:
            return
        details = self.query_one("#details", Static)
        if self.scales.display:
            found = self._answer()
            details.update(scale_details(of, *found) if found else "")
        elif (question := of.question(self.questions.current)) is not None:
            details.update(question_details(question, of))

    def action_turn(self) -> None:
        """Show the other table."""
        scales = not self.scales.display
        self.scales.display, self.questions.display = scales, not scales
        (self.scales if scales else self.questions).focus()
        self.follow()
        self.refresh_bindings()

    def action_change(self, what: str) -> None:
        """Take the next role, leaning, form or scale of the question under the cursor."""
        of, question = self._held, self._held.question(self.questions.current) if self._held else None
        if of is None or question is None:
            return
        after = with_change(question, what, tuple(of.scales))
        if after == question:
            self.notify("There is no other one.", timeout=3)
            return
        said = change_words(question, after, of.people)
        self._confirm(said, lambda person: self._keep_question(after, what, person))

    def action_means(self, meaning: str) -> None:
        """Give the answer under the cursor another meaning."""
        of, found = self._held, self._answer()
        if of is None or found is None:
            return
        scale, value = found
        wanted, option = Meaning(meaning), scale.option(value)
        if option is None or option.meaning is wanted:
            self.notify(f"It means {meaning} already.", timeout=3, markup=False)
            return
        after = remapped(scale, value, wanted)
        self._confirm(mapping_words(of, scale, value, wanted), lambda person: self._keep_scale(after, person))

    def action_refresh(self) -> None:
        self.read_questions()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        if self._held is None:
            self.query_one("#about", Static).update("")

    def _answer(self) -> tuple[Scale, str] | None:
        """Return the scale and the answer under the cursor."""
        key = self.scales.current
        if self._held is None or key is None:
            return None
        name, value = row_parts(key)
        return self._held.scales[name], value

    def _question_records(self, width: int) -> list[Record]:  # noqa: ARG002
        of = self._held
        return [question_record(n, q, of) for n, q in enumerate(of.questions, 1)] if of else []

    def _confirm(self, said: str, then: Callable[[str], None]) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                as_person(self, self._instrument, then)

        self.app.push_screen(ConfirmScreen(said, "Change it", "Leave it"), answered)

    def _keep_question(self, after: Question, what: str, person: str) -> None:
        value = getattr(after, what)
        given = {what: value}
        self.write(
            lambda store: store.questionnaires.set_question(self._instrument, after.ref, person=person, **given),
            f"{after.ref}: {what} is {getattr(value, 'value', value) or 'neither'} now",
        )

    def _keep_scale(self, scale: Scale, person: str) -> None:
        self.write(
            lambda store: store.questionnaires.set_scale(self._instrument, scale, person=person),
            f"the scale {scale.name} is changed",
        )

    @work(thread=True, exit_on_error=False, group="write")
    def write(self, change: Write, said: str) -> None:
        from stores.store import Store

        with Store.open(self.store_path) as store:
            change(store)
        self.post_message(self.Changed(said))

    @work(thread=True, exclusive=True, exit_on_error=False, group="questions")
    def read_questions(self) -> None:
        from stores.store import Store
        from workbench.errors import UsageError

        with Store.open(self.store_path) as store:
            tallied = store.questionnaires.tallied(self._instrument)
            scales = store.questionnaires.scales(self._instrument)
            instrument = store.instruments.get(self._instrument)
        if tallied is None:
            raise UsageError(f"{self._instrument} has no question with a role")
        texts = {s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language))}
        topics = {s.ref: s.topic or "" for s in instrument.statements}
        self.post_message(self.Found(Held(tallied, scales, texts, topics)))
