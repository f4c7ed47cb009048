"""Rows of questionnaires ↔ values: the newest revisions of questions and scales, and the answers of
people.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from stores.core.base import Aggregate, instrument_id_of, now
from stores.instruments.statement_imports import IMPORTER
from workbench.data import shipped_scale, shipped_scales
from workbench.domain.names import person_name, thing_name
from workbench.domain.questionnaires import (
    YES_NO,
    Form,
    Meaning,
    Option,
    Pole,
    PublishedShares,
    Question,
    Questionnaire,
    Respondent,
    Role,
    Scale,
    Tallied,
    named_few,
)
from workbench.errors import ConflictError, UnknownName, UsageError

if TYPE_CHECKING:
    from workbench.stats.populations import CodedPeople


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
        return (
            None
            if self.role is None
            else Question(self.ref, self.role, self.form, self.scale, self.leaning)
        )


@dataclass(frozen=True, slots=True)
class ScaleRevision:
    """A revision of a scale."""

    scale: Scale
    revision: int
    person: str
    at: str


def read_questions(connection: sqlite3.Connection, instrument_id: int) -> dict[int, Question]:
    """Return the questions of an instrument's current statements by rowid, in the order of the
    statements.
    """
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
    groups = _groups(connection, instrument_id)
    found = []
    for name, weight, given in connection.execute(_ANSWERS, {"instrument": instrument_id}):
        answers = {
            # A million answers have only a few distinct texts.
            refs[question]: texts.setdefault(value, value)
            for question, value in json.loads(given).items()
            if question in refs
        }
        if answers:
            found.append(Respondent(name, answers, weight, groups.get(name, {})))
    return tuple(found)


def _groups(connection: sqlite3.Connection, instrument_id: int) -> dict[str, dict[str, str]]:
    """Return field -> value of each person who has any."""
    rows = connection.execute(
        "select r.name, json_group_object(g.field, g.value) from respondent r "
        "join respondent_group g on g.respondent_id = r.id where r.instrument_id = ? group by r.id",
        (instrument_id,),
    )
    return {name: json.loads(given) for name, given in rows}


def read_published(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[PublishedShares, ...]:
    """Return the shares that were published for an instrument's questions, by question, group and
    value.
    """
    rows = connection.execute(_PUBLISHED, {"instrument": instrument_id})
    return tuple(
        PublishedShares(ref, group, value, json.loads(shares), people)
        for ref, group, value, shares, people in rows
    )


def who_says_yes_or_no(connection: sqlite3.Connection, instrument: str, ref: str) -> frozenset[str]:
    """Return the people whose answer to a question currently means yes or no; empty if it is no
    longer a question.
    """
    row = connection.execute("select id from instrument where name = ?", (instrument,)).fetchone()
    questions = {} if row is None else read_questions(connection, row[0])
    rowid = next((rowid for rowid, question in questions.items() if question.ref == ref), None)
    if row is None or rowid is None:
        return frozenset()
    scale = read_scales(connection, row[0])[questions[rowid].scale]
    said = connection.execute(
        "select r.name, a.value from answer a join respondent r on r.id = a.respondent_id where "
        "a.question_id = ?",
        (rowid,),
    )
    return frozenset(
        name for name, value in said if scale.meaning(value) in (Meaning.YES, Meaning.NO)
    )


def tally(connection: sqlite3.Connection, instrument_id: int) -> list[tuple[int, str, int]]:
    """Return (rowid of a question, answer as given, number of people), for all questions ever
    asked.
    """
    return connection.execute(_TALLY, {"instrument": instrument_id}).fetchall()


def question_revisions(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[QuestionRevision, ...]:
    """Return all revisions, the oldest first."""
    rows = connection.execute(
        "select q.ref, r.revision, r.role, r.form, r.scale, r.leaning, r.person, r.at from "
        "question_revision r "
        "join question q on q.id = r.question_id where q.instrument_id = ? order by r.at, q.id, "
        "r.revision",
        (instrument_id,),
    )
    return tuple(
        QuestionRevision(
            *(ref, revision, Role(role) if role else None, Form(form), scale),
            *(Pole(leaning) if leaning else None, person, at),
        )
        for ref, revision, role, form, scale, leaning, person, at in rows
    )


def scale_revisions(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[ScaleRevision, ...]:
    """Return all revisions, the oldest first."""
    rows = connection.execute(
        "select name, options, revision, person, at from scale_revision where instrument_id = ? "
        "order by at, name, revision",
        (instrument_id,),
    )
    return tuple(ScaleRevision(_scale(name, options), *rest) for name, options, *rest in rows)


def add_question(
    connection: sqlite3.Connection,
    instrument_id: int,
    question: Question,
    person: str,
    *,
    taken_out: bool = False,
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
        "insert into question (instrument_id, ref) values (:instrument, :ref) on conflict do "
        "nothing",
        values,
    )
    connection.execute(_ADD_QUESTION, values)


def add_scale(
    connection: sqlite3.Connection, instrument_id: int, scale: Scale, person: str
) -> None:
    """Write a new revision of a scale."""
    options = [
        {"values": list(option.values), "meaning": option.meaning.value} for option in scale.options
    ]
    values = {"instrument": instrument_id, "name": scale.name, "person": person, "at": now()}
    connection.execute(_ADD_SCALE, values | {"options": json.dumps(options, ensure_ascii=False)})


def _scale(name: str, options: str) -> Scale:
    found = (Option(tuple(one["values"]), Meaning(one["meaning"])) for one in json.loads(options))
    return Scale(name, tuple(found))


class _Places(dict[str, int]):
    """The places of answers among the options of a scale, each looked up once."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale

    def __missing__(self, value: str) -> int:
        return self.setdefault(value, self._scale.place(value))


_QUESTIONS = """
    select q.id, q.ref, r.role, r.form, r.scale, r.leaning
    from question q
    join statement s on s.instrument_id = q.instrument_id and s.ref = q.ref and s.current = 1
    join question_revision r on r.question_id = q.id
    where q.instrument_id = :instrument and r.role is not null
        and r.revision = (select max(n.revision) from question_revision n
            where n.question_id = q.id)
    order by s.ordinal, s.version, s.id
"""

_SCALES = """
    select s.name, s.options from scale_revision s where s.instrument_id = :instrument
        and s.revision = (
        select max(n.revision) from scale_revision n where n.instrument_id = s.instrument_id
            and n.name = s.name
    ) order by s.name
"""

_ANSWERS = """
    select r.name, r.weight, (
        select json_group_object(a.question_id, a.value) from answer a where a.respondent_id = r.id
    )
    from respondent r where r.instrument_id = :instrument order by r.id
"""
# One row per person: with one per answer, reading the cursor would take twice as long. A `group by`
# would sort them all.

_PUBLISHED = """
    select q.ref, p.field, p.value, p.shares, p.people from published_share p join question q
        on q.id = p.question_id
    join statement s on s.instrument_id = q.instrument_id and s.ref = q.ref and s.current = 1
    where q.instrument_id = :instrument order by s.ordinal, s.id, p.field, p.value
"""

_TALLY = """
    select a.question_id, a.value, count(*) from respondent r join answer a
        on a.respondent_id = r.id
    where r.instrument_id = :instrument group by a.question_id, a.value
"""

_ADD_QUESTION = """
    insert into question_revision (question_id, revision, role, form, scale, leaning, person, at)
    select q.id, coalesce((select max(r.revision) from question_revision r
        where r.question_id = q.id), 0) + 1,
        :role, :form, :scale, :leaning, :person, :at
    from question q where q.instrument_id = :instrument and q.ref = :ref
"""

_ADD_SCALE = """
    insert into scale_revision (instrument_id, name, revision, options, person, at)
    values (:instrument, :name, 1 + coalesce((
        select max(revision) from scale_revision where instrument_id = :instrument
            and name = :name), 0),
        :options, :person, :at)
"""


SHOWN = 12
"most differences in a message"


@dataclass(frozen=True, slots=True)
class AddedRespondents:
    """The changes of an import of answers."""

    added: int
    "new people"
    known: int
    answers: int
    "new answers, including those of known people"
    absent: int = 0
    "stored people missing in the file, who are kept"
    skipped: int = 0
    "answers to questions that were archived or removed here"


def put(
    connection: sqlite3.Connection,
    instrument_id: int,
    questionnaire: Questionnaire,
    statements: Mapping[str, int] | None = None,
    *,
    keep: bool = False,
) -> AddedRespondents:
    """Merge a file's questionnaire with the stored one. Call inside a transaction.

    `statements`: ref in the file -> rowid of the statement's current version here, which may have
    been renamed; None: match by ref. `keep`: stored roles and scales are kept, and the file adds
    others.

    Raises ConflictError if people are stored with other answers.
    """
    refs = _refs_here(connection, instrument_id, statements)
    theirs = [replace(q, ref=refs[q.ref]) for q in questionnaire.questions if q.ref in refs]
    if keep:
        _add_missing(connection, instrument_id, questionnaire, theirs)
    else:
        _put_scales(connection, instrument_id, questionnaire)
        _put_questions(connection, instrument_id, theirs, set(refs.values()))
    people = [
        replace(one, answers={refs.get(ref, ref): value for ref, value in one.answers.items()})
        for one in questionnaire.respondents
    ]
    added = add_respondents(connection, instrument_id, people)
    add_published(
        connection,
        instrument_id,
        [replace(p, ref=refs.get(p.ref, p.ref)) for p in questionnaire.published],
    )
    check_answers(connection, instrument_id)
    return added


def add_respondents(
    connection: sqlite3.Connection, instrument_id: int, respondents: Sequence[Respondent]
) -> AddedRespondents:
    """Add people with their answers; people stored with the same answers change nothing.

    A question without any stored answer, or without any answer of these people, was not asked and
    is not a difference.
    Raises ConflictError for other differences, UsageError for a name that is given twice.
    """
    questions = read_questions(connection, instrument_id)
    ids = {question.ref: rowid for rowid, question in questions.items()}
    wanted = _wanted(respondents, ids)
    people = {one.name: one for one in read_respondents(connection, instrument_id, questions)}
    here = {name: one.answers for name, one in people.items()}
    _check_same(here, wanted)
    _check_alike(people, respondents)
    rows = connection.execute(
        "select name, id from respondent where instrument_id = ?", (instrument_id,)
    )
    known = dict(rows.fetchall())
    given = {one.name: one for one in respondents}
    at = now()
    for name in [name for name in wanted if name not in known]:
        row = connection.execute(
            "insert into respondent (instrument_id, name, at, weight) values (?, ?, ?, ?) "
            "returning id",
            (instrument_id, name, at, given[name].weight),
        ).fetchone()
        known[name] = row[0]
        connection.executemany(
            "insert into respondent_group (respondent_id, field, value) values (?, ?, ?)",
            [(row[0], field, value) for field, value in given[name].groups.items()],
        )
    new = [
        (known[name], ids[ref], value)
        for name, answers in wanted.items()
        for ref, value in answers.items()
        if ref not in here.get(name, {})
    ]
    connection.executemany(
        "insert into answer (respondent_id, question_id, value) values (?, ?, ?)", new
    )
    said = sum(1 for one in respondents for value in one.answers.values() if value.strip())
    return AddedRespondents(
        added=sum(name not in here for name in wanted),
        known=sum(name in here for name in wanted),
        answers=len(new),
        absent=sum(name not in wanted for name in here),
        skipped=said - sum(map(len, wanted.values())),
    )


def check_answers(
    connection: sqlite3.Connection, instrument_id: int, refs: Iterable[str] | None = None
) -> None:
    """Raise UsageError if a stored answer is not on the current scale of its question.

    `refs`: check only these questions.
    """
    scales = read_scales(connection, instrument_id)
    given: dict[int, list[tuple[str, int]]] = {}
    for rowid, value, people in tally(connection, instrument_id):
        given.setdefault(rowid, []).append((value, people))
    looked_at = None if refs is None else set(refs)
    faults = []
    for rowid, question in read_questions(connection, instrument_id).items():
        if looked_at is not None and question.ref not in looked_at:
            continue
        scale = scales.get(question.scale)
        if scale is None:
            raise UsageError(
                f"{question.ref}: no scale is named {question.scale!r}. Available: "
                f"{', '.join(scales)}"
            )
        off = [(value, n) for value, n in given.get(rowid, ()) if scale.option(value) is None]
        faults += [
            f"{question.ref}: {value!r} ({n:,} people), not on {scale.name}" for value, n in off
        ]
    if faults:
        raise UsageError(
            f"there are answers off their scales: {named_few(faults, SHOWN)}. Nothing was "
            "changed; give the question a "
            "scale that has them"
        )


def _refs_here(
    connection: sqlite3.Connection, instrument_id: int, statements: Mapping[str, int] | None
) -> dict[str, str]:
    """Return ref in the file -> ref here, for current statements."""
    rows = connection.execute(
        "select id, ref from statement where instrument_id = ? and current = 1", (instrument_id,)
    ).fetchall()
    if statements is None:
        return {ref: ref for _, ref in rows}
    refs = dict(rows)
    return {ref: refs[rowid] for ref, rowid in statements.items() if rowid in refs}


def _put_scales(
    connection: sqlite3.Connection, instrument_id: int, questionnaire: Questionnaire
) -> None:
    revisions = scale_revisions(connection, instrument_id)
    # The newest comes last.
    base = {one.scale.name: one.scale for one in revisions if one.person == IMPORTER}
    for scale in questionnaire.scales:
        if base.get(scale.name) != scale:
            add_scale(connection, instrument_id, scale, IMPORTER)


def _add_missing(
    connection: sqlite3.Connection,
    instrument_id: int,
    questionnaire: Questionnaire,
    questions: Sequence[Question],
) -> None:
    """Write the scales and roles of a file that are not stored under their names."""
    scales = read_scales(connection, instrument_id)
    for scale in questionnaire.scales:
        if scale.name not in scales:
            add_scale(connection, instrument_id, scale, IMPORTER)
    known = {question.ref for question in read_questions(connection, instrument_id).values()}
    for question in questions:
        if question.ref not in known:
            add_question(connection, instrument_id, question, IMPORTER)


def _put_questions(
    connection: sqlite3.Connection,
    instrument_id: int,
    questions: Sequence[Question],
    current: set[str],
) -> None:
    """Write the roles that changed in the file; `current`: refs of the file's statements here."""
    revisions = question_revisions(connection, instrument_id)
    base = {one.ref: one.question for one in revisions if one.person == IMPORTER}
    for question in questions:
        if base.get(question.ref) != question:
            add_question(connection, instrument_id, question, IMPORTER)
    staying = {question.ref for question in questions}
    for ref, before in base.items():
        if before is not None and ref in current and ref not in staying:
            add_question(connection, instrument_id, before, IMPORTER, taken_out=True)


def _wanted(respondents: Sequence[Respondent], ids: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the answers to stored questions, by people with at least one answer."""
    found: dict[str, dict[str, str]] = {}
    for one in respondents:
        if one.name in found:
            raise UsageError(
                f"the respondent {one.name!r} is given twice; give every respondent once"
            )
        answers = {ref: value for ref, value in one.answers.items() if ref in ids and value.strip()}
        if answers:
            found[one.name] = answers
    return found


def _check_same(
    here: Mapping[str, Mapping[str, str]], wanted: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise ConflictError if the file has other answers of stored people."""
    asked = _answered(here) & _answered(wanted)
    differ = []
    for name in wanted.keys() & here.keys() if asked else ():
        ours, theirs = here[name], wanted[name]
        for ref in asked:
            if ours.get(ref) != theirs.get(ref):
                differ.append(
                    f"{name!r} to {ref!r}: {_said(ours, ref)} here, {_said(theirs, ref)} in the "
                    "file"
                )
    if differ:
        raise ConflictError(
            f"{len(differ):,} answer{'s are' if len(differ) > 1 else ' is'} not what these "
            "people answered here: "
            f"{'; '.join(sorted(differ)[:SHOWN])}"
            f"{f'; and {len(differ) - SHOWN:,} more' if len(differ) > SHOWN else ''}. Nothing "
            "was imported; give the "
            "people of the file other names, or import it as an instrument of another name"
        )


def _check_alike(here: Mapping[str, Respondent], wanted: Sequence[Respondent]) -> None:
    """Raise ConflictError if stored people have another weight or are of another group; a file
    without weights and groups says nothing of either.
    """
    if all(one.weight == 1 and not one.groups for one in wanted):
        return
    pairs = [(here[one.name], one) for one in wanted if one.name in here]
    differ = [a.name for a, b in pairs if (a.weight, a.groups) != (b.weight, b.groups)]
    if differ:
        raise ConflictError(
            f"{len(differ):,} people have other weights or groups here than in the file: "
            f"{named_few(differ)}. Nothing "
            "was changed; import the file under another --name"
        )


def add_published(
    connection: sqlite3.Connection, instrument_id: int, published: Sequence[PublishedShares]
) -> None:
    """Add published shares; the same again change nothing. Raises ConflictError for others of the
    same population.
    """
    questions = read_questions(connection, instrument_id)
    ids, scales = (
        {question.ref: rowid for rowid, question in questions.items()},
        read_scales(connection, instrument_id),
    )
    here = {(p.ref, p.group, p.value): p for p in read_published(connection, instrument_id)}
    differ = [one for one in published if here.get((one.ref, one.group, one.value), one) != one]
    if differ:
        named = named_few(f"{one.group}={one.value} to {one.ref}" for one in differ)
        raise ConflictError(
            f"other shares than here: {named}. Nothing was changed; import under another --name"
        )
    off = [
        f"{one.ref}: {answer!r}"
        for one in published
        if one.ref in ids
        for answer in one.shares
        if scales[questions[ids[one.ref]].scale].option(answer) is None
    ]
    if off:
        raise UsageError(
            f"there are shares of answers off their scales: {named_few(off, SHOWN)}. Nothing was "
            "changed"
        )
    connection.executemany(
        "insert into published_share (question_id, field, value, shares, people) values (?, ?, "
        "?, ?, ?)",
        [
            (
                ids[one.ref],
                one.group,
                one.value,
                json.dumps(dict(one.shares), ensure_ascii=False),
                one.people,
            )
            for one in published
            if one.ref in ids and (one.ref, one.group, one.value) not in here
        ],
    )


def _answered(people: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {ref for answers in people.values() for ref in answers}


def _said(answers: Mapping[str, str], ref: str) -> str:
    return repr(answers[ref]) if ref in answers else "nothing"


class Keep(Enum):
    """Means that a field is not changed, where None is a possible value."""

    KEEP = auto()


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class QuestionnaireSummary:
    """The summary of a questionnaire."""

    context: int
    "questions"
    target: int
    respondents: int
    answers: int
    "answers given, including neutral ones and refusals"
    neutral: int
    missing: int
    "pairs of respondent and question without an answer, or with one that means no answer"
    survey: int = 0
    "questions"


class Questionnaires(Aggregate):
    """The methods on questionnaires."""

    def get(self, instrument: str, *, people: bool = True) -> Questionnaire | None:
        """Return the questions of current statements in their order, with the people who answered
        any of them.

        `people` False: without them. None if no statement has a role. Raises UnknownName for a
        missing instrument.
        """
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        if not questions:
            return None
        return Questionnaire(
            tuple(questions.values()),
            tuple(read_scales(self.connection, instrument_id).values()),
            read_respondents(self.connection, instrument_id, questions) if people else (),
            read_published(self.connection, instrument_id),
        )

    def coded(self, instrument: str) -> CodedPeople:
        """Return the people who answered any question of a current statement, in the order of
        import, as numbers.
        """
        import numpy as np

        from workbench.stats.populations import NOT_GIVEN, CodedPeople, in_range

        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        scales = read_scales(self.connection, instrument_id)
        column = {str(rowid): place for place, rowid in enumerate(questions)}
        places = {
            str(rowid): _Places(scales[question.scale]) for rowid, question in questions.items()
        }
        rows, weights, people = [], [], []
        for person, weight, given in self.connection.execute(
            _ANSWERS, {"instrument": instrument_id}
        ):
            held: dict[str, str] = json.loads(given)
            for question in held.keys() - column.keys():
                del held[question]
            if held:
                row = np.full(len(column), NOT_GIVEN, dtype=np.int16)
                row[[column[question] for question in held]] = [
                    places[one][value] for one, value in held.items()
                ]
                rows.append(row)
                weights.append(weight)
                people.append(person)
        found = np.array(rows).reshape(-1, len(column)).T.copy()
        groups = _groups(self.connection, instrument_id)
        of = [groups.get(person, {}) for person in people]
        fields = dict.fromkeys(field for one in of for field in one)
        return CodedPeople(
            {question.ref: row for question, row in zip(questions.values(), found, strict=True)},
            in_range(np.array(weights)),
            {field: np.array([one.get(field, "") for one in of], dtype=object) for field in fields},
        )

    def questions(self, instrument: str) -> tuple[Question, ...]:
        """Return the questions of current statements in order, without people's answers."""
        return tuple(
            read_questions(self.connection, instrument_id_of(self.connection, instrument)).values()
        )

    def tallied(self, instrument: str) -> Tallied | None:
        """Return the questions and the counts of answers, without respondents; None as `get`."""
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        if not questions:
            return None
        given: dict[str, dict[str, int]] = {}
        for rowid, value, people in tally(self.connection, instrument_id):
            if rowid in questions:
                given.setdefault(questions[rowid].ref, {})[value] = people
        people = self.connection.execute(_PEOPLE, {"instrument": instrument_id}).fetchone()[0]
        weights = "select count(distinct weight) > 1 from respondent where instrument_id = ?"
        whole = Questionnaire(
            tuple(questions.values()),
            tuple(read_scales(self.connection, instrument_id).values()),
            published=read_published(self.connection, instrument_id),
        )
        return Tallied(
            whole,
            people,
            given,
            bool(self.connection.execute(weights, (instrument_id,)).fetchone()[0]),
        )

    def summary(self, instrument: str) -> QuestionnaireSummary | None:
        """Return the counts; None if no statement has a role."""
        found = self.tallied(instrument)
        if found is None:
            return None
        meanings = [found.meanings(question) for question in found.questionnaire.questions]
        return QuestionnaireSummary(
            context=len(found.questionnaire.of_role(Role.CONTEXT)),
            target=len(found.questionnaire.of_role(Role.TARGET)),
            survey=len(found.questionnaire.of_role(Role.SURVEY)),
            respondents=found.respondents,
            answers=sum(n for given in found.given.values() for n in given.values()),
            neutral=sum(one[Meaning.NEUTRAL] for one in meanings),
            missing=sum(one[Meaning.MISSING] for one in meanings),
        )

    def add_answers(self, instrument: str, respondents: Iterable[Respondent]) -> AddedRespondents:
        """Add people and their answers in one transaction; adding them again changes nothing.

        Raises UnknownName for an unknown question, UsageError for an answer off the scale,
        ConflictError if a person is stored with other answers. Nothing is written then.
        """
        people = tuple(respondents)
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            refs = {question.ref for question in read_questions(connection, instrument_id).values()}
            strange = {ref for one in people for ref in one.answers} - refs
            if strange:
                raise UnknownName(
                    f"{instrument} has no question {', '.join(map(repr, sorted(strange)))}: give "
                    "the statement a role"
                )
            added = add_respondents(connection, instrument_id, people)
            check_answers(connection, instrument_id)
        return added

    def set_question(
        self,
        instrument: str,
        ref: str,
        *,
        person: str,
        role: Role | Keep | None = KEEP,
        form: Form | Keep = KEEP,
        scale: str | Keep = KEEP,
        leaning: Pole | Keep | None = KEEP,
    ) -> bool:
        """Change a statement's data as a question, and return whether anything changed.

        `role` None removes it from the questionnaire; its answers are kept. Raises UnknownName for
        an unknown statement or scale, UsageError for a new target without a form and for a scale
        that lacks given answers.
        """
        person = _somebody(person)
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            _check_statement(connection, instrument_id, instrument, ref)
            before = {q.ref: q for q in read_questions(connection, instrument_id).values()}.get(ref)
            if role is None:
                if before is not None:
                    add_question(connection, instrument_id, before, person, taken_out=True)
                return before is not None
            known = (
                before
                or _put_back(connection, instrument_id, ref)
                or _new_question(ref, role, form)
            )
            if before is None and role is KEEP:
                raise UsageError(
                    f"{ref} is no question yet; say its role: context, target or survey"
                )
            after = replace(
                known,
                role=known.role if role is KEEP else role,
                form=known.form if form is KEEP else form,
                scale=known.scale if scale is KEEP else scale,
                leaning=known.leaning if leaning is KEEP else leaning,
            )
            if after == before:
                return False
            _bring_scale(connection, instrument_id, after.scale, person)
            add_question(connection, instrument_id, after, person)
            check_answers(connection, instrument_id, (ref,))
        return True

    def set_scale(self, instrument: str, scale: Scale, *, person: str) -> int:
        """Set the meanings of a scale's answers, and return how many given answers change their
        meaning.

        An unchanged scale adds no revision. Raises UsageError for a scale that lacks given answers.
        """
        person, _ = _somebody(person), thing_name(scale.name, "scale's")
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            before = read_scales(connection, instrument_id).get(scale.name)
            if before == scale:
                return 0
            add_scale(connection, instrument_id, scale, person)
            questions = read_questions(connection, instrument_id)
            check_answers(
                connection,
                instrument_id,
                [q.ref for q in questions.values() if q.scale == scale.name],
            )
            if before is None:
                return 0
            return sum(
                people
                for rowid, value, people in tally(connection, instrument_id)
                if rowid in questions
                and questions[rowid].scale == scale.name
                and before.meaning(value) is not scale.meaning(value)
            )

    def history(self, instrument: str) -> tuple[QuestionRevision | ScaleRevision, ...]:
        """Return all revisions of questions and scales, the oldest first."""
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = question_revisions(self.connection, instrument_id)
        return tuple(
            sorted(
                (*scale_revisions(self.connection, instrument_id), *questions),
                key=lambda one: one.at,
            )
        )

    def scales(self, instrument: str) -> Mapping[str, Scale]:
        """Return the available scales by name: the instrument's, and shipped ones that it does not
        define.
        """
        own = read_scales(self.connection, instrument_id_of(self.connection, instrument))
        return {name: shipped_scale(name) for name in shipped_scales()} | own


def _somebody(name: str) -> str:
    """Return a person's name. Raises UsageError for the name of imports, whose changes the next
    import may revert.
    """
    name = person_name(name, "person")
    if name == IMPORTER:
        raise UsageError(f"{IMPORTER!r} stands for files; give the name of a person")
    return name


def _check_statement(
    connection: sqlite3.Connection, instrument_id: int, instrument: str, ref: str
) -> None:
    row = connection.execute(
        "select 1 from statement where instrument_id = ? and ref = ? and current = 1",
        (instrument_id, ref),
    ).fetchone()
    if row is None:
        raise UnknownName(
            f"{instrument} has no statement {ref!r}; it may be archived, or was renamed"
        )


def _put_back(connection: sqlite3.Connection, instrument_id: int, ref: str) -> Question | None:
    """Return a question as it was before it was removed; None if it never was one."""
    found = [
        one.question for one in question_revisions(connection, instrument_id) if one.ref == ref
    ]
    return next((question for question in reversed(found) if question is not None), None)


def _new_question(ref: str, role: Role | Keep, form: Form | Keep) -> Question:
    if role is Role.TARGET and form is KEEP:
        raise UsageError(f"{ref} is a new target; say its form: question or statement")
    return Question(ref, Role.CONTEXT, scale=YES_NO.name)


def _bring_scale(
    connection: sqlite3.Connection, instrument_id: int, name: str, person: str
) -> None:
    """Make sure that the instrument has a scale, copying the shipped one if it has none of that
    name.
    """
    own = read_scales(connection, instrument_id)
    if name in own:
        return
    if name not in shipped_scales():
        known = ", ".join(sorted({*own, *shipped_scales()}))
        raise UnknownName(f"no scale is named {name!r}. Available: {known}")
    add_scale(connection, instrument_id, shipped_scale(name), person)


_PEOPLE = """
    select count(*) from respondent r where r.instrument_id = :instrument and exists (
        select 1 from answer a join question q on q.id = a.question_id
        join statement s on s.instrument_id = q.instrument_id and s.ref = q.ref and s.current = 1
        join question_revision v on v.question_id = q.id and v.role is not null and v.revision = (
            select max(n.revision) from question_revision n where n.question_id = q.id)
        where a.respondent_id = r.id
    )
"""
