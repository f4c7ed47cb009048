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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from workbench.domain.keys import SEED
from workbench.domain.questionnaires import Respondent, folded
from workbench.errors import UnknownName, UsageError
from workbench.stats.arrays import FloatArray
from workbench.stats.resampling import derive_rng


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


def generate(
    population: SyntheticPopulation, respondents: int, seed: int
) -> tuple[Respondent, ...]:
    """Draw respondents with names such as `syn-001`, so that nobody takes them for people.

    The first n of a longer draw are those of a shorter one with the same seed.
    """
    items, p_yes = population.items, population.p_yes()
    # one number per respondent for the profile, and three per question:
    # whether it is answered, whether with yes or no, and how firmly
    numbers = np.random.default_rng(seed).random((respondents, 1 + 3 * len(items)))
    profiles = np.searchsorted(np.cumsum(population.weights())[:-1], numbers[:, 0], side="right")
    width = max(3, len(str(respondents)))
    return tuple(
        Respondent(
            f"syn-{index + 1:0{width}}",
            _answers(population, p_yes[profiles[index]], numbers[index, 1:].reshape(-1, 3)),
        )
        for index in range(respondents)
    )


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


def ideal(population: SyntheticPopulation, answers: Mapping[str, bool]) -> dict[str, float]:
    """Return the probability of a yes to each target, given other answers.

    See `Ideal`.
    """
    return Ideal(population)(answers)


@dataclass(frozen=True, slots=True)
class IdealScore:
    """The score of the ideal predictor on one target, given these respondents' earlier answers.

    Its bias is 0 but for chance. Figures that vary with chance have a standard deviation.
    """

    target: str
    respondents: int
    "number of those who said yes or no"
    human: float
    "share of these who said yes; without any, NaN, as is everything below"
    majority: float
    "accuracy of always predicting the more frequent answer"
    expected: float
    "share of yes that is expected of them: mean p(yes)"
    accuracy: float
    "expected accuracy: mean of the greater of p(yes) and p(no)"
    accuracy_sd: float
    bias_sd: float
    "of the mean of p(yes) minus the answer"


def known(
    population: SyntheticPopulation, respondents: Sequence[Respondent]
) -> tuple[IdealScore, ...]:
    """Return the score of the ideal predictor on each target.

    It predicts from the context questions that each respondent answered.
    """
    predict = Ideal(population)
    answers_as_yes = yes_or_no(population, respondents)
    context = {item.ref for item in population.context}
    predictions = [
        predict({ref: yes for ref, yes in answers.items() if ref in context})
        for answers in answers_as_yes
    ]
    return tuple(_known(item.ref, answers_as_yes, predictions) for item in population.targets)


def yes_or_no(
    population: SyntheticPopulation, respondents: Sequence[Respondent]
) -> list[dict[str, bool]]:
    """Return whether answers are a yes, by ref and for each respondent.

    Neutral and missing answers are left out.
    """
    scales = {item.ref: population.scale(item) for item in population.items}
    is_yes_by_answer: dict[tuple[str, str], bool | None] = {}
    rows = []
    for respondent in respondents:
        is_yes_by_ref = {}
        for ref, scale in scales.items():
            answer = respondent.answers.get(ref, "")
            if answer and (ref, answer) not in is_yes_by_answer:
                is_yes_by_answer[ref, answer] = scale.said_yes(answer)
            if (yes := is_yes_by_answer.get((ref, answer))) is not None:
                is_yes_by_ref[ref] = yes
        rows.append(is_yes_by_ref)
    return rows


def _known(
    ref: str, answers_as_yes: Sequence[Mapping[str, bool]], predicted: Sequence[Mapping[str, float]]
) -> IdealScore:
    pairs = [
        (prediction[ref], answers[ref])
        for prediction, answers in zip(predicted, answers_as_yes, strict=True)
        if ref in answers
    ]
    if not pairs:
        nan = float("nan")
        return IdealScore(ref, 0, nan, nan, nan, nan, nan, nan)
    p, yes = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    n, human = len(pairs), float(yes.mean())
    # Of a right prediction as of a yes: both are draws of p or 1 - p.
    sd = sqrt(float((p * (1 - p)).sum())) / n
    return IdealScore(
        ref,
        n,
        human,
        max(human, 1 - human),
        float(p.mean()),
        float(np.maximum(p, 1 - p).mean()),
        sd,
        sd,
    )


def _answers(
    population: SyntheticPopulation, p_yes: FloatArray, numbers: FloatArray
) -> dict[str, str]:
    """Return the answers of one respondent by ref.

    Missing ones are left out.

    `p_yes` is (Q,), `numbers` is (Q, 3).
    """
    answers = {}
    scales = {scale.name: scale for scale in population.scales}
    for item, p, (answer_number, yes_number, firmness_number) in zip(
        population.items, p_yes, numbers.tolist(), strict=True
    ):
        scale = scales[item.scale]
        position = answer_number - scale.missing
        neutral = sum(share for _, share in scale.neutral)
        if position >= neutral:
            answers[item.ref] = _one_of(scale.yes if yes_number < p else scale.no, firmness_number)
        elif position >= 0:
            answers[item.ref] = _one_of(scale.neutral, firmness_number)
    return answers


def _one_of(shares: Sequence[tuple[str, float]], number: float) -> str:
    """Return the answer at a position between 0 and 1, where each has as much room as its share."""
    remaining = number * sum(share for _, share in shares)
    for answer, share in shares:
        remaining -= share
        if remaining < 0:
            return answer
    return shares[-1][0]


STEPS = 1000
"shares are whole numbers of these parts, and sum to 1 exactly"


def synthetic_shares(
    key: str, options: int, seed: int, concentration: int = 2
) -> tuple[float, ...]:
    """Return a share for each option, drawn for this key under this seed.

    `concentration` is that of every option. With 1, all shares are equally likely. The greater it
    is, the more alike the shares are.

    A gamma variable of a whole shape is the sum of as many exponential ones, -ln(1 - u). Only
    uniform numbers are drawn, as numpy keeps their stream between versions.

    Raises UsageError for fewer than two options or a concentration below 1.

    Examples
    --------
    >>> sum(synthetic_shares("parks", 5, seed=8))
    1.0
    """
    if options < 2 or concentration < 1:
        raise UsageError(
            f"found {options} options and concentration {concentration}; give 2 or more, and 1 "
            "or more"
        )
    uniform = derive_rng(seed, "answer shares", key).random((options, concentration))
    gamma = -np.log1p(-uniform).sum(axis=1)
    parts = STEPS * gamma / gamma.sum()
    whole_parts = np.floor(parts).astype(int)
    # Largest remainders first.
    for index in np.argsort(whole_parts - parts, kind="stable")[: STEPS - whole_parts.sum()]:
        whole_parts[index] += 1
    return tuple(int(part) / STEPS for part in whole_parts)
