"""Identifies the content of a store: a hash of its rows, and the time of its newest event.

A copy of a store, a store after `vacuum`, and a store whose answers were read again have the same hash: derived and
internal data are left out (readings of rules, embeddings, leases, heartbeats of jobs).
"""

from __future__ import annotations

import hashlib
import sqlite3

DERIVED = frozenset({"embedding", "entailment", "review_lease", "server_batch", "_sqlite_migrations", "identity"})
"tables that can be recomputed or are internal to the program"
LEFT_OUT = {
    "job": frozenset(
        {"heartbeat", "beats", "progress", "stop_requested", "pause_requested", "hurried", "hidden", "mark", "lane"}
    ),
    "attempt": frozenset({"host", "pid", "place"}),
}
"table -> columns about the state of machines, not about content"
WITHOUT_RULES = {
    "reading": "where reader_id not in (select id from reader where kind = 'rule')",
    "reader": "where kind <> 'rule'",
    "unit": "where id in (select unit_id from reading where reader_id not in (select id from reader where "
    "kind = 'rule')) or id in (select unit_id from remark)",
}
"readings of rules can be recomputed, which happens whenever figures are shown"
AT_ONCE = 10_000
"rows hashed in one step; the hash does not depend on it"
AT = ("at", "created_at", "finished_at", "started_at", "ended_at", "imported_at", "first_seen")
"columns with the time of an event"


def content_hash(connection: sqlite3.Connection) -> str:
    """Return the SHA-256 of all rows, table by table and in the order of their keys, as hexadecimal digits."""
    digest = hashlib.sha256()
    for table in _tables(connection):
        columns = [name for name in _columns(connection, table) if name not in LEFT_OUT.get(table, ())]
        listed = ", ".join(f'"{name}"' for name in columns)
        digest.update(f"{table}({listed})\n".encode())
        order = ", ".join(str(place + 1) for place in range(len(columns)))
        where = WITHOUT_RULES.get(table, "")
        rows = connection.execute(f'select {listed} from "{table}" {where} order by {order}')
        while some := rows.fetchmany(AT_ONCE):
            digest.update("".join(map(repr, some)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def last_event(connection: sqlite3.Connection) -> str:
    """Return the time of the newest event, in UTC; empty for a store without events."""
    newest = ""
    for table in _tables(connection):
        where = WITHOUT_RULES.get(table, "")
        for name in _columns(connection, table):
            if name in AT:
                row = connection.execute(f'select max("{name}") from "{table}" {where}').fetchone()
                newest = max(newest, row[0] or "")
    return newest


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name"
    )
    return [name for (name,) in rows if name not in DERIVED]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
