"""An annotation session: what one person labels, what a screen needs of it, and the thread that it lives on.

An SQLite connection belongs to one thread, and a screen must not wait for a disk. So a session has one thread with one
connection, which does what it is asked in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.content import Content

    from stores.core.store import Store
    from workbench.domain.annotations import Codebook

T = TypeVar("T")


class Progress(Protocol):
    """How far a person is."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def per_hour(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Tally:
    """How many units are done."""

    done: int
    total: int
    per_hour: float | None = None

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class Item:
    """What is labelled, and what this person said of it."""

    unit: int
    "tells it from the other items of the session"
    text: str
    statement: str = ""
    "the statement that the text answers"
    where: str = ""
    "economic · right"
    label: str | None = None
    flagged: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What is before the person now."""

    item: Item | None
    "None: nothing is left for them"
    progress: Progress
    steps: int
    "how often one can undo"
    former: str = ""
    "the label that undoing withdrew"
    undone: str = ""
    "what undoing took back"
    page: Content | None = None
    "what is read instead of the item: an introduction, the end"
    more: int = 0
    "items that the person may go on with at the end"


@dataclass(frozen=True, slots=True)
class Given:
    """One of the person's own labels, for a list."""

    unit: int
    label: str
    statement: str
    text: str
    "the beginning of each"
    flagged: bool = False
    note: str = ""
    confidence: float | None = None


class Session(Protocol):
    """What the thread needs. Use a session in its thread only."""

    def move(self, path: Path) -> None:
        """Go on in the copy of a store that is gone; what was done before stays undoable."""

    def close(self) -> None:
        """Give back what was not labelled, and close the store."""


class AnnotationSession(Session, Protocol):
    """The steps of one person over items that come one at a time. Every verb is committed when it returns."""

    @property
    def codebook(self) -> Codebook:
        """The version under which labels are given now; `next` takes a later one."""

    def next(self) -> View:
        """Return what comes next, leased to this person."""

    def label(self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None) -> None: ...

    def skip(self, unit: int, elapsed_ms: int | None) -> None:
        """Put an item behind all others."""

    def undo(self, current: int | None) -> View:
        """Take the newest step back and return its item; `current` comes back later. Call it where there is a step."""


S = TypeVar("S", bound=Session)


class StoreSession:
    """A session on a connection of its own."""

    def __init__(self, path: Path):
        self._store = _opened(path)

    def move(self, path: Path) -> None:
        before, self._store = self._store, _opened(path)
        before.close()

    def close(self) -> None:
        self._store.close()


def _opened(path: Path) -> Store:
    from stores.core.store import Store

    return Store.open(path)


class SessionThread(Generic[S]):
    """The thread on which a session lives. It opens the store, and opens it again as long as that fails."""

    def __init__(self, path: Path, begin: Callable[[Path], S]):
        self._path, self._begin = path, begin
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="annotation")
        self._session: S | None = None

    def submit(self, ask: Callable[[S], T]) -> Future[T]:
        """Have something done in the thread, after what was asked before."""
        return self._pool.submit(lambda: ask(self._begun()))

    def close(self) -> Future[None]:
        """Close the session once all that was asked is done; returns at once."""
        closed = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closed

    def move(self, path: Path) -> None:
        """Go on in the copy of a store that is gone."""
        self._path = path
        self._pool.submit(self._move)

    def _begun(self) -> S:
        if self._session is None:
            self._session = self._begin(self._path)
        return self._session

    def _move(self) -> None:
        if self._session is not None:
            self._session.move(self._path)

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
