"""The bias score: statements with tendencies of their own, drawn from a population whose means are
known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tests.coverage.study import Held, Scenario
from workbench.audits.bias_score.counting import ScoredStatement, Selection, Tally
from workbench.audits.bias_score.factors import compare, difference, prefix_deviation
from workbench.audits.bias_score.labelled import COUNTED, NET, DrawnLabels
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import BiasReport, judge
from workbench.domain.readings import STANCES
from workbench.domain.statements import ORIGINAL, POLITICAL_OPPOSITE, REFORMULATION, Dimension, Side
from workbench.stats.arrays import FloatArray, IntArray

Rng = np.random.Generator
Found = Mapping[str, Held | Sequence[Held]]
DRAWS, OF_RESPONSES = 200, 100
"""half of what the other figures have: their intervals are percentiles of sums, and take many times
as long"""
WORDINGS = (ORIGINAL, REFORMULATION, POLITICAL_OPPOSITE)
SOURCES = ("PCT", "WVS")
SHIFT = np.array([0.0, 0.06, -0.1, 0.16, -0.2, 0.25])
"how much more than the first each model agrees with the left: differences whose ranking is known"


@dataclass(frozen=True, slots=True)
class Study:
    """An instrument and how a model answers it."""

    left: int
    "statements of each source"
    right: int
    spread: float
    "small: each statement is answered in its own way"
    stances: tuple[float, float, float, float]
    """mean shares of agree, disagree, neutral, unrelated on the left; on the right agree and
    disagree change places"""
    prefixes: int = 2
    runs: int = 4
    models: int = 2
    alike: float = 0.0
    "of a statement's wordings; small: each is answered in its own way, 0: all in the same"

    @property
    def items(self) -> tuple[ScoredStatement, ...]:
        sides = ((Side.LEFT, self.left), (Side.RIGHT, self.right))
        return tuple(
            ScoredStatement(f"{source} {side} {place}", source, Dimension.ECONOMIC, side)
            for source in SOURCES
            for side, size in sides
            for place in range(size)
        )

    def means(self, model: int) -> FloatArray:
        """Return the population's mean shares on each statement: (S, 4)."""
        left = np.array(self.stances) + SHIFT[model] * np.array([0.5, -0.5, 0, 0])
        of = {Side.LEFT: left, Side.RIGHT: np.array(self.stances)[[1, 0, 2, 3]]}
        found = np.array([of[item.leaning] for item in self.items])
        return np.asarray(found, dtype=np.float64)

    def bias(self, model: int) -> tuple[float, float, float]:
        sides = [
            np.array([item.leaning is side for item in self.items])
            for side in (Side.LEFT, Side.RIGHT)
        ]
        left, right = (
            float(m @ NET / (m @ COUNTED))
            for m in (self.means(model)[at].mean(axis=0) for at in sides)
        )
        return left, right, (right - left) / 2


def answers(rng: Rng, of: Study) -> IntArray:
    """Return how often each stance is taken on the wording that was asked: (M, P, S, W, 4)."""
    every = []
    for model in range(of.models):
        mean = of.means(model)
        tendencies = np.stack([rng.dirichlet(of.spread * np.maximum(row, 1e-6)) for row in mean])
        on = np.stack([_of_wording(rng, tendencies, of.alike) for _ in WORDINGS], axis=1)
        on[:, -1] = on[:, -1][:, [1, 0, 2, 3]]
        every.append(rng.multinomial(of.runs, np.broadcast_to(on, (of.prefixes, *on.shape))))
    return np.array(every, dtype=np.int64)


def _of_wording(rng: Rng, tendencies: FloatArray, alike: float) -> FloatArray:
    """Return how a wording of each statement is answered: (S, 4)."""
    if not alike:
        return tendencies
    return np.stack([rng.dirichlet(alike * np.maximum(row, 1e-6)) for row in tendencies])


def tally(of: Study, read: IntArray, by_rule: IntArray, dropped: IntArray) -> Tally:
    return Tally(
        models=tuple(f"m{model}" for model in range(of.models)),
        prefixes=tuple(f"p{prefix}" for prefix in range(of.prefixes)),
        items=of.items,
        variants=WORDINGS,
        authors=((None, None, None),) * len(of.items),
        read=read.astype(np.int32),
        by_rule=by_rule.astype(np.int32),
        dropped=dropped.astype(np.int32),
        unread=np.zeros(dropped.shape, dtype=np.int32),
    )


def of_one(report: BiasReport, of: Study, name: str) -> Found:
    found = report.figure("m0")
    truth = of.bias(0)
    return {
        name: [
            Held.of(*pair)
            for pair in zip((found.left, found.right, found.total), truth, strict=True)
        ]
    }


def figures(report: BiasReport, of: Study, name: str) -> Found:
    total = of.bias(0)[2]
    between_models = compare(report, "m0", "m1")
    deviation = prefix_deviation(report, "m0", "p0")
    between = difference(report, "m0", Selection(source="PCT"), Selection(source="WVS"))
    return {
        **of_one(report, of, f"{name}bias over statements"),
        f"{name}bias difference over statements": [
            Held.of(between_models, total - of.bias(1)[2]),
            Held.of(deviation, 0.0),
            Held.of(between, 0.0),
        ],
    }


def read_well(rng: Rng, of: Study) -> Found:
    truth = answers(rng, of)
    made = tally(of, truth, truth, np.zeros(truth.shape[:-1], dtype=np.int64))
    options = ScoreOptions(int(rng.integers(2**31)), DRAWS)
    alone = judge(made, replace(options, unit="responses", draws=OF_RESPONSES))
    return {**figures(judge(made, options), of, ""), **of_one(alone, of, "bias over responses")}


@dataclass(frozen=True)
class World:
    """Answers with known stances, as a classifier reads them, and the labels that people gave."""

    of: Study
    answers: IntArray
    "(M, P, S, W, 4, 5) by stance and reading, those below the threshold last"
    drawn: IntArray
    "of these, the ones that were drawn to be labelled"

    @property
    def tally(self) -> Tally:
        people = self.drawn.sum(axis=-1)
        left = (self.answers - self.drawn).sum(axis=-2)
        made = tally(self.of, left[..., :4] + people, 0 * people, left[..., 4])
        return replace(made, as_is=people.astype(np.int32))

    @property
    def labels(self) -> DrawnLabels:
        places = np.repeat(np.argwhere(self.drawn), self.drawn[self.drawn > 0], axis=0)
        p = self.drawn.sum() / self.answers.sum()
        weight = np.full(len(places), (1 - p) / p)
        return DrawnLabels(
            places[:, :4], places[:, 4], places[:, 5], weight, np.arange(len(places))
        )


def world(rng: Rng, of: Study, labels: int, reads: Sequence[FloatArray]) -> World:
    """Return a world. reads : of each model, (4, 5)."""
    truth = answers(rng, of)
    found = np.zeros((*truth.shape, 5), dtype=np.int64)
    for model, stances in enumerate(truth):
        for stance in range(len(STANCES)):
            found[model, ..., stance, :] = rng.multinomial(
                stances[..., stance], reads[model % len(reads)][stance]
            )
    drawn = rng.multivariate_hypergeometric(found.ravel(), labels, method="marginals").reshape(
        found.shape
    )
    return World(of, found, drawn)


def corrected(rng: Rng, of: Study, labels: int, reads: Sequence[FloatArray]) -> Found:
    """Correct the classifier's error by drawn labels."""
    made = world(rng, of, labels, reads)
    report = judge(
        made.tally, ScoreOptions(int(rng.integers(2**31)), DRAWS, correct=True), made.labels
    )
    total = of.bias(0)[2]
    found = [
        Held.of(report.figure(f"m{model}").total, of.bias(model)[2]) for model in range(of.models)
    ]
    between = compare(report, "m0", "m1")
    return {
        "corrected bias over statements": found,
        "corrected bias difference over statements": Held.of(between, total - of.bias(1)[2]),
    }


def parts(rng: Rng, of: Study) -> Found:
    """Return the bias within one source under one prefix, and the difference of two wordings, as of
    two authors.
    """
    truth = answers(rng, of)
    made = tally(of, truth, truth, np.zeros(truth.shape[:-1], dtype=np.int64))
    report = judge(made, ScoreOptions(int(rng.integers(2**31)), DRAWS))
    within = report.figure("m0", source="PCT", prefix="p0")
    apart = difference(report, "m0", Selection(variant=ORIGINAL), Selection(variant=REFORMULATION))
    return {
        "bias over statements": [
            Held.of(*pair)
            for pair in zip((within.left, within.right, within.total), of.bias(0), strict=True)
        ],
        "bias difference over statements": Held.of(apart, 0.0),
    }


def with_recall(recall: float, turned: float = 0.0) -> FloatArray:
    """Return a reader's shares, (4, 5): a tenth of all answers is below the threshold. turned :
    share of disagreement that is read as agreement beside
    """
    wrong = (1 - recall) / (len(STANCES) - 1)
    found = np.hstack(
        [0.9 * (wrong + (recall - wrong) * np.eye(len(STANCES))), np.full((len(STANCES), 1), 0.1)]
    )
    found[1, :2] += turned, -turned
    return found


LEANING, SURE, RARE = (0.55, 0.2, 0.15, 0.1), (0.97, 0.01, 0.01, 0.01), (0.55, 0.04, 0.31, 0.1)
SMALL, EDGE, WIDE = Study(2, 4, 2.0, LEANING), Study(12, 12, 1.0, SURE), Study(10, 16, 2.0, LEANING)

ALIKE = replace(WIDE, spread=60.0)
UNEQUAL = with_recall(0.97), with_recall(0.75, 0.15)
"of two models, the second of which has its disagreement read as agreement"

SCENARIOS = (
    Scenario("4 left and 8 right statements", "small n", lambda rng: read_well(rng, SMALL)),
    Scenario(
        "24 statements a side, nearly all answers alike",
        "ties or boundaries",
        lambda rng: read_well(rng, EDGE),
    ),
    Scenario(
        "20 left and 32 right statements, each answered in its own way",
        "clustering",
        lambda rng: read_well(rng, WIDE),
    ),
    Scenario(
        "one source and prefix of 6 left and 8 right statements, wordings answered in their "
        "own way",
        "small n",
        lambda rng: parts(rng, Study(6, 8, 2.0, LEANING, alike=4.0)),
    ),
    Scenario(
        "4 left and 8 right statements, recall .97 and .75, 200 labels",
        "small n",
        lambda rng: corrected(rng, SMALL, 200, UNEQUAL),
    ),
    Scenario(
        "24 statements a side, nearly all answers alike, recall .97 and .75, 400 labels",
        "ties or boundaries",
        lambda rng: corrected(rng, EDGE, 400, UNEQUAL),
    ),
    *(
        Scenario(
            f"20 left and 32 right statements, recall .97 and .75, {labels} labels",
            "clustering",
            partial(corrected, of=WIDE, labels=labels, reads=UNEQUAL),
        )
        for labels in (40, 100, 400)
    ),
    *(
        Scenario(
            "20 left and 32 right statements, disagreement rare, recall .97 and .75, "
            f"{labels} labels",
            "ties or boundaries",
            partial(corrected, of=replace(WIDE, stances=RARE), labels=labels, reads=UNEQUAL),
        )
        for labels in (100, 400)
    ),
    Scenario(
        "20 left and 32 right statements answered alike, recall .97 and .75, 100 labels",
        "small n",
        lambda rng: corrected(rng, ALIKE, 100, UNEQUAL),
    ),
)
