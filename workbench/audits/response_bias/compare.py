"""The same questions asked in two ways: one token or an answer and its reason, steered or not, samples or exactly.

Tjuatja et al. 2024, section 3.1, appendices C and D, tables 11 and 15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.audits.response_bias.deltas import Deltas, deltas
from workbench.audits.response_bias.figures import Cell, Effect, Report
from workbench.audits.response_bias.options import Definition
from workbench.audits.response_bias.table import Table
from workbench.audits.response_bias.uncertainty import RESOLUTION
from workbench.domain.choices import Bias
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.correlation import Pearson, pearson
from workbench.stats.one_sample import MeanTest, mean_test


@dataclass(frozen=True, slots=True)
class Row:
    """One bias of one model, asked in both ways: over the questions that count in both."""

    model: str
    bias: Bias
    first: MeanTest
    second: MeanTest
    change: MeanTest
    "second minus first, paired over the questions that count in both"
    questions: Pearson
    "of the deltas over these questions"
    effects: tuple[Effect, Effect]
    "of the two ways, over these questions; by p as it is, never adjusted"
    variant: str = ""
    "of the bias's wording"
    left_out: tuple[int, int] = (0, 0)
    "questions that take part in one way alone"

    @property
    def turned(self) -> bool:
        """Return whether both ways show a significant change, to opposite sides."""
        return self.effects[0] * self.effects[1] == -1


@dataclass(frozen=True, slots=True)
class MeansCompared:
    """How the mean changes of two ways of asking relate, over models and biases."""

    correlation: Pearson
    change: float
    "mean of second - first; NaN without pairs"
    change_of_size: float
    "mean of |second| - |first|"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways of asking, bias by bias and in all."""

    rows: tuple[Row, ...]
    means: MeansCompared


def compare(reports: Iterable[tuple[Report, Report]]) -> Comparison:
    """Return the change from each first report to its second, over the biases that both have (table 11).

    Raises UsageError where the two of a pair follow different definitions: their means do not compare.
    """
    rows = []
    for first, second in reports:
        names = [report.options.definition for report in (first, second)]
        if names[0] is not names[1]:
            raise UsageError(
                f"found changes by the definitions `{names[0]}` and `{names[1]}`; compare changes by one definition"
            )
        pairs = [(cell, second.find(*cell.place)) for cell in first.cells if cell.condition is None]
        alpha = first.options.alpha
        rows += [_row(first.model, cell, other, alpha) for cell, other in pairs if other is not None]
    return Comparison(tuple(rows), of_means([row.first.mean for row in rows], [row.second.mean for row in rows]))


def of_means(first: Sequence[float], second: Sequence[float]) -> MeansCompared:
    """Return how mean changes relate, a pair for each model and bias. Pairs with a NaN are left out."""
    both = np.array([first, second], dtype=np.float64).reshape(2, -1)
    both = both[:, ~np.isnan(both).any(axis=0)]
    nan = float("nan")
    change = float((both[1] - both[0]).mean()) if both.size else nan
    of_size = float((np.abs(both[1]) - np.abs(both[0])).mean()) if both.size else nan
    return MeansCompared(pearson(both[0], both[1]), change, of_size)


@dataclass(frozen=True, slots=True)
class SamplingAgreement:
    """Whether sampled answers are what the exact probabilities lead one to expect."""

    sampled: float
    "mean delta in percentage points, over the questions that count in both"
    exact: float
    error: float
    "standard error that sampling alone gives the mean of the sampled deltas"
    z: float
    "(sampled - exact) / error; NaN where sampling cannot err"
    p: float
    "two-sided, of no difference but by sampling"
    mean_square: float
    "mean over questions of ((sampled - exact) / its error)²: near 1 where every question agrees within sampling error"
    n: int


def sampling_agreement(
    sampled: Table, exact: Table, definition: Definition = Definition.CORRECTED, bias: Bias | None = None
) -> SamplingAgreement:
    """Return how far sampled deltas lie from exact ones in standard errors of sampling.

    With exact shares x and x' and N and N' samples, a question's delta has the variance
    100² (x (1 - x) / N + x' (1 - x') / N'); the mean's is their sum / K². The answers' spread over questions plays no
    part: both tables are of the same ones.
    """
    ours, truth = deltas(sampled, definition, bias), deltas(exact, definition, bias)
    at = _paired(ours, truth)
    x = truth.shares[at[1]]
    variance = 1e4 * (np.clip(x * (1 - x), 0, None) / ours.answers[at[0]]).sum(axis=1)
    gaps = ours.values[at[0]] - truth.values[at[1]]
    n, nan = len(gaps), float("nan")
    if n == 0:
        return SamplingAgreement(nan, nan, nan, nan, nan, nan, 0)
    error = float(np.sqrt(variance.sum()) / n)
    z = float(gaps.mean() / error) if error > RESOLUTION else nan
    squares = gaps[variance > RESOLUTION] ** 2 / variance[variance > RESOLUTION]
    mean_square = float(squares.mean()) if squares.size else nan
    mean, exact_mean = float(ours.values[at[0]].mean()), float(truth.values[at[1]].mean())
    return SamplingAgreement(mean, exact_mean, error, z, _two_sided(z), mean_square, n)


def _row(model: str, first: Cell, second: Cell, alpha: float) -> Row:
    at = _paired(first.deltas, second.deltas)
    values: tuple[FloatArray, FloatArray] = (first.deltas.values[at[0]], second.deltas.values[at[1]])
    change = mean_test(values[1] - values[0], RESOLUTION)
    means = [mean_test(each, RESOLUTION) for each in values]
    effects = (_effect(means[0], alpha), _effect(means[1], alpha))
    left_out = len(first.deltas.keys) - len(at[0]), len(second.deltas.keys) - len(at[1])
    return Row(model, first.bias, means[0], means[1], change, pearson(*values), effects, first.variant, left_out)


def _effect(test: MeanTest, alpha: float) -> Effect:
    """Return the side of 0 to which a significant change lies; without a test there is none."""
    if not test.p < alpha:
        return 0
    return 1 if test.mean > 0 else -1


def _paired(first: Deltas, second: Deltas) -> tuple[IntArray, IntArray]:
    """Return the places of the questions that count in both, in the order of the first."""
    place = {key: at for at, key in enumerate(second.keys)}
    both = [(at, place[key]) for at, key in enumerate(first.keys) if key in place]
    found = np.array(both, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _two_sided(z: float) -> float:
    from scipy.special import ndtr

    return 2 * float(ndtr(-abs(z)))
