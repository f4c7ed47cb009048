"""Rows of jobs ↔ values: a job with its newest attempt, and whether the worker that has it still lives."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from stores.core.base import named, now
from stores.jobs.heartbeat import Sign, sign, waits
from workbench.domain.gpus import Gpu
from workbench.domain.probe_results import ProbeResult, ProbeWish
from workbench.domain.responses import EXACT, Answerer

PROBE, UNREADABLE = "probe", "unreadable"
"what a job may wait for a person to decide: whether its probe looks well, and whether to go on with a model of which \
nothing could be read"

STANDS = {"failed": "failed", "cancelled": "was cancelled", "lost": "lost its worker", "done": "is done"}
"a state as the rest of a sentence about a job"

_JOBS = """
    select j.id, j.kind, j.spec, j.state, j.stop_requested, j.created_at, a.started_at, j.finished_at, j.heartbeat,
        j.done, j.total, j.progress, j.message, a.host, a.pid,
        (select count(*) from attempt c where c.job_id = j.id) as attempts,
        j.pause_requested, j.paused_at, j.lane, j.concurrency, j.only_failed, j.failures, j.uid, j.beats, a.place,
        j.mark, j.probe, j.question, j.patient, j.hidden, j.batched,
        (select count(*) from server_batch s where s.job_id = j.id and s.closed_at is null) as batches
    from job j left join attempt a on a.id = (select max(b.id) from attempt b where b.job_id = j.id)
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store has it."""

    id: int
    kind: str
    spec: Mapping[str, object]
    state: str
    "queued, running, paused, done, cancelled, failed, or `lost`: running by its row, but its worker is gone"
    stopping: bool
    pausing: bool
    "asked to pause, and still at what was at hand"
    worker: bool
    "whether a worker that lives has it, or waits for its turn with it"
    created_at: str
    started_at: str | None
    finished_at: str | None
    heartbeat: str | None
    done: int
    total: int
    progress: Mapping[str, float]
    message: str
    host: str | None
    pid: int | None
    attempts: int
    concurrency: int | None
    "calls, or rows of a batch, at once; None: as the backend decides"
    only_failed: bool
    "whether its attempt asks only what failed before"
    failures: tuple[str, ...]
    "what failed, where the stored answers do not say it"
    uid: str
    "in hexadecimal"
    mark: str
    "who created it, see `workbench.jobs.origin`; empty: elsewhere"
    unsure: bool = False
    "its worker is on another machine, and its heartbeat has not moved since this process began to look"
    snapshots: tuple[Answerer, ...] = ()
    "what came from each snapshot of a served model in the newest attempt"
    fingerprints: tuple[tuple[str, int], ...] = ()
    "`system_fingerprint` -> answers in the newest attempt"
    asked: Mapping[str, str] = field(default_factory=dict)
    "of a served model its `dialect`, and what it refused in the newest attempt: parameter -> the server's words"
    gpus: tuple[Gpu, ...] = ()
    "what each GPU of its model was doing at its last word"
    reasons: tuple[tuple[str, int], ...] = ()
    "why it failed in the newest attempt, the most frequent reasons first, each with how often"
    probe: ProbeWish | None = None
    "that it begins with a probe, and what came of that"
    question: str = ""
    "what it waits for a person to decide, see `PROBE`; empty: nothing"
    patient: bool = False
    "whether a person let it go on although nothing could be read"
    hidden: bool = False
    "whether lists leave it out until somebody asks for all jobs"
    batched: bool = False
    "whether its requests are sent in batches, which an endpoint answers in its own time"
    batches: int = 0
    "batches at an endpoint whose answers are not all stored yet"

    @property
    def active(self) -> bool:
        """Whether it goes on without anybody's doing, or will once it may: queued, running, or paused with a worker."""
        return self.state in ("queued", "running") or (self.state == "paused" and self.worker)

    @property
    def waits_for_batch(self) -> bool:
        """Whether a worker waits for a batch at an endpoint."""
        return self.state == "running" and self.batches > 0

    @property
    def under_way(self) -> bool:
        """Whether another job that asks the same would ask it twice: as `active`, and whatever is paused."""
        return self.active or self.state == "paused"

    @property
    def stands(self) -> str:
        """How it stands, after its name: `failed`, `was cancelled`, `is running`."""
        return STANDS.get(self.state, f"is {self.state}")

    @property
    def exact(self) -> bool:
        """Whether it computes label probabilities, so that what it counts are prompts and no answers."""
        sampling = self.spec.get("sampling")
        return isinstance(sampling, Mapping) and sampling.get("mode") == EXACT

    @property
    def probed(self) -> ProbeResult | None:
        """What its probe found; None where it had none, or has not asked it yet."""
        return self.probe.result if self.probe is not None else None

    @property
    def ended_badly(self) -> bool:
        """Whether it ended before its end, and no worker has it."""
        return self.state in ("failed", "cancelled", "lost")

    @property
    def failed_items(self) -> int:
        """How many answers failed when it last ran."""
        return int(self.progress.get("failed", 0))

    @property
    def retry_helps(self) -> bool:
        """Whether asking again what failed may end otherwise: not where each prompt fails for what it is."""
        return self.failed_items > int(self.progress.get("lasting", 0))


def jobs_where(connection: sqlite3.Connection, rest: str, values: object = ()) -> tuple[Job, ...]:
    """Return the jobs that match the rest of a query, which names a job `j` and its newest attempt `a`."""
    return tuple(map(_job, named(connection, f"{_JOBS} {rest}", values)))


def _job(row: sqlite3.Row) -> Job:
    progress = json.loads(row["progress"])
    reasons, asked = progress.pop("reasons", ()), progress.pop("asked", {})
    gpus = progress.pop("gpus", ())
    snapshots, fingerprints = progress.pop("snapshots", ()), progress.pop("fingerprints", ())
    state, worker, seen = _state(row)
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
        unsure=seen is Sign.UNKNOWN,
        uid=row["uid"].hex(),
        mark=row["mark"],
        snapshots=tuple(Answerer(**share) for share in snapshots),
        gpus=tuple(Gpu(**one) for one in gpus),
        fingerprints=tuple((str(name), int(count)) for name, count in fingerprints),
        asked={str(name): str(said) for name, said in asked.items()},
        reasons=tuple((str(reason), int(count)) for reason, count in reasons),
        probe=ProbeWish.from_json(json.loads(row["probe"])) if row["probe"] else None,
        question=row["question"] if state == "paused" else "",
        patient=bool(row["patient"]),
        hidden=bool(row["hidden"]),
        batched=bool(row["batched"]),
        batches=row["batches"],
    )


def _state(row: sqlite3.Row) -> tuple[str, bool, Sign]:
    """Return a job's state, whether a worker that lives has it, and what is seen of that worker."""
    state, uid, beats, heartbeat = row["state"], row["uid"], row["beats"], row["heartbeat"]
    paused = row["paused_at"] is not None
    if state == "running":
        seen = sign(uid, beats, str(heartbeat), str(row["host"]), row["pid"], row["place"] or "")
        worker = seen is not Sign.STILL
        return ("paused" if paused else "running" if worker else "lost"), worker, seen
    if state == "queued":
        waiting = bool(row["lane"]) and heartbeat is not None and waits(uid, beats, heartbeat, row["lane"])
        return state, waiting, Sign.MOVES
    return ("paused" if state == "cancelled" and paused else state), False, Sign.MOVES


def write_progress(connection: sqlite3.Connection, job: tuple[int, int, str] | None) -> None:
    """Say how far a job (id, done, progress) is. Call inside the transaction that writes its results."""
    if job is not None:
        job_id, done, progress = job
        connection.execute(
            "update job set done = ?, progress = ?, heartbeat = ?, beats = beats + 1 where id = ?",
            (done, progress, now(), job_id),
        )
