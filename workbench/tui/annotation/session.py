"""One person's sitting at a queue: what was labelled since they sat down, and the thread that the database lives on.

An SQLite connection belongs to one thread, and a screen must not wait for a disk. So a desk has one thread with one
connection, which does what it is asked in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from stores.annotation.annotator import Annotator, Item, Progress
    from workbench.domain.annotations import Codebook

T = TypeVar("T")

OPENING = 240
"characters of a text that the list of own labels begins to show"


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


@dataclass(frozen=True, slots=True)
class Given:
    """One of this person's own labels, for a list."""

    unit: int
    label: str
    statement: str
    text: str
    "the beginning of each"


class Sitting:
    """The steps of one person since they sat down. Use it in one thread only.

    Undo goes back step by step. What was on the screen at each undo is come back to in the same order.
    """

    def __init__(self, annotator: Annotator):
        self.annotator = annotator
        self._steps: list[tuple[int, str]] = []
        "(unit, label or nothing where it was skipped), the newest last"
        self._ahead: list[int] = []
        "units that undo put aside, the nearest last"
        self._held: set[int] = set()
        "units that are leased to this person and not labelled"

    @property
    def codebook(self) -> Codebook:
        return self.annotator.codebook

    def next(self) -> View:
        """Return what comes next, leased to this person."""
        while self._ahead:
            item = self.annotator.item(self._ahead.pop())
            if _is_leased(item):
                return self._view(item)
        item_or_none = self.annotator.next()
        if item_or_none is not None:
            self._held.add(item_or_none.unit)
        return self._view(item_or_none)

    def label(self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None) -> None:
        """Commit a label."""
        self.annotator.label(unit, label, elapsed_ms=elapsed_ms, confidence=confidence)
        self._did(unit, label)

    def skip(self, unit: int) -> None:
        """Put an item behind all others."""
        self.annotator.skip(unit)
        self._did(unit, "")

    def undo(self, current: int | None) -> View:
        """Take the newest step back and return its item; `current` is come back to later.

        Call it only where there is a step.
        """
        unit, label = self._steps[-1]
        item = self.annotator.undo(unit)
        self._steps.pop()
        self._set_aside(current)
        self._held.add(unit)
        return self._view(item, label)

    def reopen(self, unit: int, current: int | None) -> View:
        """Return an item that this person labelled; `current` is come back to later."""
        self._set_aside(current if current != unit else None)
        return self._view(self.annotator.item(unit))

    def remark(self, unit: int, flagged: bool, note: str) -> View:
        """Commit a flag and a note; return the item with them."""
        self.annotator.remark(unit, flagged=flagged, note=note)
        return self._view(self.annotator.item(unit))

    def given(self) -> tuple[Given, ...]:
        """Return this person's own labels, the newest first."""
        found = []
        for unit, label in self.annotator.history():
            context = self.annotator.item(unit).context
            found.append(Given(unit, label, context.statement[:OPENING], context.text[:OPENING]))
        return tuple(found)

    def close(self) -> None:
        """Give back what was not labelled. Where that cannot be written, the leases end by themselves."""
        with suppress(WorkbenchError):
            for unit in self._held:
                self.annotator.release(unit)
        self.annotator.close()

    def _did(self, unit: int, label: str) -> None:
        self._held.discard(unit)
        self._steps = [step for step in self._steps if step[0] != unit] + [(unit, label)]

    def _set_aside(self, current: int | None) -> None:
        if current in self._held and current is not None:
            self._ahead.append(current)

    def _view(self, item: Item | None, former: str = "") -> View:
        return View(item, self.annotator.progress(), len(self._steps), former)


def _is_leased(item: Item) -> bool:
    from stores.core.base import now

    return item.lease_until > now()


class Desk:
    """The thread on which a sitting lives. It opens the store, and opens it again as long as that fails."""

    def __init__(self, path: Path, queue: str, name: str):
        self._path, self._queue, self._name = path, queue, name
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="annotator")
        self._sitting: Sitting | None = None

    def submit(self, ask: Callable[[Sitting], T]) -> Future[T]:
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
        from stores.annotation.annotator import Annotator

        if self._sitting is not None:
            before, self._sitting.annotator = (
                self._sitting.annotator,
                Annotator.open(self._path, self._queue, self._name),
            )
            before.close()

    def _seated(self) -> Sitting:
        from stores.annotation.annotator import Annotator

        if self._sitting is None:
            self._sitting = Sitting(Annotator.open(self._path, self._queue, self._name))
        return self._sitting

    def _close(self) -> None:
        if self._sitting is not None:
            self._sitting.close()
            self._sitting = None
