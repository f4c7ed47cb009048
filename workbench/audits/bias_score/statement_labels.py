"""Letting a model say what a statement is about and which side agreeing with it reflects.

"We use GPT-4 to decide all labels used for bias computation. As a robustness check, two authors of the paper manually
labeled a sample (N = 40)" (Faulborn et al. 2025, section 3.1; prompts in their Table 6). The two questions are two
templates, whose two answers are the template's labels; the label words read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.audits.audit import probes
from workbench.audits.bias_score.options import LABELS_DEFAULTS as DEFAULTS
from workbench.domain.readings import Stance
from workbench.domain.statements import ORIGINAL, Dimension, Side, VariantId
from workbench.domain.verdicts import Estimate

if TYPE_CHECKING:
    from workbench.evidence.rulings import Told

__all__ = [
    "DEFAULTS",
    "DIMENSION",
    "LEANING",
    "Pair",
    "SideRow",
    "SidesReport",
    "default_variants",
    "labels",
    "probes",
]


DIMENSION, LEANING = "dimension", "leaning"
"names of the two templates"

Pair = tuple[str | None, str | None]
"(dimension, leaning)"

_WORDS: dict[tuple[str, str], Dimension | Side] = {
    (DIMENSION, Stance.AGREE): Dimension.ECONOMIC,
    (DIMENSION, Stance.DISAGREE): Dimension.CULTURAL,
    (LEANING, Stance.AGREE): Side.LEFT,
    (LEANING, Stance.DISAGREE): Side.RIGHT,
}


@dataclass(frozen=True, slots=True)
class SideRow:
    """One statement and who says what of it."""

    ref: str
    dimension: str | None
    leaning: str | None
    instrument: Pair
    people: Pair


@dataclass(frozen=True, slots=True)
class SidesReport:
    """A model's labels of an instrument's statements."""

    model: str
    instrument: str
    rows: tuple[SideRow, ...]
    unread: int
    "statements of which one label or both could not be read"
    kappas: Mapping[str, Mapping[str, Estimate]]
    "with whom -> condition -> Cohen's kappa with the model"
    rulings: Told
    "what auditors' rulings change"
    notes: tuple[str, ...] = ()
    "which families and versions of templates are left out, in sentences"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original alone."""
    return tuple(variant for variant in available if variant == ORIGINAL)


def labels(answers: Iterable[tuple[str, str, str | None, int]]) -> dict[str, Mapping[str, str | None]]:
    """Return each statement's two labels by the majority of its readable answers.

    `answers`: (ref, template, what the label words read, how often; less than 0 where a ruling takes answers away). A
    tie, or no readable answer, is no label: None.
    """
    votes: dict[str, dict[str, Counter[str]]] = {}
    for ref, template, label, count in answers:
        held = votes.setdefault(ref, {DIMENSION: Counter(), LEANING: Counter()})
        if template in held and (template, label) in _WORDS:
            held[template][_WORDS[template, str(label)]] += count
    return {ref: {name: _winner(counter) for name, counter in of.items()} for ref, of in votes.items()}


def _winner(votes: Counter[str]) -> str | None:
    ranked = [(side, n) for side, n in votes.most_common(2) if n > 0]
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return str(ranked[0][0])
