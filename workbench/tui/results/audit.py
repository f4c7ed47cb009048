"""Audit: which statements a model answers reliably, which not, and why. From here Enter leads down to the responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.audits.reliability import AUDIT
from workbench.figures.book import Entry
from workbench.tui.kit.template_choice import TemplatesScreen
from workbench.tui.kit.template_words import Offer, offered
from workbench.tui.results.audit_loaded import Rules, Settings, comparing, load, runs_beside
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded, Look
from workbench.tui.results.rules_dialog import OptionsScreen, RunsScreen
from workbench.tui.results.wordings import PLACE, ROUTES
from workbench.tui.results.wordings import SCREENS as WORDINGS

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.audits.reliability.judged import ReliabilityJudged

VERDICTS, AGREEMENT = "verdicts", "mean_kappas"


class AuditScreen(BookScreen):
    """The verdicts and agreement of one run."""

    PLACE = PLACE
    COUNTING = "Reading and judging the answers …"
    SCREENS = WORDINGS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "subject(1)", "Template", tooltip="Judge under one template after another"),
        Binding("i", "narrow('issues')", "Issue", tooltip="Show one policy issue after another"),
        Binding("c", "narrow('country')", "Country", show=False, tooltip="Show one country after another"),
        Binding("a", "agreement", "Kappas", tooltip="Show κ and α over statements and templates"),
        Binding("p", "people", "As people", tooltip="κ over the statements with people's answers, or over all"),
        Binding("o", "options", "Rules", tooltip="Choose reader, rule, minimum, which tests count, and void tests"),
        Binding("e", "statement", "Edit", show=False, tooltip="Open the statement, to read or edit it"),
        Binding("M", "runs", "Model", show=False, tooltip="Switch to another model, sampling or instrument"),
    ]

    _settings: Settings

    def __init__(self) -> None:
        super().__init__(Settings())
        self.routes = ROUTES

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        judged: ReliabilityJudged | None = self._judged
        if action == "runs":
            return self._loaded is not None and judged is not None and len(self._loaded.material.runs) > 1
        if action == "templates":
            return judged is not None and bool(self._versions(judged.run))
        if action == "subject":
            return self._entry is not None and len(self._entry.subjects) > 1
        if action == "narrow":
            return self.view.offers(str(parameters[0]))
        if action == "people":
            return judged is not None and bool(judged.instrument.survey) and self.depends_on("people")
        return super().check_action(action, parameters) if action != "agreement" else judged is not None

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def chosen(self, entry: Entry) -> list[str]:
        found = super().chosen(entry)
        if self._loaded is None or entry.name != VERDICTS:
            return found
        return [self._loaded.material.passing["".join(self._look.subject)], *found]

    def say_who(self) -> None:
        super().say_who()
        runs = self._loaded.material.runs if self._loaded is not None and self._judged is not None else ()
        if len(runs) > 1:
            self.title_bar.note += f" · run {runs.index(self._judged.run) + 1} of {len(runs)} of this audit: M switches"

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "o changes the rules."

    def comparable(self) -> Sequence[str]:
        return tuple(self._runs)

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        return comparing({name: self._runs[name] for name in names}, self._settings)

    @property
    def _runs(self) -> Mapping[str, Run]:
        """The runs on the instrument in sight that have answers, by names that tell them apart."""
        return runs_beside(self._loaded.material.runs, self._judged.run) if self._loaded and self._judged else {}

    def settings_for(self, run: Run) -> Settings | None:
        return replace(self._settings, run=run) if run.audit == AUDIT.name else None

    def action_subject(self, step: int) -> None:
        self.turn_to(step)

    def action_narrow(self, column: str) -> None:
        """Show the next value of a column alone; after the last one come all."""
        self.view.narrow(column)

    def action_agreement(self) -> None:
        self._go(Look(AGREEMENT))

    def action_people(self) -> None:
        """Turn between the statements that people answered and all."""
        self._set(replace(self._settings, as_people=not self._settings.as_people))

    def action_options(self) -> None:
        judged: ReliabilityJudged | None = self._judged
        planned = judged.report.counts.sizes if judged is not None else None
        exact = judged is not None and judged.exact is not None
        self.app.push_screen(OptionsScreen(self._settings.rules, planned, exact=exact), self._take_rules)

    def action_runs(self) -> None:
        if self._loaded is not None and self._judged is not None:
            self.app.push_screen(RunsScreen(self._loaded.material.runs, self._judged.run), self._take_run)

    def action_templates(self) -> None:
        if self._judged is not None:
            offer = self._versions(self._judged.run)
            self.app.push_screen(TemplatesScreen(offer, self._settings.templates), self._take_templates)

    def _take_rules(self, rules: Rules | None) -> None:
        if rules is not None:
            self._set(replace(self._settings, rules=rules))

    def _take_run(self, run: Run | None) -> None:
        if run is not None:
            self._set(replace(self._settings, run=run))

    @staticmethod
    def _versions(run: Run) -> Offer:
        """Return the versions that may be chosen; a family is chosen with the run."""
        return Offer(versions=offered([run]).versions)
