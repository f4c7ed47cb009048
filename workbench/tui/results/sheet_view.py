"""A sortable and searchable table of figures, with the details of its current row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Input, Static

from workbench.domain.names import plural
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.table import AnyTable, Link
from workbench.figures.visible import visible
from workbench.tui.kit.base import BESIDE, once_painted, say, with_store_name
from workbench.tui.kit.dialogs import ListDialog
from workbench.tui.pictures.screen import PictureScreen
from workbench.tui.preferences import keep, remembered
from workbench.tui.results.details import (
    FAILURES,
    RowFilter,
    all_details,
    choices,
    details,
    has_verdicts,
)
from workbench.tui.results.grid import Grid
from workbench.tui.results.sheet import Order, Sheet
from workbench.tui.rulings.ruling import RuledText, ruling_lines
from workbench.tui.widgets.record_table import FluidTable, Record, RecordColumn, RecordTable

RULED = 3
"number of rulings that are shown above the details of a row"


def remembered_order(sheet: Sheet) -> Order | None:
    """Return the stored order of tables with this name, or None if the table lacks the column."""
    stored_order = remembered(f"order of {sheet.table.name}")
    if not isinstance(stored_order, list) or len(stored_order) != 2:
        return None
    column, descending = stored_order
    has_column = any(table_column.key == column for table_column in sheet.table.columns)
    return Order(column, descending is True) if has_column else None


class FigureTable(FluidTable):
    """The rows of a table of figures. Enter is offered if a row has links or truncated details."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "select_cursor",
            "Open",
            key_display="Enter",
            tooltip="Open what this row rests on",
        ),
    ]
    has_links = False
    "whether a row has a link to other tables"
    cut = False
    "whether the details of the row are longer than their space"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or (self.row_count > 0 and (self.has_links or self.cut))


class Details(Static):
    """The details of the row under the cursor. It posts a message when its size changes."""

    class Resized(Message):
        """The space for details changed."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class SheetView(Vertical):
    """The view of a sheet. It posts a message for the current row and for a row to open."""

    DEFAULT_CSS = """
    SheetView {
        height: 1fr;
    }
    SheetView FigureTable {
        height: auto;
        margin-left: 1;
    }
    SheetView #find {
        display: none;
        margin: 0 1;
    }
    SheetView #find.-shown {
        display: block;
    }
    SheetView #list, SheetView #beside {
        height: auto;
    }
    SheetView #list {
        max-height: 60%;
    }
    SheetView #beside {
        height: 1fr;
    }
    SheetView #narrowed {
        display: none;
        height: 1;
        margin: 0 1;
        color: $text-accent;
    }
    SheetView #narrowed.-shown {
        display: block;
    }
    SheetView #cut {
        display: none;
        dock: bottom;
        height: 1;
        padding: 0 1;
        color: $text-muted;
    }
    SheetView #cut.-shown {
        display: block;
    }
    SheetView #details {
        height: auto;
        max-height: 12;
        margin: 1 1 0 1;
    }
    SheetView #preview-title {
        display: none;
        height: 1;
        margin: 1 1 0 1;
        color: $text-muted;
    }
    SheetView #preview {
        display: none;
        height: 1fr;
        margin-left: 1;
        color: $text-muted;
    }
    SheetView.-short #list {
        max-height: 100%;
    }
    SheetView.-short #details {
        max-height: 2;
        margin: 0 1;
    }
    SheetView.-tall #preview-title, SheetView.-tall #preview {
        display: block;
    }
    SheetView.-tall.-alone #list {
        max-height: 75%;
    }
    SheetView.-tall.-alone #details {
        max-height: 60%;
    }
    SheetView.-beside {
        layout: horizontal;
    }
    SheetView.-beside #list, SheetView.-beside.-alone #list {
        width: 65%;
        height: 1fr;
        max-height: 100%;
    }
    SheetView.-beside #beside {
        width: 1fr;
        height: 1fr;
        margin-left: 1;
        border-left: vkey $panel;
    }
    SheetView.-beside #details {
        max-height: 60%;
        margin: 0 1;
    }
    SheetView.-tall.-alone #preview-title, SheetView.-tall.-alone #preview {
        display: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Sort", tooltip="Sort by a column"),
        Binding(
            "slash",
            "find",
            "Find",
            key_display="/",
            tooltip="Show only rows that contain the words you type",
        ),
        Binding(
            "x",
            "failed(1)",
            "Failed",
            tooltip="Show only failures: of any test, of each test, then void tests",
        ),
        Binding(
            "X",
            "failed(-1)",
            "Previous failed test",
            show=False,
            tooltip="Show the rows that fail the previous test",
        ),
        Binding("E", "every", "Every row", tooltip="Show the minor rows too, or leave them out"),
        Binding("0", "all", "All", show=False, tooltip="Show all rows again"),
        Binding("P", "picture", "Picture", tooltip="Show the pictures of the table"),
    ]
    EVERY = "E"
    "key that shows or hides minor rows"
    TALL = 34
    "number of terminal lines from which the view has a preview of what Enter opens"
    SHORT = 16
    "number of terminal lines up to which the rows get all the space"
    PREVIEWED = 100
    "maximum number of rows in a preview, which does not scroll"

    class Current(Message):
        """The cursor moved to another row, or to None if the table is empty."""

        def __init__(self, link: Link | None) -> None:
            super().__init__()
            self.link = link

    class Opened(Message):
        """A row is to be opened.

        `links` are those of all visible rows, `at` the index of this one.
        """

        def __init__(self, links: list[Link], at: int) -> None:
            super().__init__()
            self.links, self.at = links, at

    table = query_one("#rows", FigureTable)
    box = query_one("#find", Input)
    preview = query_one("#preview", FluidTable)

    def __init__(self) -> None:
        super().__init__()
        self.sheet: Sheet | None = None
        self.order: Order | None = None
        self.mark = ""
        "key of the marked column, in a table that has one"
        self.empty = ""
        "text in place of the details of a table without visible rows"
        self.near = False
        "whether pictures show only the part of their scale that they need"
        self.remark: Callable[[int], Content | None] | None = None
        "remark of the screen on a row, which is shown above its details"
        self.rulings: Callable[[int], Sequence[str]] | None = None
        "rulings of auditors on a row"
        self._only: dict[str, RowFilter] = {}
        "active filters by the name of their column"
        self._every = False
        "whether minor rows are visible"
        self._previewed: Sheet | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="list"):
            yield FigureTable(self._columns, name="rows")
            yield Input(placeholder="words that rows contain", id="find", compact=True)
            yield Static(id="narrowed", markup=False)
        with Vertical(id="beside"):
            yield Details(id="details", markup=False)
            yield Static(id="cut", markup=False)
            yield Static(id="preview-title", markup=False)
            preview_table = FluidTable(self._preview_columns, name="preview")
            preview_table.can_focus = False
            preview_table.show_cursor = False
            yield preview_table

    def show(self, sheet: Sheet) -> None:
        """Show a sheet, with its cursor on the same row.

        The same table keeps its order and search.
        """
        if self.sheet is None or self.sheet.table.name != sheet.table.name:
            self.order, self._every = remembered_order(sheet), False
            self._only.clear()
            self._close_box()
        self.sheet = sheet
        sheet.notes = [with_store_name(self.app, note) for note in sheet.notes]
        self._only = {name: self._again(name, only) for name, only in self._only.items()}
        sheet.zoom(self.near)
        self.table.has_links = sheet.has_links
        if isinstance(sheet, Grid):
            sheet.put_mark(self.mark)
            self.mark = sheet.mark
        self._show()
        self.table.focus()

    def show_preview(self, sheet: Sheet | None) -> None:
        """Show a preview of what Enter would open, if the view is tall enough."""
        self._previewed = sheet
        self.set_class(sheet is None, "-alone")
        title = sheet.table.title if sheet is not None else ""
        self.query_one("#preview-title", Static).update(Content(f"Enter: {title}" if title else ""))
        self.preview.show_anew(self._preview_records)

    @property
    def previews(self) -> bool:
        """Whether the view is tall enough for a preview."""
        return self.has_class("-tall")

    @property
    def row_index(self) -> int | None:
        """The index in the table of the row under the cursor, or None without rows."""
        return self._current

    @property
    def row(self) -> Any:
        """The row under the cursor, of the type that the table holds, or None without rows."""
        return (
            self.sheet.table.rows[self._current]
            if self.sheet is not None and self._current is not None
            else None
        )

    def go_to(self, at: int) -> None:
        """Move the cursor to the row with an index in the table.

        It stays if that row is not visible.
        """
        if at in (rows := self._rows()):
            self.table.show_row(rows.index(at))

    def follow(self) -> None:
        """Show the details of the row under the cursor."""
        row_index = self._current
        content = (
            self.told(row_index)
            if self.sheet is not None and row_index is not None
            else self._nothing()
        )
        self.query_one("#details", Static).update(content)
        once_painted(self, self._see_what_is_cut)

    def told(self, at: int) -> Content:
        """Return the content below the table about a row: its rulings, remark and details."""
        if self.sheet is None:
            return Content("")
        detail_content = details(
            self.sheet, at, self._width, self.query_one("#details", Static).content_size.width
        )
        lines = self.ruled(at)
        remark = self.remark(at) if self.remark is not None else None
        if remark is not None:
            lines.append(remark)
        return Content("\n").join([*lines, detail_content])

    def ruled(self, at: int) -> list[Content]:
        """Return the lines of the first rulings on a row, and the number of further ones."""
        rulings = self.rulings(at) if self.rulings is not None else ()
        further = [Content.styled(f"and {len(rulings) - RULED} more rulings", "$text-accent")] * (
            len(rulings) > RULED
        )
        return [*ruling_lines(rulings[:RULED]), *further]

    def on_resize(self) -> None:
        self.set_class(self.screen.size.height >= self.TALL, "-tall")
        self.set_class(self.screen.size.height <= self.SHORT, "-short")
        self.set_class(self.size.width >= BESIDE, "-beside")
        self.follow()

    @on(DataTable.RowHighlighted, "#rows")
    def moved(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self.follow()
        self.post_message(self.Current(self._link(self._current)))

    @on(RecordTable.RowSelected, "#rows")
    def open(self, event: RecordTable.RowSelected) -> None:
        event.stop()
        links = [
            (row_index, link)
            for row_index in self._rows()
            if (link := self._link(row_index)) is not None
        ]
        row_indices = [row_index for row_index, _ in links]
        if self._current in row_indices:
            self.post_message(
                self.Opened([link for _, link in links], row_indices.index(self._current))
            )
        else:
            self.show_whole()

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Mark the neighbouring column of a table that has a marked one."""
        if isinstance(self.sheet, Grid):
            event.stop()
            self.sheet.turn(event.direction)
            self.mark = self.sheet.mark
            self._show()

    @on(Input.Changed, "#find")
    def found(self) -> None:
        self._show()

    @on(Input.Submitted, "#find")
    def leave_box(self) -> None:
        """Move the focus to the rows and keep the search. An empty search box closes."""
        if not self.box.value.strip():
            self._close_box()
        self.table.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        table = self.sheet.table if self.sheet is not None else None
        if action == "failed":
            return table is not None and has_verdicts(table)
        if action == "picture":
            return table is not None and bool(table.rows and table.pictures)
        if action == "every":
            return (
                table is not None and table.minor is not None and any(map(table.minor, table.rows))
            )
        if action in ("sort", "find"):
            return table is not None and bool(table.rows)
        return action != "all" or self.narrowed

    def action_failed(self, step: int) -> None:
        """Filter by the next or the previous kind of failure."""
        self.narrow(FAILURES, step)

    def action_picture(self) -> None:
        """Draw the table, or its visible rows in their order if they are filtered or sorted."""
        if self.sheet is None:
            return
        table = self.sheet.table
        if self.narrowed or self.order is not None:
            table = replace(table, rows=[table.rows[row_index] for row_index in self._rows()])
        if pictures := pictures_of(table):
            self.app.push_screen(PictureScreen(pictures))
        else:
            say(self.screen, "There are too few rows for a picture.", warns=True)

    def action_every(self) -> None:
        self._every = not self._every
        self._show()

    def action_all(self) -> None:
        self._only.clear()
        self._close_box()
        self._show()
        self.refresh_bindings()

    @property
    def narrowed(self) -> bool:
        """Whether some rows are hidden by a filter or by the search box."""
        return bool(self._only) or self.box.has_class("-shown")

    def offers(self, name: str) -> bool:
        """Return whether rows can be filtered by the values of a column."""
        return self.sheet is not None and len(choices(self.sheet.table, name)) > 0

    def narrow(self, name: str, step: int = 1) -> None:
        """Filter by the next kind of failure, or value of a column.

        After the last, show all rows.
        """
        if self.sheet is None:
            return
        table, other_filters = (
            self.sheet.table,
            [column_filter for column, column_filter in self._only.items() if column != name],
        )
        rows = [
            row
            for row in table.rows
            if all(column_filter.admits(row) for column_filter in other_filters)
        ]
        available_filters = choices(replace(table, rows=rows), name)
        labels = ["", *(column_filter.words for column_filter in available_filters)]
        current_label = self._only[name].words if name in self._only else ""
        position = labels.index(current_label) if current_label in labels else 0
        self._only.pop(name, None)
        if (next_position := (position + step) % len(labels)) > 0:
            self._only[name] = available_filters[next_position - 1]
        self._show()
        self.refresh_bindings()

    def action_sort(self) -> None:
        if self.sheet is not None:
            lines = sorted_by(self.sheet.table, self.order)
            current_column = self.order.column if self.order is not None else AS_THEY_COME
            keys_help = "Enter sorts · twice: reversed · Esc back"
            self.app.push_screen(
                ListDialog("Sort by", lines, current_column, keys_help), self._sort
            )

    def action_find(self) -> None:
        self.box.add_class("-shown")
        self.box.focus()

    def show_whole(self) -> None:
        """Show all details of the row under the cursor on a screen of its own."""
        if self.sheet is not None and (row_index := self._current) is not None:
            rulings = self.rulings(row_index) if self.rulings is not None else ()
            self.app.push_screen(
                RuledText(*all_details(self.sheet, row_index), wide=True, rulings=rulings)
            )

    def zoom(self) -> None:
        """Draw pictures on their whole scale, or on the part that values and intervals need."""
        self.near = not self.near
        if self.sheet is not None:
            self.sheet.zoom(self.near)
            self._show()

    def show_all_rows(self) -> bool:
        """Show all rows again. Return False if all are visible already."""
        if not self.narrowed:
            return False
        self.action_all()
        self.table.focus()
        return True

    def _again(self, name: str, only: RowFilter) -> RowFilter:
        """Return the filter of the same label in the current table.

        Without one, no row passes it.
        """
        matching_filters = (
            (
                column_filter
                for column_filter in choices(self.sheet.table, name)
                if column_filter.words == only.words
            )
            if self.sheet
            else ()
        )
        return next(iter(matching_filters), RowFilter(only.words, lambda _: False))

    @on(Details.Resized)
    def _see_what_is_cut(self) -> None:
        """Offer to open the details if they are truncated.

        The line with that offer does not count.
        """
        box, hint = self.query_one("#details", Static), self.query_one("#cut", Static)
        room = box.content_region
        visible_height = min(room.bottom, self.region.bottom) - room.y
        is_cut = (
            box.get_content_height(self.size, self.screen.size, room.width) > visible_height
            and room.height > 0
        )
        if is_cut != self.table.cut:
            self.table.cut = is_cut
            self.refresh_bindings()
        hint.update(f"… {self._key_of_whole()}".rstrip())
        hint.set_class(is_cut, "-shown")

    def _key_of_whole(self) -> str:
        """Return the key that shows all details of the row, or an empty string if no key does."""
        active_key = self.screen.active_bindings.get("v")
        if active_key is not None and active_key.binding.action == "whole":
            return "v shows all"
        return "" if self.table.has_links else "Enter shows all"

    def _sort(self, column: str | None) -> None:
        if column is not None and self.sheet is not None:
            order = next_order(self.sheet.table, column, self.order)
            self.order = order if column else None
            keep(f"order of {self.sheet.table.name}", [order.column, order.descending])
            self._show()

    def _close_box(self) -> None:
        self.box.remove_class("-shown")
        if self.box.value:
            self.box.value = ""

    def _show(self) -> None:
        if self.sheet is not None:
            self.table.show_anew(self._records)
            self._say_what_is_left()
            self.follow()
            self.post_message(self.Current(self._link(self._current)))

    def _rows(self) -> list[int]:
        if self.sheet is None:
            return []
        rows, matching_rows = (
            self.sheet.table.rows,
            self.sheet.rows(self.order, self.box.value, every=self._every),
        )
        return [
            row_index
            for row_index in matching_rows
            if all(column_filter.admits(rows[row_index]) for column_filter in self._only.values())
        ]

    def _say_what_is_left(self) -> None:
        """Show the number of visible rows, and which filters hide the others."""
        if self.sheet is None:
            return
        n_visible, n_rows = len(self._rows()), len(self.sheet.table.rows)
        minor = self.sheet.table.minor
        n_hidden_minor = (
            0 if minor is None or self._every else sum(map(minor, self.sheet.table.rows))
        )
        labels = [column_filter.words for column_filter in self._only.values()]
        parts = [f"{n_visible:,} of {n_rows:,} rows", *labels] if labels else []
        if n_hidden_minor:
            parts.append(f"{plural(n_hidden_minor, 'more row')}: {self.EVERY} shows every row")
        line = self.query_one("#narrowed", Static)
        line.update(Content(" · ".join(parts)))
        line.set_class(bool(parts), "-shown")

    @property
    def _current(self) -> int | None:
        return self.sheet.row(self.table.current) if self.sheet is not None else None

    @property
    def _width(self) -> int:
        return max(self.table.room(self.table.size.width), 1)

    def _link(self, at: int | None) -> Link | None:
        return self.sheet.link_of(at) if self.sheet is not None and at is not None else None

    def _nothing(self) -> Content:
        if self.sheet is None or (not self._only and not self.box.value.strip()):
            return Content(self.empty)
        if not self.box.value.strip():
            return Content("No row matches. Esc shows all rows.")
        return Content(f"No row contains “{self.box.value.strip()}”. Esc shows all rows.")

    def _columns(self, width: int) -> list[RecordColumn]:
        if self.sheet is None:
            return []
        return self.sheet.columns(width, self.order)

    def _records(self, width: int) -> list[Record]:
        return self.sheet.records(width, self._rows()) if self.sheet is not None else []

    def _preview_columns(self, width: int) -> list[RecordColumn]:
        return self._previewed.columns(width) if self._previewed is not None else []

    def _preview_records(self, width: int) -> list[Record]:
        return (
            self._previewed.records(width, self._previewed.rows(every=False)[: self.PREVIEWED])
            if self._previewed
            else []
        )


AS_THEY_COME = ""
"key of the line that keeps the table unsorted"


def sorted_by(table: AnyTable, order: Order | None) -> dict[str, Content]:
    """Return the lines of the dialog for the order: title and current direction by column key."""
    lines = {AS_THEY_COME: Content("unsorted")}
    for column in table.columns:
        title, arrow = visible(column.title) or column.key, ""
        if order is not None and order.column == column.key:
            arrow = " ▾" if order.descending else " ▴"
        lines[column.key] = Content.assemble((title, "bold" if arrow else ""), arrow)
    return lines


def next_order(table: AnyTable, column: str, before: Order | None) -> Order:
    """Return the order by a column. The direction is reversed if rows are sorted by it already."""
    if before is not None and before.column == column:
        return Order(column, not before.descending)
    return Order(
        column,
        any(table_column.key == column and table_column.numeric for table_column in table.columns),
    )
