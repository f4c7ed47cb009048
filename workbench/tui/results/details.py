"""What stands below a table about the row under the cursor, and what `?` says of the table; pure."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from workbench.figures.shown import NONE
from workbench.figures.table import AnyTable, Kind
from workbench.figures.visible import visible
from workbench.tui.results.sheet import Sheet

KEYS = """Enter opens what a row was made of, Esc comes back. ← → show the next one that the table can be about.
s sorts by a column, / finds rows; F1 lists every key."""


def details(sheet: Sheet, at: int, width: int) -> Content:
    """Return what the columns in sight do not say of a row: hidden values, reasons, and sentences of its own."""
    return Content("\n").join(_details(sheet, at, width))


def _details(sheet: Sheet, at: int, width: int) -> Iterator[Content]:
    table, row = sheet.table, sheet.table.rows[at]
    hidden = [
        f"{visible(column.title)} {sheet.cells[at][place]}"
        for place in sheet.hidden(width)
        for column in [table.columns[place]]
        if column.kind is not Kind.MARK and sheet.cells[at][place] not in ("", NONE)
    ]
    name = visible(" · ".join(_named(table, part) for part in table.key(row) if part))
    yield Content.assemble((name, "bold"), f"  {' · '.join(hidden)}" if hidden else "")
    for title, why in sheet.undefined(at):
        yield Content.styled(f"{visible(title)} undefined: {visible(why)}", "$text-warning")
    if table.detail is not None:
        yield from (Content(visible(said, lines=True)) for said in table.detail(row))
    yield from (Content.styled(note, "$text-muted") for note in sheet.notes)
    if table.definition:
        yield Content.styled(visible(table.definition), "$text-muted")


def _named(table: AnyTable, name: str) -> str:
    """Return the words that a column has for a name."""
    return next((column.words[name] for column in table.columns if name in column.words), name)


def explained(table: AnyTable) -> str:
    """Return what `?` says: the definition of the figures, what each column measures, and the keys."""
    helped = [(column.title, column.help) for column in table.columns if column.help]
    width = max((len(title) for title, _ in helped), default=0)
    columns = "\n".join(f"{title:<{width}}  {told}" for title, told in helped)
    return "\n\n".join(part for part in (table.title, table.definition, columns, *table.notes, KEYS) if part)
