"""Deciding policy issues: what annotators said of statements, and decisions, which win over all labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ConflictError
from workbench.tui.annotation.session import StoreSession

if TYPE_CHECKING:
    from workbench.annotation.issue_tables import IssueFigures
    from workbench.annotation.issues import Case


@dataclass(frozen=True, slots=True)
class Step:
    """A decision of this session."""

    case: Case
    "as it was when it was decided"
    before: int | None


class DecisionSession(StoreSession):
    """One person who decides on the labels of an instrument. `whose`: as in `pipeline.issues.issue_figures`."""

    def __init__(self, path: Path, instrument: str, whose: str):
        self._instrument, self._whose = instrument, whose
        super().__init__(path)
        self._steps: list[Step] = []

    @property
    def steps(self) -> int:
        """How often one can undo."""
        return len(self._steps)

    def read(self) -> IssueFigures:
        """Return labels and what follows from them. No interval is shown here, so next to none are computed."""
        from workbench.pipeline.issues import issue_figures

        return issue_figures(self._store, self._instrument, whose=self._whose, resamples=1)

    def decide(self, case: Case, label: int | None, auditor: str) -> bool:
        """Commit a decision on the labels that were shown, None takes it back; False where there are others now."""
        try:
            self._write(case, label, auditor, seen=dict(case.labels))
        except ConflictError:
            return False
        self._steps.append(Step(case, case.adjudicated))
        return True

    def undo(self, auditor: str) -> Case | None:
        """Put back what stood before the newest decision, of this session or of this person's earlier ones; None where
        there is none.
        """
        if not self._steps:
            self._steps = self._earlier(auditor)
        if not self._steps:
            return None
        step = self._steps[-1]
        self._write(step.case, step.before, auditor, seen=None)
        self._steps.pop()
        return step.case

    def _earlier(self, auditor: str) -> list[Step]:
        """Return a person's decisions of earlier sessions that are still in force, the newest last."""
        cases = {(case.statement, case.issue): case for case in self.read().report.cases}
        decisions = self._store.issues.decisions(self._instrument, auditor)
        newest = {(ref, issue): label for ref, issue, _, label in decisions}
        return [
            Step(cases[ref, issue], before)
            for ref, issue, before, _ in decisions
            if (ref, issue) in cases and cases[ref, issue].adjudicated == newest[ref, issue]
        ]

    def _write(self, case: Case, label: int | None, auditor: str, *, seen: dict[str, int] | None) -> None:
        self._store.issues.adjudicate(self._instrument, case.statement, case.issue, label, auditor, seen=seen)
