"""Labelling the items of a queue: one person's session, blind to what models and others said."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, LabelSubject
from workbench.errors import ConflictError, WorkbenchError
from workbench.figures.visible import visible
from workbench.sessions.items import CurrentItem, ItemSession, LabelItem
from workbench.sessions.session import UndoSteps

if TYPE_CHECKING:
    from stores.annotation.annotator import Annotator, QueueItem, QueueProgress, QueueStep, Remark
    from stores.annotation.person_steps import UndoableChange

OPENING = 240
"number of characters of a text in the list of own labels"


@dataclass(frozen=True, slots=True)
class CurrentQueueItem(CurrentItem):
    """The current item of a queue."""

    progress: QueueProgress


@dataclass(frozen=True, slots=True)
class OwnLabel:
    """One of the person's own labels, for a list."""

    unit: int
    label: str
    statement: str
    text: str
    "beginnings of both texts"
    flagged: bool = False
    note: str = ""
    confidence: float | None = None


class QueueSession(ItemSession["Annotator", CurrentQueueItem]):
    """One person's session at one queue.

    Undo goes back step by step. The items that were visible at each undo come back in the same
    order.
    """

    def __init__(self, path: Path, queue: str, name: str):
        self._queue, self._name = queue, name
        super().__init__(path)
        self._steps: UndoSteps[QueueStep] = UndoSteps(self.store.steps())
        "steps of all sessions"
        self._returning: tuple[int, str] | None = None
        "unit that a step brings back, and the label that undoing withdrew"
        self._ahead: list[int] = []
        "units that undo put aside, the nearest last"
        self._held: set[int] = set()
        "units that are leased to this person and not labelled"
        self._seen: dict[int, str | None] = {}
        "this person's label when an item was shown, by unit"

    def open(self, path: Path) -> Annotator:
        from stores.annotation.annotator import Annotator

        return Annotator.open(path, self._queue, self._name)

    @property
    def codebook(self) -> Codebook:
        return self.store.codebook

    def next(self) -> CurrentQueueItem:
        self.store.look()
        if self._returning is not None:
            unit, former = self._returning
            current = self._current(self.store.item(unit), former)
            self._returning = None
            return current
        while self._ahead:
            item = self.store.item(self._ahead.pop())
            if _is_leased(item):
                return self._current(item)
        next_item = self.store.next()
        if next_item is not None:
            self._held.add(next_item.unit)
        return self._current(next_item)

    def label(
        self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None
    ) -> None:
        try:
            self.store.label(
                unit,
                label,
                elapsed_ms=elapsed_ms,
                confidence=confidence,
                seen=self._seen.get(unit, ...),
            )
        except ConflictError as error:
            self._seen[unit] = self.store.item(unit).label
            raise ConflictError(
                f"{error}. Press the key again to replace that label; F5 goes on."
            ) from error
        self._went_on(unit, label)

    def skip(self, unit: int, elapsed_ms: int | None) -> None:  # noqa: ARG002  a queue keeps no time of skips
        self.store.skip(unit)
        self._went_on(unit, "")

    def undo(self, current: int | None) -> str:
        return self._steps.undo(partial(self._withdraw, current))

    def reopen(self, unit: int, current: int | None) -> None:
        """Bring an item back that this person labelled. `current` comes back later."""
        self._bring_back(unit, "", current)

    def remark(self, unit: int, flagged: bool, note: str) -> tuple[LabelItem, int, str]:
        """Commit a flag and a note.

        Return the item with them, the number of steps that can be undone, and the change.
        """
        from stores.annotation.person_steps import UndoableChange

        current_item = self.store.item(unit)
        change = UndoableChange(unit, (current_item.flagged, current_item.note), (flagged, note))
        if change.after != change.before:
            self.store.remark(unit, flagged=flagged, note=note)
            self._steps.add(change)
        item = self._item(self.store.item(unit))
        return item, len(self._steps), f"{_remark_text(change)} (saved)"

    def own_labels(self) -> tuple[OwnLabel, ...]:
        """Return this person's own labels, the newest first."""
        own_labels = []
        for unit, label in self.store.newest_labels():
            item = self.store.item(unit)
            openings = (item.context.statement[:OPENING], item.context.text[:OPENING])
            own_labels.append(
                OwnLabel(unit, label, *openings, item.flagged, item.note, item.confidence)
            )
        return tuple(own_labels)

    def close(self) -> None:
        """Release the items without a label, and close the store.

        If that cannot be written, the leases expire by themselves.
        """
        held_units, self._held = self._held, set()
        with suppress(WorkbenchError):
            for unit in held_units:
                self.store.release(unit)
        super().close()

    def _went_on(self, unit: int, label: str) -> None:
        from stores.annotation.annotator import LabelStep, without_label

        self._held.discard(unit)
        self._steps.replace(without_label(self._steps, unit))
        self._steps.add(LabelStep(unit, label))

    def _withdraw(self, current: int | None, step: QueueStep) -> str:
        """Undo a step, and return its name."""
        from stores.annotation.annotator import LabelStep

        if isinstance(step, LabelStep):
            self.store.undo(step.unit)
            self._held.add(step.unit)
            self._bring_back(step.unit, step.label, current)
            return step.label or "skip"
        flagged, note = step.before
        self.store.remark(step.unit, flagged=flagged, note=note)
        self._bring_back(step.unit, "", current)
        return _remark_text(step)

    def _bring_back(self, unit: int, former: str, current: int | None) -> None:
        """Let an item come next, and the current one later."""
        self._returning = unit, former
        if current is not None and current != unit and current in self._held:
            self._ahead.append(current)

    def _current(self, item: QueueItem | None, former: str = "") -> CurrentQueueItem:
        label_item = None if item is None else self._item(item)
        return CurrentQueueItem(label_item, self.store.progress(), len(self._steps), former)

    def _item(self, item: QueueItem) -> LabelItem:
        context, is_statement = item.context, self.codebook.subject is LabelSubject.STATEMENT
        self._seen[item.unit] = item.label
        return LabelItem(
            unit=item.unit,
            text=context.text,
            statement="" if is_statement else context.statement,
            where="" if is_statement else visible(context.dimension or ""),
            label=item.label,
            flagged=item.flagged,
            note=item.note,
            elsewhere=item.elsewhere,
        )


def _remark_text(change: UndoableChange[int, Remark]) -> str:
    """Return the change of a remark: `flag`, `flag removed`, `note` or `note removed`."""
    flagged, note = change.after
    if note != change.before[1]:
        return "note" if note else "note removed"
    return "flag" if flagged else "flag removed"


def _is_leased(item: QueueItem) -> bool:
    from stores.core.base import now

    return item.lease_until > now()
