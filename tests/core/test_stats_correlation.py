"""Pearson's correlation: against scipy, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from workbench.stats.describe import ON_A_LINE, pearson

NAN = float("nan")


def test_by_hand() -> None:
    """x - mean = (-1, 0, 1), y - mean = (-1, 1, 0) - 0: r = 1 / 2, t = 0.5 / root(0.75) = 0.577
    with one degree.
    """
    found = pearson([1, 2, 3], [1, 3, 2])
    assert (found.r, found.df, found.n) == (pytest.approx(0.5), 1, 3)
    assert found.t == pytest.approx(0.5 / math.sqrt(0.75))
    # T with one degree is Cauchy.
    assert found.p == pytest.approx(2 * (0.5 - math.atan(found.t) / math.pi))


@given(st.integers(0, 10_000), st.integers(3, 60), st.floats(-1, 1))
def test_it_is_what_scipy_says(seed: int, n: int, slope: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = slope * x + rng.normal(size=n)
    found, expected = pearson(x, y), pearsonr(x, y)
    assert found.r == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@given(st.integers(3, 30), st.floats(-50, 50).filter(lambda slope: abs(slope) > 1e-3))
def test_points_on_a_line_have_a_correlation_and_no_test(n: int, slope: float) -> None:
    x = np.arange(n)
    found = pearson(x, 0.1 + slope * x)
    assert (found.r, found.undefined, found.untested) == (math.copysign(1, slope), "", ON_A_LINE)
    assert all(map(math.isnan, (found.t, found.p)))


def test_pairs_with_a_missing_value_are_left_out() -> None:
    assert pearson([1, 2, 3, NAN, 9], [1, 3, 2, 5, NAN]) == pearson([1, 2, 3], [1, 3, 2])


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([], [], "fewer than 3 pairs of values"),
        ([1, 2], [1, 2], "fewer than 3 pairs of values"),
        ([1, 2, NAN], [1, 2, 3], "fewer than 3 pairs of values"),
        ([1, 1, 1], [1, 2, 3], "all values of one variable are equal"),
        ([1, 2, 3], [0, 0, 0], "all values of one variable are equal"),
        # But for rounding.
        (
            [1, 2, 3],
            [0.1 + 0.2, 0.3, 0.3],
            "all values of one variable are equal",
        ),
    ],
)
def test_where_there_is_none_it_says_why(x: list[float], y: list[float], why: str) -> None:
    found = pearson(x, y)
    assert found.undefined == why
    assert all(map(math.isnan, (found.r, found.t, found.p)))
