"""What is sent to a server: the parameters of a call, in the dialect that the server turns out to speak."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Sampling
from workbench.errors import ModelError
from workbench.inference.served.address import Address
from workbench.inference.served.reply import Kind, TryFailed

ALTERNATIVES = 20
"the most that the official endpoint and vLLM name of one token"
STEPS = (10, 5, 2)
"alternatives that are asked for in turn where a server refuses more and does not say how many it names"
SEEDS = 2**31
"seeds stay below it: servers hold them in 32 bits"

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call, before a dialect puts it in words."""

    prompt: Prompt
    n: int
    seed: int | None
    sampling: Sampling
    logprobs: int = 0
    "alternatives of each token that are asked for"
    echo: str = ""
    "text put after the prompt, to be scored instead of answered"
    answered: bool = False
    "whether the echoed text is also answered, with as many tokens as the sampling says"


class Dialect:
    """What a server takes. Features are dropped when it refuses them, and stay dropped."""

    def __init__(self, address: Address):
        self._address = address
        self.many = True
        "whether one call may ask for several answers"
        self.seed = True
        "whether the seed is passed; without it, or where a server does not keep to it, answers are not reproducible"
        self.limit = "max_tokens"
        self.alternatives = ALTERNATIVES
        "of a token that are asked for at most"

    def endpoint(self, prompt: Prompt) -> str:
        return "chat" if prompt.chat and not self._address.raw else "completions"

    def body(self, call: Call) -> Body:
        """Return the parameters of a call; those of the sampling exactly as they are."""
        sampling = call.sampling
        body: Body = {
            "model": self._address.model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        if self.endpoint(call.prompt) == "chat":
            body["messages"] = [{"role": m.role, "content": m.content} for m in call.prompt.messages]
            body[self.limit] = sampling.max_new_tokens
            if call.echo:
                body["messages"].append({"role": "assistant", "content": call.echo})
                body |= {"logprobs": call.logprobs, "extra_body": {"echo": True}}
            elif call.logprobs:
                body |= {"logprobs": True, "top_logprobs": min(call.logprobs, self.alternatives)}
        else:
            body["prompt"] = raw_text(call.prompt) + call.echo
            body["max_tokens"] = 0 if call.echo and not call.answered else sampling.max_new_tokens
            if call.logprobs:
                body["logprobs"] = min(call.logprobs, self.alternatives)
            body |= {"echo": True} if call.echo else {}
        if call.n > 1:
            body["n"] = call.n
        if call.seed is not None and self.seed:
            body["seed"] = call.seed
        if sampling.top_k:
            body["extra_body"] = {**body.get("extra_body", {}), "top_k": sampling.top_k}
        return body

    def learn(self, body: Body, failure: TryFailed) -> bool:
        """Drop what a refusal is about; whether there is another way to ask.

        Raises ModelError where the server does not take the sampling: answers drawn otherwise are other answers.
        """
        if failure.kind is not Kind.REFUSED:
            return False
        if "seed" in body and _about("seed", failure):
            self.seed = False
            return True
        if "max_tokens" in body and "messages" in body and "max_completion_tokens" in failure.reason:
            self.limit = "max_completion_tokens"
            return True
        if (asked := _alternatives(body)) and about_logprobs(failure) and not unsupported(failure):
            self.alternatives = min(self.alternatives, _fewer(asked, failure.reason))
            return self.alternatives < asked
        sent = {name for name in ("temperature", "top_p") if name in body} | set(body.get("extra_body", {}))
        for name in sorted(sent):
            if _about(name, failure):
                raise ModelError(
                    f"{self._address.name}: the endpoint does not take {name} as the sampling sets it "
                    f"({failure.reason}). Ask with another sampling"
                )
        return False


def _about(parameter: str, failure: TryFailed) -> bool:
    """Whether a refusal is about a parameter: the server names it, or says that it is not supported.

    A message may quote the prompt, so the word by itself is not enough.
    """
    if failure.parameter:
        return failure.parameter == parameter
    said = failure.reason.lower()
    return bool(re.search(rf"\b{parameter}\b", said) and re.search(REFUSAL, said))


def about_logprobs(failure: TryFailed) -> bool:
    """Whether a server refused to name probabilities, or so many of them."""
    return failure.kind is Kind.REFUSED and "logprobs" in (failure.parameter or failure.reason).lower()


def unsupported(failure: TryFailed) -> bool:
    """Whether a refusal says that there is no such thing, rather than that it is too much."""
    return bool(re.search(REFUSAL, failure.reason.lower()))


def _alternatives(body: Body) -> int:
    """Return how many alternatives of a token a call asked for, 0 where it asked for none."""
    echoed = "echo" in body or "echo" in body.get("extra_body", {})
    return 0 if echoed else int(body.get("top_logprobs") or body.get("logprobs") or 0)


def _fewer(asked: int, said: str) -> int:
    """Return how many alternatives to ask for where so many were refused: as many as the server says it names."""
    named = [number for number in map(int, re.findall(r"\b\d{1,2}\b", said)) if 2 <= number < asked]
    return max(named, default=next((step for step in STEPS if step < asked), asked))


REFUSAL = r"unsupported|not support|unexpected|unrecogni|unknown|not permitted|not allowed|extra"


def raw_text(prompt: Prompt) -> str:
    """Return a prompt as text to be continued, the messages of a chat one after the other."""
    return "\n\n".join(message.content for message in prompt.messages)


def checked_sampling(address: Address, sampling: Sampling) -> None:
    """Raise ModelError where an endpoint is known not to take a sampling."""
    if sampling.top_k and address.official:
        raise ModelError(
            f"{address.name}: {address.host} knows no top-k, and the design asks for top-k {sampling.top_k}. "
            "Ask without it (--top-k 0)"
        )


def call_seed(seed: int, number: int) -> int:
    """Return the seed of one call among those for a request: a server that keeps to seeds would else answer the same
    each time.
    """
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint32)[0]) % SEEDS
