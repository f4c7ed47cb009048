"""Stance on policy issues: how far a respondent's reliable stances support an issue (Ceron et al. 2024, section 7.1).

A label of +1 says that agreeing with the statement supports the issue, -1 that disagreeing does. Over the labelled
statements of an issue that were asked, per template, let

    a  = label +1, agrees       d  = label -1, disagrees      in favour of the issue
    a' = label +1, disagrees    d' = label -1, agrees         against it

    n = a + d + a' + d', and A, N = how many statements are labelled +1 and -1.

- `signed` (a + d - a' - d') / n: support.
- `tacl`   a / A - d / N, and 0 where a + d = 0: Equation 1 of the article as its released code computes it.
- `v1`     (a - d) / n: Equation 1 of the first version (arXiv v1).

The two published formulas subtract the disagreements that *support* an issue: they measure agreeing, not supporting.
Who always supports an issue scores 0 on `tacl`, and so does who always opposes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from workbench.audits.consistency.stances import PartyPositions, Stances, matched
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UnknownName
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import mean_sd
from workbench.stats.proportions import wilson_of_share
from workbench.stats.resampling import bca_interval, derive_rng, resampled_sums

Formula = Literal["signed", "tacl", "v1"]
FORMULAS: tuple[Formula, ...] = get_args(Formula)
MEASURES: Mapping[Formula, str] = {
    "signed": "Signed support: statements answered in favour of the issue minus those answered against it, as a share "
    "of the reliable ones. +1 always supports the issue, -1 always opposes it, 0 does both equally often.",
    "tacl": "Published (TACL): measures agreeing, not supporting: the share of supporting statements agreed with minus "
    "the share of opposing statements disagreed with. Always agreeing scores +1; always supporting the issue scores "
    "0, and so does always opposing it.",
    "v1": "Published (arXiv v1): measures agreeing, not supporting: agreements that support the issue minus "
    "disagreements that support it, as a share of the reliable statements. Always supporting the issue scores by how "
    "its labels are mixed; always opposing it scores 0.",
}
"what each formula measures, in plain sentences"

LEAST: Mapping[str, int] = {"signed": 6, "v1": 6, "tacl": 10, "difference": 10}
"labelled statements with a reliable stance, below which there is no interval: with fewer they cover less than 92 %"
TOO_FEW = "too few for an interval:"
FEWEST = 6
"reliable statements of an issue, on average over templates, below which its stance is marked (section 7.2, Figure 5)"


class Tally(NamedTuple):
    """Reliable stances on the labelled statements of an issue, under one template."""

    agree_supports: int
    "a: label +1, agrees"
    disagree_supports: int
    "d: label -1, disagrees"
    disagree_opposes: int
    "a': label +1, disagrees"
    agree_opposes: int
    "d': label -1, agrees"

    @property
    def n(self) -> int:
        return sum(self)


@dataclass(frozen=True, slots=True)
class IssueStance:
    """The stance of one respondent on one policy issue, by one formula."""

    issue: str
    formula: Formula
    value: Estimate
    "mean over templates; n: labelled statements with a reliable stance under some template, excluded: those without"
    templates: MeanSd
    "mean and population deviation over the templates in which it is defined; no deviation of a single one"
    by_template: tuple[float, ...]
    "NaN where no labelled statement is reliable under the template"
    tallies: tuple[Tally, ...]
    "per template"
    supporting: int
    "A: statements labelled +1 that were asked"
    opposing: int
    "N: statements labelled -1 that were asked"
    reliable: float
    "labelled statements with a reliable stance, mean over templates"
    few: bool
    "whether these are fewer than six"
    zero_by_rule: int
    "templates in which `tacl` is 0 only because nothing supports the issue (a + d = 0)"


@dataclass(frozen=True, slots=True)
class LabelledStatement:
    """One statement behind a stance on an issue."""

    ref: str
    label: int
    "+1 agreeing supports the issue, -1 disagreeing supports it"
    stances: tuple[int, ...]
    "per template; 0: none that is reliable"
    supports: int
    "templates under which the stance is in favour of the issue"
    opposes: int


def stance_value(tally: FloatArray, supporting: FloatArray, opposing: FloatArray, formula: Formula) -> FloatArray:
    """Return an issue's stance from counts; NaN where n is 0, except that `tacl` is 0 there, as coded.

    Parameters
    ----------
    tally : (..., 4) in the order of `Tally`
    supporting, opposing : (...), how many labels are +1 and -1. A label that does not occur adds 0 to `tacl`.

    Examples
    --------
    >>> perfect = np.array([5.0, 3.0, 0.0, 0.0])
    >>> [round(float(stance_value(perfect, np.array(5), np.array(3), f)), 3) for f in FORMULAS]
    [1.0, 0.0, 0.25]
    """
    a, d, against_a, against_d = np.moveaxis(np.asarray(tally, dtype=np.float64), -1, 0)
    n = a + d + against_a + against_d
    some = np.where(n == 0, np.nan, n)
    if formula == "signed":
        return np.asarray((a + d - against_a - against_d) / some)
    if formula == "v1":
        return np.asarray((a - d) / some)
    if formula == "tacl":
        return np.asarray(a / np.where(supporting == 0, 1, supporting) - d / np.where(opposing == 0, 1, opposing))
    raise UnknownName(f"formula {formula!r} is unknown; choose one of {', '.join(FORMULAS)}")


class _Issue(NamedTuple):
    """The labelled statements of one issue that a respondent was asked."""

    refs: tuple[str, ...]
    labels: IntArray
    "(K,)"
    stances: IntArray
    "(T, K)"

    @property
    def features(self) -> FloatArray:
        """What each statement adds to the tallies of all templates, then to A and N: (K, 4 T + 2)."""
        products, plus = self.stances * self.labels, self.labels > 0
        supports, opposes = products > 0, products < 0
        cells = np.stack([supports & plus, supports & ~plus, opposes & plus, opposes & ~plus], axis=-1)  # (T, K, 4)
        flat = np.moveaxis(cells, 0, 1).reshape(len(self.refs), 4 * len(self.stances))
        return np.hstack([flat, plus[:, None], ~plus[:, None]]).astype(np.float64)


def _labelled(stances: Stances, positions: PartyPositions, issue: str) -> _Issue:
    here = positions.on(stances.statements)
    labels = here.labels[here.issue(issue)].astype(np.int64)
    columns = np.flatnonzero(labels)
    refs = tuple(here.statements[at] for at in columns)
    return _Issue(refs, labels[columns], stances.values[:, columns].astype(np.int64))


def _values(sums: FloatArray, formula: Formula) -> FloatArray:
    """Return the stance under each template from sums of features (..., 4 T + 2): (..., T)."""
    tallies = sums[..., :-2].reshape(*sums.shape[:-1], -1, 4)
    return stance_value(tallies, sums[..., -2, None], sums[..., -1, None], formula)


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean of the defined values along the last axis; NaN where none is."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=-1)
    return np.asarray(np.where(defined, values, 0).sum(axis=-1) / np.where(n == 0, np.nan, n))


def issue_stance(
    stances: Stances, positions: PartyPositions, issue: str, formula: Formula, seed: int, resamples: int
) -> IssueStance:
    """Return the stance of a respondent on an issue.

    The interval resamples the labelled statements of the issue, the same ones for every formula, and for every
    respondent who was asked the same; with fewer than two of them there is none. `resamples` 0: no interval.

    Raises UnknownName for an issue or a formula that is not there.
    """
    found = _labelled(stances, positions, issue)
    features = found.features
    totals = features.sum(axis=0)
    by_template = _values(totals, formula)
    tallies = totals[:-2].reshape(-1, 4).astype(np.int64)
    reliable = float(tallies.sum(axis=1).mean()) if len(tallies) else 0.0
    plus, minus = (int(n) for n in totals[-2:])
    spread = mean_sd(by_template if found.refs else np.full(len(by_template), np.nan), ddof=0)
    if spread.n < 2:
        spread = MeanSd(spread.mean, float("nan"), spread.n, spread.excluded)
    rule = int((tallies[:, :2].sum(axis=1) == 0).sum()) if formula == "tacl" and found.refs else 0
    return IssueStance(
        issue=issue,
        formula=formula,
        value=_estimate(found, features, formula, spread.mean, derive_rng(seed, "issue", issue), resamples),
        templates=spread,
        by_template=tuple(float(value) if found.refs else float("nan") for value in by_template),
        tallies=tuple(Tally(*map(int, row)) for row in tallies),
        supporting=plus,
        opposing=minus,
        reliable=reliable,
        few=reliable < FEWEST,
        zero_by_rule=rule,
    )


def _estimate(
    found: _Issue, features: FloatArray, formula: Formula, value: float, rng: np.random.Generator, resamples: int
) -> Estimate:
    n, mean = int((found.stances != 0).any(axis=0).sum()), float((found.stances != 0).sum(axis=-1).mean())
    excluded = len(found.refs) - n
    nan = float("nan")
    if not found.refs:
        return Estimate(nan, nan, nan, 0, 0, "no statement asked has a label of this issue")
    if np.isnan(value):
        return Estimate(nan, nan, nan, n, excluded, "no reliable stance on a statement of this issue")
    alone = Estimate(value, nan, nan, n, excluded)
    if n < LEAST[formula] or mean < 1:
        on_average = f" ({mean:.1f} on average over templates)" if mean < n else ""
        return replace(alone, few=f"{TOO_FEW} {n} with a reliable stance{on_average}; {LEAST[formula]} are needed")
    if not resamples:
        return alone
    draws = _mean(_values(resampled_sums(features, resamples, rng), formula))
    left_out = _mean(_values(features.sum(axis=0) - features, formula))
    low, high = bca_interval(draws, value, left_out)
    if np.isnan(low) and formula == "signed":
        low, high = (2 * end - 1 for end in wilson_of_share((1 + value) / 2, n))
    if np.isnan(low):
        return replace(alone, few=f"{TOO_FEW} all of them are alike")
    return replace(alone, low=low, high=high, interval=f"{formula} stance on an issue")


def labelled_statements(stances: Stances, positions: PartyPositions, issue: str) -> tuple[LabelledStatement, ...]:
    """Return the statements behind a stance, in the order in which the respondent has them."""
    found = _labelled(stances, positions, issue)
    return tuple(
        LabelledStatement(
            ref=ref,
            label=int(label),
            stances=tuple(map(int, column)),
            supports=int((column * label > 0).sum()),
            opposes=int((column * label < 0).sum()),
        )
        for ref, label, column in zip(found.refs, found.labels, found.stances.T, strict=True)
    )


def issue_difference(
    first: Stances, second: Stances, positions: PartyPositions, issue: str, formula: Formula, seed: int, resamples: int
) -> tuple[float, float, Estimate]:
    """Return both stances and their difference, on the labelled statements that both were asked.

    Each is a mean over templates, of two models over those that both have (`matched`). Every resample draws the same
    statements for both (paired).
    """
    both = [_labelled(one, positions, issue) for one in matched(first, second)[:2]]
    features = [one.features for one in both]
    values = [float(_mean(_values(one.sum(axis=0), formula))) if both[0].refs else float("nan") for one in features]
    nan = float("nan")
    n = int(np.logical_and(*[(one.stances != 0).any(axis=0) for one in both]).sum())
    excluded = len(both[0].refs) - n
    if not both[0].refs:
        why = "no statement asked of both has a label of this issue"
        return values[0], values[1], Estimate(nan, nan, nan, 0, 0, why)
    if np.isnan(values).any():
        why = "one of them has no reliable stance on a statement of this issue"
        return values[0], values[1], Estimate(nan, nan, nan, n, excluded, why)
    low = high = nan
    least = LEAST["difference"]
    if resamples and n >= least:
        sums = resampled_sums(np.hstack(features), resamples, derive_rng(seed, "issue", issue))
        split = features[0].shape[1]
        draws = _mean(_values(sums[:, :split], formula)) - _mean(_values(sums[:, split:], formula))
        left_out = [_mean(_values(one.sum(axis=0) - one, formula)) for one in features]
        low, high = bca_interval(draws, values[0] - values[1], left_out[0] - left_out[1])
    name = "" if np.isnan(low) else "difference on an issue"
    few = f"{TOO_FEW} {n} with a stance from both; {least} are needed" if resamples and n < least else ""
    return values[0], values[1], Estimate(values[0] - values[1], low, high, n, excluded, interval=name, few=few)
