"""Percentile intervals with undefined draws, named generators, resampled sums; mean and
deviation.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.stats import resampling
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import (
    bca_interval,
    derive_rng,
    percentile_interval,
    resampled_sums,
    resampled_together,
)


def test_a_named_generator_does_not_depend_on_what_was_drawn_before() -> None:
    alone = derive_rng(1, "kappa", "nl_2").random(3)
    derive_rng(1, "alpha").random(100)
    np.testing.assert_array_equal(derive_rng(1, "kappa", "nl_2").random(3), alone)


@pytest.mark.parametrize(
    ("seed", "names"),
    [(2, ("ab", "c")), (1, ("a", "bc")), (1, ("abc",)), (1, ("ab", "c", "")), (1, ("c", "ab"))],
)
def test_another_seed_or_other_names_give_another_generator(
    seed: int, names: tuple[str, ...]
) -> None:
    assert derive_rng(seed, *names).random() != derive_rng(1, "ab", "c").random()


def test_a_named_generator_is_the_same_on_every_machine() -> None:
    # Fixed once, so that a stored interval can be recomputed: a change here changes every published
    # interval.
    assert derive_rng(7, "kappa", 3).integers(1_000_000, size=3).tolist() == [
        635261,
        697428,
        152999,
    ]


def test_the_interval_is_the_quantile_of_the_defined_draws() -> None:
    draws = np.random.default_rng(3).normal(size=(5, 4, 101))
    draws[draws > 1] = np.nan
    low, high = percentile_interval(draws, level=0.9)
    np.testing.assert_allclose(low, np.nanquantile(draws, 0.05, axis=-1))
    np.testing.assert_allclose(high, np.nanquantile(draws, 0.95, axis=-1))


def test_there_is_no_interval_when_more_than_half_of_the_draws_are_undefined() -> None:
    low, high = percentile_interval([[1.0, 2.0, np.nan, np.nan], [1.0, np.nan, np.nan, np.nan]])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True]


def test_no_draws_have_no_interval() -> None:
    assert np.isnan(percentile_interval(np.empty((2, 0)))).all()
    assert np.isnan(percentile_interval([np.nan, np.nan], minimum_defined=0)).all()


def test_resampled_sums_are_sums_of_as_many_units_drawn_with_replacement() -> None:
    features = np.column_stack([np.ones(10), np.arange(10)])
    sums = resampled_sums(features, 4000, np.random.default_rng(1))
    assert sums.shape == (4000, 2)
    assert np.all(sums[:, 0] == 10)
    assert sums[:, 1].mean() == pytest.approx(45, abs=0.7)  # standard error 0.14
    assert sums[:, 1].std() == pytest.approx(math.sqrt(82.5), rel=0.05)


def test_units_that_are_counted_in_portions_and_features_that_share_draws_have_the_same_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    features = np.random.default_rng(1).normal(size=(7, 3))
    alone = resampled_sums(features, 40, np.random.default_rng(2))
    drawn = np.random.default_rng(2).integers(7, size=(40, 7))
    np.testing.assert_allclose(alone, features[drawn].sum(axis=1), rtol=1e-12)
    monkeypatch.setattr(resampling, "COUNTED_AT_ONCE", 20)
    both = resampled_together([features, features[:, :1] * 2], 40, np.random.default_rng(2))
    np.testing.assert_array_equal(both[0], alone)
    np.testing.assert_allclose(both[1], 2 * alone[:, :1], rtol=1e-12)


def test_resampling_in_portions_fills_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "CELLS_AT_ONCE", 25)
    sums = resampled_sums(np.ones((10, 1)), 7, np.random.default_rng(1))
    assert sums.tolist() == [[10.0]] * 7


def test_the_sample_and_the_population_deviation_differ_by_their_divisor() -> None:
    values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]  # squared deviations add up to 32
    assert mean_sd(values).sd == pytest.approx(math.sqrt(32 / 7))
    assert mean_sd(values, ddof=0).sd == pytest.approx(2.0)
    assert mean_sd(values).mean == 5.0


def test_undefined_values_are_left_out_and_counted() -> None:
    found = mean_sd([1.0, math.nan, 3.0])
    assert (found.mean, found.n, found.excluded) == (2.0, 2, 1)


def test_nothing_has_no_mean_and_one_value_no_deviation() -> None:
    assert math.isnan(mean_sd([]).mean)
    assert math.isnan(mean_sd([1.0]).sd)
    assert mean_sd([1.0], ddof=0).sd == 0.0


def test_an_interval_of_no_width_is_none() -> None:
    draws = np.r_[np.ones(399), 0.5]
    assert np.isnan(bca_interval(draws, 1.0, np.ones(19))).all(), "nearly all resamples are alike"
