"""Finds the texts of another store or a file in this store, and copies queues by their texts."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from stores.annotation.annotation_items import unit_of
from stores.annotation.codebooks import codebook_from_json, save_codebook, version_of
from stores.annotation.queues import LEASE_S, Placed, insert_queue
from stores.core.texts import restored, text_ids
from workbench.domain.annotations import Codebook, LabelEvent, Purpose
from workbench.domain.keys import text_key
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class ItemCopy:
    """An item of a queue, identified by its texts."""

    response: str
    statement: str
    instrument: str
    ref: str
    variant: str
    needed: int
    stratum: str
    attention: str | None
    inclusion: float | None
    answers: int | None


@dataclass(frozen=True, slots=True)
class QueueCopy:
    """A queue in a form that another store can import."""

    uid: bytes
    name: str
    purpose: str
    spec: str
    lease_s: int
    codebook: Codebook
    items: tuple[ItemCopy, ...]


def queue_copies(connection: sqlite3.Connection) -> tuple[QueueCopy, ...]:
    """Return every queue with its items by their texts, for import into another store."""
    rows = connection.execute(
        "select q.id, q.uid, q.name, q.purpose, q.spec, q.lease_s, c.body from queue q "
        "join codebook c on c.id = q.codebook_id order by q.id"
    ).fetchall()
    return tuple(
        QueueCopy(uid, name, purpose, spec, lease_s, codebook_from_json(body), _items(connection, queue))
        for queue, uid, name, purpose, spec, lease_s, body in rows
    )


def _items(connection: sqlite3.Connection, queue: int) -> tuple[ItemCopy, ...]:
    return tuple(
        ItemCopy(
            restored(body),
            restored(statement),
            instrument,
            ref,
            str(VariantId(VariantKind(kind), ordinal)),
            *more,
        )
        for body, statement, instrument, ref, kind, ordinal, *more in connection.execute(_QUEUE_ITEMS, {"queue": queue})
    )


def add_queue(connection: sqlite3.Connection, copy: QueueCopy) -> str | None:
    """Create a queue from another store and return its name here; None if it exists, or none of its texts are here.

    Inclusion probabilities describe the whole draw. They are copied only if all items of the queue are here.
    """
    if connection.execute("select 1 from queue where uid = ?", (copy.uid,)).fetchone():
        return None
    placed = [(place, item) for item in copy.items if (place := place_of(connection, item)) is not None]
    if not any(item.attention is None for _, item in placed):
        return None
    name, number = copy.name, 2
    while connection.execute("select 1 from queue where name = ?", (name,)).fetchone():
        name, number = f"{copy.name}-{number}", number + 1
    whole = len(placed) == len(copy.items)
    items = {
        unit_of(connection, *place): Placed(
            item.stratum,
            item.needed,
            item.attention,
            item.inclusion if whole else None,
            item.answers if whole else None,
        )
        for place, item in placed
    }
    codebook = (save_codebook(connection, copy.codebook), copy.codebook.name)
    insert_queue(connection, name, codebook, copy.purpose, copy.spec, copy.lease_s, items, uid=copy.uid)
    return name


def adopt(
    connection: sqlite3.Connection, name: str, purpose: Purpose, loose: Mapping[tuple[str, int], set[str]]
) -> None:
    """Put labelled items without a queue into a new one; each needs as many people as have labelled it."""
    if not loose:
        return
    if connection.execute("select 1 from queue where name = ?", (name,)).fetchone():
        raise UsageError(f"a queue is named {name!r} already; choose another name")
    codebooks = {codebook for codebook, _ in loose}
    if len(codebooks) > 1:
        raise UsageError(f"these labels belong to several codebooks: {', '.join(sorted(codebooks))}; import them apart")
    (codebook,) = codebooks
    items = {unit: Placed("imported", len(who)) for (_, unit), who in loose.items()}
    made = (version_of(connection, codebook), codebook)
    insert_queue(connection, name, made, purpose.value, '{"imported": true}', LEASE_S, items)


def place_of(connection: sqlite3.Connection, event: LabelEvent | ItemCopy) -> tuple[int, int] | None:
    """Return (text, wording) of an event or item, or None if this store lacks them."""
    row = connection.execute(_WORDING, _named(event)).fetchone()
    if row is None:
        return None
    for response in (event.response, unescaped(event.response)):
        text = connection.execute("select id from text where key = ?", (text_key(response),)).fetchone()
        if text is not None:
            return int(text[0]), int(row[0])
    if event.attention:
        return text_ids(connection, [event.response])[event.response], int(row[0])
    return None


def unescaped(text: str) -> str:
    """Return a text with the characters that CSV files escape because they cannot contain them: NUL and half a
    surrogate pair.
    """
    return _ESCAPED.sub(lambda found: chr(int(found[0][2:], 16)), text)


def _named(event: LabelEvent | ItemCopy) -> dict[str, object]:
    try:
        variant = VariantId.parse(event.variant)
    except ValueError:
        variant = VariantId(VariantKind.ORIGINAL)
    return {
        "statement": text_key(event.statement),
        "instrument": event.instrument,
        "ref": event.ref,
        "kind": variant.kind.value,
        "ordinal": variant.ordinal,
    }


_ESCAPED = re.compile(r"\\x00|\\ud[89a-f][0-9a-f]{2}")

_WORDING = """
    select w.id from wording w
    join text y on y.id = w.text_id and y.key = :statement
    join statement s on s.id = w.statement_id
    join instrument i on i.id = s.instrument_id
    order by i.name = :instrument and s.ref = :ref and w.kind = :kind and w.ordinal = :ordinal desc,
        s.current desc, w.id desc limit 1
"""
"the wording with this text, preferably the named one"

_QUEUE_ITEMS = """
    select x.body, y.body, n.name, s.ref, w.kind, w.ordinal, i.needed, i.stratum, i.attention,
        i.inclusion, i.answers
    from queue_item i
    join unit u on u.id = i.unit_id
    join text x on x.id = u.text_id
    join wording w on w.id = u.wording_id
    join text y on y.id = w.text_id
    join statement s on s.id = w.statement_id
    join instrument n on n.id = s.instrument_id
    where i.queue_id = :queue order by i.ordinal
"""
