"""People's own stances on wordings: the human upper bound, asked in shuffled order.

A session is one respondent's plan: wordings in an order. Its answers are appended as events; `survey_answer` has the
current answers, written in the same transaction, from which figures are computed. An answer belongs to the wording that
was shown, and to every version of the statement with this wording.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from stores.core.base import Aggregate, instrument_id_of, now
from stores.core.sqlite import table
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.names import person_name
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import ConflictError, UnknownName, UsageError

IDLE_MS = 300_000
"longer times on one wording count as absence, not as thinking"
Ask = tuple[str, VariantId]
"(ref, wording)"
SHOWN = 3
"most answers listed in a message"


@dataclass(frozen=True, slots=True)
class SurveySession:
    """One respondent's plan."""

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
    "None: the answers came from a file"
    asked: int
    "wordings in this person's sessions"
    answered: int
    "answers to any version of a statement"
    current: int
    "answers to current versions of statements, from which figures are computed"
    median_s: float | None
    "median seconds per answer, without times over five minutes; None if not measured"
    last_at: str


@dataclass(frozen=True, slots=True)
class AddedAnswers:
    """The result of an import of answers."""

    added: int
    changed: int
    known: int
    respondents: tuple[str, ...]


class Surveys(Aggregate):
    """The methods for the organiser of a survey; those for respondents are in `stores.annotation.respondent`."""

    def sessions(self, instrument: str, respondent: str | None = None) -> tuple[SurveySession, ...]:
        """Return the sessions on an instrument, the oldest first. Raises UnknownName for the instrument."""
        values = {"instrument": instrument_id_of(self.connection, instrument), "respondent": respondent}
        return tuple(
            SurveySession(rowid, instrument, who, language, seed, at)
            for rowid, who, language, seed, at in self.connection.execute(_SESSIONS, values)
        )

    def asked(self, instrument: str, respondent: str) -> frozenset[Ask]:
        """Return the wordings of current statements that this person answered or has in a session."""
        values = {"instrument": instrument_id_of(self.connection, instrument), "respondent": respondent}
        return frozenset(_ask(*row) for row in self.connection.execute(_ASKED, values))

    def check_name(self, instrument: str, respondent: str, language: str) -> None:
        """Raise UsageError if this person cannot answer in this language: see `begin`."""
        _check_name(self.connection, instrument_id_of(self.connection, instrument), respondent, language)

    def begin(
        self, instrument: str, respondent: str, language: str, seed: int, items: Sequence[Ask], *, after: int
    ) -> int:
        """Plan a session and return its rowid. `after`: the respondent's number of sessions when it was drawn.

        Raises UsageError if the name is taken by answers from a file, or by a session in another language, since
        answers are stored by wording, not by language. Raises ConflictError if a wording was removed, or another
        session was created for the respondent, in the meantime.
        """
        name = person_name(respondent, "respondent")
        if not items:
            raise UsageError("there is nothing to ask; import or write statements with variants first")
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            _check_name(connection, instrument_id, name, language)
            values = {"instrument": instrument_id, "respondent": name}
            sessions = len(connection.execute(_SESSIONS, values).fetchall())
            before = {_ask(*row) for row in connection.execute(_ASKED, values)}
            wordings = _wordings(connection, instrument_id, language)
            if sessions != after or before & set(items) or not wordings.keys() >= set(items):
                raise ConflictError(
                    f"the statements, or what {name} was asked, changed meanwhile; nothing was written. Begin again."
                )
            plan = {"instrument_id": instrument_id, "respondent": name, "language": language, "seed": seed}
            survey = table(connection, "survey").add({"uid": secrets.token_bytes(16), **plan, "created_at": now()})
            connection.executemany(
                "insert into survey_item (survey_id, position, wording_id) values (?, ?, ?)",
                [(survey, position, wordings[item]) for position, item in enumerate(items)],
            )
        return survey

    def respondents(self, instrument: str | None = None) -> tuple[RespondentLine, ...]:
        """Return the respondents and their answers, by instrument and name."""
        if instrument is not None:
            instrument_id_of(self.connection, instrument)
        values = {"instrument": instrument}
        times: dict[tuple[str, str], list[int]] = {}
        for name, who, elapsed in self.connection.execute(_TIMES, values | {"idle": IDLE_MS}):
            times.setdefault((name, who), []).append(elapsed)
        return tuple(
            RespondentLine(
                *(name, who, language, asked, answered, current),
                median(times[name, who]) / 1000 if (name, who) in times else None,
                last_at or "",
            )
            for name, who, language, asked, answered, current, last_at in self.connection.execute(_LINES, values)
        )

    def answers(self, instrument: str) -> tuple[SurveyAnswer, ...]:
        """Return the answers to current statements, from which figures are computed."""
        values = {"instrument": instrument_id_of(self.connection, instrument)}
        return tuple(
            SurveyAnswer(who, *_ask(ref, kind, ordinal), bool(agrees))
            for who, ref, kind, ordinal, agrees in self.connection.execute(_ANSWERS, values)
        )

    def add(self, instrument: str, answers: Iterable[SurveyAnswer]) -> AddedAnswers:
        """Add answers from a file in one transaction; adding them again changes nothing.

        Raises UnknownName for an unknown wording, and ConflictError if an answer differs from the same person's answer
        in a session here, which only that person may change. Nothing is written then.
        """
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            here = _places(connection, instrument_id)
            session = {
                row[0]
                for row in connection.execute("select respondent from survey where instrument_id = ?", (instrument_id,))
            }
            tally = {"added": 0, "changed": 0, "known": 0}
            wrong: list[str] = []
            people: dict[str, None] = {}
            for answer in answers:
                name = person_name(answer.respondent, "respondent")
                people[name] = None
                place = (answer.statement, answer.variant)
                if place not in here:
                    raise UnknownName(f"{instrument} has no wording {answer.variant} of {answer.statement!r}")
                outcome = _add(connection, here[place], name, answer)
                tally[outcome] += 1
                if outcome == "changed" and name in session:
                    wrong.append(f"{name}, {answer.statement} {answer.variant}")
            if wrong:
                more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
                raise ConflictError(
                    f"found other answers than these people gave here themselves: {'; '.join(wrong[:SHOWN])}{more}. "
                    "Nothing was imported; take these lines out, or give the people of the file other names"
                )
        return AddedAnswers(**tally, respondents=tuple(people))


def _ask(ref: str, kind: str, ordinal: int) -> Ask:
    return ref, VariantId(VariantKind(kind), ordinal)


def _check_name(connection: sqlite3.Connection, instrument_id: int, name: str, language: str) -> None:
    row = connection.execute(
        "select language from survey where instrument_id = ? and respondent = ? order by id desc limit 1",
        (instrument_id, name),
    ).fetchone()
    if row is not None and row[0] != language:
        raise UsageError(
            f"{name} answers this instrument in {row[0]!r}; an answer is kept by wording and not by language. "
            f"Answer in {language!r} under another name, such as {name}-{language}"
        )
    known = connection.execute(
        "select 1 from survey_answer a join statement s on s.id = a.statement_id "
        "where s.instrument_id = ? and a.respondent = ? limit 1",
        (instrument_id, name),
    ).fetchone()
    if row is None and known is not None:
        raise UsageError(f"the answers of a {name!r} came from a file; answer here under another name")


def _wordings(connection: sqlite3.Connection, instrument_id: int, language: str) -> dict[Ask, int]:
    rows = connection.execute(
        "select s.ref, w.kind, w.ordinal, w.id from wording w join statement s on s.id = w.statement_id "
        "where s.instrument_id = ? and s.current = 1 and w.language = ?",
        (instrument_id, language),
    )
    return {_ask(ref, kind, ordinal): rowid for ref, kind, ordinal, rowid in rows}


def _places(connection: sqlite3.Connection, instrument_id: int) -> dict[Ask, int]:
    """Return the rowid of the statement of each wording, in any language."""
    rows = connection.execute(
        "select distinct s.ref, w.kind, w.ordinal, s.id from wording w join statement s on s.id = w.statement_id "
        "where s.instrument_id = ? and s.current = 1",
        (instrument_id,),
    )
    return {_ask(ref, kind, ordinal): rowid for ref, kind, ordinal, rowid in rows}


def _add(connection: sqlite3.Connection, statement_id: int, name: str, answer: SurveyAnswer) -> str:
    """Write an answer and return whether it was added, changed or already stored."""
    key = (statement_id, name, answer.variant.kind.value, answer.variant.ordinal)
    held = connection.execute(
        "select agrees from survey_answer where statement_id = ? and respondent = ? and kind = ? and ordinal = ?", key
    ).fetchone()
    if held is not None and bool(held[0]) == answer.agrees:
        return "known"
    connection.execute(
        "insert into survey_answer (statement_id, respondent, kind, ordinal, agrees) values (?, ?, ?, ?, ?) "
        "on conflict do update set agrees = excluded.agrees",
        (*key, answer.agrees),
    )
    return "added" if held is None else "changed"


_SESSIONS = """
    select id, respondent, language, seed, created_at from survey
    where instrument_id = :instrument and (:respondent is null or respondent = :respondent) order by id
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
    select n.name, v.respondent, e.elapsed_ms from survey_event e join survey v on v.id = e.survey_id
    join instrument n on n.id = v.instrument_id
    where e.agrees is not null and e.elapsed_ms <= :idle and (:instrument is null or n.name = :instrument)
"""

_LINES = """
    with answer as (
        select s.instrument_id, a.respondent, a.kind, a.ordinal, s.ref, max(s.current) as current
        from survey_answer a join statement s on s.id = a.statement_id
        group by s.instrument_id, a.respondent, s.ref, a.kind, a.ordinal
    ), who as (
        select instrument_id, respondent from answer union select instrument_id, respondent from survey
    )
    select n.name, p.respondent,
        (select v.language from survey v where v.instrument_id = p.instrument_id and v.respondent = p.respondent
            order by v.id desc limit 1),
        (select count(*) from survey v join survey_item i on i.survey_id = v.id
            where v.instrument_id = p.instrument_id and v.respondent = p.respondent),
        (select count(*) from answer a where a.instrument_id = p.instrument_id and a.respondent = p.respondent),
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
