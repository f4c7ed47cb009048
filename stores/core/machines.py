"""Whether several processes, and several machines, may have a store open at once; it depends on its
file system.

Write-ahead logging needs memory shared between processes, which network file systems do not
provide: there it seems to work but damages the file when two machines write. Some have no locks
that reach beyond a machine either, so nothing keeps two machines from writing at once: there a
store is for the machine that claimed it, in a file beside it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from stores.core.base import Database
from stores.core.migrations import APPLICATION_ID
from workbench.errors import StoreError

BUSY_TIMEOUT_MS = 30_000
WITHOUT_LOCKS = frozenset(
    (
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.blobfuse",
        "fuse.curlftpfs",
        "fuse.davfs2",
    )
)
"on which a lock keeps out nobody on another machine"
NETWORK_FILE_SYSTEMS = WITHOUT_LOCKS | frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs"),
        *("lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.glusterfs", "orangefs"),
    )
)


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Claim a store for this machine meanwhile, where its file system asks for it.

    The claim is a file beside the store, which each process that has the store open locks for
    reading; the last one removes it. One that killed processes left is the machine's own, or void
    after a restart. Raises StoreError if another machine has claimed the store.
    """
    path = path.resolve()
    if file_system(path) not in WITHOUT_LOCKS or not os.access(path.parent, os.W_OK):
        yield
        return
    file = path.with_name(f"{path.name}.machine")
    held = _taken(path, file)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        os.close(held)


def _taken(path: Path, file: Path) -> int:
    """Return the locked file of a claim by this machine. Raises StoreError."""
    mine = {
        "machine": socket.gethostname(),
        "id": _said_in("/etc/machine-id"),
        "device": path.parent.stat().st_dev,
    }
    mine["boot"] = _said_in("/proc/sys/kernel/random/boot_id")
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            with suppress(FileExistsError), file.open("x", encoding="utf-8") as made:
                json.dump(mine, made)
            held = os.open(file, os.O_RDONLY)
        except FileNotFoundError:  # the last process that had it has just closed the store
            continue
        fcntl.flock(held, fcntl.LOCK_SH)
        found = _read(held)
        if found == mine and file.exists():
            return held
        os.close(held)
        if _void(found, mine):
            file.unlink(missing_ok=True)
        elif (found.get("machine", "") and found != mine) or time.monotonic() > until:
            raise StoreError(
                f"{path}: the store is open on {found.get('machine', 'another machine')}, and "
                "lies on a file system "
                f"({file_system(path)}) whose locks keep out nobody on another machine: two that "
                "write at once would "
                f"destroy it. Close it there. If nobody has it open there, delete {file}"
            )
        time.sleep(0.01)  # another process of this machine writes the claim, or removes it


def _void(found: dict[str, object], mine: dict[str, object]) -> bool:
    """Return whether a claim is one of this machine, from before it was started, or through a mount
    that is gone. Other machines may be called like it.
    """
    if not mine["id"] or found.get("id") != mine["id"]:
        return False
    return found.get("boot") != mine["boot"] or found.get("device") not in _devices()


def _read(file: int) -> dict[str, object]:
    try:
        found = json.loads(os.read(file, 4096))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _said_in(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").strip()
    return ""


def _devices() -> set[int]:
    """Return the numbers of all devices that are mounted."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return {os.makedev(*map(int, line.split(" ")[2].split(":"))) for line in lines}


def file_system(path: Path) -> str:
    """Return the type of the file system of `path` (Linux), "" if unknown."""
    try:
        mounts = (
            Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
        )
    except OSError:
        return ""
    best, kind = "", ""
    where = str(path.resolve())
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ")
        if len(mount) >= len(best) and (
            where == mount or where.startswith(mount.rstrip("/") + "/")
        ):
            best, kind = mount, fields[2]
    return kind


def leave_write_ahead(path: Path) -> None:
    """Turn off the write-ahead logging of a store that came to a network file system. SQLite does
    not wait until it is alone with the file, which this needs, and two connections that stay open
    would keep each other from it.
    """
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while file_system(path) in NETWORK_FILE_SYSTEMS and path.is_file():
        try:
            with closing(sqlite3.connect(path)) as connection:
                ours = connection.execute("pragma application_id").fetchone()[0] == APPLICATION_ID
                if ours and connection.execute("pragma journal_mode").fetchone()[0] == "wal":
                    connection.execute("pragma journal_mode = truncate")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        except sqlite3.DatabaseError:  # it is no store: whoever opens it says so
            return


def set_journal_mode(db: Database, path: Path) -> str:
    """Turn on write-ahead logging if it works; otherwise use a rollback journal and return a
    message.

    Write-ahead logging needs memory shared between processes, which network file systems do not
    provide: there it seems to work but damages the file when two machines write.
    """
    kind = file_system(path)
    if kind not in NETWORK_FILE_SYSTEMS:
        try:
            if db.execute("pragma journal_mode = wal").fetchone()[0] == "wal":
                db.execute("select count(*) from sqlite_master").fetchone()
                return ""
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "readonly" in str(error):
                raise
    mode = db.execute("pragma journal_mode = truncate").fetchone()[0]
    where = (
        f"a network file system ({kind})" if kind in NETWORK_FILE_SYSTEMS else "this file system"
    )
    return (
        f"The store lies on {where}, where write-ahead logging is not safe: using a {mode} "
        "journal. It is slower, and "
        "readers wait for writers; a local disk is better for running jobs."
    )
