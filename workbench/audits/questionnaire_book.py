"""All figures of one questionnaire that models were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial

from workbench.audits import questionnaire_answer_tables as answers
from workbench.audits import questionnaire_effect_tables as effects
from workbench.audits import questionnaire_model_tables as beside
from workbench.audits import questionnaire_tables as tables
from workbench.audits.questionnaire_figures import Condition
from workbench.audits.questionnaire_results import Choice, Results, each
from workbench.domain.statements import VariantId
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable


def book(results: Results, choice: Choice) -> Book:
    """Return the tables of `choice`, and those behind their rows."""
    return Book(
        title=f"{results.instrument}: predicted answers",
        contents=tuple(_contents(results, choice)),
        behind=_behind(results),
        told=tables.told(results),
        notes=tuple(results.notes),
        about={"instrument": results.instrument, "options": asdict(results.options)},
    )


def _contents(results: Results, choice: Choice) -> Iterator[Entry]:
    of: Mapping[str, tuple[str, Callable[[Results, Choice], AnyTable]]] = {
        "targets": ("accuracy and bias of targets", tables.targets),
        "means": ("means over targets", tables.means),
        "axis": ("liberal to conservative", tables.axis),
        "conditions": ("what conditions change", effects.conditions),
        "changes": ("what conditions change in targets", effects.changes),
        "wordings": ("variability over wordings", effects.wordings),
        "wording_means": ("mean variability", effects.wording_means),
        "each_wording": ("bias in each wording", effects.each_wording),
        "tokens": ("next tokens", answers.tokens),
        "correlation": ("bias and accuracy together", effects.correlations),
        "asked": ("conditions asked", tables.conditions_asked),
    }
    yield Entry("models", "models", lambda: tables.models(results))
    for measure in beside.TITLES:
        yield Entry(measure, measure, partial(beside.by_model, results, choice, measure))
    for name, (title, make) in of.items():
        yield Entry(name, title, partial(make, results, choice))
    if choice.bases:
        yield Entry("against", "differences between models", partial(effects.against, results, choice))
    yield Entry("respondents", "respondents", partial(_respondents, results, choice))
    yield Entry("choices", "choices behind the figures", partial(tables.choices, results))


def _respondents(results: Results, choice: Choice) -> AnyTable:
    which = [
        (name, condition, ref)
        for name, report, condition in each(results, choice.conditions)
        for ref in report.predictions.targets
        if choice.wants(ref)
    ]
    return answers.respondents(results, answers.people(results, which, choice.wordings), most=choice.missed)


def _behind(results: Results) -> Mapping[str, Callable[..., AnyTable]]:
    def of(model: str, condition: str, target: str | None = None) -> Choice:
        one = (results.condition(model, condition),)
        held: dict[str, tuple[Condition, ...]] = dict.fromkeys(results.reports, ()) | {model: one}
        return Choice(held, held, target, named=condition)

    def targets_of(model: str, condition: str) -> AnyTable:
        return tables.targets(results, of(model, condition), name="targets_of", subject=(model, condition))

    def changes_of(model: str, condition: str) -> AnyTable:
        return effects.changes(results, of(model, condition), name="changes_of", subject=(model, condition))

    def wordings_of(model: str, condition: str, target: str) -> AnyTable:
        subject = (model, condition, target)
        return effects.each_wording(results, of(*subject), name="wordings_of", subject=subject)

    def models_on(condition: str, target: str) -> AnyTable:
        choice = beside.models_on(results, condition, target)
        return tables.targets(results, choice, name="models_on", subject=(condition, target))

    def conditions_of(model: str) -> AnyTable:
        held: dict[str, tuple[Condition, ...]] = dict.fromkeys(results.reports, ())
        every = results.report(model).conditions
        choice = Choice(held | {model: every}, held | {model: every}, named="*")
        return tables.means(results, choice, name="conditions_of", subject=(model,))

    def respondents_of(model: str, target: str, condition: str, wording: str) -> AnyTable:
        which = [(model, results.condition(model, condition), target)]
        found = answers.people(results, which, (VariantId.parse(wording),))
        return answers.respondents(results, found, subject=(model, target, condition, wording))

    return {
        "targets_of": targets_of,
        "changes_of": changes_of,
        "wordings_of": wordings_of,
        "models_on": models_on,
        "conditions_of": conditions_of,
        "respondents_of": respondents_of,
        "question": partial(answers.one_question, results),
        "axis_targets": partial(answers.axis_targets, results),
        "points": partial(effects.points, results),
    }
