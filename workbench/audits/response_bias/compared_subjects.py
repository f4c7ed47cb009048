"""Ways of asking multiple-choice questions side by side: which changes of a question move one and not the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from workbench.audits.comparison.values import MODEL, SAMPLING, TEMPLATES, Compared, Judged, Side, Verdicts, factors_of
from workbench.audits.response_bias import pairs
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.deltas import human_sign
from workbench.audits.response_bias.figures import Cell
from workbench.audits.response_bias.judged import ResponseBiasJudged, Subject
from workbench.audits.response_bias.names import CONDITIONS, Place, kind_name, place_order, place_said
from workbench.audits.response_bias.uncertainty import RESOLUTION
from workbench.stats.one_sample import MeanTest, mean_test

MOVED, DIRECTION = "moved", "direction"
KINDS = (
    Verdicts(MOVED, "moved by the change", "moved", "not moved", "change", tested=False),
    Verdicts(DIRECTION, "direction of biases", "human-like", "against people", "bias", tested=False),
)
"cells of the matrix are all that there are, not a sample: no pair of them is tested, but each change over questions is"


def compared(judged: ResponseBiasJudged, found: Changes, names: Sequence[str]) -> Compared:
    """Return the comparison of subjects: each bias and perturbation over the questions that take part for all of them.

    found : what the tables of differences are made of
    """
    reports = {name: judged.reports[name] for name in names}
    alpha = judged.options.alpha
    shared: dict[Place, set[str]] = {}
    for place in sorted({cell.place for report in reports.values() for cell in report.cells}, key=place_order):
        cells = [report.find(*place) for report in reports.values()]
        keys = [set(cell.deltas.keys) for cell in cells if cell is not None]
        if len(keys) == len(cells):
            shared[place] = set.intersection(*keys)
    sides = [_side(judged.subjects[name], reports[name].cells, shared, alpha) for name in names]
    alone = {
        name: sum(len(set(cell.deltas.keys) - shared.get(cell.place, set())) for cell in reports[name].cells)
        for name in names
    }
    counts = ", ".join(f"{name} {n:,}" for name, n in alone.items() if n)
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        sides,
        {place_said(*place): CONDITIONS[place[1]] for place in shared},
        differences=[partial(make, found) for make in (pairs.compared, pairs.compared_means, pairs.sampling)],
        left_out=(
            f"Every verdict is over the questions that count in all of these; left out: {counts or 'none'}. A "
            f"change moves a model if the unadjusted p < {alpha:g}.",
        ),
    )


def _side(subject: Subject, cells: Sequence[Cell], shared: Mapping[Place, set[str]], alpha: float) -> Side:
    found: dict[str, dict[str, Judged]] = {MOVED: {}, DIRECTION: {}}
    for cell in cells:
        test = _test(cell, shared.get(cell.place, set(cell.deltas.keys)))
        moved = test.p < alpha
        found[MOVED][place_said(*cell.place)] = Judged(
            "moved" if moved else "not moved" if test.tested else "no test", kind_name(cell.bias, cell.variant)
        )
        if cell.condition is None:
            sign = human_sign(cell.bias, cell.deltas.definition) * np.sign(test.mean)
            word = "none" if test.tested else "no test"
            found[DIRECTION][place_said(*cell.place)] = Judged(
                ("human-like" if sign > 0 else "against people") if moved else word
            )
    run = subject.run
    factors = {MODEL: subject.model} if run is None else factors_of(run)
    sampling = f"{subject.way}, {run.sampling}" if run is not None and subject.way != "exact" else subject.way
    templates = ", ".join(filter(None, (factors.get(TEMPLATES, ""), subject.template)))
    factors |= {SAMPLING: sampling, TEMPLATES: templates}
    return Side(subject.name, subject.model, factors, found, "" if run is None else run.last)


def _test(cell: Cell, keys: set[str]) -> MeanTest:
    """Return the test of a cell's mean change over some of its questions."""
    at = [place for place, key in enumerate(cell.deltas.keys) if key in keys]
    return mean_test(cell.deltas.values[at], RESOLUTION)


__all__ = ["KINDS", "compared"]
