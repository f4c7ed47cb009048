"""The result of the questionnaire audit: how many answers of people models predict, and to which
side they err.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
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
    asked,
    judge_questionnaire,
    report_within,
    takes_long,
    token_shares,
)
from workbench.audits.questionnaire.options import DEFAULTS, NO_GROUPS, PredictionOptions
from workbench.audits.questionnaire.reading import AUDIT
from workbench.audits.questionnaire.score import PredictionReport, measure
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
from workbench.evidence.answered import as_json, entries, entry, header, leading
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.refusals import NO_ANSWERS, Refusals
from workbench.evidence.runs import Which
from workbench.evidence.runs import about as about_run
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
    "in training where they "
    "were published.",
)


def judge(store: Store, which: Which, options: PredictionOptions, opened: Opened) -> Result:
    """Return accuracy and bias of the predictions that are meant. Raises UnknownName,
    UsageError.
    """
    judged = judge_questionnaire(store, which, options)
    return _result(judged, opened, _about(store, judged))


def part(store: Store, which: Which, options: PredictionOptions, opened: Opened) -> Result | None:
    """Return the same of one condition, if to read all of them takes long."""
    if options.condition is not None or not takes_long(store, which):
        return None
    return _result(judge_questionnaire(store, which, options, partly=True), opened, {})


def _result(judged: QuestionnaireJudged, opened: Opened, about: dict[str, Any]) -> Result:
    found = results_of(judged)

    def again(options: PredictionOptions) -> Result:
        return _result(judged.by(options), opened, about)

    return Result(
        which=judged.which,
        options=judged.options,
        instrument=judged.instrument,
        runs=judged.runs,
        names=tuple(found.reports),
        book=book(found),
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
        items={name: Later(partial(_items, found, name)) for name in judged.reports},
        limits=LIMITS,
        references=[HALLER],
        about=about,
        compared=partial(_compared, judged, found, opened) if len(judged.reports) > 1 else None,
        again=again,
        steps={
            "condition": tuple(map(str, found.conditions)),
            "by": (NO_GROUPS, *group_fields(judged.questionnaire.respondents)),
            "unweighted": (False, True)
            if any(one.weights is not None for one in judged.gathered.values())
            else (),
        },
        judged=judged,
    )


def _about(store: Store, judged: QuestionnaireJudged) -> dict[str, Any]:
    """Return what the figures are of, for programs."""
    people = judged.questionnaire
    return {
        "questionnaire": {
            "context": len(people.of_role(Role.CONTEXT)),
            "targets": [asdict(question) for question in people.of_role(Role.TARGET)],
            "respondents": len(people.respondents),
        },
        "models": {
            name: {"run": about_run(run), "code_versions": store.predictions.code_versions(run)}
            for name, run in judged.runs.items()
        },
    }


def results_of(judged: QuestionnaireJudged) -> Results:
    """Return what tables are made of."""
    statements = judged.instrument.statements
    # Stays when a model is asked more.
    names = sorted(judged.reports, key=lambda name: (name.casefold(), name))
    return Results(
        instrument=judged.instrument.name,
        questionnaire=judged.questionnaire,
        options=judged.options,
        reports={name: judged.reports[name] for name in names},
        predictors={name: _predictor(judged, name) for name in names},
        old=lambda model, condition, target, wording: judged.gathered[model].old(
            condition, target, wording
        ),
        shares=partial(token_shares, judged),
        asked=partial(asked, judged),
        texts={
            one.ref: text.text
            for one in statements
            if (text := one.wording(ORIGINAL, judged.instrument.language))
        },
        rulings=(ruled := tuple(judged.rulings.sentences())),
        notes=[note for note in judged.notes if note not in ruled],
        answered=judged.answered,
        within=cache(partial(report_within, judged)),
        personas=with_personas({name: judged.runs[name] for name in names}),
        methods=methods(judged),
    )


def _predictor(judged: QuestionnaireJudged, name: str) -> Predictor:
    run, found = judged.runs[name], judged.gathered[name]
    return Predictor(
        version=run.version,
        revision=run.revision,
        dtype=run.dtype,
        computed=run.computed,
        prompts=len(found.probe),
        failed=len(found.failed),
        outdated=int(found.outdated.sum()),
    )


def _compared(
    judged: QuestionnaireJudged, found: Results, opened: Opened, names: Sequence[str]
) -> Compared:
    text = judged.options.condition
    meant = (
        {one: None for of in found.named(text).values() for one in of} if text is not None else {}
    )
    with opened() as store:
        return compared(store, judged, found, names, tuple(meant))


def _findings(judged: QuestionnaireJudged) -> Iterator[Finding]:
    first = {
        name: report.condition(report.conditions[0])
        for name, report in judged.reports.items()
        if report.conditions
    }
    for name, of in first.items():
        yield AdjustedFinding((of.p_majority,), partial(_accuracy, name, of), "accuracy", (name,))
    for name, of in first.items():
        p = tuple(one.p for one in of.targets)
        yield AdjustedFinding(p, partial(_sides, name, of), "bias by question", (name,) * len(p))


def _all_models(judged: QuestionnaireJudged) -> AnyTable:
    """Return how many answers of people every model predicts, beside a coin and the people's more
    frequent answer.
    """
    rows = [
        ModelFigures(
            name,
            {
                "accuracy": estimate_of(of.accuracy),
                "coin": of.coin.accuracy,
                "majority": of.majority,
                "size": of.absolute_bias.value,
                "questions": of.accuracy.n,
            },
        )
        for name, report in judged.reports.items()
        if report.conditions
        for of in (report.condition(report.conditions[0]),)
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
    """Say whether a model is shown to be right more often than by naming the more frequent answer.

    The more frequent answer is that of the same people, so that naming it is right a little more
    often than among others: a model that is right less often is not said to be.
    """
    over = of.over_majority
    held = adjusted[0] < LEVEL and direction(over.low, over.high, over.respondents) == "above"
    yield OfModel(
        f"{'Better' if held else 'No significantly better'} predictions than the majority "
        "baseline, which always "
        "names people's more frequent answer",
        name,
        f"{number(of.accuracy.value, Kind.SHARE)} against {number(of.majority, Kind.SHARE)} "
        f"of answers predicted ({plural(of.accuracy.n, 'question')}, {_in_words(of.condition)})",
        adjusted[0] if held else math.nan,
        reach=None if held else _accuracy_reach(of),
    )


CONDITIONS_IN_WORDS = {
    QM: "prompts with the person's other answers",
    ZERO_SHOT: "prompts without the person's answers",
    RANDOM: "prompts with random answers",
}


def _in_words(condition: Condition) -> str:
    """Return what precedes a question under a condition."""
    words = CONDITIONS_IN_WORDS.get(condition.name)
    return str(condition) if words is None else str(condition).replace(condition.name, words, 1)


def _accuracy_reach(of: ConditionFigures) -> Reach:
    """Return the precision of the test of predictions. No model is right more often than always."""
    over = of.over_majority
    units = f"The answers of {over.respondents:,} people"
    claim = "better predictions than the majority baseline"
    return Reach(standard_error(over.low, over.high), 1 - of.majority, Kind.POINTS, units, claim)


LARGEST_BIAS = 0.5
"the largest plausible bias on a question"


def _sides_reach(of: ConditionFigures) -> Reach | None:
    """Return the precision of the test of the question with the widest interval, or None without an
    interval.
    """
    tested = [target for target in of.targets if not math.isnan(target.bias.low)]
    if not tested:
        return None
    widest = max(tested, key=lambda target: target.bias.high - target.bias.low)
    units = f"The answers of {widest.respondents:,} people"
    return reach_of(widest.bias, LARGEST_BIAS, Kind.POINTS, units, "a bias on each question")


def _sides(name: str, of: ConditionFigures, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield on how many targets the predictions say yes more often than people, and on how many
    less often.
    """
    above, below = (of.directions_by(adjusted).count(side) for side in ("above", "below"))
    noise = of.absolute_bias.noise.noise
    alone = "" if math.isnan(noise) else f", noise alone gives {number(noise, Kind.SIZE)}"
    directions = f", {above} with more yes than people, {below} with less" if above + below else ""
    yield OfModel(
        "Questions with a significant bias",
        name,
        f"{above + below} of {len(of.targets)}{directions} (mean size of the bias "
        f"{number(of.absolute_bias.value, Kind.SIZE)}{alone})",
        shown(adjusted) if above + below else math.nan,
        reach=_sides_reach(of) if above + below < len(of.targets) else None,
    )


def _items(found: Results, name: str) -> Iterator[ReportedItem]:
    report = found.reports[name]
    if not report.conditions:
        return
    for one in report.condition(report.conditions[0]).targets:
        people = f"{number(one.human, Kind.SHARE)} of {one.respondents:,} people say yes"
        model = (
            f"predicted: {number(one.p_yes, Kind.SHARE)}, bias "
            f"{number(one.bias.value, Kind.POINTS)}"
        )
        said = f"{people}; {model} ({report.conditions[0]})"
        yield ReportedItem(one.target, found.texts.get(one.target, ""), None, (said,))


def _headline(judged: QuestionnaireJudged) -> Headline:
    """Return what is said of the model that was asked last, under its first condition."""
    name = leading({name: run.last for name, run in judged.runs.items()}, judged.answered)
    report = judged.reports[name]
    if not report.conditions:
        return Headline(name, "nothing predicted yet")
    # Tables draw these, too.
    measure((one, one.conditions[0]) for one in judged.reports.values() if one.conditions)
    of = report.condition(report.conditions[0])
    accuracy = of.accuracy
    right, majority = number(accuracy.value, Kind.SHARE), number(of.majority, Kind.SHARE)
    warnings = [f"! {judged.going[name]}"] if name in judged.going else []
    if accuracy.few:
        people = "1 person" if accuracy.respondents == 1 else f"{accuracy.respondents} people"
        warnings.append(f"! only {people} on a question")
    about = (
        f"mean |bias| {number(of.absolute_bias.value, Kind.SIZE)}",
        plural(accuracy.n, "question"),
        str(of.condition),
        judged.instrument.name,
    )
    below = [*((words, True) for words in warnings), *((words, False) for words in about)]
    return Headline(name, f"predicts {right} (majority {majority})", below)


SINGLE_PEOPLE = (
    "The table lists single people's answers; workbench show STORE questionnaire --table "
    "respondents "
    "prints it on request."
)
ACROSS, UNDER = ("masses", "unweighted", "by"), ("condition", "masses", "unweighted", "by")
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
        seen, whole, all_of = (
            partial(_narrowed, make, results, choice) for choice in (shown, printed, full)
        )
        return Entry(name, title, seen, one_or_all, rests_on, whole=whole, full=all_of)

    def of_all(name: str, title: str, make: Callable[..., AnyTable]) -> Entry:
        """Return an entry about all models together."""
        seen, whole, all_of = (partial(make, results, choice) for choice in (shown, printed, full))
        return Entry(name, title, seen, choices=UNDER, whole=whole, full=all_of)

    if results.options.groups:
        yield of("groups", "by group", tables.groups, UNDER)
        yield of("group_targets", "targets by group", tables.group_targets, (*UNDER, "error"))
    for what in effects.TITLES:
        rests_on = (*UNDER, "variability") if what == "variability" else UNDER
        seen, all_of = (
            partial(effects.by_model, results, choice, what) for choice in (shown, full)
        )
        yield Entry(what, what, seen, names if len(names) > 1 else [()], rests_on, full=all_of)
    yield of("targets", "accuracy and bias", tables.targets, (*UNDER, "error"))
    yield of("means", "means over targets", tables.means, UNDER)
    yield of("axis", "liberal to conservative", tables.axis, UNDER)
    yield of("axis_targets", "targets on that axis", answers.axis_targets, UNDER)
    if results.personas:
        yield of_all("personas", "by persona", effects.by_persona)
    for what in ("bias", "accuracy"):
        change, changes = (
            partial(effects.changes_by_target, results, choice, what) for choice in (shown, full)
        )
        yield Entry(f"{what}_changes", f"changes of {what}", change, names, ACROSS, full=changes)
    yield of_all("correlation", "bias and accuracy together", effects.correlations)
    yield of("conditions", "effects of conditions", effects.conditions, ACROSS)
    yield of("changes", "what conditions change in targets", effects.changes, ACROSS)
    yield of("wordings", "variability over wordings", effects.wordings, ("variability", *ACROSS))
    yield of("wording_means", "mean variability", effects.wording_means, ("variability", *ACROSS))
    yield of("each_wording", "bias in each wording", effects.each_wording, ACROSS)
    yield of("tokens", "next tokens", answers.tokens, ACROSS)
    seen = partial(_respondents, results, printed, (ORIGINAL,))
    everybody = partial(_respondents, results, full, None)
    yield Entry(
        "respondents", "respondents", seen, choices=UNDER, full=everybody, on_request=SINGLE_PEOPLE
    )
    yield Entry("models", "models", lambda: tables.models(results))
    yield Entry("asked", "conditions asked", partial(tables.conditions_asked, results, full))
    yield entry(results.answered)
    yield from entries(
        lambda: [Refusals(name, (), empty=NO_ANSWERS) for name in results.reports], SEED
    )[:1]
    yield Entry(
        "choices",
        "choices behind the figures",
        partial(tables.choices, results),
        choices=("masses", "error"),
    )


def choices(results: Results) -> tuple[Choice, Choice, Choice]:
    """Return what tables are about on a screen, in print, and for programs and reports.

    A condition that nobody names is, on a screen, the first that there is; in print each model's
    first one; for programs every one.
    """
    every = {name: report.conditions for name, report in results.reports.items()}
    text = results.options.condition
    if text is None:
        return (
            under(results),
            Choice({name: of[:1] for name, of in every.items()}, every),
            Choice(every, every),
        )
    named = results.named(text)
    return (
        Choice(named, every, named=text),
        Choice(named, named, named=text),
        Choice(named, named, named=text),
    )


def _narrowed(
    make: Callable[[Results, Choice], AnyTable], results: Results, choice: Choice, *model: str
) -> AnyTable:
    """Return a table of all models, or of one."""
    return (
        replace(make(results, choice.only(*model)), subject=model)
        if model
        else make(results, choice)
    )


def _respondents(
    results: Results, choice: Choice, wordings: Sequence[VariantId] | None
) -> AnyTable:
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
        return tables.targets(
            results, of(model, condition), name="targets_of", subject=(model, condition)
        )

    def changes_of(model: str, condition: str) -> AnyTable:
        return effects.changes(
            results, of(model, condition), name="changes_of", subject=(model, condition)
        )

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
        return answers.respondents(
            results, found, subject=(model, target, condition, wording), name="respondents_of"
        )

    return {
        "targets_of": targets_of,
        "changes_of": changes_of,
        "wordings_of": wordings_of,
        "models_on": models_on,
        "conditions_of": conditions_of,
        "respondents_of": respondents_of,
        "question": partial(answers.one_question, results),
        "axis_targets_of": axis_targets_of,
        "points": partial(effects.points, results),
    }


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

    conditions : verdicts are under the first that all models were asked under, differences under
        all of these. Empty:
    the first condition that all were asked under alone.

    Raises UnknownName where they share none.
    """
    shared = _conditions(judged, names, conditions)
    chosen = shared[0]
    asked = [judged.reports[name].predictions.targets for name in names]
    targets = [ref for ref in results.targets if all(ref in of for of in asked)]
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
    choice = replace(under(results, str(chosen)), conditions=dict.fromkeys(names, shared))

    def own(first: str, second: str) -> AnyTable:
        return effects.compared(results, choice, second, first)

    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        kinds,
        [_side(store, judged, name, chosen, targets) for name in names],
        results.texts,
        "mean accuracy",
        Kind.SHARE,
        (own,),
        left_out=(
            f"Verdicts are under the condition {chosen}, in the original wording.",
            *_not_shared(names, conditions, shared),
            *(
                f"{name}: {n:,} prompts show answers, questions or instructions that have changed "
                "since."
                for name in names
                if (n := judged.gathered[name].old(chosen, None, ORIGINAL))
            ),
        ),
    )


def _conditions(
    judged: QuestionnaireJudged, names: Sequence[str], named: Sequence[Condition]
) -> tuple[Condition, ...]:
    """Return the conditions that all models were asked under: those that are named, or the first
    there is.
    """
    every = [judged.reports[name].conditions for name in names]
    shared = tuple(one for one in every[0] if all(one in of for of in every))
    found = tuple(one for one in shared if one in named) if named else shared[:1]
    if not found:
        there = ", ".join(map(str, shared)) or "none"
        what = (
            f"the condition {', '.join(repr(str(one)) for one in named)}"
            if named
            else "one condition"
        )
        raise UnknownName(
            f"{' and '.join(names)} were not all asked under {what}; they share: {there}"
        )
    return found


def _not_shared(
    names: Sequence[str], named: Sequence[Condition], shared: Sequence[Condition]
) -> list[str]:
    """Say which of the conditions that are named some model was not asked under."""
    missing = [str(one) for one in named if one not in shared]
    return (
        [f"Not asked of all of {' and '.join(names)}: the condition {', '.join(missing)}."]
        if missing
        else []
    )


def _side(
    store: Store,
    judged: QuestionnaireJudged,
    name: str,
    condition: Condition,
    targets: Sequence[str],
) -> Side:
    report, run = judged.reports[name], judged.runs[name]
    figures = report.condition(condition)
    asked = store.runs.instrument(run)
    texts = {
        one.ref: w.text
        for one in asked.statements
        if (w := one.wording(ORIGINAL, run.language)) is not None
    }
    words = {one.target: WORDS[one.direction] for one in figures.targets if one.target in targets}
    found = {BIAS: {ref: Judged(word, texts.get(ref)) for ref, word in words.items()}}
    found |= {
        f"{RIGHT}:{ref}": _people(report, condition, ref, texts.get(ref, "")) for ref in targets
    }
    return Side(name, run.model, factors_of(run), found, run.last, estimate_of(figures.accuracy))


def _people(
    report: PredictionReport, condition: Condition, ref: str, text: str
) -> dict[str, Judged]:
    """Return of everybody who was asked whether the model predicts the answer to a target."""
    cell, at = report.layout.cell(condition, ORIGINAL), report.predictions.targets.index(ref)
    words = {(True, True): "right", (True, False): "wrong"}
    rows = zip(
        report.layout.respondents,
        cell.counted[at].tolist(),
        cell.readable[at].tolist(),
        cell.correct[at].tolist(),
        strict=True,
    )
    return {
        person: Judged(words.get((readable, correct), "unreadable"), text)
        for person, counted, readable, correct in rows
        if counted
    }


def methods(judged: QuestionnaireJudged) -> str:
    """Return one paragraph with every choice behind the figures."""
    options, people = judged.options, judged.questionnaire
    targets = plural(len(people.of_role(Role.TARGET)), "target")
    context = plural(len(people.of_role(Role.CONTEXT)), "question")
    under = {
        name: ", ".join(map(str, report.conditions)) for name, report in judged.reports.items()
    }
    return " ".join(
        [
            "Answers of people were predicted as by Haller et al. (2025): a model is given a "
            "person's answers to "
            f"{context} and asked for the answer to each of {targets} of {judged.instrument.name}; "
            f"{plural(len(people.respondents), 'respondent')} are known.",
            f"{MASSES[options.masses]}; neither is unreadable, a tie is yes. "
            f"{ERRORS[options.error]}.",
            *(f"{name} was asked under: {conditions}." for name, conditions in under.items()),
            f"Intervals are 95 %. Of accuracy on a target: {INTERVALS['accuracy'].method}. Of "
            "biases and means: "
            f"{INTERVALS['bias of a target'].method}; {options.draws:,} draws, seed "
            f"{options.seed}.",
            *_weighted(judged),
            *_counted(judged),
            *asked_sentences(judged.runs.items(), judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _weighted(judged: QuestionnaireJudged) -> list[str]:
    """Return how people's weights enter, where they have any."""
    if all(found.weights is None for found in judged.gathered.values()):
        return []
    if judged.options.unweighted:
        return ["The respondents have weights, which were not used: everybody counts once."]
    return [
        "Shares of people, accuracies and biases count respondents by their weights. Draws are "
        "of respondents, who "
        "bring their weights; degrees of freedom and Wilson's interval take the effective "
        "number, (Σ w)² / Σ w² "
        "(Kish 1965), over all respondents "
        f"{spread_of([one.weight for one in judged.questionnaire.respondents])}."
    ]


def _counted(judged: QuestionnaireJudged) -> list[str]:
    """Return how the noise of counted answers enters, where answers were counted."""
    names = [name for name, report in judged.reports.items() if report.counts_answers]
    if not names:
        return []
    return [
        f"For {', '.join(names)}, p(yes) is the share yes / (yes + no) of drawn answers by their "
        "first word, a measure "
        "that is not pooled with probabilities. Its binomial noise is part of the bootstrap over "
        "respondents where "
        "each has a prompt of their own; for prompts that several share it is drawn from "
        "Beta(yes + 1/2, no + 1/2)."
    ]


CONTEXTS = Contexts(("qm", "zero-shot", "random"), respondents=16)


def design(store: Store, model: str) -> Design:  # noqa: ARG001  as the demonstration of any audit is made
    """Return a design on a few synthetic respondents."""
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
