"""Which rows of a table are in sight: those that fail a test, or of which a column says something; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.domain.verdicts import Outcome, Verdict
from workbench.figures.table import AnyTable, Column, Kind, Value
from workbench.figures.visible import visible

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
    """Return what can be shown alone, of which there is a row: failures of each kind, or the values of a column."""
    found = _failures(table) if name == FAILURES else _values(table, name)
    return [only for only in found if any(map(only.admits, table.rows))]


def has_verdicts(table: AnyTable) -> bool:
    """Return whether a table has columns of verdicts."""
    return any(column.kind is Kind.VERDICT for column in table.columns)


def _failures(table: AnyTable) -> Iterator[Only]:
    columns = [column for column in table.columns if column.kind is Kind.VERDICT]
    outcomes = [value for row in table.rows for column in columns if isinstance(value := column.value(row), Outcome)]
    tested = max((outcome.tested for outcome in outcomes), default=0)
    yield Only("failed any test", _any(columns, lambda value: _verdict(value) is Verdict.FAIL))
    for column in columns:
        yield Only(f"failed {visible(column.title)}", _any([column], lambda value: _verdict(value) is Verdict.FAIL))
    yield Only("too few answers for a test", _any(columns, lambda value: _verdict(value) is Verdict.INSUFFICIENT))
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
