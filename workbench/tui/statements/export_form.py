"""The form that exports an instrument: a format, a folder, and the files to write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Button, Input, Select, Static

from workbench.commands.export import INSTRUMENTS, ExportCommand
from workbench.errors import UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.base import Background, store_path, worker
from workbench.tui.kit.start_form import FieldsForm, row, select

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.formats.write import Export, Written

FORMATS = (
    ("csv: imports back identically", "csv"),
    ("probvaa: the layout of the published data set", "probvaa"),
    ("jsonl: the statements alone", "jsonl"),
    ("choices: multiple-choice questions, models' answers", "choices"),
)
PEOPLE = (
    ("counts: how many annotators and respondents have each value", "counts"),
    ("pseudonyms: counts, and each person under a pseudonym", "pseudonyms"),
    ("none: no descriptions", "none"),
)
REPLACE = "replace"
IF_TAKEN = (
    ("write nothing into a folder that has files", "stop"),
    ("replace files of the same name", REPLACE),
)


class ExportScreen(FieldsForm[None], Background):
    """A form with fields above and the planned files below, and then the written ones."""

    CSS_PATH = "export_form.tcss"
    EXPLAIN = section("screens-statements", "Exporting")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "write", "Write", tooltip="Write the files"),
        Binding("escape", "dismiss(None)", "Leave", tooltip="Leave this screen"),
        Binding(
            "f1,question_mark",
            "explain",
            "Explain the fields",
            tooltip="Explain what the fields mean",
        ),
    ]

    plan_line = query_one("#plan", Static)
    panel = query_one("#said", VerticalScroll)
    write_button = query_one("#write", Button)

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._looked: ExportCommand | None = None
        "the command whose files are shown"
        self._wanted = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="form") as form:
            form.border_title = Content(visible(f"Export {self._instrument}"))
            form.border_subtitle = "Tab next · F5 write · F1 explain · Esc back"
            yield row("format", select("format", FORMATS))
            yield row("folder", Input(str(self._usual_folder()), id="folder", compact=True))
            yield row("people", select("people", PEOPLE))
            yield row("if taken", select("taken", IF_TAKEN))
            with VerticalScroll(id="said"):
                yield Static("Reading the store …", id="plan", markup=False)
            with Horizontal(id="buttons"):
                yield Button(
                    "Write  F5", id="write", variant="success", compact=True, disabled=True
                )
                yield Button("Leave  Esc", id="leave", compact=True)

    def on_mount(self) -> None:
        self.query_one("#folder").focus()
        self.ask()

    def failed(self, error: WorkbenchError) -> None:
        self._wanted = False
        self.write_button.disabled = True
        self._say(f"✗ {error}", "-trouble")

    @on(Input.Changed)
    @on(Select.Changed)
    def ask(self) -> None:
        """Update the plan after a pause in typing."""
        self._looked = None
        self.write_button.disabled = True
        self.soon(self.look_now)

    @on(Button.Pressed, "#write")
    @on(Input.Submitted)
    def action_write(self) -> None:
        """Write the planned files, or plan them first and then write."""
        if self._looked is None:
            self._wanted = True
            self.look_now()
        elif not self.write_button.disabled:
            self.write_button.disabled = True
            self.write(self._looked)

    def look_now(self) -> None:
        self.no_longer()
        if self.typed("folder").strip():
            self.look(self._command())
        else:
            self.failed(UsageError("the folder has no name yet; give one, such as ~/my-instrument"))

    def _command(self) -> ExportCommand:
        return ExportCommand(
            Path(self.typed("folder").strip()),
            what=(INSTRUMENTS,),
            instrument=self._instrument,
            format=self.chosen("format"),
            people=self.chosen("people"),
            force=self.chosen("taken") == REPLACE,
        )

    def _usual_folder(self) -> Path:
        name = "".join(
            character if character.isalnum() or character in "-_." else "-"
            for character in self._instrument
        )[:64].strip(".")
        return store_path(self.app).absolute().parent / (name or "instrument")

    def _say(self, text: str, kind: str = "") -> None:
        self.panel.set_classes(kind)
        self.plan_line.update(Content(visible(text, lines=True)))
        self.panel.scroll_home(animate=False)

    @worker("look", beside=True)
    async def look(self, command: ExportCommand) -> None:
        def load(store: Store) -> str:
            return planned_lines(command.instrument_files(store), command.folder)

        text = await self.with_store(load)
        if command != self._command():
            return
        self._looked = command
        self._say(text)
        self.write_button.disabled = False
        if self._wanted:
            self._wanted = False
            self.action_write()

    @worker("write", newest=False)
    async def write(self, command: ExportCommand) -> None:
        written = await self.with_store(command.write_instrument)
        self._say(written_lines(written), "-done")
        self.panel.focus()


def planned_lines(export: Export, folder: Path) -> str:
    """Return the lines that describe the planned files, and what they leave out."""
    from workbench.formats.folder import expanded

    full_path = expanded(folder).absolute()
    size = sum(len(text.encode("utf-8", "replace")) for text in export.files.values())
    summary = f"Writes {len(export.files)} files, {size / 1000:,.0f} kB, into {full_path}"
    files = ", ".join(export.files)
    return "\n".join(
        (summary, files, *_listed("Leaves out:", export.left_out), *_listed("Note:", export.notes))
    )


def written_lines(written: Written) -> str:
    """Return the lines that describe the written files, and what they leave out."""
    files = ", ".join(str(path.relative_to(written.folder)) for path in written.files)
    return "\n".join(
        (
            f"✓ Wrote {len(written.files)} files into {written.folder.absolute()}",
            files,
            *_listed("Left out:", written.left_out),
            *_listed("Note:", written.notes),
            *_listed("Files in the folder, not changed:", written.left_alone),
        )
    )


def _listed(heading: str, sentences: Iterable[str]) -> tuple[str, ...]:
    lines = tuple(f"- {sentence}" for sentence in sentences)
    return (heading, *lines) if lines else ()
