"""Representation: the audit of whose answers to survey questions a model's are like.

Source: Santurkar et al. 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.audits.audit import Audit, AuditPlace, Demonstration, Material, Opened
from workbench.audits.representation.options import AUDIT as NAME
from workbench.audits.representation.options import DEFAULTS, RUN_OPTIONS, LikenessOptions
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.designs import Design
from workbench.domain.prompts import Probe, Template
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stores.core.store import Store
    from workbench.audits.audit import Given
    from workbench.audits.result import Result
    from workbench.domain.instruments import Instrument
    from workbench.evidence.runs import AnswerSelection


class Representation(Audit):
    """The audit of survey questions, by the distance of a model's answers from people's."""

    name = NAME
    questions = ("like people", "steering")
    defaults = DEFAULTS
    question = "whose answers to survey questions are the model's like?"
    options, compares = LikenessOptions, False
    several_models = own_material = True
    run_options, drawn_again = RUN_OPTIONS, ("tries",)
    shipped = SHIPPED_QUESTIONNAIRE
    nothing = (
        f"I imports the shipped one: {SHIPPED_QUESTIONNAIRE}, with synthetic respondents.\n"
        "Your own: workbench import STORE FILE --format survey"
    )
    place = AuditPlace(
        mode=NAME,
        key="f6",
        label="Surveys",
        tooltip="Go to Results: whose answers the models resemble",
        words="representation survey opinions population groups demographics wasserstein "
        "steering people",
    )
    todo = "see whose answers the model's are like"
    after = "F6 shows whose answers they are like"
    home_help = section("help", "On Home", __package__)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.representation.asking import default_variants

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
        from workbench.audits.representation.asking import probes

        return probes(statements, templates, variants, language, model_name, material)

    def asked(
        self, store: Store, design: Design, instrument: Instrument, chosen: Sequence[Statement]
    ) -> tuple[Sequence[Statement], Material]:
        from workbench.audits.representation.asking import asked

        return asked(store, design, chosen)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        from dataclasses import replace

        return design if own.tries is None else replace(design, tries=own.tries)

    def given_in(self, design: Design) -> Mapping[str, Any]:
        return {"tries": design.tries}

    def may_be_asked(self, store: Store, instrument: str) -> Sequence[str] | None:
        from workbench.audits.representation.asking import askable

        return list(askable(store.questionnaires.get(instrument, people=False))) or None

    def notes(self, instrument: Instrument) -> Sequence[str]:
        from workbench.audits.representation.asking import unasked

        return unasked(instrument)

    def offered(self, probe: Probe) -> str:
        from workbench.audits.representation.asking import offered

        return offered(probe)

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        from workbench.audits.representation.asking import detects

        return detects(len({probe.statement for probe in probes}))

    def demonstration(self) -> Demonstration:
        return Demonstration(
            _design, SHIPPED_QUESTIONNAIRE, takes="It takes about half a minute on two idle cores."
        )

    def judge(
        self, store: Store, which: AnswerSelection, options: LikenessOptions, opened: Opened
    ) -> Result:
        from workbench.audits.representation.result import judge

        return judge(store, which, options)


def _design(store: Store, model: str) -> Design:
    """Return a design on the first question of each topic, and on the attitudes.

    The questions are those of the shipped questionnaire.
    """
    lines = [line.ref for line in store.instruments.lines(SHIPPED_QUESTIONNAIRE)]
    refs = tuple(ref for ref in lines if ref.endswith("-01") or ref.startswith("att-"))
    return Design(
        *(SHIPPED_QUESTIONNAIRE, model, NAME, DEFAULTS.samples, DEFAULTS.sampling),
        family=DEFAULTS.family,
        statements=refs,
    )


AUDIT = Representation()
