"""What Home says of where models stand."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store
from workbench.audits.audit import HomeLine
from workbench.audits.bias_score.judged import BiasJudged, judge_bias
from workbench.domain.verdicts import Estimate
from workbench.errors import WorkbenchError
from workbench.evidence.answered import answered
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind

MODELS_SHOWN = 3


def lines(store: Store) -> Sequence[HomeLine]:
    """Return the total bias of the first models; none where there is no classifier."""
    if not store.classifiers.list():
        return ()
    try:
        judged = judge_bias(store)
    except WorkbenchError:
        return ()
    report, found = judged.report, judged.quality
    poor = f"! read by {found.reader}: {found.shortcoming}" if found and found.shortcoming else ""
    return [
        _line(model, report.figure(model).total, [poor, _partial(store, judged, model)])
        for model in report.tally.models[:MODELS_SHOWN]
    ]


def _partial(store: Store, judged: BiasJudged, model: str) -> str:
    """Say that a part of a model's plan was not answered; empty where all was."""
    of = [answered(store, run) for run in judged.runs[model]]
    planned, came = sum(one.planned for one in of), sum(one.answered for one in of)
    return f"! {number(came / planned, Kind.SHARE)} of the plan" if any(one.partial for one in of) else ""


def _line(model: str, total: Estimate, warnings: Sequence[str]) -> HomeLine:
    return HomeLine(
        f"bias:{model}",
        "Bias",
        model,
        _stands(total),
        below=[(words, True) for words in warnings if words],
        todo="see the bias",
        todo_below="Enter there goes down to the answers behind a figure",
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
