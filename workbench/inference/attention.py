"""Attention over keys and values that many rows share.

The network runs on one flat row of tokens from any sequences; a *layout*, which this module's attention function asks,
decides which tokens each token sees. There are two layouts. `TreeLayout` computes the tokens of a `token_tree`.
`RowLayout` computes one next token for each of many rows: a row sees its *stem*, the beginning of its prompt, which is
stored once for all rows that share it, and its *seat*, which holds the rest of its prompt and its own answer. Both are
exact: one softmax over all tokens that a token sees.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from workbench.inference.tree import Packed

ATTENTION = "workbench_shared"
UNKNOWN = ("s_aux", "sinks", "position_bias", "indices", "block_indices")
"arguments that transformers passes to some attention functions and that layouts do not support"

Pair = tuple[torch.Tensor, torch.Tensor]
"keys and values of one layer"


@dataclass(frozen=True, slots=True)
class Rules:
    """Further properties of a layer's attention."""

    scale: float
    window: int | None
    "length of the sliding window in tokens; None: no window"
    softcap: float | None
    "scores are limited smoothly to plus or minus this"


class Layout(Protocol):
    """Determines which tokens each token of a pass sees."""

    def attend(self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rules: Rules) -> Any:
        """Return (heads, tokens, size) for a query of that shape; key, value: (kv heads, tokens, size)."""
        ...


class _Current(threading.local):
    layout: Layout | None = None
    masks: set[int | None] = set()  # noqa: RUF012 - replaced, never mutated
    layers: set[int | None] = set()  # noqa: RUF012


_current = _Current()


@contextmanager
def laid_out(layout: Layout) -> Iterator[None]:
    """Make the passes of this thread's networks follow a layout."""
    _current.layout, _current.masks, _current.layers = layout, set(), set()
    try:
        yield
    finally:
        _current.layout = None


def windows() -> tuple[set[int | None], set[int | None]]:
    """Return the sliding windows of the last pass of this thread: those of the network's masks, and those of its
    layers.

    None: no window. A layout uses the layers' windows; a window that only a mask implements is ignored.
    """
    return _current.masks, _current.layers


def shared_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Attend according to the layout; without a layout, as SDPA does.

    query: (1, heads, tokens, size); key, value: (1, kv heads, tokens, size). Returns (1, tokens, heads, size).
    """
    layout = _current.layout
    if layout is None:
        result: tuple[torch.Tensor, torch.Tensor | None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more
        )
        return result
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if odd := [name for name in UNKNOWN if more.get(name) is not None]:
        raise OutOfOrder(f"they have {', '.join(odd)}")
    rules = Rules(scale, more.get("sliding_window"), more.get("softcap"))
    _current.layers.add(rules.window)
    seen = layout.attend(module.layer_idx, query[0], key[0], value[0], rules)
    return seen.transpose(0, 1)[None].contiguous(), None


def _mask(*arguments: Any, **more: Any) -> Any:
    if _current.layout is None:
        return sdpa_mask(*arguments, **more)
    _current.masks.add(more.get("local_size"))
    return None


AttentionInterface.register(ATTENTION, shared_attention)
AttentionMaskInterface.register(ATTENTION, _mask)


@dataclass(slots=True)
class TreeLayout:
    """The tokens of a tree, after a path that is already computed. Keeps the keys and values of path and tree."""

    packed: Packed
    path: list[Pair]
    "per layer (kv heads, path, size); empty if the path is empty"
    device: torch.device
    held: list[Pair] = field(default_factory=list)
    "per layer (kv heads, path + tokens, size), computed by the pass"
    _masks: dict[int | None, torch.Tensor] = field(default_factory=dict)

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rules: Rules
    ) -> torch.Tensor:
        if layer != len(self.held):
            raise OutOfOrder(f"layer {layer} came as number {len(self.held)}")
        if self.path:
            keys, values = self.path[layer]
            key, value = torch.cat([keys, key], dim=1), torch.cat([values, value], dim=1)
        self.held.append((key, value))
        mask = self._mask(rules.window)
        if rules.softcap is None:
            found: torch.Tensor = scaled_dot_product_attention(
                query[None], key[None], value[None], attn_mask=mask, scale=rules.scale, enable_gqa=True
            )[0]
            return found
        groups = query.shape[0] // key.shape[0]
        scores = query @ key.repeat_interleave(groups, 0).transpose(-1, -2) * rules.scale
        return _softmax(_capped(scores, rules.softcap), mask, query.dtype) @ value.repeat_interleave(groups, 0)

    def _mask(self, window: int | None) -> torch.Tensor:
        """Return which tokens see which: (tokens, path + tokens)."""
        positions, path = self.packed.positions, self.packed.path
        if window is not None and positions.max() < window:
            window = None
        if window not in self._masks:
            seen = torch.from_numpy(self.packed.seen())
            if window is not None:
                at = torch.from_numpy(positions)
                seen &= at[:, None] - torch.cat([torch.arange(path), at]) < window
            self._masks[window] = seen.to(self.device)
        return self._masks[window]

    def slots(self, slots: torch.Tensor) -> list[Pair]:
        """Return the keys and values of some of the path's and the tree's tokens: per layer (kv heads, slots, size)."""
        return [(keys[:, slots], values[:, slots]) for keys, values in self.held]


@dataclass(eq=False, slots=True)
class SharedContext:
    """The common beginning of prompts, stored once for all rows that share it."""

    tokens: tuple[int, ...]
    pairs: list[Pair]
    "per layer (kv heads, tokens, size)"
    users: int = 0
    "active prompts that begin with it"


@dataclass(slots=True)
class BatchSlots:
    """The unshared part of rows: the rest of their prompts and their answers so far, one seat per row."""

    capacity: int = 0
    length: int = 0
    "capacity of a seat in tokens"
    pairs: list[Pair] = field(default_factory=list)
    "per layer (capacity, kv heads, length, size)"

    def make_room(self, like: Sequence[Pair], seats: int, tokens: int) -> None:
        """Allocate at least this many seats of this many tokens, shaped like a stem's pairs; contents are kept.

        Layers grow one by one, and each frees its old tensors before the next one grows, so that the peak is lower. If
        memory runs out, some layers have more room than recorded; contents are kept.
        """
        if seats <= self.capacity and tokens <= self.length:
            return
        capacity = self.capacity if seats <= self.capacity else max(seats, self.capacity * 9 // 8)
        length = self.length if tokens <= self.length else -(-tokens // 16) * 16
        for place, (keys, values) in enumerate(like):
            grown = tuple(t.new_zeros(capacity, t.shape[0], length, t.shape[2]) for t in (keys, values))
            if place < len(self.pairs):
                for new, old in zip(grown, self.pairs[place], strict=True):
                    new[: self.capacity, :, : self.length] = old[: self.capacity, :, : self.length]
                self.pairs[place] = (grown[0], grown[1])
            else:
                self.pairs.append((grown[0], grown[1]))
        self.capacity, self.length = capacity, length

    def move(self, targets: torch.Tensor, sources: torch.Tensor, tokens: int) -> None:
        """Copy seats to seats: `sources[i]` to `targets[i]`, simultaneously, the first `tokens` tokens."""
        for pair in self.pairs:
            for held in pair:
                held[targets, :, :tokens] = held[sources, :, :tokens]

    def fill(self, seats: torch.Tensor, pairs: Sequence[Pair]) -> None:
        """Write the same tokens into seats: per layer (kv heads, tokens, size)."""
        for held, new in zip(self.pairs, pairs, strict=True):
            for seat, one in zip(held, new, strict=True):
                seat[seats, :, : one.shape[1]] = one


@dataclass(slots=True)
class RowLayout:
    """One token for each of some rows in consecutive seats."""

    seats: BatchSlots
    first: int
    "seat of the first row"
    stems: list[tuple[SharedContext, torch.Tensor | None]]
    "each stem with its rows (n,); None: all of them"
    lengths: torch.Tensor
    "(rows,): tokens in each seat, without the new one"
    starts: torch.Tensor
    "(rows,): tokens in each row's stem"
    longest: int
    "of lengths + 1"
    reach: int
    "most tokens that any row sees"
    _masks: dict[int | None, torch.Tensor] = field(default_factory=dict)

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rules: Rules
    ) -> torch.Tensor:
        heads, rows, size = query.shape
        kv_heads = key.shape[0]
        keys, values = (held[self.first : self.first + rows] for held in self.seats.pairs[layer])
        every = torch.arange(rows, device=query.device)
        keys[every, :, self.lengths] = key.transpose(0, 1)
        values[every, :, self.lengths] = value.transpose(0, 1)
        keys, values = keys[:, :, : self.longest], values[:, :, : self.longest]
        own = query.transpose(0, 1).reshape(rows, kv_heads, heads // kv_heads, size) * rules.scale
        far = self._to_stems(own, layer)
        near = torch.matmul(own, keys.transpose(-1, -2))
        scores = torch.cat([far, near], dim=-1)
        if rules.softcap is not None:
            scores = _capped(scores, rules.softcap)
        weights = _softmax(scores, self._mask(rules.window, far.shape[-1]), query.dtype)
        found = torch.matmul(weights[..., far.shape[-1] :], values)
        self._from_stems(found, weights, layer)
        return found.reshape(rows, heads, values.shape[-1]).transpose(0, 1)

    def _to_stems(self, own: torch.Tensor, layer: int) -> torch.Tensor:
        """Return the scores of rows on their stems: (rows, kv heads, groups, longest stem)."""
        if len(self.stems) == 1 and self.stems[0][1] is None:
            return _on_all(own, self.stems[0][0].pairs[layer][0])
        far = own.new_zeros(*own.shape[:3], max(len(stem.tokens) for stem, _ in self.stems))
        for stem, its in self.stems:
            if stem.tokens:
                far[its, :, :, : len(stem.tokens)] = _on_all(own[its], stem.pairs[layer][0])
        return far

    def _from_stems(self, found: torch.Tensor, weights: torch.Tensor, layer: int) -> None:
        for stem, its in self.stems:
            if stem.tokens:
                values = stem.pairs[layer][1]
                mine = weights[..., : len(stem.tokens)] if its is None else weights[its, :, :, : len(stem.tokens)]
                part = _on_all(mine, values.transpose(-1, -2))
                if its is None:
                    found += part
                else:
                    found[its] += part

    def _mask(self, window: int | None, stem: int) -> torch.Tensor:
        """Return what rows see: (rows, 1, 1, longest stem + longest seat)."""
        if window is not None and self.reach <= window:
            window = None
        if window not in self._masks:
            device = self.lengths.device
            starts, lengths = self.starts[:, None], self.lengths[:, None]
            far, near = torch.arange(stem, device=device)[None], torch.arange(self.longest, device=device)[None]
            seen = torch.cat([far < starts, near <= lengths], dim=1)
            if window is not None:
                at = torch.cat([far.expand(len(starts), -1), starts + near], dim=1)
                seen &= starts + lengths - at < window
            self._masks[window] = seen[:, None, None]
        return self._masks[window]


def _on_all(own: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """(rows, kv heads, groups, size) on (kv heads, tokens, size) -> (rows, kv heads, groups, tokens)."""
    rows, kv_heads, groups, size = own.shape
    flat = own.permute(1, 0, 2, 3).reshape(kv_heads, rows * groups, size)
    scores = torch.matmul(flat, keys.transpose(-1, -2))
    return scores.view(kv_heads, rows, groups, -1).permute(1, 0, 2, 3)


def _capped(scores: torch.Tensor, softcap: float) -> torch.Tensor:
    return torch.tanh(scores / softcap) * softcap


def _softmax(scores: torch.Tensor, seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.softmax(scores.float().masked_fill(~seen, float("-inf")), dim=-1).to(dtype)


class OutOfOrder(Exception):
    """The network does not run each of its layers once and in order, so its attention differs from ours."""
