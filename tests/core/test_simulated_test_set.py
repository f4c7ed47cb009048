"""Whether a test set that is drawn by the tool stands for the answers: coverage of the corrected
bias, and of figures.

40 statements, half of them of each side, 10 prefixes and 6 runs, 2,400 answers a repetition. 36 %
of the answers are one short sentence that agrees: 56 % of those on the right, 16 % of those on the
left. The classifier always reads it well and misreads longer texts, which are all different. Both
sides have the same bias in the population of statements, so the true total is 0.

Everything is drawn by the tool's own functions from fixed seeds. Of 120 repetitions, 91 to 99 % is
2 binomial standard errors (2 %) around 95 %; the slow version makes 1,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from workbench.annotation.sampling import OfferedText, draw_answers
from workbench.audits.bias_score.counting import ScoredStatement, Tally
from workbench.audits.bias_score.labelled import COUNTED, NET, DrawnLabels
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import Figure, judge
from workbench.domain.statements import ORIGINAL, Dimension, Side
from workbench.stats.classification import weighted_report
from workbench.stats.samples import Sampled
from workbench.stats.units import MISSING

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

REPETITIONS, MANY, DRAWS = 120, 1_000, 600
ANSWERS, STATEMENTS, SIZE = 60, 20, 264
"answers to a statement, statements of a side, test texts"
SHORT = {Side.LEFT: 0.16, Side.RIGHT: 0.56}
LONG = {Side.LEFT: (0.41, 0.27, 0.10, 0.06), Side.RIGHT: (0.04, 0.30, 0.04, 0.06)}
"""shares of all answers: the short sentence, and longer texts by stance; agree - disagree is .30 on
both sides"""
SPREAD = 8.0
READS = np.array(
    [
        [0.66, 0.12, 0.05, 0.02, 0.15],
        [0.05, 0.70, 0.05, 0.02, 0.18],
        [0.12, 0.12, 0.51, 0.05, 0.20],
        [0.05, 0.05, 0.05, 0.65, 0.20],
    ]
)
"of longer texts: true stance x kept reading, and below the threshold"
ITEMS = tuple(
    ScoredStatement(f"{side}-{n}", "", Dimension.ECONOMIC, side)
    for side in (Side.LEFT, Side.RIGHT)
    for n in range(STATEMENTS)
)


@dataclass(frozen=True)
class Texts:
    """Every distinct text beside its statement."""

    statement: Ints
    true: Ints
    read: Ints
    answers: Ints
    short: npt.NDArray[np.bool_]


def population(rng: np.random.Generator) -> Texts:
    """Return the texts of a repetition: the short sentence of each statement first, then the longer
    ones.
    """
    means = np.array([(SHORT[item.leaning], *LONG[item.leaning]) for item in ITEMS])
    counts = np.stack([rng.multinomial(ANSWERS, rng.dirichlet(SPREAD * mean)) for mean in means])
    long = counts[:, 1:]
    statement = np.repeat(np.arange(len(ITEMS)), long.sum(axis=1))
    true = np.concatenate([np.repeat(np.arange(4), row) for row in long])
    read = np.minimum((rng.random(len(true))[:, None] > READS.cumsum(axis=1)[true]).sum(axis=1), 4)
    said = np.flatnonzero(counts[:, 0])
    zeros = np.zeros(len(said), dtype=np.int64)
    return Texts(
        np.concatenate([said, statement]),
        np.concatenate([zeros, true]),
        np.concatenate([zeros, read]),
        np.concatenate([counts[said, 0], np.ones(len(true), dtype=np.int64)]),
        np.arange(len(said) + len(true)) < len(said),
    )


def offers(texts: Texts) -> list[OfferedText]:
    words = ["I agree." if short else f"answer {place}" for place, short in enumerate(texts.short)]
    return [
        OfferedText(
            place,
            words[place],
            ITEMS[s].ref,
            f"prefix {place % 10}" if not texts.short[place] else "several",
            n,
        )
        for place, (s, n) in enumerate(
            zip(texts.statement.tolist(), texts.answers.tolist(), strict=True)
        )
    ]


def tally(texts: Texts, labelled: Ints) -> Tally:
    """Return the readings; those of labelled texts are their labels."""
    person = np.zeros(len(texts.true), dtype=np.bool_)
    person[labelled] = True
    reading = np.where(person, texts.true, texts.read)
    read, as_is = (
        np.zeros((len(ITEMS), 5), dtype=np.int32),
        np.zeros((len(ITEMS), 5), dtype=np.int32),
    )
    np.add.at(read, (texts.statement, reading), texts.answers)
    np.add.at(as_is, (texts.statement, reading), np.where(person, texts.answers, 0))
    cells = (1, 1, len(ITEMS), 1)
    return Tally(
        ("m",),
        ("p",),
        ITEMS,
        (ORIGINAL,),
        ((None,),) * len(ITEMS),
        read[:, :4].reshape(*cells, 4),
        np.zeros((*cells, 4), dtype=np.int32),
        read[:, 4].reshape(cells),
        np.zeros(cells, dtype=np.int32),
        as_is=as_is[:, :4].reshape(*cells, 4),
    )


@dataclass(frozen=True)
class Found:
    """What one repetition gave."""

    weighted: Figure
    macro: tuple[float, float, float, float]
    "macro F1 of all answers of the repetition, and its estimate with both ends"


def repeat(seed: int, repetition: int) -> Found:
    rng = np.random.default_rng([seed, repetition])
    texts = population(rng)
    sample = draw_answers(offers(texts), SIZE, rng)
    places = np.array([pick.index for pick in sample.picks])
    inclusion = np.array([pick.inclusion for pick in sample.picks], dtype=np.float64)
    weight = texts.answers[places] / inclusion
    n = len(places)
    cell = np.stack(
        [np.zeros(n), np.zeros(n), texts.statement[places], np.zeros(n)], axis=1
    ).astype(np.int64)
    represented = weight * (1 - inclusion)
    drawn = DrawnLabels(cell, texts.true[places], texts.read[places], represented, places)
    strata = [pick.stratum for pick in sample.picks]
    everything = weighted_report(
        texts.true,
        kept(texts.read),
        4,
        Sampled.of(texts.answers, np.ones(len(texts.true)), [""] * len(texts.true)),
    )
    report = weighted_report(
        texts.true[places],
        kept(texts.read[places]),
        4,
        Sampled.of(weight, inclusion >= 1, strata),
        rng,
        300,
    )
    macro = report.macro_f1
    return Found(
        judge(tally(texts, places), ScoreOptions(repetition, DRAWS, correct=True), drawn).figure(
            "m"
        ),
        (everything.macro_f1.value, macro.value, macro.low, macro.high),
    )


def kept(read: Ints) -> Ints:
    return np.where(read < 4, read, MISSING)


@cache
def repeated(repetitions: int, seed: int = 4) -> tuple[Found, ...]:
    return tuple(repeat(seed, repetition) for repetition in range(repetitions))


def coverage(figures: list[Figure]) -> float:
    return float(np.mean([figure.total.low <= 0 <= figure.total.high for figure in figures]))


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def test_the_simulated_bias_is_none_and_a_third_of_the_answers_are_one_sentence() -> None:
    sides = [
        np.array([SHORT[side] + LONG[side][0], *LONG[side][1:]]) for side in (Side.LEFT, Side.RIGHT)
    ]
    left, right = (float(side @ NET / (side @ COUNTED)) for side in sides)
    assert left == pytest.approx(right)
    assert np.mean(list(SHORT.values())) == pytest.approx(0.36)


@pytest.mark.e2e
def test_corrected_bias_covers_the_truth_where_frequent_texts_are_read_better() -> None:
    weighted = [found.weighted for found in repeated(REPETITIONS)]
    assert 0.91 <= coverage(weighted) <= 0.99
    mean, error = mean_and_error([figure.total.value for figure in weighted])
    assert abs(mean) < 3 * error


@pytest.mark.e2e
def test_macro_f1_of_a_test_set_covers_that_of_all_answers() -> None:
    found = np.array([each.macro for each in repeated(REPETITIONS)])
    truth, value, low, high = found.T
    assert 0.90 <= float(((low <= truth) & (truth <= high)).mean()) <= 0.99
    mean, error = mean_and_error(list(value - truth))
    assert abs(mean) < max(3 * error, 0.005)


@pytest.mark.slow
def test_a_thousand_repetitions_cover_as_often_as_the_intervals_say() -> None:
    found = repeated(MANY, seed=5)
    weighted = [each.weighted for each in found]
    mean, error = mean_and_error([figure.total.value for figure in weighted])
    assert 0.93 <= coverage(weighted) <= 0.97
    assert abs(mean) < 3 * error
