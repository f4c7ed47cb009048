"""Nothing that is computed from a number of answers takes memory or time that grows with its
square.

The forms for many answers give the figures of the forms for few, which keep tables.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats import agreement, proportions
from workbench.stats.hypothesis_tests import heterogeneity
from workbench.stats.proportions import (
    ReliabilityRule,
    VerdictRule,
    is_reliable,
    is_settled,
    leaning_interval,
    least_more,
    mean_expected_share,
)
from workbench.stats.samples import _drawn_of_many, drawn, hypergeometric

MIB = 2**20
MANY = 10**9


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_an_interval_by_bisection_is_the_one_of_the_table(level: float) -> None:
    n = np.concatenate([np.full(size + 1, size) for size in (*range(1, 61), 127, 200, 512)])
    k = np.concatenate([np.arange(size + 1) for size in (*range(1, 61), 127, 200, 512)])
    np.testing.assert_array_equal(
        proportions._computed(k, n, level), proportions._looked_up(k, n, level)
    )


@st.composite
def states(draw: st.DrawFn) -> tuple[VerdictRule, int, int, int]:
    """Return a rule with some answers that are fewer than planned."""
    samples = draw(st.integers(1, 120))
    name: ReliabilityRule = draw(st.sampled_from(["printed", "coded"]))
    low, high = draw(st.sampled_from([(0.45, 0.55), (0.4, 0.6), (0.5, 0.5)]))
    rule = VerdictRule(samples, draw(st.integers(0, samples)), name, low, high)
    total = draw(st.integers(0, samples))
    agree = draw(st.integers(0, total))
    disagree = draw(st.integers(0, total - agree))
    return rule, agree, disagree, total - agree - disagree


@given(states())
def test_a_prompt_is_settled_without_a_table_as_with_one(
    state: tuple[VerdictRule, int, int, int],
) -> None:
    rule, agree, disagree, unreadable = state
    with_table = bool(is_settled(agree, disagree, unreadable, rule))
    fewest = least_more(agree, disagree, unreadable, rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proportions, "MOST_STOPPED", 0)
        assert bool(is_settled(agree, disagree, unreadable, rule)) == with_table
        bound = least_more(agree, disagree, unreadable, rule)
    assert bound <= fewest, "never one answer too many"
    assert (bound > 0) == (fewest > 0)


def test_a_thousand_million_answers_take_no_more_memory_than_a_thousand() -> None:
    tracemalloc.start()
    low, high = leaning_interval([MANY // 2, MANY, 600], [MANY, MANY, 1000])
    clear = is_reliable([MANY // 2, 6 * MANY // 10], MANY)
    rule = VerdictRule(6_000, 4_000)
    settled = is_settled([4_000, 3_310, 3_000], [0, 0, 1_000], 0, rule)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(low, [0.49997, 1, 0.57], atol=1e-5)
    np.testing.assert_allclose(high, [0.50003, 1, 0.63], atol=1e-5)
    assert clear.tolist() == [False, True]
    assert settled.tolist() == [True, False, False]
    assert least_more(0, 0, 0, rule) == 2_001
    assert np.isnan(mean_expected_share([(4_000, 0, 0)], rule))
    assert most < 20 * MIB


def test_the_ways_to_part_many_answers_are_those_that_are_counted() -> None:
    rng = np.random.default_rng(1)
    for agree, n, m in [(7, 10, 10), (40, 300, 200), (999, 500, 700), (0, 30, 40), (70, 30, 40)]:
        exact = agreement._by_draws(agree, n, m)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(agreement, "MOST_COUNTED", 0)
            likely = agreement._by_draws(agree, n, m)
            sums = agreement._summed_draws(*likely[:2], 50, rng)
        assert likely[0] @ likely[1] == pytest.approx(exact[0] @ exact[1], rel=1e-9, abs=1e-12)
        assert likely[0] @ (likely[2] > 0) == pytest.approx(
            exact[0] @ (exact[2] > 0), rel=1e-9, abs=1e-12
        )
        error = 5 * np.sqrt(50 * (exact[0] @ exact[1] ** 2) / 1000) + 1e-9
        assert sums.mean() == pytest.approx(50 * (exact[0] @ exact[1]), abs=error)


def test_two_occasions_of_a_hundred_million_answers_are_compared_in_little_memory() -> None:
    first = np.array([[n * 10**6, (100 - n) * 10**6] for n in (60, 20, 90)])
    tracemalloc.start()
    found = agreement.retest(first, first[::-1], [0, 1, 2], np.random.default_rng(1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.change.value == pytest.approx((0.3 + 0 + 0.3) / 3)
    assert found.change_by_noise == pytest.approx(4.3e-5, rel=0.2)
    assert found.p < 0.01
    assert most < 100 * MIB


@pytest.mark.parametrize(
    ("good", "bad", "n"),
    [
        (10**9, 10**9, 10**6 * 5),
        (2 * 10**9, 10, 10**9),
        (10, 2 * 10**9, 10**9),
        (10**9, 10**9, 7),
        (10**9, 10**9, 2 * 10**9),
        (10**9, 10**9, 0),
    ],
)
def test_hypergeometric_numbers_of_many_answers_have_their_mean_and_spread(
    good: int, bad: int, n: int
) -> None:
    found = hypergeometric(np.full(4000, good), bad, n, np.random.default_rng(2))
    mean = n * good / (good + bad)
    spread = np.sqrt(mean * (1 - n / (good + bad)) * bad / (good + bad - 1))
    assert max(0, n - bad) <= found.min() <= found.max() <= min(good, n)
    assert found.mean() == pytest.approx(mean, abs=5 * spread / np.sqrt(4000) + 1e-9)
    assert found.std() == pytest.approx(spread, rel=0.1, abs=1e-9)


def test_few_answers_are_drawn_of_two_thousand_million() -> None:
    found = drawn([10**9, 10**9, 0, 1], 2000, np.random.default_rng(3))
    assert len(found) == 2000
    assert np.bincount(found, minlength=4)[:3] == pytest.approx([1000, 1000, 0], abs=150)
    assert sorted(_drawn_of_many(np.array([1, 2, 1]), 4, np.random.default_rng(3)).tolist()) == [
        0,
        1,
        1,
        2,
    ]


def test_groups_of_a_thousand_million_answers_are_compared() -> None:
    table = np.array([[10**9, 10**9], [10**9, 10**9 - 10**6]])
    found = heterogeneity([table], np.random.default_rng(4), 200)
    assert found.p < 0.05
    same = heterogeneity(
        [np.array([[10**9, 10**9], [10**9, 10**9]])], np.random.default_rng(4), 200
    )
    assert same.p > 0.5
