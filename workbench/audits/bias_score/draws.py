"""Sums of readings over resampled answers: what the intervals of the bias score are made of.

By default statements are resampled, since what a model says to one statement under thirty prompts are not thirty
independent answers. The instrument fixes how many statements of each source, dimension and leaning there are, so they
are drawn within these strata. Of n statements n - 1 are drawn with replacement and weigh n / (n - 1): drawing n would
give (n - 1) / n of the variance, which matters with strata of 2 or 4 statements (Rao, Wu and Yue 1992; bootstrap with
n - 1 draws a stratum). A stratum of a single statement would never vary: it is joined to the others of its leaning and
dimension, and if it is still alone, of its leaning. All figures have the same weights, so that differences between
them are paired.

The published way resamples single answers, all of a figure's together (option `responses`). Answers are counts, so a
resample is multinomial over the kinds of readings.

References
----------
Faulborn et al. 2025, appendix G. Rao, Wu and Yue 1992, "Some recent work on resampling methods for complex surveys",
Survey Methodology 18(2).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from workbench.audits.bias_score.selection import Pick, kept, without_rule
from workbench.audits.bias_score.tally import SIDES, Item, Tally
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.resampling import derive_rng, rescaled_times


class Resampling(Protocol):
    """Draws sums of readings anew."""

    @property
    def strata(self) -> tuple[IntArray, ...]:
        """What statements are drawn in; empty where they are not drawn."""
        ...

    @property
    def weights(self) -> FloatArray | None:
        """What statements count in each draw, (S, draws); None where they are not drawn."""
        ...

    def sums(self, picks: Sequence[Pick], columns: FloatArray) -> FloatArray:
        """Return resampled sums per side: (picks, 2, columns, draws). All picks of a call are drawn together.

        columns : (c, columns), what a reading of each category adds to each column
        """
        ...


def strata(items: Sequence[Item]) -> tuple[IntArray, ...]:
    """Return the places of the statements of each stratum.

    Examples
    --------
    >>> from workbench.domain.statements import Dimension, Side
    >>> right = [Item(str(n), s, Dimension.ECONOMIC, Side.RIGHT) for n, s in enumerate(["WVS", "WVS", "PCT", "PCT"])]
    >>> [list(map(int, places)) for places in strata(right)]
    [[0, 1], [2, 3]]
    >>> [list(map(int, places)) for places in strata(right[:3])]
    [[0, 1, 2]]
    """
    keys: list[tuple[str, ...]] = [(item.leaning, item.dimension, item.source) for item in items]
    for depth in (2, 1):
        sizes = Counter(keys)
        joined = {key[:depth] for key in keys if sizes[key] == 1}
        keys = [key[:depth] if key[:depth] in joined else key for key in keys]
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return tuple(np.array(members, dtype=np.int64) for members in places.values())


class StatementResampling:
    """One matrix of weights for all figures; sums are its product with the counts per statement."""

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally = tally
        self.strata = strata(tally.items)
        self.weights: FloatArray = np.ones((len(tally.items), draws))
        rng = derive_rng(seed, "bias", "statements", *([number] if number else []))
        for members in self.strata:
            self.weights[members] = rescaled_times(len(members), draws, rng)

    def sums(self, picks: Sequence[Pick], columns: FloatArray) -> FloatArray:
        """Return (picks, 2, columns, draws); NaN for a side of which fewer than two statements have answers."""
        counts = np.stack([kept(self.tally, chosen) for chosen in picks])  # (k, S, c)
        added = (counts @ columns).transpose(0, 2, 1)  # (k, c, S)
        found = np.empty((len(picks), len(SIDES), columns.shape[1], self.weights.shape[1]))
        for side in range(len(SIDES)):
            on_side = np.flatnonzero(self.tally.side == side)
            rows = added[:, :, on_side].reshape(added[..., 0].size, len(on_side))  # one product for all picks
            found[:, side] = (rows @ self.weights[on_side]).reshape(found[:, side].shape)
            varies = (counts[:, on_side].sum(axis=2) > 0).sum(axis=1) > 1
            found[~varies, side] = np.nan
        return found


class ResponseResampling:
    """Single answers, drawn anew from those of the picks."""

    strata: tuple[IntArray, ...] = ()
    weights: FloatArray | None = None

    def __init__(self, tally: Tally, draws: int, seed: int, number: int = 0) -> None:
        self.tally, self.draws, self.seed = tally, draws, seed
        self._names: tuple[str | int, ...] = ("bias", "responses", *([number] if number else []))

    def sums(self, picks: Sequence[Pick], columns: FloatArray) -> FloatArray:
        """Return (picks, 2, columns, draws). Answers that add to no column are not drawn."""
        found = np.zeros((len(picks), len(SIDES), columns.shape[1], self.draws))
        rng = derive_rng(self.seed, *self._names, *(chosen.name for chosen in picks))
        for model in sorted({chosen.model for chosen in picks}):
            mine = [place for place, chosen in enumerate(picks) if chosen.model == model]
            for members, counts in self._parts(model, [picks[place] for place in mine]):
                counts[:, ~columns.any(axis=1)] = 0
                drawn = self._draw(counts, rng)
                for place in (mine[member] for member in np.flatnonzero(members)):
                    seen = columns.copy()
                    if picks[place].rule_only:
                        seen[without_rule(len(seen))] = 0
                    found[place] += (drawn @ seen).transpose(1, 2, 0)
        return found

    def _parts(self, model: int, picks: Sequence[Pick]) -> list[tuple[IntArray, IntArray]]:
        """Cut a model's answers where picks overlap: which picks have a part, and its counts, (2, c)."""
        table = self.tally.categories[model]
        pattern = np.stack([chosen.cells for chosen in picks], axis=-1).reshape(-1, len(picks))
        patterns, which = np.unique(pattern, axis=0, return_inverse=True)
        sides = np.broadcast_to(self.tally.side[None, :, None], table.shape[:3]).ravel()
        counts = np.zeros((len(patterns), len(SIDES), table.shape[-1]), dtype=np.int64)
        np.add.at(counts, (which.ravel(), sides), table.reshape(-1, table.shape[-1]))
        return [(members, part) for members, part in zip(patterns, counts, strict=True) if members.any()]

    def _draw(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        total = int(counts.sum())
        if total == 0:
            return np.zeros((self.draws, *counts.shape), dtype=np.int64)
        drawn = rng.multinomial(total, counts.ravel() / total, size=self.draws)
        return np.asarray(drawn.reshape(self.draws, *counts.shape), dtype=np.int64)
