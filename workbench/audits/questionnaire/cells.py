"""What a model predicted, laid out target by respondent, and what each respondent adds to the
figures.

Haller et al. 2025, sections 3.2 and 3.3. For a person who answered a (1 yes, 0 no) and a model with
the masses p(yes) and p(no):

    predicted = -1 where both masses are 0, 0 where p(no) > p(yes), else 1
    correct   = predicted equals a; a prompt that cannot be read (-1) is wrong
    share     = p(yes) / (p(yes) + p(no)), where one of the two is above 0

Accuracy is a mean over everybody who was asked, bias a mean of share - a over those who could be
read. That the published bias pairs people so is seen in the rows of OLMo 7B in table 2, which
always said no: its bias is minus the mean answer of the readable people, not of all.

Draws
=====
Bootstrap over respondents, and the estimates that are made of it.

A respondent is drawn with all that was asked about them: every target, wording and condition moves
together, so that means over targets and changes between conditions keep the dependence that one
person's answers have. One generator serves all figures of a seed. So a figure has the same interval
whatever else is computed, before or besides it, and figures over the same respondents rest on the
same draws.

What is resampled is always laid out with the estimate itself before the draws, (..., 1 + draws):
what is true of the one, a difference or a mean of absolute values, is done to all at once.

An interval runs between the 2.5 % and 97.5 % percentiles of the draws, with both ends moved away
from the estimate by Student's t over the normal quantile for n - 1 respondents: 1 % with 100, 15 %
with 10 (`bias_score.score`). In 1,000 simulated samples of 5, 10, 19 and 192 respondents those of a
bias covered it in 92, 93, 94 and 93 %.

What it does not do:

- An accuracy of 0 or 1, or a bias that every respondent shares, has an interval of no width: all
  draws are equal. Its n says how little that may mean (the rule of three: up to 3 / n of everybody
  else may differ). So the intervals of an accuracy of 86 % covered it in 95 % of the samples of 19
  and of 192, but in 80 % of those of 10 and in 54 % of those of 5. One respondent has no interval.
- The mean of absolute biases has no interval: noise adds to it, and to every draw once more
  (`stats.noise`).
- The deviation over wordings has none either, for the same reason.

Weights
=======

A respondent with a weight w adds w times as much to every sum, in the sample and in each draw:
people are drawn with equal chances and bring their weights. A figure is a ratio of such sums. What
needs a number of people (Student's t, Wilson's interval, what noise gives, whether there are too
few) has the effective one, (Σ w)² / Σ w² (Kish 1965), which is rounded down where it is counted.
People with the weight 0 count for nothing; weights that are all alike are none.

References
----------
Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13. Hesterberg 2015, "What
teachers should know about the bootstrap", The American Statistician 69(4).

Counted answers
===============

What the drawing of answers adds to the noise of figures, where answers are counted in place of
probabilities.

Of the n answers to a prompt that say yes or no, y say yes. Its p(yes) is y / n with the noise of so
many draws: given them, p(yes) follows Beta(y + 1/2, n - y + 1/2) (Jeffreys' prior), so that another
n answers are beta-binomial.

How much of it an interval has already depends on whom a prompt is about.

- Where everybody has a prompt of their own (`qm`), the noise differs from person to person. Draws
  of people hold it as it is: the variance of what is observed is that between people plus that of
  the answers. To draw it once more would count it twice.
- Where k people have one prompt (`zero-shot`: all of them; equal contexts: some), its noise is
  common to them. Draws of people hold 1/k of its variance. What is missing, (k² - k) v for a sum
  over them, is drawn here: the draw of the prompt around its mean, times root(k² - k), is added to
  each draw of people.

A prediction is yes where y >= n - y. That of a prompt of one person may be another one next time,
which draws of people hold, too: an accuracy here is that of the majority of so many answers, and
below that of the probability itself where this is near 1/2. That of a prompt of several people
flips for all of them at once; it is drawn here.

A correlation over models and targets has no draws of people. `redrawn` gives its points as other
answers to the same prompts would have given them.

References
----------
Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion (Jeffreys' interval).
Davison and Hinkley 1997, Bootstrap Methods and their Application, section 3.8 (of two sources of
variation resample the outer one alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workbench.audits.questionnaire.figures import NEVER_ASKED, Average, Condition, Predictions
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
class Cell:
    """One wording of the targets under one condition. All arrays are (T, R), respondents in order
    of their names.
    """

    human: FloatArray
    present: BoolArray
    "a prompt was answered"
    yes: FloatArray
    "probability mass; NaN where there is none"
    no: FloatArray
    answers: IntArray | None = None
    """how many answers were drawn, of which the masses are shares; 0 where there is no prompt.
    None: probabilities"""
    prompt: IntArray | None = None
    "the same number where respondents have the same prompt, and so the same answers"
    weights: FloatArray | None = None
    "(R,), all above 0; None: everybody counts once"

    @cached_property
    def asked(self) -> BoolArray:
        """Where the person answered yes or no, and the model was asked."""
        return self.present & ~np.isnan(self.human)

    @cached_property
    def counted(self) -> BoolArray:
        """Where also the masses are known."""
        return self.asked & ~np.isnan(self.yes) & ~np.isnan(self.no)

    @cached_property
    def readable(self) -> BoolArray:
        """Where also one of them is above 0."""
        return self.counted & ((self.yes > 0) | (self.no > 0))

    @cached_property
    def says_yes(self) -> BoolArray:
        """Where yes is predicted. A tie is a yes (section 3.2)."""
        return self.readable & (self.yes >= self.no)

    @cached_property
    def correct(self) -> BoolArray:
        """Where the prediction is the person's answer."""
        return np.asarray(self.readable & (self.says_yes == (self.human == 1)))

    @cached_property
    def share(self) -> FloatArray:
        """Return the normalised p(yes); NaN where it cannot be read."""
        both = np.where(self.readable, self.yes + self.no, 1.0)
        return np.where(self.readable, self.yes / both, np.nan)

    @cached_property
    def difference(self) -> FloatArray:
        """Return share - human; NaN where it cannot be read."""
        return np.subtract(self.share, self.human)

    def why_no_accuracy(self, target: int) -> str:
        """Say why a target has no accuracy; empty where it has one."""
        if np.isnan(self.human[target]).all():
            return NOBODY_ANSWERED
        if not self.asked[target].any():
            return NOT_ASKED
        return "" if self.counted[target].any() else NOT_OFFERED

    def why_no_bias(self, target: int) -> str:
        """Say why a target has no bias; empty where it has one."""
        return self.why_no_accuracy(target) or ("" if self.readable[target].any() else UNREADABLE)

    def of(self, respondents: IntArray, targets: IntArray) -> Cell:
        """Return the same for some respondents and targets, in the order given."""
        at = np.ix_(targets, respondents)
        answers, prompt = (
            None if each is None else each[at] for each in (self.answers, self.prompt)
        )
        weights = None if self.weights is None else self.weights[respondents]
        return Cell(
            self.human[at], self.present[at], self.yes[at], self.no[at], answers, prompt, weights
        )


class Layout:
    """Predictions, ready to be taken apart by condition and wording.

    Respondents are put in the order of their names, so that neither a figure nor its interval
    depends on the order in which a store gives them. Rows are sorted once; a cell is laid out when
    it is asked for, so that memory holds one target x respondent array and not one for every
    condition and wording.
    """

    def __init__(self, predictions: Predictions) -> None:
        """Raises ValueError for rows that contradict one another or lie outside of what they point
        into.
        """
        _check(predictions)
        self.predictions = predictions
        order = sorted(range(len(predictions.respondents)), key=predictions.respondents.__getitem__)
        self.respondents = tuple(predictions.respondents[place] for place in order)
        self.human = predictions.human[:, order]
        self.weights = None if predictions.weights is None else predictions.weights[order]
        if self.weights is not None and self.weights.any():
            # Squares of weights of any size stay in range.
            self.weights = self.weights / self.weights.max()
        if self.weights is not None:  # a weight of 0: the person counts for nothing
            self.human = np.where(self.weights > 0, self.human, np.nan)
        self._rank = np.empty(len(order), dtype=np.int64)
        self._rank[order] = np.arange(len(order))
        cells = predictions.condition * len(predictions.wordings) + predictions.wording
        count = len(predictions.conditions) * len(predictions.wordings)
        # Numpy sorts short integers by radix.
        small = np.uint16 if count <= np.iinfo(np.uint16).max else np.int64
        self._rows = np.argsort(cells.astype(small), kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=count))])

    @cached_property
    def _drawn(self) -> tuple[IntArray, ...]:
        """Return how many answers each row has, and which prompt; nothing where probabilities were
        computed.
        """
        of = self.predictions
        if of.answers is None:
            return ()
        return of.answers, np.arange(len(of.yes)) if of.prompt is None else of.prompt

    def place(self, condition: Condition) -> int:
        """Return where a condition stands. Raises UnknownName, listing those there are."""
        if condition not in self.predictions.conditions:
            there = ", ".join(map(str, self.predictions.conditions)) or "none"
            raise UnknownName(f"no prompt was asked under {str(condition)!r}. Available: {there}")
        return self.predictions.conditions.index(condition)

    def rows(self, condition: Condition, wording: VariantId) -> IntArray:
        """Return the places of a cell's rows; empty where the wording was not asked."""
        if wording not in self.predictions.wordings:
            return np.empty(0, dtype=np.int64)
        cell = self.place(condition) * len(
            self.predictions.wordings
        ) + self.predictions.wordings.index(wording)
        return np.asarray(self._rows[self._starts[cell] : self._starts[cell + 1]], dtype=np.int64)

    def cell(self, condition: Condition, wording: VariantId) -> Cell:
        """Return one wording under one condition. A prompt without respondent stands for every
        respondent.
        """
        rows, made = self.rows(condition, wording), self.predictions
        yes, no = np.full(self.human.shape, np.nan), np.full(self.human.shape, np.nan)
        present = np.zeros(self.human.shape, dtype=bool)
        drawn = [(np.zeros(self.human.shape, dtype=np.int64), values) for values in self._drawn]
        everybody = made.respondent[rows] == NEVER_ASKED
        for some, who in ((rows[everybody], slice(None)), (rows[~everybody], None)):
            at = (made.target[some], self._rank[made.respondent[some]] if who is None else who)
            present[at] = True
            for of, values in ((yes, made.yes), (no, made.no), *drawn):
                of[at] = values[some] if who is None else values[some][:, np.newaxis]
        answers, prompt = (of for of, _ in drawn) if drawn else (None, None)
        return Cell(self.human, present, yes, no, answers, prompt, self.weights)


def _check(found: Predictions) -> None:
    """Raise ValueError for predictions that no run could have made."""
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
    for kind, several in {**names, "wording": found.wordings}.items():
        if len(set(several)) < len(several):
            raise ValueError(f"found a {kind} twice among {len(several)}")
        places, lowest = getattr(found, kind), NEVER_ASKED if kind == "respondent" else 0
        if len(places) and not (places.min() >= lowest and places.max() < len(several)):
            raise ValueError(f"a row points to no {kind}")
    if (found.yes < 0).any() or (found.no < 0).any():
        raise ValueError("found a probability mass below 0")
    _check_once(found)


def _check_once(found: Predictions) -> None:
    sizes = (
        len(found.conditions),
        len(found.wordings),
        len(found.targets),
        len(found.respondents) + 1,
    )
    key = np.zeros(len(found.yes), dtype=np.int64)
    for size, places in zip(
        sizes, (found.condition, found.wording, found.target, found.respondent + 1), strict=True
    ):
        key = key * size + places
    seen = np.zeros(int(np.prod(sizes)), dtype=bool)
    seen[key] = True
    if np.count_nonzero(seen) < len(key):
        raise ValueError(
            "found several predictions of one respondent, target, wording and condition"
        )


AT_ONCE = 6_000_000
"sums held at once (48 MB)"
SHOWN = 3
"targets named in a reason"
UNDEFINED = float("nan")
TOO_FEW = "too few for an interval:"
ALIKE = f"{TOO_FEW} all respondents answered alike"
LEAST = 3
"""people with the rarer answer, below which a bias has no interval: of 25 people, 17 % of them, it
held 91 % with any"""
ACCURACY = "accuracy"
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class RespondentDraws:
    """So many draws of respondents under a seed."""

    seed: int
    draws: int

    def sums(self, features: npt.NDArray[np.generic], units: BoolArray) -> FloatArray:
        """Return sums over respondents, then over draws of as many: (..., R) to (..., 1 + draws).

        `units`: (R,), who is drawn from. Others add nothing. Where there is nobody all sums are 0.
        """
        return self.together([(features, units)])[0]

    def together(
        self, several: Sequence[tuple[npt.NDArray[np.generic], BoolArray]]
    ) -> list[FloatArray]:
        """Return the sums of several (features, units): those over as many respondents share their
        draws.
        """
        columns = [
            np.asarray(features, dtype=np.float64)[..., units] for features, units in several
        ]
        flat = [each.reshape(int(np.prod(each.shape[:-1])), each.shape[-1]).T for each in columns]
        sums = [np.zeros((each.shape[1], 1 + self.draws)) for each in flat]
        for respondents in sorted({len(each) for each in flat} - {0}):
            alike = [place for place, each in enumerate(flat) if len(each) == respondents]
            rng = derive_rng(self.seed, "questionnaire")
            drawn = resampled_together([flat[place] for place in alike], self.draws, rng)
            for place, of in zip(alike, drawn, strict=True):
                sums[place][:, 0], sums[place][:, 1:] = flat[place].sum(axis=0), of.T
        return [
            of.reshape(*each.shape[:-1], 1 + self.draws)
            for of, each in zip(sums, columns, strict=True)
        ]


def effective(weights: FloatArray | None, counting: BoolArray) -> FloatArray:
    """Return how many people of equal weight tell as much as those who count: (..., R) to (...).
    Kish 1965.
    """
    if weights is None:
        return np.asarray(counting.sum(axis=-1), dtype=np.float64)
    held = np.where(counting, weights, 0.0)
    squares = (held**2).sum(axis=-1)
    found = held.sum(axis=-1) ** 2 / np.where(squares > 0, squares, 1.0)
    # That of one person is 1, and not a little less.
    return np.asarray(np.round(found, 9), dtype=np.float64)


def scaled(weights: FloatArray | None, counting: BoolArray) -> FloatArray:
    """Return weights that add up to the effective number of those who count: (..., R), 1 where
    nobody has a weight.

    Only ratios of sums make figures, which no scale changes; what is made of a number of people has
    the effective one.
    """
    if weights is None:
        return np.ones(counting.shape)
    held = np.where(counting, weights, 0.0)
    squares = (held**2).sum(axis=-1, keepdims=True)
    return np.asarray(
        held * held.sum(axis=-1, keepdims=True) / np.where(squares > 0, squares, 1.0),
        dtype=np.float64,
    )


def mean_of(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the mean of some people's values; NaN of nobody's."""
    if not len(values):
        return UNDEFINED
    return float(values.mean() if weights is None else values @ weights / weights.sum())


def ratio(total: FloatArray, count: FloatArray) -> FloatArray:
    """Return total / count; NaN where nothing was counted."""
    return np.asarray(total / np.where(count > 0, count, np.nan), dtype=np.float64)


def interval(
    drawn: FloatArray, respondents: npt.ArrayLike, limit: tuple[float, float]
) -> FloatArray:
    """Return both ends of the 95 % intervals of (..., 1 + draws): (2, ...); NaN for fewer than two
    respondents.
    """
    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), drawn.shape[:-1])
    low, high = bca_of_draws(drawn[..., 1:], drawn[..., 0], n - 1)
    plain = widened(drawn[..., 0], *percentile_interval(drawn[..., 1:]), np.maximum(n - 1, 1))
    ends = np.stack([np.minimum(low, plain[0]), np.maximum(high, plain[1])])
    none = np.isnan(drawn[..., 0]) | (n < 2) | np.isnan(low)
    return np.where(none, np.nan, np.clip(ends, *limit))


def p_of_zero(drawn: FloatArray, respondents: npt.ArrayLike) -> FloatArray:
    """Return two-sided p that estimates (..., 1 + draws) over so many respondents are 0 in
    expectation: (...).

    By Student's t with n - 1 degrees of freedom and the deviation of the draws. NaN where the draws
    do not differ, or there are fewer than two respondents.
    """
    from scipy.special import stdtr

    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), drawn.shape[:-1])
    some = np.where(n > 1, n, np.nan)
    known = ~np.isnan(drawn[..., 1:])
    k = np.maximum(known.sum(axis=-1), 1)
    centred = np.where(known, drawn[..., 1:], 0.0)
    centred = np.where(known, centred - (centred.sum(axis=-1) / k)[..., None], 0.0)
    error = np.sqrt((centred**2).sum(axis=-1) / k * some / (some - 1))
    return np.asarray(
        2 * stdtr(some - 1, -np.abs(drawn[..., 0]) / np.where(error > ROUNDING, error, np.nan))
    )


@dataclass(frozen=True, slots=True)
class Basis:
    """What an estimate rests on."""

    n: int
    excluded: int = 0
    undefined: str = ""
    rarer: int | None = None
    "people who gave the rarer of the two answers; None: not used, as in differences of predictions"
    doubtful: bool = False
    "whether other answers of the model might turn a prediction that several people have in common"
    effective: float | None = None
    "the number of people before it was rounded down; None: nobody has a weight"


def estimates(
    drawn: FloatArray,
    counts: Sequence[Basis],
    respondents: npt.ArrayLike,
    limit: tuple[float, float],
    name: str,
) -> tuple[Estimate, ...]:
    """Return an estimate for each of (m, 1 + draws). An estimate that has no value has the reason
    of its counts.

    name : of the interval. An accuracy on one target, a share of its n people, has Wilson's instead
        of one of draws, and where it is doubtful what was predicted, as wide a one as holds both
    """
    ends = interval(drawn, respondents, limit)
    found = []
    for values, low, high, of in zip(drawn, *ends, counts, strict=True):
        value, undefined = float(values[0]), of.undefined if np.isnan(values[0]) else ""
        if name == ACCURACY and of.n > 1 and not undefined:
            drawn_ends = (low, high) if of.doubtful else (np.nan, np.nan)
            if of.effective is None:
                low, high = wilson_interval(round(value * of.n), of.n)
            else:
                low, high = wilson_of_share(value, of.effective)
            low, high = np.fmin(low, drawn_ends[0]), np.fmax(high, drawn_ends[1])
        few = ALIKE if np.isnan(low) and of.n > 1 and not undefined else ""
        if of.rarer is not None and of.rarer < LEAST and of.n > 1 and not undefined:
            low, high, few = (
                np.nan,
                np.nan,
                f"{TOO_FEW} {of.rarer} gave the rarer answer; {LEAST} are needed",
            )
        named = "" if np.isnan(low) else name
        found.append(
            Estimate(
                value,
                float(low),
                float(high),
                of.n,
                of.excluded,
                undefined,
                interval=named,
                few=few,
            )
        )
    return tuple(found)


def average(
    drawn: FloatArray,
    respondents: float,
    limit: tuple[float, float],
    undefined: str,
    fewest: int = 0,
    name: str = "",
) -> Average:
    """Return the mean over targets of (T, 1 + draws): with one NaN there is none.

    `respondents` are drawn from; `fewest` is how many a single target rests on at least.
    """
    targets = len(drawn)
    if targets == 0 or np.isnan(drawn[:, 0]).any():
        return Average(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, targets, undefined, fewest)
    mean = drawn.mean(axis=0)
    low, high = interval(mean, respondents, limit)
    named = "" if np.isnan(low) else name
    return Average(
        float(mean[0]),
        standard_error(drawn[:, 0]),
        float(low),
        float(high),
        targets,
        "",
        fewest,
        named,
    )


def standard_error(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the standard deviation (divisor n - 1) over the root of n; NaN for fewer than two
    values.

    With weights that of their mean: the root of n / (n - 1) Σ (w (x - mean))² / (Σ w)².
    """
    n = len(values)
    if n < 2:
        return UNDEFINED
    if weights is None:
        return deviation(values) / float(np.sqrt(n))
    away = weights * (values - mean_of(values, weights))
    return float(np.sqrt(n / (n - 1) * (away @ away)) / weights.sum())


def deviation(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the standard deviation with divisor n - 1; NaN for fewer than two values."""
    n = len(values)
    if n < 2:
        return UNDEFINED
    if weights is None:
        return float(values.std(ddof=1))
    return float(np.sqrt(mean_of((values - mean_of(values, weights)) ** 2, weights) * n / (n - 1)))


def reasons(targets: Sequence[str], why: Sequence[str]) -> str:
    """Say which targets keep a mean from being one: `13.4: the model was not asked`."""
    named = [f"{target}: {reason}" for target, reason in zip(targets, why, strict=True) if reason]
    more = [f"and {len(named) - SHOWN} more"] if len(named) > SHOWN else []
    return "; ".join(named[:SHOWN] + more)


PRIOR = 0.5
"Jeffreys"
SURE = 0.025
"a prediction that other answers would turn this seldom is taken for known"
ANSWERS_AT_ONCE = 2_000_000
"numbers drawn at once (16 MB)"


@dataclass(frozen=True, slots=True, eq=False)
class SharedNoise:
    """What is added to sums over people, in the sample and each draw: (T, 1 + draws), 0 in the
    sample.
    """

    difference: FloatArray
    correct: FloatArray
    variance: FloatArray
    "(T,): of the sum of differences, beyond what draws of people hold"
    doubtful: BoolArray
    "(T,): whether other answers might turn a prediction that several people have in common"


@dataclass(frozen=True, slots=True, eq=False)
class _TargetPrompts:
    """The prompts of one target: (G,) each."""

    yes: FloatArray
    no: FloatArray
    "answers"
    people: FloatArray
    "who were asked with it and could be read; sums of weights"
    pairs: FloatArray
    "(Σ w)² - Σ w² of these: k² - k of k people without weights"
    several: BoolArray
    "whether it is that of more than one of them"
    agreeing: FloatArray
    "of them, who answered yes themselves"


def shared(
    cell: Cell,
    resampling: RespondentDraws,
    name: str,
    weights: FloatArray,
    kept: BoolArray | None = None,
    some: Sequence[int] | None = None,
) -> SharedNoise | None:
    """Return the noise of prompts that several people have in common; None where probabilities were
    computed.

    name : of the stream of random numbers: one for each side of a comparison, whose answers were
        drawn apart
    weights : (T, R), as `scaled` has them
    kept : (T, R), whose prompts count; None: all that can be read
    some : places of targets; None: all
    """
    if cell.answers is None:
        return None
    places = range(len(cell.human)) if some is None else some
    found = [_of_target(_prompts(cell, t, kept, weights[t]), resampling, (name, t)) for t in places]
    shape = len(found), 1 + resampling.draws
    return SharedNoise(
        difference=np.array([one[0] for one in found], dtype=np.float64).reshape(shape),
        correct=np.array([one[1] for one in found], dtype=np.float64).reshape(shape),
        variance=np.array([one[2] for one in found], dtype=np.float64),
        doubtful=np.array([one[3] for one in found], dtype=np.bool_),
    )


def _of_target(
    of: _TargetPrompts, resampling: RespondentDraws, name: tuple[str, int]
) -> tuple[FloatArray, FloatArray, float, bool]:
    """Return what is added to the differences and to the correct ones of a target, (1 + draws,);
    see `SharedNoise`.
    """
    difference, correct = np.zeros(1 + resampling.draws), np.zeros(1 + resampling.draws)
    several = of.several
    if not several.any():
        return difference, correct, 0.0, False
    yes, no, people, pairs, agreeing = (
        each[several] for each in (of.yes, of.no, of.people, of.pairs, of.agreeing)
    )
    some = _TargetPrompts(yes, no, people, pairs, several[several], agreeing)
    n = some.yes + some.no + 2 * PRIOR
    centre, spread = (some.yes + PRIOR) / n, some.pairs
    turn = 2 * some.agreeing - some.people  # what a yes in place of a no adds to the correct ones
    says = (some.yes >= some.no).astype(np.float64)
    turned = np.zeros(len(n))
    for at, p in _drawn(
        some, resampling.draws, derive_rng(resampling.seed, "questionnaire answers", *name)
    ):
        flips = (p >= 0.5) - says[:, None]
        difference[at], correct[at] = np.sqrt(spread) @ (p - centre[:, None]), turn @ flips
        turned += np.abs(flips).sum(axis=1)
    variance = float((spread * centre * (1 - centre) / (n + 1)).sum())
    return difference, correct, variance, bool((turned > SURE * resampling.draws).any())


def redrawn(
    cell: Cell, resampling: RespondentDraws, name: str
) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of the targets as other answers to the same prompts would give
    them.

    (T, draws) each, NaN where there are none; None where probabilities were computed. The people
    stay the same. What is drawn scatters around what was found: the mean of a prompt's draws is its
    y / n.
    """
    if cell.answers is None:
        return None
    targets, draws = len(cell.human), resampling.draws
    accuracy, bias = np.full((targets, draws), np.nan), np.full((targets, draws), np.nan)
    rng = derive_rng(resampling.seed, "questionnaire answers", "again", name)
    for t in range(targets):
        weights = np.ones(cell.human.shape[1]) if cell.weights is None else cell.weights
        of = _prompts(cell, t, None, weights)
        counted, readable = weights @ cell.counted[t], weights @ cell.readable[t]
        if not counted or not readable:
            continue
        n = of.yes + of.no
        centre = (of.yes + PRIOR) / (n + 2 * PRIOR) - of.yes / n
        for at, p in _drawn(of, draws, rng):
            at = slice(at.start - 1, at.stop - 1)
            bias[t, at] = (of.people @ (p - centre[:, None]) - of.agreeing.sum()) / readable
            yes = p >= 0.5
            accuracy[t, at] = (of.agreeing @ yes + (of.people - of.agreeing) @ ~yes) / counted
    return accuracy, bias


def _prompts(
    cell: Cell, target: int, kept: BoolArray | None, weights: FloatArray
) -> _TargetPrompts:
    """Return the distinct prompts about one target, by the people who could be read."""
    assert cell.answers is not None
    assert cell.prompt is not None
    who = cell.readable[target] if kept is None else cell.readable[target] & kept[target]
    _, first, group, several = np.unique(
        cell.prompt[target][who], return_index=True, return_inverse=True, return_counts=True
    )
    answers = cell.answers[target][who][first]
    yes, no = (np.rint(mass[target][who][first] * answers) for mass in (cell.yes, cell.no))
    held = weights[who]
    people, squares, agreeing = (
        np.bincount(group.ravel(), each, minlength=len(first)).astype(np.float64)
        for each in (held, held**2, held * cell.human[target][who])
    )
    return _TargetPrompts(yes, no, people, people**2 - squares, several > 1, agreeing)


def _drawn(
    of: _TargetPrompts, draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield p(yes) of each prompt, (G, some), with the places of these draws after the sample's."""
    together = max(1, ANSWERS_AT_ONCE // max(1, len(of.yes)))
    for start in range(0, draws, together):
        n = min(together, draws - start)
        shape = (len(of.yes), n)
        p = rng.beta(of.yes[:, None] + PRIOR, of.no[:, None] + PRIOR, size=shape)
        yield slice(1 + start, 1 + start + n), np.asarray(p, dtype=np.float64)
