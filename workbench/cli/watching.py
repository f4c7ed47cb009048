"""Watching a job from the command line: a line of progress, its probe once it is there, and how it
ended.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.cli.output import agreed, has_width, print_json, room, say, say_wrapped, tell
from workbench.cli.verbs import Namespace
from workbench.errors import StoreGone
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.domain.probe_results import ProbeResult

UNITS = {"train": "steps", "classify": "responses", "check": "texts", "draft": "prompts"}
"""what a kind of jobs counts; every other kind counts answers, or prompts where it computes label
probabilities"""
EXIT_CODES = {"done": 0, "cancelled": 3, "paused": 3}
LOOK_EVERY_S = 0.5


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
    """Show a job's progress until it ends. Ctrl+C asks it to stop, and waits for what it is at to
    be stored.

    `told`: the line of progress in place of the usual one, in a terminal alone; how the job ended
    is then not said.
    """
    asked = False
    while True:
        try:
            return until_ended(store, job_id, quiet=quiet, told=told)
        except KeyboardInterrupt:
            if asked:
                raise
            if store.jobs.get(job_id).batches:  # a day's work, which nobody has to watch
                if not quiet:
                    break_line()
                    say(f"Job {job_id} and its batch continue. {follow_it(store.path, job_id)}")
                    say(f"Cancel both: workbench jobs STORE cancel {job_id}")
                return store.jobs.get(job_id)
            asked = True
            stopping = "stopping; storing what has arrived (Ctrl+C again leaves the job running)"
            print(stopping, file=sys.stderr) if quiet else _show(stopping)
            if store.jobs.get(job_id).active:
                store.jobs.request_stop(job_id)


def until_ended(
    store: Store, job_id: int, *, quiet: bool, told: Callable[[Job], str] | None = None
) -> Job:
    """Show a job's progress as `watch` does, until no worker has it any more or it waits for a
    person's decision.
    """
    from workbench.jobs import launch

    shown, probed = "", store.jobs.get(job_id).probed is not None
    while True:
        launch.reap()
        _check_there(store)
        launch.check_begun(store, job_id)
        job = store.jobs.get(job_id)
        if job.probed is not None and not probed and not quiet and told is None:
            break_line()
            print_probe(job.probed)
        probed = job.probed is not None
        line = told(job) if told else progress_line(job)
        if line != shown and (sys.stdout.isatty() if told else not quiet):
            _show(line)
            shown = line
        if not job.active or job.question:
            if not quiet and told is None:
                _end(job, store.path)
            return job
        time.sleep(LOOK_EVERY_S)


def done_of(job: Job) -> str:
    """Return how far a job is: `960 of 1,920 answers`."""
    return f"{job.done:,} of {job.total:,} {'prompts' if job.exact else 'answers'}"


def _check_there(store: Store) -> None:
    """Raise StoreGone, saying where workers keep what they have, once the store's file is no longer
    there.
    """
    try:
        store.check()
    except StoreGone as error:
        raise StoreGone(
            f"{error} A worker that was running a job ends, and writes what was stored and what it "
            f"still held to {store.path.stem}.rescued{store.path.suffix} beside it, or to the "
            "folder for temporary files."
        ) from error


def progress_line(job: Job) -> str:
    """Return one line about a job."""
    from workbench.jobs import launch

    share = f"{job.done / job.total:.0%}" if job.total else "0%"
    pace = launch.pace(job)
    counted = UNITS.get(job.kind, "prompts" if job.exact else "answers")
    parts = [f"job {job.id} {state_of(job)}", f"{job.done:,}/{job.total:,} {counted} {share}"]
    if pace.per_second is not None:
        parts.append(f"{pace.per_second:,.1f}/s")
    if pace.eta_seconds is not None:
        parts.append(
            f"about {max(1, round(pace.eta_seconds / 60))} min left"
            if pace.eta_seconds > 90
            else "nearly done"
        )
    parts += _figures(job)
    if job.message and job.active:
        parts.append(job.message)
    return " · ".join(parts)


def _figures(job: Job) -> list[str]:
    """Return what is said of the answers so far."""
    from workbench.jobs import launch

    told, answers = job.progress, job.progress.get("answers", 0)
    parts = [f"loss {told['loss']:.3f}"] if "loss" in told else []
    audit = registry.of_design(job.spec) if job.kind == "sample" else None
    if answers and audit is not None and not audit.nature.free_text and not job.exact:
        letters = audit.defaults.until_valid
        names = (
            {"drawn again": "invalid"}
            if letters
            else {"unreadable": "unreadable", "refused": "refused"}
        )
        parts += [f"{said} {told.get(name, 0) / answers:.0%}" for said, name in names.items()]
    if answers and told.get("truncated"):
        parts.append(f"cut off in thought {told['truncated'] / answers:.0%}")
    if told.get("spared"):
        parts.append(
            f"{told['spared']:,.0f} of them not needed, {told['settled']:,.0f} prompts settled"
        )
    if told.get("failed"):
        parts.append(f"{told['failed']:,.0f} failed")
    if "cost" in told:
        at_end = launch.cost_at_end(job)
        parts.append(
            f"cost {told['cost']:.4g}"
            + (f", about {at_end:.4g} in total" if at_end is not None else "")
        )
    return parts


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


def state_of(job: Job) -> str:
    if job.state == "running" and (job.stopping or job.pausing):
        return "stopping" if job.stopping else "pausing"
    return "at batch" if job.waits_for_batch else job.state
