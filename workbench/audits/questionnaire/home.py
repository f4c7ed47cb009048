"""What Home says of how well the newest model predicts what people answered, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store
from workbench.audits.audit import HomeLine
from workbench.audits.questionnaire.current import AUDIT
from workbench.audits.questionnaire.figures import Options
from workbench.audits.questionnaire.judged import QuestionnaireChoice, judge_questionnaire, unfinished
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.figures.shown import number
from workbench.figures.table import Kind


def lines(store: Store) -> Sequence[HomeLine]:
    """Return one line, of the newest model under its first condition."""
    runs = store.predictions.runs(AUDIT)
    if not runs:
        return ()
    run, options = runs[-1], Options(draws=100)  # few: no interval is shown
    choice = QuestionnaireChoice(run.instrument, (run.model,), run.dtype, options=options)
    try:
        judged = judge_questionnaire(store, choice)
    except WorkbenchError:
        return ()
    name, report = next(iter(judged.reports.items()))
    if not report.conditions:
        return ()
    of = report.condition(report.conditions[0])
    accuracy, bias = of.accuracy, of.absolute_bias.value
    right, majority = number(accuracy.value, Kind.SHARE), number(of.majority, Kind.SHARE)
    going = next(unfinished(store, judged.runs[name]), "")
    warnings = [f"! {going}"] if going else []
    if accuracy.few:
        people = "1 person" if accuracy.respondents == 1 else f"{accuracy.respondents} people"
        warnings.append(f"! only {people} on a question")
    about = [
        f"mean |bias| {number(bias, Kind.SIZE)}", plural(accuracy.n, "question"), str(of.condition), run.instrument
    ]  # fmt: skip
    return [
        HomeLine(
            "predictions:",
            "Predictions",
            name,
            f"predicts {right} (majority {majority})",
            [*((words, True) for words in warnings), *((words, False) for words in about)],
            todo="see the bias relative to people's answers",
            todo_below="Enter on a row shows the people whose answers were missed, and single prompts",
            run=judged.runs[name],
        )
    ]
