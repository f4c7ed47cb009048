"""Results: where models stand, as a picture with its numbers. From any number Enter leads down to the responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.prompts import TemplateChoice
from workbench.errors import WorkbenchError
from workbench.tui.results.classifier import ClassifierScreen
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.bias_rows_format import statement_details
from workbench.tui.screens.bias_statement import BiasResponsesScreen, BiasStatementsScreen
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.results_explain import explain
from workbench.tui.screens.results_format import (
    NO_VIEW,
    WIDE,
    correction_notes,
    empty_text,
    line_details,
    options_line,
    plane_details,
    points,
    tabs,
    undefined_notes,
)
from workbench.tui.screens.results_options import BiasOptionsScreen
from workbench.tui.screens.results_tables import view_columns, view_records
from workbench.tui.screens.results_view import (
    DIMENSIONS,
    PEOPLE,
    VIEWS,
    Line,
    Loaded,
    Look,
    Settings,
    Shown,
    fitting,
    letter,
    load,
    shown,
    sorted_rows,
)
from workbench.tui.screens.template_choice import TEMPLATES_KEY, TemplatesScreen
from workbench.tui.screens.template_words import offered
from workbench.tui.widgets.plane import Plane
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.audits.bias_report import StatementRow
    from workbench.audits.bias_score import Report
    from workbench.pipeline.bias import BiasJudged

COUNTING = "Counting the readings …"
DRAWING = "Resampling …"


class ResultsTable(FluidTable):
    """A view's lines; `s`, `d` and `x` work on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]


class ResultsScreen(StoreScreen):
    """The bias score of every model."""

    CSS_PATH = "results.tcss"
    PLACE = "results"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  the base class declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right_square_bracket", "view(1)", "View", key_display="Tab", tooltip="Show the next view"),
        Binding("shift+tab,left_square_bracket", "view(-1)", "View before", show=False),
        Binding("s", "sources", "By source", tooltip="Tell the sources apart, or take them together"),
        Binding("s", "order", "Order", tooltip="Put what adds most first, or keep the instrument's order"),
        Binding("d", "dimension", "Dimension", tooltip="Economic, cultural, or both together"),
        Binding("x", "near", "Zoom", tooltip="Show the whole scale, or as near as the intervals allow"),
        Binding("o", "options", "Options", tooltip="Choose reader, threshold, correction, models, resampling"),
        Binding("m", "methods", "Methods", tooltip="Show the paragraph for the paper"),
        Binding("c", "classifier", "Classifier", tooltip="Show how good the classifier is"),
        Binding("p", "people", "People's labels", tooltip="Score what people have labelled"),
        Binding("v", "consistency", "Consistency", tooltip="Go to leaning by party family, and policy issues"),
        TEMPLATES_KEY,
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    picture = query_one("#picture", Plane)

    @dataclass
    class WasLoaded(Message):
        """Answers are counted."""

        loaded: Loaded

    @dataclass
    class WasDrawn(Message):
        """A view of scored answers is worked out."""

        judged: BiasJudged
        shown: Shown

    def __init__(self) -> None:
        super().__init__()
        self._loaded: Loaded | None = None
        self._settings = Settings()
        self._look = Look()
        self._found: dict[Look, Shown] = {}
        self._shown = Shown(self._look)
        self._near = False
        self._by_size = True
        self._pending: Settings | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(id="tabs", markup=False)
        yield Static(id="options", markup=False)
        yield Static(COUNTING, id="empty", markup=False, classes="-shown")
        with Container(id="body"):
            yield Plane(id="picture")
            with Container(id="numbers"):
                for view in VIEWS:
                    table = ResultsTable(partial(self._columns, view), name=view)
                    table.add_class("view")
                    yield table
                yield Static(id="details", markup=False)
                yield Static(id="notes", markup=False)

    def on_screen_resume(self) -> None:
        if self._pending != self._settings:
            self._read(self._loaded)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        loaded, view = self._loaded, self._look.view
        judged = loaded.judged if loaded else None
        if action == "people":
            return bool(judged is None and loaded and loaded.available.settled and loaded.available.models)
        if action == "options":
            return bool(loaded and loaded.available.models)
        if action == "sources":
            return judged is not None and view == "plane" and len(judged.report.tally.sources) > 1
        if action == "order":
            return judged is not None and view == "statements"
        if action == "dimension":
            return judged is not None and view != "plane"
        if action == "near":
            return judged is not None and view != "statements"
        return judged is not None or action not in ("view", "methods")

    @on(WasLoaded)
    def take_answers(self, event: WasLoaded) -> None:
        self._pending = None
        loaded = event.loaded
        if loaded.problem is not None:
            self.failed(loaded.problem)
            if self._loaded is None:
                self._loaded = loaded
        elif loaded is not self._loaded:
            self.trouble.hide()
            self._loaded, self._settings = loaded, loaded.settings
            self._found.clear()
            if loaded.judged is None:
                self._say(empty_text(loaded.available))
            else:
                self._look = fitting(self._look, loaded.judged.report.tally.models)
                self._show()
        self.refresh_bindings()

    @on(WasDrawn)
    def take_view(self, event: WasDrawn) -> None:
        if event.judged is self._judged:
            self._found[event.shown.look] = event.shown
            if event.shown.look == self._look:
                self._paint(event.shown)

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._pending = None
        if self._judged is None:
            self._say("o chooses other readers, models and labels." if self._loaded else "")
        elif self._loaded is not None:
            self._settings = self._loaded.settings

    @on(DataTable.RowHighlighted)
    def follow(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == self._shown.look.view:
            line, is_newest = self._line, self._shown.look == self._look
            if is_newest and self._look.view == "plane" and line is not None and line.model != self._look.model:
                self._look = fitting(replace(self._look, model=line.model), self._report.tally.models)
                self._shown = replace(self._shown, look=self._look)
                self._found[self._look] = self._shown
            self._detail()

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Go to the next model, or the next pair of models."""
        models = self._report.tally.models
        look = self._look
        if look.view == "plane" or len(models) < 2:
            return
        if look.view == "models":
            pairs = list(combinations(models, 2))
            at = pairs.index((look.model, look.other)) if (look.model, look.other) in pairs else -1
            model, other = pairs[(at + event.direction) % len(pairs)]
            self._go(model=model, other=other)
        else:
            self._go(model=models[(models.index(look.model) + event.direction) % len(models)])

    @on(RecordTable.RowSelected)
    def open(self) -> None:
        judged, line, row = self._judged, self._line, self._row
        if judged is None:
            return
        if row is not None:
            self.app.push_screen(BiasResponsesScreen(judged, self._shown.look.model, row.ref, None))
        elif line is not None and line.selection is not None:
            self.app.push_screen(BiasStatementsScreen(judged, line.model, line.selection, self._texts))

    def explain(self) -> str:
        corrected = self._judged.corrected if self._judged is not None else None
        return explain(self._look, self._settings, corrected.notes() if corrected else ())

    def action_view(self, step: int) -> None:
        """Go to a neighbouring view, around the ends."""
        self._go(view=VIEWS[(VIEWS.index(self._look.view) + step) % len(VIEWS)])

    def action_dimension(self) -> None:
        at = DIMENSIONS.index(self._look.dimension)
        self._go(dimension=DIMENSIONS[(at + 1) % len(DIMENSIONS)])

    def action_sources(self) -> None:
        self._go(by_source=not self._look.by_source)

    def action_order(self) -> None:
        self._by_size = not self._by_size
        self._show()

    def action_near(self) -> None:
        self._near = not self._near
        self._show()

    def action_options(self) -> None:
        if self._loaded is not None:
            self.app.push_screen(BiasOptionsScreen(self._settings, self._loaded.available), self._take_settings)

    def action_templates(self) -> None:
        runs = [run for of in self._judged.runs.values() for run in of] if self._judged is not None else []
        self.app.push_screen(TemplatesScreen(offered(runs), self._settings.templates), self._take_templates)

    def _take_templates(self, choice: TemplateChoice | None) -> None:
        if choice is not None:
            self._take_settings(replace(self._settings, templates=choice))

    def action_people(self) -> None:
        self._take_settings(replace(self._settings, reader=PEOPLE, correct=False))

    def action_methods(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Methods, for the paper", judged.report.methods()))

    def action_classifier(self) -> None:
        self.app.push_screen(ClassifierScreen())

    def action_consistency(self) -> None:
        self.app.switch_mode("consistency")

    def action_refresh(self) -> None:
        self._read(None)

    @property
    def _judged(self) -> BiasJudged | None:
        return self._loaded.judged if self._loaded else None

    @property
    def _texts(self) -> Mapping[str, str]:
        return self._loaded.texts if self._loaded else {}

    @property
    def _report(self) -> Report:
        assert self._judged is not None
        return self._judged.report

    @property
    def _table(self) -> ResultsTable:
        return self.query_one(f"#{self._shown.look.view}", ResultsTable)

    @property
    def _line(self) -> Line | None:
        """The line under the cursor."""
        at = self._table.current
        return self._shown.lines[int(at)] if self._shown.lines and at is not None else None

    @property
    def _row(self) -> StatementRow | None:
        """The statement under the cursor."""
        at = self._table.current
        return next((row for row in self._shown.rows if row.ref == at), None)

    def _take_settings(self, settings: Settings | None) -> None:
        if settings is not None and settings != self._settings:
            self._settings = settings
            self._read(self._loaded)

    def _read(self, known: Loaded | None) -> None:
        self._pending = self._settings
        if self._judged is None:
            self._say(COUNTING)
        self.read_answers(self._settings, known)

    def _go(self, **changes: str | bool) -> None:
        if self._judged is not None:
            self._look = fitting(replace(self._look, **changes), self._report.tally.models)  # type: ignore[arg-type]
            self._show()
            self.refresh_bindings()

    def _show(self) -> None:
        judged, look = self._judged, self._look
        if judged is None:
            return
        known = self._found.get(look)
        if known is not None:
            self._paint(known)
            return
        self.title_bar.note = DRAWING
        self.draw_view(judged, look)

    def _paint(self, found: Shown) -> None:
        """Show a view that is worked out."""
        judged, look = self._judged, found.look
        if judged is None:
            return
        self._shown = replace(found, rows=sorted_rows(found.rows)) if self._by_size else found
        models = judged.report.tally.models
        self.title_bar.note = f"{len(models)} models" if len(models) > 1 else models[0]
        names = (letter(judged.report, model) if model else "" for model in (look.model, look.other))
        self.query_one("#tabs", Static).update(tabs(look, *names, several=len(models) > 1))
        self.query_one("#options", Static).update(options_line(judged, self._settings, self.size.width))
        self.query_one("#body").set_class(look.view == "plane", "-plane")
        for view in VIEWS:
            self.query_one(f"#{view}").set_class(view == look.view, "-shown")
        if not self._shown.lines and not self._shown.rows:
            self._say(NO_VIEW.get(look.view, "Nothing to show."))
            return
        self._say(None)
        table = self._table
        table.show_for_width(self._records)
        table.lay_out_again()
        table.focus()
        self.picture.near = self._near
        self._detail()

    def _detail(self) -> None:
        """Show what is behind the line under the cursor, and where it stands in the picture."""
        line, row, threshold = self._line, self._row, self._settings.threshold
        words: Content | str = ""
        if row is not None:
            words = statement_details(row, self._texts.get(row.ref, ""), by_size=self._by_size)
        elif line is not None and self._shown.look.view == "plane":
            words = plane_details(line, threshold, wide=self.size.width >= WIDE)
            self.picture.points = points(self._shown.lines, self._report.tally.sources, line)
        elif line is not None:
            words = line_details(self._shown, line, threshold)
        self.query_one("#details", Static).update(words)
        notes = [*undefined_notes(self._shown.lines)]
        if self._judged is not None:
            notes += correction_notes(self._judged, self.size.width)
        self.query_one("#notes", Static).update("\n".join(notes))

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._report, width, near=self._near)

    def _columns(self, view: str, width: int) -> tuple[Column, ...]:
        report = self._report if self._judged is not None else None
        return view_columns(view, self._shown, report, width, near=self._near)

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the view, or the view."""
        empty = self.query_one("#empty", Static)
        empty.update(text or "")
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @work(thread=True, exclusive=True, exit_on_error=False, group="answers", description="")
    def read_answers(self, settings: Settings, known: Loaded | None) -> None:
        worker = get_current_worker()
        loaded = load(self.store_path, settings, known)
        if not worker.is_cancelled:
            self.post_message(self.WasLoaded(loaded))

    @work(thread=True, exclusive=True, exit_on_error=False, group="view", description="")
    def draw_view(self, judged: BiasJudged, look: Look) -> None:
        worker = get_current_worker()
        found = shown(judged.report, look)
        if not worker.is_cancelled:
            self.post_message(self.WasDrawn(judged, found))
