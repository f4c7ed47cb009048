"""What statements are as questions of a questionnaire: roles, forms, scales and leanings of all of our formats.

The columns `role`, `form`, `scale` and `yes` of `statements.csv`, and the keys of the same names in JSON Lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.data import shipped_scale, shipped_scales
from workbench.domain.questionnaire_texts import shared_texts
from workbench.domain.questionnaires import YES_NO, Form, Question, Questionnaire, Role, Scale
from workbench.domain.statements import Statement
from workbench.formats.lines import Line
from workbench.formats.tabular import Findings, unknown

COLUMNS = ("role", "form", "scale", "yes")


class _Asked(NamedTuple):
    """What the lines of one statement say of it as a question."""

    question: Question
    line: Line
    "the one that names its role"


def questionnaire_of(
    lines: Sequence[Line], statements: Sequence[Statement], own: Sequence[Scale], findings: Findings
) -> Questionnaire | None:
    """Return the questions with their scales, and no respondents; None where no statement has a role.

    `own`: scales of the instrument, which go before shipped ones of their name. Whatever is wrong is noted.
    """
    scales = {name: shipped_scale(name) for name in shipped_scales()} | {scale.name: scale for scale in own}
    by_ref: dict[str, list[Line]] = {}
    for line in lines:
        by_ref.setdefault(line.ref, []).append(line)
    said = [_asked(group, tuple(scales), findings) for group in by_ref.values()]
    asked = {one.question.ref: one for one in said if one is not None}
    if not asked:
        return None
    _check_texts({s.ref: s for s in statements}, asked, findings)
    questions = tuple(asked[s.ref].question for s in statements if s.ref in asked)
    wanted = {question.scale for question in questions} | {scale.name for scale in own}
    return Questionnaire(questions, tuple(scales[name] for name in sorted(wanted & scales.keys())))


def _asked(group: Sequence[Line], scales: Sequence[str], findings: Findings) -> _Asked | None:
    """Return one statement as a question; None where it has no role."""
    named = {name: next((line for line in group if getattr(line, name) is not None), None) for name in COLUMNS}
    line = named["role"]
    if line is None or line.role is None:
        for name, where in named.items():
            if where is not None:
                found = f"{str(getattr(where, name))!r} for a statement without a role"
                findings.add(where.file, where.line, name, found, f"one of {', '.join(Role)} in 'role'")
        return None
    form, scale, yes = (getattr(named[name], name, None) for name in COLUMNS[1:])
    if line.role is Role.TARGET and form is None:
        findings.add(line.file, line.line, "form", "a target without a form", f"one of {', '.join(Form)}")
    where = named["scale"]
    if where is not None and scale is not None and scale not in scales:
        found, expected = unknown("scale", scale, scales)
        findings.add(where.file, where.line, "scale", f"{found} {scale!r}", expected)
    return _Asked(Question(line.ref, line.role, form or Form.QUESTION, scale or YES_NO.name, yes), line)


def _check_texts(statements: Mapping[str, Statement], asked: Mapping[str, _Asked], findings: Findings) -> None:
    """Note targets whose text a context question has, too: the model would be shown what it is to predict."""
    questions = tuple(one.question for one in asked.values())
    for target, context in shared_texts(statements, questions):
        line = asked[target].line
        found = f"the text of the context question {context!r}"
        findings.add(line.file, line.line, "role", found, "a target that is not asked in the context, too")
