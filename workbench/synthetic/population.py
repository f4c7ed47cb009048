"""A population of which everything is known: a latent class model of who answers what.

Everyone belongs to one of G profiles, which nobody sees. Given the profile g, answers to different
questions are independent, and question q is answered with yes with probability

    p(g, q) = 1 / (1 + exp(-(base_q + sum over axes of loading_q * position_g)))

So what a person's other answers tell about a target has a closed form, which no predictor can beat:

    P(yes to t | answers) = sum over g of P(g | answers) p(g, t)

Lazarsfeld, Henry 1968, "Latent Structure Analysis". How firm an answer is, and whether there is
one, depends on the scale alone and so tells nothing about the profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.domain.keys import SEED
from workbench.domain.questionnaires import folded
from workbench.errors import UnknownName
from workbench.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Profile:
    """A latent class of respondents."""

    name: str
    weight: float
    "share of the population, up to a common factor"
    position: tuple[float, ...]
    "on each axis"


@dataclass(frozen=True, slots=True)
class AnswerScale:
    """The answers that stand for a yes and for a no. Shares of one kind of answer are relative."""

    name: str
    yes: tuple[tuple[str, float], ...]
    "(answer, share)"
    no: tuple[tuple[str, float], ...]
    neutral: tuple[tuple[str, float], ...] = ()
    "(answer, share of all that are asked)"
    missing: float = 0.0
    "share that does not answer"

    def said_yes(self, answer: str) -> bool | None:
        """Return whether an answer is a yes, or None if it is neutral.

        Raises UnknownName for an answer that is not on the scale.
        """
        for answers, is_yes in ((self.yes, True), (self.no, False), (self.neutral, None)):
            if folded(answer) in [folded(word) for word, _ in answers]:
                return is_yes
        raise UnknownName(f"{answer!r} is none of the answers of the scale {self.name}")


@dataclass(frozen=True, slots=True)
class Item:
    """A question as the population answers it."""

    ref: str
    scale: str
    base: float
    "log-odds of a yes in the middle of all axes"
    loadings: tuple[float, ...]
    "by how much the log-odds rise along each axis"


@dataclass(frozen=True, slots=True)
class SyntheticPopulation:
    """The profiles of a population, and the questions that they answer."""

    axes: tuple[str, ...]
    profiles: tuple[Profile, ...]
    scales: tuple[AnswerScale, ...]
    context: tuple[Item, ...]
    targets: tuple[Item, ...]
    respondents: int = 100
    "number that is drawn by default"
    seed: int = SEED

    @property
    def items(self) -> tuple[Item, ...]:
        """All questions, the targets last."""
        return self.context + self.targets

    def scale(self, item: Item) -> AnswerScale:
        """Return the scale of a question."""
        return next(scale for scale in self.scales if scale.name == item.scale)

    def weights(self) -> FloatArray:
        """Return the share of each profile: (G,)."""
        weights: FloatArray = np.array(
            [profile.weight for profile in self.profiles], dtype=np.float64
        )
        shares: FloatArray = weights / weights.sum()
        return shares

    def p_yes(self) -> FloatArray:
        """Return the probability of a yes: (G, Q), with questions as in `items`."""
        positions = np.array([profile.position for profile in self.profiles], dtype=np.float64)
        loadings = np.array([item.loadings for item in self.items], dtype=np.float64)
        bases = np.array([item.base for item in self.items], dtype=np.float64)
        probabilities: FloatArray = 1 / (1 + np.exp(-(positions @ loadings.T + bases)))
        return probabilities


class Ideal:
    """The best possible prediction of targets: the probability of a yes, given other answers."""

    def __init__(self, population: SyntheticPopulation):
        self._places = {item.ref: index for index, item in enumerate(population.items)}
        self._targets = {item.ref: self._places[item.ref] for item in population.targets}
        self._p_yes = population.p_yes()
        self._log_weights = np.log(population.weights())
        self._logs = np.stack([np.log1p(-self._p_yes), np.log(self._p_yes)])

    def posterior(self, answers: Mapping[str, bool]) -> FloatArray:
        """Return the probability of each profile, given answers to questions: (G,).

        Raises UnknownName for an unknown question.
        """
        unknown = [ref for ref in answers if ref not in self._places]
        if unknown:
            raise UnknownName(f"no question of the population is named {unknown[0]!r}")
        question_indices = [self._places[ref] for ref in answers]
        yes_indices = [int(yes) for yes in answers.values()]
        logs = self._log_weights + self._logs[yes_indices, :, question_indices].sum(axis=0)
        masses = np.exp(logs - logs.max())
        posterior: FloatArray = masses / masses.sum()
        return posterior

    def __call__(self, answers: Mapping[str, bool]) -> dict[str, float]:
        """Return the probability of a yes to each target: ref -> p.

        `answers` has whether each answer was a yes, by ref.
        """
        p_yes = self.posterior(answers) @ self._p_yes
        return {ref: float(p_yes[index]) for ref, index in self._targets.items()}
