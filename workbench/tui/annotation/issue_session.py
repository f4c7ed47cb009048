"""One person's sitting over policy issues: what they labelled since they sat down, and the thread of the database.

An SQLite connection belongs to one thread, and a screen must not wait for a disk: so a desk has one thread with one
connection, which does what it is asked in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueAnnotator, Row, Sheet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    row: Row
    "the statement as it is now"
    issues: tuple[str, ...]
    "those whose label changed; none where all were so already"
    steps: int
    "how often one can undo"
    per_hour: float | None


class IssueSitting:
    """The steps of one person since they sat down. Use it in one thread only."""

    def __init__(self, annotator: IssueAnnotator):
        self.annotator = annotator
        self._steps: list[tuple[Row, Mapping[str, int | None], Mapping[str, int | None]]] = []
        "(row, labels before, labels after), the newest last"

    def sheet(self) -> Sheet:
        """Return all statements with this person's labels."""
        return self.annotator.sheet()

    def put(self, row: Row, labels: Mapping[str, int | None]) -> Done:
        """Commit labels of one statement."""
        after, before = self.annotator.put(row, labels)
        if before:
            self._steps.append((after, before, {issue: labels[issue] for issue in before}))
        return self._done(after, before)

    def undo(self) -> Done | None:
        """Put back what stood before the newest step; None where there is no step.

        A step whose labels were changed elsewhere since cannot be undone: it is forgotten, and ConflictError raised.
        """
        if not self._steps:
            return None
        row, before, after = self._steps.pop()
        row, _ = self.annotator.put(row, before, expected=after)
        return self._done(row, before)

    def close(self) -> None:
        self.annotator.close()

    def _done(self, row: Row, changed: Mapping[str, int | None]) -> Done:
        return Done(row, tuple(changed), len(self._steps), self.annotator.pace())


class IssueDesk:
    """The thread on which a sitting lives. It opens the store, and opens it again as long as that fails."""

    def __init__(self, path: Path, instrument: str, name: str):
        self._path, self._instrument, self._name = path, instrument, name
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="issues")
        self._sitting: IssueSitting | None = None

    def submit(self, ask: Callable[[IssueSitting], T]) -> Future[T]:
        """Have something done in the desk's thread, after what was asked before."""
        return self._pool.submit(lambda: ask(self._seated()))

    def close(self) -> Future[None]:
        """Close the store once all that was asked is done; returns at once."""
        closed = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closed

    def move(self, path: Path) -> None:
        """Sit down at the copy of a store that is gone; what was done since stays undoable."""
        self._path = path
        self._pool.submit(self._move)

    def _move(self) -> None:
        from stores.annotation.issue_annotator import IssueAnnotator

        if self._sitting is not None:
            before = self._sitting.annotator
            self._sitting.annotator = IssueAnnotator.open(self._path, self._instrument, self._name)
            before.close()

    def _seated(self) -> IssueSitting:
        from stores.annotation.issue_annotator import IssueAnnotator

        if self._sitting is None:
            self._sitting = IssueSitting(IssueAnnotator.open(self._path, self._instrument, self._name))
        return self._sitting

    def _close(self) -> None:
        if self._sitting is not None:
            self._sitting.close()
            self._sitting = None
