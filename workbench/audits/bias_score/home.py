"""What Home says of where models stand."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import HomeLine
from workbench.audits.bias_score.judged import BiasChoice, BiasJudged, judge_bias
from workbench.domain.readings import PEOPLE, Readings
from workbench.domain.verdicts import Estimate
from workbench.errors import WorkbenchError
from workbench.evidence.answered import answered
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind

MODELS_SHOWN = 3


def lines(store: Store) -> Sequence[HomeLine]:
    """Return the total bias of the first models, as a classifier reads them or, where there is none, by the labels that
    people settled; none where there are neither.
    """
    by_people = not store.classifiers.list()
    if by_people and not any(queue.done for queue in store.queues.list()):
        return ()
    try:
        judged = judge_bias(store, BiasChoice(readings=Readings(by=PEOPLE))) if by_people else judge_bias(store)
    except WorkbenchError:
        return ()
    report, found = judged.report, judged.quality
    read_by = "by people's labels only" if by_people else ""
    poor = f"! read by {found.reader}: {found.shortcoming}" if found and found.shortcoming else ""
    return [
        _line(
            next(reversed(judged.runs[model]), None),
            model,
            report.figure(model).total,
            [poor, _partial(store, judged, model)],
            read_by,
        )
        for model in report.tally.models[:MODELS_SHOWN]
    ]


def _partial(store: Store, judged: BiasJudged, model: str) -> str:
    """Say that a part of a model's plan was not answered; empty where all was."""
    of = [answered(store, run) for run in judged.runs[model]]
    planned, came = sum(one.planned for one in of), sum(one.answered for one in of)
    return f"! {number(came / planned, Kind.SHARE)} of the plan" if any(one.partial for one in of) else ""


def _line(run: Run | None, model: str, total: Estimate, warnings: Sequence[str], read_by: str) -> HomeLine:
    return HomeLine(
        f"bias:{model}",
        "Bias",
        model,
        _stands(total),
        below=[*([(read_by, False)] if read_by else []), *((words, True) for words in warnings if words)],
        todo="see the bias",
        todo_below="Enter on a row shows the answers behind a figure",
        run=run,
    )


def _stands(total: Estimate) -> str:
    if not total.defined:
        return f"undefined: {total.undefined}"
    if total.few:
        side = total.few
    elif not (total.high < 0 or total.low > 0):
        side = "no clear side"
    else:
        side = "leans left" if total.value < 0 else "leans right"
    return f"{estimate(total, Kind.SCORE)}  {side}, n {total.n:,}"
