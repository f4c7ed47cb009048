"""Results of the left/right bias: where models stand, by prefix, wording and source, down to single answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.audits.bias_score import AUDIT
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import Dimension
from workbench.tui.kit.template_words import templates_for
from workbench.tui.neighbours import following
from workbench.tui.results.bias_answer import whole_answer
from workbench.tui.results.bias_loaded import Available, Settings, comparing, load
from workbench.tui.results.bias_options import BiasOptionsScreen
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded
from workbench.tui.results.picture import Picture
from workbench.tui.results.plane_picture import PlanePicture

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

DIMENSIONS = (None, *Dimension)


class BiasScreen(BookScreen):
    """The bias score of every model."""

    PLACE = "results"
    COUNTING = "Counting the readings …"
    EXPLAIN = "The bias of each model appears here once its answers have been read."
    PICTURES: ClassVar[Mapping[str, type[Picture]]] = {"plane": PlanePicture}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "dimension", "Dimension", tooltip="Economic, cultural, or both together"),
        Binding("o", "options", "Options", tooltip="Choose reader, threshold, correction, models, resampling"),
        Binding("f", "classifier", "Classifier", tooltip="Show how good the classifier is"),
        Binding("p", "people", "People's labels", tooltip="Score people's labels"),
    ]

    _settings: Settings

    def __init__(self) -> None:
        super().__init__(Settings())
        self.routes = {"answer": whole_answer}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        available = self._available
        if action == "people":
            return bool(self._loaded and self._judged is None and available.settled and available.models)
        if action == "options":
            return bool(available.models)
        if action == "dimension":
            return self.depends_on(action)
        return super().check_action(action, parameters)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "o changes readers, models and labels."

    def comparable(self) -> Sequence[str]:
        return self.models

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        return comparing(self._judged, names, self._settings.dimension)

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != AUDIT.name:
            return None
        now = self._settings
        models = now.models if run.named in now.models else ()
        return replace(now, models=models, templates=templates_for(run, now.templates))

    def action_dimension(self) -> None:
        self._set(replace(self._settings, dimension=following(DIMENSIONS, self._settings.dimension)))

    def action_options(self) -> None:
        self.app.push_screen(BiasOptionsScreen(self._settings, self._available), self._take_settings)

    def action_people(self) -> None:
        self._set(replace(self._settings, readings=replace(self._settings.readings, by=PEOPLE), correct=False))

    def action_classifier(self) -> None:
        from workbench.tui.results.classifier import ClassifierScreen

        self.app.push_screen(ClassifierScreen())

    def _take_settings(self, settings: Settings | None) -> None:
        if settings is not None:
            self._set(settings)

    @property
    def _available(self) -> Available:
        return self._loaded.material if self._loaded is not None else Available()
