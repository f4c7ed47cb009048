"""The common parts of all screens: title, error panel, footer, workers and their errors."""

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
    """The part of the app that screens and dialogs use. `workbench.tui.app` implements it."""

    store_path: Path
    annotator: str | None
    "name of the person at the terminal, which is asked for when it is first needed"
    notice: str
    "message for Home on personal keys and settings that are ignored"
    left_at: dict[str, Any]
    "state of a screen at its last closing, by `PLACE`, for screens that are created anew"

    def show_mode(self, mode: str) -> None:
        """Show the screen of a mode."""

    def show_run(self, mode: str, run: Run) -> None:
        """Show the figures of a run in a mode of results."""

    def store_gone(self, error: WorkbenchError) -> None:
        """Tell that the store is gone, and offer to write its contents to another file."""

    def store_version(self) -> int | None:
        """Return a number that every write to the store changes, or None if it is unknown."""


def app_of(node: DOMNode) -> Workbench:
    """Return the app that shows a screen or a dialog."""
    return cast("Workbench", node.app)


def say(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Show what was done, or with `warns` why it was not done or not as intended.

    A dialog without a title line shows it beside its buttons, in `#told`. A dialog without either
    passes it to the screen below.
    """
    for bar in screen.query(TitleBar):
        bar.say(sentence, warns=warns)
        return
    try:
        message_line = screen.query_one("#told", Static)
    except NoMatches:
        say_below(screen, sentence, warns=warns)
        return
    message_line.update(
        Content.styled(visible(sentence), "$text-warning" if warns else "$text-success")
    )
    message_line.set_timer(SAID_S, lambda: message_line.update(""))


def say_below(screen: Screen[Any], sentence: str, *, warns: bool = False) -> None:
    """Show a message of a dialog on the screen that is visible once the dialog is closed."""
    stack = screen.app.screen_stack
    position = stack.index(screen) if screen in stack else len(stack)
    for screen_below in reversed(stack[:position]):
        for bar in screen_below.query(TitleBar):
            bar.say(sentence, warns=warns)
            return


FAULTS, KEPT_CHARACTERS = "faults.log", 200_000
"file with tracebacks of bugs, beside the list of recent stores, and characters kept of it"


def once_painted(widget: Widget, show: Callable[[], object]) -> None:
    """Call a function after the next refresh, unless the widget is removed before.

    A widget that is being removed has lost its parts already, but a call that waits for its refresh
    still comes.
    """
    widget.call_after_refresh(lambda: show() if widget.display else None)


def store_path(app: object) -> Path:
    """Return the path of the store that the running app shows."""
    return cast("Workbench", app).store_path


def with_store_name(app: object, text: str) -> str:
    """Return a message with the current store in the commands that it names."""
    return hinted(text, store_path(app))


def offer_store_copy(app: object, error: WorkbenchError) -> None:
    """Tell that the store is gone, and offer to write its contents to another file."""
    cast("Workbench", app).store_gone(error)


def as_trouble(error: BaseException) -> WorkbenchError:
    """Return an error that a user can act on. A bug is logged with its traceback, and named."""
    if isinstance(error, WorkbenchError):
        return error
    if type(error).__module__ == "sqlite3":  # not imported here: only stores know the database
        return StoreError(
            f"The store could not be read: {error}. Nothing has changed; F5 tries again. Where it "
            "stays, see what is damaged: workbench doctor STORE"
        )
    log_path = log_bug(error)
    report_hint = (
        f"the details are in {log_path}; send that file with your report"
        if log_path
        else "no file could be written"
    )
    return WorkbenchError(
        f"workbench has a fault here ({type(error).__name__}: {error}). Nothing stored has "
        "changed, and everything else goes on. F5 tries again. Where it stays, see whether the "
        f"store is damaged (workbench doctor STORE), or report it: {report_hint}."
    )


def log_bug(error: BaseException) -> Path | None:
    """Append the traceback of a bug to a log in the user's state folder.

    Return the path of the log, or None if it cannot be written.
    """
    state_path = state_file()
    if state_path is None:
        return None
    log_path = state_path.with_name(FAULTS)
    try:
        log_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        previous_log = (
            log_path.read_text(encoding="utf-8", errors="replace")[-KEPT_CHARACTERS:]
            if log_path.exists()
            else ""
        )
        traceback_text = "".join(traceback.format_exception(error))
        timestamp = datetime.now().astimezone().isoformat(timespec="seconds")
        log_text = f"{previous_log}{timestamp} workbench {__version__}\n{traceback_text}\n"
        log_path.write_text(log_text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return None
    return log_path


def of_store(path: Path, load: Callable[[Store], T]) -> T:
    """Return the result of `load` on the store at `path`, which is opened for it alone."""
    from stores.core.store import Store

    with Store.open(path) as store:
        return load(store)


def read_store(path: Path, load: Callable[[Store], T]) -> T:
    """Return the result of reading the store at `path` in one snapshot; see `at_once`.

    Writes of other processes do not show in it. A long read returns its memory afterwards.
    """
    started_at = monotonic()
    result = of_store(path, lambda store: store.at_once(lambda: load(store)))
    if monotonic() - started_at > LONG_S:
        give_back_memory()
    return result


LONG_S = 0.5
"seconds from which a read has allocated so much memory that it is returned to the system"


def give_back_memory() -> None:
    """Return free memory to the system, because glibc keeps up to half of a long read's memory."""
    import ctypes

    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


BESIDE = 150
"terminal columns from which details are beside the list, not below it"
WRITES: ContextVar[bool] = ContextVar("WRITES", default=False)
"whether the current worker writes, so that its work outlives its screen"


def say_late(app: App[Any], written: Future[Any]) -> None:
    """Show why a write failed whose screen was left meanwhile.

    It appears on the current screen, or on stderr if the program has ended.
    """
    if (error := written.exception()) is None:
        return
    message = f"What you began on the screen before was not done. {as_trouble(error)}"
    if app.is_running:
        say(app.screen, message, warns=True)
    else:
        print(visible(message), file=sys.stderr)


class Background(DOMNode):
    """A screen with workers. Their errors are shown in place, and none ends the program."""

    async def with_store(self, load: Callable[[Store], T], *, leases: bool = False) -> T:
        """Return the result of `load` in a thread, with its own connection to the app's store.

        Await it in a method that is a `worker`. If the screen is left meanwhile, the method does
        not go on. A write is still completed, and its error appears on the current screen. A read
        sees one snapshot and may be repeated for that, so a worker that `leases` an item without
        being a writer has to say so.
        """
        if not WRITES.get():
            return await to_thread(of_store if leases else read_store, store_path(self.app), load)
        write_result: Future[T] = get_running_loop().run_in_executor(
            None, of_store, store_path(self.app), load
        )
        try:
            return await shield(write_result)
        except CancelledError:
            write_result.add_done_callback(partial(say_late, self.app))
            raise

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.failed(as_trouble(event.worker.error))

    def failed(self, error: WorkbenchError) -> None:
        """Show the error of a worker, in the title line or beside the buttons of a dialog."""
        say(cast("Screen[Any]", self), str(error), warns=True)


IN_BACKGROUND: ContextVar[bool] = ContextVar("IN_BACKGROUND", default=False)
"whether keys ignore the workers that are started"


@contextmanager
def in_background() -> Iterator[None]:
    """Start workers without making keys wait. They refresh what is visible, in case it changed."""
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
    """Turn an async method into one that returns at once and runs in a worker.

    `Background.failed` shows its errors.

    `newest`: a later call of the group replaces an earlier one, whose results are not shown. A
    method that writes passes False: calls do not replace each other, and the write in `with_store`
    is completed even if the screen is left. The code after it is not run then, so one action of a
    user is one call of `with_store`.

    Keys wait until it is done: see `key_gate`. `opens`: it shows another screen, which gets all
    keys. `beside`: no key depends on its result, so none waits.
    """
    kind: Kind = "screen" if opens else "content" if newest else "write"

    def decorate(
        method: Callable[Concatenate[Node, Given], Coroutine[Any, Any, None]],
    ) -> Callable[Concatenate[Node, Given], Worker[None]]:
        @wraps(method)
        def start(self: Node, /, *args: Given.args, **kwargs: Given.kwargs) -> Worker[None]:
            gate: Gate | None = getattr(self.app, "gate", None)
            awaited: Awaited | None = None
            if gate is not None and not beside:
                # Keys wait for the replacement of what they already waited for.
                replaces = newest and gate.awaits(self, group)
                awaited = (
                    gate.expect(self, kind, group) if replaces or not IN_BACKGROUND.get() else None
                )

            async def run() -> None:
                WRITES.set(not newest)
                IN_BACKGROUND.set(False)
                failed = False
                try:
                    # A screen that it opens returns to this one, as it would from a message.
                    with self._context():
                        await method(self, *args, **kwargs)
                except Exception:
                    failed = True
                    raise
                finally:
                    if gate is not None and awaited is not None:
                        gate.arrived(awaited, failed=failed)

            running_worker: Worker[None] = self.run_worker(
                run, method.__name__, group, exit_on_error=False, exclusive=newest
            )
            if awaited is not None:
                awaited.worker = running_worker
            return running_worker

        return start

    return decorate


class StoreScreen(Screen[None], Keyed, Background):
    """A screen that reads the store in workers, each with a connection of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "refresh", "Refresh", show=False, tooltip="Read the store again")
    ]

    PLACE = ""
    EXPLAIN = ""
    "help text of the screen's figures, which `?` shows"
    FOOTER_FIRST: ClassVar[tuple[str, ...]] = ()
    "actions whose keys come first in the footer, in this order, as a narrow one omits the last"
    READS_ONLY: ClassVar[bool] = False
    "whether it can be left at any time, because all input is stored at once"
    DECIDES: ClassVar[frozenset[str]] = frozenset()
    "actions that decide on visible content; keys pressed before it was visible are dropped"
    FREE: ClassVar[frozenset[str]] = frozenset()
    "actions that do not depend on visible content, whose keys do not wait for other content"
    SHORT_TEXT = False
    "whether its input is quick to repeat, so that no question is asked before it is lost"
    EXPECTED = True
    "False: the screen appears unrequested, so keys pressed before it was visible are dropped"
    HORIZONTAL_BREAKPOINTS = [(0, "-below"), (BESIDE, "-beside")]  # noqa: RUF012  the base class declares it so
    "position of the details of the current line: see workbench.tcss"

    def compose(self) -> ComposeResult:
        yield TitleBar(self.store_path.name, self.PLACE)
        yield Trouble()
        yield from self.compose_body()
        yield Keys()

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between the title and the keys."""
        yield from ()

    _store_version: int | None = None
    "version of the store at the last call of `anew`"

    def has_changed(self) -> bool:
        """Return whether the store has changed since the last call, or may have.

        Without a change, a screen has nothing to do.
        """
        previous_version, self._store_version = self._store_version, app_of(self).store_version()
        return self._store_version is None or self._store_version != previous_version

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
        """Show the error of a worker."""
        self._store_version = None  # The next poll of the store tries again.
        self.trouble.show(error, self.store_path)
        if isinstance(error, StoreGone):
            offer_store_copy(self.app, error)

    def store_gone(self) -> None:
        """Withdraw claims that something is stored, because the file of the store is gone."""

    def store_moved(self) -> None:
        """Go on with the copy of the store, which the app shows now."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        self.action_refresh()

    def leads_to(self, mode: str) -> bool:  # noqa: ARG002
        """Return whether this screen itself opens a mode for the object under its cursor."""
        return False

    def begin_anew(self) -> None:
        """Show the first view, because the user comes from Home."""

    def be_about(self, run: Run) -> None:
        """Show the figures of a run, if this screen has any."""

    def go_to_job(self, number: int) -> None:
        """Move the cursor to a job, if this screen lists jobs."""

    def explain(self) -> str:
        """Return the help that `?` shows."""
        return self.EXPLAIN

    def action_refresh(self) -> None:
        """Read the store again."""
