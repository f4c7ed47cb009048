"""Rows behind consistency figures: statements with labels, stances, answers and readable shares; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal
from workbench.tui.screens.consistency_format import (
    ANSWER_WORDS,
    bar_width,
    issue_name,
    percent_cell,
    share_bar,
    share_scale,
    stance_marks,
)
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.consistency import LabelledStatement, Landscape, PartyStatement, Stances
    from workbench.audits.reliability import Report

CELL_CHARACTERS = 400
"of a wording: more never fits into a row"
REF = 12
READABLE = 58
Texts = Mapping[str, str]


def _statement(ref: str, texts: Texts) -> tuple[Text, Text]:
    return literal(ref, REF - 1), literal(texts.get(ref, ""), CELL_CHARACTERS)


def issue_records(rows: Sequence[LabelledStatement], texts: Texts) -> list[Record]:
    """Return the statements of an issue; the columns are `statement_columns`."""
    return [
        (
            row.ref,
            (
                *_statement(row.ref, texts),
                Text(" + agree" if row.label > 0 else " − disagree"),
                stance_marks(row.stances),
                Text(f"{row.supports:>4}"),
                Text(f"{row.opposes:>6}"),
            ),
        )
        for row in rows
    ]


def party_statement_columns(templates: int) -> tuple[Column, ...]:
    return (
        Column("ref", "id", REF),
        Column("text", "statement", None),
        Column("answer", " party", 13),
        Column("stances", " stance", max(8, min(templates, 24) + 2)),
        Column("both", " both", 6),
    )


def party_statement_records(rows: Sequence[PartyStatement], texts: Texts) -> list[Record]:
    """Return the statements of a party's country."""
    return [
        (
            row.ref,
            (
                *_statement(row.ref, texts),
                Text(f" {ANSWER_WORDS[row.answer]}"),
                stance_marks(row.stances),
                Text(f"{row.matches:>4}"),
            ),
        )
        for row in rows
    ]


def given_columns(width: int) -> tuple[Column, ...]:
    supports = Column("supports", " supports (+), opposes (−)", max(26, min(50, width // 3)))
    return (Column("ref", "id", REF), Column("text", "statement", None), Column("answer", " answer", 13), supports)


def given_records(stances: Stances, land: Landscape, texts: Texts) -> list[Record]:
    """Return what one without templates answered, in the order of the instrument, and which issues that speaks for."""
    here = land.on(stances.statements)
    return [
        (
            ref,
            (
                *_statement(ref, texts),
                Text(f" {ANSWER_WORDS[value] if value else '  no stance'}"),
                literal(f" {', '.join(supported(land.issues, value, here.labels[:, at].tolist()))}", 50),
            ),
        )
        for at, (ref, value) in enumerate(zip(stances.statements, map(int, stances.values[0]), strict=True))
    ]


def supported(issues: Sequence[str], stance: int, labels: Sequence[int]) -> Iterator[str]:
    """Yield each policy issue that a stance speaks for or against, with its sign."""
    for issue, label in zip(issues, labels, strict=True):
        if stance * label:
            yield f"{'+' if stance * label > 0 else '−'} {issue_name(issue)}"


def readable_columns(width: int) -> tuple[Column, ...]:
    bar = bar_width(width, READABLE + 12)
    return (
        Column("ref", "id", REF),
        Column("text", "statement", None),
        Column("bar", f" {share_scale(bar)}", bar + 1),
        Column("readable", " readable", 10),
        Column("of", "      of", 9),
        Column("stance", " stance", 8),
    )


def readable_records(report: Report, stances: Stances, at: int, texts: Texts, width: int) -> list[Record]:
    """Return the statements by their share of readable answers under one template, the lowest first."""
    counts = report.counts
    readable, total = (array[at].sum(axis=(1, 2)) for array in (counts.readable, counts.total))
    shares = [float(part / whole) if whole else math.nan for part, whole in zip(readable, total, strict=True)]
    marks = {ref: int(value) for ref, value in zip(stances.statements, stances.values[at], strict=True)}
    order = sorted(range(len(shares)), key=lambda place: (math.isnan(shares[place]), shares[place]))
    bar = (readable_columns(width)[2].width or 12) - 1
    return [
        (
            ref,
            (
                *_statement(ref, texts),
                Text(" ").append_text(
                    share_bar(Estimate(shares[place], math.nan, math.nan, int(total[place]), 0), bar)
                ),
                percent_cell(shares[place], 9),
                Text(f"{int(total[place]):>8,}", style="dim"),
                stance_marks([marks.get(ref, 0)]),
            ),
        )
        for place in order
        for ref in [counts.statements[place]]
    ]
