"""All figures of one result: tables that stand for themselves, and tables that rows of these were made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import UnknownName
from workbench.figures.table import AnyTable, Link

Subject = tuple[str, ...]
WARNS = "! "
"a line of a header that begins so is a warning: no figure is shown without it"


def warnings_of(header: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of a header that are warnings, without their sign."""
    return tuple(line.removeprefix(WARNS) for line in header if line.startswith(WARNS))


def in_order(*headers: Sequence[str]) -> tuple[str, ...]:
    """Return headers as one: the warnings of all first."""
    lines = [line for header in headers for line in header]
    return tuple(sorted(lines, key=lambda line: not line.startswith(WARNS)))


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of the contents. It is made when somebody looks at it."""

    name: str
    title: str
    "in a few words, as it stands in a list of tables: `policy issues`"
    make: Callable[..., AnyTable]
    "called with a subject"
    subjects: Sequence[Subject] = ((),)
    "whom the table can be about, one at a time: a model, two models"
    choices: Sequence[str] = ()
    "names of the choices that this table depends on and others may not: `formula`"
    empty: str = ""
    "why there is no such table at all, and what to do next; empty: there is one"
    view: str = ""
    "name of the picture that a screen draws beside the table; empty: the table alone"


@dataclass(frozen=True, slots=True)
class Book:
    """The figures of one result, in the order in which one reads them."""

    title: str
    contents: Sequence[Entry]
    behind: Mapping[str, Callable[..., AnyTable]] = field(default_factory=dict)
    "name of a table -> what makes it from the subject of a link"
    told: Sequence[str] = ()
    "what the figures rest on, in sentences"
    header: Sequence[str] = ()
    """what one must see before any figure: how much of the plan was answered, who read it; the first sentences of
    `told`. A line that begins with `! ` is a warning"""
    notes: Sequence[str] = ()
    "what one must know to read all of them"
    methods: str = ""
    "the paragraph for a paper"
    about: Mapping[str, object] = field(default_factory=dict)
    "the choices behind the figures, for programs"

    def entry(self, name: str) -> Entry:
        """Return an entry of the contents. Raises UnknownName."""
        for entry in self.contents:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self.contents)
        raise UnknownName(f"there is no table {name!r} here; there are {known}")

    def table(self, name: str, *subject: str) -> AnyTable:
        """Return a table of the contents, about its first subject unless one is named. Raises UnknownName."""
        entry = self.entry(name)
        return entry.make(*(subject or entry.subjects[0]))

    def follow(self, link: Link) -> AnyTable | None:
        """Return the table that a link points to; None if it points outside the book, for instance to an answer."""
        make = self.behind.get(link.table)
        return make(*link.subject) if make is not None else None
