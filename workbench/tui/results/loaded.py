"""The settings of a results screen, the result judged by them, and the visible table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, ReadingChoice
from workbench.errors import WorkbenchError
from workbench.figures.book import Book, Subject
from workbench.options.schema import Options
from workbench.tui.results.sheet import Sheet

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.judge import Compared


@dataclass(frozen=True, slots=True)
class StoreChoices:
    """The choices that a store offers."""

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "texts of the values that an option may have, by option and value"
    models: tuple[str, ...] = ()
    "models with answers"
    fingerprints: bool = False
    "whether a served model answered under several fingerprints"
    runs: Sequence[Run] = ()
    "runs of an audit with a result for each run"
    steps: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    "see `Result.steps`"


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The figures of one result, or the reason why there are none."""

    settings: Any
    book: Book | None = None
    judged: Any = None
    "result that the book is about, or None if there is nothing to judge"
    models: Sequence[str] = ()
    runs: Sequence[Run] = ()
    instruments: Sequence[str] = ()
    instrument: str = ""
    options: Sequence[tuple[str, str]] = ()
    "short texts of the choices in force, each after its name if only some tables depend on it"
    empty: str = ""
    "why there is nothing to judge, and what to do next"
    offers: StoreChoices = StoreChoices()
    "choices that have no key"
    source: Any = None
    "data that the figures show beside the result"
    rests_on: Sequence[object] = ()
    "data that was judged: while it is equal, so is the result"
    problem: WorkbenchError | None = None
    opened: dict[str, object] = field(default_factory=dict)
    "data that routes read for this result, so that the next row opens at once"


@dataclass(frozen=True, slots=True)
class TableView:
    """The name and the subject of the visible table."""

    view: str = ""
    "name of an entry of the book, or empty for the first"
    subject: Subject = ()


@dataclass(frozen=True, eq=False, slots=True)
class ShownTable:
    """A table that was made for a view."""

    table_view: TableView
    sheet: Sheet | None = None
    said: str = ""
    "see `Entry.said`"


Opened = Callable[[], Screen[None]]
"function that creates a screen, in the app's own thread"
Route = Callable[[Path, Loaded, Subject], Opened | str]
"function that reads the target of a link in a thread; it returns a message if there is none"
Routes = Mapping[str, Route]
Comparing = Callable[[], "Compared"]
"function that compares runs of a store, in a thread"
Again = Callable[["Store", Loaded], Loaded]
"function that judges the same selection again with the current store, in a thread"


@dataclass(frozen=True, slots=True)
class Settings:
    """The selection of answers and the options of their judgement."""

    options: Options
    instrument: str = ""
    "empty: the first one with answers, else one that could be asked about, or all together"
    models: tuple[str, ...] = ()
    "empty: all"
    templates: TemplateChoice = LATEST
    run: Run | None = None
    "run to judge, of an audit with one result per run, or None for the visible or newest run"
    readings: ReadingChoice = USUAL
    fingerprint: str | None = None
    "`each`: answers of a served model are separated by their `system_fingerprint`"
