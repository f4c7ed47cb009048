"""Readings ─judge→ templates ranked on a few statements, and what weaker tests would change."""

from __future__ import annotations

from dataclasses import dataclass, field

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.consistency import judge as audit
from workbench.audits.consistency.pilot import (
    AnswerTypes,
    ScaleCollapse,
    TemplateRank,
    WeakerTests,
    answer_types,
    of_statements,
    rank_templates,
    scale_collapse,
    weaker_tests,
)
from workbench.audits.reliability.arrays import counts
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.judged import came_of
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.keys import SEED
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, ReaderCard, Readings
from workbench.errors import UsageError
from workbench.evidence.answered import Answered, answered
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.runs import find_run


@dataclass(frozen=True, slots=True)
class PilotChoice:
    """Which answers are looked at, and how."""

    model: str | None = None
    "None: the only one that answered"
    instrument: str | None = None
    sampling: str | None = None
    "its description, or a part of it"
    dtype: str | None = None
    snapshot: str | None = None
    fingerprint: str | None = None
    readings: Readings = USUAL
    reliability: ReliabilityOptions = field(default_factory=ReliabilityOptions)
    statements: tuple[str, ...] = ()
    "refs; empty: all that were asked"
    templates: TemplateChoice = LATEST
    formula: audit.Formula = "signed"
    seed: int = SEED
    resamples: int = 1000


@dataclass(frozen=True, eq=False)
class PilotJudged:
    """Templates ranked by readable answers, and what else a pilot tells."""

    choice: PilotChoice
    run: Run
    reader: ReaderCard | None
    statements: tuple[str, ...]
    ranks: tuple[TemplateRank, ...]
    templates: tuple[str, ...]
    "in the order of `types`"
    types: AnswerTypes
    weaker: tuple[WeakerTests, ...]
    scales: tuple[ScaleCollapse, ...]
    answered: Answered


@at_once
def judge_pilot(store: Store, choice: PilotChoice) -> PilotJudged:
    """Rank the templates that a model was asked with.

    Raises UnknownName or AmbiguousRun where the choice fits no or several runs, UsageError where none of the chosen
    statements or templates was asked.
    """
    run = find_run(
        store,
        "reliability",
        choice.model,
        choice.instrument,
        choice.sampling,
        dtype=choice.dtype,
        templates=choice.templates,
        snapshot=choice.snapshot,
        fingerprint=choice.fingerprint,
    )
    source = source_of(store, [run], choice.readings)
    reader, rulings = source.reader or 0, source.rulings(run)
    asked = counts(store, run, reader, rulings)
    of_run = store.runs.templates(run)
    chosen = choice.statements or asked.statements, [t.name for t in of_run]
    found = of_statements(asked, *chosen)
    if not found.statements:
        raise UsageError(
            f"{run.label} has no answers to these statements under the templates of the family {run.family}; it has "
            f"{len(asked.statements)} statements"
        )
    given = of_statements(counts(store, run, reader, rulings.as_given), *chosen)
    report = judge(found, choice.reliability)
    instrument = store.instruments.get(run.instrument)
    positions = audit.party_positions(instrument, store.issues.gold(run.instrument))
    return PilotJudged(
        choice=choice,
        run=run,
        reader=source.card,
        statements=found.statements,
        ranks=rank_templates(found, {t.name: t.address for t in of_run}, choice.seed, choice.resamples),
        templates=found.templates,
        types=answer_types(report),
        weaker=weaker_tests(report, positions, choice.formula, choice.seed),
        scales=scale_collapse(instrument),
        answered=came_of(answered(store, run), given, refusals_of(store, run)),
    )


__all__ = ["PilotChoice", "PilotJudged", "judge_pilot"]
