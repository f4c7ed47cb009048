"""A person who types without looking, on a store that answers slowly; times are a tenth of what
they stand for.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.keys import _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

from stores.core.store import Store
from tests.tui.conftest import until
from workbench.sessions.session import SessionThread
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit import base, key_gate, session_screen

SCALE = 10
"""by which all times are shortened: of the person, the store and the program, save that a lull
lasts as long as ever"""
INTERVALS_MS = (20, 80, 150, 300)
"between two keys of a person who types fast, and of one who does not"
LOAD_S = 2.0
"which the store needs for each answer"
DECIDED = {
    "ruling": "kind, subject, verdict, label, auditor, undoes is not null",
    "reading": "unit_id, reader_id, label, reason",
    "issue_label": "statement_id, issue, reader_id, label",
    "draft_decision": "draft_id, decision, person",
    "edit": "ref, person, act",
    "waiver": "code, subject, reason, person",
    "remark": "unit_id, reader_id, flagged, note",
    "survey_event": "survey_id, position, agrees, skipped",
    "question_revision": "question_id, role, form, scale, leaning",
    "queue": "name",
    "job": "kind, spec, stop_requested, pause_requested",
    "codebook_edit": "person",
    "control_sample": "drawn_by",
}
"table -> what of its rows a person decided"


def decisions(path: Path) -> Counter[tuple[object, ...]]:
    """Return everything that people decided in a store."""
    rows: Counter[tuple[object, ...]] = Counter()
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in DECIDED.items():
            rows.update(
                (table, *row) for row in connection.execute(f"select {columns} from {table}")
            )
    return rows


@contextmanager
def slow_store(seconds: float = LOAD_S) -> Iterator[None]:
    """Let every answer of the store take its time."""
    of_store, submit = base.of_store, SessionThread.submit

    def late(path: Path, load: Callable[[Store], Any]) -> Any:
        time.sleep(seconds / SCALE)
        return of_store(path, load)

    def submit_late(thread: Any, ask: Callable[[Any], Any]) -> Any:
        def answer(session: Any) -> Any:
            time.sleep(seconds / SCALE)
            return ask(session)

        return submit(thread, answer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "of_store", late)
        patch.setattr(SessionThread, "submit", submit_late)
        for module, name in (
            (key_gate, "STUCK_S"),
            (key_gate, "TOLD_S"),
            (session_screen, "GLANCE_S"),
        ):
            patch.setattr(module, name, getattr(module, name) / SCALE)
        yield


def key_event(key: str) -> events.Key:
    """Return what the terminal sends for a key."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    try:
        character: str | None = unicodedata.lookup(_get_unicode_name_from_key(name))
    except KeyError:
        character = key if len(key) == 1 else None
    return events.Key(name, character)


async def type_keys(app: App[Any], keys: Sequence[str], interval_ms: float) -> None:
    """Type without looking, in a thread as a terminal does, so that a busy program does not slow
    the person.
    """
    loop = asyncio.get_running_loop()

    def type_each() -> None:
        for key in keys:
            event = key_event(key)
            event.set_sender(app)
            loop.call_soon_threadsafe(app.post_message, event)
            time.sleep(interval_ms / 1000 / SCALE)

    await asyncio.to_thread(type_each)


def is_done(app: WorkbenchApp) -> bool:
    """Return whether all keys did what they do, and nothing is being read or written."""
    gate = app.gate
    idle = not gate._held and not gate._settling and gate._blocker() is None
    # A tree of files.
    return idle and all(worker.is_finished or worker.group == "_loader" for worker in app.workers)


async def done(app: WorkbenchApp, pilot: Pilot[Any]) -> None:
    """Wait until all keys did what they do."""
    await until(pilot, lambda: not app.is_running or is_done(app))


async def press_after_a_look(app: WorkbenchApp, pilot: Pilot[Any], key: str) -> None:
    """Press a key as a person who sees what is on the screen, and wait until it did what it
    does.
    """
    if isinstance(app.screen, session_screen.SessionScreen):
        await asyncio.sleep(session_screen.GLANCE_S)
    await pilot.press(key)
    await done(app, pilot)


def names(app: WorkbenchApp) -> list[str]:
    """Return the names of the screens in sight and below, with the mode."""
    return [app.current_mode, *(type(screen).__name__ for screen in app.screen_stack)]
