"""Units drawn with known probabilities: their weights, and the uncertainty of weighted sums.

A unit that stands for n_i equal ones and was included with probability pi_i has the weight w_i = n_i / pi_i, so
weighted sums estimate sums over the whole frame. Units taken with certainty are not sampled: they are the same in every
resample. The others are resampled within their strata by the rescaled bootstrap of Rao and Wu, with n_h - 1 draws from
a stratum of n_h. A stratum of one unit would never vary, so such strata are first merged with their neighbours.

References
----------
Rao and Wu 1988, "Resampling inference with complex survey data", JASA 83; in the form of weights Rao, Wu and Yue 1992,
"Some recent work on resampling methods for complex surveys", Survey Methodology 18(2). Kish 1965, "Survey Sampling",
section 11.2 (effective n). Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 24(2) (an effective n in an interval for proportions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.proportions import wilson_of_share
from workbench.stats.resampling import rescaled_times


@dataclass(frozen=True, eq=False)
class Sampled:
    """Drawn units with their weights and strata."""

    weight: FloatArray
    "(n,) w_i"
    certain: BoolArray
    "(n,) whether the unit was taken with certainty"
    strata: tuple[IntArray, ...]
    "indices of the units that were drawn at random, by collapsed stratum"

    @classmethod
    def of(cls, weight: npt.ArrayLike, certain: npt.ArrayLike, strata: Sequence[str]) -> Sampled:
        """Return units from their weights and the names of their strata."""
        fixed = np.asarray(certain, dtype=np.bool_)
        return cls(np.asarray(weight, dtype=np.float64), fixed, collapsed(strata, ~fixed))

    def times(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the factor of each unit's weight in each resample: (n, draws)."""
        times = np.ones((len(self.weight), draws))
        for members in self.strata:
            times[members] = rescaled_times(len(members), draws, rng)
        return times

    def resampled_sums(self, features: npt.ArrayLike, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the weighted sums of features (n, columns) in each resample: (draws, columns).

        The counts of units of a stratum with equal weighted features are drawn together, from a multinomial
        distribution.
        """
        columns = np.asarray(features, dtype=np.float64) * self.weight[:, None]
        alone = [members for members in self.strata if len(members) == 1]
        fixed = columns[self.certain].sum(axis=0) + sum(columns[members[0]] for members in alone)
        sums = np.tile(fixed, (draws, 1))
        for members in self.strata:
            if (n := len(members)) > 1:
                kinds, counts = np.unique(columns[members], axis=0, return_counts=True)
                sums += rng.multinomial(n - 1, counts / n, size=draws) @ kinds * (n / (n - 1))
        return sums

    def effective_n(self, among: BoolArray | None = None) -> float:
        """Return (sum w)^2 / sum w^2 over the units that were drawn at random (Kish); 0 if there are none."""
        weight = self.weight[~self.certain if among is None else among & ~self.certain]
        return float(weight.sum() ** 2 / (weight**2).sum()) if weight.size else 0.0

    def certain_share(self, among: BoolArray | None = None) -> float:
        """Return the share of the total weight that belongs to units taken with certainty; NaN if the total is 0."""
        weight = self.weight if among is None else np.where(among, self.weight, 0)
        total = weight.sum()
        return float(weight[self.certain].sum() / total) if total > 0 else float("nan")

    def share(self, hits: BoolArray, base: BoolArray, excluded: int, undefined: str) -> Estimate:
        """Return the weighted share of `hits` among `base`, with Wilson's interval at an effective n.

        The effective n is p (1 - p) / variance, with the variance of a ratio under the rescaled bootstrap, in closed
        form. If the units that were drawn at random are all alike, that variance is 0; then Kish's n is used for them,
        and the units taken with certainty stay fixed. `n` of the result counts units.
        """
        n, total = int(base.sum()), float(self.weight[base].sum())
        if total <= 0:
            return Estimate(float("nan"), float("nan"), float("nan"), n, excluded, undefined)
        value = float(self.weight[base & hits].sum() / total)
        chance = base & ~self.certain
        if not chance.any():
            return Estimate(value, value, value, n, excluded, interval="share of weighted items")
        alike = bool(hits[chance].all()) or not hits[chance].any()
        if not alike and (variance := self._variance(hits, base, value)) > 0:
            low, high = wilson_of_share(value, value * (1 - value) / variance)
            return Estimate(value, low, high, n, excluded, interval="share of weighted items")
        by_chance = float(self.weight[chance].sum() / total)
        known = float(self.weight[base & hits & self.certain].sum() / total)
        low, high = wilson_of_share(float(hits[chance][0]), self.effective_n(base))
        ends = known + by_chance * low, min(1.0, known + by_chance * high)
        return Estimate(value, *ends, n, excluded, interval="share of weighted items")

    def _variance(self, hits: BoolArray, base: BoolArray, value: float) -> float:
        """Return the variance of a ratio over rescaled resamples, to first order."""
        moved = self.weight * base * (hits - value) / self.weight[base].sum()
        return float(sum(len(of) / (len(of) - 1) * moved[of].var() * len(of) for of in self.strata if len(of) > 1))


def collapsed(strata: Sequence[str], among: BoolArray) -> tuple[IntArray, ...]:
    """Return the indices of the units of each stratum, restricted to `among`.

    Strata of one unit are merged in pairs in the order of their names, the last one with the pair before it; a single
    one is merged with a neighbour.

    Examples
    --------
    >>> [list(map(int, places)) for places in collapsed(["a", "b", "c", "c", "d"], np.ones(5, dtype=bool))]
    [[2, 3], [0, 1, 4]]
    """
    places: dict[str, list[int]] = {}
    for place in np.flatnonzero(among).tolist():
        places.setdefault(strata[place], []).append(place)
    names = sorted(places)
    single = [name for name in names if len(places[name]) == 1]
    groups = [places[name] for name in names if len(places[name]) > 1]
    if len(single) == 1 and groups:
        before = sum(name < single[0] and len(places[name]) > 1 for name in names)
        groups[max(0, before - 1)].extend(places[single[0]])
    else:
        joined = [[place for name in single[n : n + 2] for place in places[name]] for n in range(0, len(single), 2)]
        if len(joined) > 1 and len(joined[-1]) == 1:
            joined[-2].extend(joined.pop())
        groups += joined
    return tuple(np.array(group, dtype=np.int64) for group in groups)
