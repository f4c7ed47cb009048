"""What all parts of a store share: sqlite-utils, aggregates and transactions, times, texts.

sqlite-utils is imported without pandas. If pandas is installed, sqlite-utils imports it for its
time stamp types, which no store contains. That takes a third of the start time of a worker or a
command.

Texts are stored once under their content key, unchanged and uncompressed. A body is text that any
program with SQLite can read. A text with half a surrogate pair, which UTF-8 cannot encode, is
stored as a blob. Measured on 1.5 million answers of 800 to 1,500 characters: compressed, the file
is a quarter smaller (1.6 instead of 2.2 GB), but is written at two thirds of the speed and read at
a fifth, and no other program reads the texts. Short answers are the same either way: five million
of 10 to 60 characters take 0.44 GB.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

from workbench.domain.keys import text_key
from workbench.errors import UnknownName

_UNLOADED = "pandas" not in sys.modules
if _UNLOADED:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # makes `import` treat it as not installed
try:
    from sqlite_utils import Database as Database
    from sqlite_utils import Migrations as Migrations
    from sqlite_utils.db import Table
finally:
    if _UNLOADED:
        del sys.modules["pandas"]


class StoreTable(Table):  # type: ignore[misc]  # mypy skips sqlite-utils
    """A table as migrations made it.

    Writing rows neither looks for it, nor makes it, nor adds columns to it.
    """

    def exists(self) -> bool:
        return True

    def add_missing_columns(self, _records: Iterable[dict[str, Any]]) -> Table:
        return self

    def add(self, row: dict[str, Any]) -> int:
        """Insert a row and return its rowid."""
        return int(self.insert(row).last_rowid)


def table(connection: sqlite3.Connection, name: str) -> StoreTable:
    """Return a table for writing rows in the open transaction of `Store.write`.

    Outside a transaction sqlite-utils would begin and commit one of its own.
    """
    assert connection.in_transaction, "rows are written within `Store.write`"
    return StoreTable(Database(connection, execute_plugins=False, recursive_triggers=False), name)


def add_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Insert new texts. Call inside a transaction."""
    connection.executemany(
        "insert into text (key, body) values (?, ?) on conflict (key) do nothing",
        ((text_key(text), encode_text(text)) for text in texts),
    )


def text_ids(connection: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
    """Insert new texts and return the rowid of each. Call inside a transaction."""
    keys = {text: text_key(text) for text in dict.fromkeys(texts)}
    id_by_key = dict(_rowids(connection, [*keys.values()]))
    missing = [(key, text) for text, key in keys.items() if key not in id_by_key]
    (last_id,) = connection.execute("select coalesce(max(id), 0) from text").fetchone()
    id_by_key |= {key: last_id + index for index, (key, _) in enumerate(missing, 1)}
    connection.executemany(
        "insert into text (id, key, body) values (?, ?, ?)",
        ((id_by_key[key], key, encode_text(text)) for key, text in missing),
    )
    return {text: id_by_key[key] for text, key in keys.items()}


AT_ONCE = 500
"the number of keys that one query looks up"


def _rowids(connection: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield the key and the rowid of each stored text among these keys."""
    for start in range(0, len(keys), AT_ONCE):
        chunk = keys[start : start + AT_ONCE]
        placeholders = ", ".join("?" * len(chunk))
        yield from connection.execute(
            f"select key, id from text where key in ({placeholders})", chunk
        )


def encode_text(text: str) -> str | bytes:
    """Return the stored form of a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def decode_text(body: object) -> str:
    """Return the text of a stored form."""
    return body.decode("utf-8", "surrogatepass") if isinstance(body, bytes) else str(body)


T = TypeVar("T")


class Transactions(Protocol):
    """The interface of a store for its aggregates."""

    db: Database

    @property
    def identity(self) -> Hashable: ...

    @property
    def holds_lock(self) -> bool: ...

    def check_moment(self) -> None: ...

    @property
    def connection(self) -> sqlite3.Connection: ...

    def write(self, attempt: int | None = None) -> AbstractContextManager[sqlite3.Connection]: ...

    def remembered(self, key: Hashable, read: Callable[[], T]) -> T: ...


class Aggregate:
    """A group of tables that are read and written together."""

    def __init__(self, store: Transactions):
        self.store = store

    @property
    def connection(self) -> sqlite3.Connection:
        return self.store.connection


def execute_named(connection: sqlite3.Connection, sql: str, values: object = ()) -> sqlite3.Cursor:
    """Execute a query whose rows are read by the names of their columns."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql, values)  # type: ignore[arg-type]


def instrument_id_of(connection: sqlite3.Connection, name: str) -> int:
    """Return the rowid of an instrument.

    Raises UnknownName, which lists the existing instruments.
    """
    row = connection.execute("select id from instrument where name = ?", (name,)).fetchone()
    if row is None:
        names = ", ".join(
            instrument_row[0]
            for instrument_row in connection.execute("select name from instrument order by id")
        )
        raise UnknownName(
            f"no instrument is named {name!r} in this store. Available: {names or 'none'}"
        )
    return int(row[0])


def now() -> str:
    """Return the current time in UTC, in the format of stores: `2026-11-21T09:30:00.123Z`.

    It has milliseconds.
    """
    return _written(datetime.now(UTC))


def later(time: str, duration: timedelta) -> str:
    """Return a stored time plus a duration."""
    return _written(datetime.fromisoformat(time).astimezone(UTC) + duration)


def now_after(last: str | None) -> str:
    """Return the current time, or a moment after `last` if the clock went back.

    So the order of events is kept.
    """
    current = now()
    return current if last is None or last < current else later(last, timedelta(milliseconds=1))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
