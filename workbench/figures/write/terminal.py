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
    """Print tables with a blank line before each.

    Without `wrap` sentences of any length stay on one line.
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
    necessary, which a note reports. If columns with a minimum width do not fit side by side, they
    are split into several grids.
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
    full_width = sum(_widths(table))
    if left_out:
        notes.append(
            visible(
                f"Columns left out for lack of room: {', '.join(left_out)}. --csv and --json "
                "have them."
            )
        )
    for indices in _parts(table, width):
        yield _grid(table, cells, indices, _shared(table, indices, width), short=full_width > width)
    for note in notes:
        yield Text(note, style="dim")


def _shared(table: AnyTable, places: Sequence[int], width: int) -> dict[int, int]:
    """Return the width of each column with a minimum width, or nothing if all columns fit.

    The remaining width is divided: each gets its minimum width, and a part of the rest in
    proportion to what it lacks. By default, rich makes them narrower, widens them again, and
    truncates at the edge.
    """
    widths = _widths(table)
    excess = sum(widths[index] for index in places) - GAP - width
    extra_widths = {
        index: widths[index] - GAP - table.columns[index].least
        for index in places
        if table.columns[index].least
    }
    missing_widths = {index: max(0, extra) for index, extra in extra_widths.items()}
    spare = sum(missing_widths.values()) - excess
    if excess <= 0 or spare < 0 or not any(missing_widths.values()):
        return {}
    fraction = spare / sum(missing_widths.values())
    return {
        index: widths[index] - GAP - missing_widths[index] + int(missing_widths[index] * fraction)
        for index in missing_widths
    }


def _grid(
    table: AnyTable,
    cells: Sequence[Sequence[str]],
    places: Sequence[int],
    shared: Mapping[int, int],
    *,
    short: bool,
) -> Grid:
    """Return the grid of the columns at these indices. A word longer than its column is wrapped."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    for index in places:
        column = table.columns[index]
        grid.add_column(
            Text(visible((column.short if short else "") or column.title)),
            justify="right"
            if column.numeric and all(" " not in row[index] for row in cells)
            else "left",
            min_width=column.least or None,
            width=shared.get(index),
            overflow="fold",
        )
    for row in cells:
        grid.add_row(*(Text(row[column_index]) for column_index in places))
    return grid


def _parts(table: AnyTable, width: int) -> list[list[int]]:
    """Return the column indices of each grid.

    The columns before the first one with a minimum width are in all grids.
    """
    widths = _widths(table)
    first = next(
        (column_index for column_index, column in enumerate(table.columns) if column.least),
        len(widths),
    )
    first_columns, available = list(range(first)), width - sum(widths[:first])
    parts, used_width = [first_columns.copy()], 0
    for index in range(first, len(widths)):
        minimum = table.columns[index].least
        needed_width = minimum + GAP if minimum else widths[index]
        if used_width and used_width + needed_width > available:
            parts.append(first_columns.copy())
            used_width = 0
        parts[-1].append(index)
        used_width += needed_width
    return parts


def _fitting(table: AnyTable, width: int) -> tuple[AnyTable, list[str]]:
    """Return a table without columns that do not fit, and their titles.

    The last optional column is dropped first.
    """
    columns, widths, left_out = list(table.columns), _widths(table), list[str]()
    for index in reversed(range(len(columns))):
        if columns[index].aside and sum(widths) > width:
            left_out.insert(0, columns.pop(index).title)
            del widths[index]
    return replace(table, columns=columns), left_out


def _widths(table: AnyTable) -> list[int]:
    """Return the width of each column in one line with its long title."""
    cells, _ = painted(table)
    return [
        max(
            len(line)
            for text in (column.title, *(row[index] for row in cells))
            for line in text.split("\n")
        )
        + GAP
        for index, column in enumerate(table.columns)
    ]
