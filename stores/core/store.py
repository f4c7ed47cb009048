"""An open store: a connection, its transactions, and its aggregates."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, TypeVar

from stores.annotation.annotation_items import Codebooks
from stores.annotation.exchange import Exchange
from stores.annotation.labels import Classifiers, Labels
from stores.annotation.people import DescribedPeople, Surveys
from stores.annotation.queues import Queues
from stores.annotation.reviews import ReviewLeases, ReviewQueries
from stores.annotation.rulings import ControlSamples, RuledThings, Rulings
from stores.core.base import Database
from stores.core.connection import (
    check_schema,
    open_copy,
    open_database,
    open_for_reading,
    store_error_of,
)
from stores.core.contents import ConnectionCache
from stores.core.identity import check_expected, gone_instead, identity_of, rescue, write_unsaved
from stores.core.machines import claim_for_machine
from stores.core.rescue import damage_message
from stores.core.resource import Resource
from stores.core.values import refusal_words, refuse_wrong_values
from stores.instruments.checks import Checks
from stores.instruments.choices import Choices
from stores.instruments.drafts import Drafts
from stores.instruments.instruments import Instruments
from stores.instruments.issues import Issues
from stores.instruments.questionnaires import Questionnaires
from stores.instruments.statements import Statements
from stores.jobs.job_rows import Batches, Plans
from stores.jobs.jobs import Jobs
from stores.runs.answers import RawAnswers
from stores.runs.data_rows import DataRows
from stores.runs.models import Settlements
from stores.runs.predictions import Predictions
from stores.runs.readings import BiasReadings, Readings
from stores.runs.runs import Runs
from stores.runs.scores import Scores
from workbench.errors import AttemptEnded, NotAStore, ReadOnlyStore, StoreError, StoreGone

P = ParamSpec("P")
T = TypeVar("T")
SNAPSHOTS = 3
"""the number of times that a read is repeated because it wrote. Then it takes the write lock, so
that nobody else writes meanwhile"""
BROKEN_OFF = 20
"the further repeats that are allowed if a read was broken off before most of its work"

POLL_S = (0.001, 0.003)
"""how long a writer sleeps before it tries for the lock again. SQLite's own waits grow, so that
newcomers go first"""
WORKING_CACHE_KIB = 32_768
"""the pages of the file that a worker caches. A terminal opens several connections and is no
faster with as many"""
REST_S = 0.005
"""the longest pause of a writer after a transaction, so that every waiting writer has tried
meanwhile"""


class Superseded(BaseException):
    """The signal that a read will be repeated, so its remaining work is of no use.

    Only `Store.at_once` catches it.
    """


class _MomentPassed(Exception):
    """The signal that a read wrote, so that its result may be of two moments."""

    def __init__(self, *, broken_off: bool = False) -> None:
        super().__init__()
        self.broken_off = broken_off
        "whether the read was broken off before most of its work"


@dataclass(slots=True)
class _Tries:
    """The number of times that a read is repeated before it takes the write lock."""

    left: int = SNAPSHOTS
    broken_off_left: int = BROKEN_OFF

    def count(self, passed: _MomentPassed) -> None:
        """Count a failed try. Of those that were broken off, the first ones are free."""
        if passed.broken_off and self.broken_off_left:
            self.broken_off_left -= 1
        else:
            self.left -= 1


class Store(Resource):
    """A project's SQLite file.

    Use one object per thread. Any number of processes may use the same file.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> with Store.open(Path(mkdtemp()) / "audit.db", create=True) as store:
    ...     store.instruments.names()
    ()
    """

    def __init__(self, db: Database, path: Path, notice: str = "", *, read_only: bool = False):
        self.db = db
        self.read_only = read_only
        self.path = path
        self.notice = notice
        "why this store is slower than it could be, for display, or an empty string if it is not"
        self._held = ExitStack()
        "the resources to release when the store is closed"
        self._refuses_wrong_values = False
        "whether the connection has the triggers of `values`"
        self._attempt: int | None = None
        self._nested = False
        "whether writes belong to an enclosing open transaction"
        self._snapshot = False
        "whether reads belong to a snapshot, which a write ends"
        self._superseded = False
        "whether the current read will be repeated, because a write has ended its snapshot"
        self._rests_until = 0.0
        """the time before which this object does not ask for the lock again, so that others have
        their turn"""
        self._cache = ConnectionCache()
        self.identity = identity_of(self.connection, path)
        self.moved = ""
        """the message that the store was lost, with the path of the copy that this object now
        writes to, or an empty string if it was not lost"""
        self.instruments = Instruments(self)
        self.statements = Statements(self)
        self.drafts = Drafts(self)
        self.checks = Checks(self)
        self.issues = Issues(self)
        self.surveys = Surveys(self)
        self.questionnaires = Questionnaires(self)
        self.choices = Choices(self)
        self.runs = Runs(self)
        self.raw_answers = RawAnswers(self)
        self.settlements = Settlements(self)
        self.scores = Scores(self)
        self.predictions = Predictions(self)
        self.readings = Readings(self)
        self.jobs = Jobs(self)
        self.plans = Plans(self)
        self.batches = Batches(self)
        self.codebooks = Codebooks(self)
        self.queues = Queues(self)
        self.labels = Labels(self)
        self.rulings = Rulings(self)
        self.control_samples = ControlSamples(self)
        self.review_queries = ReviewQueries(self)
        self.review_leases = ReviewLeases(self)
        self.people = DescribedPeople(self)
        self.ruled_things = RuledThings(self)
        self.exchange = Exchange(self)
        self.classifiers = Classifiers(self)
        self.bias = BiasReadings(self)
        self.data_rows = DataRows(self)

    @classmethod
    def open(cls, path: Path | str, *, create: bool = False) -> Store:
        """Open the store at `path`. Raises a `StoreError` that says what to do if that fails."""
        path = Path(path)
        with ExitStack() as resources:
            resources.enter_context(claim_for_machine(path))
            try:
                db, notice = open_database(path, create=create)
            except NotAStore as error:
                raise (gone_instead(path) or error) from None
            store = cls(db, path, notice)
            resources.callback(store.connection.close)
            check_expected(store.identity)
            store._held = resources.pop_all()
        return store

    @classmethod
    def open_for_reading(cls, path: Path | str) -> Store:
        """Open the store at `path` read-only.

        `write` then raises ReadOnlyStore. Raises a `StoreError` if the store cannot be opened.
        """
        with ExitStack() as resources:
            resources.enter_context(claim_for_machine(Path(path)))
            store = cls(open_for_reading(Path(path)), Path(path), read_only=True)
            resources.callback(store.connection.close)
            store._held = resources.pop_all()
        return store

    @classmethod
    @contextmanager
    def open_copied(cls, path: Path) -> Iterator[Store]:
        """Open a copy of the store at `path`, of any schema.

        The file itself is only read. Raises a `StoreError` if that fails.
        """
        with (
            TemporaryDirectory() as folder,
            cls(open_copy(path, Path(folder)), Path(folder) / path.name) as store,
        ):
            try:
                yield store
            except Exception as error:
                if not (message := damage_message(error, path)):
                    raise
                raise StoreError(message) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for reading. Writes go through `write`."""
        connection: sqlite3.Connection = self.db.conn
        return connection

    def remembered(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return the cached result of `read` for a key, unless the store was written to since."""
        return self._cache.value(self.connection, key, read)

    def at_once(self, read: Callable[[], T]) -> T:
        """Return the result of `read`, all of whose queries see the store as it is at one moment.

        What `read` writes is committed at once, and `read` is called again, so it must return the
        same for the same store. (Rules read new answers when figures are shown.) Where `read` goes
        on to a result that is cached, it is broken off for the repeat. Inside another transaction
        it sees what that one sees.
        """
        if self.connection.in_transaction:
            return read()
        self.check_moment()
        tries = _Tries()
        while tries.left:
            try:
                return self._read_snapshot(read)
            except _MomentPassed as passed:
                tries.count(passed)
        with self.write():
            self._nested = True
            try:
                return read()
            finally:
                self._nested = False

    def _read_snapshot(self, read: Callable[[], T]) -> T:
        """Return the result of `read` in one transaction.

        Raises _MomentPassed if it wrote, which ends the snapshot that it reads.
        """
        self._snapshot = True
        self.connection.execute("begin")
        try:
            check_schema(self.connection, self.path)
            result = read()
        except Superseded:
            raise _MomentPassed(broken_off=True) from None
        except Exception as error:
            if self._snapshot:
                raise
            raise _MomentPassed from error  # two moments may not fit each other
        else:
            if not self._snapshot:
                raise _MomentPassed
            return result
        finally:
            self._snapshot = self._superseded = False
            self.connection.rollback()

    def check_moment(self) -> None:
        """Break off the read of `at_once` if it will be repeated."""
        if self._superseded:
            raise Superseded

    @property
    def holds_lock(self) -> bool:
        """Whether this store has locked the file for writers, and reads within that lock."""
        return self._nested

    def work_for(self, attempt: int) -> None:
        """Set the attempt at a job for all later writes (see `write`).

        They are many, so more of the file is cached.
        """
        self._attempt = attempt
        self.connection.execute(f"pragma cache_size = -{WORKING_CACHE_KIB}")

    @contextmanager
    def write(self, attempt: int | None = None) -> Iterator[sqlite3.Connection]:
        """Run the block in one `begin immediate` transaction, written completely or not at all.

        Writes for an attempt at a job (`attempt`, or that of `work_for`) are refused with
        AttemptEnded after the attempt has ended: a worker that was considered lost must not write
        in parallel to its successor.

        If the file was deleted, moved or replaced in the meantime, StoreGone is raised before the
        commit. If a newer workbench migrated it, NewerStore is raised.

        The write lock is taken at the start. So waiting, limited by the busy timeout, happens
        before any work, and reads inside the block are still current at the time of the write.
        After the transaction, the writer lets others go first for as long as the transaction took,
        but at most for `REST_S`.
        """
        if self._nested:
            yield self.connection
            return
        if self.read_only:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading alone; open it for writing."
            )
        if self._snapshot:
            self._snapshot, self._superseded = False, True
            self.connection.rollback()
        if (pause := self._rests_until - time.monotonic()) > 0:
            time.sleep(pause)
        try:
            self._refuse_wrong_values()
            _lock(self.connection)
        except sqlite3.Error as error:
            raise store_error_of(error, self.path) from error
        locked = time.monotonic()
        try:
            self.identity.check_uid(self.connection)
            check_schema(self.connection, self.path)
            _check_attempt(self.connection, attempt or self._attempt)
            yield self.connection
            self.identity.check()
            self.connection.execute("commit")
        except BaseException as error:
            self.connection.rollback()
            self._cache.forget()
            store_error = self._store_error_of(error)
            if store_error is not None:
                raise store_error from error
            raise
        finally:
            ended = time.monotonic()
            self._rests_until = ended + min(ended - locked, REST_S)

    def _store_error_of(self, error: BaseException) -> StoreError | None:
        """Return what an error in a transaction means for the store, or None for other errors."""
        if isinstance(error, sqlite3.Error) and (reason := refusal_words(error)):
            return StoreError(f"{self.path}: {reason}; nothing of this change was written.")
        if isinstance(error, OverflowError) and "SQLite INTEGER" in str(error):
            return StoreError(
                f"{self.path}: a number has more digits than a store can hold; nothing of "
                "this change was written."
            )
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.IntegrityError
        ):
            return store_error_of(error, self.path)
        return None

    def _refuse_wrong_values(self) -> None:
        """Make the connection refuse wrong values before it writes for the first time."""
        if self._refuses_wrong_values:
            return
        try:
            refuse_wrong_values(self.connection)
        except sqlite3.DatabaseError as error:
            if "not authorized" not in str(error):  # an annotator's connection writes labels alone
                raise
        self._refuses_wrong_values = True

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Run the block and roll back its writes at the end, so that it can read their effects.

        The store is locked for writers as in `write`. Other connections do not see the changes.
        """
        try:
            _lock(self.connection)
        except sqlite3.Error as error:
            raise store_error_of(error, self.path) from error
        self._nested = True
        try:
            check_schema(self.connection, self.path)
            yield
        except sqlite3.Error as error:
            raise store_error_of(error, self.path) from error
        finally:
            self._nested = False
            self.connection.rollback()
            self._cache.forget()

    def copy_to(self, path: Path) -> None:
        """Write the contents of the store to a new file. Raises StoreError if that fails."""
        try:
            with closing(sqlite3.connect(path)) as copy:
                self.connection.backup(copy)
        except sqlite3.Error as error:
            raise store_error_of(error, path) from error

    def check(self) -> None:
        """Raise StoreGone if the file no longer exists."""
        self.identity.check()

    def keep(self, write: Callable[[], None], unsaved: Iterable[Any] = ()) -> None:
        """Write data that exist nowhere else.

        If the store was lost, continue with a copy of it and write there. `moved` then has a
        message, and `check_moved` raises it when active work has been stored.

        Raises StoreGone if no copy can be made. `unsaved` (dataclasses) is then in a file of JSON
        lines.
        """
        try:
            write()
        except StoreGone as error:
            try:
                self.rescue(error)
            except StoreGone as rescue_error:
                path = write_unsaved(self.identity.path, unsaved)
                raise StoreGone(
                    f"{rescue_error} What was not stored yet is in {path}, as JSON lines."
                ) from error
            write()

    def rescue(self, error: StoreGone) -> None:
        """Continue with a copy of a lost store, unless this has been done.

        Raises StoreGone if no copy can be made.
        """
        if self.moved:
            return
        try:
            path = rescue(self.connection, self.identity)
        except StoreError as rescue_error:
            raise StoreGone(f"{error} {rescue_error}") from error
        self.connection.close()
        self._cache.forget()
        self._held.enter_context(claim_for_machine(path))
        self.db, self.notice = open_database(path, create=False)
        self.path, self.identity = path, identity_of(self.connection, path)
        self.moved = (
            f"{error} All that was stored, and what was not yet, is in {path}: go on there."
        )

    def check_moved(self) -> None:
        """Raise StoreGone if this object continues with a copy because its store was lost."""
        if self.moved:
            raise StoreGone(self.moved)

    def close(self) -> None:
        self._cache.forget()
        self.connection.close()
        self._held.close()


def _lock(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes.

    Every waiting writer tries equally often, for as long as the busy timeout says.
    """
    patience_ms = connection.execute("pragma busy_timeout").fetchone()[0]
    deadline = time.monotonic() + patience_ms / 1000
    connection.execute("pragma busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("begin immediate")
                return
            except sqlite3.OperationalError as error:
                if (
                    error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY
                    or time.monotonic() > deadline
                ):
                    raise
            time.sleep(random.uniform(*POLL_S))  # noqa: S311
    finally:
        connection.execute(f"pragma busy_timeout = {patience_ms}")


def _check_attempt(connection: sqlite3.Connection, attempt: int | None) -> None:
    """Raise AttemptEnded for a write for an attempt that has ended, or whose job was deleted."""
    if attempt is None:
        return
    row = connection.execute(
        "select job_id, outcome, ended_at from attempt where id = ?", (attempt,)
    ).fetchone()
    if row is None:
        raise AttemptEnded("the job of this attempt was deleted; nothing of this was written")
    job, outcome, ended = row
    if ended is not None:
        outcome_text = (
            "another worker has the job now" if outcome == "lost" else f"it ended as {outcome}"
        )
        raise AttemptEnded(
            f"an attempt at job {job} has ended: {outcome_text}; nothing of this was written"
        )


def at_once(read: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Let a function that reads a store see it as it is at one moment (see `Store.at_once`)."""

    @wraps(read)
    def reading(store: Store, /, *more: P.args, **named: P.kwargs) -> T:
        return store.at_once(lambda: read(store, *more, **named))

    return reading
