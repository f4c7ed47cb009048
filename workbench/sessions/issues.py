"""Policy issues: a session that labels statements for them, and one that decides on ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ConflictError
from workbench.sessions.session import Session, StoreSession, UndoSteps

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueAnnotator, IssueStep, Row, Sheet
    from workbench.annotation.issue_tables import IssueFigures
    from workbench.annotation.issues import Case


@dataclass(frozen=True, slots=True)
class PutResult:
    """The result of labels that were given or undone."""

    row: Row
    "the statement with its new labels"
    issues: tuple[str, ...]
    "issues whose labels changed, or none if all labels were there already"
    steps: int
    "number of steps that can be undone"
    per_hour: float | None


class IssueSession(Session["IssueAnnotator"]):
    """One person's session over the statements of an instrument.

    Any statement can be labelled at any time, so none is leased.
    """

    def __init__(self, path: Path, instrument: str, name: str):
        self._instrument, self._name = instrument, name
        super().__init__(path)
        self._steps: UndoSteps[IssueStep] = UndoSteps(self.store.steps())

    def open(self, path: Path) -> IssueAnnotator:
        from stores.annotation.issue_annotator import IssueAnnotator

        return IssueAnnotator.open(path, self._instrument, self._name)

    def sheet(self) -> Sheet:
        """Return all statements with this person's labels.

        Issues without a definition get the shipped one.
        """
        from workbench.data import shipped_issue_scheme
        from workbench.issue_schemes import defined

        sheet = self.store.sheet()
        names = [issue.name for issue in sheet.issues]
        return replace(sheet, issues=defined(names, sheet.issues, shipped_issue_scheme().issues))

    def take_shipped_issues(self) -> Sheet:
        """Give the instrument the shipped issues, unless somebody gave it others meanwhile."""
        from stores.core.store import Store
        from workbench.data import shipped_issue_scheme

        with Store.open(self.path) as store:
            if not store.issues.names(self._instrument):
                store.issues.set_scheme(self._instrument, shipped_issue_scheme().issues)
        return self.sheet()

    def put(self, row: Row, labels: Mapping[str, int | None]) -> PutResult:
        """Commit labels of one statement."""
        from stores.annotation.issue_annotator import IssueStep

        shown_labels = {issue: row.labels.get(issue) for issue in labels}
        updated_row, previous_labels = self.store.put(row, labels, expected=shown_labels)
        if previous_labels:
            updated_labels = {issue: labels[issue] for issue in previous_labels}
            self._steps.add(IssueStep(updated_row, previous_labels, updated_labels))
        return self._result(updated_row, previous_labels)

    def undo(self) -> PutResult | None:
        """Undo the newest step, or return None if there is none.

        A step whose labels were changed elsewhere since cannot be undone: it is forgotten, and
        ConflictError raised.
        """
        if not self._steps:
            return None
        row, labels = self._steps.undo(self._withdraw)
        return self._result(row, labels)

    def _withdraw(self, step: IssueStep) -> tuple[Row, Mapping[str, int | None]]:
        """Restore the labels before a step. Return the statement and these labels."""
        row, _ = self.store.put(step.row, step.before, expected=step.after)
        return row, step.before

    def _result(self, row: Row, changed: Mapping[str, int | None]) -> PutResult:
        return PutResult(row, tuple(changed), len(self._steps), self.store.pace())


@dataclass(frozen=True, slots=True)
class CaseStep:
    """A decision on a case of disagreement."""

    case: Case
    "the case before the decision"
    before: int | None
    "the previous decision, or None if there was none"


class DecisionSession(StoreSession):
    """The session of a person who decides on the labels of an instrument.

    `whose`: as in `pipeline.issues.issue_figures`.
    """

    def __init__(self, path: Path, instrument: str, whose: str):
        self._instrument, self._whose = instrument, whose
        super().__init__(path)
        self._steps: UndoSteps[CaseStep] = UndoSteps()

    @property
    def steps(self) -> int:
        """The number of decisions that can be undone."""
        return len(self._steps)

    def read(self) -> IssueFigures:
        """Return the labels and their figures.

        No interval is visible here, so only one resample is computed.
        """
        from workbench.pipeline.issues import issue_figures

        return issue_figures(self.store, self._instrument, whose=self._whose, resamples=1)

    def decide(self, case: Case, label: int | None, auditor: str) -> bool:
        """Commit a decision on the visible labels, or withdraw it with None.

        Return False without deciding if the labels have changed.
        """
        try:
            self.store.issues.adjudicate(
                self._instrument,
                case.statement,
                case.issue,
                label,
                auditor,
                seen=dict(case.labels),
                decided=case.adjudicated,
            )
        except ConflictError:
            return False
        self._steps.add(CaseStep(case, case.adjudicated))
        return True

    def undo(self, auditor: str) -> Case | None:
        """Undo the newest decision, and return its case, or None without one.

        It is one of this session, or else of this person's earlier sessions.
        """
        if not self._steps:
            self._steps.replace(self._earlier(auditor))
        if not self._steps:
            return None

        def withdraw(step: CaseStep) -> Case:
            statement, issue = step.case.statement, step.case.issue
            self.store.issues.adjudicate(self._instrument, statement, issue, step.before, auditor)
            return step.case

        return self._steps.undo(withdraw)

    def _earlier(self, auditor: str) -> list[CaseStep]:
        """Return a person's decisions of earlier sessions that are in force, the newest last."""
        cases = {(case.statement, case.issue): case for case in self.read().report.cases}
        decisions = self.store.issues.decisions(self._instrument, auditor)
        newest_labels = {decision.unit: decision.after for decision in decisions}
        steps = []
        for decision in decisions:
            case = cases.get(decision.unit)
            if case is not None and case.adjudicated == newest_labels[decision.unit]:
                steps.append(CaseStep(case, decision.before))
        return steps
