"""The screen that imports files: a choice, a preview, and one key to write.

The preview is the import itself, done and rolled back (`pipeline.importing`). Only what was shown
is written.
"""

from __future__ import annotations

import shlex
from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.suggester import Suggester
from textual.widgets import DirectoryTree, Input, Static

from workbench.data import shipped_instrument_folder
from workbench.errors import InputError, WorkbenchError
from workbench.figures.visible import visible
from workbench.formats.native import statement_columns
from workbench.formats.packed import PACKED, TABLES
from workbench.help.sections import section
from workbench.tui.format import following
from workbench.tui.kit.base import StoreScreen, of_store, worker

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.commands.import_file import ImportCommand
    from workbench.formats.records import ReadSettings
    from workbench.pipeline.importing import ImportMaterial, ImportOutcome

KINDS = (*TABLES, *PACKED, ".parquet", ".sav", ".dta", ".eval")


class FileTree(DirectoryTree):
    """Folders and files without hidden ones. Arrows, j and k move the cursor."""

    ICON_NODE, ICON_NODE_EXPANDED, ICON_FILE = "▸ ", "▾ ", "  "
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Row below", show=False, tooltip="Go to the row below"),
        Binding("k", "cursor_up", "Row above", show=False, tooltip="Go to the row above"),
        Binding("right,l", "open", "Unfold the folder", show=False),
        Binding("left", "close", "Fold the folder, or go to its parent", show=False),
        Binding(
            "enter",
            "select_cursor",
            "Preview",
            key_display="Enter",
            tooltip="Read the file or folder here",
        ),
    ]

    def __init__(self, folder: Path, *, name: str) -> None:
        super().__init__(folder, id=name)
        self.auto_expand = False
        self.guide_depth = 2

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out hidden files and unsupported kinds. The path box accepts any file."""
        visible_paths = (path for path in paths if not path.name.startswith("."))
        return [path for path in visible_paths if path.is_dir() or path.name.endswith(KINDS)]

    def process_label(self, label: object) -> Text:
        """Return the label of a file, made safe to print because its name is foreign text."""
        return Text(visible(label.plain if isinstance(label, Text) else str(label)), no_wrap=True)

    @property
    def chosen(self) -> Path | None:
        """The file or folder under the cursor, or None without one."""
        node = self.cursor_node
        return node.data.path if node is not None and node.data is not None else None

    def action_open(self) -> None:
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()

    def action_close(self) -> None:
        node = self.cursor_node
        if node is not None and node.allow_expand and node.is_expanded and node is not self.root:
            node.collapse()
        elif node is not None and node.parent is not None:
            self.move_cursor(node.parent)


class PathSuggester(Suggester):
    """A suggester that completes the last part of a path with an existing name."""

    def __init__(self, folder: Path) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._folder = folder

    async def get_suggestion(self, value: str) -> str | None:
        return completed(value, self._folder)


class PathBox(Input):
    """A path field. Tab accepts the suggested completion, or goes to the next field."""

    def __init__(self, folder: Path, *, name: str) -> None:
        super().__init__(
            id=name,
            compact=True,
            placeholder="a path; Tab completes it",
            suggester=PathSuggester(folder),
        )

    def on_key(self, event: events.Key) -> None:
        if event.key == "tab" and self._suggestion and self.cursor_position == len(self.value):
            event.stop()
            event.prevent_default()
            self.action_cursor_right()


def _mapping_hint(message: str) -> str:
    """Return that the fields of the mapping help after a message, or an empty string."""
    if " --map original" in message:
        return "\ne fills in these columns, to be changed and read."
    return "\ne has a field for it." if any(flag in message for flag in FIELDS) else ""


def completed(typed: str, folder: Path) -> str | None:
    """Return the first existing path that starts as typed, or None if it adds nothing."""
    if not typed or "\x00" in typed:
        return None
    head, _, prefix = typed.rpartition("/")
    head = f"{head}/" if "/" in typed else ""
    try:
        directory = folder / Path(head).expanduser()
        is_hidden = prefix.startswith(".")
        names = sorted(
            entry.name + ("/" if entry.is_dir() else "")
            for entry in directory.iterdir()
            if entry.name.startswith(prefix) and entry.name.startswith(".") == is_hidden
        )
    except (OSError, RuntimeError):
        return None
    return head + names[0] if names and names[0] != prefix else None


def path_of(typed: str, folder: Path) -> Path | None:
    """Return the typed path, or None for an empty or impossible one."""
    path_text = typed.strip()
    if not path_text or "\x00" in path_text:
        return None
    try:
        return folder / Path(path_text).expanduser()
    except RuntimeError:
        return None


LOG, LABELS = "log", "labels"
OF_PEOPLE = ("survey", "answers")
"formats whose files have columns about people"
FIELDS = (
    "--answers",
    "--map",
    "--sheet",
    "--encoding",
    "--header-row",
    "--decimal",
    "--language",
    "--election",
)
"options of the command line that have a field on this screen"
UNKNOWN = ""
"format of a table that may be a survey"
OF_SURVEY_EXAMPLE = "weight=COLUMN groups=COLUMN,age=COLUMN:18-29/30+"
EXAMPLES = {
    LOG: "model=NAME audit=AUDIT family=TEMPLATES",
    LABELS: "into=QUEUE purpose=training codebook=stance",
}
"placeholders of the field for options: of models' answers, and of labels"
TOLD_S = 0.3
"seconds between two progress messages while a file is read"
ROWS = 12
"maximum number of rows in the preview"
NAMES = 28
"maximum number of columns of a cell in the preview, except the last cell of a row"
ABOUT = "Enter reads the file or folder under the cursor; only F5 writes to the store."
EXPLAIN = section("screens-home", "Importing files") + "\n\n" + statement_columns()


class ImportScreen(StoreScreen):
    """The screen to choose files, with a tree and a path, and the preview beside or instead."""

    CSS_PATH = "importing.tcss"
    PLACE = "home › import"
    EXPLAIN = EXPLAIN
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  the base class declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "write", "Import", tooltip="Write the preview to the store"),
        Binding("f", "format", "Format", tooltip="Read the files as another format"),
        Binding(
            "e",
            "columns",
            "Columns",
            tooltip="Say which columns are which of ours, what answers stand for, sheet, encoding",
        ),
        Binding(
            "p",
            "people",
            "People, model, queue",
            tooltip="Say which columns are questions, weights and groups of people; of models' "
            "answers: which model; "
            "of labels: which new queue",
        ),
        Binding(
            "n",
            "name",
            "Name",
            tooltip="Rename the instrument, or choose the questionnaire of the answers",
        ),
        Binding(
            "s",
            "skip",
            "Skip errors",
            tooltip="Skip files with errors, answers without a prompt or labels of unknown "
            "texts; read the others",
        ),
        Binding(
            "w",
            "shipped",
            "Shipped",
            tooltip="Show the instruments that ship with workbench, or your own files",
        ),
        Binding("slash", "path", "Path", key_display="/", tooltip="Type a path"),
        Binding("escape", "leave", "Back", key_display="Esc", tooltip="Go back"),
    ]

    files = query_one("#files", FileTree)
    box = query_one("#path", PathBox)
    name_box = query_one("#name", Input)
    columns_box = query_one("#columns", Input)
    people_box = query_one("#people", Input)
    how_boxes = query_one("#how", Vertical)
    panel = query_one("#preview", VerticalScroll)
    said = query_one("#said", Static)

    def __init__(self, tell: Callable[[str], None], folder: Path | None = None) -> None:
        """Create the screen. `tell` is called with a message about the import."""
        super().__init__()
        self._tell = tell
        self._folder = folder or Path.cwd()
        self._command: ImportCommand | None = None
        self._material: ImportMaterial | None = None
        "material of the preview, which is then written, or None if it cannot be"
        self._format = ""
        "format that the request was read as"
        self._proposed: ReadSettings | None = None
        "proposed mapping of the file's columns to those of statements"
        self._skippable = False
        self._shipped = False
        self._writing = False

    def compose_body(self) -> ComposeResult:
        yield PathBox(self._folder, name="path")
        with Horizontal(id="body"):
            yield FileTree(self._folder, name="files")
            with Vertical(id="beside"):
                yield Input(
                    id="name",
                    compact=True,
                    placeholder="a name in this store; Enter previews again",
                )
                with Vertical(id="how"):
                    yield Input(
                        id="columns",
                        compact=True,
                        placeholder="columns: original=COLUMN,ref=#,-=COLUMN",
                    )
                    yield Input(
                        id="answers",
                        compact=True,
                        placeholder="answers of parties: teils=neutral,ja=agree",
                    )
                    yield Input(id="sheet", compact=True, placeholder="sheet: the only one")
                    yield Input(
                        id="encoding",
                        compact=True,
                        placeholder="encoding: UTF-8, or as a mark says",
                    )
                    yield Input(
                        id="more",
                        compact=True,
                        placeholder="header-row=3 decimal=, language=de election=2024",
                    )
                yield Input(
                    id="people", compact=True, placeholder=OF_SURVEY_EXAMPLE, select_on_focus=False
                )
                with VerticalScroll(id="preview"):
                    yield Static(ABOUT, id="said", markup=False)

    def on_mount(self) -> None:
        self.files.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "write":
            return self._material is not None and not self._writing
        if action == "people":
            return self._command is not None and self._format in (*OF_PEOPLE, LOG, LABELS, UNKNOWN)
        if action in ("name", "columns") and self._format == LABELS:
            return False
        if action in ("format", "name", "columns"):
            return self._command is not None
        return action != "skip" or self._skippable

    @on(DirectoryTree.FileSelected)
    @on(DirectoryTree.DirectorySelected)
    def take(self, event: DirectoryTree.FileSelected | DirectoryTree.DirectorySelected) -> None:
        """Read the path under the cursor, or unfold a folder that cannot be imported by itself."""
        event.stop()
        self._look_at(event.path)

    @on(Input.Submitted, "#path")
    def go(self, event: Input.Submitted) -> None:
        """Read the typed path."""
        path = path_of(event.value, self._folder)
        if path is not None:
            self._look_at(path)

    @on(Input.Submitted, "#name")
    def rename(self, event: Input.Submitted) -> None:
        if self._command is not None:
            self.name_box.remove_class("-shown")
            self._ask(replace(self._command, name=event.value.strip() or None))

    @on(Input.Submitted, "#columns, #answers, #sheet, #encoding, #more")
    def map_columns(self) -> None:
        """Read the file with the typed mapping."""
        from workbench.commands.import_file import OF_TABLE

        if self._command is None:
            return
        texts = {box.id: box.value.strip() for box in self.how_boxes.query(Input)}
        try:
            command = self._command.with_words(texts["more"], OF_TABLE)
        except WorkbenchError as error:
            self.show_refused(self._command, error)
            return
        self.how_boxes.remove_class("-shown")
        self._ask(
            replace(
                command,
                format=None,
                map=texts["columns"],
                sheet=texts["sheet"],
                encoding=texts["encoding"],
                answers=texts["answers"],
            )
        )

    @on(Input.Submitted, "#people")
    def map_people(self, event: Input.Submitted) -> None:
        """Read the file with the typed questions, weights and groups, model, or queue."""
        if self._command is None:
            return
        try:
            command = self._command.with_words(event.value, self._names_of_people_box())
        except WorkbenchError as error:
            self.show_refused(self._command, error)
            return
        self.people_box.remove_class("-shown")
        self._ask(command)

    def _names_of_people_box(self) -> Sequence[str]:
        """Return the names of the options that the box has for the format."""
        from workbench.commands.import_file import OF_LABELS, OF_LOG, OF_SURVEY

        return {LOG: OF_LOG, LABELS: OF_LABELS}.get(self._format, OF_SURVEY)

    def show_preview(
        self, command: ImportCommand, material: ImportMaterial, outcome: ImportOutcome
    ) -> None:
        if command != self._command:
            return
        self._material, self._format, self._skippable = material, material.format, False
        if material.log is not None and material.log.leaves_out_much and not command.skip:
            self._material, self._skippable = None, True
            preview_content = preview(outcome, self.store_path)
            self._say(
                Content("\n").join([preview_content, Content("s imports the others.")]), "-trouble"
            )
            self.panel.focus()
            return
        preview_content = preview(outcome, self.store_path)
        if outcome.merged is not None and outcome.merged.outside:
            preview_content = Content("\n").join(
                [preview_content, Content("p makes a queue of these items.")]
            )
        self._say(preview_content, "-good")
        self.panel.focus()

    def show_refused(self, command: ImportCommand, error: WorkbenchError) -> None:
        """Show why files cannot be read as requested, and the key that helps."""
        if command != self._command:
            return
        self._format = self._format_of(command)
        message = str(error).replace(" STORE ", f" {shlex.quote(str(self.store_path))} ")
        skip_hint = self._skip_hint(command, error)
        mapping_hint = _mapping_hint(message)
        self._skippable = bool(skip_hint)
        self._say(Content(visible(f"✗ {message}{skip_hint}{mapping_hint}", lines=True)), "-trouble")
        if mapping_hint or skip_hint:
            self.panel.focus()

    def _skip_hint(self, command: ImportCommand, error: WorkbenchError) -> str:
        """Return how to import the other parts, or an empty string if that is impossible."""
        from stores.annotation.exchange import PARTIAL
        from workbench.formats.read import PARTS

        if not isinstance(error, InputError) or command.skip:
            return ""
        if self._format == LABELS and f"({PARTIAL})" in str(error):
            return "\ns imports the others."
        return "\ns skips the files with errors." if self._format in PARTS else ""

    def unfold(self, command: ImportCommand) -> None:
        """Show the contents of a folder."""
        if command != self._command:
            return
        path, node, self._command = command.path, self.files.cursor_node, None
        if (
            self.focused is self.files
            and node is not None
            and node.data is not None
            and node.data.path == path
        ):
            node.toggle()
        else:
            self.files.path = path
            self.files.focus()
        self._say(Content(ABOUT), "")

    def failed(self, error: WorkbenchError) -> None:
        self._writing, self._material = False, None
        super().failed(error)

    def action_refresh(self) -> None:
        self.files.reload()

    def action_write(self) -> None:
        if self._command is not None and self._material is not None and not self._writing:
            self._writing = True
            self.refresh_bindings()
            self.title_bar.note = "Importing …"
            self.write(self._command, self._material)

    def action_format(self) -> None:
        """Read the file as the next format. After the last one, detect the format."""
        if self._command is not None:
            from workbench.pipeline.importing import listed_formats

            current_format = self._format_of(self._command)
            self._ask(
                replace(
                    self._command,
                    format=following(listed_formats(), current_format, 1) or None,
                    skip=False,
                )
            )

    def action_name(self) -> None:
        self.name_box.add_class("-shown")
        self.name_box.focus()

    def action_columns(self) -> None:
        """Offer the current column mapping, or the proposed one."""
        if self._command is None:
            return
        texts = self._mapping_texts(self._command)
        for box in self.how_boxes.query(Input):
            box.value = texts[str(box.id)]
        self.how_boxes.add_class("-shown")
        self.columns_box.focus()

    def _mapping_texts(self, command: ImportCommand) -> dict[str, str]:
        """Return the texts of the fields of the mapping, by field."""
        from workbench.commands.import_file import OF_TABLE
        from workbench.formats.mapping import written

        columns = command.map or ""
        if self._proposed is not None and not self._keeps_columns(command):
            columns = written(self._proposed)
        return {
            "columns": columns,
            "answers": command.answers or "",
            "sheet": command.sheet or "",
            "encoding": command.encoding or "",
            "more": command.words(OF_TABLE),
        }

    def _keeps_columns(self, command: ImportCommand) -> bool:
        """Return whether the columns stay as they are, with no proposed mapping in their place."""
        from workbench.formats.read import BESIDE, WITH_PARTIES

        if command.map or not command.path.is_file():
            return True
        return self._format_of(command) in (*WITH_PARTIES[1:], *BESIDE)

    def action_people(self) -> None:
        """Offer the options on people, or of a log, or of labels."""
        if self._command is None:
            return
        self.people_box.placeholder = EXAMPLES.get(self._format, OF_SURVEY_EXAMPLE)
        self.people_box.value = self._command.words(self._names_of_people_box())
        self.people_box.add_class("-shown")
        self.people_box.focus()

    def action_skip(self) -> None:
        if self._command is not None:
            self._ask(replace(self._command, skip=True))

    def action_shipped(self) -> None:
        """Show the folder of the shipped instruments, or the user's own."""
        self._shipped = not self._shipped
        self.files.path = shipped_instrument_folder().parent if self._shipped else self._folder
        self.files.focus()

    def action_path(self) -> None:
        self.box.focus()

    @property
    def goes_back_within(self) -> bool:
        """Whether Esc goes back to the files, which keeps the input."""
        return self.focused is not self.files

    def action_leave(self) -> None:
        """Go back to the files, or from there to Home. Nothing is written."""
        if self.focused is self.files or self._writing:
            self.dismiss(None)
        else:
            self.name_box.remove_class("-shown")
            self.how_boxes.remove_class("-shown")
            self.people_box.remove_class("-shown")
            self.remove_class("-previewing")
            self.files.focus()

    def _look_at(self, path: Path) -> None:
        from workbench.commands.import_file import ImportCommand

        self._ask(ImportCommand(path))

    def _ask(self, command: ImportCommand) -> None:
        self._command, self._material, self._skippable = command, None, False
        self._proposed = None
        self.trouble.hide()
        self._say(Content(f"Reading {visible(str(command.path))} …"), "")
        self.look(command)

    def _say(self, text: Content, kind: str) -> None:
        self.panel.set_classes(kind)
        self.said.update(text)
        self.panel.scroll_home(animate=False)
        self.set_class(bool(kind), "-previewing")
        self.refresh_bindings()

    @staticmethod
    def _format_of(command: ImportCommand) -> str:
        try:
            return command.recognised_format()
        except WorkbenchError:
            return ""

    def _told(self, command: ImportCommand) -> Callable[[Path, float], None]:
        """Return a function for another thread that shows how much of a file was read."""
        shown_at = monotonic()

        def told(path: Path, share: float) -> None:
            nonlocal shown_at
            if command == self._command and monotonic() - shown_at > TOLD_S:
                shown_at = monotonic()
                progress_text = Content(f"Reading {visible(str(path))} … {share:.0%}")
                self.app.call_from_thread(self.said.update, progress_text)

        return told

    @worker("look")
    async def look(self, command: ImportCommand) -> None:
        def load() -> tuple[ImportMaterial, ImportOutcome] | None:
            """Return the material and outcome of the import, or None for an ordinary folder.

            Raises WorkbenchError if it cannot be read as it is, or conflicts with the store.
            """
            from workbench.formats.packed import reading
            from workbench.formats.read import is_plain
            from workbench.pipeline.importing import read_beside, read_import, rehearse_import

            def rehearse(store: Store) -> tuple[ImportMaterial, ImportOutcome]:
                material = read_alone or read_beside(store, request)
                return material, rehearse_import(store, material)

            with reading(command.most_bytes, self._told(command)):
                if not command.format and is_plain(command.path):
                    return None
                request = command.request()
                read_alone = read_import(request)
                return of_store(path, rehearse)

        path = self.store_path
        proposed = await to_thread(_proposed, command)
        if command == self._command:
            self._proposed = proposed
        try:
            result = await to_thread(load)
        except WorkbenchError as error:
            self.show_refused(command, error)
            return
        if result is None:
            self.unfold(command)
        else:
            self.show_preview(command, *result)

    @worker("write", newest=False)
    async def write(self, command: ImportCommand, material: ImportMaterial) -> None:
        def act(store: Store) -> str:
            from workbench.pipeline.importing import import_summary, write_import

            sentence = import_summary(write_import(store, material), store.path)
            command.save_mapping()
            return sentence

        sentence = await self.with_store(act)
        self.dismiss()
        self._tell(sentence)


def _proposed(command: ImportCommand) -> ReadSettings | None:
    """Return the proposed mapping of a table to statements, or None without a readable one."""
    from workbench.formats.read import likely

    try:
        settings = command.read_settings()
        if settings.columns or not command.path.is_file():
            return None
        return likely(command.path, settings)
    except (OSError, WorkbenchError):
        return None


def preview(outcome: ImportOutcome, store: Path) -> Content:
    """Return the preview of an import: format, new contents, oddities, and the first rows."""
    from workbench.pipeline.importing import first_rows, import_sentences

    material = outcome.material
    sentences = [
        sentence
        for sentence in import_sentences(outcome, store)
        if not sentence.startswith("Next: ")
    ]
    head = Content.assemble(("Format  ", "$text-muted"), (visible(material.format), "bold"))
    parts = [
        head,
        Content(visible(f"Would import {sentences[0]}")),
        *(Content(visible(sentence)) for sentence in sentences[1:]),
    ]
    return Content("\n").join([*parts, Content(""), _table(*first_rows(material, ROWS))])


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> Content:
    """Return the first rows in columns. The last column wraps, others are truncated."""
    visible_rows = [(*(_cut(visible(cell)) for cell in row[:-1]), visible(row[-1])) for row in rows]
    widths = [
        max(len(row[column]) for row in (headings, *visible_rows))
        for column in range(len(headings) - 1)
    ]
    lines = [Content.styled(_row(headings, widths), "bold $text-muted")]
    lines += [Content(_row(row, widths)) for row in visible_rows]
    return Content("\n").join(lines)


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(
        [*(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)), cells[-1]]
    )


def _cut(text: str) -> str:
    return text if len(text) <= NAMES else text[: NAMES - 1] + "…"
