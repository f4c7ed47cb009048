"""The screen of a comparison of runs: differences item by item, with tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.figures.book import Book, Entry
from workbench.figures.table import Link
from workbench.tui.results.behind import SourceFigures, behind
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.following import row_place
from workbench.tui.results.grid import sheet_of
from workbench.tui.results.loaded import Comparing, Loaded, Opened, TableView
from workbench.tui.results.sheet import Sheet
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from stores.core.store import Store


class ComparisonScreen(BookScreen):
    """A comparison. Esc goes back to the results from which it was opened."""

    COUNTING = "Comparing the answers …"
    _settings: tuple[str, ...]
    "names of the runs, which cannot be changed here"

    def __init__(self, names: tuple[str, ...], comparing: Comparing, origin: SourceFigures) -> None:
        super().__init__(names)
        self.PLACE = f"{origin.screen_routes.place} › side by side"
        self._comparing, self._origin = comparing, origin
        self._opened = False

    def fitted(self, table_view: TableView) -> TableView:
        """Return the fitted view. On opening, the first table with rows replaces an empty one."""
        fitted_view = super().fitted(table_view)
        if self._book is None or self._opened:
            return fitted_view
        self._opened = True
        return (
            fitted_view
            if _has_rows(self._book.entry(fitted_view.view), fitted_view)
            else _first_with_rows(self._book) or fitted_view
        )

    def follow_link(self, loaded: Loaded, link: Link) -> Sheet | Opened | str:
        """Return the target of a link: a table of the comparison, or of the audit's own results."""
        if _within(loaded, link):
            return super().follow_link(loaded, link)
        origin = self._origin
        table = (
            None
            if link.table in origin.screen_routes.routes or origin.loaded.book is None
            else origin.loaded.book.follow(link)
        )
        if table is not None:
            return sheet_of(table, link.subject)
        return origin.screen_routes.routes[link.table](self.store_path, origin.loaded, link.subject)

    def show_table(self, sheet: Sheet, links: Sequence[Link], at: int, *, instead: bool) -> None:
        if _within(self._loaded, links[at]):
            super().show_table(sheet, links, at, instead=instead)
        else:
            origin = self._origin
            self.app.push_screen(
                behind(
                    origin.loaded,
                    sheet,
                    links,
                    at,
                    replace(origin.screen_routes, place=self.title_bar.place),
                )
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "rows":
            return False
        return (
            self._book is not None
            if action == "report"
            else super().check_action(action, parameters)
        )

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        return row_place(self._origin.loaded, sheet, at)

    def action_report(self) -> None:
        """Write a report that compares these runs."""
        from workbench.tui.kit.command_dialog import ReportDialog

        self.app.push_screen(ReportDialog(self._settings))

    def judge(self, store: Store, settings: tuple[str, ...], known: Loaded | None) -> Loaded:  # noqa: ARG002
        """Compare the runs, even if the selection is unchanged, because they may have grown."""
        from workbench.audits.comparison.book import book

        try:
            compared = self._comparing()
        except WorkbenchError as error:
            return Loaded(settings, problem=error)
        return Loaded(settings, book=book(compared), judged=compared, models=compared.names)

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back to the results."


def _within(loaded: Loaded | None, link: Link) -> bool:
    """Return whether a link leads to a table of the comparison itself."""
    return loaded is not None and loaded.book is not None and link.table in loaded.book.behind


def _has_rows(entry: Entry, table_view: TableView) -> bool:
    return not entry.empty and bool(entry.make(*table_view.subject).rows)


def _first_with_rows(book: Book) -> TableView | None:
    """Return a view of the first table and subject with rows, or None without any."""
    table_views = (
        TableView(entry.name, subject) for entry in book.contents for subject in entry.subjects
    )
    return next(
        (
            table_view
            for table_view in table_views
            if _has_rows(book.entry(table_view.view), table_view)
        ),
        None,
    )


__all__ = ["ComparisonScreen"]
