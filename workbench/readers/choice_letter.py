r"""Reads which of the lettered options an answer names.

A published answer is one token, which is a letter or is drawn again (Tjuatja et al. 2024, section 3 and appendix C).
Longer answers begin with the letter, or have a line `Answer: …` that names it: the last such line counts, because an
answer that lists the options again ends with what it chose. What is no letter here is kept and does not count:

- `a`, ` A`, `B.`, `(c)`, `**D**`, `Answer: e` name a letter, whatever its case; of words and sentences (`Agree`,
  `A lot of people`, `I would say A`) no letter is guessed;
- whether the letter is offered is another question: the reader does not know the options.
"""

from __future__ import annotations

import re

from workbench.domain.prompts import LETTER
from workbench.domain.readings import ReaderCard, ReaderKind, Reading

VERSION = "1"
"goes up whenever some text is read differently"

NO_TEXT = "empty answer"
NO_LETTER = "no letter"

_WRAP = r"[\s*_`\"'(\[<]{0,4}"
_END = r"(?=[\s*_`\"']{0,4}(?:[.):\]>][\s*_`\"')]{0,4}(?:\s|$)|\n|$))"
_BEGINS = re.compile(rf"{_WRAP}([A-Za-z]){_END}")
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
        named = list(_NAMED.finditer(text))
        match = named[-1] if named else _BEGINS.match(text)
        if match is None:
            return Reading(None, NO_LETTER)
        return Reading(match[1].lower(), f'"{match[1]}" read as {match[1].lower()}', match.start(1), match.end(1))


def letter_of(text: str) -> str:
    """Return the letter that an answer names, in lower case; "" where it names none.

    Examples
    --------
    >>> [letter_of(text) for text in (" A", "b.", "(c)", "Agree", "A lot", "Answer: D\\nReason: …", "")]
    ['a', 'b', 'c', '', '', 'd', '']
    """
    return _READER.read(text).label or ""


_READER = ChoiceLetter()
