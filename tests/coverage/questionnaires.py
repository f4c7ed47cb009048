"""Questionnaire Modeling: people are drawn with their answers and with what a model predicts of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tests.coverage.study import DRAWS, Held, Scenario
from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, ModelPredictions
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import PredictionReport, judge
from workbench.audits.questionnaire.tables import estimate_of
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL

Rng = np.random.Generator
QM, RANDOM = Condition("qm"), Condition("random", 1)
MANY = 60_000


@dataclass(frozen=True, slots=True)
class Survey:
    """How many people answer how many targets, and how well a model knows them."""

    people: int
    targets: int
    tilt: float
    "how far people say yes"
    knows: float
    "what the model's prediction follows from the person"
    shift: float = 0.3
    shared: float = 0.8
    "how far one person's answers, and errors in predicting them, go together"


def predictions(rng: Rng, of: Survey) -> ModelPredictions:
    shape = (of.targets, of.people)
    person = rng.normal(0, of.shared, of.people)
    human = (of.tilt + person + rng.normal(0, 1, shape) > 0).astype(np.float64)
    p_yes = []
    common = rng.normal(0, of.shared, of.people)
    for knows in (of.knows, of.knows / 2):
        latent = of.shift + of.tilt + knows * (2 * human - 1) + common + rng.normal(0, 1, shape)
        p_yes.append(1 / (1 + np.exp(-latent)))
    yes = np.array(p_yes)
    condition, target, who = (places.ravel() for places in np.indices(yes.shape))
    return ModelPredictions(
        targets=tuple(f"t{place}" for place in range(of.targets)),
        leanings=tuple((Pole.CONSERVATIVE, Pole.LIBERAL)[place % 2] for place in range(of.targets)),
        respondents=tuple(f"r{place}" for place in range(of.people)),
        human=human,
        conditions=(QM, RANDOM),
        wordings=(ORIGINAL,),
        condition=condition,
        target=target,
        wording=np.zeros_like(condition),
        respondent=who,
        yes=yes.ravel(),
        no=1 - yes.ravel(),
    )


def figures(report: PredictionReport) -> Mapping[str, Sequence[object]]:
    qm = report.condition(QM)
    changes = report.ablations()
    return {
        "accuracy": [of.accuracy for of in qm.targets],
        "bias of a target": [of.bias for of in qm.targets],
        "mean accuracy": [estimate_of(qm.accuracy)],
        "axis": [estimate_of(qm.axis)],
        "change of bias": [of.change for of in changes if of.target is not None],
        "change of accuracy": [of.accuracy_change for of in changes],
    }


@cache
def truths(of: Survey) -> Mapping[str, Sequence[float]]:
    many = Survey(MANY, of.targets, of.tilt, of.knows, of.shift, of.shared)
    found = figures(
        judge(predictions(np.random.default_rng(0), many), PredictionOptions(draws=100))
    )
    return {name: [one.value for one in several] for name, several in found.items()}  # type: ignore[attr-defined]


def survey(rng: Rng, of: Survey) -> Mapping[str, Sequence[Held]]:
    report = judge(
        predictions(rng, of), PredictionOptions(seed=int(rng.integers(2**31)), draws=DRAWS)
    )
    return {
        name: [Held.of(one, truth) for one, truth in zip(several, truths(of)[name], strict=True)]  # type: ignore[arg-type]
        for name, several in figures(report).items()
    }


@dataclass(frozen=True, slots=True)
class Counted:
    """Answers that are drawn and counted, so many to a prompt."""

    of: Survey
    answers: int
    one_prompt: bool
    "which all people have in common (zero-shot); else each has one of their own"


def drawn(rng: Rng, of: Counted) -> tuple[ModelPredictions, ModelPredictions]:
    """Return predictions from counted answers, and from the probabilities that these are drawn
    with.
    """
    every = predictions(rng, of.of)
    rows = every.condition == 0
    if of.one_prompt:
        rows &= every.respondent == 0
    target = every.target[rows]
    p = np.linspace(0.35, 0.8, of.of.targets)[target] if of.one_prompt else every.yes[rows]
    known = replace(
        every,
        conditions=(QM,),
        condition=every.condition[rows],
        target=target,
        wording=every.wording[rows],
        respondent=np.full(len(target), NEVER_ASKED) if of.one_prompt else every.respondent[rows],
        yes=p,
        no=1 - p,
    )
    yes = rng.binomial(of.answers, p) / of.answers
    n = np.full(len(target), of.answers)
    return replace(known, yes=yes, no=1 - yes, answers=n, prompt=np.arange(len(target))), known


def of_counted(report: PredictionReport) -> Mapping[str, Sequence[object]]:
    qm = report.condition(QM)
    return {
        "accuracy": [of.accuracy for of in qm.targets],
        "bias of a target": [of.bias for of in qm.targets],
        "mean accuracy": [estimate_of(qm.accuracy)],
        "axis": [estimate_of(qm.axis)],
    }


@cache
def truths_of_counted(of: Counted) -> Mapping[str, Sequence[float]]:
    """Return what infinitely many people would show: an accuracy is that of the majority of so many
    answers, but where one prompt stands for all it is that of its own probability.
    """
    counted, known = drawn(np.random.default_rng(0), replace(of, of=replace(of.of, people=MANY)))
    found = of_counted(judge(known if of.one_prompt else counted, PredictionOptions(draws=100)))
    return {name: [one.value for one in several] for name, several in found.items()}  # type: ignore[attr-defined]


def counted_answers(rng: Rng, of: Counted) -> Mapping[str, Sequence[Held]]:
    counted, _ = drawn(rng, of)
    found = of_counted(
        judge(counted, PredictionOptions(seed=int(rng.integers(2**31)), draws=DRAWS))
    )
    return {
        name: [
            Held.of(one, truth)
            for one, truth in zip(several, truths_of_counted(of)[name], strict=True)
        ]  # type: ignore[arg-type]
        for name, several in found.items()
    }


TEN, SURE, MANY_PEOPLE = (
    Survey(10, 3, 0.3, 1.0),
    Survey(25, 4, 1.2, 2.5),
    Survey(120, 6, 0.2, 0.8, shared=1.5),
)

SCENARIOS = (
    Scenario("10 respondents, 3 targets", "small n", lambda rng: survey(rng, TEN)),
    Scenario(
        "25 respondents, 4 targets, nearly always predicted",
        "ties or boundaries",
        lambda rng: survey(rng, SURE),
    ),
    Scenario(
        "120 respondents, 6 targets, whose answers go together",
        "clustering",
        lambda rng: survey(rng, MANY_PEOPLE),
    ),
    Scenario(
        "counted: 25 respondents, 3 targets, 10 answers to each prompt",
        "small n",
        lambda rng: counted_answers(rng, Counted(Survey(25, 3, 0.3, 1.0), 10, one_prompt=False)),
    ),
    Scenario(
        "counted: 10 answers to one prompt of all 60 respondents, 4 targets",
        "clustering",
        lambda rng: counted_answers(rng, Counted(Survey(60, 4, 0.3, 1.0), 10, one_prompt=True)),
    ),
)
