"""Likeness of a model's answers to people's: questions are drawn, and people of a few kinds who
answer all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from tests.coverage.study import Held, Kind, Scenario
from workbench.audits.representation.likeness import (
    ComparedQuestion,
    Likenesses,
    difference,
    likeness,
)
from workbench.domain.questionnaires import (
    AnswerOption,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
)
from workbench.stats.arrays import FloatArray
from workbench.stats.populations import CodedPeople, Population, populations

Rng = np.random.Generator
WORDS = ("much", "some", "little", "none")
SCALE = Scale("amount", tuple(AnswerOption((word,), Meaning.STEP) for word in WORDS))
KINDS = {"A": (0.6, 0.3, 0.1), "B": (0.1, 0.3, 0.6)}
"group -> how many of its people are of each kind"


def drawn(rng: Rng, questions: int, apart: float, sharp: float) -> tuple[FloatArray, FloatArray]:
    """Return how each kind of people answers (questions, kinds, options), and how the model does
    (questions, options).

    apart : how differently the kinds of people answer
    sharp : how much one option is preferred to the others
    """
    base = np.log(rng.dirichlet([1.5] * 4, questions)) * sharp
    side = rng.choice([-1, 1], questions)[:, None] * np.linspace(-1, 1, 4)
    kinds = base[:, None] + apart * np.array([-1, 0, 1])[:, None] * side[:, None]
    model = base + 0.7 * side + rng.normal(0, 0.5, base.shape)
    shares = [np.exp(each) / np.exp(each).sum(axis=-1, keepdims=True) for each in (kinds, model)]
    return shares[0], shares[1]


@dataclass(frozen=True)
class World:
    """How people and a model answer. A value of `near` is how far the model strays from the people
    of A.
    """

    questions: int
    people: tuple[int, int]
    "of A and of B"
    apart: float
    sharp: float
    heavy: float = 0.0
    "spread of the logarithms of weights"
    letters: int = 0
    "that the model gave to each question; 0: its probabilities are known"
    near: float | None = None
    "None: the model is no nearer to A than to B but for the side that it takes"

    def shares(self, rng: Rng, questions: int) -> tuple[FloatArray, FloatArray]:
        """Return how the kinds of people and the model answer so many questions."""
        kinds, model = drawn(rng, questions, self.apart, self.sharp)
        if self.near is not None:
            model = np.array(KINDS["A"]) @ kinds * np.exp(rng.normal(0, self.near, model.shape))
            model /= model.sum(axis=-1, keepdims=True)
        return kinds, model


@dataclass(frozen=True)
class Truth:
    """The mean likeness over all questions."""

    to_a: float
    to_b: float
    even_to_a: float

    @property
    def above_chance(self) -> float:
        """The likeness to A between that of letters at random and that of the people of A."""
        return 1 - (1 - self.to_a) / (1 - self.even_to_a)


@lru_cache
def truth(world: World) -> Truth:
    """Return what the intervals should hold."""
    kinds, model = world.shares(np.random.default_rng(11), 200_000)
    groups = [np.array(KINDS[group]) @ kinds for group in KINDS]
    alike = [float(likeness(model, group, "wasserstein", ordered=True).mean()) for group in groups]
    even = likeness(np.full(4, 0.25), groups[0], "wasserstein", ordered=True).mean()
    return Truth(alike[0], alike[1], float(even))


def asked(rng: Rng, world: World) -> Likenesses:
    """Return what a model is like, by some people of each group."""
    kinds, model = world.shares(rng, world.questions)
    refs = [f"q{at}" for at in range(world.questions)]
    codes: list[FloatArray] = []
    for n, shares in zip(world.people, KINDS.values(), strict=True):
        of_people = kinds[:, rng.choice(3, n, p=shares)].cumsum(axis=2)
        codes.append(
            (rng.random((world.questions, n))[:, :, None] > of_people[:, :, :-1]).sum(axis=2)
        )
    weights = np.exp(world.heavy * rng.normal(size=sum(world.people)))
    groups = np.repeat(np.array(list(KINDS), dtype=object), world.people)
    every = np.concatenate(codes, axis=1)
    people = CodedPeople(dict(zip(refs, every, strict=True)), weights, {"group": groups})
    of = dict.fromkeys(refs, ComparedQuestion(WORDS, True))
    whole = Questionnaire(
        tuple(Question(ref, QuestionRole.SURVEY, scale="amount") for ref in refs), (SCALE,), ()
    )
    if world.letters:
        model = rng.multinomial(world.letters, model) / world.letters
    said, letters = dict(zip(refs, model, strict=True)), dict.fromkeys(refs, world.letters)
    return Likenesses(
        said, letters, of, populations(whole, of, (), 2, people), "wasserstein", 1, 100
    )


def once(rng: Rng, world: World) -> Mapping[str, Held]:
    """One repetition: the likeness to the group A, and how much nearer it is than B."""
    of, true = asked(rng, world), truth(world)
    _, a, b = of.populations
    noise = [*_noise(of, a), *_noise(of, b)]
    nearer, farther = of.at_equal_n([a, b])
    alone = replace(of, populations=[a])
    return {
        "likeness to people": Held.of(of.to_population(a), true.to_a),
        "likeness above chance": Held.of(alone.above_chance, true.above_chance),
        "difference of likeness": Held.of(difference(nearer - farther, noise)[0], expected(world)),
    }


@lru_cache
def expected(world: World) -> float:
    """Return how much nearer A is than B, if as many people of both are asked as of the smaller
    group.
    """
    true = truth(world)
    if world.people[0] == world.people[1] and not world.letters:
        return true.to_a - true.to_b
    rng, gaps = np.random.default_rng(12), []
    for _ in range(20):
        kinds, model = world.shares(rng, 2_000)
        if world.letters:
            model = rng.multinomial(world.letters, model) / world.letters
        alike = []
        for shares in KINDS.values():
            q = np.array(shares) @ kinds
            n = min(world.people)
            alike.append(
                likeness(model, rng.multinomial(n, q) / n, "wasserstein", ordered=True).mean()
            )
        gaps.append(float(alike[0] - alike[1]))
    return float(np.mean(gaps))


def _noise(of: Likenesses, population: Population) -> Sequence[FloatArray]:
    return of.noise(population, (of.answers, 1))


WORLDS: tuple[tuple[str, Kind, World], ...] = (
    ("8 questions, 50 people of each group", "small n", World(8, (50, 50), 0.8, 1.0)),
    (
        "20 questions that most people answer alike, 200 people of each group",
        "ties or boundaries",
        World(20, (200, 200), 0.3, 2.5),
    ),
    (
        "40 questions, 150 people whose kind decides and who weigh differently",
        "clustering",
        World(40, (150, 150), 2.0, 1.0, 0.7),
    ),
    ("60 questions, 400 people of each group", "typical", World(60, (400, 400), 0.8, 1.0)),
    ("60 questions, 1,500 and 40 people", "small n", World(60, (1_500, 40), 0.8, 1.0)),
    ("60 questions, 40 and 1,500 people", "small n", World(60, (40, 1_500), 0.8, 1.0)),
    (
        "60 questions, a model near 400 people, 100 letters to each",
        "ties or boundaries",
        World(60, (400, 400), 0.8, 1.0, letters=100, near=0.15),
    ),
    (
        "60 questions, a model near 40 people, of the others 1,500, 50 letters to each",
        "ties or boundaries",
        World(60, (40, 1_500), 0.8, 1.0, letters=50, near=0.15),
    ),
    (
        "60 questions, 400 people of each group, 50 letters to each",
        "typical",
        World(60, (400, 400), 0.8, 1.0, letters=50),
    ),
)
SCENARIOS = tuple(Scenario(name, kind, partial(once, world=world)) for name, kind, world in WORLDS)
