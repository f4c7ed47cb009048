"""The record of edits: a statement before and after each change, the person, and the change that it
undoes.
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
    """Append a change. Call inside its transaction; `ref` is the statement's ref at that time."""
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
    "changed wordings; earlier texts stay in the history of their statements"
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
    def of(cls, here: Instrument, file: Instrument) -> LanguageJoin | None:
        """Return the join of a file with an instrument; None if the file has all of its
        languages.
        """
        spoken, there = languages_of(file), languages_of(here)
        return cls(spoken, here.language in spoken) if spoken and there - spoken else None

    def instrument(self, file: Instrument, here: Instrument) -> Instrument:
        """Return the instrument's data besides statements: those of the file, completed by stored
        data.
        """
        joined = replace(file, templates=self._templates(file, here), language=here.language)
        return joined if self.main else _translated(joined, here)

    def statement(self, given: Statement, here: Statement) -> Statement:
        """Return a statement of the file, completed by stored wordings in other languages and other
        stored data.
        """
        stay = tuple(w for w in here.wordings if w.language not in self.spoken)
        joined = replace(given, wordings=(*given.wordings, *stay))
        if self.main:
            return joined
        known = {field: value for field in ABOUT if (value := getattr(here, field))}
        return replace(joined, **known)

    def part(self, statement: Statement) -> Statement:
        """Return a statement with only its wordings in the languages of the file."""
        return replace(
            statement, wordings=tuple(w for w in statement.wordings if w.language in self.spoken)
        )

    def leaves(self, statement: Statement) -> bool:
        """Return whether a statement missing in the file is kept: if it has no wording in the
        file's languages, or the file is a translation.
        """
        return not self.main or not self.part(statement).wordings

    def _templates(self, file: Instrument, here: Instrument) -> tuple[Template, ...]:
        """Return the templates of a file in its languages, and the stored ones in other
        languages.
        """
        known = {place_of(template) for template in here.templates}
        given = [t for t in file.templates if _speaks(t, self.spoken) or place_of(t) not in known]
        places = {place_of(template) for template in given}
        stay = [t for t in here.templates if place_of(t) not in places]
        return (*(t for t in stay if not (self.main and _speaks(t, self.spoken))), *given)


def languages_of(instrument: Instrument) -> frozenset[str]:
    """Return the languages of an instrument's wordings."""
    return frozenset(w.language for statement in instrument.statements for w in statement.wordings)


def place_of(template: Template) -> TemplatePlace:
    """Return the identity of a template in an instrument, independent of its text."""
    return template.audit, template.family, template.name, template.language, template.inverted


def _speaks(template: Template, languages: Iterable[str]) -> bool:
    return any(template.speaks(language) for language in languages)


def _translated(file: Instrument, here: Instrument) -> Instrument:
    """Return a translation's file, with stored data taking precedence."""
    labels = {(one.statement, one.issue, one.annotator) for one in here.issue_labels}
    answers = {(one.country, one.party, one.statement) for one in here.party_answers}
    parties = {(one.country, one.name) for one in here.parties}
    defined = {one.name for one in here.definitions}
    asked = {item.ref for item in here.choices}
    return replace(
        file,
        title=here.title,
        version=here.version,
        source=here.source or file.source,
        citation=here.citation or file.citation,
        licence=here.licence or file.licence,
        issues=tuple(dict.fromkeys((*here.issues, *file.issues))),
        notes=tuple(dict.fromkeys((*here.notes, *file.notes))),
        definitions=tuple(one for one in file.definitions if one.name not in defined),
        issue_labels=tuple(
            one
            for one in file.issue_labels
            if (one.statement, one.issue, one.annotator) not in labels
        ),
        parties=tuple(one for one in file.parties if (one.country, one.name) not in parties),
        party_answers=tuple(
            one
            for one in file.party_answers
            if (one.country, one.party, one.statement) not in answers
        ),
        choices=tuple(item for item in file.choices if item.ref not in asked),
    )


@dataclass(frozen=True, slots=True)
class Held:
    """The texts and templates of an instrument before or after an import."""

    texts: Mapping[tuple[object, ...], int]
    "(ref, kind, ordinal, language) -> text"
    templates: Mapping[tuple[object, ...], int]
    "(audit, family, name, inverted, language) -> template"

    @classmethod
    def of(cls, connection: sqlite3.Connection, instrument_id: int) -> Held:
        texts = connection.execute(_TEXTS, (instrument_id,))
        templates = connection.execute(_TEMPLATES, (instrument_id,))
        return cls(
            {tuple(place): held for *place, held in texts},
            {tuple(place): held for *place, held in templates},
        )


def changes(before: Held, after: Held, spoken: frozenset[str]) -> tuple[LanguageChange, ...]:
    """Return the changes between two states, by language; `spoken`: the languages of the file."""
    languages = dict.fromkeys(
        str(place[-1])
        for held in (before, after)
        for of in (held.texts, held.templates)
        for place in of
    )
    found = []
    for language in sorted(languages):
        texts = _counted(before.texts, after.texts, language)
        templates = _counted(before.templates, after.templates, language)
        found.append(LanguageChange(language, language in spoken, *texts, *templates))
    return tuple(found)


def _counted(
    before: Mapping[tuple[object, ...], int], after: Mapping[tuple[object, ...], int], language: str
) -> tuple[int, int, int, int]:
    """Return how many are added, replaced, removed, and unchanged."""
    was = {place: held for place, held in before.items() if place[-1] == language}
    now = {place: held for place, held in after.items() if place[-1] == language}
    both = was.keys() & now.keys()
    same = sum(was[place] == now[place] for place in both)
    return len(now.keys() - was.keys()), len(both) - same, len(was.keys() - now.keys()), same


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
        return tuple(
            answer for answer in survey if (answer.statement, answer.variant) not in self.reworded
        )


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
        self._connection, self._instrument_id, self.wanted, self._join = (
            connection,
            instrument_id,
            wanted,
            join,
        )
        self._act = IMPORTED if join is None else IN + ", ".join(sorted(join.spoken))
        values = {"instrument": instrument_id}
        found = read_statements(
            connection, "s.instrument_id = :instrument and s.current = 1", values, {}
        )
        self._here = {statement.ref: (rowid, statement) for rowid, statement in found.items()}
        self._bases = changed_here(connection, instrument_id)
        self._now_called = {
            base.ref: ref
            for ref, base in self._bases.items()
            if base is not None and ref not in wanted
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
            self._connection.execute(
                "update statement set ordinal = ? where id = ?", (ordinal, rowid)
            )
            self.synced.ids[given.ref] = rowid

    def _is_as_imported(self, base: Statement, given: Statement, wanted: Statement) -> bool:
        """Return whether the statement in the file is unchanged since the last import, in the
        file's languages.
        """
        if self._join is None:
            return _said(base) in (_said(given), _said(wanted))
        part = self._join.part(base)
        return (
            _said(part) in (_said(given), _said(wanted))
            if self._join.main
            else _texts(part) == _texts(given)
        )

    def _place(self, here: tuple[int, Statement] | None) -> int:
        """Return the position of a statement here; a new one comes last."""
        which, values = (
            ("id = ?", (here[0],)) if here else ("instrument_id = ?", (self._instrument_id,))
        )
        row = self._connection.execute(
            f"select coalesce(max(ordinal), -1) from statement where {which}", values
        )
        return int(row.fetchone()[0]) + (here is None)

    def _keep(
        self, given: Statement, wanted: Statement, here: tuple[int, Statement] | None
    ) -> None:
        self.synced.kept += (
            here is None or given.ref != wanted.ref or _said(here[1]) != _said(wanted)
        )
        held = {(w.variant, w.language): w.text for w in here[1].wordings} if here else {}
        self.synced.reworded |= {
            (given.ref, w.variant)
            for w in given.wordings
            if held.get((w.variant, w.language)) != w.text
        }

    def _add(self, wanted: Statement, ordinal: int) -> int:
        version = max(
            latest_version(self._connection, self._instrument_id, wanted.ref) + 1, wanted.version
        )
        rowid = insert_statement(self._connection, self._instrument_id, wanted, version, ordinal)
        self.synced.added += 1
        self._record(wanted.ref, None, rowid)
        return rowid

    def _change(self, held: int, before: Statement, wanted: Statement, ordinal: int) -> int:
        rowid, _ = write_texts(
            self._connection, self._instrument_id, held, wanted, ordinal, keep=True
        )
        update_about(self._connection, rowid, wanted)
        self.synced.changed += _texts(before) != _texts(wanted)
        self._record(wanted.ref, before, rowid)
        return rowid

    def retire(self) -> None:
        """Archive statements that the file no longer has; statements written here are kept, after
        the file's.
        """
        staying = set(self.synced.ids.values())
        end = len(self.wanted)
        at = time_of_edit(self._connection)
        for ref, (rowid, statement) in self._here.items():
            if rowid in staying or self._has_made_place(rowid):
                continue
            if (join := self._join) is not None and not join.main:
                continue
            if (join is not None and join.leaves(statement)) or (
                ref in self._bases and self._bases[ref] is None
            ):
                self._connection.execute(
                    "update statement set ordinal = ? where id = ?", (end, rowid)
                )
                end += 1
                continue
            self._connection.execute(
                "update statement set current = 0, archived_at = ? where id = ?", (at, rowid)
            )
            self.synced.retired += 1
            self._record(ref, statement, None)

    def _has_made_place(self, rowid: int) -> bool:
        """Return whether this import replaced a current version."""
        row = self._connection.execute(
            "select current from statement where id = ?", (rowid,)
        ).fetchone()
        return not row[0]

    def _record(self, ref: str, before: Statement | None, rowid: int | None) -> None:
        """Record a change of an existing instrument; the first import is not a change."""
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
    """Return the statements that people changed since the last import that changed them, by current
    ref.
    """
    main = connection.execute(
        "select language from instrument where id = ?", (instrument_id,)
    ).fetchone()[0]
    rows = connection.execute(
        "select ref, person, act, before, after from edit where instrument_id = ? order by id",
        (instrument_id,),
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
