"""Helpers of tests of the screens of books: waiting until figures stand there, and reading the
table in sight.
"""

from __future__ import annotations

import pytest
from textual.coordinate import Coordinate
from textual.pilot import Pilot

from tests.tui.conftest import until
from workbench.figures.table import AnyTable
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import row_key, row_parts
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.following import AmongRows, Following
from workbench.tui.results.sheet_view import FigureTable

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
Key = tuple[str, ...]


def settled(app: WorkbenchApp) -> bool:
    """Whether nothing is being worked out and the screen shows what it was last asked for."""
    screen = app.screen
    if any(not worker.is_finished for worker in app.workers) or not screen.is_mounted:
        return False
    if isinstance(screen, BookScreen):
        loaded = screen._loaded
        if loaded is None or screen._judged is None:
            return loaded is not None
        return loaded.settings == screen._settings and screen._shown.table_view == screen._look
    return not isinstance(screen, AmongRows) or not screen.title_bar.note


async def begin(app: WorkbenchApp, pilot: Pilot[int], kind: type[BookScreen]) -> None:
    """Wait until a screen of books shows its first table, or says why there is none."""
    await until(pilot, lambda: isinstance(app.screen, kind) and settled(app))
    await pilot.pause()


async def press(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, each when what the one before asked for is there."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        await until(pilot, lambda: settled(app))
        await pilot.pause()


def table(app: WorkbenchApp) -> FigureTable:
    return app.screen.query_one("#rows", FigureTable)


def by_parts(app: WorkbenchApp) -> dict[Key, dict[str, str]]:
    """Return the cells of the table in sight by the names of the row and the key of the column."""
    found = table(app)
    names = [str(column.key.value) for column in found.ordered_columns]
    return {
        tuple(row_parts(key)): {
            name: found.get_cell_at(Coordinate(row, n)).plain.strip()
            for n, name in enumerate(names)
        }
        for row, key in enumerate(found.keys)
    }


def at(app: WorkbenchApp) -> Key:
    """Return the names of the row under the cursor."""
    key = table(app).current
    assert key is not None
    return tuple(row_parts(key))


def behind_table(app: WorkbenchApp) -> AnyTable:
    """Return the table that a row led to."""
    assert isinstance(app.screen, BehindScreen)
    return app.screen._sheet.table


def behind(app: WorkbenchApp) -> str:
    """Return the name of the table that a row led to."""
    return behind_table(app).name


def row(app: WorkbenchApp, *key: str) -> dict[str, str]:
    """Return what a row of the table in sight says by column, also by those for which there is no
    room.
    """
    assert isinstance(app.screen, Following)
    sheet = app.screen.view.sheet
    assert sheet is not None
    place = sheet.row(row_key(*key))
    assert place is not None
    return {
        column.key: text
        for column, text in zip(sheet.table.columns, sheet.cells[place], strict=True)
    }
