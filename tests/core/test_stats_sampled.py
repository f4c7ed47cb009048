"""Units drawn with known probabilities: effective n, the rescaled bootstrap, and figures of what
units stand for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.annotation.sampling import OfferedText, draw_answers
from workbench.stats.classification import (
    calibration,
    classification_report,
    threshold_curve,
    weighted_curve,
    weighted_report,
)
from workbench.stats.proportions import wilson_interval, wilson_of_share
from workbench.stats.resampling import rescaled_times
from workbench.stats.samples import Sampled, collapsed
from workbench.stats.units import MISSING

labels = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 9)), min_size=2, max_size=40
)


def alike(n: int, strata: int = 1) -> Sampled:
    """Return units that all stand for the same."""
    return Sampled.of(np.ones(n), np.zeros(n), [f"s{place % strata}" for place in range(n)])


def drawn(seed: int, n: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    sure = rng.uniform(0.3, 1, n)
    return true, np.where(rng.random(n) < sure, true, rng.integers(3, size=n)), sure


# the rescaled bootstrap


@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_rescaled_resamples_have_the_variance_of_a_mean_without_bias(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    means = values @ rescaled_times(n, 200_000, np.random.default_rng(1)) / n
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert means.var() == pytest.approx(values.var(ddof=1) / n, rel=0.02)


def test_certain_units_and_single_ones_never_vary() -> None:
    sampled = Sampled.of([5, 1, 1, 1], [True, False, False, False], ["a", "a", "b", "b"])
    times = sampled.times(500, np.random.default_rng(0))
    assert (times[0] == 1).all()
    assert (times[1:].std(axis=1) > 0).all(), "the single unit of a is joined to b"
    assert (Sampled.of([2], [False], ["a"]).times(9, np.random.default_rng(0)) == 1).all()


@given(st.lists(st.sampled_from("abcdefgh"), max_size=30), st.integers(0, 9))
def test_collapsed_strata_hold_every_unit_once_and_two_at_least(
    names: list[str], seed: int
) -> None:
    among = np.random.default_rng(seed).random(len(names)) < 0.8
    groups = collapsed(names, among)
    assert (
        sorted(place for group in groups for place in group.tolist())
        == np.flatnonzero(among).tolist()
    )
    assert all(len(group) >= 2 for group in groups) or among.sum() == 1
    for name in set(names):
        held = [place for place in np.flatnonzero(among) if names[place] == name]
        assert sum(bool(set(group.tolist()) & set(held)) for group in groups) <= 1, (
            "no stratum is torn apart"
        )


def test_weighted_sums_of_resamples_are_distributed_as_those_of_the_multiplied_weights() -> None:
    names = ["a", "a", "b", "b", "b", "b", "b"]
    sampled = Sampled.of([3.0, 1, 2, 2, 2, 2, 5], [False] * 6 + [True], names)
    features = np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [0, 1], [1, 0]])
    times = sampled.times(100_000, np.random.default_rng(3))
    expected = (times * sampled.weight[:, None]).T @ features
    found = sampled.resampled_sums(features, 100_000, np.random.default_rng(4))
    assert np.allclose(found.mean(axis=0), expected.mean(axis=0), atol=0.05)
    assert np.allclose(np.cov(found.T), np.cov(expected.T), rtol=0.03)
    assert set(np.unique(found.round(6))) == set(np.unique(expected.round(6)))


# effective n and shares


def test_the_effective_n_leaves_out_what_is_certain() -> None:
    """Kish 1965: (3 + 1 + 1)^2 / (9 + 1 + 1) = 25 / 11."""
    sampled = Sampled.of([100.0, 3, 1, 1], [True, False, False, False], ["a"] * 4)
    assert sampled.effective_n() == pytest.approx(25 / 11)
    assert sampled.certain_share() == pytest.approx(100 / 105)
    nobody = np.zeros(4, dtype=np.bool_)
    assert sampled.effective_n(nobody) == 0
    assert math.isnan(sampled.certain_share(nobody))


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 10), (49, 55)])
def test_wilson_of_a_share_is_wilson_of_its_counts(k: int, n: int) -> None:
    low, high = wilson_interval(k, n)
    assert wilson_of_share(k / n, n) == pytest.approx((float(low), float(high)))


def test_a_share_of_certain_units_is_known_and_one_without_errors_keeps_its_width() -> None:
    hits, base = np.array([True, False, True, True]), np.ones(4, dtype=np.bool_)
    known = Sampled.of([3, 1, 2, 2], [True] * 4, ["a"] * 4).share(hits, base, 0, "none")
    assert (known.value, known.low, known.high) == (7 / 8, 7 / 8, 7 / 8)
    mixed = Sampled.of([6, 2, 1, 1], [True, True, False, False], ["a"] * 4).share(
        hits, base, 0, "none"
    )
    low, high = wilson_interval(2, 2)
    assert mixed.value == pytest.approx(0.8)
    assert (mixed.low, mixed.high) == pytest.approx(
        (0.6 + 0.2 * float(low), 0.6 + 0.2 * float(high))
    )
    assert alike(4).share(hits, np.zeros(4, dtype=np.bool_), 2, "none").undefined == "none"


@pytest.mark.e2e
def test_the_interval_of_a_share_holds_the_share_of_all_answers() -> None:
    """400 draws of 120 from 3,000 texts, of which the three most frequent have a third of the
    answers.

    92 to 98 % is asked for; the Monte Carlo error is 1.1 %.
    """
    rng = np.random.default_rng(5)
    sizes = np.array([700, 500, 300, *[1] * 2997])
    right = rng.random(3000) < 0.85
    right[:3] = [True, False, True]
    strata = rng.integers(30, size=3000)
    offers = [OfferedText(n, f"{n}", "s", f"{strata[n]}", int(sizes[n])) for n in range(3000)]
    truth, held = sizes[right].sum() / sizes.sum(), 0
    for seed in range(400):
        picks = draw_answers(offers, 120, np.random.default_rng(seed)).picks
        places = [pick.index for pick in picks]
        weight = [(pick.answers or 0) / (pick.inclusion or 1) for pick in picks]
        sampled = Sampled.of(
            weight, [pick.inclusion == 1 for pick in picks], [pick.stratum for pick in picks]
        )
        found = sampled.share(right[places], np.ones(len(places), dtype=np.bool_), 0, "")
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98


# figures of a classifier


@pytest.mark.e2e
@given(labels)
def test_items_that_stand_for_the_same_have_the_figures_of_items(
    rows: list[tuple[int, int, int]],
) -> None:
    true, guess, _ = (np.array(column) for column in zip(*rows, strict=True))
    weighted = weighted_report(true, guess, 3, alike(len(rows)))
    plain = classification_report(true, guess, 3)
    assert weighted.matrix == plain.matrix
    assert weighted.support == plain.support
    for name in ("precision", "recall", "f1"):
        for one, two in zip(getattr(weighted, name), getattr(plain, name), strict=True):
            assert (one.undefined, one.n) == (two.undefined, two.n)
            assert one.value == pytest.approx(two.value, nan_ok=True)
    assert weighted.macro_f1.value == pytest.approx(plain.macro_f1.value, nan_ok=True)
    assert weighted.accuracy.value == pytest.approx(plain.accuracy.value)


@pytest.mark.e2e
@given(labels)
def test_a_weight_is_as_many_items(rows: list[tuple[int, int, int]]) -> None:
    true, guess, times = (np.array(column) for column in zip(*rows, strict=True))
    sampled = Sampled.of(times, np.zeros(len(times)), ["a"] * len(times))
    weighted = weighted_report(true, guess, 3, sampled)
    repeated = classification_report(np.repeat(true, times), np.repeat(guess, times), 3)
    assert weighted.macro_f1.value == pytest.approx(repeated.macro_f1.value, nan_ok=True)
    assert [f.value for f in weighted.f1] == pytest.approx(
        [f.value for f in repeated.f1], nan_ok=True
    )
    sure = np.linspace(0.3, 1, len(true))
    one = weighted_curve(true, guess, sure, 3, [0.9, 0.0], sampled)
    two = threshold_curve(
        np.repeat(true, times), np.repeat(guess, times), np.repeat(sure, times), 3, [0.9, 0.0]
    )
    assert [p.kept.value for p in one] == pytest.approx([p.kept.value for p in two])
    assert [p.macro_f1.value for p in one] == pytest.approx(
        [p.macro_f1.value for p in two], nan_ok=True
    )
    found = calibration(true == guess, sure, sampled=sampled)
    assert found.ece == pytest.approx(
        calibration(np.repeat(true == guess, times), np.repeat(sure, times)).ece
    )


def test_the_curve_and_the_report_rest_on_the_same_items() -> None:
    true, guess, sure = drawn(1)
    sampled = Sampled.of(
        np.arange(1.0, 61), np.arange(60) % 7 == 0, [f"{n % 9}" for n in range(60)]
    )
    at = weighted_curve(true, guess, sure, 3, [0.6], sampled, np.random.default_rng(1), 2000)[0]
    report = weighted_report(
        true, np.where(sure >= 0.6, guess, MISSING), 3, sampled, np.random.default_rng(2), 2000
    )
    assert at.macro_f1.value == pytest.approx(report.macro_f1.value)
    assert (at.macro_f1.low, at.macro_f1.high) == pytest.approx(
        (report.macro_f1.low, report.macro_f1.high), abs=0.02
    )
    assert at.n == report.macro_f1.n == int((sure >= 0.6).sum())


def test_figures_of_known_units_have_no_width() -> None:
    true, guess, _ = drawn(2)
    sampled = Sampled.of(np.ones(60), np.ones(60), ["a"] * 60)
    report = weighted_report(true, guess, 3, sampled, np.random.default_rng(0))
    assert report.macro_f1.low == report.macro_f1.value == report.macro_f1.high
    assert all(f1.low == f1.value == f1.high for f1 in report.f1)


def test_no_items_have_no_figures() -> None:
    nothing = Sampled.of([], [], [])
    report = weighted_report([], [], 3, nothing, np.random.default_rng(0))
    assert report.macro_f1.undefined == report.accuracy.undefined == "no items"
    (point,) = weighted_curve([], [], [], 3, [0.5], nothing, np.random.default_rng(0))
    assert point.kept.undefined == "no items"
