"""The result of the questionnaire audit: predicted human answers, and the direction of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any

from stores.core.store import Store, at_once
from workbench.audits.audit import Opened
from workbench.audits.by_persona import with_personas
from workbench.audits.claims import AdjustedFinding, Finding, OfModel, Reach, reach_of, shown
from workbench.audits.comparison.judge import Compared, Judged, Side, VerdictKind, factors_of
from workbench.audits.questionnaire import answer_tables as answers
from workbench.audits.questionnaire import effect_tables as effects
from workbench.audits.questionnaire import tables as tables
from workbench.audits.questionnaire.asking import QM, RANDOM, ZERO_SHOT
from workbench.audits.questionnaire.figures import LEVEL, Condition, ConditionFigures, direction
from workbench.audits.questionnaire.judged import (
    QuestionnaireJudged,
    judge_questionnaire,
    predictions_of,
    report_within,
    takes_long,
    token_shares,
)
from workbench.audits.questionnaire.options import DEFAULTS, NO_GROUPS, PredictionOptions
from workbench.audits.questionnaire.reading import AUDIT
from workbench.audits.questionnaire.score import PredictionReport, compute_figures
from workbench.audits.questionnaire.tables import (
    ERRORS,
    MASSES,
    Choice,
    Predictor,
    Results,
    each,
    estimate_of,
    of_one,
    under,
)
from workbench.audits.reported import HALLER, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.designs import Design
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.questionnaires import Contexts, Role, group_fields
from workbench.domain.responses import EXACTLY
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    leading_model,
    refusal_entries,
)
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.refusals import NO_ANSWERS, ModelRefusals
from workbench.evidence.runs import AnswerSelection
from workbench.evidence.runs import run_data as about_run
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.intervals import INTERVALS
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Kind
from workbench.stats.power import standard_error
from workbench.stats.weights import spread_of

FIRST = ("models", "targets", "means", "axis", "personas")
UNFOLDED = ("models", "means", "targets")
LIMITS = (
    "A bias is relative to the people whose answers the questionnaire has; it says nothing about "
    "other people.",
    "The context of a target question consists of people's answers, which a model may have seen "
    "in training where they were published.",
)


def judge(
    store: Store, which: AnswerSelection, options: PredictionOptions, opened: Opened
) -> Result:
    """Return the accuracy and bias of the selected predictions.

    Raises UnknownName, UsageError.
    """
    judged = judge_questionnaire(store, which, options)
    return _result(judged, opened, _about(store, judged))


def part(
    store: Store, which: AnswerSelection, options: PredictionOptions, opened: Opened
) -> Result | None:
    """Return the result of `qm` alone, or None if a condition is named or reading all is fast."""
    if options.condition is not None or not takes_long(store, which):
        return None
    return _result(judge_questionnaire(store, which, options, partly=True), opened, {})


def _result(judged: QuestionnaireJudged, opened: Opened, about: dict[str, Any]) -> Result:
    """Return the result of judged predictions. `about` is metadata for programs."""
    results = results_of(judged)

    def again(options: PredictionOptions) -> Result:
        """Return the result under other options."""
        return _result(judged.with_options(options), opened, about)

    return Result(
        which=judged.which,
        options=judged.options,
        instrument=judged.instrument,
        runs=judged.runs,
        names=tuple(results.reports),
        book=book(results),
        first=(
            *FIRST[:3],
            *(("groups", "group_targets") if judged.options.groups else ()),
            *FIRST[3:],
        ),
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(judged)),
        all_models=lambda: _all_models(judged),
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        items={name: Later(partial(_items, results, name)) for name in judged.reports},
        limits=LIMITS,
        references=[HALLER],
        about=about,
        compared=partial(_compared, judged, results, opened) if len(judged.reports) > 1 else None,
        again=again,
        steps={
            "condition": tuple(map(str, results.conditions)),
            "by": (NO_GROUPS, *group_fields(judged.questionnaire.respondents)),
            "unweighted": (False, True)
            if any(
                run_predictions.weights is not None for run_predictions in judged.gathered.values()
            )
            else (),
        },
        judged=judged,
    )


def _about(store: Store, judged: QuestionnaireJudged) -> dict[str, Any]:
    """Return metadata of the figures for programs: the questionnaire and the runs."""
    questionnaire = judged.questionnaire
    return {
        "questionnaire": {
            "context": len(questionnaire.of_role(Role.CONTEXT)),
            "targets": [asdict(question) for question in questionnaire.of_role(Role.TARGET)],
            "respondents": len(questionnaire.respondents),
        },
        "models": {
            name: {"run": about_run(run), "code_versions": store.predictions.code_versions(run)}
            for name, run in judged.runs.items()
        },
    }


def results_of(judged: QuestionnaireJudged) -> Results:
    """Return the values that the tables are made of."""
    statements = judged.instrument.statements
    # This order stays the same when a model is asked more
    names = sorted(judged.reports, key=lambda name: (name.casefold(), name))
    return Results(
        instrument=judged.instrument.name,
        questionnaire=judged.questionnaire,
        options=judged.options,
        reports={name: judged.reports[name] for name in names},
        predictors={name: _predictor(judged, name) for name in names},
        count_outdated=judged.count_outdated,
        shares=partial(token_shares, judged),
        predictions_of=partial(predictions_of, judged),
        texts={
            statement.ref: text.text
            for statement in statements
            if (text := statement.wording(ORIGINAL, judged.instrument.language))
        },
        rulings=(ruling_notes := tuple(judged.rulings.sentences())),
        notes=[note for note in judged.notes if note not in ruling_notes],
        answered=judged.answered,
        report_of_group=cache(partial(report_within, judged)),
        personas=with_personas({name: judged.runs[name] for name in names}),
        methods=methods(judged),
    )


def _predictor(judged: QuestionnaireJudged, name: str) -> Predictor:
    """Return the model, the backend and the numbers of prompts behind a report."""
    run, run_predictions = judged.runs[name], judged.gathered[name]
    return Predictor(
        version=run.version,
        revision=run.revision,
        dtype=run.dtype,
        computed=run.computed,
        prompts=len(run_predictions.probe),
        failed=len(run_predictions.failed),
        outdated=int(run_predictions.outdated.sum()),
    )


def _compared(
    judged: QuestionnaireJudged, found: Results, opened: Opened, names: Sequence[str]
) -> Compared:
    """Return the comparison of some models under the conditions of the options."""
    text = judged.options.condition
    conditions: tuple[Condition, ...] = ()
    if text is not None:
        conditions = tuple(
            dict.fromkeys(chain.from_iterable(found.select_conditions(text).values()))
        )
    with opened() as store:
        return compared(store, judged, found, names, conditions)


def _findings(judged: QuestionnaireJudged) -> Iterator[Finding]:
    """Yield the findings on each model: its accuracy, then its biases by question."""
    figures_by_model = {
        name: report.condition(report.conditions[0])
        for name, report in judged.reports.items()
        if report.conditions
    }
    for name, figures in figures_by_model.items():
        yield AdjustedFinding(
            (figures.p_majority,), partial(_accuracy, name, figures), "accuracy", (name,)
        )
    for name, figures in figures_by_model.items():
        p = tuple(target.p for target in figures.targets)
        yield AdjustedFinding(
            p, partial(_sides, name, figures), "bias by question", (name,) * len(p)
        )


def _all_models(judged: QuestionnaireJudged) -> AnyTable:
    """Return the table of every model's accuracy, with the baselines of a coin and the majority."""
    rows = [
        ModelFigures(
            name,
            {
                "accuracy": estimate_of(figures.accuracy),
                "coin": figures.coin.accuracy,
                "majority": figures.majority,
                "size": figures.absolute_bias.value,
                "questions": figures.accuracy.n,
            },
        )
        for name, report in judged.reports.items()
        if report.conditions
        for figures in (report.condition(report.conditions[0]),)
    ]
    return of_all_models(
        "Predicted answers of people",
        rows,
        {"accuracy": "predicted answers"},
        Kind.SHARE,
        beside={"coin": "coin-flip baseline", "majority": "majority baseline"},
        more={"size": ("size of the bias", Kind.SIZE), "questions": ("questions", Kind.COUNT)},
        scale=(0.0, 1.0),
        definition="Share of people's answers that a model predicts, mean over questions, under "
        "the first condition. "
        "The majority baseline always names people's more frequent answer. The bias is how much "
        "more or less often "
        "than people a model says yes.",
    )


def _accuracy(name: str, of: ConditionFigures, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding on whether a model predicts better than the majority baseline.

    The majority is that of the same respondents, so the baseline is right slightly more often than
    for other respondents. No finding therefore claims that a model is worse than it.
    """
    over_majority = of.over_majority
    is_better = (
        adjusted[0] < LEVEL
        and direction(over_majority.low, over_majority.high, over_majority.respondents) == "above"
    )
    yield OfModel(
        f"{'Better' if is_better else 'No significantly better'} predictions than the majority "
        "baseline, which always names people's more frequent answer",
        name,
        f"{number(of.accuracy.value, Kind.SHARE)} against {number(of.majority, Kind.SHARE)} "
        f"of answers predicted ({plural(of.accuracy.n, 'question')}, {_in_words(of.condition)})",
        adjusted[0] if is_better else math.nan,
        reach=None if is_better else _accuracy_reach(of),
    )


CONDITIONS_IN_WORDS = {
    QM: "prompts with the person's other answers",
    ZERO_SHOT: "prompts without the person's answers",
    RANDOM: "prompts with random answers",
}


def _in_words(condition: Condition) -> str:
    """Return a condition as text, such as `prompts with random answers`."""
    text = CONDITIONS_IN_WORDS.get(condition.name)
    return str(condition) if text is None else str(condition).replace(condition.name, text, 1)


def _accuracy_reach(of: ConditionFigures) -> Reach:
    """Return the precision of the test of predictions. The best accuracy is 1."""
    over_majority = of.over_majority
    units = f"The answers of {over_majority.respondents:,} people"
    claim = "better predictions than the majority baseline"
    return Reach(
        standard_error(over_majority.low, over_majority.high),
        1 - of.majority,
        Kind.POINTS,
        units,
        claim,
    )


LARGEST_BIAS = 0.5
"the largest plausible bias on a question"


def _sides_reach(of: ConditionFigures) -> Reach | None:
    """Return the precision of the test of the widest interval, or None without an interval."""
    with_interval = [target for target in of.targets if not math.isnan(target.bias.low)]
    if not with_interval:
        return None
    widest = max(with_interval, key=lambda target: target.bias.high - target.bias.low)
    units = f"The answers of {widest.respondents:,} people"
    return reach_of(widest.bias, LARGEST_BIAS, Kind.POINTS, units, "a bias on each question")


def _sides(name: str, of: ConditionFigures, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding on the number of targets with a significant bias to either side."""
    above, below = (of.directions_by(adjusted).count(side) for side in ("above", "below"))
    noise = of.absolute_bias.noise.noise
    noise_text = "" if math.isnan(noise) else f"; noise alone would give {number(noise, Kind.SIZE)}"
    directions = (
        f": yes more often than people on {above:,}, less often on {below:,}"
        if above + below
        else ""
    )
    yield OfModel(
        "Questions with a significant bias",
        name,
        f"{above + below} of {len(of.targets)}{directions} (mean size of the bias "
        f"{number(of.absolute_bias.value, Kind.SIZE)}{noise_text})",
        shown(adjusted) if above + below else math.nan,
        reach=_sides_reach(of) if above + below < len(of.targets) else None,
    )


def _items(found: Results, name: str) -> Iterator[ReportedItem]:
    """Yield the human answers and the predictions of each target, under the first condition."""
    report = found.reports[name]
    if not report.conditions:
        return
    for target in report.condition(report.conditions[0]).targets:
        people = f"{number(target.human, Kind.SHARE)} of {target.respondents:,} people say yes"
        model = (
            f"predicted: {number(target.p_yes, Kind.SHARE)}, bias "
            f"{number(target.bias.value, Kind.POINTS)}"
        )
        text = f"{people}; {model} ({report.conditions[0]})"
        yield ReportedItem(target.target, found.texts.get(target.target, ""), None, (text,))


def _headline(judged: QuestionnaireJudged) -> Headline:
    """Return the headline on the model that was asked last, under its first condition."""
    name = leading_model({name: run.last for name, run in judged.runs.items()}, judged.answered)
    report = judged.reports[name]
    if not report.conditions:
        return Headline(name, "nothing predicted yet")
    # The tables need these figures, too
    compute_figures(
        (other, other.conditions[0]) for other in judged.reports.values() if other.conditions
    )
    figures = report.condition(report.conditions[0])
    accuracy = figures.accuracy
    accuracy_text, majority = (
        number(accuracy.value, Kind.SHARE),
        number(figures.majority, Kind.SHARE),
    )
    warnings = [f"! {judged.going[name]}"] if name in judged.going else []
    if accuracy.few:
        people = "1 person" if accuracy.respondents == 1 else f"{accuracy.respondents} people"
        warnings.append(f"! only {people} on a question")
    facts = (
        f"mean |bias| {number(figures.absolute_bias.value, Kind.SIZE)}",
        plural(accuracy.n, "question"),
        str(figures.condition),
        judged.instrument.name,
    )
    details = [*((text, True) for text in warnings), *((text, False) for text in facts)]
    return Headline(name, f"predicts {accuracy_text} (majority {majority})", details)


SINGLE_PEOPLE = (
    "The table lists single people's answers; workbench show STORE questionnaire --table "
    "respondents prints it on request."
)
ACROSS, UNDER = ("masses", "unweighted", "by"), ("condition", "masses", "unweighted", "by")
"options of tables across conditions, and of tables of single conditions"


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


def choices(results: Results) -> tuple[Choice, Choice, Choice]:
    """Return the choices of tables on a screen, in print, and for programs and reports.

    Without a condition in the options they are the first one of all models on a screen, each
    model's first one in print, and all for programs.
    """
    conditions_by_model = {name: report.conditions for name, report in results.reports.items()}
    text = results.options.condition
    if text is None:
        return (
            under(results),
            Choice(
                {name: conditions[:1] for name, conditions in conditions_by_model.items()},
                conditions_by_model,
            ),
            Choice(conditions_by_model, conditions_by_model),
        )
    selected = results.select_conditions(text)
    return (
        Choice(selected, conditions_by_model, named=text),
        Choice(selected, selected, named=text),
        Choice(selected, selected, named=text),
    )


def _narrowed(
    make: Callable[[Results, Choice], AnyTable], results: Results, choice: Choice, *model: str
) -> AnyTable:
    """Return a table of all models, or of one model."""
    if not model:
        return make(results, choice)
    return replace(make(results, choice.only(*model)), subject=model)


def _respondents(
    results: Results, choice: Choice, wordings: Sequence[VariantId] | None
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

    def _choice(self, model: str, condition: str, target: str | None = None) -> Choice:
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


BIAS, RIGHT = "bias", "right"
WORDS = {
    "above": "more yes",
    "below": "less yes",
    "none": "no bias shown",
    "few": "few",
    "": "no interval",
}


@at_once
def compared(
    store: Store,
    judged: QuestionnaireJudged,
    results: Results,
    names: Sequence[str],
    conditions: Sequence[Condition] = (),
) -> Compared:
    """Return the comparison of models.

    Raises UnknownName if the models share no condition.

    Parameters
    ----------
    conditions : verdicts are under the first one that all models share, differences under all of
        these. Empty: only the first condition that all models share
    """
    shared = _conditions(judged, names, conditions)
    verdict_condition = shared[0]
    targets_by_model = [judged.reports[name].predictions.targets for name in names]
    targets = [ref for ref in results.targets if all(ref in refs for refs in targets_by_model)]
    kinds = (
        VerdictKind(
            BIAS,
            "bias of targets",
            WORDS["above"],
            WORDS["below"],
            "target",
            tested=False,
            neither=(WORDS["none"], WORDS["few"], WORDS[""]),
        ),
        *(
            VerdictKind(f"{RIGHT}:{ref}", ref, "right", "wrong", "respondent", listed=False)
            for ref in targets
        ),
    )
    choice = replace(
        under(results, str(verdict_condition)), conditions=dict.fromkeys(names, shared)
    )

    def own(first: str, second: str) -> AnyTable:
        """Return the table of differences between two models."""
        return effects.compared(results, choice, second, first)

    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        kinds,
        [_side(store, judged, name, verdict_condition, targets) for name in names],
        results.texts,
        "mean accuracy",
        Kind.SHARE,
        (own,),
        left_out=(
            f"Verdicts are under the condition {verdict_condition}, in the original wording.",
            *_not_shared(names, conditions, shared),
            *(
                f"{name}: {n:,} prompts show answers, questions or instructions that have changed "
                "since."
                for name in names
                if (n := judged.count_outdated(name, verdict_condition, None, ORIGINAL))
            ),
        ),
    )


def _conditions(
    judged: QuestionnaireJudged, names: Sequence[str], named: Sequence[Condition]
) -> tuple[Condition, ...]:
    """Return the conditions that all models share: the named ones, or without names the first.

    Raises UnknownName if there are none.
    """
    conditions_by_model = [judged.reports[name].conditions for name in names]
    shared = tuple(
        condition
        for condition in conditions_by_model[0]
        if all(condition in conditions for conditions in conditions_by_model)
    )
    selected = shared[:1]
    requested = "one condition"
    if named:
        selected = tuple(condition for condition in shared if condition in named)
        requested = f"the condition {', '.join(repr(str(condition)) for condition in named)}"
    if not selected:
        available = ", ".join(map(str, shared)) or "none"
        raise UnknownName(
            f"{' and '.join(names)} were not all asked under {requested}; they share: {available}"
        )
    return selected


def _not_shared(
    names: Sequence[str], named: Sequence[Condition], shared: Sequence[Condition]
) -> list[str]:
    """Return a sentence on named conditions that the models do not share, if there are any."""
    missing_conditions = [str(condition) for condition in named if condition not in shared]
    if not missing_conditions:
        return []
    return [
        f"Not asked of all of {' and '.join(names)}: the condition {', '.join(missing_conditions)}."
    ]


def _side(
    store: Store,
    judged: QuestionnaireJudged,
    name: str,
    condition: Condition,
    targets: Sequence[str],
) -> Side:
    """Return one side of a comparison: the verdicts of a model under a condition."""
    report, run = judged.reports[name], judged.runs[name]
    figures = report.condition(condition)
    instrument = store.runs.instrument(run)
    texts = {
        statement.ref: wording.text
        for statement in instrument.statements
        if (wording := statement.wording(ORIGINAL, run.language)) is not None
    }
    verdict_texts = {
        figure.target: WORDS[figure.direction]
        for figure in figures.targets
        if figure.target in targets
    }
    verdicts = {
        BIAS: {ref: Judged(verdict, texts.get(ref)) for ref, verdict in verdict_texts.items()}
    }
    verdicts |= {
        f"{RIGHT}:{ref}": _people(report, condition, ref, texts.get(ref, "")) for ref in targets
    }
    return Side(name, run.model, factors_of(run), verdicts, run.last, estimate_of(figures.accuracy))


def _people(
    report: PredictionReport, condition: Condition, ref: str, text: str
) -> dict[str, Judged]:
    """Return by respondent whether the model predicts the answer to a target."""
    cell, row = (
        report.prediction_index.cell(condition, ORIGINAL),
        report.predictions.targets.index(ref),
    )
    verdict_texts = {(True, True): "right", (True, False): "wrong"}
    rows = zip(
        report.prediction_index.respondents,
        cell.counted[row].tolist(),
        cell.readable[row].tolist(),
        cell.correct[row].tolist(),
        strict=True,
    )
    return {
        person: Judged(verdict_texts.get((readable, correct), "unreadable"), text)
        for person, is_counted, readable, correct in rows
        if is_counted
    }


def methods(judged: QuestionnaireJudged) -> str:
    """Return one paragraph on the methods, with every option of the figures."""
    options, questionnaire = judged.options, judged.questionnaire
    targets = plural(len(questionnaire.of_role(Role.TARGET)), "target")
    context = plural(len(questionnaire.of_role(Role.CONTEXT)), "question")
    conditions_by_model = {
        name: ", ".join(map(str, report.conditions)) for name, report in judged.reports.items()
    }
    return " ".join(
        [
            "Answers of people were predicted as by Haller et al. (2025): a model is given a "
            "person's answers to "
            f"{context} and asked for the answer to each of {targets} of {judged.instrument.name}; "
            f"{plural(len(questionnaire.respondents), 'respondent')} are known.",
            f"{MASSES[options.masses]}; neither is unreadable, a tie is yes. "
            f"{ERRORS[options.error]}.",
            *(
                f"{name} was asked under: {conditions}."
                for name, conditions in conditions_by_model.items()
            ),
            f"Intervals are 95 %. Of accuracy on a target: {INTERVALS['accuracy'].method}. Of "
            f"biases and means: {INTERVALS['bias of a target'].method}; {options.draws:,} draws, "
            f"seed {options.seed}.",
            *_weighted(judged),
            *_counted(judged),
            *asked_sentences(judged.runs.items(), judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _weighted(judged: QuestionnaireJudged) -> list[str]:
    """Return a sentence on the use of weights, or none if respondents have no weights."""
    if all(run_predictions.weights is None for run_predictions in judged.gathered.values()):
        return []
    if judged.options.unweighted:
        return ["The respondents have weights, which were not used: everybody counts once."]
    return [
        "Shares of people, accuracies and biases count respondents by their weights. Draws are of "
        "respondents, who bring their weights; degrees of freedom and Wilson's interval take the "
        "effective number, (Σ w)² / Σ w² (Kish 1965), over all respondents "
        f"{spread_of([person.weight for person in judged.questionnaire.respondents])}."
    ]


def _counted(judged: QuestionnaireJudged) -> list[str]:
    """Return a sentence on the noise of counted answers, or none if no answers were counted."""
    names = [name for name, report in judged.reports.items() if report.counts_answers]
    if not names:
        return []
    return [
        f"For {', '.join(names)}, p(yes) is the share yes / (yes + no) of drawn answers by their "
        "first word, a measure that is not pooled with probabilities. Its binomial noise is part "
        "of the bootstrap over respondents where each has a prompt of their own; for prompts that "
        "several share it is drawn from Beta(yes + 1/2, no + 1/2)."
    ]


CONTEXTS = Contexts(("qm", "zero-shot", "random"), respondents=16)
"the contexts of the demonstration"


def design(store: Store, model: str) -> Design:  # noqa: ARG001  as the demonstration of any audit is made
    """Return the design of the demonstration, with a few synthetic respondents."""
    variants = (str(ORIGINAL),)
    return Design(
        SHIPPED_QUESTIONNAIRE,
        model,
        AUDIT,
        1,
        EXACTLY,
        family=DEFAULTS.family,
        variants=variants,
        contexts=CONTEXTS,
    )
