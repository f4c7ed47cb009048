"""What a report says of response biases: which changes of a question move models, and whether as they move people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict

from stores.core.store import Store
from workbench.audits.comparison.reported import comparison, names_wanted
from workbench.audits.references import TJUATJA
from workbench.audits.reported import Item, Reported, Wanted, parameters
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.compared_subjects import compared
from workbench.audits.response_bias.figures import Cell
from workbench.audits.response_bias.judged import (
    ResponseBiasChoice,
    ResponseBiasJudged,
    instruments_with_answers,
    judge_response_bias,
)
from workbench.audits.response_bias.judged_findings import findings
from workbench.audits.response_bias.names import place_said
from workbench.audits.response_bias.options import RESULT_OPTIONS
from workbench.audits.response_bias.rows import AUDIT
from workbench.domain.readings import Readings
from workbench.domain.statements import ORIGINAL
from workbench.figures.shown import number
from workbench.figures.table import Kind

SOURCES = {
    "definition": "ours: the published code counts answers that were not on offer",
    "alpha": "Tjuatja et al. 2024, Table 3",
    "holm": "Tjuatja et al. 2024 adjust nothing",
    "entropy": "Tjuatja et al. 2024, section 3.3",
}
LIMITS = (
    "A change is a mean over questions: single questions may move the other way. The tables of questions show them.",
    "Human-like means that the change has the direction that studies found in people, not the same size.",
)


def reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield a part for each instrument of multiple-choice questions with answers, of all ways of asking."""
    for instrument in instruments_with_answers(store):
        if wanted.instrument not in ("", instrument):
            continue
        here = {run.model for run in store.predictions.runs(AUDIT, instrument)} | set(store.choices.models(instrument))
        models = tuple(name for name in wanted.models if name in here)
        if wanted.models and not models:
            continue
        choice = ResponseBiasChoice(instrument, models, readings=Readings(rulings=wanted.rulings))
        judged = judge_response_bias(store, choice)
        yield _part(store, judged, models, wanted)
        if names := names_wanted(wanted, {name: one.model for name, one in judged.subjects.items()}):
            of = compared(judged, findings(judged, lambda: nullcontext(store)), names)
            runs = {name: one.run for name, one in judged.subjects.items() if one.run is not None}
            command = f"workbench verdicts STORE --audit {AUDIT} --instrument {shlex.quote(instrument)}"
            yield comparison(of, "Response biases", judged.instrument, runs, command, judged.rulings)


def _part(store: Store, judged: ResponseBiasJudged, models: tuple[str, ...], wanted: Wanted) -> Reported:
    name = judged.instrument.name
    runs = {of: one.run for of, one in judged.subjects.items() if one.run is not None}
    chosen = f" --model {shlex.quote(','.join(models))}" if models else ""
    return Reported(
        title=f"Response biases in {name}",
        instrument=judged.instrument,
        runs=runs,
        book=book(findings(judged, lambda: nullcontext(store))),
        findings=tuple(_findings(judged)),
        command=f"workbench verdicts STORE --audit {AUDIT} --instrument {shlex.quote(name)}{chosen} --json"
        f"{'' if wanted.rulings else ' --without-rulings'}",
        answered=judged.answered,
        rulings=judged.rulings,
        changed={ref: of for run in runs.values() for ref, of in store.runs.outdated(run).items()},
        items={of: tuple(_items(judged)) for of in runs},
        parameters=tuple(parameters(RESULT_OPTIONS, asdict(judged.choice.options), SOURCES, "as usual")),
        limits=LIMITS,
        shown=("matrix", "subjects"),
        references=[TJUATJA],
    )


def _findings(judged: ResponseBiasJudged) -> Iterator[str]:
    for name, report in judged.reports.items():
        scored = [cell for cell in report.cells if cell.scored and cell.judged]
        moved = [cell for cell in scored if cell.effect]
        like = sum(cell.human_like == 1 for cell in moved)
        of = f"{len(scored)} change{'' if len(scored) == 1 else 's'}"
        if not scored:
            yield f"{name}: no bias has a test yet."
            continue
        yield (
            f"{name}: {len(moved)} of {of} of a question that move people move its answers, {like} of them in the same "
            "direction."
        )
        if moved:
            most = max(moved, key=lambda cell: abs(cell.delta.mean))
            yield f"The largest is {_said(most)}."
        typos = [cell for cell in report.cells if cell.condition is not None and cell.judged]
        if typos:
            wrong = sum(cell.effect != 0 for cell in typos)
            yield f"Typos, which people overlook, move its answers in {wrong} of {len(typos)} cases."


def _said(cell: Cell) -> str:
    ends = ", ".join(number(end / 100, Kind.POINTS, bare=True) for end in (cell.delta.low, cell.delta.high))
    return f"{place_said(*cell.place)}: {number(cell.delta.mean / 100, Kind.POINTS)} [{ends}], {cell.said}"


def _items(judged: ResponseBiasJudged) -> Iterator[Item]:
    """Yield the questions in words; a bias is over many of them, so no verdict is on a single one."""
    for statement in judged.instrument.statements:
        wording = statement.wording(ORIGINAL, judged.instrument.language)
        if statement.ref in judged.items:
            yield Item(statement.ref, wording.text if wording else "", None, (str(judged.items[statement.ref].bias),))


__all__ = ["reported"]
