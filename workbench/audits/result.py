"""The result of an audit: a book of tables, and the values beside it.

Printed, shown, reported, exported and compared figures are made here of a `Result`, for every
audit. A command line names tables and rows: `--table cells topics`, `--table questions MODEL
odd_even key_typo`, `--where bias=odd_even,allow_forbid`. Without a table people get those that the
audit puts first, and programs get all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, overload

from workbench.audits.claims import Finding
from workbench.audits.printed import HomeFigure, HomeLine, Medium, Printed
from workbench.audits.reported import Reference, Reported, ReportedItem, ReportRequest
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.verdicts import RepeatedVerdict
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.rulings import NOTHING_RULED, RulingNotes
from workbench.evidence.runs import AnswerSelection
from workbench.figures.book import Book
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind
from workbench.options.option import Option
from workbench.options.schema import AS_PUBLISHED, Options, Parameter, check_compared
from workbench.options.shared import WITHOUT_RULINGS

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.judge import Compared

T = TypeVar("T")
NAMED = 8
"the number of values or tables that an error lists"


class NothingToShow(UsageError):
    """A named table that has nothing to show in these answers."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The result of a run or model in one line."""

    whose: str
    "name of the run or model"
    found: str
    below: Sequence[tuple[str, bool]] = ()
    "(words, whether they are a warning)"
    figure: HomeFigure | None = None
    "the estimate that the line is about, if there is one"


class Later(Sequence[T]):
    """Values that are computed at the first reading. Most users of a result do not need them."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[T, ...]:
        """The computed values."""
        return tuple(self._make())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._made[index]

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, eq=False, slots=True)
class Result:
    """The figures of an audit on some runs."""

    which: AnswerSelection
    options: Options
    instrument: Instrument
    "as it was asked"
    runs: Mapping[str, Run]
    """by name in the figures; imported answers have none. For several runs under one name, see
    `whose`"""
    names: tuple[str, ...]
    "names of the runs or models that the figures are about"
    book: Book
    first: tuple[str, ...]
    "names of the tables that people see first"
    findings: Sequence[Finding]
    "plain sentences on the figures, the most important first"
    headline: Headline | Callable[[], Headline] | None
    """a function computes the headline if that takes a moment. None: there are no figures yet, so
    Home and reports omit the result"""
    leads: Sequence[str] = ()
    "sentences before the tables where these are printed, like a report's first findings"
    further: Sequence[Headline] = ()
    "the headlines of further models, each a line of Home"
    rulings: RulingNotes = NOTHING_RULED
    answered: Sequence[AnsweredPlan] = ()
    items: Mapping[str, Sequence[ReportedItem]] = field(default_factory=dict)
    "by name in the figures: the statements"
    limits: Sequence[str] = ()
    "sentences on the limits of the figures"
    references: Sequence[Reference] = ()
    unfolded: Sequence[str] = ()
    "names of the tables that a report shows unfolded; empty: those that come first"
    words: Sequence[str] = ()
    "further settings in force beside the options, in a few words each, for the line above tables"
    reader: str = ""
    "the reader whose readings count, if it can be chosen: a classifier, or people"
    readers: Mapping[str, int] = field(default_factory=dict)
    "by name of a run: rowid of its reader; without those that nothing in the store reads"
    codebook: str = ""
    """of the people's labels that the figures rest on, directly or through a classifier; empty if
    there are none"""
    whose: Mapping[str, str] = field(default_factory=dict)
    """by name of a run: its name in the figures, if that differs: of a model that was asked about
    several instruments"""
    about: Mapping[str, Any] = field(default_factory=dict)
    "further facts for programs, as plain values"
    baselines: tuple[str, ...] = ()
    "names of baselines, which are in tables and can be compared, but are no runs or models"
    compared: Callable[[Sequence[str]], Compared] | None = None
    "puts runs side by side, by their names"
    beside: Mapping[str, Run] = field(default_factory=dict)
    "for a result about one run: the runs that can be compared, by name; empty: those of `names`"
    again: Callable[[Any], Result | None] | None = None
    """takes other options of the audit and returns their result on the same answers, without
    reading. None if the answers have to be read for it"""
    all_models: Callable[[], AnyTable] | None = None
    "returns the table and picture of all models for the page of a report; see `of_all_models`"
    steps: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    "by option without declared choices: the possible values; None means the first one"
    judged: Any = None
    "the values behind the tables, for the audit's own views"

    def runs_of(self, name: str) -> list[Run]:
        """Return the runs under a name in the figures, the newest at the end."""
        return [
            run for run_name, run in self.runs.items() if self.whose.get(run_name, run_name) == name
        ]

    @property
    def models(self) -> dict[str, str]:
        """The model of each name in the figures. Imported answers have the name of their model."""
        return {
            name: runs[0].model if (runs := self.runs_of(name)) else name
            for name in (*self.names, *self.baselines)
        }

    @property
    def comparable(self) -> dict[str, str]:
        """The model of each run that can be compared, by the run's name.

        It is empty for fewer than two runs.
        """
        model_by_run = {name: run.model for name, run in self.beside.items()} or self.models
        return model_by_run if self.compared is not None and len(model_by_run) > 1 else {}

    @property
    def labels(self) -> dict[str, str]:
        """The name of each run that can be compared, by the longer name that lists print."""
        runs = self.beside or {
            name: own_runs[0] for name in self.names if len(own_runs := self.runs_of(name)) == 1
        }
        return {run.label: name for name, run in runs.items()}


def tables(
    result: Result, wanted: Sequence[str], where: Mapping[str, Sequence[str]], medium: Medium
) -> tuple[AnyTable, ...]:
    """Return the named tables, or those that a medium gets by default.

    Parameters
    ----------
    wanted : names of tables, each followed by its subject if there are several of its name
    where : by key of a column: the values of the rows to keep; tables without the column keep
        theirs

    Raises UnknownName for a table, a column or a value that does not exist.
    """
    if wanted:
        result_tables = _every_named(result.book, wanted, medium)
    elif medium.data:
        result_tables = list(result.book.every())
    else:
        available = {entry.name for entry in result.book.contents if not entry.empty}
        result_tables = [
            _named(result.book, medium, name) for name in result.first if name in available
        ]
    _check(result_tables, where)
    return tuple(only(table, where) for table in result_tables)


def _every_named(book: Book, wanted: Sequence[str], medium: Medium) -> list[AnyTable]:
    """Return the named tables.

    A table with nothing to show becomes a note below the last other one.

    Raises NothingToShow if no table has anything to show.
    """
    named_tables: list[AnyTable] = []
    reasons: list[NothingToShow] = []
    for name, *subject in _split(book, wanted):
        try:
            named_tables.append(_named(book, medium, name, *subject))
        except NothingToShow as error:
            reasons.append(error)
    if reasons and not named_tables:
        raise reasons[0]
    if reasons:
        # the message begins with "there", and a note with a capital letter
        named_tables[-1] = replace(
            named_tables[-1],
            notes=(*named_tables[-1].notes, *(f"T{str(reason)[1:]}" for reason in reasons)),
        )
    return named_tables


def _split(book: Book, words: Sequence[str]) -> list[list[str]]:
    """Return the words of each table: a word that names a table begins the next one."""
    names = {entry.name for entry in book.contents} | set(book.behind)
    words_by_table: list[list[str]] = []
    for word in words:
        if word in names or not words_by_table:
            words_by_table.append([word])
        else:
            words_by_table[-1].append(word)
    return words_by_table


def _named(book: Book, medium: Medium, name: str, *subject: str) -> AnyTable:
    """Return a table of a book by its name and subject.

    Raises NothingToShow for an empty table, UnknownName for an unknown table or subject, and
    UsageError for a subject that names no row.
    """
    entry = next((content for content in book.contents if content.name == name), None)
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
            subjects = (
                "; ".join(
                    " ".join(entry_subject)
                    for entry_subject in entry.subjects[:NAMED]
                    if entry_subject
                )
                or "nothing in particular"
            )
            raise UnknownName(
                f"the table {name!r} is not about {' '.join(subject)!r}. It is about: {subjects}"
            )
        available = ", ".join(
            dict.fromkeys(
                (*(content.name for content in book.contents if not content.empty), *book.behind)
            )
        )
        raise UnknownName(f"there is no table {name!r}. Available: {available}")
    make = book.behind[name]
    try:
        signature(make).bind(*subject)
    except TypeError as error:
        raise UsageError(
            f"found --table {' '.join((name, *subject))}, which names no row; {error}"
        ) from error
    return make(*subject)


def only(table: AnyTable, where: Mapping[str, Sequence[str]]) -> AnyTable:
    """Return a table with the rows whose columns have one of these values.

    Columns that the table lacks are ignored.
    """
    columns = [column for column in table.columns if column.key in where]
    if not columns:
        return table
    return replace(
        table,
        rows=[
            row
            for row in table.rows
            if all(_has(row, column, where[column.key]) for column in columns)
        ],
    )


def _has(row: Any, column: Column[Any], values: Sequence[str]) -> bool:
    """Return whether a row's value in a column is among these, as it is or in words."""
    value = _said(row, column)
    names = {str(value), column.words.get(str(value), "")}
    return bool(names & set(values))


def _said(row: Any, column: Column[Any]) -> Any:
    """Return a value as a condition names it. An outcome over several templates is its verdict."""
    value = column.value(row)
    return value.verdict if isinstance(value, RepeatedVerdict) else value


def _check(made: Sequence[AnyTable], where: Mapping[str, Sequence[str]]) -> None:
    """Raise UnknownName for a column that no table has, or a value that no row has."""
    for key, values in where.items():
        columns_with_rows = [
            (column, table.rows) for table in made for column in table.columns if column.key == key
        ]
        if not columns_with_rows:
            available = ", ".join(
                dict.fromkeys(column.key for table in made for column in table.columns)
            )
            raise UnknownName(f"no table here has the column {key!r}. Available: {available}")
        for value in values:
            if not any(
                _has(row, column, (value,)) for column, rows in columns_with_rows for row in rows
            ):
                existing = list(
                    dict.fromkeys(
                        str(_said(row, column))
                        for column, rows in columns_with_rows
                        for row in rows
                    )
                )
                more_text = f" and {len(existing) - NAMED} more" if len(existing) > NAMED else ""
                raise UnknownName(
                    f"no row has {key}={value}. Available: {', '.join(existing[:NAMED])}{more_text}"
                )


def conditions(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values by column of conditions `column=value,value`.

    Raises UsageError.

    Examples
    --------
    >>> conditions(["bias=odd_even,allow_forbid", "model=a"])
    {'bias': ('odd_even', 'allow_forbid'), 'model': ('a',)}
    """
    from workbench.domain.names import listed

    values_by_column: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not listed(values):
            raise UsageError(
                f"found --where {word!r}; give COLUMN=VALUE, as --json names columns and values"
            )
        values_by_column[key.strip()] = (*values_by_column.get(key.strip(), ()), *listed(values))
    return values_by_column


def printed(
    result: Result,
    wanted: Sequence[str],
    where: Mapping[str, Sequence[str]],
    compare: Sequence[str],
    medium: Medium,
) -> Printed:
    """Return the output of a verb for a result.

    Runs side by side are alone, or after the named tables. Raises UnknownName, UsageError.
    """
    from workbench.audits.comparison.judge import resolve_run_names

    book, about = result.book, about_of(result)
    check_compared(result.options.same_within, compare)
    if compare:
        if result.compared is None:
            raise UsageError("this audit compares no runs; leave out --compare")
        named_tables = tables(result, wanted, where, medium) if wanted else ()
        output = side_by_side(
            put_beside(result, resolve_run_names(compare, result.models, result.labels)),
            where,
            medium,
            about,
            named_tables,
        )
    else:
        result_tables = tables(result, wanted, where, medium)
        basis = (*result.leads, *book.told)
        output = Printed(
            result_tables, about, book.title, basis, book.notes, book.header, book.methods
        )
    return with_rules(output, result.options)


def put_beside(result: Result, names: Sequence[str]) -> Compared:
    """Return runs side by side, with the greatest difference that counts as none.

    Raises UsageError, UnknownName.
    """
    assert result.compared is not None, "it compares runs"
    comparison = result.compared(names)
    if comparison.rulings is NOTHING_RULED:  # one result has the rulings on all of its models
        comparison = replace(comparison, rulings=result.rulings)
    return replace(comparison, within=result.options.same_within)


def with_rules(printed: Printed, options: Options) -> Printed:
    """Return the printed figures, with the published rules above them if they are in force."""
    rules = options.published_said()
    return replace(printed, told=(rules, *printed.told)) if rules else printed


def about_of(result: Result) -> dict[str, Any]:
    """Return the facts that programs get beside tables, as plain values."""
    return {
        **result.book.about,
        **result.about,
        **choices(result.which, result.options),
        "notes": result.book.notes,
        "rulings": result.rulings.as_json(),
    }


def choices(which: AnswerSelection, options: Options) -> dict[str, Any]:
    """Return the selection of answers and the options of the judging, as plain values."""
    from workbench.version import __version__

    return {"which": asdict(which), "options": options.record(), "workbench": __version__}


def side_by_side(
    comparison: Compared,
    where: Mapping[str, Sequence[str]],
    medium: Medium,
    about: Mapping[str, Any],
    named_tables: Sequence[AnyTable] = (),
) -> Printed:
    """Return the output of a verb for a comparison.

    `named_tables` has the tables that were requested by name. They come first. Raises UnknownName.
    """
    from workbench.audits.comparison.book import printed as compared

    output = compared(comparison, medium, about, named_tables)
    if where and not named_tables:
        _check(output.tables, where)
    return replace(output, tables=[only(table, where) for table in output.tables])


def reported(
    result: Result, store: Store, request: ReportRequest, command: str, readers: Sequence[Option]
) -> Iterator[Reported]:
    """Yield the section of a report on a result, and the comparison of its runs if requested.

    Nothing is yielded if there are no figures yet. For `command` and `readers` see `Audit`.
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
        command=f"{_command(command, result, request)} --json",
        all_models=None if result.all_models is None else result.all_models(),
        answered=result.answered,
        rulings=result.rulings,
        changed={
            ref: versions
            for run in result.runs.values()
            for ref, versions in store.runs.outdated(run).items()
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
        yield from reported_beside(result, request, command)


def reported_beside(result: Result, request: ReportRequest, command: str) -> Iterator[Reported]:
    """Yield the comparison of the runs that a report names, if two of them can be compared."""
    from workbench.audits.comparison.book import comparison, names_wanted

    if result.compared is not None and (
        names := names_wanted(request, result.comparable, result.labels)
    ):
        subject = result.book.title.rpartition(": ")[2].capitalize()
        runs = result.beside or {
            name: own_runs[0] for name in result.names if (own_runs := result.runs_of(name))
        }
        # the command of a comparison does not name the one run of the result
        command_result = (
            replace(result, which=AnswerSelection(result.which.instrument))
            if result.beside
            else result
        )
        comparison_of_runs = put_beside(result, names)
        yield comparison(
            comparison_of_runs,
            subject,
            result.instrument,
            runs,
            _command(command, command_result, request),
        )


def _command(command: str, result: Result, request: ReportRequest) -> str:
    """Return the command that prints a result of a report, without the form."""
    seed_field = result.options.offered().get("seed")
    seed_value = getattr(result.options, "seed", None)
    return " ".join(
        [
            f"workbench {command}",
            *(
                f"--{name} {shlex.quote(value)}"
                for name, value in result.which.to_options().items()
            ),
            *(
                [f"--seed {seed_value}"]
                if seed_field is not None and seed_value != seed_field.option.default
                else []
            ),
            *([AS_PUBLISHED.flag] if result.options.as_published else []),
            *([] if request.rulings else [WITHOUT_RULINGS.flag]),
        ]
    )


def _readers(readers: Sequence[Option], result: Result) -> Iterator[Parameter]:
    """Yield the reader of the answers, as a row of a report's table of choices."""
    for option in readers if result.reader else ():
        source = "chosen here" if result.which.readings.by is not None else option.none
        yield Parameter(option.title, result.reader, option.help, source)


def home_lines(result: Result, key: str, label: str, todo: str, todo_below: str) -> list[HomeLine]:
    """Return Home's lines on a result: one, or one for each of the first models.

    `key` is that of the first line. Those of the others begin with it.
    """
    first_headline = result.headline() if callable(result.headline) else result.headline
    lines = [
        _home_line(result, headline)
        for headline in (first_headline, *result.further)
        if headline is not None
    ]
    return [
        replace(
            line,
            key=f"{key}{line.main if index else ''}",
            label=label,
            todo=todo,
            todo_below=todo_below,
        )
        for index, line in enumerate(lines)
    ]


def _home_line(result: Result, headline: Headline) -> HomeLine:
    """Return a line of Home, with a warning if a plan was answered in part."""
    run = next(reversed(result.runs_of(headline.whose)), None)
    warnings = [
        (f"! {number(answered.share, Kind.SHARE)} of the plan was answered", True)
        for answered in result.answered
        if answered.partial and run is not None and answered.name in (headline.whose, run.named)
    ]
    return HomeLine(
        "",
        "",
        headline.whose,
        headline.found,
        [*warnings, *headline.below],
        run=run,
        figure=headline.figure,
    )


def note_count(result: Result) -> str:
    """Return the number of notes, and the key that shows them, or an empty string without notes."""
    return f"n: {plural(len(result.book.notes), 'note')}" if result.book.notes else ""
