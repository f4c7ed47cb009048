"""The permissions of annotators by task.

The tasks are labelling items of a queue, and labelling statements for policy issues. The authorizer
enforces the permissions on a connection.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

_STATEMENTS: dict[str, frozenset[str] | None] = {
    "text": None,
    "wording": None,
    "statement": None,
    "instrument": None,
}


def at_a_queue(me: int, queue: int, codebook: int) -> Permissions:
    """Return the permissions of a person (rowid of a reader) at a queue.

    `codebook` is the rowid of any version of its codebook. Labels under all versions, later ones
    included, are the person's own.
    """
    codebooks = (
        "select n.id from main.codebook n join main.codebook o on o.name = n.name where "
        f"o.id = {int(codebook)}"
    )
    return Permissions(
        views={
            name: body.format(me=me, queue=queue, codebooks=codebooks)
            for name, body in _QUEUE_VIEWS.items()
        },
        readable=_STATEMENTS
        | {
            "codebook": None,
            "codebook_edit": None,
            "assignment": None,
            "unit": frozenset({"id", "text_id", "wording_id"}),
            "reader": frozenset({"id"}),  # SQLite itself reads it, for the foreign key
            "queue": frozenset({"id", "name", "codebook_id", "purpose", "lease_s"}),
            "queue_item": frozenset(
                {"queue_id", "unit_id", "ordinal", "needed", "done", "priority"}
            ),
        },
        inserted=frozenset({"reading", "remark", "assignment"}),
        updated={"assignment": None, "queue_item": frozenset({"done"})},
        deleted=frozenset({"assignment"}),
    )


def over_issues(me: int, imported: Iterable[int]) -> Permissions:
    """Return the permissions of a person who labels statements for policy issues.

    `imported` are the readers of labels that were imported under the same person's name. They count
    as the person's own.
    """
    own_readers = ", ".join(str(int(reader)) for reader in (me, *imported))
    is_withdrawal = f"(new.label is null and new.reader_id in ({own_readers}))"
    return Permissions(
        views={
            "my_issue_label": "select statement_id, issue, reader_id, revision, label, at from "
            "main.issue_label "
            f"where reader_id in ({own_readers})"
        },
        readable=_STATEMENTS | {"issue": None, "reader": frozenset({"id"})},
        inserted=frozenset({"issue_label"}),
        refused={"issue_label": f"new.reader_id is not {int(me)} and not {is_withdrawal}"},
    )


_QUEUE_VIEWS = {
    "my_reading": "select unit_id, label, reason, confidence, elapsed_ms, at, uid from "
    "main.reading "
    "where reader_id = {me} and codebook_id in ({codebooks}) and uid is not null",
    "my_revision": "select unit_id, revision from main.reading where reader_id = {me}",
    "my_remark": "select unit_id, flagged, note, at, uid from main.remark where reader_id = {me}",
    "attention_item": "select unit_id, ordinal from main.queue_item where queue_id = {queue} and "
    "attention is not null",
    "my_attention": "select i.unit_id, i.attention = r.label as right from main.queue_item i "
    "join main.reading r on r.unit_id = i.unit_id and r.reader_id = {me} and r.codebook_id in "
    "({codebooks}) "
    "where i.queue_id = {queue} and i.attention is not null and r.label is not null and r.uid is "
    "not null and "
    "not exists (select 1 from main.reading n where n.unit_id = r.unit_id and +n.reader_id = {me} "
    "and n.codebook_id in ({codebooks}) and n.uid is not null and (n.at, n.uid) > (r.at, r.uid))",
}


@dataclass(frozen=True, slots=True)
class Permissions:
    """The permissions of one person in a store."""

    views: Mapping[str, str]
    "name -> query of a temporary view of the person's own part of hidden tables"
    readable: Mapping[str, frozenset[str] | None]
    """table -> readable columns, or None for all. The empty name stands for no column, as in
    `count(*)`"""
    inserted: frozenset[str]
    "tables that accept new rows"
    updated: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    "table -> columns that may be changed, or None for all"
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
    """Decide whether a statement may perform an action.

    `first` is a table and `second` a column.
    """
    allowed = False
    if action == sqlite3.SQLITE_READ:
        allowed = (
            first == "identity"
            or view in own
            or first in own
            or first in permissions.views
            or _may_read(permissions, first, second)
        )
    elif action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION):
        allowed = True
    elif action == sqlite3.SQLITE_PRAGMA:
        # Of `Store.write`
        allowed = first == "busy_timeout" or (first == "user_version" and second is None)
    elif action == sqlite3.SQLITE_INSERT:
        allowed = first in permissions.inserted
    elif action == sqlite3.SQLITE_UPDATE:
        columns = permissions.updated.get(first or "", frozenset())
        allowed = columns is None or second in columns
    elif action == sqlite3.SQLITE_DELETE:
        allowed = first in permissions.deleted
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _may_read(permissions: Permissions, table: str | None, column: str | None) -> bool:
    columns = permissions.readable.get(table or "", frozenset())
    return columns is None or column in columns or (column == "" and table in permissions.readable)
