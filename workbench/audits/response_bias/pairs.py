"""Tables of two models, or of two ways in which one was asked: changes compared over questions, samples and exact."""

from __future__ import annotations

from workbench.audits.response_bias import columns as columns
from workbench.audits.response_bias.compare import MeansCompared, Row, SamplingAgreement
from workbench.audits.response_bias.findings import Findings
from workbench.audits.response_bias.names import Place, kind_name, subject_of
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.multiple_tests import benjamini_hochberg, holm


def compared(found: Findings, first: str, second: str) -> Table[Row]:
    """Return the second report minus the first, bias by bias, paired over questions (table 11)."""
    rows = found.source.compared(first, second).rows
    p = [row.change.p for row in rows]
    adjusted = dict(zip(map(id, rows), zip(holm(p), benjamini_hochberg(p), strict=True), strict=True))
    return Table(
        "compared",
        f"{second} minus {first}",
        rows,
        [
            Column("bias", "bias", lambda row: kind_name(row.bias, row.variant), words=found.words),
            Column("first", first, lambda row: columns.change(row.first), Kind.POINTS, short="first"),
            Column("second", second, lambda row: columns.change(row.second), Kind.POINTS, short="second"),
            Column("n", "n", lambda row: row.change.n, Kind.COUNT, help="questions that count in both"),
            Column("change", "difference", lambda row: columns.change(row.change), Kind.POINTS,
                   scale=columns.reach(found), reference=columns.zero),
            *columns.t_test(lambda row: row.change),
            Column("holm", "p, Holm", lambda row: float(adjusted[id(row)][0]), Kind.P_VALUE,
                   help="p of the difference, adjusted over the biases of the table"),
            Column("false_discovery", "p, BH", lambda row: float(adjusted[id(row)][1]), Kind.P_VALUE, aside=True,
                   help="the same by Benjamini and Hochberg"),
            *columns.correlation(lambda row: row.questions, "of the two changes, over questions"),
            Column("turned", "turned", lambda row: row.turned, Kind.MARK, mark="⇄"),
            Column("left_out_first", "only in the first", lambda row: row.left_out[0], Kind.COUNT, aside=True,
                   help="questions that count only in the first"),
            Column("left_out_second", "only in the second", lambda row: row.left_out[1], Kind.COUNT, aside=True,
                   help="questions that count only in the second"),
            Column("first_effect", "first side", lambda row: row.effects[0], Kind.BALANCE, aside=True,
                   help="significantly above 0: +1, below: -1; by unadjusted p"),
            Column("second_effect", "second side", lambda row: row.effects[1], Kind.BALANCE, aside=True),
            *columns.t_test(lambda row: row.first, "first_", aside=True),
            *columns.t_test(lambda row: row.second, "second_", aside=True),
        ],
        key=lambda row: (kind_name(row.bias, row.variant),),
        definition="Differences of mean changes, paired over the questions that count in both.",
        notes=["⇄ significant in both, in opposite directions"] * any(row.turned for row in rows),
        empty="No bias was asked in both.",
        link=lambda row: Link("place", (kind_name(row.bias, row.variant), "bias")),
        subject=(first, second),
    )  # fmt: skip


def compared_means(found: Findings, first: str, second: str) -> Table[MeansCompared]:
    """Return the second report minus the first over all biases."""
    return Table(
        "compared_means",
        f"{second} minus {first}, over all biases",
        [found.source.compared(first, second).means],
        [
            Column("change", "mean difference", lambda row: row.change / 100, Kind.POINTS),
            Column("change_of_size", "of the sizes", lambda row: row.change_of_size / 100, Kind.POINTS),
            *columns.correlation(lambda row: row.correlation, "of the mean changes, over biases"),
        ],
        key=lambda _: (first, second),
        subject=(first, second),
    )


def sampling(found: Findings, first: str, second: str) -> Table[tuple[Place, SamplingAgreement]]:
    """Return whether one report's samples are what the other's exact probabilities lead one to expect."""
    rows = tuple(found.source.sampling(first, second).items())
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
            Column("z", "z", lambda row: row[1].z, Kind.SCORE),
            Column("p", "p", lambda row: row[1].p, Kind.P_VALUE),
            Column("mean_square", "mean square", lambda row: row[1].mean_square, Kind.COEFFICIENT,
                   help="of single questions' differences in units of their errors; near 1 if sampling explains them"),
        ],
        key=lambda row: subject_of(row[0]),
        definition="Whether sampled changes differ from exact ones by more than the error of sampling.",
        empty="This table compares samples with exact probabilities: one run must be sampled, the other exact.",
        subject=(first, second),
    )  # fmt: skip
