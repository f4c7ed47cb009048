"""A screen at a desk: it asks, goes on being drawn, and hears the answer as a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.domain.annotations import Codebook
from workbench.tui.annotation.session import Desk, Given, Sitting, View
from workbench.tui.kit.base import StoreScreen

if TYPE_CHECKING:
    from textual.timer import Timer

WAITING_S = 0.5
"from which the screen says that it waits for the store"
CLOSING_S = 2.0
"for which leaving waits for the store"


class DeskScreen(StoreScreen):
    """Has the desk take one step at a time; closes it, leases and all, when it is left."""

    @dataclass
    class Shown(Message):
        """What was asked for is committed, and this is before the person now."""

        view: View
        codebook: Codebook
        said: str
        "what was done last, for the person"

    @dataclass
    class Marked(Message):
        """A flag or a note is committed."""

        view: View

    @dataclass
    class Listed(Message):
        """The person's own labels were read."""

        given: tuple[Given, ...]

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
        self._desk: Desk | None = None
        self._busy = True
        "something was asked that is not answered"
        self._waiting: Timer | None = None

    async def on_unmount(self) -> None:
        if self._desk is not None:
            await _within(self._desk.close(), CLOSING_S)

    def say_waiting(self) -> None:
        """Say that the store keeps one waiting."""

    def _ask(self, step: Callable[[Sitting], View | None], said: str, *, lost: str) -> None:
        """Take a step, then show the item that it leads to; else the one that comes next."""

        def ask(sitting: Sitting) -> Message:
            view = step(sitting)
            try:
                return self.Shown(view or sitting.next(), sitting.codebook, said)
            except Exception as error:  # the step is on disk: the one thing that a person must not be told wrongly
                return self.Failed(error, "", said)

        self._submit(ask, lost)

    def _submit(self, ask: Callable[[Sitting], Message], lost: str = "") -> None:
        """Have the desk do something; its answer comes as a message."""
        if self._desk is None:
            return
        self._busy = True

        def answer(future: Future[Message]) -> None:
            error = future.exception()
            self.post_message(future.result() if error is None else self.Failed(error, lost))

        self._desk.submit(ask).add_done_callback(answer)
        self._waiting = self.set_timer(WAITING_S, self.still_waits)

    def still_waits(self) -> None:
        """Say that one waits, unless the answer came while the clock's message was on its way."""
        if self._busy:
            self.say_waiting()

    def _answered(self) -> None:
        self._busy = False
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None


async def _within(future: Future[None], seconds: float) -> None:
    """Wait for something, but not for ever: it goes on without us."""
    await asyncio.wait([asyncio.wrap_future(future)], timeout=seconds)
