"""What the screens of a mode have in common: a title, a panel for trouble, a footer, and how
workers' errors show.
"""

from __future__ import annotations

import sys
import traceback
from asyncio import CancelledError, Future, get_running_loop, shield, to_thread
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar, cast

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from workbench.errors import StoreError, StoreGone, WorkbenchError
from workbench.figures.hints import hinted
from workbench.figures.visible import visible
from workbench.tui.keymap import Keyed
from workbench.tui.preferences import state_file
from workbench.tui.widgets.frame import SAID_S, Keys, TitleBar, Trouble
from workbench.version import __version__

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.tui.kit.awaited import Awaited, Gate, Kind

Given = ParamSpec("Given")
T = TypeVar("T")
Node = TypeVar("Node", bound="Background")


class Workbench(Protocol):
    """What screens and dialogs ask of the app that shows them; `workbench.tui.app` is it."""

    store_path: Path
    annotator: str | None
    "who sits here: asked for when it is first needed"
    notice: str
    "what of a person's own keys and choices is not used, for Home"
    left_at: dict[str, Any]
    "place of a screen that is made anew each time -> what it showed when it was left"

    def show_mode(self, mode: str) -> None:
        """Show the screen of a mode."""

    def show_run(self, mode: str, run: Run) -> None:
        """Show the figures of a run in a mode of results."""

    def store_gone(self, error: WorkbenchError) -> None:
        """Say that the store is gone, and offer to write what it held to another file."""

    def store_version(self) -> int | None:
        """Return a number that every write to the store changes; None: nobody knows."""


def app_of(node: DOMNode) -> Workbench:
    """Return the app that shows a screen or a dialog."""
    return cast("Workbench", node.app)


def say(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Say what was done; `warns`: why nothing was, or that it was not what was meant.

    A window without a title line says it beside its buttons, in `#told`; one without either lets
    the screen below it.
    """
    for bar in screen.query(TitleBar):
        bar.say(sentence, warns=warns)
        return
    try:
        told = screen.query_one("#told", Static)
    except NoMatches:
        say_below(screen, sentence, warns=warns)
        return
    told.update(Content.styled(visible(sentence), "$text-warning" if warns else "$text-success"))
    told.set_timer(SAID_S, lambda: told.update(""))


def say_below(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Say what a window did, on the screen that is in sight once it is closed."""
    stack = screen.app.screen_stack
    at = stack.index(screen) if screen in stack else len(stack)
    for below in reversed(stack[:at]):
        for bar in below.query(TitleBar):
            bar.say(sentence, warns=warns)
            return


FAULTS, KEPT_CHARACTERS = "faults.log", 200_000
"file with the tracebacks of bugs, beside the list of recent stores, and how much of it is kept"


def once_painted(widget: Widget, show: Callable[[], object]) -> None:
    """Call a function after the next refresh, unless the widget is taken off the screen before.

    A widget that is being removed has lost its parts already, and a call that was waiting for its
    refresh still comes.
    """
    widget.call_after_refresh(lambda: show() if widget.display else None)


def store_path(app: object) -> Path:
    """Return the store that the running app is about."""
    return cast("Workbench", app).store_path


def in_store(app: object, text: str) -> str:
    """Return a message with the store at hand in the commands that it names."""
    return hinted(text, store_path(app))


def offer_copy(app: object, error: WorkbenchError) -> None:
    """Say that the store is gone, and offer to write what it held to another file."""
    cast("Workbench", app).store_gone(error)


def as_trouble(error: BaseException) -> WorkbenchError:
    """Return an error that a person can mend. A bug is written to a file, with its traceback, and
    named.
    """
    if isinstance(error, WorkbenchError):
        return error
    if type(error).__module__ == "sqlite3":  # not imported here: only stores know the database
        return StoreError(
            f"The store could not be read: {error}. Nothing has changed; F5 tries again. Where "
            "it stays, see what is "
            "damaged: workbench doctor STORE"
        )
    place = noted(error)
    where = (
        f"the details are in {place}; send that file with your report"
        if place
        else "no file could be written"
    )
    return WorkbenchError(
        f"workbench has a fault here ({type(error).__name__}: {error}). Nothing stored has "
        "changed, and everything "
        "else goes on. F5 tries again. Where it stays, see whether the store is damaged "
        "(workbench doctor STORE), or "
        f"report it: {where}."
    )


def noted(error: BaseException) -> Path | None:
    """Write the traceback of a bug to the end of a file in a person's state folder; return the
    file, None where it cannot be written.
    """
    beside = state_file()
    if beside is None:
        return None
    place = beside.with_name(FAULTS)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = (
            place.read_text(encoding="utf-8", errors="replace")[-KEPT_CHARACTERS:]
            if place.exists()
            else ""
        )
        told = "".join(traceback.format_exception(error))
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        said = f"{kept}{now} workbench {__version__}\n{told}\n"
        place.write_text(said, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return None
    return place


def of_store(path: Path, load: Callable[[Store], T]) -> T:
    """Return what `load` makes of the store at `path`, which is open for it alone."""
    from stores.core.store import Store

    with Store.open(path) as store:
        return load(store)


def read_store(path: Path, load: Callable[[Store], T]) -> T:
    """Return what `load` reads of the store at `path`: all of one moment, whoever writes meanwhile;
    see `at_once`.
    """
    began = monotonic()
    found = of_store(path, lambda store: store.at_once(lambda: load(store)))
    if monotonic() - began > LONG_S:
        give_back_memory()
    return found


LONG_S = 0.5
"a read that takes longer has filled memory that nothing needs after it"


def give_back_memory() -> None:
    """Return to the system the memory that is free: glibc keeps up to half of what a long read
    took.
    """
    import ctypes

    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


BESIDE = 150
"columns from which what is known of the current line stands beside the list, not below"
WRITES: ContextVar[bool] = ContextVar("WRITES", default=False)
"whether the worker at hand writes, so that its act outlives its screen"


def say_late(app: App[Any], written: Future[Any]) -> None:
    """Say what a write came to whose screen was left meanwhile, if it failed: on the screen in
    sight, or below the program that has ended.
    """
    if (error := written.exception()) is None:
        return
    told = f"What you began on the screen before was not done. {as_trouble(error)}"
    if app.is_running:
        say(app.screen, told, warns=True)
    else:
        print(visible(told), file=sys.stderr)


class Background(DOMNode):
    """A screen with workers. What one of them cannot do is said in its place: none ends the
    program.
    """

    async def with_store(self, load: Callable[[Store], T], *, leases: bool = False) -> T:
        """Return what `load` reads or writes in a thread, with a connection to the app's store of
        its own.

        Await it in a method that is a `worker`. Where the screen was left meanwhile, the method
        does not go on; what was to be written is, and what stands in its way is said on the screen
        in sight. What is read is of one moment, and may be read again for that: a worker that does
        not write, but `leases` an item, says so.
        """
        if not WRITES.get():
            return await to_thread(of_store if leases else read_store, store_path(self.app), load)
        written: Future[T] = get_running_loop().run_in_executor(
            None, of_store, store_path(self.app), load
        )
        try:
            return await shield(written)
        except CancelledError:
            written.add_done_callback(partial(say_late, self.app))
            raise

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.failed(as_trouble(event.worker.error))

    def failed(self, error: WorkbenchError) -> None:
        """Show what a worker could not do: in the title line, or beside the buttons of a window."""
        say(cast("Screen[Any]", self), str(error), warns=True)


IN_BACKGROUND: ContextVar[bool] = ContextVar("IN_BACKGROUND", default=False)
"whether no key waits for the workers that are started"


@contextmanager
def in_background() -> Iterator[None]:
    """Start workers that no key waits for: they show again what is in sight, in case it changed."""
    token = IN_BACKGROUND.set(True)
    try:
        yield
    finally:
        IN_BACKGROUND.reset(token)


def worker(
    group: str, *, newest: bool = True, opens: bool = False, beside: bool = False
) -> Callable[
    [Callable[Concatenate[Node, Given], Coroutine[Any, Any, None]]],
    Callable[Concatenate[Node, Given], Worker[None]],
]:
    """Make an async method return at once and go on beside the messages of its screen. What it
    cannot do is said by `Background.failed`.

    `newest`: a later call of the group takes its place, and what the earlier one reads is not
    shown. What writes says False: a later call does not take the place of an earlier one, and what
    `with_store` was given is carried out even where the screen is left. What the method does after
    it is not, so one act of a person is one call of `with_store`.

    Keys wait until it is done: see `key_gate`. `opens`: it shows another screen, for which all keys
    are meant. `beside`: what it brings changes nothing that a key depends on, so no key waits.
    """
    kind: Kind = "screen" if opens else "content" if newest else "write"

    def decorate(
        method: Callable[Concatenate[Node, Given], Coroutine[Any, Any, None]],
    ) -> Callable[Concatenate[Node, Given], Worker[None]]:
        @wraps(method)
        def start(self: Node, /, *args: Given.args, **named: Given.kwargs) -> Worker[None]:
            gate: Gate | None = getattr(self.app, "gate", None)
            awaited: Awaited | None = None
            if gate is not None and not beside:
                # Keys wait for what it takes the place of.
                replaces = newest and gate.awaits(self, group)
                awaited = (
                    gate.expect(self, kind, group) if replaces or not IN_BACKGROUND.get() else None
                )

            async def run() -> None:
                WRITES.set(not newest)
                IN_BACKGROUND.set(False)
                failed = False
                try:
                    # What it opens comes back to the screen, as from a message.
                    with self._context():
                        await method(self, *args, **named)
                except Exception:
                    failed = True
                    raise
                finally:
                    if gate is not None and awaited is not None:
                        gate.came(awaited, failed=failed)

            started: Worker[None] = self.run_worker(
                run, method.__name__, group, exit_on_error=False, exclusive=newest
            )
            if awaited is not None:
                awaited.worker = started
            return started

        return start

    return decorate


class StoreScreen(Screen[None], Keyed, Background):
    """A screen that reads the store in workers, each with a connection of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f5", "refresh", "Refresh", show=False)]

    PLACE = ""
    EXPLAIN = ""
    "what the numbers of this screen mean: shown under `?`"
    FOOTER_FIRST: ClassVar[tuple[str, ...]] = ()
    """actions whose keys stand first in the footer, in this order: a narrow one leaves the last
    ones out"""
    READS_ONLY: ClassVar[bool] = False
    "whether it can be left at any time: nothing is typed there that is not stored at once"
    DECIDES: ClassVar[frozenset[str]] = frozenset()
    """actions that decide on what is in sight: dropped where it was not yet when their key was
    pressed"""
    FREE: ClassVar[frozenset[str]] = frozenset()
    "actions that do not depend on what is in sight: their keys do not wait for other content"
    SHORT_TEXT = False
    "whether what is typed there is soon typed again, so that nobody is asked before it is lost"
    EXPECTED = True
    "False: it comes up unasked, so that what was typed before it was in sight is dropped"
    HORIZONTAL_BREAKPOINTS = [(0, "-below"), (BESIDE, "-beside")]  # noqa: RUF012  the base class declares it so
    "where what is known of the current line stands: see workbench.tcss"

    def compose(self) -> ComposeResult:
        yield TitleBar(self.store_path.name, self.PLACE)
        yield Trouble()
        yield from self.compose_body()
        yield Keys()

    def compose_body(self) -> ComposeResult:
        """Yield what stands between the title and the keys."""
        yield from ()

    _store_version: int | None = None
    "of the store, when `anew` was asked last"

    def anew(self) -> bool:
        """Return whether somebody wrote to the store since this was asked last, or nobody knows:
        where nobody did, a screen does nothing.
        """
        before, self._store_version = self._store_version, app_of(self).store_version()
        return self._store_version is None or self._store_version != before

    @property
    def store_path(self) -> Path:
        return store_path(self.app)

    @property
    def title_bar(self) -> TitleBar:
        return self.query_one(TitleBar)

    @property
    def trouble(self) -> Trouble:
        return self.query_one(Trouble)

    def failed(self, error: WorkbenchError) -> None:
        """Show what a worker could not do."""
        self._store_version = None  # the next look at the store tries again
        self.trouble.show(error, self.store_path)
        if isinstance(error, StoreGone):
            offer_copy(self.app, error)

    def store_gone(self) -> None:
        """Take back what says that something is stored: the store's file went away."""

    def store_moved(self) -> None:
        """Go on with the copy of the store, which the app is about now."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        self.action_refresh()

    def leads_to(self, mode: str) -> bool:  # noqa: ARG002
        """Return whether this screen itself leads to a mode, about what is under its cursor."""
        return False

    def begin_anew(self) -> None:
        """Show what comes first, where somebody comes from Home."""

    def be_about(self, run: Run) -> None:
        """Show the figures of a run, where this screen has any."""

    def go_to_job(self, number: int) -> None:
        """Put the cursor on a job, where this screen lists jobs."""

    def explain(self) -> str:
        """Return what `?` says."""
        return self.EXPLAIN

    def action_refresh(self) -> None:
        """Read the store again."""
