"""Variance components of shares over statements, wordings, templates and label orders.

They are on the probability scale.

The share of agreement of a prompt is

    p[s, w, t, o] = mean + order[o] + s + t + w(s) + s x t + w x t + the interactions of s, t and w
    with the order

for statement s, wording w of that statement (nested: no wording belongs to two statements),
template t and label order o. Statement, wording and template are random factors; the order is a
fixed factor with two levels. The effects of the other factors are means over both orders, and an
interaction with the order is the variance of half the difference between the orders. A share over n
answers adds sampling, p (1 - p) / n.

Components come from pairs of prompts. Half the mean squared difference of two prompts that share
some of s, w and t is the sum of the components of the factors that they do not share, even with
missing prompts, so each component is a combination of a few such means (symmetric differences; in a
complete design they are the estimators of the analysis of variance). Sampling variance is
subtracted prompt by prompt: q = y (1 - y) / (n - 1) has the mean p (1 - p) / n for every p, so y² -
q is an unbiased estimate of p². The estimate of a small component may be negative; it stays
negative here, because it is unbiased.

References
----------
Koch 1968, "Some further remarks concerning 'A general approach to the estimation of variance
components'", Technometrics 10(3) (symmetric differences). Searle, Casella and McCulloch 1992,
Variance Components, chapters 4 and 5. Brennan 2001, Generalizability Theory, chapters 3, 5 and 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import FloatArray, IntArray

STATEMENT, WORDING, TEMPLATE, SAMPLING = "statement", "wording", "template", "sampling"
STATEMENT_TEMPLATE, WORDING_TEMPLATE = "statement x template", "wording x template"
ORDER = "label order"
ORDER_STATEMENT, ORDER_WORDING, ORDER_TEMPLATE = (
    "order x statement",
    "order x wording",
    "order x template",
)
ORDER_REST = "order x all else"
WITHOUT_ORDER = (STATEMENT, WORDING, TEMPLATE, STATEMENT_TEMPLATE, WORDING_TEMPLATE)
WITH_ORDER = (ORDER, ORDER_STATEMENT, ORDER_WORDING, ORDER_TEMPLATE, ORDER_REST)
COMPONENTS = (*WITHOUT_ORDER, *WITH_ORDER, SAMPLING)


@dataclass(frozen=True, eq=False)
class Cells:
    """The measured share of every prompt. Stances on negated wordings are reversed already."""

    value: FloatArray
    "(S, W, T, O): share of agreement; NaN if missing. O is 1 or 2"
    noise: FloatArray
    "(S, W, T, O): unbiased estimate of the sampling variance of the value; 0 if the value is exact"
    strata: IntArray | None = None
    """(S,): statements are compared only within their stratum, so that means of strata are fixed;
    None: one stratum"""

    def __post_init__(self) -> None:
        if (
            self.value.ndim != 4
            or self.value.shape != self.noise.shape
            or self.value.shape[3] not in (1, 2)
        ):
            raise ValueError(
                "expected values and noise of one shape (S, W, T, 1 or 2), found "
                f"{self.value.shape}"
            )

    @property
    def known(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """The mask of the prompts that count: (S, W, T, O)."""
        return np.asarray(np.isfinite(self.value) & np.isfinite(self.noise))

    def of(self, statements: IntArray) -> Cells:
        """Return the cells of some statements."""
        strata = None if self.strata is None else self.strata[statements]
        return Cells(self.value[statements], self.noise[statements], strata)

    @cached_property
    def answered(self) -> IntArray:
        """The statements with at least one prompt that counts."""
        return np.flatnonzero(self.known.any(axis=(1, 2, 3)))

    @cached_property
    def facets(self) -> tuple[bool, bool, bool]:
        """Whether wordings, templates and label orders can be compared.

        They can if they differ within any statement.
        """
        counted = self.known
        levels_per_statement = (
            counted.any(axis=(2, 3)).sum(axis=1),
            counted.any(axis=(1, 3)).sum(axis=1),
        )
        orders = counted.all(axis=3).any() if counted.shape[3] == 2 else False
        return (
            bool((levels_per_statement[0] > 1).any()),
            bool((levels_per_statement[1] > 1).any()),
            bool(orders),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The components that the design can separate."""
        wordings, templates, orders = self.facets
        is_separable = {
            STATEMENT: True,
            WORDING: wordings,
            TEMPLATE: templates,
            STATEMENT_TEMPLATE: templates,
        }
        is_separable |= {
            WORDING_TEMPLATE: wordings and templates,
            ORDER: orders,
            ORDER_STATEMENT: orders,
        }
        is_separable |= {ORDER_WORDING: orders and wordings, ORDER_TEMPLATE: orders and templates}
        is_separable |= {ORDER_REST: orders and templates}
        return tuple(name for name, separable in is_separable.items() if separable)


def estimates(cells: Cells, weights: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return every component with its raw sign for given weights of the statements.

    A component is NaN if no pair shows it.

    Parameters
    ----------
    weights : (R, S), how often each statement counts, one resample per row. Two copies of a
        statement never form a pair of different statements. None: each statement once

    Returns
    -------
    (R,) for each name of `COMPONENTS`. Components that the design cannot separate are 0 and
    included in the one above them. `sampling` is the mean over the prompts of the noise of their
    values.
    """
    sums = _Sums.of(cells)
    weight_rows = np.ones((1, len(cells.value))) if weights is None else weights
    half_squares = {kind: sums.differences(weight_rows, kind) for kind in ("same", "other")}
    same_order, other_order = (_shared(differences) for differences in half_squares.values())
    orders = cells.facets[2]
    level = {
        name: (same_order[name] + other_order[name]) / 2 if orders else same_order[name]
        for name in same_order
    }
    components = dict(zip(WITHOUT_ORDER, _parts(level), strict=True))
    if orders:
        half = _parts({name: (same_order[name] - other_order[name]) / 2 for name in same_order})
        between = (half_squares["other"]["0"] - half_squares["same"]["0"]) / 2
        components |= dict(zip(WITH_ORDER, (between, *half[:3], half[3] + half[4]), strict=True))
    else:
        components |= {name: np.zeros(len(weight_rows)) for name in WITH_ORDER}
    return components | {SAMPLING: sums.noise(weight_rows)}


def _shared(apart: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the covariance of each kind of pair.

    It is the difference between pairs that share nothing and pairs of that kind.
    """
    return {kind: apart["0"] - apart[kind] for kind in ("t", "s", "st", "sw", "swt")}


def _parts(k: Mapping[str, FloatArray]) -> tuple[FloatArray, ...]:
    """Return statement, wording, template, statement x template and wording x template.

    They are computed from covariances.
    """
    cross = k["st"] - k["s"] - k["t"]
    return k["s"], k["sw"] - k["s"], k["t"], cross, k["swt"] - k["sw"] - k["st"] + k["s"]


Form = tuple[FloatArray, FloatArray]
"a sum over pairs of half their squared difference, and the number of pairs"


def _same(sums: FloatArray) -> Form:
    """Return the form over ordered pairs within groups. Sums are (..., 3): n, Σ y, Σ (y² - q)."""
    n, y, square = np.moveaxis(sums, -1, 0)
    return n * square - y * y, n * n


def _other(sums: FloatArray) -> Form:
    """Return the form over pairs of prompts with different orders. Sums are (..., 2, 3)."""
    (n, y, square), (m, z, other_square) = np.moveaxis(sums, (-2, -1), (0, 1))
    return (n * other_square + m * square) / 2 - y * z, n * m


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the prompts of each statement, which give the pairs of any resample."""

    by_template: FloatArray
    "(S, T, O, 3): n, Σ y, Σ (y² - q) over wordings"
    within: Mapping[str, Mapping[str, Form]]
    "same or other order -> groups s, st, sw, swt -> form over pairs within a group: (S,)"
    noises: FloatArray
    "(S, 2): Σ q and n"
    strata: IntArray
    facets: tuple[bool, bool, bool]

    @classmethod
    def of(cls, cells: Cells) -> _Sums:
        counted = cells.known
        y = np.where(counted, cells.value, 0.0)
        q = np.where(counted, cells.noise, 0.0)
        terms = np.stack([counted.astype(np.float64), y, y * y - q], axis=-1)  # (S, W, T, O, 3)
        groups = {"s": (1, 2), "st": (1,), "sw": (2,), "swt": ()}
        summed = {name: terms.sum(axis=axes) if axes else terms for name, axes in groups.items()}
        within: dict[str, dict[str, Form]] = {"same": {}, "other": {}}
        for name, group_sums in summed.items():
            within["same"][name] = _each_statement(_same(group_sums))
            if cells.facets[2]:
                within["other"][name] = _each_statement(_other(group_sums))
        strata = np.zeros(len(y), dtype=np.int64) if cells.strata is None else cells.strata
        noises = np.stack([q.sum(axis=(1, 2, 3)), counted.sum(axis=(1, 2, 3))], axis=-1)
        return cls(summed["st"], within, noises, strata, cells.facets)

    def noise(self, weights: FloatArray) -> FloatArray:
        total, n = np.moveaxis(weights @ self.noises, -1, 0)
        return _over(total, n)

    def differences(self, weights: FloatArray, kind: str) -> dict[str, FloatArray]:
        """Return half the mean squared difference of pairs that share these factors and no other.

        Each is (R,). A facet with one level is not a factor: pairs that share it are used as pairs
        that do not.
        """
        wordings, templates, orders = self.facets
        if kind == "other" and not orders:
            return {name: np.zeros(len(weights)) for name in ("0", "t", "s", "st", "sw", "swt")}
        weighted_forms = {
            name: [weights @ sums for sums in form] for name, form in self.within[kind].items()
        }
        twice = {
            name: [weights**2 @ sums for sums in self.within[kind][name]] for name in ("s", "st")
        }
        all_pairs, same_template = self._between(weights, kind)
        t = [a - b for a, b in zip(same_template, twice["st"], strict=True)]
        pairs = {
            "t": t,
            "0": [a - b - c for a, b, c in zip(all_pairs, twice["s"], t, strict=True)],
            "s": [
                a - b - c + d
                for a, b, c, d in zip(
                    weighted_forms["s"],
                    weighted_forms["sw"],
                    weighted_forms["st"],
                    weighted_forms["swt"],
                    strict=True,
                )
            ],
            "st": [a - b for a, b in zip(weighted_forms["st"], weighted_forms["swt"], strict=True)],
            "sw": [a - b for a, b in zip(weighted_forms["sw"], weighted_forms["swt"], strict=True)],
        }
        differences = {name: _over(*form) for name, form in pairs.items()}
        itself = np.zeros(len(weights)) if kind == "same" else _over(*weighted_forms["swt"])
        return _collapsed(differences | {"swt": itself}, wordings, templates)

    def _between(self, weights: FloatArray, kind: str) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the forms over all pairs of a stratum, and over pairs with the same template.

        Both include pairs within a statement.
        """
        form = _same if kind == "same" else _other
        all_pairs, same_template = (
            [np.zeros(len(weights)) for _ in range(2)],
            [np.zeros(len(weights)) for _ in range(2)],
        )
        shape = self.by_template.shape[1:]
        for stratum in np.unique(self.strata):
            in_stratum = self.strata == stratum
            sums = (
                weights[:, in_stratum]
                @ self.by_template[in_stratum].reshape(int(in_stratum.sum()), -1)
            ).reshape(-1, *shape)
            for target, group_sums in ((all_pairs, sums.sum(axis=1)), (same_template, sums)):
                for index, form_part in enumerate(form(group_sums)):
                    target[index] += form_part.reshape(len(weights), -1).sum(axis=1)
        return all_pairs, same_template


def _each_statement(form: Form) -> Form:
    total, pairs = (array.reshape(len(array), -1).sum(axis=1) for array in form)
    return total, pairs


def _over(total: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return a mean over pairs, or NaN without pairs.

    Weighted pairs never count between 0 and 1e-9.
    """
    return np.asarray(np.divide(total, pairs, out=np.full(total.shape, np.nan), where=pairs > 1e-9))


def _collapsed(
    sums: dict[str, FloatArray], wordings: bool, templates: bool
) -> dict[str, FloatArray]:
    if not templates:
        sums |= {"0": sums["t"], "s": sums["st"], "sw": sums["swt"]}
    if not wordings:
        sums |= {"s": sums["sw"], "st": sums["swt"]}
    return sums


NAN = float("nan")
FEW = "too few for an interval"
UNSAMPLED = "no sampling: the answers to each prompt agree, or are probabilities"
FEWEST_STATEMENTS, FEWEST_TEMPLATES = 6, 3
"with fewer there is no interval"
MOST = 0.25
"the largest variance of shares: that of shares that are 0 and 1 equally often"
TAIL = 0.005
"""of Williams' interval, on either side: means of templates are skewed if the mean share is near 0
or 1"""
LEAST_AGAINST = 2.0
"""with fewer statements' worth of answers against the majority, no component but sampling has an
interval"""
ALIKE = "too much alike for an interval"
"begins the reason; the number of statements' worth that there are follows"
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
    "the reason why there is no interval, or no value"
    n: int = 0
    "number of statements"
    most: float = np.inf
    "the largest possible variance"

    @property
    def value(self) -> float:
        """The estimate as shown: at least 0, and at most the largest possible variance.

        It is NaN if no pair of prompts shows it.
        """
        return min(max(0.0, self.raw), self.most) if np.isfinite(self.raw) else NAN

    @property
    def sd(self) -> Estimate:
        """The standard deviation, the root of the component, with its interval."""
        if not np.isfinite(self.raw):
            return Estimate(NAN, NAN, NAN, self.n, 0, self.why)
        value, low, high = (float(np.sqrt(end)) for end in (self.value, self.low, self.high))
        interval_name = "" if np.isnan(low) else "component of variance"
        return Estimate(value, low, high, self.n, interval=interval_name, few=self.why)


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
        return next((component for component in self.components if component.name == name), None)

    @property
    def variances(self) -> dict[str, float]:
        """Component -> its estimate, 0 or more."""
        return {
            component.name: component.value
            for component in self.components
            if np.isfinite(component.raw)
        }

    @property
    def total(self) -> float:
        """The variance of one prompt's measured share: all components that are not negative."""
        return sum(self.variances.values())


def beyond(components: Iterable[tuple[str, Component]]) -> Iterator[str]:
    """Yield a sentence naming the components whose estimates are impossible as variances.

    `components` are pairs of a title and a component.
    """
    titled = list(components)
    if negative := [title for title, component in titled if component.raw < 0]:
        yield f"estimated below 0, shown as 0: {', '.join(negative)}"
    if too_large := [title for title, component in titled if component.raw > component.most]:
        yield (
            "estimated above the largest variance that there can be, shown as that: "
            f"{', '.join(too_large)}"
        )


def decompose(cells: Cells, most: float = MOST, lowest: float = 0.0) -> Decomposition:
    """Return every component that the design can separate, with its interval.

    If nearly all answers agree, the few statements that differ decide how large a component is, and
    a sample that lacks them shows neither the component nor its error. With 8 to 15 statements and
    a mean share of .9, intervals held 65 to 87 % of the components of statements. So there is none
    if the answers of the minority, over all statements of a stratum, are worth fewer than
    `LEAST_AGAINST` statements.

    Parameters
    ----------
    most, lowest : the largest variance that values can have, and the least value; 0.25 and 0 for
        shares
    """
    answered = cells.answered
    used_cells = _with_templates(cells.of(answered))
    value, counted = used_cells.value, used_cells.known
    s, _, t, _ = value.shape
    orders = 2 if used_cells.facets[2] else 1
    shift = _order_shift(used_cells)
    counts = {
        "mean": float(value[counted].mean()) if counted.any() else NAN,
        "statements": s,
        "prompts": int(counted.sum()),
    }
    wordings = float(counted.any(axis=(2, 3)).sum(axis=1).mean()) if s else 0.0
    if s < 2:
        components = tuple(
            Component(name, NAN, NAN, NAN, "fewer than two statements")
            for name in (STATEMENT, SAMPLING)
        )
    else:
        components = tuple(_components(used_cells, shift, most, lowest))
    return Decomposition(
        components, **counts, wordings=wordings, templates=t, orders=orders, order_shift=shift
    )


def _with_templates(cells: Cells) -> Cells:
    """Return the cells without templates that no prompt uses."""
    used = np.flatnonzero(cells.known.any(axis=(0, 1, 3)))
    return Cells(cells.value[:, :, used], cells.noise[:, :, used], cells.strata)


def _components(cells: Cells, shift: Estimate, most: float, lowest: float) -> Sequence[Component]:
    value, n = cells.value, len(cells.value)
    n_against = _against(cells, most, lowest)
    enough = len(value) >= FEWEST_STATEMENTS and (_several(cells) or not cells.facets[1])
    alike_reason = ""
    if enough and n_against < LEAST_AGAINST:
        alike_reason = (
            f"{ALIKE}: the answers of minorities are worth {n_against:.1f} statements; it "
            f"takes {LEAST_AGAINST:g}"
        )
    raw_by_name = {
        name: _unless_rounding(float(values[0])) for name, values in estimates(cells).items()
    }
    statements = estimates(cells, 1 - np.eye(len(value)))
    templates = (
        [estimates(_without(cells, t)) for t in range(value.shape[2])] if _several(cells) else None
    )
    components = []
    for name in (*cells.names, SAMPLING):
        raw = raw_by_name[name]
        if name == SAMPLING and not cells.noise[cells.known].any():
            components.append(Component(name, 0.0, NAN, NAN, UNSAMPLED, n))
            continue
        if not np.isfinite(raw):
            components.append(Component(name, NAN, NAN, NAN, "no two prompts show it", n))
            continue
        low, high, reason = NAN, NAN, alike_reason if name != SAMPLING else ""
        if enough and not reason:
            without_templates = (
                None
                if templates is None
                else np.array([float(without_template[name][0]) for without_template in templates])
            )
            low, high = _interval(
                name, raw, cells, (statements[name], without_templates), shift, most
            )
        components.append(
            Component(name, raw, low, high, "" if np.isfinite(low) else reason or FEW, n, most)
        )
    return components


def _against(cells: Cells, most: float, lowest: float) -> float:
    """Return the sum over statements of the share of answers against their stratum's majority."""
    share = (_mean(cells.value, (1, 2, 3)) - lowest) / (2 * most**0.5)
    strata = np.zeros(len(share)) if cells.strata is None else cells.strata
    sums = [
        (float(share[strata == stratum].sum()), int((strata == stratum).sum()))
        for stratum in np.unique(strata)
    ]
    return sum(min(total, n - total) for total, n in sums)


def _unless_rounding(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else value


def _several(cells: Cells) -> bool:
    return cells.facets[1] and cells.value.shape[2] >= FEWEST_TEMPLATES


def _without(cells: Cells, template: int) -> Cells:
    return Cells(
        np.delete(cells.value, template, 2), np.delete(cells.noise, template, 2), cells.strata
    )


def _interval(
    name: str,
    raw: float,
    cells: Cells,
    left_out: tuple[FloatArray, FloatArray | None],
    shift: Estimate,
    most: float,
) -> tuple[float, float]:
    """Return the ends of a component's interval, limited to possible variances."""
    if name in (TEMPLATE, ORDER_TEMPLATE):
        low, high = williams(raw, _template_means(cells, name), len(cells.value))
    elif name == ORDER:
        low, high = _squared(shift)
    else:
        low, high = jackknifed(raw, *left_out)
    return (NAN, NAN) if np.isnan(low) else (min(max(low, 0.0), most), min(max(high, 0.0), most))


def jackknifed(
    raw: float, statements: FloatArray, templates: FloatArray | None
) -> tuple[float, float]:
    """Return the interval of a component from jackknife estimates.

    `statements` has the estimates without each statement, `templates` those without each template.

    The lower end is Student's. The upper one is on the logarithm, as that of a variance, and no
    less than that of a component as large as its reach: one below its error would have an end that
    is too low. Statements that differ much in their influence count as fewer degrees of freedom, (S
    - 1) 3 / kurtosis.
    """
    from scipy.special import stdtrit

    parts = [
        estimates_without
        for estimates_without in (statements, templates)
        if estimates_without is not None
    ]
    if any(not np.isfinite(estimates_without).all() for estimates_without in parts):
        return NAN, NAN
    variances = [float((len(x) - 1) / len(x) * ((x - x.mean()) ** 2).sum()) for x in parts]
    total = sum(variances)
    if total <= ROUNDING**2:
        return raw, raw
    freedoms = [
        (len(x) - 1) * (min(1.0, 3 / _kurtosis(x)) if x is statements else 1.0) for x in parts
    ]
    freedom = total**2 / sum(v**2 / df for v, df in zip(variances, freedoms, strict=True))
    away = float(stdtrit(max(1.0, freedom), 0.975)) * float(np.sqrt(total))
    return raw - away, _above(raw, away)


def _kurtosis(values: FloatArray) -> float:
    """Return the fourth moment over the square of the second, or 1 if nothing varies."""
    away = values - values.mean()
    square = float((away**2).mean())
    return float((away**4).mean()) / square**2 if square > 0 else 1.0


def _above(value: float, away: float) -> float:
    """Return value exp(away / value) for a value of at least `away`.

    It is the upper end on the logarithm.
    """
    base = max(value, away)
    return base * float(np.exp(away / base))


def williams(raw: float, means: FloatArray, statements: int) -> tuple[float, float]:
    """Return Williams' interval of the variance between templates.

    V, the variance of the T means, is the component plus an error e = V - component due to
    statements. With d = T - 1 and f = (S - 1) d degrees of freedom, F and χ² their quantiles, the
    ends are (V - F e) d / χ².
    """
    from scipy.special import chdtri, fdtri

    if len(means) < FEWEST_TEMPLATES or not np.isfinite(means).all():
        return NAN, NAN
    d = len(means) - 1
    variance = float(means.var(ddof=1))
    error = max(0.0, variance - raw)
    ends = []
    for share in (1 - TAIL, TAIL):
        ratio, scale = float(fdtri(d, (statements - 1) * d, share)), float(chdtri(d, 1 - share)) / d
        ends.append((variance - ratio * error) / scale)
    return ends[0], ends[1]


def _template_means(cells: Cells, name: str) -> FloatArray:
    """Return the mean of each template, or half the difference between its label orders: (T,)."""
    by_order = _mean(cells.value, (0, 1))
    if by_order.shape[1] == 1:
        return by_order[:, 0]
    return np.asarray(
        by_order.mean(axis=1) if name == TEMPLATE else (by_order[:, 1] - by_order[:, 0]) / 2
    )


def _squared(shift: Estimate) -> tuple[float, float]:
    """Return the interval of (shift / 2)².

    The upper end is on the logarithm if the shift is not within its reach of 0.
    """
    if np.isnan(shift.low):
        return NAN, NAN
    size, away = abs(shift.value), (shift.high - shift.low) / 2
    low, high = max(0.0, size - away), _above(size, away) if size > away else size + away
    return low**2 / 4, high**2 / 4


def _order_shift(cells: Cells) -> Estimate:
    if not cells.facets[2]:
        return Estimate(NAN, NAN, NAN, 0, 0, "one label order was asked")
    return crossed_mean(_mean(cells.value[..., 1] - cells.value[..., 0], (1,)))


def crossed_mean(values: FloatArray) -> Estimate:
    """Return the mean of values over statements and templates, both random: (S, T).

    Missing values are NaN.

    Its variance is that of the means of statements plus that of the means of templates, with
    Satterthwaite's degrees of freedom; there is no interval for fewer than six statements or for
    two templates. With one template, the interval describes that template only.
    """
    from scipy.special import stdtrit

    n = int(np.isfinite(values).any(axis=1).sum())
    if n == 0:
        return Estimate(NAN, NAN, NAN, 0, 0, "no two prompts show it")
    mean = float(np.nanmean(values))
    has_several_templates = values.shape[1] > 1
    if n < FEWEST_STATEMENTS or (has_several_templates and values.shape[1] < FEWEST_TEMPLATES):
        return Estimate(mean, NAN, NAN, n)
    means = [_mean(values, (axis,)) for axis in ((1, 0) if has_several_templates else (1,))]
    parts = [
        (float(x[np.isfinite(x)].var(ddof=1)) / np.isfinite(x).sum(), np.isfinite(x).sum() - 1)
        for x in means
    ]
    total = sum(v for v, _ in parts)
    if total <= ROUNDING**2:
        return Estimate(mean, mean, mean, n, interval="mean over templates")
    freedom = total**2 / sum(v**2 / d for v, d in parts)
    reach = float(stdtrit(freedom, 0.975)) * float(np.sqrt(total))
    return Estimate(mean, mean - reach, mean + reach, n, interval="mean over templates")


def _mean(values: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """Return the means over defined values, or NaN if none is defined."""
    defined = np.isfinite(values)
    n = defined.sum(axis=axes)
    return np.asarray(np.where(defined, values, 0.0).sum(axis=axes) / np.where(n > 0, n, np.nan))


@dataclass(frozen=True, slots=True)
class PersonaComponents:
    """The variance components of personas, or NaN if there are too few prompts for one."""

    persona: float
    "variance of the differences between personas that are the same on all statements"
    persona_statement: float
    "variance of the effects of a persona on single statements"
    persona_prompt: float
    "variance of the effects of a persona on single prompts of a statement"
    sampling: float
    "variance of the mean of a prompt's answers"
    personas: int
    statements: int
    prompts: int
    "number of prompts that count with every persona"


def persona_components(value: FloatArray, noise: FloatArray) -> PersonaComponents:
    """Return the components of (P, S, C) shares, NaN where a prompt does not count with a persona.

    Only prompts that count with every persona are used. `noise`: sampling variance of each share.

    Examples
    --------
    >>> import numpy as np
    >>> base = np.linspace(0.2, 0.6, 4)[None, :, None] + np.zeros((2, 4, 3))
    >>> moved = base + np.array([0.0, 0.2])[:, None, None]
    >>> found = persona_components(moved, np.zeros_like(moved))
    >>> round(found.persona, 4), round(found.persona_statement, 4), found.prompts
    (0.02, 0.0, 12)
    """
    personas = len(value)
    common = np.asarray(np.isfinite(value).all(axis=0))
    sizes = common.sum(axis=1)
    has_prompts = sizes > 0
    n, statements = int(sizes.sum()), int(has_prompts.sum())
    if personas < 2 or not n:
        return PersonaComponents(NAN, NAN, NAN, NAN, personas, statements, n)
    y, counted, size = (
        np.where(common, value, 0.0)[:, has_prompts],
        common[has_prompts],
        sizes[has_prompts].astype(np.float64),
    )
    sampling = float(noise[:, common].mean())
    by_statement = y.sum(axis=2) / size
    by_persona = y.sum(axis=(1, 2)) / n
    grand_mean = float(by_persona.mean())
    statement = by_statement.mean(axis=0)
    of_prompt = y.mean(axis=0)
    inner = np.where(
        counted, y - by_statement[:, :, None] - of_prompt[None] + statement[None, :, None], 0.0
    )
    crossed = by_statement - by_persona[:, None] - statement[None] + grand_mean
    df = personas - 1
    ms_prompt = _mean_square(float((inner**2).sum()), df * (n - statements))
    ms_statement = _mean_square(float((size * crossed**2).sum()), df * (statements - 1))
    ms_persona = n * float(((by_persona - grand_mean) ** 2).sum()) / df
    squares = float((size**2).sum()) / n
    mean_size = (n - squares) / (statements - 1) if statements > 1 else NAN
    prompt = ms_prompt - sampling
    residual = ms_prompt if np.isfinite(ms_prompt) else sampling
    of_statement = (ms_statement - residual) / mean_size
    return PersonaComponents(
        (ms_persona - residual - squares * of_statement) / n,
        of_statement,
        prompt,
        sampling,
        personas,
        statements,
        n,
    )


def _mean_square(total: float, df: int) -> float:
    return total / df if df > 0 else NAN


GRID = np.linspace(-8.0, 8.0, 401)
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"the trapezoidal rule, which is exact to rounding for smooth functions under a normal density"
CORRELATIONS = np.linspace(-1.0, 1.0, 401)
STEEPEST = 20.0
"largest standard deviation of z: nearly every share is close to 0 or 1"
FULLEST = 0.98
"""largest sum of components as a share of mean (1 - mean), the variance of shares that are all 0 or
1"""
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

        Parameters
        ----------
        components : variances by name, as in `stats.components.estimates`; missing and negative
            ones are 0, and sampling is ignored
        """
        from scipy.special import ndtri

        share = min(max(mean, NEAREST), 1 - NEAREST)
        variances = {name: max(0.0, components.get(name, 0.0)) for name in SHARED["swt"]}
        total = sum(variances.values())
        if total <= 0:
            return cls(float(ndtri(share)), 0.0, {})
        shrink = min(1.0, FULLEST * share * (1 - share) / total)
        sd = _deviation(share, total * shrink)
        center = float(ndtri(share)) * float(np.sqrt(1 + sd * sd))
        parts = _probit_normal_parts(
            center, sd, {name: value * shrink for name, value in variances.items()}
        )
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
        parts_without_order = (
            {
                name: share * (self.sd / sd) ** 2
                for name, share in self.parts.items()
                if name != ORDER
            }
            if sd
            else {}
        )
        printed, swapped = self.mean - fixed, self.mean + fixed
        pairs = ((printed, printed), (swapped, swapped), (printed, swapped))
        curves = [_covariances(first_mean, second_mean, sd) for first_mean, second_mean in pairs]
        same_order, other_order = (
            {kind: _at(_sum(parts_without_order, kind, sign), curve) for kind in SHARED}
            for sign, curve in ((1, (curves[0] + curves[1]) / 2), (-1, curves[2]))
        )
        components = _apart(same_order, other_order)
        means = [float(_normal(np.array(mean / np.sqrt(1 + sd**2)))) for mean in (printed, swapped)]
        return components | {ORDER: ((means[1] - means[0]) / 2) ** 2}

    def draw(
        self, rng: np.random.Generator, statements: int, wordings: int, templates: int, orders: int
    ) -> FloatArray:
        """Return shares: (S, W, T, O)."""
        level, half = _shapes(statements, wordings, templates)
        variances = {name: self.sd**2 * share for name, share in self.parts.items()}
        z = np.full((statements, wordings, templates, orders), self.mean)
        z += _effects(rng, variances, level)[..., None]
        fixed = self.sd * np.sqrt(self.parts.get(ORDER, 0.0))
        z += (fixed + _effects(rng, variances, half))[..., None] * np.array([-1.0, 1.0][:orders])
        return _normal(z)


SPREAD_DRAWN = (400, 6, 8)
"""statements, wordings and templates drawn to bring the components of a `MeasuredSpread` to those
measured"""
SPREAD_STEPS = 4
OWN = np.concatenate(
    [[NEAREST, 0.0025, 0.005], np.arange(1, 100) / 100, [0.995, 0.9975, 1 - NEAREST]]
)
"shares that a statement can have as its own"
OWN_STEPS, LEAST_ERROR = 100, 1e-5
"steps towards their distribution, and the least variance of an error"
LARGEST_Z = 9.0
"largest variance of z of one component"


@dataclass(frozen=True, eq=False, slots=True)
class MeasuredSpread:
    """A distribution from which shares are drawn whose statements differ as measured ones do.

    The own shares of statements have the distribution of those that were measured, without their
    error by wordings, templates and sampling, whatever its shape: it may have two peaks. The
    prompts of a statement are normal around that on the scale of z, as in `ProbitNormal`, with
    variances at which the shares have the measured components.
    """

    weights: FloatArray
    "how likely each share of `OWN` is as a statement's own"
    variances: Mapping[str, float]
    "of z, by component; without that of statements"
    shift: float
    "of z, from the printed order to the mean of both orders"

    @classmethod
    def measured(cls, own: FloatArray, components: Mapping[str, float]) -> Self:
        """Return the distribution of statements with these mean shares, and with these components.

        Parameters
        ----------
        own : (J,), mean share of each measured statement
        components : variances by name, as in `stats.components.estimates`; missing and negative
            ones are 0, and sampling is ignored
        """
        targets = {name: max(0.0, components.get(name, 0.0)) for name in SHARED["swt"]}
        weights = _without_error(own, targets[STATEMENT])
        normal = ProbitNormal.matching(float(weights @ OWN), targets)
        variances = {
            name: normal.sd**2 * normal.parts.get(name, 0.0)
            for name in targets
            if name not in (STATEMENT, ORDER)
        }
        shift = normal.sd * float(np.sqrt(normal.parts.get(ORDER, 0.0)))
        spread = cls(weights, variances, shift)
        for step in range(SPREAD_STEPS):
            shares = spread.draw(np.random.default_rng(step), *SPREAD_DRAWN, 2)
            drawn_variances = {
                name: float(values[0])
                for name, values in estimates(Cells(shares, np.zeros_like(shares))).items()
            }
            change = {
                name: np.clip(targets[name] / max(drawn_variances[name], 1e-6), 0.25, 4.0)
                for name in variances
            }
            spread = cls(
                weights,
                {
                    name: min(LARGEST_Z, float(variance * change[name]))
                    for name, variance in spread.variances.items()
                },
                shift,
            )
        return spread

    def draw(
        self, rng: np.random.Generator, statements: int, wordings: int, templates: int, orders: int
    ) -> FloatArray:
        """Return shares: (S, W, T, O)."""
        from scipy.special import ndtri

        around = sum(self.variances.values())
        centre = ndtri(rng.choice(OWN, statements, p=self.weights)) * np.sqrt(1 + around)
        level, half = (
            _effects(rng, self.variances, shapes)
            for shapes in _shapes(statements, wordings, templates)
        )
        z = centre[:, None, None, None] + level[..., None]
        return _normal(z + (self.shift + half)[..., None] * np.array([-1.0, 1.0][:orders]))


def _without_error(own: FloatArray, variance: float) -> FloatArray:
    """Return the probability of each share of `OWN` as a statement's share.

    It is used if measured means vary more than by `variance`.

    The excess is error; that of a mean share p is normal with a variance in proportion to p (1 -
    p). The distribution of largest likelihood (Kiefer and Wolfowitz 1956) is approached by
    expectation and maximisation from a uniform one.
    """
    scale = max(float(own.var()) - variance, LEAST_ERROR) / max(
        float((own * (1 - own)).mean()), LEAST_ERROR
    )
    error = scale * OWN * (1 - OWN)
    likely = np.exp(-((own[:, None] - OWN) ** 2) / (2 * error)) / np.sqrt(error) + 1e-300
    weights = np.full(len(OWN), 1 / len(OWN))
    for _ in range(OWN_STEPS):
        posterior = likely * weights
        weights = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.asarray(weights)


def _shapes(
    s: int, w: int, t: int
) -> tuple[dict[str, tuple[int, int, int]], dict[str, tuple[int, int, int]]]:
    """Return the shapes of the effects on the mean of both orders, and on half their difference."""
    level = {
        STATEMENT: (s, 1, 1),
        WORDING: (s, w, 1),
        TEMPLATE: (1, 1, t),
        STATEMENT_TEMPLATE: (s, 1, t),
    }
    level[WORDING_TEMPLATE] = (s, w, t)
    return level, {
        ORDER_STATEMENT: (s, 1, 1),
        ORDER_WORDING: (s, w, 1),
        ORDER_TEMPLATE: (1, 1, t),
        ORDER_REST: (s, w, t),
    }


def _effects(
    rng: np.random.Generator,
    variances: Mapping[str, float],
    shapes: Mapping[str, tuple[int, int, int]],
) -> FloatArray:
    """Return the sum of the effects on z: (S, W, T)."""
    total = np.zeros(np.broadcast_shapes(*shapes.values()))
    for name, shape in shapes.items():
        if variance := variances.get(name, 0.0):
            total += np.sqrt(variance) * rng.standard_normal(shape)
    return total


def _normal(z: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    return np.asarray(ndtr(z), dtype=np.float64)


def _covariances(first: float, second: float, sd: float) -> FloatArray:
    """Return C(r) for `CORRELATIONS` and z with two means.

    For a negative r the second z falls as the first rises.
    """
    r = np.abs(CORRELATIONS)[:, None]
    remaining_sd = np.sqrt(1 + sd * sd * (1 - r))
    reach = sd * np.sqrt(r) * GRID
    product = _normal((first + reach) / remaining_sd) * _normal(
        (second + np.sign(CORRELATIONS)[:, None] * reach) / remaining_sd
    )
    means = _normal(np.array([first, second]) / np.sqrt(1 + sd * sd))
    return np.asarray(product @ DENSITY - means.prod())


def _at(correlation: float, curve: FloatArray) -> float:
    return float(np.interp(correlation, CORRELATIONS, curve))


def _deviation(share: float, variance: float) -> float:
    """Return the standard deviation of z at which shares with this mean have this variance.

    It is found by bisection.
    """
    from scipy.special import ndtri

    low, high = 0.0, STEEPEST
    for _ in range(60):
        sd = (low + high) / 2
        p = _normal(float(ndtri(share)) * np.sqrt(1 + sd * sd) + sd * GRID)
        low, high = (sd, high) if p**2 @ DENSITY - share**2 < variance else (low, sd)
    return (low + high) / 2


def _sum(components: Mapping[str, float], kind: str, sign: int) -> float:
    """Return the covariance of two prompts of a kind.

    Sign 1 is the same label order, -1 different orders.
    """
    return sum(
        (sign if name in WITH_ORDER else 1) * components.get(name, 0.0) for name in SHARED[kind]
    )


def _probit_normal_parts(
    mean: float, sd: float, components: Mapping[str, float]
) -> dict[str, float]:
    """Return the parts of the variance of z whose shares have these components."""
    curve = _covariances(mean, mean, sd)
    same_order, other_order = (
        {
            kind: float(np.interp(_sum(components, kind, sign), curve, CORRELATIONS))
            for kind in SHARED
        }
        for sign in (1, -1)
    )
    parts = {
        name: max(0.0, value)
        for name, value in _apart(same_order, other_order).items()
        if components[name] > 0
    }
    total = sum(parts.values())
    return {name: value / total for name, value in parts.items()}


def _apart(same: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return components from covariances of prompts in the same and in different label orders.

    Prompts that share no factor still share the order effect: positive in the same order, negative
    in different orders.
    """
    level, half = (
        {kind: (same[kind] + sign * other[kind]) / 2 for kind in SHARED} for sign in (1, -1)
    )
    order_effect = half["0"]
    half = {kind: value - order_effect for kind, value in half.items()}
    statement, wording, template, cross, wording_template = _components_from_covariances(level)
    of_order = _components_from_covariances(half)
    components = dict(
        zip(WITHOUT_ORDER, (statement, wording, template, cross, wording_template), strict=True)
    )
    return components | dict(
        zip(WITH_ORDER, (order_effect, *of_order[:3], of_order[3] + of_order[4]), strict=True)
    )


def _components_from_covariances(
    covariances: Mapping[str, float],
) -> tuple[float, float, float, float, float]:
    """Return the variance components of the statement, wording, template and their interactions.

    The order is: statement, wording of a statement, template, statement with template, and wording
    with template. `covariances` has the covariance of two prompts that share the named factors.
    """
    return (
        covariances["s"],
        covariances["sw"] - covariances["s"],
        covariances["t"],
        covariances["st"] - covariances["s"] - covariances["t"],
        covariances["swt"] - covariances["sw"] - covariances["st"] + covariances["s"],
    )
