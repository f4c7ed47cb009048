"""Models, as every table that holds what a model made names them."""

from __future__ import annotations

import sqlite3

from stores.base import now
from workbench.domain.responses import ModelCard


def model_id(connection: sqlite3.Connection, card: ModelCard) -> int:
    """Return the rowid of a model, inserting one that is new. Call inside a transaction."""
    connection.execute(
        "insert into model (key, name, revision, backend, dtype, chat_format, encoding, first_seen) "
        "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing",
        (card.key, card.name, card.revision, card.backend, card.dtype, card.chat_format, card.encoding, now()),
    )
    return int(connection.execute("select id from model where key = ?", (card.key,)).fetchone()[0])


def newest_model(
    connection: sqlite3.Connection,
    name: str,
    card: ModelCard | None,
    dtype: str,
    chat_format: str,
    until: str = "",
) -> int | None:
    """Return the rowid of exactly this model; without a card, of the newest of that name that a job asked so, and that
    was known at the time `until` where one is given.

    That is what can be known before a model is loaded: a plan names a dtype and a chat format, or leaves them to the
    model, and the same name loaded otherwise is another model, which has other answers.
    """
    if card is not None:
        row = connection.execute("select id from model where key = ?", (card.key,)).fetchone()
    else:
        values = {"model": name, "dtype": dtype, "chat_format": chat_format, "until": until}
        row = connection.execute(_NEWEST, values).fetchone()
    return None if row is None else int(row[0])


_NEWEST = """
    with alike as materialized (
        select a.id from attempt a join job j on j.id = a.job_id
        where coalesce(json_extract(j.spec, '$.chat_format'), '') = :chat_format
            and (:dtype <> '' or coalesce(json_extract(j.spec, '$.dtype'), '') = '')
    )
    select m.id from model m
    where m.name = :model and (:dtype = '' or m.dtype = :dtype) and (:until = '' or m.first_seen <= :until)
        and (:until <> '' or m.backend <> 'transformers' or m.encoding <> 'unknown')
        and exists (select 1 from draw d where d.model_id = m.id and d.attempt_id in (select id from alike))
    order by m.id desc limit 1
"""  # specifications of older jobs have neither field; nothing is added to answers of which the encoding is unknown
