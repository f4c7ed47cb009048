"""A classifier's predictions on its test set, and the population that figures from them describe.

A test set that was drawn with known inclusion probabilities represents the answers that the draw could reach: each test
text is weighted by the answers that it represents. If an item has no probability, as in sets drawn before probabilities
were recorded, imported labels, and queues imported in part, figures describe only the test set, and say so. Several
test sets are averaged in proportion to their settled texts, since each one represents the answers alone. In a partly
labelled set, the labelled texts represent the others.

An evaluation stores all of this at the time of the test, so its figures do not change later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stores.annotation.classifiers import Classifier
from stores.annotation.queues import DrawnItem
from stores.core.store import Store
from workbench.classifier.config import LABELS
from workbench.domain.annotations import Purpose
from workbench.domain.counting import plural
from workbench.domain.readings import THRESHOLDS
from workbench.domain.seeds import SEED
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.classification import (
    Calibration,
    ClassificationReport,
    ThresholdPoint,
    calibration,
    classification_report,
    macro_f1,
    threshold_curve,
)
from workbench.stats.resampling import derive_rng
from workbench.stats.sampled import Sampled
from workbench.stats.units import MISSING
from workbench.stats.weighted_classification import weighted_curve, weighted_report

UNKNOWN = "inclusion unknown: figures describe the test set, not the answers"
NOT_RECORDED = "the test was drawn before inclusion probabilities were recorded"


@dataclass(frozen=True, slots=True)
class Weighted:
    """The weight of a test text."""

    weight: float
    "answers"
    inclusion: float
    stratum: str


@dataclass(frozen=True, slots=True)
class DrawnSet:
    """The weights of the texts of one or several test sets."""

    units: Mapping[int, Weighted]
    "empty if `unknown` gives a reason"
    unlabelled: int
    "number of drawn texts without a label"
    answers: int
    "number of answers that the newest draw could reach"
    outside: int
    "number of answers outside the draw: their texts train the classifier, or their statements are held out"
    at: str
    unknown: str = ""

    def as_json(self, units: Sequence[int]) -> dict[str, Any]:
        """Return the data that an evaluation stores for its units."""
        known = not self.unknown
        of = [self.units[unit] for unit in units] if known else []
        return {
            "weight": [round(each.weight, 9) for each in of] if known else None,
            "inclusion": [each.inclusion for each in of] if known else None,
            "stratum": [each.stratum for each in of] if known else None,
            "unlabelled": self.unlabelled,
            "answers": self.answers,
            "outside": self.outside,
            "at": self.at,
            "unknown": self.unknown,
        }


def drawn_set(store: Store, codebook: str, queues: Sequence[str], settled: set[int]) -> DrawnSet:
    """Return the weights of the texts of these queues (empty: all test sets of the codebook).

    `settled`: the units with a settled label.
    """
    chosen = [
        queue
        for queue in store.queues.list()
        if (queue.name in queues if queues else queue.purpose is Purpose.TEST and queue.codebook.name == codebook)
    ]
    items = {queue.name: store.queues.items(queue.name) for queue in chosen}
    unlabelled = len({item.unit for of in items.values() for item in of if not item.done})
    frames = [frame for queue in chosen if isinstance(frame := queue.spec.get("frame"), dict)]
    newest = frames[-1] if frames else {}
    unknown = [name for name, of in items.items() if any(item.inclusion is None for item in of)]
    said = f"the inclusion probability is unknown for {', '.join(unknown)}" if unknown else ""
    return DrawnSet(
        units={} if unknown else _weights(items, settled),
        unlabelled=unlabelled,
        answers=int(newest.get("answers", 0)),
        outside=int(newest.get("outside", 0)),
        at=chosen[-1].created_at if chosen else "",
        unknown=said,
    )


def _weights(items: Mapping[str, Sequence[DrawnItem]], settled: set[int]) -> dict[int, Weighted]:
    """Return the weight of each unit, several sets averaged in proportion to their settled units."""
    sizes = {name: sum(item.unit in settled for item in of) for name, of in items.items()}
    total = max(1, sum(sizes.values()))
    found: dict[int, Weighted] = {}
    for name, of in items.items():
        scale = _for_the_unlabelled(of)
        for item in of:
            inclusion = item.inclusion or 0.0
            weight = sizes[name] / total * scale[inclusion >= 1] * (item.answers or 0) / inclusion
            stratum = item.stratum if len(items) == 1 else f"{name} · {item.stratum}"
            before = found.get(item.unit, Weighted(0.0, 0.0, stratum))
            either = 1 - (1 - before.inclusion) * (1 - inclusion)
            found[item.unit] = Weighted(before.weight + weight, either, before.stratum)
    return found


def _for_the_unlabelled(items: Sequence[DrawnItem]) -> dict[bool, float]:
    """Return the factors by which labelled items represent unlabelled ones, separately for certain items (True)."""
    scale = {}
    for certain in (True, False):
        mine = [
            ((item.answers or 0) / (item.inclusion or 1.0), item.done > 0)
            for item in items
            if ((item.inclusion or 0) >= 1) is certain
        ]
        labelled = sum(weight for weight, done in mine if done)
        scale[certain] = sum(weight for weight, _ in mine) / labelled if labelled else 1.0
    return scale


@dataclass(frozen=True, slots=True)
class Support:
    """The basis of the figures of one true class."""

    label: str
    texts: int
    effective_n: float
    "(sum w)^2 / sum w^2 over the texts that were not taken with certainty; NaN where inclusion is unknown"
    certain: float
    "share of the class's answers whose text was labelled with certainty; NaN where unknown or without answers"


@dataclass(frozen=True, eq=False)
class Unsettled:
    """Test texts on which people disagree, with the classifier's predictions."""

    given: tuple[tuple[int, ...], ...]
    "the labels that people gave each, as places in LABELS"
    weight: FloatArray
    predicted: Mapping[str, IntArray]
    confidence: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Macro F1 if every unsettled text was read wrong, and if every one was read right."""

    wrong: float
    right: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A classifier's predictions on its test set, from which all figures about it are computed."""

    true: IntArray
    "(n,) place in LABELS"
    predicted: Mapping[str, IntArray]
    "`tuned` and `zero_shot` -> (n,)"
    confidence: Mapping[str, FloatArray]
    sampled: Sampled | None
    "weights of the texts; None: inclusion is unknown, and all weights are 1"
    inclusion: FloatArray | None
    strata: tuple[str, ...]
    statements: tuple[str, ...]
    "instrument/ref of each text; empty in evaluations that do not say"
    unsettled: Unsettled
    unlabelled: int
    answers: int
    "that the draw could reach"
    at: str
    "when it was drawn"
    unknown: str
    "why inclusion is unknown; empty where it is known"

    @classmethod
    def of(cls, evaluation: Mapping[str, Any]) -> Evaluation:
        """Return the evaluation stored in a store."""
        drawn = evaluation.get("drawn") or {"unknown": NOT_RECORDED}
        unknown = str(drawn.get("unknown", ""))
        true = np.array(evaluation["true"], dtype=np.int64)
        inclusion = None if unknown else np.array(drawn["inclusion"], dtype=np.float64)
        strata = () if unknown else tuple(drawn["stratum"])
        return cls(
            true=true,
            predicted=_predicted(evaluation),
            confidence=_confidence(evaluation),
            sampled=None if inclusion is None else Sampled.of(drawn["weight"], inclusion >= 1, strata),
            inclusion=inclusion,
            strata=strata,
            statements=tuple(evaluation.get("statement", ())),
            unsettled=_unsettled(evaluation.get("unsettled")),
            unlabelled=int(drawn.get("unlabelled", 0)),
            answers=int(drawn.get("answers", 0)),
            at=str(drawn.get("at", "")),
            unknown=unknown,
        )

    def report(self, way: str, threshold: float = 0.0, *, seed: int = SEED) -> ClassificationReport:
        """Return precision, recall and F1 per class, and macro F1, for answers whose confidence reaches a threshold."""
        kept = self.confidence[way] >= threshold
        if self.sampled is None:
            return classification_report(self.true[kept], self.predicted[way][kept], len(LABELS))
        read = np.where(kept, self.predicted[way], MISSING)
        rng = derive_rng(seed, "report", way, str(threshold))
        return weighted_report(self.true, read, len(LABELS), self.sampled, rng)

    def curve(
        self, way: str, thresholds: Sequence[float] = THRESHOLDS, *, seed: int = SEED
    ) -> tuple[ThresholdPoint, ...]:
        """Return macro F1 and the share kept, by threshold."""
        read = (self.true, self.predicted[way], self.confidence[way], len(LABELS), thresholds)
        if self.sampled is None:
            return threshold_curve(*read)
        return weighted_curve(*read, self.sampled, derive_rng(seed, "curve", way))

    def point(self, way: str, threshold: float, *, seed: int = SEED) -> ThresholdPoint:
        """Return the point of the curve at a threshold, the same everywhere."""
        levels = THRESHOLDS if threshold in THRESHOLDS else (*THRESHOLDS, threshold)
        return next(point for point in self.curve(way, levels, seed=seed) if point.threshold == threshold)

    def calibration(self, way: str) -> Calibration:
        """Return how often predictions of a given confidence are correct."""
        return calibration(self.predicted[way] == self.true, self.confidence[way], sampled=self.sampled)

    def kept(self, threshold: float, way: str = "tuned") -> IntArray:
        """Return the reading of each text, (n,): an index in LABELS, or the index after the last one if below the
        threshold.
        """
        return np.where(self.confidence[way] >= threshold, self.predicted[way], len(LABELS))

    def confusion(self, threshold: float, way: str = "tuned") -> IntArray:
        """Return the confusion matrix, with a last column for texts below the threshold: (4, 5), rows true."""
        return self._table(np.ones(len(self.true)), threshold, way).astype(np.int64)

    def represented(self, threshold: float, way: str = "tuned") -> FloatArray:
        """Return `confusion` weighted by the represented answers; unweighted if the weights are unknown."""
        return self._table(np.ones(len(self.true)) if self.sampled is None else self.sampled.weight, threshold, way)

    def supports(self) -> tuple[Support, ...]:
        """Return the basis of each true class's figures."""
        nan = float("nan")
        return tuple(
            Support(label, int(mine.sum()), nan, nan)
            if self.sampled is None
            else Support(label, int(mine.sum()), self.sampled.effective_n(mine), self.sampled.certain_share(mine))
            for label, mine in ((label, self.true == place) for place, label in enumerate(LABELS))
        )

    def bounds(self, way: str = "tuned", threshold: float = 0.0) -> Bounds | None:
        """Return macro F1 if all unsettled texts were misread, and if none was.

        A misread text has one of the labels that people gave it; for each text, the label with the lowest macro F1
        counts. None if everything is settled.
        """
        left = self.unsettled
        if not left.given:
            return None
        table = self.represented(threshold, way)[:, : len(LABELS)]
        right, wrong = table.copy(), table.copy()
        for place in np.flatnonzero(left.confidence[way] >= threshold):
            read, weight = int(left.predicted[way][place]), left.weight[place]
            right[read, read] += weight
            worse = [_plus(wrong, label, read, weight) for label in left.given[place] if label != read]
            wrong = min(worse, key=lambda each: float(np.nan_to_num(macro_f1(each), nan=2.0)))
        return Bounds(float(macro_f1(wrong)), float(macro_f1(right)))

    def stands_for(self) -> str:
        """Return a sentence about the population of the figures."""
        if self.sampled is None:
            return f"{UNKNOWN} ({self.unknown})"
        return (
            f"figures stand for the {self.answers:,} answers that could be drawn on {self.at[:10]}: effective n "
            f"{self.sampled.effective_n():,.0f}, and {self.sampled.certain_share():.0%} of the answers have a text "
            "that was labelled with certainty"
        )

    @property
    def about(self) -> str:
        """The population of figures without a threshold."""
        return "all test responses" if self.sampled is None else "all answers"

    def rests_on(self) -> str:
        """Return the population and basis of the figures, in a few words."""
        if self.sampled is None:
            return "of the test set alone (inclusion unknown)"
        share = self.sampled.certain_share()
        n = self.sampled.effective_n()
        return f"of {self.answers:,} answers; effective n {n:,.0f}, {share:.0%} labelled with certainty"

    def open_questions(self, way: str = "tuned", threshold: float = 0.0) -> tuple[str, ...]:
        """Return sentences about open questions of the test set: unsettled disagreements, and texts without a label."""
        found = []
        if (bounds := self.bounds(way, threshold)) is not None:
            found.append(
                f"{plural(len(self.unsettled.given), 'disputed test text')} left out: macro F1 would be "
                f"{_f1(bounds.wrong)} if all were misread, {_f1(bounds.right)} if none"
            )
        if self.unlabelled:
            found.append(
                f"{plural(self.unlabelled, 'drawn test text')} without a label: the labelled texts represent them"
            )
        return tuple(found)

    def _table(self, weight: FloatArray, threshold: float, way: str) -> FloatArray:
        table = np.zeros((len(LABELS), len(LABELS) + 1))
        np.add.at(table, (self.true, self.kept(threshold, way)), weight)
        return table


def evaluation(classifier: Classifier) -> Evaluation:
    """Return a registered classifier's predictions on its test set."""
    return Evaluation.of(classifier.evaluation)


def _f1(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.2f}"


def _plus(table: FloatArray, true: int, read: int, weight: float) -> FloatArray:
    more = table.copy()
    more[true, read] += weight
    return more


def _predicted(rows: Mapping[str, Any]) -> dict[str, IntArray]:
    return {way: np.array(rows[way]["label"], dtype=np.int64) for way in ("tuned", "zero_shot")}


def _confidence(rows: Mapping[str, Any]) -> dict[str, FloatArray]:
    return {way: np.array(rows[way]["confidence"], dtype=np.float64) for way in ("tuned", "zero_shot")}


def _unsettled(kept: Mapping[str, Any] | None) -> Unsettled:
    rows = kept or {"given": [], **{way: {"label": [], "confidence": []} for way in ("tuned", "zero_shot")}}
    given = tuple(tuple(labels) for labels in rows["given"])
    weight = np.ones(len(given)) if rows.get("weight") is None else np.array(rows["weight"], dtype=np.float64)
    return Unsettled(given, weight, _predicted(rows), _confidence(rows))
