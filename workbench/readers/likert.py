"""Reads answers to a scale from 1 (strong disagreement) to 5 (strong agreement).

"We extract all responses containing only a single integer in the correct range from 1-5 from the answers and assign the
label disagree to the values 1 and 2, neutral to 3, and agree to 4 and 5. For all other responses […] we apply the
classifier" (Faulborn et al. 2025, appendix D). The paper does not define an integer; here

- it is a token of its own: `**4**`, `4.`, `Answer: 4`, in the digits of any script, but not the digit of a word
  (`GPT-4`, `4th`, `a 5-point scale`), which is not a number at all;
- two numbers are two, whatever their values: `4/5`, `4 out of 5`, `1-5`, `4 4` and `In 2024 I say 4` are not read;
- `4.5`, `4,5`, `4.0`, `4½` and `4%` are not whole, `-3`, `10` and `2024` out of range;
- number words (`four`, `IV`) are not integers.

Other answers get no label here: a classifier or people label them.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from typing import NamedTuple

from workbench.domain.prompts import LIKERT
from workbench.domain.readings import ReaderCard, ReaderKind, Reading, Stance

VERSION = "1"
"increases whenever some text is read differently"

NO_TEXT = "empty answer"
NO_NUMBER = "no number from 1 to 5"
SEVERAL = "several numbers"
NOT_WHOLE = "not a whole number"
OUT_OF_RANGE = "out of range"

STANCE_OF = {1: Stance.DISAGREE, 2: Stance.DISAGREE, 3: Stance.NEUTRAL, 4: Stance.AGREE, 5: Stance.AGREE}

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_HYPHENS = "-\u2010\u2011_"
"join digits to a word: `GPT-4`, `5-point`"
_MINUS = "-\u2212\u2013"
_PER_CENT = "%\u066a\u2030\uff05"


class _Kind(Enum):
    WHOLE = "whole"
    NEGATIVE = "negative"
    NOT_WHOLE = "not whole"
    OF_A_WORD = "part of a word"


class _Number(NamedTuple):
    text: str
    start: int
    stop: int
    kind: _Kind


class Likert:
    """Reads the only whole number of an answer."""

    @property
    def card(self) -> ReaderCard:
        """The same for all readers of this class."""
        return ReaderCard(ReaderKind.RULE, LIKERT, VERSION)

    def read(self, text: str) -> Reading:
        """Return agree, neutral, disagree or None, with the deciding number. Accepts any text, in linear time."""
        if not text.strip():
            return Reading(None, NO_TEXT)
        found = [number for number in map(_number, _DIGITS.finditer(text)) if number.kind is not _Kind.OF_A_WORD]
        if not found:
            return Reading(None, NO_NUMBER)
        if len(found) > 1:
            return Reading(None, SEVERAL, found[0].start, found[-1].stop)
        return _reading(found[0])


def _reading(number: _Number) -> Reading:
    place = (number.start, number.stop)
    if number.kind is _Kind.NOT_WHOLE:
        return Reading(None, NOT_WHOLE, *place)
    value = unicodedata.decimal(number.text) if len(number.text) == 1 else 0  # `04` and `2024` are no points
    if number.kind is _Kind.NEGATIVE or value not in STANCE_OF:
        return Reading(None, OUT_OF_RANGE, *place)
    stance = STANCE_OF[value]
    return Reading(stance.value, f'"{number.text}" read as {stance.value}', *place)


def _number(match: re.Match[str]) -> _Number:
    """Return a run of digits, classified by its neighbours; the position of a number includes its sign."""
    text, start, stop = match.string, match.start(), match.end()
    before, after = text[max(0, start - 2) : start], text[stop : stop + 2]
    if _joins(before[::-1]) or _joins(after):
        return _Number(match[0], start, stop, _Kind.OF_A_WORD)
    decimal = before in (".", ",") or (len(before) == 2 and before[1] == "." and before[0].isspace())
    if decimal or not match[0].isdigit() or _goes_on(before[-1:]) or _goes_on(after[:1]):
        return _Number(match[0], start, stop, _Kind.NOT_WHOLE)
    if before[-1:] and before[-1] in _MINUS and not before[:-1].isalnum():
        return _Number(match[0], start - 1, stop, _Kind.NEGATIVE)
    return _Number(match[0], start, stop, _Kind.WHOLE)


def _joins(neighbours: str) -> bool:
    """Return whether a letter is next to the digits, or behind a hyphen; the nearest neighbour comes first."""
    if neighbours[:1] and neighbours[0] in _HYPHENS:
        neighbours = neighbours[1:]
    return neighbours[:1].isalpha()


def _goes_on(neighbour: str) -> bool:
    """Return whether a sign next to the digits makes them a percentage, a fraction or a power."""
    return bool(neighbour) and (neighbour in _PER_CENT or (neighbour.isnumeric() and not neighbour.isdecimal()))
