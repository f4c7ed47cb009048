"""Mistyped letters: neighbouring keys of each letter, on keyboards read from files."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.data import data_folder
from workbench.domain.choices import Choice, ChoicePair, Perturbation
from workbench.errors import UnknownName, UsageError
from workbench.stats.resampling import derive_rng
from workbench.toml_files import TomlFile


@dataclass(frozen=True, slots=True)
class Keyboard:
    """The possible typing mistakes."""

    name: str
    "name stored with results: `en`"
    instead: Mapping[str, str]
    "small letter -> small letters typed instead"


ANY_LETTER = Keyboard(
    "any letter",
    {letter: string.ascii_lowercase.replace(letter, "") for letter in string.ascii_lowercase},
)
"""every other letter of a to z, all equally likely

So it is in the published prompts of Tjuatja et al. 2024.
"""


@lru_cache
def shipped_keyboard(name: str = "en") -> Keyboard:
    """Return a shipped keyboard. Raises UnknownName, which lists the available ones."""
    folder = data_folder() / "keyboards"
    path = folder / f"{name}.toml"
    if not path.is_file():
        available = ", ".join(sorted(file.stem for file in folder.glob("*.toml"))) or "nothing"
        raise UnknownName(
            f"there is no {name!r} among the shipped keyboards. Available: {available}"
        )
    return read_keyboard(path)


def read_keyboard(path: Path) -> Keyboard:
    """Read a keyboard from a file.

    It has `name`, `title`, and, from the top, one table `[[row]]` per row with `letters` and
    `offset` (in keys). Raises UsageError if the file cannot be read, InputError with all of its
    faults.
    """
    file = TomlFile.read(path)
    file.unknown_keys(("name", "title", "row"))
    name = file.words("name")
    file.words("title", needed=False)
    tables = file.tables("row", "no row", "a table [[row]] for each row of keys, from the top")
    for line, table in tables:
        file.cell_faults(line, "row", _faults(table))
    file.check()
    rows = [(str(table["letters"]), float(table["offset"])) for _, table in tables]
    doubled = sorted(
        {
            letter
            for letter in "".join(row for row, _ in rows)
            if sum(row.count(letter) for row, _ in rows) > 1
        }
    )
    if doubled:
        file.fault("row", f"{', '.join(doubled)} on several keys", "each letter once")
    file.check()
    return Keyboard(name, beside(rows))


def beside(rows: Sequence[tuple[str, float]]) -> Mapping[str, str]:
    """Return each letter's neighbours on a keyboard.

    They are less than 1 key apart in adjacent rows, and the two next to it in its own row.

    Examples
    --------
    >>> beside([("qw", 0.0), ("as", 0.25)])["q"]
    'wa'
    """
    keys = [
        (letter, row, offset + index)
        for row, (letters, offset) in enumerate(rows)
        for index, letter in enumerate(letters)
    ]
    return {
        letter: "".join(
            other
            for other, other_row, other_position in keys
            if (other_row == row and abs(other_position - position) == 1)
            or (abs(other_row - row) == 1 and abs(other_position - position) < 1)
        )
        for letter, row, position in keys
    }


def _faults(table: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (cell, found, expected) of the faults of one row."""
    letters, offset = table.get("letters"), table.get("offset")
    faults = [
        (key, "an unknown key", "letters and offset")
        for key in table
        if key not in ("letters", "offset")
    ]
    if (
        not isinstance(letters, str)
        or not letters
        or any(letter.upper() == letter for letter in letters)
    ):
        faults.append(
            ("letters", repr(letters), "the small letters of the row in quotes, from the left")
        )
    if isinstance(offset, bool) or not isinstance(offset, int | float):
        faults.append(
            (
                "offset",
                repr(offset),
                "a number: how many keys the row begins to the right of the leftmost",
            )
        )
    return faults


TYPO_SHARE = 0.2
"probability that a word has a key typo (appendix A.3), which is 0.195 in the published prompts"
SHORTEST = 5
"""number of letters of the shortest word whose letters change places

It is as in the published prompts, while appendix A.3 says 4.
"""
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
    "the question, or None if no word of the stem can have this error"
    words: tuple[tuple[str, str], ...] = ()
    "(before, after) of each changed word, in order"
    cannot: str = ""
    "the reason as a sentence, if there is no choice"


def perturb(
    choice: Choice, perturbation: Perturbation, rng: Rng, keyboard: Keyboard | None = None
) -> Perturbed:
    """Return a question with errors of one kind in its stem.

    At least one word differs, unless none can.

    `keyboard` has the letters for key typos. None stands for the neighbours on an English keyboard,
    and `ANY_LETTER` for those as published.
    """
    pieces = re.split(r"(\s+)", choice.stem)
    change = _change(perturbation, keyboard)
    changed_words = [
        (position, change(_letters(piece), rng)) for position, piece in enumerate(pieces)
    ]
    changes = [
        (position, "".join(letters)) for position, letters in changed_words if letters is not None
    ]
    if not changes:
        return Perturbed(None, cannot=_CANNOT[perturbation])
    if perturbation is Perturbation.KEY_TYPO:
        changes = _some(changes, rng)
    words = tuple((pieces[position], new) for position, new in changes)
    for index, new_word in changes:
        pieces[index] = new_word
    return Perturbed(replace(choice, stem="".join(pieces)), words)


def draw(
    choice: Choice,
    key: str,
    perturbation: Perturbation,
    number: int,
    seed: int,
    keyboard: Keyboard | None = None,
) -> Perturbed:
    """Return draw `number` (from 1) of a question's errors.

    It does not depend on other questions.

    A key with the same text under several biases has the same errors. Raises UsageError for a
    number below 1 or a seed below 0.
    """
    if number < 1:
        raise UsageError(f"found draw {number} of {perturbation}; draws are numbered from 1")
    return perturb(
        choice,
        perturbation,
        derive_rng(seed, "perturbation", key, perturbation.value, number),
        keyboard,
    )


def with_draws(
    pair: ChoicePair,
    seed: int,
    draws: int = 1,
    perturbations: Iterable[Perturbation] = tuple(Perturbation),
    keyboard: Keyboard | None = None,
) -> tuple[ChoicePair, tuple[str, ...]]:
    """Return a pair with `draws` draws of each perturbation added, and notes on draws that failed.

    Existing draws of the same number are replaced. Draws are independent, so two may have the same
    text if a stem is short: this is reported, and both are kept, because dropping one would make
    the others depend on it.
    """
    perturbed, notes = dict(pair.perturbed), []
    for perturbation in perturbations:
        texts = set()
        for number in range(1, draws + 1):
            drawn_form = draw(pair.original, pair.key, perturbation, number, seed, keyboard)
            if drawn_form.choice is None:
                notes.append(f"{pair.key}, {perturbation}: {drawn_form.cannot}")
                break
            perturbed[perturbation, number] = drawn_form.choice
            texts.add(drawn_form.choice.stem)
        if 0 < len(texts) < draws:
            notes.append(
                f"{pair.key}, {perturbation}: {len(texts)} of {draws} draws are different texts"
            )
    return replace(pair, perturbed=perturbed), tuple(notes)


def fits(perturbation: Perturbation, before: str, after: str) -> bool:
    """Return whether this perturbation can turn a word into another, with any keyboard.

    The result is False for an unchanged word.

    A swap of inner letters also fits `middle_random`, because it is one of their orders.
    """
    changed_indices = [
        index for index, (old, new) in enumerate(zip(before, after, strict=False)) if old != new
    ]
    if len(before) != len(after) or not changed_indices:
        return False
    if perturbation is Perturbation.KEY_TYPO:
        return len(changed_indices) == 1
    is_inner = changed_indices[0] > 0 and changed_indices[-1] < len(before) - 1
    same_letters = sorted(before) == sorted(after)
    if perturbation is Perturbation.MIDDLE_RANDOM:
        return is_inner and same_letters
    return (
        is_inner
        and same_letters
        and len(changed_indices) == 2
        and changed_indices[1] == changed_indices[0] + 1
    )


_CANNOT = {
    Perturbation.KEY_TYPO: "no word without digits has a letter of the keyboard",
    Perturbation.MIDDLE_RANDOM: f"no word of the stem is {SHORTEST} letters or more whose inner "
    "ones differ",
    Perturbation.LETTER_SWAP: f"no word without digits has {SHORTEST} letters in a row whose "
    "inner ones differ",
}


def _change(
    perturbation: Perturbation, keyboard: Keyboard | None
) -> Callable[[Letters, Rng], Letters | None]:
    """Return the function that puts the error into a word.

    It returns None if the word cannot have it.
    """
    if perturbation is Perturbation.MIDDLE_RANDOM:
        return _scrambled
    if perturbation is Perturbation.LETTER_SWAP:
        return _swapped
    return partial(_mistyped, instead=(keyboard or shipped_keyboard()).instead)


def _mistyped(word: Letters, rng: Rng, instead: Mapping[str, str]) -> Letters | None:
    """Return a word with one letter replaced, a capital by a capital."""
    indices = [index_ for index_, letter in enumerate(word) if instead.get(letter.lower())]
    if not indices or _has_digit(word):
        return None
    index = indices[rng.integers(len(indices))]
    alternatives = instead[word[index].lower()]
    replacement = alternatives[rng.integers(len(alternatives))]
    return [
        *word[:index],
        replacement.upper() if word[index].isupper() else replacement,
        *word[index + 1 :],
    ]


def _scrambled(word: Letters, rng: Rng) -> Letters | None:
    """Return a word with its inner letters in another order.

    All other orders are equally likely.
    """
    inner = word[1:-1]
    if len(word) < SHORTEST or not all(map(_is_letter, word)) or len(set(inner)) == 1:
        return None
    while True:
        order = [inner[index] for index in rng.permutation(len(inner))]
        if order != inner:
            return [word[0], *order, word[-1]]


def _swapped(word: Letters, rng: Rng) -> Letters | None:
    """Return a word with two adjacent inner letters exchanged that differ."""
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
    """Return the changes that are kept with probability `TYPO_SHARE`.

    If none is, keep a random one.
    """
    is_kept = rng.random(len(changes)) < TYPO_SHARE
    is_kept[rng.integers(len(changes))] |= not is_kept.any()
    return [change for change, keeps in zip(changes, is_kept, strict=True) if keeps]


def _letters(word: str) -> Letters:
    """Return a word's characters, each with its accents and joiners."""
    characters: Letters = []
    for character in word:
        if characters and (character in JOINERS or unicodedata.category(character).startswith("M")):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _runs(word: Letters) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of each run of letters: two in `long-term`."""
    start = None
    for index in range(len(word) + 1):
        is_inside = index < len(word) and _is_letter(word[index])
        if is_inside and start is None:
            start = index
        elif not is_inside and start is not None:
            yield start, index
            start = None


def _has_digit(word: Letters) -> bool:
    return any(character[0].isnumeric() for character in word)


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    """Return whether a character, without its accents, is a letter of a script with words."""
    return character[0].isalpha() and not unicodedata.name(character[0], "").startswith(UNSPACED)
