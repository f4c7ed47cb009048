"""Folders and files that exist whole or not at all.

A folder is made under a hidden name beside its place, then renamed. A program that is killed leaves
the hidden folder. The next one that writes beside it removes it, once it is a day old.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from workbench.errors import UsageError

ABANDONED_S = 86_400
MACHINE = blake2b(platform.node().encode(), digest_size=4).hexdigest()
OURS = re.compile(rf"\.workbench-{MACHINE}-[0-9a-f]{{12}}")
"names that this machine gives; a lock says nothing about a writer on another one"


@contextmanager
def made_beside(place: Path) -> Iterator[Path]:
    """Yield the path of a folder that the caller makes, fills and renames to `place`.

    On errors nothing of it stays. A lock tells others that its writer lives. Raises OSError if the
    folder of `place` cannot be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(place.parent)
    hidden = place.parent / f".workbench-{MACHINE}-{uuid4().hex[:12]}"
    hidden.mkdir()
    lock = os.open(hidden, os.O_RDONLY)
    try:
        # A file system without locks: nobody can lock it later, so nobody removes it.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield hidden / "made"
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        os.close(lock)


def _remove_abandoned(folder: Path) -> None:
    with suppress(OSError):
        for path in [candidate for candidate in folder.iterdir() if OURS.fullmatch(candidate.name)]:
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    with suppress(OSError):
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_uid == os.geteuid() and _newest(path) < time.time() - ABANDONED_S:
                shutil.rmtree(path, ignore_errors=True)  # it follows no link
        finally:
            os.close(lock)


def _newest(folder: Path) -> float:
    """Return the time of the last change to anything in a folder, links themselves included."""
    paths = [
        Path(parent, name)
        for parent, folders, files in os.walk(folder)
        for name in ("", *folders, *files)
    ]
    return max(path.lstat().st_mtime for path in paths)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a new file for writing, which exists whole or not at all. Raises UsageError."""
    if path.exists():
        raise UsageError(f"{path} exists already; choose another name")
    part_path = path.with_name(path.name + ".part")
    try:
        with part_path.open("w", encoding="utf-8", newline="") as file:
            yield file
        part_path.rename(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            part_path.unlink()
