"""Labelling statements for policy issues: one person's steps, earlier sessions included, over a sheet of statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueAnnotator, Row, Sheet, Step


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    row: Row
    "the statement as it is now"
    issues: tuple[str, ...]
    "those whose label changed; none where all were so already"
    steps: int
    "how often one can undo"
    per_hour: float | None


class IssueSession:
    """One person over the statements of an instrument. Any of them is labelled at any time, so none is leased."""

    def __init__(self, path: Path, instrument: str, name: str):
        self._instrument, self._name = instrument, name
        self._path = path
        self.annotator = self._open()
        self._steps: list[Step] = list(self.annotator.steps())
        "the newest last"

    def sheet(self) -> Sheet:
        """Return all statements with this person's labels; issues without a definition have the shipped one."""
        from workbench.data import shipped_issue_scheme
        from workbench.issue_schemes import defined

        sheet = self.annotator.sheet()
        names = [issue.name for issue in sheet.issues]
        return replace(sheet, issues=defined(names, sheet.issues, shipped_issue_scheme().issues))

    def take_shipped_issues(self) -> Sheet:
        """Give the instrument the shipped issues, unless somebody gave it others meanwhile."""
        from stores.core.store import Store
        from workbench.data import shipped_issue_scheme

        with Store.open(self._path) as store:
            if not store.issues.names(self._instrument):
                store.issues.set_scheme(self._instrument, shipped_issue_scheme().issues)
        return self.sheet()

    def put(self, row: Row, labels: Mapping[str, int | None]) -> Done:
        """Commit labels of one statement."""
        from stores.annotation.issue_annotator import Step

        after, before = self.annotator.put(row, labels)
        if before:
            self._steps.append(Step(after, before, {issue: labels[issue] for issue in before}))
        return self._done(after, before)

    def undo(self) -> Done | None:
        """Put back what stood before the newest step; None where there is no step.

        A step whose labels were changed elsewhere since cannot be undone: it is forgotten, and ConflictError raised.
        """
        if not self._steps:
            return None
        step = self._steps.pop()
        row, _ = self.annotator.put(step.row, step.before, expected=step.after)
        return self._done(row, step.before)

    def move(self, path: Path) -> None:
        self._path = path
        before, self.annotator = self.annotator, self._open()
        before.close()

    def close(self) -> None:
        self.annotator.close()

    def _open(self) -> IssueAnnotator:
        from stores.annotation.issue_annotator import IssueAnnotator

        return IssueAnnotator.open(self._path, self._instrument, self._name)

    def _done(self, row: Row, changed: Mapping[str, int | None]) -> Done:
        return Done(row, tuple(changed), len(self._steps), self.annotator.pace())
