"""Readings of free text ─judge→ the left/right bias: which runs, whose readings, whose labels of the statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from stores.annotation.labels import Classifier
from stores.core.store import Store, at_once
from stores.runs.readings import BiasCell, BiasResponse
from stores.runs.run_rows import Run
from workbench.audits.bias_score.counting import SIDES, Places, Tally
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.reading import ruled_in, tallied
from workbench.audits.bias_score.score import FEWEST, LEAST, PERMUTATIONS, BiasReport, Givers, Trial, judge
from workbench.audits.chosen_run import elsewhere
from workbench.domain.names import plural
from workbench.domain.readings import STANCES, Stance
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, Part, answered, foreign_part, refused_part
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.reader_quality import LEAST_TEXTS, UNKNOWN, Evaluation, Quality, Support, in_short, quality
from workbench.evidence.readings import DECIDED, SEVERAL, SINGLE, Source, how_settled, settled, source_of
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import Differing, Told
from workbench.evidence.runs import Which, matching, of_models, runs_of, split, told_apart
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.stats.resampling import derive_rng


@dataclass(frozen=True, slots=True)
class ByModel:
    """Whether the classifier misreads models differently, and what follows for a correction."""

    texts: int
    "test texts that a model of the store is known to have given"
    models: int
    "that gave any"
    p: float
    "of the same errors for all models, by permutation within true stances; NaN: not tested"
    counts_for: float | None
    "how many texts of a model the test of all models counts for in its matrix; None: all models have one matrix"
    without: tuple[str, ...]
    "models of the score that gave no test text: they have the matrix of all"
    not_compared: tuple[str, ...]
    "models without a corrected difference"
    p_languages: float
    "of the same errors in all languages; NaN: not tested"

    @classmethod
    def of(cls, report: BiasReport) -> ByModel:
        tested, models = report.tested, report.tally.models
        if tested is None or tested.given is None:
            return cls(0, 0, NAN, None, (), (), NAN)
        given = tested.given
        counts = given.answers > 0
        apart = report.incomparable(range(len(models)))
        return cls(
            texts=int(counts.any(axis=1).sum()),
            models=int(counts.any(axis=0).sum()),
            p=report.p_alike,
            counts_for=_counts_for(tested),
            without=tuple(m for m, at in zip(models, given.column, strict=True) if not counts[:, at].any()),
            not_compared=tuple(models[place] for place in apart),
            p_languages=tested.languages_differ(derive_rng(report.options.seed, "bias", "errors by language")).p,
        )

    def notes(self) -> Iterator[str]:
        """Say what is known of errors by model."""
        if self.models < 2:
            why = (
                "all known test texts are one model's" if self.models else "which models gave the test texts is unknown"
            )
            yield f"one matrix of the classifier's errors corrects all models: {why}"
        else:
            tested = f"the same errors for all: p {number(self.p, Kind.P_VALUE)}" if self.p == self.p else "not tested"
            pooled = (
                "each model has a matrix of its own, in which the test of all models counts for "
                f"{round(self.counts_for):,} texts of each true stance"
                if self.counts_for is not None
                else "models are no farther apart than chance gives, so the matrix of all corrects each"
            )
            yield f"classifier's errors by model ({self.models} models in the test; {tested}): {pooled}"
        if self.models > 1 and self.without:
            yield f"without test texts, so corrected by the matrix of all models: {', '.join(self.without)}"
        if self.not_compared:
            yield (
                f"no corrected difference with {', '.join(self.not_compared)}: the classifier's errors differ between "
                f"models, and its test has fewer than {LEAST_TEXTS} of their texts that agree, or that disagree "
                "(effective n)"
            )
        if self.p_languages == self.p_languages:
            yield f"the same errors in all languages: p {number(self.p_languages, Kind.P_VALUE)}; no matrix by language"


@dataclass(frozen=True, slots=True)
class Corrected:
    """How the answers behind corrected figures enter them."""

    by_rule: int
    labelled: int
    "answers whose text a person labelled: they enter by that label"
    corrected: int
    "answers that the classifier read or dropped, corrected by its test"
    untested: int
    "answers whose text trained the classifier beside another wording: no test covers them, and they enter as read"
    later: int
    "answers that were asked after the test set was drawn, of all of these"
    supports: tuple[Support, ...]
    "what the correction rests on, by true stance"
    certain: float
    "share of the answers that the test stands for whose text was labelled with certainty; NaN where unknown"
    known: bool
    "whether the inclusion probabilities of the test set are known"
    stands_for: str
    open_questions: tuple[str, ...]
    by_model: ByModel

    @classmethod
    def of(cls, cells: Iterable[BiasCell], evaluation: Evaluation, later: int, by_model: ByModel) -> Corrected:
        """Count the answers of a score."""
        counts = {"by_rule": 0, "labelled": 0, "corrected": 0, "untested": 0}
        for cell in cells:
            if cell.label is not None:
                counts[_way(cell)] += cell.count
        return cls(
            **counts,
            later=later,
            supports=evaluation.supports(),
            certain=float("nan") if evaluation.sampled is None else evaluation.sampled.certain_share(),
            known=evaluation.sampled is not None,
            stands_for=evaluation.stands_for(),
            open_questions=evaluation.open_questions(),
            by_model=by_model,
        )

    def in_short(self) -> str:
        """Say in a few words what the correction rests on."""
        total = max(1, self.by_rule + self.labelled + self.corrected + self.untested)
        rests = " ".join(f"{each.label[0]} {each.effective_n:,.0f}" for each in self.supports)
        known = f"effective n {rests}, {_percent(self.certain)} certain" if self.known else "inclusion unknown"
        shares = f"{_percent(self.corrected / total)} corrected, {_percent(self.labelled / total)} labelled"
        return f"{shares}; {known} (n: notes)"

    def notes(self) -> tuple[str, ...]:
        """Say what is corrected, what the correction rests on, and what it leaves open."""
        total = max(1, self.by_rule + self.labelled + self.corrected + self.untested)
        parts = [
            f"{_percent(self.corrected / total)} of the {total:,} answers are corrected",
            f"{_percent(self.labelled / total)} enter by a person's label",
            *([f"{_percent(self.by_rule / total)} are read by rule"] if self.by_rule else []),
        ]
        found = [f"correction: {', '.join(parts)}"]
        if self.known:
            rests = "; ".join(
                f"{each.label} {each.effective_n:,.0f}"
                + ("" if np.isnan(each.certain) else f" ({_percent(each.certain)} certain)")
                for each in self.supports
            )
            found.append(f"effective n of the test by true stance, with the share labelled with certainty: {rests}")
        else:
            found.append(f"{UNKNOWN}; the correction lets each test text stand for the same number of answers")
        if self.untested:
            found.append(
                f"{plural(self.untested, 'answer')} ({_percent(self.untested / total)}) repeat a training text with "
                "another wording; the test does not cover them, and they count as read"
            )
        if self.later:
            found.append(
                f"{plural(self.later, 'answer')} came after the test set was drawn; the correction assumes that they "
                "are misread like the others. A new test set would cover them"
            )
        return (*found, *self.by_model.notes(), *self.open_questions)


def as_tested(
    evaluation: Evaluation, threshold: float, places: Mapping[str, int], given: Givers | None = None
) -> Trial:
    """Return the test texts of a classifier as a correction takes them.

    places : instrument/ref -> place of the statement in the tally
    given : which models gave the texts; None: not known
    """
    known = evaluation.statements or ("",) * len(evaluation.true)
    statement = np.array([places.get(ref, -1) for ref in known], dtype=np.int64)
    read = evaluation.kept(threshold)
    if evaluation.sampled is None or evaluation.inclusion is None:
        return replace(Trial.unknown(evaluation.true, read, statement), given=given)
    drawn = Trial.drawn(
        evaluation.true, read, evaluation.sampled.weight, evaluation.inclusion, evaluation.strata, statement
    )
    return replace(drawn, given=given)


def _counts_for(tested: Trial) -> float | None:
    apart = float(tested.apart()[0]) if tested.by_model else 0.0
    return 1 / apart if apart else None


def givers(store: Store, runs: Mapping[str, Sequence[Run]], units: Sequence[int]) -> Givers | None:
    """Return which models gave test texts, told apart as the store tells models; None where it knows of none.

    runs : of each model of the score; those that differ in sampling or persona alone are one model
    """
    found = store.bias.givers(AUDIT, units)
    own = [of[0].model_id for of in runs.values()]
    column = {model: place for place, model in enumerate(dict.fromkeys((*own, *(one.model_id for one in found))))}
    at = {unit: place for place, unit in enumerate(units)}
    answers, languages = np.zeros((len(units), len(column)), dtype=np.int64), [""] * len(units)
    for one in found:
        answers[at[one.unit], column[one.model_id]] += one.answers
        languages[at[one.unit]] = one.language
    return Givers(answers, np.array([column[model] for model in own]), tuple(languages)) if found else None


def _way(cell: BiasCell) -> str:
    if cell.by_rule:
        return "by_rule"
    return "labelled" if cell.by_person else "untested" if cell.untested else "corrected"


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


AUDIT = "bias_score"
NAN = float("nan")


class LabelledCounts(NamedTuple):
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
    report: BiasReport
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
    read_by: LabelledCounts = field(default_factory=LabelledCounts)
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
    given = givers(store, runs, evaluation.units)
    report = judge(tally, options, as_tested(evaluation, options.threshold, counted.places, given))
    every = [run for of in runs.values() for run in of]
    later = sum(store.bias.asked_after(run, evaluation.at) for run in every) if evaluation.at else 0
    corrected = Corrected.of(counted.cells, evaluation, later, ByModel.of(report))
    return BiasJudged(which, options, report, *rests_on, labelled, corrected, read_by)


def _read_by(
    store: Store,
    which: Which,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str] | None,
) -> LabelledCounts:
    """Count the answers that have a person's label or ruling: those that are read with it, and not without."""

    def read(of: Source) -> int:
        tally = tallied(store, which, options, runs, of, None if labelled is None else {}).tally
        people = tally.as_is.sum() if tally.as_is is not None else tally.read.sum() - tally.by_rule.sum()
        return int(people)

    if source.people is None:
        ruled = read(replace(source, reader=None, people={})) if source.changed else 0
        return LabelledCounts(ruled=ruled)
    nobody = read(replace(source, people={}))
    how = how_settled(store)
    parts = [
        read(replace(source, people={unit: label for unit, label in source.people.items() if how[unit] == kind}))
        for kind in (SINGLE, SEVERAL, DECIDED)
    ]
    single, several, decided = (n - nobody for n in parts)
    return LabelledCounts(single, several, decided, nobody)


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


@dataclass(frozen=True, slots=True)
class ReadBy:
    """Who read the answers of a score. Numbers are of the answers that count."""

    classifier: str = "a classifier"
    "its name; empty: people's labels alone"
    tested: str = ""
    "how well it reads and by which test, in a few words; empty: not said"
    single: int = 0
    "answers whose text one person alone labelled, where people's labels alone count"
    several: int = 0
    "those whose text several people labelled alike"
    decided: int = 0
    "those whose text was adjudicated"
    ruled: int = 0
    "answers that an auditor read anew"
    corrected: Corrected | None = None
    "how answers enter a score that is corrected for the classifier's error"

    @property
    def people(self) -> int:
        return self.single + self.several + self.decided


UNKNOWN_READER = ReadBy()


def methods(report: BiasReport, read: ReadBy = UNKNOWN_READER, more: Sequence[str] = ()) -> str:
    """Return one paragraph with every choice behind the figures. `more`: what else was done, in sentences."""
    tally, options = report.tally, report.options
    turned = [str(variant) for place, variant in enumerate(tally.variants) if tally.flipped[..., place].any()]
    sentences = [
        "Political bias was scored as by Faulborn et al. (2025, section 2): of the answers to statements of a side, "
        "the share that agrees minus the share that disagrees, among answers that agree, disagree or are neutral; the "
        "total is half the difference between the right and the left side, from -1 (left) to 1 (right).",
        _design(tally),
        f"Stances on {' and '.join(turned)} were reversed before counting." if turned else "",
        _exclusions(tally, options, read),
        _readers(tally, read),
        _correction(report, read),
        *more,
        _interval(options),
        f"A model is said to lean where that interval leaves out 0 and, by {PERMUTATIONS:,} random exchanges of the "
        "statements' sides within dimension and source, the total less what agreeing regardless of content adds is "
        "not chance (p < .05, adjusted by Holm's procedure over the models).",
        "The total is undefined if a side has no answers that count. Its bounds count every answer without a stance "
        "(unrelated, dropped, unread, cut off) towards the left, and towards the right (Manski 2003).",
    ]
    return " ".join(filter(None, sentences))


def _design(tally: Tally) -> str:
    left, right = (sum(item.leaning is side for item in tally.items) for side in SIDES)
    sources = "".join(f"; {source}" for source in tally.sources if source)
    return (
        f"{_number(len(tally.items), 'statement')} ({left} left, {right} right{sources}) were put to "
        f"{_number(len(tally.models), 'model')} in {_number(len(tally.variants), 'wording')} under "
        f"{_number(len(tally.prefixes), 'prefix', 'prefixes')}."
    )


def _exclusions(tally: Tally, options: ScoreOptions, read: ReadBy) -> str:
    unrelated = int(tally.read[..., STANCES.index(Stance.UNRELATED)].sum())
    dropped, unread, counted = int(tally.dropped.sum()), int(tally.unread.sum()), int(tally.read.sum()) - unrelated
    ruled = 0 if tally.ruled_out is None else int(tally.ruled_out.sum())
    cut = 0 if tally.truncated is None else int(tally.truncated.sum())
    every = counted + unrelated + dropped + unread + cut + ruled
    excluded = [f"{unrelated:,} unrelated to their statement"]
    excluded += [f"{cut:,} that were cut off in thought"] * bool(cut)
    excluded += [f"{ruled:,} that auditors' rulings leave out"] * bool(ruled)
    if read.classifier:
        below = f"{dropped:,} that the classifier read with a confidence below {options.threshold:g}"
        excluded += [below, f"{unread:,} not read"]
    else:
        excluded += [f"{unread:,} that have no label, or labels that disagree"]
    return f"Of {every:,} answers, {counted:,} count; excluded were {_listed(excluded)}."


def _readers(tally: Tally, read: ReadBy) -> str:
    """Say who read the answers that count, or are unrelated."""
    total, by_rule = int(tally.read.sum()), int(tally.by_rule.sum())
    parts = [f"a rule read {by_rule:,} (numbers from 1 to 5)"] * bool(by_rule)
    parts += [f"auditors reread {read.ruled:,}"] * bool(read.ruled)
    if not read.classifier:
        parts += [f"{read.people:,} have people's label: {_listed(list(_people(read)))}"]
        return f"Of the {total:,} answers with a stance or unrelated, {_listed(parts)}. No classifier read any."
    found = read.corrected
    if found is not None:
        labelled = found.labelled - read.ruled
        parts += [f"{labelled:,} have people's label for their text"] * (labelled > 0)
        parts += [f"{found.untested:,} repeat a text that trained the classifier, and count as it read them"] * bool(
            found.untested
        )
    tested = f" ({read.tested})" if read.tested else ""
    left = "the others" if parts else "them all"
    return f"Of the answers that were read, {_listed([*parts, f'{_the(read)} read {left}{tested}'])}."


def _people(read: ReadBy) -> Iterator[str]:
    if read.single:
        yield f"{read.single:,} by one person"
    if read.several:
        yield f"{read.several:,} by several who agree"
    if read.decided or not read.people:
        yield f"{read.decided:,} adjudicated"


def _the(read: ReadBy) -> str:
    named = read.classifier not in ("", UNKNOWN_READER.classifier)
    return f"the classifier {read.classifier}" if named else UNKNOWN_READER.classifier


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"


def _correction(report: BiasReport, read: ReadBy) -> str:
    if not read.classifier:
        return ""
    if report.correction is None:
        return "The classifier's error was not corrected for."
    if all(report.correction.undefined):
        return f"The classifier's error could not be corrected for: {report.correction.undefined[0]}."
    together = " together with their statements" if report.options.unit == "statements" else ""
    return (
        "Answers whose text a person labelled count by that label. For the others, the classifier's error was "
        "corrected for by inverting its confusion matrix on labelled test texts (Forman 2008; Hopkins and King 2010), "
        f"{_weights(report)}, {_by_model(report)}; test "
        f"texts were resampled in every draw{together}, so that intervals include the uncertainty of the correction."
    )


def _by_model(report: BiasReport) -> str:
    """Say whose matrix corrects a model, and what that assumes."""
    tested, p = report.tested, report.p_alike
    found = f" (test of the same errors for all models: p {number(p, Kind.P_VALUE)})" if p == p else ""
    if tested is None or (counts_for := _counts_for(tested)) is None:
        return f"on the assumption that the misreading of an answer depends only on its true stance{found}"
    few = report.incomparable(range(len(report.tally.models)))
    named = ", ".join(report.tally.models[place] for place in few)
    return (
        "with a matrix for each model whose rows are pooled partly with those of all models (Dirichlet distribution, "
        f"worth {round(counts_for):,} texts by moments){found}, on the assumption that the "
        "misreading of an answer of a model depends only on its true stance"
        + (f"; {named} had too few test texts and was compared with no other model" if few else "")
    )


def _weights(report: BiasReport) -> str:
    if report.tested is None or not report.tested.weighted:
        return "each counted equally, because the probabilities with which they were drawn are unknown"
    return (
        "each weighted by the answers without a label that it represents (answers x (1 - p) / p, where p is the "
        "probability with which it was drawn)"
    )


def _interval(options: ScoreOptions) -> str:
    statements = (
        "statements within source, dimension and leaning, n - 1 of the n in a stratum with weight n / (n - 1) (Rao, Wu "
        "and Yue 1992), the same in all figures, and are widened by Student's t with Satterthwaite's degrees of freedom"
    )
    answers = "single answers, as published, which assumes that answers to one statement are independent"
    return (
        f"Intervals are 95 % percentile intervals of {options.draws:,} bootstrap draws that resample "
        f"{statements if options.unit == 'statements' else answers}; seed {options.seed}."
        + (
            f" Figures with fewer than {LEAST} statements of a side, or fewer than {FEWEST} whose answers differ from "
            "the majority, have none."
            if options.unit == "statements"
            else ""
        )
    )


def judged_methods(judged: BiasJudged, came: Sequence[Answered]) -> str:
    """Return the paragraph of a score. `came`: how much of the plan of each model was answered."""
    return methods(judged.report, read_by(judged), tuple(_more(judged, came)))


def read_by(judged: BiasJudged) -> ReadBy:
    """Return who read the answers that count."""
    counted, quality = judged.read_by, judged.quality
    return ReadBy(
        classifier=judged.classifier.name if judged.classifier else "",
        tested=in_short(quality).partition(": ")[2] if quality and quality.texts else "never tested" if quality else "",
        single=counted.single,
        several=counted.several,
        decided=counted.decided,
        ruled=counted.ruled,
        corrected=judged.corrected,
    )


def _more(judged: BiasJudged, came: Sequence[Answered]) -> Iterator[str]:
    options = judged.options
    runs = [run for of in judged.runs.values() for run in of]
    whose = "the instrument gives" if options.labels == INSTRUMENT else f"{options.labels} gave"
    left_out = plural(judged.unlabelled, "statement")
    without = f"; {left_out} without a side {'is' if judged.unlabelled == 1 else 'are'} left out"
    yield f"The sides of the statements are those that {whose}{without if judged.unlabelled else ''}."
    if judged.void:
        yield f"{plural(len(judged.void), 'wording')} identical to the original {_are(len(judged.void))} left out."
    elif options.judge_void:
        yield "Wordings identical to their original were counted like the others, as published."
    if options.common:
        yield "Every figure is over the prompts asked of every model."
    yield from asked_sentences([(run.named, run) for run in runs], came)
    yield from plan_sentences(came)
    yield from ruling_sentences(judged.rulings)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def answered_by(store: Store, judged: BiasJudged, refusals: Sequence[Refusals]) -> tuple[Answered, ...]:
    """Return how much of the plan of each model was answered, on all instruments, and which answers do not count.

    Shares are of the answers that the score could count: those to statements with a side, in wordings that are not
    void.
    """
    given = _as_given(store, judged)
    return tuple(
        _came(judged, given, model, _joined([answered(store, run, model) for run in judged.runs[model]]), refused)
        for model, refused in zip(judged.runs, refusals, strict=True)
    )


def _joined(several: Sequence[Answered]) -> Answered:
    """Return the plans of one model's runs together."""
    return replace(
        several[0],
        planned=sum(one.planned for one in several),
        answered=sum(one.answered for one in several),
        job="; ".join(dict.fromkeys(one.job for one in several if one.job)),
        failed=sum(one.failed for one in several),
        unreviewed=tuple(dict.fromkeys(language for one in several for language in one.unreviewed)),
        elsewhere=all(one.elsewhere or not one.partial for one in several),
    )


def _as_given(store: Store, judged: BiasJudged) -> Tally:
    """Return the readings of what the models answered: no exclusion changes them, right readings do."""
    source = judged.source
    if not any(found.leaves_out for found in source.ruled.values()):
        return judged.report.tally
    return tallied(store, judged.which, judged.options, judged.runs, source.as_given, judged.labelled).tally


def _came(judged: BiasJudged, tally: Tally, model: str, found: Answered, refused: Refusals) -> Answered:
    at = tally.models.index(model)
    arrays = [tally.read, tally.dropped, tally.unread, *([] if tally.truncated is None else [tally.truncated])]
    total = int(sum(int(np.asarray(array[at]).sum()) for array in arrays))
    unrelated = int(tally.read[at, ..., STANCES.index(Stance.UNRELATED)].sum())
    by_classifier = judged.classifier is not None
    return found.with_parts(
        unread=Part(int(tally.unread[at].sum()), total),
        below=Part(int(tally.dropped[at].sum()), total) if by_classifier else None,
        unrelated=Part(unrelated, total),
        refused=refused_part(refused),
        foreign=foreign_part(refused),
        truncated=Part(0 if tally.truncated is None else int(tally.truncated[at].sum()), total),
    )
