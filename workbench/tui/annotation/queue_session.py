"""Labelling a queue: one person's steps, earlier sessions included, over items that are leased to them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, Subject
from workbench.errors import WorkbenchError
from workbench.tui.annotation.annotate_format import done_text
from workbench.tui.annotation.session import Given, Item, View
from workbench.tui.format import visible

if TYPE_CHECKING:
    from stores.annotation.annotator import Annotator, Step
    from stores.annotation.annotator import Item as Found

OPENING = 240
"characters of a text that the list of own labels begins to show"


class QueueSession:
    """One person at one queue.

    Undo goes back step by step. What was on the screen at each undo comes back in the same order.
    """

    def __init__(self, path: Path, queue: str, name: str):
        self._queue, self._name = queue, name
        self.annotator = self._open(path)
        self._steps: list[Step] = list(self.annotator.steps())
        "those of earlier sessions included, the newest last; without label and remark: it was skipped"
        self._ahead: list[int] = []
        "units that undo put aside, the nearest last"
        self._held: set[int] = set()
        "units that are leased to this person and not labelled"

    @property
    def codebook(self) -> Codebook:
        return self.annotator.codebook

    def next(self) -> View:
        self.annotator.look()
        while self._ahead:
            item = self.annotator.item(self._ahead.pop())
            if _is_leased(item):
                return self._view(item)
        item_or_none = self.annotator.next()
        if item_or_none is not None:
            self._held.add(item_or_none.unit)
        return self._view(item_or_none)

    def label(self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None) -> None:
        self.annotator.label(unit, label, elapsed_ms=elapsed_ms, confidence=confidence)
        self._went_on(unit, label)

    def skip(self, unit: int, elapsed_ms: int | None) -> None:  # noqa: ARG002  a queue keeps no time of skips
        self.annotator.skip(unit)
        self._went_on(unit, "")

    def undo(self, current: int | None) -> View:
        step = self._steps[-1]
        if step.remark is not None:
            flagged, note = step.before
            self.annotator.remark(step.unit, flagged=flagged, note=note)
            item = self.annotator.item(step.unit)
        else:
            item = self.annotator.undo(step.unit)
            self._held.add(step.unit)
        self._steps.pop()
        self._set_aside(current if current != step.unit else None)
        return self._view(item, step.label, _undone(step))

    def reopen(self, unit: int, current: int | None) -> View:
        """Return an item that this person labelled; `current` comes back later."""
        self._set_aside(current if current != unit else None)
        return self._view(self.annotator.item(unit))

    def remark(self, unit: int, flagged: bool, note: str) -> tuple[Item, int, str]:
        """Commit a flag and a note; return the item with them, how often one can undo, and what changed."""
        from stores.annotation.annotator import Step

        before = self.annotator.item(unit)
        step = Step(unit, remark=(flagged, note), before=(before.flagged, before.note))
        if step.remark != step.before:
            self.annotator.remark(unit, flagged=flagged, note=note)
            self._steps.append(step)
        return self._item(self.annotator.item(unit)), len(self._steps), f"{_remarked(step)} (saved)"

    def given(self) -> tuple[Given, ...]:
        """Return this person's own labels, the newest first."""
        found = []
        for unit, label in self.annotator.history():
            item = self.annotator.item(unit)
            beginnings = (item.context.statement[:OPENING], item.context.text[:OPENING])
            found.append(Given(unit, label, *beginnings, item.flagged, item.note, item.confidence))
        return tuple(found)

    def move(self, path: Path) -> None:
        before, self.annotator = self.annotator, self._open(path)
        before.close()

    def close(self) -> None:
        """Give back what was not labelled. Where that cannot be written, the leases end by themselves."""
        with suppress(WorkbenchError):
            for unit in self._held:
                self.annotator.release(unit)
        self.annotator.close()

    def _open(self, path: Path) -> Annotator:
        from stores.annotation.annotator import Annotator

        return Annotator.open(path, self._queue, self._name)

    def _went_on(self, unit: int, label: str) -> None:
        from stores.annotation.annotator import Step

        self._held.discard(unit)
        self._steps = [step for step in self._steps if step.unit != unit or step.remark is not None]
        self._steps.append(Step(unit, label))

    def _set_aside(self, current: int | None) -> None:
        if current in self._held and current is not None:
            self._ahead.append(current)

    def _view(self, found: Found | None, former: str = "", undone: str = "") -> View:
        progress, steps = self.annotator.progress(), len(self._steps)
        if found is None:
            return View(None, progress, steps, page=done_text(progress, steps))
        return View(self._item(found), progress, steps, former, undone)

    def _item(self, found: Found) -> Item:
        context, alone = found.context, self.codebook.subject is Subject.STATEMENT
        return Item(
            unit=found.unit,
            text=context.text,
            statement="" if alone else context.statement,
            where="" if alone else visible(context.dimension or ""),
            label=found.label,
            flagged=found.flagged,
            note=found.note,
        )


def _remarked(step: Step) -> str:
    """Return what a remark changed: `flag`, `flag removed`, `note`."""
    assert step.remark is not None
    if step.remark[1] != step.before[1]:
        return "note" if step.remark[1] else "note removed"
    return "flag" if step.remark[0] else "flag removed"


def _undone(step: Step) -> str:
    return _remarked(step) if step.remark is not None else step.label or "skip"


def _is_leased(item: Found) -> bool:
    from stores.core.base import now

    return item.lease_until > now()
