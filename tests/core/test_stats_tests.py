"""Tests of means, several of them at once, and distances between answers, against scipy,
statsmodels and by hand.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy, ttest_1samp, wasserstein_distance
from statsmodels.stats.multitest import multipletests

from workbench.stats.describe import normalised_entropy, ordered_wasserstein
from workbench.stats.hypothesis_tests import ALL_EQUAL, NO_VALUES, ONE_VALUE, holm, mean_test

NAN = float("nan")
points = st.integers(-50, 50).map(lambda n: 2.0 * n)
weights = st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any)


@given(st.lists(points, min_size=2, max_size=40).filter(lambda values: len(set(values)) > 1))
def test_the_test_of_a_mean_is_that_of_scipy(values: list[float]) -> None:
    found, wanted = mean_test(values), ttest_1samp(values, 0)
    interval = wanted.confidence_interval(0.95)
    assert found.t == pytest.approx(wanted.statistic)
    assert (found.df, found.n) == (wanted.df, len(values))
    assert found.p == pytest.approx(wanted.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert not found.degenerate


@given(
    st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6),
    st.integers(2, 30),
    st.integers(0, 9),
)
def test_values_without_spread_have_a_mean_and_neither_test_nor_interval(
    value: float, n: int, seed: int
) -> None:
    """Also where they differ by the rounding of a computation that gives equal values."""
    rounding = 1 + np.random.default_rng(seed).choice([-1, 0, 1], n) * np.finfo(float).eps
    for values in (np.full(n, value), value * rounding):
        same = mean_test(values)
        assert (same.mean, same.n, same.degenerate) == (pytest.approx(value), n, ALL_EQUAL)
        assert all(map(math.isnan, (same.low, same.high, same.t, same.p)))
        assert not same.tested


def test_what_rounding_leaves_of_equal_values_is_no_spread() -> None:
    values = [1e-14, -2e-14, 3e-15]
    assert math.isnan(mean_test(values, resolution=1e-9).p)
    assert mean_test(values, resolution=1e-9).mean == 0.0
    assert not math.isnan(mean_test(values).p)


def test_too_few_values_are_named() -> None:
    assert mean_test([]).degenerate == mean_test([NAN]).degenerate == NO_VALUES
    one = mean_test([3.0, NAN])
    assert (one.mean, one.n, one.df, one.degenerate) == (3.0, 1, 0, ONE_VALUE)
    assert math.isnan(one.low)
    assert math.isnan(one.p)


@pytest.mark.usefixtures("nothing_to_collect")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_that_of_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


@given(st.lists(st.one_of(st.floats(0, 1), st.just(NAN)), max_size=12))
def test_holm_by_its_definition_never_lowers_p_and_passes_over_missing_tests(
    p: list[float],
) -> None:
    found = holm(p)
    made = [each for each in p if not math.isnan(each)]
    for each, adjusted in zip(p, found, strict=True):
        if math.isnan(each):
            assert math.isnan(adjusted)
        else:
            below = sorted(made)[: sum(other <= each for other in made)]
            assert adjusted == pytest.approx(
                min(1.0, max((len(made) - j) * q for j, q in enumerate(below)))
            )
            assert adjusted >= each


@given(weights)
def test_normalised_entropy_is_that_of_scipy(counts: list[int]) -> None:
    assert normalised_entropy(counts, len(counts)) == pytest.approx(
        entropy(counts, base=len(counts)), abs=1e-12
    )


@given(weights)
def test_normalised_entropy_does_not_care_which_letter_is_which(counts: list[int]) -> None:
    turned = counts[::-1]
    assert normalised_entropy(turned, len(counts)) == pytest.approx(
        normalised_entropy(counts, len(counts))
    )


def test_normalised_entropy_needs_answers_and_two_options_and_tells_letters_beyond_them() -> None:
    found = normalised_entropy([[0, 0, 0], [5, 0, 0], [5, 5, 5]], [2, 1, 2])
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(math.log(3) / math.log(2))


@given(
    weights.flatmap(
        lambda p: st.tuples(
            st.just(p), st.lists(st.integers(0, 50), min_size=len(p), max_size=len(p))
        )
    )
)
def test_the_ordered_distance_is_that_of_scipy_over_places(
    pair: tuple[list[int], list[int]],
) -> None:
    p, q = pair
    if not any(q):
        assert np.isnan(ordered_wasserstein(p, q))
        return
    places = list(range(len(p)))
    wanted = wasserstein_distance(places, places, p, q) / (len(p) - 1)
    assert ordered_wasserstein(p, q) == pytest.approx(wanted, abs=1e-12)
    assert ordered_wasserstein(q, p) == pytest.approx(ordered_wasserstein(p, q), abs=1e-12)
    assert ordered_wasserstein(p[::-1], q[::-1]) == pytest.approx(
        ordered_wasserstein(p, q), abs=1e-12
    )
