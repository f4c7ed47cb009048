"""All figures of one questionnaire that models were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from workbench.audits.questionnaire import answer_tables as answers
from workbench.audits.questionnaire import between_tables as between
from workbench.audits.questionnaire import effect_tables as effects
from workbench.audits.questionnaire import model_tables as beside
from workbench.audits.questionnaire import tables as tables
from workbench.audits.questionnaire.results import Choice, Results, each, of_one, under
from workbench.domain.keys import SEED
from workbench.domain.statements import VariantId
from workbench.evidence.answered import as_json, entries, entry, header
from workbench.evidence.refusals import NO_ANSWERS, Refusals
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.table import AnyTable

SINGLE_PEOPLE = "The table lists single people's answers; workbench verdicts --show respondents prints it on request."


def book(results: Results, choice: Choice) -> Book:
    """Return the tables of `choice`, and those behind their rows."""
    return Book(
        title=f"{results.instrument}: predicted answers",
        contents=tuple(_contents(results, choice)),
        behind=_behind(results),
        told=(*header(results.answered), *results.rulings, *tables.told(results)),
        header=header(results.answered),
        methods=results.methods,
        notes=tuple(results.notes),
        about={
            "instrument": results.instrument,
            "options": asdict(results.options),
            "answered": as_json(results.answered),
            "methods": results.methods,
        },
    )


def _contents(results: Results, choice: Choice) -> Iterator[Entry]:
    names: list[Subject] = [(name,) for name in results.reports]
    one_or_all: list[Subject] = [(), *names] if len(names) > 1 else [()]
    under_one = ("condition",)

    def of(name: str, title: str, make: Callable[..., AnyTable], choices: Sequence[str] = ()) -> Entry:
        """Return an entry about all models, or about one of them."""
        made = partial(_narrowed, make, results, choice)
        return Entry(name, title, made, one_or_all, choices, whole=made)

    for measure in beside.TITLES:
        depends = (*under_one, "variability") if measure == "variability" else under_one
        one_measure = partial(beside.by_model, results, choice, measure)
        yield Entry(measure, measure, one_measure, names if len(names) > 1 else [()], depends)
    yield of("targets", "accuracy and bias", tables.targets, under_one)
    yield of("means", "means over targets", tables.means, under_one)
    yield of("axis", "liberal to conservative", tables.axis, under_one)
    yield of("axis_targets", "targets on that axis", answers.axis_targets, under_one)
    if results.personas:
        yield Entry("personas", "by persona", partial(between.by_persona, results, choice), choices=under_one)
    for measure in ("bias", "accuracy"):
        make = partial(beside.changes_by_target, results, choice, measure)
        yield Entry(f"{measure}_changes", f"changes of {measure}", make, names)
    correlations = partial(between.correlations, results, choice)
    yield Entry("correlation", "bias and accuracy together", correlations, choices=under_one)
    yield of("conditions", "effects of conditions", effects.conditions)
    yield of("changes", "what conditions change in targets", effects.changes)
    yield of("wordings", "variability over wordings", effects.wordings, ("variability",))
    yield of("wording_means", "mean variability", effects.wording_means, ("variability",))
    yield of("each_wording", "bias in each wording", effects.each_wording)
    yield of("tokens", "next tokens", answers.tokens)
    people = partial(_respondents, results, choice)
    yield Entry("respondents", "respondents", people, choices=under_one, on_request=SINGLE_PEOPLE)
    yield Entry("models", "models", lambda: tables.models(results))
    yield Entry("asked", "conditions asked", partial(tables.conditions_asked, results, choice))
    yield entry(results.answered)
    yield from entries(lambda: [Refusals(name, (), empty=NO_ANSWERS) for name in results.reports], SEED)[:1]
    yield Entry("choices", "choices behind the figures", partial(tables.choices, results))


def _narrowed(make: Callable[[Results, Choice], AnyTable], results: Results, choice: Choice, *model: str) -> AnyTable:
    """Return a table of all models, or of one."""
    return replace(make(results, choice.only(*model)), subject=model) if model else make(results, choice)


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
        return of_one(model, [results.condition(model, condition)], target)

    def targets_of(model: str, condition: str) -> AnyTable:
        return tables.targets(results, of(model, condition), name="targets_of", subject=(model, condition))

    def changes_of(model: str, condition: str) -> AnyTable:
        return effects.changes(results, of(model, condition), name="changes_of", subject=(model, condition))

    def wordings_of(model: str, condition: str, target: str) -> AnyTable:
        subject = (model, condition, target)
        made = effects.each_wording(results, of(*subject), name="wordings_of", subject=subject)
        return replace(made, title=f"{target} under {condition}: bias of {model} in each wording")

    def axis_targets_of(model: str, condition: str) -> AnyTable:
        subject = (model, condition)
        return answers.axis_targets(results, of(*subject), name="axis_targets_of", subject=subject)

    def models_on(condition: str, target: str) -> AnyTable:
        choice = under(results, condition, target)
        made = tables.targets(results, choice, name="models_on", subject=(condition, target))
        return replace(made, title=f"{target} under {condition}: accuracy and bias of each model")

    def conditions_of(model: str) -> AnyTable:
        every = of_one(model, results.report(model).conditions)
        return tables.means(results, every, name="conditions_of", subject=(model,))

    def respondents_of(model: str, target: str, condition: str, wording: str) -> AnyTable:
        which = [(model, results.condition(model, condition), target)]
        found = answers.people(results, which, (VariantId.parse(wording),))
        return answers.respondents(results, found, subject=(model, target, condition, wording), name="respondents_of")

    return {
        "targets_of": targets_of,
        "changes_of": changes_of,
        "wordings_of": wordings_of,
        "models_on": models_on,
        "conditions_of": conditions_of,
        "respondents_of": respondents_of,
        "question": partial(answers.one_question, results),
        "axis_targets_of": axis_targets_of,
        "points": partial(between.points, results),
    }
