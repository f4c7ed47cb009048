"""The likeness of two distributions of answers, and the population to which a model is nearest.

Answers are distributions over the options of a question, from the first to the last. The likeness
of a model to a population is the mean over questions of 1 - d, with a distance d in [0, 1]. Its
interval is over questions and people.

References
----------
Santurkar, Durmus, Ladhak, Lee, Liang, Hashimoto 2023, Whose Opinions Do Language Models Reflect?,
section 3.1 (1 - Wasserstein; representativeness). Durmus et al. 2023, Towards Measuring the
Representation of Subjective Global Opinions in Language Models, section 3 (1 - Jensen-Shannon
distance). Kish 1965, Survey Sampling (effective number).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import compress, pairwise

import numpy as np
import numpy.typing as npt

from workbench.domain.choices import LETTERS
from workbench.domain.questionnaires import Scale
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import ordered_wasserstein
from workbench.stats.populations import Population
from workbench.stats.resampling import derive_rng, share_ends, student_interval, student_p, variance

NAN = float("nan")
STEP = 1e-4
"the weight that is moved to one answer to measure its influence"
LARGEST = 1.0
"size of the largest difference of two likenesses"
NOISE_DRAWS = 100
"number of draws of each question's answers that measure the noise of counting"
LEAST_DISTANCE = 0.02
"mean distance of even answers from people's below which the two cannot be distinguished"
RANDOM, EVEN, FIRST = "letters at random", "even answers", "the first option always"
POSITION = "positions as the model prefers them"
"answers without an opinion"
Ends = tuple[float, float]
Distributions = Mapping[str, FloatArray]
"ref of a question -> shares of its options"


def likeness(p: FloatArray, q: FloatArray, measure: str, *, ordered: bool) -> FloatArray:
    """Return 1 - d of distributions along the last axis, or NaN if one of them has no weight.

    Options without an order are all 1 apart. Wasserstein's distance is then the total variation.

    Examples
    --------
    >>> a, b = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    >>> [float(likeness(a, b, m, ordered=True)) for m in ("wasserstein", "total_variation", "jensen_shannon")]
    [0.5, 0.0, 0.0]
    """  # noqa: E501
    if measure == "wasserstein" and ordered:
        return np.asarray(1 - ordered_wasserstein(p, q))
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (
            weights / weights.sum(axis=-1, keepdims=True) for weights in np.broadcast_arrays(p, q)
        )
        if measure != "jensen_shannon":
            return np.asarray(1 - np.abs(first - second).sum(axis=-1) / 2)
        middle = (first + second) / 2
        divergences = [
            np.where(shares == 0, 0, shares * np.log2(shares / middle))
            for shares in (first, second)
        ]
    return np.asarray(
        1 - np.sqrt(np.clip((divergences[0] + divergences[1]).sum(axis=-1) / 2, 0, 1))
    )


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """A question with the options that are compared."""

    options: tuple[str, ...]
    "in the order of its scale"
    ordered: bool

    @classmethod
    def of(cls, scale: Scale) -> ComparedQuestion | None:
        """Return the question of a scale, or None if its options are not a choice among letters."""
        options = tuple(option.values[0] for option in scale.offered)
        return cls(options, scale.ordered) if 2 <= len(options) <= len(LETTERS) else None


@dataclass(frozen=True, eq=False)
class LetterSample:
    """The letters behind a distribution: a weighted mean of parts that were drawn one by one."""

    shares: FloatArray
    "(parts, options)"
    counts: IntArray
    "(parts,) number of letters of each part; 0: its probabilities were computed"
    weights: FloatArray
    "(parts,), with the sum 1"

    @property
    def mean(self) -> FloatArray:
        """The weighted mean distribution."""
        return np.asarray(self.weights @ self.shares)

    def redraw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Return distributions (draws, options) of as many letters, drawn from these shares."""
        draws = np.zeros((n_draws, self.shares.shape[1]))
        for shares, n_letters, weight in zip(
            self.shares, self.counts.tolist(), self.weights.tolist(), strict=True
        ):
            # one letter fewer: shares of a sample vary less than those that they were drawn from
            part = (
                rng.multinomial(max(1, n_letters - 1), shares, n_draws) / max(1, n_letters - 1)
                if n_letters
                else shares
            )
            draws += weight * part
        return draws


def without_noise(distance: float, noise: float) -> float:
    """Return a mean distance between two samples without the part that counting adds.

    Two samples of one distribution are at the mean distance `noise`. Real differences add to it as
    squares.
    """
    if math.isnan(distance):
        return NAN
    return math.sqrt(max(0.0, max(0.0, distance) ** 2 - noise**2))


def least_and_most(
    share: FloatArray, missing: float, other: FloatArray, measure: str, *, ordered: bool
) -> Ends:
    """Return the smallest and the largest likeness to `other` for any missing answers."""
    corners = np.eye(len(share))
    if missing >= 1:
        return float(likeness(corners, other, measure, ordered=ordered).min()), 1.0
    moved = (1 - missing) * share + missing * corners
    low = likeness(moved, other, measure, ordered=ordered).min()
    farthest = (1 - likeness(moved, share, measure, ordered=ordered)).max()
    high = likeness(share, other, measure, ordered=ordered) + farthest
    return float(low), min(1.0, float(high))


@dataclass(frozen=True, slots=True)
class QuestionBounds:
    """The likeness of one question to people, whatever the missing answers were."""

    low: float
    high: float
    without_opinion: Mapping[str, float]
    "the likeness of answers without an opinion, by their kind"


def _even(n_options: int) -> FloatArray:
    """Return the answers that choose every option equally often."""
    return np.full(n_options, 1 / n_options)


def _first(n_options: int) -> FloatArray:
    """Return the answers that always choose the first option, in both orders of the options."""
    shares = np.zeros(n_options)
    shares[0], shares[-1] = 0.5, 0.5
    return shares


@dataclass(frozen=True, eq=False)
class Likenesses:
    """The likeness of one model's answers to those of each population."""

    answers: Distributions
    "the model's answers"
    drawn: Mapping[str, int]
    "ref -> number of letters behind them; 0: probabilities"
    asked: Mapping[str, ComparedQuestion]
    populations: Sequence[Population]
    measure: str
    seed: int
    draws: int
    samples: Mapping[str, LetterSample] = field(default_factory=dict)
    "ref -> the letters behind the answers; without any, one part with all drawn letters"
    missing: Mapping[str, float] = field(default_factory=dict)
    """ref of every question that was asked -> share without a valid answer; 1: it has no answer in
    one order or both"""
    position: Distributions = field(default_factory=dict)
    "the answers that the model's own preference for positions alone gives"

    @cached_property
    def refs(self) -> tuple[str, ...]:
        """The questions that the model answered, in order."""
        return tuple(ref for ref in self.asked if ref in self.answers)

    @cached_property
    def evenly(self) -> Distributions:
        """The answers that choose every option equally often."""
        return {ref: _even(len(self.asked[ref].options)) for ref in self.refs}

    @cached_property
    def first(self) -> Distributions:
        """The answers that always choose the first option, in both orders of the options."""
        return {ref: _first(len(self.asked[ref].options)) for ref in self.refs}

    @cached_property
    def unanswered(self) -> tuple[str, ...]:
        """The questions that were asked and have no answer that can be compared."""
        return tuple(
            ref for ref, share in self.missing.items() if ref not in self.answers and share >= 1
        )

    def noise_of_letters(self, refs: Iterable[str]) -> float:
        """Return the mean distance by the noise of letters alone.

        It is that of as many letters as were drawn, from the distribution from which they were
        drawn.
        """
        return _mean_or_zero([self._noise_by_ref[ref] for ref in refs])

    @cached_property
    def _noise_by_ref(self) -> dict[str, float]:
        """The mean distance of letters from their distribution, by question."""
        distances = {}
        for ref in self.refs:
            answers = self.answers[ref]
            sample = self.samples.get(ref) or LetterSample(
                answers[None], np.array([self.drawn[ref]]), np.ones(1)
            )
            if not sample.counts.any():
                distances[ref] = 0.0
                continue
            rng = derive_rng(self.seed, "representation", "noise", ref)
            likenesses = likeness(
                sample.redraw(rng, NOISE_DRAWS),
                answers,
                self.measure,
                ordered=self.asked[ref].ordered,
            )
            distances[ref] = float(1 - likenesses.mean())
        return distances

    def noise_of_people(self, population: Population, refs: Iterable[str]) -> float:
        """Return the mean distance by the noise of people alone.

        It is that of the shares of so many people, from the distribution from which they were
        drawn.
        """
        by_ref = self._people_noise(population)
        return _mean_or_zero([by_ref[ref] for ref in refs if ref in by_ref])

    def _people_noise(self, population: Population) -> dict[str, float]:
        """Return the mean distance of people's shares from their distribution, by question."""
        if population not in self._noise_of_populations:
            self._noise_of_populations[population] = self._sampled_distance(population)
        return self._noise_of_populations[population]

    @cached_property
    def _noise_of_populations(self) -> dict[Population, dict[str, float]]:
        """The cached results of `_people_noise`."""
        return {}

    def _sampled_distance(self, population: Population) -> dict[str, float]:
        """Return the mean distance of redrawn shares from a population's shares, by question."""
        available = [ref for ref in self.refs if ref in population.shares]
        if not population.known:
            return dict.fromkeys(available, 0.0)
        distances: dict[str, float] = {}
        rng = derive_rng(self.seed, "representation", "noise", population.name)
        for refs, ordered in self._alike(available):
            shares = np.array([population.shares[ref].shares for ref in refs])
            counts = np.array(
                [max(1, round(population.shares[ref].effective_n) - 1) for ref in refs]
            )
            redrawn = rng.multinomial(counts, shares, (NOISE_DRAWS, len(refs))) / counts[:, None]
            likenesses = likeness(redrawn, shares, self.measure, ordered=ordered).mean(axis=0)
            distances.update(zip(refs, (1 - likenesses).tolist(), strict=True))
        return distances

    def _noise_between(self, people: Sequence[Population], refs: Sequence[str]) -> float:
        """Return the mean distance by the noise of letters and people alone."""
        of_people = np.mean([self.noise_of_people(population, refs) ** 2 for population in people])
        return math.sqrt(self.noise_of_letters(refs) ** 2 + float(of_people))

    @cached_property
    def people(self) -> list[Population]:
        """All people, or all groups if only these are known."""
        return [population for population in self.populations if not population.kind] or list(
            self.populations
        )

    def _alike(self, refs: Iterable[str]) -> Iterator[tuple[list[str], bool]]:
        """Yield questions that can be computed together, and whether their options have an order.

        They have equally many options, all with an order or all without one.
        """
        refs_by_form: dict[tuple[int, bool], list[str]] = {}
        for ref in refs:
            refs_by_form.setdefault(
                (len(self.asked[ref].options), self.asked[ref].ordered), []
            ).append(ref)
        return ((form_refs, ordered) for (_, ordered), form_refs in refs_by_form.items())

    def by_question(self, population: Population) -> FloatArray:
        """Return the likeness (questions,), or NaN if too few people answered."""
        likeness_by_ref = dict.fromkeys(self.refs, NAN)
        for refs, ordered in self._alike(ref for ref in self.refs if ref in population.shares):
            p, q = (
                np.array([self.answers[ref] for ref in refs]),
                np.array([population.shares[ref].shares for ref in refs]),
            )
            likeness_by_ref |= zip(
                refs, likeness(p, q, self.measure, ordered=ordered).tolist(), strict=True
            )
        return np.array(list(likeness_by_ref.values()))

    def noise(
        self, population: Population, *signed: tuple[Distributions, float]
    ) -> list[FloatArray]:
        """Return the influence of people on the likeness of answers, or on a signed sum of several.

        Parameters
        ----------
        signed : pairs of answers and their signs
        """
        influence: dict[str, FloatArray] = {}
        shared_refs = [
            ref
            for ref in self.refs
            if ref in population.shares and all(ref in answers for answers, _ in signed)
        ]
        for refs, ordered in self._alike(shared_refs):
            q = np.array([population.shares[ref].shares for ref in refs])[:, None]
            tilted = (1 - STEP) * q + STEP * np.eye(q.shape[-1])
            moved = np.zeros((len(refs), q.shape[-1]))
            for answers, sign in signed:
                p = np.array([answers[ref] for ref in refs])[:, None]
                original, changed = (
                    likeness(p, shares, self.measure, ordered=ordered) for shares in (q, tilted)
                )
                moved += sign * (changed - original) / STEP
            influence |= zip(refs, moved, strict=True)
        return population.noise({ref: influence[ref] for ref in shared_refs})

    def to_population(self, population: Population) -> Estimate:
        """Return the likeness to a population, without the noise of counting letters and people."""
        raw = self.counted_to(population)
        refs = [ref for ref in self.refs if ref in population.shares]
        return _cleared(raw, self._noise_between([population], refs))

    def counted_to(self, population: Population) -> Estimate:
        """Return the likeness to a population as counted, with the noise of letters and people."""
        return estimate(self.by_question(population), self.noise(population, (self.answers, 1)))

    @cached_property
    def to_people(self) -> FloatArray:
        """The likeness (questions,) to all people, or its mean over groups if only these exist."""
        return mean_of([self.by_question(population) for population in self.people])

    @cached_property
    def by_chance(self) -> FloatArray:
        """The likeness to people (questions,) of as many random letters as the model gave.

        If the model gave probabilities, all letters have the same one.
        """
        likenesses = np.full((len(self.people), len(self.refs)), NAN)
        for column, ref in enumerate(self.refs):
            letters = self._random_letters(ref)
            for row, population in enumerate(self.people):
                if ref in population.shares:
                    q = np.array(population.shares[ref].shares)
                    likenesses[row, column] = likeness(
                        letters, q, self.measure, ordered=self.asked[ref].ordered
                    ).mean()
        return mean_of(list(likenesses))

    def _random_letters(self, ref: str) -> FloatArray:
        """Return shares of as many random letters as the model gave to a question, by draw."""
        even = self.evenly[ref]
        if not self.drawn[ref]:
            return even[None]
        rng = derive_rng(self.seed, "representation", "letters", ref)
        return np.asarray(rng.multinomial(self.drawn[ref], even, 1_000) / self.drawn[ref])

    @property
    def chance(self) -> float:
        """The likeness of random letters, or NaN if no question is compared."""
        defined = self.by_chance[~np.isnan(self.by_chance)]
        return float(defined.mean()) if defined.size else NAN

    @cached_property
    def counted(self) -> Estimate:
        """The likeness to people as counted, with the noise of letters and people.

        This is the published figure.
        """
        return estimate(self.to_people, self._of_people((self.answers, 1)))

    @cached_property
    def _compared(self) -> list[str]:
        """The questions with a likeness to people."""
        has_likeness = (~np.isnan(self.to_people)).tolist()
        return [ref for ref, is_known in zip(self.refs, has_likeness, strict=True) if is_known]

    @cached_property
    def overall(self) -> Estimate:
        """The likeness to people, without the noise of counting letters and people."""
        return _cleared(self.counted, self._noise_between(self.people, self._compared))

    @cached_property
    def even_overall(self) -> float:
        """The likeness of even answers, without the noise of counting people."""
        likenesses = self.counted_as(self.evenly)
        return (
            1 - without_noise(1 - float(np.nanmean(likenesses)), self._people_alone)
            if self._compared
            else NAN
        )

    @cached_property
    def _people_alone(self) -> float:
        """The mean distance by the noise of people alone."""
        return math.sqrt(
            np.mean(
                [
                    self.noise_of_people(population, self._compared) ** 2
                    for population in self.people
                ]
            )
        )

    def counted_as(self, answers: Distributions) -> FloatArray:
        """Return the likeness to people (questions,) of other answers to the same questions."""
        likenesses = replace(self, answers={ref: answers[ref] for ref in self.refs}, samples={})
        return likenesses.to_people

    @cached_property
    def above_chance(self) -> Estimate:
        """The likeness on a scale from random letters (0) to people's own answers (1)."""
        model_distances, even_distances = 1 - self.to_people, 1 - self.counted_as(self.evenly)
        is_known = ~np.isnan(model_distances)
        n_known, n_missing = int(is_known.sum()), int((~is_known).sum())
        to_even = float(even_distances[is_known].mean()) if n_known else NAN
        cleared = without_noise(to_even, self._people_alone) if n_known else NAN
        if n_known < 2 or cleared < LEAST_DISTANCE:
            reason = (
                "people answer as letters at random would"
                if n_known > 1
                else "fewer than two questions"
            )
            return Estimate(NAN, NAN, NAN, n_known, n_missing, reason)
        ratio = float(model_distances[is_known].mean()) / to_even
        noise = self._noise_between(self.people, self._compared)
        people_moves = self._of_people((self.answers, -1), (self.evenly, ratio))
        parts = [(model_distances[is_known] - ratio * even_distances[is_known]) / n_known / to_even]
        parts += [moves / to_even for moves in people_moves if len(moves)]
        low, high = student_interval(ratio, *_strata(parts))

        def above(distance_ratio: float) -> float:
            return 1 - without_noise(distance_ratio * to_even, noise) / cleared

        if math.isnan(low):
            return Estimate(above(ratio), NAN, NAN, n_known, n_missing, few="all values equal")
        return Estimate(
            above(ratio),
            above(high),
            above(low),
            n_known,
            n_missing,
            interval="likeness above chance",
        )

    @cached_property
    def over_random(self) -> tuple[Estimate, float]:
        """The likeness of the answers minus that of random letters, and the p of no difference."""
        return difference(
            self.to_people - self.by_chance, self._of_people((self.answers, 1), (self.evenly, -1))
        )

    @cached_property
    def over_baselines(self) -> dict[str, tuple[Estimate, float]]:
        """The likeness minus that of each kind of answers without an opinion, with p, by name."""
        tests = {RANDOM: self.over_random}
        for kind, answers in self._answers_of_kinds.items():
            if kind == RANDOM:
                continue
            noise = self._of_people((self.answers, 1), (answers, -1))
            tests[kind] = difference(self.to_people - self.counted_as(answers), noise)
        return tests

    @property
    def _answers_of_kinds(self) -> dict[str, Distributions]:
        """The answers of each kind without an opinion; the expected ones of random letters.

        The preference for positions is left out if it is unknown for a question.
        """
        answers = {RANDOM: self.evenly, EVEN: self.evenly, FIRST: self.first}
        if all(ref in self.position for ref in self.refs):
            answers[POSITION] = self.position
        return answers

    @cached_property
    def weakest_claim(self) -> tuple[str, float]:
        """The kind of answers without an opinion that is surpassed least, and the p of the claim.

        The p is 1 if one of these kinds is as much like people as the model, or would be if the
        missing answers were as unlike people as possible.
        """
        if self.over_random[0].value < 0 and self.over_random[1] < 1:
            return RANDOM, self._p_of_less
        worst, name = -1.0, RANDOM
        for kind, (gain, p) in self.over_baselines.items():
            claim_p = p if gain.value > 0 and not math.isnan(p) else 1.0
            if claim_p > worst:
                worst, name = claim_p, kind
        return name, max(worst, self._p_of_least)

    @cached_property
    def _p_of_least(self) -> float:
        """The p of the claim if the missing answers were as unlike people as possible.

        It is the largest over all kinds of answers without an opinion, each tested with the
        influence of people on its own answers.
        """
        if not self._has_missing:
            return 0.0
        return max(self._p_of_least_against(kind) for kind in self.over_baselines)

    def _p_of_least_against(self, kind: str) -> float:
        """Return that p against one kind of answers without an opinion."""
        gains = np.array([bounds.low - bounds.without_opinion[kind] for bounds in self._bounds])
        noise = self._of_people((self.answers, 1), (self._answers_of_kinds[kind], -1))
        gain, p = difference(gains, noise)
        return p if gain.value > 0 and not math.isnan(p) else 1.0

    @cached_property
    def _p_of_less(self) -> float:
        """The p of less likeness if the missing answers were as like people as possible."""
        if not self._has_missing:
            return self.over_random[1]
        gains = np.array([bounds.high - bounds.without_opinion[RANDOM] for bounds in self._bounds])
        gain, p = difference(gains, self._of_people((self.answers, 1), (self.evenly, -1)))
        return p if gain.value < 0 else 1.0

    @property
    def _has_missing(self) -> bool:
        """Whether any answer is missing."""
        return any(share > 0 for share in self.missing.values())

    @cached_property
    def _bounds(self) -> list[QuestionBounds]:
        """The bounds of the likeness of each question that people answered."""
        bounds = [self._bounds_of(ref) for ref in (*self._compared, *self.unanswered)]
        return [question_bounds for question_bounds in bounds if question_bounds is not None]

    def _bounds_of(self, ref: str) -> QuestionBounds | None:
        """Return the bounds of the likeness of a question, or None if no people answered it."""
        people_shares = [
            np.array(population.shares[ref].shares)
            for population in self.people
            if ref in population.shares
        ]
        if not people_shares:
            return None
        ordered, even = self.asked[ref].ordered, _even(len(self.asked[ref].options))
        answers, missing = self.answers.get(ref, even), self.missing.get(ref, 0.0)
        ends = [
            least_and_most(answers, missing, q, self.measure, ordered=ordered)
            for q in people_shares
        ]
        low, high = np.mean(ends, axis=0).tolist()
        without_opinion = {
            kind: float(
                np.mean(
                    [
                        likeness(shares, q, self.measure, ordered=ordered).mean()
                        for q in people_shares
                    ]
                )
            )
            for kind, shares in self._without_opinion(ref).items()
        }
        return QuestionBounds(low, high, without_opinion)

    def _without_opinion(self, ref: str) -> dict[str, FloatArray]:
        """Return the answers to a question of each kind without an opinion.

        A question without an answer has letters with equal probabilities as its random ones. For
        the preference for positions it takes that of another question with as many options, or
        even answers without such a question.
        """
        n_options = len(self.asked[ref].options)
        even = _even(n_options)
        position = self.position.get(ref)
        if position is None:
            alike = (shares for shares in self.position.values() if len(shares) == n_options)
            position = next(alike, even)
        return {
            RANDOM: self._random_letters(ref) if ref in self.answers else even[None],
            EVEN: even,
            FIRST: _first(n_options),
            POSITION: position,
        }

    @property
    def missing_share(self) -> float:
        """The share of requested answers without an offered letter, or NaN without questions."""
        return float(np.mean(list(self.missing.values()))) if self.missing else NAN

    @cached_property
    def bounds(self) -> Ends:
        """The smallest and the largest likeness over all asked questions, whatever was missing."""
        if not self._bounds or not self._compared:
            return NAN, NAN
        noise = self._noise_between(self.people, self._compared)
        low, high = (
            float(np.mean(ends))
            for ends in (
                [question_bounds.low for question_bounds in self._bounds],
                [question_bounds.high for question_bounds in self._bounds],
            )
        )
        return 1 - without_noise(1 - low, noise), 1 - without_noise(1 - high, noise)

    def bounds_of_people(self, population: Population) -> Ends:
        """Return the smallest and the largest likeness to a population.

        It covers all answers that its people without an answer could have given.
        """
        refs = [ref for ref in self.refs if ref in population.shares]
        if not refs:
            return NAN, NAN
        bounds = []
        for ref in refs:
            q, share = np.array(population.shares[ref].shares), self.answers[ref]
            missing, ordered = population.unanswered.get(ref, 0.0), self.asked[ref].ordered
            bounds.append(least_and_most(q, missing, share, self.measure, ordered=ordered))
        noise = self._noise_between([population], refs)
        low, high = np.mean(bounds, axis=0).tolist()
        return 1 - without_noise(1 - low, noise), 1 - without_noise(1 - high, noise)

    def _of_people(self, *signed: tuple[Distributions, float]) -> list[FloatArray]:
        """Return the influence of all people on a signed sum of likenesses."""
        return [
            moves / len(self.people)
            for population in self.people
            for moves in self.noise(population, *signed)
        ]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups with more than one group."""
        group_kinds = [population.kind for population in self.populations if population.kind]
        return tuple(kind for kind in dict.fromkeys(group_kinds) if group_kinds.count(kind) > 1)

    @cached_property
    def rankings(self) -> dict[str, list[RankedGroup]]:
        """The groups of each kind, the nearest first."""
        return {kind: self._ranking(kind) for kind in self.kinds}

    def _ranking(self, kind: str) -> list[RankedGroup]:
        """Return the groups of a kind, nearest first, over their common questions.

        `_overlapping` describes the groups that are excluded. In each draw the questions are drawn
        again, the same for all groups, and each group moves by a normal deviate with the standard
        error of its people. All groups are ranked as if each had as many people as the smallest, so
        that a small group is not farther only because of the noise of its shares.
        """
        groups = self._overlapping(kind)
        return _Ranking.of_groups(self, kind, groups).rows() if groups else []

    def at_equal_n(self, groups: Sequence[Population]) -> FloatArray:
        """Return the likeness (groups, questions) if all groups were as small as the smallest.

        It is the mean over draws of so many people from the group's own shares. If the number of
        people is unknown, the shares are not changed.
        """
        rows = np.array([self.by_question(group) for group in groups])
        column_by_ref = {ref: column for column, ref in enumerate(self.refs)}
        common = [ref for ref in self.refs if all(ref in group.shares for group in groups)]
        if not all(group.known for group in groups):
            return rows
        rng = derive_rng(self.seed, "representation", "equal n", groups[0].kind)
        for refs, ordered in self._alike(common):
            sizes = np.array([[group.shares[ref].effective_n for ref in refs] for group in groups])
            smallest = sizes.min(axis=0)
            answers, columns = (
                np.array([self.answers[ref] for ref in refs]),
                [column_by_ref[ref] for ref in refs],
            )
            for row, group in enumerate(groups):
                is_larger = sizes[row] - smallest > 0.5
                if not is_larger.any():
                    continue
                shares = np.array([group.shares[ref].shares for ref in refs])
                # n people who are drawn from the shares of N more people are as noisy as so many of
                # the population
                counts = np.maximum(
                    1, np.rint(1 / (1 / smallest - np.where(is_larger, 1 / sizes[row], 0)))
                ).astype(int)
                redrawn = (
                    rng.multinomial(counts, shares, (NOISE_DRAWS, len(refs))) / counts[:, None]
                )
                likenesses = likeness(redrawn, answers, self.measure, ordered=ordered).mean(axis=0)
                rows[row, columns] = np.where(is_larger, likenesses, rows[row, columns])
        return rows

    def _overlapping(self, kind: str) -> list[Population]:
        """Return the groups of a kind that can be ranked, in order.

        These are the groups with the most common questions, by the number of groups times that of
        questions. Each group in turn proposes a set: it adds the groups with which it has most
        questions in common, as long as all share half of its questions, and at least two. Countries
        that were asked in different years have hardly a question in common, and one of these would
        leave the others too few.
        """
        groups = [population for population in self.populations if population.kind == kind]
        has_answers = np.array(
            [[ref in group.shares for ref in self.refs] for group in groups], dtype=np.bool_
        )
        best, best_size = list[int](), 0
        for own_questions in has_answers:
            proposed, n_common = _proposed_groups(has_answers, own_questions)
            if len(proposed) * n_common > best_size:
                best, best_size = proposed, len(proposed) * n_common
        if len(best) < 2:
            return []
        return [groups[group_index] for group_index in sorted(best)]

    def apart(self, kind: str) -> list[Population]:
        """Return the groups of a kind that have answers to the model's questions, but no rank."""
        ranked = self._overlapping(kind)
        not_ranked = [
            population
            for population in self.populations
            if population.kind == kind and population not in ranked
        ]
        return [
            population
            for population in not_ranked
            if any(ref in population.shares for ref in self.refs)
        ]

    def unranked(self, kind: str) -> list[RankedGroup]:
        """Return these groups with their likeness over their own questions, nearest first."""
        even = replace(self, answers=self.evenly, samples={})
        rows = (
            RankedGroup(
                population,
                self.to_population(population),
                None,
                (),
                None,
                NAN,
                float(np.nanmean(even.by_question(population))),
                NAN,
            )
            for population in self.apart(kind)
        )
        return sorted(rows, key=lambda row: -row.likeness.value)


def _proposed_groups(has_answers: BoolArray, own_questions: BoolArray) -> tuple[list[int], int]:
    """Return the groups that a group proposes, and how many questions all of them share.

    Parameters
    ----------
    has_answers : (groups, questions)
    own_questions : the questions of the group that proposes
    """
    least_common = max(int(own_questions.sum()), 4)
    nearest_first = np.argsort(-(has_answers & own_questions).sum(axis=1), kind="stable").tolist()
    proposed, is_common = list[int](), own_questions
    for group_index in nearest_first:
        still_common = is_common & has_answers[group_index]
        if 2 * still_common.sum() >= least_common:
            proposed.append(group_index)
            is_common = still_common
    return proposed, int(is_common.sum())


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The ranking of the groups of a kind, over their common questions."""

    likenesses: Likenesses
    "those of the common questions only"
    kind: str
    groups: Sequence[Population]
    values: FloatArray
    "likeness at equal numbers of people: (groups, questions)"
    noise: Sequence[Sequence[FloatArray]]
    "the influence of each group's people on its likeness"

    @classmethod
    def of_groups(cls, likenesses: Likenesses, kind: str, groups: Sequence[Population]) -> _Ranking:
        """Return the ranking of groups."""
        at_equal_n = likenesses.at_equal_n(groups)
        is_common = np.logical_not(np.isnan(at_equal_n).any(axis=0))
        common = compress(likenesses.refs, is_common.tolist())
        answers = {ref: likenesses.answers[ref] for ref in common}
        noise = [likenesses.noise(group, (answers, 1)) for group in groups]
        return cls(
            replace(likenesses, answers=answers), kind, groups, at_equal_n[:, is_common], noise
        )

    @cached_property
    def means(self) -> FloatArray:
        """The mean likeness to each group, by which they are ranked."""
        return np.asarray(self.values.mean(axis=1))

    def rows(self) -> list[RankedGroup]:
        """Return the groups, the nearest first."""
        order = np.argsort(-self.means, kind="stable").tolist()
        nearest, rank_bounds, even = order[0], self._rank_bounds(), self._even()
        rows = []
        for group_index in order:
            gap: tuple[Estimate | None, float] = None, NAN
            if group_index != nearest:
                gap = self._gap(nearest, group_index)
            group, mean = self.groups[group_index], self.means[group_index]
            rows.append(
                RankedGroup(
                    group,
                    self.likenesses.to_population(group),
                    1 + int((self.means > mean).sum()),
                    rank_bounds[group_index],
                    *gap,
                    float(even[group_index]),
                    float(mean),
                )
            )
        return rows

    def _gap(self, nearest: int, group_index: int) -> tuple[Estimate, float]:
        """Return how much nearer the first group is than another one, with the p."""
        return difference(
            self.values[nearest] - self.values[group_index],
            [*self.noise[nearest], *self.noise[group_index]],
        )

    def _rank_bounds(self) -> list[tuple[int, int]]:
        """Return the lowest and the highest rank of each group in 95 % of the draws."""
        n_questions, n_draws = self.values.shape[1], self.likenesses.draws
        n_drawn, deviates = _draws(
            self.likenesses.seed, self.kind, n_questions, len(self.groups), n_draws
        )
        errors = [sum(variance(moves)[0] for moves in noise) ** 0.5 for noise in self.noise]
        drawn_means = n_drawn @ self.values.T / n_questions + deviates * errors
        centred = drawn_means - drawn_means.mean(axis=0) + self.means
        ranks = np.stack(
            [1 + (centred > group_means[:, None]).sum(axis=1) for group_means in centred.T], axis=1
        )
        low, high = np.quantile(ranks, (0.025, 0.975), axis=0, method="nearest").astype(int)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _even(self) -> FloatArray:
        """Return the likeness of even answers to each group."""
        even = replace(self.likenesses, answers=self.likenesses.evenly, samples={})
        return np.asarray(even.at_equal_n(self.groups).mean(axis=1))


@lru_cache(maxsize=8)
def _draws(
    seed: int, kind: str, questions: int, groups: int, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Return how often each question is drawn in each draw, and normal deviates of the groups.

    They are the same for all models, and cached: they took most of the time of 8 models, 6 kinds
    and 500 questions.
    """
    rng = derive_rng(seed, "representation", "ranks", kind)
    n_drawn = rng.multinomial(questions, [1 / questions] * questions, draws).astype(np.float64)
    return n_drawn, rng.standard_normal((draws, groups))


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """The position of a group among those of its kind."""

    population: Population
    likeness: Estimate
    rank: int | None
    "None: not ranked, see `Likenesses.unranked`"
    ranks: tuple[int, ...]
    "lowest and highest rank in 95 % of the draws"
    behind: Estimate | None
    """the likeness to the first group minus that to this one, over the same questions; None: this
    is the first"""
    p: float
    "p value of that difference; NaN: this is the first"
    even: float
    "likeness of answers that choose every option equally often, over the same questions"
    at_equal_n: float
    """likeness if every group had as many people as the smallest, by which the groups are ranked;
    NaN: not ranked"""


def mean_of(rows: Sequence[FloatArray]) -> FloatArray:
    """Return the mean over rows of the defined values, or NaN if there are none."""
    values = np.array(rows)
    counts = (~np.isnan(values)).sum(axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.where(counts, counts, np.nan))


def estimate(values: FloatArray, noise: Sequence[FloatArray]) -> Estimate:
    """Return the mean over questions, at most 1, with its interval.

    Questions without a value are excluded.

    Parameters
    ----------
    noise : the influence of people on the mean
    """
    return _mean(values, noise, of_shares=True)[0]


def difference(values: FloatArray, noise: Sequence[FloatArray]) -> tuple[Estimate, float]:
    """Return the mean of paired differences over questions, and the p of no difference.

    The p is two-sided, by Student's test.
    """
    return _mean(values, noise, of_shares=False)


def _mean(
    values: FloatArray, noise: Sequence[FloatArray], *, of_shares: bool
) -> tuple[Estimate, float]:
    """Return a mean over questions with its interval, and the p that it is 0."""
    defined = values[~np.isnan(values)]
    n_defined, n_missing = len(defined), int(np.isnan(values).sum())
    if n_defined < 2:
        reason = "" if n_defined else "no question"
        return Estimate(
            float(defined[0]) if n_defined else NAN,
            NAN,
            NAN,
            n_defined,
            n_missing,
            reason,
            few="one question" * n_defined,
        ), NAN
    mean = float(defined.mean())
    moves, strata = _strata(
        [(defined - mean) / n_defined, *(moves for moves in noise if len(moves))]
    )
    low, high = (
        share_ends(mean, moves, n_defined, strata)
        if of_shares
        else student_interval(mean, moves, strata, LARGEST)
    )
    few = "all values equal" if np.isnan(low) else ""
    if (low, high) == (-LARGEST, LARGEST):
        low, high, few = (
            NAN,
            NAN,
            f"too few for an interval: {n_defined} questions, it would span the whole scale",
        )
    name = "" if few else "likeness to people" if of_shares else "difference of likeness"
    return Estimate(mean, low, high, n_defined, n_missing, interval=name, few=few), student_p(
        mean, moves, strata
    )


def _strata(parts: Sequence[FloatArray]) -> tuple[FloatArray, list[npt.NDArray[np.integer]]]:
    """Return all moves in one array, and the indices of each part in it."""
    boundaries = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts), [
        np.arange(low, high) for low, high in pairwise(boundaries.tolist())
    ]


def _cleared(counted: Estimate, noise: float) -> Estimate:
    """Return a likeness and its interval without the noise of counting."""
    value, low, high = (
        1 - without_noise(1 - bound, noise) for bound in (counted.value, counted.low, counted.high)
    )
    return replace(counted, value=value, low=low, high=high)


def _mean_or_zero(values: Sequence[float]) -> float:
    """Return the mean of values, or 0 without any."""
    return float(np.mean(values)) if values else 0.0
