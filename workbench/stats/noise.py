"""What noise adds to a mean of absolute values, and whether anything but noise is there.

An estimate b_k with the standard error s_k is off 0 even where the truth is 0: E|b_k| = s_k root(2 / π) then. So the
mean of |b_k| is too large, by as much as there is noise, and an interval of bootstrap draws around it, to which noise
is added once more, may leave out the estimate itself; simulated intervals covered the truth in 0-15 %. Such a mean has
no interval here. Beside it stand what noise alone would give, a size from which the noise is taken out, and a test of
whether all b_k are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.stats.arrays import FloatArray

NAN = float("nan")
ROUNDING = 1e-12
"variances below this share of the mean square are what is left of equal values"
NO_SPREAD = "no spread"
ONE_UNIT = "fewer than two units"
NO_DRAWS = "too few draws"


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How far a mean of |b_k| is above what noise gives."""

    noise: float
    "mean of s_k root(2 / π): what the mean of |b_k| is where every true b_k is 0; NaN where it is not known"
    size: float
    "root(max(0, mean(b_k² - s_k²))): the root mean square of the true b_k, without the noise"
    p: float
    "of all true b_k being 0; NaN where there is no test"
    untested: str = ""
    "why there is no test"


NOTHING = NoiseFloor(NAN, NAN, NAN, "no value")


def noise_floor(sums: FloatArray, squares: FloatArray, counts: FloatArray) -> NoiseFloor:
    """Return noise, size and test of means b_k = Σ d / n over units that all b_k share, such as people.

    The test is of W = Σ (b_k / s_k)² against its distribution where every b_k is 0: whole units are drawn, so that the
    b_k keep their dependence, and each draw gives Σ ((b*_k - b_k) / s*_k)², with its own standard errors; p is the
    share of draws, the sample among them, with a W at least as large. Chi-square with K degrees of freedom takes the
    b_k for independent: in 1,000 simulations without any bias it rejected 8-12 % at the level of 5 %, this test 4 %
    (50 and 200 people, 7 and 15 questions, correlated .3-.8), and nearly never where answers to a question are rare.

    Parameters
    ----------
    sums, squares, counts : (K, 1 + draws): Σ d, Σ d² and n of each k, in the sample and then in each draw

    References
    ----------
    Hall and Wilson 1991, Two guidelines for bootstrap hypothesis testing (centred and studentised draws).
    """
    if len(sums) == 0:
        return NOTHING
    enough = counts > 1
    n = np.where(enough, counts, 2.0)
    b = sums / np.where(counts > 0, counts, 1.0)
    variance = np.maximum(squares / n - b * b, 0) / (n - 1)
    if not enough[:, 0].all():
        return NoiseFloor(NAN, NAN, NAN, ONE_UNIT)
    variance[variance * (n - 1) <= ROUNDING * squares / n] = 0.0
    error = np.sqrt(variance)
    noise = float((error[:, 0] * np.sqrt(2 / np.pi)).mean())
    size = float(np.sqrt(max(0.0, float((b[:, 0] ** 2 - variance[:, 0]).mean()))))
    if (error[:, 0] == 0).any():
        return NoiseFloor(noise, size, NAN, NO_SPREAD)
    if sums.shape[1] < 2:
        return NoiseFloor(noise, size, NAN, NO_DRAWS)
    found = float(((b[:, 0] / error[:, 0]) ** 2).sum())
    flat = (error == 0) | ~enough
    away = np.where(flat, np.inf, (b - b[:, :1]) / np.where(flat, 1.0, error))
    drawn = (away[:, 1:] ** 2).sum(axis=0)
    return NoiseFloor(noise, size, float((1 + np.count_nonzero(drawn >= found)) / (1 + len(drawn))))
