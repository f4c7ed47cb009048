"""The mixing of several Markov chains: R-hat and the effective number of draws of one figure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.stats.arrays import FloatArray

WORST_RHAT, LEAST_DRAWS = 1.01, 400
"limits of Vehtari et al. (2021), section 4"
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Mixing:
    """The mixing of chains, for one figure."""

    rhat: float
    "NaN if the figure is the same in all draws, or nothing was drawn"
    draws: float
    "effective number; NaN if nothing was drawn"
    error: float = 0.0
    "standard error of the figure that the sampler alone gives"

    @property
    def poor(self) -> bool:
        """Whether the figure rests on chains that disagree, or on too few effective draws."""
        return self.rhat > WORST_RHAT or self.draws < LEAST_DRAWS

    @property
    def warning(self) -> str:
        """The warning about poor mixing without a full stop, or "" if the mixing is good."""
        if not self.poor:
            return ""
        return (
            f"the sampler has not settled (R-hat {self.rhat:.3f}, {self.draws:,.0f} effective "
            f"draws; {WORST_RHAT:g} and {LEAST_DRAWS} needed)"
        )


EXACT = Mixing(NAN, NAN)
"of a figure that nothing was drawn for"


def mixing(values: FloatArray) -> Mixing:
    """Return the mixing of chains (Vehtari et al. 2021, without ranks).

    Parameters
    ----------
    values : (chains, draws) of one figure

    Each chain is split in halves, so that a trend within a chain counts as a disagreement.

    Examples
    --------
    >>> found = mixing(np.random.default_rng(1).standard_normal((4, 500)))
    >>> round(found.rhat, 2), bool(found.draws > 1500)
    (1.0, True)
    """
    half = values.shape[1] // 2
    if half < 2:
        return EXACT
    split = np.concatenate([values[:, :half], values[:, -half:]])
    within = float(split.var(axis=1, ddof=1).mean())
    between = half * float(split.mean(axis=1).var(ddof=1))
    if not between and not within:
        return Mixing(NAN, float(values.size))
    if not within:
        return Mixing(math.inf, 0.0)
    total = within * (half - 1) / half + between / half
    draws = _effective_draws(split, within, total)
    return Mixing(math.sqrt(total / within), draws, float(values.std()) / math.sqrt(draws))


def _effective_draws(chains: FloatArray, within: float, total: float) -> float:
    """Return the number of independent draws that are worth these.

    The sum of the correlations is Geyer's initial monotone sequence (1992).
    """
    n_chains, n = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n] / n
    correlation = 1 - (within - covariance.mean(axis=0) * n / (n - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if negative.size else pairs)
    # As Stan limits antithetic chains.
    time = max(2 * float(pairs.sum()) - 1, 1 / math.log10(n_chains * n))
    return float(n_chains * n / time)
