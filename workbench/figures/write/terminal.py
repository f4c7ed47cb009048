"""Terminal text: tables as wide as the terminal, or as wide as needed without a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.figures.shown import painted
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as Grid

GAP = 2
"spaces between columns"


def print_tables(tables: Iterable[AnyTable], width: int, *, wrap: bool = True) -> None:
    """Print tables with a blank line before each. Without `wrap` sentences of any length stay on
    one line.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, width=width)
    for table in tables:
        console.print()
        for part in renderables(table, width):
            console.print(part, soft_wrap=not wrap and isinstance(part, Text))


def renderables(table: AnyTable, width: int) -> Iterable[RenderableType]:
    """Return a table's title, definition, grid and notes.

    If a table is wider than the terminal, titles are short, and optional columns are left out as
    necessary, which a note reports. If columns with a least width do not fit side by side, they are
    split into several grids.
    """
    from rich.text import Text

    yield Text(visible(table.title), style="bold")
    if table.definition:
        yield Text(visible(table.definition))
    if not table.rows:
        yield Text(visible(table.empty, lines=True))
        return
    table, left_out = _fitting(table, width)
    cells, notes = painted(table)
    long = sum(_widths(table))
    if left_out:
        notes.append(
            visible(
                f"Columns left out for lack of room: {', '.join(left_out)}. --csv and --json "
                "have them."
            )
        )
    for places in _parts(table, width):
        yield _grid(table, cells, places, _shared(table, places, width), short=long > width)
    for note in notes:
        yield Text(note, style="dim")


def _shared(table: AnyTable, places: Sequence[int], width: int) -> dict[int, int]:
    """Return the width of each column with a least width; empty if all columns fit.

    The remaining width is divided: each gets its least width, and a part of the rest in proportion
    to what it lacks. By default, rich makes them narrower, widens them again, and truncates at the
    edge.
    """
    widths = _widths(table)
    over = sum(widths[place] for place in places) - GAP - width
    wanting = {
        place: widths[place] - GAP - table.columns[place].least
        for place in places
        if table.columns[place].least
    }
    lacks = {place: max(0, more) for place, more in wanting.items()}
    spare = sum(lacks.values()) - over
    if over <= 0 or spare < 0 or not any(lacks.values()):
        return {}
    part = spare / sum(lacks.values())
    return {place: widths[place] - GAP - lacks[place] + int(lacks[place] * part) for place in lacks}


def _grid(
    table: AnyTable,
    cells: Sequence[Sequence[str]],
    places: Sequence[int],
    shared: Mapping[int, int],
    *,
    short: bool,
) -> Grid:
    """Return the grid of the columns at these indices; a word longer than its column is wrapped."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    for place in places:
        column = table.columns[place]
        grid.add_column(
            Text(visible((column.short if short else "") or column.title)),
            justify="right"
            if column.numeric and all(" " not in row[place] for row in cells)
            else "left",
            min_width=column.least or None,
            width=shared.get(place),
            overflow="fold",
        )
    for row in cells:
        grid.add_row(*(Text(row[place]) for place in places))
    return grid


def _parts(table: AnyTable, width: int) -> list[list[int]]:
    """Return the column indices of each grid. The columns before the first one with a least width
    are in all grids.
    """
    widths = _widths(table)
    first = next((place for place, column in enumerate(table.columns) if column.least), len(widths))
    head, room = list(range(first)), width - sum(widths[:first])
    parts, used = [head.copy()], 0
    for place in range(first, len(widths)):
        least = table.columns[place].least
        need = least + GAP if least else widths[place]
        if used and used + need > room:
            parts.append(head.copy())
            used = 0
        parts[-1].append(place)
        used += need
    return parts


def _fitting(table: AnyTable, width: int) -> tuple[AnyTable, list[str]]:
    """Return a table without columns that do not fit, and their titles; the last optional column is
    dropped first.
    """
    columns, widths, left_out = list(table.columns), _widths(table), list[str]()
    for place in reversed(range(len(columns))):
        if columns[place].aside and sum(widths) > width:
            left_out.insert(0, columns.pop(place).title)
            del widths[place]
    return replace(table, columns=columns), left_out


def _widths(table: AnyTable) -> list[int]:
    """Return the width of each column in one line with its long title."""
    cells, _ = painted(table)
    return [
        max(
            len(line)
            for text in (column.title, *(row[place] for row in cells))
            for line in text.split("\n")
        )
        + GAP
        for place, column in enumerate(table.columns)
    ]
