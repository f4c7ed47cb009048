"""Frozen plans, recorded before the first answer, and the jobs that follow them."""

from __future__ import annotations

from dataclasses import dataclass

from stores.core.base import Aggregate, now
from stores.core.sqlite import table


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A frozen plan in the store."""

    hash: str
    text: str
    "the whole file"
    at: str
    "time at which this store first recorded it (UTC)"


class Plans(Aggregate):
    """The methods on frozen plans."""

    def add(self, hash_: str, text: str) -> StoredPlan:
        """Record a plan, unless it is stored, and return it with the time of recording."""
        with self.store.write() as connection:
            table(connection, "frozen_plan").lookup({"hash": hash_}, {"text": text, "at": now()}, pk="hash")
        found = self.get(hash_)
        assert found is not None, "it was just noted"
        return found

    def get(self, hash_: str) -> StoredPlan | None:
        """Return a plan by its hash; None if this store has not recorded it."""
        row = self.connection.execute("select hash, text, at from frozen_plan where hash = ?", (hash_,)).fetchone()
        return None if row is None else StoredPlan(*row)

    def follow(self, job_id: int, hash_: str) -> None:
        """Record that a job follows a stored plan."""
        with self.store.write() as connection:
            connection.execute("update job set plan = ? where id = ?", (hash_, job_id))

    def of_jobs(self) -> dict[int, str]:
        """Return the hash of the plan of every job that follows one."""
        return dict(self.connection.execute("select id, plan from job where plan is not null").fetchall())
