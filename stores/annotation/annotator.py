"""One annotator's view of a store, restricted to the data that they may see.

Blindness does not depend on the queries of a screen: see `stores.core.permissions`.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import EllipsisType
from typing import TypeAlias

from stores.annotation.annotation_items import (
    CONTEXT,
    Context,
    as_context,
    chosen_version,
    codebook_from_json,
)
from stores.annotation.people import reader_id
from stores.annotation.person_session import PersonSession, open_session
from stores.annotation.person_steps import (
    PACE_OF,
    UndoableChange,
    add_change,
    items_per_hour,
    newest_change,
)
from stores.core.base import later, now, now_after
from stores.core.permissions import at_a_queue
from stores.core.store import Store
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderKind
from workbench.errors import ConflictError, UnknownName

ATTENTION_EVERY = 20
"number of labels between two attention items"
STEPS = 500
"the number of a person's latest events that undo goes back through"


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A shown item: a text and the statement that it answers."""

    context: Context
    label: str | None
    "this person's own current label"
    flagged: bool
    note: str
    lease_until: str
    confidence: float | None = None
    "the confidence that this person stated for that label, or None"
    elsewhere: bool = False
    "whether another session of this person leased it and did not release it"

    @property
    def unit(self) -> int:
        return self.context.unit


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """This person's progress in a queue."""

    done: int
    "number of items that this person has labelled"
    left: int
    "number of items that this person can still label"
    held: int
    "number of items with active leases of others, which may become free"
    skipped: int
    flagged: int
    per_hour: float | None
    "pace over the latest labels, or None before two labels"
    attention: tuple[int, int]
    "(correct, answered) for items with a known label"
    ahead: int = 0
    """number of items with a known label that will come or were skipped. They count from the
    start, since otherwise the counter would reveal them."""

    @property
    def total(self) -> int:
        """The number of items for this person: done, open, and leased by others."""
        return self.done + self.left + self.held + self.ahead


Remark: TypeAlias = tuple[bool, str]
"whether an item is flagged, and the note on it"


@dataclass(frozen=True, slots=True)
class LabelStep:
    """A label or a skip of an item, which undo withdraws."""

    unit: int
    label: str
    "empty for a skip"


QueueStep: TypeAlias = LabelStep | UndoableChange[int, Remark]
"one action of a person on an item"


class Annotator(PersonSession):
    """One person at one queue."""

    def __init__(self, store: Store, queue: str, name: str):
        super().__init__(store)
        self.name = person_name(name)
        stored_queue = store.queues.get(queue)
        self.queue, self.codebook = stored_queue.name, stored_queue.codebook
        with store.write() as connection:
            self._me = reader_id(connection, ReaderKind.PERSON, self.name, "")
        self._queue_id, self._lease_s = stored_queue.id, stored_queue.lease_s
        self._codebook_id = stored_queue.codebook_id
        self._codebooks = (
            "select n.id from codebook n join codebook o on o.name = n.name where "
            f"o.id = {stored_queue.codebook_id}"
        )
        self._leased: set[int] = set()
        "the units that this session leased"
        self.restrict(at_a_queue(int(self._me), stored_queue.id, stored_queue.codebook_id))

    @classmethod
    def open(cls, path: Path | str, queue: str, name: str) -> Annotator:
        """Open a store as one person.

        Raises UnknownName for a missing queue, and UsageError for an invalid name.
        """
        return open_session(path, lambda store: cls(store, queue, name))

    def look(self) -> None:
        """Use the current version of the codebook for all further labels."""
        row = self.connection.execute(
            f"select id, body from codebook where id = {chosen_version(':name')} and id <> :id",
            {"name": self.codebook.name, "id": self._codebook_id},
        ).fetchone()
        if row is not None:
            self._codebook_id, self.codebook = int(row[0]), codebook_from_json(row[1])

    def next(self) -> QueueItem | None:
        """Lease the next item to this person and return it, or None if there is none for them now.

        An item that was shown when a session broke off comes first. Then follow, at intervals, an
        attention item, then items that have a label and need another person, then those with the
        lowest confidence of a classifier, then the order of the sample, and finally skipped items.
        """
        with self._store.write() as connection:
            values = self._values()
            for sql in (_LEASED, _ATTENTION, _OPEN, _SKIPPED):
                row = connection.execute(sql, values).fetchone()
                if row is not None:
                    unit = int(row[0])
                    elsewhere = (
                        unit not in self._leased
                        and self._item(connection, unit).lease_until > now()
                    )
                    self._lease(connection, unit)
                    return replace(self._item(connection, unit), elsewhere=elsewhere)
        return None

    def label(
        self,
        unit: int,
        label: str,
        *,
        elapsed_ms: int | None = None,
        confidence: float | None = None,
        seen: str | EllipsisType | None = ...,
    ) -> None:
        """Commit a label.

        Raises UnknownName for a label that the codebook lacks and, like all methods on an item, for
        an item that the queue lacks. Raises ConflictError if this person's current label of the
        item is not `seen`, the one that they saw.
        """
        if label not in self.codebook.labels:
            raise UnknownName(
                f"found the label {label!r}; the codebook {self.codebook.name} has: "
                f"{', '.join(self.codebook.labels)}"
            )
        with self._store.write() as connection:
            self._check(connection, unit)
            current = self._item(connection, unit).label
            if seen is not ... and current != seen:
                raise ConflictError(
                    f"another session of {self.name} labelled this item: {current or 'undone'}"
                )
            self._revise(connection, unit, label, "", elapsed_ms, confidence)
            self._set_assignment_state(connection, unit, "done")
            # The label also counts in the other queue, where a lease must not be added.
            connection.execute(
                "delete from assignment where unit_id = ? and reader_id = ? and queue_id <> ? "
                "and state = 'leased' "
                f"and queue_id in (select id from queue where codebook_id in ({self._codebooks}))",
                (unit, self._me, self._queue_id),
            )

    def undo(self, unit: int) -> QueueItem:
        """Withdraw this person's label of an item and lease the item to them again.

        The withdrawn label stays on record.
        """
        with self._store.write() as connection:
            self._check(connection, unit)
            self._revise(connection, unit, None, "undone", None, None)
            self._lease(connection, unit)
            return self._item(connection, unit)

    def skip(self, unit: int) -> None:
        """Put an item behind all others for this person."""
        with self._store.write() as connection:
            self._check(connection, unit)
            self._set_assignment_state(connection, unit, "skipped")

    def release(self, unit: int) -> None:
        """Release the lease of an unlabelled item."""
        with self._store.write() as connection:
            connection.execute(
                "delete from assignment where queue_id = :queue and unit_id = :unit and reader_id "
                "= :me and state = 'leased'",
                self._values() | {"unit": unit},
            )

    def remark(self, unit: int, *, flagged: bool, note: str) -> None:
        """Commit a flag and a note on an item. Adjudicators see them, other annotators do not."""
        with self._store.write() as connection:
            self._check(connection, unit)
            connection.execute(
                "insert into remark (uid, unit_id, reader_id, flagged, note, at) values (?, ?, "
                "?, ?, ?, ?)",
                (
                    secrets.token_bytes(16),
                    unit,
                    self._me,
                    flagged,
                    note,
                    self._after("my_remark", unit),
                ),
            )

    def item(self, unit: int) -> QueueItem:
        """Return an item as this person sees it now."""
        self._check(self.connection, unit)
        return self._item(self.connection, unit)

    def progress(self) -> QueueProgress:
        """Return this person's progress and pace."""
        execute, values = self.connection.execute, self._values()
        n_done = execute(_DONE, values).fetchone()[0]
        n_left, n_held = execute(_LEFT, values).fetchone()
        n_skipped = execute(
            "select count(*) from assignment where queue_id = :queue and reader_id = :me and "
            "state = 'skipped'",
            values,
        ).fetchone()[0]
        n_flagged = execute(_FLAGGED, values).fetchone()[0]
        n_correct, n_answered = execute(
            "select coalesce(sum(right), 0), count(*) from my_attention", values
        ).fetchone()
        time_rows = execute(
            "select elapsed_ms from my_reading where elapsed_ms is not null and label is not "
            "null order by at desc limit :n",
            {"n": PACE_OF},
        )
        times_ms = [elapsed_ms for (elapsed_ms,) in time_rows]
        per_hour = items_per_hour(times_ms) if len(times_ms) > 1 else None
        ahead = self._ahead(n_left + n_held)
        return QueueProgress(
            n_done, n_left, n_held, n_skipped, n_flagged, per_hour, (n_correct, n_answered), ahead
        )

    def newest_labels(self, limit: int = 50) -> tuple[tuple[int, str], ...]:
        """Return this person's own current labels in this queue, the newest first.

        Each is (unit, label).
        """
        return tuple(
            self.connection.execute(_HISTORY, self._values() | {"limit": limit}).fetchall()
        )

    def steps(self) -> tuple[QueueStep, ...]:
        """Return this person's latest actions in this queue that were not undone, the newest last.

        They are labels, flags and notes. So undo works across sessions.
        """
        rows = self.connection.execute(_STEPS, self._values() | {"n": STEPS}).fetchall()
        steps: list[QueueStep] = []
        remark_by_unit: dict[int, Remark] = {}
        for unit, is_label, label, flagged, note in reversed(rows):
            if is_label:
                steps = without_label(steps, unit)
                if label is not None:
                    steps.append(LabelStep(unit, label))
                continue
            remark = (bool(flagged), note)
            change = UndoableChange(unit, remark_by_unit.get(unit, (False, "")), remark)
            remark_by_unit[unit] = remark
            add_change(steps, change, newest_change(steps, unit))
        return tuple(steps)

    def _ahead(self, others: int) -> int:
        """Return the number of attention items that will come, and of skipped ones, as a sum.

        They come before `others` more items are done. The k-th of them is due at `every * (seen +
        k)` labels, of which k - 1 are of attention items.
        """
        n_done, n_seen, n_skipped, n_leased, n_attention = self.connection.execute(
            _SEEN, self._values()
        ).fetchone()
        n_due = (n_done + n_skipped + others - 1 - ATTENTION_EVERY * n_seen) // (
            ATTENTION_EVERY - 1
        )
        return int(min(max(n_due, n_leased), n_attention - n_seen) + n_skipped)

    def _values(self) -> dict[str, object]:
        return {
            "queue": self._queue_id,
            "me": self._me,
            "now": now(),
            # Beyond it a clock was ahead.
            "latest": later(now(), timedelta(seconds=2 * self._lease_s)),
            "every": ATTENTION_EVERY,
        }

    def _check(self, connection: sqlite3.Connection, unit: int) -> None:
        row = connection.execute(
            "select 1 from queue_item where queue_id = ? and unit_id = ?", (self._queue_id, unit)
        ).fetchone()
        if row is None:
            raise UnknownName(f"the queue {self.queue} has no item {unit}")

    def _item(self, connection: sqlite3.Connection, unit: int) -> QueueItem:
        row = connection.execute(f"{CONTEXT} where u.id = ?", (unit,)).fetchone()
        label = connection.execute(_MY_LABEL, {"unit": unit}).fetchone()
        remark = connection.execute(
            "select flagged, note from my_remark where unit_id = ? order by at desc, uid desc "
            "limit 1",
            (unit,),
        ).fetchone()
        lease = connection.execute(
            "select lease_until from assignment where queue_id = ? and unit_id = ? and reader_id "
            "= ?",
            (self._queue_id, unit, self._me),
        ).fetchone()
        return QueueItem(
            context=as_context(row),
            label=label[0] if label else None,
            flagged=bool(remark and remark[0]),
            note=remark[1] if remark else "",
            lease_until=(lease[0] if lease else None) or "",
            confidence=label[1] if label and label[0] else None,
        )

    def _revise(
        self,
        connection: sqlite3.Connection,
        unit: int,
        label: str | None,
        reason: str,
        elapsed_ms: int | None,
        confidence: float | None,
    ) -> None:
        """Append a revision and update the number of people who labelled the unit."""
        previous = connection.execute(_MY_LABEL, {"unit": unit}).fetchone()
        revision = connection.execute(
            "select coalesce(max(revision), 0) + 1 from my_revision where unit_id = ?", (unit,)
        ).fetchone()[0]
        connection.execute(
            "insert into reading (unit_id, reader_id, revision, label, reason, confidence, "
            "elapsed_ms, at, codebook_id, uid) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                unit,
                self._me,
                revision,
                label,
                reason,
                confidence,
                elapsed_ms,
                self._after("my_reading", unit),
                self._codebook_id,
                secrets.token_bytes(16),
            ),
        )
        change = (label is not None) - bool(previous and previous[0] is not None)
        connection.execute(
            "update queue_item set done = done + :change where unit_id = :unit "
            f"and queue_id in (select id from queue where codebook_id in ({self._codebooks}))",
            {"change": change, "unit": unit},
        )

    def _after(self, view: str, unit: int) -> str:
        """Return the time, or a moment after this person's latest event on the unit.

        The latter applies if the clock went back.
        """
        last_time = self.connection.execute(
            f"select max(+at) from {view} where unit_id = ?", (unit,)
        ).fetchone()[0]
        return now_after(last_time)

    def _lease(self, connection: sqlite3.Connection, unit: int) -> None:
        self._leased.add(unit)
        self._set_assignment_state(
            connection, unit, "leased", later(now(), timedelta(seconds=self._lease_s))
        )

    def _set_assignment_state(
        self, connection: sqlite3.Connection, unit: int, state: str, lease_until: str | None = None
    ) -> None:
        connection.execute(
            "insert into assignment (queue_id, unit_id, reader_id, state, lease_until, at) values "
            "(?, ?, ?, ?, ?, ?) on conflict (queue_id, unit_id, reader_id) do update set state = "
            "excluded.state, lease_until = excluded.lease_until, at = excluded.at",
            (self._queue_id, unit, self._me, state, lease_until, now()),
        )


def without_label(steps: Iterable[QueueStep], unit: int) -> list[QueueStep]:
    """Return steps without the label or skip of an item. A later one takes its place."""
    return [step for step in steps if not isinstance(step, LabelStep) or step.unit != unit]


_MY_LABEL = (
    "select label, confidence from my_reading where unit_id = :unit order by +at desc, "
    "uid desc limit 1"
)
"""The plus is needed because SQLite would otherwise scan all of the person's events, the newest
first, to find the unit."""


_ATTENTION = """
    select i.unit_id from attention_item i
    where not exists (
        select 1 from assignment a where a.queue_id = :queue and a.unit_id = i.unit_id
            and a.reader_id = :me
    ) and (
        select count(*) from assignment a where a.queue_id = :queue and a.reader_id = :me
            and a.state = 'done'
    ) >= :every * (1 + (
        select count(*) from assignment a join attention_item j on j.unit_id = a.unit_id
        where a.queue_id = :queue and a.reader_id = :me and a.state in ('done', 'skipped')
    ))
    order by i.ordinal limit 1
"""

_SEEN = """
    select (
            select count(*) from assignment b where b.queue_id = :queue and b.reader_id = :me
                and b.state = 'done'
        ), count(*) filter (where a.state in ('done', 'skipped')),
            count(*) filter (where a.state = 'skipped'),
        count(*) filter (where a.state = 'leased'), count(*)
    from attention_item i left join assignment a on a.queue_id = :queue and a.unit_id = i.unit_id
        and a.reader_id = :me
"""

_TAKEN = """
    (select count(*) from assignment a where a.queue_id = i.queue_id and a.unit_id = i.unit_id
        and a.reader_id <> :me and a.state = 'leased' and a.lease_until > :now
            and a.lease_until <= :latest)
"""

_MINE = """
    ((select r.label from my_reading r where r.unit_id = i.unit_id order by +r.at desc, r.uid desc
        limit 1) is not null)
"""
"""SQL for whether this person has labelled the item, in any queue. With `+`, it searches by
unit, not through all later labels."""

_LEASED = f"""
    select b.unit_id from assignment b join queue_item i on i.queue_id = b.queue_id
        and i.unit_id = b.unit_id
    where b.queue_id = :queue and b.reader_id = :me and b.state = 'leased'
        and (i.needed = 0 or i.done + {_TAKEN} < i.needed) and not {_MINE}
    order by b.at limit 1
"""

_IS_OPEN = f"""
    i.queue_id = :queue and i.done < i.needed and i.done + {_TAKEN} < i.needed
"""

_OPEN = f"""
    select i.unit_id from queue_item i
    where {_IS_OPEN} and not exists (
        select 1 from assignment a where a.queue_id = i.queue_id and a.unit_id = i.unit_id
            and a.reader_id = :me
            and a.state in ('done', 'skipped')
    ) and not {_MINE}
    order by (i.done > 0) desc, i.priority desc, i.ordinal limit 1
"""

_SKIPPED = f"""
    select i.unit_id from assignment b join queue_item i on i.queue_id = b.queue_id
        and i.unit_id = b.unit_id
    where b.queue_id = :queue and b.reader_id = :me and b.state = 'skipped' and {_IS_OPEN}
        and not {_MINE}
    order by b.at limit 1
"""

_DONE = f"""
    select count(*) from queue_item i where i.queue_id = :queue and i.done > 0 and {_MINE}
"""

_LEFT = f"""
    select count(*) filter (where {_TAKEN} + i.done < i.needed),
        count(*) filter (where {_TAKEN} + i.done >= i.needed)
    from queue_item i
    where i.queue_id = :queue and i.done < i.needed and not {_MINE}
"""

_FLAGGED = """
    select count(*) from (
        select r.flagged, row_number() over (partition by r.unit_id order by r.at desc, r.uid desc)
            as place
        from my_remark r join queue_item i on i.unit_id = r.unit_id and i.queue_id = :queue
    ) where place = 1 and flagged = 1
"""

_STEPS = """
    select unit_id, is_label, label, flagged, note from (
        select unit_id, 1 as is_label, label, null as flagged, null as note, at, uid from my_reading
        union all select unit_id, 0, null, flagged, note, at, uid from my_remark
    ) where unit_id in (select unit_id from queue_item where queue_id = :queue)
        order by at desc, uid desc limit :n
"""

_HISTORY = """
    select unit_id, label from (
        select r.unit_id, r.label, r.at,
            row_number() over (partition by r.unit_id order by r.at desc, r.uid desc) as place
        from my_reading r join queue_item i on i.unit_id = r.unit_id and i.queue_id = :queue
    ) where place = 1 and label is not null order by at desc limit :limit
"""
