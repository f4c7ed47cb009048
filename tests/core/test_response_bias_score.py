"""Response biases of a model: tests, families of them, scores, draws, topics, people's answers, two
ways of asking.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from tests.response_answers import MODEL, OFFERED, table
from workbench.audits.response_bias.answers import ChoiceTable, from_probabilities
from workbench.audits.response_bias.changes import (
    FIRST,
    NO_ANSWERS,
    NO_CHANGED,
    NOBODY,
    NOT_FIRST,
    OTHER_NUMBER,
    LeftOut,
    representativeness,
)
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.score import (
    ChangeReport,
    compare,
    judge,
    over_cells,
    sampling_agreement,
)
from workbench.domain.choices import LETTERS, Bias, Perturbation
from workbench.errors import UnknownName, UsageError
from workbench.stats.arrays import FloatArray
from workbench.stats.hypothesis_tests import ALL_EQUAL, NO_VALUES, ONE_VALUE, holm

P, C = Definition
TYPO = Perturbation.KEY_TYPO
STEADY = [("aabb", "aabb"), ("abbb", "aabb"), ("aaab", "aabb"), ("aabb", "abab")] * 2
"changes of 25, -25 and 0"
MOVED = [("aabb", "aaab"), ("abbb", "aaab"), ("aaab", "aaaa"), ("aabb", "aaab")] * 2
"changes of 25 and 50 towards a"


# tests and marks


def test_significance_has_a_side_a_mark_and_words() -> None:
    found = judge([table(Bias.ACQUIESCENCE, MOVED), table(Bias.ACQUIESCENCE, STEADY, TYPO)])
    bias, typo = found.cell(Bias.ACQUIESCENCE), found.cell(Bias.ACQUIESCENCE, TYPO)
    assert (bias.effect, bias.human_like, bias.sign_mark, bias.result_text) == (
        1,
        1,
        "+",
        "significant, human-like",
    )
    assert (typo.effect, typo.sign_mark, typo.result_text) == (0, "", "not significant")
    turned = judge(
        [
            table(Bias.ACQUIESCENCE, [pair[::-1] for pair in MOVED]),
            table(Bias.ACQUIESCENCE, MOVED, TYPO),
        ]
    )
    assert turned.cell(Bias.ACQUIESCENCE).result_text == "significant, opposite"
    assert (
        turned.cell(Bias.ACQUIESCENCE, TYPO).result_text == "significant, though people overlook it"
    )
    assert turned.cell(Bias.ACQUIESCENCE, TYPO).sign_mark == "+"


def test_allow_and_forbid_as_published_is_human_like_below_0() -> None:
    pairs = [("abbb", "aabb"), ("aabb", "abbb"), ("abbb", "abbb")] * 3
    orders = table(Bias.RESPONSE_ORDER, [("abbb", "abbb"), ("aabb", "aabb")] * 3)
    yes = table(Bias.ACQUIESCENCE, [("abbb", "abbb"), ("aabb", "aabb")] * 3)
    found = {
        each: judge([table(Bias.ALLOW_FORBID, pairs), orders, yes], ChangeOptions(each))
        for each in Definition
    }
    assert [found[each].cell(Bias.ALLOW_FORBID).effect for each in Definition] == [-1, 1]
    assert [found[each].score.signed for each in Definition] == [-1, 1]
    assert [found[each].score.human_like for each in Definition] == [1, 1]


def test_cases_without_a_test_are_named() -> None:
    def cell(pairs: list[tuple[str, str]]) -> tuple[str, str, int]:
        found = judge([table(Bias.ACQUIESCENCE, pairs)]).cell(Bias.ACQUIESCENCE)
        return found.delta.degenerate, found.result_text, found.effect

    assert cell([]) == (NO_VALUES, "no question counts", 0)
    assert cell([("ab", "ab")]) == (ONE_VALUE, "one question is too few for a test", 0)
    assert cell([("ab", "ab"), ("aa", "aa")]) == (ALL_EQUAL, "no change in any question", 0)
    assert cell([("bb", "ab"), ("bb", "ba")]) == (ALL_EQUAL, "equal changes allow no test", 0)


def test_two_questions_with_equal_changes_are_not_significant_and_score_nothing() -> None:
    found = judge([table(Bias.ACQUIESCENCE, [("bb", "ab"), ("bb", "ba")])])
    cell, (likeness,) = found.cell(Bias.ACQUIESCENCE), found.likeness
    assert (cell.effect, cell.human_like, cell.sign_mark) == (0, 0, "")
    assert math.isnan(cell.delta.p)
    assert (found.score.signed, found.score.human_like, found.score.biases) == (0, 0, 0)
    assert (likeness.tested, likeness.most_human_like) == (False, None)


def test_perturbations_with_equal_changes_leave_open_what_is_most_human_like() -> None:
    """One that changes no answer at all is overlooked; one that changes all alike has no test."""
    still, alike = [("ab", "ab")] * 3, [("bb", "ab"), ("bb", "ba"), ("bb", "ab")]
    for pairs, wanted in ((still, True), (alike, None)):
        found = judge([table(Bias.ACQUIESCENCE, MOVED), *perturbed(pairs)])
        assert found.likeness[0].most_human_like is wanted


def test_a_model_that_never_gives_a_letter_is_reported_not_scored() -> None:
    found = judge([table(Bias.ACQUIESCENCE, [("  ", "  ")] * 3)])
    cell = found.cell(Bias.ACQUIESCENCE)
    assert (cell.delta.n, len(cell.deltas.left_out), cell.dropped.blank, found.score.signed) == (
        0,
        3,
        12,
        0,
    )
    assert math.isnan(cell.spread.original)
    assert cell.uncertainty.undefined


# families of tests


def all_tables() -> list[ChoiceTable]:
    rng = np.random.default_rng(4)
    conditions = (None, *Perturbation)
    asked = [
        (bias, each)
        for bias in Bias
        for each in conditions
        if bias is not Bias.OPINION_FLOAT or each is None
    ]

    def texts(options: tuple[int, int]) -> list[tuple[str, str]]:
        first, second = (
            "".join(rng.choice(list(LETTERS[:n]), size=(12, 9)).ravel()) for n in options
        )
        return [(first[9 * k : 9 * k + 9], second[9 * k : 9 * k + 9]) for k in range(12)]

    return [
        table(
            bias,
            texts(OFFERED[bias] if each is None else (OFFERED[bias][0],) * 2),
            each,
            mapped_back=False,
        )
        for bias, each in asked
    ]


def p_values(found: ChangeReport, biases: bool) -> list[float]:
    return [cell.delta.p for cell in found.cells if (cell.condition is None) is biases]


@pytest.mark.parametrize("definition", list(Definition))
def test_holm_over_biases_leaves_perturbations_as_they_are(definition: Definition) -> None:
    found = judge(all_tables(), ChangeOptions(definition, holm="biases"))
    adjusted = [cell.p_adjusted for cell in found.cells if cell.condition is None]
    assert adjusted == pytest.approx(list(holm(p_values(found, True))))
    assert [cell.p_adjusted for cell in found.cells if cell.condition] == p_values(found, False)


def test_holm_over_all_counts_a_copied_row_once() -> None:
    for definition, tests in ((P, 17), (C, 20)):
        found = judge(all_tables(), ChangeOptions(definition, holm="all"))
        assert len(found.cells) == 20
        smallest = min(found.cells, key=lambda cell: cell.delta.p)
        assert smallest.p_adjusted == pytest.approx(min(1, tests * smallest.delta.p))
        for each in Perturbation:
            copy, source = found.cell(Bias.OPINION_FLOAT, each), found.cell(Bias.ODD_EVEN, each)
            assert copy.copied
            assert (copy.delta.p == source.delta.p) is (definition is P)
            assert definition is C or copy.p_adjusted == source.p_adjusted


def with_own_files(lent: bool = True) -> list[ChoiceTable]:
    """Return tables of a model whose opinion-floating questions were perturbed themselves, and
    change otherwise.
    """
    own = [
        table(
            Bias.OPINION_FLOAT,
            [("c" * 4, "b" * n + "c" * (4 - n)) for n in (1, 2, 3, 1)],
            condition,
            offered=(5, 5),
        )
        for condition in Perturbation
    ]
    return [*(one for one in all_tables() if lent or one.bias is not Bias.ODD_EVEN), *own]


def test_the_published_definition_repeats_odd_even_also_for_a_model_with_files_of_its_own() -> None:
    found = judge(with_own_files(), ChangeOptions(P))
    for each in Perturbation:
        copy, source = found.cell(Bias.OPINION_FLOAT, each), found.cell(Bias.ODD_EVEN, each)
        assert copy.copied
        assert (copy.delta, copy.spread, copy.deltas.keys) == (
            source.delta,
            source.spread,
            source.deltas.keys,
        )


def test_corrected_takes_the_models_own_files() -> None:
    found = judge(with_own_files(), ChangeOptions(C))
    for each in Perturbation:
        cell = found.cell(Bias.OPINION_FLOAT, each)
        assert not cell.copied
        assert cell.delta.mean == pytest.approx(100 * (1 + 2 + 3 + 1) / 4 / 4)


def test_a_published_definition_has_no_row_where_odd_even_was_not_perturbed() -> None:
    published, corrected = (judge(with_own_files(False), ChangeOptions(one)) for one in (P, C))
    assert published.find(Bias.OPINION_FLOAT, Perturbation.KEY_TYPO) is None
    assert corrected.find(Bias.OPINION_FLOAT, Perturbation.KEY_TYPO) is not None


def test_a_cell_carries_the_warnings_of_its_answers() -> None:
    (one,) = judge(
        [replace(table(Bias.ACQUIESCENCE, [("ab", "aa"), ("bb", "ab")]), warnings=("w",))]
    ).cells
    assert one.warnings == ("w",)


def test_nothing_is_adjusted_unless_asked() -> None:
    found = judge(all_tables())
    assert [cell.p_adjusted for cell in found.cells] == [cell.claim for cell in found.cells]
    assert [(cell.bias, cell.condition) for cell in found.cells] == [
        (b, c) for b in Bias for c in (None, *Perturbation)
    ]


# human-likeness


def perturbed(pairs: list[tuple[str, str]], without: int = 0) -> list[ChoiceTable]:
    names = list(Perturbation)[: len(Perturbation) - without]
    return [table(Bias.ACQUIESCENCE, pairs, each) for each in names]


def test_most_human_like_is_moved_by_the_bias_and_by_no_perturbation() -> None:
    bias = table(Bias.ACQUIESCENCE, MOVED)
    alike, moved, open_ = (
        judge([bias, *others]).likeness[0]
        for others in (perturbed(STEADY), perturbed(MOVED), perturbed(STEADY, without=1))
    )
    assert alike.most_human_like is True
    assert (moved.most_human_like, moved.perturbed) == (False, tuple(Perturbation))
    assert (open_.most_human_like, open_.untested) == (None, (Perturbation.LETTER_SWAP,))
    assert (
        judge([table(Bias.ACQUIESCENCE, STEADY), *perturbed(STEADY)]).likeness[0].most_human_like
        is False
    )


def test_another_wording_of_a_bias_stands_beside_it_and_does_not_count() -> None:
    reword = table(Bias.ACQUIESCENCE, MOVED, variant="reword")
    found = judge([table(Bias.ACQUIESCENCE, STEADY), reword])
    assert (found.score.signed, found.score.biases, len(found.likeness)) == (0, 1, 1)
    assert found.cell(Bias.ACQUIESCENCE, variant="reword").effect == 1


# draws


def test_draws_of_a_perturbation_are_averaged_by_question_and_their_spread_is_told() -> None:
    shifted = [pair[::-1] for pair in MOVED]
    found = judge(
        [table(Bias.ACQUIESCENCE, pairs, TYPO, draw=n) for n, pairs in ((2, shifted), (1, MOVED))]
    )
    cell = found.cell(Bias.ACQUIESCENCE, TYPO)
    assert cell.delta.mean == pytest.approx(0)
    assert [(draw.draw, draw.effect) for draw in cell.draws.draws] == [(1, 1), (2, -1)]
    first, second = (draw.delta.mean for draw in cell.draws.draws)
    assert (cell.draws.mean, cell.draws.sd) == pytest.approx((0, np.std([first, second], ddof=1)))
    assert (cell.draws.low, cell.draws.high) == (second, first)
    assert (cell.draws.significant, cell.draws.agree) == (2, False)


def test_a_question_takes_part_with_the_mean_of_the_draws_that_it_has() -> None:
    silent = [("aabb", "aaaa"), ("aabb", "    "), ("    ", "aaaa")]
    asked = [
        table(Bias.ACQUIESCENCE, pairs, TYPO, draw=n)
        for n, pairs in ((1, MOVED), (2, silent[:2]), (3, silent))
    ]
    cell = judge(asked).cell(Bias.ACQUIESCENCE, TYPO)
    assert (cell.delta.n, cell.deltas.left_out) == (len(MOVED), ())
    assert cell.deltas.draws.tolist() == [3, *[1] * (len(MOVED) - 1)]
    assert cell.deltas.values.tolist() == pytest.approx(
        [(25 + 50 + 50) / 3, 50, 25, 25, 25, 50, 25, 25]
    )
    assert cell.deltas.answers[0].tolist() == [12, 12]
    assert cell.fewer_draws == len(MOVED) - 1
    assert [draw.delta.n for draw in cell.draws.draws] == [len(MOVED), 1, 1]
    assert cell.uncertainty.n == len(MOVED)
    nobody = judge([table(Bias.ACQUIESCENCE, silent[1:2], TYPO, draw=n) for n in (1, 2)]).cell(
        Bias.ACQUIESCENCE, TYPO
    )
    assert (nobody.delta.n, nobody.deltas.left_out) == (0, (LeftOut("q0", NO_CHANGED),))


def test_the_paper_stops_at_the_fifty_questions_of_the_whole_file_whatever_another_draw_was_put_to() -> (
    None
):
    whole = table(Bias.ACQUIESCENCE, MOVED * 8, TYPO)
    last = replace(table(Bias.ACQUIESCENCE, MOVED, TYPO, draw=2), keys=whole.keys[-len(MOVED) :])
    cell = judge([whole, last], ChangeOptions(P)).cell(Bias.ACQUIESCENCE, TYPO)
    assert cell.delta.n == FIRST
    assert {one.reason for one in cell.deltas.left_out} == {NOT_FIRST}
    assert judge([whole, last], ChangeOptions(C)).cell(Bias.ACQUIESCENCE, TYPO).delta.n == len(
        whole.keys
    )


def test_one_draw_is_its_own_mean_without_spread() -> None:
    cell = judge([table(Bias.ACQUIESCENCE, MOVED, TYPO)]).cell(Bias.ACQUIESCENCE, TYPO)
    assert cell.draws.mean == cell.delta.mean
    assert math.isnan(cell.draws.sd)
    assert cell.draws.agree


# topics and uncertainty


def test_topics_share_out_the_questions_those_without_one_last() -> None:
    topics = {(Bias.ACQUIESCENCE, f"q{n}"): "work" if n < 2 else "family" for n in range(6)}
    found = judge([table(Bias.ACQUIESCENCE, MOVED)], topics=topics).cell(Bias.ACQUIESCENCE)
    assert [(each.topic, each.delta.n) for each in found.topics] == [
        ("family", 4),
        ("work", 2),
        ("", 2),
    ]
    assert found.topics[1].delta.mean == pytest.approx(np.mean(found.deltas.values[:2]))
    weighted = sum(each.delta.mean * each.delta.n for each in found.topics) / found.delta.n
    assert weighted == pytest.approx(found.delta.mean)


def test_change_is_correlated_with_the_entropy_of_the_original() -> None:
    certain, unsure = ("aaaa", "aaaa"), ("aabb", "aaaa")
    found = judge([table(Bias.ACQUIESCENCE, [certain, unsure, certain, unsure])]).cell(
        Bias.ACQUIESCENCE
    )
    assert found.uncertainty.r == pytest.approx(1)
    assert (found.uncertainty.df, found.uncertainty.n) == (2, 4)


def test_over_models_the_mean_changes_are_correlated_with_the_mean_entropies() -> None:
    pairs = {"x": [("aaaa", "aaaa")] * 2, "y": [("aaab", "aaaa")] * 2, "z": [("aabb", "aaaa")] * 2}
    reports = [judge([table(Bias.ACQUIESCENCE, each, model=name)]) for name, each in pairs.items()]
    entropy = [0.0, -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)), 1.0]
    assert over_cells(cell for report in reports for cell in report.cells).r == pytest.approx(
        np.corrcoef([0, 0.25, 0.5], entropy)[0, 1]
    )


# people


def test_representativeness_is_1_for_equal_shares_and_0_for_opposite_ends() -> None:
    asked = table(Bias.RESPONSE_ORDER, [("aabc", "a"), ("aaaa", "a"), ("abab", "a")])
    shares = {
        (Bias.RESPONSE_ORDER, key): each
        for key, each in (("q0", (2, 1, 1)), ("q1", (0, 0, 5)), ("q2", (0, 1, 0)))
    }
    found = representativeness([asked], shares)
    assert dict(found.alignments) == pytest.approx({"q0": 1, "q1": 0, "q2": 0.75})
    assert found.mean.value == pytest.approx(7 / 12)


def test_the_interval_of_representativeness_lies_within_0_and_1() -> None:
    asked = table(Bias.RESPONSE_ORDER, [("aabc", "a")] * 9 + [("aaaa", "a")])
    people = {(Bias.RESPONSE_ORDER, f"q{n}"): (2, 1, 1) for n in range(10)}
    found = representativeness([asked], people).mean
    assert found.value == pytest.approx(1 - (0.5 + 0.25) / 2 / 10)
    assert 0.7 < found.low < found.value < found.high < 1, "Student's t would end at 1.05"
    assert (found.n, found.interval) == (10, "likeness")
    alone = representativeness([table(Bias.RESPONSE_ORDER, [("aabc", "a")])], people).mean
    assert (alone.value, alone.n, math.isnan(alone.low)) == (1, 1, True)


def test_a_question_of_several_biases_counts_once_and_perturbations_never() -> None:
    asked = [table(Bias.ODD_EVEN, [("aabb", "a")]), table(Bias.OPINION_FLOAT, [("bbbb", "a")])]
    shares = {(bias, "q0"): (1.0, 0, 0, 0, 0) for bias in Bias}
    found = representativeness([*asked, table(Bias.ODD_EVEN, [("eeee", "e")], TYPO)], shares)
    assert [key for key, _ in found.alignments] == ["q0"]
    assert found.mean.value == pytest.approx(1 - 0.75 / 4)


def test_questions_that_cannot_be_compared_with_people_say_why() -> None:
    asked = table(Bias.ACQUIESCENCE, [("ab", "ab"), ("ab", "ab"), ("  ", "ab")])
    shares = {(Bias.ACQUIESCENCE, "q1"): (1, 1, 1), (Bias.ACQUIESCENCE, "q2"): (1, 1)}
    found = representativeness([asked], shares)
    assert [each.reason for each in found.left_out] == [NOBODY, OTHER_NUMBER, NO_ANSWERS]
    assert found.mean.undefined == NO_VALUES


# two ways of asking


def test_two_ways_of_asking_are_compared_question_by_question() -> None:
    longer = [("aabb", "aabb")] * 8
    first, second = (judge([table(Bias.ACQUIESCENCE, pairs)]) for pairs in (MOVED, longer))
    found = compare([(first, second)])
    assert found.rows[0].left_out == (0, 0)
    fewer = judge([table(Bias.ACQUIESCENCE, MOVED[:5])])
    (row,) = compare([(judge([table(Bias.ACQUIESCENCE, MOVED)]), fewer)]).rows
    assert (row.change.n, row.left_out, row.change.mean) == (5, (3, 0), 0.0)
    row = found.rows[0]
    assert row.change.mean == pytest.approx(-first.cell(Bias.ACQUIESCENCE).delta.mean)
    assert (row.effects, row.turned, row.questions.undefined != "") == ((1, 0), False, True)
    assert found.means.change == found.means.change_of_size == row.change.mean
    against = judge([table(Bias.ACQUIESCENCE, [pair[::-1] for pair in MOVED])])
    assert compare([(first, against)]).rows[0].turned
    with pytest.raises(UsageError, match="`corrected` and `paper`"):
        compare([(first, judge([table(Bias.ACQUIESCENCE, MOVED)], ChangeOptions(P)))])


def drawn(rng: np.random.Generator, exact: FloatArray, samples: int) -> ChoiceTable:
    counts = rng.multinomial(samples, exact)
    pairs = [
        ("".join(x * n for x, n in zip(LETTERS, form, strict=False)) for form in pair)
        for pair in counts
    ]
    return table(Bias.ODD_EVEN, [(q, other) for q, other in pairs], mapped_back=False)


def exact_table() -> tuple[ChoiceTable, FloatArray]:
    rng = np.random.default_rng(11)
    probabilities = np.zeros((60, 2, 5))
    probabilities[:, 0], probabilities[:, 1, :4] = (
        rng.dirichlet(np.ones(5), 60),
        rng.dirichlet(np.ones(4), 60),
    )
    keys = [f"q{n}" for n in range(60)]
    return from_probabilities(
        MODEL, Bias.ODD_EVEN, None, keys, probabilities, [[5, 4]] * 60
    ), probabilities


def test_samples_lie_from_their_probabilities_as_far_as_sampling_lets_them() -> None:
    exact, probabilities = exact_table()
    rng = np.random.default_rng(3)
    found = [sampling_agreement(drawn(rng, probabilities, 50), exact) for _ in range(200)]
    z = np.array([each.z for each in found])
    assert abs(z.mean()) < 3 / math.sqrt(200)
    assert 0.85 < z.std() < 1.15
    assert np.mean([each.mean_square for each in found]) == pytest.approx(1, abs=0.05)
    assert found[0].p == pytest.approx(2 * norm.sf(abs(found[0].z)))
    assert found[0].n == 60


def test_samples_of_another_model_are_told_apart() -> None:
    exact, probabilities = exact_table()
    other = probabilities.copy()
    other[:, 1, :4] = 0.5 * other[:, 1, :4] + 0.5 * np.array([0, 1, 0, 0])
    found = sampling_agreement(drawn(np.random.default_rng(3), other, 50), exact)
    assert found.z > 4
    assert found.p < 1e-4
    assert found.mean_square > 2


def test_samples_that_cannot_err_have_no_z() -> None:
    exact = from_probabilities(MODEL, Bias.ACQUIESCENCE, None, ["q0"], [[[1, 0], [1, 0]]], [[2, 2]])
    found = sampling_agreement(table(Bias.ACQUIESCENCE, [("aa", "aa")]), exact)
    assert (found.sampled, found.exact, found.error, found.n) == (0, 0, 0, 1)
    assert math.isnan(found.z)
    assert math.isnan(found.p)


# refusals


def test_what_cannot_be_judged_is_refused() -> None:
    one = table(Bias.ACQUIESCENCE, MOVED)
    with pytest.raises(UsageError, match="no model"):
        judge([])
    with pytest.raises(UsageError, match="model, other"):
        judge([one, replace(one, model="other")])
    with pytest.raises(UsageError, match="two sets of answers for acquiescence; give one"):
        judge([one, one])
    with pytest.raises(UnknownName, match="no answers for odd_even key_typo"):
        judge([one]).cell(Bias.ODD_EVEN, TYPO)
    with pytest.raises(UsageError, match="none or biases or all"):
        ChangeOptions(holm="every")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="more than 0 and at most 1"):
        ChangeOptions(alpha=5)
