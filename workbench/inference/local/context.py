"""Tokens of rendered chats that begin alike: a context of sixty answered questions is tokenised once, not per prompt.

A tokenizer cuts a text at its special tokens before it does anything else, and what stands on one side of such a token
is tokenised without regard to the other. So the tokens up to a special token that two texts both have at one place are
the same in both, and those from it on are the tokens of the rest by itself. This is relied on only for tokenizers that
cut this way, at tokens that cannot be part of another one, and only where the first text with a context, which is
tokenised whole, was found to be cut there.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

MOST_CONTEXTS = 1024
"contexts whose tokens are kept: those of as many respondents, a few kilobytes each"


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What texts with one context have in common."""

    text: str
    "up to a special token and with it"
    cut: int
    "where that token begins"
    tokens: array[int]
    "of the text before it"


class ContextTokens:
    """Tokenises texts, of which many begin alike."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._cuts = _cuts(tokenizer)
        self._held: dict[Hashable, _Beginning] = {}

    def holds(self, context: Hashable) -> bool:
        """Whether a text with this context was cut before."""
        return context in self._held

    def encode(self, context: Hashable, text: str, differs: int) -> list[int]:
        """Return the tokens of a text, exactly those of the tokenizer.

        `context` names what the text begins with; `differs` is where it ends: where, at the latest, other texts with
        the same context go on differently. Both decide what is saved, never what comes out.
        """
        held = self._held.get(context)
        if held is not None and text.startswith(held.text):
            return [*held.tokens, *self._plain(text[held.cut :])]
        found = None
        for found in self._cuts.finditer(text, 0, max(0, differs)) if self._cuts else ():  # noqa: B007 - the last one
            pass
        return self._learnt(context, text, found) if found is not None and found.start() else self._plain(text)

    def _learnt(self, context: Hashable, text: str, found: re.Match[str]) -> list[int]:
        """Tokenise a whole text; keep its beginning where the tokenizer does cut it there."""
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
    """Return a pattern for the special tokens at which a tokenizer cuts every text; None where it has none.

    Left out are tokens that are looked for in normalised text or as whole words, those that take blanks in front of
    them along, and those that could overlap another one: where they are found depends on what stands around them.
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
