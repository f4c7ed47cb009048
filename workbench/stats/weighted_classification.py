"""How well predicted labels match the true ones in the population that the labelled items were drawn from.

Items that were drawn with known probabilities are weighted (`Sampled`), so figures describe the population, not the
sample. Proportions have Wilson's interval at an effective n, macro F1 the percentile
interval of the rescaled bootstrap over items. The undefined cases are those of `classification`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.classification import (
    NEVER_PREDICTED,
    NO_ITEMS,
    NO_SUPPORT,
    NOT_THERE,
    ONE_LABEL,
    ClassificationReport,
    ThresholdPoint,
    at_or_above,
    checked_confidences,
    confusion_matrix,
    f1_of_jaccard,
    label_codes,
    macro_f1,
)
from workbench.stats.resampling import percentile_interval
from workbench.stats.sampled import Sampled
from workbench.stats.units import MISSING

Rng = np.random.Generator | None


def weighted_report(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    categories: int,
    sampled: Sampled,
    rng: Rng = None,
    resamples: int = 1000,
) -> ClassificationReport:
    """Return `classification_report` of weighted items. `n`, `support` and `matrix` still count items."""
    truth, guess = label_codes(true, predicted, categories)
    missed = np.bincount(truth[(truth != MISSING) & (guess == MISSING)], minlength=categories)
    both = (truth != MISSING) & (guess != MISSING)
    right = both & (truth == guess)
    of, given = ([both & (codes == c) for c in range(categories)] for codes in (truth, guess))

    def shares(bases: Sequence[BoolArray], excluded: IntArray, undefined: str) -> tuple[Estimate, ...]:
        why = undefined if any(base.any() for base in bases) else NO_ITEMS
        return tuple(sampled.share(right & of[c], base, int(excluded[c]), why) for c, base in enumerate(bases))

    cells = _cells(truth, guess, np.zeros(len(truth), dtype=np.int64), (1, categories))
    table, draws = _weighted_tables(cells, (1, categories), sampled, rng, resamples)
    either = [a | b for a, b in zip(of, given, strict=True)]
    return ClassificationReport(
        precision=shares(given, np.zeros_like(missed), NEVER_PREDICTED),
        recall=shares(of, missed, NO_SUPPORT),
        f1=tuple(f1_of_jaccard(share) for share in shares(either, missed, NOT_THERE)),
        support=tuple(int(base.sum()) for base in of),
        macro_f1=_macro_estimate(table[0], int(both.sum()), int(missed.sum()), _macro_draws(draws, 0)),
        accuracy=sampled.share(right, both, int(missed.sum()), NO_ITEMS),
        matrix=tuple(tuple(row) for row in confusion_matrix(truth, guess, categories).tolist()),
    )


def weighted_curve(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    confidence: npt.ArrayLike,
    categories: int,
    thresholds: Sequence[float],
    sampled: Sampled,
    rng: Rng = None,
    resamples: int = 1000,
) -> tuple[ThresholdPoint, ...]:
    """Return `threshold_curve` of weighted items. `n` still counts items."""
    truth, guess = label_codes(true, predicted, categories)
    known = truth != MISSING
    both = known & (guess != MISSING)
    sure = checked_confidences(confidence, truth.shape, required=both)
    levels, where = np.unique(np.asarray(thresholds, dtype=np.float64), return_inverse=True)
    shape = (len(levels) + 1, categories)
    reached = np.searchsorted(levels, np.where(both, sure, -np.inf), side="right")
    table, draws = _weighted_tables(_cells(truth, guess, reached, shape), shape, sampled, rng, resamples)
    tables = at_or_above(table)
    drawn = None if draws is None else at_or_above(draws)
    points = []
    for place, level in enumerate(levels):
        kept = both & (reached > place)
        n = int(kept.sum())
        macro = _macro_estimate(tables[place], n, int(known.sum()) - n, _macro_draws(drawn, place))
        points.append(ThresholdPoint(float(level), macro, sampled.share(kept, known, 0, NO_ITEMS), n))
    return tuple(points[i] for i in where)


def _macro_estimate(table: FloatArray, items: int, excluded: int, draws: FloatArray | None) -> Estimate:
    """Return macro F1 of a table of weights; it has no interval if `draws` is None."""
    value, nan = float(macro_f1(table)), float("nan")
    if np.isnan(value):
        return Estimate(value, nan, nan, items, excluded, ONE_LABEL if items else NO_ITEMS)
    if draws is None:
        return Estimate(value, nan, nan, items, excluded)
    low, high = (float(end) for end in percentile_interval(draws))
    return Estimate(value, low, high, items, excluded, interval="macro F1 of weighted items")


def _cells(truth: IntArray, guess: IntArray, level: IntArray, shape: tuple[int, int]) -> IntArray:
    """Return each item's index in the flat table (level, truth, prediction); items outside the table get the index
    after the last one.
    """
    levels, categories = shape
    both = (truth != MISSING) & (guess != MISSING)
    return np.where(both, (level * categories + truth) * categories + guess, levels * categories**2)


def _weighted_tables(
    cells: IntArray, shape: tuple[int, int], sampled: Sampled, rng: Rng, resamples: int
) -> tuple[FloatArray, FloatArray | None]:
    """Return the weighted table (levels, q, q) of the items, and of each resample (resamples, levels, q, q)."""
    levels, categories = shape
    size = levels * categories**2
    table = np.bincount(cells, weights=sampled.weight, minlength=size + 1)[:size].astype(np.float64)
    table = table.reshape(levels, categories, categories)
    if rng is None or not table.any():
        return table, None
    used, place = np.unique(cells, return_inverse=True)
    sums = sampled.resampled_sums(np.eye(len(used))[place], resamples, rng)
    drawn = np.zeros((resamples, size + 1))
    drawn[:, used] = sums
    return table, drawn[:, :size].reshape(resamples, levels, categories, categories)


def _macro_draws(draws: FloatArray | None, level: int) -> FloatArray | None:
    return None if draws is None else macro_f1(draws[:, level])
