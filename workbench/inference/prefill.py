"""Reads prompts: computes the tokens of many sequences as one tree, along a path that is kept between groups.

Sequences are in lexicographic order, so a beginning shared with any earlier sequence is shared with the previous one.
The keys and values of the previous sequence are kept, so every distinct beginning is computed once per job, whatever
the number of groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from workbench.inference.attention import Pair, TreeLayout, laid_out
from workbench.inference.tree import Packed, Tokens, common, pack


@dataclass(slots=True)
class Read:
    """Sequences whose tokens have been computed."""

    sequences: Sequence[Tokens]
    packed: Packed
    layout: TreeLayout
    logits: torch.Tensor
    "(wanted, vocabulary): after the wanted tokens, in the requested order"

    def pairs(self, sequence: int, start: int = 0, stop: int | None = None) -> list[Pair]:
        """Return keys and values of a sequence's tokens from start to stop: per layer (kv heads, tokens, size)."""
        slots = torch.from_numpy(self.packed.slots[sequence][start:stop])
        return self.layout.slots(slots.to(self.layout.device))


@dataclass(slots=True)
class Prefill:
    """Computes sequences in lexicographic order."""

    network: Any
    most_tokens: int
    "most tokens computed in one pass"
    computed: int = 0
    "tokens that went through the network"
    _last: Tokens = ()
    _pairs: list[Pair] = field(default_factory=list)
    "keys and values of the last sequence"

    def take(self, sequences: Sequence[Tokens], most: int) -> int:
        """Return how many of the next sequences fit in one pass: at least one, at most `most`."""
        before, tokens = self._last, 0
        for place, sequence in enumerate(sequences[:most]):
            tokens += len(sequence) - common(before, sequence)
            if place and tokens > self.most_tokens:
                return place
            before = sequence
        return min(len(sequences), most)

    def read(self, sequences: Sequence[Tokens], wanted: Sequence[Sequence[int]]) -> Read:
        """Compute sequences, and the logits after the tokens `wanted[i]` (ascending positions) of sequence i."""
        self._extend(sequences[0][:-1])
        packed = pack(sequences, self._last, [places[0] for places in wanted])
        places = [int(packed.slots[i][at]) - packed.path for i, its in enumerate(wanted) for at in its]
        distinct, order = torch.tensor(places).unique(return_inverse=True)
        layout, logits = self._pass(packed, distinct)
        self._keep(sequences[-1], layout, packed)
        return Read(sequences, packed, layout, logits[order.to(logits.device)])

    def forget(self) -> None:
        """Free the kept keys and values."""
        self._last, self._pairs = (), []

    def _extend(self, sequence: Tokens) -> None:
        """Compute a long beginning in pieces, so that no pass exceeds the limit."""
        path = common(self._last, sequence)
        while len(sequence) - path > self.most_tokens:
            piece = sequence[: path + self.most_tokens]
            packed = pack([piece], self._last, [len(piece) - 1])
            layout, _ = self._pass(packed, torch.zeros(1, dtype=torch.long))
            self._keep(piece, layout, packed)
            path = len(piece)

    def _pass(self, packed: Packed, wanted: torch.Tensor) -> tuple[TreeLayout, torch.Tensor]:
        device = self.network.device
        path = [(keys[:, : packed.path], values[:, : packed.path]) for keys, values in self._pairs]
        layout = TreeLayout(packed, path if packed.path else [], device)
        with laid_out(layout):
            logits: torch.Tensor = self.network(
                input_ids=torch.from_numpy(packed.tokens)[None].to(device),
                position_ids=torch.from_numpy(packed.positions)[None].to(device),
                use_cache=False,
                logits_to_keep=wanted.to(device),
            ).logits[0]
        self.computed += len(packed.tokens)
        return layout, logits

    def _keep(self, sequence: Tokens, layout: TreeLayout, packed: Packed) -> None:
        self._last = sequence
        self._pairs = layout.slots(torch.from_numpy(packed.slots[-1]).to(layout.device))
