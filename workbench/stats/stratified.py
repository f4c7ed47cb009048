"""A permutation test within strata of whether answers to the same questions depend on a group.

Within a stratum (a prompt) answers of all groups (a server's fingerprints) are exchangeable if the group has no effect,
so group labels are permuted within strata only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Tables = list[npt.NDArray[np.int64]]

PERMUTATIONS = 1_999
"2,000 with the observed table, so that a p value is a multiple of 1 / 2,000"


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The result of a test of homogeneity within strata."""

    statistic: float
    "sum over strata of Pearson's chi-squared; NaN if undefined"
    p: float
    strata: int
    "informative strata: with answers of two groups or more that are not all equal"
    answers: int
    "in these strata"
    undefined: str = ""
    "why there is no test; empty where there is one"


def heterogeneity(
    tables: Iterable[npt.NDArray[np.int64]], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Heterogeneity:
    """Test whether the distribution over columns (answers) depends on the row (group) in any of the tables (strata).

    X2 = sum over strata of sum (n_rc - e_rc)^2 / e_rc with e_rc = n_r. n_.c / n; its null distribution comes from
    tables with the same margins, drawn independently in each stratum; p = (1 + #{X2* >= X2}) / (1 + permutations).

    Notes
    -----
    A stratum is excluded, because its X2 is constant, if it has one group, if all its answers are equal, or if no two
    of them are equal. If no stratum remains there is no test, and `undefined` gives the reason.

    References
    ----------
    Phipson and Smyth 2010, Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9(1): 39.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> heterogeneity([np.array([[9, 0], [0, 9]])], rng).p
    0.0005
    >>> heterogeneity([np.array([[9, 1]])], rng).undefined
    'there is one group only'
    """
    every = [np.asarray(table, dtype=np.int64) for table in tables]
    shared = [kept for table in every if (kept := table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]).shape[0] > 1]
    telling = [table for table in shared if table.shape[1] > 1 and table.sum(axis=0).max() > 1]
    if why := _why_none(every, shared, telling):
        return Heterogeneity(float("nan"), float("nan"), 0, 0, why)
    observed = sum(_chi_squared(table[None])[0] for table in telling)
    drawn: npt.NDArray[np.float64] = np.zeros(permutations)
    for table in telling:
        drawn += _chi_squared(_shuffled(table, rng, permutations))
    reached = int((drawn >= observed * (1 - 1e-12)).sum())
    return Heterogeneity(
        float(observed), (1 + reached) / (1 + permutations), len(telling), int(sum(table.sum() for table in telling))
    )


def _why_none(every: Tables, shared: Tables, telling: Tables) -> str:
    """Return why there is nothing to test; empty if there is a test."""
    if not any(table.sum() for table in every):
        return "there are no answers"
    if max(table.shape[0] for table in every) < 2:
        return "there is one group only"
    if not shared:
        return "no prompt was answered in two groups"
    if not telling:
        return "of no prompt are some answers equal and others not"
    return ""


def _chi_squared(tables: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return Pearson's chi-squared of tables (draws, rows, columns) without empty margins."""
    total = tables.sum(axis=(1, 2), keepdims=True)
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / total
    found: npt.NDArray[np.float64] = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
    return found


def _shuffled(table: npt.NDArray[np.int64], rng: np.random.Generator, draws: int) -> npt.NDArray[np.int64]:
    """Return random tables with the margins of this one, for groups without an effect."""
    left = np.tile(table.sum(axis=0), (draws, 1))
    rows: list[npt.NDArray[np.int64]] = []
    for size in table.sum(axis=1)[:-1]:
        rows.append(_taken(left, int(size), rng))
        left = left - rows[-1]
    return np.stack([*rows, left], axis=1)


def _taken(left: npt.NDArray[np.int64], size: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw `size` answers without replacement from the remaining answers of each draw, column by column."""
    found = np.zeros_like(left)
    wanted = np.full(len(left), size)
    beyond = left.sum(axis=1)
    for column in range(left.shape[1] - 1):
        beyond = beyond - left[:, column]
        found[:, column] = rng.hypergeometric(left[:, column], beyond, wanted)
        wanted = wanted - found[:, column]
    found[:, -1] = wanted
    return found
