"""The record of edits: a statement before and after each change, the person, and the change that it undoes."""

from __future__ import annotations

import secrets
import sqlite3

from stores.core.base import now_after
from stores.runs.snapshots import snapshot
from workbench.domain.statements import Statement


def record(
    connection: sqlite3.Connection,
    instrument_id: int,
    batch: bytes,
    ref: str,
    person: str,
    act: str,
    before: Statement | None,
    after: Statement | None,
    undoes: bytes | None = None,
) -> None:
    """Append a change. Call inside its transaction; `ref` is the statement's ref at that time."""
    connection.execute(
        "insert into edit (uid, batch, instrument_id, ref, person, act, before, after, undoes, at) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            secrets.token_bytes(16),
            batch,
            instrument_id,
            ref,
            person,
            act,
            snapshot(before) if before else None,
            snapshot(after) if after else None,
            undoes,
            time_of_edit(connection),
        ),
    )


def time_of_edit(connection: sqlite3.Connection) -> str:
    """Return the time, or a moment after the last edit if the clock went back."""
    last = connection.execute("select at from edit order by id desc limit 1").fetchone()
    return now_after(last[0] if last else None)
