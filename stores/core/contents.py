"""The contents of a store: their hash, the newest event, the state of parts, cached results, names.

A copy of a store, a store after `vacuum`, and a store whose answers were read again have the same
hash: derived and internal data are left out (readings of rules, embeddings, leases, heartbeats of
jobs).

While the state of a part, a few numbers, is equal, results computed from the part stay valid.
Answers, readings and remarks are only added, or deleted with their draws, so their numbers and
newest times suffice. Data that people edit in place (instruments, statements, wordings) are few and
compared row by row.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Lock, RLock
from typing import Any, Protocol, TypeVar

DERIVED = frozenset(
    {"embedding", "entailment", "review_lease", "server_batch", "_sqlite_migrations", "identity"}
)
"tables that can be recomputed or are internal to the program"
LEFT_OUT = {
    "job": frozenset(
        {
            "heartbeat",
            "beats",
            "progress",
            "stop_requested",
            "pause_requested",
            "hurried",
            "hidden",
            "mark",
            "lane",
        }
    ),
    "attempt": frozenset({"host", "pid", "place"}),
}
"table -> columns about the state of machines, not about content"
WITHOUT_RULES = {
    "reading": "where reader_id not in (select id from reader where kind = 'rule')",
    "reader": "where kind <> 'rule'",
    "unit": "where id in (select unit_id from reading where reader_id not in (select id from "
    "reader where "
    "kind = 'rule')) or id in (select unit_id from remark)",
}
"readings of rules can be recomputed, which happens whenever figures are shown"
AT_ONCE = 10_000
"number of rows hashed in one step, on which the hash does not depend"
AT = ("at", "created_at", "finished_at", "started_at", "ended_at", "imported_at", "first_seen")
"columns with the time of an event"


def content_hash(connection: sqlite3.Connection) -> str:
    """Return the SHA-256 of all rows as hexadecimal digits.

    Tables come by name, and the rows of a table in the order of their values.
    """
    digest = hashlib.sha256()
    for table in _tables(connection):
        columns = [
            name for name in _columns(connection, table) if name not in LEFT_OUT.get(table, ())
        ]
        column_list = ", ".join(f'"{name}"' for name in columns)
        digest.update(f"{table}({column_list})\n".encode())
        order = ", ".join(str(index + 1) for index in range(len(columns)))
        clause = WITHOUT_RULES.get(table, "")
        rows = connection.execute(f'select {column_list} from "{table}" {clause} order by {order}')
        while chunk := rows.fetchmany(AT_ONCE):
            digest.update("".join(map(repr, chunk)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def last_event(connection: sqlite3.Connection) -> str:
    """Return the time of the newest event in UTC, or an empty string for a store without events."""
    newest = ""
    for table in _tables(connection):
        clause = WITHOUT_RULES.get(table, "")
        for name in _columns(connection, table):
            if name in AT:
                row = connection.execute(f'select max("{name}") from "{table}" {clause}').fetchone()
                newest = max(newest, row[0] or "")
    return newest


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order "
        "by name"
    )
    return [name for (name,) in rows if name not in DERIVED]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f'pragma table_info("{table}")')]


T = TypeVar("T")
Value = int | float | str | bytes | None
State = tuple[object, ...]


class StoreSection(Enum):
    """A part of a store, defined by the queries that detect changes."""

    ANSWERS = (
        "select count(*), max(id), max(at), sum(n), sum(failed) from draw",
        "select count(*), sum(n) from planned",
        "select count(*) from thought",
        "select count(*), max(at), total(log_probability) from score",
        "select count(*), max(at) from next_tokens",
        "select count(*), max(id) from probe",
        "select id, name, revision, snapshot, occasion from model",
    )
    READINGS = (
        "select count(*) from reading",
        "select count(*), max(id) from reader",
        "select count(*), max(id) from classifier",
    )
    MATERIAL = (
        "select * from instrument",
        "select * from instrument_template",
        "select * from statement",
        "select id, statement_id, kind, ordinal, language, text_id, author, relation from wording",
        "select * from template_version",
        "select count(*), max(id) from template",
        "select * from brought_lexicon",
        "select key, name from persona",
        "select * from choice",
        "select count(*), max(at) from answer_set",
        "select count(*), max(at) from question_revision",
        "select count(*), max(at) from scale_revision",
        "select count(*), max(id) from respondent",
        "select count(*) from answer",
        "select count(*), total(agrees * statement_id) from survey_answer",
        "select count(*), max(at) from survey_event",
    )
    REMARKS = ("select count(*), max(at) from remark",)
    FINDINGS = (
        "select count(*), max(at) from waiver",
        "select count(*) from embedding",
        "select count(*) from entailment",
        "select max(id) from job where kind = 'check'",
        "select * from party",
        "select count(*), total(stance), total(stance * statement_id) from party_answer",
        "select count(*), max(at) from issue_label",
        "select * from issue",
        "select count(*), max(id) from gold_choice",
    )
    WORK = (
        "select count(*), max(at) from reading where uid is not null",
        "select count(*), max(id) from queue",
        "select count(*), max(at) from draft_decision",
        "select count(*), max(at) from ruling",
        "select count(*), max(at) from waiver",
        "select count(*), max(at) from issue_label",
        "select count(*), max(id) from gold_choice",
        "select count(*), max(at) from edit",
    )
    """the work of people: labels, adjudications, rulings, decisions on drafts and findings,
    edits. Flags are REMARKS."""
    PRODUCED = (
        "select count(*), max(at) from reading where reader_id not in (select id from reader "
        "where kind = 'rule')",
        "select count(*), max(id) from classifier",
        "select count(*), max(id) from draft",
        "select count(*) from frozen_plan",
    )
    """the products of jobs for people, without the readings of rules, which are written whenever
    figures are shown"""


def state_of(connection: sqlite3.Connection, parts: Sequence[StoreSection]) -> State:
    """Return the state of some parts of a store."""
    return tuple(
        hash(tuple(connection.execute(sql).fetchall())) for part in parts for sql in part.value
    )


MOST_REMEMBERED = 256
"the largest number of results of a connection: instrument, templates and versions of some 80 runs"


class ConnectionCache:
    """The cached results of reads over a connection, valid until somebody writes to the store.

    The least recently used ones are dropped.
    """

    def __init__(self, max_results: int = MOST_REMEMBERED) -> None:
        self._version: tuple[int, int] | None = None
        self._results: OrderedDict[Hashable, object] = OrderedDict()
        self._max_results = max_results

    def value(self, connection: sqlite3.Connection, key: Hashable, read: Callable[[], T]) -> T:
        """Return the cached value of a key, or the result of `read`.

        The data version detects writes of other connections, the number of changes those of this
        one.
        """
        version = (
            int(connection.execute("pragma data_version").fetchone()[0]),
            connection.total_changes,
        )
        if version != self._version:
            self._version = version
            self._results.clear()
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]  # type: ignore[return-value]
        result = self._results[key] = read()
        while len(self._results) > self._max_results:
            self._results.popitem(last=False)
        return result

    def forget(self) -> None:
        """Clear the cache, after a rollback or at the end."""
        self._version = None
        self._results.clear()


class CachingStore(Protocol):
    """A store whose results are kept from one connection to the next."""

    @property
    def identity(self) -> Hashable: ...

    @property
    def connection(self) -> sqlite3.Connection: ...

    @property
    def holds_lock(self) -> bool: ...

    def check_moment(self) -> None: ...

    def remembered(self, key: Hashable, read: Callable[[], T]) -> T: ...


MOST = 48
"the largest number of cached results of a program. The least recently used one goes first"


@dataclass(slots=True)
class _CacheEntry:
    """The cache entry of one result."""

    lock: RLock = field(default_factory=RLock)
    state: State | None = None
    value: Any = None


_CACHE: OrderedDict[Hashable, _CacheEntry] = OrderedDict()
_GUARD = Lock()


def cached_result(
    store: CachingStore,
    key: Hashable,
    parts: Sequence[StoreSection],
    make: Callable[[], T],
    *further: object,
) -> T:
    """Return the cached result of `make`, or a new one if these parts of the store have changed.

    Screens open a store for each read, and an audit or the review needs the results that Home has
    computed. So each result is computed once, and another thread that needs the same one waits for
    it. A store that holds the write lock never waits, since the thread that computes may want to
    write. It also caches no result, since its transaction may be rolled back.

    Parameters
    ----------
    key : identifies the result within a file
    parts : the parts of the store that the result depends on, except what `make` itself writes
    further : further values that it depends on, compared like the parts
    """
    store.check_moment()
    with _GUARD:
        entry = _CACHE.setdefault((store.identity, key), _CacheEntry())
        _CACHE.move_to_end((store.identity, key))
        while len(_CACHE) > MOST:
            _CACHE.popitem(last=False)
    state: State
    if store.holds_lock:
        state = (*(_state(store, part) for part in parts), *further)
        if entry.lock.acquire(blocking=False):
            try:
                if entry.state == state:
                    return entry.value  # type: ignore[no-any-return]
            finally:
                entry.lock.release()
        return make()
    with entry.lock:
        state = (*(_state(store, part) for part in parts), *further)
        if entry.state != state:
            entry.value, entry.state = make(), state
        return entry.value  # type: ignore[no-any-return]


def _state(store: CachingStore, part: StoreSection) -> State:
    """Return the current state of a part.

    Its queries run once until somebody writes to the store.
    """
    return store.remembered(("state", part), lambda: state_of(store.connection, [part]))


def forget() -> None:
    """Forget all results computed so far."""
    with _GUARD:
        _CACHE.clear()


NAMES = {
    "models": "select distinct name from model order by name",
    "instruments": "select name from instrument order by name",
    "queues": "select name from queue order by name",
    "classifiers": "select name from classifier order by name",
    "personas": "select distinct name from persona order by name",
    "languages": "select distinct language from wording order by language",
}


MOST_STEPS = 5_000_000
"the steps of SQLite's machine, a fraction of a second, after which a query for names is ended"


def names(path: Path, kind: str) -> tuple[str, ...]:
    """Return the names of a kind, or none if the store cannot be read without changes.

    Comparing the schema would import too much for a press of Tab. A foreign view in place of a
    table can only produce names: it is not trusted, and ended after some steps.
    """
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
        try:
            connection.execute("pragma trusted_schema = off")
            connection.set_progress_handler(lambda: 1, MOST_STEPS)
            return tuple(str(name) for (name,) in connection.execute(NAMES[kind]))
        finally:
            connection.close()
    except sqlite3.Error:
        return ()
