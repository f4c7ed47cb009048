"""Contamination: the test of whether a model completes the published wording of statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.audits.audit import Audit, AuditPlace, Material, Opened
from workbench.audits.contamination.options import DEFAULTS, LEAST_WORDS, CompletionOptions
from workbench.domain.names import plural
from workbench.domain.prompts import Probe, Template, halves
from workbench.domain.questionnaires import named_few
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind
from workbench.help.sections import section
from workbench.options.shared import DTYPE, SAMPLING

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.domain.instruments import Instrument
    from workbench.evidence.runs import AnswerSelection


class Contamination(Audit):
    """The audit of statements that a model completes word for word, compared with paraphrases."""

    name = "contamination"
    questions = ("completion",)
    defaults = DEFAULTS
    question = "does the model complete the statements word for word?"
    options, compares, told_by = CompletionOptions, False, (SAMPLING, DTYPE)
    several_models = True
    place = AuditPlace(
        mode="contamination",
        key="f9",
        label="Completion",
        tooltip="Go to Results: statements completed word for word",
        words="contamination memorization leakage known by heart training data completion",
    )
    todo = "see which statements the model completes word for word"
    home_help = section("help", "On Home", __package__)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        """Return the original and its first paraphrase."""
        paraphrases = [variant for variant in available if variant.kind is VariantKind.PARAPHRASE]
        return tuple(
            variant for variant in available if variant == ORIGINAL or variant in paraphrases[:1]
        )

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        """Yield the prompts for originals and paraphrases whose second half is not too short."""
        texts = {
            (statement.ref, str(wording.variant)): wording.text
            for statement in statements
            for wording in statement.wordings
            if wording.language == language
        }
        same_meaning = [variant for variant in variants if _has_same_meaning(variant)]
        all_probes = super().probes(
            statements, templates, same_meaning, language, model_name, material
        )
        return (probe for probe in all_probes if not _short(texts[probe.statement, probe.variant]))

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        wordings = [
            (statement.ref, wording)
            for statement in statements
            for wording in statement.wordings
            if wording.language == language
        ]
        short_refs = [
            ref for ref, wording in wordings if wording.variant == ORIGINAL and _short(wording.text)
        ]
        other_variants = [str(variant) for variant in variants if not _has_same_meaning(variant)]
        is_without_paraphrase = bool(wordings) and not any(
            variant.kind is VariantKind.PARAPHRASE for variant in variants
        )
        lines = []
        if other_variants:
            lines.append(
                "not asked, because it says something else than the original: "
                f"{named_few(other_variants)}"
            )
        if short_refs:
            reason = f"because the second half has fewer than {LEAST_WORDS} words"
            lines.append(
                f"{plural(len(short_refs), 'original')} not asked, {reason}: "
                f"{named_few(short_refs)}"
            )
        if is_without_paraphrase:
            lines.append("without a paraphrase there is nothing to compare the originals with")
        return tuple(f"note: {line}" for line in lines)

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        return (
            f"p is below .05 if {NEEDED} originals are completed and none of their paraphrases"
            if sum(probe.variant != str(ORIGINAL) for probe in probes) >= NEEDED
            else f"with fewer than {NEEDED} paraphrases p cannot be below .05"
        )

    def why_nothing(
        self,
        instrument: Instrument,
        design: Design,
        statements: Sequence[Statement],
        material: Material,
    ) -> str:
        if any(
            wording.language == design.language
            for statement in statements
            for wording in statement.wordings
        ):
            return (
                f"every wording has a second half of fewer than {LEAST_WORDS} words, which "
                "anybody guesses"
            )
        return super().why_nothing(instrument, design, statements, material)

    def judge(
        self, store: Store, which: AnswerSelection, options: CompletionOptions, opened: Opened
    ) -> Result:
        from workbench.audits.contamination.result import judge

        return judge(store, which, options)


NEEDED = 6
"""pairs of which only the original is completed, as needed for an exact p of McNemar's test below
.05 (2 / 2 ** 6)"""


def _short(text: str) -> bool:
    """Return whether the second half of a text has too few words."""
    return len(halves(text)[1].split()) < LEAST_WORDS


def _has_same_meaning(variant: VariantId) -> bool:
    """Return whether a variant has the meaning of the original."""
    return variant == ORIGINAL or variant.kind is VariantKind.PARAPHRASE


AUDIT = Contamination()
