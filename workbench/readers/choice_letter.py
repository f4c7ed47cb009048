r"""Reads which of the lettered options an answer names.

A published answer is one token, which is a letter or is drawn again (Tjuatja et al. 2024, section 3 and appendix C).
Longer answers begin with the letter, or have a line `Answer: …` that names it: the last such line counts, because an
answer that lists the options again ends with what it chose. Where a model goes on to put another question to itself, as
models do that only continue texts, what it answered before counts. What is no letter here is kept and does not count:

- `a`, ` A`, `B.`, `(c)`, `**D**`, `Answer: e` name a letter, whatever its case; of words and sentences (`Agree`,
  `A lot of people`, `I would say A`) no letter is guessed;
- whether the letter is offered is another question: the reader does not know the options.
"""

from __future__ import annotations

import re

from workbench.domain.prompts import LETTER
from workbench.domain.readings import ReaderCard, ReaderKind, Reading

VERSION = "2"
"goes up whenever some text is read differently"

NO_TEXT = "empty answer"
NO_LETTER = "no letter"

_WRAP = r"[\s*_`\"'(\[<]{0,4}"
_END = r"(?=[\s*_`\"']{0,4}(?:[.):\]>][\s*_`\"')]{0,4}(?:\s|$)|\n|$))"
_BEGINS = re.compile(rf"{_WRAP}([A-Za-z]){_END}")
_NEXT = re.compile(r"(?im)^[\s*_#>]{0,4}question[\s*_]{0,4}:")
_NAMED = re.compile(rf"(?im)^[\s*_#>]{{0,4}}answer[\s*_]{{0,4}}:{_WRAP}([a-z]){_END}")


class ChoiceLetter:
    """Reads the one letter that an answer names."""

    @property
    def card(self) -> ReaderCard:
        """There is one such rule."""
        return ReaderCard(ReaderKind.RULE, LETTER, VERSION)

    def read(self, text: str) -> Reading:
        """Return the letter in lower case, or None, with its place. Takes any text, in linear time."""
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
    """Return the letter that an answer names, in lower case; "" where it names none.

    Examples
    --------
    >>> [letter_of(text) for text in (" A", "b.", "(c)", "Agree", "A lot", "Answer: D\\nReason: …", "")]
    ['a', 'b', 'c', '', '', 'd', '']
    """
    return _READER.read(text).label or ""


def spelled(token: str) -> str:
    """Return the word that one token spells, blanks around it and case aside; a letter as an answer of it is read, so
    that the probability of a letter is what the share of such answers tends to.

    Examples
    --------
    >>> [spelled(token) for token in (" A", "(a", "B.", " Yes", "As")]
    ['a', 'a', 'b', 'yes', 'as']
    """
    return letter_of(token) or token.strip().casefold()


_READER = ChoiceLetter()
