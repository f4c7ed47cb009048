"""The foreign objects of a file, and the rescue of a store that is foreign or damaged.

A file from somebody else may hold triggers and views that run whenever it is read or written.
SQLite is told to trust none of them (`trusted_schema`), and a file that has any is refused: see
`own_schema`. `rescue_rows` reads the rows of our own tables, and nothing else, into a new store.
"""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path

from stores.core.base import Database
from stores.core.migrations import APPLICATION_ID, BASELINE, migrations
from stores.core.own_schema import Row, differences, kind_of, make_schema, schema_rows
from stores.core.values import STAND_INS, refusal_words, refuse_wrong_values, wrong_value
from workbench.domain.responses import MAY_BE_LEFT, NOT_STATED, Sampling
from workbench.errors import StoreError


@dataclass(slots=True)
class Rescued:
    """The outcome of a rescue."""

    rows: dict[str, int] = field(default_factory=dict)
    "table -> rows"
    lost: dict[str, str] = field(default_factory=dict)
    "table -> why its remaining rows cannot be read"
    refused: dict[str, int] = field(default_factory=dict)
    "table -> rows that no store can hold"
    replaced: dict[str, int] = field(default_factory=dict)
    "table.column -> number of wrong values that were replaced by a stand-in, which says nothing"
    left_out: tuple[str, ...] = ()
    "the foreign objects of the file"


def rescue_rows(source: Path, target: Path, migrate: Callable[[Path], Database]) -> Rescued:
    """Write every readable row of a file's own tables into a new store, and return the outcome.

    The new store is made with the schema of the file, and brought to the newest one when it has the
    rows.

    Parameters
    ----------
    migrate : opens a store at a path, brings it to the newest schema and returns it

    Raises StoreError if the target exists already, or the source is no SQLite file or of an unknown
    schema.
    """
    if target.exists():
        raise StoreError(f"{target}: there is a file already; name another one")
    result = Rescued()
    with closing(_opened(source)) as old:
        try:
            rows = _readable_schema(old)
            version = int(old.execute("pragma user_version").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreError(
                f"{source}: not even the list of its tables can be read ({error})"
            ) from error
        newest = BASELINE + len(migrations.pending(Database(memory=True)))
        version = version or newest
        if not BASELINE <= version <= newest:
            raise StoreError(
                f"{source}: has schema {version}; it is rescued by the workbench that wrote it, or "
                f"once it has schema {newest}"
            )
        result.left_out = differences(old, version, migrations)
        tables = {
            name for kind, name, _, sql in rows if kind == "table" and kind_of(sql) == "table"
        }
        try:
            with closing(sqlite3.connect(target)) as new:
                _fill(old, new, version, tables, result)
            migrate(target).conn.close()
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    return result


def _readable_schema(old: sqlite3.Connection) -> tuple[Row, ...]:
    """Return the rows of a file's schema.

    SQLite passes over the objects that it cannot understand.

    Raises sqlite3.Error if the list cannot be read at all.
    """
    try:
        return schema_rows(old)
    except sqlite3.DatabaseError as error:
        if "malformed" not in str(error):
            raise
    old.execute("pragma writable_schema = on")  # the file is opened for reading alone
    return schema_rows(old)


def _fill(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    version: int,
    tables: set[str],
    result: Rescued,
) -> None:
    """Make an empty store with the schema of a version, and copy the rows of our tables into it."""
    db = Database(new)
    new.execute("pragma foreign_keys = off")
    new.execute("begin immediate")
    make_schema(db, version, migrations)
    refuse_wrong_values(new, rescued=True)
    new.execute("delete from identity")
    for kind, name, *_ in schema_rows(new):
        if kind == "table" and name in tables and name not in BOOKKEEPING:
            _copy(old, new, name, result)
    _delete_orphans(new, result)
    new.execute("delete from identity where rowid > (select min(rowid) from identity)")
    if not new.execute("select count(*) from identity").fetchone()[0]:
        new.execute("insert into identity (uid) values (randomblob(16))")
    new.execute(f"pragma application_id = {APPLICATION_ID}")
    new.execute(f"pragma user_version = {version}")
    new.execute("commit")


def _delete_orphans(new: sqlite3.Connection, result: Rescued) -> None:
    """Delete the rows that refer to missing rows, and then the rows that refer to those."""
    while orphaned := {row[0] for row in new.execute("pragma foreign_key_check")}:
        for table in orphaned:
            keys: dict[int, list[tuple[str, str, str]]] = {}
            for number, _, parent, column, key, *_ in new.execute(
                f'pragma foreign_key_list("{table}")'
            ).fetchall():
                keys.setdefault(number, []).append(
                    (parent, column, key or _primary_key(new, parent))
                )
            for columns in keys.values():
                parent = columns[0][0]
                has_reference = " and ".join(f'"{column}" is not null' for _, column, _ in columns)
                matches = " and ".join(
                    f'p."{key}" = "{table}"."{column}"' for _, column, key in columns
                )
                deleted = new.execute(
                    f'delete from "{table}" where {has_reference} and not exists (select 1 from '
                    f'"{parent}" p where {matches})'
                ).rowcount
                if deleted:
                    result.refused[table] = result.refused.get(table, 0) + deleted
                    result.rows[table] -= deleted


def _primary_key(connection: sqlite3.Connection, table: str) -> str:
    return next(
        str(row[1]) for row in connection.execute(f'pragma table_info("{table}")') if row[5]
    )


BOOKKEEPING = ("_sqlite_migrations",)
"""tables that are made with the schema. A foreign row in them would keep a later migration from
running."""


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma query_only = on")
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return connection


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, result: Rescued) -> None:
    """Copy the rows of one table.

    If a page is damaged, the rows beyond it are sought from the other end, too.
    """
    expected_names = [row[1] for row in new.execute(f'pragma table_info("{table}")')]
    try:
        available_names = {
            row[1] for row in old.execute(f'pragma table_xinfo("{table}")') if row[6] == 0
        }
    except sqlite3.Error as error:
        result.lost[table] = str(error)
        return
    columns = [name for name in expected_names if name in available_names]
    column_list = ", ".join(f'"{name}"' for name in columns)
    insert = (
        f'insert or ignore into "{table}" ({column_list}) values ({", ".join("?" * len(columns))})'
    )
    for row in _rows(old, table, column_list, result):
        try:
            n_rows = _insert(old, new, insert, table, dict(zip(columns, row, strict=True)), result)
            result.rows[table] = result.rows.get(table, 0) + n_rows
        except (sqlite3.Error, UnicodeError):
            result.refused[table] = result.refused.get(table, 0) + 1


def _insert(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    statement: str,
    table: str,
    values: dict[str, object],
    result: Rescued,
) -> int:
    """Insert a row, with stand-ins for its wrong values.

    Return the number of inserted rows, which is 0 if the row exists already.
    """
    replaced: list[str] = []
    while True:
        try:
            n_rows = new.execute(statement, tuple(values.values())).rowcount
        except sqlite3.IntegrityError as error:
            name = refusal_words(error).partition(" ")[0]
            if name in replaced:
                raise
            if name in PARAMETERS:
                values |= _unknown_parameter(old, new, values, name)
            elif name in STAND_INS:
                values[name.removeprefix(f"{table}.")] = STAND_INS[name]
            else:
                raise
            replaced.append(name)
            continue
        for name in replaced:
            result.replaced[name] = result.replaced.get(name, 0) + 1
        return n_rows


PARAMETERS = {"sampling.temperature": "temperature", "sampling.top_p": "top_p"}
"column of a sampling that may be unknown -> its parameter"


def _unknown_parameter(
    old: sqlite3.Connection, new: sqlite3.Connection, values: dict[str, object], name: str
) -> dict[str, object]:
    """Return new values of a sampling with one unknown parameter.

    So the answers under it are kept.

    Its key changes with it, unless another sampling has that key already.
    """
    parameter = PARAMETERS[name]
    unstated = {parameter, *str(values["server"]).split(",")}
    updates = {
        parameter: getattr(Sampling(), parameter),
        "server": ",".join(
            [*(candidate for candidate in MAY_BE_LEFT if candidate in unstated), NOT_STATED]
        ),
    }
    names = [field.name for field in fields(Sampling)]
    sampling_values = {**values, **updates}
    key = Sampling(
        **{
            field_name: sampling_values[field_name]
            for field_name in names
            if field_name in sampling_values
        }
    ).key
    is_taken = any(
        connection.execute("select 1 from sampling where key = ?", (key,)).fetchone()
        for connection in (old, new)
    )
    return updates if is_taken else {**updates, "key": key}


def _rows(
    old: sqlite3.Connection, table: str, column_list: str, result: Rescued
) -> Iterator[tuple[object, ...]]:
    for order in ("", " order by rowid desc"):
        try:
            yield from old.execute(f'select {column_list} from "{table}"{order}')
            return
        except sqlite3.Error as error:
            if "no such column" in str(error):  # a table without rowids is read from one end alone
                return
            result.lost[table] = str(error)


def damage(path: Path) -> str:
    """Return a short description of the damage of a store, or an empty string if none is found."""
    try:
        with closing(_opened(path)) as connection:
            check_result = str(connection.execute("pragma integrity_check(1)").fetchone()[0])
            if check_result != "ok":
                return " ".join(check_result.split())
            if row := connection.execute("pragma foreign_key_check").fetchone():
                return f"a row of {row[0]} is about a row of {row[2]} that is not there"
            if problem := wrong_value(connection):
                return problem
            connection.text_factory = bytes.decode
            for (table,) in connection.execute(
                "select name from sqlite_schema where type = 'table'"
            ).fetchall():
                for _ in connection.execute(f'select * from "{table}"'):
                    pass
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)
    return ""


def damage_message(error: Exception, path: Path) -> str:
    """Return a sentence about a store whose contents led to an error.

    It is empty if the error is the program's own.
    """
    frames = traceback.extract_tb(error.__traceback__)
    raised_here = bool(frames) and Path(frames[-1].filename).is_relative_to(
        Path(__file__).parents[1]
    )
    is_data_error = isinstance(
        error,
        KeyError
        | ValueError
        | TypeError
        | IndexError
        | AttributeError
        | OverflowError
        | MemoryError,
    )
    if not (isinstance(error, sqlite3.Error) or (is_data_error and (raised_here or damage(path)))):
        return ""
    problem = damage(path) or f"it holds what no workbench writes: {type(error).__name__}: {error}"
    return (
        f"{path}: the store is damaged ({problem}). Save what can be read: workbench doctor {path} "
        f"--rescue NEW (${TRACEBACK}=1 shows where it was met)"
    )


TRACEBACK = "WORKBENCH_TRACEBACK"
"the environment variable with which an error in a damaged store ends in a traceback"
