"""Checks of questionnaires: missing context, impossible predictions, and targets that the context gives away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.domain.findings import LintFinding
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaire_tallies import Tallied, named_few
from workbench.domain.questionnaire_texts import shared_texts
from workbench.domain.questionnaires import Form, Meaning, Question, Role
from workbench.domain.statements import ORIGINAL
from workbench.lint.templates import compares_wordings


def questionnaire_findings(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    """Yield findings on roles, scales and answers."""
    yield from _parts(instrument, answers)
    yield from _texts(instrument, answers)
    yield from _scales(answers)
    yield from _targets(answers)


def about_asked(found: Iterable[LintFinding], instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    """Yield findings relevant to questionnaires: if no other audit asks them, context questions need no other wordings,
    and may be questions.
    """
    meant = {("missing-variant", ref) for ref in not_reworded(instrument, answers)}
    meant |= {("question", q.ref) for q in answers.questionnaire.questions if q.form is Form.QUESTION}
    reworded = compares_wordings(instrument.templates)
    return (one for one in found if reworded or (one.code, one.ref) not in meant)


def not_reworded(instrument: Instrument, answers: Tallied) -> set[str]:
    """Return the refs of context questions, unless an audit of the instrument compares their wordings."""
    if compares_wordings(instrument.templates):
        return set()
    return {question.ref for question in answers.questionnaire.of_role(Role.CONTEXT)}


def _parts(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    questions = answers.questionnaire
    name = instrument.name
    if not questions.of_role(Role.TARGET):
        yield LintFinding("warning", "no-target", name, "no question is a target, so nothing can be predicted")
    if not questions.of_role(Role.CONTEXT):
        message = "no question is context, so answers are predicted from nothing"
        yield LintFinding("warning", "no-context", name, message)
    if not answers.respondents:
        yield LintFinding("note", "no-respondents", name, "nobody has answered the questions; import answers.csv")


def _texts(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    statements = {statement.ref: statement for statement in instrument.statements}
    for target, context in shared_texts(statements, answers.questionnaire.questions):
        message = f"is a target with the text of the context question {context}, which gives the answer away"
        yield LintFinding("error", "target-in-context", target, message, target, detail=context)
    for question in answers.questionnaire.questions:
        statement = statements.get(question.ref)
        if statement is not None and not any(w.variant == ORIGINAL for w in statement.wordings):
            message = f"is a {question.role} question without an original, so there is no text to ask"
            yield LintFinding("warning", "question-without-text", question.ref, message, question.ref)


def _scales(answers: Tallied) -> Iterator[LintFinding]:
    used = {question.scale for question in answers.questionnaire.questions}
    for scale in answers.questionnaire.scales:
        meant = {option.meaning for option in scale.options}
        lacking = [meaning.value for meaning in (Meaning.YES, Meaning.NO) if meaning not in meant]
        if scale.name in used and lacking:
            message = f"no answer of this scale means {' or '.join(lacking)}"
            yield LintFinding("warning", "one-sided-scale", scale.name, message)


def _targets(answers: Tallied) -> Iterator[LintFinding]:
    targets = answers.questionnaire.of_role(Role.TARGET)
    if answers.respondents:
        for question in targets:
            yield from _unpredictable(question, answers)
    unsaid = [question.ref for question in targets if question.leaning is None]
    if unsaid and len(unsaid) < len(targets):
        message = "a yes to these targets leans nowhere, so the liberal-conservative axis leaves them out: {}"
        yield LintFinding("note", "no-leaning", "targets", message.format(named_few(unsaid)))


def _unpredictable(question: Question, answers: Tallied) -> Iterator[LintFinding]:
    found = answers.meanings(question)
    if not found[Meaning.YES] and not found[Meaning.NO]:
        rest = f"{found[Meaning.NEUTRAL]:,} neutral, {found[Meaning.MISSING]:,} missing"
        message = f"no respondent answered yes or no ({rest}), so nothing can be predicted"
        yield LintFinding("warning", "no-yes-or-no", question.ref, message, question.ref)
