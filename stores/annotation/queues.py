"""Queues: the texts to label, the number of people for each, and the purpose."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stores.annotation.annotation_items import (
    CURRENT_LABELS,
    chosen_version,
    codebook_from_json,
    first_wording,
    save_codebook,
    unit_of,
    version_of,
)
from stores.annotation.candidates import Candidates, DesignPlace, answers, of_rows
from stores.annotation.person_steps import PACE_OF, items_per_hour
from stores.core.base import Aggregate, decode_text, now, table, text_ids
from workbench.domain.annotations import Codebook, LabelEvent, Purpose
from workbench.domain.keys import text_key
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UnknownName, UsageError

LEASE_S = 1800
"seconds for which an item shown to one person is reserved"


@dataclass(frozen=True, slots=True)
class NewItem:
    """A text to label."""

    wording_id: int
    needed: int
    "number of people who should label it"
    stratum: str
    text_id: int | None = None
    text: str = ""
    "a text that no model gave, for attention items. It is used if `text_id` is None."
    attention: str | None = None
    "the known correct label. Such an item is shown to everybody and excluded from figures."
    inclusion: float | None = None
    "inclusion probability, or None if the draw does not represent answers"
    answers: int | None = None
    "number of identical answers at the draw, or None as for `inclusion`"


class QueueEntry(NamedTuple):
    """The place of a unit in a queue, with the fields of `NewItem`."""

    stratum: str
    needed: int
    attention: str | None = None
    inclusion: float | None = None
    answers: int | None = None


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """A sampled item of a queue, not an attention item."""

    unit: int
    stratum: str
    inclusion: float | None
    answers: int | None
    done: int
    "number of people who have labelled it"
    needed: int = 1
    "number of people who should label it"

    @property
    def left(self) -> int:
        """The number of labels that are still needed."""
        return max(0, self.needed - self.done)


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and its progress."""

    id: int
    name: str
    purpose: Purpose
    codebook: Codebook
    "the current version of the codebook. The queue was drawn under the version of that time."
    codebook_id: int
    spec: Mapping[str, object]
    lease_s: int
    created_at: str
    items: int
    "number of items without attention items"
    needed: int
    "total number of labels needed"
    done: int
    "number of labels given, at most as many per item as it needs"
    finished: int
    "number of items that have all their labels"
    attention: int
    annotators: tuple[str, ...] = field(default=())


class Queues(Aggregate):
    """The methods on queues."""

    def create(
        self,
        name: str,
        purpose: Purpose,
        codebook: Codebook,
        items: Sequence[NewItem],
        spec: Mapping[str, object],
        lease_s: int = LEASE_S,
    ) -> int:
        """Write a queue in one transaction.

        Existing labels of its items count. Raises UsageError for an empty queue, a name that is
        taken, or a text that occurs twice for one statement.
        """
        if not items:
            raise UsageError(f"the queue {name!r} would be empty; nothing was made")
        with self.store.write() as connection:
            if connection.execute("select 1 from queue where name = ?", (name,)).fetchone():
                raise UsageError(f"a queue is named {name!r} already; choose another name")
            codebook_id = save_codebook(connection, codebook)
            id_by_text = text_ids(connection, (item.text for item in items if item.text_id is None))
            units = [
                unit_of(
                    connection,
                    id_by_text[item.text] if item.text_id is None else item.text_id,
                    item.wording_id,
                )
                for item in items
            ]
            if len(set(units)) < len(units):
                raise UsageError(
                    f"the queue {name!r} would hold a text twice beside one statement; nothing "
                    "was made"
                )
            place_by_unit = {
                unit: QueueEntry(
                    item.stratum, item.needed, item.attention, item.inclusion, item.answers
                )
                for unit, item in zip(units, items, strict=True)
            }
            codebook_key = (codebook_id, codebook.name)
            return insert_queue(
                connection,
                name,
                codebook_key,
                purpose.value,
                json.dumps(dict(spec)),
                lease_s,
                place_by_unit,
            )

    def list(self, purpose: Purpose | None = None) -> tuple[Queue, ...]:
        """Return the queues, the oldest first."""
        rows = self.connection.execute(
            _QUEUES, {"purpose": purpose.value if purpose else None, "name": None}
        )
        return tuple(self._queue(row) for row in rows.fetchall())

    def get(self, name: str) -> Queue:
        """Return a queue. Raises UnknownName, which lists the existing ones."""
        row = self.connection.execute(_QUEUES, {"purpose": None, "name": name}).fetchone()
        if row is None:
            available = (
                ", ".join(queue.name for queue in self.list())
                or "none; make one with: workbench sample STORE"
            )
            raise UnknownName(f"no queue is named {name!r} in this store. Available: {available}")
        return self._queue(row)

    def _queue(self, row: tuple[object, ...]) -> Queue:
        queue_id, name, purpose, body, codebook, spec, lease_s, created_at, *counts, attention = row
        items, needed, done, finished = (int(str(count)) for count in counts)
        names = self.connection.execute(_ANNOTATORS, {"queue": queue_id}).fetchall()
        return Queue(
            id=int(str(queue_id)),
            name=str(name),
            purpose=Purpose(str(purpose)),
            codebook=codebook_from_json(str(body)),
            codebook_id=int(str(codebook)),
            spec=json.loads(str(spec)),
            lease_s=int(str(lease_s)),
            created_at=str(created_at),
            items=items,
            needed=needed,
            done=done,
            finished=finished,
            attention=int(str(attention)),
            annotators=tuple(str(name_row[0]) for name_row in names),
        )

    def paces(self, name: str, least: int) -> dict[str, float]:
        """Return the labels per hour of each person in a queue, from their newest labels in it.

        A person with fewer than `least` timed labels there has no pace.
        """
        rows = self.connection.execute(_TIMES, {"name": name, "most": PACE_OF})
        times_by_person: dict[str, list[int]] = {}
        for person, elapsed_ms in rows:
            times_by_person.setdefault(person, []).append(elapsed_ms)
        paces = {
            person: items_per_hour(times_ms)
            for person, times_ms in times_by_person.items()
            if len(times_ms) >= least
        }
        return {person: per_hour for person, per_hour in paces.items() if per_hour}

    def candidates(
        self,
        audit: str,
        instrument: str | None = None,
        models: Sequence[str] = (),
        language: str | None = None,
    ) -> Candidates:
        """Return every distinct answer to every wording under every template by every model.

        The order is fixed.
        """
        return answers(self.connection, audit, instrument, models, language)

    def statements(self, instrument: str | None = None, language: str | None = None) -> Candidates:
        """Return the original wording of every current statement, as a text to label."""
        rows = self.connection.execute(
            _STATEMENTS, {"instrument": instrument, "language": language}
        )
        return of_rows(
            self.connection,
            (
                (text_id, wording_id, DesignPlace(name, ref, "original", source or name, "", ""))
                for text_id, wording_id, name, ref, source in rows
            ),
        )

    def items(self, name: str) -> tuple[DrawnItem, ...]:
        """Return the items of a queue in order, without attention items."""
        rows = self.connection.execute(
            "select i.unit_id, i.stratum, i.inclusion, i.answers, i.done, i.needed from "
            "queue_item i join queue q on q.id = i.queue_id and q.name = ? where i.attention is "
            "null order by i.ordinal",
            (name,),
        )
        return tuple(DrawnItem(*row) for row in rows)

    def labelled(self, codebook: str, items: Sequence[NewItem]) -> tuple[int, ...]:
        """Return the number of people who have labelled each of these items.

        Labels in this and in other queues count.
        """
        counts = {
            (text_id, wording_id): n_people
            for text_id, wording_id, n_people in self.connection.execute(
                _LABELLED, {"codebook": codebook}
            )
        }
        wordings = json.dumps(sorted({item.wording_id for item in items}))
        first_wordings = dict(self.connection.execute(_FIRST_WORDINGS, (wordings,)).fetchall())
        keys = [
            (item.text_id, first_wordings.get(item.wording_id, item.wording_id)) for item in items
        ]
        return tuple(counts.get(key, 0) for key in keys)

    def members(
        self, purposes: Iterable[Purpose], codebook: str
    ) -> tuple[tuple[str, str, str], ...]:
        """Return (text, instrument, ref) of every item of the queues with these purposes.

        Attention items are left out.
        """
        purposes_json = json.dumps([purpose.value for purpose in purposes])
        rows = self.connection.execute(_MEMBERS, {"purposes": purposes_json, "codebook": codebook})
        return tuple((decode_text(body), name, ref) for body, name, ref in rows)

    def prioritise(self, reader: int) -> int:
        """Sort open items of response queues by a classifier's confidence, lowest first.

        Returns the number of items that it has read. Test sets keep their random order, so that the
        labelled part of an unfinished one represents the rest.
        """
        with self.store.write() as connection:
            return connection.execute(_PRIORITISE, {"reader": reader}).rowcount


def insert_queue(
    connection: sqlite3.Connection,
    name: str,
    codebook: tuple[int, str],
    purpose: str,
    spec: str,
    lease_s: int,
    items: Mapping[int, QueueEntry],
    *,
    uid: bytes | None = None,
) -> int:
    """Insert a queue and return its rowid.

    Existing labels of its items count. Call inside a transaction.

    `codebook` is its rowid and name. `items` are units with their places.
    """
    row = {
        "uid": uid or secrets.token_bytes(16),
        "name": name,
        "codebook_id": codebook[0],
        "purpose": purpose,
    }
    row |= {"spec": spec, "lease_s": lease_s, "created_at": now()}
    queue_id = table(connection, "queue").add(row)
    connection.executemany(
        "insert into queue_item (queue_id, unit_id, ordinal, stratum, needed, attention, "
        "inclusion, answers) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (queue_id, unit, ordinal, *item_place)
            for ordinal, (unit, item_place) in enumerate(items.items())
        ],
    )
    recount(connection, codebook[1], list(items))
    return queue_id


def recount(connection: sqlite3.Connection, codebook: str, units: Iterable[int]) -> None:
    """Recompute how many people have labelled each of these units. Call inside a transaction."""
    connection.executemany(_RECOUNT, [{"unit": unit, "codebook": codebook} for unit in units])


_RECOUNT = f"""
    update queue_item set done = (
        select count(*) from ({CURRENT_LABELS.format(where="and r.unit_id = :unit and c.name = :codebook")})
    )
    where unit_id = :unit and queue_id in (
        select q.id from queue q join codebook c on c.id = q.codebook_id where c.name = :codebook
    )
"""  # noqa: E501

_LABELLED = f"""
    select u.text_id, u.wording_id, count(*)
    from ({CURRENT_LABELS.format(where="and c.name = :codebook")}) g
    join unit u on u.id = g.unit_id and u.template_id is null
    group by u.id
"""

_FIRST_WORDINGS = f"""
    select w.id, {first_wording("w", "s")} from wording w join statement s on s.id = w.statement_id
    where w.id in (select value from json_each(?))
"""

_QUEUES = f"""
    select q.id, q.name, q.purpose, c.body, c.id, q.spec, q.lease_s, q.created_at,
        count(*) filter (where i.attention is null),
        coalesce(sum(i.needed) filter (where i.attention is null), 0),
        coalesce(sum(min(i.done, i.needed)) filter (where i.attention is null), 0),
        count(*) filter (where i.attention is null and i.done >= i.needed),
        count(*) filter (where i.attention is not null)
    from queue q join codebook o on o.id = q.codebook_id
    join codebook c on c.id = coalesce({chosen_version("o.name")}, o.id) join queue_item i
        on i.queue_id = q.id
    where (:purpose is null or q.purpose = :purpose) and (:name is null or q.name = :name)
    group by q.id order by q.id
"""

_ANNOTATORS = """
    select distinct h.name
    from queue q
    join codebook c on c.id = q.codebook_id
    join queue_item i on i.queue_id = q.id
    join reading r on r.unit_id = i.unit_id and r.uid is not null
    join codebook d on d.id = r.codebook_id and d.name = c.name
    join reader h on h.id = r.reader_id and h.kind = 'person'
    where q.id = :queue order by h.name
"""

_TIMES = """
    select annotator, elapsed_ms from (
        select h.name as annotator, r.elapsed_ms,
            row_number() over (partition by r.reader_id order by r.at desc, r.uid desc) as place
        from queue q
        join codebook c on c.id = q.codebook_id
        join queue_item i on i.queue_id = q.id
        join reading r on r.unit_id = i.unit_id and r.uid is not null
        join codebook d on d.id = r.codebook_id and d.name = c.name
        join reader h on h.id = r.reader_id and h.kind = 'person'
        where q.name = :name and r.elapsed_ms is not null and r.label is not null
    )
    where place <= :most order by annotator, place
"""

_STATEMENTS = """
    select w.text_id, w.id, i.name, s.ref, s.source
    from statement s
    join instrument i on i.id = s.instrument_id and (:instrument is null or i.name = :instrument)
    join wording w on w.statement_id = s.id and w.kind = 'original'
        and w.language = coalesce(:language, i.language)
    where s.current = 1 order by i.name, s.ordinal
"""

_MEMBERS = """
    select distinct x.body, n.name, s.ref
    from queue q
    join codebook c on c.id = q.codebook_id and c.name = :codebook
    join queue_item i on i.queue_id = q.id and i.attention is null
    join unit u on u.id = i.unit_id
    join text x on x.id = u.text_id
    join wording w on w.id = u.wording_id
    join statement s on s.id = w.statement_id
    join instrument n on n.id = s.instrument_id
    where q.purpose in (select value from json_each(:purposes))
"""

_PRIORITISE = """
    update queue_item set priority = (
        select 1 - g.confidence from reading g where g.unit_id = queue_item.unit_id
            and g.reader_id = :reader
    )
    where done < needed and queue_id in (select id from queue where purpose <> 'test') and exists (
        select 1 from reading g
        where g.unit_id = queue_item.unit_id and g.reader_id = :reader and g.confidence is not null
    )
"""


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
        QueueCopy(
            uid, name, purpose, spec, lease_s, codebook_from_json(body), _items(connection, queue)
        )
        for queue, uid, name, purpose, spec, lease_s, body in rows
    )


def _items(connection: sqlite3.Connection, queue: int) -> tuple[ItemCopy, ...]:
    return tuple(
        ItemCopy(
            decode_text(body),
            decode_text(statement),
            instrument,
            ref,
            str(VariantId(VariantKind(kind), ordinal)),
            *remaining,
        )
        for body, statement, instrument, ref, kind, ordinal, *remaining in connection.execute(
            _QUEUE_ITEMS, {"queue": queue}
        )
    )


def add_queue(connection: sqlite3.Connection, copy: QueueCopy) -> str | None:
    """Create a queue from another store and return its name here.

    Returns None if the queue exists, or none of its texts are here. Inclusion probabilities
    describe the whole draw. They are copied only if all items of the queue are here.
    """
    if connection.execute("select 1 from queue where uid = ?", (copy.uid,)).fetchone():
        return None
    placed_items = [
        (rowids, item) for item in copy.items if (rowids := place_of(connection, item)) is not None
    ]
    if not any(item.attention is None for _, item in placed_items):
        return None
    name, number = copy.name, 2
    while connection.execute("select 1 from queue where name = ?", (name,)).fetchone():
        name, number = f"{copy.name}-{number}", number + 1
    is_complete = len(placed_items) == len(copy.items)
    items = {
        unit_of(connection, *rowids): QueueEntry(
            item.stratum,
            item.needed,
            item.attention,
            item.inclusion if is_complete else None,
            item.answers if is_complete else None,
        )
        for rowids, item in placed_items
    }
    codebook = (save_codebook(connection, copy.codebook), copy.codebook.name)
    insert_queue(
        connection, name, codebook, copy.purpose, copy.spec, copy.lease_s, items, uid=copy.uid
    )
    return name


def adopt(
    connection: sqlite3.Connection,
    name: str,
    purpose: Purpose,
    loose: Mapping[tuple[str, int], set[str]],
) -> None:
    """Put labelled items without a queue into a new one.

    Each needs as many people as have labelled it.
    """
    if not loose:
        return
    if connection.execute("select 1 from queue where name = ?", (name,)).fetchone():
        raise UsageError(f"a queue is named {name!r} already; choose another name")
    codebooks = {codebook for codebook, _ in loose}
    if len(codebooks) > 1:
        raise UsageError(
            f"these labels belong to several codebooks: {', '.join(sorted(codebooks))}; import "
            "them apart"
        )
    (codebook,) = codebooks
    items = {unit: QueueEntry("imported", len(people)) for (_, unit), people in loose.items()}
    codebook_key = (version_of(connection, codebook), codebook)
    insert_queue(
        connection, name, codebook_key, purpose.value, '{"imported": true}', LEASE_S, items
    )


def place_of(
    connection: sqlite3.Connection, event: LabelEvent | ItemCopy
) -> tuple[int, int] | None:
    """Return the rowids of the text and the wording of an event or item, or None without both."""
    row = connection.execute(_WORDING, _named(event)).fetchone()
    if row is None:
        return None
    # Programs of Windows write all line ends so.
    with_plain_ends = event.response.replace("\r\n", "\n")
    for response in (event.response, with_plain_ends, unescaped(event.response)):
        text = connection.execute(
            "select id from text where key = ?", (text_key(response),)
        ).fetchone()
        if text is not None:
            return int(text[0]), int(row[0])
    if event.attention:
        return text_ids(connection, [event.response])[event.response], int(row[0])
    return None


def unescaped(text: str) -> str:
    """Return a text with the characters that CSV files escape because they cannot contain them.

    They are NUL and half a surrogate pair.
    """
    return _ESCAPED.sub(lambda match: chr(int(match[0][2:], 16)), text)


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
