"""What stands on every screen: a line of keys, made anew only when it reads differently, and tables
that show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, Static

from tests.tui.conftest import at_rest, screen_text, until
from tests.tui.test_one_set_of_keys import screens
from workbench.tui.app import WorkbenchApp
from workbench.tui.statements.statements import StatementsScreen
from workbench.tui.widgets.frame import Keys
from workbench.tui.widgets.record_table import RecordColumn, RecordTable


class Late(Screen[None]):
    """A screen whose parts come after it, and which is asked about keys before."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.query_one("#part").display

    def compose(self) -> ComposeResult:
        yield Static("late", id="part")
        yield Keys()


class OneTable(App[None]):
    """A table that is not seen at first."""

    CSS = "RecordTable { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "either", "Either", tooltip="One or the other"),
        Binding("q", "quit", "Quit"),
    ]

    either = True
    pressed = 0

    def action_either(self) -> None:
        self.pressed += 1

    def compose(self) -> ComposeResult:
        yield Static("above")
        yield RecordTable([RecordColumn("word", "word", None)], name="words")
        yield Input()
        yield Keys()

    def on_mount(self) -> None:
        table = self.query_one(RecordTable)
        table.display = False
        table.show([("a", (Text("albatross"),))])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.either if action == "either" else True


async def test_keys_are_painted_anew_only_where_they_read_differently(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []
    render = Keys.render
    monkeypatch.setattr(Keys, "render", lambda self: (painted.append("keys"), render(self))[1])
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, StatementsScreen) and "Open" in screen_text(app)
        )
        painted.clear()
        app.screen.refresh_bindings()
        await pilot.press("j", "k")
        assert not painted
        await pilot.press("slash")
        await until(
            pilot,
            lambda: (
                isinstance(app.focused, Input) and "Open" not in screen_text(app).splitlines()[-1]
            ),
        )
        assert painted
        await pilot.press("escape")
        await until(pilot, lambda: "Open" in screen_text(app).splitlines()[-1])


async def test_a_key_is_pressed_with_the_mouse_says_what_it_does_and_is_left_out_whole_where_there_is_no_room() -> (
    None
):
    app = OneTable()
    async with app.run_test(tooltips=True) as pilot:
        await until(pilot, lambda: "x Either" in screen_text(app))
        app.set_focus(None)
        await at_rest()
        footer = app.query_one(Keys)
        column = next(column for column, one in footer.placed if one.key == "x")
        await pilot.hover(Keys, offset=(column + 3, 0))
        assert footer.tooltip == "One or the other"
        await pilot.hover(Keys, offset=(50, 0))
        assert footer.tooltip is None
        await pilot.mouse_down(Keys, offset=(50, 0))
        assert app.pressed == 0
        await pilot.mouse_down(Keys, offset=(column + 3, 0))
        await until(pilot, lambda: app.pressed == 1, seconds=10)
        assert screen_text(app).splitlines()[-1].endswith("q Quit"), (
            "what leads everywhere stands at the right"
        )
        width = sum(one.width + 1 for _, one in footer.placed) - 1
        await pilot.resize_terminal(width, 12)
        await until(pilot, lambda: screen_text(app).endswith("x Either ^p q Quit"), seconds=10)
        await pilot.resize_terminal(width - 1, 12)
        await until(pilot, lambda: "Eith" not in screen_text(app).splitlines()[-1], seconds=10)


async def test_keys_that_changed_behind_another_screen_are_right_when_one_comes_back() -> None:
    app = OneTable()
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Either" in screen_text(app))
        footer = app.query_one(Keys)
        app.push_screen(Late())
        footer.renew()  # as the footer behind is told to while the parts of the one in front are yet to come
        await until(pilot, lambda: isinstance(app.screen, Late) and "late" in screen_text(app))
        app.either = False
        app.screen_stack[0].refresh_bindings()
        await until(pilot, lambda: not app.screen_stack[0]._callbacks)
        await at_rest()
        app.pop_screen()
        await until(pilot, lambda: "above" in screen_text(app) and "Either" not in screen_text(app))


async def test_a_table_that_is_painted_before_it_is_told_its_size_shows_its_records() -> None:
    app = OneTable()
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Either" in screen_text(app))
        table = app.query_one(RecordTable)
        table.display = True
        app.screen._compositor.update_widgets({table})  # what is to be repainted has no place yet:
        # Asked where it is, Textual takes it for placed.
        assert table in app.screen._compositor.full_map
        await until(pilot, lambda: "albatross" in screen_text(app), seconds=10)


@pytest.mark.parametrize("screen", screens(), ids=lambda one: one.__name__)
def test_a_screen_looks_as_its_bases_say(screen: type[Screen[Any]]) -> None:
    """Textual follows the first base alone to find what a screen looks like."""
    for base in screen.__mro__:
        if (
            base.__module__.startswith("workbench.")
            and {"DEFAULT_CSS", "CSS", "CSS_PATH"} & base.__dict__.keys()
        ):
            assert base.__name__ in screen._css_type_names, (
                f"{screen.__name__} does not look like {base.__name__}"
            )


async def test_a_text_that_was_cut_is_whole_again_once_there_is_room() -> None:
    app = OneTable()
    async with app.run_test(size=(12, 12)) as pilot:
        table = app.query_one(RecordTable)
        table.show([("a", (Text("an albatross over the sea"),))])
        table.display = True
        await until(pilot, lambda: "an albat…" in screen_text(app))
        await pilot.resize_terminal(40, 12)
        await until(pilot, lambda: "an albatross over the sea" in screen_text(app))
