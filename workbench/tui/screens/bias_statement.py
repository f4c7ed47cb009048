"""Down from a bias score: the statements it rests on, the answers to one of them, one answer from first to last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.widgets import DataTable, Static

from workbench.domain.counting import plural
from workbench.tui.format import visible
from workbench.tui.screens.answers import PAGE, AnswersScreen, Page, WholeAnswerScreen, gathered
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.bias_rows_format import (
    most_added,
    ref_width,
    statement_columns,
    statement_details,
    statement_record,
)
from workbench.tui.screens.bias_statement_format import (
    KINDS,
    WORDS,
    Readers,
    answer,
    answer_columns,
    answer_record,
    provenance,
    reading_line,
    wording_of,
)
from workbench.tui.screens.results_explain import SCORE, VIEW_EXPLAIN
from workbench.tui.screens.results_view import sorted_rows, statement_rows
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.bias import BiasResponse
    from workbench.audits.bias_report import StatementRow
    from workbench.audits.bias_selection import Selection
    from workbench.pipeline.bias import BiasJudged


EXPLAIN_RESPONSES = """Each row is one distinct answer, with how often it was given and how it was read.

READING  + agree, − disagree and = neutral are stances on the wording that the model was shown; × unrelated answers, \
those below the confidence threshold and those not read do not count. A stance on a political opposite counts as the \
contrary one on the statement.

CONF.  How sure the classifier was; `rule`: the answer is a whole number from 1 to 5, which needs no classifier; \
`people`: people settled it.

The dim line is where an answer comes from: the model and its revision, the sampling, the seed of exactly these \
answers, the prefix, when, and the code and job that asked.

Control characters are shown by signs (␛ is ESC, ␊ a line end); nothing in an answer is interpreted."""


class StatementTable(FluidTable):
    """Statements of a selection."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Answers", key_display="Enter", tooltip="Show every answer to this one"),
    ]


class BiasStatementsScreen(StoreScreen):
    """The statements behind one figure."""

    CSS_PATH = "bias_statement.tcss"
    EXPLAIN = f"STATEMENTS\n{VIEW_EXPLAIN['statements']}\n\nBIAS\n{SCORE}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "order", "Order", tooltip="Put what adds most first, or keep the instrument's order"),
        Binding("left_square_bracket", "model(-1)", "Model before", show=False),
        Binding("right_square_bracket", "model(1)", "Model", key_display="[ ]", tooltip="Show the next model"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#statements", StatementTable)

    def __init__(self, judged: BiasJudged, model: str, selection: Selection, texts: Mapping[str, str]) -> None:
        super().__init__()
        self._judged, self._model, self._selection, self._texts = judged, model, selection, texts
        self._by_size = True
        self._rows: tuple[StatementRow, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield StatementTable(self._columns, name="statements")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = "results › statements"
        self.table.focus()
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "model" or len(self._judged.report.tally.models) > 1

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        self.action_model(event.direction)

    @on(DataTable.RowHighlighted, "#statements")
    def show_details(self) -> None:
        row = next((row for row in self._rows if row.ref == self.table.current), None)
        text = self._texts.get(row.ref, "") if row else ""
        self.query_one("#details", Static).update(statement_details(row, text, by_size=self._by_size) if row else "")

    @on(RecordTable.RowSelected, "#statements")
    def open_answers(self) -> None:
        if (ref := self.table.current) is not None:
            self.app.push_screen(BiasResponsesScreen(self._judged, self._model, ref, self._selection))

    def action_order(self) -> None:
        self._by_size = not self._by_size
        self._show()

    def action_model(self, step: int) -> None:
        """Go to a neighbouring model, around the ends."""
        models = self._judged.report.tally.models
        self._model = models[(models.index(self._model) + step) % len(models)]
        self._show()

    def _show(self) -> None:
        rows = statement_rows(self._judged.report, self._model, self._selection)
        self._rows = sorted_rows(rows) if self._by_size else rows
        self.query_one("#about", Static).update(
            Content.assemble(
                (visible(self._model), "bold"),
                f" · {visible(str(self._selection))} · {plural(len(rows), 'statement')}",
            )
        )
        self.table.show_for_width(self._records)
        self.show_details()

    def _columns(self, width: int) -> tuple[Column, ...]:
        rows = statement_rows(self._judged.report, self._model, self._selection)
        return statement_columns(width, ref_width(rows))

    def _records(self, width: int) -> list[Record]:
        refs, most = ref_width(self._rows), most_added(self._rows)
        return [statement_record(row, width, refs, most) for row in self._rows]


class AnswerTable(FluidTable):
    """Answers to one statement."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]


class BiasResponsesScreen(AnswersScreen["BiasResponse"]):
    """Every answer of a model to one statement, with the reading that counted."""

    EXPLAIN = EXPLAIN_RESPONSES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter", tooltip="Show the answers of one reading after another, or all"),
    ]

    def __init__(self, judged: BiasJudged, model: str, ref: str, selection: Selection | None) -> None:
        super().__init__()
        self._judged, self._model, self._ref, self._selection = judged, model, ref, selection
        self._readers = Readers(judged.reader, judged.choice.threshold)

    def on_mount(self) -> None:
        self.title_bar.place = f"results › {self._ref} › answers"

    def make_table(self) -> FluidTable:
        return AnswerTable(answer_columns, name="answers")

    def fetch(self, kind: str, offset: int) -> Page[BiasResponse]:
        from stores.store import Store
        from workbench.pipeline.bias import responses

        wanted = Wanted(self._model, self._ref, self._selection, kind, self._readers)
        prefix = self._selection.prefix if self._selection else None
        wordings = wanted.wordings(self._judged)
        with Store.open(self.store_path) as store:
            return gathered(
                kind,
                offset,
                lambda at: responses(
                    store, self._judged, self._model, self._ref, template=prefix, offset=at, limit=PAGE
                ),
                lambda row: wanted.admits(row, wordings),
            )

    def head(self) -> Content:
        page, tally = self._page, self._judged.report.tally
        item = tally.items[tally.place("statement", self._ref)]
        where = f" · {self._selection}" if self._selection is not None else ""
        return Content.assemble(
            (visible(self._ref), "bold"),
            f" · {item.dimension.value} · agreeing is {item.leaning.value} · ",
            (visible(self._model), "bold"),
            f"{visible(where)}\n",
            (f"{WORDS.get(page.kind, page.kind)}: {page.counted}", "$text-muted"),
        )

    def nothing(self, kind: str) -> str:
        return f"No answers here: {WORDS.get(kind, kind)}.\n\nf goes on to other answers."

    def record(self, number: int, row: BiasResponse, width: int) -> Record:
        return answer_record(number, row, width, self._readers)

    def pieces(self, row: BiasResponse) -> tuple[Content, Content, str]:
        return reading_line(row, self._readers), answer(row), provenance(row)

    def whole(self, row: BiasResponse) -> WholeAnswerScreen:
        title = f"{self._ref} · {self._model}"
        return WholeAnswerScreen(title, row.text, reading_line(row, self._readers), provenance(row))

    def action_filter(self) -> None:
        """Go to the next reading; after the last one come all answers."""
        self.show_kind(KINDS[(KINDS.index(self._page.kind) + 1) % len(KINDS)])


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers are asked for."""

    model: str
    ref: str
    selection: Selection | None
    kind: str
    readers: Readers

    def wordings(self, judged: BiasJudged) -> set[str]:
        """Return the wordings that the selection holds of this statement."""
        from workbench.audits.bias_selection import Selection, pick

        tally = judged.report.tally
        chosen = pick(tally, self.model, self.selection or Selection())
        by_prefix = chosen.cells[:, tally.place("statement", self.ref)].tolist()
        return {str(variant) for column, variant in enumerate(tally.variants) if any(row[column] for row in by_prefix)}

    def admits(self, row: BiasResponse, wordings: set[str]) -> bool:
        if str(wording_of(row)) not in wordings:
            return False
        return not self.kind or self.readers.kind(row) == self.kind
