"""Findings that claim something beyond chance. All that a report claims is one family of tests.

A sentence on its own would be wrong in one of twenty reports, and nearly every report with a hundred tests would hold a
wrong one. So a claim says its sentences only when it knows its p, adjusted over the whole report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.verdicts import Estimate
from workbench.stats.hypothesis_tests import benjamini_hochberg
from workbench.stats.resampling import NORMAL

LEVEL = 0.05
"at most so much of what a report claims is expected to be false, and so many reports without any effect claim one"


@dataclass(frozen=True, slots=True)
class AdjustedFinding:
    """A finding that depends on tests."""

    p: tuple[float, ...]
    "of each test, not adjusted; NaN: there is none"
    said: Callable[[Sequence[float]], Iterable[str]]
    "takes the same p, adjusted over the family, and returns the sentences"


Finding = str | AdjustedFinding
"a sentence on the answers as they are, or a claim"


def p_of(one: Estimate) -> float:
    """Return the p at which the interval's end on the side of 0 would be 0; NaN without an interval."""
    if math.isnan(one.low):
        return math.nan
    reach = abs(one.value - (one.low if one.value > 0 else one.high))
    return math.erfc(NORMAL * abs(one.value) / reach / math.sqrt(2)) if reach else float(not one.value)


def doubted(p: float) -> str:
    """Return what is added to a difference that a test does not show. p : adjusted"""
    return "" if p < LEVEL else ", which may be none"


def sentences(findings: Sequence[Iterable[Finding]]) -> tuple[list[list[str]], int]:
    """Return the sentences of several parts, their claims adjusted as one family, and the number of its tests.

    The procedure is Benjamini and Hochberg's (1995) with weights (Genovese, Roeder and Wasserman 2006, "False discovery
    control with p-value weighting"): every claim has the same weight, shared by its tests, so that a sentence on twenty
    typos costs the others no more than one on a single figure.
    """
    parts = [list(of) for of in findings]
    claims = [np.array(one.p, dtype=np.float64) for of in parts for one in of if isinstance(one, AdjustedFinding)]
    tests = [int(np.isfinite(p).sum()) for p in claims]
    share = len([n for n in tests if n]) / max(sum(tests), 1)  # of the weight of a test, if each claim had one
    weighted = [np.minimum(p * n * share, 1) for p, n in zip(claims, tests, strict=True)]
    adjusted = iter(benjamini_hochberg(np.concatenate(weighted or [np.empty(0)])).tolist())
    said = [
        [
            text
            for one in of
            for text in (one.said([next(adjusted) for _ in one.p]) if isinstance(one, AdjustedFinding) else [one])
        ]
        for of in parts
    ]
    return said, sum(tests)
