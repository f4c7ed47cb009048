"""Where screens lead: a name for every screen that others open, and its module, imported when it is first shown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from textual.screen import Screen

ROUTES = {
    "archived": "statements.archived.ArchivedScreen",
    "checks": "statements.checks.ChecksScreen",
    "draft": "statements.draft_form.DraftForm",
    "drafts": "statements.drafts.DraftsScreen",
    "export": "statements.export_form.ExportScreen",
    "similar": "statements.similar.SimilarScreen",
    "issue_gold": "annotation.issue_gold.IssueGoldScreen",
    "issue_grid": "annotation.issue_grid.IssueGridScreen",
    "survey": "annotation.survey.SurveyScreen",
    "audit": "results.audit.AuditScreen",
    "annotate": "annotation.queues.QueuesScreen",
    "results": "results.bias.BiasScreen",
    "consistency": "results.consistency.ConsistencyScreen",
    "questionnaire": "results.questionnaire.QuestionnaireScreen",
    "response_bias": "results.response_bias.ResponseBiasScreen",
}
"name -> module and class, below `workbench.tui`"


def screen(name: str, *arguments: object) -> Screen[Any]:
    """Return a new screen. Raises KeyError for a name without a route."""
    module, _, kind = ROUTES[name].rpartition(".")
    return cast("Screen[Any]", getattr(import_module(f"workbench.tui.{module}"), kind)(*arguments))


def opener(name: str) -> Callable[[], Screen[Any]]:
    """Return what makes the screen of a mode when it is first shown."""
    return lambda: screen(name)
