"""Finds the run with the answers of a job."""

from __future__ import annotations

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.run_rows import Run
from workbench import registry
from workbench.domain.designs import Design


def run_of_job(store: Store, job: Job) -> Run | None:
    """Return the run that a job asked, or found answered; None for other jobs, and if nothing is answered.

    If several match, such as those of two versions of a model, it is one with answers from the job, else the newest.
    """
    if "sampling" not in job.spec or registry.of_design(job.spec) is None:
        return None
    design = Design.from_json(job.spec)
    fitting = [
        run
        for run in store.runs.list(design.audit, design.instrument, design.model)
        if run.responses
        and (run.sampling, run.family) == (design.sampling, design.family)
        and design.language in ("", run.language)
        and design.dtype in ("", run.dtype, run.dtype.partition("+")[0])
    ]
    brought = [run for run in fitting if store.runs.brought(run, job.id)] if len(fitting) > 1 else []
    return max(brought or fitting, key=lambda run: run.last, default=None)
