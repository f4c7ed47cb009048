"""The parameters of a call to a server, in the server's dialect."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.domain.names import plural
from workbench.domain.prompts import Prompt
from workbench.domain.responses import RAW_THOUGHTS, Sampling
from workbench.errors import ModelError
from workbench.inference.served.address import Address
from workbench.inference.served.budget import MOST_CHOICES
from workbench.inference.served.providers import UNKNOWN, Provider
from workbench.inference.served.reply import FailureKind, TryFailed, as_responses

log = logging.getLogger(__name__)

ALTERNATIVES = 20
"most alternatives of one token at the official endpoint and vLLM"
NOTHING_MORE = Sampling()
"a sampling without further fields and thinking"
STATED = ("temperature", "top_p")
"parameters of every sampling"
STEPS = (10, 5, 2)
"numbers of alternatives to try when a server refuses more without stating its limit"
SEEDS = 2**31
"upper limit of seeds, which servers store in 32 bits"

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call, independent of the dialect."""

    prompt: Prompt
    n: int
    seed: int | None
    sampling: Sampling
    logprobs: int = 0
    "number of alternatives to request for each token"
    echo: str = ""
    "text after the prompt, to be scored"
    whole: bool = False
    """whether the log-probabilities of the whole answer are wanted

    They are drawn by the sampling, and not those of the model.
    """


class Dialect:
    """The features that a server supports. Refused features are dropped permanently."""

    def __init__(self, address: Address, provider: Provider = UNKNOWN):
        self._address = address
        self.brought = 1
        """most answers that one call has brought

        A refusal of so many is about something else.
        """
        self.too_many: int | None = None
        "fewest answers that a call was refused for, or None if no call was"
        self._too_many_words = ""
        self.seed = True
        """whether the seed is sent

        Without it, or if a server ignores it, answers are not reproducible.
        """
        self.limit = "max_tokens"
        self.alternatives = ALTERNATIVES
        "most alternatives to request of a token"
        self.scored_with = NOTHING_MORE
        "the sampling whose further fields and thinking are sent with requests for probabilities"
        self.refusals: dict[str, str] = {}
        "parameter that is dropped or changed -> the server's words"
        self.start_with(provider)

    def start_with(self, provider: Provider) -> None:
        """Start with the dialect of a kind of server."""
        self.provider = provider
        self.too_many = None if provider.n and not self._address.responses else 2
        self.limit = provider.limit
        self.seed = "seed" not in provider.ignores and not self._address.responses

    @property
    def most(self) -> int:
        """The largest number of answers that a call asks for.

        After a refusal the limit is found by halving the interval between what a call has brought
        and what was refused.
        """
        if self.too_many is None or self.too_many <= self.brought:
            return MOST_CHOICES
        return (self.brought + self.too_many) // 2

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes for the user about the dialect."""
        provider = self.provider
        if provider is UNKNOWN:
            note = (
                "dialect: unknown, so top-k, min-p and penalties are the server's own unless "
                "the sampling has a top-k"
            )
        else:
            note = f"dialect: {provider.name} ({provider.tested})"
            if provider.neutral:
                note += f"; sent as neutral: {', '.join(sorted(provider.neutral))}"
        if self._address.responses:
            note += "; asked through the Responses API, one answer a call and without seeds"
        notes = [note]
        if provider.ignores:
            ignored = ", ".join(provider.ignores)
            notes.append(f"{provider.name} ignores {ignored}, so these are not sent")
        return tuple(notes)

    def endpoint(self, prompt: Prompt) -> str:
        """Return the endpoint for a prompt: `chat`, `completions` or `responses`."""
        if not prompt.chat or self._address.raw:
            return "completions"
        return "responses" if self._address.responses else "chat"

    def body(self, call: ModelCall) -> Body:
        """Return the parameters of a call, with those of the sampling unchanged.

        Raises TryFailed if the endpoint has no such call.
        """
        body = self._chat_or_text(call)
        if self.endpoint(call.prompt) != "responses":
            return body
        if call.echo:
            raise TryFailed(FailureKind.REFUSED, "the Responses API echoes nothing")
        return as_responses(body, official=self._address.official)

    def _chat_or_text(self, call: ModelCall) -> Body:
        """Return the parameters of a call to the chat or the text endpoint."""
        sampling = self._sampling_of(call)
        body: Body = {"model": self._address.model}
        body |= {name: getattr(sampling, name) for name in STATED if name not in sampling.left}
        is_chat = self.endpoint(call.prompt) != "completions"
        if is_chat:
            body |= self._chat_parameters(call, sampling)
        else:
            body |= self._text_parameters(call, sampling)
        if call.n > 1:
            body["n"] = call.n
        if call.seed is not None and self.seed:
            body["seed"] = call.seed
        extra_fields = self._extra_fields(sampling, is_chat=is_chat)
        if extra_fields:
            body["extra_body"] = {**extra_fields, **body.get("extra_body", {})}
        return body

    def _sampling_of(self, call: ModelCall) -> Sampling:
        """Return the sampling of a call, with the fields for probabilities if it asks for these."""
        if not call.logprobs or call.whole:
            return call.sampling
        scored_with = self.scored_with
        return replace(call.sampling, extra=scored_with.extra, thinking=scored_with.thinking)

    def _chat_parameters(self, call: ModelCall, sampling: Sampling) -> Body:
        """Return the prompt, the token limit and the log-probabilities of a call to a chat."""
        messages = [
            {"role": message.role, "content": message.content} for message in call.prompt.messages
        ]
        parameters: Body = {"messages": messages, self.limit: sampling.most_tokens}
        if call.echo:
            messages.append({"role": "assistant", "content": call.echo})
            parameters["logprobs"] = call.logprobs
            parameters["extra_body"] = {"echo": True}
        elif call.logprobs:
            parameters["logprobs"] = True
            parameters["top_logprobs"] = min(call.logprobs, self.alternatives)
        return parameters

    def _text_parameters(self, call: ModelCall, sampling: Sampling) -> Body:
        """Return the prompt, the token limit and the log-probabilities of a call to a text."""
        parameters: Body = {
            "prompt": raw_text(call.prompt) + call.echo,
            # The limit is sent for an echo, too, as some servers take 0 for no limit.
            "max_tokens": sampling.max_new_tokens,
        }
        if call.logprobs:
            parameters["logprobs"] = min(call.logprobs, self.alternatives)
        if call.echo:
            parameters["echo"] = True
        return parameters

    def _extra_fields(self, sampling: Sampling, *, is_chat: bool) -> dict[str, Any]:
        """Return the fields that the package does not know as parameters.

        Raises ModelError for thinking without a chat, or if the user sets a field of the thinking.
        """
        extra_fields = self.provider.fields(sampling)
        if sampling.thinking:
            if not is_chat:
                raise ModelError(f"{self._address.name}: {RAW_THOUGHTS}")
            thinking_fields = self.provider.thinking_fields(sampling.thinking)
            duplicates = sorted(_field_names(sampling.extra) & set(thinking_fields))
            if duplicates:
                raise ModelError(
                    f"{self._address.name}: --thinking {sampling.thinking} sets "
                    f"{', '.join(duplicates)}, and so does --extra-body; leave one of them out"
                )
            extra_fields |= thinking_fields
        if sampling.extra:
            extra_fields |= json.loads(sampling.extra)
        return extra_fields

    def learn(self, body: Body, failure: TryFailed, sampling: Sampling = NOTHING_MORE) -> bool:
        """Drop the refused feature, and return whether there is another way to ask.

        Raises ModelError if the server refuses the sampling, because answers of another sampling
        must not be mixed in.
        """
        if failure.kind is not FailureKind.REFUSED:
            return False
        if "seed" in body and _is_about("seed", failure):
            self.seed = False
            self._log_refusal(
                "seed",
                failure,
                "asked without a seed from now on, so its answers cannot be drawn again",
            )
            return True
        is_chat = "messages" in body
        if "max_tokens" in body and is_chat and "max_completion_tokens" in failure.reason:
            self.limit = "max_completion_tokens"
            self._log_refusal("max_tokens", failure, "asked with max_completion_tokens from now on")
            return True
        n_alternatives = _n_alternatives(body)
        if n_alternatives and is_about_logprobs(failure) and not is_unsupported(failure):
            allowed = _fewer_alternatives(n_alternatives, failure.reason)
            self.alternatives = min(self.alternatives, allowed)
            return self.alternatives < n_alternatives
        self._check_sampling_taken(body, failure, sampling)
        return False

    def n_after_refusal(self, n: int, failure: TryFailed) -> int:
        """Return the number of answers to ask for after n were refused.

        It is the number that the server names, or else `most`. It is 0 if the refusal is not about
        their number.
        """
        if failure.kind is not FailureKind.REFUSED or n <= self.brought:
            return 0
        best = 0
        if _is_about("n", failure) or NUMBER.search(failure.reason):
            numbers = map(int, re.findall(r"\b\d{1,3}\b", failure.reason))
            best = max((number for number in numbers if number < n), default=0)
        self.too_many = min(self.too_many or n, best + 1 if best else n)
        self._too_many_words = failure.reason
        return best or self.most

    def record_answers(self, n: int, n_answers: int) -> None:
        """Record how many answers a call for n brought."""
        if n > 1 and n_answers == 1:
            self.too_many = 2
        self.brought = max(self.brought, n_answers)
        if self.too_many is not None and self._too_many_words and self.brought < self.too_many:
            excess = f"more than {plural(self.brought, 'answer')} a call"
            if self.brought + 1 == self.too_many and excess not in self.refusals.get("n", ""):
                log.warning(
                    "%s refuses %s (%s): not asked for from now on",
                    self._address.name,
                    excess,
                    self._too_many_words,
                )
            self.refusals["n"] = f"{excess}: {self._too_many_words}"

    def _log_refusal(self, parameter: str, failure: TryFailed, consequence: str) -> None:
        """Log once what a server refused, and how it is asked instead."""
        if parameter not in self.refusals:
            self.refusals[parameter] = failure.reason
            log.warning(
                "%s refuses %s (%s): %s", self._address.name, parameter, failure.reason, consequence
            )

    def _check_sampling_taken(self, body: Body, failure: TryFailed, sampling: Sampling) -> None:
        """Raise ModelError if a refusal is about a parameter of the sampling.

        The message says what to ask for instead.
        """
        for name in (*STATED, *sorted(body.get("extra_body", {}))):
            if name in STATED and name not in body:
                continue
            if _is_about(name, failure):
                raise ModelError(
                    f"{self._address.name}: the endpoint does not take {name} as the sampling sets "
                    f"it ({failure.reason}). {self._advice_on(name, sampling)}"
                )

    def _advice_on(self, name: str, sampling: Sampling) -> str:
        """Return advice for a refused parameter."""
        if name in _field_names(sampling.extra):
            return "It is a field of --extra-body; leave it out there"
        if name in self.provider.thinking_fields(sampling.thinking):
            return (
                "It asks for the thinking; leave --thinking out, and give this server's own "
                "field in --extra-body"
            )
        flag = f"--{name.replace('_', '-')}" if name in STATED else "--top-k"
        return (
            "To leave it to the server, which is another sampling and never pooled with this one, "
            f"ask with {flag} server"
        )


def _field_names(extra: str) -> frozenset[str]:
    """Return the names of the fields in the JSON of a sampling."""
    return frozenset(json.loads(extra)) if extra else frozenset()


def _is_about(parameter: str, failure: TryFailed) -> bool:
    """Return whether a refusal is about a parameter.

    The server names it, or says that it is not supported.

    A message may quote the prompt, so the word alone is not enough.
    """
    if failure.parameter:
        return failure.parameter == parameter
    reason = failure.reason.lower()
    return bool(re.search(rf"\b{parameter}\b", reason) and re.search(REFUSAL, reason))


def is_about_logprobs(failure: TryFailed) -> bool:
    """Return whether a server refused to return probabilities, or that many of them."""
    return (
        failure.kind is FailureKind.REFUSED
        and "logprobs" in (failure.parameter or failure.reason).lower()
    )


def is_unsupported(failure: TryFailed) -> bool:
    """Return whether a refusal means that a feature does not exist.

    Otherwise a value is too large.
    """
    return bool(re.search(REFUSAL, failure.reason.lower()))


def _n_alternatives(body: Body) -> int:
    """Return the number of alternatives of a token that a call asked for, or 0 for an echo."""
    if "echo" in body or "echo" in body.get("extra_body", {}):
        return 0
    return int(body.get("top_logprobs") or body.get("logprobs") or 0)


def _fewer_alternatives(n: int, reason: str) -> int:
    """Return the number of alternatives to ask for after n were refused.

    It is the server's stated limit, or the next smaller step.
    """
    numbers = map(int, re.findall(r"\b\d{1,2}\b", reason))
    limits = [number for number in numbers if 2 <= number < n]
    if limits:
        return max(limits)
    return next((step for step in STEPS if step < n), n)


NUMBER = re.compile(
    r"\b(n|n_cmpl|best_of|slots?|choices|completions|sequences|batch)\b", re.IGNORECASE
)
"words of a refusal that is about the number of answers"
REFUSAL = r"unsupported|not support|unexpected|unrecogni|unknown|not permitted|not allowed|extra"


def raw_text(prompt: Prompt) -> str:
    """Return a prompt as text to be continued, with the messages of a chat joined."""
    return "\n\n".join(message.content for message in prompt.messages)


def call_seed(seed: int, number: int) -> int:
    """Return the seed of one of a request's calls.

    With equal seeds a deterministic server would repeat its answer.
    """
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint32)[0]) % SEEDS
