"""What tests of the terminal share: real stores, an app on them, and waiting for what workers
bring.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import app as apps
from textual import constants
from textual import pilot as pilots
from textual import screen as screens
from textual._context import active_app
from textual.app import App
from textual.content import Content
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widgets import Static

from tests.conftest import instrument, new_store, statement
from workbench.domain.instruments import Instrument, IssueLabel
from workbench.domain.statements import NEGATION, ORIGINAL, Statement, Wording
from workbench.figures.visible import visible
from workbench.tui.kit import base
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.widgets.frame import TitleBar

LOOK_S = 0.002
"how long to leave the processor to workers before looking again"
SOON_S = 0.2
"what has not come by then is looked for less often: to look takes the time of whoever brings it"
STUCK_S = 0.1
"workers that compute nothing for so long wait for something, and are not waited for"
FRAME_S = 0.5
"how often a screen is painted that nobody waits for; a test paints as soon as an app is at rest"
PATIENCE_S = 10.0
"how long a key waits for workers that do compute"

HOSTILE = (
    "[@click=app.bell]x[/] closes",
    "[/INST] ends [bold]the turn",
    "\x1b[31mred\x1b[0m and \x07 bell",
    "right \u202e to left",
    "",
    "a" * 100_000,
)


def hostile_instrument() -> Instrument:
    """An instrument whose texts are what a model may write."""
    statements = tuple(
        Statement(
            f"h-{n}",
            (
                Wording(ORIGINAL, "en", text),
                Wording(NEGATION, "en", f"not {text}", author="[red]x"),
            ),
            country="[b]",
            topic="[/topic]",
        )
        for n, text in enumerate(HOSTILE)
    )
    base = instrument()
    labels = (IssueLabel("h-0", "[issue]", "gold", -1),)
    return replace(
        base,
        name="[bold]host",
        statements=statements,
        issues=("[issue]",),
        issue_labels=labels,
        party_answers=(),
        survey=(),
    )


def large_instrument(size: int) -> Instrument:
    """An instrument of several pages; every third statement is of another country and issue."""
    statements = tuple(
        replace(statement(f"s-{n:04}"), country="ot" if n % 3 == 0 else "vd", issues={})
        for n in range(size)
    )
    labels = tuple(
        IssueLabel(s.ref, "liberal_society" if n % 3 == 0 else "law_and_order", "gold", 1)
        for n, s in enumerate(statements)
    )
    base = instrument(name="large")
    return replace(base, statements=statements, issue_labels=labels, party_answers=(), survey=())


@pytest.fixture(scope="session", autouse=True)
def _parsed_once() -> Iterator[None]:
    """Keep what Textual has parsed of style sheets from one app for the next: they are the same in
    every test.
    """
    parsed: dict[tuple[Any, ...], list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def remembered(
        self: Stylesheet, css: str, read_from: Any, *rest: Any, **named: Any
    ) -> list[RuleSet]:
        key = (css, read_from, rest, *sorted(named.items()), *sorted(self._variables.items()))
        if key not in parsed:
            parsed[key] = parse(self, css, read_from, *rest, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield


def _painted(app: App[Any]) -> bool:
    """Paint what waits to be painted; return whether nothing did."""
    if not app.is_running or not app.screen_stack or not app.screen.is_running:
        return True
    screen = app.screen
    asked = (
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
    )
    waits = asked or bool(screen._dirty_widgets) or bool(screen._callbacks)
    if waits:
        screen._on_timer_update()
    return not waits


async def at_rest(*_: float) -> None:
    """Wait until an app has no message to handle, nothing to paint, and no worker that computes.

    Textual's own way is to sleep until the process uses no processor for 20 ms. That makes a key
    take 60 ms for nothing, and on a busy machine it returns before a worker has come to its turn.
    Nor does this paint while messages are on their way: a part that is painted before it has its
    place may never be told its size.
    """
    app, loop = active_app.get(), asyncio.get_running_loop()
    began = idle_since = time.monotonic()
    used, quiet = time.process_time(), 0
    while quiet < 3 and app.is_running and time.monotonic() - began < PATIENCE_S:
        await asyncio.sleep(0)
        # Textual holds painting back for some milliseconds.
        if app._batch_count or app._resize_timer is not None:
            quiet = 0
            await asyncio.sleep(LOOK_S)
        elif loop._ready or not _painted(app):  # type: ignore[attr-defined]
            quiet = 0
        elif all(worker.is_finished for worker in app.workers):
            quiet += 1
        else:
            await asyncio.sleep(LOOK_S)
            now, spent = time.monotonic(), time.process_time()
            if spent - used > (now - idle_since) / 10:
                idle_since, used = now, spent
            if now - idle_since > STUCK_S:
                return


@pytest.fixture(scope="session", autouse=True)
def _hurried() -> Iterator[None]:
    """Let keys wait for what they do and not for the clock, and move nothing slowly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apps, "wait_for_idle", at_rest)
        patch.setattr(pilots, "wait_for_idle", at_rest)
        patch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
        patch.setattr(screens, "UPDATE_PERIOD", FRAME_S)
        yield


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find the layout that another one left."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-of-the-terminal"))


@pytest.fixture(autouse=True)
def faults() -> Iterator[list[BaseException]]:
    """Fail where a worker ended with a bug: the terminal says so and goes on. A test that wants one
    takes it out.
    """
    with pytest.MonkeyPatch.context() as patch:
        found: list[BaseException] = []
        noted = base.log_bug
        patch.setattr(base, "log_bug", lambda error: (found.append(error), noted(error))[1])
        yield found
    if found:
        raise found[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one small instrument."""
    return made(tmp_path / "audit.db", instrument())


def made(path: Path, *instruments: Instrument) -> Path:
    """Make a store that holds these instruments."""
    with new_store(path) as store:
        for one in instruments:
            store.instruments.add(one)
    return path


async def until(pilot: Pilot[Any], holds: Callable[[], object], seconds: float = 120.0) -> None:
    """Let the app go on until something holds and is painted: workers and debounced timers bring
    it.

    What holds is asked again once all messages at hand are worked off, because a change that is
    under way may end it.
    """
    began = time.monotonic()
    while True:
        if holds():
            await at_rest()
            if holds():
                return
        if pilot.app._exception is not None:
            raise pilot.app._exception
        waited = time.monotonic() - began
        assert waited < seconds, "it did not come to hold in time"
        await asyncio.sleep(LOOK_S if waited < SOON_S else min(waited / 10, 0.1))
        await at_rest()


def shown(app: App[Any], selector: str) -> str:
    """Return the text that a static widget of the current screen shows; details without the blanks
    that align them.
    """
    content = app.screen.query_one(selector, Static).content
    text = content.plain if isinstance(content, Content) else str(content)
    return re.sub(r"(?<=\S) +", " ", text) if selector == "#details" else text


def judged_by(app: App[Any]) -> str:
    """Return all choices that the table in sight rests on: `?` says them, the line above the table
    as many as fit.
    """
    screen = app.screen
    if isinstance(screen, BookScreen) and (entry := screen._entry) is not None:
        return " · ".join(map(visible, screen.chosen(entry)))
    return " ".join(shown(app, "#options").split())


def status(app: App[Any]) -> str:
    """Return what the title line says was done a moment ago."""
    bars = list(app.screen.query(TitleBar))
    return bars[0].said.plain.partition(" ")[2] if bars and bars[0].said is not None else ""


def screen_text(app: App[Any]) -> str:
    """Return all that the terminal shows now, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def flowing(app: App[Any]) -> str:
    """Return all that the terminal shows now as words with one blank between, so that no wrapped
    line matters.
    """
    return " ".join(screen_text(app).replace("│", " ").split())


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keys count as soon as an item is painted; the time a person needs at least has a test of
    its own.
    """
    from workbench.tui.kit import session_screen

    monkeypatch.setattr(session_screen, "GLANCE_S", 0.0)
    monkeypatch.setattr(session_screen, "CLICK_S", 0.0)
