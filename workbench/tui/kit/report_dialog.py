"""Writing a report from a screen of results: into which folder, how far it is, and where its page lies.

The shell's own command writes it, in a process of its own: what it needs is heavy, and the terminal stays quick.
"""

from __future__ import annotations

import signal
import subprocess
import sys
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

from workbench.tui.format import visible
from workbench.tui.kit.base import store_path

NOTE = (
    "Everything asked: every audit and model, with findings, figures, pictures, answers and methods, as a "
    "page that opens in any browser. workbench report --help chooses."
)
STOPPED = "Stopped; nothing was written."


class ReportDialog(ModalScreen[None]):
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
        self._process: subprocess.Popen[str] | None = None
        self._stopping = False

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
        self._stop()

    @on(Input.Submitted)
    def start(self, event: Input.Submitted) -> None:
        """Write the report, unless one is being written."""
        folder = event.value.strip()
        if not folder:
            self._say("Give a new folder.", "$text-error")
        elif self._process is None:
            self.folder.disabled = True
            self.bar.add_class("-shown")
            self.bar.update(progress=0)
            self._say("starting …")
            self.write(store_path(self.app), folder)

    @on(Went)
    def show_progress(self, event: Went) -> None:
        self.bar.update(progress=event.share)
        self._say(f"{event.what} …")

    @on(Ended)
    def show_end(self, event: Ended) -> None:
        self._process = None
        self.folder.disabled = False
        if event.page is not None:
            self.bar.update(progress=1.0)
            self._say(f"✓ {event.page}", "$text-success")
            self.query_one(".dialog").border_subtitle = "Esc back"
        else:
            self.bar.remove_class("-shown")
            self._say(STOPPED if self._stopping else f"✗ {event.why}", "" if self._stopping else "$text-error")
        self._stopping = False
        self.folder.focus()

    def action_leave(self) -> None:
        """Stop what is under way, or go back where nothing is."""
        if self._process is None:
            self.dismiss(None)
        else:
            self._stopping = True
            self._say("stopping …")
            self._stop()

    def _say(self, text: str, style: str = "") -> None:
        words = visible(text, lines=True)
        self.note.update(Content.styled(words, style) if style else Content(words))

    def _stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # the command takes away what it began to write

    @work(thread=True, exclusive=True, exit_on_error=False, group="report")
    def write(self, store: Path, folder: str) -> None:
        command = [sys.executable, "-m", "workbench", "report", str(store), folder, "--progress"]
        command += ["--compare", *self._compare] if self._compare else []
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self._process = process
        said = []
        assert process.stderr is not None
        for line in process.stderr:
            share, _, what = line.strip().partition(" ")
            try:
                self.post_message(self.Went(float(share), what))
            except ValueError:
                said.append(line.strip())
        code = process.wait()
        why = " ".join(said).removeprefix("workbench: ") or f"the command ended with code {code}"
        page = Path(folder).expanduser() / "report.html"
        self.post_message(self.Ended(page if code == 0 else None, why))


def free_folder(store: Path) -> Path:
    """Return the name of a folder beside a store that is not there yet: `audit-report`, `audit-report-2`, …"""
    number, wanted = 1, store.parent / f"{store.stem}-report"
    while wanted.exists():
        number += 1
        wanted = store.parent / f"{store.stem}-report-{number}"
    return wanted
