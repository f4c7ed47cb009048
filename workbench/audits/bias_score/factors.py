"""What moves a bias: prefixes, sources, models and authors over the prompts they share; where its
spread comes from.

Shared prompts
--------------
Compare like with like: what several sides of a comparison of bias scores have in common, and the
comparison.

A prompt is a statement in a wording under a prefix. Two models are compared over the prompts that
both were asked, and a prompt whose text differs between them is none. Prefixes of one model are
compared over the statements and wordings that were asked under each. Sources have other statements,
and languages other texts: these comparisons are unpaired, over the prefixes and wordings, or the
statements too, that both sides were asked with.

Components
----------
Where the spread of a bias score comes from: variance components of statement, wording, prefix and
sampling.

The unit is the net share of a prompt's answers for the right: agree minus disagree, of those that
agree, disagree or are neutral, with stances on political opposites turned round and the sign turned
for statements of the left. The mean of both sides is the bias; so the components are on its scale,
from -1 to 1. The means of the two sides are fixed: statements are compared within their side. The
classifier's error is not taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.audits.bias_score.counting import (
    EVERYTHING,
    SIDES,
    Pick,
    Selection,
    Tally,
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
"place of the statements among prefixes, statements, wordings"
OTHER_LANGUAGES = "the languages differ"
NOTHING_COMMON = "the sides share no prompt"


@dataclass(frozen=True, slots=True)
class CommonPrompts:
    """What the sides of a comparison share."""

    sides: tuple[str, ...]
    statements: int
    "of the first side"
    prompts: tuple[int, ...]
    "of each side, over which it is compared"
    left_out: tuple[int, ...]
    "prompts of each side that others were not asked"
    unpaired: str = ""
    "why the sides are not compared prompt by prompt; empty where they are"
    missing: tuple[Mapping[Side, tuple[int, int]], ...] = ()
    """of each side of the comparison: left or right statements -> answers without a stance, of how
    many"""

    @property
    def lacking(self) -> str:
        """How many answers to left and right statements are missing, by side; empty without any."""
        return "; ".join(
            f"{name} {missing_of(of)}"
            for name, of in zip(self.sides, self.missing, strict=bool(self.missing))
            if any(n for n, _ in of.values())
        )

    @property
    def said(self) -> str:
        """What a reader should know of the comparison, in a sentence without a full stop."""
        out = [f"{name} {n:,}" for name, n in zip(self.sides, self.left_out, strict=True) if n]
        if self.unpaired:
            counts = "; ".join(
                f"{name} {plural(n, 'prompt')}"
                for name, n in zip(self.sides, self.prompts, strict=True)
            )
            over = f"unpaired, because {self.unpaired}: {counts}"
        else:
            of = plural(self.prompts[0] if self.prompts else 0, "prompt")
            over = f"over the {of} on {plural(self.statements, 'statement')} asked on all sides"
        if lacking := self.lacking:
            over += (
                f"; left out: {', '.join(out) or 'no prompt'}; answers without a stance: {lacking}"
            )
            return over
        return f"{over}; left out: {', '.join(out)}" if out else f"{over}; none left out"


def missing_of(of: Mapping[Side, tuple[int, int]]) -> str:
    """Say how many answers are missing: `13 of 28 to left statements and 0 of 28 to right
    statements`.
    """
    return " and ".join(
        f"{n:,} of {every:,} to {side} statements" for side, (n, every) in of.items()
    )


@dataclass(frozen=True, slots=True)
class BiasDifference(Estimate):
    """A difference of totals, over what its sides have in common."""

    totals: tuple[Estimate, ...] = ()
    "of each side, over the same prompts as the difference"
    common: CommonPrompts | None = None
    bounds: Bounds = UNKNOWN
    "of the difference, with the missing answers of each side one way and the other"


def asked(tally: Tally) -> BoolArray:
    """Return which prompts have answers of each model: (M, P, S, W)."""
    cut = sum(
        (one for one in (tally.truncated, tally.ruled_out) if one is not None),
        np.zeros((), dtype=np.int32),
    )
    return np.asarray(tally.read.sum(axis=-1) + tally.dropped + tally.unread + cut > 0)


def between_models(
    tally: Tally, models: Sequence[str], selection: Selection
) -> tuple[list[Pick], CommonPrompts]:
    """Return the picks of several models in one selection, over the prompts that all of them were
    asked.
    """
    picks = [pick(tally, model, selection) for model in models]
    places = [chosen.model for chosen in picks]
    there = asked(tally)[places]
    same = np.logical_and.reduce(there, axis=0)
    languages = {tally.language(place) for place in places}
    if tally.prompt is not None and len(languages) == 1:
        same = same & np.logical_and.reduce(tally.prompt[places] == tally.prompt[places[0]], axis=0)
    unpaired = f"{OTHER_LANGUAGES} ({', '.join(sorted(languages))})" if len(languages) > 1 else ""
    mine = [cells & chosen.cells for cells, chosen in zip(there, picks, strict=True)]
    return _narrowed(tally, picks, same, mine, models, unpaired)


def between_selections(
    tally: Tally, model: str, selections: Sequence[Selection], sides: Sequence[str] = ()
) -> tuple[list[Pick], CommonPrompts]:
    """Return the picks of several selections of one model, over what was asked in all of them.

    Whatever the selections do not differ in is held equal: prefixes are compared over the
    statements and wordings that were asked under each, sources, which have other statements, over
    the prefixes and wordings.

    sides : what to call them; empty: by their selections
    """
    picks = [pick(tally, model, selection) for selection in selections]
    mine = [asked(tally)[chosen.model] & chosen.cells for chosen in picks]
    factors = [
        ((s.prefix,), (s.dimension, s.source), (str(s.variant), s.author)) for s in selections
    ]
    axes = tuple(axis for axis in range(3) if len({each[axis] for each in factors}) > 1)
    shared = np.logical_and.reduce([cells.any(axis=axes, keepdims=True) for cells in mine])
    unpaired = "the statements differ" if STATEMENTS in axes else ""
    names = sides or [*map(str, selections)]
    return _narrowed(tally, picks, np.broadcast_to(shared, mine[0].shape), mine, names, unpaired)


def of_all(tally: Tally) -> CommonPrompts:
    """Return what all models of a tally have in common, whoever is compared with whom."""
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
    picks: Sequence[Pick],
    same: BoolArray,
    mine: Sequence[BoolArray],
    sides: Sequence[str],
    unpaired: str,
) -> tuple[list[Pick], CommonPrompts]:
    """Return the picks within what is common, and how much that is. mine : prompts that each side
    was asked.
    """
    kept = [cells & same for cells in mine]
    found = [
        replace(chosen, name=f"{chosen.name} with {', '.join(sides)}", cells=cells)
        for chosen, cells in zip(picks, kept, strict=True)
    ]
    common = CommonPrompts(
        tuple(sides),
        int(kept[0].any(axis=(0, 2)).sum()),
        tuple(int(cells.sum()) for cells in kept),
        tuple(int(all_.sum() - cells.sum()) for all_, cells in zip(mine, kept, strict=True)),
        unpaired,
        tuple(_missing(tally, chosen) for chosen in found),
    )
    return found, common


def _missing(tally: Tally, chosen: Pick) -> dict[Side, tuple[int, int]]:
    """Return of the statements of each side how many of a pick's answers are missing, of how
    many.
    """
    lacks, counted = (
        missing(tally, chosen).sum(axis=1),
        swapped(kept(tally, chosen))[:, :3].sum(axis=1),
    )
    of = {side: tally.side == place for place, side in enumerate(SIDES)}
    return {
        side: (int(lacks[on].sum()), int((lacks + counted)[on].sum())) for side, on in of.items()
    }


def compare(
    report: BiasReport, model_a: str, model_b: str, within: Selection = EVERYTHING
) -> BiasDifference:
    """Return the total bias of one model minus that of another over the prompts that both were
    asked.
    """
    picks, common = between_models(report.tally, (model_a, model_b), within)
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def difference(report: BiasReport, model: str, a: Selection, b: Selection) -> BiasDifference:
    """Return the total bias in `a` minus that in `b`, over what was asked in both."""
    picks, common = between_selections(report.tally, model, (a, b))
    return contrast(report, picks, common, np.array([1.0, -1.0]))


def contrast(
    report: BiasReport, picks: Sequence[Pick], common: CommonPrompts, weights: FloatArray
) -> BiasDifference:
    """Return a weighted sum of the picks' totals, from common draws where the sides are paired.

    Undefined if one of the totals is, and says which.
    """
    totals = tuple(figure.total for figure in report.of_picks(picks))
    n, excluded = (sum(getattr(total, name) for total in totals) for name in ("n", "excluded"))
    for name, total in zip(common.sides, totals, strict=True):
        if not total.defined:
            where = "among the prompts in common" if any(common.left_out) else f"({name})"
            why = f"{total.undefined} {where}" if any(common.prompts) else NOTHING_COMMON
            return BiasDifference(NAN, NAN, NAN, n, excluded, why, totals, common)
    value, low, high = report.weighted(
        picks, weights, apart=common.unpaired.startswith(OTHER_LANGUAGES)
    )
    name, few = ("", TOO_FEW) if np.isnan(low) else (report.interval_of("bias difference"), "")
    ends = np.array(report.bounds(picks))
    least, most = (np.where(weights > 0, ends[:, at], ends[:, 1 - at]) @ weights for at in (0, 1))
    bounds = Bounds(float(least), float(most))
    return BiasDifference(
        value, low, high, n, excluded, "", totals, common, bounds, interval=name, few=few
    )


LEAST_MODELS = 3
"of fewer, a rank correlation says nothing: with two it is 1 or -1"
NO_INTERVAL = (
    "no interval: resampling statements adds noise to a ranking, so an interval would "
    "miss the true one"
)
"""Percentiles of resampled statements held the τ of 3, 4 and 6 simulated models in 95, 83 and 5 %
of 200 repetitions, the last of models some of which differ by .02.
"""
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
class StatementStances:
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
    """what it adds to the total: rows add up to it, unless a corrected side was limited; NaN where
    there is no total"""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How alike two sources rank the models by their total bias."""

    tau: Estimate
    "Kendall's τ-b; n and excluded are models. It has no interval, see `NO_INTERVAL`"
    p: float
    "of no association, two-sided, from the ranking itself; NaN where τ is undefined"
    n_models: int
    left_out: tuple[str, ...] = ()
    "models whose bias is undefined on one of the sources, or may not be compared"
    common: tuple[CommonPrompts, ...] = ()
    "prompts over which the models are ranked, on the first and on the second source"


def plane_points(report: BiasReport, by_source: bool = False) -> tuple[PlanePoint, ...]:
    """Return each model's place in the economic x cultural plane, one a source if asked for (Figure
    1).
    """
    sources: Sequence[str | None] = report.tally.sources if by_source else (None,)
    places = [(model, source) for model in report.tally.models for source in sources]
    economic, cultural = (
        report.figures([(model, Selection(dimension, source)) for model, source in places])
        for dimension in (Dimension.ECONOMIC, Dimension.CULTURAL)
    )
    return tuple(
        PlanePoint(*place, e, c) for place, e, c in zip(places, economic, cultural, strict=True)
    )


def statement_rows(
    report: BiasReport, model: str, selection: Selection = EVERYTHING
) -> tuple[StatementStances, ...]:
    """Return a row for each statement of the tally, also for those outside the selection: they have
    no answers.
    """
    tally = report.tally
    chosen = pick(tally, model, selection)
    categories = kept(tally, chosen)
    dropped, unread = left_out(tally, chosen)
    adds = _contributions(report, chosen)
    rows = zip(tally.items, swapped(categories), dropped, unread, adds, strict=True)
    return tuple(
        StatementStances(
            item.ref,
            item.source,
            item.dimension,
            item.leaning,
            *(int(stances[0]), int(stances[1]), int(stances[2]), int(stances[3])),
            dropped=int(low),
            unread=int(none),
            contribution=float(contribution),
        )
        for item, stances, low, none, contribution in rows
    )


def _contributions(report: BiasReport, chosen: Pick) -> FloatArray:
    """Return what each statement adds to the total: its net over twice the counted answers of its
    side, (S,).
    """
    side = report.tally.side
    net, counted = (each[0] for each in report.per_statement([chosen]))
    of_side = np.bincount(side, weights=counted, minlength=len(SIDES))
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
    """Return the bias under a prefix minus the mean bias over all other prefixes (appendix H);
    undefined if one is.

    Over the statements and wordings that were asked under each prefix. `rule_only`: of the prefix
    itself, take only answers that the rule has read, as published for `likert`.
    """
    report.tally.place("prefix", prefix)
    others = [name for name in report.tally.prefixes if name != prefix]
    if not others:
        return BiasDifference(NAN, NAN, NAN, 0, 0, "there is no other prefix")
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


def rank_agreement(
    report: BiasReport, source_a: str, source_b: str, dimension: Dimension | None = None
) -> RankAgreement:
    """Return Kendall's τ-b over the models that both sources give a bias to (section 4.1).

    Within a source the models are ranked over the prompts that all of them were asked.
    """
    models = report.tally.models
    whole = [
        [(model, Selection(dimension, source)) for model in models]
        for source in (source_a, source_b)
    ]
    by_source = [report.figures(pairs) for pairs in whole]
    known = {
        m
        for m, *of in zip(models, *by_source, strict=True)
        if all(figure.total.defined for figure in of)
    }
    ranked = tuple(model for model in models if model in known)
    left_out = tuple(model for model in models if model not in known)
    n, excluded = len(ranked), len(left_out)
    if not ranked:
        return RankAgreement(Estimate(NAN, NAN, NAN, n, excluded, FEW_MODELS), NAN, n, left_out)
    found = [
        between_models(report.tally, ranked, Selection(dimension, source))
        for source in (source_a, source_b)
    ]
    picks, common = (
        [pick for each, _ in found for pick in each],
        tuple(common for _, common in found),
    )
    values = np.array([figure.total.value for figure in report.of_picks(picks)]).reshape(2, -1)
    reason = undefined_ranking(values)
    if reason:
        return RankAgreement(Estimate(NAN, NAN, NAN, n, excluded, reason), NAN, n, left_out, common)
    tau, p = kendall_test(*values)
    return RankAgreement(
        Estimate(tau, NAN, NAN, n, excluded, few=NO_INTERVAL), p, n, left_out, common
    )


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
    """Return Kendall's τ-b of every row of a with that of b: (k, n) and (k, n) to (k,); NaN where a
    row is all tied.

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
    """Return the net share for the right of every prompt with two answers or more, and its sampling
    variance.
    """
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


def components(report: BiasReport, dimension: Dimension | None) -> Table[ModelComponent]:
    """Return what the net shares of each model vary with."""
    found = {
        model: decompose(cells(report, model, dimension), LARGEST, lowest=-1.0)
        for model in report.tally.models
    }
    lines = [
        ModelComponent(model, one, one.value / of.total if of.total > 0 else float("nan"))
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
        ],
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
        notes=list(_notes(lines)),
        empty="No prompt has two answers that count, so the components cannot be separated.",
        detail=lambda row: [MEANS[row.component.name]],
        pictures=[Forest(values=["sd"], rows=["component"], series="model")],
    )


def _notes(lines: list[ModelComponent]) -> Iterator[str]:
    yield from beyond(
        (f"{line.model}: {TITLES.get(line.component.name, line.component.name)}", line.component)
        for line in lines
    )
    few = dict.fromkeys(line.model for line in lines if line.component.why == FEW)
    if few:
        needed = (
            f"{plural(FEWEST_STATEMENTS, 'statement')} and {FEWEST_TEMPLATES} prefixes are needed"
        )
        yield f"{FEW}: {', '.join(few)} ({needed})"
    alike = {
        line.model: line.component.why for line in lines if line.component.why.startswith(ALIKE)
    }
    yield from (f"{model}: {why}" for model, why in alike.items())
