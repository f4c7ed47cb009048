"""A connection that a long-lived program keeps open in addition to those of its threads, which are opened for single
actions, so that a store can still be read after its file was deleted.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from stores.core import identity


class Anchor:
    """Keeps a store's file open. Any thread may use it."""

    def __init__(self, path: Path):
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False)
        try:
            self.identity = identity.identity_of(self._connection, path)
        except BaseException:
            self._connection.close()
            raise
        identity.EXPECTED[self.identity.path] = self.identity.uid

    @classmethod
    def of(cls, path: Path) -> Anchor | None:
        """Return an anchor; None if there is no store of the current schema, which is reported when it is opened."""
        try:
            return cls(path) if path.exists() else None
        except (sqlite3.Error, OSError, TypeError):
            return None

    def check(self) -> None:
        """Raise StoreGone if the file no longer exists."""
        self.identity.check()

    @property
    def free_path(self) -> Path:
        """An unused name for the copy."""
        return identity.free_path(self.identity.path)

    def rescue(self, target: Path) -> Path:
        """Write the contents of the store to a new file. Raises StoreError if that fails."""
        with self._lock:
            return identity.rescue(self._connection, self.identity, target)

    def close(self) -> None:
        identity.EXPECTED.pop(self.identity.path, None)
        with self._lock:
            self._connection.close()
