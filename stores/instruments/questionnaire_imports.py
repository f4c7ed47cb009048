"""Merges a questionnaire from a file with the stored one: changes of the file count, and changes made here are kept.

Roles and scales follow the rule of statements (`statement_imports`): a file overrides a person's change only if the
file itself changed since its last import. Answers have no revisions. Predictions are compared with them, so a stored
answer is never overwritten: a file with different answers is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stores.core.base import now
from stores.instruments.questionnaire_rows import (
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
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.questionnaires import Question, Questionnaire, Respondent
from workbench.errors import ConflictError, UsageError

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

    `statements`: ref in the file -> rowid of the statement's current version here, which may have been renamed; None:
    match by ref. `keep`: stored roles and scales are kept, and the file adds others.

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
    check_answers(connection, instrument_id)
    return added


def add_respondents(
    connection: sqlite3.Connection, instrument_id: int, respondents: Sequence[Respondent]
) -> AddedRespondents:
    """Add people with their answers; people stored with the same answers change nothing.

    A question without any stored answer, or without any answer of these people, was not asked and is not a difference.
    Raises ConflictError for other differences, UsageError for a name that is given twice.
    """
    questions = read_questions(connection, instrument_id)
    ids = {question.ref: rowid for rowid, question in questions.items()}
    wanted = _wanted(respondents, ids)
    here = {one.name: one.answers for one in read_respondents(connection, instrument_id, questions)}
    _check_same(here, wanted)
    rows = connection.execute("select name, id from respondent where instrument_id = ?", (instrument_id,))
    known = dict(rows.fetchall())
    at = now()
    for name in [name for name in wanted if name not in known]:
        row = connection.execute(
            "insert into respondent (instrument_id, name, at) values (?, ?, ?) returning id", (instrument_id, name, at)
        ).fetchone()
        known[name] = row[0]
    new = [
        (known[name], ids[ref], value)
        for name, answers in wanted.items()
        for ref, value in answers.items()
        if ref not in here.get(name, {})
    ]
    connection.executemany("insert into answer (respondent_id, question_id, value) values (?, ?, ?)", new)
    given = sum(1 for one in respondents for value in one.answers.values() if value.strip())
    return AddedRespondents(
        added=sum(name not in here for name in wanted),
        known=sum(name in here for name in wanted),
        answers=len(new),
        absent=sum(name not in wanted for name in here),
        skipped=given - sum(map(len, wanted.values())),
    )


def check_answers(connection: sqlite3.Connection, instrument_id: int, refs: Iterable[str] | None = None) -> None:
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
            raise UsageError(f"{question.ref}: no scale is named {question.scale!r}. Available: {', '.join(scales)}")
        off = [(value, n) for value, n in given.get(rowid, ()) if scale.option(value) is None]
        faults += [f"{question.ref}: {value!r} ({n:,} people), not on {scale.name}" for value, n in off]
    if faults:
        raise UsageError(
            f"there are answers off their scales: {named_few(faults, SHOWN)}. Nothing was changed; give the question a "
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


def _put_scales(connection: sqlite3.Connection, instrument_id: int, questionnaire: Questionnaire) -> None:
    revisions = scale_revisions(connection, instrument_id)
    base = {one.scale.name: one.scale for one in revisions if one.person == IMPORTER}  # the newest comes last
    for scale in questionnaire.scales:
        if base.get(scale.name) != scale:
            add_scale(connection, instrument_id, scale, IMPORTER)


def _add_missing(
    connection: sqlite3.Connection, instrument_id: int, questionnaire: Questionnaire, questions: Sequence[Question]
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
    connection: sqlite3.Connection, instrument_id: int, questions: Sequence[Question], current: set[str]
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
            raise UsageError(f"the respondent {one.name!r} is given twice; give every respondent once")
        answers = {ref: value for ref, value in one.answers.items() if ref in ids and value.strip()}
        if answers:
            found[one.name] = answers
    return found


def _check_same(here: Mapping[str, Mapping[str, str]], wanted: Mapping[str, Mapping[str, str]]) -> None:
    """Raise ConflictError if the file has other answers of stored people."""
    asked = _answered(here) & _answered(wanted)
    differ = []
    for name in wanted.keys() & here.keys() if asked else ():
        ours, theirs = here[name], wanted[name]
        for ref in asked:
            if ours.get(ref) != theirs.get(ref):
                differ.append(f"{name!r} to {ref!r}: {_said(ours, ref)} here, {_said(theirs, ref)} in the file")
    if differ:
        raise ConflictError(
            f"{len(differ):,} answer{'s are' if len(differ) > 1 else ' is'} not what these people answered here: "
            f"{'; '.join(sorted(differ)[:SHOWN])}"
            f"{f'; and {len(differ) - SHOWN:,} more' if len(differ) > SHOWN else ''}. Nothing was imported; give the "
            "people of the file other names, or import it as an instrument of another name"
        )


def _answered(people: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {ref for answers in people.values() for ref in answers}


def _said(answers: Mapping[str, str], ref: str) -> str:
    return repr(answers[ref]) if ref in answers else "nothing"
