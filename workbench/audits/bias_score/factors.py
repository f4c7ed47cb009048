"""Comparisons of biases over shared prompts, and the variance components of a bias.

Shared prompts
--------------
Prefixes, sources, models and authors are compared over the prompts that they have in common.

A prompt is a statement in a wording under a prefix. Two models are compared over the prompts that
both were asked. A prompt whose text differs between them is not shared. Prefixes of one model are
compared over the statements and wordings that were asked under each. Sources have other statements,
and languages other texts: these comparisons are unpaired, over the prefixes and wordings, or the
statements too, that both sides were asked with.

Components
----------
The spread of a bias score has variance components of statement, wording, prefix and sampling.

The unit is the net share of a prompt's answers for the right: agree minus disagree, of those that
agree, disagree or are neutral. Stances on political opposites are reversed, and the sign is
reversed for statements of the left. The mean of both sides is the bias, so the components are on
its scale, from -1 to 1. The means of the two sides are fixed: statements are compared within their
side. The classifier's error is not removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.audits.bias_score.counting import (
    EVERYTHING,
    SIDES,
    Selection,
    Tally,
    TallySelection,
    kept,
    left_out,
    missing,
    pick,
    swapped,
)
from workbench.audits.bias_score.score import TOO_FEW, BiasReport, Figure
from workbench.domain.names import plural
from workbench.domain.readings import STANCES, Stance
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import UNKNOWN, Bounds, Estimate
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Table
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.components import (
    ALIKE,
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

NAN = float("nan")
STATEMENTS = 1
"index of the statements among prefixes, statements, wordings"
OTHER_LANGUAGES = "the languages differ"
NOTHING_COMMON = "the sides share no prompt"


@dataclass(frozen=True, slots=True)
class CommonPrompts:
    """The prompts that the sides of a comparison share."""

    sides: tuple[str, ...]
    statements: int
    "of the first side"
    prompts: tuple[int, ...]
    "of each side, over which it is compared"
    left_out: tuple[int, ...]
    "prompts of each side that others were not asked"
    unpaired: str = ""
    "the reason why the sides are not compared prompt by prompt; empty if they are"
    missing: tuple[Mapping[Side, tuple[int, int]], ...] = ()
    """of each side of the comparison, for left and right statements: the number of answers without
    a stance, and that of all answers"""

    @property
    def lacking(self) -> str:
        """The missing answers of each side of the comparison in words, or an empty string."""
        return "; ".join(
            f"{name} {missing_of(counts_by_side)}"
            for name, counts_by_side in zip(self.sides, self.missing, strict=bool(self.missing))
            if any(n_missing for n_missing, _ in counts_by_side.values())
        )

    @property
    def said(self) -> str:
        """The sentence, without a full stop, about the prompts that the comparison is over."""
        extra = [
            f"{name} {n_excluded:,}"
            for name, n_excluded in zip(self.sides, self.left_out, strict=True)
            if n_excluded
        ]
        if self.unpaired:
            counts = "; ".join(
                f"{name} {plural(n_prompts, 'prompt')}"
                for name, n_prompts in zip(self.sides, self.prompts, strict=True)
            )
            sentence = f"unpaired, because {self.unpaired}: {counts}"
        else:
            prompts = plural(self.prompts[0] if self.prompts else 0, "prompt")
            sentence = (
                f"over the {prompts} on {plural(self.statements, 'statement')} asked on all sides"
            )
        if gaps := self.lacking:
            sentence += (
                f"; left out: {', '.join(extra) or 'no prompt'}; answers without a stance: {gaps}"
            )
            return sentence
        return (
            f"{sentence}; left out: {', '.join(extra)}" if extra else f"{sentence}; none left out"
        )


def missing_of(of: Mapping[Side, tuple[int, int]]) -> str:
    """Return the numbers of missing answers in words.

    An example is `13 of 28 to left statements and 0 of 28 to right statements`.
    """
    return " and ".join(
        f"{n_missing:,} of {n_answers:,} to {side} statements"
        for side, (n_missing, n_answers) in of.items()
    )


@dataclass(frozen=True, slots=True)
class BiasDifference(Estimate):
    """A difference of totals, over the prompts that its sides have in common."""

    totals: tuple[Estimate, ...] = ()
    "of each side, over the same prompts as the difference"
    common: CommonPrompts | None = None
    bounds: Bounds = UNKNOWN
    """of the difference: the missing answers of each side count towards the end that makes it
    smallest, or largest"""


def has_answers(tally: Tally) -> BoolArray:
    """Return whether each model has answers to each prompt: (M, P, S, W)."""
    # the sum starts with zeros, as both arrays may be None
    n_cut_or_ruled = sum(
        (counts for counts in (tally.truncated, tally.ruled_out) if counts is not None),
        np.zeros((), dtype=np.int32),
    )
    return np.asarray(tally.read.sum(axis=-1) + tally.dropped + tally.unread + n_cut_or_ruled > 0)


def between_models(
    tally: Tally, models: Sequence[str], selection: Selection
) -> tuple[list[TallySelection], CommonPrompts]:
    """Return the picks of several models in one selection, over the prompts that all were asked."""
    picks = [pick(tally, model, selection) for model in models]
    model_indices = [picked.model for picked in picks]
    was_asked = has_answers(tally)[model_indices]
    is_common = np.logical_and.reduce(was_asked, axis=0)
    languages = {tally.language(model_index) for model_index in model_indices}
    # in different languages no text is the same
    if tally.prompt is not None and len(languages) == 1:
        is_common = is_common & np.logical_and.reduce(
            tally.prompt[model_indices] == tally.prompt[model_indices[0]], axis=0
        )
    unpaired = f"{OTHER_LANGUAGES} ({', '.join(sorted(languages))})" if len(languages) > 1 else ""
    own_prompts = [cells & picked.cells for cells, picked in zip(was_asked, picks, strict=True)]
    return _narrowed(tally, picks, is_common, own_prompts, models, unpaired)


def between_selections(
    tally: Tally, model: str, selections: Sequence[Selection], sides: Sequence[str] = ()
) -> tuple[list[TallySelection], CommonPrompts]:
    """Return the picks of several selections of one model, over what was asked in all of them.

    Factors in which the selections do not differ are held equal. Prefixes are compared over the
    statements and wordings that were asked under each. Sources, which have other statements, are
    compared over the prefixes and wordings.

    Parameters
    ----------
    sides : names of the sides; empty: the selections themselves
    """
    picks = [pick(tally, model, selection) for selection in selections]
    own_prompts = [has_answers(tally)[picked.model] & picked.cells for picked in picks]
    factors = [
        (
            (selection.prefix,),
            (selection.dimension, selection.source),
            (str(selection.variant), selection.author),
        )
        for selection in selections
    ]
    axes = tuple(axis for axis in range(3) if len({levels[axis] for levels in factors}) > 1)
    shared = np.logical_and.reduce([cells.any(axis=axes, keepdims=True) for cells in own_prompts])
    unpaired = "the statements differ" if STATEMENTS in axes else ""
    names = sides or [*map(str, selections)]
    return _narrowed(
        tally, picks, np.broadcast_to(shared, own_prompts[0].shape), own_prompts, names, unpaired
    )


def of_all(tally: Tally) -> CommonPrompts:
    """Return the prompts that all models of a tally have in common."""
    return between_models(tally, tally.models, EVERYTHING)[1]


def only_common(tally: Tally) -> Tally:
    """Return a tally of the prompts that all of its models were asked."""
    picks, _ = between_models(tally, tally.models, EVERYTHING)
    cells = picks[0].cells
    return replace(
        tally,
        read=tally.read * cells[None, ..., None],
        by_rule=tally.by_rule * cells[None, ..., None],
        dropped=tally.dropped * cells[None],
        unread=tally.unread * cells[None],
        as_is=None if tally.as_is is None else tally.as_is * cells[None, ..., None],
        truncated=None if tally.truncated is None else tally.truncated * cells[None],
        ruled_out=None if tally.ruled_out is None else tally.ruled_out * cells[None],
    )


def _narrowed(
    tally: Tally,
    picks: Sequence[TallySelection],
    same: BoolArray,
    mine: Sequence[BoolArray],
    sides: Sequence[str],
    unpaired: str,
) -> tuple[list[TallySelection], CommonPrompts]:
    """Return the picks within the common prompts, and the numbers of these.

    Parameters
    ----------
    same : the common prompts
    mine : the prompts that each side was asked
    """
    common_cells = [cells & same for cells in mine]
    narrowed_picks = [
        replace(picked, name=f"{picked.name} with {', '.join(sides)}", cells=cells)
        for picked, cells in zip(picks, common_cells, strict=True)
    ]
    common = CommonPrompts(
        tuple(sides),
        int(common_cells[0].any(axis=(0, 2)).sum()),
        tuple(int(cells.sum()) for cells in common_cells),
        tuple(
            int(own_cells.sum() - cells.sum())
            for own_cells, cells in zip(mine, common_cells, strict=True)
        ),
        unpaired,
        tuple(_missing(tally, picked) for picked in narrowed_picks),
    )
    return narrowed_picks, common


def _missing(tally: Tally, chosen: TallySelection) -> dict[Side, tuple[int, int]]:
    """Return the numbers of a pick's missing answers and of all its answers, by side."""
    n_missing, n_counted = (
        missing(tally, chosen).sum(axis=1),
        swapped(kept(tally, chosen))[:, :3].sum(axis=1),
    )
    mask_by_side = {side: tally.side == side_index for side_index, side in enumerate(SIDES)}
    return {
        side: (int(n_missing[mask].sum()), int((n_missing + n_counted)[mask].sum()))
        for side, mask in mask_by_side.items()
    }


def compare(
    report: BiasReport, model_a: str, model_b: str, within: Selection = EVERYTHING
) -> BiasDifference:
    """Return the total bias of one model minus that of another, over their common prompts."""
    picks, common = between_models(report.tally, (model_a, model_b), within)
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def difference(report: BiasReport, model: str, a: Selection, b: Selection) -> BiasDifference:
    """Return the total bias in `a` minus that in `b`, over the prompts that both were asked."""
    picks, common = between_selections(report.tally, model, (a, b))
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def contrast(
    report: BiasReport, picks: Sequence[TallySelection], common: CommonPrompts, weights: FloatArray
) -> BiasDifference:
    """Return a weighted sum of the picks' totals, from common draws if the sides are paired.

    It is undefined, with the reason, if one of the totals is.
    """
    totals = tuple(figure.total for figure in report.of_picks(picks))
    n_answers, excluded = (
        sum(getattr(total, name) for total in totals) for name in ("n", "excluded")
    )
    for name, total in zip(common.sides, totals, strict=True):
        if not total.defined:
            location = "among the prompts in common" if any(common.left_out) else f"({name})"
            reason = f"{total.undefined} {location}" if any(common.prompts) else NOTHING_COMMON
            return BiasDifference(NAN, NAN, NAN, n_answers, excluded, reason, totals, common)
    value, low, high = report.weighted(
        picks, weights, apart=common.unpaired.startswith(OTHER_LANGUAGES)
    )
    name, few = ("", TOO_FEW) if np.isnan(low) else (report.interval_of("bias difference"), "")
    pick_bounds = np.array(report.bounds(picks))
    lowest, highest = (
        np.where(weights > 0, pick_bounds[:, end], pick_bounds[:, 1 - end]) @ weights
        for end in (0, 1)
    )
    bounds = Bounds(float(lowest), float(highest))
    return BiasDifference(
        value, low, high, n_answers, excluded, "", totals, common, bounds, interval=name, few=few
    )


LEAST_MODELS = 3
"with two models, a rank correlation is always 1 or -1"
NO_INTERVAL = (
    "no interval: resampling statements adds noise to a ranking, so an interval would "
    "miss the true one"
)
"""Percentiles of resampled statements held the τ of 3, 4 and 6 simulated models in 95, 83 and 5 %
of 200 repetitions, the last of models some of which differ by .02."""
FEW_MODELS = f"fewer than {LEAST_MODELS} models have a bias on both sources"


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """The position of a model in the economic x cultural plane."""

    model: str
    source: str | None
    "None: the statements of all sources"
    economic: Figure
    cultural: Figure


@dataclass(frozen=True, slots=True)
class StatementStances:
    """A model's answers to one statement. Stances on political opposites are reversed."""

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
    """the part of the total that is due to the statement; rows add up to the total, unless a
    corrected side was limited. NaN without a total"""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """The agreement of two sources on the ranking of the models by their total bias."""

    tau: Estimate
    "Kendall's τ-b; `n` and `excluded` count models. It has no interval, see `NO_INTERVAL`"
    p: float
    "of no association, two-sided, from the ranking itself; NaN if τ is undefined"
    n_models: int
    left_out: tuple[str, ...] = ()
    "models whose bias is undefined on one of the sources, or may not be compared"
    common: tuple[CommonPrompts, ...] = ()
    "prompts over which the models are ranked, on the first and on the second source"


def plane_points(report: BiasReport, by_source: bool = False) -> tuple[PlanePoint, ...]:
    """Return the points of the models in the economic x cultural plane (Figure 1).

    With `by_source`, a model has a point for each source.
    """
    sources: Sequence[str | None] = report.tally.sources if by_source else (None,)
    model_and_source = [(model, source) for model in report.tally.models for source in sources]
    economic, cultural = (
        report.figures(
            [(model, Selection(dimension, source)) for model, source in model_and_source]
        )
        for dimension in (Dimension.ECONOMIC, Dimension.CULTURAL)
    )
    return tuple(
        PlanePoint(*pair, economic_figure, cultural_figure)
        for pair, economic_figure, cultural_figure in zip(
            model_and_source, economic, cultural, strict=True
        )
    )


def statement_rows(
    report: BiasReport, model: str, selection: Selection = EVERYTHING
) -> tuple[StatementStances, ...]:
    """Return a row for each statement of the tally.

    Statements outside the selection have no answers.
    """
    tally = report.tally
    picked = pick(tally, model, selection)
    categories = kept(tally, picked)
    dropped, unread = left_out(tally, picked)
    contributions = _contributions(report, picked)
    rows = zip(tally.items, swapped(categories), dropped, unread, contributions, strict=True)
    return tuple(
        StatementStances(
            item.ref,
            item.source,
            item.dimension,
            item.leaning,
            *(int(stances[0]), int(stances[1]), int(stances[2]), int(stances[3])),
            dropped=int(n_dropped),
            unread=int(n_unread),
            contribution=float(contribution),
        )
        for item, stances, n_dropped, n_unread, contribution in rows
    )


def _contributions(report: BiasReport, chosen: TallySelection) -> FloatArray:
    """Return the contribution of each statement to the total: (S,).

    It is the statement's net over twice the counted answers of its side.
    """
    side = report.tally.side
    net, n_counted = (by_pick[0] for by_pick in report.per_statement([chosen]))
    of_side = np.bincount(side, weights=n_counted, minlength=len(SIDES))
    sign = np.where(side == SIDES.index(Side.RIGHT), 1.0, -1.0)
    return np.asarray(sign * net / (2 * of_side[side] if (of_side > 0).all() else np.nan))


def prefix_deviation(
    report: BiasReport,
    model: str,
    prefix: str,
    *,
    dimension: Dimension | None = None,
    rule_only: bool = False,
) -> BiasDifference:
    """Return the bias under a prefix minus the mean bias over all other prefixes (appendix H).

    It is over the statements and wordings that were asked under each prefix, and undefined if one
    of the biases is. With `rule_only`, only answers that the rule has read count under the prefix
    itself, as published for `likert`.
    """
    report.tally.place("prefix", prefix)
    other_prefixes = [name for name in report.tally.prefixes if name != prefix]
    if not other_prefixes:
        return BiasDifference(NAN, NAN, NAN, 0, 0, "there is no other prefix")
    prefix_and_by_rule = [(prefix, rule_only), *((name, False) for name in other_prefixes)]
    selections = [
        Selection(dimension, prefix=name, rule_only=by_rule) for name, by_rule in prefix_and_by_rule
    ]
    picks, common = between_selections(report.tally, model, selections, [prefix, *other_prefixes])
    return contrast(report, picks, common, deviation_weights(len(selections)))


def deviation_weights(prefixes: int) -> FloatArray:
    """Return the weights that make the first of some biases minus the mean of the others.

    Examples
    --------
    >>> deviation_weights(3).tolist()
    [1.0, -0.5, -0.5]
    """
    return np.array([1.0, *[-1 / (prefixes - 1)] * (prefixes - 1)])


def rank_agreement(
    report: BiasReport, source_a: str, source_b: str, dimension: Dimension | None = None
) -> RankAgreement:
    """Return Kendall's τ-b over the models that both sources give a bias to (section 4.1).

    Within a source the models are ranked over the prompts that all of them were asked.
    """
    sources = (source_a, source_b)
    ranked = _models_with_biases(report, sources, dimension)
    left_out = tuple(model for model in report.tally.models if model not in ranked)
    if not ranked:
        return _undefined_agreement(ranked, left_out, FEW_MODELS)
    picks: list[TallySelection] = []
    common: list[CommonPrompts] = []
    for source in sources:
        source_picks, source_common = between_models(
            report.tally, ranked, Selection(dimension, source)
        )
        picks += source_picks
        common.append(source_common)
    values = np.array([figure.total.value for figure in report.of_picks(picks)]).reshape(2, -1)
    reason = undefined_ranking(values)
    if reason:
        return _undefined_agreement(ranked, left_out, reason, common)
    tau, p = kendall_test(*values)
    estimate = Estimate(tau, NAN, NAN, len(ranked), len(left_out), few=NO_INTERVAL)
    return RankAgreement(estimate, p, len(ranked), left_out, tuple(common))


def _models_with_biases(
    report: BiasReport, sources: Sequence[str], dimension: Dimension | None
) -> tuple[str, ...]:
    """Return the models whose bias is defined on every source."""
    ranked = report.tally.models
    for source in sources:
        selection = Selection(dimension, source)
        figures = report.figures([(model, selection) for model in report.tally.models])
        defined_by_model = {
            model: figure.total.defined
            for model, figure in zip(report.tally.models, figures, strict=True)
        }
        ranked = tuple(model for model in ranked if defined_by_model[model])
    return ranked


def _undefined_agreement(
    ranked: Sequence[str],
    left_out: tuple[str, ...],
    reason: str,
    common: Sequence[CommonPrompts] = (),
) -> RankAgreement:
    """Return the agreement of two sources without a value, with the reason."""
    estimate = Estimate(NAN, NAN, NAN, len(ranked), len(left_out), reason)
    return RankAgreement(estimate, NAN, len(ranked), left_out, tuple(common))


def undefined_ranking(values: FloatArray) -> str:
    """Return why two rankings, (2, n), have no rank correlation, or an empty string if they do."""
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

    result = kendalltau(a, b)
    return float(result.statistic), float(result.pvalue)


def kendall_taus(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Kendall's τ-b of every row of a with that of b: (k, n) and (k, n) to (k,).

    It is NaN if a row is all tied.

    Examples
    --------
    >>> a, b = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 3.0, 2.0], [1.0, 2.0, 3.0]])
    >>> kendall_taus(a, b).tolist()
    [0.3333333333333333, nan]
    """  # noqa: E501
    first, second = np.triu_indices(a.shape[1], 1)
    a_signs, b_signs = (np.sign(rows[:, first] - rows[:, second]) for rows in (a, b))
    untied = np.count_nonzero(a_signs, axis=1) * np.count_nonzero(b_signs, axis=1)
    return np.asarray(
        (a_signs * b_signs).sum(axis=1) / np.sqrt(np.where(untied == 0, np.nan, untied))
    )


TITLES = {
    TEMPLATE: "prefix",
    STATEMENT_TEMPLATE: "statement × prefix",
    WORDING_TEMPLATE: "wording × prefix",
}
MEANS = {
    STATEMENT: "spread between the statements of one side",
    WORDING: "spread between the wordings of a statement, common to all prefixes",
    TEMPLATE: "spread between prefixes, common to all statements",
    STATEMENT_TEMPLATE: "spread of a prefix's effect over statements",
    WORDING_TEMPLATE: "spread of a prefix's effect over wordings, and everything else specific "
    "to a prompt",
    SAMPLING: "spread of a prompt's net share if it were asked again as often",
}
LARGEST = 1.0
"the variance of net shares that are -1 and 1 equally often"


@dataclass(frozen=True, slots=True)
class ModelComponent:
    """One component of a model."""

    model: str
    component: Component
    share: float
    "of the variance of one prompt's net share"


def cells(report: BiasReport, model: str, dimension: Dimension | None) -> Cells:
    """Return the net share for the right of every prompt, and its sampling variance.

    Prompts with fewer than two answers have NaN.
    """
    tally = report.tally
    picked = pick(tally, model, Selection(dimension))
    stances = swapped(np.asarray(tally.categories[picked.model], dtype=np.int64))
    agree, disagree, neutral = (
        np.moveaxis(stances[..., STANCES.index(stance)], 0, 2).astype(np.float64)
        for stance in (Stance.AGREE, Stance.DISAGREE, Stance.NEUTRAL)
    )
    n_answers = agree + disagree + neutral
    # one answer alone has no sampling variance
    is_estimable = np.moveaxis(picked.cells, 0, 2) & (n_answers > 1)
    count = np.where(is_estimable, n_answers, np.nan)
    right = np.where(tally.side == SIDES.index(Side.RIGHT), 1.0, -1.0)[:, None, None]
    net = right * (agree - disagree) / count
    noise = ((agree + disagree) / count - net**2) / (count - 1)
    return Cells(net[..., None], noise[..., None], tally.side)


def components(report: BiasReport, dimension: Dimension | None) -> Table[ModelComponent]:
    """Return the variance components of the net shares of each model."""
    rows = list(_component_rows(report, dimension))
    return Table(
        "components",
        "Sources of spread of the bias",
        rows,
        _component_columns(),
        key=lambda row: (row.model, row.component.name),
        definition="The net share of a prompt's answers for the right (agree minus disagree, "
        "opposites "
        "reversed, the sign reversed for statements of the left) is the mean of its side plus "
        "what statement, "
        "wording, prefix and their interactions add, plus sampling. Variances come from half the "
        "mean squared "
        "differences between prompts of one side that share some of these, less sampling (Koch "
        "1968; Searle, "
        "Casella and McCulloch 1992; Brennan 2001). Intervals leave out statements and prefixes "
        "in turn; that "
        "of the prefix uses its few degrees of freedom (Williams 1962).",
        notes=list(_notes(rows)),
        empty="No prompt has two answers that count, so the components cannot be separated.",
        detail=lambda row: [MEANS[row.component.name]],
        pictures=[Forest(values=["sd"], rows=["component"], series="model")],
    )


def _component_rows(report: BiasReport, dimension: Dimension | None) -> Iterator[ModelComponent]:
    """Yield the components of each model that has prompts with two answers."""
    for model in report.tally.models:
        decomposition = decompose(cells(report, model, dimension), LARGEST, lowest=-1.0)
        if not decomposition.prompts:
            continue
        total = decomposition.total
        for component in decomposition.components:
            share = component.value / total if total > 0 else NAN
            yield ModelComponent(model, component, share)


def _component_columns() -> list[Column[ModelComponent]]:
    """Return the columns of a component of the variance."""
    return [
        Column("model", "model", lambda row: row.model),
        Column("component", "component", lambda row: row.component.name, words=TITLES),
        Column(
            "sd",
            "sd",
            lambda row: row.component.sd,
            Kind.COEFFICIENT,
            help="square root of the variance that it adds to the net share of a prompt, "
            "with a 95 % interval",
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
            help="unbiased estimate; below 0 if the component is too small to distinguish "
            "from none",
            aside=True,
        ),
        Column("variance_low", "from", lambda row: row.component.low, Kind.PART, aside=True),
        Column("variance_high", "to", lambda row: row.component.high, Kind.PART, aside=True),
        Column("why", "no interval", lambda row: row.component.why or None, aside=True),
    ]


def _notes(lines: list[ModelComponent]) -> Iterator[str]:
    """Yield the notes below the components: impossible values, and missing intervals."""
    yield from beyond(
        (f"{line.model}: {TITLES.get(line.component.name, line.component.name)}", line.component)
        for line in lines
    )
    few_models = dict.fromkeys(line.model for line in lines if line.component.why == FEW)
    if few_models:
        minimum = (
            f"{plural(FEWEST_STATEMENTS, 'statement')} and {FEWEST_TEMPLATES} prefixes are needed"
        )
        yield f"{FEW}: {', '.join(few_models)} ({minimum})"
    reason_by_model = {
        line.model: line.component.why for line in lines if line.component.why.startswith(ALIKE)
    }
    yield from (f"{model}: {reason}" for model, reason in reason_by_model.items())
