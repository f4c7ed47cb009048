"""Commands that ask a model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from workbench import registry
from workbench.cli.output import check_agreed, print_json, say, say_wrapped
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import decided, ended, started, watch
from workbench.commands.audit_options import RUN, sections
from workbench.commands.run import (
    AGAIN,
    NOT_OF_DESIGN,
    PLAN,
    RunCommand,
    RunPreview,
    preview_run,
    record_stored,
    requested_design,
)
from workbench.domain.designs import Design
from workbench.domain.probe_results import PROBED, ProbeWish
from workbench.domain.responses import EXACT, EXACTLY
from workbench.evidence.runs import FIRST
from workbench.options.option import Option, Section
from workbench.options.shared import BATCH, JSON, PROBING, STARTING, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job

PROBE_FIRST = (
    f"First a probe: {PROBED} answers, shown with their readings; they count in no "
    "figure; --no-probe skips it"
)
_OPTIONS = RunCommand.options()
ASKED = _OPTIONS["model"]
DESIGN: tuple[Option | Section, ...] = (
    *(option for name, option in _OPTIONS.items() if name not in ("model", *NOT_OF_DESIGN)),
    *sections(RUN),
)
"options on which answers are asked for, except the model"


@verb(
    STORE,
    ASKED,
    PLAN,
    AGAIN,
    DESIGN,
    BATCH,
    PROBING,
    STARTING,
    JSON,
)
def run(options: Namespace) -> int:
    """Print the plan of a design, ask whether to start, start the worker, and watch its job."""
    from stores.core.store import Store

    context = click.get_current_context()
    if options.plan is None and options.again is None and not options.model:
        raise click.UsageError(
            "Missing option '--model'; or name a frozen plan with --plan", context
        )
    given_names = [
        name
        for name in vars(options)
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    with Store.open(options.store) as store:
        design, plan_hash = requested_design(store, options, given_names)
        if options.again is not None and not options.json:
            say_if_from_elsewhere(store, options.again)
        preview = preview_run(store, design, batch=options.batch)
        wish = _probe(store, preview, options)
        data = {**preview.data, "probe": wish is not None}
        if not options.json:
            say_wrapped(preview.text)
            if wish is not None:
                say_wrapped(PROBE_FIRST)
        if options.dry_run or not preview.n_units:
            job = None if options.dry_run else record_stored(store, preview.plan)
            if job is not None and plan_hash:
                store.plans.follow(job.id, plan_hash)
            _print_not_started(store, preview, job, data, options)
            return 0
        check_agreed(options)
        job_id = preview.start(store, wish)
        if plan_hash:
            store.plans.follow(job_id, plan_hash)
        if options.detach:
            return started(options, job_id, data)
        job = watch(store, job_id, quiet=options.json)
        job = decided(store, job, asks=wish is not None and wish.asks, quiet=options.json)
    return ended(options, job, data)


def _print_not_started(
    store: Store,
    preview: RunPreview,
    job: Job | None,
    data: Mapping[str, object],
    options: Namespace,
) -> None:
    """Print what a request comes to that starts nothing: a dry run, or answers that are stored.

    Parameters
    ----------
    job : the job that records stored answers; None: a dry run
    data : of the preview, for programs
    """
    if options.json:
        print_json({**data, "job": None if job is None else asdict(job)})
    elif not preview.n_units:
        note = "" if job is None else f"; job {job.id} records this request"
        next_command = _next(store, options.store, preview.plan.design)
        say(f"Everything is stored already{note}. Next: workbench {next_command}")


def say_if_from_elsewhere(store: Store, number: int) -> None:
    """Print whom a job asks that was created elsewhere, before it is asked anew."""
    from workbench.commands.again import from_elsewhere

    if note := from_elsewhere(store, number):
        say(note)


def _probe(store: Store, preview: RunPreview, options: Namespace) -> ProbeWish | None:
    """Return the probe that a run begins with, or None if it needs none.

    A person at this terminal decides on it. If nobody waits for it, or --yes says not to ask, the
    share of readable answers decides.
    """
    if options.no_probe or not preview.wants_probe(store):
        return None
    asks = sys.stdin.isatty() and not (options.yes or options.detach or options.json)
    return ProbeWish(asks=asks, least=options.least_readable)


def next_command(store: Path, model: str, audit: str) -> str:
    """Return the command that continues after a model was asked."""
    definition = registry.audit(audit)
    command = definition.then or f"{definition.command} --model MODEL"
    return command.replace("STORE", str(store)).replace("MODEL", model)


def _next(store: Store, path: Path, design: Design) -> str:
    """Return the command that continues from here.

    It has the options that tell these answers from other answers of the model.
    """
    command = next_command(path, design.model, design.audit)
    if not registry.audit(design.audit).told_apart:
        return command
    runs = [run for run in store.runs.list(design.audit, None, design.model) if run.responses]
    if len({run.sampling for run in runs}) > 1:
        is_exact = design.sampling == EXACTLY
        command += f" --sampling {EXACT if is_exact else shlex.quote(str(design.sampling))}"
    if any(len(run.families) > 1 for run in runs):
        command += f" --family {design.family}"
    if design.dtype and len({run.dtype for run in runs}) > 1:
        command += f" --dtype {design.dtype}"
    if len({run.snapshot for run in runs}) > 1:
        command += f" --snapshot {shlex.quote(runs[-1].snapshot or 'unknown')}"
    elif len({run.occasion for run in runs}) > 1:
        command += f" --snapshot {shlex.quote(design.occasion or FIRST)}"
    return command
