"""What a report says of predicted answers: how many are right, and to which side predictions lean."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict

from stores.core.store import Store
from workbench.audits.comparison.reported import comparison, names_wanted
from workbench.audits.questionnaire.book import book
from workbench.audits.questionnaire.compared import compared
from workbench.audits.questionnaire.figures import ConditionFigures, Options
from workbench.audits.questionnaire.judged import QuestionnaireChoice, QuestionnaireJudged, judge_questionnaire
from workbench.audits.questionnaire.judged_results import results_of
from workbench.audits.questionnaire.options import RESULT_OPTIONS
from workbench.audits.questionnaire.results import Choice
from workbench.audits.questionnaire.rows import AUDIT
from workbench.audits.references import HALLER
from workbench.audits.reported import Item, Reported, Wanted, parameters
from workbench.domain.names import plural
from workbench.domain.readings import Readings
from workbench.evidence.runs import of_models
from workbench.figures.shown import number
from workbench.figures.table import Kind

SOURCES = {
    "masses": "Haller et al. 2025, section 4",
    "variability": "ours: the paper prints the root mean square",
    "error": "ours: the paper takes the error of people's answers alone",
    "draws": "ours: the paper has no intervals over respondents",
    "seed": "ours",
}
LIMITS = (
    "A bias is relative to the people whose answers the questionnaire has; it says nothing about other people.",
    "The context of a target question consists of real answers: a model may have seen the questionnaire in training.",
)


def reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield a part for each questionnaire that was asked, with all models beside one another."""
    every = [run for run in store.predictions.runs(AUDIT, wanted.instrument or None) if run.responses]
    runs = of_models(store, every, wanted.models)
    for instrument in dict.fromkeys(run.instrument for run in runs):
        choice = QuestionnaireChoice(
            instrument,
            tuple(dict.fromkeys(run.model for run in runs if run.instrument == instrument)) if wanted.models else (),
            options=Options(seed=wanted.seed),
            readings=Readings(rulings=wanted.rulings),
        )
        judged = judge_questionnaire(store, choice)
        yield _part(store, judged, wanted)
        if names := names_wanted(wanted, {name: run.model for name, run in judged.runs.items()}):
            of = compared(store, judged, results_of(judged), names)
            command = f"workbench verdicts STORE --audit {AUDIT} --instrument {shlex.quote(instrument)}"
            yield comparison(of, "Predicted answers", judged.instrument, judged.runs, command, judged.rulings)


def _part(store: Store, judged: QuestionnaireJudged, wanted: Wanted) -> Reported:
    every = {name: report.conditions for name, report in judged.reports.items()}
    results = results_of(judged)
    name = judged.instrument.name
    models = f" --model {shlex.quote(','.join(wanted.models))}" if wanted.models else ""
    return Reported(
        title=f"Predicted answers to {name}",
        instrument=judged.instrument,
        runs=judged.runs,
        book=book(results, Choice(conditions=every, compared=every, wordings=None)),
        findings=tuple(_findings(judged)),
        command=f"workbench verdicts STORE --audit {AUDIT}{models} --instrument {shlex.quote(name)} "
        f"--seed {wanted.seed} --show all{'' if wanted.rulings else ' --without-rulings'}",
        answered=judged.answered,
        rulings=judged.rulings,
        changed={ref: of for run in judged.runs.values() for ref, of in store.runs.outdated(run).items()},
        items={name: tuple(_items(judged, name, results.texts)) for name in judged.reports},
        parameters=tuple(
            parameters(
                [one.but(default=wanted.seed) if one.name == "seed" else one for one in RESULT_OPTIONS],
                asdict(judged.choice.options),
                SOURCES,
                "as usual",
            )
        ),
        limits=LIMITS,
        shown=("models", "means", "targets"),
        references=[HALLER],
    )


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
        yield from _sides(name, of)


def _sides(name: str, of: ConditionFigures) -> Iterator[str]:
    """Say on how many targets the predictions say yes more often than people, and on how many less often."""
    above, below = (sum(one.direction == side for one in of.targets) for side in ("above", "below"))
    bias = number(of.absolute_bias.value, Kind.SIZE)
    yield (
        f"{name} says yes more often than people on {above} and less often on {below} of "
        f"{plural(len(of.targets), 'question')}; the size of the bias is {bias} on average."
    )


def _items(judged: QuestionnaireJudged, name: str, texts: object) -> Iterator[Item]:
    report = judged.reports[name]
    known = texts if isinstance(texts, dict) else {}
    if not report.conditions:
        return
    for one in report.condition(report.conditions[0]).targets:
        people = f"{number(one.human, Kind.SHARE)} of {one.respondents:,} people say yes"
        model = f"predicted: {number(one.p_yes, Kind.SHARE)}, bias {number(one.bias.value, Kind.POINTS)}"
        yield Item(one.target, known.get(one.target, ""), None, (f"{people}; {model} ({report.conditions[0]})",))


__all__ = ["reported"]
