"""Rows of questionnaires ↔ values: the newest revisions of questions and scales, and the answers of people."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from stores.core.base import now
from workbench.domain.questionnaires import (
    Form,
    Meaning,
    Option,
    Pole,
    Question,
    Respondent,
    Role,
    Scale,
)


@dataclass(frozen=True, slots=True)
class QuestionRevision:
    """A revision of a question."""

    ref: str
    revision: int
    role: Role | None
    "None: it was removed from the questionnaire"
    form: Form
    scale: str
    leaning: Pole | None
    person: str
    at: str

    @property
    def question(self) -> Question | None:
        """The question of this revision; None if it was removed."""
        return None if self.role is None else Question(self.ref, self.role, self.form, self.scale, self.leaning)


@dataclass(frozen=True, slots=True)
class ScaleRevision:
    """A revision of a scale."""

    scale: Scale
    revision: int
    person: str
    at: str


def read_questions(connection: sqlite3.Connection, instrument_id: int) -> dict[int, Question]:
    """Return the questions of an instrument's current statements by rowid, in the order of the statements."""
    rows = connection.execute(_QUESTIONS, {"instrument": instrument_id})
    return {
        rowid: Question(ref, Role(role), Form(form), scale, Pole(leaning) if leaning else None)
        for rowid, ref, role, form, scale, leaning in rows
    }


def read_scales(connection: sqlite3.Connection, instrument_id: int) -> dict[str, Scale]:
    """Return the current scales of an instrument, sorted by name."""
    rows = connection.execute(_SCALES, {"instrument": instrument_id})
    return {name: _scale(name, options) for name, options in rows}


def read_respondents(
    connection: sqlite3.Connection, instrument_id: int, questions: Mapping[int, Question]
) -> tuple[Respondent, ...]:
    """Return the people who answered any of these questions, in the order of import."""
    refs = {str(rowid): question.ref for rowid, question in questions.items()}
    texts: dict[str, str] = {}
    found = []
    for name, given in connection.execute(_ANSWERS, {"instrument": instrument_id}):
        answers = {
            refs[question]: texts.setdefault(value, value)  # a million answers have only a few distinct texts
            for question, value in json.loads(given).items()
            if question in refs
        }
        if answers:
            found.append(Respondent(name, answers))
    return tuple(found)


def who_says_yes_or_no(connection: sqlite3.Connection, instrument: str, ref: str) -> frozenset[str]:
    """Return the people whose answer to a question currently means yes or no; empty if it is no longer a question."""
    row = connection.execute("select id from instrument where name = ?", (instrument,)).fetchone()
    questions = {} if row is None else read_questions(connection, row[0])
    rowid = next((rowid for rowid, question in questions.items() if question.ref == ref), None)
    if row is None or rowid is None:
        return frozenset()
    scale = read_scales(connection, row[0])[questions[rowid].scale]
    said = connection.execute(
        "select r.name, a.value from answer a join respondent r on r.id = a.respondent_id where a.question_id = ?",
        (rowid,),
    )
    return frozenset(name for name, value in said if scale.meaning(value) in (Meaning.YES, Meaning.NO))


def tally(connection: sqlite3.Connection, instrument_id: int) -> list[tuple[int, str, int]]:
    """Return (rowid of a question, answer as given, number of people), for all questions ever asked."""
    return connection.execute(_TALLY, {"instrument": instrument_id}).fetchall()


def question_revisions(connection: sqlite3.Connection, instrument_id: int) -> tuple[QuestionRevision, ...]:
    """Return all revisions, the oldest first."""
    rows = connection.execute(
        "select q.ref, r.revision, r.role, r.form, r.scale, r.leaning, r.person, r.at from question_revision r "
        "join question q on q.id = r.question_id where q.instrument_id = ? order by r.at, q.id, r.revision",
        (instrument_id,),
    )
    return tuple(
        QuestionRevision(
            *(ref, revision, Role(role) if role else None, Form(form), scale),
            *(Pole(leaning) if leaning else None, person, at),
        )
        for ref, revision, role, form, scale, leaning, person, at in rows
    )


def scale_revisions(connection: sqlite3.Connection, instrument_id: int) -> tuple[ScaleRevision, ...]:
    """Return all revisions, the oldest first."""
    rows = connection.execute(
        "select name, options, revision, person, at from scale_revision where instrument_id = ? "
        "order by at, name, revision",
        (instrument_id,),
    )
    return tuple(ScaleRevision(_scale(name, options), *rest) for name, options, *rest in rows)


def add_question(
    connection: sqlite3.Connection, instrument_id: int, question: Question, person: str, *, taken_out: bool = False
) -> None:
    """Write a new revision of a question; `taken_out`: it is removed from the questionnaire."""
    values = {
        "instrument": instrument_id,
        "ref": question.ref,
        "role": None if taken_out else question.role.value,
        "form": question.form.value,
        "scale": question.scale,
        "leaning": question.leaning.value if question.leaning else None,
        "person": person,
        "at": now(),
    }
    connection.execute(
        "insert into question (instrument_id, ref) values (:instrument, :ref) on conflict do nothing", values
    )
    connection.execute(_ADD_QUESTION, values)


def add_scale(connection: sqlite3.Connection, instrument_id: int, scale: Scale, person: str) -> None:
    """Write a new revision of a scale."""
    options = [{"values": list(option.values), "meaning": option.meaning.value} for option in scale.options]
    values = {"instrument": instrument_id, "name": scale.name, "person": person, "at": now()}
    connection.execute(_ADD_SCALE, values | {"options": json.dumps(options, ensure_ascii=False)})


def _scale(name: str, options: str) -> Scale:
    found = (Option(tuple(one["values"]), Meaning(one["meaning"])) for one in json.loads(options))
    return Scale(name, tuple(found))


_QUESTIONS = """
    select q.id, q.ref, r.role, r.form, r.scale, r.leaning
    from question q
    join statement s on s.instrument_id = q.instrument_id and s.ref = q.ref and s.current = 1
    join question_revision r on r.question_id = q.id
    where q.instrument_id = :instrument and r.role is not null
        and r.revision = (select max(n.revision) from question_revision n where n.question_id = q.id)
    order by s.ordinal, s.version, s.id
"""

_SCALES = """
    select s.name, s.options from scale_revision s where s.instrument_id = :instrument and s.revision = (
        select max(n.revision) from scale_revision n where n.instrument_id = s.instrument_id and n.name = s.name
    ) order by s.name
"""

_ANSWERS = """
    select r.name, json_group_object(a.question_id, a.value)
    from respondent r join answer a on a.respondent_id = r.id
    where r.instrument_id = :instrument group by r.id order by r.id
"""  # one row per person: with one row per answer, reading the cursor would take twice as long

_TALLY = """
    select a.question_id, a.value, count(*) from respondent r join answer a on a.respondent_id = r.id
    where r.instrument_id = :instrument group by a.question_id, a.value
"""

_ADD_QUESTION = """
    insert into question_revision (question_id, revision, role, form, scale, leaning, person, at)
    select q.id, coalesce((select max(r.revision) from question_revision r where r.question_id = q.id), 0) + 1,
        :role, :form, :scale, :leaning, :person, :at
    from question q where q.instrument_id = :instrument and q.ref = :ref
"""

_ADD_SCALE = """
    insert into scale_revision (instrument_id, name, revision, options, person, at)
    values (:instrument, :name, 1 + coalesce((
        select max(revision) from scale_revision where instrument_id = :instrument and name = :name), 0),
        :options, :person, :at)
"""
