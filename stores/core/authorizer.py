"""Keeps annotators blind by restricting what their connection to a store may read and write.

Blindness does not depend on the queries of a screen. The connection has an authorizer, which SQLite calls for every
column that a statement reads: labels and remarks are readable only through views of this person's own, and the source
of a text (model, template, prompt, classifier) is not readable at all. A query that asks for it is refused before it
runs. Everything that is not listed as readable is hidden, including tables of later versions.

SQLite passes the name of the reading view to the authorizer, but treats the name of a common table expression the same
way: `with my_reading as (select label from reading) …` would pass as the view. So the views get new random names for
each connection, and the schema, which contains the names, is hidden.

Permissions depend on the task: see `stores.core.permissions`.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial


@dataclass(frozen=True, slots=True)
class Permissions:
    """The permissions of one person in a store."""

    views: Mapping[str, str]
    "name -> query: temporary views of the person's own part of hidden tables"
    readable: Mapping[str, frozenset[str] | None]
    "table -> readable columns; None: all. The empty name stands for no column, as in `count(*)`"
    inserted: frozenset[str]
    "tables that accept new rows"
    updated: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    "table -> columns that may be changed; None: all"
    deleted: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    "table -> condition on `new` under which a row is refused"


def restrict(connection: sqlite3.Connection, permissions: Permissions) -> None:
    """Restrict a connection to the permissions of one person, as long as it is open."""
    secret = secrets.token_hex(8)
    for name, body in permissions.views.items():
        connection.execute(f"create temp view {name}_{secret} as {body}")
        connection.execute(f"create temp view {name} as select * from {name}_{secret}")
    for table, condition in permissions.refused.items():
        connection.execute(
            f"create temp trigger {table}_{secret} before insert on main.{table} when {condition} "
            "begin select raise(abort, 'not authorized: only one''s own may be written'); end"
        )
    connection.commit()
    names = frozenset(f"{name}_{secret}" for name in (*permissions.views, *permissions.refused))
    connection.set_authorizer(partial(_authorize, permissions, names))


def _authorize(
    permissions: Permissions,
    own: frozenset[str],
    action: int,
    first: str | None,
    second: str | None,
    _database: str | None,
    view: str | None,
) -> int:
    """Decide whether a statement may perform an action: `first` is a table, `second` a column."""
    allowed = False
    if action == sqlite3.SQLITE_READ:
        allowed = (
            first == "identity"
            or view in own
            or first in own
            or first in permissions.views
            or _reads(permissions, first, second)
        )
    elif action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION):
        allowed = True
    elif action == sqlite3.SQLITE_INSERT:
        allowed = first in permissions.inserted
    elif action == sqlite3.SQLITE_UPDATE:
        columns = permissions.updated.get(first or "", frozenset())
        allowed = columns is None or second in columns
    elif action == sqlite3.SQLITE_DELETE:
        allowed = first in permissions.deleted
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _reads(permissions: Permissions, table: str | None, column: str | None) -> bool:
    columns = permissions.readable.get(table or "", frozenset())
    return columns is None or column in columns or (column == "" and table in permissions.readable)
