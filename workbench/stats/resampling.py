"""Bootstrap intervals, and random generators that do not depend on the order of computation.

Every function that draws takes its generator from the caller. A caller that computes many figures derives one generator
for each by name (`derive_rng`), so that a figure keeps its interval when other figures are added, removed or reordered.

References
----------
Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13 (percentile interval).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workbench.domain.keys import content_key
from workbench.errors import UsageError
from workbench.stats.arrays import FloatArray

CELLS_AT_ONCE = 2_000_000
"numbers held at once while resampling (16 MB)"
COUNTED_AT_ONCE = 50_000
"numbers counted at once, which fit into the processor's cache: twice as fast as counting all at once"


def derive_rng(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator for these names and this seed, independent of earlier draws.

    Raises UsageError for a seed below 0.

    Examples
    --------
    >>> first = derive_rng(7, "kappa", "nl_2").random()
    >>> first == derive_rng(7, "kappa", "nl_2").random()
    True
    >>> first == derive_rng(7, "kappa", "nl_3").random()
    False
    """
    if seed < 0:
        raise UsageError(f"found the seed {seed}; give 0 or more")
    words = np.frombuffer(content_key(list(names)), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=[int(word) for word in words]))


def percentile_interval(
    draws: npt.ArrayLike, level: float = 0.95, minimum_defined: float = 0.5
) -> tuple[FloatArray, FloatArray]:
    """Return the central `level` interval of the draws along the last axis.

    A NaN stands for a resample in which the statistic is undefined and is excluded. If less than the share
    `minimum_defined` of the draws is defined, there is no interval (NaN), since the other draws do not represent the
    resampling distribution.

    Returns
    -------
    low, high : arrays without the last axis. Percentiles interpolate linearly, as `numpy.quantile` does.

    Examples
    --------
    >>> low, high = percentile_interval([0.0, 1.0, 2.0, 3.0, float("nan")], level=0.5)
    >>> float(low), float(high)
    (0.75, 2.25)
    """
    ordered = np.sort(np.asarray(draws, dtype=np.float64), axis=-1)  # NaN sorts to the end
    defined = np.count_nonzero(~np.isnan(ordered), axis=-1)
    tail = (1 - level) / 2
    enough = (defined > 0) & (defined >= minimum_defined * ordered.shape[-1])
    low, high = (np.where(enough, _quantile(ordered, defined, share), np.nan) for share in (tail, 1 - tail))
    return low, high


def bca_interval(draws: FloatArray, value: float, left_out: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of an estimate over n units, with Student's t for few units.

    The ends are the quantiles Φ(z0 + (z0 ± t) / (1 - a (z0 ± t))) of the draws: z0 is Φ⁻¹ of the share of draws below
    the estimate (ties half), a is the acceleration from the estimates with one unit left out, and t is Student's
    quantile with n - 1 degrees of freedom instead of the normal quantile. Percentiles alone are too narrow, and shifted
    to one side if a coefficient is near its limit: over 20 statements with three paraphrases each and a κ of .82 they
    covered 88 %, this interval 93 % (1,000 simulations, Monte Carlo error .7 points).

    Parameters
    ----------
    draws : the statistic in resamples of units; NaN if undefined
    left_out : (n,), the statistic without each unit; NaN if undefined

    Returns
    -------
    low, high : NaN if fewer than half of the draws are defined, or all draws are equal

    References
    ----------
    Efron 1987, Better bootstrap confidence intervals. Hesterberg 2015, What teachers should know about the bootstrap.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    ordered = np.sort(draws[~np.isnan(draws)])
    if len(ordered) == 0 or 2 * len(ordered) < len(draws) or ordered[0] == ordered[-1]:
        return float("nan"), float("nan")
    at = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    below = np.clip(sum(at) / (2 * len(ordered)), 1 / len(ordered), 1 - 1 / len(ordered))
    known = left_out[~np.isnan(left_out)]
    moves = known.mean() - known if len(known) else np.zeros(1)
    size = float((moves**2).sum())
    acceleration = float((moves**3).sum()) / (6 * size**1.5) if size > 0 else 0.0
    z0, t = float(ndtri(below)), float(stdtrit(max(1, len(left_out) - 1), (1 + level) / 2))
    ends = []
    for reach in (z0 - t, z0 + t):
        shrink = 1 - acceleration * reach
        share = float(ndtr(z0 + reach / shrink)) if shrink > 0 else float(reach > 0)
        ends.append(float(np.quantile(ordered, share)))
    return ends[0], ends[1]


def bca_of_draws(draws: FloatArray, value: FloatArray, freedom: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return `bca_interval` from draws alone, for many estimates at once: (..., R), (...) and degrees of freedom (...).

    The acceleration is a sixth of the skewness of the draws, which is exact for a mean. NaN if fewer than half of the
    draws are defined, or all draws are equal.

    References
    ----------
    Efron 1987, Better bootstrap confidence intervals, section 4 (a = skewness / 6).
    """
    from scipy.special import ndtr, ndtri, stdtrit

    ordered = np.sort(np.asarray(draws, dtype=np.float64), axis=-1)
    defined = np.count_nonzero(~np.isnan(ordered), axis=-1)
    enough = (defined > 0) & (2 * defined >= ordered.shape[-1])
    known = ~np.isnan(ordered)
    some = np.maximum(defined, 1)
    centred = np.where(known, ordered - (np.where(known, ordered, 0).sum(axis=-1) / some)[..., None], 0.0)
    spread = np.sqrt((centred**2).sum(axis=-1) / some)
    varies = enough & (spread > 1e-12)
    acceleration = (centred**3).sum(axis=-1) / some / np.where(varies, spread, 1) ** 3 / 6
    below, same = ((np.where(known, ordered, np.inf) < value[..., None]).sum(axis=-1), (ordered == value[..., None]))
    share = np.clip((below + same.sum(axis=-1) / 2) / some, 1 / some, 1 - 1 / some)
    z0, t = ndtri(np.where(varies, share, 0.5)), stdtrit(np.maximum(freedom, 1), 0.975)
    ends = []
    for reach in (z0 - t, z0 + t):
        shrink = 1 - acceleration * reach
        at = np.where(shrink > 0, ndtr(z0 + reach / np.where(shrink > 0, shrink, 1)), reach > 0)
        ends.append(np.where(varies, _quantile(ordered, defined, at), np.nan))
    return ends[0], ends[1]


def _quantile(ordered: FloatArray, defined: npt.NDArray[np.intp], share: float | FloatArray) -> FloatArray:
    """Interpolate the quantile `share` of the first `defined` values of each sorted row."""
    if ordered.shape[-1] == 0:
        return np.full(ordered.shape[:-1], np.nan)
    position = np.maximum(defined - 1, 0) * share
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    lower = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    upper = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    return np.asarray(lower + (position - below) * (upper - lower), dtype=np.float64)


def resampled_sums(features: npt.ArrayLike, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the column sums of `features` over units drawn with replacement.

    Any statistic that is a function of sums over units can be bootstrapped from these sums without a loop.

    Parameters
    ----------
    features : array (units, columns); at least one unit

    Returns
    -------
    array (resamples, columns)
    """
    return resampled_together([features], resamples, rng)[0]


def resampled_together(
    several: Sequence[npt.ArrayLike], resamples: int, rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Return the column sums of each of several arrays over the same units, all for the same draws.

    Each result equals that of `resampled_sums` for the array alone with this generator. Drawing is most of the work and
    is done once.

    Parameters
    ----------
    several : arrays (units, any number of columns); at least one array and one unit
    """
    features = [np.asarray(each, dtype=np.float64) for each in several]
    units = len(features[0])
    sums = tuple(np.empty((resamples, each.shape[1])) for each in features)
    step = max(1, CELLS_AT_ONCE // units)
    for start in range(0, resamples, step):
        times = _times_drawn(units, min(step, resamples - start), rng)
        for of, each in zip(sums, features, strict=True):
            of[start : start + len(times)] = times @ each
    return sums


def rescaled_times(units: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the factors of the weights of a stratum's units in each resample: (units, resamples).

    Of n units n - 1 are drawn with replacement, and each draw counts n / (n - 1). Drawing n units would give (n - 1) /
    n of the variance, which matters in strata of 2 or 4 units. A single unit always counts once.

    References
    ----------
    Rao, Wu and Yue 1992, "Some recent work on resampling methods for complex surveys", Survey Methodology 18(2).
    """
    if units == 1:
        return np.ones((1, resamples))
    drawn = rng.integers(units, size=(resamples, units - 1)) + units * np.arange(resamples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)
    return np.asarray(times.T * (units / (units - 1)), dtype=np.float64)


def _times_drawn(units: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each unit is drawn in each resample: (resamples, units)."""
    times = np.empty((resamples, units))
    step = max(1, COUNTED_AT_ONCE // units)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        drawn = rng.integers(units, size=(count, units)) + units * np.arange(count)[:, None]
        times[start : start + count] = np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units)
    return times
