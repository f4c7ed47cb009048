"""Imports sqlite-utils without pandas. If pandas is installed, sqlite-utils imports it for its time stamp types, which
no store contains; that takes a third of the start time of a worker or a command.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable
from typing import Any

_UNLOADED = "pandas" not in sys.modules
if _UNLOADED:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # makes `import` treat it as not installed
try:
    from sqlite_utils import Database, Migrations
    from sqlite_utils.db import Table
finally:
    if _UNLOADED:
        del sys.modules["pandas"]

__all__ = ["Database", "Migrations", "table"]


class StoreTable(Table):  # type: ignore[misc]  # mypy skips sqlite-utils
    """A table as migrations made it: writing rows neither looks for it, nor makes it, nor adds columns to it."""

    def exists(self) -> bool:
        return True

    def add_missing_columns(self, _records: Iterable[dict[str, Any]]) -> Table:
        return self

    def add(self, row: dict[str, Any]) -> int:
        """Insert a row and return its rowid."""
        return int(self.insert(row).last_rowid)


def table(connection: sqlite3.Connection, name: str) -> StoreTable:
    """Return a table to write rows to, in the transaction that `Store.write` has opened on the connection.

    Outside a transaction sqlite-utils would begin and commit one of its own.
    """
    assert connection.in_transaction, "rows are written within `Store.write`"
    return StoreTable(Database(connection, execute_plugins=False, recursive_triggers=False), name)
