"""Predictions for tests, from tables of masses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, ModelPredictions
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind

QM, ZERO_SHOT, RANDOM = Condition("qm"), Condition("zero-shot"), Condition("random", 1)
FEW = PredictionOptions(draws=400)
NAN = float("nan")

Masses = tuple[npt.ArrayLike, npt.ArrayLike]
"""of yes and of no: (T, R), or (T,) for prompts that show nobody's answers; NaN where nothing was
asked"""


def paraphrase(number: int) -> VariantId:
    return VariantId(VariantKind.PARAPHRASE, number)


def predicted(
    human: npt.ArrayLike,
    cells: Mapping[tuple[Condition, VariantId], Masses],
    *,
    leanings: tuple[Pole | None, ...] | None = None,
    names: tuple[str, ...] | None = None,
    unoffered: bool = False,
) -> ModelPredictions:
    """Make the rows of some cells; respondents without an answer are not asked.

    `unoffered`: every mass is NaN, as of a backend that does not say them.
    """
    answers = np.atleast_2d(np.asarray(human, dtype=np.float64))
    targets, people = answers.shape
    conditions = tuple(dict.fromkeys(condition for condition, _ in cells))
    wordings = tuple(dict.fromkeys(wording for _, wording in cells))
    rows: list[tuple[int, int, int, int, float, float]] = []
    for (condition, wording), masses in cells.items():
        yes, no = (np.asarray(mass, dtype=np.float64) for mass in masses)
        for t in range(targets):
            for r in [NEVER_ASKED] if yes.ndim == 1 else range(people):
                at = (t,) if r == NEVER_ASKED else (t, r)
                if np.isnan(yes[at]) or (r != NEVER_ASKED and np.isnan(answers[t, r])):
                    continue
                row = (conditions.index(condition), t, wordings.index(wording), r)
                rows.append((*row, *((NAN, NAN) if unoffered else (float(yes[at]), float(no[at])))))
    table = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    condition_, target, wording_, respondent = table[:4].astype(np.int64)
    return ModelPredictions(
        targets=tuple(f"13.{t + 1}" for t in range(targets)),
        leanings=leanings or (None,) * targets,
        respondents=names or tuple(f"p{r:04}" for r in range(people)),
        human=answers,
        conditions=conditions,
        wordings=wordings,
        condition=condition_,
        target=target,
        wording=wording_,
        respondent=respondent,
        yes=table[4],
        no=table[5],
    )


def asked(human: npt.ArrayLike, yes: npt.ArrayLike, no: npt.ArrayLike) -> ModelPredictions:
    """Make predictions under qm, in the original wording."""
    answers = np.atleast_2d(np.asarray(human, dtype=np.float64))
    masses = (np.broadcast_to(mass, answers.shape) for mass in (np.asarray(yes), np.asarray(no)))
    first, second = masses
    return predicted(answers, {(QM, ORIGINAL): (first, second)})
