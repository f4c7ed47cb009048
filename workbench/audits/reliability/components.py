"""Where instability comes from: the variance components of a run's shares of agreement, over all and by policy issue.

Stances on wordings that negate are turned round first, by the relation of each wording; wordings of which nothing is
expected take no part. The label order and the model are fixed. Prompts with too few readable answers take no part, and
of prompts that read alike one does: two of them cannot differ, so they would hide what wordings and orders do. Where
tests that cannot fail are judged like the others, as published, all prompts take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from workbench.audits.reliability.exact import ExactReport
from workbench.audits.reliability.judge import Report, Signs
from workbench.domain.statements import Statement
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, IntArray
from workbench.stats.components import Cells, Decomposition, crossed_mean, decompose

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of all statements, or of those of a policy issue."""

    issue: str
    "empty: all statements"
    of: Decomposition
    answer: float
    "variance of a single answer of one prompt, p (1 - p), on average; NaN where nothing counts"
    readable: float
    "readable answers of a prompt that counts, on average; 0 where probabilities are exact"
    turning: Estimate
    "share of agreement with statements as they are minus that with statements turned round, after turning"
    until_settled: bool = False
    "whether prompts were asked only until their verdict was settled"


def decomposed(report: Report, statements: Mapping[str, Statement]) -> tuple[Parts, ...]:
    """Return the components of all statements, then of those labelled with each policy issue."""
    whole = cells(report)
    refs = report.counts.statements
    labels = {ref: statements[ref].issues for ref in refs if ref in statements}
    issues = sorted({issue for of in labels.values() for issue, label in of.items() if label})
    chosen = {"": np.arange(len(refs))} | {
        issue: np.array([at for at, ref in enumerate(refs) if labels.get(ref, {}).get(issue)]) for issue in issues
    }
    return tuple(_parts(report, whole, issue, at) for issue, at in chosen.items())


def cells(report: Report) -> Cells:
    """Return the shares of agreement that count, turned round, and the variance that sampling gives them."""
    counts = report.counts
    signs = counts.signs[:, :, None, None]
    leaning, readable = (_by_statement(each) for each in (report.leaning, counts.readable.astype(np.float64)))
    exact = isinstance(report, ExactReport)
    usable = _by_statement(report.enough) & (signs != 0) & (exact | (readable > 1))
    if not report.options.judge_void:
        usable &= ~_repeated(report)
    value = np.where(usable, np.where(signs < 0, 1 - leaning, leaning), np.nan)
    noise = np.zeros_like(value) if exact else value * (1 - value) / np.maximum(readable - 1, 1)
    return Cells(value, noise)


def _by_statement(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return (T, S, V, 2) as (S, V, T, 2)."""
    return np.moveaxis(values, 0, 2)


def _repeated(report: Report) -> BoolArray:
    """Return which prompts read like an earlier one of their statement, or have a blank wording: (S, V, T, 2)."""
    counts = report.counts
    found = np.zeros(_by_statement(counts.positive).shape, dtype=np.bool_)
    if counts.blank is not None:
        found |= counts.blank[:, :, None, None]
    if counts.prompts is None:
        return found
    prompts = _by_statement(counts.prompts)
    counted = _by_statement(report.enough)
    for numbers, there, repeated in zip(prompts, counted, found, strict=True):
        flat, of = np.where(there, numbers, -1).ravel(), repeated.reshape(-1)
        first = np.unique(flat, return_index=True)[1]
        again = flat >= 0
        again[first] = False
        of |= again
    return found


def _parts(report: Report, whole: Cells, issue: str, at: IntArray) -> Parts:
    of = whole.of(at)
    known = of.known
    exact = isinstance(report, ExactReport)
    readable = _by_statement(report.counts.readable)[at][known]
    p = of.value[known]
    single = p * (1 - p) if exact else p * (1 - p) * readable / np.maximum(readable - 1, 1)
    return Parts(
        issue,
        decompose(of),
        float(single.mean()) if known.any() else float("nan"),
        0.0 if exact or not known.any() else float(readable.mean()),
        _turning(of, report.counts.signs[at]),
        report.counts.until_settled is not None,
    )


def _turning(of: Cells, signs: Signs) -> Estimate:
    """Return by how much wordings as they are exceed those turned round, mean over statements and templates."""
    sides = []
    for sign in (1, -1):
        there = of.known & (signs == sign)[:, :, None, None]
        n = there.sum(axis=(1, 3))
        sides.append(np.where(there, of.value, 0.0).sum(axis=(1, 3)) / np.where(n > 0, n, np.nan))
    if not (signs == -1).any():
        return Estimate(float("nan"), float("nan"), float("nan"), 0, 0, "no wording is reversed")
    used = np.isfinite(sides[0] - sides[1]).any(axis=0)
    return crossed_mean((sides[0] - sides[1])[:, used])
