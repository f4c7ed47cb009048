"""Words of a response with their positions, and phrases that have a meaning for a reader.

All functions take time linear in the length of any text: responses are not under our control.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

# Decomposed accents count as letters; the underscores of Markdown do not. Only contracted endings stay with their
# word, so that 'harmful'or'beneficial' is three words.
_LETTER = r"(?:[^\W_]|[\u0300-\u036f])"
_APOSTROPHES = "'\u2019\u2018\u02bc\uff07`\u00b4"
_TOKEN = re.compile(
    rf"{_LETTER}+(?:[{_APOSTROPHES}](?:ll|re|ve|{_LETTER})(?!{_LETTER}))?|[^\w\s]|[\n\r\u0085\u2028\u2029]",
    re.IGNORECASE,
)
_ON = re.compile(rf"{_LETTER}|[{_APOSTROPHES}](?:ll|re|ve|{_LETTER})(?!{_LETTER})", re.IGNORECASE)
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_STRAIGHT = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))


class Token(NamedTuple):
    """A word or one character of punctuation."""

    text: str
    "case-folded, with normalised compatibility characters and apostrophes"
    start: int
    stop: int
    "the token is `response[start:stop]`"
    word: int
    "number of words before it"


def continues_word(text: str) -> bool:
    """Return whether a text that follows a word continues the word: `ment` after `agree`, and not ` with`, `.` or
    nothing.

    Examples
    --------
    >>> [continues_word(text) for text in ("ment", "'s", "", " with", ".", "'")]
    [True, True, False, False, False, False]
    """
    return _ON.match(text) is not None


def tokenize(text: str) -> list[Token]:
    """Return the words and punctuation marks of a text. Terminal colour codes count as spaces."""
    if "\x1b" in text:
        text = _TERMINAL_CODE.sub(lambda code: " " * len(code[0]), text)
    tokens, words = [], 0
    for match in _TOKEN.finditer(text):
        token = Token(_plain(match[0]), match.start(), match.end(), words)
        tokens.append(token)
        words += token.text[:1].isalnum()
    return tokens


def _plain(word: str) -> str:
    if word.isascii():
        return word.translate(_STRAIGHT).lower()
    return unicodedata.normalize("NFKC", word.translate(_STRAIGHT)).casefold()


class Phrasebook(Generic[T]):
    """Looks up the longest phrase that begins at a token."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        """Take phrases with their meanings; the first meaning of a phrase counts."""
        meanings: dict[tuple[str, ...], T] = {}
        for phrase, meaning in entries:
            words = tuple(token.text for token in tokenize(phrase))
            if words:
                meanings.setdefault(words, meaning)
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for words in sorted(meanings, key=len, reverse=True):
            self._by_first.setdefault(words[0], []).append((words, meanings[words]))

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def __contains__(self, word: str) -> bool:
        return word in self._by_first

    def mentions(self, token: str) -> bool:
        """Return whether a phrase contains this word or mark."""
        return any(token in words for entries in self._by_first.values() for words, _ in entries)

    def at(self, tokens: Sequence[Token], place: int) -> tuple[T, int] | None:
        """Return the meaning of the phrase that begins at `tokens[place]` and its number of tokens."""
        for words, meaning in self._by_first.get(tokens[place].text, ()):
            if len(words) == 1 or tuple(token.text for token in tokens[place : place + len(words)]) == words:
                return meaning, len(words)
        return None
