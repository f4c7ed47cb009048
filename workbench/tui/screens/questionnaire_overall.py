"""The views that join questions into one figure, as tables: the correlation over models, the axis of poles; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal, visible
from workbench.tui.screens.questionnaire_format import (
    FEW,
    NONE,
    WIDE,
    difference_cell,
    reach,
    scale_line,
)
from workbench.tui.screens.questionnaire_view import AVERAGE, Shown
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Correlation

PICTURE = 61
LIBERAL, CONSERVATIVE = "liberal", "conservative"


def named(ref: str, words: str, width: int) -> Text:
    """Return a question's ref and as much of its text as a column has room for."""
    name = Text.assemble(literal(ref, 14), "  ", literal(words, width), no_wrap=True)
    name.truncate(width - 1, overflow="ellipsis")
    return name


# ── bias and accuracy together ──────────────────────────────────────────────────────────────────────────────────────

R, NUMBERS = 8, 38


def correlation_columns(width: int) -> tuple[Column, ...]:
    picture = _picture(width, 26 + R + NUMBERS)
    return (Column("target", "question", None), Column("picture", _unit_scale(picture), picture + 1),
            Column("r", "      r", R), Column("numbers", "      t    df        p     n", NUMBERS - 6))  # fmt: skip


def _unit_scale(width: int) -> str:
    signs = [" "] * width
    for text, at in (("-1", 0), ("0", width // 2), ("+1", width - 2)):
        signs[at : at + len(text)] = text
    return "".join(signs)[:width]


def _picture(width: int, rest: int) -> int:
    free = max(11, min(PICTURE, width - 1 - rest))
    return free if free % 2 else free - 1


def correlation_record(found: Correlation, texts: Mapping[str, str], width: int) -> Record:
    key, picture = found.target or AVERAGE, _picture(width, 26 + R + NUMBERS)
    if found.target is None:
        name = Text("all questions", style="bold")
    else:
        name = named(found.target, texts.get(found.target, ""), width - picture - R - NUMBERS + 4)
    if math.isnan(found.r):
        numbers = Text(f"{'':>27}{found.n:>6}", style="dim")
        drawn = whisker(math.nan, math.nan, math.nan, picture, undefined="undefined")
        return key, (name, drawn, Text(f"{NONE:>7}", style="dim"), numbers)
    mark = " ▲" if found.p < 0.05 and found.r > 0 else " ▼" if found.p < 0.05 else ""
    mark = f" {FEW}" if found.few else mark
    t = NONE if found.untested else f"{found.t:.2f}"
    numbers = Text(f"{t:>7}{found.df:>6}{_p(found.p):>9}{found.n:>6}{mark}", no_wrap=True)
    drawn = whisker(found.r, math.nan, math.nan, picture)
    return key, (name, drawn, Text(f"{found.r:>+7.2f}", style="bold"), numbers)


def _p(value: float) -> str:
    return NONE if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


# ── liberal … conservative ──────────────────────────────────────────────────────────────────────────────────────────

MODEL, NUMBER = 22, 27


def axis_columns(shown: Shown, width: int) -> tuple[Column, ...]:
    name = 34 if width >= WIDE else MODEL
    picture = _picture(width, name + NUMBER)
    limit = _axis_reach(shown)
    heading = scale_line(picture, limit, (LIBERAL, CONSERVATIVE))
    return (Column("model", "model", name), Column("picture", heading, picture + 1),
            Column("number", " points", NUMBER))  # fmt: skip


def _axis_reach(shown: Shown) -> float:
    ends = [end for one in shown.figures.values() for end in (one.axis.low, one.axis.value, one.axis.high)]
    return reach(ends, near=shown.look.near)


def axis_records(shown: Shown, models: Sequence[str], width: int) -> list[Record]:
    columns = axis_columns(shown, width)
    name, picture, limit = columns[0].width or MODEL, (columns[1].width or 12) - 1, _axis_reach(shown)
    rows: list[Record] = []
    for model in models:
        if (found := shown.figures.get(model)) is not None:
            axis = found.axis
            drawn = whisker(
                axis.value, axis.low, axis.high, picture, limit=limit, undefined=visible(axis.undefined or "undefined")
            )
            value = Estimate(axis.value, axis.low, axis.high, axis.n, 0, axis.undefined)
            rows.append((model, (literal(model, name - 1), drawn, difference_cell(value, axis.respondents))))
    return rows
