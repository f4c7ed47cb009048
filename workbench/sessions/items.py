"""Items that come one at a time, as a person sees them: the item, their progress, their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from workbench.sessions.session import C, Session

if TYPE_CHECKING:
    from workbench.domain.annotations import Codebook


class SessionProgress(Protocol):
    """The progress of a person."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def per_hour(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """The numbers of units that are done and in total."""

    done: int
    total: int
    per_hour: float | None = None

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class LabelItem:
    """An item to label, with this person's own label and marks."""

    unit: int
    "id of the item in the session"
    text: str
    statement: str = ""
    "statement that the text answers"
    where: str = ""
    "dimension and side, as in `economic · right`"
    label: str | None = None
    flagged: bool = False
    note: str = ""
    elsewhere: bool = False
    "whether another session of this person has it, too"


@dataclass(frozen=True, slots=True)
class CurrentItem:
    """The current item of a person, with their progress."""

    item: LabelItem | None
    "None: no item is left for them"
    progress: SessionProgress
    steps: int
    "number of steps that can be undone"
    former: str = ""
    "label that undoing withdrew"


V = TypeVar("V", bound=CurrentItem)


class ItemSession(Session[C], Generic[C, V]):
    """The steps of one person over items that come one at a time."""

    @property
    def codebook(self) -> Codebook:
        """The current version, under which labels are given. `next` takes a later one."""
        raise NotImplementedError("abstract")

    def next(self) -> V:
        """Return the item that a step brought back, or the next one, leased to this person."""
        raise NotImplementedError("abstract")

    def label(
        self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None
    ) -> None:
        """Commit a label, with the time that it took and how sure the person is of it."""
        raise NotImplementedError("abstract")

    def skip(self, unit: int, elapsed_ms: int | None) -> None:
        """Move an item behind all others."""
        raise NotImplementedError("abstract")

    def undo(self, current: int | None) -> str:
        """Undo the newest step, and return its name, or an empty string if it has none.

        `next` brings its item back, and `current` later. Call it only if there is a step.
        """
        raise NotImplementedError("abstract")
