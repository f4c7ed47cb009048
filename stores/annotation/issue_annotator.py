"""One annotator's view of the policy-issue labels of an instrument: the statements, and their own
labels.

Blindness does not depend on the queries of a screen: see `stores.core.permissions`.
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
from types import TracebackType

from stores.annotation.people import reader_id
from stores.core.base import instrument_id_of, now_after
from stores.core.permissions import over_issues, restrict
from stores.core.store import Store
from stores.instruments.issues import Original, annotator_name, check_issue, originals
from workbench.domain.instruments import IssueDefinition
from workbench.domain.readings import ReaderKind
from workbench.errors import ConflictError

PACE_OF = 50
"number of statements from which the pace is computed"
STEPS = 200
"number of labels that can be undone"
IDLE_S = 300.0
"longer times between two statements count as absence, not as work"


@dataclass(frozen=True, slots=True)
class Row:
    """A statement with this person's own labels."""

    statement: Original
    labels: Mapping[str, int]
    "issue -> -1, 0, +1; only labelled issues"

    @property
    def ref(self) -> str:
        return self.statement.ref


@dataclass(frozen=True, slots=True)
class Step:
    """Labels of one statement that were given together, the unit of undo."""

    row: Row
    before: Mapping[str, int | None]
    after: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The statements and labels shown to one annotator."""

    issues: tuple[IssueDefinition, ...]
    rows: tuple[Row, ...]
    per_hour: float | None
    "statements per hour over the latest ones; None before two"


class IssueAnnotator:
    """One person who labels statements. Every method is one transaction; returned values are
    committed.
    """

    def __init__(self, store: Store, instrument: str, name: str):
        self.name = annotator_name(name)
        self._store = store
        self.instrument = instrument
        self._instrument = instrument_id_of(store.connection, instrument)
        with store.write() as connection:
            self._me = reader_id(connection, ReaderKind.PERSON, self.name, "")
        rows = store.connection.execute(
            "select id from reader where kind = 'import' and name = ?", (self.name,)
        )
        restrict(store.connection, over_issues(self._me, [row[0] for row in rows.fetchall()]))

    @classmethod
    def open(cls, path: Path | str, instrument: str, name: str) -> IssueAnnotator:
        """Open a store as one person. Raises UnknownName for a missing instrument, UsageError for
        an invalid name.
        """
        store = Store.open(path)
        try:
            return cls(store, instrument, name)
        except BaseException:
            store.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, restricted to what this person may read and write."""
        return self._store.connection

    def sheet(self) -> Sheet:
        """Return all statements with this person's labels."""
        labels: dict[int, dict[str, int]] = defaultdict(dict)
        for statement, issue, label in self.connection.execute(_MINE, {"statement": None}):
            if label is not None:
                labels[statement][issue] = label
        rows = (
            Row(found, labels[found.id]) for found in originals(self.connection, self._instrument)
        )
        return Sheet(self._scheme(), tuple(rows), self._pace())

    def put(
        self,
        row: Row,
        labels: Mapping[str, int | None],
        *,
        expected: Mapping[str, int | None] | None = None,
    ) -> tuple[Row, Mapping[str, int | None]]:
        """Commit labels of a statement (None withdraws one); return the updated statement, and the
        previous labels.

        An unchanged label is not written again, and is not among the previous labels. `expected`:
        labels that must be current for anything to be written, so that an undo cannot withdraw a
        later label.

        Raises ConflictError if these are not current, or if the statement was changed or removed
        since it was read; UnknownName for an issue that the scheme no longer has.
        """
        with self._store.write() as connection:
            self._check(connection, row, labels)
            mine = self._mine(connection, row.statement.id)
            if any(mine.get(issue) != label for issue, label in (expected or {}).items()):
                raise ConflictError(
                    f"your labels of {row.ref} were changed elsewhere since; nothing was written"
                )
            before = {
                issue: mine.get(issue)
                for issue, label in labels.items()
                if mine.get(issue) != label
            }
            last = connection.execute(
                "select max(at) from my_issue_label where statement_id = ?", (row.statement.id,)
            ).fetchone()[0]
            at = now_after(last)  # the same time for all: they are one step
            for issue in before:
                self._append(connection, row.statement.id, issue, labels[issue], at)
            return Row(row.statement, self._labels(connection, row.statement.id)), before

    def steps(self) -> tuple[Step, ...]:
        """Return this person's latest steps that were not undone, the newest last, so that undo
        works across sessions.

        Labels of one statement at one time are one step. A step that restores the labels before the
        previous step is an undo: both are left out.
        """
        rows = self.connection.execute(_STEPS, {"me": self._me, "n": STEPS}).fetchall()
        found: list[tuple[int, str, dict[str, int | None], dict[str, int | None]]] = []
        for statement, issue, label, before, at in reversed(rows):
            if found and found[-1][:2] == (statement, at):
                found[-1][2][issue], found[-1][3][issue] = before, label
            else:
                found.append((statement, at, {issue: before}, {issue: label}))
        kept: list[tuple[int, dict[str, int | None], dict[str, int | None]]] = []
        for statement, _, before, after in found:
            if kept and kept[-1] == (statement, after, before):
                kept.pop()
            else:
                kept.append((statement, before, after))
        known = {one.id: one for one in originals(self.connection, self._instrument)}
        return tuple(
            Step(Row(known[statement], self._labels(self.connection, statement)), before, after)
            for statement, before, after in kept
            if statement in known
        )

    def pace(self) -> float | None:
        """Return how many statements this person labels per hour; None before two."""
        return self._pace()

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> IssueAnnotator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _scheme(self) -> tuple[IssueDefinition, ...]:
        rows = self.connection.execute(
            "select name, title, definition from issue where instrument_id = ?", (self._instrument,)
        )
        found = {row[0]: IssueDefinition(*row) for row in rows}
        return tuple(found.get(name, IssueDefinition(name)) for name in self._names())

    def _names(self) -> tuple[str, ...]:
        row = self.connection.execute(
            "select issues from instrument where id = ?", (self._instrument,)
        ).fetchone()
        return tuple(json.loads(row[0]))

    def _check(
        self, connection: sqlite3.Connection, row: Row, labels: Mapping[str, int | None]
    ) -> None:
        found = originals(connection, self._instrument, row.statement.id)
        if not found or found[0].text_id != row.statement.text_id:
            raise ConflictError(
                f"the statement {row.ref} was changed or taken away since it was shown; nothing "
                "was written. "
                "Read it again (F5), then label it."
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
        self, connection: sqlite3.Connection, statement: int, issue: str, label: int | None, at: str
    ) -> None:
        """Append a revision. Withdrawing a label also withdraws those imported under the person's
        name.
        """
        values = {"statement": statement, "issue": issue}
        held = dict(connection.execute(_NEWEST, values).fetchall())
        readers = [self._me, *(reader for reader in held if label is None and reader != self._me)]
        connection.executemany(
            "insert into issue_label (statement_id, issue, reader_id, revision, label, at) "
            "values (:statement, :issue, :reader, :revision, :label, :at)",
            [
                values
                | {"reader": reader, "revision": held.get(reader, 0) + 1, "label": label, "at": at}
                for reader in readers
            ],
        )

    def _pace(self) -> float | None:
        rows = self.connection.execute(
            "select max(at) from my_issue_label where reader_id = :me and label is not null "
            "group by statement_id "
            "order by 1 desc limit :n",
            {"n": PACE_OF, "me": self._me},
        )
        times = [datetime.fromisoformat(row[0]) for row in rows]
        worked = sum(min((a - b).total_seconds(), IDLE_S) for a, b in pairwise(times))
        return 3600 * (len(times) - 1) / worked if worked else None


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
