"""A table with the details of its current row below it, sorted and filtered as a person wants."""

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
from workbench.tui.kit.base import BESIDE, in_store, once_painted, say
from workbench.tui.kit.dialogs import ListDialog
from workbench.tui.pictures.screen import PictureScreen
from workbench.tui.preferences import keep, remembered
from workbench.tui.results.details import FAILURES, Only, choices, details, has_verdicts, whole
from workbench.tui.results.grid import Grid
from workbench.tui.results.sheet import Order, Sheet
from workbench.tui.rulings.ruling import RuledText, ruled_by
from workbench.tui.widgets.record_table import Column, FluidTable, Record, RecordTable

RULED = 3
"rulings that are shown above the details of a row"


def remembered_order(sheet: Sheet) -> Order | None:
    """Return the order that a person chose last for tables of this name, where the table has the
    column.
    """
    held = remembered(f"order of {sheet.table.name}")
    if not isinstance(held, list) or len(held) != 2:
        return None
    column, descending = held
    known = any(one.key == column for one in sheet.table.columns)
    return Order(column, descending is True) if known else None


class FigureTable(FluidTable):
    """Rows of figures. Enter is offered where something stands behind them, or there is more to
    read of one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "select_cursor",
            "Open",
            key_display="Enter",
            tooltip="Open what this row rests on",
        ),
    ]
    leads = False
    "whether something stands behind a row"
    cut = False
    "whether there is no room for all details of the row"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or (self.row_count > 0 and (self.leads or self.cut))


class Details(Static):
    """Says what is known of the row under the cursor, and when there is more or less room for
    it.
    """

    class Resized(Message):
        """The room for details changed."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class SheetView(Vertical):
    """Shows a sheet; posts a message for the current row and for a row to open."""

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
        Binding("X", "failed(-1)", "Previous failed test", show=False),
        Binding("E", "every", "Every row", tooltip="Show the minor rows too, or leave them out"),
        Binding("0", "all", "All", show=False, tooltip="Show all rows again"),
        Binding("P", "picture", "Picture", tooltip="Show the pictures of the table"),
    ]
    EVERY = "E"
    "key that shows minor rows"
    TALL = 34
    "lines from which there is room for a preview of what Enter opens"
    SHORT = 16
    "lines up to which all that there is goes to the rows"
    PREVIEWED = 100
    "rows of which a preview shows those for which there is room: it does not scroll"

    class Current(Message):
        """The cursor went to a row; None: there is no row."""

        def __init__(self, link: Link | None) -> None:
            super().__init__()
            self.link = link

    class Opened(Message):
        """What a row was made of is wanted; `links` are those of all rows in sight, `at` the place
        of this one.
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
        "key of the marked column, of a table that has one"
        self.empty = ""
        "said in place of details where a table has no row in sight"
        self.near = False
        "whether pictures show only as much of their scale as they need"
        self.remark: Callable[[int], Content | None] | None = None
        "what a screen itself says of a row, above its details"
        self.rulings: Callable[[int], Sequence[str]] | None = None
        "what auditors ruled on a row"
        self._only: dict[str, Only] = {}
        "what alone is shown, by the name of the choice"
        self._every = False
        "whether minor rows are shown"
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
            opened = FluidTable(self._preview_columns, name="preview")
            opened.can_focus = False
            opened.show_cursor = False
            yield opened

    def show(self, sheet: Sheet) -> None:
        """Show a sheet. Sorting and finding go on where it is the same table; the cursor stays on
        its row.
        """
        if self.sheet is None or self.sheet.table.name != sheet.table.name:
            self.order, self._every = remembered_order(sheet), False
            self._only.clear()
            self._close_box()
        self.sheet = sheet
        sheet.notes = [in_store(self.app, note) for note in sheet.notes]
        self._only = {name: self._again(name, only) for name, only in self._only.items()}
        sheet.zoom(self.near)
        self.table.leads = sheet.leads
        if isinstance(sheet, Grid):
            sheet.put_mark(self.mark)
            self.mark = sheet.mark
        self._show()
        self.table.focus()

    def show_preview(self, sheet: Sheet | None) -> None:
        """Show what Enter would open, where there is room."""
        self._previewed = sheet
        self.set_class(sheet is None, "-alone")
        title = sheet.table.title if sheet is not None else ""
        self.query_one("#preview-title", Static).update(Content(f"Enter: {title}" if title else ""))
        self.preview.show_anew(self._preview_records)

    @property
    def previews(self) -> bool:
        """Whether there is room for a preview."""
        return self.has_class("-tall")

    @property
    def at(self) -> int | None:
        """The place of the row under the cursor in the table; None where there is none."""
        return self._current

    @property
    def row(self) -> Any:
        """The row under the cursor, of the type that the table holds; None without rows."""
        return (
            self.sheet.table.rows[self._current]
            if self.sheet is not None and self._current is not None
            else None
        )

    def go_to(self, at: int) -> None:
        """Put the cursor on a row, by its place in the table; it stays where it is if that row is
        not in sight.
        """
        if at in (rows := self._rows()):
            self.table.show_row(rows.index(at))

    def follow(self) -> None:
        """Show the details of the row under the cursor."""
        at = self._current
        said = self.told(at) if self.sheet is not None and at is not None else self._nothing()
        self.query_one("#details", Static).update(said)
        once_painted(self, self._see_what_is_cut)

    def told(self, at: int) -> Content:
        """Return what stands below the table about a row."""
        if self.sheet is None:
            return Content("")
        said = details(
            self.sheet, at, self._width, self.query_one("#details", Static).content_size.width
        )
        remark = self.remark(at) if self.remark is not None else None
        return Content("\n").join(
            [*self.ruled(at), *([remark] if remark is not None else []), said]
        )

    def ruled(self, at: int) -> list[Content]:
        """Return what was ruled on a row, as far as there is room."""
        ruled = self.rulings(at) if self.rulings is not None else ()
        more = [Content.styled(f"and {len(ruled) - RULED} more rulings", "$text-accent")] * (
            len(ruled) > RULED
        )
        return [*ruled_by(ruled[:RULED]), *more]

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
        links = [(at, link) for at in self._rows() if (link := self._link(at)) is not None]
        places = [at for at, _ in links]
        if self._current in places:
            self.post_message(self.Opened([link for _, link in links], places.index(self._current)))
        else:
            self.show_whole()

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Mark the column beside, of a table that has a marked one."""
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
        """Go back to the rows; what was found stays."""
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
        """Go to the next, or the previous, kind of failure that there is."""
        self.narrow(FAILURES, step)

    def action_picture(self) -> None:
        """Draw the table: the rows in sight and in their order, where they were narrowed or
        sorted.
        """
        if self.sheet is None:
            return
        table = self.sheet.table
        if self.narrowed or self.order is not None:
            table = replace(table, rows=[table.rows[at] for at in self._rows()])
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
        """Whether only some rows are in sight."""
        return bool(self._only) or self.box.has_class("-shown")

    def offers(self, name: str) -> bool:
        """Return whether there is a choice among the rows by the values of a column."""
        return self.sheet is not None and len(choices(self.sheet.table, name)) > 0

    def narrow(self, name: str, step: int = 1) -> None:
        """Show only the next kind of failure, or only the next value of a column; after the last
        one come all rows.
        """
        if self.sheet is None:
            return
        table, others = self.sheet.table, [only for of, only in self._only.items() if of != name]
        rows = [row for row in table.rows if all(only.admits(row) for only in others)]
        found = choices(replace(table, rows=rows), name)
        words = ["", *(only.words for only in found)]
        chosen = self._only[name].words if name in self._only else ""
        place = words.index(chosen) if chosen in words else 0
        self._only.pop(name, None)
        if (at := (place + step) % len(words)) > 0:
            self._only[name] = found[at - 1]
        self._show()
        self.refresh_bindings()

    def action_sort(self) -> None:
        if self.sheet is not None:
            lines = sorted_by(self.sheet.table, self.order)
            at = self.order.column if self.order is not None else AS_THEY_COME
            does = "Enter sorts · twice: reversed · Esc back"
            self.app.push_screen(ListDialog("Sort by", lines, at, does), self._sort)

    def action_find(self) -> None:
        self.box.add_class("-shown")
        self.box.focus()

    def show_whole(self) -> None:
        """Show everything that is known of the row under the cursor."""
        if self.sheet is not None and (at := self._current) is not None:
            ruled = self.rulings(at) if self.rulings is not None else ()
            self.app.push_screen(RuledText(*whole(self.sheet, at), wide=True, rulings=ruled))

    def zoom(self) -> None:
        """Draw pictures on their whole scale, or as near as their values and intervals allow."""
        self.near = not self.near
        if self.sheet is not None:
            self.sheet.zoom(self.near)
            self._show()

    def take_back(self) -> bool:
        """Show all rows again; False where all are in sight."""
        if not self.narrowed:
            return False
        self.action_all()
        self.table.focus()
        return True

    def _again(self, name: str, only: Only) -> Only:
        """Return what is shown alone, of the table that is shown now; none of its rows may be."""
        found = (
            (one for one in choices(self.sheet.table, name) if one.words == only.words)
            if self.sheet
            else ()
        )
        return next(iter(found), Only(only.words, lambda _: False))

    @on(Details.Resized)
    def _see_what_is_cut(self) -> None:
        """Offer to open the details where there is no room for all of them; the line that offers it
        does not count.
        """
        box, sign = self.query_one("#details", Static), self.query_one("#cut", Static)
        room = box.content_region
        seen = min(room.bottom, self.region.bottom) - room.y
        cut = (
            box.get_content_height(self.size, self.screen.size, room.width) > seen
            and room.height > 0
        )
        if cut != self.table.cut:
            self.table.cut = cut
            self.refresh_bindings()
        sign.update(f"… {self._key_of_whole()}".rstrip())
        sign.set_class(cut, "-shown")

    def _key_of_whole(self) -> str:
        """Say which key shows all that is known of the row; empty: none does here."""
        whole = self.screen.active_bindings.get("v")
        if whole is not None and whole.binding.action == "whole":
            return "v shows all"
        return "" if self.table.leads else "Enter shows all"

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
        rows, found = (
            self.sheet.table.rows,
            self.sheet.rows(self.order, self.box.value, every=self._every),
        )
        return [at for at in found if all(only.admits(rows[at]) for only in self._only.values())]

    def _say_what_is_left(self) -> None:
        """Say how many rows are in sight, and why not all are."""
        if self.sheet is None:
            return
        shown, of = len(self._rows()), len(self.sheet.table.rows)
        minor = self.sheet.table.minor
        left_out = 0 if minor is None or self._every else sum(map(minor, self.sheet.table.rows))
        said = [only.words for only in self._only.values()]
        parts = [f"{shown:,} of {of:,} rows"] * bool(said) + said
        parts += [f"{plural(left_out, 'more row')}: {self.EVERY} shows every row"] * bool(left_out)
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
        return self.sheet.link(at) if self.sheet is not None and at is not None else None

    def _nothing(self) -> Content:
        if self.sheet is None or (not self._only and not self.box.value.strip()):
            return Content(self.empty)
        if not self.box.value.strip():
            return Content("No row matches. Esc shows all rows.")
        return Content(f"No row contains “{self.box.value.strip()}”. Esc shows all rows.")

    def _columns(self, width: int) -> list[Column]:
        if self.sheet is None:
            return []
        return self.sheet.columns(width, self.order)

    def _records(self, width: int) -> list[Record]:
        return self.sheet.records(width, self._rows()) if self.sheet is not None else []

    def _preview_columns(self, width: int) -> list[Column]:
        return self._previewed.columns(width) if self._previewed is not None else []

    def _preview_records(self, width: int) -> list[Record]:
        return (
            self._previewed.records(width, self._previewed.rows(every=False)[: self.PREVIEWED])
            if self._previewed
            else []
        )


AS_THEY_COME = ""
"key of the line that sorts by no column"


def sorted_by(table: AnyTable, order: Order | None) -> dict[str, Content]:
    """Return the lines of a dialog that asks for an order: key of a column -> its words, with the
    order it has.
    """
    lines = {AS_THEY_COME: Content("unsorted")}
    for column in table.columns:
        words, sign = visible(column.title) or column.key, ""
        if order is not None and order.column == column.key:
            sign = " ▾" if order.descending else " ▴"
        lines[column.key] = Content.assemble((words, "bold" if sign else ""), sign)
    return lines


def next_order(table: AnyTable, column: str, before: Order | None) -> Order:
    """Return the order by a column; the column that rows are sorted by already turns it around."""
    if before is not None and before.column == column:
        return Order(column, not before.descending)
    return Order(column, any(one.key == column and one.numeric for one in table.columns))
