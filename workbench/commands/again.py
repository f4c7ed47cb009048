"""The settings of a job, as options of a command or fields of a form that start a similar job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stores.core.base import now
from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench.commands.registry import job_command
from workbench.domain.designs import Design
from workbench.domain.job_kinds import SAMPLE
from workbench.errors import UsageError
from workbench.evidence.runs import run_of_job
from workbench.jobs import origin
from workbench.jobs.launch import check_kept

if TYPE_CHECKING:
    from workbench.commands.command import JobCommand


def command_like(store: Store, job: Job) -> JobCommand:
    """Return the command that starts a job like this one.

    Raises UsageError if options cannot express its settings: drafts with prompts from files,
    prompts that are asked anew.
    """
    command = job_command(job.kind).from_specification(store, job.spec)
    return replace(command, batch=True) if job.batched else command  # type: ignore[call-arg]


def anew(store: Store, number: int) -> Design:
    """Return the design that asks anew what a job asked: on today's date (UTC), or the next number
    of today's.

    Raises UsageError for a job that asked no audit, or has no answers yet.
    """
    job = store.jobs.get(number)
    if job.kind != SAMPLE:
        raise UsageError(
            f"job {number} is no run: it does {job.kind}; give the number of a job that asked an "
            "audit"
        )
    check_kept(job)
    if run_of_job(store, job) is None:
        raise UsageError(
            f"job {number} has no answers that could be asked anew; workbench jobs STORE resume "
            f"{number}"
        )
    first, today = replace(Design.from_json(job.spec), occasion=""), now()[:10]
    others = (Design.from_json(one.spec) for one in store.jobs.list() if one.kind == SAMPLE)
    taken = sum(
        one.occasion.startswith(today) and replace(one, occasion="") == first for one in others
    )
    return replace(first, occasion=f"{today} ({taken + 1})" if taken else today)


def from_elsewhere(store: Store, number: int) -> str:
    """Return whom a job asks that was created elsewhere, see `origin.about`; empty for one that was
    created here.
    """
    job = store.jobs.get(number)
    return "" if origin.here().made(job) else origin.about(job)
