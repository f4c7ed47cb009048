"""Agreement coefficients against other implementations, by hand, and by their invariants."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.stats import contingency
from workbench.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac1_raters,
    kappa_2x2,
    krippendorff_alpha,
    observed_agreement,
    pairs_estimates,
    percent_agreement,
    retest,
    specific_agreement,
)
from workbench.stats.resampling import bca_interval
from workbench.stats.units import MISSING

# Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: 12 units, 4 observers,
# gaps (0 here).
GAPS = np.array(
    [
        [1, 1, 0, 1],
        [2, 2, 3, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [2, 2, 2, 2],
        [1, 2, 3, 4],
        [4, 4, 4, 4],
        [1, 1, 2, 1],
        [2, 2, 2, 2],
        [0, 5, 5, 5],
        [0, 0, 1, 1],
        [0, 0, 3, 0],
    ]
)
TWELVE_UNITS = np.where(GAPS == 0, MISSING, GAPS)

pairs = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=40)
binary_tables = st.lists(st.integers(0, 40), min_size=4, max_size=4).map(
    lambda cells: np.reshape(cells, (2, 2))
)
rating_rows = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([MISSING, 1, 2, 3]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=15,
    )
)


def drawn_ratings(
    seed: int, units: int, raters: int, missing: float
) -> np.ndarray[Any, np.dtype[np.int64]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, size=(units, 1))
    ratings = np.clip(truth + rng.integers(-1, 2, size=(units, raters)), 1, 5)
    return np.where(rng.random((units, raters)) < missing, MISSING, ratings)


def same(first: Estimate, second: Estimate) -> bool:
    return first.undefined == second.undefined and (
        math.isclose(first.value, second.value, abs_tol=1e-9) or not first.defined
    )


# Two raters


@pytest.mark.parametrize("seed", range(5))
def test_kappa_agrees_with_statsmodels(seed: int) -> None:
    oracle: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    a, b = drawn_ratings(seed, 60, 2, 0.0).T
    table, _ = oracle.to_table(np.column_stack([a, b]))
    assert cohen_kappa(a, b).value == pytest.approx(
        oracle.cohens_kappa(table, return_results=False)
    )


def test_28_equal_answers_of_30_can_have_kappa_below_zero_beside_a_high_ac1() -> None:
    # p_o = 28/30; one disagreement each way: p_e = (29² + 1)/900, and 2 * 29/900 for AC1.
    a, b = [1] * 28 + [0, 1], [1] * 28 + [1, 0]
    assert observed_agreement(a, b).value == pytest.approx(28 / 30)
    assert cohen_kappa(a, b).value == pytest.approx(-1 / 29)
    assert gwet_ac1(a, b).value == pytest.approx((28 / 30 - 58 / 900) / (1 - 58 / 900))


def test_kappa_is_named_undefined_when_all_answers_are_equal() -> None:
    found = cohen_kappa([1, 1, 1], [1, 1, 1], np.random.default_rng(0))
    assert (found.undefined, found.n) == ("all answers equal", 3)
    assert all(math.isnan(number) for number in (found.value, found.low, found.high))


def test_kappa_is_zero_and_defined_when_one_rater_alone_is_constant() -> None:
    assert cohen_kappa([1, 1, 1, 1], [1, 0, 1, 1]).value == 0.0
    assert cohen_kappa([1, 1, 1, 1], [1, 0, 1, 1]).defined


def test_two_raters_who_constantly_differ_have_kappa_zero() -> None:
    assert cohen_kappa([1, 1, 1], [0, 0, 0]).value == 0.0


@pytest.mark.parametrize("coefficient", [cohen_kappa, observed_agreement, gwet_ac1])
def test_a_pair_with_a_missing_side_is_excluded_and_counted(coefficient: Any) -> None:
    found = coefficient([1, 0, 1, MISSING, MISSING], [1, 0, MISSING, 0, MISSING])
    assert (found.value, found.n, found.excluded) == (1.0, 2, 3)


@pytest.mark.parametrize("coefficient", [cohen_kappa, observed_agreement, gwet_ac1])
def test_without_a_complete_pair_nothing_is_defined(coefficient: Any) -> None:
    found = coefficient([1, MISSING], [MISSING, 0], np.random.default_rng(0))
    assert (found.undefined, found.n, found.excluded) == ("no pairs", 0, 2)
    assert math.isnan(found.value)
    assert coefficient([], []).undefined == "no pairs"


def test_a_stance_coded_minus_one_is_an_answer() -> None:
    assert cohen_kappa([1, -1, 1, -1], [1, -1, 1, -1]).n == 4


def test_ac1_exists_when_all_answers_are_equal() -> None:
    assert gwet_ac1([1, 1], [1, 1]).value == 1.0


def test_ac1_counts_the_categories_on_offer() -> None:
    # p_o = 1/2, shares 3/4 and 1/4: p_e = 3/8 with two categories, 3/8/2 with three.
    assert gwet_ac1([1, 1], [1, 2]).value == pytest.approx((1 / 2 - 3 / 8) / (5 / 8))
    assert gwet_ac1([1, 1], [1, 2], categories=3).value == pytest.approx(
        (1 / 2 - 3 / 16) / (13 / 16)
    )


def test_raters_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="equal length"):
        cohen_kappa([1, 2], [1])


def test_categories_that_are_not_whole_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        cohen_kappa([1.0, float("nan")], [1.0, 2.0])


@given(pairs)
def test_two_rater_coefficients_are_symmetric_and_bounded(answers: list[tuple[int, int]]) -> None:
    a, b = zip(*answers, strict=True)
    for coefficient in (cohen_kappa, observed_agreement, gwet_ac1):
        found = coefficient(a, b)
        assert same(found, coefficient(b, a))
        assert not found.defined or -1 <= found.value <= 1 + 1e-12


@given(pairs, st.permutations([-1, 0, 1, 2]))
def test_relabelling_both_raters_leaves_kappa(
    answers: list[tuple[int, int]], labels: list[int]
) -> None:
    a, b = np.array(answers).T
    renamed = np.array(labels)
    assert same(cohen_kappa(a, b), cohen_kappa(renamed[a + 1], renamed[b + 1]))


@given(st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda b: len(b) % 2 == 0))
def test_flipping_one_rater_negates_kappa_when_the_other_is_balanced(answers: list[bool]) -> None:
    balanced = np.arange(len(answers)) % 2
    flipped = [not answer for answer in answers]
    assert cohen_kappa(balanced, flipped).value == pytest.approx(
        -cohen_kappa(balanced, answers).value, abs=1e-12
    )


# Many 2 x 2 tables


@given(binary_tables)
def test_a_table_gives_what_its_pairs_give(table: Any) -> None:
    a, b = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], table.ravel(), axis=0).T
    for of_table, of_pairs in (
        (kappa_2x2, cohen_kappa),
        (contingency.observed_agreement, observed_agreement),
        (contingency.gwet_ac1, gwet_ac1),
    ):
        np.testing.assert_allclose(of_table(table), of_pairs(a, b).value)


def test_stacked_tables_keep_their_leading_shape() -> None:
    tables = np.ones((3, 5, 2, 2), dtype=int)
    assert kappa_2x2(tables).shape == (3, 5)
    with pytest.raises(ValueError, match="2, 2"):
        kappa_2x2(np.ones((2, 2, 3), dtype=int))


def test_items_without_a_value_say_why() -> None:
    tables = [[[3, 1], [1, 3]], [[8, 0], [0, 0]], [[0, 0], [0, 0]]]
    found = pairs_estimates([[table] for table in tables])
    estimates = [found.estimate(item, excluded=item) for item in range(3)]
    assert [estimate.undefined for estimate in estimates] == ["", "all answers equal", "no pairs"]
    assert [estimate.n for estimate in estimates] == [8, 8, 0]
    assert [estimate.excluded for estimate in estimates] == [0, 1, 2]
    assert all(math.isnan(estimate.low) for estimate in estimates), "no interval of κ"


def one_by_one(value: Any, rows: Any, rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of a coefficient that is computed anew from the rows of each resample."""
    n = len(rows)
    draws = np.array([value(rows[rng.integers(n, size=n)]) for _ in range(2000)])
    return bca_interval(
        draws, value(rows), np.array([value(np.delete(rows, row, axis=0)) for row in range(n)])
    )


@pytest.mark.parametrize("coefficient", ["kappa", "observed", "ac1"])
def test_the_interval_is_that_of_resampled_pairs(
    coefficient: Literal["kappa", "observed", "ac1"],
) -> None:
    table = np.array([[20, 5], [10, 15]])
    of_pairs: Any = {"kappa": cohen_kappa, "observed": observed_agreement, "ac1": gwet_ac1}[
        coefficient
    ]
    answers = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], table.ravel(), axis=0)
    rng = np.random.default_rng(5)
    found = of_pairs(*answers.T, np.random.default_rng(6), 4000)
    expected = one_by_one(lambda rows: of_pairs(*rows.T).value, answers, rng)
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.04)
    assert found.low < found.value < found.high


def test_the_interval_rests_on_the_seed_alone() -> None:
    a, b = drawn_ratings(1, 40, 2, 0.1).T
    first = cohen_kappa(a, b, np.random.default_rng(9))
    assert first == cohen_kappa(a, b, np.random.default_rng(9))
    assert first.low < first.value < first.high
    assert math.isnan(cohen_kappa(a, b).low)


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=7))
def test_intervals_over_clusters_are_by_their_definition(cells: list[list[int]]) -> None:
    tables = np.array(cells).reshape(1, -1, 2, 2)
    found = pairs_estimates(tables, "observed").estimate(0)
    held = [table for table in tables[0] if table.sum()]
    without = (
        [float(contingency.observed_agreement(sum(held) - table)) for table in held]
        if len(held) > 1
        else []
    )
    if found.undefined or found.value == 1 or len(set(np.round(without, 12))) < 2:
        assert math.isnan(found.low) or found.high - found.low < 1e-6
        return
    error = math.sqrt((len(held) - 1) * np.var(without))
    reach = float(student.ppf(0.975, len(held) - 1)) * error / (1 - found.value)
    assert found.high == pytest.approx(1 - (1 - found.value) * math.exp(-reach))
    assert found.low == pytest.approx(max(0, 1 - (1 - found.value) * math.exp(min(reach, 700))))


def test_an_unknown_coefficient_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="kappa, observed, ac1"):
        pairs_estimates([[[[1, 0], [0, 1]]]], coefficient="pi")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="nominal or ordinal"):
        krippendorff_alpha([[1, 2]], level="ratio")  # type: ignore[arg-type]


def test_no_items_give_no_estimates() -> None:
    assert pairs_estimates(np.empty((0, 3, 2, 2), dtype=int)).value.shape == (0,)


# Any number of raters


def test_krippendorffs_own_example_is_reproduced() -> None:
    # Krippendorff 2011, sections C and D: nominal 0.743, ordinal 0.815; unit 12 has one rating.
    nominal, ordinal = (krippendorff_alpha(TWELVE_UNITS, level) for level in ("nominal", "ordinal"))
    assert round(nominal.value, 3) == 0.743
    assert round(ordinal.value, 3) == 0.815
    assert (nominal.n, nominal.excluded) == (11, 1)


def test_fleiss_with_unequal_raters_follows_gwet() -> None:
    # The same data in Gwet's irrCAC 0.4.4: percent agreement 0.81818, Fleiss' kappa 0.76117, chance
    # 0.23872.
    found = fleiss_kappa(TWELVE_UNITS)
    assert found.value == pytest.approx(0.76117, abs=5e-6)
    assert (found.n, found.excluded) == (11, 1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_agrees_with_another_implementation(
    level: Literal["nominal", "ordinal"], seed: int
) -> None:
    oracle: Any = pytest.importorskip("krippendorff")
    ratings = drawn_ratings(seed, 40, 4, 0.3)
    table = np.where(ratings == MISSING, np.nan, ratings).T
    wanted = oracle.alpha(reliability_data=table, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level).value == pytest.approx(wanted)


@pytest.mark.parametrize("raters", [2, 5])
def test_fleiss_with_equal_raters_agrees_with_statsmodels(raters: int) -> None:
    oracle: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    ratings = drawn_ratings(4, 50, raters, 0.0)
    counts, _ = oracle.aggregate_raters(ratings)
    assert fleiss_kappa(ratings).value == pytest.approx(oracle.fleiss_kappa(counts))


def test_percent_agreement_pools_pairs() -> None:
    # 6 of 6 pairs agree in the first unit, 0 of 1 in the second; the third has none.
    found = percent_agreement(
        [[1, 1, 1, 1], [1, 2, MISSING, MISSING], [1, MISSING, MISSING, MISSING]]
    )
    assert found.value == pytest.approx(6 / 7)
    assert (found.n, found.excluded) == (2, 1)


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, fleiss_kappa])
@pytest.mark.parametrize("raters", [2, 3])
def test_chance_corrected_coefficients_are_undefined_when_all_answers_are_equal(
    coefficient: Any, raters: int
) -> None:
    found = coefficient(np.full((7, raters), 4), rng=np.random.default_rng(0))
    assert (found.undefined, found.n) == ("all answers equal", 7)
    assert math.isnan(found.value)
    assert percent_agreement(np.full((7, raters), 4)).value == 1.0


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, fleiss_kappa, percent_agreement])
@pytest.mark.parametrize("units", [0, 1, 3])
def test_units_with_one_rating_each_have_no_agreement(coefficient: Any, units: int) -> None:
    ratings = np.tile([1, MISSING], (units, 1))
    found = coefficient(ratings, rng=np.random.default_rng(0))
    assert (found.undefined, found.n, found.excluded) == ("no unit has two ratings", 0, units)


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, fleiss_kappa, percent_agreement])
def test_the_interval_over_units_is_that_of_resampled_units(coefficient: Any) -> None:
    ratings = drawn_ratings(2, 40, 3, 0.2)
    rng = np.random.default_rng(5)
    found = coefficient(ratings, rng=np.random.default_rng(6), resamples=4000)
    expected = one_by_one(lambda rows: coefficient(rows).value, ratings, rng)
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.03)
    assert found == coefficient(ratings, rng=np.random.default_rng(6), resamples=4000)


def test_the_ordinal_interval_uses_each_resamples_own_distances() -> None:
    ratings = drawn_ratings(3, 40, 3, 0.0)
    rng = np.random.default_rng(5)
    found = krippendorff_alpha(ratings, "ordinal", np.random.default_rng(6), 4000)
    expected = one_by_one(lambda rows: krippendorff_alpha(rows, "ordinal").value, ratings, rng)
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.03)


@given(rating_rows, st.permutations([1, 2, 3]))
def test_nominal_coefficients_do_not_depend_on_the_labels(
    rows: list[list[int]], labels: list[int]
) -> None:
    renamed = {MISSING: MISSING, 1: labels[0], 2: labels[1], 3: labels[2]}
    relabelled = [[renamed[code] for code in row] for row in rows]
    for coefficient in (krippendorff_alpha, fleiss_kappa, percent_agreement):
        assert same(coefficient(rows), coefficient(relabelled))


@pytest.mark.e2e
@given(rating_rows, st.randoms(use_true_random=False))
def test_coefficients_do_not_depend_on_the_order_of_raters_or_units(
    rows: list[list[int]], random: Any
) -> None:
    shuffled = [random.sample(row, len(row)) for row in random.sample(rows, len(rows))]
    for coefficient in (krippendorff_alpha, fleiss_kappa, percent_agreement):
        assert same(coefficient(rows), coefficient(shuffled))
    assert same(krippendorff_alpha(rows, "ordinal"), krippendorff_alpha(shuffled, "ordinal"))


@given(rating_rows)
def test_reversing_the_scale_leaves_ordinal_alpha(rows: list[list[int]]) -> None:
    reversed_rows = [[code if code == MISSING else 4 - code for code in row] for row in rows]
    assert same(krippendorff_alpha(rows, "ordinal"), krippendorff_alpha(reversed_rows, "ordinal"))


# AC1 of any number of raters, and agreement on one category


def test_ac1_with_unequal_raters_follows_gwet() -> None:
    # The twelve units in Gwet's irrCAC 0.4.4: AC1 0.77544, percent agreement 0.81818; five
    # categories occur.
    found = gwet_ac1_raters(TWELVE_UNITS)
    assert found.value == pytest.approx(0.77544, abs=5e-6)
    assert (found.n, found.excluded) == (11, 1)


@pytest.mark.parametrize("categories", [2, 7])
def test_ac1_of_raters_is_that_of_two_raters_where_there_are_two(categories: int) -> None:
    ratings = drawn_ratings(6, 40, 2, 0.0)
    a, b = ratings.T
    assert same(
        gwet_ac1_raters(ratings, categories=categories), gwet_ac1(a, b, categories=categories)
    )


def test_ac1_of_raters_exists_when_all_answers_are_equal_and_not_without_a_pair() -> None:
    assert gwet_ac1_raters(np.full((7, 3), 4)).value == 1.0
    assert gwet_ac1_raters([[1, MISSING], [MISSING, 2]]).undefined == "no unit has two ratings"
    assert gwet_ac1_raters(np.empty((0, 0), dtype=int)).undefined == "no unit has two ratings"


@given(rating_rows, st.permutations([1, 2, 3]))
def test_ac1_of_raters_depends_neither_on_labels_nor_on_the_order_of_raters(
    rows: list[list[int]], labels: list[int]
) -> None:
    renamed = {MISSING: MISSING, 1: labels[0], 2: labels[1], 3: labels[2]}
    changed = [[renamed[code] for code in reversed(row)] for row in reversed(rows)]
    assert same(gwet_ac1_raters(rows, categories=3), gwet_ac1_raters(changed, categories=3))


def test_specific_agreement_of_two_raters_is_positive_agreement() -> None:
    # Cicchetti and Feinstein 1990: 2a / (2a + b + c) from the table a = 40, b = 9, c = 6, d = 45.
    ratings = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [40, 9, 6, 45], axis=0)
    assert specific_agreement(ratings, 1).value == pytest.approx(80 / 95)
    assert specific_agreement(ratings, 0).value == pytest.approx(90 / 105)


def test_specific_agreement_counts_the_units_that_have_the_category() -> None:
    # 3 raters, all 1: 6 of 6 ordered pairs; one 1 of two: 0 of 1. The last unit has one rating.
    ratings = [[1, 1, 1], [1, 2, MISSING], [2, 2, MISSING], [1, MISSING, MISSING]]
    found = specific_agreement(ratings, 1)
    assert (found.value, found.n, found.excluded) == (6 / 7, 2, 1)


def test_specific_agreement_on_a_category_that_no_pair_has_is_named_undefined() -> None:
    never = specific_agreement([[1, 1], [2, MISSING]], 2, np.random.default_rng(0))
    assert (never.undefined, never.n, never.excluded) == (
        "no unit with two ratings has this category",
        0,
        1,
    )
    assert math.isnan(never.value)
    assert specific_agreement([[1, MISSING]], 1).undefined == "no unit has two ratings"


def test_percent_agreement_is_the_mean_of_specific_agreements_weighted_by_use() -> None:
    ratings = drawn_ratings(8, 50, 3, 0.0)
    weights = [np.count_nonzero(ratings == category) for category in range(1, 6)]
    values = [specific_agreement(ratings, category).value for category in range(1, 6)]
    assert np.average(values, weights=weights) == pytest.approx(percent_agreement(ratings).value)


@pytest.mark.parametrize(
    "coefficient", [gwet_ac1_raters, lambda r, **how: specific_agreement(r, 3, **how)]
)
def test_the_interval_of_ac1_and_specific_agreement_is_that_of_resampled_units(
    coefficient: Any,
) -> None:
    ratings = drawn_ratings(2, 40, 3, 0.2)
    rng = np.random.default_rng(5)
    found = coefficient(ratings, rng=np.random.default_rng(6), resamples=4000)
    expected = one_by_one(lambda rows: coefficient(rows).value, ratings, rng)
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.05)


def test_a_coefficient_that_corrects_for_chance_has_no_interval_where_nearly_all_answers_are_equal() -> (
    None
):
    a, b = np.ones((2, 40), dtype=np.int64)
    a[:5], b[1:5] = 0, 0
    found = cohen_kappa(a, b, np.random.default_rng(1))
    assert math.isnan(found.low)
    assert found.few.startswith("too few for an interval: 5 of 40")
    b[7] = 0
    enough = cohen_kappa(a, b, np.random.default_rng(1))
    assert (enough.few, enough.interval) == ("", "kappa over pairs")
    assert enough.low < enough.value < enough.high


@pytest.mark.parametrize(("n_items", "given"), [(11, False), (12, True)])
def test_a_chance_corrected_coefficient_of_few_items_has_no_interval(
    n_items: int, given: bool
) -> None:
    """However many people label each: of 6 items and 20 people, intervals covered 81 %."""
    labels = np.random.default_rng(1).integers(0, 3, (n_items, 20))
    for estimate in (
        krippendorff_alpha(labels, "nominal", np.random.default_rng(2)),
        krippendorff_alpha(labels, "ordinal", np.random.default_rng(2)),
        fleiss_kappa(labels, np.random.default_rng(2)),
    ):
        assert np.isfinite(estimate.low) == given
        assert estimate.few == ("" if given else "too few for an interval: 11 items; it takes 12")
    assert np.isfinite(percent_agreement(labels, np.random.default_rng(2)).low)


def test_agreement_on_everything_has_wilsons_interval() -> None:
    found = percent_agreement(np.ones((10, 2), dtype=np.int64), np.random.default_rng(1))
    assert (found.low, found.high) == pytest.approx((0.7225, 1.0), abs=1e-4)


def test_chance_agreement_of_one_pair_is_unknown() -> None:
    """Two raters who differ on their only item are no worse than chance: there is no telling."""
    assert cohen_kappa([1], [0]).undefined == "one pair alone"
    assert (
        krippendorff_alpha([[1, 0]]).undefined
        == fleiss_kappa([[1, 0]]).undefined
        == "one unit alone"
    )
    found = pairs_estimates([[[[0, 1], [0, 0]]], [[[1, 1], [0, 0]]]])
    assert (found.estimate(0).undefined, found.estimate(1).value) == ("one pair alone", 0.0)
    assert observed_agreement([1], [0]).value == 0.0, "a share is what it is"


def test_a_retest_of_what_has_not_changed_is_what_draws_alone_make() -> None:
    """Answers of one and the same model agree on 90 % of prompts and change by 14 points: that is
    no drift.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        share = (
            1 / (1 + np.exp(-rng.normal(0.3, 1.5, (20, 1)) - rng.normal(0, 0.7, (20, 12)))).ravel()
        )
        both = [np.column_stack([k, 10 - k]) for k in rng.binomial(10, share, (2, 240))]
        found.append(retest(*both, np.repeat(np.arange(20), 12), rng))
    same, change = (
        np.mean([getattr(one, name).value for one in found]) for name in ("same", "change")
    )
    assert same == pytest.approx(np.mean([one.same_by_noise for one in found]), abs=0.01)
    assert change == pytest.approx(np.mean([one.change_by_noise for one in found]), abs=0.003)
    assert (same < 0.92, change > 0.12) == (True, True)
    assert np.mean([one.p < 0.05 for one in found]) < 0.09


def test_a_retest_knows_ties_gaps_and_single_answers() -> None:
    rng = np.random.default_rng(0)
    found = retest(
        [[5, 5], [9, 1], [0, 0], [1, 9]], [[9, 1], [8, 2], [9, 1], [9, 1]], [0, 0, 1, 1], rng
    )
    assert (found.same.value, found.same.n, found.same.excluded) == (0.5, 2, 2)
    assert (found.change.n, found.change.excluded) == (3, 1)
    assert retest([[1, 0]] * 5, [[0, 1]] * 5, range(5), rng).p == 1, (
        "one answer each cannot be told from chance"
    )
    assert retest(np.zeros((0, 2)), np.zeros((0, 2)), [], rng).change.undefined
