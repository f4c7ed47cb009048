"""Figures of the sides that a model gave statements: its agreement with people and the instrument, and each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from workbench.audits.bias_score.sides_quality import quality_lines
from workbench.audits.bias_score.statement_labels import DIMENSION, LEANING, SideRow, SidesReport
from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.book import Book, Entry, in_order
from workbench.figures.table import Column, Kind, Link, Table

SCALE = (-1.0, 1.0)


def book(report: SidesReport) -> Book:
    """Return the figures of a model's labels."""
    above = in_order(tuple(quality_lines(report)))
    told = f"{report.model} on {report.instrument}: {plural(len(report.rows), 'statement')}, {report.unread} without a "
    return Book(
        f"{report.instrument}: sides of the statements by {report.model}",
        [Entry("kappas", "agreement", partial(kappas, report)), Entry("sides", "statements", partial(sides, report))],
        told=(*above, f"{told}readable label.", *report.rulings.sentences()),
        notes=report.notes,
        header=above,
        about={"model": report.model, "instrument": report.instrument, "unread": report.unread},
    )


def kappas(report: SidesReport) -> Table[tuple[str, Mapping[str, Estimate]]]:
    """Return the model's agreement with each source of labels (Faulborn et al. 2025: .77 and .76 for GPT-4)."""
    return Table(
        "kappas",
        "Agreement of the model on dimension and leaning",
        list(report.kappas.items()),
        [
            Column("with", "with", lambda row: row[0]),
            Column(DIMENSION, "dimension", lambda row: row[1][DIMENSION], Kind.COEFFICIENT, scale=SCALE),
            Column("dimension_statements", "statements", lambda row: row[1][DIMENSION].n, Kind.COUNT, help=_BOTH),
            Column(LEANING, "leaning", lambda row: row[1][LEANING], Kind.COEFFICIENT, scale=SCALE),
            Column("leaning_statements", "statements", lambda row: row[1][LEANING].n, Kind.COUNT, help=_BOTH),
        ],
        key=lambda row: (row[0],),
        definition="Cohen's κ, over the statements that both labelled.",
        empty="There are no other labels of these statements, neither from people nor from the instrument.",
    )


_BOTH = "that both labelled"


def sides(report: SidesReport) -> Table[SideRow]:
    """Return what the model, the instrument and people say of each statement."""
    return Table(
        "sides",
        "Topic of each statement, and the side that agreeing with it reflects",
        report.rows,
        [
            Column("statement", "statement", lambda row: row.ref, least=_widest([row.ref for row in report.rows])),
            Column(DIMENSION, "dimension", lambda row: row.dimension),
            Column(LEANING, "leaning", lambda row: row.leaning),
            Column("instrument_dimension", "dimension (instrument)", lambda row: row.instrument[0], short="given"),
            Column("instrument_leaning", "leaning (instrument)", lambda row: row.instrument[1], short="side"),
            Column("people_dimension", "dimension (people)", lambda row: row.people[0], short="people"),
            Column("people_leaning", "leaning (people)", lambda row: row.people[1], short="side"),
        ],
        key=lambda row: (row.ref,),
        notes=["– no label: for a model, no readable one; for people, no settled one"],
        empty="The model was not asked about any statement of this instrument.",
        link=lambda row: Link("statement", (report.model, row.ref)),
    )


def _widest(refs: Sequence[str]) -> int:
    """Return the columns that keep ids in one piece, within reason."""
    return min(28, max(map(len, refs), default=0))
