"""Records a job's batches while an endpoint answers them, and cancels them with the job."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import pipeline
from workbench.domain.batches import Halt, SentBatch, clock
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.inference.base import Batching
from workbench.jobs.launch import CLASSIFY, DRAFT, SAMPLE, log_path, reap
from workbench.pipeline.drafting import DraftSpec, plan_drafting
from workbench.pipeline.training import ClassifySpec, plan_classifying

if TYPE_CHECKING:
    from workbench.jobs.task import Task

ENDS_S = 5.0
"until a process that was killed is gone"
STEP_S = 1.0
"seconds between checks, while waiting, of whether the job should end"


class JobLedger:
    """The batches of one job, in its store: see `BatchLedger`."""

    def __init__(self, task: Task):
        self._task = task
        self._over: list[str] = []

    def open(self) -> Sequence[SentBatch]:
        return self._task.store.batches.open(self._task.job.id)

    def intend(self, endpoint: str, calls: Sequence[tuple[str, int]], turn: int) -> SentBatch:
        return self._task.store.batches.intend(
            self._task.job.id, self._task.attempt, endpoint, calls, turn
        )

    def note(self, sent: SentBatch, next_look_s: float | None = None) -> None:
        task = self._task
        task.store.batches.note(sent, task.attempt)
        words = sent.describe()
        if next_look_s is not None:
            at = datetime.now(UTC) + timedelta(seconds=next_look_s)
            words += f", next {at:%H:%M} UTC"
        task.store.jobs.beat(task.job.id, words, task.attempt)

    def over(self, sent: SentBatch) -> None:
        self._over.append(sent.token)

    def settle(self) -> None:
        over, self._over = self._over, []
        if over:
            self._task.store.batches.close(over, self._task.attempt)

    def halt(self) -> Halt:
        control = self._task.stop
        if not control():
            return Halt.NO
        return Halt.CANCEL if control.cancelled else Halt.LEAVE

    def wait(self, seconds: float) -> None:
        until, before = time.monotonic() + seconds, self.halt()
        while (left := until - time.monotonic()) > 0 and self.halt() is before:
            self._task.stop.wait(min(left, STEP_S))

    def say(self, sentence: str) -> None:
        self._task.say(sentence)


def waiting(store: Store, job_id: int) -> str:
    """Return a message on a job's batches at an endpoint; empty if there are none."""
    return "; ".join(sent.describe() for sent in store.batches.open(job_id) if sent.batch)


def cancel(store: Store, job_id: int) -> tuple[Job, str]:
    """Ask a job to stop, and cancel its batches if it has no worker to do so.

    A worker of this machine that was asked before and still runs is ended at once: it may be stuck.
    What is stored stays.

    Returns the job and a message on its batches. Their answers stay at the endpoint, and resuming
    the job fetches them.
    """
    if (
        (before := store.jobs.get(job_id)).stopping
        and before.pid is not None
        and store.jobs.is_here(job_id)
    ):
        with suppress(ProcessLookupError):
            os.kill(before.pid, signal.SIGKILL)
        until = time.monotonic() + ENDS_S
        while store.jobs.get(job_id).worker and time.monotonic() < until:
            time.sleep(0.05)
    job = store.jobs.request_stop(job_id)
    left = store.batches.open(job_id) if job.state == "cancelled" else ()
    if not left:
        return job, ""
    from workbench.inference.load import load

    try:
        model = load(str(job.spec["model"]))
        try:
            assert isinstance(model, Batching)
            for sent in left:
                store.batches.note(model.cancel_batch(sent))
        finally:
            model.close()
    except WorkbenchError as error:
        names = ", ".join(sent.batch or f"of {clock(sent.created_at)}" for sent in left)
        return (
            job,
            f"Its batch {names} could not be cancelled at the endpoint ({error}) and may cost "
            "more money.",
        )
    return (
        job,
        "Its batch is cancelled at the endpoint; resuming the job fetches the answers so far.",
    )


def instead_of(store: Store, old: int, new: int) -> None:
    """Cancel a waiting job that a job with changed settings replaces."""
    job = store.jobs.get(old)
    if old != new and job.under_way and job.state != "running":
        cancel(store, old)


def recount(store: Store, ended: int) -> None:
    """Count what the unfinished jobs without a worker have now: one that ended may have done their
    work, too.
    """
    who = ("model", "classifier")
    by = store.jobs.get(ended)
    for job in store.jobs.list():
        same = job.kind == by.kind and all(job.spec.get(one) == by.spec.get(one) for one in who)
        if (
            same
            and job.id != ended
            and not job.active
            and job.state != "done"
            and job.kind in _DONE
        ):
            # Its instrument may have changed so that it can ask nothing.
            with suppress(WorkbenchError):
                store.jobs.recount(job.id, _DONE[job.kind](store, job), ended)


def _answered(store: Store, job: Job) -> int:
    plan = pipeline.plan(store, Design.from_json(job.spec))
    return plan.samples_stored + plan.samples_spared


def _drafted(store: Store, job: Job) -> int:
    plan = plan_drafting(store, DraftSpec.from_json(job.spec))
    return len(plan.calls) - len(plan.needed)


def _read(store: Store, job: Job) -> int:
    _, total, left = plan_classifying(store, ClassifySpec.from_json(job.spec))
    return total - left


_DONE: Mapping[str, Callable[[Store, Job], int]] = {
    SAMPLE: _answered,
    DRAFT: _drafted,
    CLASSIFY: _read,
}
"how much of a job's work is stored, by its kind"


def what_goes(store: Store, job_id: int) -> str:
    """Return what is deleted with a job. Raises JobError for a job with answers or other
    results.
    """
    job = store.jobs.check_deletable(job_id)
    parts = [plural(job.attempts, "attempt")] if job.attempts else []
    if failures := store.jobs.failures_of(job_id):
        parts.append(f"the note that {failures:,} answers failed, and why")
    if (found := job.probed) is not None:
        parts.append(f"the {plural(len(found.answers), 'answer')} of its probe")
    parts += ["its log"] if log_path(store.path, job_id).exists() else []
    return f"job {job_id} ({job.kind}, {job.state}) has stored nothing to keep. Also deleted: " + (
        ", ".join(parts) or "only its options"
    )


def delete(store: Store, job_id: int) -> None:
    """Delete a job without results, with its log. Raises JobError for other jobs."""
    reap()
    store.jobs.delete(job_id)
    log_path(store.path, job_id).unlink(missing_ok=True)
