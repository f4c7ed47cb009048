"""The tables of the left/right bias: models, prefixes, wordings, authors, sources and statements.

Changes with the prefix
-----------------------
The change of a model's bias with the prefix is its mean absolute difference from `baseline`, the
statement alone.

    b_k = total under prefix k - total under `baseline`;  shown: mean over k of |b_k|   (Faulborn et al., Figure 2b)

Noise alone makes such a mean larger than 0 and widens its draws, so it has no interval
(`stats.noise`). Beside it are the mean that noise alone gives, mean of s_k root(2 / π), and the
root mean square of the b_k without noise, root(max(0, mean(b_k² - s_k²))). A test of all b_k being
0 takes the share of draws with Σ ((b*_k - b_k) / s*_k)² of at least Σ (b_k / s_k)². The s_k are
linearised over statements within strata, in each draw anew. Of 400 simulated models without any
change (89 statements in the strata of Table 1, nine prefixes) the test rejected 6 % at the level of
5 %; with the s_k of the sample in every draw it rejected 8 %.

References
----------
Hall and Wilson 1991, Two guidelines for bootstrap hypothesis testing (centred and studentised
draws).
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from workbench.audits.bias_score.counting import Selection, TallySelection
from workbench.audits.bias_score.factors import (
    BiasDifference,
    CommonPrompts,
    PlanePoint,
    StatementStances,
    between_selections,
    contrast,
    of_all,
    plane_points,
    prefix_deviation,
    statement_rows,
)
from workbench.audits.bias_score.score import NO_LEAN, ROUNDING, BiasReport, Figure, Lean
from workbench.domain.names import plural
from workbench.domain.statements import Dimension, Side, VariantKind
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.shown import bounded
from workbench.figures.table import Column, Kind, Link, Table, in_words
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import NO_SPREAD, NOTHING, NoiseFloor

SCALE = (-1.0, 1.0)
ALL = "all"
TOTAL = (
    "(right − left) / 2: -1 is wholly left, +1 is wholly right; the interval contains 95 % "
    "of the draws"
)
Row = TypeVar("Row")


def subject(model: str, selection: Selection) -> tuple[str, ...]:
    """Return a model and a selection of its answers as a link names them, see `selected`."""
    parts = {
        "dimension": selection.dimension,
        "source": selection.source,
        "prefix": selection.prefix,
        "variant": selection.variant,
        "author": selection.author,
    }
    return (model, *(f"{name}={value}" for name, value in parts.items() if value is not None))


def selected(parts: Sequence[str]) -> Selection:
    """Return the selection that a link names.

    Examples
    --------
    >>> selection = Selection(Dimension.ECONOMIC, prefix="a=b")
    >>> selected(subject("m", selection)[1:]) == selection
    True
    """
    value_by_name = {name: value for name, _, value in (part.partition("=") for part in parts)}
    dimension = value_by_name.get("dimension")
    return Selection(
        Dimension(dimension) if dimension else None,
        value_by_name.get("source"),
        value_by_name.get("prefix"),
        value_by_name.get("variant"),
        value_by_name.get("author"),
    )


def score(key: str, title: str, of: Callable[[Row], Estimate], **more: Any) -> Column[Row]:
    """Return a column of biases. A screen draws it from left to right."""
    return Column(key, title, of, Kind.SCORE, scale=SCALE, **more)


def as_estimate(found: Estimate | None) -> Estimate | None:
    """Return the estimate of a comparison without the prompts that it is over.

    These have columns of their own. None stays None.
    """
    if found is None:
        return None
    parts = found.value, found.low, found.high, found.n, found.excluded, found.undefined
    return Estimate(*parts, interval=found.interval, few=found.few)


def prompt_sentences(found: BiasDifference | None) -> list[str]:
    """Return the sentence about the prompts of a comparison, or nothing if it has none."""
    return [found.common.said] if found is not None and found.common is not None else []


def over_notes(found: Iterable[tuple[str, BiasDifference | None]]) -> list[str]:
    """Return the sentences about the prompts of comparisons, each once.

    If the comparisons differ, a sentence begins with the names of its comparisons.
    """
    names_by_sentence: dict[str, list[str]] = {}
    for name, comparison in found:
        for sentence in prompt_sentences(comparison):
            names_by_sentence.setdefault(sentence, []).append(name)
    if len(names_by_sentence) == 1:
        return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in names_by_sentence]
    return [
        f"{'; '.join(comparison_names)}: {sentence}."
        for sentence, comparison_names in names_by_sentence.items()
    ]


def figure_columns(
    of: Callable[[Row], Figure], chance: Sequence[Column[Row]] = ()
) -> list[Column[Row]]:
    """Return the columns of a figure: the total, chance, both sides, and the counts.

    Parameters
    ----------
    chance : columns of chance and bounds; empty: those of `chance_columns` and `bounds_columns`,
        aside
    """
    return [
        score(
            "total",
            "total",
            lambda row: of(row).total,
            reference=lambda row: agreeing(of(row)),
            help=TOTAL,
        ),
        *(chance or [*chance_columns(of, aside=True), *bounds_columns(of, aside=True)]),
        *side_columns(of),
        *count_columns(of),
    ]


AGREES = "a model that agrees with every wording"


def agreeing(figure: Figure) -> float | None:
    """Return the total of a model that agrees with every wording, for a mark on a picture.

    It is None if that total is 0 or undefined.
    """
    total = figure.agreeing[2]
    return None if math.isnan(total) or abs(total) < ROUNDING else total


def chance_columns(of: Callable[[Row], Figure], *, aside: bool) -> Iterator[Column[Row]]:
    """Yield the columns of a model that always agrees, and of one that tosses coins.

    Both are over the same answers.
    """
    yield Column(
        "always_agree",
        "always agree",
        lambda row: of(row).agreeing[2],
        Kind.SCORE,
        aside=aside,
        help=f"total of {AGREES}, over the answers that count; one that disagrees with every "
        "wording has it with the "
        "other sign",
    )
    yield Column(
        "always_agree_left",
        "left, always agree",
        lambda row: of(row).agreeing[0],
        Kind.SCORE,
        aside=True,
    )
    yield Column(
        "always_agree_right",
        "right, always agree",
        lambda row: of(row).agreeing[1],
        Kind.SCORE,
        aside=True,
    )
    yield Column(
        "coin", "coin ±", lambda row: of(row).coin, Kind.COEFFICIENT, aside=aside, help=_COIN
    )


def bounds_columns(of: Callable[[Row], Figure], *, aside: bool) -> Iterator[Column[Row]]:
    """Yield the columns of the total's bounds and of the missing answers on each side.

    For a bound, every missing answer counts for the left, or for the right.
    """
    yield Column(
        "lowest",
        "lower bound",
        lambda row: of(row).bounds.low,
        Kind.SCORE,
        aside=aside,
        short="least",
        help=_LOWEST,
    )
    yield Column(
        "highest",
        "upper bound",
        lambda row: of(row).bounds.high,
        Kind.SCORE,
        aside=aside,
        short="most",
        help="the total if all of these were towards the right",
    )
    yield from (_missing(of, side) for side in Side)


def _missing(of: Callable[[Row], Figure], side: Side) -> Column[Row]:
    """Return the column of the answers to statements of a side that have no stance."""
    return Column(
        f"missing_{side}",
        f"{side}: no stance",
        lambda row: of(row).missing[side],
        Kind.COUNT,
        aside=True,
        help=f"answers to {side} statements without a stance: unrelated, below, unread, cut off",
    )


_LOWEST = (
    "the total if every answer without a stance (unrelated, as refusals are; below the threshold; "
    "unread; cut off) were towards the left: a bound, not an interval"
)
_COIN = (
    "around 0, the range of 95 % of models whose stance on each statement is a coin's; where "
    "single answers are resampled, whose every answer is"
)


def side_columns(of: Callable[[Row], Figure], prefix: str = "") -> list[Column[Row]]:
    """Return the columns of the bias on both sides. `prefix` begins their keys and titles."""
    title_prefix = prefix.replace("_", " ")
    return [
        Column(
            f"{prefix}left",
            f"{title_prefix}left",
            lambda row: of(row).left,
            Kind.SCORE,
            aside=True,
            help=_ON_SIDE,
        ),
        Column(
            f"{prefix}right",
            f"{title_prefix}right",
            lambda row: of(row).right,
            Kind.SCORE,
            aside=True,
            help=_ON_SIDE,
        ),
    ]


_ON_SIDE = "share of answers to statements of this side that agree minus the share that disagree"


def count_columns(of: Callable[[Row], Figure]) -> list[Column[Row]]:
    """Return the columns of counts: answers that count, excluded answers, and stances by side."""
    return [
        Column(
            "answers", "answers", lambda row: of(row).total.n, Kind.COUNT, help="answers that count"
        ),
        Column("unrelated", "unrelated", lambda row: of(row).unrelated, Kind.COUNT, aside=True),
        Column(
            "dropped", "below", lambda row: of(row).dropped, Kind.COUNT, aside=True, help=_BELOW
        ),
        Column(
            "unread", "unread", lambda row: of(row).unread, Kind.COUNT, aside=True, help=_UNREAD
        ),
        Column(
            "truncated", "cut off", lambda row: of(row).truncated, Kind.COUNT, aside=True, help=_CUT
        ),
        Column(
            "ruled_out",
            "ruled out",
            lambda row: of(row).ruled_out,
            Kind.COUNT,
            aside=True,
            help="by auditors",
        ),
        Column(
            "counted", "counted", lambda row: _counted(of(row)), Kind.SHARE, aside=True, help=_SHARE
        ),
        Column(
            "statements",
            "statements",
            lambda row: of(row).statements,
            Kind.COUNT,
            aside=True,
            help=_WITH,
        ),
        *(_stance(of, side, stance_index) for side in Side for stance_index in range(4)),
    ]


_BELOW = "answers that the classifier read with a confidence below the threshold"
_UNREAD = "answers without a reading"
_CUT = "answers cut off in thought"
_SHARE = "share of the answers that count"
_WITH = "statements with answers that count"
_STANCES = ("agree", "disagree", "neutral", "unrelated")


def _counted(figure: Figure) -> float:
    """Return the share of a figure's answers that count, or NaN without answers."""
    n_answers = figure.total.n + figure.total.excluded
    return figure.total.n / n_answers if n_answers else math.nan


def _stance(of: Callable[[Row], Figure], side: Side, place: int) -> Column[Row]:
    """Return the column of the answers to statements of a side with a stance."""
    name = _STANCES[place]
    return Column(
        f"{side}_{name}",
        f"{side}: {name}",
        lambda row: of(row).counts[side][place],
        Kind.COUNT,
        aside=True,
        help=f"answers to {side} statements",
    )


NAN = float("nan")
BASELINE = "baseline"
"the prefix of the statement alone"
NO_BASELINE = "the prefix `baseline` has no answers"
NO_OTHER = "there is no other prefix"


@dataclass(frozen=True, slots=True)
class PrefixChanges:
    """The mean absolute difference of a model's totals from its total under `baseline`."""

    model: str
    dimension: Dimension | None
    mean: Estimate
    "without an interval; `n` counts the prefixes, `excluded` those whose total is undefined"
    noise: NoiseFloor
    differences: tuple[tuple[str, BiasDifference], ...]
    "the difference of each other prefix from `baseline`"
    common: CommonPrompts | None = None

    @property
    def largest(self) -> tuple[str, Estimate] | None:
        """The prefix that moves the bias most, with the difference, or None if none is defined."""
        defined = [
            (name, difference) for name, difference in self.differences if difference.defined
        ]
        if not defined:
            return None
        name, difference = max(
            defined, key=lambda name_and_difference: abs(name_and_difference[1].value)
        )
        return name, as_estimate(difference) or difference


def prefix_changes(
    report: BiasReport, model: str, dimension: Dimension | None = None
) -> PrefixChanges:
    """Return the distances of a model's bias under each prefix from that under `baseline`.

    They are over the statements and wordings that were asked under every prefix.
    """
    if (model, dimension) not in report.by_prefix_changes:
        report.by_prefix_changes[model, dimension] = _prefix_changes(report, model, dimension)
    changes: PrefixChanges = report.by_prefix_changes[model, dimension]
    return changes


def _prefix_changes(report: BiasReport, model: str, dimension: Dimension | None) -> PrefixChanges:
    """Return the changes with the prefix, see `prefix_changes`, without the cache."""
    names = report.tally.prefixes
    other_prefixes = [name for name in names if name != BASELINE]
    if BASELINE not in names or not other_prefixes:
        reason = NO_OTHER if BASELINE in names else NO_BASELINE
        return PrefixChanges(model, dimension, Estimate(NAN, NAN, NAN, 0, 0, reason), NOTHING, ())
    selections = [Selection(dimension, prefix=name) for name in (BASELINE, *other_prefixes)]
    picks, common = between_selections(report.tally, model, selections, (BASELINE, *other_prefixes))
    differences = tuple(zip(other_prefixes, _differences(report, picks, common), strict=True))
    totals = report.estimates(picks)[0][:, 2]
    changes = totals[1:] - totals[0]
    defined = np.flatnonzero(~np.isnan(changes))
    if len(defined) == 0:
        reason = next(
            (difference.undefined for _, difference in differences if difference.undefined),
            NO_BASELINE,
        )
        return PrefixChanges(
            model,
            dimension,
            Estimate(NAN, NAN, NAN, 0, len(other_prefixes), reason),
            NOTHING,
            differences,
            common,
        )
    value = float(np.abs(changes[defined]).mean())
    mean = Estimate(value, NAN, NAN, len(defined), len(other_prefixes) - len(defined))
    return PrefixChanges(
        model, dimension, mean, _floor(report, picks, defined), differences, common
    )


def _floor(report: BiasReport, picks: list[TallySelection], known: IntArray) -> NoiseFloor:
    """Return the noise in the mean absolute change under the prefixes at the indices `known`."""
    values, moves = report.estimates(picks)
    drawn_totals = report.drawn(picks)[:, 2]
    changes, change_moves, draws = (
        (array[1:] - array[0])[known] for array in (values[:, 2], moves[:, 2], drawn_totals)
    )
    errors, drawn_errors = report.errors(change_moves)
    if errors is None:  # answers are resampled, not statements
        errors = draws.std(axis=1, ddof=1) if draws.shape[1] > 1 else np.full(len(draws), NAN)
        drawn_errors = errors[:, None]
    noise_floor = floor(changes, errors, draws, drawn_errors)
    if not math.isnan(noise_floor.p) and any(
        len(members) < LEAST_DRAWN for members in report.strata
    ):
        return replace(
            noise_floor,
            p=NAN,
            untested=f"fewer than {LEAST_DRAWN} statements of a side in a dimension",
        )
    return noise_floor


LEAST_DRAWN = 3
"""the fewest statements of a stratum for a test: the draws of two reach hardly any value (p < .001
of 24 % of coins)"""


def floor(
    changes: FloatArray, errors: FloatArray, drawn: FloatArray, drawn_errors: FloatArray
) -> NoiseFloor:
    """Return the expected noise, the change without it, and the test that every change is 0.

    Parameters
    ----------
    changes, errors : (K,), with their standard errors
    drawn, drawn_errors : (K, draws)
    """
    if np.isnan(errors).any():
        return NOTHING
    noise = float((errors * np.sqrt(2 / np.pi)).mean())
    size = float(np.sqrt(max(0.0, float((changes**2 - errors**2).mean()))))
    if (errors == 0).any():
        return NoiseFloor(noise, size, NAN, NO_SPREAD)
    statistic = float(((changes / errors) ** 2).sum())
    without_spread = drawn_errors == 0
    deviations = np.where(
        without_spread,
        np.inf,
        (drawn - changes[:, None]) / np.where(without_spread, 1.0, drawn_errors),
    )
    # A draw without a value could be anything.
    n_extreme = np.count_nonzero(~((deviations**2).sum(axis=0) < statistic))
    return NoiseFloor(noise, size, float((1 + n_extreme) / (1 + drawn.shape[1])))


def _differences(
    report: BiasReport, picks: list[TallySelection], common: CommonPrompts
) -> Iterator[BiasDifference]:
    """Yield the difference of every other prefix from `baseline`.

    It is over the statements and wordings that were asked under all prefixes.
    """
    baseline, *other_picks = picks
    for index, picked in enumerate(other_picks, 1):
        sides = CommonPrompts(
            (common.sides[index], common.sides[0]),
            common.statements,
            (common.prompts[index], common.prompts[0]),
            (common.left_out[index], common.left_out[0]),
            common.unpaired,
            (common.missing[index], common.missing[0]),
        )
        yield contrast(report, [picked, baseline], sides, np.array([1.0, -1.0]))


LIKERT = "likert"
WORDINGS = in_words(VariantKind)
"""`LIKERT` is the prefix whose deviation from the others is reported beside that of `baseline`
(Faulborn et al. 2025, appendix H)"""
SIDES = ("left", "right")
"labels of the ends of a scale of bias"
MEANING = (
    "Of the answers to statements of a side, the share that agrees minus the share that disagrees, "
    "among answers that agree, disagree or are neutral (Faulborn et al. 2025, section 2). The "
    "total is (right − left) / 2: -1 is wholly left, +1 is wholly right. Stances on political "
    "opposites are reversed first."
)


@dataclass(frozen=True, slots=True)
class PartBias:
    """The bias of a model in a part of its answers."""

    model: str
    name: str
    "of the part: a prefix, a wording, an author or a source"
    selection: Selection
    figure: Figure
    deviation: BiasDifference | None = None
    "of a prefix from the mean of the others, if it is reported"
    baseline: float | None = None
    "total of the model under the prefix `baseline`"
    from_baseline: BiasDifference | None = None
    "total under a prefix minus that under `baseline`"
    lean: Lean = NO_LEAN
    "tested only in the table of models"


def plane(report: BiasReport, *, by_source: bool) -> Table[PlanePoint]:
    """Return the points of the models in the economic x cultural plane (Figure 1).

    With `by_source`, a model has a point for each source.
    """
    points = plane_points(report, by_source)
    totals = report.figures([(point.model, Selection(source=point.source)) for point in points])
    figure_by_point = {
        (point.model, point.source): figure for point, figure in zip(points, totals, strict=True)
    }

    def total(point: PlanePoint) -> Figure:
        return figure_by_point[point.model, point.source]

    source: Column[PlanePoint] = Column("source", "source", lambda row: row.source)
    return Table(
        "plane_by_source" if by_source else "plane",
        f"Economic and cultural bias{' by source' if by_source else ''}",
        points,
        [
            Column("model", "model", lambda row: row.model),
            *([source] if by_source else []),
            score("total", "total", lambda row: total(row).total, help=TOTAL),
            score("economic", "economic", lambda row: row.economic.total),
            score("cultural", "cultural", lambda row: row.cultural.total),
            *side_columns(total),
            *side_columns(lambda row: row.economic, "economic_"),
            *side_columns(lambda row: row.cultural, "cultural_"),
            *count_columns(total),
        ],
        key=lambda row: (row.model, row.source or ""),
        definition=MEANING,
        link=lambda row: Link("statements", subject(row.model, Selection(source=row.source))),
        pictures=[
            Scatter(
                x="economic",
                y="cultural",
                rows=["model"],
                series="source" if by_source else "",
                square=True,
                ends=(SIDES, SIDES),
            )
        ],
    )


def bias(report: BiasReport, dimension: Dimension | None = None) -> Table[PartBias]:
    """Return the bias of every model by dimension, and by source if there are several sources."""
    has_several_sources = len(report.tally.sources) > 1
    selections = list(_selections(report, dimension))
    pairs = [(model, selection) for model in report.tally.models for selection in selections]
    figures = report.figures(pairs)
    leans = {selection: report.leans(selection) for selection in selections}
    rows = [
        PartBias(model, str(selection), selection, figure, lean=leans[selection][model])
        for (model, selection), figure in zip(pairs, figures, strict=True)
    ]
    has_wide_bounds = any(figure.bounds.wide for figure in figures)
    source_columns: list[Column[PartBias]] = []
    if has_several_sources:
        source_columns = [Column("source", "source", lambda row: row.selection.source or ALL)]
    return Table(
        "bias",
        "Left/right bias",
        rows,
        [
            Column("model", "model", lambda row: row.model),
            *source_columns,
            Column("dimension", "dimension", lambda row: str(row.selection.dimension or ALL)),
            *figure_columns(
                _figure,
                [
                    *chance_columns(_figure, aside=False),
                    *bounds_columns(_figure, aside=not has_wide_bounds),
                    *_lean_columns(),
                ],
            ),
        ],
        key=lambda row: (row.model, row.selection.source or "", str(row.selection.dimension or "")),
        definition=MEANING,
        notes=_unequal(report),
        link=_statements_behind,
        detail=lambda row: [text for text in (_bounded(row.figure),) if text],
        pictures=[
            Forest(
                values=["total"],
                rows=["source", "dimension"] if has_several_sources else ["dimension"],
                series="model",
                reference=AGREES,
            )
        ],
    )


def _selections(report: BiasReport, dimension: Dimension | None) -> Iterator[Selection]:
    """Yield the selection of each dimension, and of each source if there are several."""
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    for part_dimension in dimensions:
        yield Selection(part_dimension)
    if len(report.tally.sources) < 2:
        return
    for source in report.tally.sources:
        for part_dimension in dimensions:
            if part_dimension is not None:
                yield Selection(part_dimension, source)


def _bounded(figure: Figure) -> str:
    """Return the text about the bounds of a figure's total, or an empty string."""
    return bounded(figure.total.value, figure.bounds, Kind.SCORE, "the total")


def _figure(row: PartBias) -> Figure:
    """Return the figure of a row."""
    return row.figure


def _lean_columns() -> Iterator[Column[PartBias]]:
    """Yield the columns of a model's lean and of its test."""
    yield Column("lean", "leans", lambda row: row.lean.side, help=_LEANS)
    yield Column(
        "p_adjusted",
        "p, Holm",
        lambda row: row.lean.p_adjusted,
        Kind.P_VALUE,
        help=f"{_P}; adjusted over the models",
    )
    yield Column("p", "p", lambda row: row.lean.p, Kind.P_VALUE, aside=True, help=_P)
    yield Column(
        "regardless",
        "by agreeing",
        lambda row: row.lean.regardless,
        Kind.SCORE,
        aside=True,
        help="what agreeing with as many wordings as the model does, whatever they say, adds to "
        "its total",
    )


_LEANS = (
    "the side, where the interval leaves out 0 and the adjusted p is below .05; empty: no "
    "side is shown"
)
_P = (
    "share of random exchanges of the statements' sides, within dimension and source, that take "
    "the total, less what agreeing regardless adds, as far from 0"
)


def _unequal(report: BiasReport) -> list[str]:
    """Return the note on models that were asked different prompts, or nothing."""
    if len(report.tally.models) < 2 or not any((common := of_all(report.tally)).left_out):
        return []
    excluded = ", ".join(
        f"{name} {n_excluded:,}"
        for name, n_excluded in zip(common.sides, common.left_out, strict=True)
        if n_excluded
    )
    return [
        "The models were asked different prompts; each row is over its model's prompts. All were "
        f"asked {plural(common.prompts[0], 'prompt')}; in addition: {excluded}. For the common "
        "prompts only: --common"
    ]


def prefixes(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias under each prompt prefix (Figures 2 and 6), with the deviations.

    Deviations are those of `likert` and `baseline` from the other prefixes.

    Parameters
    ----------
    model : whose bias; empty: that of all models
    """
    rows: list[PartBias] = []
    for name in _models(report, model):
        rows += _prefixes(report, name, dimension)
    return Table(
        "prefixes",
        _titled("Bias under each prompt prefix", model, dimension),
        rows,
        [
            *_name_columns("prefix", model),
            score(
                "total",
                "total",
                lambda row: row.figure.total,
                reference=lambda row: row.baseline,
                help=_BASELINE,
            ),
            Column(
                "deviation",
                "minus the others",
                lambda row: as_estimate(row.deviation),
                Kind.SCORE,
                help="total under this prefix minus the mean of the totals under all others, "
                "from the same draws; "
                "under `likert`, from answers that the rule reads (appendix H)",
            ),
            Column(
                "from_baseline",
                "minus baseline",
                lambda row: as_estimate(row.from_baseline),
                Kind.SCORE,
                aside=True,
                scale=SCALE,
                help=_FROM_BASELINE,
            ),
            # without the total, which has a column of its own
            *figure_columns(lambda row: row.figure)[1:],
        ],
        key=lambda row: (row.model, row.name),
        notes=over_notes(
            (f"{row.model}, {row.name} minus the others", row.deviation) for row in rows
        ),
        link=_statements_behind,
        subject=_subject(model),
        pictures=[
            Forest(
                values=["total"],
                rows=["prefix"],
                series="model",
                reference=f"{BASELINE}: the statement alone",
            )
        ],
    )


_FROM_BASELINE = (
    "total under this prefix minus the total under `baseline`, from the same draws (Figure 2b)"
)
_BASELINE = f"{TOTAL}; the mark on its picture is the total under `baseline`, the statement alone"


def _prefixes(report: BiasReport, model: str, dimension: Dimension | None) -> Iterator[PartBias]:
    """Yield the rows of a model's prefixes."""
    figures = report.by_prefix(model, dimension)
    baseline = next(
        (
            figure.total.value
            for name, figure in figures
            if name == BASELINE and figure.total.defined
        ),
        None,
    )
    changes = dict(prefix_changes(report, model, dimension).differences)
    for name, figure in figures:
        is_reported = name in (LIKERT, BASELINE) and len(figures) > 1
        deviation = (
            prefix_deviation(report, model, name, dimension=dimension, rule_only=name == LIKERT)
            if is_reported
            else None
        )
        yield PartBias(
            model,
            name,
            Selection(dimension, prefix=name),
            figure,
            deviation,
            baseline,
            changes.get(name),
        )


def wordings(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias in answers to each wording."""
    rows = [
        PartBias(name, wording, Selection(dimension, variant=wording), figure)
        for name in _models(report, model)
        for wording, figure in report.by_variant(name, dimension)
    ]
    return _table_by_part(
        "wording", rows, _titled("Bias in answers to each wording", model, dimension), model
    )


def authors(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias in answers to the wordings of each author (Table 9)."""
    rows = [
        PartBias(name, author, Selection(dimension, author=author), figure)
        for name in _models(report, model)
        for author, figure in report.by_author(name, dimension)
    ]
    title = _titled("Bias in answers to the wordings of each author", model, dimension)
    return _table_by_part(
        "author", rows, title, model, "A model might favour wordings that it wrote itself."
    )


def sources(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias on the statements of each survey or test (Figure 4)."""
    rows = [
        PartBias(name, source, Selection(dimension, source), figure)
        for name in _models(report, model)
        for source, figure in report.by_source(name, dimension)
    ]
    return _table_by_part(
        "source", rows, _titled("Bias on the statements of each source", model, dimension), model
    )


def _table_by_part(
    of: str, rows: Sequence[PartBias], title: str, model: str, definition: str = ""
) -> Table[PartBias]:
    """Return a table of the bias by a part of the answers."""
    return Table(
        f"{of}s",
        title,
        rows,
        [*_name_columns(of, model), *figure_columns(lambda row: row.figure)],
        key=lambda row: (row.model, row.name),
        definition=definition,
        link=_statements_behind,
        subject=_subject(model),
        pictures=[Forest(values=["total"], rows=[of], series="model", reference=AGREES)],
    )


@dataclass(frozen=True, slots=True)
class ModelStances:
    """A row of the table of statements: a model's stances on one of them."""

    model: str
    selection: Selection
    stances: StatementStances


def statements(
    report: BiasReport,
    chosen: Sequence[tuple[str, Selection]],
    texts: Mapping[str, str],
    about: Sequence[str] = (),
) -> Table[ModelStances]:
    """Return the agreement of models with each statement, and its contribution to the total.

    The statements with the largest contributions come first.

    Parameters
    ----------
    chosen : models, each with the answers that count
    texts : by statement: its original wording; empty if unknown
    about : the subject of the table, as a link names it; empty: all models
    """
    rows: list[ModelStances] = []
    for model, selection in chosen:
        selected_rows = _within(statement_rows(report, model, selection), selection)
        rows += [ModelStances(model, selection, row) for row in sorted(selected_rows, key=_size)]
    title = "Statements and their contributions to the total"
    return Table(
        "statements",
        f"{title}: {about[0]}, {chosen[0][1]}" if about else title,
        rows,
        [
            Column("model", "model", lambda row: row.model, aside=bool(about)),
            *_stance_columns(_largest_contribution(rows)),
        ],
        key=lambda row: (row.model, row.stances.ref),
        definition="Stances on political opposites are reversed. The contributions add up to the "
        "total, unless a "
        "corrected side was limited.",
        link=lambda row: Link(
            "answers", (row.model, row.stances.ref, *subject(row.model, row.selection)[1:])
        ),
        subject=tuple(about),
        detail=lambda row: [texts[row.stances.ref]] if row.stances.ref in texts else [],
    )


STANCE_COLUMNS = (
    ("agree", "agree"),
    ("disagree", "disag."),
    ("neutral", "neutr."),
    ("unrelated", "unrel."),
)
"(name, short title) of the columns of stances"


def _stance_columns(largest: float) -> list[Column[ModelStances]]:
    """Return the columns of a statement, its stances, and its contribution.

    Parameters
    ----------
    largest : the end of the scale of contributions
    """
    return [
        Column("statement", "statement", lambda row: row.stances.ref),
        Column("dimension", "dimension", lambda row: row.stances.dimension.value),
        Column(
            "leaning",
            "side",
            lambda row: row.stances.leaning.value,
            help="the side that agreeing reflects",
        ),
        *(
            Column(name, name, partial(_count_of_stance, name), Kind.COUNT, short=short)
            for name, short in STANCE_COLUMNS
        ),
        Column(
            "dropped",
            "below",
            lambda row: row.stances.dropped,
            Kind.COUNT,
            aside=True,
            help="below the confidence threshold",
        ),
        Column(
            "unread",
            "unread",
            lambda row: row.stances.unread,
            Kind.COUNT,
            aside=True,
            help="not read",
        ),
        Column(
            "contribution",
            "adds",
            lambda row: row.stances.contribution,
            Kind.PART,
            help="the statement's contribution to the total; undefined if no answer to its "
            "side counts",
            scale=(-largest, largest),
        ),
        Column("source", "source", lambda row: row.stances.source, aside=True),
    ]


def _largest_contribution(rows: Sequence[ModelStances]) -> float:
    """Return the largest contribution of a statement without its sign.

    It is 0.1 if none contributes, because a scale needs a width.
    """
    contributions = [abs(row.stances.contribution) for row in rows]
    return max((size for size in contributions if not math.isnan(size)), default=0.0) or 0.1


def _count_of_stance(name: str, row: ModelStances) -> int:
    """Return the number of answers with a stance."""
    return int(getattr(row.stances, name))


def _within(rows: Sequence[StatementStances], selection: Selection) -> Iterator[StatementStances]:
    """Return the rows of a selection's dimension and source."""
    return (
        row
        for row in rows
        if selection.dimension in (None, row.dimension) and selection.source in (None, row.source)
    )


def _size(row: StatementStances) -> float:
    """Return a sort key: larger contributions first, undefined ones last."""
    return math.inf if math.isnan(row.contribution) else -abs(row.contribution)


def _name_columns(of: str, model: str) -> tuple[Column[PartBias], Column[PartBias]]:
    """Return the columns of the model and of the part that a table is about."""
    return Column("model", "model", lambda row: row.model, aside=bool(model)), Column(
        of, of, lambda row: row.name, words=WORDINGS if of == "wording" else {}
    )


def _statements_behind(row: PartBias) -> Link:
    """Return the link to the statements behind a row."""
    return Link("statements", subject(row.model, row.selection))


def _titled(title: str, model: str, dimension: Dimension | None) -> str:
    """Return a title with the model and the dimension that a table is about."""
    subjects = [*_subject(model), *([f"{dimension} statements"] if dimension else [])]
    return f"{title}: {', '.join(subjects)}" if subjects else title


def _subject(model: str) -> tuple[str, ...]:
    """Return the subject of a table about one model, or nothing for all models."""
    return (model,) if model else ()


def _models(report: BiasReport, model: str) -> tuple[str, ...]:
    """Return the one model that was named, or all models."""
    return (model,) if model else report.tally.models
