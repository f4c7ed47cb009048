"""The table of the label grid: a cursor on one cell, which stays among the issues' columns and on its statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate

from workbench.tui.annotation.issue_grid_format import LEAD
from workbench.tui.widgets.fluid_table import Cells, FluidTable
from workbench.tui.widgets.record_table import Column, Record


class IssueTable(FluidTable, inherit_bindings=False):
    """Rows of statements, columns of issues. Letters that label are left to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Row above", show=False),
        Binding("down,j", "cursor_down", "Row below", show=False),
        Binding("left,h", "cursor_left", "Previous issue", show=False),
        Binding("right,l", "cursor_right", "Next issue", show=False),
        Binding("pageup", "page_up", "Page above", show=False),
        Binding("pagedown", "page_down", "Page below", show=False),
        Binding("home,g", "scroll_top", "First row", show=False),
        Binding("end,G", "scroll_bottom", "Last row", show=False),
    ]

    def __init__(self, layout: Callable[[int], Sequence[Column]], *, name: str) -> None:
        super().__init__(layout, name=name, marks_columns=True)
        self.cursor_type = "cell"

    @property
    def issue(self) -> int:
        """The place of the issue under the cursor."""
        return max(0, self.cursor_coordinate.column - LEAD)

    def lay_out_for(self, cells: Cells) -> None:
        """Show records that have other columns than those before."""
        self._cells_for = cells
        self.lay_out_again()

    def go_to(self, row: int, issue: int) -> None:
        """Put the cursor on a cell."""
        self.move_cursor(row=row, column=LEAD + issue, animate=False)

    def replace(self, record: Record) -> None:
        """Show one record anew; nothing where the list does not have it."""
        keys = self.keys
        if record[0] not in keys:
            return
        place = keys.index(record[0])
        before = self._records
        self._records = (*before[:place], record, *before[place + 1 :])
        self._update_row(record, before[place])

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        found = super().validate_cursor_coordinate(value)
        if found.column < LEAD < len(self.ordered_columns):
            return Coordinate(found.row, LEAD)
        return found

    def _lay_out(self, width: int) -> None:
        issue = self.issue
        super()._lay_out(width)
        self._return_to(issue)

    def _fill(self, row: int) -> None:
        issue = self.issue
        super()._fill(row)
        self._return_to(issue)

    def _return_to(self, issue: int) -> None:
        """Put the cursor back on an issue: clearing a table takes it to the first."""
        if self.row_count:
            self.go_to(self.cursor_row, issue)

    def _update_row(self, record: Record, before: Record) -> None:
        names = [column.key for column in self._shown()]
        for name, cell, old in zip(names, self._cells(record[1]), self._cells(before[1]), strict=True):
            if cell != old:
                self.update_cell(record[0], name, cell)
