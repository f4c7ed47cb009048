"""Shares of many prompts estimated together, by a logistic model.

In it, prompts of one kind lend each other strength.

Of prompt i, k_i of n_i answers agree: k_i ~ Binomial(n_i, p_i). Its logit is a sum of effects and a
rest of its own,

    logit p_i = mean + effect of each group that it belongs to + rest_i,

where the effects of a factor (statements, wordings of a statement, templates, …) are normal with a
variance of their own, and so are the rests (Gelman and Hill 2007, chapter 14). Standard deviations
have half-Cauchy priors of scale 1, that of the first factor of scale 2, and the mean is normal with
standard deviation 10. A prompt with few answers is drawn towards its like, one with many hardly, so
what is said of the shares does not depend on how many answers there are: more of them make it
surer.

The posterior is sampled by Gibbs steps for the normal parts (variances as in Wand et al. 2011,
result 5) and one Metropolis step a sweep for each logit, proposed by a Newton step from where it
stands (Gamerman 1997). Several chains, which start from unequal variances, run side by side, so
that their agreement can be checked (`stats.chains`).

Where prompts hardly differ, these steps get stuck: a small variance keeps effects near 0, and these
keep it small (the funnel of Neal 2003). A renewal draws the variance of a factor and all its
effects together, as if the likelihood were quadratic in the effects around 0; a Metropolis step
corrects for what that misses. It is accepted where effects are small, so renewals are tried in the
warm-up, and go on only for factors and as often as they help there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.stats.arrays import BoolArray, FloatArray, IntArray

Single = npt.NDArray[np.floating[Any]]
"of single precision: exact enough for draws, and four times as fast where there are many prompts"

CHAINS, DRAWS, WARM_UP = 4, 2000, 150
"chains; draws of all chains together; sweeps of each chain that come first and are dropped"
MORE_CHAINS, SWEEPS = 16, 4
"""chains of few prompts, which cost no more side by side; their sweeps for each draw, so that a
chain goes as far"""
FIRST_SCALE, SCALE, MEAN_SD = 2.0, 1.0, 10.0
LONGEST_STEP = 2.0
"of a Newton step on the logit"
START_VARIANCES = 0.1, 4.0
"of the first and of the last chain"
TRIAL = 5
"sweeps of the warm-up for each trial of renewals"
SELDOM = 4
"draws of a chain for each renewal where statements differ, but the rests are small"
OFTEN_ACCEPTED, SOMETIMES_ACCEPTED = 0.5, 0.2
"""shares of the trials above which rests count as small, and above which a factor goes on being
renewed"""
VARIANCE_STEPS = 0.3, 1.0, 3.0
"standard deviations of steps of a log variance within a renewal"
LARGEST = 12_000
"logits in one array"


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
    hits, trials : (N,) answers that agree, and readable answers. A prompt without any is drawn like
        its group
    factors : (N,) each: the number of the group, 0 to G - 1, that each prompt belongs to. A factor
        that tells prompts apart as the first one does is left out: one group, a group for each
        prompt, the groups of an earlier factor

    Raises ValueError without prompts or factors.

    Examples
    --------
    >>> shares = pooled_shares([9, 10, 10, 8], [10] * 4, [np.array([0, 0, 1, 1])], np.random.default_rng(1))
    >>> shares.shape, bool((shares.mean(axis=0) > 0.7).all())
    ((2000, 4), True)
    """  # noqa: E501
    return np.concatenate(list(iterate_draws(hits, trials, factors, rng, draws=draws)))


def iterate_draws(
    hits: npt.ArrayLike,
    trials: npt.ArrayLike,
    factors: Sequence[IntArray],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
) -> Iterator[Single]:
    """Yield the draws in blocks, each (chains that run together, N). `by_chain` sorts them."""
    k = np.asarray(hits, dtype=np.float32)
    n = np.asarray(trials, dtype=np.float32)
    if not k.size or not factors:
        raise ValueError(f"expected prompts and factors, found {k.size} and {len(factors)}")
    distinct = _distinct(factors)
    n_chains, together = _n_chains(k.size), _chains_together(k.size)
    sweeps = SWEEPS if n_chains == MORE_CHAINS else 1
    starts = np.geomspace(*START_VARIANCES, n_chains)
    for start in range(0, n_chains, together):
        chain_starts = starts[start : start + together]
        chains = _run_chains(k, n, distinct, chain_starts, rng, draws // n_chains, sweeps)
        yield from itertools.islice(chains, sweeps - 1, None, sweeps)


def by_chain(values: FloatArray, n_prompts: int) -> FloatArray:
    """Return the values of a figure on draws, chain by chain: (chains, draws).

    They are given in the order of `iterate_draws`.
    """
    n_chains, together = _n_chains(n_prompts), _chains_together(n_prompts)
    blocks = values.reshape(n_chains // together, -1, together)
    return blocks.transpose(0, 2, 1).reshape(n_chains, -1)


def _n_chains(n_prompts: int) -> int:
    return MORE_CHAINS if MORE_CHAINS * n_prompts <= LARGEST else CHAINS


def _chains_together(n_prompts: int) -> int:
    """Return the number of chains in one array: as many as fit the processor's cache, for speed."""
    return next(
        size
        for size in (_n_chains(n_prompts), CHAINS // 2, 1)
        if size * n_prompts <= LARGEST or size == 1
    )


def _run_chains(
    k: Single,
    n: Single,
    factors: Sequence[IntArray],
    starts: FloatArray,
    rng: np.random.Generator,
    draws: int,
    sweeps: int,
) -> Iterator[Single]:
    """Yield the shares of some chains after each sweep: each (chains, N).

    Parameters
    ----------
    starts : (chains,) variances to start from
    sweeps : of each draw
    """
    first_effects = _Effects(factors[0], FIRST_SCALE, starts)
    other_effects = [_Effects(groups, SCALE, starts) for groups in factors[1:]]
    rests = _Effects(np.arange(k.size), SCALE, starts)
    logits = _Logits(k, n, len(starts))
    mean = logits.values.mean(axis=1, dtype=np.float64)
    centre = np.repeat(_column(mean), k.size, axis=1)
    renewed, renewal_interval = [first_effects, *other_effects], TRIAL
    for sweep in range(-WARM_UP, draws * sweeps):
        logits.step(centre, rests.variance, rng)
        centre -= _column(mean) + first_effects.of_prompts
        mean = first_effects.draw_with_mean(logits.values - centre, rests.variance, mean, rng)
        centre += _column(mean) + first_effects.of_prompts
        for effect in other_effects:
            centre -= effect.of_prompts
            effect.draw(logits.values - centre, rests.variance, rng)
            centre += effect.of_prompts
        rests.draw_variance(logits.values - centre, rng)
        if sweep == -WARM_UP // 2:
            for effect in (first_effects, *other_effects, rests):
                effect.trials.clear()
        if sweep == 0:
            renewed = [effect for effect in renewed if effect.accepted > SOMETIMES_ACCEPTED]
            renewal_interval = _sweeps_for_renewal(first_effects, rests, sweeps)
        if renewal_interval and sweep % renewal_interval == 0:
            mean, shift = logits.shift_mean(mean, rng)
            centre += shift
            for effect in renewed:
                centre -= effect.of_prompts
                logits.renew(effect, rng)
                centre += effect.of_prompts
            rests.set_values(logits.values - centre)
            logits.renew(rests, rng)
        if sweep >= 0:
            yield logits.shares


def _sweeps_for_renewal(first: _Effects, rest: _Effects, sweeps: int) -> int:
    """Return the number of sweeps between renewals of the effects.

    It is 0 if the other steps do well without renewals.
    """
    if rest.accepted < OFTEN_ACCEPTED:
        return 0
    return sweeps if first.accepted > OFTEN_ACCEPTED else SELDOM * sweeps


def _column(values: FloatArray) -> Single:
    return np.asarray(values, dtype=np.float32)[:, None]


def _total(values: Single) -> FloatArray:
    return np.asarray(values.sum(axis=1, dtype=np.float64))


def _distinct(factors: Sequence[IntArray]) -> list[IntArray]:
    """Return the first factor and those whose groups differ from those of earlier factors.

    A factor with one group, or with a group for each prompt, is left out.
    """
    distinct = [factors[0]]
    for groups in factors[1:]:
        n_groups = np.unique(groups).size
        if 1 < n_groups < groups.size and not any(
            _same_groups(groups, earlier) for earlier in distinct
        ):
            distinct.append(groups)
    return distinct


def _same_groups(groups: IntArray, others: IntArray) -> bool:
    n_pairs = np.unique(groups * (others.max() + 1) + others).size
    return n_pairs == np.unique(groups).size == np.unique(others).size


class _Effects:
    """The effects of one factor and their variance, in every chain."""

    def __init__(self, groups: IntArray, scale: float, variance: FloatArray) -> None:
        self.groups, self.scale = groups, scale
        self.sizes = np.bincount(groups)
        shape = len(variance), self.sizes.size
        self._cells = (groups + np.arange(shape[0])[:, None] * shape[1]).reshape(-1)
        self.values: Single = np.zeros(shape, dtype=np.float32)
        self.of_prompts: Single = np.zeros((shape[0], groups.size), dtype=np.float32)
        self.variance = variance.copy()
        self.trials: list[float] = []
        "share of the chains in which each renewal was accepted"

    @property
    def accepted(self) -> float:
        """The share of the trials that were accepted."""
        return float(np.mean(self.trials))

    def draw(self, rest: Single, noise: FloatArray, rng: np.random.Generator) -> None:
        """Draw the effects and their variance, given what the other effects leave to them."""
        sums = self._sums(rest)
        effects = self._sample_effects(sums, noise, np.zeros(len(noise)), rng)
        self.draw_variance(effects, rng)
        self._set(self._rescaled(effects, sums, noise, rng))

    def draw_with_mean(
        self, rest: Single, noise: FloatArray, mean: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw the effects together with their mean, which is returned, and their variance."""
        sums = self._sums(rest)
        effects = self._sample_effects(sums, noise, mean, rng)
        weight = effects.shape[1] / self.variance + 1 / MEAN_SD**2
        new_mean = effects.sum(axis=1) / self.variance / weight
        new_mean += rng.standard_normal(len(weight)) / np.sqrt(weight)
        effects -= new_mean[:, None]
        self.draw_variance(effects, rng)
        self._set(self._rescaled(effects, sums - self.sizes * new_mean[:, None], noise, rng))
        return np.asarray(new_mean)

    def draw_variance(self, values: FloatArray | Single, rng: np.random.Generator) -> None:
        """Draw the variance of effects, given their values: (chains, G)."""
        squares = np.einsum("cg,cg->c", values, values, dtype=np.float64)
        shape = (values.shape[1] + 1) / 2
        mixing = (1 / self.variance + 1 / self.scale**2) / rng.gamma(1.0, size=len(squares))
        self.variance = (squares / 2 + 1 / mixing) / rng.gamma(shape, size=len(squares))

    def draw_near_zero(
        self, slope: FloatArray, curvature: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return a new variance and new effects, as if their likelihoods were quadratic.

        The variance takes Metropolis steps on its density without the effects, which are then drawn
        given it.

        Parameters
        ----------
        slope, curvature : (chains, G) of the log likelihood of each effect at 0
        """
        variance = self.variance
        density = self._log_density(variance, slope, curvature)
        for size in VARIANCE_STEPS:
            new_variance = variance * np.exp(size * rng.standard_normal(len(variance)))
            new_density = self._log_density(new_variance, slope, curvature)
            accepted = -rng.standard_exponential(len(variance)) < new_density - density
            variance = np.where(accepted, new_variance, variance)
            density = np.where(accepted, new_density, density)
        precision = curvature + 1 / variance[:, None]
        noise = rng.standard_normal(slope.shape)
        return variance, slope / precision + noise / np.sqrt(precision)

    def _log_density(
        self, variance: FloatArray, slope: FloatArray, curvature: FloatArray
    ) -> FloatArray:
        """Return the log density of the log variance.

        Effects are integrated out of a quadratic likelihood.
        """
        ratio = 1 + variance[:, None] * curvature
        fit = slope**2 * variance[:, None] / ratio - np.log(ratio)
        prior = np.log(variance) / 2 - np.log1p(variance / self.scale**2)
        return np.asarray(fit.sum(axis=1) / 2 + prior)

    def set_values(self, values: Single) -> None:
        """Set the effects of a factor whose every prompt is a group of its own."""
        self.values = values
        self.of_prompts = values

    def sums(self, values: Single) -> FloatArray:
        """Return the sums of values of prompts over each group: (chains, G)."""
        if self.sizes.size == self.groups.size:
            return values.astype(np.float64)
        return self._sums(values)

    def keep(
        self, accepted: BoolArray, variance: FloatArray, values: Single, of_prompts: Single
    ) -> None:
        """Replace the variance and the effects of the chains in which they are accepted."""
        self.trials.append(float(accepted.mean()))
        self.variance = np.where(accepted, variance, self.variance)
        self.values = np.where(accepted[:, None], values, self.values)
        self.of_prompts = np.where(accepted[:, None], of_prompts, self.of_prompts)

    def _sums(self, rest: Single) -> FloatArray:
        shape = self.values.shape
        sums = np.bincount(self._cells, rest.reshape(-1), minlength=shape[0] * shape[1])
        return np.asarray(sums.reshape(shape), dtype=np.float64)

    def _rescaled(
        self, values: FloatArray, sums: FloatArray, noise: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the effects times a random factor, which moves their variance, too.

        The factor is drawn given the pattern of the effects.

        Variance and effects hold each other where both are small; this step moves them together
        (interweaving, Yu and Meng 2011). The factor is normal given the pattern, but for the prior
        of the standard deviation.
        """
        information = (values**2 * self.sizes).sum(axis=1) / noise + 1e-12
        centre = (values * sums).sum(axis=1) / noise / information
        factor = centre + rng.standard_normal(len(centre)) / np.sqrt(information)
        squares = self.variance / self.scale**2
        ratio = np.log1p(squares) - np.log1p(factor**2 * squares)
        accepted = -rng.standard_exponential(len(ratio)) < ratio
        factor = np.where(accepted & (np.abs(factor) > 1e-6), factor, 1.0)
        self.variance = self.variance * factor**2
        return values * factor[:, None]

    def _sample_effects(
        self, sums: FloatArray, noise: FloatArray, mean: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        precision = self.sizes / noise[:, None] + 1 / self.variance[:, None]
        centres = (sums / noise[:, None] + (mean / self.variance)[:, None]) / precision
        return np.asarray(centres + rng.standard_normal(centres.shape) / np.sqrt(precision))

    def _set(self, values: FloatArray) -> None:
        self.values = values.astype(np.float32)
        self.of_prompts = self.values[:, self.groups]


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """The likelihood of the answers at some logits.

    It has the log density, share and information of each prompt, each (chains, N).
    """

    density: Single
    share: Single
    information: Single


class _Logits:
    """The logit of every prompt in every chain."""

    def __init__(self, hits: Single, trials: Single, chains: int) -> None:
        self._hits, self._trials = hits, trials
        start: Single = np.log((hits + 0.5) / (trials - hits + 0.5))
        self.values: Single = np.tile(start, (chains, 1))
        self._likelihood = self._at(self.values)

    @property
    def shares(self) -> Single:
        return self._likelihood.share

    def step(self, centre: Single, variance: FloatArray, rng: np.random.Generator) -> None:
        """Take one Metropolis step from every logit. `variance`: of the rests, in each chain."""
        precision = _column(1 / variance)
        old = self._likelihood
        ahead, old_precision = self._proposal(self.values, old, centre, precision)
        new_values = ahead + rng.standard_normal(ahead.shape, dtype=np.float32) / np.sqrt(
            old_precision
        )
        new = self._at(new_values)
        back, new_precision = self._proposal(new_values, new, centre, precision)
        prior = ((self.values - centre) ** 2 - (new_values - centre) ** 2) * (precision / 2)
        forth = np.log(old_precision) - old_precision * (new_values - ahead) ** 2
        return_ = np.log(new_precision) - new_precision * (self.values - back) ** 2
        ratio = new.density - old.density + prior + (return_ - forth) / 2
        accepted = -rng.standard_exponential(ratio.shape, dtype=np.float32) < ratio
        self._keep(accepted, new_values, new)

    def shift_mean(self, mean: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, Single]:
        """Shift the logits of a chain with their mean by a Newton step.

        Return the new mean and the shift.
        """
        old = self._likelihood
        ahead, old_precision = self._mean_proposal(mean, old)
        shift = ahead + rng.standard_normal(len(mean)) / np.sqrt(old_precision)
        new_mean = mean + shift
        new_values = self.values + _column(shift)
        new = self._at(new_values)
        back, new_precision = self._mean_proposal(new_mean, new)
        gain = _total(new.density - old.density) + (mean**2 - new_mean**2) / (2 * MEAN_SD**2)
        forth = np.log(old_precision) - old_precision * (shift - ahead) ** 2
        return_ = np.log(new_precision) - new_precision * (shift + back) ** 2
        accepted = -rng.standard_exponential(len(mean)) < gain + (return_ - forth) / 2
        self._keep(accepted[:, None], new_values, new)
        return np.where(accepted, new_mean, mean), _column(np.where(accepted, shift, 0.0))

    def renew(self, effect: _Effects, rng: np.random.Generator) -> None:
        """Draw the variance and the effects of a factor anew, all together, with the rests held."""
        remaining = self.values - effect.of_prompts
        zero = self._at(remaining)
        slope = effect.sums(self._hits - self._trials * zero.share)
        curvature = effect.sums(zero.information)
        variance, effects = effect.draw_near_zero(slope, curvature, rng)
        new_effects = effects.astype(np.float32)
        of_prompts = new_effects[:, effect.groups]
        new_values = remaining + of_prompts
        new = self._at(new_values)
        old_fit = (slope * effect.values - curvature * effect.values**2 / 2).sum(axis=1)
        new_fit = (slope * new_effects - curvature * new_effects**2 / 2).sum(axis=1)
        gain = _total(new.density - self._likelihood.density) - (new_fit - old_fit)
        accepted = -rng.standard_exponential(len(gain)) < gain
        self._keep(accepted[:, None], new_values, new)
        effect.keep(accepted, variance, new_effects, of_prompts)

    def _mean_proposal(
        self, mean: FloatArray, likelihood: _Likelihood
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the precision of the shift that is proposed: a Newton step."""
        precision = _total(likelihood.information) + 1 / MEAN_SD**2
        slope = _total(self._hits - self._trials * likelihood.share) - mean / MEAN_SD**2
        return np.clip(slope / precision, -LONGEST_STEP, LONGEST_STEP), precision

    def _keep(self, accepted: BoolArray, new_values: Single, new: _Likelihood) -> None:
        old = self._likelihood
        self.values = np.where(accepted, new_values, self.values)
        self._likelihood = _Likelihood(
            np.where(accepted, new.density, old.density),
            np.where(accepted, new.share, old.share),
            np.where(accepted, new.information, old.information),
        )

    def _at(self, x: Single) -> _Likelihood:
        small = np.exp(-np.abs(x))
        share = np.where(x >= 0, 1, small) / (1 + small)
        log_sum = np.log(1 + small) + np.maximum(x, 0)  # of 1 + exp(x)
        n = self._trials
        return _Likelihood(self._hits * x - n * log_sum, share, n * share * (1 - share))

    def _proposal(
        self, x: Single, likelihood: _Likelihood, centre: Single, prior_precision: Single
    ) -> tuple[Single, Single]:
        """Return the mean and the precision of what is proposed from x: a Newton step."""
        precision = likelihood.information + prior_precision
        step = (
            self._hits - self._trials * likelihood.share - (x - centre) * prior_precision
        ) / precision
        return x + np.clip(step, -LONGEST_STEP, LONGEST_STEP), precision
