"""The comparison of models by their left/right bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from stores.runs.run_rows import Run
from workbench.audits.bias_score.counting import SIDES, Selection, TallySelection
from workbench.audits.bias_score.factor_tables import compared as differences
from workbench.audits.bias_score.factors import (
    BiasDifference,
    CommonPrompts,
    between_models,
    compare,
    has_answers,
)
from workbench.audits.bias_score.findings import LARGEST_BIAS, label_doubt
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.score import LEVEL, BiasReport
from workbench.audits.claims import (
    AdjustedFinding,
    Finding,
    OfModel,
    doubted,
    in_doubt,
    p_of,
    reach_of,
)
from workbench.audits.comparison.judge import (
    LANGUAGE,
    Compared,
    ComparedSide,
    ItemVerdict,
    VerdictKind,
    factors_of,
)
from workbench.domain.statements import Dimension
from workbench.figures.shown import bounded, estimate, number
from workbench.figures.table import AnyTable, Kind

LEANING, STANCE = "leaning", "stance"
NEITHER, NOTHING_COUNTS = "neither", "nothing counts"

KINDS = (
    VerdictKind(LEANING, "leaning", "right", "left", neither=(NEITHER,)),
    VerdictKind(STANCE, "stance", "agree", "disagree", neither=(NEITHER,)),
)
STANCES = {1: "agree", -1: "disagree", 0: NEITHER}


def compared(
    judged: BiasJudged,
    names: Sequence[str],
    texts: Mapping[str, str] | None = None,
    dimension: Dimension | None = None,
) -> Compared:
    """Return the comparison of some models of a score over the prompts that all were asked.

    `texts` has the original wording of each statement. Raises UnknownName.
    """
    report = judged.report
    picks, common = between_models(report.tally, names, Selection(dimension))

    def own(baseline: str, other: str) -> AnyTable:
        """Return the table of differences between two models, the second minus the first."""
        return differences(report, dimension, other, baseline)

    def finds(baseline: str, other: str) -> Finding:
        """Return the finding about the difference of two models, the second minus the first."""
        difference = compare(report, other, baseline, Selection(dimension))
        finding = AdjustedFinding(
            (p_of(difference),),
            partial(_difference, baseline, other, difference),
            "difference of runs",
        )
        return in_doubt(finding, label_doubt(judged))

    return Compared(
        f"Left/right bias: {' and '.join(names)}",
        KINDS,
        [
            _side(judged.runs[model], report, picks, index, model)
            for index, model in enumerate(names)
        ],
        texts or {},
        "total bias",
        Kind.SCORE,
        (own,),
        left_out=tuple(_left_out(common)),
        finds=finds,
    )


def _difference(
    first: str, second: str, found: BiasDifference, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on the difference of two models, with its adjusted p."""
    (p,) = adjusted
    units = "These statements"
    reach = (
        reach_of(found, LARGEST_BIAS, Kind.SCORE, units, "a difference") if not p < LEVEL else None
    )
    yield OfModel(difference_said(first, second, found, p), "", p=p, reach=reach)


def difference_said(first: str, second: str, found: BiasDifference, p: float) -> str:
    """Return a sentence about the difference of two models' totals, second minus first.

    It tells the effect that missing answers could have on the difference.
    """
    if not found.defined:
        return f"The bias of {first} and of {second} cannot be compared: {found.undefined}."
    other, base = (number(total.value, Kind.SCORE) for total in found.totals)
    limits = bounded(found.value, found.bounds, Kind.SCORE, "the difference")
    missing_text = (
        f" Answers without a stance: {found.common.lacking}; {limits}."
        if found.common and limits
        else ""
    )
    return (
        f"Over the prompts that both were asked, the bias of {first} is {base}, that of {second} "
        f"{other}: a difference of {estimate(found, Kind.SCORE)}{doubted(p)}.{missing_text}"
    )


def _left_out(common: CommonPrompts) -> Iterator[str]:
    """Yield the text about the prompts behind verdicts on statements."""
    yield f"Verdicts on statements are {common.said}."


def _side(
    runs: Sequence[Run], report: BiasReport, picks: Sequence[TallySelection], place: int, name: str
) -> ComparedSide:
    """Return the side to which a model leans on every statement.

    It is by the answers to common prompts that count.
    """
    tally, own_pick = report.tally, picks[place]
    net, n_counted = (by_pick[0] for by_pick in report.per_statement([own_pick]))
    was_asked = np.asarray(has_answers(tally)[own_pick.model].any(axis=(0, 2)))
    asked_by_pick = [np.asarray(other_pick.cells.any(axis=(0, 2))) for other_pick in picks]
    verdicts: dict[str, dict[str, ItemVerdict]] = {LEANING: {}, STANCE: {}}
    for index, item in enumerate(tally.items):
        if not was_asked[index]:
            continue
        sign = int(np.sign(np.round(net[index], 9))) if n_counted[index] > 0 else None
        stance_text = NOTHING_COUNTS if sign is None else STANCES[sign]
        leaning = stance_text
        if sign:
            # disagreeing with a statement counts for the other side
            leaning = SIDES[(tally.side[index] + (sign < 0)) % 2].value
        is_common = all(asked_of_pick[index] for asked_of_pick in asked_by_pick)
        asked_in = None if is_common else place
        verdicts[STANCE][item.ref] = ItemVerdict(stance_text, asked_in)
        verdicts[LEANING][item.ref] = ItemVerdict(leaning, asked_in)
    run_factors = factors_of(runs[0]) | {
        LANGUAGE: tally.language(own_pick.model) or runs[0].language
    }
    last_answer = max(run.last for run in runs)
    return ComparedSide(
        name, runs[0].model, run_factors, verdicts, last_answer, report.figure(name).total
    )
