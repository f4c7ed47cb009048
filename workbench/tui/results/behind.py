"""The table that a row leads to. Left and right show the tables of the neighbouring rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from workbench.figures.table import Link
from workbench.figures.visible import visible
from workbench.tui.results.details import TURNS_ROWS, table_help
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Again, Loaded, Routes
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.widgets.record_table import FluidTable


@dataclass(frozen=True, slots=True)
class ScreenRoutes:
    """The routes and screens that a screen of books passes to the screens below it."""

    place: str
    routes: Routes
    screens: Mapping[str, type[BehindScreen]] = field(default_factory=dict)
    "screen of a table by its name, if it has keys of its own"
    again: Again | None = None
    "see `JudgesAgain`"


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """The figures and links of a screen, for a screen with other figures of the same answers."""

    loaded: Loaded
    screen_routes: ScreenRoutes


def behind(
    loaded: Loaded, sheet: Sheet, links: Sequence[Link], at: int, screen_routes: ScreenRoutes
) -> BehindScreen:
    """Return the screen of the table that the link at an index of `links` leads to."""
    return screen_routes.screens.get(sheet.table.name, BehindScreen)(
        loaded, sheet, links, at, screen_routes
    )


class BehindScreen(Following):
    """The screen of the data behind one row."""

    DEFAULT_CSS = """
    BehindScreen #about {
        height: auto;
        margin: 0 1 1 1;
    }
    BehindScreen #none {
        display: none;
        height: auto;
        padding: 1 4;
        color: $text-muted;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "right_square_bracket",
            "beside(1)",
            "Next",
            key_display="[ ]",
            tooltip="Show what the next row rests on",
        ),
        Binding(
            "left_square_bracket",
            "beside(-1)",
            "Previous row",
            show=False,
            tooltip="Show what the previous row rests on",
        ),
        Binding(
            "e", "statement", "Edit", show=False, tooltip="Open the statement, to read or edit it"
        ),
        Binding("v", "whole", "Whole row", show=False, tooltip="Show all details of this row"),
        Binding("escape", "back", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(
        self,
        loaded: Loaded,
        sheet: Sheet,
        links: Sequence[Link],
        at: int,
        screen_routes: ScreenRoutes,
    ) -> None:
        super().__init__()
        self.PLACE, self._screen_routes = screen_routes.place, screen_routes
        self.routes, self.again = screen_routes.routes, screen_routes.again
        self._loaded, self._sheet, self._links, self._at = loaded, sheet, links, at

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield Static(id="none", markup=False)
        yield SheetView()

    def on_mount(self) -> None:
        self.title_bar.place = self.PLACE
        self._put()

    @property
    def figures(self) -> Loaded | None:
        return self._loaded

    def show_title_note(self) -> None:
        self.title_bar.note = ""

    def explain(self) -> str:
        return table_help(self._sheet.table, turns=TURNS_ROWS if len(self._links) > 1 else "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "beside" or len(self._links) > 1

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        self.action_beside(event.direction)

    def action_beside(self, step: int) -> None:
        """Show the table of the next or the previous row."""
        index = (self._at + step) % len(self._links)
        if index != self._at:
            self.bring_instead(self._loaded, self._links, index)

    def show_table(self, sheet: Sheet, links: Sequence[Link], at: int, *, instead: bool) -> None:
        if instead:
            self._sheet, self._links, self._at = sheet, links, at
            self._put()
        else:
            self.app.push_screen(behind(self._loaded, sheet, links, at, self._screen_routes))

    def show_standing(self) -> None:
        """Show the rulings of auditors, and judge the figures again if they changed."""
        super().show_standing()
        if self._links:
            self.judge_if_ruled(self._loaded)

    def show_judged(self, loaded: Loaded) -> None:
        self._loaded = loaded
        if loaded.book is not None:
            self.bring_instead(loaded, self._links, self._at)

    def action_whole(self) -> None:
        self.view.show_whole()

    def action_back(self) -> None:
        if not self.view.show_all_rows():
            self.dismiss(None)

    def _put(self) -> None:
        table = self._sheet.table
        position_text = (
            f"  from row {self._at + 1:,} of {len(self._links):,} [ ]"
            if len(self._links) > 1
            else ""
        )
        heading = Content.assemble((visible(table.title), "bold"), (position_text, "$text-muted"))
        self.query_one("#about", Static).update(heading)
        empty_note = self.query_one("#none", Static)
        empty_note.update(Content(visible(table.empty, lines=True)))
        empty_note.display = not table.rows
        self.view.show(self._sheet)
