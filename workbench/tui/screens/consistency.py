"""Results of the reliability audit: whose answers are a model's, and which policy issues it supports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.errors import WorkbenchError
from workbench.tui.screens.audit_options import OptionsScreen
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.audit_view import Settings as Rules
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.consistency_explain import EXPLAIN
from workbench.tui.screens.consistency_format import (
    EMPTY,
    NO_INSTRUMENT,
    details,
    options_line,
    tabs,
    view_columns,
    view_records,
)
from workbench.tui.screens.consistency_view import (
    FORMULAS,
    MATCHES,
    VIEWS,
    Loaded,
    Look,
    Settings,
    Shown,
    fitting,
    load,
    shown,
)
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.pipeline.consistency import ConsistencyJudged

COUNTING = "Judging the answers …"


class ConsistencyTable(FluidTable):
    """A view's rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]


class ConsistencyScreen(StoreScreen):
    """Political leaning and stances on policy issues."""

    CSS_PATH = "consistency.tcss"
    PLACE = "results › consistency"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right_square_bracket", "view(1)", "View", key_display="Tab", tooltip="Show the next view"),
        Binding("shift+tab,left_square_bracket", "view(-1)", "View before", show=False),
        Binding("f", "formula", "Formula", tooltip="Signed support, or one of the two published formulas"),
        Binding("w", "match", "Matches", tooltip="All matches, those where both agree, those where both disagree"),
        Binding("o", "options", "Options", tooltip="Choose reader, rule and the tests that make a stance reliable"),
        Binding("g", "labels", "Labels", tooltip="Gold labels, or those that people gave here"),
        Binding("i", "instrument", "Instrument", tooltip="Show the next instrument"),
        Binding("m", "methods", "Methods", tooltip="Show the paragraph for the paper"),
        Binding("b", "bias", "Bias score", tooltip="Go to the left/right bias"),
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
    ]

    @dataclass
    class WasLoaded(Message):
        """Answers are judged."""

        loaded: Loaded

    @dataclass
    class WasShown(Message):
        """A view is worked out."""

        judged: ConsistencyJudged
        shown: Shown

    def __init__(self) -> None:
        super().__init__()
        self._loaded: Loaded | None = None
        self._settings, self._look = Settings(), Look()
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
        self.read_store(self._settings)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        judged, view = self._judged, self._look.view
        if action == "formula":
            return judged is not None and view in ("issues", "parties", "models")
        if action == "match":
            return judged is not None and view in ("leaning", "models")
        if action == "instrument":
            return self._loaded is not None and len(self._loaded.instruments) > 1
        return judged is not None or action not in ("view", "methods", "labels")

    @on(WasLoaded)
    def take(self, event: WasLoaded) -> None:
        loaded = event.loaded
        self._loaded = loaded
        if loaded.problem is not None:
            self.failed(loaded.problem)
            self._say("o chooses other rules, i another instrument.")
        elif loaded.judged is None:
            self._say(NO_INSTRUMENT)
        else:
            self.trouble.hide()
            self._look = fitting(self._look, loaded.judged)
            self.work_out(loaded.judged, self._look)
        self.refresh_bindings()

    @on(WasShown)
    def paint(self, event: WasShown) -> None:
        if event.judged is self._judged and event.shown.look == self._look:
            self._shown = event.shown
            self._paint()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        if self._judged is None:
            self._say("")

    @on(DataTable.RowHighlighted)
    def follow(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == self._shown.look.view and self._loaded is not None:
            self.query_one("#details", Static).update(details(self._shown, self._loaded, self._table.current))

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Go to the next one who answered, or the next pair of models."""
        judged, look = self._judged, self._look
        if judged is None or look.view in ("leaning", "parties"):
            return
        if look.view == "models":
            pairs = list(combinations(judged.result.models, 2))
            if pairs:
                at = pairs.index((look.name, look.other)) if (look.name, look.other) in pairs else -1
                name, other = pairs[(at + event.direction) % len(pairs)]
                self._go(replace(look, name=name, other=other))
            return
        names = judged.result.models if look.view == "templates" else [r.name for r in judged.result.respondents]
        if look.name in names:
            self._go(replace(look, name=names[(names.index(look.name) + event.direction) % len(names)]))

    @on(RecordTable.RowSelected)
    def open(self) -> None:
        from workbench.tui.screens.consistency_down import IssueStatementsScreen, PartiesScreen

        key, loaded = self._table.current, self._loaded
        if loaded is None or loaded.judged is None or key is None:
            return
        view = self._look.view
        if view == "issues":
            self.app.push_screen(IssueStatementsScreen(loaded, self._look.name, key))
        elif view == "leaning":
            self.app.push_screen(PartiesScreen(loaded, key.partition("\n")[0]))
        elif view == "models" and self._shown.differences[int(key)].name in loaded.judged.result.land.issues:
            name = self._shown.differences[int(key)].name
            self.app.push_screen(IssueStatementsScreen(loaded, self._look.name, name))

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
        if self._loaded is not None and (names := self._loaded.instruments):
            now = self._loaded.judged.instrument if self._loaded.judged else names[0]
            self._set(replace(self._settings, instrument=names[(names.index(now) + 1) % len(names)]))

    def action_options(self) -> None:
        samples = max((one.run.samples for one in self._judged.runs), default=None) if self._judged else None
        self.app.push_screen(OptionsScreen(self._settings.rules, samples), self._take_rules)

    def action_methods(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Methods, for the paper", judged.methods()))

    def action_bias(self) -> None:
        self.app.switch_mode("results")

    def action_refresh(self) -> None:
        self.read_store(self._settings)

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
            self.read_store(settings)

    def _go(self, look: Look) -> None:
        if (judged := self._judged) is not None:
            self._look = fitting(look, judged)
            self.work_out(judged, self._look)
            self.refresh_bindings()

    def _paint(self) -> None:
        loaded, judged, look = self._loaded, self._judged, self._shown.look
        if loaded is None or judged is None:
            return
        models = judged.result.models
        self.title_bar.note = f"{len(models)} models" if len(models) != 1 else models[0]
        self.query_one("#tabs", Static).update(tabs(look, several=len(judged.result.respondents) > 1))
        self.query_one("#options", Static).update(options_line(judged, self._settings, look, self.size.width))
        for view in VIEWS:
            self.query_one(f"#{view}").set_class(view == look.view, "-shown")
        if not view_records(self._shown, loaded, self.size.width):
            self._say(EMPTY[look.view])
            return
        self._say(None)
        table = self._table
        table.show_for_width(self._records)
        table.lay_out_again()
        table.focus()
        self.query_one("#details", Static).update(details(self._shown, loaded, table.current))

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._loaded, width) if self._loaded else []

    def _columns(self, view: str, width: int) -> tuple[Column, ...]:
        return view_columns(view, self._shown, self._loaded, width)

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the view, or the view."""
        empty = self.query_one("#empty", Static)
        empty.update(text or "")
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @work(thread=True, exclusive=True, exit_on_error=False, group="answers")
    def read_store(self, settings: Settings) -> None:
        worker = get_current_worker()
        loaded = load(self.store_path, settings)
        if not worker.is_cancelled:
            self.post_message(self.WasLoaded(loaded))

    @work(thread=True, exclusive=True, exit_on_error=False, group="view")
    def work_out(self, judged: ConsistencyJudged, look: Look) -> None:
        worker = get_current_worker()
        found = shown(judged, look)
        if not worker.is_cancelled:
            self.post_message(self.WasShown(judged, found))
