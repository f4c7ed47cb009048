"""Where the spread of a bias score comes from: variance components of statement, wording, prefix and sampling.

The unit is the net share of a prompt's answers for the right: agree minus disagree, of those that agree, disagree or
are neutral, with stances on political opposites turned round and the sign turned for statements of the left. The mean
of both sides is the bias; so the components are on its scale, from -1 to 1. The means of the two sides are fixed:
statements are compared within their side. The classifier's error is not taken out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.selection import Selection, pick
from workbench.audits.bias_score.tally import SIDES, swapped
from workbench.domain.names import plural
from workbench.domain.readings import STANCES, Stance
from workbench.domain.statements import Dimension, Side
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Table
from workbench.stats.components import (
    FEW,
    FEWEST_STATEMENTS,
    FEWEST_TEMPLATES,
    SAMPLING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
    Cells,
    Component,
    beyond,
    decompose,
)

TITLES = {TEMPLATE: "prefix", STATEMENT_TEMPLATE: "statement × prefix", WORDING_TEMPLATE: "wording × prefix"}
MEANS = {
    STATEMENT: "spread between the statements of one side",
    WORDING: "spread between the wordings of a statement, common to all prefixes",
    TEMPLATE: "spread between prefixes, common to all statements",
    STATEMENT_TEMPLATE: "spread of a prefix's effect over statements",
    WORDING_TEMPLATE: "spread of a prefix's effect over wordings, and everything else specific to a prompt",
    SAMPLING: "spread of a prompt's net share if it were asked again as often",
}
LARGEST = 1.0
"the variance of net shares that are -1 and 1 equally often"


@dataclass(frozen=True, slots=True)
class Line:
    """One component of a model."""

    model: str
    component: Component
    share: float
    "of the variance of one prompt's net share"


def cells(report: Report, model: str, dimension: Dimension | None) -> Cells:
    """Return the net share for the right of every prompt with two answers or more, and its sampling variance."""
    tally = report.tally
    chosen = pick(tally, model, Selection(dimension))
    read = swapped(np.asarray(tally.categories[chosen.model], dtype=np.int64))
    agree, disagree, neutral = (
        np.moveaxis(read[..., STANCES.index(stance)], 0, 2).astype(np.float64)
        for stance in (Stance.AGREE, Stance.DISAGREE, Stance.NEUTRAL)
    )
    n = agree + disagree + neutral
    there = np.moveaxis(chosen.cells, 0, 2) & (n > 1)
    count = np.where(there, n, np.nan)
    right = np.where(tally.side == SIDES.index(Side.RIGHT), 1.0, -1.0)[:, None, None]
    net = right * (agree - disagree) / count
    noise = ((agree + disagree) / count - net**2) / (count - 1)
    return Cells(net[..., None], noise[..., None], tally.side)


def components(report: Report, dimension: Dimension | None) -> Table[Line]:
    """Return what the net shares of each model vary with."""
    found = {model: decompose(cells(report, model, dimension), LARGEST) for model in report.tally.models}
    lines = [
        Line(model, one, one.value / of.total if of.total > 0 else float("nan"))
        for model, of in found.items()
        if of.prompts
        for one in of.components
    ]
    return Table(
        "components",
        "Sources of spread of the bias",
        lines,
        [
            Column("model", "model", lambda row: row.model),
            Column("component", "component", lambda row: row.component.name, words=TITLES),
            Column(
                "sd",
                "sd",
                lambda row: row.component.sd,
                Kind.COEFFICIENT,
                help="square root of the variance that it adds to the net share of a prompt, with a 95 % interval",
                scale=(0.0, 1.0),
            ),
            Column(
                "share",
                "of the variance",
                lambda row: row.share,
                Kind.SHARE,
                help="of one prompt's measured net share; components below 0 count as 0",
            ),
            Column(
                "variance",
                "variance",
                lambda row: row.component.raw,
                Kind.PART,
                help="unbiased estimate; below 0 if the component is too small to distinguish from none",
                aside=True,
            ),
            Column("variance_low", "from", lambda row: row.component.low, Kind.PART, aside=True),
            Column("variance_high", "to", lambda row: row.component.high, Kind.PART, aside=True),
            Column("why", "no interval", lambda row: row.component.why or None, aside=True),
        ],
        key=lambda row: (row.model, row.component.name),
        definition="The net share of a prompt's answers for the right (agree minus disagree, opposites "
        "reversed, the sign reversed for statements of the left) is the mean of its side plus what statement, "
        "wording, prefix and their interactions add, plus sampling. Variances come from half the mean squared "
        "differences between prompts of one side that share some of these, less sampling (Koch 1968; Searle, "
        "Casella and McCulloch 1992; Brennan 2001). Intervals leave out statements and prefixes in turn; that "
        "of the prefix uses its few degrees of freedom (Williams 1962).",
        notes=list(_notes(lines)),
        empty="No prompt has two answers that count, so the components cannot be separated.",
        detail=lambda row: [MEANS[row.component.name]],
        pictures=[Forest(values=["sd"], rows=["component"], series="model")],
    )


def _notes(lines: list[Line]) -> Iterator[str]:
    yield from beyond(
        (f"{line.model}: {TITLES.get(line.component.name, line.component.name)}", line.component) for line in lines
    )
    few = dict.fromkeys(line.model for line in lines if line.component.why == FEW)
    if few:
        needed = f"{plural(FEWEST_STATEMENTS, 'statement')} and {FEWEST_TEMPLATES} prefixes are needed"
        yield f"{FEW}: {', '.join(few)} ({needed})"
