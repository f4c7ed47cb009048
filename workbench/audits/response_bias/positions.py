"""A model's preferences for positions and for *yes*: what they alone would change between the forms
of a question.

The questions on response order show the same options in both directions. Among the answers that
choose one of two options, the odds between them change with the direction by what their positions
do, and by nothing that the options say. The common odds ratio of all questions (Mantel and Haenszel
1959) is therefore free of content, however strong it is.

An option in the middle stays in the middle, so only a position and its mirror image can be
compared, the first with the last one, the second with the last but one. The forms of other biases
have other numbers of options. The odds of two positions are assumed to be the same among few
options as among many (the choice axiom of Luce, 1959). Even so they can be read in several ways,
and a change counts only if no reading explains it:

- `ends`: the first position against all others, by the first and the last one.
- `neighbours`: the first against the second, as in p_1 / p_2, with p_k / p_(k-1) as the control.
- `letters`: a weight for each position, fitted to all pairs of mirror images. Numbers of options
  that differ connect the pairs: the third of four is compared with the second, and of five with
  none. Pairs that leave the positions of a form unconnected tell nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.audits.response_bias.answers import ChoiceTable, divided, valid_answers
from workbench.domain.choices import LETTERS
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

TRACE = 1e-3
"what is added to each side of an odds ratio, in answers, so that it is finite"
MIN_QUESTIONS = 2
"number of questions that a variance needs"


@dataclass(frozen=True, slots=True, eq=False)
class PositionWeights:
    """The weights of positions: a model chooses one in proportion to its weight."""

    weights: FloatArray
    "(26,)"
    without_one: FloatArray
    "(K, 26) weights without each question of the estimate, for the jackknife"

    def standard_error(self, statistic: Callable[[FloatArray], float]) -> float:
        """Return the standard error of a statistic of the weights, by the jackknife."""
        values = [statistic(weights) for weights in self.without_one]
        return math.sqrt(len(values) - 1) * float(np.std(values))


class OrderAnswers(NamedTuple):
    """The answers to questions on response order, by option in the order of the original."""

    counts: FloatArray
    "(K, 2, 26), in the original direction and the reversed one"
    sizes: IntArray
    "(K,) numbers of options"

    def without(self, row: int) -> OrderAnswers:
        """Return the answers to all questions but one."""
        return OrderAnswers(np.delete(self.counts, row, axis=0), np.delete(self.sizes, row))

    def of(self, is_chosen: BoolArray) -> OrderAnswers:
        """Return the answers to some questions."""
        return OrderAnswers(self.counts[is_chosen], self.sizes[is_chosen])


Reading = Callable[[OrderAnswers], FloatArray]
"returns the weights of positions, (26,)"


def two_option_weights(order_table: ChoiceTable) -> tuple[PositionWeights, ...]:
    """Return the weights of the first and the second position, once by each of two readings.

    There are none if fewer than two questions have answers in both directions.
    """
    answers = _order_answers(order_table)
    readings = [
        _weights(_by_ends, answers),
        _weights(_by_neighbours, answers.of(answers.sizes >= 4)),
    ]
    return tuple(reading for reading in readings if reading is not None)


def letter_weights(order_table: ChoiceTable, n_positions: int) -> tuple[PositionWeights, ...]:
    """Return the fitted weights of the first so many positions, or nothing if they are unknown."""
    answers = _order_answers(order_table)
    if not _are_connected(np.unique(answers.sizes).tolist(), n_positions):
        return ()
    reading = _weights(_by_letters, answers)
    return () if reading is None else (reading,)


def _order_answers(order_table: ChoiceTable) -> OrderAnswers:
    """Return the answers to the questions that were answered in both directions."""
    counts = valid_answers(order_table)
    sizes = order_table.offered[:, 0]
    is_answered = (counts.sum(axis=-1) > 0).all(axis=1) & (sizes == order_table.offered[:, 1])
    return OrderAnswers(counts, sizes).of(is_answered)


def _are_connected(sizes: Sequence[int], n_positions: int) -> bool:
    """Return whether pairs of mirror images connect the first so many positions."""
    group = {0}
    for _ in range(n_positions):
        for size in sizes:
            for position in range(size):
                if position in group:
                    group.add(size - 1 - position)
    return group.issuperset(range(n_positions))


def _weights(reading: Reading, answers: OrderAnswers) -> PositionWeights | None:
    n_questions = len(answers.sizes)
    if n_questions < MIN_QUESTIONS:
        return None
    without_one = [reading(answers.without(row)) for row in range(n_questions)]
    return PositionWeights(reading(answers), np.array(without_one))


def odds_ratio(first: FloatArray, second: FloatArray) -> float:
    """Return the common odds ratio of two options between two forms (Mantel and Haenszel 1959).

    Above 1 the first option is chosen more in the first form.

    Parameters
    ----------
    first, second : (K, 2) answers in both forms by question
    """
    totals = first.sum(axis=1) + second.sum(axis=1)
    more = divided(first[:, 0] * second[:, 1], totals)
    less = divided(first[:, 1] * second[:, 0], totals)
    return float((np.nansum(more) + TRACE) / (np.nansum(less) + TRACE))


def _ratio(answers: OrderAnswers, option: IntArray, other: IntArray) -> float:
    """Return the odds ratio of two options of each question between both directions."""
    rows = np.arange(len(answers.sizes))
    pairs = np.stack([answers.counts[rows, :, option], answers.counts[rows, :, other]], axis=-1)
    return odds_ratio(pairs[:, 0], pairs[:, 1])


def _by_ends(answers: OrderAnswers) -> FloatArray:
    last = answers.sizes - 1
    # Both change places, so the ratio is the square of the odds.
    return _with_first(math.sqrt(_ratio(answers, np.zeros_like(last), last)))


def _by_neighbours(answers: OrderAnswers) -> FloatArray:
    last = answers.sizes - 1
    first = np.zeros_like(last)
    # The first two options stand last in the other direction, and the last two stand first.
    front, back = _ratio(answers, first, first + 1), _ratio(answers, last, last - 1)
    return _with_first(math.sqrt(front / back))


def _by_letters(answers: OrderAnswers) -> FloatArray:
    """Fit logarithms of weights to the log odds of mirror images, by weighted least squares."""
    equations, log_odds = [], []
    for size in np.unique(answers.sizes):
        of_size = answers.of(answers.sizes == size)
        for position in range(size // 2):
            mirror = size - 1 - position
            option = np.full(len(of_size.sizes), position)
            ratio = _ratio(of_size, option, size - 1 - option)
            n_answers = of_size.counts[:, :, [position, mirror]].sum()
            precision = math.sqrt(n_answers + TRACE)
            equation = np.zeros(len(LETTERS))
            equation[position], equation[mirror] = precision, -precision
            equations.append(equation)
            log_odds.append(precision * math.log(ratio) / 2)
    solution = np.linalg.lstsq(np.array(equations), np.array(log_odds), rcond=None)[0]
    return np.asarray(np.exp(solution))


@dataclass(frozen=True, slots=True)
class TwoOptionChange:
    """How much more one option is chosen in one form than in the other, free of content."""

    log_ratio: float
    "logarithm of the common odds ratio"
    se: float
    "by the jackknife over questions"
    n: int
    "number of questions"


def two_option_change(first: FloatArray, second: FloatArray) -> TwoOptionChange:
    """Return the change of the odds of an option against another between two forms.

    Parameters
    ----------
    first, second : (K, 2) answers with the option and with the other one, by question
    """
    logs = [
        math.log(odds_ratio(np.delete(first, row, axis=0), np.delete(second, row, axis=0)))
        for row in range(len(first))
    ]
    se = math.sqrt(len(logs) - 1) * float(np.std(logs)) if len(logs) > 1 else math.nan
    return TwoOptionChange(math.log(odds_ratio(first, second)), se, len(first))


def yes_saying(acquiescence_table: ChoiceTable) -> TwoOptionChange | None:
    """Return the log odds that *yes* adds to an option, or None with fewer than two questions.

    The changed form of a question on acquiescence offers *yes* for the first of the two options of
    the original. Both stand first, so that a preference for positions cancels out.
    """
    counts = valid_answers(acquiescence_table)[:, :, :2]
    is_usable = (acquiescence_table.offered == 2).all(axis=1)
    is_usable &= (counts.sum(axis=-1) > 0).all(axis=1)
    if is_usable.sum() < MIN_QUESTIONS:
        return None
    smoothed_counts = smoothed(counts[is_usable])
    return two_option_change(smoothed_counts[:, 1], smoothed_counts[:, 0])


def smoothed(counts: FloatArray) -> FloatArray:
    """Return the counts with a little added to each: at most half an answer.

    It is half an answer with 100 answers to both forms or more, fewer in proportion, and one per
    cent of probabilities.

    Where nearly all answers are *yes* to both forms, odds ratios rest on one or two other answers
    and their errors are too small: without this, a model that says *yes* in 98 % whatever is asked
    had an allow/forbid bias in up to 32 % of simulations. Counts are (K, forms, options).
    """
    half = 0.5 * np.minimum(counts.sum(axis=(1, 2)) / 100, 1)
    return np.asarray(counts + half[:, None, None])


def _with_first(odds: float) -> FloatArray:
    """Return weights by which the first position has such odds against any other."""
    weights = np.ones(len(LETTERS))
    weights[0] = odds
    return weights
