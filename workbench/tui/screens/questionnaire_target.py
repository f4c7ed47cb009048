"""One target question of one model under every condition: where its tokens go, bias, accuracy, wordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.questionnaires import Role
from workbench.tui.neighbours import beside, following
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.questionnaire_details import question_of
from workbench.tui.screens.questionnaire_explain import TARGET
from workbench.tui.screens.questionnaire_tables import figure_of, spread_of
from workbench.tui.screens.questionnaire_target_format import (
    ConditionRow,
    about,
    condition_columns,
    condition_record,
    row_details,
)
from workbench.tui.screens.questionnaire_view import Loaded
from workbench.tui.widgets.record_table import Record, RecordTable

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Condition
    from workbench.pipeline.questionnaire import QuestionnaireJudged

DRAWING = "Resampling …"


class ConditionTable(FluidTable):
    """The conditions under which the question was asked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Respondents", key_display="Enter", tooltip="Show who was predicted"),
    ]


class TargetScreen(StoreScreen):
    """One question: conditions as rows, and the pictures of the one under the cursor."""

    CSS_PATH = "questionnaire_target.tcss"
    PLACE = "results › questionnaire › question"
    EXPLAIN = TARGET
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "condition(-1)", "Condition before", show=False),
        Binding("right_square_bracket", "condition(1)", "Condition", key_display="[ ]", tooltip="Next condition"),
        Binding("n", "question(1)", "Next question", tooltip="Show the next question"),
        Binding("N", "question(-1)", "Question before", show=False),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#conditions", ConditionTable)

    @dataclass
    class WasShown(Message):
        """The figures of a question are worked out."""

        model: str
        target: str
        rows: tuple[ConditionRow, ...]
        whole: bool = True
        "False: other conditions are being worked out"

    def __init__(self, loaded: Loaded, model: str, target: str, condition: str) -> None:
        super().__init__()
        self._loaded, self._model, self._target, self._condition = loaded, model, target, condition
        self._rows: tuple[ConditionRow, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield ConditionTable(condition_columns, name="conditions")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self._ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "condition" or len(self._rows) > 1

    @on(WasShown)
    def put(self, event: WasShown) -> None:
        if (event.model, event.target) != (self._model, self._target):
            return
        self._rows = event.rows
        self.title_bar.note = "" if event.whole else DRAWING
        names = [str(row.condition) for row in self._rows]
        at = names.index(self._condition) if self._condition in names else 0
        self.table.show_for_width(self._records, at=at)
        self.follow()
        self.refresh_bindings()

    @on(DataTable.RowHighlighted, "#conditions")
    def follow(self) -> None:
        row = self.current
        if row is not None:
            self._condition = str(row.condition)
            words = row_details(row, question_of(self._loaded, self._target), self.size.width - 2)
            self.query_one("#details", Static).update(words)
        elif not self.title_bar.note:
            self.query_one("#details", Static).update("This model was not asked this question.")

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Show the same question of the model beside."""
        if (name := beside(self._loaded.models, self._model, event.direction)) != self._model:
            self._model = name
            self._ask()

    @on(RecordTable.RowSelected, "#conditions")
    def open_respondents(self) -> None:
        from workbench.tui.screens.questionnaire_respondents import RespondentsScreen

        if (row := self.current) is not None:
            self.app.push_screen(RespondentsScreen(self._loaded, self._model, self._target, str(row.condition)))

    def action_condition(self, step: int) -> None:
        """Go to a neighbouring condition, around the ends."""
        if self._rows:
            self.table.show_row((self.table.cursor_row + step) % len(self._rows))

    def action_question(self, step: int) -> None:
        """Go to a neighbouring question, around the ends."""
        refs = [question.ref for question in self.judged.questionnaire.of_role(Role.TARGET)]
        self._target = following(refs, self._target, step)
        self._ask()

    @property
    def current(self) -> ConditionRow | None:
        """The condition under the cursor."""
        key = self.table.current
        return next((row for row in self._rows if str(row.condition) == key), None)

    @property
    def judged(self) -> QuestionnaireJudged:
        assert self._loaded.judged is not None
        return self._loaded.judged

    def _ask(self) -> None:
        loaded, target = self._loaded, self._target
        words = about(
            target,
            loaded.texts.get(target, ""),
            loaded.topics.get(target, ""),
            question_of(loaded, target),
            self._model,
            several=len(loaded.models) > 1,
        )
        self.query_one("#about", Static).update(words)
        self.title_bar.note = DRAWING
        self.work_out(self._model, target, self._condition)

    def _records(self, width: int) -> list[Record]:
        return [condition_record(row, width) for row in self._rows]

    @work(thread=True, exclusive=True, exit_on_error=False, group="figures")
    def work_out(self, model: str, target: str, condition: str) -> None:
        """Show the conditions that are worked out at once, where the one that is looked at is among them."""
        worker, every = get_current_worker(), self.judged.reports[model].conditions
        at_hand = [each for each in every if self.judged.reports[model].is_measured(each)]
        some = at_hand if condition in map(str, at_hand) and len(at_hand) < len(every) else []
        for conditions in (some, every) if some else (every,):
            rows = condition_rows(self.judged, model, target, conditions)
            if not worker.is_cancelled:
                self.post_message(self.WasShown(model, target, rows, whole=len(conditions) == len(every)))


def condition_rows(
    judged: QuestionnaireJudged, model: str, target: str, conditions: Sequence[Condition]
) -> tuple[ConditionRow, ...]:
    """Return one question of one model under each of these conditions."""
    from workbench.audits.questionnaire_score import measure
    from workbench.pipeline.questionnaire_asked import token_shares

    report = judged.reports[model]
    measure((report, condition) for condition in conditions)
    rows = []
    for condition in conditions:
        figure = figure_of(report.condition(condition), target)
        if figure is not None and figure.respondents:
            spread = spread_of(report.variability(condition), target)
            rows.append(ConditionRow(condition, figure, token_shares(judged, model, target, condition), spread))
    return tuple(rows)
