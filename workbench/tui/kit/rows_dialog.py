"""Writing rows from a screen of results: which, as what, into which folder, how far it is, and what was written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Select, Static

from workbench.tui.kit.base import store_path
from workbench.tui.kit.command import Command
from workbench.tui.kit.command_dialog import CommandDialog
from workbench.tui.kit.report_dialog import free_folder
from workbench.tui.kit.start_form import row, select

KINDS = (
    ("answers: what models said, and how it was read", "answers"),
    ("readings: every reading of every answer", "readings"),
    ("verdicts: on each statement, by test and template", "verdicts"),
    ("figures: every value of every audit", "figures"),
    ("labels: what annotators said", "labels"),
    ("rulings: what auditors decided", "rulings"),
    ("all of these, a file each", "answers,readings,verdicts,figures,labels,rulings"),
)
FORMATS = (
    ("csv: for spreadsheets, R and pandas", "csv"),
    ("parquet: smallest, for pandas and DuckDB", "parquet"),
    ("jsonl: a JSON object a line", "jsonl"),
)
PEOPLE = (("pseudonyms, the same in all files of this store", "pseudonyms"), ("their names", "names"))
EXPAND = (("one row for answers that are alike in a draw, with their count", "once"), ("a row for each answer", "each"))
BESIDE = "A dictionary of the columns, a page to read first and a Croissant record stand beside them."


class RowsDialog(CommandDialog):
    """What, as what, whose names and where; then how far it is, and what was written. Esc stops it."""

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

    @dataclass
    class Counted(Message):
        """It is known how much there is."""

        kinds: str
        said: str

    @dataclass
    class Went(Message):
        """So many rows are written."""

        kind: str
        rows: int

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
            yield row("folder", Input(str(free_folder(store_path(self.app), "rows")), id="folder", compact=True))
            yield Static("Counting …", id="note", markup=False)

    def on_mount(self) -> None:
        self.query_one("#what").focus()

    @on(Select.Changed, "#what")
    def count_what(self) -> None:
        if self.command is None:
            self.count(store_path(self.app), self._chosen("what"))

    @on(Counted)
    def show_count(self, event: Counted) -> None:
        if self.command is None and event.kinds == self._chosen("what"):
            self.say(f"{event.said} {BESIDE}")

    @on(Input.Submitted)
    def submitted(self) -> None:
        self.action_write()

    @on(Went)
    def show_progress(self, event: Went) -> None:
        self._rows[event.kind] = event.rows
        if self.command is not None and not self.command.stopped:
            self.say(f"{self._written()} …")

    @on(CommandDialog.Ended)
    def show_end(self, event: CommandDialog.Ended) -> None:
        self._enable(True)
        if event.written is not None:
            self.say(f"✓ {event.written}: {self._written()}. README.md says what they are.", "$text-success")
        else:
            self.show_failed(event.why)
        self.command = None
        self.folder.focus()

    def action_write(self) -> None:
        """Write the rows, unless some are being written."""
        folder = self.folder.value.strip()
        if not folder:
            self.say("Give a new folder.", "$text-error")
        elif self.command is None:
            words = ["export", str(store_path(self.app)), folder, "--what", self._chosen("what"), "--progress"]
            words += ["--format", self._chosen("format")]
            words += ["--names"] if self._chosen("people") == "names" else []
            words += ["--expand"] if self._chosen("expand") == "each" else []
            self._rows = {}
            self.command = Command(words, self._hear)
            self._enable(False)
            self.say("starting …")
            self.write(self.command, Path(folder).expanduser())

    def _hear(self, line: str) -> bool:
        kind, _, rows = line.partition(" ")
        if not rows.isdecimal():
            return False
        self.post_message(self.Went(kind, int(rows)))
        return True

    def _written(self) -> str:
        return ", ".join(f"{rows:,} rows of {kind}" for kind, rows in self._rows.items()) or "nothing yet"

    def _chosen(self, name: str) -> str:
        return str(self.query_one(f"#{name}", Select).value)

    def _enable(self, on: bool) -> None:
        for field in self.query("Input, Select"):
            field.disabled = not on

    @work(thread=True, exclusive=True, exit_on_error=False, group="count")
    def count(self, path: Path, kinds: str) -> None:
        from stores.core.store import Store
        from workbench.tidy.columns import stored

        with Store.open(path) as store:
            said = dict.fromkeys(stored(store, kind)[1] for kind in kinds.split(","))
        self.post_message(self.Counted(kinds, " ".join(said)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="rows")
    def write(self, command: Command, folder: Path) -> None:
        code, why = command.run()
        self.post_message(self.Ended(folder if code == 0 else None, why))
