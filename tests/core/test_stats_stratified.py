"""The permutation test within strata: exact where it can be enumerated, no p value where nothing
varies.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench.stats.hypothesis_tests import heterogeneity


def test_the_p_value_is_that_of_all_tables_with_the_same_margins() -> None:
    table = np.array([[5, 1], [2, 6]])
    total, size, agree = 14, 6, 7
    ways = {k: math.comb(agree, k) * math.comb(total - agree, size - k) for k in range(size + 1)}

    def squared(k: int) -> float:
        found = np.array([[k, size - k], [agree - k, total - size - agree + k]])
        expected = np.outer(found.sum(1), found.sum(0)) / total
        return float(((found - expected) ** 2 / expected).sum())

    exact = sum(n for k, n in ways.items() if squared(k) >= squared(5) - 1e-9) / sum(ways.values())
    found = heterogeneity([table], np.random.default_rng(1), 40_000)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))
    assert (found.strata, found.answers) == (1, 14)
    assert found.statistic == pytest.approx(squared(5))


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ([], "there are no answers"),
        ([[[0, 0]]], "there are no answers"),
        ([[[3, 2]], [[1, 4]]], "there is one group only"),
        ([[[3, 2], [0, 0]], [[0, 0], [1, 4]]], "no prompt was answered in two groups"),
        (
            [[[3, 0], [2, 0]], [[0, 1], [0, 1]]],
            "of no prompt are some answers equal and others not",
        ),
        ([[[1, 1, 0], [0, 0, 1]]], "of no prompt are some answers equal and others not"),
    ],
)
def test_where_nothing_can_vary_there_is_no_test_and_the_reason_is_said(
    tables: list[object], why: str
) -> None:
    found = heterogeneity([np.array(table) for table in tables], np.random.default_rng(1), 50)
    assert found.undefined == why
    assert math.isnan(found.p)
    assert (found.strata, found.answers) == (0, 0)


@pytest.mark.e2e
def test_false_alarms_are_as_frequent_as_the_level_says() -> None:
    rng = np.random.default_rng(5)
    ps = []
    for _ in range(600):
        chances = rng.dirichlet([1, 1, 1], size=8)
        tables = [
            np.stack([rng.multinomial(int(rng.integers(1, 9)), p) for _ in range(2)])
            for p in chances
        ]
        found = heterogeneity(tables, rng, 199)
        if not found.undefined:
            ps.append(found.p)
    rate = np.mean(np.array(ps) <= 0.05)
    assert rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(ps))
    assert rate >= 0.05 - 4 * math.sqrt(0.05 * 0.95 / len(ps))


TABLES = st.lists(arrays(np.int64, (3, 4), elements=st.integers(0, 6)), min_size=1, max_size=5)


@settings(max_examples=40)
@given(TABLES, st.permutations(range(3)), st.permutations(range(4)))
def test_names_of_groups_and_answers_do_not_matter_to_the_statistic(
    tables: list[np.ndarray], groups: list[int], answers: list[int]
) -> None:
    first = heterogeneity(tables, np.random.default_rng(1), 30)
    renamed = heterogeneity(
        [table[groups][:, answers] for table in tables], np.random.default_rng(1), 30
    )
    assert first.undefined == renamed.undefined
    if not first.undefined:
        assert first.statistic == pytest.approx(renamed.statistic)
        assert 1 / 31 <= first.p <= 1
