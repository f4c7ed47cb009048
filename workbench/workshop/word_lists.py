"""The words of a language for hints, from `data/lexicons/loaded_LANGUAGE.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.data import data_folder
from workbench.toml_files import read_toml


@dataclass(frozen=True, slots=True)
class WordLists:
    """Each list of words and phrases as one pattern."""

    loaded: tuple[tuple[re.Pattern[str], str], ...]
    "(words, reason), the reason completing: loaded wording, which …"
    leading: re.Pattern[str]
    absolute: re.Pattern[str]
    vague: re.Pattern[str]
    joiners: re.Pattern[str]
    negators: re.Pattern[str]
    exceptions: re.Pattern[str]
    "phrases with a negator that do not negate"

    def negated(self, text: str) -> list[re.Match[str]]:
        """Return the negators of a text, without those in exceptions."""
        excepted = [match.span() for match in self.exceptions.finditer(text)]
        found = self.negators.finditer(text)
        return [m for m in found if not any(start <= m.start() < stop for start, stop in excepted)]


@lru_cache
def word_lists(language: str) -> WordLists | None:
    """Return the lists of a language; None if there are no shipped ones."""
    path = data_folder() / "lexicons" / f"loaded_{language}.toml"
    if not language.isalpha() or not path.is_file():
        return None
    table = read_toml(path)
    return WordLists(
        loaded=tuple((_pattern(group["words"]), group["why"]) for group in table["loaded"]),
        leading=_pattern(table["leading"]["words"]),
        absolute=_pattern(table["absolute"]["words"]),
        vague=_pattern(table["vague"]["words"]),
        joiners=_pattern(table["joiners"]["words"]),
        negators=_pattern(table["negators"]["words"]),
        exceptions=_pattern(table["negators"]["exceptions"]),
    )


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of whole words and phrases, the longest first; `n't` is the end of a word."""
    whole = sorted((phrase for phrase in phrases if not phrase.startswith("n'")), key=len, reverse=True)
    words = "|".join(re.escape(phrase).replace(r"\ ", r"\s+").replace("'", "['’]") for phrase in whole)
    ends = [rf"(?<!\w)\w+{re.escape(phrase).replace(chr(39), '[’' + chr(39) + ']')}(?!\w)" for phrase in phrases
            if phrase.startswith("n'")]  # fmt: skip
    return re.compile("|".join([*ends, rf"(?<![\w'’-])(?:{words})(?![\w-])"]), re.IGNORECASE)
