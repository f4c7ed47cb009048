"""Findings that claim something beyond chance. All that a report claims is one family of tests.

A sentence on its own would be wrong in one of twenty reports, and nearly every report with a hundred tests would hold a
wrong one. So a claim says its sentences only when it knows its p, adjusted over the whole report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.domain.names import enumerated
from workbench.domain.verdicts import Estimate
from workbench.stats.hypothesis_tests import benjamini_hochberg
from workbench.stats.resampling import NORMAL

LEVEL = 0.05
"at most so much of what a report claims is expected to be false, and so many reports without any effect claim one"


@dataclass(frozen=True, slots=True)
class OfModel:
    """What an audit says of one model. A report says the same of several models in one sentence."""

    said: str
    "of each of them: `Lean left`"
    model: str
    value: str = ""
    "the figures that it rests on: `-0.76 [-0.85, -0.68]`"
    p: float = math.nan
    "adjusted, of a claim that a test shows; NaN: it describes, or nothing is shown"
    doubt: str = ""
    "what could change it: answers that are missing, the reader's error"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A finding of a report: a sentence on everything, or one on several models."""

    said: str
    models: tuple[tuple[str, str], ...] = ()
    "(names of models, their common value); empty: the sentence is whole"
    doubts: tuple[str, ...] = ()
    p: float = math.nan
    "the smallest of its claims"

    def __str__(self) -> str:
        values = "; ".join(" ".join(filter(None, one)) for one in self.models)
        return f"{self.said}: {values}." if values else self.said


@dataclass(frozen=True, slots=True)
class AdjustedFinding:
    """A finding that depends on tests."""

    p: tuple[float, ...]
    "of each test, not adjusted; NaN: there is none"
    said: Callable[[Sequence[float]], Iterable[str | OfModel]]
    "takes the same p, adjusted over the family, and returns the sentences"


Finding = str | OfModel | AdjustedFinding
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


def shown(p: Iterable[float]) -> float:
    """Return the smallest p of a finding's claims if a test shows one, else NaN. p : adjusted"""
    return min((one for one in p if one < LEVEL), default=math.nan)


def sentences(findings: Sequence[Iterable[Finding]]) -> tuple[list[list[Sentence]], int]:
    """Return the sentences of several parts, their claims adjusted as one family, and the number of its tests. Claims
    that a test shows come first, the smallest p at the front; the rest keeps its order.

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
    return [_merged(_said(of, adjusted)) for of in parts], sum(tests)


def _said(findings: Iterable[Finding], adjusted: Iterator[float]) -> Iterator[OfModel]:
    """Yield what is said, a sentence on no model as one without a name."""
    for one in findings:
        p = [next(adjusted) for _ in one.p] if isinstance(one, AdjustedFinding) else []
        for said in one.said(p) if isinstance(one, AdjustedFinding) else (one,):
            yield said if isinstance(said, OfModel) else OfModel(said, "", p=shown(p))


def _merged(findings: Iterable[OfModel]) -> list[Sentence]:
    """Return a sentence for all models of which the same is said, the strongest claim first."""
    groups: dict[str, list[OfModel]] = {}
    for one in findings:
        groups.setdefault(one.said, []).append(one)
    found = [_sentence(said, of) for said, of in groups.items()]
    return sorted(found, key=lambda one: 1.0 if math.isnan(one.p) else one.p)


def _sentence(said: str, of: Sequence[OfModel]) -> Sentence:
    values: dict[str, list[str]] = {}
    for one in of:
        if one.model:
            values.setdefault(one.value, []).append(one.model)
    models = tuple((enumerated(names), value) for value, names in values.items())
    doubts = dict.fromkeys(f"{one.model}: {one.doubt}" for one in of if one.doubt)
    return Sentence(said, models, tuple(doubts), shown(one.p for one in of))
