"""The screen of all responses to one prompt: texts, readings, deciding words and origins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import EMPTY
from workbench.tui.results.answers import (
    PAGE,
    AnswersPage,
    AnswersScreen,
    AnswerTexts,
    WholeAnswerScreen,
    read_matching,
)
from workbench.tui.rulings.ruling import ruling_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.record_table import FluidTable, Record, RecordColumn

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import ResponseRow, Run
    from workbench.audits.reliability.judged import ReliabilityJudged

EXPLAIN = section("screens-results", "Answers to a prompt")
BEGINNING = 48
"maximum length of a ruling above an answer: one line at 80 columns keeps the answer visible"


@dataclass(frozen=True, slots=True)
class PromptKey:
    """The prompt that the responses answer."""

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
    """The table of responses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "select_cursor",
            "Whole answer",
            key_display="Enter",
            tooltip="Show the whole answer",
        ),
    ]


class ResponsesScreen(AnswersScreen["ResponseRow"]):
    """The screen of the responses to one prompt."""

    EXPLAIN = EXPLAIN
    SEARCHED = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "only('agree')", "Agree", tooltip="Show answers read as agreement"),
        Binding("d", "only('disagree')", "Disagree", tooltip="Show answers read as rejection"),
        Binding(
            "u", "only('unreadable')", "Unreadable", tooltip="Show answers that could not be read"
        ),
        Binding(
            "b",
            "only('cut off')",
            "Cut off",
            show=False,
            tooltip="Show answers that were cut off in thought",
        ),
        Binding("0", "only('')", "All", tooltip="Show all answers"),
    ]

    def __init__(self, judged: ReliabilityJudged, asked: PromptKey) -> None:
        super().__init__()
        self._judged, self._asked = judged, asked

    def on_mount(self) -> None:
        self.title_bar.place = f"audit › {self._asked.ref} › responses"

    def make_table(self) -> FluidTable:
        return ResponseTable(self._columns, name="responses")

    def fetch(self, store: Store, kind: str, offset: int) -> AnswersPage[ResponseRow]:
        from workbench.evidence.rulings import NO_RULINGS, as_ruled, rulings_of_run

        result, probe = self._judged, self._asked.probe
        rulings = (
            rulings_of_run(store, result.run, result.card) if result.rulings.counted else NO_RULINGS
        )

        def read(start: int) -> list[ResponseRow]:
            rows = store.runs.responses(
                result.run, probe, [result.reader], offset=start, limit=PAGE
            )
            return [as_ruled(response, probe, rulings) for response in rows]

        return read_matching(
            kind, offset, read, lambda response: not kind or word_of(response) == kind, self.words
        )

    def head(self) -> Content:
        prompt, page = self._asked, self._page
        prompt_text = f"{prompt.variant} · {prompt.template} {prompt.order} · "
        count_text = f"{ONLY[page.kind]}: {page.counted}"
        return Content.assemble(
            (visible(prompt.wording), "bold"),
            "\n",
            (visible(prompt_text), "$text-muted"),
            count_text,
        )

    def empty_text(self, kind: str) -> str:
        return (
            f"No answers here: {ONLY[kind]}.\n\n0 shows all."
            if kind
            else "No answer to this wording is stored yet."
        )

    def record(self, number: int, row: ResponseRow, width: int) -> Record:
        return response_record(number, row, width)

    def _columns(self, width: int) -> tuple[RecordColumn, ...]:
        return response_columns(width, ruled=any(row.ruled for row in self._page.rows))

    def answer_texts(self, row: ResponseRow) -> AnswerTexts:
        return AnswerTexts(self._reading(row, BEGINNING), answer(row), provenance(row))

    def _reading(self, row: ResponseRow, most: int = 0) -> Content:
        rulings = self.standing.on_answer(self._asked.probe, row.text, self._judged.run)
        return Content("\n").join([reading_line(row), *ruling_lines(rulings, most)])

    def show_ruled(self) -> None:
        """Read the answers again, with the readings that count now."""
        self.read_page(self._page.kind, 0, again=True)

    def reader_in_sight(self) -> str | None:
        return self._judged.card.name

    def run_in_sight(self) -> Run | None:
        return self._judged.run

    def ruled_place(self) -> RuledPlace | None:
        row = self.current
        return RuledPlace(
            probe=self._asked.probe, text=None if row is None or row.truncated else row.text
        )

    def whole(self, row: ResponseRow) -> WholeAnswerScreen:
        marked_text = whole_answer(row)
        return WholeAnswerScreen(
            self._asked.title, row.text, self._reading(row), provenance(row), marked_text
        )

    def action_only(self, only: str) -> None:
        """Show the answers of one reading, or all."""
        self.show_kind(only)


CELL_CHARACTERS = 300
BEFORE = 40
"characters before the deciding words if those are far into an answer"
PREVIEW_CHARACTERS = 1000
BY_RULING = ", ruled"
"suffix of a reading that is an auditor's, or of an answer that an auditor excluded"
LEFT_OUT = "left out"
"text in `workbench.evidence.rulings` for an answer that a ruling excludes"
WIDE = 120
"terminal columns from which the table has the reasons of readings"
STANCE_MARKS = {"agree": "+", "disagree": "−", None: "·"}
ONLY = {
    "": "all answers",
    "agree": "agree only",
    "disagree": "disagree only",
    "unreadable": "unreadable only",
    "cut off": "cut off in thought only",
}


class Spanned(Protocol):
    """An answer with the range of the deciding words, if that is known."""

    @property
    def text(self) -> str: ...

    @property
    def start(self) -> int | None: ...

    @property
    def stop(self) -> int | None: ...


def response_columns(width: int, *, ruled: bool = False) -> tuple[RecordColumn, ...]:
    """Return the columns for a width. `ruled` tells whether a visible reading is an auditor's."""
    is_wide, reading_width = width >= WIDE, 13 + len(BY_RULING) * ruled
    columns = (
        RecordColumn("count", " times", 7),
        RecordColumn("reading", "reading", reading_width),
        RecordColumn("text", "answer", None),
    )
    return (*columns, RecordColumn("reason", "  why", 44)) if is_wide else columns


def response_record(number: int, row: ResponseRow, width: int) -> Record:
    """Return a row of the table. Its key is its index among the rows that were read."""
    reading = reading_cell(_counting(row), word_of(row))
    if row.ruled:
        reading.append(BY_RULING, style="bold")
    cells = (Text(f"{row.count:>5}×"), reading, answer_cell(row))
    reason = f"the reader: {_of_reader(row)}; {row.reason}" if row.ruled else row.reason
    return str(number), (
        *cells,
        Text(f"  {visible(reason)}", style="dim", no_wrap=True),
    ) if width >= WIDE else cells


def word_of(row: ResponseRow) -> str:
    """Return the reading of an answer in a word, after rulings.

    An answer that was cut off in thought is not unreadable.
    """
    if row.ruled == LEFT_OUT:
        return LEFT_OUT
    return "cut off" if row.truncated else row.label or "unreadable"


def _counting(row: ResponseRow) -> str | None:
    """Return the label that figures use."""
    return None if row.ruled == LEFT_OUT else row.label


def _of_reader(row: ResponseRow) -> str:
    """Return the reader's own reading of a ruled answer."""
    word = "cut off" if row.truncated else row.unruled or "unreadable"
    return f"{STANCE_MARKS.get(row.unruled, '=')} {visible(word)}"


def reading_cell(label: str | None, word: str) -> Text:
    """Return a reading with its mark: `+ agree`, `− disagree`, `· unreadable` or `· cut off`."""
    return Text(f"{STANCE_MARKS.get(label, '=')} {visible(word)}", style="" if label else "yellow")


def answer_cell(row: Spanned, *, decided: bool = False) -> Text:
    """Return the start of an answer in one line, or its later part with deciding words.

    With `decided` it always starts at the deciding words, for lists of answers that begin alike.
    """
    if not row.text:
        return Text(EMPTY, style="dim italic")
    start = row.start or 0
    first = start if decided else max(0, start - BEFORE) if start > CELL_CHARACTERS // 2 else 0
    cell = Text("… " if first else "", style="", no_wrap=True, overflow="ellipsis")
    for text, is_deciding in pieces(row, first, first + CELL_CHARACTERS):
        cell.append(visible(text), style="bold underline" if is_deciding else "")
    if len(row.text) > first + CELL_CHARACTERS:
        cell.append(" …")
    return cell


def pieces(row: Spanned, first: int, stop: int) -> list[tuple[str, bool]]:
    """Return `text[first:stop]` in parts, each with whether it decided the reading."""
    if row.start is None or row.stop is None or row.start >= row.stop:
        return [(row.text[first:stop], False)]
    decided_start, decided_stop = (min(max(edge, first), stop) for edge in (row.start, row.stop))
    parts = [
        (row.text[first:decided_start], False),
        (row.text[decided_start:decided_stop], True),
        (row.text[decided_stop:stop], False),
    ]
    return [(text, is_deciding) for text, is_deciding in parts if text]


def answer(row: Spanned, limit: int = PREVIEW_CHARACTERS) -> Content:
    """Return an answer with its line ends, truncated to `limit` characters."""
    if not row.text:
        return Content.styled(EMPTY, "dim italic")
    parts = [
        Content.styled(visible(text, lines=True), "bold underline" if is_deciding else "")
        for text, is_deciding in pieces(row, 0, limit)
    ]
    if len(row.text) > limit:
        parts.append(Content.styled(f"\n… {len(row.text):,} characters; Enter shows all", "dim"))
    return Content("").join(parts)


def reading_line(row: ResponseRow) -> Content:
    """Return the reading of an answer with its reader and reason."""
    reason = f": {visible(row.reason)}" if row.reason else ""
    unread_note = "" if row.truncated else "  (not read yet)"
    reader_note = f"  ({visible(row.reader)})" if row.reader else unread_note
    word = f"{STANCE_MARKS.get(_counting(row), '=')} {visible(word_of(row))}"
    ruling_note = f" by a person's ruling; the reader: {_of_reader(row)}" if row.ruled else ""
    return Content.assemble(
        (word, "bold"),
        ruling_note,
        reason,
        (reader_note, "$text-muted"),
        (f"  {row.count:,}×", "$text-muted"),
    )


def provenance(row: ResponseRow) -> str:
    """Return the origin of an answer in one line."""
    seed = "" if row.seed is None else f"seed {row.seed}"
    return " · ".join(
        visible(part)
        for part in (
            row.model,
            row.version or f"revision {row.revision[:12]}",
            row.backend,
            row.dtype,
            str(row.sampling),
            seed,
            f"{row.template} {row.order}",
            f"{row.at[:19].replace('T', ' ')} UTC" if row.at else "",
            f"workbench {row.code_version}",
            f"job {row.job}",
        )
        if part
    )


def whole_answer(row: Spanned) -> tuple[str, tuple[int, int]]:
    """Return a whole answer, safe to print, and the range of its deciding words."""
    if not row.text:
        return EMPTY, (0, 0)
    parts = [
        (visible(text, lines=True), decided) for text, decided in pieces(row, 0, len(row.text))
    ]
    position, marked_range = 0, (0, 0)
    for text, is_deciding in parts:
        marked_range = (position, position + len(text)) if is_deciding else marked_range
        position += len(text)
    return "".join(text for text, _ in parts), marked_range
