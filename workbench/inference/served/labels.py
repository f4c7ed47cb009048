"""Probabilities of labels from a served model, for spellings that end with their last word.

The most likely first tokens (at most 20) show which spellings are possible. Other spellings count as 0: together they
have at most the remaining probability, which is shown too. Possible spellings are scored by their whole continuation,
whatever its number of tokens:

- if prompts are echoed (`/completions`), from the echo, with one more token. The alternatives of that token show how
  often the word ends there; tokens that are not among them are assumed to be divided in the same way;
- in a chat, from the first token if it is the whole spelling. If a token with a relevant probability is only the
  beginning of a spelling (`dis`, a quotation mark), its continuation is forced as the assistant's turn (footnote 7 of
  Haller et al. 2025), which an endpoint has to echo. A chat does not show what comes after the label, so a label counts
  whatever follows it.

Labels that cannot be scored in one of these ways are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inference.served.reply import Reply
from workbench.inference.served.scores import NoProbabilities, Unreadable, echoed_score, entries, missing
from workbench.readers.tokens import continues_word

OPEN = 0.02
"total probability of tokens that may begin a label up to which their continuations are ignored"
OF_BYTES = "bytes:"
"prefix of a token that is not a whole character"


def possible(options: Sequence[str], tokens: Mapping[str, float]) -> list[str]:
    """Return the options that may begin with one of the tokens.

    Examples
    --------
    >>> possible(["agree", " agree", "Agree"], {"ag": -1.0, " agreeable": -2.0})
    ['agree', ' agree']
    """
    named = [token for token in tokens if token]
    return [
        option for option in options if any(option.startswith(token) or token.startswith(option) for token in named)
    ]


def left_open(options: Sequence[str], tokens: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tokens that only begin an option, the most likely first, if their total probability matters."""
    begin = [
        token
        for token in tokens
        if token and token not in options and any(option.startswith(token) for option in options)
    ]
    if sum(math.exp(tokens[token]) for token in begin) <= OPEN:
        return ()
    return tuple(sorted(begin, key=lambda token: -tokens[token]))


def unfinished(name: str, begin: Sequence[str], tokens: Mapping[str, float], options: Sequence[str]) -> Unreadable:
    """Return the error for labels of which a chat endpoint shows only the beginning."""
    token = begin[0]
    option = next(option for option in options if option.startswith(token))
    return Unreadable(
        f"{name}: the answer begins with {token!r} in {math.exp(tokens[token]):.1%} of cases, which may become "
        f"{option!r}. A label of several tokens can be scored where the endpoint echoes its prompt, and this chat "
        "endpoint does not. Use raw prompts on an endpoint with echo and logprobs (openai:NAME@URL#completions on "
        "vLLM), a local model, or draw answers instead of exact probabilities"
    )


def whole_word_score(name: str, reply: Reply, option: str) -> float:
    """Return the log-probability, in nats, of an option that ends with its last word, from an echo and one more token.

    Raises as `echoed_score`; Unreadable if the token after the option, or its alternatives, are not in the reply.
    """
    found = reply.choices[0].logprobs or {}
    tokens, logs = entries(found, "tokens", str), entries(found, "token_logprobs", int | float)
    alternatives = entries(found, "top_logprobs", dict)
    if not tokens or len(tokens) != len(logs):
        raise NoProbabilities(missing(name, "the log-probabilities of an echoed prompt (echo and logprobs)"))
    if len(alternatives) != len(tokens) or not alternatives[-1]:
        raise Unreadable(
            missing(name, f"the alternatives of the token after {option!r} (echo, logprobs, max_tokens 1)")
        )
    before = {"tokens": tokens[:-1], "token_logprobs": logs[:-1]}
    return echoed_score(name, before, option, after=0) + _log_share_of_ends(alternatives[-1])


def _log_share_of_ends(alternatives: Mapping[str, Any]) -> float:
    """Return the log of the share of these tokens, by probability, that end a word."""
    ends = going_on = 0.0
    for token, log in alternatives.items():
        if isinstance(log, int | float):
            on = continues_word(token) and not token.startswith(OF_BYTES)
            ends, going_on = ends + math.exp(log) * (not on), going_on + math.exp(log) * on
    return math.log(ends / (ends + going_on)) if ends else -math.inf
