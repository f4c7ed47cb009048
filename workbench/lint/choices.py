"""Removes findings of rules for statements that do not apply to multiple-choice questions.

A question has its own options: it has no negation, it is a question by nature, and one text may occur under several
biases. `workshop.choice_checks` checks questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.domain.findings import LintFinding
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL


def about_choices(found: Iterable[LintFinding], instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings without those only for statements: missing variants and shared texts."""
    refs = {item.ref for item in instrument.choices}
    nothing_else = all(statement.ref in refs for statement in instrument.statements)
    for finding in found:
        of_statements = finding.code == "missing-variant" and finding.variant != ORIGINAL
        of_statements |= finding.code == "duplicate-statement"
        if not (of_statements and finding.ref in refs) and not (finding.code == "no-variant" and nothing_else):
            yield finding
