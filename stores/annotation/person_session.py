"""One person's session at a store.

Labels of a queue, labels for policy issues and answers to a survey are given over a connection that
is restricted to what the person may read and write: see `stores.core.permissions`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from stores.core.permissions import Permissions, restrict
from stores.core.resource import Resource
from stores.core.store import Store

P = TypeVar("P", bound="PersonSession")


class PersonSession(Resource):
    """One person at a store.

    Every method of a subclass is one transaction. Returned values are committed.
    """

    def __init__(self, store: Store):
        self._store = store

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, restricted to what this person may read and write."""
        return self._store.connection

    def restrict(self, permissions: Permissions) -> None:
        """Restrict the connection as long as it is open."""
        restrict(self.connection, permissions)

    def close(self) -> None:
        self._store.close()


def open_session(path: Path | str, begin: Callable[[Store], P]) -> P:
    """Open a store and begin a session at it. The store is closed if that fails."""
    store = Store.open(path)
    try:
        return begin(store)
    except BaseException:
        store.close()
        raise
