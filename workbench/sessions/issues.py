"""Policy issues: a session that labels statements for them, and one that decides on ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from workbench.errors import ConflictError
from workbench.sessions.session import Session, StoreSession, UndoSteps

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueAnnotator, IssueRow, IssueSheet, IssueStep
    from workbench.annotation.issue_tables import IssueFigures
    from workbench.annotation.issues import Case
    from workbench.domain.instruments import IssueDefinition


@dataclass(frozen=True, slots=True)
class PutResult:
    """The result of labels that were given or undone."""

    row: IssueRow
    "the statement with its new labels"
    issues: tuple[str, ...]
    "issues whose labels changed, or none if all labels were there already"
    steps: int
    "number of steps that can be undone"


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

    def sheet(self) -> IssueSheet:
        """Return all statements with this person's labels.

        Issues without a definition get the shipped one.
        """
        from workbench.data import shipped_issue_scheme
        from workbench.issue_schemes import defined

        sheet = self.store.sheet()
        names = [issue.name for issue in sheet.issues]
        return replace(sheet, issues=defined(names, sheet.issues, shipped_issue_scheme().issues))

    def take_shipped_issues(self) -> IssueSheet:
        """Give the instrument the shipped issues, unless somebody gave it others meanwhile."""
        from stores.core.store import Store
        from workbench.data import shipped_issue_scheme

        with Store.open(self.path) as store:
            if not store.issues.names(self._instrument):
                store.issues.set_scheme(self._instrument, shipped_issue_scheme().issues)
        return self.sheet()

    def put(self, row: IssueRow, labels: Mapping[str, int | None]) -> PutResult:
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

    def pace(self) -> float | None:
        """Return the number of statements that this person labels per hour, or None before two."""
        return self.store.pace()

    def _withdraw(self, step: IssueStep) -> tuple[IssueRow, Mapping[str, int | None]]:
        """Restore the labels before a step. Return the statement and these labels."""
        row, _ = self.store.put(step.row, step.before, expected=step.after)
        return row, step.before

    def _result(self, row: IssueRow, changed: Mapping[str, int | None]) -> PutResult:
        return PutResult(row, tuple(changed), len(self._steps))


Cell: TypeAlias = tuple[int, int]
"indices of a row and an issue"


class IssueGrid:
    """The statements that a person labels as rows of a table, with a column per issue.

    It uses no store: `IssueSession` reads and writes.
    """

    def __init__(self) -> None:
        self.issues: tuple[IssueDefinition, ...] = ()
        self.only_unfinished = False
        "whether only statements without all their labels are listed"
        self.listed: tuple[str, ...] = ()
        "refs of the listed statements"
        self.per_hour: float | None = None
        self._rows: dict[str, IssueRow] = {}

    def __len__(self) -> int:
        """Return the number of all statements."""
        return len(self._rows)

    @property
    def n_finished(self) -> int:
        """The number of statements with all their labels."""
        return sum(self.is_finished(row) for row in self._rows.values())

    def row(self, ref: str) -> IssueRow:
        return self._rows[ref]

    def get(self, ref: str | None) -> IssueRow | None:
        """Return the row of a statement, or None if there is none."""
        return self._rows.get(ref or "")

    def is_finished(self, row: IssueRow) -> bool:
        """Return whether a statement has a label for every issue."""
        return not self.open_issues(row)

    def open_issues(self, row: IssueRow) -> list[int]:
        """Return the indices of the issues for which a statement has no label."""
        return [index for index, issue in enumerate(self.issues) if issue.name not in row.labels]

    def take(self, sheet: IssueSheet) -> None:
        """Use the current statements and labels."""
        self.issues, self.per_hour = sheet.issues, sheet.per_hour
        self._rows = {row.ref: row for row in sheet.rows}

    def put(self, row: IssueRow, per_hour: float | None) -> None:
        """Use the new labels of a statement, which stays listed even if it is finished."""
        self._rows[row.ref] = row
        self.per_hour = per_hour

    def forget_rows(self) -> None:
        """Forget the statements and labels of one person before another begins."""
        self._rows = {}

    def list_rows(self) -> None:
        """List all statements, or only the unfinished ones."""
        self.listed = tuple(
            ref
            for ref, row in self._rows.items()
            if not (self.only_unfinished and self.is_finished(row))
        )

    def first_open_cell(self, row: int = 0, after: int = -1) -> Cell | None:
        """Return the first unlabelled cell from a listed row on, or None.

        The search continues at the start after the last row. Cells of the first row up to the issue
        `after` come last.
        """
        for step in range(len(self.listed) + 1 if self.listed else 0):
            index = (row + step) % len(self.listed)
            for issue in self.open_issues(self._rows[self.listed[index]]):
                if step > 0 or issue > after:
                    return index, issue
        return None

    def cell_after(self, row: int, issue: int, *, whole_row: bool) -> Cell | None:
        """Return the cell to go to after a label, or None if there is none.

        It is the next issue, or after the last one the first unlabelled issue. From a statement
        with all its labels, or after all were given at once, it is in the next statement.
        """
        open_issues = self.open_issues(self._rows[self.listed[row]])
        if not whole_row and issue + 1 < len(self.issues):
            return row, issue + 1
        if not whole_row and open_issues:
            return row, open_issues[0]
        if row + 1 == len(self.listed):
            return None
        open_issues_below = self.open_issues(self._rows[self.listed[row + 1]])
        return row + 1, open_issues_below[0] if open_issues_below else 0


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
