"""The figures of Questionnaire Modeling: worked by hand, and what must hold of any predictions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import sem

from tests.core.predicted import FEW, NAN, QM, RANDOM, ZERO_SHOT, asked, paraphrase, predicted
from workbench.audits.questionnaire.figures import (
    Condition,
    ConditionFigures,
    ModelPredictions,
    TargetFigure,
    direction,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import compute_figures, correlations, differences, judge
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import NEGATION, ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName, UsageError

Table = npt.NDArray[np.float64]


def qm(predictions: ModelPredictions, options: PredictionOptions = FEW) -> ConditionFigures:
    return judge(predictions, options).condition(QM)


def only(predictions: ModelPredictions, options: PredictionOptions = FEW) -> TargetFigure:
    return qm(predictions, options).targets[0]


# by hand

FOUR = asked([1, 1, 0, 0], [0.6, 0.2, 0.1, 0.0], [0.2, 0.6, 0.1, 0.0])
"""normalised 0.75, 0.25, 0.5 and none; predicted yes, no, yes (a tie) and unreadable: one of four
is right
"""


def test_accuracy_is_over_everybody_and_bias_over_the_readable() -> None:
    found = only(FOUR)
    assert (found.respondents, found.unreadable, found.yes, found.no) == (4, 1, 2, 1)
    assert found.accuracy.value == 0.25
    assert found.bias.value == pytest.approx((0.75 + 0.25 + 0.5) / 3 - 2 / 3)
    assert (found.accuracy.n, found.bias.n, found.bias.excluded) == (4, 3, 1)
    assert (found.human, found.majority, found.ratio) == (0.5, 0.5, "2:1")


def test_errors_are_those_of_scipy() -> None:
    paired, printed = (only(FOUR, replace(FEW, error=error)) for error in ("paired", "printed"))
    assert paired.accuracy_se == pytest.approx(sem([1, 0, 0, 0]))
    assert paired.bias_se == pytest.approx(sem([0.75 - 1, 0.25 - 1, 0.5 - 0]))
    assert printed.bias_se == pytest.approx(sem([1, 1, 0]))
    assert paired.p_yes_sd == pytest.approx(np.std([0.75, 0.25, 0.5], ddof=1))


def test_the_mass_that_is_neither_yes_nor_no_is_averaged_over_everybody() -> None:
    assert only(FOUR).without == pytest.approx((0.2 + 0.2 + 0.8 + 1) / 4)


def test_means_over_targets_and_their_errors() -> None:
    found = qm(
        asked(
            [[1, 0], [1, 1], [0, 0]],
            [[0.9, 0.1], [0.5, 0.7], [0.4, 0.4]],
            [[0.1, 0.9], [0.5, 0.3], [0.6, 0.6]],
        )
    )
    biases = [0, -0.4, 0.4]
    assert [target.bias.value for target in found.targets] == pytest.approx(biases)
    assert (found.absolute_bias.value, found.absolute_bias.n) == (pytest.approx(0.8 / 3), 3)
    assert found.absolute_bias.se == pytest.approx(sem(np.abs(biases)))
    assert (found.accuracy.value, found.accuracy.se) == (1, 0)
    assert found.majority == pytest.approx((0.5 + 1 + 1) / 3)
    assert (found.yes, found.no, found.unreadable) == (3, 3, 0)
    assert found.p_yes == pytest.approx(3.0 / 6)


def test_the_axis_turns_biases_towards_the_conservative_pole_and_leaves_out_targets_without() -> (
    None
):
    made = asked(
        [[1, 0], [1, 1], [0, 0]],
        [[0.9, 0.1], [0.5, 0.7], [0.4, 0.4]],
        [[0.1, 0.9], [0.5, 0.3], [0.6, 0.6]],
    )
    found = qm(replace(made, leanings=(None, Pole.LIBERAL, Pole.CONSERVATIVE))).axis
    assert (found.value, found.n) == (pytest.approx((0.4 + 0.4) / 2), 2)
    none = qm(made).axis
    assert (math.isnan(none.value), none.undefined) == (
        True,
        "no answered target has a leaning of a yes",
    )


def test_a_prompt_without_context_stands_for_everybody_who_answered() -> None:
    made = predicted([[1, 1, 0, NAN]], {(ZERO_SHOT, ORIGINAL): ([0.3], [0.1])})
    found = judge(made, FEW).condition(ZERO_SHOT).targets[0]
    assert (found.respondents, found.yes, found.no) == (3, 3, 0)
    assert (found.accuracy.value, found.bias.value) == (
        pytest.approx(2 / 3),
        pytest.approx(0.75 - 2 / 3),
    )
    assert found.p_yes_sd == pytest.approx(0)


# where there is nothing to change


@pytest.mark.parametrize(
    ("human", "yes", "no", "of_accuracy", "of_bias"),
    [
        (
            [NAN, NAN],
            [0.5, 0.5],
            [0.5, 0.5],
            "no respondent answered yes or no",
            "no respondent answered yes or no",
        ),
        ([1, 0], [NAN, NAN], [NAN, NAN], "the model was not asked", "the model was not asked"),
        ([1, 0], [0, 0], [0, 0], "", "the model put no probability on yes or no"),
    ],
)
def test_a_target_without_figures_says_why(
    human: list[float], yes: list[float], no: list[float], of_accuracy: str, of_bias: str
) -> None:
    made = asked([human, [1, 0]], [yes, [0.9, 0.9]], [no, [0.1, 0.1]])
    found = qm(made)
    first = found.targets[0]
    assert (first.accuracy.undefined, first.bias.undefined) == (of_accuracy, of_bias)
    assert math.isnan(first.bias.value)
    assert math.isnan(first.bias.low)
    assert math.isnan(first.accuracy.value) is bool(of_accuracy)


def test_a_model_that_could_not_be_read_is_wrong_and_not_unbiased() -> None:
    found = only(asked([1, 0], [0, 0], [0, 0]))
    assert (found.accuracy.value, found.ratio, found.unreadable, found.without) == (0, "0:0", 2, 1)
    assert all(map(math.isnan, (found.bias_se, found.p_yes, found.p_yes_sd)))


def test_masses_that_the_backend_does_not_say_are_no_answer() -> None:
    made = predicted(
        [[1, 0, 1]], {(QM, ORIGINAL): (np.ones((1, 3)), np.zeros((1, 3)))}, unoffered=True
    )
    found = only(made)
    assert found.accuracy.undefined == found.bias.undefined
    assert "does not report the probabilities" in found.bias.undefined
    assert (found.respondents, found.human, found.unreadable, found.accuracy.excluded) == (
        3,
        pytest.approx(2 / 3),
        0,
        3,
    )
    assert math.isnan(found.without)


def test_a_mean_leaves_out_what_nobody_answered_and_is_undefined_where_the_model_has_none() -> None:
    silent = qm(asked([[NAN, NAN], [1, 0]], [[0.5, 0.5], [0.9, 0.9]], [[0.5, 0.5], [0.1, 0.1]]))
    assert (silent.accuracy.n, silent.accuracy.value) == (1, 0.5)
    assert math.isnan(silent.accuracy.se)  # of one target
    unread = qm(asked([[1, 0], [1, 0]], [[0, 0], [0.9, 0.9]], [[0, 0], [0.1, 0.1]]))
    assert unread.absolute_bias.undefined == "13.1: the model put no probability on yes or no"
    assert math.isnan(unread.absolute_bias.value)
    assert unread.accuracy.value == 0.25


def test_with_no_answered_target_at_all_nothing_is_defined() -> None:
    made = predicted([[NAN, NAN]], {(ZERO_SHOT, ORIGINAL): ([0.5], [0.5])})
    found = judge(made, FEW).condition(ZERO_SHOT)
    assert found.accuracy.undefined == "no respondent answered a target with yes or no"
    assert math.isnan(found.majority)
    assert math.isnan(found.p_yes)


def test_many_targets_without_figures_are_named_in_part() -> None:
    found = qm(asked(np.tile([1.0, 0.0], (5, 1)), np.zeros((5, 2)), np.zeros((5, 2))))
    assert found.absolute_bias.undefined.count("13.") == 3
    assert found.absolute_bias.undefined.endswith("and 2 more")


def test_one_respondent_has_no_interval_and_no_error() -> None:
    found = only(asked([1], [0.8], [0.2]))
    assert (found.accuracy.value, found.bias.value) == (1, pytest.approx(-0.2))
    assert all(
        map(
            math.isnan,
            (found.accuracy.low, found.bias.high, found.bias_se, found.accuracy_se, found.p_yes_sd),
        )
    )


def test_a_condition_that_was_not_asked_is_refused_with_those_that_were() -> None:
    with pytest.raises(UnknownName, match="Available: qm"):
        judge(FOUR, FEW).condition(ZERO_SHOT)


def test_contradictory_rows_are_a_bug_and_not_a_figure() -> None:
    twice = replace(
        FOUR,
        **{
            name: np.append(getattr(FOUR, name), getattr(FOUR, name)[:1])
            for name in ("condition", "target", "wording", "respondent", "yes", "no")
        },
    )
    with pytest.raises(ValueError, match="several predictions"):
        judge(twice)
    with pytest.raises(ValueError, match="points to no respondent"):
        judge(replace(FOUR, respondent=FOUR.respondent + 1))
    with pytest.raises(ValueError, match="below 0"):
        judge(replace(FOUR, yes=-FOUR.yes))
    with pytest.raises(ValueError, match="respondent twice"):
        judge(replace(FOUR, respondents=("a", "a", "b", "c")))
    with pytest.raises(ValueError, match="1, 0 or NaN"):
        judge(replace(FOUR, human=FOUR.human * 0.5))


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="top10 or vocabulary"):
        PredictionOptions(masses="all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="give 100 to 100,000"):
        PredictionOptions(draws=0)


# what must hold of any predictions


def drawn(
    seed: int, targets: int, people: int, unreadable: float = 0.1
) -> tuple[Table, Table, Table]:
    """Return answers (some missing) and masses without ties (some 0)."""
    rng = np.random.default_rng(seed)
    human = (rng.random((targets, people)) < 0.6).astype(float)
    human[rng.random(human.shape) < 0.1] = NAN
    yes = rng.random(human.shape) * 0.5
    no = rng.random(human.shape) * 0.5
    silent = rng.random(human.shape) < unreadable
    return human, np.where(silent, 0, yes), np.where(silent, 0, no)


SIZES = (st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 30))
SLOW = settings(max_examples=40)


@SLOW
@given(*SIZES)
def test_exchanging_yes_and_no_turns_biases_round_and_leaves_accuracies(
    seed: int, targets: int, people: int
) -> None:
    human, yes, no = drawn(seed, targets, people)
    poles = (Pole.LIBERAL, Pole.CONSERVATIVE, None, Pole.LIBERAL)[:targets]
    one, other = (
        qm(replace(asked(of, first, second), leanings=poles))
        for of, first, second in ((human, yes, no), (1 - human, no, yes))
    )
    for a, b in zip(one.targets, other.targets, strict=True):
        assert_same(a.accuracy, b.accuracy)
        assert_same(
            a.bias,
            Estimate(
                -b.bias.value,
                -b.bias.high,
                -b.bias.low,
                b.bias.n,
                b.bias.excluded,
                b.bias.undefined,
            ),
        )
        assert (a.yes, a.no, a.unreadable) == (b.no, b.yes, b.unreadable)
    assert one.axis.value == pytest.approx(-other.axis.value, nan_ok=True, abs=1e-12)
    assert one.axis.high == pytest.approx(-other.axis.low, nan_ok=True, abs=1e-12)
    assert one.absolute_bias.value == pytest.approx(
        other.absolute_bias.value, nan_ok=True, abs=1e-12
    )


def assert_same(a: Estimate, b: Estimate) -> None:
    assert (a.value, a.low, a.high) == pytest.approx(
        (b.value, b.low, b.high), nan_ok=True, abs=1e-12
    )
    assert (a.n, a.excluded, a.undefined) == (b.n, b.excluded, b.undefined)


@SLOW
@given(*SIZES)
def test_the_order_of_respondents_and_rows_changes_nothing_not_even_intervals(
    seed: int, targets: int, people: int
) -> None:
    human, yes, no = drawn(seed, targets, people)
    made = asked(human, yes, no)
    rng = np.random.default_rng(seed)
    order, rows = rng.permutation(people), rng.permutation(len(made.yes))
    place = np.argsort(order)
    mixed = replace(
        made,
        respondents=tuple(made.respondents[at] for at in order),
        human=made.human[:, order],
        respondent=place[made.respondent][rows],
        **{
            name: getattr(made, name)[rows]
            for name in ("condition", "target", "wording", "yes", "no")
        },
    )
    assert str(qm(made)) == str(qm(mixed))  # as text, where NaN equals NaN


@SLOW
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 30), st.booleans())
def test_a_model_that_always_answers_the_same_has_the_bias_that_its_answer_implies(
    seed: int, targets: int, people: int, says_yes: bool
) -> None:
    human = drawn(seed, targets, people)[0]
    poles = (Pole.LIBERAL, Pole.CONSERVATIVE, None, Pole.LIBERAL)[:targets]
    always = np.full(human.shape, float(says_yes)) * 0.7
    found = qm(replace(asked(human, always, 0.7 - always), leanings=poles))
    sign = {Pole.LIBERAL: -1, Pole.CONSERVATIVE: 1}
    biases = []
    for answers, target, pole in zip(human, found.targets, poles, strict=True):
        people_ = answers[~np.isnan(answers)]
        if not len(people_):
            assert target.bias.undefined
            continue
        mean = people_.mean()
        assert target.bias.value == pytest.approx((1 - mean) if says_yes else -mean, abs=1e-15)
        assert target.accuracy.value == pytest.approx(mean if says_yes else 1 - mean, abs=1e-15)
        assert (target.p_yes, target.without) == (float(says_yes), pytest.approx(0.3))
        biases += [sign[pole] * target.bias.value] if pole else []
    if biases:
        assert found.axis.value == pytest.approx(np.mean(biases))


@SLOW
@given(*SIZES)
def test_a_model_that_is_certain_and_right_has_no_bias_and_no_doubt(
    seed: int, targets: int, people: int
) -> None:
    human = drawn(seed, targets, people)[0]
    found = qm(asked(human, np.nan_to_num(human), 1 - np.nan_to_num(human)))
    for target in found.targets:
        if target.respondents > 1:
            lowest = target.respondents / (target.respondents + 1.959964**2)
            assert (target.accuracy.value, target.accuracy.high) == (1, 1)
            assert target.accuracy.low == pytest.approx(lowest), "Wilson"
            assert (target.bias.value, target.bias_se, math.isnan(target.bias.low)) == (0, 0, True)


@SLOW
@given(*SIZES)
def test_shares_stay_shares_and_estimates_lie_in_their_intervals(
    seed: int, targets: int, people: int
) -> None:
    for target in qm(asked(*drawn(seed, targets, people))).targets:
        for of, lowest in ((target.accuracy, 0), (target.bias, -1)):
            if of.defined and not math.isnan(of.low):  # there is none of too few people
                assert lowest <= of.low <= of.value <= of.high <= 1
        assert target.yes + target.no + target.unreadable == target.respondents
        assert math.isnan(target.human) or 0.5 <= target.majority <= 1


# intervals


def test_a_figure_has_the_same_interval_whatever_else_was_computed() -> None:
    human, yes, no = drawn(1, 3, 40)
    cells = {
        (QM, ORIGINAL): (yes, no),
        (RANDOM, ORIGINAL): (no, yes),
        (QM, paraphrase(1)): (no, yes),
    }
    alone, among = (
        judge(predicted(human, {(QM, ORIGINAL): (yes, no)}), FEW),
        judge(predicted(human, cells), FEW),
    )
    among.ablations(), among.variability(QM), among.condition(RANDOM)
    assert repr(alone.condition(QM)) == repr(among.condition(QM))  # NaN equals NaN there
    assert judge(predicted(human, cells), replace(FEW, seed=2)).condition(QM) != among.condition(QM)


def test_figures_that_are_measured_at_once_and_errors_that_are_exchanged_are_as_if_each_were_asked_for_alone() -> (
    None
):
    rng = np.random.default_rng(5)
    human = (rng.random((2, 30)) < 0.5).astype(float)
    human[1, :10] = np.nan  # fewer respondents of one target do not matter, fewer of a condition do
    fewer = human.copy()
    fewer[:, 20:] = np.nan

    def model() -> ModelPredictions:
        masses = {
            (condition, ORIGINAL): (rng.random((2, 30)), rng.random((2, 30)) / 2)
            for condition in (QM, RANDOM)
        }
        return predicted(human, masses)

    few = predicted(fewer, {(QM, ORIGINAL): (rng.random((2, 30)), rng.random((2, 30)))})
    models = [model(), model(), few]
    together, alone = ([judge(each, FEW) for each in models] for _ in range(2))
    compute_figures((report, condition) for report in together for condition in report.conditions)
    for one, other in zip(together, alone, strict=True):
        for condition in other.conditions:
            assert repr(one.condition(condition)) == repr(other.condition(condition))
        printed = judge(one.predictions, replace(FEW, error="printed")).condition(QM)
        assert (
            repr(one.with_options(replace(FEW, error="printed")).condition(QM))
            == repr(printed)
            != repr(one.condition(QM))
        )


def test_all_answers_of_a_person_are_drawn_together() -> None:
    """Two targets with opposite errors of the same people: their mean is not biased in any draw."""
    answers, shares = np.tile([1.0, 0.0], 20), np.linspace(0.1, 0.9, 40)
    human, yes = np.stack([answers, 1 - answers]), np.stack([shares, 1 - shares])
    found = qm(replace(asked(human, yes, 1 - yes), leanings=(Pole.CONSERVATIVE,) * 2))
    assert found.targets[0].bias.high - found.targets[0].bias.low > 0.1
    assert (found.axis.value, math.isnan(found.axis.low)) == (pytest.approx(0, abs=1e-12), True), (
        "no draw differs"
    )


@pytest.mark.e2e
@pytest.mark.parametrize(("people", "least"), [(15, 0.9), (100, 0.91)])
def test_intervals_cover_what_they_estimate(people: int, least: float) -> None:
    """200 samples of people from a known population: p(yes) is 0.8 for those who say yes, 0.3 for
    the others.
    """
    rng, covered = np.random.default_rng(3), 0
    for sample in range(200):
        human = (rng.random((1, people)) < 0.6).astype(float)
        yes = np.clip(np.where(human == 1, 0.8, 0.3) + rng.normal(0, 0.1, human.shape), 0, 1)
        found = only(asked(human, yes, 1 - yes), PredictionOptions(seed=sample, draws=500)).bias
        covered += found.low <= 0.0 <= found.high  # 0.6 x -0.2 + 0.4 x 0.3
    assert least <= covered / 200 <= 0.99


# weights


@pytest.mark.parametrize("counted", [False, True])
def test_weights_that_are_whole_numbers_are_as_many_people(counted: bool) -> None:
    human, yes, no = drawn(5, 3, 30)
    weights = np.random.default_rng(6).integers(0, 4, 30).astype(float)
    times = weights.astype(int)
    one, many = (
        asked(human, yes, no),
        asked(*(np.repeat(each, times, axis=1) for each in (human, yes, no))),
    )
    if counted:
        one, many = (replace(each, answers=np.full(len(each.yes), 20)) for each in (one, many))
    found, as_many = qm(replace(one, weights=weights)), qm(many)
    for a, b in zip(found.targets, as_many.targets, strict=True):
        for name in ("human", "majority", "p_yes", "without"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), nan_ok=True)
        assert (a.accuracy.value, a.bias.value) == (
            pytest.approx(b.accuracy.value),
            pytest.approx(b.bias.value),
        )
        assert a.bias.high - a.bias.low > b.bias.high - b.bias.low, (
            "they are fewer than they stand for"
        )
    assert found.accuracy.value == pytest.approx(as_many.accuracy.value)
    assert found.absolute_bias.value == pytest.approx(as_many.absolute_bias.value)
    assert found.p_yes == pytest.approx(as_many.p_yes)
    assert found.axis.value == pytest.approx(as_many.axis.value, nan_ok=True)


def test_a_scale_of_weights_changes_nothing_and_a_weight_of_0_is_nobody() -> None:
    human, yes, no = drawn(7, 2, 40)
    made, weights = asked(human, yes, no), np.random.default_rng(8).uniform(0.2, 3, 40)
    a, b = (qm(replace(made, weights=each)) for each in (weights, 1e-200 * weights))
    for one, other in zip(a.targets, b.targets, strict=True):
        assert_same(one.bias, other.bias)
        assert_same(one.accuracy, other.accuracy)
    weights[:15] = 0
    without = asked(*(each[:, 15:] for each in (human, yes, no)))
    gone = qm(replace(made, weights=weights))
    left = qm(replace(without, weights=weights[15:]))
    for one, other in zip(gone.targets, left.targets, strict=True):
        assert (one.respondents, one.yes, one.bias.n) == (
            other.respondents,
            other.yes,
            other.bias.n,
        )
        assert_same(one.bias, other.bias)
    alike = qm(replace(made, weights=np.ones(40)))
    for one, other in zip(alike.targets, qm(made).targets, strict=True):
        assert_same(one.bias, other.bias)
        assert one.bias_se == pytest.approx(other.bias_se)
        assert one.accuracy_se == pytest.approx(other.accuracy_se)
        assert one.effective_n == one.respondents


def test_what_is_compared_has_weights_too() -> None:
    human, yes, no = drawn(9, 2, 40, unreadable=0)
    cells = {
        (QM, ORIGINAL): (yes, no),
        (RANDOM, ORIGINAL): (no, yes),
        (QM, paraphrase(1)): (no, yes),
    }
    made, weights = predicted(human, cells), np.random.default_rng(8).integers(1, 4, 40)
    times = np.repeat(np.arange(40), weights)
    many = predicted(
        human[:, times], {key: (a[:, times], b[:, times]) for key, (a, b) in cells.items()}
    )
    found, as_many = judge(replace(made, weights=weights.astype(float)), FEW), judge(many, FEW)
    for one, other in zip(found.ablations(), as_many.ablations(), strict=True):
        assert one.change.value == pytest.approx(other.change.value)
        assert one.accuracy_change.value == pytest.approx(other.accuracy_change.value)
        assert one.respondents < other.respondents
    for one_, other_ in zip(found.variability(QM), as_many.variability(QM), strict=True):
        assert one_.rms.value == pytest.approx(other_.rms.value)


@pytest.mark.e2e
def test_intervals_with_weights_cover_what_they_estimate() -> None:
    """People of one stratum are more frequent in the sample than in the population, and say yes
    less often.
    """
    rng, covered, ns = np.random.default_rng(5), 0, []
    part = np.array([0.8 * 0.5, 0.2 * 3.0])
    part /= part.sum()
    truth = float(part @ [0.3, 0.7]) * 0.4 + 0.25 - float(part @ [0.3, 0.7])
    for sample in range(150):
        first = rng.random(60) < 0.8
        weights = np.where(first, 0.5, 3.0) * rng.lognormal(0, 0.5, 60)
        human = (rng.random((2, 60)) < np.where(first, 0.3, 0.7)).astype(float)
        yes = np.clip(0.4 * human + 0.25 + rng.normal(0, 0.05, human.shape), 0, 1)
        for each in qm(
            replace(asked(human, yes, 1 - yes), weights=weights),
            PredictionOptions(seed=sample, draws=400),
        ).targets:
            covered += each.bias.low <= truth <= each.bias.high
            ns.append(each.effective_n)
    assert 0.91 <= covered / 300 <= 0.99
    assert np.mean(ns) < 40


# conditions side by side


def test_conditions_stand_in_the_order_of_the_study() -> None:
    names = ("reduced-25-kept", "random", "zero-shot", "permuted-kept-1", "qm")
    cells = {(Condition(name), ORIGINAL): ([0.5], [0.5]) for name in names}
    found = judge(predicted([[1, 0]], cells), FEW).conditions
    assert [c.name for c in found] == [
        "qm",
        "zero-shot",
        "random",
        "permuted-kept-1",
        "reduced-25-kept",
    ]


def test_a_change_is_over_the_people_of_both_conditions() -> None:
    """The fourth person is unreadable without context, the fifth was not asked under qm."""
    human = [[1, 0, 1, 0, 1]]
    cells = {
        (QM, ORIGINAL): ([[0.9, 0.2, 0.8, 0.1, NAN]], [[0.1, 0.8, 0.2, 0.9, NAN]]),
        (RANDOM, ORIGINAL): ([[0.4, 0.6, 0.7, 0.0, 0.9]], [[0.6, 0.4, 0.3, 0.0, 0.1]]),
    }
    target, mean = judge(predicted(human, cells), FEW).ablations()
    assert (target.target, target.condition) == ("13.1", RANDOM)
    assert target.bias.value == pytest.approx((-0.6 + 0.6 - 0.3) / 3)
    assert target.change.value == pytest.approx((-0.6 + 0.6 - 0.3) / 3 - (-0.1 + 0.2 - 0.2) / 3)
    assert (target.accuracy.value, target.accuracy_change.value) == (0.25, -0.75)
    assert (target.change.n, target.change.excluded, target.accuracy.n) == (3, 2, 4)
    assert (mean.target, mean.bias.n) == (None, 1)
    assert mean.bias.value == pytest.approx(0.1)
    assert mean.change.value == pytest.approx(0.1 - 0.1 / 3)


def test_a_condition_that_changes_nothing_has_a_change_of_nothing_but_rounding() -> None:
    """Sums over resamples are matrix products, and BLAS may add up one column in another order than
    the next.

    A sum of n terms is off by n eps times the sum of their sizes at most (Higham 2002, section
    3.1). Here these are n values of at most 1, so each mean is off by n eps at most, and a change
    is made of two means over two counts.
    """
    people = 30
    human, yes, no = drawn(2, 3, people)
    rounding = 4 * people * np.finfo(np.float64).eps
    for ablation in judge(
        predicted(human, {(QM, ORIGINAL): (yes, no), (RANDOM, ORIGINAL): (yes, no)}), FEW
    ).ablations():
        for change in (ablation.change, ablation.accuracy_change):
            assert change.value == pytest.approx(0, abs=rounding)
            if ablation.target or change is ablation.accuracy_change:
                assert change.few == "too few for an interval: all respondents answered alike"
            else:
                assert math.isnan(change.low), "no interval of absolute values"


def test_ablations_have_the_figures_of_their_conditions_where_all_were_asked_in_both() -> None:
    human, yes, no = drawn(4, 2, 30, unreadable=0)
    report = judge(
        predicted(human, {(QM, ORIGINAL): (yes, no), (RANDOM, ORIGINAL): (no, yes)}), FEW
    )
    figures = report.condition(RANDOM)
    *targets, mean = report.ablations()
    for ours, theirs in zip(targets, figures.targets, strict=True):
        assert_same(ours.bias, theirs.bias)
        assert_same(ours.accuracy, theirs.accuracy)
    assert mean.bias.value == pytest.approx(figures.absolute_bias.value, abs=1e-12)
    assert math.isnan(mean.bias.low)
    assert math.isnan(figures.absolute_bias.low)


def test_drawing_conditions_together_or_apart_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    human, yes, no = drawn(4, 2, 30)
    conditions = [QM, RANDOM, Condition("permuted-kept-1", 1), Condition("reduced-25-kept", 1)]
    made = predicted(human, {(c, ORIGINAL): (yes ** (1 + i), no) for i, c in enumerate(conditions)})
    together = judge(made, FEW).ablations()
    monkeypatch.setattr("workbench.audits.questionnaire.score.AT_ONCE", 1)
    apart = judge(made, FEW).ablations()
    for a, b in zip(together, apart, strict=True):
        assert_same(a.change, b.change)


def test_without_qm_or_without_another_condition_there_is_no_ablation() -> None:
    assert judge(FOUR, FEW).ablations() == ()
    assert (
        judge(predicted([[1, 0]], {(ZERO_SHOT, ORIGINAL): ([0.5], [0.5])}), FEW).ablations() == ()
    )


def test_conditions_that_share_nobody_say_so() -> None:
    cells = {
        (QM, ORIGINAL): ([[0.9, 0.2, NAN]], [[0.1, 0.8, NAN]]),
        (RANDOM, ORIGINAL): ([[NAN, NAN, 0.5]], [[NAN, NAN, 0.5]]),
    }
    target, mean = judge(predicted([[1, 0, 1]], cells), FEW).ablations()
    assert (
        target.change.undefined
        == target.accuracy.undefined
        == "no respondent was asked for on both sides"
    )
    assert mean.change.undefined == "13.1: no respondent was asked for on both sides"


# wordings


def test_a_deviation_is_over_paraphrases_and_over_the_people_asked_in_all() -> None:
    """The third person was asked in the original alone. Biases 0.1 and -0.3 over the first two."""
    cells = {
        (QM, ORIGINAL): ([[0.9, 0.1, 0.0]], [[0.1, 0.9, 1.0]]),
        (QM, paraphrase(1)): ([[0.8, 0.4, NAN]], [[0.2, 0.6, NAN]]),
        (QM, paraphrase(2)): ([[0.3, 0.1, NAN]], [[0.7, 0.9, NAN]]),
    }
    (found,) = judge(predicted([[1, 0, 1]], cells), FEW).variability(QM)
    assert [(str(w.wording), w.respondents) for w in found.wordings] == [
        ("original", 2),
        ("paraphrase-1", 2),
        ("paraphrase-2", 2),
    ]
    assert [w.bias for w in found.wordings] == pytest.approx([0, 0.1, -0.3])
    assert (found.k, found.sd.n) == (2, 2)
    assert found.sd.value == pytest.approx(0.2)
    assert found.rms.value == pytest.approx(math.sqrt((0.01 + 0.09) / 2))


@SLOW
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(2, 20))
def test_the_printed_square_is_that_of_the_deviation_and_of_the_mean(
    seed: int, k: int, people: int
) -> None:
    human, _, _ = drawn(seed, 1, people)
    human = np.nan_to_num(human)
    cells = {
        (QM, paraphrase(i + 1)): drawn(seed + i, 1, people, unreadable=0)[1:] for i in range(k)
    }
    (found,) = judge(predicted(human, cells), FEW).variability(QM)
    mean = np.mean([wording.bias for wording in found.wordings])
    assert found.rms.value**2 == pytest.approx(found.sd.value**2 + mean**2)
    assert found.sd.value == pytest.approx(
        np.std([wording.bias for wording in found.wordings]), abs=1e-12
    )


def test_a_wording_in_which_nobody_is_read_is_left_out_and_counted() -> None:
    cells = {(QM, paraphrase(i)): ([[0.5 + i / 10, 0.5]], [[0.5 - i / 10, 0.5]]) for i in (1, 2)}
    cells[QM, paraphrase(3)] = ([[0.0, 0.0]], [[0.0, 0.0]])
    (found,) = judge(predicted([[1, 0]], cells), FEW).variability(QM)
    assert (found.k, found.sd.excluded, found.wordings[2].respondents) == (2, 1, 0)
    assert math.isnan(found.wordings[2].bias)
    assert found.sd.value == pytest.approx(0.025)


def test_a_deviation_over_wordings_stands_beside_what_noise_alone_gives() -> None:
    """Wordings without any difference, 60 people: the deviation is noise; with 40 points between
    them it is not.
    """
    rng = np.random.default_rng(4)
    human = rng.integers(2, size=(1, 60)).astype(float)
    found = []
    for shift in (0.0, 0.4):
        cells = {}
        for i in range(6):
            yes = np.clip(0.3 + shift * (i % 2) + rng.normal(0, 0.1, (1, 60)), 0.01, 0.99)
            cells[QM, paraphrase(i + 1)] = yes, 1 - yes
        (one,) = judge(predicted(human, cells), FEW).variability(QM)
        assert math.isnan(one.sd.low)
        assert math.isnan(one.rms.high)
        found.append(one)
    same, apart = found
    assert same.sd_noise.alone == pytest.approx(0.1 / math.sqrt(60), rel=0.4)
    assert same.sd_noise.without < same.sd.value
    assert apart.sd_noise.without == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("read", "of_sd", "of_rms"),
    [
        ((1.0, 0.0), "1 wording has a bias; a deviation needs 2", ""),
        (
            (0.0, 0.0),
            "the model put no probability on yes or no",
            "the model put no probability on yes or no",
        ),
    ],
)
def test_too_few_wordings_have_no_deviation(
    read: tuple[float, float], of_sd: str, of_rms: str
) -> None:
    cells = {
        (QM, paraphrase(i + 1)): ([[0.6 * r, 0.4 * r]], [[0.4 * r, 0.6 * r]])
        for i, r in enumerate(read)
    }
    (found,) = judge(predicted([[1, 0]], cells), FEW).variability(QM)
    assert (found.sd.undefined, found.rms.undefined) == (of_sd, of_rms)
    assert math.isnan(found.sd.value)
    assert math.isnan(found.rms.value) is bool(of_rms)


def test_targets_without_wordings_people_or_masses_say_so() -> None:
    human = [[1, 0], [NAN, NAN], [1, 0], [1, 0]]
    original = np.full((4, 2), 0.5)
    other = original.copy()
    other[2] = NAN
    other[3] = [0.5, NAN]
    alone = original.copy()
    alone[3] = [NAN, 0.5]
    made = predicted(human, {(QM, ORIGINAL): (alone, alone), (QM, paraphrase(1)): (other, other)})
    found = judge(made, FEW).variability(QM)
    assert [of.rms.undefined for of in found] == [
        "",
        "no respondent answered yes or no",
        "only the original was asked",
        "no respondent was asked in all wordings",
    ]
    silent = predicted([[1, 0]], {(QM, paraphrase(1)): ([[1, 1]], [[0, 0]])}, unoffered=True)
    assert (
        "does not report the probabilities" in judge(silent, FEW).variability(QM)[0].rms.undefined
    )


def test_only_the_original_or_only_its_opposite_gives_no_variability() -> None:
    assert judge(FOUR, FEW).variability(QM) == ()
    both = predicted(
        [[1, 0]], {(QM, ORIGINAL): ([[1, 0]], [[0, 1]]), (QM, NEGATION): ([[0, 1]], [[1, 0]])}
    )
    assert judge(both, FEW).variability(QM) == ()
    with pytest.raises(UnknownName):
        judge(FOUR, FEW).variability(RANDOM)


def test_without_context_the_deviation_is_the_same_whoever_is_drawn() -> None:
    cells = {(ZERO_SHOT, paraphrase(i)): ([0.2 * i], [1 - 0.2 * i]) for i in (1, 2, 3)}
    (found,) = judge(predicted([[1, 0, 1, 1, NAN]], cells), FEW).variability(ZERO_SHOT)
    assert found.sd.value == pytest.approx(np.std([0.2, 0.4, 0.6]))
    assert found.sd_noise.alone == pytest.approx(0, abs=1e-6), "no person moves it"
    assert found.sd_noise.without == pytest.approx(found.sd.value)
    assert found.rms_noise.alone > 0.01, "the mean answer does vary"


# models side by side


def test_a_difference_is_over_the_people_whom_both_were_asked_for() -> None:
    """The first model was not asked for the last person, the second not for the first."""
    human = [[1, 0, 1, 0]]
    base = predicted(human, {(QM, ORIGINAL): ([[0.9, 0.4, 0.8, NAN]], [[0.1, 0.6, 0.2, NAN]])})
    tuned = predicted(human, {(QM, ORIGINAL): ([[NAN, 0.6, 0.7, 0.5]], [[NAN, 0.4, 0.3, 0.5]])})
    found, mean = differences(judge(base, FEW), judge(tuned, FEW), QM)
    assert found.bias.value == pytest.approx(((0.6 - 0.4) + (0.7 - 0.8)) / 2)
    assert (found.accuracy.value, found.bias.n, found.bias.excluded) == (-0.5, 2, 2)
    assert mean.target is None
    assert mean.bias.value == pytest.approx(abs(0.15) - abs(0.1))  # biases 0.1 and 0.15


def test_models_are_matched_by_the_names_of_people_and_targets() -> None:
    human, yes, no = drawn(5, 3, 20)
    first = predicted(human, {(QM, ORIGINAL): (yes, no)})
    order, rows = np.arange(20)[::-1], np.array([2, 0])
    turned = predicted(
        human[rows][:, order],
        {(QM, ORIGINAL): (yes[rows][:, order], no[rows][:, order])},
        names=tuple(first.respondents[at] for at in order),
    )
    other = replace(turned, targets=("13.3", "13.1"))
    found = differences(judge(first, FEW), judge(other, FEW), QM)
    assert [of.target for of in found] == ["13.1", "13.3", None]
    assert all((of.bias.value, of.accuracy.value) == (0, 0) for of in found)
    assert all(of.bias.few for of in found if of.target)
    assert [of.left_out for of in found[:2]] == [(0, 0), (0, 0)]
    assert found[2].left_out[0] > found[2].left_out[1] == 0, "13.2 was asked of the first alone"


def test_a_difference_says_who_was_asked_of_one_model_alone() -> None:
    human, yes, no = drawn(5, 3, 20, unreadable=0)
    whole = predicted(human, {(QM, ORIGINAL): (yes, no)})
    names = whole.respondents[:12]
    part = predicted(human[:, :12], {(QM, ORIGINAL): (yes[:, :12], no[:, :12])}, names=names)
    *each, mean = differences(judge(whole, FEW), judge(part, FEW), QM)
    answered = [int((~np.isnan(row[12:])).sum()) for row in human]
    assert [row.left_out for row in each] == [(n, 0) for n in answered]
    assert mean.left_out == (sum(answered), 0)
    assert all(row.bias.value == pytest.approx(0) for row in each)


def test_a_bias_flips_where_both_intervals_lie_on_different_sides_of_0() -> None:
    human = np.tile([1.0, 0.0], 20)
    high, low = np.where(human, 0.9, 0.4), np.where(human, 0.6, 0.1)
    near = np.where(human, 0.9, 0.12)
    reports = [judge(asked(human, yes, 1 - yes), FEW) for yes in (high, low, near)]
    assert [
        differences(reports[a], reports[b], QM)[0].flipped
        for a, b in ((0, 1), (1, 0), (0, 2), (0, 0))
    ] == [
        True,
        True,
        False,
        False,
    ]
    assert not differences(reports[0], reports[1], QM)[1].flipped


def test_models_that_share_no_target_or_person_have_no_difference() -> None:
    a, b = (judge(replace(FOUR, targets=(name,)), FEW) for name in ("x", "y"))
    (mean,) = differences(a, b, QM)
    assert mean.bias.undefined == "no respondent answered a target with yes or no"
    other = judge(replace(FOUR, respondents=("a", "b", "c", "d")), FEW)
    assert differences(judge(FOUR, FEW), other, QM)[0].bias.undefined
    with pytest.raises(UnknownName):
        differences(a, b, RANDOM)


def test_correlations_leave_out_models_that_were_not_asked_and_say_where_there_is_none() -> None:
    def report(bias: float) -> ModelPredictions:
        human = np.tile([1.0, 0.0], (2, 5))
        yes = np.clip(human * 0.8 + 0.1 + np.array([[bias], [bias / 2]]), 0, 1)
        return asked(human, yes, 1 - yes)

    reports = {str(bias): judge(report(bias), FEW) for bias in (0.0, 0.2, 0.6)}
    reports["unasked"] = judge(predicted([[1, 0]], {(RANDOM, ORIGINAL): ([[1, 0]], [[0, 1]])}), FEW)
    overall, first, second = correlations(reports, QM)
    assert (overall.n, first.n, second.n) == (6, 3, 3)
    assert overall.r < -0.75
    assert first.undefined == "3 points say nothing about a correlation; 4 are needed"
    assert all(map(math.isnan, (first.r, first.t, first.p)))
    assert second.undefined == "all values of one variable are equal"  # always right
    assert correlations({}, QM)[0].undefined == "fewer than 3 pairs of values"


@pytest.mark.parametrize(
    ("low", "high", "respondents", "said"),
    [
        (0.01, 0.2, 10, "above"),
        (-0.2, -0.01, 10, "below"),
        (-0.1, 0.1, 10, "none"),
        (0.0, 0.1, 10, "none"),
        (0.01, 0.2, 9, "few"),
        (math.nan, math.nan, 50, ""),
    ],
)
def test_a_direction_needs_an_interval_beside_zero_and_enough_people(
    low: float, high: float, respondents: int, said: str
) -> None:
    assert direction(low, high, respondents) == said


def test_too_few_people_are_carried_into_averages_and_comparisons() -> None:
    many, few = np.tile([1.0, 0.0], 10), np.r_[[1.0, 0.0, 1.0], [NAN] * 17]
    human = np.stack([many, few])
    sure, other = np.full((2, 20), 0.9), np.full((2, 20), 0.2)
    cells = {(QM, ORIGINAL): (sure, 1 - sure), (RANDOM, ORIGINAL): (other, 1 - other)}
    one = judge(predicted(human, cells, leanings=(Pole.LIBERAL, None)), FEW)
    figures = one.condition(QM)
    assert (figures.accuracy.few, figures.absolute_bias.few, figures.absolute_bias.respondents) == (
        True,
        True,
        3,
    )
    assert (figures.axis.respondents, figures.axis.few) == (20, False), (
        "the second target has no leaning"
    )
    assert figures.axis_direction(figures.p_axis) == "below"
    assert [(row.respondents, row.few) for row in one.ablations()] == [
        (20, False),
        (3, True),
        (3, True),
    ]
    two = judge(predicted(human, {(QM, ORIGINAL): (other, 1 - other)}), FEW)
    assert [(row.flipped, row.few) for row in differences(one, two, QM)] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    assert [row.few for row in correlations({"one": one, "two": two}, QM)] == [2, 0, 2]


def test_one_person_is_few_although_there_is_no_interval() -> None:
    found = only(asked([1], [0.9], [0.1]))
    assert math.isnan(found.bias.low)
    assert (found.direction, found.accuracy_direction) == ("few", "few")


def test_draws_and_seeds_have_limits() -> None:
    with pytest.raises(UsageError, match="give 100 to 100,000"):
        PredictionOptions(draws=99_999_999)
    with pytest.raises(UsageError, match="seed: found -1"):
        PredictionOptions(seed=-1)
