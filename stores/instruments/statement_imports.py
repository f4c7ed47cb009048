"""Merges statements of an imported instrument with the stored ones, keeping people's changes.

An import is a change like any other: its changes of an existing instrument are recorded as one batch of edits by the
person `import`, and can be undone. Conflicts follow a three-way merge: a statement that was changed here and is
unchanged in the file since its last import keeps the change made here. If the file has changed too, the file counts,
and the record of edits has the earlier text. A file in some of an instrument's languages (`language_joins`) is compared
only in these.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from stores.instruments.edit_log import record, time_of_edit
from stores.instruments.language_joins import LanguageJoin
from stores.instruments.statement_rows import insert_statement, read_statements, update_about
from stores.instruments.versions import latest_version, write_texts
from stores.runs.snapshots import restored_statement, snapshot
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import Statement, VariantId

IMPORTER = "import"
"the person under whose name an import changes statements"
IMPORTED = "imported"
"its action; for a file in some of the instrument's languages: `imported in de, fr`"
IN = f"{IMPORTED} in "

Bases = dict[str, Statement | None]
"ref of a statement changed here -> its state after the last import; None: it was written here"


@dataclass(slots=True)
class Synced:
    """The changes of an import to statements."""

    ids: dict[str, int] = field(default_factory=dict)
    "ref in the file -> rowid of the current version here"
    added: int = 0
    changed: int = 0
    retired: int = 0
    kept: int = 0
    reworded: set[tuple[str, VariantId]] = field(default_factory=set)
    "wordings whose text here differs from the file, so that the file's answers do not apply"

    def answers(self, survey: Iterable[SurveyAnswer]) -> tuple[SurveyAnswer, ...]:
        """Return the answers of a file that apply to the stored texts."""
        return tuple(answer for answer in survey if (answer.statement, answer.variant) not in self.reworded)


def sync_statements(
    connection: sqlite3.Connection,
    instrument_id: int,
    statements: Iterable[Statement],
    join: LanguageJoin | None = None,
) -> Synced:
    """Set an instrument's statements to those of a file, in its order. Call inside a transaction.

    `join`: for a file that lacks languages of the instrument; None: it has all of them.
    """
    work = _Sync(connection, instrument_id, {s.ref: s for s in statements}, join)
    for ordinal, statement in enumerate(work.wanted.values()):
        work.sync(ordinal, statement)
    work.retire()
    return work.synced


class _Sync:
    """One import."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        instrument_id: int,
        wanted: dict[str, Statement],
        join: LanguageJoin | None = None,
    ) -> None:
        self._connection, self._instrument_id, self.wanted, self._join = connection, instrument_id, wanted, join
        self._act = IMPORTED if join is None else IN + ", ".join(sorted(join.spoken))
        values = {"instrument": instrument_id}
        found = read_statements(connection, "s.instrument_id = :instrument and s.current = 1", values, {})
        self._here = {statement.ref: (rowid, statement) for rowid, statement in found.items()}
        self._bases = changed_here(connection, instrument_id)
        self._now_called = {
            base.ref: ref for ref, base in self._bases.items() if base is not None and ref not in wanted
        }
        there = "select 1 from statement where instrument_id = ? limit 1"
        self._known = connection.execute(there, (instrument_id,)).fetchone() is not None
        self._batch = secrets.token_bytes(16)
        self.synced = Synced()

    def sync(self, ordinal: int, given: Statement) -> None:
        """Merge one statement of the file with the stored one."""
        origin = given.derived_from
        wanted = replace(
            given,
            ref=self._now_called.get(given.ref, given.ref),
            derived_from=None if origin is None else self._now_called.get(origin, origin),
        )
        base, here = self._bases.get(wanted.ref), self._here.get(wanted.ref)
        unchanged = base is not None and self._is_as_imported(base, given, wanted)
        if self._join is not None:
            ordinal = ordinal if self._join.main else self._place(here)
            wanted = wanted if here is None else self._join.statement(wanted, here[1])
        if unchanged:
            self._keep(given, wanted, here)
            rowid = here[0] if here else None
        elif here is None:
            rowid = self._add(wanted, ordinal)
        elif _said(here[1]) != _said(wanted):
            rowid = self._change(*here, wanted, ordinal)
        else:
            rowid = here[0]
        if rowid is not None:
            self._connection.execute("update statement set ordinal = ? where id = ?", (ordinal, rowid))
            self.synced.ids[given.ref] = rowid

    def _is_as_imported(self, base: Statement, given: Statement, wanted: Statement) -> bool:
        """Return whether the statement in the file is unchanged since the last import, in the file's languages."""
        if self._join is None:
            return _said(base) in (_said(given), _said(wanted))
        part = self._join.part(base)
        return _said(part) in (_said(given), _said(wanted)) if self._join.main else _texts(part) == _texts(given)

    def _place(self, here: tuple[int, Statement] | None) -> int:
        """Return the position of a statement here; a new one comes last."""
        which, values = ("id = ?", (here[0],)) if here else ("instrument_id = ?", (self._instrument_id,))
        row = self._connection.execute(f"select coalesce(max(ordinal), -1) from statement where {which}", values)
        return int(row.fetchone()[0]) + (here is None)

    def _keep(self, given: Statement, wanted: Statement, here: tuple[int, Statement] | None) -> None:
        self.synced.kept += here is None or given.ref != wanted.ref or _said(here[1]) != _said(wanted)
        held = {(w.variant, w.language): w.text for w in here[1].wordings} if here else {}
        self.synced.reworded |= {
            (given.ref, w.variant) for w in given.wordings if held.get((w.variant, w.language)) != w.text
        }

    def _add(self, wanted: Statement, ordinal: int) -> int:
        version = max(latest_version(self._connection, self._instrument_id, wanted.ref) + 1, wanted.version)
        rowid = insert_statement(self._connection, self._instrument_id, wanted, version, ordinal)
        self.synced.added += 1
        self._record(wanted.ref, None, rowid)
        return rowid

    def _change(self, held: int, before: Statement, wanted: Statement, ordinal: int) -> int:
        rowid, _ = write_texts(self._connection, self._instrument_id, held, wanted, ordinal, keep=True)
        update_about(self._connection, rowid, wanted)
        self.synced.changed += _texts(before) != _texts(wanted)
        self._record(wanted.ref, before, rowid)
        return rowid

    def retire(self) -> None:
        """Archive statements that the file no longer has; statements written here are kept, after the file's."""
        staying = set(self.synced.ids.values())
        end = len(self.wanted)
        at = time_of_edit(self._connection)
        for ref, (rowid, statement) in self._here.items():
            if rowid in staying or self._has_made_place(rowid):
                continue
            if (join := self._join) is not None and not join.main:
                continue
            if (join is not None and join.leaves(statement)) or (ref in self._bases and self._bases[ref] is None):
                self._connection.execute("update statement set ordinal = ? where id = ?", (end, rowid))
                end += 1
                continue
            self._connection.execute("update statement set current = 0, archived_at = ? where id = ?", (at, rowid))
            self.synced.retired += 1
            self._record(ref, statement, None)

    def _has_made_place(self, rowid: int) -> bool:
        """Return whether this import replaced a current version."""
        row = self._connection.execute("select current from statement where id = ?", (rowid,)).fetchone()
        return not row[0]

    def _record(self, ref: str, before: Statement | None, rowid: int | None) -> None:
        """Record a change of an existing instrument; the first import is not a change."""
        if not self._known:
            return
        after = None
        if rowid is not None:
            after = next(iter(read_statements(self._connection, "s.id = :id", {"id": rowid}, {}).values()))
        record(self._connection, self._instrument_id, self._batch, ref, IMPORTER, self._act, before, after)


def changed_here(connection: sqlite3.Connection, instrument_id: int) -> Bases:
    """Return the statements that people changed since the last import that changed them, by current ref."""
    main = connection.execute("select language from instrument where id = ?", (instrument_id,)).fetchone()[0]
    rows = connection.execute(
        "select ref, person, act, before, after from edit where instrument_id = ? order by id", (instrument_id,)
    )
    found: Bases = {}
    for ref, person, act, before, after in rows:
        was, came = (restored_statement(body) if body else None for body in (before, after))
        old, new = was.ref if was else ref, came.ref if came else ref
        if (person, act) == (IMPORTER, IMPORTED):
            found.pop(old, None)
            continue
        if person == IMPORTER and act.startswith(IN):
            base = found.get(old)
            if came is None:
                found.pop(old, None)
            elif base is not None:
                spoken = frozenset(act.removeprefix(IN).split(", "))
                join = LanguageJoin(spoken, main in spoken)
                found[old] = replace(join.statement(join.part(came), base), ref=base.ref)
            continue
        found.setdefault(old, was)
        if new != old:
            found[new] = found.pop(old)
    return found


def _said(statement: Statement) -> str:
    """Return all data of a statement that a file can contain, except its ref and version number."""
    return snapshot(replace(statement, ref="", version=1))


def _texts(statement: Statement) -> dict[tuple[VariantId, str], str]:
    return {(w.variant, w.language): w.text for w in statement.wordings}
