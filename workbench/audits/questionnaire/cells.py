"""The predictions of a model by target and respondent, and the statistics of their sums.

Haller et al. 2025, sections 3.2 and 3.3. For a person who answered a (1 yes, 0 no) and a model with
the masses p(yes) and p(no):

    predicted = -1 where both masses are 0, 0 where p(no) > p(yes), else 1
    correct   = predicted equals a; an unreadable prompt (-1) is wrong
    share     = p(yes) / (p(yes) + p(no)), where one of the two is above 0

Accuracy is a mean over all respondents who were asked, bias a mean of share - a over the readable
ones. The rows of OLMo 7B in table 2 show that the published bias pairs respondents in this way.
That model always said no, and its bias is minus the mean answer of the readable respondents, not of
all.

Draws
=====
The bootstrap over respondents, and the estimates that are made of it.

A respondent is drawn with all that was asked about them: every target, wording and condition moves
together, so that means over targets and changes between conditions keep the dependence between one
person's answers. One generator serves all figures of a seed. A figure therefore has the same
interval no matter what else is computed, and figures over the same respondents are based on the
same draws.

Resampled values are always stored with the estimate itself before the draws, (..., 1 + draws). A
difference or a mean of absolute values is thus computed for the estimate and its draws at once.

An interval runs between the 2.5 % and 97.5 % percentiles of the draws, with both ends moved away
from the estimate by Student's t over the normal quantile for n - 1 respondents: 1 % with 100, 15 %
with 10 (`bias_score.score`). In 1,000 simulated samples of 5, 10, 19 and 192 respondents the
intervals of a bias covered it in 92, 93, 94 and 93 %.

The limits of this method:

- An accuracy of 0 or 1, or a bias that every respondent shares, has an interval without width,
  since all draws are equal. Its n tells how little that may mean (the rule of three: up to 3 / n of
  all other people may differ). So the intervals of an accuracy of 86 % covered it in 95 % of the
  samples of 19 and of 192, but in 80 % of those of 10 and in 54 % of those of 5. One respondent has
  no interval.
- The mean of absolute biases has no interval: noise adds to it, and to every draw once more
  (`stats.noise`).
- The deviation over wordings has no interval, for the same reason.

Weights
=======

A respondent with a weight w adds w times as much to every sum, in the sample and in each draw:
respondents are drawn with equal chances and bring their weights. A figure is a ratio of such sums.
Formulas that need a number of respondents (Student's t, Wilson's interval, the noise floor, the
minimum number of respondents) use the effective one, (Σ w)² / Σ w² (Kish 1965), which is rounded
down for counts. Respondents with the weight 0 do not count. Equal weights have the same effect as
no weights.

References
----------
Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13. Hesterberg 2015, "What
teachers should know about the bootstrap", The American Statistician 69(4).

Counted answers
===============

The noise that the drawing of answers adds to figures, if answers are counted in place of
probabilities.

Of the n answers to a prompt that say yes or no, y say yes. Its p(yes) is y / n with the noise of so
many draws: given them, p(yes) follows Beta(y + 1/2, n - y + 1/2) (Jeffreys' prior), so that another
n answers are beta-binomial.

The share of this noise that an interval already includes depends on the respondents of a prompt.

- If every respondent has an own prompt (`qm`), the noise differs between respondents. Draws of
  respondents include it: the observed variance is that between respondents plus that of the
  answers. Drawing it again would count it twice.
- If k respondents have the same prompt (`zero-shot`: all of them; equal contexts: some), they have
  its noise in common. Draws of respondents include 1/k of its variance. The missing part,
  (k² - k) v for a sum over them, is drawn here: the draw of the prompt around its mean, times
  root(k² - k), is added to each draw of respondents.

A prediction is yes where y >= n - y. For a prompt with one respondent the prediction may differ in
another run, and draws of respondents include that. An accuracy here is that of the majority of so
many answers, and lower than that of the probability itself if this is near 1/2. For a prompt with
several respondents the prediction flips for all of them at once. Such flips are drawn here.

A correlation over models and targets has no draws of respondents. `redrawn_figures` gives its
points for other answers to the same prompts.

References
----------
Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion (Jeffreys' interval).
Davison and Hinkley 1997, Bootstrap Methods and their Application, section 3.8 (with two sources of
variation resample the outer one alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.audits.questionnaire.figures import NEVER_ASKED, Average, Condition, ModelPredictions
from workbench.domain.statements import VariantId
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.proportions import wilson_interval, wilson_of_share
from workbench.stats.resampling import (
    bca_of_draws,
    derive_rng,
    percentile_interval,
    resampled_together,
    widened,
)

NOBODY_ANSWERED = "no respondent answered yes or no"
NOT_ASKED = "the model was not asked"
RULED_OUT = "left out by a ruling"
NOT_OFFERED = "the model's backend does not report the probabilities of yes and no"
UNREADABLE = "the model put no probability on yes or no"


@dataclass(frozen=True, eq=False)
class ConditionCell:
    """One wording of the targets under one condition.

    All arrays are (T, R), with the respondents in the order of their names.
    """

    human: FloatArray
    "1 yes, 0 no, NaN neutral or missing"
    present: BoolArray
    "whether a prompt was answered"
    yes: FloatArray
    "probability mass of yes, or NaN if it is unknown"
    no: FloatArray
    "probability mass of no, or NaN if it is unknown"
    answers: IntArray | None = None
    """number of drawn answers, of which the masses are shares, and 0 without a prompt. None: the
    masses are probabilities"""
    prompt: IntArray | None = None
    "the same number for respondents with the same prompt, who have the same answers"
    weights: FloatArray | None = None
    "(R,), all above 0. None: all respondents have the same weight"

    @cached_property
    def asked(self) -> BoolArray:
        """Where the respondent answered yes or no, and the model was asked."""
        return self.present & ~np.isnan(self.human)

    @cached_property
    def counted(self) -> BoolArray:
        """Where, in addition, both masses are known."""
        return self.asked & ~np.isnan(self.yes) & ~np.isnan(self.no)

    @cached_property
    def readable(self) -> BoolArray:
        """Where, in addition, one of the masses is above 0."""
        return self.counted & ((self.yes > 0) | (self.no > 0))

    @cached_property
    def says_yes(self) -> BoolArray:
        """Where yes is predicted. A tie is a yes (section 3.2)."""
        return self.readable & (self.yes >= self.no)

    @cached_property
    def correct(self) -> BoolArray:
        """Where the prediction is the respondent's answer."""
        return np.asarray(self.readable & (self.says_yes == (self.human == 1)))

    @cached_property
    def share(self) -> FloatArray:
        """The normalised p(yes), or NaN where it is unreadable."""
        total = np.where(self.readable, self.yes + self.no, 1.0)
        return np.where(self.readable, self.yes / total, np.nan)

    @cached_property
    def difference(self) -> FloatArray:
        """The difference share - human, or NaN where the share is unreadable."""
        return np.subtract(self.share, self.human)

    def why_no_accuracy(self, target: int) -> str:
        """Return the reason why a target has no accuracy, or an empty string if it has one."""
        if np.isnan(self.human[target]).all():
            return NOBODY_ANSWERED
        if not self.asked[target].any():
            return NOT_ASKED
        return "" if self.counted[target].any() else NOT_OFFERED

    def why_no_bias(self, target: int) -> str:
        """Return the reason why a target has no bias, or an empty string if it has one."""
        return self.why_no_accuracy(target) or ("" if self.readable[target].any() else UNREADABLE)

    def of(self, respondents: IntArray, targets: IntArray) -> ConditionCell:
        """Return the cell of some respondents and targets, in the given order."""
        indices = np.ix_(targets, respondents)
        answers, prompt = (
            None if values is None else values[indices] for values in (self.answers, self.prompt)
        )
        weights = None if self.weights is None else self.weights[respondents]
        return ConditionCell(
            self.human[indices],
            self.present[indices],
            self.yes[indices],
            self.no[indices],
            answers,
            prompt,
            weights,
        )


class PredictionIndex:
    """The predictions of a model, indexed by condition and wording.

    Respondents are sorted by name, so that neither a figure nor its interval depends on the order
    in which a store returns them. Rows are sorted once. A cell is built on request, so that memory
    holds one target x respondent array and not one for every condition and wording.
    """

    def __init__(self, predictions: ModelPredictions) -> None:
        """Index the predictions.

        Raises ValueError for rows that contradict one another, or that point outside of the lists.
        """
        _check(predictions)
        self.predictions = predictions
        order = sorted(range(len(predictions.respondents)), key=predictions.respondents.__getitem__)
        self.respondents = tuple(predictions.respondents[index] for index in order)
        self.human = predictions.human[:, order]
        self.weights = None if predictions.weights is None else predictions.weights[order]
        if self.weights is not None and self.weights.any():
            # Squares of weights of any size stay in range
            self.weights = self.weights / self.weights.max()
        if self.weights is not None:  # a respondent with the weight 0 does not count
            self.human = np.where(self.weights > 0, self.human, np.nan)
        self._rank = np.empty(len(order), dtype=np.int64)
        self._rank[order] = np.arange(len(order))
        cells = predictions.condition * len(predictions.wordings) + predictions.wording
        n_cells = len(predictions.conditions) * len(predictions.wordings)
        # Numpy sorts short integers by radix
        dtype = np.uint16 if n_cells <= np.iinfo(np.uint16).max else np.int64
        self._rows = np.argsort(cells.astype(dtype), kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])

    @cached_property
    def _prompts(self) -> IntArray:
        """The number of each row's prompt, which is the same for prompts with the same text."""
        if self.predictions.prompt is None:
            return np.arange(len(self.predictions.yes))
        return self.predictions.prompt

    def condition_index(self, condition: Condition) -> int:
        """Return the index of a condition. Raises UnknownName with the available ones."""
        if condition not in self.predictions.conditions:
            available = ", ".join(map(str, self.predictions.conditions)) or "none"
            raise UnknownName(
                f"no prompt was asked under {str(condition)!r}. Available: {available}"
            )
        return self.predictions.conditions.index(condition)

    def rows(self, condition: Condition, wording: VariantId) -> IntArray:
        """Return the indices of a cell's rows. They are empty if the wording was not asked."""
        if wording not in self.predictions.wordings:
            return np.empty(0, dtype=np.int64)
        n_wordings = len(self.predictions.wordings)
        wording_index = self.predictions.wordings.index(wording)
        cell = self.condition_index(condition) * n_wordings + wording_index
        return np.asarray(self._rows[self._starts[cell] : self._starts[cell + 1]], dtype=np.int64)

    def cell(self, condition: Condition, wording: VariantId) -> ConditionCell:
        """Return the cell of one wording under one condition.

        A prompt without a respondent represents every respondent.
        """
        predictions = self.predictions
        rows = self.rows(condition, wording)
        is_for_all = predictions.respondent[rows] == NEVER_ASKED
        for_one = rows[~is_for_all]
        grid = _CellGrid(
            shape=self.human.shape,
            for_all=rows[is_for_all],
            for_all_targets=predictions.target[rows[is_for_all]],
            for_one=for_one,
            for_one_targets=predictions.target[for_one],
            for_one_respondents=self._rank[predictions.respondent[for_one]],
        )
        return ConditionCell(
            human=self.human,
            present=grid.fill(np.ones(len(predictions.yes), dtype=bool), missing=False),
            yes=grid.fill(predictions.yes, missing=np.nan),
            no=grid.fill(predictions.no, missing=np.nan),
            answers=None
            if predictions.answers is None
            else grid.fill(predictions.answers, missing=0),
            prompt=None if predictions.answers is None else grid.fill(self._prompts, missing=0),
            weights=self.weights,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _CellGrid:
    """The rows of one cell, and their places in an array of targets and respondents."""

    shape: tuple[int, ...]
    "(T, R)"
    for_all: IntArray
    "rows of prompts without a respondent, which represent every respondent"
    for_all_targets: IntArray
    for_one: IntArray
    "rows of prompts of one respondent"
    for_one_targets: IntArray
    for_one_respondents: IntArray

    def fill(self, values: npt.NDArray[Any], missing: float) -> npt.NDArray[Any]:
        """Return a value for each target and respondent: (N,) to (T, R).

        `missing` is the value without a prompt. The array has its type.
        """
        array = np.full(self.shape, missing)
        array[self.for_all_targets] = values[self.for_all][:, np.newaxis]
        array[self.for_one_targets, self.for_one_respondents] = values[self.for_one]
        return array


def _check(found: ModelPredictions) -> None:
    """Raise ValueError for predictions that contradict themselves, so that no run made them."""
    shape = (len(found.targets), len(found.respondents))
    if found.human.shape != shape or len(found.leanings) != shape[0]:
        raise ValueError(
            f"expected human answers of targets x respondents {shape}, found {found.human.shape}"
        )
    if not (np.isnan(found.human) | (found.human == 0) | (found.human == 1)).all():
        raise ValueError("human answers are 1, 0 or NaN")
    names = {
        "target": found.targets,
        "respondent": found.respondents,
        "condition": found.conditions,
    }
    for kind, labels in {**names, "wording": found.wordings}.items():
        if len(set(labels)) < len(labels):
            raise ValueError(f"found a {kind} twice among {len(labels)}")
        indices, lowest = getattr(found, kind), NEVER_ASKED if kind == "respondent" else 0
        if len(indices) and not (indices.min() >= lowest and indices.max() < len(labels)):
            raise ValueError(f"a row points to no {kind}")
    if (found.yes < 0).any() or (found.no < 0).any():
        raise ValueError("found a probability mass below 0")
    _check_once(found)


def _check_once(found: ModelPredictions) -> None:
    """Raise ValueError for two predictions of one respondent, target, wording and condition."""
    sizes = (
        len(found.conditions),
        len(found.wordings),
        len(found.targets),
        len(found.respondents) + 1,
    )
    # The respondent -1, of a prompt for all respondents, gets the index 0
    key = np.zeros(len(found.yes), dtype=np.int64)
    for size, indices in zip(
        sizes, (found.condition, found.wording, found.target, found.respondent + 1), strict=True
    ):
        key = key * size + indices
    has_row = np.zeros(int(np.prod(sizes)), dtype=bool)
    has_row[key] = True
    if np.count_nonzero(has_row) < len(key):
        raise ValueError(
            "found several predictions of one respondent, target, wording and condition"
        )


AT_ONCE = 6_000_000
"number of sums in memory at once (48 MB)"
SHOWN = 3
"number of targets named in a reason"
UNDEFINED = float("nan")
TOO_FEW = "too few for an interval:"
ALIKE = f"{TOO_FEW} all respondents answered alike"
LEAST = 3
"""respondents with the rarer answer, below which a bias has no interval: with 25 respondents, 17 %
of whom gave it, the interval covered 91 % with any number"""
ACCURACY = "accuracy"
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class RespondentDraws:
    """A number of draws of respondents under a seed."""

    seed: int
    draws: int

    def sums(self, features: npt.NDArray[np.generic], units: BoolArray) -> FloatArray:
        """Return sums over respondents, of the sample and each draw: (..., R) to (..., 1 + draws).

        `units` is (R,) and marks the respondents to draw from. Others add nothing. Without any
        respondent all sums are 0.
        """
        return self.sums_of_several([(features, units)])[0]

    def sums_of_several(
        self, several: Sequence[tuple[npt.NDArray[np.generic], BoolArray]]
    ) -> list[FloatArray]:
        """Return the sums of several (features, units).

        Those over the same number of respondents share their draws.
        """
        columns = [
            np.asarray(features, dtype=np.float64)[..., units] for features, units in several
        ]
        flat = [
            values.reshape(int(np.prod(values.shape[:-1])), values.shape[-1]).T
            for values in columns
        ]
        sums = [np.zeros((values.shape[1], 1 + self.draws)) for values in flat]
        for respondents in sorted({len(values) for values in flat} - {0}):
            indices = [index for index, values in enumerate(flat) if len(values) == respondents]
            # A new generator gives a figure the same draws whatever else is computed
            rng = derive_rng(self.seed, "questionnaire")
            resampled = resampled_together([flat[index] for index in indices], self.draws, rng)
            for index, draws in zip(indices, resampled, strict=True):
                sums[index][:, 0], sums[index][:, 1:] = flat[index].sum(axis=0), draws.T
        return [
            total.reshape(*values.shape[:-1], 1 + self.draws)
            for total, values in zip(sums, columns, strict=True)
        ]


def effective_number(weights: FloatArray | None, counting: BoolArray) -> FloatArray:
    """Return the effective number of the counting respondents (Kish 1965): (..., R) to (...)."""
    if weights is None:
        return np.asarray(counting.sum(axis=-1), dtype=np.float64)
    counting_weights = np.where(counting, weights, 0.0)
    squares = (counting_weights**2).sum(axis=-1)
    exact_n = counting_weights.sum(axis=-1) ** 2 / np.where(squares > 0, squares, 1.0)
    # Rounding makes that of one respondent exactly 1, and not a little less
    return np.asarray(np.round(exact_n, 9), dtype=np.float64)


def scaled_weights(weights: FloatArray | None, counting: BoolArray) -> FloatArray:
    """Return weights whose sum is the effective number of the counting respondents: (..., R).

    They are 1 without weights. Figures are ratios of sums, which no scale changes. Formulas with a
    number of respondents get the effective one.
    """
    if weights is None:
        return np.ones(counting.shape)
    counting_weights = np.where(counting, weights, 0.0)
    squares = (counting_weights**2).sum(axis=-1, keepdims=True)
    return np.asarray(
        counting_weights
        * counting_weights.sum(axis=-1, keepdims=True)
        / np.where(squares > 0, squares, 1.0),
        dtype=np.float64,
    )


def mean_of(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the (weighted) mean of some values, or NaN without values."""
    if not len(values):
        return UNDEFINED
    return float(values.mean() if weights is None else values @ weights / weights.sum())


def ratio(total: FloatArray, count: FloatArray) -> FloatArray:
    """Return total / count, or NaN where the count is 0."""
    return np.asarray(total / np.where(count > 0, count, np.nan), dtype=np.float64)


def interval(
    drawn: FloatArray, respondents: npt.ArrayLike, limit: tuple[float, float]
) -> FloatArray:
    """Return both ends of the 95 % intervals of (..., 1 + draws): (2, ...).

    They are NaN for fewer than two respondents.
    """
    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), drawn.shape[:-1])
    low, high = bca_of_draws(drawn[..., 1:], drawn[..., 0], n - 1)
    percentiles = widened(drawn[..., 0], *percentile_interval(drawn[..., 1:]), np.maximum(n - 1, 1))
    # The wider of the two intervals
    ends = np.stack([np.minimum(low, percentiles[0]), np.maximum(high, percentiles[1])])
    is_undefined = np.isnan(drawn[..., 0]) | (n < 2) | np.isnan(low)
    return np.where(is_undefined, np.nan, np.clip(ends, *limit))


def p_of_zero(drawn: FloatArray, respondents: npt.ArrayLike) -> FloatArray:
    """Return the two-sided p-values of no difference from 0: (..., 1 + draws) to (...).

    The test is Student's t with n - 1 degrees of freedom for n respondents and the deviation of the
    draws. The p-value is NaN if the draws do not differ, or with fewer than two respondents.
    """
    from scipy.special import stdtr

    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), drawn.shape[:-1])
    defined_n = np.where(n > 1, n, np.nan)
    defined = ~np.isnan(drawn[..., 1:])
    k = np.maximum(defined.sum(axis=-1), 1)
    centred = np.where(defined, drawn[..., 1:], 0.0)
    centred = np.where(defined, centred - (centred.sum(axis=-1) / k)[..., None], 0.0)
    error = np.sqrt((centred**2).sum(axis=-1) / k * defined_n / (defined_n - 1))
    return np.asarray(
        2 * stdtr(defined_n - 1, -np.abs(drawn[..., 0]) / np.where(error > ROUNDING, error, np.nan))
    )


@dataclass(frozen=True, slots=True)
class Basis:
    """The numbers that an estimate is based on."""

    n: int
    "number of respondents, or of targets or wordings for a mean over these"
    excluded: int = 0
    undefined: str = ""
    "reason why there is no estimate"
    rarer: int | None = None
    "respondents with the rarer answer. None: not used, as in differences of predictions"
    doubtful: bool = False
    "whether other answers of the model might flip a prediction that several respondents share"
    effective: float | None = None
    "effective number of respondents before rounding down. None: no weights"


def estimates(
    drawn: FloatArray,
    counts: Sequence[Basis],
    respondents: npt.ArrayLike,
    limit: tuple[float, float],
    name: str,
) -> tuple[Estimate, ...]:
    """Return an estimate for each row of (m, 1 + draws), or the reason of its counts if undefined.

    The interval of an accuracy on one target, a share of its n respondents, is Wilson's instead of
    one from draws. If the predictions are doubtful, it is wide enough to include both.

    Parameters
    ----------
    drawn : the estimates, each with its draws
    counts : the basis of each estimate
    respondents : (effective) number of respondents of each estimate
    limit : lowest and highest possible value
    name : name of the interval's method
    """
    lows, highs = interval(drawn, respondents, limit)
    return tuple(
        _estimate(float(value), float(low), float(high), basis, name)
        for value, low, high, basis in zip(drawn[:, 0], lows, highs, counts, strict=True)
    )


def _estimate(value: float, low: float, high: float, basis: Basis, name: str) -> Estimate:
    """Return an estimate, given the ends of its interval from draws, see `estimates`."""
    undefined = basis.undefined if np.isnan(value) else ""
    few = ""
    if basis.n > 1 and not undefined:
        if name == ACCURACY:
            low, high = _accuracy_interval(value, low, high, basis)
        if np.isnan(low):
            few = ALIKE
        if basis.rarer is not None and basis.rarer < LEAST:
            few = f"{TOO_FEW} {basis.rarer} gave the rarer answer; {LEAST} are needed"
            low, high = UNDEFINED, UNDEFINED
    return Estimate(
        value,
        low,
        high,
        basis.n,
        basis.excluded,
        undefined,
        interval="" if np.isnan(low) else name,
        few=few,
    )


def _accuracy_interval(
    value: float, drawn_low: float, drawn_high: float, basis: Basis
) -> tuple[float, float]:
    """Return Wilson's interval of an accuracy.

    If its predictions are doubtful, the interval is wide enough to include that from draws.
    """
    ends: tuple[npt.ArrayLike, npt.ArrayLike]
    if basis.effective is None:
        ends = wilson_interval(round(value * basis.n), basis.n)
    else:
        ends = wilson_of_share(value, basis.effective)
    if basis.doubtful:
        # The draws may have no interval (NaN), which these two ignore
        ends = np.fmin(ends[0], drawn_low), np.fmax(ends[1], drawn_high)
    return float(np.asarray(ends[0])), float(np.asarray(ends[1]))


def average(
    drawn: FloatArray,
    respondents: float,
    limit: tuple[float, float],
    undefined: str,
    fewest: int = 0,
    name: str = "",
) -> Average:
    """Return the mean over targets of (T, 1 + draws). It is undefined if a target has NaN.

    Parameters
    ----------
    drawn : the figure of each target, with its draws
    respondents : (effective) number of respondents to draw from
    limit : lowest and highest possible value
    undefined : reason to report if the mean is undefined
    fewest : number of respondents of the target that has fewest
    name : name of the interval's method
    """
    n_targets = len(drawn)
    if n_targets == 0 or np.isnan(drawn[:, 0]).any():
        return Average(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, n_targets, undefined, fewest)
    mean = drawn.mean(axis=0)
    low, high = interval(mean, respondents, limit)
    method = "" if np.isnan(low) else name
    return Average(
        float(mean[0]),
        standard_error(drawn[:, 0]),
        float(low),
        float(high),
        n_targets,
        "",
        fewest,
        method,
    )


def standard_error(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the standard error of the mean, or NaN for fewer than two values.

    It is the standard deviation (divisor n - 1) over the root of n. With weights it is the root of
    n / (n - 1) Σ (w (x - mean))² / (Σ w)².
    """
    n = len(values)
    if n < 2:
        return UNDEFINED
    if weights is None:
        return deviation(values) / float(np.sqrt(n))
    weighted_residuals = weights * (values - mean_of(values, weights))
    return float(np.sqrt(n / (n - 1) * (weighted_residuals @ weighted_residuals)) / weights.sum())


def deviation(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the standard deviation with divisor n - 1, or NaN for fewer than two values."""
    n = len(values)
    if n < 2:
        return UNDEFINED
    if weights is None:
        return float(values.std(ddof=1))
    return float(np.sqrt(mean_of((values - mean_of(values, weights)) ** 2, weights) * n / (n - 1)))


def reasons(targets: Sequence[str], why: Sequence[str]) -> str:
    """Return the targets that make a mean undefined: `13.4: the model was not asked`."""
    parts = [f"{target}: {reason}" for target, reason in zip(targets, why, strict=True) if reason]
    ending = [f"and {len(parts) - SHOWN} more"] if len(parts) > SHOWN else []
    return "; ".join(parts[:SHOWN] + ending)


PRIOR = 0.5
"parameter of Jeffreys' prior"
SURE = 0.025
"a prediction that at most this share of the draws flips is taken for certain"
ANSWERS_AT_ONCE = 2_000_000
"random numbers in memory at once (16 MB)"


@dataclass(frozen=True, slots=True, eq=False)
class TargetNoise:
    """The noise to add to the sums of one target: (1 + draws,), 0 in the sample."""

    difference: FloatArray
    "noise of the sum of differences"
    correct: FloatArray
    "noise of the number of correct predictions"
    variance: float = 0.0
    "variance of the sum of differences, beyond the part that draws of respondents include"
    doubtful: bool = False
    "whether other answers might flip a prediction that several respondents share"


@dataclass(frozen=True, slots=True, eq=False)
class SharedNoise:
    """The noise of every target, see `TargetNoise`: (T, 1 + draws), and (T,) for the last two."""

    difference: FloatArray
    correct: FloatArray
    variance: FloatArray
    doubtful: BoolArray

    @classmethod
    def from_targets(cls, noises: Sequence[TargetNoise], draws: int) -> SharedNoise:
        """Return the noise of some targets as arrays, each with so many draws."""
        # Without targets the arrays are (0, 1 + draws)
        shape = len(noises), 1 + draws
        difference = np.array([noise.difference for noise in noises], dtype=np.float64)
        correct = np.array([noise.correct for noise in noises], dtype=np.float64)
        return cls(
            difference=difference.reshape(shape),
            correct=correct.reshape(shape),
            variance=np.array([noise.variance for noise in noises], dtype=np.float64),
            doubtful=np.array([noise.doubtful for noise in noises], dtype=np.bool_),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _TargetPrompts:
    """The prompts of one target: (G,) each."""

    yes: FloatArray
    "number of yes answers"
    no: FloatArray
    "number of no answers"
    people: FloatArray
    "sum of the weights of the readable respondents"
    pairs: FloatArray
    "(Σ w)² - Σ w² of these respondents: k² - k for k respondents without weights"
    several: BoolArray
    "whether the prompt has more than one respondent"
    agreeing: FloatArray
    "sum of the weights of the respondents who answered yes"

    def with_several_respondents(self) -> _TargetPrompts:
        """Return the prompts that have more than one respondent."""
        return _TargetPrompts(
            yes=self.yes[self.several],
            no=self.no[self.several],
            people=self.people[self.several],
            pairs=self.pairs[self.several],
            several=self.several[self.several],
            agreeing=self.agreeing[self.several],
        )


def shared_noise(
    cell: ConditionCell,
    resampling: RespondentDraws,
    name: str,
    weights: FloatArray,
    kept: BoolArray | None = None,
    some: Sequence[int] | None = None,
) -> SharedNoise | None:
    """Return the noise of prompts that several respondents share, or None for probabilities.

    Parameters
    ----------
    name : name of the stream of random numbers. The sides of a comparison have different ones, as
        their answers were drawn separately
    weights : (T, R), the result of `scaled_weights`
    kept : (T, R), the respondents whose prompts count. None: all readable ones
    some : indices of targets. None: all targets
    """
    if cell.answers is None:
        return None
    targets = range(len(cell.human)) if some is None else some
    noises = [
        _target_noise(_prompts(cell, t, kept, weights[t]), resampling, (name, t)) for t in targets
    ]
    return SharedNoise.from_targets(noises, resampling.draws)


def _target_noise(
    prompts: _TargetPrompts, resampling: RespondentDraws, stream: tuple[str, int]
) -> TargetNoise:
    """Return the noise of one target's prompts that several respondents share.

    `stream` names the stream of random numbers.
    """
    difference = np.zeros(1 + resampling.draws)
    correct = np.zeros(1 + resampling.draws)
    if not prompts.several.any():
        return TargetNoise(difference, correct)
    prompts = prompts.with_several_respondents()
    n = prompts.yes + prompts.no + 2 * PRIOR
    centre = (prompts.yes + PRIOR) / n
    scale = np.sqrt(prompts.pairs)
    # What a yes in place of a no adds to the number of correct predictions
    gain = 2 * prompts.agreeing - prompts.people
    predicted = (prompts.yes >= prompts.no).astype(np.float64)
    n_flips = np.zeros(len(n))
    rng = derive_rng(resampling.seed, "questionnaire answers", *stream)
    for columns, p in _draws_of_p(prompts, resampling.draws, rng):
        flips = (p >= 0.5) - predicted[:, None]
        difference[columns] = scale @ (p - centre[:, None])
        correct[columns] = gain @ flips
        n_flips += np.abs(flips).sum(axis=1)
    return TargetNoise(
        difference,
        correct,
        variance=float((prompts.pairs * centre * (1 - centre) / (n + 1)).sum()),
        doubtful=bool((n_flips > SURE * resampling.draws).any()),
    )


def redrawn_figures(
    cell: ConditionCell, resampling: RespondentDraws, name: str
) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of the targets for redrawn answers, or None for probabilities.

    They are (T, draws) each, and NaN for targets without a figure. The respondents stay the same.
    The draws scatter around the observed values: the mean of a prompt's draws is its y / n.
    """
    if cell.answers is None:
        return None
    n_targets, draws = len(cell.human), resampling.draws
    accuracy, bias = np.full((n_targets, draws), np.nan), np.full((n_targets, draws), np.nan)
    rng = derive_rng(resampling.seed, "questionnaire answers", "again", name)
    for t in range(n_targets):
        weights = np.ones(cell.human.shape[1]) if cell.weights is None else cell.weights
        prompts = _prompts(cell, t, None, weights)
        counted, readable = weights @ cell.counted[t], weights @ cell.readable[t]
        if not counted or not readable:
            continue
        n = prompts.yes + prompts.no
        # The posterior mean minus y / n: its subtraction makes draws scatter around y / n
        centre = (prompts.yes + PRIOR) / (n + 2 * PRIOR) - prompts.yes / n
        for columns, p in _draws_of_p(prompts, draws, rng):
            columns = slice(columns.start - 1, columns.stop - 1)
            bias[t, columns] = (
                prompts.people @ (p - centre[:, None]) - prompts.agreeing.sum()
            ) / readable
            yes = p >= 0.5
            accuracy[t, columns] = (
                prompts.agreeing @ yes + (prompts.people - prompts.agreeing) @ ~yes
            ) / counted
    return accuracy, bias


def _prompts(
    cell: ConditionCell, target: int, kept: BoolArray | None, weights: FloatArray
) -> _TargetPrompts:
    """Return the distinct prompts about one target, with sums over their readable respondents."""
    assert cell.answers is not None
    assert cell.prompt is not None
    included = cell.readable[target] if kept is None else cell.readable[target] & kept[target]
    _, first_indices, prompt_indices, n_respondents = np.unique(
        cell.prompt[target][included], return_index=True, return_inverse=True, return_counts=True
    )
    answers = cell.answers[target][included][first_indices]
    yes, no = (
        np.rint(mass[target][included][first_indices] * answers) for mass in (cell.yes, cell.no)
    )
    included_weights = weights[included]
    people, squares, agreeing = (
        np.bincount(prompt_indices.ravel(), values, minlength=len(first_indices)).astype(np.float64)
        for values in (
            included_weights,
            included_weights**2,
            included_weights * cell.human[target][included],
        )
    )
    return _TargetPrompts(yes, no, people, people**2 - squares, n_respondents > 1, agreeing)


def _draws_of_p(
    prompts: _TargetPrompts, draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield chunks of draws of each prompt's p(yes), (G, chunk), with their columns.

    Column 0 is that of the sample.
    """
    n_prompts = len(prompts.yes)
    chunk_size = max(1, ANSWERS_AT_ONCE // max(1, n_prompts))
    for start in range(0, draws, chunk_size):
        n_draws = min(chunk_size, draws - start)
        shape = (n_prompts, n_draws)
        p = rng.beta(prompts.yes[:, None] + PRIOR, prompts.no[:, None] + PRIOR, size=shape)
        yield slice(1 + start, 1 + start + n_draws), np.asarray(p, dtype=np.float64)
