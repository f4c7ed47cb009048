"""Probabilities of labels from a served model, for spellings that end with their last word.

The most likely first tokens (at most 20) show which spellings are possible. Other spellings count
as 0: together they have at most the remaining probability, which is shown too. Possible spellings
are scored by their whole continuation, whatever its number of tokens:

- If prompts are echoed (`/completions`), from the echo, with one more token. The alternatives of
  that token show how often the word ends there. Tokens that are not among them are assumed to be
  divided in the same way.
- In a chat, from the first token if it is the whole spelling. If a token with a relevant
  probability is only the beginning of a spelling (`dis`, a quotation mark), its continuation is
  forced as the assistant's turn (footnote 7 of Haller et al. 2025), which an endpoint has to echo.
  A chat does not show what comes after the label, so a label counts whatever follows it.

Labels that cannot be scored in one of these ways are refused.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Sampling
from workbench.domain.thinking import in_thought
from workbench.errors import ModelError
from workbench.inference.base import NextTokens
from workbench.inference.served.ask import CallRun, PromptAsker, Stopped
from workbench.inference.served.behaviour import Snapshots
from workbench.inference.served.calls import (
    ALTERNATIVES,
    Dialect,
    ModelCall,
    is_about_logprobs,
    raw_text,
)
from workbench.inference.served.providers import UNKNOWN
from workbench.inference.served.reply import FailureKind, Reply, TryFailed
from workbench.readers.lexicon import continues_word

OPEN = 0.02
"total probability of tokens that may begin a label up to which their continuations are ignored"
OF_BYTES = "bytes:"
"prefix of a token that is not a whole character"


def possible_options(options: Sequence[str], tokens: Mapping[str, float]) -> list[str]:
    """Return the options that may begin with one of the tokens.

    Examples
    --------
    >>> possible_options(["agree", " agree", "Agree"], {"ag": -1.0, " agreeable": -2.0})
    ['agree', ' agree']
    """
    prefixes = [token for token in tokens if token]
    return [
        option
        for option in options
        if any(option.startswith(token) or token.startswith(option) for token in prefixes)
    ]


def open_beginnings(options: Sequence[str], tokens: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tokens that only begin an option, if their total probability matters.

    The most likely comes first.
    """
    beginnings = [
        token
        for token in tokens
        if token and token not in options and any(option.startswith(token) for option in options)
    ]
    if sum(math.exp(tokens[token]) for token in beginnings) <= OPEN:
        return ()
    return tuple(sorted(beginnings, key=lambda token: -tokens[token]))


def unfinished_error(
    name: str, begin: Sequence[str], tokens: Mapping[str, float], options: Sequence[str]
) -> UnreadableProbabilities:
    """Return the error for labels of which a chat endpoint shows only the beginning."""
    token = begin[0]
    option = next(option for option in options if option.startswith(token))
    return UnreadableProbabilities(
        f"{name}: the answer begins with {token!r} in {math.exp(tokens[token]):.1%} of cases, "
        f"which may become {option!r}. A label of several tokens can be scored where the endpoint "
        "echoes its prompt, and this chat endpoint does not. Use raw prompts on an endpoint with "
        "echo and logprobs (openai:NAME@URL#completions on vLLM), a local model, or draw answers "
        "instead of exact probabilities"
    )


def whole_word_score(name: str, reply: Reply, option: str) -> float:
    """Return the log-probability, in nats, of an option that ends with its last word.

    It is read from an echo and one more token.

    Raises as `echoed_score`. Raises UnreadableProbabilities if the token after the option, or its
    alternatives, are not in the reply.
    """
    logprobs = reply.choices[0].logprobs or {}
    tokens, logs = (
        entries(logprobs, "tokens", str),
        entries(logprobs, "token_logprobs", int | float),
    )
    alternatives = entries(logprobs, "top_logprobs", dict)
    if not tokens or len(tokens) != len(logs):
        raise NoProbabilities(
            missing_message(name, "the log-probabilities of an echoed prompt (echo and logprobs)")
        )
    if len(alternatives) != len(tokens) or not alternatives[-1]:
        raise UnreadableProbabilities(
            missing_message(
                name,
                f"the alternatives of the token after {option!r} (echo, logprobs, max_tokens 1)",
            )
        )
    without_last = {"tokens": tokens[:-1], "token_logprobs": logs[:-1]}
    return echoed_score(name, without_last, option, after=0) + _log_share_of_ends(alternatives[-1])


def _log_share_of_ends(alternatives: Mapping[str, Any]) -> float:
    """Return the log of the share of these tokens, by probability, that end a word."""
    ends = going_on = 0.0
    for token, log in alternatives.items():
        if isinstance(log, int | float):
            continues = continues_word(token) and not token.startswith(OF_BYTES)
            ends, going_on = (
                ends + math.exp(log) * (not continues),
                going_on + math.exp(log) * continues,
            )
    return math.log(ends / (ends + going_on)) if ends else -math.inf


LONGEST = 8
"most tokens of one answer"


async def forced_tokens(
    asker: PromptAsker, run: CallRun, name: str, prompt: Prompt, words: Sequence[str], *, chat: bool
) -> dict[str, float]:
    """Return the log-probability of each spelling of each word as the answer to a prompt, in nats.

    `chat`: whether the prompt goes to an endpoint for chats. Raises NoProbabilities if the endpoint
    sends none, UnreadableProbabilities if the answer is not found in the reply, and the errors of
    `Asker.ask`.
    """
    log_probabilities = {}
    space = "" if chat or raw_text(prompt)[-1:].isspace() else " "
    for spelling in ways_to_write(words):
        answer = space + spelling
        reply = await asker.ask(run, echo_call(prompt, answer))
        log_probabilities[answer] = (
            forced_score(name, reply, prompt, answer)
            if chat
            else echoed_score(name, reply.choices[0].logprobs, answer)
        )
    return log_probabilities


def ways_to_write(words: Sequence[str]) -> tuple[str, ...]:
    """Return each word in small letters, capitalised and in capitals.

    Examples
    --------
    >>> ways_to_write(["yes", "No"])
    ('yes', 'Yes', 'YES', 'no', 'No', 'NO')
    """
    lowered = [word.strip().lower() for word in words]
    return tuple(
        dict.fromkeys(
            spelling for word in lowered for spelling in (word, word.capitalize(), word.upper())
        )
    )


def forced_score(name: str, reply: Reply, prompt: Prompt, answer: str) -> float:
    """Return the log-probability of an answer in the echoed prompt of a reply.

    The answer is the last occurrence of its text, and the whole prompt must precede it. Otherwise,
    if the server left the answer out, a word of the question would be mistaken for it.
    """
    tokens, logs = _echoed(name, reply.echoed)
    prompt_text = "".join(prompt.messages[-1].content.split())
    for stop in range(len(tokens), 0, -1):
        for start in range(stop - 1, max(-1, stop - 1 - LONGEST), -1):
            if "".join(tokens[start:stop]).strip() != answer:
                continue
            if prompt_text not in "".join("".join(tokens[:start]).split()):
                raise UnreadableProbabilities(
                    f"{name}: the prompt that the endpoint sends back does not end with the "
                    f"answer {answer!r}"
                )
            if any(log is None for log in logs[start:stop]):
                raise UnreadableProbabilities(
                    missing_message(name, f"a log-probability for each token of {answer!r}")
                )
            return float(sum(logs[start:stop]))
    raise UnreadableProbabilities(
        f"{name}: the prompt that the endpoint sends back does not hold the answer {answer!r}"
    )


def _echoed(name: str, logprobs: Mapping[str, Any] | None) -> tuple[list[str], list[Any]]:
    tokens, logs = (
        entries(logprobs, "tokens", str),
        entries(logprobs, "token_logprobs", int | float),
    )
    if not tokens or len(tokens) != len(logs) or None in tokens:
        raise NoProbabilities(
            missing_message(name, "the log-probabilities of an echoed chat (echo and logprobs)")
        )
    return tokens, logs


ALIKE = 0.5
"""most difference in nats between two log-probabilities of one token

Arithmetic in bfloat16 makes some 0.1 of it.
"""
FEWEST = 2
"least useful number of alternatives: one is just the drawn answer"
WHOLE = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=1)
"probabilities are the model's own: no temperature, no nucleus"


THINKS = (
    "the model begins by thinking ({found}), so its first token is no answer. Sample it instead, "
    "or let the endpoint "
    "serve it with thinking switched off"
)
NEVER = 20
"consecutive prompts without a score, from the first on, after which the run stops to save costs"


class NoProbabilities(ModelError):
    """The error of an endpoint that sends no probabilities of the requested kind for any prompt."""


class UnreadableProbabilities(ModelError):
    """The error of a reply without an exact probability for an option.

    Replies to other prompts may have one.
    """


def echo_call(prompt: Prompt, option: str, more: int = 0) -> ModelCall:
    """Return the call that echoes an option and one token after it.

    `more` is the number of alternatives to request for that token.
    """
    return ModelCall(prompt, 1, None, WHOLE, logprobs=more or 1, echo=option)


def first_token_call(prompt: Prompt, k: int = ALTERNATIVES) -> ModelCall:
    return ModelCall(prompt, 1, None, WHOLE, logprobs=k)


def echoed_score(
    name: str, logprobs: Mapping[str, Any] | None, option: str, *, after: int = 1
) -> float:
    """Return the log-probability of an option in nats.

    It is the sum over the tokens that spell exactly the option. These are followed by `after`
    tokens of the answer, or by none if a server leaves them out.

    Raises ModelError if the server sends no log-probabilities, UnreadableProbabilities if a token
    spans the option's beginning.
    """
    tokens = entries(logprobs, "tokens", str)
    logs = entries(logprobs, "token_logprobs", int | float)
    if not tokens or len(tokens) != len(logs):
        raise NoProbabilities(
            missing_message(name, "the log-probabilities of an echoed prompt (echo and logprobs)")
        )
    if after:
        try:
            return echoed_score(
                name, {"tokens": tokens[:-after], "token_logprobs": logs[:-after]}, option, after=0
            )
        except ModelError:
            pass  # it sent no tokens after the option, so the option is at the end
    total, spelled = 0.0, ""
    for token, log in zip(reversed(tokens), reversed(logs), strict=True):
        if len(spelled) >= len(option):
            break
        if log is None:
            raise UnreadableProbabilities(
                missing_message(name, f"a log-probability for each token of {option!r}")
            )
        total, spelled = total + float(log), token + spelled
    if spelled != option:
        raise UnreadableProbabilities(
            f"{name}: the option {option!r} does not begin with a token of its own after this "
            f"prompt (the server's tokens spell {spelled!r}). Let the prompt end without a space, "
            "and the option begin with it"
        )
    return total


def check_echo(name: str, logprobs: Mapping[str, Any] | None, token: str, log: float) -> None:
    """Raise NoProbabilities if an echo gives a token another probability than `log`.

    The token has `log` as the first token of the answer. llama_cpp.server shifts the
    log-probabilities of an echo by one token.
    """
    echoed_log = echoed_score(name, logprobs, token)
    if abs(echoed_log - log) > ALIKE:
        raise NoProbabilities(
            f"{name}: the log-probabilities of an echoed prompt are wrong: {token!r} has p = "
            f"{np.exp(echoed_log):.2g} there and {np.exp(log):.2g} as the first token of an "
            "answer. Ask it without #completions, or draw answers (--samples N)"
        )


def first_tokens(name: str, reply: Reply) -> dict[str, float]:
    """Return the alternatives of the answer's first token in a reply, with their log-probabilities.

    These are in nats.

    Raises ModelError if there are none, UnreadableProbabilities if the model begins by thinking, so
    that the token is not an answer.
    """
    logprobs = reply.choices[0].logprobs
    if in_thought(reply.choices[0].text):
        raise UnreadableProbabilities(
            f"{name}: {THINKS.format(found='a token drawn from it lies within a thought')}"
        )
    content = entries(logprobs, "content", dict)
    first = content[0].get("top_logprobs") if content and isinstance(content[0], dict) else None
    if isinstance(first, list):  # a chat
        alternatives = {
            entry.get("token"): entry.get("logprob") for entry in first if isinstance(entry, dict)
        }
    else:  # the older format of completions
        top_entries = entries(logprobs, "top_logprobs", dict)
        alternatives = (
            dict(top_entries[0]) if top_entries and isinstance(top_entries[0], dict) else {}
        )
    if not alternatives:
        raise NoProbabilities(
            missing_message(name, "the alternatives of an answer's first token (top_logprobs)")
        )
    log_by_token = {
        str(token): float(log)
        for token, log in alternatives.items()
        if isinstance(log, int | float)
    }
    likeliest_token = max(log_by_token, key=log_by_token.__getitem__, default="")
    if in_thought(likeliest_token):
        raise UnreadableProbabilities(
            f"{name}: {THINKS.format(found=f'its likeliest first token is {likeliest_token!r}')}"
        )
    return log_by_token


def first_token_scores(
    name: str, tokens: Mapping[str, float], options: Sequence[str]
) -> list[float]:
    """Return the log-probability of each option as the answer's first token, in nats.

    Raises UnreadableProbabilities if an option is not among the server's alternatives: it is more
    than one token, or too unlikely.
    """
    absent = [option for option in options if option not in tokens]
    if absent:
        raise UnreadableProbabilities(
            f"{name}: {', '.join(map(repr, absent))} is not among the {len(tokens)} likeliest "
            "first tokens that the endpoint names, so it is several tokens or too unlikely to be "
            "scored there. Use options of one token, raw prompts on an endpoint with echo and "
            "logprobs (vLLM), or a local model"
        )
    return [tokens[option] for option in options]


def likeliest(name: str, prompt: int, tokens: Mapping[str, float], k: int) -> NextTokens:
    """Return the k most likely of the tokens that a server returned, or all if there are fewer.

    Raises NoProbabilities if it returned only the drawn token although more were requested.
    """
    if len(tokens) < min(k, FEWEST):
        raise NoProbabilities(
            f"{name}: the endpoint names {len(tokens)} alternative of a token, and {k} are asked "
            "for"
        )
    ranked = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))[:k]
    logs = np.array([log for _, log in ranked], dtype=np.float64)
    return NextTokens(
        prompt, tuple(token for token, _ in ranked), logs, max(0.0, 1.0 - float(np.exp(logs).sum()))
    )


@dataclass(slots=True)
class MissingProbabilities:
    """The count of prompts without probabilities until one has some."""

    what: str
    "`could be scored`"
    in_a_row: int | None = 0
    "None after a prompt with probabilities"

    def had_some(self) -> None:
        self.in_a_row = None

    def had_none(self, reason: str) -> ModelError | None:
        """Return an error if none of the first prompts had probabilities.

        Asking the others would waste money.
        """
        if self.in_a_row is None:
            return None
        self.in_a_row += 1
        if self.in_a_row < NEVER:
            return None
        return ModelError(
            f"none of the first {NEVER} prompts {self.what}; the last reason: {reason}"
        )


def failed_call_error(name: str, failure: TryFailed, what: str) -> ModelError:
    """Return the error for a call for log-probabilities that failed."""
    return ModelError(f"{missing_message(name, what)}. The call failed: {failure.reason}")


def missing_message(name: str, what: str) -> str:
    return (
        f"{name}: options are scored from {what}, and the endpoint sends none. Use vLLM or a local "
        "model, or draw answers in place of them (--samples N)"
    )


def entries(logprobs: Mapping[str, Any] | None, field: str, kind: Any) -> list[Any]:
    """Return a list of a reply's log-probabilities, or an empty list if its type is another one.

    An entry of None has no value.
    """
    values = logprobs.get(field) if logprobs else None
    if not isinstance(values, list) or not all(
        entry is None or isinstance(entry, kind) for entry in values
    ):
        return []
    return values


REMEMBERED = 1024
"prompts whose first tokens are cached for a following score"
FORCED = (
    "%s: the endpoint names no alternatives of a token, so answers are forced upon it, a paid call "
    "each (%s); all that is known of next tokens is the probability of these"
)
FEWER = (
    "%s: the endpoint names %d alternatives of a token where %d were asked for; what is not "
    "named counts as the rest"
)

WORD_ENDS = (
    "%s: a chat endpoint does not say what follows a label, so a label counts whatever follows it; "
    "spellings that are not among the likeliest first tokens count as the rest"
)

log = logging.getLogger(__name__)

T = TypeVar("T")


class Probabilities:
    """The probabilities of one endpoint.

    Calls go through an `Asker`, which handles costs and retries.
    """

    def __init__(self, name: str, dialect: Dialect, snapshots: Snapshots):
        self._name, self._dialect, self._snapshots = name, dialect, snapshots
        self._first_tokens: dict[bytes, tuple[int, dict[str, float], tuple[str, str]]] = {}
        "prompt key -> number requested, log-probabilities received, snapshot and fingerprint"
        self._echo_checked = False
        "whether an echo was compared with the probabilities of first tokens"
        self._forces = self._said_fewer = False
        """whether answers are forced, and whether few alternatives were logged

        Answers are forced because there are no alternatives.
        """
        self._no_echo = self._said_open = False
        """whether chats are known not to be echoed, and whether labels in chats were warned about

        The warning was logged then.
        """

    async def of_options(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float] | str | None:
        """Return the log-probability of each option, or the reason why this prompt has none.

        The result is None if the run ends first.

        Raises NoProbabilities if the endpoint sends none.
        """
        if self._dialect.endpoint(prompt) == "completions":
            return await self._result_or_reason(
                run, self._echoed(asker, run, prompt, options), "echoed prompts with logprobs"
            )
        return await self._result_or_reason(
            run, self._score_first_tokens(asker, run, prompt, options), "top_logprobs"
        )

    async def of_labels(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float] | str | None:
        """Return the log-probability that the answer begins with each option as whole words.

        Failures are as in `of_options`.
        """
        if self._dialect.endpoint(prompt) == "completions":
            asking = self._score_labels_by_echo(asker, run, prompt, options)
            return await self._result_or_reason(run, asking, "echoed prompts with logprobs")
        return await self._result_or_reason(
            run, self._score_labels_in_chat(asker, run, prompt, options), "top_logprobs"
        )

    async def of_next_tokens(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, k: int, words: Sequence[str]
    ) -> dict[str, float] | str | None:
        """Return the next tokens with their log-probabilities, as `of_options`.

        `words` are forced if necessary.
        """
        return await self._result_or_reason(
            run, self._find_next_tokens(asker, run, prompt, k, words), "top_logprobs"
        )

    async def _result_or_reason(
        self, run: CallRun, asking: Awaitable[T], what: str
    ) -> T | str | None:
        try:
            return await asking
        except TryFailed as failure:
            run.record_end(False, failure)
            return str(failed_call_error(self._name, failure, what))
        except UnreadableProbabilities as error:
            return str(error)
        except Stopped:
            return None

    async def _echoed(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float]:
        if self._doubts_echo:
            tokens: dict[str, float] = {}
            # After such an error there is nothing to compare with.
            with suppress(TryFailed, NoProbabilities, UnreadableProbabilities):
                reply = await asker.ask(run, first_token_call(prompt, ALTERNATIVES))
                tokens = first_tokens(self._name, reply)
            await self._check_echo(asker, run, prompt, tokens)
        replies = [await asker.ask(run, echo_call(prompt, option)) for option in options]
        logprobs = [reply.choices[0].logprobs for reply in replies]
        return [echoed_score(self._name, *pair) for pair in zip(logprobs, options, strict=True)]

    async def _score_labels_by_echo(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float]:
        """Return the log-probability of each possible option with the end of its last word."""
        try:
            tokens = await self._likely_first_tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
            candidates = (
                possible_options(options, tokens) if len(tokens) >= FEWEST else list(options)
            )
        except NoProbabilities:
            tokens, candidates = {}, list(options)
        await self._check_echo(asker, run, prompt, tokens)
        log_by_option = {}
        for option in candidates:
            reply = await asker.ask(run, echo_call(prompt, option, ALTERNATIVES))
            log_by_option[option] = whole_word_score(self._name, reply, option)
        return [log_by_option.get(option, -math.inf) for option in options]

    async def _check_echo(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, tokens: Mapping[str, float]
    ) -> None:
        """Compare, once, the echo of the likeliest first token with the token's own probability.

        Only unknown servers are checked. Raises as `check_echo`.
        """
        if self._doubts_echo and tokens:
            token = max(tokens, key=tokens.__getitem__)
            reply = await asker.ask(run, echo_call(prompt, token))
            check_echo(self._name, reply.choices[0].logprobs, token, tokens[token])
            self._echo_checked = True

    @property
    def _doubts_echo(self) -> bool:
        provider = self._dialect.provider
        return not self._echo_checked and (provider is UNKNOWN or not provider.echo)

    async def _score_labels_in_chat(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float]:
        """Return the log-probability of each option in a chat.

        It is that of the first token if this is the whole option, otherwise the option is forced.

        Raises UnreadableProbabilities if neither is possible and the option matters.
        """
        tokens = await self._likely_first_tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
        if len(tokens) < FEWEST:
            raise NoProbabilities(
                missing_message(
                    self._name, "the alternatives of an answer's first token (top_logprobs)"
                )
            )
        self._warn_of_word_ends()
        beginnings = open_beginnings(options, tokens)
        if not beginnings:
            return [tokens.get(option, -math.inf) for option in options]
        if self._no_echo:
            raise unfinished_error(self._name, beginnings, tokens, options)
        log_by_option = {}
        for option in possible_options(options, tokens):
            try:
                reply = await asker.ask(run, echo_call(prompt, option))
                log_by_option[option] = forced_score(self._name, reply, prompt, option)
            except (NoProbabilities, TryFailed) as error:
                if isinstance(error, TryFailed) and error.kind is not FailureKind.REFUSED:
                    raise
                self._no_echo = True
                raise unfinished_error(self._name, beginnings, tokens, options) from error
        return [log_by_option.get(option, -math.inf) for option in options]

    async def _score_first_tokens(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, options: Sequence[str]
    ) -> list[float]:
        tokens = await self._likely_first_tokens(asker, run, prompt, ALTERNATIVES, whoever=True)
        return first_token_scores(self._name, tokens, options)

    async def _find_next_tokens(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, k: int, words: Sequence[str]
    ) -> dict[str, float]:
        """Return the next tokens from the endpoint's alternatives, or from forced answers."""
        if not self._forces:
            try:
                tokens = await self._likely_first_tokens(asker, run, prompt, k)
                if len(tokens) >= min(k, FEWEST) or not words:
                    self._warn_of_fewer(len(tokens), k)
                    return tokens
            except TryFailed as failure:
                if not words or not is_about_logprobs(failure):
                    raise
            except NoProbabilities:
                if not words:
                    raise
        chat = self._dialect.endpoint(prompt) == "chat"
        log_by_answer = await forced_tokens(asker, run, self._name, prompt, words, chat=chat)
        if not self._forces:
            self._forces = True
            log.warning(FORCED, self._name, ", ".join(log_by_answer))
        return log_by_answer

    def _warn_of_word_ends(self) -> None:
        if not self._said_open:
            self._said_open = True
            log.warning(WORD_ENDS, self._name)

    def _warn_of_fewer(self, named: int, k: int) -> None:
        if named < k and not self._said_fewer:
            self._said_fewer = True
            log.warning(FEWER, self._name, named, k)

    async def _likely_first_tokens(
        self, asker: PromptAsker, run: CallRun, prompt: Prompt, k: int, *, whoever: bool = False
    ) -> dict[str, float]:
        """Return the most likely first tokens of an answer.

        Cached results of the current snapshot are reused. With `whoever`, also those of the
        snapshot before.
        """
        cached = self._first_tokens.pop(prompt.key, None)
        if (
            cached is not None
            and cached[0] >= k
            and (whoever or cached[2][0] == self._snapshots.current)
        ):
            asker.by.append(cached[2])
            return cached[1]
        reply = await asker.ask(run, first_token_call(prompt, k))
        tokens = first_tokens(self._name, reply)
        self._first_tokens[prompt.key] = (k, tokens, asker.by[-1])
        if len(self._first_tokens) > REMEMBERED:
            del self._first_tokens[next(iter(self._first_tokens))]
        return tokens
