"""The figures of response biases of a store: what the audit's tables are made of, read on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import ResponseRow
from workbench.audits.by_persona import with_personas
from workbench.audits.response_bias import judged as judging
from workbench.audits.response_bias import question_source as below
from workbench.audits.response_bias.compare import Comparison, SamplingAgreement
from workbench.audits.response_bias.findings import Asked, Findings
from workbench.audits.response_bias.judged import Place, ResponseBiasJudged, Subject
from workbench.audits.response_bias.methods import methods
from workbench.audits.response_bias.questions import AnswerShown, ArmShown, FormShown, QuestionRow, QuestionShown
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

Opened = Callable[[], AbstractContextManager[Store]]


def findings(judged: ResponseBiasJudged, opened: Opened) -> Findings:
    """Return what the tables are made of. `opened`: opens the store whenever a question is read."""
    return Findings(
        instrument=judged.instrument.name,
        options=judged.choice.options,
        asked={name: _asked(subject) for name, subject in judged.subjects.items()},
        reports=judged.reports,
        validity=judged.validity,
        people=judged.people,
        rulings=(ruled := tuple(judged.rulings.sentences())),
        notes=[note for note in judged.notes if note not in ruled],
        questions_with_texts=len(judged.pairs),
        answered=judged.answered,
        personas=with_personas(
            {name: one.run for name, one in judged.subjects.items() if one.run},
            lambda name: judged.subjects[name].template,
        ),
        methods=methods(judged),
        source=StoredQuestions(judged, opened),
    )


def _asked(subject: Subject) -> Asked:
    run = subject.run
    return Asked(
        model=subject.model,
        way=subject.way,
        template=subject.template,
        version=run.version if run and not run.served_as else "",  # a served subject's name has its snapshot
        computed=run.computed if run else "",
        sampling=str(run.sampling) if run else "",
        wanted=subject.wanted,
        short=len(subject.short),
        pairs=sum(len(table.keys) for table in subject.tables),
    )


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


@dataclass(frozen=True, slots=True)
class StoredQuestions:
    """Reads questions, prompts and answers; see `audits.response_bias_findings.Source`."""

    judged: ResponseBiasJudged
    opened: Opened

    def questions(self, name: str, place: Place) -> Sequence[QuestionRow]:
        return below.questions(self.judged, name, place)

    def question(self, name: str, place: Place, key: str, draw: int | None = None) -> QuestionShown:
        with self.opened() as store:
            return below.question(store, self.judged, name, place, key, draw)

    def forms(self, found: QuestionShown) -> Sequence[FormShown]:
        with self.opened() as store:
            return [_form(store, self.judged, found, arm) for arm in (found.original, found.changed)]

    def refusals(self) -> Sequence[Refusals]:
        return list(self.judged.refusals.values())

    def compared(self, first: str, second: str) -> Comparison:
        return judging.compared(self.judged, first, second)

    def sampling(self, first: str, second: str) -> Mapping[Place, SamplingAgreement]:
        return judging.sampling_agreements(self.judged, first, second)


def _form(store: Store, judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown) -> FormShown:
    """Return one form with its prompt, and with every answer as it was drawn or the likeliest next tokens."""
    subject, made_by = judged.subjects[found.subject], _made_by(judged, found, arm)
    run, probe = subject.run, arm.probe
    if run is None or probe is None:
        return FormShown(arm, made_by, (), ())
    messages = store.runs.prompt(probe).messages
    if subject.way != "exact":
        rulings = source_of(store, [run], judged.choice.readings).rulings(run) if judged.rulings.counted else NO_RULINGS
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
