"""Hints on a draft before it is accepted: cheap checks of its text, in sentences. A person decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.domain.drafting import SINGLE
from workbench.domain.statements import RELATION_OF, Relation, VariantKind, Wording
from workbench.workshop.choice_forms import pair_hints
from workbench.workshop.draft_lines import drafted
from workbench.workshop.drafting import asks, basis_of, compared, form_faults

NEGATORS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
_QUANTIFIED = re.compile(r"(?:all|every|everyone|everybody|each|only|some|many|most|few|any|both|no)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
FEW_NEW, MANY_NEW = 0.15, 0.95
"share of words that the other text lacks: below the first, almost nothing was varied; above the second, everything"


def draft_hints(
    kind: VariantKind, language: str, basis: str, line: str, held: Iterable[Wording], bias: Bias | None = None
) -> tuple[str, ...]:
    """Return hints on a drafted line, given the current wordings of its statement.

    `bias`: for a changed form, the bias of its question.
    """
    wordings = [w for w in held if w.language == language]
    now = basis_of(wordings, kind, language)
    others = [w for w in wordings if w.variant.kind is not kind or kind not in SINGLE]
    of = "question" if kind is VariantKind.ORIGINAL else "original"
    changed = () if now is not None and now.text == basis else (f"the {of} was changed since this was drafted",)
    return (*changed, *hints(kind, language, basis, drafted(kind, line), others, bias))


def hints(
    kind: VariantKind,
    language: str,
    basis: str,
    text: str,
    wordings: Iterable[Wording],
    bias: Bias | None = None,
) -> tuple[str, ...]:
    """Return hints, in sentences.

    `basis`: the text that it was drafted from; `wordings`: those of the statement in its language.
    """
    english = language.split("-")[0] == "en"
    if kind is VariantKind.CHANGED:
        found = list(_worded(basis, text, bias)) if english else []
    else:
        found = [*(_meaning(kind, basis, text) if english else ()), *_form(kind, basis, text)]
    for wording in wordings:
        if compared(wording.text) == compared(text):
            found.append(f"the same text as the {wording.variant} that is there")
    return tuple(found)


def _worded(basis: str, text: str, bias: Bias | None) -> Iterator[str]:
    """Check both forms of a question with a written changed form."""
    original, changed = parse_choice(basis), parse_choice(text)
    if bias is not None and isinstance(original, Choice) and isinstance(changed, Choice):
        yield from form_faults(bias, basis, text)
        yield from pair_hints(ChoicePair("", bias, original, changed))


def _meaning(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Check negators, in English."""
    before, after = len(NEGATORS.findall(basis)), len(NEGATORS.findall(text))
    same = RELATION_OF[kind] is Relation.SAME and kind is not VariantKind.ORIGINAL
    if kind is VariantKind.NEGATION:
        if before == after:
            yield "no negation was added or taken away"
        if found := _QUANTIFIED.match(basis):
            yield f"the original begins with “{found.group()}”: look at what the negation denies"
        if re.search(r"\b(?:and|or|but|because|unless|if)\b", basis, re.IGNORECASE):
            yield "the original has several parts: look at which of them is denied"
    elif kind is VariantKind.OPPOSITE and after > before:
        yield "it has a negation more: an opposite does without"
    elif same and before != after:
        yield "it has another number of negations than the original: is the meaning the same?"


def _form(kind: VariantKind, basis: str, text: str) -> Iterator[str]:
    """Check features of all scripts: numbers, length, common words, the end."""
    numbers, others = sorted(_NUMBER.findall(basis)), sorted(_NUMBER.findall(text))
    if numbers != others:
        yield f"other numbers: {_listed(numbers)} in the original, {_listed(others)} here"
    new = _new_words(basis, text)
    varied = kind not in (VariantKind.NEGATION, VariantKind.ORIGINAL)
    if varied and new < FEW_NEW:
        yield "next to nothing was varied"
    if kind is VariantKind.NEGATION and new > 0.5:
        yield "a negation changes little else: most words differ"
    if varied and new > MANY_NEW:
        yield "hardly a word in common: is it about the same matter?"
    if len(text) > 1.8 * len(basis) + 10:
        yield "much longer than the original"
    if basis[-1:] in ".!。" and text[-1:] not in ".!。…":
        yield "no full stop at the end, as the original has"
    if asks(basis) and not asks(text) and kind is not VariantKind.ORIGINAL:
        yield "no question, as the original is"


def _new_words(basis: str, text: str) -> float:
    """Return the share of the text's words that the basis lacks."""
    before = set(re.findall(r"\w+", compared(basis)))
    after = re.findall(r"\w+", compared(text))
    return sum(word not in before for word in after) / len(after) if after else 0.0


def _listed(numbers: list[str]) -> str:
    return ", ".join(numbers) or "none"
