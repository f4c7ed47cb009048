"""Leases in an auditor's queue, so that two auditors get different statements.

A lease does not lock a statement: any auditor can open it by name. It expires, so an abandoned statement is offered
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from stores.annotation.queues import LEASE_S
from stores.core.base import Aggregate, later, now
from workbench.domain.keys import content_key


class ReviewLeases(Aggregate):
    """The methods on leases. A run is named as in `pipeline.review.named`, an item by its ref."""

    def take(self, run: Mapping[str, str], items: Sequence[str], auditor: str, lease_s: int = LEASE_S) -> str | None:
        """Lease the first item without another lease and return it; None if others hold all of them.

        Earlier leases of this auditor in this run are released.
        """
        key = _key(run)
        with self.store.write() as connection:
            at = now()
            connection.execute(
                "delete from review_lease where run_key = ? and (auditor = ? or until <= ?)", (key, auditor, at)
            )
            taken = {item for (item,) in connection.execute("select item from review_lease where run_key = ?", (key,))}
            found = next((item for item in items if item not in taken), None)
            if found is not None:
                until = later(at, timedelta(seconds=lease_s))
                connection.execute("insert into review_lease values (?, ?, ?, ?)", (key, found, auditor, until))
        return found

    def release(self, run: Mapping[str, str], auditor: str) -> None:
        """Release an auditor's leases in a run."""
        with self.store.write() as connection:
            connection.execute("delete from review_lease where run_key = ? and auditor = ?", (_key(run), auditor))

    def held(self, run: Mapping[str, str]) -> dict[str, str]:
        """Return the leases of a run: item -> auditor."""
        rows = self.connection.execute(
            "select item, auditor from review_lease where run_key = ? and until > ?", (_key(run), now())
        )
        return dict(rows.fetchall())


def _key(run: Mapping[str, str]) -> bytes:
    return content_key(dict(run))
