r"""Reads which lettered option an answer names.

A published answer is one token; if it is not a letter, it is drawn again (Tjuatja et al. 2024, section 3 and appendix
C). Longer answers begin with the letter, or have a line `Answer: …` that names it: the last such line counts, because
an answer that repeats the options ends with its choice. If a base model continues with another question, only the text
before that question counts. Answers without a letter are kept but do not count:

- `a`, ` A`, `B.`, `(c)`, `**D**`, `Answer: e` name a letter, whatever its case; no letter is guessed from words and
  sentences (`Agree`, `A lot of people`, `I would say A`);
- the reader does not know the options, so it does not check whether the letter is offered.
"""

from __future__ import annotations

import re

from workbench.domain.prompts import LETTER
from workbench.domain.readings import ReaderCard, ReaderKind, Reading

VERSION = "2"
"increases whenever some text is read differently"

NO_TEXT = "empty answer"
NO_LETTER = "no letter"

_WRAP = r"[\s*_`\"'(\[<]{0,4}"
_END = r"(?=[\s*_`\"']{0,4}(?:[.):\]>][\s*_`\"')]{0,4}(?:\s|$)|\n|$))"
_BEGINS = re.compile(rf"{_WRAP}([A-Za-z]){_END}")
_NEXT = re.compile(r"(?im)^[\s*_#>]{0,4}question[\s*_]{0,4}:")
_NAMED = re.compile(rf"(?im)^[\s*_#>]{{0,4}}answer[\s*_]{{0,4}}:{_WRAP}([a-z]){_END}")


class ChoiceLetter:
    """Reads the letter that an answer names."""

    @property
    def card(self) -> ReaderCard:
        """The same for all readers of this class."""
        return ReaderCard(ReaderKind.RULE, LETTER, VERSION)

    def read(self, text: str) -> Reading:
        """Return the letter in lower case with its position, or None. Accepts any text, in linear time."""
        if not text.strip():
            return Reading(None, NO_TEXT)
        begins = [0, *(question.start() for question in _NEXT.finditer(text))]
        for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
            named = list(_NAMED.finditer(text, begin, end))
            match = named[-1] if named else _BEGINS.match(text, begin, end)
            if match is not None:
                said = f'"{match[1]}" read as {match[1].lower()}'
                return Reading(match[1].lower(), said, match.start(1), match.end(1))
        return Reading(None, NO_LETTER)


def letter_of(text: str) -> str:
    """Return the letter that an answer names, in lower case; "" if it names none.

    Examples
    --------
    >>> [letter_of(text) for text in (" A", "b.", "(c)", "Agree", "A lot", "Answer: D\\nReason: …", "")]
    ['a', 'b', 'c', '', '', 'd', '']
    """
    return _READER.read(text).label or ""


def spelled(token: str) -> str:
    """Return the word that one token spells, without surrounding spaces and in lower case.

    A letter is read as an answer of that token would be read, so that the probability of a letter is the limit of the
    share of such answers.

    Examples
    --------
    >>> [spelled(token) for token in (" A", "(a", "B.", " Yes", "As")]
    ['a', 'a', 'b', 'yes', 'as']
    """
    return letter_of(token) or token.strip().casefold()


_READER = ChoiceLetter()
