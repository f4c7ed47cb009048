"""Every single prediction as a CSV file: for analyses of people that no figure here makes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from stores.store import Store
from workbench.audits.questionnaire_figures import Condition
from workbench.csv_files import csv_text, guarded
from workbench.pipeline.questionnaire import QuestionnaireJudged
from workbench.pipeline.questionnaire_asked import UNREADABLE, AskedRow, asked

FILE = "respondents.csv"
OF = ("instrument", "model", "revision", "dtype", "condition", "context_seed", "first_questions", "target", "wording")
PREDICTED = ("respondent", "answer", "human", "yes", "no", "p_yes", "predicted", "correct", "outdated", "masses")
"""`answer` as it was given; `human` and `predicted`: 1 yes, 0 no, empty where neither could be read; `yes` and `no`:
probability masses; `p_yes`: yes / (yes + no); `correct` and `outdated`: 1 or 0
"""


def respondents_csv(
    store: Store,
    judged: QuestionnaireJudged,
    conditions: Mapping[str, Sequence[Condition]] | None = None,
    target: str | None = None,
) -> str:
    """Return a row for each person and each wording of a target that was predicted for them, of all models.

    `conditions`: those of each model that are wanted; None: all. `target`: only this one. Without context one prompt
    stands for everybody: each person has a row of it. People who answered neither yes nor no have none.
    """
    return csv_text((*OF, *PREDICTED), _rows(store, judged, conditions, target))


def _rows(
    store: Store,
    judged: QuestionnaireJudged,
    conditions: Mapping[str, Sequence[Condition]] | None,
    target: str | None,
) -> Iterator[tuple[str, ...]]:
    masses = judged.choice.options.masses
    for name, report in judged.reports.items():
        run, of = judged.runs[name], report.predictions
        for condition in report.conditions if conditions is None else conditions[name]:
            drawn = (condition.name, str(condition.seed or ""), str(condition.questions or ""))
            for ref in of.targets if target is None else (target,):
                for wording in of.wordings:
                    about = (judged.instrument.name, name, run.revision, run.dtype, *drawn, ref, str(wording))
                    for row in asked(store, judged, name, ref, condition, wording):
                        yield tuple(map(guarded, (*about, *_cells(row), masses)))


def _cells(row: AskedRow) -> tuple[str, ...]:
    return (
        row.respondent,
        row.value,
        str(row.human),
        _number(row.yes),
        _number(row.no),
        _number(row.p_yes),
        "" if row.predicted == UNREADABLE else str(row.predicted),
        str(int(row.correct)),
        str(int(row.outdated)),
    )


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.10g}"
