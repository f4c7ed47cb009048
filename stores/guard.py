"""What keeps an annotator blind: what their connection to a store may read and write.

Blindness is not left to the queries of a screen. The connection has an authorizer, which SQLite asks about every column
that a statement reads: labels and remarks are readable only through views that hold this person's own, and what says
who wrote a text (model, template, prompt, classifier) is not readable at all. A query that asks for it is refused
before it runs, whoever wrote it. What is not listed as readable is hidden, tables of later versions too.

SQLite tells the authorizer the name of the view that reads, and takes the name of a common table expression for one:
`with my_reading as (select label from reading) …` would pass for the view. So those that may read are named anew, by
chance, for each connection, and the schema, which has their names, is hidden.
"""

from __future__ import annotations

import secrets
import sqlite3
from functools import partial

OWN_VIEWS = ("my_reading", "my_revision", "my_remark", "my_attention", "attention_item")
"temporary views through which a person's own part of what is hidden may be read"
READABLE: dict[str, frozenset[str] | None] = {
    "text": None,
    "wording": None,
    "statement": None,
    "instrument": None,
    "codebook": None,
    "assignment": None,
    "unit": frozenset({"id", "text_id", "wording_id"}),
    "reader": frozenset({"id"}),  # SQLite itself looks at it, for the foreign key
    "queue": frozenset({"id", "name", "codebook_id", "purpose", "lease_s"}),
    "queue_item": frozenset({"queue_id", "unit_id", "ordinal", "needed", "done", "priority"}),
}
"table -> columns that may be read; None: all of it. The empty name stands for none, as in `count(*)`"
WRITABLE = {"reading", "remark", "assignment", "queue_item"}


def guard(connection: sqlite3.Connection, me: int, queue: int, codebooks: str) -> None:
    """Leave a connection to one person at one queue; `codebooks` are the rowids of the versions of its codebook."""
    connection.set_authorizer(partial(_authorize, _views(connection, me, queue, codebooks)))


def _views(connection: sqlite3.Connection, me: int, queue: int, codebooks: str) -> frozenset[str]:
    """Make a person's views, each over one of a secret name that may read what is hidden; return the secret names."""
    secret = secrets.token_hex(8)
    for name in OWN_VIEWS:
        body = _VIEWS[name].format(me=me, queue=queue, codebooks=codebooks)
        connection.execute(f"create temp view {name}_{secret} as {body}")
        connection.execute(f"create temp view {name} as select * from {name}_{secret}")
    connection.commit()
    return frozenset(f"{name}_{secret}" for name in OWN_VIEWS)


def _authorize(
    guards: frozenset[str], action: int, first: str | None, second: str | None, _database: str | None, view: str | None
) -> int:
    """Answer SQLite's question whether a statement may do something: `first` is a table, `second` a column."""
    if action == sqlite3.SQLITE_READ:
        if view in guards or first in guards or first in OWN_VIEWS:
            return sqlite3.SQLITE_OK
        columns = READABLE.get(first or "", frozenset())
        readable = columns is None or second in columns or (second == "" and first in READABLE)
        return sqlite3.SQLITE_OK if readable else sqlite3.SQLITE_DENY
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION):
        return sqlite3.SQLITE_OK
    if action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE) and first in WRITABLE:
        allowed = action == sqlite3.SQLITE_INSERT or (first, second) in _UPDATED or first == "assignment"
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_DELETE and first == "assignment":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


_UPDATED = {("queue_item", "done")}

_VIEWS = {
    "my_reading": "select unit_id, label, reason, confidence, elapsed_ms, at, uid from main.reading "
    "where reader_id = {me} and codebook_id in ({codebooks}) and uid is not null",
    "my_revision": "select unit_id, revision from main.reading where reader_id = {me}",
    "my_remark": "select unit_id, flagged, note, at, uid from main.remark where reader_id = {me}",
    "attention_item": "select unit_id, ordinal from main.queue_item where queue_id = {queue} and attention is not null",
    "my_attention": "select i.unit_id, i.attention = r.label as right from main.queue_item i "
    "join main.reading r on r.unit_id = i.unit_id and r.reader_id = {me} and r.codebook_id in ({codebooks}) "
    "where i.queue_id = {queue} and i.attention is not null and r.label is not null and r.uid is not null and "
    "not exists (select 1 from main.reading n where n.unit_id = r.unit_id and +n.reader_id = {me} "
    "and n.codebook_id in ({codebooks}) and n.uid is not null and (n.at, n.uid) > (r.at, r.uid))",
}
