"""The result of the audit of response biases: tables, comparison, findings and headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.reported import TJUATJA, ModelFigures, ReportedItem, of_all_models
from workbench.audits.response_bias import tables
from workbench.audits.response_bias.answers import (
    kind_name,
)
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.changes import human_sign
from workbench.audits.response_bias.compared import compared
from workbench.audits.response_bias.findings import SCORE_WORDS, list_findings
from workbench.audits.response_bias.judged import ResponseBiasJudged, judge_response_bias
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.questions import Changes, about_subject
from workbench.audits.response_bias.score import ChangeCell, ChangeReport
from workbench.audits.result import Headline, Result
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.evidence.runs import AnswerSelection
from workbench.figures.table import AnyTable, Kind
from workbench.stats.hypothesis_tests import holm

FIRST = ("subjects", "personas", "matrix", "scores")
LIMITS = (
    "A change is a mean over questions: single questions may move the other way. The tables of "
    "questions show them.",
    "Human-like means that the change has the direction that studies found in people, not the "
    "same size.",
)


def judge(store: Store, which: AnswerSelection, options: ChangeOptions, opened: Opened) -> Result:
    """Return the response biases of the selected answers."""
    judged = judge_response_bias(store, which, options)
    metadata = {
        "models": {name: about_subject(store, judged.subjects[name]) for name in judged.reports}
    }
    return replace(_result(judged, opened), about=metadata)


def _result(judged: ResponseBiasJudged, opened: Opened) -> Result:
    """Return the result of judged answers."""
    changes = Changes(judged, opened)

    def again(options: ChangeOptions) -> Result:
        return _result(judged.by(options), opened)

    return Result(
        which=judged.which,
        options=judged.options,
        instrument=judged.instrument,
        runs={
            name: subject.run
            for name, subject in judged.subjects.items()
            if subject.run is not None
        },
        names=tuple(judged.reports),
        book=book(changes),
        first=FIRST,
        findings=tuple(list_findings(judged)),
        all_models=lambda: _all_models(changes),
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        items=_items(judged),
        limits=LIMITS,
        references=[TJUATJA],
        compared=(lambda names: compared(judged, changes, names))
        if len(judged.reports) > 1
        else None,
        again=again,
        judged=changes,
    )


def _all_models(changes: Changes) -> AnyTable:
    """Return the table of the mean change by bias, for every model."""
    biases = [place for place in changes.places if place[1] is None and not place[2]]
    signs = {
        kind_name(place[0]): human_sign(place[0], changes.options.definition) for place in biases
    }
    values: dict[str, dict[str, Estimate | float | None]] = {}
    published = changes.options.definition is Definition.PAPER
    for name, report in changes.reports.items():
        change = tables.change_of(changes, name)
        values[name] = {kind_name(place[0]): change(place) for place in biases}
        values[name]["human_like"] = report.score.human_like if report.score.biases else None
    return of_all_models(
        "Mean change by bias",
        [ModelFigures(name, model_values) for name, model_values in values.items()],
        {
            name: f"{changes.words.get(name, name)}{' (people: below 0)' * (sign < 0)}"
            for name, sign in signs.items()
        },
        Kind.POINTS,
        more={"human_like": ("score", Kind.BALANCE)} if published else {},
        axis="mean change of the answers",
        definition="Change of the answers, in percentage points, when a question is put in "
        "another form: a line for "
        "each bias. Without a bias it is 0; above 0 is the direction in which studies found "
        "people to move, unless a "
        f"bias says otherwise.{SCORE_WORDS if published else ''}",
    )


def _headline(judged: ResponseBiasJudged) -> Headline:
    """Return the headline on the model that answered last here, or elsewhere if none did here.

    A model with a finished plan comes before the others.
    """
    name = _leading_name(judged)
    report = judged.reports[name]
    n_biases = report.score.biases
    n_significant = len(_significant(report, [cell for cell in report.cells if cell.scored]))
    text = "no bias has a test yet"
    if n_biases:
        text = f"{n_significant} of {plural(n_biases, 'bias')} significant"
    return Headline(name, text, list(_details(judged, name)))


def _significant(report: ChangeReport, cells: Sequence[ChangeCell]) -> list[ChangeCell]:
    """Return the significant ones of some cells, adjusted over these as a report does over more."""
    adjusted = holm(np.array([cell.claim for cell in cells]))
    return [
        cell
        for cell, p in zip(cells, adjusted, strict=True)
        if cell.effect and p < report.options.alpha
    ]


def _leading_name(judged: ResponseBiasJudged) -> str:
    """Return the name of the model that answered last, of those with a finished plan if any."""
    unfinished = {part.name for part in judged.answered if part.partial}
    runs = {name: subject.run for name, subject in judged.subjects.items() if subject.run}
    if not runs:
        return [*judged.reports][-1]
    recency = {
        name: (unfinished.isdisjoint((name, run.named)), run.last) for name, run in runs.items()
    }
    newest = runs[max(recency, key=lambda name: recency[name])]
    return [name for name in judged.reports if judged.subjects[name].model == newest.model][-1]


def _details(judged: ResponseBiasJudged, name: str) -> Iterator[tuple[str, bool]]:
    """Yield the texts below the headline on a model, and whether each is a warning."""
    report = judged.reports[name]
    significant = _significant(report, [cell for cell in report.cells if cell.scored])
    if significant:
        yield f"{sum(cell.human_like == 1 for cell in significant)} human-like", False
    n_short = len(judged.subjects[name].short)
    if n_short:
        yield f"! {plural(n_short, 'prompt')} with too few valid answers", True
    typos = [cell for cell in report.cells if cell.condition is not None]
    n_tested = sum(cell.delta.n > 1 for cell in typos)
    if n_tested:
        yield f"typos: {len(_significant(report, typos))} of {n_tested} significant", False
    subjects = judged.subjects.values()
    n_asked = len({subject.model for subject in subjects if subject.run})
    n_imported = len({subject.model for subject in subjects if not subject.run})
    if n_asked:
        yield f"{plural(n_asked, 'model')} asked", False
    if n_imported:
        yield f"{n_imported:,} imported", False
    yield judged.instrument.name, False


def _items(judged: ResponseBiasJudged) -> Mapping[str, Sequence[ReportedItem]]:
    """Return the questions without a verdict, because a bias is over many of them."""
    items = []
    for statement in judged.instrument.statements:
        if statement.ref in judged.items:
            wording = statement.wording(ORIGINAL, judged.instrument.language)
            bias = str(judged.items[statement.ref].bias)
            items.append(
                ReportedItem(statement.ref, wording.text if wording else "", None, (bias,))
            )
    return {
        name: tuple(items) for name, subject in judged.subjects.items() if subject.run is not None
    }
