"""Which letter an answer names: one token, or an answer with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.readers.rules import (
    NO_LETTER,
    NO_TEXT,
    SEVERAL_LETTERS,
    ChoiceLetter,
    letter_of,
    spelled,
)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A", "a"),
        (" b", "b"),
        ("C.", "c"),
        ("(d)", "d"),
        ("**E**", "e"),
        ("B) Better roads", "b"),
        ("a: More trams", "a"),
        ("C\n\nReason: it is cheaper", "c"),
        ("Answer: D\nReason: I like it", "d"),
        ("answer: <b>", "b"),
        ("**Answer:** C. Bananas", "c"),
        ("Options:\nC. Bananas\nB. Oranges\nA. Apples\n\nAnswer: A", "a"),
        ("Answer: A\n…\nAnswer: B", "b"),
        ("B\nReason: it is cheaper.\n—\nQuestion: Which?\nA. This\nB. That\nAnswer: A", "b"),
        ("C. Reason: all\n\n**Question:** And then?\nAnswer: D\nQuestion: Again?\nAnswer: E", "c"),
        ("Question: Which?\nA. This\nB. That\nAnswer: A\nReason: …", "a"),
    ],
)
def test_a_letter_that_stands_by_itself_is_read(text: str, letter: str) -> None:
    assert letter_of(text) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "As",
        "Agree",
        "A lot of people",
        "I would say A",
        "AB",
        "1",
        "\u0430",
        "Ä.",
        "A/B",
        "The answer is A",
    ],
)
def test_no_letter_is_guessed_from_words(text: str) -> None:
    assert letter_of(text) == ""


@pytest.mark.parametrize(
    "text", ["(A) and (B)", "A) or B)", "Answer: (a) oder (b)", "A. & C.\nboth", "(A) + (B)"]
)
def test_an_answer_that_names_several_letters_names_none(text: str) -> None:
    reading = ChoiceLetter().read(text)
    assert (reading.label, reading.reason) == (None, SEVERAL_LETTERS)
    assert [letter_of(text) for text in ("**A** / **B**", "A., B.", "A and B")] == ["", "", ""]


@pytest.mark.parametrize(
    "text", ["(A) and (A)", "A) I think", "A.) and a half", "A\nB. Schools", "A. and so on"]
)
def test_one_letter_with_more_words_behind_it_is_read(text: str) -> None:
    assert letter_of(text) == "a"


def test_a_reading_says_where_the_letter_stands() -> None:
    reading = ChoiceLetter().read("Answer: D\nReason: …")
    assert (reading.label, reading.start, reading.stop) == ("d", 8, 9)
    assert ChoiceLetter().read(" ").reason == NO_TEXT
    assert ChoiceLetter().read("None of these").reason == NO_LETTER


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text_is_read_without_a_fault_and_what_is_read_is_one_letter(text: str) -> None:
    found = ChoiceLetter().read(text)
    assert found.label is None or (len(found.label) == 1 and "a" <= found.label <= "z")
    if found.label is not None:
        assert text[found.start : found.stop].lower() == found.label
        assert spelled(text) == found.label
