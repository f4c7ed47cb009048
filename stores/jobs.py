"""Jobs: what was asked to be done, who is doing it, and how far it is.

A job is claimed by one `update … returning`, so two workers cannot both have it. A worker shows that it lives by a
heartbeat; one whose heartbeat stopped is gone, and its job can be claimed again.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stores.base import Aggregate, now
from workbench.errors import JobError

CLOCK_SLACK_S = 5.0
"seconds by which the clock of a heartbeat may differ from that of a process"
LOST_AFTER_S = 60.0
"seconds without a heartbeat after which a worker on another machine counts as gone"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store has it."""

    id: int
    kind: str
    spec: Mapping[str, object]
    state: str
    "queued, running, done, cancelled, failed, or `lost`: running by its row, but its worker is gone"
    stopping: bool
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

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")


class Jobs(Aggregate):
    """The verbs on jobs."""

    def create(self, kind: str, spec: Mapping[str, object], total: int) -> int:
        with self.store.write() as connection:
            row = connection.execute(
                "insert into job (uid, kind, spec, state, created_at, total) "
                "values (?, ?, ?, 'queued', ?, ?) returning id",
                (secrets.token_bytes(16), kind, json.dumps(dict(spec), sort_keys=True), now(), total),
            ).fetchone()
        return int(row[0])

    def list(self) -> tuple[Job, ...]:
        """Return every job, the newest first."""
        return tuple(_job(row) for row in self.connection.execute(f"{_JOBS} order by j.id desc"))

    def get(self, job_id: int) -> Job:
        row = self.connection.execute(f"{_JOBS} where j.id = ?", (job_id,)).fetchone()
        if row is None:
            known = ", ".join(str(job.id) for job in self.list()) or "none"
            raise JobError(f"there is no job {job_id} in this store. There is: {known}")
        return _job(row)

    def requeue(self, job_id: int) -> None:
        """Let a job that ended, or whose worker is gone, wait for a worker again."""
        job = self.get(job_id)
        with self.store.write() as connection:
            connection.execute(
                "update job set state = 'queued', message = '', finished_at = null, stop_requested = 0 where id = :id "
                "and (state in ('queued', 'cancelled', 'failed') or (state = 'running' and :lost))",
                {"id": job_id, "lost": job.state == "lost"},
            )

    def claim(self, job_id: int, code_version: str) -> int:
        """Take a job for this process and return the rowid of the attempt.

        Raises JobError where another worker has it and is alive, or where it is finished.
        """
        job = self.get(job_id)
        with self.store.write() as connection:
            row = connection.execute(
                "update job set state = 'running', heartbeat = :at, message = '', finished_at = null, "
                "stop_requested = 0 where id = :id and (state in ('queued', 'cancelled', 'failed') "
                "or (state = 'running' and :lost)) returning id",
                {"id": job_id, "at": now(), "lost": job.state == "lost"},
            ).fetchone()
            if row is None:
                raise JobError(
                    f"job {job_id} is {job.state}" + (f" by process {job.pid} on {job.host}" if job.pid else "")
                )
            connection.execute(
                "update attempt set ended_at = ?, outcome = 'lost' where job_id = ? and ended_at is null",
                (now(), job_id),
            )
            attempt = connection.execute(
                "insert into attempt (uid, job_id, host, pid, code_version, started_at) values (?, ?, ?, ?, ?, ?) "
                "returning id",
                (secrets.token_bytes(16), job_id, socket.gethostname(), os.getpid(), code_version, now()),
            ).fetchone()
        return int(attempt[0])

    def beat(self, job_id: int, message: str | None = None) -> bool:
        """Say that the worker lives (and what it is doing); return whether it was asked to stop."""
        with self.store.write() as connection:
            row = connection.execute(
                "update job set heartbeat = ?, message = coalesce(?, message) where id = ? returning stop_requested",
                (now(), message, job_id),
            ).fetchone()
        return bool(row[0])

    def report(self, job_id: int, done: int, progress: str, message: str) -> None:
        """Say how far a job is that commits nothing on the way; `progress` is JSON."""
        with self.store.write() as connection:
            connection.execute(
                "update job set done = ?, progress = ?, message = ?, heartbeat = ? where id = ?",
                (done, progress, message, now(), job_id),
            )

    def plan(self, job_id: int, total: int) -> None:
        """Correct how much there is to do, once the model is known exactly."""
        with self.store.write() as connection:
            connection.execute("update job set total = ? where id = ?", (total, job_id))

    def finish(self, job_id: int, attempt_id: int, state: str, message: str = "") -> None:
        at = now()
        with self.store.write() as connection:
            connection.execute(
                "update job set state = ?, message = ?, finished_at = ?, heartbeat = ? where id = ?",
                (state, message, at, at, job_id),
            )
            connection.execute("update attempt set ended_at = ?, outcome = ? where id = ?", (at, state, attempt_id))

    def request_stop(self, job_id: int) -> Job:
        """Ask a job to stop after the batch it is at. One that no worker has is cancelled at once."""
        job = self.get(job_id)
        if job.state in ("done", "cancelled", "failed"):
            raise JobError(f"job {job_id} is {job.state}; there is nothing to cancel")
        with self.store.write() as connection:
            if job.state in ("queued", "lost"):
                connection.execute(
                    "update job set state = 'cancelled', finished_at = :at, message = 'cancelled; no worker had it' "
                    "where id = :id and (state = 'queued' or :lost)",
                    {"at": now(), "id": job_id, "lost": job.state == "lost"},
                )
            else:
                connection.execute("update job set stop_requested = 1 where id = ?", (job_id,))
        return self.get(job_id)


_JOBS = """
    select j.id, j.kind, j.spec, j.state, j.stop_requested, j.created_at, a.started_at, j.finished_at, j.heartbeat,
        j.done, j.total, j.progress, j.message, a.host, a.pid,
        (select count(*) from attempt c where c.job_id = j.id)
    from job j left join attempt a on a.id = (select max(b.id) from attempt b where b.job_id = j.id)
"""


def _job(row: tuple[object, ...]) -> Job:
    state, heartbeat, host, pid = row[3], row[8], row[13], row[14]
    if state == "running" and _gone(str(heartbeat), str(host), int(str(pid))):
        state = "lost"
    return Job(
        id=int(str(row[0])),
        kind=str(row[1]),
        spec=json.loads(str(row[2])),
        state=str(state),
        stopping=bool(row[4]),
        created_at=str(row[5]),
        started_at=None if row[6] is None else str(row[6]),
        finished_at=None if row[7] is None else str(row[7]),
        heartbeat=None if heartbeat is None else str(heartbeat),
        done=int(str(row[9])),
        total=int(str(row[10])),
        progress=json.loads(str(row[11])),
        message=str(row[12]),
        host=None if host is None else str(host),
        pid=None if pid is None else int(str(pid)),
        attempts=int(str(row[15])),
    )


def _gone(heartbeat: str, host: str, pid: int) -> bool:
    """Whether a worker is no more: its process on this machine, its heartbeat on another."""
    if host == socket.gethostname():
        return not _alive(pid, datetime.fromisoformat(heartbeat))
    age = datetime.now(UTC) - datetime.fromisoformat(heartbeat)
    return age.total_seconds() > LOST_AFTER_S


def _alive(pid: int, heartbeat: datetime) -> bool:
    """Whether the process that gave this heartbeat is there: not a zombie, and not a later one with its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[-1].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return True  # no /proc here: the process number is all there is to go by
    age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    silent = (datetime.now(UTC) - heartbeat).total_seconds()
    return fields[0] != "Z" and age > silent - CLOCK_SLACK_S
