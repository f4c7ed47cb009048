"""Terminal text: a table as wide as the terminal, or as wide as it needs where no terminal shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.figures.shown import painted
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType


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
    columns that stand aside are left out, which a note says.
    """
    from rich.table import Table as Grid
    from rich.text import Text

    yield Text(visible(table.title), style="bold")
    if table.definition:
        yield Text(visible(table.definition))
    if not table.rows:
        yield Text(visible(table.empty, lines=True))
        return
    cells, notes = painted(table)
    long = _width(table, cells)
    if long > width and (aside := [column.title for column in table.columns if column.aside]):
        table = table.narrow
        cells, notes = painted(table)
        long = _width(table, cells)
        notes.append(visible(f"Columns left out for lack of room: {', '.join(aside)}. --csv and --json have them."))
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(table.columns):
        title = column.title if long <= width else column.short or column.title
        grid.add_column(
            Text(visible(title)),
            justify="right" if column.numeric and all(" " not in row[place] for row in cells) else "left",
            min_width=column.least or None,
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    yield grid
    for note in notes:
        yield Text(note, style="dim")


def _width(table: AnyTable, cells: Sequence[Sequence[str]]) -> int:
    """Return the columns of a terminal that a table needs with its long titles."""
    return sum(
        max(len(column.title), *(len(row[place]) for row in cells)) + 2 for place, column in enumerate(table.columns)
    )
