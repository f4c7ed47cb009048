"""Writing a report from a screen of results: into which folder, how far it is, and where its page lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, ProgressBar, Static

from workbench.tui.format import visible
from workbench.tui.kit.base import store_path
from workbench.tui.kit.command import Command
from workbench.tui.kit.command_dialog import CommandDialog

NOTE = (
    "The report has every audit and model, with findings, figures, pictures, answers and methods, as a "
    "page for any browser. workbench report --help lists narrower choices."
)


class ReportDialog(CommandDialog):
    """A folder to write to; then how far it is, and what was written. Esc stops it."""

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
    STOPPED = "Stopped; no report was written."

    bar = query_one(ProgressBar)

    @dataclass
    class Went(Message):
        """So much of the work is done."""

        share: float
        what: str

    def __init__(self, compare: Sequence[str] = ()) -> None:
        super().__init__()
        self._compare = tuple(compare)

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

    @on(Input.Submitted)
    def start(self, event: Input.Submitted) -> None:
        """Write the report, unless one is being written."""
        folder = event.value.strip()
        if not folder:
            self.say("Give a new folder.", "$text-error")
        elif self.command is None:
            words = ["report", str(store_path(self.app)), folder, "--progress"]
            words += ["--compare", *self._compare] if self._compare else []
            self.command = Command(words, self._hear)
            self.folder.disabled = True
            self.bar.add_class("-shown")
            self.bar.update(progress=0)
            self.say("starting …")
            self.write(self.command, folder)

    @on(Went)
    def show_progress(self, event: Went) -> None:
        if self.command is None or self.command.stopped:
            return
        self.bar.update(progress=event.share)
        self.say(f"{event.what} …")

    @on(CommandDialog.Ended)
    def show_end(self, event: CommandDialog.Ended) -> None:
        self.folder.disabled = False
        if event.written is not None:
            self.bar.update(progress=1.0)
            self.say(f"✓ {event.written}", "$text-success")
            self.query_one(".dialog").border_subtitle = "Esc back"
        else:
            self.bar.remove_class("-shown")
            self.show_failed(event.why)
        self.command = None
        self.folder.focus()

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
