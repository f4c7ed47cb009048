"""Log-probabilities of options, from the log-probabilities that a server offers.

There are two ways. With `/completions`, prompt and option are sent together and echoed with the log-probability of each
token (`echo`, `logprobs`): any option can be scored. With `/chat/completions`, the alternatives of the answer's first
token are read (`top_logprobs`): only options that are one token, and among the most likely. Options that cannot be read
exactly are refused, not guessed. If an endpoint returns no alternatives, answers can be forced (`forced`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Sampling
from workbench.domain.thinking import in_thought
from workbench.errors import ModelError
from workbench.inference.base import NextTokens
from workbench.inference.served.calls import ALTERNATIVES, Call
from workbench.inference.served.reply import Reply, TryFailed

ALIKE = 0.5
"most difference in nats between two log-probabilities of one token; arithmetic in bfloat16 makes some 0.1 of it"
FEWEST = 2
"least useful number of alternatives: one is just the drawn answer"
WHOLE = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=1)
"probabilities are the model's own: no temperature, no nucleus"


THINKS = (
    "the model begins by thinking ({found}), so its first token is no answer. Sample it instead, or let the endpoint "
    "serve it with thinking switched off"
)
NEVER = 20
"consecutive prompts without a score, from the first on, after which the run stops to save costs"


class NoProbabilities(ModelError):
    """The endpoint sends no probabilities of the requested kind for any prompt."""


class Unreadable(ModelError):
    """A reply has no exact probability for an option. Replies to other prompts may have one."""


def echo_call(prompt: Prompt, option: str, more: int = 0) -> Call:
    """Return the call that echoes an option and one token after it; `more`: alternatives to request for that token."""
    return Call(prompt, 1, None, WHOLE, logprobs=more or 1, echo=option)


def first_token_call(prompt: Prompt, k: int = ALTERNATIVES) -> Call:
    return Call(prompt, 1, None, WHOLE, logprobs=k)


def echoed_score(name: str, found: Mapping[str, Any] | None, option: str, *, after: int = 1) -> float:
    """Return the log-probability of an option in nats: the sum over the tokens that spell exactly the option. These are
    followed by `after` tokens of the answer, or by none where a server leaves them out.

    Raises ModelError if the server sends no log-probabilities, Unreadable if a token spans the option's beginning.
    """
    tokens = entries(found, "tokens", str)
    logs = entries(found, "token_logprobs", int | float)
    if not tokens or len(tokens) != len(logs):
        raise NoProbabilities(missing(name, "the log-probabilities of an echoed prompt (echo and logprobs)"))
    if after:
        try:
            return echoed_score(name, {"tokens": tokens[:-after], "token_logprobs": logs[:-after]}, option, after=0)
        except ModelError:
            pass  # it sent none: the option is at the end
    total, spelled = 0.0, ""
    for token, log in zip(reversed(tokens), reversed(logs), strict=True):
        if len(spelled) >= len(option):
            break
        if log is None:
            raise Unreadable(missing(name, f"a log-probability for each token of {option!r}"))
        total, spelled = total + float(log), token + spelled
    if spelled != option:
        raise Unreadable(
            f"{name}: the option {option!r} does not begin with a token of its own after this prompt (the server's "
            f"tokens spell {spelled!r}). Let the prompt end without a space, and the option begin with it"
        )
    return total


def check_echo(name: str, found: Mapping[str, Any] | None, token: str, log: float) -> None:
    """Raise NoProbabilities if an echo gives a token another probability than `log`, which it has as the first token of
    the answer: llama_cpp.server shifts the log-probabilities of an echo by one token.
    """
    echoed = echoed_score(name, found, token)
    if abs(echoed - log) > ALIKE:
        raise NoProbabilities(
            f"{name}: the log-probabilities of an echoed prompt are wrong: {token!r} has p = {np.exp(echoed):.2g} "
            f"there and {np.exp(log):.2g} as the first token of an answer. Ask it without #completions, or draw "
            "answers (--samples N)"
        )


def first_tokens(name: str, reply: Reply) -> dict[str, float]:
    """Return the alternatives of the answer's first token in a reply, with their log-probabilities in nats.

    Raises ModelError if there are none, Unreadable if the model begins by thinking, so that the token is not an answer.
    """
    found = reply.choices[0].logprobs
    if in_thought(reply.choices[0].text):
        raise Unreadable(f"{name}: {THINKS.format(found='a token drawn from it lies within a thought')}")
    content = entries(found, "content", dict)
    first = content[0].get("top_logprobs") if content and isinstance(content[0], dict) else None
    if isinstance(first, list):  # a chat
        alternatives = {e.get("token"): e.get("logprob") for e in first if isinstance(e, dict)}
    else:  # the older format of completions
        tops = entries(found, "top_logprobs", dict)
        alternatives = dict(tops[0]) if tops and isinstance(tops[0], dict) else {}
    if not alternatives:
        raise NoProbabilities(missing(name, "the alternatives of an answer's first token (top_logprobs)"))
    named = {str(token): float(log) for token, log in alternatives.items() if isinstance(log, int | float)}
    likeliest_token = max(named, key=named.__getitem__, default="")
    if in_thought(likeliest_token):
        raise Unreadable(f"{name}: {THINKS.format(found=f'its likeliest first token is {likeliest_token!r}')}")
    return named


def first_token_scores(name: str, tokens: Mapping[str, float], options: Sequence[str]) -> list[float]:
    """Return the log-probability of each option as the answer's first token, in nats.

    Raises Unreadable if an option is not among the server's alternatives: it is more than one token, or too unlikely.
    """
    absent = [option for option in options if option not in tokens]
    if absent:
        raise Unreadable(
            f"{name}: {', '.join(map(repr, absent))} is not among the {len(tokens)} likeliest first tokens that "
            "the endpoint names, so it is several tokens or too unlikely to be scored there. Use options of one token, "
            "raw prompts on an endpoint with echo and logprobs (vLLM), or a local model"
        )
    return [tokens[option] for option in options]


def likeliest(name: str, prompt: int, tokens: Mapping[str, float], k: int) -> NextTokens:
    """Return the k most likely of the tokens that a server returned, or all if there are fewer.

    Raises NoProbabilities if it returned only the drawn token although more were requested.
    """
    if len(tokens) < min(k, FEWEST):
        raise NoProbabilities(f"{name}: the endpoint names {len(tokens)} alternative of a token, and {k} are asked for")
    named = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))[:k]
    logs = np.array([log for _, log in named], dtype=np.float64)
    return NextTokens(prompt, tuple(token for token, _ in named), logs, max(0.0, 1.0 - float(np.exp(logs).sum())))


@dataclass(slots=True)
class Refusals:
    """Counts prompts without probabilities until one has some."""

    what: str
    "`could be scored`"
    in_a_row: int | None = 0
    "None after a prompt with probabilities"

    def had_some(self) -> None:
        self.in_a_row = None

    def had_none(self, reason: str) -> ModelError | None:
        """Return an error if so many of the first prompts had none that asking the others would waste money."""
        if self.in_a_row is None:
            return None
        self.in_a_row += 1
        if self.in_a_row < NEVER:
            return None
        return ModelError(f"none of the first {NEVER} prompts {self.what}; the last reason: {reason}")


def refused(name: str, failure: TryFailed, what: str) -> ModelError:
    """Return the error for a call for log-probabilities that failed."""
    return ModelError(f"{missing(name, what)}. The call failed: {failure.reason}")


def missing(name: str, what: str) -> str:
    return (
        f"{name}: options are scored from {what}, and the endpoint sends none. Use vLLM or a local "
        "model, or draw answers in place of them (--samples N)"
    )


def entries(found: Mapping[str, Any] | None, field: str, kind: Any) -> list[Any]:
    """Return a list of a reply's log-probabilities, empty if it is not a list of this type (None: no value)."""
    listed = found.get(field) if found else None
    if not isinstance(listed, list) or not all(entry is None or isinstance(entry, kind) for entry in listed):
        return []
    return listed
