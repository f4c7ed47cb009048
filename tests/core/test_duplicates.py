"""Near-duplicates: alike words are found in any order and script, and fast."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import instrument
from workbench.data import shipped_instrument_folder
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.formats.native import read_csv
from workbench.workshop.duplicates import (
    NEAR,
    NEAREST,
    duplicate_findings,
    near_pairs,
    share,
    similar,
    trigrams,
)

TEXTS = (
    "The tax on petrol should be lowered.",
    "The tax on petrol should be raised.",
    "Petrol: the tax on it should be lowered.",
    "Wolves should be protected by law.",
)
THINGS = ("petrol", "land", "bread", "wine", "houses", "trains")


def test_the_same_words_are_alike_whatever_their_case_and_punctuation() -> None:
    assert share(trigrams("Tax land!"), trigrams("  tax LAND")) == 1
    assert share(trigrams("Caf\u00e9"), trigrams("Cafe\u0301")) == 1


def test_nothing_is_like_nothing() -> None:
    assert share(trigrams("?!"), trigrams("…")) == 0
    assert similar("…", ["…", ""]) == ()
    assert near_pairs(["", "", "?"]) == ()
    assert near_pairs([]) == ()


def test_the_most_similar_texts_come_first() -> None:
    found = similar(TEXTS[0], TEXTS[1:], at_least=0.3)
    assert [one.index for one in found] == [1, 0]
    assert found[0].share > found[1].share > 0.5
    assert similar(TEXTS[0], TEXTS[1:], at_least=0.95) == ()


@pytest.mark.parametrize(
    "texts", [("增加税收应该停止", "增加税收不应该停止"), ("מסים צריכים לרדת", "מסים צריכים לעלות")]
)
def test_other_scripts_are_compared_too(texts: tuple[str, str]) -> None:
    assert 0.3 < share(*map(trigrams, texts)) < 1


@given(
    st.lists(st.text("abc dé漢", max_size=12), max_size=12), st.sampled_from((0.3, 0.6, 0.9, 1.0))
)
def test_pairs_are_those_that_comparing_all_would_find(texts: list[str], at_least: float) -> None:
    sets = [trigrams(text) for text in texts]
    expected = {
        (i, j)
        for j in range(len(sets))
        for i in range(j)
        if 0 < share(sets[i], sets[j]) >= at_least
    }
    assert {(i, j) for i, j, _ in near_pairs(texts, at_least)} == expected


def test_two_thousand_statements_are_compared_in_well_under_a_second() -> None:
    rng = np.random.default_rng(1)
    words = np.array(
        [
            "tax",
            "school",
            "wolf",
            "should",
            "pension",
            "raise",
            "lower",
            "state",
            "people",
            "border",
        ]
    )
    texts = [" ".join(rng.choice(words, 12)) for _ in range(2000)]
    begin = time.process_time()
    near_pairs(texts, 0.95)
    similar(texts[0], texts)
    assert time.process_time() - begin < 2, "0.3 s alone on a laptop; tests share theirs"


def asked(ref: str, text: str, country: str | None = "vd", language: str = "en") -> Statement:
    return Statement(ref, (Wording(ORIGINAL, language, text),), country=country)


def found(*statements: Statement) -> list[tuple[str, str | None]]:
    findings = duplicate_findings(replace(instrument(), statements=statements))
    return [(finding.subject, finding.language) for finding in findings]


def test_nearly_equal_statements_of_one_country_and_language_are_found() -> None:
    assert found(asked("a", TEXTS[0]), asked("b", TEXTS[3]), asked("c", TEXTS[1])) == [("c", "en")]
    assert found(asked("a", TEXTS[0], None), asked("b", TEXTS[1], None)) == [("b", "en")]


def test_where_many_are_alike_each_is_reported_with_the_nearest_before_it() -> None:
    """The nearest are those of all pairs, whichever pairs are not compared."""
    rng = np.random.default_rng(2)
    texts = [
        f"The state should raise the tax on {' and '.join(rng.choice(THINGS, 2))} by {n} euros"
        for n in range(60)
    ]
    every = near_pairs(texts)
    nearest = near_pairs(texts, most=NEAREST)
    assert len(every) > 9 * len(nearest)
    for j in range(len(texts)):
        shares = sorted((alike for _, at, alike in every if at == j), reverse=True)[:NEAREST]
        assert sorted(
            (alike for _, at, alike in nearest if at == j), reverse=True
        ) == pytest.approx(shares)
    told = found(*(asked(f"s-{n}", text) for n, text in enumerate(texts)))
    assert len(told) == len(nearest)
    assert max(Counter(told).values()) == NEAREST


def test_other_countries_other_languages_and_equal_texts_are_no_near_duplicates() -> None:
    assert found(asked("a", TEXTS[0]), asked("b", TEXTS[1], "ot")) == []
    assert found(asked("a", TEXTS[0]), asked("b", TEXTS[1], language="de")) == []
    assert found(asked("a", TEXTS[0]), asked("b", TEXTS[0].upper())) == [], "lint has said so"


def test_different_statements_of_the_shipped_instrument_are_far_from_alike() -> None:
    checked = read_csv(shipped_instrument_folder())
    assert list(duplicate_findings(checked)) == []
    texts = [s.wordings[0].text for s in checked.statements]
    assert max(alike for _, _, alike in near_pairs(texts, 0.3)) == pytest.approx(0.49, abs=0.005)
    assert NEAR > 0.53
