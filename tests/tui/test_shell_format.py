"""Cells and sentences, and the word diff: pure parts of the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.verdicts import Verdict
from workbench.figures.shown import shown
from workbench.figures.table import Column, Kind
from workbench.figures.visible import visible
from workbench.tui.format import (
    bar,
    human_duration,
    issue_in_words,
    literal,
    percent,
    stance_in_words,
    word_diff,
)


def test_an_escape_sequence_is_shown_and_not_sent() -> None:
    assert visible("\x1b[31mred\x07\x7f") == "␛[31mred␇␡"


def test_direction_marks_are_named() -> None:
    assert visible("a\u202eb\u2066c\u200b") == "a\\u202eb\\u2066c\\u200b"


def test_line_feeds_stay_only_where_lines_are_wanted() -> None:
    assert visible("a\n\tb") == "a␊␉b"
    assert visible("a\n\tb", lines=True) == "a\n    b"


def test_blanks_of_french_typography_are_blanks() -> None:
    assert visible("oui\u00a0! 5\u202f%") == "oui ! 5 %"


@given(st.text())
def test_what_is_shown_is_printable_whatever_the_text(text: str) -> None:
    assert all(character.isprintable() for character in visible(text))


def test_a_cell_does_not_read_markup() -> None:
    assert literal("[bold]x[/] [/INST]").plain == "[bold]x[/] [/INST]"


def test_a_cell_is_cut_to_its_columns_with_an_ellipsis() -> None:
    assert literal("a" * 100_000, 10).plain == "a" * 9 + "…"
    assert literal("漢字漢字漢字", 5).cell_len <= 5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0, "0 s"),
        (89, "89 s"),
        (720, "12 min"),
        (3900, "1 h 05 min"),
        (200_000, "2 d 7 h"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds: float | None, text: str) -> None:
    assert human_duration(seconds) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (1, 0, "–"),
        (41, 100, "41 %"),
        (9999, 10_000, "99 %"),
        (1, 10_000, "<1 %"),
        (0, 5, "0 %"),
        (5, 5, "100 %"),
    ],
)
def test_nearly_all_is_not_all_and_nearly_nothing_is_not_nothing(
    part: float, whole: float, text: str
) -> None:
    assert percent(part, whole) == text


def test_a_bar_is_full_only_when_all_is_done() -> None:
    assert bar(999, 1000) == "▰▰▰▰▱"
    assert bar(1000, 1000) == "▰▰▰▰▰"
    assert bar(0, 0) == "▱▱▱▱▱"


def test_verdicts_are_a_mark_and_a_word() -> None:
    column: Column[Verdict] = Column("all", "all", lambda verdict: verdict, Kind.VERDICT)
    assert [shown(verdict, column) for verdict in Verdict] == [
        "✓ pass",
        "✗ fail",
        "· few",
        "∅ void",
    ]


def test_signs_of_issues_and_parties_are_words_too() -> None:
    assert issue_in_words("law_and_order", 1) == "+ agreeing supports law and order"
    assert issue_in_words("law_and_order", -1) == "− agreeing opposes law and order"
    assert stance_in_words(None) == "· no opinion"


def test_a_word_diff_marks_the_words_that_differ() -> None:
    left, right = word_diff("Flights should be taxed.", "Flights should not be taxed.")
    assert not any(part.changed for part in left)
    assert [part.text.strip() for part in right if part.changed] == ["not"]


@given(st.text(), st.text())
def test_the_parts_of_a_diff_are_the_texts_again(before: str, after: str) -> None:
    left, right = word_diff(before, after)
    assert "".join(part.text for part in left) == before
    assert "".join(part.text for part in right) == after
