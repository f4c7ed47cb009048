"""HTML: tables that a screen reader announces, on a page without scripts that loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from workbench.figures.shown import painted
from workbench.figures.table import AnyTable, Column, Kind
from workbench.figures.visible import visible

STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding: .5rem 0; }
th, td { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8885; }
.prose { white-space: pre-wrap; }
.number { text-align: right; }
.note { font-size: .9rem; }"""  # noqa: E501
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_page(tables: Iterable[AnyTable], title: str, paragraphs: Iterable[str] = ()) -> str:
    """Return a page that opens offline: a heading, paragraphs, then the tables."""
    paragraph_markup = "\n".join(f"<p>{_text(paragraph)}</p>" for paragraph in paragraphs)
    body = "\n".join(html_table(table) for table in tables)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_text(title)}</h1>\n{paragraph_markup}\n{body}\n</main>\n</body>\n</html>\n"
    )


def html_table(table: AnyTable) -> str:
    """Return one table with its definition and notes, as a section."""
    begin = f'<section id="{escape(table.stem)}">'
    definition = f"\n<p>{_text(table.definition)}</p>" if table.definition else ""
    if not table.rows:
        title, empty = _text(table.title), _text(table.empty)
        return f"{begin}\n<h2>{title}</h2>\n<p>{empty}</p></section>"
    grid, note_markup = html_grid(table)
    notes = "".join(f'\n<p class="note">{note}</p>' for note in note_markup)
    return f'{begin}{definition}\n<div class="scroll">{grid}</div>{notes}\n</section>'


def html_grid(table: AnyTable) -> tuple[str, list[str]]:
    """Return the rows and the notes of a non-empty table as markup.

    The rows have its title as caption.
    """
    head = "".join(_head(column) for column in table.columns)
    cells, texts = painted(table)
    rows = "\n".join("<tr>" + "".join(_cells(table, row)) + "</tr>" for row in cells)
    return (
        f"<table>\n<caption>{_text(table.title)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n"
        "</table>"
    ), list(map(escape, texts))


def html_paragraphs(sentences: Iterable[str]) -> str:
    """Return sentences as paragraphs."""
    return "".join(f"<p>{_text(sentence)}</p>" for sentence in sentences)


def _head(column: Column[Any]) -> str:
    tooltip = f' title="{_text(column.help)}"' if column.help else ""
    return f'<th scope="col"{_side(column)}{tooltip}>{_text(column.title)}</th>'


def _cells(table: AnyTable, row: Sequence[str]) -> Iterator[str]:
    for index, (column, text) in enumerate(zip(table.columns, map(escape, row), strict=True)):
        yield f'<th scope="row">{text}</th>' if index == 0 else f"<td{_side(column)}>{text}</td>"


def _side(column: Column[Any]) -> str:
    kind = "number" if column.numeric else "prose" if column.kind is Kind.PROSE else ""
    names = " ".join(filter(None, (kind, "aside" if column.aside else "")))
    return f' class="{names}"' if names else ""


def _text(text: str) -> str:
    return escape(visible(text))
