"""The common base of a store's aggregates: the connection for reading and the transaction for writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from stores.core.sqlite import Database
from workbench.errors import UnknownName

T = TypeVar("T")


class Transactions(Protocol):
    """The interface of a store for its aggregates."""

    db: Database

    @property
    def connection(self) -> sqlite3.Connection: ...

    def write(self, attempt: int | None = None) -> AbstractContextManager[sqlite3.Connection]: ...

    def remembered(self, key: Hashable, read: Callable[[], T]) -> T: ...


class Aggregate:
    """A group of tables that are read and written together."""

    def __init__(self, store: Transactions):
        self.store = store

    @property
    def connection(self) -> sqlite3.Connection:
        return self.store.connection


def named(connection: sqlite3.Connection, sql: str, values: object = ()) -> sqlite3.Cursor:
    """Execute a query whose rows are read by the names of their columns."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql, values)  # type: ignore[arg-type]


def instrument_id_of(connection: sqlite3.Connection, name: str) -> int:
    """Return the rowid of an instrument. Raises UnknownName, which lists the existing ones."""
    row = connection.execute("select id from instrument where name = ?", (name,)).fetchone()
    if row is None:
        known = ", ".join(r[0] for r in connection.execute("select name from instrument order by id"))
        raise UnknownName(f"no instrument is named {name!r} in this store. Available: {known or 'none'}")
    return int(row[0])


def now() -> str:
    """Return the time in UTC, to the millisecond, in the format of stores: `2026-11-21T09:30:00.123Z`."""
    return _written(datetime.now(UTC))


def later(at: str, by: timedelta) -> str:
    """Return a stored time plus a duration."""
    return _written(datetime.fromisoformat(at).astimezone(UTC) + by)


def now_after(last: str | None) -> str:
    """Return the time, or a moment after `last` if the clock went back, so that the order of events is kept."""
    at = now()
    return at if last is None or last < at else later(last, timedelta(milliseconds=1))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
