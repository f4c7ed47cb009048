"""The agreement of annotators on policy issues, and the labels that follow for each statement.

Labels are -1, 0 and +1 for each pair of statement and issue. The two versions of the paper print
one column of numbers under two names: version 1 the mean (sd) of Cohen's κ over the pairs of
annotators, the journal version Fleiss' κ of all of them. Both are computed here, each with its
interval over statements.

References
----------
Ceron et al. 2024, section 4.2: arXiv version 1, Table 3 (average pairwise Cohen's κ), and TACL,
Table 1 (Fleiss' κ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from itertools import combinations
from math import nan

import numpy as np

from workbench.domain.instruments import (
    ADJUDICATION,
    FEWEST,
    GOLD,
    IssueLabel,
    Labels,
    by_item,
    gold_labels,
    majority,
)
from workbench.domain.keys import SEED
from workbench.domain.verdicts import Estimate
from workbench.stats import agreement, contingency
from workbench.stats.agreement import ALL_EQUAL, with_interval
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

LABELS = (-1, 0, 1)
ONE_PERSON = "fewer than two people labelled it"
NO_PAIR = "no statement has labels from two people"


class LabelStanding(StrEnum):
    """The reason for a statement's label for an issue, or for its absence."""

    ADJUDICATED = "adjudicated"
    SOURCE = "source"
    "the source's own label"
    MAJORITY = "majority"
    TIED = "tied"
    "people labelled it, and none of the labels has more than half of them"
    FEW = "few"
    "too few people labelled it"


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """Two annotators on one issue.

    n = statements that both labelled, excluded = those that one of them did.
    """

    first: str
    second: str
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Cohen's κ over the pairs of annotators."""

    mean: Estimate
    """mean over the pairs that have a κ, with `undefined` if no pair has one

    Here n is the number of statements with two labels or more.
    """
    sd: float
    "sample deviation over those pairs, or NaN with fewer than two"
    pairs: tuple[AnnotatorPair, ...]

    @property
    def defined(self) -> int:
        """The number of pairs with a κ."""
        return sum(pair.kappa.defined for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Case:
    """One statement under one issue: the label of each annotator, and the result."""

    statement: str
    issue: str
    labels: tuple[tuple[str, int], ...]
    "(annotator, label), by name, without the source's own label and adjudications"
    source: int | None
    adjudicated: int | None
    gold: int | None
    standing: LabelStanding

    @property
    def tied(self) -> bool:
        """Whether more than half of the people share none of the labels, decided or not."""
        return len(self.labels) > 1 and majority(label for _, label in self.labels) is None

    @property
    def open(self) -> bool:
        """Whether somebody has to decide."""
        return self.tied and self.adjudicated is None

    @property
    def differs(self) -> bool:
        return len({label for _, label in self.labels}) > 1


@dataclass(frozen=True, slots=True)
class IssueAgreement:
    """The agreement on one issue.

    n = statements with two labels or more, excluded = all others of the instrument.
    """

    issue: str
    cohen: Pairwise
    fleiss: Estimate
    alpha: Estimate
    "Krippendorff's, nominal"
    percent: Estimate
    "share of agreeing pairs of labels"
    given: tuple[int, int, int]
    "number of times that annotators gave -1, 0, +1"
    gold: tuple[int, int, int]
    "number of statements whose gold label is -1, 0, +1"
    ties: int
    "number of statements that nobody has decided on"
    decided: int
    "number of statements with an adjudication"


@dataclass(frozen=True, slots=True)
class AnnotatorCount:
    """The progress of one annotator."""

    annotator: str
    labels: int
    complete: int
    "number of statements that have a label for every issue"


@dataclass(frozen=True, slots=True)
class IssueReport:
    """The figures of policy issues. See `issue_report`."""

    statements: int
    issues: tuple[IssueAgreement, ...]
    annotators: tuple[AnnotatorCount, ...]
    cases: tuple[Case, ...]
    "the cases that anybody labelled, by statement and issue in the instrument's order"
    outside: int
    """number of labels on issues that the scheme does not have

    They are kept, and left out of everything here.
    """
    fewest: int = FEWEST
    "number of people whose labels a gold label needs, adjudications and a source's own apart"

    @property
    def golds(self) -> int:
        """The number of cells that have a gold label."""
        return sum(case.gold is not None for case in self.cases)

    @property
    def by_one(self) -> int:
        """The number of gold labels that rest on one person's label."""
        return sum(
            case.standing is LabelStanding.MAJORITY and len(case.labels) == 1 for case in self.cases
        )

    @property
    def ties(self) -> int:
        return sum(issue.ties for issue in self.issues)


def issue_report(
    labels: Iterable[IssueLabel],
    issues: Sequence[str],
    statements: Sequence[str],
    *,
    source: bool = True,
    fewest: int = FEWEST,
    seed: int = SEED,
    resamples: int = 1000,
) -> IssueReport:
    """Return agreement per issue, and the labels that follow for each statement.

    Parameters
    ----------
    issues, statements
        Those of the instrument, in its order.
    source, fewest
        Of `gold_labels`: whether the source's own label counts before people's, and how many people
        a majority needs.
    """
    refs, names = set(statements), set(issues)
    known_labels = [label for label in labels if label.statement in refs]
    inside = [label for label in known_labels if label.issue in names]
    people = annotators(inside)
    gold = gold_labels(inside, source=source, fewest=fewest)
    cases = _cases(inside, issues, statements, gold, source)
    by_issue: dict[str, list[Case]] = {issue: [] for issue in issues}
    for case in cases:
        by_issue[case.issue].append(case)
    return IssueReport(
        statements=len(statements),
        issues=tuple(
            issue_agreement(
                issue, issue_cases, people, len(statements), seed=seed, resamples=resamples
            )
            for issue, issue_cases in by_issue.items()
        ),
        annotators=tuple(_count(name, cases, len(issues)) for name in people),
        cases=cases,
        outside=len(known_labels) - len(inside),
        fewest=fewest,
    )


def annotators(labels: Iterable[IssueLabel]) -> tuple[str, ...]:
    """Return the people who labelled, by name.

    A source's own labels and adjudications are not a person's.
    """
    return tuple(sorted({label.annotator for label in labels} - {GOLD, ADJUDICATION}))


def issue_agreement(
    issue: str,
    cases: Sequence[Case],
    people: Sequence[str],
    statements: int,
    *,
    seed: int = SEED,
    resamples: int = 1000,
) -> IssueAgreement:
    """Return the agreement of people on one issue.

    `cases` are the issue's, `statements` counts all statements.
    """
    codes = _codes(cases, people)
    missing = statements - len(codes)
    counts = Counter(label for case in cases for _, label in case.labels)
    gold = Counter(case.gold for case in cases if case.gold is not None)

    def rng(name: str) -> np.random.Generator:
        return derive_rng(seed, "issue", issue, name)

    def over_all(estimate: Estimate) -> Estimate:
        reason = ONE_PERSON if estimate.undefined == agreement.NO_UNITS else estimate.undefined
        return _bounded(replace(estimate, excluded=estimate.excluded + missing, undefined=reason))

    return IssueAgreement(
        issue=issue,
        cohen=pairwise(issue, codes, people, statements, seed, resamples),
        fleiss=over_all(agreement.fleiss_kappa(codes, rng("fleiss"), resamples)),
        alpha=over_all(agreement.krippendorff_alpha(codes, "nominal", rng("alpha"), resamples)),
        percent=over_all(agreement.percent_agreement(codes, rng("percent"), resamples)),
        given=(counts[-1], counts[0], counts[1]),
        gold=(gold[-1], gold[0], gold[1]),
        ties=sum(case.open for case in cases),
        decided=sum(case.adjudicated is not None for case in cases),
    )


def anonymous(case: Case) -> tuple[tuple[str, int], ...]:
    """Return a case's labels under letters, in an order that differs between cases.

    A is nobody in particular.
    """

    def scattered(annotator_label: tuple[str, int]) -> bytes:
        return blake2b(
            f"{case.statement}\n{case.issue}\n{annotator_label[0]}".encode(errors="replace"),
            digest_size=8,
        ).digest()

    shuffled = sorted(case.labels, key=scattered)
    return tuple((_letter(index), label) for index, (_, label) in enumerate(shuffled))


def _letter(place: int) -> str:
    """Return A … Z, then AA, AB, …"""
    first, last = divmod(place, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + last)


def _cases(
    labels: Sequence[IssueLabel],
    issues: Sequence[str],
    statements: Sequence[str],
    gold: Labels,
    source_counts: bool,
) -> tuple[Case, ...]:
    labels_by_item = by_item(labels)
    return tuple(
        _case(statement, issue, item_labels, gold.get(statement, {}).get(issue), source_counts)
        for statement in statements
        for issue in issues
        if (item_labels := labels_by_item.get((statement, issue)))
    )


def _case(
    statement: str,
    issue: str,
    label_by_annotator: Mapping[str, int],
    gold: int | None,
    source_counts: bool,
) -> Case:
    labels = tuple(
        sorted(
            (name, label)
            for name, label in label_by_annotator.items()
            if name not in (GOLD, ADJUDICATION)
        )
    )
    source, adjudicated = label_by_annotator.get(GOLD), label_by_annotator.get(ADJUDICATION)
    if adjudicated is not None:
        standing = LabelStanding.ADJUDICATED
    elif gold is not None:
        standing = (
            LabelStanding.SOURCE if source_counts and source is not None else LabelStanding.MAJORITY
        )
    else:
        is_tied = len(labels) > 1 and majority(label for _, label in labels) is None
        standing = LabelStanding.TIED if is_tied else LabelStanding.FEW
    return Case(statement, issue, labels, source, adjudicated, gold, standing)


def _count(name: str, cases: Sequence[Case], issues: int) -> AnnotatorCount:
    n_by_statement = Counter(case.statement for case in cases if name in dict(case.labels))
    return AnnotatorCount(
        name,
        n_by_statement.total(),
        sum(n_labels == issues for n_labels in n_by_statement.values()),
    )


def _codes(cases: Sequence[Case], people: Sequence[str]) -> IntArray:
    """Return the labels of cases as a matrix (statements, people), MISSING without a label.

    Cases that have no label are omitted.
    """
    column_by_name = {name: index for index, name in enumerate(people)}
    rated = [case for case in cases if case.labels]
    codes = np.full((len(rated), len(people)), MISSING, dtype=np.int64)
    for row, case in enumerate(rated):
        for name, label in case.labels:
            codes[row, column_by_name[name]] = label
    return codes


def pairwise(
    issue: str, codes: IntArray, people: Sequence[str], statements: int, seed: int, resamples: int
) -> Pairwise:
    """Return Cohen's κ of each pair, their mean and sd.

    The mean's interval resamples statements for all pairs at once. A resample in which one of the
    pairs has no κ is left out: its mean would be one of other pairs.
    """
    pairs = tuple(
        AnnotatorPair(
            people[a],
            people[b],
            _kappa(
                codes[:, [a, b]], derive_rng(seed, "issue", issue, people[a], people[b]), resamples
            ),
        )
        for a, b in combinations(range(len(people)), 2)
    )
    rated = codes[(codes != MISSING).sum(axis=1) >= 2]
    n, excluded = len(rated), statements - len(rated)
    defined_pairs = [
        columns
        for columns, pair in zip(combinations(range(len(people)), 2), pairs, strict=True)
        if pair.kappa.defined
    ]
    if not defined_pairs:
        return Pairwise(
            Estimate(nan, nan, nan, n, excluded, ALL_EQUAL if n else NO_PAIR), nan, pairs
        )
    summary = mean_sd([pair.kappa.value for pair in pairs])
    size = len(LABELS)

    def mean_kappa(sums: FloatArray) -> FloatArray:
        pair_kappas = contingency.kappa(
            sums.reshape(*sums.shape[:-1], len(defined_pairs), size, size)
        )
        return np.asarray(pair_kappas.mean(axis=-1), dtype=np.float64)

    features, without_interval = (
        _pair_features(rated, defined_pairs),
        Estimate(summary.mean, nan, nan, n, excluded),
    )
    if n < 2:
        return Pairwise(without_interval, summary.sd, pairs)
    answers = np.stack([(rated == label).sum(axis=1) for label in LABELS], axis=1)
    rng = derive_rng(seed, "issue", issue, "cohen")
    mean = with_interval(
        without_interval, "mean-kappa over units", features, mean_kappa, rng, resamples, answers
    )
    return Pairwise(mean, summary.sd, pairs)


def _kappa(both: IntArray, rng: np.random.Generator, resamples: int) -> Estimate:
    labelled = both[(both != MISSING).any(axis=1)]
    return _bounded(agreement.cohen_kappa(labelled[:, 0], labelled[:, 1], rng, resamples))


def _bounded(estimate: Estimate) -> Estimate:
    """Return an estimate without its interval if it rests on one statement.

    All resamples are then the same.
    """
    return estimate if estimate.n > 1 else replace(estimate, low=nan, high=nan)


def _pair_features(codes: IntArray, places: Sequence[tuple[int, int]]) -> FloatArray:
    """Return a statement's cell in each pair's table, flat: (statements, pairs x 9).

    It is all 0 if one has no label.
    """
    size = len(LABELS)
    features = np.zeros((len(codes), len(places), size * size))
    for index, (a, b) in enumerate(places):
        rows = np.flatnonzero((codes[:, a] != MISSING) & (codes[:, b] != MISSING))
        cells = (codes[rows, a] - LABELS[0]) * size + codes[rows, b] - LABELS[0]
        features[rows, index, cells] = 1
    return features.reshape(len(codes), -1)
