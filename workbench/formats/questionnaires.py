"""Statements as questions of a questionnaire: their roles, forms, scales and leanings.

All of our formats have them: in the columns `role`, `form`, `scale` and `yes` of `statements.csv`,
and in the keys of the same names in JSON Lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from workbench.data import shipped_scale, shipped_scales
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import (
    YES_NO,
    Form,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
    shared_texts,
)
from workbench.domain.statements import Statement
from workbench.formats.lines import WordingLine
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, unknown

COLUMNS = ("role", "form", "scale", "yes")


def check_role_column(path: Path, rows: Sequence[Row], findings: Findings) -> None:
    """Note once that a file has columns about questions but no column `role`."""
    header = rows[0].cells if rows else {}
    filled = [name for name in COLUMNS[1:] if any(row.get(name) for row in rows)]
    if "role" not in header and filled:
        column_list = " and ".join(repr(name) for name in filled)
        expected = (
            f"a column of {' or '.join(QuestionRole)}, which says which statements are questions"
        )
        findings.add(path, 1, "role", f"no such column, beside {column_list}", expected)


class _AskedStatement(NamedTuple):
    """The data of one statement as a question, from its lines."""

    question: Question
    line: WordingLine
    "the line that names the role"


def questionnaire_of(
    lines: Sequence[WordingLine],
    statements: Sequence[Statement],
    own: Sequence[Scale],
    findings: Findings,
) -> Questionnaire | None:
    """Return the questions with their scales, or None if no statement has a role.

    Respondents are not included. `own` has the scales of the instrument, which take precedence over
    shipped ones of the same name. Faults are noted.
    """
    scales = {name: shipped_scale(name) for name in shipped_scales()} | {
        scale.name: scale for scale in own
    }
    by_ref: dict[str, list[WordingLine]] = {}
    for line in lines:
        by_ref.setdefault(line.ref, []).append(line)
    if not any(line.role for line in lines):
        _check_roles(lines, findings)
        return None
    questions_or_none = [
        _asked_statement(group, tuple(scales), findings) for group in by_ref.values()
    ]
    question_by_ref = {
        question_data.question.ref: question_data
        for question_data in questions_or_none
        if question_data is not None
    }
    _check_texts({statement.ref: statement for statement in statements}, question_by_ref, findings)
    questions = tuple(
        question_by_ref[statement.ref].question
        for statement in statements
        if statement.ref in question_by_ref
    )
    used_scales = {question.scale for question in questions} | {scale.name for scale in own}
    return Questionnaire(
        questions, tuple(scales[name] for name in sorted(used_scales & scales.keys()))
    )


def _check_roles(lines: Sequence[WordingLine], findings: Findings) -> None:
    """Note once columns about questions if no statement is a question.

    Nothing is noted if a fault of the roles was noted before.
    """
    filled_columns = [
        (name, line) for line in lines for name in COLUMNS[1:] if getattr(line, name) is not None
    ]
    if not filled_columns or _role_is_at_fault(findings):
        return
    name, first_line = filled_columns[0]
    n_lines = len({(line.file, line.line) for _, line in filled_columns})
    problem = f"no role in any line, and {name!r} in {plural(n_lines, 'line')}, here first"
    findings.add(
        first_line.file,
        first_line.line,
        "role",
        problem,
        f"one of {', '.join(QuestionRole)} for every question",
    )


def _role_is_at_fault(findings: Findings, places: Collection[tuple[str, int]] = ()) -> bool:
    """Return whether a fault of a role was noted in one of the places (file, line).

    Without places, any such fault counts.
    """
    return any(
        fault.column == "role" and (not places or (fault.file, fault.line) in places)
        for fault in findings.found
    )


def _asked_statement(
    group: Sequence[WordingLine], scales: Sequence[str], findings: Findings
) -> _AskedStatement | None:
    """Return one statement as a question, or None if it has no role."""
    line_by_column = {
        name: next((line for line in group if getattr(line, name) is not None), None)
        for name in COLUMNS
    }
    line = line_by_column["role"]
    if line is None or line.role is None:
        _note_missing_role(group, line_by_column, findings)
        return None
    form, scale, yes = (getattr(line_by_column[name], name, None) for name in COLUMNS[1:])
    if line.role is QuestionRole.TARGET and form is None:
        findings.add(
            line.file, line.line, "form", "a target without a form", f"one of {', '.join(Form)}"
        )
    column_line = line_by_column["scale"]
    if column_line is not None and scale is not None and scale not in scales:
        problem, expected = unknown("scale", scale, scales)
        findings.add(column_line.file, column_line.line, "scale", f"{problem} {scale!r}", expected)
    return _AskedStatement(
        Question(line.ref, line.role, form or Form.QUESTION, scale or YES_NO.name, yes), line
    )


def _note_missing_role(
    group: Sequence[WordingLine],
    line_by_column: Mapping[str, WordingLine | None],
    findings: Findings,
) -> None:
    """Note the columns about questions of a statement without a role.

    Nothing is noted if a fault of its role was noted before.
    """
    places = {(line.file.name, line.line) for line in group}
    if _role_is_at_fault(findings, places):
        return
    for name, line in line_by_column.items():
        if line is not None:
            problem = f"{str(getattr(line, name))!r} for a statement without a role"
            expected = f"one of {', '.join(QuestionRole)} in 'role'"
            findings.add(line.file, line.line, name, problem, expected)


def _check_texts(
    statements: Mapping[str, Statement], asked: Mapping[str, _AskedStatement], findings: Findings
) -> None:
    """Note targets with the same text as a context question.

    The model would be shown the answer that it has to predict.
    """
    questions = tuple(asked_question.question for asked_question in asked.values())
    for target, context in shared_texts(statements, questions):
        line = asked[target].line
        problem = f"the text of the context question {context!r}"
        findings.add(
            line.file, line.line, "role", problem, "a target that is not also a context question"
        )


def normal_questionnaire(instrument: Instrument) -> tuple[Questionnaire | None, tuple[str, ...]]:
    """Return a questionnaire as read back from its files, and sentences about losses.

    Questions are in the order of their statements, and scales are sorted by name. Every respondent
    has an answer.
    """
    questionnaire = instrument.questionnaire
    if questionnaire is None:
        return None, ()
    question_by_ref = {question.ref: question for question in questionnaire.questions}
    questions = tuple(
        question_by_ref[statement.ref]
        for statement in instrument.statements
        if statement.ref in question_by_ref
    )
    refs = {question.ref for question in questions}
    people = tuple(_with_answers_to(respondent, refs) for respondent in questionnaire.respondents)
    answering = tuple(person for person in people if person.answers)
    n_lost = {
        "questions that are not statements of the instrument": len(question_by_ref)
        - len(questions),
        "answers to questions that the instrument does not have": sum(
            len(respondent.answers) - len(person.answers)
            for respondent, person in zip(questionnaire.respondents, people, strict=True)
        ),
        "respondents without an answer": len(people) - len(answering),
    }
    scales = tuple(sorted(questionnaire.scales, key=lambda scale: scale.name))
    losses = tuple(f"{count:,} {caption}." for caption, count in n_lost.items() if count)
    published = tuple(
        published_shares
        for published_shares in questionnaire.published
        if published_shares.ref in refs
    )
    return (Questionnaire(questions, scales, answering, published) if questions else None), losses


def in_lines(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument with the part of its questionnaire that JSON Lines hold.

    The second value has sentences about the rest.

    Lines name scales but cannot define their answers, so a question with a scale of the
    instrument's own has no role there.
    """
    questionnaire, _ = normal_questionnaire(instrument)
    if questionnaire is None:
        return replace(instrument, questionnaire=None), ()
    shipped = {name: shipped_scale(name) for name in shipped_scales()}
    questions = tuple(question for question in questionnaire.questions if question.scale in shipped)
    own_scales = [scale.name for scale in questionnaire.scales if shipped.get(scale.name) != scale]
    n_lost = len(questionnaire.questions) - len(questions)
    losses = (
        [f"{len(questionnaire.respondents):,} respondents and their answers."]
        if questionnaire.respondents
        else []
    )
    losses += (
        [f"{len(questionnaire.published):,} published distributions of answers."]
        if questionnaire.published
        else []
    )
    losses += (
        [f"The instrument's own scales of answers: {', '.join(own_scales)}."] if own_scales else []
    )
    losses += (
        [f"The roles of {n_lost:,} questions whose scales are the instrument's own."]
        if n_lost
        else []
    )
    scales = tuple(shipped[name] for name in sorted({question.scale for question in questions}))
    return replace(
        instrument, questionnaire=Questionnaire(questions, scales) if questions else None
    ), tuple(losses)


def beside_layout(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about data that a layout without questionnaires leaves out."""
    questionnaire = instrument.questionnaire
    if questionnaire is None:
        return ()
    return (
        f"The roles and scales of {len(questionnaire.questions):,} questions, and the answers of "
        f"{len(questionnaire.respondents):,} respondents.",
    )


def _with_answers_to(respondent: Respondent, refs: set[str]) -> Respondent:
    if respondent.answers.keys() <= refs and all(respondent.answers.values()):
        return respondent
    return replace(
        respondent,
        answers={ref: value for ref, value in respondent.answers.items() if ref in refs and value},
    )
