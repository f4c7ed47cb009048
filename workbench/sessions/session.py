"""The base of sessions: a connection of their own, the steps that undo withdraws, and a thread.

An SQLite connection belongs to one thread, and a screen must not wait for a disk. So a session has
one thread with one connection, which handles requests in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from workbench.errors import ConflictError

if TYPE_CHECKING:
    from stores.core.store import Store

C = TypeVar("C", bound="Closable")
S = TypeVar("S", bound="Session[Any]")
Step = TypeVar("Step")
T = TypeVar("T")


class Closable(Protocol):
    """An open store, or one person's view of it."""

    def close(self) -> None: ...


class Session(Generic[C]):
    """One person's steps over items of a store.

    Every method has committed its change when it returns. Use a session in one thread only, such as
    that of `SessionThread`, because it has a connection of its own.
    """

    def __init__(self, path: Path):
        self.path = path
        self.store = self.open(path)

    def open(self, path: Path) -> C:
        """Open the store as far as the person may see it."""
        raise NotImplementedError("abstract")

    def move(self, path: Path) -> None:
        """Go on in the copy of a store that is gone. Earlier steps can still be undone."""
        self.path = path
        self.go_on_with(self.open(path))

    def go_on_with(self, store: C) -> None:
        """Use another connection, and close the previous one."""
        previous, self.store = self.store, store
        previous.close()

    def close(self) -> None:
        """Close the store. A closed session may be closed again."""
        self.store.close()


class StoreSession(Session["Store"]):
    """A session that may see the whole store."""

    def open(self, path: Path) -> Store:
        from stores.core.store import Store

        return Store.open(path)


class UndoSteps(Generic[Step]):
    """The steps that a person can undo, the newest last."""

    def __init__(self, steps: Iterable[Step] = ()):
        self._steps = list(steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def add(self, step: Step) -> None:
        self._steps.append(step)

    def replace(self, steps: Iterable[Step]) -> None:
        """Keep these steps alone."""
        self._steps = list(steps)

    def undo(self, withdraw: Callable[[Step], T]) -> T:
        """Withdraw the newest step, and return the result. Call it only if there is a step.

        The step is forgotten once that is committed. It is also forgotten after a ConflictError,
        because somebody has changed its subject since. After any other error, such as that of a
        busy store, it can be undone again.
        """
        try:
            result = withdraw(self._steps[-1])
        except ConflictError:
            self._steps.pop()
            raise
        self._steps.pop()
        return result


class SessionThread(Generic[S]):
    """The thread of a session. It opens the store, again after each failure."""

    def __init__(self, path: Path, begin: Callable[[Path], S]):
        self._path, self._begin = path, begin
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session")
        self._session: S | None = None

    def submit(self, ask: Callable[[S], T]) -> Future[T]:
        """Run a function in the thread, after all earlier requests."""
        return self._pool.submit(lambda: ask(self._begun()))

    def close(self) -> Future[None]:
        """Close the session after all earlier requests. It returns at once."""
        closing = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closing

    def move(self, path: Path) -> None:
        """Go on in the copy of a store that is gone."""
        self._path = path
        self._pool.submit(self._move)

    def _begun(self) -> S:
        if self._session is None:
            self._session = self._begin(self._path)
        return self._session

    def _move(self) -> None:
        if self._session is not None:
            self._session.move(self._path)

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
