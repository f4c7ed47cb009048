"""Batches of requests that jobs send to endpoints: recorded before sending, closed when all results are stored."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Sequence

from stores.core.base import Aggregate, named, now
from stores.core.sqlite import table
from workbench.domain.batches import SentBatch

_OF_JOB = (
    "select token, endpoint, requests, round, file, batch, state, completed, failed, created_at, looked_at "
    "from server_batch where job_id = ? and closed_at is null order by created_at, token"
)


class Batches(Aggregate):
    """The methods on batches of jobs."""

    def open(self, job_id: int) -> tuple[SentBatch, ...]:
        """Return the batches of a job with answers that are not stored yet, the oldest first."""
        return tuple(map(_sent, named(self.connection, _OF_JOB, (job_id,))))

    def intend(
        self, job_id: int, attempt: int, endpoint: str, calls: Sequence[tuple[str, int]], turn: int
    ) -> SentBatch:
        """Record a batch before it is sent. Raises AttemptEnded if another worker has the job."""
        sent = SentBatch(secrets.token_hex(16), endpoint, tuple(calls), turn, created_at=now())
        with self.store.write(attempt) as connection:
            row = {"token": sent.token, "job_id": job_id, "endpoint": endpoint, "requests": json.dumps(sent.calls)}
            table(connection, "server_batch").add(row | {"round": turn, "created_at": sent.created_at})
        return sent

    def note(self, sent: SentBatch, attempt: int | None = None) -> None:
        """Record the current state of a batch."""
        with self.store.write(attempt) as connection:
            connection.execute(
                "update server_batch set file = ?, batch = ?, state = ?, completed = ?, failed = ?, looked_at = ? "
                "where token = ?",
                (sent.file, sent.batch, sent.state, sent.completed, sent.failed, sent.looked_at or None, sent.token),
            )

    def close(self, tokens: Sequence[str], attempt: int | None = None) -> None:
        """Record that all results of batches are stored."""
        with self.store.write(attempt) as connection:
            connection.executemany(
                "update server_batch set closed_at = ? where token = ?", [(now(), token) for token in tokens]
            )


def _sent(row: sqlite3.Row) -> SentBatch:
    calls = tuple((str(name), int(n)) for name, n in json.loads(row["requests"]))
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
