"""The readings of answers that count for runs: applies the choice `Readings` to a store.

Rules read the labels of closed answers. A classifier reads free text, or only people's labels count. Computed
probabilities need no reader; letters, and yes or no in a questionnaire, are read by the only rule of their audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stores.annotation.classifiers import Classifier
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.readings import PEOPLE, ReaderCard, ReaderKind, Readings
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.evidence.labels import settled
from workbench.evidence.rule_reading import read
from workbench.evidence.rulings import NO_RULINGS, SAME, Differing, RunRulings, Told, of_run


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """The readers of some runs' answers."""

    card: ReaderCard | None
    "None: people's settled labels, or computed probabilities, which need no reader"
    reader: int | None
    "rowid of the rule or classifier in the store"
    classifier: Classifier | None = None
    people: Mapping[int, str] | None = None
    "unit -> settled label, if only people's labels count"
    ruled: Mapping[Run, RunRulings] = field(default_factory=dict)
    "effects of rulings in each run; empty if they do not count"
    would: Mapping[Run, RunRulings] = field(default_factory=dict)
    "effects of rulings if they counted"

    @property
    def name(self) -> str:
        """The name of the reader."""
        return self.card.name if self.card is not None else PEOPLE

    def rulings(self, run: Run) -> RunRulings:
        """Return the changes that rulings make in a run."""
        return self.ruled.get(run, NO_RULINGS)

    @property
    def changed(self) -> bool:
        """Whether rulings change anything."""
        return any(found.counting for found in self.ruled.values())

    @property
    def without(self) -> Source:
        """The same readings without rulings."""
        return replace(self, ruled={})

    @property
    def as_given(self) -> Source:
        """The same readings without exclusions; see `RunRulings.as_given`."""
        return replace(self, ruled={run: found.as_given for run, found in self.ruled.items()})

    def touched(self, figure: str) -> Differing:
        """Return the statements, called `figure`, that rulings change; their number is summed over runs."""
        refs = [ref for found in self.ruled.values() for ref in sorted(found.touched)]
        return Differing(len(refs), figure, tuple(dict.fromkeys(refs)))

    def told(self, differ: Differing = SAME) -> Told:
        """Return the notes on rulings. `differ`: the figures that differ without rulings"""
        return Told.of(self.would.values(), counted=self.ruled is self.would, differ=differ)


def source_of(store: Store, runs: Sequence[Run], readings: Readings) -> Source:
    """Return the reader of the answers of an audit's runs, and the effects of rulings in them; see `_reader_of`."""
    if not runs:
        return Source(None, None)
    source = _reader_of(store, runs, readings)
    would = {run: of_run(store, run, source.card) for run in runs}
    return replace(source, ruled=would if readings.rulings else {}, would=would)


def _reader_of(store: Store, runs: Sequence[Run], readings: Readings) -> Source:
    """Return the reader of the answers of an audit's runs; rules then have read every answer.

    `runs`: at least one. Raises UnknownName for an unknown rule or classifier, UsageError if there are no labels, or a
    run has no answers yet.
    """
    audit = registry.audit(runs[0].audit)
    if audit.free_text:
        return _of_free_text(store, readings)
    if not audit.by_rule and readings.by is not None:
        raise UsageError(f"answers to {audit.name} are read by only one rule; found the reader {readings.by!r}")
    sampled = [run for run in runs if run.sampling.mode != EXACT and (audit.by_rule or run.responses)]
    found = [read(store, run, readings.rule) for run in sampled]
    return Source(found[0][1], found[0][0]) if found else Source(None, None)


def _of_free_text(store: Store, readings: Readings) -> Source:
    alone = readings.by is None and not store.classifiers.list()
    if readings.by == PEOPLE or alone:
        people = settled(store)
        if alone and not people:
            store.classifiers.get()  # raises, saying how to train one
        if not people:
            raise UsageError("no answers have labels yet; label some, or train a classifier")
        return Source(None, None, people=people)
    classifier = store.classifiers.get(readings.by)
    card = ReaderCard(ReaderKind.CLASSIFIER, classifier.name, classifier.version)
    return Source(card, classifier.reader, classifier)


__all__ = ["Source", "source_of"]
