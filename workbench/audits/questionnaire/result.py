"""The result of the questionnaire audit: predicted human answers, and the direction of errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from itertools import chain
from typing import Any

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.by_persona import with_personas
from workbench.audits.comparison.judge import Compared
from workbench.audits.printed import HomeFigure
from workbench.audits.questionnaire import tables as tables
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.compared import compared
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.findings import list_findings
from workbench.audits.questionnaire.judged import (
    QuestionnaireJudged,
    judge_questionnaire,
    predictions_of,
    report_within,
    takes_long,
    token_shares,
)
from workbench.audits.questionnaire.methods import methods
from workbench.audits.questionnaire.options import DEFAULTS, NO_GROUPS, PredictionOptions
from workbench.audits.questionnaire.reading import AUDIT
from workbench.audits.questionnaire.score import compute_figures
from workbench.audits.questionnaire.tables import (
    Predictor,
    Results,
    estimate_of,
)
from workbench.audits.reported import HALLER, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.questionnaires import Contexts, QuestionRole, group_fields
from workbench.domain.responses import EXACTLY
from workbench.domain.statements import ORIGINAL
from workbench.evidence.answered import (
    leading_model,
)
from workbench.evidence.runs import AnswerSelection
from workbench.evidence.runs import run_data as about_run
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Kind

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
        findings=Later(lambda: list_findings(judged)),
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
            "context": len(questionnaire.of_role(QuestionRole.CONTEXT)),
            "targets": [
                asdict(question) for question in questionnaire.of_role(QuestionRole.TARGET)
            ],
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
    return Headline(
        name,
        f"predicts {accuracy_text} (majority {majority})",
        details,
        HomeFigure(tables.estimate_of(accuracy), Kind.SHARE, "people whose answer is predicted"),
    )


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
