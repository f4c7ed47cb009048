"""The training of a classifier from gold labels, and its test on items that it never saw."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stores.annotation.labels import Classifier, PredictedLabel
from stores.core.store import Store
from workbench import registry
from workbench.classifier.config import LABELS, TrainConfig
from workbench.classifier.dataset import (
    Example,
    check_leak,
    check_training,
    data_hash,
    label_counts,
    undefined_metrics,
)
from workbench.domain.annotations import Purpose
from workbench.domain.courses import Course
from workbench.domain.names import thing_name
from workbench.errors import CheckpointError, UsageError
from workbench.evidence.reader_quality import UNKNOWN, DrawnSet, Evaluation, drawn_set
from workbench.evidence.readings import (
    Disputed,
    gold_labels,
    how_to_ask,
    labels_of,
    mixed_versions_note,
    versions,
)
from workbench.evidence.rulings import NONE_RULED, RuledExamples, joined, ruled_examples
from workbench.stats.classification import ClassificationReport

if TYPE_CHECKING:
    from workbench.classifier.card import Card
    from workbench.classifier.config import TrainProgress
    from workbench.classifier.predict import Prediction
    from workbench.classifier.train import Trained


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """The request for a training: configuration, codebook and queues."""

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
    """The training and test data of a training."""

    spec: TrainSpec
    train: tuple[Example, ...]
    test: tuple[Example, ...]
    unsettled_train: int
    disputed: tuple[Disputed, ...]
    "test texts on which people disagree"
    draw: DrawnSet
    "what the test texts stand for"
    warnings: tuple[str, ...]
    """what cannot be measured on this test set, and whether labels of several versions of the
    codebook are mixed"""
    ruled: RuledExamples = NONE_RULED
    "what auditors' rulings add, which is among `train`"
    by_one: tuple[int, int] = (0, 0)
    "responses for training and for the test whose label is what one person said"
    versions: Mapping[int, int] = field(default_factory=dict)
    "labels that were given under each version of the codebook"

    def describe(self) -> str:
        """Return a description of the training for a user who is about to start it."""
        config = self.spec.config
        lines = [
            f"{self.spec.name}: {config.base}, {config.steps:,} steps of {config.batch} pairs, "
            f"learning rate {config.learning_rate:g}, weight decay {config.weight_decay:g}, "
            f"warm-up {config.warmup}, seed {config.seed}",
            f"training: {len(self.train):,} responses ({_counted(self.train)})"
            + _by_one(self.by_one[0])
            + (f"; {self.unsettled_train:,} more are disputed" if self.unsettled_train else ""),
            f"test: {len(self.test):,} responses ({_counted(self.test)})"
            + _by_one(self.by_one[1])
            + (f"; {len(self.disputed):,} more wait for adjudication" if self.disputed else "")
            + (f"; {self.draw.unlabelled:,} have no label" if self.draw.unlabelled else ""),
            *filter(None, [self.ruled.describe()]),
            self._stands_for(),
            "no response text is in both"
            + (", and no statement" if self.spec.by_statement else "")
            + f"; hypothesis: {config.hypothesis}; confidence: {config.confidence.value}",
        ]
        return "\n".join([*lines, *(f"! {warning}" for warning in self.warnings)])

    def _stands_for(self) -> str:
        if self.draw.unknown:
            return f"{UNKNOWN} ({self.draw.unknown})"
        return (
            f"the test stands for the {self.draw.answers:,} answers that could be drawn on "
            f"{self.draw.at[:10]}"
        )


def plan_training(store: Store, spec: TrainSpec) -> TrainPlan:
    """Return the plan of a training. Nothing is written.

    Raises UsageError if there are too few labels, and LeakError if training and test set overlap.
    """
    name = thing_name(spec.name, "classifier")
    if any(classifier.name == name for classifier in store.classifiers.list()):
        raise UsageError(f"a classifier is named {name!r} already; choose another name with --name")
    train, open_train = gold_labels(store, spec.codebook, spec.training, Purpose.TRAINING)
    test, disputed = gold_labels(store, spec.codebook, spec.test, Purpose.TEST)
    tested = [*test, *(item.example for item in disputed)]
    ruled = ruled_examples(store, spec.codebook, tested, by_statement=spec.by_statement)
    train = joined(train, ruled.examples)
    if not train and test:
        raise UsageError(
            f"the {len(test):,} labelled responses are all of test sets, which stay unseen in "
            "training. Label others: workbench sample STORE --name train --purpose training draws "
            "them, among texts that no test set has"
        )
    check_training(train)
    warnings = undefined_metrics(test)
    check_leak(train, test, spec.by_statement)
    draw = drawn_set(store, spec.codebook, spec.test, {example.item for example in test})
    sets = ((spec.training, Purpose.TRAINING), (spec.test, Purpose.TEST))
    labelled = [labels_of(store, spec.codebook, queues, purpose) for queues, purpose in sets]
    by_one = (
        sum(item.gold_by_one for item in labelled[0]),
        sum(item.gold_by_one for item in labelled[1]),
    )
    n_by_version = versions(chain(*labelled))
    warnings = (*warnings, *filter(None, [mixed_versions_note(n_by_version)]))
    return TrainPlan(
        spec,
        tuple(train),
        tuple(test),
        len(open_train),
        tuple(disputed),
        draw,
        warnings,
        ruled,
        by_one,
        n_by_version,
    )


def _by_one(n: int) -> str:
    return f"; {n:,} of them labelled by one person" if n else ""


def models_folder(store_path: Path) -> Path:
    """Return the folder of a store's classifiers, which is beside the store."""
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
    """Train a classifier, test it beside the untrained base, and register it.

    Return the classifier, or None if the training was stopped and can be resumed.
    """
    from workbench.classifier.card import add_metrics
    from workbench.classifier.predict import StanceClassifier, zero_shot
    from workbench.classifier.train import train

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
    say(f"trained {trained.step:,} steps; testing on {len(plan.test):,} responses")
    classifier = StanceClassifier.load(folder)
    texts = [*plan.test, *(item.example for item in plan.disputed)]
    pairs = [(example.text, example.statement) for example in texts]
    tuned = _in_order(chain.from_iterable(classifier.predict(pairs)))
    baseline = _in_order(chain.from_iterable(zero_shot(spec.config, pairs)))
    evaluation = evaluated(plan, tuned, baseline)
    relative = str(folder.relative_to(store.path.parent))
    report = Evaluation.from_json(evaluation).report("tuned")
    if report.macro_f1.defined:
        add_metrics(folder, _metrics(Evaluation.from_json(evaluation), report))
    store.classifiers.add(
        spec.name,
        classifier.card,
        spec.codebook,
        relative,
        spec.config.as_json(),
        _training_record(plan, trained.card),
        evaluation,
        job,
    )
    return store.classifiers.get(spec.name)


def _training_record(plan: TrainPlan, card: Card) -> dict[str, Any]:
    """Return the record of the data and the training of a classifier, as a store keeps it."""
    return {
        "data_hash": data_hash([*plan.train, *plan.test]),
        "training_hash": card.data_hash,
        "test_hash": data_hash(plan.test),
        "training": label_counts(plan.train),
        "test": label_counts(plan.test),
        "training_queues": list(plan.spec.training),
        "test_queues": list(plan.spec.test),
        "by_statement": plan.spec.by_statement,
        "by_one_labeller": list(plan.by_one),
        "codebook_versions": {str(number): n for number, n in plan.versions.items()},
        "ruled": len(plan.ruled.examples),
        "ruled_left_out": plan.ruled.refused,
        "steps": card.steps,
        "best_step": card.best_step,
        "seconds": card.seconds,
        "device": card.device,
        "versions": dict(card.versions),
    }


def evaluated(
    plan: TrainPlan, tuned: Sequence[Prediction], zero_shot: Sequence[Prediction]
) -> dict[str, Any]:
    """Return the record of a test, as a store keeps it.

    It has the predictions of the test texts, and those of the disputed ones.
    """
    n = len(plan.test)
    predictions_by_way = {"tuned": tuned, "zero_shot": zero_shot}
    disputed = [item.example.item for item in plan.disputed]
    return {
        "labels": list(LABELS),
        "unit": [example.item for example in plan.test],
        "statement": [example.statement_ref for example in plan.test],
        "true": [LABELS.index(example.label) for example in plan.test],
        **{way: _rows(predictions[:n]) for way, predictions in predictions_by_way.items()},
        "drawn": plan.draw.as_json([example.item for example in plan.test]),
        "unsettled": {
            "unit": disputed,
            "given": [[LABELS.index(label) for label in item.given] for item in plan.disputed],
            "weight": plan.draw.as_json(disputed)["weight"],
            **{way: _rows(predictions[n:]) for way, predictions in predictions_by_way.items()},
        },
    }


def _metrics(evaluation: Evaluation, report: ClassificationReport) -> dict[str, float]:
    """Return the metrics of the test for a model card.

    Without the effective n, they describe the test set alone.
    """
    metrics = {"test_macro_f1": report.macro_f1.value, "test_accuracy": report.accuracy.value}
    metrics["test_unsettled"] = float(len(evaluation.unsettled.given))
    if evaluation.sampled is not None:
        metrics["test_effective_n"] = evaluation.sampled.effective_n()
        metrics["test_certainty_share"] = evaluation.sampled.certain_share()
        metrics["test_answers"] = float(evaluation.answers)
    return metrics


def _in_order(predictions: Any) -> list[Prediction]:
    return sorted(predictions, key=lambda prediction: prediction.index)


def _rows(predictions: Sequence[Prediction]) -> dict[str, Any]:
    return {
        "label": [LABELS.index(p.label) for p in predictions],
        "confidence": [round(float(p.confidence), 6) for p in predictions],
    }


def _counted(examples: Sequence[Example]) -> str:
    return ", ".join(f"{label} {n}" for label, n in label_counts(examples).items())


CHUNK = 20_000
"responses that are sorted by length together"
FLUSH_AFTER_S = 1.0
"predictions wait no longer than this before they are committed"


@dataclass(frozen=True, slots=True)
class ClassifySpec:
    """The request for a classification: a classifier, and the answers that it reads."""

    classifier: str
    audit: str = field(default_factory=lambda: registry.free_text()[0])
    "whose answers are read"
    instrument: str | None = None
    models: tuple[str, ...] = ()
    "empty: all"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ClassifySpec:
        return cls(value["classifier"], value["audit"], value["instrument"], tuple(value["models"]))


def plan_classifying(store: Store, spec: ClassifySpec) -> tuple[Classifier, int, int]:
    """Return the classifier, the number of its responses, and of those that it has not read."""
    classifier = store.classifiers.get(spec.classifier)
    total, left = store.classifiers.count_pending(
        classifier.reader, spec.audit, spec.instrument, spec.models
    )
    if not total:
        raise UsageError(f"the store has no free-text answers for it to read. {how_to_ask()}")
    return classifier, total, left


def classifier_folder(store: Store, classifier: Classifier) -> Path:
    """Return the folder of a classifier's weights. Raises CheckpointError if it is gone."""
    folder = store.path.parent / classifier.folder
    if not folder.is_dir():
        raise CheckpointError(
            f"{folder}: the weights of {classifier.name} are missing. Copy the folder from the "
            "machine that trained it"
        )
    return folder


def run_classifying(
    store: Store,
    spec: ClassifySpec,
    *,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Read the responses that a classifier has not read, and return (number read, total)."""
    from workbench.classifier.predict import StanceClassifier

    registered, total, left = plan_classifying(store, spec)
    loaded = StanceClassifier.load(classifier_folder(store, registered))
    if loaded.card.version != registered.version:
        raise CheckpointError(
            f"{registered.folder}: the weights differ from those that {registered.name} was "
            "tested with"
        )
    done = total - left
    started = committed = time.monotonic()
    first, course = done, Course()
    predictions: list[PredictedLabel] = []

    def commit() -> None:
        nonlocal done
        done += len(predictions)
        seconds = round(time.monotonic() - started, 2)
        course.add(seconds, done - first)
        progress = json.dumps(
            {"answers": done - first, "seconds": seconds, "course": course.points}
        )
        store.classifiers.predict(
            registered, predictions, job=None if job is None else (job, done, progress)
        )
        predictions.clear()

    while pending := store.classifiers.pending(
        registered.reader, spec.audit, spec.instrument, spec.models, limit=CHUNK
    ):
        for batch in loaded.predict([(item.text, item.statement) for item in pending]):
            for prediction in batch:
                item = pending[prediction.index]
                predictions.append(
                    PredictedLabel(
                        item.text_id, item.wording_id, prediction.label, prediction.confidence
                    )
                )
            if time.monotonic() - committed >= FLUSH_AFTER_S:
                commit()
                committed = time.monotonic()
                if should_stop():
                    return done, total
        commit()
        if should_stop():
            return done, total
    store.queues.prioritise(registered.reader)
    return done, total
