"""The bookkeeping of merged sampling: n samples of one prompt as a tree of distinct beginnings.

Samples with the same beginning have the same next-token distribution, so it is computed once for all of them, and each
continues with its own draw from it. Independent samples would do the same, so the tree's distribution is exactly that
of independent sampling; only the work is shared.

A sample's draws depend only on the request's seed, the sample's number and the depth: the first k of n samples are the
same as k samples alone, and k + 1 … n can be drawn later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.inference.thought_rule import WITHIN, ThoughtRule

BLOCK = 32
"depths whose numbers are drawn together, about the length of most answers"


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One distinct unfinished beginning of an answer."""

    tokens: tuple[int, ...]
    samples: NDArray[np.int64]
    "indices of the request's samples with this beginning"
    parent: int
    "index of its parent row in the previous step"
    begun: int = 0
    "tokens before the answer, see `ThoughtRule.after`"

    @property
    def count(self) -> int:
        return len(self.samples)


class Uniforms:
    """Uniform numbers in [0, 1) of samples first … first + n - 1, depth by depth.

    A sample's number at a depth does not depend on n and first: each block of depths has its own generator, in which
    every sample has a fixed position.
    """

    def __init__(self, seed: int, first: int, n: int):
        self._seed, self._first, self._n = seed, first, n
        self._block, self._columns = -1, np.empty((0, 0))

    def at(self, depth: int) -> NDArray[np.float64]:
        """Return the numbers of all samples at a depth: (n,). Depths come in order."""
        block, place = divmod(depth, BLOCK)
        if block != self._block:
            bits = np.random.PCG64([self._seed, block])
            bits.advance(self._first * BLOCK)  # each double takes one step of the generator
            self._columns = np.random.Generator(bits).random((self._n, BLOCK)).T
            self._block = block
        found: NDArray[np.float64] = self._columns[place]
        return found


@dataclass(slots=True)
class SampleTree:
    """All samples of one prompt, while they are drawn.

    The seed belongs to the request: the draws do not depend on other prompts in the batch.
    """

    n: int
    seed: int
    stop: frozenset[int]
    max_new_tokens: int
    settled: Callable[[tuple[int, ...]], bool] | None = None
    "whether the beginning of an answer suffices; None: answers continue to their end"
    rule: ThoughtRule | None = None
    "limit of the thought before the answer; None: thought and answer share `max_new_tokens`"
    rows: list[Row] = field(default_factory=list)
    finished: Counter[tuple[int, ...]] = field(default_factory=Counter)
    decided: int = 0
    "samples that `settled` ended"
    first: int = 0
    "number of the first sample, see `Request.first`"
    uniforms: Uniforms = field(init=False)

    def __post_init__(self) -> None:
        self.uniforms = Uniforms(self.seed, self.first, self.n)
        self.rows = [Row((), np.arange(self.n), 0, self.rule.start if self.rule is not None else 0)]

    def grow(self, tokens: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
        """Advance every row by one token.

        Parameters
        ----------
        tokens, probabilities : shape (rows, k)
            The possible next tokens of each row and their probabilities, 0 for the rest of a row. Rows need not add up
            to 1; they are normalised.
        """
        before, self.rows = self.rows, []
        uniforms = self.uniforms.at(len(before[0].tokens))
        all_edges = np.cumsum(probabilities, axis=1)
        last = (
            probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
        )  # rounding must not go past the last token
        for parent, row in enumerate(before):
            if (forced := self._forced(row)) is not None:
                self._add(parent, row, forced, row.samples)
                continue
            edges = all_edges[parent]
            drawn = np.searchsorted(edges, uniforms[row.samples] * edges[-1], side="right")
            for place, samples in _split(np.minimum(drawn, last[parent]), row.samples):
                self._add(parent, row, int(tokens[parent, place]), samples)

    def _forced(self, row: Row) -> int | None:
        """Return the token that ends the row's thought if its budget is spent."""
        return None if self.rule is None else self.rule.forced(row.begun, len(row.tokens))

    def _add(self, parent: int, row: Row, token: int, samples: NDArray[np.int64]) -> None:
        """Continue samples with a token, or end them."""
        answer = (*row.tokens, token)
        begun = 0 if self.rule is None else self.rule.after(row.begun, answer)
        if token in self.stop:
            self.finished[row.tokens] += len(samples)
        elif begun != WITHIN and len(answer) - begun >= self.max_new_tokens:
            self.finished[answer] += len(samples)
        elif self.settled is not None and self.settled(answer):
            self.finished[answer] += len(samples)
            self.decided += len(samples)
        else:
            self.rows.append(Row(answer, samples, parent, begun))


def _split(drawn: NDArray[np.int64], samples: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each index that samples drew, in order, with these samples."""
    places = drawn.tolist()
    low, high = min(places), max(places)
    if low == high:
        yield low, samples
        return
    by: dict[int, list[int]] = {}
    for place, sample in zip(places, samples.tolist(), strict=True):
        by.setdefault(place, []).append(sample)
    for place in sorted(by):
        yield place, np.array(by[place])
