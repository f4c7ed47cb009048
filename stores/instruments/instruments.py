"""Instruments: import, export, the lists of their statements, and the lexicons that they bring.

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
from stores.core.base import Aggregate, instrument_id_of, named, now, restored, table
from stores.instruments import templates as template_versions
from stores.instruments.choices import (
    AddedChoices,
    beside_the_rest,
    joined_notes,
    put_choices,
    read_items,
)
from stores.instruments.issues import define, fewest_of
from stores.instruments.questionnaires import AddedRespondents, put
from stores.instruments.statement_imports import (
    Held,
    LanguageChange,
    LanguageJoin,
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
from workbench.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One row of a statement list."""

    ref: str
    text: str
    "the original in the language of the list, else in any language, else any wording"
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
    """The filters of a list; empty: all statements."""

    search: str = ""
    "searched in refs, topics, tags and all wordings"
    issue: str = ""
    country: str = ""
    tag: str = ""
    language: str = ""
    "of the shown text; does not exclude statements"
    archived: bool = False
    "archived statements instead of current ones"


def count(connection: sqlite3.Connection, name: str, filters: Filters) -> int:
    """Return the number of statements that `lines` lists without a limit."""
    sql = f"select count(*) from ({_LINES} {_conditions(filters)})"
    found: int = connection.execute(sql, _values(connection, name, filters)[0]).fetchone()[0]
    return found


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
            text=restored(body) if kind else "",
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
    """Return a text normalised for searches: without case and with normalised accents, in any
    script.
    """
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def _holds(body: str | bytes | None, sought: str) -> bool:
    return body is not None and sought in folded(restored(body))


def _values(
    connection: sqlite3.Connection, name: str, filters: Filters
) -> tuple[dict[str, object], Labels]:
    """Return the bound values of the queries, and the gold labels; searches need the function
    `holds`.
    """
    connection.create_function("holds", 2, _holds, deterministic=True)
    row = connection.execute(
        "select id, language from instrument where name = ?", (name,)
    ).fetchone()
    gold = (
        gold_labels(issue_labels_of(connection, row[0]), fewest=fewest_of(connection, row[0]))
        if row
        else {}
    )
    concerned = [ref for ref, labels in gold.items() if labels.get(filters.issue)]
    return {
        "name": name,
        "search": folded(filters.search),
        "country": filters.country,
        "tag": filters.tag,
        "language": filters.language or (row[1] if row else ""),
        "concerned": json.dumps(concerned),
    }, gold


def _conditions(filters: Filters) -> str:
    """Return the further conditions of a list; values are bound by name."""
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
"the version archived last, for statements without a current one"

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


def brought(connection: sqlite3.Connection, instrument: str) -> tuple[BroughtLexicon, ...]:
    """Return the lexicons of an instrument, by language."""
    rows = connection.execute(
        "select l.language, l.text from brought_lexicon l join instrument i on i.id = "
        "l.instrument_id "
        "where i.name = ? order by l.language",
        (instrument,),
    )
    return tuple(BroughtLexicon(*row) for row in rows)


def put_lexicons(
    connection: sqlite3.Connection, instrument_id: int, lexicons: Iterable[BroughtLexicon]
) -> tuple[tuple[str, bool], ...]:
    """Write the lexicons of a file; those in other languages are kept. Call inside a transaction.

    Return (language, whether it replaced one) for each new lexicon.
    """
    changed = []
    for one in lexicons:
        here = connection.execute(
            "select text from brought_lexicon where instrument_id = ? and language = ?",
            (instrument_id, one.language),
        ).fetchone()
        if here is None or here[0] != one.text:
            row = {
                "instrument_id": instrument_id,
                "language": one.language,
                "text": one.text,
                "at": now(),
            }
            table(connection, "brought_lexicon").upsert(row)
            changed.append((one.language, here is not None))
    return tuple(changed)


@dataclass(frozen=True, slots=True)
class Imported:
    """The changes of an import."""

    name: str
    added: int
    "new statements"
    changed: int
    """statements with added or changed wordings; changed ones get a new version, and the old one
    keeps its answers"""
    unchanged: int
    retired: int
    "statements missing in the new version of the instrument"
    wordings: int
    templates: int
    skipped: int
    "labels and answers on unknown statements"
    kept: int = 0
    "statements changed here since the last import and unchanged in the file, which are kept"
    answers: AddedRespondents | None = None
    "people's answers to its questions; None if the file has no questionnaire"
    edited: tuple[tuple[str, int], ...] = ()
    "templates with a new version: (name, version)"
    choices: AddedChoices | None = None
    "multiple-choice questions and models' answers to them; None if the file has neither"
    by_language: tuple[LanguageChange, ...] = ()
    "changes by language; empty for a new instrument"
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
        """Return the name of the store's only instrument. Raises UsageError if it has none or
        several.
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
        """Import an instrument in one transaction. Importing the same again changes nothing.

        `part`: the file is a part of an instrument of multiple-choice questions; stored questions
        of other biases and data about the whole instrument are kept.

        A statement with changed wordings gets a new version; the old one, with its answers, is
        kept. A statement that only gained wordings keeps its version, and its answers still count.
        Wordings and templates in languages that the file lacks are kept (`language_joins`). Changes
        made here but not in the file are kept; changes by the import are recorded as edits and can
        be undone (`statement_imports`).
        """
        with self.store.write() as connection:
            here = self._known(instrument.name)
            before = (
                None
                if here is None
                else Held.of(connection, instrument_id_of(connection, here.name))
            )
            join = None if part or here is None else LanguageJoin.of(here, instrument)
            theirs = (
                instrument if join is None or here is None else join.instrument(instrument, here)
            )
            theirs = placed_as(theirs, here)
            joined = _join_instrument(connection, instrument) if part else None
            instrument_id = _upsert_instrument(connection, theirs) if joined is None else joined
            wanted = (
                beside_the_rest(connection, instrument_id, instrument)
                if part
                else theirs.statements
            )
            synced = sync_statements(connection, instrument_id, wanted, join)
            define(connection, instrument_id, theirs.definitions)
            edited = _put_templates(connection, instrument_id, theirs.templates, keep=part)
            survey = synced.answers(theirs.survey)
            skipped = sync_people(
                connection, instrument_id, replace(theirs, survey=survey), synced.ids
            )
            asked = theirs.questionnaire
            translated = join is not None and not join.main
            answers = (
                None
                if asked is None
                else put(connection, instrument_id, asked, synced.ids, keep=translated)
            )
            choices = _put_choices(connection, instrument_id, theirs, synced.ids, part=part)
            brought = put_lexicons(connection, instrument_id, instrument.lexicons)
            after = Held.of(connection, instrument_id)
        return Imported(
            name=instrument.name,
            added=synced.added,
            changed=synced.changed,
            unchanged=len(instrument.statements) - synced.added - synced.changed - synced.kept,
            retired=synced.retired,
            kept=synced.kept,
            wordings=sum(len(statement.wordings) for statement in instrument.statements),
            templates=len(instrument.templates),
            skipped=skipped,
            answers=answers,
            edited=edited,
            choices=choices,
            lexicons=brought,
            by_language=() if before is None else changes(before, after, languages_of(instrument)),
        )

    def place(self, name: str, parties: Sequence[Party], note: str) -> int:
        """Give parties of an instrument positions, and the instrument the note on where they are
        from, in place of an earlier one. Return how many positions changed.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, name)
            changed = sum(
                connection.execute(
                    "update party set position = :position where instrument_id = :instrument and "
                    "country = :country "
                    "and name = :name and position is not :position",
                    {**asdict(party), "instrument": instrument_id},
                ).rowcount
                for party in parties
            )
            (held,) = connection.execute(
                "select notes from instrument where id = ?", (instrument_id,)
            ).fetchone()
            notes = [one for one in json.loads(held) if not one.startswith(PLACED)]
            connection.execute(
                "update instrument set notes = ? where id = ?",
                (json.dumps([*notes, note]), instrument_id),
            )
        return changed

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
            for row in named(self.connection, _SUMMARIES)
        )

    def count(self, name: str, filters: Filters | None = None) -> int:
        """Return the number of statements that `lines` lists."""
        return count(self.connection, name, filters or Filters())

    def lines(
        self, name: str, filters: Filters | None = None, *, offset: int = 0, limit: int = -1
    ) -> tuple[StatementLine, ...]:
        """Return a page of statements in the order of the instrument."""
        found = lines(self.connection, name, filters or Filters(), offset=offset, limit=limit)
        return tuple(found)

    def get(self, name: str) -> Instrument:
        """Return an instrument with its current statements. Raises UnknownName, which lists the
        existing ones.
        """
        return self.store.remembered(("instrument", name), lambda: self._get(name))

    def _get(self, name: str) -> Instrument:
        row = named(self.connection, "select * from instrument where name = ?", (name,)).fetchone()
        if row is None:
            known = (
                ", ".join(self.names())
                or "none; import one with: workbench import STORE --format csv PATH"
            )
            raise UnknownName(f"no instrument is named {name!r} in this store. Available: {known}")
        instrument_id = row["id"]
        people = people_of(self.connection, instrument_id)
        issues = tuple(json.loads(row["issues"]))
        values = {"instrument": instrument_id}
        current = "s.instrument_id = :instrument and s.current = 1"
        gold = gold_labels(people.issue_labels, fewest=fewest_of(self.connection, instrument_id))
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
            lexicons=brought(self.connection, name),
        )

    def stays_behind(self, name: str) -> tuple[str, ...]:
        """Return sentences about data of an instrument that exported files do not contain, such as
        `3 archived statements`.
        """
        counts = self.connection.execute(_BEHIND, {"name": name}).fetchone()
        said = ", ".join(
            f"{n:,} {what}" for n, what in zip(counts, _BEHIND_NAMES, strict=True) if n
        )
        behind = [f"These stay in the store alone: {said}."] if said else []
        needed = fewest_of(self.connection, instrument_id_of(self.connection, name))
        if needed != FEWEST:
            behind.append(
                f"Gold issue labels need {plural(needed, 'labeller')} here, {FEWEST} where files "
                "are read."
            )
        return tuple(behind)

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
            "select distinct g.value from instrument i join statement s on s.instrument_id = "
            "i.id and s.current = 1 "
            "join json_each(s.tags) g where i.name = ? order by 1",
            (name,),
        )
        return tuple(row[0] for row in rows)

    def issues(self, name: str) -> tuple[str, ...]:
        """Return the policy issues that an instrument names, in its order."""
        row = self.connection.execute(
            "select issues from instrument where name = :name", {"name": name}
        ).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def _known(self, name: str) -> Instrument | None:
        return self.get(name) if name in self.names() else None

    def _definitions(
        self, instrument_id: int, issues: Sequence[str]
    ) -> tuple[IssueDefinition, ...]:
        rows = self.connection.execute(
            "select name, title, definition from issue where instrument_id = ?", (instrument_id,)
        )
        found = {name: IssueDefinition(name, title, definition) for name, title, definition in rows}
        return tuple(found[name] for name in issues if name in found)

    def _templates(self, instrument_id: int) -> tuple[Template, ...]:
        return template_versions.current(self.connection, instrument_id)


def _upsert_instrument(connection: sqlite3.Connection, instrument: Instrument) -> int:
    row = connection.execute(
        "insert into instrument "
        "(name, title, version, language, source, citation, licence, issues, notes, imported_at) "
        "values (:name, :title, :version, :language, :source, :citation, :licence, :issues, "
        ":notes, :at) "
        "on conflict (name) do update set title = excluded.title, version = excluded.version, "
        "language = excluded.language, source = excluded.source, citation = excluded.citation, "
        "licence = excluded.licence, issues = excluded.issues, notes = excluded.notes returning id",
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
    """Return the rowid of the instrument of a part, after adding the part's notes; None if there is
    none.
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
    return put_choices(connection, instrument_id, items, answers, statements, part=part)


def _put_templates(
    connection: sqlite3.Connection, instrument_id: int, templates: Sequence[Template], *, keep: bool
) -> tuple[tuple[str, int], ...]:
    """Set an instrument's templates; `keep`: also keep its templates of other names. Return the
    edited ones, with their new versions.
    """
    newest = template_versions.newest(connection, instrument_id)
    there = template_versions.current(connection, instrument_id) if keep else ()
    given = {place_of(template) for template in templates}
    kept = [template for template in there if place_of(template) not in given]
    wanted = [*kept, *templates]
    ids = template_versions.register(connection, instrument_id, wanted)
    connection.execute("delete from instrument_template where instrument_id = ?", (instrument_id,))
    connection.executemany(
        "insert into instrument_template (instrument_id, template_id, ordinal) values (?, ?, ?) "
        "on conflict do nothing",
        ((instrument_id, ids[template.key], ordinal) for ordinal, template in enumerate(wanted)),
    )
    now = template_versions.newest(connection, instrument_id)
    new = {
        place[2]: version for place, version in now.items() if version > newest.get(place, version)
    }
    return tuple(new.items())


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
