"""Asking a model from Python: the same plan, worker and job as `workbench run`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from workbench.api.commands import wait_until_done
from workbench.api.options import given
from workbench.api.plans import Plan
from workbench.api.results import Result
from workbench.api.store import TO_WRITE, Store
from workbench.api.typed import AnyFigures, Asked
from workbench.commands.run import (
    AGAIN,
    PLAN,
    preview_run,
    record_stored,
    requested_design,
    run_options,
)
from workbench.errors import ReadOnlyStore, UsageError


@dataclass(frozen=True, slots=True)
class Run:
    """A model that was asked."""

    store: Store
    "the store with its answers"
    audit: str
    "name of the audit whose prompts were asked"
    model: str
    "name of the model"
    job: int | None
    "number of the job; None if everything was stored before"
    answers: int
    "number of answers of the design, including those stored before"

    def results(self, **options: Unpack[AnyFigures]) -> Result:
        """Return the audit's result for this model, or for the runs of `compare`.

        See `Store.results`.
        """
        return self.store._result(
            self.audit, {**({} if "compare" in options else {"model": self.model}), **options}
        )


def run(
    store: Store,
    model: str | None = None,
    audit: str | None = None,
    *,
    plan: Plan | str | Path | None = None,
    quiet: bool = True,
    **options: Unpack[Asked],
) -> Run:
    """Ask a model an audit's prompts in a worker process, and wait until its answers are stored.

    Stored answers are not asked for again, so an interrupted run continues where it ended. Ctrl+C
    lets the job store the answers that have arrived.

    Parameters
    ----------
    store : opened for writing
    model : as on the command line: a hub id, a folder, a .gguf file, `openai:NAME@URL`, `scripted`.
        With a plan of one model it may be left out
    audit : None: reliability, or that of the plan
    plan : a frozen plan, or its file: the run follows it, and the job records this. Further options
        are deviations, which figures name
    quiet : print no progress
    options : those of `workbench run`, by their names: `samples=30`, `statements="10"`,
        `temperature=0.7`, …

    Raises ReadOnlyStore for a store opened for reading, ModelError if the model is not available,
    JobError if the job did not finish.
    """
    if not store.writable:
        raise ReadOnlyStore(
            f"{store.path}: the store is open for reading, and answers are stored in it. {TO_WRITE}"
        )
    opened = store.opened
    named_values = {
        name: value
        for name, value in (("model", model), ("audit", audit), ("plan", _file(plan)))
        if value
    }
    arguments = given([*run_options(), PLAN, AGAIN], {**options, **named_values}, "run")
    if not (model or plan or arguments.again):
        raise UsageError(
            "found no model and no plan; give workbench.run(store, MODEL), or plan=FILE"
        )
    design, plan_hash = requested_design(opened, arguments, (*options, *named_values))
    preview = preview_run(opened, design, batch=arguments.batch)
    audit, model = preview.plan.design.audit, preview.plan.design.model
    if not preview.n_units:
        recorded = record_stored(opened, preview.plan)
        if recorded is not None and plan_hash:
            opened.plans.follow(recorded.id, plan_hash)
        number = None if recorded is None else recorded.id
        return Run(store, audit, model, number, preview.plan.samples)
    job_id = preview.start(opened)
    if plan_hash:
        opened.plans.follow(job_id, plan_hash)
    job = wait_until_done(opened, job_id, quiet=quiet)
    return Run(store, audit, model, job.id, preview.plan.samples)


def _file(plan: Plan | str | Path | None) -> Path | None:
    if isinstance(plan, Plan):
        return plan.path
    return None if plan is None else Path(plan)
