"""Responses as cells and text; pure.

What a model wrote is hostile: it is shown as it stands, cut where it is long, with the words that decided underlined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rich.text import Text
from textual.content import Content

from workbench.figures.visible import visible
from workbench.tui.format import EMPTY
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.runs.run_rows import ResponseRow

CELL_CHARACTERS = 300
BEFORE = 40
"characters that stand before deciding words which are far into an answer"
PREVIEW_CHARACTERS = 1000
BY_RULING = ", ruled"
"stands behind a reading that is an auditor's, or an answer that one left out"
LEFT_OUT = "left out"
"as `workbench.evidence.rulings` says it"
WIDE = 120
"columns from which readings stand with their words"
STANCE_MARKS = {"agree": "+", "disagree": "−", None: "·"}
ONLY = {
    "": "all answers",
    "agree": "agree only",
    "disagree": "disagree only",
    "unreadable": "unreadable only",
    "cut off": "cut off in thought only",
}


class Spanned(Protocol):
    """An answer of which it may be known where the deciding words are."""

    @property
    def text(self) -> str: ...

    @property
    def start(self) -> int | None: ...

    @property
    def stop(self) -> int | None: ...


def response_columns(width: int, *, ruled: bool = False) -> tuple[Column, ...]:
    """Return the columns for a width. `ruled`: whether a reading in sight is an auditor's."""
    wide, reading = width >= WIDE, 13 + len(BY_RULING) * ruled
    columns = (Column("count", " times", 7), Column("reading", "reading", reading), Column("text", "answer", None))
    return (*columns, Column("reason", "  why", 44)) if wide else columns


def response_record(number: int, row: ResponseRow, width: int) -> Record:
    """Return a row; its key is its place among what was read."""
    reading = reading_cell(_counting(row), word_of(row))
    if row.ruled:
        reading.append(BY_RULING, style="bold")
    cells = (Text(f"{row.count:>5}×"), reading, answer_cell(row))
    why = f"the reader: {_of_reader(row)}; {row.reason}" if row.ruled else row.reason
    return str(number), (
        *cells,
        Text(f"  {visible(why)}", style="dim", no_wrap=True),
    ) if width >= WIDE else cells


def word_of(row: ResponseRow) -> str:
    """Return how an answer was read in a word, after rulings; one that was cut off in thought is not unreadable."""
    if row.ruled == LEFT_OUT:
        return LEFT_OUT
    return "cut off" if row.truncated else row.label or "unreadable"


def _counting(row: ResponseRow) -> str | None:
    """Return the label that figures use."""
    return None if row.ruled == LEFT_OUT else row.label


def _of_reader(row: ResponseRow) -> str:
    """Return how the reader, and no auditor, read a ruled answer."""
    word = "cut off" if row.truncated else row.unruled or "unreadable"
    return f"{STANCE_MARKS.get(row.unruled, '=')} {visible(word)}"


def reading_cell(label: str | None, word: str) -> Text:
    """Return `+ agree`, `− disagree`, `· unreadable`, `· cut off`."""
    return Text(f"{STANCE_MARKS.get(label, '=')} {visible(word)}", style="" if label else "yellow")


def answer_cell(row: Spanned, *, decided: bool = False) -> Text:
    """Return the beginning of an answer in one line, or where its deciding words are if that is further on; `decided`:
    those wherever they are, where answers begin alike.
    """
    if not row.text:
        return Text(EMPTY, style="dim italic")
    start = row.start or 0
    first = start if decided else max(0, start - BEFORE) if start > CELL_CHARACTERS // 2 else 0
    cell = Text("… " if first else "", style="", no_wrap=True, overflow="ellipsis")
    for text, decides in pieces(row, first, first + CELL_CHARACTERS):
        cell.append(visible(text), style="bold underline" if decides else "")
    if len(row.text) > first + CELL_CHARACTERS:
        cell.append(" …")
    return cell


def pieces(row: Spanned, first: int, stop: int) -> list[tuple[str, bool]]:
    """Return `text[first:stop]` in parts, each with whether it is what decided the reading."""
    if row.start is None or row.stop is None or row.start >= row.stop:
        return [(row.text[first:stop], False)]
    a, b = (min(max(edge, first), stop) for edge in (row.start, row.stop))
    parts = [(row.text[first:a], False), (row.text[a:b], True), (row.text[b:stop], False)]
    return [(text, decides) for text, decides in parts if text]


def answer(row: Spanned, limit: int = PREVIEW_CHARACTERS) -> Content:
    """Return an answer with its line ends, cut where it is long."""
    if not row.text:
        return Content.styled(EMPTY, "dim italic")
    parts = [
        Content.styled(visible(text, lines=True), "bold underline" if decides else "")
        for text, decides in pieces(row, 0, limit)
    ]
    if len(row.text) > limit:
        parts.append(Content.styled(f"\n… {len(row.text):,} characters; Enter shows all", "dim"))
    return Content("").join(parts)


def reading_line(row: ResponseRow) -> Content:
    """Say how an answer was read, by whom and why."""
    why = f": {visible(row.reason)}" if row.reason else ""
    unread = "" if row.truncated else "  (not read yet)"
    by = f"  ({visible(row.reader)})" if row.reader else unread
    word = f"{STANCE_MARKS.get(_counting(row), '=')} {visible(word_of(row))}"
    ruled = f" by a person's ruling; the reader: {_of_reader(row)}" if row.ruled else ""
    return Content.assemble(
        (word, "bold"), ruled, why, (by, "$text-muted"), (f"  {row.count:,}×", "$text-muted")
    )  # fmt: skip


def provenance(row: ResponseRow) -> str:
    """Say where an answer comes from, in one line."""
    return " · ".join(
        visible(part)
        for part in (
            row.model,
            row.version or f"revision {row.revision[:12]}",
            row.backend,
            row.dtype,
            str(row.sampling),
            f"seed {row.seed}",
            f"{row.template} {row.order}",
            f"{row.at[:19].replace('T', ' ')} UTC",
            f"workbench {row.code_version}",
            f"job {row.job}",
        )
    )


def whole_answer(row: Spanned) -> tuple[str, tuple[int, int]]:
    """Return all of an answer, safe to print, and where in that the deciding words stand."""
    if not row.text:
        return EMPTY, (0, 0)
    parts = [(visible(text, lines=True), decides) for text, decides in pieces(row, 0, len(row.text))]
    place, marked = 0, (0, 0)
    for text, decides in parts:
        marked = (place, place + len(text)) if decides else marked
        place += len(text)
    return "".join(text for text, _ in parts), marked
