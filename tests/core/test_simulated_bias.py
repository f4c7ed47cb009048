"""Whether 95 % intervals of the bias score hold the true bias 95 times in 100, at the published sizes.

89 statements in the eight strata of Table 1 (Faulborn et al. 2025), each with its own tendency, drawn from a population
whose mean is known; 10 prefixes x 3 wordings x 3 runs, 8,010 answers a repetition. The true bias follows from the
population's means: bias_d = E[agree - disagree] / E[agree + disagree + neutral] over the statements of side d.
Everything is drawn as counts, from fixed seeds.

Of 200 repetitions, 92 to 98 % is 2 binomial standard errors (1.5 %) around 95 %.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from workbench.audits.bias_score.counting import ScoredStatement, Tally
from workbench.audits.bias_score.factors import compare
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import COUNTED, NET, BiasReport, Figure, Givers, Trial, judge
from workbench.domain.statements import (
    ORIGINAL,
    POLITICAL_OPPOSITE,
    REFORMULATION,
    Dimension,
    Side,
)
from workbench.domain.verdicts import Estimate

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

REPETITIONS, DRAWS = 200, 2_000

TABLE_1 = {
    ("PCT", Dimension.CULTURAL, Side.LEFT): (9, (0.62, 0.14, 0.14, 0.10)),
    ("PCT", Dimension.CULTURAL, Side.RIGHT): (31, (0.30, 0.42, 0.16, 0.12)),
    ("PCT", Dimension.ECONOMIC, Side.LEFT): (10, (0.55, 0.20, 0.15, 0.10)),
    ("PCT", Dimension.ECONOMIC, Side.RIGHT): (12, (0.36, 0.34, 0.22, 0.08)),
    ("WVS", Dimension.CULTURAL, Side.LEFT): (4, (0.50, 0.22, 0.18, 0.10)),
    ("WVS", Dimension.CULTURAL, Side.RIGHT): (14, (0.34, 0.40, 0.14, 0.12)),
    ("WVS", Dimension.ECONOMIC, Side.LEFT): (2, (0.45, 0.25, 0.20, 0.10)),
    ("WVS", Dimension.ECONOMIC, Side.RIGHT): (7, (0.40, 0.30, 0.20, 0.10)),
}
"statements, and the population's mean share of agree, disagree, neutral, unrelated: made up"

SPREAD = 2.0
"of the Dirichlet distribution of tendencies: statements of a side differ widely, as answers to one statement do not"

ITEMS = tuple(
    ScoredStatement(f"{source}-{dimension}-{side}-{n}", source, dimension, side)
    for (source, dimension, side), (size, _) in TABLE_1.items()
    for n in range(size)
)
MEANS = np.repeat([mean for _, mean in TABLE_1.values()], [size for size, _ in TABLE_1.values()], axis=0)
"(89, 4)"
WORDINGS = (ORIGINAL, REFORMULATION, POLITICAL_OPPOSITE)
PREFIXES = ("likert", *(f"free-{n}" for n in range(1, 10)))
RUNS = 3

READS = np.array(
    [
        [0.62, 0.06, 0.03, 0.02, 0.27],
        [0.03, 0.64, 0.02, 0.01, 0.30],
        [0.09, 0.11, 0.44, 0.05, 0.31],
        [0.03, 0.05, 0.04, 0.52, 0.36],
    ]
)
"the simulated classifier: true stance x kept reading, and below the threshold; drops a third, as published"

TEST_STANCES = (0.30, 0.24, 0.24, 0.22)
"of the test items, near the support that Table 7 gives"
TEST_ITEMS = 264


def true_bias() -> float:
    sides = [MEANS[[item.leaning is side for item in ITEMS]].sum(axis=0) for side in (Side.LEFT, Side.RIGHT)]
    left, right = (float(mean @ NET / (mean @ COUNTED)) for mean in sides)
    return (right - left) / 2


def answers(rng: np.random.Generator) -> Counts:
    """Return how often each stance is taken, on the wording that was asked: (10, 89, 3, 4)."""
    tendencies = np.stack([rng.dirichlet(SPREAD * mean) for mean in MEANS])
    on_wording = np.stack([tendencies, tendencies, tendencies[:, [1, 0, 2, 3]]], axis=1)
    return rng.multinomial(RUNS, np.broadcast_to(on_wording, (len(PREFIXES), *on_wording.shape)))


def tally(read: Counts, by_rule: Counts, dropped: Counts) -> Tally:
    return Tally(
        models=("m",),
        prefixes=PREFIXES,
        items=ITEMS,
        variants=WORDINGS,
        authors=((None, None, None),) * len(ITEMS),
        read=read[None].astype(np.int32),
        by_rule=by_rule[None].astype(np.int32),
        dropped=dropped[None].astype(np.int32),
        unread=np.zeros((1, *read.shape[:3]), dtype=np.int32),
    )


def read_perfectly(rng: np.random.Generator) -> Tally:
    truth = answers(rng)
    return tally(truth, truth, np.zeros(truth.shape[:3], dtype=np.int64))


def read_by_classifier(rng: np.random.Generator) -> tuple[Tally, Counts]:
    """Return answers of which a rule reads the first prefix's, a classifier the others', and the classifier's test."""
    truth = answers(rng)
    seen = rng.multinomial(truth, READS).sum(axis=-2)  # (10, 89, 3, 5)
    read, dropped = seen[..., :4], seen[..., 4]
    read[0], dropped[0] = truth[0], 0
    by_rule = np.zeros_like(read)
    by_rule[0] = truth[0]
    return tally(read, by_rule, dropped), rng.multinomial(rng.multinomial(TEST_ITEMS, TEST_STANCES), READS)


def covers(figure: Figure) -> bool:
    return figure.total.low <= true_bias() <= figure.total.high


@cache
def perfect(seed: int = 1) -> tuple[float, float]:
    """Return the coverage with statements and with responses as the unit, of the same answers."""
    rng = np.random.default_rng(seed)
    held = [0, 0]
    for repetition in range(REPETITIONS):
        made = read_perfectly(rng)
        held[0] += covers(judge(made, ScoreOptions(repetition, DRAWS)).figure("m"))
        held[1] += covers(judge(made, ScoreOptions(repetition, DRAWS, "responses")).figure("m"))
    return held[0] / REPETITIONS, held[1] / REPETITIONS


@cache
def classified(seed: int = 2) -> tuple[float, Floats, Floats]:
    """Return the coverage with correction for the classifier's error, and all totals with it and without."""
    rng = np.random.default_rng(seed)
    held = 0
    corrected, raw = np.empty(REPETITIONS), np.empty(REPETITIONS)
    for repetition in range(REPETITIONS):
        made, confusion = read_by_classifier(rng)
        figure = judge(made, ScoreOptions(repetition, DRAWS, correct=True), Trial.counted(confusion)).figure("m")
        held += covers(figure)
        corrected[repetition] = figure.total.value
        raw[repetition] = judge(made, ScoreOptions(repetition, draws=1)).figure("m").total.value
    return held / REPETITIONS, corrected, raw


def errors_off(totals: Floats) -> float:
    """Return how many standard errors the mean of some totals is off the true bias."""
    return float(abs(totals.mean() - true_bias()) / (totals.std(ddof=1) / np.sqrt(len(totals))))


@pytest.mark.e2e
def test_intervals_over_statements_hold_the_true_bias_as_often_as_they_say() -> None:
    assert 0.92 <= perfect()[0] <= 0.98


@pytest.mark.e2e
def test_intervals_over_responses_are_too_narrow_where_answers_to_a_statement_are_alike() -> None:
    assert perfect()[1] < 0.60


@pytest.mark.e2e
def test_corrected_intervals_hold_the_true_bias_in_spite_of_the_classifiers_error() -> None:
    assert 0.92 <= classified()[0] <= 0.98


@pytest.mark.e2e
def test_the_classifiers_error_shifts_the_bias_and_its_correction_takes_the_shift_back() -> None:
    _, corrected, raw = classified()
    assert errors_off(raw) > 5
    assert errors_off(corrected) < 3


SIDES_MEANS = {Side.LEFT: (0.55, 0.20, 0.15, 0.10), Side.RIGHT: (0.20, 0.55, 0.15, 0.10)}
TWENTY = tuple(ScoredStatement(f"{side}-{n}", "", Dimension.ECONOMIC, side) for side in SIDES_MEANS for n in range(20))
PAIRS = 100
"repetitions with two models"


def of_two_models(
    rng: np.random.Generator, recalls: tuple[float, float], sizes: tuple[int, int]
) -> tuple[Tally, Trial]:
    """Return the answers of two models with the same bias, as a classifier with these recalls reads them, and its test
    with so many texts of each. Statements are the same, and each model has its own tendency on each.
    """
    reads = [np.full((4, 4), (1 - recall) / 3) + np.eye(4) * (recall - (1 - recall) / 3) for recall in recalls]
    on = np.stack([rng.dirichlet(SPREAD * np.array(SIDES_MEANS[item.leaning])) for item in TWENTY])
    tendencies = np.array([[rng.dirichlet(20 * np.maximum(one, 1e-3)) for one in on] for _ in recalls])
    read = np.stack(
        [rng.multinomial(t, m).sum(axis=-2) for t, m in zip(rng.multinomial(30, tendencies), reads, strict=True)]
    )
    cells = (2, 1, len(TWENTY), 1)
    zeros = np.zeros((*cells, 4), dtype=np.int32)
    tally_ = Tally(
        ("a", "b"), ("p",), TWENTY, (ORIGINAL,), ((None,),) * len(TWENTY), read.reshape(*cells, 4).astype(np.int32),
        zeros, zeros[..., 0], zeros[..., 0],
    )  # fmt: skip
    model = np.repeat([0, 1], sizes)
    true = rng.choice(4, len(model), p=TEST_STANCES)
    seen = np.array([rng.choice(4, p=reads[m][t]) for m, t in zip(model, true, strict=True)])
    test = Trial.unknown(true, seen, np.full(len(true), -1))
    return tally_, replace(test, given=Givers(np.eye(2, dtype=np.int64)[model], np.arange(2)))


@cache
def two_models(
    recalls: tuple[float, float], sizes: tuple[int, int] = (200, 200), *, known: bool = True, seed: int = 3
) -> tuple[list[Estimate], list[BiasReport]]:
    """Return the differences of the corrected biases. known : whether the test knows which model gave each text"""
    rng = np.random.default_rng(seed)
    made = [of_two_models(rng, recalls, sizes) for _ in range(PAIRS)]
    reports = [
        judge(of, ScoreOptions(n, 500, correct=True), test if known else replace(test, given=None))
        for n, (of, test) in enumerate(made)
    ]
    return [compare(report, "a", "b") for report in reports], reports


def mean_and_coverage(differences: list[Estimate]) -> tuple[float, float]:
    """Return the mean of differences, and how often their intervals hold 0."""
    return float(np.mean([d.value for d in differences])), float(np.mean([d.low <= 0 <= d.high for d in differences]))


@pytest.mark.e2e
def test_models_that_are_misread_differently_have_matrices_of_their_own() -> None:
    mean, held = mean_and_coverage(two_models((0.97, 0.75))[0])
    pooled, held_pooled = mean_and_coverage(two_models((0.97, 0.75), known=False)[0])
    assert (abs(pooled) > 0.08, held_pooled < 0.65) == (True, True), "what one matrix for both makes of equal models"
    assert abs(mean) < 0.03
    assert held >= 0.90


@pytest.mark.e2e
def test_models_that_are_misread_alike_lose_little_by_matrices_of_their_own() -> None:
    found, reports = two_models((0.9, 0.9))
    pooled, _ = two_models((0.9, 0.9), known=False)
    assert mean_and_coverage(found)[1] >= 0.90
    width, width_pooled = (np.mean([d.high - d.low for d in of]) for of in (found, pooled))
    assert width < 1.1 * width_pooled
    assert np.mean([report.p_alike < 0.05 for report in reports]) < 0.12


@pytest.mark.e2e
def test_the_test_of_equal_errors_sees_a_recall_that_differs_in_every_stance() -> None:
    _, reports = two_models((0.95, 0.75), (40, 360))
    assert np.mean([report.p_alike < 0.05 for report in reports]) > 0.6
