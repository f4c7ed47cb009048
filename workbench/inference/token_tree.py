"""Sequences of tokens as one flat tree: every distinct beginning is one token to compute.

A tree's tokens are in one row, each after its predecessors; a mask determines which earlier tokens each one sees. So
one pass of a network computes all of them, without duplicates and without padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The tokens of some sequences that have to be computed, given an already computed *path* of tokens.

    The path is the beginning of the previous sequence; each sequence may branch off anywhere on it.
    """

    path: int
    "tokens of the path"
    tokens: Ints
    "(n,)"
    positions: Ints
    "(n,): position in the sequence"
    slots: tuple[Ints, ...]
    "for each sequence, the slots of its tokens: those of the path are 0 … path - 1, new ones path … path + n - 1"

    def seen(self) -> NDArray[np.bool_]:
        """Return which tokens each new token sees, including itself: (n, path + n)."""
        n = len(self.tokens)
        mask = np.zeros((n, self.path + n), dtype=bool)
        done = self.path
        for slots in self.slots:
            first = int(
                np.searchsorted(slots, done)
            )  # slots increase along a sequence: from here on they belong to it alone
            own = slots[first:] - self.path
            mask[np.ix_(own, slots)] = np.tri(len(own), len(slots), first, dtype=bool)
            done += len(own)
        return mask


def pack(sequences: Sequence[Tokens], before: Tokens, wanted: Sequence[int]) -> Packed:
    """Lay out sequences, in their lexicographic order, that follow the sequence `before`.

    `wanted[i]`: the first position of sequence i whose token has to be computed, even if it is on the path.

    Examples
    --------
    >>> packed = pack([(1, 2, 3), (1, 2, 4, 5), (1, 2, 4, 6)], (1,), [2, 3, 3])
    >>> packed.tokens.tolist(), packed.positions.tolist(), [slots.tolist() for slots in packed.slots]
    ([2, 3, 4, 5, 6], [1, 2, 2, 3, 3], [[0, 1, 2], [0, 1, 3, 4], [0, 1, 3, 5]])
    """
    path = min(common(before, sequences[0]), wanted[0])
    held, before = np.arange(path), sequences[0][:path]
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[Ints] = []
    for sequence, first in zip(sequences, wanted, strict=True):
        same = common(before, sequence)
        if same > first and held[first] < path:
            same = first
        start = path + len(tokens)
        tokens += sequence[same:]
        positions += range(same, len(sequence))
        held, before = np.concatenate([held[:same], np.arange(start, path + len(tokens))]), sequence
        slots.append(held)
    return Packed(path, np.array(tokens, dtype=np.int64), np.array(positions, dtype=np.int64), tuple(slots))


def common(one: Tokens, other: Tokens) -> int:
    """Return the length of the common beginning of two sequences.

    Examples
    --------
    >>> common((1, 2, 3), (1, 2, 4)), common((), (1,)), common((1,), (1, 2))
    (2, 0, 1)
    """
    n = min(len(one), len(other))
    if one[:n] == other[:n]:
        return n
    return next(i for i in range(n) if one[i] != other[i])


def lexicographic(sequences: Sequence[Tokens]) -> list[int]:
    """Return the indices of sequences in lexicographic order, which puts common beginnings together."""
    return sorted(range(len(sequences)), key=lambda i: sequences[i])


def distinct_beginnings(sequences: Sequence[Tokens]) -> int:
    """Return the least number of tokens that must be computed for sequences: the size of their tree."""
    total = 0
    before: Tokens = ()
    for i in lexicographic(sequences):
        total += len(sequences[i]) - common(before, sequences[i])
        before = sequences[i]
    return total
