"""One form of a question as the model was asked it, and its answers as they were written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.tui.screens.answers import WholeAnswerScreen, copied
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.response_bias_explain import FORM
from workbench.tui.screens.response_bias_prompt_format import (
    AnswerRow,
    FormAsked,
    Origin,
    as_copied,
    form_about,
    form_columns,
    form_record,
    nothing,
    prompt_text,
    provenance,
    reading_line,
)
from workbench.tui.screens.response_bias_view import Loaded
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.run_rows import ResponseRow
    from workbench.pipeline.response_bias import Subject
    from workbench.pipeline.response_bias_questions import ArmShown, QuestionShown

READING = "Reading …"


class AnswerTable(FluidTable):
    """The distinct answers, or the likeliest next tokens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]
    whole = True
    "whether a row stands for answers that may be longer than the row; a token is not"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or self.whole


class FormScreen(StoreScreen):
    """What was asked, and what was answered."""

    CSS_PATH = "response_bias_prompt.tcss"
    PLACE = "results › response bias › prompt"
    EXPLAIN = FORM
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "other", "Other form", tooltip="Show the other form of the question"),
        Binding("tab", "turn", "Text", key_display="Tab", tooltip="Go to the prompt or the answers, to scroll"),
        Binding("y", "copy", "Copy", tooltip="Copy the prompt as it was put"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#answers", AnswerTable)
    text = query_one("#prompt", LongText)

    @dataclass
    class Found(Message):
        """A form is read."""

        changed: bool
        asked: FormAsked

    def __init__(self, loaded: Loaded, shown: QuestionShown) -> None:
        super().__init__()
        self._loaded, self._shown = loaded, shown
        self._changed = False
        self._asked: FormAsked | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(READING, id="about", markup=False)
        yield LongText("", name="prompt")
        yield AnswerTable(self._columns, name="answers")
        yield Static(id="empty", markup=False)
        yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self._ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        asked = self._asked
        if action == "turn":
            return asked is not None and bool(asked.rows)
        return action != "copy" or asked is not None

    @on(Found)
    def put(self, event: Found) -> None:
        if event.changed != self._changed:
            return
        self._asked = asked = event.asked
        self.title_bar.note = ""
        self.query_one("#about", Static).update(form_about(self._shown, self._arm))
        self.text.show(prompt_text(asked))
        empty = self.query_one("#empty", Static)
        empty.update(nothing(asked))
        empty.display, self.table.display = not asked.rows, bool(asked.rows)
        self.table.whole = not asked.exact
        self.table.show_anew(self._records)
        self.table.show_row(0)
        (self.table if asked.rows else self.text).focus()
        self.follow()
        self.refresh_bindings()

    @on(DataTable.RowHighlighted, "#answers")
    def follow(self) -> None:
        if self._asked is not None:
            self.query_one("#provenance", Static).update(provenance(self._asked, self.table.current))

    @on(RecordTable.RowSelected, "#answers")
    def show_whole(self) -> None:
        asked, key = self._asked, self.table.current
        if asked is not None and key is not None and not asked.exact:
            row = asked.rows[int(key)]
            said = provenance(asked, key)
            self.app.push_screen(WholeAnswerScreen(self._shown.row.key, row.text, reading_line(row), said))

    def action_other(self) -> None:
        self._changed = not self._changed
        self._ask()

    def action_turn(self) -> None:
        (self.text if self.focused is self.table else self.table).focus()

    def action_copy(self) -> None:
        if self._asked is not None:
            copied(self, as_copied(self._asked))

    @property
    def _arm(self) -> ArmShown:
        return self._shown.changed if self._changed else self._shown.original

    def _ask(self) -> None:
        self.title_bar.note = READING
        judged = self._loaded.judged
        if judged is not None:
            self.read_form(judged.subjects[self._shown.subject], self._arm, self._changed)

    def _columns(self, width: int) -> tuple[Column, ...]:
        return form_columns(width, exact=self._asked is not None and self._asked.exact)

    def _records(self, width: int) -> list[Record]:
        asked = self._asked
        return [form_record(place, row, asked, width) for place, row in enumerate(asked.rows)] if asked else []

    @work(thread=True, exclusive=True, exit_on_error=False, group="form", description="")
    def read_form(self, subject: Subject, arm: ArmShown, changed: bool) -> None:
        worker = get_current_worker()
        asked = form_asked(self.store_path, subject, arm)
        if not worker.is_cancelled:
            self.post_message(self.Found(changed, asked))


def form_asked(path: Path, subject: Subject, arm: ArmShown) -> FormAsked:
    """Read one form's prompt with its answers, or with the likeliest next tokens where no answer was drawn."""
    from stores.store import Store
    from workbench.readers.choice_letter import spelled

    letters = "".join(option.letter for option in arm.options)
    run, probe = subject.run, arm.probe
    if run is None or probe is None:
        return FormAsked(None, arm.choice.lettered() if arm.choice else "", letters)
    parts = (run.model, run.version, run.backend, run.dtype, str(run.sampling))
    origin = None
    with Store.open(path) as store:
        prompt = store.runs.prompt(probe)
        if subject.way == "exact":
            scores = store.scores.of_probe(run, probe)
            tokens = scores.table.tokens if scores is not None and scores.table is not None else ()
            rows = tuple(AnswerRow(text, 0, spelled(text), math.exp(log)) for text, log in tokens)
            if scores is not None:
                origin = Origin("", scores.at, scores.code_version, scores.job, scores.template)
        else:
            rows = tuple(_drawn(row) for row in store.runs.responses(run, probe, []))
    return FormAsked(prompt, "", letters, rows, exact=subject.way == "exact", asked=parts, origin=origin)


def _drawn(row: ResponseRow) -> AnswerRow:
    """Return an answer with the letter that is read from it."""
    from workbench.readers.choice_letter import letter_of

    origin = Origin(f"seed {row.seed}", row.at, row.code_version, row.job, row.template)
    return AnswerRow(row.text, row.count, letter_of(row.text), math.nan, origin)
