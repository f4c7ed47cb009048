"""Respondents of the consistency analysis side by side: on which statements their reliable stance is another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stores.core.store import Store, at_once
from workbench.audits.comparison.values import MODEL, Compared, Judged, Side, Verdicts, factors_of
from workbench.audits.consistency import tables
from workbench.audits.consistency.judge import Formula, Stances, View
from workbench.audits.consistency.judged import ConsistencyJudged
from workbench.audits.reliability.compared import shared_templates, templates_left_out, texts_asked
from workbench.domain.statements import ORIGINAL
from workbench.figures.table import AnyTable

STANCE = "stance"
KINDS = (Verdicts(STANCE, "reliable stance", "agree", "disagree"),)


@at_once
def compared(
    store: Store,
    judged: ConsistencyJudged,
    names: Sequence[str],
    view: View = "all",
    formulas: Sequence[Formula] = ("signed",),
) -> Compared:
    """Return the comparison of models, or of a model and a baseline. Raises UnknownName, UsageError."""
    result = judged.result
    of = {name: result.respondent(name) for name in names}
    runs = {one.name: one.run for one in judged.runs if one.name in of}
    reports = {one.name: one.report for one in judged.runs if one.name in of}
    shared = shared_templates(runs, reports)
    texts = {
        name: dict(texts_asked(store.runs.instrument(run), reports[name], run.language)) for name, run in runs.items()
    }
    anybodys: Mapping[str, object] = next(iter(texts.values()), {})
    sides = []
    for name, one in of.items():
        stances = one.under(shared[name]) if name in shared else one
        found = {STANCE: _verdicts(stances, texts.get(name, anybodys))}
        run = runs.get(name)
        factors = {MODEL: name} if run is None else factors_of(run)
        sides.append(Side(name, factors[MODEL], factors, found, "" if run is None else run.last))
    instrument = store.instruments.get(judged.instrument)
    return Compared(
        f"{judged.instrument}: {' and '.join(names)}",
        KINDS,
        sides,
        {s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language)) is not None},
        differences=[_own(judged, view, formulas, place) for place in range(1 + len(formulas))],
        left_out=tuple(templates_left_out(reports, shared)),
    )


def _verdicts(stances: Stances, texts: Mapping[str, object]) -> dict[str, Judged]:
    """Return the stance on every statement of which all was asked: the same under all templates, or none."""
    found = {}
    for at, ref in enumerate(stances.statements):
        if ref in stances.complete:
            signs = set(stances.values[:, at].tolist())
            word = {frozenset({1}): "agree", frozenset({-1}): "disagree"}.get(frozenset(signs))
            found[ref] = Judged(word or ("mixed" if 0 not in signs else "none"), texts.get(ref))
    return found


def _own(
    judged: ConsistencyJudged, view: View, formulas: Sequence[Formula], place: int
) -> Callable[[str, str], AnyTable]:
    """Return what makes a table of differences by party family or policy issue, second minus first."""
    return lambda first, second: tuple(tables.differences(judged.result, second, first, view, formulas))[place]


__all__ = ["KINDS", "compared"]
