"""The route to the answers that a stance rests on: the wordings, templates and tests of one statement of one run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.figures.book import Subject
from workbench.tui.results.audit_view import Judged
from workbench.tui.results.audit_view import load as load_audit
from workbench.tui.results.loaded import Loaded, Opened

if TYPE_CHECKING:
    from workbench.audits.consistency.judged import ConsistencyJudged

BASELINE = "A baseline has no answers to show."


def statement(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
    """Return the screen of a statement; subject: a respondent, a statement and, where one is meant, a template."""
    from workbench.tui.results.audit_statement import AuditedStatementScreen

    name, ref, *template = subject
    judged: ConsistencyJudged = loaded.judged
    run = next((one.run for one in judged.runs if one.name == name), None)
    if run is None:
        return BASELINE
    known = cast("Judged | None", loaded.opened.get(name))
    found = load_audit(path, run, loaded.settings.rules, known=known)
    if found is None:
        return "The answers are no longer in the store."
    loaded.opened[name] = found
    at = template[0] if template and template[0] in found.templates else found.templates[0]
    return lambda: AuditedStatementScreen(found, ref, at)
