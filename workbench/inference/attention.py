"""Attention over keys and values that many rows share.

The network runs on one flat row of tokens from any sequences. A *layout*, which this module's
attention function asks, decides which tokens each token sees. There are two layouts. `TreeLayout`
computes the tokens of a `token_tree`. `RowLayout` computes one next token for each of many rows: a
row sees its *stem*, the beginning of its prompt, which is stored once for all rows that share it,
and its *seat*, which holds the rest of its prompt and its own answer. Both are exact: one softmax
over all tokens that a token sees.

Reading prompts
---------------
Reads prompts: computes the tokens of many sequences as one tree, along a path that is kept between
groups.

Sequences are in lexicographic order, so a beginning shared with any earlier sequence is shared with
the previous one. The keys and values of the previous sequence are kept, so every distinct beginning
is computed once per job, whatever the number of groups.

Active rows
-----------
The active rows: each distinct beginning of an answer has a seat, its prompt's beginning is in a
stem.

Rows of all prompts occupy consecutive seats without gaps, so that one pass computes the next token
of all of them, whatever their lengths. A row that continues keeps its seat. If it splits, the
additional rows get copies. If it ends, the last seats fill the gap.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from workbench.inference.tree import Packed, SampleTree, Tokens, common, pack

ATTENTION = "workbench_shared"
UNKNOWN = ("s_aux", "sinks", "position_bias", "indices", "block_indices")
"arguments that transformers passes to some attention functions and that layouts do not support"

Pair = tuple[torch.Tensor, torch.Tensor]
"keys and values of one layer"


@dataclass(frozen=True, slots=True)
class AttentionRules:
    """Further properties of a layer's attention."""

    scale: float
    window: int | None
    "length of the sliding window in tokens, or None without a window"
    softcap: float | None
    "scores are limited smoothly to plus or minus this"


class AttentionLayout(Protocol):
    """The rule that determines which tokens each token of a pass sees."""

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        rules: AttentionRules,
    ) -> Any:
        """Return (heads, tokens, size) for a query of that shape.

        Keys and values are (kv heads, tokens, size).
        """
        ...


class _Current(threading.local):
    layout: AttentionLayout | None = None
    masks: set[int | None] = set()  # noqa: RUF012 - replaced, never mutated
    layers: set[int | None] = set()  # noqa: RUF012


_current = _Current()


@contextmanager
def follow_layout(layout: AttentionLayout) -> Iterator[None]:
    """Make the passes of this thread's networks follow a layout."""
    _current.layout, _current.masks, _current.layers = layout, set(), set()
    try:
        yield
    finally:
        _current.layout = None


def last_windows() -> tuple[set[int | None], set[int | None]]:
    """Return the sliding windows of the last pass of this thread: of the masks, and of the layers.

    None stands for no window. A layout uses the layers' windows. A window that only a mask
    implements is ignored.
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
    """Attend according to the layout, or as SDPA does without a layout.

    query: (1, heads, tokens, size). key, value: (1, kv heads, tokens, size). Returns (1, tokens,
    heads, size).
    """
    layout = _current.layout
    if layout is None:
        result: tuple[torch.Tensor, torch.Tensor | None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more
        )
        return result
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if unsupported := [name for name in UNKNOWN if more.get(name) is not None]:
        raise OutOfOrder(f"they have {', '.join(unsupported)}")
    rules = AttentionRules(scale, more.get("sliding_window"), more.get("softcap"))
    _current.layers.add(rules.window)
    attended = layout.attend(module.layer_idx, query[0], key[0], value[0], rules)
    return attended.transpose(0, 1)[None].contiguous(), None


def _mask(*arguments: Any, **more: Any) -> Any:
    if _current.layout is None:
        return sdpa_mask(*arguments, **more)
    _current.masks.add(more.get("local_size"))
    return None


AttentionInterface.register(ATTENTION, shared_attention)
AttentionMaskInterface.register(ATTENTION, _mask)


@dataclass(slots=True)
class TreeLayout:
    """The tokens of a tree, after a path that is already computed.

    It keeps the keys and values of path and tree.
    """

    packed: Packed
    path: list[Pair]
    "per layer (kv heads, path, size), or empty if the path is empty"
    device: torch.device
    held: list[Pair] = field(default_factory=list)
    "per layer (kv heads, path + tokens, size), computed by the pass"
    _masks: dict[int | None, torch.Tensor] = field(default_factory=dict)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        rules: AttentionRules,
    ) -> torch.Tensor:
        if layer != len(self.held):
            raise OutOfOrder(f"layer {layer} came as number {len(self.held)}")
        if self.path:
            keys, values = self.path[layer]
            key, value = torch.cat([keys, key], dim=1), torch.cat([values, value], dim=1)
        self.held.append((key, value))
        mask = self._mask(rules.window)
        if rules.softcap is None:
            attended: torch.Tensor = scaled_dot_product_attention(
                query[None],
                key[None],
                value[None],
                attn_mask=mask,
                scale=rules.scale,
                enable_gqa=True,
            )[0]
            return attended
        groups = query.shape[0] // key.shape[0]
        scores = query @ key.repeat_interleave(groups, 0).transpose(-1, -2) * rules.scale
        return _masked_softmax(
            _cap_scores(scores, rules.softcap), mask, query.dtype
        ) @ value.repeat_interleave(groups, 0)

    def _mask(self, window: int | None) -> torch.Tensor:
        """Return the mask of the tokens that each token sees: (tokens, path + tokens)."""
        positions, path = self.packed.positions, self.packed.path
        if window is not None and positions.max() < window:
            window = None
        if window not in self._masks:
            visible = torch.from_numpy(self.packed.visible_mask())
            if window is not None:
                own_positions = torch.from_numpy(positions)
                visible &= (
                    own_positions[:, None] - torch.cat([torch.arange(path), own_positions]) < window
                )
            self._masks[window] = visible.to(self.device)
        return self._masks[window]

    def slots(self, slots: torch.Tensor) -> list[Pair]:
        """Return the keys and values of some slots of path and tree.

        They are, per layer, (kv heads, slots, size).
        """
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
    """The unshared part of rows: the rest of their prompts and their answers so far.

    There is one seat per row.
    """

    capacity: int = 0
    length: int = 0
    "capacity of a seat in tokens"
    pairs: list[Pair] = field(default_factory=list)
    "per layer (capacity, kv heads, length, size)"

    def make_room(self, stem_pairs: Sequence[Pair], seats: int, tokens: int) -> None:
        """Allocate at least this many seats of this many tokens, shaped like a stem's pairs.

        Contents are kept. Layers grow one by one, and each frees its old tensors before the next
        one grows, so that the peak is lower. If memory runs out, some layers have more room than
        recorded.
        """
        if seats <= self.capacity and tokens <= self.length:
            return
        capacity = self.capacity if seats <= self.capacity else max(seats, self.capacity * 9 // 8)
        length = self.length if tokens <= self.length else -(-tokens // 16) * 16
        for layer, (keys, values) in enumerate(stem_pairs):
            grown = tuple(
                tensor.new_zeros(capacity, tensor.shape[0], length, tensor.shape[2])
                for tensor in (keys, values)
            )
            if layer < len(self.pairs):
                for new, old in zip(grown, self.pairs[layer], strict=True):
                    new[: self.capacity, :, : self.length] = old[: self.capacity, :, : self.length]
                self.pairs[layer] = (grown[0], grown[1])
            else:
                self.pairs.append((grown[0], grown[1]))
        self.capacity, self.length = capacity, length

    def move(self, targets: torch.Tensor, sources: torch.Tensor, tokens: int) -> None:
        """Copy the first `tokens` tokens of some seats to others.

        `sources[i]` goes to `targets[i]`, all simultaneously.
        """
        for pair in self.pairs:
            for seats in pair:
                seats[targets, :, :tokens] = seats[sources, :, :tokens]

    def fill(self, seats: torch.Tensor, pairs: Sequence[Pair]) -> None:
        """Write the same tokens into seats: per layer (kv heads, tokens, size)."""
        for layer_seats, layer_pair in zip(self.pairs, pairs, strict=True):
            for stored, tensor in zip(layer_seats, layer_pair, strict=True):
                stored[seats, :, : tensor.shape[1]] = tensor


@dataclass(slots=True)
class RowLayout:
    """One token for each of some rows in consecutive seats."""

    seats: BatchSlots
    first: int
    "seat of the first row"
    stems: list[tuple[SharedContext, torch.Tensor | None]]
    "each stem with its rows (n,), or None for all of them"
    lengths: torch.Tensor
    "(rows,): tokens in each seat, without the new one"
    starts: torch.Tensor
    "(rows,): tokens in each row's stem"
    longest: int
    "the largest of the lengths + 1"
    reach: int
    "most tokens that any row sees"
    _masks: dict[int | None, torch.Tensor] = field(default_factory=dict)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        rules: AttentionRules,
    ) -> torch.Tensor:
        heads, rows, size = query.shape
        kv_heads = key.shape[0]
        keys, values = (
            tensor[self.first : self.first + rows] for tensor in self.seats.pairs[layer]
        )
        row_indices = torch.arange(rows, device=query.device)
        keys[row_indices, :, self.lengths] = key.transpose(0, 1)
        values[row_indices, :, self.lengths] = value.transpose(0, 1)
        keys, values = keys[:, :, : self.longest], values[:, :, : self.longest]
        scaled_queries = (
            query.transpose(0, 1).reshape(rows, kv_heads, heads // kv_heads, size) * rules.scale
        )
        stem_scores = self._stem_scores(scaled_queries, layer)
        seat_scores = torch.matmul(scaled_queries, keys.transpose(-1, -2))
        scores = torch.cat([stem_scores, seat_scores], dim=-1)
        if rules.softcap is not None:
            scores = _cap_scores(scores, rules.softcap)
        weights = _masked_softmax(
            scores, self._mask(rules.window, stem_scores.shape[-1]), query.dtype
        )
        attended = torch.matmul(weights[..., stem_scores.shape[-1] :], values)
        self._add_stem_values(attended, weights, layer)
        return attended.reshape(rows, heads, values.shape[-1]).transpose(0, 1)

    def _stem_scores(self, own: torch.Tensor, layer: int) -> torch.Tensor:
        """Return the scores of rows on their stems: (rows, kv heads, groups, longest stem)."""
        if len(self.stems) == 1 and self.stems[0][1] is None:
            return _multiply_shared(own, self.stems[0][0].pairs[layer][0])
        scores = own.new_zeros(*own.shape[:3], max(len(stem.tokens) for stem, _ in self.stems))
        for stem, stem_rows in self.stems:
            if stem.tokens:
                scores[stem_rows, :, :, : len(stem.tokens)] = _multiply_shared(
                    own[stem_rows], stem.pairs[layer][0]
                )
        return scores

    def _add_stem_values(self, output: torch.Tensor, weights: torch.Tensor, layer: int) -> None:
        for stem, stem_rows in self.stems:
            if stem.tokens:
                values = stem.pairs[layer][1]
                own_weights = (
                    weights[..., : len(stem.tokens)]
                    if stem_rows is None
                    else weights[stem_rows, :, :, : len(stem.tokens)]
                )
                contribution = _multiply_shared(own_weights, values.transpose(-1, -2))
                if stem_rows is None:
                    output += contribution
                else:
                    output[stem_rows] += contribution

    def _mask(self, window: int | None, stem: int) -> torch.Tensor:
        """Return the mask of the tokens that rows see.

        Its shape is (rows, 1, 1, longest stem + longest seat).
        """
        if window is not None and self.reach <= window:
            window = None
        if window not in self._masks:
            device = self.lengths.device
            starts, lengths = self.starts[:, None], self.lengths[:, None]
            stem_positions, seat_positions = (
                torch.arange(stem, device=device)[None],
                torch.arange(self.longest, device=device)[None],
            )
            visible = torch.cat([stem_positions < starts, seat_positions <= lengths], dim=1)
            if window is not None:
                positions = torch.cat(
                    [stem_positions.expand(len(starts), -1), starts + seat_positions], dim=1
                )
                visible &= starts + lengths - positions < window
            self._masks[window] = visible[:, None, None]
        return self._masks[window]


def _multiply_shared(own: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Multiply rows by keys that they share.

    (rows, kv heads, groups, size) on (kv heads, tokens, size) -> (rows, kv heads, groups, tokens).
    """
    rows, kv_heads, groups, size = own.shape
    flat = own.permute(1, 0, 2, 3).reshape(kv_heads, rows * groups, size)
    scores = torch.matmul(flat, keys.transpose(-1, -2))
    return scores.view(kv_heads, rows, groups, -1).permute(1, 0, 2, 3)


def _cap_scores(scores: torch.Tensor, softcap: float) -> torch.Tensor:
    return torch.tanh(scores / softcap) * softcap


def _masked_softmax(scores: torch.Tensor, seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.softmax(scores.float().masked_fill(~seen, float("-inf")), dim=-1).to(dtype)


class OutOfOrder(Exception):
    """The error of a network that does not run each of its layers once and in order.

    Its attention then differs from ours.
    """


@dataclass(slots=True)
class ComputedSequences:
    """Sequences whose tokens have been computed."""

    sequences: Sequence[Tokens]
    packed: Packed
    layout: TreeLayout
    logits: torch.Tensor
    "(wanted, vocabulary): after the wanted tokens, in the requested order"

    def pairs(self, sequence: int, start: int = 0, stop: int | None = None) -> list[Pair]:
        """Return keys and values of a sequence's tokens between two positions.

        They are, per layer, (kv heads, tokens, size).
        """
        slots = torch.from_numpy(self.packed.slots[sequence][start:stop])
        return self.layout.slots(slots.to(self.layout.device))


@dataclass(slots=True)
class Prefill:
    """The computation of sequences in lexicographic order."""

    network: Any
    most_tokens: int
    "most tokens computed in one pass"
    computed: int = 0
    "tokens that went through the network"
    _last: Tokens = ()
    _pairs: list[Pair] = field(default_factory=list)
    "keys and values of the last sequence"

    def take(self, sequences: Sequence[Tokens], most: int) -> int:
        """Return the number of next sequences that fit in one pass.

        It is at least one, and at most `most`.
        """
        previous, n_tokens = self._last, 0
        for index, sequence in enumerate(sequences[:most]):
            n_tokens += len(sequence) - common(previous, sequence)
            if index and n_tokens > self.most_tokens:
                return index
            previous = sequence
        return min(len(sequences), most)

    def read(
        self, sequences: Sequence[Tokens], wanted: Sequence[Sequence[int]]
    ) -> ComputedSequences:
        """Compute sequences, and the logits after the wanted tokens of each.

        `wanted[i]` are ascending positions in sequence i.
        """
        self._extend(sequences[0][:-1])
        packed = pack(sequences, self._last, [positions[0] for positions in wanted])
        slots = [
            int(packed.slots[index][position]) - packed.path
            for index, positions in enumerate(wanted)
            for position in positions
        ]
        distinct, order = torch.tensor(slots).unique(return_inverse=True)
        layout, logits = self._run_pass(packed, distinct)
        self._keep(sequences[-1], layout, packed)
        return ComputedSequences(sequences, packed, layout, logits[order.to(logits.device)])

    def forget(self) -> None:
        """Free the kept keys and values."""
        self._last, self._pairs = (), []

    def _extend(self, sequence: Tokens) -> None:
        """Compute a long beginning in pieces, so that no pass exceeds the limit."""
        path = common(self._last, sequence)
        while len(sequence) - path > self.most_tokens:
            piece = sequence[: path + self.most_tokens]
            packed = pack([piece], self._last, [len(piece) - 1])
            layout, _ = self._run_pass(packed, torch.zeros(1, dtype=torch.long))
            self._keep(piece, layout, packed)
            path = len(piece)

    def _run_pass(self, packed: Packed, wanted: torch.Tensor) -> tuple[TreeLayout, torch.Tensor]:
        device = self.network.device
        path = [(keys[:, : packed.path], values[:, : packed.path]) for keys, values in self._pairs]
        layout = TreeLayout(packed, path if packed.path else [], device)
        with follow_layout(layout):
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


@dataclass(eq=False, slots=True)
class ActiveSequence:
    """One request whose answers are being drawn."""

    request: int
    prompt: tuple[int, ...]
    stem: SharedContext
    tree: SampleTree
    seats: list[int] = field(default_factory=list)
    "seat of each row of the tree"
    most: int = 0
    "largest number of rows so far"

    @property
    def own(self) -> int:
        """The number of the prompt's tokens that its seats hold."""
        return len(self.prompt) - len(self.stem.tokens)


@dataclass(slots=True)
class ActiveRows:
    """All active rows."""

    network: Any
    growing: list[ActiveSequence] = field(default_factory=list)
    seats: BatchSlots = field(default_factory=BatchSlots)
    rows: int = 0
    "seats 0 … rows - 1 are taken"

    def seat(self, active: ActiveSequence, pairs: Sequence[Pair]) -> None:
        """Assign seats to the first rows of a request.

        `pairs` are those of the prompt's tokens after its stem. If memory runs out, nothing is
        changed.
        """
        new_seats = list(range(self.rows, self.rows + len(active.tree.rows)))
        max_own = max((sequence.own for sequence in [*self.growing, active]), default=0)
        self.seats.make_room(
            active.stem.pairs, self.rows + len(new_seats), max(max_own + 1, self._tokens())
        )
        if active.own:
            self.seats.fill(torch.tensor(new_seats, device=self.network.device), pairs)
        active.seats, active.most = new_seats, len(new_seats)
        active.stem.users += 1
        self.rows += len(new_seats)
        self.growing.append(active)

    def make_room(self) -> None:
        """Allocate room for one more token of every row."""
        if self.growing:
            self.seats.make_room(self.growing[0].stem.pairs, self.rows, self._tokens())

    def _tokens(self) -> int:
        """Return the number of tokens in the fullest seat after the next step."""
        return max(
            (sequence.own + len(sequence.tree.rows[0].tokens) for sequence in self.growing),
            default=0,
        )

    def logits(self, first: int, stop: int, table: SeatTable) -> torch.Tensor:
        """Compute the next token of the rows in seats first … stop - 1: (rows, vocabulary).

        Repeating it changes nothing, so that a pass that ran out of memory can be repeated in
        parts.
        """
        part = table.rows_between(first, stop)
        device = self.network.device
        layout = RowLayout(
            seats=self.seats,
            first=first,
            stems=_rows_by_stem(table.stems, part.stem, device),
            lengths=torch.from_numpy(part.lengths).to(device),
            starts=torch.from_numpy(part.starts).to(device),
            longest=int(part.lengths.max()) + 1,
            reach=int((part.lengths + part.starts).max()) + 1,
        )
        with follow_layout(layout):
            logits: torch.Tensor = self.network(
                input_ids=torch.from_numpy(part.tokens)[None].to(device),
                position_ids=torch.from_numpy(part.lengths + part.starts)[None].to(device),
                use_cache=False,
            ).logits[0]
        return logits

    def table(self) -> SeatTable:
        """Return the contents of the seats, by seat."""
        stems = list({id(sequence.stem): sequence.stem for sequence in self.growing}.values())
        index_by_stem = {id(stem): index for index, stem in enumerate(stems)}
        columns = np.zeros((4, self.rows), dtype=np.int64)
        for seated in self.growing:
            for seat, row in zip(seated.seats, seated.tree.rows, strict=True):
                columns[:, seat] = (
                    row.tokens[-1],
                    seated.own + len(row.tokens) - 1,
                    len(seated.stem.tokens),
                    index_by_stem[id(seated.stem)],
                )
        return SeatTable(stems, *columns)

    def reseat(self) -> None:
        """Assign seats to the rows of the new step. Requests without rows are no longer active."""
        free: list[int] = []
        moves: dict[int, int] = {}  # seat -> seat whose tokens it takes over
        unseated: list[tuple[ActiveSequence, int, int]] = []
        for active in self.growing:
            heirs: dict[int, int] = {}
            seats = [-1] * len(active.tree.rows)
            for row_index, row in enumerate(active.tree.rows):
                parent_seat = active.seats[row.parent]
                if row.parent in heirs:
                    unseated.append((active, row_index, parent_seat))
                else:
                    heirs[row.parent] = row_index
                    seats[row_index] = parent_seat
            free += [seat for parent, seat in enumerate(active.seats) if parent not in heirs]
            active.seats = seats
            active.most = max(active.most, len(seats))
        for active in self.growing:
            active.stem.users -= not active.tree.rows
        self.growing = [sequence for sequence in self.growing if sequence.tree.rows]
        self._seat_new_rows(unseated, sorted(free, reverse=True), moves)

    def _seat_new_rows(
        self,
        unseated: list[tuple[ActiveSequence, int, int]],
        free: list[int],
        moves: dict[int, int],
    ) -> None:
        """Give seats to rows without one, then fill the gaps from the end."""
        rows = sum(len(sequence.tree.rows) for sequence in self.growing)
        for active, row_index, parent_seat in unseated:
            seat = free.pop() if free else max(self.rows, 0)
            if seat == self.rows:
                self.rows += 1
            active.seats[row_index] = seat
            moves[seat] = parent_seat
        gaps = sorted(seat for seat in free if seat < rows)
        if gaps:
            beyond = {
                seat: (sequence, position)
                for sequence in self.growing
                for position, seat in enumerate(sequence.seats)
                if seat >= rows
            }
            for gap, seat in zip(gaps, sorted(beyond), strict=True):
                active, row_index = beyond[seat]
                active.seats[row_index] = gap
                moves[gap] = moves.pop(seat, seat)
        self.rows = rows
        self._move(moves)

    def _move(self, moves: dict[int, int]) -> None:
        if not moves:
            return
        self.seats.make_room(self.growing[0].stem.pairs, max(moves) + 1, 0)
        device = self.network.device
        targets = torch.tensor(list(moves), device=device)
        sources = torch.tensor(list(moves.values()), device=device)
        self.seats.move(targets, sources, self._tokens())


@dataclass(frozen=True, slots=True, eq=False)
class SeatTable:
    """The contents of the seats."""

    stems: list[SharedContext]
    tokens: NDArray[np.int64]
    "(rows,): the last token, whose successor is to be computed"
    lengths: NDArray[np.int64]
    "(rows,): tokens in the seat, without the last"
    starts: NDArray[np.int64]
    "(rows,): tokens in the stem"
    stem: NDArray[np.int64]
    "(rows,): index of the stem"

    def rows_between(self, first: int, stop: int) -> SeatTable:
        columns = (self.tokens, self.lengths, self.starts, self.stem)
        return SeatTable(self.stems, *(column[first:stop] for column in columns))


def _rows_by_stem(
    stems: list[SharedContext], stem: NDArray[np.int64], device: torch.device
) -> list[tuple[SharedContext, torch.Tensor | None]]:
    used = np.unique(stem).tolist()
    if len(used) == 1:
        return [(stems[used[0]], None)]
    return [
        (stems[index], torch.from_numpy(np.flatnonzero(stem == index)).to(device)) for index in used
    ]
