"""The conversion of texts to a model's tokens and back.

It uses the model's chat format, or the published plain format if it has none.

Contexts
--------
Tokenises rendered chats with common beginnings: a context of sixty answered questions is tokenised
once.

A tokenizer first splits a text at its special tokens, and tokenises the parts on each side
independently. So two texts with the same beginning up to a special token have the same tokens up to
there, and the tokens after it are those of the rest alone. This is used only for tokenizers that
split this way, at tokens that cannot be part of another one, and only if the first text with a
context, which is tokenised as a whole, was found to be split there.

Words
-----
The tokens of a vocabulary that spell a word, such as `yes`, ` Yes` and `YES`, or `A` and `(a`, and
the tokens that may follow a whole word.

A token is spelled as after other text, like in `TextFormat.spell_next`: tokenizers that write
spaces before words drop the space of a token that is decoded alone.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import Any

from workbench.domain.prompts import Prompt
from workbench.domain.thinking import CHANNEL, HARMONY, is_mark
from workbench.errors import ModelError
from workbench.inference.chat_turns import VERSION, ChatTurns
from workbench.inference.engines import ThoughtRule
from workbench.readers.lexicon import continues_word
from workbench.readers.rules import spelled

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
    "tokens of the text before it"


class ContextTokens:
    """A tokeniser of texts with common beginnings."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._cuts = _cuts(tokenizer)
        self._held: dict[Hashable, _Beginning] = {}

    def holds(self, context: Hashable) -> bool:
        """Return whether the beginning of this context is cached."""
        return context in self._held

    def encode(self, context: Hashable, text: str, differs: int) -> list[int]:
        """Return the tokens of a text, exactly those of the tokenizer.

        `context` identifies the beginning of the text. `differs` is its end, where other texts with
        the same context differ at the latest. Both affect only speed, never the result.
        """
        beginning = self._held.get(context)
        if beginning is not None and text.startswith(beginning.text):
            return [*beginning.tokens, *self._tokens_of(text[beginning.cut :])]
        last_cut = None
        for last_cut in self._cuts.finditer(text, 0, max(0, differs)) if self._cuts else ():  # noqa: B007 - the last one
            pass
        return (
            self._learnt(context, text, last_cut)
            if last_cut is not None and last_cut.start()
            else self._tokens_of(text)
        )

    def _learnt(self, context: Hashable, text: str, match: re.Match[str]) -> list[int]:
        """Tokenise a whole text, and cache its beginning if the tokenizer splits there."""
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        tokens: list[int] = list(encoded["input_ids"])
        cut = match.start()
        n_before = next(
            (index for index, (start, _) in enumerate(encoded["offset_mapping"]) if start == cut),
            None,
        )
        if n_before is not None and tokens[n_before:] == self._tokens_of(text[cut:]):
            if len(self._held) >= MOST_CONTEXTS:
                del self._held[next(iter(self._held))]
            self._held[context] = _Beginning(
                text[: match.end()], cut, array("q", tokens[:n_before])
            )
        return tokens

    def _tokens_of(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False).input_ids)


def _cuts(tokenizer: Any) -> re.Pattern[str] | None:
    """Return a pattern for the special tokens at which a tokenizer splits every text.

    It is None without such tokens.

    Excluded are tokens that match in normalised text or only as whole words, those that absorb
    spaces before them, and those that could overlap another one: their positions depend on the
    surrounding text.
    """
    if not getattr(tokenizer, "is_fast", False) or getattr(
        tokenizer, "split_special_tokens", False
    ):
        return None
    added_tokens = tuple(tokenizer.added_tokens_decoder.values())
    inner_texts = "\0".join(token.content[1:] for token in added_tokens)
    endings = {
        token.content[position:]
        for token in added_tokens
        for position in range(1, len(token.content))
    }
    usable = [
        text
        for text, token in ((token.content, token) for token in added_tokens)
        if token.special and not (token.normalized or token.single_word or token.lstrip)
        if text not in inner_texts
        and not any(text[:length] in endings for length in range(1, len(text) + 1))
    ]
    return (
        re.compile("|".join(map(re.escape, sorted(usable, key=len, reverse=True))))
        if usable
        else None
    )


TOKENS_BEFORE = 4
"preceding tokens that determine whether a next token is spelled with a space"
REMEMBERED = 50_000
"spelled next tokens that are cached"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A tokenised prompt."""

    ids: list[int]
    "the tokens, empty if the prompt is empty and the model has no token that begins a text"
    opened: str = ""
    "the mark of the thought that the chat template opens at the end of the prompt, or empty"


class TextFormat:
    """The conversion of prompts to a model's tokens, and of its tokens to text."""

    def __init__(self, tokenizer: Any, *, default_system: bool = True):
        """Prepare the format of a tokenizer.

        `default_system` is explained in `ChatTurns`, whose errors this raises.
        """
        self._tokenizer = tokenizer
        self._chat = (
            ChatTurns(tokenizer, default_system=default_system) if tokenizer.chat_template else None
        )
        self.own = self._chat.own if self._chat else ()
        "marks of thoughts specific to this model's chat template"
        self._special = tuple(tokenizer.all_special_tokens)
        self._contexts = ContextTokens(tokenizer)
        self._next: dict[tuple[int, ...], str] = {}
        "recently spelled tokens: chats have similar ends and few likely next tokens"
        self._thought_tokens = self._marks()
        "tokens that decoding drops although they separate thoughts from answers -> their text"
        template = tokenizer.chat_template
        self.name = (
            blake2b(str(template).encode(), digest_size=8).hexdigest() if template else "none"
        )
        "a hash of the chat template, or `none`"
        self.encoding = self._chat.encoding if self._chat else VERSION
        self.notes = self._chat.notes if self._chat else ()
        "notes for the user about the encoding of turns"

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens of `encoded`."""
        return self.encoded(prompt).ids

    @property
    def thinks(self) -> bool:
        """Whether the chat format supports thoughts."""
        return self._chat is not None and self._chat.thinks

    def rule(self, budget: int, opened: str) -> ThoughtRule:
        """Return the rule for thoughts after a prompt.

        `opened` is the mark with which the prompt opened one, or empty.
        """
        assert self._chat is not None
        text, closing = self._chat.cut(opened)
        return ThoughtRule(
            budget, tuple(self._plain_ids(text)), opened, closing, self.spell, self.own
        )

    def encoded(self, prompt: Prompt, *, closed: bool = False, effort: str = "") -> Encoded:
        """Return a prompt in the model's chat format.

        Special tokens occur only where the format has them.

        Without a chat format the messages are joined by blank lines. Text of a message that spells
        a special token (`<|im_end|>`) is tokenised as plain characters. `closed`: a thought that
        the format opens is closed. `effort`: see `ChatTurns.write`.

        Raises ModelError if the chat template does not write the text of a turn.
        """
        if prompt.chat and self._chat is not None and prompt.messages:
            return self._encode_chat(self._chat, prompt, closed=closed, effort=effort)
        text = "\n\n".join(message.content for message in prompt.messages)
        ids = list(self._tokenizer(text, split_special_tokens=self._special_in(text)).input_ids)
        begin = self._tokenizer.bos_token_id
        return Encoded(ids or ([] if begin is None else [int(begin)]))

    def _encode_chat(
        self, chat: ChatTurns, prompt: Prompt, *, closed: bool, effort: str
    ) -> Encoded:
        messages, context = prompt.messages, prompt.messages[: prompt.context]
        unchecked = messages[prompt.context if context and self._contexts.holds(context) else 0 :]
        if not any(self._special_in(message.content) for message in unchecked):
            text = chat.write(messages, closed=closed, effort=effort)
            return Encoded(self._encode_text(text, prompt), chat.opened(text, messages[-1].content))
        ids: list[int] = []
        pieces = chat.pieces(messages, closed=closed, effort=effort)
        for piece in pieces:
            text = piece if isinstance(piece, str) else messages[piece].content
            is_message = not isinstance(piece, str)
            ids += self._tokenizer(
                text, add_special_tokens=False, split_special_tokens=is_message
            ).input_ids
        return Encoded(ids, chat.opened(str(pieces[-1]), ""))

    def _encode_text(self, text: str, prompt: Prompt) -> list[int]:
        """Return the tokens of a chat given as text.

        A beginning that it shares with others is tokenised once.
        """
        context, remaining = prompt.messages[: prompt.context], prompt.messages[prompt.context :]
        if not context or not remaining:
            return self._plain_ids(text)
        return self._contexts.encode(context, text, text.rfind(remaining[0].content.strip()))

    def encode_option(self, option: str) -> list[int]:
        """Return the tokens of a continuation alone, as the model would write it after a prompt.

        The option is not merged with the prompt's last token. So a raw prompt that a word continues
        ends without a space (`Answer:`) and the option begins with it (` Yes`), so that such a word
        is one token. Tokenizers that add a space to the beginning of every text (Llama 2, Mistral)
        would produce two, so there the option is tokenised after a colon.

        Raises ModelError if it has no token.
        """
        ids = self._plain_ids(option)
        if option[:1] == " ":
            colon, with_colon = self._plain_ids(":"), self._plain_ids(":" + option)
            if with_colon[: len(colon)] == colon:
                ids = with_colon[len(colon) :]
        if not ids:
            raise ModelError(
                f"the option {option!r} has no token, so it has no probability; give it some text"
            )
        return ids

    def _plain_ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False).input_ids)

    def spell(self, tokens: Sequence[int]) -> str:
        """Return the text of an output without special tokens.

        Those that separate thoughts from answers are kept.
        """
        if self._thought_tokens.keys().isdisjoint(tokens):
            return self._spelled(tokens)
        groups = groupby(tokens, lambda token: self._thought_tokens.get(token, ""))
        return "".join(
            mark * len(group) if mark else self._spelled(group)
            for mark, members in groups
            if (group := list(members))
        )

    def _spelled(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def _marks(self) -> dict[int, str]:
        special = {
            int(token_id): str(token)
            for token_id, token in self._tokenizer.added_tokens_decoder.items()
            if token.special
        }
        marks = {token_id: text for token_id, text in special.items() if is_mark(text, self.own)}
        channels = CHANNEL in marks.values()  # other formats have tokens of the same names
        return {
            token_id: text for token_id, text in marks.items() if channels or text not in HARMONY
        }

    def spell_next(self, prompt: Sequence[int], token: int) -> str:
        """Return the text that a token adds to a prompt, with its space.

        Special tokens are spelled by their name.

        Tokenizers that write spaces before words drop the space of a word that is decoded alone.
        """
        last = list(prompt[-TOKENS_BEFORE:])
        text = self._next.get((*last, token))
        if text is None:
            prompt_text, full_text = self._literal(last), self._literal([*last, token])
            text = (
                full_text[len(prompt_text) :]
                if full_text.startswith(prompt_text)
                else self._literal([token])
            )
            if len(self._next) >= REMEMBERED:
                self._next.clear()
            self._next[(*last, token)] = text
        return text

    def _literal(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(
            tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return text

    def _special_in(self, text: str) -> bool:
        return any(token in text for token in self._special)


WORDS_BEFORE = ":"
"text before a token: no tokenizer changes its spelling because of what follows"
AT_ONCE = 8192
"tokens decoded in one call"


class SpelledVocabulary:
    """The words that single tokens spell.

    Decoding a whole vocabulary takes about a second, so it is done once.
    """

    def __init__(self, tokenizer: Any, size: int):
        """Prepare a vocabulary.

        `size` is that of the network's. Tokens unknown to the tokenizer spell nothing.
        """
        self._tokenizer, self._size = tokenizer, min(size, len(tokenizer))
        self._by_word: dict[str, list[int]] | None = None
        self._word_ends: tuple[int, ...] = ()

    def sets(self, words: Iterable[str]) -> list[list[int]]:
        """Return the tokens that spell each word, ignoring case and spaces.

        Special tokens spell none.
        """
        by_word = self._read()
        return [by_word.get(spelled(word), []) for word in words]

    @property
    def word_ends(self) -> tuple[int, ...]:
        """The tokens that may follow a word without continuing it.

        By the readers' definition of words these are spaces, punctuation and the end of the answer.
        A token that is part of a character is included.
        """
        self._read()
        return self._word_ends

    def _read(self) -> dict[str, list[int]]:
        if self._by_word is not None:
            return self._by_word
        special = _special_ids(self._tokenizer)
        tokens_by_word: dict[str, list[int]] = {}
        ends = []
        for token, text in enumerate(self._texts()):
            word = spelled(text)
            if word and token not in special:
                tokens_by_word.setdefault(word, []).append(token)
            if token in special or not continues_word(text):
                ends.append(token)
        self._by_word, self._word_ends = tokens_by_word, tuple(ends)
        return tokens_by_word

    def _texts(self) -> Iterable[str]:
        prefix = list(self._tokenizer(WORDS_BEFORE, add_special_tokens=False).input_ids)
        prefix_text = self._decoded([prefix])[0]
        for first in range(0, self._size, AT_ONCE):
            tokens = range(first, min(first + AT_ONCE, self._size))
            texts = self._decoded([[*prefix, token] for token in tokens])
            for token, text in zip(tokens, texts, strict=True):
                yield (
                    text[len(prefix_text) :]
                    if text.startswith(prefix_text)
                    else self._decoded([[token]])[0]
                )

    def _decoded(self, rows: Sequence[list[int]]) -> list[str]:
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is not None and hasattr(backend, "decode_batch"):
            texts: list[str] = backend.decode_batch(rows, skip_special_tokens=False)
            return texts
        return [
            self._tokenizer.decode(
                row, skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
            for row in rows
        ]


def _special_ids(tokenizer: Any) -> frozenset[int]:
    """Return the control tokens, which do not spell text."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return frozenset(tokenizer.all_special_ids) | {
        token for token, properties in added.items() if properties.special
    }
