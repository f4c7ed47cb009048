"""People's labels of and answers to statements. A changed label is a revision; nothing is overwritten."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from stores.core.base import Aggregate, named, now, now_after
from stores.core.identity import uid_of
from stores.core.sqlite import table
from workbench.domain.instruments import Instrument, IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.issue_gold import ADJUDICATION, GOLD
from workbench.domain.names import person_name
from workbench.domain.people import Described, FieldEvent, field_name, field_value, pseudonym
from workbench.domain.readings import ReaderKind
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class People:
    """Labels and answers on one instrument."""

    issue_labels: tuple[IssueLabel, ...]
    parties: tuple[Party, ...]
    party_answers: tuple[PartyAnswer, ...]
    survey: tuple[SurveyAnswer, ...]


def people_of(connection: sqlite3.Connection, instrument_id: int, scope: str | None = None) -> People:
    """Return people's labels of and answers to the current statements of an instrument, or the versions in `scope`, a
    JSON list of rowids.
    """
    values = {"instrument": instrument_id, "scope": scope}
    execute = connection.execute
    labels = issue_labels_of(connection, instrument_id, scope)
    parties = tuple(
        Party(*row)
        for row in execute(
            "select country, name, position from party where instrument_id = :instrument order by id", values
        )
    )
    answers = tuple(PartyAnswer(*row) for row in execute(_PARTY_ANSWERS, values))
    survey = tuple(
        SurveyAnswer(respondent, ref, VariantId(VariantKind(kind), ordinal), bool(agrees))
        for respondent, ref, kind, ordinal, agrees in execute(_SURVEY, values)
    )
    return People(labels, parties, answers, survey)


def issue_labels_of(
    connection: sqlite3.Connection, instrument_id: int, scope: str | None = None
) -> tuple[IssueLabel, ...]:
    """Return the newest label of each annotator, without withdrawn ones; adjudications have their own name."""
    rows = connection.execute(
        _ISSUE_LABELS,
        {
            "instrument": instrument_id,
            "scope": scope,
            "adjudicated": ReaderKind.ADJUDICATION,
            "decided": ADJUDICATION,
        },
    )
    found: dict[tuple[str, str, str], IssueLabel] = {}
    for ref, issue, annotator, label in rows:  # of two adjudications, the later one comes last
        found[ref, issue, annotator] = IssueLabel(ref, issue, annotator, label)
    return tuple(found.values())


def reader_id(connection: sqlite3.Connection, kind: ReaderKind, name: str, version: str) -> int:
    """Return the rowid of a reader, inserting a new one. Call inside a transaction."""
    known = {"kind": kind.value, "name": name, "version": version}
    return int(table(connection, "reader").lookup(known, {"created_at": now()}))


def sync_people(
    connection: sqlite3.Connection, instrument_id: int, instrument: Instrument, statements: dict[str, int]
) -> int:
    """Store labels and answers; return how many were on unknown statements."""
    skipped = _add_issue_labels(connection, instrument.issue_labels, statements)
    table(connection, "party").upsert_all(
        ({"instrument_id": instrument_id, **asdict(party)} for party in instrument.parties),
        pk=("instrument_id", "country", "name"),
    )
    parties = {
        (country, name): rowid
        for rowid, country, name in connection.execute(
            "select id, country, name from party where instrument_id = ?", (instrument_id,)
        )
    }
    answers = [a for a in instrument.party_answers if a.statement in statements]
    connection.executemany(
        "insert into party_answer (party_id, statement_id, answer, stance) values (?, ?, ?, ?) "
        "on conflict (party_id, statement_id) do update set answer = excluded.answer, stance = excluded.stance",
        [(parties[a.country, a.party], statements[a.statement], a.answer, a.stance) for a in answers],
    )
    session = {
        name
        for (name,) in connection.execute("select respondent from survey where instrument_id = ?", (instrument_id,))
    }
    survey = [a for a in instrument.survey if a.statement in statements]
    connection.executemany(
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) values (?, ?, ?, ?, ?) "
        "on conflict do update set agrees = excluded.agrees",
        [
            (statements[a.statement], a.respondent, a.variant.kind.value, a.variant.ordinal, a.agrees)
            for a in survey
            if a.respondent not in session  # only the person may change answers given here
        ],
    )
    return skipped + len(instrument.party_answers) - len(answers) + len(instrument.survey) - len(survey)


def _add_issue_labels(connection: sqlite3.Connection, labels: Iterable[IssueLabel], statements: dict[str, int]) -> int:
    """Append a revision for each label that differs from the newest one of its annotator.

    Labels that the same person gave here, or that were adjudicated here, are kept.
    """
    skipped = 0
    readers: dict[str, int] = {}
    for label in labels:
        if label.statement not in statements:
            skipped += 1
            continue
        if label.annotator not in readers:
            readers[label.annotator] = reader_id(connection, ReaderKind.IMPORT, label.annotator, "")
        key = (statements[label.statement], label.issue, readers[label.annotator])
        if connection.execute(_DECIDED_HERE, (*key[:2], label.annotator, label.annotator)).fetchone():
            continue
        newest = connection.execute(
            "select revision, label from issue_label where statement_id = ? and issue = ? and reader_id = ? "
            "order by revision desc limit 1",
            key,
        ).fetchone()
        if newest is None or newest[1] != label.label:
            connection.execute(
                "insert into issue_label (statement_id, issue, reader_id, revision, label, at) "
                "values (?, ?, ?, ?, ?, ?)",
                (*key, newest[0] + 1 if newest else 1, label.label, now()),
            )
    return skipped


_DECIDED_HERE = f"""
    select 1 from issue_label l join reader r on r.id = l.reader_id
    where l.statement_id = ? and l.issue = ?
        and ((r.kind = 'person' and r.name = ?) or (r.kind = 'adjudication' and ? = '{ADJUDICATION}'))
"""

_MEANT = "(s.current = 1 and :scope is null or s.id in (select value from json_each(:scope)))"

_ISSUE_LABELS = f"""
    select s.ref, l.issue, case when r.kind = :adjudicated then :decided else r.name end as annotator, l.label
    from issue_label l
    join statement s on s.id = l.statement_id and {_MEANT}
    join reader r on r.id = l.reader_id
    where s.instrument_id = :instrument and l.label is not null and l.revision = (
        select max(m.revision) from issue_label m
        where m.statement_id = l.statement_id and m.issue = l.issue and m.reader_id = l.reader_id
    )
    order by s.ordinal, l.issue, annotator, l.at
"""

_PARTY_ANSWERS = f"""
    select p.country, p.name, s.ref, a.answer, a.stance
    from party_answer a join party p on p.id = a.party_id join statement s on s.id = a.statement_id and {_MEANT}
    where p.instrument_id = :instrument order by p.id, s.ordinal
"""

_SURVEY = f"""
    select a.respondent, s.ref, a.kind, a.ordinal, a.agrees
    from survey_answer a join statement s on s.id = a.statement_id and {_MEANT}
    where s.instrument_id = :instrument order by a.respondent, s.ordinal, a.kind, a.ordinal
"""


ANNOTATOR, RESPONDENT = "annotator", "respondent"


class DescribedPeople(Aggregate):
    """The methods on fields of people."""

    def list(self) -> tuple[Described, ...]:
        """Return everybody who annotated or answered, or has a description, by name."""
        fields: dict[str, dict[str, str]] = {}
        for event in self.events():
            known = fields.setdefault(event.person, {})
            known.pop(event.field, None)
            if event.value is not None:
                known[event.field] = event.value
        roles: dict[str, dict[str, None]] = {}
        for role, name in self.connection.execute(_ROLES, {"gold": GOLD, "adjudication": ADJUDICATION}):
            roles.setdefault(str(name), {})[str(role)] = None
        names = sorted({*roles, *(name for name, known in fields.items() if known)})
        uid = uid_of(self.connection)
        return tuple(
            Described(name, tuple(roles.get(name, ())), fields.get(name, {}), pseudonym(name, uid)) for name in names
        )

    def describe(self, person: str, values: Mapping[str, str], *, by: str) -> Described:
        """Set fields of a person; an empty value clears a field. Unchanged values are not stored again.

        Raises UnknownName for a person who neither annotated nor answered here, UsageError for an unknown field.
        """
        name, author = person_name(person, "person"), person_name(by, "person")
        cleaned = {field_name(key): field_value(key, value) for key, value in values.items()}
        if len(cleaned) < len(values):
            raise UsageError("found a field twice; give each once")
        with self.store.write() as connection:
            known = {one.name: one for one in self.list()}
            if name not in known:
                there = ", ".join(known) or "nobody"
                raise UnknownName(f"{name!r} neither annotated nor answered here. Available: {there}")
            last = max((event.at for event in _events(connection)), default=None)
            at = now_after(last)
            fields = dict(known[name].fields)
            _insert(
                connection,
                [
                    FieldEvent(secrets.token_bytes(16), name, key, value, author, at)
                    for key, value in cleaned.items()
                    if fields.get(key) != value
                ],
            )
        left = {key: value for key, value in (fields | cleaned).items() if value is not None}
        return replace(known[name], fields=left)

    def events(self) -> tuple[FieldEvent, ...]:
        """Return all events, the oldest first."""
        return _events(self.connection)

    def merge(self, events: Iterable[FieldEvent]) -> int:
        """Add events of another store, with their own times; return how many were new."""
        with self.store.write() as connection:
            return _insert(connection, events)


def _events(connection: sqlite3.Connection) -> tuple[FieldEvent, ...]:
    rows = named(connection, "select uid, person, field, value, said_by, at from person_field order by at, uid")
    return tuple(FieldEvent(*row) for row in rows)


def _insert(connection: sqlite3.Connection, events: Iterable[FieldEvent]) -> int:
    return connection.executemany(
        "insert into person_field (uid, person, field, value, said_by, at) values (?, ?, ?, ?, ?, ?) "
        "on conflict (uid) do nothing",
        [(one.uid, one.person, one.field, one.value, one.by, one.at) for one in events],
    ).rowcount


_ROLES = f"""
    select '{ANNOTATOR}', r.name from reader r
    where r.name not in (:gold, :adjudication) and r.kind in ('person', 'import') and (
        exists (select 1 from issue_label l where l.reader_id = r.id)
        or exists (select 1 from reading b where b.reader_id = r.id)
    )
    union
    select '{RESPONDENT}', respondent from survey_answer
    union
    select '{RESPONDENT}', respondent from survey
    order by 1, 2
"""
