"""The data of Home about a store, read in a worker.

It knows the store and the pipeline, no widget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

from workbench import registry
from workbench.audits.audit import Audit, HomeLine
from workbench.domain.names import plural
from workbench.domain.verdicts import Estimate
from workbench.errors import StoreError
from workbench.tui.kit.base import as_trouble

if TYPE_CHECKING:
    from stores.annotation.labels import Classifier
    from stores.annotation.queues import Queue
    from stores.core.store import Store
    from stores.instruments.instruments import InstrumentSummary
    from stores.jobs.job_rows import Job
    from workbench.pipeline.todo import PendingTask

T = TypeVar("T")
FAILED, LINE = "could not be worked out", 62
OTHERS = 3
"number of Home's figures that belong to no audit: lint, the classifier, the tasks"


@dataclass(frozen=True, slots=True)
class VisitCounts:
    """The counts of a store at the last visit of Home."""

    at: str
    "local time, to the minute"
    answers: int
    labels: int
    "number of items with labels"
    ended: int
    "number of jobs that are over"

    @classmethod
    def read(cls, held: object) -> VisitCounts | None:
        """Return the stored counts, or None if they are missing or have another format."""
        if isinstance(held, list) and len(held) == 4 and isinstance(held[0], str):
            counts = [count for count in held[1:] if isinstance(count, int)]
            return cls(held[0], *counts) if len(counts) == 3 else None
        return None

    def to_json(self) -> list[str | int]:
        """Return the values that `read` accepts."""
        return [self.at, self.answers, self.labels, self.ended]

    def news(self, overview: Overview) -> str:
        """Return the news since then, or an empty string without any."""
        current = overview.seen("")
        counts = (
            (current.answers - self.answers, "answer"),
            (current.labels - self.labels, "labelled item"),
        )
        texts = [plural(difference, noun) for difference, noun in counts if difference > 0]
        n_ended = current.ended - self.ended
        if n_ended > 0:
            texts.append(f"{plural(n_ended, 'job')} ended")
        return " · ".join(texts)


@dataclass(frozen=True, slots=True)
class Overview:
    """The data of a store that is quick to read."""

    notice: str
    instruments: tuple[InstrumentSummary, ...]
    answers: int
    models: int
    jobs: tuple[Job, ...]
    "jobs, the newest first"
    free_answers: bool
    "whether there are free-text answers, which people and classifiers read"
    queues: tuple[Queue, ...]
    labels: tuple[int, int, int]
    "numbers of items with one label, with several, and to adjudicate"
    classifiers: tuple[Classifier, ...]
    imported: tuple[str, ...] = ()
    "models whose answers to multiple-choice questions were collected elsewhere"

    work: tuple[object, ...] = ()
    "state of the input of people; results are judged again as soon as it differs"
    output_state: tuple[object, ...] = ()
    "state of the output of jobs; results are judged again once no job is active"

    @property
    def active(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.active)

    def seen(self, at: str) -> VisitCounts:
        """Return the counts of the store, with a time."""
        return VisitCounts(
            at, self.answers, sum(self.labels[:2]), sum(not job.active for job in self.jobs)
        )


@dataclass(frozen=True, slots=True)
class LintCount:
    """The numbers of findings of an instrument's checks."""

    errors: int
    warnings: int
    notes: int


@dataclass(frozen=True, slots=True)
class ClassifierScore:
    """The score of the newest classifier."""

    name: str
    macro_f1: Estimate
    "macro F1 at the published confidence threshold"
    kept: float
    "share of the population of the test set that reaches that threshold"
    rests_on: str
    "short text on the basis of both"
    shortcoming: str = ""
    "short text on why it is not good enough for figures"


@dataclass(frozen=True, slots=True)
class AuditLines:
    """The newest results of an audit, with the key to its screen."""

    mode: str
    key: str
    "digit that opens the audit"
    lines: tuple[HomeLine, ...]
    models: int = 0
    "number of models that answered on the instrument of these results, with or without a line"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The data that takes a moment: checks of the instruments, and the newest results of audits."""

    lint: dict[str, LintCount]
    classifier: ClassifierScore | None
    audits: tuple[AuditLines, ...] = ()
    tasks: tuple[PendingTask, ...] = ()
    faults: tuple[HomeLine, ...] = ()
    "figures that could not be computed, with the reason"


def read_overview(store: Store) -> Overview:
    """Read the data that is quick to read. Raises StoreError."""
    from stores.core.contents import StoreSection, state_of

    def seen() -> Overview:
        answers, _ = store.runs.totals()
        queues = store.queues.list()
        return Overview(
            notice=store.notice,
            instruments=store.instruments.summaries(),
            answers=answers,
            models=len(store.runs.asked_models()),
            jobs=tuple(job for job in store.jobs.list() if not job.hidden),
            free_answers=store.runs.has_answers(registry.free_text()),
            queues=queues,
            labels=store.labels.totals() if queues else (0, 0, 0),
            classifiers=store.classifiers.list(),
            imported=tuple(
                model
                for name in store.choices.instruments_with_answers()
                for model in store.choices.models(name)
            ),
            work=state_of(
                store.connection, (StoreSection.WORK, StoreSection.REMARKS, StoreSection.MATERIAL)
            ),
            output_state=state_of(
                store.connection,
                (StoreSection.ANSWERS, StoreSection.PRODUCED, StoreSection.FINDINGS),
            ),
        )

    return store.at_once(seen)


def read_judgement(store: Store, tell: Callable[[str], None] = lambda _: None) -> Judgement:
    """Check the instruments and judge the newest runs. Raises StoreError.

    `tell`: called in this thread with a text on the current step.
    """
    from workbench.pipeline.todo import tasks

    def judged() -> Judgement:
        shared: dict[object, Any] = {}
        faults: list[HomeLine] = []
        audits_with_place = [audit for audit in registry.every_audit() if audit.place is not None]
        n_begun = 0

        def tried(label: str, make: Callable[[], T], otherwise: T) -> T:
            """Compute one figure. If it fails, note a fault and return `otherwise`."""
            nonlocal n_begun
            n_begun += 1
            tell(f"{n_begun} of {len(audits_with_place) + OTHERS}: {label}")
            try:
                return make()
            except Exception as error:
                trouble = as_trouble(error)
                if isinstance(trouble, StoreError):
                    raise trouble from error
                trouble_lines = [(line, True) for line in wrap(str(trouble), LINE)]
                faults.append(HomeLine(f"fault {label}", label, FAILED, "", below=trouble_lines))
                return otherwise

        no_counts: dict[str, LintCount] = {}
        lint = tried(
            "Lint",
            lambda: {name: lint_count(store, name) for name in store.instruments.names()},
            no_counts,
        )
        audits = [
            tried(
                audit.place.label or audit.place.mode.capitalize(),
                partial(_audit, store, audit, shared),
                None,
            )
            for audit in audits_with_place
            if audit.place is not None
        ]
        classifier = tried("Classifier", lambda: _classifier(store), None)
        no_tasks: tuple[PendingTask, ...] = ()
        pending_tasks = tried("To do", lambda: tasks(store, shared), no_tasks)
        return Judgement(
            lint, classifier, tuple(filter(None, audits)), pending_tasks, tuple(faults)
        )

    return store.at_once(judged)


def _audit(store: Store, audit: Audit, shared: dict[object, Any]) -> AuditLines | None:
    """Return the lines of an audit that has a place and answers, or None.

    `shared`: see `Audit.home`.
    """
    if audit.place is None or not audit.answered(store):
        return None
    models = len(audit.models(store, audit.instruments(store)[-1]))
    return AuditLines(audit.place.mode, audit.place.key, tuple(audit.home(store, shared)), models)


def lint_count(store: Store, name: str) -> LintCount:
    """Return the numbers of findings about an instrument by severity."""
    from workbench.pipeline.checking import open_lint

    counts = Counter(str(finding.severity) for finding in open_lint(store, name))
    return LintCount(counts["error"], counts["warning"], counts["note"])


def _classifier(store: Store) -> ClassifierScore | None:
    from workbench.classifier.config import PUBLISHED_THRESHOLD
    from workbench.evidence import reader_quality
    from workbench.evidence.reader_quality import quality

    classifiers = store.classifiers.list()
    if not classifiers:
        return None
    evaluation_result = reader_quality.evaluation(classifiers[-1])
    point = evaluation_result.point("tuned", PUBLISHED_THRESHOLD)
    shortcoming = quality(classifiers[-1], PUBLISHED_THRESHOLD).shortcoming
    return ClassifierScore(
        classifiers[-1].name,
        point.macro_f1,
        point.kept.value,
        evaluation_result.rests_on(),
        shortcoming,
    )


def import_shipped(store: Store, name: str = "") -> str:
    """Import a shipped instrument, by default the usual one, and return a message.

    Raises WorkbenchError.
    """
    from workbench.data import SHIPPED_INSTRUMENT
    from workbench.formats.read import read_shipped

    instrument = read_shipped(name or SHIPPED_INSTRUMENT)
    imported = store.instruments.add(instrument)
    return (
        f"Imported {imported.name}: {len(instrument.statements):,} statements, "
        f"{imported.wordings:,} wordings."
    )
