"""Jobs that draft with prompts of the tests' own, which no options of a command express."""

from __future__ import annotations

from stores.core.store import Store
from workbench.domain import job_kinds
from workbench.jobs import launch
from workbench.pipeline.drafting import DraftSpec, plan_drafting


def create_drafting(store: Store, spec: DraftSpec) -> int:
    """Queue the job of a specification, and return its number."""
    plan = plan_drafting(store, spec)
    return launch.create_job(store, job_kinds.DRAFT, plan.spec.as_json(), len(plan.calls))


def start_drafting(store: Store, spec: DraftSpec) -> int:
    """Queue the job of a specification, start its worker, and return the job's number."""
    plan = plan_drafting(store, spec)
    return launch.start_job(store, job_kinds.DRAFT, plan.spec.as_json(), len(plan.calls))
