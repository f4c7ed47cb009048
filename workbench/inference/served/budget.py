"""What served models may cost: limits, an estimate before a run, and the account kept during it.

Limits and prices are those of one run, and come from the environment where they are not given:

    WORKBENCH_MAX_REQUESTS   calls, retries among them
    WORKBENCH_MAX_TOKENS     tokens of prompts and answers together
    WORKBENCH_MAX_COST       in the currency of the prices
    WORKBENCH_PRICE_IN       price of a million prompt tokens
    WORKBENCH_PRICE_OUT      price of a million answer tokens

Before each call its dearest outcome is set aside; after it, what the server counted is booked instead. A call whose
cost nobody knows (cut, hanging, unreadable) is booked at the dearest outcome, so that the limits hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import UsageError

MOST_CHOICES = 128
"answers asked in one call: the official endpoint's limit"
BYTES_PER_TOKEN = 3
"prompts are counted here without the server's tokenizer; English has near 4.2 bytes a token, so this is too many"
TOKENS_PER_MESSAGE = 8
"what a chat format puts around a message, and at the end"


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls cost, or may cost."""

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    thinking_tokens: int = 0
    "of the answer tokens, those of thoughts, where the server counts them apart"
    batched_prompt_tokens: int = 0
    "of the prompt tokens, those of requests in batches"
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
        """The same, all of it in batches."""
        return replace(self, batched_prompt_tokens=self.prompt_tokens, batched_answer_tokens=self.answer_tokens)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None: no limit, or a price that is not known."""

    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float | None = None
    "of a million prompt tokens"
    price_out: float | None = None
    "of a million answer tokens"
    batch_share: float = 1.0
    "of the prices that requests in a batch cost"

    def __post_init__(self) -> None:
        if self.max_cost is not None and (self.price_in is None or self.price_out is None):
            raise UsageError(
                "a limit of cost needs both prices of a million tokens: set WORKBENCH_PRICE_IN and WORKBENCH_PRICE_OUT"
            )
        if (self.price_in is None) != (self.price_out is None):
            missing = "WORKBENCH_PRICE_IN" if self.price_in is None else "WORKBENCH_PRICE_OUT"
            raise UsageError(
                f"a cost needs both prices of a million tokens, and ${missing} is not set; set it (0: free)"
            )

    def cost(self, spent: Usage) -> float | None:
        """Return the price of calls, None where prices are not known."""
        if self.price_in is None or self.price_out is None:
            return None
        off = 1 - self.batch_share
        prompt = spent.prompt_tokens - off * spent.batched_prompt_tokens
        answer = spent.answer_tokens - off * spent.batched_answer_tokens
        return (prompt * self.price_in + answer * self.price_out) / 1e6

    def exceeded(self, spent: Usage) -> str:
        """Return which limits calls are beyond, "" for none."""
        cost = self.cost(spent)
        beyond = []
        if self.max_requests is not None and spent.requests > self.max_requests:
            beyond.append(f"{self.max_requests:,} requests")
        if self.max_tokens is not None and spent.tokens > self.max_tokens:
            beyond.append(f"{self.max_tokens:,} tokens")
        if self.max_cost is not None and cost is not None and cost > self.max_cost:
            beyond.append(f"a cost of {self.max_cost:g}")
        return " and ".join(beyond)

    def limits(self) -> str:
        """Say for people what is allowed."""
        named = [
            f"{limit:,} {what}"
            for limit, what in ((self.max_requests, "requests"), (self.max_tokens, "tokens"), (self.max_cost, "cost"))
            if limit is not None
        ]
        return "at most " + ", ".join(named) if named else "no limit of cost (WORKBENCH_MAX_COST)"

    def describe(self, spent: Usage) -> str:
        """Say for people what was or may be spent."""
        cost = self.cost(spent)
        price = "" if cost is None else f", a cost of {cost:.4g}"
        thought = f" ({spent.thinking_tokens:,} of them thought)" if spent.thinking_tokens else ""
        return (
            f"{spent.requests:,} requests, {spent.prompt_tokens:,} prompt tokens and {spent.answer_tokens:,} answer "
            f"tokens{thought}{price}"
        )


class Room(Enum):
    """Whether a budget has room for one more call."""

    FREE = "free"
    TAKEN = "taken"
    "there may be, once calls that are under way are booked"
    NONE = "none"


class Account:
    """A budget, what was spent of it, and what is set aside for calls under way."""

    def __init__(self, budget: Budget):
        self.budget = budget
        self.spent = Usage()
        self._aside = Usage()

    def set_aside(self, dearest: Usage) -> Room:
        """Set aside what a call may cost at most, where there is room."""
        if not self.budget.exceeded(self.spent + self._aside + dearest):
            self._aside += dearest
            return Room.FREE
        return Room.NONE if self.budget.exceeded(self.spent + dearest) else Room.TAKEN

    def book(self, dearest: Usage, cost: Usage) -> None:
        """Book what a call for which `dearest` was set aside did cost."""
        self._aside -= dearest
        self.spent += cost


def prompt_tokens(prompt: Prompt) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    length = sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages)
    return math.ceil(length / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (len(prompt.messages) + 1)


def estimate(requests: Sequence[Request], sampling: Sampling, *, alone: bool = False) -> Usage:
    """Return what requests cost at most where every call succeeds and the server answers as often a call as it is asked
    to; `alone`: where it answers once a call, so that a prompt is paid for each of its answers.
    """
    calls = [request.n if alone else math.ceil(request.n / MOST_CHOICES) for request in requests]
    return Usage(
        sum(calls),
        sum(n * prompt_tokens(request.prompt) for n, request in zip(calls, requests, strict=True)),
        sum(request.n for request in requests) * sampling.most_tokens,
    )


def budget_from(environ: Mapping[str, str]) -> Budget:
    """Return the budget that the environment sets. Raises UsageError naming a variable that is no such number."""
    return Budget(
        max_requests=whole_from(environ, "WORKBENCH_MAX_REQUESTS"),
        max_tokens=whole_from(environ, "WORKBENCH_MAX_TOKENS"),
        max_cost=number_from(environ, "WORKBENCH_MAX_COST"),
        price_in=number_from(environ, "WORKBENCH_PRICE_IN"),
        price_out=number_from(environ, "WORKBENCH_PRICE_OUT"),
    )


def number_from(environ: Mapping[str, str], variable: str) -> float | None:
    """Return the number that a variable sets, None where it is not set. Raises UsageError where it is none."""
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
    """Return the count that a variable sets, None where it is not set. Raises UsageError for no whole number."""
    number = number_from(environ, variable)
    if number is None:
        return None
    if number != int(number):
        raise UsageError(f"${variable} is {environ[variable].strip()!r}; it is a count: give a whole number")
    return int(number)
