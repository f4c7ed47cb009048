"""Takes a key out of what a server sends, however the server writes it.

A text is compared in one normal form: escapes are decoded (`\\u0073`, `%73`, `&#115;`, also several times),
then only letters and digits stay, without case. The key is looked for in this form as it is, backwards,
in hexadecimal and in base64. A text in which the key is written plainly loses the key alone; any other
text in which it is found is replaced as a whole.

What is not found: a part of a key, a key that is spread over several answers, and other ciphers.
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
"""letters of a key without digits that is looked for in the normal form: `lm-studio` and `not-needed`,
which local servers take for a key, could be words of an answer"""
ROUNDS = 4
"times that escapes are decoded, so that an escaped escape is read, too"
ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrtbfv])")
NOT_WRITTEN = re.compile(r"[\W_]+")
"all but letters and digits"


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that must not be stored."""

    plain: re.Pattern[str]
    "the ways to write the key that may stand within a text"
    normal_forms: tuple[str, ...]
    "the key in the normal form of texts; empty if the key could be a word"
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
        normal = normal_form(text)
        return any(form in normal for form in self.normal_forms)

    def taken_out(self, text: str) -> str:
        """Return a text without the key."""
        if not self.is_in(text):
            return text
        shorter = self.plain.sub(REMOVED, text)
        return REMOVED if self.is_in(shorter) else shorter

    def taken_out_of_reply(self, content: bytes) -> bytes:
        """Return the bytes of a reply, which is JSON or a text, without the key."""
        text = content.decode("utf-8", "surrogateescape")
        if not self.is_in(text):
            return content
        try:
            return json.dumps(self._taken_out_of_value(json.loads(text))).encode()
        except (ValueError, RecursionError):
            return self.taken_out(text).encode("utf-8", "surrogateescape")

    def taken_out_of_lines(self, content: bytes) -> bytes:
        """Return the bytes of a file of JSON lines without the key."""
        return b"\n".join(map(self.taken_out_of_reply, content.split(b"\n")))

    def _taken_out_of_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.taken_out(value)
        if isinstance(value, list):
            return [self._taken_out_of_value(part) for part in value]
        if isinstance(value, dict):
            return {self.taken_out(name): self._taken_out_of_value(part) for name, part in value.items()}
        return value


@lru_cache(maxsize=16)
def secret_of(key: str | None) -> Secret | None:
    """Return what finds a key in texts, or None without a key or for a short one."""
    if key is None or len(key) < SHORTEST:
        return None
    escaped = json.dumps(key)[1:-1]
    plain = {key, quote(key, safe=""), escaped, escaped.replace("/", "\\/"), *_packed(key)}
    longest_first = sorted(plain, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    normal = normal_form(key)
    is_a_word = not any(character.isdigit() for character in normal)
    if len(normal) < (SHORTEST_WORD if is_a_word else SHORTEST):
        return Secret(pattern, (), min(map(len, plain)))
    forms = [normal, normal[::-1], key.encode().hex()]
    forms += [normal_form(packed) for packed in _packed(key)]
    return Secret(pattern, tuple(dict.fromkeys(forms)), min(map(len, (*forms, *plain))))


def without_key(text: str, key: str | None) -> str:
    """Return a text without a key."""
    secret = secret_of(key)
    return text if secret is None else secret.taken_out(text)


def normal_form(text: str) -> str:
    """Return the letters and digits of a text without case, after its escapes are decoded.

    Examples
    --------
    >>> normal_form("S%6B-\\\\u0061 &#98;\\u200bc"), normal_form("%2573%256b")
    ('skabc', 'sk')
    """
    for _ in range(ROUNDS):
        decoded = _decoded(text)
        if decoded == text:
            break
        text = decoded
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return NOT_WRITTEN.sub("", text).casefold()


def _decoded(text: str) -> str:
    """Return a text whose escapes of JSON, addresses and HTML are decoded once."""
    if "\\" in text:
        text = ESCAPE.sub(_character, text)
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = unescape(text)
    return text


def _character(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2)
    return chr(int(digits, 16)) if digits else " "


def _packed(key: str) -> Iterator[str]:
    """Yield a key in base64, by itself and within a longer text, wherever it begins there."""
    data = key.encode("utf-8", "surrogateescape")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            text = encode(bytes(before) + data).decode().rstrip("=")
            first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
            yield text[first:last]
