"""Questionnaires: roles of statements, their scales, and people's answers.

Roles and scales have revisions, of which the newest counts; answers stay as given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from stores.core.base import Aggregate, instrument_id_of
from stores.instruments.questionnaire_imports import AddedRespondents, add_respondents, check_answers
from stores.instruments.questionnaire_rows import (
    QuestionRevision,
    ScaleRevision,
    add_question,
    add_scale,
    question_revisions,
    read_questions,
    read_respondents,
    read_scales,
    scale_revisions,
    tally,
)
from stores.instruments.statement_imports import IMPORTER
from workbench.data import shipped_scale, shipped_scales
from workbench.domain.names import person_name, thing_name
from workbench.domain.questionnaire_tallies import Tallied
from workbench.domain.questionnaires import (
    YES_NO,
    Form,
    Meaning,
    Pole,
    Question,
    Questionnaire,
    Respondent,
    Role,
    Scale,
)
from workbench.errors import UnknownName, UsageError


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


class Questionnaires(Aggregate):
    """The methods on questionnaires."""

    def get(self, instrument: str) -> Questionnaire | None:
        """Return the questions of current statements in their order, with the people who answered any of them.

        None if no statement has a role. Raises UnknownName for a missing instrument.
        """
        instrument_id = instrument_id_of(self.connection, instrument)
        questions = read_questions(self.connection, instrument_id)
        if not questions:
            return None
        return Questionnaire(
            tuple(questions.values()),
            tuple(read_scales(self.connection, instrument_id).values()),
            read_respondents(self.connection, instrument_id, questions),
        )

    def questions(self, instrument: str) -> tuple[Question, ...]:
        """Return the questions of current statements in order, without people's answers."""
        return tuple(read_questions(self.connection, instrument_id_of(self.connection, instrument)).values())

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
        scales = tuple(read_scales(self.connection, instrument_id).values())
        return Tallied(Questionnaire(tuple(questions.values()), scales), people, given)

    def summary(self, instrument: str) -> QuestionnaireSummary | None:
        """Return the counts; None if no statement has a role."""
        found = self.tallied(instrument)
        if found is None:
            return None
        meanings = [found.meanings(question) for question in found.questionnaire.questions]
        return QuestionnaireSummary(
            context=len(found.questionnaire.of_role(Role.CONTEXT)),
            target=len(found.questionnaire.of_role(Role.TARGET)),
            respondents=found.respondents,
            answers=sum(n for given in found.given.values() for n in given.values()),
            neutral=sum(one[Meaning.NEUTRAL] for one in meanings),
            missing=sum(one[Meaning.MISSING] for one in meanings),
        )

    def add_answers(self, instrument: str, respondents: Iterable[Respondent]) -> AddedRespondents:
        """Add people and their answers in one transaction; adding them again changes nothing.

        Raises UnknownName for an unknown question, UsageError for an answer off the scale, ConflictError if a person is
        stored with other answers. Nothing is written then.
        """
        people = tuple(respondents)
        with self.store.write() as connection:
            instrument_id = instrument_id_of(connection, instrument)
            refs = {question.ref for question in read_questions(connection, instrument_id).values()}
            strange = {ref for one in people for ref in one.answers} - refs
            if strange:
                raise UnknownName(
                    f"{instrument} has no question {', '.join(map(repr, sorted(strange)))}: give the statement a role"
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

        `role` None removes it from the questionnaire; its answers are kept. Raises UnknownName for an unknown statement
        or scale, UsageError for a new target without a form and for a scale that lacks given answers.
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
            known = before or _put_back(connection, instrument_id, ref) or _new_question(ref, role, form)
            if before is None and role is KEEP:
                raise UsageError(f"{ref} is no question yet; say its role: context or target")
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
        """Set the meanings of a scale's answers, and return how many given answers change their meaning.

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
            check_answers(connection, instrument_id, [q.ref for q in questions.values() if q.scale == scale.name])
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
        return tuple(sorted((*scale_revisions(self.connection, instrument_id), *questions), key=lambda one: one.at))

    def scales(self, instrument: str) -> Mapping[str, Scale]:
        """Return the available scales by name: the instrument's, and shipped ones that it does not define."""
        own = read_scales(self.connection, instrument_id_of(self.connection, instrument))
        return {name: shipped_scale(name) for name in shipped_scales()} | own


def _somebody(name: str) -> str:
    """Return a person's name. Raises UsageError for the name of imports, whose changes the next import may revert."""
    name = person_name(name, "person")
    if name == IMPORTER:
        raise UsageError(f"{IMPORTER!r} stands for files; give the name of a person")
    return name


def _check_statement(connection: sqlite3.Connection, instrument_id: int, instrument: str, ref: str) -> None:
    row = connection.execute(
        "select 1 from statement where instrument_id = ? and ref = ? and current = 1", (instrument_id, ref)
    ).fetchone()
    if row is None:
        raise UnknownName(f"{instrument} has no statement {ref!r}; it may be archived, or was renamed")


def _put_back(connection: sqlite3.Connection, instrument_id: int, ref: str) -> Question | None:
    """Return a question as it was before it was removed; None if it never was one."""
    found = [one.question for one in question_revisions(connection, instrument_id) if one.ref == ref]
    return next((question for question in reversed(found) if question is not None), None)


def _new_question(ref: str, role: Role | Keep, form: Form | Keep) -> Question:
    if role is Role.TARGET and form is KEEP:
        raise UsageError(f"{ref} is a new target; say its form: question or statement")
    return Question(ref, Role.CONTEXT, scale=YES_NO.name)


def _bring_scale(connection: sqlite3.Connection, instrument_id: int, name: str, person: str) -> None:
    """Make sure that the instrument has a scale, copying the shipped one if it has none of that name."""
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
