"""The pictures of a table in the terminal: one key shows them, at every size, whatever the table is
of.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.core.test_pictures import LINES, table
from tests.tui import bias_stores
from tests.tui.books import SIZES, begin, press
from tests.tui.conftest import screen_text, until
from workbench import registry
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import Axis, Cell, Grid, Intervals, Point
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.table import Kind
from workbench.tui.app import WorkbenchApp
from workbench.tui.pictures.screen import PictureScreen, fitted
from workbench.tui.results.result_screen import screen_class

BiasScreen = screen_class(registry.audit("bias_score"))

pytestmark = pytest.mark.e2e
NAN = math.nan


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pictures.db"


async def shown(app: WorkbenchApp, pilot: Pilot[int]) -> str:
    await until(pilot, lambda: isinstance(app.screen, PictureScreen))
    await pilot.pause()
    await pilot.pause()
    return screen_text(app)


@SIZES
async def test_one_key_shows_the_picture_of_the_table_in_sight(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(bias_stores.full(tmp_path / "bias.db"), start="results")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot, BiasScreen)
        await until(pilot, lambda: app.focused is not None and app.focused.id == "rows")
        await pilot.press("P")
        text = await shown(app, pilot)
        assert "Economic and cultural bias" in text
        assert "◂ left · economic · right ▸" in text
        assert "● milieu-1b" in text
        assert "3 points by economic and cultural" in text
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BiasScreen))
        await press(app, pilot, "tab", "tab", "tab")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "rows")
        await pilot.press("P")
        text = await shown(app, pilot)
        assert "Bias under each prompt prefix" in text
        assert "├" in text
        assert "baseline" in text


async def test_every_kind_is_drawn_and_tab_goes_on(path: Path) -> None:
    pictures = pictures_of(table(LINES))
    app = WorkbenchApp(bias_stores.asked(path), start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await app.push_screen(PictureScreen(pictures))
        for at, picture in enumerate(pictures, 1):
            text = await shown(app, pilot)
            assert f"picture {at} of {len(pictures)}" in text
            assert "\x1b" not in text
            words = app.screen.query_one("#words", Static)
            assert picture.alt[:30].replace("\x1b", "␛") in str(words.content)
            await pilot.press("tab")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, PictureScreen))


async def test_what_does_not_fit_is_on_further_pages(path: Path) -> None:
    points = [Point(f"statement {n}", Estimate(n / 239, NAN, NAN, 3)) for n in range(239)]
    of = Intervals(name="many", title="Many", axis=Axis("share", Kind.SHARE, 0, 1), points=points)
    app = WorkbenchApp(bias_stores.asked(path), start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await app.push_screen(PictureScreen([of]))
        text = await shown(app, pilot)
        assert "statement 0" in text
        assert "statement 200" not in text
        for _ in range(40):
            await pilot.press("pagedown")
        text = await shown(app, pilot)
        assert "statement 238" in text


def test_pages_hold_every_line_once() -> None:
    grid = Grid(
        name="g",
        title="G",
        rows=[str(n) for n in range(100)],
        columns=["a"],
        cells=[[Cell("1")]] * 100,
    )
    pages = fitted(grid, 20)
    rows = [row for page in pages if isinstance(page, Grid) for row in page.rows]
    assert rows == list(grid.rows)
