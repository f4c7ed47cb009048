"""Results of the questionnaire audit: how far each model's predictions of people's answers are biased, and how good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.tui.format import visible
from workbench.tui.neighbours import beside, following, marked_anew
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.figures import FiguresScreen
from workbench.tui.screens.questionnaire_around import empty_text, note_line, options_line, tabs
from workbench.tui.screens.questionnaire_details import details
from workbench.tui.screens.questionnaire_explain import EXPLAIN
from workbench.tui.screens.questionnaire_tables import ordered, view_columns, view_records, window
from workbench.tui.screens.questionnaire_view import (
    ABLATION_MEASURES,
    AVERAGE,
    AXIS,
    MEASURES,
    VIEWS,
    Loaded,
    Look,
    Settings,
    Shown,
    condition_names,
    fitting,
    load,
    shown,
)
from workbench.tui.screens.template_choice import TEMPLATES_KEY
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.run_rows import Run
    from workbench.pipeline.questionnaire import QuestionnaireJudged


class QuestionnaireTable(FluidTable):
    """A view's rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]


class QuestionnaireScreen(FiguresScreen):
    """Bias, accuracy and variability of every model against the people who answered."""

    COUNTING = "Judging the predictions …"
    VIEWS = VIEWS
    SHIPPED = SHIPPED_QUESTIONNAIRE
    PLACE = "results › questionnaire"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right_square_bracket", "view(1)", "View", key_display="Tab", tooltip="Show the next view"),
        Binding("shift+tab,left_square_bracket", "view(-1)", "View before", show=False),
        Binding("c", "condition(1)", "Condition", tooltip="Show the next condition"),
        Binding("C", "condition(-1)", "Condition before", show=False),
        Binding("s", "measure", "Measure", tooltip="Show bias, accuracy, variability, yes:no, or mass without both"),
        Binding("d", "mark", "Compare", tooltip="Mark this model; of two marked ones the difference stands beside"),
        Binding("v", "variability", "sd/rms", tooltip="Variability as standard deviation, or as printed (rms)"),
        Binding("x", "near", "Zoom", tooltip="Show the whole scale, or as near as the intervals allow"),
        Binding(
            "m",
            "masses",
            "Masses",
            show=False,
            tooltip="Sum yes and no among the 10 likeliest tokens, or the vocabulary",
        ),
        Binding(
            "e", "error", "SE", show=False, tooltip="Standard error of the bias: paired, or as the paper prints it"
        ),
        Binding("o", "order", "Order", show=False, tooltip="Put the chosen model's largest figures first, or as asked"),
        Binding("n", "notes", "Notes", show=False, tooltip="Show what a reader of the figures should know"),
        Binding("u", "questions", "Questions", tooltip="Show the questionnaire: roles, scales, answers"),
        Binding("i", "instrument", "Instrument", show=False, tooltip="Show the next questionnaire"),
        Binding("i", "import_shipped", "Import veldania_panel", tooltip="Import the shipped questionnaire"),
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
                table = QuestionnaireTable(self._columns, name=view)
                table.add_class("view")
                yield table
            yield Static(id="details", markup=False)
            yield Static(id="notes", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        loaded, look, judged = self._loaded, self._look, self._judged
        if action == "condition":
            return judged is not None and look.view != "ablation" and len(condition_names(judged)) > 1
        if action == "measure":
            return judged is not None and look.view in ("questions", "ablation")
        if action == "order":
            return judged is not None and look.view == "questions"
        if action == "mark":
            return judged is not None and look.view == "questions" and len(judged.reports) > 1
        if action == "variability":
            return judged is not None and look.view == "questions" and look.measure == "variability"
        if action == "near":
            return judged is not None and look.view == "axis"
        if action == "questions":
            return loaded is not None and bool(loaded.instrument)
        if action == "instrument":
            return loaded is not None and len(loaded.instruments) > 1
        if action == "import_shipped":
            return loaded is not None and not loaded.instruments
        if action == "notes":
            return judged is not None and bool(judged.notes)
        return judged is not None or action not in ("view", "masses", "error")

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Choose the model beside; at an end nothing happens, so that a mark is not taken away by mistake."""
        if self._look.view in ("questions", "ablation") and (names := ordered(self._look, self.models)):
            self._go(replace(self._look, model=beside(names, self._look.model, event.direction)))

    @on(RecordTable.RowSelected)
    def open(self) -> None:
        loaded, look, key = self._loaded, self._shown.look, self._table.current
        if loaded is None or loaded.judged is None or key is None:
            return
        if look.view == "ablation":
            self._go(replace(look, view="questions", condition=key))
        elif look.view == "axis":
            self._go(replace(look, view="questions", model=key, measure="bias"))
        elif key not in (AVERAGE, AXIS):
            self._open_target(loaded, key)

    def runs_shown(self) -> Sequence[Run]:
        return list(self._judged.runs.values()) if self._judged else []

    def explain(self) -> str:
        return EXPLAIN[self._look.view]

    def action_condition(self, step: int) -> None:
        """Go to a neighbouring condition, around the ends."""
        if (judged := self._judged) is not None:
            self._go(replace(self._look, condition=following(condition_names(judged), self._look.condition, step)))

    def action_measure(self) -> None:
        held = ABLATION_MEASURES if self._look.view == "ablation" else MEASURES
        self._go(replace(self._look, measure=following(held, self._look.measure)))

    def action_mark(self) -> None:
        """Mark the chosen model, or take its mark away; a third one takes the place of the second."""
        self._go(replace(self._look, marked=marked_anew(self._look.marked, self._look.model)))

    def action_order(self) -> None:
        self._go(replace(self._look, by_size=not self._look.by_size))

    def action_variability(self) -> None:
        self._go(replace(self._look, rms=not self._look.rms))

    def action_near(self) -> None:
        self._go(replace(self._look, near=not self._look.near))

    def action_masses(self) -> None:
        self._set(replace(self._settings, masses="vocabulary" if self._settings.masses == "top10" else "top10"))

    def action_error(self) -> None:
        self._set(replace(self._settings, error="printed" if self._settings.error == "paired" else "paired"))

    def action_questions(self) -> None:
        from workbench.tui.screens.questionnaire_questions import QuestionsScreen

        if self._loaded is not None and self._loaded.instrument:
            self.app.push_screen(QuestionsScreen(self._loaded.instrument))

    @property
    def _judged(self) -> QuestionnaireJudged | None:
        return self._loaded.judged if self._loaded else None

    def _open_target(self, loaded: Loaded, target: str) -> None:
        from workbench.tui.screens.questionnaire_target import TargetScreen

        self.app.push_screen(TargetScreen(loaded, self._look.model, target, self._look.condition))

    def _detail(self) -> None:
        if self._loaded is not None and self._judged is not None:
            words = details(self._shown, self._loaded, self._table.current, self._table.size.width)
            self.query_one("#details", Static).update(words)
            self.query_one("#notes", Static).update(note_line(self._judged.notes, self._look.model))

    def _records(self, width: int) -> list[Record]:
        return view_records(self._shown, self._loaded, width) if self._loaded else []

    def _columns(self, width: int) -> tuple[Column, ...]:
        return view_columns(self._shown, self._loaded, width)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        worker = get_current_worker()

        def show_part(loaded: Loaded) -> None:
            if not worker.is_cancelled:
                self.post_message(self.WasLoaded(loaded, whole=False))

        return load(self.store_path, settings, known, show_part)

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        return shown(loaded, look)

    def fitted(self, look: Look) -> Look:
        return fitting(look, self._judged) if self._judged is not None else look

    def show_around(self, found: Shown) -> None:
        if (loaded := self._loaded) is not None:
            look, width = found.look, self.size.width
            held = window(look, ordered(look, loaded.models), self._table.size.width or width)
            self.query_one("#tabs", Static).update(tabs(look, loaded.models, held, width))
            self.query_one("#options", Static).update(options_line(loaded, self._settings, look, width))

    def show_around_nothing(self, loaded: Loaded) -> None:
        self.query_one("#tabs", Static).update("")
        self.query_one("#options", Static).update(visible(loaded.instrument))

    def shows_nothing(self, found: Shown) -> bool:
        return not (found.ablations if found.look.view == "ablation" else found.figures or found.correlations)

    def why_empty(self, loaded: Loaded, look: Look) -> str:
        return empty_text(loaded, look)

    def way_out(self, loaded: Loaded) -> str:
        return "u shows the questionnaire." + " i shows the next one." * (len(loaded.instruments) > 1)
