"""Sequences of tokens as one flat tree: every distinct beginning is one token to compute.

A tree's tokens are in one row, each after its predecessors. A mask determines which earlier tokens
each one sees. So one pass of a network computes all of them, without duplicates and without
padding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.inference.engines import WITHIN, ThoughtRule

Ints = NDArray[np.int64]
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The tokens of some sequences that have to be computed after a *path* of computed tokens.

    The path is the beginning of the previous sequence. Each sequence may branch off anywhere on it.
    """

    path: int
    "tokens of the path"
    tokens: Ints
    "(n,)"
    positions: Ints
    "(n,): position in the sequence"
    slots: tuple[Ints, ...]
    """the slots of its tokens, for each sequence

    Those of the path are 0 … path - 1, new ones path … path + n - 1.
    """

    def visible_mask(self) -> NDArray[np.bool_]:
        """Return the mask of tokens that each new token sees, itself included: (n, path + n)."""
        n = len(self.tokens)
        mask = np.zeros((n, self.path + n), dtype=bool)
        next_slot = self.path
        for slots in self.slots:
            # Slots increase along a sequence: from here on they belong to it alone.
            first = int(np.searchsorted(slots, next_slot))
            new_tokens = slots[first:] - self.path
            mask[np.ix_(new_tokens, slots)] = np.tri(len(new_tokens), len(slots), first, dtype=bool)
            next_slot += len(new_tokens)
        return mask


def pack(sequences: Sequence[Tokens], before: Tokens, wanted: Sequence[int]) -> Packed:
    """Lay out sequences, in their lexicographic order, that follow the sequence `before`.

    `wanted[i]` is the first position of sequence i whose token has to be computed, even if it is on
    the path.

    Examples
    --------
    >>> packed = pack([(1, 2, 3), (1, 2, 4, 5), (1, 2, 4, 6)], (1,), [2, 3, 3])
    >>> packed.tokens.tolist(), packed.positions.tolist(), [slots.tolist() for slots in packed.slots]
    ([2, 3, 4, 5, 6], [1, 2, 2, 3, 3], [[0, 1, 2], [0, 1, 3, 4], [0, 1, 3, 5]])
    """  # noqa: E501
    path = min(common(before, sequences[0]), wanted[0])
    current_slots, before = np.arange(path), sequences[0][:path]
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[Ints] = []
    for sequence, first in zip(sequences, wanted, strict=True):
        n_shared = common(before, sequence)
        if n_shared > first and current_slots[first] < path:
            n_shared = first
        start = path + len(tokens)
        tokens += sequence[n_shared:]
        positions += range(n_shared, len(sequence))
        current_slots, before = (
            np.concatenate([current_slots[:n_shared], np.arange(start, path + len(tokens))]),
            sequence,
        )
        slots.append(current_slots)
    return Packed(
        path, np.array(tokens, dtype=np.int64), np.array(positions, dtype=np.int64), tuple(slots)
    )


def common(first: Tokens, second: Tokens) -> int:
    """Return the length of the common beginning of two sequences.

    Examples
    --------
    >>> common((1, 2, 3), (1, 2, 4)), common((), (1,)), common((1,), (1, 2))
    (2, 0, 1)
    """
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(index for index in range(length) if first[index] != second[index])


def lexicographic(sequences: Sequence[Tokens]) -> list[int]:
    """Return the indices of sequences in lexicographic order.

    This order puts common beginnings together.
    """
    return sorted(range(len(sequences)), key=lambda index: sequences[index])


def distinct_beginnings(sequences: Sequence[Tokens]) -> int:
    """Return the least number of tokens that must be computed for sequences.

    It is the size of their tree.
    """
    total = 0
    previous: Tokens = ()
    for index in lexicographic(sequences):
        total += len(sequences[index]) - common(previous, sequences[index])
        previous = sequences[index]
    return total


BLOCK = 32
"depths whose numbers are drawn together, about the length of most answers"


@dataclass(frozen=True, slots=True, eq=False)
class TreeRow:
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

    A sample's number at a depth does not depend on n and first: each block of depths has its own
    generator, in which every sample has a fixed position.
    """

    def __init__(self, seed: int, first: int, n: int):
        self._seed, self._first, self._n = seed, first, n
        self._block, self._columns = -1, np.empty((0, 0))

    def numbers_at(self, depth: int) -> NDArray[np.float64]:
        """Return the numbers of all samples at a depth: (n,). Depths come in order."""
        block, row = divmod(depth, BLOCK)
        if block != self._block:
            bits = np.random.PCG64([self._seed, block])
            bits.advance(self._first * BLOCK)  # each double takes one step of the generator
            self._columns = np.random.Generator(bits).random((self._n, BLOCK)).T
            self._block = block
        numbers: NDArray[np.float64] = self._columns[row]
        return numbers


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
    "whether the beginning of an answer suffices, or None if answers continue to their end"
    rule: ThoughtRule | None = None
    "limit of the thought before the answer, or None if thought and answer share `max_new_tokens`"
    rows: list[TreeRow] = field(default_factory=list)
    finished: Counter[tuple[int, ...]] = field(default_factory=Counter)
    decided: int = 0
    "samples that `settled` ended"
    first: int = 0
    "number of the first sample, see `Request.first`"
    uniforms: Uniforms = field(init=False)

    def __post_init__(self) -> None:
        self.uniforms = Uniforms(self.seed, self.first, self.n)
        self.rows = [
            TreeRow((), np.arange(self.n), 0, self.rule.start if self.rule is not None else 0)
        ]

    def grow(self, tokens: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
        """Advance every row by one token.

        Parameters
        ----------
        tokens, probabilities : shape (rows, k)
            The possible next tokens of each row and their probabilities, 0 for the rest of a row.
            Rows need not add up to 1, since they are normalised.
        """
        parents, self.rows = self.rows, []
        uniforms = self.uniforms.numbers_at(len(parents[0].tokens))
        all_edges = np.cumsum(probabilities, axis=1)
        # Rounding must not go past the last token.
        last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
        for parent, row in enumerate(parents):
            if (forced := self._forced_token(row)) is not None:
                self._extend_samples(parent, row, forced, row.samples)
                continue
            edges = all_edges[parent]
            sampled = np.searchsorted(edges, uniforms[row.samples] * edges[-1], side="right")
            for column, samples in _samples_by_token(
                np.minimum(sampled, last[parent]), row.samples
            ):
                self._extend_samples(parent, row, int(tokens[parent, column]), samples)

    def _forced_token(self, row: TreeRow) -> int | None:
        """Return the token that ends the row's thought if its budget is spent."""
        return None if self.rule is None else self.rule.forced(row.begun, len(row.tokens))

    def _extend_samples(
        self, parent: int, row: TreeRow, token: int, samples: NDArray[np.int64]
    ) -> None:
        """Continue samples with a token, or end them."""
        answer = (*row.tokens, token)
        n_begun = 0 if self.rule is None else self.rule.after(row.begun, answer)
        if token in self.stop:
            self.finished[row.tokens] += len(samples)
        elif n_begun != WITHIN and len(answer) - n_begun >= self.max_new_tokens:
            self.finished[answer] += len(samples)
        elif self.settled is not None and self.settled(answer):
            self.finished[answer] += len(samples)
            self.decided += len(samples)
        else:
            self.rows.append(TreeRow(answer, samples, parent, n_begun))


def _samples_by_token(
    drawn: NDArray[np.int64], samples: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each index that samples drew, in order, with these samples."""
    columns = drawn.tolist()
    low, high = min(columns), max(columns)
    if low == high:
        yield low, samples
        return
    samples_by_column: dict[int, list[int]] = {}
    for column, sample in zip(columns, samples.tolist(), strict=True):
        samples_by_column.setdefault(column, []).append(sample)
    for column in sorted(samples_by_column):
        yield column, np.array(samples_by_column[column])
