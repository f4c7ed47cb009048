"""Results of the reliability audit: whose answers are a model's, and which policy issues it supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.neighbours import following
from workbench.tui.screens.audit_options import OptionsScreen
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.audit_view import Settings as Rules
from workbench.tui.screens.consistency_details import details
from workbench.tui.screens.consistency_explain import EXPLAIN
from workbench.tui.screens.consistency_format import empty_text, is_empty, options_line, tabs
from workbench.tui.screens.consistency_tables import view_columns, view_records
from workbench.tui.screens.consistency_view import (
    FORMULAS,
    MATCHES,
    OF_MODELS,
    VIEWS,
    Loaded,
    Look,
    Settings,
    Shown,
    fitting,
    load,
    row_parts,
    shown,
)
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.figures import FiguresScreen
from workbench.tui.screens.template_choice import TEMPLATES_KEY
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.run_rows import Run
    from workbench.pipeline.consistency import ConsistencyJudged


class ConsistencyTable(FluidTable):
    """A view's rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or self.id != "scales"


class ConsistencyScreen(FiguresScreen):
    """Political leaning and stances on policy issues."""

    PLACE = "results › consistency"
    VIEWS = VIEWS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right_square_bracket", "view(1)", "View", key_display="Tab", tooltip="Show the next view"),
        Binding("shift+tab,left_square_bracket", "view(-1)", "View before", show=False),
        Binding("f", "formula", "Formula", tooltip="Signed support, or one of the two published formulas"),
        Binding("w", "match", "Match", tooltip="All matches, those where both agree, those where both disagree"),
        Binding("o", "options", "Options", tooltip="Choose reader, rule and the tests that make a stance reliable"),
        Binding("l", "labels", "Labels", show=False, tooltip="Gold labels, or those that people gave here"),
        Binding("i", "instrument", "Instrument", tooltip="Show the next instrument"),
        Binding("m", "methods", "Methods", tooltip="Show the paragraph for the paper"),
        Binding("b", "bias", "Bias", tooltip="Go to the left/right bias"),
        TEMPLATES_KEY,
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    _settings: Settings
    _look: Look
    _loaded: Loaded | None
    _shown: Shown

    def __init__(self) -> None:
        super().__init__(Settings(), Look(), Shown(Look()))

    def compose_body(self) -> ComposeResult:
        yield Static(id="tabs", markup=False)
        yield Static(id="options", markup=False)
        yield Static(self.COUNTING, id="empty", markup=False, classes="-shown")
        with Vertical(id="body"):
            for view in VIEWS:
                table = ConsistencyTable(partial(self._columns, view), name=view)
                table.add_class("view")
                yield table
            yield Static(id="details", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        judged, view = self._judged, self._look.view
        if action == "formula":
            return judged is not None and view in ("issues", "parties", "models", "tests")
        if action == "match":
            return judged is not None and view in ("leaning", "models")
        if action == "instrument":
            return self._loaded is not None and len(self._loaded.instruments) > 1
        return judged is not None or action not in ("view", "methods", "labels")

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Go to the next one who answered, or the next pair of models."""
        judged, look = self._judged, self._look
        if judged is None or look.view in ("leaning", "parties", "scales"):
            return
        if look.view == "models":
            pairs = list(combinations(judged.result.models, 2))
            if pairs:
                name, other = following(pairs, (look.name, look.other), event.direction)
                self._go(replace(look, name=name, other=other))
            return
        names = judged.result.models if look.view in OF_MODELS else tuple(one.name for one in judged.result.respondents)
        if look.name in names:
            self._go(replace(look, name=following(names, look.name, event.direction)))

    @on(RecordTable.RowSelected)
    def open(self) -> None:
        from workbench.tui.screens.consistency_down import screen_below

        if self._loaded is not None and (key := self._table.current) is not None:
            below = screen_below(self._loaded, self._shown.look, row_parts(key))
            if below is not None:
                self.app.push_screen(below)

    def runs_shown(self) -> Sequence[Run]:
        return [one.run for one in self._judged.runs] if self._judged else []

    def explain(self) -> str:
        return EXPLAIN[self._look.view]

    def action_formula(self) -> None:
        self._go(replace(self._look, formula=following(FORMULAS, self._look.formula)))

    def action_match(self) -> None:
        self._go(replace(self._look, match=following(MATCHES, self._look.match)))

    def action_labels(self) -> None:
        self._set(replace(self._settings, labels="people" if self._settings.labels == "gold" else "gold"))

    def action_options(self) -> None:
        sizes = [one.report.counts.sizes for one in self._judged.runs] if self._judged else []
        planned = (min(low for low, _ in sizes), max(high for _, high in sizes)) if sizes else None
        self.app.push_screen(OptionsScreen(self._settings.rules, planned), self._take_rules)

    def action_methods(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Methods, for the paper", judged.methods()))

    def action_bias(self) -> None:
        self.app.switch_mode("results")

    @property
    def _judged(self) -> ConsistencyJudged | None:
        return self._loaded.judged if self._loaded else None

    def _take_rules(self, rules: Rules | None) -> None:
        if rules is not None:
            self._set(replace(self._settings, rules=rules))

    def _detail(self) -> None:
        if self._loaded is not None:
            words = details(self._shown, self._loaded, self._table.current, self.size.width)
            self.query_one("#details", Static).update(words)

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._loaded, width) if self._loaded else []

    def _columns(self, view: str, width: int) -> tuple[Column, ...]:
        return view_columns(view, self._shown, self._loaded, width)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        return shown(loaded, look)

    def fitted(self, look: Look) -> Look:
        return fitting(look, self._judged) if self._judged is not None else look

    def show_around(self, found: Shown) -> None:
        if (judged := self._judged) is not None:
            look = found.look
            several = len(judged.result.models if look.view in OF_MODELS else judged.result.respondents)
            self.query_one("#tabs", Static).update(tabs(look, several=several > (2 if look.view == "models" else 1)))
            self.query_one("#options", Static).update(options_line(judged, self._settings, look, self.size.width))

    def shows_nothing(self, found: Shown) -> bool:
        return self._loaded is not None and is_empty(self._loaded, found.look.view)

    def why_empty(self, loaded: Loaded, look: Look) -> str:
        return empty_text(loaded, look.view)

    def way_out(self, loaded: Loaded) -> str:
        return "o chooses other rules." + " i shows the next instrument." * (len(loaded.instruments) > 1)
