"""Next and previous, undo, the editor and the layout: the same keys and the same sight, wherever
one is.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.widgets import Static
from textual.widgets.selection_list import Selection

from stores.core.store import Store
from tests.tui import books
from tests.tui.audit_runs import STATEMENTS, AuditScreen, audited
from tests.tui.books import press
from tests.tui.conftest import flowing, shown, status, until
from tests.tui.test_audit_responses import opened, responses
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.sheet_view import Details, SheetView
from workbench.tui.results.wordings import WordingsScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.widgets.fields import TickList
from workbench.tui.widgets.record_table import FluidTable, RecordColumn

REFS = list(STATEMENTS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audit.db")


class Many(App[None]):
    """More rows than there are lines for, as wide as the table."""

    def compose(self) -> ComposeResult:
        yield FluidTable(lambda width: [RecordColumn("n", "n", width)], name="many")

    def fill(self, rows: int) -> None:
        cells = [(str(row), f"{row:02}") for row in range(rows)]
        self.query_one(FluidTable).show_for_width(
            lambda width: [(key, (Text(text.rjust(width)),)) for key, text in cells]
        )


class Told(App[None]):
    """A sheet without a table: there are nine lines for details."""

    CSS = "SheetView { height: 11 }"

    def compose(self) -> ComposeResult:
        yield SheetView()


@pytest.mark.parametrize("lines", [8, 9, 10, 13])
async def test_whether_details_are_cut_does_not_depend_on_what_was_shown_before(lines: int) -> None:
    app = Told()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        box, sign = app.query_one("#details", Details), app.query_one("#cut", Static)
        box.update("\n".join(map(str, range(lines))))
        said = []
        for before in (False, True):
            sign.set_class(before, "-shown")
            await pilot.pause()
            box.post_message(Details.Resized())
            await pilot.pause()
            await pilot.pause()
            said.append(sign.has_class("-shown"))
        assert said == [lines > 9, lines > 9]


@pytest.mark.parametrize("rows", [5, 50])
async def test_the_bar_of_a_table_that_scrolls_hides_no_figure(rows: int) -> None:
    app = Many()
    async with app.run_test(size=(40, 10)) as pilot:
        app.fill(3)
        await pilot.pause()
        app.fill(rows)
        await pilot.pause()
        line = app.query_one(FluidTable).render_line(3).text
        bar = int(rows > 9)
        assert line[: 40 - bar].endswith("02"), "the last column ends where the bar begins"
        app.fill(4)
        await pilot.pause()
        assert app.query_one(FluidTable).render_line(3).text.endswith("02")


class Ticks(App[None]):
    """A list to tick, and something before it."""

    def compose(self) -> ComposeResult:
        yield TickList(*(Selection(name, name) for name in "abc"), compact=True)


async def test_the_first_down_in_a_tick_list_moves_the_cursor() -> None:
    app = Ticks()
    async with app.run_test() as pilot:
        ticks = app.query_one(TickList)
        ticks.focus()
        await pilot.pause()
        assert ticks.highlighted == 0, "it is in sight before any key"
        await pilot.press("down", "space")
        assert ticks.selected == ["b"]
        await pilot.press("j", "space", "k", "k", "space")
        assert ticks.selected == ["b", "c", "a"]
        ticks.clear_options()
        ticks.add_options([Selection(name, name) for name in "xyz"])
        await pilot.pause()
        await pilot.press("down", "space")
        assert ticks.selected == ["y"]


@pytest.mark.e2e
async def test_brackets_turn_statements_and_answers_and_e_opens_the_editor(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        await press(app, pilot, "down", "e")
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and REFS[1] in flowing(app)
        )
        await pilot.press("right_square_bracket")
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and app.screen._ref == REFS[2]
        )
        await press(app, pilot, "escape", "t", "enter")
        assert isinstance(app.screen, WordingsScreen)
        first = shown(app, "#about")
        await press(app, pilot, "right_square_bracket")
        assert shown(app, "#about") != first
        await press(app, pilot, "left_square_bracket")
        assert shown(app, "#about") == first
        await press(app, pilot, "e")
        await until(
            pilot, lambda: isinstance(app.screen, StatementScreen) and app.screen._ref == REFS[1]
        )


@pytest.mark.e2e
async def test_brackets_go_through_the_answers_that_are_opened_whole(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, "tax-02")
        await responses(app, pilot, 5)
        assert isinstance(answers := app.screen, ResponsesScreen)
        assert answers.table.row_count > 1
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        await press(app, pilot, "right_square_bracket")
        await until(pilot, lambda: isinstance(app.screen, WholeAnswerScreen))
        assert answers.table.cursor_row == 1
        await press(app, pilot, "left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: isinstance(app.screen, WholeAnswerScreen))
        assert answers.table.cursor_row == 0


@pytest.mark.e2e
async def test_z_takes_the_last_ruling_back_wherever_rulings_are_made(path: Path) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        await press(app, pilot, "z")
        await until(pilot, lambda: "otto has no ruling in force" in status(app))
        await press(app, pilot, "r", "x", "enter")
        await until(pilot, lambda: "z undoes it" in status(app))
        await press(app, pilot, "z")
        await until(pilot, lambda: status(app) == f"undone: excluded on {REFS[0]}")
    with Store.open(path) as store:
        assert not any(store.rulings.standing().values())


@pytest.mark.e2e
async def test_the_order_of_a_table_is_as_it_was_left(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(140, 40)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        await press(app, pilot, "tab")
        view = app.screen.query_one(SheetView)
        assert view.sheet is not None
        column = view.sheet.table.columns[1].key
        await press(app, pilot, "s", "home", "down", "down", "enter")
        assert view.order is not None
        assert view.order.column == column
        await press(app, pilot, "s", "enter")
        reversed_ = view.order
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(140, 40)) as pilot:
        await books.begin(app, pilot, AuditScreen)
        view = app.screen.query_one(SheetView)
        assert view.order is None, "the first table is in sight again, which leads to the answers"
        await press(app, pilot, "tab")
        assert view.order == reversed_
        assert view.order is not None
        assert view.order.column == column
