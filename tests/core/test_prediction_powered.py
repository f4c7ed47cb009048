"""Corrected sums: against the published formula of prediction-powered inference, and over repeated
draws of labels.
"""

from __future__ import annotations

import numpy as np
import pytest

from workbench.stats.prediction_powered import rectified_sums

VALUES = np.array([[1.0], [0.0], [-1.0]])
LABELS = [1, 1, 0, -1, 1, 0, -1, -1, 1, 0]
READINGS = [1, 0, 0, -1, 1, 0, 1, -1, 1, 1]
OTHERS = [1, 1, 1, -1, 0, 0, 1, -1, 1, 0, 1, -1, 1, 1, 0, -1, 1, 1, 0, 0]
UNEQUAL = [1, 1, 1, 1, 1, 3, 3, 3, 3, 3]


@pytest.mark.parametrize(
    ("weights", "mean", "low", "high"),
    [
        ([1] * 10, 0.1, -0.4764427013936786, 0.6764427013936786),
        (UNEQUAL, -0.1, -0.8053147646830381, 0.6053147646830379),
    ],
    ids=["equal", "unequal"],
)
def test_it_is_the_published_estimate(
    weights: list[int], mean: float, low: float, high: float
) -> None:
    # ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3, lam=1: no dependency, for it
    # brings numba and gdown
    places = {1: 0, 0: 1, -1: 2}
    cells = len(OTHERS) + len(LABELS)
    unlabelled, labelled = np.zeros((cells, 3)), np.zeros((cells, 3, 3))
    for row, reading in enumerate(OTHERS):
        unlabelled[row, places[reading]] = 1
    for row, (label, reading, weight) in enumerate(
        zip(LABELS, READINGS, weights, strict=True), start=len(OTHERS)
    ):
        labelled[row, places[label], places[reading]] = weight
    n = len(LABELS)
    found = rectified_sums(np.zeros((cells, 3)), unlabelled, labelled, n, VALUES)[:, 0] / len(
        OTHERS
    )
    assert found.sum() == pytest.approx(mean)
    if weights == [1] * 10:
        read, drawn = found[: len(OTHERS)], found[len(OTHERS) :] * np.sqrt((n - 2) / n)
        error = np.sqrt(read.var() * len(OTHERS) + drawn.var() * n)
        assert (mean - 1.959964 * error, mean + 1.959964 * error) == pytest.approx(
            (low, high), abs=1e-5
        )


def test_it_is_right_on_average_whatever_the_reader_does() -> None:
    rng = np.random.default_rng(1)
    true = rng.choice(3, 600, p=[0.6, 0.1, 0.3])
    reading = np.where(true == 2, rng.choice(3, 600), true)
    probability = np.where(reading == 0, 0.05, 0.2)
    found = []
    for _ in range(2000):
        drawn = rng.random(600) < probability
        known = np.bincount(true[drawn], minlength=3)
        unlabelled = np.bincount(reading[~drawn], minlength=3)
        labelled = np.zeros((3, 3))
        np.add.at(labelled, (true[drawn], reading[drawn]), (1 / probability - 1)[drawn])
        found.append(
            rectified_sums([known], [unlabelled], [labelled], int(drawn.sum()), VALUES).sum()
        )
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - VALUES[true].sum()) < 3.5 * error
    assert abs(VALUES[reading].sum() - VALUES[true].sum()) > 20 * error


def test_without_labels_there_is_no_sum_unless_every_answer_is_known() -> None:
    none = np.zeros((1, 3, 3))
    assert np.isnan(rectified_sums([[1, 0, 0]], [[5, 0, 0]], none, 0, VALUES)).all()
    assert rectified_sums([[5, 0, 2]], [[0, 0, 0]], none, 0, VALUES).tolist() == [[3.0]]
