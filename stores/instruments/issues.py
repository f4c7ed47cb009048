"""Rows of policy-issue labels and of their statements."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import EllipsisType
from typing import TypeAlias

from stores.annotation.people import issue_labels_of, reader_id
from stores.annotation.person_steps import UndoableChange, add_change, newest_change
from stores.core.base import Aggregate, decode_text, instrument_id_of, now, now_after, table
from workbench.domain.instruments import (
    ADJUDICATION,
    FEWEST,
    GOLD,
    IssueDefinition,
    IssueLabel,
    Labels,
    gold_labels,
)
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderKind
from workbench.errors import ConflictError, UnknownName, UsageError

CaseDecision: TypeAlias = UndoableChange[tuple[str, str], int | None]
"a decision on the label of a statement for an issue; None is no label"


@dataclass(frozen=True, slots=True)
class Original:
    """A current statement as annotators see it."""

    id: int
    "rowid of the statement's version"
    text_id: int | None
    ref: str
    text: str
    """the original in the instrument's language if available, or else in another, or empty if
    there is none"""
    country: str | None
    topic: str | None


def originals(
    connection: sqlite3.Connection, instrument: int, statement: int | None = None
) -> tuple[Original, ...]:
    """Return the current statements of an instrument in its order, or one of them."""
    rows = connection.execute(
        _ORIGINALS, {"instrument": instrument, "statement": statement}
    ).fetchall()
    return tuple(
        Original(
            rowid, text_id, ref, decode_text(body) if text_id is not None else "", country, topic
        )
        for rowid, text_id, ref, body, country, topic in rows
    )


def newest(connection: sqlite3.Connection, statement: int, issue: str, reader: int) -> int | None:
    """Return a reader's current label of a cell, or None if there is none or it was withdrawn."""
    row = connection.execute(
        "select label from issue_label where statement_id = ? and issue = ? and reader_id = ? "
        "order by revision desc limit 1",
        (statement, issue, reader),
    ).fetchone()
    return row[0] if row else None


def define(
    connection: sqlite3.Connection, instrument_id: int, issues: Iterable[IssueDefinition]
) -> None:
    """Write definitions of policy issues. Other definitions are kept. Call inside a transaction."""
    table(connection, "issue").upsert_all(
        {"instrument_id": instrument_id, **asdict(issue)} for issue in issues
    )


def append(
    connection: sqlite3.Connection, statement: int, issue: str, reader: int, label: int | None
) -> None:
    """Append a revision, later than all other labels of the cell. Call inside a transaction."""
    revision = connection.execute(
        "select coalesce(max(revision), 0) + 1 from issue_label where statement_id = ? and issue "
        "= ? and reader_id = ?",
        (statement, issue, reader),
    ).fetchone()[0]
    last = connection.execute(
        "select max(at) from issue_label where statement_id = ? and issue = ?", (statement, issue)
    ).fetchone()[0]
    connection.execute(
        "insert into issue_label (statement_id, issue, reader_id, revision, label, at) values "
        "(?, ?, ?, ?, ?, ?)",
        (statement, issue, reader, revision, label, now_after(last)),
    )


_ORIGINALS = """
    select s.id, x.id, s.ref, x.body, s.country, s.topic
    from statement s
    join instrument i on i.id = s.instrument_id
    left join wording w on w.id = coalesce(
        (select o.id from wording o where o.statement_id = s.id and o.kind = 'original'
            and o.language = i.language),
        (select min(o.id) from wording o where o.statement_id = s.id and o.kind = 'original')
    )
    left join text x on x.id = w.text_id
    where s.instrument_id = :instrument and s.current = 1 and (:statement is null
        or s.id = :statement)
    order by s.ordinal, s.id
"""


def n_labellers_needed(connection: sqlite3.Connection, instrument_id: int) -> int:
    """Return the number of people whose labels a gold label of an instrument needs.

    It is the latest choice, by default two.
    """
    row = connection.execute(
        "select fewest from gold_choice where instrument_id = ? order by id desc limit 1",
        (instrument_id,),
    ).fetchone()
    return int(row[0]) if row is not None else FEWEST


RESERVED = (GOLD, ADJUDICATION)
"names that annotators may not use, because labels under them are not one person's"


@dataclass(frozen=True, slots=True)
class SchemeChange:
    """The changes of a new scheme of issues."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: int
    """number of labels on issues outside the scheme, which stay in the store and count again if
    the issue returns"""


@dataclass(frozen=True, slots=True)
class Added:
    """The changes of an import of labels."""

    added: int
    changed: int
    "number of labels that differ from the same annotator's earlier ones"
    same: int
    held: int
    """number of labels that are left out because the annotator has labelled the same cell in
    this store"""


class Issues(Aggregate):
    """The methods on issues."""

    def names(self, instrument: str) -> tuple[str, ...]:
        """Return the issues of an instrument, in its order. Raises UnknownName if there is none."""
        return self._issues(instrument_id_of(self.connection, instrument))

    def scheme(self, instrument: str) -> tuple[IssueDefinition, ...]:
        """Return the issues of an instrument with their definitions.

        Raises UnknownName if there is no such instrument.
        """
        rowid = instrument_id_of(self.connection, instrument)
        rows = self.connection.execute(
            "select name, title, definition from issue where instrument_id = ?", (rowid,)
        )
        issue_by_name = {row[0]: IssueDefinition(*row) for row in rows}
        return tuple(issue_by_name.get(name, IssueDefinition(name)) for name in self._issues(rowid))

    def set_scheme(self, instrument: str, issues: Sequence[IssueDefinition]) -> SchemeChange:
        """Set the issues of an instrument and their definitions. No label is lost."""
        names = [issue.name for issue in issues]
        if not names or len(set(names)) < len(names):
            raise UsageError("a scheme needs one issue or more, each with a name of its own")
        with self.store.write() as connection:
            rowid = instrument_id_of(self.connection, instrument)
            previous_names = self._issues(rowid)
            connection.execute(
                "update instrument set issues = ? where id = ?", (json.dumps(names), rowid)
            )
            define(connection, rowid, issues)
            n_kept = sum(label.issue not in names for label in issue_labels_of(connection, rowid))
        added = tuple(name for name in names if name not in previous_names)
        return SchemeChange(
            added, tuple(name for name in previous_names if name not in names), n_kept
        )

    def labels(self, instrument: str) -> tuple[IssueLabel, ...]:
        """Return all people's current labels of the current statements.

        Labels for issues outside the scheme are included.
        """
        return issue_labels_of(self.connection, instrument_id_of(self.connection, instrument))

    def fewest(self, instrument: str) -> int:
        """Return the number of people whose labels a gold label needs here.

        Raises UnknownName if there is no such instrument.
        """
        return n_labellers_needed(self.connection, instrument_id_of(self.connection, instrument))

    def choose_fewest(self, instrument: str, fewest: int, person: str) -> int:
        """Set the number of people whose labels a gold label needs.

        Returns the previous number. The choice stays on record.
        """
        if fewest < 1:
            raise UsageError(
                f"found {fewest} as the number of people that a gold label needs; give 1 or more"
            )
        name = person_name(person)
        with self.store.write() as connection:
            rowid = instrument_id_of(connection, instrument)
            previous = n_labellers_needed(connection, rowid)
            if previous != fewest:
                choice = {"instrument_id": rowid, "fewest": fewest, "chosen_by": name, "at": now()}
                table(connection, "gold_choice").add(choice)
        return previous

    def gold(self, instrument: str, whose: str = "gold", *, fewest: int | None = None) -> Labels:
        """Return the gold label of each statement and issue of the scheme.

        If `whose` is `gold`, a source's own labels are preferred to people's. If it is `people`,
        only people's labels and adjudications count. `fewest` is the number of people needed. None
        takes the number chosen for the instrument. For the rule see
        `domain.issue_gold.gold_labels`. Raises UnknownName for other values of `whose`.
        """
        if whose not in ("gold", "people"):
            raise UnknownName(f"found {whose!r}; gold labels are those of: gold, people")
        names = set(self.names(instrument))
        scheme_labels = (label for label in self.labels(instrument) if label.issue in names)
        n_needed = self.fewest(instrument) if fewest is None else fewest
        return gold_labels(scheme_labels, source=whose == "gold", fewest=n_needed)

    def statements(self, instrument: str) -> tuple[tuple[str, str], ...]:
        """Return (ref, text) of the current statements, in order.

        The text is the original in the instrument's language.
        """
        rows = originals(self.connection, instrument_id_of(self.connection, instrument))
        return tuple((row.ref, row.text) for row in rows)

    def adjudicate(
        self,
        instrument: str,
        ref: str,
        issue: str,
        label: int | None,
        auditor: str,
        *,
        seen: Mapping[str, int] | None = None,
        decided: int | EllipsisType | None = ...,
    ) -> int | None:
        """Decide on a statement's label for an issue, or withdraw a decision (None).

        Returns the previous decision. `seen` are the annotators' labels, and `decided` is the
        decision, that the auditor saw. Raises ConflictError if either has changed, and UnknownName
        for an unknown statement or issue.
        """
        name = annotator_name(auditor)
        with self.store.write() as connection:
            rowid = instrument_id_of(self.connection, instrument)
            statement = self._statement(connection, rowid, ref)
            check_issue(issue, self._issues(rowid))
            label_by_annotator = {
                issue_label.annotator: issue_label.label
                for issue_label in issue_labels_of(connection, rowid)
                if (issue_label.statement, issue_label.issue) == (ref, issue)
            }
            previous = label_by_annotator.pop(ADJUDICATION, None)
            label_by_annotator.pop(GOLD, None)
            if seen is not None and label_by_annotator != dict(seen):
                raise ConflictError(
                    f"the labels of {ref} for {issue} changed while they were looked at; look again"
                )
            if decided is not ... and previous != decided:
                raise ConflictError(f"{ref} was decided for {issue} in another session; look again")
            for reader, decider in self._deciders(connection, statement, issue):
                if label is None or decider != name:
                    append(connection, statement, issue, reader, None)
            if label is not None:
                append(
                    connection,
                    statement,
                    issue,
                    reader_id(connection, ReaderKind.ADJUDICATION, name, ""),
                    label,
                )
        return previous

    def decisions(self, instrument: str, auditor: str) -> tuple[CaseDecision, ...]:
        """Return a person's decisions that were not undone, the newest last."""
        rowid = instrument_id_of(self.connection, instrument)
        rows = self.connection.execute(_DECISIONS, (rowid, annotator_name(auditor)))
        decisions: list[CaseDecision] = []
        for ref, issue, previous, label in rows:
            change = UndoableChange((ref, issue), previous, label)
            add_change(decisions, change, newest_change(decisions, change.unit))
        return tuple(decisions)

    def add(self, instrument: str, labels: Iterable[IssueLabel]) -> Added:
        """Add labels from elsewhere, all or none. Adding them again changes nothing.

        A file does not change labels that a person of the same name gave in this store. Raises
        UnknownName for an unknown statement or issue.
        """
        counts = {"added": 0, "changed": 0, "same": 0, "held": 0}
        with self.store.write() as connection:
            rowid = instrument_id_of(self.connection, instrument)
            issues = self._issues(rowid)
            readers: dict[str, int] = {}
            statements: dict[str, int] = {}
            for label in labels:
                if label.statement not in statements:
                    statements[label.statement] = self._statement(
                        connection, rowid, label.statement
                    )
                check_issue(label.issue, issues)
                counts[self._take(connection, statements[label.statement], label, readers)] += 1
        return Added(**counts)

    def _take(
        self,
        connection: sqlite3.Connection,
        statement: int,
        label: IssueLabel,
        readers: dict[str, int],
    ) -> str:
        name = label.annotator if label.annotator in RESERVED else person_name(label.annotator)
        if name not in readers:
            readers[name] = reader_id(connection, ReaderKind.IMPORT, name, "")
        kind, reader_name = ("adjudication", "") if name == ADJUDICATION else ("person", name)
        local_labels = [
            newest(connection, statement, label.issue, row[0])
            for row in connection.execute(
                _LABELLED_HERE,
                {"kind": kind, "name": reader_name, "statement": statement, "issue": label.issue},
            ).fetchall()
        ]
        previous = newest(connection, statement, label.issue, readers[name])
        if local_labels:
            return "same" if label.label in local_labels else "held"
        if previous == label.label:
            return "same"
        append(connection, statement, label.issue, readers[name], label.label)
        return "added" if previous is None else "changed"

    def _issues(self, instrument: int) -> tuple[str, ...]:
        row = self.connection.execute(
            "select issues from instrument where id = ?", (instrument,)
        ).fetchone()
        return tuple(json.loads(row[0]))

    def _statement(self, connection: sqlite3.Connection, instrument: int, ref: str) -> int:
        row = connection.execute(
            "select id from statement where instrument_id = ? and ref = ? and current = 1",
            (instrument, ref),
        ).fetchone()
        if row is None:
            raise UnknownName(f"the instrument has no statement {ref!r}")
        return int(row[0])

    def _deciders(
        self, connection: sqlite3.Connection, statement: int, issue: str
    ) -> list[tuple[int, str]]:
        """Return (reader, name) of the people with a decision on a cell in force."""
        rows = connection.execute(
            "select distinct r.id, r.name from issue_label l join reader r on r.id = l.reader_id "
            "where l.statement_id = ? and l.issue = ? and (r.kind = 'adjudication' or r.name = ?)",
            (statement, issue, ADJUDICATION),
        ).fetchall()
        return [
            (reader, name)
            for reader, name in rows
            if newest(connection, statement, issue, reader) is not None
        ]


_DECISIONS = """
    select s.ref, l.issue, lag(l.label) over (partition by s.ref, l.issue
        order by l.at, l.revision), l.label
    from issue_label l
    join reader r on r.id = l.reader_id and r.kind = 'adjudication'
    join statement s on s.id = l.statement_id
    where s.instrument_id = ? and r.name = ? order by l.at, l.revision
"""


def annotator_name(text: str) -> str:
    """Return an annotator's name in its normal form.

    Raises UsageError for invalid and reserved names.
    """
    name = person_name(text)
    if name.casefold() in RESERVED:
        raise UsageError(
            f"{name!r} is no annotator's name: it stands for labels that are not one person's"
        )
    return name


def check_issue(issue: str, issues: Sequence[str]) -> None:
    """Raise UnknownName if an issue is not in the scheme."""
    if not issues:
        raise UnknownName(
            "the instrument has no policy issues yet. Give it some: workbench issues STORE "
            "--scheme smartvote"
        )
    if issue not in issues:
        raise UnknownName(f"found the issue {issue!r}; the instrument has: {', '.join(issues)}")


_LABELLED_HERE = """
    select distinct r.id from issue_label l
    join reader r on r.id = l.reader_id and r.kind = :kind and (:name = '' or r.name = :name)
    where l.statement_id = :statement and l.issue = :issue
"""
"readers with labels of a cell that were given in this store, not in a file"
