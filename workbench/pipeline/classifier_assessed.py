"""A stance classifier with its answers on a test set: what its figures are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from stores.annotation.classifiers import Classifier
from stores.core.store import Store, at_once
from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.seeds import SEED
from workbench.evidence.classifier_test import Evaluation, evaluation
from workbench.evidence.reader_quality import quality, quality_warnings
from workbench.stats.classification import ClassificationReport

WAYS = {"tuned": "fine-tuned", "zero_shot": "zero-shot"}


@dataclass(frozen=True, slots=True)
class ReadText:
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
    texts: Mapping[int, ReadText] = field(default_factory=dict)
    "unit -> what was read, where the store has it"

    @cached_property
    def test(self) -> Evaluation:
        return evaluation(self.classifier)

    def report(self, way: str, threshold: float) -> ClassificationReport:
        return self.test.report(way, threshold, seed=self.seed)

    @property
    def header(self) -> tuple[str, ...]:
        """Say why it is too poor to carry figures, where it is."""
        return tuple(quality_warnings(quality(self.classifier, self.threshold, seed=self.seed)))

    def told(self) -> tuple[str, ...]:
        """Return what the classifier is and what its figures represent."""
        config, data, stands_for = self.classifier.config, self.classifier.data, self.test.stands_for()
        return (
            *self.header,
            f"{self.classifier.name}: {config['base']}, trained {self.classifier.created_at[:10]}, {data['steps']} "
            f"steps, seed {config['seed']}.",
            f"{stands_for[0].upper()}{stands_for[1:]}.",
            *(f"! {question}" for question in self.test.open_questions("tuned", self.threshold)),
        )

    def about(self) -> dict[str, object]:
        """Return the subject and basis of the figures, for programs."""
        test, known = self.test, self.test.sampled
        return {
            "name": self.classifier.name,
            "config": self.classifier.config,
            "data": self.classifier.data,
            "threshold": self.threshold,
            "test": {
                "stands_for": test.stands_for(),
                "inclusion_known": known is not None,
                "answers": test.answers if known else None,
                "drawn_at": test.at if known else None,
                "texts": len(test.true),
                "effective_n": known.effective_n() if known else None,
                "certainty_share": known.certain_share() if known else None,
                "unsettled": len(test.unsettled.given),
                "unlabelled": test.unlabelled,
            },
        }


@at_once
def assessed(store: Store, name: str | None, threshold: float = PUBLISHED_THRESHOLD, seed: int = SEED) -> Assessed:
    """Return a classifier of a store, the newest unless one is named, with the texts of its test set."""
    classifier = store.classifiers.get(name)
    items = (item.context for item in store.labels.judged(classifier.codebook))
    found = {one.unit: ReadText(one.instrument, one.ref, one.variant, one.statement, one.text) for one in items}
    return Assessed(classifier, threshold, seed, found)
