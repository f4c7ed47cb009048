"""BiasMonkey: do changes of a question that move people move a model (Tjuatja et al. 2024)?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Defaults, HomeLine, Material, Place
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.designs import Design


class ResponseBias(Audit):
    """Multiple-choice questions in two forms, and with errors of typing."""

    name = "response_bias"
    question = "does a change of a multiple-choice question that moves people's answers move its answers too?"
    own_material = True
    about_whole_job = True
    place = Place(
        mode="response_bias",
        key="9",
        label="Choices",
        tooltip="Go to Results: response biases",
        screen="results.response_bias.ResponseBiasScreen",
    )
    command = "verdicts STORE --audit response_bias"
    after = "9 shows the response biases"
    home_help = """Choices      multiple-choice questions: changes that move people's
             answers, how many of them move those of the newest model,
             and in the same direction (Tjuatja et al. 2024). Errors of
             typing are overlooked by people"""

    @property
    def defaults(self) -> Defaults:
        from workbench.audits.response_bias.plan import DEFAULTS

        return DEFAULTS

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.response_bias.plan import default_variants

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
        from workbench.audits.response_bias.plan import probes

        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        from workbench.audits.response_bias.material import questions

        return chosen, questions(store, design)

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.domain.choices import over_biases

        return list(over_biases(store.choices.items(instrument).values())) or None

    def remarks(
        self, statements: Sequence[Statement], variants: Sequence[VariantId], language: str, material: Material
    ) -> tuple[str, ...]:
        from workbench.audits.response_bias.plan import left_out

        return left_out(statements, variants, language, material) if isinstance(material, Mapping) else ()

    def why_nothing(
        self, instrument: Instrument, design: Design, statements: Sequence[Statement], material: Material
    ) -> str:
        return (
            f"none of these questions has such a variant in {design.language!r}, or is about the bias that the "
            "templates speak of"
        )

    def offered(self, probe: Probe) -> str:
        from workbench.audits.response_bias.plan import offered

        return offered(probe)

    def answered(self, store: Store) -> bool:
        return bool(store.choices.instruments_with_answers() or store.predictions.runs(self.name))

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.response_bias.home import lines

        return lines(store)


AUDIT = ResponseBias()
