"""No key does what its person did not mean, however fast they type and however slow the store is.

Every screen and dialog is opened and typed at in one go at four speeds, and once with a look before
each key. Whoever types fast comes to no screen and makes no decision that the person who looks does
not.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.cli.test_hostile_texts import hostile as hostile  # the store, made once
from tests.tui.conftest import at_rest, screen_text, until
from tests.tui.test_hostile_screens import AUDITOR, ELSEWHERE, FIGURES, PATHS
from tests.tui.typing import (
    INTERVALS_MS,
    decisions,
    done,
    names,
    press_after_a_look,
    slow_store,
    type_keys,
)
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import ConfirmScreen
from workbench.tui.review.item import ReviewItemScreen
from workbench.tui.review.review import ReviewScreen
from workbench.tui.rulings.dialog import RulingDialog

pytestmark = pytest.mark.e2e

THEN = ("r", "m", "2", "enter", "a", "d", "ctrl+p", "t", "h", "enter")
"typed after the keys that open a screen"


async def typed(
    path: Path, start: str, keys: tuple[str, ...], interval_ms: float | None
) -> tuple[set[str], Counter[tuple[object, ...]]]:
    """Return the screens that a person came to and what they decided; without an interval they look
    before each key.
    """
    app, visited, before = (
        WorkbenchApp(path, start=start, annotator=AUDITOR),
        set[str](),
        decisions(path),
    )
    async with app.run_test(size=(140, 40)) as pilot:
        await done(app, pilot)
        app.screen_change_signal.subscribe(
            app, lambda _: visited.update(names(app)), immediate=True
        )
        if interval_ms is None:
            for key in keys:
                await press_after_a_look(app, pilot, key)
        else:
            with slow_store():
                await type_keys(app, keys, interval_ms)
                await done(app, pilot)
        await at_rest()
    return visited, decisions(path) - before


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keys that start an export write below the test's own folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("intervals", [(80,), pytest.param((20, 150, 300), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*PATHS, *FIGURES])
async def test_who_types_fast_does_nothing_else_than_who_looks(
    hostile: Path, tmp_path: Path, name: str, intervals: tuple[int, ...]
) -> None:
    start, *opening = PATHS.get(name, name).split()
    await compare(hostile, tmp_path, start, (*opening, *THEN), intervals)


async def compare(
    store: Path,
    folder: Path,
    start: str,
    keys: tuple[str, ...],
    intervals_ms: tuple[int, ...] = INTERVALS_MS,
) -> None:
    """Type keys at each speed, and check that nothing comes of it that does not come of looking
    before each key.
    """
    seen, decided = await typed(Path(shutil.copy(store, folder / "looks.db")), start, keys, None)
    for interval in intervals_ms:
        visited, made = await typed(
            Path(shutil.copy(store, folder / f"{interval}.db")), start, keys, interval
        )
        assert visited <= seen, f"at {interval} ms a key"
        assert made <= decided, f"at {interval} ms a key"


def test_every_screen_is_typed_at() -> None:
    """Screens that no path leads to have a test of their own below, or are typed at by those who
    look at them.
    """
    assert not PATHS.keys() & ELSEWHERE


async def at_queue(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    """Open the review queue and its first item."""
    await done(app, pilot)
    for key in ("V", "enter"):
        await press_after_a_look(app, pilot, key)
    assert isinstance(app.screen, ReviewItemScreen)


@pytest.mark.parametrize("interval", INTERVALS_MS)
async def test_what_is_typed_while_the_next_item_loads_rules_on_nothing(
    hostile: Path, tmp_path: Path, interval: int
) -> None:
    path = Path(shutil.copy(hostile, tmp_path / "a.db"))
    before = decisions(path)
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(140, 40)) as pilot:
        await at_queue(app, pilot)
        with slow_store():
            await type_keys(app, ["r", "x", "enter", "N", "r", "m", "2", "enter"], interval)
            await done(app, pilot)
        assert names(app) == ["home", "HomeScreen", "ReviewScreen", "ReviewItemScreen"]
        assert "5 keys dropped" in screen_text(app) or "4 keys dropped" in screen_text(app)
    (made,) = (decisions(path) - before).elements()
    assert made[0] == "ruling"
    assert made[3:6] == ("excluded", None, "otto")


@pytest.mark.parametrize(
    "keys",
    [
        ("r", "m", "1", "escape", "1", "2", "ctrl+p", *"theme", "enter"),
        ("r", "x", "enter", "N", "N", "z", "escape"),
    ],
    ids=["palette", "next"],
)
async def test_keys_go_to_the_dialog_that_was_asked_for(
    hostile: Path, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    await compare(hostile, tmp_path, "home", ("V", "enter", *keys))


async def test_esc_leaves_what_does_not_come(hostile: Path, tmp_path: Path) -> None:
    app = WorkbenchApp(Path(shutil.copy(hostile, tmp_path / "a.db")), annotator="otto")
    async with app.run_test(size=(140, 40)) as pilot:
        await at_queue(app, pilot)
        with slow_store(100.0):
            await type_keys(app, ["r", "m", "1", "escape", "escape"], 80)
            await until(pilot, lambda: not app.gate._held)
            assert isinstance(app.screen, ReviewItemScreen)
            await pilot.press("escape")
            assert isinstance(app.screen, ReviewScreen)


async def test_a_screen_that_is_left_before_it_is_there_ends_nothing(
    hostile: Path, tmp_path: Path
) -> None:
    app = WorkbenchApp(Path(shutil.copy(hostile, tmp_path / "a.db")), annotator="otto")
    async with app.run_test(size=(140, 40)) as pilot:
        await at_queue(app, pilot)
        await pilot.press("r")
        await done(app, pilot)
        dialog = app.screen
        assert isinstance(dialog, RulingDialog)
        app.push_screen(RulingDialog(dialog._things, dialog._standing, "otto"))
        app.pop_screen()
        await done(app, pilot)
        assert app.screen is dialog


FORMS = {
    "JobForm": ("jobs", ("n", "s", *"gpt")),
    "StatementForm": ("statements", ("n", *"Short flights")),
    "RulingDialog": ("audit", ("r", "x", *"because")),
    "CodebookForm": ("annotate", ("b", "e", *"Read")),
    "NoteDialog": ("annotate", ("enter", "m", *"odd")),
    "ImportScreen": ("home", ("i", "slash", *"/tmp/x")),
    "QueueForm": ("annotate", ("n", *"mine")),
}
"screen -> where the terminal opens, the keys to it, and what is typed there"


@pytest.mark.parametrize("leave", ["ctrl+q", "escape"])
@pytest.mark.parametrize("name", FORMS)
async def test_nothing_typed_is_lost_unasked(
    hostile: Path, tmp_path: Path, name: str, leave: str
) -> None:
    start, keys = FORMS[name]
    app = WorkbenchApp(Path(shutil.copy(hostile, tmp_path / "a.db")), start=start, annotator="otto")
    async with app.run_test(size=(140, 40)) as pilot:
        await done(app, pilot)
        for key in keys:
            await press_after_a_look(app, pilot, key)
        form = app.screen
        assert type(form).__name__ == name
        await pilot.press(leave)
        await done(app, pilot)
        if (name, leave) == ("ImportScreen", "escape"):
            assert app.screen is form, "Esc goes from the field to the files; the text stays"
            return
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("n")
        await done(app, pilot)
        assert app.screen is form
        await pilot.press(leave)
        await done(app, pilot)
        await pilot.press("y")
        if (name, leave) == ("RulingDialog", "escape"):
            # Back to the verdicts.
            await until(pilot, lambda: app.screen is form and app.focused is None)
        else:
            await until(pilot, lambda: not app.is_running or form not in app.screen_stack)
