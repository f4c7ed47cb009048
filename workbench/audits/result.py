"""The result of an audit: a book of tables, and what stands beside it. What is printed, shown,
reported, exported or compared is made here of a `Result`, for every audit.

A command line names tables and rows: `--table cells topics`, `--table questions MODEL odd_even
key_typo`, `--where bias=odd_even,allow_forbid`. Without a table people get those that the audit
puts first, and programs get all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from workbench.audits.claims import Finding
from workbench.audits.printed import HomeLine, Medium, Printed
from workbench.audits.reported import Reference, Reported, ReportedItem, Wanted
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.verdicts import Outcome
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.evidence.runs import Which
from workbench.figures.book import Book
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link
from workbench.options.option import Option
from workbench.options.schema import AS_PUBLISHED, Options, Parameter, check_compared
from workbench.options.shared import WITHOUT_RULINGS

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.judge import Compared

T = TypeVar("T")
NAMED = 8
"values or tables that an error lists"


class NothingToShow(UsageError):
    """A table that is named has nothing to show in these answers."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What a result comes to in a line."""

    whose: str
    "name of the run or model"
    found: str
    below: Sequence[tuple[str, bool]] = ()
    "(words, whether they are a warning)"


class Later(Sequence[T]):
    """Values that are made when somebody first reads them, since most readers of a result do
    not.
    """

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[T, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self._made[at]

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, eq=False, slots=True)
class Result:
    """What an audit says of some runs."""

    which: Which
    options: Options
    instrument: Instrument
    "as it was asked"
    runs: Mapping[str, Run]
    """name in the figures -> run; imported answers have none. Of several runs under one name, see
    `whose`"""
    names: tuple[str, ...]
    "whose figures these are"
    book: Book
    first: tuple[str, ...]
    "names of the tables that people see first"
    findings: Sequence[Finding]
    "what the figures come to, in plain sentences, the most important first"
    headline: Headline | Callable[[], Headline] | None
    """makes the headline where that takes a moment. None: nobody's figures are there yet, so Home
    and reports leave the result out
    """
    leads: Sequence[str] = ()
    """sentences that stand before the tables where these are printed: what a report says in its
    first findings"""
    further: Sequence[Headline] = ()
    "the same of further models, each a line of Home"
    rulings: Told = NOTHING_RULED
    answered: Sequence[Answered] = ()
    items: Mapping[str, Sequence[ReportedItem]] = field(default_factory=dict)
    "name in the figures -> its statements"
    limits: Sequence[str] = ()
    "what the figures do not show, in sentences"
    references: Sequence[Reference] = ()
    unfolded: Sequence[str] = ()
    "names of the tables that a report shows unfolded; empty: those that come first"
    words: Sequence[str] = ()
    "what else is in force beside the options, in a few words each, for the line above tables"
    reader: str = ""
    "whose readings count, where that can be chosen: a classifier, or people"
    readers: Mapping[str, int] = field(default_factory=dict)
    "name of a run -> rowid of its reader; without those that nothing in the store reads"
    codebook: str = ""
    """of the people's labels that the figures rest on, directly or through a classifier; empty: on
    none"""
    whose: Mapping[str, str] = field(default_factory=dict)
    """name of a run -> name in the figures, where that is another: of a model that was asked about
    several instruments"""
    about: Mapping[str, Any] = field(default_factory=dict)
    "what programs get beside the tables, as plain values"
    baselines: tuple[str, ...] = ()
    """names that stand beside these in tables and can be compared with them, and are nobody's
    figures: baselines"""
    compared: Callable[[Sequence[str]], Compared] | None = None
    "puts runs side by side, by their names"
    beside: Mapping[str, Run] = field(default_factory=dict)
    "runs that can be compared, by name, of a result about one of them; empty: those of `names`"
    again: Callable[[Any], Result | None] | None = None
    """takes other options of the audit and returns their result on the same answers: nothing is
    read. None where the answers have to be read for it
    """
    all_models: Callable[[], AnyTable] | None = None
    "makes the table and picture of all models for the page of a report; see `of_all_models`"
    steps: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    "option that declares no choices -> the values that there are; None means the first one"
    judged: Any = None
    "what the tables were made of: for the audit's own views"

    def runs_of(self, name: str) -> list[Run]:
        """Return the runs under a name in the figures, the newest at the end."""
        return [run for of, run in self.runs.items() if self.whose.get(of, of) == name]

    @property
    def models(self) -> dict[str, str]:
        """The model of each name in the figures; answers that were imported are called like their
        model.
        """
        return {
            name: of[0].model if (of := self.runs_of(name)) else name
            for name in (*self.names, *self.baselines)
        }

    @property
    def comparable(self) -> dict[str, str]:
        """The model of each run that can be compared, by the run's name; none where there are not
        two.
        """
        there = {name: run.model for name, run in self.beside.items()} or self.models
        return there if self.compared is not None and len(there) > 1 else {}

    @property
    def labels(self) -> dict[str, str]:
        """The name of each run that can be compared, by the longer name that lists of runs
        print.
        """
        runs = self.beside or {
            name: of[0] for name in self.names if len(of := self.runs_of(name)) == 1
        }
        return {run.label: name for name, run in runs.items()}


def tables(
    result: Result, wanted: Sequence[str], where: Mapping[str, Sequence[str]], medium: Medium
) -> tuple[AnyTable, ...]:
    """Return the tables that are named, each with the words of its subject; without names, those
    that a medium gets.

    Parameters
    ----------
    wanted : names of tables, each followed by its subject if there are several of its name
    where : key of a column -> values of the rows to keep; tables without the column keep theirs

    Raises UnknownName for a table, a column or a value that is not there.
    """
    if wanted:
        made = _every_named(result.book, wanted, medium)
    elif medium.data:
        made = list(result.book.every())
    else:
        there = {entry.name for entry in result.book.contents if not entry.empty}
        made = [_named(result.book, medium, name) for name in result.first if name in there]
    _check(made, where)
    return tuple(only(one, where) for one in made)


def _every_named(book: Book, wanted: Sequence[str], medium: Medium) -> list[AnyTable]:
    """Return the tables that are named. What has nothing to show is a note below the last one of
    the others.

    Raises NothingToShow if nothing of it has.
    """
    made: list[AnyTable] = []
    missing: list[NothingToShow] = []
    for name, *subject in _split(book, wanted):
        try:
            made.append(_named(book, medium, name, *subject))
        except NothingToShow as error:
            missing.append(error)
    if missing and not made:
        raise missing[0]
    if missing:
        made[-1] = replace(
            made[-1], notes=(*made[-1].notes, *(f"T{str(one)[1:]}" for one in missing))
        )
    return made


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


def _named(book: Book, medium: Medium, name: str, *subject: str) -> AnyTable:
    entry = next((one for one in book.contents if one.name == name), None)
    if entry is not None and (not subject or subject in entry.subjects):
        if entry.empty:
            raise NothingToShow(f"there is no table {name!r}: {entry.empty}")
        if medium.data and entry.full is not None:
            return entry.full(*subject)
        return (
            entry.whole()
            if entry.whole is not None and not subject
            else entry.make(*(subject or entry.subjects[0]))
        )
    if name not in book.behind:
        if entry is not None:
            about = (
                "; ".join(" ".join(one) for one in entry.subjects[:NAMED] if one)
                or "nothing in particular"
            )
            raise UnknownName(
                f"the table {name!r} is not about {' '.join(subject)!r}. It is about: {about}"
            )
        there = ", ".join(
            dict.fromkeys((*(one.name for one in book.contents if not one.empty), *book.behind))
        )
        raise UnknownName(f"there is no table {name!r}. Available: {there}")
    try:
        made = book.follow(Link(name, subject))
    except TypeError as error:  # too few or too many words of a subject
        raise UsageError(
            f"found --table {' '.join((name, *subject))}, which names no row; {error}"
        ) from error
    assert made is not None, "the book has what it names"
    return made


def only(table: AnyTable, where: Mapping[str, Sequence[str]]) -> AnyTable:
    """Return a table with the rows whose columns have one of these values; columns that it lacks
    say nothing.
    """
    columns = [column for column in table.columns if column.key in where]
    if not columns:
        return table
    return replace(
        table,
        rows=[row for row in table.rows if all(_has(row, one, where[one.key]) for one in columns)],
    )


def _has(row: Any, column: Column[Any], values: Sequence[str]) -> bool:
    value = _said(row, column)
    said = {str(value), column.words.get(str(value), "")}
    return bool(said & set(values))


def _said(row: Any, column: Column[Any]) -> Any:
    """Return a value as a condition names it: a verdict on several templates as the verdict."""
    value = column.value(row)
    return value.verdict if isinstance(value, Outcome) else value


def _check(made: Sequence[AnyTable], where: Mapping[str, Sequence[str]]) -> None:
    """Raise UnknownName for a column that no table has, or a value that no row has."""
    for key, values in where.items():
        of = [
            (column, table.rows) for table in made for column in table.columns if column.key == key
        ]
        if not of:
            there = ", ".join(
                dict.fromkeys(column.key for table in made for column in table.columns)
            )
            raise UnknownName(f"no table here has the column {key!r}. Available: {there}")
        for value in values:
            if not any(_has(row, column, (value,)) for column, rows in of for row in rows):
                known = list(
                    dict.fromkeys(str(_said(row, column)) for column, rows in of for row in rows)
                )
                more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
                raise UnknownName(
                    f"no row has {key}={value}. Available: {', '.join(known[:NAMED])}{more}"
                )


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
            raise UsageError(
                f"found --where {word!r}; give COLUMN=VALUE, as --json names columns and values"
            )
        found[key.strip()] = (*found.get(key.strip(), ()), *listed(values))
    return found


def printed(
    result: Result,
    wanted: Sequence[str],
    where: Mapping[str, Sequence[str]],
    compare: Sequence[str],
    medium: Medium,
) -> Printed:
    """Return what a verb prints or writes of a result. Runs side by side stand alone, or after the
    tables that are named.

    Raises UnknownName, UsageError.
    """
    from workbench.audits.comparison.judge import meant

    book, about = result.book, about_of(result)
    check_compared(result.options.same_within, compare)
    if compare:
        if result.compared is None:
            raise UsageError("this audit compares no runs; leave out --compare")
        beside = tables(result, wanted, where, medium) if wanted else ()
        found = side_by_side(
            put_beside(result, meant(compare, result.models, result.labels)),
            where,
            medium,
            about,
            beside,
        )
    else:
        made = tables(result, wanted, where, medium)
        told = (*result.leads, *book.told)
        found = Printed(made, about, book.title, told, book.notes, book.header, book.methods)
    return with_rules(found, result.options)


def put_beside(result: Result, names: Sequence[str]) -> Compared:
    """Return runs side by side, with what is no difference by the options. Raises UsageError,
    UnknownName.
    """
    assert result.compared is not None, "it compares runs"
    compared = result.compared(names)
    if compared.rulings is NOTHING_RULED:  # one result has the rulings on all of its models
        compared = replace(compared, rulings=result.rulings)
    return replace(compared, within=result.options.same_within)


def with_rules(found: Printed, options: Options) -> Printed:
    """Return what is printed, below the published rules where they are in force."""
    rules = options.published_said()
    return replace(found, told=(rules, *found.told)) if rules else found


def about_of(result: Result) -> dict[str, Any]:
    """Return what programs get beside tables, as plain values."""
    return {
        **result.book.about,
        **result.about,
        **choices(result.which, result.options),
        "notes": result.book.notes,
        "rulings": result.rulings.as_json(),
    }


def choices(which: Which, options: Options) -> dict[str, Any]:
    """Return which answers figures are of and how they are judged, as plain values."""
    from workbench.version import __version__

    return {"which": asdict(which), "options": options.record(), "workbench": __version__}


def side_by_side(
    of: Compared,
    where: Mapping[str, Sequence[str]],
    medium: Medium,
    about: Mapping[str, Any],
    named: Sequence[AnyTable] = (),
) -> Printed:
    """Return what a verb prints or writes of a comparison. `named`: tables that are asked for by
    name, which come first. Raises UnknownName.
    """
    from workbench.audits.comparison.book import printed as compared

    found = compared(of, medium, about, named)
    if where and not named:
        _check(found.tables, where)
    return replace(found, tables=[only(one, where) for one in found.tables])


def reported(
    result: Result, store: Store, wanted: Wanted, command: str, readers: Sequence[Option]
) -> Iterator[Reported]:
    """Yield the part of a report on a result, and the comparison of its runs if one is wanted;
    nothing if nobody's figures are there yet. The last two: see `Audit`.
    """
    if result.headline is None:
        return
    rules = result.options.published_said()
    book = replace(result.book, told=(rules, *result.book.told)) if rules else result.book
    yield Reported(
        title=result.book.title,
        instrument=result.instrument,
        runs=result.runs,
        book=book,
        findings=result.findings,
        command=f"{_command(command, result, wanted)} --json",
        all_models=None if result.all_models is None else result.all_models(),
        answered=result.answered,
        rulings=result.rulings,
        changed={
            ref: of for run in result.runs.values() for ref, of in store.runs.outdated(run).items()
        },
        items=result.items,
        readers=result.readers,
        codebook=result.codebook,
        parameters=(*_readers(readers, result), *result.options.parameters()),
        limits=result.limits,
        shown=tuple(dict.fromkeys((*result.unfolded, *result.first))),
        references=result.references,
    )
    if not result.beside:
        yield from reported_beside(result, wanted, command)


def reported_beside(result: Result, wanted: Wanted, command: str) -> Iterator[Reported]:
    """Yield the comparison of the runs that a report is to compare, if two of these can be
    compared.
    """
    from workbench.audits.comparison.book import comparison, names_wanted

    if result.compared is not None and (
        names := names_wanted(wanted, result.comparable, result.labels)
    ):
        what = result.book.title.rpartition(": ")[2].capitalize()
        runs = result.beside or {
            name: of[0] for name in result.names if (of := result.runs_of(name))
        }
        meant = replace(result, which=Which(result.which.instrument)) if result.beside else result
        found = put_beside(result, names)
        yield comparison(found, what, result.instrument, runs, _command(command, meant, wanted))


def _command(command: str, result: Result, wanted: Wanted) -> str:
    """Return what prints a result of a report, without the form."""
    seed = result.options.offered().get("seed")
    chosen = getattr(result.options, "seed", None)
    return " ".join(
        [
            f"workbench {command}",
            *(f"--{name} {shlex.quote(value)}" for name, value in result.which.given().items()),
            *([f"--seed {chosen}"] if seed is not None and chosen != seed.option.default else []),
            *([AS_PUBLISHED.flag] if result.options.as_published else []),
            *([] if wanted.rulings else [WITHOUT_RULINGS.flag]),
        ]
    )


def _readers(readers: Sequence[Option], result: Result) -> Iterator[Parameter]:
    """Yield who read the answers, as a row of a report's table of choices."""
    for one in readers if result.reader else ():
        source = "chosen here" if result.which.readings.by is not None else one.none
        yield Parameter(one.title, result.reader, one.help, source)


def home_lines(result: Result, key: str, label: str, todo: str, todo_below: str) -> list[HomeLine]:
    """Return what Home says of a result: a line, or one for each of the first models. `key`: of the
    first line, with which those of the others begin.
    """
    first = result.headline() if callable(result.headline) else result.headline
    made = [
        _home_line(result, headline)
        for headline in (first, *result.further)
        if headline is not None
    ]
    return [
        replace(
            line,
            key=f"{key}{line.main if place else ''}",
            label=label,
            todo=todo,
            todo_below=todo_below,
        )
        for place, line in enumerate(made)
    ]


def _home_line(result: Result, headline: Headline) -> HomeLine:
    """Return a line; with a warning if a plan was answered in part."""
    run = next(reversed(result.runs_of(headline.whose)), None)
    part = [
        (f"! {number(one.share, Kind.SHARE)} of the plan was answered", True)
        for one in result.answered
        if one.partial and run is not None and one.name in (headline.whose, run.named)
    ]
    return HomeLine(
        "",
        "",
        headline.whose,
        headline.found,
        [*part, *headline.below],
        run=run,
    )


def note_count(result: Result) -> str:
    """Return how many notes there are to read, and the key that shows them; empty without notes."""
    return f"n: {plural(len(result.book.notes), 'note')}" if result.book.notes else ""
