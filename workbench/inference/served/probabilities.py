"""Probabilities of one endpoint: how it is asked, what it does not offer, and cached results.

`scores` reads the replies, and `forced` handles endpoints that return no alternatives.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from workbench.domain.prompts import Prompt
from workbench.inference.served.ask import PromptAsker, Run, Stopped
from workbench.inference.served.calls import ALTERNATIVES, Dialect, about_logprobs
from workbench.inference.served.forced import forced_score, forced_tokens
from workbench.inference.served.labels import left_open, possible, unfinished, whole_word_score
from workbench.inference.served.providers import UNKNOWN
from workbench.inference.served.reply import Kind, TryFailed
from workbench.inference.served.scores import (
    FEWEST,
    NoProbabilities,
    Unreadable,
    check_echo,
    echo_call,
    echoed_score,
    first_token_call,
    first_token_scores,
    first_tokens,
    missing,
    refused,
)
from workbench.inference.served.snapshots import Snapshots

REMEMBERED = 1024
"prompts whose first tokens are cached for a following score"
FORCED = (
    "%s: the endpoint names no alternatives of a token, so answers are forced upon it, a paid call each (%s); all that "
    "is known of next tokens is the probability of these"
)
FEWER = (
    "%s: the endpoint names %d alternatives of a token where %d were asked for; what is not named counts as the rest"
)

WORD_ENDS = (
    "%s: a chat endpoint does not say what follows a label, so a label counts whatever follows it; spellings that are "
    "not among the likeliest first tokens count as the rest"
)

log = logging.getLogger(__name__)

T = TypeVar("T")


class Probabilities:
    """Probabilities of one endpoint. Calls go through an `Asker`, which handles costs and retries."""

    def __init__(self, name: str, dialect: Dialect, snapshots: Snapshots):
        self._name, self._dialect, self._snapshots = name, dialect, snapshots
        self._first_tokens: dict[bytes, tuple[int, dict[str, float], tuple[str, str]]] = {}
        "prompt key -> number requested, log-probabilities received, snapshot and fingerprint"
        self._echo_checked = False
        "whether an echo was compared with the probabilities of first tokens"
        self._forces = self._said_fewer = False
        "whether answers are forced because there are no alternatives; whether few alternatives were logged"
        self._no_echo = self._said_open = False
        "whether chats are known not to be echoed; whether the warning about labels in chats was logged"

    async def of_options(
        self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]
    ) -> list[float] | str | None:
        """Return the log-probability of each option, or why this prompt has none; None if the run ends first.

        Raises NoProbabilities if the endpoint sends none.
        """
        if self._dialect.endpoint(prompt) == "completions":
            return await self._asked(run, self._echoed(asker, run, prompt, options), "echoed prompts with logprobs")
        return await self._asked(run, self._first(asker, run, prompt, options), "top_logprobs")

    async def of_labels(
        self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]
    ) -> list[float] | str | None:
        """Return the log-probability that the answer begins with each option as whole words, as `of_options` does."""
        if self._dialect.endpoint(prompt) == "completions":
            asked = self._labels_echoed(asker, run, prompt, options)
            return await self._asked(run, asked, "echoed prompts with logprobs")
        return await self._asked(run, self._labels_of_chat(asker, run, prompt, options), "top_logprobs")

    async def of_next_tokens(
        self, asker: PromptAsker, run: Run, prompt: Prompt, k: int, words: Sequence[str]
    ) -> dict[str, float] | str | None:
        """Return the next tokens with their log-probabilities, as `of_options`; `words` are forced if necessary."""
        return await self._asked(run, self._next(asker, run, prompt, k, words), "top_logprobs")

    async def _asked(self, run: Run, asking: Awaitable[T], what: str) -> T | str | None:
        try:
            return await asking
        except TryFailed as failure:
            run.ended(False, failure)
            return str(refused(self._name, failure, what))
        except Unreadable as error:
            return str(error)
        except Stopped:
            return None

    async def _echoed(self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]) -> list[float]:
        if self._doubts_echo:
            tokens: dict[str, float] = {}
            with suppress(TryFailed, NoProbabilities, Unreadable):  # then there is nothing to compare with
                reply = await asker.ask(run, first_token_call(prompt, ALTERNATIVES))
                tokens = first_tokens(self._name, reply)
            await self._check_echo(asker, run, prompt, tokens)
        replies = [await asker.ask(run, echo_call(prompt, option)) for option in options]
        found = [reply.choices[0].logprobs for reply in replies]
        return [echoed_score(self._name, *pair) for pair in zip(found, options, strict=True)]

    async def _labels_echoed(self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]) -> list[float]:
        """Return the log-probability of each possible option, including the end of its last word."""
        try:
            tokens = await self._tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
            wanted = possible(options, tokens) if len(tokens) >= FEWEST else list(options)
        except NoProbabilities:
            tokens, wanted = {}, list(options)
        await self._check_echo(asker, run, prompt, tokens)
        found = {}
        for option in wanted:
            reply = await asker.ask(run, echo_call(prompt, option, ALTERNATIVES))
            found[option] = whole_word_score(self._name, reply, option)
        return [found.get(option, -math.inf) for option in options]

    async def _check_echo(self, asker: PromptAsker, run: Run, prompt: Prompt, tokens: Mapping[str, float]) -> None:
        """Compare, once, the echo of an unknown server's likeliest first token with the token's own probability. Raises
        as `check_echo`.
        """
        if self._doubts_echo and tokens:
            token = max(tokens, key=tokens.__getitem__)
            reply = await asker.ask(run, echo_call(prompt, token))
            check_echo(self._name, reply.choices[0].logprobs, token, tokens[token])
            self._echo_checked = True

    @property
    def _doubts_echo(self) -> bool:
        of = self._dialect.provider
        return not self._echo_checked and (of is UNKNOWN or not of.echo)

    async def _labels_of_chat(
        self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]
    ) -> list[float]:
        """Return the log-probability of each option: of its first token if it is the whole option, otherwise by forcing
        it.

        Raises Unreadable if neither is possible and the option matters.
        """
        tokens = await self._tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
        if len(tokens) < FEWEST:
            raise NoProbabilities(missing(self._name, "the alternatives of an answer's first token (top_logprobs)"))
        self._say_open()
        begin = left_open(options, tokens)
        if not begin:
            return [tokens.get(option, -math.inf) for option in options]
        if self._no_echo:
            raise unfinished(self._name, begin, tokens, options)
        found = {}
        for option in possible(options, tokens):
            try:
                reply = await asker.ask(run, echo_call(prompt, option))
                found[option] = forced_score(self._name, reply, prompt, option)
            except (NoProbabilities, TryFailed) as error:
                if isinstance(error, TryFailed) and error.kind is not Kind.REFUSED:
                    raise
                self._no_echo = True
                raise unfinished(self._name, begin, tokens, options) from error
        return [found.get(option, -math.inf) for option in options]

    async def _first(self, asker: PromptAsker, run: Run, prompt: Prompt, options: Sequence[str]) -> list[float]:
        tokens = await self._tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
        return first_token_scores(self._name, tokens, options)

    async def _next(
        self, asker: PromptAsker, run: Run, prompt: Prompt, k: int, words: Sequence[str]
    ) -> dict[str, float]:
        """Return the next tokens from the endpoint's alternatives, or from forced answers."""
        if not self._forces:
            try:
                tokens = await self._tokens(asker, run, prompt, k)
                if len(tokens) >= min(k, FEWEST) or not words:
                    self._say_fewer(len(tokens), k)
                    return tokens
            except TryFailed as failure:
                if not words or not about_logprobs(failure):
                    raise
            except NoProbabilities:
                if not words:
                    raise
        chat = self._dialect.endpoint(prompt) == "chat"
        found = await forced_tokens(asker, run, self._name, prompt, words, chat=chat)
        if not self._forces:
            self._forces = True
            log.warning(FORCED, self._name, ", ".join(found))
        return found

    def _say_open(self) -> None:
        if not self._said_open:
            self._said_open = True
            log.warning(WORD_ENDS, self._name)

    def _say_fewer(self, named: int, k: int) -> None:
        if named < k and not self._said_fewer:
            self._said_fewer = True
            log.warning(FEWER, self._name, named, k)

    async def _tokens(
        self, asker: PromptAsker, run: Run, prompt: Prompt, k: int, *, whoever: bool = False
    ) -> dict[str, float]:
        """Return the most likely first tokens of an answer. Cached results of the current snapshot are reused; with
        `whoever`, also those of the snapshot before.
        """
        known = self._first_tokens.pop(prompt.key, None)
        if known is not None and known[0] >= k and (whoever or known[2][0] == self._snapshots.current):
            asker.by.append(known[2])
            return known[1]
        reply = await asker.ask(run, first_token_call(prompt, k))
        tokens = first_tokens(self._name, reply)
        self._first_tokens[prompt.key] = (k, tokens, asker.by[-1])
        if len(self._first_tokens) > REMEMBERED:
            del self._first_tokens[next(iter(self._first_tokens))]
        return tokens
