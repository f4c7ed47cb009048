"""People's labels of statements and answers to them.

A changed label is a revision, and nothing is overwritten.

In a survey people give their own stances on wordings: the human upper bound, asked in shuffled
order. A session is one respondent's plan: wordings in an order. Its answers are appended as events.
`survey_answer` has the current answers, written in the same transaction, from which figures are
computed. An answer belongs to the wording that was shown, and to every version of the statement
with this wording.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median

from stores.annotation.person_steps import IDLE_MS
from stores.core.base import Aggregate, execute_named, instrument_id_of, now, now_after, table
from stores.core.identity import uid_of
from workbench.domain.annotations import Described, FieldEvent, field_name, field_value, pseudonym
from workbench.domain.instruments import (
    ADJUDICATION,
    GOLD,
    Instrument,
    IssueLabel,
    Party,
    PartyAnswer,
    SurveyAnswer,
)
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderKind
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import ConflictError, UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class People:
    """People's labels and answers for one instrument."""

    issue_labels: tuple[IssueLabel, ...]
    parties: tuple[Party, ...]
    party_answers: tuple[PartyAnswer, ...]
    survey: tuple[SurveyAnswer, ...]


def people_of(
    connection: sqlite3.Connection, instrument_id: int, scope: str | None = None
) -> People:
    """Return people's labels and answers for the current statements of an instrument.

    With `scope`, a JSON list of rowids, they are for these versions.
    """
    values = {"instrument": instrument_id, "scope": scope}
    execute = connection.execute
    labels = issue_labels_of(connection, instrument_id, scope)
    parties = tuple(
        Party(*row)
        for row in execute(
            "select country, name, position from party where instrument_id = :instrument order "
            "by id",
            values,
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
    """Return the newest label of each annotator, without withdrawn ones.

    Adjudications have a name of their own.
    """
    rows = connection.execute(
        _ISSUE_LABELS,
        {
            "instrument": instrument_id,
            "scope": scope,
            "adjudicated": ReaderKind.ADJUDICATION,
            "decided": ADJUDICATION,
        },
    )
    label_by_key: dict[tuple[str, str, str], IssueLabel] = {}
    for ref, issue, annotator, label in rows:  # of two adjudications, the later one comes last
        label_by_key[ref, issue, annotator] = IssueLabel(ref, issue, annotator, label)
    return tuple(label_by_key.values())


def reader_id(connection: sqlite3.Connection, kind: ReaderKind, name: str, version: str) -> int:
    """Return the rowid of a reader, inserting a new one. Call inside a transaction."""
    identity = {"kind": kind.value, "name": name, "version": version}
    return int(table(connection, "reader").lookup(identity, {"created_at": now()}))


def sync_people(
    connection: sqlite3.Connection,
    instrument_id: int,
    instrument: Instrument,
    statements: dict[str, int],
) -> int:
    """Store labels and answers. Returns the number of those on unknown statements."""
    party_answers = [
        answer for answer in instrument.party_answers if answer.statement in statements
    ]
    survey = [answer for answer in instrument.survey if answer.statement in statements]
    n_skipped = _add_issue_labels(connection, instrument.issue_labels, statements)
    n_skipped += len(instrument.party_answers) - len(party_answers)
    n_skipped += len(instrument.survey) - len(survey)
    _write_parties(connection, instrument_id, instrument.parties)
    _write_party_answers(connection, instrument_id, party_answers, statements)
    _write_survey(connection, instrument_id, survey, statements)
    return n_skipped


def _write_parties(
    connection: sqlite3.Connection, instrument_id: int, parties: Iterable[Party]
) -> None:
    table(connection, "party").upsert_all(
        ({"instrument_id": instrument_id, **asdict(party)} for party in parties),
        pk=("instrument_id", "country", "name"),
    )


def _write_party_answers(
    connection: sqlite3.Connection,
    instrument_id: int,
    answers: Iterable[PartyAnswer],
    statements: Mapping[str, int],
) -> None:
    """Write the answers of stored parties. `statements` are rowids, by ref."""
    parties = {
        (country, name): rowid
        for rowid, country, name in connection.execute(
            "select id, country, name from party where instrument_id = ?", (instrument_id,)
        )
    }
    connection.executemany(
        "insert into party_answer (party_id, statement_id, answer, stance) values (?, ?, ?, ?) "
        "on conflict (party_id, statement_id) do update set answer = excluded.answer, stance = "
        "excluded.stance",
        [
            (
                parties[answer.country, answer.party],
                statements[answer.statement],
                answer.answer,
                answer.stance,
            )
            for answer in answers
        ],
    )


def _write_survey(
    connection: sqlite3.Connection,
    instrument_id: int,
    answers: Iterable[SurveyAnswer],
    statements: Mapping[str, int],
) -> None:
    """Write the answers of people. Only the person may change answers that were given here."""
    session_respondents = {
        name
        for (name,) in connection.execute(
            "select respondent from survey where instrument_id = ?", (instrument_id,)
        )
    }
    connection.executemany(
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) values (?, "
        "?, ?, ?, ?) on conflict do update set agrees = excluded.agrees",
        [
            (
                statements[answer.statement],
                answer.respondent,
                answer.variant.kind.value,
                answer.variant.ordinal,
                answer.agrees,
            )
            for answer in answers
            if answer.respondent not in session_respondents
        ],
    )


def _add_issue_labels(
    connection: sqlite3.Connection, labels: Iterable[IssueLabel], statements: dict[str, int]
) -> int:
    """Append a revision for each label that differs from the newest one of its annotator.

    Labels that the same person gave here, or that were adjudicated here, are kept. Returns the
    number of labels on unknown statements.
    """
    n_skipped = 0
    readers: dict[str, int] = {}
    for label in labels:
        if label.statement not in statements:
            n_skipped += 1
            continue
        if label.annotator not in readers:
            readers[label.annotator] = reader_id(connection, ReaderKind.IMPORT, label.annotator, "")
        key = (statements[label.statement], label.issue, readers[label.annotator])
        if connection.execute(
            _DECIDED_HERE, (*key[:2], label.annotator, label.annotator)
        ).fetchone():
            continue
        newest = connection.execute(
            "select revision, label from issue_label where statement_id = ? and issue = ? and "
            "reader_id = ? order by revision desc limit 1",
            key,
        ).fetchone()
        if newest is None or newest[1] != label.label:
            connection.execute(
                "insert into issue_label (statement_id, issue, reader_id, revision, label, at) "
                "values (?, ?, ?, ?, ?, ?)",
                (*key, newest[0] + 1 if newest else 1, label.label, now()),
            )
    return n_skipped


_DECIDED_HERE = f"""
    select 1 from issue_label l join reader r on r.id = l.reader_id
    where l.statement_id = ? and l.issue = ?
        and ((r.kind = 'person' and r.name = ?) or (r.kind = 'adjudication'
            and ? = '{ADJUDICATION}'))
"""

_MEANT = "(s.current = 1 and :scope is null or s.id in (select value from json_each(:scope)))"

_ISSUE_LABELS = f"""
    select s.ref, l.issue, case when r.kind = :adjudicated then :decided else r.name end
        as annotator, l.label
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
    from party_answer a join party p on p.id = a.party_id join statement s on s.id = a.statement_id
        and {_MEANT}
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
        fields_by_person: dict[str, dict[str, str]] = {}
        for event in self.events():
            person_fields = fields_by_person.setdefault(event.person, {})
            person_fields.pop(event.field, None)
            if event.value is not None:
                person_fields[event.field] = event.value
        roles_by_person: dict[str, dict[str, None]] = {}
        for role, name in self.connection.execute(
            _ROLES, {"gold": GOLD, "adjudication": ADJUDICATION}
        ):
            roles_by_person.setdefault(str(name), {})[str(role)] = None
        names = sorted(
            {
                *roles_by_person,
                *(name for name, person_fields in fields_by_person.items() if person_fields),
            }
        )
        uid = uid_of(self.connection)
        return tuple(
            Described(
                name,
                tuple(roles_by_person.get(name, ())),
                fields_by_person.get(name, {}),
                pseudonym(name, uid),
            )
            for name in names
        )

    def describe(self, person: str, values: Mapping[str, str], *, recorded_by: str) -> Described:
        """Set fields of a person. An empty value clears a field.

        Unchanged values are not stored again. Raises UnknownName for a person who neither annotated
        nor answered here, and UsageError for an unknown field.
        """
        name, author = person_name(person, "person"), person_name(recorded_by, "person")
        cleaned = {field_name(key): field_value(key, value) for key, value in values.items()}
        if len(cleaned) < len(values):
            raise UsageError("found a field twice; give each once")
        with self.store.write() as connection:
            person_by_name = {described.name: described for described in self.list()}
            if name not in person_by_name:
                available = ", ".join(person_by_name) or "nobody"
                raise UnknownName(
                    f"{name!r} neither annotated nor answered here. Available: {available}"
                )
            last = max((event.at for event in _events(connection)), default=None)
            time = now_after(last)
            fields = dict(person_by_name[name].fields)
            _insert(
                connection,
                [
                    FieldEvent(secrets.token_bytes(16), name, key, value, author, time)
                    for key, value in cleaned.items()
                    if fields.get(key) != value
                ],
            )
        remaining = {key: value for key, value in (fields | cleaned).items() if value is not None}
        return replace(person_by_name[name], fields=remaining)

    def events(self) -> tuple[FieldEvent, ...]:
        """Return all events, the oldest first."""
        return _events(self.connection)

    def merge(self, events: Iterable[FieldEvent]) -> int:
        """Add events of another store, with their own times. Returns the number of new ones."""
        with self.store.write() as connection:
            return _insert(connection, events)


def _events(connection: sqlite3.Connection) -> tuple[FieldEvent, ...]:
    rows = execute_named(
        connection,
        "select uid, person, field, value, said_by, at from person_field order by at, uid",
    )
    return tuple(FieldEvent(*row) for row in rows)


def _insert(connection: sqlite3.Connection, events: Iterable[FieldEvent]) -> int:
    return connection.executemany(
        "insert into person_field (uid, person, field, value, said_by, at) values (?, ?, ?, ?, ?, "
        "?) on conflict (uid) do nothing",
        [
            (event.uid, event.person, event.field, event.value, event.by, event.at)
            for event in events
        ],
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


Ask = tuple[str, VariantId]
"(ref, wording)"
SHOWN = 3
"the largest number of answers that a message lists"


@dataclass(frozen=True, slots=True)
class SurveySession:
    """One respondent's plan of a survey."""

    id: int
    instrument: str
    respondent: str
    language: str
    seed: int
    created_at: str


@dataclass(frozen=True, slots=True)
class RespondentLine:
    """The answers of one person to one instrument."""

    instrument: str
    respondent: str
    language: str | None
    "None if the answers came from a file"
    asked: int
    "number of wordings in this person's sessions"
    answered: int
    "number of answers to any version of a statement"
    current: int
    "number of answers to current versions of statements, from which figures are computed"
    median_s: float | None
    "median seconds per answer, without times over five minutes, or None if not measured"
    last_at: str


@dataclass(frozen=True, slots=True)
class AddedAnswers:
    """The result of an import of answers."""

    added: int
    changed: int
    known: int
    respondents: tuple[str, ...]


class Surveys(Aggregate):
    """The methods for the organiser of a survey.

    Those for respondents are in `stores.annotation.respondent`.
    """

    def sessions(self, instrument: str, respondent: str | None = None) -> tuple[SurveySession, ...]:
        """Return the sessions on an instrument, the oldest first.

        Raises UnknownName if there is no such instrument.
        """
        values = {
            "instrument": instrument_id_of(self.connection, instrument),
            "respondent": respondent,
        }
        return tuple(
            SurveySession(rowid, instrument, person, language, seed, created_at)
            for rowid, person, language, seed, created_at in self.connection.execute(
                _SESSIONS, values
            )
        )

    def asked(self, instrument: str, respondent: str) -> frozenset[Ask]:
        """Return the wordings of current statements that a person answered or has in a session."""
        values = {
            "instrument": instrument_id_of(self.connection, instrument),
            "respondent": respondent,
        }
        return frozenset(_ask(*row) for row in self.connection.execute(_ASKED, values))

    def check_name(self, instrument: str, respondent: str, language: str) -> None:
        """Raise UsageError if this person cannot answer in this language (see `begin`)."""
        _check_name(
            self.connection, instrument_id_of(self.connection, instrument), respondent, language
        )

    def begin(
        self,
        instrument: str,
        respondent: str,
        language: str,
        seed: int,
        items: Sequence[Ask],
        *,
        after: int,
    ) -> int:
        """Plan a session and return its rowid.

        `after` is the respondent's number of sessions when it was drawn.

        Raises UsageError if the name is taken by answers from a file, or by a session in another
        language, since answers are stored by wording, not by language. Raises ConflictError if a
        wording was removed, or another session was created for the respondent, in the meantime.
        """
        name = person_name(respondent, "respondent")
        if not items:
            raise UsageError(
                "there is nothing to ask; import or write statements with variants first"
            )
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            _check_name(connection, instrument_id, name, language)
            values = {"instrument": instrument_id, "respondent": name}
            n_sessions = len(connection.execute(_SESSIONS, values).fetchall())
            asked_wordings = {_ask(*row) for row in connection.execute(_ASKED, values)}
            wordings = _wordings(connection, instrument_id, language)
            if (
                n_sessions != after
                or asked_wordings & set(items)
                or not wordings.keys() >= set(items)
            ):
                raise ConflictError(
                    f"the statements, or what {name} was asked, changed meanwhile; nothing was "
                    "written. Begin again."
                )
            plan = {
                "instrument_id": instrument_id,
                "respondent": name,
                "language": language,
                "seed": seed,
            }
            survey_id = table(connection, "survey").add(
                {"uid": secrets.token_bytes(16), **plan, "created_at": now()}
            )
            connection.executemany(
                "insert into survey_item (survey_id, position, wording_id) values (?, ?, ?)",
                [(survey_id, position, wordings[item]) for position, item in enumerate(items)],
            )
        return survey_id

    def respondents(self, instrument: str | None = None) -> tuple[RespondentLine, ...]:
        """Return the respondents and their answers, by instrument and name."""
        if instrument is not None:
            instrument_id_of(self.connection, instrument)
        values = {"instrument": instrument}
        times: dict[tuple[str, str], list[int]] = {}
        for name, person, elapsed_ms in self.connection.execute(_TIMES, values | {"idle": IDLE_MS}):
            times.setdefault((name, person), []).append(elapsed_ms)
        return tuple(
            RespondentLine(
                *(name, person, language, asked, answered, current),
                median(times[name, person]) / 1000 if (name, person) in times else None,
                latest or "",
            )
            for name, person, language, asked, answered, current, latest in self.connection.execute(
                _LINES, values
            )
        )

    def answers(self, instrument: str) -> tuple[SurveyAnswer, ...]:
        """Return the answers to current statements, from which figures are computed."""
        values = {"instrument": instrument_id_of(self.connection, instrument)}
        return tuple(
            SurveyAnswer(person, *_ask(ref, kind, ordinal), bool(agrees))
            for person, ref, kind, ordinal, agrees in self.connection.execute(_ANSWERS, values)
        )

    def add(self, instrument: str, answers: Iterable[SurveyAnswer]) -> AddedAnswers:
        """Add answers from a file in one transaction. Adding them again changes nothing.

        Raises UnknownName for an unknown wording. Raises ConflictError if an answer differs from
        the same person's answer in a session here, which only that person may change. Nothing is
        written then.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            statement_ids = _places(connection, instrument_id)
            session_respondents = {
                row[0]
                for row in connection.execute(
                    "select respondent from survey where instrument_id = ?", (instrument_id,)
                )
            }
            tally = {"added": 0, "changed": 0, "known": 0}
            conflicts: list[str] = []
            people: dict[str, None] = {}
            for answer in answers:
                name = person_name(answer.respondent, "respondent")
                people[name] = None
                wording = (answer.statement, answer.variant)
                if wording not in statement_ids:
                    raise UnknownName(
                        f"{instrument} has no wording {answer.variant} of {answer.statement!r}"
                    )
                outcome = _add(connection, statement_ids[wording], name, answer)
                tally[outcome] += 1
                if outcome == "changed" and name in session_respondents:
                    conflicts.append(f"{name}, {answer.statement} {answer.variant}")
            if conflicts:
                remainder = f" and {len(conflicts) - SHOWN} more" if len(conflicts) > SHOWN else ""
                raise ConflictError(
                    "found other answers than these people gave here themselves: "
                    f"{'; '.join(conflicts[:SHOWN])}{remainder}. Nothing was imported; take these "
                    "lines out, or give the people of the file other names"
                )
        return AddedAnswers(**tally, respondents=tuple(people))


def _ask(ref: str, kind: str, ordinal: int) -> Ask:
    return ref, VariantId(VariantKind(kind), ordinal)


def _check_name(
    connection: sqlite3.Connection, instrument_id: int, name: str, language: str
) -> None:
    row = connection.execute(
        "select language from survey where instrument_id = ? and respondent = ? order by id desc "
        "limit 1",
        (instrument_id, name),
    ).fetchone()
    if row is not None and row[0] != language:
        raise UsageError(
            f"{name} answers this instrument in {row[0]!r}; an answer is kept by wording and not "
            f"by language. Answer in {language!r} under another name, such as {name}-{language}"
        )
    imported_answer = connection.execute(
        "select 1 from survey_answer a join statement s on s.id = a.statement_id "
        "where s.instrument_id = ? and a.respondent = ? limit 1",
        (instrument_id, name),
    ).fetchone()
    if row is None and imported_answer is not None:
        raise UsageError(
            f"the answers of a {name!r} came from a file; answer here under another name"
        )


def _wordings(connection: sqlite3.Connection, instrument_id: int, language: str) -> dict[Ask, int]:
    rows = connection.execute(
        "select s.ref, w.kind, w.ordinal, w.id from wording w join statement s on s.id = "
        "w.statement_id where s.instrument_id = ? and s.current = 1 and w.language = ?",
        (instrument_id, language),
    )
    return {_ask(ref, kind, ordinal): rowid for ref, kind, ordinal, rowid in rows}


def _places(connection: sqlite3.Connection, instrument_id: int) -> dict[Ask, int]:
    """Return the rowid of the statement of each wording, in any language."""
    rows = connection.execute(
        "select distinct s.ref, w.kind, w.ordinal, s.id from wording w join statement s on s.id = "
        "w.statement_id where s.instrument_id = ? and s.current = 1",
        (instrument_id,),
    )
    return {_ask(ref, kind, ordinal): rowid for ref, kind, ordinal, rowid in rows}


def _add(connection: sqlite3.Connection, statement_id: int, name: str, answer: SurveyAnswer) -> str:
    """Write an answer and return whether it was added, changed or already stored."""
    key = (statement_id, name, answer.variant.kind.value, answer.variant.ordinal)
    stored_row = connection.execute(
        "select agrees from survey_answer where statement_id = ? and respondent = ? and kind = ? "
        "and ordinal = ?",
        key,
    ).fetchone()
    if stored_row is not None and bool(stored_row[0]) == answer.agrees:
        return "known"
    connection.execute(
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) values (?, "
        "?, ?, ?, ?) on conflict do update set agrees = excluded.agrees",
        (*key, answer.agrees),
    )
    return "added" if stored_row is None else "changed"


_SESSIONS = """
    select id, respondent, language, seed, created_at from survey
    where instrument_id = :instrument and (:respondent is null or respondent = :respondent)
        order by id
"""

_ASKED = """
    select s.ref, a.kind, a.ordinal from survey_answer a join statement s on s.id = a.statement_id
    where s.instrument_id = :instrument and s.current = 1 and a.respondent = :respondent
    union
    select s.ref, w.kind, w.ordinal
    from survey v join survey_item i on i.survey_id = v.id join wording w on w.id = i.wording_id
    join statement s on s.id = w.statement_id
    where v.instrument_id = :instrument and v.respondent = :respondent and s.current = 1
"""

_TIMES = """
    select n.name, v.respondent, e.elapsed_ms from survey_event e join survey v
        on v.id = e.survey_id
    join instrument n on n.id = v.instrument_id
    where e.agrees is not null and e.elapsed_ms <= :idle and (:instrument is null
        or n.name = :instrument)
"""

_LINES = """
    with answer as (
        select s.instrument_id, a.respondent, a.kind, a.ordinal, s.ref, max(s.current) as current
        from survey_answer a join statement s on s.id = a.statement_id
        group by s.instrument_id, a.respondent, s.ref, a.kind, a.ordinal
    ), who as (
        select instrument_id, respondent from answer union select instrument_id, respondent
            from survey
    )
    select n.name, p.respondent,
        (select v.language from survey v where v.instrument_id = p.instrument_id
            and v.respondent = p.respondent
            order by v.id desc limit 1),
        (select count(*) from survey v join survey_item i on i.survey_id = v.id
            where v.instrument_id = p.instrument_id and v.respondent = p.respondent),
        (select count(*) from answer a where a.instrument_id = p.instrument_id
            and a.respondent = p.respondent),
        (select coalesce(sum(a.current), 0) from answer a
            where a.instrument_id = p.instrument_id and a.respondent = p.respondent),
        (select max(e.at) from survey_event e join survey v on v.id = e.survey_id
            where v.instrument_id = p.instrument_id and v.respondent = p.respondent)
    from who p join instrument n on n.id = p.instrument_id
    where :instrument is null or n.name = :instrument
    order by n.id, p.respondent
"""

_ANSWERS = """
    select a.respondent, s.ref, a.kind, a.ordinal, a.agrees
    from survey_answer a join statement s on s.id = a.statement_id and s.current = 1
    where s.instrument_id = :instrument order by a.respondent, s.ordinal, a.kind, a.ordinal
"""
