"""Answers counted in place of probabilities: whose noise draws of people hold, and whose has to be
added.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.audits.questionnaire.cells import (
    ConditionCell,
    PredictionIndex,
    RespondentDraws,
    SharedNoise,
    redrawn_figures,
    shared_noise,
)
from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, ModelPredictions
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import PredictionReport, correlations, judge
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind

QM, ZERO = Condition("qm"), Condition("zero-shot")
OPTIONS = PredictionOptions(seed=3, draws=2000)
PEOPLE, TARGETS, N = 40, 3, 20


def own_prompts(n: int = N, seed: int = 0, targets: int = TARGETS) -> ModelPredictions:
    """Return answers to a prompt for each person and target: shares of n."""
    rng = np.random.default_rng(seed)
    target, person = (places.ravel() for places in np.indices((targets, PEOPLE)))
    yes = rng.binomial(n, rng.beta(2, 2, len(target)), len(target))
    return ModelPredictions(
        targets=tuple(f"t{t}" for t in range(targets)),
        leanings=(Pole.CONSERVATIVE,) * targets,
        respondents=tuple(f"r{r:02}" for r in range(PEOPLE)),
        human=np.random.default_rng(seed + 99).integers(0, 2, (targets, PEOPLE)).astype(np.float64),
        conditions=(QM,),
        wordings=(ORIGINAL,),
        condition=np.zeros_like(target),
        target=target,
        wording=np.zeros_like(target),
        respondent=person,
        yes=yes / n,
        no=1 - yes / n,
        answers=np.full(len(target), n),
        prompt=np.arange(len(target)),
    )


def one_prompt(yes: int = 13, n: int = N) -> ModelPredictions:
    """Return a prompt for each target that stands for everybody: so many answers are yes."""
    of = own_prompts(n)
    target = np.arange(TARGETS)
    return replace(
        of,
        conditions=(ZERO,),
        condition=np.zeros_like(target),
        target=target,
        wording=np.zeros_like(target),
        respondent=np.full(TARGETS, NEVER_ASKED),
        yes=np.full(TARGETS, yes / n),
        no=np.full(TARGETS, 1 - yes / n),
        answers=np.full(TARGETS, n),
        prompt=target + 100,
    )


def computed(of: ModelPredictions) -> ModelPredictions:
    return replace(of, answers=None, prompt=None)


def drawn_together(cell: ConditionCell, resampling: RespondentDraws) -> SharedNoise | None:
    """Return the noise of the prompts that people of equal weight have in common."""
    return shared_noise(cell, resampling, "x", np.ones(cell.counted.shape))


def width(report: PredictionReport, condition: Condition) -> list[float]:
    return [one.bias.high - one.bias.low for one in report.condition(condition).targets]


def test_draws_of_people_hold_the_noise_of_prompts_of_their_own_and_none_is_added() -> None:
    counted, plain = judge(own_prompts(), OPTIONS), judge(computed(own_prompts()), OPTIONS)
    assert (
        drawn_together(counted.prediction_index.cell(QM, ORIGINAL), counted.resampling) is not None
    )
    assert counted.condition(QM) == plain.condition(QM)


def test_the_noise_of_a_prompt_that_all_share_widens_every_interval() -> None:
    counted, plain = judge(one_prompt(), OPTIONS), judge(computed(one_prompt()), OPTIONS)
    pairs = zip(width(counted, ZERO), width(plain, ZERO), strict=True)
    assert all(wide > 1.3 * narrow for wide, narrow in pairs)
    assert [one.bias.value for one in counted.condition(ZERO).targets] == [
        one.bias.value for one in plain.condition(ZERO).targets
    ]
    assert (
        counted.condition(ZERO).absolute_bias.noise.noise
        > 1.3 * plain.condition(ZERO).absolute_bias.noise.noise
    )
    axis = counted.condition(ZERO).axis, plain.condition(ZERO).axis
    assert axis[0].high - axis[0].low > 1.2 * (axis[1].high - axis[1].low)


@pytest.mark.parametrize("n", [5, 20, 200])
def test_what_is_added_has_the_variance_that_is_missing(n: int) -> None:
    """Of k people with one prompt, draws of people hold k v of the variance of their sum, and k² v
    is there.
    """
    cell = PredictionIndex(one_prompt(yes=round(0.6 * n), n=n)).cell(ZERO, ORIGINAL)
    found = drawn_together(cell, RespondentDraws(1, 40_000))
    assert found is not None
    a, b = round(0.6 * n) + 0.5, n - round(0.6 * n) + 0.5
    v = a * b / ((a + b) ** 2 * (a + b + 1))
    assert found.variance == pytest.approx(np.full(TARGETS, PEOPLE * (PEOPLE - 1) * v))
    assert found.difference[:, 1:].var(axis=1) == pytest.approx(found.variance, rel=0.05)
    assert found.difference[:, 1:].mean(axis=1) == pytest.approx(
        0, abs=4 * np.sqrt(found.variance[0] / 40_000)
    )
    assert (found.difference[:, 0] == 0).all()


def test_people_with_equal_contexts_share_a_prompt_and_its_noise() -> None:
    of = own_prompts()
    alike = replace(of, prompt=(of.prompt // 2 if of.prompt is not None else None))
    pairs = np.repeat(of.yes[::2], 2)
    alike = replace(alike, yes=pairs, no=1 - pairs)
    found = drawn_together(PredictionIndex(alike).cell(QM, ORIGINAL), RespondentDraws(1, 500))
    assert found is not None
    assert (found.variance > 0).all()


def test_more_answers_are_less_noise_until_it_is_that_of_probabilities() -> None:
    wide = [
        np.mean(width(judge(one_prompt(yes=6 * n // 10, n=n), OPTIONS), ZERO))
        for n in (5, 20, 100, 100_000)
    ]
    assert wide == sorted(wide, reverse=True)
    assert wide[-1] == pytest.approx(
        np.mean(width(judge(computed(one_prompt(6, 10)), OPTIONS), ZERO)), rel=0.06
    )


def test_a_prediction_that_other_answers_might_turn_has_an_interval_that_holds_both_accuracies() -> (
    None
):
    sure, split = judge(one_prompt(yes=N), OPTIONS), judge(one_prompt(yes=N // 2 + 1), OPTIONS)
    plain = judge(computed(one_prompt(yes=N // 2 + 1)), OPTIONS)
    for of_sure, of_split, of_plain in zip(
        *(report.condition(ZERO).targets for report in (sure, split, plain)), strict=True
    ):
        assert (of_sure.accuracy.low, of_sure.accuracy.high) == (
            of_plain.accuracy.low,
            of_plain.accuracy.high,
        )
        assert of_split.accuracy.low <= 1 - of_split.accuracy.value <= of_split.accuracy.high
        assert of_split.accuracy.low <= of_split.accuracy.value <= of_split.accuracy.high


def test_changes_between_two_sides_hold_the_noise_of_both() -> None:
    qm, zero = own_prompts(), one_prompt()
    both = replace(
        qm,
        conditions=(QM, ZERO),
        condition=np.concatenate([qm.condition, zero.condition + 1]),
        **{
            name: np.concatenate([getattr(qm, name), getattr(zero, name)])
            for name in ("target", "wording", "respondent", "yes", "no", "answers", "prompt")
        },
    )
    counted, plain = judge(both, OPTIONS).ablations(), judge(computed(both), OPTIONS).ablations()
    wide, narrow = (
        [one.change.high - one.change.low for one in of if one.target] for of in (counted, plain)
    )
    assert all(a > b for a, b in zip(wide, narrow, strict=True))


def test_the_spread_over_wordings_says_how_much_of_it_is_the_noise_of_answers() -> None:
    of = one_prompt()
    wordings = (ORIGINAL, *(VariantId(VariantKind.PARAPHRASE, i) for i in range(1, 5)))
    rng = np.random.default_rng(4)
    many = len(wordings) * TARGETS
    yes = rng.binomial(N, 0.6, many) / N
    varied = replace(
        of,
        wordings=wordings,
        condition=np.zeros(many, dtype=np.int64),
        target=np.tile(np.arange(TARGETS), len(wordings)),
        wording=np.repeat(np.arange(len(wordings)), TARGETS),
        respondent=np.full(many, NEVER_ASKED),
        yes=yes,
        no=1 - yes,
        answers=np.full(many, N),
        prompt=np.arange(many),
    )
    counted = judge(varied, OPTIONS).variability(ZERO)
    plain = judge(computed(varied), OPTIONS).variability(ZERO)
    assert [one.sd.value for one in counted] == [one.sd.value for one in plain]
    assert all(one.sd_noise.alone == pytest.approx(0, abs=1e-6) for one in plain)
    expected = np.sqrt(0.6 * 0.4 / N)
    assert np.mean([one.sd_noise.alone for one in counted]) == pytest.approx(expected, rel=0.3)


def test_models_that_were_measured_in_different_ways_are_in_no_correlation_together() -> None:
    reports = {f"c{i}": judge(own_prompts(seed=i), OPTIONS) for i in range(3)}
    reports |= {f"p{i}": judge(computed(own_prompts(seed=10 + i)), OPTIONS) for i in range(4)}
    found = correlations(reports, QM)
    whole = {row.counted: row for row in found if row.target is None}
    assert {counted: row.n for counted, row in whole.items()} == {
        True: 3 * TARGETS,
        False: 4 * TARGETS,
    }
    assert 0 < whole[True].noise < 1
    assert np.isnan(whole[False].noise)


def test_other_answers_scatter_around_those_that_were_found() -> None:
    report = judge(own_prompts(), OPTIONS)
    again = redrawn_figures(
        report.prediction_index.cell(QM, ORIGINAL), RespondentDraws(1, 4000), "x"
    )
    assert again is not None
    accuracy, bias = again
    figures = report.condition(QM).targets
    assert bias.mean(axis=1) == pytest.approx([one.bias.value for one in figures], abs=0.005)
    assert 0.004 < float(bias.std(axis=1).mean()) < 0.03
    assert accuracy.shape == (TARGETS, 4000)
    assert (
        redrawn_figures(
            judge(computed(own_prompts()), OPTIONS).prediction_index.cell(QM, ORIGINAL),
            RespondentDraws(1, 9),
            "x",
        )
        is None
    )
