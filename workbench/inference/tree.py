"""The bookkeeping of merged sampling: n samples of one prompt as a tree of distinct beginnings with counts.

Samples that have begun alike have the same next-token distribution, so it is computed once for all of them and their
count is split by a draw from it. Splitting a count of c by c independent draws is what c independent samples would do,
so the tree's distribution is exactly that of independent sampling; only the work is shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.inference.thought_rule import WITHIN, ThoughtRule


@dataclass(frozen=True, slots=True)
class Row:
    """One distinct unfinished beginning of an answer."""

    tokens: tuple[int, ...]
    count: int
    parent: int
    "position of the row, in the step before, that it grew from"
    begun: int = 0
    "tokens before the answer, see `ThoughtRule.after`"


@dataclass(slots=True)
class SampleTree:
    """All samples of one prompt, while they are drawn.

    The generator is the request's own: what is drawn does not depend on which other prompts share the batch.
    """

    n: int
    rng: np.random.Generator
    stop: frozenset[int]
    max_new_tokens: int
    settled: Callable[[tuple[int, ...]], bool] | None = None
    "whether the beginning of an answer is all that is wanted of it; None: answers go on to their end"
    rule: ThoughtRule | None = None
    "how long a thought before the answer may be; None: thought and answer share `max_new_tokens`"
    rows: list[Row] = field(default_factory=list)
    finished: Counter[tuple[int, ...]] = field(default_factory=Counter)
    decided: int = 0
    "samples that `settled` ended"

    def __post_init__(self) -> None:
        self.rows = [Row((), self.n, 0, self.rule.start if self.rule is not None else 0)]

    def grow(self, tokens: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
        """Advance every row by one token.

        Parameters
        ----------
        tokens, probabilities : shape (rows, k)
            The tokens that may come next in each row and their probabilities, the rest of a row being 0. Rows need not
            add up to 1; they are normalised.
        """
        before, self.rows = self.rows, []
        all_edges = np.cumsum(probabilities, axis=1)
        last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)  # rounding draws no further
        for parent, row in enumerate(before):
            if (forced := self._forced(row)) is not None:
                self._add(parent, row, forced, row.count)
                continue
            edges = all_edges[parent]
            drawn = np.searchsorted(edges, self.rng.random(row.count) * edges[-1], side="right")
            places, counts = np.unique(np.minimum(drawn, last[parent]), return_counts=True)
            for place, count in zip(places.tolist(), counts.tolist(), strict=True):
                self._add(parent, row, int(tokens[parent, place]), count)

    def _forced(self, row: Row) -> int | None:
        """Return the token that ends the row's thought, where its budget is spent."""
        return None if self.rule is None else self.rule.forced(row.begun, len(row.tokens))

    def _add(self, parent: int, row: Row, token: int, count: int) -> None:
        """Let `count` samples go on with a token, or end."""
        answer = (*row.tokens, token)
        begun = 0 if self.rule is None else self.rule.after(row.begun, answer)
        if token in self.stop:
            self.finished[row.tokens] += count
        elif begun != WITHIN and len(answer) - begun >= self.max_new_tokens:
            self.finished[answer] += count
        elif self.settled is not None and self.settled(answer):
            self.finished[answer] += count
            self.decided += count
        else:
            self.rows.append(Row(answer, count, parent, begun))
