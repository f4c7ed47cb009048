"""Keeps the list of jobs true: counts what others did, removes what is replaced or has no results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import pipeline
from workbench.domain.counting import plural
from workbench.domain.designs import Design
from workbench.errors import WorkbenchError
from workbench.jobs.batching import cancel
from workbench.jobs.launch import CLASSIFY, DRAFT, SAMPLE, log_path, reap
from workbench.pipeline.classifying import ClassifySpec, plan_classifying
from workbench.pipeline.draft_planning import DraftSpec, plan_drafting


def instead_of(store: Store, old: int, new: int) -> None:
    """Cancel a waiting job that a job with changed settings replaces."""
    job = store.jobs.get(old)
    if old != new and job.under_way and job.state != "running":
        cancel(store, old)


def recount(store: Store, ended: int) -> None:
    """Count what the unfinished jobs without a worker have now: one that ended may have done their work, too."""
    who = ("model", "classifier")
    by = store.jobs.get(ended)
    for job in store.jobs.list():
        same = job.kind == by.kind and all(job.spec.get(one) == by.spec.get(one) for one in who)
        if same and job.id != ended and not job.active and job.state != "done" and job.kind in _DONE:
            with suppress(WorkbenchError):  # its instrument may have changed so that it can ask nothing
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


_DONE: Mapping[str, Callable[[Store, Job], int]] = {SAMPLE: _answered, DRAFT: _drafted, CLASSIFY: _read}
"how much of a job's work is stored, by its kind"


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
