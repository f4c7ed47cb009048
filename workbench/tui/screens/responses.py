"""Every response to one prompt, as it was written: how it was read, which words decided, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

from workbench.tui.format import visible
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.responses_format import (
    ONLY,
    answer,
    provenance,
    reading_line,
    response_columns,
    response_record,
    whole_answer,
)
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import Record, RecordTable

if TYPE_CHECKING:
    from stores.runs import ResponseRow, Run

PAGE = 200

EXPLAIN = """Each row is one distinct answer in one draw, the most frequent first, with how often it was given.

READING  + agree and − disagree are stances on the wording that the model was shown. · unreadable: the answer names \
no label, asserts nothing, or asserts both. The underlined words decided. Unreadable answers count against `readable`, \
never as a stance.

The dim line is where an answer comes from: the model and its revision, what ran it, the sampling, the seed of \
exactly these answers, the template with its label order, when, and the code and job that asked.

Control characters are shown by signs (␛ is ESC, ␊ a line end); nothing in an answer is interpreted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which prompt the responses answer."""

    ref: str
    variant: str
    template: str
    order: str
    wording: str
    probe: int

    @property
    def title(self) -> str:
        return f"{self.ref} · {self.variant} · {self.template} {self.order}"


@dataclass(frozen=True, slots=True)
class Page:
    """Some responses of a kind, and where the next begin."""

    only: str
    rows: tuple[ResponseRow, ...]
    following: int | None
    "offset of what was not read yet; None: nothing is left"


class ResponseTable(FluidTable):
    """Responses; `g` filters here, as the footer says."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
        Binding("g", "screen.only('agree')", "Agree", tooltip="Show answers read as agreement"),
    ]


class ResponsesScreen(StoreScreen):
    """The responses to one prompt."""

    CSS_PATH = "responses.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "only('disagree')", "Disagree", tooltip="Show answers read as rejection"),
        Binding("u", "only('unreadable')", "Unreadable", tooltip="Show answers that could not be read"),
        Binding("a", "only('')", "All", tooltip="Show all answers"),
        Binding("y", "copy", "Copy", tooltip="Copy the answer as it was written"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#responses", ResponseTable)

    @dataclass
    class Found(Message):
        """A page is there."""

        page: Page
        more: bool

    def __init__(self, run: Run, reader: int, asked: Asked) -> None:
        super().__init__()
        self._run, self._reader, self._asked = run, reader, asked
        self._page = Page("", (), None)
        self._loading = True

    def compose_body(self) -> ComposeResult:
        yield Static(id="asked", markup=False)
        yield ResponseTable(response_columns, name="responses")
        yield Static("Reading the responses …", id="empty", markup=False)
        with VerticalScroll(id="answer", can_focus=False):
            yield Static(id="reading", markup=False)
            yield Static(id="text", markup=False)
        yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"audit › {self._asked.ref} › responses"
        self._head()
        self.table.focus()
        self.read_page("", 0)

    @on(Found)
    def show_page(self, event: Found) -> None:
        page = event.page
        if event.more:
            page = Page(page.only, (*self._page.rows, *page.rows), page.following)
        at = None if event.more else 0
        self._page, self._loading = page, False
        empty = self.query_one("#empty", Static)
        empty.update(f"No answers here: {ONLY[page.only]}.\n\na shows all." if page.only else "No answers.")
        empty.display = not page.rows
        self.table.display = self.query_one("#answer").display = bool(page.rows)
        self.table.show_for_width(self._records, at=at)
        self._head()
        self.show_answer()

    @on(DataTable.RowHighlighted, "#responses")
    def show_answer(self) -> None:
        row = self._current
        self.query_one("#reading", Static).update(reading_line(row) if row else "")
        self.query_one("#text", Static).update(answer(row) if row else "")
        self.query_one("#provenance", Static).update(provenance(row) if row else "")
        self.query_one("#answer").scroll_home(animate=False)

    @on(RecordTable.RowSelected, "#responses")
    def show_whole(self) -> None:
        if (row := self._current) is not None:
            self.app.push_screen(WholeAnswerScreen(self._asked.title, row))

    @on(RecordTable.EdgePassed, "#responses")
    def read_on(self, event: RecordTable.EdgePassed) -> None:
        if event.direction > 0 and self._page.following is not None and not self._loading:
            self._loading = True
            self.read_page(self._page.only, self._page.following, more=True)

    def action_only(self, only: str) -> None:
        """Show the answers of one reading, or all."""
        self._loading = True
        self.read_page(only, 0)

    def action_copy(self) -> None:
        if (row := self._current) is not None:
            copy_answer(self.app.copy_to_clipboard, row)
            self.notify(f"{len(row.text):,} characters copied", markup=False)

    @property
    def _current(self) -> ResponseRow | None:
        at = self.table.current
        return self._page.rows[int(at)] if at is not None and int(at) < len(self._page.rows) else None

    def _records(self, width: int) -> list[Record]:
        return [response_record(number, row, width) for number, row in enumerate(self._page.rows)]

    def _head(self) -> None:
        page, asked = self._page, self._asked
        answers = sum(row.count for row in page.rows)
        left = "; more below the last row" if page.following is not None else ""
        shown = f"{ONLY[page.only]}: {len(page.rows):,} different, {answers:,} given{left}"
        where = f"{asked.variant} · {asked.template} {asked.order} · "
        self.query_one("#asked", Static).update(
            Content.assemble((visible(asked.wording), "bold"), "\n", (visible(where), "$text-muted"), shown)
        )

    @work(thread=True, exclusive=True, exit_on_error=False, group="page")
    def read_page(self, only: str, offset: int, more: bool = False) -> None:
        worker = get_current_worker()
        page = page_of(self.store_path, self._run, self._asked.probe, self._reader, only, offset)
        if not worker.is_cancelled:
            self.post_message(self.Found(page, more))


def page_of(path: Path, run: Run, probe: int, reader: int, only: str, offset: int) -> Page:
    """Read responses until there are enough of the wanted kind, or no more."""
    from stores.store import Store

    rows: list[ResponseRow] = []
    with Store.open(path) as store:
        while True:
            found = store.runs.responses(run, probe, [reader], offset=offset, limit=PAGE)
            offset += len(found)
            rows += [row for row in found if not only or (row.label or "unreadable") == only]
            if len(found) < PAGE:
                return Page(only, tuple(rows), None)
            if len(rows) >= PAGE:
                return Page(only, tuple(rows), offset)


def copy_answer(copy: Callable[[str], None], row: ResponseRow) -> None:
    """Copy an answer; a lone surrogate, which no clipboard can hold, becomes a question mark."""
    copy(row.text.encode("utf-8", "replace").decode())


class WholeAnswerScreen(ModalScreen[None]):
    """One answer from its first to its last character, in lines: at any length it opens at once."""

    CSS_PATH = "responses.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close", key_display="Esc"),
        Binding("y", "copy", "Copy"),
    ]

    def __init__(self, title: str, row: ResponseRow) -> None:
        super().__init__()
        self._title, self._row = title, row

    def compose(self) -> ComposeResult:
        text, marked = whole_answer(self._row)
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = f"{len(self._row.text):,} characters · y copy · Esc back"
            yield Static(reading_line(self._row), markup=False, classes="line")
            yield LongText(text, marked, name="whole")
            yield Static(provenance(self._row), markup=False, classes="line -dim")

    def on_mount(self) -> None:
        self.query_one("#whole").focus()

    def action_copy(self) -> None:
        copy_answer(self.app.copy_to_clipboard, self._row)
        self.notify(f"{len(self._row.text):,} characters copied", markup=False)
