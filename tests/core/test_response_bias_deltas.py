"""Response biases, question by question: counting, naming back, both definitions, what is left out
and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.response_answers import answers, arm, options_of, table
from workbench.audits.response_bias.answers import (
    ChoiceTable,
    from_probabilities,
    tabulate,
    valid_answers,
    valid_shares,
)
from workbench.audits.response_bias.changes import (
    FIRST,
    NO_CHANGED,
    NO_MIDDLE,
    NO_ORIGINAL,
    NOT_FIRST,
    NOT_REMOVED,
    NOT_TWO,
    Deltas,
    LeftOut,
    deltas,
    dropped,
    entropies,
    human_sign,
    validity,
)
from workbench.audits.response_bias.options import Definition
from workbench.domain.choices import LETTERS, AnsweredPair, Bias, Perturbation

P, C = Definition
TYPO = Perturbation.KEY_TYPO
biases = st.sampled_from(Bias)
conditions = st.sampled_from([None, *Perturbation])


def values(found: Deltas) -> list[float]:
    return [float(value) for value in found.values]


def letters(tabled: ChoiceTable, row: int, form: int, valid: bool = False) -> dict[str, float]:
    counts = valid_answers(tabled) if valid else tabled.counts
    return {letter: float(n) for letter, n in zip(LETTERS, counts[row, form], strict=True) if n}


Pairs = list[tuple[str, str]]


@st.composite
def offered_answers(draw: st.DrawFn, bias: Bias, condition: Perturbation | None = None) -> Pairs:
    """Return answers with letters as they were offered, as many to every form."""
    samples = draw(st.integers(1, 12))
    original, changed = (
        st.text(LETTERS[:n], min_size=samples, max_size=samples)
        for n in options_of(bias, condition)
    )
    return draw(st.lists(st.tuples(original, changed), min_size=1, max_size=5))


def tables(
    bias: Bias | None = None, condition: Perturbation | None = None
) -> st.SearchStrategy[ChoiceTable]:
    """Return tables of such answers."""

    def of(chosen: Bias) -> st.SearchStrategy[ChoiceTable]:
        return offered_answers(chosen, condition).map(
            lambda pairs: table(chosen, pairs, condition, mapped_back=False)
        )

    return (biases if bias is None else st.just(bias)).flatmap(of)


# the formulas of table 2, by hand


@pytest.mark.parametrize(
    ("bias", "pair", "condition", "expected"),
    [
        (Bias.ACQUIESCENCE, ("aabb", "aaab"), None, (25, 25)),
        (Bias.ACQUIESCENCE, ("aaab", "aabb"), TYPO, (-25, -25)),
        (Bias.RESPONSE_ORDER, ("aaab", "acbb"), None, (50, 50)),
        (Bias.RESPONSE_ORDER, ("abcc", "aabc"), TYPO, (-25, -25)),
        (Bias.OPINION_FLOAT, ("ccca", "cfab"), None, (50, 50)),
        (Bias.OPINION_FLOAT, ("ccca", "ccab"), TYPO, (25, 25)),
        (Bias.ODD_EVEN, ("abcd", "bddd"), None, (50, 50)),
        (Bias.ODD_EVEN, ("bbcd", "abce"), TYPO, (-50, -50)),
        (Bias.ALLOW_FORBID, ("abbb", "aabb"), None, (-25, 25)),
        (Bias.ALLOW_FORBID, ("aaab", "aabb"), TYPO, (25, -25)),
    ],
)
def test_a_change_is_that_of_the_formula(
    bias: Bias, pair: tuple[str, str], condition: Perturbation | None, expected: Sequence[float]
) -> None:
    asked = table(bias, [pair], condition)
    assert [values(deltas(asked, definition)) for definition in Definition] == [
        [value] for value in expected
    ]


def test_above_0_is_human_like_but_for_allow_and_forbid_as_published() -> None:
    reverse = [(bias, each) for bias in Bias for each in Definition if human_sign(bias, each) == -1]
    assert reverse == [(Bias.ALLOW_FORBID, P)]


@pytest.mark.parametrize(
    ("bias", "human"),
    [
        (Bias.ACQUIESCENCE, ("aabb", "aaab")),
        (Bias.ALLOW_FORBID, ("abbb", "aabb")),
        (Bias.RESPONSE_ORDER, ("aabc", "aabc")),
        (Bias.OPINION_FLOAT, ("accb", "acfb")),
        (Bias.ODD_EVEN, ("abcd", "abbc")),
    ],
)
def test_changing_as_people_do_is_above_0_under_the_corrected_definition(
    bias: Bias, human: tuple[str, str]
) -> None:
    assert values(deltas(table(bias, [human], mapped_back=False)))[0] > 0


# naming back


def test_reversed_answers_are_named_by_the_original_order() -> None:
    asked = table(Bias.RESPONSE_ORDER, [("aab", "ccd")], mapped_back=False)
    assert letters(asked, 0, 1) == {"a": 2, "d": 1}
    assert letters(table(Bias.RESPONSE_ORDER, [("aab", "ccd")]), 0, 1) == {"c": 2, "d": 1}


def test_perturbed_answers_are_in_the_original_order_whatever_the_bias() -> None:
    for bias in Bias:
        asked = table(bias, [("ab", "abab")], TYPO, mapped_back=False)
        assert letters(asked, 0, 1) == letters(asked, 0, 1, valid=True) == {"a": 2, "b": 2}


def test_answers_without_a_middle_option_are_named_by_the_original_once() -> None:
    offered = "abcd" * 2
    fresh = table(Bias.ODD_EVEN, [("abcde", offered)], mapped_back=False)
    done = table(Bias.ODD_EVEN, [("abcde", "abde" * 2)])
    not_done = table(Bias.ODD_EVEN, [("abcde", offered)], recorded=(5, 5))
    for asked in (fresh, done, not_done):
        assert letters(asked, 0, 1, valid=True) == {"a": 2, "b": 2, "d": 2, "e": 2}
    # As published: never renamed.
    assert letters(not_done, 0, 1) == {
        "a": 2,
        "b": 2,
        "c": 2,
        "d": 2,
    }
    assert values(deltas(not_done, P)) != values(deltas(not_done, C))


def test_a_fifth_letter_of_four_options_does_not_count_once_corrected() -> None:
    asked = table(Bias.ODD_EVEN, [("abcde", "abcee")], recorded=(5, 5))
    assert letters(asked, 0, 1, valid=True) == {"a": 1, "b": 1, "d": 1}
    found = dropped([asked])
    assert (found.blank, found.not_offered, found.questions) == (0, 2, 1)


def test_a_scale_of_seven_has_its_own_middle_once_corrected() -> None:
    asked = table(Bias.ODD_EVEN, [("cdde", "ccdd")], offered=(7, 6), mapped_back=False)
    assert letters(asked, 0, 1) == {"c": 2, "e": 2}
    assert values(deltas(asked)) == [50]
    floating = table(Bias.OPINION_FLOAT, [("dddc", "dhhh")], offered=(7, 8))
    assert values(deltas(floating)) == [50]


# denominators


def test_published_shares_are_of_all_answers_and_corrected_ones_of_valid_answers() -> None:
    asked = table(Bias.ACQUIESCENCE, [("ab c", "aabb")])
    assert values(deltas(asked, P)) == [25]
    assert values(deltas(asked, C)) == [0]
    assert deltas(asked, C).answers.tolist() == [[2, 4]]
    assert (dropped([asked]).blank, dropped([asked]).not_offered) == (1, 1)


def test_the_published_denominator_is_the_same_for_every_form() -> None:
    pairs = [("aaaa", "abab"), ("aa", "abbb")]
    asked = table(Bias.ACQUIESCENCE, pairs)
    assert asked.total == 4
    assert values(deltas(asked, P)) == [-50, -25]
    assert values(deltas(tabulate(answers(Bias.ACQUIESCENCE, pairs), samples=8), P)) == [-25, -12.5]


# what is left out


def left_out(found: Deltas) -> list[str]:
    return [each.reason for each in found.left_out]


def test_the_paper_stops_at_fifty_questions_of_a_perturbation() -> None:
    pairs = [("ab", "aa")] * (FIRST + 2)
    for bias, expected in {Bias.ACQUIESCENCE: 2, Bias.ODD_EVEN: 2, Bias.ALLOW_FORBID: 0}.items():
        asked = table(bias, pairs, TYPO)
        assert left_out(deltas(asked, P)) == [NOT_FIRST] * expected
        assert not deltas(asked, C).left_out
        assert not deltas(table(bias, pairs), P).left_out
    for model in ("llama2-7b-chat", "llama2-13b-chat"):
        assert not deltas(table(Bias.ACQUIESCENCE, pairs, TYPO, model=model), P).left_out
    assert deltas(table(Bias.ACQUIESCENCE, pairs, TYPO, model="llama2-70b-chat"), P).left_out


def test_questions_that_the_formula_does_not_fit_are_left_out_once_corrected() -> None:
    assert left_out(deltas(table(Bias.ALLOW_FORBID, [("ab", "ab")], offered=(3, 2)))) == [NOT_TWO]
    assert left_out(deltas(table(Bias.OPINION_FLOAT, [("ab", "ab")], offered=(4, 5)))) == [
        NO_MIDDLE
    ]
    assert left_out(deltas(table(Bias.ODD_EVEN, [("ab", "ab")], offered=(4, 3)))) == [NO_MIDDLE]
    assert left_out(deltas(table(Bias.ODD_EVEN, [("ab", "ab")], offered=(5, 5)))) == [NOT_REMOVED]


def test_a_form_without_usable_answers_leaves_its_question_out() -> None:
    pairs = [("", "ab"), ("ab", ""), ("ab", "cc"), ("ab", "ab")]
    asked = table(Bias.ACQUIESCENCE, pairs)
    assert left_out(deltas(asked, P)) == [NO_ORIGINAL, NO_CHANGED]
    assert deltas(asked, C).left_out == (
        LeftOut("q0", NO_ORIGINAL),
        LeftOut("q1", NO_CHANGED),
        LeftOut("q2", NO_CHANGED),
    )
    assert deltas(asked, C).keys == ("q3",)


def test_no_questions_are_no_deltas() -> None:
    for definition in Definition:
        assert values(deltas(table(Bias.ODD_EVEN, []), definition)) == []


def test_perturbed_opinion_floating_repeats_odd_even_until_corrected() -> None:
    asked = table(Bias.ODD_EVEN, [("bbcd", "ccce"), ("abcd", "abbb")], TYPO)
    copied = deltas(asked, P, Bias.OPINION_FLOAT)
    assert values(copied) == values(deltas(asked, P))
    assert (copied.bias, copied.source) == (Bias.OPINION_FLOAT, Bias.ODD_EVEN)
    assert values(deltas(asked, C, Bias.OPINION_FLOAT)) == [-50, 25]


# refusals


def test_strange_letters_and_repeated_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="found 'A'"):
        table(Bias.ACQUIESCENCE, [("Ab", "ab")])
    once = answers(Bias.ACQUIESCENCE, [("ab", "ab")])
    with pytest.raises(ValueError, match="twice: q0"):
        tabulate(replace(once, pairs=once.pairs * 2))


# valid answers and entropy


def test_the_share_of_valid_answers_counts_everything_that_was_drawn() -> None:
    pair = AnsweredPair("q", arm("aab", 2, invalid=1), arm("ac ", 2, invalid=5))
    asked = tabulate(replace(answers(Bias.ACQUIESCENCE, []), pairs=(pair,)))
    assert valid_shares(asked).tolist() == [[3 / 4, 1 / 8]]
    found = validity([asked])
    assert found.shares.tolist() == [7 / 16]
    assert found.histogram.tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


def test_questions_without_any_valid_answer_are_told_apart_from_those_never_asked() -> None:
    none = AnsweredPair("q", arm("", 2, invalid=50), arm("", 2, invalid=50))
    never = AnsweredPair("r", arm("", 2), arm("", 2))
    asked = tabulate(replace(answers(Bias.ACQUIESCENCE, []), pairs=(none, never)))
    found = validity([asked])
    assert (found.without, found.mean, len(found.shares)) == (1, 0.0, 1)


def test_the_files_rule_of_entropy_goes_by_what_they_record() -> None:
    asked = table(Bias.ODD_EVEN, [("abcd", "abcde")], recorded=(5, 5))
    assert entropies(asked, "csv")[0] == pytest.approx(
        [np.log(4) / np.log(5), np.log(5) / np.log(4)]
    )
    assert entropies(asked)[0] == pytest.approx([np.log(4) / np.log(5), 1.0])
    typos = table(Bias.ODD_EVEN, [("abcd", "abcde")], TYPO)
    assert entropies(typos, "csv")[0, 1] == pytest.approx(1.0)


# what must hold of any answers


@given(tables(condition=TYPO), st.sampled_from(Definition))
def test_exchanging_the_forms_of_a_perturbation_turns_every_change_round(
    asked: ChoiceTable, definition: Definition
) -> None:
    turned = replace(asked, counts=asked.counts[:, ::-1], offered=asked.offered[:, ::-1])
    assert values(deltas(turned, definition)) == pytest.approx(
        [-value for value in values(deltas(asked, definition))]
    )


@given(tables(Bias.ACQUIESCENCE))
def test_both_definitions_agree_on_acquiescence_where_every_answer_is_valid(
    asked: ChoiceTable,
) -> None:
    assert values(deltas(asked, C)) == pytest.approx(values(deltas(asked, P)))


@given(tables(Bias.ALLOW_FORBID))
def test_where_all_answer_yes_or_no_the_corrected_sign_is_the_reverse_of_the_published(
    asked: ChoiceTable,
) -> None:
    """n(a) + n(b) is the same in both forms, so that n(q, b) - n(q', a) is n(q', b) - n(q, a)."""
    assert values(deltas(asked, C)) == pytest.approx([-value for value in values(deltas(asked, P))])


@given(tables(), st.sampled_from(Definition))
def test_changes_are_percentage_points(asked: ChoiceTable, definition: Definition) -> None:
    assert (np.abs(deltas(asked, definition).values) <= 100 + 1e-9).all()


@given(tables())
def test_corrected_entropy_lies_between_0_and_1(asked: ChoiceTable) -> None:
    found = entropies(asked)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@given(tables())
def test_the_order_of_questions_changes_no_delta(asked: ChoiceTable) -> None:
    order = np.arange(len(asked.keys))[::-1]
    arrays = {
        name: getattr(asked, name)[order]
        for name in ("counts", "blanks", "invalid", "recorded", "offered", "named_as_original")
    }
    turned = replace(asked, keys=asked.keys[::-1], **arrays)
    assert values(deltas(turned)) == values(deltas(asked))[::-1]


@given(st.data())
def test_naming_back_undoes_the_reversal(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6))
    texts = data.draw(
        st.lists(
            st.tuples(*[st.text(LETTERS[:n], min_size=3, max_size=3)] * 2), min_size=1, max_size=4
        )
    )
    shown = [
        (q, "".join(LETTERS[n - 1 - LETTERS.index(letter)] for letter in other))
        for q, other in texts
    ]
    named, offered = (
        table(Bias.RESPONSE_ORDER, pairs, offered=(n, n), mapped_back=done)
        for pairs, done in ((texts, True), (shown, False))
    )
    assert (named.counts == offered.counts).all()


@pytest.mark.e2e
@given(st.data())
def test_letters_other_than_those_compared_may_trade_places(data: st.DataObject) -> None:
    asked = data.draw(tables(Bias.OPINION_FLOAT))
    exchanged = asked.counts.copy()
    exchanged[:, :, [0, 4]] = exchanged[:, :, [4, 0]]
    for definition in Definition:
        assert values(deltas(replace(asked, counts=exchanged), definition)) == values(
            deltas(asked, definition)
        )


# probabilities in place of counts


@pytest.mark.e2e
@given(st.data(), biases, conditions, st.floats(0.05, 1.0))
def test_probabilities_say_what_answers_with_these_shares_say(
    data: st.DataObject, bias: Bias, condition: Perturbation | None, mass: float
) -> None:
    """Whatever probability lies elsewhere, since answers are drawn until one is valid."""
    pairs = data.draw(offered_answers(bias, condition))
    sampled = table(bias, pairs, condition, mapped_back=False)
    times = [
        [[text.count(letter) / len(text) for letter in LETTERS] for text in pair] for pair in pairs
    ]
    exact = from_probabilities(
        "model", bias, condition, sampled.keys, np.array(times) * mass, sampled.offered
    )
    for definition in Definition:
        assert values(deltas(exact, definition)) == pytest.approx(
            values(deltas(sampled, definition)), abs=1e-9
        )
    assert entropies(exact) == pytest.approx(entropies(sampled), abs=1e-9)
    assert valid_shares(exact) == pytest.approx(np.full((len(pairs), 2), mass))


def test_a_form_whose_letters_have_no_probability_leaves_its_question_out() -> None:
    found = from_probabilities(
        "m", Bias.ACQUIESCENCE, None, ["q", "r"], [[[0, 0], [1, 0]], [[1, 0], [1, 0]]], [[2, 2]] * 2
    )
    assert [deltas(found, each).left_out for each in Definition] == [
        (LeftOut("q", NO_ORIGINAL),)
    ] * 2
    assert valid_shares(found).tolist() == [[0, 1], [1, 1]]
