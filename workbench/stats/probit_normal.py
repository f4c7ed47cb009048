"""Random shares with known variance components: one normal variable per factor, summed and transformed by Φ.

Components on the probability scale do not determine the shape of the distribution. Here p = Φ(z) with z normal, so that
every p lies between 0 and 1, shares may accumulate at both ends, and the covariance of two p follows from the
correlation r of their z:

    C(r) = E[Φ((m + τ √r x) / √(1 + τ² (1 - r)))²] - E[Φ(z)]²,  x standard normal, z of mean m and deviation τ.

C increases with r. So the covariances that the components imply are converted to correlations one by one, and these to
components of z, which is additive. If they do not fit a normal z (a part would be negative), the part is 0, and
`components` gives the components that are drawn.

References
----------
Cario and Nelson 1997, "Modeling and generating random vectors with arbitrary marginal distributions and correlation
matrix" (NORTA): correlations of normal variables, chosen so that the transformed variables have the wanted ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from workbench.stats.arrays import FloatArray
from workbench.stats.components import (
    ORDER,
    ORDER_REST,
    ORDER_STATEMENT,
    ORDER_TEMPLATE,
    ORDER_WORDING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WITH_ORDER,
    WITHOUT_ORDER,
    WORDING,
    WORDING_TEMPLATE,
)

GRID = np.linspace(-8.0, 8.0, 401)
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"the trapezoidal rule, which is exact to rounding for smooth functions under a normal density"
CORRELATIONS = np.linspace(-1.0, 1.0, 401)
STEEPEST = 20.0
"largest standard deviation of z: nearly every share is close to 0 or 1"
FULLEST = 0.98
"largest sum of components as a share of mean (1 - mean), the variance of shares that are all 0 or 1"
NEAREST = 0.001
"smallest distance of a mean from 0 and from 1"
SHARED: Mapping[str, tuple[str, ...]] = {
    "0": (ORDER,),
    "s": (ORDER, STATEMENT, ORDER_STATEMENT),
    "t": (ORDER, TEMPLATE, ORDER_TEMPLATE),
    "sw": (ORDER, STATEMENT, ORDER_STATEMENT, WORDING, ORDER_WORDING),
    "st": (ORDER, STATEMENT, ORDER_STATEMENT, TEMPLATE, ORDER_TEMPLATE, STATEMENT_TEMPLATE),
    "swt": (*WITHOUT_ORDER, *WITH_ORDER),
}
"shared factors of two prompts -> components that they have in common"


@dataclass(frozen=True, slots=True)
class ProbitNormal:
    """A distribution from which shares of agreement are drawn."""

    mean: float
    "of z"
    sd: float
    "of z"
    parts: Mapping[str, float]
    "component -> its share of the variance of z; they add up to 1, or there are none"

    @classmethod
    def matching(cls, mean: float, components: Mapping[str, float]) -> Self:
        """Return the distribution of shares whose mean and components are closest to these.

        components : variances by name, as in `stats.components.estimates`; missing and negative ones are 0, and
        sampling is ignored
        """
        from scipy.special import ndtri

        share = min(max(mean, NEAREST), 1 - NEAREST)
        given = {name: max(0.0, components.get(name, 0.0)) for name in SHARED["swt"]}
        total = sum(given.values())
        if total <= 0:
            return cls(float(ndtri(share)), 0.0, {})
        shrink = min(1.0, FULLEST * share * (1 - share) / total)
        sd = _deviation(share, total * shrink)
        center = float(ndtri(share)) * float(np.sqrt(1 + sd * sd))
        parts = _parts(center, sd, {name: value * shrink for name, value in given.items()})
        return cls(center, sd, parts)

    @property
    def share(self) -> float:
        """The mean of the shares."""
        fixed = self.sd * np.sqrt(self.parts.get(ORDER, 0.0))
        spread = np.sqrt(1 + self.sd**2 - fixed**2)
        return float(_normal(np.array([self.mean - fixed, self.mean + fixed]) / spread).mean())

    @property
    def components(self) -> dict[str, float]:
        """The variance components of the shares, on the probability scale."""
        fixed = self.sd * float(np.sqrt(self.parts.get(ORDER, 0.0)))
        sd = float(np.sqrt(max(0.0, self.sd**2 - fixed**2)))
        drawn = {name: part * (self.sd / sd) ** 2 for name, part in self.parts.items() if name != ORDER} if sd else {}
        printed, swapped = self.mean - fixed, self.mean + fixed
        pairs = ((printed, printed), (swapped, swapped), (printed, swapped))
        curves = [_covariances(first, second, sd) for first, second in pairs]
        same, other = (
            {kind: _at(_sum(drawn, kind, sign), of) for kind in SHARED}
            for sign, of in ((1, (curves[0] + curves[1]) / 2), (-1, curves[2]))
        )
        found = _apart(same, other)
        means = [float(_normal(np.array(mean / np.sqrt(1 + sd**2)))) for mean in (printed, swapped)]
        return found | {ORDER: ((means[1] - means[0]) / 2) ** 2}

    def draw(self, rng: np.random.Generator, statements: int, wordings: int, templates: int, orders: int) -> FloatArray:
        """Return shares: (S, W, T, O)."""
        s, w, t = statements, wordings, templates
        level = {STATEMENT: (s, 1, 1), WORDING: (s, w, 1), TEMPLATE: (1, 1, t), STATEMENT_TEMPLATE: (s, 1, t)}
        level[WORDING_TEMPLATE] = (s, w, t)
        half = {ORDER_STATEMENT: (s, 1, 1), ORDER_WORDING: (s, w, 1), ORDER_TEMPLATE: (1, 1, t), ORDER_REST: (s, w, t)}
        z = np.full((s, w, t, orders), self.mean)
        z += self._effects(rng, level, (s, w, t))[..., None]
        fixed = self.sd * np.sqrt(self.parts.get(ORDER, 0.0))
        z += (fixed + self._effects(rng, half, (s, w, t)))[..., None] * np.array([-1.0, 1.0][:orders])
        return _normal(z)

    def _effects(
        self, rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]], whole: tuple[int, ...]
    ) -> FloatArray:
        total = np.zeros(whole)
        for name, shape in shapes.items():
            if part := self.parts.get(name, 0.0):
                total += self.sd * np.sqrt(part) * rng.standard_normal(shape)
        return total


def _normal(z: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    return np.asarray(ndtr(z), dtype=np.float64)


def _covariances(first: float, second: float, sd: float) -> FloatArray:
    """Return C(r) for `CORRELATIONS` and z with two means; for a negative r the second z falls as the first rises."""
    r = np.abs(CORRELATIONS)[:, None]
    rest = np.sqrt(1 + sd * sd * (1 - r))
    reach = sd * np.sqrt(r) * GRID
    product = _normal((first + reach) / rest) * _normal((second + np.sign(CORRELATIONS)[:, None] * reach) / rest)
    means = _normal(np.array([first, second]) / np.sqrt(1 + sd * sd))
    return np.asarray(product @ DENSITY - means.prod())


def _at(correlation: float, curve: FloatArray) -> float:
    return float(np.interp(correlation, CORRELATIONS, curve))


def _deviation(share: float, variance: float) -> float:
    """Return the standard deviation of z at which shares with this mean have this variance, by bisection."""
    from scipy.special import ndtri

    low, high = 0.0, STEEPEST
    for _ in range(60):
        sd = (low + high) / 2
        p = _normal(float(ndtri(share)) * np.sqrt(1 + sd * sd) + sd * GRID)
        low, high = (sd, high) if p**2 @ DENSITY - share**2 < variance else (low, sd)
    return (low + high) / 2


def _sum(of: Mapping[str, float], kind: str, sign: int) -> float:
    """Return the covariance of two prompts of a kind; sign 1: in the same label order, -1: in different orders."""
    return sum((sign if name in WITH_ORDER else 1) * of.get(name, 0.0) for name in SHARED[kind])


def _parts(mean: float, sd: float, components: Mapping[str, float]) -> dict[str, float]:
    """Return the parts of the variance of z whose shares have these components."""
    curve = _covariances(mean, mean, sd)
    same, other = (
        {kind: float(np.interp(_sum(components, kind, sign), curve, CORRELATIONS)) for kind in SHARED}
        for sign in (1, -1)
    )
    found = {name: max(0.0, value) for name, value in _apart(same, other).items() if components[name] > 0}
    total = sum(found.values())
    return {name: value / total for name, value in found.items()}


def _apart(same: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return components from covariances of prompts in the same and in different label orders.

    Prompts that share no factor still share the order effect: positive in the same order, negative in different orders.
    """
    level, half = ({kind: (same[kind] + sign * other[kind]) / 2 for kind in SHARED} for sign in (1, -1))
    none = half["0"]
    half = {kind: value - none for kind, value in half.items()}
    statement, wording, template, cross, rest = _in_turn(level)
    of_order = _in_turn(half)
    named = dict(zip(WITHOUT_ORDER, (statement, wording, template, cross, rest), strict=True))
    return named | dict(zip(WITH_ORDER, (none, *of_order[:3], of_order[3] + of_order[4]), strict=True))


def _in_turn(k: Mapping[str, float]) -> tuple[float, float, float, float, float]:
    return (
        k["s"],
        k["sw"] - k["s"],
        k["t"],
        k["st"] - k["s"] - k["t"],
        k["swt"] - k["sw"] - k["st"] + k["s"],
    )
