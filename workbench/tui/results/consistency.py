"""Results of the reliability audit: whose answers are a model's, and which policy issues it supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.audits.reliability import AUDIT
from workbench.domain.keys import SEED
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.errors import WorkbenchError
from workbench.tui.kit.template_words import heading, templates_for
from workbench.tui.neighbours import following
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded
from workbench.tui.results.rules_dialog import OptionsScreen, Rules
from workbench.tui.results.wordings import of_respondent

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.values import Compared
    from workbench.audits.consistency.judge import Formula, View
    from workbench.audits.consistency.judged import ConsistencyJudged, Whose

FORMULAS: tuple[Formula, ...] = ("signed", "tacl", "v1")
FORMULA_NAMES = {"signed": "signed support", "tacl": "tacl (published)", "v1": "v1 (published)"}
MATCHES: tuple[View, ...] = ("all", "agree", "disagree")
NO_INSTRUMENT = "The store has no instrument yet.\n\nh goes home: i there imports the shipped one."


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `audits.consistency.judged.ConsistencyChoice`."""

    instrument: str = ""
    "empty: the first one with answers, else the first one"
    rules: Rules = field(default_factory=Rules)
    "what makes a stance reliable"
    labels: Whose = "gold"
    templates: TemplateChoice = LATEST
    seed: int = SEED
    formula: Formula = FORMULAS[0]
    match: View = MATCHES[0]

    @property
    def judging(self) -> Settings:
        """The settings that decide how the store is judged; the others choose among the figures."""
        return replace(self, formula=FORMULAS[0], match=MATCHES[0])


class ConsistencyScreen(BookScreen):
    """Political leaning and stances on policy issues."""

    PLACE = "results › consistency"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "formula", "Formula", tooltip="Signed support, or one of the two published formulas"),
        Binding("w", "match", "Match", tooltip="Count all matches, only shared agreement, or only shared disagreement"),
        Binding("o", "options", "Options", tooltip="Choose reader, rule, and the tests a reliable stance must pass"),
        Binding("l", "labels", "Labels", show=False, tooltip="Gold labels, or labels given here"),
    ]

    _settings: Settings

    def __init__(self) -> None:
        super().__init__(Settings())
        self.routes = {"statement": of_respondent}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("formula", "match"):
            return self.depends_on(action)
        if action == "labels":
            return self._judged is not None
        return super().check_action(action, parameters)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def comparable(self) -> Sequence[str]:
        judged: ConsistencyJudged | None = self._judged
        return [one.name for one in judged.result.respondents] if judged is not None and judged.runs else ()

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        judged, settings = self._judged, self._settings

        def made(path: Path) -> Compared:
            from stores.core.store import Store
            from workbench.audits.consistency.compared import compared

            with Store.open(path) as store:
                return compared(store, judged, names, settings.match, (settings.formula,))

        return made

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != AUDIT.name:
            return None
        templates = templates_for(run, self._settings.templates)
        return replace(self._settings, instrument=run.instrument, templates=templates)

    def action_formula(self) -> None:
        self._set(replace(self._settings, formula=following(FORMULAS, self._settings.formula)))

    def action_match(self) -> None:
        self._set(replace(self._settings, match=following(MATCHES, self._settings.match)))

    def action_labels(self) -> None:
        self._set(replace(self._settings, labels="people" if self._settings.labels == "gold" else "gold"))

    def action_options(self) -> None:
        judged: ConsistencyJudged | None = self._judged
        sizes = [one.report.counts.sizes for one in judged.runs] if judged else []
        planned = (min(low for low, _ in sizes), max(high for _, high in sizes)) if sizes else None
        self.app.push_screen(OptionsScreen(self._settings.rules, planned), self._take_rules)

    def _take_rules(self, rules: Rules | None) -> None:
        if rules is not None:
            self._set(replace(self._settings, rules=rules))


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and judge the answers to one instrument. Returns `known` itself if nothing changed."""
    from stores.core.store import Store
    from workbench.audits.consistency.judged import consistency_material

    with Store.open(path) as store:
        names = store.instruments.names()
        if not names:
            return Loaded(settings, empty=NO_INSTRUMENT)
        runs = store.runs.list(AUDIT.name, personas=True)
        answered = (run.instrument for run in runs)
        name = settings.instrument if settings.instrument in names else next(answered, names[0])
        instrument = store.instruments.get(name)
        rests_on = (
            runs,
            instrument,
            store.issues.gold(name, settings.labels),
            store.surveys.answers(name),
            names,
            store.rulings.events(),
        )
        same = known is not None and known.judged is not None and known.rests_on == rests_on
        if known is not None and same and known.settings.judging == settings.judging:
            return known if known.settings == settings else _with_book(known, settings)
        try:
            judged = _judged(store, settings, name)
        except WorkbenchError as error:
            return Loaded(settings, instruments=names, instrument=name, problem=error)
        material = consistency_material(store, judged)
    found = Loaded(
        settings,
        judged=judged,
        models=judged.result.models,
        runs=[one.run for one in judged.runs],
        instruments=names,
        instrument=name,
        material=material,
        rests_on=rests_on,
    )
    return _with_book(found, settings)


def _judged(store: Store, settings: Settings, name: str) -> ConsistencyJudged:
    from workbench.audits.consistency.judged import ConsistencyChoice, judge_consistency

    choice = ConsistencyChoice(
        instrument=name,
        templates=settings.templates,
        readings=settings.rules.readings,
        reliability=settings.rules.options(),
        labels=settings.labels,
        seed=settings.seed,
    )
    return judge_consistency(store, choice)


def _with_book(loaded: Loaded, settings: Settings) -> Loaded:
    """Return the same result with the figures by other choices among them."""
    from workbench.audits.consistency.book import book

    judged: ConsistencyJudged = loaded.judged
    found = book(judged.result, settings.formula, settings.match, loaded.material)
    return replace(
        loaded,
        settings=settings,
        book=replace(found, methods=judged.methods()),
        options=options_words(judged, settings),
    )


def options_words(judged: ConsistencyJudged, settings: Settings) -> Sequence[tuple[str, str]]:
    """Return every choice that is in force, in a few words each."""
    rules = settings.rules
    tests = "all tests" if len(rules.tests) == 5 else ", ".join(rules.tests) or "no test"
    always = [
        *["no model has answered: baselines only"] * (not judged.runs),
        f"reliable: {tests}" + (f" ({rules.rule})" if rules.rule != "printed" else "") + rules.limits_words,
        "gold labels" if settings.labels == "gold" else "people's labels",
        f"read by {rules.readings.rule}",
        f"seed {settings.seed}",
        *heading(one.run for one in judged.runs),
    ]
    return (
        ("", judged.instrument),
        ("formula", FORMULA_NAMES[settings.formula]),
        ("match", f"matches: {settings.match}"),
        *(("", words) for words in always),
    )
