"""Down from a cell of response biases: its questions, the largest change first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Input, Static
from textual.worker import get_current_worker

from workbench.domain.choices import Bias
from workbench.tui.neighbours import beside, following
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.response_bias_explain import QUESTIONS
from workbench.tui.screens.response_bias_questions_format import (
    Narrowing,
    about,
    counted,
    details,
    question_columns,
    question_record,
    topics_of,
)
from workbench.tui.screens.response_bias_view import Loaded, Place, cell_of, places
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.pipeline.response_bias_questions import QuestionRow

READING = "Reading the questions …"


class ChoiceTable(FluidTable):
    """The questions of a cell."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Show both forms with their answers"),
    ]


class CellQuestionsScreen(StoreScreen):
    """The questions of one bias or error of typing, of one model."""

    CSS_PATH = "response_bias_questions.tcss"
    PLACE = "results › response bias › questions"
    EXPLAIN = QUESTIONS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "condition(1)", "Bias/typos", tooltip="Show the bias, or the next error of typing"),
        Binding("C", "condition(-1)", "Condition before", show=False),
        Binding("b", "bias(1)", "Next bias", tooltip="Show the next bias"),
        Binding("B", "bias(-1)", "Bias before", show=False),
        Binding("t", "topic", "Topic", tooltip="Show the questions of the next topic, or all"),
        Binding("slash", "find", "Find", key_display="/", tooltip="Find in keys, topics and questions"),
        Binding("escape", "back", "Back", key_display="Esc"),
    ]

    table = query_one("#questions", ChoiceTable)
    box = query_one("#find", Input)

    @dataclass
    class Found(Message):
        """The questions of a cell are there."""

        subject: str
        place: Place
        rows: tuple[QuestionRow, ...]

    def __init__(self, loaded: Loaded, subject: str, place: Place) -> None:
        super().__init__()
        self._loaded, self._subject, self._place = loaded, subject, place
        self._rows: tuple[QuestionRow, ...] = ()
        self._narrowing = Narrowing()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield Static(id="counted", markup=False)
        yield Input(
            placeholder="find in keys, topics, questions · Enter to the list · Esc clears", id="find", compact=True
        )
        yield ChoiceTable(self._columns, name="questions")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self._ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "condition":
            return len(self._conditions()) > 1
        if action == "bias":
            return len(self._biases()) > 1
        return action != "topic" or len(topics_of(self._rows)) > 2

    @on(Found)
    def put(self, event: Found) -> None:
        if (event.subject, event.place) != (self._subject, self._place):
            return
        self._rows = event.rows
        self.title_bar.note = ""
        if self._narrowing.topic not in topics_of(self._rows):
            self._narrowing = replace(self._narrowing, topic=None)
        self.table.show_anew(self._records)
        self._show(at=None)
        self.refresh_bindings()

    @on(DataTable.RowHighlighted, "#questions")
    def follow(self) -> None:
        row = self.current
        words = details(row, self._place[0]) if row is not None else self._nothing()
        self.query_one("#details", Static).update(words)

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Show the same cell of the next model that has it."""
        names = [name for name in self._loaded.subjects if cell_of(self._loaded, name, self._place) is not None]
        if (name := beside(names, self._subject, event.direction)) != self._subject:
            self._subject = name
            self._ask()

    @on(RecordTable.RowSelected, "#questions")
    def open(self) -> None:
        from workbench.tui.screens.response_bias_question import QuestionScreen

        if (row := self.current) is not None:
            keys = tuple(one.key for one in self._listed)
            self.app.push_screen(QuestionScreen(self._loaded, self._subject, self._place, row.key, keys))

    @on(Input.Changed, "#find")
    def find_now(self, event: Input.Changed) -> None:
        self._narrowing = replace(self._narrowing, find=event.value)
        self._show(at=0)

    @on(Input.Submitted, "#find")
    def to_list(self) -> None:
        self.table.focus()

    def action_condition(self, step: int) -> None:
        """Go to the bias or the next error of typing that this model was asked."""
        held = self._conditions()
        self._go(following(held, self._place, step))

    def action_bias(self, step: int) -> None:
        """Go to the next bias, under the same condition where that was asked."""
        held = self._biases()
        bias, variant = following(held, (self._place[0], self._place[2]), step)
        same = (bias, self._place[1], variant)
        there = cell_of(self._loaded, self._subject, same) is not None
        self._go(same if there else (bias, None, variant))

    def action_topic(self) -> None:
        held = topics_of(self._rows)
        self._narrowing = replace(self._narrowing, topic=following(held, self._narrowing.topic))
        self._show(at=0)

    def action_find(self) -> None:
        self.box.add_class("-shown")
        self.box.focus()

    def action_back(self) -> None:
        """Close the search; else go back."""
        if self.box.has_focus or self.box.value:
            self.box.value = ""
            self.box.remove_class("-shown")
            self.table.focus()
        else:
            self.dismiss(None)

    @property
    def current(self) -> QuestionRow | None:
        """The question under the cursor."""
        key = self.table.current
        return next((row for row in self._rows if row.key == key), None)

    @property
    def _listed(self) -> list[QuestionRow]:
        return [row for row in self._rows if self._narrowing.admits(row)]

    def _conditions(self) -> list[Place]:
        bias, _, variant = self._place
        return [place for place in self._asked() if (place[0], place[2]) == (bias, variant)]

    def _biases(self) -> list[tuple[Bias, str]]:
        return list(dict.fromkeys((bias, variant) for bias, _, variant in self._asked()))

    def _asked(self) -> list[Place]:
        return [place for place in places(self._loaded) if cell_of(self._loaded, self._subject, place) is not None]

    def _go(self, place: Place) -> None:
        if place != self._place:
            self._place = place
            self._ask()

    def _ask(self) -> None:
        self.query_one("#about", Static).update(about(self._loaded, self._subject, self._place))
        self.title_bar.note = READING
        self.refresh_bindings()
        self.read_questions(self._subject, self._place)

    def _show(self, *, at: int | None) -> None:
        words = counted(self._rows, self._listed, self._narrowing)
        self.query_one("#counted", Static).update(words)
        self.table.show_for_width(self._records, at=at)
        self.follow()

    def _columns(self, width: int) -> tuple[Column, ...]:  # noqa: ARG002
        return question_columns(topics=any(row.topic for row in self._rows))

    def _records(self, width: int) -> list[Record]:  # noqa: ARG002
        return [question_record(row) for row in self._listed]

    def _nothing(self) -> str:
        if self.title_bar.note or not self._rows:
            return ""
        return "No question is like that. Esc clears the search, t goes on to the next topic."

    @work(thread=True, exclusive=True, exit_on_error=False, group="questions", description="")
    def read_questions(self, subject: str, place: Place) -> None:
        from workbench.pipeline.response_bias_questions import questions

        worker = get_current_worker()
        judged = self._loaded.judged
        if judged is not None:
            rows = questions(judged, subject, place)
            if not worker.is_cancelled:
                self.post_message(self.Found(subject, place, rows))
