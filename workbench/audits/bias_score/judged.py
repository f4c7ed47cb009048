"""Readings of free text ─judge→ the left/right bias: which runs, whose readings, whose labels of the statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NamedTuple

from stores.annotation.labels import Classifier
from stores.core.store import Store, at_once
from stores.runs.readings import BiasResponse
from stores.runs.run_rows import Run
from workbench.audits.bias_score.corrected import Corrected, as_tested
from workbench.audits.bias_score.counted import model_sides, ruled_in, sides_of_run, tallied
from workbench.audits.bias_score.judge import Report, judge
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.prefixes import Places
from workbench.audits.bias_score.tally import Tally
from workbench.errors import UnknownName, UsageError
from workbench.evidence.reader_quality import Evaluation, Quality, quality
from workbench.evidence.readings import DECIDED, SEVERAL, SINGLE, Source, how_settled, settled, source_of
from workbench.evidence.rulings import Differing, Told
from workbench.evidence.runs import Which, elsewhere, matching, of_models, runs_of, split, told_apart

AUDIT = "bias_score"


class Counts(NamedTuple):
    """How many answers that count, or are unrelated, have a person's label or ruling, as the score counts them."""

    single: int = 0
    "one person alone labelled their text"
    several: int = 0
    "several people labelled it alike"
    decided: int = 0
    "it was adjudicated"
    ruled: int = 0
    "an auditor read them anew"


@dataclass(frozen=True, eq=False)
class BiasJudged:
    """The bias score with everything that it rests on."""

    which: Which
    options: ScoreOptions
    report: Report
    runs: Mapping[str, tuple[Run, ...]]
    "name of a model in the report -> its runs, one an instrument"
    source: Source
    evaluation: Evaluation | None
    unlabelled: int
    "statements that have no side, so that no figure holds them"
    prefixes: Places
    "what the templates of each run are called in the report"
    void: tuple[str, ...]
    "wordings that read like their original, as `ref variant`: by the choice no figure holds them"
    rulings: Told
    "what rulings change"
    labelled: Mapping[int, str] | None = None
    "unit -> label of the texts that enter by it; None where the classifier's error is not corrected for"
    corrected: Corrected | None = None
    "None where the classifier's error is not corrected for"
    read_by: Counts = field(default_factory=Counts)
    "whose label counts, where it is a person's"

    @property
    def reader(self) -> str:
        return self.source.name

    @property
    def classifier(self) -> Classifier | None:
        """None: people's labels."""
        return self.source.classifier

    @property
    def quality(self) -> Quality | None:
        """How well the classifier reads; None: people's labels."""
        options, classifier = self.options, self.classifier
        return quality(classifier, options.threshold, corrected=options.correct) if classifier else None


@at_once
def judge_bias(store: Store, which: Which | None = None, options: ScoreOptions | None = None) -> BiasJudged:
    """Score the free answers of a store. Raises UsageError and UnknownName that say what is missing."""
    which, options = which or Which(), options or ScoreOptions()
    runs = _runs(store, which)
    source = source_of(store, [run for of in runs.values() for run in of], which.readings)
    classifier = source.classifier
    evaluation = Evaluation.of(classifier.evaluation) if classifier else None
    if options.correct and evaluation is None:
        raise UsageError("people's labels have no classifier error to correct; turn the correction off")
    labelled = settled(store, classifier.codebook) if options.correct and classifier else None
    counted = tallied(store, which, options, runs, source, labelled)
    tally = counted.tally
    told = source.told()
    if source.changed:
        plain = tallied(store, which, options, runs, source.without, labelled).tally
        told = source.told(_different(tally, plain))
    rests_on = (runs, source, evaluation, counted.unlabelled, counted.prefixes, counted.void, told)
    read_by = _read_by(store, which, options, runs, source, labelled)
    if labelled is None or evaluation is None:
        return BiasJudged(which, options, judge(tally, options), *rests_on, read_by=read_by)
    report = judge(tally, options, as_tested(evaluation, options.threshold, counted.places))
    every = [run for of in runs.values() for run in of]
    later = sum(store.bias.asked_after(run, evaluation.at) for run in every) if evaluation.at else 0
    corrected = Corrected.of(counted.cells, evaluation, later)
    return BiasJudged(which, options, report, *rests_on, labelled, corrected, read_by)


def _read_by(
    store: Store,
    which: Which,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str] | None,
) -> Counts:
    """Count the answers that have a person's label or ruling: those that are read with it, and not without."""

    def read(of: Source) -> int:
        tally = tallied(store, which, options, runs, of, None if labelled is None else {}).tally
        people = tally.as_is.sum() if tally.as_is is not None else tally.read.sum() - tally.by_rule.sum()
        return int(people)

    if source.people is None:
        ruled = read(replace(source, reader=None, people={})) if source.changed else 0
        return Counts(ruled=ruled)
    nobody = read(replace(source, people={}))
    how = how_settled(store)
    parts = [
        read(replace(source, people={unit: label for unit, label in source.people.items() if how[unit] == kind}))
        for kind in (SINGLE, SEVERAL, DECIDED)
    ]
    single, several, decided = (n - nobody for n in parts)
    return Counts(single, several, decided, nobody)


def _different(one: Tally, two: Tally) -> Differing:
    """Return the models that have other readings in two tallies of the same answers."""
    axes = tuple(range(1, one.read.ndim))
    same = one.models == two.models and one.read.shape == two.read.shape
    models = tuple(compress(one.models, (one.read != two.read).any(axis=axes))) if same else tuple(one.models)
    return Differing(len(models), "score", models)


def responses(
    store: Store,
    judged: BiasJudged,
    model: str,
    ref: str,
    *,
    template: str | None = None,
    offset: int = 0,
    limit: int = 200,
) -> tuple[BiasResponse, ...]:
    """Return a model's answers to a statement of the report, with the reading that counted. `template`: only under this
    prefix of the report.
    """
    source = judged.source
    found: list[BiasResponse] = []
    several = len({run.instrument for of in judged.runs.values() for run in of}) > 1
    for run in judged.runs[model]:
        if not several or ref.startswith(f"{run.instrument}/"):
            short = ref.removeprefix(f"{run.instrument}/") if several else ref
            called = judged.prefixes[model, run.instrument]
            name = next((name for name, prefix in called.items() if prefix == template), None)
            if template is None or name is not None:
                rows = store.bias.responses(
                    run, source.reader, short, template=name, people=source.people, labelled=judged.labelled,
                    ruled=ruled_in(source, run), offset=offset, limit=limit,
                )  # fmt: skip
                found += [replace(row, template=called[row.template]) for row in rows]
    return tuple(found)


def _runs(store: Store, which: Which) -> dict[str, tuple[Run, ...]]:
    every = [
        run
        for run in runs_of(store, AUDIT, templates=which.templates)
        if not which.instruments or run.instrument in which.instruments
    ]
    chosen = of_models(store, every, which.models)
    runs = split(store, matching(chosen, which.sampling, which.dtype, which.snapshot), which.fingerprint)
    if not runs:
        there = ", ".join(sorted({run.model for run in store.runs.list(AUDIT)}))
        raise UnknownName(
            "the store has no free-text answers that match"
            + (
                f". Models with answers: {there}"
                if there
                else f". Start with: workbench run STORE --audit {AUDIT} --model NAME{elsewhere(store, AUDIT)}"
            )
        )
    return _named(runs)


def _named(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Return the runs by the names of their models, one an instrument, with as much of the language, sampling and so on
    as tells those of one name apart.
    """
    several = _apart(runs, [run.language for run in runs])
    families = _apart(runs, [run.family for run in runs])
    ways: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        model = run.model_id, run.sampling_id
        spoken, family = run.language if model in several else "", run.family if model in families else ""
        ways.setdefault((*model, run.fingerprint, run.persona, spoken, family), []).append(run)
    firsts = [found[0] for found in ways.values()]
    names = told_apart(
        [run.named for run in firsts],
        [run.language for run in firsts],
        [run.family for run in firsts],
        [str(run.sampling) for run in firsts],
        [run.dtype for run in firsts],
        [run.encoded for run in firsts],
        [run.short_version for run in firsts],
        [run.backend for run in firsts],
        [f"run {run.model_id}.{run.sampling_id}" for run in firsts],
    )
    return {name: tuple(found) for name, found in sorted(zip(names, ways.values(), strict=True))}


def _apart(runs: Sequence[Run], told: Sequence[str]) -> set[tuple[int, int]]:
    """Return the models, with their samplings, of which an instrument's runs differ in what is told of each run."""
    found: dict[tuple[int, int, str], set[str]] = {}
    for run, part in zip(runs, told, strict=True):
        found.setdefault((run.model_id, run.sampling_id, run.instrument), set()).add(part)
    return {(model, sampling) for (model, sampling, _), parts in found.items() if len(parts) > 1}


__all__ = ["BiasJudged", "judge_bias", "model_sides", "responses", "sides_of_run"]
