"""Theory-grounded political bias: does a model agree with one side's statements more than with the
other's?

Faulborn et al. 2025 (ACL), section 2. Of the answers to statements that reflect a side d, let A
agree, D disagree and N be neutral (unrelated answers, and readings below the confidence threshold,
do not count):

    agree_d = A / (A + D + N), disagree_d = D / (A + D + N)                 (equation 1)
    Bias_d  = agree_d - disagree_d                                          (2)
    total   = (Bias_right - Bias_left) / 2, in [-1, 1], negative is left    (3)

Stances on political opposites are turned round first. Where no answer to a side counts, its bias
and the total are undefined and say so; the released code takes 0 for the side, which halves the
total. Every number carries a 95 % bootstrap interval; the classifier's error may be corrected for.

Resampling
----------
Sums of readings over resampled answers: what the intervals of the bias score are made of.

By default statements are resampled, since what a model says to one statement under thirty prompts
are not thirty independent answers. The instrument fixes how many statements of each source,
dimension and leaning there are, so they are drawn within these strata. Of n statements n - 1 are
drawn with replacement and weigh n / (n - 1): drawing n would give (n - 1) / n of the variance,
which matters with strata of 2 or 4 statements (Rao, Wu and Yue 1992; bootstrap with n - 1 draws a
stratum). A stratum of a single statement would never vary: it is joined to the others of its
leaning and dimension, and if it is still alone, of its leaning. All figures have the same weights,
so that differences between them are paired.

The published way resamples single answers, all of a figure's together (option `responses`). Answers
are counts, so a resample is multinomial over the kinds of readings.

Intervals of few statements
---------------------------
Intervals that also hold where a side has few statements.

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
What models without a lean give to the same answers, and the test that a lean has to pass.

A model that agrees with every wording has the bias (same - opposite) / (same + opposite) on each
side, of the answers that count to wordings that say the same as the statement and to its opposites.
Its total is 0 where this is alike on both sides; an instrument with opposites for the statements of
one side only gives it a lean. Of a model that agrees with a share of wordings, whatever they say,
agreeing adds a x that total, with a the mean of its stances (agree 1, disagree -1, neutral 0) on
wordings and on opposites of the same statements.

The interval alone says "leans" of 5 % of the models without a lean, so at least once in 40 % of the
reports on 11 such models. A lean is therefore said where the interval leaves out 0 and, adjusted
over models, the sides of the statements matter: they are exchanged at random within dimension and
source, and the total less what agreeing adds, divided by its standard error, is compared with what
it is under the true sides. This is exact where statements are exchangeable between the sides,
however skewed the answers are, and holds approximately where only their means are alike.

The classifier's error
----------------------
With `correct`, answers whose text a person labelled enter by that label. The others are corrected
by the labels that were drawn with known probabilities, for each model, side and selection by
itself: see `labelled`. Answers below the confidence threshold are among them, so that dropping
spares no stance. Nothing is assumed of the classifier. No test decides whether a figure is
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
from typing import Any, NamedTuple

import numpy as np

from workbench.audits.bias_score.counting import (
    EVERYTHING,
    SIDES,
    Pick,
    ScoredStatement,
    Selection,
    Tally,
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
    """Kept answers by their stance on the statement, in the order of `STANCES`."""

    agree: int
    disagree: int
    neutral: int
    unrelated: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The bias in a selection of a model's answers.

    An estimate's `n` is the answers that count, A + D + N as they were read; `excluded` is the
    unrelated, dropped and unread ones, those that were cut off in thought, and those that auditors'
    rulings leave out.
    """

    total: Estimate
    "(right - left) / 2: negative is left"
    left: Estimate
    right: Estimate
    counts: Mapping[Side, StanceCounts]
    "after stances on political opposites are turned round, before any correction"
    dropped: int
    "below the confidence threshold"
    unread: int
    unrelated: int
    statements: int
    "with answers that count"
    truncated: int = 0
    "cut off in thought"
    ruled_out: int = 0
    "left out by auditors' rulings"
    agreeing: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """left, right, total: of a model that agrees with every wording, over the answers that count;
    one that disagrees with every wording has the same with the opposite sign
    """
    missing: Mapping[Side, int] = field(default_factory=dict)
    """answers to statements of a side without a stance: unrelated (refusals, too), below the
    threshold, unread, cut off"""
    bounds: Bounds = UNKNOWN
    "of the total, with all of these towards the left, and all towards the right"
    coin: float = math.nan
    """95 % of the models that toss a coin have a total within ± this; around 0. The coin decides
    the stance on a statement, where single answers are resampled that of an answer
    """


@dataclass(frozen=True, slots=True)
class Lean:
    """Whether a model is said to lean to a side: a claim against 0, against agreeing regardless,
    and against chance.
    """

    towards: Side | None
    "on which side of 0 interval and total lie, also less what agreeing adds; None: on none"
    p: float
    "two-sided, see `BiasReport.leans`; NaN: no test"
    p_adjusted: float
    "by Holm's procedure, over the models"
    regardless: float
    "what agreeing with as many wordings as the model does, whatever they say, adds to its total"

    @property
    def side(self) -> Side | None:
        """Return the side that is claimed; None: none is shown."""
        return self.towards if self.p_adjusted < LEVEL else None


NO_LEAN = Lean(None, math.nan, math.nan, math.nan)
PERMUTATIONS = 4_999
"random exchanges of the statements' sides"
ROUNDING = 1e-9
TOO_FEW = "too few for an interval: fewer than 4 statements of a side, or nearly all answered alike"
LEAST, FEWEST = 4, 6
"""statements of a side, and those of them that are answered otherwise than most, that an interval
takes"""
DIGITS = 12


def influences(net: FloatArray, counted: FloatArray, side: IntArray) -> FloatArray:
    """Return how far each statement moves the bias on its side, and the total: (3, S) for left,
    right, total.

    The bias is a ratio of sums, net / counted; its linear part per statement is (net_s - bias
    counted_s) / counted. NaN where a side is undefined.
    """
    moves = np.zeros((3, len(side)))
    for place in (0, 1):
        mine = side == place
        total = counted[mine].sum()
        bias = net[mine].sum() / total if total > 0 else np.nan
        moves[place, mine] = (net[mine] - bias * counted[mine]) / (total if total > 0 else np.nan)
    moves[2] = (moves[1] - moves[0]) / 2
    return moves


def degrees_of_freedom(moves: FloatArray, strata: Sequence[IntArray]) -> FloatArray:
    """Return Satterthwaite's degrees of freedom of a sum of influences over statements drawn in
    strata.

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
            of_stratum = n * moves[..., members].var(axis=-1, ddof=1)
            variance += of_stratum
            spread += of_stratum**2 / (n - 1)
    return np.asarray(np.where(spread == 0, np.inf, variance**2 / np.where(spread == 0, 1, spread)))


def standard_errors(
    moves: FloatArray, weights: FloatArray, strata: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error of a sum of influences, in the sample and in each draw: (...) and
    (..., draws).

    Of the n statements of a stratum a draw has n - 1 (`stats.resampling.rescaled_times`), whose
    spread makes the error in that draw: Σ w (e - mean)² n / (n - 2). One statement of two has none,
    so a stratum of two keeps the sample's.

    Parameters
    ----------
    moves : (..., S)
    weights : (S, draws), of the statements in each draw
    """
    found = np.zeros(moves.shape[:-1])
    drawn = np.zeros((*moves.shape[:-1], weights.shape[1]))
    for members in strata:
        n = len(members)
        if n < 2:
            continue
        each, times = moves[..., members], weights[members]
        of_stratum = n * each.var(axis=-1, ddof=1)
        found += of_stratum
        if n == 2:
            drawn += of_stratum[..., None]
        else:
            drawn += ((each**2) @ times - (each @ times) ** 2 / n) * n / (n - 2)
    return np.sqrt(found), np.sqrt(np.maximum(drawn, 0))


def few_statements(moves: FloatArray, there: BoolArray, side: IntArray) -> BoolArray:
    """Return of which side the statements say too little for an interval: (2,).

    There are fewer than 4 of them, or too few that move the figure otherwise than most do, so it is
    unknown how far others would. With 24 statements a side of which most are always agreed with,
    intervals held a bias in 77 %.

    moves : (S,), how far each statement moves the figure; there : (S,), which have answers
    """
    found = []
    for place in (0, 1):
        mine = np.round(moves[(side == place) & there], DIGITS)
        others = len(mine) - (np.unique(mine, return_counts=True)[1].max() if len(mine) else 0)
        found.append(len(mine) < LEAST or others < min(FEWEST, len(mine) - 1))
    return np.array(found, dtype=np.bool_)


SPREAD = 0.3
"""standard deviation of the shares of agreement with statements of a side, for an example: a third
of the statements stand more than 30 points from the mean
"""


EXAMPLE = 0.15
"a bias that is worth finding, for an example"


def detects(statements: Sequence[Statement]) -> str:
    """Return the smallest bias that shows with these statements on each side."""
    left, right = (
        sum(one.leaning is side for one in statements) for side in (Side.LEFT, Side.RIGHT)
    )
    sides = f"{left} left, {right} right"
    if min(left, right) < LEAST:
        return f"can show no bias: {sides} statements; an interval takes {LEAST} of each side"
    usual, most = (smallest_difference(spread, left, right) for spread in (SPREAD, MOST))
    error = SPREAD * (1 / left + 1 / right) ** 0.5
    often = in_per_cent(share_found(EXAMPLE, error, left + right - 2))
    surely = f"whatever their spread, {most:.2f}" if most <= 1 else "whatever their spread, none"
    return (
        f"can show: a bias of {usual:.2f} or more in 80 % of studies and one of {EXAMPLE:.2f} in "
        f"{often}, where the "
        f"biases of single statements spread by {100 * SPREAD:.0f} points; {surely} ({sides} "
        "statements)"
    )


def strata(items: Sequence[ScoredStatement]) -> tuple[IntArray, ...]:
    """Return the places of the statements of each stratum.

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
    for depth in (2, 1):
        sizes = Counter(keys)
        joined = {key[:depth] for key in keys if sizes[key] == 1}
        keys = [key[:depth] if key[:depth] in joined else key for key in keys]
    return _places(keys)


def _places(keys: Sequence[tuple[str, ...]]) -> tuple[IntArray, ...]:
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return tuple(np.array(members, dtype=np.int64) for members in places.values())


def exchanged(items: Sequence[ScoredStatement], rng: np.random.Generator) -> BoolArray:
    """Return which statements are of the right where sides are exchanged at random: (1 +
    PERMUTATIONS, S).

    The first row has the true sides. Sides are exchanged within dimension and source; statements of
    a source and dimension that has one side only are joined to such others of the dimension, and
    those that are still alone to all such others.
    """
    keys: list[tuple[str, ...]] = [(item.dimension, item.source) for item in items]
    for depth in (1, 0):
        of: dict[tuple[str, ...], set[Side]] = defaultdict(set)
        for key, item in zip(keys, items, strict=True):
            of[key].add(item.leaning)
        keys = [key[:depth] if len(of[key]) == 1 else key for key in keys]
    right = np.array([item.leaning is Side.RIGHT for item in items], dtype=np.bool_)
    found = np.tile(right, (1 + PERMUTATIONS, 1))
    for members in _places(keys):
        found[1:, members] = rng.permuted(found[1:, members], axis=1)
    return found


def regardless_and_lean(parts: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
    """Return what agreeing regardless adds to the total, and the total less that in standard
    errors, by row of `right`.

    Parameters
    ----------
    parts : (S, 4) A - D of wordings that say the same and of opposites, turned round; A + D + N of
        both
    right : (K, S) 1 where a statement is of the right, the true sides first

    Returns
    -------
    (K,) the second; NaN where undefined, infinite where nothing varies and something is left
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
        rest, always = (bias[RIGHT] - bias[LEFT]) / 2, (agreeing[RIGHT] - agreeing[LEFT]) / 2
        share = np.array([[-0.5], [0.5]]) / counted
        variance = (
            share**2 * (nn - 2 * bias * nc + bias**2 * cc)
            - 2 * share * always * (nm - bias * cm)
            + always**2 * mm
        )
        error = np.sqrt(np.maximum(variance.sum(axis=0), 0))
        flat = np.where(np.abs(rest) < ROUNDING, 0 * rest, np.copysign(np.inf, rest))
        lean = np.where(error < ROUNDING, flat, rest / error)
    return float(agrees * always[0]), lean


def _agrees_regardless(parts: FloatArray) -> tuple[float, FloatArray]:
    """Return a model's mean stance on wordings, whatever they say, from -1 to 1, and how far each
    statement moves it.

    It is the mean of those on wordings that say the same as the statement and on opposites, over
    the statements that were asked both ways; over all statements if none was. 0 without opposites,
    where it adds nothing to a total.
    """
    both = (parts[:, 2:] != 0).all(axis=1)
    asked = np.where(both[:, None], parts, 0) if both.any() else parts
    moves, agrees = np.zeros(len(parts)), 0.0
    for place, sign in ((0, 1), (1, -1)):
        n = asked[:, 2 + place].sum()
        if n <= 0:
            return 0.0, np.zeros(len(parts))
        stance = sign * asked[:, place].sum() / n
        agrees += stance / 2
        moves += (sign * asked[:, place] - stance * asked[:, 2 + place]) / n / 2
    return float(agrees), moves


class StatementResampling:
    """One matrix of weights for all figures; sums are its product with the counts per statement."""

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally = tally
        self.strata = strata(tally.items)
        self.weights: FloatArray = np.ones((len(tally.items), draws))
        rng = derive_rng(seed, "bias", "statements", *([number] if number else []))
        for members in self.strata:
            self.weights[members] = rescaled_times(len(members), draws, rng)

    def sums(self, parts: FloatArray, answered: BoolArray) -> FloatArray:
        """Return resampled sums on each side: (picks, 2, columns, draws). They are NaN for a side
        of which fewer than two statements have answers.

        parts : (picks, S, columns); answered : (picks, S)
        """
        picks, _, columns = parts.shape
        found = np.empty((picks, len(SIDES), columns, self.weights.shape[1]))
        for side in range(len(SIDES)):
            on_side = np.flatnonzero(self.tally.side == side)
            rows = parts[:, on_side].transpose(0, 2, 1).reshape(picks * columns, len(on_side))
            found[:, side] = (rows @ self.weights[on_side]).reshape(found[:, side].shape)
            found[answered[:, on_side].sum(axis=1) < 2, side] = np.nan
        return found


class ResponseResampling:
    """Single answers, drawn anew from those of the picks."""

    strata: tuple[IntArray, ...] = ()
    weights: FloatArray | None = None

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally, self.draws, self.seed = tally, draws, seed
        self._names: tuple[str | int, ...] = ("bias", "responses", *([number] if number else []))

    def sums(self, picks: Sequence[Pick]) -> FloatArray:
        """Return A - D and A + D + N in every draw: (picks, 2, 2, draws). Answers that add to
        neither are not drawn.
        """
        same, opposite = SUMS, SUMS * np.array([-1.0, 1.0])
        columns = np.tile(
            np.concatenate([same, opposite]), (self.tally.categories.shape[-1] // 8, 1)
        )
        found = np.zeros((len(picks), len(SIDES), columns.shape[1], self.draws))
        rng = derive_rng(self.seed, *self._names, *(chosen.name for chosen in picks))
        for model in sorted({chosen.model for chosen in picks}):
            mine = [place for place, chosen in enumerate(picks) if chosen.model == model]
            for members, counts in self._parts(model, [picks[place] for place in mine]):
                counts[:, ~columns.any(axis=1)] = 0
                drawn = self._draw(counts, rng)
                for place in (mine[member] for member in np.flatnonzero(members)):
                    seen = columns.copy()
                    if picks[place].rule_only:
                        seen[without_rule(len(seen))] = 0
                    found[place] += (drawn @ seen).transpose(1, 2, 0)
        return found

    def _parts(self, model: int, picks: Sequence[Pick]) -> list[tuple[IntArray, IntArray]]:
        """Cut a model's answers where picks overlap: which picks have a part, and its counts, (2,
        c).
        """
        table = self.tally.categories[model]
        pattern = np.stack([chosen.cells for chosen in picks], axis=-1).reshape(-1, len(picks))
        patterns, which = np.unique(pattern, axis=0, return_inverse=True)
        sides = np.broadcast_to(self.tally.side[None, :, None], table.shape[:3]).ravel()
        counts = np.zeros((len(patterns), len(SIDES), table.shape[-1]), dtype=np.int64)
        np.add.at(counts, (which.ravel(), sides), table.reshape(-1, table.shape[-1]))
        return [
            (members, part) for members, part in zip(patterns, counts, strict=True) if members.any()
        ]

    def _draw(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        total = int(counts.sum())
        if total == 0:
            return np.zeros((self.draws, *counts.shape), dtype=np.int64)
        drawn = rng.multinomial(total, counts.ravel() / total, size=self.draws)
        return np.asarray(drawn.reshape(self.draws, *counts.shape), dtype=np.int64)


LEFT, RIGHT = 0, 1
"places of the sides in arrays, as `SIDES` has them"


def judge(
    tally: Tally, options: ScoreOptions | None = None, drawn: DrawnLabels | None = None
) -> BiasReport:
    """Return the bias score of every model and selection; figures are computed on first use and
    kept.

    Parameters
    ----------
    drawn : labels drawn with known probabilities; needed only if the options correct for the
        classifier's error

    Raises UsageError if they are missing, or single answers are resampled.
    """
    chosen = options or ScoreOptions()
    if not chosen.correct:
        return BiasReport(tally, chosen)
    if chosen.unit != "statements":
        raise UsageError(
            "A corrected score resamples statements. Leave out --unit responses, or --correct."
        )
    if drawn is None:
        raise UsageError(
            "Correcting the classifier's error needs labels drawn with known probabilities. "
            "Label a test set, or "
            "leave out --correct."
        )
    return BiasReport(tally, chosen, drawn)


@dataclass(frozen=True, eq=False)
class BiasReport:
    """The bias score of all models, with the numbers behind it."""

    tally: Tally
    options: ScoreOptions
    drawn_labels: DrawnLabels | None = None
    "None: the classifier's error is not corrected for"
    _figures: dict[tuple[str, Selection], Figure] = field(default_factory=dict, repr=False)
    _leans: dict[Selection, Mapping[str, Lean]] = field(default_factory=dict, repr=False)
    by_prefix_changes: dict[tuple[str, Dimension | None], Any] = field(
        default_factory=dict, repr=False
    )
    "what `prefix_changes` found of each model, which several tables take"

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
        """Return the bias in several selections, for the price of little more than one."""
        missing = list(dict.fromkeys(pair for pair in wanted if pair not in self._figures))
        found = self.of_picks([pick(self.tally, model, selection) for model, selection in missing])
        self._figures.update(zip(missing, found, strict=True))
        return tuple(self._figures[pair] for pair in wanted)

    def of_picks(self, picks: Sequence[Pick]) -> tuple[Figure, ...]:
        """Return the bias in answers that were picked."""
        found: list[Figure] = []
        for start in range(0, len(picks), _AT_ONCE):
            some = picks[start : start + _AT_ONCE]
            values, moves = self.estimates(some)
            ends = self.interval(values, self._draw_figures(some), moves, limit=1)
            if self.options.unit == "statements":
                ends[:, self._few(some, moves)] = np.nan
            agreeing, coin = self._chance(self._parts(some))
            bounds = self.bounds(some)
            for place, chosen in enumerate(some):
                left, right, total = map(float, agreeing[place])
                figure = self._figure(chosen, values[place], *ends[:, place])
                figure = replace(figure, bounds=bounds[place], coin=float(coin[place]))
                found.append(replace(figure, agreeing=(left, right, total)))
        return tuple(found)

    def bounds(self, picks: Sequence[Pick]) -> tuple[Bounds, ...]:
        """Return the totals of picks with every missing answer towards the left, and towards the
        right.

        Missing are those answers to a side of which no stance counts, but for those that rulings
        leave out. Where the classifier's error is corrected for, they are the answers beyond the
        corrected A + D + N.
        """
        counts = np.stack([kept(self.tally, chosen) for chosen in picks])
        net, counted = (self._on_sides(each) for each in self.per_statement(picks))
        rest = np.stack([missing(self.tally, chosen) for chosen in picks]).sum(axis=-1)
        asked = self._on_sides(np.stack([swapped(of)[:, :3].sum(axis=-1) for of in counts]) + rest)
        lacks = np.maximum(asked - counted, 0)
        whole = np.where(counted + lacks > 0, counted + lacks, np.nan)
        least, most = (np.clip((net + sign * lacks) / whole, -1, 1) for sign in (-1, 1))
        ends = zip(
            (least[:, RIGHT] - most[:, LEFT]) / 2,
            (most[:, RIGHT] - least[:, LEFT]) / 2,
            strict=True,
        )
        return tuple(Bounds(float(low), float(high)) for low, high in ends)

    def leans(self, selection: Selection = EVERYTHING) -> Mapping[str, Lean]:
        """Return the side to which each model leans in a selection, if any.

        A lean is a claim that two tests hold. The interval of the total leaves out 0; and of
        `PERMUTATIONS` random exchanges of the statements' sides, few move the total, less what
        agreeing regardless adds, as far from 0 in standard errors: p below .05, adjusted by Holm's
        procedure over the models. Where agreeing regardless carries the total beyond 0, its sign is
        not the model's.
        """
        if selection not in self._leans:
            self._leans[selection] = self._find_leans(selection)
        return self._leans[selection]

    def _find_leans(self, selection: Selection) -> Mapping[str, Lean]:
        models = self.tally.models
        picks = [pick(self.tally, model, selection) for model in models]
        found = [regardless_and_lean(parts, self._exchanged) for parts in self._parts(picks)]
        figures = self.figures([(model, selection) for model in models])
        tested = [math.isfinite(one.total.low) for one in figures]
        p = np.array(
            [
                _extreme(lean) if test else math.nan
                for (_, lean), test in zip(found, tested, strict=True)
            ]
        )
        adjusted = holm(p)
        leans = {}
        for place, (model, figure) in enumerate(zip(models, figures, strict=True)):
            regardless, total = found[place][0], figure.total
            shown = (total.low > 0 or total.high < 0) and total.value * (
                total.value - regardless
            ) > 0
            towards = SIDES[int(total.value > 0)] if shown else None
            leans[model] = Lean(towards, float(p[place]), float(adjusted[place]), regardless)
        return leans

    @cached_property
    def _exchanged(self) -> FloatArray:
        return exchanged(self.tally.items, derive_rng(self.options.seed, "bias", "sides")).astype(
            np.float64
        )

    def _parts(self, picks: Sequence[Pick]) -> FloatArray:
        """Return of each statement A - D of wordings that say the same and of its opposites, turned
        round, and A + D + N of both, corrected if so chosen: (picks, S, 4).
        """
        return (
            self._by_relation(picks)
            .transpose(0, 1, 3, 2)
            .reshape(len(picks), len(self.tally.items), 4)
        )

    def _chance(self, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the biases of a model that always agrees, (picks, 3), and how far a coin moves the
        total, (picks,).
        """
        same, opposite = parts[..., 2], parts[..., 3]
        counted = self._on_sides(same + opposite)
        agreeing = self._biases(self._on_sides(same - opposite)[..., None], counted[..., None])[
            ..., 0
        ]
        tossed = (
            self._on_sides((same + opposite) ** 2) if self.options.unit == "statements" else counted
        )
        spread = np.sqrt((tossed / np.where(counted > 0, counted, np.nan) ** 2).sum(axis=-1)) / 2
        return agreeing, np.minimum(NORMAL * spread, 1)

    def weighted(
        self, picks: Sequence[Pick], weights: FloatArray, *, apart: bool = False
    ) -> tuple[float, float, float]:
        """Return the weighted sum of totals of picks with its interval, from common draws.

        apart : the picks are no pairs, although they may share statements: each has draws of its
            own
        """
        values, moves = self.estimates(picks)
        value = weights @ values[:, 2]
        if self.options.unit == "statements":
            answered = np.stack([kept(self.tally, chosen).sum(axis=-1) > 0 for chosen in picks])
            each_alone = list(zip(moves[:, 2], answered, strict=True))
            sides = (
                each_alone if apart else [(weights @ moves[:, 2], np.asarray(answered.any(axis=0)))]
            )
            few = any(few_statements(each, there, self.tally.side).any() for each, there in sides)
            if few or any(
                rests_on.too_alike for chosen in picks for rests_on in self.basis(chosen)
            ):
                return float(value), np.nan, np.nan
        if not apart:
            low, high = self.interval(
                value, weights @ self.drawn(picks)[:, 2], weights @ moves[:, 2], limit=2
            )
            return float(value), float(low), float(high)
        alone = [
            self._sums([chosen], self._resampling_of(number)) for number, chosen in enumerate(picks)
        ]
        draws = np.concatenate([self._biases(net, counted) for net, counted in alone])
        size = len(self.tally.items)
        strata = [
            part + place * size for place in range(len(picks)) for part in self._resampling.strata
        ]
        each = (weights[:, None] * moves[:, 2]).reshape(-1)
        low, high = self.interval(value, weights @ draws[:, 2], each, limit=2, strata=strata)
        return float(value), float(low), float(high)

    def by_prefix(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias under each prefix (Figures 2 and 6)."""
        prefixes = self.tally.prefixes
        return self._by(model, prefixes, lambda prefix: Selection(dimension, source, prefix))

    def by_variant(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias in answers to each wording."""
        variants = tuple(map(str, self.tally.variants))
        return self._by(
            model, variants, lambda variant: Selection(dimension, source, variant=variant)
        )

    def by_source(
        self, model: str, dimension: Dimension | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias on the statements of each survey or test (Figure 4)."""
        return self._by(model, self.tally.sources, lambda source: Selection(dimension, source))

    def by_author(
        self, model: str, dimension: Dimension | None = None, source: str | None = None
    ) -> tuple[tuple[str, Figure], ...]:
        """Return the bias in answers to the wordings of each author (Table 9)."""
        return self._by(
            model, self.authors, lambda author: Selection(dimension, source, author=author)
        )

    def _by(
        self, model: str, names: Sequence[str], selection: Callable[[str], Selection]
    ) -> tuple[tuple[str, Figure], ...]:
        return tuple(
            zip(names, self.figures([(model, selection(name)) for name in names]), strict=True)
        )

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """Who wrote wordings that were asked; `NOT_RECORDED` last."""
        return authors(self.tally)

    def estimates(self, picks: Sequence[Pick]) -> tuple[FloatArray, FloatArray]:
        """Return the biases of picks, and how far each statement moves them: (picks, 3) and (picks,
        3, S).

        The three are left, right and total; NaN where undefined.
        """
        side = self.tally.side
        net, counted = self.per_statement(picks)
        values = self._biases(self._on_sides(net)[..., None], self._on_sides(counted)[..., None])[
            ..., 0
        ]
        return values, np.stack(
            [influences(*pair, side) for pair in zip(net, counted, strict=True)]
        )

    def interval(
        self,
        values: FloatArray,
        draws: FloatArray,
        moves: FloatArray,
        limit: float,
        strata: Sequence[IntArray] | None = None,
    ) -> FloatArray:
        """Return both ends of the 95 % intervals of values (...) within the limits that the values
        have: (2, ...).

        draws : (..., draws); moves : (..., S); strata : None: those that statements are drawn in
        """
        low, high = percentile_interval(draws)
        if self.options.unit == "statements":
            freedom = degrees_of_freedom(
                moves, self._resampling.strata if strata is None else strata
            )
            low, high = widened(values, low, high, freedom)
        return np.where(np.isnan(values), np.nan, np.clip(np.stack([low, high]), -limit, limit))

    def errors(self, moves: FloatArray) -> tuple[FloatArray | None, FloatArray]:
        """Return standard errors of sums of influences over statements, in the sample and in each
        draw.

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
        """Return the places of the statements that are drawn together; none where answers are
        drawn.
        """
        return self._resampling.strata

    def drawn(self, picks: Sequence[Pick]) -> FloatArray:
        """Return `estimates` of several picks in every draw, drawn together: (picks, 3, draws)."""
        return self._biases(*self._sums(picks, self._resampling))

    def _draw_figures(self, picks: Sequence[Pick]) -> FloatArray:
        """Draw figures so that each is the same whatever else is asked for."""
        if self.options.unit == "statements":
            return self.drawn(picks)
        return np.concatenate([self.drawn([chosen]) for chosen in picks])

    @cached_property
    def _resampling(self) -> StatementResampling | ResponseResampling:
        return self._resampling_of(0)

    def _resampling_of(self, number: int) -> StatementResampling | ResponseResampling:
        """Return the draws of a number, independent of those of other numbers; all paired figures
        have those of 0.
        """
        kind = StatementResampling if self.options.unit == "statements" else ResponseResampling
        return kind(self.tally, self.options.draws, self.options.seed, number)

    def _sums(
        self, picks: Sequence[Pick], resampling: StatementResampling | ResponseResampling
    ) -> tuple[FloatArray, FloatArray]:
        """Return A - D and A + D + N of picks on each side in every draw: two (picks, 2, draws)."""
        if isinstance(resampling, ResponseResampling):
            sums = resampling.sums(picks)
        else:
            answered = np.stack([kept(self.tally, chosen).sum(axis=-1) > 0 for chosen in picks])
            sums = resampling.sums(np.stack(self.per_statement(picks), axis=-1), answered)
        return sums[:, :, 0], sums[:, :, 1]

    def _on_sides(self, values: FloatArray | IntArray) -> FloatArray:
        """Return sums over the statements of each side, (..., S) to (..., 2), each with its own
        NaN.
        """
        sides = [values[..., self.tally.side == place].sum(axis=-1) for place in range(len(SIDES))]
        return np.stack(sides, axis=-1).astype(np.float64)

    def basis(self, chosen: Pick) -> tuple[LabelCounts, ...]:
        """Return the labels that the corrected figures of a pick rest on, for each side; empty if
        not corrected.
        """
        return () if self.drawn_labels is None else basis(self.tally, self.drawn_labels, chosen)

    def per_statement(self, picks: Sequence[Pick]) -> tuple[FloatArray, FloatArray]:
        """Return A - D and A + D + N of picks by statement, corrected if so chosen: two (picks,
        S).
        """
        sums = self._by_relation(picks).sum(axis=2)
        return sums[..., 0], sums[..., 1]

    def _by_relation(self, picks: Sequence[Pick]) -> FloatArray:
        """Return the same of wordings that say the same and of opposites: (picks, S, 2, 2)."""
        if self.drawn_labels is None:
            return np.stack([uncorrected(self.tally, chosen) for chosen in picks])
        return np.stack([corrected(self.tally, self.drawn_labels, chosen) for chosen in picks])

    def _biases(self, net: FloatArray, counted: FloatArray) -> FloatArray:
        """Return left, right and total from (..., 2, draws): (..., 3, draws)."""
        sides = np.clip(net / np.where(counted > 0, counted, np.nan), -1, 1)
        total = (sides[..., RIGHT, :] - sides[..., LEFT, :]) / 2
        return np.concatenate([sides, total[..., None, :]], axis=-2)

    def _figure(
        self, chosen: Pick, values: FloatArray, low: FloatArray, high: FloatArray
    ) -> Figure:
        stances = swapped(kept(self.tally, chosen))
        (dropped, unread), cut = left_out(self.tally, chosen), cut_off(self.tally, chosen)
        cut_or_ruled = cut + ruled_out(self.tally, chosen)
        by_side = [_on(self.tally.side, side, stances) for side in range(len(SIDES))]
        out = [
            _on(self.tally.side, side, dropped + unread + cut_or_ruled) + stances_[3]
            for side, stances_ in enumerate(by_side)
        ]
        used = [int(stances_[:3].sum()) for stances_ in by_side]
        reasons = [
            self._reason(chosen, side, values[side], used[side], int(out[side]))
            for side in range(len(SIDES))
        ]
        both = " and ".join(dict.fromkeys(filter(None, reasons)))
        left, right, total = (
            self._estimate(float(value), float(lo), float(hi), n, int(excluded), reason)
            for value, lo, hi, n, excluded, reason in zip(
                values,
                low,
                high,
                (*used, sum(used)),
                (*out, sum(out)),
                (*reasons, both),
                strict=True,
            )
        )
        return Figure(
            total,
            left,
            right,
            {
                side: StanceCounts(*map(int, found))
                for side, found in zip(SIDES, by_side, strict=True)
            },
            int(dropped.sum()),
            int(unread.sum()),
            int(stances[:, 3].sum()),
            int(np.count_nonzero(stances[:, :3].sum(axis=1))),
            int(cut.sum()),
            int((cut_or_ruled - cut).sum()),
            missing={
                side: int(of.sum())
                for place, side in enumerate(SIDES)
                for of in (missing(self.tally, chosen)[self.tally.side == place],)
            },
        )

    def interval_of(self, figure: str) -> str:
        """Return the name of the method of the interval of a bias, or of a difference."""
        named = "bias" if self.options.unit == "responses" else figure
        return (
            f"{'' if self.drawn_labels is None else 'corrected '}{named} over {self.options.unit}"
        )

    def _few(self, picks: Sequence[Pick], moves: FloatArray) -> BoolArray:
        """Return which biases of picks, (picks, 3), have too few statements for an interval."""
        found = []
        for chosen, each in zip(picks, moves, strict=True):
            there = kept(self.tally, chosen).sum(axis=-1) > 0
            left, right = few_statements(each[:2].sum(axis=0), there, self.tally.side)
            if rests_on := self.basis(chosen):
                left, right = left or rests_on[LEFT].too_alike, right or rests_on[RIGHT].too_alike
            found.append((left, right, left or right))
        return np.array(found, dtype=np.bool_)

    def _estimate(
        self, value: float, low: float, high: float, n: int, excluded: int, reason: str
    ) -> Estimate:
        name = "" if np.isnan(low) else self.interval_of("bias")
        few = TOO_FEW if np.isnan(low) and not reason else ""
        return Estimate(value, low, high, n, excluded, reason, interval=name, few=few)

    def _reason(self, chosen: Pick, side: int, value: float, used: int, excluded: int) -> str:
        """Say why a side has no bias; empty where it has one."""
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
    """Return the share of leans at least as far from 0 as the first one, which is among them; NaN:
    no test.
    """
    if np.isnan(lean[0]):
        return math.nan
    return float((~(np.abs(lean) < np.abs(lean[0]) - ROUNDING)).mean())


_AT_ONCE = 64
"figures drawn at once: 64 x 3 x 10,000 numbers are 15 MB"


def _on(sides: IntArray, side: int, per_statement: IntArray) -> IntArray:
    return np.asarray(per_statement[sides == side].sum(axis=0), dtype=np.int64)
