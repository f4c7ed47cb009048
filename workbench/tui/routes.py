"""Where screens lead: a name for every screen that others open, and its module, imported when it is
first shown.

A route is a mode, the figures of a run, one job of the list, or a screen about something by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from textual.app import App
from textual.screen import Screen

from workbench.audits.audit import AuditPlace

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.tui.kit.base import StoreScreen, Workbench

ROUTES = {
    "archived": "statements.archived.ArchivedScreen",
    "checks": "statements.checks.ChecksScreen",
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
    "start_job": "kit.command_form.CommandForm",
}
"name -> module and class, below `workbench.tui`"


def screen(name: str, *arguments: object, **named: object) -> Screen[Any]:
    """Return a new screen, by the name of its route or by its module and class. Raises KeyError for
    another name.
    """
    module, _, kind = (name if "." in name else ROUTES[name]).rpartition(".")
    return cast(
        "Screen[Any]", getattr(import_module(f"workbench.tui.{module}"), kind)(*arguments, **named)
    )


def results_of(place: AuditPlace) -> Callable[[], Screen[Any]]:
    """Return what makes the screen of an audit's results: its own, or the one that shows any
    audit's book.
    """
    return (
        opener(place.screen)
        if place.screen
        else lambda: screen("results.result_screen.screen_of", place.mode)
    )


def opener(name: str) -> Callable[[], Screen[Any]]:
    """Return what makes the screen of a mode when it is first shown."""
    return lambda: screen(name)


def lead(app: App[Any], route: Sequence[object]) -> None:
    """Show what a route names first, about what it names then."""
    kind, *about = route
    if kind in ROUTES and (about or kind not in app.MODES):
        app.push_screen(screen(str(kind), *about))
        return
    if about and not isinstance(about[0], str | int):  # a run
        cast("Workbench", app).show_run(str(kind), cast("Run", about[0]))
        return
    app.switch_mode(str(kind))
    if about:  # a job
        app.call_after_refresh(
            lambda: cast("StoreScreen", app.screen).go_to_job(int(cast("str", about[0])))
        )
