"""Multiple-choice questions as statements of an instrument, and back: their forms are wordings like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.domain.choices import (
    AnswerSet,
    Choice,
    ChoiceItem,
    ChoicePair,
    Fault,
    Perturbation,
    parse_choice,
    ref_of,
)
from workbench.domain.instruments import Instrument
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, VariantId, VariantKind, Wording

KIND_OF = {
    Perturbation.KEY_TYPO: VariantKind.KEY_TYPO,
    Perturbation.MIDDLE_RANDOM: VariantKind.MIDDLE_RANDOM,
    Perturbation.LETTER_SWAP: VariantKind.LETTER_SWAP,
}
PERTURBATION_OF = {kind: perturbation for perturbation, kind in KIND_OF.items()}
FORMS = frozenset({VariantKind.ORIGINAL, VariantKind.CHANGED, *PERTURBATION_OF})
"kinds of wordings that are put to a model as questions with options"


def statement_of(pair: ChoicePair, language: str = "en", author: str | None = None) -> tuple[Statement, ChoiceItem]:
    """Return a question as a statement, each of its forms a wording, and what tells that it is a question."""
    ref = ref_of(pair.bias, pair.key, pair.variant)
    texts = [(ORIGINAL, pair.original), (CHANGED, pair.changed)]
    texts += [(VariantId(KIND_OF[kind], draw), choice) for (kind, draw), choice in sorted(pair.perturbed.items())]
    wordings = tuple(
        Wording(variant, language, choice.lettered(), author) for variant, choice in texts if choice is not None
    )
    statement = Statement(ref, wordings, topic=pair.topic, tags=(pair.bias.value,))
    item = ChoiceItem(ref, pair.key, pair.bias, pair.variant, pair.middle_removed, pair.shares, pair.warnings)
    return statement, item


def pair_of(statement: Statement, item: ChoiceItem, language: str) -> ChoicePair | Fault:
    """Return the question that a statement is, or what is wrong with the text of its original.

    A changed form or typo whose text is no question any more is left out.
    """
    texts = {w.variant: parse_choice(w.text) for w in statement.wordings if w.language == language}
    original = texts.get(ORIGINAL, Fault(f"no original wording in {language!r}", "a question with lettered options"))
    if isinstance(original, Fault):
        return original
    changed = texts.get(CHANGED)
    perturbed: dict[tuple[Perturbation, int], Choice] = {}
    for variant, choice in texts.items():
        if variant.kind in PERTURBATION_OF and isinstance(choice, Choice):
            perturbed[PERTURBATION_OF[variant.kind], variant.ordinal] = choice
    return ChoicePair(
        key=item.key,
        bias=item.bias,
        original=original,
        changed=changed if isinstance(changed, Choice) else None,
        topic=statement.topic,
        perturbed=perturbed,
        middle_removed=item.middle_removed,
        shares=item.shares,
        variant=item.variant,
        warnings=item.warnings,
    )


def unreadable_forms(statement: Statement) -> Iterator[tuple[Wording, Fault]]:
    """Yield the forms of a question that cannot be put to a model, each with what is wrong with its text."""
    for wording in statement.wordings:
        found = parse_choice(wording.text) if wording.variant.kind in FORMS else None
        if isinstance(found, Fault):
            yield wording, found


def with_pairs(instrument: Instrument, pairs: Iterable[ChoicePair], answers: Sequence[AnswerSet] = ()) -> Instrument:
    """Return an instrument with these questions as its statements, in order."""
    made = [statement_of(pair, instrument.language) for pair in pairs]
    return replace(
        instrument,
        statements=tuple(statement for statement, _ in made),
        choices=tuple(item for _, item in made),
        answer_sets=tuple(answers),
    )
