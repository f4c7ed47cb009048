"""Waiting for the end of a job, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import registry
from workbench.domain.job_kinds import SAMPLE
from workbench.errors import StoreGone
from workbench.jobs import launch

LOOK_EVERY_S = 0.5
STOPPING = "stopping; storing what has arrived (Ctrl+C again leaves the job running)"


def wait_until_ended(store: Store, job_id: int, show: Callable[[Job], object]) -> Job:
    """Wait until no worker has a job, or until it waits for a person's decision.

    `show` is called with the job as it is, every half second.

    Raises JobError if its worker ended during start-up, StoreGone if the store's file is gone.
    """
    while True:
        launch.reap()
        _check_there(store)
        launch.check_begun(store, job_id)
        job = store.jobs.get(job_id)
        show(job)
        if not job.active or job.question:
            return job
        time.sleep(LOOK_EVERY_S)


def wait(
    store: Store, job_id: int, show: Callable[[Job], object], say_stopping: Callable[[], object]
) -> Job:
    """Wait as `wait_until_ended` does. Ctrl+C stops the job, and a second Ctrl+C the waiting.

    A job with batches at an endpoint takes up to a day and goes on: it is returned as it is.
    `say_stopping` is called when the job is asked to stop.
    """
    was_interrupted = False
    while True:
        try:
            return wait_until_ended(store, job_id, show)
        except KeyboardInterrupt:
            if was_interrupted:
                raise
            job = store.jobs.get(job_id)
            if job.batches:
                return job
            was_interrupted = True
            say_stopping()
            if job.active:
                store.jobs.request_stop(job_id)


def _check_there(store: Store) -> None:
    """Raise StoreGone if the store's file is gone, and say where workers save what they have."""
    try:
        store.check()
    except StoreGone as error:
        raise StoreGone(
            f"{error} A worker that was running a job ends, and writes what was stored and what it "
            f"still held to {store.path.stem}.rescued{store.path.suffix} beside it, or to the "
            "folder for temporary files."
        ) from error


# ── how far a job is ──────────────────────────────────────────────────────────────────────────────


def done_text(job: Job) -> str:
    """Return how far a job is, such as `960 of 1,920 answers`."""
    return f"{job.done:,} of {job.total:,} {job.unit}"


def state_text(job: Job) -> str:
    """Return the state of a job, which may be about to change."""
    if job.state == "running" and (job.stopping or job.pausing):
        return "stopping" if job.stopping else "pausing"
    return "at batch" if job.waits_for_batch else job.state


def progress_line(job: Job) -> str:
    """Return one line about a job."""
    share = f"{job.done / job.total:.0%}" if job.total else "0%"
    pace = launch.pace(job)
    parts = [f"job {job.id} {state_text(job)}", f"{job.done:,}/{job.total:,} {job.unit} {share}"]
    if pace.per_second is not None:
        parts.append(f"{pace.per_second:,.1f}/s")
    if pace.eta_seconds is not None:
        parts.append(
            f"about {max(1, round(pace.eta_seconds / 60))} min left"
            if pace.eta_seconds > 90
            else "nearly done"
        )
    parts += _answer_figures(job)
    if job.message and job.active:
        parts.append(job.message)
    return " · ".join(parts)


def _answer_figures(job: Job) -> list[str]:
    """Return the figures on the answers so far: unreadable ones, failures, cost."""
    progress, n_answers = job.progress, job.progress.get("answers", 0)
    parts = [f"loss {progress['loss']:.3f}"] if "loss" in progress else []
    audit = registry.of_design(job.spec) if job.kind == SAMPLE else None
    if n_answers and audit is not None and not audit.nature.free_text and not job.exact:
        name_by_label = {"unreadable": "unreadable", "refused": "refused"}
        if audit.defaults.until_valid:
            name_by_label = {"drawn again": "invalid"}
        parts += [
            f"{label} {progress.get(name, 0) / n_answers:.0%}"
            for label, name in name_by_label.items()
        ]
    if n_answers and progress.get("truncated"):
        parts.append(f"cut off in thought {progress['truncated'] / n_answers:.0%}")
    if progress.get("spared"):
        parts.append(
            f"{progress['spared']:,.0f} of them not needed, {progress['settled']:,.0f} prompts "
            "settled"
        )
    if progress.get("failed"):
        parts.append(f"{progress['failed']:,.0f} failed")
    if "cost" in progress:
        at_end = launch.cost_at_end(job)
        total_text = f", about {at_end:.4g} in total" if at_end is not None else ""
        parts.append(f"cost {progress['cost']:.4g}{total_text}")
    return parts
