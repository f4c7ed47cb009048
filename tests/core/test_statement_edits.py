"""Changes of a statement as values: what may be, what may not, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
)
from workbench.errors import UsageError
from workbench.workshop.edits import (
    next_variant,
    replaced,
    split,
    stripped,
    tag_names,
    with_field,
    with_relation,
    with_text,
    without,
)

TAX = Statement(
    "tax",
    (
        Wording(ORIGINAL, "en", "Taxes should fall."),
        Wording(
            VariantId(VariantKind.PARAPHRASE, 2), "en", "Lower the taxes.", "ana", Relation.FREE
        ),
        Wording(NEGATION, "en", "Taxes should not fall."),
    ),
    languages=("en",),
)
TEXTS = st.text(max_size=60)


@given(TEXTS)
def test_any_text_is_kept_to_the_letter_or_refused(text: str) -> None:
    if text_fault(text):
        with pytest.raises(UsageError):
            with_text(TAX, ORIGINAL, "en", text, "ana")
    else:
        held = with_text(TAX, ORIGINAL, "en", text, "ana").wording(ORIGINAL, "en")
        assert held is not None
        assert held.text == text


@given(TEXTS.filter(lambda text: not text_fault(f"a {text}")))
def test_stripping_blanks_twice_is_stripping_them_once(text: str) -> None:
    statement = replace(TAX, wordings=(Wording(ORIGINAL, "en", f"a {text}"),))
    once = stripped(statement)
    assert stripped(once) == once
    assert once.wordings[0].text.split() == f"a {text}".split()


def test_an_unchanged_text_keeps_its_author_and_a_changed_one_what_was_stated_of_it() -> None:
    variant = VariantId(VariantKind.PARAPHRASE, 2)
    assert with_text(TAX, variant, "en", "Lower the taxes.", "ben") == TAX
    held = with_text(TAX, variant, "en", "Cut taxes.", "ben").wording(variant, "en")
    assert held == Wording(variant, "en", "Cut taxes.", "ben", Relation.FREE)


def test_a_translation_is_expected_to_do_what_its_source_does() -> None:
    variant = VariantId(VariantKind.PARAPHRASE, 2)
    both = with_text(
        with_text(TAX, ORIGINAL, "de", "Steuern runter.", None),
        variant,
        "de",
        "Weniger Steuern.",
        None,
    )
    held = both.wording(variant, "de")
    assert held is not None
    assert held.relation is Relation.FREE
    assert both.languages == ("de", "en")


def test_a_variant_needs_an_original_in_its_language_and_a_question_does_not() -> None:
    with pytest.raises(UsageError, match="no original in 'de'"):
        with_text(TAX, NEGATION, "de", "Nein.", None)
    assert (
        with_text(TAX, QUESTION, "de", "Steuern runter?", None).wording(QUESTION, "de") is not None
    )


def test_a_further_wording_takes_the_first_free_number() -> None:
    assert next_variant(TAX, VariantKind.PARAPHRASE) == VariantId(VariantKind.PARAPHRASE, 1)
    assert next_variant(TAX, VariantKind.OPPOSITE) == VariantId(VariantKind.OPPOSITE)
    assert next_variant(TAX, VariantKind.NEGATION) == VariantId(VariantKind.NEGATION, 2)


def test_the_last_wording_is_not_deleted() -> None:
    alone = replace(TAX, wordings=TAX.wordings[:1])
    with pytest.raises(UsageError, match="archive the statement"):
        without(alone, ORIGINAL, "en")
    with pytest.raises(UsageError, match="no opposite in 'en'"):
        without(TAX, VariantId(VariantKind.OPPOSITE), "en")


def test_what_is_expected_of_a_kind_is_not_stated_again() -> None:
    assert with_relation(TAX, NEGATION, Relation.FLIPPED).wordings[2].stated is None
    assert with_relation(TAX, NEGATION, Relation.SAME).wordings[2].stated is Relation.SAME


def test_a_replacement_counts_capitals_and_keeps_authors() -> None:
    after = replaced(TAX, "taxes", "levies")
    assert [w.text for w in after.wordings] == [
        "Taxes should fall.",
        "Lower the levies.",
        "Taxes should not fall.",
    ]
    assert after.wordings[1].author == "ana"
    assert replaced(TAX, "nowhere", "x") is TAX


def test_halves_take_along_what_holds_of_both_and_not_what_was_said_of_the_whole() -> None:
    whole = replace(TAX, topic="tax", tags=("pilot",), issues={"law": 1})
    first, second = split(whole, ("tax-a", "tax-b"), ("One.", "Two."), "en", "ana")
    assert (first.topic, first.tags, first.issues, first.derived_from) == (
        "tax",
        ("pilot",),
        {},
        "tax",
    )
    assert [w.text for w in second.wordings] == ["Two."]
    with pytest.raises(UsageError, match="different ones"):
        split(whole, ("x", "x"), ("One.", "Two."), "en", "ana")


def test_tags_are_told_apart_by_commas_and_in_normal_form() -> None:
    assert tag_names(" a  b ,c,, a b") == ("a b", "c")
    with pytest.raises(UsageError, match="does not show"):
        tag_names("right\u202eleft")


def test_a_field_that_is_not_known_is_refused_and_an_empty_one_taken_away() -> None:
    assert with_field(replace(TAX, topic="x"), "topic", " ").topic is None
    with pytest.raises(UsageError, match="economic, cultural"):
        with_field(TAX, "dimension", "foreign")
    with pytest.raises(UsageError, match="can be set"):
        with_field(TAX, "ref", "x")
