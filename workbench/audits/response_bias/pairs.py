"""Tables of two models, or of two ways in which one was asked: changes compared over questions, samples and exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from workbench.audits.by_persona import WithPersona
from workbench.audits.by_persona import columns as of_persona
from workbench.audits.response_bias import columns as columns
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.compare import MeansCompared, Row, SamplingAgreement
from workbench.audits.response_bias.names import Place, kind_name, subject_of
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.multiple_tests import benjamini_hochberg, holm

OfRow = TypeVar("OfRow")
DEFINITION = "Differences of mean changes, paired over the questions that count in both."


def compared(found: Changes, first: str, second: str) -> Table[Row]:
    """Return the second report minus the first, bias by bias, paired over questions (table 11)."""
    rows = found.compared(first, second).rows
    return Table(
        "compared",
        f"{second} minus {first}",
        rows,
        [
            Column("bias", "bias", lambda row: kind_name(row.bias, row.variant), words=found.words),
            Column("first", first, lambda row: columns.change(row.first), Kind.POINTS, short="first"),
            Column("second", second, lambda row: columns.change(row.second), Kind.POINTS, short="second"),
            *_paired(found, rows, lambda row: row),
        ],
        key=lambda row: (kind_name(row.bias, row.variant),),
        definition=DEFINITION,
        notes=_turned(rows),
        empty="No bias was asked in both.",
        link=_link,
        subject=(first, second),
    )


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """What a persona makes of one bias of a model: asked without it first, with it second."""

    runs: WithPersona
    found: Row


def by_persona(found: Changes) -> Table[PersonaRow]:
    """Return each bias with a persona and without one, and the difference."""
    rows = [PersonaRow(one, row) for one in found.personas for row in found.compared(one.baseline, one.name).rows]
    return Table(
        "personas",
        "Biases by persona",
        rows,
        [
            *of_persona(lambda row: row.runs),
            Column("bias", "bias", lambda row: kind_name(row.found.bias, row.found.variant), words=found.words),
            Column("with", "with it", lambda row: columns.change(row.found.second), Kind.POINTS, aside=True),
            Column("without", "without", lambda row: columns.change(row.found.first), Kind.POINTS, aside=True),
            *_paired(found, rows, lambda row: row.found, brief=True),
        ],
        key=lambda row: (row.runs.name, kind_name(row.found.bias, row.found.variant)),
        definition=f"{DEFINITION} The first is the run without a persona, the second the run with it. A persona moves "
        "a bias where the interval of the difference leaves out 0.",
        notes=_turned([row.found for row in rows]),
        empty="No bias was asked with a persona and without one.",
        link=lambda row: _link(row.found),
    )


def _paired(
    found: Changes, rows: Sequence[OfRow], of: Callable[[OfRow], Row], *, brief: bool = False
) -> list[Column[OfRow]]:
    """Return the columns of a difference, with p adjusted over the rows of the table. `brief`: in a table that has
    other columns besides, tests and correlations stand aside.
    """
    p = [of(row).change.p for row in rows]
    adjusted = dict(zip((id(of(row)) for row in rows), zip(holm(p), benjamini_hochberg(p), strict=True), strict=True))
    return [
        Column("n", "n", lambda row: of(row).change.n, Kind.COUNT, help="questions that count in both"),
        Column("change", "difference", lambda row: columns.change(of(row).change), Kind.POINTS,
               scale=columns.reach(found), reference=columns.zero),
        *columns.t_test(lambda row: of(row).change, aside=brief),
        Column("holm", "p, Holm", lambda row: float(adjusted[id(of(row))][0]), Kind.P_VALUE,
               help="p of the difference, adjusted over the biases of the table"),
        Column("false_discovery", "p, BH", lambda row: float(adjusted[id(of(row))][1]), Kind.P_VALUE, aside=True,
               help="the same by Benjamini and Hochberg"),
        *columns.correlation(lambda row: of(row).questions, "of the two changes, over questions", aside=brief),
        Column("turned", "turned", lambda row: of(row).turned, Kind.MARK, mark="⇄"),
        Column("left_out_first", "only in the first", lambda row: of(row).left_out[0], Kind.COUNT, aside=True,
               help="questions that count only in the first"),
        Column("left_out_second", "only in the second", lambda row: of(row).left_out[1], Kind.COUNT, aside=True,
               help="questions that count only in the second"),
        Column("first_effect", "first side", lambda row: of(row).effects[0], Kind.BALANCE, aside=True,
               help="significantly above 0: +1, below: -1; by unadjusted p"),
        Column("second_effect", "second side", lambda row: of(row).effects[1], Kind.BALANCE, aside=True),
        *columns.t_test(lambda row: of(row).first, "first_", aside=True),
        *columns.t_test(lambda row: of(row).second, "second_", aside=True),
    ]  # fmt: skip


def _turned(rows: Sequence[Row]) -> list[str]:
    return ["⇄ significant in both, in opposite directions"] * any(row.turned for row in rows)


def _link(row: Row) -> Link:
    return Link("place", (kind_name(row.bias, row.variant), "bias"))


def compared_means(found: Changes, first: str, second: str) -> Table[MeansCompared]:
    """Return the second report minus the first over all biases."""
    return Table(
        "compared_means",
        f"{second} minus {first}, over all biases",
        [found.compared(first, second).means],
        [
            Column("change", "mean difference", lambda row: row.change / 100, Kind.POINTS),
            Column("change_of_size", "of the sizes", lambda row: row.change_of_size / 100, Kind.POINTS),
            *columns.correlation(lambda row: row.correlation, "of the mean changes, over biases"),
        ],
        key=lambda _: (first, second),
        subject=(first, second),
    )


def sampling(found: Changes, first: str, second: str) -> Table[tuple[Place, SamplingAgreement]]:
    """Return whether one report's samples are what the other's exact probabilities lead one to expect."""
    rows = tuple(found.sampling(first, second).items())
    return Table(
        "sampling",
        "Samples against exact probabilities",
        rows,
        [
            *columns.places(found, lambda row: row[0]),
            Column("n", "n", lambda row: row[1].n, Kind.COUNT, help="questions that count in both"),
            Column("sampled", "sampled", lambda row: row[1].sampled / 100, Kind.POINTS),
            Column("exact", "exact", lambda row: row[1].exact / 100, Kind.POINTS),
            Column("error", "error", lambda row: row[1].error / 100, Kind.SIZE,
                   help="standard error of the mean of the sampled changes, from sampling alone"),
            Column("z", "z", lambda row: row[1].z, Kind.SCORE, help="difference in units of its standard error"),
            Column("p", "p", lambda row: row[1].p, Kind.P_VALUE, help="of no difference, two-sided"),
            Column("mean_square", "mean square", lambda row: row[1].mean_square, Kind.COEFFICIENT,
                   help="of single questions' differences in units of their errors; near 1 if sampling explains them"),
        ],
        key=lambda row: subject_of(row[0]),
        definition="Whether sampled changes differ from exact ones by more than the error of sampling.",
        empty="This table compares samples with exact probabilities: one run must be sampled, the other exact.",
        subject=(first, second),
    )  # fmt: skip
