"""Commands that watch and steer jobs, from any terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import (
    agreed,
    at_terminal,
    edited,
    print_json,
    print_outcome,
    say,
    say_wrapped,
    table,
    tell,
)
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import (
    EXIT_CODES,
    at_endpoint,
    break_line,
    choices,
    failures,
    follow,
    follow_it,
    on_gpus,
    print_probe,
    served,
)
from workbench.commands.jobs import (
    YES_JOB,
    CancelJobCommand,
    DeleteJobCommand,
    HideJobCommand,
    JobActCommand,
    PauseJobCommand,
    ResumeJobCommand,
    RetryJobCommand,
    SetConcurrencyCommand,
    UnhideJobCommand,
    job_data,
    job_number,
)
from workbench.domain.job_kinds import SAMPLE
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.jobs.watching import state_text
from workbench.options.option import Option, flag
from workbench.options.shared import JSON, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job

WHO = ("model", "name", "classifier", "encoder", "nli")
"keys of a job's specification that say who does it"
LOG_LINES = 1000

JOB_ACTS = {
    "pause": "store the current work and wait; the worker and its model stay ready for a while",
    "resume": "continue a paused, cancelled, failed or lost job; start a job that waits for its "
    "turn",
    "cancel": "store the current work and end; a second time ends a stuck worker at once",
    "retry": "retry only what failed",
    "concurrency": "run at most N calls to a served model, or rows of a batch, at once; 0 "
    "restores the original number",
    "follow": "show its progress until it ends; Ctrl+C leaves it running",
    "log": "print what its worker wrote",
    "probe": "print the answers of its probe with their readings",
    "edit": "edit the command that started the job, and run it; piped, print the command",
    "hide": "hide a finished job from lists; `show` lists it again, --hidden lists all",
    "show": "list a hidden job again",
    "delete": "delete a job that has stored nothing, after saying what is deleted",
}
"what is done with one job"
COMMANDS: Sequence[type[JobActCommand]] = (
    PauseJobCommand,
    ResumeJobCommand,
    CancelJobCommand,
    RetryJobCommand,
    SetConcurrencyCommand,
    HideJobCommand,
    UnhideJobCommand,
    DeleteJobCommand,
)
"commands that change a job"
_CONCURRENCY = SetConcurrencyCommand.options()


@verb(
    STORE,
    Option(
        "act", "what to do with a job, see below", none="list", positional=True, choices=JOB_ACTS
    ),
    _CONCURRENCY["job"],
    _CONCURRENCY["most"],
    flag("hidden", "list hidden jobs, too"),
    YES_JOB,
    JSON,
    about="List jobs, or act on one.",
    epilog="JOB may be left out if the act fits only one job.",
)
def jobs(options: Namespace) -> int:
    """List jobs, or act on one."""
    from stores.core.store import Store

    if options.most is not None and options.act != "concurrency":
        raise UsageError(
            f"{options.act} takes one number, the job's; {options.most} is one too many"
        )
    if options.yes and options.act not in ("resume", "retry", "delete"):
        raise UsageError(
            "--yes answers the question of resume, retry and delete; leave it out here"
        )
    if options.hidden and options.act is not None:
        raise UsageError(f"--hidden lists jobs; leave it out with {options.act}")
    with Store.open(options.store) as store:
        if options.act is None:
            return _list(store, options)
        by_word = {command.ACT_WORD: command for command in COMMANDS}
        if options.act in by_word:
            return _act(store, options, by_word[options.act])
        states, watch = WATCHING[options.act]
        return watch(store, options, job_number(store, options.job, options.act, states))


def _act(store: Store, options: Namespace, kind: type[JobActCommand]) -> int:
    """Do something to a job. Ask first before a deletion, or if the job was created elsewhere."""
    from workbench.jobs.origin import ElsewhereError

    options.job = kind.from_arguments(options).number(store)
    if kind.NEEDS_WORKER_STATE:
        _settle(store, options, options.job)
    if kind is DeleteJobCommand:
        _check_deletion(store, options, options.job)
    try:
        outcome = kind.from_arguments(options).run(store)
    except ElsewhereError as error:
        if not sys.stdin.isatty():
            raise
        say(error.about)
        if not agreed("Continue it here? [y/N] ", default=False):
            raise UsageError("the job has not changed; nothing was asked") from None
        options.yes = True
        outcome = kind.from_arguments(options).run(store)
    return print_outcome(options, outcome)


def _settle(store: Store, options: Namespace, number: int) -> None:
    """Wait until it is known whether the worker of a job on another machine is alive."""
    from stores.jobs.job_rows import LOST_AFTER_S
    from workbench.jobs import launch

    job = store.jobs.get(number)
    if job.unsure and not options.json:
        say(
            f"Job {number} has a worker on {job.host}. Watching its heartbeat for at most "
            f"{LOST_AFTER_S:.0f} s …"
        )
    launch.settled(store, number)


def _check_deletion(store: Store, options: Namespace, number: int) -> None:
    """Say what is deleted with a job, and raise UsageError unless a person agrees."""
    from workbench.jobs.tidying import what_goes

    loss = what_goes(store, number)
    if not options.json:
        say_wrapped(f"{loss[0].upper()}{loss[1:]}.")
    if not options.yes and not agreed("Delete it? [y/N] ", default=False):
        raise UsageError(
            f"job {number} was not deleted; where nobody can answer the question, give --yes"
        )


def _follow(store: Store, options: Namespace, number: int) -> int:
    try:
        job = follow(store, number, quiet=options.json)
    except KeyboardInterrupt:
        if not options.json:
            break_line()
            say(f"Job {number} continues. {follow_it(options.store, number)}")
        return 130
    if options.json:
        print_json(job_data(job))
    return EXIT_CODES.get(job.state, 1)


def _log(_store: Store, options: Namespace, number: int) -> int:
    from workbench.jobs import launch

    text = launch.log_tail(options.store, number, lines=LOG_LINES)
    return tell(
        options, text or f"Job {number} has not written anything yet.", {"job": number, "log": text}
    )


def _probe(store: Store, options: Namespace, number: int) -> int:
    found = store.jobs.get(number).probed
    if options.json:
        print_json({"job": number, "probe": None if found is None else found.as_json()})
    elif found is None:
        say(f"Job {number} has had no probe.")
    else:
        print_probe(found)
    return 0


def _edit(store: Store, options: Namespace, number: int) -> int:
    """Let a person change the command that asks what a job asks, and run it; print it where nobody
    sits here.
    """
    from workbench.cli.main import main
    from workbench.jobs.tidying import instead_of

    words = _arguments(store, store.jobs.get(number))
    if options.json:
        print_json({"job": number, "command": ["workbench", *words]})
        return 0
    line = shlex.join(["workbench", *words])
    if not at_terminal():
        print(line)
        return 0
    say(f"Edit the command of job {number}; Enter runs it. Stored answers are not asked for again.")
    typed = shlex.split(edited(line))
    if not typed:
        return tell(options, "Nothing was started.", None)
    before = max(job.id for job in store.jobs.list())
    ended = main(typed[1:] if typed[0] == "workbench" else typed)
    if new := [job.id for job in store.jobs.list() if job.id > before]:
        instead_of(store, number, new[0])
    return ended


def _arguments(store: Store, job: Job) -> list[str]:
    """Return the command that starts a job like this one, with all of its options."""
    from workbench.commands.again import command_like
    from workbench.options.flags import as_arguments

    command = command_like(store, job)
    words = as_arguments(command.all_options(), command.values())
    return [command.VERB or job.kind, str(store.path), *words]


Watch = Callable[["Store", Namespace, int], int]
"prints something about a job, and returns the exit code"
UNFINISHED = ("running", "queued", "paused")
EVERY_STATE = ("running", "paused", "queued", "lost", "failed", "cancelled", "done")
WATCHING: dict[str, tuple[Sequence[str], Watch]] = {
    "follow": (UNFINISHED, _follow),
    "log": (EVERY_STATE, _log),
    "probe": (EVERY_STATE, _probe),
    "edit": (("paused", "lost", "failed", "cancelled"), _edit),
}
"act that only prints, or edits a command -> states of the jobs that it fits, what does it"


def _list(store: Store, options: Namespace) -> int:
    from workbench.jobs import launch

    every = launch.looked_at(store)
    found = [job for job in every if options.hidden or not job.hidden]
    if options.json:
        print_json([job_data(job) for job in found])
        return 0
    if hidden := len(every) - len(found):
        say(f"{plural(hidden, 'hidden job')} left out; --hidden lists all.")
    if not every:
        say("No jobs yet. Start one: workbench run STORE --model smollm2")
        return 0
    table(
        ["job", "does", "audit", "state", "who", "instrument", "done"],
        [_row(job) for job in found],
        whole=4,
    )
    for job in found:
        _print_details(store, job)
    return 0


def _row(job: Job) -> tuple[str, ...]:
    """Return the cells of a job in the list."""
    does = job.kind
    if does == SAMPLE:
        does = "ask anew" if job.spec.get("occasion") else "ask"
    return (
        str(job.id),
        does,
        str(job.spec.get("audit") or ""),
        state_text(job),
        next((str(job.spec[name]) for name in WHO if job.spec.get(name)), ""),
        str(job.spec.get("instrument") or ""),
        f"{job.done:,}/{job.total:,}",
    )


def _print_details(store: Store, job: Job) -> None:
    """Print what the list has no column for: the course of a job, and what it waits for."""
    resume = f"workbench jobs STORE resume {job.id}"
    say_wrapped(f"Job {job.id}: {_course(job)}")
    for line in (*on_gpus(job), *failures(job), *served(job)):
        say(line)
    if job.question:
        for line in choices(store.path, job):
            say(f"  {line}")
    if job.state == "queued" and not job.worker:
        say(f"Job {job.id}: no worker is running it. Start one: {resume}")
    if job.unsure:
        say_wrapped(
            f"Job {job.id}: its worker on {job.host} sends no heartbeat. If the worker is gone: "
            f"{resume}, which watches it for longer first"
        )
    for line in at_endpoint(store, job):
        say_wrapped(line)
    if job.state == "lost":
        say(f"Job {job.id} lost its worker. Continue: {resume}")


def _course(job: Job) -> str:
    """Return when a job began, how often, and what it says."""
    begun = (
        f"started {job.started_at[:16].replace('T', ' ')} UTC"
        if job.started_at
        else "not started yet"
    )
    attempts = f"attempt {job.attempts}" if job.attempts > 1 else ""
    return "; ".join(part for part in (begun, attempts, job.message) if part)
