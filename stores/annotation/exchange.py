"""Moves labels between stores, through files or directly.

No event is lost, duplicated or overwritten.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stores.annotation.annotation_items import (
    chosen_version,
    codebook_from_json,
    save_codebook,
    unit_of,
)
from stores.annotation.people import reader_id
from stores.annotation.queues import QueueCopy, add_queue, adopt, place_of, queue_copies, recount
from stores.core.base import Aggregate, decode_text, execute_named, now, now_after
from stores.core.values import checked_confidence
from workbench.domain.annotations import Codebook, EventKind, LabelEvent, Purpose
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderKind
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import Finding, InputError, UsageError

READERS = {
    EventKind.LABEL: ReaderKind.PERSON,
    EventKind.ADJUDICATION: ReaderKind.ADJUDICATION,
    EventKind.REMARK: ReaderKind.PERSON,
}


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of an import of labels."""

    added: int
    known: int
    "number of events that were stored already"
    unmatched: int
    "number of events about unknown texts, which are left out"
    items: int
    "number of items of the added events"
    annotators: tuple[str, ...]
    outside: int = 0
    "number of items without a queue in this store"
    adopted: int = 0
    "number of items put into a new queue"
    queues: tuple[str, ...] = ()
    "names of queues copied from the other store"
    rulings: int = 0
    "number of auditors' rulings copied from another store"
    people: int = 0
    "number of descriptions of people copied from another store"
    control_samples: int = 0
    "number of control samples copied from another store"


class Exchange(Aggregate):
    """The methods on labels as events."""

    def events(self, queue: str | None = None, codebook: str | None = None) -> Iterator[LabelEvent]:
        """Yield all events, the oldest first: labels, withdrawals, adjudications, remarks."""
        values = {"queue": queue, "codebook": codebook}
        for row in execute_named(self.connection, _EVENTS, values):
            yield _event(row)

    def queues(self) -> tuple[QueueCopy, ...]:
        """Return every queue with its items by their texts, for import into another store."""
        return queue_copies(self.connection)

    def codebooks(self) -> dict[str, Codebook]:
        """Return the version of each codebook that counts, by name."""
        rows = self.connection.execute(
            "select c.name, c.body from codebook c order by c.id = "
            f"coalesce({chosen_version('c.name')}, 0), c.id"
        )
        return {name: codebook_from_json(body) for name, body in rows}

    def versions(self) -> tuple[Codebook, ...]:
        """Return every version of every codebook of the store."""
        return tuple(
            codebook_from_json(body)
            for (body,) in self.connection.execute("select body from codebook")
        )

    def add(
        self,
        events: Sequence[LabelEvent],
        codebooks: dict[str, Codebook],
        *,
        source: str,
        versions: Sequence[Codebook] = (),
        partial: bool = False,
        queues: Sequence[QueueCopy] = (),
        into: tuple[str, Purpose] | None = None,
    ) -> Merged:
        """Append new events in one transaction.

        `versions` are those of the codebooks under which the labels may have been given. A label
        keeps its own version.

        `queues` are those of another store. Missing ones are created, with the items whose texts
        are here. `into` is the name and purpose of a new queue for items without one, because
        labels of items outside queues do not count.

        Raises UsageError if the name of the queue is taken. Raises InputError, having written
        nothing, for a label that its codebook lacks, and for events about unknown texts: if all are
        unknown or, unless `partial`, if any is.
        """
        _check(events, codebooks, (*self.versions(), *versions), source)
        with self.store.write() as connection:
            matched = _matched(connection, events, source, partial=partial)
            codebook_ids = _save_codebooks(connection, events, codebooks, versions)
            added_queues = [add_queue(connection, copy) for copy in queues]
            writer = _EventWriter(connection, codebook_ids)
            for match in matched:
                writer.write(match)
            writer.recount_queues()
            unqueued_items = writer.unqueued_items()
            if into is not None:
                adopt(connection, *into, unqueued_items)
        return Merged(
            added=sum(writer.n_new_by_item.values()),
            known=writer.n_known,
            unmatched=len(events) - len(matched),
            items=len(writer.n_new_by_item),
            annotators=tuple(sorted({person_name(event.annotator) for event in events})),
            outside=0 if into else len(unqueued_items),
            adopted=len(unqueued_items) if into else 0,
            queues=tuple(name for name in added_queues if name is not None),
        )


class _MatchedEvent(NamedTuple):
    """An event about a text of this store."""

    event: LabelEvent
    text_id: int
    wording_id: int


def _matched(
    connection: sqlite3.Connection, events: Sequence[LabelEvent], source: str, *, partial: bool
) -> list[_MatchedEvent]:
    """Return the events about texts of this store.

    Raises InputError if there are none or, unless `partial`, if any event is about another text.
    """
    matched: list[_MatchedEvent] = []
    missing: list[LabelEvent] = []
    for event in events:
        rowids = place_of(connection, event)
        if rowids is None:
            missing.append(event)
        else:
            matched.append(_MatchedEvent(event, *rowids))
    if missing and not (matched and partial):
        raise InputError([_foreign(event, source, some_match=bool(matched)) for event in missing])
    return matched


@dataclass(frozen=True, slots=True)
class _CodebookIds:
    """The rowids of the codebooks of imported events."""

    by_name: dict[str, int]
    "the version for labels that name none"
    by_key: dict[bytes, int]

    def id_of(self, event: LabelEvent) -> int:
        """Return the version under which a label was given."""
        default = self.by_name[event.codebook]
        if event.codebook_key is None:
            return default
        return self.by_key.get(event.codebook_key, default)


def _save_codebooks(
    connection: sqlite3.Connection,
    events: Iterable[LabelEvent],
    codebooks: Mapping[str, Codebook],
    versions: Iterable[Codebook],
) -> _CodebookIds:
    """Save the codebooks and the versions that events use, and return all rowids."""
    used_names = {event.codebook for event in events}
    used_keys = {event.codebook_key for event in events}
    by_name = {
        name: save_codebook(connection, codebook)
        for name, codebook in codebooks.items()
        if name in used_names
    }
    by_key: dict[bytes, int] = dict(connection.execute("select key, id from codebook"))
    for version in versions:
        if version.key in used_keys:
            by_key[version.key] = save_codebook(connection, version)
    return _CodebookIds(by_name, by_key)


class _EventWriter:
    """Writes events, and counts the new ones by item. An item is (codebook, unit)."""

    def __init__(self, connection: sqlite3.Connection, codebook_ids: _CodebookIds) -> None:
        self.n_new_by_item: Counter[tuple[str, int]] = Counter()
        self.n_known = 0
        self._connection = connection
        self._codebook_ids = codebook_ids
        self._reader_ids: dict[tuple[ReaderKind, str], int] = {}
        self._annotators_by_item: dict[tuple[str, int], set[str]] = {}

    def write(self, match: _MatchedEvent) -> None:
        """Insert an event, unless it is stored already."""
        event = match.event
        unit = unit_of(self._connection, match.text_id, match.wording_id)
        item = (event.codebook, unit)
        self._annotators_by_item.setdefault(item, set()).add(event.annotator)
        codebook_id = self._codebook_ids.id_of(event)
        if _append(self._connection, event, unit, self._reader_id_of(event), codebook_id):
            self.n_new_by_item[item] += 1
        else:
            self.n_known += 1

    def _reader_id_of(self, event: LabelEvent) -> int:
        reader = (READERS[event.kind], person_name(event.annotator))
        if reader not in self._reader_ids:
            self._reader_ids[reader] = reader_id(self._connection, *reader, "")
        return self._reader_ids[reader]

    def recount_queues(self) -> None:
        """Update the numbers of labels of the items with new events."""
        for codebook in self._codebook_ids.by_name:
            units = [unit for name, unit in self.n_new_by_item if name == codebook]
            recount(self._connection, codebook, units)

    def unqueued_items(self) -> dict[tuple[str, int], set[str]]:
        """Return the annotators of each item that is in no queue."""
        return {
            item: annotators
            for item, annotators in self._annotators_by_item.items()
            if self._connection.execute(_IN_A_QUEUE, item).fetchone() is None
        }


def _check(
    events: Iterable[LabelEvent],
    codebooks: dict[str, Codebook],
    versions: Sequence[Codebook],
    source: str,
) -> None:
    """Raise InputError for invalid events."""
    findings = []
    known_labels = {name: dict.fromkeys(codebook.labels) for name, codebook in codebooks.items()}
    for version in versions:
        known_labels.setdefault(version.name, {}).update(dict.fromkeys(version.labels))
    for event in events:
        codebook = codebooks.get(event.codebook)
        if codebook is None:
            available = ", ".join(codebooks) or "none"
            findings.append(
                Finding(
                    source,
                    event.line or None,
                    "codebook",
                    repr(event.codebook),
                    f"one of {available}",
                )
            )
        elif event.label is not None and event.label not in known_labels[codebook.name]:
            expected = _expected_label(event.label, codebook.name, known_labels[codebook.name])
            findings.append(
                Finding(source, event.line or None, "label", repr(event.label), expected)
            )
        try:
            person_name(event.annotator)
        except UsageError as error:
            findings.append(Finding(source, event.line or None, "annotator", str(error), "a name"))
    if findings:
        raise InputError(findings)


def _expected_label(label: str, codebook: str, labels: Iterable[str]) -> str:
    """Return the description of a valid label in place of an unknown one.

    It is a label that differs only in case or surrounding spaces, or else any label of the
    codebook.
    """
    matches = [name for name in labels if name.casefold() == label.strip().casefold()]
    if matches:
        return f"{matches[0]!r}, as the codebook {codebook} writes it: capitals and spaces count"
    return f"a label of the codebook {codebook}: {', '.join(labels)}"


PARTIAL = "--partial, or --skip of import, takes those that match"
"the end of a finding if some labels of a file belong to this store"


def _foreign(event: LabelEvent, source: str, *, some_match: bool) -> Finding:
    excerpt = event.response if len(event.response) <= 60 else event.response[:59] + "…"
    return Finding(
        source,
        event.line or None,
        "response",
        f"{excerpt!r} as an answer to {event.instrument}/{event.ref} {event.variant}",
        "a response of this store; these labels belong to another one"
        + (f" ({PARTIAL})" if some_match else ""),
    )


def _append(
    connection: sqlite3.Connection, event: LabelEvent, unit: int, reader: int, codebook_id: int
) -> bool:
    """Insert an event. Returns whether it was new."""
    if event.kind is EventKind.REMARK:
        cursor = connection.execute(
            "insert into remark (uid, unit_id, reader_id, flagged, note, at, dated) values (?, ?, "
            "?, ?, ?, ?, ?) on conflict (uid) do nothing",
            (
                event.uid,
                unit,
                reader,
                event.flagged,
                event.note,
                event.ordered_at or now(),
                bool(event.at),
            ),
        )
        return cursor.rowcount > 0
    if connection.execute("select 1 from reading where uid = ?", (event.uid,)).fetchone():
        return False
    time = event.ordered_at
    # Ordered by the import, after all earlier events of this person, including earlier lines.
    if not time:
        last_row = connection.execute(
            "select max(at) from reading where unit_id = ? and reader_id = ?", (unit, reader)
        ).fetchone()
        time = now_after(last_row[0])
    connection.execute(
        "insert into reading (unit_id, reader_id, revision, label, reason, note, confidence, "
        "elapsed_ms, at, codebook_id, uid, basis, dated) values (?, ?, (select "
        "coalesce(max(revision), 0) + 1 from reading where unit_id = ? and reader_id = ?), ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?)",
        (
            unit,
            reader,
            unit,
            reader,
            event.label,
            event.reason,
            event.note or None,
            checked_confidence(event.confidence),
            event.elapsed_ms,
            time,
            codebook_id,
            event.uid,
            event.basis,
            bool(event.at),
        ),
    )
    return True


def _event(row: sqlite3.Row) -> LabelEvent:
    return LabelEvent(
        uid=row["uid"],
        kind=EventKind(row["kind"]),
        codebook=row["codebook"],
        annotator=row["annotator"],
        response=decode_text(row["response"]),
        statement=decode_text(row["statement"]),
        instrument=row["instrument"],
        ref=row["ref"],
        variant=str(VariantId(VariantKind(row["variant"]), row["ordinal"])),
        language=row["language"],
        label=row["label"],
        reason=row["reason"] or "",
        note=row["note"] or "",
        flagged=bool(row["flagged"]),
        confidence=row["confidence"],
        elapsed_ms=row["elapsed_ms"],
        at=row["at"] if row["dated"] else "",
        imported_at="" if row["dated"] else row["at"],
        basis=row["basis"],
        attention=bool(row["attention"]),
        codebook_key=row["codebook_key"],
    )


_IN_A_QUEUE = """
    select 1 from queue_item i join queue q on q.id = i.queue_id join codebook c
        on c.id = q.codebook_id
    where c.name = ? and i.unit_id = ? limit 1
"""

_EVENTS = """
    with said as (
        select r.uid, case h.kind when 'person' then 'label' else 'adjudication' end
            as kind, c.name as codebook,
            c.key as codebook_key, h.name as annotator, r.unit_id, r.label, r.reason, r.note, 0
                as flagged,
            r.confidence, r.elapsed_ms, r.at, r.dated, r.basis
        from reading r
        join reader h on h.id = r.reader_id and h.kind in ('person', 'adjudication')
        join codebook c on c.id = r.codebook_id
        where r.uid is not null
        union all
        select m.uid, 'remark', coalesce((
                select c.name from queue_item i join queue q on q.id = i.queue_id
                join codebook c on c.id = q.codebook_id where i.unit_id = m.unit_id limit 1
            ), 'stance'), null, h.name, m.unit_id, null, '', m.note, m.flagged, null, null, m.at,
                m.dated, null
        from remark m join reader h on h.id = m.reader_id
    )
    select d.uid, d.kind, d.codebook, d.codebook_key, d.annotator, x.body as response, y.body
        as statement,
        n.name as instrument, s.ref, w.kind as variant, w.ordinal, w.language,
        d.label, d.reason, d.note, d.flagged, d.confidence, d.elapsed_ms, d.at, d.dated, d.basis,
        exists (select 1 from queue_item a where a.unit_id = d.unit_id and a.attention is not null)
            as attention
    from said d
    join unit u on u.id = d.unit_id
    join text x on x.id = u.text_id
    join wording w on w.id = u.wording_id
    join text y on y.id = w.text_id
    join statement s on s.id = w.statement_id
    join instrument n on n.id = s.instrument_id
    where (:codebook is null or d.codebook = :codebook) and (:queue is null or d.unit_id in (
        select i.unit_id from queue_item i join queue q on q.id = i.queue_id where q.name = :queue
    ))
    order by d.at, d.uid
"""
