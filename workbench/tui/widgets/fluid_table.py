"""A record table whose columns and cells are made for the width there is: words where there is room, else marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.message import Message
from textual.widgets._data_table import CursorType

from workbench.tui.widgets.record_table import Column, Record, RecordTable

Layout = Callable[[int], Sequence[Column]]
"columns for a width"
Cells = Callable[[int], Sequence[Record]]
"records for a width: each with a cell a column of the layout"


class FluidTable(RecordTable):
    """Rows move with arrows, j and k; left and right are told to the screen, or mark a column."""

    DEFAULT_CSS = """
    FluidTable > .datatable--header-cursor {
        background: $background;
        color: $text-muted;
        text-style: bold;
    }
    FluidTable.-marks-columns > .datatable--header-cursor {
        color: $text-accent;
        text-style: bold underline;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "cursor_left", "Left", show=False),
        Binding("right", "cursor_right", "Right", show=False),
    ]

    class Sideways(Message):
        """Left (-1) or right (+1) was pressed in a table that marks no columns."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self, layout: Layout, *, name: str, marks_columns: bool = False) -> None:
        super().__init__(layout(80), name=name)
        self.set_class(marks_columns, "-marks-columns")
        self._layout_for = layout
        self._marks_columns = marks_columns
        self._cells_for: Cells | None = None
        self.cell_padding = 0

    def on_resize(self, event: events.Resize) -> None:
        """Choose columns and cells before the base class lays them out."""
        if (room := self.room(event.size.width)) != self._laid_out:
            if self._cells_for is not None:
                self._records = tuple(self._cells_for(room))
                if (beside := self.room(event.size.width)) != room:  # with these records the table scrolls
                    self._records, room = tuple(self._cells_for(beside)), beside
            self._all_columns = tuple(self._layout_for(room))

    def room(self, width: int) -> int:
        """Return how much of the table's width there is for columns: the bar of a table that scrolls hides the rest."""
        scrolls = len(self._records) > self.size.height - self.header_height
        return max(0, width - self.styles.scrollbar_size_vertical * scrolls)

    @property
    def column(self) -> str:
        """The key of the marked column."""
        return self._all_columns[min(self.cursor_coordinate.column, len(self._all_columns) - 1)].key

    def show_for_width(self, cells: Cells, *, at: int | None = None) -> None:
        """Show records, and make them anew whenever the width changes. The cursor stays on its record."""
        if self._laid_out >= 0 and tuple(self._layout_for(self._laid_out)) != self._all_columns:
            self.show_anew(cells)
            if at is not None:
                self.show_row(at)
            return
        before, self._cells_for = self.current, cells
        self.show(cells(max(self._laid_out, 1)), at=at)
        if self._laid_out >= 0 and self.room(self.size.width) != self._laid_out:
            self.lay_out_again()
            if at is None and before in self.keys:
                self.show_row(self.keys.index(before))
            elif at is not None:
                self.show_row(at)

    def lay_out_again(self) -> None:
        """Take the layout's columns anew, for records that need other columns."""
        if self._laid_out >= 0:
            self._records = tuple(self._cells_for(self._laid_out)) if self._cells_for is not None else ()
            if (room := self.room(self.size.width)) != self._laid_out and self._cells_for is not None:
                self._records = tuple(self._cells_for(room))
            self._all_columns = tuple(self._layout_for(room))
            self._lay_out(room)

    def show_anew(self, cells: Cells) -> None:
        """Show records that may need other columns than those before. The cursor stays on its record."""
        before, self._cells_for = self.current, cells
        self.lay_out_again()
        if before in self.keys:
            self.show_row(self.keys.index(before))

    def action_cursor_left(self) -> None:
        self._sideways(-1)

    def action_cursor_right(self) -> None:
        self._sideways(1)

    def _sideways(self, direction: int) -> None:
        if not self._marks_columns:
            self.post_message(self.Sideways(direction))
            return
        row, column = self.cursor_coordinate
        column = max(0, min(column + direction, len(self.ordered_columns) - 1))
        self.cursor_coordinate = Coordinate(row, column)

    def _should_highlight(self, cursor: Coordinate, target_cell: Coordinate, type_of_cursor: CursorType) -> bool:
        if target_cell.row < 0:
            return self._marks_columns and cursor.column == target_cell.column
        return super()._should_highlight(cursor, target_cell, type_of_cursor)
