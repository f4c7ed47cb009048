"""The comparison of reliable stances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from stores.core.store import Store
from workbench.audits.comparison.judge import (
    MODEL,
    Compared,
    ComparedSide,
    ItemVerdict,
    VerdictKind,
    factors_of,
)
from workbench.audits.consistency import tables as tables
from workbench.audits.consistency.judged import ConsistencyJudged
from workbench.audits.consistency.stances import Stances
from workbench.audits.reliability.compared import (
    shared_templates,
    templates_left_out,
    texts_asked,
    unequal_numbers,
)
from workbench.figures.table import AnyTable
from workbench.stats.arrays import BoolArray

STANCE, FEW = "stance", "few"

KINDS = (VerdictKind(STANCE, "reliable stance", "agree", "disagree", neither=("mixed", "none")),)


def compared(store: Store, judged: ConsistencyJudged, names: Sequence[str]) -> Compared:
    """Return the comparison of the reliable stances of models, or of a model and a baseline.

    Raises UnknownName, UsageError.
    """
    result = judged.result
    respondents = {name: result.respondent(name) for name in names}
    runs = {
        judged_run.name: judged_run.run
        for judged_run in judged.runs
        if judged_run.name in respondents
    }
    reports = {
        judged_run.name: judged_run.report
        for judged_run in judged.runs
        if judged_run.name in respondents
    }
    shared, unequal = shared_templates(runs, reports), unequal_numbers(reports)
    texts = {
        name: dict(texts_asked(store.runs.instrument(run), reports[name], run.language))
        for name, run in runs.items()
    }
    # A baseline has no texts of its own
    default_texts: Mapping[str, object] = next(iter(texts.values()), {})
    compared_sides = []
    for name, respondent in respondents.items():
        stances = respondent.under_templates(shared[name]) if name in shared else respondent
        verdicts = {STANCE: _verdicts(stances, texts.get(name, default_texts))}
        run = runs.get(name)
        factors = {MODEL: name} if run is None else factors_of(run)
        compared_sides.append(
            ComparedSide(name, factors[MODEL], factors, verdicts, "" if run is None else run.last)
        )
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        compared_sides,
        judged.texts,
        differences=[
            partial(_difference_table, judged, index)
            for index in range(1 + len(judged.options.formulas))
        ],
        left_out=tuple(templates_left_out(reports, shared)),
        untested=unequal
        and f"which stances are reliable depends on the number of answers, and {unequal}",
    )


def _verdicts(stances: Stances, texts: Mapping[str, object]) -> dict[str, ItemVerdict]:
    """Return the verdict on every completely asked statement that rulings do not exclude."""
    verdicts = {}
    for column, ref in enumerate(stances.statements):
        included = ~stances.ruled_out[:, column]
        if ref not in stances.complete or not included.any():
            continue
        verdicts[ref] = ItemVerdict(_verdict(stances, column, included), texts.get(ref))
    return verdicts


def _verdict(stances: Stances, column: int, included: BoolArray) -> str:
    """Return the stance on a statement under all templates.

    It is `mixed` if stances differ between templates, `none` if one of them has no reliable stance,
    and `few` if too few answers are readable to decide. `included` marks the templates that rulings
    do not exclude.
    """
    is_missing = stances.missing[:, column]
    signs = set(stances.values[included & ~is_missing, column].tolist())
    if len(signs) > 1 or signs == {0}:
        return "none" if 0 in signs else "mixed"
    if not signs or is_missing.any():
        return FEW
    return "agree" if signs == {1} else "disagree"


def _difference_table(judged: ConsistencyJudged, index: int, first: str, second: str) -> AnyTable:
    """Return one table of differences, second minus first.

    `index` is its place: first the one by party family, then by policy issue under each formula.
    """
    view, formulas = judged.options.view, judged.options.formulas
    return tuple(tables.differences(judged.result, second, first, view, formulas))[index]
