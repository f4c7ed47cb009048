"""Figures and statements for the page's template: markup of tables, and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.domain.counting import plural
from workbench.domain.verdicts import Verdict
from workbench.figures.intervals import told
from workbench.figures.marks import MARKS, WORDS
from workbench.figures.table import AnyTable
from workbench.figures.write.html import html_grid
from workbench.report.answers import Behind, Given
from workbench.report.shown import MOST_ROWS, Shown

MOST_PRINTED = 100
"rows of a table on paper"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture on the page."""

    svg: Any
    "markup"
    caption: str
    stem: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A table on the page."""

    anchor: str
    title: str
    definition: str
    grid: Any
    "markup; empty where there is no row"
    empty: str
    notes: Sequence[Any]
    "markup"
    stem: str
    "stem of its files; empty: no files"
    folded: bool
    summary: str
    long: bool
    "whether it takes pages on paper, where its file stands for it"
    aside: str
    "titles of the columns that paper has no room for"
    pictures: Sequence[Drawn] = ()


def figure(one: Shown, pictures: Sequence[Drawn] = ()) -> Figure:
    """Return a table of a part for the page; secondary tables are folded."""
    return _figure(one.table, one.stem, one.stem, folded=not one.first, pictures=pictures)


def own_figure(table: AnyTable, stem: str = "") -> Figure:
    """Return a table that every report has; long ones are folded."""
    return _figure(table, f"table-{stem or table.stem}", stem, folded=len(table.rows) > MOST_ROWS)


def _figure(table: AnyTable, anchor: str, stem: str, *, folded: bool, pictures: Sequence[Drawn] = ()) -> Figure:
    from markupsafe import Markup

    grid, notes = html_grid(table) if table.rows else ("", [])
    return Figure(
        anchor,
        table.title,
        table.definition,
        Markup(grid),  # noqa: S704  what the HTML writer escaped
        " ".join(table.empty.split()),
        [Markup(note) for note in notes],  # noqa: S704
        stem,
        folded and bool(table.rows),
        plural(len(table.rows), "row"),
        bool(stem) and len(table.rows) > MOST_PRINTED,
        ", ".join(column.title for column in table.columns if column.aside) if table.rows and stem else "",
        pictures,
    )


def interval_sentences(tables: Sequence[AnyTable]) -> list[tuple[str, str]]:
    """Return (figure, method) for each method of the intervals in some tables, each once."""
    sentences = dict.fromkeys(sentence for table in tables for sentence in told(table))
    parts = (sentence.removeprefix("95 % interval of ").partition(": ") for sentence in sentences)
    return [(what, method) for what, _, method in parts]


@dataclass(frozen=True, slots=True)
class ItemShown:
    """A statement on the page."""

    kind: str
    "class of its verdict"
    mark: str
    ref: str
    text: str
    said: Sequence[str]
    given: Sequence[Given]


def item_shown(one: Behind) -> ItemShown:
    """Return a statement for the page: with a mark and a word, because colour is never the only sign."""
    item = one.item
    verdict: Verdict | None = item.verdict
    mark = f"{MARKS[verdict]} {WORDS[verdict]}" if verdict is not None else ""
    return ItemShown(verdict.value if verdict else "", mark, item.ref, item.text, item.said, one.given)
