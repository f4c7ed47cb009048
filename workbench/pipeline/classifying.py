"""A classifier ─→ readings of a whole store: every text once, committed as they come, resumable."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stores.annotation.labels import Classifier, Predicted
from stores.core.store import Store
from workbench import registry
from workbench.errors import CheckpointError, UsageError
from workbench.evidence.readings import how_to_ask

CHUNK = 20_000
"responses that are sorted by length together"
FLUSH_AFTER_S = 1.0
"predictions wait no longer than this before they are committed"


@dataclass(frozen=True, slots=True)
class ClassifySpec:
    """What a classification job is to read."""

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
    """Return the classifier, how many responses there are for it, and how many of them it has not read."""
    classifier = store.classifiers.get(spec.classifier)
    total, left = store.classifiers.count_pending(classifier.reader, spec.audit, spec.instrument, spec.models)
    if not total:
        raise UsageError(f"the store has no free-text answers for it to read. {how_to_ask()}")
    return classifier, total, left


def classifier_folder(store: Store, classifier: Classifier) -> Path:
    """Return the folder of a classifier's weights. Raises CheckpointError if it is gone."""
    folder = store.path.parent / classifier.folder
    if not folder.is_dir():
        raise CheckpointError(
            f"{folder}: the weights of {classifier.name} are missing. Copy the folder from the machine that trained it"
        )
    return folder


def run_classifying(
    store: Store,
    spec: ClassifySpec,
    *,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Read what the classifier has not read; return (read in all, there are)."""
    from workbench.classifier.predict import StanceClassifier

    registered, total, left = plan_classifying(store, spec)
    loaded = StanceClassifier.load(classifier_folder(store, registered))
    if loaded.card.version != registered.version:
        raise CheckpointError(
            f"{registered.folder}: the weights differ from those that {registered.name} was tested with"
        )
    done = total - left
    started = committed = time.monotonic()
    first = done
    found: list[Predicted] = []

    def commit() -> None:
        nonlocal done
        done += len(found)
        seconds = time.monotonic() - started
        progress = json.dumps({"answers": done - first, "seconds": round(seconds, 2)})
        store.classifiers.predict(registered, found, job=None if job is None else (job, done, progress))
        found.clear()

    while pending := store.classifiers.pending(
        registered.reader, spec.audit, spec.instrument, spec.models, limit=CHUNK
    ):
        for batch in loaded.predict([(item.text, item.statement) for item in pending]):
            for prediction in batch:
                item = pending[prediction.index]
                found.append(Predicted(item.text_id, item.wording_id, prediction.label, prediction.confidence))
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
