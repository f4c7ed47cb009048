"""Checks an instrument for problems before any GPU time is spent on it.

The published ProbVAA data hold several of these: two label orders that are one text, variants equal
to their original, stray spaces, answers to missing statements.
"""

from __future__ import annotations

from workbench import registry
from workbench.domain.findings import SEVERITIES, LintFinding, by_severity, folded
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import Tallied, tallied
from workbench.lint.people import about_asked, not_reworded, people_findings, questionnaire_findings
from workbench.lint.statements import (
    COMPARED,
    about_choices,
    language_findings,
    statement_findings,
    template_findings,
)

__all__ = ["COMPARED", "SEVERITIES", "LintFinding", "folded", "lint"]


def lint(
    instrument: Instrument, language: str | None = None, answers: Tallied | None = None
) -> tuple[LintFinding, ...]:
    """Return all findings, errors first.

    `language`: check only wordings in this language. `answers`: counts of the instrument's
    questionnaire, if the instrument does not contain it.
    """
    if answers is None and instrument.questionnaire is not None:
        answers = tallied(instrument.questionnaire)
    not_compared = {item.ref for item in instrument.choices} | (
        not_reworded(instrument, answers) if answers else set()
    )
    findings = [
        *template_findings(instrument.templates),
        *statement_findings(instrument, language, not_compared),
        *language_findings(instrument, language),
        *people_findings(instrument),
        *(finding for audit in registry.every_audit() for finding in audit.lint(instrument)),
    ]
    if answers is not None:
        findings = [
            *about_asked(findings, instrument, answers),
            *questionnaire_findings(instrument, answers),
        ]
    if instrument.choices:
        findings = list(about_choices(findings, instrument))
    return tuple(sorted(findings, key=by_severity))
