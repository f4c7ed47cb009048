"""Adjudicating a queue: what people disagree on, under letters, and decisions on the labels that were shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.annotations import Codebook, Reason
from workbench.tui.annotation.session import StoreSession

if TYPE_CHECKING:
    from stores.annotation.labels import GivenLabel, Judged


@dataclass(frozen=True, slots=True)
class Case:
    """An item with its labels under letters."""

    judged: Judged
    given: tuple[tuple[str, GivenLabel], ...]

    @property
    def unit(self) -> int:
        return self.judged.context.unit


@dataclass(frozen=True, slots=True)
class AdjudicationQueue:
    """What there is to adjudicate in a queue."""

    codebook: Codebook
    open: tuple[Case, ...]
    decided: tuple[Case, ...]
    "the newest decision last"
    compared: int
    "items with two labels or more; counted only where nothing is open or decided"


class AdjudicationSession(StoreSession):
    """One person who decides."""

    def __init__(self, path: Path, queue: str):
        self._queue = queue
        super().__init__(path)

    def read(self) -> AdjudicationQueue:
        """Return what there is to adjudicate."""
        labels, codebook = self._store.labels, self._store.queues.get(self._queue).codebook
        judged = labels.judged(codebook.name, queue=self._queue, only_disputed=True)
        compared = 0
        if not judged:
            compared = sum(len(item.labels) > 1 for item in labels.judged(codebook.name, queue=self._queue))
        decided = [(item.decision.at, item) for item in judged if item.decision is not None and not item.open]
        return AdjudicationQueue(
            codebook=codebook,
            open=tuple(as_case(item) for item in judged if item.open),
            decided=tuple(as_case(item) for _, item in sorted(decided, key=lambda found: found[0])),
            compared=compared,
        )

    def decide(
        self, case: Case, codebook: Codebook, label: str, reason: Reason, note: str, auditor: str
    ) -> tuple[bool, Case | None]:
        """Commit a decision on the labels that were shown, under the codebook that was. Return whether it was, and the
        item as it is now.

        On other labels nothing is decided. No item: every label was withdrawn.
        """
        now = self._case(codebook, case.unit)
        if now is None or now.judged.labels != case.judged.labels:
            return False, now
        self._store.labels.decide(case.unit, codebook, label, reason, note, auditor, seen=case.judged.labels)
        return True, self._case(codebook, case.unit)

    def undo(self, auditor: str) -> tuple[Case, str, str, str] | None:
        """Take back the newest decision of a person, earlier sessions included; return its item as it is now and the
        label, reason and note that were taken back, None where there is none.
        """
        codebook = self._store.queues.get(self._queue).codebook
        undone = self._store.labels.undo_decision(self._queue, codebook, auditor)
        case = self._case(codebook, undone[0]) if undone is not None else None
        return None if undone is None or case is None else (case, *undone[1:])

    def _case(self, codebook: Codebook, unit: int) -> Case | None:
        found = self._store.labels.judged(codebook.name, queue=self._queue, unit=unit)
        return as_case(found[0]) if found else None


def as_case(judged: Judged) -> Case:
    from stores.annotation.labels import anonymous

    return Case(judged, anonymous(judged))
