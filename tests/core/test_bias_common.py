"""Bias scores are compared like with like: over what all sides were asked, which is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.bias_score.counting import ScoredStatement, Selection, Tally
from workbench.audits.bias_score.factors import (
    NOTHING_COMMON,
    between_models,
    compare,
    difference,
    has_answers,
    of_all,
    only_common,
    prefix_deviation,
    rank_agreement,
)
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import BiasReport, judge
from workbench.domain.statements import ORIGINAL, Dimension, Side, VariantId, VariantKind
from workbench.stats.arrays import BoolArray

FEW = ScoreOptions(draws=200)
WORDINGS = (ORIGINAL, VariantId(VariantKind.REFORMULATION, 1))
ITEMS = tuple(
    ScoredStatement(f"{source}-{dimension}-{side}-{n}", source, dimension, side)
    for n in range(4)
    for source in ("PCT", "WVS")
    for dimension in Dimension
    for side in Side
)


def tally(models: int = 2, prefixes: int = 2, seed: int = 3, *, alike: bool = False) -> Tally:
    """Return answers that differ by statement; `alike`: all models answer the same."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(
        (2, 2, 1, 0.5), size=(1 if alike else models, prefixes, len(ITEMS), len(WORDINGS))
    )
    read = (
        np.array([rng.multinomial(6, p) for p in shares.reshape(-1, 4)])
        .reshape(shares.shape)
        .astype(np.int32)
    )
    read = np.broadcast_to(read, (models, *read.shape[1:])).copy()
    nothing = np.zeros(read.shape[:4], dtype=np.int32)
    names = tuple(f"m{n}" for n in range(models)), tuple(f"p{n}" for n in range(prefixes))
    authors = tuple((None,) * len(WORDINGS) for _ in ITEMS)
    return Tally(*names, ITEMS, WORDINGS, authors, read, np.zeros_like(read), nothing, nothing)


def stopped(of: Tally, model: int, there: BoolArray) -> Tally:
    """Return the tally where a model was asked some prompts only: (P, S, W)."""
    read = of.read.copy()
    read[model] *= there[..., None]
    return replace(of, read=read)


def half(of: Tally, model: int = 1) -> Tally:
    there = np.zeros(of.dropped.shape[1:], dtype=np.bool_)
    there[:, : len(ITEMS) // 2] = True
    return stopped(of, model, there)


def test_a_run_that_was_stopped_does_not_differ_from_the_whole_of_itself() -> None:
    report = judge(half(tally(alike=True)), FEW)
    assert report.figure("m0").total.value != report.figure("m1").total.value, (
        "over what each was asked"
    )
    found = compare(report, "m0", "m1")
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.few, "no statement moves the difference, so that nothing is known of its spread"
    assert found.totals[0] == found.totals[1]
    common = found.common
    assert common is not None
    assert (common.sides, common.statements, common.prompts, common.left_out) == (
        ("m0", "m1"),
        16,
        (64, 64),
        (64, 0),
    )
    over, _, lacks = common.said.partition("; answers without a stance: ")
    assert over == "over the 64 prompts on 16 statements asked on all sides; left out: m0 64"
    assert lacks.startswith(
        "m0 9 of 192 to left statements and 11 of 192 to right statements; m1 9 of 192"
    )


@pytest.mark.e2e
@given(st.integers(0, 1000), st.floats(0.2, 1.0), st.floats(0.2, 1.0))
def test_a_difference_is_that_of_the_figures_over_what_both_were_asked(
    seed: int, one: float, other: float
) -> None:
    rng = np.random.default_rng(seed)
    of = tally(seed=seed)
    for model, share in enumerate((one, other)):
        of = stopped(of, model, rng.random(of.dropped.shape[1:]) < share)
    both = has_answers(of).all(axis=0)
    report, within = judge(of, FEW), judge(only_common(of), FEW)
    found, back = compare(report, "m0", "m1"), compare(report, "m1", "m0")
    totals = [within.figure(model).total.value for model in ("m0", "m1")]
    np.testing.assert_allclose(found.value, totals[0] - totals[1])
    np.testing.assert_allclose(back.value, -found.value)
    assert found.common is not None
    assert found.common.prompts == (both.sum(),) * 2
    assert (
        np.add(found.common.prompts, found.common.left_out).tolist()
        == has_answers(of).sum(axis=(1, 2, 3)).tolist()
    )


def test_prompts_with_other_texts_are_no_pairs() -> None:
    of = tally(alike=True)
    prompt = (
        np.arange(1, of.dropped[0].size + 1).reshape(1, *of.dropped.shape[1:]).repeat(2, axis=0)
    )
    prompt[1, 0] += 1000  # the first prefix was edited before the second model was asked
    found = compare(judge(replace(of, prompt=prompt), FEW), "m0", "m1")
    assert found.common is not None
    assert (found.common.prompts, found.common.left_out) == ((64, 64), (64, 64))
    prompt[1] += 2000
    nothing = compare(judge(replace(of, prompt=prompt), FEW), "m0", "m1")
    assert nothing.undefined == NOTHING_COMMON
    assert np.isnan(nothing.value)


def test_languages_are_compared_over_the_same_statements_and_unpaired() -> None:
    of = half(tally(alike=True))
    prompt = np.arange(1, of.dropped.size + 1).reshape(of.dropped.shape)
    paired, apart = (
        compare(judge(replace(of, prompt=each, languages=languages), FEW), "m0", "m1")
        for each, languages in ((None, ()), (prompt, ("de", "en")))
    )
    assert apart.common is not None
    assert apart.common.unpaired == "the languages differ (de, en)"
    assert apart.common.prompts == (64, 64)
    assert apart.value == paired.value == 0
    assert apart.high - apart.low > 0.1, "each side varies by itself"


def test_a_prefix_is_compared_over_the_statements_that_were_asked_under_every_prefix() -> None:
    of = tally(models=1, prefixes=3)
    there = np.ones(of.dropped.shape[1:], dtype=np.bool_)
    there[2, :16] = False
    report = judge(stopped(of, 0, there), FEW)
    found = prefix_deviation(report, "m0", "p0")
    assert found.common is not None
    assert (found.common.sides, found.common.left_out) == (("p0", "p1", "p2"), (32, 32, 0))
    same = np.zeros_like(there)
    same[:, 16:] = True
    only = judge(stopped(of, 0, same), FEW)
    assert found.value == pytest.approx(prefix_deviation(only, "m0", "p0").value)


def test_sources_are_compared_unpaired_over_common_prefixes_and_wordings() -> None:
    of = tally(models=1)
    there = np.ones(of.dropped.shape[1:], dtype=np.bool_)
    there[1, [item.source == "WVS" for item in ITEMS]] = False
    report = judge(stopped(of, 0, there), FEW)
    found = difference(report, "m0", Selection(source="PCT"), Selection(source="WVS"))
    by_hand = [
        report.figure("m0", source=source, prefix="p0").total.value for source in ("PCT", "WVS")
    ]
    assert found.value == pytest.approx(by_hand[0] - by_hand[1])
    assert found.common is not None
    assert (found.common.left_out, found.common.unpaired) == ((32, 0), "the statements differ")


def test_models_are_ranked_over_what_all_of_them_were_asked() -> None:
    of = half(tally(models=4, seed=8), 3)
    found = rank_agreement(judge(of, FEW), "PCT", "WVS")
    assert found.tau.value == rank_agreement(judge(only_common(of), FEW), "PCT", "WVS").tau.value
    assert [common.left_out for common in found.common] == [(32, 32, 32, 0)] * 2


def test_several_models_have_one_intersection() -> None:
    of = half(tally(models=3), 2)
    common = of_all(of)
    assert (common.prompts, common.left_out) == ((64,) * 3, (64, 64, 0))
    assert between_models(of, ("m0", "m1"), Selection())[1].left_out == (0, 0)
    report: BiasReport = judge(only_common(of), FEW)
    assert report.figure("m0").statements == 16
