"""A list of records whose cursor stays on the same record after a refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import DataTable
from textual.widgets._data_table import CursorType


def same_in_all(cells: Sequence[str]) -> bool:
    """Return whether several rows have the same text in a column.

    Examples
    --------
    >>> same_in_all(["6", "6"]), same_in_all(["6"]), same_in_all(["6", "5"])
    (True, False, False)
    """
    return len(cells) > 1 and len(set(cells)) == 1


def in_all_rows(parts: Iterable[tuple[str, str]]) -> str:
    """Return the line of columns that are equal in all rows, from their titles and cells.

    It is empty without any.

    Examples
    --------
    >>> in_all_rows([("country", "VEL"), ("tags", "")])
    'In all rows: country VEL'
    """
    text = " · ".join(f"{title} {cell}" for title, cell in parts if title and cell)
    return f"In all rows: {text}" if text else ""


Record = tuple[str, tuple[Text, ...]]
"a key, unique in its list, and a cell per column"


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """One column. One column of a table may take the width that the others leave."""

    key: str
    label: str
    width: int | None
    "None: the width that the others leave"
    least: int = 0
    "least width of a table that has the column"


def moving(first: str, last: str) -> list[BindingType]:
    """Return the bindings to move in a table, with the keys for its first and its last row."""
    return [
        Binding(
            "enter",
            "select_cursor",
            "Open",
            key_display="Enter",
            tooltip="Open what is under the cursor",
        ),
        Binding("up,k", "cursor_up", "Row above", show=False, tooltip="Go to the row above"),
        Binding("down,j", "cursor_down", "Row below", show=False, tooltip="Go to the row below"),
        Binding("pageup", "page_up", "Page above", show=False, tooltip="Go up by a page"),
        Binding("pagedown", "page_down", "Page below", show=False, tooltip="Go down by a page"),
        Binding(first, "scroll_top", "First row", show=False, tooltip="Go to the first row"),
        Binding(last, "scroll_bottom", "Last row", show=False, tooltip="Go to the last row"),
    ]


class RecordTable(DataTable[Text], inherit_bindings=False):
    """A table with a row cursor for the arrows, j and k. Cells are `Text`, as a string is markup.

    It has no columns before it knows its width, and is always at least a line high, so that it
    comes to know it.
    """

    DEFAULT_CSS = """
    RecordTable {
        height: 1fr;
        min-height: 1;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = moving("home,g", "end,G")

    class EdgePassed(Message):
        """The cursor was moved past the first (-1) or the last (+1) row."""

        def __init__(self, table: RecordTable, direction: int) -> None:
            super().__init__()
            self.table = table
            self.direction = direction

        @property
        def control(self) -> RecordTable:
            return self.table

    def __init__(self, columns: Sequence[RecordColumn], *, name: str) -> None:
        super().__init__(id=name, cursor_type="row", zebra_stripes=False, cell_padding=1)
        self._all_columns = tuple(columns)
        self._records: tuple[Record, ...] = ()
        self._laid_out = -1
        self._begins = 0
        "row of the initial cursor, once there are columns"
        self._without: frozenset[str] = frozenset()

    def leave_out(self, *columns: str) -> None:
        """Leave out columns by their keys. A column without a width of its own takes their room."""
        if self._without != (without := frozenset(columns)):
            self._without = without
            if self._laid_out >= 0:
                self._lay_out(self._laid_out)

    def on_resize(self, event: events.Resize) -> None:
        if (room := self.room(event.size.width)) != self._laid_out:
            self._lay_out(room)

    def room(self, width: int) -> int:
        """Return the width of the table that columns can use."""
        return width

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint the table. If it was painted without a size, as happens in Textual, request one."""
        if self._laid_out < 0:
            self.post_message(events.Resize(self.size, self.virtual_size))
        return super().render_lines(crop)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "select_cursor" and not self._records:
            return False
        return super().check_action(action, parameters)

    @property
    def current(self) -> str | None:
        """The key of the record under the cursor, or None without one."""
        return (
            self._records[self.cursor_row][0] if 0 <= self.cursor_row < len(self._records) else None
        )

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self._records)

    def show(self, records: Sequence[Record], *, at: int | None = None) -> None:
        """Show records. The cursor stays on its record, or goes to row `at` if that is set."""
        current_key, old_records = self.current, self._records
        self._records = tuple(records)
        if self._laid_out < 0:
            return
        if at is None and [key for key, _ in old_records] == [key for key, _ in records]:
            self._update(old_records)
            return
        row = self.cursor_row if at is None else at
        if at is None and current_key in self.keys:
            row = self.keys.index(current_key)
        self._fill(row)

    def show_row(self, row: int) -> None:
        """Move the cursor to a row.

        Before there are columns, the row is kept for the first layout.
        """
        self._begins = row
        self.move_cursor(row=max(0, min(row, len(self._records) - 1)), animate=False)

    def action_cursor_down(self) -> None:
        if self.cursor_row >= self.row_count - 1:
            self.post_message(self.EdgePassed(self, 1))
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        if self.cursor_row <= 0:
            self.post_message(self.EdgePassed(self, -1))
        else:
            super().action_cursor_up()

    def action_page_down(self) -> None:
        if self.cursor_row >= self.row_count - 1:
            self.post_message(self.EdgePassed(self, 1))
        else:
            super().action_page_down()

    def action_page_up(self) -> None:
        if self.cursor_row <= 0:
            self.post_message(self.EdgePassed(self, -1))
        else:
            super().action_page_up()

    def _lay_out(self, width: int) -> None:
        row = self.cursor_row if self._laid_out >= 0 else self._begins
        self._laid_out = width
        self.clear(columns=True)
        visible_columns = self._shown()
        remaining = (
            width
            - 1
            - sum((column.width or 0) + 2 * self.cell_padding for column in visible_columns)
        )
        for column in visible_columns:
            column_width = column.width or max(8, remaining)
            label = Text(column.label.rstrip(), no_wrap=True, overflow="ellipsis")
            label.truncate(
                column_width - (self.cell_padding == 0 and column is not visible_columns[-1]),
                overflow="ellipsis",
            )
            self.add_column(label, key=column.key, width=column_width)
        self._fill(row)

    def _shown(self) -> list[RecordColumn]:
        return [column for column in self._all_columns if self._has(column)]

    def _has(self, column: RecordColumn) -> bool:
        return self._laid_out >= column.least and column.key not in self._without

    def _cells(self, cells: tuple[Text, ...]) -> list[Text]:
        """Return the visible cells. One that does not fit ends in `…`.

        So no figure is truncated without a sign, and none touches its neighbour.
        """
        visible_cells = [
            cell.copy()
            for cell, column in zip(cells, self._all_columns, strict=True)
            if self._has(column)
        ]
        for cell, width in zip(visible_cells, self._widths, strict=True):
            cell.no_wrap, cell.overflow = True, cell.overflow or "ellipsis"
            if cell.cell_len > width:
                cell.rstrip()
                cell.truncate(width, overflow="ellipsis")
        return visible_cells

    @property
    def _widths(self) -> list[int]:
        """The greatest width of a cell in each column.

        Where cells have no padding, a blank stays before the next column.
        """
        columns = self.ordered_columns
        return [
            column.width - (self.cell_padding == 0 and number < len(columns))
            for number, column in enumerate(columns, 1)
        ]

    def _fill(self, row: int) -> None:
        self.clear()
        for key, cells in self._records:
            self.add_row(*self._cells(cells), key=key)
        self.show_row(row)

    def _update(self, old: tuple[Record, ...]) -> None:
        names = [column.key for column in self._shown()]
        for (key, cells), (_, old_cells) in zip(self._records, old, strict=True):
            if cells != old_cells:
                for name, cell in zip(names, self._cells(cells), strict=True):
                    self.update_cell(key, name, cell)


Layout = Callable[[int], Sequence[RecordColumn]]
"function that returns the columns for a width"
Cells = Callable[[int], Sequence[Record]]
"function that returns the records for a width, each with a cell per column of the layout"


class FluidTable(RecordTable):
    """A table of rows that fits its width. Left and right go to the screen, or mark a column."""

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
        Binding("left", "cursor_left", "Left", show=False, tooltip="Go left"),
        Binding("right", "cursor_right", "Right", show=False, tooltip="Go right"),
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
        width = event.size.width
        room = self.room(width)
        if room == self._laid_out:
            return
        if self._cells_for is not None:
            room = self._compute_records(self._cells_for, room, width)
        self._all_columns = tuple(self._layout_for(room))

    def _compute_records(self, cells: Cells, room: int, width: int) -> int:
        """Compute the records for a room of a table's width, and return the room that they have.

        They are computed again if the table scrolls with them, or does not any more.
        """
        self._records = tuple(cells(room))
        actual_room = self.room(width)
        if actual_room != room:
            self._records = tuple(cells(actual_room))
        return actual_room

    def room(self, width: int) -> int:
        """Return the width of the table that columns can use, without its scroll bar."""
        is_scrolling = len(self._records) > self.size.height - self.header_height
        return max(0, width - (self.styles.scrollbar_size_vertical if is_scrolling else 0))

    @property
    def column(self) -> str:
        """The key of the marked column."""
        return self._all_columns[min(self.cursor_coordinate.column, len(self._all_columns) - 1)].key

    def show_for_width(self, cells: Cells, *, at: int | None = None) -> None:
        """Show records, and compute them again at each new width.

        The cursor stays on its record.
        """
        if self._laid_out >= 0 and tuple(self._layout_for(self._laid_out)) != self._all_columns:
            self.show_anew(cells)
            if at is not None:
                self.show_row(at)
            return
        current_key, self._cells_for = self.current, cells
        self.show(cells(max(self._laid_out, 1)), at=at)
        if self._laid_out >= 0 and self.room(self.size.width) != self._laid_out:
            self.lay_out_again()
            if at is None and current_key in self.keys:
                self.show_row(self.keys.index(current_key))
            elif at is not None:
                self.show_row(at)

    def lay_out_again(self) -> None:
        """Take the columns of the layout again, for records that need other columns."""
        if self._laid_out < 0:
            return
        width = self.size.width
        if self._cells_for is None:
            self._records = ()
            room = self.room(width)
        else:
            room = self._compute_records(self._cells_for, self._laid_out, width)
        self._all_columns = tuple(self._layout_for(room))
        self._lay_out(room)

    def show_anew(self, cells: Cells) -> None:
        """Show records that may need other columns than before. The cursor stays on its record."""
        current_key, self._cells_for = self.current, cells
        self.lay_out_again()
        if current_key in self.keys:
            self.show_row(self.keys.index(current_key))

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

    def _should_highlight(
        self, cursor: Coordinate, target_cell: Coordinate, type_of_cursor: CursorType
    ) -> bool:
        if target_cell.row < 0:
            return self._marks_columns and cursor.column == target_cell.column
        return super()._should_highlight(cursor, target_cell, type_of_cursor)
