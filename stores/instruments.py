"""Instruments: statements, their wordings, and what people said of them."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stores.base import Aggregate, now
from stores.people import people_of, sync_people
from stores.templates import TEMPLATE_COLUMNS, as_template, template_id
from stores.texts import restored, text_ids
from workbench.domain.instruments import Instrument, IssueLabel
from workbench.domain.prompts import Template
from workbench.domain.statements import Dimension, Side, Statement, VariantId, VariantKind, Wording, variant_order
from workbench.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import changed."""

    name: str
    added: int
    "statements that were not there"
    changed: int
    "statements that gained wordings, or whose wordings differ: these get a new version, the old one keeps its answers"
    unchanged: int
    retired: int
    "statements that the new version of the instrument no longer has"
    wordings: int
    templates: int
    skipped: int
    "labels and answers on statements that the instrument does not have"


@dataclass(frozen=True, slots=True)
class InstrumentSummary:
    """One line about an instrument."""

    name: str
    title: str
    language: str
    statements: int
    wordings: int
    templates: int
    parties: int
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One row of a statement list."""

    ref: str
    text: str
    country: str | None
    topic: str | None
    issues: tuple[tuple[str, int], ...]
    variants: int
    languages: int


class Instruments(Aggregate):
    """The verbs on instruments."""

    def names(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self.connection.execute("select name from instrument order by id"))

    def add(self, instrument: Instrument) -> Imported:
        """Import an instrument in one transaction. Importing the same again changes nothing.

        A statement whose wordings changed gets a new version; the old one, and every answer to it, stays. One that only
        gained wordings keeps its version, and its answers count as before.
        """
        with self.store.write() as connection:
            instrument_id = _upsert_instrument(connection, instrument)
            statement_ids, added, changed, retired = _sync_statements(connection, instrument_id, instrument)
            _add_templates(connection, instrument_id, instrument.templates)
            skipped = sync_people(connection, instrument_id, instrument, statement_ids)
        return Imported(
            name=instrument.name,
            added=added,
            changed=changed,
            unchanged=len(instrument.statements) - added - changed,
            retired=retired,
            wordings=sum(len(statement.wordings) for statement in instrument.statements),
            templates=len(instrument.templates),
            skipped=skipped,
        )

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
            for row in _rows(self.connection, _SUMMARIES, {})
        )

    def count(self, name: str, *, search: str = "", issue: str = "", country: str = "", language: str = "") -> int:
        """Return how many statements `lines` would list."""
        where = _filter(search, issue, country)
        sql = f"select count(*) from ({_LINES}{where})"
        found: int = self.connection.execute(sql, _filter_values(name, search, issue, country, language)).fetchone()[0]
        return found

    def lines(
        self,
        name: str,
        *,
        search: str = "",
        issue: str = "",
        country: str = "",
        language: str = "",
        offset: int = 0,
        limit: int = -1,
    ) -> tuple[StatementLine, ...]:
        """Return a page of current statements in instrument order; `search` looks in every wording, topic and ref."""
        sql = f"{_LINES}{_filter(search, issue, country)} order by s.ordinal limit :limit offset :offset"
        values = _filter_values(name, search, issue, country, language) | {"limit": limit, "offset": offset}
        return tuple(
            StatementLine(
                ref=row["ref"],
                text=restored(row["body"], row["packed"]),
                country=row["country"],
                topic=row["topic"],
                issues=tuple(sorted((i, v) for i, v in json.loads(row["issues"]).items() if v)),
                variants=row["variants"],
                languages=row["languages"],
            )
            for row in _rows(self.connection, sql, values)
        )

    def get(self, name: str) -> Instrument:
        """Return an instrument with its current statements. Raises UnknownName, listing those there are."""
        row = next(_rows(self.connection, "select * from instrument where name = :name", {"name": name}), None)
        if row is None:
            known = ", ".join(self.names()) or "none; import one with: workbench import STORE --format csv PATH"
            raise UnknownName(f"no instrument is named {name!r} in this store. There is: {known}")
        instrument_id = row["id"]
        people = people_of(self.connection, instrument_id)
        return Instrument(
            name=row["name"],
            title=row["title"],
            version=row["version"],
            language=row["language"],
            source=row["source"],
            citation=row["citation"],
            licence=row["licence"],
            issues=tuple(json.loads(row["issues"])),
            notes=tuple(json.loads(row["notes"])),
            statements=self._statements(instrument_id, people.issue_labels),
            templates=self._templates(instrument_id),
            issue_labels=people.issue_labels,
            parties=people.parties,
            party_answers=people.party_answers,
            survey=people.survey,
        )

    def countries(self, name: str) -> tuple[str, ...]:
        rows = self.connection.execute(
            "select distinct s.country from statement s join instrument i on i.id = s.instrument_id "
            "where i.name = :name and s.current = 1 and s.country is not null order by 1",
            {"name": name},
        )
        return tuple(row[0] for row in rows)

    def issues(self, name: str) -> tuple[str, ...]:
        """Return the policy issues that an instrument names, in its order."""
        row = self.connection.execute("select issues from instrument where name = :name", {"name": name}).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def _statements(self, instrument_id: int, labels: Iterable[IssueLabel]) -> tuple[Statement, ...]:
        issues: dict[str, dict[str, int]] = defaultdict(dict)
        for label in labels:
            issues[label.statement][label.issue] = label.label
        wordings: dict[str, list[Wording]] = defaultdict(list)
        about: dict[str, tuple[str | None, ...]] = {}
        for (
            ref,
            country,
            topic,
            dimension,
            leaning,
            source,
            kind,
            ordinal,
            language,
            author,
            body,
            packed,
        ) in self.connection.execute(_WORDINGS, {"instrument": instrument_id}):
            about[ref] = (country, topic, dimension, leaning, source)
            variant = VariantId(VariantKind(kind), ordinal)
            wordings[ref].append(Wording(variant, language, restored(body, packed), author))
        return tuple(
            Statement(
                ref=ref,
                wordings=tuple(sorted(wordings[ref], key=lambda w: (w.language, variant_order(w.variant)))),
                country=country,
                topic=topic,
                issues=issues.get(ref, {}),
                languages=tuple(sorted({w.language for w in wordings[ref]})),
                dimension=Dimension(dimension) if dimension else None,
                leaning=Side(leaning) if leaning else None,
                source=source,
            )
            for ref, (country, topic, dimension, leaning, source) in about.items()
        )

    def _templates(self, instrument_id: int) -> tuple[Template, ...]:
        rows = self.connection.execute(
            f"select {TEMPLATE_COLUMNS} from template t join instrument_template i on i.template_id = t.id "
            "where i.instrument_id = :instrument order by i.ordinal",
            {"instrument": instrument_id},
        )
        return tuple(as_template(row) for row in rows)


def _rows(connection: sqlite3.Connection, sql: str, values: dict[str, object]) -> Iterator[sqlite3.Row]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    yield from cursor.execute(sql, values)


def _upsert_instrument(connection: sqlite3.Connection, instrument: Instrument) -> int:
    row = connection.execute(
        "insert into instrument "
        "(name, title, version, language, source, citation, licence, issues, notes, imported_at) "
        "values (:name, :title, :version, :language, :source, :citation, :licence, :issues, :notes, :at) "
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


def _sync_statements(
    connection: sqlite3.Connection, instrument_id: int, instrument: Instrument
) -> tuple[dict[str, int], int, int, int]:
    """Return the rowid of each current statement, and how many were added, changed and retired."""
    texts = text_ids(connection, (w.text for s in instrument.statements for w in s.wordings))
    held: dict[str, tuple[int, int]] = {
        ref: (rowid, version)
        for ref, rowid, version in connection.execute(
            "select ref, id, version from statement where instrument_id = ? and current = 1", (instrument_id,)
        )
    }
    latest = dict(
        connection.execute(
            "select ref, max(version) from statement where instrument_id = ? group by ref", (instrument_id,)
        ).fetchall()
    )
    ids: dict[str, int] = {}
    added = changed = 0
    for ordinal, statement in enumerate(instrument.statements):
        wanted = {
            (w.variant.kind.value, w.variant.ordinal, w.language): (texts[w.text], w.author) for w in statement.wordings
        }
        if statement.ref in held:
            rowid = held[statement.ref][0]
            there = _held_wordings(connection, rowid)
            if there.items() <= {key: text for key, (text, _) in wanted.items()}.items():
                more = {key: wording for key, wording in wanted.items() if key not in there}
                _insert_wordings(connection, rowid, more)
                changed += bool(more)
                connection.execute(
                    "update statement set ordinal = ?, country = ?, topic = ?, dimension = ?, leaning = ?, source = ? "
                    "where id = ?",
                    (ordinal, *_about(statement), rowid),
                )
                ids[statement.ref] = rowid
                continue
            connection.execute("update statement set current = 0 where id = ?", (rowid,))
            changed += 1
        else:
            added += 1
        version = latest.get(statement.ref, 0) + 1
        ids[statement.ref] = _insert_statement(connection, instrument_id, statement, version, ordinal, wanted)
    gone = [rowid for ref, (rowid, _) in held.items() if ref not in ids]
    connection.executemany("update statement set current = 0 where id = ?", [(rowid,) for rowid in gone])
    return ids, added, changed, len(gone)


def _about(statement: Statement) -> tuple[str | None, ...]:
    """Return what a statement's row says beside its wordings."""
    return (statement.country, statement.topic, statement.dimension, statement.leaning, statement.source)


def _held_wordings(connection: sqlite3.Connection, statement_id: int) -> dict[tuple[str, int, str], int]:
    rows = connection.execute(
        "select kind, ordinal, language, text_id from wording where statement_id = ?", (statement_id,)
    )
    return {(kind, ordinal, language): text for kind, ordinal, language, text in rows}


def _insert_statement(
    connection: sqlite3.Connection,
    instrument_id: int,
    statement: Statement,
    version: int,
    ordinal: int,
    wordings: dict[tuple[str, int, str], tuple[int, str | None]],
) -> int:
    rowid = connection.execute(
        "insert into statement (instrument_id, ref, version, current, ordinal, country, topic, dimension, leaning, "
        "source, created_at) values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) returning id",
        (instrument_id, statement.ref, version, ordinal, *_about(statement), now()),
    ).fetchone()[0]
    _insert_wordings(connection, rowid, wordings)
    return int(rowid)


def _insert_wordings(
    connection: sqlite3.Connection, statement_id: int, wordings: dict[tuple[str, int, str], tuple[int, str | None]]
) -> None:
    connection.executemany(
        "insert into wording (statement_id, kind, ordinal, language, text_id, author) values (?, ?, ?, ?, ?, ?)",
        [(statement_id, *key, text, author) for key, (text, author) in wordings.items()],
    )


def _add_templates(connection: sqlite3.Connection, instrument_id: int, templates: Iterable[Template]) -> None:
    connection.execute("delete from instrument_template where instrument_id = ?", (instrument_id,))
    for ordinal, template in enumerate(templates):
        connection.execute(
            "insert into instrument_template (instrument_id, template_id, ordinal) values (?, ?, ?) "
            "on conflict do nothing",
            (instrument_id, template_id(connection, template), ordinal),
        )


def _filter(search: str, issue: str, country: str) -> str:
    """Return the further conditions of a statement list; values are bound by name."""
    clauses = ""
    if search:
        clauses += (
            " and (s.ref like :search escape '\\' or s.topic like :search escape '\\' or exists ("
            "select 1 from wording v join text x on x.id = v.text_id "
            "where v.statement_id = s.id and x.body like :search escape '\\'))"
        )
    if issue:
        clauses += (
            " and exists (select 1 from newest_label n "
            "where n.statement_id = s.id and n.issue = :issue and n.label <> 0)"
        )
    if country:
        clauses += " and s.country = :country"
    return clauses


def _filter_values(name: str, search: str, issue: str, country: str, language: str) -> dict[str, object]:
    pattern = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return {"name": name, "search": pattern, "issue": issue, "country": country, "language": language}


_NEWEST_LABELS = """
    newest_label as (
        select l.statement_id, l.issue, l.label from issue_label l
        where l.revision = (
            select max(m.revision) from issue_label m
            where m.statement_id = l.statement_id and m.issue = l.issue and m.reader_id = l.reader_id
        )
    )
"""

_LINES = f"""
    with {_NEWEST_LABELS}
    select s.ref, s.country, s.topic, x.body, x.packed,
        (select count(*) from wording c where c.statement_id = s.id and c.language = w.language) as variants,
        (select count(distinct c.language) from wording c where c.statement_id = s.id) as languages,
        (select json_group_object(n.issue, n.label) from newest_label n where n.statement_id = s.id) as issues
    from instrument i
    join statement s on s.instrument_id = i.id and s.current = 1
    join wording w on w.id = coalesce(
        (select o.id from wording o where o.statement_id = s.id and o.kind = 'original'
            and o.language = coalesce(nullif(:language, ''), i.language)),
        (select min(o.id) from wording o where o.statement_id = s.id and o.kind = 'original')
    )
    join text x on x.id = w.text_id
    where i.name = :name
"""

_SUMMARIES = """
    select i.name, i.title, i.language,
        (select count(*) from statement s where s.instrument_id = i.id and s.current = 1) as statements,
        (select count(*) from statement s join wording w on w.statement_id = s.id
            where s.instrument_id = i.id and s.current = 1) as wordings,
        (select count(*) from instrument_template t where t.instrument_id = i.id) as templates,
        (select count(*) from party p where p.instrument_id = i.id) as parties,
        (select group_concat(distinct w.language) from statement s join wording w on w.statement_id = s.id
            where s.instrument_id = i.id and s.current = 1) as languages
    from instrument i order by i.id
"""

_WORDINGS = """
    select s.ref, s.country, s.topic, s.dimension, s.leaning, s.source, w.kind, w.ordinal, w.language, w.author,
        x.body, x.packed
    from statement s join wording w on w.statement_id = s.id join text x on x.id = w.text_id
    where s.instrument_id = :instrument and s.current = 1
    order by s.ordinal, w.id
"""
