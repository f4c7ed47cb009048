"""Typos that people overlook, in the stem of a multiple-choice question.

Appendix A.3 of Tjuatja et al. 2024 swaps two of the three definitions; the names here are those of its table 1 and of
the published prompts. Measurements on the 621 published questions of each kind (13,345 words between spaces), and the
rules here:

- Only the stem is changed; options stay unchanged.
- Key typo: 19.5% of the words, of any length, have one character replaced by one of the letters a to z, each equally
  often: 17% of these are neighbours on a keyboard. 19 questions have no typo. Here: 20% of the words, and at least one;
  letters only, and a capital becomes a capital. What is typed lies beside the letter on a keyboard, or is any other
  letter (`ANY_LETTER`, as published).
- Middle random: all words of 5 letters and more that are letters throughout (`people`, but not `people,`), and no word
  of 4, although the paper says 4. 93% of these differ, which is what a random order gives: it may be the old one. Here:
  the same words, each in an order other than its own.
- Letter swap: all words of 5 characters and more, with commas and digits that belong to them: `2050,` becomes `2005,`
  and `well,` may change its last letter. 97% of these differ, the others swap two equal letters. Here: words with 5
  letters in a row and without digits; no first or last letter moves; the two letters differ.

A word with a digit is left alone, as the paper says. Letters of scripts that are written without blanks (Chinese,
Japanese, Thai, Lao, Khmer, Burmese, Tibetan) make no words here. A letter keeps the accents that follow it.

References
----------
Tjuatja, Chen, Wu, Talwalkar, Neubig 2024, "Do LLMs exhibit human-like response biases?", table 1 and appendix A.3, A.4.
Rawlinson 2007, "The significance of letter position in word recognition".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from workbench.domain.choices import Choice, ChoicePair, Perturbation
from workbench.errors import UsageError
from workbench.stats.resampling import derive_rng
from workbench.workshop.keyboards import Keyboard, shipped_keyboard

TYPO_SHARE = 0.2
"probability that a word has a key typo (appendix A.3; 0.195 in the published prompts)"
SHORTEST = 5
"letters of the shortest word whose letters change places (as in the published prompts; appendix A.3 says 4)"
JOINERS = "\u200c\u200d"
"characters that belong to the preceding letter, like accents"
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"Unicode names of scripts written without spaces between words"

Rng = np.random.Generator
Letters = list[str]
"a word's characters, each with the accents that follow it"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A question with errors, or the reason why it can have none."""

    choice: Choice | None
    "None: no word of the stem can have this error"
    words: tuple[tuple[str, str], ...] = ()
    "(before, after) of each changed word, in order"
    cannot: str = ""
    "the reason as a sentence, if there is no choice"


def perturb(choice: Choice, perturbation: Perturbation, rng: Rng, keyboard: Keyboard | None = None) -> Perturbed:
    """Return a question with errors of one kind in its stem; at least one word differs, unless none can.

    `keyboard`: letters for key typos; None: the neighbours on an English keyboard; `ANY_LETTER`: as published.
    """
    pieces = re.split(r"(\s+)", choice.stem)
    change = _change(perturbation, keyboard)
    made = [(place, change(_letters(piece), rng)) for place, piece in enumerate(pieces)]
    changes = [(place, "".join(letters)) for place, letters in made if letters is not None]
    if not changes:
        return Perturbed(None, cannot=_CANNOT[perturbation])
    if perturbation is Perturbation.KEY_TYPO:
        changes = _some(changes, rng)
    words = tuple((pieces[place], after) for place, after in changes)
    for place, after in changes:
        pieces[place] = after
    return Perturbed(replace(choice, stem="".join(pieces)), words)


def draw(
    choice: Choice, key: str, perturbation: Perturbation, number: int, seed: int, keyboard: Keyboard | None = None
) -> Perturbed:
    """Return draw `number` (from 1) of a question's errors, which does not depend on other questions.

    A key with the same text under several biases has the same errors. Raises UsageError for a number below 1 or a seed
    below 0.
    """
    if number < 1:
        raise UsageError(f"found draw {number} of {perturbation}; draws are numbered from 1")
    return perturb(choice, perturbation, derive_rng(seed, "perturbation", key, perturbation.value, number), keyboard)


def with_draws(
    pair: ChoicePair,
    seed: int,
    draws: int = 1,
    perturbations: Iterable[Perturbation] = tuple(Perturbation),
    keyboard: Keyboard | None = None,
) -> tuple[ChoicePair, tuple[str, ...]]:
    """Return a pair with `draws` draws of each perturbation added, and notes on draws that failed.

    Existing draws of the same number are replaced. Draws are independent, so two may have the same text if a stem is
    short: this is reported, and both are kept, because dropping one would make the others depend on it.
    """
    perturbed, said = dict(pair.perturbed), []
    for perturbation in perturbations:
        texts = set()
        for number in range(1, draws + 1):
            found = draw(pair.original, pair.key, perturbation, number, seed, keyboard)
            if found.choice is None:
                said.append(f"{pair.key}, {perturbation}: {found.cannot}")
                break
            perturbed[perturbation, number] = found.choice
            texts.add(found.choice.stem)
        if 0 < len(texts) < draws:
            said.append(f"{pair.key}, {perturbation}: {len(texts)} of {draws} draws are different texts")
    return replace(pair, perturbed=perturbed), tuple(said)


def fits(perturbation: Perturbation, before: str, after: str) -> bool:
    """Return whether this perturbation can turn a word into another, with any keyboard; False for an unchanged word.

    A swap of inner letters also fits `middle_random`, because it is one of their orders.
    """
    apart = [place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new]
    if len(before) != len(after) or not apart:
        return False
    if perturbation is Perturbation.KEY_TYPO:
        return len(apart) == 1
    inside = apart[0] > 0 and apart[-1] < len(before) - 1
    same_letters = sorted(before) == sorted(after)
    if perturbation is Perturbation.MIDDLE_RANDOM:
        return inside and same_letters
    return inside and same_letters and len(apart) == 2 and apart[1] == apart[0] + 1


_CANNOT = {
    Perturbation.KEY_TYPO: "no word without digits has a letter of the keyboard",
    Perturbation.MIDDLE_RANDOM: f"no word of the stem is {SHORTEST} letters or more whose inner ones differ",
    Perturbation.LETTER_SWAP: f"no word without digits has {SHORTEST} letters in a row whose inner ones differ",
}


def _change(perturbation: Perturbation, keyboard: Keyboard | None) -> Callable[[Letters, Rng], Letters | None]:
    """Return the function that puts the error into a word, or returns None if the word cannot have it."""
    if perturbation is Perturbation.MIDDLE_RANDOM:
        return _scrambled
    if perturbation is Perturbation.LETTER_SWAP:
        return _swapped
    return partial(_mistyped, instead=(keyboard or shipped_keyboard()).instead)


def _mistyped(word: Letters, rng: Rng, instead: Mapping[str, str]) -> Letters | None:
    """Replace one letter, a capital by a capital."""
    places = [place for place, letter in enumerate(word) if instead.get(letter.lower())]
    if not places or _has_digit(word):
        return None
    place = places[rng.integers(len(places))]
    others = instead[word[place].lower()]
    typed = others[rng.integers(len(others))]
    return [*word[:place], typed.upper() if word[place].isupper() else typed, *word[place + 1 :]]


def _scrambled(word: Letters, rng: Rng) -> Letters | None:
    """Put the inner letters into another order, all other orders being equally likely."""
    inner = word[1:-1]
    if len(word) < SHORTEST or not all(map(_is_letter, word)) or len(set(inner)) == 1:
        return None
    while True:
        order = [inner[place] for place in rng.permutation(len(inner))]
        if order != inner:
            return [word[0], *order, word[-1]]


def _swapped(word: Letters, rng: Rng) -> Letters | None:
    """Exchange two inner letters that stand side by side and differ."""
    pairs = [
        first
        for start, stop in _runs(word)
        for first in range(start + 1, stop - 2)
        if stop - start >= SHORTEST and word[first] != word[first + 1]
    ]
    if not pairs or _has_digit(word):
        return None
    first = pairs[rng.integers(len(pairs))]
    return [*word[:first], word[first + 1], word[first], *word[first + 2 :]]


def _some(changes: list[tuple[int, str]], rng: Rng) -> list[tuple[int, str]]:
    """Keep each change with probability `TYPO_SHARE`; if that keeps none, a random one."""
    hit = rng.random(len(changes)) < TYPO_SHARE
    hit[rng.integers(len(changes))] |= not hit.any()
    return [change for change, kept in zip(changes, hit, strict=True) if kept]


def _letters(word: str) -> Letters:
    """Return a word's characters, each with its accents and joiners."""
    found: Letters = []
    for character in word:
        if found and (character in JOINERS or unicodedata.category(character).startswith("M")):
            found[-1] += character
        else:
            found.append(character)
    return found


def _runs(word: Letters) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of each run of letters: two in `long-term`."""
    start = None
    for place in range(len(word) + 1):
        inside = place < len(word) and _is_letter(word[place])
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield start, place
            start = None


def _has_digit(word: Letters) -> bool:
    return any(character[0].isnumeric() for character in word)


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    """Return whether a character, without its accents, is a letter of a script with words."""
    return character[0].isalpha() and not unicodedata.name(character[0], "").startswith(UNSPACED)
