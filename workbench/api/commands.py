"""Commands that start a job, from Python: the same plan, worker and job as on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stores.core.store import Store
from workbench.api.options import given
from workbench.cli.watching import watch
from workbench.commands.registry import job_command
from workbench.errors import JobError


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that was carried out."""

    job: int | None
    "number of the job; None if nothing was left to do, or no job was needed"
    message: str
    "the result in a sentence"
    data: Mapping[str, Any]
    "numbers of what was used and done, as `--json` prints them"


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
    job = watch(store, command.start(store, preview), quiet=quiet)
    if job.state != "done":
        resume = f"workbench jobs {shlex.quote(str(store.path))} resume {job.id}"
        raise JobError(f"job {job.id} {job.state}: {job.message}. Go on with: {resume}")
    return Finished(job.id, job.message, preview.data)
