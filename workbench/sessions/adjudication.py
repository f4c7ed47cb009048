"""Adjudication: one person's session over the disputed items of a queue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, Reason
from workbench.sessions.session import StoreSession

if TYPE_CHECKING:
    from stores.annotation.labels import GivenLabel, JudgedItem


@dataclass(frozen=True, slots=True)
class DisputedItem:
    """An item with its labels under letters."""

    judged: JudgedItem
    given: tuple[tuple[str, GivenLabel], ...]

    @property
    def unit(self) -> int:
        return self.judged.context.unit


@dataclass(frozen=True, slots=True)
class AdjudicationQueue:
    """The disputed items of a queue."""

    codebook: Codebook
    open: tuple[DisputedItem, ...]
    decided: tuple[DisputedItem, ...]
    "decided items, the newest decision last"
    compared: int
    "number of items with two labels or more, counted only if nothing is open or decided"


class AdjudicationSession(StoreSession):
    """The session of an adjudicator."""

    def __init__(self, path: Path, queue: str):
        self._queue = queue
        super().__init__(path)

    def read(self) -> AdjudicationQueue:
        """Return the disputed items of the queue."""
        labels, codebook = self.store.labels, self.store.queues.get(self._queue).codebook
        judged = labels.judged(codebook.name, queue=self._queue, only_disputed=True)
        compared = 0
        if not judged:
            compared = sum(
                len(item.labels) > 1 for item in labels.judged(codebook.name, queue=self._queue)
            )
        decided = [
            (item.decision.at, item)
            for item in judged
            if item.decision is not None and not item.open
        ]
        return AdjudicationQueue(
            codebook=codebook,
            open=tuple(as_case(item) for item in judged if item.open),
            decided=tuple(
                as_case(item) for _, item in sorted(decided, key=lambda dated_item: dated_item[0])
            ),
            compared=compared,
        )

    def decide(
        self,
        case: DisputedItem,
        codebook: Codebook,
        label: str,
        reason: Reason,
        note: str,
        auditor: str,
    ) -> tuple[bool, DisputedItem | None]:
        """Commit a decision on the visible labels, under the codebook of the screen.

        Return whether it was committed, and the current item. Nothing is decided if the labels
        differ or somebody decided meanwhile. The item is None if every label was withdrawn.
        """
        current_case = self._case(codebook, case.unit)
        if current_case is None or (current_case.judged.labels, current_case.judged.decision) != (
            case.judged.labels,
            case.judged.decision,
        ):
            return False, current_case
        self.store.labels.decide(
            case.unit, codebook, label, reason, note, auditor, seen=case.judged.labels
        )
        return True, self._case(codebook, case.unit)

    def undo(self, auditor: str) -> tuple[DisputedItem, str, str, str] | None:
        """Undo the newest decision of a person, including those of earlier sessions.

        Return its current item and the label, reason and note of the decision, or None without one.
        """
        codebook = self.store.queues.get(self._queue).codebook
        undone = self.store.labels.undo_decision(self._queue, codebook, auditor)
        case = self._case(codebook, undone[0]) if undone is not None else None
        return None if undone is None or case is None else (case, *undone[1:])

    def _case(self, codebook: Codebook, unit: int) -> DisputedItem | None:
        items = self.store.labels.judged(codebook.name, queue=self._queue, unit=unit)
        return as_case(items[0]) if items else None


def as_case(judged: JudgedItem) -> DisputedItem:
    from stores.annotation.labels import anonymous

    return DisputedItem(judged, anonymous(judged))
