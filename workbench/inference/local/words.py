"""The tokens of a vocabulary that spell a word, such as `yes`, ` Yes` and `YES`, or `A` and `(a`, and the tokens that
may follow a whole word.

A token is spelled as after other text, like in `TextFormat.spell_next`: tokenizers that write spaces before words drop
the space of a token that is decoded alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.readers.choice_letter import spelled
from workbench.readers.lexicon import continues_word

BEFORE = ":"
"text before a token: no tokenizer changes its spelling because of what follows"
AT_ONCE = 8192
"tokens decoded in one call"


class SpelledVocabulary:
    """The words that single tokens spell. Decoding a whole vocabulary takes about a second, so it is done once."""

    def __init__(self, tokenizer: Any, size: int):
        """`size`: of the network's vocabulary. Tokens unknown to the tokenizer spell nothing."""
        self._tokenizer, self._size = tokenizer, min(size, len(tokenizer))
        self._by_word: dict[str, list[int]] | None = None
        self._word_ends: tuple[int, ...] = ()

    def sets(self, words: Iterable[str]) -> list[list[int]]:
        """Return the tokens that spell each word, ignoring case and spaces; special tokens spell none."""
        by_word = self._read()
        return [by_word.get(spelled(word), []) for word in words]

    @property
    def word_ends(self) -> tuple[int, ...]:
        """The tokens that may follow a word without continuing it, by the readers' definition of words: spaces,
        punctuation, the end of the answer. A token that is part of a character is included.
        """
        self._read()
        return self._word_ends

    def _read(self) -> dict[str, list[int]]:
        if self._by_word is not None:
            return self._by_word
        special = _special_ids(self._tokenizer)
        found: dict[str, list[int]] = {}
        ends = []
        for token, text in enumerate(self._texts()):
            word = spelled(text)
            if word and token not in special:
                found.setdefault(word, []).append(token)
            if token in special or not continues_word(text):
                ends.append(token)
        self._by_word, self._word_ends = found, tuple(ends)
        return found

    def _texts(self) -> Iterable[str]:
        before = list(self._tokenizer(BEFORE, add_special_tokens=False).input_ids)
        begun = self._decoded([before])[0]
        for first in range(0, self._size, AT_ONCE):
            tokens = range(first, min(first + AT_ONCE, self._size))
            whole = self._decoded([[*before, token] for token in tokens])
            for token, text in zip(tokens, whole, strict=True):
                yield text[len(begun) :] if text.startswith(begun) else self._decoded([[token]])[0]

    def _decoded(self, rows: Sequence[list[int]]) -> list[str]:
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is not None and hasattr(backend, "decode_batch"):
            texts: list[str] = backend.decode_batch(rows, skip_special_tokens=False)
            return texts
        return [
            self._tokenizer.decode(row, skip_special_tokens=False, clean_up_tokenization_spaces=False) for row in rows
        ]


def _special_ids(tokenizer: Any) -> frozenset[int]:
    """Return the control tokens, which do not spell text."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return frozenset(tokenizer.all_special_ids) | {token for token, about in added.items() if about.special}
