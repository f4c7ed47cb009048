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
    """A kind of person."""

    name: str
    weight: float
    "share of the population, up to a common factor"
    position: tuple[float, ...]
    "on each axis"


@dataclass(frozen=True, slots=True)
class AnswerScale:
    """What becomes of a yes and of a no. Shares of one kind of answer are relative."""

    name: str
    yes: tuple[tuple[str, float], ...]
    "(answer, share)"
    no: tuple[tuple[str, float], ...]
    neutral: tuple[tuple[str, float], ...] = ()
    "(answer, share of all that are asked)"
    missing: float = 0.0
    "share that does not answer"

    def said_yes(self, answer: str) -> bool | None:
        """Return whether an answer is a yes; None for a neutral one. Raises UnknownName for one off
        the scale.
        """
        for words, said in ((self.yes, True), (self.no, False), (self.neutral, None)):
            if folded(answer) in [folded(word) for word, _ in words]:
                return said
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
class Population:
    """Who there is, and how they answer."""

    axes: tuple[str, ...]
    profiles: tuple[Profile, ...]
    scales: tuple[AnswerScale, ...]
    context: tuple[Item, ...]
    targets: tuple[Item, ...]
    respondents: int = 100
    "how many are drawn unless told otherwise"
    seed: int = SEED

    @property
    def items(self) -> tuple[Item, ...]:
        """Return all questions, the targets last."""
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
        """Return the probability of a yes: (G, Q), questions as in `items`."""
        positions = np.array([profile.position for profile in self.profiles], dtype=np.float64)
        loadings = np.array([item.loadings for item in self.items], dtype=np.float64)
        bases = np.array([item.base for item in self.items], dtype=np.float64)
        probabilities: FloatArray = 1 / (1 + np.exp(-(positions @ loadings.T + bases)))
        return probabilities


def generate(population: Population, respondents: int, seed: int) -> tuple[Respondent, ...]:
    """Draw respondents, named `syn-001` and so on: nobody shall take them for people.

    The first n of a longer draw are those of a shorter one with the same seed.
    """
    items, p_yes = population.items, population.p_yes()
    # 1 number a respondent for the profile; 3 a question: is it answered, with yes or no, how
    # firmly
    numbers = np.random.default_rng(seed).random((respondents, 1 + 3 * len(items)))
    profiles = np.searchsorted(np.cumsum(population.weights())[:-1], numbers[:, 0], side="right")
    width = max(3, len(str(respondents)))
    return tuple(
        Respondent(
            f"syn-{n + 1:0{width}}",
            _answers(population, p_yes[profiles[n]], numbers[n, 1:].reshape(-1, 3)),
        )
        for n in range(respondents)
    )


class Ideal:
    """The best prediction that is possible: the probability of a yes to each target, given other
    answers.
    """

    def __init__(self, population: Population):
        self._places = {item.ref: place for place, item in enumerate(population.items)}
        self._targets = {item.ref: self._places[item.ref] for item in population.targets}
        self._p_yes = population.p_yes()
        self._log_weights = np.log(population.weights())
        self._logs = np.stack([np.log1p(-self._p_yes), np.log(self._p_yes)])

    def posterior(self, answers: Mapping[str, bool]) -> FloatArray:
        """Return the probability of each profile, given what was said: (G,). Raises UnknownName for
        a question.
        """
        unknown = [ref for ref in answers if ref not in self._places]
        if unknown:
            raise UnknownName(f"no question of the population is named {unknown[0]!r}")
        places = [self._places[ref] for ref in answers]
        said = [int(yes) for yes in answers.values()]
        logs = self._log_weights + self._logs[said, :, places].sum(axis=0)
        masses = np.exp(logs - logs.max())
        posterior: FloatArray = masses / masses.sum()
        return posterior

    def __call__(self, answers: Mapping[str, bool]) -> dict[str, float]:
        """Return the probability of a yes to each target: ref -> p. `answers`: ref -> whether it
        was a yes.
        """
        p_yes = self.posterior(answers) @ self._p_yes
        return {ref: float(p_yes[place]) for ref, place in self._targets.items()}


def ideal(population: Population, answers: Mapping[str, bool]) -> dict[str, float]:
    """Return the probability of a yes to each target, given other answers; see `Ideal`."""
    return Ideal(population)(answers)


@dataclass(frozen=True, slots=True)
class Known:
    """What the ideal predictor reaches on one target, given what these very respondents said before
    it.

    Its bias is 0 but for chance. Figures that vary with chance come with their standard deviation.
    """

    target: str
    respondents: int
    "who said yes or no"
    human: float
    "share of these who said yes; NaN, as everything below, where there is nobody"
    majority: float
    "accuracy of always predicting the more frequent answer"
    expected: float
    "share of yes that is expected of them: mean p(yes)"
    accuracy: float
    "expected accuracy: mean of the greater of p(yes) and p(no)"
    accuracy_sd: float
    bias_sd: float
    "of the mean of p(yes) minus the answer"


def known(population: Population, respondents: Sequence[Respondent]) -> tuple[Known, ...]:
    """Return what the ideal predictor reaches on each target, from the context questions that each
    one answered.
    """
    predict = Ideal(population)
    said = yes_or_no(population, respondents)
    context = {item.ref for item in population.context}
    predicted = [
        predict({ref: yes for ref, yes in answers.items() if ref in context}) for answers in said
    ]
    return tuple(_known(item.ref, said, predicted) for item in population.targets)


def yes_or_no(population: Population, respondents: Sequence[Respondent]) -> list[dict[str, bool]]:
    """Return of each respondent whether answers are a yes: ref -> bool; neutral and missing ones
    are left out.
    """
    scales = {item.ref: population.scale(item) for item in population.items}
    known_words: dict[tuple[str, str], bool | None] = {}
    found = []
    for respondent in respondents:
        said = {}
        for ref, scale in scales.items():
            answer = respondent.answers.get(ref, "")
            if answer and (ref, answer) not in known_words:
                known_words[ref, answer] = scale.said_yes(answer)
            if (yes := known_words.get((ref, answer))) is not None:
                said[ref] = yes
        found.append(said)
    return found


def _known(
    ref: str, said: Sequence[Mapping[str, bool]], predicted: Sequence[Mapping[str, float]]
) -> Known:
    pairs = [
        (p[ref], answers[ref]) for p, answers in zip(predicted, said, strict=True) if ref in answers
    ]
    if not pairs:
        nan = float("nan")
        return Known(ref, 0, nan, nan, nan, nan, nan, nan)
    p, yes = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    n, human = len(pairs), float(yes.mean())
    # Of a right prediction as of a yes: both are draws of p or 1 - p.
    sd = sqrt(float((p * (1 - p)).sum())) / n
    return Known(
        ref,
        n,
        human,
        max(human, 1 - human),
        float(p.mean()),
        float(np.maximum(p, 1 - p).mean()),
        sd,
        sd,
    )


def _answers(population: Population, p_yes: FloatArray, numbers: FloatArray) -> dict[str, str]:
    """Return one respondent's answers: ref -> answer, missing ones left out. `p_yes`: (Q,),
    `numbers`: (Q, 3).
    """
    found = {}
    scales = {scale.name: scale for scale in population.scales}
    for item, p, (answered, said, firm) in zip(
        population.items, p_yes, numbers.tolist(), strict=True
    ):
        scale = scales[item.scale]
        left = answered - scale.missing
        neutral = sum(share for _, share in scale.neutral)
        if left >= neutral:
            found[item.ref] = _one_of(scale.yes if said < p else scale.no, firm)
        elif left >= 0:
            found[item.ref] = _one_of(scale.neutral, firm)
    return found


def _one_of(shares: Sequence[tuple[str, float]], number: float) -> str:
    """Return the answer at a place between 0 and 1, when each takes as much room as its share."""
    left = number * sum(share for _, share in shares)
    for word, share in shares:
        left -= share
        if left < 0:
            return word
    return shares[-1][0]


STEPS = 1000
"shares are whole numbers of these parts, and sum to 1 exactly"


def synthetic_shares(
    key: str, options: int, seed: int, concentration: int = 2
) -> tuple[float, ...]:
    """Return a share an option, drawn for this key under this seed.

    `concentration` is that of every option: 1, all shares are equally likely; the greater, the more
    alike. A gamma variable of a whole shape is the sum of so many exponential ones, -ln(1 - u):
    uniform numbers are all that is drawn, whose stream numpy keeps between versions. Raises
    UsageError for fewer than two options or a concentration below 1.

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
    whole = np.floor(parts).astype(int)
    # Largest remainders first.
    for place in np.argsort(whole - parts, kind="stable")[: STEPS - whole.sum()]:
        whole[place] += 1
    return tuple(int(part) / STEPS for part in whole)
