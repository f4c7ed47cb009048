"""McNemar, Cochran's Q, differences of shares and adjusted p values against statsmodels."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats.hypothesis_tests import (
    benjamini_hochberg,
    cochran_q,
    holm,
    mcnemar,
    paired_ends,
    unpaired_ends,
)

contingency = pytest.importorskip(
    "statsmodels.stats.contingency_tables", reason="statsmodels is the oracle"
)
multitest = pytest.importorskip("statsmodels.stats.multitest")
proportion = pytest.importorskip("statsmodels.stats.proportion")

few = st.integers(0, 40)


@given(few, few, few, few)
def test_mcnemars_p_is_that_of_statsmodels(
    both: int, first: int, second: int, neither: int
) -> None:
    found = mcnemar(first, second)
    if first + second == 0:
        assert math.isnan(found)
    else:
        oracle = contingency.mcnemar([[both, first], [second, neither]], exact=True)
        assert found == pytest.approx(oracle.pvalue)


def test_mcnemar_of_a_published_table() -> None:
    """Agresti, Categorical Data Analysis (1990), section 10.1: approval 150 + 86 of 1,600; p <
    0.001.
    """
    assert mcnemar(150, 86) == pytest.approx(0.0000372, abs=2e-6)


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=60))
def test_cochrans_q_is_that_of_statsmodels(rows: list[list[bool]]) -> None:
    table = np.array(rows, dtype=int)
    found = cochran_q(table)
    if not found.differ:
        assert math.isnan(found.q)
        return
    oracle = contingency.cochrans_q(table)
    assert (found.q, found.p, found.df) == pytest.approx(
        (oracle.statistic, oracle.pvalue, oracle.df)
    )


@given(few, st.integers(1, 60), few, st.integers(1, 60))
def test_the_unpaired_interval_is_newcombes(
    first: int, of_first: int, second: int, of_second: int
) -> None:
    first, second = min(first, of_first), min(second, of_second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        oracle = proportion.confint_proportions_2indep(
            second, of_second, first, of_first, method="newcomb"
        )
    assert unpaired_ends(first, of_first, second, of_second) == pytest.approx(oracle, abs=1e-6)


@given(few, few, few)
def test_the_paired_interval_holds_the_difference_and_turns_with_its_sides(
    lost: int, gained: int, same: int
) -> None:
    n = lost + gained + same
    low, high = paired_ends(lost, gained, n)
    if n == 0:
        assert math.isnan(low)
        return
    assert low - 1e-9 <= (gained - lost) / n <= high + 1e-9
    assert paired_ends(gained, lost, n) == pytest.approx((-high, -low))


def test_the_paired_interval_of_bonett_and_price() -> None:
    """By hand from Bonett and Price 2012, equation 4: f12 = 2, f21 = 10, n = 50: b' = 3/52, c' =
    11/52.
    """
    b, c = 3 / 52, 11 / 52
    reach = 1.959963984540054 * math.sqrt((b + c - (c - b) ** 2) / 52)
    assert paired_ends(2, 10, 50) == pytest.approx((c - b - reach, c - b + reach))


@pytest.mark.usefixtures("nothing_to_collect")
@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=12))
def test_adjusted_p_values_are_those_of_statsmodels(p: list[float]) -> None:
    made = [one for one in p if not math.isnan(one)]
    for adjust, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        found = adjust(p)
        assert np.isnan(found).tolist() == [math.isnan(one) for one in p]
        if made:
            assert found[~np.isnan(found)] == pytest.approx(
                multitest.multipletests(made, method=method)[1]
            )
