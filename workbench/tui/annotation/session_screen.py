"""The screen of an annotation session: it asks, goes on being drawn, and takes keys only for what was seen.

Two rules make that safe at any speed. What a key asks for and the step to what comes next are one call in the session's
thread, and the screen changes only when it comes back. And a key counts only if it was pressed after the item was
painted: what a person typed ahead, or a slow line delivered late, never labels an item that nobody saw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Generic

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from workbench.errors import ConflictError, StoreError, StoreGone
from workbench.tui.annotation.session import S, SessionThread
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen, as_trouble, offer_copy

if TYPE_CHECKING:
    from textual.timer import Timer

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
    """Has the session take one step at a time, and closes it when it is left. `#pace` says what was done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,0,1,2,3,4,5,6,7,8,9", "nothing", show=False),
    ]
    AT_WORK = True
    UNIT = "item"
    "what a person labels, in a word"

    @dataclass
    class Failed(Message):
        """Something could not be done."""

        error: BaseException
        lost: str
        "what was not written, for the person; nothing where all was"
        said: str = ""
        "what was written before it failed"

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

    async def on_unmount(self) -> None:
        await self.end()

    @property
    def ready(self) -> bool:
        """Whether a key pressed now would count."""
        return self.accepts(monotonic())

    @property
    def person(self) -> str | None:
        """Who annotates here; known to the app, so that other screens ask nobody twice."""
        return getattr(self.app, "annotator", None)

    def was_seen(self, at: float) -> bool:
        """Whether the item was in sight when a key was pressed."""
        return at >= self._seen_at + GLANCE_S

    def accepts(self, at: float) -> bool:
        """Whether a key pressed at a time counts: the item was seen, and nothing is being written."""
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

    def submit(self, ask: Callable[[S], Message], lost: str = "") -> None:
        """Run a session action, which answers with a message. `lost` names what is unsaved if it fails."""
        if self._thread is None:
            return
        self._busy, thread = True, self._thread

        def answer(future: Future[Message]) -> None:
            error = future.exception()
            if self._thread is thread:  # else somebody else annotates here by now
                self.post_message(future.result() if error is None else self.Failed(error, lost))

        thread.submit(ask).add_done_callback(answer)
        self._waiting = self.set_timer(WAITING_S, self.still_waits)

    def answered(self) -> None:
        """Take the answer as it came: nothing is being written, and nothing is wrong."""
        self._busy = False
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

    @on(Failed)
    def show_failure(self, event: Failed) -> None:
        """Say what went wrong, and whether anything was not written. The item stays where it is."""
        self.answered()
        error = as_trouble(event.error)
        told, said = error, "the store could not be read; F5 tries again"
        if event.lost:
            again = "" if isinstance(error, ConflictError) else f" The {self.UNIT} stays here: press the key again."
            told, said = StoreError(f"{event.lost} was NOT saved.{again}\n\n{error}"), f"{event.lost} was NOT saved"
        elif event.said:
            told = StoreError(f"{event.said}, but the next item could not be read: F5 tries again.\n\n{error}")
            said = f"{event.said}, but the next item could not be read; F5 tries again"
            self._seen_at = NEVER  # what is shown is done with: keys wait for the next one
        self._said = event.said
        self.failed(told)
        self.say(Content.styled(visible(f"✗ {said}"), "bold $text-error"))
        if isinstance(error, StoreGone):
            offer_copy(self.app, error)

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
