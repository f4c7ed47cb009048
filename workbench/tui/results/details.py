"""What stands below a table about the row under the cursor, and what `?` says of the table;
pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from textual.content import Content

from workbench.domain.verdicts import Estimate, Outcome, Verdict
from workbench.figures.intervals import told
from workbench.figures.shown import NONE
from workbench.figures.table import AnyTable, Column, Kind, Value
from workbench.figures.visible import visible
from workbench.tui.results.sheet import Sheet

FAILURES = "failures"
"the choices that every table with verdicts offers; other choices are named after their column"
SIGNS = "+−"
"stand before a word that says which side is meant"


@dataclass(frozen=True, slots=True)
class Only:
    """Some rows of a table."""

    words: str
    admits: Callable[[Any], bool]


def choices(table: AnyTable, name: str) -> list[Only]:
    """Return what can be shown alone, of which there is a row: failures of each kind, or the values
    of a column.
    """
    found = _failures(table) if name == FAILURES else _values(table, name)
    return [only for only in found if any(map(only.admits, table.rows))]


def has_verdicts(table: AnyTable) -> bool:
    """Return whether a table has columns of verdicts."""
    return any(column.kind is Kind.VERDICT for column in table.columns)


def _failures(table: AnyTable) -> Iterator[Only]:
    columns = [column for column in table.columns if column.kind is Kind.VERDICT]
    outcomes = [
        value
        for row in table.rows
        for column in columns
        if isinstance(value := column.value(row), Outcome)
    ]
    tested = max((outcome.tested for outcome in outcomes), default=0)
    yield Only("failed any test", _any(columns, lambda value: _verdict(value) is Verdict.FAIL))
    for column in columns:
        yield Only(
            f"failed {visible(column.title)}",
            _any([column], lambda value: _verdict(value) is Verdict.FAIL),
        )
    yield Only(
        "too few answers for a test",
        _any(columns, lambda value: _verdict(value) is Verdict.INSUFFICIENT),
    )
    yield Only("a test is void", _any(columns, lambda value: _void(value, tested)))


def _any(columns: Sequence[Column[Any]], holds: Callable[[Value], bool]) -> Callable[[Any], bool]:
    return lambda row: any(holds(column.value(row)) for column in columns)


def _verdict(value: Value) -> Value:
    return value.verdict if isinstance(value, Outcome) else value


def _void(value: Value, tested: int) -> bool:
    """Return whether a test cannot fail, or cannot under one of several templates."""
    return _verdict(value) is Verdict.VOID or (isinstance(value, Outcome) and value.tested < tested)


def _values(table: AnyTable, name: str) -> Iterator[Only]:
    column = next((one for one in table.columns if one.key == name), None)
    if column is None:
        return
    for word in dict.fromkeys(word for row in table.rows for word in _words(column, row)):
        said = visible(column.words.get(word, word)).replace("_", " ")
        yield Only(f"{visible(column.title)}: {said}", _says(column, word))


def _says(column: Column[Any], word: str) -> Callable[[Any], bool]:
    return lambda row: word in _words(column, row)


def _words(column: Column[Any], row: Any) -> list[str]:
    value = column.value(row)
    if isinstance(value, str):
        return [value] if value else []
    return [str(one).lstrip(SIGNS) for one in value] if isinstance(value, Sequence) else []


OPENS = "Enter opens what a row rests on, Esc goes back."
TURNS = "← → show the table for the next model, issue or the like."
TURNS_ROWS = "← → show what the next row rests on, or the one before."
TURNS_COLUMNS = "← → go to the column beside."
HOLLOW_SAID = (
    "○ in a picture: the value rests on too little data for an interval; a note says how much."
)
TITLE_GAP, PAIR_GAP, SHORT_VALUE = 1, 2, 26
"blanks after a title and between pairs, and columns of a value that has others beside it"
LONGEST = 300
"characters of a hidden value that the details show"


def details(sheet: Sheet, at: int, width: int, room: int | None = None) -> Content:
    """Return what the columns in sight do not say of a row: sentences of its own, reasons, and
    hidden values.

    `width`: columns for the table; `room`: columns for the details, if they stand beside it
    """
    return Content("\n").join(_details(sheet, at, width, room or width))


def _details(sheet: Sheet, at: int, width: int, room: int) -> Iterator[Content]:
    table = sheet.table
    said = [visible(one, lines=True) for one in _said(sheet, at)]
    hidden = [
        (table.columns[place], _beginning(sheet.cells[at][place]))
        for place in sheet.hidden(width)
        if table.columns[place].kind is not Kind.MARK
        and sheet.cells[at][place] not in ("", NONE, *said)
    ]
    read = next((text for column, text in hidden if column.main), "")
    yield Content.assemble(
        (_name(sheet, at), "bold"), f"  {read}" if read else "", *_cell(sheet, at)
    )
    yield from map(Content, said)
    for title, why in sheet.undefined(at):
        yield Content.styled(f"{visible(title)} undefined: {visible(why)}", "$text-warning")
    signs = [note for note in sheet.notes if len(note) <= 2 * room]
    yield from (Content.styled(note, "$text-muted") for note in signs)
    yield from aligned(
        [(visible(column.title), text) for column, text in hidden if text != read], room
    )
    yield from (Content.styled(note, "$text-muted") for note in sheet.notes if note not in signs)
    if table.definition:
        yield Content.styled(visible(table.definition), "$text-muted")


def aligned(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[Content]:
    """Yield titles and values as lines of a small table: as many pairs beside each other as are
    short, long ones alone.

    Examples
    --------
    >>> pairs = [("country", "vd"), ("n", "12"), ("text", "The minimum wage should rise at once.")]
    >>> for line in aligned(pairs, 40):
    ...     print(line.plain.rstrip())
    country vd  n       12
    text    The minimum wage should rise at
            once.
    """
    head = max((len(title) for title, _ in pairs), default=0) + TITLE_GAP
    each = (
        head
        + max((len(text) for _, text in pairs if len(text) <= SHORT_VALUE), default=0)
        + PAIR_GAP
    )
    beside = max(1, (width + PAIR_GAP) // each)
    line: list[Content] = []

    def cell(title: str, text: str) -> Content:
        return Content.assemble((f"{title:<{head}}", "$text-muted"), text)

    for title, text in pairs:
        short = len(text) <= SHORT_VALUE
        if line and (not short or len(line) == beside):
            yield Content("").join(line)
            line = []
        if short:
            line.append(cell(title, f"{text:<{each - head}}"))
            continue
        first, *rest = wrap(text, max(width - head, 20)) or [""]
        yield cell(title, first)
        yield from (cell("", more) for more in rest)
    if line:
        yield Content("").join(line)


def whole(sheet: Sheet, at: int) -> tuple[str, str]:
    """Return the name of a row and everything that is known of it: every value, texts with their
    lines.
    """
    table, row = sheet.table, sheet.table.rows[at]
    shown = [
        (visible(column.title), _whole_value(column, column.value(row), text))
        for column, text in zip(table.columns, sheet.cells[at], strict=True)
    ]
    width = min(24, max((len(title) for title, text in shown if text), default=0))
    values = "\n".join(
        f"{title:<{width}}  {text}" for title, text in shown if text not in ("", NONE)
    )
    reasons = [f"{title} undefined: {why}" for title, why in sheet.undefined(at)]
    said = [visible(one, lines=True) for one in (*reasons, *_said(sheet, at))]
    parts = (values, "\n".join(said), visible(table.definition), "\n".join(sheet.notes))
    return _name(sheet, at), "\n\n".join(part for part in parts if part)


def _whole_value(column: Column[Any], value: object, text: str) -> str:
    return visible(column.words.get(value, value), lines=True) if isinstance(value, str) else text


def _name(sheet: Sheet, at: int) -> str:
    table = sheet.table
    return visible(" · ".join(_named(table, part) for part in table.key(table.rows[at]) if part))


def _cell(sheet: Sheet, at: int) -> Iterator[str | tuple[str, str]]:
    """Yield the marked column and its value, where one is marked."""
    if sheet.marked is not None:
        yield from ("  ", (visible(sheet.table.columns[sheet.marked].title), "$text-accent"), "  ")
        yield sheet.cells[at][sheet.marked]


def _said(sheet: Sheet, at: int) -> Iterator[str]:
    """Yield what else is to be said of the marked cell, and of the row."""
    row = sheet.table.rows[at]
    of_cell = sheet.table.columns[sheet.marked].detail if sheet.marked is not None else None
    for detail in (of_cell, sheet.table.detail):
        yield from detail(row) if detail is not None else ()


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _named(table: AnyTable, name: str) -> str:
    """Return the words that a column has for a name."""
    return next((column.words[name] for column in table.columns if name in column.words), name)


def explained(table: AnyTable, *, opens: str = OPENS, turns: str = "") -> str:
    """Return what `?` says: the definition of the figures, what each column measures, and the keys.

    `opens`: what Enter does; `turns`: what ← and → do, where they do something.
    """
    helped = [
        (_heading(column), column.help) for column in table.columns if column.help or column.short
    ]
    width = max((len(title) for title, _ in helped), default=0)
    columns = "\n".join(f"{title:<{width}}  {text}".rstrip() for title, text in helped)
    drawn = [column for column in table.columns if column.scale is not None]
    hollow = (
        HOLLOW_SAID
        if any(_is_few(column.value(row)) for column in drawn for row in table.rows)
        else ""
    )
    keys = " ".join(filter(None, (opens, turns, _keys(table))))
    return "\n\n".join(
        part
        for part in (
            table.title,
            table.definition,
            columns,
            *table.notes,
            *told(table),
            hollow,
            keys,
        )
        if part
    )


def _keys(table: AnyTable) -> str:
    """Return what keys narrow and sort a table, of those that work on it."""
    if not table.rows:
        return "F1 lists every key."
    failed = "x shows only rows that fail a test, " if has_verdicts(table) else ""
    return f"s sorts by a column, / finds rows, {failed}0 shows all rows again; F1 lists every key."


def _heading(column: Column[Any]) -> str:
    """Return the heading of a column as a narrow table has it, too."""
    return (
        f"{column.short} = {column.title}"
        if column.short and column.short != column.title
        else column.title
    )


def _is_few(value: object) -> bool:
    return isinstance(value, Estimate) and bool(value.few)
