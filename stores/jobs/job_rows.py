"""Rows of jobs, frozen plans and batches of requests.

A frozen plan is recorded before the first answer. A batch is recorded before it is sent, and closed
when all results are stored.

A worker on this machine is alive if its process is. For one on another machine, its heartbeat
counter tells. Clocks of two machines are never compared. A worker counts its heartbeats in the
store. A process on another machine records the count with its own monotonic clock, and considers a
worker lost only after it has seen the same count for long enough. A single look is never enough.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from stores.core.base import Aggregate, execute_named, now, table
from workbench.domain.batches import SentBatch
from workbench.domain.courses import Point, points_of
from workbench.domain.gpus import Gpu
from workbench.domain.job_kinds import UNITS
from workbench.domain.probe_results import ProbeResult, ProbeWish
from workbench.domain.responses import EXACT, Answerer

CLOCK_SLACK_S = 5.0
"seconds by which the clock of a heartbeat may differ from that of a process"
LOST_AFTER_S = 60.0
"seconds without a new heartbeat after which a worker counts as lost"


class Sign(Enum):
    """The state of a worker's heartbeat."""

    MOVES = "moves"
    UNKNOWN = "unknown"
    "no change since the first look, which was recent"
    STILL = "still"
    "no change for so long that the worker counts as lost"


@dataclass(slots=True)
class _Seen:
    beats: int
    since: float
    moved: bool = False


@dataclass(slots=True)
class Watch:
    """The heartbeats that this process has seen, by the uid of the job."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[bytes, _Seen] = field(default_factory=dict)

    def look(self, job: bytes, beats: int) -> Sign:
        """Record a job's current count of heartbeats, and return the state of the heartbeat."""
        current_time = self.clock()
        seen = self._seen.setdefault(job, _Seen(beats, current_time))
        if seen.beats != beats:
            self._seen[job] = _Seen(beats, current_time, moved=True)
            return Sign.MOVES
        if current_time - seen.since > LOST_AFTER_S:
            return Sign.STILL
        return Sign.MOVES if seen.moved else Sign.UNKNOWN


WATCH = Watch()
"the watch of this process, for all stores"


def place() -> str:
    """Return an identifier of this machine or container, or an empty string if there is none.

    It is unique among machines of the same name.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def sign(job: bytes, beats: int, heartbeat: str, host: str, pid: int, where: str) -> Sign:
    """Return the state of a worker's heartbeat. `where` is its `place`, or "" if it is unknown."""
    if host == socket.gethostname() and where in ("", place()):
        return Sign.MOVES if alive(pid, datetime.fromisoformat(heartbeat)) else Sign.STILL
    return WATCH.look(job, beats)


def waits(job: bytes, beats: int, heartbeat: str, lane: str) -> bool:
    """Return whether a worker still waits for its turn with a job.

    A lane is named after its machine.
    """
    if lane == socket.gethostname():
        return not silent(heartbeat)
    return WATCH.look(job, beats) is not Sign.STILL


def silent(heartbeat: str) -> bool:
    """Return whether a heartbeat of this machine is too old.

    One from the future, after the clock went back, is not.
    """
    return (datetime.now(UTC) - datetime.fromisoformat(heartbeat)).total_seconds() > LOST_AFTER_S


def alive(pid: int, heartbeat: datetime) -> bool:
    """Return whether the process of this heartbeat is alive.

    A zombie is not, nor a later process with the same number.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        fields = (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="ascii", errors="replace")
            .rsplit(")", 1)[-1]
            .split()
        )
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return True  # without /proc only the process number is known
    process_age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    heartbeat_age = (datetime.now(UTC) - heartbeat).total_seconds()
    return fields[0] != "Z" and process_age > heartbeat_age - CLOCK_SLACK_S


PROBE, UNREADABLE, UNDRAWN = "probe", "unreadable", "undrawn"
"""The questions on which a job may wait for a person. They are whether its probe is acceptable,
and whether to continue with a model without readable answers, or with one that answers as if
nothing were drawn."""

STANDS = {
    "failed": "failed",
    "cancelled": "was cancelled",
    "lost": "lost its worker",
    "done": "is done",
}
"state -> predicate of a sentence about a job"

_JOBS = """
    select j.id, j.kind, j.spec, j.state, j.stop_requested, j.created_at, a.started_at,
        j.finished_at, j.heartbeat,
        j.done, j.total, j.progress, j.message, a.host, a.pid,
        (select count(*) from attempt c where c.job_id = j.id) as attempts,
        j.pause_requested, j.paused_at, j.lane, j.concurrency, j.only_failed, j.failures, j.uid,
            j.beats, a.place,
        j.mark, j.probe, j.question, j.patient, j.hidden, j.batched,
        (select count(*) from server_batch s where s.job_id = j.id and s.closed_at is null)
            as batches
    from job j left join attempt a on a.id = (select max(b.id) from attempt b where b.job_id = j.id)
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A job in the store."""

    id: int
    kind: str
    spec: Mapping[str, object]
    state: str
    """queued, running, paused, done, cancelled, failed, or `lost`: running, but without a living
    worker"""
    stopping: bool
    pausing: bool
    "whether it was asked to pause, but is still finishing its current step"
    worker: bool
    "whether a living worker has it, or waits for its turn with it"
    created_at: str
    started_at: str | None
    finished_at: str | None
    heartbeat: str | None
    done: int
    total: int
    progress: Mapping[str, float]
    "the report of its worker. `at` is the time of the report, in seconds since 1970."
    message: str
    host: str | None
    pid: int | None
    attempts: int
    concurrency: int | None
    "limit of parallel calls, or rows of a batch, or None to let the backend decide"
    only_failed: bool
    "whether its attempt asks only prompts that failed before"
    failures: tuple[str, ...]
    "failures that are not stored with answers"
    uid: str
    "in hexadecimal"
    mark: str
    """mark of its creator, see `workbench.jobs.origin`, or an empty string if it was created
    elsewhere"""
    unsure: bool = False
    """whether its worker is on another machine, and this process has not seen its heartbeat
    change yet"""
    snapshots: tuple[Answerer, ...] = ()
    "answers and usage of each snapshot of a served model in the newest attempt"
    fingerprints: tuple[tuple[str, int], ...] = ()
    "`system_fingerprint` -> answers in the newest attempt"
    asked: Mapping[str, str] = field(default_factory=dict)
    """for a served model, `dialect` and the refusals of its server in the newest attempt:
    parameter -> message of the server"""
    gpus: tuple[Gpu, ...] = ()
    "load of each GPU of its model at the latest report"
    reasons: tuple[tuple[str, int], ...] = ()
    "(reason, count) of failures in the newest attempt, the most frequent first"
    course: tuple[Point, ...] = ()
    "(seconds, answers, unreadable or invalid ones) over the newest attempt"
    losses: tuple[Point, ...] = ()
    "(step, loss) of a training over the newest attempt"
    dev_scores: tuple[Point, ...] = ()
    "(step, macro F1 on the dev set) of each evaluation of the newest attempt"
    probe: ProbeWish | None = None
    "the probe that it begins with, and its result"
    question: str = ""
    "the question on which it waits for a person, see `PROBE`, or an empty string without one"
    patient: bool = False
    "whether a person let it continue although no answer was readable"
    hidden: bool = False
    "whether lists hide it unless all jobs are requested"
    batched: bool = False
    "whether its requests are sent in batches"
    batches: int = 0
    "number of batches at an endpoint with answers that are not stored yet"

    @property
    def active(self) -> bool:
        """Whether it continues, or can continue, without user action.

        It is queued, running, or paused with a worker.
        """
        return self.state in ("queued", "running") or (self.state == "paused" and self.worker)

    @property
    def waits_for_batch(self) -> bool:
        """Whether a worker waits for a batch at an endpoint."""
        return self.state == "running" and self.batches > 0

    @property
    def under_way(self) -> bool:
        """Whether another job with the same prompts would ask them twice: `active` or paused."""
        return self.active or self.state == "paused"

    @property
    def stands(self) -> str:
        """Its state as a predicate: `failed`, `was cancelled`, `is running`."""
        return STANDS.get(self.state, f"is {self.state}")

    @property
    def unit(self) -> str:
        """What the numbers of the job count, in the plural."""
        return UNITS.get(self.kind, "prompts" if self.exact else "answers")

    @property
    def exact(self) -> bool:
        """Whether it computes label probabilities, so that it counts prompts instead of answers."""
        sampling = self.spec.get("sampling")
        return isinstance(sampling, Mapping) and sampling.get("mode") == EXACT

    @property
    def probed(self) -> ProbeResult | None:
        """The result of its probe, or None if it has no probe or has not asked it yet."""
        return self.probe.result if self.probe is not None else None

    @property
    def ended_badly(self) -> bool:
        """Whether it ended early, and no worker has it."""
        return self.state in ("failed", "cancelled", "lost")

    @property
    def failed_items(self) -> int:
        """The number of failed answers in its latest run."""
        return int(self.progress.get("failed", 0))

    @property
    def retry_helps(self) -> bool:
        """Whether a retry of failed prompts may succeed.

        False if each prompt itself is the reason of its failure.
        """
        return self.failed_items > int(self.progress.get("lasting", 0))


def jobs_where(connection: sqlite3.Connection, rest: str, values: object = ()) -> tuple[Job, ...]:
    """Return the jobs that match the rest of a query.

    It has the aliases `j` for jobs and `a` for their newest attempts.
    """
    return tuple(map(_job, execute_named(connection, f"{_JOBS} {rest}", values)))


def _job(row: sqlite3.Row) -> Job:
    progress = json.loads(row["progress"])
    reasons, asked = progress.pop("reasons", ()), progress.pop("asked", {})
    gpus = progress.pop("gpus", ())
    course = progress.pop("course", ())
    losses, dev_scores = progress.pop("losses", ()), progress.pop("dev_scores", ())
    snapshots, fingerprints = progress.pop("snapshots", ()), progress.pop("fingerprints", ())
    state, worker, heartbeat_sign = _state(row)
    return Job(
        id=row["id"],
        kind=row["kind"],
        spec=json.loads(row["spec"]),
        state=state,
        stopping=bool(row["stop_requested"]),
        pausing=bool(row["pause_requested"]) and state == "running",
        worker=worker,
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        heartbeat=row["heartbeat"],
        done=row["done"],
        total=row["total"],
        progress=progress,
        message=row["message"],
        host=row["host"],
        pid=row["pid"],
        attempts=row["attempts"],
        concurrency=row["concurrency"],
        only_failed=bool(row["only_failed"]),
        failures=tuple(json.loads(row["failures"])),
        unsure=heartbeat_sign is Sign.UNKNOWN,
        uid=row["uid"].hex(),
        mark=row["mark"],
        snapshots=tuple(Answerer(**share) for share in snapshots),
        gpus=tuple(Gpu(**gpu) for gpu in gpus),
        fingerprints=tuple((str(name), int(count)) for name, count in fingerprints),
        asked={str(name): str(message) for name, message in asked.items()},
        reasons=tuple((str(reason), int(count)) for reason, count in reasons),
        course=points_of(course),
        losses=points_of(losses),
        dev_scores=points_of(dev_scores),
        probe=ProbeWish.from_json(json.loads(row["probe"])) if row["probe"] else None,
        question=row["question"] if state == "paused" else "",
        patient=bool(row["patient"]),
        hidden=bool(row["hidden"]),
        batched=bool(row["batched"]),
        batches=row["batches"],
    )


def _state(row: sqlite3.Row) -> tuple[str, bool, Sign]:
    """Return a job's state, whether a living worker has it, and the state of its heartbeat."""
    state, uid, beats, heartbeat = row["state"], row["uid"], row["beats"], row["heartbeat"]
    paused = row["paused_at"] is not None
    if state == "running":
        heartbeat_sign = sign(
            uid, beats, str(heartbeat), str(row["host"]), row["pid"], row["place"] or ""
        )
        has_worker = heartbeat_sign is not Sign.STILL
        if paused:
            return "paused", has_worker, heartbeat_sign
        return "running" if has_worker else "lost", has_worker, heartbeat_sign
    if state == "queued":
        is_waiting = (
            bool(row["lane"])
            and heartbeat is not None
            and waits(uid, beats, heartbeat, row["lane"])
        )
        return state, is_waiting, Sign.MOVES
    return ("paused" if state == "cancelled" and paused else state), False, Sign.MOVES


def write_progress(connection: sqlite3.Connection, job: tuple[int, int, str] | None) -> None:
    """Write the progress of a job (id, done, progress).

    Call inside the transaction that writes its results.
    """
    if job is not None:
        job_id, n_done, progress = job
        connection.execute(
            "update job set done = ?, progress = json_set(?, '$.at', ?), heartbeat = ?, beats = "
            "beats + 1 where id = ?",
            (n_done, progress, time.time(), now(), job_id),
        )


_OF_JOB = (
    "select token, endpoint, requests, round, file, batch, state, completed, failed, created_at, "
    "looked_at from server_batch where job_id = ? and closed_at is null order by created_at, token"
)


class Batches(Aggregate):
    """The methods on batches of jobs."""

    def open(self, job_id: int) -> tuple[SentBatch, ...]:
        """Return the batches of a job with answers that are not stored yet, the oldest first."""
        return tuple(map(_sent, execute_named(self.connection, _OF_JOB, (job_id,))))

    def intend(
        self, job_id: int, attempt: int, endpoint: str, calls: Sequence[tuple[str, int]], turn: int
    ) -> SentBatch:
        """Record a batch before it is sent. Raises AttemptEnded if another worker has the job."""
        sent_batch = SentBatch(
            secrets.token_hex(16), endpoint, tuple(calls), turn, created_at=now()
        )
        with self.store.write(attempt) as connection:
            row = {
                "token": sent_batch.token,
                "job_id": job_id,
                "endpoint": endpoint,
                "requests": json.dumps(sent_batch.calls),
            }
            table(connection, "server_batch").add(
                row | {"round": turn, "created_at": sent_batch.created_at}
            )
        return sent_batch

    def note(self, sent: SentBatch, attempt: int | None = None) -> None:
        """Record the current state of a batch."""
        with self.store.write(attempt) as connection:
            connection.execute(
                "update server_batch set file = ?, batch = ?, state = ?, completed = ?, failed = "
                "?, looked_at = ? where token = ?",
                (
                    sent.file,
                    sent.batch,
                    sent.state,
                    sent.completed,
                    sent.failed,
                    sent.looked_at or None,
                    sent.token,
                ),
            )

    def close(self, tokens: Sequence[str], attempt: int | None = None) -> None:
        """Record that all results of batches are stored."""
        with self.store.write(attempt) as connection:
            connection.executemany(
                "update server_batch set closed_at = ? where token = ?",
                [(now(), token) for token in tokens],
            )


def _sent(row: sqlite3.Row) -> SentBatch:
    calls = tuple((str(name), int(n_answers)) for name, n_answers in json.loads(row["requests"]))
    return SentBatch(
        token=row["token"],
        endpoint=row["endpoint"],
        calls=calls,
        round=row["round"],
        file=row["file"],
        batch=row["batch"],
        state=row["state"],
        completed=row["completed"],
        failed=row["failed"],
        created_at=row["created_at"],
        looked_at=row["looked_at"] or "",
    )


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A frozen plan in the store."""

    hash: str
    text: str
    "the full text of the file"
    at: str
    "time at which this store first recorded it (UTC)"


class Plans(Aggregate):
    """The methods on frozen plans."""

    def add(self, hash_: str, text: str) -> StoredPlan:
        """Record a plan, unless it is stored, and return it with the time of recording."""
        with self.store.write() as connection:
            table(connection, "frozen_plan").lookup(
                {"hash": hash_}, {"text": text, "at": now()}, pk="hash"
            )
        plan = self.get(hash_)
        assert plan is not None, "it was just noted"
        return plan

    def get(self, hash_: str) -> StoredPlan | None:
        """Return a plan by its hash, or None if this store has not recorded it."""
        row = self.connection.execute(
            "select hash, text, at from frozen_plan where hash = ?", (hash_,)
        ).fetchone()
        return None if row is None else StoredPlan(*row)

    def follow(self, job_id: int, hash_: str) -> None:
        """Record that a job follows a stored plan."""
        with self.store.write() as connection:
            connection.execute("update job set plan = ? where id = ?", (hash_, job_id))

    def of_jobs(self) -> dict[int, str]:
        """Return the hash of the plan of every job that follows one."""
        return dict(
            self.connection.execute("select id, plan from job where plan is not null").fetchall()
        )
