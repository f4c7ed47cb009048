"""Starting, watching and stopping jobs from any terminal."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench import registry
from workbench.domain.designs import Design
from workbench.domain.job_kinds import DRAFT, SAMPLE
from workbench.domain.probe_results import ProbeWish
from workbench.errors import JobError, UsageError
from workbench.jobs import origin
from workbench.jobs.origin import check_room
from workbench.pipeline import planning
from workbench.pipeline.design_checks import launched, scripted, served
from workbench.version import __version__

LOOK_EVERY_S = 0.5
"seconds between two checks of the heartbeat of a worker on another machine"
LOOK_S = 3.0
"seconds for which a list of jobs watches such a heartbeat"
HOLD_S = 600.0
"""seconds for which a paused job keeps its worker and its model, unless $WORKBENCH_HOLD_S says
otherwise"""
LOCAL_CLUSTER = "local"
"the cluster that a job starts for itself, on this machine"
STORED_BEFORE = "nothing was asked: every prompt has the same text as an earlier prompt"
SETTLED_BEFORE = "nothing was asked: stored answers settle every prompt"


def create(
    store: Store,
    design: Design,
    plan: planning.Plan | None = None,
    *,
    probe: ProbeWish | None = None,
    patient: bool = False,
    batched: bool = False,
) -> int:
    """Queue a sampling job and return its number; `probe`, `patient` and `batched` as `start`.

    Raises UsageError if the design has no prompts, JobError if an active job asks the same: two
    jobs would ask the same prompts twice.
    """
    plan = plan or planning.plan(store, design)
    return create_job(
        store, SAMPLE, plan.design.as_json(), plan.samples, probe, patient=patient, batched=batched
    )


def create_job(
    store: Store,
    kind: str,
    spec: Mapping[str, object],
    total: int,
    probe: ProbeWish | None = None,
    *,
    patient: bool = False,
    batched: bool = False,
) -> int:
    """Queue a job and return its number.

    Raises JobError if an active job has the same specification, as the two would do the same work,
    UsageError for invalid settings of workers, StoreError if there is too little disk space.
    """
    for job in store.jobs.list():
        if job.under_way and job.kind == kind and json.loads(json.dumps(spec)) == job.spec:
            does = "resume it" if job.state == "paused" else "wait for it"
            raise JobError(
                f"job {job.id} does this already and {job.stands}; {does}, or cancel it first"
            )
    check_settings()
    check_room(store.path)
    return store.jobs.create(
        kind, spec, total, origin.here().mark, probe=probe, patient=patient, batched=batched
    )


def is_noted(store: Store, plan: planning.Plan) -> bool:
    """Whether a job says that this design was asked, or nobody will want to know: figures of
    people's answers and of multiple-choice questions are of what a job asked of their instrument,
    and a run that is asked until settled is whole where it is noted that stored answers settle it.
    """
    if not registry.audit(plan.design.audit).about_whole_job and plan.settling is None:
        return True
    spec = json.loads(json.dumps(plan.design.as_json()))
    return any(
        job.kind == SAMPLE and job.state == "done" and job.spec == spec for job in store.jobs.list()
    )


def note_stored(store: Store, plan: planning.Plan) -> int:
    """Let stored answers to prompts of the same text count for a design without anything left to
    ask; return the number of the job that records this.
    """
    add_cells(store, plan)
    design = plan.design
    ids = store.settlements.answered_by(design.model, design.sampling, **design.how)
    if plan.settling is not None and ids is not None:
        store.runs.note_plan(*ids, plan.prompts, design.samples)
        store.settlements.note(*ids, plan.settling.by())
        store.settlements.settle(*ids, plan.settling.settled_at())
    spec, mark = plan.design.as_json(), origin.here().mark
    why = STORED_BEFORE if plan.settling is None else SETTLED_BEFORE
    return store.jobs.note_done(SAMPLE, spec, plan.samples_stored, why, __version__, mark)


def add_cells(store: Store, plan: planning.Plan) -> None:
    """Write the design cells of a plan, whose prompts may have the same texts as those of other
    instruments or statements.
    """
    design = plan.design
    store.runs.add_probes(
        design.audit,
        design.instrument,
        design.language,
        plan.templates,
        plan.probes,
        design.personas,
    )


def spawn(path: Path, job_id: int) -> int:
    """Start a worker for a job and return its process id. The worker survives this process and its
    terminal.

    The worker's output goes to the job's log. It may take a job created anywhere, so call
    `check_origin` before.
    """
    log = log_path(path, job_id)
    log.parent.mkdir(exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench.jobs.worker", str(path.resolve()), str(job_id)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ
            | {"PYTHONUNBUFFERED": "1", origin.CONSENT: origin.consent(path, job_id)},
        )
    _processes[process.pid] = process
    _jobs[process.pid] = (path.resolve(), job_id)
    _ended.discard((path.resolve(), job_id))
    return process.pid


def start(
    store: Store,
    design: Design,
    plan: planning.Plan | None = None,
    *,
    probe: ProbeWish | None = None,
    patient: bool = False,
    batched: bool = False,
) -> int:
    """Queue a sampling job and start its worker; return the job's number.

    probe : begin with a probe, and who decides on it; the caller checks `wants_probe`
    patient : continue even if none of the first answers is readable, for pilots that test this
    batched : send its requests in batches

    Raises ModelError, before anything is queued, if the model is not available (unknown name, no
    key, no answer); FieldError if a chat format is not.
    """
    from workbench.inference.load import check_chat_format_there, check_reachable

    check_reachable(design.model, cluster=design.cluster, batched=batched)
    check_chat_format_there(design.chat_format, cluster=design.cluster, ask_hub=True)
    return _started(
        store, create(store, design, plan, probe=probe, patient=patient, batched=batched)
    )


def wants_probe(store: Store, plan: planning.Plan) -> bool:
    """Return whether a run should begin with a probe: see `workbench.jobs.probing.is_worth_it`."""
    from workbench.jobs.probing import is_worth_it

    return is_worth_it(store, plan)


def start_job(store: Store, kind: str, spec: Mapping[str, object], total: int) -> int:
    """Queue a job that asks no audit, and start its worker; return the job's number."""
    return _started(store, create_job(store, kind, spec, total))


def _started(store: Store, job_id: int) -> int:
    """Start the worker of a job that was just created here; return the job's number."""
    spawn(store.path, job_id)
    return job_id


def settled(store: Store, job_id: int) -> Job:
    """Return a job when it is known whether its worker is alive.

    The heartbeat of a worker on another machine is watched until it changes, or has not changed for
    long enough. Workers send heartbeats every second, so this takes long only if the worker is
    lost.
    """
    while (job := store.jobs.get(job_id)).unsure:
        time.sleep(LOOK_EVERY_S)
    return job


def looked_at(store: Store) -> tuple[Job, ...]:
    """Return all jobs, after watching the heartbeats of workers on other machines for a while."""
    until = time.monotonic() + LOOK_S
    jobs = store.jobs.list()
    while any(job.unsure for job in jobs) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        jobs = store.jobs.list()
    return jobs


def resume(store: Store, job_id: int, *, consent: bool = False) -> int | None:
    """Resume a job that was paused, cancelled, failed, or lost its worker: it asks only what is
    missing. A job whose worker waits for its turn starts now. `consent`: also if it was created
    elsewhere.

    Returns the process id of its new worker, None if it has one. Raises JobError if it runs or is
    done, ElsewhereError if it was created elsewhere.
    """
    reap()
    check_kept(store.jobs.get(job_id))
    check_settings()
    check_room(store.path)
    check_origin(store, job_id, consent=consent)
    return _go_on(store, job_id)


def _go_on(store: Store, job_id: int, *, only_failed: bool = False) -> int | None:
    if not store.jobs.resume(job_id, only_failed=only_failed):
        return None
    return spawn(store.path, job_id)


def check_kept(job: Job) -> None:
    """Raise JobError if the store has lost what the job was told, as a damaged store that was
    rescued may have.
    """
    if not job.spec:
        raise JobError(
            f"job {job.id} cannot go on: its settings were damaged and left out by a rescue. Start "
            "a new job with workbench run; stored answers count"
        )


def check_origin(store: Store, job_id: int, *, consent: bool) -> None:
    """Raise ElsewhereError if a job without a worker was created elsewhere, unless a person
    consents: then it counts as created here from now on.
    """
    job, installation = store.jobs.get(job_id), origin.here()
    if job.worker or job.state == "done" or installation.made(job):
        return
    if not consent:
        raise origin.ElsewhereError(job_id, origin.about(job))
    store.jobs.adopt(job_id, installation.mark)


def retry(store: Store, job_id: int, *, consent: bool = False) -> int | None:
    """Let a job retry only its failures; return the process id of its worker.

    Raises JobError if it has a worker, or has no failures; ElsewhereError as `resume`.
    """
    reap()
    job = store.jobs.get(job_id)
    if job.active:
        raise JobError(f"job {job_id} {job.stands}; retry what fails once it has ended")
    check_kept(job)
    if not job.failures and not store.jobs.failed_prompts(job_id):
        raise JobError(
            f"nothing that job {job_id} asked has failed; resume asks for what is missing"
        )
    check_settings()
    check_room(store.path)
    check_origin(store, job_id, consent=consent)
    return _go_on(store, job_id, only_failed=True)


def lane_of(job: Job) -> str:
    """Return the lane in which a job takes turns, "" if it need not.

    Jobs that load a model on one machine would compete for its processor and memory. Served and
    scripted models are asked at any time, and so is a cluster of other machines, which manages its
    own resources.
    """
    model, cluster = str(job.spec.get("model", "")), job.spec.get("cluster") or LOCAL_CLUSTER
    elsewhere = (
        (served(model) and not launched(model)) or scripted(model) or cluster != LOCAL_CLUSTER
    )
    return "" if elsewhere and job.kind in (SAMPLE, DRAFT) else socket.gethostname()


def most_at_once(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many jobs of a lane may run at once: $WORKBENCH_LOCAL_JOBS, or 1."""
    text = environ.get("WORKBENCH_LOCAL_JOBS", "").strip() or "1"
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"$WORKBENCH_LOCAL_JOBS is {text!r}; give a whole number, 1 or more")
    return int(text)


def hold_s(environ: Mapping[str, str] = os.environ) -> float:
    """Return for how long a paused job keeps its worker: $WORKBENCH_HOLD_S."""
    text = environ.get("WORKBENCH_HOLD_S", "").strip()
    try:
        seconds = float(text or HOLD_S)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"$WORKBENCH_HOLD_S is {text!r}; give a number of seconds, 0 or more")
    return seconds


def check_settings() -> None:
    """Raise UsageError for invalid environment variables of workers, which would end before taking
    their job.
    """
    most_at_once()
    hold_s()


def reap() -> None:
    """Reap workers that have ended, so that they do not remain as zombies."""
    for pid, process in list(_processes.items()):
        if process.poll() is not None:
            del _processes[pid]
            job = _jobs.pop(pid)
            if job not in _jobs.values():  # else another worker has taken its place
                _ended.add(job)


def check_begun(store: Store, job_id: int) -> None:
    """Raise JobError if the worker that this process started for a job ended before it took the
    job.
    """
    if (store.path.resolve(), job_id) in _ended and store.jobs.get(job_id).state == "queued":
        message = log_tail(store.path, job_id, 1) or "it gave no message"
        raise JobError(
            f"the worker of job {job_id} ended during start-up: {message}. Its log: "
            f"{log_path(store.path, job_id)}. "
            f"Start it again: workbench jobs {shlex.quote(str(store.path))} resume {job_id}"
        )


def log_path(store_path: Path, job_id: int) -> Path:
    """Return the path of a job's log, in a folder beside the store."""
    return store_path.with_name(f"{store_path.name}.logs") / f"job-{job_id}.log"


LOG_BYTES, MOST_LOG_BYTES = 16_384, 262_144
"bytes of a log that are read, at first and at most: a line may hold a thousand states of a bar"


def log_tail(store_path: Path, job_id: int, lines: int = 12) -> str:
    """Return the end of a job's log, "" if there is none."""
    path = log_path(store_path, job_id)
    if not path.exists():
        return ""
    text, n_read = "", LOG_BYTES
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        while True:
            file.seek(max(0, size - n_read))
            text = file.read(n_read).decode("utf-8", "replace")
            if text.count("\n") > lines or n_read >= min(size, MOST_LOG_BYTES):
                break
            n_read *= 4
    return "\n".join(map(last_state, text.removesuffix("\n").split("\n")[-lines:]))


def last_state(line: str) -> str:
    """Return a line of a log as a terminal shows it in the end: carriage returns overwrite it.

    A progress bar is then its last state alone.

    Examples
    --------
    >>> last_state("10 %\\r 55 %\\r100 %\\r")
    '100 %'
    """
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of a job, and the time left."""

    per_second: float | None
    """answers, steps or responses per second since the worker started on them; None before the
    first ones"""
    eta_seconds: float | None
    "None where nobody can say: nothing came yet, or what was expected is overdue"


def pace(job: Job) -> Pace:
    """Return a job's rate and the time left, from what its worker reported."""
    answers, seconds = float(job.progress.get("answers", 0)), float(job.progress.get("seconds", 0))
    if job.state != "running" or answers <= 0 or seconds <= 0:
        return Pace(None, None)
    rate = answers / seconds
    # Other answers are drawn again.
    counted = rate * (1 - float(job.progress.get("invalid", 0)) / answers)
    now = time.time()
    since = max(0.0, now - float(job.progress.get("at", now)))  # answers may come minutes apart
    left = (job.total - job.done) / counted - since if counted > 0 else 0.0
    return Pace(rate, left if left > 0 else None)


def cost_at_end(job: Job) -> float | None:
    """Return the expected total cost of a job's attempt, if remaining answers cost as much as those
    so far; None if unknown.
    """
    answers, cost = float(job.progress.get("answers", 0)), job.progress.get("cost")
    if job.state not in ("running", "paused") or answers <= 0 or cost is None:
        return None
    counted = answers - float(job.progress.get("invalid", 0))
    own = float(cost) - float(job.progress.get("cost_before", 0))
    return float(cost) + own * max(0, job.total - job.done) / counted if counted > 0 else None


_processes: dict[int, subprocess.Popen[bytes]] = {}
_jobs: dict[int, tuple[Path, int]] = {}
"process id of a worker that was started here -> its job"
_ended: set[tuple[Path, int]] = set()
"jobs whose worker, started here, has ended"
