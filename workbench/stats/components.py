"""Variance components of shares over statements, wordings, templates and label orders, on the probability scale.

The share of agreement of a prompt is

    p[s, w, t, o] = mean + order[o] + s + t + w(s) + s x t + w x t + the interactions of s, t and w with the order

for statement s, wording w of that statement (nested: no wording belongs to two statements), template t and label order
o. Statement, wording and template are random factors; the order is a fixed factor with two levels. The effects of the
other factors are means over both orders, and an interaction with the order is the variance of half the difference
between the orders. A share over n answers adds sampling, p (1 - p) / n.

Components come from pairs of prompts. Half the mean squared difference of two prompts that share some of s, w and t is
the sum of the components of the factors that they do not share, even with missing prompts, so each component is a
combination of a few such means (symmetric differences; in a complete design they are the estimators of the analysis of
variance). Sampling variance is subtracted prompt by prompt: q = y (1 - y) / (n - 1) has the mean p (1 - p) / n for
every p, so y² - q is an unbiased estimate of p². The estimate of a small component may be negative; it stays negative
here, because it is unbiased.

References
----------
Koch 1968, "Some further remarks concerning 'A general approach to the estimation of variance components'",
Technometrics 10(3) (symmetric differences). Searle, Casella and McCulloch 1992, Variance Components, chapters 4 and 5.
Brennan 2001, Generalizability Theory, chapters 3, 5 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.stats.arrays import FloatArray, IntArray

STATEMENT, WORDING, TEMPLATE, SAMPLING = "statement", "wording", "template", "sampling"
STATEMENT_TEMPLATE, WORDING_TEMPLATE = "statement x template", "wording x template"
ORDER = "label order"
ORDER_STATEMENT, ORDER_WORDING, ORDER_TEMPLATE = "order x statement", "order x wording", "order x template"
ORDER_REST = "order x all else"
WITHOUT_ORDER = (STATEMENT, WORDING, TEMPLATE, STATEMENT_TEMPLATE, WORDING_TEMPLATE)
WITH_ORDER = (ORDER, ORDER_STATEMENT, ORDER_WORDING, ORDER_TEMPLATE, ORDER_REST)
COMPONENTS = (*WITHOUT_ORDER, *WITH_ORDER, SAMPLING)


@dataclass(frozen=True, eq=False)
class Cells:
    """The measured share of every prompt; stances on negated wordings are already reversed."""

    value: FloatArray
    "(S, W, T, O): share of agreement; NaN if missing. O is 1 or 2"
    noise: FloatArray
    "(S, W, T, O): unbiased estimate of the sampling variance of the value; 0 if the value is exact"
    strata: IntArray | None = None
    "(S,): statements are compared only within their stratum, so that means of strata are fixed; None: one stratum"

    def __post_init__(self) -> None:
        if self.value.ndim != 4 or self.value.shape != self.noise.shape or self.value.shape[3] not in (1, 2):
            raise ValueError(f"expected values and noise of one shape (S, W, T, 1 or 2), found {self.value.shape}")

    @property
    def known(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which prompts count: (S, W, T, O)."""
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
        """Whether wordings, templates and label orders differ within any statement, so that they can be compared."""
        known = self.known
        within = (known.any(axis=(2, 3)).sum(axis=1), known.any(axis=(1, 3)).sum(axis=1))
        orders = known.all(axis=3).any() if known.shape[3] == 2 else False
        return bool((within[0] > 1).any()), bool((within[1] > 1).any()), bool(orders)

    @property
    def names(self) -> tuple[str, ...]:
        """The components that the design can separate."""
        wordings, templates, orders = self.facets
        wanted = {STATEMENT: True, WORDING: wordings, TEMPLATE: templates, STATEMENT_TEMPLATE: templates}
        wanted |= {WORDING_TEMPLATE: wordings and templates, ORDER: orders, ORDER_STATEMENT: orders}
        wanted |= {ORDER_WORDING: orders and wordings, ORDER_TEMPLATE: orders and templates}
        wanted |= {ORDER_REST: orders and templates}
        return tuple(name for name, there in wanted.items() if there)


def estimates(cells: Cells, weights: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return every component, with its raw sign, for given weights of the statements; NaN if no pair shows it.

    Parameters
    ----------
    weights : (R, S), how often each statement counts, one resample per row. Two copies of a statement never form a
        pair of different statements. None: each statement once

    Returns
    -------
    (R,) for each name of `COMPONENTS`. Components that the design cannot separate are 0 and included in the one above
    them. `sampling` is the mean over the prompts of the noise of their values.
    """
    sums = _Sums.of(cells)
    chosen = np.ones((1, len(cells.value))) if weights is None else weights
    apart = {kind: sums.differences(chosen, kind) for kind in ("same", "other")}
    same, other = (_shared(each) for each in apart.values())
    orders = cells.facets[2]
    level = {name: (same[name] + other[name]) / 2 if orders else same[name] for name in same}
    found = dict(zip(WITHOUT_ORDER, _parts(level), strict=True))
    if orders:
        half = _parts({name: (same[name] - other[name]) / 2 for name in same})
        between = (apart["other"]["0"] - apart["same"]["0"]) / 2
        found |= dict(zip(WITH_ORDER, (between, *half[:3], half[3] + half[4]), strict=True))
    else:
        found |= {name: np.zeros(len(chosen)) for name in WITH_ORDER}
    return found | {SAMPLING: sums.noise(chosen)}


def _shared(apart: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the covariance of each kind of pair: the difference between pairs that share nothing and pairs of that
    kind.
    """
    return {kind: apart["0"] - apart[kind] for kind in ("t", "s", "st", "sw", "swt")}


def _parts(k: Mapping[str, FloatArray]) -> tuple[FloatArray, ...]:
    """Return statement, wording, template, statement x template, wording x template from covariances."""
    cross = k["st"] - k["s"] - k["t"]
    return k["s"], k["sw"] - k["s"], k["t"], cross, k["swt"] - k["sw"] - k["st"] + k["s"]


Form = tuple[FloatArray, FloatArray]
"a sum over pairs of half their squared difference, and the number of pairs"


def _same(sums: FloatArray) -> Form:
    """Return the form over ordered pairs within groups; sums are (..., 3): n, Σ y, Σ (y² - q)."""
    n, y, square = np.moveaxis(sums, -1, 0)
    return n * square - y * y, n * n


def _other(sums: FloatArray) -> Form:
    """Return the form over pairs of prompts with different orders; sums are (..., 2, 3)."""
    (n, y, square), (m, z, other) = np.moveaxis(sums, (-2, -1), (0, 1))
    return (n * other + m * square) / 2 - y * z, n * m


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the prompts of each statement, from which the pairs of any resample are computed."""

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
        known = cells.known
        y = np.where(known, cells.value, 0.0)
        q = np.where(known, cells.noise, 0.0)
        each = np.stack([known.astype(np.float64), y, y * y - q], axis=-1)  # (S, W, T, O, 3)
        groups = {"s": (1, 2), "st": (1,), "sw": (2,), "swt": ()}
        summed = {name: each.sum(axis=axes) if axes else each for name, axes in groups.items()}
        within: dict[str, dict[str, Form]] = {"same": {}, "other": {}}
        for name, of in summed.items():
            within["same"][name] = _each_statement(_same(of))
            if cells.facets[2]:
                within["other"][name] = _each_statement(_other(of))
        strata = np.zeros(len(y), dtype=np.int64) if cells.strata is None else cells.strata
        noises = np.stack([q.sum(axis=(1, 2, 3)), known.sum(axis=(1, 2, 3))], axis=-1)
        return cls(summed["st"], within, noises, strata, cells.facets)

    def noise(self, weights: FloatArray) -> FloatArray:
        total, n = np.moveaxis(weights @ self.noises, -1, 0)
        return _over(total, n)

    def differences(self, weights: FloatArray, kind: str) -> dict[str, FloatArray]:
        """Return half the mean squared difference of the pairs that share these factors and no other: (R,) each.

        A facet with one level is not a factor: pairs that share it are used as pairs that do not.
        """
        wordings, templates, orders = self.facets
        if kind == "other" and not orders:
            return {name: np.zeros(len(weights)) for name in ("0", "t", "s", "st", "sw", "swt")}
        of = {name: [weights @ part for part in form] for name, form in self.within[kind].items()}
        twice = {name: [weights**2 @ part for part in self.within[kind][name]] for name in ("s", "st")}
        every, same_template = self._between(weights, kind)
        t = [a - b for a, b in zip(same_template, twice["st"], strict=True)]
        pairs = {
            "t": t,
            "0": [a - b - c for a, b, c in zip(every, twice["s"], t, strict=True)],
            "s": [a - b - c + d for a, b, c, d in zip(of["s"], of["sw"], of["st"], of["swt"], strict=True)],
            "st": [a - b for a, b in zip(of["st"], of["swt"], strict=True)],
            "sw": [a - b for a, b in zip(of["sw"], of["swt"], strict=True)],
        }
        found = {name: _over(*form) for name, form in pairs.items()}
        itself = np.zeros(len(weights)) if kind == "same" else _over(*of["swt"])
        return _collapsed(found | {"swt": itself}, wordings, templates)

    def _between(self, weights: FloatArray, kind: str) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the forms over all pairs of a stratum, and over pairs with the same template; both include pairs
        within a statement.
        """
        form = _same if kind == "same" else _other
        every, same = [np.zeros(len(weights)) for _ in range(2)], [np.zeros(len(weights)) for _ in range(2)]
        shape = self.by_template.shape[1:]
        for stratum in np.unique(self.strata):
            there = self.strata == stratum
            sums = (weights[:, there] @ self.by_template[there].reshape(int(there.sum()), -1)).reshape(-1, *shape)
            for into, of in ((every, sums.sum(axis=1)), (same, sums)):
                for at, part in enumerate(form(of)):
                    into[at] += part.reshape(len(weights), -1).sum(axis=1)
        return every, same


def _each_statement(form: Form) -> Form:
    total, pairs = (part.reshape(len(part), -1).sum(axis=1) for part in form)
    return total, pairs


def _over(total: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return a mean over pairs; NaN without pairs. Counts of weighted pairs are never between 0 and 1e-9."""
    return np.asarray(np.divide(total, pairs, out=np.full(total.shape, np.nan), where=pairs > 1e-9))


def _collapsed(found: dict[str, FloatArray], wordings: bool, templates: bool) -> dict[str, FloatArray]:
    if not templates:
        found |= {"0": found["t"], "s": found["st"], "sw": found["swt"]}
    if not wordings:
        found |= {"s": found["sw"], "st": found["swt"]}
    return found
