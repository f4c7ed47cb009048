"""All figures of one result: its main tables, and the tables behind their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import UnknownName
from workbench.figures.table import AnyTable, Link

Subject = tuple[str, ...]
WARNS = "! "
"prefix of warnings in a header, which are always shown with the figures"


def warnings_of(header: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings of a header, without their prefix."""
    return tuple(line.removeprefix(WARNS) for line in header if line.startswith(WARNS))


def in_order(*headers: Sequence[str]) -> tuple[str, ...]:
    """Return several headers as one, with all warnings first."""
    lines = [line for header in headers for line in header]
    return tuple(sorted(lines, key=lambda line: not line.startswith(WARNS)))


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of the contents, computed when it is shown."""

    name: str
    title: str
    "description in a few words, for a list of tables: `policy issues`"
    make: Callable[..., AnyTable]
    "called with a subject"
    subjects: Sequence[Subject] = ((),)
    "possible subjects of the table: a model, two models"
    choices: Sequence[str] = ()
    "names of choices that affect this table and possibly not others: `formula`"
    empty: str = ""
    "why there is no table, and what to do next, or empty if there is one"
    view: str = ""
    "name of the picture that a screen draws beside the table, or empty for the table alone"
    whole: Callable[[], AnyTable] | None = None
    """makes one table about all subjects together, or is None if there is none

    Programs take it in place of one for each.
    """
    full: Callable[..., AnyTable] | None = None
    """makes the table for programs and reports, called with a subject

    It has all conditions that people choose from. None stands for the table that people see.
    """
    said: Callable[..., str] | None = None
    "returns a summary of the table in a few words, for the line above it, called with a subject"
    on_request: str = ""
    "why programs and reports get the table only on request by name, or empty if they always do"


@dataclass(frozen=True, slots=True)
class Book:
    """The figures of one result, in reading order."""

    title: str
    contents: Sequence[Entry]
    behind: Mapping[str, Callable[..., AnyTable]] = field(default_factory=dict)
    "name of a table -> function that makes it from the subject of a link"
    told: Sequence[str] = ()
    "sentences on the basis of the figures"
    header: Sequence[str] = ()
    """header lines of all figures

    They are the answered share of the plan, the reader, and the first sentences of `told`. A line
    that begins with `! ` is a warning.
    """
    notes: Sequence[str] = ()
    "notes for all figures"
    methods: str = ""
    "the paragraph for a paper"
    about: Mapping[str, object] = field(default_factory=dict)
    "the choices behind the figures, for programs"

    def entry(self, name: str) -> Entry:
        """Return an entry of the contents. Raises UnknownName."""
        for entry in self.contents:
            if entry.name == name:
                return entry
        available = ", ".join(entry.name for entry in self.contents)
        raise UnknownName(f"there is no table {name!r} here; there are {available}")

    def table(self, name: str, *subject: str) -> AnyTable:
        """Return a table of the contents, by default about its first subject.

        Raises UnknownName.
        """
        entry = self.entry(name)
        return entry.make(*(subject or entry.subjects[0]))

    def every(self) -> Iterator[AnyTable]:
        """Yield all tables of the contents for programs.

        They are about every subject, or all subjects together.
        """
        for entry in self.contents:
            if entry.empty or entry.on_request:
                continue
            make = entry.full or entry.make
            if entry.whole is not None:
                yield make() if entry.full is not None else entry.whole()
            else:
                yield from (make(*subject) for subject in entry.subjects)

    def follow(self, link: Link) -> AnyTable | None:
        """Return the table that a link points to, or None if it points outside the book.

        An answer, for instance, is outside.
        """
        make = self.behind.get(link.table)
        return make(*link.subject) if make is not None else None
