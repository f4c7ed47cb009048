"""Tokenises rendered chats with common beginnings: a context of sixty answered questions is tokenised once.

A tokenizer first splits a text at its special tokens, and tokenises the parts on each side independently. So two texts
with the same beginning up to a special token have the same tokens up to there, and the tokens after it are those of the
rest alone. This is used only for tokenizers that split this way, at tokens that cannot be part of another one, and only
if the first text with a context, which is tokenised as a whole, was found to be split there.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

MOST_CONTEXTS = 1024
"contexts whose tokens are cached: one per respondent, a few kilobytes each"


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The common beginning of texts with one context."""

    text: str
    "up to and including a special token"
    cut: int
    "start of that token"
    tokens: array[int]
    "of the text before it"


class ContextTokens:
    """Tokenises texts with common beginnings."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._cuts = _cuts(tokenizer)
        self._held: dict[Hashable, _Beginning] = {}

    def holds(self, context: Hashable) -> bool:
        """Whether the beginning of this context is cached."""
        return context in self._held

    def encode(self, context: Hashable, text: str, differs: int) -> list[int]:
        """Return the tokens of a text, exactly those of the tokenizer.

        `context` identifies the beginning of the text; `differs` is its end, where other texts with the same context
        differ at the latest. Both affect only speed, never the result.
        """
        held = self._held.get(context)
        if held is not None and text.startswith(held.text):
            return [*held.tokens, *self._plain(text[held.cut :])]
        found = None
        for found in self._cuts.finditer(text, 0, max(0, differs)) if self._cuts else ():  # noqa: B007 - the last one
            pass
        return self._learnt(context, text, found) if found is not None and found.start() else self._plain(text)

    def _learnt(self, context: Hashable, text: str, found: re.Match[str]) -> list[int]:
        """Tokenise a whole text; cache its beginning if the tokenizer splits there."""
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        tokens: list[int] = list(encoded["input_ids"])
        cut = found.start()
        before = next((i for i, (start, _) in enumerate(encoded["offset_mapping"]) if start == cut), None)
        if before is not None and tokens[before:] == self._plain(text[cut:]):
            if len(self._held) >= MOST_CONTEXTS:
                del self._held[next(iter(self._held))]
            self._held[context] = _Beginning(text[: found.end()], cut, array("q", tokens[:before]))
        return tokens

    def _plain(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False).input_ids)


def _cuts(tokenizer: Any) -> re.Pattern[str] | None:
    """Return a pattern for the special tokens at which a tokenizer splits every text; None if it has none.

    Excluded are tokens that match in normalised text or only as whole words, those that absorb spaces before them, and
    those that could overlap another one: their positions depend on the surrounding text.
    """
    if not getattr(tokenizer, "is_fast", False) or getattr(tokenizer, "split_special_tokens", False):
        return None
    added = tuple(tokenizer.added_tokens_decoder.values())
    within = "\0".join(token.content[1:] for token in added)
    ends = {token.content[place:] for token in added for place in range(1, len(token.content))}
    sure = [
        text
        for text, token in ((token.content, token) for token in added)
        if token.special and not (token.normalized or token.single_word or token.lstrip)
        if text not in within and not any(text[:length] in ends for length in range(1, len(text) + 1))
    ]
    return re.compile("|".join(map(re.escape, sorted(sure, key=len, reverse=True)))) if sure else None
