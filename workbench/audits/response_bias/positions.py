"""A model's preference for positions: what it alone would change between the forms of a question.

The questions on response order show the same options in both directions. The mean share of a
position over both is therefore free of what the options say, except that an option in the middle
stays in the middle. So only a position and its mirror image can be compared: the first with the
last one, the second with the last but one.

Those questions mostly have three to five options, and the forms of other biases have other numbers.
The odds of two positions are assumed to be the same among few options as among many (the choice
axiom of Luce, 1959). Even so the shares can be read in several ways, so that a change counts only
if no reading explains it:

- `ends`: the first position against all others, by the first and the last one.
- `neighbours`: the first against the second, p_1 / p_2, with p_k / p_(k-1) as the control.
- `letters`: a weight for each position, fitted to all pairs of mirror images. Numbers of options
  that differ connect the pairs: the third of four is compared with the second, and of five with
  none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.audits.response_bias.answers import (
    Table,
    divided,
    valid_answers,
)
from workbench.domain.choices import LETTERS
from workbench.stats.arrays import FloatArray, IntArray

TRACE = 1e-3
"share that is added to each position, so that odds of positions without answers are finite"
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


Reading = Callable[[FloatArray, IntArray], FloatArray]
"called with shares of positions, (K, 26), and numbers of options, (K,); returns weights, (26,)"


def two_option_weights(order_table: Table) -> tuple[PositionWeights, ...]:
    """Return the weights of the first and the second position, once by each of two readings.

    There are none if fewer than two questions have answers in both directions.
    """
    shares, sizes = _shares_of_positions(order_table)
    has_four_options = sizes >= 4
    readings = [
        _weights(_by_ends, shares, sizes),
        _weights(_by_neighbours, shares[has_four_options], sizes[has_four_options]),
    ]
    return tuple(reading for reading in readings if reading is not None)


def letter_weights(order_table: Table) -> tuple[PositionWeights, ...]:
    """Return the fitted weights of all positions, or nothing for fewer than two questions."""
    reading = _weights(_by_letters, *_shares_of_positions(order_table))
    return () if reading is None else (reading,)


def _shares_of_positions(order_table: Table) -> tuple[FloatArray, IntArray]:
    """Return the shares of positions, (K, 26), and the numbers of options, (K,).

    The shares are means over both directions, of the questions that were answered in both.
    """
    counts = valid_answers(order_table)
    shares = divided(counts, np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape))
    sizes = order_table.offered[:, 0]
    is_answered = ~np.isnan(shares).any(axis=(1, 2)) & (sizes == order_table.offered[:, 1])
    mean_shares = []
    for by_direction, size in zip(shares[is_answered], sizes[is_answered], strict=True):
        # Answers to the reversed form have the letters of the original.
        positions = by_direction[0].copy()
        positions[:size] += by_direction[1, :size][::-1]
        mean_shares.append(positions / 2)
    return np.array(mean_shares).reshape(-1, len(LETTERS)), sizes[is_answered]


def _weights(reading: Reading, shares: FloatArray, sizes: IntArray) -> PositionWeights | None:
    n_questions = len(sizes)
    if n_questions < MIN_QUESTIONS:
        return None
    without_one = [
        reading(np.delete(shares, row, axis=0), np.delete(sizes, row)) for row in range(n_questions)
    ]
    return PositionWeights(reading(shares, sizes), np.array(without_one))


def _by_ends(shares: FloatArray, sizes: IntArray) -> FloatArray:
    first, last = _mean_share(shares, 0), _mean_share(shares, sizes - 1)
    return _with_first(first / last)


def _by_neighbours(shares: FloatArray, sizes: IntArray) -> FloatArray:
    first, second = _mean_share(shares, 0), _mean_share(shares, 1)
    last_but_one, last = _mean_share(shares, sizes - 2), _mean_share(shares, sizes - 1)
    return _with_first(first / second / (last / last_but_one))


def _by_letters(shares: FloatArray, sizes: IntArray) -> FloatArray:
    """Fit logarithms of weights to the log odds of mirror images, by weighted least squares.

    Where the pairs leave several solutions, it is the one with the weights nearest to 1.
    """
    equations, log_odds = [], []
    for size in np.unique(sizes):
        of_size = shares[sizes == size]
        for position in range(size // 2):
            mirror = size - 1 - position
            share, mirror_share = _mean_share(of_size, position), _mean_share(of_size, mirror)
            # The variance of log odds is 1 / (n share) + 1 / (n mirror share).
            precision = math.sqrt(len(of_size) / (1 / share + 1 / mirror_share))
            equation = np.zeros(len(LETTERS))
            equation[position], equation[mirror] = precision, -precision
            equations.append(equation)
            log_odds.append(precision * math.log(share / mirror_share))
    solution = np.linalg.lstsq(np.array(equations), np.array(log_odds), rcond=None)[0]
    return np.asarray(np.exp(solution))


def _mean_share(shares: FloatArray, positions: IntArray | int) -> float:
    """Return the mean share of a position, or of the position that each question has its own of."""
    return float(shares[np.arange(len(shares)), positions].mean()) + TRACE


def _with_first(odds: float) -> FloatArray:
    """Return weights by which the first position has such odds against any other."""
    weights = np.ones(len(LETTERS))
    weights[0] = odds
    return weights
