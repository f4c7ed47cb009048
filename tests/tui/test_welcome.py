"""Without a store the terminal offers recent ones, those in the folder, a new one, the example; no
error ends it.
"""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.core.connection import is_store
from stores.core.store import Store
from tests.tui.conftest import flowing, made, screen_text, shown, until
from workbench.cli import main
from workbench.tui import preferences as recent_stores
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.welcome import NewStoreDialog, WelcomeApp, WelcomeScreen
from workbench.tui.preferences import MOST, forget, remember, state_file, stores_in
from workbench.tui.widgets.frame import Trouble


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    return place


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def found() -> list[Path]:
    return [one.path for one in recent_stores.recent_stores()]


# the list of recent stores


def test_the_newest_store_stands_first_and_each_once(tmp_path: Path) -> None:
    for name in ("a", "b", "a"):
        remember(tmp_path / f"{name}.db")
    assert found() == [tmp_path / "a.db", tmp_path / "b.db"]
    for n in range(MOST + 5):
        remember(tmp_path / f"{n}.db")
    assert len(found()) == MOST
    forget(tmp_path / f"{MOST}.db")
    assert tmp_path / f"{MOST}.db" not in found()


def test_a_relative_store_is_kept_by_its_whole_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    remember(Path("a.db"))
    assert found() == [folder / "a.db"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "{}", '[{"path": 3, "opened": ""}]', "null", '[{"path": "a.db"}]', "\0"],
)
def test_a_list_that_cannot_be_read_is_empty_and_is_written_anew(tmp_path: Path, text: str) -> None:
    place = state_file()
    assert place is not None
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")
    assert found() == []
    remember(tmp_path / "a.db")
    assert found() == [tmp_path / "a.db"]


def test_a_list_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder belongs", encoding="utf-8")
    remember(tmp_path / "a.db")
    assert found() == []


def test_a_relative_state_folder_is_ignored_as_the_specification_asks(tmp_path: Path) -> None:
    assert (
        state_file({"XDG_STATE_HOME": "here"})
        == Path.home() / ".local/state/workbench/recent-stores.json"
    )


def test_stores_of_a_folder_are_told_by_how_they_begin(folder: Path) -> None:
    made(folder / "b.db")
    made(folder / "a.of-any-name")
    sqlite3.connect(folder / "other.db").execute("create table t (x)").connection.close()
    (folder / "text.db").write_text("no database", encoding="utf-8")
    (folder / "folder.db").mkdir()
    os.mkfifo(folder / "pipe.db")
    for kept in ("b.db.before-v30", "b.db.before-v30-2"):
        made(folder / kept)
    assert stores_in(folder) == (folder / "a.of-any-name", folder / "b.db")
    assert stores_in(folder / "none") == ()
    assert not is_store(folder / "pipe.db")


# the screen


@pytest.mark.e2e
async def test_the_empty_state_says_what_can_be_done(folder: Path) -> None:
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "You have opened no store yet" in screen_text(app))
        text = screen_text(app)
        assert "A new store" in text
        assert "The example" in text
        assert "makes veldania.db" in text
        await pilot.press("q")
    assert app.chosen is None
    assert list(folder.iterdir()) == []


async def test_recent_stores_and_those_in_the_folder_are_offered_and_enter_opens_one(
    folder: Path, tmp_path: Path
) -> None:
    made(folder / "here.db")
    remember(made(tmp_path / "recent.db"))
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: "recent.db" in screen_text(app) and "here.db" in screen_text(app)
        )
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.chosen is not None)
    assert app.chosen == folder / "here.db"


async def test_a_click_opens_a_store(folder: Path) -> None:
    made(folder / "here.db")
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "here.db" in screen_text(app))
        row = next(n for n, line in enumerate(screen_text(app).split("\n")) if "here.db" in line)
        await pilot.click(offset=(4, row))
        await until(pilot, lambda: app.chosen is not None)
    assert app.chosen == folder / "here.db"


async def test_a_store_that_is_gone_says_so_and_x_takes_it_off_the_list(
    folder: Path, tmp_path: Path
) -> None:
    path = made(tmp_path / "old.db")
    remember(path)
    path.unlink()
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✗ gone" in screen_text(app))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.screen.query_one(Trouble).shown)
        assert "the store is gone: it was deleted, moved or renamed" in flowing(app)
        await pilot.press("T")
        await until(pilot, lambda: "old.db" not in screen_text(app))
        assert not app.screen.query_one(Trouble).shown
    assert app.chosen is None
    assert found() == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("pragma user_version = 999", "written by a newer workbench"),
        ("pragma user_version = 32", "the store has schema 32"),
        ("pragma application_id = 1", "a SQLite file of another program"),
    ],
)
async def test_a_store_that_cannot_be_opened_says_why_and_another_can_be_chosen(
    folder: Path, tmp_path: Path, spoil: str, said: str
) -> None:
    path = made(tmp_path / "spoiled.db")
    connection = sqlite3.connect(path)
    connection.execute(spoil)
    connection.close()
    remember(path)
    made(folder / "here.db")
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: "spoiled.db" in screen_text(app) and "here.db" in screen_text(app)
        )
        await pilot.press("home", "enter")
        await until(pilot, lambda: said in flowing(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.chosen is not None)
    assert app.chosen == folder / "here.db"


async def test_n_makes_a_new_store_and_says_what_is_wrong_with_a_name(folder: Path) -> None:
    (folder / "there.txt").write_text("a file", encoding="utf-8")
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WelcomeScreen))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, NewStoreDialog))
        for text, said in (
            ("", "give a file name"),
            ("there.txt", "already exists"),
            (".", "is a folder"),
            ("none/a.db", "does not exist; create it first"),
            ("~nobody-of-this-name/a.db", "cannot be created"),
            ("x" * 300, "cannot be created"),
        ):
            app.screen.query_one(Input).value = text
            await pilot.press("enter")
            await until(pilot, lambda said=said: said in " ".join(shown(app, "#note").split()))
        app.screen.query_one(Input).value = "mine.db"
        await pilot.press("enter")
        await until(pilot, lambda: app.chosen is not None)
    assert app.chosen == folder / "mine.db"
    with Store.open(folder / "mine.db") as store:
        assert store.instruments.names() == ()


@pytest.mark.e2e
async def test_e_makes_the_example_once_and_opens_it_again(folder: Path) -> None:
    for _ in range(2):
        app = WelcomeApp(folder)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda app=app: "The example" in screen_text(app))
            await pilot.press("e")
            await until(pilot, lambda app=app: app.chosen is not None, 600)
        assert app.chosen == folder / "veldania.db"
    assert sorted(path.name for path in folder.iterdir()) == ["veldania.db", "veldania.db.logs"]
    with Store.open(folder / "veldania.db") as store:
        assert "veldania" in store.instruments.names()
        assert "scripted:left" in store.runs.asked_models()


async def test_names_are_shown_literally(folder: Path) -> None:
    made(folder / "[b]x\x1b[31m.db")
    app = WelcomeApp(folder)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "[b]x␛[31m.db" in screen_text(app))


# the command


def test_without_a_terminal_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: workbench")


@pytest.mark.e2e
def test_in_a_terminal_the_welcome_screen_opens(folder: Path, tmp_path: Path) -> None:
    """In a terminal of its own, read until the screen stands; `q` leaves it."""
    parent, child = pty.openpty()
    environment = os.environ | {
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm-256color",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench"],
        cwd=folder,
        env=environment,
        stdin=child,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    said = b""
    try:
        while b"The example" not in said:
            said += os.read(parent, 65536)
        os.write(parent, b"q")
        while True:
            try:
                if not os.read(parent, 65536):
                    break
            except OSError:  # Linux says so when the other end is closed
                break
        assert process.wait() == 0
    finally:
        process.kill()
        os.close(parent)
    assert b"Traceback" not in said


def test_an_opened_store_is_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.tui import app as apps

    path = made(folder / "a.db")
    monkeypatch.setattr(WorkbenchApp, "run", lambda self: None)
    apps.run_app(path)
    assert found() == [path]
    assert json.loads((state_file() or path).read_text(encoding="utf-8"))[0]["path"] == str(path)
