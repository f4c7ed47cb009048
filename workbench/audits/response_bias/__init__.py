"""BiasMonkey: do changes of a question that move people move a model (Tjuatja et al. 2024)?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Demonstration, Given, HomeLine, Material, Medium, Place, Printed
from workbench.audits.response_bias.options import DEFAULTS, JUDGING, RESULT_OPTIONS, RUN_OPTIONS
from workbench.data import SHIPPED_CHOICES
from workbench.domain.choices import Perturbation
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reported import Reported, Wanted
    from workbench.domain.designs import Design


class ResponseBias(Audit):
    """Multiple-choice questions in two forms, and with typos."""

    name = "response_bias"
    defaults = DEFAULTS
    question = "do changes to a multiple-choice question that move people's answers also move the model's?"
    own_material = True
    about_whole_job = True
    several_models = True
    place = Place(
        mode="response_bias",
        key="9",
        label="Choices",
        tooltip="Go to Results: response biases",
        screen="results.response_bias.ResponseBiasScreen",
        words="response biases multiple choice forms options order typos entropy",
    )
    ticked, drawn_again = ("bias",), ("tries",)
    run_options, result_options, judging = RUN_OPTIONS, RESULT_OPTIONS, JUDGING
    about = (
        "Do changes to a question that move people move a model? Without a view, the matrix of models and biases is "
        "shown; --json, --csv and --parquet have every figure."
    )
    command = "verdicts STORE --audit response_bias"
    told_apart = False
    after = "9 shows the response biases"
    form_help = section("help", "The job form", __package__)
    home_help = section("help", "On Home", __package__)

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        from workbench.audits.response_bias.said import said

        return said(spec)

    def demonstration(self) -> Demonstration:
        from workbench.audits.response_bias.demo import design

        return Demonstration(
            design,
            SHIPPED_CHOICES,
            (Perturbation.KEY_TYPO,),
            "It takes about two minutes on two cores that are otherwise idle.",
            personas=("order-minded", "steady", "wavering", "yes-sayer"),
        )

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        from workbench.audits.response_bias.reported import reported

        return reported(store, wanted)

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

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        from workbench.audits.response_bias.material import designed

        return designed(store, design, own)

    def given_in(self, design: Design) -> Mapping[str, Any]:
        return {"tries": design.tries}

    def to_tick(self, store: Store, instrument: str) -> Mapping[str, Sequence[str]]:
        from workbench.audits.response_bias.material import biases_of

        return {"bias": biases_of(store, instrument)}

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.domain.choices import over_biases

        return list(over_biases(store.choices.items(instrument).values())) or None

    def remarks(
        self, statements: Sequence[Statement], variants: Sequence[VariantId], language: str, material: Material
    ) -> tuple[str, ...]:
        from workbench.audits.response_bias.plan import left_out

        return left_out(statements, variants, language, material) if isinstance(material, Mapping) else ()

    def detects(
        self, statements: Sequence[Statement], probes: Sequence[Probe], samples: int, material: Material
    ) -> str:
        from workbench.audits.response_bias.detects import detects

        return detects(probes, material) if isinstance(material, Mapping) else ""

    def why_nothing(
        self, instrument: Instrument, design: Design, statements: Sequence[Statement], material: Material
    ) -> str:
        return f"none of these questions has such a variant in {design.language!r}, or has the bias of the templates"

    def offered(self, probe: Probe) -> str:
        from workbench.audits.response_bias.plan import offered

        return offered(probe)

    def answered(self, store: Store) -> bool:
        return bool(store.choices.instruments_with_answers() or store.predictions.runs(self.name))

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        from workbench.audits.response_bias.judged import instruments_with_answers

        for instrument in instruments_with_answers(store):
            if options.instrument in (None, instrument):
                yield Given(**vars(options) | {"instrument": instrument})

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        from workbench.audits.response_bias.printed import verdicts

        return verdicts(store, options, medium)

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.response_bias.home import lines

        return lines(store)


AUDIT = ResponseBias()
