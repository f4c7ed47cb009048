"""The record of edits, and the import of statements.

An edit has the statement before and after the change, the person, and the change that it undoes.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from stores.core.base import now_after
from stores.instruments.versions import (
    ABOUT,
    insert_statement,
    latest_version,
    read_statements,
    restored_statement,
    snapshot,
    update_about,
    write_texts,
)
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.prompts import Template
from workbench.domain.statements import Statement, VariantId


def record(
    connection: sqlite3.Connection,
    instrument_id: int,
    batch: bytes,
    ref: str,
    person: str,
    act: str,
    before: Statement | None,
    after: Statement | None,
    undoes: bytes | None = None,
) -> None:
    """Append a change. Call inside its transaction. `ref` is the statement's ref at that time."""
    connection.execute(
        "insert into edit (uid, batch, instrument_id, ref, person, act, before, after, undoes, at) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            secrets.token_bytes(16),
            batch,
            instrument_id,
            ref,
            person,
            act,
            snapshot(before) if before else None,
            snapshot(after) if after else None,
            undoes,
            time_of_edit(connection),
        ),
    )


def time_of_edit(connection: sqlite3.Connection) -> str:
    """Return the time, or a moment after the last edit if the clock went back."""
    last = connection.execute("select at from edit order by id desc limit 1").fetchone()
    return now_after(last[0] if last else None)


TemplatePlace = tuple[str, str, str, str, bool]


@dataclass(frozen=True, slots=True)
class LanguageChange:
    """The changes of an import in one language of an existing instrument."""

    language: str
    given: bool
    "whether the file has wordings in this language"
    added: int = 0
    replaced: int = 0
    "number of changed wordings. Earlier texts stay in the history of their statements."
    taken_out: int = 0
    as_before: int = 0
    templates_added: int = 0
    templates_replaced: int = 0
    templates_taken_out: int = 0
    templates_as_before: int = 0


@dataclass(frozen=True, slots=True)
class LanguageJoin:
    """A file that lacks some languages of the stored instrument."""

    spoken: frozenset[str]
    "languages of the file"
    main: bool
    "whether they include the instrument's main language"

    @classmethod
    def of(cls, stored: Instrument, file: Instrument) -> LanguageJoin | None:
        """Return the join of a file with an instrument, or None if the file has all languages."""
        file_languages, stored_languages = languages_of(file), languages_of(stored)
        return (
            cls(file_languages, stored.language in file_languages)
            if file_languages and stored_languages - file_languages
            else None
        )

    def instrument(self, file: Instrument, stored: Instrument) -> Instrument:
        """Return the instrument's data besides statements.

        They are those of the file, completed by stored data.
        """
        completed = replace(file, templates=self._templates(file, stored), language=stored.language)
        return completed if self.main else _translated(completed, stored)

    def statement(self, imported: Statement, stored: Statement) -> Statement:
        """Return a statement of the file, completed by stored data.

        These are stored wordings in other languages and, for a translation, other stored values.
        """
        other_wordings = tuple(
            wording for wording in stored.wordings if wording.language not in self.spoken
        )
        completed = replace(imported, wordings=(*imported.wordings, *other_wordings))
        if self.main:
            return completed
        stored_values = {name: value for name in ABOUT if (value := getattr(stored, name))}
        return replace(completed, **stored_values)

    def part(self, statement: Statement) -> Statement:
        """Return a statement with only its wordings in the languages of the file."""
        return replace(
            statement,
            wordings=tuple(
                wording for wording in statement.wordings if wording.language in self.spoken
            ),
        )

    def leaves(self, statement: Statement) -> bool:
        """Return whether a statement that is missing in the file is kept.

        It is if it has no wording in the file's languages, or if the file is a translation.
        """
        return not self.main or not self.part(statement).wordings

    def _templates(self, file: Instrument, stored: Instrument) -> tuple[Template, ...]:
        """Return the file's templates in its languages, and stored ones in other languages."""
        stored_places = {place_of(template) for template in stored.templates}
        file_templates = [
            template
            for template in file.templates
            if _speaks(template, self.spoken) or place_of(template) not in stored_places
        ]
        places = {place_of(template) for template in file_templates}
        other_templates = [
            template for template in stored.templates if place_of(template) not in places
        ]
        return (
            *(
                template
                for template in other_templates
                if not (self.main and _speaks(template, self.spoken))
            ),
            *file_templates,
        )


def languages_of(instrument: Instrument) -> frozenset[str]:
    """Return the languages of an instrument's wordings."""
    return frozenset(
        wording.language for statement in instrument.statements for wording in statement.wordings
    )


def place_of(template: Template) -> TemplatePlace:
    """Return the identity of a template in an instrument, independent of its text."""
    return template.audit, template.family, template.name, template.language, template.inverted


def _speaks(template: Template, languages: Iterable[str]) -> bool:
    return any(template.speaks(language) for language in languages)


def _translated(file: Instrument, stored: Instrument) -> Instrument:
    """Return a translation's file, in which stored data take precedence."""
    labels = {(label.statement, label.issue, label.annotator) for label in stored.issue_labels}
    answers = {(answer.country, answer.party, answer.statement) for answer in stored.party_answers}
    parties = {(party.country, party.name) for party in stored.parties}
    defined_names = {definition.name for definition in stored.definitions}
    choice_refs = {item.ref for item in stored.choices}
    return replace(
        file,
        title=stored.title,
        version=stored.version,
        source=stored.source or file.source,
        citation=stored.citation or file.citation,
        licence=stored.licence or file.licence,
        issues=tuple(dict.fromkeys((*stored.issues, *file.issues))),
        notes=tuple(dict.fromkeys((*stored.notes, *file.notes))),
        definitions=tuple(
            definition for definition in file.definitions if definition.name not in defined_names
        ),
        issue_labels=tuple(
            label
            for label in file.issue_labels
            if (label.statement, label.issue, label.annotator) not in labels
        ),
        parties=tuple(
            party for party in file.parties if (party.country, party.name) not in parties
        ),
        party_answers=tuple(
            answer
            for answer in file.party_answers
            if (answer.country, answer.party, answer.statement) not in answers
        ),
        choices=tuple(item for item in file.choices if item.ref not in choice_refs),
    )


@dataclass(frozen=True, slots=True)
class TextSnapshot:
    """The texts and templates of an instrument before or after an import."""

    texts: Mapping[tuple[object, ...], int]
    "(ref, kind, ordinal, language) -> text"
    templates: Mapping[tuple[object, ...], int]
    "(audit, family, name, inverted, language) -> template"

    @classmethod
    def of(cls, connection: sqlite3.Connection, instrument_id: int) -> TextSnapshot:
        texts = connection.execute(_TEXTS, (instrument_id,))
        templates = connection.execute(_TEMPLATES, (instrument_id,))
        return cls(
            {tuple(key): text_id for *key, text_id in texts},
            {tuple(key): template_id for *key, template_id in templates},
        )


def changes(
    before: TextSnapshot, after: TextSnapshot, spoken: frozenset[str]
) -> tuple[LanguageChange, ...]:
    """Return the changes between two states, by language.

    `spoken` are the languages of the file.
    """
    languages = dict.fromkeys(
        str(key[-1])
        for state in (before, after)
        for ids in (state.texts, state.templates)
        for key in ids
    )
    language_changes = []
    for language in sorted(languages):
        texts = _counted(before.texts, after.texts, language)
        templates = _counted(before.templates, after.templates, language)
        language_changes.append(LanguageChange(language, language in spoken, *texts, *templates))
    return tuple(language_changes)


def _counted(
    before: Mapping[tuple[object, ...], int], after: Mapping[tuple[object, ...], int], language: str
) -> tuple[int, int, int, int]:
    """Return the numbers of added, replaced, removed and unchanged entries."""
    previous = {key: value for key, value in before.items() if key[-1] == language}
    current = {key: value for key, value in after.items() if key[-1] == language}
    common = previous.keys() & current.keys()
    n_unchanged = sum(previous[key] == current[key] for key in common)
    return (
        len(current.keys() - previous.keys()),
        len(common) - n_unchanged,
        len(previous.keys() - current.keys()),
        n_unchanged,
    )


_TEXTS = """
    select s.ref, w.kind, w.ordinal, w.language, w.text_id from wording w join statement s
        on s.id = w.statement_id
    where s.instrument_id = ? and s.current = 1
"""
_TEMPLATES = """
    select t.audit, t.family, t.name, t.inverted, t.language, t.id
    from instrument_template i join template t on t.id = i.template_id where i.instrument_id = ?
"""


IMPORTER = "import"
"the person under whose name an import changes statements"
IMPORTED = "imported"
"""the action of an import. For a file in some of the instrument's languages it is `imported in
de, fr`."""
IN = f"{IMPORTED} in "

Bases = dict[str, Statement | None]
"""ref of a statement that was changed here -> its state after the last import, or None if it was
written here"""


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
        return tuple(
            answer for answer in survey if (answer.statement, answer.variant) not in self.reworded
        )


def sync_statements(
    connection: sqlite3.Connection,
    instrument_id: int,
    statements: Iterable[Statement],
    join: LanguageJoin | None = None,
) -> Synced:
    """Set an instrument's statements to those of a file, in its order.

    Call inside a transaction.

    `join` is for a file that lacks languages of the instrument. None means that the file has all of
    them.
    """
    work = _Sync(
        connection, instrument_id, {statement.ref: statement for statement in statements}, join
    )
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
        self._connection, self._instrument_id, self.wanted, self._join = (
            connection,
            instrument_id,
            wanted,
            join,
        )
        self._act = IMPORTED if join is None else IN + ", ".join(sorted(join.spoken))
        values = {"instrument": instrument_id}
        statements = read_statements(
            connection, "s.instrument_id = :instrument and s.current = 1", values, {}
        )
        self._here = {statement.ref: (rowid, statement) for rowid, statement in statements.items()}
        self._bases = changed_here(connection, instrument_id)
        self._now_called = {
            base.ref: ref
            for ref, base in self._bases.items()
            if base is not None and ref not in wanted
        }
        query = "select 1 from statement where instrument_id = ? limit 1"
        self._known = connection.execute(query, (instrument_id,)).fetchone() is not None
        self._batch = secrets.token_bytes(16)
        self.synced = Synced()

    def sync(self, ordinal: int, imported: Statement) -> None:
        """Merge one statement of the file with the stored one."""
        target = self._under_current_refs(imported)
        stored = self._here.get(target.ref)
        base = self._bases.get(target.ref)
        is_unchanged = base is not None and self._is_as_imported(base, imported, target)
        if self._join is not None:
            if not self._join.main:
                ordinal = self._place(stored)
            if stored is not None:
                target = self._join.statement(target, stored[1])
        if is_unchanged:
            self._keep(imported, target, stored)
            rowid = stored[0] if stored else None
        else:
            rowid = self._write(target, stored, ordinal)
        if rowid is not None:
            self._connection.execute(
                "update statement set ordinal = ? where id = ?", (ordinal, rowid)
            )
            self.synced.ids[imported.ref] = rowid

    def _under_current_refs(self, imported: Statement) -> Statement:
        """Return a statement of the file with the refs that it and its origin have here now."""
        origin = imported.derived_from
        return replace(
            imported,
            ref=self._now_called.get(imported.ref, imported.ref),
            derived_from=None if origin is None else self._now_called.get(origin, origin),
        )

    def _write(self, target: Statement, stored: tuple[int, Statement] | None, ordinal: int) -> int:
        """Add or change a statement, unless the stored one is equal. Return its rowid."""
        if stored is None:
            return self._add(target, ordinal)
        rowid, statement = stored
        if _comparable_fields(statement) == _comparable_fields(target):
            return rowid
        return self._change(rowid, statement, target, ordinal)

    def _is_as_imported(self, base: Statement, imported: Statement, wanted: Statement) -> bool:
        """Return whether the statement in the file is unchanged since the last import.

        Only the file's languages are compared.
        """
        if self._join is None:
            return _comparable_fields(base) in (
                _comparable_fields(imported),
                _comparable_fields(wanted),
            )
        imported_part = self._join.part(base)
        return (
            _comparable_fields(imported_part)
            in (_comparable_fields(imported), _comparable_fields(wanted))
            if self._join.main
            else _texts(imported_part) == _texts(imported)
        )

    def _place(self, stored: tuple[int, Statement] | None) -> int:
        """Return the position of a statement here. A new one comes last."""
        clause, values = (
            ("id = ?", (stored[0],)) if stored else ("instrument_id = ?", (self._instrument_id,))
        )
        cursor = self._connection.execute(
            f"select coalesce(max(ordinal), -1) from statement where {clause}", values
        )
        return int(cursor.fetchone()[0]) + (stored is None)

    def _keep(
        self, imported: Statement, wanted: Statement, stored: tuple[int, Statement] | None
    ) -> None:
        self.synced.kept += (
            stored is None
            or imported.ref != wanted.ref
            or _comparable_fields(stored[1]) != _comparable_fields(wanted)
        )
        text_by_wording = (
            {(wording.variant, wording.language): wording.text for wording in stored[1].wordings}
            if stored
            else {}
        )
        self.synced.reworded |= {
            (imported.ref, wording.variant)
            for wording in imported.wordings
            if text_by_wording.get((wording.variant, wording.language)) != wording.text
        }

    def _add(self, wanted: Statement, ordinal: int) -> int:
        version = max(
            latest_version(self._connection, self._instrument_id, wanted.ref) + 1, wanted.version
        )
        rowid = insert_statement(self._connection, self._instrument_id, wanted, version, ordinal)
        self.synced.added += 1
        self._record(wanted.ref, None, rowid)
        return rowid

    def _change(self, statement_id: int, before: Statement, wanted: Statement, ordinal: int) -> int:
        rowid, _ = write_texts(
            self._connection, self._instrument_id, statement_id, wanted, ordinal, keep=True
        )
        update_about(self._connection, rowid, wanted)
        self.synced.changed += _texts(before) != _texts(wanted)
        self._record(wanted.ref, before, rowid)
        return rowid

    def retire(self) -> None:
        """Archive statements that the file no longer has.

        Statements written here are kept, after the file's.
        """
        kept_ids = set(self.synced.ids.values())
        next_ordinal = len(self.wanted)
        time = time_of_edit(self._connection)
        for ref, (rowid, statement) in self._here.items():
            if rowid in kept_ids or self._has_made_place(rowid):
                continue
            if (join := self._join) is not None and not join.main:
                continue
            if (join is not None and join.leaves(statement)) or (
                ref in self._bases and self._bases[ref] is None
            ):
                self._connection.execute(
                    "update statement set ordinal = ? where id = ?", (next_ordinal, rowid)
                )
                next_ordinal += 1
                continue
            self._connection.execute(
                "update statement set current = 0, archived_at = ? where id = ?", (time, rowid)
            )
            self.synced.retired += 1
            self._record(ref, statement, None)

    def _has_made_place(self, rowid: int) -> bool:
        """Return whether this import has replaced a current version by another."""
        row = self._connection.execute(
            "select current from statement where id = ?", (rowid,)
        ).fetchone()
        return not row[0]

    def _record(self, ref: str, before: Statement | None, rowid: int | None) -> None:
        """Record a change of an existing instrument. The first import is not a change."""
        if not self._known:
            return
        after = None
        if rowid is not None:
            after = next(
                iter(read_statements(self._connection, "s.id = :id", {"id": rowid}, {}).values())
            )
        record(
            self._connection,
            self._instrument_id,
            self._batch,
            ref,
            IMPORTER,
            self._act,
            before,
            after,
        )


def changed_here(connection: sqlite3.Connection, instrument_id: int) -> Bases:
    """Return the statements that people changed since the last import that changed them.

    They are by current ref.
    """
    main_language = connection.execute(
        "select language from instrument where id = ?", (instrument_id,)
    ).fetchone()[0]
    rows = connection.execute(
        "select ref, person, act, before, after from edit where instrument_id = ? order by id",
        (instrument_id,),
    )
    edits = _EditsSinceImport(main_language)
    for ref, person, act, old_body, new_body in rows:
        before = restored_statement(old_body) if old_body else None
        after = restored_statement(new_body) if new_body else None
        edit = _Edit(ref, before, after)
        if person != IMPORTER:
            edits.add(edit)
        elif act == IMPORTED:
            edits.drop(edit)
        elif act.startswith(IN):
            edits.join(edit, frozenset(act.removeprefix(IN).split(", ")))
        else:
            edits.add(edit)
    return edits.bases


@dataclass(frozen=True, slots=True)
class _Edit:
    """A stored change of a statement."""

    ref: str
    before: Statement | None
    after: Statement | None

    @property
    def old_ref(self) -> str:
        return self.before.ref if self.before else self.ref

    @property
    def new_ref(self) -> str:
        return self.after.ref if self.after else self.ref


class _EditsSinceImport:
    """The statements that people changed, by current ref, each as its last import left it."""

    def __init__(self, main_language: str) -> None:
        self.bases: Bases = {}
        self._main_language = main_language

    def add(self, edit: _Edit) -> None:
        """Add a change by a person, who may have changed the ref, too."""
        self.bases.setdefault(edit.old_ref, edit.before)
        if edit.new_ref != edit.old_ref:
            self.bases[edit.new_ref] = self.bases.pop(edit.old_ref)

    def drop(self, edit: _Edit) -> None:
        """Forget the changes of a statement that an import replaced."""
        self.bases.pop(edit.old_ref, None)

    def join(self, edit: _Edit, languages: frozenset[str]) -> None:
        """Update a statement that an import replaced in some languages."""
        base = self.bases.get(edit.old_ref)
        if edit.after is None:
            self.drop(edit)
        elif base is not None:
            join = LanguageJoin(languages, self._main_language in languages)
            joined = join.statement(join.part(edit.after), base)
            self.bases[edit.old_ref] = replace(joined, ref=base.ref)


def _comparable_fields(statement: Statement) -> str:
    """Return all data of a statement that a file can contain, except its ref and version number."""
    return snapshot(replace(statement, ref="", version=1))


def _texts(statement: Statement) -> dict[tuple[VariantId, str], str]:
    return {(wording.variant, wording.language): wording.text for wording in statement.wordings}
