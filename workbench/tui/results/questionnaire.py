"""Results of the questionnaire audit: how far each model's predictions of people's answers are biased, and how good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from workbench.audits.questionnaire import AUDIT
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.tui.kit.template_words import templates_for
from workbench.tui.neighbours import following
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded
from workbench.tui.results.questionnaire_loaded import Settings, comparing, condition_names, condition_of, load
from workbench.tui.results.questionnaire_prompt import prompt

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.audits.questionnaire.judged import QuestionnaireJudged


class QuestionnaireScreen(BookScreen):
    """Bias, accuracy and variability of every model against the people who answered."""

    COUNTING = "Judging the predictions …"
    SHIPPED = SHIPPED_QUESTIONNAIRE
    PLACE = "results › questionnaire"
    EXPLAIN = """A model reads a person's answers to the context questions as a conversation, then predicts the \
person's answer to a target question (Haller, Vamvas, Sennrich, Jäger 2025)."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "condition(1)", "Condition", tooltip="Show the next condition"),
        Binding("C", "condition(-1)", "Previous condition", show=False),
        Binding("v", "variability", "sd/rms", tooltip="Variability as standard deviation, or as printed (rms)"),
        Binding(
            "M", "masses", "Masses", show=False,
            tooltip="Sum yes and no over the 10 likeliest tokens, or the whole vocabulary",
        ),
        Binding(
            "e", "error", "SE", show=False, tooltip="Standard error of the bias: paired, or as the paper prints it"
        ),
        Binding("u", "questions", "Questions", tooltip="Show the questionnaire: roles, scales, answers"),
        Binding("i", "instrument", "Instrument", show=False, tooltip="Show the next questionnaire"),
        Binding("I", "import_shipped", "Import veldania_panel", tooltip="Import the shipped questionnaire"),
    ]  # fmt: skip

    _settings: Settings

    def __init__(self) -> None:
        super().__init__(Settings())
        self.routes = {"prompt": prompt}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        loaded, judged = self._loaded, self._judged
        if action == "condition":
            return self.depends_on(action) and judged is not None and len(condition_names(judged)) > 1
        if action == "variability":
            return self.depends_on(action)
        if action in ("masses", "error"):
            return judged is not None
        if action == "questions":
            return loaded is not None and bool(loaded.instrument)
        if action == "import_shipped":
            return loaded is not None and not loaded.instruments
        return super().check_action(action, parameters)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        worker = get_current_worker()

        def show_part(loaded: Loaded) -> None:
            if not worker.is_cancelled:
                self.post_message(self.WasLoaded(loaded, whole=False))

        return load(self.store_path, settings, known, show_part)

    def comparable(self) -> Sequence[str]:
        return self.models

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        return comparing(self._judged, names, self._settings)

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != AUDIT.name:
            return None
        templates = templates_for(run, self._settings.templates)
        return replace(self._settings, instrument=run.instrument, templates=templates)

    def action_condition(self, step: int) -> None:
        """Go to a neighbouring condition, around the ends."""
        judged: QuestionnaireJudged | None = self._judged
        if judged is not None:
            at = condition_of(judged, self._settings)
            self._set(replace(self._settings, condition=following(condition_names(judged), at, step)))

    def action_variability(self) -> None:
        self._set(replace(self._settings, variability="rms" if self._settings.variability == "sd" else "sd"))

    def action_masses(self) -> None:
        self._set(replace(self._settings, masses="vocabulary" if self._settings.masses == "top10" else "top10"))

    def action_error(self) -> None:
        self._set(replace(self._settings, error="printed" if self._settings.error == "paired" else "paired"))

    def action_questions(self) -> None:
        from workbench.tui.results.questionnaire_instrument import QuestionsScreen

        if self._loaded is not None and self._loaded.instrument:
            self.app.push_screen(QuestionsScreen(self._loaded.instrument))

    def way_out(self, loaded: Loaded) -> str:
        return "u shows the questionnaire." + " i shows the next one." * (len(loaded.instruments) > 1)
