"""Intervals hold what they promise at the published sizes, on labels drawn with known error.

264 test items were labelled by two annotators with Cohen's κ = 0.68 and then by a classifier with
macro F1 = .93 (Faulborn et al. 2025, section 3.4 and Table 7). Items and labels are drawn here with
the share of each true label and the confusion of each annotator known, so that the coefficients of
the population are known too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from workbench.domain.verdicts import Estimate
from workbench.stats.agreement import cohen_kappa, krippendorff_alpha
from workbench.stats.classification import classification_report
from workbench.stats.resampling import derive_rng

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ITEMS, REPETITIONS, RESAMPLES = 264, 200, 1000

SHARES = np.array([55, 39, 46, 42]) / 182
"of the true labels agree, disagree, neutral, unrelated: the support in Table 7"

CLASSIFIER = np.array([[49, 5, 0, 1], [1, 38, 0, 0], [1, 1, 41, 3], [0, 0, 0, 42]]) / np.array(
    [[55], [39], [46], [42]]
)
"P(predicted | true): a table with the precision and recall of Table 7"

CAREFUL = np.array(
    [
        [0.90, 0.02, 0.06, 0.02],
        [0.03, 0.88, 0.07, 0.02],
        [0.06, 0.06, 0.82, 0.06],
        [0.02, 0.02, 0.06, 0.90],
    ]
)
HASTY = np.array(
    [
        [0.89, 0.03, 0.04, 0.04],
        [0.04, 0.88, 0.04, 0.04],
        [0.08, 0.06, 0.79, 0.07],
        [0.02, 0.02, 0.07, 0.89],
    ]
)
"P(label | true) of two annotators"


def population_tables() -> tuple[Floats, Floats]:
    """Return P(first's label, second's label) and P(true, predicted)."""
    return np.einsum("t,ta,tb->ab", SHARES, CAREFUL, HASTY), SHARES[:, None] * CLASSIFIER


def population_kappa(joint: Floats) -> float:
    chance = float(joint.sum(axis=0) @ joint.sum(axis=1))
    return (float(np.trace(joint)) - chance) / (1 - chance)


def population_alpha(joint: Floats) -> float:
    """Krippendorff's nominal alpha with ever more items: chance from both annotators' pooled
    shares.
    """
    pooled = (joint.sum(axis=0) + joint.sum(axis=1)) / 2
    return 1 - (1 - float(np.trace(joint))) / (1 - float(pooled @ pooled))


def population_macro_f1(joint: Floats) -> float:
    return float(np.mean(2 * np.diag(joint) / (joint.sum(axis=0) + joint.sum(axis=1))))


def drawn(confusion: Floats, truth: Ints, rng: np.random.Generator) -> Ints:
    """Return a label for each item from its true label's row."""
    bounds = np.cumsum(confusion, axis=1)[truth, :-1]
    above = rng.random((len(truth), 1)) > bounds
    return np.asarray(above.sum(axis=1), dtype=np.int64)


def simulate(repetition: int, first: Floats, second: Floats) -> tuple[Ints, Ints, Ints]:
    rng = derive_rng(2025, "simulated annotators", repetition)
    truth = rng.choice(4, size=ITEMS, p=SHARES)
    return truth, drawn(first, truth, rng), drawn(second, truth, rng)


def kappa(truth: Ints, first: Ints, second: Ints, rng: np.random.Generator) -> Estimate:
    return cohen_kappa(first, second, rng, RESAMPLES)


def alpha(truth: Ints, first: Ints, second: Ints, rng: np.random.Generator) -> Estimate:
    return krippendorff_alpha(np.column_stack([first, second]), "nominal", rng, RESAMPLES)


def f1(truth: Ints, first: Ints, second: Ints, rng: np.random.Generator) -> Estimate:
    return classification_report(truth, second, 4).macro_f1


def coverage(
    estimate: Callable[..., Estimate], second: Floats, population: float, repetitions: int
) -> float:
    covered = 0
    for repetition in range(repetitions):
        found = estimate(
            *simulate(repetition, CAREFUL, second), derive_rng(1, "interval", repetition)
        )
        covered += found.low <= population <= found.high
    return covered / repetitions


def test_the_simulated_annotators_agree_about_as_the_published_ones_and_the_classifier_is_as_good() -> (
    None
):
    annotators, classifier = population_tables()
    assert population_kappa(annotators) == pytest.approx(0.68, abs=0.03)
    assert population_macro_f1(classifier) == pytest.approx(0.93, abs=0.005)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("estimate", "second", "population"),
    [
        pytest.param(kappa, HASTY, population_kappa(population_tables()[0]), id="Cohen's kappa"),
        pytest.param(
            alpha, HASTY, population_alpha(population_tables()[0]), id="Krippendorff's alpha"
        ),
        pytest.param(f1, CLASSIFIER, population_macro_f1(population_tables()[1]), id="macro F1"),
    ],
)
def test_95_percent_intervals_cover_the_population_value_as_often_as_they_say(
    estimate: Any, second: Floats, population: float
) -> None:
    # Of 200 repetitions; the standard error of a coverage of .95 is .015.
    assert 0.92 <= coverage(estimate, second, population, REPETITIONS) <= 0.98


def test_the_intervals_of_precision_recall_and_f1_of_each_class_cover_the_population_value() -> (
    None
):
    # Over 200 repetitions and four classes; neutral is never predicted wrongly, where a bootstrap
    # has no width.
    joint = population_tables()[1]
    hits, true, predicted = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
    wanted = {
        "precision": hits / predicted,
        "recall": hits / true,
        "f1": 2 * hits / (true + predicted),
    }
    covered = dict.fromkeys(wanted, 0)
    for repetition in range(REPETITIONS):
        truth, _, labels = simulate(repetition, CAREFUL, CLASSIFIER)
        report = classification_report(truth, labels, 4)
        for name, values in wanted.items():
            found = getattr(report, name)
            covered[name] += sum(
                e.low <= value + 1e-12 and value - 1e-12 <= e.high
                for e, value in zip(found, values, strict=True)
            )
    for name, times in covered.items():
        assert 0.92 <= times / (4 * REPETITIONS) <= 0.985, name


def test_coefficients_of_a_large_sample_are_those_of_the_population() -> None:
    rng = np.random.default_rng(3)
    truth = rng.choice(4, size=200_000, p=SHARES)
    first, second, predicted = (
        drawn(confusion, truth, rng) for confusion in (CAREFUL, HASTY, CLASSIFIER)
    )
    annotators, classifier = population_tables()
    both = np.column_stack([first, second])
    assert cohen_kappa(first, second).value == pytest.approx(
        population_kappa(annotators), abs=0.005
    )
    assert krippendorff_alpha(both).value == pytest.approx(population_alpha(annotators), abs=0.005)
    report = classification_report(truth, predicted, 4)
    assert report.macro_f1.value == pytest.approx(population_macro_f1(classifier), abs=0.003)
