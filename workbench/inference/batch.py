"""The active rows: each distinct beginning of an answer has a seat, its prompt's beginning is in a stem.

Rows of all prompts occupy consecutive seats without gaps, so that one pass computes the next token of all of them,
whatever their lengths. A row that continues keeps its seat; if it splits, the additional rows get copies; if it ends,
the last seats fill the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workbench.inference.attention import BatchSlots, Pair, RowLayout, SharedContext, laid_out
from workbench.inference.tree import SampleTree


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
class Batch:
    """All active rows."""

    network: Any
    growing: list[ActiveSequence] = field(default_factory=list)
    seats: BatchSlots = field(default_factory=BatchSlots)
    rows: int = 0
    "seats 0 … rows - 1 are taken"

    def seat(self, one: ActiveSequence, pairs: Sequence[Pair]) -> None:
        """Assign seats to the first rows of a request. `pairs`: those of the prompt's tokens after its stem.

        If memory runs out, nothing is changed.
        """
        taken = list(range(self.rows, self.rows + len(one.tree.rows)))
        own = max((one.own for one in [*self.growing, one]), default=0)
        self.seats.make_room(one.stem.pairs, self.rows + len(taken), max(own + 1, self._tokens()))
        if one.own:
            self.seats.fill(torch.tensor(taken, device=self.network.device), pairs)
        one.seats, one.most = taken, len(taken)
        one.stem.users += 1
        self.rows += len(taken)
        self.growing.append(one)

    def make_room(self) -> None:
        """Allocate room for one more token of every row."""
        if self.growing:
            self.seats.make_room(self.growing[0].stem.pairs, self.rows, self._tokens())

    def _tokens(self) -> int:
        """Return the number of tokens in the fullest seat after the next step."""
        return max((one.own + len(one.tree.rows[0].tokens) for one in self.growing), default=0)

    def logits(self, first: int, stop: int, table: Table) -> torch.Tensor:
        """Compute the next token of the rows in seats first … stop - 1: (rows, vocabulary).

        Repeating it changes nothing, so that a pass that ran out of memory can be repeated in parts.
        """
        part = table.part(first, stop)
        device = self.network.device
        layout = RowLayout(
            seats=self.seats,
            first=first,
            stems=_by_stem(table.stems, part.stem, device),
            lengths=torch.from_numpy(part.lengths).to(device),
            starts=torch.from_numpy(part.starts).to(device),
            longest=int(part.lengths.max()) + 1,
            reach=int((part.lengths + part.starts).max()) + 1,
        )
        with laid_out(layout):
            found: torch.Tensor = self.network(
                input_ids=torch.from_numpy(part.tokens)[None].to(device),
                position_ids=torch.from_numpy(part.lengths + part.starts)[None].to(device),
                use_cache=False,
            ).logits[0]
        return found

    def table(self) -> Table:
        """Return the contents of the seats, by seat."""
        stems = list({id(one.stem): one.stem for one in self.growing}.values())
        place = {id(stem): i for i, stem in enumerate(stems)}
        columns = np.zeros((4, self.rows), dtype=np.int64)
        for one in self.growing:
            for seat, row in zip(one.seats, one.tree.rows, strict=True):
                columns[:, seat] = (
                    row.tokens[-1], one.own + len(row.tokens) - 1, len(one.stem.tokens), place[id(one.stem)],
                )  # fmt: skip
        return Table(stems, *columns)

    def reseat(self) -> None:
        """Assign seats to the rows of the new step; requests without rows are no longer active."""
        free: list[int] = []
        moves: dict[int, int] = {}  # seat -> seat whose tokens it takes over
        unseated: list[tuple[ActiveSequence, int, int]] = []
        for one in self.growing:
            heirs: dict[int, int] = {}
            seats = [-1] * len(one.tree.rows)
            for place, row in enumerate(one.tree.rows):
                held = one.seats[row.parent]
                if row.parent in heirs:
                    unseated.append((one, place, held))
                else:
                    heirs[row.parent] = place
                    seats[place] = held
            free += [seat for parent, seat in enumerate(one.seats) if parent not in heirs]
            one.seats = seats
            one.most = max(one.most, len(seats))
        for one in self.growing:
            one.stem.users -= not one.tree.rows
        self.growing = [one for one in self.growing if one.tree.rows]
        self._place(unseated, sorted(free, reverse=True), moves)

    def _place(self, unseated: list[tuple[ActiveSequence, int, int]], free: list[int], moves: dict[int, int]) -> None:
        """Give seats to rows without one, then fill the gaps from the end."""
        rows = sum(len(one.tree.rows) for one in self.growing)
        for one, place, held in unseated:
            seat = free.pop() if free else max(self.rows, 0)
            if seat == self.rows:
                self.rows += 1
            one.seats[place] = seat
            moves[seat] = held
        gaps = sorted(seat for seat in free if seat < rows)
        if gaps:
            high = {seat: (one, place) for one in self.growing for place, seat in enumerate(one.seats) if seat >= rows}
            for gap, seat in zip(gaps, sorted(high), strict=True):
                one, place = high[seat]
                one.seats[place] = gap
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
class Table:
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

    def part(self, first: int, stop: int) -> Table:
        columns = (self.tokens, self.lengths, self.starts, self.stem)
        return Table(self.stems, *(column[first:stop] for column in columns))


def _by_stem(
    stems: list[SharedContext], stem: NDArray[np.int64], device: torch.device
) -> list[tuple[SharedContext, torch.Tensor | None]]:
    used = np.unique(stem).tolist()
    if len(used) == 1:
        return [(stems[used[0]], None)]
    return [(stems[place], torch.from_numpy(np.flatnonzero(stem == place)).to(device)) for place in used]
