"""One open store: a connection, its transactions, and the verbs on each aggregate."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from stores.annotation.classifiers import Classifiers
from stores.annotation.control_samples import ControlSamples
from stores.annotation.described import DescribedPeople
from stores.annotation.labels import Labels
from stores.annotation.queues import Queues
from stores.annotation.review_leases import ReviewLeases
from stores.annotation.review_queries import ReviewQueries
from stores.annotation.ruled_things import RuledThings
from stores.annotation.rulings import Rulings
from stores.annotation.surveys import Surveys
from stores.core.connection import open_database, open_for_reading, translated
from stores.core.identity import check_expected, gone_instead, identity_of, rescue, write_unsaved
from stores.core.sqlite import Database
from stores.core.state import Remembered
from stores.instruments.checks import Checks
from stores.instruments.choices import Choices
from stores.instruments.drafts import Drafts
from stores.instruments.exchange import Exchange
from stores.instruments.instruments import Instruments
from stores.instruments.issues import Issues
from stores.instruments.questionnaires import Questionnaires
from stores.instruments.statements import Statements
from stores.jobs.batches import Batches
from stores.jobs.jobs import Jobs
from stores.jobs.plans import Plans
from stores.runs.bias import BiasReadings
from stores.runs.data_rows import DataRows
from stores.runs.predictions import Predictions
from stores.runs.raw_answers import RawAnswers
from stores.runs.readings import Readings
from stores.runs.runs import Runs
from stores.runs.scores import Scores
from stores.runs.settlements import Settlements
from workbench.errors import AttemptEnded, NotAStore, ReadOnlyStore, StoreError, StoreGone

T = TypeVar("T")


class Store:
    """A project's SQLite file. One object a thread; objects on the same file may live in any number of processes.

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
        "why this store is slower than it could be, for people; empty where it is not"
        self._attempt: int | None = None
        self._rehearsing = False
        self._remembered = Remembered()
        self.identity = identity_of(self.connection, path)
        self.moved = ""
        "says that the store was gone and where its copy is, which this object writes to since; empty: it is there"
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
        """Open the store at `path`. Raises a `StoreError` that says what to do where that cannot be."""
        path = Path(path)
        try:
            db, notice = open_database(path, create=create)
        except NotAStore as error:
            raise (gone_instead(path) or error) from None
        store = cls(db, path, notice)
        try:
            check_expected(store.identity)
        except StoreGone:
            store.close()
            raise
        return store

    @classmethod
    def open_for_reading(cls, path: Path | str) -> Store:
        """Open the store at `path`; `write` raises ReadOnlyStore. Raises a `StoreError` where it cannot be read."""
        return cls(open_for_reading(Path(path)), Path(path), read_only=True)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for reading; writes go through `write`."""
        connection: sqlite3.Connection = self.db.conn
        return connection

    def remembered(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what `read` returned under a key, unless anybody has written to the store since."""
        return self._remembered.value(self.connection, key, read)

    def work_for(self, attempt: int) -> None:
        """From now on write for this attempt at a job alone: see `write`."""
        self._attempt = attempt

    @contextmanager
    def write(self, attempt: int | None = None) -> Iterator[sqlite3.Connection]:
        """One `begin immediate` transaction: all of the block is written, or nothing of it.

        What is written for an attempt at a job (the one named here, or that of `work_for`) is refused with AttemptEnded
        once that attempt has ended: a worker that was taken for gone must not write beside the one that has its job.

        A file that was deleted, moved or replaced meanwhile is written by nobody: StoreGone says so before the commit.

        Taking the write lock at the start means that waiting happens before any work, bounded by the busy timeout,
        and that a read inside the block cannot be out of date by the time of the write.
        """
        if self._rehearsing:
            yield self.connection
            return
        if self.read_only:
            raise ReadOnlyStore(f"{self.path}: the store is open for reading alone; open it for writing.")
        try:
            self.connection.execute("begin immediate")
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        try:
            self.identity.check_uid(self.connection)
            _check_attempt(self.connection, attempt or self._attempt)
            yield self.connection
            self.identity.check()
            self.connection.execute("commit")
        except BaseException as error:
            self.connection.rollback()
            self._remembered.forget()
            if isinstance(error, sqlite3.OperationalError | sqlite3.DatabaseError) and not isinstance(
                error, sqlite3.IntegrityError
            ):
                raise translated(error, self.path) from error
            raise

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Do what the block writes, and take all of it back at its end: what would come of it can be read inside.

        The store is locked for writers meanwhile, as in `write`; no reader sees anything of it.
        """
        try:
            self.connection.execute("begin immediate")
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        self._rehearsing = True
        try:
            yield
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        finally:
            self._rehearsing = False
            self.connection.rollback()
            self._remembered.forget()

    def copy_to(self, path: Path) -> None:
        """Write all that this store holds now to a new file. Raises StoreError where it cannot be written."""
        try:
            with closing(sqlite3.connect(path)) as copy:
                self.connection.backup(copy)
        except sqlite3.Error as error:
            raise translated(error, path) from error

    def check(self) -> None:
        """Raise StoreGone where the file is no longer there: what is read from now on is on no disk."""
        self.identity.check()

    def keep(self, write: Callable[[], None], unsaved: Iterable[Any] = ()) -> None:
        """Write what exists nowhere else yet. Where the store is gone, go on with a copy of it and write there; `moved`
        says so from then on, and `check_moved` raises it once what is under way has come in, too.

        Raises StoreGone where no copy can be made: `unsaved` (dataclasses) is then in a file of JSON lines.
        """
        try:
            write()
        except StoreGone as error:
            try:
                self.rescue(error)
            except StoreGone as trouble:
                path = write_unsaved(self.identity.path, unsaved)
                raise StoreGone(f"{trouble} What was not stored yet is in {path}, as JSON lines.") from error
            write()

    def rescue(self, error: StoreGone) -> None:
        """Go on with a copy of a store that is gone; once is enough. Raises StoreGone where no copy can be made."""
        if self.moved:
            return
        try:
            path = rescue(self.connection, self.identity)
        except StoreError as trouble:
            raise StoreGone(f"{error} {trouble}") from error
        self.connection.close()
        self._remembered.forget()
        self.db, self.notice = open_database(path, create=False)
        self.path, self.identity = path, identity_of(self.connection, path)
        self.moved = f"{error} All that was stored, and what was not yet, is in {path}: go on there."

    def check_moved(self) -> None:
        """Raise StoreGone where this object goes on with a copy since its store was gone."""
        if self.moved:
            raise StoreGone(self.moved)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_attempt(connection: sqlite3.Connection, attempt: int | None) -> None:
    """Raise AttemptEnded where something is to be written for an attempt that has ended, or whose job was deleted."""
    if attempt is None:
        return
    row = connection.execute("select job_id, outcome, ended_at from attempt where id = ?", (attempt,)).fetchone()
    if row is None:
        raise AttemptEnded("the job of this attempt was deleted; nothing of this was written")
    job, outcome, ended = row
    if ended is not None:
        taken = "another worker has the job now" if outcome == "lost" else f"it ended as {outcome}"
        raise AttemptEnded(f"an attempt at job {job} has ended: {taken}; nothing of this was written")
