"""Readings ─judge→ political consistency: which answers, which labels, and everything they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Literal

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.consistency import judge as audit
from workbench.audits.consistency.book import Material
from workbench.audits.consistency.judge import Consistency, reliable_stances
from workbench.audits.consistency.methods import methods
from workbench.audits.consistency.pilot import scale_collapse
from workbench.audits.reliability.human_bound import bound_of
from workbench.audits.reliability.judge import Report
from workbench.audits.reliability.judged import ReliabilityJudged, came_of
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument
from workbench.domain.issue_gold import FEWEST
from workbench.domain.keys import SEED
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, ReaderCard, Readings
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, answered, header
from workbench.evidence.refusals import Refusals, refusals_of
from workbench.evidence.rulings import Told
from workbench.evidence.runs import answered_instrument, matching, of_models, runs_of, split, told_apart, without_runs

Whose = Literal["gold", "people"]


@dataclass(frozen=True, slots=True)
class ConsistencyChoice:
    """Which answers are judged, and how."""

    instrument: str | None = None
    "None: the only one of the store"
    models: tuple[str, ...] | None = None
    "None: all that answered; empty: none, for baselines and parties alone"
    sampling: str | None = None
    "how a sampling is described, or a part of it (`T 0.25`)"
    dtype: str | None = None
    snapshot: str | None = None
    "of a served model; None: any, each a run of its own"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a run for every one; None: all together"
    "None: any"
    templates: TemplateChoice = LATEST
    readings: Readings = USUAL
    reliability: ReliabilityOptions = field(default_factory=ReliabilityOptions)
    "what makes a stance reliable"
    labels: Whose = "gold"
    "policy-issue labels: gold, the source's own before people's; people, what most annotators said or was adjudicated"
    seed: int = SEED
    "of the bootstrap intervals"
    resamples: int = 1000


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """One model's answers and their verdicts."""

    name: str
    "the respondent's name in `ConsistencyJudged.result`"
    run: Run
    report: Report
    reader: ReaderCard
    rulings: Told
    refusals: Refusals
    answered: Answered
    "how much of its plan was answered, and what came of it"
    outdated: tuple[str, ...] = ()
    "statements that were changed since it was asked: its stances are on the texts of then"


@dataclass(frozen=True, eq=False)
class ConsistencyJudged:
    """The analysis, and what it rests on."""

    choice: ConsistencyChoice
    instrument: str
    runs: tuple[JudgedRun, ...]
    result: Consistency
    labelled: int
    "statements with a label other than 0 for some issue"
    fewest: int = FEWEST
    "annotators whose labels a policy-issue label needs"

    @property
    def rulings(self) -> Told:
        """What rulings change in the answers of all models."""
        return Told.joined([one.rulings for one in self.runs])

    @property
    def answered(self) -> tuple[Answered, ...]:
        """How much of the plan of each model was answered, and what came of it."""
        return tuple(one.answered for one in self.runs)

    @property
    def header(self) -> tuple[str, ...]:
        """What one must see before any figure."""
        return header(self.answered)

    def methods(self) -> str:
        """Say in one paragraph how the figures came about, with every choice."""
        from workbench.audits.reliability.methods import evidence_sentences, reliability_sentences

        told = [reliability_sentences(one.name, one.report) for one in self.runs]
        runs = [(one.name, one.run) for one in self.runs]
        rest = evidence_sentences(runs, [one.reader for one in self.runs], self.answered, self.rulings)
        own = " otherwise the source's own," if self.choice.labels == "gold" else ""
        most = "most of two or more annotators" if self.fewest == 2 else f"most of {self.fewest} or more annotators"
        most = "most annotators, or a single one," if self.fewest == 1 else most
        whose = f"A policy-issue label is the adjudicated label,{own} otherwise the label of {most}."
        return " ".join(
            [methods(self.result), whose, *told, *rest, *map(_since, (one for one in self.runs if one.outdated))]
        )


@at_once
def judge_consistency(
    store: Store, choice: ConsistencyChoice | None = None, known: Mapping[Run, ReliabilityJudged] | None = None
) -> ConsistencyJudged:
    """Return leaning and stances on issues of the chosen models, of the baselines, of parties and of people. `known`:
    runs that were judged already by the options and readings of the choice.

    Raises UsageError where the store has no instrument, several and none is named, or one of multiple-choice questions
    alone; UnknownName for a model that answered nothing.
    """
    choice = choice or ConsistencyChoice()
    instrument = store.instruments.get(choice.instrument or answered_instrument(store, "reliability"))
    _check_statements(instrument)
    judged = tuple(
        _judged(store, choice, name, run, (known or {}).get(run)) for name, run in _runs(store, choice, instrument.name)
    )
    positions = audit.party_positions(instrument, store.issues.gold(instrument.name, choice.labels))
    models = [reliable_stances(one.name, one.report) for one in judged]
    options = audit.Options(choice.seed, choice.resamples)
    result = audit.judge(positions, models, store.surveys.answers(instrument.name), options)
    labelled = int((positions.labels != 0).any(axis=0).sum())
    return ConsistencyJudged(choice, instrument.name, judged, result, labelled, store.issues.fewest(instrument.name))


def consistency_material(store: Store, judged: ConsistencyJudged) -> Material:
    """Return what figures show beside the analysis: wordings, definitions, the models' reliability, answer scales."""
    instrument = store.instruments.get(judged.instrument)
    of = judged.choice.reliability
    return Material(
        texts={s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language))},
        definitions={issue.name: issue.definition for issue in instrument.definitions},
        reports={one.name: one.report for one in judged.runs},
        addresses={one.name: {t.name: t.address for t in store.runs.templates(one.run)} for one in judged.runs},
        scales=scale_collapse(instrument),
        labelled=judged.labelled,
        of_people=judged.choice.labels == "people",
        survey=instrument.survey,
        people=cache(partial(bound_of, instrument, judged.choice.seed, judge_void=of.judge_void)),
        refusals=tuple(one.refusals for one in judged.runs),
        answered=judged.answered,
    )


def _check_statements(instrument: Instrument) -> None:
    """Raise UsageError for multiple-choice questions: nobody agrees or disagrees with one."""
    questions = {item.ref for item in instrument.choices}
    if questions and all(statement.ref in questions for statement in instrument.statements):
        raise UsageError(
            f"{instrument.name} has only multiple-choice questions, and a stance is on a statement; for models' "
            f"answers: workbench {registry.audit('response_bias').command}"
        )


def _judged(store: Store, choice: ConsistencyChoice, name: str, run: Run, known: ReliabilityJudged | None) -> JudgedRun:
    if known is not None:
        refusals, came = replace(known.refusals, model=name), replace(known.answered, name=name)
        return JudgedRun(name, run, known.report, known.card, known.rulings, refusals, came, tuple(known.changed))
    found = run_verdicts(store, run, choice.reliability, readings=choice.readings)
    refusals = refusals_of(store, run, name)
    came = came_of(answered(store, run), found.given, refusals, name)
    outdated = tuple(store.runs.outdated(run))
    return JudgedRun(name, run, found.report, found.card, found.told, refusals, came, outdated)


def _since(one: JudgedRun) -> str:
    """Say which stances are on texts that are no longer current."""
    n, shown = len(one.outdated), ", ".join(one.outdated[:4])
    more = f" and {n - 4} more" if n > 4 else ""
    return (
        f"{n} statement{' was' if n == 1 else 's were'} changed since {one.name} was asked ({shown}{more}): its "
        "stances are on the earlier texts, but count with the issue labels and party answers of the current ones."
    )


def _runs(store: Store, choice: ConsistencyChoice, instrument: str) -> tuple[tuple[str, Run], ...]:
    """Return the runs that are meant, under names that tell them apart."""
    every = runs_of(store, "reliability", instrument, templates=choice.templates)
    runs = split(store, matching(every, choice.sampling, choice.dtype, choice.snapshot), choice.fingerprint)
    if every and not runs:
        described = ", ".join(dict.fromkeys(f"{run.sampling} in {run.dtype}, {run.version}" for run in every))
        raise UnknownName(
            f"{instrument} has no reliability answers of this sampling, dtype and snapshot. Available: {described}"
        )
    there = {run.model for run in runs}
    missing = without_runs(store, runs, choice.models or ())
    if missing:
        raise UnknownName(
            f"{instrument} has no reliability answers by {', '.join(missing)}. Models with answers: "
            f"{', '.join(sorted(there)) or 'nobody'}"
        )
    answered = {run.model for run in runs if run.responses}
    wanted = [
        run
        for run in of_models(store, runs, choice.models or ())
        if (run.responses or (choice.models is not None and run.model not in answered))
    ]
    return tuple(zip(_names(wanted), wanted, strict=True))


def _names(runs: Sequence[Run]) -> list[str]:
    """Return the models' names, with as much of the sampling, language and revision as tells runs apart."""
    return told_apart(
        [run.named for run in runs],
        [run.family for run in runs],
        [str(run.sampling) for run in runs],
        [run.language for run in runs],
        [run.short_version for run in runs],
        [run.dtype for run in runs],
        [run.encoded for run in runs],
    )


__all__ = ["ConsistencyChoice", "ConsistencyJudged", "JudgedRun", "consistency_material", "judge_consistency"]
