"""Results of the audit of response biases: every model and every bias, with the errors of typing beneath."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import DataTable, Static

from workbench.data import SHIPPED_CHOICES
from workbench.errors import WorkbenchError
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.figures import FiguresScreen
from workbench.tui.screens.response_bias_around import empty_text, note_line, options_lines
from workbench.tui.screens.response_bias_details import details, everything
from workbench.tui.screens.response_bias_explain import MATRIX
from workbench.tui.screens.response_bias_tables import ROOMY, matrix_columns, matrix_records, ordered, window
from workbench.tui.screens.response_bias_view import (
    ALPHAS,
    DEFINITIONS,
    HOLM,
    Loaded,
    Look,
    Settings,
    Shown,
    beside,
    fitting,
    following,
    load,
    place_of,
    shown,
)
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.pipeline.response_bias import ResponseBiasJudged

AROUND = 11
"lines of title, keys, gaps and details"
COUNTING, READING = "Judging the answers …", "As before; reading …"


class MatrixTable(FluidTable):
    """Biases and models."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Questions", key_display="Enter", tooltip="Show the questions of this cell"),
    ]


class ResponseBiasScreen(FiguresScreen):
    """Models and their response biases, with sign, size and significance."""

    CSS_PATH = "response_bias.tcss"
    SHIPPED = SHIPPED_CHOICES
    PLACE = "results › response bias"
    EXPLAIN = MATRIX
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "definition(1)", "Definition", tooltip="Compute changes by the next definition"),
        Binding("F", "definition(-1)", "Definition before", show=False),
        Binding("m", "holm", "Holm", show=False, tooltip="Adjust p for many tests: none, the biases, or all cells"),
        Binding("a", "alpha", "Alpha", show=False, tooltip="Take another level of significance"),
        Binding("d", "mark", "Compare", tooltip="Mark this model; of two marked ones the difference stands beside"),
        Binding("x", "unfold", "Typos", tooltip="Show or hide the rows of the errors of typing"),
        Binding("v", "everything", "Details", tooltip="Show all that is known of this cell: draws, topics, left out"),
        Binding("e", "entropy", "Entropy", show=False, tooltip="Entropy by the options offered, or as published"),
        Binding("n", "notes", "Notes", show=False, tooltip="Show what a reader of the figures should know"),
        Binding("i", "instrument", "Instrument", show=False, tooltip="Show the next set of questions"),
        Binding("i", "import_shipped", "Import veldania_choices", tooltip="Import the shipped questions"),
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    table = query_one("#matrix", MatrixTable)

    def __init__(self) -> None:
        super().__init__()
        self._loaded: Loaded | None = None
        self._settings, self._look = Settings(), Look()
        self._shown = Shown(self._look)

    def compose_body(self) -> ComposeResult:
        yield Static(id="options", markup=False)
        yield Static(COUNTING, id="empty", markup=False, classes="-shown")
        with Vertical(id="body"):
            yield MatrixTable(self._columns, name="matrix")
            yield Static(id="details", markup=False)
            yield Static(id="notes", markup=False)

    def on_screen_resume(self) -> None:
        self._read()

    def on_resize(self) -> None:
        if self._judged is not None:
            self._paint(self._shown)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        loaded, judged = self._loaded, self._judged
        if action == "mark":
            return judged is not None and len(judged.reports) > 1
        if action == "notes":
            return judged is not None and bool(judged.notes)
        if action == "instrument":
            return loaded is not None and len(loaded.instruments) > 1
        if action == "import_shipped":
            return loaded is not None and not loaded.instruments
        return judged is not None or action not in ("definition", "holm", "alpha", "unfold", "everything", "entropy")

    @on(FiguresScreen.WasLoaded)
    def take(self, event: FiguresScreen.WasLoaded) -> None:
        loaded, before = event.loaded, self._loaded
        if loaded.settings != self._settings:
            return  # another choice was made meanwhile, and is being judged
        self._loaded = loaded
        self._say_who()
        if loaded.problem is None:
            self.trouble.hide()
        if loaded is before:
            return
        if loaded.problem is not None:
            self.failed(loaded.problem)
            self._say("i shows the next instrument." * (len(loaded.instruments) > 1))
        elif loaded.judged is None:
            self._say(empty_text(loaded))
        else:
            self._go(self._look)
        self.refresh_bindings()

    @on(FiguresScreen.WasShown)
    def take_shown(self, event: FiguresScreen.WasShown) -> None:
        if event.loaded is self._loaded and event.shown.look == self._look:
            self._paint(event.shown)

    @on(FiguresScreen.Imported)
    def say_imported(self, event: FiguresScreen.Imported) -> None:
        self.notify(event.sentence, markup=False)
        self._read()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._say_who()
        if self._judged is None:
            self._say("")

    @on(DataTable.RowHighlighted, "#matrix")
    def follow(self) -> None:
        self._detail()

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Choose the model beside; at an end nothing happens, so that a mark is not taken away by mistake."""
        if self._loaded is not None and (names := ordered(self._look, self._loaded.subjects)):
            self._go(replace(self._look, subject=beside(names, self._look.subject, event.direction)))

    @on(RecordTable.RowSelected, "#matrix")
    def open(self) -> None:
        from workbench.tui.screens.response_bias_questions import CellQuestionsScreen

        place = place_of(self.table.current)
        if self._loaded is None or self._judged is None:
            return
        if place is None:
            self.action_everything()
        else:
            self.app.push_screen(CellQuestionsScreen(self._loaded, self._look.subject, place))

    def action_definition(self, step: int) -> None:
        """Go to a neighbouring definition, around the ends."""
        at = following(DEFINITIONS, self._settings.definition, step)
        self._set(replace(self._settings, definition=DEFINITIONS[at]))

    def action_holm(self) -> None:
        self._set(replace(self._settings, holm=HOLM[following(HOLM, self._settings.holm)]))

    def action_alpha(self) -> None:
        self._set(replace(self._settings, alpha=ALPHAS[following(ALPHAS, self._settings.alpha)]))

    def action_entropy(self) -> None:
        self._set(replace(self._settings, entropy="csv" if self._settings.entropy == "offered" else "offered"))

    def action_mark(self) -> None:
        """Mark the chosen model, or take its mark away; a third one takes the place of the second."""
        name, marked = self._look.subject, self._look.marked
        left = tuple(one for one in marked if one != name)
        self._go(replace(self._look, marked=left if name in marked else (*left[:1], name)))

    def action_unfold(self) -> None:
        self._go(replace(self._look, unfolded=not self._unfolded))

    def action_everything(self) -> None:
        if self._loaded is not None:
            text = everything(self._shown, self._loaded, self.table.current)
            self.app.push_screen(TextScreen("All that is known of this cell", text))

    def action_notes(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Notes on these figures", "\n\n".join(judged.notes)))

    def action_instrument(self) -> None:
        """Show the next instrument with multiple-choice questions."""
        if (loaded := self._loaded) is not None and loaded.instruments:
            at = following(loaded.instruments, loaded.instrument)
            self._set(replace(self._settings, instrument=loaded.instruments[at]))

    def action_import_shipped(self) -> None:
        self.notify("Importing …", timeout=2)
        self.bring_shipped()

    def action_refresh(self) -> None:
        self._wait(READING)
        self.read_store(self._settings, None)

    @property
    def _judged(self) -> ResponseBiasJudged | None:
        return self._loaded.judged if self._loaded else None

    @property
    def _unfolded(self) -> bool:
        return self.size.height >= ROOMY if self._look.unfolded is None else self._look.unfolded

    def _set(self, settings: Settings) -> None:
        if settings != self._settings:
            self._settings = settings
            self._read()

    def _read(self) -> None:
        same = self._loaded is not None and self._loaded.settings == self._settings
        self._wait(READING if same else COUNTING)
        self.read_store(self._settings, self._loaded)

    def _go(self, look: Look) -> None:
        """Show the matrix, its comparison at once where none is asked for."""
        loaded = self._loaded
        if loaded is None or loaded.judged is None:
            return
        before, self._look = self._shown, fitting(look, loaded)
        self.refresh_bindings()
        if len(self._look.marked) != 2:
            self._paint(Shown(self._look, alpha=self._settings.alpha))
        elif before.differences and before.look.marked == self._look.marked and before.of is loaded:
            self._paint(replace(before, look=self._look))
        else:
            self.work_out(loaded, self._look)

    def _paint(self, found: Shown) -> None:
        """Show the matrix."""
        loaded = self._loaded
        if loaded is None or loaded.judged is None:
            return
        self._shown = found
        self._say(None)
        width = self.table.size.width or self.size.width
        held = window(found.look, ordered(found.look, loaded.subjects), width)
        words = options_lines(loaded, self._settings, found.look, held, self.size.width)
        self.query_one("#options", Static).update(words)
        self.table.styles.max_height = max(6, self.size.height - AROUND - len(words.plain.splitlines()))
        self.table.show_anew(self._records)
        self.table.focus()
        self._detail()

    def _detail(self) -> None:
        if self._loaded is not None and (judged := self._judged) is not None:
            words = details(self._shown, self._loaded, self.table.current)
            self.query_one("#details", Static).update(words)
            self.query_one("#notes", Static).update(note_line(judged.notes, self._look.subject))

    def _say_who(self) -> None:
        """Put into the title whose answers these are: nothing is under way."""
        self.query_one("#body").remove_class("-old")
        names = self._loaded.subjects if self._loaded else ()
        self.title_bar.note = f"{len(names)} models" if len(names) > 1 else "".join(names)

    def _records(self, width: int) -> list[Record]:
        if self._loaded is None:
            return []
        return matrix_records(self._shown, self._loaded, width, unfolded=self._unfolded)

    def _columns(self, width: int) -> tuple[Column, ...]:
        return matrix_columns(self._shown, self._loaded, width)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        return shown(loaded, look)
