"""BiasMonkey: the audit of whether changes of a question that move people also move a model.

Source: Tjuatja et al. 2024.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.audits.audit import Audit, AuditPlace, Demonstration, Given, Material, Opened
from workbench.audits.response_bias.options import DEFAULTS, RUN_OPTIONS, ChangeOptions
from workbench.data import SHIPPED_CHOICES
from workbench.domain.choices import Bias, Perturbation
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.evidence.runs import AnswerSelection


class ResponseBias(Audit):
    """The audit of multiple-choice questions in two forms, and with typos."""

    name = "response_bias"
    title = "response biases"
    questions = ("biases", "typos")
    defaults = DEFAULTS
    question = (
        "do changes to a multiple-choice question that move people's answers also move the model's?"
    )
    own_material = True
    about_whole_job = True
    several_models = True
    place = AuditPlace(
        mode="response_bias",
        key="9",
        label="Choices",
        tooltip="Go to Results: response biases",
        words="response biases multiple choice forms options order typos entropy",
    )
    ticked, drawn_again = ("bias",), ("tries",)
    run_options, options = RUN_OPTIONS, ChangeOptions
    views: ClassVar = {
        "options": "choice_question.question",
        "answers": "choice_question.answers",
    }
    explain = section("screens-results", "Response biases: the matrix")
    nothing = (
        f"I imports the shipped ones: {SHIPPED_CHOICES}, 40 questions about a fictional country "
        "that cover all five "
        "biases.\nYour own: workbench import STORE --format choices FOLDER\n"
        "Published questions and answers: workbench import STORE --format biasmonkey FOLDER"
    )
    shipped = SHIPPED_CHOICES
    about = (
        "Do changes to a question that move people move a model? People see the matrix of models "
        "and biases; --json, --csv and --parquet have every figure."
    )
    todo = "see which changes to a question move the answers"
    todo_below = "Enter on a row shows the questions and their two forms"
    told_apart = False
    after = "9 shows the response biases"
    form_help = section("help", "The job form", __package__)
    home_help = section("help", "On Home", __package__)

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        """Return the family of templates, and the biases if they are not all."""
        refs = spec.get("statements")
        prefixes = (
            {str(ref).partition(".")[0].partition("-")[0] for ref in refs}
            if isinstance(refs, list)
            else set()
        )
        biases = [bias.value.replace("_", " ") for bias in Bias if bias.value in prefixes]
        return [part for part in (str(spec.get("family", "")), ", ".join(biases)) if part]

    def demonstration(self) -> Demonstration:
        from workbench.audits.response_bias.asking import design

        return Demonstration(
            design,
            SHIPPED_CHOICES,
            (Perturbation.KEY_TYPO,),
            "It takes about two minutes on two cores that are otherwise idle.",
            personas=("order-minded", "steady", "wavering", "yes-sayer"),
        )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.response_bias.asking import default_variants

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
        from workbench.audits.response_bias.asking import probes

        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        from workbench.audits.response_bias.asking import questions

        return chosen, questions(store, design)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        from workbench.audits.response_bias.asking import designed

        return designed(store, design, own)

    def given_in(self, design: Design) -> Mapping[str, Any]:
        return {"tries": design.tries}

    def to_tick(self, store: Store, instrument: str) -> Mapping[str, Sequence[str]]:
        from workbench.audits.response_bias.asking import biases_of

        return {"bias": biases_of(store, instrument)}

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.domain.choices import over_biases

        return list(over_biases(store.choices.items(instrument).values())) or None

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        from workbench.audits.response_bias.asking import left_out

        return (
            left_out(statements, variants, language, material)
            if isinstance(material, Mapping)
            else ()
        )

    def notes(self, instrument: Instrument) -> Sequence[str]:
        """Return sentences on the questions that cannot show their bias."""
        if not instrument.choices:
            return ()
        from workbench.audits.response_bias.asking import uncounted

        return uncounted(
            instrument.statements,
            instrument.language,
            {item.ref: item for item in instrument.choices},
        )

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        from workbench.audits.response_bias.asking import detects

        return detects(probes, material) if isinstance(material, Mapping) else ""

    def why_nothing(
        self,
        instrument: Instrument,
        design: Design,
        statements: Sequence[Statement],
        material: Material,
    ) -> str:
        return (
            f"none of these questions has such a variant in {design.language!r}, or has the "
            "bias of the templates"
        )

    def offered(self, probe: Probe) -> str:
        from workbench.audits.response_bias.asking import offered

        return offered(probe)

    def answered(self, store: Store) -> bool:
        return bool(store.choices.instruments_with_answers() or store.predictions.runs(self.name))

    def instruments(self, store: Store) -> Sequence[str]:
        from workbench.audits.response_bias.judged import instruments_with_answers

        return instruments_with_answers(store)

    def models(self, store: Store, instrument: str) -> Collection[str]:
        asked_models = {run.model for run in store.predictions.runs(self.name, instrument)}
        return asked_models | set(store.choices.models(instrument))

    def judge(
        self, store: Store, which: AnswerSelection, options: ChangeOptions, opened: Opened
    ) -> Result:
        from workbench.audits.response_bias.result import judge

        return judge(store, which, options, opened)

    def why_unanswered(self, instrument: str | None) -> str:
        finding = f"{instrument or 'the store'} has no answers to multiple-choice questions"
        return f"{finding} (to import some: workbench import STORE --format biasmonkey PATH)"


AUDIT = ResponseBias()
