"""The cost of served models: limits, an estimate before a run, and the account during it.

Limits and prices apply to one job, over all its attempts, and come from the environment if they are
not given:

    WORKBENCH_MAX_REQUESTS   calls, including retries
    WORKBENCH_MAX_TOKENS     tokens of prompts and answers together
    WORKBENCH_MAX_COST       in the currency of the prices
    WORKBENCH_PRICE_IN       price of a million prompt tokens
    WORKBENCH_PRICE_OUT      price of a million answer tokens

Before each call its largest possible cost is set aside. After it, the cost counted by the server is
booked instead. A call of unknown cost (cut, hanging, unreadable) is booked at the largest cost, so
that the limits hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import UsageError
from workbench.inference.served.reply import Reply

MOST_CHOICES = 128
"most answers per call, the official endpoint's limit"
BYTES_PER_TOKEN = 3
"""for counting prompts without the server's tokenizer

English has about 4.2 bytes per token, so this overestimates.
"""
TOKENS_PER_MESSAGE = 8
"tokens that a chat format adds to a message and at the end"


@dataclass(frozen=True, slots=True)
class Usage:
    """The actual or possible cost of calls."""

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    thinking_tokens: int = 0
    "number of answer tokens that are thoughts, if the server counts them separately"
    batched_prompt_tokens: int = 0
    "prompt tokens in batches, part of the prompt tokens"
    batched_answer_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.thinking_tokens + other.thinking_tokens,
            self.batched_prompt_tokens + other.batched_prompt_tokens,
            self.batched_answer_tokens + other.batched_answer_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(
            -other.requests,
            -other.prompt_tokens,
            -other.answer_tokens,
            -other.thinking_tokens,
            -other.batched_prompt_tokens,
            -other.batched_answer_tokens,
        )

    @property
    def in_batches(self) -> Usage:
        """The same cost, with all requests in batches."""
        return replace(
            self, batched_prompt_tokens=self.prompt_tokens, batched_answer_tokens=self.answer_tokens
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one job. None stands for no limit, or an unknown price."""

    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float | None = None
    "per million prompt tokens"
    price_out: float | None = None
    "per million answer tokens"
    batch_share: float = 1.0
    "factor of the prices for requests in a batch"

    def __post_init__(self) -> None:
        if self.max_cost is not None and (self.price_in is None or self.price_out is None):
            raise UsageError(
                "a limit of cost needs both prices of a million tokens: set WORKBENCH_PRICE_IN "
                "and WORKBENCH_PRICE_OUT"
            )
        if (self.price_in is None) != (self.price_out is None):
            missing = "WORKBENCH_PRICE_IN" if self.price_in is None else "WORKBENCH_PRICE_OUT"
            raise UsageError(
                f"a cost needs both prices of a million tokens, and ${missing} is not set; set "
                "it (0: free)"
            )

    def cost(self, spent: Usage) -> float | None:
        """Return the price of calls, or None if prices are unknown."""
        if self.price_in is None or self.price_out is None:
            return None
        discount = 1 - self.batch_share
        prompt = spent.prompt_tokens - discount * spent.batched_prompt_tokens
        answer = spent.answer_tokens - discount * spent.batched_answer_tokens
        return (prompt * self.price_in + answer * self.price_out) / 1e6

    def exceeded(self, spent: Usage) -> str:
        """Return the limits that calls exceed, or an empty text if there are none."""
        cost = self.cost(spent)
        exceeded_limits = []
        if self.max_requests is not None and spent.requests > self.max_requests:
            exceeded_limits.append(f"{self.max_requests:,} requests")
        if self.max_tokens is not None and spent.tokens > self.max_tokens:
            exceeded_limits.append(f"{self.max_tokens:,} tokens")
        if self.max_cost is not None and cost is not None and cost > self.max_cost:
            exceeded_limits.append(f"a cost of {self.max_cost:g}")
        return " and ".join(exceeded_limits)

    def limits(self) -> str:
        """Return the limits as text."""
        parts = [
            f"{limit:,} {unit}"
            for limit, unit in (
                (self.max_requests, "requests"),
                (self.max_tokens, "tokens"),
                (self.max_cost, "cost"),
            )
            if limit is not None
        ]
        return "at most " + ", ".join(parts) if parts else "no limit of cost (WORKBENCH_MAX_COST)"

    def describe(self, spent: Usage) -> str:
        """Return the actual or possible cost as text."""
        cost = self.cost(spent)
        price = "" if cost is None else f", a cost of {cost:.4g}"
        thought = f" ({spent.thinking_tokens:,} of them thought)" if spent.thinking_tokens else ""
        return (
            f"{spent.requests:,} requests, {spent.prompt_tokens:,} prompt tokens and "
            f"{spent.answer_tokens:,} answer tokens{thought}{price}"
        )


class Room(Enum):
    """Whether a budget has room for one more call."""

    FREE = "free"
    TAKEN = "taken"
    "there may be room when active calls are booked"
    NONE = "none"


class Account:
    """A budget, the amount spent, and the amount set aside for active calls.

    A job has one account, whichever attempt spends it. See `carry`.
    """

    def __init__(self, budget: Budget):
        self.budget = budget
        self.carried = Usage()
        "by earlier attempts at the job, part of what is spent"
        self.spent = Usage()
        self._aside = Usage()

    def carry(self, carried: Usage) -> None:
        """Count what earlier attempts spent."""
        self.spent, self.carried = self.spent - self.carried + carried, carried

    def set_aside(self, dearest: Usage) -> Room:
        """Set aside the largest cost of a call, if there is room."""
        if not self.budget.exceeded(self.spent + self._aside + dearest):
            self._aside += dearest
            return Room.FREE
        return Room.NONE if self.budget.exceeded(self.spent + dearest) else Room.TAKEN

    def book(self, dearest: Usage, cost: Usage) -> None:
        """Book the cost of a call for which `dearest` was set aside."""
        self._aside -= dearest
        self.spent += cost


def prompt_tokens(prompt: Prompt) -> int:
    """Return the approximate number of tokens of a prompt, an overestimate."""
    length = sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages)
    return math.ceil(length / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (len(prompt.messages) + 1)


def text_tokens(text: str | None) -> int:
    """Return the approximate number of tokens of an answer, an overestimate."""
    return math.ceil(len((text or "").encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def counted_usage(reply: Reply, dearest: Usage) -> Usage:
    """Return the tokens that the server counted, or the amount set aside if it did not count.

    A server that counts 0 did not count: prompts are never empty, and answers have at least as many
    tokens as their bytes suggest.
    """
    prompt = reply.prompt_tokens or dearest.prompt_tokens
    answer = dearest.answer_tokens if reply.answer_tokens is None else reply.answer_tokens
    answer = answer or sum(text_tokens(choice.text) for choice in reply.choices)
    return Usage(1, prompt, answer, min(reply.thinking_tokens, answer))


def estimate(requests: Sequence[Request], sampling: Sampling, *, alone: bool = False) -> Usage:
    """Return the largest cost of requests if every call succeeds.

    It is assumed that the server gives all answers in one call. With `alone` it gives one answer
    per call, so that a prompt is paid for each of its answers.
    """
    calls_by_request = [
        request.n if alone else math.ceil(request.n / MOST_CHOICES) for request in requests
    ]
    return Usage(
        sum(calls_by_request),
        sum(
            n_calls * prompt_tokens(request.prompt)
            for n_calls, request in zip(calls_by_request, requests, strict=True)
        ),
        sum(request.n for request in requests) * sampling.most_tokens,
    )


def budget_from(environ: Mapping[str, str]) -> Budget:
    """Return the budget set by the environment. Raises UsageError naming an invalid variable."""
    return Budget(
        max_requests=whole_from(environ, "WORKBENCH_MAX_REQUESTS"),
        max_tokens=whole_from(environ, "WORKBENCH_MAX_TOKENS"),
        max_cost=number_from(environ, "WORKBENCH_MAX_COST"),
        price_in=number_from(environ, "WORKBENCH_PRICE_IN"),
        price_out=number_from(environ, "WORKBENCH_PRICE_OUT"),
    )


def number_from(environ: Mapping[str, str], variable: str) -> float | None:
    """Return the number in a variable, or None if it is not set.

    Raises UsageError if it is not a number.
    """
    text = environ.get(variable, "").strip()
    if not text:
        return None
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise UsageError(f"${variable} is {text!r}; expected a number of 0 or more, like 2.5")
    return number


def whole_from(environ: Mapping[str, str], variable: str) -> int | None:
    """Return the count in a variable, or None if it is not set.

    Raises UsageError if it is not a whole number.
    """
    number = number_from(environ, variable)
    if number is None:
        return None
    if number != int(number):
        raise UsageError(
            f"${variable} is {environ[variable].strip()!r}; it is a count: give a whole number"
        )
    return int(number)
