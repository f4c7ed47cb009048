"""What a person chose on a results screen, what was read and judged by that, and what is looked
at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.figures.book import Book, Subject
from workbench.options.schema import Options
from workbench.tui.results.sheet import Sheet

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.judge import Compared


@dataclass(frozen=True, slots=True)
class Offers:
    """What a store has to choose from."""

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "option -> (value that it may have -> its words)"
    models: tuple[str, ...] = ()
    "that answered"
    fingerprints: bool = False
    "whether a served model answered under several"
    runs: Sequence[Run] = ()
    "of an audit with a result for each run"
    steps: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    "see `Result.steps`"


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The figures of one result, or what keeps them from being made."""

    settings: Any
    book: Book | None = None
    judged: Any = None
    "the result that the book is about; None: there is nothing to judge"
    models: Sequence[str] = ()
    runs: Sequence[Run] = ()
    instruments: Sequence[str] = ()
    instrument: str = ""
    options: Sequence[tuple[str, str]] = ()
    """the choices in force, in a few words each, and which one it is where only some tables depend
    on it"""
    empty: str = ""
    "why there is nothing to judge, and what to do next"
    offers: Offers = Offers()
    "what a person may choose beside what has a key"
    material: Any = None
    "what figures show beside the result"
    rests_on: Sequence[object] = ()
    "what was judged: while it is equal, so is the result"
    problem: WorkbenchError | None = None
    opened: dict[str, object] = field(default_factory=dict)
    "what routes read for this result, so that the next row opens at once"


@dataclass(frozen=True, slots=True)
class Look:
    """Which table is looked at."""

    view: str = ""
    "name of an entry of the book; empty: the first"
    subject: Subject = ()


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A table that was made."""

    look: Look
    sheet: Sheet | None = None
    said: str = ""
    "see `Entry.said`"


Opened = Callable[[], Screen[None]]
"makes a screen, in the app's own thread"
Route = Callable[[Path, Loaded, Subject], Opened | str]
"reads what a link leads to, in a thread; a sentence where there is nothing to open"
Routes = Mapping[str, Route]
Comparing = Callable[[], "Compared"]
"puts runs of a store side by side, in a thread"
Again = Callable[["Store", Loaded], Loaded]
"judges the same once more, by what the store has now, in a thread"


@dataclass(frozen=True, slots=True)
class Settings:
    """Which answers are judged, and how."""

    options: Options
    instrument: str = ""
    """empty: the first one with answers, else the first one that could be asked about; or all of
    them together"""
    models: tuple[str, ...] = ()
    "empty: all"
    templates: TemplateChoice = LATEST
    run: Run | None = None
    """of an audit with a result for each run: whose answers; None: those of the run that is shown,
    else of the newest"""
    readings: Readings = USUAL
    fingerprint: str | None = None
    "`each`: the answers of a served model are told apart by their `system_fingerprint`"
