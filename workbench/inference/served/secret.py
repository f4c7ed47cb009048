"""Takes a key out of what a server sends, however the server writes it.

A reply is decoded first, as its reader will decode it: bytes to a text, the text to JSON. Every
string of it is then searched, names of fields included. Nothing depends on how the reply was
encoded on the way.

A string is compared in normal forms: escapes are decoded (`\\u0073`, `\\163`, `%73`, `&#115;`, also
several times), then only letters and digits stay, without case and accents. A backslash before a
letter is read in three ways: as an escape (`\\n` is a blank), as a sign before the letter, and as a
sign alone. The key is looked for in these forms as it is, backwards, in hexadecimal and in base64.
A text in which the key is written plainly loses the key alone. Any other text in which it is found
is replaced as a whole. `SECURITY.md` lists what is not found.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import quote, unquote

REMOVED = "[key removed]"
SHORTEST = 8
"characters of a key that is looked for: a shorter one could be a word of an answer"
SHORTEST_WORD = 12
"""letters of a key without digits that is looked for in the normal form

`lm-studio` and `not-needed`, which local servers take for a key, could be words of an answer.
"""
ROUNDS = 4
"times that escapes are decoded, so that an escaped escape is read, too"
HEX = "[0-9a-fA-F]"
ESCAPE = re.compile(
    rf"\\+[uUxX]\{{({HEX}{{1,6}})\}}|\\+U({HEX}{{8}})|\\+u({HEX}{{4}})|\\+[xX]({HEX}{{2}})|%[uU]({HEX}{{4}})"
)
"a character by its number in hexadecimal"
OCTAL_ESCAPE = re.compile(r"\\+([0-3][0-7]{2})")
LETTER_ESCAPE = re.compile(r"\\+([nrtbfv])")
NOT_WRITTEN = re.compile(r"[\W_\u115f\u1160]+")
"""all but letters and digits

The two fillers of Hangul count as letters, but are invisible.
"""


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that must not be stored."""

    plain: re.Pattern[str]
    "the ways to write the key that may stand within a text"
    normal_forms: tuple[str, ...]
    "the key in the normal form of texts, or empty if the key could be a word"
    shortest: int
    "fewest characters of a text that can have the key"

    def is_in(self, text: str) -> bool:
        """Return whether a text has the key in any form."""
        if len(text) < self.shortest:
            return False
        if self.plain.search(text):
            return True
        if not self.normal_forms:
            return False
        return any(form in normal for normal in normal_forms(text) for form in self.normal_forms)

    def remove_from(self, text: str) -> str:
        """Return a text without the key."""
        if not self.is_in(text):
            return text
        shorter = self.plain.sub(REMOVED, text)
        return REMOVED if self.is_in(shorter) else shorter

    def remove_from_reply(self, content: bytes) -> bytes:
        """Return the bytes of a reply without the key, in UTF-8."""
        content = _in_utf8(content)
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            text = content.decode("utf-8", "surrogateescape")
            return (
                self.remove_from(text).encode("utf-8", "surrogateescape")
                if self.is_in(text)
                else content
            )
        root = [value]
        if not self._remove_from_strings(root):
            return content
        try:
            return json.dumps(root[0]).encode()
        except RecursionError:
            return REMOVED.encode()

    def remove_from_lines(self, content: bytes) -> bytes:
        """Return the bytes of a file of JSON lines without the key, in UTF-8."""
        return b"\n".join(map(self.remove_from_reply, _in_utf8(content).splitlines()))

    def _remove_from_strings(self, root: list[Any]) -> bool:
        """Take the key out of every string of a JSON value, in place.

        Return whether it was in one.

        A stack of its own is used, because values may be nested deeper than functions can be.
        """
        is_changed = False
        containers: list[Any] = [root]
        while containers:
            container = containers.pop()
            if isinstance(container, dict):
                if any(map(self.is_in, container)):
                    is_changed = True
                    renamed = {self.remove_from(name): value for name, value in container.items()}
                    container.clear()
                    container.update(renamed)
                parts: list[tuple[Any, Any]] = list(container.items())
            else:
                parts = list(enumerate(container))
            for position, part in parts:
                if isinstance(part, str):
                    if self.is_in(part):
                        is_changed = True
                        container[position] = self.remove_from(part)
                elif isinstance(part, dict | list):
                    containers.append(part)
        return is_changed


def _in_utf8(content: bytes) -> bytes:
    """Return the bytes of JSON in UTF-8.

    They may come in UTF-16 or UTF-32, and with a byte order mark.
    """
    encoding = json.detect_encoding(content)
    if encoding == "utf-8":
        return content
    try:
        return content.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content


@lru_cache(maxsize=16)
def secret_of(key: str | None) -> Secret | None:
    """Return the finder of a key in texts, or None without a key or for a short one."""
    if key is None or len(key) < SHORTEST:
        return None
    escaped = json.dumps(key)[1:-1]
    spellings = {key, quote(key, safe=""), escaped, escaped.replace("/", "\\/"), *_packed(key)}
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    key_form = normal_form(key)
    is_a_word = not any(character.isdigit() for character in key_form)
    if len(key_form) < (SHORTEST_WORD if is_a_word else SHORTEST):
        return Secret(pattern, (), min(map(len, spellings)))
    forms = [key_form, key_form[::-1], key.encode().hex()]
    forms += [normal_form(packed) for packed in _packed(key)]
    return Secret(pattern, tuple(dict.fromkeys(forms)), min(map(len, (*forms, *spellings))))


def without_key(text: str, key: str | None) -> str:
    """Return a text without a key."""
    secret = secret_of(key)
    return text if secret is None else secret.remove_from(text)


def normal_form(text: str, letter_escape: str = " ") -> str:
    """Return the letters and digits of a text without case, after its escapes are decoded.

    `letter_escape` is the replacement of `\\n` and its like, as of `re.sub`.

    Examples
    --------
    >>> normal_form("S%6B-\\u0061 &#98;\u200bc"), normal_form("%2573%256b")
    ('skabc', 'sk')
    """
    for _ in range(ROUNDS):
        decoded = LETTER_ESCAPE.sub(letter_escape, _decoded(text))
        if decoded == text:
            break
        text = decoded
    return _letters(text)


def normal_forms(text: str) -> Iterator[str]:
    """Yield the normal forms of a text, one for each reading of its backslashes.

    Examples
    --------
    >>> list(normal_forms(r"\\n\\e\\w"))
    ['ew', 'new', 'new']
    """
    yield normal_form(text)
    if any(character in text for character in "\\%&"):  # the backslashes may be escaped themselves
        yield normal_form(text, r"\1")
        yield _letters(text.replace("\\", ""))


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without case and accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return NOT_WRITTEN.sub("", text).casefold()


def _decoded(text: str) -> str:
    """Return a text whose escapes of JSON, addresses and HTML are decoded once."""
    if "\\" in text or "%" in text:
        text = ESCAPE.sub(_character, text)
        text = OCTAL_ESCAPE.sub(lambda match: chr(int(match.group(1), 8)), text)
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = unescape(text)
    return text


def _character(match: re.Match[str]) -> str:
    number = int(next(filter(None, match.groups())), 16)
    return chr(number) if number < 0x110000 else " "


def _packed(key: str) -> Iterator[str]:
    """Yield a key in base64, by itself and within a longer text, wherever it begins there."""
    data = key.encode("utf-8", "surrogateescape")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            text = encode(bytes(offset) + data).decode().rstrip("=")
            first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
            yield text[first:last]
