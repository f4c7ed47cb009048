"""Classification figures against a published table, scikit-learn, by hand, and by their
invariants.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.verdicts import Estimate
from workbench.stats.classification import (
    ClassificationReport,
    calibration,
    classification_report,
    confusion_between,
    confusion_matrix,
    macro_f1,
    threshold_curve,
)
from workbench.stats.proportions import wilson_interval
from workbench.stats.units import MISSING

# Faulborn et al. 2025, Table 7, in the order agree, disagree, neutral, unrelated. Support,
# precision and recall leave one possibility for how many are right and how often each label was
# predicted: 49, 38, 41, 42 of 55, 39, 46, 42 are right, and 51, 44, 41, 46 predicted, which adds up
# to the same 182. The errors are spread over the cells in one of the ways that fit.
TABLE_7 = np.array([[49, 5, 0, 1], [1, 38, 0, 0], [1, 1, 41, 3], [0, 0, 0, 42]])

predictions = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, MISSING])), min_size=1, max_size=40
)


def items_of(table: Any) -> tuple[Any, Any]:
    """Return true and predicted labels with this confusion matrix."""
    true, predicted = np.nonzero(np.asarray(table) >= 0)
    return np.repeat(true, np.ravel(table)), np.repeat(predicted, np.ravel(table))


def values(estimates: tuple[Estimate, ...]) -> list[float]:
    return [estimate.value for estimate in estimates]


def drawn_predictions(seed: int, n: int = 120, q: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    true = rng.integers(q, size=n)
    confidence = rng.uniform(0.3, 1.0, n)
    predicted = np.where(rng.random(n) < confidence, true, rng.integers(q, size=n))
    return true, predicted, confidence


# The published table


def test_the_published_table_of_the_stance_classifier_is_reproduced() -> None:
    report = classification_report(*items_of(TABLE_7), 4)
    assert report.support == (55, 39, 46, 42)
    assert np.round(values(report.precision), 2).tolist() == [0.96, 0.86, 1.0, 0.91]
    assert np.round(values(report.recall), 2).tolist() == [0.89, 0.97, 0.89, 1.0]
    # Printed: 0.92, 0.92, 0.93, 0.95. With precision 1 and recall .89, F1 of neutral is 2 * .89 /
    # 1.89 = .94.
    assert np.round(values(report.f1), 2).tolist() == [0.92, 0.92, 0.94, 0.95]
    assert round(report.macro_f1.value, 2) == 0.93


def test_the_published_table_holds_the_share_of_264_items_that_the_published_threshold_keeps() -> (
    None
):
    # "a loss of about 33% of the data": 182 of 264 test items are in Table 7, 31 % are not.
    true, predicted = items_of(TABLE_7)
    true, predicted = np.append(true, [0] * 82), np.append(predicted, [1] * 82)
    confidence = np.append(np.full(182, 0.9), np.full(82, 0.89))
    everything, published = threshold_curve(true, predicted, confidence, 4, [0.0, 0.9])
    assert (everything.n, published.n) == (264, 182)
    assert published.kept.value == pytest.approx(182 / 264)
    assert published.macro_f1.value == pytest.approx(float(macro_f1(TABLE_7)))
    assert (published.macro_f1.n, published.macro_f1.excluded) == (182, 82)
    assert everything.macro_f1.value < published.macro_f1.value


# Against another implementation


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [6, 120])
def test_precision_recall_and_f1_agree_with_scikit_learn(seed: int, size: int) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    true, predicted, _ = drawn_predictions(seed, size)
    report = classification_report(true, predicted, 4)
    wanted = metrics.precision_recall_fscore_support(
        true, predicted, labels=range(4), zero_division=np.nan
    )
    for found, expected in zip((report.precision, report.recall, report.f1), wanted, strict=False):
        np.testing.assert_allclose(values(found), expected)
    assert report.macro_f1.value == pytest.approx(
        metrics.f1_score(true, predicted, average="macro")
    )
    assert report.accuracy.value == pytest.approx(metrics.accuracy_score(true, predicted))
    assert np.array_equal(report.matrix, metrics.confusion_matrix(true, predicted, labels=range(4)))


# Named cases


def test_abstentions_are_left_out_and_counted() -> None:
    report = classification_report([0, 0, 1, 1, 1], [0, MISSING, 1, 0, MISSING], 2)
    assert report.matrix == ((1, 0), (1, 1))
    assert (report.macro_f1.n, report.macro_f1.excluded, report.accuracy.excluded) == (3, 2, 2)
    assert [(e.n, e.excluded) for e in report.recall] == [(1, 1), (2, 1)]
    assert [(e.n, e.excluded) for e in report.precision] == [(2, 0), (1, 0)]


@pytest.mark.parametrize("labels", [([], []), ([0, 1], [MISSING, MISSING])])
def test_without_predictions_everything_is_undefined_for_lack_of_items(labels: Any) -> None:
    true, predicted = labels
    report = classification_report(true, predicted, 2)
    found = [*report.precision, *report.recall, *report.f1, report.macro_f1, report.accuracy]
    assert {estimate.undefined for estimate in found} == {"no items"}
    assert all(math.isnan(estimate.value) and math.isnan(estimate.low) for estimate in found)


def test_macro_f1_does_not_exist_when_all_items_have_one_label() -> None:
    report = classification_report([1, 1, 1], [1, 1, 0], 2)
    assert (report.macro_f1.undefined, report.macro_f1.n) == ("all items have one label", 3)
    assert math.isnan(report.macro_f1.value)
    assert report.accuracy.value == pytest.approx(2 / 3)
    assert report.f1[1].value == pytest.approx(0.8)


def test_a_class_that_is_nowhere_stays_out_of_the_macro_mean() -> None:
    true, predicted = [0, 0, 1, 1], [0, 1, 1, 1]
    of_two, of_three = (classification_report(true, predicted, q) for q in (2, 3))
    assert of_three.macro_f1.value == of_two.macro_f1.value == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert of_three.precision[2].undefined == "never predicted"
    assert of_three.recall[2].undefined == "no item has this label"
    assert of_three.f1[2].undefined == "no item has this label and it is never predicted"


def test_a_class_with_support_that_is_never_predicted_has_f1_zero_and_counts() -> None:
    report = classification_report([0, 0, 1], [0, 0, 0], 2)
    assert report.precision[1].undefined == "never predicted"
    assert (report.recall[1].value, report.f1[1].value) == (0.0, 0.0)
    assert report.macro_f1.value == pytest.approx(0.4)


def test_a_class_predicted_without_support_has_f1_zero_and_counts() -> None:
    report = classification_report([0, 0, 1], [0, 2, 1], 3)
    assert report.recall[2].undefined == "no item has this label"
    assert (report.precision[2].value, report.f1[2].value) == (0.0, 0.0)
    assert report.macro_f1.value == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_codes_that_are_no_label_are_refused() -> None:
    for true, predicted in (([0, 4], [0, 0]), ([0, 0], [-1, 0])):
        with pytest.raises(ValueError, match="0 to 3"):
            classification_report(true, predicted, 4)
    with pytest.raises(ValueError, match="equal length"):
        confusion_matrix([0, 1], [0], 2)


# Intervals


def test_precision_and_recall_have_wilsons_interval_and_f1_that_of_the_proportion_behind_it() -> (
    None
):
    report = classification_report(*items_of(TABLE_7), 4)
    for found, k, n in ((report.precision[1], 38, 44), (report.recall[1], 38, 39)):
        low, high = (float(end) for end in wilson_interval(k, n))
        assert (found.low, found.high, found.n) == (low, high, n)
    # 38 right, 45 that have the label or were given it.
    low, high = (float(end) for end in wilson_interval(38, 45))
    assert (report.f1[1].low, report.f1[1].high) == pytest.approx(
        (2 * low / (1 + low), 2 * high / (1 + high))
    )


def test_a_class_without_an_error_keeps_an_interval() -> None:
    report = classification_report([0] * 10 + [1] * 10, [0] * 10 + [1] * 10, 2)
    assert report.f1[0].value == 1.0
    assert report.f1[0].low == pytest.approx(2 * 0.7225 / 1.7225, abs=1e-4)
    assert report.f1[0].high == 1.0


def test_the_interval_of_macro_f1_is_near_that_of_resampled_items() -> None:
    true, predicted, _ = drawn_predictions(1)
    rng = np.random.default_rng(5)
    tables = rng.multinomial(
        len(true), confusion_matrix(true, predicted, 4).ravel() / len(true), size=2000
    )
    found = classification_report(true, predicted, 4).macro_f1
    np.testing.assert_allclose(
        [found.low, found.high],
        np.quantile(macro_f1(tables.reshape(-1, 4, 4)), [0.025, 0.975]),
        atol=0.015,
    )


def test_macro_f1_of_few_items_stays_inside_its_range() -> None:
    few = classification_report([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], 2).macro_f1
    assert 0 < few.low < few.value < few.high < 1
    wrong = classification_report([0, 0, 1, 1], [1, 1, 0, 0], 2).macro_f1
    assert (wrong.value, wrong.few) == (0, "too few for an interval")
    right = classification_report([0, 0, 1, 1], [0, 0, 1, 1], 2).macro_f1
    assert right.value == 1
    assert right.few.startswith("too few for an interval: no item was misread")


# The curve over thresholds


def test_the_curve_keeps_what_reaches_the_threshold_in_the_order_asked() -> None:
    true, predicted, confidence = [0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.8, 0.5, 0.4]
    curve = threshold_curve(true, predicted, confidence, 2, [0.8, 0.0, 0.95, 0.8])
    assert [point.threshold for point in curve] == [0.8, 0.0, 0.95, 0.8]
    assert [point.n for point in curve] == [2, 4, 0, 2]
    assert [point.kept.value for point in curve] == [0.5, 1.0, 0.0, 0.5]
    assert curve[0] == curve[3]
    assert curve[2].macro_f1.undefined == "no items"
    assert (curve[0].kept.low, curve[0].kept.high) == tuple(
        float(end) for end in wilson_interval(2, 4)
    )


def test_a_threshold_that_leaves_one_true_label_has_no_macro_f1() -> None:
    curve = threshold_curve([0, 0, 1], [0, 1, 1], [0.9, 0.9, 0.1], 2, [0.5])
    assert curve[0].macro_f1.undefined == "the 2 of 3 items that are kept have one label"


@pytest.mark.parametrize("threshold", [0.0, 0.6, 0.85])
def test_a_point_of_the_curve_is_the_report_on_the_kept_items(threshold: float) -> None:
    true, predicted, confidence = drawn_predictions(3)
    rows = confidence >= threshold
    curve = threshold_curve(true, predicted, confidence, 4, [0.0, 0.6, 0.85])
    point = next(point for point in curve if point.threshold == threshold)
    report = classification_report(true[rows], predicted[rows], 4)
    assert point.macro_f1.value == report.macro_f1.value
    curve_ends, report_ends = (
        (found.low, found.high) for found in (point.macro_f1, report.macro_f1)
    )
    np.testing.assert_allclose(curve_ends, report_ends, atol=0.02)


def test_abstentions_are_never_kept_and_need_no_confidence() -> None:
    curve = threshold_curve([0, 1, 1], [0, 1, MISSING], [0.9, 0.9, float("nan")], 2, [0.0])
    assert (curve[0].n, curve[0].kept.value, curve[0].macro_f1.excluded) == (2, 2 / 3, 1)


def test_a_prediction_without_confidence_is_refused() -> None:
    with pytest.raises(ValueError, match="no confidence"):
        threshold_curve([0, 1], [0, 1], [0.9, float("nan")], 2, [0.5])
    with pytest.raises(ValueError, match="no confidence"):
        calibration([True], [float("nan")])


def test_a_curve_without_items_says_so() -> None:
    (point,) = threshold_curve([], [], [], 2, [0.9])
    assert (point.macro_f1.undefined, point.kept.undefined, point.n) == ("no items", "no items", 0)


# Calibration


def test_calibration_error_is_the_mean_gap_weighted_by_bin() -> None:
    # (0, .5]: one right of two at mean .3; (.5, 1]: three of three at .8. ECE = 2/5 * .2 + 3/5 *
    # .2.
    found = calibration([True, False, True, True, True], [0.2, 0.4, 0.7, 0.8, 0.9], bins=2)
    assert [bin_.n for bin_ in found.bins] == [2, 3]
    assert [bin_.mean_confidence for bin_ in found.bins] == pytest.approx([0.3, 0.8])
    assert [bin_.accuracy.value for bin_ in found.bins] == [0.5, 1.0]
    assert found.bins[1].accuracy.low == pytest.approx(float(wilson_interval(3, 3)[0]))
    assert found.ece == pytest.approx(0.2)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below_and_zero_to_the_first() -> None:
    found = calibration([True] * 4, [0.0, 0.5, 0.50001, 1.0], bins=2)
    assert [bin_.n for bin_ in found.bins] == [2, 2]


def test_empty_bins_are_named_and_do_not_count() -> None:
    found = calibration([True], [0.95])
    assert [bin_.n for bin_ in found.bins] == [0] * 9 + [1]
    assert found.bins[0].accuracy.undefined == "no items"
    assert found.ece == pytest.approx(0.05)
    assert math.isnan(calibration([], []).ece)


def test_confidences_outside_zero_and_one_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration([True], [1.2])


def test_confidences_that_are_true_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(4)
    confidence = rng.random(100_000)
    assert calibration(rng.random(100_000) < confidence, confidence).ece < 0.01
    assert calibration(rng.random(100_000) < confidence**2, confidence).ece > 0.1


# Invariants


@given(predictions, st.permutations([0, 1, 2]))
def test_macro_f1_and_accuracy_do_not_depend_on_the_labels(
    items: list[tuple[int, int]], labels: list[int]
) -> None:
    renamed = {**dict(enumerate(labels)), MISSING: MISSING}
    first, second = (
        classification_report([t for t, _ in rows], [p for _, p in rows], 3)
        for rows in (items, [(renamed[t], renamed[p]) for t, p in items])
    )
    assert first.macro_f1.undefined == second.macro_f1.undefined
    assert first.macro_f1.value == pytest.approx(second.macro_f1.value, nan_ok=True)
    assert first.accuracy.value == pytest.approx(second.accuracy.value, nan_ok=True)
    np.testing.assert_array_equal(
        values(first.f1), [second.f1[labels[code]].value for code in range(3)]
    )


def exchanged(report: ClassificationReport) -> tuple[Any, ...]:
    return (
        [e.value for e in report.recall],
        [e.value for e in report.precision],
        [e.value for e in report.f1],
    )


@given(predictions)
def test_exchanging_truth_and_prediction_exchanges_precision_and_recall(
    items: list[tuple[int, int]],
) -> None:
    true, predicted = np.array(items).T
    report, turned = (
        classification_report(true, predicted, 3),
        classification_report(predicted, true, 3),
    )
    np.testing.assert_array_equal(
        (values(turned.precision), values(turned.recall), values(turned.f1)), exchanged(report)
    )
    assert np.array_equal(
        confusion_between(predicted, true, 3), confusion_matrix(true, predicted, 3).T
    )
