"""Questionnaire Modeling: what a person answers next (Haller et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Defaults, HomeLine, Material, Place
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.designs import Design


class Questionnaires(Audit):
    """Predicted answers of people, given their other answers."""

    name = "questionnaire"
    question = "is what it predicts of people's answers, from their other answers, right and without a bias?"
    own_material = True
    about_whole_job = True
    portion_axis = "condition"
    place = Place(
        mode="questionnaire",
        key="8",
        letter="p",
        label="People",
        tooltip="Go to Results: bias against people",
        screen="results.questionnaire.QuestionnaireScreen",
    )
    command = "verdicts STORE --audit questionnaire"
    after = "8 shows accuracy and bias"
    home_help = """Predictions  of the newest model: share of the persons whose answer it
             predicts, and by how much its yes differs from theirs, mean
             over questions (Haller et al. 2025)"""

    @property
    def defaults(self) -> Defaults:
        from workbench.audits.questionnaire.plan import DEFAULTS

        return DEFAULTS

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

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.audits.questionnaire.material import targets

        return targets(store, instrument) or None

    def remarks(
        self, statements: Sequence[Statement], variants: Sequence[VariantId], language: str, material: Material
    ) -> tuple[str, ...]:
        from workbench.audits.questionnaire.material import said_of

        return said_of(material)

    def why_nothing(
        self, instrument: Instrument, design: Design, statements: Sequence[Statement], material: Material
    ) -> str:
        from workbench.audits.questionnaire.material import why_nothing

        told = why_nothing(design, statements, material)
        return told or super().why_nothing(instrument, design, statements, material)

    def answered(self, store: Store) -> bool:
        return bool(store.predictions.runs(self.name))

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.questionnaire.home import lines

        return lines(store)


AUDIT = Questionnaires()
