"""A table with a column for each of many respondents: one column is marked, and its cells lead
further.

Where there is too little room, values stand without interval and unit, and the columns nearest to
the marked one are in sight.
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
"columns of a value for a respondent, so that their names can be told apart"


class Grid(Sheet):
    """A sheet whose columns with a link of their own are looked at one at a time."""

    marked: int

    def __init__(self, table: AnyTable, about: Sequence[str] = ()):
        super().__init__(table, about)
        self._grid = [at for at, column in enumerate(table.columns) if column.link is not None]
        self.marked = self._grid[0]
        self._brief = {at: self._short_texts(at) for at in self._grid}

    @property
    def mark(self) -> str:
        """The key of the marked column."""
        return self.table.columns[self.marked].key

    def put_mark(self, key: str) -> None:
        """Mark a column, where it is there."""
        self.marked = next(
            (at for at in self._grid if self.table.columns[at].key == key), self.marked
        )
        self._places.clear()

    def turn(self, direction: int) -> None:
        """Mark the column beside; at an end nothing happens."""
        place = self._grid.index(self.marked) + direction
        self.marked = self._grid[max(0, min(place, len(self._grid) - 1))]
        self._places.clear()

    @property
    def leads(self) -> bool:
        return True

    def link(self, at: int) -> Link | None:
        of_cell = self.table.columns[self.marked].link
        return (of_cell(self.table.rows[at]) if of_cell is not None else None) or super().link(at)

    def hidden(self, width: int) -> list[int]:
        return [at for at in super().hidden(width) if at not in self._grid]

    def undefined(self, at: int) -> list[tuple[str, str]]:
        title = self.table.columns[self.marked].title
        return [(name, why) for name, why in super().undefined(at) if name == title]

    def _short_texts(self, at: int) -> list[str]:
        """Return the values of a column without interval and unit, each with what stands beside
        it.
        """
        column = self.table.columns[at]
        values = [self._values[row][at] for row in range(len(self.table.rows))]
        plain = [
            number(value.value, column.kind, bare=True)
            if isinstance(value, Estimate) and value.defined
            else ""
            for value in values
        ]
        width = max(map(len, plain), default=0)
        beside = [
            visible(column.beside(row)) if column.beside is not None else ""
            for row in self.table.rows
        ]
        short = [
            f"{text:>{width}} {said}".rstrip() for text, said in zip(plain, beside, strict=True)
        ]
        return [
            brief if text else cells[at]
            for text, brief, cells in zip(plain, short, self.cells, strict=True)
        ]

    def _right(self, at: int) -> bool:
        return at not in self._grid and super()._right(at)

    def _lay_out(self, width: int) -> Iterable[Place]:
        columns = self.table.columns
        names = [at for at in self.usable if at not in self._grid]
        for at in names:
            title = visible(columns[at].title)
            yield Place(
                at,
                title,
                min(self.natural_width(at, title), max(self.minimum_width(at, title), len(title))),
            )
        room = (
            width
            - sum(self.minimum_width(at, visible(columns[at].title)) + GAP for at in names)
            - 1
        )
        whole = {at: max(NARROWEST, *(len(cells[at]) for cells in self.cells)) for at in self._grid}
        short = {
            at: max(NARROWEST, *(1 + len(text) for text in self._brief[at])) for at in self._grid
        }
        brief = sum(wide + GAP for wide in whole.values()) > room
        wide = short if brief else whole
        seen = self._window(wide, room)
        for at in seen:
            yield Place(at, self._title(at, wide[at]), wide[at], brief=brief)
        scale, spare = columns[self.marked].scale, room - sum(wide[at] + GAP for at in seen) - GAP
        if scale is not None and spare >= NARROWEST_PICTURE:
            drawn = min(WIDEST_PICTURE, spare - 1 + spare % 2)
            yield Place(
                self.marked,
                scale_title(columns[self.marked], self._scale(self.marked), drawn),
                drawn,
                picture=True,
            )

    def _window(self, wide: dict[int, int], room: int) -> list[int]:
        """Return the columns that fit, always with the marked one."""
        n = max(1, min(len(self._grid), room // (max(wide.values()) + GAP)))
        first = max(0, min(self._grid.index(self.marked) - n + 1, len(self._grid) - n))
        return self._grid[first : first + n]

    def _title(self, at: int, width: int) -> str:
        """Return a name with ▸ where it is marked; of a long one its end too, in which names often
        differ.
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
        figure, _, beside = self._brief[place.at][at].strip().partition(" ")
        lead = " " * (len(self._brief[place.at][at]) - len(self._brief[place.at][at].lstrip()))
        return Text.assemble(f" {lead}", (figure, "bold"), f" {beside}", no_wrap=True)


def sheet_of(table: AnyTable, about: Sequence[str] = ()) -> Sheet:
    """Return a table as a sheet; one whose columns lead further as a grid. Make it in a worker."""
    return (
        Grid if table.rows and any(column.link is not None for column in table.columns) else Sheet
    )(table, about)
