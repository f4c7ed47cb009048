"""Findings that claim something beyond chance, with p adjusted within each audit and question.

A sentence on its own would be wrong in one of twenty reports, and nearly every report with a hundred tests would have
a wrong one. So a claim says its sentences only when it knows its p, adjusted over the tests of its audit. The tests of
one question, such as whether models lean, are a family of their own: true claims about another question do not make a
false one about this question more likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.domain.names import enumerated
from workbench.domain.verdicts import Estimate
from workbench.stats.hypothesis_tests import benjamini_bogomolov
from workbench.stats.resampling import NORMAL

LEVEL = 0.05
"the share of an audit's claims that is expected to be false; without any effect, the probability that it claims one"


@dataclass(frozen=True, slots=True)
class OfModel:
    """What an audit says of one model. A report says the same of several models in one sentence."""

    said: str
    "of each of them: `Lean left`"
    model: str
    "empty: the sentence is whole, as one on several models together"
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
    said: Callable[[Sequence[float]], Iterable[OfModel]]
    "takes the same p, adjusted over the audit, and returns the sentences"
    question: str
    "what is asked, such as `lean`: the tests of all findings with the same question are one family"


Finding = str | OfModel | AdjustedFinding
"a sentence on the answers as they are, or a claim"


def in_doubt(finding: Finding, doubt: str) -> Finding:
    """Return a finding with a further doubt on each of its sentences; the same if there is no doubt."""
    if not doubt or isinstance(finding, str):
        return finding
    if isinstance(finding, OfModel):
        return replace(finding, doubt="; ".join(filter(None, (finding.doubt, doubt))))

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for sentence in finding.said(adjusted):
            yield replace(sentence, doubt="; ".join(filter(None, (sentence.doubt, doubt))))

    return replace(finding, said=said)


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


@dataclass(frozen=True, slots=True)
class AuditSentences:
    """What a report says of one audit."""

    sentences: list[Sentence]
    "claims that a test shows first, the smallest p at the front; the rest in the order of its findings"
    n_tests: int
    n_shown: int
    "tests whose adjusted p is below `LEVEL`, of which a share of `LEVEL` is expected to be false"


def sentences_of(findings: Iterable[Finding]) -> AuditSentences:
    """Return the sentences of an audit, with p adjusted within each question and over the questions of the audit.

    See `benjamini_bogomolov` for the adjustment.
    """
    audit_findings = list(findings)
    claims = [finding for finding in audit_findings if isinstance(finding, AdjustedFinding)]
    adjusted = _adjusted(claims)
    lines: list[OfModel] = []
    remaining = iter(adjusted)
    for finding in audit_findings:
        if isinstance(finding, AdjustedFinding):
            lines += finding.said([next(remaining) for _ in finding.p])
        else:
            lines.append(finding if isinstance(finding, OfModel) else OfModel(finding, ""))
    n_tests = sum(math.isfinite(p) for p in adjusted)
    return AuditSentences(_merged(lines), n_tests, sum(p < LEVEL for p in adjusted))


def _adjusted(claims: Sequence[AdjustedFinding]) -> list[float]:
    """Return the adjusted p of the tests of an audit, in the order of its claims."""
    families: dict[str, list[float]] = {}
    for claim in claims:
        families.setdefault(claim.question, []).extend(claim.p)
    adjusted = benjamini_bogomolov([np.array(p, dtype=np.float64) for p in families.values()])
    remaining = {question: iter(p.tolist()) for question, p in zip(families, adjusted, strict=True)}
    return [next(remaining[claim.question]) for claim in claims for _ in claim.p]


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
    doubts = dict.fromkeys(f"{one.model}: {one.doubt}" if one.model else one.doubt for one in of if one.doubt)
    return Sentence(said, models, tuple(doubts), shown(one.p for one in of))
