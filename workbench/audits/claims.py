"""Findings that claim something beyond chance, with p adjusted within each audit and question.

A sentence on its own would be wrong in one of twenty reports, and nearly every report with a
hundred tests would have a wrong one. So a claim makes its sentences only when its p is known,
adjusted over the tests of its audit. The tests of one question, such as whether models lean, are a
family of their own: true claims about another question do not make a false one about this question
more likely.

Claims that a frozen plan names are confirmatory: they are adjusted by Holm's procedure, over the
audit. All others are exploratory. If no claim is significant, the sentence has the effect that this
design finds in 80 % of studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.domain.names import enumerated
from workbench.domain.verdicts import Estimate
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.stats.hypothesis_tests import benjamini_bogomolov, holm
from workbench.stats.power import LEVEL as UNADJUSTED
from workbench.stats.power import (
    POWER,
    detectable,
    detectable_pairs,
    share_found,
    share_of_pairs,
    standard_error,
)
from workbench.stats.resampling import NORMAL

LEVEL = 0.05
"""the share of an audit's claims that is expected to be false; without any effect, the probability
that it claims one"""


CONFIRMATORY, EXPLORATORY = "confirmatory", "exploratory"
"a claim that a frozen plan names, and any other"


OF_STUDIES = "of studies"
"the end of the sentence on the effect that a design finds"


@dataclass(frozen=True, slots=True)
class Reach:
    """The precision of a test. It determines the effect that the test finds in 80 % of studies."""

    error: float
    "standard error of the figure; NaN: unknown, so that there is no sentence"
    largest: float
    """the largest plausible effect: if more than 20 % of studies miss it, the design cannot show
    the claim"""
    kind: Kind
    "of the figure"
    units: str
    "`8 statements`"
    claim: str
    "`a lean`"
    freedom: float = math.inf
    "degrees of freedom of Student's t; infinite for a z test"

    def effect(self, level: float) -> float:
        """Return the effect that is found in 80 % of studies, or NaN if it is unknown."""
        return detectable(self.error, self.freedom, level)

    def share(self, effect: float, level: float) -> float:
        """Return the share of studies in which an effect is found."""
        return share_found(effect, self.error, self.freedom, level)

    def shows_nothing(self, level: float = UNADJUSTED) -> bool:
        """Return whether less than 80 % of studies find even the largest plausible effect."""
        return self.effect(level) > self.largest

    def in_words(self, level: float = UNADJUSTED) -> str:
        """Return the effect that 80 % of studies find, or the share that finds the largest one.

        The largest one is the largest plausible effect. The text is empty if the effect is unknown.
        """
        effect = self.effect(level)
        if math.isnan(effect):
            return ""
        if effect <= self.largest:
            return (
                f"this design finds {_size(effect, self.kind)} in {POWER:.0%} {OF_STUDIES}".replace(
                    "%", " %"
                )
            )
        share = self.share(self.largest, level)
        return (
            f"this design finds even {_size(self.largest, self.kind)} in only "
            f"{number(share, Kind.SHARE)} {OF_STUDIES}"
        )


@dataclass(frozen=True, slots=True)
class PairsReach(Reach):
    """The precision of McNemar's exact test over pairs."""

    n_pairs: int = 0
    discordance: float = 0.0
    "share of the pairs that change whatever the difference is, half of them each way"

    def effect(self, level: float) -> float:
        return detectable_pairs(self.n_pairs, level, self.discordance)

    def share(self, effect: float, level: float) -> float:
        return share_of_pairs(effect, self.n_pairs, level, self.discordance)


def reach_of(value: Estimate, largest: float, kind: Kind, units: str, claim: str) -> Reach:
    """Return the reach of a test that the 95 % interval of an estimate stands for."""
    return Reach(standard_error(value.low, value.high), largest, kind, units, claim)


def _size(effect: float, kind: Kind) -> str:
    """Return an effect without its sign."""
    return number(effect, kind).removeprefix("+")


@dataclass(frozen=True, slots=True)
class OfModel:
    """A finding about one model. A report has one sentence for models with the same finding."""

    said: str
    "the finding on the model, the same for each of several models: `Lean left`"
    model: str
    "empty: the sentence is complete, such as one on several models together"
    value: str = ""
    "the figures that it rests on: `-0.76 [-0.85, -0.68]`"
    p: float = math.nan
    "adjusted, of a significant claim; NaN: the sentence describes, or no claim is significant"
    doubt: str = ""
    "a reason that could change it: missing answers, the reader's error"
    reach: Reach | None = None
    "of the test behind it; mentioned if the test is not significant"
    status: str = ""
    "`confirmatory` or `exploratory`; empty: no test is significant"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a report's findings, on everything or on several models."""

    said: str
    models: tuple[tuple[str, str], ...] = ()
    "(names of models, their common value); empty: the sentence is complete"
    doubts: tuple[str, ...] = ()
    p: float = math.nan
    "the smallest of its claims"
    status: str = ""
    "`confirmatory` or `exploratory`; empty: no test is significant"

    def __str__(self) -> str:
        values = "; ".join(" ".join(filter(None, name_and_value)) for name_and_value in self.models)
        text = f"{self.said}: {values}." if values else self.said
        return f"{text.removesuffix('.')} ({self.status})." if self.status else text


@dataclass(frozen=True, slots=True)
class AdjustedFinding:
    """A finding that depends on tests."""

    p: tuple[float, ...]
    "of each test, not adjusted; NaN without a test"
    said: Callable[[Sequence[float]], Iterable[OfModel]]
    "takes the same p, adjusted over the audit, and returns the sentences"
    question: str
    "the subject, such as `lean`: the tests of all findings with the same question are one family"
    about: tuple[str, ...] = ()
    "the run of each test; empty: the tests are of several runs together, and no plan can name them"


Finding = str | OfModel | AdjustedFinding
"a sentence on the answers as they are, or a claim"


def in_doubt(finding: Finding, doubt: str) -> Finding:
    """Return a finding with a further doubt on each of its sentences.

    The finding is unchanged if there is no doubt.
    """
    if not doubt or isinstance(finding, str):
        return finding
    if isinstance(finding, OfModel):
        return replace(finding, doubt="; ".join(filter(None, (finding.doubt, doubt))))

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the sentences of the finding with the doubt."""
        for sentence in finding.said(adjusted):
            yield replace(sentence, doubt="; ".join(filter(None, (sentence.doubt, doubt))))

    return replace(finding, said=said)


def p_of(difference: Estimate) -> float:
    """Return the p value at which the end of the interval on the side of 0 would be 0.

    It is NaN without an interval.
    """
    if math.isnan(difference.low):
        return math.nan
    half_width = abs(
        difference.value - (difference.low if difference.value > 0 else difference.high)
    )
    return (
        math.erfc(NORMAL * abs(difference.value) / half_width / math.sqrt(2))
        if half_width
        else float(not difference.value)
    )


def doubted(p: float) -> str:
    """Return the end of a sentence on a difference that is not significant. `p` is adjusted."""
    return "" if p < LEVEL else ", which may be none"


def shown(p: Iterable[float]) -> float:
    """Return the smallest p of a finding's claims if one is significant, or NaN.

    `p` is adjusted.
    """
    return min((claim_p for claim_p in p if claim_p < LEVEL), default=math.nan)


@dataclass(frozen=True, slots=True)
class AuditSentences:
    """The sentences of a report on one audit."""

    sentences: list[Sentence]
    "significant claims first, in the order of p; the rest in the order of the findings"
    n_tests: int
    "exploratory tests"
    n_shown: int
    """exploratory tests whose adjusted p is below `LEVEL`, of which a share of `LEVEL` is expected
    to be false"""
    n_planned: int = 0
    "confirmatory tests"
    n_confirmed: int = 0
    """confirmatory tests whose p by Holm's procedure is below `LEVEL`: the probability that any is
    false is `LEVEL`"""


Planned = Collection[tuple[str, str]]
"(question, run) of the claims that a frozen plan names"


def sentences_of(findings: Iterable[Finding], planned: Planned = ()) -> AuditSentences:
    """Return the sentences of an audit, with p adjusted within and over its questions.

    See `benjamini_bogomolov` for the adjustment. Claims that are planned are adjusted by Holm's
    procedure.
    """
    audit_findings = list(findings)
    claims = [finding for finding in audit_findings if isinstance(finding, AdjustedFinding)]
    tests = _Tests.from_claims(claims, planned)
    lines: list[OfModel] = []
    position = 0
    for finding in audit_findings:
        if not isinstance(finding, AdjustedFinding):
            lines.append(finding if isinstance(finding, OfModel) else OfModel(finding, ""))
            continue
        end = position + len(finding.p)
        family = (finding.question, any(tests.is_planned[position:end]))
        is_planned = tests.is_planned[position:end] if finding.about else []
        confirmatory = {
            run for run, in_plan in zip(finding.about, is_planned, strict=True) if in_plan
        }
        for line in finding.said(tests.adjusted[position:end]):
            own_run = line.model or (finding.about[0] if finding.about else "")
            level = tests.level(family) if line.reach is not None else LEVEL
            lines.append(_with_status(line, level, is_planned=own_run in confirmatory))
        position = end
    return AuditSentences(
        _merged(lines),
        n_tests=sum(math.isfinite(p) and not planned_test for p, planned_test in tests),
        n_shown=sum(p < LEVEL and not planned_test for p, planned_test in tests),
        n_planned=sum(math.isfinite(p) and planned_test for p, planned_test in tests),
        n_confirmed=sum(p < LEVEL and planned_test for p, planned_test in tests),
    )


class _Tests:
    """The tests of an audit, in the order of its claims."""

    def __init__(self, raw: Sequence[float], families: Sequence[tuple[str, bool]]) -> None:
        self.raw = raw
        self.families = families
        "(question, whether planned) of each test"
        self.adjusted = _adjusted(raw, families)
        self.is_planned = [is_planned for _, is_planned in families]
        self._levels: dict[tuple[str, bool], float] = {}

    def __iter__(self) -> Iterator[tuple[float, bool]]:
        return iter(zip(self.adjusted, self.is_planned, strict=True))

    @classmethod
    def from_claims(cls, claims: Sequence[AdjustedFinding], planned: Planned) -> _Tests:
        """Return the tests of some claims."""
        raw: list[float] = []
        families: list[tuple[str, bool]] = []
        for claim in claims:
            for index, p in enumerate(claim.p):
                run = claim.about[index] if claim.about else ""
                raw.append(p)
                families.append((claim.question, (claim.question, run) in planned))
        return cls(raw, families)

    def level(self, family: tuple[str, bool]) -> float:
        """Return the p, not adjusted, up to which a family's weakest test would be significant."""
        if family not in self._levels:
            self._levels[family] = self._searched_level(family)
        return self._levels[family]

    def _searched_level(self, family: tuple[str, bool]) -> float:
        """Return the level of a family, searched for by halving an interval."""
        own_indices = [
            index
            for index, other_family in enumerate(self.families)
            if other_family == family and math.isfinite(self.raw[index])
        ]
        if not own_indices:
            return LEVEL
        weakest = max(own_indices, key=lambda index: self.raw[index])
        if self.raw[weakest] < LEVEL and self.adjusted[weakest] < LEVEL:
            return LEVEL
        raw = list(self.raw)
        low, high = LEVEL / (2 * len(raw)), LEVEL
        for _ in range(HALVINGS):
            raw[weakest] = (low * high) ** 0.5
            if _adjusted(raw, self.families)[weakest] < LEVEL:
                low = raw[weakest]
            else:
                high = raw[weakest]
        return low


HALVINGS = 14
"""halvings of the interval in which the level of a family lies; the last one is a fifth of a per
cent of it"""


def _adjusted(raw: Sequence[float], families: Sequence[tuple[str, bool]]) -> list[float]:
    """Return the adjusted p of the tests of an audit."""
    adjusted = [math.nan] * len(raw)
    confirmatory = [index for index, (_, is_planned) in enumerate(families) if is_planned]
    for index, p in zip(
        confirmatory, holm(np.array([raw[index] for index in confirmatory])), strict=True
    ):
        adjusted[index] = float(p)
    indices_by_question: dict[str, list[int]] = {}
    for index, (question, is_planned) in enumerate(families):
        if not is_planned:
            indices_by_question.setdefault(question, []).append(index)
    by_family = [[raw[index] for index in indices] for indices in indices_by_question.values()]
    exploratory = benjamini_bogomolov([np.array(p, dtype=np.float64) for p in by_family])
    for indices, values in zip(indices_by_question.values(), exploratory, strict=True):
        for index, p in zip(indices, values, strict=True):
            adjusted[index] = float(p)
    return adjusted


def _with_status(line: OfModel, level: float, *, is_planned: bool) -> OfModel:
    """Return a line with its status if it is significant, or else with the effect that is found."""
    if line.p < LEVEL:
        line = replace(line, status=CONFIRMATORY if is_planned else EXPLORATORY)
    effect_text = line.reach.in_words(level) if line.reach is not None else ""
    if line.reach is None or not effect_text:
        return line
    sentence = line.said
    if line.reach.shows_nothing(level) and not line.p < LEVEL:
        sentence = f"{line.reach.units} cannot show {line.reach.claim}"
        sentence = sentence if line.model else f"{line.said} {sentence}."
    if not line.model:
        return replace(line, said=f"{sentence} {effect_text[0].upper()}{effect_text[1:]}.")
    value = f"{line.value} ({effect_text})".lstrip()
    return replace(line, said=sentence, value=value)


def _merged(findings: Iterable[OfModel]) -> list[Sentence]:
    """Return one sentence for all models with the same finding, the strongest claim first."""
    groups: dict[tuple[str, str], list[OfModel]] = {}
    for line in findings:
        groups.setdefault((line.said, line.status), []).append(line)
    sentences = [_sentence(text, status, lines) for (text, status), lines in groups.items()]
    return sorted(sentences, key=lambda sentence: 1.0 if math.isnan(sentence.p) else sentence.p)


def _sentence(claim_text: str, status: str, lines: Sequence[OfModel]) -> Sentence:
    """Return one sentence, in which each model has its own value.

    Equal counts are not those of both models together.
    """
    models = [(line.model, line.value) for line in lines if line.model and line.value]
    if without_value := [line.model for line in lines if line.model and not line.value]:
        models.append((enumerated(without_value), ""))
    models_by_doubt: dict[str, list[str]] = {}
    for line in lines:
        if line.doubt:
            models_by_doubt.setdefault(line.doubt, []).append(line.model)
    has_several_models = len({line.model for line in lines}) > 1
    doubts = [
        _doubt(doubt, names if has_several_models else [])
        for doubt, names in models_by_doubt.items()
    ]
    return Sentence(
        claim_text, tuple(models), tuple(doubts), shown(line.p for line in lines), status
    )


def _doubt(doubt: str, models: Sequence[str]) -> str:
    """Return a doubt with the models that it is about, unless there is only one model or none."""
    named_models = [model for model in models if model]
    return f"{enumerated(named_models)}: {doubt}" if named_models else doubt
