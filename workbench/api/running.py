"""Asking a model from Python: the same plan, worker and job as `workbench run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench import pipeline, registry
from workbench.api.options import given
from workbench.api.results import Result
from workbench.api.store import Store
from workbench.cli.running import noted, requested_design
from workbench.cli.running import run as command
from workbench.cli.watching import watch
from workbench.errors import JobError, ReadOnlyStore
from workbench.jobs import launch

NOT_HERE = ("store", "audit", "model", "plan", "yes", "detach", "dry_run", "json", "no_probe", "least_readable")
"options of the command that mean nothing in a program"


@dataclass(frozen=True, slots=True)
class Run:
    """A model that was asked."""

    store: Store
    audit: str
    model: str
    job: int | None
    "number of the job; None where everything was stored before"
    answers: int
    "that the design asks for, those that were stored before included"

    def results(self, **options: Any) -> Result:
        """Return what the audit says of this model; see `Store.results`."""
        return self.store.results(self.audit, **{"model": self.model} | options)


def run(store: Store, model: str, audit: str = registry.DEFAULT_AUDIT, *, quiet: bool = True, **options: Any) -> Run:
    """Ask a model what an audit asks, in a worker of its own, and wait until its answers are stored.

    What is stored already is not asked again, so a run that was interrupted goes on where it ended. Ctrl+C lets the
    job store what has arrived.

    Parameters
    ----------
    store : opened for writing
    model : as on the command line: a hub id, a folder, a .gguf file, `openai:NAME@URL`, `scripted`
    quiet : print no progress
    options : those of `workbench run`, by their names: `samples=30`, `statements="10"`, `temperature=0.7`, …

    Raises ReadOnlyStore for a store that is open for reading, ModelError where the model cannot be had, JobError where
    the job did not finish.
    """
    if not store.writable:
        raise ReadOnlyStore(
            f"{store.path}: the store is open for reading, and answers are stored in it. Open it with "
            "workbench.open(path, write=True)."
        )
    taken = [option for option in command.options if option.name not in NOT_HERE]
    chosen = given(taken, options, "run")
    opened = store.opened
    plan = pipeline.plan(opened, requested_design(opened, command.given(**vars(chosen), model=model, audit=audit)))
    if not plan.samples_needed:
        told = noted(opened, plan)
        return Run(store, audit, model, None if told is None else told.id, plan.samples)
    job = watch(opened, launch.start(opened, plan.design, plan), quiet=quiet)
    if job.state != "done":
        raise JobError(
            f"job {job.id} {job.state}: {job.message}. Go on with: workbench jobs {store.path} resume {job.id}"
        )
    return Run(store, audit, model, job.id, plan.samples)
