"""Which readings of answers count for which runs: what the value `Readings` of a choice means for a store.

Rules read the labels of closed answers. A classifier reads free text, or people's labels alone count. Where
probabilities were computed, nobody reads anything; letters and next tokens are read by the one rule of their audit.
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
from workbench.evidence.rulings import NO_RULINGS, RunRulings, Told, of_run


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """The readers of some runs' answers."""

    card: ReaderCard | None
    "None: people's settled labels, or nothing is read as probabilities were computed"
    reader: int | None
    "rowid of the rule or classifier in the store"
    classifier: Classifier | None = None
    people: Mapping[int, str] | None = None
    "unit -> label on which people settled, where these alone count"
    ruled: Mapping[Run, RunRulings] = field(default_factory=dict)
    "what rulings change in each run; nothing where they do not count"
    would: Mapping[Run, RunRulings] = field(default_factory=dict)
    "the same as if they counted"

    @property
    def name(self) -> str:
        """What the reader is called."""
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
        """The same readings as if nobody had ruled."""
        return replace(self, ruled={})

    @property
    def touched(self) -> int:
        """How many statements, run by run, rulings change something of."""
        return sum(len(found.touched) for found in self.ruled.values())

    def told(self, *, differ: int = 0, figure: str = "figure") -> Told:
        """Return what figures say of rulings. `differ`: how many of them, called `figure`, are other without them."""
        return Told.of(self.would.values(), counted=self.ruled is self.would, differ=differ, figure=figure)


def source_of(store: Store, runs: Sequence[Run], readings: Readings) -> Source:
    """Return who reads the answers of runs of one audit, and which rulings change what in them; see `_reader_of`."""
    if not runs:
        return Source(None, None)
    source = _reader_of(store, runs, readings)
    would = {run: of_run(store, run, source.card) for run in runs}
    return replace(source, ruled=would if readings.rulings else {}, would=would)


def _reader_of(store: Store, runs: Sequence[Run], readings: Readings) -> Source:
    """Return who reads the answers of runs of one audit; rules have read every answer afterwards.

    `runs`: one at least. Raises UnknownName for a rule or classifier that is not there, UsageError where nobody has
    labelled anything, or a run has no answers yet.
    """
    audit = registry.audit(runs[0].audit)
    if audit.free_text:
        return _of_free_text(store, readings)
    if not audit.by_rule:
        if readings.by is not None:
            raise UsageError(f"answers to {audit.name} are read by only one rule; found the reader {readings.by!r}")
        return Source(None, None)
    sampled = [run for run in runs if run.sampling.mode != EXACT]
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
