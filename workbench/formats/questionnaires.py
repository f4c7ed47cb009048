"""Statements as questions of a questionnaire: roles, forms, scales and leanings in all of our
formats.

The columns `role`, `form`, `scale` and `yes` of `statements.csv`, and the keys of the same names in
JSON Lines.
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
    Respondent,
    Role,
    Scale,
    shared_texts,
)
from workbench.domain.statements import Statement
from workbench.formats.lines import Line
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, unknown

COLUMNS = ("role", "form", "scale", "yes")


def check_role_column(path: Path, rows: Sequence[Row], findings: Findings) -> None:
    """Note once that a file has columns about questions but no column `role`."""
    header = rows[0].cells if rows else {}
    filled = [name for name in COLUMNS[1:] if any(row.get(name) for row in rows)]
    if "role" not in header and filled:
        there = " and ".join(repr(name) for name in filled)
        expected = f"a column of {' or '.join(Role)}, which says which statements are questions"
        findings.add(path, 1, "role", f"no such column, beside {there}", expected)


class _Asked(NamedTuple):
    """The data of one statement as a question, from its lines."""

    question: Question
    line: Line
    "the line that names the role"


def questionnaire_of(
    lines: Sequence[Line], statements: Sequence[Statement], own: Sequence[Scale], findings: Findings
) -> Questionnaire | None:
    """Return the questions with their scales, without respondents; None if no statement has a role.

    `own`: scales of the instrument, which take precedence over shipped ones of the same name.
    Faults are noted.
    """
    scales = {name: shipped_scale(name) for name in shipped_scales()} | {
        scale.name: scale for scale in own
    }
    by_ref: dict[str, list[Line]] = {}
    for line in lines:
        by_ref.setdefault(line.ref, []).append(line)
    if not any(line.role for line in lines):
        _check_roles(lines, findings)
        return None
    said = [_asked(group, tuple(scales), findings) for group in by_ref.values()]
    asked = {one.question.ref: one for one in said if one is not None}
    _check_texts({s.ref: s for s in statements}, asked, findings)
    questions = tuple(asked[s.ref].question for s in statements if s.ref in asked)
    wanted = {question.scale for question in questions} | {scale.name for scale in own}
    return Questionnaire(questions, tuple(scales[name] for name in sorted(wanted & scales.keys())))


def _check_roles(lines: Sequence[Line], findings: Findings) -> None:
    """Note once columns about questions if no statement is a question, unless a fault of the roles
    was noted.
    """
    belonging = [
        (name, line) for line in lines for name in COLUMNS[1:] if getattr(line, name) is not None
    ]
    if not belonging or _role_is_at_fault(findings):
        return
    name, first = belonging[0]
    times = len({(line.file, line.line) for _, line in belonging})
    found = f"no role in any line, and {name!r} in {plural(times, 'line')}, here first"
    findings.add(
        first.file, first.line, "role", found, f"one of {', '.join(Role)} for every question"
    )


def _role_is_at_fault(findings: Findings, places: Collection[tuple[str, int]] = ()) -> bool:
    """Return whether a fault of a role was noted in one of the places (file, line), or anywhere if
    none are given.
    """
    return any(
        fault.column == "role" and (not places or (fault.file, fault.line) in places)
        for fault in findings.found
    )


def _asked(group: Sequence[Line], scales: Sequence[str], findings: Findings) -> _Asked | None:
    """Return one statement as a question; None if it has no role."""
    named = {
        name: next((line for line in group if getattr(line, name) is not None), None)
        for name in COLUMNS
    }
    line = named["role"]
    if line is None or line.role is None:
        if _role_is_at_fault(findings, {(one.file.name, one.line) for one in group}):
            return None
        for name, where in named.items():
            if where is not None:
                found = f"{str(getattr(where, name))!r} for a statement without a role"
                findings.add(
                    where.file, where.line, name, found, f"one of {', '.join(Role)} in 'role'"
                )
        return None
    form, scale, yes = (getattr(named[name], name, None) for name in COLUMNS[1:])
    if line.role is Role.TARGET and form is None:
        findings.add(
            line.file, line.line, "form", "a target without a form", f"one of {', '.join(Form)}"
        )
    where = named["scale"]
    if where is not None and scale is not None and scale not in scales:
        found, expected = unknown("scale", scale, scales)
        findings.add(where.file, where.line, "scale", f"{found} {scale!r}", expected)
    return _Asked(
        Question(line.ref, line.role, form or Form.QUESTION, scale or YES_NO.name, yes), line
    )


def _check_texts(
    statements: Mapping[str, Statement], asked: Mapping[str, _Asked], findings: Findings
) -> None:
    """Note targets with the same text as a context question: the model would be shown what it has
    to predict.
    """
    questions = tuple(one.question for one in asked.values())
    for target, context in shared_texts(statements, questions):
        line = asked[target].line
        found = f"the text of the context question {context!r}"
        findings.add(
            line.file, line.line, "role", found, "a target that is not also a context question"
        )


def normal_questionnaire(instrument: Instrument) -> tuple[Questionnaire | None, tuple[str, ...]]:
    """Return a questionnaire as read back from its files, and sentences about what is lost.

    Questions are in the order of their statements, scales sorted by name; every respondent has an
    answer.
    """
    whole = instrument.questionnaire
    if whole is None:
        return None, ()
    asked = {question.ref: question for question in whole.questions}
    questions = tuple(asked[s.ref] for s in instrument.statements if s.ref in asked)
    refs = {question.ref for question in questions}
    people = tuple(_answered(one, refs) for one in whole.respondents)
    kept = tuple(one for one in people if one.answers)
    lost = {
        "questions that are not statements of the instrument": len(asked) - len(questions),
        "answers to questions that the instrument does not have": sum(
            len(before.answers) - len(after.answers)
            for before, after in zip(whole.respondents, people, strict=True)
        ),
        "respondents without an answer": len(people) - len(kept),
    }
    scales = tuple(sorted(whole.scales, key=lambda scale: scale.name))
    said = tuple(f"{n:,} {what}." for what, n in lost.items() if n)
    published = tuple(one for one in whole.published if one.ref in refs)
    return (Questionnaire(questions, scales, kept, published) if questions else None), said


def in_lines(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument with the part of its questionnaire that JSON Lines hold, and sentences
    about the rest.

    Lines name scales but cannot define their answers, so a question with a scale of the
    instrument's own has no role there.
    """
    whole, _ = normal_questionnaire(instrument)
    if whole is None:
        return replace(instrument, questionnaire=None), ()
    known = {name: shipped_scale(name) for name in shipped_scales()}
    questions = tuple(question for question in whole.questions if question.scale in known)
    own = [scale.name for scale in whole.scales if known.get(scale.name) != scale]
    lost = len(whole.questions) - len(questions)
    said = (
        [f"{len(whole.respondents):,} respondents and their answers."] if whole.respondents else []
    )
    said += (
        [f"{len(whole.published):,} published distributions of answers."] if whole.published else []
    )
    said += [f"The instrument's own scales of answers: {', '.join(own)}."] if own else []
    said += (
        [f"The roles of {lost:,} questions whose scales are the instrument's own."] if lost else []
    )
    scales = tuple(known[name] for name in sorted({question.scale for question in questions}))
    return replace(
        instrument, questionnaire=Questionnaire(questions, scales) if questions else None
    ), tuple(said)


def beside_layout(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about what a layout without questionnaires leaves out."""
    whole = instrument.questionnaire
    if whole is None:
        return ()
    return (
        f"The roles and scales of {len(whole.questions):,} questions, and the answers of "
        f"{len(whole.respondents):,} respondents.",
    )


def _answered(one: Respondent, refs: set[str]) -> Respondent:
    if one.answers.keys() <= refs and all(one.answers.values()):
        return one
    return replace(
        one, answers={ref: value for ref, value in one.answers.items() if ref in refs and value}
    )
