"""The bookkeeping of merged sampling: n samples of one prompt as a tree of distinct beginnings with counts.

Samples that have begun alike have the same next-token distribution, so it is computed once for all of them and their
count is split by a draw from it. Splitting a count of c by c independent draws is what c independent samples would do,
so the tree's distribution is exactly that of independent sampling; only the work is shared.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Row:
    """One distinct unfinished beginning of an answer."""

    tokens: tuple[int, ...]
    count: int
    parent: int
    "position of the row, in the step before, that it grew from"


@dataclass(slots=True)
class SampleTree:
    """All samples of one prompt, while they are drawn.

    The generator is the request's own: what is drawn does not depend on which other prompts share the batch.
    """

    n: int
    rng: np.random.Generator
    stop: frozenset[int]
    max_new_tokens: int
    rows: list[Row] = field(default_factory=list)
    finished: Counter[tuple[int, ...]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rows = [Row((), self.n, 0)]

    def grow(self, tokens: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
        """Advance every row by one token.

        Parameters
        ----------
        tokens, probabilities : shape (rows, k)
            The tokens that may come next in each row and their probabilities, the rest of a row being 0. Rows need not
            add up to 1; they are normalised.
        """
        grown: list[Row] = []
        for parent, row in enumerate(self.rows):
            edges = np.cumsum(probabilities[parent])
            drawn = np.searchsorted(edges, self.rng.random(row.count) * edges[-1], side="right")
            places, counts = np.unique(
                np.minimum(drawn, np.count_nonzero(probabilities[parent]) - 1), return_counts=True
            )
            for place, count in zip(places.tolist(), counts.tolist(), strict=True):
                token = int(tokens[parent, place])
                answer = (*row.tokens, token)
                if token in self.stop:
                    self.finished[row.tokens] += count
                elif len(answer) == self.max_new_tokens:
                    self.finished[answer] += count
                else:
                    grown.append(Row(answer, count, parent))
        self.rows = grown
