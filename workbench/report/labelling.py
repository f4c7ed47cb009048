"""Who read the answers of a report: its classifiers, with their tests, and the people whose labels they rest on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from stores.core.store import Store
from workbench.annotation import agreement_tables
from workbench.annotation.agreement_tables import QueueAgreement
from workbench.audits.reported import Reported
from workbench.domain.instruments import Instrument
from workbench.evidence.reader_quality import in_short, quality
from workbench.evidence.readings import agreement_of, queue_labels
from workbench.figures.shown import estimate
from workbench.figures.table import Kind
from workbench.pipeline import classifier_figures as classifier_book
from workbench.pipeline.classifier_figures import assessed

CLASSIFIER, AGREEMENT = "classifier", "agreement"
"begin the names of the files of these parts"
PEOPLE = 2
"fewest people of a queue that can agree"


def labelling(store: Store, parts: Sequence[Reported], seed: int) -> Iterator[tuple[str, Reported]]:
    """Yield, each with the beginning of its files' names, a part for every classifier that read the answers, and for
    every queue in which people labelled answers to the same instruments.
    """
    by_codebook: dict[str, dict[str, Instrument]] = {}
    for part in parts:
        if part.codebook:
            by_codebook.setdefault(part.codebook, {})[part.instrument.name] = part.instrument
    readers = {rowid: part.instrument for part in parts for rowid in part.readers.values()}
    for one in store.classifiers.list():
        if one.reader in readers:
            yield CLASSIFIER, _classifier(store, one.name, readers[one.reader], seed)
    for queue in store.queues.list():
        instruments = by_codebook.get(queue.codebook.name, {})
        if instruments and len(queue.annotators) >= PEOPLE:
            labels = queue_labels(store, queue.name)
            asked = (instruments.get(item.context.instrument) for item in labels.judged)
            if (instrument := next(filter(None, asked), None)) is not None:
                found = agreement_of(labels, seed=seed)
                if found.report.items:
                    yield AGREEMENT, _agreement(found.lettered, instrument)


def _classifier(store: Store, name: str, instrument: Instrument, seed: int) -> Reported:
    of = assessed(store, name, seed=seed)
    return Reported(
        title=f"The classifier {name}",
        instrument=instrument,
        runs={},
        book=classifier_book.book(of),
        findings=[f"{in_short(quality(of.classifier, of.threshold, seed=seed))}."],
        command=f"workbench classifiers STORE --classifier {shlex.quote(name)}",
        shown=("ways", "curve", "calibration", "confusion"),
        files=name,
    )


def _agreement(of: QueueAgreement, instrument: Instrument) -> Reported:
    alpha = of.report.coefficients.alpha
    return Reported(
        title=f"Agreement of annotators in {of.queue}",
        instrument=instrument,
        runs={},
        book=agreement_tables.book(of),
        findings=[f"Krippendorff's α {estimate(alpha, Kind.COEFFICIENT)}.", of.told],
        command=f"workbench agreement STORE --queue {shlex.quote(of.queue)}",
        limits=["Letters stand for the annotators' names."],
        shown=("coefficients", "over_time", "confusion"),
        files=of.queue,
    )


__all__ = ["labelling"]
