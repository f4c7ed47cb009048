"""Typos: what moves and what stays, that something always differs, and that draws do not know each
other.
"""

from __future__ import annotations

import re
import string
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.domain.choices import Bias, Choice, ChoicePair, Perturbation
from workbench.errors import InputError, UnknownName, UsageError
from workbench.workshop.perturbations import (
    ANY_LETTER,
    beside,
    draw,
    fits,
    perturb,
    read_keyboard,
    shipped_keyboard,
    with_draws,
)

TYPO, RANDOM, SWAP = Perturbation.KEY_TYPO, Perturbation.MIDDLE_RANDOM, Perturbation.LETTER_SWAP
QUESTION = Choice(
    "Thinking about the people's self-governing towns in 2050, do you believe that K-12 schools "
    "are well, funded?",
    ("Certainly funded", "Hardly funded"),
)
WORDS = st.one_of(
    st.from_regex(r"[A-Za-z]{1,12}", fullmatch=True),
    st.sampled_from(
        [
            "2050,",
            "K-12",
            "don't",
            "people's",
            "long-term",
            "U.S.?",
            "well,",
            "(always)",
            "Straße",
            "naïve",
        ]
    ),
    st.sampled_from(
        [
            "العربية",
            "הממשלה",
            "правительство",
            "👩‍👩‍👧",
            "政府应该做什么",
            "می‌خواهم",
            "cafe\u0301s",
            "½",
            "\ud800",
        ]
    ),
    st.text(min_size=1, max_size=8).filter(lambda text: not re.search(r"\s", text)),
)
STEMS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
SEEDS = st.integers(0, 2**32)


def changed_words(choice: Choice, perturbation: Perturbation, seed: int) -> list[tuple[str, str]]:
    """Return (before, after) of the words that differ, taken from the texts; none where there can
    be no error.
    """
    found = draw(choice, "q", perturbation, 1, seed)
    if found.choice is None:
        assert found.cannot
        return []
    before, after = re.split(r"(\s+)", choice.stem), re.split(r"(\s+)", found.choice.stem)
    assert before[1::2] == after[1::2], "blanks stay"
    pairs = [(old, new) for old, new in zip(before[::2], after[::2], strict=True) if old != new]
    assert pairs, "something differs"
    assert tuple(pairs) == found.words
    return pairs


def digits(text: str) -> bool:
    return any(character.isnumeric() for character in text)


def letters(text: str) -> list[int]:
    """Return the places of letters and of what is put on them."""
    return [
        place
        for place, character in enumerate(text)
        if character.isalpha()
        or unicodedata.category(character)[0] == "M"
        or character in "\u200c\u200d"
    ]


@given(STEMS, SEEDS, st.sampled_from(Perturbation))
def test_something_differs_and_it_fits_the_kind_of_error(
    stem: str, seed: int, perturbation: Perturbation
) -> None:
    for before, after in changed_words(Choice(stem, ("Yes", "No")), perturbation, seed):
        assert not digits(before)
        if (
            all(unicodedata.category(character)[0] != "M" for character in before)
            and "\u200c" not in before
        ):
            assert fits(perturbation, before, after)


@given(STEMS, SEEDS, st.sampled_from([RANDOM, SWAP]))
def test_moving_letters_keeps_them_all_and_every_other_character_in_its_place(
    stem: str, seed: int, perturbation: Perturbation
) -> None:
    for before, after in changed_words(Choice(stem, ("Yes", "No")), perturbation, seed):
        assert sorted(before) == sorted(after)
        assert len(before) >= 5
        assert letters(before)[0] == letters(after)[0]
        others = set(range(len(before))) - set(letters(before))
        assert all(before[place] == after[place] for place in others)
        assert before[letters(before)[0]] == after[letters(after)[0]], "the first letter stays"
        assert before[letters(before)[-1]] == after[letters(after)[-1]], "the last letter stays"


@given(STEMS, SEEDS)
def test_a_typo_is_one_letter_replaced_by_a_neighbour_of_the_same_case(
    stem: str, seed: int
) -> None:
    keyboard = shipped_keyboard().instead
    for before, after in changed_words(Choice(stem, ("Yes", "No")), TYPO, seed):
        ((old, new),) = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert new.lower() in keyboard[old.lower()]
        assert new.isupper() == old.isupper()


@given(st.text(string.ascii_letters + " '’-.,?", max_size=60), SEEDS)
def test_a_word_changes_by_one_pair_of_neighbours_that_touches_no_end_of_a_run(
    text: str, seed: int
) -> None:
    assume(text.strip())
    for before, after in changed_words(Choice(text, ("Yes", "No")), SWAP, seed):
        first = next(place for place in range(len(before)) if before[place] != after[place])
        assert (before[first], before[first + 1]) == (after[first + 1], after[first])
        assert before[first + 2 :] == after[first + 2 :]
        assert before[first - 1 : first + 3].isalpha(), "both are inside a run of letters"


def test_which_words_change_and_which_do_not() -> None:
    found = {kind: {old for old, _ in changed_words(QUESTION, kind, 3)} for kind in (RANDOM, SWAP)}
    assert found[RANDOM] == {"Thinking", "about", "towns", "believe", "schools"}
    assert found[SWAP] == {*found[RANDOM], "people's", "self-governing", "funded?"}


def test_the_options_stay_as_they_are() -> None:
    for perturbation in Perturbation:
        found = draw(QUESTION, "q", perturbation, 1, 0).choice
        assert found is not None
        assert found.options == QUESTION.options


def test_a_fifth_of_the_words_has_a_typo() -> None:
    stem = " ".join(["word"] * 400)
    counts = [len(draw(Choice(stem, ()), "q", TYPO, number, 0).words) for number in range(1, 51)]
    assert np.mean(counts) == pytest.approx(80, abs=4), (
        "binomial(400, 0.2), 50 draws: sd of the mean 1.13"
    )


def test_every_other_order_of_the_inner_letters_is_equally_likely() -> None:
    rng = np.random.default_rng(5)
    drawn = [perturb(Choice("towns", ()), RANDOM, rng).words[0][1] for _ in range(3000)]
    counts = {order: drawn.count(order) for order in set(drawn)}
    assert set(counts) == {"tonws", "twons", "twnos", "tnows", "tnwos"}
    assert all(abs(count - 600) < 110 for count in counts.values()), "binomial(3000, 1/5): five sd"


@pytest.mark.parametrize(
    ("stem", "able"),
    [
        ("", set()),
        ("2050?", set()),
        ("政府应该做什么", set()),
        ("รัฐบาลควรทำอะไร", set()),
        ("👩‍👩‍👧 ❤️ !", set()),
        ("Is it so?", {TYPO}),
        ("aaaaaa", {TYPO}),
        ("people,", {TYPO, SWAP}),
        ("абвгд", {RANDOM, SWAP}),
        ("הממשלה", {RANDOM, SWAP}),
        ("don't", {TYPO}),
    ],
)
def test_a_text_that_can_have_no_such_error_says_so(stem: str, able: set[Perturbation]) -> None:
    made = {kind: draw(Choice(stem, ("a", "b")), "q", kind, 1, 0) for kind in Perturbation}
    assert {kind for kind, found in made.items() if found.choice is not None} == able
    assert all(bool(found.cannot) == (found.choice is None) for found in made.values())


def test_accents_stay_on_their_letters() -> None:
    word = unicodedata.normalize("NFD", "générée")
    after = changed_words(Choice(word, ("a", "b")), RANDOM, 1)[0][1]
    assert sorted(unicodedata.normalize("NFC", after)) == sorted("générée")
    assert changed_words(Choice("é" * 3, ("a", "b")), TYPO, 1) == [], "é is on no key"


def test_the_same_draw_is_the_same_whatever_else_is_drawn() -> None:
    alone = draw(QUESTION, "b", SWAP, 2, 7)
    for key in ("a", "b", "c"):
        for number in (1, 2, 3):
            draw(QUESTION, key, TYPO, number, 7)
    assert draw(QUESTION, "b", SWAP, 2, 7) == alone


def test_seed_key_kind_and_number_each_make_another_draw() -> None:
    drawn = {
        draw(QUESTION, key, RANDOM, number, seed).words
        for key in ("a", "b")
        for number in (1, 2)
        for seed in (0, 1)
    }
    assert len(drawn) == 8


def test_a_pair_gets_its_draws_beside_those_it_has_and_is_told_what_repeats_or_is_missing() -> None:
    pair = ChoicePair("q", Bias.RESPONSE_ORDER, Choice("Is it so, towns?", ("a", "b")), None)
    with_some, said = with_draws(pair, 0, 40, [SWAP])
    assert len(with_some.perturbed) == 40
    assert said == ("q, letter_swap: 2 of 40 draws are different texts",)
    with_more, said = with_draws(with_some, 0, 2, [TYPO, RANDOM])
    assert set(with_more.perturbed) == {*with_some.perturbed, (TYPO, 1), (TYPO, 2)}
    assert [line for line in said if "middle_random" in line] == [
        "q, middle_random: no word of the stem is 5 letters or more whose inner ones differ"
    ]
    assert with_some.perturbed[SWAP, 7] == draw(pair.original, "q", SWAP, 7, 0).choice


@pytest.mark.parametrize(("number", "seed"), [(0, 1), (1, -1)])
def test_a_draw_below_one_and_a_seed_below_zero_are_refused(number: int, seed: int) -> None:
    with pytest.raises(UsageError):
        draw(QUESTION, "q", TYPO, number, seed)


def test_any_letter_types_letters_that_are_no_neighbours_too() -> None:
    typed = {
        draw(Choice("a", ()), "q", TYPO, number, 0, ANY_LETTER).words[0][1]
        for number in range(1, 300)
    }
    assert typed == set(string.ascii_lowercase) - {"a"}


def test_the_shipped_keyboard_is_qwerty() -> None:
    # ANSI INCITS 154-1988: read off a keyboard.
    instead = shipped_keyboard().instead
    assert {letter: set(instead[letter]) for letter in "qagm"} == {
        "q": set("wa"),
        "a": set("qwsz"),
        "g": set("tyfhvb"),
        "m": set("njk"),
    }
    assert set(instead) == set(string.ascii_lowercase)
    assert all(letter in instead[other] for letter, others in instead.items() for other in others)
    with pytest.raises(UnknownName, match="en"):
        shipped_keyboard("dvorak")


def test_a_faulty_keyboard_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'name = "x"\nrows = 1\n[[row]]\nletters = "QW"\noffset = "a"\n', encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        read_keyboard(path)
    assert {finding.column for finding in caught.value.findings} == {
        "rows",
        "row.letters",
        "row.offset",
    }
    path.write_text('name = "x"\n[[row]]\nletters = "qaq"\noffset = 0\n', encoding="utf-8")
    with pytest.raises(InputError, match="q on several keys"):
        read_keyboard(path)


def test_keys_of_rows_that_do_not_touch_are_no_neighbours() -> None:
    assert beside([("ab", 0.0), ("c", 1.0), ("d", 1.0)]) == {
        "a": "b",
        "b": "ac",
        "c": "bd",
        "d": "c",
    }


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("towns", "tonws", {RANDOM, SWAP}),
        ("towns", "tnows", {RANDOM}),
        ("towns", "tiwns", {TYPO}),
        ("towns", "otwns", set()),
        ("towns", "towsn", set()),
        ("towns", "towns", set()),
        ("towns", "towss", {TYPO}),
        ("towns", "town", set()),
        ("", "", set()),
    ],
)
def test_which_errors_a_changed_word_can_come_from(
    before: str, after: str, kinds: set[Perturbation]
) -> None:
    assert {kind for kind in Perturbation if fits(kind, before, after)} == kinds
