"""One annotator's view of the policy-issue labels of an instrument.

It has the statements and the annotator's own labels. Blindness does not depend on the queries of a
screen: see `stores.core.permissions`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from stores.annotation.people import reader_id
from stores.annotation.person_session import PersonSession, open_session
from stores.annotation.person_steps import PACE_OF, UndoableChange, add_change, items_per_hour
from stores.core.base import instrument_id_of, now_after
from stores.core.permissions import over_issues
from stores.core.store import Store
from stores.instruments.issues import Original, annotator_name, check_issue, originals
from workbench.domain.instruments import IssueDefinition
from workbench.domain.readings import ReaderKind
from workbench.errors import ConflictError

STEPS = 200
"number of labels that can be undone"


@dataclass(frozen=True, slots=True)
class IssueRow:
    """A statement with this person's own labels."""

    statement: Original
    labels: Mapping[str, int]
    "issue -> -1, 0 or +1, for labelled issues only"

    @property
    def ref(self) -> str:
        return self.statement.ref


@dataclass(frozen=True, slots=True)
class IssueStep:
    """The labels of one statement that were given together, as one step of undo."""

    row: IssueRow
    before: Mapping[str, int | None]
    after: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class IssueSheet:
    """The statements and labels that one annotator sees."""

    issues: tuple[IssueDefinition, ...]
    rows: tuple[IssueRow, ...]
    per_hour: float | None
    "statements per hour over the latest ones, or None before two"


class IssueAnnotator(PersonSession):
    """A person who labels statements for policy issues."""

    def __init__(self, store: Store, instrument: str, name: str):
        super().__init__(store)
        self.name = annotator_name(name)
        self.instrument = instrument
        self._instrument = instrument_id_of(store.connection, instrument)
        with store.write() as connection:
            self._me = reader_id(connection, ReaderKind.PERSON, self.name, "")
        rows = store.connection.execute(
            "select id from reader where kind = 'import' and name = ?", (self.name,)
        )
        self.restrict(over_issues(self._me, [row[0] for row in rows.fetchall()]))

    @classmethod
    def open(cls, path: Path | str, instrument: str, name: str) -> IssueAnnotator:
        """Open a store as one person.

        Raises UnknownName for a missing instrument, and UsageError for an invalid name.
        """
        return open_session(path, lambda store: cls(store, instrument, name))

    def sheet(self) -> IssueSheet:
        """Return all statements with this person's labels."""
        labels: dict[int, dict[str, int]] = defaultdict(dict)
        for statement_id, issue, label in self.connection.execute(_MINE, {"statement": None}):
            if label is not None:
                labels[statement_id][issue] = label
        rows = (
            IssueRow(statement, labels[statement.id])
            for statement in originals(self.connection, self._instrument)
        )
        return IssueSheet(self._scheme(), tuple(rows), self.pace())

    def put(
        self,
        row: IssueRow,
        labels: Mapping[str, int | None],
        *,
        expected: Mapping[str, int | None] | None = None,
    ) -> tuple[IssueRow, Mapping[str, int | None]]:
        """Commit labels of a statement and return the updated statement and the previous labels.

        A label of None withdraws one. An unchanged label is not written again, and is not among the
        previous labels. `expected` are labels that must be current for anything to be written, so
        that an undo cannot withdraw a later label.

        Raises ConflictError if these are not current, or if the statement was changed or removed
        since it was read. Raises UnknownName for an issue that the scheme no longer has.
        """
        with self._store.write() as connection:
            self._check(connection, row, labels)
            own_labels = self._mine(connection, row.statement.id)
            if any(own_labels.get(issue) != label for issue, label in (expected or {}).items()):
                raise ConflictError(
                    f"your labels of {row.ref} were changed elsewhere since; nothing was written"
                )
            previous_labels = {
                issue: own_labels.get(issue)
                for issue, label in labels.items()
                if own_labels.get(issue) != label
            }
            last_time = connection.execute(
                "select max(at) from my_issue_label where statement_id = ?", (row.statement.id,)
            ).fetchone()[0]
            time = now_after(last_time)  # the same time for all: they are one step
            for issue in previous_labels:
                self._append(connection, row.statement.id, issue, labels[issue], time)
            updated_labels = self._labels(connection, row.statement.id)
            return IssueRow(row.statement, updated_labels), previous_labels

    def steps(self) -> tuple[IssueStep, ...]:
        """Return this person's latest steps that were not undone, the newest last.

        So undo works across sessions. Labels of one statement at one time are one step. A step that
        restores the labels before the previous step is an undo: both are left out.
        """
        rows = self.connection.execute(_STEPS, {"me": self._me, "n": STEPS}).fetchall()
        change_by_time: dict[tuple[int, str], UndoableChange[int, dict[str, int | None]]] = {}
        for statement_id, issue, label, previous, labelled_at in reversed(rows):
            change = change_by_time.setdefault(
                (statement_id, labelled_at), UndoableChange(statement_id, {}, {})
            )
            change.before[issue] = previous
            change.after[issue] = label
        changes: list[UndoableChange[int, dict[str, int | None]]] = []
        for change in change_by_time.values():
            add_change(changes, change, changes[-1] if changes else None)
        statement_by_id = {
            statement.id: statement for statement in originals(self.connection, self._instrument)
        }
        return tuple(
            IssueStep(
                IssueRow(statement_by_id[change.unit], self._labels(self.connection, change.unit)),
                change.before,
                change.after,
            )
            for change in changes
            if change.unit in statement_by_id
        )

    def pace(self) -> float | None:
        """Return the number of statements that this person labels per hour, or None before two."""
        rows = self.connection.execute(
            "select max(at) from my_issue_label where reader_id = :me and label is not null group "
            "by statement_id order by 1 desc limit :n",
            {"n": PACE_OF, "me": self._me},
        )
        times = [datetime.fromisoformat(row[0]) for row in rows]
        gaps = [later - earlier for later, earlier in pairwise(times)]
        return items_per_hour([1000 * gap.total_seconds() for gap in gaps])

    def _scheme(self) -> tuple[IssueDefinition, ...]:
        rows = self.connection.execute(
            "select name, title, definition from issue where instrument_id = ?", (self._instrument,)
        )
        issue_by_name = {row[0]: IssueDefinition(*row) for row in rows}
        return tuple(issue_by_name.get(name, IssueDefinition(name)) for name in self._names())

    def _names(self) -> tuple[str, ...]:
        row = self.connection.execute(
            "select issues from instrument where id = ?", (self._instrument,)
        ).fetchone()
        return tuple(json.loads(row[0]))

    def _check(
        self, connection: sqlite3.Connection, row: IssueRow, labels: Mapping[str, int | None]
    ) -> None:
        statements = originals(connection, self._instrument, row.statement.id)
        if not statements or statements[0].text_id != row.statement.text_id:
            raise ConflictError(
                f"the statement {row.ref} was changed or taken away since it was shown; nothing "
                "was written. Read it again (F5), then label it."
            )
        names = self._names()
        for issue in labels:
            check_issue(issue, names)

    def _mine(self, connection: sqlite3.Connection, statement: int) -> dict[str, int | None]:
        return {
            issue: label for _, issue, label in connection.execute(_MINE, {"statement": statement})
        }

    def _labels(self, connection: sqlite3.Connection, statement: int) -> dict[str, int]:
        return {
            issue: label
            for issue, label in self._mine(connection, statement).items()
            if label is not None
        }

    def _append(
        self,
        connection: sqlite3.Connection,
        statement: int,
        issue: str,
        label: int | None,
        time: str,
    ) -> None:
        """Append a revision.

        Withdrawing a label also withdraws those imported under the person's name.
        """
        values = {"statement": statement, "issue": issue}
        revision_by_reader = dict(connection.execute(_NEWEST, values).fetchall())
        readers = [
            self._me,
            *(reader for reader in revision_by_reader if label is None and reader != self._me),
        ]
        connection.executemany(
            "insert into issue_label (statement_id, issue, reader_id, revision, label, at) "
            "values (:statement, :issue, :reader, :revision, :label, :at)",
            [
                values
                | {
                    "reader": reader,
                    "revision": revision_by_reader.get(reader, 0) + 1,
                    "label": label,
                    "at": time,
                }
                for reader in readers
            ],
        )


_MINE = """
    select statement_id, issue, label from (
        select statement_id, issue, label,
            row_number() over (partition by statement_id, issue
                order by at desc, revision desc, reader_id) as place
        from my_issue_label where :statement is null or statement_id = :statement
    ) where place = 1
"""
"this person's newest label of each cell, given here or imported under their name"

_STEPS = """
    select statement_id, issue, label, before, at from (
        select statement_id, issue, label, reader_id, revision, at,
            lag(label) over (partition by statement_id, issue order by at, revision, reader_id)
                as before
        from my_issue_label
    ) where reader_id = :me order by at desc, revision desc limit :n
"""
"the newest labels that this person gave here, with the previous label of the cell"

_NEWEST = """
    select reader_id, max(revision) from my_issue_label
    where statement_id = :statement and issue = :issue group by reader_id
"""
