"""Results: where models stand, as a picture with its numbers. From any number Enter leads down to the responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.types import CSSPathType
from textual.widgets import Static

from workbench.tui.neighbours import following
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.bias_rows_format import statement_details
from workbench.tui.screens.bias_statement import BiasResponsesScreen, BiasStatementsScreen
from workbench.tui.screens.classifier import ClassifierScreen
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.figures import FiguresScreen
from workbench.tui.screens.results_explain import explain
from workbench.tui.screens.results_format import (
    NO_VIEW,
    WIDE,
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
from workbench.tui.widgets.plane import Plane
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.audits.bias_report import StatementRow
    from workbench.audits.bias_score import Report
    from workbench.pipeline.bias import BiasJudged


class ResultsTable(FluidTable):
    """A view's lines; `s`, `d` and `x` work on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]


class ResultsScreen(FiguresScreen):
    """The bias score of every model."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["figures.tcss", "results.tcss"]
    PLACE = "results"
    COUNTING = "Counting the readings …"
    VIEWS = VIEWS
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
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    picture = query_one("#picture", Plane)

    _settings: Settings
    _look: Look
    _loaded: Loaded | None
    _shown: Shown

    def __init__(self) -> None:
        super().__init__(Settings(), Look(), Shown(Look()))
        self._near = False
        self._by_size = True

    def compose_body(self) -> ComposeResult:
        yield Static(id="tabs", markup=False)
        yield Static(id="options", markup=False)
        yield Static(self.COUNTING, id="empty", markup=False, classes="-shown")
        with Container(id="body"):
            yield Plane(id="picture")
            with Container(id="numbers"):
                for view in VIEWS:
                    table = ResultsTable(partial(self._columns, view), name=view)
                    table.add_class("view")
                    yield table
                yield Static(id="details", markup=False)
                yield Static(id="notes", markup=False)

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

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Go to the next model, or the next pair of models."""
        models = self._report.tally.models
        look = self._look
        if look.view == "plane" or len(models) < 2:
            return
        if look.view == "models":
            pairs = list(combinations(models, 2))
            model, other = following(pairs, (look.model, look.other), event.direction)
            self._go(replace(look, model=model, other=other))
        else:
            self._go(replace(look, model=following(models, look.model, event.direction)))

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
        return explain(self._look, self._settings)

    def action_sources(self) -> None:
        self._go(replace(self._look, by_source=not self._look.by_source))

    def action_dimension(self) -> None:
        self._go(replace(self._look, dimension=following(DIMENSIONS, self._look.dimension)))

    def action_order(self) -> None:
        self._by_size = not self._by_size
        self._go(self._look)

    def action_near(self) -> None:
        self._near = not self._near
        self._go(self._look)

    def action_options(self) -> None:
        if self._loaded is not None:
            self.app.push_screen(BiasOptionsScreen(self._settings, self._loaded.available), self._take_settings)

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
        self._read(anew=True)

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
        if settings is not None:
            self._set(settings)

    def _take(self, loaded: Loaded) -> None:
        """Show what is scored; what cannot be leaves the figures as they were."""
        if loaded.problem is not None and self._judged is not None:
            self.failed(loaded.problem)
        else:
            super()._take(loaded)

    def _moved(self) -> None:
        """Follow the cursor; on the plane it chooses the model of the other views."""
        line, is_newest = self._line, self._shown.look == self._look
        if is_newest and self._look.view == "plane" and line is not None and line.model != self._look.model:
            self._look = self.fitted(replace(self._look, model=line.model))
            self._shown = replace(self._shown, look=self._look)
            self._found[self._look] = self._shown
        self._detail()

    def _paint(self, found: Shown) -> None:
        super()._paint(replace(found, rows=sorted_rows(found.rows)) if self._by_size else found)

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
        self.query_one("#notes", Static).update("\n".join(undefined_notes(self._shown.lines)))

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._report, width, near=self._near)

    def _columns(self, view: str, width: int) -> tuple[Column, ...]:
        report = self._report if self._judged is not None else None
        return view_columns(view, self._shown, report, width, near=self._near)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        return shown(loaded.judged.report, look) if loaded.judged is not None else Shown(look)

    def fitted(self, look: Look) -> Look:
        return fitting(look, self.models)

    def show_around(self, found: Shown) -> None:
        if (judged := self._judged) is not None:
            look = found.look
            names = (letter(judged.report, model) if model else "" for model in (look.model, look.other))
            self.query_one("#tabs", Static).update(tabs(look, *names, several=len(self.models) > 1))
            self.query_one("#options", Static).update(options_line(judged, self._settings, self.size.width))
            self.query_one("#body").set_class(look.view == "plane", "-plane")
            self.picture.near = self._near

    def shows_nothing(self, found: Shown) -> bool:
        return not found.lines and not found.rows

    def why_empty(self, loaded: Loaded, look: Look) -> str:
        return empty_text(loaded.available) if loaded.judged is None else NO_VIEW.get(look.view, "Nothing to show.")

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "o chooses other readers, models and labels."
