"""The book of predicted answers: all tables, and those behind their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.audits.questionnaire import answer_tables as answers
from workbench.audits.questionnaire import effect_tables as effects
from workbench.audits.questionnaire import tables as tables
from workbench.audits.questionnaire.tables import Results, TableScope, each, of_one, under
from workbench.domain.keys import SEED
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    refusal_entries,
)
from workbench.evidence.refusals import NO_ANSWERS, ModelRefusals
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.table import AnyTable

ACROSS, UNDER = ("masses", "unweighted", "by"), ("condition", "masses", "unweighted", "by")
"options of tables across conditions, and of tables of single conditions"

SINGLE_PEOPLE = (
    "The table lists single people's answers; workbench show STORE questionnaire --table "
    "respondents prints it on request."
)


def book(results: Results) -> Book:
    """Return the book of all tables, and of the tables behind their rows."""
    return Book(
        title=f"{results.instrument}: predicted answers",
        contents=tuple(_PredictionEntries(results).entries()),
        behind=_TablesBehind(results).by_name(),
        told=(*answered_header(results.answered), *results.rulings, *tables.header_lines(results)),
        header=answered_header(results.answered),
        methods=results.methods,
        notes=tuple(results.notes),
        about={
            "instrument": results.instrument,
            "answered": answered_data(results.answered),
            "methods": results.methods,
        },
    )


class _PredictionEntries:
    """The entries of the book. A table shows all models, or one of them."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.names: list[Subject] = [(name,) for name in results.reports]
        self.one_or_all: list[Subject] = [(), *self.names] if len(self.names) > 1 else [()]
        self.on_screen, self.printed, self.full = choices(results)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in order."""
        results = self.results
        variability = ("variability", *ACROSS)
        if results.options.groups:
            yield self._of_models("groups", "by group", tables.groups, UNDER)
            yield self._of_models(
                "group_targets", "targets by group", tables.group_targets, (*UNDER, "error")
            )
        for measure in effects.MEASURES:
            yield self._side_by_side(measure)
        yield self._of_models("targets", "accuracy and bias", tables.targets, (*UNDER, "error"))
        yield self._of_models("means", "means over targets", tables.means, UNDER)
        yield self._of_models("axis", "liberal to conservative", tables.axis, UNDER)
        yield self._of_models("axis_targets", "targets on that axis", answers.axis_targets, UNDER)
        if results.personas:
            yield self._of_all("personas", "by persona", effects.by_persona)
        yield self._changes(effects.BIAS)
        yield self._changes(effects.ACCURACY)
        yield self._of_all("correlation", "bias and accuracy together", effects.correlations)
        yield self._of_models("conditions", "effects of conditions", effects.conditions, ACROSS)
        yield self._of_models(
            "changes", "what conditions change in targets", effects.changes, ACROSS
        )
        yield self._of_models(
            "wordings", "variability over wordings", effects.wordings, variability
        )
        yield self._of_models(
            "wording_means", "mean variability", effects.wording_means, variability
        )
        yield self._of_models("each_wording", "bias in each wording", effects.each_wording, ACROSS)
        yield self._of_models("tokens", "next tokens", answers.tokens, ACROSS)
        yield self._respondents()
        yield Entry("models", "models", lambda: tables.models(results))
        yield Entry(
            "asked", "conditions asked", partial(tables.conditions_asked, results, self.full)
        )
        yield answered_entry(results.answered)
        yield from refusal_entries(
            lambda: [ModelRefusals(name, (), empty=NO_ANSWERS) for name in results.reports], SEED
        )[:1]
        yield Entry(
            "choices",
            "choices behind the figures",
            partial(tables.choices, results),
            choices=("masses", "error"),
        )

    def _of_models(
        self, name: str, title: str, make: Callable[..., AnyTable], rests_on: Sequence[str]
    ) -> Entry:
        """Return an entry on all models, or on one of them."""
        return Entry(
            name,
            title,
            partial(_narrowed, make, self.results, self.on_screen),
            self.one_or_all,
            rests_on,
            whole=partial(_narrowed, make, self.results, self.printed),
            full=partial(_narrowed, make, self.results, self.full),
        )

    def _of_all(self, name: str, title: str, make: Callable[..., AnyTable]) -> Entry:
        """Return an entry on all models together."""
        return Entry(
            name,
            title,
            partial(make, self.results, self.on_screen),
            choices=UNDER,
            whole=partial(make, self.results, self.printed),
            full=partial(make, self.results, self.full),
        )

    def _side_by_side(self, measure: effects.Measure) -> Entry:
        """Return an entry on a measure of every target, with a column for each model."""
        return Entry(
            measure.name,
            measure.name,
            partial(effects.by_model, self.results, self.on_screen, measure),
            self.names if len(self.names) > 1 else [()],
            (*UNDER, "variability") if measure is effects.VARIABILITY else UNDER,
            full=partial(effects.by_model, self.results, self.full, measure),
        )

    def _changes(self, measure: effects.Measure) -> Entry:
        """Return an entry on the changes of a measure in one model."""
        return Entry(
            f"{measure.name}_changes",
            f"changes of {measure.name}",
            partial(effects.changes_by_target, self.results, self.on_screen, measure),
            self.names,
            ACROSS,
            full=partial(effects.changes_by_target, self.results, self.full, measure),
        )

    def _respondents(self) -> Entry:
        """Return the entry on single respondents."""
        return Entry(
            "respondents",
            "respondents",
            partial(_respondents, self.results, self.printed, (ORIGINAL,)),
            choices=UNDER,
            full=partial(_respondents, self.results, self.full, None),
            on_request=SINGLE_PEOPLE,
        )


def choices(results: Results) -> tuple[TableScope, TableScope, TableScope]:
    """Return the choices of tables on a screen, in print, and for programs and reports.

    Without a condition in the options they are the first one of all models on a screen, each
    model's first one in print, and all for programs.
    """
    conditions_by_model = {name: report.conditions for name, report in results.reports.items()}
    text = results.options.condition
    if text is None:
        return (
            under(results),
            TableScope(
                {name: conditions[:1] for name, conditions in conditions_by_model.items()},
                conditions_by_model,
            ),
            TableScope(conditions_by_model, conditions_by_model),
        )
    selected = results.select_conditions(text)
    return (
        TableScope(selected, conditions_by_model, named=text),
        TableScope(selected, selected, named=text),
        TableScope(selected, selected, named=text),
    )


def _narrowed(
    make: Callable[[Results, TableScope], AnyTable],
    results: Results,
    choice: TableScope,
    *model: str,
) -> AnyTable:
    """Return a table of all models, or of one model."""
    if not model:
        return make(results, choice)
    return replace(make(results, choice.only(*model)), subject=model)


def _respondents(
    results: Results, choice: TableScope, wordings: Sequence[VariantId] | None
) -> AnyTable:
    """Return the table of single respondents for the models and conditions of a choice."""
    cells = [
        (name, condition, ref)
        for name, report, condition in each(results, choice.conditions)
        for ref in report.predictions.targets
    ]
    return answers.respondents(results, answers.people(results, cells, wordings))


@dataclass(frozen=True, slots=True, eq=False)
class _TablesBehind:
    """The tables behind the rows of others."""

    results: Results

    def by_name(self) -> Mapping[str, Callable[..., AnyTable]]:
        """Return the functions that make the tables, by name."""
        return {
            "targets_of": self.targets_of,
            "changes_of": self.changes_of,
            "wordings_of": self.wordings_of,
            "models_on": self.models_on,
            "conditions_of": self.conditions_of,
            "respondents_of": self.respondents_of,
            "question": partial(answers.one_question, self.results),
            "axis_targets_of": self.axis_targets_of,
            "points": partial(effects.points, self.results),
        }

    def _choice(self, model: str, condition: str, target: str | None = None) -> TableScope:
        """Return the choice of one model under one condition."""
        return of_one(model, [self.results.condition(model, condition)], target)

    def targets_of(self, model: str, condition: str) -> AnyTable:
        """Return the table of the targets of one model under one condition."""
        choice = self._choice(model, condition)
        return tables.targets(self.results, choice, name="targets_of", subject=(model, condition))

    def changes_of(self, model: str, condition: str) -> AnyTable:
        """Return the table of the changes of one condition in each target."""
        choice = self._choice(model, condition)
        return effects.changes(self.results, choice, name="changes_of", subject=(model, condition))

    def wordings_of(self, model: str, condition: str, target: str) -> AnyTable:
        """Return the table of a target's bias in each wording."""
        subject = (model, condition, target)
        choice = self._choice(*subject)
        table = effects.each_wording(self.results, choice, name="wordings_of", subject=subject)
        return replace(table, title=f"{target} under {condition}: bias of {model} in each wording")

    def axis_targets_of(self, model: str, condition: str) -> AnyTable:
        """Return the table of the targets with a leaning."""
        choice = self._choice(model, condition)
        return answers.axis_targets(
            self.results, choice, name="axis_targets_of", subject=(model, condition)
        )

    def models_on(self, condition: str, target: str) -> AnyTable:
        """Return the table of a target's figures for each model."""
        choice = under(self.results, condition, target)
        table = tables.targets(self.results, choice, name="models_on", subject=(condition, target))
        return replace(table, title=f"{target} under {condition}: accuracy and bias of each model")

    def conditions_of(self, model: str) -> AnyTable:
        """Return the table of one model's means under each condition."""
        choice = of_one(model, self.results.report(model).conditions)
        return tables.means(self.results, choice, name="conditions_of", subject=(model,))

    def respondents_of(self, model: str, target: str, condition: str, wording: str) -> AnyTable:
        """Return the table of the predictions for single respondents in one wording."""
        cells = [(model, self.results.condition(model, condition), target)]
        try:
            variant = VariantId.parse(wording)
        except ValueError as error:
            raise UnknownName(
                f"there is no wording {wording!r}; give original, paraphrase-1, …"
            ) from error
        rows = answers.people(self.results, cells, (variant,))
        subject = (model, target, condition, wording)
        return answers.respondents(self.results, rows, subject=subject, name="respondents_of")
