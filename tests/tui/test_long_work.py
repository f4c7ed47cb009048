"""An auditor and a researcher work for a long time at full speed on a slow store, and do nothing
they did not mean.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.core.store import Store
from tests.cli.test_hostile_texts import hostile as hostile  # the store, made once
from tests.tui.typing import decisions, done, names, press_after_a_look, slow_store, type_keys
from workbench.domain.rulings import RulingVerdict
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.job_form import JobForm
from workbench.tui.kit.dialogs import ConfirmScreen
from workbench.tui.kit.key_gate import LULL_S
from workbench.tui.review.item import ReviewItemScreen

pytestmark = pytest.mark.e2e

LOAD_S = 0.5
"""of each answer of the store: somebody who works for long does not do so on a store that needs two
seconds"""
FAST_MS = 80


def standing(path: Path, auditor: str) -> list[str]:
    """Return the verdicts in force of an auditor."""
    with closing(Store.open(path)) as store:
        every = [ruling for rulings in store.rulings.standing().values() for ruling in rulings]
    return [str(ruling.verdict) for ruling in every if ruling.auditor == auditor]


async def test_an_auditor_rules_on_what_they_saw(hostile: Path, tmp_path: Path) -> None:
    """Each round is typed in one go, as a person does who knows the keys; between rounds they
    look.
    """
    path = Path(shutil.copy(hostile, tmp_path / "a.db"))
    before = decisions(path)
    app = WorkbenchApp(path, annotator="ines")
    typed = 0

    async def work(keys: Sequence[str]) -> None:
        nonlocal typed
        typed += len(keys)
        # The look between two rounds; keys that follow dropped ones sooner are dropped, too.
        await asyncio.sleep(LULL_S)
        await type_keys(app, keys, FAST_MS)
        await done(app, pilot)

    async with app.run_test(size=(140, 40)) as pilot:
        await done(app, pilot)
        with slow_store(LOAD_S):
            await work(["V", "enter"])
            assert isinstance(app.screen, ReviewItemScreen)
            ruled: list[str] = []
            for _ in range(6):
                item = app.screen.item_in_sight.ref
                await work(
                    ["w", "j", "k", "escape", "r", "tab", "shift+tab", "x", *"shown twice", "enter"]
                )
                ruled.append(item)
                assert len(standing(path, "ines")) == len(ruled), "one ruling a round"
                # Typed on before the next item is there.
                await work(["N", "r", "m", "2", "enter", "z", "1"])
                assert isinstance(app.screen, ReviewItemScreen), (
                    "a digit typed for a dialog leads nowhere"
                )
                assert len(standing(path, "ines")) == len(ruled), (
                    "nothing was ruled on or taken back unseen"
                )
                await work(["p", "escape", "question_mark", "escape", "f1", "escape"])
            await work(["escape", "escape"])
            await work(["4", "tab", "enter", "escape", "tab", "shift+tab", "h"])
        assert names(app) == ["home", "HomeScreen"]
    assert typed > 200
    assert set(standing(path, "ines")) == {str(RulingVerdict.EXCLUDED)}
    made = decisions(path) - before
    assert {row[0] for row in made} == {"ruling"}
    assert sum(made.values()) == len(ruled)


async def leave_form(app: WorkbenchApp, pilot: Pilot[Any]) -> None:
    """Leave the form of a job without saving, however far the keys typed before got: on a busy
    machine the form may have come too late for them.
    """
    for _ in range(4):
        if isinstance(app.screen, ConfirmScreen):
            await press_after_a_look(app, pilot, "y")
        elif isinstance(app.screen, JobForm):
            await press_after_a_look(app, pilot, "escape")
    assert names(app) == ["jobs", "JobsScreen"]


async def test_a_researcher_writes_labels_and_reads(hostile: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(hostile, tmp_path / "a.db"))
    before = decisions(path)
    app = WorkbenchApp(path, annotator="rosa")
    typed = 0

    async def work(*keys: str) -> None:
        nonlocal typed
        typed += len(keys)
        # The look between two rounds; keys that follow dropped ones sooner are dropped, too.
        await asyncio.sleep(LULL_S)
        await type_keys(app, keys, FAST_MS)
        await done(app, pilot)

    async with app.run_test(size=(140, 40)) as pilot:
        await done(app, pilot)
        with slow_store(LOAD_S):
            for number in range(3):
                await work(
                    "2",
                    "n",
                    *f"Taxes on water should rise by {number} percent in every town.",
                    "f5",
                )
                assert names(app) == ["statements", "StatementsScreen"], (
                    "the form is saved and closed"
                )
                await work("enter", "v", "escape", "escape", "h")
            await work("3", "n", "s", *"gpt", "escape")
            await leave_form(app, pilot)
            await work("5", "enter", "a", "d", "n", "u")  # typed ahead of an item that nobody saw
            assert app.screen_stack[-1].AT_WORK
            await work(
                "q",
                "4",
                "tab",
                "tab",
                "enter",
                "escape",
                "h",
                "ctrl+p",
                *"statements",
                "escape",
                "h",
            )
        assert names(app) == ["home", "HomeScreen"]
    assert typed > 200
    made = decisions(path) - before
    assert {row[0] for row in made} == {"edit"}, "no label, no job, no ruling"
    assert sum(made.values()) == 3
