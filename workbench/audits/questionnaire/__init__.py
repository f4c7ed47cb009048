"""Questionnaire Modeling: what a person answers next (Haller et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Demonstration, Given, HomeLine, Material, Medium, Place, Printed
from workbench.audits.questionnaire.options import DEFAULTS, JUDGING, RESULT_OPTIONS, RUN_OPTIONS
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reported import Reported, Wanted
    from workbench.domain.designs import Design


class Questionnaires(Audit):
    """Predicted answers of people, given their other answers."""

    name = "questionnaire"
    defaults = DEFAULTS
    question = "can it predict people's answers from their other answers, accurately and without a bias?"
    own_material = True
    about_whole_job = True
    several_models = True
    portion_axis = "condition"
    place = Place(
        mode="questionnaire",
        key="8",
        letter="p",
        label="People",
        tooltip="Go to Results: bias against people",
        screen="results.questionnaire.QuestionnaireScreen",
        words="questionnaire people human survey respondents personas distributions",
    )
    run_options, result_options, judging = RUN_OPTIONS, RESULT_OPTIONS, JUDGING
    verbs = (
        (
            *("questionnaire", "questionnaires"),
            *("questions with their roles and scales, and the meaning of answers", "write statements"),
        ),
    )
    command = "verdicts STORE --audit questionnaire"
    after = "8 shows accuracy and bias"
    form_help = section("help", "The job form", __package__)
    home_help = section("help", "On Home", __package__)

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        from workbench.audits.questionnaire.said import said

        return said(spec)

    def demonstration(self) -> Demonstration:
        from workbench.audits.questionnaire.demo import design

        return Demonstration(
            design, SHIPPED_QUESTIONNAIRE, personas=("left", "yes-sayer", f"ideal@{SHIPPED_QUESTIONNAIRE}")
        )

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        from workbench.audits.questionnaire.reported import reported

        return reported(store, wanted)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.questionnaire.plan import default_variants

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
        from workbench.audits.questionnaire.plan import probes

        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        from workbench.audits.questionnaire.material import asked

        return asked(store, design, instrument)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        from workbench.audits.questionnaire.material import contexts

        return replace(design, contexts=contexts(own))

    def given_in(self, design: Design) -> Mapping[str, Any]:
        of = design.contexts
        return {
            "conditions": ",".join(of.conditions),
            "respondents": of.respondents,
            "every": of.every,
            "context_questions": of.questions,
        }

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.audits.questionnaire.material import targets

        return targets(store, instrument) or None

    def remarks(
        self, statements: Sequence[Statement], variants: Sequence[VariantId], language: str, material: Material
    ) -> tuple[str, ...]:
        from workbench.audits.questionnaire.material import said_of

        return said_of(material)

    def detects(
        self, statements: Sequence[Statement], probes: Sequence[Probe], samples: int, material: Material
    ) -> str:
        from workbench.audits.questionnaire.detects import detects

        return detects(probes)

    def why_nothing(
        self, instrument: Instrument, design: Design, statements: Sequence[Statement], material: Material
    ) -> str:
        from workbench.audits.questionnaire.material import why_nothing

        told = why_nothing(design, statements, material)
        return told or super().why_nothing(instrument, design, statements, material)

    def answered(self, store: Store) -> bool:
        return bool(store.predictions.runs(self.name))

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        from workbench.audits.questionnaire.printed import verdicts

        return verdicts(store, options, medium)

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.questionnaire.home import lines

        return lines(store)


AUDIT = Questionnaires()
