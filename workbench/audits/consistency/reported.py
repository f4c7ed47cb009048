"""What a report says of political consistency: whose answers the models' are, and which policy issues they support."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.comparison.reported import comparison, names_wanted
from workbench.audits.consistency.book import book
from workbench.audits.consistency.compared import compared
from workbench.audits.consistency.issues import IssueStance
from workbench.audits.consistency.judged import (
    ConsistencyChoice,
    ConsistencyJudged,
    consistency_material,
    judge_consistency,
)
from workbench.audits.consistency.options import RESULT_OPTIONS
from workbench.audits.references import CERON
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reported import Reported, Wanted, parameters
from workbench.domain.names import plural
from workbench.domain.readings import Readings
from workbench.evidence.runs import of_models, runs_of
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind
from workbench.options.schema import Parameter
from workbench.registry import DEFAULT_AUDIT as ANSWERED_FOR

SOURCES = {
    "formula": "ours: the published ones, tacl and v1, measure agreeing",
    "view": "Ceron et al. 2024, section 7.1",
    "labels": "Ceron et al. 2024, section 7.2",
    "resamples": "ours",
}
LIMITS = (
    "Leaning is agreement with the answers that parties gave to these statements, in the countries and at the time "
    "when they answered; it is not a position on a scale.",
    "Policy issues with few reliable statements are marked; an interval that contains 0 shows no side.",
)
CLEAREST = 2
"issues that a finding names on each side"


def reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield a part for each instrument with parties or policy-issue labels to which some model answered."""
    every = [run for run in runs_of(store, ANSWERED_FOR, wanted.instrument or None) if run.responses]
    runs = of_models(store, every, wanted.models)
    for instrument in dict.fromkeys(run.instrument for run in runs):
        if not store.instruments.get(instrument).parties and not store.issues.gold(instrument):
            continue
        here = [run for run in runs if run.instrument == instrument]
        choice = ConsistencyChoice(
            instrument=instrument,
            models=wanted.models or None,
            readings=Readings(rulings=wanted.rulings),
            reliability=ReliabilityOptions(seed=wanted.seed),
            seed=wanted.seed,
        )
        known = {run: of.judged for run in here if (of := wanted.shared.get((ANSWERED_FOR, run))) is not None}
        judged = judge_consistency(store, choice, known)
        if judged.runs and (judged.result.positions.parties or judged.labelled):
            yield _part(store, judged, wanted)
            yield from _compared(store, judged, wanted)


def _compared(store: Store, judged: ConsistencyJudged, wanted: Wanted) -> Iterator[Reported]:
    runs = {one.name: one.run for one in judged.runs}
    there = {one.name: one.name for one in judged.result.respondents} | {name: run.model for name, run in runs.items()}
    if names := names_wanted(wanted, there):
        of = compared(store, judged, names)
        command = f"workbench consistency STORE --instrument {shlex.quote(judged.instrument)} --seed {wanted.seed}"
        yield comparison(
            of, "Political consistency", store.instruments.get(judged.instrument), runs, command, judged.rulings
        )


def _part(store: Store, judged: ConsistencyJudged, wanted: Wanted) -> Reported:
    figures = book(judged.result, "signed", "all", consistency_material(store, judged))
    options = f" --model {shlex.quote(','.join(wanted.models))}" if wanted.models else ""
    options += f" --instrument {shlex.quote(judged.instrument)} --seed {wanted.seed}"
    options += "" if wanted.rulings else " --without-rulings"
    return Reported(
        title="Political consistency",
        instrument=store.runs.instrument(judged.runs[-1].run),
        runs={one.name: one.run for one in judged.runs},
        book=replace(figures, methods=judged.methods()),
        findings=tuple(_findings(judged)),
        command=f"workbench consistency STORE{options}",
        answered=judged.answered,
        rulings=judged.rulings,
        parameters=tuple(_parameters(judged)),
        limits=LIMITS,
        shown=("leaning", "issues"),
        references=[CERON],
    )


def _findings(judged: ConsistencyJudged) -> Iterator[str]:
    for name in judged.result.models:
        yield from _leaning(judged, name)
        yield from _issues(judged, name)


def _leaning(judged: ConsistencyJudged, name: str) -> Iterator[str]:
    if not judged.result.positions.parties:
        return
    families = [of for of in judged.result.leaning(name).families if of.share.defined]
    if not families:
        return
    ranked = sorted(families, key=lambda of: -of.share.value)
    said = ", ".join(f"{of.family.value} {estimate(of.share, Kind.SHARE)}" for of in ranked)
    first, last = ranked[0], ranked[-1]
    if not first.share.value:
        yield f"No reliable stance of {name} matches a party's answer, so it agrees with none of them."
    elif first is last or not first.share.low > last.share.high:
        yield f"{name} agrees with the party families about equally often, within the intervals: {said}."
    else:
        yield (
            f"{name} agrees more often with {first.family.value} parties than with {last.family.value} ones, on "
            f"reliable stances: {said}."
        )


def _issues(judged: ConsistencyJudged, name: str) -> Iterator[str]:
    stances = [one for one in judged.result.issues(name) if one.value.defined] if judged.labelled else []
    for verb, clear in (
        ("supports", [one for one in stances if one.value.low > 0]),
        ("opposes", [one for one in stances if one.value.high < 0]),
    ):
        if clear:
            strongest = sorted(clear, key=lambda one: -abs(one.value.value))[:CLEAREST]
            more = len(clear) - len(strongest)
            rest = f", and {plural(more, 'other issue')}" if more else ""
            yield f"{name} {verb} {' and '.join(map(_issue, strongest))}{rest}."
    unclear = sum(not (one.value.low > 0 or one.value.high < 0) for one in stances)
    if unclear:
        yield f"On {plural(unclear, 'policy issue')} the answers of {name} prove no side."


def _issue(one: IssueStance) -> str:
    ends = f" [{number(one.value.low, Kind.SCORE)}, {number(one.value.high, Kind.SCORE)}]"
    return f"{one.issue.replace('_', ' ')} ({number(one.value.value, Kind.SCORE)}{ends})"


def _parameters(judged: ConsistencyJudged) -> Iterator[Parameter]:
    options = judged.result.options
    values = {"formula": "signed", "view": "all", "labels": judged.choice.labels, "resamples": options.resamples}
    yield from parameters(RESULT_OPTIONS, values, SOURCES, "as usual")


__all__ = ["reported"]
