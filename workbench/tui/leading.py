"""Going where a route leads: a mode, the figures of a run, one job of the list, or a screen about something by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from workbench.tui.kit.base import StoreScreen, Workbench
from workbench.tui.routes import ROUTES, screen

if TYPE_CHECKING:
    from stores.runs.run_rows import Run


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
        app.call_after_refresh(lambda: cast("StoreScreen", app.screen).go_to_job(int(cast("str", about[0]))))
