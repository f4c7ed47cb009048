"""Response biases as plain values for programs: every figure with what it rests on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench import __version__
from workbench.cli.judged import about
from workbench.cli.response_bias_format import DEFINITIONS, HOLM
from workbench.cli.response_bias_questions import found_questions, made_by
from workbench.cli.response_bias_shown import (
    CELLS,
    DRAWS,
    MATRIX,
    PEOPLE,
    TOPICS,
    VALIDITY,
    Shown,
)

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.response_bias_figures import Cell
    from workbench.audits.response_bias_people import Representativeness
    from workbench.pipeline.response_bias import Place, ResponseBiasJudged, Subject
    from workbench.pipeline.response_bias_questions import ArmShown, QuestionShown


def data(store: Store, judged: ResponseBiasJudged, shown: Shown) -> dict[str, Any]:
    """Return the views that were asked for. Undefined numbers are NaN, which JSON has as null."""
    options = judged.choice.options
    found: dict[str, Any] = {
        "instrument": judged.instrument.name,
        "workbench": __version__,
        "options": asdict(options)
        | {"definition_in_words": DEFINITIONS[options.definition], "holm_in_words": HOLM[options.holm]},
        "shown": {
            "views": shown.views,
            "biases": [bias if not variant else f"{bias}-{variant}" for bias, variant in shown.kinds],
            "conditions": [condition or "bias" for condition in shown.conditions],
        },
        "questions_with_texts": len(judged.pairs),
        "notes": shown.notes(judged),
        "models": {name: _model(store, judged, name, shown) for name in judged.reports},
    }
    for place in shown.listed:  # one at the most: every cell's are for files
        found["questions"] = _place(place) | {"models": _listed(judged, place)}
    if shown.question is not None:
        rows = found_questions(store, judged, shown)
        found["question"] = {name: _question(store, judged, row) for name, row in rows.items()}
    if shown.compared is not None:
        found["compare"] = _compared(judged, *shown.compared)
    return found


def _model(store: Store, judged: ResponseBiasJudged, name: str, shown: Shown) -> dict[str, Any]:
    subject, report = judged.subjects[name], judged.reports[name]
    found = _subject(store, subject)
    if MATRIX in shown.views or CELLS in shown.views:
        found |= {
            "score": asdict(report.score) if shown.scored(report) else None,
            "likeness": [asdict(one) | {"most_human_like": one.most_human_like} for one in shown.likeness(report)],
        }
    if {MATRIX, CELLS, TOPICS, DRAWS} & set(shown.views):
        found["cells"] = [cell_data(cell, shown) for cell in shown.cells(report)]
    if VALIDITY in shown.views:
        found["validity"] = _validity(judged, name)
    if PEOPLE in shown.views:
        people = judged.people.get(name)
        found["people"] = None if people is None else asdict(people) | _alignments(people)
    return found


def _alignments(people: Representativeness) -> dict[str, Any]:
    from workbench.audits.response_bias_people import INTERVAL

    return {"alignments": dict(people.alignments), "interval": INTERVAL}


def _subject(store: Store, subject: Subject) -> dict[str, Any]:
    """Return how a subject was asked: of samples with the seeds of the jobs that asked."""
    run = subject.run
    found: dict[str, Any] = {"model": subject.model, "way": subject.way, "template": subject.template or None}
    if run is None:
        return found | {"run": None}
    jobs = [{name: spec.get(name) for name in ("seed", "samples", "tries")} for spec in store.predictions.designs(run)]
    return found | {
        "run": about(run),
        "code_versions": store.predictions.code_versions(run),
        "designs": jobs,
        "valid_answers_wanted": subject.wanted or None,
        "with_fewer": subject.short,
    }


def cell_data(cell: Cell, shown: Shown) -> dict[str, Any]:
    """Return a cell with all that was computed of it, but for single questions."""
    found = _place(cell.place) | {
        "definition": cell.deltas.definition,
        "delta": asdict(cell.delta),
        "p_adjusted": cell.p_adjusted,
        "effect": cell.effect,
        "human_like": cell.human_like,
        "mark": cell.mark,
        "said": cell.said,
        "answers_of": cell.deltas.source,
        "left_out": [asdict(one) for one in cell.deltas.left_out],
        "with_fewer_draws": cell.fewer_draws,
        "entropy": {"offered": asdict(cell.spread), "csv": asdict(cell.spread_csv)},
        "change_against_entropy": asdict(cell.uncertainty),
        "dropped": asdict(cell.dropped),
        "warnings": cell.warnings,
    }
    if TOPICS in shown.views:
        found["topics"] = [asdict(figure) for figure in cell.topics]
    if DRAWS in shown.views:
        found["draws"] = asdict(cell.draws) | {"agree": cell.draws.agree}
    return found


def _place(place: Place) -> dict[str, Any]:
    bias, condition, variant = place
    return {"bias": bias, "condition": condition or "bias", "variant": variant}


def _validity(judged: ResponseBiasJudged, name: str) -> dict[str, Any]:
    found = judged.validity[name]
    return {
        "mean": found.mean,
        "questions": len(found.shares),
        "without": found.without,
        "histogram": found.histogram.tolist(),
        "shares": found.shares.tolist(),
    }


def _listed(judged: ResponseBiasJudged, place: Place) -> dict[str, Any]:
    from workbench.pipeline.response_bias_questions import questions

    asked = [name for name, report in judged.reports.items() if report.find(*place) is not None]
    return {name: [asdict(row) for row in questions(judged, name, place)] for name in asked}


def _question(store: Store, judged: ResponseBiasJudged, found: QuestionShown) -> dict[str, Any]:
    subject = judged.subjects[found.subject]
    arms = {
        str(arm.arm): _arm(store, subject, arm) | {"made_by": made_by(judged, found, arm)}
        for arm in (found.original, found.changed)
    }
    return (
        _place((found.bias, found.condition, found.variant))
        | {"draw": found.draw, "draws": found.draws, "people": found.shares}
        | asdict(found.row)
        | arms
    )


def _arm(store: Store, subject: Subject, arm: ArmShown) -> dict[str, Any]:
    """Return one form; where it was asked here, with the prompt and every answer as it was drawn, with its seed."""
    found = {name: value for name, value in asdict(arm).items() if name not in ("arm", "choice", "probe")}
    found |= {"text": None if arm.choice is None else arm.choice.lettered(), "prompt": None}
    if arm.probe is None or subject.run is None:
        return found
    found["prompt"] = [asdict(message) for message in store.runs.prompt(arm.probe).messages]
    if subject.way == "exact":
        scored = store.scores.of_probe(subject.run, arm.probe)
        return found | {"at": scored.at if scored else None, "code_version": scored.code_version if scored else None}
    rows = store.runs.responses(subject.run, arm.probe, ())
    names = ("text", "thinking", "truncated", "count", "seed", "at", "job", "code_version")
    return found | {"answers": [{name: getattr(row, name) for name in names} for row in rows]}


def _compared(judged: ResponseBiasJudged, first: str, second: str) -> dict[str, Any]:
    from workbench.pipeline.response_bias import compared, sampling_agreements

    found = compared(judged, first, second)
    return {
        "first": first,
        "second": second,
        "biases": [asdict(row) | {"turned": row.turned} for row in found.rows],
        "means": asdict(found.means),
        "sampling": [
            _place(place) | asdict(agreement) for place, agreement in sampling_agreements(judged, first, second).items()
        ],
    }


__all__ = ["cell_data", "data"]
