"""Weights of units with known sampling probabilities, and stratified control samples of answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.proportions import mid_p_of_share, wilson_of_share
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

    def resampled_sums(
        self, features: npt.ArrayLike, draws: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the weighted sums of features (n, columns) in each resample: (draws, columns).

        The counts of units of a stratum with equal weighted features are drawn together, from a
        multinomial distribution.
        """
        columns = np.asarray(features, dtype=np.float64) * self.weight[:, None]
        single_strata = [members for members in self.strata if len(members) == 1]
        fixed = columns[self.certain].sum(axis=0) + sum(
            columns[members[0]] for members in single_strata
        )
        sums = np.repeat(np.reshape(fixed, (-1, 1)), draws, axis=1)
        for members in self.strata:
            stratum_columns = columns[members]
            used_columns = np.flatnonzero(stratum_columns.any(axis=0))
            if (n := len(members)) > 1 and used_columns.size:
                kinds, counts = np.unique(
                    stratum_columns[:, used_columns], axis=0, return_counts=True
                )
                sums[used_columns] += (
                    kinds.T @ rng.multinomial(n - 1, counts / n, size=draws).T * (n / (n - 1))
                )
        return sums.T

    def effective_n(self, among: BoolArray | None = None) -> float:
        """Return Kish's (sum w)^2 / sum w^2 over the units that were drawn at random.

        It is 0 without any.
        """
        weight = self.weight[~self.certain if among is None else among & ~self.certain]
        return float(weight.sum() ** 2 / (weight**2).sum()) if weight.size else 0.0

    def certain_share(self, among: BoolArray | None = None) -> float:
        """Return the share of the total weight on units taken with certainty.

        It is NaN if the total is 0.
        """
        weight = self.weight if among is None else np.where(among, self.weight, 0)
        total = weight.sum()
        return float(weight[self.certain].sum() / total) if total > 0 else float("nan")

    def share(self, hits: BoolArray, base: BoolArray, excluded: int, undefined: str) -> Estimate:
        """Return the weighted share of `hits` among `base`.

        It has Wilson's interval at an effective n.

        The effective n is p (1 - p) / variance, with the variance of a ratio under the rescaled
        bootstrap, in closed form. If the units that were drawn at random are all alike, that
        variance is 0; then Kish's n is used for them, and the units taken with certainty stay
        fixed. `n` of the result counts units.
        """
        n, total = int(base.sum()), float(self.weight[base].sum())
        if total <= 0:
            return Estimate(float("nan"), float("nan"), float("nan"), n, excluded, undefined)
        value = float(self.weight[base & hits].sum() / total)
        chance = base & ~self.certain
        if not chance.any():
            return Estimate(value, value, value, n, excluded, interval="share of weighted items")
        is_uniform = bool(hits[chance].all()) or not hits[chance].any()
        if not is_uniform and (variance := self._variance(hits, base, value)) > 0:
            low, high = wilson_of_share(value, value * (1 - value) / variance)
            return Estimate(value, low, high, n, excluded, interval="share of weighted items")
        by_chance = float(self.weight[chance].sum() / total)
        certain_hits = float(self.weight[base & hits & self.certain].sum() / total)
        low, high = wilson_of_share(float(hits[chance][0]), self.effective_n(base))
        ends = certain_hits + by_chance * low, min(1.0, certain_hits + by_chance * high)
        return Estimate(value, *ends, n, excluded, interval="share of weighted items")

    def _variance(self, hits: BoolArray, base: BoolArray, value: float) -> float:
        """Return the variance of a ratio over rescaled resamples, to first order."""
        moved = self.weight * base * (hits - value) / self.weight[base].sum()
        return float(
            sum(
                len(members) / (len(members) - 1) * moved[members].var() * len(members)
                for members in self.strata
                if len(members) > 1
            )
        )


def collapsed(strata: Sequence[str], among: BoolArray) -> tuple[IntArray, ...]:
    """Return the indices of the units of each stratum, restricted to `among`.

    Strata of one unit are merged in pairs in the order of their names, the last one with the pair
    before it; a single one is merged with a neighbour.

    Examples
    --------
    >>> [list(map(int, places)) for places in collapsed(["a", "b", "c", "c", "d"], np.ones(5, dtype=bool))]
    [[2, 3], [0, 1, 4]]
    """  # noqa: E501
    indices: dict[str, list[int]] = {}
    for index in np.flatnonzero(among).tolist():
        indices.setdefault(strata[index], []).append(index)
    names = sorted(indices)
    single = [name for name in names if len(indices[name]) == 1]
    groups = [indices[name] for name in names if len(indices[name]) > 1]
    if len(single) == 1 and groups:
        n_before = sum(name < single[0] and len(indices[name]) > 1 for name in names)
        groups[max(0, n_before - 1)].extend(indices[single[0]])
    else:
        joined = [
            [index for name in single[start : start + 2] for index in indices[name]]
            for start in range(0, len(single), 2)
        ]
        if len(joined) > 1 and len(joined[-1]) == 1:
            joined[-2].extend(joined.pop())
        groups += joined
    return tuple(np.array(group, dtype=np.int64) for group in groups)


LEAST = 20
"least number of decided answers for an interval of the rate"


@dataclass(frozen=True, slots=True)
class Stratum:
    """The counts of one stratum."""

    size: int
    "all answers of the stratum, N"
    decided: float
    """drawn answers that a person has judged to be misread or not; expected, where several draws
    hold an answer"""
    misread: float


def allocated(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Return the sample size of each stratum: equal sizes, or all answers of a smaller stratum.

    Examples
    --------
    >>> allocated([1000, 1000], 50), allocated([10, 1000], 50), allocated([3, 4], 50)
    ((25, 25), (10, 40), (3, 4))
    """
    sample_sizes, remaining = [0] * len(sizes), n
    for rank, index in enumerate(sorted(range(len(sizes)), key=lambda index: sizes[index])):
        sample_sizes[index] = min(sizes[index], remaining // (len(sizes) - rank))
        remaining -= sample_sizes[index]
    return tuple(sample_sizes)


MOST_EXACT = 10**9 - 1
"answers up to which numpy draws a hypergeometric number"
FEW_OF_MANY = 10**6
"""answers that are a small part of more than `MOST_EXACT`: each is drawn or not independently of
the others"""


def hypergeometric(
    good: npt.ArrayLike, bad: npt.ArrayLike, n: npt.ArrayLike, rng: np.random.Generator
) -> IntArray:
    """Return the number of good answers among n that are drawn without replacement.

    Beyond `MOST_EXACT` answers the number is binomial if one kind is a small part of all, and
    otherwise normal.
    """
    good, bad, n = np.broadcast_arrays(
        *(np.asarray(counts, dtype=np.int64) for counts in (good, bad, n))
    )
    total = good + bad
    is_large = total > MOST_EXACT
    if not is_large.any():
        return np.asarray(rng.hypergeometric(good, bad, n), dtype=np.int64)
    exact = rng.hypergeometric(
        np.where(is_large, 0, good), np.where(is_large, 0, bad), np.where(is_large, 0, n)
    )
    share = n / np.maximum(total, 1)
    mean = good * share
    variance = mean * (1 - share) * bad / np.maximum(total - 1, 1)
    normal = np.rint(mean + np.sqrt(variance) * rng.standard_normal(mean.shape)).astype(np.int64)
    small_parts = [
        (good, rng.binomial(good, share)),
        (bad, n - rng.binomial(bad, share)),
        (n, rng.binomial(n, good / np.maximum(total, 1))),
        (total - n, good - rng.binomial(total - n, good / np.maximum(total, 1))),
    ]
    approximate = np.select(
        [size < FEW_OF_MANY for size, _ in small_parts],
        [number for _, number in small_parts],
        normal,
    )
    approximate = np.clip(approximate, np.maximum(0, n - bad), np.minimum(good, n))
    return np.asarray(np.where(is_large, approximate, exact), dtype=np.int64)


def _drawn_of_many(counts: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return the indices of n drawn answers as `drawn` does, without holding all of them.

    An index that is drawn twice is drawn again.
    """
    ends = np.cumsum(counts)
    drawn_indices: dict[int, None] = {}
    while len(drawn_indices) < n:
        candidates = rng.integers(ends[-1], size=n - len(drawn_indices))
        drawn_indices.update(dict.fromkeys(candidates.tolist()))
    return np.asarray(np.searchsorted(ends, list(drawn_indices), side="right"), dtype=np.int64)


def drawn(counts: npt.ArrayLike, n: int, rng: np.random.Generator) -> IntArray:
    """Return the indices of n answers that are drawn without replacement, in random order.

    Parameters
    ----------
    counts : how often each distinct answer was given; the indices (n,) are those of `counts`
    """
    colours = np.asarray(counts, dtype=np.int64)
    if colours.sum() > MOST_EXACT:
        return _drawn_of_many(colours, n, rng)
    times_drawn = rng.multivariate_hypergeometric(colours, n, method="marginals")
    return np.asarray(
        rng.permutation(np.repeat(np.arange(len(times_drawn)), times_drawn)), dtype=np.int64
    )


def misread_rate(strata: Sequence[Stratum]) -> Estimate:
    """Return the share of all answers that are misread, sum N_h / N * k_h / n_h.

    It is estimated from the decided answers of each stratum.

    The interval combines the mid-p limits l_h, u_h of the strata: p - sqrt(sum (W_h (p_h - l_h))²)
    and p + sqrt(sum (W_h (u_h - p_h))²) with W_h = N_h / N (MOVER). For one stratum it is the mid-p
    interval. With 20 to 60 answers of two strata and error rates of 2 to 35 %, Wilson's limits in
    their place cover 86 to 97 %, these 93 to 99 % (exact probabilities), at equal mean width. It
    ignores that answers are drawn without replacement, so it is too wide if most answers are drawn.

    Examples
    --------
    >>> found = misread_rate([Stratum(900, 50, 0), Stratum(100, 50, 10)])
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.02, 0.011, 0.074)
    """
    used_strata = [stratum for stratum in strata if stratum.size]
    n = round(sum(stratum.decided for stratum in used_strata))
    nan = math.nan
    if not n or any(not stratum.decided for stratum in used_strata):
        return Estimate(
            nan, nan, nan, n, undefined="a group of statements has no decided answer yet"
        )
    weights = np.array([stratum.size for stratum in used_strata]) / sum(
        stratum.size for stratum in used_strata
    )
    shares = np.array([stratum.misread / stratum.decided for stratum in used_strata])
    value = float(weights @ shares)
    if n < LEAST:
        return Estimate(value, nan, nan, n, few=f"too few for an interval: {n} of {LEAST} answers")
    ends = [
        mid_p_of_share(float(share), stratum.decided)
        for share, stratum in zip(shares, used_strata, strict=True)
    ]
    low, high = np.array(ends).T
    reach_below, reach_above = (
        float(np.sqrt(((weights * gap) ** 2).sum())) for gap in (shares - low, high - shares)
    )
    return Estimate(
        value,
        max(0.0, value - reach_below),
        min(1.0, value + reach_above),
        n,
        interval="misread answers",
    )
