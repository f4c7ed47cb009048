"""The interface of a local model's engines: tokens in, tokens and probabilities out.

`engine` shares work, `plain` does not.

Thoughts
--------
Limits how long a model may think before it answers, and ends thoughts that take longer.

A thought has a separate budget: its tokens do not count towards the token limit of an answer. When
the budget is spent, the tokens that end a thought are inserted instead of the model's next tokens,
and the model continues with its answer. The inserted tokens depend only on the tokens before them,
so samples with the same beginning still share one computation, and merged sampling stays exact.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.domain.responses import Request, Sampling
from workbench.domain.thinking import Pair, in_thought, split

Tokens = Sequence[int]
Spell = Callable[[Tokens], str]
"the text of an answer's tokens"
WITHIN = -1
"instead of a count of tokens: the thought continues"
OPENING = 8
"first tokens of an output, among which a model writes the mark that begins a thought"
TAIL = 12
"last tokens of an output, among which a mark may just have been completed"


@dataclass(frozen=True, slots=True)
class ThoughtRule:
    """The budget of one prompt's thoughts."""

    budget: int
    "number of tokens, including marks that the model writes itself"
    end: tuple[int, ...]
    "tokens appended to a thought that is cut"
    opened: str
    "the mark with which the prompt opens a thought, or empty if it opens none"
    closing: str
    "the mark that ends a thought"
    spell: Spell
    own: tuple[Pair, ...] = ()

    @property
    def start(self) -> int:
        """The initial value of `after`."""
        return WITHIN if self.opened else 0

    def after(self, before: int, tokens: Sequence[int]) -> int:
        """Return the number of an output's tokens before its answer, or `WITHIN` during a thought.

        `before` is the result without the last token.
        """
        n_tokens = len(tokens)
        if before == WITHIN:
            if n_tokens > self.budget:
                return n_tokens if n_tokens >= self.budget + len(self.end) else WITHIN
            return n_tokens if self.closing in self.spell(tokens[-TAIL:]) else WITHIN
        if before == 0 and n_tokens <= OPENING and in_thought(self.spell(tokens), self.own):
            return WITHIN
        return before

    def forced(self, before: int, n: int) -> int | None:
        """Return the forced token after n tokens of an output, or None if the model draws it."""
        if before != WITHIN or n < self.budget:
            return None
        return self.end[n - self.budget]

    def thought(self, tokens: Sequence[int]) -> int:
        """Return the number of tokens of thoughts in a complete output, with their marks."""

        def ended(n: int) -> bool:
            return split(self.opened + self.spell(tokens[:n]), self.own).answer is not None

        opening = range(1, min(OPENING, len(tokens)) + 1)
        start = (
            0
            if self.opened
            else next((n_tokens for n_tokens in opening if not ended(n_tokens)), None)
        )
        if start is None:
            return 0
        return start + bisect_left(range(start, len(tokens)), True, key=ended)


@dataclass(frozen=True, slots=True)
class SampledAnswers:
    """All answers to one request, by their tokens."""

    request: int
    counts: dict[tuple[int, ...], int]
    """tokens, without the one that ended the answer -> how many samples

    The counts add up to the request's n.
    """
    decided: int = 0
    "number of samples that `Request.decided` ended"


@dataclass(frozen=True, slots=True, eq=False)
class EndScores:
    """The log-probabilities of one prompt's continuations."""

    prompt: int
    log_probabilities: NDArray[np.float64]
    "one entry per continuation, in nats"


@dataclass(frozen=True, slots=True, eq=False)
class LikelyTokens:
    """The most likely next tokens of one prompt, in descending order."""

    prompt: int
    tokens: tuple[int, ...]
    log_probabilities: NDArray[np.float64]
    masses: tuple[float, ...] = ()
    "probability of each requested set of tokens"


class Engine(Protocol):
    """The computation with a network.

    Positions refer to the sequences given. Results come in any order.
    """

    def sample(
        self,
        prompts: Sequence[Tokens],
        requests: Sequence[Request],
        sampling: Sampling,
        spell: Spell,
        rules: Sequence[ThoughtRule] = (),
    ) -> Iterator[list[SampledAnswers]]:
        """Draw `requests[i].n` answers to `prompts[i]`, and yield all finished ones together.

        `rules` are the limits of thoughts before each prompt's answer. Without rules thoughts count
        as answers.
        """
        ...

    def score(
        self, prompts: Sequence[Tokens], ends: Sequence[Sequence[Tokens]], after: Tokens = ()
    ) -> Iterator[EndScores]:
        """Yield the log-probability of each of `ends[i]` after `prompts[i]`.

        No end is empty.

        One of the tokens `after` must also follow. If there are none, any token may follow.
        """
        ...

    def likeliest(
        self, prompts: Sequence[Tokens], k: int, sets: Sequence[Tokens] = ()
    ) -> Iterator[LikelyTokens]:
        """Yield the k most likely next tokens of each prompt, and probabilities of token sets.

        A set's probability is that of the next token being in it. Each of `sets` holds distinct
        tokens of the whole vocabulary.
        """
        ...

    def stop_when(self, should_stop: Callable[[], bool]) -> None:
        """End later calls of `sample`, and drop answers under way, once `should_stop` is true."""
        ...

    def limit_parallel(self, most: int | None) -> None:
        """Limit the active rows. None stands for as many as memory allows."""
        ...

    def close(self) -> None:
        """Free the network and all computed state."""
        ...
