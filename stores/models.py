"""Models, as every table that holds what a model made names them."""

from __future__ import annotations

import sqlite3

from stores.base import now
from workbench.domain.responses import ModelCard


def model_id(connection: sqlite3.Connection, card: ModelCard) -> int:
    """Return the rowid of a model, inserting one that is new. Call inside a transaction."""
    connection.execute(
        "insert into model (key, name, revision, backend, dtype, chat_format, first_seen) "
        "values (?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing",
        (card.key, card.name, card.revision, card.backend, card.dtype, card.chat_format, now()),
    )
    return int(connection.execute("select id from model where key = ?", (card.key,)).fetchone()[0])
