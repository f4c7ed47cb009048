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

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reported import Reported, Wanted
    from workbench.domain.designs import Design


class ResponseBias(Audit):
    """Multiple-choice questions in two forms, and with errors of typing."""

    name = "response_bias"
    defaults = DEFAULTS
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
    ticked, drawn_again = ("bias",), ("tries",)
    run_options, result_options, judging = RUN_OPTIONS, RESULT_OPTIONS, JUDGING
    about = (
        "Do changes of a question that move people move a model? Without a view the matrix of models and biases is "
        "shown; --json has every figure, --csv and --parquet every question as well."
    )
    command = "verdicts STORE --audit response_bias"
    told_apart = False
    after = "9 shows the response biases"
    form_help = """Of multiple-choice questions there are besides:
biases       the changes of a question that are asked about
variants     original: the question as it is. changed: with the bias.
             key_typo, middle_random, letter_swap: the original with
             errors of typing, which people overlook
family       lettered: the answer is one letter. extended: a letter and
             a reason. steering, steering-steps: the question is asked
             with a word against one bias, so of that bias alone
             (Tjuatja et al. 2024, appendices C and D)
samples      valid answers to each prompt. An answer that is no letter
             of an option is kept, does not count, and is drawn again
tries        at most so many times the samples are drawn of a prompt;
             one that has too few valid answers then keeps those
answers      exact: the probabilities of the letters as the next token,
             one pass a prompt. For lettered and steering alone"""
    home_help = """Choices      multiple-choice questions: changes that move people's
             answers, how many of them move those of the newest model,
             and in the same direction (Tjuatja et al. 2024). Errors of
             typing are overlooked by people"""

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
        return (
            f"none of these questions has such a variant in {design.language!r}, or is about the bias that the "
            "templates speak of"
        )

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
