"""Asking of prompts only until their verdicts are settled.

The answers so far are counted, and the next ones planned.

A prompt is settled when every completion to N answers gives the same verdict
(`workbench.stats.proportions`). The first round has the fewest readable answers that can settle a
prompt; each later one the fewest further answers that can settle it, so that no answer is requested
that asking one by one would save.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stores.core.store import Store
from stores.runs.models import SettledBy
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.prompts import Probe, Template
from workbench.domain.readings import Stance
from workbench.domain.responses import EXACT, ModelCard
from workbench.domain.thinking import split
from workbench.errors import UsageError
from workbench.evidence.readings import template_reader
from workbench.readers.rules import Reader
from workbench.stats.proportions import VerdictRule, is_settled, least_more, mean_expected_share

Read = tuple[int, int, int]
"numbers of answers that agree, disagree, and do neither"


@dataclass(frozen=True, slots=True)
class Settling:
    """The answers to the prompts of a plan, and the answers still needed for their verdicts."""

    rule: VerdictRule
    readers: Mapping[bytes, Reader]
    "prompt key -> the rule that reads its answers"
    seeds: Mapping[bytes, int]
    "prompt key -> the seed of all its answers"
    came: Mapping[bytes, Read]
    following: Mapping[bytes, int]
    "prompt key -> number of the first answer of its seed that was not requested"
    elsewhere: frozenset[bytes] = frozenset()
    "prompts that another snapshot of a served model has settled"

    def by(self) -> dict[bytes, SettledBy]:
        """Return the rule by which each prompt is settled."""
        return {key: SettledBy.of(self.rule, reader.card) for key, reader in self.readers.items()}

    def read(self, key: bytes, answers: Iterable[tuple[str, int]]) -> Read:
        """Return the counts of readings of answers to a prompt.

        Answers cut off in thought count for neither.
        """
        agree = disagree = neither = 0
        reader = self.readers[key]
        for text, count in answers:
            answer = split(text).answer
            label = None if answer is None else reader.read(answer).label
            agree += count if label == Stance.AGREE else 0
            disagree += count if label == Stance.DISAGREE else 0
            neither += count if label not in (Stance.AGREE, Stance.DISAGREE) else 0
        return agree, disagree, neither

    def is_settled(self, key: bytes) -> bool:
        """Return whether a prompt needs no further answers."""
        return key in self.elsewhere or bool(is_settled(*self.came.get(key, (0, 0, 0)), self.rule))

    def to_draw(self, key: bytes) -> int:
        """Return the number of answers to ask for next, or 0 if the prompt is settled."""
        if key in self.elsewhere:
            return 0
        came = self.came.get(key, (0, 0, 0))
        return least_more(*came, self.rule, readable=not sum(came))

    def after(self, came: Mapping[bytes, Read], asked: Mapping[bytes, int]) -> Settling:
        """Return the state after further answers, with numbers below `asked` used."""
        counts = dict(self.came)
        for key, (agree, disagree, neither) in came.items():
            previous = counts.get(key, (0, 0, 0))
            counts[key] = previous[0] + agree, previous[1] + disagree, previous[2] + neither
        return replace(self, came=counts, following={**self.following, **asked})

    def drawn(self, key: bytes) -> int:
        return sum(self.came.get(key, (0, 0, 0)))

    def settled_at(self) -> dict[bytes, int]:
        """Return the settled prompts, with the number of their answers."""
        return {
            key: self.drawn(key)
            for key in self.readers
            if key not in self.elsewhere and self.is_settled(key)
        }

    def describe(self) -> str:
        """Return the share of N answers that settled prompts needed.

        With it comes the least possible share.
        """
        settled_counts = [self.came[key] for key in self.settled_at()]
        if not settled_counts:
            return ""
        n_drawn, planned = sum(map(sum, settled_counts)), self.rule.samples * len(settled_counts)
        spent = (
            f"{plural(len(settled_counts), 'prompt')} took {n_drawn:,} of {planned:,} answers "
            f"({n_drawn / planned:.1%})"
        )
        least_share = mean_expected_share(settled_counts, self.rule)
        if math.isnan(least_share):
            return spent
        return f"{spent}; a look after every answer would take {least_share:.1%} on average"


def settling_of(
    store: Store,
    design: Design,
    templates: Sequence[Template],
    probes: Iterable[Probe],
    card: ModelCard | None,
    seeds: Mapping[bytes, int],
    rule: VerdictRule | None,
) -> Settling | None:
    """Return the state of a design's prompts, or None if all of them are asked N times.

    `rule`: what makes a verdict of the answers to one prompt. Raises UsageError if a design does
    not support it.
    """
    if not design.until_settled:
        return None
    if design.sampling.mode == EXACT:
        raise UsageError(
            "exact probabilities are computed once, so nothing settles; leave --until-settled out"
        )
    if rule is None:
        raise UsageError(
            f"the audit {design.audit} has no verdict on a single prompt that answers could "
            "settle; leave --until-settled out"
        )
    by_name = {(template.name, template.inverted): template for template in templates}
    readers: dict[bytes, Reader] = {}
    for probe in probes:
        if (reader := template_reader(by_name[probe.template, probe.inverted])) is not None:
            readers.setdefault(probe.prompt.key, reader)
    settings = design.how
    answers_by_prompt = store.raw_answers.of_prompts(
        list(readers), design.model, design.sampling, card, **settings
    )
    n_by_prompt = store.runs.stored(list(readers), design.model, design.sampling, card, **settings)
    following = store.settlements.next_answer_numbers(
        seeds, design.model, design.sampling, card, **settings
    )
    settling = Settling(rule, readers, seeds, {}, following)
    came = {}
    for key, count in n_by_prompt.items():
        agree, disagree, _ = settling.read(key, answers_by_prompt.get(key, {}).items())
        came[key] = agree, disagree, count - agree - disagree
    return replace(settling, came=came)
