"""Watching a job from the command line: a line of progress, its probe once it is there, and how it
ended.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import agreed, has_width, print_json, room, say, say_wrapped, tell
from workbench.cli.verbs import Namespace
from workbench.figures.visible import visible
from workbench.jobs.watching import STOPPING, progress_line, wait, wait_until_ended

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.domain.probe_results import ProbeResult

EXIT_CODES = {"done": 0, "cancelled": 3, "paused": 3}


def decided(store: Store, job: Job, *, asks: bool, quiet: bool = False) -> Job:
    """Ask whether a job goes on, where it waits for a person and one is here (`asks`); return it
    once it has ended.
    """
    from workbench.jobs import launch

    while asks and job.question:
        if agreed("Continue the run? [y/N] ", default=False):
            launch.resume(store, job.id)
            job = watch(store, job.id, quiet=quiet)
        else:
            store.jobs.request_stop(job.id)
            job = watch(store, job.id, quiet=True)
            if not quiet:
                say(
                    f"Job {job.id} is cancelled. To change its settings: workbench jobs STORE "
                    f"edit {job.id}"
                )
    return job


def print_probe(found: ProbeResult) -> None:
    """Print what a probe found, and its answers."""
    from workbench.evidence.probe_table import answers
    from workbench.figures.write.terminal import print_tables

    say_wrapped(f"{found.describe()}.")
    print_tables([answers(found)], room(), wrap=has_width())
    say()


def choices(path: Path, job: Job) -> list[str]:
    """Return what a person may do about a job that waits for a decision, a command each."""
    go_on = "Continue" if job.probed is not None and job.probed.readable else "Continue anyway"
    acts = {go_on: "resume", "Change the settings": "edit", "Cancel it": "cancel"}
    seen = {"See the probe's answers": "probe"} if job.probed is not None else {}
    return [
        f"{what}: workbench jobs {shlex.quote(str(path))} {act} {job.id}"
        for what, act in (seen | acts).items()
    ]


def started(options: Namespace, number: int, about: Mapping[str, Any]) -> int:
    """Print what is said of a job that was started and left to itself; `about`: what a program
    learns beside it.
    """
    return tell(
        options,
        f"Job {number} is running. {follow_it(options.store, number)}",
        {**about, "job": number},
    )


def ended(options: Namespace, job: Job, about: Mapping[str, Any], *following: str) -> int:
    """Print what is said of a job that ended, return the exit code; `following`: what comes next
    where it is done.
    """
    if options.json:
        print_json({**about, "job": asdict(job)})
    elif job.state == "done":
        for line in following:
            say(line)
    return EXIT_CODES.get(job.state, 1)


def follow_it(path: Path, number: int) -> str:
    return f"Follow it: workbench jobs {shlex.quote(str(path))} follow {number}"


def watch(
    store: Store, job_id: int, *, quiet: bool = False, told: Callable[[Job], str] | None = None
) -> Job:
    """Show a job's progress until it ends.

    Ctrl+C asks it to stop, and waits until what has arrived is stored.

    told : returns a line of progress in place of the usual one, for a terminal alone; the end of
        the job is then not printed
    """
    job = wait(
        store, job_id, _ProgressPrinter(store, job_id, quiet, told), partial(_say_stopping, quiet)
    )
    if job.active and not job.question:  # Its batch takes a day, which nobody has to watch.
        if not quiet:
            break_line()
            say(f"Job {job_id} and its batch continue. {follow_it(store.path, job_id)}")
            say(f"Cancel both: workbench jobs STORE cancel {job_id}")
    elif not quiet and told is None:
        _end(job, store.path)
    return job


def follow(store: Store, job_id: int, *, quiet: bool = False) -> Job:
    """Show a job's progress until it ends. Ctrl+C leaves the job running."""
    job = wait_until_ended(store, job_id, _ProgressPrinter(store, job_id, quiet, None))
    if not quiet:
        _end(job, store.path)
    return job


def _say_stopping(quiet: bool) -> None:
    if quiet:
        print(STOPPING, file=sys.stderr)
    else:
        _show(STOPPING)


class _ProgressPrinter:
    """Prints a job's line of progress if it has changed, and its probe once it is there."""

    def __init__(
        self, store: Store, job_id: int, quiet: bool, line_of: Callable[[Job], str] | None
    ) -> None:
        self._line_of = line_of or progress_line
        self._shows_lines = sys.stdout.isatty() if line_of else not quiet
        self._shows_probe = not quiet and line_of is None
        self._had_probe = store.jobs.get(job_id).probed is not None
        self._shown = ""

    def __call__(self, job: Job) -> None:
        if self._shows_probe and job.probed is not None and not self._had_probe:
            break_line()
            print_probe(job.probed)
        self._had_probe = job.probed is not None
        line = self._line_of(job)
        if line != self._shown and self._shows_lines:
            _show(line)
            self._shown = line


def _show(line: str) -> None:
    """Print a line in place of the last one. In a terminal it is cut: of a wrapped line only the
    end would go.
    """
    if sys.stdout.isatty():
        from rich.text import Text

        shown = Text(visible(line))
        shown.truncate(room() - 1, overflow="ellipsis")
        print(f"\r\x1b[2K{shown.plain}", end="", flush=True)
    else:
        print(visible(line), flush=True)


def break_line() -> None:
    if sys.stdout.isatty():
        print()


def _end(job: Job, path: Path) -> None:
    break_line()
    say_wrapped(f"job {job.id} {job.stands}: {job.message}")
    if job.question:
        for line in choices(path, job):
            say(line)
        return
    if job.state == "lost":
        say("its worker is gone; everything it committed is stored")
    for line in (*failures(job), *served(job)):
        say(line)
    if job.failed_items and not job.retry_helps and job.state == "failed":
        return
    if job.failed_items and job.retry_helps and job.state in ("failed", "cancelled"):
        say(f"Retry what failed: workbench jobs STORE retry {job.id}")
    if job.state in ("cancelled", "failed", "lost", "paused"):
        say(f"Continue with: workbench jobs STORE resume {job.id}")


def failures(job: Job) -> list[str]:
    """Return why what failed did, the most frequent reasons first; not those that the job's own
    sentence has whole.
    """
    return [
        f"Job {job.id}: {n:,} failed: {reason}"
        for reason, n in job.reasons
        if reason not in job.message
    ]


def at_endpoint(store: Store, job: Job) -> list[str]:
    """Return how the batches stand that a job without a worker has left at an endpoint, and how to
    take them up.
    """
    from workbench.jobs.tidying import waiting

    if not job.batches or job.active or not (words := waiting(store, job.id)):
        return []
    return [
        f"Job {job.id}: {words}. To resume: workbench jobs {shlex.quote(str(store.path))} resume "
        f"{job.id}"
    ]


def served(job: Job) -> list[str]:
    """Return what came from each snapshot of a served model, and under which fingerprints; where
    there is one of each, it is in the names of the results.
    """
    lines = (
        [f"Job {job.id}: {one.describe()}" for one in job.snapshots]
        if len(job.snapshots) > 1
        else []
    )
    if len(job.fingerprints) > 1:
        counts = ", ".join(f"{name} {n:,}" for name, n in job.fingerprints)
        lines.append(f"Job {job.id}: answers by system_fingerprint: {counts}")
    return lines


def on_gpus(job: Job) -> list[str]:
    """Return what each GPU of a job that runs is doing."""
    return [f"Job {job.id}: {one.describe()}" for one in job.gpus if job.active]
