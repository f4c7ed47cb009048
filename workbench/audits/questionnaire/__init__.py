"""Questionnaire Modeling: the prediction of a person's next answer (Haller et al. 2025)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.audits.audit import Audit, AuditPlace, Demonstration, Given, Material, Opened
from workbench.audits.questionnaire.options import (
    DEFAULTS,
    LEAST_DRAWS,
    RUN_OPTIONS,
    PredictionOptions,
)
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.readings import Nature
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section
from workbench.options.shared import DTYPE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.evidence.letters import LabelProbabilities
    from workbench.evidence.runs import AnswerSelection


class QuestionnaireModeling(Audit):
    """The audit of predicted human answers, given the same people's other answers."""

    name = "questionnaire"
    title = "predicted answers"
    questions = ("accuracy", "bias by question")
    defaults = DEFAULTS
    question = (
        "can it predict people's answers from their other answers, accurately and without a bias?"
    )
    nature = Nature(first_word=True)
    own_material = True
    about_whole_job = True
    several_models = True
    portion_axis = "condition"
    place = AuditPlace(
        mode="questionnaire",
        key="8",
        letter="p",
        label="People",
        tooltip="Go to Results: bias against people",
        words="questionnaire people human survey respondents personas distributions",
    )
    run_options, options, told_by = RUN_OPTIONS, PredictionOptions, (DTYPE,)
    views: ClassVar = {
        "prompt": "questionnaire_prompt.prompt",
        "questionnaire": "questionnaire_instrument.questions",
    }
    keys: ClassVar = {"u": ("questionnaire", "Questionnaire")}
    explain = (
        "A model reads a person's answers to the context questions as a conversation, then "
        "predicts the person's answer to a target question (Haller, Vamvas, Sennrich, Jäger 2025)."
    )
    nothing = (
        "A questionnaire has questions with a role (context or target) and people's answers to "
        "them.\n"
        "I imports the shipped one, of a fictional country with synthetic people.\n"
        "To import your own: workbench import STORE --format csv FOLDER"
    )
    shipped = SHIPPED_QUESTIONNAIRE
    todo = "see the bias relative to people's answers"
    todo_below = "Enter on a row shows the people whose answers were missed, and single prompts"
    verbs = (
        (
            *("questionnaire", "questionnaires"),
            *(
                "questions with their roles and scales, and the meaning of answers",
                "write statements",
            ),
        ),
    )
    after = "8 shows accuracy and bias"
    form_help = section("help", "The job form", __package__)
    home_help = section("help", "On Home", __package__)

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        from workbench.audits.questionnaire.asking import design_lines

        return design_lines(spec)

    def demonstration(self) -> Demonstration:
        from workbench.audits.questionnaire.result import design

        return Demonstration(
            design,
            SHIPPED_QUESTIONNAIRE,
            personas=("left", "yes-sayer", f"ideal@{SHIPPED_QUESTIONNAIRE}"),
        )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.questionnaire.asking import default_variants

        return default_variants(available)

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        from workbench.audits.questionnaire.asking import probes

        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        from workbench.audits.questionnaire.asking import statements_and_survey

        return statements_and_survey(store, design, instrument)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        from workbench.audits.questionnaire.asking import contexts

        return replace(design, contexts=contexts(own))

    def given_in(self, design: Design) -> Mapping[str, Any]:
        contexts = design.contexts
        return {
            "conditions": ",".join(contexts.conditions),
            "respondents": contexts.respondents,
            "every": contexts.every,
            "context_questions": contexts.questions,
        }

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.audits.questionnaire.asking import targets

        return targets(store, instrument) or None

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        from workbench.audits.questionnaire.asking import all_remarks

        return all_remarks(material)

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        from workbench.audits.questionnaire.asking import detects

        return detects(probes)

    def why_nothing(
        self,
        instrument: Instrument,
        design: Design,
        statements: Sequence[Statement],
        material: Material,
    ) -> str:
        from workbench.audits.questionnaire.asking import why_nothing

        reason = why_nothing(design, statements, material)
        return reason or super().why_nothing(instrument, design, statements, material)

    def answered(self, store: Store) -> bool:
        return bool(store.predictions.runs(self.name))

    def instruments(self, store: Store) -> Sequence[str]:
        runs = store.predictions.runs(self.name)
        return tuple(dict.fromkeys(run.instrument for run in reversed(runs)))[::-1]

    def models(self, store: Store, instrument: str) -> Collection[str]:
        return {
            run.model
            for run in store.predictions.runs(self.name, instrument or None)
            if run.responses
        }

    def label_probabilities(self, store: Store, run: Run) -> Iterator[LabelProbabilities]:
        from workbench.audits.questionnaire.reading import label_probabilities

        return label_probabilities(store, run)

    def may_be_asked_about(self, store: Store) -> Sequence[str]:
        return [name for name in store.instruments.names() if store.questionnaires.questions(name)]

    def judge(
        self, store: Store, which: AnswerSelection, options: PredictionOptions, opened: Opened
    ) -> Result:
        from workbench.audits.questionnaire.result import judge

        return judge(store, which, options, opened)

    def part(
        self, store: Store, which: AnswerSelection, options: PredictionOptions, opened: Opened
    ) -> Result | None:
        from workbench.audits.questionnaire.result import part

        return part(store, which, options, opened)

    def at_home(
        self, store: Store, which: AnswerSelection
    ) -> tuple[AnswerSelection, PredictionOptions]:
        """Return the run that was asked last, and options with few draws.

        Home prints no interval, so that more draws are not needed.
        """
        run = store.predictions.runs(self.name, which.instrument)[-1]
        return replace(which, models=(run.model,), dtype=run.dtype), PredictionOptions(
            draws=LEAST_DRAWS
        )

    def why_unanswered(self, instrument: str | None) -> str:
        return f"{instrument or 'the store'} has no predicted answers"


AUDIT = QuestionnaireModeling()
