"""Instruments: import, export, the lists of their statements, and their lexicons.

Lists come in pages, searched and filtered in the database. Lexicons are stored so that answers can
be read without the original files.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from unicodedata import normalize

from stores.annotation.people import issue_labels_of, people_of, sync_people
from stores.core.base import Aggregate, decode_text, execute_named, instrument_id_of, now, table
from stores.instruments import templates as template_versions
from stores.instruments.choices import (
    AddedChoices,
    joined_notes,
    read_items,
    with_stored_statements,
    write_choices,
)
from stores.instruments.issues import define, n_labellers_needed
from stores.instruments.questionnaires import AddedRespondents, write_questionnaire
from stores.instruments.statement_imports import (
    LanguageChange,
    LanguageJoin,
    Synced,
    TextSnapshot,
    changes,
    languages_of,
    place_of,
    sync_statements,
)
from stores.instruments.versions import read_statements
from workbench.domain.instruments import (
    FEWEST,
    PLACED,
    BroughtLexicon,
    Instrument,
    IssueDefinition,
    Labels,
    Party,
    gold_labels,
    placed_as,
)
from workbench.domain.names import plural
from workbench.domain.prompts import Template
from workbench.domain.statements import Statement
from workbench.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One row of a statement list."""

    ref: str
    text: str
    "the original in the language of the list, or else in any language, or else any wording"
    country: str | None
    topic: str | None
    issues: tuple[tuple[str, int], ...]
    "gold labels other than 0"
    variants: int
    "number of wordings in the language of the text"
    languages: int
    tags: tuple[str, ...] = ()
    version: int = 1
    original: bool = True
    "whether the text is an original"


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a list. Without any, all statements are listed."""

    search: str = ""
    "searched in refs, topics, tags and all wordings"
    issue: str = ""
    country: str = ""
    tag: str = ""
    language: str = ""
    "language of the displayed text, which excludes no statements"
    archived: bool = False
    "whether archived statements are listed instead of current ones"


def count(connection: sqlite3.Connection, name: str, filters: Filters) -> int:
    """Return the number of statements that `lines` lists without a limit."""
    sql = f"select count(*) from ({_LINES} {_conditions(filters)})"
    n_statements: int = connection.execute(sql, _values(connection, name, filters)[0]).fetchone()[0]
    return n_statements


def lines(
    connection: sqlite3.Connection, name: str, filters: Filters, *, offset: int = 0, limit: int = -1
) -> Iterator[StatementLine]:
    """Yield a page of statements in the order of their instrument."""
    values, gold = _values(connection, name, filters)
    sql = f"{_LINES} {_conditions(filters)} order by s.ordinal, s.id limit :limit offset :offset"
    for row in connection.execute(sql, values | {"offset": offset, "limit": limit}).fetchall():
        ref, country, topic, tags, version, kind, body, variants, languages = row
        yield StatementLine(
            ref=ref,
            text=decode_text(body) if kind else "",
            country=country,
            topic=topic,
            issues=tuple(
                sorted((issue, label) for issue, label in gold.get(ref, {}).items() if label)
            ),
            variants=variants,
            languages=languages,
            tags=tuple(json.loads(tags)),
            version=version,
            original=kind == "original",
        )


def folded(text: str) -> str:
    """Return a text normalised for searches: without case and with normalised accents.

    It works in any script.
    """
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def _holds(body: str | bytes | None, sought: str) -> bool:
    return body is not None and sought in folded(decode_text(body))


def _values(
    connection: sqlite3.Connection, name: str, filters: Filters
) -> tuple[dict[str, object], Labels]:
    """Return the bound values of the queries, and the gold labels.

    It adds the function `holds`, which searches need, to the connection.
    """
    connection.create_function("holds", 2, _holds, deterministic=True)
    row = connection.execute(
        "select id, language from instrument where name = ?", (name,)
    ).fetchone()
    gold = (
        gold_labels(
            issue_labels_of(connection, row[0]), fewest=n_labellers_needed(connection, row[0])
        )
        if row
        else {}
    )
    concerned_refs = [ref for ref, labels in gold.items() if labels.get(filters.issue)]
    return {
        "name": name,
        "search": folded(filters.search),
        "country": filters.country,
        "tag": filters.tag,
        "language": filters.language or (row[1] if row else ""),
        "concerned": json.dumps(concerned_refs),
    }, gold


def _conditions(filters: Filters) -> str:
    """Return the further conditions of a list. Values are bound by name."""
    clauses = [_ARCHIVED if filters.archived else "s.current = 1"]
    if filters.search:
        clauses.append(_SEARCHED)
    if filters.issue:
        clauses.append("s.ref in (select value from json_each(:concerned))")
    if filters.country:
        clauses.append("s.country = :country")
    if filters.tag:
        clauses.append("exists (select 1 from json_each(s.tags) g where g.value = :tag)")
    return "and " + " and ".join(clauses)


_ARCHIVED = """
    s.current = 0 and s.id = (
        select o.id from statement o where o.instrument_id = s.instrument_id and o.ref = s.ref
        order by o.current desc, o.archived_at desc, o.version desc limit 1
    ) and s.archived_at is not null
"""
"the version that was archived last, for statements without a current one"

_SEARCHED = """
    (holds(s.ref, :search) or holds(s.topic, :search)
    or exists (select 1 from json_each(s.tags) g where holds(g.value, :search))
    or exists (
        select 1 from wording v join text y on y.id = v.text_id
        where v.statement_id = s.id and holds(y.body, :search)
    ))
"""

_LINES = """
    select s.ref, s.country, s.topic, s.tags, s.version, w.kind, x.body,
        (select count(*) from wording c where c.statement_id = s.id and c.language = w.language)
            as variants,
        (select count(distinct c.language) from wording c where c.statement_id = s.id) as languages
    from instrument i
    join statement s on s.instrument_id = i.id
    left join wording w on w.id = (
        select o.id from wording o where o.statement_id = s.id
        order by o.kind <> 'original', o.language <> :language, o.id limit 1
    )
    left join text x on x.id = w.text_id
    where i.name = :name
"""


def lexicons_of(connection: sqlite3.Connection, instrument: str) -> tuple[BroughtLexicon, ...]:
    """Return the lexicons of an instrument, by language."""
    rows = connection.execute(
        "select l.language, l.text from brought_lexicon l join instrument i on i.id = "
        "l.instrument_id where i.name = ? order by l.language",
        (instrument,),
    )
    return tuple(BroughtLexicon(*row) for row in rows)


def write_lexicons(
    connection: sqlite3.Connection, instrument_id: int, lexicons: Iterable[BroughtLexicon]
) -> tuple[tuple[str, bool], ...]:
    """Write the lexicons of a file and return (language, whether it replaced one) for each new one.

    Lexicons in other languages are kept. Call inside a transaction.
    """
    new_lexicons = []
    for lexicon in lexicons:
        stored_row = connection.execute(
            "select text from brought_lexicon where instrument_id = ? and language = ?",
            (instrument_id, lexicon.language),
        ).fetchone()
        if stored_row is None or stored_row[0] != lexicon.text:
            row = {
                "instrument_id": instrument_id,
                "language": lexicon.language,
                "text": lexicon.text,
                "at": now(),
            }
            table(connection, "brought_lexicon").upsert(row)
            new_lexicons.append((lexicon.language, stored_row is not None))
    return tuple(new_lexicons)


@dataclass(frozen=True, slots=True)
class Imported:
    """The changes of an import."""

    name: str
    added: int
    "number of new statements"
    changed: int
    """number of statements with added or changed wordings. Changed ones get a new version, and
    the old one keeps its answers."""
    unchanged: int
    retired: int
    "number of statements that are missing in the new version of the instrument"
    wordings: int
    templates: int
    skipped: int
    "number of labels and answers on unknown statements"
    kept: int = 0
    """number of statements that were changed here since the last import and are unchanged in the
    file. They are kept."""
    answers: AddedRespondents | None = None
    "people's answers to its questions, or None if the file has no questionnaire"
    edited: tuple[tuple[str, int], ...] = ()
    "templates with a new version: (name, version)"
    choices: AddedChoices | None = None
    "multiple-choice questions and models' answers to them, or None if the file has neither"
    by_language: tuple[LanguageChange, ...] = ()
    "changes by language, or none for a new instrument"
    lexicons: tuple[tuple[str, bool], ...] = ()
    "(language, whether it replaced one) for each new lexicon"


@dataclass(frozen=True, slots=True)
class InstrumentSummary:
    """The summary of an instrument."""

    name: str
    title: str
    language: str
    statements: int
    wordings: int
    templates: int
    parties: int
    languages: tuple[str, ...]


class Instruments(Aggregate):
    """The methods on instruments."""

    def names(self) -> tuple[str, ...]:
        return tuple(
            row[0] for row in self.connection.execute("select name from instrument order by id")
        )

    def only(self) -> str:
        """Return the name of the store's only instrument.

        Raises UsageError if it has none or several.
        """
        names = self.names()
        if not names:
            raise UsageError(
                "the store has no instrument yet. Import one: workbench import STORE --format "
                "csv PATH"
            )
        if len(names) > 1:
            raise UsageError(
                f"the store has several instruments; name one with --instrument: {', '.join(names)}"
            )
        return names[0]

    def add(self, instrument: Instrument, *, part: bool = False) -> Imported:
        """Import an instrument in one transaction. Importing it again changes nothing.

        With `part`, the file is a part of an instrument of multiple-choice questions. Stored
        questions of other biases and data about the whole instrument are kept then.

        A statement with changed wordings gets a new version. The old one, with its answers, is
        kept. A statement that only gained wordings keeps its version, and its answers still count.
        Wordings and templates in languages that the file lacks are kept (`language_joins`). Changes
        made here but not in the file are kept. Changes by the import are recorded as edits and can
        be undone (`statement_imports`).
        """
        with self.store.write() as connection:
            stored = self._get_if_stored(instrument.name)
            previous_texts = None
            if stored is not None:
                stored_id = instrument_id_of(connection, stored.name)
                previous_texts = TextSnapshot.of(connection, stored_id)
            incoming = _incoming(instrument, stored, part=part)
            written = _write(connection, incoming)
            current_texts = TextSnapshot.of(connection, written.instrument_id)
        by_language: tuple[LanguageChange, ...] = ()
        if previous_texts is not None:
            by_language = changes(previous_texts, current_texts, languages_of(instrument))
        synced = written.statements
        return Imported(
            name=instrument.name,
            added=synced.added,
            changed=synced.changed,
            unchanged=len(instrument.statements) - synced.added - synced.changed - synced.kept,
            retired=synced.retired,
            kept=synced.kept,
            wordings=sum(len(statement.wordings) for statement in instrument.statements),
            templates=len(instrument.templates),
            skipped=written.skipped,
            answers=written.answers,
            edited=written.edited_templates,
            choices=written.choices,
            lexicons=written.lexicons,
            by_language=by_language,
        )

    def place(self, name: str, parties: Sequence[Party], note: str) -> int:
        """Set the positions of an instrument's parties, and return how many positions changed.

        The note tells their source. It replaces an earlier note on positions.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, name)
            n_changed = sum(
                connection.execute(
                    "update party set position = :position where instrument_id = :instrument and "
                    "country = :country and name = :name and position is not :position",
                    {**asdict(party), "instrument": instrument_id},
                ).rowcount
                for party in parties
            )
            (notes_json,) = connection.execute(
                "select notes from instrument where id = ?", (instrument_id,)
            ).fetchone()
            notes = [
                stored_note
                for stored_note in json.loads(notes_json)
                if not stored_note.startswith(PLACED)
            ]
            connection.execute(
                "update instrument set notes = ? where id = ?",
                (json.dumps([*notes, note]), instrument_id),
            )
        return n_changed

    def summaries(self) -> tuple[InstrumentSummary, ...]:
        return tuple(
            InstrumentSummary(
                name=row["name"],
                title=row["title"],
                language=row["language"],
                statements=row["statements"],
                wordings=row["wordings"],
                templates=row["templates"],
                parties=row["parties"],
                languages=tuple(sorted((row["languages"] or "").split(","))),
            )
            for row in execute_named(self.connection, _SUMMARIES)
        )

    def count(self, name: str, filters: Filters | None = None) -> int:
        """Return the number of statements that `lines` lists."""
        return count(self.connection, name, filters or Filters())

    def lines(
        self, name: str, filters: Filters | None = None, *, offset: int = 0, limit: int = -1
    ) -> tuple[StatementLine, ...]:
        """Return a page of statements in the order of the instrument."""
        page = lines(self.connection, name, filters or Filters(), offset=offset, limit=limit)
        return tuple(page)

    def get(self, name: str) -> Instrument:
        """Return an instrument with its current statements.

        Raises UnknownName, which lists the existing ones.
        """
        return self.store.remembered(("instrument", name), lambda: self._get(name))

    def _get(self, name: str) -> Instrument:
        row = execute_named(
            self.connection, "select * from instrument where name = ?", (name,)
        ).fetchone()
        if row is None:
            available = (
                ", ".join(self.names())
                or "none; import one with: workbench import STORE --format csv PATH"
            )
            raise UnknownName(
                f"no instrument is named {name!r} in this store. Available: {available}"
            )
        instrument_id = row["id"]
        people = people_of(self.connection, instrument_id)
        issues = tuple(json.loads(row["issues"]))
        values = {"instrument": instrument_id}
        current = "s.instrument_id = :instrument and s.current = 1"
        gold = gold_labels(
            people.issue_labels, fewest=n_labellers_needed(self.connection, instrument_id)
        )
        statements = read_statements(self.connection, current, values, gold)
        return Instrument(
            name=row["name"],
            title=row["title"],
            version=row["version"],
            language=row["language"],
            source=row["source"],
            citation=row["citation"],
            licence=row["licence"],
            issues=issues,
            definitions=self._definitions(instrument_id, issues),
            notes=tuple(json.loads(row["notes"])),
            statements=tuple(statements.values()),
            templates=self._templates(instrument_id),
            issue_labels=people.issue_labels,
            parties=people.parties,
            party_answers=people.party_answers,
            survey=people.survey,
            choices=tuple(read_items(self.connection, instrument_id).values()),
            lexicons=lexicons_of(self.connection, name),
        )

    def export_losses(self, name: str) -> tuple[str, ...]:
        """Return sentences about data of an instrument that exported files do not contain.

        For example `3 archived statements`.
        """
        counts = self.connection.execute(_BEHIND, {"name": name}).fetchone()
        text = ", ".join(
            f"{n_rows:,} {caption}"
            for n_rows, caption in zip(counts, _BEHIND_NAMES, strict=True)
            if n_rows
        )
        sentences = [f"These stay in the store alone: {text}."] if text else []
        n_needed = n_labellers_needed(self.connection, instrument_id_of(self.connection, name))
        if n_needed != FEWEST:
            sentences.append(
                f"Gold issue labels need {plural(n_needed, 'labeller')} here, {FEWEST} where files "
                "are read."
            )
        return tuple(sentences)

    def countries(self, name: str) -> tuple[str, ...]:
        rows = self.connection.execute(
            "select distinct s.country from statement s join instrument i on i.id = "
            "s.instrument_id "
            "where i.name = :name and s.current = 1 and s.country is not null order by 1",
            {"name": name},
        )
        return tuple(row[0] for row in rows)

    def tags(self, name: str) -> tuple[str, ...]:
        """Return the tags of an instrument's statements, in alphabetical order."""
        rows = self.connection.execute(
            "select distinct g.value from instrument i join statement s on s.instrument_id = i.id "
            "and s.current = 1 join json_each(s.tags) g where i.name = ? order by 1",
            (name,),
        )
        return tuple(row[0] for row in rows)

    def issues(self, name: str) -> tuple[str, ...]:
        """Return the policy issues that an instrument names, in its order."""
        row = self.connection.execute(
            "select issues from instrument where name = :name", {"name": name}
        ).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def _get_if_stored(self, name: str) -> Instrument | None:
        return self.get(name) if name in self.names() else None

    def _definitions(
        self, instrument_id: int, issues: Sequence[str]
    ) -> tuple[IssueDefinition, ...]:
        rows = self.connection.execute(
            "select name, title, definition from issue where instrument_id = ?", (instrument_id,)
        )
        definition_by_issue = {
            name: IssueDefinition(name, title, definition) for name, title, definition in rows
        }
        return tuple(definition_by_issue[name] for name in issues if name in definition_by_issue)

    def _templates(self, instrument_id: int) -> tuple[Template, ...]:
        return template_versions.current(self.connection, instrument_id)


@dataclass(frozen=True, slots=True)
class _Incoming:
    """An instrument to import."""

    file: Instrument
    "as in the file"
    completed: Instrument
    "with the stored data that the file lacks"
    join: LanguageJoin | None
    "None if the file has all languages of the stored instrument"
    part: bool

    @property
    def is_translation(self) -> bool:
        return self.join is not None and not self.join.main


def _incoming(file: Instrument, stored: Instrument | None, *, part: bool) -> _Incoming:
    """Return what to write of a file. `stored` is the instrument of its name, if there is one."""
    join = None
    completed = file
    if stored is not None and not part:
        join = LanguageJoin.of(stored, file)
        completed = file if join is None else join.instrument(file, stored)
    return _Incoming(file, placed_as(completed, stored), join, part)


@dataclass(frozen=True, slots=True)
class _WrittenInstrument:
    """The changes of an import, as `Imported` has them."""

    instrument_id: int
    statements: Synced
    edited_templates: tuple[tuple[str, int], ...]
    skipped: int
    answers: AddedRespondents | None
    choices: AddedChoices | None
    lexicons: tuple[tuple[str, bool], ...]


def _write(connection: sqlite3.Connection, incoming: _Incoming) -> _WrittenInstrument:
    """Write an instrument, in the order in which its data refer to each other."""
    instrument = incoming.completed
    part = incoming.part
    instrument_id = _join_instrument(connection, incoming.file) if part else None
    if instrument_id is None:
        instrument_id = _upsert_instrument(connection, instrument)
    statements: Iterable[Statement] = instrument.statements
    if part:
        statements = with_stored_statements(connection, instrument_id, incoming.file)
    synced = sync_statements(connection, instrument_id, statements, incoming.join)
    define(connection, instrument_id, instrument.definitions)
    edited_templates = _put_templates(connection, instrument_id, instrument.templates, keep=part)
    people = replace(instrument, survey=synced.answers(instrument.survey))
    skipped = sync_people(connection, instrument_id, people, synced.ids)
    answers = None
    if instrument.questionnaire is not None:
        answers = write_questionnaire(
            connection,
            instrument_id,
            instrument.questionnaire,
            synced.ids,
            keep=incoming.is_translation,
        )
    choices = _put_choices(connection, instrument_id, instrument, synced.ids, part=part)
    lexicons = write_lexicons(connection, instrument_id, incoming.file.lexicons)
    return _WrittenInstrument(
        instrument_id=instrument_id,
        statements=synced,
        edited_templates=edited_templates,
        skipped=skipped,
        answers=answers,
        choices=choices,
        lexicons=lexicons,
    )


def _upsert_instrument(connection: sqlite3.Connection, instrument: Instrument) -> int:
    row = connection.execute(
        "insert into instrument (name, title, version, language, source, citation, licence, "
        "issues, notes, imported_at) values (:name, :title, :version, :language, :source, "
        ":citation, :licence, :issues, :notes, :at) on conflict (name) do update set title = "
        "excluded.title, version = excluded.version, language = excluded.language, source = "
        "excluded.source, citation = excluded.citation, licence = excluded.licence, issues = "
        "excluded.issues, notes = excluded.notes returning id",
        {
            "name": instrument.name,
            "title": instrument.title,
            "version": instrument.version,
            "language": instrument.language,
            "source": instrument.source,
            "citation": instrument.citation,
            "licence": instrument.licence,
            "issues": json.dumps(instrument.issues),
            "notes": json.dumps(instrument.notes),
            "at": now(),
        },
    ).fetchone()
    return int(row[0])


def _join_instrument(connection: sqlite3.Connection, instrument: Instrument) -> int | None:
    """Return the rowid of the instrument of a part, or None if there is none.

    The notes of the part are added to it.
    """
    row = connection.execute(
        "select id, notes from instrument where name = ?", (instrument.name,)
    ).fetchone()
    if row is None:
        return None
    notes = joined_notes(connection, row[0], json.loads(row[1]), instrument)
    connection.execute("update instrument set notes = ? where id = ?", (json.dumps(notes), row[0]))
    return int(row[0])


def _put_choices(
    connection: sqlite3.Connection,
    instrument_id: int,
    instrument: Instrument,
    statements: Mapping[str, int],
    *,
    part: bool,
) -> AddedChoices | None:
    items, answers = instrument.choices, instrument.answer_sets
    if not items and not answers:
        return None
    return write_choices(connection, instrument_id, items, answers, statements, part=part)


def _put_templates(
    connection: sqlite3.Connection, instrument_id: int, templates: Sequence[Template], *, keep: bool
) -> tuple[tuple[str, int], ...]:
    """Set an instrument's templates and return the edited ones, with their new versions.

    With `keep`, its templates of other names stay.
    """
    previous_versions = template_versions.newest(connection, instrument_id)
    stored = template_versions.current(connection, instrument_id) if keep else ()
    given_places = {place_of(template) for template in templates}
    kept_templates = [template for template in stored if place_of(template) not in given_places]
    all_templates = [*kept_templates, *templates]
    ids = template_versions.register(connection, instrument_id, all_templates)
    connection.execute("delete from instrument_template where instrument_id = ?", (instrument_id,))
    connection.executemany(
        "insert into instrument_template (instrument_id, template_id, ordinal) values (?, ?, ?) "
        "on conflict do nothing",
        (
            (instrument_id, ids[template.key], ordinal)
            for ordinal, template in enumerate(all_templates)
        ),
    )
    current_versions = template_versions.newest(connection, instrument_id)
    new_versions = {
        identity[2]: version
        for identity, version in current_versions.items()
        if version > previous_versions.get(identity, version)
    }
    return tuple(new_versions.items())


_BEHIND_NAMES = (
    *(
        "archived or earlier versions of statements",
        "answers of people to these",
        "drafts",
        "waivers",
    ),
    *(
        "earlier revisions of roles and scales",
        "answers to questions that were archived or taken out",
    ),
)
_BEHIND = """
    with old as (
        select s.id from statement s join instrument i on i.id = s.instrument_id
        where i.name = :name and s.current = 0
    )
    select (select count(*) from old),
        (select count(*) from survey_answer a where a.statement_id in (select id from old)),
        (select count(*) from draft d join statement s on s.id = d.statement_id
            join instrument i on i.id = s.instrument_id where i.name = :name and d.fault = ''),
        (select count(*) from waiver w join instrument i on i.id = w.instrument_id
            where i.name = :name and w.reason is not null),
        (select count(*) - count(distinct r.question_id) from question_revision r
            join question q on q.id = r.question_id join instrument i on i.id = q.instrument_id
                where i.name = :name)
        + (select count(*) - count(distinct r.name) from scale_revision r
            join instrument i on i.id = r.instrument_id where i.name = :name),
        (select count(*) from question q join instrument i on i.id = q.instrument_id
            join answer a on a.question_id = q.id where i.name = :name and (
                (select r.role from question_revision r where r.question_id = q.id
                    order by r.revision desc limit 1)
                is null
                or not exists (select 1 from statement s
                    where s.instrument_id = q.instrument_id and s.ref = q.ref and s.current = 1)))
"""

_SUMMARIES = """
    select i.name, i.title, i.language,
        (select count(*) from statement s where s.instrument_id = i.id and s.current = 1)
            as statements,
        (select count(*) from statement s join wording w on w.statement_id = s.id
            where s.instrument_id = i.id and s.current = 1) as wordings,
        (select count(*) from instrument_template t where t.instrument_id = i.id) as templates,
        (select count(*) from party p where p.instrument_id = i.id) as parties,
        (select group_concat(distinct w.language) from statement s join wording w
            on w.statement_id = s.id
            where s.instrument_id = i.id and s.current = 1) as languages
    from instrument i order by i.id
"""
