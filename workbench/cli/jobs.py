"""Commands that watch and steer jobs, from any terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.cli.asking import agreed
from workbench.cli.output import print_json, say, say_wrapped, table, tell
from workbench.cli.verbs import Namespace, verb
from workbench.errors import StoreGone, UsageError
from workbench.figures.visible import visible
from workbench.options.option import Option, Type
from workbench.options.shared import JSON, STORE, YES

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job

WHO = ("model", "name", "classifier", "encoder", "nli")
"keys of a job's specification that say who does it"
UNITS = {"train": "steps", "classify": "responses", "check": "texts", "draft": "prompts"}
"what a kind of jobs counts; every other kind counts answers, or prompts where it computes label probabilities"
EXIT_CODES = {"done": 0, "cancelled": 3, "paused": 3}
LOOK_EVERY_S = 0.5
LOG_LINES = 1000

FITS: dict[str, tuple[str, ...]] = {
    "pause": ("running", "queued"),
    "resume": ("paused", "lost", "failed", "cancelled"),
    "cancel": ("running", "queued", "paused", "lost"),
    "retry": ("failed", "cancelled"),
    "concurrency": ("running", "queued", "paused"),
    "follow": ("running", "queued", "paused"),
    "log": ("running", "paused", "queued", "lost", "failed", "cancelled", "done"),
}
"the states of the jobs among which one is chosen where none is named"
JOB_ACTS = {
    "pause": "store what is at hand and wait; the worker and its model stay ready for a while",
    "resume": "go on with a job that was paused, cancelled, failed or lost; start one that waits for its turn",
    "cancel": "store what is at hand and end",
    "retry": "ask again what failed, and nothing else",
    "concurrency": "let at most N calls to a served model, or rows of a batch, be under way; N 0: as at first",
    "follow": "show how it goes until it ends; Ctrl+C leaves it running",
    "log": "print what its worker wrote",
}
"what is done with one job"


@verb(
    STORE,
    Option("act", "what to do with a job, see below", none="list", positional=True, choices=JOB_ACTS),
    Option("job", "the job's number", Type.WHOLE, positional=True),
    Option("most", "concurrency: how many at once", Type.WHOLE, least=0, positional=True, metavar="N"),
    YES.but(help="resume, retry: let a job that was created elsewhere go on without asking"),
    JSON,
    about="List jobs, or act on one.",
    epilog="JOB may be left out where the act fits one job only.",
)
def jobs(options: Namespace) -> int:
    """List jobs, or act on one."""
    from stores.core.store import Store

    if options.most is not None and options.act != "concurrency":
        raise UsageError(f"{options.act} takes one number, the job's; {options.most} is one too many")
    if options.yes and options.act not in ("resume", "retry"):
        raise UsageError("--yes lets a job from elsewhere go on; give it with resume or retry")
    with Store.open(options.store) as store:
        if options.act is None:
            return _list(store, options)
        number = _named(store, options)
        if options.act in SETTLED:
            _settle(store, options, number)
        return ACTS[options.act](store, options, number)


def _settle(store: Store, options: Namespace, number: int) -> None:
    """Find out whether the worker of a job on another machine lives, before something is done about it."""
    from stores.jobs.heartbeat import LOST_AFTER_S
    from workbench.jobs import launch

    job = store.jobs.get(number)
    if job.unsure and not options.json:
        say(f"Job {number} has a worker on {job.host}. Watching its heartbeat for at most {LOST_AFTER_S:.0f} s …")
    launch.settled(store, number)


def _named(store: Store, options: Namespace) -> int:
    """Return the job that is meant: the one that is named, or the only one that the act fits."""
    if options.job is not None:
        return int(store.jobs.get(options.job).id)
    found = [job for job in store.jobs.list() if job.state in FITS[options.act]]
    if len(found) == 1:
        return found[0].id
    which = ", ".join(f"{job.id} ({job.state})" for job in found) or "none"
    raise UsageError(f"name the job: workbench jobs {options.store} {options.act} JOB. It fits these: {which}")


def _pause(store: Store, options: Namespace, number: int) -> int:
    job = store.jobs.pause(number)
    how = "is paused" if job.state == "paused" else "pauses after what is at hand, which is stored"
    return _said(store, options, number, f"Job {number} {how}. Go on: workbench jobs {options.store} resume {number}")


def _resume(store: Store, options: Namespace, number: int) -> int:
    from workbench.jobs import launch

    _with_consent(options, lambda consent: launch.resume(store, number, consent=consent))
    return _said(store, options, number, f"Job {number} goes on. {_follow_it(options.store, number)}")


def _retry(store: Store, options: Namespace, number: int) -> int:
    from workbench.jobs import launch

    _with_consent(options, lambda consent: launch.retry(store, number, consent=consent))
    return _said(store, options, number, f"Job {number} asks again what failed. {_follow_it(options.store, number)}")


def _with_consent(options: Namespace, go_on: Callable[[bool], object]) -> None:
    """Let a job go on; ask first where it was created elsewhere. Raises ElsewhereError where nobody agrees."""
    from workbench.jobs.origin import ElsewhereError

    try:
        go_on(options.yes)
    except ElsewhereError as error:
        if not sys.stdin.isatty():
            raise
        say(error.about)
        if not agreed("Let it go on here? [y/N] ", default=False):
            raise UsageError("the job stays as it is; nothing was asked") from None
        go_on(True)


def _cancel(store: Store, options: Namespace, number: int) -> int:
    job = store.jobs.request_stop(number)
    how = "is cancelled" if job.state == "cancelled" else "stops after what is at hand, which is stored"
    return _said(store, options, number, f"Job {number} {how}.")


def _concurrency(store: Store, options: Namespace, number: int) -> int:
    if options.most is None:
        raise UsageError(f"say how many at once: workbench jobs {options.store} concurrency {number} N")
    job = store.jobs.set_concurrency(number, options.most or None)
    most = "as many at once as at first" if job.concurrency is None else f"at most {job.concurrency} at once"
    return _said(store, options, number, f"Job {number}: {most}.")


def _follow(store: Store, options: Namespace, number: int) -> int:
    try:
        job = _until_ended(store, number, quiet=options.json)
    except KeyboardInterrupt:
        if not options.json:
            _break_line()
            say(f"Job {number} goes on. {_follow_it(options.store, number)}")
        return 130
    if options.json:
        print_json(asdict(job))
    return EXIT_CODES.get(job.state, 1)


def _log(_store: Store, options: Namespace, number: int) -> int:
    from workbench.jobs import launch

    text = launch.log_tail(options.store, number, lines=LOG_LINES)
    return tell(options, text or f"Job {number} has not written anything yet.", {"job": number, "log": text})


ACTS: dict[str, Callable[[Store, Namespace, int], int]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry": _retry,
    "concurrency": _concurrency,
    "follow": _follow,
    "log": _log,
}


SETTLED = frozenset({"pause", "resume", "cancel", "retry"})
"acts for which it matters whether the job's worker lives"


def _said(store: Store, options: Namespace, number: int, sentence: str) -> int:
    return tell(options, sentence, asdict(store.jobs.get(number)))


def started(options: Namespace, number: int, about: Mapping[str, Any]) -> int:
    """Print what is said of a job that was started and left to itself; `about`: what a program learns beside it."""
    return tell(options, f"Job {number} runs. {_follow_it(options.store, number)}", {**about, "job": number})


def _follow_it(path: Path, number: int) -> str:
    return f"Follow it: workbench jobs {path} follow {number}"


def _list(store: Store, options: Namespace) -> int:
    from workbench.jobs import launch

    found = launch.looked_at(store)
    if options.json:
        print_json(found)
        return 0
    if not found:
        say(f"No jobs yet. Start one: workbench run {options.store} --model smollm2")
        return 0
    table(
        ["job", "does", "audit", "state", "who", "instrument", "done"],
        [
            (
                str(job.id),
                "ask" if job.kind == "sample" else job.kind,
                str(job.spec.get("audit") or ""),
                _state(job),
                next((str(job.spec[name]) for name in WHO if job.spec.get(name)), ""),
                str(job.spec.get("instrument") or ""),
                f"{job.done:,}/{job.total:,}",
            )
            for job in found
        ],
        whole=4,
    )
    for job in found:
        say_wrapped(f"Job {job.id}: {_course(job)}")
        for line in (*_failures(job), *_served(job)):
            say(line)
        if job.state == "queued" and not job.worker:
            say(f"Job {job.id}: no worker has it. Start one: workbench jobs {options.store} resume {job.id}")
        if job.unsure:
            say_wrapped(
                f"Job {job.id}: its worker is on {job.host}, and its heartbeat did not move just now. If it is gone: "
                f"workbench jobs {options.store} resume {job.id}, which watches it for longer first"
            )
        if job.state == "lost":
            say(f"Job {job.id} lost its worker. Go on: workbench jobs {options.store} resume {job.id}")
    return 0


def _course(job: Job) -> str:
    """Return when a job began, how often, and what it says."""
    begun = f"started {job.started_at[:16].replace('T', ' ')} UTC" if job.started_at else "not started yet"
    attempts = f"attempt {job.attempts}" if job.attempts > 1 else ""
    return "; ".join(part for part in (begun, attempts, job.message) if part)


def _failures(job: Job) -> list[str]:
    """Return why what failed did, the most frequent reasons first; not those that the job's own sentence has whole."""
    return [f"Job {job.id}: {n:,} failed: {reason}" for reason, n in job.reasons if reason not in job.message]


def _served(job: Job) -> list[str]:
    """Return what came from each snapshot of a served model, and under which fingerprints; where there is one of each,
    it is in the names of the results.
    """
    lines = [f"Job {job.id}: {one.describe()}" for one in job.snapshots] if len(job.snapshots) > 1 else []
    if len(job.fingerprints) > 1:
        counts = ", ".join(f"{name} {n:,}" for name, n in job.fingerprints)
        lines.append(f"Job {job.id}: answers by system_fingerprint: {counts}")
    return lines


def _state(job: Job) -> str:
    if job.state == "running" and (job.stopping or job.pausing):
        return "stopping" if job.stopping else "pausing"
    return job.state


def watch(store: Store, job_id: int, *, quiet: bool = False) -> Job:
    """Show a job's progress until it ends. Ctrl+C asks it to stop, and waits for what it is at to be stored."""
    asked = False
    while True:
        try:
            return _until_ended(store, job_id, quiet=quiet)
        except KeyboardInterrupt:
            if asked:
                raise
            asked = True
            stopping = "stopping; what has arrived is being stored (Ctrl+C again leaves the job to itself)"
            print(stopping, file=sys.stderr) if quiet else _show(stopping)
            if store.jobs.get(job_id).active:
                store.jobs.request_stop(job_id)


def _until_ended(store: Store, job_id: int, *, quiet: bool) -> Job:
    """Show a job's progress until no worker has it any more."""
    from workbench.jobs import launch

    shown = ""
    while True:
        launch.reap()
        _check_there(store)
        job = store.jobs.get(job_id)
        line = progress_line(job)
        if not quiet and line != shown:
            _show(line)
            shown = line
        if not job.active:
            if not quiet:
                _end(job, store.path)
            return job
        time.sleep(LOOK_EVERY_S)


def _check_there(store: Store) -> None:
    """Raise StoreGone, saying where workers keep what they have, once the store's file is no longer there."""
    try:
        store.check()
    except StoreGone as error:
        raise StoreGone(
            f"{error} A worker that was at a job ends, and writes what was stored and what it still had to "
            f"{store.path.stem}.rescued{store.path.suffix} beside it, or to the folder for temporary files."
        ) from error


def progress_line(job: Job) -> str:
    """Return one line about a job."""
    from workbench.jobs import launch

    share = f"{job.done / job.total:.0%}" if job.total else "0%"
    pace = launch.pace(job)
    counted = UNITS.get(job.kind, "prompts" if job.exact else "answers")
    parts = [f"job {job.id} {_state(job)}", f"{job.done:,}/{job.total:,} {counted} {share}"]
    if pace.per_second is not None:
        parts.append(f"{pace.per_second:.1f}/s")
    if pace.eta_seconds is not None:
        parts.append(f"about {max(1, round(pace.eta_seconds / 60))} min left" if pace.eta_seconds > 90 else "soon done")
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
    if answers and audit is not None and not audit.free_text and not job.exact:
        letters = audit.defaults.until_valid
        names = {"drawn again": "invalid"} if letters else {"unreadable": "unreadable", "refused": "refused"}
        parts += [f"{said} {told.get(name, 0) / answers:.0%}" for said, name in names.items()]
    if answers and told.get("truncated"):
        parts.append(f"cut off in thought {told['truncated'] / answers:.0%}")
    if told.get("failed"):
        parts.append(f"{told['failed']:,.0f} failed")
    if "cost" in told:
        at_end = launch.cost_at_end(job)
        parts.append(f"cost {told['cost']:.4g}" + (f", about {at_end:.4g} at the end" if at_end is not None else ""))
    return parts


def _show(line: str) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[2K{visible(line)}", end="", flush=True)
    else:
        print(visible(line), flush=True)


def _break_line() -> None:
    if sys.stdout.isatty():
        print()


def _end(job: Job, path: Path) -> None:
    _break_line()
    say(f"job {job.id} {job.state}: {job.message}")
    if job.state == "lost":
        say("its worker is gone; everything that it committed is stored")
    for line in (*_failures(job), *_served(job)):
        say(line)
    if job.failed_items and not job.retry_helps and job.state == "failed":
        return
    if job.failed_items and job.retry_helps and job.state in ("failed", "cancelled"):
        say(f"Ask again what failed: workbench jobs {path} retry {job.id}")
    if job.state in ("cancelled", "failed", "lost", "paused"):
        say(f"Go on with: workbench jobs {path} resume {job.id}")
