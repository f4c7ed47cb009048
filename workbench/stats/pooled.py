"""Shares of many prompts estimated together: a logistic model in which prompts of one kind lend each other strength.

Of prompt i, k_i of n_i answers agree: k_i ~ Binomial(n_i, p_i). Its logit is a sum of effects and a rest of its own,

    logit p_i = mean + effect of each group that it belongs to + rest_i,

where the effects of a factor (statements, wordings of a statement, templates, …) are normal with a variance of their
own, and so are the rests (Gelman and Hill 2007, chapter 14). Standard deviations have half-Cauchy priors of scale 1,
that of the first factor of scale 2, and the mean is normal with standard deviation 10. A prompt with few answers is
drawn towards its like, one with many hardly, so what is said of the shares does not depend on how many answers there
are: more of them make it surer.

The posterior is sampled by Gibbs steps for the normal parts (variances as in Wand et al. 2011, result 5) and one
Metropolis step a sweep for each logit, proposed by a Newton step from where it stands (Gamerman 1997).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import IntArray

Single = npt.NDArray[np.floating[Any]]
"of single precision: exact enough for draws, and four times as fast where there are many prompts"

DRAWS, WARM_UP = 300, 150
FIRST_SCALE, SCALE, MEAN_SD = 2.0, 1.0, 10.0
LONGEST_STEP = 2.0
"of a Newton step on the logit"


def pooled_shares(
    hits: npt.ArrayLike,
    trials: npt.ArrayLike,
    factors: Sequence[IntArray],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
) -> Single:
    """Return draws from the posterior of every prompt's share: (draws, N).

    Parameters
    ----------
    hits, trials : (N,) answers that agree, and readable answers; a prompt without any has what its like have
    factors : (N,) each: the number of the group, 0 to G - 1, that each prompt belongs to. What is no factor beside the
        first (one group, a group for each prompt, the groups of an earlier one) is left out

    Raises ValueError without prompts or factors.

    Examples
    --------
    >>> found = pooled_shares([9, 10, 10, 8], [10] * 4, [np.array([0, 0, 1, 1])], np.random.default_rng(1))
    >>> found.shape, bool((found.mean(axis=0) > 0.7).all())
    ((300, 4), True)
    """
    k, n = (np.asarray(given, dtype=np.float32) for given in (hits, trials))
    if not k.size or not factors:
        raise ValueError(f"expected prompts and factors, found {k.size} and {len(factors)}")
    effects = [_Effects(of, SCALE if place else FIRST_SCALE) for place, of in enumerate(_telling(factors))]
    rest = _Effects(np.arange(k.size), SCALE)
    logit: Single = np.log((k + 0.5) / (n - k + 0.5))
    mean = float(logit.mean())
    found = np.empty((draws, k.size), dtype=np.float32)
    for sweep in range(-WARM_UP, draws):
        centre: Single = np.sum([one.values[one.of] for one in effects], axis=0) + mean
        logit = _stepped(logit, k, n, centre, rest.variance, rng)
        first, *others = effects
        centre -= mean + first.values[first.of]
        mean = first.draw_mean(logit - centre, rest.variance, rng, mean)
        centre += mean + first.values[first.of]
        for one in others:
            centre -= one.values[one.of]
            one.draw(logit - centre, rest.variance, rng)
            centre += one.values[one.of]
        rest.values = logit - centre
        rest.draw_variance(rng)
        if sweep >= 0:
            found[sweep] = logit
    return np.exp(-np.logaddexp(0, -found))


def _telling(factors: Sequence[IntArray]) -> list[IntArray]:
    """Return the first factor and those that tell prompts apart in another way than those before them."""
    found = [factors[0]]
    for of in factors[1:]:
        groups = np.unique(of).size
        known = any(np.unique(of * (one.max() + 1) + one).size == groups == np.unique(one).size for one in found)
        if 1 < groups < of.size and not known:
            found.append(of)
    return found


class _Effects:
    """The effects of one factor, and their variance."""

    def __init__(self, of: IntArray, scale: float) -> None:
        self.of, self.scale = of, scale
        self.sizes = np.bincount(of).astype(np.float32)
        self.values: Single = np.zeros(self.sizes.size, dtype=np.float32)
        self.variance = self._mixing = 1.0

    def draw(self, held: Single, noise: float, rng: np.random.Generator) -> None:
        """Draw the effects of what is left to them, and their variance."""
        self._draw(held, noise, rng, 0.0)
        self.draw_variance(rng)

    def draw_mean(self, held: Single, noise: float, rng: np.random.Generator, mean: float) -> float:
        """Draw the effects together with their mean, which is returned, and their variance."""
        self._draw(held, noise, rng, mean)
        weight = self.values.size / self.variance + 1 / MEAN_SD**2
        drawn = float(self.values.sum()) / self.variance / weight + rng.standard_normal() / math.sqrt(weight)
        self.values = self.values - np.float32(drawn)
        self.draw_variance(rng)
        return drawn

    def draw_variance(self, rng: np.random.Generator) -> None:
        """Draw the variance of the effects, given them."""
        squares = float(self.values @ self.values)
        self.variance = (squares / 2 + 1 / self._mixing) / rng.gamma((self.values.size + 1) / 2)
        self._mixing = (1 / self.variance + 1 / self.scale**2) / rng.gamma(1.0)

    def _draw(self, held: Single, noise: float, rng: np.random.Generator, mean: float) -> None:
        precision = self.sizes / noise + 1 / self.variance
        sums = np.bincount(self.of, held, minlength=self.sizes.size)
        own = (sums / noise + mean / self.variance) / precision
        self.values = (own + rng.standard_normal(own.size) / np.sqrt(precision)).astype(np.float32)


def _stepped(logit: Single, k: Single, n: Single, centre: Single, variance: float, rng: np.random.Generator) -> Single:
    """Return the logits after one Metropolis step each."""

    def seen_from(x: Single) -> tuple[Single, Single, Single]:
        """Return the log density there, and the mean and precision of what is proposed from there."""
        rest, apart = np.logaddexp(0, -x), x - centre
        share = np.exp(-rest)
        precision = n * share * (1 - share) + 1 / variance
        step = (k - n * share - apart / variance) / precision
        density = (k - n) * x - n * rest - apart * apart / (2 * variance)
        return density, x + np.clip(step, -LONGEST_STEP, LONGEST_STEP), precision

    density, ahead, precision = seen_from(logit)
    new = ahead + rng.standard_normal(k.size, dtype=np.float32) / np.sqrt(precision)
    new_density, back, back_precision = seen_from(new)
    forth = np.log(precision) - precision * (new - ahead) ** 2
    ratio = new_density - density + (np.log(back_precision) - back_precision * (logit - back) ** 2 - forth) / 2
    return np.where(-rng.standard_exponential(k.size, dtype=np.float32) < ratio, new, logit)
