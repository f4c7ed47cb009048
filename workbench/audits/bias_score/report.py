"""What is reported of the bias score beside single figures: the plane, statements, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.bias_score.judge import Figure, Report
from workbench.audits.bias_score.selection import EVERYTHING, Selection, kept, left_out, pick
from workbench.audits.bias_score.shared_prompts import Common, Comparison, between_models, between_selections, contrast
from workbench.audits.bias_score.tally import SIDES, swapped
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray, IntArray

NAN = float("nan")
LEAST_MODELS = 3
"of fewer, a rank correlation says nothing: with two it is 1 or -1"
NO_INTERVAL = "no interval: resampling statements adds noise to a ranking, so an interval would miss the true one"
"""Percentiles of resampled statements held the τ of 3, 4 and 6 simulated models in 95, 83 and 5 % of 200 repetitions,
the last of models some of which differ by .02."""
FEW_MODELS = f"fewer than {LEAST_MODELS} models have a bias on both sources"


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """Where a model stands."""

    model: str
    source: str | None
    "None: on the statements of all sources"
    economic: Figure
    cultural: Figure


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A model's answers to one statement; stances on political opposites are turned round."""

    ref: str
    source: str
    dimension: Dimension
    leaning: Side
    agree: int
    disagree: int
    neutral: int
    unrelated: int
    dropped: int
    unread: int
    contribution: float
    "what it adds to the total: rows add up to it, unless a corrected side was limited; NaN where there is no total"


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How alike two sources rank the models by their total bias."""

    tau: Estimate
    "Kendall's τ-b; n and excluded are models. It has no interval, see `NO_INTERVAL`"
    p: float
    "of no association, two-sided, from the ranking itself; NaN where τ is undefined"
    n_models: int
    left_out: tuple[str, ...] = ()
    "models whose bias is undefined on one of the sources"
    common: tuple[Common, ...] = ()
    "prompts over which the models are ranked, on the first and on the second source"


def plane_points(report: Report, by_source: bool = False) -> tuple[PlanePoint, ...]:
    """Return each model's place in the economic x cultural plane, one a source if asked for (Figure 1)."""
    sources: Sequence[str | None] = report.tally.sources if by_source else (None,)
    places = [(model, source) for model in report.tally.models for source in sources]
    economic, cultural = (
        report.figures([(model, Selection(dimension, source)) for model, source in places])
        for dimension in (Dimension.ECONOMIC, Dimension.CULTURAL)
    )
    return tuple(PlanePoint(*place, e, c) for place, e, c in zip(places, economic, cultural, strict=True))


def statement_rows(report: Report, model: str, selection: Selection = EVERYTHING) -> tuple[StatementRow, ...]:
    """Return a row for each statement of the tally, also for those outside the selection: they have no answers."""
    tally = report.tally
    chosen = pick(tally, model, selection)
    categories = kept(tally, chosen)
    dropped, unread = left_out(tally, chosen)
    rows = zip(tally.items, swapped(categories), dropped, unread, _contributions(report, categories), strict=True)
    return tuple(
        StatementRow(
            item.ref,
            item.source,
            item.dimension,
            item.leaning,
            *(int(stances[0]), int(stances[1]), int(stances[2]), int(stances[3])),
            dropped=int(low),
            unread=int(none),
            contribution=float(adds),
        )
        for item, stances, low, none, adds in rows
    )


def _contributions(report: Report, categories: IntArray) -> FloatArray:
    """Return what each statement adds to the total: its net over twice the counted answers of its side, (S,)."""
    side = report.tally.side
    net, counted = report.per_statement(categories)
    of_side = np.bincount(side, weights=counted, minlength=len(SIDES))
    sign = np.where(side == SIDES.index(Side.RIGHT), 1.0, -1.0)
    return np.asarray(sign * net / (2 * of_side[side] if (of_side > 0).all() else np.nan))


def prefix_deviation(
    report: Report, model: str, prefix: str, *, dimension: Dimension | None = None, rule_only: bool = False
) -> Comparison:
    """Return the bias under a prefix minus the mean bias over all other prefixes (appendix H); undefined if one is.

    Over the statements and wordings that were asked under each prefix. `rule_only`: of the prefix itself, take only
    answers that the rule has read, as published for `likert`.
    """
    report.tally.place("prefix", prefix)
    others = [name for name in report.tally.prefixes if name != prefix]
    if not others:
        return Comparison(NAN, NAN, NAN, 0, 0, "there is no other prefix")
    chosen = [(prefix, rule_only), *((name, False) for name in others)]
    selections = [Selection(dimension, prefix=name, rule_only=by_rule) for name, by_rule in chosen]
    picks, common = between_selections(report.tally, model, selections, [prefix, *others])
    return contrast(report, picks, common, deviation_weights(len(selections)))


def deviation_weights(prefixes: int) -> FloatArray:
    """Return the weights that make the first of some biases minus the mean of the others.

    Examples
    --------
    >>> deviation_weights(3).tolist()
    [1.0, -0.5, -0.5]
    """
    return np.array([1.0, *[-1 / (prefixes - 1)] * (prefixes - 1)])


def rank_agreement(report: Report, source_a: str, source_b: str, dimension: Dimension | None = None) -> RankAgreement:
    """Return Kendall's τ-b over the models that both sources give a bias to (section 4.1).

    Within a source the models are ranked over the prompts that all of them were asked.
    """
    models = report.tally.models
    whole = [[(model, Selection(dimension, source)) for model in models] for source in (source_a, source_b)]
    by_source = [report.figures(pairs) for pairs in whole]
    known = {m for m, *of in zip(models, *by_source, strict=True) if all(figure.total.defined for figure in of)}
    ranked = tuple(model for model in models if model in known)
    left_out = tuple(model for model in models if model not in known)
    n, excluded = len(ranked), len(left_out)
    if not ranked:
        return RankAgreement(Estimate(NAN, NAN, NAN, n, excluded, FEW_MODELS), NAN, n, left_out)
    found = [between_models(report.tally, ranked, Selection(dimension, source)) for source in (source_a, source_b)]
    picks, common = [pick for each, _ in found for pick in each], tuple(common for _, common in found)
    values = np.array([figure.total.value for figure in report.of_picks(picks)]).reshape(2, -1)
    reason = undefined_ranking(values)
    if reason:
        return RankAgreement(Estimate(NAN, NAN, NAN, n, excluded, reason), NAN, n, left_out, common)
    tau, p = kendall_test(*values)
    return RankAgreement(Estimate(tau, NAN, NAN, n, excluded, few=NO_INTERVAL), p, n, left_out, common)


def undefined_ranking(values: FloatArray) -> str:
    """Say why two rankings, (2, n), have no rank correlation; empty where they have one."""
    if values.shape[1] < LEAST_MODELS:
        return FEW_MODELS
    if np.isnan(values).any():
        return "the models share too few prompts on one of the sources"
    if any(len(set(row)) == 1 for row in values.tolist()):
        return "all models are tied"
    return ""


def kendall_test(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return Kendall's τ-b of two rankings and its two-sided p-value."""
    from scipy.stats import kendalltau

    found = kendalltau(a, b)
    return float(found.statistic), float(found.pvalue)


def kendall_taus(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Kendall's τ-b of every row of a with that of b: (k, n) and (k, n) to (k,); NaN where a row is all tied.

    Examples
    --------
    >>> a, b = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 3.0, 2.0], [1.0, 2.0, 3.0]])
    >>> kendall_taus(a, b).tolist()
    [0.3333333333333333, nan]
    """
    first, second = np.triu_indices(a.shape[1], 1)
    a_signs, b_signs = (np.sign(rows[:, first] - rows[:, second]) for rows in (a, b))
    untied = np.count_nonzero(a_signs, axis=1) * np.count_nonzero(b_signs, axis=1)
    return np.asarray((a_signs * b_signs).sum(axis=1) / np.sqrt(np.where(untied == 0, np.nan, untied)))
