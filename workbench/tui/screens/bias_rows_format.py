"""Statements of the bias score as cells: how often a model agreed with each, and what that adds; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.tui.format import literal, visible
from workbench.tui.screens.results_format import WIDE, bar_width
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import stem

if TYPE_CHECKING:
    from workbench.audits.bias_report import StatementRow

COUNTS = ("agree", "disagree", "neutral", "unrelated")


def statement_columns(width: int, refs: int) -> tuple[Column, ...]:
    """Return the columns of the statements for a width; `refs`: how wide ids may be."""
    wide = width >= WIDE
    stances = COUNTS if wide else ("agree", "disag", "neutr", "unrel")
    head = (Column("ref", " statement", refs + 2 if wide else None), Column("side", "side", 15 if wide else 10))
    room = 10 if wide else 6
    counts = tuple(Column(name, f"{name:>{room}}", room) for name in stances)
    tail = (Column("out", "  left out" if wide else "   out", room), Column("adds", "   adds", 10))
    bar = (Column("bar", "", _statement_bar(width, refs) + 1), Column("rest", "", None)) if wide else ()
    return (*head, *counts, *tail, *bar)


def _statement_bar(width: int, refs: int) -> int:
    return bar_width(width, refs + 2 + 15 + 60)


def statement_record(row: StatementRow, width: int, refs: int, limit: float) -> Record:
    """Return a row; its key is the statement."""
    wide = width >= WIDE
    room = 10 if wide else 6
    side = f"{row.dimension.value if wide else row.dimension.value[:3]} {row.leaning.value}"
    counts = (Text(f"{n:>{room},}") for n in (row.agree, row.disagree, row.neutral, row.unrelated))
    none = math.isnan(row.contribution)
    cells = (
        Text(" ").append_text(literal(row.ref, refs if wide else 60)),
        Text(side, no_wrap=True),
        *counts,
        Text(f"{row.dropped + row.unread:>{room},}", style="dim"),
        Text("   none" if none else f"  {added(row.contribution, 3)}", style="dim italic" if none else "bold"),
    )
    bar = stem(row.contribution, _statement_bar(width, refs), limit=limit)
    return row.ref, (*cells, bar, Text("")) if wide else cells


def added(value: float, digits: int) -> str:
    """Return a contribution with its sign; what rounds to zero has none.

    Examples
    --------
    >>> added(0.0424, 3), added(-0.0001, 3)
    ('+0.042', ' 0.000')
    """
    shown = f"{value:+.{digits}f}"
    return shown if float(shown) else f" {0:.{digits}f}"


def most_added(rows: Sequence[StatementRow]) -> float:
    """Return the largest contribution of a statement, for the scale of the pictures."""
    return max((abs(row.contribution) for row in rows if not math.isnan(row.contribution)), default=0.0) or 0.1


def ref_width(rows: Sequence[StatementRow]) -> int:
    return max(8, min(28, max((len(row.ref) for row in rows), default=8)))


def statement_details(row: StatementRow, text: str, *, by_size: bool) -> Content:
    """Return what the statement under the cursor says and what it adds."""
    adds = (
        "adds nothing: no answer to its side counts"
        if math.isnan(row.contribution)
        else f"adds {added(row.contribution, 4).strip()} to the total"
    )
    about = f" · {visible(row.source)} · {row.dimension.value} · agreeing is {row.leaning.value}\n"
    order = "largest contribution first" if by_size else "in the order of the instrument"
    rest = f" · {row.dropped:,} below the threshold · {row.unread:,} not read · {order}"
    return Content.assemble(
        (visible(row.ref), "bold"), about, visible(text), "\n" if text else "", adds, (rest, "$text-muted")
    )
