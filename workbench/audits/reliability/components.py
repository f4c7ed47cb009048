"""Sources of instability: the variance components of a run's shares of agreement.

They are over all statements and by policy issue. Stances on wordings that negate are turned round
first, by the relation of each wording. Wordings without an expected stance are excluded. The label
order and the model are fixed. Prompts with too few readable answers are excluded. Of prompts that
read alike only one counts: two of them cannot differ, so they would hide the effects of wordings
and orders. If void tests are judged like the others, as published, all prompts count.
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
from workbench.errors import UnknownName
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
class IssueDecomposition:
    """The components of all statements, or of those of a policy issue."""

    issue: str
    "empty: all statements"
    of: Decomposition
    answer: float
    "variance of a single answer of one prompt, p (1 - p), on average; NaN if no prompt counts"
    readable: float
    "readable answers of a prompt that counts, on average; 0 if probabilities are exact"
    turning: Estimate
    """share of agreement with statements as they are minus that with statements turned round, after
    turning"""
    until_settled: bool = False
    "whether prompts were asked only until their verdict was settled"


def decomposed(
    report: ReliabilityReport, statements: Mapping[str, Statement]
) -> tuple[IssueDecomposition, ...]:
    """Return the components of all statements, then of those labelled with each policy issue."""
    all_cells = cells(report)
    refs = report.counts.statements
    labels = {ref: statements[ref].issues for ref in refs if ref in statements}
    issues = sorted(
        {
            issue
            for labels_of_statement in labels.values()
            for issue, label in labels_of_statement.items()
            if label
        }
    )
    rows_by_issue = {"": np.arange(len(refs))} | {
        issue: np.array([row for row, ref in enumerate(refs) if labels.get(ref, {}).get(issue)])
        for issue in issues
    }
    return tuple(
        _decompose_rows(report, all_cells, issue, rows) for issue, rows in rows_by_issue.items()
    )


def cells(report: ReliabilityReport) -> Cells:
    """Return the shares of agreement that count, turned round, and their sampling variance."""
    counts = report.counts
    signs = counts.signs[:, :, None, None]
    leaning, readable = (
        _by_statement(array) for array in (report.leaning, counts.readable.astype(np.float64))
    )
    exact = isinstance(report, ExactReport)
    usable = _by_statement(report.has_stance_data) & (signs != 0) & (exact | (readable > 1))
    if not report.options.judge_void:
        usable &= ~_repeated(report)
    value = np.where(usable, np.where(signs < 0, 1 - leaning, leaning), np.nan)
    noise = np.zeros_like(value) if exact else value * (1 - value) / np.maximum(readable - 1, 1)
    return Cells(value, noise)


def _by_statement(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return an array of the shape (T, S, V, 2) as (S, V, T, 2)."""
    return np.moveaxis(values, 0, 2)


def _repeated(report: ReliabilityReport) -> BoolArray:
    """Return whether a prompt is blank, or reads like an earlier one: (S, V, T, 2).

    The earlier one is a prompt of the same statement.
    """
    counts = report.counts
    is_repeated = np.zeros(_by_statement(counts.positive).shape, dtype=np.bool_)
    if counts.blank is not None:
        is_repeated |= counts.blank[:, :, None, None]
    if counts.prompts is None:
        return is_repeated
    prompts = _by_statement(counts.prompts)
    is_usable = _by_statement(report.has_stance_data)
    for numbers, usable, statement_repeated in zip(prompts, is_usable, is_repeated, strict=True):
        flat_numbers, flat_repeated = (
            np.where(usable, numbers, -1).ravel(),
            statement_repeated.reshape(-1),
        )
        first = np.unique(flat_numbers, return_index=True)[1]
        is_later = flat_numbers >= 0
        is_later[first] = False
        flat_repeated |= is_later
    return is_repeated


def _decompose_rows(
    report: ReliabilityReport, cells: Cells, issue: str, rows: IntArray
) -> IssueDecomposition:
    """Return the variance components of the statements in some rows, such as those of an issue."""
    issue_cells = cells.of(rows)
    is_known = issue_cells.known
    exact = isinstance(report, ExactReport)
    readable = _by_statement(report.counts.readable)[rows][is_known]
    p = issue_cells.value[is_known]
    answer_variances = (
        p * (1 - p) if exact else p * (1 - p) * readable / np.maximum(readable - 1, 1)
    )
    return IssueDecomposition(
        issue,
        decompose(issue_cells),
        float(answer_variances.mean()) if is_known.any() else float("nan"),
        0.0 if exact or not is_known.any() else float(readable.mean()),
        _effect_of_reversal(issue_cells, report.counts.signs[rows]),
        report.counts.until_settled is not None,
    )


def _effect_of_reversal(cells: Cells, signs: Signs) -> Estimate:
    """Return the mean difference between original and reversed wordings in the share of agreement.

    The mean is over statements and templates.
    """
    sides = []
    for sign in (1, -1):
        has_sign = cells.known & (signs == sign)[:, :, None, None]
        n_prompts = has_sign.sum(axis=(1, 3))
        sides.append(
            np.where(has_sign, cells.value, 0.0).sum(axis=(1, 3))
            / np.where(n_prompts > 0, n_prompts, np.nan)
        )
    if not (signs == -1).any():
        return Estimate(float("nan"), float("nan"), float("nan"), 0, 0, "no wording is reversed")
    has_both = np.isfinite(sides[0] - sides[1]).any(axis=0)
    return crossed_mean((sides[0] - sides[1])[:, has_both])


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
    "what its statement, wording (of that statement), template, label order and their interactions "
    "add, plus sampling. Each has a variance; its square root is in percentage points. The label "
    "order and the model are fixed; the other levels are means over both orders. Variances come "
    "from half the mean squared differences of prompts that share some of these, less sampling, p "
    "(1 - p) / n (Koch 1968; the analysis of variance where no prompt is missing: Searle, Casella "
    "and McCulloch 1992; Brennan 2001). Intervals leave out statements and templates in turn; "
    "those of template and order × template come from the few degrees of freedom of templates "
    "(Williams 1962)."
)
METHODS = (
    "Variance components of the shares of agreement were estimated on the probability scale, after "
    "stances on negations and opposites were turned round, for statements (random), wordings "
    "(random, within statements), templates (random, crossed with both) and label order (fixed, "
    "two levels, with its interactions): p[s,w,t,o] = mean + s + w(s) + t + s×t + w×t(s) + o + o×s "
    "+ o×w(s) + o×t + rest. Half the mean squared difference of two prompts is the sum of the "
    "components that they do not share (Koch 1968); these are the estimators of the analysis of "
    "variance where no prompt is missing (Searle, Casella and McCulloch 1992, chapter 4). "
    "Sampling, p(1 - p)/n, is removed from each square by its unbiased estimate y(1 - y)/(n - 1). "
    "Negative estimates are shown as 0. The 95 % intervals of the components of statement, "
    "wording, sampling and interactions reach from v - t s to v exp(t s/v), or v + t s where v < "
    "s, with the variance s² of v from the jackknife over statements plus that over templates and "
    "Satterthwaite's degrees of freedom; those of template and order × template are Williams' "
    f"(1962), with 0.5 % left out above. With fewer than {FEWEST_STATEMENTS} statements or "
    f"{FEWEST_TEMPLATES} templates there is no interval."
)


@dataclass(frozen=True, slots=True)
class IssueComponent:
    """One component of all statements, or of those of an issue."""

    component: Component
    share: float
    "share of the variance of one prompt's measured share"


def components(every: Sequence[IssueDecomposition], issue: str = "") -> Table[IssueComponent]:
    """Return the table of the components of all statements, or of those of a policy issue."""
    parts = next((candidate for candidate in every if candidate.issue == issue), None)
    if parts is None:
        available = ", ".join(filter(None, (candidate.issue for candidate in every))) or "none"
        raise UnknownName(f"there is no policy issue {issue!r} here. Available: {available}")
    total = parts.of.total
    lines = [
        IssueComponent(component, component.value / total if total > 0 else float("nan"))
        for component in parts.of.components
    ]
    issue_text = f": {issue.replace('_', ' ')}" if issue else ""
    return Table(
        "components",
        f"Sources of instability{issue_text}",
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
        notes=list(_component_notes(parts)),
        empty="No prompt has enough readable answers, so the components cannot be separated.",
        detail=lambda row: [MEANS[row.component.name]],
        subject=(issue,) if issue else (),
        pictures=[Forest(values=["sd"], rows=["component"])],
    )


def _component_notes(parts: IssueDecomposition) -> Iterator[str]:
    """Yield the notes on the prompts behind the components, and on missing intervals."""
    decomposition = parts.of
    orders = "both label orders" if decomposition.orders > 1 else "one label order"
    yield (
        f"{plural(decomposition.statements, 'statement')}, {decomposition.wordings:.1f} wordings "
        f"each, {plural(decomposition.templates, 'template')}, {orders}: "
        f"{plural(decomposition.prompts, 'prompt')} with enough readable answers"
    )
    if parts.readable:
        yield (
            f"sampling: of a share of {parts.readable:.1f} readable answers on average; a single "
            f"answer has an sd of {100 * max(parts.answer, 0) ** 0.5:.1f} points"
        )
    if parts.until_settled:
        yield OF_THOSE_DRAWN
    yield from beyond(
        (TITLES.get(component.name, component.name), component)
        for component in decomposition.components
    )
    if without_interval := [
        TITLES.get(component.name, component.name)
        for component in decomposition.components
        if component.why == FEW
    ]:
        names = (
            "all components"
            if len(without_interval) > 1
            and all(np.isnan(component.low) for component in decomposition.components)
            else ", ".join(without_interval)
        )
        yield f"{FEW}: {names} ({_needed(parts)})"
    yield from dict.fromkeys(
        component.why for component in decomposition.components if component.why.startswith(ALIKE)
    )
    if single_levels := list(_one_level(parts)):
        yield f"{' and '.join(single_levels)}: the statement's component includes these"


def _needed(parts: IssueDecomposition) -> str:
    """Return a phrase on the statements and templates that intervals need."""
    requirements = []
    if parts.of.statements < FEWEST_STATEMENTS:
        requirements.append(f"{parts.of.statements} statements; {FEWEST_STATEMENTS} are needed")
    if 1 < parts.of.templates < FEWEST_TEMPLATES:
        requirements.append(f"{parts.of.templates} templates; {FEWEST_TEMPLATES} are needed")
    return (
        ", ".join(requirements)
        or "some cannot be estimated when a statement or a template is left out"
    )


def _one_level(parts: IssueDecomposition) -> Iterator[str]:
    """Yield the factors that have one level."""
    if parts.of.wordings <= 1:
        yield "one wording per statement"
    if parts.of.templates <= 1:
        yield "one template"


def by_issue(every: Sequence[IssueDecomposition]) -> Table[IssueDecomposition]:
    """Return the table of the main components by policy issue, below those of all statements."""

    def sd(*names: str) -> Callable[[IssueDecomposition], Estimate | None]:
        return lambda row: _added(row, names)

    return Table(
        "components_by_issue",
        "Sources of instability, by policy issue",
        [issue_parts for issue_parts in every if issue_parts.of.prompts],
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
            f"{FEW}, and so where the answers of minorities are worth fewer than "
            f"{LEAST_AGAINST:g} statements; a sum of several components, as of the order, has none",
            *[OF_THOSE_DRAWN] * any(issue_parts.until_settled for issue_parts in every),
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
    """Return the help of a column of standard deviations."""
    return f"sd: {MEANS[name]}"


def _added(row: IssueDecomposition, names: Sequence[str]) -> Estimate | None:
    """Return the standard deviation of the sum of some components, or None without any."""
    available = [component for name in names if (component := row.of.component(name)) is not None]
    if len(available) < 2:
        return available[0].sd if available else None
    nan = float("nan")
    return Estimate(
        sum(component.value for component in available) ** 0.5, nan, nan, row.of.statements
    )


@dataclass(frozen=True, slots=True)
class Shift:
    """A fixed difference between two kinds of prompts."""

    issue: str
    name: str
    value: Estimate
    means: str


def shifts(every: Sequence[IssueDecomposition]) -> Table[Shift]:
    """Return the table of the effects common to all prompts: label order and turning."""
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
        notes=[OF_THOSE_DRAWN] * any(issue_parts.until_settled for issue_parts in every),
        minor=lambda row: bool(row.issue),
        pictures=[Forest(values=["points"], rows=["shift", "issue"])],
    )
