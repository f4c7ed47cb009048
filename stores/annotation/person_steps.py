"""The pace of one person's steps over items, and how undo follows from recorded changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

U = TypeVar("U")
V = TypeVar("V")
PACE_OF = 50
"number of a person's newest items from which the pace is computed"
IDLE_MS = 300_000
"longer times on one item, in milliseconds, count as absence, not as work"


def items_per_hour(durations_ms: Sequence[float]) -> float | None:
    """Return the number of items per hour of work, or None if no time has passed.

    Examples
    --------
    >>> items_per_hour([30_000, 30_000])
    120.0
    >>> items_per_hour([3_600_000])  # a break counts as five minutes
    12.0
    """
    worked_ms = sum(min(duration_ms, IDLE_MS) for duration_ms in durations_ms)
    return 3_600_000 * len(durations_ms) / worked_ms if worked_ms else None


@dataclass(frozen=True, slots=True)
class UndoableChange(Generic[U, V]):
    """A change by a person, as the store recorded it."""

    unit: U
    "item, statement or case that was changed"
    before: V
    after: V

    def undoes(self, other: UndoableChange[U, V]) -> bool:
        """Return whether this change restores the values before another one."""
        return (self.unit, self.before, self.after) == (other.unit, other.after, other.before)


def add_change(
    steps: list[Any], change: UndoableChange[U, V], newest: UndoableChange[U, V] | None
) -> None:
    """Append a change to a person's steps, or remove the newest one if the change undoes it.

    An undo is recorded like any other change: it restores the previous values.

    Parameters
    ----------
    newest
        The member of `steps` that an undo would withdraw, or None if there is none.
    """
    if newest is None or not change.undoes(newest):
        steps.append(change)
        return
    steps[:] = [step for step in steps if step is not newest]


def newest_change(steps: Iterable[Any], unit: U) -> UndoableChange[U, Any] | None:
    """Return the newest change of a unit among a person's steps, or None."""
    newest = None
    for step in steps:
        if isinstance(step, UndoableChange) and step.unit == unit:
            newest = step
    return newest
