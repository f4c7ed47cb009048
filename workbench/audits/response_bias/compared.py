"""The comparison of response biases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from workbench.audits.comparison.judge import (
    MODEL,
    SAMPLING,
    TEMPLATES,
    Compared,
    ComparedSide,
    ItemVerdict,
    VerdictKind,
    factors_of,
)
from workbench.audits.response_bias import question_tables
from workbench.audits.response_bias.answers import (
    CONDITIONS,
    Place,
    kind_name,
    place_order,
    place_said,
)
from workbench.audits.response_bias.changes import LARGEST, RESOLUTION, human_sign
from workbench.audits.response_bias.judged import ResponseBiasJudged
from workbench.audits.response_bias.questions import Changes
from workbench.audits.response_bias.reading import AskedSubject
from workbench.audits.response_bias.score import ChangeCell
from workbench.stats.hypothesis_tests import mean_test

MOVED, DIRECTION = "moved", "direction"

KINDS = (
    VerdictKind(
        MOVED,
        "moved by the change",
        "moved",
        "not moved",
        "change",
        tested=False,
        neither=("no test",),
    ),
    VerdictKind(
        DIRECTION,
        "direction of biases",
        "human-like",
        "against people",
        "bias",
        tested=False,
        neither=("none", "no test"),
    ),
)
"""the cells of the matrix are no sample but all there are: no pair of them is tested, but each
change over questions is"""


def compared(judged: ResponseBiasJudged, changes: Changes, names: Sequence[str]) -> Compared:
    """Return the comparison of subjects, by bias and perturbation.

    It is over the questions that count for all of them.

    Parameters
    ----------
    changes : source of the tables of differences
    """
    reports = {name: judged.reports[name] for name in names}
    alpha = judged.options.alpha
    shared: dict[Place, set[str]] = {}
    for place in sorted(
        {cell.place for report in reports.values() for cell in report.cells}, key=place_order
    ):
        cells = [report.find(*place) for report in reports.values()]
        keys = [set(cell.deltas.keys) for cell in cells if cell is not None]
        if len(keys) == len(cells):
            shared[place] = set.intersection(*keys)
    sides = [_side(judged.subjects[name], reports[name].cells, shared, alpha) for name in names]
    n_left_out = {
        name: sum(
            len(set(cell.deltas.keys) - shared.get(cell.place, set()))
            for cell in reports[name].cells
        )
        for name in names
    }
    counts = ", ".join(
        f"{name} {n_questions:,}" for name, n_questions in n_left_out.items() if n_questions
    )
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        sides,
        {place_said(*place): CONDITIONS[place[1]] for place in shared},
        differences=[
            partial(make, changes)
            for make in (
                question_tables.compared,
                question_tables.compared_means,
                question_tables.sampling,
            )
        ],
        left_out=(
            "Every verdict is over the questions that count in all of these; left out: "
            f"{counts or 'none'}. A change moves a model if the unadjusted p < {alpha:g}.",
        ),
    )


def _side(
    subject: AskedSubject,
    cells: Sequence[ChangeCell],
    shared: Mapping[Place, set[str]],
    alpha: float,
) -> ComparedSide:
    """Return the verdicts on the cells of a subject, over the shared questions."""
    verdicts_by_kind: dict[str, dict[str, ItemVerdict]] = {MOVED: {}, DIRECTION: {}}
    for cell in cells:
        # the test of a cell's mean change over some of its questions
        keys = shared.get(cell.place, set(cell.deltas.keys))
        rows = [row for row, key in enumerate(cell.deltas.keys) if key in keys]
        values, chance = cell.deltas.values[rows], cell.deltas.by_chance[rows]
        delta = mean_test(values, RESOLUTION, LARGEST)
        shared_cell = replace(
            cell, delta=delta, beyond=mean_test(values - chance, RESOLUTION, 2 * LARGEST)
        )
        test, is_moved = shared_cell.delta, shared_cell.claim < alpha
        verdicts_by_kind[MOVED][place_said(*cell.place)] = ItemVerdict(
            "moved" if is_moved else "not moved" if test.tested else "no test",
            kind_name(cell.bias, cell.variant),
        )
        if cell.condition is None:
            sign = human_sign(cell.bias, cell.deltas.definition) * np.sign(test.mean)
            word = "none" if test.tested else "no test"
            verdicts_by_kind[DIRECTION][place_said(*cell.place)] = ItemVerdict(
                ("human-like" if sign > 0 else "against people") if is_moved else word
            )
    run = subject.run
    factors = {MODEL: subject.model} if run is None else factors_of(run)
    sampling = (
        f"{subject.way}, {run.sampling}"
        if run is not None and subject.way != "exact"
        else subject.way
    )
    templates = ", ".join(filter(None, (factors.get(TEMPLATES, ""), subject.template)))
    factors |= {SAMPLING: sampling, TEMPLATES: templates}
    return ComparedSide(
        subject.name, subject.model, factors, verdicts_by_kind, "" if run is None else run.last
    )
