"""The agreement of annotators: over all items, in groups of them, by pair, label and item.

One coefficient does not tell why people disagree. A pair's confusion matrix shows two labels that
are taken for each other, specific agreement a label that nobody can tell, an annotator's counts the
one who always presses the same key, the items and groups the texts that need a look or a better
guideline.

Every figure has its own random generator, derived from the seed and its name, so that it keeps its
interval when annotators, labels or groups are added. The coefficients are those of
`stats.agreement`.

References
----------
Faulborn et al. 2025, section 3.4 (two annotators, Cohen's κ, disagreements resolved in discussion).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan

import numpy as np

from workbench.domain.annotations import Codebook, ItemLabels
from workbench.domain.keys import SEED
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.stats import agreement
from workbench.stats.agreement import ALL_EQUAL
from workbench.stats.arrays import IntArray
from workbench.stats.classification import confusion_between
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

NO_ORDER = "the codebook has no ordered labels"
SINGLE_ITEM = "only one item: κ would be -1 / (labels - 1) for any labels"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Agreement of all annotators. n = items with two labels or more, excluded = the others."""

    percent: Estimate
    fleiss: Estimate
    alpha: Estimate
    "Krippendorff's, nominal"
    alpha_ordinal: Estimate
    """Krippendorff's over the codebook's ordered labels

    Other labels count as missing, so that n and excluded differ.
    """
    ac1: Estimate
    "Gwet's, chance agreement over all labels of the codebook"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators. n = items that both labelled, excluded = items that one of them labelled."""

    first: str
    second: str
    kappa: Estimate
    "Cohen's"
    percent: Estimate
    ac1: Estimate
    matrix: tuple[tuple[int, ...], ...]
    "rows: labels of the first, columns: of the second, in the codebook's order"


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label of the codebook."""

    label: str
    used: int
    "number of times it was given, on any item"
    agreement: Estimate
    """probability that another annotator gives the label that one gave

    See `stats.agreement.specific_agreement`.
    """


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """One item with two labels or more.

    The pairs are its pairs of annotators. No figure here has an interval.
    """

    item: int
    labels: tuple[tuple[str, str], ...]
    "(annotator, label), by annotator"
    agreeing: Estimate
    "share of pairs with equal labels, with the number of pairs as n"
    ac1: Estimate
    kappa: Estimate
    """never defined for one item, as `undefined` explains

    The groups hold κ over the items of a statement.
    """


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """The items of one dimension, issue or statement. n and excluded are as in `Coefficients`."""

    kind: str
    name: str
    items: int
    "number of items in the group, labelled or not"
    percent: Estimate
    fleiss: Estimate
    alpha: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class AnnotatorCounts:
    """The labels of one annotator."""

    annotator: str
    n: int
    "items labelled"
    labels: tuple[tuple[str, int], ...]
    "every label of the codebook, in its order, with the times it was given"

    @property
    def favourite(self) -> tuple[str, float]:
        """The label given most often (the first of equals) and its share.

        It is 1.0 for somebody who presses one key.
        """
        label, times = max(self.labels, key=lambda pair: pair[1])
        return label, times / self.n


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The figures of agreement. See `agreement_report`."""

    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    "labels of the codebook, in the order of matrices and counts"
    items: int
    "with two labels or more"
    labelled_once: int
    unlabelled: int
    coefficients: Coefficients
    pairs: tuple[PairAgreement, ...]
    per_label: tuple[LabelAgreement, ...]
    per_item: tuple[ItemAgreement, ...]
    "items with two labels or more, in their original order"
    groups: tuple[GroupAgreement, ...]
    "by kind and name, in the order of their first occurrence"
    annotator_counts: tuple[AnnotatorCounts, ...]


def agreement_report(
    items: Sequence[ItemLabels], codebook: Codebook, *, seed: int = SEED, resamples: int = 1000
) -> AgreementReport:
    """Return every coefficient of agreement between the annotators of these items.

    An item counts towards agreement with two labels or more. Those with one or none are counted. If
    a coefficient does not exist its estimate says why: `no unit has two ratings`, `no pairs`, `all
    answers equal`.

    Raises
    ------
    UnknownName
        a label is not in the codebook
    """
    return _Ratings(items, codebook, seed, resamples).report()


class _Ratings:
    """The labels as a matrix of codes, items x annotators, and the figures computed from it."""

    def __init__(self, items: Sequence[ItemLabels], codebook: Codebook, seed: int, resamples: int):
        self.items = items
        self.labels = codebook.labels
        self.seed = seed
        self.resamples = resamples
        self.annotators = tuple(sorted({name for item in items for name in item.labels}))
        self.codes = _codes(items, self.annotators, codebook)
        self.order = tuple(
            self.labels.index(label) for label in codebook.ordinal if label in self.labels
        )
        self.on_offer = max(2, len(self.labels))  # AC1 divides by one less
        self.rated = (self.codes != MISSING).sum(axis=1)

    def report(self) -> AgreementReport:
        return AgreementReport(
            annotators=self.annotators,
            labels=self.labels,
            items=int(np.count_nonzero(self.rated >= 2)),
            labelled_once=int(np.count_nonzero(self.rated == 1)),
            unlabelled=int(np.count_nonzero(self.rated == 0)),
            coefficients=self.coefficients(),
            pairs=tuple(self.pair(a, b) for a, b in combinations(range(len(self.annotators)), 2)),
            per_label=tuple(self.label(code) for code in range(len(self.labels))),
            per_item=tuple(self.item(int(row)) for row in np.flatnonzero(self.rated >= 2)),
            groups=tuple(
                self.group(kind, name, rows) for (kind, name), rows in self.grouped().items()
            ),
            annotator_counts=tuple(self.counts(column) for column in range(len(self.annotators))),
        )

    def rng(self, *names: str) -> np.random.Generator:
        return derive_rng(self.seed, "annotation", *names)

    def coefficients(self) -> Coefficients:
        codes, r = self.codes, self.resamples
        return Coefficients(
            percent=agreement.percent_agreement(codes, self.rng("percent"), r),
            fleiss=agreement.fleiss_kappa(codes, self.rng("fleiss"), r),
            alpha=agreement.krippendorff_alpha(codes, "nominal", self.rng("alpha"), r),
            alpha_ordinal=self.ordinal(),
            ac1=agreement.gwet_ac1_raters(codes, self.rng("ac1"), r, self.on_offer),
        )

    def ordinal(self) -> Estimate:
        if len(self.order) < 2:
            return Estimate(nan, nan, nan, 0, len(self.items), NO_ORDER)
        ranks = np.full_like(self.codes, MISSING)
        for rank, code in enumerate(self.order):
            ranks[self.codes == code] = rank
        return agreement.krippendorff_alpha(
            ranks, "ordinal", self.rng("alpha-ordinal"), self.resamples
        )

    def pair(self, a: int, b: int) -> PairAgreement:
        first, second = self.annotators[a], self.annotators[b]
        either = (self.codes[:, [a, b]] != MISSING).any(axis=1)
        x, y = self.codes[either, a], self.codes[either, b]
        matrix = confusion_between(x, y, len(self.labels))
        names, r = ("pair", first, second), self.resamples
        return PairAgreement(
            first=first,
            second=second,
            kappa=agreement.cohen_kappa(x, y, self.rng("kappa", *names), r),
            percent=agreement.observed_agreement(x, y, self.rng("percent", *names), r),
            ac1=agreement.gwet_ac1(x, y, self.rng("ac1", *names), r, self.on_offer),
            matrix=tuple(tuple(int(cell) for cell in row) for row in matrix),
        )

    def label(self, code: int) -> LabelAgreement:
        name = self.labels[code]
        specific = agreement.specific_agreement(
            self.codes, code, self.rng("label", name), self.resamples
        )
        return LabelAgreement(name, int(np.count_nonzero(self.codes == code)), specific)

    def item(self, row: int) -> ItemAgreement:
        codes = self.codes[row : row + 1]
        m = int(self.rated[row])
        pairs = m * (m - 1) // 2
        are_equal = len(set(codes[codes != MISSING].tolist())) == 1
        ac1 = agreement.gwet_ac1_raters(codes, categories=self.on_offer)
        return ItemAgreement(
            item=self.items[row].item,
            labels=tuple(sorted(self.items[row].labels.items())),
            agreeing=replace(agreement.percent_agreement(codes), n=pairs),
            ac1=replace(ac1, n=pairs),
            kappa=Estimate(nan, nan, nan, pairs, 0, ALL_EQUAL if are_equal else SINGLE_ITEM),
        )

    def grouped(self) -> dict[tuple[str, str], list[int]]:
        """Return the rows of each group, the groups of a kind together."""
        rows: dict[tuple[str, str], list[int]] = {}
        for row, item in enumerate(self.items):
            for group in item.groups:
                rows.setdefault(group, []).append(row)
        kinds = list(dict.fromkeys(kind for kind, _ in rows))
        return dict(sorted(rows.items(), key=lambda entry: kinds.index(entry[0][0])))

    def group(self, kind: str, name: str, rows: list[int]) -> GroupAgreement:
        codes, r, names = self.codes[rows], self.resamples, ("group", kind, name)
        return GroupAgreement(
            kind=kind,
            name=name,
            items=len(rows),
            percent=agreement.percent_agreement(codes, self.rng("percent", *names), r),
            fleiss=agreement.fleiss_kappa(codes, self.rng("fleiss", *names), r),
            alpha=agreement.krippendorff_alpha(codes, "nominal", self.rng("alpha", *names), r),
            ac1=agreement.gwet_ac1_raters(codes, self.rng("ac1", *names), r, self.on_offer),
        )

    def counts(self, column: int) -> AnnotatorCounts:
        codes = self.codes[:, column]
        label_counts = np.bincount(codes[codes != MISSING], minlength=len(self.labels))
        by_label = tuple(
            (label, int(times)) for label, times in zip(self.labels, label_counts, strict=True)
        )
        return AnnotatorCounts(self.annotators[column], int(label_counts.sum()), by_label)


def _codes(items: Sequence[ItemLabels], annotators: Sequence[str], codebook: Codebook) -> IntArray:
    """Return the labels as indices in the codebook.

    Their shape is (items, annotators), with MISSING without a label.
    """
    code_by_label = {label: code for code, label in enumerate(codebook.labels)}
    column_by_name = {name: index for index, name in enumerate(annotators)}
    codes = np.full((len(items), len(annotators)), MISSING, dtype=np.int64)
    for row, item in enumerate(items):
        for annotator, label in item.labels.items():
            if label not in code_by_label:
                raise UnknownName(
                    f"label {label!r}, which {annotator} gave item {item.item}, is not in the "
                    f"codebook {codebook.name!r}; its labels are {', '.join(codebook.labels)}"
                )
            codes[row, column_by_name[annotator]] = code_by_label[label]
    return codes
