"""The result of the questionnaire audit: how many answers of people models predict, and to which side they err."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.by_persona import with_personas
from workbench.audits.comparison.values import Compared
from workbench.audits.questionnaire.asked import asked, token_shares
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.compared import compared
from workbench.audits.questionnaire.figures import ConditionFigures
from workbench.audits.questionnaire.judged import QuestionnaireJudged, judge_questionnaire, takes_long
from workbench.audits.questionnaire.methods import methods
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.results import Predictor, Results
from workbench.audits.references import HALLER
from workbench.audits.reported import Item
from workbench.audits.result import Headline, Later, Result
from workbench.domain.names import plural
from workbench.domain.questionnaires import Role
from workbench.domain.statements import ORIGINAL
from workbench.evidence.runs import Which
from workbench.evidence.runs import about as about_run
from workbench.figures.shown import number
from workbench.figures.table import Kind

FIRST = ("models", "targets", "means", "axis", "personas")
UNFOLDED = ("models", "means", "targets")
LIMITS = (
    "A bias is relative to the people whose answers the questionnaire has; it says nothing about other people.",
    "The context of a target question consists of real answers: a model may have seen the questionnaire in training.",
)


def judge(store: Store, which: Which, options: PredictionOptions, opened: Opened) -> Result:
    """Return accuracy and bias of the predictions that are meant. Raises UnknownName, UsageError."""
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
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(judged)),
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        items={name: Later(partial(_items, found, name)) for name in judged.reports},
        limits=LIMITS,
        references=[HALLER],
        about=about,
        compared=partial(_compared, judged, found, opened) if len(judged.reports) > 1 else None,
        again=again,
        steps={"condition": tuple(map(str, found.conditions))},
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
    names = sorted(judged.reports, key=lambda name: (name.casefold(), name))  # stays when a model is asked more
    return Results(
        instrument=judged.instrument.name,
        questionnaire=judged.questionnaire,
        options=judged.options,
        reports={name: judged.reports[name] for name in names},
        predictors={name: _predictor(judged, name) for name in names},
        old=lambda model, condition, target, wording: judged.gathered[model].old(condition, target, wording),
        shares=partial(token_shares, judged),
        asked=partial(asked, judged),
        texts={one.ref: text.text for one in statements if (text := one.wording(ORIGINAL, judged.instrument.language))},
        rulings=(ruled := tuple(judged.rulings.sentences())),
        notes=[note for note in judged.notes if note not in ruled],
        answered=judged.answered,
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


def _compared(judged: QuestionnaireJudged, found: Results, opened: Opened, names: Sequence[str]) -> Compared:
    text = judged.options.condition
    meant = {one: None for of in found.named(text).values() for one in of} if text is not None else {}
    with opened() as store:
        return compared(store, judged, found, names, tuple(meant))


def _findings(judged: QuestionnaireJudged) -> Iterator[str]:
    for name, report in judged.reports.items():
        if not report.conditions:
            continue
        condition = report.conditions[0]
        of = report.condition(condition)
        right, majority = number(of.accuracy.value, Kind.SHARE), number(of.majority, Kind.SHARE)
        yield (
            f"{name} predicts {right} of people's answers, mean over {plural(of.accuracy.n, 'question')}; always "
            f"naming the more frequent answer would be right for {majority} ({condition})."
        )
        yield _sides(name, of)


def _sides(name: str, of: ConditionFigures) -> str:
    """Say on how many targets the predictions say yes more often than people, and on how many less often."""
    above, below = (sum(one.direction == side for one in of.targets) for side in ("above", "below"))
    bias = number(of.absolute_bias.value, Kind.SIZE)
    return (
        f"{name} says yes more often than people on {above} and less often on {below} of "
        f"{plural(len(of.targets), 'question')}; the size of the bias is {bias} on average."
    )


def _items(found: Results, name: str) -> Iterator[Item]:
    report = found.reports[name]
    if not report.conditions:
        return
    for one in report.condition(report.conditions[0]).targets:
        people = f"{number(one.human, Kind.SHARE)} of {one.respondents:,} people say yes"
        model = f"predicted: {number(one.p_yes, Kind.SHARE)}, bias {number(one.bias.value, Kind.POINTS)}"
        said = f"{people}; {model} ({report.conditions[0]})"
        yield Item(one.target, found.texts.get(one.target, ""), None, (said,))


def _headline(judged: QuestionnaireJudged) -> Headline:
    """Return what is said of the model that was asked last, under its first condition."""
    name = max(judged.runs, key=lambda one: judged.runs[one].last)
    report = judged.reports[name]
    if not report.conditions:
        return Headline(name, "nothing predicted yet")
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


__all__ = ["judge", "part", "results_of"]
