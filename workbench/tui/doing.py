"""Doing an act of another screen: going there, and doing it once the screen is ready, or saying how it is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from textual.app import App
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.worker import WorkerState

from workbench.tui.acts import Act
from workbench.tui.kit.status import say
from workbench.tui.leading import lead
from workbench.tui.ways import ROOTS

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp  # type only: the app is what is asked here

LOOK_S = 0.05
"between two looks whether a screen is ready"
OPENS_S = 15.0
"for which an act that opens a screen is waited for"
GROUP = "act"


def do(app: App[Any], act: Act) -> None:
    """Go where an act is done and do it; what a person presses meanwhile calls it off."""
    app.run_worker(_do(app, act), group=GROUP, exclusive=True, exit_on_error=False)


def call_off(app: App[Any]) -> None:
    """Do not do what has not been reached yet."""
    app.workers.cancel_group(app, GROUP)


async def _do(app: App[Any], act: Act) -> None:
    how = f"{act.binding.description}: {act.words(app)}"
    if not act.root:
        say(app.screen, how)
        return
    here: Screen[Any] | None = await _go(app, act.root)
    for name, way in act.way:
        active = None if here is None or way.on else await _ready(app, here, way.by)
        if active is None:
            break
        await app.run_action(active.binding.action, active.node)
        here = await _opened(app, name)
        if here is None:  # what does not open says why
            return
    else:
        active = await _ready(app, here, act.binding.action) if here is not None and act.runs else None
        if active is not None:
            await app.run_action(active.binding.action, active.node)
            return
    if here is None or here.is_current:
        say(app.screen, how, warns=act.runs)


async def _go(app: App[Any], root: str) -> Screen[Any] | None:
    """Show the first screen of a way."""
    if type(app.screen).__name__ != root:
        if ROOTS[root] == "review":
            cast("WorkbenchApp", app).action_review()
        elif ROOTS[root] in app.MODES:
            cast("WorkbenchApp", app).show_mode(ROOTS[root])
            if len(app.screen_stack) > 1:  # something is typed above it, which is not left without a question
                return None
        else:
            lead(app, (ROOTS[root],))
    return await _opened(app, root)


async def _opened(app: App[Any], name: str) -> Screen[Any] | None:
    """Return the screen of a class once it is in front; None where something else is, or nothing comes."""
    for _ in range(round(OPENS_S / LOOK_S)):
        if type(app.screen).__name__ == name and app.screen.is_mounted:
            return app.screen
        await asyncio.sleep(LOOK_S)
    return None


async def _ready(app: App[Any], screen: Screen[Any], action: str) -> ActiveBinding | None:
    """Return the key of an action once it can be pressed; None where a screen that has read everything has none."""
    idle = 0
    while screen.is_current and idle < 3:
        for active in screen.active_bindings.values():
            if active.binding.action == action and active.enabled and idle:
                return active
        busy = any(
            one.node is screen and one.state in (WorkerState.PENDING, WorkerState.RUNNING) for one in app.workers
        )
        idle = 0 if busy else idle + 1
        await asyncio.sleep(LOOK_S)
    return None
