"""What waits for a person in a store: each kind of work with how much of it there is, and where it
is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stores.annotation.queues import Queue
from stores.core.store import Store
from stores.jobs.job_rows import PROBE, UNDRAWN, UNREADABLE
from workbench import registry
from workbench.domain.names import plural
from workbench.pipeline.review import known_to_wait

_QUESTIONS = {
    PROBE: "its probe is in: begin the run?",
    UNREADABLE: "nothing can be read: go on?",
    UNDRAWN: "answers are not drawn: go on?",
}
UNFINISHED = ("failed", "lost", "paused", "cancelled")


@dataclass(frozen=True, slots=True)
class Task:
    """Something that waits."""

    key: str
    "the same between two looks at the store"
    count: str
    "`12 drafts`"
    what: str
    "what is to be done with them"
    blind: str = field(default="", kw_only=True)
    "the same without the name of a model, for somebody who reviews blind; empty: `what` has none"
    route: tuple[object, ...]
    "the name of a mode or of a screen, and what it is about"
    pressing: bool = True
    "whether the next step is this; False: it can be done at any time"


def tasks(store: Store, shared: Mapping[object, Any] | None = None) -> tuple[Task, ...]:
    """Return what waits, the most pressing first: jobs that ended early, then people's work, then
    what is outdated.

    `shared`: what audits have judged for Home, see `Audit.home`.
    """
    others = (*_jobs(store), *_drafts(store), *_queues(store), *_unread(store))
    return (*others, *_reviews(store, shared or {}), *_outdated(store))


def _jobs(store: Store) -> Iterator[Task]:
    """Yield jobs that wait for a decision or ended before their end, unless a later one of the same
    design is there.

    Hidden ones are nobody's task.
    """
    designs: set[str] = set()
    for job in store.jobs.list():
        design = repr(sorted(job.spec.items(), key=lambda item: item[0]))
        if job.hidden:
            continue
        if job.question:
            what = f"about job {job.id}: {_QUESTIONS[job.question]}"
            yield Task(f"job {job.id}", "1 decision", what, ("jobs", str(job.id)))
        elif job.state in UNFINISHED and job.done < job.total and design not in designs:
            left = plural(job.total - job.done, "prompt" if job.exact else "answer")
            given = job.spec.get("personas")
            behind = "".join(f", {one['id']}" for one in given) if isinstance(given, list) else ""
            what = f"of job {job.id} ({job.state}{behind}) are missing"
            yield Task(f"job {job.id}", left, what, ("jobs", str(job.id)))
        designs.add(design)


def _drafts(store: Store) -> Iterator[Task]:
    for name in store.instruments.names():
        if waiting := store.drafts.counts(name)["pending"]:
            yield Task(
                f"drafts {name}",
                plural(waiting, "draft"),
                f"of wordings of {name} to review",
                ("drafts", name),
            )


def _queues(store: Store) -> Iterator[Task]:
    """Yield what people have to do in each queue. An item of several queues counts in the first of
    them alone.
    """
    counted: dict[tuple[str, int], int] = {}
    adjudicated: set[tuple[str, int]] = set()
    flagged: set[tuple[str, int]] = set()
    for queue in store.queues.list():
        codebook = queue.codebook.name
        judged = store.labels.judged(codebook, queue=queue.name)
        disputed = {(codebook, item.context.unit) for item in judged if item.open} - adjudicated
        adjudicated |= disputed
        if disputed:
            what = f"of the queue {queue.name} to adjudicate"
            yield Task(
                f"adjudicate {queue.name}",
                plural(len(disputed), "item"),
                what,
                ("adjudicate", queue.name),
            )
        left = _left(store, queue, counted)
        if left:
            labels = sum(left)
            on = f"on {plural(len(left), 'item')} of" if len(left) != labels else "in"
            what = f"to give {on} the queue {queue.name}"
            yield Task(f"label {queue.name}", plural(labels, "label"), what, ("annotate",))
        settled = (item for item in judged if not item.open and item.decision is None)
        of_queue = {
            (codebook, item.context.unit)
            for item in settled
            if any(given.flagged for given in item.labels)
        }
        if new := of_queue - flagged:
            flagged |= new
            what = f"flagged in the queue {queue.name}; the labels agree"
            yield Task(
                f"flags {queue.name}", plural(len(new), "item"), what, ("agreement", queue.name)
            )


def _left(store: Store, queue: Queue, counted: dict[tuple[str, int], int]) -> list[int]:
    """Return how many labels each open item of a queue needs beyond those that earlier queues
    count.

    counted : codebook and unit -> labels to give that are counted already; it takes in those of
        this queue
    """
    left = []
    for item in store.queues.items(queue.name):
        key = (queue.codebook.name, item.unit)
        before = counted.get(key, 0)
        if item.left > before:
            left.append(item.left - before)
            counted[key] = item.left
    return left


def queue_that_waits(store: Store) -> str:
    """Return the queue that waits for a decision, else for a look at what was flagged, else for
    labels; "": none.
    """
    waiting = [task.key.partition(" ")[::2] for task in _queues(store)]
    return next(
        (name for kind in ("adjudicate", "flags", "label") for of, name in waiting if of == kind),
        "",
    )


def _unread(store: Store) -> Iterator[Task]:
    known = store.classifiers.list()
    if not known:
        return
    for audit in registry.free_text():
        _, left = store.classifiers.count_pending(known[-1].reader, audit, None, ())
        if left:
            yield Task(
                f"read {audit}",
                plural(left, "answer"),
                f"that {known[-1].name} has not read",
                ("classify",),
            )


def _reviews(store: Store, shared: Mapping[object, Any]) -> Iterator[Task]:
    """Yield of each audit the newest run with items that are known to wait for an auditor, whose
    queue may have more, and every older one where somebody wants another look at something else.
    """
    told: frozenset[bytes] = frozenset()
    for audit in registry.asking():
        any_ = False
        answered = [run for run in store.runs.list(audit.name, personas=True) if run.responses]
        for run in sorted(answered, key=lambda run: run.last, reverse=True):
            waits = known_to_wait(store, run, audit.known_for_review(run, shared))
            if waits.again - told or (waits.items and not any_):
                what, of = (
                    f"for an auditor: {run.named} ({registry.audit_title(audit.name)})",
                    ("review", (*run.design_key, run.family)),
                )
                blind = f"for an auditor ({registry.audit_title(audit.name)})"
                key = (
                    f"review {audit.name}"
                    if not any_
                    else " ".join(["review", *map(str, run.design_key), run.family])
                )
                yield Task(key, waits.words, what, of, pressing=False, blind=blind)
                told, any_ = told | waits.again, True


def _outdated(store: Store) -> Iterator[Task]:
    shown = {audit.name: audit for audit in registry.every_audit() if audit.place is not None}
    for run in store.runs.list(personas=True):
        audit = shown.get(run.audit)
        if (
            audit is not None
            and audit.place
            and run.responses
            and (changed := store.runs.outdated(run))
        ):
            what = f"changed since {run.named} was asked ({registry.audit_title(audit.name)})"
            key = " ".join(["outdated", *map(str, run.design_key), run.family])
            yield Task(key, plural(len(changed), "statement"), what, (audit.place.mode, run))
