"""The conditions under which several processes or machines may have a store open at once.

They depend on its file system. Write-ahead logging needs memory shared between processes, which
network file systems do not provide: there it seems to work but damages the file when two machines
write. Some of them have no locks that reach beyond a machine either, so nothing keeps two machines
from writing at once. There a store is for the machine that claimed it, in a file beside it.
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
"file systems on which a lock keeps out nobody on another machine"
NETWORK_FILE_SYSTEMS = WITHOUT_LOCKS | frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs"),
        *("lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.glusterfs", "orangefs"),
    )
)


@contextmanager
def claim_for_machine(path: Path) -> Iterator[None]:
    """Claim a store for this machine during the block, if its file system has no shared locks.

    The claim is a file beside the store, which each process that has the store open locks for
    reading. The last one removes it. A claim that killed processes left belongs to this machine, or
    is void after a restart. Raises StoreError if another machine has claimed the store.
    """
    path = path.resolve()
    if file_system(path) not in WITHOUT_LOCKS or not os.access(path.parent, os.W_OK):
        yield
        return
    file = path.with_name(f"{path.name}.machine")
    descriptor = _lock_claim(path, file)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        os.close(descriptor)


def _lock_claim(path: Path, file: Path) -> int:
    """Return the descriptor of the locked claim of this machine.

    Raises StoreError if another machine has claimed the store.
    """
    own_claim = {
        "machine": socket.gethostname(),
        "id": _text_of_file("/etc/machine-id"),
        "device": path.parent.stat().st_dev,
    }
    own_claim["boot"] = _text_of_file("/proc/sys/kernel/random/boot_id")
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            with suppress(FileExistsError), file.open("x", encoding="utf-8") as claim_file:
                json.dump(own_claim, claim_file)
            descriptor = os.open(file, os.O_RDONLY)
        except FileNotFoundError:  # the last process that had it has just closed the store
            continue
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        claim = _read(descriptor)
        if claim == own_claim and file.exists():
            return descriptor
        os.close(descriptor)
        if _is_void(claim, own_claim):
            file.unlink(missing_ok=True)
        elif (claim.get("machine", "") and claim != own_claim) or time.monotonic() > deadline:
            raise StoreError(
                f"{path}: the store is open on {claim.get('machine', 'another machine')}, and lies "
                f"on a file system ({file_system(path)}) whose locks keep out nobody on another "
                "machine: two that write at once would destroy it. Close it there. If nobody has "
                f"it open there, delete {file}"
            )
        time.sleep(0.01)  # another process of this machine writes the claim, or removes it


def _is_void(claim: dict[str, object], own_claim: dict[str, object]) -> bool:
    """Return whether a claim of this machine is void.

    It is void if it was made before a restart, or through a mount that is gone. Machines are
    compared by their id, since others may have the same name.
    """
    if not own_claim["id"] or claim.get("id") != own_claim["id"]:
        return False
    return claim.get("boot") != own_claim["boot"] or claim.get("device") not in _devices()


def _read(file: int) -> dict[str, object]:
    try:
        claim = json.loads(os.read(file, 4096))
    except ValueError:
        return {}
    return claim if isinstance(claim, dict) else {}


def _text_of_file(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").strip()
    return ""


def _devices() -> set[int]:
    """Return the numbers of all mounted devices."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return {os.makedev(*map(int, line.split(" ")[2].split(":"))) for line in lines}


def file_system(path: Path) -> str:
    """Return the type of the file system of `path` (Linux), or an empty string if it is unknown."""
    try:
        mounts = (
            Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
        )
    except OSError:
        return ""
    best_mount, kind = "", ""
    location = str(path.resolve())
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ")
        if len(mount) >= len(best_mount) and (
            location == mount or location.startswith(mount.rstrip("/") + "/")
        ):
            best_mount, kind = mount, fields[2]
    return kind


def leave_write_ahead(path: Path) -> None:
    """Turn off the write-ahead logging of a store that came to a network file system.

    SQLite needs to be alone with the file for this but does not wait for it, and two connections
    that stay open would keep each other from it. So this is tried until the busy timeout.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while file_system(path) in NETWORK_FILE_SYSTEMS and path.is_file():
        try:
            with closing(sqlite3.connect(path)) as connection:
                is_store = (
                    connection.execute("pragma application_id").fetchone()[0] == APPLICATION_ID
                )
                if is_store and connection.execute("pragma journal_mode").fetchone()[0] == "wal":
                    connection.execute("pragma journal_mode = truncate")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        except sqlite3.DatabaseError:  # it is no store: whoever opens it says so
            return


def set_journal_mode(db: Database, path: Path) -> str:
    """Turn on write-ahead logging if it works.

    Otherwise use a rollback journal and return a message.

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
    location = (
        f"a network file system ({kind})" if kind in NETWORK_FILE_SYSTEMS else "this file system"
    )
    return (
        f"The store lies on {location}, where write-ahead logging is not safe: using a {mode} "
        "journal. It is slower, and "
        "readers wait for writers; a local disk is better for running jobs."
    )
