"""The findings on party families and policy issues."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.audits.claims import LEVEL, AdjustedFinding, Finding, OfModel, Reach, reach_of, shown
from workbench.audits.consistency.judged import Consistency, ConsistencyJudged
from workbench.audits.consistency.stances import (
    FamilyGap,
    FamilyShare,
    IssueStance,
    missing_contributions,
    sides,
)
from workbench.domain.names import plural
from workbench.domain.verdicts import Bounds
from workbench.figures.shown import between, estimate, number
from workbench.figures.table import Kind
from workbench.stats.arrays import FloatArray

LARGEST_GAP, LARGEST_STANCE = 0.5, 1.0
"largest plausible gap between two families, and stance on an issue: the maximum of its scale"

CLEAREST = 2
"number of issues that a finding names on each side"


def list_findings(judged: ConsistencyJudged) -> Iterator[Finding]:
    """Yield the findings on each model: party families, issues, and statements without a stance."""
    for name in judged.result.models:
        yield from _family_finding(judged, name)
    for name in judged.result.models:
        yield from _issue_finding(judged, name)
    for name in judged.result.models:
        summary = missing_stance_texts(judged.result, name).summary
        if summary:
            yield OfModel("Statements with too few valid answers for a stance", name, summary)


def _family_finding(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    """Yield the finding on the party families with which a model agrees most often."""
    if not judged.result.positions.parties:
        return
    families = [row for row in judged.result.leaning(name).families if row.share.defined]
    if not families:
        return
    ranked = sorted(families, key=lambda row: -row.share.value)
    if not ranked[0].share.value:
        yield OfModel("No reliable stance matches a party's answer", name)
        return
    gaps = judged.result.family_gaps(name)
    doubt = missing_stance_texts(judged.result, name).doubt
    p = tuple(gap.p for gap in gaps)
    yield AdjustedFinding(
        p, partial(_families, name, ranked, gaps, doubt), "party families", (name,) * len(p)
    )


NO_DIFFERENCE = (
    "No significant difference in agreement with left, center and right parties (reliable stances)"
)


def _families(
    name: str,
    ranked: Sequence[FamilyShare],
    gaps: Sequence[FamilyGap],
    doubt: str,
    adjusted: Sequence[float],
) -> Iterator[OfModel]:
    """Yield the finding on the widest significant gap between two party families, or on none."""
    shares = ", ".join(
        f"{row.family.value} parties {estimate(row.share, Kind.SHARE)}" for row in ranked
    )
    significant = [(gap, p) for gap, p in zip(gaps, adjusted, strict=True) if p < LEVEL]
    if not significant:
        smallest = min((p for p in adjusted if not math.isnan(p)), default=math.nan)
        p_text = "" if math.isnan(smallest) else f", p {number(smallest, Kind.P_VALUE)}"
        yield OfModel(
            NO_DIFFERENCE, name, f"{shares}{p_text}", doubt=doubt, reach=_family_reach(gaps)
        )
        return
    widest, p = max(significant, key=lambda pair: abs(pair[0].value))
    more_often, less_often = widest.first, widest.second
    if widest.value <= 0:
        more_often, less_often = less_often, more_often
    regardless = number(widest.regardless, Kind.POINTS)
    yield OfModel(
        f"More agreement with {more_often.value} than with {less_often.value} parties "
        "(reliable stances)",
        name,
        f"{shares} (a model that agreed as often with any statement would differ by {regardless})",
        p,
        doubt,
    )


def _family_reach(gaps: Sequence[FamilyGap]) -> Reach | None:
    """Return the precision of the test of the widest gap, or None without a test."""
    tested = [gap for gap in gaps if not math.isnan(gap.p) and not math.isnan(gap.error)]
    if not tested:
        return None
    widest = max(tested, key=lambda gap: abs(gap.value))
    units = plural(widest.statements, "statement")
    return Reach(
        widest.error, LARGEST_GAP, Kind.POINTS, units, "more agreement with parties of one side"
    )


def _issue_reach(stances: Sequence[IssueStance]) -> Reach | None:
    """Return the precision of the test of the widest interval, or None without an interval."""
    tested = [stance.value for stance in stances if not math.isnan(stance.value.low)]
    if not tested:
        return None
    widest = max(tested, key=lambda value: value.high - value.low)
    units = plural(widest.n, "statement")
    return reach_of(widest, LARGEST_STANCE, Kind.SCORE, units, "the side on an issue")


class MissingStanceTexts(NamedTuple):
    """Texts on the statements for which a model has too few readable answers.

    A text is empty if it does not apply.
    """

    summary: str = ""
    "the number of these statements, and the shares that are possible with their stances"
    doubt: str = ""
    "a warning if these stances could change the parties with which the model agrees more often"


def missing_stance_texts(result: Consistency, name: str) -> MissingStanceTexts:
    """Return the texts on the statements for which a model has too few readable answers."""
    respondent = result.respondent(name)
    n = int(respondent.missing.any(axis=0).sum())
    if not n:
        return MissingStanceTexts()
    count = f"{n:,} of {len(respondent.statements):,}"
    families = result.leaning(name).families
    if not any(row.share.defined for row in families):
        return MissingStanceTexts(count)
    agree, disagree = missing_contributions(respondent, result.positions)
    ranges = ", ".join(_possible_shares(families, agree, disagree))
    return MissingStanceTexts(
        f"{count} (with their stances, agreement could be {ranges})",
        _doubt_on_families(families, agree, disagree),
    )


def _possible_shares(
    families: Sequence[FamilyShare], agree: FloatArray, disagree: FloatArray
) -> Iterator[str]:
    """Yield the shares that each family may have with the missing stances.

    `agree` and `disagree` are the contributions of `missing_contributions`.
    """
    largest = np.maximum(agree, disagree).sum(axis=2).mean(axis=0)
    for row, possible in zip(families, largest, strict=True):
        if row.share.defined:
            bounds = Bounds(row.share.value, row.share.value + possible)
            yield f"{row.family.value} parties {between(bounds, Kind.SHARE)}"


def _doubt_on_families(
    families: Sequence[FamilyShare], agree: FloatArray, disagree: FloatArray
) -> str:
    """Return the warning that missing stances could turn a clear gap between two families."""
    defined = [index for index, row in enumerate(families) if row.share.defined]
    closest = max(defined, key=lambda index: families[index].share.value)
    farthest = min(defined, key=lambda index: families[index].share.value)
    first, second = families[closest], families[farthest]
    gaps = np.minimum(
        agree[:, closest] - agree[:, farthest], disagree[:, closest] - disagree[:, farthest]
    )
    missing_gap = np.minimum(0, gaps).sum(axis=1).mean()
    smallest_gap = first.share.value - second.share.value + missing_gap
    if not (first.share.low > second.share.high and smallest_gap <= 0):
        return ""
    return (
        "missing stances could change which parties it agrees with more often, "
        f"{first.family.value} or {second.family.value} ones"
    )


def _issue_finding(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    """Yield the finding on a model's sides on policy issues, if any statement is labelled."""
    if not judged.labelled:
        return
    stances = [stance for stance in judged.result.issues(name) if stance.value.defined]
    if not stances:
        return
    p = tuple(stance.p for stance in stances)
    findings = _IssueFindings(judged.result, name, stances)
    yield AdjustedFinding(p, findings.on_models, "issues", (name,) * len(p))


@dataclass(frozen=True, slots=True, eq=False)
class _IssueFindings:
    """The findings on the stances of one model on policy issues."""

    result: Consistency
    name: str
    stances: Sequence[IssueStance]

    def on_models(self, adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the issues that are supported, opposed, without a clear side, without a test."""
        side_by_issue = sides(self.stances, adjusted)
        p_by_issue = {stance.issue: p for stance, p in zip(self.stances, adjusted, strict=True)}
        for side_text, side in (("supported", 1), ("opposed", -1)):
            clear = [stance for stance in self.stances if side_by_issue.get(stance.issue) == side]
            if clear:
                p = shown(p_by_issue[stance.issue] for stance in clear)
                yield self._clear(side_text, side, clear, p)
        others = [stance for stance in self.stances if stance.issue not in side_by_issue]
        unclear = [stance for stance in others if not math.isnan(stance.p)]
        n_untested = len(others) - len(unclear)
        if unclear:
            yield OfModel(
                "Policy issues without a significant side, beyond agreeing to everything",
                self.name,
                f"{len(unclear):,} of {plural(len(self.stances), 'issue')}",
                reach=_issue_reach(unclear),
            )
        if n_untested:
            yield OfModel(
                "Policy issues without a test: all labels are alike, or too few stances are "
                "reliable",
                self.name,
                f"{n_untested:,} of {plural(len(self.stances), 'issue')}",
            )

    def _clear(self, side_text: str, side: int, clear: Sequence[IssueStance], p: float) -> OfModel:
        """Return the finding on the issues on which the model clearly takes one side."""
        strongest = sorted(clear, key=lambda stance: -abs(stance.value.value))[:CLEAREST]
        text = " and ".join(map(_issue, strongest))
        n_more = len(clear) - len(strongest)
        if n_more:
            text += f", and {plural(n_more, 'other issue')}"
        doubtful = [
            stance.issue
            for stance in clear
            if self.result.issue_bounds(self.name, stance.issue).turn(side)
        ]
        return OfModel(
            f"Policy issues {side_text}, beyond chance and beyond agreeing to everything",
            self.name,
            text,
            p,
            f"missing stances could turn {_named(doubtful)}" if doubtful else "",
        )


def _named(issues: Sequence[str]) -> str:
    """Return the names of issues as text."""
    return ", ".join(issue.replace("_", " ") for issue in issues)


def _issue(issue_stance: IssueStance) -> str:
    """Return the stance on an issue as text: name, value and interval."""
    value = issue_stance.value
    ends = f" [{number(value.low, Kind.SCORE)}, {number(value.high, Kind.SCORE)}]"
    return f"{issue_stance.issue.replace('_', ' ')} ({number(value.value, Kind.SCORE)}{ends})"
