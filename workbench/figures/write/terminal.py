"""Terminal text: a table as wide as the terminal, or as wide as it needs where no terminal shows it."""

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
"blanks between columns"


def print_tables(tables: Iterable[AnyTable], width: int, *, wrap: bool = True) -> None:
    """Print tables with a blank line before each. Without `wrap` a sentence stays on one line, however long."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, width=width)
    for table in tables:
        console.print()
        for part in renderables(table, width):
            console.print(part, soft_wrap=not wrap and isinstance(part, Text))


def renderables(table: AnyTable, width: int) -> Iterable[RenderableType]:
    """Return a table's title, definition, grid and notes. Where it is wider than the terminal, titles are short and the
    columns that stand aside are left out as far as they must, which a note says. Where columns with a least width have
    no room beside one another, they stand in several grids.
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
        notes.append(visible(f"Columns left out for lack of room: {', '.join(left_out)}. --csv and --json have them."))
    for places in _parts(table, width):
        yield _grid(table, cells, places, _shared(table, places, width), short=long > width)
    for note in notes:
        yield Text(note, style="dim")


def _shared(table: AnyTable, places: Sequence[int], width: int) -> dict[int, int]:
    """Return the columns of the terminal that each column with a least width takes; none where all have what they need.

    What the others leave is shared out: each has its least width, and of the rest a part of what it lacks. Left to
    itself, rich makes them narrower than that, widens them again, and cuts what is then beyond the edge.
    """
    widths = _widths(table)
    over = sum(widths[place] for place in places) - GAP - width
    wanting = {
        place: widths[place] - GAP - table.columns[place].least for place in places if table.columns[place].least
    }
    lacks = {place: max(0, more) for place, more in wanting.items()}
    spare = sum(lacks.values()) - over
    if over <= 0 or spare < 0 or not any(lacks.values()):
        return {}
    part = spare / sum(lacks.values())
    return {place: widths[place] - GAP - lacks[place] + int(lacks[place] * part) for place in lacks}


def _grid(
    table: AnyTable, cells: Sequence[Sequence[str]], places: Sequence[int], shared: Mapping[int, int], *, short: bool
) -> Grid:
    """Return the columns at these places; a word that is longer than its column goes on in the next line."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=None, pad_edge=False, header_style="bold")
    for place in places:
        column = table.columns[place]
        grid.add_column(
            Text(visible((column.short if short else "") or column.title)),
            justify="right" if column.numeric and all(" " not in row[place] for row in cells) else "left",
            min_width=column.least or None,
            width=shared.get(place),
            overflow="fold",
        )
    for row in cells:
        grid.add_row(*(Text(row[place]) for place in places))
    return grid


def _parts(table: AnyTable, width: int) -> list[list[int]]:
    """Return the places of the columns of each grid. What stands before the first column with a least width is in all
    of them.
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
    """Return a table without the columns that have no room, and their titles; the last one that is aside goes first."""
    columns, widths, left_out = list(table.columns), _widths(table), list[str]()
    for place in reversed(range(len(columns))):
        if columns[place].aside and sum(widths) > width:
            left_out.insert(0, columns.pop(place).title)
            del widths[place]
    return replace(table, columns=columns), left_out


def _widths(table: AnyTable) -> list[int]:
    """Return the columns of the terminal that each column takes in one line with its long title."""
    cells, _ = painted(table)
    return [
        max(len(line) for text in (column.title, *(row[place] for row in cells)) for line in text.split("\n")) + GAP
        for place, column in enumerate(table.columns)
    ]
