"""Every response to one prompt, as it was written: how it was read, which words decided, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.results.answers import PAGE, AnswersScreen, Page, WholeAnswerScreen, gathered
from workbench.tui.results.responses_format import (
    ONLY,
    answer,
    provenance,
    reading_line,
    response_columns,
    response_record,
    whole_answer,
    word_of,
)
from workbench.tui.rulings.ruling import ruled_by
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.record_table import Column, FluidTable, Record

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import ResponseRow
    from workbench.audits.reliability.judged import ReliabilityJudged

EXPLAIN = section("screens-results", "Answers to a prompt")
BEGINNING = 48
"characters of a ruling beside a list, a line at 80 columns: the answer below has to stay in sight"


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


class ResponseTable(FluidTable):
    """Responses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]


class ResponsesScreen(AnswersScreen["ResponseRow"]):
    """The responses to one prompt."""

    EXPLAIN = EXPLAIN
    SEARCHED = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "only('agree')", "Agree", tooltip="Show answers read as agreement"),
        Binding("d", "only('disagree')", "Disagree", tooltip="Show answers read as rejection"),
        Binding("u", "only('unreadable')", "Unreadable", tooltip="Show answers that could not be read"),
        Binding("b", "only('cut off')", "Cut off", show=False, tooltip="Show answers that were cut off in thought"),
        Binding("0", "only('')", "All", tooltip="Show all answers"),
    ]

    def __init__(self, judged: ReliabilityJudged, asked: Asked) -> None:
        super().__init__()
        self._judged, self._asked = judged, asked

    def on_mount(self) -> None:
        self.title_bar.place = f"audit › {self._asked.ref} › responses"

    def make_table(self) -> FluidTable:
        return ResponseTable(self._columns, name="responses")

    def fetch(self, store: Store, kind: str, offset: int) -> Page[ResponseRow]:
        from workbench.evidence.rulings import NO_RULINGS, as_ruled, of_run

        judged, probe = self._judged, self._asked.probe
        rulings = of_run(store, judged.run, judged.card) if judged.rulings.counted else NO_RULINGS

        def read(at: int) -> list[ResponseRow]:
            rows = store.runs.responses(judged.run, probe, [judged.reader], offset=at, limit=PAGE)
            return [as_ruled(row, probe, rulings) for row in rows]

        return gathered(kind, offset, read, lambda row: not kind or word_of(row) == kind, self.words)

    def head(self) -> Content:
        asked, page = self._asked, self._page
        where = f"{asked.variant} · {asked.template} {asked.order} · "
        shown = f"{ONLY[page.kind]}: {page.counted}"
        return Content.assemble((visible(asked.wording), "bold"), "\n", (visible(where), "$text-muted"), shown)

    def nothing(self, kind: str) -> str:
        return f"No answers here: {ONLY[kind]}.\n\n0 shows all." if kind else "No answer to this wording is stored yet."

    def record(self, number: int, row: ResponseRow, width: int) -> Record:
        return response_record(number, row, width)

    def _columns(self, width: int) -> tuple[Column, ...]:
        return response_columns(width, ruled=any(row.ruled for row in self._page.rows))

    def pieces(self, row: ResponseRow) -> tuple[Content, Content, str]:
        return self._reading(row, BEGINNING), answer(row), provenance(row)

    def _reading(self, row: ResponseRow, most: int = 0) -> Content:
        ruled = ruled_by(self.standing.on_answer(self._asked.probe, row.text), most)
        return Content("\n").join([reading_line(row), *ruled])

    def show_ruled(self) -> None:
        """Read the answers again, with the readings that count now."""
        self.read_page(self._page.kind, 0, again=True)

    def reader_in_sight(self) -> str | None:
        return self._judged.card.name

    def ruled_place(self) -> RuledPlace | None:
        row = self.current
        return RuledPlace(probe=self._asked.probe, text=None if row is None or row.truncated else row.text)

    def whole(self, row: ResponseRow) -> WholeAnswerScreen:
        shown = whole_answer(row)
        return WholeAnswerScreen(self._asked.title, row.text, self._reading(row), provenance(row), shown)

    def action_only(self, only: str) -> None:
        """Show the answers of one reading, or all."""
        self.show_kind(only)
