"""The people behind a figure: what each answered, what was predicted of it, the missed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.domain.statements import ORIGINAL, VariantId
from workbench.tui.format import visible
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.questionnaire_asked_format import asked_about, asked_columns, asked_record, missed_first
from workbench.tui.screens.questionnaire_explain import RESPONDENTS
from workbench.tui.screens.questionnaire_tables import condition_words
from workbench.tui.screens.questionnaire_view import Loaded, condition_of
from workbench.tui.widgets.record_table import Record, RecordTable

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import AskedRow
    from workbench.audits.questionnaire_score import Report

READING = "Reading …"
ALL_RIGHT = "Nobody's answer was missed here.\n\nf shows everybody."
NOBODY = """Nobody was asked in this wording under this condition.

w goes on to the next wording, ] to the next condition."""


class RespondentTable(FluidTable):
    """Respondents."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Prompt", key_display="Enter", tooltip="Show the prompt and its tokens"),
    ]


class RespondentsScreen(StoreScreen):
    """Who was predicted on one question under one condition."""

    CSS_PATH = "questionnaire_respondents.tcss"
    EXPLAIN = RESPONDENTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "missed", "Missed only", tooltip="Show the missed answers alone, or all"),
        Binding("left_square_bracket", "condition(-1)", "Condition before", show=False),
        Binding("right_square_bracket", "condition(1)", "Condition", key_display="[ ]", tooltip="Next condition"),
        Binding("w", "wording", "Wording", tooltip="Show another wording of the question"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#respondents", RespondentTable)

    @dataclass
    class Found(Message):
        """Who was asked is known."""

        condition: str
        wording: VariantId
        rows: tuple[AskedRow, ...]

    def __init__(self, loaded: Loaded, model: str, target: str, condition: str) -> None:
        super().__init__()
        self._loaded, self._model, self._target, self._condition = loaded, model, target, condition
        self._wording = ORIGINAL
        self._rows: tuple[AskedRow, ...] = ()
        self._missed_only = False

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield RespondentTable(asked_columns, name="respondents")
        yield Static(READING, id="empty", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self._ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "wording":
            return len(self._report.predictions.wordings) > 1
        return action != "condition" or len(self._report.conditions) > 1

    @on(Found)
    def put(self, event: Found) -> None:
        if (event.condition, event.wording) == (self._condition, self._wording):
            self._rows = missed_first(event.rows)
            self._show()

    @on(RecordTable.RowSelected, "#respondents")
    def open_prompt(self) -> None:
        from workbench.tui.screens.questionnaire_prompt import PromptScreen

        row = next((row for row in self._rows if row.respondent == self.table.current), None)
        if row is not None:
            self.app.push_screen(PromptScreen(self._loaded, self._model, row.probe, row.respondent, row.value))

    def action_missed(self) -> None:
        self._missed_only = not self._missed_only
        self._show()

    def action_condition(self, step: int) -> None:
        """Go to a neighbouring condition, around the ends."""
        names = [str(condition) for condition in self._report.conditions]
        self._condition = names[(names.index(self._condition) + step) % len(names)]
        self._ask()

    def action_wording(self) -> None:
        """Go to the next wording of the question; after the last one comes the original."""
        wordings = self._report.predictions.wordings
        at = wordings.index(self._wording) if self._wording in wordings else -1
        self._wording = wordings[(at + 1) % len(wordings)]
        self._ask()

    @property
    def _report(self) -> Report:
        assert self._loaded.judged is not None
        return self._loaded.judged.reports[self._model]

    def _ask(self) -> None:
        self.title_bar.place = f"{self._target} › {condition_words(self._condition)} › respondents"
        self.title_bar.note = visible(self._model)
        self.read_rows(self._condition, self._wording)

    def _show(self) -> None:
        rows = [row for row in self._rows if not (self._missed_only and row.correct)]
        text = self._loaded.texts.get(self._target, "")
        words = asked_about(self._target, str(self._wording), text, self._rows, missed_only=self._missed_only)
        self.query_one("#about", Static).update(words)
        empty = self.query_one("#empty", Static)
        empty.update(ALL_RIGHT if self._rows else NOBODY)
        empty.display = not rows
        self.table.display = bool(rows)
        self.table.show_for_width(self._records)
        self.refresh_bindings()

    def _records(self, width: int) -> list[Record]:
        return [asked_record(row, width) for row in self._rows if not (self._missed_only and row.correct)]

    @work(thread=True, exclusive=True, exit_on_error=False, group="asked")
    def read_rows(self, condition: str, wording: VariantId) -> None:
        from workbench.pipeline.questionnaire_asked import asked

        worker, judged = get_current_worker(), self._loaded.judged
        found = condition_of(self._report, condition)
        if judged is None or found is None:
            return
        rows = asked(judged, self._model, self._target, found, wording)
        if not worker.is_cancelled:
            self.post_message(self.Found(condition, wording, rows))
