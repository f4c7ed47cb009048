"""A classifier's predictions on its test set, and the population that figures from them describe.

A test set that was drawn with known inclusion probabilities represents the answers that the draw
could reach: each test text is weighted by the answers that it represents. If an item has no
probability, as in sets drawn before probabilities were recorded, imported labels, and queues
imported in part, figures describe only the test set, and say so. Several test sets are averaged in
proportion to their settled texts, since each one represents the answers alone. In a partly labelled
set, the labelled texts represent the others.

An evaluation stores all of this at the time of the test, so its figures do not change later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stores.annotation.labels import Classifier
from stores.annotation.queues import DrawnItem
from stores.core.store import Store
from workbench.classifier.config import LABELS
from workbench.domain.annotations import Purpose
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.readings import THRESHOLDS, Stance
from workbench.domain.verdicts import Estimate
from workbench.figures.book import WARNS, Entry
from workbench.figures.shown import estimate
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.classification import (
    Calibration,
    ClassificationReport,
    ThresholdPoint,
    calibration,
    classification_report,
    macro_f1,
    threshold_curve,
    weighted_curve,
    weighted_report,
)
from workbench.stats.resampling import derive_rng
from workbench.stats.samples import Sampled
from workbench.stats.units import MISSING

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
    """number of answers outside the draw: their texts train the classifier, or their statements are
    held out"""
    at: str
    unknown: str = ""

    def as_json(self, units: Sequence[int]) -> dict[str, Any]:
        """Return the data that an evaluation stores for its units."""
        is_known = not self.unknown
        weights = [self.units[unit] for unit in units] if is_known else []
        return {
            "weight": [round(weighted.weight, 9) for weighted in weights] if is_known else None,
            "inclusion": [weighted.inclusion for weighted in weights] if is_known else None,
            "stratum": [weighted.stratum for weighted in weights] if is_known else None,
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
    selected = [
        queue
        for queue in store.queues.list()
        if (
            queue.name in queues
            if queues
            else queue.purpose is Purpose.TEST and queue.codebook.name == codebook
        )
    ]
    items = {queue.name: store.queues.items(queue.name) for queue in selected}
    unlabelled = len(
        {item.unit for queue_items in items.values() for item in queue_items if not item.done}
    )
    frames = [frame for queue in selected if isinstance(frame := queue.spec.get("frame"), dict)]
    newest = frames[-1] if frames else {}
    unknown = [
        name
        for name, queue_items in items.items()
        if any(item.inclusion is None for item in queue_items)
    ]
    reason = f"the inclusion probability is unknown for {', '.join(unknown)}" if unknown else ""
    return DrawnSet(
        units={} if unknown else _weights(items, settled),
        unlabelled=unlabelled,
        answers=int(newest.get("answers", 0)),
        outside=int(newest.get("outside", 0)),
        at=selected[-1].created_at if selected else "",
        unknown=reason,
    )


def _weights(items: Mapping[str, Sequence[DrawnItem]], settled: set[int]) -> dict[int, Weighted]:
    """Return the weight of each unit.

    Several sets are averaged in proportion to their settled units.
    """
    sizes = {
        name: sum(item.unit in settled for item in set_items) for name, set_items in items.items()
    }
    total = max(1, sum(sizes.values()))
    weights: dict[int, Weighted] = {}
    for name, set_items in items.items():
        scale = _for_the_unlabelled(set_items)
        for item in set_items:
            inclusion = item.inclusion or 0.0
            weight = sizes[name] / total * scale[inclusion >= 1] * (item.answers or 0) / inclusion
            stratum = item.stratum if len(items) == 1 else f"{name} · {item.stratum}"
            previous = weights.get(item.unit, Weighted(0.0, 0.0, stratum))
            either = 1 - (1 - previous.inclusion) * (1 - inclusion)
            weights[item.unit] = Weighted(previous.weight + weight, either, previous.stratum)
    return weights


def represented_by(store: Store, codebook: str, settled: set[int]) -> dict[int, float]:
    """Return the number of unlabelled answers that each answer of a labelled text represents.

    It is by unit.

    That is (1 - p) / p, where p is the probability that its text was drawn and labelled. Several
    test sets are averaged in proportion to their labelled texts. A text without a known probability
    is not among them: it represents only itself. Neither is a set of which some probabilities are
    unknown.
    """
    queues = [queue for queue in store.queues.list(Purpose.TEST) if queue.codebook.name == codebook]
    sets = [store.queues.items(queue.name) for queue in queues]
    known_sets = [items for items in sets if all(item.inclusion for item in items)]
    sizes = [sum(item.unit in settled for item in items) for items in known_sets]
    weights: dict[int, float] = {}
    for items, size in zip(known_sets, sizes, strict=True):
        scale = _for_the_unlabelled(
            [replace(item, done=int(item.unit in settled)) for item in items]
        )
        for item in items:
            if item.unit in settled:
                p = (item.inclusion or 1.0) / scale[(item.inclusion or 1.0) >= 1]
                share = size / sum(sizes)
                weights[item.unit] = weights.get(item.unit, 0.0) + share * (1 - p) / p
    return weights


def _for_the_unlabelled(items: Sequence[DrawnItem]) -> dict[bool, float]:
    """Return the factors by which labelled items represent unlabelled ones.

    There is one for certain items (True), and one for the others.
    """
    scale = {}
    for certain in (True, False):
        weighted_items = [
            ((item.answers or 0) / (item.inclusion or 1.0), item.done > 0)
            for item in items
            if ((item.inclusion or 0) >= 1) is certain
        ]
        labelled = sum(weight for weight, done in weighted_items if done)
        scale[certain] = sum(weight for weight, _ in weighted_items) / labelled if labelled else 1.0
    return scale


@dataclass(frozen=True, slots=True)
class Support:
    """The basis of the figures of one true class."""

    label: str
    texts: int
    effective_n: float
    """(sum w)^2 / sum w^2 over the texts that were not taken with certainty; NaN where inclusion is
    unknown"""
    certain: float
    """share of the class's answers whose text was labelled with certainty; NaN where unknown or
    without answers"""


@dataclass(frozen=True, eq=False)
class Unsettled:
    """Test texts on which people disagree, with the classifier's predictions."""

    given: tuple[tuple[int, ...], ...]
    "the labels that people gave each, as places in LABELS"
    weight: FloatArray
    predicted: Mapping[str, IntArray]
    confidence: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class F1Bounds:
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
    units: tuple[int, ...]
    "of each text; empty in evaluations that do not say"
    unsettled: Unsettled
    unlabelled: int
    answers: int
    "that the draw could reach"
    at: str
    "when it was drawn"
    unknown: str
    "the reason why inclusion is unknown; empty if it is known"

    @classmethod
    def from_json(cls, evaluation: Mapping[str, Any]) -> Evaluation:
        """Return the evaluation that a store has."""
        draw = evaluation.get("drawn") or {"unknown": NOT_RECORDED}
        unknown = str(draw.get("unknown", ""))
        true = np.array(evaluation["true"], dtype=np.int64)
        inclusion = None if unknown else np.array(draw["inclusion"], dtype=np.float64)
        strata = () if unknown else tuple(draw["stratum"])
        return cls(
            true=true,
            predicted=_predicted(evaluation),
            confidence=_confidence(evaluation),
            sampled=None
            if inclusion is None
            else Sampled.of(draw["weight"], inclusion >= 1, strata),
            inclusion=inclusion,
            strata=strata,
            statements=tuple(evaluation.get("statement", ())),
            units=tuple(evaluation.get("unit", ())),
            unsettled=_unsettled(evaluation.get("unsettled")),
            unlabelled=int(draw.get("unlabelled", 0)),
            answers=int(draw.get("answers", 0)),
            at=str(draw.get("at", "")),
            unknown=unknown,
        )

    def report(
        self, way: str, threshold: float = 0.0, *, seed: int = SEED, among: BoolArray | None = None
    ) -> ClassificationReport:
        """Return precision, recall and F1 per class, and macro F1, at a threshold.

        They are those of the answers whose confidence reaches it.

        Parameters
        ----------
        among : (n,) whether a text counts; None: all do
        """
        included = self.confidence[way] >= threshold
        included = included if among is None else included & among
        if self.sampled is None:
            return classification_report(
                self.true[included], self.predicted[way][included], len(LABELS)
            )
        predictions = np.where(included, self.predicted[way], MISSING)
        rng = derive_rng(seed, "report", way, str(threshold))
        return weighted_report(self.true, predictions, len(LABELS), self.sampled, rng)

    def curve(
        self, way: str, thresholds: Sequence[float] = THRESHOLDS, *, seed: int = SEED
    ) -> tuple[ThresholdPoint, ...]:
        """Return macro F1 and the share kept, by threshold."""
        arguments = (self.true, self.predicted[way], self.confidence[way], len(LABELS), thresholds)
        if self.sampled is None:
            return threshold_curve(*arguments)
        return weighted_curve(*arguments, self.sampled, derive_rng(seed, "curve", way))

    def point(self, way: str, threshold: float, *, seed: int = SEED) -> ThresholdPoint:
        """Return the point of the curve at a threshold, the same everywhere."""
        levels = THRESHOLDS if threshold in THRESHOLDS else (*THRESHOLDS, threshold)
        return next(
            point for point in self.curve(way, levels, seed=seed) if point.threshold == threshold
        )

    def calibration(self, way: str) -> Calibration:
        """Return the share of correct predictions by confidence."""
        return calibration(
            self.predicted[way] == self.true, self.confidence[way], sampled=self.sampled
        )

    def kept(self, threshold: float, way: str = "tuned") -> IntArray:
        """Return the reading of each text, (n,).

        It is an index in LABELS, or the index after the last one if below the threshold.
        """
        return np.where(self.confidence[way] >= threshold, self.predicted[way], len(LABELS))

    def confusion(self, threshold: float, way: str = "tuned") -> IntArray:
        """Return the confusion matrix, with a last column for texts below the threshold.

        It is (4, 5), with the true labels in rows.
        """
        return self._table(np.ones(len(self.true)), threshold, way).astype(np.int64)

    def represented(self, threshold: float, way: str = "tuned") -> FloatArray:
        """Return `confusion` weighted by the represented answers.

        It is unweighted if the weights are unknown.
        """
        return self._table(
            np.ones(len(self.true)) if self.sampled is None else self.sampled.weight, threshold, way
        )

    def supports(self) -> tuple[Support, ...]:
        """Return the basis of each true class's figures."""
        nan = float("nan")
        return tuple(
            Support(label, int(has_label.sum()), nan, nan)
            if self.sampled is None
            else Support(
                label,
                int(has_label.sum()),
                self.sampled.effective_n(has_label),
                self.sampled.certain_share(has_label),
            )
            for label, has_label in (
                (label, self.true == index) for index, label in enumerate(LABELS)
            )
        )

    def bounds(self, way: str = "tuned", threshold: float = 0.0) -> F1Bounds | None:
        """Return macro F1 if all unsettled texts were misread, and if none was.

        A misread text has one of the labels that people gave it; for each text, the label with the
        lowest macro F1 counts. None if everything is settled.
        """
        unsettled = self.unsettled
        if not unsettled.given:
            return None
        table = self.represented(threshold, way)[:, : len(LABELS)]
        right, wrong = table.copy(), table.copy()
        for index in np.flatnonzero(unsettled.confidence[way] >= threshold):
            predicted, weight = int(unsettled.predicted[way][index]), unsettled.weight[index]
            right[predicted, predicted] += weight
            misread_tables = [
                _plus(wrong, label, predicted, weight)
                for label in unsettled.given[index]
                if label != predicted
            ]
            wrong = min(
                misread_tables,
                key=lambda candidate: float(np.nan_to_num(macro_f1(candidate), nan=2.0)),
            )
        return F1Bounds(float(macro_f1(wrong)), float(macro_f1(right)))

    def stands_for(self) -> str:
        """Return a sentence about the population of the figures."""
        if self.sampled is None:
            return f"{UNKNOWN} ({self.unknown})"
        return (
            f"figures stand for the {self.answers:,} answers that could be drawn on "
            f"{self.at[:10]}: effective n {self.sampled.effective_n():,.0f}, and "
            f"{self.sampled.certain_share():.0%} of the answers have a text that was labelled with "
            "certainty"
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
        size = self.sampled.effective_n()
        return (
            f"of {self.answers:,} answers; effective n {size:,.0f}, {share:.0%} labelled with "
            "certainty"
        )

    def open_questions(self, way: str = "tuned", threshold: float = 0.0) -> tuple[str, ...]:
        """Return sentences about open questions of the test set.

        These are unsettled disagreements, and texts without a label.
        """
        sentences = []
        if (bounds := self.bounds(way, threshold)) is not None:
            sentences.append(
                f"{plural(len(self.unsettled.given), 'disputed test text')} left out: macro F1 "
                f"would be {_f1(bounds.wrong)} if all were misread, {_f1(bounds.right)} if none"
            )
        if self.unlabelled:
            sentences.append(
                f"{plural(self.unlabelled, 'drawn test text')} without a label: the labelled "
                "texts represent them"
            )
        return tuple(sentences)

    def _table(self, weight: FloatArray, threshold: float, way: str) -> FloatArray:
        table = np.zeros((len(LABELS), len(LABELS) + 1))
        np.add.at(table, (self.true, self.kept(threshold, way)), weight)
        return table


def evaluation(classifier: Classifier) -> Evaluation:
    """Return a registered classifier's predictions on its test set."""
    return Evaluation.from_json(classifier.evaluation)


def _f1(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.2f}"


def _plus(table: FloatArray, true: int, read: int, weight: float) -> FloatArray:
    extended = table.copy()
    extended[true, read] += weight
    return extended


def _predicted(rows: Mapping[str, Any]) -> dict[str, IntArray]:
    return {way: np.array(rows[way]["label"], dtype=np.int64) for way in ("tuned", "zero_shot")}


def _confidence(rows: Mapping[str, Any]) -> dict[str, FloatArray]:
    return {
        way: np.array(rows[way]["confidence"], dtype=np.float64) for way in ("tuned", "zero_shot")
    }


def _unsettled(record: Mapping[str, Any] | None) -> Unsettled:
    rows = record or {
        "given": [],
        **{way: {"label": [], "confidence": []} for way in ("tuned", "zero_shot")},
    }
    labels_given = tuple(tuple(labels) for labels in rows["given"])
    weight = (
        np.ones(len(labels_given))
        if rows.get("weight") is None
        else np.array(rows["weight"], dtype=np.float64)
    )
    return Unsettled(labels_given, weight, _predicted(rows), _confidence(rows))


LEAST_F1 = 0.75
"least macro F1 of a classifier for reliable figures"
LEAST_RECALL = 0.75
"least recall of a stance: below it a score may be half its true size"
LEAST_TEXTS = 12
"""fewest test texts of a stance to know its recall: if all of 11 are read correctly, Wilson's lower
end is .74"""
MOST = 0.5
"share of the test that a proposed threshold keeps, where there is such a threshold"
CARRYING = (Stance.AGREE.value, Stance.DISAGREE.value)
"stances whose difference is a score"
UNTESTED = (
    "was never tested on labelled answers: the error rate of the readings behind these "
    "figures is unknown"
)


@dataclass(frozen=True, slots=True)
class ReaderQuality:
    """The quality of the readings that count, from the test of a classifier."""

    reader: str
    threshold: float
    "least confidence of readings that count, to which the other fields refer"
    macro_f1: Estimate
    recall: Mapping[str, Estimate]
    "by stance; n: test texts of that stance with a reading that counts"
    texts: int
    "number of texts of the test set; 0: never tested"
    queues: tuple[str, ...]
    "queues of the test set; empty: all test sets at that time"
    by_statement: bool
    "whether its training excluded not only the texts but also the statements of the test set"
    stands_for: str
    corrected: bool = False
    "whether figures are corrected for its error"
    kept: int = 0
    "number of test texts whose reading reaches the threshold"
    alternative: ThresholdPoint | None = None
    """a lower threshold with a macro F1, if this threshold has none or keeps less than `MOST`; None
    if there is none"""

    @property
    def poor(self) -> tuple[str, ...]:
        """The stances with a recall so low that a score may be halved."""
        return tuple(
            name
            for name, recall in self.recall.items()
            if recall.defined and recall.value < LEAST_RECALL
        )

    @property
    def too_poor(self) -> bool:
        """Whether it is too poor for a score. A reader that was never tested is not."""
        low = self.macro_f1.defined and self.macro_f1.value < LEAST_F1
        return low or any(name in CARRYING for name in self.poor)

    @property
    def shortcoming(self) -> str:
        """Why figures cannot rest on it, in a few words that follow "is".

        The text is empty if they can, or if they correct for its error.
        """
        if not self.texts:
            return "never tested"
        if not self.macro_f1.defined:
            return self._not_judged()
        if not self.too_poor or self.corrected:
            return ""
        parts = []
        if self.macro_f1.value < LEAST_F1:
            parts.append(f"macro F1 {self.macro_f1.value:.2f}")
        poor = [f"{name} {self.recall[name].value:.2f}" for name in self.poor if name in CARRYING]
        if poor:
            parts.append(f"recall of {', '.join(poor)}")
        return f"too poor for reliable figures ({', '.join(parts)})"

    def _not_judged(self) -> str:
        text = (
            f"not judged at confidence {self.threshold:g}, which keeps {self.kept:,} of "
            f"{self.texts:,} test texts"
        )
        alternative = self.alternative
        return (
            text
            if alternative is None
            else f"{text} ({alternative.threshold:g} keeps {alternative.n:,})"
        )

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stances of a score with too few test texts to know the recall."""
        return tuple(name for name in CARRYING if self.texts and self.recall[name].n < LEAST_TEXTS)


def quality(
    classifier: Classifier, threshold: float, *, corrected: bool = False, seed: int = SEED
) -> ReaderQuality:
    """Return the quality of a classifier for readings that reach a threshold."""
    test = Evaluation.from_json(classifier.evaluation)
    report = test.report("tuned", threshold, seed=seed)
    point = test.point("tuned", threshold, seed=seed)
    return ReaderQuality(
        reader=classifier.name,
        threshold=threshold,
        macro_f1=point.macro_f1,
        recall=dict(zip(LABELS, report.recall, strict=True)),
        texts=len(test.true),
        queues=tuple(map(str, classifier.data.get("test_queues", ()))),
        by_statement=bool(classifier.data.get("by_statement")),
        stands_for=test.rests_on(),
        corrected=corrected,
        kept=point.n,
        alternative=_alternative(test, point, seed),
    )


def _alternative(test: Evaluation, point: ThresholdPoint, seed: int) -> ThresholdPoint | None:
    """Return a lower threshold at which the test tells the quality.

    It is None if none is needed or none exists.

    It is the highest one that keeps `MOST` of the test texts, or else the highest one that keeps as
    many as any.
    """
    if point.macro_f1.defined and point.kept.value >= MOST:
        return None
    lower = [
        candidate
        for candidate in test.curve("tuned", THRESHOLDS, seed=seed)
        if candidate.threshold < point.threshold
        and candidate.macro_f1.defined
        and candidate.n > point.n
    ]
    most_texts = max((candidate.n for candidate in lower), default=0)
    enough = [
        candidate
        for candidate in lower
        if candidate.kept.value >= MOST or candidate.n == most_texts
    ]
    return max(enough, key=lambda candidate: candidate.threshold, default=None)


def quality_header(quality: ReaderQuality) -> tuple[str, ...]:
    """Return the header lines of figures that are based on a classifier.

    A warning comes first if the classifier is too poor, then its quality. A poor recall gives no
    warning if figures are corrected for the classifier's error, because the interval includes it.
    """
    return (
        *quality_warnings(quality),
        f"Read by {quality_in_short(quality)}.",
        *_too_small(quality),
    )


def quality_in_short(quality: ReaderQuality) -> str:
    """Return a classifier, its quality and its test in a few words."""
    reader = f"{quality.reader} (confidence from {quality.threshold:g})"
    if not quality.texts:
        return f"{reader}, never tested"
    low = "".join(
        f", recall of {name} {estimate(quality.recall[name], Kind.COEFFICIENT)}"
        for name in quality.poor
    )
    macro_f1 = estimate(quality.macro_f1, Kind.COEFFICIENT)
    return f"{reader}: macro F1 {macro_f1}{low}; {tested_on(quality)}"


def tested_on(quality: ReaderQuality) -> str:
    """Return the test set of a classifier, and the texts held out of its training."""
    queue_names = f" of {', '.join(quality.queues)}" if quality.queues else ""
    held_out = (
        "none of their texts or statements trained it"
        if quality.by_statement
        else "none of their texts trained it"
    )
    plural_ending = "" if quality.texts == 1 else "s"
    return f"{quality.texts:,} test text{plural_ending}{queue_names}, held out: {held_out}"


def quality_warnings(quality: ReaderQuality) -> Iterator[str]:
    """Yield header lines on why a classifier is insufficient."""
    if not quality.texts:
        yield f"{WARNS}The classifier {quality.reader} {UNTESTED}."
        return
    if not quality.macro_f1.defined:
        yield f"{WARNS}{_no_macro_f1(quality)}{_offer(quality)}"
    elif quality.shortcoming:
        yield (
            f"{WARNS}The classifier {quality.reader} is {quality.shortcoming}: it takes "
            f"{LEAST_F1:g}, for misreadings can hide a lean or make one up."
        )


def _no_macro_f1(quality: ReaderQuality) -> str:
    """Return why macro F1 is undefined at the threshold."""
    if not quality.kept:
        return (
            f"The classifier {quality.reader} reads no test text with a confidence of "
            f"{quality.threshold:g} or more."
        )
    if quality.kept == quality.texts:
        return (
            f"The test of the classifier {quality.reader} cannot tell how good it is: "
            f"{quality.macro_f1.undefined}."
        )
    labels = " or ".join(name for name, recall in quality.recall.items() if recall.n)
    return (
        f"At confidence {quality.threshold:g} the classifier {quality.reader} keeps "
        f"{quality.kept:,} of {quality.texts:,} test texts, all labelled {labels}: "
        "macro F1 is undefined."
    )


def _offer(quality: ReaderQuality) -> str:
    """Return a sentence about a threshold that keeps more test texts, or an empty string."""
    alternative = quality.alternative
    if alternative is None:
        return ""
    return (
        f" Lower the threshold: --threshold {alternative.threshold:g} keeps {alternative.n:,} of "
        f"{quality.texts:,} test texts, with "
        f"macro F1 {estimate(alternative.macro_f1, Kind.COEFFICIENT)}."
    )


def _too_small(quality: ReaderQuality) -> Iterator[str]:
    if quality.alternative is not None and quality.macro_f1.defined:
        yield (
            f"Confidence {quality.threshold:g} keeps {quality.kept:,} of {quality.texts:,} test "
            f"texts.{_offer(quality)}"
        )
    if quality.unknown:
        counts = " and ".join(f"{quality.recall[name].n} that {name}" for name in quality.unknown)
        yield f"Of the texts of its test {counts}; its quality is known from {LEAST_TEXTS} of each."


def reader_table(quality: ReaderQuality) -> Table[tuple[str, Estimate]]:
    """Return the quality of the classifier that figures rest on."""
    rows = [
        ("macro F1", quality.macro_f1),
        *((f"recall of {name}", recall) for name, recall in quality.recall.items()),
    ]
    limits = {"macro F1": LEAST_F1, **{f"recall of {name}": LEAST_RECALL for name in CARRYING}}
    return Table(
        "reader",
        f"How well {quality.reader} reads",
        rows,
        [
            Column("measure", "measure", lambda row: row[0]),
            Column(
                "value",
                "value",
                lambda row: row[1],
                Kind.COEFFICIENT,
                scale=(0.0, 1.0),
                reference=lambda row: limits.get(row[0]),
            ),
            Column("texts", "test texts", lambda row: row[1].n, Kind.COUNT),
            Column(
                "least",
                "needed",
                lambda row: limits.get(row[0]),
                Kind.COEFFICIENT,
                help="below it figures are shown with a warning",
            ),
            Column(
                "poor",
                "",
                lambda row: row[1].defined and row[1].value < limits.get(row[0], 0.0),
                Kind.MARK,
                mark="too poor",
            ),
        ],
        key=lambda row: (row[0],),
        definition=f"Of the readings with a confidence from {quality.threshold:g}, which count. "
        f"{quality.stands_for[0].upper()}{quality.stands_for[1:]}. "
        f"{tested_on(quality)[0].upper()}{tested_on(quality)[1:]}."
        if quality.texts
        else "",
        notes=[
            f"With a recall of {LEAST_RECALL:g} a score may be half its true size: a misread "
            "answer can count for the opposite stance."
        ],
        link=lambda row: Link("classifier", (quality.reader,)),  # noqa: ARG005  one classifier for all rows
    )


def reader_entry(quality: ReaderQuality) -> Entry:
    """Return the quality of a classifier as an entry of a book."""
    empty = "" if quality.texts else f"The classifier {quality.reader} {UNTESTED}."
    return Entry("reader", "quality of the readings", lambda: reader_table(quality), empty=empty)


def quality_data(quality: ReaderQuality) -> dict[str, Any]:
    """Return the quality of a classifier as values for JSON."""
    return {
        "reader": quality.reader,
        "threshold": quality.threshold,
        "tested": bool(quality.texts),
        "macro_f1": _estimate_json(quality.macro_f1),
        "recall": {name: _estimate_json(recall) for name, recall in quality.recall.items()},
        "test_texts": quality.texts,
        "test_texts_kept": quality.kept,
        "alternative": None if quality.alternative is None else _point_json(quality.alternative),
        "test_queues": quality.queues,
        "held_out_statements": quality.by_statement,
        "stands_for": quality.stands_for,
        "too_poor": quality.too_poor if quality.texts else None,
        "limits": {"macro_f1": LEAST_F1, "recall": LEAST_RECALL, "test_texts": LEAST_TEXTS},
    }


def _point_json(point: ThresholdPoint) -> dict[str, Any]:
    macro_f1 = _estimate_json(point.macro_f1)
    return {
        "threshold": point.threshold,
        "test_texts_kept": point.n,
        "kept": point.kept.value,
        "macro_f1": macro_f1,
    }


def _estimate_json(estimate: Estimate) -> dict[str, Any]:
    is_defined = estimate.value == estimate.value  # NaN means no figure
    ends = [end if end == end else None for end in (estimate.low, estimate.high)]
    return {
        "value": estimate.value if is_defined else None,
        "low": ends[0],
        "high": ends[1],
        "n": estimate.n,
    }
