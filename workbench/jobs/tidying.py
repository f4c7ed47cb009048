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
from workbench.domain.batches import Halt, SentBatch, clock
from workbench.domain.designs import Design
from workbench.domain.job_kinds import CLASSIFY, DRAFT, SAMPLE
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.inference.base import Batching
from workbench.jobs.launch import log_path, reap
from workbench.pipeline import planning
from workbench.pipeline.drafting import DraftSpec, plan_drafting
from workbench.pipeline.training import ClassifySpec, plan_classifying

if TYPE_CHECKING:
    from workbench.jobs.task import Task

ENDS_S = 5.0
"seconds until a process that was killed is gone"
STEP_S = 1.0
"seconds between checks, while waiting, of whether the job should end"


class JobLedger:
    """The batches of one job, in its store.

    See `BatchLedger`.
    """

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
        message = sent.describe()
        if next_look_s is not None:
            next_look = datetime.now(UTC) + timedelta(seconds=next_look_s)
            message += f", next {next_look:%H:%M} UTC"
        task.store.jobs.beat(task.job.id, message, task.attempt)

    def over(self, sent: SentBatch) -> None:
        self._over.append(sent.token)

    def settle(self) -> None:
        closed, self._over = self._over, []
        if closed:
            self._task.store.batches.close(closed, self._task.attempt)

    def halt(self) -> Halt:
        control = self._task.stop
        if not control():
            return Halt.NO
        return Halt.CANCEL if control.cancelled else Halt.LEAVE

    def wait(self, seconds: float) -> None:
        deadline, halt_before = time.monotonic() + seconds, self.halt()
        while (remaining_s := deadline - time.monotonic()) > 0 and self.halt() is halt_before:
            self._task.stop.wait(min(remaining_s, STEP_S))

    def say(self, sentence: str) -> None:
        self._task.say(sentence)


def waiting(store: Store, job_id: int) -> str:
    """Return a message on a job's batches at an endpoint, or an empty string if there are none."""
    return "; ".join(sent.describe() for sent in store.batches.open(job_id) if sent.batch)


def cancel(store: Store, job_id: int) -> tuple[Job, str]:
    """Ask a job to stop, and cancel its batches if it has no worker to do so.

    A worker of this machine that was asked before and still runs is ended at once, since it may be
    stuck. What is stored stays.

    Returns the job and a message on its batches. Their answers stay at the endpoint, and resuming
    the job fetches them.
    """
    if (
        (job_before := store.jobs.get(job_id)).stopping
        and job_before.pid is not None
        and store.jobs.is_here(job_id)
    ):
        with suppress(ProcessLookupError):
            os.kill(job_before.pid, signal.SIGKILL)
        deadline = time.monotonic() + ENDS_S
        while store.jobs.get(job_id).worker and time.monotonic() < deadline:
            time.sleep(0.05)
    job = store.jobs.request_stop(job_id)
    open_batches = store.batches.open(job_id) if job.state == "cancelled" else ()
    if not open_batches:
        return job, ""
    from workbench.inference.load import load

    try:
        model = load(str(job.spec["model"]))
        try:
            assert isinstance(model, Batching)
            for sent in open_batches:
                store.batches.note(model.cancel_batch(sent))
        finally:
            model.close()
    except WorkbenchError as error:
        names = ", ".join(sent.batch or f"of {clock(sent.created_at)}" for sent in open_batches)
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
    """Recount the stored work of the unfinished jobs without a worker.

    The job that ended may have done their work, too.
    """
    doer_keys = ("model", "classifier")
    ended_job = store.jobs.get(ended)
    for job in store.jobs.list():
        same_doer = job.kind == ended_job.kind and all(
            job.spec.get(key) == ended_job.spec.get(key) for key in doer_keys
        )
        if (
            same_doer
            and job.id != ended
            and not job.active
            and job.state != "done"
            and job.kind in _DONE
        ):
            # Its instrument may have changed so that it can ask nothing.
            with suppress(WorkbenchError):
                store.jobs.recount(job.id, _DONE[job.kind](store, job), ended)


def _answered(store: Store, job: Job) -> int:
    plan = planning.plan(store, Design.from_json(job.spec))
    return plan.samples_stored + plan.samples_spared


def _drafted(store: Store, job: Job) -> int:
    plan = plan_drafting(store, DraftSpec.from_json(job.spec))
    return len(plan.calls) - len(plan.needed)


def _read(store: Store, job: Job) -> int:
    _, total, n_left = plan_classifying(store, ClassifySpec.from_json(job.spec))
    return total - n_left


_DONE: Mapping[str, Callable[[Store, Job], int]] = {
    SAMPLE: _answered,
    DRAFT: _drafted,
    CLASSIFY: _read,
}
"number of a job's stored answers or results, by its kind"


def what_goes(store: Store, job_id: int) -> str:
    """Return a description of what is deleted with a job.

    Raises JobError for a job with answers or other results.
    """
    job = store.jobs.check_deletable(job_id)
    parts = [plural(job.attempts, "attempt")] if job.attempts else []
    if failures := store.jobs.failures_of(job_id):
        parts.append(f"the note that {failures:,} answers failed, and why")
    if (probe_result := job.probed) is not None:
        parts.append(f"the {plural(len(probe_result.answers), 'answer')} of its probe")
    parts += ["its log"] if log_path(store.path, job_id).exists() else []
    return f"job {job_id} ({job.kind}, {job.state}) has stored nothing to keep. Also deleted: " + (
        ", ".join(parts) or "only its options"
    )


def delete(store: Store, job_id: int) -> None:
    """Delete a job without results, with its log. Raises JobError for other jobs."""
    reap()
    store.jobs.delete(job_id)
    log_path(store.path, job_id).unlink(missing_ok=True)
