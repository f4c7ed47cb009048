"""Results of the audit of response biases: every model and every bias, with the errors of typing beneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.types import CSSPathType
from textual.widgets import Static

from workbench.data import SHIPPED_CHOICES
from workbench.tui.neighbours import beside, following, marked_anew
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
    fitting,
    load,
    place_of,
    shown,
)
from workbench.tui.screens.template_choice import TEMPLATES_KEY
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.run_rows import Run
    from workbench.pipeline.response_bias import ResponseBiasJudged

AROUND = 11
"lines of title, keys, gaps and details"


class MatrixTable(FluidTable):
    """Biases and models."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Questions", key_display="Enter", tooltip="Show the questions of this cell"),
    ]


class ResponseBiasScreen(FiguresScreen):
    """Models and their response biases, with sign, size and significance."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["figures.tcss", "response_bias.tcss"]
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
        TEMPLATES_KEY,
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    table = query_one("#matrix", MatrixTable)

    _settings: Settings
    _look: Look
    _loaded: Loaded | None
    _shown: Shown

    def __init__(self) -> None:
        super().__init__(Settings(), Look(), Shown(Look()))

    def compose_body(self) -> ComposeResult:
        yield Static(id="options", markup=False)
        yield Static(self.COUNTING, id="empty", markup=False, classes="-shown")
        with Vertical(id="body"):
            yield MatrixTable(self._columns, name="matrix")
            yield Static(id="details", markup=False)
            yield Static(id="notes", markup=False)

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

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Choose the model beside; at an end nothing happens, so that a mark is not taken away by mistake."""
        if names := ordered(self._look, self.models):
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
        self._set(replace(self._settings, definition=following(DEFINITIONS, self._settings.definition, step)))

    def action_holm(self) -> None:
        self._set(replace(self._settings, holm=following(HOLM, self._settings.holm)))

    def action_alpha(self) -> None:
        self._set(replace(self._settings, alpha=following(ALPHAS, self._settings.alpha)))

    def action_entropy(self) -> None:
        self._set(replace(self._settings, entropy="csv" if self._settings.entropy == "offered" else "offered"))

    def action_mark(self) -> None:
        """Mark the chosen model, or take its mark away; a third one takes the place of the second."""
        self._go(replace(self._look, marked=marked_anew(self._look.marked, self._look.subject)))

    def action_unfold(self) -> None:
        self._go(replace(self._look, unfolded=not self._unfolded))

    def action_everything(self) -> None:
        if self._loaded is not None:
            text = everything(self._shown, self._loaded, self.table.current)
            self.app.push_screen(TextScreen("All that is known of this cell", text))

    def action_refresh(self) -> None:
        self._read(anew=True)

    @property
    def models(self) -> tuple[str, ...]:
        return self._loaded.subjects if self._loaded else ()

    @property
    def _table(self) -> MatrixTable:
        return self.table

    @property
    def _judged(self) -> ResponseBiasJudged | None:
        return self._loaded.judged if self._loaded else None

    @property
    def _unfolded(self) -> bool:
        return self.size.height >= ROOMY if self._look.unfolded is None else self._look.unfolded

    def _detail(self) -> None:
        if self._loaded is not None and (judged := self._judged) is not None:
            words = details(self._shown, self._loaded, self.table.current)
            self.query_one("#details", Static).update(words)
            self.query_one("#notes", Static).update(note_line(judged.notes, self._look.subject))

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

    def runs_shown(self) -> Sequence[Run]:
        return [one.run for one in self._judged.subjects.values() if one.run] if self._judged else []

    def fitted(self, look: Look) -> Look:
        return fitting(look, self._loaded) if self._loaded is not None else look

    def at_hand(self, look: Look) -> Shown | None:
        """Return the matrix with its comparison where that is known, or none is asked for."""
        before = self._shown
        if len(look.marked) != 2:
            return Shown(look, alpha=self._settings.alpha)
        same = before.differences and before.look.marked == look.marked and before.of is self._loaded
        return replace(before, look=look) if same else None

    def show_around(self, found: Shown) -> None:
        if (loaded := self._loaded) is not None:
            width = self.table.size.width or self.size.width
            held = window(found.look, ordered(found.look, loaded.subjects), width)
            words = options_lines(loaded, self._settings, found.look, held, self.size.width)
            self.query_one("#options", Static).update(words)
            self.table.styles.max_height = max(6, self.size.height - AROUND - len(words.plain.splitlines()))

    def why_empty(self, loaded: Loaded, look: Look) -> str:  # noqa: ARG002
        return empty_text(loaded)

    def way_out(self, loaded: Loaded) -> str:
        return "i shows the next instrument." * (len(loaded.instruments) > 1)
