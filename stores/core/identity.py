"""Identifies the file of a store, and detects that it no longer exists.

A connection continues to work when its file is deleted, moved or replaced, but its commits are then
lost. So before each commit the file's device and inode are compared with those at opening, and also
the uid inside, which detects that another store was copied over it. The data that the connection
can still read are written to a new file.
"""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import tempfile
import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stores.core.machines import leave_write_ahead
from stores.core.own_schema import is_own
from stores.core.values import identity_words
from workbench.errors import StoreError, StoreGone

EXPECTED: dict[Path, bytes] = {}
"""the stores that this program holds with an anchor: absolute path -> uid. Another store at that
path is refused."""


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """The identity of a store's file when it was opened."""

    path: Path
    "absolute"
    device: int
    inode: int
    uid: bytes

    def check(self) -> None:
        """Raise StoreGone if the file at the path is not this one."""
        try:
            file_status = self.path.stat()
        except FileNotFoundError:
            raise StoreGone(
                f"{self.path}: the store is gone. Its file was deleted or moved while it was open."
            ) from None
        except OSError as error:
            raise StoreGone(
                f"{self.path}: the store cannot be reached any more ({error.strerror})."
            ) from error
        if (file_status.st_dev, file_status.st_ino) != (self.device, self.inode):
            raise StoreGone(
                f"{self.path}: the store is gone. Another file was put in its place while it was "
                "open."
            )

    def check_uid(self, connection: sqlite3.Connection) -> None:
        """Raise StoreGone if the connection reads another store."""
        if uid_of(connection) != self.uid:
            raise StoreGone(
                f"{self.path}: the store is gone. Another store was copied over it while it was "
                "open."
            )


def identity_of(connection: sqlite3.Connection, path: Path) -> FileIdentity:
    """Return the current identity of a connection's file."""
    absolute = path.resolve()
    file_status = absolute.stat()
    return FileIdentity(absolute, file_status.st_dev, file_status.st_ino, uid_of(connection))


def check_expected(identity: FileIdentity) -> None:
    """Raise StoreGone if a program that holds a store opens another one at its path."""
    if EXPECTED.get(identity.path, identity.uid) != identity.uid:
        raise StoreGone(
            f"{identity.path}: the store is gone. Another store was put in its place while it was "
            "open."
        )


def gone_instead(path: Path) -> StoreGone | None:
    """Return the error that a held store is gone, or None if no store of that path is held.

    It is for a path that has no store now.
    """
    if path.resolve() not in EXPECTED:
        return None
    cause = (
        "Another file was put in its place" if path.exists() else "Its file was deleted or moved"
    )
    return StoreGone(f"{path}: the store is gone. {cause} while it was open.")


def uid_of(connection: sqlite3.Connection) -> bytes:
    """Return the random number that identifies a store. Raises StoreError if it has none."""
    row = connection.execute("select uid from identity").fetchone()
    if row is None:
        path = connection.execute(
            "select file from pragma_database_list where name = 'main'"
        ).fetchone()[0]
        raise StoreError(
            f"{path}: the store is damaged ({identity_words(0)}). Save what can be read: "
            f"workbench doctor {shlex.quote(path)} --rescue NEW"
        )
    return bytes(row[0])


def rescue(
    connection: sqlite3.Connection, identity: FileIdentity, target: Path | None = None
) -> Path:
    """Write the data that the connection of a lost store still reads to a new file.

    Returns the path of the file. If `target` is None, the file is in the store's folder, or in the
    folder for temporary files. Raises StoreError if the target exists or cannot be written, or if
    the store can no longer be read.
    """
    path = target or free_path(identity.path)
    if path.exists():
        raise StoreError(f"{path}: there is a file of this name. Give another name.")
    try:
        with closing(sqlite3.connect(path)) as copy:
            connection.backup(copy)
            copy.execute("pragma journal_mode = delete")
            is_complete = (
                copy.execute("pragma quick_check").fetchone()[0] == "ok"
                and uid_of(copy) == identity.uid
            )
    except (sqlite3.Error, OSError, TypeError) as error:
        path.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: what was stored could not be written there ({error}). Try another folder."
        ) from error
    if not is_complete:
        path.unlink(missing_ok=True)
        raise StoreError(
            f"{identity.path}: nothing of the store can be read any more; it was written over."
        )
    return path


def write_unsaved(path: Path, items: Iterable[Any]) -> Path:
    """Write dataclasses as JSON lines to a new file in the folder of a lost store.

    Returns the path of the file.
    """
    target = free_path(path, "unsaved", ".jsonl")
    lines = (json.dumps(asdict(item), default=bytes.hex, ensure_ascii=False) for item in items)
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return target


def free_path(path: Path, word: str = "rescued", suffix: str = "") -> Path:
    """Return an unused path: `audit.rescued.db`, `audit.rescued-2.db`, …

    It is in the folder of the given file, or in the one for temporary files if that cannot be
    written.
    """
    folder = (
        path.parent
        if path.parent.is_dir() and os.access(path.parent, os.W_OK)
        else Path(tempfile.gettempdir())
    )
    number, suffix = 1, suffix or path.suffix
    while (
        candidate := folder / f"{path.stem}.{word}{f'-{number}' if number > 1 else ''}{suffix}"
    ).exists():
        number += 1
    return candidate


class Anchor:
    """A connection that keeps a store's file open. Any thread may use it."""

    def __init__(self, path: Path):
        self._lock = threading.Lock()
        leave_write_ahead(path)  # nobody could, once this connection is open
        self._connection = sqlite3.connect(path, check_same_thread=False)
        try:
            if not is_own(self._connection):
                raise StoreError(f"{path}: this is no store, or its schema is foreign")
            self.identity = identity_of(self._connection, path)
            # Who asks for the version waits for nobody.
            self._connection.execute("pragma busy_timeout = 20")
        except BaseException:
            self._connection.close()
            raise
        EXPECTED[self.identity.path] = self.identity.uid

    @classmethod
    def of(cls, path: Path) -> Anchor | None:
        """Return an anchor, or None if there is no sound store.

        That is reported when the store is opened.
        """
        try:
            return cls(path) if path.exists() else None
        except (StoreError, sqlite3.Error, OSError, TypeError):
            return None

    def check(self) -> None:
        """Raise StoreGone if the file no longer exists."""
        self.identity.check()

    def version(self) -> int | None:
        """Return a number that every commit of another connection changes.

        It is None if it cannot be read at once. Takes some microseconds.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return int(self._connection.execute("pragma data_version").fetchone()[0])
        except sqlite3.Error:
            return None
        finally:
            self._lock.release()

    @property
    def free_path(self) -> Path:
        """An unused name for the copy."""
        return free_path(self.identity.path)

    def rescue(self, target: Path) -> Path:
        """Write the contents of the store to a new file. Raises StoreError if that fails."""
        with self._lock:
            return rescue(self._connection, self.identity, target)

    def close(self) -> None:
        EXPECTED.pop(self.identity.path, None)
        with self._lock:
            self._connection.close()
