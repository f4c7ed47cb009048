"""Moves labels between stores, through files or directly, without losing, duplicating or
overwriting events.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from stores.annotation.annotation_items import (
    chosen_version,
    codebook_from_json,
    save_codebook,
    unit_of,
)
from stores.annotation.people import reader_id
from stores.annotation.queues import QueueCopy, add_queue, adopt, place_of, queue_copies, recount
from stores.core.base import Aggregate, named, now, now_after, restored
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
    "events already stored"
    unmatched: int
    "events about unknown texts, which are left out"
    items: int
    "items of the added events"
    annotators: tuple[str, ...]
    outside: int = 0
    "items without a queue in this store"
    adopted: int = 0
    "items put into a new queue"
    queues: tuple[str, ...] = ()
    "queues copied from the other store"
    rulings: int = 0
    "auditors' rulings copied from another store"
    people: int = 0
    "descriptions of people copied from another store"
    control_samples: int = 0
    "control samples copied from another store"


class Exchange(Aggregate):
    """The methods on labels as events."""

    def events(self, queue: str | None = None, codebook: str | None = None) -> Iterator[LabelEvent]:
        """Yield all events, the oldest first: labels, withdrawals, adjudications, remarks."""
        values = {"queue": queue, "codebook": codebook}
        for row in named(self.connection, _EVENTS, values):
            yield _event(row)

    def queues(self) -> tuple[QueueCopy, ...]:
        """Return every queue with its items by their texts, for import into another store."""
        return queue_copies(self.connection)

    def codebooks(self) -> dict[str, Codebook]:
        """Return the version of each codebook of the store that counts."""
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

        `versions`: those of the codebooks under which the labels may have been given; a label keeps
        its own.

        `queues`: those of another store; missing ones are created, with the items whose texts are
        here. `into`: name and purpose of a new queue for items without one, because labels of items
        outside queues do not count.

        Raises UsageError if the name of the queue is taken. Raises InputError, having written
        nothing, for a label that its codebook lacks, and for events about unknown texts: if all are
        unknown or, unless `partial`, if any is.
        """
        _check(events, codebooks, (*self.versions(), *versions), source)
        with self.store.write() as connection:
            places = [place_of(connection, event) for event in events]
            missing = [event for event, place in zip(events, places, strict=True) if place is None]
            if missing and (len(missing) == len(events) or not partial):
                some_match = len(missing) < len(events)
                raise InputError(
                    [_foreign(event, source, some_match=some_match) for event in missing]
                )
            used = {event.codebook for event in events}
            ids = {
                name: save_codebook(connection, codebooks[name])
                for name in codebooks
                if name in used
            }
            by_key = dict(connection.execute("select key, id from codebook"))
            given = {event.codebook_key for event in events} - {None}
            by_key |= {
                book.key: save_codebook(connection, book) for book in versions if book.key in given
            }
            came = [name for copy in queues if (name := add_queue(connection, copy)) is not None]
            touched: Counter[tuple[str, int]] = Counter()
            held: dict[tuple[str, int], set[str]] = {}
            known, reader = 0, cache(lambda kind, name: reader_id(connection, kind, name, ""))
            for event, place in zip(events, places, strict=True):
                if place is None:
                    continue
                unit = unit_of(connection, *place)
                held.setdefault((event.codebook, unit), set()).add(event.annotator)
                codebook_id = by_key.get(event.codebook_key, ids[event.codebook])
                by = reader(READERS[event.kind], person_name(event.annotator))
                if _append(connection, event, unit, by, codebook_id):
                    touched[event.codebook, unit] += 1
                else:
                    known += 1
            for codebook in ids:
                recount(connection, codebook, [unit for name, unit in touched if name == codebook])
            loose = {
                key: who
                for key, who in held.items()
                if connection.execute(_IN_A_QUEUE, key).fetchone() is None
            }
            if into is not None:
                adopt(connection, *into, loose)
        return Merged(
            added=sum(touched.values()),
            known=known,
            unmatched=len(missing),
            items=len(touched),
            annotators=tuple(sorted({person_name(event.annotator) for event in events})),
            outside=0 if into else len(loose),
            adopted=len(loose) if into else 0,
            queues=tuple(came),
        )


def _check(
    events: Iterable[LabelEvent],
    codebooks: dict[str, Codebook],
    versions: Sequence[Codebook],
    source: str,
) -> None:
    """Raise InputError for invalid events."""
    findings = []
    known_labels = {name: dict.fromkeys(book.labels) for name, book in codebooks.items()}
    for version in versions:
        known_labels.setdefault(version.name, {}).update(dict.fromkeys(version.labels))
    for event in events:
        book = codebooks.get(event.codebook)
        if book is None:
            known = ", ".join(codebooks) or "none"
            findings.append(
                Finding(
                    source, event.line or None, "codebook", repr(event.codebook), f"one of {known}"
                )
            )
        elif event.label is not None and event.label not in known_labels[book.name]:
            expected = _expected_label(event.label, book.name, known_labels[book.name])
            findings.append(
                Finding(source, event.line or None, "label", repr(event.label), expected)
            )
        try:
            person_name(event.annotator)
        except UsageError as error:
            findings.append(Finding(source, event.line or None, "annotator", str(error), "a name"))
    if findings:
        raise InputError(findings)


def _expected_label(label: str, codebook: str, known: Iterable[str]) -> str:
    """Return what a file should have in place of an unknown label: one that differs in capitals
    alone, or any.
    """
    alike = [name for name in known if name.casefold() == label.strip().casefold()]
    if alike:
        return f"{alike[0]!r}, as the codebook {codebook} writes it: capitals and spaces count"
    return f"a label of the codebook {codebook}: {', '.join(known)}"


PARTIAL = "--partial, or --skip of import, takes those that match"
"ends a finding where some labels of a file belong to this store"


def _foreign(event: LabelEvent, source: str, *, some_match: bool) -> Finding:
    shown = event.response if len(event.response) <= 60 else event.response[:59] + "…"
    return Finding(
        source,
        event.line or None,
        "response",
        f"{shown!r} as an answer to {event.instrument}/{event.ref} {event.variant}",
        "a response of this store; these labels belong to another one"
        + (f" ({PARTIAL})" if some_match else ""),
    )


def _append(
    connection: sqlite3.Connection, event: LabelEvent, unit: int, reader: int, codebook_id: int
) -> bool:
    """Insert an event; return whether it was new."""
    if event.kind is EventKind.REMARK:
        cursor = connection.execute(
            "insert into remark (uid, unit_id, reader_id, flagged, note, at, dated) values (?, "
            "?, ?, ?, ?, ?, ?) "
            "on conflict (uid) do nothing",
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
    at = event.ordered_at
    # Ordered by the import, after all earlier events of this person, including earlier lines.
    if not at:
        last = connection.execute(
            "select max(at) from reading where unit_id = ? and reader_id = ?", (unit, reader)
        ).fetchone()
        at = now_after(last[0])
    connection.execute(
        "insert into reading (unit_id, reader_id, revision, label, reason, note, confidence, "
        "elapsed_ms, at, "
        "codebook_id, uid, basis, dated) values (?, ?, (select coalesce(max(revision), 0) + 1 "
        "from reading "
        "where unit_id = ? and reader_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            at,
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
        response=restored(row["response"]),
        statement=restored(row["statement"]),
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
