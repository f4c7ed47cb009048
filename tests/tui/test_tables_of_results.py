"""Tables of results at every width: nothing touches, what is cut says so, and `?` explains every
heading in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from textual.app import App, ComposeResult

from stores.core.store import Store
from tests.report.stores import MAKERS
from workbench import registry
from workbench.audits.reported import ReportRequest
from workbench.errors import WorkbenchError
from workbench.figures.book import Book
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.figures.visible import visible
from workbench.tui.results.details import details, table_help
from workbench.tui.results.grid import Grid, sheet_of
from workbench.tui.results.sheet import GAP, NARROWEST_MAIN, Sheet
from workbench.tui.widgets import record_table
from workbench.tui.widgets.record_table import FluidTable

WIDTHS = (76, 79, 96, 100, 136, 140)
SYMBOL = re.compile(r"[^\x00-\x7f−]|^[a-z]{1,2}'?$|\|")
"a heading that nobody understands who has not read what it means"
PLAIN = {"id", "of", "to", "by", "no", "at"}


@pytest.fixture(scope="module", params=list(MAKERS))
def sheets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Sheet]:
    """The tables of every book of a store of each audit, with those that rows lead to."""
    path: Path = MAKERS[request.param](tmp_path_factory.mktemp(request.param) / "audit.db")
    with Store.open(path) as store:
        books = [
            one.book for audit in registry.every_audit() for one in reported(store, audit.name)
        ]
        return [sheet for book in books for sheet in every(book)]


def reported(store: Store, name: str) -> list[Any]:
    try:
        return list(registry.audit(name).reported(store, ReportRequest()))
    except WorkbenchError:
        return []


def every(book: Book) -> Iterator[Sheet]:
    for entry in book.contents:
        if not entry.empty:
            table, subject = (
                entry.make(*next(iter(entry.subjects), ())),
                next(iter(entry.subjects), ()),
            )
            yield sheet_of(table, subject)
            yield from behind(book, table)


def behind(book: Book, table: AnyTable, deep: int = 3) -> Iterator[Sheet]:
    link = table.link(table.rows[0]) if table.link is not None and table.rows else None
    if link is not None and link.table in book.behind and deep:
        found = book.behind[link.table](*link.subject)
        yield sheet_of(found, link.subject)
        yield from behind(book, found, deep - 1)


def test_no_cell_touches_its_neighbour_and_none_is_wider_than_its_column(
    sheets: list[Sheet],
) -> None:
    assert sheets
    for sheet in sheets:
        for width in WIDTHS:
            columns = sheet.columns(width)
            assert sum(column.width or 0 for column in columns) - GAP <= width, (
                sheet.table.name,
                width,
            )
            for _, cells in sheet.records(width, range(len(sheet.table.rows))):
                for column, cell in zip(columns, cells, strict=True):
                    assert cell.cell_len <= (column.width or 0) - GAP, (
                        sheet.table.name,
                        width,
                        column,
                        cell,
                    )


@pytest.mark.parametrize("width", [46, 60, 78])
def test_what_is_read_has_the_width_first_and_nothing_is_lost(
    sheets: list[Sheet], width: int
) -> None:
    """The text of a row stays; what has no room beside it is among the details."""
    for sheet in sheets:
        main = {
            at
            for at, column in enumerate(sheet.table.columns)
            if column.main and at in sheet.usable
        }
        if not main or isinstance(sheet, Grid):
            continue
        places = {place.column_index: place for place in sheet.places(width) if not place.picture}
        assert main <= places.keys(), sheet.table.name
        longest = {at: max((len(row[at]) for row in sheet.cells), default=0) for at in main}
        assert all(places[at].width >= min(longest[at], NARROWEST_MAIN) for at in main), (
            sheet.table.name
        )
        assert {*places, *sheet.hidden(width)} >= set(sheet.usable)


def test_every_heading_that_is_a_sign_or_shortened_is_explained(sheets: list[Sheet]) -> None:
    for sheet in sheets:
        said = table_help(sheet.table)
        for column in sheet.table.columns:
            assert not column.short or f"{column.short} = " in said or column.short == column.title
        unsaid = [
            (sheet.table.name, one.title)
            for one in sheet.table.columns
            if is_unsaid(sheet.table, one)
        ]
        assert unsaid == []


def is_unsaid(table: AnyTable, column: Column[Any]) -> bool:
    """Whether a heading is a sign of which neither its sentence nor the definition of the table
    speaks.
    """
    sign = SYMBOL.search(visible(column.title)) if column.title not in PLAIN else None
    return (
        sign is not None
        and column.kind is not Kind.MARK
        and not column.help
        and sign[0] not in table.definition
    )


@pytest.mark.parametrize("width", [80, 140])
async def test_a_list_of_records_keeps_a_blank_between_columns_and_cuts_with_a_sign(
    width: int,
) -> None:
    class Cut(App[None]):
        def compose(self) -> ComposeResult:
            names = ("count", "reading", "answer")
            columns = [record_table.RecordColumn(name, name * 4, 9) for name in names[:2]]
            yield FluidTable(
                lambda _: [*columns, record_table.RecordColumn(names[2], names[2], None)],
                name="rows",
            )

    app = Cut()
    async with app.run_test(size=(width, 10)) as pilot:
        table = app.query_one(FluidTable)
        texts = ("7 needed of 10", "all answers equal", "The opinion that is stated here " * 9)
        table.show_for_width(lambda _: [("one", tuple(map(Text, texts)))])
        await pilot.pause()
        head, line = ("".join(one.text for one in table.render_line(y)) for y in (0, 1))
        assert line.startswith("7 neede… all ans… The opinion")
        assert line.rstrip().endswith("…")
        assert head.startswith("countco… reading… answer")


async def test_a_table_that_scrolls_from_its_first_sight_on_is_laid_out_beside_its_bar() -> None:
    class Long(App[None]):
        def compose(self) -> ComposeResult:
            yield FluidTable(
                lambda width: [record_table.RecordColumn("all", "all", width)], name="rows"
            )

        def on_mount(self) -> None:
            text = "as wide as the table " * 9
            self.query_one(FluidTable).show_anew(
                lambda width: [(str(n), (Text(f"{text[: width - 1]}|"),)) for n in range(90)]
            )

    app = Long()
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.pause()
        table = app.query_one(FluidTable)
        assert [column.width for column in table.ordered_columns] == [79]
        assert "".join(one.text for one in table.render_line(2)).rstrip()[:79].endswith("|")


def test_what_all_rows_say_is_among_the_details_where_a_reason_needs_the_room() -> None:
    rows = [
        (
            f"ref-{n}",
            "An instrument",
            "it says something else than the original, and nobody meant it to be so " * 2,
        )
        for n in range(3)
    ]
    columns = [
        Column("subject", "ruled on", lambda row: row[0]),
        Column("instrument", "instrument", lambda row: row[1]),
        Column("reason", "reason", lambda row: row[2], Kind.PROSE),
    ]
    sheet = Sheet(Table("rulings", "Rulings", rows, columns, key=lambda row: (row[0],)))
    assert [place.title for place in sheet.places(100)] == ["ruled on", "reason"]
    assert sheet.hidden(100) == [1]
    assert "instrument An instrument" in details(sheet, 0, 100).plain
    assert [place.title for place in sheet.places(240)] == ["ruled on", "instrument", "reason"]
    assert sheet.hidden(240) == []
