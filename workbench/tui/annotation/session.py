"""An annotation session: what one person labels, what a screen needs of it, and the thread that it
lives on.

An SQLite connection belongs to one thread, and a screen must not wait for a disk. So a session has
one thread with one connection, which does what it is asked in that order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from workbench.errors import ConflictError, StoreError, StoreGone
from workbench.figures.visible import visible
from workbench.tui.kit.base import StoreScreen, app_of, as_trouble, offer_copy
from workbench.tui.kit.key_gate import gate_of

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.domain.annotations import Codebook
    from workbench.tui.kit.awaited import Awaited

T = TypeVar("T")


class Progress(Protocol):
    """How far a person is."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def per_hour(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Tally:
    """How many units are done."""

    done: int
    total: int
    per_hour: float | None = None

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class Item:
    """What is labelled, and what this person said of it."""

    unit: int
    "tells it from the other items of the session"
    text: str
    statement: str = ""
    "the statement that the text answers"
    where: str = ""
    "economic · right"
    label: str | None = None
    flagged: bool = False
    note: str = ""
    elsewhere: bool = False
    "whether another session of this person has it, too"


@dataclass(frozen=True, slots=True)
class View:
    """What is before the person now."""

    item: Item | None
    "None: nothing is left for them"
    progress: Progress
    steps: int
    "how often one can undo"
    former: str = ""
    "the label that undoing withdrew"
    undone: str = ""
    "what undoing took back"
    page: Content | None = None
    "what is read instead of the item: an introduction, the end"
    more: int = 0
    "items that the person may go on with at the end"


@dataclass(frozen=True, slots=True)
class Given:
    """One of the person's own labels, for a list."""

    unit: int
    label: str
    statement: str
    text: str
    "the beginning of each"
    flagged: bool = False
    note: str = ""
    confidence: float | None = None


class Session(Protocol):
    """What the thread needs. Use a session in its thread only."""

    def move(self, path: Path) -> None:
        """Go on in the copy of a store that is gone; what was done before stays undoable."""

    def close(self) -> None:
        """Give back what was not labelled, and close the store."""


class AnnotationSession(Session, Protocol):
    """The steps of one person over items that come one at a time. Every verb is committed when it
    returns.
    """

    @property
    def codebook(self) -> Codebook:
        """The version under which labels are given now; `next` takes a later one."""

    def next(self) -> View:
        """Return what comes next, leased to this person."""

    def label(
        self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None
    ) -> None: ...

    def skip(self, unit: int, elapsed_ms: int | None) -> None:
        """Put an item behind all others."""

    def undo(self, current: int | None) -> View:
        """Take the newest step back and return its item; `current` comes back later. Call it where
        there is a step.
        """


S = TypeVar("S", bound=Session)
Shows = Callable[[], object]
"puts what a session did on the screen"


class StoreSession:
    """A session on a connection of its own."""

    def __init__(self, path: Path):
        self._store = _opened(path)

    def move(self, path: Path) -> None:
        before, self._store = self._store, _opened(path)
        before.close()

    def close(self) -> None:
        self._store.close()


def _opened(path: Path) -> Store:
    from stores.core.store import Store

    return Store.open(path)


class SessionThread(Generic[S]):
    """The thread on which a session lives. It opens the store, and opens it again as long as that
    fails.
    """

    def __init__(self, path: Path, begin: Callable[[Path], S]):
        self._path, self._begin = path, begin
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="annotation")
        self._session: S | None = None

    def submit(self, ask: Callable[[S], T]) -> Future[T]:
        """Have something done in the thread, after what was asked before."""
        return self._pool.submit(lambda: ask(self._begun()))

    def close(self) -> Future[None]:
        """Close the session once all that was asked is done; returns at once."""
        closed = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closed

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


GLANCE_S = 0.1
"after an item was painted; nobody answers what they see faster, but a key that bounces does"
CLICK_S = 0.5
"the same for the mouse: the second half of a double click"
WAITING_S = 0.5
"from which the screen says that it waits for the store"
CLOSING_S = 2.0
"for which leaving waits for the store"
NEVER = float("inf")


class SessionScreen(StoreScreen, Generic[S]):
    """Has the session take one step at a time, and closes it when it is left. `#pace` says what was
    done.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,0,1,2,3,4,5,6,7,8,9", "nothing", show=False),
    ]
    AT_WORK = True
    UNIT = "item"
    "what a person labels, in a word"

    def __init__(self) -> None:
        super().__init__()
        self._thread: SessionThread[S] | None = None
        self._busy = True
        "something was asked that is not answered"
        self._seen_at = NEVER
        "when the item was painted"
        self._said = ""
        "what was done last"
        self._waiting: Timer | None = None
        self._awaited: Awaited | None = None
        "what keys wait for"

    async def on_unmount(self) -> None:
        await self.end()

    @property
    def ready(self) -> bool:
        """Whether a key pressed now would count."""
        return self.accepts(monotonic())

    @property
    def person(self) -> str | None:
        """Who annotates here; known to the app, so that other screens ask nobody twice."""
        return app_of(self).annotator

    def was_seen(self, at: float) -> bool:
        """Whether the item was in sight when a key was pressed."""
        return at >= self._seen_at + GLANCE_S

    def accepts(self, at: float) -> bool:
        """Whether a key pressed at a time counts: the item was seen, and nothing is being
        written.
        """
        return not self._busy and self.was_seen(at)

    def accepts_click(self, at: float) -> bool:
        return self.accepts(at) and at >= self._seen_at + CLICK_S

    def begin(self, open_: Callable[[Path], S]) -> None:
        """Begin a session; one of somebody else ends."""
        if self._thread is not None:
            self._thread.close()
        self._thread = SessionThread(self.store_path, open_)

    async def end(self) -> None:
        """End the session once all that was asked is done; wait for that, but not for ever."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            await asyncio.wait([asyncio.wrap_future(thread.close())], timeout=CLOSING_S)

    def submit(self, ask: Callable[[S], Shows], lost: str = "", *, opens: bool = False) -> None:
        """Have the session do something, then call what it answers with. `lost` names what is
        unsaved if it fails, `opens`: the answer is a screen of its own.
        """
        if self._thread is None:
            return
        self._busy, thread = True, self._thread
        if self._awaited is None:
            self._awaited = gate_of(self).expect(self, "screen" if opens else "content")

        def answer(future: Future[Shows]) -> None:
            error = future.exception()
            if self._thread is thread:  # else somebody else annotates here by now
                self.call_later(
                    future.result() if error is None else partial(self.show_failure, error, lost)
                )

        thread.submit(ask).add_done_callback(answer)
        self._waiting = self.set_timer(WAITING_S, self.still_waits)

    def answered(self, *, failed: bool = False) -> None:
        """Take the answer as it came: nothing is being written, and nothing is wrong."""
        self._busy = False
        if self._awaited is not None:
            awaited, self._awaited = self._awaited, None
            # Once the answer is shown.
            self.call_next(partial(gate_of(self).came, awaited, failed=failed))
        self.trouble.hide()
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def still_waits(self) -> None:
        """Say that one waits, unless the answer came while the clock's message was on its way."""
        if self._busy:
            self.say(Content.styled("waiting for the store; your work is safe …", "bold"))

    def say(self, line: Content) -> None:
        """Show a line in the place of the pace."""
        self.query_one("#pace", Static).update(line, layout=False)

    def show_progress(self) -> None:
        """Show how far and how fast the person is, and what was done last."""
        raise NotImplementedError("abstract")

    def show_failure(self, error: BaseException, lost: str, said: str = "") -> None:
        """Say what went wrong, and whether anything was not written. The item stays where it is.

        lost : what was not written, for the person; nothing where all was
        said : what was written before it failed
        """
        self.answered(failed=True)
        trouble = as_trouble(error)
        told, line = trouble, "the store could not be read; F5 tries again"
        if lost:
            again = (
                ""
                if isinstance(trouble, ConflictError)
                else f" The {self.UNIT} stays here: press the key again."
            )
            told, line = (
                StoreError(f"{lost} was NOT saved.{again}\n\n{trouble}"),
                f"{lost} was NOT saved",
            )
        elif said:
            told = StoreError(
                f"{said}, but the next item could not be read: F5 tries again.\n\n{trouble}"
            )
            line = f"{said}, but the next item could not be read; F5 tries again"
            self._seen_at = NEVER  # what is shown is done with: keys wait for the next one
        self._said = said
        self.failed(told)
        self.say(Content.styled(visible(f"✗ {line}"), "bold $text-error"))
        if isinstance(trouble, StoreGone):
            offer_copy(self.app, trouble)

    def store_gone(self) -> None:
        self._said = ""
        self.say(Content.styled("✗ the store is gone", "bold $text-error"))

    def store_moved(self) -> None:
        """Let the person press the key again: what was before them stays there."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        if self._thread is not None:
            self._thread.move(self.store_path)

    def action_nothing(self) -> None:
        """Take keys that lead away elsewhere: one of them pressed by mistake must not."""

    async def action_leave(self) -> None:
        """Leave. What is being saved is saved first; what was not labelled goes back."""
        await self.app.run_action("back")
