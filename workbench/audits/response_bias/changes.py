"""What the tables of response biases are made of: the reports of all ways of asking, and the questions and answers
below them, which are read when somebody looks at them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import ResponseRow
from workbench.audits.audit import Opened
from workbench.audits.by_persona import WithPersona, with_personas
from workbench.audits.response_bias import judged as judging
from workbench.audits.response_bias import question_source as below
from workbench.audits.response_bias.compare import Comparison, SamplingAgreement
from workbench.audits.response_bias.figures import Cell, HumanLikeness, Report
from workbench.audits.response_bias.judged import ResponseBiasJudged, Subject
from workbench.audits.response_bias.names import Kind, Place, kind_name, kind_said, place_order
from workbench.audits.response_bias.options import ChangeOptions
from workbench.audits.response_bias.people import Representativeness
from workbench.audits.response_bias.questions import AnswerShown, ArmShown, FormShown, QuestionRow, QuestionShown
from workbench.audits.response_bias.uncertainty import ValidShares
from workbench.domain.choice_statements import KIND_OF
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Arm
from workbench.domain.responses import EXACT
from workbench.domain.statements import CHANGED, ORIGINAL, VariantId
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import NO_RULINGS, as_ruled
from workbench.evidence.run_choice import plain_run
from workbench.readers.choice_letter import letter_of, spelled


@dataclass(frozen=True, eq=False)
class Changes:
    """The reports of all ways of asking, or of some."""

    judged: ResponseBiasJudged
    opened: Opened
    only: tuple[str, ...] = ()
    "names of reports; empty: all"

    def of(self, *names: str) -> Changes:
        """Return the changes of some reports alone."""
        return replace(self, only=names)

    @property
    def instrument(self) -> str:
        return self.judged.instrument.name

    @property
    def options(self) -> ChangeOptions:
        return self.judged.options

    @property
    def subjects(self) -> Mapping[str, Subject]:
        return self._mine(self.judged.subjects)

    @property
    def reports(self) -> Mapping[str, Report]:
        return self._mine(self.judged.reports)

    @property
    def validity(self) -> Mapping[str, ValidShares]:
        return self._mine(self.judged.validity)

    @property
    def people(self) -> Mapping[str, Representativeness]:
        return self._mine(self.judged.people)

    @property
    def refusals(self) -> Sequence[Refusals]:
        return list(self.judged.refusals.values())

    @property
    def notes(self) -> Sequence[str]:
        ruled = tuple(self.judged.rulings.sentences())
        return [note for note in self.judged.notes if note not in ruled]

    @cached_property
    def every_kind(self) -> tuple[Kind, ...]:
        """The biases that somebody was asked, in the order of a report."""
        found = {cell.place for report in self.judged.reports.values() for cell in report.cells}
        return tuple(dict.fromkeys((bias, variant) for bias, _, variant in sorted(found, key=place_order)))

    @property
    def words(self) -> Mapping[str, str]:
        """What is painted for the name of a bias."""
        return {kind_name(*kind): kind_said(*kind) for kind in self.every_kind}

    @property
    def lines(self) -> list[tuple[str, Cell]]:
        """All cells, each with the name of its report."""
        return [(name, cell) for name, report in self.reports.items() for cell in report.cells]

    @property
    def places(self) -> list[Place]:
        """The places of all cells, the perturbations of a bias after it."""
        return sorted({cell.place for _, cell in self.lines}, key=place_order)

    @cached_property
    def personas(self) -> Sequence[WithPersona]:
        """Reports with a persona whose baseline is among the reports."""
        runs = {name: one.run for name, one in self.judged.subjects.items() if one.run}
        return with_personas(runs, lambda name: self.judged.subjects[name].template)

    def likeness(self, name: str) -> tuple[HumanLikeness, ...]:
        return self.reports[name].likeness

    def questions(self, name: str, place: Place) -> Sequence[QuestionRow]:
        return below.questions(self.judged, name, place)

    def question(self, name: str, place: Place, key: str, draw: int | None = None) -> QuestionShown:
        with self.opened() as store:
            return below.question(store, self.judged, name, place, key, draw)

    def forms(self, found: QuestionShown) -> Sequence[FormShown]:
        with self.opened() as store:
            return [_form(store, self.judged, found, arm) for arm in (found.original, found.changed)]

    def compared(self, first: str, second: str) -> Comparison:
        return judging.compared(self.judged, first, second)

    def sampling(self, first: str, second: str) -> Mapping[Place, SamplingAgreement]:
        return judging.sampling_agreements(self.judged, first, second)

    def _mine(self, every: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in every.items() if not self.only or name in self.only}


def about_subject(store: Store, subject: Subject) -> dict[str, Any]:
    """Return how a subject was asked, for programs: of samples with the seeds of the jobs that asked."""
    run = subject.run
    found: dict[str, Any] = {"model": subject.model, "way": subject.way, "template": subject.template or None}
    if run is None:
        return found | {"run": None}
    names = ("seed", "samples", "tries")
    plain = plain_run(run)
    return found | {
        "run": plain if run.sampling.mode != EXACT else plain | {"responses": 0, "scored": run.responses},
        "code_versions": store.predictions.code_versions(run),
        "designs": [{name: spec.get(name) for name in names} for spec in store.predictions.designs(run)],
        "valid_answers_wanted": subject.wanted or None,
        "with_fewer": subject.short,
    }


def _form(store: Store, judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown) -> FormShown:
    """Return one form with its prompt, and with every answer as it was drawn or the likeliest next tokens."""
    subject, made_by = judged.subjects[found.subject], _made_by(judged, found, arm)
    run, probe = subject.run, arm.probe
    if run is None or probe is None:
        return FormShown(arm, made_by, (), ())
    messages = store.runs.prompt(probe).messages
    if subject.way != "exact":
        rulings = source_of(store, [run], judged.which.readings).rulings(run) if judged.rulings.counted else NO_RULINGS
        drawn = (replace(row, label=letter_of(row.text)) for row in store.runs.responses(run, probe, ()))
        answers = tuple(_drawn(as_ruled(row, probe, rulings)) for row in drawn)
        return FormShown(arm, made_by, messages, answers)
    scored = store.scores.of_probe(run, probe)
    if scored is None:
        return FormShown(arm, made_by, messages, ())
    origin = {name: getattr(scored, name) for name in ("at", "job", "code_version", "template")}
    tokens = scored.table.tokens if scored.table is not None else ()
    likely = tuple(AnswerShown(text, spelled(text), None, math.exp(log), **origin) for text, log in tokens)
    return FormShown(arm, made_by, messages, likely, scored.at, scored.code_version)


def _drawn(row: ResponseRow) -> AnswerShown:
    names = ("thinking", "truncated", "seed", "at", "job", "code_version", "template", "ruled")
    origin = {name: getattr(row, name) for name in names}
    return AnswerShown(row.text, row.label or "", row.count, math.nan, unruled=row.unruled or "", **origin)


def _made_by(judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown) -> str | None:
    """Return how a form's text came about, `workbench key_typo, seed 1, draw 1`; None where that is not known, or the
    instrument has another text now.
    """
    variant = ORIGINAL if arm.arm is Arm.ORIGINAL else CHANGED
    if found.condition is not None and arm.arm is Arm.CHANGED:
        variant = VariantId(KIND_OF[found.condition], found.draw)
    statement = next((one for one in judged.instrument.statements if one.ref == found.row.ref), None)
    wording = statement.wording(variant, judged.instrument.language) if statement is not None else None
    same = wording is not None and arm.choice is not None and parse_choice(wording.text) == arm.choice
    return wording.author if wording is not None and same else None
