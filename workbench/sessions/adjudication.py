"""Adjudication: one person's session over the disputed items of a queue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, DisagreementReason
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


@dataclass(frozen=True, slots=True)
class UndoneDecision:
    """A decision that was withdrawn."""

    unit: int
    label: str
    reason: DisagreementReason
    note: str


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
        reason: DisagreementReason,
        note: str,
        auditor: str,
    ) -> bool:
        """Commit a decision on the visible labels, under the codebook of the screen.

        Return False without deciding if the labels differ or somebody decided meanwhile.
        """
        current_case = self.item(case.unit)
        if current_case is None or (current_case.judged.labels, current_case.judged.decision) != (
            case.judged.labels,
            case.judged.decision,
        ):
            return False
        self.store.labels.decide(
            case.unit, codebook, label, reason, note, auditor, seen=case.judged.labels
        )
        return True

    def undo(self, auditor: str) -> UndoneDecision | None:
        """Undo the newest decision of a person, including those of earlier sessions.

        Return None if there is none.
        """
        codebook = self.store.queues.get(self._queue).codebook
        undone = self.store.labels.undo_decision(self._queue, codebook, auditor)
        if undone is None:
            return None
        unit, label, reason, note = undone
        return UndoneDecision(unit, label, DisagreementReason(reason), note)

    def item(self, unit: int) -> DisputedItem | None:
        """Return the current state of an item, or None if all its labels were withdrawn."""
        codebook = self.store.queues.get(self._queue).codebook
        items = self.store.labels.judged(codebook.name, queue=self._queue, unit=unit)
        return as_case(items[0]) if items else None


def as_case(judged: JudgedItem) -> DisputedItem:
    from stores.annotation.labels import anonymous

    return DisputedItem(judged, anonymous(judged))


class DisputedItems:
    """The disputed items of a queue, as one adjudicator goes through them.

    The open items come first. From there the person may go back through the decided ones. It uses
    no store: `AdjudicationSession` reads and writes.
    """

    def __init__(self) -> None:
        self.queue: AdjudicationQueue | None = None
        "the queue as last read"
        self.open: list[DisputedItem] = []
        self.decided: list[DisputedItem] = []
        "the newest decision last"
        self.n_back = 0
        "number of decisions that the person went back, or 0 at the open items"
        self.reason = DisagreementReason.OTHER
        self.note = ""
        "reason and note of the next decision"
        self._drafts: dict[int, tuple[DisagreementReason, str]] = {}
        "reason and note of open items without a decision, by unit"

    @property
    def current(self) -> DisputedItem | None:
        """The visible item, or None without one."""
        if self.n_back:
            return self.decided[-self.n_back]
        return self.open[0] if self.open else None

    def take(self, queue: AdjudicationQueue) -> None:
        """Use the current items of the queue, and show the first open one."""
        self.queue = queue
        self.open, self.decided = list(queue.open), list(queue.decided)
        self._go_back_to(0)

    def go_on(self, item: DisputedItem) -> None:
        """Go on to the next open item after a decision."""
        self._forget(item)
        self._drafts.pop(item.unit, None)
        self.decided.append(item)
        self._go_back_to(0)

    def skip(self) -> bool:
        """Move the item behind the other open ones, or return to these from an earlier decision.

        Return False if it is the only item left.
        """
        if not self.n_back:
            if len(self.open) == 1:
                return False
            self.open.append(self.open.pop(0))
        self._go_back_to(0)
        return True

    def go_back(self) -> bool:
        """Go to the previous decision. Return False if there is no earlier one."""
        if self.n_back == len(self.decided):
            return False
        self._go_back_to(self.n_back + 1)
        return True

    def return_to(self, item: DisputedItem, undone: UndoneDecision) -> None:
        """Go to the item of an undone decision: open again, or with its earlier decision.

        The reason and the note of the decision come back with an open item.
        """
        self._put_first(item)
        if self.current is item and not self.n_back:
            self.draft(undone.reason, undone.note)

    def replace(self, previous: DisputedItem, current: DisputedItem | None) -> None:
        """Go to the current state of an item, which is None if all its labels were withdrawn."""
        self._forget(previous)
        self._go_back_to(0)
        if current is not None:
            self._put_first(current)

    def draft(self, reason: DisagreementReason, note: str) -> None:
        """Set the reason and the note of the next decision. An open item keeps them until then."""
        self.reason, self.note = reason, note
        if self.current is not None and not self.n_back:
            self._drafts[self.current.unit] = reason, note

    def _put_first(self, item: DisputedItem) -> None:
        """Make an item the visible one, open or decided."""
        self._forget(item)
        n_back = 0
        if item.judged.open:
            self.open.insert(0, item)
        elif item.judged.decision is not None:
            self.decided.append(item)
            n_back = 1
        self._go_back_to(n_back)

    def _forget(self, item: DisputedItem) -> None:
        self.open = [other for other in self.open if other.unit != item.unit]
        self.decided = [other for other in self.decided if other.unit != item.unit]

    def _go_back_to(self, n_back: int) -> None:
        """Go to an earlier decision, or with 0 to the open items, with its reason and note."""
        self.n_back = n_back
        item = self.current
        decision = item.judged.decision if item is not None and n_back else None
        if decision is not None:
            self.reason, self.note = DisagreementReason(decision.reason), decision.note
        elif item is not None:
            self.reason, self.note = self._drafts.get(item.unit, (DisagreementReason.OTHER, ""))
