"""Dialogs that run a command to write a report or rows, with progress, result and a way to stop."""

from __future__ import annotations

import signal
import subprocess
import sys
from abc import abstractmethod
from asyncio import to_thread
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, ProgressBar, Select, Static

from workbench.commands.export import ExportCommand
from workbench.commands.report import ReportCommand
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.base import Background, store_path, worker
from workbench.tui.kit.start_form import row, select

if TYPE_CHECKING:
    from stores.core.store import Store


@dataclass(slots=True)
class DialogCommand:
    """A command, from its start to its end."""

    words: Sequence[str]
    "arguments after `workbench`"
    hear: Callable[[str], bool]
    "function that takes a line; it returns False if that is an error message and no progress"
    process: subprocess.Popen[str] | None = field(default=None, init=False)
    stopped: bool = field(default=False, init=False)

    def run(self) -> tuple[int, str]:
        """Run the command to its end, in a thread.

        Return its exit code, and its error message, which means nothing if the code is 0.
        """
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *self.words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.stopped:
            self.stop()
        assert self.process.stderr is not None
        messages = [
            text for line in self.process.stderr if (text := line.strip()) and not self.hear(text)
        ]
        code = self.process.wait()
        return code, " ".join(messages).removeprefix(
            "workbench: "
        ) or f"the command ended with code {code}"

    def stop(self) -> None:
        """Interrupt the command, which removes its incomplete output."""
        self.stopped = True
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)


class CommandDialog(ModalScreen[None], Background):
    """A dialog with a folder to write to and a note. Esc stops the command, or goes back."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Stop, or back", tooltip="Stop, or go back")
    ]
    SHORT_TEXT = True
    STOPPED = "Stopped; nothing was written."

    folder = query_one("#folder", Input)
    note = query_one("#note", Static)

    def __init__(self) -> None:
        super().__init__()
        self.command: DialogCommand | None = None

    def on_unmount(self) -> None:
        if self.command is not None:
            self.command.stop()

    def action_leave(self) -> None:
        """Stop the running command, or go back if none is running."""
        if self.command is None:
            self.dismiss(None)
        else:
            self.say("stopping …")
            self.command.stop()

    def failed(self, error: WorkbenchError) -> None:
        self.show_end(None, str(error))

    @abstractmethod
    def show_end(self, written: Path | None, why: str) -> None:
        """Show the written path, or the reason why nothing was written. The process has ended."""

    def show_failed(self, why: str) -> None:
        """Show that nothing was written, because it was stopped or for a reason."""
        stopped = self.command is not None and self.command.stopped
        self.say(self.STOPPED if stopped else f"✗ {why}", "" if stopped else "$text-error")

    def say(self, text: str, style: str = "") -> None:
        safe_text = visible(text, lines=True)
        self.note.update(Content.styled(safe_text, style) if style else Content(safe_text))


NOTE = (
    "The report has every audit and model: a short page for any browser with the strongest "
    "findings, and every "
    "table and answer behind it. workbench report --help lists narrower choices."
)


class ReportDialog(CommandDialog):
    """The dialog that writes a report: a folder, then progress and result. Esc stops it."""

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

    def __init__(self, compare: Sequence[str] = ()) -> None:
        super().__init__()
        self._compare = tuple(compare)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Write a report"
            dialog.border_subtitle = "Enter write · Esc stop, or back"
            yield Input(
                str(free_folder(store_path(self.app))),
                placeholder="a new folder",
                id="folder",
                compact=True,
            )
            yield ProgressBar(total=1.0, show_eta=False)
            side_by_side = (
                f"{', '.join(self._compare)} stand side by side. " if self._compare else ""
            )
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
            flags = ReportCommand(compare=self._compare).flags()
            words = ["report", str(store_path(self.app)), folder, *flags, "--progress"]
            self.command = DialogCommand(words, self._hear)
            self.folder.disabled = True
            self.bar.add_class("-shown")
            self.bar.update(progress=0)
            self.say("starting …")
            self.write(self.command, folder)

    def show_progress(self, share: float, what: str) -> None:
        if self.command is None or self.command.stopped:
            return
        self.bar.update(progress=share)
        self.say(f"{what} …")

    def show_end(self, written: Path | None, why: str) -> None:
        self.folder.disabled = False
        if written is not None:
            self.bar.update(progress=1.0)
            self.say(f"✓ {written}", "$text-success")
            self.query_one(".dialog").border_subtitle = "Esc back"
        else:
            self.bar.remove_class("-shown")
            self.show_failed(why)
        self.command = None
        self.folder.focus()

    def _hear(self, line: str) -> bool:
        share, _, step = line.partition(" ")
        try:
            self.call_later(self.show_progress, float(share), step)
        except ValueError:
            return False
        return True

    @worker("report", newest=False, beside=True)
    async def write(self, command: DialogCommand, folder: str) -> None:
        code, message = await to_thread(command.run)
        self.show_end(Path(folder).expanduser() / "report.html" if code == 0 else None, message)


def free_folder(store: Path, holds: str = "report") -> Path:
    """Return the path of a folder beside a store that does not exist yet.

    The names are `audit-report`, `audit-report-2`, …
    """
    number, folder = 1, store.parent / f"{store.stem}-{holds}"
    while folder.exists():
        number += 1
        folder = store.parent / f"{store.stem}-{holds}-{number}"
    return folder


KINDS = (
    ("answers: what models said, and how it was read", "answers"),
    ("readings: every reading of every answer", "readings"),
    ("probabilities: of the labels, of prompts asked for them", "probabilities"),
    ("verdicts: on each statement, by test and template", "verdicts"),
    ("figures: every value of every audit", "figures"),
    ("labels: what annotators said", "labels"),
    ("rulings: what auditors decided", "rulings"),
    ("all of these, a file each", "answers,readings,probabilities,verdicts,figures,labels,rulings"),
)
FORMATS = (
    ("csv: for spreadsheets, R and pandas", "csv"),
    ("parquet: smallest, for pandas and DuckDB", "parquet"),
    ("jsonl: a JSON object a line", "jsonl"),
)
PEOPLE = (
    ("pseudonyms, the same in all files of this store", "pseudonyms"),
    ("their names", "names"),
)
EXPAND = (
    ("one row for answers that are alike in a draw, with their count", "once"),
    ("a row for each answer", "each"),
)
BESIDE = (
    "A dictionary of the columns, a page to read first and a Croissant record stand beside them."
)


class RowsDialog(CommandDialog):
    """The dialog that writes rows: kinds, format, names and folder, then progress and result.

    Esc stops it.
    """

    DEFAULT_CSS = """
    RowsDialog {
        align: center middle;
        background: $background 60%;
    }
    RowsDialog .row {
        height: 1;
    }
    RowsDialog .name {
        width: 9;
        color: $text-muted;
    }
    RowsDialog .row > Input, RowsDialog .row > Select {
        width: 1fr;
    }
    RowsDialog .row > Input {
        background: $boost;
    }
    RowsDialog .row > Input:focus {
        background: $accent 30%;
    }
    RowsDialog #note {
        height: auto;
        min-height: 2;
        margin-top: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "write", "Write", tooltip="Write the rows"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Write rows for other programs"
            dialog.border_subtitle = "Tab next · F5 write · Esc stop, or back"
            yield row("what", select("what", KINDS))
            yield row("format", select("format", FORMATS))
            yield row("people", select("people", PEOPLE))
            yield row("rows", select("expand", EXPAND))
            yield row(
                "folder",
                Input(str(free_folder(store_path(self.app), "rows")), id="folder", compact=True),
            )
            yield Static("Counting …", id="note", markup=False)

    def on_mount(self) -> None:
        self.query_one("#what").focus()

    @on(Select.Changed, "#what")
    def count_what(self) -> None:
        if self.command is None:
            self.count(self._chosen("what"))

    def show_progress(self, kind: str, rows: int) -> None:
        self._rows[kind] = rows
        if self.command is not None and not self.command.stopped:
            self.say(f"{self._written()} …")

    def show_end(self, written: Path | None, why: str) -> None:
        self._enable(True)
        if written is not None:
            self.say(
                f"✓ {written}: {self._written()}. README.md says what they are.", "$text-success"
            )
        else:
            self.show_failed(why)
        self.command = None
        self.folder.focus()

    @on(Input.Submitted)
    def action_write(self) -> None:
        """Write the rows, unless some are being written."""
        folder = self.folder.value.strip()
        if not folder:
            self.say("Give a new folder.", "$text-error")
        elif self.command is None:
            export = ExportCommand(
                what=tuple(self._chosen("what").split(",")),
                format=self._chosen("format"),
                names=self._chosen("people") == "names",
                expand=self._chosen("expand") == "each",
            )
            words = ["export", str(store_path(self.app)), folder, *export.flags(), "--progress"]
            self._rows = {}
            self.command = DialogCommand(words, self._hear)
            self._enable(False)
            self.say("starting …")
            self.write(self.command, Path(folder).expanduser())

    def _hear(self, line: str) -> bool:
        kind, _, rows = line.partition(" ")
        if not rows.isdecimal():
            return False
        self.call_later(self.show_progress, kind, int(rows))
        return True

    def _written(self) -> str:
        return (
            ", ".join(f"{rows:,} rows of {kind}" for kind, rows in self._rows.items())
            or "nothing yet"
        )

    def _chosen(self, name: str) -> str:
        return str(self.query_one(f"#{name}", Select).value)

    def _enable(self, on: bool) -> None:
        for field_widget in self.query("Input, Select"):
            field_widget.disabled = not on

    @worker("count", beside=True)
    async def count(self, kinds: str) -> None:
        def load(store: Store) -> str:
            from workbench.tidy.columns import stored

            return " ".join(dict.fromkeys(stored(store, kind)[1] for kind in kinds.split(",")))

        count_text = await self.with_store(load)
        if self.command is None and kinds == self._chosen("what"):
            self.say(f"{count_text} {BESIDE}")

    @worker("rows", newest=False, beside=True)
    async def write(self, command: DialogCommand, folder: Path) -> None:
        code, message = await to_thread(command.run)
        self.show_end(folder if code == 0 else None, message)
