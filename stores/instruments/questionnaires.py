"""Rows of questionnaires ↔ values: the newest questions and scales, and the answers of people."""

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
    AnswerOption,
    Form,
    Meaning,
    Pole,
    PublishedShares,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
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
    role: QuestionRole | None
    "None if it was removed from the questionnaire"
    form: Form
    scale: str
    leaning: Pole | None
    person: str
    at: str

    @property
    def question(self) -> Question | None:
        """The question of this revision, or None if it was removed."""
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
    """Return the questions of an instrument's current statements by rowid, in statement order."""
    rows = connection.execute(_QUESTIONS, {"instrument": instrument_id})
    return {
        rowid: Question(
            ref, QuestionRole(role), Form(form), scale, Pole(leaning) if leaning else None
        )
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
    interned: dict[str, str] = {}
    groups = _groups(connection, instrument_id)
    respondents = []
    for name, weight, answers_json in connection.execute(_ANSWERS, {"instrument": instrument_id}):
        answers = {
            # A million answers have only a few distinct texts.
            refs[question]: interned.setdefault(value, value)
            for question, value in json.loads(answers_json).items()
            if question in refs
        }
        if answers:
            respondents.append(Respondent(name, answers, weight, groups.get(name, {})))
    return tuple(respondents)


def _groups(connection: sqlite3.Connection, instrument_id: int) -> dict[str, dict[str, str]]:
    """Return the groups (field -> value) of each person who has any, by name."""
    rows = connection.execute(
        "select r.name, json_group_object(g.field, g.value) from respondent r "
        "join respondent_group g on g.respondent_id = r.id where r.instrument_id = ? group by r.id",
        (instrument_id,),
    )
    return {name: json.loads(groups_json) for name, groups_json in rows}


def read_published(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[PublishedShares, ...]:
    """Return the published shares of an instrument's questions, by question, group and value."""
    rows = connection.execute(_PUBLISHED, {"instrument": instrument_id})
    return tuple(
        PublishedShares(ref, group, value, json.loads(shares), people)
        for ref, group, value, shares, people in rows
    )


def who_says_yes_or_no(connection: sqlite3.Connection, instrument: str, ref: str) -> frozenset[str]:
    """Return the people whose answer to a question currently means yes or no.

    There are none if it is no longer a question.
    """
    row = connection.execute("select id from instrument where name = ?", (instrument,)).fetchone()
    questions = {} if row is None else read_questions(connection, row[0])
    rowid = next((rowid for rowid, question in questions.items() if question.ref == ref), None)
    if row is None or rowid is None:
        return frozenset()
    scale = read_scales(connection, row[0])[questions[rowid].scale]
    rows = connection.execute(
        "select r.name, a.value from answer a join respondent r on r.id = a.respondent_id where "
        "a.question_id = ?",
        (rowid,),
    )
    return frozenset(
        name for name, value in rows if scale.meaning(value) in (Meaning.YES, Meaning.NO)
    )


def tally(connection: sqlite3.Connection, instrument_id: int) -> list[tuple[int, str, int]]:
    """Return the number of people for each answer as given, of all questions ever asked.

    Each is (rowid of the question, answer, number of people).
    """
    return connection.execute(_TALLY, {"instrument": instrument_id}).fetchall()


def question_revisions(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[QuestionRevision, ...]:
    """Return all revisions of questions, the oldest first."""
    rows = connection.execute(
        "select q.ref, r.revision, r.role, r.form, r.scale, r.leaning, r.person, r.at from "
        "question_revision r join question q on q.id = r.question_id where q.instrument_id = ? "
        "order by r.at, q.id, r.revision",
        (instrument_id,),
    )
    return tuple(
        QuestionRevision(
            *(ref, revision, QuestionRole(role) if role else None, Form(form), scale),
            *(Pole(leaning) if leaning else None, person, changed_at),
        )
        for ref, revision, role, form, scale, leaning, person, changed_at in rows
    )


def scale_revisions(
    connection: sqlite3.Connection, instrument_id: int
) -> tuple[ScaleRevision, ...]:
    """Return all revisions of scales, the oldest first."""
    rows = connection.execute(
        "select name, options, revision, person, at from scale_revision where instrument_id = ? "
        "order by at, name, revision",
        (instrument_id,),
    )
    return tuple(ScaleRevision(_scale(name, options), *values) for name, options, *values in rows)


def add_question(
    connection: sqlite3.Connection,
    instrument_id: int,
    question: Question,
    person: str,
    *,
    taken_out: bool = False,
) -> None:
    """Write a new revision of a question. If `taken_out`, it is removed from the questionnaire."""
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
    scale_options = (
        AnswerOption(tuple(option["values"]), Meaning(option["meaning"]))
        for option in json.loads(options)
    )
    return Scale(name, tuple(scale_options))


class _Places(dict[str, int]):
    """The positions of answers among the options of a scale, each looked up once."""

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
"the largest number of differences in a message"


@dataclass(frozen=True, slots=True)
class AddedRespondents:
    """The changes of an import of answers."""

    added: int
    "number of new people"
    known: int
    answers: int
    "number of new answers, including those of known people"
    absent: int = 0
    "number of stored people who are missing in the file. They are kept."
    skipped: int = 0
    "number of answers to questions that were archived or removed here"


def write_questionnaire(
    connection: sqlite3.Connection,
    instrument_id: int,
    questionnaire: Questionnaire,
    statements: Mapping[str, int] | None = None,
    *,
    keep: bool = False,
) -> AddedRespondents:
    """Merge a file's questionnaire with the stored one. Call inside a transaction.

    `statements` maps a ref in the file to the rowid of the statement's current version here, which
    may have been renamed. If it is None, statements match by ref. With `keep`, stored roles and
    scales are kept, and the file adds others.

    Raises ConflictError if people are stored with other answers.
    """
    refs = _refs_here(connection, instrument_id, statements)
    file_questions = [
        replace(question, ref=refs[question.ref])
        for question in questionnaire.questions
        if question.ref in refs
    ]
    if keep:
        _add_missing(connection, instrument_id, questionnaire, file_questions)
    else:
        _put_scales(connection, instrument_id, questionnaire)
        _put_questions(connection, instrument_id, file_questions, set(refs.values()))
    people = [
        replace(
            respondent,
            answers={refs.get(ref, ref): value for ref, value in respondent.answers.items()},
        )
        for respondent in questionnaire.respondents
    ]
    added = add_respondents(connection, instrument_id, people)
    add_published(
        connection,
        instrument_id,
        [
            replace(published_shares, ref=refs.get(published_shares.ref, published_shares.ref))
            for published_shares in questionnaire.published
        ],
    )
    check_answers(connection, instrument_id)
    return added


def add_respondents(
    connection: sqlite3.Connection, instrument_id: int, respondents: Sequence[Respondent]
) -> AddedRespondents:
    """Add people with their answers.

    People stored with the same answers change nothing.

    A question without any stored answer, or without any answer of these people, was not asked and
    is not a difference. Raises ConflictError for other differences, and UsageError for a name that
    is given twice.
    """
    questions = read_questions(connection, instrument_id)
    ids = {question.ref: rowid for rowid, question in questions.items()}
    answers_by_name = _answers_of_people(respondents, ids)
    stored_by_name = {
        respondent.name: respondent
        for respondent in read_respondents(connection, instrument_id, questions)
    }
    stored_answers = {name: respondent.answers for name, respondent in stored_by_name.items()}
    _check_same_answers(stored_answers, answers_by_name)
    _check_same_groups(stored_by_name, respondents)
    rows = connection.execute(
        "select name, id from respondent where instrument_id = ?", (instrument_id,)
    )
    id_by_name = dict(rows.fetchall())
    given_by_name = {respondent.name: respondent for respondent in respondents}
    created_at = now()
    for name in [name for name in answers_by_name if name not in id_by_name]:
        row = connection.execute(
            "insert into respondent (instrument_id, name, at, weight) values (?, ?, ?, ?) "
            "returning id",
            (instrument_id, name, created_at, given_by_name[name].weight),
        ).fetchone()
        id_by_name[name] = row[0]
        connection.executemany(
            "insert into respondent_group (respondent_id, field, value) values (?, ?, ?)",
            [(row[0], field, value) for field, value in given_by_name[name].groups.items()],
        )
    new_answers = [
        (id_by_name[name], ids[ref], value)
        for name, answers in answers_by_name.items()
        for ref, value in answers.items()
        if ref not in stored_answers.get(name, {})
    ]
    connection.executemany(
        "insert into answer (respondent_id, question_id, value) values (?, ?, ?)", new_answers
    )
    n_given = sum(
        1 for respondent in respondents for value in respondent.answers.values() if value.strip()
    )
    return AddedRespondents(
        added=sum(name not in stored_answers for name in answers_by_name),
        known=sum(name in stored_answers for name in answers_by_name),
        answers=len(new_answers),
        absent=sum(name not in answers_by_name for name in stored_answers),
        skipped=n_given - sum(map(len, answers_by_name.values())),
    )


def check_answers(
    connection: sqlite3.Connection, instrument_id: int, refs: Iterable[str] | None = None
) -> None:
    """Raise UsageError if a stored answer is not on the current scale of its question.

    If `refs` is given, only these questions are checked.
    """
    scales = read_scales(connection, instrument_id)
    answers_by_question: dict[int, list[tuple[str, int]]] = {}
    for rowid, value, n_people in tally(connection, instrument_id):
        answers_by_question.setdefault(rowid, []).append((value, n_people))
    checked_refs = None if refs is None else set(refs)
    faults = []
    for rowid, question in read_questions(connection, instrument_id).items():
        if checked_refs is not None and question.ref not in checked_refs:
            continue
        scale = scales.get(question.scale)
        if scale is None:
            raise UsageError(
                f"{question.ref}: no scale is named {question.scale!r}. Available: "
                f"{', '.join(scales)}"
            )
        off_scale = [
            (value, n_people)
            for value, n_people in answers_by_question.get(rowid, ())
            if scale.option(value) is None
        ]
        faults += [
            f"{question.ref}: {value!r} ({n_people:,} people), not on {scale.name}"
            for value, n_people in off_scale
        ]
    if faults:
        raise UsageError(
            f"there are answers off their scales: {named_few(faults, SHOWN)}. Nothing was changed; "
            "give the question a scale that has them"
        )


def _refs_here(
    connection: sqlite3.Connection, instrument_id: int, statements: Mapping[str, int] | None
) -> dict[str, str]:
    """Return the ref here by the ref in the file, for current statements."""
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
    imported_scales = {
        revision.scale.name: revision.scale for revision in revisions if revision.person == IMPORTER
    }
    for scale in questionnaire.scales:
        if imported_scales.get(scale.name) != scale:
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
    stored_refs = {question.ref for question in read_questions(connection, instrument_id).values()}
    for question in questions:
        if question.ref not in stored_refs:
            add_question(connection, instrument_id, question, IMPORTER)


def _put_questions(
    connection: sqlite3.Connection,
    instrument_id: int,
    questions: Sequence[Question],
    current: set[str],
) -> None:
    """Write the roles that changed in the file.

    `current` has the refs of the file's statements here.
    """
    revisions = question_revisions(connection, instrument_id)
    imported_questions = {
        revision.ref: revision.question for revision in revisions if revision.person == IMPORTER
    }
    for question in questions:
        if imported_questions.get(question.ref) != question:
            add_question(connection, instrument_id, question, IMPORTER)
    file_refs = {question.ref for question in questions}
    for ref, imported_question in imported_questions.items():
        if imported_question is not None and ref in current and ref not in file_refs:
            add_question(connection, instrument_id, imported_question, IMPORTER, taken_out=True)


def _answers_of_people(
    respondents: Sequence[Respondent], ids: Mapping[str, int]
) -> dict[str, dict[str, str]]:
    """Return the answers to stored questions of each person who has at least one.

    Raises UsageError for a name that is given twice.
    """
    answers_by_name: dict[str, dict[str, str]] = {}
    for respondent in respondents:
        if respondent.name in answers_by_name:
            raise UsageError(
                f"the respondent {respondent.name!r} is given twice; give every respondent once"
            )
        answers = {
            ref: value for ref, value in respondent.answers.items() if ref in ids and value.strip()
        }
        if answers:
            answers_by_name[respondent.name] = answers
    return answers_by_name


def _check_same_answers(
    stored_answers: Mapping[str, Mapping[str, str]], wanted: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise ConflictError if the file has other answers of stored people."""
    common_refs = _answered_refs(stored_answers) & _answered_refs(wanted)
    faults = []
    for name in wanted.keys() & stored_answers.keys() if common_refs else ():
        stored, in_file = stored_answers[name], wanted[name]
        for ref in common_refs:
            if stored.get(ref) != in_file.get(ref):
                faults.append(
                    f"{name!r} to {ref!r}: {_answer_text(stored, ref)} here, "
                    f"{_answer_text(in_file, ref)} in the file"
                )
    if faults:
        raise ConflictError(
            f"{len(faults):,} answer{'s are' if len(faults) > 1 else ' is'} not what these "
            "people answered here: "
            f"{'; '.join(sorted(faults)[:SHOWN])}"
            f"{f'; and {len(faults) - SHOWN:,} more' if len(faults) > SHOWN else ''}. Nothing "
            "was imported; give the "
            "people of the file other names, or import it as an instrument of another name"
        )


def _check_same_groups(
    stored_people: Mapping[str, Respondent], wanted: Sequence[Respondent]
) -> None:
    """Raise ConflictError if stored people have another weight or other groups in the file.

    A file without any weights and groups is not compared.
    """
    if all(respondent.weight == 1 and not respondent.groups for respondent in wanted):
        return
    pairs = [
        (stored_people[respondent.name], respondent)
        for respondent in wanted
        if respondent.name in stored_people
    ]
    names = [
        stored.name
        for stored, in_file in pairs
        if (stored.weight, stored.groups) != (in_file.weight, in_file.groups)
    ]
    if names:
        raise ConflictError(
            f"{len(names):,} people have other weights or groups here than in the file: "
            f"{named_few(names)}. Nothing was changed; import the file under another --name"
        )


def add_published(
    connection: sqlite3.Connection, instrument_id: int, published: Sequence[PublishedShares]
) -> None:
    """Add published shares. Adding them again changes nothing.

    Raises ConflictError for other shares of the same population, and UsageError for a share of an
    answer that is not on the scale.
    """
    questions = read_questions(connection, instrument_id)
    ids, scales = (
        {question.ref: rowid for rowid, question in questions.items()},
        read_scales(connection, instrument_id),
    )
    stored_by_population = {
        (published_shares.ref, published_shares.group, published_shares.value): published_shares
        for published_shares in read_published(connection, instrument_id)
    }
    conflicts = [
        entry
        for entry in published
        if stored_by_population.get((entry.ref, entry.group, entry.value), entry) != entry
    ]
    if conflicts:
        listed = named_few(f"{entry.group}={entry.value} to {entry.ref}" for entry in conflicts)
        raise ConflictError(
            f"other shares than here: {listed}. Nothing was changed; import under another --name"
        )
    wrong = [
        f"{entry.ref}: {answer!r}"
        for entry in published
        if entry.ref in ids
        for answer in entry.shares
        if scales[questions[ids[entry.ref]].scale].option(answer) is None
    ]
    if wrong:
        raise UsageError(
            f"there are shares of answers off their scales: {named_few(wrong, SHOWN)}. Nothing was "
            "changed"
        )
    connection.executemany(
        "insert into published_share (question_id, field, value, shares, people) values (?, ?, "
        "?, ?, ?)",
        [
            (
                ids[entry.ref],
                entry.group,
                entry.value,
                json.dumps(dict(entry.shares), ensure_ascii=False),
                entry.people,
            )
            for entry in published
            if entry.ref in ids
            and (entry.ref, entry.group, entry.value) not in stored_by_population
        ],
    )


def _answered_refs(people: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {ref for answers in people.values() for ref in answers}


def _answer_text(answers: Mapping[str, str], ref: str) -> str:
    return repr(answers[ref]) if ref in answers else "nothing"


class Keep(Enum):
    """The value that means that a field is not changed, where None is a possible value."""

    KEEP = auto()


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class QuestionnaireSummary:
    """The summary of a questionnaire."""

    context: int
    "number of questions"
    target: int
    respondents: int
    answers: int
    "number of answers, including neutral ones and refusals"
    neutral: int
    missing: int
    "number of pairs of respondent and question without an answer, or with one that means no answer"
    survey: int = 0
    "number of questions"


class Questionnaires(Aggregate):
    """The methods on questionnaires."""

    def get(self, instrument: str, *, people: bool = True) -> Questionnaire | None:
        """Return the questions of current statements in order, with the people who answered any.

        With `people` false, the people are left out. Returns None if no statement has a role.
        Raises UnknownName for a missing instrument.
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
        """Return the people who answered any question of a current statement, as numbers.

        They are in the order of import.
        """
        import numpy as np

        from workbench.stats.populations import NOT_GIVEN, CodedPeople, in_range

        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        scales = read_scales(self.connection, instrument_id)
        column_by_id = {str(rowid): index for index, rowid in enumerate(questions)}
        places_by_id = {
            str(rowid): _Places(scales[question.scale]) for rowid, question in questions.items()
        }
        rows, weights, people = [], [], []
        for person, weight, answers_json in self.connection.execute(
            _ANSWERS, {"instrument": instrument_id}
        ):
            answers: dict[str, str] = json.loads(answers_json)
            for question_id in answers.keys() - column_by_id.keys():
                del answers[question_id]
            if answers:
                row = np.full(len(column_by_id), NOT_GIVEN, dtype=np.int16)
                row[[column_by_id[question_id] for question_id in answers]] = [
                    places_by_id[question_id][value] for question_id, value in answers.items()
                ]
                rows.append(row)
                weights.append(weight)
                people.append(person)
        columns = np.array(rows).reshape(-1, len(column_by_id)).T.copy()
        groups = _groups(self.connection, instrument_id)
        groups_of_people = [groups.get(person, {}) for person in people]
        fields = dict.fromkeys(
            field for person_groups in groups_of_people for field in person_groups
        )
        return CodedPeople(
            {
                question.ref: column
                for question, column in zip(questions.values(), columns, strict=True)
            },
            in_range(np.array(weights)),
            {
                field: np.array(
                    [person_groups.get(field, "") for person_groups in groups_of_people],
                    dtype=object,
                )
                for field in fields
            },
        )

    def questions(self, instrument: str) -> tuple[Question, ...]:
        """Return the questions of current statements in order, without people's answers."""
        return tuple(
            read_questions(self.connection, instrument_id_of(self.connection, instrument)).values()
        )

    def tallied(self, instrument: str) -> Tallied | None:
        """Return the questions and the counts of answers, without respondents.

        Returns None if no statement has a role.
        """
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        if not questions:
            return None
        counts_by_ref: dict[str, dict[str, int]] = {}
        for rowid, value, n_people in tally(self.connection, instrument_id):
            if rowid in questions:
                counts_by_ref.setdefault(questions[rowid].ref, {})[value] = n_people
        n_people = self.connection.execute(_PEOPLE, {"instrument": instrument_id}).fetchone()[0]
        query = "select count(distinct weight) > 1 from respondent where instrument_id = ?"
        questionnaire = Questionnaire(
            tuple(questions.values()),
            tuple(read_scales(self.connection, instrument_id).values()),
            published=read_published(self.connection, instrument_id),
        )
        return Tallied(
            questionnaire,
            n_people,
            counts_by_ref,
            bool(self.connection.execute(query, (instrument_id,)).fetchone()[0]),
        )

    def summary(self, instrument: str) -> QuestionnaireSummary | None:
        """Return the counts of a questionnaire, or None if no statement has a role."""
        tallied = self.tallied(instrument)
        if tallied is None:
            return None
        meanings = [tallied.meanings(question) for question in tallied.questionnaire.questions]
        return QuestionnaireSummary(
            context=len(tallied.questionnaire.of_role(QuestionRole.CONTEXT)),
            target=len(tallied.questionnaire.of_role(QuestionRole.TARGET)),
            survey=len(tallied.questionnaire.of_role(QuestionRole.SURVEY)),
            respondents=tallied.respondents,
            answers=sum(count for counts in tallied.given.values() for count in counts.values()),
            neutral=sum(counts[Meaning.NEUTRAL] for counts in meanings),
            missing=sum(counts[Meaning.MISSING] for counts in meanings),
        )

    def add_answers(self, instrument: str, respondents: Iterable[Respondent]) -> AddedRespondents:
        """Add people and their answers in one transaction. Adding them again changes nothing.

        Raises UnknownName for an unknown question, UsageError for an answer off the scale, and
        ConflictError if a person is stored with other answers. Nothing is written then.
        """
        people = tuple(respondents)
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            refs = {question.ref for question in read_questions(connection, instrument_id).values()}
            unknown = {ref for respondent in people for ref in respondent.answers} - refs
            if unknown:
                raise UnknownName(
                    f"{instrument} has no question {', '.join(map(repr, sorted(unknown)))}: give "
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
        role: QuestionRole | Keep | None = KEEP,
        form: Form | Keep = KEEP,
        scale: str | Keep = KEEP,
        leaning: Pole | Keep | None = KEEP,
    ) -> bool:
        """Change a statement's data as a question, and return whether anything changed.

        A `role` of None removes it from the questionnaire. Its answers are kept. Raises UnknownName
        for an unknown statement or scale, and UsageError for a new target without a form and for a
        scale that lacks given answers.
        """
        person = _name_of_editor(person)
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            _check_statement(connection, instrument_id, instrument, ref)
            previous = {
                question.ref: question
                for question in read_questions(connection, instrument_id).values()
            }.get(ref)
            if role is None:
                if previous is not None:
                    add_question(connection, instrument_id, previous, person, taken_out=True)
                return previous is not None
            base_question = (
                previous
                or _removed_question(connection, instrument_id, ref)
                or _new_question(ref, role, form)
            )
            if previous is None and role is KEEP:
                raise UsageError(
                    f"{ref} is no question yet; say its role: context, target or survey"
                )
            updated = replace(
                base_question,
                role=base_question.role if role is KEEP else role,
                form=base_question.form if form is KEEP else form,
                scale=base_question.scale if scale is KEEP else scale,
                leaning=base_question.leaning if leaning is KEEP else leaning,
            )
            if updated == previous:
                return False
            _bring_scale(connection, instrument_id, updated.scale, person)
            add_question(connection, instrument_id, updated, person)
            check_answers(connection, instrument_id, (ref,))
        return True

    def set_scale(self, instrument: str, scale: Scale, *, person: str) -> int:
        """Set the meanings of a scale's answers.

        Returns the number of given answers that change their meaning. An unchanged scale adds no
        revision. Raises UsageError for a scale that lacks given answers.
        """
        person, _ = _name_of_editor(person), thing_name(scale.name, "scale's")
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            previous = read_scales(connection, instrument_id).get(scale.name)
            if previous == scale:
                return 0
            add_scale(connection, instrument_id, scale, person)
            questions = read_questions(connection, instrument_id)
            check_answers(
                connection,
                instrument_id,
                [question.ref for question in questions.values() if question.scale == scale.name],
            )
            if previous is None:
                return 0
            return sum(
                people
                for rowid, value, people in tally(connection, instrument_id)
                if rowid in questions
                and questions[rowid].scale == scale.name
                and previous.meaning(value) is not scale.meaning(value)
            )

    def history(self, instrument: str) -> tuple[QuestionRevision | ScaleRevision, ...]:
        """Return all revisions of questions and scales, the oldest first."""
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = question_revisions(self.connection, instrument_id)
        return tuple(
            sorted(
                (*scale_revisions(self.connection, instrument_id), *questions),
                key=lambda revision: revision.at,
            )
        )

    def scales(self, instrument: str) -> Mapping[str, Scale]:
        """Return the available scales by name.

        They are those of the instrument, and shipped ones that it does not define.
        """
        own_scales = read_scales(self.connection, instrument_id_of(self.connection, instrument))
        return {name: shipped_scale(name) for name in shipped_scales()} | own_scales


def _name_of_editor(name: str) -> str:
    """Return a person's name.

    Raises UsageError for the name of imports, whose changes the next import may revert.
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


def _removed_question(
    connection: sqlite3.Connection, instrument_id: int, ref: str
) -> Question | None:
    """Return a question as it was before it was removed, or None if it never was a question."""
    questions = [
        revision.question
        for revision in question_revisions(connection, instrument_id)
        if revision.ref == ref
    ]
    return next((question for question in reversed(questions) if question is not None), None)


def _new_question(ref: str, role: QuestionRole | Keep, form: Form | Keep) -> Question:
    if role is QuestionRole.TARGET and form is KEEP:
        raise UsageError(f"{ref} is a new target; say its form: question or statement")
    return Question(ref, QuestionRole.CONTEXT, scale=YES_NO.name)


def _bring_scale(
    connection: sqlite3.Connection, instrument_id: int, name: str, person: str
) -> None:
    """Add the shipped scale of a name to the instrument, unless it has a scale of that name.

    Raises UnknownName if there is no such scale.
    """
    own_scales = read_scales(connection, instrument_id)
    if name in own_scales:
        return
    if name not in shipped_scales():
        available = ", ".join(sorted({*own_scales, *shipped_scales()}))
        raise UnknownName(f"no scale is named {name!r}. Available: {available}")
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
