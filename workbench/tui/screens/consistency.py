"""Results of the reliability audit: whose answers are a model's, and which policy issues it supports."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from workbench.errors import WorkbenchError
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
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.pipeline.consistency import ConsistencyJudged

COUNTING, READING, DRAWING = "Judging the answers …", "Reading …", "Resampling …"


class ConsistencyTable(FluidTable):
    """A view's rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or self.id != "scales"


class ConsistencyScreen(FiguresScreen):
    """Political leaning and stances on policy issues."""

    CSS_PATH = "consistency.tcss"
    PLACE = "results › consistency"
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
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._loaded: Loaded | None = None
        self._settings, self._look = Settings(), Look()
        self._found: dict[Look, Shown] = {}
        self._shown = Shown(self._look)

    def compose_body(self) -> ComposeResult:
        yield Static(id="tabs", markup=False)
        yield Static(id="options", markup=False)
        yield Static(COUNTING, id="empty", markup=False, classes="-shown")
        with Vertical(id="body"):
            for view in VIEWS:
                table = ConsistencyTable(partial(self._columns, view), name=view)
                table.add_class("view")
                yield table
            yield Static(id="details", markup=False)

    def on_screen_resume(self) -> None:
        self._read()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        judged, view = self._judged, self._look.view
        if action == "formula":
            return judged is not None and view in ("issues", "parties", "models", "tests")
        if action == "match":
            return judged is not None and view in ("leaning", "models")
        if action == "instrument":
            return self._loaded is not None and len(self._loaded.instruments) > 1
        return judged is not None or action not in ("view", "methods", "labels")

    @on(FiguresScreen.WasLoaded)
    def take(self, event: FiguresScreen.WasLoaded) -> None:
        loaded, before = event.loaded, self._loaded
        self._loaded = loaded
        self._say_who()
        if loaded.problem is None:
            self.trouble.hide()
        if loaded is before:
            return
        self._found.clear()
        if loaded.problem is not None:
            self.failed(loaded.problem)
            self._say("o chooses other rules." + " i shows the next instrument." * (len(loaded.instruments) > 1))
        elif loaded.judged is None:
            self._say(empty_text(loaded, self._look.view))
        else:
            self._go(self._look)
        self.refresh_bindings()

    @on(FiguresScreen.WasShown)
    def paint(self, event: FiguresScreen.WasShown) -> None:
        if event.loaded is self._loaded:
            self._found[event.shown.look] = event.shown
            if event.shown.look == self._look:
                self._paint(event.shown)

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._say_who()
        if self._judged is None:
            self._say("")

    @on(DataTable.RowHighlighted)
    def follow(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == self._shown.look.view:
            self._detail()

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Go to the next one who answered, or the next pair of models."""
        judged, look = self._judged, self._look
        if judged is None or look.view in ("leaning", "parties", "scales"):
            return
        if look.view == "models":
            pairs = list(combinations(judged.result.models, 2))
            if pairs:
                at = pairs.index((look.name, look.other)) if (look.name, look.other) in pairs else -1
                name, other = pairs[(at + event.direction) % len(pairs)]
                self._go(replace(look, name=name, other=other))
            return
        names = judged.result.models if look.view in OF_MODELS else tuple(one.name for one in judged.result.respondents)
        if look.name in names:
            self._go(replace(look, name=names[(names.index(look.name) + event.direction) % len(names)]))

    @on(RecordTable.RowSelected)
    def open(self) -> None:
        from workbench.tui.screens.consistency_down import screen_below

        if self._loaded is not None and (key := self._table.current) is not None:
            below = screen_below(self._loaded, self._shown.look, row_parts(key))
            if below is not None:
                self.app.push_screen(below)

    def explain(self) -> str:
        return EXPLAIN[self._look.view]

    def action_view(self, step: int) -> None:
        """Go to a neighbouring view, around the ends."""
        self._go(replace(self._look, view=VIEWS[(VIEWS.index(self._look.view) + step) % len(VIEWS)]))

    def action_formula(self) -> None:
        formula = FORMULAS[(FORMULAS.index(self._look.formula) + 1) % len(FORMULAS)]
        self._go(replace(self._look, formula=formula))

    def action_match(self) -> None:
        self._go(replace(self._look, match=MATCHES[(MATCHES.index(self._look.match) + 1) % len(MATCHES)]))

    def action_labels(self) -> None:
        self._set(replace(self._settings, labels="people" if self._settings.labels == "gold" else "gold"))

    def action_instrument(self) -> None:
        """Show the next instrument of the store."""
        if (loaded := self._loaded) is not None and loaded.instruments:
            names = loaded.instruments
            at = names.index(loaded.instrument) if loaded.instrument in names else -1
            self._set(replace(self._settings, instrument=names[(at + 1) % len(names)]))

    def action_options(self) -> None:
        samples = max((one.run.samples for one in self._judged.runs), default=None) if self._judged else None
        self.app.push_screen(OptionsScreen(self._settings.rules, samples), self._take_rules)

    def action_methods(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Methods, for the paper", judged.methods()))

    def action_bias(self) -> None:
        self.app.switch_mode("results")

    def action_refresh(self) -> None:
        self._read()

    @property
    def _judged(self) -> ConsistencyJudged | None:
        return self._loaded.judged if self._loaded else None

    @property
    def _table(self) -> ConsistencyTable:
        return self.query_one(f"#{self._shown.look.view}", ConsistencyTable)

    def _take_rules(self, rules: Rules | None) -> None:
        if rules is not None:
            self._set(replace(self._settings, rules=rules))

    def _set(self, settings: Settings) -> None:
        if settings != self._settings:
            self._settings = settings
            self._read()

    def _read(self) -> None:
        self.title_bar.note = COUNTING if self._loaded is None or self._loaded.settings != self._settings else READING
        self.read_store(self._settings, self._loaded)

    def _go(self, look: Look) -> None:
        """Show a view, at once where it was worked out before."""
        loaded, judged = self._loaded, self._judged
        if loaded is None or judged is None:
            return
        self._look = fitting(look, judged)
        self.refresh_bindings()
        if (known := self._found.get(self._look)) is not None:
            self._paint(known)
        else:
            self.title_bar.note = DRAWING
            self.work_out(loaded, self._look)

    def _paint(self, found: Shown) -> None:
        """Show a view that is worked out."""
        loaded, judged, look = self._loaded, self._judged, found.look
        if loaded is None or judged is None:
            return
        self._shown = found
        self._say_who()
        several = len(judged.result.models if look.view in OF_MODELS else judged.result.respondents)
        self.query_one("#tabs", Static).update(tabs(look, several=several > (2 if look.view == "models" else 1)))
        self.query_one("#options", Static).update(options_line(judged, self._settings, look, self.size.width))
        for view in VIEWS:
            self.query_one(f"#{view}").set_class(view == look.view, "-shown")
        if is_empty(loaded, look.view):
            self._say(empty_text(loaded, look.view))
            return
        self._say(None)
        table = self._table
        table.show_for_width(self._records)
        table.lay_out_again()
        table.focus()
        self._detail()

    def _detail(self) -> None:
        if self._loaded is not None:
            words = details(self._shown, self._loaded, self._table.current, self.size.width)
            self.query_one("#details", Static).update(words)

    def _say_who(self) -> None:
        """Put into the title whose answers these are."""
        models = self._judged.result.models if self._judged else ()
        self.title_bar.note = f"{len(models)} models" if len(models) > 1 else "".join(models)

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._loaded, width) if self._loaded else []

    def _columns(self, view: str, width: int) -> tuple[Column, ...]:
        return view_columns(view, self._shown, self._loaded, width)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        return shown(loaded, look)
