"""The result of an audit: a book of tables, and what stands beside it. What is printed, shown, reported, exported or
compared is made here of a `Result`, for every audit.

A command line names tables and rows: `--table cells topics`, `--table questions MODEL odd_even key_typo`, `--where
bias=odd_even,allow_forbid`. Without a table people get those that the audit puts first, and programs get all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.audits.printed import HomeLine, Medium, Printed
from workbench.audits.reported import Item, Reference, Reported, Wanted
from workbench.domain.counting import plural
from workbench.domain.instruments import Instrument
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.evidence.which import Which
from workbench.figures.book import Book
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link
from workbench.options.schema import Options

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.values import Compared

NAMED = 8
"values or tables that an error lists"


@dataclass(frozen=True, slots=True)
class Headline:
    """What a result comes to in a line."""

    whose: str
    "name of the run or model"
    found: str
    below: Sequence[tuple[str, bool]] = ()
    "(words, whether they are a warning)"


@dataclass(frozen=True, eq=False, slots=True)
class Result:
    """What an audit says of some runs."""

    which: Which
    options: Options
    instrument: Instrument
    "as it was asked"
    runs: Mapping[str, Run]
    "name in the figures -> run; imported answers have none"
    names: tuple[str, ...]
    "whose figures these are"
    book: Book
    first: tuple[str, ...]
    "names of the tables that people see first"
    findings: Sequence[str]
    "what the figures come to, in plain sentences, the most important first"
    headline: Headline
    rulings: Told = NOTHING_RULED
    answered: Sequence[Answered] = ()
    items: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    "name in the figures -> its statements"
    limits: Sequence[str] = ()
    "what the figures do not show, in sentences"
    references: Sequence[Reference] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    "what programs get beside the tables, as plain values"
    compared: Callable[[Sequence[str]], Compared] | None = None
    "puts runs side by side, by their names"
    again: Callable[[Any], Result] | None = None
    "takes other options of the audit and returns their result on the same answers: nothing is read"
    judged: Any = None
    "what the tables were made of: for the audit's own views"


def tables(
    result: Result, wanted: Sequence[str], where: Mapping[str, Sequence[str]], medium: Medium
) -> tuple[AnyTable, ...]:
    """Return the tables that are named, each with the words of its subject; without names, those that a medium gets.

    Parameters
    ----------
    wanted : names of tables, each followed by its subject if there are several of its name
    where : key of a column -> values of the rows to keep; tables without the column keep theirs

    Raises UnknownName for a table, a column or a value that is not there.
    """
    if wanted:
        made = [_named(result.book, name, *subject) for name, *subject in _split(result.book, wanted)]
    elif medium.data:
        made = list(result.book.every())
    else:
        there = [entry for entry in result.book.contents if entry.name in result.first and not entry.empty]
        made = [result.book.table(entry.name) for entry in sorted(there, key=lambda one: result.first.index(one.name))]
    _check(made, where)
    return tuple(only(one, where) for one in made)


def _split(book: Book, words: Sequence[str]) -> list[list[str]]:
    """Return the words of each table: a word that names a table begins the next one."""
    names = {entry.name for entry in book.contents} | set(book.behind)
    found: list[list[str]] = []
    for word in words:
        if word in names or not found:
            found.append([word])
        else:
            found[-1].append(word)
    return found


def _named(book: Book, name: str, *subject: str) -> AnyTable:
    entry = next((one for one in book.contents if one.name == name), None)
    if entry is not None and (not subject or subject in entry.subjects):
        if entry.empty:
            raise UsageError(f"there is no table {name!r}: {entry.empty}")
        return entry.whole() if entry.whole is not None and not subject else entry.make(*(subject or entry.subjects[0]))
    if name not in book.behind:
        if entry is not None:
            about = "; ".join(" ".join(one) for one in entry.subjects[:NAMED] if one) or "nothing in particular"
            raise UnknownName(f"the table {name!r} is not about {' '.join(subject)!r}. It is about: {about}")
        there = ", ".join(dict.fromkeys((*(one.name for one in book.contents if not one.empty), *book.behind)))
        raise UnknownName(f"there is no table {name!r}. Available: {there}")
    try:
        made = book.follow(Link(name, subject))
    except TypeError as error:  # too few or too many words of a subject
        raise UsageError(f"found --table {' '.join((name, *subject))}, which names no row; {error}") from error
    assert made is not None, "the book has what it names"
    return made


def only(table: AnyTable, where: Mapping[str, Sequence[str]]) -> AnyTable:
    """Return a table with the rows whose columns have one of these values; columns that it lacks say nothing."""
    columns = [column for column in table.columns if column.key in where]
    if not columns:
        return table
    return replace(table, rows=[row for row in table.rows if all(_has(row, one, where[one.key]) for one in columns)])


def _has(row: Any, column: Column[Any], values: Sequence[str]) -> bool:
    value = column.value(row)
    said = {str(value), column.words.get(str(value), "")}
    return bool(said & set(values))


def _check(made: Sequence[AnyTable], where: Mapping[str, Sequence[str]]) -> None:
    """Raise UnknownName for a column that no table has, or a value that no row has."""
    for key, values in where.items():
        of = [(column, table.rows) for table in made for column in table.columns if column.key == key]
        if not of:
            there = ", ".join(dict.fromkeys(column.key for table in made for column in table.columns))
            raise UnknownName(f"no table here has the column {key!r}. Available: {there}")
        for value in values:
            if not any(_has(row, column, (value,)) for column, rows in of for row in rows):
                known = list(dict.fromkeys(str(column.value(row)) for column, rows in of for row in rows))
                more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
                raise UnknownName(f"no row has {key}={value}. Available: {', '.join(known[:NAMED])}{more}")


def conditions(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read `column=value,value`. Raises UsageError.

    Examples
    --------
    >>> conditions(["bias=odd_even,allow_forbid", "model=a"])
    {'bias': ('odd_even', 'allow_forbid'), 'model': ('a',)}
    """
    from workbench.domain.names import listed

    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not listed(values):
            raise UsageError(f"found --where {word!r}; give COLUMN=VALUE, as --json names columns and values")
        found[key.strip()] = (*found.get(key.strip(), ()), *listed(values))
    return found


def printed(
    result: Result, wanted: Sequence[str], where: Mapping[str, Sequence[str]], compare: Sequence[str], medium: Medium
) -> Printed:
    """Return what a verb prints or writes of a result. Runs side by side stand alone, or after the tables that are
    named.

    Raises UnknownName, UsageError.
    """
    from workbench import __version__
    from workbench.audits.comparison.printed import printed as side_by_side
    from workbench.audits.comparison.values import meant

    book = result.book
    about = {
        **book.about,
        **result.about,
        "options": result.options.record(),
        "workbench": __version__,
        "notes": book.notes,
        "rulings": result.rulings.as_json(),
    }
    if compare:
        if result.compared is None:
            raise UsageError("this audit compares no runs; leave out --compare")
        models = {name: result.runs[name].model if name in result.runs else name for name in result.names}
        beside = tables(result, wanted, where, medium) if wanted else ()
        return side_by_side(result.compared(meant(compare, models)), medium, about, beside)
    made = tables(result, wanted, where, medium)
    return Printed(made, about, book.title, book.told, book.notes, book.header, book.methods)


def reported(result: Result, store: Store, wanted: Wanted, command: str) -> Iterator[Reported]:
    """Yield the part of a report on a result, and the comparison if one is wanted. `command`: see `Audit.command`."""
    from workbench.audits.comparison.reported import comparison, names_wanted

    command = f"workbench {command} --instrument {shlex.quote(result.instrument.name)}"
    chosen = f" --model {shlex.quote(','.join(result.which.models))}" if result.which.models else ""
    yield Reported(
        title=result.book.title,
        instrument=result.instrument,
        runs=result.runs,
        book=result.book,
        findings=result.findings,
        command=f"{command}{chosen} --json{'' if wanted.rulings else ' --without-rulings'}",
        answered=result.answered,
        rulings=result.rulings,
        changed={ref: of for run in result.runs.values() for ref, of in store.runs.outdated(run).items()},
        items=result.items,
        parameters=tuple(result.options.parameters()),
        limits=result.limits,
        shown=result.first,
        references=result.references,
    )
    models = {name: result.runs[name].model if name in result.runs else name for name in result.names}
    if result.compared is not None and (names := names_wanted(wanted, models)):
        what = result.book.title.rpartition(": ")[2].capitalize()
        yield comparison(result.compared(names), what, result.instrument, result.runs, command, result.rulings)


def home_line(result: Result, key: str, label: str, todo: str, todo_below: str) -> HomeLine:
    """Return what Home says of a result; a warning if a plan was answered in part."""
    headline = result.headline
    run = result.runs.get(headline.whose)
    part = [
        (f"! {number(one.share, Kind.SHARE)} of the plan was answered", True)
        for one in result.answered
        if one.partial and run is not None and one.name in (headline.whose, run.named)
    ]
    return HomeLine(
        key,
        label,
        headline.whose,
        headline.found,
        [*part, *headline.below],
        todo=todo,
        todo_below=todo_below,
        run=run,
    )


def note_count(result: Result) -> str:
    """Return how many notes there are to read, and the key that shows them; empty without notes."""
    return f"n: {plural(len(result.book.notes), 'note')}" if result.book.notes else ""


__all__ = [
    "Headline",
    "Result",
    "conditions",
    "home_line",
    "note_count",
    "only",
    "printed",
    "reported",
    "tables",
]
