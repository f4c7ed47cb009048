"""What every audit shares: its interface, and verdicts as arrays.

A test is passed, failed or open (insufficient), and conjunctions follow Kleene: one failing part settles that the whole
fails, whatever is missing; otherwise one insufficient part leaves the whole open. A void part is no part: a test that
cannot fail settles nothing, and a whole of nothing but void parts is void.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from workbench.domain.choices import ChoiceItems
from workbench.domain.prompts import Probe, Template
from workbench.domain.questionnaires import Survey
from workbench.domain.responses import Sampling
from workbench.domain.statements import Statement, VariantId
from workbench.domain.verdicts import Verdict

Codes = npt.NDArray[np.int8]
"verdicts: PASS, FAIL, INSUFFICIENT or VOID"

Material = Survey | ChoiceItems | None
"what an audit is given beside statements: people's answers to a questionnaire, or which statements are multiple choice"

PASS: Final = 1
FAIL: Final = 0
INSUFFICIENT: Final = -1
VOID: Final = -2

_VERDICTS = {
    PASS: Verdict.PASS,
    FAIL: Verdict.FAIL,
    INSUFFICIENT: Verdict.INSUFFICIENT,
    VOID: Verdict.VOID,
}


class Audit(Protocol):
    """The module of an audit, as the registry hands it out."""

    def probes(
        self,
        statements: Sequence[Statement],
        templates: Sequence[Template],
        variants: Sequence[VariantId],
        language: str,
        model_name: str,
        material: Material = None,
    ) -> Iterator[Probe]:
        """Yield every prompt that the audit needs. `model_name` is what a template may call the model, `material` what
        the audit's defaults say that it rests on.
        """
        ...

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        """Return the wordings that are asked about where none are named."""
        ...

    @property
    def DEFAULTS(self) -> Defaults:  # noqa: N802  a module's constant
        """How the audit is asked unless told otherwise."""
        ...


@dataclass(frozen=True, slots=True)
class Defaults:
    """How an audit was published, and so how it is asked unless told otherwise."""

    samples: int
    "answers to each prompt"
    sampling: Sampling
    family: str
    "of its templates"
    drawn: bool = True
    "False: nothing is drawn, a prompt is answered by probabilities alone"
    exact_by: Literal["labels", "next tokens"] = "labels"
    "what is computed where nothing is drawn: how likely each label of the template is, or each next token"
    material: Literal["statements", "questionnaire", "choices"] = "statements"
    "what it asks about: any statements, or those that a questionnaire or multiple-choice questions are made of"
    until_valid: bool = False
    "answers that are none of those offered are drawn again; they are kept and do not count"
    tokens: Mapping[str, int] = field(default_factory=dict)
    "family of templates -> most tokens of an answer, where that differs"

    def sampling_of(self, family: str) -> Sampling:
        """Return how answers to a family of templates are drawn."""
        return replace(self.sampling, max_new_tokens=self.tokens.get(family, self.sampling.max_new_tokens))


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str,
    material: Material = None,  # noqa: ARG001  any statements can be asked about
) -> Iterator[Probe]:
    """Yield every wording of every statement under every template; wordings that a statement lacks are left out."""
    for statement in statements:
        for variant in variants:
            wording = statement.wording(variant, language)
            if wording is not None:
                for template in templates:
                    axes = (("model_name", model_name),) if template.names_model else ()
                    prompt = template.render(wording.text, model_name)
                    yield Probe(statement.ref, str(variant), template.name, template.inverted, prompt, axes)


def verdict(code: int) -> Verdict:
    """Return the verdict of one code."""
    return _VERDICTS[int(code)]


def codes(passed: npt.ArrayLike, decidable: npt.ArrayLike) -> Codes:
    """Return pass or fail where it can be decided, insufficient elsewhere."""
    return np.where(np.asarray(decidable), np.asarray(passed), INSUFFICIENT).astype(np.int8)


def conjunction(parts: npt.ArrayLike, axis: int, counts: npt.ArrayLike = True) -> Codes:
    """Return the conjunction along an axis.

    Parameters
    ----------
    counts : boolean, broadcasts to `parts`: which parts there are. Where there is none, nothing can be said:
        insufficient, not a vacuous pass. Where all that there are are void, so is the whole.

    Examples
    --------
    >>> conjunction([[1, 1], [1, -1], [0, -1]], axis=1).tolist()
    [1, -1, 0]
    >>> conjunction([[1, 0]], axis=1, counts=[[True, False]]).tolist()
    [1]
    >>> conjunction([[1, -2], [-2, -2]], axis=1).tolist()
    [1, -2]
    """
    values = np.asarray(parts)
    named = np.broadcast_to(np.asarray(counts), values.shape)
    there = named & (values != VOID)
    void = named.any(axis=axis) & ~there.any(axis=axis)
    fails = np.any(there & (values == FAIL), axis=axis)
    open_ = np.any(there & (values == INSUFFICIENT), axis=axis) | ~there.any(axis=axis)
    settled = np.where(fails, FAIL, np.where(open_, INSUFFICIENT, PASS))
    return np.where(void, VOID, settled).astype(np.int8)
