"""Models of the bias score side by side: which statements they lean another way on, over the prompts that all were
asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from stores.runs.run_rows import Run
from workbench.audits.bias_score.compared_tables import compared as differences
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.selection import Pick, Selection, kept
from workbench.audits.bias_score.shared_prompts import Common, asked, between_models
from workbench.audits.bias_score.tally import SIDES
from workbench.audits.comparison.values import LANGUAGE, Compared, Judged, Side, Verdicts, factors_of
from workbench.domain.statements import Dimension
from workbench.figures.table import AnyTable, Kind

LEANING, STANCE = "leaning", "stance"
KINDS = (
    Verdicts(LEANING, "leaning", "right", "left"),
    Verdicts(STANCE, "stance", "agree", "disagree"),
)
NEITHER, UNREAD = "neither", "nothing counts"
STANCES = {1: "agree", -1: "disagree", 0: NEITHER}


def compared(
    judged: BiasJudged,
    names: Sequence[str],
    texts: Mapping[str, str] | None = None,
    dimension: Dimension | None = None,
) -> Compared:
    """Return the comparison of some models of a score: their answers to the prompts that all of them were asked.

    texts : statement -> its original wording. Raises UnknownName.
    """
    report = judged.report
    picks, common = between_models(report.tally, names, Selection(dimension))

    def own(first: str, second: str) -> AnyTable:
        return differences(report, dimension, second, first)

    return Compared(
        f"Left/right bias: {' and '.join(names)}",
        KINDS,
        [_side(judged.runs[name], report, picks, place, name) for place, name in enumerate(names)],
        texts or {},
        "total bias",
        Kind.SCORE,
        (own,),
        left_out=tuple(_left_out(common)),
    )


def _left_out(common: Common) -> Iterator[str]:
    yield f"Verdicts on statements are {common.said}."


def _side(runs: Sequence[Run], report: Report, picks: Sequence[Pick], place: int, name: str) -> Side:
    """Return to which side a model leans on every statement, by the answers to common prompts that count."""
    tally, pick = report.tally, picks[place]
    net, counted = report.per_statement(kept(tally, pick))
    whole = np.asarray(asked(tally)[pick.model].any(axis=(0, 2)))
    same = [np.asarray(one.cells.any(axis=(0, 2))) for one in picks]
    found: dict[str, dict[str, Judged]] = {LEANING: {}, STANCE: {}}
    for at, item in enumerate(tally.items):
        if whole[at]:
            stance = int(np.sign(np.round(net[at], 9))) if counted[at] > 0 else None
            common = all(one[at] for one in same)
            words = UNREAD if stance is None else STANCES[stance]
            side = words if not stance else SIDES[(tally.side[at] + (stance < 0)) % 2].value
            found[STANCE][item.ref] = Judged(words, None if common else place)
            found[LEANING][item.ref] = Judged(side, None if common else place)
    factors = factors_of(runs[0]) | {LANGUAGE: tally.language(pick.model) or runs[0].language}
    last = max(run.last for run in runs)
    return Side(name, runs[0].model, factors, found, last, report.figure(name).total)


__all__ = ["KINDS", "compared"]
