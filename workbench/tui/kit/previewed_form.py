"""What the forms that change several statements have in common: what would come of them is shown before they are saved.

It is worked out in a worker, once typing pauses, and only what was shown is written.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.errors import WorkbenchError
from workbench.tui.kit.base import store_path
from workbench.tui.kit.edit_form import EditForm

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.domain.statements import Statement

PREVIEW_AFTER_S = 0.25


class PreviewedForm(EditForm):
    """A form with `#preview`, about the statements `refs`."""

    @dataclass
    class Previewed(Message):
        """It was worked out what the form comes to."""

        typed: Any
        preview: Any
        "None: it cannot be as it was typed"
        fault: str = ""

    def __init__(self, instrument: str, refs: tuple[str, ...]) -> None:
        super().__init__(instrument)
        self._refs = refs
        self._preview: Any = None
        self._pause: Timer | None = None
        self._wanted = False
        "whether it is to be saved as soon as it is known what it comes to"
        self._refused = False
        "whether somebody else changed a statement meanwhile"

    @abstractmethod
    def work_out(self, store: Store, typed: Any) -> object:
        """Return what the form comes to. Called in a thread. Raises WorkbenchError."""

    @abstractmethod
    def show_outcome(self, typed: Any, preview: Any) -> None:
        """Draw what the form comes to, and say so in a sentence."""

    def looked_at(self) -> None:
        """Work out what the form comes to, once typing pauses."""
        self._preview = None
        if self._pause is not None:
            self._pause.stop()
        if fault := self.fault():
            self.say_fault(fault)
            self.draw([])
        else:
            self._pause = self.set_timer(PREVIEW_AFTER_S, self.preview_now)

    @on(Previewed)
    def show_preview(self, event: Previewed) -> None:
        if event.typed != self.values():
            return
        self._preview = event.preview
        wanted, self._wanted = self._wanted, False
        if event.preview is None:
            self.say(f"✗ {event.fault}", wrong=True)
            self.draw([])
            return
        self.show_outcome(event.typed, event.preview)
        if wanted:
            self.action_save()

    def show_conflict(self, there: Statement | None) -> None:  # noqa: ARG002
        """Compute the preview again from the current statements."""
        self._refused, self._preview = True, None
        self.preview_now()

    def preview_now(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self.preview(self.values())

    def say_fault(self, fault: str) -> None:
        """Say why the form cannot be as it is typed."""
        self.say(f"✗ {fault}", wrong=True)

    def draw(self, lines: list[Content]) -> None:
        """Show lines in the preview."""
        self.query_one("#preview", Static).update(Content("\n").join(lines))

    @work(thread=True, exclusive=True, exit_on_error=False, group="preview", description="")
    def preview(self, typed: object) -> None:
        from stores.core.store import Store

        worker = get_current_worker()
        with Store.open(store_path(self.app)) as store:
            try:
                event = self.Previewed(typed, self.work_out(store, typed))
            except WorkbenchError as error:
                event = self.Previewed(typed, None, str(error))
        if not worker.is_cancelled:
            self.post_message(event)
