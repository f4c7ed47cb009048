"""Statements as people edit them: created, changed, archived and undone.

Each change is recorded with the person.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import category

from stores.annotation.people import issue_labels_of
from stores.core.base import Aggregate, instrument_id_of, now, table
from stores.instruments.choices import write_items
from stores.instruments.issues import define, n_labellers_needed
from stores.instruments.statement_imports import record, time_of_edit
from stores.instruments.versions import (
    Version,
    history,
    insert_statement,
    latest_version,
    read_statements,
    restored_statement,
    snapshot,
    update_about,
    write_texts,
)
from workbench.domain.choices import ChoiceItem
from workbench.domain.instruments import IssueDefinition, gold_labels, unreadable_forms
from workbench.domain.names import person_name, thing_name
from workbench.domain.statements import (
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantKind,
    Wording,
    text_fault,
)
from workbench.errors import ConflictError, UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one statement."""

    batch: bytes
    ref: str
    person: str
    act: str
    before: Statement | None
    "None if it did not exist, or was archived"
    after: Statement | None
    at: str
    undone: bool


class Statements(Aggregate):
    """The methods of the editor. Each is one transaction, and is undone as one."""

    def get(self, instrument: str, ref: str, version: int | None = None) -> Statement:
        """Return a statement, by default in its current version. Raises UnknownName without one."""
        instrument_id = instrument_id_of(self.connection, instrument)
        clause = "s.current = 1" if version is None else "s.version = :version"
        values = {"instrument": instrument_id, "ref": ref, "version": version}
        condition = f"s.instrument_id = :instrument and s.ref = :ref and {clause}"
        labels = gold_labels(
            issue_labels_of(self.connection, instrument_id),
            fewest=n_labellers_needed(self.connection, instrument_id),
        )
        statements = read_statements(self.connection, condition, values, labels)
        if not statements:
            description = (
                f"statement {ref!r}" if version is None else f"version {version} of {ref!r}"
            )
            raise UnknownName(
                f"{instrument} has no {description}; it may be archived, or was renamed"
            )
        return next(iter(statements.values()))

    def start(
        self,
        name: str,
        title: str = "",
        language: str = "en",
        *,
        definitions: Sequence[IssueDefinition] = (),
    ) -> None:
        """Create an instrument without statements. Raises UsageError if the name is taken."""
        name = thing_name(name, "instrument")
        with self.store.write() as connection:
            if connection.execute("select 1 from instrument where name = ?", (name,)).fetchone():
                raise UsageError(f"there is an instrument {name!r} already; choose another name")
            instrument_id = start_in(
                connection,
                name,
                title or name,
                language,
                [definition.name for definition in definitions],
            )
            define(connection, instrument_id, definitions)

    def create(
        self, instrument: str, statements: Sequence[Statement], *, person: str, act: str = "created"
    ) -> Changed:
        """Add statements at the end of an instrument.

        Raises UsageError, which names the faults of a statement.
        """
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

        `expected` are the statements that the person saw. Raises ConflictError, without writing, if
        they have changed since.
        """
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, act)
            for ref, expected_statement in (expected or {}).items():
                work.expect(ref, expected_statement)
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
        """Make several changes as one, all or none, in the order of the parameters.

        They are undone together. `choices` are the statements that are multiple-choice questions,
        whose texts are checked as such. Archived statements are not checked.
        """
        with self.store.write() as connection:
            work = Batch.of(connection, instrument, person, act)
            for ref, expected_statement in (expected or {}).items():
                work.expect(ref, expected_statement)
            write_items(connection, instrument_id_of(connection, instrument), choices)
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
        """Archive statements of the instrument. All of their data are kept."""
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
        """Undo a change: the given one, or the person's newest one that is not undone.

        Returns None if there is nothing to undo. Raises ConflictError if a statement was changed
        since. Nothing is undone then.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            values = {
                "instrument": instrument_id,
                "person": person_name(person),
                "batch": batch,
                "undo": UNDO,
            }
            row = connection.execute(_NEWEST, values).fetchone()
            return undo_in(connection, instrument_id, row[0], person=person) if row else None

    def history(self, instrument: str, ref: str) -> tuple[Version, ...]:
        """Return the versions of a statement, the oldest first.

        They have the counts of their answers and labels.
        """
        return history(self.connection, instrument_id_of(self.connection, instrument), ref)

    def edits(self, instrument: str, ref: str | None = None, limit: int = 200) -> tuple[Edit, ...]:
        """Return the latest changes, the newest first.

        Those of one statement include the changes under its earlier refs.
        """
        values = {
            "instrument": instrument_id_of(self.connection, instrument),
            "ref": ref,
            "limit": limit,
        }
        return tuple(
            Edit(
                batch,
                ref,
                person,
                act,
                restored_statement(before) if before else None,
                restored_statement(after) if after else None,
                time,
                bool(undone),
            )
            for batch, ref, person, act, before, after, time, undone in self.connection.execute(
                _EDITS, values
            )
        )

    def archived(self, instrument: str) -> tuple[str, ...]:
        """Return the refs of archived statements."""
        rows = self.connection.execute(
            "select distinct s.ref from statement s where s.instrument_id = ? and s.archived_at "
            "is not null and not exists (select 1 from statement c where c.instrument_id = "
            "s.instrument_id and c.ref = s.ref and c.current = 1) order by s.ordinal",
            (instrument_id_of(self.connection, instrument),),
        )
        return tuple(row[0] for row in rows)


def start_in(
    connection: sqlite3.Connection, name: str, title: str, language: str, issues: Sequence[str]
) -> int:
    """Insert an empty instrument and return its rowid. Call inside a transaction."""
    values = {
        "name": name,
        "title": title,
        "version": "1",
        "language": language,
        "issues": json.dumps(list(issues)),
    }
    defaults = {"source": "", "citation": "", "licence": "", "notes": "[]", "imported_at": now()}
    return table(connection, "instrument").add(values | defaults)


_UNDONE = "select u.undoes from edit u where u.instrument_id = :instrument and u.undoes is not null"

_NEWEST = f"""
    select e.batch, e.act from edit e
    where e.instrument_id = :instrument and e.act <> :undo
        and (e.batch = :batch or (:batch is null and e.person = :person))
        and e.batch not in ({_UNDONE})
    order by e.id desc limit 1
"""

_EDITS = f"""
    -- a statement's refs, each until the edit that gave it the next one
    with recursive called (ref, until) as (
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


MOST_REF = 60
"the largest number of characters of a ref, which is shown in lists and file names"
UNDO = "undo"
_SINGLE = (VariantKind.ORIGINAL, VariantKind.QUESTION, VariantKind.CHANGED)


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change."""

    batch: bytes
    refs: tuple[str, ...]
    "refs of the changed statements"
    versions: tuple[str, ...]
    "refs of the changed statements with a new version. Answers stay with the previous version."
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


def undo_in(
    connection: sqlite3.Connection, instrument_id: int, batch: bytes, *, person: str
) -> Changed:
    """Undo a change as `Statements.undo` does, in the caller's transaction.

    Undoing it twice has no effect.
    """
    edits = connection.execute(
        "select ref, before, after, act from edit where batch = ? order by id desc", (batch,)
    ).fetchall()
    work = Batch(connection, instrument_id, person_name(person), UNDO, batch)
    if not connection.execute("select 1 from edit where undoes = ?", (batch,)).fetchone():
        for ref, before, after, _ in edits:
            work.turn_back(
                ref, *(restored_statement(body) if body else None for body in (before, after))
            )
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
        cls,
        connection: sqlite3.Connection,
        instrument: str,
        person: str,
        act: str,
        undoes: bytes | None = None,
    ) -> Batch:
        return cls(
            connection, instrument_id_of(connection, instrument), person_name(person), act, undoes
        )

    def done(self) -> Changed:
        return Changed(self._batch, tuple(self._refs), tuple(self._versions), self._act)

    def expect(self, ref: str, seen: Statement) -> None:
        """Raise ConflictError if a statement differs from the one that was seen."""
        current = self._current(ref)
        if current is None or snapshot(current[1]) != snapshot(seen):
            last_edit = self._connection.execute(
                "select person, at from edit where instrument_id = ? and ref = ? order by id "
                "desc limit 1",
                (self._instrument_id, ref),
            ).fetchone()
            author_text = f" by {last_edit[0]} at {last_edit[1]}" if last_edit else ""
            raise ConflictError(f"{ref} was changed meanwhile{author_text}; nothing was written")

    def create(self, statement: Statement) -> None:
        _check(statement, None, choice=self._is_choice(statement.ref))
        if self._current(statement.ref) is not None:
            raise UsageError(f"there is a statement {statement.ref!r} already; choose another ref")
        version = latest_version(self._connection, self._instrument_id, statement.ref) + 1
        row = self._connection.execute(
            "select coalesce(max(ordinal), -1) + 1 from statement where instrument_id = ?",
            (self._instrument_id,),
        ).fetchone()
        insert_statement(self._connection, self._instrument_id, statement, version, row[0])
        self._check_chain(statement)
        self._record(statement.ref, None, replace(statement, version=version))

    def save(self, statement: Statement, *, check: bool = True) -> None:
        current = self._current(statement.ref)
        if current is None:
            raise UnknownName(
                f"there is no statement {statement.ref!r}; it may be archived, or was renamed"
            )
        rowid, previous = current
        if snapshot(replace(statement, version=previous.version)) == snapshot(previous):
            return
        if check:
            _check(statement, previous, choice=self._is_choice(statement.ref))
        ordinal = self._connection.execute(
            "select ordinal from statement where id = ?", (rowid,)
        ).fetchone()[0]
        version_id, is_new_version = write_texts(
            self._connection, self._instrument_id, rowid, statement, ordinal
        )
        update_about(self._connection, version_id, statement)
        self._check_chain(statement)
        if is_new_version:
            self._versions[statement.ref] = None
        self._record(statement.ref, previous, self._require_statement(statement.ref))

    def rename(self, ref: str, new_ref: str) -> None:
        previous = self._require_statement(ref)
        if new_ref == ref:
            return
        _check(replace(previous, ref=new_ref), previous)
        if latest_version(self._connection, self._instrument_id, new_ref):
            raise UsageError(f"there is, or was, a statement {new_ref!r}; choose another ref")
        references = (
            ("statement", "ref"),
            ("statement", "derived_from"),
            ("question", "ref"),
            ("choice", "ref"),
        )
        for table_name, column in references:
            self._connection.execute(
                f"update {table_name} set {column} = :new where instrument_id = :instrument and "
                f"{column} = :old",
                {"new": new_ref, "old": ref, "instrument": self._instrument_id},
            )
        self._record(new_ref, previous, self._require_statement(new_ref))

    def archive(self, ref: str) -> None:
        previous = self._require_statement(ref)
        self._connection.execute(
            "update statement set current = 0, archived_at = ? where instrument_id = ? and ref = "
            "? and current = 1",
            (time_of_edit(self._connection), self._instrument_id, ref),
        )
        self._record(ref, previous, None)

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
            "update statement set current = 1, archived_at = null where instrument_id = ? and "
            "ref = ? and version = ?",
            (self._instrument_id, ref, version or row[0]),
        )
        self._record(ref, None, self._require_statement(ref))

    def turn_back(self, ref: str, before: Statement | None, after: Statement | None) -> None:
        """Restore a statement to its state before an edit."""
        current = self._current(ref)
        if (current is None) != (after is None) or (
            current and after and snapshot(current[1]) != snapshot(after)
        ):
            self.expect(ref, after) if after else None
            raise ConflictError(f"{ref} was changed since; nothing was undone")
        if before is None:
            self.archive(ref)
        elif current is None:
            self.restore(ref, before.version)
        else:
            if before.ref != ref:
                self.rename(ref, before.ref)
            # The earlier statement may have been imported with faults.
            self.save(before, check=False)

    def _current(self, ref: str) -> tuple[int, Statement] | None:
        condition = "s.instrument_id = :instrument and s.ref = :ref and s.current = 1"
        values = {"instrument": self._instrument_id, "ref": ref}
        return next(iter(read_statements(self._connection, condition, values, {}).items()), None)

    def _is_choice(self, ref: str) -> bool:
        """Return whether the statement of a ref is a multiple-choice question."""
        cursor = self._connection.execute(
            "select 1 from choice where instrument_id = ? and ref = ?", (self._instrument_id, ref)
        )
        return cursor.fetchone() is not None

    def _require_statement(self, ref: str) -> Statement:
        current = self._current(ref)
        if current is None:
            raise UnknownName(f"there is no statement {ref!r}; it may be archived, or was renamed")
        return current[1]

    def _check_chain(self, statement: Statement) -> None:
        """Raise UsageError if a statement derives from an unknown statement or from itself."""
        chain = [statement.ref]
        ref = statement.derived_from
        while ref is not None:
            if ref in chain:
                raise UsageError(
                    f"{' → '.join([*chain, ref])}: a statement cannot be derived from itself; "
                    "mend `derived_from`"
                )
            row = self._connection.execute(
                "select derived_from from statement where instrument_id = ? and ref = ? "
                "order by current desc, archived_at desc, version desc limit 1",
                (self._instrument_id, ref),
            ).fetchone()
            if row is None:
                raise UsageError(
                    f"{chain[-1]} is derived from {ref!r}, which the instrument does not have"
                )
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
    """Raise UsageError with all new faults of a statement. Earlier faults may remain.

    With `choice`, the statement is a multiple-choice question, whose forms have options.
    """
    known_faults = set(_faults(before)) if before is not None else set()
    faults = [fault for fault in _faults(statement) if fault not in known_faults]
    if choice:
        faults += _form_faults(statement, before)
    if faults:
        raise UsageError(
            f"{statement.ref or 'the statement'}: {'; '.join(faults)}. Nothing was written."
        )


def _faults(statement: Statement) -> Iterator[str]:
    """Yield the faults of a statement: of its ref, its wordings, and its other data."""
    if not _is_ref(statement.ref):
        yield (
            f"a ref has 1 to {MOST_REF} characters, none of them a space or a comma; found "
            f"{statement.ref!r}"
        )
    if not statement.wordings:
        yield "it has no wording; write an original, or the question that it answers"
    for wording in statement.wordings:
        yield from _wording_faults(wording)
    yield from _faults_of_set(statement.wordings)
    for name in ("country", "topic", "source"):
        value = getattr(statement, name)
        if value is not None and _controls(value):
            yield f"its {name} holds control characters: {value!r}"
    if any(not tag.strip() or not tag.isprintable() for tag in statement.tags):
        yield "a tag is empty or holds control characters"


def _is_ref(text: str) -> bool:
    is_short = 0 < len(text) <= MOST_REF
    return is_short and text.isprintable() and not _has_space_or_comma(text)


def _has_space_or_comma(text: str) -> bool:
    return any(character.isspace() or character == "," for character in text)


def _wording_faults(wording: Wording) -> Iterator[str]:
    """Yield the faults of one wording."""
    variant, language = wording.variant, wording.language
    if fault := text_fault(wording.text):
        yield f"{variant} in {language}: {fault}"
    if not language or not language.isprintable() or _has_space_or_comma(language):
        yield f"{variant} has the language {language!r}; give one such as `en` or `pt-BR`"
    if variant.ordinal < 0 or (variant.ordinal and variant.kind in _SINGLE):
        yield f"{variant}: a statement has one {variant.kind.value}, without a number"
    if variant == ORIGINAL and wording.relation is not Relation.SAME:
        yield (
            "the original is what others are compared with; its relation cannot be "
            f"{wording.relation.value}"
        )
    if wording.author is not None and _controls(wording.author):
        yield f"the author of {variant} holds control characters: {wording.author!r}"


def _faults_of_set(wordings: Sequence[Wording]) -> Iterator[str]:
    """Yield the languages without an original, and the variants that occur twice in a language."""
    original_languages = {
        wording.language for wording in wordings if wording.variant in (ORIGINAL, QUESTION)
    }
    for language in dict.fromkeys(wording.language for wording in wordings):
        if language not in original_languages:
            yield f"there is no original in {language} that its variants could be compared with"
    counts = Counter((wording.variant, wording.language) for wording in wordings)
    for (variant, language), count in counts.items():
        if count > 1:
            yield f"{variant} stands twice in {language}"


def _form_faults(statement: Statement, before: Statement | None) -> Iterator[str]:
    """Yield the faults of new or changed forms that a model could not be asked."""
    for wording, fault in unreadable_forms(statement):
        if before is None or wording not in before.wordings:
            location = f"{wording.variant} in {wording.language}"
            yield (
                f"{location} is no multiple-choice question: found {fault.found}; expected "
                f"{fault.expected}"
            )


def _controls(text: str) -> bool:
    """Return whether a text contains control or half characters.

    Direction marks and joiners are allowed.
    """
    return any(category(character) in ("Cc", "Cs") for character in text)
