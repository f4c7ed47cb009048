"""A picture of all rows of a table, which a screen draws beside the table: an entry of a book names it as its view."""

from __future__ import annotations

from textual.reactive import reactive
from textual.widget import Widget

from workbench.figures.table import AnyTable
from workbench.tui.results.sheet import Sheet


class Picture(Widget):
    """Draws a sheet. A screen maps the views of its entries to such classes."""

    near: reactive[bool] = reactive(False)
    "whether only as much of the scale is shown as the rows need"

    @staticmethod
    def signed(table: AnyTable) -> AnyTable:
        """Return a table with the signs by which the picture tells its rows apart. Called in a thread."""
        return table

    def show(self, sheet: Sheet, at: int | None) -> None:
        """Draw the rows of a sheet; the row at a place is the chosen one."""
        raise NotImplementedError("abstract")
