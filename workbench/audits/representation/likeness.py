"""How like two distributions of answers are, and which population a model is nearest to.

Answers are distributions over the options of a question, from the first to the last. The likeness
of a model to a population is the mean over questions of 1 - d, d a distance in [0, 1]. Its interval
is over questions and people.

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
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from workbench.domain.choices import LETTERS
from workbench.domain.questionnaires import Scale
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import ordered_wasserstein
from workbench.stats.populations import Population
from workbench.stats.resampling import derive_rng, share_ends, student_interval, student_p, variance

NAN = float("nan")
STEP = 1e-4
"how much more weight one answer gets to see what it changes"
LARGEST = 1.0
"size of the largest difference of two likenesses"
NOISE_DRAWS = 100
"draws of each question's answers that say how far counting alone moves them"
LEAST_DISTANCE = 0.02
"mean distance of even answers from people's below which nothing can be said between the two"
RANDOM, EVEN, FIRST = "letters at random", "even answers", "the first option always"
POSITION = "positions as the model prefers them"
"answers without an opinion"
Ends = tuple[float, float]
Distributions = Mapping[str, FloatArray]
"ref of a question -> shares of its options"


def likeness(p: FloatArray, q: FloatArray, measure: str, *, ordered: bool) -> FloatArray:
    """Return 1 - d of distributions along the last axis; NaN where one of them has no weight.

    Options without an order are all 1 apart: Wasserstein's distance is then the total variation.

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
            each / each.sum(axis=-1, keepdims=True) for each in np.broadcast_arrays(p, q)
        )
        if measure != "jensen_shannon":
            return np.asarray(1 - np.abs(first - second).sum(axis=-1) / 2)
        middle = (first + second) / 2
        bits = [np.where(each == 0, 0, each * np.log2(each / middle)) for each in (first, second)]
    return np.asarray(1 - np.sqrt(np.clip((bits[0] + bits[1]).sum(axis=-1) / 2, 0, 1)))


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """A question as it is compared."""

    options: tuple[str, ...]
    "in the order of its scale"
    ordered: bool

    @classmethod
    def of(cls, scale: Scale) -> SurveyQuestion | None:
        """Return a question with the options that its scale offers; None where there is no choice
        among letters.
        """
        options = tuple(option.values[0] for option in scale.offered)
        return cls(options, scale.ordered) if 2 <= len(options) <= len(LETTERS) else None


@dataclass(frozen=True, eq=False)
class Sample:
    """The letters that a distribution rests on: a weighted mean of parts that were drawn one by
    one.
    """

    shares: FloatArray
    "(parts, options)"
    counts: IntArray
    "(parts,) letters of each part; 0: its probabilities were computed"
    weights: FloatArray
    "(parts,), together 1"

    @property
    def mean(self) -> FloatArray:
        """The weighted mean distribution."""
        return np.asarray(self.weights @ self.shares)

    def redraw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Return distributions (draws, options) of as many letters, drawn from these shares."""
        draws = np.zeros((n_draws, self.shares.shape[1]))
        for share, count, weight in zip(
            self.shares, self.counts.tolist(), self.weights.tolist(), strict=True
        ):
            # one letter fewer: shares of a sample vary less than those that they were drawn from
            part = (
                rng.multinomial(max(1, count - 1), share, n_draws) / max(1, count - 1)
                if count
                else share
            )
            draws += weight * part
        return draws


def without_noise(distance: float, noise: float) -> float:
    """Return a mean distance between two samples without the part that counting gives.

    Two samples of one distribution are at the mean distance `noise`. Differences that are there add
    to it as squares.
    """
    if math.isnan(distance):
        return NAN
    return math.sqrt(max(0.0, max(0.0, distance) ** 2 - noise**2))


def least_and_most(
    share: FloatArray, missing: float, other: FloatArray, measure: str, *, ordered: bool
) -> Ends:
    """Return the least and the most likeness to `other`, whatever the missing part of some answers
    would have been.
    """
    corners = np.eye(len(share))
    if missing >= 1:
        return float(likeness(corners, other, measure, ordered=ordered).min()), 1.0
    moved = (1 - missing) * share + missing * corners
    low = likeness(moved, other, measure, ordered=ordered).min()
    farthest = (1 - likeness(moved, share, measure, ordered=ordered)).max()
    high = likeness(share, other, measure, ordered=ordered) + farthest
    return float(low), min(1.0, float(high))


@dataclass(frozen=True, eq=False)
class Likenesses:
    """How like one model's answers are to those of each population."""

    answers: Distributions
    "the model's"
    drawn: Mapping[str, int]
    "ref -> letters that they rest on; 0: probabilities"
    asked: Mapping[str, SurveyQuestion]
    populations: Sequence[Population]
    measure: str
    seed: int
    draws: int
    samples: Mapping[str, Sample] = field(default_factory=dict)
    "ref -> the letters behind the answers; without any, one part of as many as were drawn"
    missing: Mapping[str, float] = field(default_factory=dict)
    """ref of every question that was asked -> share without a valid answer; 1: it has no answer in
    one order or both"""
    position: Distributions = field(default_factory=dict)
    "what the model's own preference for positions alone gives"

    @cached_property
    def refs(self) -> tuple[str, ...]:
        """The questions that the model answered, in order."""
        return tuple(ref for ref in self.asked if ref in self.answers)

    @cached_property
    def evenly(self) -> Distributions:
        """Answers that are every option equally often."""
        return {
            ref: np.full(len(self.asked[ref].options), 1 / len(self.asked[ref].options))
            for ref in self.refs
        }

    @cached_property
    def first(self) -> Distributions:
        """Answers that are always the first option, in both orders of the options."""
        answers = {}
        for ref in self.refs:
            ends = np.zeros(len(self.asked[ref].options))
            ends[0], ends[-1] = 0.5, 0.5
            answers[ref] = ends
        return answers

    @cached_property
    def unanswered(self) -> tuple[str, ...]:
        """The questions that were asked and have no answer that can be compared."""
        return tuple(
            ref for ref, share in self.missing.items() if ref not in self.answers and share >= 1
        )

    def noise_of_letters(self, refs: Iterable[str]) -> float:
        """Return the mean distance of letters, as many as were drawn, from the distribution that
        they were drawn of.
        """
        return _mean_or_zero([self._noise_by_ref[ref] for ref in refs])

    @cached_property
    def _noise_by_ref(self) -> dict[str, float]:
        distances = {}
        for ref in self.refs:
            answers = self.answers[ref]
            sample = self.samples.get(ref) or Sample(
                answers[None], np.array([self.drawn[ref]]), np.ones(1)
            )
            if not sample.counts.any():
                distances[ref] = 0.0
                continue
            rng = derive_rng(self.seed, "representation", "noise", ref)
            alike = likeness(
                sample.redraw(rng, NOISE_DRAWS),
                answers,
                self.measure,
                ordered=self.asked[ref].ordered,
            )
            distances[ref] = float(1 - alike.mean())
        return distances

    def noise_of_people(self, population: Population, refs: Iterable[str]) -> float:
        """Return the mean distance of so many people's shares from the distribution that they were
        drawn of.
        """
        by_ref = self._people_noise(population)
        return _mean_or_zero([by_ref[ref] for ref in refs if ref in by_ref])

    def _people_noise(self, population: Population) -> dict[str, float]:
        if population not in self._noise_of_populations:
            self._noise_of_populations[population] = self._sampled_distance(population)
        return self._noise_of_populations[population]

    @cached_property
    def _noise_of_populations(self) -> dict[Population, dict[str, float]]:
        return {}

    def _sampled_distance(self, population: Population) -> dict[str, float]:
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
            drawn = rng.multinomial(counts, shares, (NOISE_DRAWS, len(refs))) / counts[:, None]
            alike = likeness(drawn, shares, self.measure, ordered=ordered).mean(axis=0)
            distances.update(zip(refs, (1 - alike).tolist(), strict=True))
        return distances

    def _noise_between(self, people: Sequence[Population], refs: Sequence[str]) -> float:
        """Return the mean distance that counting letters and people gives where nothing differs."""
        of_people = np.mean([self.noise_of_people(population, refs) ** 2 for population in people])
        return math.sqrt(self.noise_of_letters(refs) ** 2 + float(of_people))

    @cached_property
    def people(self) -> list[Population]:
        """Everybody; where only groups are known, all of these."""
        return [one for one in self.populations if not one.kind] or list(self.populations)

    def _alike(self, refs: Iterable[str]) -> Iterator[tuple[list[str], bool]]:
        """Yield questions with as many options and an order or none, which are computed at once,
        and whether they have an order.
        """
        found: dict[tuple[int, bool], list[str]] = {}
        for ref in refs:
            found.setdefault((len(self.asked[ref].options), self.asked[ref].ordered), []).append(
                ref
            )
        return ((of, ordered) for (_, ordered), of in found.items())

    def of(self, population: Population) -> FloatArray:
        """Return the likeness (questions,); NaN where too few people answered."""
        found = dict.fromkeys(self.refs, NAN)
        for refs, ordered in self._alike(ref for ref in self.refs if ref in population.shares):
            p, q = (
                np.array([self.answers[ref] for ref in refs]),
                np.array([population.shares[ref].shares for ref in refs]),
            )
            found |= zip(refs, likeness(p, q, self.measure, ordered=ordered).tolist(), strict=True)
        return np.array(list(found.values()))

    def noise(
        self, population: Population, *signed: tuple[Distributions, float]
    ) -> list[FloatArray]:
        """Return what people move the likeness of some answers; of several, with signs, their
        sum.
        """
        influence: dict[str, FloatArray] = {}
        there = [
            ref
            for ref in self.refs
            if ref in population.shares and all(ref in of for of, _ in signed)
        ]
        for refs, ordered in self._alike(there):
            q = np.array([population.shares[ref].shares for ref in refs])[:, None]
            tilted = (1 - STEP) * q + STEP * np.eye(q.shape[-1])
            moved = np.zeros((len(refs), q.shape[-1]))
            for of, sign in signed:
                p = np.array([of[ref] for ref in refs])[:, None]
                before, after = (
                    likeness(p, each, self.measure, ordered=ordered) for each in (q, tilted)
                )
                moved += sign * (after - before) / STEP
            influence |= zip(refs, moved, strict=True)
        return population.noise({ref: influence[ref] for ref in there})

    def to(self, population: Population) -> Estimate:
        """Return the likeness to a population, without the noise of counting letters and people."""
        raw = self.counted_to(population)
        refs = [ref for ref in self.refs if ref in population.shares]
        return _cleared(raw, self._noise_between([population], refs))

    def counted_to(self, population: Population) -> Estimate:
        """Return the likeness to a population as it is counted, with the noise of letters and
        people.
        """
        return estimate(self.of(population), self.noise(population, (self.answers, 1)))

    @cached_property
    def to_people(self) -> FloatArray:
        """Likeness (questions,) to everybody; where only groups are known, the mean over these."""
        return mean_of([self.of(one) for one in self.people])

    @cached_property
    def by_chance(self) -> FloatArray:
        """The same (questions,) of letters drawn at random, as many as the model gave; of
        probabilities, all equal.
        """
        found = np.full((len(self.people), len(self.refs)), NAN)
        for place, (ref, even) in enumerate(self.evenly.items()):
            rng = derive_rng(self.seed, "representation", "letters", ref)
            letters = (
                rng.multinomial(self.drawn[ref], even, 1_000) / self.drawn[ref]
                if self.drawn[ref]
                else even[None]
            )
            for row, one in enumerate(self.people):
                if ref in one.shares:
                    q = np.array(one.shares[ref].shares)
                    found[row, place] = likeness(
                        letters, q, self.measure, ordered=self.asked[ref].ordered
                    ).mean()
        return mean_of(list(found))

    @property
    def chance(self) -> float:
        """The likeness of letters at random; NaN where no question is compared."""
        known = self.by_chance[~np.isnan(self.by_chance)]
        return float(known.mean()) if known.size else NAN

    @cached_property
    def counted(self) -> Estimate:
        """The likeness to people as it is counted, with the noise of letters and people: the
        published figure.
        """
        return estimate(self.to_people, self._of_people((self.answers, 1)))

    @cached_property
    def _compared(self) -> list[str]:
        known = (~np.isnan(self.to_people)).tolist()
        return [ref for ref, is_known in zip(self.refs, known, strict=True) if is_known]

    @cached_property
    def overall(self) -> Estimate:
        """The likeness to people, without the noise of counting letters and people."""
        return _cleared(self.counted, self._noise_between(self.people, self._compared))

    @cached_property
    def even_overall(self) -> float:
        """The likeness of answers that are every option equally often, without the noise of
        counting people.
        """
        even = self.counted_as(self.evenly)
        return (
            1 - without_noise(1 - float(np.nanmean(even)), self._people_alone)
            if self._compared
            else NAN
        )

    @cached_property
    def _people_alone(self) -> float:
        return math.sqrt(
            np.mean([self.noise_of_people(one, self._compared) ** 2 for one in self.people])
        )

    def counted_as(self, answers: Distributions) -> FloatArray:
        """Return the likeness (questions,) of other answers to the same questions, to people."""
        other = replace(self, answers={ref: answers[ref] for ref in self.refs}, samples={})
        return other.to_people

    @cached_property
    def above_chance(self) -> Estimate:
        """The likeness between that of letters at random (0) and that of people's own answers
        (1).
        """
        model, even = 1 - self.to_people, 1 - self.counted_as(self.evenly)
        known = ~np.isnan(model)
        n, missing = int(known.sum()), int((~known).sum())
        to_even = float(even[known].mean()) if n else NAN
        cleared = without_noise(to_even, self._people_alone) if n else NAN
        if n < 2 or cleared < LEAST_DISTANCE:
            why = (
                "people answer as letters at random would" if n > 1 else "fewer than two questions"
            )
            return Estimate(NAN, NAN, NAN, n, missing, why)
        ratio = float(model[known].mean()) / to_even
        noise = self._noise_between(self.people, self._compared)
        people = self._of_people((self.answers, -1), (self.evenly, ratio))
        parts = [(model[known] - ratio * even[known]) / n / to_even]
        parts += [moves / to_even for moves in people if len(moves)]
        low, high = student_interval(ratio, *_strata(parts))

        def above(times: float) -> float:
            return 1 - without_noise(times * to_even, noise) / cleared

        if math.isnan(low):
            return Estimate(above(ratio), NAN, NAN, n, missing, few="all values equal")
        return Estimate(
            above(ratio), above(high), above(low), n, missing, interval="likeness above chance"
        )

    @cached_property
    def beyond(self) -> tuple[Estimate, float]:
        """How much more like people the answers are than letters at random, and p that it is not at
        all.
        """
        return difference(
            self.to_people - self.by_chance, self._of_people((self.answers, 1), (self.evenly, -1))
        )

    @cached_property
    def against(self) -> dict[str, tuple[Estimate, float]]:
        """The same against each kind of answers without an opinion: how much more like people, and
        p.
        """
        tests = {RANDOM: self.beyond}
        for name, answers in ((EVEN, self.evenly), (FIRST, self.first), (POSITION, self.position)):
            if all(ref in answers for ref in self.refs):
                noise = self._of_people((self.answers, 1), (answers, -1))
                tests[name] = difference(self.to_people - self.counted_as(answers), noise)
        return tests

    @cached_property
    def claim(self) -> tuple[str, float]:
        """The kind of answers without an opinion that is beaten least, and p that these are beaten.

        p is 1 where one of them is as much like people, or would be if the missing answers were as
        unlike as they can.
        """
        if self.beyond[0].value < 0 and self.beyond[1] < 1:
            return RANDOM, self._p_of_less
        worst, name = -1.0, RANDOM
        for kind, (gain, p) in self.against.items():
            sided = p if gain.value > 0 and not math.isnan(p) else 1.0
            if sided > worst:
                worst, name = sided, kind
        return name, max(worst, self._p_of_least)

    @cached_property
    def _p_of_least(self) -> float:
        """The p of the claim if the missing answers were as unlike people as they can be."""
        if not any(share > 0 for share in self.missing.values()):
            return 0.0
        worst = 0.0
        for kind in (RANDOM, FIRST):
            values = np.array([low - senseless[kind] for low, _, senseless in self._bounds])
            change, p = difference(values, self._of_people((self.answers, 1), (self.evenly, -1)))
            worst = max(worst, p if change.value > 0 and not math.isnan(p) else 1.0)
        return worst

    @cached_property
    def _p_of_less(self) -> float:
        """The p of being less like people if the missing answers were as like people as they can
        be.
        """
        if not any(share > 0 for share in self.missing.values()):
            return self.beyond[1]
        lacking = np.array([high - senseless[RANDOM] for _, high, senseless in self._bounds])
        change, p = difference(lacking, self._of_people((self.answers, 1), (self.evenly, -1)))
        return p if change.value < 0 else 1.0

    @cached_property
    def _bounds(self) -> list[tuple[float, float, dict[str, float]]]:
        """Of each question that was asked: the least and the most likeness, and that of answers
        without an opinion.
        """
        rows = []
        for ref in (*self._compared, *self.unanswered):
            question, here = self.asked[ref], [one for one in self.people if ref in one.shares]
            n = len(question.options)
            ends = np.zeros(n)
            ends[0], ends[-1] = 0.5, 0.5
            share = self.answers.get(ref, np.full(n, 1 / n))
            lows: list[float] = []
            highs: list[float] = []
            random: list[float] = []
            first: list[float] = []
            for one in here:
                q = np.array(one.shares[ref].shares)
                low, high = least_and_most(
                    share, self.missing.get(ref, 0.0), q, self.measure, ordered=question.ordered
                )
                lows.append(low)
                highs.append(high)
                random.append(
                    float(likeness(np.full(n, 1 / n), q, self.measure, ordered=question.ordered))
                )
                first.append(float(likeness(ends, q, self.measure, ordered=question.ordered)))
            if here:
                senseless = {RANDOM: float(np.mean(random)), FIRST: float(np.mean(first))}
                rows.append((float(np.mean(lows)), float(np.mean(highs)), senseless))
        return rows

    @property
    def missing_share(self) -> float:
        """The share of the answers that were asked for without an offered letter, or NaN if nothing
        was asked.
        """
        return float(np.mean(list(self.missing.values()))) if self.missing else NAN

    @cached_property
    def bounds(self) -> Ends:
        """The least and the most likeness over all questions that were asked, whatever the missing
        answers were.
        """
        if not self._bounds or not self._compared:
            return NAN, NAN
        noise = self._noise_between(self.people, self._compared)
        low, high = (float(np.mean([row[end] for row in self._bounds])) for end in (0, 1))
        return 1 - without_noise(1 - low, noise), 1 - without_noise(1 - high, noise)

    def bounds_of_people(self, population: Population) -> Ends:
        """Return the least and the most likeness to a population, whatever its people without an
        answer think.
        """
        refs = [ref for ref in self.refs if ref in population.shares]
        if not refs:
            return NAN, NAN
        ends = []
        for ref in refs:
            q, share = np.array(population.shares[ref].shares), self.answers[ref]
            lacking, ordered = population.unanswered.get(ref, 0.0), self.asked[ref].ordered
            ends.append(least_and_most(q, lacking, share, self.measure, ordered=ordered))
        noise = self._noise_between([population], refs)
        low, high = np.mean(ends, axis=0).tolist()
        return 1 - without_noise(1 - low, noise), 1 - without_noise(1 - high, noise)

    def _of_people(self, *signed: tuple[Distributions, float]) -> list[FloatArray]:
        return [
            moves / len(self.people) for one in self.people for moves in self.noise(one, *signed)
        ]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups of which there are several."""
        every = [one.kind for one in self.populations if one.kind]
        return tuple(kind for kind in dict.fromkeys(every) if every.count(kind) > 1)

    @cached_property
    def rankings(self) -> dict[str, list[Ranked]]:
        """The groups of each kind, the nearest first."""
        return {kind: self._ranking(kind) for kind in self.kinds}

    def _ranking(self, kind: str) -> list[Ranked]:
        """Return the groups of a kind from the nearest to the farthest, over the questions that all
        of them have; see `_overlapping` for those that are left out.

        In each draw the questions are drawn again, the same for all groups, and each group moves by
        a normal deviate with the standard error that its people give it. All groups are ranked as
        if each had as many people as the smallest, so that a small group is not farther for the
        noise of its shares alone.
        """
        groups = self._overlapping(kind)
        if not groups:
            return []
        every = self.at_equal_n(groups)
        common = np.logical_not(np.isnan(every).any(axis=0))
        n = int(common.sum())
        values, means = every[:, common], every[:, common].mean(axis=1)
        answers = {
            ref: self.answers[ref] for ref, there in zip(self.refs, common, strict=True) if there
        }
        noise = [self.noise(one, (answers, 1)) for one in groups]
        errors = [sum(variance(moves)[0] for moves in one) ** 0.5 for one in noise]
        times, deviates = _draws(self.seed, kind, n, len(groups), self.draws)
        drawn = times @ values.T / n + deviates * errors
        centred = drawn - drawn.mean(axis=0) + means
        ranks = np.stack([1 + (centred > each[:, None]).sum(axis=1) for each in centred.T], axis=1)
        ends = np.quantile(ranks, (0.025, 0.975), axis=0, method="nearest").astype(int).T.tolist()
        order = np.argsort(-means, kind="stable").tolist()
        first = order[0]
        nothing: tuple[Estimate | None, float] = None, NAN
        behind = [
            nothing,
            *(
                difference(values[first] - values[at], [*noise[first], *noise[at]])
                for at in order[1:]
            ),
        ]
        even_answers = replace(self, answers={ref: self.evenly[ref] for ref in answers}, samples={})
        even = even_answers.at_equal_n(groups).mean(axis=1)
        cleared = [replace(self, answers=answers).to(one) for one in groups]
        nearer = [int((means > each).sum()) for each in means]
        return [
            Ranked(
                groups[at],
                cleared[at],
                1 + nearer[at],
                (ends[at][0], ends[at][1]),
                *behind[place],
                float(even[at]),
                float(means[at]),
            )
            for place, at in enumerate(order)
        ]

    def at_equal_n(self, groups: Sequence[Population]) -> FloatArray:
        """Return the likeness (groups, questions) that each group would have with as many people as
        the smallest.

        It is the mean over draws of so many people from the group's own shares. Where the number of
        people is unknown, the shares are taken as they are.
        """
        rows = np.array([self.of(group) for group in groups])
        places = {ref: place for place, ref in enumerate(self.refs)}
        common = [ref for ref in self.refs if all(ref in group.shares for group in groups)]
        if not all(group.known for group in groups):
            return rows
        rng = derive_rng(self.seed, "representation", "equal n", groups[0].kind)
        for refs, ordered in self._alike(common):
            sizes = np.array([[group.shares[ref].effective_n for ref in refs] for group in groups])
            least = sizes.min(axis=0)
            answers, at = (
                np.array([self.answers[ref] for ref in refs]),
                [places[ref] for ref in refs],
            )
            for row, group in enumerate(groups):
                larger = sizes[row] - least > 0.5
                if not larger.any():
                    continue
                shares = np.array([group.shares[ref].shares for ref in refs])
                # n people who are drawn from the shares of N more people are as noisy as so many of
                # the population
                counts = np.maximum(
                    1, np.rint(1 / (1 / least - np.where(larger, 1 / sizes[row], 0)))
                ).astype(int)
                drawn = rng.multinomial(counts, shares, (NOISE_DRAWS, len(refs))) / counts[:, None]
                alike = likeness(drawn, answers, self.measure, ordered=ordered).mean(axis=0)
                rows[row, at] = np.where(larger, alike, rows[row, at])
        return rows

    def _overlapping(self, kind: str) -> list[Population]:
        """Return the groups of a kind that may be ranked, in order: those that have most questions
        in common, by the number of groups times that of questions. Each group in turn says what
        that may be: it takes in those with which it has most in common, as long as all have half of
        its questions in common, and two. Countries that were asked in different years have hardly a
        question in common, and one of these would leave the others too few.
        """
        groups = [one for one in self.populations if one.kind == kind]
        has = np.array([[ref in one.shares for ref in self.refs] for one in groups], dtype=np.bool_)
        best, most = list[int](), 0
        for first in has:
            kept, common = list[int](), first
            for at in np.argsort(-(has & first).sum(axis=1), kind="stable").tolist():
                if 2 * (common & has[at]).sum() >= max(int(first.sum()), 4):
                    kept, common = [*kept, at], common & has[at]
            if len(kept) * common.sum() > most:
                best, most = kept, len(kept) * int(common.sum())
        return [groups[at] for at in sorted(best)] if len(best) > 1 else []

    def apart(self, kind: str) -> list[Population]:
        """Return the groups of a kind that are not ranked although they answered questions that the
        model answered.
        """
        ranked = self._overlapping(kind)
        there = [one for one in self.populations if one.kind == kind and one not in ranked]
        return [one for one in there if any(ref in one.shares for ref in self.refs)]

    def unranked(self, kind: str) -> list[Ranked]:
        """Return these groups with their likeness over the questions that they have, the nearest
        first.
        """
        even = replace(self, answers=self.evenly, samples={})
        found = (
            Ranked(one, self.to(one), None, (), None, NAN, float(np.nanmean(even.of(one))), NAN)
            for one in self.apart(kind)
        )
        return sorted(found, key=lambda one: -one.likeness.value)


@lru_cache(maxsize=8)
def _draws(
    seed: int, kind: str, questions: int, groups: int, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Return how often each question is drawn in each draw, and normal deviates of the groups; the
    same for all models.

    They took most of the time of 8 models, 6 kinds and 500 questions.
    """
    rng = derive_rng(seed, "representation", "ranks", kind)
    times = rng.multinomial(questions, [1 / questions] * questions, draws).astype(np.float64)
    return times, rng.standard_normal((draws, groups))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A group's place among those of its kind."""

    population: Population
    likeness: Estimate
    rank: int | None
    "None: it has none, see `Likenesses.unranked`"
    ranks: tuple[int, ...]
    "95 % of the draws"
    behind: Estimate | None
    "how much nearer the first one is, over the same questions; None: this is the first"
    p: float
    "of that difference; NaN: this is the first"
    even: float
    "likeness of answers that are every option equally often, over the same questions"
    at_equal_n: float
    """likeness if every group had as many people as the smallest: the groups are ranked by it; NaN:
    it is not ranked"""


def mean_of(rows: Sequence[FloatArray]) -> FloatArray:
    """Return the mean over rows, of those that are there; NaN where none is."""
    values = np.array(rows)
    counts = (~np.isnan(values)).sum(axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.where(counts, counts, np.nan))


def estimate(values: FloatArray, noise: Sequence[FloatArray]) -> Estimate:
    """Return the mean over questions, at most 1; questions without a value are excluded. noise :
    what people move it
    """
    return _mean(values, noise, of_shares=True)[0]


def difference(values: FloatArray, noise: Sequence[FloatArray]) -> tuple[Estimate, float]:
    """Return the mean of paired differences over questions, and the two-sided p of Student's test
    that it is 0.
    """
    return _mean(values, noise, of_shares=False)


def _mean(
    values: FloatArray, noise: Sequence[FloatArray], *, of_shares: bool
) -> tuple[Estimate, float]:
    there = values[~np.isnan(values)]
    n, missing = len(there), int(np.isnan(values).sum())
    if n < 2:
        why = "" if n else "no question"
        return Estimate(
            float(there[0]) if n else NAN, NAN, NAN, n, missing, why, few="one question" * n
        ), NAN
    mean = float(there.mean())
    moves, strata = _strata([(there - mean) / n, *(moves for moves in noise if len(moves))])
    low, high = (
        share_ends(mean, moves, n, strata)
        if of_shares
        else student_interval(mean, moves, strata, LARGEST)
    )
    few = "all values equal" if np.isnan(low) else ""
    if (low, high) == (-LARGEST, LARGEST):
        low, high, few = (
            NAN,
            NAN,
            f"too few for an interval: {n} questions, it would span the whole scale",
        )
    name = "" if few else "likeness to people" if of_shares else "difference of likeness"
    return Estimate(mean, low, high, n, missing, interval=name, few=few), student_p(
        mean, moves, strata
    )


def _strata(parts: Sequence[FloatArray]) -> tuple[FloatArray, list[npt.NDArray[np.integer]]]:
    """Return all moves in one array, and where each part stands in it."""
    ends = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts), [np.arange(low, high) for low, high in pairwise(ends.tolist())]


def _cleared(counted: Estimate, noise: float) -> Estimate:
    """Return a likeness and its interval without the noise of counting."""
    value, low, high = (
        1 - without_noise(1 - end, noise) for end in (counted.value, counted.low, counted.high)
    )
    return replace(counted, value=value, low=low, high=high)


def _mean_or_zero(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
