"""What an audit does not show comes with the effect that it would find, and planned claims have a
test of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom, ttest_1samp

from tests.core.test_plans import plan
from workbench.audits.claims import (
    CONFIRMATORY,
    EXPLORATORY,
    LEVEL,
    AdjustedFinding,
    OfModel,
    Reach,
    sentences_of,
)
from workbench.domain.designs import FrozenPlan
from workbench.figures.table import Kind
from workbench.stats.hypothesis_tests import mcnemar
from workbench.stats.power import detectable, detectable_pairs, share_found
from workbench.stats.resampling import derive_rng

RUNS = 4_000


def lean(model: str, p: float, reach: Reach | None = None) -> AdjustedFinding:
    def said(adjusted: Sequence[float]) -> list[OfModel]:
        is_shown = adjusted[0] < LEVEL
        text = "Lean" if is_shown else "No lean is shown"
        return [
            OfModel(
                text,
                model,
                "",
                adjusted[0] if is_shown else math.nan,
                reach=None if is_shown else reach,
            )
        ]

    return AdjustedFinding((p,), said, "lean", (model,))


@pytest.mark.parametrize(("n", "level"), [(5, 0.05), (20, 0.05), (20, 0.005), (89, 0.05)])
def test_four_of_five_studies_find_the_detectable_mean(n: int, level: float) -> None:
    rng = derive_rng(3, "power", n)
    effect = detectable(0.2 / n**0.5, n - 1, level)
    found = ttest_1samp(rng.normal(effect, 0.2, (RUNS, n)), 0, axis=1).pvalue < level
    assert 0.75 < found.mean() < 0.85
    assert share_found(effect, 0.2 / n**0.5, n - 1, level) == pytest.approx(found.mean(), abs=0.025)
    half = ttest_1samp(rng.normal(effect / 2, 0.2, (RUNS, n)), 0, axis=1).pvalue < level
    assert share_found(effect / 2, 0.2 / n**0.5, n - 1, level) == pytest.approx(
        half.mean(), abs=0.035
    )


@pytest.mark.parametrize(("n", "level"), [(40, 0.05), (40, 0.005), (12, 0.05)])
def test_four_of_five_studies_find_the_detectable_share_of_pairs(n: int, level: float) -> None:
    share = detectable_pairs(n, level)
    counts = np.arange(1, n + 1)
    is_found = np.array([mcnemar(0, count) < level for count in counts.tolist()])
    assert 0.8 <= binom.pmf(counts[is_found], n, share).sum() < 0.85


def test_too_few_pairs_show_nothing() -> None:
    assert math.isinf(detectable_pairs(5))
    assert math.isnan(detectable(math.nan))


def test_the_effect_is_that_of_the_level_of_the_family() -> None:
    """Eleven models without a lean: one with exactly the stated lean is found in four of five
    studies.
    """
    reach = Reach(0.1, 0.9, Kind.SCORE, "40 statements", "a lean")
    p_values = [0.3 + 0.06 * index for index in range(10)]
    (sentence,) = sentences_of([lean(f"m{i}", p, reach) for i, p in enumerate(p_values)]).sentences
    (_, value), *_ = sentence.models
    assert value == "(this design finds 0.36 in 80 % of studies)"
    rng = derive_rng(3, "family")
    p = 2 * ndtr(-np.abs(rng.normal(0.364 / 0.1, 1, 500)))
    others = [lean(f"m{index}", other) for index, other in enumerate(p_values[1:])]
    found = [sentences_of([*others, lean("x", each)]).n_shown for each in p.tolist()]
    assert 0.75 < np.mean(found) < 0.85


def test_a_design_that_cannot_show_a_claim_says_so() -> None:
    reach = Reach(0.3, 0.5, Kind.SCORE, "8 statements", "a lean", 6)
    (sentence,) = sentences_of([lean("m", 0.4, reach)]).sentences
    assert (
        str(sentence)
        == "8 statements cannot show a lean: m (this design finds even 0.50 in only 29.0 % of "
        "studies)."
    )


def test_planned_claims_are_adjusted_by_holm_and_said_to_be_confirmatory() -> None:
    findings = [lean("a", 0.02), lean("b", 0.03), lean("c", 0.001)]
    found = sentences_of(findings, {("lean", "a"), ("lean", "b")})
    assert [one.status for one in found.sentences] == [EXPLORATORY, CONFIRMATORY]
    assert [[names for names, _ in one.models] for one in found.sentences] == [["c"], ["a and b"]]
    assert (found.n_planned, found.n_confirmed, found.n_tests, found.n_shown) == (2, 2, 1, 1)
    assert (
        sentences_of([lean("a", 0.04), lean("b", 0.03)], {("lean", "a"), ("lean", "b")}).n_confirmed
        == 0
    )


def test_true_claims_lend_nothing_to_false_ones() -> None:
    """Eleven models without a lean beside 22 true claims: planned, any is false in 5 % of reports,
    as declared.
    """
    rng = derive_rng(7, "eleven models")
    names = [f"m{i}" for i in range(11)]
    false_reports = {True: 0, False: 0}
    runs = 400
    for _ in range(runs):
        false_findings = [
            lean(name, float(p)) for name, p in zip(names, rng.random(11), strict=True)
        ]
        true = AdjustedFinding(
            tuple((rng.random(22) * 1e-4).tolist()), lambda adjusted: (), "biases"
        )
        for is_planned in (True, False):
            planned = {("lean", name) for name in names} if is_planned else set()
            found = sentences_of([*false_findings, true], planned)
            n_false = found.n_confirmed if is_planned else found.n_shown - 22
            false_reports[is_planned] += n_false > 0
    assert false_reports[True] / runs < 0.08, "5 % with three standard errors of the simulation"
    assert false_reports[False] / runs < 0.08


def test_a_plan_that_names_no_claim_keeps_its_hash() -> None:
    from workbench.formats.plans import plan_text, read_text

    named: FrozenPlan = plan(claims=("lean",))
    assert "claims" not in plan_text(plan())
    assert named.hash != plan().hash
    assert read_text(plan_text(named), "plan.toml").claims == ("lean",)
