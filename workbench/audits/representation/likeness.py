"""How like two distributions of answers are, and which population a model is nearest to.

Answers are distributions over the options of a question, from the first to the last. The likeness of a model to a
population is the mean over questions of 1 - d, d a distance in [0, 1]. Its interval is over questions and people.

References
----------
Santurkar, Durmus, Ladhak, Lee, Liang, Hashimoto 2023, Whose Opinions Do Language Models Reflect?, section 3.1 (1 -
Wasserstein; representativeness). Durmus et al. 2023, Towards Measuring the Representation of Subjective Global Opinions
in Language Models, section 3 (1 - Jensen-Shannon distance). Kish 1965, Survey Sampling (effective number).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from workbench.domain.choices import LETTERS
from workbench.domain.questionnaires import Scale
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray
from workbench.stats.describe import ordered_wasserstein
from workbench.stats.populations import Population
from workbench.stats.resampling import derive_rng, share_ends, student_interval, student_p, variance

NAN = float("nan")
STEP = 1e-4
"how much more weight one answer gets to see what it changes"
LARGEST = 1.0
"size of the largest difference of two likenesses"
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
    """
    if measure == "wasserstein" and ordered:
        return np.asarray(1 - ordered_wasserstein(p, q))
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (each / each.sum(axis=-1, keepdims=True) for each in np.broadcast_arrays(p, q))
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
        """Return a question with the options that its scale offers; None where there is no choice among letters."""
        options = tuple(option.values[0] for option in scale.offered)
        return cls(options, scale.ordered) if 2 <= len(options) <= len(LETTERS) else None


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

    @cached_property
    def refs(self) -> tuple[str, ...]:
        """The questions that the model answered, in order."""
        return tuple(ref for ref in self.asked if ref in self.answers)

    @cached_property
    def evenly(self) -> Distributions:
        """Answers that are every option equally often."""
        return {ref: np.full(len(self.asked[ref].options), 1 / len(self.asked[ref].options)) for ref in self.refs}

    @cached_property
    def people(self) -> list[Population]:
        """Everybody; where only groups are known, all of these."""
        return [one for one in self.populations if not one.kind] or list(self.populations)

    def _alike(self, refs: Iterable[str]) -> Iterator[tuple[list[str], bool]]:
        """Yield questions with as many options and an order or none, which are computed at once, and whether they have
        an order.
        """
        found: dict[tuple[int, bool], list[str]] = {}
        for ref in refs:
            found.setdefault((len(self.asked[ref].options), self.asked[ref].ordered), []).append(ref)
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

    def noise(self, population: Population, *signed: tuple[Distributions, float]) -> list[FloatArray]:
        """Return what people move the likeness of some answers; of several, with signs, their sum."""
        influence: dict[str, FloatArray] = {}
        there = [ref for ref in self.refs if ref in population.shares and all(ref in of for of, _ in signed)]
        for refs, ordered in self._alike(there):
            q = np.array([population.shares[ref].shares for ref in refs])[:, None]
            tilted = (1 - STEP) * q + STEP * np.eye(q.shape[-1])
            moved = np.zeros((len(refs), q.shape[-1]))
            for of, sign in signed:
                p = np.array([of[ref] for ref in refs])[:, None]
                before, after = (likeness(p, each, self.measure, ordered=ordered) for each in (q, tilted))
                moved += sign * (after - before) / STEP
            influence |= zip(refs, moved, strict=True)
        return population.noise({ref: influence[ref] for ref in there})

    def to(self, population: Population) -> Estimate:
        """Return the likeness to a population."""
        return estimate(self.of(population), self.noise(population, (self.answers, 1)))

    @cached_property
    def to_people(self) -> FloatArray:
        """Likeness (questions,) to everybody; where only groups are known, the mean over these."""
        return mean_of([self.of(one) for one in self.people])

    @cached_property
    def by_chance(self) -> FloatArray:
        """The same (questions,) of letters drawn at random, as many as the model gave; of probabilities, all equal."""
        found = np.full((len(self.people), len(self.refs)), NAN)
        for place, (ref, even) in enumerate(self.evenly.items()):
            rng = derive_rng(self.seed, "representation", "letters", ref)
            letters = rng.multinomial(self.drawn[ref], even, 1_000) / self.drawn[ref] if self.drawn[ref] else even[None]
            for row, one in enumerate(self.people):
                if ref in one.shares:
                    q = np.array(one.shares[ref].shares)
                    found[row, place] = likeness(letters, q, self.measure, ordered=self.asked[ref].ordered).mean()
        return mean_of(list(found))

    @property
    def chance(self) -> float:
        """The likeness of letters at random; NaN where no question is compared."""
        known = self.by_chance[~np.isnan(self.by_chance)]
        return float(known.mean()) if known.size else NAN

    @cached_property
    def overall(self) -> Estimate:
        """The likeness to people."""
        return estimate(self.to_people, self._of_people((self.answers, 1)))

    @cached_property
    def beyond(self) -> tuple[Estimate, float]:
        """How much more like people the answers are than letters at random, and p that it is not at all."""
        return difference(self.to_people - self.by_chance, self._of_people((self.answers, 1), (self.evenly, -1)))

    def _of_people(self, *signed: tuple[Distributions, float]) -> list[FloatArray]:
        return [moves / len(self.people) for one in self.people for moves in self.noise(one, *signed)]

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
        """Return the groups of a kind from the nearest to the farthest, over the questions that all of them have; see
        `_overlapping` for those that are left out.

        In each draw the questions are drawn again, the same for all groups, and each group moves by a normal deviate
        with the standard error that its people give it. The draws are centred on the likeness, so that a small group is
        not farther for the noise of its shares alone.
        """
        groups = self._overlapping(kind)
        if not groups:
            return []
        every = np.array([self.of(one) for one in groups])
        common = ~np.isnan(every).any(axis=0)
        n = int(common.sum())
        values, means = every[:, common], every[:, common].mean(axis=1)
        answers = {ref: self.answers[ref] for ref, there in zip(self.refs, common.tolist(), strict=True) if there}
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
        behind = [nothing, *(difference(values[first] - values[at], [*noise[first], *noise[at]]) for at in order[1:])]
        even = [replace(self, answers={ref: self.evenly[ref] for ref in answers}).of(one).mean() for one in groups]
        nearer = [int((means > each).sum()) for each in means]
        return [
            Ranked(
                groups[at], estimate(values[at], noise[at]), 1 + nearer[at], (ends[at][0], ends[at][1]),
                float((ranks[:, at] == 1).mean()), *behind[place], float(even[at]),
            )
            for place, at in enumerate(order)
        ]  # fmt: skip

    def _overlapping(self, kind: str) -> list[Population]:
        """Return the groups of a kind that may be ranked, in order: those that have most questions in common, by the
        number of groups times that of questions. Each group in turn says what that may be: it takes in those with which
        it has most in common, as long as all have half of its questions in common, and two. Countries that were asked
        in different years have hardly a question in common, and one of these would leave the others too few.
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
        """Return the groups of a kind that are not ranked although they answered questions that the model answered."""
        ranked = self._overlapping(kind)
        there = [one for one in self.populations if one.kind == kind and one not in ranked]
        return [one for one in there if any(ref in one.shares for ref in self.refs)]

    def unranked(self, kind: str) -> list[Ranked]:
        """Return these groups with their likeness over the questions that they have, the nearest first."""
        even = replace(self, answers=self.evenly)
        found = (
            Ranked(one, self.to(one), None, (), NAN, None, NAN, float(np.nanmean(even.of(one))))
            for one in self.apart(kind)
        )
        return sorted(found, key=lambda one: -one.likeness.value)


@lru_cache(maxsize=8)
def _draws(seed: int, kind: str, questions: int, groups: int, draws: int) -> tuple[FloatArray, FloatArray]:
    """Return how often each question is drawn in each draw, and normal deviates of the groups; the same for all models.

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
    nearest: float
    "share of the draws in which no group is nearer"
    behind: Estimate | None
    "how much nearer the first one is, over the same questions; None: this is the first"
    p: float
    "of that difference; NaN: this is the first"
    even: float
    "likeness of answers that are every option equally often, over the same questions"


def mean_of(rows: Sequence[FloatArray]) -> FloatArray:
    """Return the mean over rows, of those that are there; NaN where none is."""
    values = np.array(rows)
    counts = (~np.isnan(values)).sum(axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.where(counts, counts, np.nan))


def estimate(values: FloatArray, noise: Sequence[FloatArray]) -> Estimate:
    """Return the mean over questions, at most 1; questions without a value are excluded. noise : what people move it"""
    return _mean(values, noise, of_shares=True)[0]


def difference(values: FloatArray, noise: Sequence[FloatArray]) -> tuple[Estimate, float]:
    """Return the mean of paired differences over questions, and the two-sided p of Student's test that it is 0."""
    return _mean(values, noise, of_shares=False)


def _mean(values: FloatArray, noise: Sequence[FloatArray], *, of_shares: bool) -> tuple[Estimate, float]:
    there = values[~np.isnan(values)]
    n, missing = len(there), int(np.isnan(values).sum())
    if n < 2:
        why = "" if n else "no question"
        return Estimate(float(there[0]) if n else NAN, NAN, NAN, n, missing, why, few="one question" * n), NAN
    mean = float(there.mean())
    parts = [(there - mean) / n, *(moves for moves in noise if len(moves))]
    moves, ends = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
    strata = [np.arange(low, high) for low, high in pairwise(ends.tolist())]
    low, high = share_ends(mean, moves, n, strata) if of_shares else student_interval(mean, moves, strata, LARGEST)
    few = "all values equal" if np.isnan(low) else ""
    if (low, high) == (-LARGEST, LARGEST):
        low, high, few = NAN, NAN, f"too few for an interval: {n} questions, it would span the whole scale"
    name = "" if few else "likeness to people" if of_shares else "difference of likeness"
    return Estimate(mean, low, high, n, missing, interval=name, few=few), student_p(mean, moves, strata)
