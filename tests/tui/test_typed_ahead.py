"""No key does what its person did not mean, however fast they type and however slow the store is.

Every screen and dialog is opened and typed at in one go at four speeds, and once with a look before each key. Whoever
types fast comes to no screen and makes no decision that the person who looks does not.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.test_hostile_texts import hostile as hostile  # the store, made once
from tests.tui.conftest import at_rest
from tests.tui.test_hostile_screens import AUDITOR, ELSEWHERE, FIGURES, PATHS
from tests.tui.typing import INTERVALS_MS, decisions, done, names, slow_store, type_keys
from workbench.tui.app import WorkbenchApp

pytestmark = pytest.mark.e2e

THEN = ("r", "m", "2", "enter", "a", "d", "ctrl+p", "t", "h", "enter")
"typed after the keys that open a screen"


async def typed(
    path: Path, start: str, keys: tuple[str, ...], interval_ms: float | None
) -> tuple[set[str], Counter[tuple[object, ...]]]:
    """Return the screens that a person came to and what they decided; without an interval they look before each key."""
    app, visited, before = WorkbenchApp(path, start=start, annotator=AUDITOR), set[str](), decisions(path)
    async with app.run_test(size=(140, 40)) as pilot:
        await done(app, pilot)
        app.screen_change_signal.subscribe(app, lambda _: visited.update(names(app)), immediate=True)
        if interval_ms is None:
            for key in keys:
                await pilot.press(key)
                await done(app, pilot)
        else:
            with slow_store():
                await type_keys(app, keys, interval_ms)
                await done(app, pilot)
        await at_rest()
    return visited, decisions(path) - before


@pytest.mark.parametrize("name", [*PATHS, *FIGURES])
async def test_who_types_fast_does_nothing_else_than_who_looks(hostile: Path, tmp_path: Path, name: str) -> None:
    start, *opening = PATHS.get(name, name).split()
    keys = (*opening, *THEN)
    seen, decided = await typed(Path(shutil.copy(hostile, tmp_path / "looks.db")), start, keys, None)
    for interval in INTERVALS_MS:
        visited, made = await typed(Path(shutil.copy(hostile, tmp_path / f"{interval}.db")), start, keys, interval)
        assert visited <= seen, f"at {interval} ms a key"
        assert made <= decided, f"at {interval} ms a key"


def test_every_screen_is_typed_at() -> None:
    """Screens that no path leads to have a test of their own below, or are typed at by those who look at them."""
    assert not PATHS.keys() & ELSEWHERE
