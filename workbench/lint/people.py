"""Checks of people's data on an instrument: sides, labels, answers, and the scheme of policy issues."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from workbench.data import shipped_issue_scheme
from workbench.domain.findings import LintFinding, folded
from workbench.domain.instruments import Instrument
from workbench.domain.statements import Side
from workbench.lint.templates import needs_sides

FEWEST_PER_ISSUE = 6
"labelled statements; fewer are marked in the stance per policy issue (Ceron et al. 2024, Figure 5)"


def people_findings(instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings on labels, answers and issues."""
    yield from _sides(instrument)
    yield from _unknown_statements(instrument)
    yield from _issues(instrument)
    yield from _scheme(instrument)


def _sides(instrument: Instrument) -> Iterator[LintFinding]:
    """A statement enters the bias score by its dimension and leaning together."""
    labelled = [s for s in instrument.statements if s.dimension is not None or s.leaning is not None]
    for statement in labelled:
        ref = statement.ref
        if statement.leaning is None:
            message = f"is {statement.dimension} and has no leaning, so the bias score leaves it out"
            yield LintFinding("warning", "half-labelled", ref, message, ref)
        elif statement.dimension is None:
            message = f"leans {statement.leaning} and has no dimension, so the bias score leaves it out"
            yield LintFinding("warning", "half-labelled", ref, message, ref)
    wanted = instrument.templates and needs_sides(instrument.templates)
    if wanted and not labelled:
        message = "no statement has a dimension and a leaning, so there is no bias score"
        yield LintFinding("note", "no-labels", instrument.name, message)
    sides = Counter((s.dimension, s.leaning) for s in labelled if s.dimension and s.leaning)
    for dimension in dict.fromkeys(dimension for dimension, _ in sides):
        for side in Side:
            if dimension is not None and not sides[dimension, side]:
                message = f"no {dimension} statement leans {side}, so the {dimension} bias score is undefined"
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
            yield LintFinding("warning", "unknown-statement", ref, f"{what} on a statement that is not there: {n}")
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
            message = f"{n} statement{' is' if n == 1 else 's are'} labelled; fewer than {FEWEST_PER_ISSUE} say little"
            yield LintFinding("note", "few-labels", issue, message)


def _scheme(instrument: Instrument) -> Iterator[LintFinding]:
    """Check that policy issues have unique names and definitions."""
    names = Counter(map(folded, instrument.issues))
    told: set[str] = set()
    for issue in instrument.issues:
        if names[folded(issue)] > 1 and folded(issue) not in told:
            told.add(folded(issue))
            message = f"{names[folded(issue)]} issues have this name, so their labels cannot be told apart"
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
