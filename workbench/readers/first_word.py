"""Reads answers to a question that asks for one of two words, such as yes and no, by their first word alone.

The rule is strict: the first word has to be one of the two; case, quotes and markup are ignored. So it reads from drawn
answers the same event as the probability of the next token. Later words do not count: "no" occurs in many sentences
that say yes ("Yes, no doubt"), and reading it would shift the share of one side. "Yes and no" and "yes/no" name both
words and are not read.
"""

from __future__ import annotations

import re
from functools import cached_property

from workbench.domain.readings import ReaderCard, ReaderKind, Reading, Stance

FIRST_WORD = "first-word"
VERSION = "1"
"increases whenever some text is read differently"

NO_TEXT = "empty answer"
ANOTHER = "the first word is neither of the two"
BOTH = "names both words"

_MARKUP = r"[\s*_`~#>\"'“”„‘’«»()\[\]<.,:;!¡¿-]*"
"characters that may precede the first word"
_OR = r"[\s*_`\"'“”„‘’«»(),]*(?:/|\b(?:and|or|und|oder|et|ou|e|o|y|en|of|i|lub|és|vagy)\b)[\s*_`\"'“”„‘’«»()]*"
"what joins the two words in an answer that names both"


class FirstWord:
    """Reads the answers to a template with two labels of one word each."""

    def __init__(self, positive: str, negative: str) -> None:
        self._labels = {positive.strip().casefold(): Stance.AGREE, negative.strip().casefold(): Stance.DISAGREE}

    @property
    def card(self) -> ReaderCard:
        """The same for all readers of this class; the words belong to the template."""
        return ReaderCard(ReaderKind.RULE, FIRST_WORD, VERSION)

    def read(self, text: str) -> Reading:
        """Return agree for the positive word, disagree for the negative one, or None. Accepts any text, in linear time.

        Examples
        --------
        >>> rule = FirstWord("yes", "no")
        >>> [rule.read(text).label for text in ("**Yes.**", " no, because", "Yes and no", "I say yes", "Nothing", "")]
        ['agree', 'disagree', None, None, None, None]
        """
        if not text.strip():
            return Reading(None, NO_TEXT)
        found = self._first.match(text)
        if found is None:
            return Reading(None, ANOTHER)
        word = found[1].casefold()
        if (second := self._joined.match(text, found.end())) is not None and second[1].casefold() != word:
            return Reading(None, BOTH, found.start(1), second.end(1))
        stance = self._labels[word]
        return Reading(stance.value, f'"{found[1]}" read as {stance.value}', found.start(1), found.end(1))

    @cached_property
    def _first(self) -> re.Pattern[str]:
        return re.compile(rf"{_MARKUP}({self._either})(?![\w’'-]*\w)", re.IGNORECASE)

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile(rf"{_OR}({self._either})(?!\w)", re.IGNORECASE)

    @property
    def _either(self) -> str:
        return "|".join(map(re.escape, sorted(self._labels, key=len, reverse=True)))


__all__ = ["FIRST_WORD", "FirstWord"]
