"""A connection that a long-lived program keeps open beside those of its threads, so that a store whose file goes away
can still be read: each of the others is opened for one act and closed after it.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from stores.core import identity


class Anchor:
    """Holds a store's file. Any thread may use it."""

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
        """Return an anchor; None where there is no store of the present schema, which whoever opens it will say."""
        try:
            return cls(path) if path.exists() else None
        except (sqlite3.Error, OSError, TypeError):
            return None

    def check(self) -> None:
        """Raise StoreGone where the file is no longer there."""
        self.identity.check()

    @property
    def free_path(self) -> Path:
        """A name for the copy that is free."""
        return identity.free_path(self.identity.path)

    def rescue(self, target: Path) -> Path:
        """Write all that the store held to a new file. Raises StoreError where that cannot be."""
        with self._lock:
            return identity.rescue(self._connection, self.identity, target)

    def close(self) -> None:
        identity.EXPECTED.pop(self.identity.path, None)
        with self._lock:
            self._connection.close()
