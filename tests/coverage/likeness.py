"""Likeness of a model's answers to people's: questions are drawn, and people of a few kinds who answer all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from tests.coverage.study import Held, Scenario
from workbench.audits.representation.likeness import Likenesses, SurveyQuestion, difference, likeness
from workbench.domain.questionnaires import Meaning, Option, Question, Questionnaire, Respondent, Role, Scale
from workbench.stats.arrays import FloatArray
from workbench.stats.populations import Population, populations

Rng = np.random.Generator
WORDS = ("much", "some", "little", "none")
SCALE = Scale("amount", tuple(Option((word,), Meaning.STEP) for word in WORDS))
KINDS = {"A": (0.6, 0.3, 0.1), "B": (0.1, 0.3, 0.6)}
"group -> how many of its people are of each kind"


def drawn(rng: Rng, questions: int, apart: float, sharp: float) -> tuple[FloatArray, FloatArray]:
    """Return how each kind of people answers (questions, kinds, options), and how the model does (questions, options).

    apart : how differently the kinds of people answer
    sharp : how much one option is preferred to the others
    """
    base = np.log(rng.dirichlet([1.5] * 4, questions)) * sharp
    side = rng.choice([-1, 1], questions)[:, None] * np.linspace(-1, 1, 4)
    kinds = base[:, None] + apart * np.array([-1, 0, 1])[:, None] * side[:, None]
    model = base + 0.7 * side + rng.normal(0, 0.5, base.shape)
    shares = [np.exp(each) / np.exp(each).sum(axis=-1, keepdims=True) for each in (kinds, model)]
    return shares[0], shares[1]


@lru_cache
def truth(apart: float, sharp: float, group: str) -> float:
    """Return the mean likeness over all questions, to all people of a group."""
    kinds, model = drawn(np.random.default_rng(11), 200_000, apart, sharp)
    return float(likeness(model, np.array(KINDS[group]) @ kinds, "wasserstein", ordered=True).mean())


def asked(rng: Rng, questions: int, people: int, apart: float, sharp: float, heavy: float) -> Likenesses:
    """Return what a model is like, by so many people of each group. heavy : spread of the logarithms of weights"""
    kinds, model = drawn(rng, questions, apart, sharp)
    refs = [f"q{at}" for at in range(questions)]
    everyone = []
    for group, shares in KINDS.items():
        for n in range(people):
            cumulated = kinds[:, rng.choice(3, p=shares)].cumsum(axis=1)
            codes = (rng.random(questions)[:, None] > cumulated[:, :-1]).sum(axis=1)
            answers = {ref: WORDS[code] for ref, code in zip(refs, codes, strict=True)}
            everyone.append(Respondent(f"{group}{n}", answers, float(np.exp(heavy * rng.normal())), {"group": group}))
    of = dict.fromkeys(refs, SurveyQuestion(WORDS, True))
    whole = Questionnaire(tuple(Question(ref, Role.SURVEY, scale="amount") for ref in refs), (SCALE,), tuple(everyone))
    said = dict(zip(refs, model, strict=True))
    return Likenesses(said, dict.fromkeys(refs, 0), of, populations(whole, of, (), 2), "wasserstein", 1, 100)


def once(rng: Rng, questions: int, people: int, apart: float, sharp: float, heavy: float = 0.0) -> Mapping[str, Held]:
    """One repetition: the likeness to the group A, and how much nearer it is than B."""
    of = asked(rng, questions, people, apart, sharp, heavy)
    _, a, b = of.populations
    noise = [*_noise(of, a), *_noise(of, b)]
    true = {group: truth(apart, sharp, group) for group in KINDS}
    return {
        "likeness to people": Held.of(of.to(a), true["A"]),
        "difference of likeness": Held.of(difference(of.of(a) - of.of(b), noise)[0], true["A"] - true["B"]),
    }


def _noise(of: Likenesses, population: Population) -> list[FloatArray]:
    return of.noise(population, (of.answers, 1))


SCENARIOS = (
    Scenario("8 questions, 50 people of each group", "small n", lambda rng: once(rng, 8, 50, 0.8, 1.0)),
    Scenario("20 questions that most people answer alike, 200 people of each group", "ties or boundaries",
             lambda rng: once(rng, 20, 200, 0.3, 2.5)),
    Scenario("40 questions, 150 people whose kind decides and who weigh differently", "clustering",
             lambda rng: once(rng, 40, 150, 2.0, 1.0, 0.7)),
    Scenario("60 questions, 400 people of each group", "typical", lambda rng: once(rng, 60, 400, 0.8, 1.0)),
)  # fmt: skip
