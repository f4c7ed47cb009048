"""By which column a table is sorted, chosen from a list."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.tui.results.sheet import Order

AS_THEY_COME = ""
"id of the option that sorts by no column"


class SortDialog(ModalScreen[Order | None]):
    """Dismisses an order, one without a column for the table's own, or None where the dialog was left.

    The column that rows are sorted by already turns the order around.
    """

    CSS_PATH = "../kit/dialogs.tcss"
    DEFAULT_CSS = """
    SortDialog {
        align: center middle;
        background: $background 60%;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back", key_display="Esc"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, table: AnyTable, order: Order | None) -> None:
        super().__init__()
        self._table, self._order = table, order

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small") as dialog:
            dialog.border_title = "Sort by"
            dialog.border_subtitle = "Enter sorts · twice: reversed · Esc back"
            columns = [Option(self._words(one.key, visible(one.title)), id=one.key) for one in self._table.columns]
            yield OptionList(Option("unsorted", id=AS_THEY_COME), *columns, markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.focus()
        options.highlighted = options.get_option_index(self._order.column) if self._order is not None else 0

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        column = event.option_id or AS_THEY_COME
        numeric = any(one.key == column and one.numeric for one in self._table.columns)
        again = self._order is not None and self._order.column == column
        self.dismiss(Order(column, not self._order.descending if again and self._order is not None else numeric))

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()

    def _words(self, key: str, title: str) -> Content:
        if self._order is None or self._order.column != key:
            return Content(title or key)
        return Content.assemble((title or key, "bold"), " ▾" if self._order.descending else " ▴")
