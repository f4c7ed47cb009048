"""What the screens of figures have in common: one worker judges what the store has, another works out what is shown.

Whoever looks may choose otherwise meanwhile, so a screen takes what a worker brings only where it is still wanted.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from textual import work
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.tui.overview import import_shipped
from workbench.tui.screens.base import StoreScreen


class FiguresScreen(StoreScreen):
    """A screen with `#body`, in whose place `#empty` says why there is nothing to see."""

    SHIPPED = ""
    "instrument that `bring_shipped` imports"

    @dataclass
    class WasLoaded(Message):
        """What the store has is judged."""

        loaded: Any

    @dataclass
    class WasShown(Message):
        """What is to be shown of it is worked out."""

        loaded: Any
        shown: Any

    @dataclass
    class Imported(Message):
        """The shipped instrument is in the store."""

        sentence: str

    @abstractmethod
    def judged_now(self, settings: Any, known: Any) -> object:
        """Return what the store has, judged by `settings`; `known` is what was judged before. Called in a thread."""

    @abstractmethod
    def shown_now(self, loaded: Any, look: Any) -> object:
        """Return what is to be shown of what was judged. Called in a thread."""

    def _wait(self, note: str) -> None:
        """Say what is under way, and dim what stands there from before."""
        self.title_bar.note = note
        self.query_one("#body").add_class("-old")

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the figures, or the figures."""
        empty = self.query_one("#empty", Static)
        empty.update(text or "")
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @work(thread=True, exclusive=True, exit_on_error=False, group="answers", description="")
    def read_store(self, settings: Any, known: Any) -> None:
        worker = get_current_worker()
        loaded = self.judged_now(settings, known)
        if not worker.is_cancelled:
            self.post_message(self.WasLoaded(loaded))

    @work(thread=True, exclusive=True, exit_on_error=False, group="view", description="")
    def work_out(self, loaded: Any, look: Any) -> None:
        worker = get_current_worker()
        found = self.shown_now(loaded, look)
        if not worker.is_cancelled:
            self.post_message(self.WasShown(loaded, found))

    @work(thread=True, exclusive=True, exit_on_error=False, group="import")
    def bring_shipped(self) -> None:
        self.post_message(self.Imported(import_shipped(self.store_path, self.SHIPPED)))
