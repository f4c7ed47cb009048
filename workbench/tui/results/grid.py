"""A table with one column per respondent, of which one is marked and has links in its cells.

Where there is too little room, values have no interval and unit, and only the columns nearest to
the marked one are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from workbench.domain.verdicts import Estimate
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Link
from workbench.figures.visible import visible
from workbench.tui.results.sheet import (
    GAP,
    NARROWEST_PICTURE,
    WIDEST_PICTURE,
    Place,
    Sheet,
    scale_title,
)

NARROWEST = 18
"least width of a respondent's column, so that names can be distinguished"


class Grid(Sheet):
    """A sheet with a marked column among the columns that have a link of their own."""

    marked: int

    def __init__(self, table: AnyTable, about: Sequence[str] = ()):
        super().__init__(table, about)
        self._grid = [
            index for index, column in enumerate(table.columns) if column.link is not None
        ]
        self.marked = self._grid[0]
        self._brief = {index: self._short_texts(index) for index in self._grid}

    @property
    def mark(self) -> str:
        """The key of the marked column."""
        return self.table.columns[self.marked].key

    def put_mark(self, key: str) -> None:
        """Mark the column with a key, if there is one."""
        self.marked = next(
            (index for index in self._grid if self.table.columns[index].key == key), self.marked
        )
        self._places.clear()

    def turn(self, direction: int) -> None:
        """Mark the neighbouring column. At an end the mark stays."""
        position = self._grid.index(self.marked) + direction
        self.marked = self._grid[max(0, min(position, len(self._grid) - 1))]
        self._places.clear()

    @property
    def leads(self) -> bool:
        return True

    def link(self, at: int) -> Link | None:
        cell_link = self.table.columns[self.marked].link
        return (cell_link(self.table.rows[at]) if cell_link is not None else None) or super().link(
            at
        )

    def hidden(self, width: int) -> list[int]:
        return [index for index in super().hidden(width) if index not in self._grid]

    def undefined(self, at: int) -> list[tuple[str, str]]:
        title = self.table.columns[self.marked].title
        return [(name, reason) for name, reason in super().undefined(at) if name == title]

    def _short_texts(self, at: int) -> list[str]:
        """Return the values of a column without interval and unit, each with its `beside` text."""
        column = self.table.columns[at]
        values = [self._values[row_index][at] for row_index in range(len(self.table.rows))]
        numbers = [
            number(value.value, column.kind, bare=True)
            if isinstance(value, Estimate) and value.defined
            else ""
            for value in values
        ]
        width = max(map(len, numbers), default=0)
        extra_texts = [
            visible(column.beside(row)) if column.beside is not None else ""
            for row in self.table.rows
        ]
        brief_texts = [
            f"{text:>{width}} {extra_text}".rstrip()
            for text, extra_text in zip(numbers, extra_texts, strict=True)
        ]
        return [
            brief_text if text else cells[at]
            for text, brief_text, cells in zip(numbers, brief_texts, self.cells, strict=True)
        ]

    def _right(self, at: int) -> bool:
        return at not in self._grid and super()._right(at)

    def _lay_out(self, width: int) -> Iterable[Place]:
        columns = self.table.columns
        name_columns = [column for column in self.usable if column not in self._grid]
        for index in name_columns:
            title = visible(columns[index].title)
            yield Place(
                index,
                title,
                min(
                    self.natural_width(index, title),
                    max(self.minimum_width(index, title), len(title)),
                ),
            )
        room = (
            width
            - sum(
                self.minimum_width(column, visible(columns[column].title)) + GAP
                for column in name_columns
            )
            - 1
        )
        full_widths = {
            column: max(NARROWEST, *(len(cells[column]) for cells in self.cells))
            for column in self._grid
        }
        brief_widths = {
            column: max(NARROWEST, *(1 + len(text) for text in self._brief[column]))
            for column in self._grid
        }
        is_brief = sum(full_width + GAP for full_width in full_widths.values()) > room
        widths = brief_widths if is_brief else full_widths
        visible_columns = self._window(widths, room)
        for index in visible_columns:
            yield Place(index, self._title(index, widths[index]), widths[index], brief=is_brief)
        scale, spare = (
            columns[self.marked].scale,
            room - sum(widths[column] + GAP for column in visible_columns) - GAP,
        )
        if scale is not None and spare >= NARROWEST_PICTURE:
            picture_width = min(WIDEST_PICTURE, spare - 1 + spare % 2)
            yield Place(
                self.marked,
                scale_title(columns[self.marked], self._scale(self.marked), picture_width),
                picture_width,
                picture=True,
            )

    def _window(self, wide: dict[int, int], room: int) -> list[int]:
        """Return the columns that fit, always with the marked one."""
        n_columns = max(1, min(len(self._grid), room // (max(wide.values()) + GAP)))
        first = max(
            0, min(self._grid.index(self.marked) - n_columns + 1, len(self._grid) - n_columns)
        )
        return self._grid[first : first + n_columns]

    def _title(self, at: int, width: int) -> str:
        """Return a name with ▸ if it is marked.

        A long name keeps its end too, because names often differ there.
        """
        name, room = visible(self.table.columns[at].title), width - 1
        if len(name) > room:
            name = f"{name[: room // 2]}…{name[len(name) - (room - room // 2 - 1) :]}"
        return f"{'▸' if at == self.marked else ' '}{name}"

    def _cell(self, at: int, place: Place) -> Text:
        if not place.brief:
            return super()._cell(at, place)
        value = self._values[at][place.at]
        if not isinstance(value, Estimate) or not value.defined:
            return Text(self._brief[place.at][at], style="dim", no_wrap=True)
        figure, _, extra_text = self._brief[place.at][at].strip().partition(" ")
        indent = " " * (len(self._brief[place.at][at]) - len(self._brief[place.at][at].lstrip()))
        return Text.assemble(f" {indent}", (figure, "bold"), f" {extra_text}", no_wrap=True)


def sheet_of(table: AnyTable, about: Sequence[str] = ()) -> Sheet:
    """Return the sheet of a table, a grid if its columns have links. Create it in a worker."""
    return (
        Grid if table.rows and any(column.link is not None for column in table.columns) else Sheet
    )(table, about)
