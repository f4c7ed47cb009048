"""What a local model's engine does: tokens in, tokens and probabilities out. `engine` shares all work, `plain` none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.domain.responses import Request, Sampling

if TYPE_CHECKING:
    from workbench.inference.thought_rule import ThoughtRule  # which knows how tokens are spelled from here

Tokens = Sequence[int]
Spell = Callable[[Tokens], str]
"the text of an answer's tokens"


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers to one request, by their tokens."""

    request: int
    counts: dict[tuple[int, ...], int]
    "tokens, without the one that ended the answer -> how many samples; the counts add up to the request's n"
    decided: int = 0
    "of the samples, those that were ended because `Request.decided` said so"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The log-probabilities of one prompt's continuations."""

    prompt: int
    log_probabilities: NDArray[np.float64]
    "one entry a continuation, in nats"


@dataclass(frozen=True, slots=True, eq=False)
class Likeliest:
    """The likeliest next tokens of one prompt, most likely first."""

    prompt: int
    tokens: tuple[int, ...]
    log_probabilities: NDArray[np.float64]
    masses: tuple[float, ...] = ()
    "of each set of tokens that was asked for, its probability"


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
        """Draw `requests[i].n` answers to `prompts[i]`; yield those that are whole, as many as are at hand.

        `rules`: of each prompt, how long a thought before its answer may be; none: thoughts count as answers.
        """
        ...

    def score(
        self, prompts: Sequence[Tokens], ends: Sequence[Sequence[Tokens]], after: Tokens = ()
    ) -> Iterator[Scores]:
        """Yield the log-probability of each of `ends[i]` after `prompts[i]`. No end is empty.

        `after`: and that one of these tokens follows; none: whatever does.
        """
        ...

    def likeliest(self, prompts: Sequence[Tokens], k: int, sets: Sequence[Tokens] = ()) -> Iterator[Likeliest]:
        """Yield the k likeliest next tokens of each prompt, and how probable it is that the next token is in each of
        `sets`: distinct tokens, out of the whole vocabulary.
        """
        ...

    def at_once(self, most: int | None) -> None:
        """Let at most so many rows be under way; None: as many as memory allows."""
        ...

    def close(self) -> None:
        """Let go of the network and of what was computed."""
        ...
