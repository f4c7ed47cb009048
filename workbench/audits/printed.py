"""The output of an audit: on the command line, in files, and on Home."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import SimpleNamespace

    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.designs import Design
    from workbench.domain.verdicts import Estimate
    from workbench.figures.table import AnyTable, Kind
    from workbench.options.option import Option, Section


@dataclass(frozen=True, slots=True)
class HomeFigure:
    """The estimate that a headline is about, which Home draws with those of other models."""

    estimate: Estimate
    kind: Kind
    "share, from 0 to 1, or score, from -1 to 1"
    meaning: str
    "what the estimate is of, as in `statements that keep their stance`"


@dataclass(frozen=True, slots=True)
class HomeLine:
    """A line of Home on an audit's newest result."""

    key: str
    "the same between two readings of the store"
    label: str
    main: str
    detail: str
    below: Sequence[tuple[str, bool]] = ()
    "(words, whether they are a warning) on the lines below"
    dim: bool = False
    "whether there is no result yet"
    todo: str = ""
    "the next step if nothing else is pending; empty: none"
    todo_below: str = ""
    run: Run | None = None
    "the run that the line is about: Enter shows its figures"
    figure: HomeFigure | None = None
    "None: the audit has no single figure for a model"


class Medium(Enum):
    """The audience of figures."""

    PEOPLE = "people"
    DOCUMENT = "one JSON document"
    FILES = "files with a table each"

    @property
    def data(self) -> bool:
        """Whether they are for a program, which takes all tables."""
        return self is not Medium.PEOPLE


@dataclass(frozen=True, slots=True)
class Printed:
    """The output of a command, printed or written in the requested form."""

    tables: Sequence[AnyTable]
    about: Mapping[str, Any]
    "the subject and the origin of the figures, as plain values"
    title: str
    told: Sequence[str] = ()
    "the basis of the figures, in paragraphs"
    notes: Sequence[str] = ()
    "notes that a reader must know"
    header: Sequence[str] = ()
    "see `Book.header`"
    methods: str = ""
    "the paragraph for a paper; empty without one"


@dataclass(frozen=True, slots=True, eq=False)
class FigureVerb:
    """A verb of the command line that an audit adds.

    It shows figures, and may ask a model about a few statements first.
    """

    options: Sequence[Option | Section]
    "beside the store and the forms of figures"
    printed: Callable[[Store, SimpleNamespace, Design | None], Printed]
    "called with the design that was run first, or None"
    about: str = ""
    "text of `--help`; empty: the line in the list of verbs"
    asks: Callable[[Store, SimpleNamespace], Sequence[str] | None] | None = None
    "returns the statements to ask about first, or None for the stored answers"
    again: Callable[[SimpleNamespace, Sequence[str]], Mapping[str, Any]] | None = None
    "returns the values of the options that show the figures once these statements are asked"
