"""Writing a report from a screen of results: into which folder, how far it is, and where its page lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, ProgressBar, Static

from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.kit.base import Background, store_path
from workbench.tui.kit.command import Command

NOTE = (
    "The report has every audit and model, with findings, figures, pictures, answers and methods, as a "
    "page for any browser. workbench report --help lists narrower choices."
)
STOPPED = "Stopped; no report was written."


class ReportDialog(ModalScreen[None], Background):
    """A folder to write to; then how far it is, and what was written. Esc stops it."""

    CSS_PATH = "dialogs.tcss"
    DEFAULT_CSS = """
    ReportDialog {
        align: center middle;
        background: $background 60%;
    }
    ReportDialog ProgressBar {
        display: none;
        margin: 1 0 0 0;
    }
    ReportDialog ProgressBar.-shown {
        display: block;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Stop, or back", tooltip="Stop, or go back")]

    folder = query_one("#folder", Input)
    note = query_one("#note", Static)
    bar = query_one(ProgressBar)

    @dataclass
    class Went(Message):
        """So much of the work is done."""

        share: float
        what: str

    @dataclass
    class Ended(Message):
        """The process is gone."""

        page: Path | None
        "None: nothing was written"
        why: str

    def __init__(self, compare: Sequence[str] = ()) -> None:
        super().__init__()
        self._compare = tuple(compare)
        self._command: Command | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Write a report"
            dialog.border_subtitle = "Enter write · Esc stop, or back"
            yield Input(str(free_folder(store_path(self.app))), placeholder="a new folder", id="folder", compact=True)
            yield ProgressBar(total=1.0, show_eta=False)
            side_by_side = f"{', '.join(self._compare)} stand side by side. " if self._compare else ""
            yield Static(visible(f"{side_by_side}{NOTE}"), id="note", markup=False)

    def on_mount(self) -> None:
        self.folder.focus()

    def on_unmount(self) -> None:
        if self._command is not None:
            self._command.stop()

    @on(Input.Submitted)
    def start(self, event: Input.Submitted) -> None:
        """Write the report, unless one is being written."""
        folder = event.value.strip()
        if not folder:
            self._say("Give a new folder.", "$text-error")
        elif self._command is None:
            words = ["report", str(store_path(self.app)), folder, "--progress"]
            words += ["--compare", *self._compare] if self._compare else []
            self._command = Command(words, self._hear)
            self.folder.disabled = True
            self.bar.add_class("-shown")
            self.bar.update(progress=0)
            self._say("starting …")
            self.write(self._command, folder)

    @on(Went)
    def show_progress(self, event: Went) -> None:
        if self._command is None or self._command.stopped:
            return
        self.bar.update(progress=event.share)
        self._say(f"{event.what} …")

    @on(Ended)
    def show_end(self, event: Ended) -> None:
        stopped = self._command is not None and self._command.stopped
        self._command = None
        self.folder.disabled = False
        if event.page is not None:
            self.bar.update(progress=1.0)
            self._say(f"✓ {event.page}", "$text-success")
            self.query_one(".dialog").border_subtitle = "Esc back"
        else:
            self.bar.remove_class("-shown")
            self._say(STOPPED if stopped else f"✗ {event.why}", "" if stopped else "$text-error")
        self.folder.focus()

    def action_leave(self) -> None:
        """Stop what is under way, or go back where nothing is."""
        if self._command is None:
            self.dismiss(None)
        else:
            self._say("stopping …")
            self._command.stop()

    def _say(self, text: str, style: str = "") -> None:
        words = visible(text, lines=True)
        self.note.update(Content.styled(words, style) if style else Content(words))

    def failed(self, error: WorkbenchError) -> None:
        self.post_message(self.Ended(None, str(error)))

    def _hear(self, line: str) -> bool:
        share, _, what = line.partition(" ")
        try:
            self.post_message(self.Went(float(share), what))
        except ValueError:
            return False
        return True

    @work(thread=True, exclusive=True, exit_on_error=False, group="report")
    def write(self, command: Command, folder: str) -> None:
        code, why = command.run()
        page = Path(folder).expanduser() / "report.html"
        self.post_message(self.Ended(page if code == 0 else None, why))


def free_folder(store: Path, holds: str = "report") -> Path:
    """Return the name of a folder beside a store that is not there yet: `audit-report`, `audit-report-2`, …"""
    number, wanted = 1, store.parent / f"{store.stem}-{holds}"
    while wanted.exists():
        number += 1
        wanted = store.parent / f"{store.stem}-{holds}-{number}"
    return wanted
