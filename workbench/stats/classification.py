"""Predicted labels against true ones, per class and overall, and the calibration of confidence.

Labels are codes from 0 to `categories` - 1; `MISSING` stands for an abstention, which is excluded
and counted. Precision, recall, F1 and accuracy are proportions (F1 of one class is a function of
one), so they have Wilson's interval, which keeps its width where a classifier makes no error. Macro
F1 has the jackknife's over items: it depends only on a table of counts, so leaving out an item
subtracts one from a cell.

Here all items have weight 1. `weighted_classification` handles items that were drawn with known
probabilities.

References
----------
Faulborn et al. 2025, section 3.4 and appendix D (Table 7, Figure 3).
Guo, Pleiss, Sun, Weinberger 2017, On calibration of modern neural networks (expected calibration
error). Wilson 1927, see `proportions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray, whole_numbers
from workbench.stats.proportions import wilson_interval
from workbench.stats.resampling import logit_interval, percentile_interval
from workbench.stats.samples import Sampled
from workbench.stats.units import MISSING

NO_ITEMS = "no items"
ONE_LABEL = "all items have one label"
NEVER_PREDICTED = "never predicted"
NO_SUPPORT = "no item has this label"
NO_ERRORS = "too few for an interval: no item was misread; the classes have intervals"
TOO_FEW = "too few for an interval"
NOT_THERE = "no item has this label and it is never predicted"

Number = TypeVar("Number", np.int64, np.float64)
Matrix = tuple[tuple[int, ...], ...]


def confusion_matrix(true: npt.ArrayLike, predicted: npt.ArrayLike, categories: int) -> IntArray:
    """Return the number of items for each true label (rows) and predicted label (columns): (q, q).

    Items with `MISSING` on either side are left out. Raises ValueError for codes outside 0 … q - 1
    and for lists of different length.

    Examples
    --------
    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, MISSING], 2).tolist()
    [[1, 1], [0, 1]]
    """
    truth, guess = label_codes(true, predicted, categories)
    complete = (truth != MISSING) & (guess != MISSING)
    flat = np.bincount(
        truth[complete] * categories + guess[complete], minlength=categories * categories
    )
    return flat.reshape(categories, categories)


def confusion_between(
    a_labels: npt.ArrayLike, b_labels: npt.ArrayLike, categories: int
) -> IntArray:
    """Return `confusion_matrix` of two annotators: rows are the first one's labels.

    Neither counts as the truth.
    """
    return confusion_matrix(a_labels, b_labels, categories)


def macro_f1(tables: npt.ArrayLike) -> FloatArray:
    """Return the mean of the classes' F1 = 2 TP / (2 TP + FP + FN): (..., q, q) in, (...) out.

    A class that is neither among the true labels nor predicted stays out of the mean, as in
    scikit-learn's `f1_score` with its default `labels`; one with support that is never predicted,
    or predicted without support, counts 0. NaN if the true labels have fewer than two classes: F1
    of the other classes would be 0 or absent depending on the errors.

    Examples
    --------
    >>> round(float(macro_f1([[1, 1, 0], [0, 2, 0], [0, 0, 0]])), 4)  # (2/3 + 4/5) / 2
    0.7333
    """
    counts = np.asarray(tables, dtype=np.float64)
    marginals = counts.sum(axis=-1) + counts.sum(axis=-2)  # 2 TP + FP + FN
    present = marginals > 0
    scores = 2 * np.diagonal(counts, axis1=-2, axis2=-1) / np.where(present, marginals, 1)
    has_two_classes = np.count_nonzero(counts.sum(axis=-1), axis=-1) >= 2
    return np.asarray(
        scores.sum(axis=-1) / np.where(has_two_classes, present.sum(axis=-1), np.nan),
        dtype=np.float64,
    )


@dataclass(frozen=True, slots=True)
class ClassificationReport:
    """Predictions compared with the truth, with classes in the order of their codes."""

    precision: tuple[Estimate, ...]
    "TP / predicted; n = times predicted"
    recall: tuple[Estimate, ...]
    "TP / support; n = support, excluded = abstentions on items of the class"
    f1: tuple[Estimate, ...]
    "n = items that have the label or were given it, excluded as in recall"
    support: tuple[int, ...]
    "items of each true class, without abstentions"
    macro_f1: Estimate
    "n = items, excluded = abstentions"
    accuracy: Estimate
    matrix: Matrix
    "items: rows true, columns predicted"


def classification_report(
    true: npt.ArrayLike, predicted: npt.ArrayLike, categories: int
) -> ClassificationReport:
    """Return precision, recall and F1 per class, macro F1 and accuracy, each with a 95 % interval.

    Precision, recall and accuracy have Wilson's interval of a proportion. So has F1: with J = TP /
    (TP + FP + FN), F1 is 2J / (1 + J), and the ends of J's interval are transformed. Macro F1 has
    the `logit_interval`. Without any misread item macro F1 has no interval, because leaving out an
    item does not change it; the intervals of the classes then show the uncertainty.

    Named cases: `no items`; a class is `never predicted` (precision), `no item has this label`
    (recall), or neither (F1); macro F1 does not exist when `all items have one label`, see
    `macro_f1`.

    Examples
    --------
    >>> found = classification_report([0, 0, 1, 1], [0, 0, 1, 0], 2)
    >>> [round(f1.value, 2) for f1 in found.f1], round(found.macro_f1.value, 4), found.accuracy.value
    ([0.8, 0.67], 0.7333, 0.75)
    """  # noqa: E501
    truth, guess = label_codes(true, predicted, categories)
    table = confusion_matrix(truth, guess, categories)
    abstained = truth[(truth != MISSING) & (guess == MISSING)]
    abstentions = np.bincount(abstained, minlength=categories)
    hits, support, predicted_counts = np.diagonal(table), table.sum(axis=1), table.sum(axis=0)
    return ClassificationReport(
        precision=_proportions(hits, predicted_counts, np.zeros_like(abstentions), NEVER_PREDICTED),
        recall=_proportions(hits, support, abstentions, NO_SUPPORT),
        f1=tuple(
            f1_of_jaccard(share)
            for share in _proportions(
                hits, support + predicted_counts - hits, abstentions, NOT_THERE
            )
        ),
        support=tuple(int(count) for count in support),
        macro_f1=macro_estimate(table, len(abstained)),
        accuracy=_proportion(int(hits.sum()), int(table.sum()), len(abstained), NO_ITEMS),
        matrix=tuple(tuple(int(cell) for cell in row) for row in table),
    )


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """Macro F1 on the items at or above a confidence, with the share of items that are kept.

    Predictions below the confidence are dropped.
    """

    threshold: float
    macro_f1: Estimate
    "of the kept items; excluded = items dropped"
    kept: Estimate
    "share of items kept, with Wilson's interval"
    n: int
    "items kept"


def threshold_curve(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    confidence: npt.ArrayLike,
    categories: int,
    thresholds: Sequence[float],
) -> tuple[ThresholdPoint, ...]:
    """Return macro F1 and the kept share for each threshold.

    An item is kept if confidence >= threshold. Abstentions are never kept. Raises ValueError if a
    prediction has no confidence (NaN).

    Examples
    --------
    >>> curve = threshold_curve([0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.9, 0.4, 0.8], 2, [0.0, 0.9])
    >>> [(round(point.macro_f1.value, 4), point.kept.value) for point in curve]
    [(0.7333, 1.0), (1.0, 0.5)]
    """
    truth, guess = label_codes(true, predicted, categories)
    labelled = truth != MISSING
    confidences = checked_confidences(
        confidence, truth.shape, required=labelled & (guess != MISSING)
    )
    levels, level_indices = np.unique(np.asarray(thresholds, dtype=np.float64), return_inverse=True)
    cells = _by_level(truth, guess, confidences, levels, categories)
    tables = at_or_above(cells)
    items = int(labelled.sum())
    points = [
        _point(float(level), table, items) for level, table in zip(levels, tables, strict=True)
    ]
    return tuple(points[index] for index in level_indices)


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predictions whose confidence is in (low, high], and the share of correct ones."""

    low: float
    high: float
    mean_confidence: float
    "NaN if the bin is empty"
    accuracy: Estimate
    "with Wilson's interval; undefined if the bin is empty"
    n: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether predictions with a confidence of 0.8 are correct eight times out of ten."""

    bins: tuple[CalibrationBin, ...]
    ece: float
    "expected calibration error; NaN without items"
    n: int


def calibration(
    correct: npt.ArrayLike,
    confidence: npt.ArrayLike,
    bins: int = 10,
    sampled: Sampled | None = None,
) -> Calibration:
    """Return the accuracy in bins of equal width, and the expected calibration error ECE.

    ECE = Σ_b n_b / N |accuracy_b - mean confidence_b|.

    The bins are (low, high] as in Guo et al. 2017, equation 3; the first holds 0 as well. ECE
    depends on the number of bins and is biased upwards for few items, so figures with different n
    or bins are not comparable.

    Parameters
    ----------
    correct : booleans
    confidence : numbers in [0, 1]; raises ValueError for others
    sampled : the weights of the items, so that n_b and N are sums of weights; None: all weights are
        1

    Examples
    --------
    >>> found = calibration([True, False, True, True], [0.6, 0.6, 0.9, 0.9], bins=2)
    >>> round(found.ece, 4), found.bins[0].accuracy.undefined, found.bins[1].n
    (0.0, 'no items', 4)
    """
    right = np.asarray(correct, dtype=np.bool_)
    confidences = checked_confidences(
        confidence, right.shape, required=np.ones(right.shape, dtype=np.bool_)
    )
    if np.any((confidences < 0) | (confidences > 1)):
        raise ValueError(
            f"confidences lie between 0 and 1, found {confidences.min()} to {confidences.max()}"
        )
    edges = np.linspace(0, 1, bins + 1)
    bin_index = np.clip(np.searchsorted(edges, confidences, side="left") - 1, 0, bins - 1)
    calibration_bins = tuple(
        _bin(
            float(edges[index]),
            float(edges[index + 1]),
            right,
            confidences,
            bin_index == index,
            sampled,
        )
        for index in range(bins)
    )
    weight = np.ones(len(right)) if sampled is None else sampled.weight
    gaps = [
        weight[bin_index == index].sum() * abs(bin_.accuracy.value - bin_.mean_confidence)
        for index, bin_ in enumerate(calibration_bins)
        if bin_.n
    ]
    return Calibration(
        calibration_bins,
        float(sum(gaps) / weight.sum()) if len(right) else float("nan"),
        len(right),
    )


def label_codes(
    true: npt.ArrayLike, predicted: npt.ArrayLike, categories: int
) -> tuple[IntArray, IntArray]:
    truth, guess = whole_numbers(true), whole_numbers(predicted)
    if truth.shape != guess.shape or truth.ndim != 1:
        raise ValueError(
            f"expected two lists of labels of equal length, found {truth.shape} and {guess.shape}"
        )
    for codes in (truth, guess):
        invalid = codes[(codes != MISSING) & ((codes < 0) | (codes >= categories))]
        if invalid.size:
            raise ValueError(f"label codes go from 0 to {categories - 1}, found {invalid[0]}")
    return truth, guess


def checked_confidences(
    confidence: npt.ArrayLike, shape: tuple[int, ...], required: BoolArray
) -> FloatArray:
    confidences = np.asarray(confidence, dtype=np.float64)
    if confidences.shape != shape:
        raise ValueError(
            f"expected a confidence for each of {shape} items, found {confidences.shape}"
        )
    if np.any(np.isnan(confidences[required])):
        raise ValueError(
            "a prediction has no confidence; code it as abstained or give its confidence"
        )
    return confidences


def _proportion(k: int, n: int, excluded: int, undefined: str) -> Estimate:
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), n, excluded, undefined)
    low, high = wilson_interval(k, n)
    return Estimate(k / n, float(low), float(high), n, excluded, interval="share of items")


def _proportions(
    k: IntArray, n: IntArray, excluded: IntArray, undefined: str
) -> tuple[Estimate, ...]:
    """Return a proportion for each class.

    If no class has items, the reason is `no items`, not `undefined`.
    """
    reason = undefined if n.any() else NO_ITEMS
    return tuple(
        _proportion(int(k[code]), int(n[code]), int(excluded[code]), reason)
        for code in range(len(n))
    )


def f1_of_jaccard(share: Estimate) -> Estimate:
    value, low, high = (2 * j / (1 + j) for j in (share.value, share.low, share.high))
    name = share.interval.replace("share", "F1", 1)
    return Estimate(value, low, high, share.n, share.excluded, share.undefined, interval=name)


def macro_estimate(table: IntArray, excluded: int) -> Estimate:
    """Return macro F1 of a table of items."""
    n, value = int(table.sum()), float(macro_f1(table))
    if np.isnan(value):
        return Estimate(value, float("nan"), float("nan"), n, excluded, _one_label(n, excluded))
    single_items = np.eye(table.size, dtype=np.int64).reshape(-1, *table.shape)[table.ravel() > 0]
    low, high = logit_interval(value, np.repeat(macro_f1(table - single_items), table[table > 0]))
    estimate = Estimate(value, low, high, n, excluded, interval="macro F1 of items")
    return (
        estimate
        if not np.isnan(low)
        else replace(estimate, interval="", few=NO_ERRORS if value == 1 else TOO_FEW)
    )


def _one_label(items: int, excluded: int) -> str:
    """Return why macro F1 is undefined, from the numbers of items that count and are left out."""
    if not items:
        return NO_ITEMS
    return (
        f"the {items:,} of {items + excluded:,} items that are kept have one label"
        if excluded
        else ONE_LABEL
    )


def _by_level(
    truth: IntArray, guess: IntArray, sure: FloatArray, levels: FloatArray, categories: int
) -> IntArray:
    """Count items by number of thresholds reached, true label and prediction.

    The result is (levels + 1, q, q).
    """
    complete = (truth != MISSING) & (guess != MISSING)
    reached = np.searchsorted(levels, sure[complete], side="right")
    flat = (reached * categories + truth[complete]) * categories + guess[complete]
    counts = np.bincount(flat, minlength=(len(levels) + 1) * categories**2)
    return counts.reshape(len(levels) + 1, categories, categories)


def at_or_above(cells: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Cumulate (..., levels + 1, q, q) into the table at each threshold: (..., levels, q, q)."""
    descending: npt.NDArray[Number] = np.cumsum(cells[..., ::-1, :, :], axis=-3)[..., ::-1, :, :]
    return descending[..., 1:, :, :]


def _point(threshold: float, table: IntArray, items: int) -> ThresholdPoint:
    n_kept = int(table.sum())
    share = _proportion(n_kept, items, 0, NO_ITEMS)
    return ThresholdPoint(threshold, macro_estimate(table, items - n_kept), share, n_kept)


def _bin(
    low: float,
    high: float,
    right: BoolArray,
    sure: FloatArray,
    inside: BoolArray,
    sampled: Sampled | None,
) -> CalibrationBin:
    n = int(inside.sum())
    if sampled is None:
        mean = float(sure[inside].mean()) if n else float("nan")
        return CalibrationBin(
            low, high, mean, _proportion(int(right[inside].sum()), n, 0, NO_ITEMS), n
        )
    mean = float(np.average(sure[inside], weights=sampled.weight[inside])) if n else float("nan")
    return CalibrationBin(low, high, mean, sampled.share(right, inside, 0, NO_ITEMS), n)


Rng = np.random.Generator | None


def weighted_report(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    categories: int,
    sampled: Sampled,
    rng: Rng = None,
    resamples: int = 1000,
) -> ClassificationReport:
    """Return `classification_report` of weighted items.

    `n`, `support` and `matrix` still count items.
    """
    truth, guess = label_codes(true, predicted, categories)
    abstentions = np.bincount(truth[(truth != MISSING) & (guess == MISSING)], minlength=categories)
    complete = (truth != MISSING) & (guess != MISSING)
    right = complete & (truth == guess)
    true_masks, predicted_masks = (
        [complete & (codes == code) for code in range(categories)] for codes in (truth, guess)
    )

    def shares(
        bases: Sequence[BoolArray], excluded: IntArray, undefined: str
    ) -> tuple[Estimate, ...]:
        reason = undefined if any(base.any() for base in bases) else NO_ITEMS
        return tuple(
            sampled.share(right & true_masks[code], base, int(excluded[code]), reason)
            for code, base in enumerate(bases)
        )

    cells = _cells(truth, guess, np.zeros(len(truth), dtype=np.int64), (1, categories))
    table, draws = _weighted_tables(cells, (1, categories), sampled, rng, resamples)
    either_masks = [
        true_mask | predicted_mask
        for true_mask, predicted_mask in zip(true_masks, predicted_masks, strict=True)
    ]
    return ClassificationReport(
        precision=shares(predicted_masks, np.zeros_like(abstentions), NEVER_PREDICTED),
        recall=shares(true_masks, abstentions, NO_SUPPORT),
        f1=tuple(f1_of_jaccard(share) for share in shares(either_masks, abstentions, NOT_THERE)),
        support=tuple(int(base.sum()) for base in true_masks),
        macro_f1=_macro_estimate(
            table[0], int(complete.sum()), int(abstentions.sum()), _macro_draws(draws, 0)
        ),
        accuracy=sampled.share(right, complete, int(abstentions.sum()), NO_ITEMS),
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
    labelled = truth != MISSING
    complete = labelled & (guess != MISSING)
    confidences = checked_confidences(confidence, truth.shape, required=complete)
    levels, level_indices = np.unique(np.asarray(thresholds, dtype=np.float64), return_inverse=True)
    shape = (len(levels) + 1, categories)
    reached = np.searchsorted(levels, np.where(complete, confidences, -np.inf), side="right")
    table, draws = _weighted_tables(
        _cells(truth, guess, reached, shape), shape, sampled, rng, resamples
    )
    tables = at_or_above(table)
    resampled_tables = None if draws is None else at_or_above(draws)
    points = []
    for index, level in enumerate(levels):
        kept_items = complete & (reached > index)
        n = int(kept_items.sum())
        macro = _macro_estimate(
            tables[index], n, int(labelled.sum()) - n, _macro_draws(resampled_tables, index)
        )
        points.append(
            ThresholdPoint(float(level), macro, sampled.share(kept_items, labelled, 0, NO_ITEMS), n)
        )
    return tuple(points[index] for index in level_indices)


def _macro_estimate(
    table: FloatArray, items: int, excluded: int, draws: FloatArray | None
) -> Estimate:
    """Return macro F1 of a table of weights, without an interval if `draws` is None."""
    value, nan = float(macro_f1(table)), float("nan")
    if np.isnan(value):
        return Estimate(value, nan, nan, items, excluded, _one_label(items, excluded))
    if draws is None:
        return Estimate(value, nan, nan, items, excluded)
    low, high = (float(end) for end in percentile_interval(draws))
    return Estimate(value, low, high, items, excluded, interval="macro F1 of weighted items")


def _cells(truth: IntArray, guess: IntArray, level: IntArray, shape: tuple[int, int]) -> IntArray:
    """Return each item's index in the flat table (level, truth, prediction).

    An item outside the table has the index after the last one.
    """
    levels, categories = shape
    complete = (truth != MISSING) & (guess != MISSING)
    return np.where(
        complete, (level * categories + truth) * categories + guess, levels * categories**2
    )


def _weighted_tables(
    cells: IntArray, shape: tuple[int, int], sampled: Sampled, rng: Rng, resamples: int
) -> tuple[FloatArray, FloatArray | None]:
    """Return the weighted table of the items, and that of each resample.

    They are (levels, q, q) and (resamples, levels, q, q). There are no resamples without a
    generator, or without weight in the table.
    """
    levels, categories = shape
    size = levels * categories**2
    table = np.bincount(cells, weights=sampled.weight, minlength=size + 1)[:size].astype(np.float64)
    table = table.reshape(levels, categories, categories)
    if rng is None or not table.any():
        return table, None
    used, cell_index = np.unique(cells, return_inverse=True)
    sums = sampled.resampled_sums(np.eye(len(used))[cell_index], resamples, rng)
    resampled = np.zeros((resamples, size + 1))
    resampled[:, used] = sums
    return table, resampled[:, :size].reshape(resamples, levels, categories, categories)


def _macro_draws(draws: FloatArray | None, level: int) -> FloatArray | None:
    return None if draws is None else macro_f1(draws[:, level])
