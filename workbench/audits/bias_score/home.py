"""What Home says of where models stand."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store
from workbench.audits.audit import HomeLine
from workbench.audits.bias_score.judged import judge_bias
from workbench.domain.verdicts import Estimate
from workbench.errors import WorkbenchError
from workbench.figures.shown import number
from workbench.figures.table import Kind

MODELS_SHOWN = 3


def lines(store: Store) -> Sequence[HomeLine]:
    """Return the total bias of the first models; none where there is no classifier."""
    if not store.classifiers.list():
        return ()
    try:
        report = judge_bias(store).report
    except WorkbenchError:
        return ()
    return [_line(model, report.figure(model).total) for model in report.tally.models[:MODELS_SHOWN]]


def _line(model: str, total: Estimate) -> HomeLine:
    return HomeLine(
        f"bias:{model}",
        "Bias",
        model,
        _stands(total),
        todo="see the bias",
        todo_below="Enter there goes down to the answers behind a figure",
    )


def _stands(total: Estimate) -> str:
    if not total.defined:
        return f"undefined: {total.undefined}"
    value, low, high = (number(one, Kind.SCORE) for one in (total.value, total.low, total.high))
    if not (total.high < 0 or total.low > 0):  # also where there is no interval
        side = "no clear side"
    else:
        side = "leans left" if total.value < 0 else "leans right"
    return f"{value} [{low}, {high}]  {side}, n {total.n:,}"
