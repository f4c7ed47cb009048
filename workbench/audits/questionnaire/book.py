"""All figures of one questionnaire that models were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from workbench.audits.questionnaire import answer_tables as answers
from workbench.audits.questionnaire import between_tables as between
from workbench.audits.questionnaire import effect_tables as effects
from workbench.audits.questionnaire import model_tables as beside
from workbench.audits.questionnaire import tables as tables
from workbench.audits.questionnaire.results import Choice, Results, each, of_one, under
from workbench.domain.keys import SEED
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.evidence.answered import as_json, entries, entry, header
from workbench.evidence.refusals import NO_ANSWERS, Refusals
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.table import AnyTable

SINGLE_PEOPLE = (
    "The table lists single people's answers; workbench verdicts STORE --audit questionnaire --table respondents "
    "prints it on request."
)
MASSES, UNDER = ("masses",), ("condition", "masses")
"options that tables across conditions rest on, and those of single ones"


def book(results: Results) -> Book:
    """Return all tables, and those behind their rows."""
    return Book(
        title=f"{results.instrument}: predicted answers",
        contents=tuple(_contents(results)),
        behind=_behind(results),
        told=(*header(results.answered), *results.rulings, *tables.told(results)),
        header=header(results.answered),
        methods=results.methods,
        notes=tuple(results.notes),
        about={
            "instrument": results.instrument,
            "answered": as_json(results.answered),
            "methods": results.methods,
        },
    )


def _contents(results: Results) -> Iterator[Entry]:
    names: list[Subject] = [(name,) for name in results.reports]
    one_or_all: list[Subject] = [(), *names] if len(names) > 1 else [()]
    shown, printed, full = choices(results)

    def of(name: str, title: str, make: Callable[..., AnyTable], rests_on: Sequence[str]) -> Entry:
        """Return an entry about all models, or about one of them."""
        seen, whole, all_of = (partial(_narrowed, make, results, choice) for choice in (shown, printed, full))
        return Entry(name, title, seen, one_or_all, rests_on, whole=whole, full=all_of)

    def of_all(name: str, title: str, make: Callable[..., AnyTable]) -> Entry:
        """Return an entry about all models together."""
        seen, whole, all_of = (partial(make, results, choice) for choice in (shown, printed, full))
        return Entry(name, title, seen, choices=UNDER, whole=whole, full=all_of)

    for measure in beside.TITLES:
        rests_on = (*UNDER, "variability") if measure == "variability" else UNDER
        seen, all_of = (partial(beside.by_model, results, choice, measure) for choice in (shown, full))
        yield Entry(measure, measure, seen, names if len(names) > 1 else [()], rests_on, full=all_of)
    yield of("targets", "accuracy and bias", tables.targets, (*UNDER, "error"))
    yield of("means", "means over targets", tables.means, UNDER)
    yield of("axis", "liberal to conservative", tables.axis, UNDER)
    yield of("axis_targets", "targets on that axis", answers.axis_targets, UNDER)
    if results.personas:
        yield of_all("personas", "by persona", between.by_persona)
    for measure in ("bias", "accuracy"):
        change, changes = (partial(beside.changes_by_target, results, choice, measure) for choice in (shown, full))
        yield Entry(f"{measure}_changes", f"changes of {measure}", change, names, MASSES, full=changes)
    yield of_all("correlation", "bias and accuracy together", between.correlations)
    yield of("conditions", "effects of conditions", effects.conditions, MASSES)
    yield of("changes", "what conditions change in targets", effects.changes, MASSES)
    yield of("wordings", "variability over wordings", effects.wordings, ("variability", *MASSES))
    yield of("wording_means", "mean variability", effects.wording_means, ("variability", *MASSES))
    yield of("each_wording", "bias in each wording", effects.each_wording, MASSES)
    yield of("tokens", "next tokens", answers.tokens, MASSES)
    seen = partial(_respondents, results, printed, (ORIGINAL,))
    everybody = partial(_respondents, results, full, None)
    yield Entry("respondents", "respondents", seen, choices=UNDER, full=everybody, on_request=SINGLE_PEOPLE)
    yield Entry("models", "models", lambda: tables.models(results))
    yield Entry("asked", "conditions asked", partial(tables.conditions_asked, results, full))
    yield entry(results.answered)
    yield from entries(lambda: [Refusals(name, (), empty=NO_ANSWERS) for name in results.reports], SEED)[:1]
    yield Entry("choices", "choices behind the figures", partial(tables.choices, results), choices=("masses", "error"))


def choices(results: Results) -> tuple[Choice, Choice, Choice]:
    """Return what tables are about on a screen, in print, and for programs and reports.

    A condition that nobody names is, on a screen, the first that there is; in print each model's first one; for
    programs every one.
    """
    every = {name: report.conditions for name, report in results.reports.items()}
    text = results.options.condition
    if text is None:
        return under(results), Choice({name: of[:1] for name, of in every.items()}, every), Choice(every, every)
    named = results.named(text)
    return Choice(named, every, named=text), Choice(named, named, named=text), Choice(named, named, named=text)


def _narrowed(make: Callable[[Results, Choice], AnyTable], results: Results, choice: Choice, *model: str) -> AnyTable:
    """Return a table of all models, or of one."""
    return replace(make(results, choice.only(*model)), subject=model) if model else make(results, choice)


def _respondents(results: Results, choice: Choice, wordings: Sequence[VariantId] | None) -> AnyTable:
    which = [
        (name, condition, ref)
        for name, report, condition in each(results, choice.conditions)
        for ref in report.predictions.targets
    ]
    return answers.respondents(results, answers.people(results, which, wordings))


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
