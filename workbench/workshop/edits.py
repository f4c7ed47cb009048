"""Changes of one statement, as values.

The screens, the commands and their previews all use them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from workbench.domain.drafting import TYPED
from workbench.domain.statements import (
    CHANGED,
    ORIGINAL,
    QUESTION,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
    variant_order,
)
from workbench.errors import UsageError

LONGEST_NAME = 64
"the largest number of characters of a tag, a topic or a source"

NUMBERED = (VariantKind.PARAPHRASE, *sorted(TYPED))
"kinds whose first wording already carries a number"

Choice = TypeVar("Choice", Dimension, Side)

HEADS = (ORIGINAL, QUESTION)
"wordings that may stand alone in a language"

FIELDS = ("topic", "country", "source", "dimension", "leaning")
"fields that can be set on many statements together"


def with_text(
    statement: Statement, variant: VariantId, language: str, text: str, author: str | None
) -> Statement:
    """Return the statement with one wording added, or its text changed.

    Its relation is kept.

    An unchanged text keeps its author. Raises UsageError if the text cannot be a wording, and for a
    variant without an original in that language, because it could not be compared.
    """
    if fault := text_fault(text):
        raise UsageError(f"{statement.ref} {variant}: {fault}. Nothing was written.")
    if variant not in HEADS and statement.wording(ORIGINAL, language) is None:
        raise UsageError(
            f"{statement.ref} has no original in {language!r}, so nothing could be compared with "
            f"its {variant}; write the original in that language first"
        )
    existing = statement.wording(variant, language)
    if existing is not None and existing.text == text:
        return statement
    stated = existing.stated if existing is not None else _stated(statement, variant)
    return _with(statement, Wording(variant, language, text, author, stated))


def without(statement: Statement, variant: VariantId, language: str) -> Statement:
    """Return the statement without one wording.

    Raises UsageError for an original that variants still need.
    """
    if statement.wording(variant, language) is None:
        raise UsageError(
            f"{statement.ref} has no {variant} in {language!r}. It has: {_inventory(statement)}"
        )
    remaining = tuple(
        wording
        for wording in statement.wordings
        if (wording.variant, wording.language) != (variant, language)
    )
    if variant == ORIGINAL:
        dependent = [
            str(wording.variant)
            for wording in remaining
            if wording.language == language and wording.variant not in HEADS
        ]
        if dependent:
            raise UsageError(
                f"the original of {statement.ref} in {language!r} cannot be deleted while its "
                f"variants need it: {', '.join(dependent)}"
            )
    if not remaining:
        raise UsageError(
            f"{statement.ref} would have no wording left; archive the statement instead"
        )
    return _rewritten(statement, remaining)


def with_relation(statement: Statement, variant: VariantId, relation: Relation) -> Statement:
    """Return the statement with the relation of a variant changed, in all of its languages.

    Raises UsageError for the original, with which other wordings are compared.
    """
    if variant == ORIGINAL:
        raise UsageError(
            "the original is what its variants are compared with; nothing else can be expected "
            "of it"
        )
    if all(wording.variant != variant for wording in statement.wordings):
        raise UsageError(f"{statement.ref} has no {variant}. It has: {_inventory(statement)}")
    stated = None if relation is variant.relation else relation
    return _rewritten(
        statement,
        tuple(
            replace(wording, stated=stated) if wording.variant == variant else wording
            for wording in statement.wordings
        ),
    )


def next_variant(statement: Statement, kind: VariantKind) -> VariantId:
    """Return the variant of a further wording of a kind.

    It has the first number that no language uses.

    A question has one changed form per language, so its variant is always the same and may be
    taken.
    """
    if kind is CHANGED.kind:
        return CHANGED
    used_ordinals = {
        wording.variant.ordinal for wording in statement.wordings if wording.variant.kind is kind
    }
    if kind not in NUMBERED and not used_ordinals:
        return VariantId(kind)
    ordinal = 1 if kind in NUMBERED else 2
    while ordinal in used_ordinals:
        ordinal += 1
    return VariantId(kind, ordinal)


def replaced(statement: Statement, old: str, new: str) -> Statement:
    """Return the statement with a passage replaced in all of its wordings.

    Case matters.

    Raises UsageError if a wording would become invalid. Authorship does not change.
    """
    if not old:
        raise UsageError("there is nothing to find; give the words to replace")
    return _texts(statement, lambda text: text.replace(old, new))


def stripped(statement: Statement) -> Statement:
    """Return the statement with single spaces in its wordings, and none at their ends."""
    return _texts(
        statement,
        lambda text: "\n".join(" ".join(line.split()) for line in text.strip().split("\n")),
    )


def with_tag(statement: Statement, tag: str) -> Statement:
    """Return the statement with one more tag. Raises UsageError for an invalid tag."""
    name = tag_name(tag)
    return statement if name in statement.tags else replace(statement, tags=(*statement.tags, name))


def without_tag(statement: Statement, tag: str) -> Statement:
    name = " ".join(unicodedata.normalize("NFC", tag).split())
    return replace(
        statement, tags=tuple(existing for existing in statement.tags if existing != name)
    )


def with_field(statement: Statement, field: str, text: str) -> Statement:
    """Return the statement with one of `FIELDS` set to typed text.

    Empty text clears it.

    Raises UsageError for another field or an invalid value.
    """
    if field not in FIELDS:
        raise UsageError(f"found {field!r}; one of {', '.join(FIELDS)} can be set")
    value = label(text, field)
    if field == "dimension":
        return replace(statement, dimension=_member(Dimension, value, field) if value else None)
    if field == "leaning":
        return replace(statement, leaning=_member(Side, value, field) if value else None)
    if field == "topic":
        return replace(statement, topic=value or None)
    if field == "country":
        return replace(statement, country=value or None)
    return replace(statement, source=value or None)


def tag_name(text: str) -> str:
    """Return a tag in normal form. Raises UsageError for an empty or invalid tag."""
    name = label(text, "tag")
    if not name:
        raise UsageError("the tag is empty; give a word")
    if "," in name:
        raise UsageError(
            f"found the tag {name!r}; tags are told apart by commas, so none holds one"
        )
    return name


def tag_names(text: str) -> tuple[str, ...]:
    """Return the tags of `a, b`, each once, in order."""
    return tuple(dict.fromkeys(tag_name(tag) for tag in text.split(",") if tag.strip()))


def label(text: str, field: str) -> str:
    """Return a short text in normal form. Raises UsageError if it is too long or unprintable."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if len(name) > LONGEST_NAME:
        raise UsageError(f"{field}: found {len(name):,} characters; give at most {LONGEST_NAME}")
    unprintable = next((character for character in name if not character.isprintable()), None)
    if unprintable is not None:
        escaped = unprintable.encode("unicode_escape").decode("ascii")
        raise UsageError(f"{field}: it holds {escaped}, which does not show; give it without")
    return name


def split(
    statement: Statement,
    refs: tuple[str, str],
    texts: tuple[str, str],
    language: str,
    author: str | None,
) -> tuple[Statement, Statement]:
    """Return the two statements into which one is split: originals in one language.

    They have its other data. Variants are not copied, because they state both things. The side is
    not copied either, because it applied to both together.
    """
    first, second = (ref.strip() for ref in refs)
    if first == second:
        raise UsageError(f"both halves have the ref {first}; give them different ones")
    return (
        _half(statement, first, texts[0], language, author),
        _half(statement, second, texts[1], language, author),
    )


def _half(
    statement: Statement, ref: str, text: str, language: str, author: str | None
) -> Statement:
    if fault := text_fault(text):
        raise UsageError(f"{ref}: {fault}")
    return replace(
        statement,
        ref=ref,
        wordings=(Wording(ORIGINAL, language, text, author),),
        languages=(language,),
        issues={},
        leaning=None,
        derived_from=statement.ref,
        version=1,
    )


def _stated(statement: Statement, variant: VariantId) -> Relation | None:
    """Return the relation of the same variant in another language, which a translation shares."""
    return next(
        (wording.stated for wording in statement.wordings if wording.variant == variant), None
    )


def _with(statement: Statement, wording: Wording) -> Statement:
    other_wordings = tuple(
        existing
        for existing in statement.wordings
        if (existing.variant, existing.language) != (wording.variant, wording.language)
    )
    return _rewritten(statement, (*other_wordings, wording))


def _rewritten(statement: Statement, wordings: tuple[Wording, ...]) -> Statement:
    """Return the statement with these wordings, in the order of a store."""
    return replace(
        statement,
        wordings=tuple(
            sorted(wordings, key=lambda wording: (wording.language, variant_order(wording.variant)))
        ),
        languages=tuple(sorted({wording.language for wording in wordings})),
    )


def _texts(statement: Statement, change: Callable[[str], str]) -> Statement:
    wordings = tuple(replace(wording, text=change(wording.text)) for wording in statement.wordings)
    for old, new in zip(statement.wordings, wordings, strict=True):
        if old != new and (fault := text_fault(new.text)):
            raise UsageError(
                f"{statement.ref} {new.variant}: {fault} after the change. Nothing was written."
            )
    return statement if wordings == statement.wordings else replace(statement, wordings=wordings)


def _inventory(statement: Statement) -> str:
    return ", ".join(f"{wording.variant} ({wording.language})" for wording in statement.wordings)


def _member(choices: type[Choice], value: str, field: str) -> Choice:
    try:
        return choices(value)
    except ValueError as error:
        values = ", ".join(choice.value for choice in choices)
        raise UsageError(f"{field}: found {value!r}; give one of {values}, or nothing") from error
