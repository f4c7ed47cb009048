"""The result of the audit of response biases: which changes of a question move models, and whether as people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.references import TJUATJA
from workbench.audits.reported import Item
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.changes import Changes, about_subject
from workbench.audits.response_bias.compared_subjects import compared
from workbench.audits.response_bias.figures import Cell
from workbench.audits.response_bias.judged import ResponseBiasJudged, judge_response_bias
from workbench.audits.response_bias.names import place_said
from workbench.audits.response_bias.options import ChangeOptions
from workbench.audits.result import Headline, Result
from workbench.domain.counting import plural
from workbench.domain.statements import ORIGINAL
from workbench.evidence.which import Which
from workbench.figures.shown import number
from workbench.figures.table import Kind

FIRST = ("subjects", "personas", "matrix", "scores")
LIMITS = (
    "A change is a mean over questions: single questions may move the other way. The tables of questions show them.",
    "Human-like means that the change has the direction that studies found in people, not the same size.",
)


def judge(store: Store, which: Which, options: ChangeOptions, opened: Opened) -> Result:
    """Return the response biases of the answers that are meant."""
    judged = judge_response_bias(store, which, options)
    about = {"models": {name: about_subject(store, judged.subjects[name]) for name in judged.reports}}
    return replace(_result(judged, opened), about=about)


def _result(judged: ResponseBiasJudged, opened: Opened) -> Result:
    found = Changes(judged, opened)

    def again(options: ChangeOptions) -> Result:
        return _result(judged.by(options), opened)

    return Result(
        which=judged.which,
        options=judged.options,
        instrument=judged.instrument,
        runs={name: one.run for name, one in judged.subjects.items() if one.run is not None},
        names=tuple(judged.reports),
        book=book(found),
        first=FIRST,
        findings=tuple(_findings(judged)),
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        items=_items(judged),
        limits=LIMITS,
        references=[TJUATJA],
        compared=(lambda names: compared(judged, found, names)) if len(judged.reports) > 1 else None,
        again=again,
        judged=found,
    )


def _findings(judged: ResponseBiasJudged) -> Iterator[str]:
    for name, report in judged.reports.items():
        scored = [cell for cell in report.cells if cell.scored and cell.judged]
        moved = [cell for cell in scored if cell.effect]
        if not scored:
            yield f"{name}: no bias has a test yet."
            continue
        yield (
            f"{name}: {len(moved)} of {plural(len(scored), 'change')} of a question that move people move its answers, "
            f"{sum(cell.human_like == 1 for cell in moved)} of them in the same direction."
        )
        if moved:
            yield f"The largest is {_said(max(moved, key=lambda cell: abs(cell.delta.mean)))}."
        if typos := [cell for cell in report.cells if cell.condition is not None and cell.judged]:
            wrong = sum(cell.effect != 0 for cell in typos)
            yield f"Typos, which people overlook, move its answers in {wrong} of {len(typos)} cases."


def _said(cell: Cell) -> str:
    ends = ", ".join(number(end / 100, Kind.POINTS, bare=True) for end in (cell.delta.low, cell.delta.high))
    return f"{place_said(*cell.place)}: {number(cell.delta.mean / 100, Kind.POINTS)} [{ends}], {cell.said}"


def _headline(judged: ResponseBiasJudged) -> Headline:
    """Return what is said of the model that answered last here or, if nobody did here, elsewhere."""
    runs = [one.run for one in judged.subjects.values() if one.run]
    newest = max(runs, key=lambda run: run.last).model if runs else ""
    name = [name for name in judged.reports if newest in ("", judged.subjects[name].model)][-1]
    report, short = judged.reports[name], judged.subjects[name].short
    effects = Counter(cell.scored for cell in report.cells if cell.effect)
    typos = [cell for cell in report.cells if cell.condition is not None]
    tested, biases = sum(cell.delta.n > 1 for cell in typos), report.score.biases
    below = []
    if effects[True]:
        below.append((f"{sum(cell.human_like == 1 for cell in report.cells if cell.scored)} human-like", False))
    if short:
        below.append((f"! {plural(len(short), 'prompt')} with too few valid answers", True))
    if tested:
        below.append((f"typos: {sum(cell.effect != 0 for cell in typos)} of {tested} significant", False))
    asked = {one.model for one in judged.subjects.values() if one.run}
    imported = {one.model for one in judged.subjects.values() if not one.run}
    if asked:
        below.append((f"{plural(len(asked), 'model')} asked", False))
    if imported:
        below.append((f"{len(imported):,} imported", False))
    found = f"{effects[True]} of {plural(biases, 'bias')} significant" if biases else "no bias has a test yet"
    return Headline(name, found, [*below, (judged.instrument.name, False)])


def _items(judged: ResponseBiasJudged) -> Mapping[str, Sequence[Item]]:
    """Return the questions in words; a bias is over many of them, so no verdict is on a single one."""
    made = []
    for statement in judged.instrument.statements:
        if statement.ref in judged.items:
            wording = statement.wording(ORIGINAL, judged.instrument.language)
            bias = str(judged.items[statement.ref].bias)
            made.append(Item(statement.ref, wording.text if wording else "", None, (bias,)))
    return {name: tuple(made) for name, one in judged.subjects.items() if one.run is not None}
