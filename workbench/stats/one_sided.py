"""Test whether an event is more frequent in one group of clusters than another, such as left and right statements."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.clustered import FEWEST, ratio_moves, student_interval

PERMUTATIONS = 1_999
"2,000 with the observed grouping, so that a p value is a multiple of 1 / 2,000"
LEAST = 2
"fewest clusters per group"
ROUNDING = 1e-12
NAN = float("nan")
NO_HITS = "no answer of either group is a refusal, so there is no difference to test"


@dataclass(frozen=True, slots=True)
class OneSided:
    """The difference between the shares of two groups, first minus second, with a permutation test."""

    difference: Estimate
    "n: clusters of both groups"
    p: float
    "two-sided, by permutation; NaN where there is no test"
    untested: str = ""


def one_sided(hits: npt.ArrayLike, counts: npt.ArrayLike, first: npt.ArrayLike, rng: np.random.Generator) -> OneSided:
    """Return the difference between the share Σ hits / Σ counts of one group of clusters and that of the others.

    The test permutes the groups of the clusters, so that answers to one statement stay together, and
    p = (1 + #{|d*| >= |d|}) / (1 + permutations). The interval is Student's over clusters; there is none if fewer than
    six clusters have a hit, which is too few to estimate a variance.

    Parameters
    ----------
    hits, counts : (C,); clusters with a count of 0 are excluded
    first : (C,), whether a cluster is in the first group

    References
    ----------
    Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9(1): 39.

    Examples
    --------
    >>> found = one_sided([5, 4, 6, 5, 0, 0, 0, 0], [9] * 8, [True] * 4 + [False] * 4, np.random.default_rng(1))
    >>> round(found.difference.value, 3), found.p < 0.05
    (0.556, True)
    """
    of, among, group = np.asarray(hits, float), np.asarray(counts, float), np.asarray(first, dtype=np.bool_)
    there = among > 0
    of, among, group = of[there], among[there], group[there]
    sizes = int(group.sum()), int((~group).sum())
    if min(sizes) < LEAST:
        why = f"{sizes[0]} and {sizes[1]} statements were answered; a difference takes {LEAST} of each: ask more"
        return OneSided(Estimate(NAN, NAN, NAN, sum(sizes), 0, why), NAN, why)
    value = float(_differences(of, among, group[None])[0])
    found = Estimate(value, NAN, NAN, sum(sizes))
    shown = int(np.count_nonzero(of > 0))
    if shown == 0:
        return OneSided(found, NAN, NO_HITS)
    shuffled = rng.permuted(np.tile(group, (PERMUTATIONS, 1)), axis=1)
    reached = int(np.count_nonzero(np.abs(_differences(of, among, shuffled)) >= abs(value) - ROUNDING))
    return OneSided(_with_interval(found, of, among, group, shown), (1 + reached) / (1 + PERMUTATIONS))


def _differences(hits: FloatArray, counts: FloatArray, groups: BoolArray) -> FloatArray:
    """Return the difference of shares under each grouping: (..., C) to (...)."""
    shares = [(mine @ hits) / (mine @ counts) for mine in (groups, ~groups)]
    return np.asarray(shares[0] - shares[1], dtype=np.float64)


def _with_interval(found: Estimate, hits: FloatArray, counts: FloatArray, first: BoolArray, shown: int) -> Estimate:
    if shown < FEWEST:
        return replace(found, few=f"too few for an interval: {shown} statements show any; it takes {FEWEST}")
    moves = np.zeros(len(hits))
    for mine, sign in ((first, 1.0), (~first, -1.0)):
        moves[mine] = sign * ratio_moves(hits[mine], counts[mine])
    low, high = student_interval(found.value, moves, [np.flatnonzero(first), np.flatnonzero(~first)])
    if np.isnan(low):
        return replace(found, few="too few for an interval: all statements are alike")
    return replace(found, low=max(-1.0, low), high=min(1.0, high), interval="difference of refusal rates")


__all__ = ["OneSided", "one_sided"]
