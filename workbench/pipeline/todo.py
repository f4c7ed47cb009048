"""Pending work in a store: each kind of work with its amount, and the screen for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stores.annotation.queues import Queue
from stores.core.store import Store
from stores.jobs.job_rows import PROBE, UNDRAWN, UNREADABLE
from workbench import registry
from workbench.domain.names import plural
from workbench.pipeline.review import pending_items

_QUESTIONS = {
    PROBE: "its probe is in: begin the run?",
    UNREADABLE: "nothing can be read: go on?",
    UNDRAWN: "answers are not drawn: go on?",
}
UNFINISHED = ("failed", "lost", "paused", "cancelled")


@dataclass(frozen=True, slots=True)
class PendingTask:
    """A piece of pending work."""

    key: str
    "the same between two readings of the store"
    count: str
    "`12 drafts`"
    what: str
    "the action on them"
    blind: str = field(default="", kw_only=True)
    "`what` without the name of a model, for somebody who reviews blind, or empty if it has none"
    route: tuple[object, ...]
    "the name of a mode or of a screen, and its subject"
    pressing: bool = True
    "whether it is the next step, or can be done at any time"


def tasks(store: Store, shared: Mapping[object, Any] | None = None) -> tuple[PendingTask, ...]:
    """Return the pending tasks, the most pressing first.

    Jobs that ended early come first, then people's work, then outdated statements. `shared`: the
    results that audits have judged for Home, see `Audit.home`.
    """
    first_tasks = (*_jobs(store), *_drafts(store), *_queues(store), *_unread(store))
    return (*first_tasks, *_reviews(store, shared or {}), *_outdated(store))


def _jobs(store: Store) -> Iterator[PendingTask]:
    """Yield jobs that wait for a decision or ended early.

    A job is skipped if a later one has the same design.

    Hidden jobs are nobody's task.
    """
    designs: set[str] = set()
    for job in store.jobs.list():
        design = repr(sorted(job.spec.items(), key=lambda item: item[0]))
        if job.hidden:
            continue
        if job.question:
            description = f"about job {job.id}: {_QUESTIONS[job.question]}"
            yield PendingTask(f"job {job.id}", "1 decision", description, ("jobs", str(job.id)))
        elif job.state in UNFINISHED and job.done < job.total and design not in designs:
            missing = plural(job.total - job.done, "prompt" if job.exact else "answer")
            personas = job.spec.get("personas")
            persona_names = (
                "".join(f", {persona['id']}" for persona in personas)
                if isinstance(personas, list)
                else ""
            )
            description = f"of job {job.id} ({job.state}{persona_names}) are missing"
            yield PendingTask(f"job {job.id}", missing, description, ("jobs", str(job.id)))
        designs.add(design)


def _drafts(store: Store) -> Iterator[PendingTask]:
    for name in store.instruments.names():
        if n_pending := store.drafts.counts(name)["pending"]:
            yield PendingTask(
                f"drafts {name}",
                plural(n_pending, "draft"),
                f"of wordings of {name} to review",
                ("drafts", name),
            )


def _queues(store: Store) -> Iterator[PendingTask]:
    """Yield people's work in each queue.

    An item of several queues counts in the first of them alone.
    """
    labels_counted: dict[tuple[str, int], int] = {}
    adjudicated: set[tuple[str, int]] = set()
    flagged: set[tuple[str, int]] = set()
    for queue in store.queues.list():
        codebook = queue.codebook.name
        judged_items = store.labels.judged(codebook, queue=queue.name)
        disputed = {
            (codebook, item.context.unit) for item in judged_items if item.open
        } - adjudicated
        adjudicated |= disputed
        if disputed:
            description = f"of the queue {queue.name} to adjudicate"
            yield PendingTask(
                f"adjudicate {queue.name}",
                plural(len(disputed), "item"),
                description,
                ("adjudicate", queue.name),
            )
        n_labels_left = _left(store, queue, labels_counted)
        if n_labels_left:
            n_labels = sum(n_labels_left)
            location = (
                f"on {plural(len(n_labels_left), 'item')} of"
                if len(n_labels_left) != n_labels
                else "in"
            )
            description = f"to give {location} the queue {queue.name}"
            yield PendingTask(
                f"label {queue.name}", plural(n_labels, "label"), description, ("annotate",)
            )
        agreed = (item for item in judged_items if not item.open and item.decision is None)
        of_queue = {
            (codebook, item.context.unit)
            for item in agreed
            if any(label.flagged for label in item.labels)
        }
        if newly_flagged := of_queue - flagged:
            flagged |= newly_flagged
            description = f"flagged in the queue {queue.name}; the labels agree"
            yield PendingTask(
                f"flags {queue.name}",
                plural(len(newly_flagged), "item"),
                description,
                ("agreement", queue.name),
            )


def _left(store: Store, queue: Queue, counted: dict[tuple[str, int], int]) -> list[int]:
    """Return the number of labels that each open item needs beyond those that earlier queues count.

    counted : codebook and unit -> labels to give that are counted already, to which those of this
    queue are added
    """
    n_labels_left = []
    for item in store.queues.items(queue.name):
        key = (queue.codebook.name, item.unit)
        n_counted = counted.get(key, 0)
        if item.left > n_counted:
            n_labels_left.append(item.left - n_counted)
            counted[key] = item.left
    return n_labels_left


def queue_that_waits(store: Store) -> str:
    """Return the queue that waits for a decision, else for a look at flags, else for labels.

    It is empty if there is none.
    """
    pending = [task.key.partition(" ")[::2] for task in _queues(store)]
    return next(
        (
            name
            for kind in ("adjudicate", "flags", "label")
            for kind_of_task, name in pending
            if kind_of_task == kind
        ),
        "",
    )


def _unread(store: Store) -> Iterator[PendingTask]:
    classifiers = store.classifiers.list()
    if not classifiers:
        return
    for audit in registry.free_text():
        _, n_unread = store.classifiers.count_pending(classifiers[-1].reader, audit, None, ())
        if n_unread:
            yield PendingTask(
                f"read {audit}",
                plural(n_unread, "answer"),
                f"that {classifiers[-1].name} has not read",
                ("classify",),
            )


def _reviews(store: Store, shared: Mapping[object, Any]) -> Iterator[PendingTask]:
    """Yield the newest run of each audit with items that are known to wait for an auditor.

    Its queue may have more. Every older run with a request for a second look at something else
    follows.
    """
    known_uids: frozenset[bytes] = frozenset()
    for audit in registry.asking():
        has_any = False
        answered_runs = [run for run in store.runs.list(audit.name, personas=True) if run.responses]
        for run in sorted(answered_runs, key=lambda run: run.last, reverse=True):
            pending = pending_items(store, run, audit.known_for_review(run, shared))
            if pending.again - known_uids or (pending.items and not has_any):
                description, route = (
                    f"for an auditor: {run.named} ({registry.audit_title(audit.name)})",
                    ("review", (*run.design_key, run.family)),
                )
                blind = f"for an auditor ({registry.audit_title(audit.name)})"
                key = (
                    f"review {audit.name}"
                    if not has_any
                    else " ".join(["review", *map(str, run.design_key), run.family])
                )
                yield PendingTask(
                    key, pending.words, description, route, pressing=False, blind=blind
                )
                known_uids, has_any = known_uids | pending.again, True


def _outdated(store: Store) -> Iterator[PendingTask]:
    audits_by_name = {
        audit.name: audit for audit in registry.every_audit() if audit.place is not None
    }
    for run in store.runs.list(personas=True):
        audit = audits_by_name.get(run.audit)
        if (
            audit is not None
            and audit.place
            and run.responses
            and (outdated := store.runs.outdated(run))
        ):
            description = (
                f"changed since {run.named} was asked ({registry.audit_title(audit.name)})"
            )
            key = " ".join(["outdated", *map(str, run.design_key), run.family])
            yield PendingTask(
                key, plural(len(outdated), "statement"), description, (audit.place.mode, run)
            )
