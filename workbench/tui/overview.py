"""What Home says about a store: read in a worker, shown by the screen. Knows the store and the
pipeline, no widget.
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
    from workbench.pipeline.todo import Task

T = TypeVar("T")
FAILED, LINE = "could not be worked out", 62
OTHERS = 3
"figures of Home that are of no audit: lint, the classifier, what is to be done"


@dataclass(frozen=True, slots=True)
class Seen:
    """How much there was when somebody looked at Home."""

    at: str
    "local time, to the minute"
    answers: int
    labels: int
    "items with labels"
    ended: int
    "jobs that are over"

    @classmethod
    def read(cls, held: object) -> Seen | None:
        """Return what was kept; None where nothing was, or it is of another shape."""
        if isinstance(held, list) and len(held) == 4 and isinstance(held[0], str):
            counts = [one for one in held[1:] if isinstance(one, int)]
            return cls(held[0], *counts) if len(counts) == 3 else None
        return None

    def written(self) -> list[str | int]:
        """Return what `read` reads."""
        return [self.at, self.answers, self.labels, self.ended]

    def news(self, overview: Overview) -> str:
        """Say what has come since; "" where nothing has."""
        now = overview.seen("")
        counts = (now.answers - self.answers, "answer"), (now.labels - self.labels, "labelled item")
        said = [plural(n, word) for n, word in counts if n > 0]
        ended = now.ended - self.ended
        return " · ".join([*said, *([f"{plural(ended, 'job')} ended"] if ended > 0 else [])])


@dataclass(frozen=True, slots=True)
class Overview:
    """What can be said at once."""

    notice: str
    instruments: tuple[InstrumentSummary, ...]
    answers: int
    models: int
    jobs: tuple[Job, ...]
    "the newest first"
    free_answers: bool
    "whether there are answers in free text, which people and classifiers read"
    queues: tuple[Queue, ...]
    labels: tuple[int, int, int]
    "items with one label, with several, and those to adjudicate"
    classifiers: tuple[Classifier, ...]
    imported: tuple[str, ...] = ()
    "models whose answers to multiple-choice questions were collected elsewhere"

    work: tuple[object, ...] = ()
    "state of what people write: judged anew as soon as it differs"
    made: tuple[object, ...] = ()
    "state of what jobs write: judged anew once no job is active"

    @property
    def active(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.active)

    def seen(self, at: str) -> Seen:
        """Return how much there is, as seen at a time."""
        return Seen(
            at, self.answers, sum(self.labels[:2]), sum(not job.active for job in self.jobs)
        )


@dataclass(frozen=True, slots=True)
class LintCount:
    """How many findings a check of one instrument has."""

    errors: int
    warnings: int
    notes: int


@dataclass(frozen=True, slots=True)
class ClassifierScore:
    """How good the newest classifier is."""

    name: str
    macro_f1: Estimate
    "at the published confidence threshold"
    kept: float
    "share of what the test stands for that reaches it"
    rests_on: str
    "what both are about, in a few words"
    shortcoming: str = ""
    "why it does not carry figures, in a few words"


@dataclass(frozen=True, slots=True)
class AuditLines:
    """What an audit says of its newest results, and where they are."""

    mode: str
    key: str
    "the digit that leads there"
    lines: tuple[HomeLine, ...]
    models: int = 0
    "that answered about the instrument of these results, whether or not they have a line"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What takes a moment: checks of the instruments, the newest results of every audit."""

    lint: dict[str, LintCount]
    classifier: ClassifierScore | None
    audits: tuple[AuditLines, ...] = ()
    tasks: tuple[Task, ...] = ()
    faults: tuple[HomeLine, ...] = ()
    "what could not be worked out, and why"


def read_overview(store: Store) -> Overview:
    """Read what is cheap. Raises StoreError."""
    from stores.core.contents import Part, state_of

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
            work=state_of(store.connection, (Part.WORK, Part.REMARKS, Part.MATERIAL)),
            made=state_of(store.connection, (Part.ANSWERS, Part.PRODUCED, Part.FINDINGS)),
        )

    return store.at_once(seen)


def read_judgement(store: Store, tell: Callable[[str], None] = lambda _: None) -> Judgement:
    """Check the instruments and judge the newest runs. `tell`: is told what is under way, in this
    thread.

    Raises StoreError.
    """
    from workbench.pipeline.todo import tasks

    def judged() -> Judgement:
        shared: dict[object, Any] = {}
        faults: list[HomeLine] = []
        places = [audit for audit in registry.every_audit() if audit.place is not None]
        begun = 0

        def tried(label: str, make: Callable[[], T], otherwise: T) -> T:
            """Make one figure; where that fails, the others go on."""
            nonlocal begun
            begun += 1
            tell(f"{begun} of {len(places) + OTHERS}: {label}")
            try:
                return make()
            except Exception as error:
                trouble = as_trouble(error)
                if isinstance(trouble, StoreError):
                    raise trouble from error
                below = [(line, True) for line in wrap(str(trouble), LINE)]
                faults.append(HomeLine(f"fault {label}", label, FAILED, "", below=below))
                return otherwise

        nothing: dict[str, LintCount] = {}
        lint = tried(
            "Lint",
            lambda: {name: lint_count(store, name) for name in store.instruments.names()},
            nothing,
        )
        audits = [
            tried(
                audit.place.label or audit.place.mode.capitalize(),
                partial(_audit, store, audit, shared),
                None,
            )
            for audit in places
            if audit.place is not None
        ]
        classifier = tried("Classifier", lambda: _classifier(store), None)
        no_tasks: tuple[Task, ...] = ()
        waiting = tried("To do", lambda: tasks(store, shared), no_tasks)
        return Judgement(lint, classifier, tuple(filter(None, audits)), waiting, tuple(faults))

    return store.at_once(judged)


def _audit(store: Store, audit: Audit, shared: dict[object, Any]) -> AuditLines | None:
    """Return what an audit says that has a place of its own and answers; `shared`: see
    `Audit.home`.
    """
    if audit.place is None or not audit.answered(store):
        return None
    models = len(audit.models(store, audit.instruments(store)[-1]))
    return AuditLines(audit.place.mode, audit.place.key, tuple(audit.home(store, shared)), models)


def lint_count(store: Store, name: str) -> LintCount:
    """Count the findings about an instrument by their severity."""
    from workbench.pipeline.checking import open_lint

    found = Counter(str(finding.severity) for finding in open_lint(store, name))
    return LintCount(found["error"], found["warning"], found["note"])


def _classifier(store: Store) -> ClassifierScore | None:
    from workbench import pipeline
    from workbench.classifier.config import PUBLISHED_THRESHOLD
    from workbench.evidence.reader_quality import quality

    known = store.classifiers.list()
    if not known:
        return None
    tested = pipeline.evaluation(known[-1])
    point = tested.point("tuned", PUBLISHED_THRESHOLD)
    poor = quality(known[-1], PUBLISHED_THRESHOLD).shortcoming
    return ClassifierScore(
        known[-1].name, point.macro_f1, point.kept.value, tested.rests_on(), poor
    )


def import_shipped(store: Store, name: str = "") -> str:
    """Import an instrument that ships with workbench, the usual one where none is named; return a
    sentence about it.

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
