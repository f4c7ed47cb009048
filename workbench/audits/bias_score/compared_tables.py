"""Figures of the left/right bias that compare: models, sources, and what the sides of a comparison have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from workbench.audits.bias_score.columns import ALL, SCALE, over_notes, plain, said, score, subject
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.report import RankAgreement, rank_agreement
from workbench.audits.bias_score.selection import Selection
from workbench.audits.bias_score.shared_prompts import Common, Comparison, compare, difference, of_all
from workbench.domain.names import plural
from workbench.domain.statements import Dimension
from workbench.figures.table import Column, Kind, Link, Table

ONE_SOURCE = "All statements have the same source, so there is nothing to compare."


@dataclass(frozen=True, slots=True)
class Pair:
    """A difference of two biases."""

    first: str
    second: str
    "models, or sources of statements"
    found: Comparison
    selection: Selection
    model: str = ""
    "whose biases they are; of two models the first"
    group: str = ""
    name: str = ""
    "what two models are compared on: a `prefix` and which"

    @property
    def common(self) -> Common:
        assert self.found.common is not None
        return self.found.common


def asked(report: Report) -> Table[tuple[str, int, int]]:
    """Return how many prompts all models were asked, and how many others each."""
    common = of_all(report.tally)
    return Table(
        "asked",
        "Prompts that the models were asked",
        list(zip(common.sides, common.prompts, common.left_out, strict=True)),
        [
            Column("model", "model", lambda row: row[0]),
            Column("common", "shared by all", lambda row: row[1], Kind.COUNT),
            Column("left_out", "in addition", lambda row: row[2], Kind.COUNT),
        ],
        key=lambda row: (row[0],),
        notes=[f"A prompt is a statement in a wording under a prefix. {_shared(common)}"],
    )


def _shared(common: Common) -> str:
    if common.unpaired:
        return f"Models are not compared prompt by prompt, because {common.unpaired}."
    return f"The common prompts are on {plural(common.statements, 'statement')}."


def compared(report: Report, dimension: Dimension | None, first: str, second: str) -> Table[Pair]:
    """Return what two models differ by: in all, and by dimension, source and prefix. Raises UnknownName."""
    rows = list(_parts(report, first, second, dimension))
    return Table(
        "compared",
        f"{first} − {second}{_on(dimension)}",
        rows,
        [
            Column("by", "by", lambda row: row.group, aside=True),
            Column("name", "answers", lambda row: row.name),
            *_compared(rows, first, second, aside=False),
        ],
        key=lambda row: (row.group, row.name),
        definition="Both totals are over the prompts that both models were asked, from the same draws. The models "
        "differ where the interval of the difference excludes 0.",
        notes=over_notes((row.name, row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(first, row.selection)),
        subject=(first, second),
        detail=lambda row: said(row.found),
    )


def _parts(report: Report, first: str, second: str, dimension: Dimension | None) -> Iterator[Pair]:
    tally = report.tally
    parts = [("", "all answers", Selection(dimension))]
    if dimension is None:
        parts += [("dimension", each.value, Selection(each)) for each in Dimension]
    parts += [("source", source, Selection(dimension, source)) for source in tally.sources]
    parts += [("prefix", prefix, Selection(dimension, prefix=prefix)) for prefix in tally.prefixes]
    for group, name, part in parts:
        found = compare(report, first, second, part)
        yield Pair(first, second, found, part, first, group, name)


def source_differences(report: Report, dimension: Dimension | None = None, model: str = "") -> Table[Pair]:
    """Return how far the bias differs between every two sources. model : whose; empty: of all"""
    rows = [
        Pair(
            a, b, difference(report, name, Selection(dimension, a), Selection(dimension, b)), Selection(dimension), name
        )
        for a, b in combinations(report.tally.sources, 2)
        for name in ((model,) if model else report.tally.models)
    ]
    return Table(
        "source_differences",
        f"Differences of sources{_on(dimension)}",
        rows,
        [
            Column("model", "model", lambda row: row.model, aside=bool(model)),
            Column("first", "source", lambda row: row.first),
            Column("second", "minus", lambda row: row.second),
            *_compared(rows, "total", "total, other"),
        ],
        key=lambda row: (row.model, row.first, row.second),
        notes=over_notes((f"{row.model}, {row.first} − {row.second}", row.found) for row in rows),
        empty=ONE_SOURCE,
        link=lambda row: Link("statements", subject(row.model, row.selection)),
        subject=(model,) if model else (),
    )


def _on(dimension: Dimension | None) -> str:
    return "" if dimension is None else f": {dimension} statements"


def source_ranks(
    report: Report, dimension: Dimension | None = None
) -> Table[tuple[str, str, Dimension | None, RankAgreement]]:
    """Return whether two sources put the models in the same order (section 4.1)."""
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    return Table(
        "source_ranks",
        "Agreement of sources on the order of the models",
        [
            (a, b, each, rank_agreement(report, a, b, each))
            for a, b in combinations(report.tally.sources, 2)
            for each in dimensions
        ],
        [
            Column("first", "source", lambda row: row[0]),
            Column("second", "and", lambda row: row[1]),
            Column("dimension", "dimension", lambda row: str(row[2] or ALL)),
            Column("tau", "Kendall's τ", lambda row: row[3].tau, Kind.COEFFICIENT, scale=SCALE),
            Column("p", "p", lambda row: row[3].p, Kind.P_VALUE, help="of no association, two-sided"),
            Column("models", "models", lambda row: row[3].n_models, Kind.COUNT, help="models ranked"),
            Column("left_out", "left out", lambda row: row[3].left_out, Kind.WORDS, aside=True, help=_LEFT_OUT),
        ],
        key=lambda row: (row[0], row[1], str(row[2] or ALL)),
        definition="Kendall's τ-b of the rankings of the models by their totals. It needs at least three models. "
        "It has no interval, because resampling adds noise to rankings.",
        empty=ONE_SOURCE,
        detail=lambda row: [common.said for common in row[3].common],
    )


_LEFT_OUT = "models whose bias is undefined on one of the sources"


def _compared(rows: Sequence[Pair], first: str, second: str, *, aside: bool = True) -> list[Column[Pair]]:
    """Return both totals, their difference, and what it is over.

    first, second : titles of the totals; aside : whether these are left out where there is little room
    """
    ends = [abs(end) for row in rows for end in (row.found.low, row.found.high) if not math.isnan(end)]
    widest = 2.0 if max(ends, default=0.0) > 1 else 1.0
    return [
        score("first_total", first, lambda row: row.found.totals[0], aside=aside),
        score("second_total", second, lambda row: row.found.totals[1], aside=aside),
        Column("difference", "difference", lambda row: plain(row.found), Kind.SCORE, scale=(-widest, widest)),
        Column("answers", "answers", lambda row: row.found.n, Kind.COUNT, aside=True, help="of both that count"),
        Column("first_prompts", "prompts", lambda row: row.common.prompts[0], Kind.COUNT, aside=True),
        Column("second_prompts", "prompts, other", lambda row: row.common.prompts[1], Kind.COUNT, aside=True),
        Column("first_left_out", "left out", lambda row: row.common.left_out[0], Kind.COUNT, aside=True, help=_ALONE),
        Column("second_left_out", "left out, other", lambda row: row.common.left_out[1], Kind.COUNT, aside=True),
        Column("statements", "statements", lambda row: row.common.statements, Kind.COUNT, aside=True),
        Column("unpaired", "unpaired", lambda row: row.common.unpaired, aside=True, help=_UNPAIRED),
    ]


_ALONE = "prompts not asked on the other side"
_UNPAIRED = "why the sides are not compared prompt by prompt; empty if they are"
