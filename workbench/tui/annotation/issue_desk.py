"""A screen at a desk for policy issues: it asks, goes on being drawn, and hears the answer as a message.

It also knows who sits at the desk, and what to do where an instrument has no issues yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message

from workbench.tui.annotation.issue_session import Done, IssueDesk
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import ConfirmScreen

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.annotation.issue_annotator import Sheet

WAITING_S = 0.5
"from which the screen says that it waits for the store"
CLOSING_S = 2.0
"for which leaving waits for the store"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a key asks for, on the cell on which it was pressed."""

    ref: str
    labels: Mapping[str, int | None]
    moves: bool
    "whether the cursor goes on"
    whole_row: bool


class IssueDeskScreen(StoreScreen):
    """Has the desk take one step at a time; closes it when it is left."""

    @dataclass
    class Shown(Message):
        """The person's sheet was read."""

        sheet: Sheet
        name: str

    @dataclass
    class Labelled(Message):
        """What was asked is on disk."""

        asked: Asked
        done: Done

    @dataclass
    class Undone(Message):
        """A step was taken back; None: there was none."""

        done: Done | None

    @dataclass
    class Failed(Message):
        """Something could not be done."""

        error: BaseException
        lost: str
        "what was not written, for the person"

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._desk: IssueDesk | None = None
        self._busy = True
        "something was asked that is not answered"
        self._waiting: Timer | None = None

    async def on_unmount(self) -> None:
        if self._desk is not None:
            await asyncio.wait([asyncio.wrap_future(self._desk.close())], timeout=CLOSING_S)

    @property
    def person(self) -> str | None:
        """Who labels here; known to the app, so that other screens ask nobody twice."""
        return getattr(self.app, "annotator", None)

    def store_moved(self) -> None:
        """Let the person press the key again: what was before them stays there."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        if self._desk is not None:
            self._desk.move(self.store_path)

    def begin(self) -> None:
        """Forget what was shown to whoever sat here before."""

    def say_waiting(self) -> None:
        """Say that the store keeps one waiting."""

    def action_person(self) -> None:
        from workbench.tui.kit.person_dialog import PersonDialog

        self.app.push_screen(PersonDialog((), self.person), self._keep_person)  # no list: who labelled is not shown

    def _sit(self, name: str) -> None:
        """Open the store as this person."""
        if self._desk is not None:
            self._desk.close()
        self._desk = IssueDesk(self.store_path, self._instrument, name)
        self.begin()
        self._read()

    def _keep_person(self, name: str | None) -> None:
        if name is not None:
            setattr(self.app, "annotator", name)  # noqa: B010
            self._sit(name)
        elif self.person is None:
            self.dismiss(None)

    def _read(self) -> None:
        name = self.person or ""
        self._submit(lambda sitting: self.Shown(sitting.sheet(), name), "")

    def ask_for_issues(self) -> None:
        question = (
            f"{self._instrument} has no policy issues yet. Take the eight of Ceron et al. 2024 "
            "(smartvote)? Others come from a file: workbench issues STORE --scheme FILE"
        )

        def take(agreed: bool | None) -> None:
            if agreed:
                self.give_issues()
            else:
                self.dismiss(None)

        self.app.push_screen(ConfirmScreen(question, "Take the eight", "Leave"), take)

    @work(thread=True, exit_on_error=False, group="scheme")
    def give_issues(self) -> None:
        """Give the instrument the shipped scheme, then read it again."""
        from stores.core.store import Store
        from workbench.data import shipped_issue_scheme

        with Store.open(self.store_path) as store:
            if not store.issues.names(self._instrument):
                store.issues.set_scheme(self._instrument, shipped_issue_scheme().issues)
        self.app.call_from_thread(self._read)

    def _submit(self, ask: Callable[..., Message], lost: str) -> None:
        """Have the desk do something; its answer comes as a message."""
        if self._desk is None:
            return
        self._busy, desk = True, self._desk

        def answer(future: Future[Message]) -> None:
            error = future.exception()
            if self._desk is desk:  # else somebody else sits here by now
                self.post_message(future.result() if error is None else self.Failed(error, lost))

        desk.submit(ask).add_done_callback(answer)
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
