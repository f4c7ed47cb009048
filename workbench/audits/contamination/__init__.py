"""Contamination: does a model know an instrument's statements word for word?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.audits.audit import Audit, Material, Opened, Place
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
    from workbench.evidence.runs import Which


class Contamination(Audit):
    """How often a model completes a statement word for word, and how often a re-worded one."""

    name = "contamination"
    questions = ("completion",)
    defaults = DEFAULTS
    question = "does the model know the statements word for word?"
    options, compares, told_by = CompletionOptions, False, (SAMPLING, DTYPE)
    several_models = True
    place = Place(
        mode="contamination",
        key="f9",
        label="Known text",
        tooltip="Go to Results: statements completed word for word",
        words="contamination memorization leakage known by heart training data completion",
    )
    todo = "see which statements the model knows by heart"
    home_help = section("help", "On Home", __package__)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        """Return the original and its first paraphrase."""
        paraphrases = [one for one in available if one.kind is VariantKind.PARAPHRASE]
        return tuple(one for one in available if one == ORIGINAL or one in paraphrases[:1])

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        """Yield the prompts about originals and paraphrases whose second half is not too short."""
        texts = {
            (s.ref, str(w.variant)): w.text
            for s in statements
            for w in s.wordings
            if w.language == language
        }
        same = [one for one in variants if _says_the_same(one)]
        every = super().probes(statements, templates, same, language, model_name, material)
        return (one for one in every if not _short(texts[one.statement, one.variant]))

    def remarks(
        self,
        statements: Sequence[Statement],
        variants: Sequence[VariantId],
        language: str,
        material: Material,
    ) -> tuple[str, ...]:
        there = [(s.ref, w) for s in statements for w in s.wordings if w.language == language]
        short = [ref for ref, one in there if one.variant == ORIGINAL and _short(one.text)]
        others = [str(one) for one in variants if not _says_the_same(one)]
        alone = bool(there) and not any(one.kind is VariantKind.PARAPHRASE for one in variants)
        said = []
        if others:
            said.append(
                f"not asked, because it says something else than the original: {named_few(others)}"
            )
        if short:
            fewer = f"because the second half has fewer than {LEAST_WORDS} words"
            said.append(f"{plural(len(short), 'original')} not asked, {fewer}: {named_few(short)}")
        if alone:
            said.append("without a paraphrase there is nothing to compare the originals with")
        return tuple(f"note: {line}" for line in said)

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
        if any(w.language == design.language for s in statements for w in s.wordings):
            return (
                f"every wording has a second half of fewer than {LEAST_WORDS} words, which "
                "anybody guesses"
            )
        return super().why_nothing(instrument, design, statements, material)

    def judge(
        self, store: Store, which: Which, options: CompletionOptions, opened: Opened
    ) -> Result:
        from workbench.audits.contamination.result import judge

        return judge(store, which, options)


NEEDED = 6
"""pairs of which only the original is completed, for an exact p of McNemar's test below .05 (2 / 2
** 6)"""


def _short(text: str) -> bool:
    return len(halves(text)[1].split()) < LEAST_WORDS


def _says_the_same(variant: VariantId) -> bool:
    return variant == ORIGINAL or variant.kind is VariantKind.PARAPHRASE


AUDIT = Contamination()
