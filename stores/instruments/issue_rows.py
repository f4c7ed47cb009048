"""Rows of policy-issue labels and of their statements."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from stores.core.base import now_after
from stores.core.texts import restored
from workbench.domain.issue_gold import FEWEST


@dataclass(frozen=True, slots=True)
class Original:
    """A current statement as shown to annotators."""

    id: int
    "rowid of the statement's version"
    text_id: int | None
    ref: str
    text: str
    "the original in the instrument's language if available, else in another; empty if there is none"
    country: str | None
    topic: str | None


def originals(connection: sqlite3.Connection, instrument: int, statement: int | None = None) -> tuple[Original, ...]:
    """Return the current statements of an instrument in its order, or one of them."""
    rows = connection.execute(_ORIGINALS, {"instrument": instrument, "statement": statement}).fetchall()
    return tuple(
        Original(rowid, text_id, ref, restored(body) if text_id is not None else "", country, topic)
        for rowid, text_id, ref, body, country, topic in rows
    )


def newest(connection: sqlite3.Connection, statement: int, issue: str, reader: int) -> int | None:
    """Return a reader's current label of a cell; None if there is none or it was withdrawn."""
    row = connection.execute(
        "select label from issue_label where statement_id = ? and issue = ? and reader_id = ? "
        "order by revision desc limit 1",
        (statement, issue, reader),
    ).fetchone()
    return row[0] if row else None


def append(connection: sqlite3.Connection, statement: int, issue: str, reader: int, label: int | None) -> None:
    """Append a revision, later than all other labels of the cell. Call inside a transaction."""
    revision = connection.execute(
        "select coalesce(max(revision), 0) + 1 from issue_label where statement_id = ? and issue = ? and reader_id = ?",
        (statement, issue, reader),
    ).fetchone()[0]
    last = connection.execute(
        "select max(at) from issue_label where statement_id = ? and issue = ?", (statement, issue)
    ).fetchone()[0]
    connection.execute(
        "insert into issue_label (statement_id, issue, reader_id, revision, label, at) values (?, ?, ?, ?, ?, ?)",
        (statement, issue, reader, revision, label, now_after(last)),
    )


_ORIGINALS = """
    select s.id, x.id, s.ref, x.body, s.country, s.topic
    from statement s
    join instrument i on i.id = s.instrument_id
    left join wording w on w.id = coalesce(
        (select o.id from wording o where o.statement_id = s.id and o.kind = 'original' and o.language = i.language),
        (select min(o.id) from wording o where o.statement_id = s.id and o.kind = 'original')
    )
    left join text x on x.id = w.text_id
    where s.instrument_id = :instrument and s.current = 1 and (:statement is null or s.id = :statement)
    order by s.ordinal, s.id
"""


def fewest_of(connection: sqlite3.Connection, instrument_id: int) -> int:
    """Return how many people's labels a gold label of an instrument needs: the latest choice, by default two."""
    row = connection.execute(
        "select fewest from gold_choice where instrument_id = ? order by id desc limit 1", (instrument_id,)
    ).fetchone()
    return int(row[0]) if row is not None else FEWEST
