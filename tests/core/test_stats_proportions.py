"""The leaning of binary samples: exact bootstrap percentiles, reliability rules, Wilson's
interval.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UnknownName
from workbench.stats.proportions import is_reliable, leaning_interval, wilson_interval

samples = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("level", [0.95, 0.9, 0.5])
def test_the_interval_is_the_binomial_quantile_for_every_k_of_many_n(level: float) -> None:
    binom: Any = pytest.importorskip("scipy.stats").binom
    # Written out: (1 - 0.95) / 2 is not quite 0.025.
    tail = {0.95: 0.025, 0.9: 0.05, 0.5: 0.25}[level]
    for n in [*range(1, 61), 100, 333, 2000]:
        k = np.arange(1, n + 1)
        low, high = leaning_interval(k, n, level)
        np.testing.assert_array_equal(low, binom.ppf(tail, n, k / n) / n)
        np.testing.assert_array_equal(high, binom.ppf(1 - tail, n, k / n) / n)


def test_a_quantile_on_a_step_of_the_distribution_takes_the_smaller_value() -> None:
    # Binomial(2, 1/2): P(X <= 0) is exactly 1/4 and P(X <= 1) exactly 3/4.
    low, high = leaning_interval(1, 2, level=0.5)
    assert (float(low), float(high)) == (0.0, 0.5)


def test_a_seeded_monte_carlo_bootstrap_finds_the_same_percentiles() -> None:
    rng = np.random.default_rng(20240)
    low, high = leaning_interval(np.arange(31), 30)
    exact = 0
    for k in range(31):
        answers = np.arange(30) < k
        means = answers[rng.integers(30, size=(20_000, 30))].sum(axis=1)
        drawn = np.quantile(means, [0.025, 0.975], method="inverted_cdf")
        wanted = np.round([low[k] * 30, high[k] * 30])
        # A step of 1/30 where the distribution lies close to 2.5 %.
        assert np.all(np.abs(drawn - wanted) <= 1)
        exact += bool(np.all(drawn == wanted))
    assert exact >= 28


def test_of_30_samples_the_printed_rule_passes_0_to_8_and_22_to_30() -> None:
    # Ceron et al. 2024, section 5.4: 0.45 and 0.55 both outside the 95 % interval.
    assert np.flatnonzero(is_reliable(np.arange(31), 30)).tolist() == [*range(9), *range(22, 31)]


def test_of_30_samples_the_coded_rule_passes_0_to_11_and_22_to_30() -> None:
    # The authors' released code looks at 0.55 alone.
    assert np.flatnonzero(is_reliable(np.arange(31), 30, rule="coded")).tolist() == [
        *range(12),
        *range(22, 31),
    ]


def test_an_interval_between_the_two_bounds_has_no_clear_leaning() -> None:
    low, high = leaning_interval(2500, 5000)
    assert 0.45 < low < high < 0.55
    assert not is_reliable(2500, 5000)


def test_a_bound_on_the_edge_of_the_interval_is_not_outside_it() -> None:
    k = np.arange(21)
    low, high = leaning_interval(k, 20)
    touching = (low == 0.55) | (high == 0.45)
    assert touching.any()
    assert not is_reliable(k, 20)[touching].any()


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="'printed' or 'coded'"):
        is_reliable(1, 30, rule="strict")  # type: ignore[arg-type]


def test_no_answers_have_no_interval_and_are_not_reliable() -> None:
    for interval in (leaning_interval([0, 3], [0, 3]), wilson_interval([0, 3], [0, 3])):
        assert np.isnan(interval[0]).tolist() == [True, False]
        assert np.isnan(interval[1]).tolist() == [True, False]
    assert is_reliable([0, 3], [0, 3]).tolist() == [False, True]


def test_counts_broadcast_and_may_be_empty() -> None:
    low, high = leaning_interval(np.arange(4)[:, None], np.array([3, 30]))
    assert low.shape == high.shape == (4, 2)
    assert low[2, 1] == leaning_interval(2, 30)[0]
    assert leaning_interval([], 30)[0].shape == (0,)


@pytest.mark.parametrize("k", [31, -1])
def test_more_positives_than_answers_are_refused(k: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        leaning_interval([3, k], 30)


def test_shares_in_place_of_counts_are_refused() -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        leaning_interval([0.5], [30])


@given(samples)
def test_both_intervals_contain_the_share(sample: tuple[int, int]) -> None:
    k, n = sample
    for low, high in (leaning_interval(k, n), wilson_interval(k, n)):
        assert 0 <= low <= k / n <= high <= 1


@given(samples)
def test_swapping_the_answers_mirrors_the_intervals(sample: tuple[int, int]) -> None:
    k, n = sample
    for interval in (leaning_interval, wilson_interval):
        low, high = interval(k, n)
        mirrored_low, mirrored_high = interval(n - k, n)
        np.testing.assert_allclose([low, high], [1 - mirrored_high, 1 - mirrored_low], atol=1e-12)


def test_wilson_agrees_with_statsmodels() -> None:
    proportion: Any = pytest.importorskip("statsmodels.stats.proportion")
    k = np.arange(31)
    wanted = proportion.proportion_confint(k, np.full(31, 30), alpha=0.05, method="wilson")
    np.testing.assert_allclose(wilson_interval(k, 30), wanted, atol=1e-12)


def test_importing_and_using_proportions_leaves_scipy_alone() -> None:
    code = (
        "import sys; from workbench.stats.proportions import is_reliable, wilson_interval;"
        "is_reliable(8, 30); wilson_interval(8, 30); sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
