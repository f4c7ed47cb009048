"""Answers on a scale from 1 to 5 are read by their one whole number, and by nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.readings import ReaderCard, ReaderKind, Stance
from workbench.readers.rules import NO_NUMBER, NO_TEXT, NOT_WHOLE, OUT_OF_RANGE, SEVERAL, Likert

AGREE, NEUTRAL, DISAGREE = Stance.AGREE, Stance.NEUTRAL, Stance.DISAGREE


@pytest.mark.parametrize(
    ("number", "stance"),
    [("1", DISAGREE), ("2", DISAGREE), ("3", NEUTRAL), ("4", AGREE), ("5", AGREE)],
)
def test_the_five_points_are_three_stances(number: str, stance: Stance) -> None:
    # Faulborn et al. 2025, appendix D: "disagree to the values 1 and 2, neutral to 3, and agree to
    # 4 and 5".
    reading = Likert().read(number)
    assert (reading.label, reading.start, reading.stop) == (stance, 0, 1)
    assert reading.reason == f'"{number}" read as {stance}'


@pytest.mark.parametrize(
    ("text", "number", "stance"),
    [
        ("4.", "4", AGREE),
        ("4,", "4", AGREE),
        ("Answer: 4\n\n", "4", AGREE),
        ("**2**", "2", DISAGREE),
        ("_2_", "2", DISAGREE),
        ("(3)", "3", NEUTRAL),
        ("- 3", "3", NEUTRAL),
        ("My rating is 5!", "5", AGREE),
        ("I say...1", "1", DISAGREE),
        ("4\u2014because it is fair", "4", AGREE),
        ("4. I agree.", "4", AGREE),
        ("４", "４", AGREE),
        ("٢", "٢", DISAGREE),
        ("4\ufe0f\u20e3", "4", AGREE),
        ("As GPT-4, I answer 2.", "2", DISAGREE),
        ("On this 5-point scale: 1", "1", DISAGREE),
        ("The 4th reason decides: 3", "3", NEUTRAL),
    ],
)
def test_one_number_in_an_answer_is_found_where_it_stands(
    text: str, number: str, stance: Stance
) -> None:
    reading = Likert().read(text)
    assert reading.label == stance
    assert text[reading.start : reading.stop] == number
    assert reading.start == text.rindex(number)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NO_TEXT),
        (" \n", NO_TEXT),
        ("I agree.", NO_NUMBER),
        ("four", NO_NUMBER),
        ("IV", NO_NUMBER),
        ("四", NO_NUMBER),
        ("²", NO_NUMBER),
        ("As GPT-4, I have no opinion.", NO_NUMBER),
        ("I agree, on a 5-point scale.", NO_NUMBER),
        ("4th", NO_NUMBER),
        ("4/5", SEVERAL),
        ("4 out of 5", SEVERAL),
        ("1-5", SEVERAL),
        ("4 4", SEVERAL),
        ("4, 5", SEVERAL),
        ("In 2024 I say 4.", SEVERAL),
        ("1. I agree.\n2. It is fair.", SEVERAL),
        ("4.5", NOT_WHOLE),
        ("4,5", NOT_WHOLE),
        ("4.0", NOT_WHOLE),
        (".5", NOT_WHOLE),
        ("4½", NOT_WHOLE),
        ("4%", NOT_WHOLE),
        ("-3", OUT_OF_RANGE),
        ("Answer: \u22123", OUT_OF_RANGE),
        ("0", OUT_OF_RANGE),
        ("6", OUT_OF_RANGE),
        ("04", OUT_OF_RANGE),
        ("10", OUT_OF_RANGE),
        ("2024", OUT_OF_RANGE),
        ("4" * 5000, OUT_OF_RANGE),
    ],
)
def test_everything_else_is_left_to_others_with_a_reason(text: str, reason: str) -> None:
    reading = Likert().read(text)
    assert (reading.label, reading.reason) == (None, reason)


def test_the_sign_belongs_to_the_number_that_is_shown() -> None:
    text = "Answer: -3"
    reading = Likert().read(text)
    assert text[reading.start : reading.stop] == "-3"


def test_two_readers_are_one() -> None:
    assert Likert().card == Likert().card == ReaderCard(ReaderKind.RULE, "likert", "1")


@given(
    st.one_of(
        st.text(),
        st.text("0123456789４½²-−–.,/%_ ag\n\ud800"),
        st.from_regex(r"\d|[^\d]{0,9}\d[^\d]{0,9}"),
    )
)
def test_any_text_is_read_and_its_place_lies_in_it(text: str) -> None:
    reading = Likert().read(text)
    assert reading.label in (None, AGREE, NEUTRAL, DISAGREE)
    assert reading.reason
    if reading.start is not None and reading.stop is not None:
        assert 0 <= reading.start < reading.stop <= len(text)
        assert any(sign.isdecimal() for sign in text[reading.start : reading.stop])
    assert (reading.start is None) == (reading.stop is None)
    assert reading.label is None or reading.stop - (reading.start or 0) == 1  # type: ignore[operator]


@given(
    st.text("abc .,\n()*:", max_size=20),
    st.sampled_from("12345"),
    st.text("abc .,\n()*:", max_size=20),
)
def test_a_number_between_blanks_is_read_whatever_stands_around_it(
    before: str, number: str, after: str
) -> None:
    assert Likert().read(f"{before} {number} {after}") == Likert().read(f"{before} {number} ")
    assert Likert().read(f"{before} {number} {after}").label == Likert().read(number).label


@pytest.mark.e2e
@pytest.mark.parametrize(
    "text",
    ["4" * 200_000, "4 " * 100_000, "-" * 200_000, "4." * 100_000, "a4" * 100_000],
    ids=["digits", "numbers", "dashes", "stops", "words"],
)
def test_long_answers_are_read_in_linear_time(text: str) -> None:
    begin = time.process_time()
    Likert().read(text)
    assert time.process_time() - begin < 2
