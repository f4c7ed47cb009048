"""An instrument goes out of the terminal: what will be written is said first, and then what was."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.conftest import hostile_instrument, made, screen_text, shown, until
from workbench.formats.native import read_csv
from workbench.tui.app import WorkbenchApp
from workbench.tui.statements.export_form import ExportScreen

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


async def opened(app: WorkbenchApp, pilot: Pilot[int], name: str = "small") -> ExportScreen:
    """Open the form and wait until it knows what it would write, or why it cannot."""
    screen = ExportScreen(name)
    await app.push_screen(screen)
    await until(pilot, lambda: "Reading" not in shown(app, "#plan"))
    return screen


async def put(pilot: Pilot[int], screen: ExportScreen, folder: str, format_: str = "csv") -> None:
    """Fill the form and wait until it has looked."""
    screen.query_one("#folder", Input).value = folder
    screen.query_one("#format", Select).value = format_
    await pilot.pause()
    await until(
        pilot,
        lambda: (
            not screen.query_one("#write", Button).disabled or screen.panel.has_class("-trouble")
        ),
    )


@pytest.mark.e2e
@SIZES
async def test_an_instrument_is_written_and_imports_back(path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=size) as pilot:
        screen = await opened(app, pilot)
        assert screen.query_one("#folder", Input).value == str(path.parent / "small")
        assert "Writes 10 files" in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: "✓ Wrote 10 files" in shown(app, "#plan"))
        assert "✓ Wrote 10 files" in screen_text(app)
        await pilot.press("escape")
        assert not isinstance(app.screen, ExportScreen)
    with Store.open(path) as store:
        assert read_csv(path.parent / "small") == store.instruments.get("small")


@pytest.mark.e2e
async def test_what_a_format_leaves_out_is_said_before_and_after(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await put(pilot, screen, str(path.parent / "out"), "probvaa")
        await until(pilot, lambda: "Leaves out:" in shown(app, "#plan"))
        assert "- The name, title, version" in shown(app, "#plan")
        await pilot.press("f5")
        await until(pilot, lambda: "Left out:" in shown(app, "#plan"))
    assert (path.parent / "out/data/vaa/probvaa.csv").is_file()


@pytest.mark.e2e
async def test_descriptions_of_people_go_out_as_the_form_says(path: Path) -> None:
    app = WorkbenchApp(path)
    with Store.open(path) as store:
        store.people.describe("1", {"country": "Italy"}, recorded_by="Ada")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await put(pilot, screen, str(path.parent / "out"))
        assert "people_counts.csv" in shown(app, "#plan")
        screen.query_one("#people", Select).value = "pseudonyms"
        await until(pilot, lambda: "people.csv" in shown(app, "#plan"))
        screen.query_one("#people", Select).value = "none"
        await until(pilot, lambda: "people_counts.csv" not in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: "✓ Wrote" in shown(app, "#plan"))
    assert not list((path.parent / "out").glob("people*"))


@pytest.mark.e2e
async def test_a_folder_that_holds_something_is_refused_until_one_says_so(path: Path) -> None:
    app = WorkbenchApp(path)
    (path.parent / "out").mkdir()
    (path.parent / "out" / "mine.txt").write_text("mine")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await put(pilot, screen, str(path.parent / "out"))
        assert "✗ " in shown(app, "#plan")
        assert "holds mine.txt" in shown(app, "#plan")
        assert screen.query_one("#write", Button).disabled
        screen.query_one("#taken", Select).value = "replace"
        await pilot.pause()
        await until(pilot, lambda: "Writes 10 files" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: "not changed" in shown(app, "#plan"))
    assert (path.parent / "out" / "mine.txt").read_text() == "mine"


@pytest.mark.e2e
async def test_home_is_a_short_name_and_a_file_is_no_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(path.parent / "home"))
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await put(pilot, screen, str(path))
        assert "this is a file" in shown(app, "#plan")
        await put(pilot, screen, "")
        await until(pilot, lambda: "no name yet" in shown(app, "#plan"))
        screen.query_one("#folder", Input).value = "~/mine"
        await pilot.press("f5")
        await until(pilot, lambda: "✓ Wrote" in shown(app, "#plan"))
    assert (path.parent / "home/mine/statements.csv").is_file()


@pytest.mark.e2e
async def test_a_folder_that_cannot_be_written_is_said(path: Path) -> None:
    blocked = path.parent / "file"
    blocked.write_text("mine")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await put(pilot, screen, str(blocked / "below"))
        if not screen.query_one("#write", Button).disabled:
            await pilot.press("f5")
        await until(pilot, lambda: "cannot be" in shown(app, "#plan"))
    assert blocked.read_text() == "mine"


@pytest.mark.e2e
async def test_hostile_texts_are_named_and_not_obeyed(tmp_path: Path) -> None:
    path = made(tmp_path / "audit.db", instrument(), hostile_instrument())
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot, "[bold]host")
        assert "Export [bold]host" in screen_text(app)
        assert screen.query_one("#folder", Input).value == str(tmp_path / "-bold-host")
        await put(pilot, screen, str(tmp_path / "out"))
        await pilot.press("f5")
        await until(pilot, lambda: "could not be imported" in shown(app, "#plan"))
    assert not (tmp_path / "out").exists()


@pytest.mark.e2e
async def test_the_fields_are_explained(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("f1")
        await until(pilot, lambda: "imports back" in shown(app, "#text"))
        assert "get an apostrophe" in shown(app, "#text")
