"""The report on annotators' agreement: by hand, against other implementations, and by its
invariants.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.annotation.agreement import AgreementReport, agreement_report
from workbench.domain.annotations import Codebook, ItemLabels, LabelOption, LabelSubject
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName

LABELS = ("agree", "disagree", "neutral", "unrelated")


def codebook(*labels: str, ordinal: tuple[str, ...] = ()) -> Codebook:
    options = tuple(LabelOption(label, str(i), f"It is {label}.") for i, label in enumerate(labels))
    return Codebook(
        "stance", "Stance", "Which stance?", LabelSubject.RESPONSE, options, "Read it.", ordinal
    )


STANCE = codebook(*LABELS, ordinal=("disagree", "neutral", "agree"))

# ana and ben label everything but the fourth, cem three; the fifth has one label, the sixth none.
ITEMS = (
    ItemLabels(
        11,
        {"ana": "agree", "ben": "agree", "cem": "agree"},
        (("dimension", "economic"), ("statement", "s1")),
    ),
    ItemLabels(
        12, {"ana": "agree", "ben": "disagree", "cem": "agree"}, (("dimension", "economic"),)
    ),
    ItemLabels(
        13, {"ben": "neutral", "ana": "neutral"}, (("dimension", "cultural"), ("statement", "s1"))
    ),
    ItemLabels(14, {"ana": "unrelated", "cem": "neutral"}, (("dimension", "cultural"),)),
    ItemLabels(15, {"ben": "neutral"}, (("dimension", "cultural"),)),
    ItemLabels(16, {}, (("statement", "s2"),)),
)

label_rows = st.lists(
    st.dictionaries(st.sampled_from(["ana", "ben", "cem"]), st.sampled_from(LABELS)),
    min_size=1,
    max_size=12,
)


def drawn_items(
    seed: int, n: int = 80, missing: float = 0.2, annotators: str = "abc"
) -> tuple[ItemLabels, ...]:
    rng = np.random.default_rng(seed)
    items = []
    for number in range(n):
        truth = rng.integers(4)
        labels = {
            name: LABELS[truth if rng.random() < 0.75 else rng.integers(4)]
            for name in annotators
            if rng.random() >= missing
        }
        items.append(ItemLabels(number, labels, (("statement", f"s{number % 4}"),)))
    return tuple(items)


def codes(items: tuple[ItemLabels, ...], labels: tuple[str, ...] = LABELS) -> Any:
    """Return annotators x items as the oracles have it: NaN where there is none."""
    names = sorted({name for item in items for name in item.labels})
    place = {label: float(i) for i, label in enumerate(labels)}
    return np.array(
        [[place.get(item.labels.get(name, ""), np.nan) for item in items] for name in names]
    )


def quick(items: Any, book: Codebook = STANCE) -> AgreementReport:
    return agreement_report(items, book, resamples=20)


def same(first: Estimate, second: Estimate) -> bool:
    return (first.undefined, first.n, first.excluded) == (
        second.undefined,
        second.n,
        second.excluded,
    ) and (not first.defined or math.isclose(first.value, second.value, abs_tol=1e-9))


# By hand


def test_items_count_towards_agreement_with_two_labels_and_the_others_are_told() -> None:
    report = quick(ITEMS)
    assert report.annotators == ("ana", "ben", "cem")
    assert (report.items, report.labelled_once, report.unlabelled) == (4, 1, 1)
    assert (report.coefficients.percent.n, report.coefficients.percent.excluded) == (4, 2)
    # Agreeing pairs: 3 of 3, 1 of 3, 1 of 1, 0 of 1.
    assert report.coefficients.percent.value == pytest.approx(5 / 8)


def test_a_pair_rests_on_the_items_that_both_labelled_and_has_a_matrix_in_the_codebooks_order() -> (
    None
):
    report = quick(ITEMS)
    assert [(pair.first, pair.second) for pair in report.pairs] == [
        ("ana", "ben"),
        ("ana", "cem"),
        ("ben", "cem"),
    ]
    ana_ben = report.pairs[0]
    assert ana_ben.matrix == ((1, 1, 0, 0), (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0))
    # Together 11, 12, 13; ana alone 14, ben alone 15. p_o = 2/3, p_e = (2 * 1 + 0 + 1 * 1) / 9.
    assert (ana_ben.kappa.n, ana_ben.kappa.excluded) == (3, 2)
    assert ana_ben.percent.value == pytest.approx(2 / 3)
    assert ana_ben.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (2 / 3))
    # AC1: shares 3/6, 1/6, 2/6, 0 of four labels on offer: p_e = (9 + 5 + 8) / 36 / 3.
    assert ana_ben.ac1.value == pytest.approx((2 / 3 - 22 / 108) / (1 - 22 / 108))


def test_labels_have_the_times_they_were_used_and_their_own_agreement() -> None:
    found = {label.label: label for label in quick(ITEMS).per_label}
    assert list(found) == list(LABELS)
    assert [label.used for label in found.values()] == [5, 1, 4, 1]
    assert found["agree"].agreement.value == pytest.approx((6 + 2) / (6 + 4))
    assert found["neutral"].agreement.value == pytest.approx(2 / 3)
    assert found["disagree"].agreement.value == 0.0
    assert found["neutral"].agreement.n == 2


def test_a_label_that_nobody_used_says_so() -> None:
    label = quick(ITEMS[:1]).per_label[3]
    assert (label.used, label.agreement.undefined) == (
        0,
        "no unit with two ratings has this category",
    )


def test_items_show_their_labels_and_the_share_of_agreeing_pairs() -> None:
    found = quick(ITEMS).per_item
    assert [item.item for item in found] == [11, 12, 13, 14]
    assert [item.agreeing.value for item in found] == pytest.approx([1.0, 1 / 3, 1.0, 0.0])
    assert [item.agreeing.n for item in found] == [3, 3, 1, 1]
    assert found[2].labels == (("ana", "neutral"), ("ben", "neutral"))
    assert found[0].ac1.value == 1.0


def test_the_kappa_of_one_item_is_never_a_number_and_says_why() -> None:
    found = quick(ITEMS).per_item
    assert found[0].kappa.undefined == "all answers equal"
    assert "only one item" in found[1].kappa.undefined
    assert math.isnan(found[1].kappa.value)


def test_groups_have_their_own_coefficients_with_n() -> None:
    groups = {(group.kind, group.name): group for group in quick(ITEMS).groups}
    kinds = [kind for kind, _ in groups]
    assert kinds == ["dimension", "dimension", "statement", "statement"]
    economic, cultural = groups["dimension", "economic"], groups["dimension", "cultural"]
    assert economic.percent.value == pytest.approx(4 / 6)
    assert (economic.items, economic.percent.n) == (2, 2)
    assert (cultural.percent.value, cultural.percent.n, cultural.percent.excluded) == (0.5, 2, 1)
    assert groups["statement", "s1"].percent.value == 1.0
    assert groups["statement", "s2"].alpha.undefined == "no unit has two ratings"


def test_a_group_in_which_all_agree_on_one_label_has_ac1_and_no_alpha() -> None:
    items = [
        ItemLabels(i, {"ana": "agree", "ben": "agree"}, (("statement", "s1"),)) for i in range(5)
    ]
    (group,) = quick(items).groups
    assert (group.alpha.undefined, group.fleiss.undefined) == (
        "all answers equal",
        "all answers equal",
    )
    assert (group.ac1.value, group.percent.value) == (1.0, 1.0)


def test_an_annotator_who_always_presses_one_key_is_seen() -> None:
    items = [ItemLabels(i, {"ana": LABELS[i % 4], "ben": "neutral"}) for i in range(8)]
    ana, ben = quick(items).annotator_counts
    assert (ana.n, ana.labels) == (8, tuple((label, 2) for label in LABELS))
    assert ben.labels == (("agree", 0), ("disagree", 0), ("neutral", 8), ("unrelated", 0))
    assert (ana.favourite, ben.favourite) == (("agree", 0.25), ("neutral", 1.0))


def test_a_label_that_the_codebook_lacks_is_named_with_its_item_and_annotator() -> None:
    items = [*ITEMS, ItemLabels(17, {"ana": "maybe"})]
    with pytest.raises(
        UnknownName, match=r"'maybe'.*ana.*item 17.*agree, disagree, neutral, unrelated"
    ):
        quick(items)


@pytest.mark.parametrize("items", [(), (ItemLabels(1, {}),), (ItemLabels(1, {"ana": "agree"}),)])
def test_without_two_labels_on_an_item_nothing_is_defined_and_it_is_said(items: Any) -> None:
    report = quick(items)
    found = report.coefficients
    estimates = [found.percent, found.fleiss, found.alpha, found.alpha_ordinal, found.ac1]
    assert {estimate.undefined for estimate in estimates} == {"no unit has two ratings"}
    assert (report.items, report.pairs, report.per_item) == (0, (), ())


def test_two_annotators_without_a_common_item_have_no_pairs() -> None:
    report = quick([ItemLabels(1, {"ana": "agree"}), ItemLabels(2, {"ben": "agree"})])
    (pair,) = report.pairs
    assert (pair.kappa.undefined, pair.kappa.excluded) == ("no pairs", 2)
    assert np.sum(pair.matrix) == 0


def test_ordinal_alpha_rests_on_the_ordered_labels_alone() -> None:
    report = quick(ITEMS)
    # Item 14 has one ordered label beside `unrelated`; 15 and 16 have no pair anyway.
    assert (report.coefficients.alpha_ordinal.n, report.coefficients.alpha_ordinal.excluded) == (
        3,
        3,
    )
    without = quick(ITEMS, replace(STANCE, ordinal=()))
    assert without.coefficients.alpha_ordinal.undefined == "the codebook has no ordered labels"


def test_far_disagreements_lower_ordinal_alpha_more_than_near_ones() -> None:
    near = [
        ItemLabels(i, {"ana": a, "ben": b})
        for i, (a, b) in enumerate([("agree", "neutral"), ("agree", "agree")])
    ]
    far = [
        ItemLabels(i, {"ana": a, "ben": b})
        for i, (a, b) in enumerate([("agree", "disagree"), ("agree", "agree")])
    ]
    rest = [ItemLabels(9 + i, {"ana": label, "ben": label}) for i, label in enumerate(LABELS * 3)]
    ordinal = [quick([*items, *rest]).coefficients.alpha_ordinal.value for items in (near, far)]
    nominal = [quick([*items, *rest]).coefficients.alpha.value for items in (near, far)]
    assert ordinal[0] > ordinal[1]
    assert nominal[0] == pytest.approx(nominal[1])


# Against other implementations


@pytest.mark.parametrize("seed", range(3))
def test_alpha_agrees_with_another_implementation(seed: int) -> None:
    oracle: Any = pytest.importorskip("krippendorff")
    items = drawn_items(seed)
    found = quick(items).coefficients
    assert found.alpha.value == pytest.approx(
        oracle.alpha(codes(items), level_of_measurement="nominal")
    )
    ordered = codes(items, STANCE.ordinal)
    assert found.alpha_ordinal.value == pytest.approx(
        oracle.alpha(ordered, level_of_measurement="ordinal")
    )


@pytest.mark.parametrize("seed", range(3))
def test_fleiss_and_cohens_kappa_agree_with_statsmodels(seed: int) -> None:
    oracle: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    items = drawn_items(seed, missing=0.0)
    table = codes(items).astype(int)
    report = quick(items)
    counts, _ = oracle.aggregate_raters(table.T)
    assert report.coefficients.fleiss.value == pytest.approx(oracle.fleiss_kappa(counts))
    for pair, (a, b) in zip(report.pairs, combinations(table, 2), strict=True):
        wanted = oracle.cohens_kappa(np.array(pair.matrix), return_results=False)
        assert pair.kappa.value == pytest.approx(wanted)
        assert np.trace(pair.matrix) == np.count_nonzero(a == b)


# Seeds and invariants


def test_the_report_rests_on_the_seed() -> None:
    items = drawn_items(5)
    first, again, other = (
        agreement_report(items, STANCE, seed=seed, resamples=200) for seed in (1, 1, 2)
    )
    assert repr(first) == repr(again)
    assert first.coefficients.alpha.value == other.coefficients.alpha.value
    assert first.coefficients.alpha.low != other.coefficients.alpha.low
    assert (
        first.coefficients.alpha.low
        < first.coefficients.alpha.value
        < first.coefficients.alpha.high
    )


def test_a_pair_keeps_its_interval_when_another_annotator_joins() -> None:
    items = drawn_items(6, missing=0.0)
    of_two = [replace(item, labels={name: item.labels[name] for name in "ab"}) for item in items]
    assert quick(of_two).pairs[0] == quick(items).pairs[0]


@given(label_rows, st.permutations(LABELS))
@settings(max_examples=30)
def test_nominal_agreement_does_not_depend_on_the_names_of_labels(
    rows: list[dict[str, str]], renamed: list[str]
) -> None:
    names = dict(zip(LABELS, renamed, strict=True))
    others = [{who: names[label] for who, label in row.items()} for row in rows]
    first, second = (
        quick(tuple(ItemLabels(i, row) for i, row in enumerate(each))) for each in (rows, others)
    )
    for name in ("percent", "fleiss", "alpha", "ac1"):
        assert same(getattr(first.coefficients, name), getattr(second.coefficients, name)), name
    for one, two in zip(first.pairs, second.pairs, strict=True):
        assert same(one.kappa, two.kappa)
    by_name = {label.label: label.agreement for label in second.per_label}
    assert all(same(label.agreement, by_name[names[label.label]]) for label in first.per_label)


@given(label_rows)
@settings(max_examples=30)
def test_exchanging_two_annotators_turns_their_matrix_and_changes_nothing_else(
    rows: list[dict[str, str]],
) -> None:
    swap = {"ana": "ben", "ben": "ana", "cem": "cem"}
    items = [ItemLabels(i, row) for i, row in enumerate(rows)]
    swapped = [
        ItemLabels(i, {swap[name]: label for name, label in row.items()})
        for i, row in enumerate(rows)
    ]
    first, second = quick(items), quick(swapped)
    for name in ("percent", "fleiss", "alpha", "alpha_ordinal", "ac1"):
        assert same(getattr(first.coefficients, name), getattr(second.coefficients, name)), name
    pairs = [{(p.first, p.second): p for p in report.pairs} for report in (first, second)]
    if ("ana", "ben") in pairs[0]:
        one, two = (found["ana", "ben"] for found in pairs)
        assert same(one.kappa, two.kappa)
        assert np.array_equal(one.matrix, np.transpose(two.matrix))
