"""Drawing texts to label: strata, seeds, shares, and what another set has already."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.annotation.sampling import Offer, draw, overlapping, plain
from workbench.classifier.dataset import normalised
from workbench.errors import UsageError


def offers(strata: int, each: int) -> list[Offer]:
    return [
        Offer(s * each + n, f"answer {s} {n}", f"st-{n % 5}", f"prefix {s}") for s in range(strata) for n in range(each)
    ]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_as_many_come_from_every_stratum_as_the_study_drew() -> None:
    """4 x 10 prefixes x 3 wordings x 11 models = 1,320 unique answers (Faulborn et al. 2025, section 3.4)."""
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
    found = draw([*offers(3, 2), Offer(6, "x", "st", "prefix 0")], 3, rng())
    assert (len(found.picks), found.short) == (7, 2)


def test_a_text_that_several_models_gave_is_drawn_once_however_it_is_spaced_or_accented() -> None:
    same = ["Café  yes.", "cafe\u0301 YES.", " café\nyes. "]
    found = draw([Offer(n, text, "st", f"model {n}") for n, text in enumerate(same)], 2, rng())
    assert len(found.picks) == 1
    assert found.short == 3


@given(st.text())
def test_sets_are_kept_apart_by_the_rule_that_training_checks(text: str) -> None:
    assert plain(text) == normalised(text)
    assert plain(unicodedata.normalize("NFD", text)) == plain(unicodedata.normalize("NFC", text))


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"), st.sampled_from("12")), max_size=40),
    st.sets(st.sampled_from("abcdefgh")),
    st.sets(st.sampled_from("xyz")),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_nothing_is_drawn_that_another_set_has(
    rows: list[tuple[str, str, str]], texts: set[str], statements: set[str], each: int, seed: int
) -> None:
    given_ = [Offer(n, text.upper(), statement, stratum) for n, (text, statement, stratum) in enumerate(rows)]
    found = draw(given_, each, rng(seed), taken_texts=texts, taken_statements=statements)
    chosen = [rows[pick.index] for pick in found.picks]
    assert not {text for text, _, _ in chosen} & texts
    assert not {statement for _, statement, _ in chosen} & statements
    assert len({text for text, _, _ in chosen}) == len(chosen)
    assert max(Counter(pick.stratum for pick in found.picks).values(), default=0) <= each
    assert found.held_back == sum(text in texts or statement in statements for text, statement, _ in rows)


@pytest.mark.parametrize(("overlap", "several"), [(0.0, 0), (0.1, 4), (0.25, 10), (1.0, 40), (2.0, 20), (9.0, 40)])
def test_overlap_is_a_share_of_all_or_a_number_in_each_stratum(overlap: float, several: int) -> None:
    found = draw(offers(10, 4), 4, rng(), labels=3, overlap=overlap)
    needed = Counter(pick.needed for pick in found.picks)
    assert needed == Counter({3: several, 1: 40 - several})
    if overlap == 2.0:
        assert set(Counter(pick.stratum for pick in found.picks if pick.needed == 3).values()) == {2}


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
        {"per_stratum": 0}, {"labels": 0}, {"overlap": -0.1}, {"overlap": float("nan")}, {"overlap": float("inf")},
        {"overlap": 1.5}, {"limit": 0},
    ],
)  # fmt: skip
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    values: dict[str, float] = {"per_stratum": 4, **wrong}
    with pytest.raises(UsageError):
        draw(offers(2, 2), int(values.pop("per_stratum")), rng(), **values)  # type: ignore[arg-type]


def test_nothing_to_draw_from_gives_nothing() -> None:
    found = draw([], 4, rng())
    assert (found.picks, found.strata, found.short) == ((), 0, 0)
