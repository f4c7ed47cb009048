"""What an audit prints, for whom, and what it says on Home."""

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
    from workbench.figures.table import AnyTable
    from workbench.options.option import Option, Section


@dataclass(frozen=True, slots=True)
class HomeLine:
    """What Home says of an audit's newest result."""

    key: str
    "the same between two looks at the store"
    label: str
    main: str
    detail: str
    below: Sequence[tuple[str, bool]] = ()
    "(words, whether they are a warning) on the lines below"
    dim: bool = False
    "whether there is no result yet"
    todo: str = ""
    "what the next step is where nothing else waits; empty: none"
    todo_below: str = ""
    run: Run | None = None
    "the run that the line is about: Enter shows its figures"


class Medium(Enum):
    """Whom figures are for."""

    PEOPLE = "people"
    DOCUMENT = "one JSON document"
    FILES = "files with a table each"

    @property
    def data(self) -> bool:
        """Whether they are for a program, which takes all that there is."""
        return self is not Medium.PEOPLE


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command prints, or writes in the form that was asked for."""

    tables: Sequence[AnyTable]
    about: Mapping[str, Any]
    "what the figures are of and how they came about, as plain values"
    title: str
    told: Sequence[str] = ()
    "what the figures rest on, in paragraphs"
    notes: Sequence[str] = ()
    "what a reader must know"
    header: Sequence[str] = ()
    "see `Book.header`"
    methods: str = ""
    "the paragraph for a paper, where there is one"


@dataclass(frozen=True, slots=True, eq=False)
class FigureVerb:
    """A verb of the command line that an audit brings: it shows figures, and may ask a model about
    a few statements first.
    """

    options: Sequence[Option | Section]
    "beside the store and the forms of figures"
    printed: Callable[[Store, SimpleNamespace, Design | None], Printed]
    "called with what was asked first, if anything was"
    about: str = ""
    "said by `--help`; empty: the line in the list of verbs"
    asks: Callable[[Store, SimpleNamespace], Sequence[str] | None] | None = None
    "returns the statements to ask about first; None where the stored answers are meant"
    again: Callable[[SimpleNamespace, Sequence[str]], Mapping[str, Any]] | None = None
    "returns the values of the options that show the figures once these statements are asked"
