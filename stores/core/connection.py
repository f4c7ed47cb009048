"""Opens a store, migrates its schema after copying the file, and sets its journal mode."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from stores.core.base import Database
from stores.core.machines import BUSY_TIMEOUT_MS, leave_write_ahead, set_journal_mode
from stores.core.migrations import (
    APPLICATION_ID,
    BASELINE,
    BEFORE_BASELINE,
    make_baseline,
    migrations,
)
from stores.core.own_schema import refuse_foreign
from workbench.errors import NewerStore, NotAStore, OlderStore, ReadOnlyStore, StoreBusy, StoreError

KEPT = re.compile(r"\.before-v\d+(-\d+)?(\.part)?$")


def to_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


tell: Callable[[str], None] = to_stderr
"shows a message to the user. The terminal interface replaces it."


def back_up(path: Path, version: int, newer: int) -> Path:
    """Copy a store of schema `version` to `NAME.before-vN` in its folder and return that path.

    An earlier copy of the same store, left by a migration that did not come to its end, is
    replaced. No other file is.

    Call it with the write lock held, before the migration to schema `newer`. Raises StoreError,
    leaving no partial copy, if there is no room for it, or the copy fails.
    """
    needed, free = 2 * path.stat().st_size, shutil.disk_usage(path.parent).free
    if free < needed:
        raise StoreError(
            f"{path}: the store has schema {version} and is to be brought to schema {newer}, which "
            f"needs {needed / MIB:,.0f} MiB for a copy and the change; {path.parent.resolve()} has "
            f"{free / MIB:,.0f} MiB left. Nothing was changed. Make room, then try again."
        )
    target = _unused_path(path, newer)
    partial = target.with_name(f"{target.name}.part")
    try:
        partial.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as store, closing(sqlite3.connect(partial)) as copy:
            store.backup(copy)
            copy.execute("pragma journal_mode = delete")
        partial.rename(target)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: the store has schema {version} and is to be brought to schema {newer}, but "
            f"could not be copied beforehand ({error}). Nothing was changed. Make room for a copy "
            f"in {path.parent.resolve()}, then try again."
        ) from error
    return target


def is_backup(path: Path) -> bool:
    """Return whether a file name is that of a copy by `back_up`.

    >>> is_backup(Path("a.db.before-v30")), is_backup(Path("a.db.before-v30-2")), is_backup(Path("a.db"))
    (True, True, False)
    """  # noqa: E501
    return KEPT.search(path.name) is not None


def migrated(path: Path, copy: Path, version: int, newer: int) -> str:
    """Return the message that a store was migrated, with the path of the old copy."""
    return (
        f"{path}: brought from schema {version} to {newer}. The store as it was is kept in {copy}; "
        "delete it once all is well."
    )


def _unused_path(path: Path, newer: int) -> Path:
    name = f"{path.name}.before-v{newer}"
    number, candidate = 1, path.with_name(name)
    while candidate.exists() and not _same_state(path, candidate):
        number += 1
        candidate = path.with_name(f"{name}-{number}")
    return candidate


def _same_state(path: Path, copy: Path) -> bool:
    """Return whether a copy is of this store in its current state.

    Then the migration for which the copy was made did not come to its end.
    """
    states = []
    try:
        for file in (path, copy):
            with closing(
                sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
            ) as connection:
                query = (
                    "select (select uid from identity), (select max(id) from text), (select "
                    "count(*) from job)"
                )
                version = connection.execute("pragma user_version").fetchone()[0]
                states.append(
                    (
                        version,
                        *connection.execute(query).fetchone(),
                        *connection.execute("pragma page_count").fetchone(),
                    )
                )
    except sqlite3.Error:
        return False
    return states[0] == states[1]


MIB = 2**20
SQLITE = sqlite3.sqlite_version_info
OLDEST_SQLITE = (3, 37, 0)
"the first with STRICT tables"
SCHEMA_VERSION = BASELINE + len(migrations.pending(Database(memory=True)))


def open_database(path: Path, *, create: bool, quiet: bool = False) -> tuple[Database, str]:
    """Open and, if necessary, migrate the store at `path`.

    Returns the database and a message for the user. The message is empty unless the file system
    does not support write-ahead logging. If `quiet`, no copy of the old store is kept and nobody is
    told of the migration.

    Raises
    ------
    NotAStore
        The file does not exist and `create` is false, or it is not a store.
    NewerStore, OlderStore
        The store has the schema of a newer workbench, or one that is too old to migrate.
    ReadOnlyStore, StoreBusy
        The store cannot be written, or another program holds its lock for too long.
    """
    new = not path.exists() or path.stat().st_size == 0
    if new and not create:
        raise _no_store(path)
    _check_writable(path)
    try:
        leave_write_ahead(path)
    except sqlite3.Error as error:
        raise store_error_of(error, path) from error
    try:
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: cannot be opened ({error}). Does its folder exist?") from error
    try:
        db = Database(connection)
        _check_ours(db, path, new=new)
        notice = set_journal_mode(db, path)
        connection.execute(
            "pragma synchronous = normal" if not notice else "pragma synchronous = full"
        )
        connection.execute("pragma cache_size = -8192")
        _migrate(db, path, quiet=quiet)
        connection.execute("pragma foreign_keys = on")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise store_error_of(error, path) from error
        raise
    return db, notice


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise NewerStore if a newer workbench migrated the store while this one had it open."""
    version = int(connection.execute("pragma user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"{path}: a newer workbench brought the store from schema {SCHEMA_VERSION} to "
            f"{version} while it was open here; nothing of this change was written. Leave, update "
            "this workbench, and open the store again."
        )


def _no_store(path: Path) -> NotAStore:
    reason = "the file is empty (0 bytes)" if path.is_file() else "there is no store here"
    return NotAStore(f"{path}: {reason}. Make one with: workbench init {path}")


def open_for_reading(path: Path) -> Database:
    """Open the store at `path` read-only. Its file and folder need not be writable.

    Raises NotAStore, NewerStore and OlderStore, and StoreError if it must be migrated first.
    """
    if path.is_dir() or not path.exists() or path.stat().st_size == 0:
        raise _no_store(path)
    is_immutable = (
        not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    )
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if is_immutable else ''}"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_MS / 1000)
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: cannot be opened ({error}).") from error
    try:
        db = Database(connection)
        _check_ours(db, path, new=False)
        if (version := _version(db)) < SCHEMA_VERSION:
            raise StoreError(
                f"{path}: written by an earlier workbench (schema {version}; this one has "
                f"{SCHEMA_VERSION}). Open it "
                "once for writing, which brings it up to date and keeps a copy beside it."
            )
        connection.execute("pragma query_only = on")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise store_error_of(error, path) from error
        raise
    return db


def open_copy(path: Path, folder: Path) -> Database:
    """Copy the store at `path` into a folder, and open the migrated copy.

    The store itself is only read. Raises as `open_for_reading`, but not for an older schema.
    """
    if not path.is_file() or path.stat().st_size == 0:
        raise NotAStore(f"{path}: there is no store here")
    target = folder / path.name
    try:
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as store,
            closing(sqlite3.connect(target)) as copy,
        ):
            _check_ours(Database(store), path, new=False)
            store.backup(copy)
    except sqlite3.Error as error:
        raise store_error_of(error, path) from error
    return open_database(target, create=False, quiet=True)[0]


def is_store(path: Path) -> bool:
    """Return whether a file begins like a store.

    Only the file itself is opened, and nothing is changed.
    """
    try:
        if not path.is_file():  # a pipe would wait for a writer forever
            return False
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return (
        head.startswith(b"SQLite format 3\x00")
        and int.from_bytes(head[68:], "big") == APPLICATION_ID
    )


def store_error_of(error: sqlite3.Error, path: Path) -> StoreError:
    """Return an error that tells the user what to do.

    Nothing of a failed transaction was written.
    """
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreBusy(
            f"{path}: another program held the store for more than {BUSY_TIMEOUT_MS // 1000} s; "
            "nothing of this "
            "change was written. Look for a stuck process (fuser or lsof show it), then try again."
        )
    if "readonly" in text or "read-only" in text:
        return ReadOnlyStore(
            f"{path}: the store cannot be written. Copy it to a folder of yours, or change its "
            "mode."
        )
    if "full" in text:
        return StoreError(
            f"{path}: the disk is full; nothing of this change was written. Free some space and "
            "resume."
        )
    if "not a database" in text and _first_bytes(path) in (WAL_BEGINS, WAL_BEGINS[:3] + b"\x83"):
        return NotAStore(
            f"{path}: this is the write-ahead log of a store, not the store: name the file "
            "without -wal."
        )
    if "not a database" in text or "malformed" in text:
        rescue_hint = (
            f" Save what can be read: workbench doctor {path} --rescue NEW"
            if "malformed" in text
            else ""
        )
        return NotAStore(
            f"{path}: this is not a SQLite file, or it is damaged ({text}).{rescue_hint}"
        )
    return StoreError(f"{path}: {text}")


WAL_BEGINS = b"\x37\x7f\x06\x82"
"the first bytes of a log whose checksums are little-endian; \\x83 in the fourth: big-endian"


def _first_bytes(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(4)
    return b""


def _check_writable(path: Path) -> None:
    if path.is_dir():
        raise NotAStore(
            f"{path}: this is a folder; a store is a file, for example {path / 'audit.db'}"
        )
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist. Make it first.")
    for target in (path, path.parent):
        lacks_write_bits = target.exists() and not target.stat().st_mode & 0o222
        if target.exists() and (lacks_write_bits or not os.access(target, os.W_OK)):
            raise ReadOnlyStore(
                f"{path}: {'the folder ' if target is not path else ''}{target} cannot be written, "
                "and SQLite writes beside the file even to read it. Copy the store to a folder of "
                "yours, or change the mode (chmod u+w)."
            )


def _check_ours(db: Database, path: Path, *, new: bool) -> None:
    if new:
        return
    application = db.execute("pragma application_id").fetchone()[0]
    version = _version(db)
    if application != APPLICATION_ID:
        names = ", ".join(sorted(db.table_names())[:5]) or "no tables"
        raise NotAStore(
            f"{path}: a SQLite file of another program ({names}). Give another name for the store."
        )
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"{path}: written by a newer workbench (schema {version}; this one knows "
            f"{SCHEMA_VERSION}). "
            "Update the program: install a newer copy of the repository as you installed this one."
        )
    if version < BASELINE:
        raise OlderStore(
            f"{path}: the store has schema {version}, and this workbench opens schemas from "
            f"{BASELINE} on: open it once with {BEFORE_BASELINE}, which brings it to schema "
            f"{BASELINE} and keeps a copy beside it."
        )
    db.execute("pragma trusted_schema = off")  # until it is known that nothing foreign runs
    refuse_foreign(db.conn, path, version, migrations)
    # SQLite 3.40 takes json_extract, which our views use, for unsafe.
    db.execute("pragma trusted_schema = on")


def _migrate(db: Database, path: Path, *, quiet: bool) -> None:
    """Make or migrate the schema in one transaction.

    Two programs may try at the same time. An existing store is copied first, and the user is
    informed, unless `quiet`.
    """
    if _version(db) == SCHEMA_VERSION:
        return
    db.execute("begin immediate")
    try:
        version = _version(db)
        if version:  # by now another program may have made or migrated the store
            _check_ours(db, path, new=False)
        copy = (
            back_up(path, version, SCHEMA_VERSION)
            if 0 < version < SCHEMA_VERSION and not quiet
            else None
        )
        if version == 0:
            make_baseline(db)
        migrations.apply(db)
        refuse_foreign(db.conn, path, SCHEMA_VERSION, migrations)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {SCHEMA_VERSION}")
        db.execute("commit")
    except BaseException:
        db.rollback()
        raise
    _compact(db)
    if copy is not None:
        tell(migrated(path, copy, version, SCHEMA_VERSION))


def _compact(db: Database) -> None:
    """Release the space that a migration left unused in the file and in its log.

    Nothing happens while somebody else reads the store.
    """
    with suppress(sqlite3.OperationalError):
        free, pages = (
            db.execute(f"pragma {name}").fetchone()[0] for name in ("freelist_count", "page_count")
        )
        if free > pages * FREE:
            db.execute("vacuum")
        db.execute("pragma wal_checkpoint(truncate)").fetchone()


FREE = 0.1
"the share of a store's pages that may stay unused after a migration"


def _version(db: Database) -> int:
    return int(db.execute("pragma user_version").fetchone()[0])
