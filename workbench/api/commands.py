"""Commands that start a job, from Python: the same plan, worker and job as on the command line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench.api.options import given
from workbench.commands.registry import immediate_command, job_command
from workbench.errors import JobError
from workbench.figures.json_values import to_json_values
from workbench.figures.visible import visible
from workbench.jobs.watching import STOPPING, progress_line, wait


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that was carried out."""

    job: int | None
    "number of the job; None if nothing was left to do, or no job was needed"
    message: str
    "the result in a sentence"
    data: Any
    "what was used and done, as `--json` prints it"


def carry_out(store: Store, kind: str, values: Mapping[str, Any], *, quiet: bool) -> Finished:
    """Start the job of a command, and wait until it is done.

    Raises JobError if the job did not finish, and what the command raises.
    """
    of_kind = job_command(kind)
    arguments = given(of_kind.options().values(), values, kind)
    command = of_kind.from_arguments(arguments)
    preview = command.preview(store)
    if preview.immediate is not None:
        outcome = preview.immediate(store)
        return Finished(None, outcome.sentence, {**preview.data, **outcome.data})
    if not preview.n_units:
        return Finished(None, preview.text, preview.data)
    job = wait_until_done(store, command.start(store, preview), quiet=quiet)
    return Finished(job.id, job.message, preview.data)


def do(store: Store, verb: str, values: Mapping[str, Any]) -> Finished:
    """Do what an immediate command says. Raises what the command raises."""
    command_class = immediate_command(verb)
    arguments = given(command_class.options().values(), values, verb)
    outcome = command_class.from_arguments(arguments).run(store)
    return Finished(None, outcome.sentence, to_json_values(outcome.data))


def wait_until_done(store: Store, number: int, *, quiet: bool) -> Job:
    """Wait until a job is done, and return it. Ctrl+C lets it store what has arrived.

    quiet : do not print its progress

    Raises JobError if the job ended otherwise.
    """
    printed = ""

    def show(job: Job) -> None:
        nonlocal printed
        line = visible(progress_line(job))
        if not quiet and line != printed:
            print(line, flush=True)
            printed = line

    job = wait(store, number, show, lambda: print(STOPPING, file=sys.stderr))
    if job.state != "done":
        resume = f"workbench jobs {shlex.quote(str(store.path))} resume {job.id}"
        raise JobError(f"job {job.id} {job.state}: {job.message}. Go on with: {resume}")
    return job
