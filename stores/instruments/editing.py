"""A batch of changes of statements inside one transaction: validation, versions, and the record of edits."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import category

from stores.core.base import instrument_id_of
from stores.instruments.edit_log import record, time_of_edit
from stores.instruments.statement_rows import insert_statement, read_statements, update_about
from stores.instruments.versions import latest_version, write_texts
from stores.runs.snapshots import restored_statement, snapshot
from workbench.domain.choice_statements import unreadable_forms
from workbench.domain.names import person_name
from workbench.domain.statements import ORIGINAL, QUESTION, Relation, Statement, VariantKind, text_fault
from workbench.errors import ConflictError, UnknownName, UsageError

MOST_REF = 60
"most characters of a ref, which is shown in lists and file names"
UNDO = "undo"
_SINGLE = (VariantKind.ORIGINAL, VariantKind.QUESTION, VariantKind.CHANGED)


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change."""

    batch: bytes
    refs: tuple[str, ...]
    "changed statements"
    versions: tuple[str, ...]
    "changed statements with a new version; answers stay with the previous version"
    act: str = ""


def save_in(
    connection: sqlite3.Connection,
    instrument_id: int,
    statements: Sequence[Statement],
    *,
    person: str,
    act: str,
) -> Changed:
    """Replace current statements as `Statements.save` does, in the caller's transaction."""
    work = Batch(connection, instrument_id, person_name(person), act)
    for statement in statements:
        work.save(statement)
    return work.done()


def undo_in(connection: sqlite3.Connection, instrument_id: int, batch: bytes, *, person: str) -> Changed:
    """Undo a change as `Statements.undo` does, in the caller's transaction. Undoing it twice has no effect."""
    edits = connection.execute(
        "select ref, before, after, act from edit where batch = ? order by id desc", (batch,)
    ).fetchall()
    work = Batch(connection, instrument_id, person_name(person), UNDO, batch)
    if not connection.execute("select 1 from edit where undoes = ?", (batch,)).fetchone():
        for ref, before, after, _ in edits:
            work.turn_back(ref, *(restored_statement(body) if body else None for body in (before, after)))
    return replace(work.done(), act=edits[0][3])


class Batch:
    """A batch of changes inside a transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        instrument_id: int,
        person: str,
        act: str,
        undoes: bytes | None = None,
    ):
        self._connection, self._instrument_id = connection, instrument_id
        self._person, self._act, self._undoes = person, act, undoes
        self._batch = secrets.token_bytes(16)
        self._refs: dict[str, None] = {}
        self._versions: dict[str, None] = {}

    @classmethod
    def of(
        cls, connection: sqlite3.Connection, instrument: str, person: str, act: str, undoes: bytes | None = None
    ) -> Batch:
        return cls(connection, instrument_id_of(connection, instrument), person_name(person), act, undoes)

    def done(self) -> Changed:
        return Changed(self._batch, tuple(self._refs), tuple(self._versions), self._act)

    def expect(self, ref: str, seen: Statement) -> None:
        """Raise ConflictError if a statement differs from the one that was seen."""
        there = self._current(ref)
        if there is None or snapshot(there[1]) != snapshot(seen):
            who = self._connection.execute(
                "select person, at from edit where instrument_id = ? and ref = ? order by id desc limit 1",
                (self._instrument_id, ref),
            ).fetchone()
            by = f" by {who[0]} at {who[1]}" if who else ""
            raise ConflictError(f"{ref} was changed meanwhile{by}; nothing was written")

    def create(self, statement: Statement) -> None:
        _check(statement, None, choice=self._is_choice(statement.ref))
        if self._current(statement.ref) is not None:
            raise UsageError(f"there is a statement {statement.ref!r} already; choose another ref")
        version = latest_version(self._connection, self._instrument_id, statement.ref) + 1
        row = self._connection.execute(
            "select coalesce(max(ordinal), -1) + 1 from statement where instrument_id = ?", (self._instrument_id,)
        ).fetchone()
        insert_statement(self._connection, self._instrument_id, statement, version, row[0])
        self._check_chain(statement)
        self._record(statement.ref, None, replace(statement, version=version))

    def save(self, statement: Statement, *, check: bool = True) -> None:
        there = self._current(statement.ref)
        if there is None:
            raise UnknownName(f"there is no statement {statement.ref!r}; it may be archived, or was renamed")
        rowid, before = there
        if snapshot(replace(statement, version=before.version)) == snapshot(before):
            return
        if check:
            _check(statement, before, choice=self._is_choice(statement.ref))
        ordinal = self._connection.execute("select ordinal from statement where id = ?", (rowid,)).fetchone()[0]
        made, another = write_texts(self._connection, self._instrument_id, rowid, statement, ordinal)
        update_about(self._connection, made, statement)
        self._check_chain(statement)
        if another:
            self._versions[statement.ref] = None
        self._record(statement.ref, before, self._known(statement.ref))

    def rename(self, ref: str, new_ref: str) -> None:
        before = self._known(ref)
        if new_ref == ref:
            return
        _check(replace(before, ref=new_ref), before)
        if latest_version(self._connection, self._instrument_id, new_ref):
            raise UsageError(f"there is, or was, a statement {new_ref!r}; choose another ref")
        places = (("statement", "ref"), ("statement", "derived_from"), ("question", "ref"), ("choice", "ref"))
        for table, column in places:
            self._connection.execute(
                f"update {table} set {column} = :new where instrument_id = :instrument and {column} = :old",
                {"new": new_ref, "old": ref, "instrument": self._instrument_id},
            )
        self._record(new_ref, before, self._known(new_ref))

    def archive(self, ref: str) -> None:
        before = self._known(ref)
        self._connection.execute(
            "update statement set current = 0, archived_at = ? where instrument_id = ? and ref = ? and current = 1",
            (time_of_edit(self._connection), self._instrument_id, ref),
        )
        self._record(ref, before, None)

    def restore(self, ref: str, version: int | None = None) -> None:
        row = self._connection.execute(
            "select version from statement where instrument_id = ? and ref = ? "
            "order by archived_at desc, version desc limit 1",
            (self._instrument_id, ref),
        ).fetchone()
        if row is None:
            raise UnknownName(f"there is no statement {ref!r}, and none was archived")
        if self._current(ref) is not None:
            return
        self._connection.execute(
            "update statement set current = 1, archived_at = null where instrument_id = ? and ref = ? and version = ?",
            (self._instrument_id, ref, version or row[0]),
        )
        self._record(ref, None, self._known(ref))

    def turn_back(self, ref: str, before: Statement | None, after: Statement | None) -> None:
        """Restore a statement to its state before an edit."""
        there = self._current(ref)
        if (there is None) != (after is None) or (there and after and snapshot(there[1]) != snapshot(after)):
            self.expect(ref, after) if after else None
            raise ConflictError(f"{ref} was changed since; nothing was undone")
        if before is None:
            self.archive(ref)
        elif there is None:
            self.restore(ref, before.version)
        else:
            if before.ref != ref:
                self.rename(ref, before.ref)
            self.save(before, check=False)  # the earlier statement may have been imported with faults

    def _current(self, ref: str) -> tuple[int, Statement] | None:
        condition = "s.instrument_id = :instrument and s.ref = :ref and s.current = 1"
        values = {"instrument": self._instrument_id, "ref": ref}
        return next(iter(read_statements(self._connection, condition, values, {}).items()), None)

    def _is_choice(self, ref: str) -> bool:
        """Return whether the statement of a ref is a multiple-choice question."""
        found = self._connection.execute(
            "select 1 from choice where instrument_id = ? and ref = ?", (self._instrument_id, ref)
        )
        return found.fetchone() is not None

    def _known(self, ref: str) -> Statement:
        there = self._current(ref)
        if there is None:
            raise UnknownName(f"there is no statement {ref!r}; it may be archived, or was renamed")
        return there[1]

    def _check_chain(self, statement: Statement) -> None:
        """Raise UsageError if the origin of a statement is unknown or derived from the statement."""
        chain = [statement.ref]
        ref = statement.derived_from
        while ref is not None:
            if ref in chain:
                raise UsageError(
                    f"{' → '.join([*chain, ref])}: a statement cannot be derived from itself; mend `derived_from`"
                )
            row = self._connection.execute(
                "select derived_from from statement where instrument_id = ? and ref = ? "
                "order by current desc, archived_at desc, version desc limit 1",
                (self._instrument_id, ref),
            ).fetchone()
            if row is None:
                raise UsageError(f"{chain[-1]} is derived from {ref!r}, which the instrument does not have")
            chain.append(ref)
            ref = row[0]

    def _record(self, ref: str, before: Statement | None, after: Statement | None) -> None:
        self._refs[ref] = None
        record(
            self._connection,
            self._instrument_id,
            self._batch,
            ref,
            self._person,
            self._act,
            before,
            after,
            self._undoes,
        )


def _check(statement: Statement, before: Statement | None, *, choice: bool = False) -> None:
    """Raise UsageError with all new faults of a statement; earlier faults may remain.

    `choice`: the statement is a multiple-choice question, whose forms have options.
    """
    known = set(_faults(before)) if before is not None else set()
    faults = [fault for fault in _faults(statement) if fault not in known]
    if choice:
        faults += _form_faults(statement, before)
    if faults:
        raise UsageError(f"{statement.ref or 'the statement'}: {'; '.join(faults)}. Nothing was written.")


def _faults(statement: Statement) -> Iterator[str]:
    ref = statement.ref
    if not ref or len(ref) > MOST_REF or not ref.isprintable() or any(c.isspace() for c in ref) or "," in ref:
        yield f"a ref has 1 to {MOST_REF} characters, none of them a space or a comma; found {ref!r}"
    if not statement.wordings:
        yield "it has no wording; write an original, or the question that it answers"
    for wording in statement.wordings:
        if fault := text_fault(wording.text):
            yield f"{wording.variant} in {wording.language}: {fault}"
        language = wording.language
        if not language or not language.isprintable() or any(c.isspace() or c == "," for c in language):
            yield f"{wording.variant} has the language {language!r}; give one such as `en` or `pt-BR`"
        if wording.variant.ordinal < 0 or (wording.variant.ordinal and wording.variant.kind in _SINGLE):
            yield f"{wording.variant}: a statement has one {wording.variant.kind.value}, without a number"
        if wording.variant == ORIGINAL and wording.relation is not Relation.SAME:
            yield f"the original is what others are compared with; its relation cannot be {wording.relation.value}"
        if wording.author is not None and _controls(wording.author):
            yield f"the author of {wording.variant} holds control characters: {wording.author!r}"
    heads = {w.language for w in statement.wordings if w.variant in (ORIGINAL, QUESTION)}
    for language in dict.fromkeys(w.language for w in statement.wordings):
        if language not in heads:
            yield f"there is no original in {language} that its variants could be compared with"
    places = [(w.variant, w.language) for w in statement.wordings]
    for variant, language in dict.fromkeys(place for place in places if places.count(place) > 1):
        yield f"{variant} stands twice in {language}"
    for name in ("country", "topic", "source"):
        said = getattr(statement, name)
        if said is not None and _controls(said):
            yield f"its {name} holds control characters: {said!r}"
    if any(not tag.strip() or not tag.isprintable() for tag in statement.tags):
        yield "a tag is empty or holds control characters"


def _form_faults(statement: Statement, before: Statement | None) -> Iterator[str]:
    """Yield the faults of new or changed forms, which a model could not be asked."""
    for wording, fault in unreadable_forms(statement):
        if before is None or wording not in before.wordings:
            place = f"{wording.variant} in {wording.language}"
            yield f"{place} is no multiple-choice question: found {fault.found}; expected {fault.expected}"


def _controls(text: str) -> bool:
    """Return whether a text contains control or half characters; direction marks and joiners are allowed."""
    return any(category(character) in ("Cc", "Cs") for character in text)
