"""The interface of a local model's engines: tokens in, tokens and probabilities out. `engine` shares work, `plain` does
not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.domain.responses import Request, Sampling
from workbench.inference.thought_rule import Spell, ThoughtRule, Tokens


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers to one request, by their tokens."""

    request: int
    counts: dict[tuple[int, ...], int]
    "tokens, without the one that ended the answer -> how many samples; the counts add up to the request's n"
    decided: int = 0
    "number of samples that `Request.decided` ended"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The log-probabilities of one prompt's continuations."""

    prompt: int
    log_probabilities: NDArray[np.float64]
    "one entry per continuation, in nats"


@dataclass(frozen=True, slots=True, eq=False)
class Likeliest:
    """The most likely next tokens of one prompt, in descending order."""

    prompt: int
    tokens: tuple[int, ...]
    log_probabilities: NDArray[np.float64]
    masses: tuple[float, ...] = ()
    "probability of each requested set of tokens"


class Engine(Protocol):
    """Computes with a network. Positions refer to the sequences given; results come in any order."""

    def sample(
        self,
        prompts: Sequence[Tokens],
        requests: Sequence[Request],
        sampling: Sampling,
        spell: Spell,
        rules: Sequence[ThoughtRule] = (),
    ) -> Iterator[list[Answers]]:
        """Draw `requests[i].n` answers to `prompts[i]`; yield all finished ones together.

        `rules`: the limit of thoughts before each prompt's answer; none: thoughts count as answers.
        """
        ...

    def score(
        self, prompts: Sequence[Tokens], ends: Sequence[Sequence[Tokens]], after: Tokens = ()
    ) -> Iterator[Scores]:
        """Yield the log-probability of each of `ends[i]` after `prompts[i]`. No end is empty.

        `after`: one of these tokens must also follow; none: any token may follow.
        """
        ...

    def likeliest(self, prompts: Sequence[Tokens], k: int, sets: Sequence[Tokens] = ()) -> Iterator[Likeliest]:
        """Yield the k most likely next tokens of each prompt, and the probability that the next token is in each of
        `sets`, which hold distinct tokens of the whole vocabulary.
        """
        ...

    def heed(self, should_stop: Callable[[], bool]) -> None:
        """Let later `sample`s end, without the answers under way, as soon as this says so."""
        ...

    def at_once(self, most: int | None) -> None:
        """Limit the active rows; None: as many as memory allows."""
        ...

    def close(self) -> None:
        """Free the network and all computed state."""
        ...
