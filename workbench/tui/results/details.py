"""The details of the current row below a table, and the help of a table. They use no widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from textual.content import Content

from workbench.domain.verdicts import Estimate, RepeatedVerdict, Verdict
from workbench.figures.intervals import told
from workbench.figures.shown import NONE
from workbench.figures.table import AnyTable, Column, Kind, Value
from workbench.figures.visible import visible
from workbench.tui.results.sheet import Sheet

FAILURES = "failures"
"filter of every table with verdicts; other filters are named after their column"
SIGNS = "+−"
"signs before a word that indicate its side"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter of the rows of a table."""

    words: str
    admits: Callable[[Any], bool]


def choices(table: AnyTable, name: str) -> list[RowFilter]:
    """Return the filters that match some row: kinds of failures, or values of a column."""
    filters = _failures(table) if name == FAILURES else _values(table, name)
    return [row_filter for row_filter in filters if any(map(row_filter.admits, table.rows))]


def has_verdicts(table: AnyTable) -> bool:
    """Return whether a table has columns of verdicts."""
    return any(column.kind is Kind.VERDICT for column in table.columns)


def _failures(table: AnyTable) -> Iterator[RowFilter]:
    columns = [column for column in table.columns if column.kind is Kind.VERDICT]
    outcomes = [
        value
        for row in table.rows
        for column in columns
        if isinstance(value := column.value(row), RepeatedVerdict)
    ]
    tested = max((outcome.tested for outcome in outcomes), default=0)
    yield RowFilter("failed any test", _any(columns, lambda value: _verdict(value) is Verdict.FAIL))
    for column in columns:
        yield RowFilter(
            f"failed {visible(column.title)}",
            _any([column], lambda value: _verdict(value) is Verdict.FAIL),
        )
    yield RowFilter(
        "too few answers for a test",
        _any(columns, lambda value: _verdict(value) is Verdict.INSUFFICIENT),
    )
    yield RowFilter("a test is void", _any(columns, lambda value: _void(value, tested)))


def _any(columns: Sequence[Column[Any]], holds: Callable[[Value], bool]) -> Callable[[Any], bool]:
    return lambda row: any(holds(column.value(row)) for column in columns)


def _verdict(value: Value) -> Value:
    return value.verdict if isinstance(value, RepeatedVerdict) else value


def _void(value: Value, tested: int) -> bool:
    """Return whether a test cannot fail, or cannot under one of several templates."""
    return _verdict(value) is Verdict.VOID or (
        isinstance(value, RepeatedVerdict) and value.tested < tested
    )


def _values(table: AnyTable, name: str) -> Iterator[RowFilter]:
    column = next((candidate for candidate in table.columns if candidate.key == name), None)
    if column is None:
        return
    for word in dict.fromkeys(word for row in table.rows for word in _words(column, row)):
        label = visible(column.words.get(word, word)).replace("_", " ")
        yield RowFilter(f"{visible(column.title)}: {label}", _says(column, word))


def _says(column: Column[Any], word: str) -> Callable[[Any], bool]:
    return lambda row: word in _words(column, row)


def _words(column: Column[Any], row: Any) -> list[str]:
    value = column.value(row)
    if isinstance(value, str):
        return [value] if value else []
    return [str(part).lstrip(SIGNS) for part in value] if isinstance(value, Sequence) else []


OPENS = "Enter opens what a row rests on, Esc goes back."
TURNS = "← → show the table for the next model, issue or the like."
TURNS_ROWS = "← → show what the next row rests on, or the one before."
TURNS_COLUMNS = "← → go to the column beside."
HOLLOW_SAID = (
    "○ in a picture: the value rests on too little data for an interval; a note says how much."
)
TITLE_GAP, PAIR_GAP, SHORT_VALUE = 1, 2, 26
"blanks after a title and between pairs, and greatest width of a value that shares its line"
LONGEST = 300
"maximum number of characters of a hidden value in the details"


def details(sheet: Sheet, at: int, width: int, room: int | None = None) -> Content:
    """Return the details of a row that the visible columns omit: its texts, reasons and values.

    `width`: columns for the table; `room`: columns for the details, if they stand beside it
    """
    return Content("\n").join(_details(sheet, at, width, room or width))


def _details(sheet: Sheet, at: int, width: int, room: int) -> Iterator[Content]:
    table = sheet.table
    texts = [visible(text, lines=True) for text in _further_texts(sheet, at)]
    hidden = [
        (column, _beginning(text))
        for column, text in _hidden_values(sheet, at, width)
        if text not in texts
    ]
    main_text = next((text for column, text in hidden if column.main), "")
    yield _first_line(sheet, at, main_text)
    yield from map(Content, texts)
    for title, reason in sheet.undefined(at):
        yield Content.styled(f"{visible(title)} undefined: {visible(reason)}", "$text-warning")
    short_notes = [note for note in sheet.notes if len(note) <= 2 * room]
    long_notes = [note for note in sheet.notes if note not in short_notes]
    yield from (Content.styled(note, "$text-muted") for note in short_notes)
    yield from aligned(
        [(visible(column.title), text) for column, text in hidden if text != main_text], room
    )
    yield from (Content.styled(note, "$text-muted") for note in long_notes)
    if table.definition:
        yield Content.styled(visible(table.definition), "$text-muted")


def _hidden_values(sheet: Sheet, at: int, width: int) -> Iterator[tuple[Column[Any], str]]:
    """Yield the columns that a width omits or shortens, with the values of a row."""
    for index in sheet.hidden(width):
        column, text = sheet.table.columns[index], sheet.cells[at][index]
        if column.kind is not Kind.MARK and text not in ("", NONE):
            yield column, text


def _first_line(sheet: Sheet, at: int, main_text: str) -> Content:
    """Return the name of a row, with its main text and the value of a marked column."""
    main_part = f"  {main_text}" if main_text else ""
    return Content.assemble((_name(sheet, at), "bold"), main_part, *_cell(sheet, at))


def aligned(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[Content]:
    """Yield titles and values as lines of a small table.

    Short pairs share a line, long ones have their own.

    Examples
    --------
    >>> pairs = [("country", "vd"), ("n", "12"), ("text", "The minimum wage should rise at once.")]
    >>> for line in aligned(pairs, 40):
    ...     print(line.plain.rstrip())
    country vd  n       12
    text    The minimum wage should rise at
            once.
    """
    return _AlignedPairs(pairs, width).lines()


class _AlignedPairs:
    """Titles and values in columns of a width."""

    def __init__(self, pairs: Sequence[tuple[str, str]], width: int):
        self._pairs = pairs
        self._width = width
        self._title_width = max((len(title) for title, _ in pairs), default=0) + TITLE_GAP
        short_values = [len(text) for _, text in pairs if len(text) <= SHORT_VALUE]
        self._value_width = max(short_values, default=0) + PAIR_GAP
        pair_width = self._title_width + self._value_width
        self._n_per_line = max(1, (width + PAIR_GAP) // pair_width)

    def lines(self) -> Iterator[Content]:
        """Yield the lines from top to bottom."""
        line: list[Content] = []
        for title, text in self._pairs:
            is_short = len(text) <= SHORT_VALUE
            if line and (not is_short or len(line) == self._n_per_line):
                yield Content("").join(line)
                line = []
            if is_short:
                line.append(self._pair(title, f"{text:<{self._value_width}}"))
            else:
                yield from self._long_pair(title, text)
        if line:
            yield Content("").join(line)

    def _long_pair(self, title: str, text: str) -> Iterator[Content]:
        """Yield a pair in lines of its own, with the title in the first one."""
        width = max(self._width - self._title_width, 20)
        for segment in wrap(text, width) or [""]:
            yield self._pair(title, segment)
            title = ""

    def _pair(self, title: str, text: str) -> Content:
        return Content.assemble((f"{title:<{self._title_width}}", "$text-muted"), text)


def all_details(sheet: Sheet, at: int) -> tuple[str, str]:
    """Return the name of a row and all its values, reasons and notes, texts with their lines."""
    table, row = sheet.table, sheet.table.rows[at]
    values_by_title = [
        (visible(column.title), _whole_value(column, column.value(row), text))
        for column, text in zip(table.columns, sheet.cells[at], strict=True)
    ]
    width = min(24, max((len(title) for title, text in values_by_title if text), default=0))
    values = "\n".join(
        f"{title:<{width}}  {text}" for title, text in values_by_title if text not in ("", NONE)
    )
    reasons = [f"{title} undefined: {reason}" for title, reason in sheet.undefined(at)]
    texts = [visible(text, lines=True) for text in (*reasons, *_further_texts(sheet, at))]
    parts = (values, "\n".join(texts), visible(table.definition), "\n".join(sheet.notes))
    return _name(sheet, at), "\n\n".join(part for part in parts if part)


def _whole_value(column: Column[Any], value: object, text: str) -> str:
    return visible(column.words.get(value, value), lines=True) if isinstance(value, str) else text


def _name(sheet: Sheet, at: int) -> str:
    table = sheet.table
    return visible(" · ".join(_named(table, part) for part in table.key(table.rows[at]) if part))


def _cell(sheet: Sheet, at: int) -> Iterator[str | tuple[str, str]]:
    """Yield the marked column and its value if a column is marked."""
    if sheet.marked is not None:
        yield from ("  ", (visible(sheet.table.columns[sheet.marked].title), "$text-accent"), "  ")
        yield sheet.cells[at][sheet.marked]


def _further_texts(sheet: Sheet, at: int) -> Iterator[str]:
    """Yield further texts on the marked cell and on the row."""
    row = sheet.table.rows[at]
    cell_detail = sheet.table.columns[sheet.marked].detail if sheet.marked is not None else None
    for detail in (cell_detail, sheet.table.detail):
        if detail is not None:
            yield from detail(row)


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _named(table: AnyTable, name: str) -> str:
    """Return the text that a column has for a name, or the name itself."""
    return next((column.words[name] for column in table.columns if name in column.words), name)


def table_help(table: AnyTable, *, opens: str = OPENS, turns: str = "") -> str:
    """Return the help of a table: its definition, what each column measures, and the keys.

    `opens`: what Enter does; `turns`: what ← and → do, or empty
    """
    keys = [text for text in (opens, turns, _keys(table)) if text]
    parts = (
        table.title,
        table.definition,
        _columns_help(table),
        *table.notes,
        *told(table),
        HOLLOW_SAID if _has_hollow_pictures(table) else "",
        " ".join(keys),
    )
    return "\n\n".join(part for part in parts if part)


def _columns_help(table: AnyTable) -> str:
    """Return a line for each column with help or a short title."""
    columns = [column for column in table.columns if column.help or column.short]
    headings = [_heading(column) for column in columns]
    width = max(map(len, headings), default=0)
    return "\n".join(
        f"{heading:<{width}}  {column.help}".rstrip()
        for heading, column in zip(headings, columns, strict=True)
    )


def _has_hollow_pictures(table: AnyTable) -> bool:
    """Return whether some drawn value rests on too little data for an interval."""
    drawn_columns = [column for column in table.columns if column.scale is not None]
    return any(_is_few(column.value(row)) for column in drawn_columns for row in table.rows)


def _keys(table: AnyTable) -> str:
    """Return the help of the keys that filter and sort a table, of those that work on it."""
    if not table.rows:
        return "F1 lists every key."
    test_keys = "x shows only rows that fail a test, " if has_verdicts(table) else ""
    return (
        f"s sorts by a column, / finds rows, {test_keys}0 shows all rows again; F1 lists every key."
    )


def _heading(column: Column[Any]) -> str:
    """Return the heading of a column with the short title of narrow tables."""
    return (
        f"{column.short} = {column.title}"
        if column.short and column.short != column.title
        else column.title
    )


def _is_few(value: object) -> bool:
    return isinstance(value, Estimate) and bool(value.few)
