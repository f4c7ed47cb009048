"""Readings of free text ─judge→ the left/right bias: which runs, whose readings, whose labels of the statements."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stores.annotation.classifiers import Classifier
from stores.core.store import Store
from stores.runs.bias import BiasCell, BiasResponse, RuledAnswers
from stores.runs.run_rows import Run
from workbench.audits.bias_score import statement_labels
from workbench.audits.bias_score.common import only_common
from workbench.audits.bias_score.corrected import Corrected, as_tested
from workbench.audits.bias_score.figures import Options
from workbench.audits.bias_score.judge import Report, judge
from workbench.audits.bias_score.prefixes import Places, prefixes
from workbench.audits.bias_score.tally import Int32Array, Item, Tally
from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import STANCES, USUAL, Readings
from workbench.domain.seeds import SEED
from workbench.domain.statements import (
    ORIGINAL,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    variant_order,
)
from workbench.errors import UnknownName, UsageError
from workbench.evidence.classifier_test import Evaluation
from workbench.evidence.fingerprints import split
from workbench.evidence.labels import settled
from workbench.evidence.readings import Source, source_of
from workbench.evidence.rulings import Told
from workbench.evidence.runs import elsewhere, find_run, matching, of_models, runs_of, told_apart
from workbench.stats.arrays import BoolArray, IntArray

INSTRUMENT = "instrument"
AUDIT = "bias_score"


@dataclass(frozen=True, slots=True)
class BiasChoice:
    """Which answers are scored, by whose readings."""

    instruments: tuple[str, ...] = ()
    "empty: all that have answers"
    models: tuple[str, ...] = ()
    sampling: str | None = None
    "a part of how a sampling is described"
    dtype: str | None = None
    "that local models were computed in; None: any"
    templates: TemplateChoice = LATEST
    snapshot: str | None = None
    "of a served model; None: any, each a run of its own"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a run for every one; None: all together"
    readings: Readings = USUAL
    labels: str = INSTRUMENT
    "whose sides of the statements count: the instrument's, or the name of a model that labelled them"
    threshold: float = PUBLISHED_THRESHOLD
    correct: bool = False
    judge_void: bool = False
    "whether answers to a wording that reads like its original count like the others, as published"
    unit: str = "statements"
    seed: int = SEED
    draws: int = 10_000
    common: bool = False
    "score each model over the prompts that all of them were asked, and no others"


@dataclass(frozen=True, eq=False)
class BiasJudged:
    """The bias score with everything that it rests on."""

    choice: BiasChoice
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

    @property
    def reader(self) -> str:
        return self.source.name

    @property
    def classifier(self) -> Classifier | None:
        """None: people's labels."""
        return self.source.classifier


@dataclass(frozen=True, eq=False)
class Counted:
    """Readings as arrays, with what they were made of."""

    tally: Tally
    unlabelled: int
    "statements that were asked and have no side"
    prefixes: Places
    "what templates are called as prefixes"
    void: tuple[str, ...]
    "wordings that were asked and read like their original"
    places: Mapping[str, int]
    "instrument/ref -> place of a statement that has a side"
    cells: Sequence[BiasCell]


def judge_bias(store: Store, choice: BiasChoice | None = None) -> BiasJudged:
    """Score the free answers of a store. Raises UsageError and UnknownName that say what is missing."""
    choice = choice or BiasChoice()
    runs = _runs(store, choice)
    source = source_of(store, [run for of in runs.values() for run in of], choice.readings)
    classifier = source.classifier
    evaluation = Evaluation.of(classifier.evaluation) if classifier else None
    if choice.correct and evaluation is None:
        raise UsageError("people's labels are not corrected for a classifier's error; leave the correction out")
    labelled = settled(store, classifier.codebook) if choice.correct and classifier else None
    counted = _tally(store, choice, runs, source, labelled)
    tally = counted.tally
    options = Options(
        seed=choice.seed,
        draws=choice.draws,
        unit="responses" if choice.unit == "responses" else "statements",
        correct=choice.correct,
        threshold=choice.threshold,
    )
    told = source.told()
    if source.changed:
        plain = _tally(store, choice, runs, source.without, labelled).tally
        told = source.told(differ=_different(tally, plain), figure="score")
    rests_on = (runs, source, evaluation, counted.unlabelled, counted.prefixes, counted.void, told)
    if labelled is None or evaluation is None:
        return BiasJudged(choice, judge(tally, options), *rests_on)
    report = judge(tally, options, as_tested(evaluation, choice.threshold, counted.places))
    every = [run for of in runs.values() for run in of]
    later = sum(store.bias.asked_after(run, evaluation.at) for run in every) if evaluation.at else 0
    corrected = Corrected.of(counted.cells, evaluation, later)
    return BiasJudged(choice, report, *rests_on, labelled, corrected)


def _different(one: Tally, two: Tally) -> int:
    """Return how many models have other readings in two tallies of the same answers."""
    axes = tuple(range(1, one.read.ndim))
    same = one.models == two.models and one.read.shape == two.read.shape
    return int((one.read != two.read).any(axis=axes).sum()) if same else len(one.models)


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


def ruled_in(source: Source, run: Run) -> RuledAnswers:
    """Return what rulings change in a run, as its readings are counted."""
    found = source.rulings(run)
    answers = {(probe, key): effect for probe, of in found.answers.items() for key, effect in of.items()}
    return RuledAnswers(found.probes, answers)


def model_sides(
    store: Store, model: str, instrument: str, languages: Sequence[str] = ()
) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a model gave an instrument's statements; of a served model's snapshots one is named as
    `MODEL · snapshot NAME`. Where it was asked in several languages, those in one of `languages` are meant.

    Raises UnknownName where it gave none, AmbiguousRun where several did.
    """
    named = [run for run in store.runs.list("statement_labels", instrument) if run.named == model and run.responses]
    spoken = [run for run in named if run.language in languages]
    if len(one := spoken or named) == 1:
        return sides_of_run(store, one[0])
    return sides_of_run(store, find_run(store, "statement_labels", model, instrument, answered=True))


def sides_of_run(store: Store, run: Run) -> dict[str, Mapping[str, str | None]]:
    """Return the sides that a run of the statement labels gave the statements."""
    reader = source_of(store, [run], USUAL).reader or 0
    where = {probe: (ref, template) for ref, _, _, template, _, probe, _ in store.runs.cells(run)}
    return statement_labels.labels((*where[probe], label, n) for probe, label, n in store.runs.counts(run, [reader]))


def _runs(store: Store, choice: BiasChoice) -> dict[str, tuple[Run, ...]]:
    every = [
        run
        for run in runs_of(store, AUDIT, templates=choice.templates)
        if not choice.instruments or run.instrument in choice.instruments
    ]
    chosen = of_models(store, every, choice.models)
    runs = split(store, matching(chosen, choice.sampling, choice.dtype, choice.snapshot), choice.fingerprint)
    if not runs:
        there = ", ".join(sorted({run.model for run in store.runs.list(AUDIT)}))
        raise UnknownName(
            "the store holds no free-text answers that match"
            + (
                f"; there are answers by: {there}"
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
        ways.setdefault((*model, run.fingerprint, spoken, family), []).append(run)
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


def _tally(
    store: Store,
    choice: BiasChoice,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str] | None,
) -> Counted:
    """Return the readings of all runs as arrays."""
    language = {run.instrument: run.language for of in runs.values() for run in of}
    cells = {
        (model, run.instrument): store.bias.cells(
            run, source.reader, choice.threshold, source.people, labelled, ruled_in(source, run)
        )
        for model, of in runs.items()
        for run in of
    }
    asked = {(name, cell.ref) for (_, name), found in cells.items() for cell in found}
    instruments = {run.instrument: store.runs.instrument(run) for of in runs.values() for run in of}
    items, unlabelled = _items(store, choice, instruments, asked)
    void = set() if choice.judge_void else _void(items, language)
    asked_void = dict.fromkeys(
        f"{cell.ref} {VariantId(VariantKind(cell.kind), cell.ordinal)}"
        for (_, name), found in cells.items()
        for cell in found
        if (name, cell.ref, cell.kind, cell.ordinal) in void
    )
    cells = {
        (model, name): tuple(
            cell
            for cell in found
            if cell.relation != Relation.FREE.value and (name, cell.ref, cell.kind, cell.ordinal) not in void
        )
        for (model, name), found in cells.items()
    }
    every = [cell for found in cells.values() for cell in found]
    variants = tuple(sorted({VariantId(VariantKind(c.kind), c.ordinal) for c in every}, key=variant_order))
    names, called = prefixes(store, runs)
    authors = tuple(
        tuple(_author(statement, variant, language[name]) for variant in variants) for name, statement, _ in items
    )
    turned = _turned(cells, tuple(runs), items, variants, by_version=choice.labels == INSTRUMENT)
    refs = [(name, statement.ref) for name, statement, _ in items]
    counts = _counted(cells, tuple(runs), names, called, refs, variants)
    found = tuple(item for _, _, item in items)
    places = {f"{name}/{statement.ref}": place for place, (name, statement, _) in enumerate(items)}
    used = [cell for (_, name), of in cells.items() for cell in of if f"{name}/{cell.ref}" in places]
    read_, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt = counts
    languages = tuple(" ".join(sorted({run.language for run in of})) for of in runs.values())
    tally = Tally(
        tuple(runs), names, found, variants, authors, read_, by_rule, dropped, unread, truncated, ruled_out, turned,
        None if labelled is None else as_is, prompt, languages,
    )  # fmt: skip
    return Counted(only_common(tally) if choice.common else tally, unlabelled, called, tuple(asked_void), places, used)


def _void(items: Sequence[tuple[str, Statement, Item]], language: Mapping[str, str]) -> set[tuple[str, str, str, int]]:
    """Return (instrument, ref, kind, ordinal) of wordings that read like their original, case and blanks aside.

    Whatever is answered to such a political opposite, turned round, takes away what is answered to the original; such a
    reformulation counts it twice. Neither says anything of the wording.
    """
    found = set()
    for name, statement, _ in items:
        original = statement.wording(ORIGINAL, language[name])
        for wording in statement.wordings:
            text, variant = folded(wording.text), wording.variant
            alike = original is not None and text == folded(original.text)
            if wording.language == language[name] and variant != ORIGINAL and (alike or not text):
                found.add((name, statement.ref, variant.kind.value, variant.ordinal))
    return found


def _turned(
    cells: Mapping[tuple[str, str], Sequence[BiasCell]],
    models: Sequence[str],
    items: Sequence[tuple[str, Statement, Item]],
    variants: Sequence[VariantId],
    *,
    by_version: bool,
) -> BoolArray:
    """Return whether agreeing with a wording, in the version that a model was asked, is disagreeing with the statement.

    `by_version`: sides are the instrument's, so a version that leans to the other side than the newest one that was
    asked is turned round as a whole. A model's labels are by statement.
    """
    found = np.zeros((len(models), len(items), len(variants)), dtype=np.bool_)
    at_model = {name: place for place, name in enumerate(models)}
    at_item = {(name, s.ref): place for place, (name, s, _) in enumerate(items)}
    at_variant = {(v.kind.value, v.ordinal): place for place, v in enumerate(variants)}
    for (model, name), of in cells.items():
        for cell in of:
            place = at_item.get((name, cell.ref))
            if place is not None:
                leaning = items[place][2].leaning.value
                other = by_version and cell.leaning not in (None, leaning)
                where = (at_model[model], place, at_variant[cell.kind, cell.ordinal])
                found[where] = (cell.relation == Relation.FLIPPED.value) is not other
    return found


def _items(
    store: Store, choice: BiasChoice, instruments: Mapping[str, Instrument], asked: Container[tuple[str, str]]
) -> tuple[list[tuple[str, Statement, Item]], int]:
    """Return (instrument, statement, item) of each statement that was asked and has a side, and how many have none."""
    found: list[tuple[str, Statement, Item]] = []
    unlabelled = 0
    for name, instrument in instruments.items():
        sides = (
            None if choice.labels == INSTRUMENT else model_sides(store, choice.labels, name, choice.templates.languages)
        )
        for statement in instrument.statements:
            if (name, statement.ref) in asked:
                item = _item(name, statement, sides, several=len(instruments) > 1)
                if item is None:
                    unlabelled += 1
                else:
                    found.append((name, statement, item))
    if not found:
        raise UsageError(
            "no statement that was asked has a dimension and a leaning. Give them in the instrument's columns "
            "`dimension` and `leaning`, or let a model label them: workbench run STORE --audit statement_labels, then "
            "--labels MODEL"
        )
    return found, unlabelled


def _counted(
    cells: Mapping[tuple[str, str], Sequence[BiasCell]],
    models: Sequence[str],
    names: Sequence[str],
    called: Places,
    items: Sequence[tuple[str, str]],
    variants: Sequence[VariantId],
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, IntArray]:
    """Return the arrays `read`, `by_rule`, `dropped`, `unread`, `truncated`, `ruled_out`, `as_is` and `prompt` of a
    tally.
    """
    shape = (len(models), len(names), len(items), len(variants))
    read_, by_rule, as_is = (np.zeros((*shape, len(STANCES)), dtype=np.int32) for _ in range(3))
    dropped, unread, truncated, ruled_out = (np.zeros(shape, dtype=np.int32) for _ in range(4))
    prompt = np.zeros(shape, dtype=np.int64)
    at_model, at_prefix, at_item = ({one: place for place, one in enumerate(axis)} for axis in (models, names, items))
    at_variant = {(v.kind.value, v.ordinal): place for place, v in enumerate(variants)}
    at_stance = {stance.value: place for place, stance in enumerate(STANCES)}
    for (model, name), found in cells.items():
        for cell in found:
            item = at_item.get((name, cell.ref))
            if item is None:
                continue
            prefix = called[model, name][cell.template]
            where = (at_model[model], at_prefix[prefix], item, at_variant[cell.kind, cell.ordinal])
            prompt[where] = cell.prompt
            if cell.truncated:
                truncated[where] += cell.count
            elif cell.left_out:
                ruled_out[where] += cell.count
            elif cell.label is None:
                unread[where] += cell.count
            elif not cell.kept:
                dropped[where] += cell.count
            else:
                read_[(*where, at_stance[cell.label])] += cell.count
                by_rule[(*where, at_stance[cell.label])] += cell.count if cell.by_rule else 0
                as_is[(*where, at_stance[cell.label])] += cell.count if cell.by_person or cell.untested else 0
    return read_, by_rule, dropped, unread, truncated, ruled_out, as_is, prompt


def _author(statement: Statement, variant: VariantId, language: str) -> str | None:
    wording = statement.wording(variant, language)
    return wording.author if wording else None


def _item(
    name: str, statement: Statement, sides: Mapping[str, Mapping[str, str | None]] | None, *, several: bool
) -> Item | None:
    dimension, leaning = statement.dimension, statement.leaning
    if sides is not None:
        found = sides.get(statement.ref, {})
        given = (found.get(statement_labels.DIMENSION), found.get(statement_labels.LEANING))
        dimension = Dimension(given[0]) if given[0] else None
        leaning = Side(given[1]) if given[1] else None
    if dimension is None or leaning is None:
        return None
    ref = f"{name}/{statement.ref}" if several else statement.ref
    return Item(ref, statement.source or name, dimension, leaning)


__all__ = ["INSTRUMENT", "BiasChoice", "BiasJudged", "judge_bias", "model_sides", "responses", "sides_of_run"]
