"""The figures of a stance classifier, from its answers on a test set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import methodcaller

import numpy as np

from stores.annotation.labels import Classifier, ReadTwice
from stores.core.store import Store, at_once
from workbench.classifier.config import LABELS, PUBLISHED_THRESHOLD
from workbench.domain.keys import SEED
from workbench.domain.readings import free_text
from workbench.domain.verdicts import Estimate
from workbench.evidence.reader_quality import (
    Evaluation,
    F1Bounds,
    ReaderQuality,
    Support,
    evaluation,
    quality,
    quality_data,
    quality_warnings,
)
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Curves, Forest, Matrix
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table
from workbench.stats.agreement import cohen_kappa, observed_agreement
from workbench.stats.arrays import BoolArray
from workbench.stats.classification import CalibrationBin, ClassificationReport, ThresholdPoint
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

NAN = float("nan")
WAYS = {"tuned": "fine-tuned", "zero_shot": "zero-shot"}


@dataclass(frozen=True, slots=True)
class TestText:
    """A text of the test set."""

    instrument: str
    ref: str
    variant: str
    statement: str
    text: str


@dataclass(frozen=True, eq=False)
class Assessed:
    """A classifier with its answers on the test set, at a threshold of confidence."""

    classifier: Classifier
    threshold: float = PUBLISHED_THRESHOLD
    seed: int = SEED
    texts: Mapping[int, TestText] = field(default_factory=dict)
    "unit -> the text that was read, if the store has it"
    models: Mapping[str, BoolArray] = field(default_factory=dict)
    "model -> (n,) whether it gave a text of the test set"
    others: Mapping[str, Sequence[ReadTwice]] = field(default_factory=dict)
    "another classifier of the same codebook -> the answers that both read"

    @cached_property
    def test(self) -> Evaluation:
        return evaluation(self.classifier)

    def report(self, way: str, threshold: float) -> ClassificationReport:
        return self.test.report(way, threshold, seed=self.seed)

    @cached_property
    def quality(self) -> ReaderQuality:
        """The quality of the readings that reach the threshold."""
        return quality(self.classifier, self.threshold, seed=self.seed)

    @property
    def header(self) -> tuple[str, ...]:
        """The warning that the quality is too poor for figures, if it is."""
        return tuple(quality_warnings(self.quality))

    def description(self) -> tuple[str, ...]:
        """Return a description of the classifier and of its figures."""
        config, data, stands_for = (
            self.classifier.config,
            self.classifier.data,
            self.test.stands_for(),
        )
        return (
            *self.header,
            f"{self.classifier.name}: {config['base']}, trained "
            f"{self.classifier.created_at[:10]}, {data['steps']} steps, seed {config['seed']}.",
            f"{stands_for[0].upper()}{stands_for[1:]}.",
            *(f"! {question}" for question in self.test.open_questions("tuned", self.threshold)),
        )

    def about(self) -> dict[str, object]:
        """Return the subject and basis of the figures, for programs."""
        test, inclusion = self.test, self.test.sampled
        return {
            "name": self.classifier.name,
            "config": self.classifier.config,
            "data": self.classifier.data,
            "threshold": self.threshold,
            "quality": quality_data(self.quality),
            "test": {
                "stands_for": test.stands_for(),
                "inclusion_known": inclusion is not None,
                "answers": test.answers if inclusion else None,
                "drawn_at": test.at if inclusion else None,
                "texts": len(test.true),
                "effective_n": inclusion.effective_n() if inclusion else None,
                "certainty_share": inclusion.certain_share() if inclusion else None,
                "unsettled": len(test.unsettled.given),
                "unlabelled": test.unlabelled,
            },
        }


@at_once
def assessed(
    store: Store, name: str | None, threshold: float = PUBLISHED_THRESHOLD, seed: int = SEED
) -> Assessed:
    """Return a classifier of a store with the texts of its test set.

    It is the newest one unless one is named.
    """
    classifier = store.classifiers.get(name)
    items = (item.context for item in store.labels.judged(classifier.codebook))
    text_by_unit = {
        context.unit: TestText(
            context.instrument, context.ref, context.variant, context.statement, context.text
        )
        for context in items
    }
    other_classifiers = [
        other
        for other in store.classifiers.list()
        if other.codebook == classifier.codebook and other != classifier
    ]
    read_twice = {
        other.name: store.classifiers.read_alike(classifier, other, threshold)
        for other in other_classifiers
    }
    return Assessed(
        classifier, threshold, seed, text_by_unit, _givers(store, classifier), read_twice
    )


def _givers(store: Store, classifier: Classifier) -> dict[str, BoolArray]:
    """Return the texts of the test set that each model gave."""
    units = evaluation(classifier).units
    index_by_unit = {unit: index for index, unit in enumerate(units)}
    has_given: dict[str, BoolArray] = {}
    for audit in free_text() if units else ():
        names = {run.model_id: run.model for run in store.runs.list(audit, personas=True)}
        for giver in store.bias.givers(audit, units):
            if giver.model_id in names:
                has_given.setdefault(names[giver.model_id], np.zeros(len(units), dtype=bool))[
                    index_by_unit[giver.unit]
                ] = True
    return dict(sorted(has_given.items()))


SHARE = (0.0, 1.0)
HELP = {
    "precision": "of the answers read as a class, the share that people read the same way",
    "recall": "of the answers that belong to a class, the share read as that class",
    "f1": "harmonic mean of precision and recall",
}


@dataclass(frozen=True, slots=True)
class ReadingWay:
    """Macro F1 of the classifier, or of its base.

    It is that of answers whose confidence reaches a threshold.
    """

    name: str
    point: ThresholdPoint
    accuracy: Estimate
    error: float
    "expected calibration error, of all answers"
    bounds: F1Bounds | None


def ways(assessed: Assessed) -> Table[ReadingWay]:
    """Return macro F1 at the threshold and of all answers, fine-tuned beside zero-shot.

    See Faulborn et al. 2025.
    """
    rows = [
        ReadingWay(
            way,
            assessed.test.point(way, threshold, seed=assessed.seed),
            assessed.report(way, threshold).accuracy,
            assessed.test.calibration(way).ece,
            assessed.test.bounds(way, threshold),
        )
        for threshold in dict.fromkeys((assessed.threshold, 0.0))
        for way in WAYS
    ]
    return Table(
        "ways",
        "Macro F1",
        rows,
        _way_columns(),
        key=lambda row: (row.name, f"{row.point.threshold:g}"),
        definition=f"Figures {assessed.test.rests_on()}.",
        pictures=[Forest(values=["macro_f1"], rows=["threshold"], series="way")],
    )


def _way_columns() -> list[Column[ReadingWay]]:
    """Return the columns of the classifier beside its base."""
    return [
        Column("way", "classifier", lambda row: row.name, words=WAYS),
        Column(
            "threshold",
            "confidence from",
            lambda row: row.point.threshold,
            Kind.COEFFICIENT,
            short="from",
        ),
        Column(
            "macro_f1",
            "macro F1",
            lambda row: row.point.macro_f1,
            Kind.COEFFICIENT,
            scale=SHARE,
        ),
        Column(
            "kept",
            "kept",
            lambda row: row.point.kept,
            Kind.SHARE,
            help="answers that reach the confidence",
        ),
        Column("n", "texts", lambda row: row.point.n, Kind.COUNT),
        Column(
            "accuracy",
            "accuracy",
            lambda row: row.accuracy,
            Kind.COEFFICIENT,
            scale=SHARE,
            aside=True,
        ),
        Column(
            "calibration_error",
            "calibration error",
            lambda row: row.error,
            Kind.SIZE,
            help="expected calibration error: mean distance of confidence and accuracy over "
            "all answers "
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
    ]


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of one true class, read by the classifier or by its base."""

    way: str
    index: int
    "position of the true label"
    report: ClassificationReport

    @property
    def label(self) -> str:
        return LABELS[self.index]

    def n_read(self, index: int) -> int:
        """Return the number of texts of the class that were read as the label with an index."""
        return int(self.report.matrix[self.index][index])


def classes_at(assessed: Assessed, threshold: str) -> Table[ClassScores]:
    """Return the table of classes at a threshold that the subject of a table names."""
    return classes(assessed, float(threshold))


def classes(assessed: Assessed, threshold: float) -> Table[ClassScores]:
    """Return precision, recall and F1 of each class (Table 7).

    Only answers count whose confidence reaches the threshold.
    """
    rows = []
    notes = []
    for way in WAYS:
        report = assessed.report(way, threshold)
        rows += [ClassScores(way, index, report) for index in range(len(LABELS))]
        if not report.macro_f1.defined:
            notes.append(f"{WAYS[way]}: macro F1 undefined, {report.macro_f1.undefined}")
    return Table(
        "classes",
        f"Classes at confidence {threshold:g}" if threshold else "Classes, all answers",
        rows,
        _class_columns(),
        key=lambda row: (row.way, row.label),
        notes=notes,
        subject=(f"{threshold:g}",),
        pictures=[Forest(values=["f1"], rows=["label"], series="way")],
    )


def _class_columns() -> list[Column[ClassScores]]:
    """Return the columns of the scores of each class, and of the labels that were read."""
    columns: list[Column[ClassScores]] = [
        Column("way", "classifier", lambda row: row.way, words=WAYS),
        Column("label", "true label", lambda row: row.label),
        Column(
            "precision",
            "precision",
            lambda row: row.report.precision[row.index],
            Kind.COEFFICIENT,
            help=HELP["precision"],
            scale=SHARE,
            aside=True,
        ),
        Column(
            "recall",
            "recall",
            lambda row: row.report.recall[row.index],
            Kind.COEFFICIENT,
            help=HELP["recall"],
            scale=SHARE,
            aside=True,
        ),
        Column(
            "f1",
            "F1",
            lambda row: row.report.f1[row.index],
            Kind.COEFFICIENT,
            help=HELP["f1"],
            scale=SHARE,
        ),
        Column(
            "support",
            "texts",
            lambda row: row.report.support[row.index],
            Kind.COUNT,
            help="that reach the threshold",
        ),
    ]
    for index, label in enumerate(LABELS):
        n_read = methodcaller("n_read", index)
        columns.append(Column(f"read_{label}", f"read {label}", n_read, Kind.COUNT, aside=True))
    return columns


def by_model(assessed: Assessed) -> Table[tuple[str, ClassificationReport]]:
    """Return the quality of the readings for each model's answers.

    If it differs between models, a difference of their bias scores may be due to misreadings.
    """
    rows = [
        (model, assessed.test.report("tuned", assessed.threshold, seed=assessed.seed, among=among))
        for model, among in assessed.models.items()
    ]

    def recall(index: int) -> Callable[[tuple[str, ClassificationReport]], Estimate]:
        return lambda row: row[1].recall[index]

    return Table(
        "by_model",
        f"Recall by model at confidence {assessed.threshold:g}"
        if assessed.threshold
        else "Recall by model",
        rows,
        [
            Column("model", "model", lambda row: row[0]),
            Column(
                "texts",
                "texts",
                lambda row: sum(row[1].support),
                Kind.COUNT,
                help="that reach the threshold",
            ),
            Column(
                "accuracy", "accuracy", lambda row: row[1].accuracy, Kind.COEFFICIENT, scale=SHARE
            ),
            *(
                Column(
                    label, label, recall(index), Kind.COEFFICIENT, help=HELP["recall"], scale=SHARE
                )
                for index, label in enumerate(LABELS)
            ),
        ],
        key=lambda row: (row[0],),
        notes=["A text that several models gave counts for each of them."],
        empty="The store does not know which models gave the texts of the test set.",
        pictures=[Forest(values=["accuracy"], rows=["model"])],
    )


@dataclass(frozen=True, slots=True)
class Retrained:
    """The agreement of two classifiers on the same answers."""

    other: str
    same: Estimate
    """share of texts with the same label

    Texts that one of them does not read at the threshold are left out.
    """
    kappa: Estimate
    change: float
    """change of the balance, this classifier's minus the other's

    The balance is that of agreeing minus disagreeing texts, among those that both read.
    """


def retrained(assessed: Assessed) -> Table[Retrained]:
    """Return the agreement of other classifiers with this one on the answers that it reads.

    Another classifier may be the same one trained again.
    """
    return Table(
        "retrained",
        "The same answers read by other classifiers",
        [_retrained(assessed, other, rows) for other, rows in assessed.others.items() if rows],
        [
            Column("other", "classifier", lambda row: row.other),
            Column("same", "same label", lambda row: row.same, Kind.SHARE, scale=SHARE),
            Column(
                "kappa",
                "κ",
                lambda row: row.kappa,
                Kind.COEFFICIENT,
                scale=(-1.0, 1.0),
                help="Cohen's",
            ),
            Column(
                "change",
                "change of the balance",
                lambda row: row.change,
                Kind.POINTS,
                help="Agreeing minus disagreeing texts, as this classifier reads them minus as "
                "the other does.",
            ),
            Column(
                "texts",
                "texts",
                lambda row: row.same.n,
                Kind.COUNT,
                help="different ones that both read",
            ),
            Column(
                "below",
                "below",
                lambda row: row.same.excluded,
                Kind.COUNT,
                help="read by one of them alone",
            ),
        ],
        key=lambda row: (row.other,),
        definition="Texts count that both read with a confidence of the threshold or more. "
        "Intervals take statements "
        "as a sample. Two classifiers that err alike agree on what both misread.",
        empty="No other classifier has read these answers. To train one again: workbench train "
        "STORE --name NAME",
    )


def _retrained(assessed: Assessed, other: str, rows: Sequence[ReadTwice]) -> Retrained:
    codes = {label: code for code, label in enumerate(LABELS)}
    counts = [row.texts for row in rows]
    statement, first, second = (
        np.repeat(column, counts)
        for column in (
            [row.statement for row in rows],
            [MISSING if row.first is None else codes[row.first] for row in rows],
            [MISSING if row.second is None else codes[row.second] for row in rows],
        )
    )
    rng = derive_rng(assessed.seed, "retrained", other)
    both_read = (first != MISSING) & (second != MISSING)
    balance = [
        float(
            np.mean(labels[both_read] == codes["agree"])
            - np.mean(labels[both_read] == codes["disagree"])
        )
        if both_read.any()
        else NAN
        for labels in (first, second)
    ]
    return Retrained(
        other,
        observed_agreement(first, second, rng, clusters=statement),
        cohen_kappa(first, second, rng, clusters=statement),
        balance[0] - balance[1],
    )


def supports(assessed: Assessed) -> Table[Support]:
    """Return the number of test texts behind each true class's figures."""
    return Table(
        "supports",
        "Basis of each class's figures",
        assessed.test.supports(),
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
        definition=f"{assessed.test.stands_for()[0].upper()}{assessed.test.stands_for()[1:]}.",
    )


Points = tuple[ThresholdPoint, ThresholdPoint]


def curve(assessed: Assessed) -> Table[Points]:
    """Return macro F1 and the share of answers above a confidence (Figure 3)."""
    tuned, zero_shot = (assessed.test.curve(way, seed=assessed.seed) for way in WAYS)

    def columns(index: int, way: str) -> list[Column[Points]]:
        name = WAYS[way]
        return [
            Column(
                f"{way}_macro_f1",
                f"{name}: macro F1",
                lambda row: row[index].macro_f1,
                Kind.COEFFICIENT,
                short=f"{name} F1",
                scale=SHARE,
            ),
            Column(
                f"{way}_kept", "kept", lambda row: row[index].kept.value, Kind.SHARE, scale=SHARE
            ),
            Column(f"{way}_n", "n", lambda row: row[index].n, Kind.COUNT, aside=True),
        ]

    return Table(
        "curve",
        "Macro F1 and the share kept when answers below a confidence are left out",
        list(zip(tuned, zero_shot, strict=True)),
        [
            Column(
                "threshold",
                "confidence",
                lambda row: row[0].threshold,
                Kind.COEFFICIENT,
                short="from",
            ),
            *columns(0, "tuned"),
            *columns(1, "zero_shot"),
            Column(
                "chosen",
                "chosen",
                lambda row: row[0].threshold == assessed.threshold,
                Kind.MARK,
                mark="◂",
                aside=True,
            ),
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


def calibration(assessed: Assessed) -> Table[Bin]:
    """Return the share of right readings among answers of a confidence (Guo et al. 2017)."""
    calibrations = {way: assessed.test.calibration(way) for way in WAYS}
    return Table(
        "calibration",
        "Accuracy by confidence",
        [(way, bin_) for way, of_way in calibrations.items() for bin_ in of_way.bins],
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
                reference=lambda row: (
                    None if math.isnan(row[1].mean_confidence) else row[1].mean_confidence
                ),
            ),
            Column(
                "mean_confidence",
                "sure",
                lambda row: row[1].mean_confidence,
                Kind.SHARE,
                help="mean confidence",
            ),
            Column("n", "texts", lambda row: row[1].n, Kind.COUNT),
        ],
        key=lambda row: (row[0], f"{row[1].high:g}"),
        notes=[
            f"{WAYS[way]}: expected calibration error {number(fit.ece, Kind.SIZE)}, n {fit.n:,}"
            for way, fit in calibrations.items()
            if not math.isnan(fit.ece)
        ],
        pictures=[
            Curves(
                x="mean_confidence",
                values=["accuracy"],
                series="way",
                identity="accuracy equal to confidence",
            )
        ],
    )


def training(assessed: Assessed) -> Table[tuple[str, str]]:
    """Return the training and test data of the classifier, in enough detail to repeat it."""
    classifier = assessed.classifier
    data, config = classifier.data, classifier.config
    fields: Mapping[str, object] = {
        "base": config.get("base"),
        "trained on": _labels(data.get("training")),
        "tested on": _labels(data.get("test")),
        "training queues": _names(data.get("training_queues")),
        "test queues": _names(data.get("test_queues")),
        "kept apart": "by statement"
        if data.get("by_statement")
        else "by text: the two share no response text",
        "training hash": data.get("training_hash"),
        "test hash": data.get("test_hash"),
        "steps": f"{data.get('steps', 0):,}, the best after {data.get('best_step', 0):,}",
        "took": f"{data.get('seconds') or 0:,.0f} s on {data.get('device', '–')}",
        "versions": ", ".join(
            f"{name} {version}" for name, version in (data.get("versions") or {}).items()
        ),
        "settings": ", ".join(
            f"{name} {value}" for name, value in config.items() if name != "base"
        ),
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
    return f"{sum(counts.values()):,} answers: " + ", ".join(
        f"{label} {count:,}" for label, count in counts.items()
    )


def _names(queues: Sequence[str] | None) -> str:
    return ", ".join(queues) if queues else "all"


BELOW = "below the threshold"
ReadAs = tuple[str, Sequence[int], Sequence[float]]


def confusion(assessed: Assessed) -> Table[ReadAs]:
    """Return the confusion matrix of the fine-tuned classifier."""
    counts, represented = (
        assessed.test.confusion(assessed.threshold).tolist(),
        assessed.test.represented(assessed.threshold).tolist(),
    )
    names = (*LABELS, "below")

    def count(column: int) -> Callable[[ReadAs], int]:
        return lambda row: row[1][column]

    def share(column: int) -> Callable[[ReadAs], float | None]:
        return lambda row: row[2][column] / sum(row[2]) if sum(row[2]) else None

    columns: list[Column[ReadAs]] = []
    for index, name in enumerate(names):
        title = BELOW if name == "below" else name
        columns += [
            Column(f"read_{name}", title, count(index), Kind.COUNT, help="test texts", short=name),
            Column(
                f"share_{name}",
                f"{title}, share",
                share(index),
                Kind.SHARE,
                help="of the answers that the row's texts represent",
                aside=True,
            ),
        ]
    return Table(
        "confusion",
        f"Confusion matrix at confidence {assessed.threshold:g}",
        list(zip(LABELS, counts, represented, strict=True)),
        [
            Column("label", "people say", lambda row: row[0]),
            *columns,
            Column("n", "n", lambda row: sum(row[1]), Kind.COUNT, help="test texts"),
        ],
        key=lambda row: (row[0],),
        link=lambda row: Link("texts", (row[0],)),
        pictures=[
            Matrix(
                columns=[f"read_{name}" for name in names],
                shades=[f"share_{name}" for name in names],
                rows=["label"],
                titles=("people say", "read as"),
            )
        ],
    )


@dataclass(frozen=True, slots=True)
class Misread:
    """A text of the test set with the reading of the classifier."""

    unit: int
    true: str
    read: str
    confidence: float
    below: bool
    "whether the threshold leaves it out"
    found: TestText | None
    "the text, or None if the store does not hold it"


def texts(assessed: Assessed, true: str = "", read: str = "") -> Table[Misread]:
    """Return the misread texts that reach the threshold, the most confident first.

    `true` and `read` select the texts of one cell of the matrix. `true` alone selects those of its
    row, whatever they were read as.
    """
    rows = sorted(
        (row for row in _all_texts(assessed) if _wanted(row, true, read)),
        key=lambda row: -row.confidence,
    )
    title = f"Test texts that people call {true}" + (f", read {read}" if read else "")
    return Table(
        "texts" if true else "misread",
        title if true else f"Misread at confidence {assessed.threshold:g}",
        rows,
        [
            Column("unit", "item", lambda row: str(row.unit), aside=True),
            Column("true", "people say", lambda row: row.true),
            Column("read", "read as", lambda row: row.read),
            Column("confidence", "confidence", lambda row: row.confidence, Kind.COEFFICIENT),
            Column("below", BELOW, lambda row: row.below, Kind.MARK, short="below"),
            Column("ref", "statement", lambda row: row.found.ref if row.found else None),
            Column(
                "statement",
                "statement's text",
                lambda row: row.found.statement if row.found else None,
                aside=True,
            ),
            Column("text", "answer", _text, Kind.PROSE),
        ],
        key=lambda row: (str(row.unit),),
        empty="No misread answers.",
        detail=lambda row: [_text(row)],
        subject=tuple(filter(None, (true, read))),
    )


def _text(row: Misread) -> str:
    return row.found.text if row.found else "(this store lacks the text)"


def _wanted(row: Misread, true: str, read: str) -> bool:
    if not true:
        return row.true != row.read and not row.below
    return row.true == true and (not read or read == ("below" if row.below else row.read))


def _all_texts(assessed: Assessed) -> list[Misread]:
    evaluation_ = assessed.classifier.evaluation
    tuned = evaluation_["tuned"]
    return [
        Misread(
            unit,
            LABELS[true],
            LABELS[read],
            confidence,
            confidence < assessed.threshold,
            assessed.texts.get(unit),
        )
        for unit, true, read, confidence in zip(
            evaluation_["unit"],
            evaluation_["true"],
            tuned["label"],
            tuned["confidence"],
            strict=True,
        )
    ]


def book(assessed: Assessed) -> Book:
    """Return all figures of a classifier.

    The details of a row of the matrix are the texts of its label.
    """
    threshold = (f"{assessed.threshold:g}",)
    return Book(
        f"The classifier {assessed.classifier.name}",
        [
            Entry("ways", "macro F1", partial(ways, assessed)),
            Entry("classes", "classes", partial(classes_at, assessed), [threshold, ("0",)]),
            Entry("supports", "basis of each class", partial(supports, assessed)),
            Entry("curve", "by confidence", partial(curve, assessed)),
            Entry("confusion", "confusion matrix", partial(confusion, assessed)),
            Entry("misread", "misread answers", partial(texts, assessed)),
            Entry("calibration", "calibration", partial(calibration, assessed)),
            Entry("training", "training", partial(training, assessed)),
            Entry("by_model", "recall by model", partial(by_model, assessed)),
            Entry("retrained", "other classifiers", partial(retrained, assessed)),
        ],
        behind={"texts": partial(texts, assessed)},
        told=assessed.description(),
        header=assessed.header,
        notes=[
            "Each test text counts for the answers that it represents. Intervals are 95 %: "
            "Wilson's at an effective n for proportions, resampled texts for macro F1. Zero-shot "
            "is the same model before training."
        ],
        about=assessed.about(),
    )


def printed(assessed: Assessed, *, every: bool) -> Sequence[AnyTable]:
    """Return the tables that the command line shows.

    With `every` they are all tables, for programs.
    """
    tables: list[AnyTable] = [
        ways(assessed),
        classes(assessed, assessed.threshold),
        supports(assessed),
        curve(assessed),
    ]
    if every:
        tables += [classes(assessed, 0.0)] if assessed.threshold else []
        tables += [
            by_model(assessed),
            retrained(assessed),
            confusion(assessed),
            texts(assessed),
            calibration(assessed),
            training(assessed),
        ]
    return tables
