"""Intervals of variance components, from leaving out one statement, and one template, at a time.

A component generalises to statements and templates that were not asked, so whole statements and whole templates are
left out in turn. With v the sum of the two jackknife variances and t Student's quantile for its degrees of freedom
(Satterthwaite), the interval reaches from estimate - t √v, at least 0, to estimate x exp(t √v / estimate), as estimates
of variances are skewed; if the estimate is at most √v, to estimate + t √v. Templates are few, so the components of
templates alone have an interval from their degrees of freedom: Williams' for a variance between T templates whose means
are known up to a small error. Its upper end leaves out 0.5 % instead of 2.5 %: where templates lie near one end of the
scale, their few means are skewed and show too little variance (2.5 % covered 88 % there).

In simulations (`tests/core/component_runs.py`) these intervals covered 92-99 %. With 239 statements and six templates,
percentiles of resampled statements alone covered 26 % for the component of templates and 24-93 % for the others: more
statements do not reduce the uncertainty from few templates.

References
----------
Efron and Stein 1981, "The jackknife estimate of variance", Annals of Statistics 9(3). Satterthwaite 1946, "An
approximate distribution of estimates of variance components", Biometrics 2(6). Williams 1962, "A confidence interval
for variance components", Biometrika 49; Searle, Casella and McCulloch 1992, Variance Components, section 3.6d.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray
from workbench.stats.components import (
    ORDER,
    ORDER_TEMPLATE,
    SAMPLING,
    STATEMENT,
    TEMPLATE,
    Cells,
    estimates,
)

NAN = float("nan")
FEW = "too few for an interval"
UNSAMPLED = "no sampling: the answers to each prompt agree, or are probabilities"
FEWEST_STATEMENTS, FEWEST_TEMPLATES = 6, 3
"with fewer there is no interval"
MOST = 0.25
"the largest variance of shares: that of shares that are 0 and 1 equally often"
UPPER_TAIL = 0.005
"of Williams' interval"
ROUNDING = 1e-12
"variances below this are 0 up to rounding"


@dataclass(frozen=True, slots=True)
class Component:
    """One variance component."""

    name: str
    raw: float
    "the unbiased estimate, which may be negative; NaN if no pair of prompts shows it"
    low: float
    "95 %, 0 or more; NaN: none"
    high: float
    why: str = ""
    "why there is no interval, or no value"
    n: int = 0
    "number of statements"
    most: float = np.inf
    "the largest possible variance"

    @property
    def value(self) -> float:
        """The estimate as shown: 0 if it is negative, the largest possible variance if it is above that."""
        return min(max(0.0, self.raw), self.most) if np.isfinite(self.raw) else NAN

    @property
    def sd(self) -> Estimate:
        """The standard deviation, the root of the component, with its interval."""
        if not np.isfinite(self.raw):
            return Estimate(NAN, NAN, NAN, self.n, 0, self.why)
        value, low, high = (float(np.sqrt(end)) for end in (self.value, self.low, self.high))
        named = "" if np.isnan(low) else "component of variance"
        return Estimate(value, low, high, self.n, interval=named, few=self.why)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The variance components of a model's shares."""

    components: tuple[Component, ...]
    "those that the design can separate, and sampling"
    mean: float
    "mean share over all prompts"
    statements: int
    wordings: float
    "mean number of wordings of a statement"
    templates: int
    orders: int
    prompts: int
    order_shift: Estimate
    "share with the labels swapped minus share with them printed"

    def component(self, name: str) -> Component | None:
        return next((one for one in self.components if one.name == name), None)

    @property
    def variances(self) -> dict[str, float]:
        """Component -> its estimate, 0 or more."""
        return {one.name: one.value for one in self.components if np.isfinite(one.raw)}

    @property
    def total(self) -> float:
        """The variance of one prompt's measured share: all components that are not negative."""
        return sum(self.variances.values())


def beyond(components: Iterable[tuple[str, Component]]) -> Iterator[str]:
    """Yield a sentence naming the components whose estimates are impossible as variances: (title, component)."""
    found = list(components)
    if below := [title for title, one in found if one.raw < 0]:
        yield f"estimated below 0, shown as 0: {', '.join(below)}"
    if above := [title for title, one in found if one.raw > one.most]:
        yield f"estimated above the largest variance that there can be, shown as that: {', '.join(above)}"


def decompose(cells: Cells, most: float = MOST) -> Decomposition:
    """Return every component that the design can separate, with its interval.

    most : the largest variance that values can have; 0.25 for shares
    """
    there = cells.answered
    kept = _with_templates(cells.of(there))
    value, known = kept.value, kept.known
    s, _, t, _ = value.shape
    orders = 2 if kept.facets[2] else 1
    shift = _order_shift(kept)
    counted = {"mean": float(value[known].mean()) if known.any() else NAN, "statements": s, "prompts": int(known.sum())}
    wordings = float(known.any(axis=(2, 3)).sum(axis=1).mean()) if s else 0.0
    if s < 2:
        components = tuple(
            Component(name, NAN, NAN, NAN, "fewer than two statements") for name in (STATEMENT, SAMPLING)
        )
    else:
        components = tuple(_components(kept, shift, most))
    return Decomposition(components, **counted, wordings=wordings, templates=t, orders=orders, order_shift=shift)


def _with_templates(cells: Cells) -> Cells:
    """Return the cells without templates that no prompt uses."""
    used = np.flatnonzero(cells.known.any(axis=(0, 1, 3)))
    return Cells(cells.value[:, :, used], cells.noise[:, :, used], cells.strata)


def _components(cells: Cells, shift: Estimate, most: float) -> Sequence[Component]:
    value, n = cells.value, len(cells.value)
    found = {name: _unless_rounding(float(each[0])) for name, each in estimates(cells).items()}
    statements = estimates(cells, 1 - np.eye(len(value)))
    templates = [estimates(_without(cells, t)) for t in range(value.shape[2])] if _several(cells) else None
    made = []
    for name in (*cells.names, SAMPLING):
        raw = found[name]
        if name == SAMPLING and not cells.noise[cells.known].any():
            made.append(Component(name, 0.0, NAN, NAN, UNSAMPLED, n))
            continue
        if not np.isfinite(raw):
            made.append(Component(name, NAN, NAN, NAN, "no two prompts show it", n))
            continue
        low, high = NAN, NAN
        if len(value) >= FEWEST_STATEMENTS and (templates is not None or not cells.facets[1]):
            of = None if templates is None else np.array([float(each[name][0]) for each in templates])
            low, high = _interval(name, raw, cells, (statements[name], of), shift, most)
        made.append(Component(name, raw, low, high, "" if np.isfinite(low) else FEW, n, most))
    return made


def _unless_rounding(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else value


def _several(cells: Cells) -> bool:
    return cells.facets[1] and cells.value.shape[2] >= FEWEST_TEMPLATES


def _without(cells: Cells, template: int) -> Cells:
    return Cells(np.delete(cells.value, template, 2), np.delete(cells.noise, template, 2), cells.strata)


def _interval(
    name: str, raw: float, cells: Cells, left_out: tuple[FloatArray, FloatArray | None], shift: Estimate, most: float
) -> tuple[float, float]:
    """Return the ends of a component's interval, limited to possible variances."""
    if name in (TEMPLATE, ORDER_TEMPLATE):
        low, high = williams(raw, _template_means(cells, name), len(cells.value))
    elif name == ORDER:
        low, high = _squared(shift)
    else:
        low, high = jackknifed(raw, *left_out)
    return (NAN, NAN) if np.isnan(low) else (min(max(low, 0.0), most), min(max(high, 0.0), most))


def jackknifed(raw: float, statements: FloatArray, templates: FloatArray | None) -> tuple[float, float]:
    """Return the interval of a component from its estimates without each statement and without each template."""
    from scipy.special import stdtrit

    parts = [each for each in (statements, templates) if each is not None]
    if any(not np.isfinite(each).all() for each in parts):
        return NAN, NAN
    variances = [float((len(x) - 1) / len(x) * ((x - x.mean()) ** 2).sum()) for x in parts]
    total = sum(variances)
    if total <= ROUNDING**2:
        return raw, raw
    freedom = total**2 / sum(v**2 / (len(x) - 1) for v, x in zip(variances, parts, strict=True))
    reach, error = float(stdtrit(freedom, 0.975)), float(np.sqrt(total))
    away = reach * error
    return raw - away, raw * float(np.exp(away / raw)) if raw > error else raw + away


def williams(raw: float, means: FloatArray, statements: int) -> tuple[float, float]:
    """Return Williams' interval of the variance between templates.

    V, the variance of the T means, is the component plus an error e = V - component due to statements. With d =
    T - 1 and f = (S - 1) d degrees of freedom, F and χ² their quantiles, the ends are (V - F e) d / χ².
    """
    from scipy.special import chdtri, fdtri

    if len(means) < FEWEST_TEMPLATES or not np.isfinite(means).all():
        return NAN, NAN
    d = len(means) - 1
    variance = float(means.var(ddof=1))
    error = max(0.0, variance - raw)
    ends = []
    for share in (0.975, UPPER_TAIL):
        ratio, scale = float(fdtri(d, (statements - 1) * d, share)), float(chdtri(d, 1 - share)) / d
        ends.append((variance - ratio * error) / scale)
    return ends[0], ends[1]


def _template_means(cells: Cells, name: str) -> FloatArray:
    """Return the mean of each template, or half the difference between its label orders: (T,)."""
    by_order = _mean(cells.value, (0, 1))
    if by_order.shape[1] == 1:
        return by_order[:, 0]
    return np.asarray(by_order.mean(axis=1) if name == TEMPLATE else (by_order[:, 1] - by_order[:, 0]) / 2)


def _squared(shift: Estimate) -> tuple[float, float]:
    """Return the interval of (shift / 2)²."""
    if np.isnan(shift.low):
        return NAN, NAN
    ends = sorted((shift.low**2 / 4, shift.high**2 / 4))
    return (0.0 if shift.low <= 0 <= shift.high else ends[0]), ends[1]


def _order_shift(cells: Cells) -> Estimate:
    if not cells.facets[2]:
        return Estimate(NAN, NAN, NAN, 0, 0, "one label order was asked")
    return crossed_mean(_mean(cells.value[..., 1] - cells.value[..., 0], (1,)))


def crossed_mean(values: FloatArray) -> Estimate:
    """Return the mean of values over statements and templates, both random: (S, T), NaN for missing values.

    Its variance is that of the means of statements plus that of the means of templates, with Satterthwaite's degrees
    of freedom; there is no interval for fewer than six statements or for two templates. With one template, the interval
    describes that template only.
    """
    from scipy.special import stdtrit

    n = int(np.isfinite(values).any(axis=1).sum())
    if n == 0:
        return Estimate(NAN, NAN, NAN, 0, 0, "no two prompts show it")
    mean = float(np.nanmean(values))
    several = values.shape[1] > 1
    if n < FEWEST_STATEMENTS or (several and values.shape[1] < FEWEST_TEMPLATES):
        return Estimate(mean, NAN, NAN, n)
    means = [_mean(values, (axis,)) for axis in ((1, 0) if several else (1,))]
    parts = [(float(x[np.isfinite(x)].var(ddof=1)) / np.isfinite(x).sum(), np.isfinite(x).sum() - 1) for x in means]
    total = sum(v for v, _ in parts)
    if total <= ROUNDING**2:
        return Estimate(mean, mean, mean, n, interval="mean over templates")
    freedom = total**2 / sum(v**2 / d for v, d in parts)
    reach = float(stdtrit(freedom, 0.975)) * float(np.sqrt(total))
    return Estimate(mean, mean - reach, mean + reach, n, interval="mean over templates")


def _mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """Return means over defined values; NaN if none is defined."""
    there = np.isfinite(values)
    n = there.sum(axis=axes)
    return np.asarray(np.where(there, values, 0.0).sum(axis=axes) / np.where(n > 0, n, np.nan))
