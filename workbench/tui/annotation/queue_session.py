"""Labelling a queue: one person's steps since the session began, over items that are leased to them."""

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
    from stores.annotation.annotator import Annotator
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
        self._did(unit, label)

    def skip(self, unit: int, elapsed_ms: int | None) -> None:  # noqa: ARG002  a queue keeps no time of skips
        self.annotator.skip(unit)
        self._did(unit, "")

    def undo(self, current: int | None) -> View:
        unit, label = self._steps[-1]
        item = self.annotator.undo(unit)
        self._steps.pop()
        self._set_aside(current)
        self._held.add(unit)
        return self._view(item, label)

    def reopen(self, unit: int, current: int | None) -> View:
        """Return an item that this person labelled; `current` comes back later."""
        self._set_aside(current if current != unit else None)
        return self._view(self.annotator.item(unit))

    def remark(self, unit: int, flagged: bool, note: str) -> Item:
        """Commit a flag and a note; return the item with them."""
        self.annotator.remark(unit, flagged=flagged, note=note)
        return self._item(self.annotator.item(unit))

    def given(self) -> tuple[Given, ...]:
        """Return this person's own labels, the newest first."""
        found = []
        for unit, label in self.annotator.history():
            context = self.annotator.item(unit).context
            found.append(Given(unit, label, context.statement[:OPENING], context.text[:OPENING]))
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

    def _did(self, unit: int, label: str) -> None:
        self._held.discard(unit)
        self._steps = [step for step in self._steps if step[0] != unit] + [(unit, label)]

    def _set_aside(self, current: int | None) -> None:
        if current in self._held and current is not None:
            self._ahead.append(current)

    def _view(self, found: Found | None, former: str = "") -> View:
        progress, steps = self.annotator.progress(), len(self._steps)
        if found is None:
            return View(None, progress, steps, former, page=done_text(progress, steps))
        return View(self._item(found), progress, steps, former)

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


def _is_leased(item: Found) -> bool:
    from stores.core.base import now

    return item.lease_until > now()
