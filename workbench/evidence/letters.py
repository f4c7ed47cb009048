"""Answers as letters, to prompts that offer lettered options.

They were drawn, or are computed probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from stores.core.store import Store
from stores.runs.answers import AskedProbe
from stores.runs.run_rows import Run
from workbench.domain.choices import LETTERS, ArmAnswers
from workbench.domain.designs import Design
from workbench.domain.keys import text_key
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.responses import EXACT
from workbench.domain.rulings import NOTHING, Effect
from workbench.domain.statements import VariantId, VariantKind
from workbench.evidence.answered import (
    AnswerCount,
    AnsweredPlan,
    answered_plan,
    foreign_part,
    refused_part,
)
from workbench.evidence.refusals import ModelRefusals
from workbench.evidence.rulings import RunRulings
from workbench.readers.rules import letter_of, spelled

OPTIONS = "options"
"axis of a probe: the number of options that its prompt offers"
Masses = Mapping[str, float]
"letter -> probability of all tokens that spell it"


class LabelProbabilities(NamedTuple):
    """The computed probabilities of the labels of one prompt."""

    probe: int
    "rowid"
    counted: Masses
    "label -> its probability as the audit counts it by default"
    of_vocabulary: Masses = MappingProxyType({})
    """label -> its probability over the whole vocabulary, where that is another and the backend
    gives it"""


@dataclass(frozen=True, slots=True)
class AskedForm:
    """One form of one question, as one model was asked it under one template."""

    probe: int
    offered: int
    answers: ArmAnswers | None
    "None: nothing was drawn"
    masses: Masses | None
    unnamed: float = 0.0
    """the most that an offered letter can have that is not among the tokens that the backend names;
    0: there is none"""
    wanted: int = 0
    "the most valid answers that a job asked for; 0 if that has no meaning"
    most: int = 0
    "the most answers that a job would draw for them"

    @property
    def valid(self) -> int:
        return sum(self.answers.counts.values()) if self.answers is not None else 0

    @property
    def drawn(self) -> int:
        if self.answers is None:
            return 0
        return self.valid + self.answers.invalid + self.answers.truncated


def asked_forms(store: Store, run: Run, rulings: RunRulings) -> dict[int, AskedForm]:
    """Return the answers or probabilities of each probe of a run, by its rowid.

    `_forms_by_probe` says what rulings change.
    """
    return (
        _exact(store, run) if run.sampling.mode == EXACT else _forms_by_probe(store, run, rulings)
    )


def _forms_by_probe(store: Store, run: Run, rulings: RunRulings) -> dict[int, AskedForm]:
    """Return the answers to each probe as letters. Letters that are not offered were drawn again.

    Answers that an auditor read anew have the auditor's letter. Those that a ruling excludes have
    none.
    """
    counts, truncated = store.raw_answers.of_run(run), store.runs.truncated(run)
    designs = [Design.from_json(spec) for spec in store.predictions.designs(run)]
    form_by_probe: dict[int, AskedForm] = {}
    for probe in store.raw_answers.probes(run):
        if n_options := int(probe.axes.get(OPTIONS, 0)):
            n_wanted, max_draws = _asked_for(designs, probe, run.language)
            effects = rulings.answers.get(probe.probe, {})
            arm = _arm(
                counts.get(probe.probe, {}), n_options, truncated.get(probe.probe, 0), effects
            )
            form_by_probe[probe.probe] = AskedForm(
                probe.probe, n_options, arm, None, wanted=n_wanted, most=max_draws
            )
    return form_by_probe


def _arm(
    counts: Mapping[str, int], offered: int, truncated: int, ruled: Mapping[bytes, Effect]
) -> ArmAnswers:
    """Return the answers by letters, without those that rulings exclude.

    `ruled` is the effect of the rulings on each text, by its key.
    """
    letters: Counter[str] = Counter()
    for text, count in counts.items():
        effect = ruled.get(text_key(text), NOTHING) if ruled else NOTHING
        if not effect.left_out:
            letters[(effect.label or "") if effect.read else letter_of(text)] += count
    valid = {
        letter: count
        for letter, count in sorted(letters.items())
        if letter and letter in LETTERS[:offered]
    }
    return ArmAnswers(valid, offered, offered, letters.total() - sum(valid.values()), truncated)


def _exact(store: Store, run: Run) -> dict[int, AskedForm]:
    """Return the probabilities of the letters, of the probes that have them.

    They are over the vocabulary if the backend gives that, or else of those among the likeliest
    tokens.
    """
    tables = store.scores.tables_of_run(run)
    form_by_probe: dict[int, AskedForm] = {}
    for probe in store.raw_answers.probes(run):
        n_options, table = int(probe.axes.get(OPTIONS, 0)), tables.get(probe.probe)
        if n_options and table is not None:
            masses = table.words if table.words is not None else _words(table.tokens)
            letters = {letter: float(masses.get(letter, 0.0)) for letter in LETTERS[:n_options]}
            is_complete = table.words is not None or all(letter in masses for letter in letters)
            max_unnamed = 0.0 if is_complete else min(_least(table.tokens), table.rest)
            form_by_probe[probe.probe] = AskedForm(
                probe.probe, n_options, None, letters, max_unnamed
            )
    return form_by_probe


def letter_probabilities(store: Store, run: Run) -> Iterator[LabelProbabilities]:
    """Yield the probabilities of the letters of a run's prompts, as `_exact` has them."""
    for form in _exact(store, run).values():
        yield LabelProbabilities(form.probe, form.masses or {})


def _words(tokens: Iterable[tuple[str, float]]) -> Masses:
    masses: Counter[str] = Counter()
    for text, log in tokens:
        masses[spelled(text)] += np.exp(log)
    return masses


def _least(tokens: Iterable[tuple[str, float]]) -> float:
    """Return the probability of the least likely of the likeliest tokens.

    No other token has more.
    """
    return float(np.exp(min((log for _, log in tokens), default=0.0)))


def unnamed_letter_sentences(name: str, unnamed: Mapping[str, float], what: str) -> Iterator[str]:
    """Yield a sentence on the computed probabilities that are not known.

    Parameters
    ----------
    unnamed : what a letter is not named of -> `Form.unnamed`
    """
    if unnamed:
        yield (
            f"{name}: in {plural(len(unnamed), what)} an offered letter is not among the likeliest "
            f"tokens, which are all that the endpoint names ({named_few(list(unnamed))}); it "
            f"counts as 0 and has at most {100 * max(unnamed.values()):.2g} %"
        )


def variant_of(probe: AskedProbe) -> str:
    return str(VariantId(VariantKind(probe.kind), probe.ordinal))


def _asked_for(designs: Sequence[Design], probe: AskedProbe, language: str) -> tuple[int, int]:
    """Return the most valid answers that a job asked for to a probe.

    With it comes the most answers that it would draw.
    """
    fitting = [design for design in designs if _asks(design, probe, language)]
    n_wanted = max((design.samples for design in fitting), default=0)
    return n_wanted, max((design.samples * design.tries for design in fitting), default=0)


def _asks(design: Design, probe: AskedProbe, language: str) -> bool:
    selections = (
        (design.statements, probe.ref),
        (design.variants, variant_of(probe)),
        (design.templates, probe.template),
    )
    is_same_material = design.family == probe.family and design.language in ("", language)
    return is_same_material and all(
        not selected or name in selected for selected, name in selections
    )


TRIED = "no more valid answers in any try"


@dataclass(frozen=True, slots=True)
class LetterAnswers:
    """The answers to a plan of answers with a letter, before any exclusion."""

    valid: int
    "answers with an offered letter, of each prompt no more than it was to have"
    drawn: int
    "all answers, those that were drawn again among them"
    invalid: int
    truncated: int
    unfinished: bool
    "whether a job has tries left"

    @classmethod
    def from_forms(cls, forms: Iterable[AskedForm]) -> LetterAnswers:
        """Return the answers to some prompts."""
        drawn_forms = [form for form in forms if form.answers is not None]
        return cls(
            sum(min(form.valid, form.wanted or form.valid) for form in drawn_forms),
            sum(form.drawn for form in drawn_forms),
            sum(form.answers.invalid for form in drawn_forms if form.answers),
            sum(form.answers.truncated for form in drawn_forms if form.answers),
            any(form.valid < form.wanted and form.drawn < form.most for form in drawn_forms),
        )


def answered_letters(
    store: Store, run: Run, name: str, came: LetterAnswers, refusals: ModelRefusals | None
) -> AnsweredPlan:
    """Return the part of a run's plan with an offered letter as the answer."""
    answered_run = answered_plan(store, run, name)
    if run.sampling.mode == EXACT:
        return answered_run
    valid = min(answered_run.planned, came.valid)
    is_tried_out = valid < answered_run.planned and not answered_run.job and not came.unfinished
    return replace(
        answered_run,
        answered=valid,
        unit="valid answers",
        job=TRIED if is_tried_out else answered_run.job,
    ).with_parts(
        invalid=AnswerCount(came.invalid, came.drawn),
        refused=refused_part(refusals),
        foreign=foreign_part(refusals),
        truncated=AnswerCount(came.truncated, came.drawn),
    )
