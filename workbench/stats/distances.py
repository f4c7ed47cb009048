"""How spread out a distribution over answer options is, and how far two of them are from each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import FloatArray


def normalised_entropy(weights: npt.ArrayLike, options: npt.ArrayLike) -> FloatArray:
    """Return H = -Σ p_i ln p_i / ln n along the last axis: 0 if all answers are equal, 1 if all options are equally
    frequent.

    NaN without weight, or with fewer than two options. Above 1 if more than n letters have weight.

    Parameters
    ----------
    weights : array (..., letters), 0 or more: counts or probabilities, of any sum
    options : n, broadcasts to the leading axes

    Examples
    --------
    >>> [round(float(h), 3) for h in normalised_entropy([[25, 25, 0], [40, 10, 0], [50, 0, 0], [0, 0, 0]], 2)]
    [1.0, 0.722, 0.0, nan]
    """
    masses = np.asarray(weights, dtype=np.float64)
    n = np.broadcast_to(np.asarray(options, dtype=np.float64), masses.shape[:-1])
    total = masses.sum(axis=-1, keepdims=True)
    p = np.divide(masses, total, out=np.zeros_like(masses), where=total > 0)
    terms = np.multiply(p, np.log(p, out=np.zeros_like(p), where=p > 0))
    found = np.full(n.shape, np.nan)
    np.divide(-terms.sum(axis=-1), np.log(np.maximum(n, 1)), out=found, where=(total[..., 0] > 0) & (n >= 2))
    return np.asarray(np.abs(found))  # -0.0 is 0


def ordered_wasserstein(p: npt.ArrayLike, q: npt.ArrayLike) -> FloatArray:
    """Return W = Σ_{i<n} |P_i - Q_i| / (n - 1) along the last axis, P and Q cumulative shares of n ordered options.

    The work of moving one distribution into the other if neighbouring options are 1 apart, as a share of the largest
    possible work: 0 if equal, 1 if all weight is at opposite ends. NaN if either has no weight or there are fewer than
    two options.

    References
    ----------
    Santurkar et al. 2023, Whose opinions do language models reflect?, section 3.1: 1 - W is the alignment of two
    distributions of opinions, its mean over questions the representativeness.

    Examples
    --------
    >>> float(ordered_wasserstein([1, 0, 0], [0, 0, 1])), float(ordered_wasserstein([1, 0, 0], [0, 1, 0]))
    (1.0, 0.5)
    """
    first, second = (np.asarray(each, dtype=np.float64) for each in (p, q))
    n = first.shape[-1]
    if n < 2:
        return np.full(first.shape[:-1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.cumsum(
            first / first.sum(axis=-1, keepdims=True) - second / second.sum(axis=-1, keepdims=True), axis=-1
        )
    return np.asarray(np.abs(gap[..., :-1]).sum(axis=-1) / (n - 1))
