"""How like two distributions of answers are, and which population a model is nearest to.

Answers are distributions over the options of a question, from the first to the last. The likeness of a model to a
population is the mean over questions of 1 - d, d a distance in [0, 1]; questions are what its interval is over.

References
----------
Santurkar, Durmus, Ladhak, Lee, Liang, Hashimoto 2023, Whose Opinions Do Language Models Reflect?, section 3.1 (1 -
Wasserstein; representativeness). Durmus et al. 2023, Towards Measuring the Representation of Subjective Global Opinions
in Language Models, section 3 (1 - Jensen-Shannon distance). Kish 1965, Survey Sampling (effective number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.audits.response_bias.changes import mean_alignment
from workbench.domain.questionnaires import Meaning, Questionnaire, Scale
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray
from workbench.stats.describe import ordered_wasserstein
from workbench.stats.hypothesis_tests import mean_test
from workbench.stats.resampling import derive_rng
from workbench.stats.weights import WeightedShares, weighted_shares

NAN = float("nan")
EVERYBODY = "everybody"
STEP = 1e-4
"by how much one answer is given more weight to see what it changes"


def likeness(p: FloatArray, q: FloatArray, measure: str, *, ordered: bool) -> FloatArray:
    """Return 1 - d of distributions along the last axis; NaN where one of them has no weight.

    Options without an order are all 1 apart: Wasserstein's distance is then the total variation.

    Examples
    --------
    >>> a, b = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    >>> [float(likeness(a, b, m, ordered=True)) for m in ("wasserstein", "total_variation", "jensen_shannon")]
    [0.5, 0.0, 0.0]
    """
    if measure == "wasserstein" and ordered:
        return np.asarray(1 - ordered_wasserstein(p, q))
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (each / each.sum(axis=-1, keepdims=True) for each in np.broadcast_arrays(p, q))
        if measure != "jensen_shannon":
            return np.asarray(1 - np.abs(first - second).sum(axis=-1) / 2)
        middle = (first + second) / 2
        bits = [
            np.where(each > 0, each * np.log2(each / middle), np.where(each == 0, 0, each)) for each in (first, second)
        ]
    return np.asarray(1 - np.sqrt(np.clip((bits[0] + bits[1]).sum(axis=-1) / 2, 0, 1)))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is compared."""

    ref: str
    options: tuple[str, ...]
    "in the order of its scale"
    ordered: bool


def asked_of(scale: Scale, ref: str) -> Asked | None:
    """Return a question with the options that it offers; None where these are no choice: fewer than two, or over 26."""
    options = tuple(option.values[0] for option in scale.offered)
    return Asked(ref, options, scale.ordered) if 2 <= len(options) <= 26 else None


@dataclass(frozen=True, eq=False)
class Population:
    """How some people answered, question by question."""

    kind: str
    "what tells it from others: `country`; empty: everybody"
    value: str
    shares: Mapping[str, WeightedShares]
    "by the ref of the question; those with too few people are left out"
    codes: Mapping[str, NDArray[np.intp]]
    "ref -> each person's option, below 0: none; empty where only shares are known"
    weights: FloatArray
    "of the people"
    known: bool = True
    "whether the number of people is known; else shares count as exact"

    @property
    def name(self) -> str:
        return f"{self.kind}={self.value}" if self.kind else EVERYBODY

    @property
    def people(self) -> int:
        """The most people who answered a question."""
        return max((one.people for one in self.shares.values()), default=0)

    @property
    def effective(self) -> float:
        """The fewest people, as weighted, who answered a question; NaN where nobody knows."""
        return min((one.effective_n for one in self.shares.values()), default=NAN) if self.known else NAN

    @property
    def design_effect(self) -> float:
        """The mean over questions."""
        found = [one.design_effect for one in self.shares.values() if one.effective_n]
        return float(np.mean(found)) if found and self.known else NAN


def populations(
    people: Questionnaire, asked: Mapping[str, Asked], kinds: Sequence[str], least: int
) -> list[Population]:
    """Return everybody who answered, and every group; groups with no question that `least` people answered are left
    out. Published shares of unknown size count as those of enough people.
    """
    scales = {scale.name: scale for scale in people.scales}
    questions = {q.ref: scales[q.scale] for q in people.questions if q.ref in asked}
    places = {ref: {id(option): at for at, option in enumerate(scale.offered)} for ref, scale in questions.items()}

    def place(ref: str, value: str) -> int:
        option = questions[ref].option(value)
        return -1 if option is None or option.meaning is Meaning.MISSING else places[ref][id(option)]

    texts = {(ref, value) for one in people.respondents for ref, value in one.answers.items() if ref in questions}
    code = {(ref, value): place(ref, value) for ref, value in texts}
    codes = {
        ref: np.array([code.get((ref, one.answers.get(ref, "")), -1) for one in people.respondents], dtype=np.intp)
        for ref in questions
    }
    weights = np.array([one.weight for one in people.respondents])
    members: dict[tuple[str, str], list[int]] = {("", ""): list(range(len(weights)))}
    for at, one in enumerate(people.respondents):
        for kind, value in one.groups.items():
            members.setdefault((kind, value), []).append(at)
    found = []
    for (kind, value), these in members.items():
        own = {ref: of[these] for ref, of in codes.items()}
        shares = {ref: weighted_shares(of, weights[these], len(asked[ref].options)) for ref, of in own.items()}
        enough = {ref: one for ref, one in shares.items() if one.effective_n >= least}
        found.append(Population(kind, value, enough, own, weights[these]))
    found += _published(people, asked, place, least)
    return [one for one in found if one.shares and (not one.kind or not kinds or one.kind in kinds)]


def _published(people: Questionnaire, asked: Mapping[str, Asked], place: object, least: int) -> list[Population]:
    assert callable(place)
    of: dict[tuple[str, str], dict[str, WeightedShares]] = {}
    unknown = set()
    for one in people.published:
        if one.ref not in asked:
            continue
        sums = np.zeros(len(asked[one.ref].options))
        for answer, share in one.shares.items():
            if (at := place(one.ref, answer)) >= 0:
                sums[at] += share
        n = one.people or 0
        if sums.sum() > 0 and (one.people is None or n >= least):
            shares = WeightedShares(tuple(map(float, sums / sums.sum())), n, float(n))
            of.setdefault((one.group, one.value), {})[one.ref] = shares
            unknown |= {(one.group, one.value)} if one.people is None else set()
    none = np.empty(0)
    return [Population(*at, shares, {}, none, at not in unknown) for at, shares in of.items()]


@dataclass(frozen=True, eq=False)
class Likenesses:
    """How like one model's answers are to those of each population."""

    name: str
    answers: Mapping[str, FloatArray]
    "ref -> the model's distribution over the options"
    drawn: Mapping[str, int]
    "ref -> answers that it rests on; 0: they are probabilities"
    asked: Mapping[str, Asked]
    populations: Sequence[Population]
    measure: str
    seed: int
    draws: int

    @cached_property
    def refs(self) -> tuple[str, ...]:
        """The questions that the model answered, in order."""
        return tuple(ref for ref in self.asked if ref in self.answers)

    def of(self, population: Population, answers: Mapping[str, FloatArray] | None = None) -> FloatArray:
        """Return the likeness (questions,); NaN where too few people answered."""
        given = self.answers if answers is None else answers
        return np.array([self._one(ref, given[ref], population) for ref in self.refs])

    def _one(self, ref: str, p: FloatArray, population: Population) -> float:
        shares = population.shares.get(ref)
        if shares is None:
            return NAN
        return float(likeness(p, np.array(shares.shares), self.measure, ordered=self.asked[ref].ordered))

    @cached_property
    def by_population(self) -> FloatArray:
        """Likeness (populations, questions)."""
        return np.array([self.of(one) for one in self.populations]).reshape(len(self.populations), len(self.refs))

    @cached_property
    def to_people(self) -> FloatArray:
        """Likeness (questions,) to everybody; where only groups are known, the mean over these."""
        rows = [at for at, one in enumerate(self.populations) if not one.kind] or range(len(self.populations))
        return mean_of(self.by_population[list(rows)])

    @cached_property
    def by_chance(self) -> FloatArray:
        """The same (questions,) of letters drawn at random, as many as the model gave; of probabilities, all equal."""
        first = [one for one in self.populations if not one.kind] or list(self.populations)
        found = np.full((len(first), len(self.refs)), NAN)
        for column, ref in enumerate(self.refs):
            k, n = len(self.asked[ref].options), self.drawn[ref]
            rng = derive_rng(self.seed, "representation", "letters", ref)
            letters = rng.multinomial(n, [1 / k] * k, 1_000) / n if n else np.full((1, k), 1 / k)
            for row, one in enumerate(first):
                if ref in one.shares:
                    q, ordered = np.array(one.shares[ref].shares), self.asked[ref].ordered
                    found[row, column] = likeness(letters, q, self.measure, ordered=ordered).mean()
        return mean_of(found)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups of which there are several."""
        every = [one.kind for one in self.populations if one.kind]
        return tuple(kind for kind in dict.fromkeys(every) if every.count(kind) > 1)

    def ranking(self, kind: str) -> list[Ranked]:
        """Return the groups of a kind from the nearest to the farthest, over the questions that all of them have.

        In each draw the questions are drawn again, the same for all groups, and every group's likeness moves by what
        other people of that group would have changed: a normal deviate with the standard error of `_error`. The draws
        are centred on the likeness, so that a small group is not farther for the noise of its shares alone.
        """
        rows = [at for at, one in enumerate(self.populations) if one.kind == kind]
        every = self.by_population[rows]
        common = np.asarray(~np.isnan(every).any(axis=0))
        values = every[:, common]
        if not values.size:
            return []
        means, n = values.mean(axis=1), values.shape[1]
        rng = derive_rng(self.seed, "representation", "ranks", kind)
        counts = rng.multinomial(n, [1 / n] * n, self.draws)
        errors = np.array([self._error(self.populations[at], common) for at in rows])
        drawn = counts @ values.T / n + rng.standard_normal((self.draws, len(rows))) * errors
        ranks = (-(drawn - drawn.mean(axis=0) + means)).argsort(axis=1).argsort(axis=1) + 1
        first = int(means.argmax())
        ends = np.quantile(ranks, (0.025, 0.975), axis=0, method="nearest").astype(int)
        order = np.argsort(-means, kind="stable")
        behind = [difference(values[first] - values[at]) for at in range(len(rows))]
        return [
            Ranked(
                population=self.populations[rows[at]],
                likeness=estimate(values[at]),
                rank=place + 1,
                ranks=(int(ends[0, at]), int(ends[1, at])),
                nearest=float((ranks[:, at] == 1).mean()),
                behind=behind[at][0] if at != first else None,
                p=behind[at][1] if at != first else NAN,
            )
            for place, at in enumerate(order.tolist())
        ]

    def _error(self, population: Population, common: NDArray[np.bool_]) -> float:
        """Return the standard error that people give the mean over questions: each person's weighted influence on it,
        over all questions that the person answered; of published shares, question by question.
        """
        refs = [ref for ref, there in zip(self.refs, common, strict=True) if there]
        moves = np.zeros(len(population.weights))
        variance = 0.0
        for ref in refs:
            of = population.shares[ref]
            shares = np.array(of.shares)
            tilted = (1 - STEP) * shares + STEP * np.eye(len(shares))
            ordered = self.asked[ref].ordered
            at = likeness(self.answers[ref], shares, self.measure, ordered=ordered)
            influence = (likeness(self.answers[ref], tilted, self.measure, ordered=ordered) - at) / STEP
            if ref in population.codes:
                codes = population.codes[ref]
                weights = np.where(codes >= 0, population.weights, 0)
                moves += weights / weights.sum() * influence[codes]
            elif of.effective_n:
                variance += float((shares * influence**2).sum() - (shares * influence).sum() ** 2) / of.effective_n
        return float(np.sqrt((moves**2).sum() + variance)) / len(refs)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A group's place among those of its kind."""

    population: Population
    likeness: Estimate
    rank: int
    ranks: tuple[int, int]
    "95 % of the draws"
    nearest: float
    "share of the draws in which no group is nearer"
    behind: Estimate | None
    "how much nearer the first one is, over the same questions; None: this is the first"
    p: float
    "of that difference; NaN: this is the first"


def mean_of(rows: FloatArray) -> FloatArray:
    """Return the mean over rows, of those that are there; NaN where none is."""
    counts = (~np.isnan(rows)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nansum(rows, axis=0) / np.where(counts, counts, np.nan))


def estimate(values: FloatArray) -> Estimate:
    """Return the mean likeness with its interval over questions; questions without a value are excluded."""
    return mean_alignment(values[~np.isnan(values)].tolist(), int(np.isnan(values).sum()))


def difference(values: FloatArray) -> tuple[Estimate, float]:
    """Return the mean of paired differences over questions with its interval, and p that it is 0."""
    found, missing = mean_test(values), int(np.isnan(values).sum())
    why = "" if found.n else "no question"
    interval = "mean over questions" if found.tested else ""
    few = found.degenerate if found.n else ""
    return Estimate(found.mean, found.low, found.high, found.n, missing, why, interval=interval, few=few), found.p
