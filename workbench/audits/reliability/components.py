"""Where instability comes from: the variance components of a run's shares of agreement, over all
and by policy issue.

Stances on wordings that negate are turned round first, by the relation of each wording. Wordings
without an expected stance take no part. The label order and the model are fixed. Prompts with too
few readable answers take no part, and of prompts that read alike one does: two of them cannot
differ, so they would hide what wordings and orders do. Where tests that cannot fail are judged like
the others, as published, all prompts take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport, Signs
from workbench.domain.names import plural
from workbench.domain.statements import Statement
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import OF_THOSE_DRAWN
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.arrays import BoolArray, IntArray
from workbench.stats.components import (
    ALIKE,
    FEW,
    FEWEST_STATEMENTS,
    FEWEST_TEMPLATES,
    LEAST_AGAINST,
    ORDER,
    ORDER_REST,
    ORDER_STATEMENT,
    ORDER_TEMPLATE,
    ORDER_WORDING,
    SAMPLING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WITH_ORDER,
    WORDING,
    WORDING_TEMPLATE,
    Cells,
    Component,
    Decomposition,
    beyond,
    crossed_mean,
    decompose,
)

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of all statements, or of those of a policy issue."""

    issue: str
    "empty: all statements"
    of: Decomposition
    answer: float
    "variance of a single answer of one prompt, p (1 - p), on average; NaN where nothing counts"
    readable: float
    "readable answers of a prompt that counts, on average; 0 where probabilities are exact"
    turning: Estimate
    """share of agreement with statements as they are minus that with statements turned round, after
    turning"""
    until_settled: bool = False
    "whether prompts were asked only until their verdict was settled"


def decomposed(report: ReliabilityReport, statements: Mapping[str, Statement]) -> tuple[Parts, ...]:
    """Return the components of all statements, then of those labelled with each policy issue."""
    whole = cells(report)
    refs = report.counts.statements
    labels = {ref: statements[ref].issues for ref in refs if ref in statements}
    issues = sorted({issue for of in labels.values() for issue, label in of.items() if label})
    chosen = {"": np.arange(len(refs))} | {
        issue: np.array([at for at, ref in enumerate(refs) if labels.get(ref, {}).get(issue)])
        for issue in issues
    }
    return tuple(_parts(report, whole, issue, at) for issue, at in chosen.items())


def cells(report: ReliabilityReport) -> Cells:
    """Return the shares of agreement that count, turned round, and the variance that sampling gives
    them.
    """
    counts = report.counts
    signs = counts.signs[:, :, None, None]
    leaning, readable = (
        _by_statement(each) for each in (report.leaning, counts.readable.astype(np.float64))
    )
    exact = isinstance(report, ExactReport)
    usable = _by_statement(report.enough) & (signs != 0) & (exact | (readable > 1))
    if not report.options.judge_void:
        usable &= ~_repeated(report)
    value = np.where(usable, np.where(signs < 0, 1 - leaning, leaning), np.nan)
    noise = np.zeros_like(value) if exact else value * (1 - value) / np.maximum(readable - 1, 1)
    return Cells(value, noise)


def _by_statement(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return (T, S, V, 2) as (S, V, T, 2)."""
    return np.moveaxis(values, 0, 2)


def _repeated(report: ReliabilityReport) -> BoolArray:
    """Return which prompts read like an earlier one of their statement, or have a blank wording:
    (S, V, T, 2).
    """
    counts = report.counts
    found = np.zeros(_by_statement(counts.positive).shape, dtype=np.bool_)
    if counts.blank is not None:
        found |= counts.blank[:, :, None, None]
    if counts.prompts is None:
        return found
    prompts = _by_statement(counts.prompts)
    counted = _by_statement(report.enough)
    for numbers, there, repeated in zip(prompts, counted, found, strict=True):
        flat, of = np.where(there, numbers, -1).ravel(), repeated.reshape(-1)
        first = np.unique(flat, return_index=True)[1]
        again = flat >= 0
        again[first] = False
        of |= again
    return found


def _parts(report: ReliabilityReport, whole: Cells, issue: str, at: IntArray) -> Parts:
    of = whole.of(at)
    known = of.known
    exact = isinstance(report, ExactReport)
    readable = _by_statement(report.counts.readable)[at][known]
    p = of.value[known]
    single = p * (1 - p) if exact else p * (1 - p) * readable / np.maximum(readable - 1, 1)
    return Parts(
        issue,
        decompose(of),
        float(single.mean()) if known.any() else float("nan"),
        0.0 if exact or not known.any() else float(readable.mean()),
        _turning(of, report.counts.signs[at]),
        report.counts.until_settled is not None,
    )


def _turning(of: Cells, signs: Signs) -> Estimate:
    """Return by how much wordings as they are exceed those turned round, mean over statements and
    templates.
    """
    sides = []
    for sign in (1, -1):
        there = of.known & (signs == sign)[:, :, None, None]
        n = there.sum(axis=(1, 3))
        sides.append(np.where(there, of.value, 0.0).sum(axis=(1, 3)) / np.where(n > 0, n, np.nan))
    if not (signs == -1).any():
        return Estimate(float("nan"), float("nan"), float("nan"), 0, 0, "no wording is reversed")
    used = np.isfinite(sides[0] - sides[1]).any(axis=0)
    return crossed_mean((sides[0] - sides[1])[:, used])


TITLES = {
    STATEMENT_TEMPLATE: "statement × template",
    WORDING_TEMPLATE: "wording × template",
    ORDER_STATEMENT: "order × statement",
    ORDER_WORDING: "order × wording",
    ORDER_TEMPLATE: "order × template",
    ORDER_REST: "order × all else",
}
MEANS = {
    STATEMENT: "spread between the mean shares of statements: what the audit measures",
    WORDING: "spread between the wordings of a statement, common to all templates",
    TEMPLATE: "spread between templates, common to all statements",
    STATEMENT_TEMPLATE: "spread of a template's effect over statements",
    WORDING_TEMPLATE: "spread of a template's effect over wordings, and everything else specific "
    "to a prompt",
    ORDER: "half the difference between the two label orders, common to all prompts; squared",
    ORDER_STATEMENT: "variation of half that difference between statements",
    ORDER_WORDING: "its variation between the wordings of a statement",
    ORDER_TEMPLATE: "its variation between templates",
    ORDER_REST: "its remaining variation between prompts",
    SAMPLING: "spread of a prompt's share if it were asked again: p (1 - p) / n for n readable "
    "answers",
}
DEFINITION = (
    "The share of agreement of a prompt, with negations and opposites reversed, is a mean plus "
    "what its "
    "statement, wording (of that statement), template, label order and their interactions add, "
    "plus sampling. "
    "Each has a variance; its square root is in percentage points. The label order and the model "
    "are fixed; the other "
    "levels are means over both orders. Variances come from half the mean squared differences of "
    "prompts that "
    "share some of these, less sampling, p (1 - p) / n (Koch 1968; the analysis of variance "
    "where no prompt is "
    "missing: Searle, Casella and McCulloch 1992; Brennan 2001). Intervals leave out statements "
    "and templates in "
    "turn; those of template and order × template come from the few degrees of freedom of "
    "templates (Williams "
    "1962)."
)
METHODS = (
    "Variance components of the shares of agreement were estimated on the probability scale, "
    "after stances on "
    "negations and opposites were turned round, for statements (random), wordings (random, "
    "within statements), "
    "templates (random, crossed with both) and label order (fixed, two levels, with its "
    "interactions): p[s,w,t,o] "
    "= mean + s + w(s) + t + s×t + w×t(s) + o + o×s + o×w(s) + o×t + rest. Half the mean squared "
    "difference of "
    "two prompts is the sum of the components that they do not share (Koch 1968); these are the "
    "estimators of the "
    "analysis of variance where no prompt is missing (Searle, Casella and McCulloch 1992, "
    "chapter 4). Sampling, "
    "p(1 - p)/n, is removed from each square by its unbiased estimate y(1 - y)/(n - 1). Negative "
    "estimates are "
    "shown as 0. The 95 % intervals of the components of statement, wording, sampling and "
    "interactions reach from "
    "v - t s to v exp(t s/v), or v + t s where v < s, with the variance s² of v from the "
    "jackknife over "
    "statements plus that over templates and Satterthwaite's degrees of freedom; those of "
    "template and order × "
    "template are Williams' (1962), with 0.5 % left out above. With fewer than "
    f"{FEWEST_STATEMENTS} statements or "
    f"{FEWEST_TEMPLATES} templates there is no interval."
)


@dataclass(frozen=True, slots=True)
class IssueComponent:
    """One component of all statements, or of those of an issue."""

    component: Component
    share: float
    "of the variance of one prompt's measured share"


def components(every: Sequence[Parts], issue: str = "") -> Table[IssueComponent]:
    """Return the components of all statements, or of those of a policy issue."""
    parts = next(one for one in every if one.issue == issue)
    total = parts.of.total
    lines = [
        IssueComponent(one, one.value / total if total > 0 else float("nan"))
        for one in parts.of.components
    ]
    about = f": {issue.replace('_', ' ')}" if issue else ""
    return Table(
        "components",
        f"Sources of instability{about}",
        lines if parts.of.prompts else [],
        [
            Column("component", "component", lambda row: row.component.name, words=TITLES),
            Column(
                "sd",
                "sd",
                lambda row: row.component.sd,
                Kind.SIZE,
                help="square root of the variance that it adds to the share of a prompt, with a "
                "95 % interval",
                scale=(0.0, 0.5),
            ),
            Column(
                "share",
                "of the variance",
                lambda row: row.share,
                Kind.SHARE,
                help="of one prompt's measured share; components below 0 count as 0",
                scale=(0.0, 1.0),
            ),
            Column(
                "variance",
                "variance",
                lambda row: row.component.raw,
                Kind.PART,
                help="unbiased estimate; below 0 if the component is too small to distinguish "
                "from none",
                aside=True,
            ),
            Column("variance_low", "from", lambda row: row.component.low, Kind.PART, aside=True),
            Column("variance_high", "to", lambda row: row.component.high, Kind.PART, aside=True),
            Column("why", "no interval", lambda row: row.component.why or None, aside=True),
        ],
        key=lambda row: (row.component.name,),
        definition=DEFINITION,
        notes=list(_notes(parts)),
        empty="No prompt has enough readable answers, so the components cannot be separated.",
        detail=lambda row: [MEANS[row.component.name]],
        subject=(issue,) if issue else (),
        pictures=[Forest(values=["sd"], rows=["component"])],
    )


def _notes(parts: Parts) -> Iterator[str]:
    of = parts.of
    orders = "both label orders" if of.orders > 1 else "one label order"
    yield (
        f"{plural(of.statements, 'statement')}, {of.wordings:.1f} wordings each, "
        f"{plural(of.templates, 'template')}, "
        f"{orders}: {plural(of.prompts, 'prompt')} with enough readable answers"
    )
    if parts.readable:
        yield (
            f"sampling: of a share of {parts.readable:.1f} readable answers on average; a single "
            "answer has an sd of "
            f"{100 * max(parts.answer, 0) ** 0.5:.1f} points"
        )
    if parts.until_settled:
        yield OF_THOSE_DRAWN
    yield from beyond((TITLES.get(one.name, one.name), one) for one in of.components)
    if few := [TITLES.get(one.name, one.name) for one in of.components if one.why == FEW]:
        which = (
            "all components"
            if len(few) > 1 and all(np.isnan(one.low) for one in of.components)
            else ", ".join(few)
        )
        yield f"{FEW}: {which} ({_needed(parts)})"
    yield from dict.fromkeys(one.why for one in of.components if one.why.startswith(ALIKE))
    if one_level := list(_one_level(parts)):
        yield f"{' and '.join(one_level)}: the statement's component includes these"


def _needed(parts: Parts) -> str:
    wants = []
    if parts.of.statements < FEWEST_STATEMENTS:
        wants.append(f"{parts.of.statements} statements; {FEWEST_STATEMENTS} are needed")
    if 1 < parts.of.templates < FEWEST_TEMPLATES:
        wants.append(f"{parts.of.templates} templates; {FEWEST_TEMPLATES} are needed")
    return ", ".join(wants) or "some cannot be estimated when a statement or a template is left out"


def _one_level(parts: Parts) -> Iterator[str]:
    if parts.of.wordings <= 1:
        yield "one wording per statement"
    if parts.of.templates <= 1:
        yield "one template"


def by_issue(every: Sequence[Parts]) -> Table[Parts]:
    """Return the main components of the statements of each policy issue, below those of all
    statements.
    """

    def sd(*names: str) -> Callable[[Parts], Estimate | None]:
        return lambda row: _added(row, names)

    return Table(
        "components_by_issue",
        "Sources of instability, by policy issue",
        [one for one in every if one.of.prompts],
        [
            Column("issue", "issue", lambda row: row.issue.replace("_", " ") or "all statements"),
            Column(
                "statements", "statements", lambda row: row.of.statements, Kind.COUNT, short="n"
            ),
            Column(
                "statement",
                "statement",
                sd(STATEMENT),
                Kind.SIZE,
                help=_sd_of(STATEMENT),
                short="stmt",
            ),
            Column(
                "wording", "wording", sd(WORDING), Kind.SIZE, help=_sd_of(WORDING), short="word"
            ),
            Column(
                "template", "template", sd(TEMPLATE), Kind.SIZE, help=_sd_of(TEMPLATE), short="tmpl"
            ),
            Column(
                "interactions",
                "interactions of templates",
                sd(STATEMENT_TEMPLATE, WORDING_TEMPLATE),
                Kind.SIZE,
                help="sd of statement × template and wording × template together",
                aside=True,
            ),
            Column(
                "order",
                "order",
                sd(*WITH_ORDER),
                Kind.SIZE,
                help="sd of the label order and its interactions together",
                short="ord",
            ),
            Column(
                "sampling", "sampling", sd(SAMPLING), Kind.SIZE, help=_sd_of(SAMPLING), short="samp"
            ),
        ],
        key=lambda row: (row.issue,),
        definition="Standard deviations that statements, wordings, templates, label orders and "
        "sampling add to the "
        "share of a prompt, from the statements with a label of the issue; see sources of "
        "instability.",
        notes=[
            f"below {FEWEST_STATEMENTS} statements or {FEWEST_TEMPLATES} templates there are "
            f"{FEW}, and so where the "
            f"answers of minorities are worth fewer than {LEAST_AGAINST:g} statements; a sum of "
            "several components, as "
            "of the order, has none",
            *[OF_THOSE_DRAWN] * any(parts.until_settled for parts in every),
        ],
        empty="No prompt has enough readable answers, so the components cannot be separated.",
        link=lambda row: Link("components", (row.issue,) if row.issue else ()),
        pictures=[
            Forest(
                values=["statement", "wording", "template", "order", "sampling"],
                rows=["issue"],
                axis="standard deviation",
            )
        ],
    )


def _sd_of(name: str) -> str:
    return f"sd: {MEANS[name]}"


def _added(row: Parts, names: Sequence[str]) -> Estimate | None:
    there = [one for name in names if (one := row.of.component(name)) is not None]
    if len(there) < 2:
        return there[0].sd if there else None
    nan = float("nan")
    return Estimate(sum(one.value for one in there) ** 0.5, nan, nan, row.of.statements)


@dataclass(frozen=True, slots=True)
class Shift:
    """A fixed difference between two kinds of prompts."""

    issue: str
    name: str
    value: Estimate
    means: str


def shifts(every: Sequence[Parts]) -> Table[Shift]:
    """Return what moves all prompts alike: the label order, and that a wording is turned round."""
    rows = []
    for parts in every:
        if parts.of.prompts:
            rows.append(
                Shift(
                    parts.issue,
                    "label order",
                    parts.of.order_shift,
                    "labels swapped minus as printed",
                )
            )
            rows.append(
                Shift(parts.issue, "turned wordings", parts.turning, "as they are minus reversed")
            )
    return Table(
        "shifts",
        "Effects common to all prompts",
        rows,
        [
            Column("issue", "issue", lambda row: row.issue.replace("_", " ") or "all statements"),
            Column("shift", "shift", lambda row: row.name),
            Column(
                "points",
                "difference",
                lambda row: row.value,
                Kind.POINTS,
                help="of shares",
                scale=(-1.0, 1.0),
            ),
            Column("means", "of", lambda row: row.means),
        ],
        key=lambda row: (row.issue, row.name),
        definition="Differences between mean shares of agreement, reversed for reversed "
        "wordings. Wordings as they "
        "are get more agreement than reversed ones if a model agrees with any statement: half "
        "the difference is "
        "its acquiescence. The intervals are over statements and templates, with Satterthwaite's "
        "degrees of freedom.",
        empty="No prompt has enough readable answers.",
        notes=[OF_THOSE_DRAWN] * any(parts.until_settled for parts in every),
        minor=lambda row: bool(row.issue),
        pictures=[Forest(values=["points"], rows=["shift", "issue"])],
    )
