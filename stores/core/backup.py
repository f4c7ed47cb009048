"""Copies a store before its schema changes, and reports the copy."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from workbench.errors import StoreError

KEPT = re.compile(r"\.before-v\d+(-\d+)?(\.part)?$")


def to_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


tell: Callable[[str], None] = to_stderr
"shows a message to the user; the terminal interface replaces it"


def back_up(path: Path, version: int, newer: int) -> Path:
    """Copy a store of schema `version` to `NAME.before-vN` in the same folder; return the copy's path. Overwrites no
    file.

    Call it with the write lock held, before the migration to schema `newer`. Raises StoreError, leaving no partial
    copy, if the copy fails.
    """
    target = _free(path, newer)
    part = target.with_name(f"{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as store, closing(sqlite3.connect(part)) as copy:
            store.backup(copy)
            copy.execute("pragma journal_mode = delete")
        part.rename(target)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: the store has schema {version} and is to be brought to schema {newer}, but could not be copied "
            f"beforehand ({error}). Nothing was changed. Make room for a copy in {path.parent.resolve()}, then try "
            "again."
        ) from error
    return target


def is_backup(path: Path) -> bool:
    """Return whether a file name is that of a copy by `back_up`.

    >>> is_backup(Path("a.db.before-v30")), is_backup(Path("a.db.before-v30-2")), is_backup(Path("a.db"))
    (True, True, False)
    """
    return KEPT.search(path.name) is not None


def migrated(path: Path, copy: Path, version: int, newer: int) -> str:
    """Return the message that a store was migrated, with the path of the old copy."""
    return f"{path}: brought from schema {version} to {newer}. The store as it was is kept in {copy}."


def _free(path: Path, newer: int) -> Path:
    name = f"{path.name}.before-v{newer}"
    number, found = 1, path.with_name(name)
    while found.exists():
        number += 1
        found = path.with_name(f"{name}-{number}")
    return found
