"""The base of screens that request the steps of a session, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from workbench.errors import ConflictError, StoreError, StoreGone, WorkbenchError
from workbench.figures.visible import visible
from workbench.sessions.session import Session, SessionThread
from workbench.tui.kit.base import StoreScreen, app_of, as_trouble, offer_store_copy
from workbench.tui.kit.key_gate import gate_of

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.kit.awaited import Awaited

S = TypeVar("S", bound=Session[Any])
T = TypeVar("T")
ShowResult = Callable[[], object]
"function that shows the result of a session's step on the screen"
GLANCE_S = 0.1
"seconds after an item was painted; nobody answers faster, but a bouncing key does"
CLICK_S = 0.5
"the same for the mouse, for the second half of a double click"
WAITING_S = 0.5
"seconds after which the screen tells that it waits for the store"
CLOSING_S = 2.0
"seconds that leaving waits for the store"
NEVER = float("inf")


class SessionScreen(StoreScreen, Generic[S]):
    """A screen that requests one step of a session at a time, and closes it at the end.

    `#pace` shows the last action.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,0,1,2,3,4,5,6,7,8,9", "nothing", show=False),
    ]
    AT_WORK = True
    UNIT = "item"
    "word for what a person labels"

    def __init__(self) -> None:
        super().__init__()
        self._thread: SessionThread[S] | None = None
        self._busy = True
        "whether a request is unanswered"
        self._seen_at = NEVER
        "when the item was painted"
        self._said = ""
        "message on the last action"
        self._waiting: Timer | None = None
        self._awaited: Awaited | None = None
        "the request that keys wait for"

    async def on_unmount(self) -> None:
        await self.end()

    @property
    def ready(self) -> bool:
        """Whether a key pressed now would count."""
        return self.accepts(monotonic())

    @property
    def person(self) -> str | None:
        """The name of the annotator, which the app keeps so that no screen asks twice."""
        return app_of(self).annotator

    def was_seen(self, at: float) -> bool:
        """Return whether the item was visible when a key was pressed."""
        return at >= self._seen_at + GLANCE_S

    def accepts(self, at: float) -> bool:
        """Return whether a key counts: the item was seen before it, and no request is open."""
        return not self._busy and self.was_seen(at)

    def accepts_click(self, at: float) -> bool:
        return self.accepts(at) and at >= self._seen_at + CLICK_S

    def begin(self, open_: Callable[[Path], S]) -> None:
        """Begin a session. An earlier one ends."""
        if self._thread is not None:
            self._thread.close()
        self._thread = SessionThread(self.store_path, open_)

    async def end(self) -> None:
        """End the session after all its requests, waiting at most `CLOSING_S`."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            await asyncio.wait([asyncio.wrap_future(thread.close())], timeout=CLOSING_S)

    def take_step(
        self,
        step: Callable[[S], T],
        describe: Callable[[T], str],
        show: Callable[[S, T], ShowResult],
        *,
        lost: str,
    ) -> None:
        """Request a step of the session, then read what it leads to, and show that.

        If only the reading fails, the message is that the step was saved.

        Parameters
        ----------
        step
            commits the step, and returns its result
        describe
            returns the text of what was saved, empty if nothing was
        show
            reads what to show after a result, and returns the function that shows it
        lost
            name of what is unsaved if the step fails
        """

        def ask(session: S) -> ShowResult:
            result = step(session)
            try:
                return show(session, result)
            except Exception as error:
                return partial(self.show_failure, error, "", describe(result))

        self.submit(ask, lost)

    def submit(
        self, ask: Callable[[S], ShowResult], lost: str = "", *, opens: bool = False
    ) -> None:
        """Request a step of the session, and then call the function that it returns.

        `lost` names what is unsaved if the step fails. `opens`: the result is a screen of its own.
        """
        if self._thread is None:
            return
        self._busy, thread = True, self._thread
        if self._awaited is None:
            self._awaited = gate_of(self).expect(self, "screen" if opens else "content")

        def answer(future: Future[ShowResult]) -> None:
            error = future.exception()
            if self._thread is thread:  # Otherwise the thread of a later session has replaced it.
                self.call_later(
                    future.result() if error is None else partial(self.show_failure, error, lost)
                )

        thread.submit(ask).add_done_callback(answer)
        self._waiting = self.set_timer(WAITING_S, self.still_waits)

    def request_answered(self, *, failed: bool = False) -> None:
        """Accept an answer: no request is open, and no error is visible."""
        self._busy = False
        if self._awaited is not None:
            awaited, self._awaited = self._awaited, None
            # Keys go on once the answer is shown.
            self.call_next(partial(gate_of(self).arrived, awaited, failed=failed))
        self.trouble.hide()
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def still_waits(self) -> None:
        """Show that the store is slow, unless the answer came just before this call."""
        if self._busy:
            self.say(Content.styled("waiting for the store; your work is safe …", "bold"))

    def say(self, line: Content) -> None:
        """Show a line in place of the pace."""
        self.query_one("#pace", Static).update(line, layout=False)

    def show_progress(self) -> None:
        """Show the progress, the pace and the last action."""
        raise NotImplementedError("abstract")

    def show_failure(self, error: BaseException, lost: str, said: str = "") -> None:
        """Show an error, and whether anything was not written. The item stays visible.

        `lost` names what was not written, and is empty if everything was. `said` names what was
        written before the error.
        """
        self.request_answered(failed=True)
        trouble = as_trouble(error)
        shown_error, line = self._failure_texts(trouble, lost, said)
        if said and not lost:
            self._seen_at = NEVER  # The visible item is done, so keys wait for the next one.
        self._said = said
        self.failed(shown_error)
        self.say(Content.styled(visible(f"✗ {line}"), "bold $text-error"))
        if isinstance(trouble, StoreGone):
            offer_store_copy(self.app, trouble)

    def _failure_texts(
        self, trouble: WorkbenchError, lost: str, said: str
    ) -> tuple[WorkbenchError, str]:
        """Return the error to show, and a line in place of the pace. See `show_failure`."""
        if lost:
            advice = ""
            if not isinstance(trouble, ConflictError):
                advice = f" The {self.UNIT} stays here: press the key again."
            return StoreError(
                f"{lost} was NOT saved.{advice}\n\n{trouble}"
            ), f"{lost} was NOT saved"
        if said:
            reason = f"{said}, but the next item could not be read"
            return (
                StoreError(f"{reason}: F5 tries again.\n\n{trouble}"),
                f"{reason}; F5 tries again",
            )
        return trouble, "the store could not be read; F5 tries again"

    def store_gone(self) -> None:
        self._said = ""
        self.say(Content.styled("✗ the store is gone", "bold $text-error"))

    def store_moved(self) -> None:
        """Let the user press the key again on the same item."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        if self._thread is not None:
            self._thread.move(self.store_path)

    def action_nothing(self) -> None:
        """Do nothing for keys that leave other screens, so that a slip does not leave this one."""

    async def action_leave(self) -> None:
        """Leave the screen. Labels are saved first, and items without a label are released."""
        await self.app.run_action("back")
