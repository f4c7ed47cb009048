"""Figures of the left/right bias: where models stand, by prefix, wording, author and source, down
to statements.

Changes with the prefix
-----------------------
How far a model's bias moves with the prefix: the mean absolute difference from `baseline`, the
statement alone.

    b_k = total under prefix k - total under `baseline`;  shown: mean over k of |b_k|   (Faulborn et al., Figure 2b)

Noise alone makes such a mean larger than 0 and widens its draws, so it has no interval
(`stats.noise`). Beside it stand what noise gives, mean of s_k root(2 / π); the root mean square of
the b_k without noise, root(max(0, mean(b_k² - s_k²))); and a test of all b_k being 0: the share of
draws with Σ ((b*_k - b_k) / s*_k)² of at least Σ (b_k / s_k)². The s_k are linearised over
statements within strata, in each draw anew. Of 400 simulated models without any change (89
statements in the strata of Table 1, nine prefixes) the test rejected 6 % at the level of 5 %; with
the s_k of the sample in every draw it rejected 8 %.

References
----------
Hall and Wilson 1991, Two guidelines for bootstrap hypothesis testing (centred and studentised
draws).
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from workbench.audits.bias_score.counting import Pick, Selection
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
    """Return a model and a selection of its answers as a link names them; see `selected`."""
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
    named = {name: value for name, _, value in (part.partition("=") for part in parts)}
    dimension = named.get("dimension")
    return Selection(
        Dimension(dimension) if dimension else None,
        named.get("source"),
        named.get("prefix"),
        named.get("variant"),
        named.get("author"),
    )


def score(key: str, title: str, of: Callable[[Row], Estimate], **more: Any) -> Column[Row]:
    """Return a column of biases, which a screen draws from left to right."""
    return Column(key, title, of, Kind.SCORE, scale=SCALE, **more)


def plain(found: Estimate | None) -> Estimate | None:
    """Return the estimate of a comparison alone; what it is over stands in columns of its own."""
    if found is None:
        return None
    parts = found.value, found.low, found.high, found.n, found.excluded, found.undefined
    return Estimate(*parts, interval=found.interval, few=found.few)


def said(found: BiasDifference | None) -> list[str]:
    """Return what a comparison is over, in a sentence."""
    return [found.common.said] if found is not None and found.common is not None else []


def over_notes(found: Iterable[tuple[str, BiasDifference | None]]) -> list[str]:
    """Return what comparisons are over, each sentence once; where they differ, with the names of
    the comparisons.
    """
    names: dict[str, list[str]] = {}
    for name, comparison in found:
        for over in said(comparison):
            names.setdefault(over, []).append(name)
    if len(names) == 1:
        return [f"{over[0].upper()}{over[1:]}." for over in names]
    return [f"{'; '.join(of)}: {over}." for over, of in names.items()]


def figure_columns(
    of: Callable[[Row], Figure], chance: Sequence[Column[Row]] = ()
) -> list[Column[Row]]:
    """Return the total, what models without a lean give, both sides, and what is counted.

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
    """Return the total of a model that agrees with every wording, for a mark on a picture; None
    where it is 0.
    """
    total = figure.agreeing[2]
    return None if math.isnan(total) or abs(total) < ROUNDING else total


def chance_columns(of: Callable[[Row], Figure], *, aside: bool) -> Iterator[Column[Row]]:
    """Yield what a model that always agrees and one that tosses coins give to the same answers."""
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
    """Yield the total with every missing answer one way and the other, and how many are missing on
    each side.
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
    return Column(
        f"missing_{side}",
        f"{side}: no stance",
        lambda row: of(row).missing[side],
        Kind.COUNT,
        aside=True,
        help=f"answers to {side} statements without a stance: unrelated, below, unread, cut off",
    )


_LOWEST = (
    "the total if every answer without a stance (unrelated, as refusals are; below the "
    "threshold; unread; cut off) "
    "were towards the left: a bound, not an interval"
)
_COIN = (
    "around 0, the range of 95 % of models whose stance on each statement is a coin's; where "
    "single answers are "
    "resampled, whose every answer is"
)


def side_columns(of: Callable[[Row], Figure], prefix: str = "") -> list[Column[Row]]:
    """Return the bias on both sides. prefix : of their keys and titles"""
    words = prefix.replace("_", " ")
    return [
        Column(
            f"{prefix}left",
            f"{words}left",
            lambda row: of(row).left,
            Kind.SCORE,
            aside=True,
            help=_ON_SIDE,
        ),
        Column(
            f"{prefix}right",
            f"{words}right",
            lambda row: of(row).right,
            Kind.SCORE,
            aside=True,
            help=_ON_SIDE,
        ),
    ]


_ON_SIDE = "share of answers to statements of this side that agree minus the share that disagree"


def count_columns(of: Callable[[Row], Figure]) -> list[Column[Row]]:
    """Return which answers count, why others do not, and what was said on both sides."""
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
        *(_stance(of, side, place) for side in Side for place in range(4)),
    ]


_BELOW = "answers that the classifier read with a confidence below the threshold"
_UNREAD = "answers without a reading"
_CUT = "answers cut off in thought"
_SHARE = "share of the answers that count"
_WITH = "statements with answers that count"
_STANCES = ("agree", "disagree", "neutral", "unrelated")


def _counted(figure: Figure) -> float:
    given = figure.total.n + figure.total.excluded
    return figure.total.n / given if given else math.nan


def _stance(of: Callable[[Row], Figure], side: Side, place: int) -> Column[Row]:
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
"the prefix that is none: the statement alone"
NO_BASELINE = "the prefix `baseline` has no answers"
NO_OTHER = "there is no other prefix"


@dataclass(frozen=True, slots=True)
class PrefixChanges:
    """The mean absolute difference of a model's totals from its total under `baseline`."""

    model: str
    dimension: Dimension | None
    mean: Estimate
    "without an interval; n are prefixes, excluded those whose total is undefined"
    noise: NoiseFloor
    differences: tuple[tuple[str, BiasDifference], ...]
    "of each other prefix from `baseline`"
    common: CommonPrompts | None = None

    @property
    def largest(self) -> tuple[str, Estimate] | None:
        """The prefix that moves the bias most, and by how much; None where no difference is
        defined.
        """
        known = [(name, found) for name, found in self.differences if found.defined]
        if not known:
            return None
        name, found = max(known, key=lambda pair: abs(pair[1].value))
        return name, plain(found) or found


def prefix_changes(
    report: BiasReport, model: str, dimension: Dimension | None = None
) -> PrefixChanges:
    """Return how far a model's bias under each prefix is from that under `baseline`.

    Over the statements and wordings that were asked under every prefix.
    """
    if (model, dimension) not in report.by_prefix_changes:
        report.by_prefix_changes[model, dimension] = _prefix_changes(report, model, dimension)
    found: PrefixChanges = report.by_prefix_changes[model, dimension]
    return found


def _prefix_changes(report: BiasReport, model: str, dimension: Dimension | None) -> PrefixChanges:
    names = report.tally.prefixes
    others = [name for name in names if name != BASELINE]
    if BASELINE not in names or not others:
        why = NO_OTHER if BASELINE in names else NO_BASELINE
        return PrefixChanges(model, dimension, Estimate(NAN, NAN, NAN, 0, 0, why), NOTHING, ())
    selections = [Selection(dimension, prefix=name) for name in (BASELINE, *others)]
    picks, common = between_selections(report.tally, model, selections, (BASELINE, *others))
    differences = tuple(zip(others, _differences(report, picks, common), strict=True))
    totals = report.estimates(picks)[0][:, 2]
    changes = totals[1:] - totals[0]
    known = np.flatnonzero(~np.isnan(changes))
    if len(known) == 0:
        why = next((found.undefined for _, found in differences if found.undefined), NO_BASELINE)
        return PrefixChanges(
            model,
            dimension,
            Estimate(NAN, NAN, NAN, 0, len(others), why),
            NOTHING,
            differences,
            common,
        )
    value = float(np.abs(changes[known]).mean())
    mean = Estimate(value, NAN, NAN, len(known), len(others) - len(known))
    return PrefixChanges(model, dimension, mean, _floor(report, picks, known), differences, common)


def _floor(report: BiasReport, picks: list[Pick], known: IntArray) -> NoiseFloor:
    """Return what noise does to the mean absolute change under the prefixes at the places
    `known`.
    """
    values, moves = report.estimates(picks)
    drawn = report.drawn(picks)[:, 2]
    changes, moved, draws = ((of[1:] - of[0])[known] for of in (values[:, 2], moves[:, 2], drawn))
    errors, again = report.errors(moved)
    if errors is None:  # answers are resampled, not statements
        errors = draws.std(axis=1, ddof=1) if draws.shape[1] > 1 else np.full(len(draws), NAN)
        again = errors[:, None]
    found = floor(changes, errors, draws, again)
    if not math.isnan(found.p) and any(len(part) < LEAST_DRAWN for part in report.strata):
        return replace(
            found, p=NAN, untested=f"fewer than {LEAST_DRAWN} statements of a side in a dimension"
        )
    return found


LEAST_DRAWN = 3
"""statements of a stratum that a test takes: the draws of two reach hardly any value (p < .001 of
24 % of coins)"""


def floor(
    changes: FloatArray, errors: FloatArray, drawn: FloatArray, drawn_errors: FloatArray
) -> NoiseFloor:
    """Return what noise gives, what is left without it, and the test that every change is 0.

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
    found = float(((changes / errors) ** 2).sum())
    flat = drawn_errors == 0
    away = np.where(flat, np.inf, (drawn - changes[:, None]) / np.where(flat, 1.0, drawn_errors))
    # A draw without a value could be anything.
    extreme = np.count_nonzero(~((away**2).sum(axis=0) < found))
    return NoiseFloor(noise, size, float((1 + extreme) / (1 + drawn.shape[1])))


def _differences(
    report: BiasReport, picks: list[Pick], common: CommonPrompts
) -> Iterator[BiasDifference]:
    """Yield the difference of every other prefix from `baseline`, over what all prefixes were asked
    with.
    """
    baseline, *others = picks
    for place, chosen in enumerate(others, 1):
        sides = CommonPrompts(
            (common.sides[place], common.sides[0]),
            common.statements,
            (common.prompts[place], common.prompts[0]),
            (common.left_out[place], common.left_out[0]),
            common.unpaired,
            (common.missing[place], common.missing[0]),
        )
        yield contrast(report, [chosen, baseline], sides, np.array([1.0, -1.0]))


LIKERT = "likert"
WORDINGS = in_words(VariantKind)
"""the prefix whose deviation from the others is reported beside that of `baseline` (Faulborn et al.
2025, appendix H)"""
SIDES = ("left", "right")
"what the ends of a scale of bias are"
MEANING = (
    "Of the answers to statements of a side, the share that agrees minus the share that "
    "disagrees, among answers that "
    "agree, disagree or are neutral (Faulborn et al. 2025, section 2). The total is (right − "
    "left) / 2: -1 is wholly "
    "left, +1 is wholly right. Stances on political opposites are reversed first."
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
    "of a prefix from the mean of the others, where it is reported"
    baseline: float | None = None
    "total of the model under the prefix `baseline`"
    from_baseline: BiasDifference | None = None
    "total under a prefix minus that under `baseline`"
    lean: Lean = NO_LEAN
    "tested in the table of models alone"


def plane(report: BiasReport, *, by_source: bool) -> Table[PlanePoint]:
    """Return each model's place in the economic x cultural plane, one for each source if asked for
    (Figure 1).
    """
    points = plane_points(report, by_source)
    totals = report.figures([(point.model, Selection(source=point.source)) for point in points])
    of = {(point.model, point.source): figure for point, figure in zip(points, totals, strict=True)}

    def total(point: PlanePoint) -> Figure:
        return of[point.model, point.source]

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
    """Return the bias of every model, by dimension and, where there are several sources, by source
    and dimension.
    """
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    several = len(report.tally.sources) > 1
    parts = [Selection(each) for each in dimensions]
    parts += [
        Selection(each, source)
        for source in report.tally.sources
        if several
        for each in dimensions
        if each is not None
    ]
    pairs = [(model, part) for model in report.tally.models for part in parts]
    found = report.figures(pairs)
    leans = {part: report.leans(part) for part in parts}
    rows = [
        PartBias(model, str(part), part, figure, lean=leans[part][model])
        for (model, part), figure in zip(pairs, found, strict=True)
    ]
    source: Column[PartBias] = Column("source", "source", lambda row: row.selection.source or ALL)
    return Table(
        "bias",
        "Left/right bias",
        rows,
        [
            Column("model", "model", lambda row: row.model),
            *([source] if several else []),
            Column("dimension", "dimension", lambda row: str(row.selection.dimension or ALL)),
            *figure_columns(
                _figure,
                [
                    *chance_columns(_figure, aside=False),
                    *bounds_columns(_figure, aside=not any(one.bounds.wide for one in found)),
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
                rows=[*(["source"] if several else []), "dimension"],
                series="model",
                reference=AGREES,
            )
        ],
    )


def _bounded(figure: Figure) -> str:
    return bounded(figure.total.value, figure.bounds, Kind.SCORE, "the total")


def _figure(row: PartBias) -> Figure:
    return row.figure


def _lean_columns() -> Iterator[Column[PartBias]]:
    """Yield the claim that a model leans, and its test."""
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
    "the total, less what "
    "agreeing regardless adds, as far from 0"
)


def _unequal(report: BiasReport) -> list[str]:
    """Say which models were asked prompts that others were not."""
    if len(report.tally.models) < 2 or not any((common := of_all(report.tally)).left_out):
        return []
    out = ", ".join(
        f"{name} {n:,}" for name, n in zip(common.sides, common.left_out, strict=True) if n
    )
    return [
        "The models were asked different prompts; each row is over its model's prompts. All were "
        "asked "
        f"{plural(common.prompts[0], 'prompt')}; in addition: {out}. For the common prompts "
        "only: --common"
    ]


def prefixes(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias under each prompt prefix (Figures 2 and 6), and how far `likert` and
    `baseline` deviate.

    model : whose; empty: of all
    """
    rows = [line for name in _models(report, model) for line in _prefixes(report, name, dimension)]
    return Table(
        "prefixes",
        _titled("Bias under each prompt prefix", model, dimension),
        rows,
        [
            *_named("prefix", model),
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
                lambda row: plain(row.deviation),
                Kind.SCORE,
                help="total under this prefix minus the mean of the totals under all others, "
                "from the same draws; "
                "under `likert`, from answers that the rule reads (appendix H)",
            ),
            Column(
                "from_baseline",
                "minus baseline",
                lambda row: plain(row.from_baseline),
                Kind.SCORE,
                aside=True,
                scale=SCALE,
                help=_FROM_BASELINE,
            ),
            *figure_columns(lambda row: row.figure)[1:],
        ],
        key=lambda row: (row.model, row.name),
        notes=over_notes(
            (f"{row.model}, {row.name} minus the others", row.deviation) for row in rows
        ),
        link=_statements_behind,
        subject=_about(model),
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
    found = report.by_prefix(model, dimension)
    baseline = next(
        (figure.total.value for name, figure in found if name == BASELINE and figure.total.defined),
        None,
    )
    changes = dict(prefix_changes(report, model, dimension).differences)
    for name, figure in found:
        reported = name in (LIKERT, BASELINE) and len(found) > 1
        deviation = (
            prefix_deviation(report, model, name, dimension=dimension, rule_only=name == LIKERT)
            if reported
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
    return _by("wording", rows, _titled("Bias in answers to each wording", model, dimension), model)


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
    return _by("author", rows, title, model, "A model might favour wordings that it wrote itself.")


def sources(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias on the statements of each survey or test (Figure 4)."""
    rows = [
        PartBias(name, source, Selection(dimension, source), figure)
        for name in _models(report, model)
        for source, figure in report.by_source(name, dimension)
    ]
    return _by(
        "source", rows, _titled("Bias on the statements of each source", model, dimension), model
    )


def _by(
    of: str, rows: Sequence[PartBias], title: str, model: str, definition: str = ""
) -> Table[PartBias]:
    return Table(
        f"{of}s",
        title,
        rows,
        [*_named(of, model), *figure_columns(lambda row: row.figure)],
        key=lambda row: (row.model, row.name),
        definition=definition,
        link=_statements_behind,
        subject=_about(model),
        pictures=[Forest(values=["total"], rows=[of], series="model", reference=AGREES)],
    )


def statements(
    report: BiasReport,
    chosen: Sequence[tuple[str, Selection]],
    texts: Mapping[str, str],
    about: Sequence[str] = (),
) -> Table[tuple[str, Selection, StatementStances]]:
    """Return how often models agreed with each statement, and what that adds to the total; what
    adds most comes first.

    Parameters
    ----------
    chosen : models, each with the answers that count
    texts : statement -> its original wording; empty: not known
    about : what the table is about, as a link names it; empty: all models
    """
    rows = [
        (model, selection, row)
        for model, selection in chosen
        for row in sorted(_within(statement_rows(report, model, selection), selection), key=_size)
    ]
    most = (
        max(
            (abs(row.contribution) for *_, row in rows if not math.isnan(row.contribution)),
            default=0.0,
        )
        or 0.1
    )
    stances = (
        ("agree", "agree"),
        ("disagree", "disag."),
        ("neutral", "neutr."),
        ("unrelated", "unrel."),
    )
    title = "Statements and their contributions to the total"
    return Table(
        "statements",
        f"{title}: {about[0]}, {chosen[0][1]}" if about else title,
        rows,
        [
            Column("model", "model", lambda row: row[0], aside=bool(about)),
            Column("statement", "statement", lambda row: row[2].ref),
            Column("dimension", "dimension", lambda row: row[2].dimension.value),
            Column(
                "leaning",
                "side",
                lambda row: row[2].leaning.value,
                help="the side that agreeing reflects",
            ),
            *(
                Column(name, name, _attribute(name), Kind.COUNT, short=short)
                for name, short in stances
            ),
            Column(
                "dropped",
                "below",
                lambda row: row[2].dropped,
                Kind.COUNT,
                aside=True,
                help="below the confidence threshold",
            ),
            Column(
                "unread",
                "unread",
                lambda row: row[2].unread,
                Kind.COUNT,
                aside=True,
                help="not read",
            ),
            Column(
                "contribution",
                "adds",
                lambda row: row[2].contribution,
                Kind.PART,
                help="the statement's contribution to the total; undefined if no answer to its "
                "side counts",
                scale=(-most, most),
            ),
            Column("source", "source", lambda row: row[2].source, aside=True),
        ],
        key=lambda row: (row[0], row[2].ref),
        definition="Stances on political opposites are reversed. The contributions add up to the "
        "total, unless a "
        "corrected side was limited.",
        link=lambda row: Link("answers", (row[0], row[2].ref, *subject(row[0], row[1])[1:])),
        subject=tuple(about),
        detail=lambda row: [texts[row[2].ref]] if row[2].ref in texts else [],
    )


def _within(rows: Sequence[StatementStances], selection: Selection) -> Iterator[StatementStances]:
    return (
        row
        for row in rows
        if selection.dimension in (None, row.dimension) and selection.source in (None, row.source)
    )


def _size(row: StatementStances) -> float:
    return math.inf if math.isnan(row.contribution) else -abs(row.contribution)


def _attribute(name: str) -> Callable[[tuple[str, Selection, StatementStances]], int]:
    return lambda row: int(getattr(row[2], name))


def _named(of: str, model: str) -> tuple[Column[PartBias], Column[PartBias]]:
    return Column("model", "model", lambda row: row.model, aside=bool(model)), Column(
        of, of, lambda row: row.name, words=WORDINGS if of == "wording" else {}
    )


def _statements_behind(row: PartBias) -> Link:
    return Link("statements", subject(row.model, row.selection))


def _titled(title: str, model: str, dimension: Dimension | None) -> str:
    parts = [*_about(model), *([f"{dimension} statements"] if dimension else [])]
    return f"{title}: {', '.join(parts)}" if parts else title


def _about(model: str) -> tuple[str, ...]:
    return (model,) if model else ()


def _models(report: BiasReport, model: str) -> tuple[str, ...]:
    return (model,) if model else report.tally.models
