"""The application around the screens: where keys lead, what help says, what happens when the store
cannot be used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.command import CommandPalette, Hit
from textual.widgets import Static

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.conftest import made, screen_text, shown, until
from workbench.domain.designs import Design
from workbench.jobs import launch
from workbench.tui.app import WorkbenchApp, goes_on, run_app
from workbench.tui.commands import ActionProvider
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.widgets.frame import Trouble


@pytest.mark.e2e
async def test_digits_lead_to_the_screens_and_h_home(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.current_mode == "home"
        for key, mode in (
            ("2", "statements"),
            ("3", "jobs"),
            ("4", "audit"),
            ("1", "home"),
            ("3", "jobs"),
            ("h", "home"),
        ):
            await pilot.press(key)
            assert app.current_mode == mode


@pytest.mark.e2e
async def test_letters_on_home_lead_to_the_screens(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s")
        assert app.current_mode == "statements"
        await pilot.press("h", "3")
        assert app.current_mode == "jobs"


async def test_escape_and_q_go_home_and_q_there_quits(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("escape")
        assert app.current_mode == "home"
        await pilot.press("escape")
        assert app.is_running
        await pilot.press("3", "q")
        assert app.current_mode == "home"
        await pilot.press("q")
    assert app.return_code == 0
    assert app.return_value == 0


async def test_f1_lists_the_keys_of_the_screen_first(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        text = shown(app, "#text")
        assert text.index("On this screen") < text.index("focused panel") < text.index("Everywhere")
        assert "Go to the row below" in text
        assert "Find in refs" in text
        await pilot.press("escape")
        assert app.current_mode == "statements"
        assert not isinstance(app.screen, TextScreen)


@pytest.mark.e2e
async def test_a_question_mark_explains_the_numbers_of_every_screen(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        for key, words in (("1", "reliable"), ("2", "wordings"), ("3", "unreadable")):
            await pilot.press(key, "question_mark")
            assert words in shown(app, "#text")
            await pilot.press("escape")


async def test_the_palette_finds_actions_of_the_screen_by_name(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press("escape")
        provider = ActionProvider(app.screen)
        found = {str(hit.text) async for hit in provider.search("new job") if isinstance(hit, Hit)}
        assert "Start a new job" in found
        names = {str(hit.text) async for hit in provider.discover()}
        assert {"Go to Statements", "Go to Audit: the verdicts", "Start a new job"} <= names


async def test_an_action_of_the_palette_runs(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)):
        hits = [
            hit
            async for hit in ActionProvider(app.screen).search("Go to Statements")
            if isinstance(hit, Hit)
        ]
        await hits[0].command()
        assert app.current_mode == "statements"


@pytest.mark.parametrize("mode", ["home", "statements", "jobs"])
async def test_a_file_that_is_no_store_is_a_calm_panel_on_every_screen(
    tmp_path: Path, mode: str
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database, and longer than a hundred bytes " * 4)
    app = WorkbenchApp(broken, start=mode)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.query_one(Trouble).shown)
        assert "this is not a SQLite file" in shown(app, "Trouble")
        await until(pilot, lambda: "This did not work" in screen_text(app))
        await pilot.press("2", "3", "h", "q")
    assert app.return_value == 0


async def test_nothing_is_lost_without_colour(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.no_color
        await until(pilot, lambda: "a-1" in screen_text(app))


async def test_light_themes_work(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = "textual-light"
        await until(pilot, lambda: "small" in screen_text(app))


def test_screens_are_as_large_as_the_terminal_whatever_tables_were_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str | None] = []
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(WorkbenchApp, "run", lambda _: told.append(os.environ.get("COLUMNS")))
    assert run_app(path) == 0
    assert told == [None]


def test_leaving_says_what_goes_on_and_how_to_come_back(path: Path) -> None:
    with Store.open(path) as store:
        job = launch.create(store, Design("small", "scripted", samples=2))
    (line,) = goes_on(path)
    assert line.startswith(f"job {job} continues (0 %); come back with: workbench {path}, ")
    assert line.endswith(f"stop it with: workbench jobs {path} cancel {job}")


def test_leaving_says_nothing_when_nothing_runs(path: Path) -> None:
    assert goes_on(path) == []


@pytest.mark.e2e
def test_the_first_paint_imports_nothing_heavy() -> None:
    heavy = (
        "numpy",
        "scipy",
        "torch",
        "transformers",
        "sqlite_utils",
        "workbench.pipeline",
        "stores.core.store",
    )
    code = (
        f"import sys, workbench.tui.app; print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_hostile_names_of_stores_are_shown_literally(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "[bold]x[ayn.db", instrument()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "[bold]x[ayn.db" in screen_text(app))
        assert app.screen.query(Static)
