"""Outputs with a thought, and the answer after it, which is the part that is read (see the view `given_answer`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from stores.core.texts import text_ids
from workbench.domain.thinking import split

CUT_OFF = "cut off in thought"
"why an output has no answer"
ANSWER_ID = "iif(h.text_id is null, r.text_id, h.answer_id)"
"""SQL for the rowid of a response's answer, null if it has none, given `r` and `HELD`; if outputs without an answer do
not matter, join the view `given_answer` instead"""
HELD = "left join thought h on h.text_id = r.text_id"


def add_thoughts(connection: sqlite3.Connection, outputs: Mapping[str, int]) -> None:
    """Record which of these outputs (text -> rowid) have a thought. Call inside the transaction that inserts them."""
    found = {rowid: output.answer for text, rowid in outputs.items() if (output := split(text)).answer != text}
    ids = text_ids(connection, (answer for answer in found.values() if answer is not None))
    connection.executemany(
        "insert into thought (text_id, answer_id) values (?, ?) on conflict do nothing",
        ((rowid, None if answer is None else ids[answer]) for rowid, answer in found.items()),
    )
