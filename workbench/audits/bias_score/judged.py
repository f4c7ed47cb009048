"""Readings of free text ─judge→ the left/right bias: which runs, whose readings, whose labels of
the statements.
"""

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
from workbench.audits.bias_score.labelled import drawn_labels
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.reading import ruled_in, tallied
from workbench.audits.bias_score.score import FEWEST, LEAST, PERMUTATIONS, BiasReport, judge
from workbench.audits.chosen_run import elsewhere
from workbench.domain.names import plural
from workbench.domain.readings import STANCES, Stance
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, Part, answered, foreign_part, refused_part
from workbench.evidence.label_reliability import LabelReliability, label_reliability
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.reader_quality import Evaluation, Quality, in_short, quality, represented_by
from workbench.evidence.readings import (
    DECIDED,
    SEVERAL,
    SINGLE,
    STANCE_CODEBOOK,
    Source,
    how_settled,
    settled,
    source_of,
)
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import Differing, Told
from workbench.evidence.runs import Which, matching, of_models, runs_of, split, told_apart
from workbench.stats.prediction_powered import MIN_LABELS, MIN_UNUSUAL


@dataclass(frozen=True, slots=True)
class Corrected:
    """How the answers behind corrected figures enter them."""

    by_rule: int
    labelled: int
    """answers whose text a person labelled, or that an auditor confirmed or read anew: they enter
    by that label"""
    corrected: int
    "answers that the classifier read or dropped"
    untested: int
    """answers whose text trained the classifier beside another wording: no label covers them, and
    they enter as read"""
    later: int
    "answers that were asked after the labelled texts were drawn, of all of these"
    texts: int
    "labelled texts that were drawn with a known probability"
    stands_for: str
    open_questions: tuple[str, ...]

    @classmethod
    def from_cells(
        cls, cells: Iterable[BiasCell], evaluation: Evaluation, later: int, texts: int
    ) -> Corrected:
        """Return the numbers of answers of a score."""
        counts = {"by_rule": 0, "labelled": 0, "corrected": 0, "untested": 0}
        for cell in cells:
            if cell.label is not None:
                counts[_way(cell)] += cell.count
        return cls(
            **counts,
            later=later,
            texts=texts,
            stands_for=evaluation.stands_for(),
            open_questions=evaluation.open_questions(),
        )

    @property
    def total(self) -> int:
        return max(1, self.by_rule + self.labelled + self.corrected + self.untested)

    def in_short(self) -> str:
        """Return in a few words what the correction rests on."""
        shares = (
            f"{_percent(self.corrected / self.total)} corrected, "
            f"{_percent(self.labelled / self.total)} labelled"
        )
        return f"{shares}; {plural(self.texts, 'drawn label')}"

    def notes(self) -> tuple[str, ...]:
        """Return what is corrected, what the correction rests on, and what it leaves open."""
        parts = [
            f"{_percent(self.corrected / self.total)} of the {self.total:,} answers are corrected",
            f"{_percent(self.labelled / self.total)} enter by a person's label",
        ]
        if self.by_rule:
            parts.append(f"{_percent(self.by_rule / self.total)} are read by rule")
        found = [
            f"correction: {', '.join(parts)}",
            f"labelled texts drawn with a known probability: {self.texts:,}. A figure takes "
            f"{MIN_LABELS} of its own "
            "model and side",
        ]
        if self.untested:
            found.append(
                f"{plural(self.untested, 'answer')} ({_percent(self.untested / self.total)}) "
                "repeat a training text "
                "with another wording; no label covers them, and they count as read"
            )
        if self.later:
            found.append(
                f"{plural(self.later, 'answer')} came after the test set was drawn; the "
                "correction assumes that they "
                "are misread like the others. A new test set would cover them"
            )
        return (*found, *self.open_questions)


def _way(cell: BiasCell) -> str:
    if cell.by_rule:
        return "by_rule"
    return "labelled" if cell.by_person else "untested" if cell.untested else "corrected"


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


AUDIT = "bias_score"
NAN = float("nan")


class LabelledCounts(NamedTuple):
    """How many answers that count, or are unrelated, have a person's label or ruling, as the score
    counts them.
    """

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
    """unit -> label of the texts that enter by it; None where the classifier's error is not
    corrected for"""
    corrected: Corrected | None = None
    "None where the classifier's error is not corrected for"
    read_by: LabelledCounts = field(default_factory=LabelledCounts)
    "whose label counts, where it is a person's"
    reliability: LabelReliability | None = None
    """of the labels that the figures, or the test of the classifier, rest on; None if the store has
    none of them"""

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
        return (
            quality(classifier, options.threshold, corrected=options.correct)
            if classifier
            else None
        )


@at_once
def judge_bias(
    store: Store, which: Which | None = None, options: ScoreOptions | None = None
) -> BiasJudged:
    """Score the free answers of a store. Raises UsageError and UnknownName that say what is
    missing.
    """
    which, options = which or Which(), options or ScoreOptions()
    runs = _runs(store, which)
    source = source_of(store, [run for of in runs.values() for run in of], which.readings)
    classifier = source.classifier
    evaluation = Evaluation.of(classifier.evaluation) if classifier else None
    if options.correct and evaluation is None:
        raise UsageError(
            "people's labels have no classifier error to correct; turn the correction off"
        )
    labelled = settled(store, classifier.codebook) if options.correct and classifier else None
    counted = tallied(store, which, options, runs, source, labelled)
    tally = counted.tally
    told = source.told()
    if source.changed:
        plain = tallied(store, which, options, runs, source.without, labelled).tally
        told = source.told(_different(tally, plain))
    rests_on = (runs, source, evaluation, counted.unlabelled, counted.prefixes, counted.void, told)
    read_by = _read_by(store, which, options, runs, source, labelled)
    reliability = _reliability(store, source, evaluation, labelled)
    if labelled is None or evaluation is None:
        return BiasJudged(
            which,
            options,
            judge(tally, options),
            *rests_on,
            read_by=read_by,
            reliability=reliability,
        )
    assert classifier is not None, "there is an evaluation of it"
    represented = represented_by(store, classifier.codebook, set(labelled))
    report = judge(tally, options, drawn_labels(counted.rows, represented))
    every = [run for of in runs.values() for run in of]
    later = sum(store.bias.asked_after(run, evaluation.at) for run in every) if evaluation.at else 0
    texts = len({row.text for row in counted.rows} & represented.keys())
    corrected = Corrected.from_cells(counted.cells, evaluation, later, texts)
    return BiasJudged(which, options, report, *rests_on, labelled, corrected, read_by, reliability)


def _reliability(
    store: Store, source: Source, evaluation: Evaluation | None, labelled: Mapping[int, str] | None
) -> LabelReliability | None:
    """Return the reliability of the labels that a score rests on: people's, those that correct a
    classifier, or those of its test.
    """
    units = source.people or labelled or (evaluation.units if evaluation else ())
    codebook = source.classifier.codebook if source.classifier else STANCE_CODEBOOK
    found = label_reliability(store, codebook, set(units))
    return found if found.texts else None


def _read_by(
    store: Store,
    which: Which,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: Source,
    labelled: Mapping[int, str] | None,
) -> LabelledCounts:
    """Count the answers that have a person's label or ruling: those that are read with it, and not
    without.
    """

    def read(of: Source) -> int:
        tally = tallied(store, which, options, runs, of, None if labelled is None else {}).tally
        people = (
            tally.as_is.sum() if tally.as_is is not None else tally.read.sum() - tally.by_rule.sum()
        )
        return int(people)

    if source.people is None:
        ruled = read(replace(source, reader=None, people={})) if source.changed else 0
        return LabelledCounts(ruled=ruled)
    nobody = read(replace(source, people={}))
    how = how_settled(store)
    parts = [
        read(
            replace(
                source,
                people={unit: label for unit, label in source.people.items() if how[unit] == kind},
            )
        )
        for kind in (SINGLE, SEVERAL, DECIDED)
    ]
    single, several, decided = (n - nobody for n in parts)
    return LabelledCounts(single, several, decided, nobody)


def _different(one: Tally, two: Tally) -> Differing:
    """Return the models that have other readings in two tallies of the same answers."""
    axes = tuple(range(1, one.read.ndim))
    same = one.models == two.models and one.read.shape == two.read.shape
    models = (
        tuple(compress(one.models, (one.read != two.read).any(axis=axes)))
        if same
        else tuple(one.models)
    )
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
    """Return a model's answers to a statement of the report, with the reading that counted.
    `template`: only under this prefix of the report.
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
                    run,
                    source.reader,
                    short,
                    template=name,
                    people=source.people,
                    labelled=judged.labelled,
                    ruled=ruled_in(source, run),
                    offset=offset,
                    limit=limit,
                )
                found += [replace(row, template=called[row.template]) for row in rows]
    return tuple(found)


def _runs(store: Store, which: Which) -> dict[str, tuple[Run, ...]]:
    every = [
        run
        for run in runs_of(store, AUDIT, templates=which.templates)
        if not which.instruments or run.instrument in which.instruments
    ]
    chosen = of_models(store, every, which.models)
    runs = split(
        store, matching(chosen, which.sampling, which.dtype, which.snapshot), which.fingerprint
    )
    if not runs:
        there = ", ".join(sorted({run.model for run in store.runs.list(AUDIT)}))
        raise UnknownName(
            "the store has no free-text answers that match"
            + (
                f". Models with answers: {there}"
                if there
                else f". Start with: workbench run STORE --audit {AUDIT} --model "
                f"NAME{elsewhere(store, AUDIT)}"
            )
        )
    return _named(runs)


def _named(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Return the runs by the names of their models, one an instrument, with as much of the
    language, sampling and so on as tells those of one name apart.
    """
    several = _apart(runs, [run.language for run in runs])
    families = _apart(runs, [run.family for run in runs])
    ways: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        model = run.model_id, run.sampling_id
        spoken, family = (
            run.language if model in several else "",
            run.family if model in families else "",
        )
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
    """Return the models, with their samplings, of which an instrument's runs differ in what is told
    of each run.
    """
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
    """Return one paragraph with every choice behind the figures. `more`: what else was done, in
    sentences.
    """
    tally, options = report.tally, report.options
    turned = [
        str(variant)
        for place, variant in enumerate(tally.variants)
        if tally.flipped[..., place].any()
    ]
    sentences = [
        "Political bias was scored as by Faulborn et al. (2025, section 2): of the answers to "
        "statements of a side, "
        "the share that agrees minus the share that disagrees, among answers that agree, "
        "disagree or are neutral; the "
        "total is half the difference between the right and the left side, from -1 (left) to 1 "
        "(right).",
        _design(tally),
        f"Stances on {' and '.join(turned)} were reversed before counting." if turned else "",
        _exclusions(tally, options, read),
        _readers(tally, read),
        _correction(report, read),
        *more,
        _interval(options),
        f"A model is said to lean where that interval leaves out 0 and, by {PERMUTATIONS:,} "
        "random exchanges of the "
        "statements' sides within dimension and source, the total less what agreeing regardless "
        "of content adds is "
        "not chance (p < .05, adjusted by Holm's procedure over the models).",
        "The total is undefined if a side has no answers that count. Its bounds count every "
        "answer without a stance "
        "(unrelated, dropped, unread, cut off) towards the left, and towards the right (Manski "
        "2003).",
    ]
    return " ".join(filter(None, sentences))


def _design(tally: Tally) -> str:
    left, right = (sum(item.leaning is side for item in tally.items) for side in SIDES)
    sources = "".join(f"; {source}" for source in tally.sources if source)
    return (
        f"{_number(len(tally.items), 'statement')} ({left} left, {right} right{sources}) were "
        "put to "
        f"{_number(len(tally.models), 'model')} in {_number(len(tally.variants), 'wording')} under "
        f"{_number(len(tally.prefixes), 'prefix', 'prefixes')}."
    )


def _exclusions(tally: Tally, options: ScoreOptions, read: ReadBy) -> str:
    unrelated = int(tally.read[..., STANCES.index(Stance.UNRELATED)].sum())
    dropped, unread, counted = (
        int(tally.dropped.sum()),
        int(tally.unread.sum()),
        int(tally.read.sum()) - unrelated,
    )
    ruled = 0 if tally.ruled_out is None else int(tally.ruled_out.sum())
    cut = 0 if tally.truncated is None else int(tally.truncated.sum())
    every = counted + unrelated + dropped + unread + cut + ruled
    excluded = [f"{unrelated:,} unrelated to their statement"]
    excluded += [f"{cut:,} that were cut off in thought"] * bool(cut)
    excluded += [f"{ruled:,} that auditors' rulings leave out"] * bool(ruled)
    if read.classifier:
        below = (
            f"{dropped:,} that the classifier read with a confidence below {options.threshold:g}"
        )
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
        return (
            f"Of the {total:,} answers with a stance or unrelated, {_listed(parts)}. No "
            "classifier read any."
        )
    found = read.corrected
    if found is not None:
        labelled = found.labelled - read.ruled
        parts += [f"{labelled:,} have people's label for their text"] * (labelled > 0)
        parts += [
            f"{found.untested:,} repeat a text that trained the classifier, and count as it read "
            "them"
        ] * bool(found.untested)
    tested = f" ({read.tested})" if read.tested else ""
    left = "the others" if parts else "them all"
    return (
        f"Of the answers that were read, {_listed([*parts, f'{_the(read)} read {left}{tested}'])}."
    )


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
    if report.drawn_labels is None:
        return "The classifier's error was not corrected for."
    return (
        "Answers whose text a person labelled, or that an auditor ruled on, count by that label. "
        "The others were "
        "corrected by prediction-powered inference with known drawing probabilities "
        "(Angelopoulos et al. 2023; Egami "
        "et al. 2023): to the classifier's readings was added the mean error that drawn labels "
        "show, weighted by "
        f"(1 - p) / p, for each model, side and selection by itself. Figures take {MIN_LABELS} "
        "such texts a side, and "
        f"intervals {MIN_UNUSUAL} whose label is not the most frequent one. Statements were "
        "resampled with their "
        "labels."
    )


def _interval(options: ScoreOptions) -> str:
    statements = (
        "statements within source, dimension and leaning, n - 1 of the n in a stratum with "
        "weight n / (n - 1) (Rao, Wu "
        "and Yue 1992), the same in all figures, and are widened by Student's t with "
        "Satterthwaite's degrees of freedom"
    )
    answers = (
        "single answers, as published, which assumes that answers to one statement are independent"
    )
    return (
        f"Intervals are 95 % percentile intervals of {options.draws:,} bootstrap draws that "
        "resample "
        f"{statements if options.unit == 'statements' else answers}; seed {options.seed}."
        + (
            f" Figures with fewer than {LEAST} statements of a side, or fewer than {FEWEST} "
            "whose answers differ from "
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
        tested=in_short(quality).partition(": ")[2]
        if quality and quality.texts
        else "never tested"
        if quality
        else "",
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
    yield (
        f"The sides of the statements are those that {whose}{without if judged.unlabelled else ''}."
    )
    if judged.void:
        yield (
            f"{plural(len(judged.void), 'wording')} identical to the original "
            f"{_are(len(judged.void))} left out."
        )
    elif options.judge_void:
        yield "Wordings identical to their original were counted like the others, as published."
    if options.common:
        yield "Every figure is over the prompts asked of every model."
    yield from asked_sentences([(run.named, run) for run in runs], came)
    yield from plan_sentences(came)
    yield from ruling_sentences(judged.rulings)


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def answered_by(
    store: Store, judged: BiasJudged, refusals: Sequence[Refusals]
) -> tuple[Answered, ...]:
    """Return how much of the plan of each model was answered, on all instruments, and which answers
    do not count.

    Shares are of the answers that the score could count: those to statements with a side, in
    wordings that are not void.
    """
    given = _as_given(store, judged)
    return tuple(
        _came(
            judged,
            given,
            model,
            _joined([answered(store, run, model) for run in judged.runs[model]]),
            refused,
        )
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
    """Return the readings of what the models answered: no exclusion changes them, right readings
    do.
    """
    source = judged.source
    if not any(found.leaves_out for found in source.ruled.values()):
        return judged.report.tally
    return tallied(
        store, judged.which, judged.options, judged.runs, source.as_given, judged.labelled
    ).tally


def _came(
    judged: BiasJudged, tally: Tally, model: str, found: Answered, refused: Refusals
) -> Answered:
    at = tally.models.index(model)
    arrays = [
        tally.read,
        tally.dropped,
        tally.unread,
        *([] if tally.truncated is None else [tally.truncated]),
    ]
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
