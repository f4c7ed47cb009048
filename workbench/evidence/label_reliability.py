"""The agreement of people on the labels behind figures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from stores.annotation.labels import JudgedItem
from stores.core.store import Store
from workbench.domain.keys import SEED
from workbench.domain.verdicts import Estimate
from workbench.figures.book import WARNS
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind
from workbench.stats.agreement import krippendorff_alpha
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

MIN_ALPHA = 0.667
"""Krippendorff 2004, "Content Analysis", chapter 11: the least alpha for tentative conclusions"""


@dataclass(frozen=True, slots=True)
class LabelReliability:
    """The reliability of some labels."""

    alpha: Estimate
    "Krippendorff's, nominal; n: texts with two labels or more"
    texts: int
    "number of labelled texts"
    single: int
    "number of them that one person labelled"

    @property
    def single_share(self) -> float:
        return self.single / self.texts if self.texts else 0.0

    @property
    def in_words(self) -> str:
        """Alpha, its n and the share of texts with one annotator."""
        of_one = (
            f"{number(self.single_share, Kind.SHARE)} of {self.texts:,} texts labelled by "
            "one person"
        )
        if not self.alpha.defined:
            return f"alpha of the labels undefined ({self.alpha.undefined}), {of_one}"
        return (
            f"alpha of the labels {estimate(self.alpha, Kind.COEFFICIENT)} "
            f"({self.alpha.n:,} texts labelled by several people), {of_one}"
        )

    @property
    def doubt(self) -> str:
        """Why figures that rest on these labels are in doubt, or an empty text."""
        if self.alpha.defined and self.alpha.value < MIN_ALPHA:
            return f"unreliable labels (below {MIN_ALPHA}): {self.in_words}"
        return ""

    def header(self) -> tuple[str, ...]:
        """Return the line above figures that rest on these labels, or nothing without labels."""
        if not self.texts:
            return ()
        line = self.doubt or self.in_words
        return (f"{WARNS if self.doubt else ''}{line[0].upper()}{line[1:]}.",)

    def as_json(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "alpha": self.alpha.value if self.alpha.defined else None,
            "undefined": self.alpha.undefined,
            "texts_with_several_labels": self.alpha.n,
            "texts": self.texts,
            "labelled_by_one_person": self.single_share,
            "least": MIN_ALPHA,
            "doubt": self.doubt,
        }


def label_reliability(store: Store, codebook: str, units: Collection[int]) -> LabelReliability:
    """Return the reliability of the labels of these texts.

    It includes the texts of the same queues that are in dispute.

    `units`: those whose label counts. Texts on which people disagree have none: without them,
    agreement would be perfect.
    """
    queues = [queue for queue in store.queues.list() if queue.codebook.name == codebook]
    included = set(units)
    for queue in queues:
        members = {item.unit for item in store.queues.items(queue.name)}
        if members & included:
            included |= members
    labelled = [
        item
        for item in store.labels.judged(codebook)
        if item.context.unit in included and item.labels
    ]
    counted = [item for item in labelled if item.context.unit in set(units)]
    single = sum(len(item.labels) == 1 for item in counted)
    rng = derive_rng(SEED, "labels", "alpha")
    return LabelReliability(krippendorff_alpha(_ratings(labelled), rng=rng), len(counted), single)


def _ratings(judged: list[JudgedItem]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return labels as codes: (texts, annotators)."""
    names = {given_label.annotator for item in judged for given_label in item.labels}
    labels = {given_label.label for item in judged for given_label in item.labels}
    column = {name: index for index, name in enumerate(sorted(names))}
    code = {label: index for index, label in enumerate(sorted(labels))}
    codes = np.full((max(1, len(judged)), max(1, len(column))), MISSING, dtype=np.int64)
    for row, item in enumerate(judged):
        for given_label in item.labels:
            codes[row, column[given_label.annotator]] = code[given_label.label]
    return codes
