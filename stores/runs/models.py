"""Models, as referenced by all tables with models' results."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace

from stores.core.base import now
from stores.core.sqlite import table
from workbench.domain.names import parted, placeless
from workbench.domain.responses import ModelCard


def model_id(connection: sqlite3.Connection, card: ModelCard) -> int:
    """Return the rowid of a model, inserting a new one. Call inside a transaction."""
    return int(table(connection, "model").lookup({"key": card.key}, asdict(card) | {"first_seen": now()}))


def forget_places(connection: sqlite3.Connection, name: str) -> int:
    """Rewrite paths that earlier versions took for the version of a served model, see `placeless`; return the number of
    models. No two become one, as different paths have different digests, so no runs are merged or split. Call inside a
    transaction.
    """
    fields = "name, revision, backend, dtype, chat_format, encoding, snapshot"
    changed = 0
    rows = connection.execute(f"select id, {fields} from model where name = ? and backend = 'openai'", (name,))
    for id_, *values in rows.fetchall():
        card = ModelCard(*values)
        new = replace(card, revision=placeless(card.revision), snapshot=placeless(card.snapshot))
        if new != card:
            changed += connection.execute(
                "update or ignore model set key = ?, revision = ?, snapshot = ? where id = ?",
                (new.key, new.revision, new.snapshot, id_),
            ).rowcount
    return changed


def last_snapshot(connection: sqlite3.Connection, card: ModelCard, job_id: int) -> tuple[str, bool] | None:
    """Return the snapshot of a served model that answered last, and whether it did so in this job, which takes
    precedence.

    None if no snapshot has answered.
    """
    values = _but_snapshot(card) | {"job": job_id}
    row = connection.execute(_LAST, values).fetchone()
    return None if row is None else (str(row[0]), bool(row[1]))


def answered_by_others(
    connection: sqlite3.Connection, card: ModelCard, sampling_key: bytes, attempt_id: int
) -> list[tuple[bytes, int, int]]:
    """Return (prompt's key, rowid of the model, number of answers) for answers of other snapshots of a served model in
    the job of an attempt.
    """
    values = _but_snapshot(card) | {"snapshot": card.snapshot, "sampling": sampling_key, "attempt": attempt_id}
    return connection.execute(_BY_OTHERS, values).fetchall()


def models_meant(connection: sqlite3.Connection, name: str) -> frozenset[int]:
    """Return the rowids of the models that a name means.

    `NAME@REVISION`: models of a hub id that a job asked by this name, or whose commit begins with the revision; any
    other name: models of that name.
    """
    base, revision = parted(name)
    values = {"model": name, "base": base, "revision": revision}
    return frozenset(row[0] for row in connection.execute(_MEANT, values))


def _but_snapshot(card: ModelCard) -> dict[str, object]:
    fields: dict[str, object] = {"name": card.name, "revision": card.revision, "backend": card.backend}
    return fields | {"dtype": card.dtype, "chat_format": card.chat_format, "encoding": card.encoding}


def newest_model(
    connection: sqlite3.Connection,
    name: str,
    card: ModelCard | None,
    dtype: str,
    chat_format: str,
    until: str = "",
) -> int | None:
    """Return the rowid of exactly this model; without a card, of the newest of that name that a job asked with these
    settings and, if `until` is given, that was known at that time.

    This is all that is known before a model is loaded: a plan names a dtype and a chat format, or uses the defaults,
    and the same name with other settings is another model with other answers.
    """
    if card is not None:
        row = connection.execute("select id from model where key = ?", (card.key,)).fetchone()
    else:
        values = {"model": name, "dtype": dtype, "chat_format": chat_format, "until": until}
        values |= dict(zip(("base", "revision"), parted(name), strict=True))
        row = connection.execute(_NEWEST, values).fetchone()
    return None if row is None else int(row[0])


_ALIKE = """
    m.name = :name and m.revision = :revision and m.backend = :backend and m.dtype = :dtype
        and m.chat_format = :chat_format and m.encoding = :encoding
"""

_LAST = f"""
    select m.snapshot,
        exists (select 1 from draw d join attempt a on a.id = d.attempt_id where d.model_id = m.id and a.job_id = :job)
        or exists (
            select 1 from draft d join attempt a on a.id = d.attempt_id where d.model_id = m.id and a.job_id = :job
        ) as here,
        max(
            coalesce((select at from draw where id = (select max(d.id) from draw d where d.model_id = m.id)), ''),
            coalesce((select max(d.at) from draft d where d.model_id = m.id), '')
        ) as last
    from model m where {_ALIKE} and last <> '' order by here desc, last desc, m.id desc limit 1
"""

_BY_OTHERS = f"""
    select p.key, d.model_id, sum(d.n - d.failed)
    from draw d join prompt p on p.id = d.prompt_id join model m on m.id = d.model_id
    where {_ALIKE} and m.snapshot <> :snapshot and d.sampling_id = (select id from sampling where key = :sampling)
        and d.attempt_id in (
            select a.id from attempt a where a.job_id = (select b.job_id from attempt b where b.id = :attempt)
        )
    group by d.prompt_id, d.model_id
"""

_MEANT = """
    select m.id from model m
    where m.name = :model or (m.name = :base and :revision <> '' and (
        substr(m.revision, 1, length(:revision)) = :revision or exists (
            select 1 from draw d where d.model_id = m.id and d.attempt_id in (
                select a.id from attempt a join job j on j.id = a.job_id where json_extract(j.spec, '$.model') = :model
            )
        )
    ))
"""

_NEWEST = """
    with alike as materialized (
        select a.id from attempt a join job j on j.id = a.job_id
        where coalesce(json_extract(j.spec, '$.chat_format'), '') = :chat_format
            and (:dtype <> '' or coalesce(json_extract(j.spec, '$.dtype'), '') = '')
    )
    select m.id from model m
    where (m.name = :model or m.name = :base)
        and (:revision = '' or m.name = :model or m.revision = :revision or exists (
            select 1 from draw d where d.model_id = m.id and d.attempt_id in (
                select a.id from attempt a join job j on j.id = a.job_id where json_extract(j.spec, '$.model') = :model
            )
        ))
        and (:until <> '' or m.backend <> 'transformers' or m.encoding <> 'unknown')
        and (:dtype = '' or m.dtype = :dtype or m.dtype like :dtype || '+%') and (:until = '' or m.first_seen <= :until)
        and exists (select 1 from draw d where d.model_id = m.id and d.attempt_id in (select id from alike))
    order by (select max(d.id) from draw d where d.model_id = m.id) desc limit 1
"""  # the model that answered last, because snapshots may return; older specifications lack both fields; runs with an
# unknown encoding get no additions
