"""How far annotators agree on policy issues, and what follows from their labels for each statement.

Labels are -1, 0 and +1 for each pair of statement and issue. The two versions of the paper print
one column of numbers under two names: version 1 the mean (sd) of Cohen's κ over the pairs of
annotators, the journal version Fleiss' κ of all of them. Both are computed here, each with its
interval over statements.

References
----------
Ceron et al. 2024, section 4.2: arXiv version 1, Table 3 (average pairwise Cohen's κ); TACL, Table 1
(Fleiss' κ).
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


class Standing(StrEnum):
    """Why a statement has the label that it has for an issue, or why it has none."""

    ADJUDICATED = "adjudicated"
    SOURCE = "source"
    "the source's own label"
    MAJORITY = "majority"
    TIED = "tied"
    "people labelled it, and none of the labels has more than half of them"
    FEW = "few"
    "too few people labelled it"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two annotators on one issue; n = statements that both labelled, excluded = those that one of
    them did.
    """

    first: str
    second: str
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Cohen's κ over the pairs of annotators."""

    mean: Estimate
    """over the pairs that have a κ; n = statements with two labels or more; `undefined` where no
    pair has one"""
    sd: float
    "sample deviation over those pairs; NaN with fewer than two"
    pairs: tuple[Pair, ...]

    @property
    def defined(self) -> int:
        """How many pairs have a κ."""
        return sum(pair.kappa.defined for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Case:
    """One statement under one issue: what each annotator said, and what follows."""

    statement: str
    issue: str
    labels: tuple[tuple[str, int], ...]
    "(annotator, label), by name; the source's own label and adjudications are not among them"
    source: int | None
    adjudicated: int | None
    gold: int | None
    standing: Standing

    @property
    def tied(self) -> bool:
        """Whether people's labels give none that more than half of them share; decided or not."""
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
    """One issue. n = statements with two labels or more, excluded = all others of the
    instrument.
    """

    issue: str
    cohen: Pairwise
    fleiss: Estimate
    alpha: Estimate
    "Krippendorff's, nominal"
    percent: Estimate
    "share of agreeing pairs of labels"
    given: tuple[int, int, int]
    "times that annotators gave -1, 0, +1"
    gold: tuple[int, int, int]
    "statements whose gold label is -1, 0, +1"
    ties: int
    "statements that nobody has decided on"
    decided: int
    "statements with an adjudication"


@dataclass(frozen=True, slots=True)
class AnnotatorCount:
    """How far one annotator is."""

    annotator: str
    labels: int
    complete: int
    "statements that have a label for every issue"


@dataclass(frozen=True, slots=True)
class IssueReport:
    """See `issue_report`."""

    statements: int
    issues: tuple[IssueAgreement, ...]
    annotators: tuple[AnnotatorCount, ...]
    cases: tuple[Case, ...]
    "those that anybody labelled, by statement and issue in the instrument's order"
    outside: int
    "labels on issues that the scheme does not have: kept, and left out of everything here"
    fewest: int = FEWEST
    "people whose labels a gold label needs, adjudications and a source's own apart"

    @property
    def golds(self) -> int:
        """Cells that have a gold label."""
        return sum(case.gold is not None for case in self.cases)

    @property
    def by_one(self) -> int:
        """Of these, those that rest on what one person said."""
        return sum(
            case.standing is Standing.MAJORITY and len(case.labels) == 1 for case in self.cases
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
    """Return agreement per issue, and what the labels give for each statement.

    Parameters
    ----------
    issues, statements
        Those of the instrument, in its order.
    source, fewest
        Of `gold_labels`: whether the source's own label counts before people's, and how many people
        a majority needs.
    """
    refs, names = set(statements), set(issues)
    held = [label for label in labels if label.statement in refs]
    inside = [label for label in held if label.issue in names]
    people = annotators(inside)
    gold = gold_labels(inside, source=source, fewest=fewest)
    cases = _cases(inside, issues, statements, gold, source)
    by_issue: dict[str, list[Case]] = {issue: [] for issue in issues}
    for case in cases:
        by_issue[case.issue].append(case)
    return IssueReport(
        statements=len(statements),
        issues=tuple(
            issue_agreement(issue, found, people, len(statements), seed=seed, resamples=resamples)
            for issue, found in by_issue.items()
        ),
        annotators=tuple(_count(name, cases, len(issues)) for name in people),
        cases=cases,
        outside=len(held) - len(inside),
        fewest=fewest,
    )


def annotators(labels: Iterable[IssueLabel]) -> tuple[str, ...]:
    """Return the people who labelled, by name: neither a source's own labels nor adjudications are
    a person's.
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
    """Return how far people agree on one issue; `cases` are the issue's, `statements` counts all
    there are.
    """
    codes = _codes(cases, people)
    missing = statements - len(codes)
    counts = Counter(label for case in cases for _, label in case.labels)
    gold = Counter(case.gold for case in cases if case.gold is not None)

    def rng(name: str) -> np.random.Generator:
        return derive_rng(seed, "issue", issue, name)

    def over_all(found: Estimate) -> Estimate:
        why = ONE_PERSON if found.undefined == agreement.NO_UNITS else found.undefined
        return _bounded(replace(found, excluded=found.excluded + missing, undefined=why))

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
    """Return a case's labels under letters, in an order that differs between cases: A is nobody in
    particular.
    """

    def scattered(given: tuple[str, int]) -> bytes:
        return blake2b(
            f"{case.statement}\n{case.issue}\n{given[0]}".encode(errors="replace"), digest_size=8
        ).digest()

    ordered = sorted(case.labels, key=scattered)
    return tuple((_letter(place), label) for place, (_, label) in enumerate(ordered))


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
    given = by_item(labels)
    return tuple(
        _case(statement, issue, found, gold.get(statement, {}).get(issue), source_counts)
        for statement in statements
        for issue in issues
        if (found := given.get((statement, issue)))
    )


def _case(
    statement: str, issue: str, given: Mapping[str, int], gold: int | None, source_counts: bool
) -> Case:
    labels = tuple(
        sorted((name, label) for name, label in given.items() if name not in (GOLD, ADJUDICATION))
    )
    source, adjudicated = given.get(GOLD), given.get(ADJUDICATION)
    if adjudicated is not None:
        standing = Standing.ADJUDICATED
    elif gold is not None:
        standing = Standing.SOURCE if source_counts and source is not None else Standing.MAJORITY
    else:
        tied = len(labels) > 1 and majority(label for _, label in labels) is None
        standing = Standing.TIED if tied else Standing.FEW
    return Case(statement, issue, labels, source, adjudicated, gold, standing)


def _count(name: str, cases: Sequence[Case], issues: int) -> AnnotatorCount:
    done = Counter(case.statement for case in cases if name in dict(case.labels))
    return AnnotatorCount(name, done.total(), sum(n == issues for n in done.values()))


def _codes(cases: Sequence[Case], people: Sequence[str]) -> IntArray:
    """Return the labels of cases with any as a matrix (statements, people), MISSING where there is
    none.
    """
    column = {name: place for place, name in enumerate(people)}
    rated = [case for case in cases if case.labels]
    codes = np.full((len(rated), len(people)), MISSING, dtype=np.int64)
    for row, case in enumerate(rated):
        for name, label in case.labels:
            codes[row, column[name]] = label
    return codes


def pairwise(
    issue: str, codes: IntArray, people: Sequence[str], statements: int, seed: int, resamples: int
) -> Pairwise:
    """Return Cohen's κ of each pair, their mean and sd; the mean's interval resamples statements
    for all pairs at once.

    A resample in which one of the pairs has no κ is left out: its mean would be one of other pairs.
    """
    pairs = tuple(
        Pair(
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
    places = [
        p
        for p, pair in zip(combinations(range(len(people)), 2), pairs, strict=True)
        if pair.kappa.defined
    ]
    if not places:
        return Pairwise(
            Estimate(nan, nan, nan, n, excluded, ALL_EQUAL if n else NO_PAIR), nan, pairs
        )
    found = mean_sd([pair.kappa.value for pair in pairs])
    size = len(LABELS)

    def mean_kappa(sums: FloatArray) -> FloatArray:
        of_pairs = contingency.kappa(sums.reshape(*sums.shape[:-1], len(places), size, size))
        return np.asarray(of_pairs.mean(axis=-1), dtype=np.float64)

    features, alone = _pair_features(rated, places), Estimate(found.mean, nan, nan, n, excluded)
    if n < 2:
        return Pairwise(alone, found.sd, pairs)
    answers = np.stack([(rated == label).sum(axis=1) for label in LABELS], axis=1)
    rng = derive_rng(seed, "issue", issue, "cohen")
    mean = with_interval(
        alone, "mean-kappa over units", features, mean_kappa, rng, resamples, answers
    )
    return Pairwise(mean, found.sd, pairs)


def _kappa(both: IntArray, rng: np.random.Generator, resamples: int) -> Estimate:
    either = both[(both != MISSING).any(axis=1)]
    return _bounded(agreement.cohen_kappa(either[:, 0], either[:, 1], rng, resamples))


def _bounded(found: Estimate) -> Estimate:
    """Return an estimate without its interval where that rests on one statement: all resamples are
    the same.
    """
    return found if found.n > 1 else replace(found, low=nan, high=nan)


def _pair_features(codes: IntArray, places: Sequence[tuple[int, int]]) -> FloatArray:
    """Return a statement's cell in each pair's table, flat: (statements, pairs x 9); all 0 where
    one has no label.
    """
    size = len(LABELS)
    features = np.zeros((len(codes), len(places), size * size))
    for place, (a, b) in enumerate(places):
        rows = np.flatnonzero((codes[:, a] != MISSING) & (codes[:, b] != MISSING))
        cells = (codes[rows, a] - LABELS[0]) * size + codes[rows, b] - LABELS[0]
        features[rows, place, cells] = 1
    return features.reshape(len(codes), -1)
