"""What dialogs have in common that write with a command of their own: how far it is, what was written, and a stop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.kit.base import Background
from workbench.tui.kit.command import Command


class CommandDialog(ModalScreen[None], Background):
    """A folder to write to, and a note below. Esc stops the command, or goes back where none is under way."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Stop, or back", tooltip="Stop, or go back")]
    STOPPED = "Stopped; nothing was written."

    folder = query_one("#folder", Input)
    note = query_one("#note", Static)

    @dataclass
    class Ended(Message):
        """The process is gone."""

        written: Path | None
        "None: nothing was written"
        why: str

    def __init__(self) -> None:
        super().__init__()
        self.command: Command | None = None

    def on_unmount(self) -> None:
        if self.command is not None:
            self.command.stop()

    def action_leave(self) -> None:
        """Stop what is under way, or go back where nothing is."""
        if self.command is None:
            self.dismiss(None)
        else:
            self.say("stopping …")
            self.command.stop()

    def failed(self, error: WorkbenchError) -> None:
        self.post_message(self.Ended(None, str(error)))

    def show_failed(self, why: str) -> None:
        """Say that nothing was written: a person stopped it, or why else."""
        stopped = self.command is not None and self.command.stopped
        self.say(self.STOPPED if stopped else f"✗ {why}", "" if stopped else "$text-error")

    def say(self, text: str, style: str = "") -> None:
        words = visible(text, lines=True)
        self.note.update(Content.styled(words, style) if style else Content(words))
