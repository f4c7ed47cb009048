"""What in the file of a store is not its own, and what can be saved of a store that is foreign or
damaged.

A file from somebody else may hold triggers and views that run whenever it is read or written.
SQLite is told to trust none of them (`trusted_schema`), and a file that has any is refused: see
`own_schema`. `rescued` reads the rows of our own tables, and nothing else, into a new store.
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
    """What was saved of a file."""

    rows: dict[str, int] = field(default_factory=dict)
    "table -> rows"
    lost: dict[str, str] = field(default_factory=dict)
    "table -> why the rest of it cannot be read"
    refused: dict[str, int] = field(default_factory=dict)
    "table -> rows that no store can hold"
    replaced: dict[str, int] = field(default_factory=dict)
    "table.column -> wrong values in place of which the row has one that says nothing"
    left_out: tuple[str, ...] = ()
    "what is foreign in the file"


def rescued(source: Path, target: Path, migrate: Callable[[Path], Database]) -> Rescued:
    """Write every row of a file's own tables that can be read into a new store; return what came
    and what did not.

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
                f"{source}: has schema {version}; it is rescued by the workbench that wrote it, "
                "or once it has "
                f"schema {newest}"
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
    """Return the rows of a file's schema. SQLite passes over the objects that it cannot understand.

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
    """Delete the rows that are about rows which did not come, and then the rows about those."""
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
                known = " and ".join(f'"{column}" is not null' for _, column, _ in columns)
                same = " and ".join(
                    f'p."{key}" = "{table}"."{column}"' for _, column, key in columns
                )
                deleted = new.execute(
                    f'delete from "{table}" where {known} and not exists (select 1 from '
                    f'"{parent}" p where {same})'
                ).rowcount
                if deleted:
                    result.refused[table] = result.refused.get(table, 0) + deleted
                    result.rows[table] -= deleted


def _primary_key(connection: sqlite3.Connection, table: str) -> str:
    return next(
        str(row[1]) for row in connection.execute(f'pragma table_info("{table}")') if row[5]
    )


BOOKKEEPING = ("_sqlite_migrations",)
"""tables that are made with the schema: a foreign row in it would keep a later migration from
running"""


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma query_only = on")
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return connection


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, found: Rescued) -> None:
    """Copy the rows of one table; rows beyond a damaged page are sought from the other end, too."""
    wanted = [row[1] for row in new.execute(f'pragma table_info("{table}")')]
    try:
        there = {row[1] for row in old.execute(f'pragma table_xinfo("{table}")') if row[6] == 0}
    except sqlite3.Error as error:
        found.lost[table] = str(error)
        return
    columns = [name for name in wanted if name in there]
    listed = ", ".join(f'"{name}"' for name in columns)
    put = f'insert or ignore into "{table}" ({listed}) values ({", ".join("?" * len(columns))})'
    for row in _rows(old, table, listed, found):
        try:
            n_rows = _insert(old, new, put, table, dict(zip(columns, row, strict=True)), found)
            found.rows[table] = found.rows.get(table, 0) + n_rows
        except (sqlite3.Error, UnicodeError):
            found.refused[table] = found.refused.get(table, 0) + 1


def _insert(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    statement: str,
    table: str,
    values: dict[str, object],
    found: Rescued,
) -> int:
    """Insert a row, with stand-ins for its wrong values. Return the number of rows, 0 if it is
    there already.
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
            found.replaced[name] = found.replaced.get(name, 0) + 1
        return n_rows


PARAMETERS = {"sampling.temperature": "temperature", "sampling.top_p": "top_p"}
"columns of a sampling that may be unknown -> the parameter"


def _unknown_parameter(
    old: sqlite3.Connection, new: sqlite3.Connection, values: dict[str, object], name: str
) -> dict[str, object]:
    """Return the values of a sampling with one parameter not known, so that the answers under it
    are kept.

    Its key changes with it, unless another sampling has that key already.
    """
    parameter = PARAMETERS[name]
    left = {parameter, *str(values["server"]).split(",")}
    changed = {
        parameter: getattr(Sampling(), parameter),
        "server": ",".join([*(other for other in MAY_BE_LEFT if other in left), NOT_STATED]),
    }
    names = [field.name for field in fields(Sampling)]
    described = {**values, **changed}
    key = Sampling(**{name: described[name] for name in names if name in described}).key
    is_taken = any(
        connection.execute("select 1 from sampling where key = ?", (key,)).fetchone()
        for connection in (old, new)
    )
    return changed if is_taken else {**changed, "key": key}


def _rows(
    old: sqlite3.Connection, table: str, listed: str, found: Rescued
) -> Iterator[tuple[object, ...]]:
    for order in ("", " order by rowid desc"):
        try:
            yield from old.execute(f'select {listed} from "{table}"{order}')
            return
        except sqlite3.Error as error:
            if "no such column" in str(error):  # a table without rowids is read from one end alone
                return
            found.lost[table] = str(error)


def damage(path: Path) -> str:
    """Return what is damaged in a store, in a few words; "" where nothing is found."""
    try:
        with closing(_opened(path)) as connection:
            first = str(connection.execute("pragma integrity_check(1)").fetchone()[0])
            if first != "ok":
                return " ".join(first.split())
            if row := connection.execute("pragma foreign_key_check").fetchone():
                return f"a row of {row[0]} is about a row of {row[2]} that is not there"
            if wrong := wrong_value(connection):
                return wrong
            connection.text_factory = bytes.decode
            for (table,) in connection.execute(
                "select name from sqlite_schema where type = 'table'"
            ).fetchall():
                for _ in connection.execute(f'select * from "{table}"'):
                    pass
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)
    return ""


def blamed(error: Exception, path: Path) -> str:
    """Return a sentence about a store whose contents led to an error; "" where the error is the
    program's own.
    """
    frames = traceback.extract_tb(error.__traceback__)
    read_there = bool(frames) and Path(frames[-1].filename).is_relative_to(
        Path(__file__).parents[1]
    )
    shaped = isinstance(
        error,
        KeyError
        | ValueError
        | TypeError
        | IndexError
        | AttributeError
        | OverflowError
        | MemoryError,
    )
    if not (isinstance(error, sqlite3.Error) or (shaped and (read_there or damage(path)))):
        return ""
    found = damage(path) or f"it holds what no workbench writes: {type(error).__name__}: {error}"
    return (
        f"{path}: the store is damaged ({found}). Save what can be read: workbench doctor {path} "
        "--rescue NEW "
        f"(${TRACEBACK}=1 shows where it was met)"
    )


TRACEBACK = "WORKBENCH_TRACEBACK"
"environment variable: an error in a damaged store ends in a traceback"
