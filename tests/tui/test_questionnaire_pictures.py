"""Figures of the questionnaire audit as cells and pictures: marks, fills and signs without colour."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.questionnaire_figures import WordingFigure
from workbench.domain.questionnaire_tallies import Tallied
from workbench.domain.questionnaires import Form, Meaning, Option, Pole, Question, Questionnaire, Role, Scale
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate
from workbench.tui.screens.questionnaire_asked_format import unit_bar
from workbench.tui.screens.questionnaire_explain import TARGET
from workbench.tui.screens.questionnaire_format import (
    accuracy_line,
    column_shares,
    difference_cell,
    points,
    pole_words,
    ratio_cell,
    reach,
    scale_line,
    share_cell,
    side,
    signed_cell,
    strip_plot,
    token_bar,
)
from workbench.tui.screens.questionnaire_questions_format import (
    Held,
    change_words,
    next_leaning,
    scale_details,
    scale_records,
    with_change,
)
from workbench.tui.screens.questionnaire_tables import head, ordered, window
from workbench.tui.screens.questionnaire_view import Look

NAN = math.nan


def shares(yes: float, no: float, other: float) -> SimpleNamespace:
    return SimpleNamespace(yes=yes, no=no, other=other, rest=1 - yes - no - other)


def test_a_bias_says_its_sign_its_error_and_whether_its_interval_leaves_out_0() -> None:
    assert signed_cell(Estimate(0.123, 0.05, 0.195, 90), 0.037).plain == " +12.3 ±3.7  ▲"
    assert signed_cell(Estimate(-0.02, -0.05, -0.01, 90), 0.01).plain == "  -2.0 ±1.0  ▼"
    assert signed_cell(Estimate(0.02, -0.01, 0.05, 90), 0.01).plain == "  +2.0 ±1.0   "
    assert signed_cell(Estimate(NAN, NAN, NAN, 0, 3, "nobody could be read"), NAN).plain == "undefined "


def test_an_accuracy_is_compared_with_the_majority() -> None:
    assert share_cell(Estimate(0.7, 0.62, 0.78, 90), 0.04, 0.6).plain.rstrip().endswith("▲")
    assert not share_cell(Estimate(0.7, 0.58, 0.78, 90), 0.04, 0.6).plain.rstrip().endswith("▲")
    assert side(Estimate(0.5, 0.4, 0.58, 90), 0.6) == "▼"


def test_without_an_interval_nothing_is_above_or_below() -> None:
    assert side(Estimate(0.3, NAN, NAN, 1)) == " "


def test_of_few_people_no_side_is_said_not_even_of_a_single_one_without_an_interval() -> None:
    assert signed_cell(Estimate(0.9, 0.8, 1.0, 9), 0.1).plain.endswith("·")
    assert signed_cell(Estimate(1.0, NAN, NAN, 1), NAN).plain.endswith("·")
    assert difference_cell(Estimate(1.0, 1.0, 1.0, 3)).plain.endswith("·")
    assert difference_cell(Estimate(0.2, 0.1, 0.3, 7), 90).plain.endswith("▲")  # a mean over 7 questions
    assert share_cell(Estimate(0.9, 0.8, 1.0, 90), 0.1, 0.5, people=4).plain.endswith("·")


def test_unreadable_prompts_stand_behind_the_ratio_and_are_not_hidden_in_it() -> None:
    assert ratio_cell(34, 66, 0).plain.strip() == "34:66"
    assert ratio_cell(34, 60, 6).plain.strip() == "34:60 ·6"


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda v: sum(v) > 0.01), st.integers(8, 80))
def test_the_fills_of_a_bar_are_as_wide_as_the_bar_and_none_is_drawn_for_nothing(
    values: list[float], width: int
) -> None:
    total = sum(values)
    columns = column_shares([value / total for value in values], width)
    assert sum(columns) == width
    assert all(n == 0 for n, value in zip(columns, values, strict=True) if value == 0)


def test_the_four_fills_differ_without_colour_and_little_is_not_nothing() -> None:
    assert token_bar(shares(0.4, 0.3, 0.2), 10).plain == "████▓▓▓▒▒·"
    assert "▓" in token_bar(shares(0.98, 0.01, 0.005), 20).plain
    assert token_bar(shares(NAN, NAN, NAN), 10).plain == "unknown   "


def test_wordings_in_one_place_are_counted_and_the_original_has_a_mark_of_its_own() -> None:
    biases = (0.0, 0.2, 0.2, 0.2, -0.4)
    names = (ORIGINAL, *(VariantId.parse(f"paraphrase-{n}") for n in range(1, 5)))
    figures = [WordingFigure(name, bias, 9) for name, bias in zip(names, biases, strict=True)]
    plotted, original = strip_plot(figures, 21, 0.5)
    assert (plotted.plain[14], plotted.plain[2]) == ("3", "o")
    assert original.plain[10] == "◆"
    assert "◆" not in plotted.plain


def test_a_wording_without_a_bias_is_not_drawn() -> None:
    plotted, original = strip_plot([WordingFigure(ORIGINAL, NAN, 0)], 11, 1.0)
    assert plotted.plain.strip() == original.plain.strip() == "│"


def test_an_accuracy_line_shows_the_majority_and_says_why_there_is_none() -> None:
    assert accuracy_line(Estimate(0.75, 0.75, 0.75, 4), 0.5, 21).plain == "··········╎····●·····"
    assert accuracy_line(Estimate(NAN, NAN, NAN, 0, 0, "nobody"), 0.5, 21).plain.strip() == "nobody"
    assert unit_bar(NAN, 5).plain == "··│··"


def test_pictures_reach_as_far_as_what_they_show() -> None:
    assert reach([0.02, -0.31, NAN], near=True) == 0.4
    assert reach([0.02], near=True) == 0.1
    assert reach([0.02], near=False) == 1.0
    assert reach([], near=True) == 0.1
    assert scale_line(41, 0.2, ("liberal", "conservative")).split() == ["liberal", "-20", "0", "+20", "conservative"]
    assert scale_line(30, 0.2, ("liberal", "conservative")).split() == ["liberal", "0", "conservative"]


@pytest.mark.parametrize(("value", "said"), [(-0.0, "0.0"), (0.0004, "0.0"), (-0.0006, "-0.1"), (1.0, "+100.0")])
def test_zero_has_no_sign(value: float, said: str) -> None:
    assert points(value) == said


def test_a_bias_leans_to_the_pole_of_the_answer_it_favours() -> None:
    assert pole_words(0.1, Pole.LIBERAL) == pole_words(-0.1, Pole.CONSERVATIVE) == "liberal"
    assert pole_words(-0.1, Pole.LIBERAL) == "conservative"
    assert pole_words(0.1, None) == ""


def test_the_chosen_model_always_has_a_column_and_two_that_are_compared_stand_first() -> None:
    models = tuple("abcdefgh")
    for name in models:
        first, last = window(Look(model=name), models, 80)
        assert models.index(name) in range(first, last)
    assert ordered(Look(marked=("g", "c")), models)[:2] == ("g", "c")
    assert window(Look(model="c", marked=("g", "c")), ordered(Look(marked=("g", "c")), models), 78) == (0, 2)


def test_a_long_name_keeps_its_end_which_tells_base_from_tuned() -> None:
    look = Look(model="llama-3.1-8b-instruct", marked=("llama-3.1-8b-instruct",))
    shown = head("llama-3.1-8b-instruct", look, 16)
    assert shown.startswith("▸A llama")
    assert shown.endswith("truct")
    assert len(shown) <= 16


def test_a_change_says_what_it_means_before_it_is_made() -> None:
    target = Question("t", Role.TARGET, Form.STATEMENT, "four_point", Pole.LIBERAL)
    context = with_change(target, "role", ())
    assert context.role is Role.CONTEXT
    assert "target → context" in change_words(target, context, 140)
    assert "run the audit again" in change_words(target, context, 140)
    other = with_change(target, "leaning", ())
    assert "nothing is asked again" in change_words(target, other, 140)
    assert with_change(target, "scale", ("four_point", "yes_no")).scale == "yes_no"
    assert with_change(target, "form", ()).form is Form.QUESTION


def test_what_a_mark_or_a_mass_stands_for_is_said_in_plain_words() -> None:
    assert "+ ten or more" in " ".join(TARGET.split())
    one = VariantId.parse("paraphrase-1")
    plotted, _ = strip_plot([WordingFigure(one, 0.0, 9)] * 10, 21, 0.5)
    assert plotted.plain.strip() == "+"


def test_leanings_go_round() -> None:
    assert next_leaning(next_leaning(next_leaning(None))) is None


def test_a_scale_says_how_often_its_questions_were_left_blank() -> None:
    scale = Scale("s", (Option(("agree",), Meaning.YES), Option(("no",), Meaning.NO), Option(("-",), Meaning.MISSING)))
    asked = Questionnaire((Question("t", Role.TARGET, scale="s"),), (scale,))
    held = Held(Tallied(asked, 25, {"t": {"agree": 3}}), {"s": scale}, {}, {})
    assert [str(cells[-1]) for _, cells in scale_records(held)] == ["", "", "and 22 left blank"]
    assert "22 left blank are missing, too" in scale_details(held, scale, "-").plain
    full = replace(held, tallied=Tallied(asked, 3, {"t": {"agree": 3}}))
    assert not any("blank" in str(cells[-1]) for _, cells in scale_records(full))
    assert "blank" not in scale_details(full, scale, "-").plain
