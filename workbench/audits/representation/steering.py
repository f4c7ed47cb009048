"""Whether a persona moves the answers towards the group of its name."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.audits.by_persona import WithPersona
from workbench.audits.representation.judged import LikenessData
from workbench.audits.representation.likeness import Likenesses, difference
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray
from workbench.stats.populations import Population


@dataclass(frozen=True, slots=True)
class Steered:
    """The change of the likeness to one group by a persona."""

    runs: WithPersona
    population: Population
    without: Estimate
    with_it: Estimate
    change: Estimate
    p: float
    moves: FloatArray
    "the change by question; NaN: too few people answered it"
    model: Likenesses
    "the model with the persona"
    base: Likenesses
    "the model without it, over the same questions"

    @property
    def meant(self) -> bool:
        """Whether the persona has the name of the group."""
        return self.runs.called.casefold() in (
            self.population.name.casefold(),
            self.population.value.casefold(),
        )

    @property
    def way(self) -> float:
        """The change divided by the gap without the persona, or NaN if there is no gap."""
        return self.change.value / (1 - self.without.value) if self.without.value < 1 else math.nan

    def noise(self, sign: float = 1.0) -> list[FloatArray]:
        """Return the influence of the group's people on the change."""
        return self.base.noise(
            self.population, (self.model.answers, sign), (self.base.answers, -sign)
        )


def steering(likeness_data: LikenessData) -> Iterator[Steered]:
    """Yield the change by each persona, over the questions answered with and without it."""
    for runs in likeness_data.personas:
        baseline, with_persona = (
            likeness_data.likenesses[runs.baseline],
            likeness_data.likenesses[runs.name],
        )
        refs = [ref for ref in baseline.refs if ref in with_persona.answers]
        shared_baseline, shared_persona = (
            replace(likenesses, answers={ref: likenesses.answers[ref] for ref in refs})
            for likenesses in (baseline, with_persona)
        )
        for population in likeness_data.populations:
            moves = shared_persona.by_question(population) - shared_baseline.by_question(population)
            change = difference(
                moves,
                shared_baseline.noise(
                    population, (shared_persona.answers, 1), (shared_baseline.answers, -1)
                ),
            )
            likenesses = (
                shared_baseline.counted_to(population),
                shared_persona.counted_to(population),
            )
            yield Steered(
                runs, population, *likenesses, *change, moves, shared_persona, shared_baseline
            )


def claims_of_personas(every: Sequence[Steered]) -> list[tuple[Steered, float, str]]:
    """Return the changes of personas towards the group of their name, with the p of the claim.

    The claim is that the answers move towards this group more than towards each other group of its
    kind and everybody, and more than an irrelevant persona moves them. The text names the
    comparison that fails.
    """
    aimed_changes = [change for change in every if change.meant]
    aimed_names = {change.runs.name for change in aimed_changes}
    return [(change, *_claim_p(change, every, aimed_names)) for change in aimed_changes]


def _claim_p(
    claimed: Steered, all_steered: Sequence[Steered], named_runs: Collection[str]
) -> tuple[float, str]:
    """Return the p of a claim about a persona, and the comparison that decides it."""
    if not claimed.change.value > 0 or math.isnan(claimed.p):
        return 1.0, ""
    largest_p, comparison = claimed.p, ""
    for other in all_steered:
        is_same_run = (
            other.runs.name == claimed.runs.name and other.population is not claimed.population
        )
        is_irrelevant = (
            other.runs.baseline == claimed.runs.baseline
            and other.runs.name not in named_runs
            and other.population is claimed.population
        )
        if is_same_run and other.population.kind in ("", claimed.population.kind):
            name = f"towards {other.population.name}"
        elif is_irrelevant:
            name = f"with the persona {other.runs.persona}"
        else:
            continue
        gain, p = _compare_changes(claimed, other)
        p = p if gain > 0 and not math.isnan(p) else 1.0
        if p > largest_p:
            largest_p, comparison = p, name
    return largest_p, comparison


def _compare_changes(steered: Steered, other_steered: Steered) -> tuple[float, float]:
    """Return how much a change exceeds another over questions, and the p of no difference."""
    row_by_ref = {ref: row for row, ref in enumerate(other_steered.base.refs)}
    moves = np.array(
        [
            other_steered.moves[row_by_ref[ref]] if ref in row_by_ref else math.nan
            for ref in steered.base.refs
        ]
    )
    gain, p = difference(steered.moves - moves, [*steered.noise(), *other_steered.noise(-1.0)])
    return gain.value, p
