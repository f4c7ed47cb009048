"""Where screens lead: a name for every screen that others open, and its module, imported when it is first shown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from textual.screen import Screen

from workbench.audits.audit import Place

ROUTES = {
    "archived": "statements.archived.ArchivedScreen",
    "checks": "statements.checks.ChecksScreen",
    "draft": "statements.draft_form.DraftForm",
    "drafts": "statements.drafts.DraftsScreen",
    "export": "statements.export_form.ExportScreen",
    "found_answers": "statements.history.FoundAnswersScreen",
    "import": "home.importing.ImportScreen",
    "statement": "statements.statement.StatementScreen",
    "similar": "statements.similar.SimilarScreen",
    "issue_gold": "annotation.issue_cases.IssueGoldScreen",
    "issue_grid": "annotation.issue_grid.IssueGridScreen",
    "people": "annotation.people.PeopleScreen",
    "survey": "annotation.survey.SurveyScreen",
    "codebook": "annotation.codebook.CodebookScreen",
    "annotate": "annotation.queues.QueuesScreen",
    "label": "annotation.annotate.AnnotateScreen",
    "adjudicate": "annotation.adjudicate.AdjudicateScreen",
    "side_by_side": "comparison.screen.ComparisonScreen",
    "agreement": "results.annotators.AnnotatorsScreen",
    "review": "review.review.ReviewScreen",
    "rulings": "rulings.listed.RulingsScreen",
    "train": "annotation.train_form.TrainForm",
    "classify": "annotation.train_form.ClassifyForm",
}
"name -> module and class, below `workbench.tui`"


def screen(name: str, *arguments: object, **named: object) -> Screen[Any]:
    """Return a new screen, by the name of its route or by its module and class. Raises KeyError for another name."""
    module, _, kind = (name if "." in name else ROUTES[name]).rpartition(".")
    return cast("Screen[Any]", getattr(import_module(f"workbench.tui.{module}"), kind)(*arguments, **named))


def results_of(place: Place) -> Callable[[], Screen[Any]]:
    """Return what makes the screen of an audit's results: its own, or the one that shows any audit's book."""
    return opener(place.screen) if place.screen else lambda: screen("results.result_screen.screen_of", place.mode)


def opener(name: str) -> Callable[[], Screen[Any]]:
    """Return what makes the screen of a mode when it is first shown."""
    return lambda: screen(name)
