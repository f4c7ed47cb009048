"""What the questionnaire screens show, as values: whose predictions, under which condition, in which view. Pure, but
for `load`.

Numpy, the statistics and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.seeds import SEED
from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.questionnaire_figures import (
        Ablation,
        Condition,
        ConditionFigures,
        Correlation,
        Difference,
        ErrorOf,
        Masses,
        Options,
        VariabilityFigure,
    )
    from workbench.audits.questionnaire_score import Report
    from workbench.pipeline.questionnaire import QuestionnaireJudged

View = Literal["questions", "ablation", "correlation", "axis"]
Measure = Literal["bias", "accuracy", "variability", "yes:no", "without"]

VIEWS: tuple[View, ...] = ("questions", "ablation", "correlation", "axis")
MEASURES: tuple[Measure, ...] = ("bias", "accuracy", "variability", "yes:no", "without")
ABLATION_MEASURES: tuple[Measure, ...] = ("bias", "accuracy")
AVERAGE, AXIS = "=average", "=axis"
"keys of the rows below the questions; a ref never begins so, for statements' refs are names"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `pipeline.questionnaire.QuestionnaireChoice`."""

    instrument: str = ""
    "empty: the first one with predictions, else the first questionnaire"
    masses: Masses = "top10"
    error: ErrorOf = "paired"
    templates: TemplateChoice = LATEST
    seed: int = SEED


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The predictions on one questionnaire, or what keeps them from being judged."""

    settings: Settings
    instruments: tuple[str, ...] = ()
    "those that are questionnaires"
    instrument: str = ""
    judged: QuestionnaireJudged | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    "ref -> the original wording"
    topics: Mapping[str, str] = field(default_factory=dict)
    rests_on: tuple[object, ...] = ()
    "runs, questionnaire and jobs under way: while they are equal, so are the figures and their notes"
    asked: bool = False
    "whether any model was asked anything"
    problem: WorkbenchError | None = None

    @property
    def models(self) -> tuple[str, ...]:
        return model_order(self.judged) if self.judged else ()

    def report(self, model: str) -> Report | None:
        return self.judged.reports.get(model) if self.judged else None


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at."""

    view: View = "questions"
    model: str = ""
    "the marked column"
    marked: tuple[str, ...] = ()
    "one or two models to compare: the second minus the first"
    condition: str = ""
    "as it is printed; empty: the first one there is"
    measure: Measure = "bias"
    rms: bool = False
    "how variability is shown: as root mean square rather than standard deviation"
    near: bool = True
    "whether pictures reach only as far as the intervals do"
    by_size: bool = False
    "whether questions stand by the size of the chosen model's figure, the largest first, rather than as asked"


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A view with its numbers; only the view's own fields are filled."""

    look: Look
    figures: Mapping[str, ConditionFigures] = field(default_factory=dict)
    "model -> all questions under the condition; models that were not asked under it are left out"
    variability: Mapping[str, tuple[VariabilityFigure, ...]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    "of the two marked models: the questions, then their means"
    ablations: tuple[Ablation, ...] = ()
    correlations: tuple[Correlation, ...] = ()

    def difference(self, target: str | None) -> Difference | None:
        return next((one for one in self.differences if one.target == target), None)


def model_order(judged: QuestionnaireJudged) -> tuple[str, ...]:
    """Return the models by name: an order that stays when one of them is asked more, or another is added."""
    return tuple(sorted(judged.reports, key=lambda name: (name.casefold(), name)))


def condition_names(judged: QuestionnaireJudged) -> tuple[str, ...]:
    """Return every condition that some model was asked under, in the order of the reports."""
    return tuple(dict.fromkeys(str(c) for name in model_order(judged) for c in judged.reports[name].conditions))


def condition_of(report: Report, name: str) -> Condition | None:
    """Return a report's condition by its printed name; None where the model was not asked under it."""
    return next((condition for condition in report.conditions if str(condition) == name), None)


def old_prompts(loaded: Loaded, model: str, condition: str, target: str | None = None) -> int:
    """Return how many prompts behind a model's figure would be put differently now; None: of all targets."""
    judged = loaded.judged
    of = condition_of(judged.reports[model], condition) if judged is not None and model in judged.reports else None
    return judged.gathered[model].old(of, target) if judged is not None and of is not None else 0


def load(
    path: Path, settings: Settings, known: Loaded | None = None, first: Callable[[Loaded], None] | None = None
) -> Loaded:
    """Read and judge what a store has on one questionnaire. Returns `known` itself where nothing has changed.

    `first` is called before with what is soon there: what is known by other options, or the figures of one condition
    where nothing of this questionnaire is known and all takes long to read.
    """
    from stores.store import Store
    from workbench.pipeline.questionnaire import QuestionnaireChoice, questionnaire

    with Store.open(path) as store:
        if known is not None and known.settings.templates != settings.templates:
            known = None
        if known is not None and known.judged is not None and known.settings.instrument == settings.instrument:
            known = _by(store, known, settings, first)
        held = tuple(name for name in store.instruments.names() if store.questionnaires.questions(name))
        if not held:
            return Loaded(settings)
        runs = store.predictions.runs("questionnaire", versions=dict(settings.templates.versions))
        answered = (run.instrument for run in runs if run.instrument in held)
        name = settings.instrument if settings.instrument in held else next(answered, next(iter(held)))
        instrument = store.instruments.get(name)
        rests_on = (runs, store.questionnaires.tallied(name), instrument, _under_way(store, name))
        if known is not None and (known.settings, known.rests_on) == (settings, rests_on) and known.problem is None:
            return known if known.instruments == held else replace(known, instruments=held)
        base = Loaded(settings, held, name, rests_on=rests_on)
        if not any(run.instrument == name for run in runs):
            return base
        choice = QuestionnaireChoice(name, templates=settings.templates, options=_options(settings))
        texts = {s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language))}
        whole = replace(base, texts=texts, topics={s.ref: s.topic or "" for s in instrument.statements}, asked=True)

        def found(part: QuestionnaireJudged) -> None:
            if first is not None and (known is None or known.judged is None or known.instrument != name):
                first(replace(whole, judged=part, rests_on=()))

        try:
            return replace(whole, judged=questionnaire(store, choice, found, runs))
        except WorkbenchError as error:
            return replace(base, problem=error, asked=True)


def _by(store: Store, known: Loaded, settings: Settings, first: Callable[[Loaded], None] | None) -> Loaded:
    """Return what is known by these settings, for which nothing is read; `first` is told where they are others."""
    from workbench.pipeline.questionnaire_options import rejudged

    if known.judged is None or known.settings == settings:
        return known
    found = replace(known, settings=settings, judged=rejudged(store, known.judged, _options(settings)))
    if first is not None:
        first(found)
    return found


def _options(settings: Settings) -> Options:
    from workbench.audits.questionnaire_figures import Options

    return Options(masses=settings.masses, error=settings.error, seed=settings.seed)


def _under_way(store: Store, instrument: str) -> tuple[tuple[int, str, int], ...]:
    """Return the jobs that have not come to their end, and how far they are: a note says so of their figures."""
    jobs = [job for job in store.jobs.list() if job.state != "done" and job.spec.get("instrument") == instrument]
    return tuple((job.id, job.state, job.done) for job in jobs)


def fitting(look: Look, judged: QuestionnaireJudged) -> Look:
    """Return the look with models and a condition that there are, and a measure that the view has."""
    models, conditions = model_order(judged), condition_names(judged)
    model = look.model if look.model in models else next(iter(models), "")
    condition = look.condition if look.condition in conditions else next(iter(conditions), "")
    measure = look.measure if look.view != "ablation" or look.measure in ABLATION_MEASURES else "bias"
    marked = tuple(name for name in look.marked if name in models)
    return replace(look, model=model, condition=condition, measure=measure, marked=marked)


def shown(loaded: Loaded, look: Look) -> Shown:
    """Work out a view."""
    judged = loaded.judged
    if judged is None:
        return Shown(look)
    if look.view == "ablation":
        report = judged.reports[look.model]
        figures = {look.model: report.condition(report.conditions[0])} if report.conditions else {}
        return Shown(look, figures=figures, ablations=report.ablations())
    if look.view == "correlation":
        return Shown(look, correlations=_correlations(judged, look))
    if look.view == "axis":
        return Shown(look, figures=_figures(judged, look))
    held = {name: (report, condition_of(report, look.condition)) for name, report in judged.reports.items()}
    asked = {name: (report, condition) for name, (report, condition) in held.items() if condition is not None}
    needs = look.measure == "variability"
    variability = {name: r.variability(condition) for name, (r, condition) in asked.items()} if needs else {}
    return Shown(look, figures=_figures(judged, look), variability=variability, differences=_differences(judged, look))


def _figures(judged: QuestionnaireJudged, look: Look) -> dict[str, ConditionFigures]:
    """Return the figures of each model that was asked under the condition."""
    from workbench.audits.questionnaire_score import measure

    held = {name: (report, condition_of(report, look.condition)) for name, report in judged.reports.items()}
    asked = {name: (report, condition) for name, (report, condition) in held.items() if condition is not None}
    measure(asked.values())
    return {name: report.condition(condition) for name, (report, condition) in asked.items()}


def _differences(judged: QuestionnaireJudged, look: Look) -> tuple[Difference, ...]:
    from workbench.audits.questionnaire_score import differences

    if len(look.marked) != 2:
        return ()
    first, second = (judged.reports[name] for name in look.marked)
    condition = condition_of(first, look.condition)
    if condition is None or condition_of(second, look.condition) is None:
        return ()
    return differences(first, second, condition)


def _correlations(judged: QuestionnaireJudged, look: Look) -> tuple[Correlation, ...]:
    from workbench.audits.questionnaire_score import correlations

    asked = {name: r for name, r in judged.reports.items() if condition_of(r, look.condition) is not None}
    if not asked:
        return ()
    condition = condition_of(next(iter(asked.values())), look.condition)
    assert condition is not None
    return correlations(asked, condition)
