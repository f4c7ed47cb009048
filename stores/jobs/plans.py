"""Frozen plans: what was to be asked and how it was to be judged, noted before, and which jobs follow which plan."""

from __future__ import annotations

from dataclasses import dataclass

from stores.core.base import Aggregate, now


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A frozen plan as the store has it."""

    hash: str
    text: str
    "the whole file"
    at: str
    "when this store was first told of it (UTC)"


class Plans(Aggregate):
    """The verbs on frozen plans."""

    def add(self, hash_: str, text: str) -> StoredPlan:
        """Note a plan, unless it is noted already, and return it with the time at which it was."""
        with self.store.write() as connection:
            connection.execute(
                "insert into frozen_plan (hash, text, at) values (?, ?, ?) on conflict (hash) do nothing",
                (hash_, text, now()),
            )
        found = self.get(hash_)
        assert found is not None, "it was just noted"
        return found

    def get(self, hash_: str) -> StoredPlan | None:
        """Return a plan by its hash; None where this store was never told of it."""
        row = self.connection.execute("select hash, text, at from frozen_plan where hash = ?", (hash_,)).fetchone()
        return None if row is None else StoredPlan(*row)

    def follow(self, job_id: int, hash_: str) -> None:
        """Note that a job was started by a plan, which the store has."""
        with self.store.write() as connection:
            connection.execute("update job set plan = ? where id = ?", (hash_, job_id))

    def of_jobs(self) -> dict[int, str]:
        """Return the hash of the plan of every job that was started by one."""
        return dict(self.connection.execute("select id, plan from job where plan is not null").fetchall())
