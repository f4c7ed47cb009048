"""What the classifier screen shows, as values: figures of a test, and the answers that were misread.

Numpy and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.readings import STANCES

if TYPE_CHECKING:
    from stores.classifiers import Classifier
    from workbench.pipeline.evaluation import Support
    from workbench.stats.classification import Calibration, ClassificationReport, ThresholdPoint

LABELS = tuple(stance.value for stance in STANCES)
"classes, in the order of tables; the last column of a matrix is what was left out"
TUNED, ZERO_SHOT = "tuned", "zero_shot"
WAYS = (TUNED, ZERO_SHOT)
NAMES = {TUNED: "tuned", ZERO_SHOT: "zero-shot"}
LEFT_OUT = len(LABELS)


@dataclass(frozen=True, eq=False, slots=True)
class Assessed:
    """A classifier's figures on its test set, for each of `WAYS`."""

    classifier: Classifier
    threshold: float
    reports: Mapping[str, ClassificationReport]
    "of the answers whose confidence reaches the threshold"
    curves: Mapping[str, tuple[ThresholdPoint, ...]]
    "macro F1 is taken from here wherever it is shown, so that one number has one interval"
    calibrations: Mapping[str, Calibration]
    matrix: tuple[tuple[int, ...], ...]
    "of the tuned one, in test texts: true x read, what is below the threshold last; (4, 5)"
    represented: tuple[tuple[float, ...], ...]
    "the same in the answers that the texts stand for"
    supports: tuple[Support, ...]
    known: bool
    "whether figures stand for answers"
    stands_for: str
    rests_on: str
    open_questions: tuple[str, ...]

    def at(self, way: str, threshold: float) -> ThresholdPoint:
        """Return the point of a curve at a threshold."""
        return next(point for point in self.curves[way] if point.threshold == threshold)

    @property
    def size(self) -> int:
        return sum(map(sum, self.matrix))


@dataclass(frozen=True, slots=True)
class Misread:
    """An answer of the test set that was read as something else than people say."""

    unit: int
    true: str
    read: str
    confidence: float
    below: bool
    "whether the threshold leaves it out"
    ref: str = ""
    statement: str = ""
    text: str | None = None
    "None: the store does not hold it"


def classifiers(path: Path) -> tuple[Classifier, ...]:
    """Return the classifiers of a store, the newest first."""
    from stores.store import Store

    with Store.open(path) as store:
        return tuple(reversed(store.classifiers.list()))


def assess(classifier: Classifier, threshold: float) -> Assessed:
    """Work out all figures of a classifier; takes a part of a second."""
    from workbench.pipeline.evaluation import evaluation

    found = evaluation(classifier)
    return Assessed(
        classifier,
        threshold,
        reports={way: found.report(way, threshold) for way in WAYS},
        curves={way: found.curve(way) for way in WAYS},
        calibrations={way: found.calibration(way) for way in WAYS},
        matrix=tuple(tuple(row) for row in found.confusion(threshold).tolist()),
        represented=tuple(tuple(row) for row in found.represented(threshold).tolist()),
        supports=found.supports(),
        known=found.sampled is not None,
        stands_for=found.stands_for(),
        rests_on=found.rests_on(),
        open_questions=found.open_questions(TUNED, threshold),
    )


def misread(path: Path, classifier: Classifier, threshold: float, cell: tuple[int, int] | None) -> tuple[Misread, ...]:
    """Return what the tuned classifier misread, the surest first, with its texts.

    cell : (true, read) of the matrix at the threshold, where a right cell returns what was read well; None: all that
        was misread and reaches the threshold
    """
    from stores.store import Store

    with Store.open(path) as store:
        judged = {item.context.unit: item.context for item in store.labels.judged(classifier.codebook)}
    found = []
    test = classifier.evaluation
    for unit, true, read, sure in zip(
        test["unit"], test["true"], test[TUNED]["label"], test[TUNED]["confidence"], strict=True
    ):
        below = sure < threshold
        wanted = (true != read and not below) if cell is None else cell == (true, LEFT_OUT if below else read)
        if wanted:
            context = judged.get(unit)
            about = (context.ref, context.statement, context.text) if context else ("", "", None)
            found.append(Misread(unit, LABELS[true], LABELS[read], sure, below, *about))
    return tuple(sorted(found, key=lambda item: -item.confidence))
