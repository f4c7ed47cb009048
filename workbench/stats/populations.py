"""Human answers to questions: of everybody, of subgroups, and of published populations.

Of the last, only shares are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.domain.questionnaires import PublishedShares, Questionnaire, Scale, group_fields
from workbench.stats.arrays import FloatArray
from workbench.stats.weights import Codes, Floats, WeightedShares, weighted_shares

NAN = float("nan")
EVERYBODY = "everybody"
NOT_GIVEN = -2
"""code of a person without an answer to a question; -1: `don't know`, a refusal, or a value off the
scale"""


def in_range(weights: Floats) -> Floats:
    """Return weights times a power of two, so that the largest is below 1.

    This changes no digit of a share.
    """
    return np.asarray(np.ldexp(weights, -np.frexp(np.max(weights, initial=0.0))[1]))


@dataclass(frozen=True, eq=False)
class CodedPeople:
    """People's answers as numbers.

    100,000 people with 500 answers each take 100 MB, and gigabytes as texts.
    """

    codes: Mapping[str, Codes]
    "by ref: (people,)"
    weights: Floats
    "on a scale on which they can be added up"
    groups: Mapping[str, NDArray[np.object_]]
    "kind of group -> the value of each person; empty: none"

    @classmethod
    def of(cls, questionnaire: Questionnaire) -> CodedPeople:
        """Return the respondents of a questionnaire."""
        people, codes = questionnaire.respondents, {}
        for question in questionnaire.questions:
            scale, code_by_value = questionnaire.scale(question.scale), {"": NOT_GIVEN}
            values = [person.answers.get(question.ref, "") for person in people]
            code_by_value |= {value: scale.place(value) for value in set(values) - {""}}
            codes[question.ref] = np.array(
                [code_by_value[value] for value in values], dtype=np.int16
            )
        fields = group_fields(people)
        groups = {
            field: np.array([person.groups.get(field, "") for person in people], object)
            for field in fields
        }
        return cls(codes, in_range(np.array([person.weight for person in people])), groups)

    def members(self, kind: str) -> Iterator[tuple[str, NDArray[np.intp]]]:
        """Yield every group of a kind, by its value in order, with the places of its people."""
        for value in sorted({*self.groups[kind].tolist()} - {""}):
            yield value, np.flatnonzero(self.groups[kind] == value)


@dataclass(frozen=True, eq=False)
class Population:
    """The answers of some people, question by question."""

    kind: str
    "kind of group, such as `country`; empty: everybody"
    value: str
    shares: Mapping[str, WeightedShares]
    "by ref; questions that too few people answered are left out"
    everyone: CodedPeople | None = None
    "None where only shares are known"
    members: NDArray[np.intp] | None = None
    "their places among everyone; None: all"
    known: bool = True
    "whether the number of people is; else shares count as exact"
    unsure: Mapping[str, float] = field(default_factory=dict)
    """by ref: the share of its people, as weighted, who said `don't know`, refused, or gave none of
    the options"""
    unanswered: Mapping[str, float] = field(default_factory=dict)
    "by ref: the same, with those who have no answer at all"

    @property
    def name(self) -> str:
        return f"{self.kind}={self.value}" if self.kind else EVERYBODY

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of its people, empty if only shares are known."""
        all_weights = self.everyone.weights if self.everyone is not None else np.empty(0)
        return all_weights if self.members is None else all_weights[self.members]

    @cached_property
    def weighed(self) -> Mapping[str, float]:
        """The sum of the weights of those who answered each question."""
        return {ref: float(self.weights[self.of(ref) >= 0].sum()) for ref in self.shares}

    def of(self, ref: str) -> Codes:
        """Return its people's answers to a question."""
        assert self.everyone is not None, "of published shares nobody is known"
        return (
            self.everyone.codes[ref]
            if self.members is None
            else self.everyone.codes[ref][self.members]
        )

    @property
    def people(self) -> float:
        """The largest number of respondents to a question, or NaN if it is unknown."""
        return max(shares.people for shares in self.shares.values()) if self.known else NAN

    @property
    def effective_n(self) -> float:
        """The effective sample size of the question with the fewest respondents.

        It is NaN if it is unknown.
        """
        return min(shares.effective_n for shares in self.shares.values()) if self.known else NAN

    @property
    def design_effect(self) -> float:
        """The mean design effect over questions, or NaN if it is unknown."""
        return (
            float(np.mean([shares.design_effect for shares in self.shares.values()]))
            if self.known
            else NAN
        )

    def noise(self, influence: Mapping[str, FloatArray]) -> list[FloatArray]:
        """Return each person's influence on a mean over questions.

        Influences are in one array, or for published shares in one array per question.

        Parameters
        ----------
        influence : what one more answer of each option would move the value of a question
        """
        if self.everyone is None:
            influences = []
            for ref, option_influence in influence.items():
                shares = self.shares[ref]
                counts = np.rint(np.array(shares.shares) * shares.effective_n).astype(int)
                influences.append(
                    np.repeat(option_influence, counts) / max(int(counts.sum()), 1) / len(influence)
                )
            return influences
        weights = self.weights
        moves = np.zeros(len(weights))
        for ref, option_influence in influence.items():
            # Who is below 0 has the last.
            moves_by_code = np.append(option_influence / self.weighed[ref] / len(influence), 0.0)
            moves += moves_by_code[np.maximum(self.of(ref), -1)]
        return [moves * weights]


def populations(
    people: Questionnaire,
    refs: Collection[str],
    kinds: Sequence[str],
    least: int,
    everyone: CodedPeople | None = None,
) -> list[Population]:
    """Return everybody who answered, every group, and every population of published shares.

    Of the last, only shares are known.

    Parameters
    ----------
    refs : of the questions that are meant
    kinds : of groups; none: all
    least : fewest people, as weighted, of a question that counts
    everyone : who answered; None: the questionnaire's respondents
    """
    scales = {
        question.ref: people.scale(question.scale)
        for question in people.questions
        if question.ref in refs
    }
    answered = list(_answered_populations(everyone or CodedPeople.of(people), scales, kinds, least))
    population_names = {
        (population.kind, population.value) for population in answered if population.shares
    }
    published = _published_populations(people, scales, kinds, least)
    unknown = [
        population
        for population in published
        if (population.kind, population.value) not in population_names
    ]
    return sorted(
        (population for population in (*answered, *unknown) if population.shares),
        key=lambda population: (population.kind, population.value),
    )


def _answered_populations(
    everyone: CodedPeople, scales: Mapping[str, Scale], kinds: Sequence[str], least: int
) -> Iterator[Population]:
    """Yield everybody who answered, then every group, with the questions that enough answered."""
    if not len(everyone.weights):
        return
    groups: list[tuple[str, str, NDArray[np.intp] | None]] = [("", "", None)]
    for kind in everyone.groups:
        if not kinds or kind in kinds:
            groups += [(kind, *group) for group in everyone.members(kind)]
    for kind, value, members in groups:
        population = Population(kind, value, {}, everyone, members)
        shares: dict[str, WeightedShares] = {}
        for ref, scale in scales.items():
            of_question = weighted_shares(
                population.of(ref), population.weights, len(scale.offered)
            )
            if of_question.effective_n >= least:
                shares[ref] = of_question
        yield replace(
            population,
            shares=shares,
            unsure={ref: _share_of(population, np.equal(population.of(ref), -1)) for ref in shares},
            unanswered={ref: _share_of(population, population.of(ref) < 0) for ref in shares},
        )


def _published_populations(
    people: Questionnaire, scales: Mapping[str, Scale], kinds: Sequence[str], least: int
) -> Iterator[Population]:
    """Yield the populations of published shares, with the questions that enough answered.

    Shares without a number of people count.
    """
    published: dict[tuple[str, str], dict[str, PublishedShares]] = {}
    for of_question in people.published:
        is_chosen = not of_question.group or not kinds or of_question.group in kinds
        if of_question.ref in scales and is_chosen:
            by_ref = published.setdefault((of_question.group, of_question.value), {})
            by_ref[of_question.ref] = of_question
    for (kind, value), by_ref in published.items():
        shares: dict[str, WeightedShares] = {}
        for ref, of_question in by_ref.items():
            coded = _published(of_question, scales[ref])
            has_enough = of_question.people is None or coded.effective_n >= least
            if coded.shares[0] >= 0 and has_enough:
                shares[ref] = coded
        has_sizes = all(by_ref[ref].people is not None for ref in shares)
        unsure = {ref: _unsure(by_ref[ref], scales[ref]) for ref in shares}
        yield Population(kind, value, shares, known=has_sizes, unsure=unsure, unanswered=unsure)


def _share_of(population: Population, members: NDArray[np.bool_]) -> float:
    """Return the weighted share of some people of a population, or 0 without any weight."""
    total = float(population.weights.sum())
    return float(population.weights[members].sum()) / total if total else 0.0


def _unsure(published: PublishedShares, scale: Scale) -> float:
    """Return the published share of those who gave none of the options."""
    option_shares = [
        share for answer, share in published.shares.items() if scale.place(answer) >= 0
    ]
    return 1 - sum(option_shares) / max(sum(published.shares.values()), 1e-9)


def _published(published: PublishedShares, scale: Scale) -> WeightedShares:
    """Return published shares among the offered options, with the number of respondents.

    The number is 0 if it is unknown.
    """
    codes = np.array([scale.place(answer) for answer in published.shares], dtype=np.intp)
    weights = np.array(list(published.shares.values()))
    people = (published.people or 0) * float(weights[codes >= 0].sum() / max(weights.sum(), 1e-9))
    return WeightedShares(
        weighted_shares(codes, weights, len(scale.offered)).shares, round(people), people
    )
