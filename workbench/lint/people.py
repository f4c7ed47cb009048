"""Checks people's data on an instrument.

Checked are sides, labels, answers, and the scheme of policy issues.
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
    QuestionRole,
    Tallied,
    named_few,
    shared_texts,
)
from workbench.domain.statements import ORIGINAL, Side
from workbench.lint.statements import compares_wordings, needs_sides

FEWEST_PER_ISSUE = 6
"""fewest labelled statements that are not marked in the stance per policy issue

Ceron et al. 2024, Figure 5.
"""

FEWEST_OFFERED = 2
"answers that a survey question offers"


def people_findings(instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings on labels, answers and issues."""
    yield from _sides(instrument)
    yield from _unknown_statements(instrument)
    yield from _issues(instrument)
    yield from _scheme(instrument)


def _sides(instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings on the sides of statements.

    A statement enters the bias score by its dimension and leaning together.
    """
    labelled = [
        labelled_one
        for labelled_one in instrument.statements
        if labelled_one.dimension is not None or labelled_one.leaning is not None
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
    sides_needed = instrument.templates and needs_sides(instrument.templates)
    if sides_needed and not labelled:
        message = "no statement has a dimension and a leaning, so there is no left/right bias"
        yield LintFinding("note", "no-labels", instrument.name, message)
    sides = Counter(
        (labelled_one.dimension, labelled_one.leaning)
        for labelled_one in labelled
        if labelled_one.dimension and labelled_one.leaning
    )
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
    for data_kind, statements in sources.items():
        for ref, count in sorted(Counter(ref for ref in statements if ref not in refs).items()):
            yield LintFinding(
                "warning",
                "unknown-statement",
                ref,
                f"{data_kind} on a statement that is not there: {count}",
            )
    answered_refs = {answer.statement for answer in instrument.party_answers}
    unanswered = [ref for ref in refs if ref not in answered_refs]
    if answered_refs and unanswered:
        examples = ", ".join(sorted(unanswered)[:5])
        message = f"{len(unanswered):,} statements have no party answers: {examples}"
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
    """Yield findings on policy issues without a unique name or a definition."""
    names = Counter(map(folded, instrument.issues))
    reported: set[str] = set()
    for issue in instrument.issues:
        if names[folded(issue)] > 1 and folded(issue) not in reported:
            reported.add(folded(issue))
            message = (
                f"{names[folded(issue)]} issues have this name, so their labels cannot be "
                "told apart"
            )
            yield LintFinding("warning", "issue-twice", issue, message)
    definitions = (*shipped_issue_scheme().issues, *instrument.definitions)
    defined = {issue.name for issue in definitions if issue.definition.strip()}
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
    findings: Iterable[LintFinding], instrument: Instrument, answers: Tallied
) -> Iterator[LintFinding]:
    """Yield the findings that are relevant to questionnaires.

    If no other audit asks them, context questions need no other wordings, and may be questions.
    """
    intended = {("missing-variant", ref) for ref in not_reworded(instrument, answers)}
    intended |= {
        ("question", question.ref)
        for question in answers.questionnaire.questions
        if question.form is Form.QUESTION
    }
    reworded = compares_wordings(instrument.templates)
    return (
        finding for finding in findings if reworded or (finding.code, finding.ref) not in intended
    )


def not_reworded(instrument: Instrument, answers: Tallied) -> set[str]:
    """Return the refs of context questions that no audit of the instrument rewords.

    There are none if an audit of the instrument compares wordings.
    """
    if compares_wordings(instrument.templates):
        return set()
    return {
        question.ref
        for question in answers.questionnaire.questions
        if question.role is not QuestionRole.TARGET
    }


def _parts(instrument: Instrument, answers: Tallied) -> Iterator[LintFinding]:
    questions = answers.questionnaire
    name = instrument.name
    # A survey's questions are only compared.
    predicts = len(questions.of_role(QuestionRole.SURVEY)) < len(questions.questions)
    if predicts and not questions.of_role(QuestionRole.TARGET):
        yield LintFinding(
            "warning", "no-target", name, "no question is a target, so nothing can be predicted"
        )
    if predicts and not questions.of_role(QuestionRole.CONTEXT):
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
        if statement is not None and not any(
            wording.variant == ORIGINAL for wording in statement.wordings
        ):
            message = (
                f"is a {question.role} question without an original, so there is no text to ask"
            )
            yield LintFinding(
                "warning", "question-without-text", question.ref, message, question.ref
            )


def _scales(answers: Tallied) -> Iterator[LintFinding]:
    questions = answers.questionnaire.questions
    used = {question.scale for question in questions if question.role is not QuestionRole.SURVEY}
    survey_scales = {
        question.scale for question in questions if question.role is QuestionRole.SURVEY
    }
    for scale in answers.questionnaire.scales:
        if scale.name in survey_scales and len(scale.offered) < FEWEST_OFFERED:
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
    targets = answers.questionnaire.of_role(QuestionRole.TARGET)
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
    counts = answers.meanings(question)
    if not counts[Meaning.YES] and not counts[Meaning.NO]:
        rest = f"{counts[Meaning.NEUTRAL]:,} neutral, {counts[Meaning.MISSING]:,} missing"
        message = f"no respondent answered yes or no ({rest}), so nothing can be predicted"
        yield LintFinding("warning", "no-yes-or-no", question.ref, message, question.ref)
