"""The control sample of answers: how many are drawn of each stratum, each with its probability, and the rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats.proportions import wilson_interval
from workbench.stats.samples import LEAST, Stratum, allocated, drawn, misread_rate


@given(st.lists(st.integers(1, 200), min_size=1, max_size=3), st.integers(2, 300))
def test_as_many_are_drawn_as_there_are_and_strata_alike(sizes: list[int], n: int) -> None:
    found = allocated(sizes, n)
    assert all(0 <= m <= size for m, size in zip(found, sizes, strict=True))
    assert sum(found) == min(n, sum(sizes))
    short = [m for m, size in zip(found, sizes, strict=True) if m < size]
    assert max(short, default=0) - min(short, default=0) <= 1


def test_every_answer_is_drawn_with_the_same_probability_however_its_text_repeats() -> None:
    counts, rng = np.array([30, 29, 1, 10]), np.random.default_rng(7)
    times = np.zeros(4)
    for _ in range(4000):
        times += np.bincount(drawn(counts, 20, rng), minlength=4)
    expected = 4000 * 20 * counts / counts.sum()
    assert np.abs(times - expected).max() < 4 * np.sqrt(expected.max())
    assert sorted(drawn(counts, 70, rng)) == sorted(np.repeat(np.arange(4), counts))


@given(st.integers(0, 60), st.integers(LEAST, 60))
def test_one_stratum_has_wilsons_interval(k: int, n: int) -> None:
    k = min(k, n)
    found = misread_rate([Stratum(10_000, n, k), Stratum(0, 0, 0)])
    low, high = wilson_interval(k, n)
    assert (found.value, found.low, found.high) == pytest.approx((k / n, float(low), float(high)))


def test_a_rate_weights_strata_and_says_where_there_is_none() -> None:
    found = misread_rate([Stratum(900, 30, 0), Stratum(100, 30, 15)])
    assert found.value == pytest.approx(0.05)
    assert found.low < 0.05 < found.high
    few = misread_rate([Stratum(900, 5, 0), Stratum(100, 5, 1)])
    assert few.value == pytest.approx(0.02)
    assert math.isnan(few.low)
    assert "too few" in few.few
    assert "decided" in misread_rate([Stratum(900, 30, 0), Stratum(100, 0, 0)]).undefined
