"""Figures of a stance classifier on its test set, beside its untrained base."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from workbench.classifier.config import LABELS
from workbench.domain.verdicts import Estimate
from workbench.evidence.classifier_test import Bounds, Support
from workbench.figures.pictures.of_table import Curves, Forest
from workbench.figures.shown import number
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.classifier_assessed import WAYS, Assessed
from workbench.stats.classification import CalibrationBin, ClassificationReport, ThresholdPoint

SHARE = (0.0, 1.0)
HELP = {
    "precision": "of the answers read as a class, the share that people read the same way",
    "recall": "of the answers that belong to a class, the share read as that class",
    "f1": "harmonic mean of precision and recall",
}


@dataclass(frozen=True, slots=True)
class Way:
    """Macro F1 of the classifier, or of its base, of the answers whose confidence reaches a threshold."""

    name: str
    point: ThresholdPoint
    accuracy: Estimate
    error: float
    "expected calibration error, of all answers"
    bounds: Bounds | None


def ways(of: Assessed) -> Table[Way]:
    """Return macro F1 at the threshold and of all answers, fine-tuned beside zero-shot (Faulborn et al. 2025)."""
    rows = [
        Way(
            way,
            of.test.point(way, threshold, seed=of.seed),
            of.report(way, threshold).accuracy,
            of.test.calibration(way).ece,
            of.test.bounds(way, threshold),
        )
        for threshold in dict.fromkeys((of.threshold, 0.0))
        for way in WAYS
    ]
    return Table(
        "ways",
        "Macro F1",
        rows,
        [
            Column("way", "classifier", lambda row: row.name, words=WAYS),
            Column("threshold", "confidence from", lambda row: row.point.threshold, Kind.COEFFICIENT, short="from"),
            Column("macro_f1", "macro F1", lambda row: row.point.macro_f1, Kind.COEFFICIENT, scale=SHARE),
            Column("kept", "kept", lambda row: row.point.kept, Kind.SHARE, help="answers that reach the confidence"),
            Column("n", "texts", lambda row: row.point.n, Kind.COUNT),
            Column("accuracy", "accuracy", lambda row: row.accuracy, Kind.COEFFICIENT, scale=SHARE, aside=True),
            Column(
                "calibration_error",
                "calibration error",
                lambda row: row.error,
                Kind.SIZE,
                help="expected calibration error: mean distance of confidence and accuracy over all answers "
                "(Guo et al. 2017)",
                short="ECE",
            ),
            Column(
                "unsettled_wrong",
                "if unsettled are wrong",
                lambda row: row.bounds.wrong if row.bounds else None,
                Kind.COEFFICIENT,
                help="macro F1 if every text that people disagree on was misread",
                aside=True,
            ),
            Column(
                "unsettled_right",
                "if right",
                lambda row: row.bounds.right if row.bounds else None,
                Kind.COEFFICIENT,
                aside=True,
            ),
        ],
        key=lambda row: (row.name, f"{row.point.threshold:g}"),
        definition=f"Figures {of.test.rests_on()}.",
        pictures=[Forest(values=["macro_f1"], rows=["threshold"], series="way")],
    )


Class = tuple[str, int, ClassificationReport]


def classes_at(of: Assessed, threshold: str) -> Table[Class]:
    """Return the classes at a threshold that a subject names."""
    return classes(of, float(threshold))


def classes(of: Assessed, threshold: float) -> Table[Class]:
    """Return precision, recall and F1 of each class of the answers whose confidence reaches a threshold (Table 7)."""
    rows = [
        (way, place, report)
        for way, report in ((way, of.report(way, threshold)) for way in WAYS)
        for place in range(len(LABELS))
    ]

    def read(place: int) -> Callable[[Class], int]:
        return lambda row: int(row[2].matrix[row[1]][place])

    counts: list[Column[Class]] = [
        Column(f"read_{label}", f"read {label}", read(place), Kind.COUNT, aside=True)
        for place, label in enumerate(LABELS)
    ]
    return Table(
        "classes",
        f"Classes at confidence {threshold:g}" if threshold else "Classes, all answers",
        rows,
        [
            Column("way", "classifier", lambda row: row[0], words=WAYS),
            Column("label", "true label", lambda row: LABELS[row[1]]),
            Column(
                "precision",
                "precision",
                lambda row: row[2].precision[row[1]],
                Kind.COEFFICIENT,
                help=HELP["precision"],
                scale=SHARE,
                aside=True,
            ),
            Column(
                "recall",
                "recall",
                lambda row: row[2].recall[row[1]],
                Kind.COEFFICIENT,
                help=HELP["recall"],
                scale=SHARE,
                aside=True,
            ),
            Column("f1", "F1", lambda row: row[2].f1[row[1]], Kind.COEFFICIENT, help=HELP["f1"], scale=SHARE),
            Column("support", "texts", lambda row: row[2].support[row[1]], Kind.COUNT, help="that reach the threshold"),
            *counts,
        ],
        key=lambda row: (row[0], LABELS[row[1]]),
        notes=[
            f"{WAYS[way]}: macro F1 undefined, {report.macro_f1.undefined}"
            for way, _, report in rows[:: len(LABELS)]
            if not report.macro_f1.defined
        ],
        subject=(f"{threshold:g}",),
        pictures=[Forest(values=["f1"], rows=["label"], series="way")],
    )


def supports(of: Assessed) -> Table[Support]:
    """Return the basis of each true class's figures."""
    return Table(
        "supports",
        "Basis of each class's figures",
        of.test.supports(),
        [
            Column("label", "true label", lambda row: row.label),
            Column("texts", "test texts", lambda row: row.texts, Kind.COUNT),
            Column(
                "effective_n",
                "effective n",
                lambda row: row.effective_n,
                Kind.COUNT,
                help="(Σw)² / Σw² over the texts drawn by chance",
            ),
            Column(
                "certain",
                "labelled with certainty",
                lambda row: row.certain,
                Kind.SHARE,
                help="share of the class's answers whose text was labelled with certainty",
            ),
        ],
        key=lambda row: (row.label,),
        definition=f"{of.test.stands_for()[0].upper()}{of.test.stands_for()[1:]}.",
    )


Points = tuple[ThresholdPoint, ThresholdPoint]


def curve(of: Assessed) -> Table[Points]:
    """Return macro F1 and the share kept by confidence (Figure 3)."""
    tuned, plain = (of.test.curve(way, seed=of.seed) for way in WAYS)

    def columns(place: int, way: str) -> list[Column[Points]]:
        name = WAYS[way]
        return [
            Column(
                f"{way}_macro_f1",
                f"{name}: macro F1",
                lambda row: row[place].macro_f1,
                Kind.COEFFICIENT,
                short=f"{name} F1",
                scale=SHARE,
            ),
            Column(f"{way}_kept", "kept", lambda row: row[place].kept.value, Kind.SHARE, scale=SHARE),
            Column(f"{way}_n", "n", lambda row: row[place].n, Kind.COUNT, aside=True),
        ]

    return Table(
        "curve",
        "Macro F1 and the share kept when answers below a confidence are left out",
        list(zip(tuned, plain, strict=True)),
        [
            Column("threshold", "confidence", lambda row: row[0].threshold, Kind.COEFFICIENT, short="from"),
            *columns(0, "tuned"),
            *columns(1, "zero_shot"),
            Column("chosen", "chosen", lambda row: row[0].threshold == of.threshold, Kind.MARK, mark="◂", aside=True),
        ],
        key=lambda row: (f"{row[0].threshold:g}",),
        pictures=[
            Curves(
                x="threshold",
                values=["tuned_macro_f1", "zero_shot_macro_f1", "tuned_kept"],
                axis="macro F1, share kept",
                marked="chosen",
            )
        ],
    )


Bin = tuple[str, CalibrationBin]


def calibration(of: Assessed) -> Table[Bin]:
    """Return how often answers of a confidence are right (Guo et al. 2017)."""
    found = {way: of.test.calibration(way) for way in WAYS}
    return Table(
        "calibration",
        "Accuracy by confidence",
        [(way, one) for way, of_way in found.items() for one in of_way.bins],
        [
            Column("way", "classifier", lambda row: row[0], words=WAYS),
            Column("low", "above", lambda row: row[1].low, Kind.COEFFICIENT),
            Column("high", "up to", lambda row: row[1].high, Kind.COEFFICIENT),
            Column(
                "accuracy",
                "right",
                lambda row: row[1].accuracy,
                Kind.SHARE,
                scale=SHARE,
                reference=lambda row: None if math.isnan(row[1].mean_confidence) else row[1].mean_confidence,
            ),
            Column("mean_confidence", "sure", lambda row: row[1].mean_confidence, Kind.SHARE, help="mean confidence"),
            Column("n", "texts", lambda row: row[1].n, Kind.COUNT),
        ],
        key=lambda row: (row[0], f"{row[1].high:g}"),
        notes=[
            f"{WAYS[way]}: expected calibration error {number(one.ece, Kind.SIZE)}, n {one.n:,}"
            for way, one in found.items()
            if not math.isnan(one.ece)
        ],
        pictures=[
            Curves(x="mean_confidence", values=["accuracy"], series="way", identity="accuracy equal to confidence")
        ],
    )


def training(of: Assessed) -> Table[tuple[str, str]]:
    """Return the training and test data of the classifier, in enough detail to repeat the training."""
    classifier = of.classifier
    data, config = classifier.data, classifier.config
    fields: Mapping[str, object] = {
        "base": config.get("base"),
        "trained on": _labels(data.get("training")),
        "tested on": _labels(data.get("test")),
        "training queues": _names(data.get("training_queues")),
        "test queues": _names(data.get("test_queues")),
        "kept apart": "by statement" if data.get("by_statement") else "by text: the two share no response text",
        "training hash": data.get("training_hash"),
        "test hash": data.get("test_hash"),
        "steps": f"{data.get('steps', 0):,}, the best after {data.get('best_step', 0):,}",
        "took": f"{data.get('seconds') or 0:,.0f} s on {data.get('device', '–')}",
        "versions": ", ".join(f"{name} {version}" for name, version in (data.get("versions") or {}).items()),
        "settings": ", ".join(f"{name} {value}" for name, value in config.items() if name != "base"),
        "weights": f"{classifier.folder}, version {classifier.version}",
        "job": classifier.job,
    }
    return Table(
        "training",
        "Training and test",
        [(name, str(value)) for name, value in fields.items() if value not in (None, "")],
        [Column("what", "", lambda row: row[0]), Column("value", "", lambda row: row[1])],
        key=lambda row: (row[0],),
    )


def _labels(counts: Mapping[str, int] | None) -> str:
    if not counts:
        return ""
    return f"{sum(counts.values()):,} answers: " + ", ".join(f"{label} {n:,}" for label, n in counts.items())


def _names(queues: Sequence[str] | None) -> str:
    return ", ".join(queues) if queues else "all"
