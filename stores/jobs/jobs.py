"""Jobs: their specifications, workers, progress, and users' requests to them.

A job is claimed by one `update … returning`, so two workers cannot both have it. A worker sends and
counts heartbeats, and receives users' requests with them. A worker whose heartbeat stopped counts
as lost, and its job can be claimed again. That ends its attempt: if the worker comes back, the
store refuses its writes, and its next heartbeat reports this.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stores.core.base import Aggregate, now, table
from stores.jobs.job_rows import PROBE, UNDRAWN, UNREADABLE, Job, alive, jobs_where, place
from workbench.domain.probe_results import ProbeResult, ProbeWish
from workbench.errors import AttemptEnded, JobError, UsageError

Mark = Callable[[bytes, str, Mapping[str, object]], str]
"computes a mark from a job's uid, kind and specification"
UID_BYTES = 16


def spec_text(spec: Mapping[str, object]) -> str:
    """Return a job's specification in its stored form. Equal specifications have the same text."""
    return json.dumps(dict(spec), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Orders:
    """The users' requests that a worker receives with its heartbeat."""

    stop: bool = False
    pause: bool = False
    concurrency: int | None = None
    lost: bool = False
    "whether another worker has the job, because this one was considered lost"


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of a worker's request for a job in its turn."""

    attempt: int | None
    "rowid of the attempt, or None if it is not the job's turn yet"
    ahead: tuple[int, ...] = ()
    "the jobs that it waits for"


class Jobs(Aggregate):
    """The methods on jobs."""

    def create(
        self,
        kind: str,
        spec: Mapping[str, object],
        total: int,
        mark: Mark | None = None,
        *,
        probe: ProbeWish | None = None,
        patient: bool = False,
        batched: bool = False,
    ) -> int:
        """Queue a job and return its number.

        `mark` computes the mark of the creator. If it is None, the job counts as created elsewhere.
        `probe` is the probe that the job begins with. `patient` tells whether it continues although
        the first answers are unreadable. `batched` tells whether its requests are sent in batches.
        """
        uid = secrets.token_bytes(UID_BYTES)
        with self.store.write() as connection:
            return table(connection, "job").add(
                {
                    "uid": uid,
                    "kind": kind,
                    "spec": spec_text(spec),
                    "state": "queued",
                    "created_at": now(),
                    "total": total,
                    "mark": mark(uid, kind, spec) if mark else "",
                    "probe": None if probe is None else json.dumps(probe.as_json()),
                    "patient": patient,
                    "batched": batched,
                }
            )

    def adopt(self, job_id: int, mark: Mark) -> None:
        """Mark a job from elsewhere as approved by a person here."""
        job = self.get(job_id)
        with self.store.write() as connection:
            connection.execute(
                "update job set mark = ? where id = ?",
                (mark(bytes.fromhex(job.uid), job.kind, job.spec), job_id),
            )

    def note_done(
        self,
        kind: str,
        spec: Mapping[str, object],
        total: int,
        message: str,
        code_version: str,
        mark: Mark | None = None,
    ) -> int:
        """Record a job without remaining work as done by this process, and return its number."""
        job_id = self.create(kind, spec, total, mark)
        attempt = self.claim(job_id, code_version)
        with self.store.write() as connection:
            connection.execute("update job set done = total where id = ?", (job_id,))
        self.finish(job_id, attempt, "done", message)
        return job_id

    def list(self) -> tuple[Job, ...]:
        """Return every job, the newest first."""
        return jobs_where(self.connection, "order by j.id desc")

    def get(self, job_id: int) -> Job:
        jobs = jobs_where(self.connection, "where j.id = ?", (job_id,))
        if not jobs:
            available = ", ".join(str(job.id) for job in self.list()) or "none"
            raise JobError(f"there is no job {job_id} in this store. Available: {available}")
        return jobs[0]

    def claim(self, job_id: int, code_version: str) -> int:
        """Claim a job for this process and return the rowid of the attempt.

        Raises JobError if another living worker has it, or if it is not waiting for a worker.
        """
        with self.store.write() as connection:
            return self._claim(connection, self.get(job_id), code_version)

    def claim_in_turn(self, job_id: int, code_version: str, lane: str, most: int = 1) -> Turn:
        """Claim a job as `claim` does if fewer than `most` other jobs of its lane run or are ahead.

        Until then, record that it waits. A job that a person started immediately does not wait.
        """
        with self.store.write() as connection:
            job = self.get(job_id)
            _check_claimable(job)
            jobs_ahead = tuple(
                sorted(
                    other.id
                    for other in self._lane(connection, lane, excluded_job=job_id)
                    if _before(other, job)
                )
            )
            if len(jobs_ahead) < most or _is_hurried(connection, job_id):
                return Turn(self._claim(connection, job, code_version, lane))
            message = f"waits for job {', '.join(map(str, jobs_ahead))}; R or resume starts it now"
            connection.execute(
                "update job set lane = ?, heartbeat = ?, beats = beats + 1, message = ? where id "
                "= ?",
                (lane, now(), message, job_id),
            )
        return Turn(None, jobs_ahead)

    def waited_for(self, job_id: int, lane: str) -> bool:
        """Return whether a job of the same lane waits for its turn."""
        return any(
            job.state == "queued" for job in self._lane(self.connection, lane, excluded_job=job_id)
        )

    def beat(self, job_id: int, message: str | None = None, attempt: int | None = None) -> Orders:
        """Record a heartbeat (and a message), and return the users' requests.

        With `attempt`, nothing is written if another worker has taken the job, and the result
        reports this.
        """
        try:
            with self.store.write(attempt) as connection:
                row = connection.execute(
                    "update job set heartbeat = :at, beats = beats + 1, message = "
                    "coalesce(:message, message) "
                    "where id = :id returning stop_requested, pause_requested, concurrency",
                    {"at": now(), "message": message, "id": job_id},
                ).fetchone()
        except AttemptEnded:
            return Orders(lost=True)
        return Orders(bool(row[0]), bool(row[1]), row[2])

    def report(self, job_id: int, done: int, progress: str, message: str) -> None:
        """Write the progress of a job without intermediate commits. `progress` is JSON."""
        with self.store.write() as connection:
            connection.execute(
                "update job set done = ?, progress = json_set(?, '$.at', ?), message = ?, "
                "heartbeat = ?, beats = beats + 1 where id = ?",
                (done, progress, time.time(), message, now(), job_id),
            )

    def plan(self, job_id: int, total: int, done: int | None = None) -> None:
        """Correct the amount of work and its finished part when the exact model is known."""
        with self.store.write() as connection:
            connection.execute(
                "update job set total = ?, done = coalesce(?, done) where id = ?",
                (total, done, job_id),
            )

    def recount(self, job_id: int, done: int, other_job: int) -> None:
        """Record the finished part of a job without a worker after job `other_job` has ended.

        If all of the work is finished, the job is done.
        """
        with self.store.write() as connection:
            job = self.get(job_id)
            if job.active or job.state == "done" or done <= job.done:
                return
            is_complete = done >= job.total
            cause = f"job {other_job} did {'the rest' if is_complete else 'some of it'}"
            connection.execute(
                "update job set done = ?, message = ? where id = ?",
                (
                    min(done, job.total),
                    f"{min(done, job.total):,} of {job.total:,} are stored; {cause}",
                    job_id,
                ),
            )
            if is_complete:
                connection.execute(
                    "update job set state = 'done', paused_at = null, pause_requested = 0, "
                    "question = '', finished_at = ? where id = ?",
                    (now(), job_id),
                )
                _end_attempts(connection, job_id)

    def finish(self, job_id: int, attempt_id: int, state: str, message: str = "") -> bool:
        """End a job. Return False, without changes, if another worker has taken it."""
        values = {
            "state": state,
            "message": message,
            "at": now(),
            "id": job_id,
            "attempt": attempt_id,
        }
        try:
            with self.store.write(attempt_id) as connection:
                connection.execute(
                    "update job set state = :state, message = :message, finished_at = :at, "
                    "heartbeat = :at, beats = beats + 1, pause_requested = 0, paused_at = null, "
                    "question = '' where id = :id",
                    values,
                )
                connection.execute(_END_ATTEMPT, values | {"outcome": state})
        except AttemptEnded:
            return False
        return True

    def is_here(self, job_id: int) -> bool:
        """Return whether a job has a living worker on this machine."""
        row = self.connection.execute(
            "select a.host, a.pid, a.place, j.heartbeat from job j join attempt a on a.job_id = "
            "j.id where j.id = ? and j.state = 'running' order by a.id desc limit 1",
            (job_id,),
        ).fetchone()
        if (
            row is None
            or row[0] != socket.gethostname()
            or row[2] not in ("", place())
            or row[3] is None
        ):
            return False
        return alive(int(row[1]), datetime.fromisoformat(row[3]))

    def request_stop(self, job_id: int) -> Job:
        """Ask a job to stop after its current batch.

        A job without a worker is cancelled immediately.
        """
        with self.store.write() as connection:
            job = self.get(job_id)
            if job.state in ("done", "cancelled", "failed"):
                raise JobError(f"job {job_id} {job.stands}; there is nothing to cancel")
            if job.state == "queued" or not job.worker:
                connection.execute(
                    "update job set state = 'cancelled', finished_at = ?, paused_at = null, "
                    "pause_requested = 0, "
                    "question = '', message = 'cancelled; no worker was at it' where id = ?",
                    (now(), job_id),
                )
                _end_attempts(connection, job_id)
            else:
                connection.execute(
                    "update job set stop_requested = 1, question = '' where id = ?", (job_id,)
                )
        return self.get(job_id)

    def pause(self, job_id: int) -> Job:
        """Ask a job to pause after its current batch.

        A job without a worker is paused immediately. Raises JobError if it neither runs nor waits
        to run.
        """
        with self.store.write() as connection:
            job = self.get(job_id)
            if job.state == "queued":
                connection.execute(
                    "update job set state = 'cancelled', paused_at = ?, message = 'paused before "
                    "it began' where id = ?",
                    (now(), job_id),
                )
            elif job.state == "running" and not job.stopping:
                connection.execute("update job set pause_requested = 1 where id = ?", (job_id,))
            else:
                state = "stopping" if job.stopping and job.state == "running" else job.state
                raise JobError(
                    f"job {job_id} is {state}; only a job that runs or waits to can be paused"
                )
        return self.get(job_id)

    def resume(self, job_id: int, *, only_failed: bool = False) -> bool:
        """Resume a job, and return whether it needs a worker.

        A paused worker may still have it. A job whose worker waits for its turn starts now. Raises
        JobError if it runs or is done.
        """
        with self.store.write() as connection:
            job = self.get(job_id)
            if job.state == "done" or (
                job.state == "running" and (job.stopping or not job.pausing)
            ):
                state = "stopping" if job.stopping else job.state
                raise JobError(f"job {job_id} is {state}; there is nothing to resume")
            if _accepts_unreadable(job):
                connection.execute("update job set patient = 1 where id = ?", (job_id,))
            connection.execute("update job set question = '', hidden = 0 where id = ?", (job_id,))
            if job.state == "queued":
                connection.execute("update job set hurried = ? where id = ?", (job.worker, job_id))
            elif job.worker:
                connection.execute(
                    "update job set pause_requested = 0, paused_at = null, message = 'goes on' "
                    "where id = ?",
                    (job_id,),
                )
            else:
                _requeue(connection, job_id, only_failed)
            return not job.worker

    def paused(self, job_id: int, attempt_id: int, message: str) -> bool:
        """Record that a worker has paused as requested.

        Returns False if it was resumed in the meantime.
        """
        return self._if_paused(
            "update job set paused_at = :at, heartbeat = :at, message = :message",
            job_id,
            attempt_id,
            message,
        )

    def release(self, job_id: int, attempt_id: int, message: str) -> bool:
        """Release a paused job from its worker.

        Returns False if it was resumed or cancelled in the meantime.
        """
        return self._if_paused(
            "update job set state = 'cancelled', pause_requested = 0, paused_at = "
            "coalesce(paused_at, :at), message = :message",
            job_id,
            attempt_id,
            message,
            outcome="paused",
        )

    def set_concurrency(self, job_id: int, most: int | None) -> Job:
        """Set the limit of parallel calls, or rows of a batch. None lets the backend decide.

        A running job receives it with its next heartbeat.
        """
        if most is not None and most < 1:
            raise UsageError(f"{most} at once were asked for; give 1 or more")
        job = self.get(job_id)
        if job.state == "done":
            raise JobError(f"job {job_id} is done; there is nothing to change")
        with self.store.write() as connection:
            connection.execute("update job set concurrency = ? where id = ?", (most, job_id))
        return self.get(job_id)

    def note_failures(self, job_id: int, items: Sequence[str]) -> None:
        """Store failures that are not stored with answers, replacing earlier ones."""
        with self.store.write() as connection:
            connection.execute(
                "update job set failures = ? where id = ?", (json.dumps(list(items)), job_id)
            )

    def failed_prompts(self, job_id: int) -> frozenset[bytes]:
        """Return the keys of the prompts with failed answers in this job.

        Prompts that were answered since are included.
        """
        rows = self.connection.execute(
            "select distinct p.key from attempt a join draw d on d.attempt_id = a.id "
            "join prompt p on p.id = d.prompt_id where a.job_id = ? and d.failed > 0",
            (job_id,),
        )
        return frozenset(row[0] for row in rows)

    def _claim(
        self, connection: sqlite3.Connection, job: Job, code_version: str, lane: str = ""
    ) -> int:
        _check_claimable(job)
        started_at = now()
        connection.execute(
            "update job set state = 'running', heartbeat = :at, beats = beats + 1, message = '', "
            "finished_at = null, stop_requested = 0, pause_requested = 0, paused_at = null, "
            "hurried = 0, lane = :lane where id = :id",
            {"id": job.id, "at": started_at, "lane": lane},
        )
        _end_attempts(connection, job.id)
        worker = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "place": place(),
            "code_version": code_version,
        }
        attempt = {
            "uid": secrets.token_bytes(16),
            "job_id": job.id,
            "started_at": started_at,
            **worker,
        }
        return table(connection, "attempt").add(attempt)

    def _lane(
        self, connection: sqlite3.Connection, lane: str, excluded_job: int
    ) -> tuple[Job, ...]:
        """Return the other jobs of a lane with a living worker."""
        lane_jobs = jobs_where(
            connection,
            "where j.lane = ? and j.id <> ? and j.state in ('queued', 'running')",
            (lane, excluded_job),
        )
        return tuple(job for job in lane_jobs if job.worker)

    def ask_people(self, job_id: int, attempt_id: int, question: str = "") -> bool:
        """Make a job pause and wait for a person's decision.

        Returns False if another worker has it.
        """
        try:
            with self.store.write(attempt_id) as connection:
                connection.execute(
                    "update job set pause_requested = 1, question = ? where id = ?",
                    (question, job_id),
                )
        except AttemptEnded:
            return False
        return True

    def pause_for_people(
        self, job_id: int, attempt_id: int, message: str, question: str = ""
    ) -> bool:
        """Release a job that needs a person's decision as paused.

        Returns False if another worker has it, or it was asked to stop.
        """
        return self.ask_people(job_id, attempt_id, question) and self.release(
            job_id, attempt_id, message
        )

    def note_probe(self, job_id: int, result: ProbeResult) -> None:
        """Store the result of a job's probe, which is then not repeated."""
        with self.store.write() as connection:
            wish = self.get(job_id).probe or ProbeWish()
            probe_json = json.dumps(replace(wish, result=result).as_json())
            connection.execute("update job set probe = ? where id = ?", (probe_json, job_id))

    def hide(self, job_id: int, *, hidden: bool = True) -> Job:
        """Hide a job in lists, or show it again. Raises JobError if it has not ended."""
        with self.store.write() as connection:
            job = self.get(job_id)
            if hidden and job.state != "done" and not job.ended_badly:
                raise JobError(
                    f"job {job_id} {job.stands}; only a job that has ended can be hidden. Cancel "
                    "it first"
                )
            connection.execute("update job set hidden = ? where id = ?", (hidden, job_id))
        return self.get(job_id)

    def failures_of(self, job_id: int) -> int:
        """Return the number of failed answers of a job, which are deleted with it."""
        row = self.connection.execute(
            "select coalesce(sum(d.failed), 0) from draw d join attempt a on a.id = d.attempt_id "
            "where a.job_id = ?",
            (job_id,),
        ).fetchone()
        return int(row[0])

    def check_deletable(self, job_id: int) -> Job:
        """Return a job that can be deleted because no results depend on it.

        Raises JobError otherwise.
        """
        job = self.get(job_id)
        if job.state not in ("failed", "cancelled"):
            if job.state != "done":
                raise JobError(
                    f"job {job_id} {job.stands}: cancel it first. It can be hidden once it has "
                    "ended"
                )
            raise JobError(
                f"job {job_id} is done, and figures may rest on what it asked, so it is not "
                f"deleted. {_hide(job_id)}"
            )
        n_by_result = {
            name: self.connection.execute(sql, (job_id,)).fetchone()[0]
            for name, sql in _BROUGHT.items()
        }
        if results := ", ".join(
            f"{count:,} {name}" for name, count in n_by_result.items() if count
        ):
            raise JobError(
                f"job {job_id} brought {results}, which stay, so it is not deleted. {_hide(job_id)}"
            )
        return job

    def delete(self, job_id: int) -> Job:
        """Delete a job without results, and return it.

        Its attempts, probe and failures are deleted, too. Raises JobError as `check_deletable`.
        """
        with self.store.write() as connection:
            job = self.check_deletable(job_id)
            connection.execute(f"delete from draw where {_OF_JOB}", (job_id,))
            connection.execute("delete from server_batch where job_id = ?", (job_id,))
            connection.execute("delete from attempt where job_id = ?", (job_id,))
            connection.execute("delete from job where id = ?", (job_id,))
        return job

    def _if_paused(
        self, update: str, job_id: int, attempt_id: int, message: str, outcome: str = ""
    ) -> bool:
        """Update a job that is asked to pause but not to stop.

        End the attempt if there is an outcome. Returns whether the job was updated.
        """
        values = {
            "at": now(),
            "id": job_id,
            "attempt": attempt_id,
            "message": message,
            "outcome": outcome,
        }
        try:
            with self.store.write(attempt_id) as connection:
                row = connection.execute(
                    f"{update}, beats = beats + 1 where id = :id and pause_requested = 1 and "
                    "stop_requested = 0 returning id",
                    values,
                ).fetchone()
                if row is not None and outcome:
                    connection.execute(_END_ATTEMPT, values)
        except AttemptEnded:
            return False
        return row is not None


def _hide(job_id: int) -> str:
    return (
        "Hide it from the list instead: H on the screen of jobs, or workbench jobs STORE "
        f"hide {job_id}"
    )


_OF_JOB = "attempt_id in (select id from attempt where job_id = ?)"
_BROUGHT = {
    "answers": f"select coalesce(sum(n - failed), 0) from draw where {_OF_JOB}",
    "label probabilities": f"select count(*) from score where {_OF_JOB}",
    "drafts": f"select count(*) from draft where {_OF_JOB}",
    "tables of next tokens": f"select count(*) from next_tokens where {_OF_JOB}",
    "classifiers": "select count(*) from classifier where job_id = ?",
}
"kind of result of a job -> query of its number"
_END_ATTEMPT = "update attempt set ended_at = :at, outcome = :outcome where id = :attempt"


def _end_attempts(connection: sqlite3.Connection, job_id: int) -> None:
    """End the open attempts of a lost worker, so that its later writes are refused."""
    connection.execute(
        "update attempt set ended_at = ?, outcome = 'lost' where job_id = ? and ended_at is null",
        (now(), job_id),
    )


def _check_claimable(job: Job) -> None:
    """Raise JobError unless a job waits for a worker, or its worker is lost."""
    if job.state in ("queued", "lost"):
        return
    raise JobError(
        f"job {job.id} {job.stands}"
        + (f" by process {job.pid} on {job.host}" if job.worker else "")
    )


def _is_hurried(connection: sqlite3.Connection, job_id: int) -> bool:
    return bool(connection.execute("select hurried from job where id = ?", (job_id,)).fetchone()[0])


def _accepts_unreadable(job: Job) -> bool:
    """Return whether a job may continue with unreadable answers, or without drawn ones.

    That is so if a person who resumes it knows of them, because the job asked about them.
    """
    probed = job.probed
    return job.question in (UNREADABLE, UNDRAWN) or (
        job.question == PROBE and probed is not None and not probed.readable
    )


def _before(other: Job, job: Job) -> bool:
    """Return whether another job of the same lane goes first.

    It does if it runs, or waits with a smaller number.
    """
    return other.state != "queued" or other.id < job.id


def _requeue(connection: sqlite3.Connection, job_id: int, only_failed: bool) -> None:
    """Queue a job again."""
    _end_attempts(connection, job_id)
    connection.execute(
        "update job set state = 'queued', message = '', finished_at = null, heartbeat = null, "
        "stop_requested = 0, "
        "pause_requested = 0, paused_at = null, hurried = 0, only_failed = ? where id = ?",
        (only_failed, job_id),
    )
