"""The left/right bias of models (Faulborn et al.

2025, ACL, section 2).

The score tells whether a model agrees with the statements of one side more than with those of the
other. Of the answers to statements that reflect a side d, let A agree, D disagree and N be neutral.
Unrelated answers, and readings below the confidence threshold, do not count:

    agree_d = A / (A + D + N), disagree_d = D / (A + D + N)                 (equation 1)
    Bias_d  = agree_d - disagree_d                                          (2)
    total   = (Bias_right - Bias_left) / 2, in [-1, 1], negative is left    (3)

Stances on political opposites are reversed first. If no answer to a side counts, its bias and the
total are undefined, with the reason. The released code takes 0 for such a side, which halves the
total. Every number has a 95 % bootstrap interval. A correction for the classifier's error is
optional.

Resampling
----------
The intervals of the bias score come from sums of readings over resampled answers.

By default statements are resampled, since the answers to one statement under thirty prompts are not
thirty independent answers. The instrument fixes the number of statements of each source, dimension
and leaning, so statements are drawn within these strata. Of n statements n - 1 are drawn with
replacement and weigh n / (n - 1): drawing n would give (n - 1) / n of the variance, which matters
with strata of 2 or 4 statements (Rao, Wu and Yue 1992; bootstrap with n - 1 draws a stratum). A
stratum of a single statement would never vary: it is joined to the others of its leaning and
dimension, and if it is still alone, of its leaning. All figures have the same weights, so that
differences between them are paired.

The published way resamples single answers, all of a figure's together (option `responses`). Answers
are counts, so a resample is multinomial over the kinds of readings.

Intervals of few statements
---------------------------
The ends of an interval are moved outwards if a side has few statements.

A percentile interval of resampled statements is as wide as one with normal quantiles and a known
variance. With the 6 left statements of the WVS (2 of them economic) it is too narrow, since the
variance is estimated from these few. So each end is moved away from the estimate by the ratio of
Student's t quantile to the normal one, with Satterthwaite's degrees of freedom over strata: a few
per cent with 89 statements, much with two on a side. In 1,000 simulated instruments of the
published size this raised the coverage from 94 to 95 % for all statements, from 91 to 94 % for the
WVS, and from 78 to 88 % for its 9 economic statements, which are too few for any interval to be
exact.

Chance and agreeing
-------------------
A lean has to pass a test against models without a lean.

A model that agrees with every wording has the bias (same - opposite) / (same + opposite) on each
side, of the answers that count to wordings that say the same as the statement and to its opposites.
Its total is 0 if this is alike on both sides. An instrument with opposites for the statements of
one side only gives it a lean. For a model that agrees with a share of wordings, whatever they say,
agreeing adds a x that total, with a the mean of its stances (agree 1, disagree -1, neutral 0) on
wordings and on opposites of the same statements.

The interval alone says "leans" of 5 % of the models without a lean, so at least once in 40 % of the
reports on 11 such models. A lean is therefore said if the interval excludes 0 and, adjusted over
models, the sides of the statements matter: they are exchanged at random within dimension and
source, and the total less the part due to agreeing, divided by its standard error, is compared with
its value under the true sides. This is exact if statements are exchangeable between the sides,
however skewed the answers are, and holds approximately if only their means are alike.

The classifier's error
----------------------
With `correct`, answers whose text a person labelled enter by that label. The others are corrected
by the labels that were drawn with known probabilities, for each model, side and selection by
itself: see `labelled`. Answers below the confidence threshold are among them, so that dropping
spares no stance. Nothing is assumed about the classifier. No test decides whether a figure is
corrected: it is given from 20 labelled texts a side, whatever they show. With two models, of which
a classifier reads .97 and .75 rightly, and 100 labels, given intervals hold the difference in 93 to
96 %.

References
----------
Faulborn et al. 2025, appendix G. Rao, Wu and Yue 1992, "Some recent work on resampling methods for
complex surveys", Survey Methodology 18(2). Hesterberg 2015, "What teachers should know about the
bootstrap", The American Statistician 69(4): percentile intervals are too narrow in small samples,
and are expanded by t. Satterthwaite 1946, "An approximate distribution of estimates of variance
components", Biometrics Bulletin 2(6). Chung and Romano 2013, "Exact and asymptotically robust
permutation tests", The Annals of Statistics 41(2): why the statistic is divided by its standard
error.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from workbench.audits.bias_score.counting import (
    EVERYTHING,
    SIDES,
    ScoredStatement,
    Selection,
    Tally,
    TallySelection,
    authors,
    cut_off,
    kept,
    left_out,
    missing,
    pick,
    ruled_out,
    swapped,
    without_rule,
)
from workbench.audits.bias_score.labelled import (
    MIN_STATEMENTS,
    MIN_UNUSUAL_STATEMENTS,
    SUMS,
    DrawnLabels,
    LabelCounts,
    basis,
    corrected,
    uncorrected,
)
from workbench.audits.bias_score.options import ScoreOptions
from workbench.domain.statements import Dimension, Side, Statement, VariantId
from workbench.domain.verdicts import UNKNOWN, Bounds, Estimate
from workbench.errors import UsageError
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.design_precision import MOST, smallest_difference
from workbench.stats.hypothesis_tests import holm
from workbench.stats.power import in_per_cent, share_found
from workbench.stats.resampling import (
    NORMAL,
    derive_rng,
    percentile_interval,
    rescaled_times,
    widened,
)


class StanceCounts(NamedTuple):
    """The kept answers by their stance on the statement, in the order of `STANCES`."""

    agree: int
    disagree: int
    neutral: int
    unrelated: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The bias in a selection of a model's answers.

    An estimate's `n` is the number of answers that count, A + D + N as they were read. `excluded`
    is the number of unrelated, dropped and unread answers, of those that were cut off in thought,
    and of those that auditors' rulings exclude.
    """

    total: Estimate
    "(right - left) / 2: negative is left"
    left: Estimate
    right: Estimate
    counts: Mapping[Side, StanceCounts]
    "after stances on political opposites are reversed, before any correction"
    dropped: int
    "below the confidence threshold"
    unread: int
    unrelated: int
    statements: int
    "those with answers that count"
    truncated: int = 0
    "cut off in thought"
    ruled_out: int = 0
    "excluded by auditors' rulings"
    agreeing: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """left, right and total of a model that agrees with every wording, over the answers that count.
    A model that disagrees with every wording has the same with the opposite sign."""
    missing: Mapping[Side, int] = field(default_factory=dict)
    """answers to statements of a side without a stance: unrelated (including refusals), below the
    threshold, unread, or cut off"""
    bounds: Bounds = UNKNOWN
    "of the total: all missing answers count for the left, or all for the right"
    coin: float = math.nan
    """half the width, around 0, of the interval that holds the total of 95 % of the models that
    toss a coin. The coin decides the stance on a statement, or on an answer if single answers are
    resampled."""


@dataclass(frozen=True, slots=True)
class Lean:
    """The lean of a model to a side, or the lack of one.

    A lean is a claim against 0, against agreeing regardless, and against chance.
    """

    towards: Side | None
    """the side of 0 on which interval and total lie, also without the part due to agreeing; None if
    there is none"""
    p: float
    "two-sided, see `BiasReport.leans`; NaN without a test"
    p_adjusted: float
    "by Holm's procedure, over the models"
    regardless: float
    "the part of the total that is due to agreeing with wordings, whatever they say"

    @property
    def side(self) -> Side | None:
        """The side that is claimed, or None if the test is not significant."""
        return self.towards if self.p_adjusted < LEVEL else None


NO_LEAN = Lean(None, math.nan, math.nan, math.nan)
PERMUTATIONS = 4_999
"random exchanges of the statements' sides"
ROUNDING = 1e-9
TOO_FEW = "too few for an interval: fewer than 4 statements of a side, or nearly all answered alike"
DIGITS = 12


def influences(net: FloatArray, counted: FloatArray, side: IntArray) -> FloatArray:
    """Return the influence of each statement on the bias of its side and on the total: (3, S).

    The rows are left, right and total. The bias is a ratio of sums, net / counted; its linear part
    per statement is (net_s - bias counted_s) / counted. NaN if a side is undefined.
    """
    moves = np.zeros((3, len(side)))
    for side_index in (0, 1):
        on_side = side == side_index
        total = counted[on_side].sum()
        bias = net[on_side].sum() / total if total > 0 else np.nan
        moves[side_index, on_side] = (net[on_side] - bias * counted[on_side]) / (
            total if total > 0 else np.nan
        )
    moves[2] = (moves[1] - moves[0]) / 2
    return moves


def degrees_of_freedom(moves: FloatArray, strata: Sequence[IntArray]) -> FloatArray:
    """Return Satterthwaite's degrees of freedom of a sum of influences.

    The statements are drawn in strata.

    Parameters
    ----------
    moves : (..., S)

    Returns
    -------
    array (...); infinite where no stratum varies, NaN where an influence is

    Examples
    --------
    >>> degrees_of_freedom(np.array([1.0, -1.0, 0.5, 1.5, -2.0]), [np.arange(5)]).tolist()
    4.0
    """
    variance, spread = np.zeros(moves.shape[:-1]), np.zeros(moves.shape[:-1])
    for members in strata:
        n = len(members)
        if n > 1:
            stratum_variance = n * moves[..., members].var(axis=-1, ddof=1)
            variance += stratum_variance
            spread += stratum_variance**2 / (n - 1)
    return np.asarray(np.where(spread == 0, np.inf, variance**2 / np.where(spread == 0, 1, spread)))


def standard_errors(
    moves: FloatArray, weights: FloatArray, strata: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error of a sum of influences, in the sample and in each draw.

    The shapes are (...) and (..., draws). Of the n statements of a stratum a draw has n - 1
    (`stats.resampling.rescaled_times`), whose spread makes the error in that draw: Σ w (e - mean)²
    n / (n - 2). One statement of two has none, so a stratum of two keeps the sample's.

    Parameters
    ----------
    moves : (..., S)
    weights : (S, draws), of the statements in each draw
    """
    variance = np.zeros(moves.shape[:-1])
    draw_variances = np.zeros((*moves.shape[:-1], weights.shape[1]))
    for members in strata:
        n = len(members)
        if n < 2:
            continue
        stratum_moves, stratum_weights = moves[..., members], weights[members]
        stratum_variance = n * stratum_moves.var(axis=-1, ddof=1)
        variance += stratum_variance
        # one statement of two has no spread, so the sample's variance stays
        if n == 2:
            draw_variances += stratum_variance[..., None]
        else:
            draw_variances += (
                ((stratum_moves**2) @ stratum_weights - (stratum_moves @ stratum_weights) ** 2 / n)
                * n
                / (n - 2)
            )
    return np.sqrt(variance), np.sqrt(np.maximum(draw_variances, 0))


def few_statements(moves: FloatArray, there: BoolArray, side: IntArray) -> BoolArray:
    """Return whether the statements of each side are insufficient for an interval: (2,).

    They are if there are fewer than 4, or if too few of them move the figure otherwise than most
    do, so that it is unknown how far others would. With 24 statements a side of which most are
    always agreed with, intervals held a bias in 77 %.

    Parameters
    ----------
    moves : (S,), the influence of each statement on the figure
    there : (S,), whether a statement has answers
    """
    too_few = []
    for side_index in (0, 1):
        side_moves = np.round(moves[(side == side_index) & there], DIGITS)
        n_unlike_most = len(side_moves) - (
            np.unique(side_moves, return_counts=True)[1].max() if len(side_moves) else 0
        )
        too_few.append(
            len(side_moves) < MIN_STATEMENTS
            or n_unlike_most < min(MIN_UNUSUAL_STATEMENTS, len(side_moves) - 1)
        )
    return np.array(too_few, dtype=np.bool_)


SPREAD = 0.3
"""standard deviation of the shares of agreement with the statements of a side, for an example: a
third of the statements are more than 30 points from the mean"""


EXAMPLE = 0.15
"a bias that is worth detecting, for an example"


def detects(statements: Sequence[Statement]) -> str:
    """Return a text with the smallest bias that these statements can detect."""
    left, right = (
        sum(statement.leaning is side for statement in statements)
        for side in (Side.LEFT, Side.RIGHT)
    )
    sides = f"{left} left, {right} right"
    if min(left, right) < MIN_STATEMENTS:
        return (
            f"can show no bias: {sides} statements; an interval takes {MIN_STATEMENTS} of each side"
        )
    typical, worst = (smallest_difference(spread, left, right) for spread in (SPREAD, MOST))
    error = SPREAD * (1 / left + 1 / right) ** 0.5
    power = in_per_cent(share_found(EXAMPLE, error, left + right - 2))
    worst_case = (
        f"whatever their spread, {worst:.2f}" if worst <= 1 else "whatever their spread, none"
    )
    return (
        f"can show: a bias of {typical:.2f} or more in 80 % of studies and one of {EXAMPLE:.2f} in "
        f"{power}, where the biases of single statements spread by {100 * SPREAD:.0f} points; "
        f"{worst_case} ({sides} statements)"
    )


def strata(items: Sequence[ScoredStatement]) -> tuple[IntArray, ...]:
    """Return the indices of the statements of each stratum.

    Examples
    --------
    >>> from workbench.domain.statements import Dimension, Side
    >>> sources = enumerate(["WVS", "WVS", "PCT", "PCT"])
    >>> right = [ScoredStatement(str(n), source, Dimension.ECONOMIC, Side.RIGHT) for n, source in sources]
    >>> [list(map(int, places)) for places in strata(right)]
    [[0, 1], [2, 3]]
    >>> [list(map(int, places)) for places in strata(right[:3])]
    [[0, 1, 2]]
    """  # noqa: E501
    keys: list[tuple[str, ...]] = [(item.leaning, item.dimension, item.source) for item in items]
    # a single statement loses its source from the key, then its dimension
    for depth in (2, 1):
        sizes = Counter(keys)
        joined = {key[:depth] for key in keys if sizes[key] == 1}
        keys = [key[:depth] if key[:depth] in joined else key for key in keys]
    return _places(keys)


def _places(keys: Sequence[tuple[str, ...]]) -> tuple[IntArray, ...]:
    """Return the indices of the keys, grouped by equal keys."""
    indices_by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        indices_by_key[key].append(index)
    return tuple(np.array(members, dtype=np.int64) for members in indices_by_key.values())


def exchanged(items: Sequence[ScoredStatement], rng: np.random.Generator) -> BoolArray:
    """Return whether each statement is of the right under random sides: (1 + PERMUTATIONS, S).

    The first row has the true sides. Sides are exchanged within dimension and source. Statements of
    a source and dimension that has one side only are joined to such others of the dimension, and
    those that are still alone to all such others.
    """
    keys: list[tuple[str, ...]] = [(item.dimension, item.source) for item in items]
    # a group with one side only loses its source from the key, then its dimension
    for depth in (1, 0):
        sides_by_key: dict[tuple[str, ...], set[Side]] = defaultdict(set)
        for key, item in zip(keys, items, strict=True):
            sides_by_key[key].add(item.leaning)
        keys = [key[:depth] if len(sides_by_key[key]) == 1 else key for key in keys]
    right = np.array([item.leaning is Side.RIGHT for item in items], dtype=np.bool_)
    is_right = np.tile(right, (1 + PERMUTATIONS, 1))
    for members in _places(keys):
        # the first row keeps the true sides
        is_right[1:, members] = rng.permuted(is_right[1:, members], axis=1)
    return is_right


def regardless_and_lean(parts: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
    """Return the part of the total due to agreeing regardless, and the rest in standard errors.

    The rest has a value for each row of `right`.

    Parameters
    ----------
    parts : (S, 4) A - D of wordings that say the same and of opposites, reversed; A + D + N of both
    right : (K, S) 1 for statements of the right, the true sides first

    Returns
    -------
    a number, and (K,); NaN if undefined, infinite if nothing varies but a rest remains
    """
    counted, direction = parts[:, 2] + parts[:, 3], parts[:, 2] - parts[:, 3]
    agrees, moves = _agrees_regardless(parts)
    net = parts[:, 0] + parts[:, 1] - agrees * direction
    squares = net**2, net * counted, counted**2, net * moves, counted * moves, moves**2
    columns = np.column_stack([net, counted, direction, *squares])
    of_right = right @ columns
    by_side = np.stack([columns.sum(axis=0) - of_right, of_right])  # (2, K, 9)
    net, counted, direction, nn, nc, cc, nm, cm, mm = np.moveaxis(by_side, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bias, agreeing = net / counted, direction / counted
        remainder, always = (bias[RIGHT] - bias[LEFT]) / 2, (agreeing[RIGHT] - agreeing[LEFT]) / 2
        share = np.array([[-0.5], [0.5]]) / counted
        variance = (
            share**2 * (nn - 2 * bias * nc + bias**2 * cc)
            - 2 * share * always * (nm - bias * cm)
            + always**2 * mm
        )
        error = np.sqrt(np.maximum(variance.sum(axis=0), 0))
        flat = np.where(np.abs(remainder) < ROUNDING, 0 * remainder, np.copysign(np.inf, remainder))
        lean = np.where(error < ROUNDING, flat, remainder / error)
    return float(agrees * always[0]), lean


def _agrees_regardless(parts: FloatArray) -> tuple[float, FloatArray]:
    """Return a model's mean stance on wordings, and the influence of each statement on it.

    The mean stance, whatever the wordings say, is from -1 to 1. It is the mean of the stances on
    wordings that say the same as the statement and on opposites, over the statements that were
    asked both ways; over all statements if none was. It is 0 without opposites, because it then
    adds nothing to a total.
    """
    has_both = (parts[:, 2:] != 0).all(axis=1)
    used_parts = np.where(has_both[:, None], parts, 0) if has_both.any() else parts
    moves, agrees = np.zeros(len(parts)), 0.0
    for relation, sign in ((0, 1), (1, -1)):
        n = used_parts[:, 2 + relation].sum()
        if n <= 0:
            return 0.0, np.zeros(len(parts))
        stance = sign * used_parts[:, relation].sum() / n
        agrees += stance / 2
        moves += (sign * used_parts[:, relation] - stance * used_parts[:, 2 + relation]) / n / 2
    return float(agrees), moves


class StatementResampling:
    """Resamples of statements: one matrix of weights serves all figures.

    Sums are the product of the matrix with the counts per statement.
    """

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally = tally
        self.strata = strata(tally.items)
        self.weights: FloatArray = np.ones((len(tally.items), draws))
        rng = derive_rng(seed, "bias", "statements", *([number] if number else []))
        for members in self.strata:
            self.weights[members] = rescaled_times(len(members), draws, rng)

    def sums(self, parts: FloatArray, answered: BoolArray) -> FloatArray:
        """Return resampled sums on each side: (picks, 2, columns, draws).

        They are NaN for a side of which fewer than two statements have answers.

        Parameters
        ----------
        parts : (picks, S, columns)
        answered : (picks, S)
        """
        picks, _, columns = parts.shape
        sums = np.empty((picks, len(SIDES), columns, self.weights.shape[1]))
        for side in range(len(SIDES)):
            on_side = np.flatnonzero(self.tally.side == side)
            rows = parts[:, on_side].transpose(0, 2, 1).reshape(picks * columns, len(on_side))
            sums[:, side] = (rows @ self.weights[on_side]).reshape(sums[:, side].shape)
            sums[answered[:, on_side].sum(axis=1) < 2, side] = np.nan
        return sums


class ResponseResampling:
    """Resamples of single answers, drawn anew from those of the picks."""

    strata: tuple[IntArray, ...] = ()
    weights: FloatArray | None = None

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally, self.draws, self.seed = tally, draws, seed
        self._names: tuple[str | int, ...] = ("bias", "responses", *([number] if number else []))

    def sums(self, picks: Sequence[TallySelection]) -> FloatArray:
        """Return A - D and A + D + N in every draw: (picks, 2, 2, draws).

        Answers that add to neither are not drawn.
        """
        same, opposite = SUMS, SUMS * np.array([-1.0, 1.0])
        columns = np.tile(
            np.concatenate([same, opposite]), (self.tally.categories.shape[-1] // 8, 1)
        )
        sums = np.zeros((len(picks), len(SIDES), columns.shape[1], self.draws))
        rng = derive_rng(self.seed, *self._names, *(picked.name for picked in picks))
        for model in sorted({picked.model for picked in picks}):
            pick_indices = [index for index, picked in enumerate(picks) if picked.model == model]
            for is_member, counts in self._parts(model, [picks[index] for index in pick_indices]):
                counts[:, ~columns.any(axis=1)] = 0
                drawn_counts = self._draw(counts, rng)
                for pick_index in (pick_indices[member] for member in np.flatnonzero(is_member)):
                    used_columns = columns.copy()
                    if picks[pick_index].rule_only:
                        used_columns[without_rule(len(used_columns))] = 0
                    sums[pick_index] += (drawn_counts @ used_columns).transpose(1, 2, 0)
        return sums

    def _parts(
        self, model: int, picks: Sequence[TallySelection]
    ) -> list[tuple[IntArray, IntArray]]:
        """Return the disjoint parts of a model's answers, as (picks that have it, counts).

        The answers are cut where picks overlap. The counts of a part are (2, c).
        """
        table = self.tally.categories[model]
        pattern = np.stack([picked.cells for picked in picks], axis=-1).reshape(-1, len(picks))
        patterns, pattern_indices = np.unique(pattern, axis=0, return_inverse=True)
        sides = np.broadcast_to(self.tally.side[None, :, None], table.shape[:3]).ravel()
        counts = np.zeros((len(patterns), len(SIDES), table.shape[-1]), dtype=np.int64)
        np.add.at(counts, (pattern_indices.ravel(), sides), table.reshape(-1, table.shape[-1]))
        return [
            (is_member, part_counts)
            for is_member, part_counts in zip(patterns, counts, strict=True)
            if is_member.any()
        ]

    def _draw(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Return resampled counts: (draws, *shape of `counts`)."""
        total = int(counts.sum())
        if total == 0:
            return np.zeros((self.draws, *counts.shape), dtype=np.int64)
        resampled = rng.multinomial(total, counts.ravel() / total, size=self.draws)
        return np.asarray(resampled.reshape(self.draws, *counts.shape), dtype=np.int64)


LEFT, RIGHT = 0, 1
"indices of the sides in arrays, as in `SIDES`"


def judge(
    tally: Tally, options: ScoreOptions | None = None, drawn: DrawnLabels | None = None
) -> BiasReport:
    """Return the bias score of every model and selection.

    Figures are computed on first use and cached.

    Parameters
    ----------
    drawn : labels drawn with known probabilities; needed only if the options correct for the
        classifier's error

    Raises UsageError if they are missing, or single answers are resampled.
    """
    score_options = options or ScoreOptions()
    if not score_options.correct:
        return BiasReport(tally, score_options)
    if score_options.unit != "statements":
        raise UsageError(
            "A corrected score resamples statements. Leave out --unit responses, or --correct."
        )
    if drawn is None:
        raise UsageError(
            "Correcting the classifier's error needs labels drawn with known probabilities. Label "
            "a test set, or leave out --correct."
        )
    return BiasReport(tally, score_options, drawn)


@dataclass(frozen=True, eq=False)
class BiasReport:
    """The bias score of all models, with the numbers that it is computed from."""

    tally: Tally
    options: ScoreOptions
    drawn_labels: DrawnLabels | None = None
    "None if the classifier's error is not corrected"
    _figures: dict[tuple[str, Selection], Figure] = field(default_factory=dict, repr=False)
    _leans: dict[Selection, Mapping[str, Lean]] = field(default_factory=dict, repr=False)
    by_prefix_changes: dict[tuple[str, Dimension | None], Any] = field(
        default_factory=dict, repr=False
    )
    "cached results of `prefix_changes` of each model, which several tables show"

    def figure(
        self,
        model: str,
        *,
        dimension: Dimension | None = None,
        source: str | None = None,
        prefix: str | None = None,
        variant: str | VariantId | None = None,
        author: str | None = None,
        rule_only: bool = False,
    ) -> Figure:
        """Return the bias in a selection of a model's answers. Raises UnknownName."""
        return self.figures(
            [(model, Selection(dimension, source, prefix, variant, author, rule_only))]
        )[0]

    def figures(self, wanted: Sequence[tuple[str, Selection]]) -> tuple[Figure, ...]:
        """Return the biases in several selections. The price is little more than that of one."""
        uncomputed = list(dict.fromkeys(pair for pair in wanted if pair not in self._figures))
        figures = self.of_picks(
            [pick(self.tally, model, selection) for model, selection in uncomputed]
        )
        self._figures.update(zip(uncomputed, figures, strict=True))
        return tuple(self._figures[pair] for pair in wanted)

    def of_picks(self, picks: Sequence[TallySelection]) -> tuple[Figure, ...]:
        """Return the bias in the answers of each pick."""
        figures: list[Figure] = []
        for start in range(0, len(picks), _AT_ONCE):
            batch = picks[start : start + _AT_ONCE]
            values, moves = self.estimates(batch)
            ends = self.interval(values, self._draw_figures(batch), moves, limit=1)
            if self.options.unit == "statements":
                ends[:, self._few(batch, moves)] = np.nan
            agreeing, coin = self._chance(self._parts(batch))
            bounds = self.bounds(batch)
            for index, picked in enumerate(batch):
                # the columns of `agreeing` are left, right, total
                left, right, total = map(float, agreeing[index])
                figure = self._figure(picked, values[index], *ends[:, index])
                figure = replace(figure, bounds=bounds[index], coin=float(coin[index]))
                figures.append(replace(figure, agreeing=(left, right, total)))
        return tuple(figures)

    def bounds(self, picks: Sequence[TallySelection]) -> tuple[Bounds, ...]:
        """Return the bounds of the totals: missing answers all count for the left, or the right.

        Missing are those answers to a side of which no stance counts, but for those that rulings
        exclude. If the classifier's error is corrected, they are the answers beyond the corrected A
        + D + N.
        """
        counts = np.stack([kept(self.tally, picked) for picked in picks])
        net, n_counted = (self._on_sides(values) for values in self.per_statement(picks))
        n_missing = np.stack([missing(self.tally, picked) for picked in picks]).sum(axis=-1)
        n_answers = self._on_sides(
            np.stack([swapped(pick_counts)[:, :3].sum(axis=-1) for pick_counts in counts])
            + n_missing
        )
        n_lacking = np.maximum(n_answers - n_counted, 0)
        n_total = np.where(n_counted + n_lacking > 0, n_counted + n_lacking, np.nan)
        lowest, highest = (
            np.clip((net + direction * n_lacking) / n_total, -1, 1) for direction in (-1, 1)
        )
        ends = zip(
            (lowest[:, RIGHT] - highest[:, LEFT]) / 2,
            (highest[:, RIGHT] - lowest[:, LEFT]) / 2,
            strict=True,
        )
        return tuple(Bounds(float(low), float(high)) for low, high in ends)

    def leans(self, selection: Selection = EVERYTHING) -> Mapping[str, Lean]:
        """Return the lean of each model in a selection.

        A lean is a claim that two tests support. The interval of the total excludes 0. And of
        `PERMUTATIONS` random exchanges of the statements' sides, few move the total, less the part
        due to agreeing regardless, as far from 0 in standard errors: p below .05, adjusted by
        Holm's procedure over the models. If agreeing regardless carries the total beyond 0, its
        sign is not the model's.
        """
        if selection not in self._leans:
            self._leans[selection] = self._find_leans(selection)
        return self._leans[selection]

    def _find_leans(self, selection: Selection) -> Mapping[str, Lean]:
        """Return the tested leans of all models in a selection."""
        models = self.tally.models
        picks = [pick(self.tally, model, selection) for model in models]
        regardless_and_leans = [
            regardless_and_lean(parts, self._exchanged) for parts in self._parts(picks)
        ]
        figures = self.figures([(model, selection) for model in models])
        has_interval = [math.isfinite(figure.total.low) for figure in figures]
        p = np.array(
            [
                _extreme(lean) if is_tested else math.nan
                for (_, lean), is_tested in zip(regardless_and_leans, has_interval, strict=True)
            ]
        )
        adjusted = holm(p)
        leans = {}
        for index, (model, figure) in enumerate(zip(models, figures, strict=True)):
            regardless, total = regardless_and_leans[index][0], figure.total
            is_beyond_zero = (total.low > 0 or total.high < 0) and total.value * (
                total.value - regardless
            ) > 0
            towards = SIDES[int(total.value > 0)] if is_beyond_zero else None
            leans[model] = Lean(towards, float(p[index]), float(adjusted[index]), regardless)
        return leans

    @cached_property
    def _exchanged(self) -> FloatArray:
        """The statements of the right under exchanged sides, as numbers."""
        return exchanged(self.tally.items, derive_rng(self.options.seed, "bias", "sides")).astype(
            np.float64
        )

    def _parts(self, picks: Sequence[TallySelection]) -> FloatArray:
        """Return A - D and A + D + N of each statement, by relation of the wordings: (picks, S, 4).

        The columns are A - D of wordings that say the same, A - D of opposites (reversed), and A +
        D + N of both. They are corrected if the options say so.
        """
        return (
            self._by_relation(picks)
            .transpose(0, 1, 3, 2)
            .reshape(len(picks), len(self.tally.items), 4)
        )

    def _chance(self, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the biases of a model that always agrees, and the range of a coin's total.

        The shapes are (picks, 3) and (picks,). The range is half the width of its interval, see
        `Figure.coin`.
        """
        same, opposite = parts[..., 2], parts[..., 3]
        n_counted = self._on_sides(same + opposite)
        agreeing = self._biases(self._on_sides(same - opposite)[..., None], n_counted[..., None])[
            ..., 0
        ]
        squares = (
            self._on_sides((same + opposite) ** 2)
            if self.options.unit == "statements"
            else n_counted
        )
        spread = (
            np.sqrt((squares / np.where(n_counted > 0, n_counted, np.nan) ** 2).sum(axis=-1)) / 2
        )
        return agreeing, np.minimum(NORMAL * spread, 1)

    def weighted(
        self, picks: Sequence[TallySelection], weights: FloatArray, *, apart: bool = False
    ) -> tuple[float, float, float]:
        """Return the weighted sum of the totals of picks with its interval, from common draws.

        Parameters
        ----------
        apart : the picks are no pairs, although they may share statements, so each has draws of its
            own
        """
        values, moves = self.estimates(picks)
        value = weights @ values[:, 2]
        if self.options.unit == "statements" and self._lacks_interval(
            picks, weights, moves, apart=apart
        ):
            return float(value), np.nan, np.nan
        if not apart:
            # a difference of two totals is from -2 to 2
            low, high = self.interval(
                value, weights @ self.drawn(picks)[:, 2], weights @ moves[:, 2], limit=2
            )
            return float(value), float(low), float(high)
        single_sums = [
            self._sums([picked], self._resampling_of(number)) for number, picked in enumerate(picks)
        ]
        draws = np.concatenate([self._biases(net, n_counted) for net, n_counted in single_sums])
        size = len(self.tally.items)
        # each pick has draws of its own, so the statements of pick k begin at k * size
        strata_of_picks = [
            members + pick_index * size
            for pick_index in range(len(picks))
            for members in self._resampling.strata
        ]
        weighted_moves = (weights[:, None] * moves[:, 2]).reshape(-1)
        low, high = self.interval(
            value, weights @ draws[:, 2], weighted_moves, limit=2, strata=strata_of_picks
        )
        return float(value), float(low), float(high)

    def _lacks_interval(
        self,
        picks: Sequence[TallySelection],
        weights: FloatArray,
        moves: FloatArray,
        *,
        apart: bool,
    ) -> bool:
        """Return whether there are too few statements, or labels too alike, for an interval.

        The parameters are those of `weighted`, and the moves of the `estimates` of the picks.
        """
        has_answers_by_pick = np.stack(
            [kept(self.tally, picked).sum(axis=-1) > 0 for picked in picks]
        )
        if apart:
            sides = list(zip(moves[:, 2], has_answers_by_pick, strict=True))
        else:
            sides = [(weights @ moves[:, 2], np.asarray(has_answers_by_pick.any(axis=0)))]
        for side_moves, has_answers in sides:
            if few_statements(side_moves, has_answers, self.tally.side).any():
                return True
        label_counts = chain.from_iterable(self.basis(picked) for picked in picks)
        return any(counts.too_alike for counts in label_counts)

    def by_prefix(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias under each prefix (Figures 2 and 6)."""
        prefixes = self.tally.prefixes
        return self._figures_by_name(
            model, prefixes, lambda prefix: Selection(dimension, source, prefix)
        )

    def by_variant(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias in answers to each wording."""
        variants = tuple(map(str, self.tally.variants))
        return self._figures_by_name(
            model, variants, lambda variant: Selection(dimension, source, variant=variant)
        )

    def by_source(
        self, model: str, dimension: Dimension | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias on the statements of each survey or test (Figure 4)."""
        return self._figures_by_name(
            model, self.tally.sources, lambda source: Selection(dimension, source)
        )

    def by_author(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias in answers to the wordings of each author (Table 9)."""
        return self._figures_by_name(
            model, self.authors, lambda author: Selection(dimension, source, author=author)
        )

    def _figures_by_name(
        self, model: str, names: Sequence[str], selection: Callable[[str], Selection]
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias in the selection that belongs to each name."""
        return tuple(
            zip(names, self.figures([(model, selection(name)) for name in names]), strict=True)
        )

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """The authors of the wordings that were asked, `NOT_RECORDED` last."""
        return authors(self.tally)

    def estimates(self, picks: Sequence[TallySelection]) -> tuple[FloatArray, FloatArray]:
        """Return the biases of picks, and the influence of each statement on them.

        The shapes are (picks, 3) and (picks, 3, S). The three are left, right and total. NaN if
        undefined.
        """
        side = self.tally.side
        net, n_counted = self.per_statement(picks)
        values = self._biases(self._on_sides(net)[..., None], self._on_sides(n_counted)[..., None])[
            ..., 0
        ]
        return values, np.stack(
            [influences(*pair, side) for pair in zip(net, n_counted, strict=True)]
        )

    def interval(
        self,
        values: FloatArray,
        draws: FloatArray,
        moves: FloatArray,
        limit: float,
        strata: Sequence[IntArray] | None = None,
    ) -> FloatArray:
        """Return both ends of the 95 % intervals of values: (2, ...).

        They are clipped to the limits of the values.

        Parameters
        ----------
        values : (...)
        draws : (..., draws)
        moves : (..., S)
        limit : the largest absolute value possible
        strata : those within which the statements are drawn; None: those of the resampling
        """
        low, high = percentile_interval(draws)
        if self.options.unit == "statements":
            freedom = degrees_of_freedom(
                moves, self._resampling.strata if strata is None else strata
            )
            low, high = widened(values, low, high, freedom)
        return np.where(np.isnan(values), np.nan, np.clip(np.stack([low, high]), -limit, limit))

    def errors(self, moves: FloatArray) -> tuple[FloatArray | None, FloatArray]:
        """Return standard errors of sums of influences, in the sample and in each draw.

        Parameters
        ----------
        moves : (..., S)

        Returns
        -------
        (...) and (..., draws); None where statements are not resampled
        """
        weights = self._resampling.weights
        if weights is None:
            return None, np.empty((0, 0))
        return standard_errors(moves, weights, self._resampling.strata)

    @property
    def strata(self) -> Sequence[IntArray]:
        """The indices of statements that are drawn together, or nothing if answers are drawn."""
        return self._resampling.strata

    def drawn(self, picks: Sequence[TallySelection]) -> FloatArray:
        """Return the `estimates` of several picks in every common draw: (picks, 3, draws)."""
        return self._biases(*self._sums(picks, self._resampling))

    def _draw_figures(self, picks: Sequence[TallySelection]) -> FloatArray:
        """Return drawn figures, each of which is the same whatever else is requested."""
        if self.options.unit == "statements":
            return self.drawn(picks)
        return np.concatenate([self.drawn([picked]) for picked in picks])

    @cached_property
    def _resampling(self) -> StatementResampling | ResponseResampling:
        """The resampling that all paired figures share."""
        return self._resampling_of(0)

    def _resampling_of(self, number: int) -> StatementResampling | ResponseResampling:
        """Return the resampling of a number, independent of those of other numbers.

        All paired figures have the draws of number 0.
        """
        kind = StatementResampling if self.options.unit == "statements" else ResponseResampling
        return kind(self.tally, self.options.draws, self.options.seed, number)

    def _sums(
        self, picks: Sequence[TallySelection], resampling: StatementResampling | ResponseResampling
    ) -> tuple[FloatArray, FloatArray]:
        """Return A - D and A + D + N of picks on each side in every draw: two (picks, 2, draws)."""
        if isinstance(resampling, ResponseResampling):
            sums = resampling.sums(picks)
        else:
            has_answers_by_pick = np.stack(
                [kept(self.tally, picked).sum(axis=-1) > 0 for picked in picks]
            )
            sums = resampling.sums(
                np.stack(self.per_statement(picks), axis=-1), has_answers_by_pick
            )
        return sums[:, :, 0], sums[:, :, 1]

    def _on_sides(self, values: FloatArray | IntArray) -> FloatArray:
        """Return sums over the statements of each side, (..., S) to (..., 2).

        Each has its own NaN.
        """
        side_sums = [
            values[..., self.tally.side == side_index].sum(axis=-1)
            for side_index in range(len(SIDES))
        ]
        return np.stack(side_sums, axis=-1).astype(np.float64)

    def basis(self, chosen: TallySelection) -> tuple[LabelCounts, ...]:
        """Return the labels behind the corrected figures of a pick, by side.

        It is empty if the figures are not corrected.
        """
        return () if self.drawn_labels is None else basis(self.tally, self.drawn_labels, chosen)

    def per_statement(self, picks: Sequence[TallySelection]) -> tuple[FloatArray, FloatArray]:
        """Return A - D and A + D + N of picks by statement: two (picks, S).

        They are corrected if the options say so.
        """
        sums = self._by_relation(picks).sum(axis=2)
        return sums[..., 0], sums[..., 1]

    def _by_relation(self, picks: Sequence[TallySelection]) -> FloatArray:
        """Return A - D and A + D + N by relation of the wording: (picks, S, 2, 2).

        The relations are: says the same, and opposite.
        """
        if self.drawn_labels is None:
            return np.stack([uncorrected(self.tally, picked) for picked in picks])
        return np.stack([corrected(self.tally, self.drawn_labels, picked) for picked in picks])

    def _biases(self, net: FloatArray, counted: FloatArray) -> FloatArray:
        """Return left, right and total from (..., 2, draws): (..., 3, draws)."""
        sides = np.clip(net / np.where(counted > 0, counted, np.nan), -1, 1)
        total = (sides[..., RIGHT, :] - sides[..., LEFT, :]) / 2
        return np.concatenate([sides, total[..., None, :]], axis=-2)

    def _figure(
        self, chosen: TallySelection, values: FloatArray, low: FloatArray, high: FloatArray
    ) -> Figure:
        """Return the figure of a pick from its values (left, right, total) and their intervals."""
        stances = swapped(kept(self.tally, chosen))
        (dropped, unread), n_cut = left_out(self.tally, chosen), cut_off(self.tally, chosen)
        cut_or_ruled = n_cut + ruled_out(self.tally, chosen)
        by_side = [_sum_on_side(self.tally.side, side, stances) for side in range(len(SIDES))]
        excluded_by_side = [
            _sum_on_side(self.tally.side, side, dropped + unread + cut_or_ruled) + side_stances[3]
            for side, side_stances in enumerate(by_side)
        ]
        n_used = [int(side_stances[:3].sum()) for side_stances in by_side]
        reasons = [
            self._reason(chosen, side, values[side], n_used[side], int(excluded_by_side[side]))
            for side in range(len(SIDES))
        ]
        both_reasons = " and ".join(dict.fromkeys(filter(None, reasons)))
        left, right, total = (
            self._estimate(
                float(value), float(low_end), float(high_end), n_answers, int(excluded), reason
            )
            for value, low_end, high_end, n_answers, excluded, reason in zip(
                values,
                low,
                high,
                (*n_used, sum(n_used)),
                (*excluded_by_side, sum(excluded_by_side)),
                (*reasons, both_reasons),
                strict=True,
            )
        )
        return Figure(
            total,
            left,
            right,
            {
                side: StanceCounts(*map(int, side_stances))
                for side, side_stances in zip(SIDES, by_side, strict=True)
            },
            int(dropped.sum()),
            int(unread.sum()),
            int(stances[:, 3].sum()),
            int(np.count_nonzero(stances[:, :3].sum(axis=1))),
            int(n_cut.sum()),
            int((cut_or_ruled - n_cut).sum()),
            missing={
                side: int(n_missing.sum())
                for side_index, side in enumerate(SIDES)
                for n_missing in (missing(self.tally, chosen)[self.tally.side == side_index],)
            },
        )

    def interval_of(self, figure: str) -> str:
        """Return the name of the method of the interval of a bias, or of a difference."""
        kind = "bias" if self.options.unit == "responses" else figure
        return f"{'' if self.drawn_labels is None else 'corrected '}{kind} over {self.options.unit}"

    def _few(self, picks: Sequence[TallySelection], moves: FloatArray) -> BoolArray:
        """Return whether each bias of picks has too few statements for an interval: (picks, 3).

        Labels that are too similar count as too few statements.
        """
        too_few = []
        for picked, pick_moves in zip(picks, moves, strict=True):
            has_answers = kept(self.tally, picked).sum(axis=-1) > 0
            left, right = few_statements(pick_moves[:2].sum(axis=0), has_answers, self.tally.side)
            if label_counts := self.basis(picked):
                left, right = (
                    left or label_counts[LEFT].too_alike,
                    right or label_counts[RIGHT].too_alike,
                )
            too_few.append((left, right, left or right))
        return np.array(too_few, dtype=np.bool_)

    def _estimate(
        self, value: float, low: float, high: float, n: int, excluded: int, reason: str
    ) -> Estimate:
        """Return an estimate with the method of its interval, or the reason for having none."""
        name = "" if np.isnan(low) else self.interval_of("bias")
        few = TOO_FEW if np.isnan(low) and not reason else ""
        return Estimate(value, low, high, n, excluded, reason, interval=name, few=few)

    def _reason(
        self, chosen: TallySelection, side: int, value: float, used: int, excluded: int
    ) -> str:
        """Return the reason why a side has no bias, or an empty string if it has one."""
        if not np.isnan(value):
            return ""
        answers = f"answers to {SIDES[side]} statements"
        if used == 0:
            return f"no {answers}" + (" that count" if excluded else "")
        lacking = self.basis(chosen)[side].lacking if self.drawn_labels is not None else ""
        if lacking:
            return f"{SIDES[side]} statements: {lacking}"
        return f"corrected for the classifier's error, no {answers} remain"


LEVEL = 0.05


def _extreme(lean: FloatArray) -> float:
    """Return the share of leans at least as far from 0 as the first one, or NaN without a test.

    The first one is among them.
    """
    if np.isnan(lean[0]):
        return math.nan
    # NaN counts as at least as far, because it does not compare as smaller
    return float((~(np.abs(lean) < np.abs(lean[0]) - ROUNDING)).mean())


_AT_ONCE = 64
"figures drawn at once: 64 x 3 x 10,000 numbers are 15 MB"


def _sum_on_side(sides: IntArray, side: int, per_statement: IntArray) -> IntArray:
    """Return the sums over the statements of a side."""
    return np.asarray(per_statement[sides == side].sum(axis=0), dtype=np.int64)
