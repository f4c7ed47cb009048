"""Nothing that is computed from a number of answers takes memory or time that grows with its square.

The forms for many answers give the figures of the forms for few, which keep tables.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats import proportions
from workbench.stats.proportions import (
    ReliabilityRule,
    VerdictRule,
    is_reliable,
    is_settled,
    leaning_interval,
    least_more,
    mean_expected_share,
)

MIB = 2**20
MANY = 10**9


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_an_interval_by_bisection_is_the_one_of_the_table(level: float) -> None:
    n = np.concatenate([np.full(size + 1, size) for size in (*range(1, 61), 127, 200, 512)])
    k = np.concatenate([np.arange(size + 1) for size in (*range(1, 61), 127, 200, 512)])
    np.testing.assert_array_equal(proportions._computed(k, n, level), proportions._looked_up(k, n, level))


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
