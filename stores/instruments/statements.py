"""Statements as edited by people: created, changed, archived and undone, each change recorded with the person."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.annotation.people import issue_labels_of
from stores.core.base import Aggregate, instrument_id_of, now
from stores.instruments.choice_rows import write_item
from stores.instruments.editing import UNDO, Batch, Changed, undo_in
from stores.instruments.issue_rows import fewest_of
from stores.instruments.statement_rows import read_statements
from stores.instruments.versions import Version, history
from stores.runs.snapshots import restored_statement
from workbench.domain.choices import ChoiceItem
from workbench.domain.instruments import IssueDefinition
from workbench.domain.issue_gold import gold_labels
from workbench.domain.names import person_name, thing_name
from workbench.domain.statements import Statement
from workbench.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one statement."""

    batch: bytes
    ref: str
    person: str
    act: str
    before: Statement | None
    "None: it did not exist, or was archived"
    after: Statement | None
    at: str
    undone: bool


class Statements(Aggregate):
    """The methods of the editor. Each is one transaction, and is undone as one."""

    def get(self, instrument: str, ref: str, version: int | None = None) -> Statement:
        """Return a statement, by default in its current version. Raises UnknownName."""
        instrument_id = instrument_id_of(self.connection, instrument)
        which = "s.current = 1" if version is None else "s.version = :version"
        values = {"instrument": instrument_id, "ref": ref, "version": version}
        condition = f"s.instrument_id = :instrument and s.ref = :ref and {which}"
        labels = gold_labels(
            issue_labels_of(self.connection, instrument_id), fewest=fewest_of(self.connection, instrument_id)
        )
        found = read_statements(self.connection, condition, values, labels)
        if not found:
            what = f"statement {ref!r}" if version is None else f"version {version} of {ref!r}"
            raise UnknownName(f"{instrument} has no {what}; it may be archived, or was renamed")
        return next(iter(found.values()))

    def start(
        self, name: str, title: str = "", language: str = "en", *, definitions: Sequence[IssueDefinition] = ()
    ) -> None:
        """Create an instrument without statements. Raises UsageError if the name is taken."""
        name = thing_name(name, "instrument")
        with self.store.write() as connection:
            if connection.execute("select 1 from instrument where name = ?", (name,)).fetchone():
                raise UsageError(f"there is an instrument {name!r} already; choose another name")
            instrument_id = start_in(connection, name, title or name, language, [d.name for d in definitions])
            connection.executemany(
                "insert into issue (instrument_id, name, title, definition) values (?, ?, ?, ?)",
                [(instrument_id, d.name, d.title, d.definition) for d in definitions],
            )

    def create(self, instrument: str, statements: Sequence[Statement], *, person: str, act: str = "created") -> Changed:
        """Add statements at the end of an instrument. Raises UsageError, which names the faults of each."""
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, act)
            for statement in statements:
                work.create(statement)
            return work.done()

    def save(
        self,
        instrument: str,
        statements: Sequence[Statement],
        *,
        person: str,
        act: str = "edited",
        expected: Mapping[str, Statement] | None = None,
    ) -> Changed:
        """Replace current statements.

        `expected`: the statements that the person saw; raises ConflictError, without writing, if they have changed
        since.
        """
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, act)
            for ref, seen in (expected or {}).items():
                work.expect(ref, seen)
            for statement in statements:
                work.save(statement)
            return work.done()

    def change(
        self,
        instrument: str,
        *,
        person: str,
        act: str,
        expected: Mapping[str, Statement] | None = None,
        save: Sequence[Statement] = (),
        rename: tuple[str, str] | None = None,
        create: Sequence[Statement] = (),
        archive: Sequence[str] = (),
        choices: Sequence[ChoiceItem] = (),
    ) -> Changed:
        """Make several changes as one, all or none, undone together, in the order of the parameters.

        `choices`: the statements that are multiple-choice questions, whose texts are checked as such. Archived
        statements are not checked.
        """
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, act)
            for ref, seen in (expected or {}).items():
                work.expect(ref, seen)
            for item in choices:
                write_item(connection, instrument_id_of(connection, instrument), item)
            for statement in save:
                work.save(statement)
            if rename is not None:
                work.rename(*rename)
            for statement in create:
                work.create(statement)
            for ref in archive:
                work.archive(ref)
            return work.done()

    def rename(self, instrument: str, ref: str, new_ref: str, *, person: str) -> Changed:
        """Give all versions of a statement another ref."""
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, f"renamed from {ref}")
            work.rename(ref, new_ref)
            return work.done()

    def archive(self, instrument: str, refs: Iterable[str], *, person: str) -> Changed:
        """Archive statements of the instrument; all of their data are kept."""
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, "archived")
            for ref in refs:
                work.archive(ref)
            return work.done()

    def restore(self, instrument: str, refs: Iterable[str], *, person: str) -> Changed:
        """Restore archived statements, in the version that was archived last."""
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, "restored")
            for ref in refs:
                work.restore(ref)
            return work.done()

    def undo(self, instrument: str, *, person: str, batch: bytes | None = None) -> Changed | None:
        """Undo a change: the given one, or the person's newest one that is not undone. None: there is nothing to undo.

        Raises ConflictError if a statement was changed since; nothing is undone then.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            values = {"instrument": instrument_id, "person": person_name(person), "batch": batch, "undo": UNDO}
            row = connection.execute(_NEWEST, values).fetchone()
            return undo_in(connection, instrument_id, row[0], person=person) if row else None

    def history(self, instrument: str, ref: str) -> tuple[Version, ...]:
        """Return the versions of a statement, the oldest first, with counts of their answers and labels."""
        return history(self.connection, instrument_id_of(self.connection, instrument), ref)

    def edits(self, instrument: str, ref: str | None = None, limit: int = 200) -> tuple[Edit, ...]:
        """Return the latest changes, the newest first; for one statement, including those under its earlier refs."""
        values = {"instrument": instrument_id_of(self.connection, instrument), "ref": ref, "limit": limit}
        return tuple(
            Edit(
                batch,
                ref,
                person,
                act,
                restored_statement(before) if before else None,
                restored_statement(after) if after else None,
                at,
                bool(undone),
            )
            for batch, ref, person, act, before, after, at, undone in self.connection.execute(_EDITS, values)
        )

    def archived(self, instrument: str) -> tuple[str, ...]:
        """Return the refs of archived statements."""
        rows = self.connection.execute(
            "select distinct s.ref from statement s where s.instrument_id = ? and s.archived_at is not null "
            "and not exists (select 1 from statement c "
            "where c.instrument_id = s.instrument_id and c.ref = s.ref and c.current = 1) order by s.ordinal",
            (instrument_id_of(self.connection, instrument),),
        )
        return tuple(row[0] for row in rows)


def start_in(connection: sqlite3.Connection, name: str, title: str, language: str, issues: Sequence[str]) -> int:
    """Insert an empty instrument and return its rowid. Call inside a transaction."""
    row = connection.execute(
        "insert into instrument "
        "(name, title, version, language, source, citation, licence, issues, notes, imported_at) "
        "values (?, ?, '1', ?, '', '', '', ?, '[]', ?) returning id",
        (name, title, language, json.dumps(list(issues)), now()),
    ).fetchone()
    return int(row[0])


_UNDONE = "select u.undoes from edit u where u.instrument_id = :instrument and u.undoes is not null"

_NEWEST = f"""
    select e.batch, e.act from edit e
    where e.instrument_id = :instrument and e.act <> :undo
        and (e.batch = :batch or (:batch is null and e.person = :person))
        and e.batch not in ({_UNDONE})
    order by e.id desc limit 1
"""

_EDITS = f"""
    with recursive called (ref, until) as (  -- a statement's refs, each until the edit that gave it the next one
        select :ref, 9223372036854775807
        union
        select json_extract(e.before, '$.ref'), e.id from called c
        join edit e on e.instrument_id = :instrument and e.ref = c.ref and e.id < c.until
        where json_extract(e.before, '$.ref') <> c.ref
    )
    select e.batch, e.ref, e.person, e.act, e.before, e.after, e.at, e.batch in ({_UNDONE})
    from edit e where e.instrument_id = :instrument and (
        :ref is null or exists (select 1 from called c where c.ref = e.ref and e.id < c.until)
    )
    order by e.id desc limit :limit
"""
