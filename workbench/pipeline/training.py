"""Gold labels ─→ a classifier with an honest test: trained in a worker, evaluated on items that it never saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stores.classifiers import Classifier
from stores.store import Store
from workbench.classifier.config import LABELS, TrainConfig
from workbench.classifier.dataset import Example, check_leak, check_training, data_hash, label_counts, undefined_metrics
from workbench.domain.annotations import Purpose
from workbench.domain.names import thing_name
from workbench.domain.seeds import SEED
from workbench.errors import UsageError
from workbench.pipeline.labels import gold
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.classification import (
    Calibration,
    ClassificationReport,
    ThresholdPoint,
    calibration,
    classification_report,
    threshold_curve,
)
from workbench.stats.resampling import derive_rng

if TYPE_CHECKING:
    from workbench.classifier.predict import Prediction
    from workbench.classifier.progress import TrainProgress
    from workbench.classifier.train import Trained

THRESHOLDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
PUBLISHED_THRESHOLD = 0.9


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """What a training job is to do."""

    name: str
    config: TrainConfig
    codebook: str = "stance"
    training: tuple[str, ...] = ()
    "queues; empty: all training queues of the codebook"
    test: tuple[str, ...] = ()
    by_statement: bool = False
    "whether training and test set may not share a statement either"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"config": self.config.as_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrainSpec:
        return cls(
            name=value["name"],
            config=TrainConfig.from_json(value["config"]),
            codebook=value["codebook"],
            training=tuple(value["training"]),
            test=tuple(value["test"]),
            by_statement=bool(value["by_statement"]),
        )


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """What a training would use."""

    spec: TrainSpec
    train: tuple[Example, ...]
    test: tuple[Example, ...]
    unsettled_train: int
    unsettled_test: int
    warnings: tuple[str, ...]
    "what cannot be measured on this test set"

    def describe(self) -> str:
        """Say what would be trained, for a person who is about to start it."""
        config = self.spec.config
        lines = [
            f"{self.spec.name}: {config.base}, {config.steps:,} steps of {config.batch} pairs, learning rate "
            f"{config.learning_rate:g}, weight decay {config.weight_decay:g}, warm-up {config.warmup}, "
            f"seed {config.seed}",
            f"training: {len(self.train):,} responses ({_counted(self.train)})"
            + (f"; {self.unsettled_train:,} more are disputed" if self.unsettled_train else ""),
            f"test: {len(self.test):,} responses ({_counted(self.test)})"
            + (f"; {self.unsettled_test:,} more wait for adjudication" if self.unsettled_test else ""),
            "no response text is in both"
            + (", and no statement" if self.spec.by_statement else "")
            + f"; hypothesis: {config.hypothesis}; confidence: {config.confidence.value}",
        ]
        return "\n".join([*lines, *(f"! {warning}" for warning in self.warnings)])


def plan_training(store: Store, spec: TrainSpec) -> TrainPlan:
    """Work out what a training uses. Reads only.

    Raises UsageError where there is too little, LeakError where the test set is not unseen.
    """
    name = thing_name(spec.name, "classifier")
    if any(classifier.name == name for classifier in store.classifiers.list()):
        raise UsageError(f"a classifier is named {name!r} already; choose another name with --name")
    train, open_train = gold(store, spec.codebook, spec.training, Purpose.TRAINING)
    test, open_test = gold(store, spec.codebook, spec.test, Purpose.TEST)
    check_training(train)
    warnings = undefined_metrics(test)
    check_leak(train, test, spec.by_statement)
    return TrainPlan(spec, tuple(train), tuple(test), open_train, open_test, warnings)


def models_folder(store_path: Path) -> Path:
    """Return where a store's classifiers lie: in a folder beside it."""
    return store_path.with_name(f"{store_path.name}.models")


def run_training(
    store: Store,
    plan: TrainPlan,
    *,
    job: int | None = None,
    on_progress: Callable[[TrainProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda _: None,
) -> Classifier | None:
    """Train, test beside the untrained base, and register the classifier; None where it was stopped on the way."""
    from workbench.classifier.card import add_metrics
    from workbench.classifier.predict import StanceClassifier
    from workbench.classifier.train import train
    from workbench.classifier.zero_shot import zero_shot

    spec = plan.spec
    folder = models_folder(store.path) / spec.name
    folder.parent.mkdir(exist_ok=True)
    trained: Trained = train(
        spec.config,
        plan.train,
        None,
        folder,
        date=datetime.now(UTC).date().isoformat(),
        on_progress=on_progress,
        should_stop=should_stop,
    )
    if trained.card is None:
        return None
    say(f"trained {trained.step} steps; testing on {len(plan.test)} responses")
    classifier = StanceClassifier.load(folder)
    asked = [(example.text, example.statement) for example in plan.test]
    found = _in_order(p for batch in classifier.predict(asked) for p in batch)
    baseline = _in_order(p for batch in zero_shot(spec.config, asked) for p in batch)
    evaluation = {
        "labels": list(LABELS),
        "unit": [example.item for example in plan.test],
        "true": [LABELS.index(example.label) for example in plan.test],
        "tuned": _rows(found),
        "zero_shot": _rows(baseline),
    }
    data = {
        "data_hash": data_hash([*plan.train, *plan.test]),
        "training_hash": trained.card.data_hash,
        "test_hash": data_hash(plan.test),
        "training": label_counts(plan.train),
        "test": label_counts(plan.test),
        "training_queues": list(spec.training),
        "test_queues": list(spec.test),
        "by_statement": spec.by_statement,
        "steps": trained.card.steps,
        "best_step": trained.card.best_step,
        "seconds": trained.card.seconds,
        "device": trained.card.device,
        "versions": dict(trained.card.versions),
    }
    relative = str(folder.relative_to(store.path.parent))
    report = Evaluation.of(evaluation).report("tuned")
    if report.macro_f1.defined:
        add_metrics(folder, {"test_macro_f1": report.macro_f1.value, "test_accuracy": report.accuracy.value})
    store.classifiers.add(
        spec.name, classifier.card, spec.codebook, relative, spec.config.as_json(), data, evaluation, job
    )
    return store.classifiers.get(spec.name)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A classifier's answers on its test set: every figure about it is computed from these."""

    true: IntArray
    "(n,) place in LABELS"
    predicted: Mapping[str, IntArray]
    "`tuned` and `zero_shot` -> (n,)"
    confidence: Mapping[str, FloatArray]

    @classmethod
    def of(cls, evaluation: Mapping[str, Any]) -> Evaluation:
        """Read what a store keeps."""
        return cls(
            true=np.array(evaluation["true"], dtype=np.int64),
            predicted={way: np.array(evaluation[way]["label"], dtype=np.int64) for way in ("tuned", "zero_shot")},
            confidence={way: np.array(evaluation[way]["confidence"]) for way in ("tuned", "zero_shot")},
        )

    def report(self, way: str, threshold: float = 0.0, *, seed: int = SEED) -> ClassificationReport:
        """Return precision, recall, F1 per class and macro F1 of the answers whose confidence reaches a threshold."""
        kept = self.confidence[way] >= threshold
        rng = derive_rng(seed, "report", way, str(threshold))
        return classification_report(self.true[kept], self.predicted[way][kept], len(LABELS), rng)

    def curve(
        self, way: str, thresholds: Sequence[float] = THRESHOLDS, *, seed: int = SEED
    ) -> tuple[ThresholdPoint, ...]:
        """Return macro F1 and the share kept, by threshold."""
        rng = derive_rng(seed, "curve", way)
        return threshold_curve(
            self.true, self.predicted[way], self.confidence[way], len(LABELS), thresholds, rng, resamples=1000
        )

    def point(self, way: str, threshold: float, *, seed: int = SEED) -> ThresholdPoint:
        """Return the point of the curve at a threshold, the same wherever it is shown."""
        levels = THRESHOLDS if threshold in THRESHOLDS else (*THRESHOLDS, threshold)
        return next(point for point in self.curve(way, levels, seed=seed) if point.threshold == threshold)

    def calibration(self, way: str) -> Calibration:
        """Return how often answers of a confidence are right."""
        return calibration(self.predicted[way] == self.true, self.confidence[way])

    def confusion(self, threshold: float, way: str = "tuned") -> IntArray:
        """Return the test confusion matrix with a last column of those below the threshold: (4, 5), rows true."""
        kept = np.where(self.confidence[way] >= threshold, self.predicted[way], len(LABELS))
        table = np.zeros((len(LABELS), len(LABELS) + 1), dtype=np.int64)
        np.add.at(table, (self.true, kept), 1)
        return table


def evaluation(classifier: Classifier) -> Evaluation:
    """Return a registered classifier's answers on its test set."""
    return Evaluation.of(classifier.evaluation)


def _in_order(predictions: Any) -> list[Prediction]:
    return sorted(predictions, key=lambda prediction: prediction.index)


def _rows(predictions: Sequence[Prediction]) -> dict[str, Any]:
    return {
        "label": [LABELS.index(p.label) for p in predictions],
        "confidence": [round(float(p.confidence), 6) for p in predictions],
    }


def _counted(examples: Sequence[Example]) -> str:
    return ", ".join(f"{label} {n}" for label, n in label_counts(examples).items())


__all__ = [
    "PUBLISHED_THRESHOLD",
    "THRESHOLDS",
    "Evaluation",
    "TrainPlan",
    "TrainSpec",
    "evaluation",
    "models_folder",
    "plan_training",
    "run_training",
]
