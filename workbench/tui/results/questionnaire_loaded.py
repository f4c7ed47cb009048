"""The predictions on one questionnaire, read and judged for their results screen.

Numpy, the statistics and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.audits.questionnaire import AUDIT
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.template_words import heading
from workbench.tui.results.loaded import Comparing, Loaded

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.comparison.values import Compared
    from workbench.audits.questionnaire.figures import ErrorOf, Masses, Options, Variability
    from workbench.audits.questionnaire.judged import QuestionnaireJudged
    from workbench.figures.book import Book

MASSES = {"top10": "yes/no over the 10 likeliest tokens", "vocabulary": "yes/no over the vocabulary"}
ERRORS = {"paired": "SE paired", "printed": "SE as printed"}
VARIABILITIES = {"sd": "sd over wordings", "rms": "rms over wordings, as printed"}

NO_QUESTIONNAIRE = """This store has no questionnaire yet.

A questionnaire has questions with a role (context or target) and people's answers to them.
I imports the shipped one, of a fictional country with synthetic people.
To import your own: workbench import STORE --format csv FOLDER"""
NO_PREDICTIONS = """{name} has no predictions yet.

3 goes to Jobs: n there starts one; choose the audit questionnaire.
Or: workbench run STORE --audit questionnaire --model MODEL

u shows the questions, their roles and scales."""
ANOTHER = "\ni shows the next of the store's {n} questionnaires."


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `audits.questionnaire.judged.QuestionnaireChoice`."""

    instrument: str = ""
    "empty: the first one with predictions, else the first questionnaire"
    masses: Masses = "top10"
    error: ErrorOf = "paired"
    templates: TemplateChoice = LATEST
    readings: Readings = USUAL
    seed: int = SEED
    condition: str = ""
    "as it is printed; empty: the first one there is"
    variability: Variability = "sd"

    @property
    def judging(self) -> Settings:
        """The settings that decide how predictions are judged; the others choose among the figures."""
        return replace(self, condition="", variability="sd")


def load(
    path: Path, settings: Settings, known: Loaded | None = None, first: Callable[[Loaded], None] | None = None
) -> Loaded:
    """Read and judge what a store has on one questionnaire. Returns what is known itself where nothing has changed.

    `first` is called before with what is soon there: what is known by other choices, or the figures of one condition
    where nothing of this questionnaire is known and all takes long to read.
    """
    from stores.core.store import Store
    from workbench.audits.questionnaire.judged import QuestionnaireChoice, judge_questionnaire

    with Store.open(path) as store:
        if known is not None and _answers(known.settings) != _answers(settings):
            known = None
        if known is not None and known.judged is not None and known.settings.instrument == settings.instrument:
            known = _by(store, known, settings, first)
        held = tuple(name for name in store.instruments.names() if store.questionnaires.questions(name))
        if not held:
            return Loaded(settings, empty=NO_QUESTIONNAIRE)
        runs = store.predictions.runs(AUDIT.name, versions=dict(settings.templates.versions))
        answered = (run.instrument for run in runs if run.instrument in held)
        name = settings.instrument if settings.instrument in held else next(answered, held[0])
        rests_on = (
            runs,
            store.questionnaires.tallied(name),
            store.instruments.get(name),
            _under_way(store, name),
            store.rulings.events(),
        )
        if known is not None and (known.settings, known.rests_on) == (settings, rests_on) and known.problem is None:
            return known if known.instruments == held else replace(known, instruments=held)
        base = Loaded(settings, instruments=held, instrument=name, rests_on=rests_on, empty=_no_predictions(name, held))
        if not any(run.instrument == name for run in runs):
            return base

        def found(part: QuestionnaireJudged) -> None:
            if first is not None and (known is None or known.judged is None or known.instrument != name):
                first(_with_book(replace(base, rests_on=()), part, settings))

        templates, readings = _answers(settings)
        choice = QuestionnaireChoice(name, templates=templates, readings=readings, options=_options(settings))
        try:
            return _with_book(base, judge_questionnaire(store, choice, found, runs), settings)
        except WorkbenchError as error:
            return replace(base, problem=error)


def _answers(settings: Settings) -> tuple[TemplateChoice, Readings]:
    """Return which answers are meant, and how they are read."""
    return settings.templates, settings.readings


def _no_predictions(name: str, held: Sequence[str]) -> str:
    others = ANOTHER.format(n=len(held)) if len(held) > 1 else ""
    return NO_PREDICTIONS.format(name=visible(name)) + others


def _by(store: Store, known: Loaded, settings: Settings, first: Callable[[Loaded], None] | None) -> Loaded:
    """Return what is known by these settings, for which nothing is read; `first` is told where they are others."""
    from workbench.audits.questionnaire.options_words import rejudged

    if known.settings == settings:
        return known
    same = known.settings.judging == settings.judging
    found = _with_book(known, known.judged if same else rejudged(store, known.judged, _options(settings)), settings)
    if first is not None:
        first(found)
    return found


def _options(settings: Settings) -> Options:
    """Return the options of the audit.

    How variability is read is none of them: the figures have it both ways, so another one judges nothing anew.
    """
    from workbench.audits.questionnaire.figures import Options

    return Options(masses=settings.masses, error=settings.error, seed=settings.seed)


def _under_way(store: Store, instrument: str) -> tuple[tuple[int, str, int], ...]:
    """Return the jobs that have not come to their end, and how far they are: a note says so of their figures."""
    jobs = [job for job in store.jobs.list() if job.state != "done" and job.spec.get("instrument") == instrument]
    return tuple((job.id, job.state, job.done) for job in jobs)


def _with_book(loaded: Loaded, judged: QuestionnaireJudged, settings: Settings) -> Loaded:
    """Return a result with its figures, by the choices among them."""
    return replace(
        loaded,
        settings=settings,
        judged=judged,
        book=_book(judged, settings),
        models=model_order(judged),
        runs=list(judged.runs.values()),
        options=options_words(judged, settings),
    )


def _book(judged: QuestionnaireJudged, settings: Settings) -> Book:
    from workbench.audits.questionnaire.book import book
    from workbench.audits.questionnaire.judged_results import results_of
    from workbench.audits.questionnaire.results import under

    results = results_of(judged)
    results = replace(results, options=replace(results.options, variability=settings.variability))
    found = book(results, under(results, condition_of(judged, settings)))
    return replace(found, contents=[entry for entry in found.contents if not entry.on_request])


def model_order(judged: QuestionnaireJudged) -> tuple[str, ...]:
    """Return the models by name: an order that stays when one of them is asked more, or another is added."""
    return tuple(sorted(judged.reports, key=lambda name: (name.casefold(), name)))


def condition_names(judged: QuestionnaireJudged) -> tuple[str, ...]:
    """Return every condition that some model was asked under, in the order of the models."""
    return tuple(dict.fromkeys(str(c) for name in model_order(judged) for c in judged.reports[name].conditions))


def condition_of(judged: QuestionnaireJudged, settings: Settings) -> str:
    """Return the condition that was chosen, or the first where nobody was asked under it."""
    names = condition_names(judged)
    return settings.condition if settings.condition in names else next(iter(names), "")


def options_words(judged: QuestionnaireJudged, settings: Settings) -> Sequence[tuple[str, str]]:
    """Return every choice that is in force, in a few words each."""
    names, condition = condition_names(judged), condition_of(judged, settings)
    at = f" ({names.index(condition) + 1} of {len(names)})" if len(names) > 1 else ""
    always = [
        *heading(judged.runs.values()),
        MASSES[settings.masses],
        ERRORS[settings.error],
        f"seed {settings.seed}",
        *[f"{plural(len(judged.notes), 'note')}: n"] * bool(judged.notes),
    ]
    return (
        ("", judged.instrument.name),
        ("condition", f"condition {condition}{at}"),
        ("variability", VARIABILITIES[settings.variability]),
        *(("", words) for words in always),
    )


def comparing(judged: QuestionnaireJudged, names: tuple[str, ...], settings: Settings) -> Comparing:
    """Return what compares models under the condition in sight."""

    def made(path: Path) -> Compared:
        from stores.core.store import Store
        from workbench.audits.questionnaire.compared import compared
        from workbench.audits.questionnaire.judged_results import results_of

        with Store.open(path) as store:
            return compared(store, judged, results_of(judged), names, (condition_of(judged, settings),))

    return made
