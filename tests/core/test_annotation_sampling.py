"""Drawing texts to label: strata, seeds, shares, inclusion probabilities, and what another set has
already.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.annotation.sampling import (
    OfferedText,
    comparable_text,
    draw,
    draw_answers,
    inclusion,
    overlapping,
    systematic,
)
from workbench.classifier.dataset import normalised
from workbench.errors import UsageError


def offers(strata: int, each: int) -> list[OfferedText]:
    return [
        OfferedText(s * each + n, f"answer {s} {n}", f"st-{n % 5}", f"prefix {s}")
        for s in range(strata)
        for n in range(each)
    ]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_as_many_come_from_every_stratum_as_the_study_drew() -> None:
    """4 x 10 prefixes x 3 wordings x 11 models = 1,320 unique answers (Faulborn et al. 2025,
    section 3.4).
    """
    found = draw(offers(10 * 3 * 11, 6), 4, rng())
    assert len(found.picks) == 1320
    assert set(Counter(pick.stratum for pick in found.picks).values()) == {4}
    assert (found.strata, found.short) == (330, 0)
    assert len({pick.index for pick in found.picks}) == 1320


def test_the_same_seed_draws_the_same_and_another_seed_another() -> None:
    assert draw(offers(5, 9), 4, rng(7)) == draw(offers(5, 9), 4, rng(7))
    assert draw(offers(5, 9), 4, rng(7)) != draw(offers(5, 9), 4, rng(8))


def test_the_order_of_the_result_is_not_that_of_the_strata() -> None:
    strata = [pick.stratum for pick in draw(offers(8, 4), 4, rng()).picks]
    assert strata != sorted(strata)


def test_a_stratum_with_too_few_texts_gives_what_it_has_and_is_counted() -> None:
    found = draw([*offers(3, 2), OfferedText(6, "x", "st", "prefix 0")], 3, rng())
    assert (len(found.picks), found.short) == (7, 2)


def test_a_text_that_several_models_gave_is_drawn_once_however_it_is_spaced_or_accented() -> None:
    same = ["Café  yes.", "cafe\u0301 YES.", " café\nyes. "]
    found = draw(
        [OfferedText(n, text, "st", f"model {n}") for n, text in enumerate(same)], 2, rng()
    )
    assert len(found.picks) == 1
    assert found.short == 3


@given(st.text())
def test_sets_are_kept_apart_by_the_rule_that_training_checks(text: str) -> None:
    assert comparable_text(text) == normalised(text)
    assert comparable_text(unicodedata.normalize("NFD", text)) == comparable_text(
        unicodedata.normalize("NFC", text)
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"), st.sampled_from("12")),
        max_size=40,
    ),
    st.sets(st.sampled_from("abcdefgh")),
    st.sets(st.sampled_from("xyz")),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_nothing_is_drawn_that_another_set_has(
    rows: list[tuple[str, str, str]], texts: set[str], statements: set[str], each: int, seed: int
) -> None:
    given_ = [
        OfferedText(n, text.upper(), statement, stratum)
        for n, (text, statement, stratum) in enumerate(rows)
    ]
    found = draw(given_, each, rng(seed), taken_texts=texts, taken_statements=statements)
    chosen = [rows[pick.index] for pick in found.picks]
    assert not {text for text, _, _ in chosen} & texts
    assert not {statement for _, statement, _ in chosen} & statements
    assert len({text for text, _, _ in chosen}) == len(chosen)
    assert max(Counter(pick.stratum for pick in found.picks).values(), default=0) <= each
    assert found.held_back == sum(
        text in texts or statement in statements for text, statement, _ in rows
    )


@pytest.mark.parametrize(
    ("overlap", "several"), [(0.0, 0), (0.1, 4), (0.25, 10), (1.0, 40), (2.0, 20), (9.0, 40)]
)
def test_overlap_is_a_share_of_all_or_a_number_in_each_stratum(
    overlap: float, several: int
) -> None:
    found = draw(offers(10, 4), 4, rng(), labels=3, overlap=overlap)
    needed = Counter(pick.needed for pick in found.picks)
    assert needed == Counter({3: several, 1: 40 - several})
    if overlap == 2.0:
        assert set(Counter(pick.stratum for pick in found.picks if pick.needed == 3).values()) == {
            2
        }


def test_a_limit_keeps_a_random_part_and_the_share_that_overlaps() -> None:
    found = draw(offers(10, 4), 4, rng(), labels=2, overlap=0.5, limit=10)
    assert Counter(pick.needed for pick in found.picks) == {1: 5, 2: 5}
    assert len({pick.stratum for pick in found.picks}) > 3
    assert (found.strata, found.short) == (10, 0)
    assert len(draw(offers(2, 4), 4, rng(), limit=100).picks) == 8


@given(st.lists(st.integers(0, 6), max_size=8), st.floats(0, 1), st.integers(0, 3))
def test_a_share_is_met_over_all_strata_together(sizes: list[int], share: float, seed: int) -> None:
    found = overlapping(sum(sizes), share, sizes, rng(seed))
    assert sum(map(len, found)) == round(share * sum(sizes))
    assert all(place < size for of, size in zip(found, sizes, strict=True) for place in of)


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_stratum": 0},
        {"labels": 0},
        {"overlap": -0.1},
        {"overlap": float("nan")},
        {"overlap": float("inf")},
        {"overlap": 1.5},
        {"limit": 0},
    ],
)
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    values: dict[str, float] = {"per_stratum": 4, **wrong}
    with pytest.raises(UsageError):
        draw(offers(2, 2), int(values.pop("per_stratum")), rng(), **values)  # type: ignore[arg-type]


def test_nothing_to_draw_from_gives_nothing() -> None:
    found = draw([], 4, rng())
    assert (found.picks, found.strata, found.short) == ((), 0, 0)


# test sets: every answer has the same chance


def frequent(sizes: list[int]) -> list[OfferedText]:
    """Return a text for each number of answers, in three strata."""
    return [
        OfferedText(n, f"answer {n}", f"st-{n % 4}", f"prefix {n % 3}", size)
        for n, size in enumerate(sizes)
    ]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=60), st.integers(1, 70))
def test_inclusion_is_in_proportion_to_answers_up_to_certainty_and_adds_up_to_the_size(
    sizes: list[int], size: int
) -> None:
    chances = inclusion(sizes, size)
    assert chances.sum() == pytest.approx(min(size, len(sizes)))
    assert ((chances > 0) & (chances <= 1)).all()
    rates = {
        round(float(chance) / n, 9) for chance, n in zip(chances, sizes, strict=True) if chance < 1
    }
    assert len(rates) <= 1, "one rate for all that are left to chance"
    assert all(
        n * rate >= 1 - 1e-6
        for n, chance in zip(sizes, chances, strict=True)
        for rate in rates
        if chance == 1
    )


@given(st.lists(st.integers(1, 80), min_size=1, max_size=40), st.integers(1, 50), st.integers(0, 5))
def test_as_many_texts_are_drawn_as_asked_for_and_the_certain_ones_among_them(
    sizes: list[int], size: int, seed: int
) -> None:
    found = draw_answers(frequent(sizes), size, rng(seed))
    assert len({pick.index for pick in found.picks}) == len(found.picks) == min(size, len(sizes))
    chances = inclusion(sizes, size)
    drawn = {pick.index: pick for pick in found.picks}
    assert {n for n, chance in enumerate(chances) if chance == 1} <= drawn.keys()
    assert all(drawn[n].answers == sizes[n] for n in drawn)
    assert all(drawn[n].inclusion == pytest.approx(chances[n]) for n in drawn)
    assert found.frame is not None
    assert (found.frame.answers, found.frame.units) == (sum(sizes), len(sizes))
    assert found.frame.certain_units == (chances == 1).sum()


@pytest.mark.e2e
def test_every_text_is_drawn_as_often_as_its_inclusion_probability_says() -> None:
    sizes = [40, 12, 9, 9, 5, 3, 3, 2, 1, 1, 1, 1]
    times = np.zeros(len(sizes))
    for seed in range(4000):
        times[[pick.index for pick in draw_answers(frequent(sizes), 5, rng(seed)).picks]] += 1
    chances = inclusion(sizes, 5)
    assert chances[0] == 1
    noise = np.sqrt(chances * (1 - chances) / 4000)
    assert (np.abs(times / 4000 - chances) <= 4 * noise).all()


@pytest.mark.e2e
def test_weights_of_a_draw_add_up_to_the_answers_of_every_kind_on_average() -> None:
    """Horvitz and Thompson 1952: sums weighted by answers / inclusion are unbiased, whatever is
    summed.
    """
    sizes = [60, 25, 25, 10, *[1] * 60]
    short = np.array([n < 3 for n in range(len(sizes))])
    found = []
    for seed in range(2000):
        picks = draw_answers(frequent(sizes), 12, rng(seed)).picks
        weights = {pick.index: (pick.answers or 0) / (pick.inclusion or 1) for pick in picks}
        found.append([sum(weights.values()), sum(w for n, w in weights.items() if n % 2)])
        assert sum(weights[n] for n in weights if short[n]) == 110, (
            "certain texts stand for themselves alone"
        )
    totals = np.array([sum(sizes), sum(size for n, size in enumerate(sizes) if n % 2)])
    spread = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - totals) <= 4 * spread + 1e-9).all()


def test_strata_are_represented_in_proportion_to_their_answers() -> None:
    picks = draw_answers(offers(6, 8), 2, rng(), strata=6).picks
    assert set(Counter(pick.stratum for pick in picks).values()) == {2}
    assert {pick.inclusion for pick in picks} == {0.25}


def test_answers_that_the_other_set_has_are_out_of_reach_and_counted() -> None:
    found = draw_answers(
        frequent([5, 4, 3, 2]), 4, rng(), taken_texts={"answer 1"}, taken_statements={"st-3"}
    )
    assert {pick.index for pick in found.picks} == {0, 2}
    assert found.held_back == 2
    assert found.frame is not None
    assert (found.frame.answers, found.frame.outside) == (8, 6)


def test_a_limit_and_an_overlap_hold_for_a_draw_of_answers_too() -> None:
    found = draw_answers(offers(10, 4), 4, rng(), strata=10, labels=2, overlap=0.5, limit=10)
    assert Counter(pick.needed for pick in found.picks) == {1: 5, 2: 5}
    assert len({pick.stratum for pick in found.picks}) == 10
    assert draw_answers(offers(3, 4), 4, rng(3)) == draw_answers(offers(3, 4), 4, rng(3))
    with pytest.raises(UsageError, match="limit of 0"):
        draw_answers(offers(2, 2), 1, rng(), limit=0)


def test_rounding_neither_costs_nor_adds_a_text() -> None:
    for size in range(1, 300, 7):
        chances = inclusion([1 + n % 3 for n in range(300)], size)
        assert len(systematic(chances, rng(size))) == size
