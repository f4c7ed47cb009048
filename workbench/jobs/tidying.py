"""Removes unneeded jobs: replaced by others, or deleted if no results depend on them."""

from __future__ import annotations

from stores.core.store import Store
from workbench.domain.counting import plural
from workbench.jobs.batching import cancel
from workbench.jobs.launch import log_path, reap


def instead_of(store: Store, old: int, new: int) -> None:
    """Cancel a waiting job that a job with changed settings replaces."""
    job = store.jobs.get(old)
    if old != new and job.under_way and job.state != "running":
        cancel(store, old)


def what_goes(store: Store, job_id: int) -> str:
    """Return what is deleted with a job. Raises JobError for a job with answers or other results."""
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
