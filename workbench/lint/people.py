"""Checks of people's data on an instrument: sides, labels, answers, and the scheme of policy
issues.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from workbench.data import shipped_issue_scheme
from workbench.domain.findings import LintFinding, folded
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import (
    Form,
    Meaning,
    Question,
    Role,
    Tallied,
    named_few,
    shared_texts,
)
from workbench.domain.statements import ORIGINAL, Side
from workbench.lint.statements import compares_wordings, needs_sides

FEWEST_PER_ISSUE = 6
"labelled statements; fewer are marked in the stance per policy issue (Ceron et al. 2024, Figure 5)"

FEWEST_OFFERED = 2
"answers that a survey question offers"


def people_findings(instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings on labels, answers and issues."""
    yield from _sides(instrument)
    yield from _unknown_statements(instrument)
    yield from _issues(instrument)
    yield from _scheme(instrument)


def _sides(instrument: Instrument) -> Iterator[LintFinding]:
    """A statement enters the bias score by its dimension and leaning together."""
    labelled = [
        s for s in instrument.statements if s.dimension is not None or s.leaning is not None
    ]
    for statement in labelled:
        ref = statement.ref
        if statement.leaning is None:
            message = (
                f"is {statement.dimension} and has no leaning, so the left/right bias excludes it"
            )
            yield LintFinding("warning", "half-labelled", ref, message, ref)
        elif statement.dimension is None:
            message = (
                f"leans {statement.leaning} and has no dimension, so the left/right bias "
                "excludes it"
            )
            yield LintFinding("warning", "half-labelled", ref, message, ref)
    wanted = instrument.templates and needs_sides(instrument.templates)
    if wanted and not labelled:
        message = "no statement has a dimension and a leaning, so there is no left/right bias"
        yield LintFinding("note", "no-labels", instrument.name, message)
    sides = Counter((s.dimension, s.leaning) for s in labelled if s.dimension and s.leaning)
    for dimension in dict.fromkeys(dimension for dimension, _ in sides):
        for side in Side:
            if dimension is not None and not sides[dimension, side]:
                message = (
                    f"no {dimension} statement leans {side}, so the {dimension} bias is undefined"
                )
                yield LintFinding("warning", "one-side", instrument.name, message)


def _unknown_statements(instrument: Instrument) -> Iterator[LintFinding]:
    refs = {statement.ref for statement in instrument.statements}
    sources = {
        "issue labels": [label.statement for label in instrument.issue_labels],
        "party answers": [answer.statement for answer in instrument.party_answers],
        "survey answers": [answer.statement for answer in instrument.survey],
    }
    for what, statements in sources.items():
        for ref, n in sorted(Counter(ref for ref in statements if ref not in refs).items()):
            yield LintFinding(
                "warning", "unknown-statement", ref, f"{what} on a statement that is not there: {n}"
            )
    answered = {answer.statement for answer in instrument.party_answers}
    without = [ref for ref in refs if ref not in answered]
    if answered and without:
        shown = ", ".join(sorted(without)[:5])
        message = f"{len(without):,} statements have no party answers: {shown}"
        yield LintFinding("note", "no-party-answers", instrument.name, message)


def _issues(instrument: Instrument) -> Iterator[LintFinding]:
    refs = {statement.ref for statement in instrument.statements}
    labelled: dict[str, set[str]] = defaultdict(set)
    for label in instrument.issue_labels:
        if label.label and label.statement in refs:
            labelled[label.issue].add(label.statement)
    for issue in dict.fromkeys(instrument.issues):
        if len(labelled[issue]) < FEWEST_PER_ISSUE:
            n = len(labelled[issue])
            message = (
                f"{n} statement{' is' if n == 1 else 's are'} labelled; fewer than "
                f"{FEWEST_PER_ISSUE} say little"
            )
            yield LintFinding("note", "few-labels", issue, message)


def _scheme(instrument: Instrument) -> Iterator[LintFinding]:
    """Check that policy issues have unique names and definitions."""
    names = Counter(map(folded, instrument.issues))
    told: set[str] = set()
    for issue in instrument.issues:
        if names[folded(issue)] > 1 and folded(issue) not in told:
            told.add(folded(issue))
            message = (
                f"{names[folded(issue)]} issues have this name, so their labels cannot be "
                "told apart"
            )
            yield LintFinding("warning", "issue-twice", issue, message)
    known = (*shipped_issue_scheme().issues, *instrument.definitions)
    defined = {issue.name for issue in known if issue.definition.strip()}
    for issue in dict.fromkeys(instrument.issues):
        if issue not in defined:
            message = "has no definition, so people who label it have to guess what it means"
            yield LintFinding("note", "issue-undefined", issue, message)
    for issue in dict.fromkeys(definition.name for definition in instrument.definitions):
        if issue not in instrument.issues:
            message = "is defined, and is not among the instrument's issues"
            yield LintFinding("note", "issue-unused", issue, message)


def questionnaire_findings(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    """Yield findings on roles, scales and answers."""
    yield from _parts(instrument, answers)
    yield from _texts(instrument, answers)
    yield from _scales(answers)
    yield from _targets(answers)


def about_asked(
    found: Iterable[LintFinding], instrument: Instrument, answers: Tallied
) -> Iterator[LintFinding]:
    """Yield findings relevant to questionnaires: if no other audit asks them, context questions
    need no other wordings, and may be questions.
    """
    meant = {("missing-variant", ref) for ref in not_reworded(instrument, answers)}
    meant |= {
        ("question", q.ref) for q in answers.questionnaire.questions if q.form is Form.QUESTION
    }
    reworded = compares_wordings(instrument.templates)
    return (one for one in found if reworded or (one.code, one.ref) not in meant)


def not_reworded(instrument: Instrument, answers: Tallied) -> set[str]:
    """Return the refs of context questions, unless an audit of the instrument compares their
    wordings.
    """
    if compares_wordings(instrument.templates):
        return set()
    return {
        question.ref
        for question in answers.questionnaire.questions
        if question.role is not Role.TARGET
    }


def _parts(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    questions = answers.questionnaire
    name = instrument.name
    # A survey's are only compared.
    predicting = len(questions.of_role(Role.SURVEY)) < len(questions.questions)
    if predicting and not questions.of_role(Role.TARGET):
        yield LintFinding(
            "warning", "no-target", name, "no question is a target, so nothing can be predicted"
        )
    if predicting and not questions.of_role(Role.CONTEXT):
        message = "no question is context, so answers are predicted from nothing"
        yield LintFinding("warning", "no-context", name, message)
    if not answers.respondents and not questions.published:
        yield LintFinding(
            "note", "no-respondents", name, "nobody has answered the questions; import answers.csv"
        )


def _texts(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    statements = {statement.ref: statement for statement in instrument.statements}
    for target, context in shared_texts(statements, answers.questionnaire.questions):
        message = (
            f"is a target with the text of the context question {context}, which gives the "
            "answer away"
        )
        yield LintFinding("error", "target-in-context", target, message, target, detail=context)
    for question in answers.questionnaire.questions:
        statement = statements.get(question.ref)
        if statement is not None and not any(w.variant == ORIGINAL for w in statement.wordings):
            message = (
                f"is a {question.role} question without an original, so there is no text to ask"
            )
            yield LintFinding(
                "warning", "question-without-text", question.ref, message, question.ref
            )


def _scales(answers: Tallied) -> Iterator[LintFinding]:
    questions = answers.questionnaire.questions
    used = {question.scale for question in questions if question.role is not Role.SURVEY}
    offered = {question.scale for question in questions if question.role is Role.SURVEY}
    for scale in answers.questionnaire.scales:
        if scale.name in offered and len(scale.offered) < FEWEST_OFFERED:
            message = "offers fewer than two answers, so its survey questions cannot be put"
            yield LintFinding("warning", "nothing-to-choose", scale.name, message)
        meanings = {option.meaning for option in scale.offered}
        if Meaning.OPTION in meanings and len(meanings) > 1:
            message = (
                "has answers with and without an order; options have none, and then no "
                "answer has one"
            )
            yield LintFinding("warning", "half-ordered", scale.name, message)
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
        message = (
            "a yes to these targets leans nowhere, so the liberal-conservative axis leaves "
            "them out: {}"
        )
        yield LintFinding("note", "no-leaning", "targets", message.format(named_few(unsaid)))


def _unpredictable(question: Question, answers: Tallied) -> Iterator[LintFinding]:
    found = answers.meanings(question)
    if not found[Meaning.YES] and not found[Meaning.NO]:
        rest = f"{found[Meaning.NEUTRAL]:,} neutral, {found[Meaning.MISSING]:,} missing"
        message = f"no respondent answered yes or no ({rest}), so nothing can be predicted"
        yield LintFinding("warning", "no-yes-or-no", question.ref, message, question.ref)
