"""Columns that several tables of response biases have. Changes are differences of shares, shown in points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.figures import Cell
from workbench.audits.response_bias.formula import lent_said
from workbench.audits.response_bias.names import CONDITIONS, Place, condition_name, kind_name
from workbench.domain.verdicts import Estimate
from workbench.figures.table import Column, Kind
from workbench.stats.correlation import Pearson
from workbench.stats.one_sample import MeanTest

Row = TypeVar("Row")
NAN = float("nan")
NO_QUESTION = "no question counts"
CONDITION_WORDS = {condition_name(condition): said for condition, said in CONDITIONS.items()}


def model(of: Callable[[Row], str]) -> Column[Row]:
    """Return the column of whoever answered: a model, with as much more as tells its ways of asking apart."""
    return Column("model", "model", of)


def places(found: Changes, of: Callable[[Row], Place]) -> tuple[Column[Row], Column[Row]]:
    """Return the columns of a bias, with the variant of its wording, and of the condition."""
    return (
        Column("bias", "bias", lambda row: kind_name(of(row)[0], of(row)[2]), words=found.words),
        Column(
            "condition",
            "condition",
            lambda row: condition_name(of(row)[1]),
            words=CONDITION_WORDS,
            help="bias: the changed form has the bias; otherwise the changed form is the original with typos",
        ),
    )


def change(test: MeanTest, left_out: int = 0, undefined: str = "") -> Estimate:
    """Return a mean change as a difference of shares, with its interval."""
    why = undefined or test.degenerate
    ends = test.low / 100, test.high / 100
    return Estimate(test.mean / 100, *ends, test.n, left_out, why if test.n == 0 else "", interval=named(test))


def named(test: MeanTest) -> str:
    """Return the name of the interval of a mean over questions; empty where there is none."""
    return "mean over questions" if test.tested else ""


def t_test(
    of: Callable[[Row], MeanTest], prefix: str = "", *, aside: bool = False, points: bool = True
) -> Iterator[Column[Row]]:
    """Yield the columns of a t-test.

    Parameters
    ----------
    prefix : of the keys, where a table has several tests
    points : the test is of percentage points
    """

    def sd(row: Row) -> float:
        return of(row).sd / (100 if points else 1)

    title = prefix.replace("_", " ")
    yield Column(
        f"{prefix}t",
        f"{title}t",
        lambda row: of(row).t,
        Kind.COEFFICIENT,
        aside=aside,
        help="of the test that the mean is 0",
    )
    yield Column(
        f"{prefix}df", f"{title}df", lambda row: of(row).df, Kind.COUNT, aside=aside, help="degrees of freedom"
    )
    yield Column(f"{prefix}p", f"{title}p", lambda row: of(row).p, Kind.P_VALUE, aside=aside, help="two-sided")
    yield Column(
        f"{prefix}sd",
        f"{title}sd",
        sd,
        Kind.SIZE if points else Kind.COEFFICIENT,
        aside=True,
        help="standard deviation over questions",
    )
    yield Column(f"{prefix}degenerate", f"{title}no test because", lambda row: of(row).degenerate, aside=True)


def correlation(of: Callable[[Row], Pearson], of_what: str, *, aside: bool = False) -> Iterator[Column[Row]]:
    """Yield the columns of a correlation with its test."""

    def r(row: Row) -> Estimate:
        found = of(row)
        return Estimate(found.r, NAN, NAN, found.n, undefined=found.undefined)

    yield Column("r", "r", r, Kind.COEFFICIENT, help=of_what, aside=aside)
    yield Column("r_p", "p of r", lambda row: of(row).p, Kind.P_VALUE, aside=aside)
    yield Column("r_t", "t of r", lambda row: of(row).t, Kind.COEFFICIENT, aside=True)
    yield Column("r_df", "df of r", lambda row: of(row).df, Kind.COUNT, aside=True)
    yield Column("r_untested", "no test of r because", lambda row: of(row).untested, aside=True)


def reach(found: Changes) -> tuple[float, float]:
    """Return the ends of the scale of pictures of changes: the next ten points behind the farthest interval."""
    tests = [cell.delta for _, cell in found.lines]
    ends = [abs(end) for each in tests for end in (each.mean, each.low, each.high) if not math.isnan(end)]
    limit = max(10, 10 * math.ceil(max(ends, default=10.0) / 10)) / 100
    return -limit, limit


def zero(_: Any) -> float:
    """Return the value that a picture of a change is compared with."""
    return 0.0


def cell_change(cell: Cell) -> Estimate:
    """Return the mean change of a cell with its interval."""
    return change(cell.delta, len(cell.deltas.left_out), NO_QUESTION)


def copied(found: Changes) -> list[str]:
    """Say which figures rest on another bias's answers; nothing where none do."""
    if not any(cell.copied for _, cell in found.lines):
        return []
    return [f"Opinion float under typos: {lent_said(found.options.definition)}."]
