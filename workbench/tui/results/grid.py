"""A table with one column per respondent, of which one is marked and has links in its cells.

Where there is room for it, the estimates of all respondents are drawn on one axis, with their
intervals. Values then have no interval and unit. Where there is too little room for the columns,
only those nearest to the marked one are visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from rich.text import Text

from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.kinds import Axis, estimated, reach
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link, Value
from workbench.figures.visible import visible
from workbench.tui.results.sheet import (
    GAP,
    NARROWEST_PICTURE,
    WIDEST_PICTURE,
    ScreenColumn,
    Sheet,
    scale_title,
)
from workbench.tui.widgets.interval_strip import (
    COLOURS,
    MOST_SERIES,
    axis_labels,
    interval_strip,
    series_letters,
    strip_point,
)

NARROWEST = 18
"least width of a respondent's column, so that names can be distinguished"
STEP = 0.1
"least length of the axis of strips"
NARROWEST_STRIP = 31
"least width of a strip with the estimates of all respondents"
STRIP_LIMITS: Mapping[Kind, tuple[float, float]] = {
    Kind.SHARE: (0.0, 1.0),
    Kind.POINTS: (-1.0, 1.0),
    Kind.SCORE: (-1.0, 1.0),
    Kind.COEFFICIENT: (-1.0, 1.0),
}
"kind of the estimates that a strip draws -> ends of their range"


class Grid(Sheet):
    """A sheet with a marked column among the columns that have a link of their own."""

    marked: int

    def __init__(self, table: AnyTable, about: Sequence[str] = ()):
        super().__init__(table, about)
        self.respondents = [
            index for index, column in enumerate(table.columns) if column.link is not None
        ]
        self.marked = self.respondents[0]
        self._brief = {index: self._short_texts(index) for index in self.respondents}
        self._letters: dict[int, str] = {}
        "letter of each respondent in strips, or empty without strips"
        if self._has_strips():
            names = [visible(table.columns[index].title) for index in self.respondents]
            letters = series_letters(names)
            self._letters = dict(zip(self.respondents, letters, strict=True))

    @property
    def mark(self) -> str:
        """The key of the marked column."""
        return self.table.columns[self.marked].key

    def put_mark(self, key: str) -> None:
        """Mark the column with a key, if there is one."""
        self.marked = next(
            (index for index in self.respondents if self.table.columns[index].key == key),
            self.marked,
        )
        self._places.clear()

    def turn(self, direction: int) -> None:
        """Mark the neighbouring column. At an end the mark stays."""
        position = self.respondents.index(self.marked) + direction
        self.marked = self.respondents[max(0, min(position, len(self.respondents) - 1))]
        self._places.clear()

    @property
    def has_links(self) -> bool:
        return True

    def link_of(self, at: int) -> Link | None:
        cell_link = self.table.columns[self.marked].link
        link = cell_link(self.table.rows[at]) if cell_link is not None else None
        return link or super().link_of(at)

    def hidden(self, width: int) -> list[int]:
        return [index for index in super().hidden(width) if index not in self.respondents]

    def undefined(self, at: int) -> list[tuple[str, str]]:
        title = self.table.columns[self.marked].title
        return [(name, reason) for name, reason in super().undefined(at) if name == title]

    def _short_texts(self, column_index: int) -> list[str]:
        """Return the values of a column without interval and unit, each with its `beside` text."""
        column = self.table.columns[column_index]
        numbers = [self._short_number(values[column_index], column) for values in self._values]
        width = max(map(len, numbers), default=0)
        texts = []
        for row, cells, figure in zip(self.table.rows, self.cells, numbers, strict=True):
            if not figure:
                texts.append(cells[column_index])
                continue
            beside = visible(column.beside(row)) if column.beside is not None else ""
            texts.append(f"{figure:>{width}} {beside}".rstrip())
        return texts

    @staticmethod
    def _short_number(value: Value, column: Column[Any]) -> str:
        """Return a value without interval and unit, or an empty string if it is undefined."""
        if not isinstance(value, Estimate) or not value.defined:
            return ""
        return number(value.value, column.kind, bare=True)

    def _right(self, at: int) -> bool:
        return at not in self.respondents and super()._right(at)

    def _lay_out(self, width: int) -> Iterable[ScreenColumn]:
        return _GridFit(self, width).columns()

    def name_columns(self) -> list[int]:
        """Return the indices of the columns that name the rows."""
        return [index for index in self.usable if index not in self.respondents]

    def full_width(self, column_index: int) -> int:
        """Return the width of a respondent's column with intervals and units."""
        return max(NARROWEST, *(len(cells[column_index]) for cells in self.cells))

    def brief_width(self, column_index: int) -> int:
        """Return the width of a respondent's column without intervals and units."""
        return max(NARROWEST, *(1 + len(text) for text in self._brief[column_index]))

    def window(self, widths: Mapping[int, int], room: int) -> list[int]:
        """Return the respondents' columns that fit, always with the marked one."""
        n_respondents = len(self.respondents)
        n_columns = max(1, min(n_respondents, room // (max(widths.values()) + GAP)))
        first = self.respondents.index(self.marked) - n_columns + 1
        first = max(0, min(first, n_respondents - n_columns))
        return self.respondents[first : first + n_columns]

    def _has_strips(self) -> bool:
        """Return whether the estimates of all respondents can be drawn on one axis."""
        kinds = {self.table.columns[index].kind for index in self.respondents}
        has_intervals = any(self.has_intervals(index) for index in self.respondents)
        return (
            2 <= len(self.respondents) <= MOST_SERIES
            and has_intervals
            and len(kinds) == 1
            and kinds <= STRIP_LIMITS.keys()
        )

    @property
    def has_strips(self) -> bool:
        """Whether the estimates of all respondents can be drawn on one axis."""
        return bool(self._letters)

    @cached_property
    def strip_axis(self) -> Axis:
        """The axis of the strips: tenths around all estimates, their intervals and references."""
        estimates = [
            estimate
            for values in self._values
            for index in self.respondents
            if (estimate := estimated(values[index])) is not None
        ]
        references = [
            reference
            for row_references in self._references
            for index in self.respondents
            for reference in row_references[index]
        ]
        kind = self.table.columns[self.respondents[0]].kind
        low, high = (round(10 * end, 6) for end in reach(estimates, [*references, 0.0]))
        least, most = STRIP_LIMITS[kind]
        first = max(least, math.floor(low) / 10)
        last = max(first + STEP, math.ceil(high) / 10)
        return Axis("", kind, first, min(most, last))

    def strip_title(self, width: int) -> str:
        """Return the heading of the strips: the ends of their axis."""
        axis = self.strip_axis
        ends = axis.tick(axis.low), axis.tick(axis.high)
        return axis_labels(ends, (axis.low, axis.high), width)

    def _strip(self, row_index: int, width: int) -> Text:
        values = self._values[row_index]
        possible_points = (
            strip_point(self._letters[index], values[index], colour)
            for index, colour in zip(self.respondents, COLOURS, strict=False)
        )
        references = {
            reference
            for index in self.respondents
            for reference in self._references[row_index][index]
        }
        axis = self.strip_axis
        points = [point for point in possible_points if point is not None]
        return interval_strip(points, width, (axis.low, axis.high), sorted(references))

    def respondent_title(self, column_index: int, width: int, *, lettered: bool = False) -> str:
        """Return a respondent's name with ▸ if it is marked, and with its letter in strips.

        A long name keeps its end too, because names often differ there.
        """
        name, room = visible(self.table.columns[column_index].title), width - 1
        if lettered:
            name = f"{self._letters[column_index]} {name}"
        if len(name) > room:
            name = f"{name[: room // 2]}…{name[len(name) - (room - room // 2 - 1) :]}"
        return f"{'▸' if column_index == self.marked else ' '}{name}"

    def marked_scale_title(self, width: int) -> str:
        """Return the heading of the pictures of the marked column."""
        return scale_title(self.table.columns[self.marked], self._scale(self.marked), width)

    def _cell(self, row_index: int, screen_column: ScreenColumn) -> Text:
        if screen_column.strip:
            return self._strip(row_index, screen_column.width)
        if not screen_column.brief:
            return super()._cell(row_index, screen_column)
        value = self._values[row_index][screen_column.column_index]
        brief_text = self._brief[screen_column.column_index][row_index]
        if not isinstance(value, Estimate) or not value.defined:
            return Text(brief_text, style="dim", no_wrap=True)
        figure, _, extra_text = brief_text.strip().partition(" ")
        indent = " " * (len(brief_text) - len(brief_text.lstrip()))
        return Text.assemble(f" {indent}", (figure, "bold"), f" {extra_text}", no_wrap=True)


class _GridFit:
    """The columns of a grid that fit into a width.

    1. The columns that name the rows come first, at their least widths where room is calculated.
    2. If all respondents and a strip have room, the strip draws them on one axis.
    3. Without a strip, respondents have intervals and units if all of them have room so, and a
       picture of the marked one takes the room that is left, if that is enough for it.
    """

    def __init__(self, grid: Grid, width: int):
        self._grid = grid
        self._names = grid.name_columns()
        self._titles = {index: visible(grid.table.columns[index].title) for index in self._names}
        least_widths = [
            grid.minimum_width(index, title) + GAP for index, title in self._titles.items()
        ]
        self._room = width - sum(least_widths) - 1

    def columns(self) -> list[ScreenColumn]:
        """Return the columns from left to right."""
        grid = self._grid
        strip = self._strip()
        if strip is not None:
            widths = {index: grid.brief_width(index) for index in grid.respondents}
            return [
                *(self._name_column(index) for index in self._names),
                strip,
                *(
                    ScreenColumn(
                        index, grid.respondent_title(index, width, lettered=True), width, brief=True
                    )
                    for index, width in widths.items()
                ),
            ]
        full_widths = {index: grid.full_width(index) for index in grid.respondents}
        is_brief = sum(width + GAP for width in full_widths.values()) > self._room
        widths = full_widths
        if is_brief:
            widths = {index: grid.brief_width(index) for index in grid.respondents}
        visible_widths = {index: widths[index] for index in grid.window(widths, self._room)}
        columns = [self._name_column(index) for index in self._names]
        columns += [
            ScreenColumn(index, grid.respondent_title(index, width), width, brief=is_brief)
            for index, width in visible_widths.items()
        ]
        picture = self._picture(visible_widths)
        if picture is not None:
            columns.append(picture)
        return columns

    def _strip(self) -> ScreenColumn | None:
        """Return the column of strips, or None if they cannot be drawn or have too little room."""
        grid = self._grid
        if not grid.has_strips:
            return None
        taken = sum(grid.brief_width(index) + GAP for index in grid.respondents)
        width = min(WIDEST_PICTURE, self._room - taken - GAP)
        if width < NARROWEST_STRIP:
            return None
        return ScreenColumn(grid.marked, grid.strip_title(width), width, strip=True)

    def _name_column(self, index: int) -> ScreenColumn:
        title = self._titles[index]
        least_width = max(self._grid.minimum_width(index, title), len(title))
        width = min(self._grid.natural_width(index, title), least_width)
        return ScreenColumn(index, title, width)

    def _picture(self, visible_widths: Mapping[int, int]) -> ScreenColumn | None:
        """Return the column of pictures, or None without a scale or without enough room."""
        spare = self._room - sum(width + GAP for width in visible_widths.values()) - GAP
        marked = self._grid.marked
        if self._grid.table.columns[marked].scale is None or spare < NARROWEST_PICTURE:
            return None
        width = min(WIDEST_PICTURE, spare - 1 + spare % 2)
        return ScreenColumn(marked, self._grid.marked_scale_title(width), width, picture=True)


def sheet_of(table: AnyTable, about: Sequence[str] = ()) -> Sheet:
    """Return the sheet of a table, a grid if its columns have links. Create it in a worker."""
    has_links = any(column.link is not None for column in table.columns)
    return Grid(table, about) if table.rows and has_links else Sheet(table, about)
