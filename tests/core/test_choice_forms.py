"""The changed forms that follow from a question, and what pairs that people write must have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.errors import UsageError
from workbench.workshop.choice_forms import (
    check_choice,
    form_pair,
    odd_even,
    opinion_floated,
    pair_faults,
    pair_hints,
    reversed_order,
)

YES_NO = ("Yes", "No")
FOUR = ("Very good", "Rather good", "Rather bad", "Very bad")
FIVE = ("Very good", "Rather good", "Neither good nor bad", "Rather bad", "Very bad")
OPTIONS = st.lists(st.sampled_from("pqrstuvwxyz"), min_size=2, max_size=6, unique=True).map(tuple)


def scale(options: tuple[str, ...]) -> Choice:
    return Choice("How good are the buses?", options)


def written(bias: Bias, original: Choice, changed: Choice) -> ChoicePair:
    return ChoicePair("q", bias, original, changed)


@given(OPTIONS)
def test_reversing_twice_is_the_original_and_letters_name_the_same_options(
    options: tuple[str, ...],
) -> None:
    forms = reversed_order(scale(options))
    assert reversed_order(forms.changed).changed == forms.original
    for letter, same in forms.letters.items():
        assert same is not None
        changed, original = forms.changed, forms.original
        assert (
            changed.options[changed.letters.index(letter)]
            == original.options[original.letters.index(same)]
        )


def test_the_last_letter_of_three_is_the_first_of_the_original() -> None:
    assert reversed_order(scale(("a", "b", "c"))).letters == {"a": "c", "b": "b", "c": "a"}


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (("Better", "The same", "Worse"), 0),
        (("Above average", "Average", "Below average"), 0),
        (("All of them", "Some of them", "None of them"), 0),
        (("Trams", "Buses", "None of the above"), 1),
        (("Trams", "Buses", "Both"), 1),
        (("Trams", "Buses", "Neither of these", "Don't know"), 2),
        (("Trams", "Buses", "A and B"), 1),
        (("Trams", "Buses", "Other (please say)"), 1),
        (("Trams", "Buses", "Not sure"), 1),
        (("Trams", "Buses"), 1),
    ],
)
def test_options_that_refer_to_others_are_worth_a_look_in_reversed_order(
    options: tuple[str, ...], warned: int
) -> None:
    assert len(reversed_order(scale(options)).warnings) == warned


def test_dont_know_is_a_new_last_option() -> None:
    forms = opinion_floated(scale(FIVE))
    assert forms.changed.options == (*FIVE, "Don't know")
    assert forms.letters["f"] is None
    assert forms.letters["e"] == "e"
    assert forms.warnings == ()


@pytest.mark.parametrize(
    "known",
    ["Don’t know", "I don't know", "Not sure", "No opinion", "Prefer not to say", "Cannot say"],
)
def test_a_question_with_an_option_for_those_without_an_opinion_gets_no_second_one(
    known: str,
) -> None:
    with pytest.raises(UsageError, match=known):
        opinion_floated(scale((*FIVE, known)))
    with pytest.raises(UsageError, match=known):
        odd_even(scale((*FOUR, known)))


def test_dont_know_is_not_added_without_a_middle_and_another_middle_than_the_third_is_worth_a_look() -> (
    None
):
    with pytest.raises(UsageError, match="4 options, none of them in the middle"):
        opinion_floated(scale(FOUR))
    pair, warnings = form_pair("q", Bias.OPINION_FLOAT, scale(("Good", "So-so", "Bad")))
    assert ("the third, “Bad”" in warnings[0], "counts “So-so”" in warnings[0]) == (True, True)
    assert pair_hints(pair) == warnings, "lint goes on saying it"
    assert opinion_floated(scale(("Red", "Blue", "Green", "White", "Black"))).warnings == (
        "“Green” does not read like the middle of a scale: is it?",
    )


def test_a_middle_option_that_goes_may_refer_to_the_others() -> None:
    assert odd_even(scale((*FOUR[:2], "Neither", *FOUR[2:]))).warnings == ()
    assert (
        len(odd_even(scale(("Trams", "Buses", "Neither", "Ships", "None of these"))).warnings) == 1
    )


def test_a_scale_of_five_loses_its_middle_and_one_of_four_gets_the_given_one() -> None:
    removed, added = odd_even(scale(FIVE)), odd_even(scale(FOUR), "Neither good nor bad")
    assert (
        (removed.original, removed.changed)
        == (added.original, added.changed)
        == (scale(FIVE), scale(FOUR))
    )
    assert (removed.middle_removed, added.middle_removed) == (True, False)
    assert removed.letters == added.letters == {"a": "a", "b": "b", "c": "d", "d": "e"}
    assert removed.warnings == added.warnings == ()


@pytest.mark.parametrize(
    ("options", "middle", "said"),
    [
        (FIVE, "So-so", "give none"),
        (FOUR, None, "give its middle option"),
        (FOUR[:3], None, "found 3 options"),
        ((*FIVE, "Awful", "Dire"), None, "found 7 options"),
        (FOUR, "very  GOOD", "the same"),
        (FOUR, " ", "empty"),
    ],
)
def test_other_scales_are_refused(options: tuple[str, ...], middle: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        odd_even(scale(options), middle)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice(" ", YES_NO), "no text"),
        (scale(("Yes",)), "1 options"),
        (scale(("Yes", " ")), "option B is empty"),
        (scale(("Yes", "No", "yes ")), "options A and C are the same"),
        (scale(tuple(str(number) for number in range(27))), "27 options"),
    ],
)
def test_a_text_that_is_no_question_is_refused(choice: Choice, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_choice(choice)
    with pytest.raises(UsageError, match=said):
        reversed_order(choice)


@pytest.mark.parametrize("bias", [Bias.RESPONSE_ORDER, Bias.OPINION_FLOAT, Bias.ODD_EVEN])
def test_a_pair_that_is_formed_has_no_faults_and_one_that_is_not_has(bias: Bias) -> None:
    pair, warnings = form_pair("q", bias, scale(FIVE), topic="transport", shares=(0.2,) * 5)
    assert (pair.key, pair.topic, pair.shares, warnings) == ("q", "transport", (0.2,) * 5, ())
    assert pair_faults(pair) == pair_hints(pair) == ()
    assert pair_faults(written(bias, scale(FIVE), scale(FIVE)))
    assert pair_faults(
        written(bias, scale(FIVE), Choice("Another?", pair.changed.options if pair.changed else ()))
    )


def test_another_label_for_dont_know_is_no_fault() -> None:
    assert pair_faults(written(Bias.OPINION_FLOAT, scale(FIVE), scale((*FIVE, "No opinion")))) == ()


def test_shares_without_the_middle_option_do_not_go_with_the_scale_that_has_it() -> None:
    pair, warnings = form_pair(
        "q", Bias.ODD_EVEN, scale(FOUR), "Neither good nor bad", shares=(0.25,) * 4
    )
    assert (pair.shares, pair.middle_removed) == ((), False)
    assert len(warnings) == 1
    with pytest.raises(UsageError, match="3 shares for 4 options"):
        form_pair("q", Bias.RESPONSE_ORDER, scale(FOUR), shares=(0.5, 0.25, 0.25))
    with pytest.raises(UsageError, match="middle option"):
        form_pair("q", Bias.RESPONSE_ORDER, scale(FOUR), "So-so")


@pytest.mark.parametrize("bias", [Bias.ACQUIESCENCE, Bias.ALLOW_FORBID])
def test_a_wording_that_people_write_is_not_formed(bias: Bias) -> None:
    with pytest.raises(UsageError, match="write it"):
        form_pair("q", bias, scale(("Good", "Bad")))
    assert pair_faults(ChoicePair("q", bias, scale(("Good", "Bad")), None)) == (
        "the changed form has no text",
    )


def test_acquiescence_has_two_options_and_is_answered_with_yes_or_no() -> None:
    original, good = (
        scale(("Good", "Bad")),
        Choice("Don't you think that the buses are good?", YES_NO),
    )
    assert pair_faults(written(Bias.ACQUIESCENCE, original, good)) == ()
    assert pair_hints(written(Bias.ACQUIESCENCE, original, good)) == ()
    for options in (("No", "Yes"), ("Yes", "No", "Maybe"), ("Agree", "Disagree")):
        assert pair_faults(written(Bias.ACQUIESCENCE, original, Choice(good.stem, options)))
    assert pair_faults(written(Bias.ACQUIESCENCE, scale(("Good", "Bad", "Neither")), good)) == (
        "the original form has 3 options, not two",
    )


def test_acquiescence_should_suggest_the_first_option() -> None:
    original = scale(("Good", "Bad"))
    plain = Choice("Are the buses good?", YES_NO)
    second = Choice("Don't you think that the buses are bad?", YES_NO)
    both = Choice("Wouldn't you say that the buses are good rather than bad?", YES_NO)
    hints = [
        pair_hints(written(Bias.ACQUIESCENCE, original, changed))
        for changed in (plain, second, both)
    ]
    assert [len(found) for found in hints] == [1, 1, 0]
    assert "does not suggest" in hints[0][0]
    assert "of the second option" in hints[1][0]


def test_allow_and_forbid_stand_each_in_its_form() -> None:
    allow = Choice("Should dogs be allowed in shops?", YES_NO)
    forbid = Choice("Should dogs be forbidden in shops?", YES_NO)
    assert pair_faults(written(Bias.ALLOW_FORBID, allow, forbid)) == ()
    assert pair_hints(written(Bias.ALLOW_FORBID, allow, forbid)) == ()
    assert len(pair_faults(written(Bias.ALLOW_FORBID, forbid, allow))) == 2, "exchanged"
    assert pair_faults(written(Bias.ALLOW_FORBID, allow, allow))
    assert pair_faults(
        written(Bias.ALLOW_FORBID, Choice(allow.stem, ("Allowed", "Not allowed")), forbid)
    ) == ("the options of the original form are not Yes and No",)
    assert pair_hints(
        written(Bias.ALLOW_FORBID, Choice("Do dogs belong in shops?", YES_NO), forbid)
    )
