"""Down from a bias score: the statements it rests on, the answers to one of them, one answer from first to last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.tui.format import plural, visible
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
    EMPTY,
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
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.bias import BiasResponse
    from workbench.audits.bias_report import StatementRow
    from workbench.audits.bias_selection import Selection
    from workbench.pipeline.bias import BiasJudged

PAGE = 200

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


@dataclass(frozen=True, slots=True)
class Page:
    """Some answers of a kind, and where the next begin."""

    kind: str
    rows: tuple[BiasResponse, ...]
    following: int | None
    "offset of what was not read yet; None: nothing is left"


class AnswerTable(FluidTable):
    """Answers to one statement."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]


class BiasResponsesScreen(StoreScreen):
    """Every answer of a model to one statement, with the reading that counted."""

    CSS_PATH = "bias_statement.tcss"
    EXPLAIN = EXPLAIN_RESPONSES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter", tooltip="Show the answers of one reading after another, or all"),
        Binding("y", "copy", "Copy", tooltip="Copy the answer as it was written"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#answers", AnswerTable)

    @dataclass
    class Found(Message):
        """A page is there."""

        page: Page
        more: bool

    def __init__(self, judged: BiasJudged, model: str, ref: str, selection: Selection | None) -> None:
        super().__init__()
        self._judged, self._model, self._ref, self._selection = judged, model, ref, selection
        self._readers = Readers(judged.reader, judged.choice.threshold)
        self._page = Page("", (), None)
        self._loading = True

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield AnswerTable(answer_columns, name="answers")
        yield Static("Reading the answers …", id="empty", markup=False)
        with VerticalScroll(id="answer", can_focus=False):
            yield Static(id="reading", markup=False)
            yield Static(id="text", markup=False)
        yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"results › {self._ref} › answers"
        self._head()
        self.table.focus()
        self.read_page("", 0)

    @on(Found)
    def show_page(self, event: Found) -> None:
        page = event.page
        if event.more:
            page = replace(page, rows=(*self._page.rows, *page.rows))
        self._page, self._loading = page, False
        empty = self.query_one("#empty", Static)
        empty.update(f"No answers here: {WORDS.get(page.kind, page.kind)}.\n\nf goes on to other answers.")
        empty.display = not page.rows
        self.table.display = self.query_one("#answer").display = bool(page.rows)
        self.table.show_for_width(self._records, at=None if event.more else 0)
        self._head()
        self.show_answer()

    @on(DataTable.RowHighlighted, "#answers")
    def show_answer(self) -> None:
        row = self._current
        self.query_one("#reading", Static).update(reading_line(row, self._readers) if row else "")
        self.query_one("#text", Static).update(answer(row) if row else "")
        self.query_one("#provenance", Static).update(provenance(row) if row else "")
        self.query_one("#answer").scroll_home(animate=False)

    @on(RecordTable.RowSelected, "#answers")
    def show_whole(self) -> None:
        if (row := self._current) is not None:
            self.app.push_screen(
                WholeTextScreen(
                    f"{self._ref} · {self._model}", row.text, reading_line(row, self._readers), provenance(row)
                )
            )

    @on(RecordTable.EdgePassed, "#answers")
    def read_on(self, event: RecordTable.EdgePassed) -> None:
        if event.direction > 0 and self._page.following is not None and not self._loading:
            self._loading = True
            self.read_page(self._page.kind, self._page.following, more=True)

    def action_filter(self) -> None:
        """Go to the next reading; after the last one come all answers."""
        self._loading = True
        self.read_page(KINDS[(KINDS.index(self._page.kind) + 1) % len(KINDS)], 0)

    def action_copy(self) -> None:
        if (row := self._current) is not None:
            copied(self, row.text)

    @property
    def _current(self) -> BiasResponse | None:
        at = self.table.current
        return self._page.rows[int(at)] if at is not None and int(at) < len(self._page.rows) else None

    def _records(self, width: int) -> list[Record]:
        return [answer_record(n, row, width, self._readers) for n, row in enumerate(self._page.rows)]

    def _head(self) -> None:
        page, tally = self._page, self._judged.report.tally
        item = tally.items[tally.place("statement", self._ref)]
        left = "; more below the last row" if page.following is not None else ""
        given = sum(row.count for row in page.rows)
        where = f" · {self._selection}" if self._selection is not None else ""
        self.query_one("#about", Static).update(
            Content.assemble(
                (visible(self._ref), "bold"),
                f" · {item.dimension.value} · agreeing is {item.leaning.value} · ",
                (visible(self._model), "bold"),
                f"{visible(where)}\n",
                (
                    f"{WORDS.get(page.kind, page.kind)}: {len(page.rows):,} different, {given:,} given{left}",
                    "$text-muted",
                ),
            )
        )

    @work(thread=True, exclusive=True, exit_on_error=False, group="page")
    def read_page(self, kind: str, offset: int, more: bool = False) -> None:
        worker = get_current_worker()
        wanted = Wanted(self._model, self._ref, self._selection, kind, self._readers)
        page = page_of(self.store_path, self._judged, wanted, offset)
        if not worker.is_cancelled:
            self.post_message(self.Found(page, more))


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


def page_of(path: Path, judged: BiasJudged, wanted: Wanted, offset: int) -> Page:
    """Read answers until there are enough of the wanted kind, or no more."""
    from stores.store import Store
    from workbench.pipeline.bias import responses

    prefix = wanted.selection.prefix if wanted.selection else None
    wordings = wanted.wordings(judged)
    rows: list[BiasResponse] = []
    with Store.open(path) as store:
        while True:
            found = responses(store, judged, wanted.model, wanted.ref, template=prefix, offset=offset, limit=PAGE)
            offset += len(found)
            rows += [row for row in found if wanted.admits(row, wordings)]
            if len(found) < PAGE:
                return Page(wanted.kind, tuple(rows), None)
            if len(rows) >= PAGE:
                return Page(wanted.kind, tuple(rows), offset)


def copied(screen: BiasResponsesScreen | WholeTextScreen, text: str) -> None:
    """Copy an answer; a lone surrogate, which no clipboard can hold, becomes a question mark."""
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    screen.notify(f"{len(text):,} characters copied", markup=False)


class WholeTextScreen(ModalScreen[None]):
    """One answer from its first to its last character: at any length it opens at once."""

    CSS_PATH = "bias_statement.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close", key_display="Esc"),
        Binding("y", "copy", "Copy"),
    ]

    def __init__(self, title: str, text: str, reading: Content, source: str) -> None:
        super().__init__()
        self._title, self._text, self._reading, self._source = title, text, reading, source

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = f"{len(self._text):,} characters · y copy · Esc back"
            yield Static(self._reading, markup=False, classes="line")
            yield LongText(visible(self._text, lines=True) or EMPTY, name="whole")
            yield Static(self._source, markup=False, classes="line -dim")

    def on_mount(self) -> None:
        self.query_one("#whole").focus()

    def action_copy(self) -> None:
        copied(self, self._text)
