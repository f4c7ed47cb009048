"""Hints on wordings: each is found where it is, and nowhere else."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import instrument
from workbench.data import shipped_instrument_folder
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.formats.native import read_csv
from workbench.workshop.checks import (
    instrument_hints,
    length,
    variant_hints,
    word_lists,
    wording_hints,
)

PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)
PLAIN = "Pensions should rise with prices."


def codes(text: str, language: str = "en") -> list[str]:
    return [hint.code for hint in wording_hints(text, language)]


def beside(
    variant: VariantId, text: str, original: str = PLAIN, stated: Relation | None = None
) -> list[str]:
    wording = Wording(variant, "en", text, stated=stated)
    return [hint.code for hint in variant_hints(wording, Wording(ORIGINAL, "en", original))]


def test_a_plain_statement_has_nothing_to_look_at() -> None:
    assert codes(PLAIN) == []
    assert beside(PARAPHRASE, "Prices should set how pensions rise.") == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Taxes should be cut and wages should be raised.", "two-in-one"),
        ("All schools should be free.", "absolute-word"),
        ("Some schools should be free.", "vague-word"),
        ("The so-called experts should be heard.", "loaded-wording"),
        ("Obviously schools should be free.", "loaded-wording"),
        ("Studies show that schools should be free.", "leading-wording"),
        ("Children should not go without lunch.", "double-negation"),
        ("We shouldn’t say that it isn't so.", "double-negation"),
        ("Schools are underfunded. They should be free.", "several-sentences"),
        ("Schools should NEVERTHELESS be free.", "capitals"),
        ("SCHOOLS SHOULD BE FREE.", "capitals"),
        ("Internationalisation should be slowed.", "long-word"),
        (" ".join(["word"] * 31), "long"),
        ("Schools should be \u202efree.", "direction-mark"),
        ("Schools should be \u200efree.", "direction-mark"),
        ("Schools should\u200b be free.", "hidden-character"),
        ("Schools sh\u043euld be free.", "mixed-scripts"),
        ("Cafe\u0301s should close early.", "not-nfc"),
    ],
)
def test_each_hint_is_found(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    "text",
    [
        "Rules (e.g. on noise) should be relaxed.",
        "NATO and UNESCO",
        "Grandmother should decide.",
        "Nothing is left.",
        "Schools should not only teach.",
        "\u05d1\u05ea\u05d9 \u200f\u05e1\u05e4\u05e8 (a)",
        "Школы должны быть бесплатными.",
        "Müller & Söhne dürfen bleiben.",
    ],
)
def test_what_only_looks_like_a_hint_is_none(text: str) -> None:
    assert not {
        "several-sentences",
        "capitals",
        "double-negation",
        "direction-mark",
        "mixed-scripts",
    } & set(codes(text))


def test_words_of_english_are_looked_for_in_english_only() -> None:
    assert codes("All der Sand and some Meer.", "de") == []
    assert word_lists("xx") is None
    assert word_lists("../lexicons/loaded_en") is None
    assert codes("TAXES SHOULD FALL NOW.", "de") == ["capitals"], (
        "marks and capitals are for every language"
    )


def test_a_hint_knows_its_place() -> None:
    text = "Taxes should always be low."
    [hint] = wording_hints(text)
    assert text[hint.start : hint.stop] == "always"
    assert hint.message == "has 'always', an absolute word: one exception is enough to disagree"


def test_the_reading_ease_is_flesch_s() -> None:
    """206.835 - 1.015 * 10 / 2 - 84.6 * 12 / 10 for ten words in two sentences with 12
    syllables.
    """
    text = "The cat sat on the mat. It was very happy."
    measured = length(text, "en")
    assert (measured.words, measured.sentences) == (10, 2)
    assert measured.reading_ease is not None
    assert math.isclose(measured.reading_ease, 206.835 - 1.015 * 5 - 84.6 * 12 / 10)
    assert length(text, "de").reading_ease is None, "the formula is for English"
    assert length("Too short.", "en").reading_ease is None
    assert str(measured) == "10 words, 2 sentences, reading ease 100"


def test_hard_wording_is_found() -> None:
    text = (
        "Administrative responsibilities necessitate considerable interdepartmental coordination, "
    )
    assert "hard-to-read" in codes(
        text + "notwithstanding unprecedented organisational heterogeneity."
    )


def test_a_statement_that_asks_and_a_question_that_does_not_are_found() -> None:
    assert beside(PARAPHRASE, "Should pensions rise?") == ["question"]
    assert beside(QUESTION, "Should pensions rise?") == []
    assert beside(QUESTION, "Pensions should rise.") == ["no-question-mark"]


def test_a_negation_without_a_negator_and_an_opposite_with_one_are_found() -> None:
    assert beside(NEGATION, "Pensions should rise with wages.") == ["negation-without-negator"]
    assert beside(NEGATION, "Pensions should not rise with prices.") == []
    assert beside(NEGATION, "Not only pensions should rise.") == [], (
        "a negator that denies `only` is one"
    )
    assert beside(NEGATION, PLAIN) == [], "equal texts are an error of lint"
    assert beside(OPPOSITE, "Pensions should not rise with prices.") == ["opposite-with-negator"]
    assert beside(OPPOSITE, "Pensions should stay as they are.") == []


def test_of_a_negated_statement_the_negation_may_leave_the_negator_out() -> None:
    assert beside(NEGATION, PLAIN, "Pensions should not rise with prices.") == []
    assert (
        beside(OPPOSITE, "No pension should fall.", "Pensions should not rise with prices.") == []
    )


def test_a_wording_of_which_nothing_is_expected_has_no_relation_to_check() -> None:
    assert beside(NEGATION, "Pensions should rise with wages.", stated=Relation.FREE) == []
    assert beside(NEGATION, "Pensions should rise with wages.", stated=Relation.SAME) == []


def test_a_paraphrase_of_quite_another_length_is_found() -> None:
    assert beside(
        PARAPHRASE, "It would be right if all pensions rose as fast as what people pay for bread."
    ) == ["other-length"]
    assert beside(PARAPHRASE, "Pensions should go up as fast as prices do.") == []


def test_what_a_variant_has_from_its_original_is_said_once() -> None:
    whole = Statement(
        "a-1",
        (
            Wording(ORIGINAL, "en", "All schools should be free."),
            Wording(NEGATION, "en", "Not all schools should be free."),
            Wording(PARAPHRASE, "en", "All schools should be without fees, obviously."),
        ),
    )
    found = list(instrument_hints(replace(instrument(), statements=(whole,))))
    assert [(f.code, str(f.variant)) for f in found] == [
        ("absolute-word", "original"),
        ("loaded-wording", "paraphrase-1"),
    ]
    assert found[1].message.startswith("en: paraphrase-1 has 'obviously', loaded wording")
    assert [quoted.name for quoted in found[1].texts] == ["original", "paraphrase-1"]


def test_only_the_language_asked_for_is_looked_at() -> None:
    assert list(instrument_hints(instrument(), "de")) == []


def test_the_shipped_instrument_has_notes_and_no_warnings() -> None:
    found = list(instrument_hints(read_csv(shipped_instrument_folder())))
    assert {finding.severity for finding in found} == {"note"}
    assert len(found) == 12


@given(st.text(max_size=300))
def test_any_text_has_hints_and_they_are_in_it(text: str) -> None:
    for language in ("en", "de"):
        for hint in wording_hints(text, language):
            assert 0 <= hint.start <= hint.stop <= len(text)
    variant_hints(Wording(NEGATION, "en", text), Wording(ORIGINAL, "en", text[::-1]))


def test_a_very_long_text_is_looked_at_in_an_instant() -> None:
    begin = time.process_time()
    wording_hints("not and all some very " * 500)
    wording_hints("a" * 10_000)
    wording_hints("n't" * 3_000)
    assert time.process_time() - begin < 1
