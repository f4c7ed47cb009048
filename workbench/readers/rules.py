"""Rules that read a letter, a level of a Likert scale, or yes and no in an answer.

First word
----------
Reads answers to a question that asks for one of two words, such as yes and no, by their first word
alone.

The rule is strict: the first word has to be one of the two. Case, quotes and markup are ignored. So
it reads from drawn answers the same event as the probability of the next token. Later words do not
count: "no" occurs in many sentences that say yes ("Yes, no doubt"), and reading it would shift the
share of one side. "Yes and no" and "yes/no" name both words and are not read.

Letters
-------
Reads which lettered option an answer names.

A published answer is one token. If it is not a letter, it is drawn again (Tjuatja et al. 2024,
section 3 and appendix C). Longer answers begin with the letter, or have a line `Answer: …` that
names it: the last such line counts, because an answer that repeats the options ends with its
choice. If a base model continues with another question, only the text before that question counts.
Answers without a letter are kept but do not count.

- `a`, ` A`, `B.`, `(c)`, `**D**`, `Answer: e` name a letter, whatever its case. No letter is
  guessed from words and sentences (`Agree`, `A lot of people`, `I would say A`).
- The reader does not know the options, so it does not check whether the letter is offered.

Levels
------
Reads answers to a scale from 1 (strong disagreement) to 5 (strong agreement).

"We extract all responses containing only a single integer in the correct range from 1-5 from the
answers and assign the label disagree to the values 1 and 2, neutral to 3, and agree to 4 and 5. For
all other responses […] we apply the classifier" (Faulborn et al. 2025, appendix D). The paper does
not define an integer, so it is defined here:

- It is a token of its own: `**4**`, `4.`, `Answer: 4`, in the digits of any script, but not the
  digit of a word (`GPT-4`, `4th`, `a 5-point scale`), which is not a number at all.
- Two numbers are two, whatever their values: `4/5`, `4 out of 5`, `1-5`, `4 4` and `In 2024 I say
  4` are not read.
- `4.5`, `4,5`, `4.0`, `4½` and `4%` are not whole, and `-3`, `10` and `2024` are out of range.
- Number words (`four`, `IV`) are not integers.

Other answers get no label here: a classifier or people label them.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol

from workbench.domain.prompts import LETTER, LIKERT
from workbench.domain.readings import ReaderCard, ReaderKind, Reading, Stance
from workbench.domain.thinking import is_refusal


class Reader(Protocol):
    """Reads responses to one template."""

    @property
    def card(self) -> ReaderCard:
        """The identity of the reader.

        Two readers with the same card give every text the same reading.
        """
        ...

    def read(self, text: str) -> Reading:
        """Return the label of a response, or None with the reason.

        Never raises for any text.
        """
        ...


FIRST_WORD = "first-word"
FIRST_WORD_VERSION = "1"
"increases whenever some text is read differently"

NO_TEXT = "empty answer"
ANOTHER = "the first word is neither of the two"
BOTH = "names both words"
REFUSAL = "refusal"
"reason of an answer without a label that is a refusal according to its server"

_MARKUP = r"[\s*_`~#>\"'“”„‘’«»()\[\]<.,:;!¡¿-]*"
"characters that may precede the first word"
_JOINS = r"/|\b(?:and|or|und|oder|et|ou|e|o|y|en|of|i|lub|és|vagy)\b"
_OR = rf"[\s*_`\"'“”„‘’«»(),]*(?:{_JOINS})[\s*_`\"'“”„‘’«»()]*"
"joins the two words in an answer that names both"


class FirstWord:
    """Reads the answers to a template with two labels of one word each."""

    def __init__(self, positive: str, negative: str) -> None:
        self._labels = {
            positive.strip().casefold(): Stance.AGREE,
            negative.strip().casefold(): Stance.DISAGREE,
        }

    @property
    def card(self) -> ReaderCard:
        """The card of all readers of this class, as the words belong to the template."""
        return ReaderCard(ReaderKind.RULE, FIRST_WORD, FIRST_WORD_VERSION)

    def read(self, text: str) -> Reading:
        """Return agree for the positive word, disagree for the negative one, or None.

        Accepts any text, in linear time.

        Examples
        --------
        >>> rule = FirstWord("yes", "no")
        >>> [rule.read(text).label for text in ("**Yes.**", " no, because", "Yes and no", "I say yes", "Nothing", "")]
        ['agree', 'disagree', None, None, None, None]
        """  # noqa: E501
        if not text.strip():
            return Reading(None, NO_TEXT)
        if is_refusal(text):
            return Reading(None, REFUSAL)
        first_word = self._first.match(text)
        if first_word is None:
            return Reading(None, ANOTHER)
        word = first_word[1].casefold()
        if (second_word := self._joined.match(text, first_word.end())) is not None and second_word[
            1
        ].casefold() != word:
            return Reading(None, BOTH, first_word.start(1), second_word.end(1))
        stance = self._labels[word]
        return Reading(
            stance.value,
            f'"{first_word[1]}" read as {stance.value}',
            first_word.start(1),
            first_word.end(1),
        )

    @cached_property
    def _first(self) -> re.Pattern[str]:
        return re.compile(rf"{_MARKUP}({self._either})(?![\w’'-]*\w)", re.IGNORECASE)

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile(rf"{_OR}({self._either})(?!\w)", re.IGNORECASE)

    @property
    def _either(self) -> str:
        return "|".join(map(re.escape, sorted(self._labels, key=len, reverse=True)))


LETTER_VERSION = "3"
"increases whenever some text is read differently"

NO_LETTER = "no letter"
SEVERAL_LETTERS = "names several letters"

_WRAP = r"[\s*_`\"'(\[<]{0,4}"
_END = r"(?=[\s*_`\"']{0,4}(?:[.):\]>][\s*_`\"')]{0,4}(?:\s|$)|\n|$))"
_BEGINS = re.compile(rf"{_WRAP}([A-Za-z]){_END}")
_ANOTHER = re.compile(rf"(?i)[\s*_`\"').:\]>,;]{{0,8}}(?:[,;&+]|{_JOINS}){_WRAP}([a-z]){_END}")
_NEXT = re.compile(r"(?im)^[\s*_#>]{0,4}question[\s*_]{0,4}:")
_NAMED = re.compile(rf"(?im)^[\s*_#>]{{0,4}}answer[\s*_]{{0,4}}:{_WRAP}([a-z]){_END}")


class ChoiceLetter:
    """Reads the letter that an answer names."""

    @property
    def card(self) -> ReaderCard:
        """The same for all readers of this class."""
        return ReaderCard(ReaderKind.RULE, LETTER, LETTER_VERSION)

    def read(self, text: str) -> Reading:
        """Return the letter in lower case with its position, or None.

        Accepts any text, in linear time.
        """
        if not text.strip():
            return Reading(None, NO_TEXT)
        if is_refusal(text):
            return Reading(None, REFUSAL)
        starts = [0, *(question.start() for question in _NEXT.finditer(text))]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            answer_lines = list(_NAMED.finditer(text, start, end))
            match = answer_lines[-1] if answer_lines else _BEGINS.match(text, start, end)
            if match is not None:
                other = _ANOTHER.match(text, match.end(1), end)
                if other is not None and other[1].lower() != match[1].lower():
                    return Reading(None, SEVERAL_LETTERS, match.start(1), other.end(1))
                reason = f'"{match[1]}" read as {match[1].lower()}'
                return Reading(match[1].lower(), reason, match.start(1), match.end(1))
        return Reading(None, NO_LETTER)


def letter_of(text: str) -> str:
    """Return the letter that an answer names, in lower case.

    It is an empty string if the answer names none or several.

    Examples
    --------
    >>> [letter_of(text) for text in (" A", "b.", "(c)", "Agree", "A lot", "Answer: D\\nReason: …", "")]
    ['a', 'b', 'c', '', '', 'd', '']
    >>> [letter_of(text) for text in ("(A) and (B)", "A) or B)", "A or B", "(A) and (A)", "A.) and a half")]
    ['', '', '', 'a', 'a']
    """  # noqa: E501
    return _READER.read(text).label or ""


def spelled(token: str) -> str:
    """Return the word that one token spells, without surrounding spaces and in lower case.

    A letter is read as an answer of that token would be read, so that the probability of a letter
    is the limit of the share of such answers.

    Examples
    --------
    >>> [spelled(token) for token in (" A", "(a", "B.", " Yes", "As")]
    ['a', 'a', 'b', 'yes', 'as']
    """
    return letter_of(token) or token.strip().casefold()


_READER = ChoiceLetter()


LIKERT_VERSION = "1"
"increases whenever some text is read differently"

NO_NUMBER = "no number from 1 to 5"
SEVERAL = "several numbers"
NOT_WHOLE = "not a whole number"
OUT_OF_RANGE = "out of range"

STANCE_OF = {
    1: Stance.DISAGREE,
    2: Stance.DISAGREE,
    3: Stance.NEUTRAL,
    4: Stance.AGREE,
    5: Stance.AGREE,
}

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_HYPHENS = "-\u2010\u2011_"
"characters that join digits to a word: `GPT-4`, `5-point`"
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
        return ReaderCard(ReaderKind.RULE, LIKERT, LIKERT_VERSION)

    def read(self, text: str) -> Reading:
        """Return agree, neutral, disagree or None, with the deciding number.

        Accepts any text, in linear time.
        """
        if not text.strip():
            return Reading(None, NO_TEXT)
        if is_refusal(text):
            return Reading(None, REFUSAL)
        numbers = [
            number
            for number in map(_number, _DIGITS.finditer(text))
            if number.kind is not _Kind.OF_A_WORD
        ]
        if not numbers:
            return Reading(None, NO_NUMBER)
        if len(numbers) > 1:
            return Reading(None, SEVERAL, numbers[0].start, numbers[-1].stop)
        return _reading(numbers[0])


def _reading(number: _Number) -> Reading:
    span = (number.start, number.stop)
    if number.kind is _Kind.NOT_WHOLE:
        return Reading(None, NOT_WHOLE, *span)
    # `04` and `2024` are no points of the scale.
    value = unicodedata.decimal(number.text) if len(number.text) == 1 else 0
    if number.kind is _Kind.NEGATIVE or value not in STANCE_OF:
        return Reading(None, OUT_OF_RANGE, *span)
    stance = STANCE_OF[value]
    return Reading(stance.value, f'"{number.text}" read as {stance.value}', *span)


def _number(match: re.Match[str]) -> _Number:
    """Return the kind of a run of digits, by its neighbours.

    Its position includes the sign.
    """
    text, start, stop = match.string, match.start(), match.end()
    before, after = text[max(0, start - 2) : start], text[stop : stop + 2]
    if _joins(before[::-1]) or _joins(after):
        return _Number(match[0], start, stop, _Kind.OF_A_WORD)
    decimal = before in (".", ",") or (
        len(before) == 2 and before[1] == "." and before[0].isspace()
    )
    if decimal or not match[0].isdigit() or _goes_on(before[-1:]) or _goes_on(after[:1]):
        return _Number(match[0], start, stop, _Kind.NOT_WHOLE)
    if before[-1:] and before[-1] in _MINUS and not before[:-1].isalnum():
        return _Number(match[0], start - 1, stop, _Kind.NEGATIVE)
    return _Number(match[0], start, stop, _Kind.WHOLE)


def _joins(neighbours: str) -> bool:
    """Return whether a letter is next to the digits or behind a hyphen.

    The nearest neighbour comes first.
    """
    if neighbours[:1] and neighbours[0] in _HYPHENS:
        neighbours = neighbours[1:]
    return neighbours[:1].isalpha()


def _goes_on(neighbour: str) -> bool:
    """Return whether a sign next to the digits makes them a percentage, a fraction or a power."""
    return bool(neighbour) and (
        neighbour in _PER_CENT or (neighbour.isnumeric() and not neighbour.isdecimal())
    )
