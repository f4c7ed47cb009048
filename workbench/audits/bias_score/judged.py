"""The judging of free answers: from readings to the left/right bias.

The module selects the runs, the reader whose readings count, and the labels of the statements. It
also writes the paragraph on methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import NamedTuple

import numpy as np

from stores.annotation.labels import Classifier
from stores.core.store import Store, at_once
from stores.runs.readings import BiasCell, BiasResponse
from stores.runs.run_rows import Run
from workbench.audits.bias_score.counting import SIDES, Places, Tally
from workbench.audits.bias_score.labelled import (
    MIN_STATEMENTS,
    MIN_UNUSUAL_STATEMENTS,
    drawn_labels,
)
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.reading import build_tally, ruled_in
from workbench.audits.bias_score.score import PERMUTATIONS, BiasReport, judge
from workbench.audits.chosen_run import check_models, elsewhere
from workbench.domain.names import plural
from workbench.domain.readings import STANCES, Stance
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import (
    AnswerCount,
    AnsweredPlan,
    answered_plan,
    foreign_part,
    refused_part,
)
from workbench.evidence.label_reliability import LabelReliability, label_reliability
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.reader_quality import (
    Evaluation,
    ReaderQuality,
    quality,
    quality_in_short,
    represented_by,
)
from workbench.evidence.readings import (
    DECIDED,
    SEVERAL,
    SINGLE,
    STANCE_CODEBOOK,
    ReadingSource,
    settled_by,
    settled_labels,
    source_of,
)
from workbench.evidence.refusals import ModelRefusals
from workbench.evidence.rulings import DifferingFigures, RulingNotes
from workbench.evidence.runs import (
    AnswerSelection,
    matching_runs,
    runs_of,
    runs_of_models,
    split_by_fingerprint,
    unique_names,
)
from workbench.stats.prediction_powered import MIN_LABELS, MIN_UNUSUAL


@dataclass(frozen=True, slots=True)
class Corrected:
    """The numbers of answers behind corrected figures, by the way in which they enter."""

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
    "those of all these answers that were asked after the labelled texts were drawn"
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
        """The number of all these answers, at least 1."""
        return max(1, self.by_rule + self.labelled + self.corrected + self.untested)

    def in_short(self) -> str:
        """Return the basis of the correction in a few words."""
        shares = (
            f"{_percent(self.corrected / self.total)} corrected, "
            f"{_percent(self.labelled / self.total)} labelled"
        )
        return f"{shares}; {plural(self.texts, 'drawn label')}"

    def notes(self) -> tuple[str, ...]:
        """Return the notes on the correction: its extent, its basis, and its open questions."""
        shares = [
            f"{_percent(self.corrected / self.total)} of the {self.total:,} answers are corrected",
            f"{_percent(self.labelled / self.total)} are counted by a human label",
        ]
        if self.by_rule:
            shares.append(f"{_percent(self.by_rule / self.total)} are read by rule")
        notes = [
            f"correction: {', '.join(shares)}",
            f"labelled texts drawn with a known probability: {self.texts:,}. A figure takes "
            f"{MIN_LABELS} of its own model and side",
        ]
        if self.untested:
            notes.append(
                f"{plural(self.untested, 'answer')} ({_percent(self.untested / self.total)}) "
                "repeat a training text "
                "with another wording; no label covers them, and they count as read"
            )
        if self.later:
            notes.append(
                f"{plural(self.later, 'answer')} came after the test set was drawn; the correction "
                "assumes that they are misread like the others. A new test set would cover them"
            )
        return (*notes, *self.open_questions)


def _way(cell: BiasCell) -> str:
    """Return the way in which the answers of a cell enter a corrected score."""
    if cell.by_rule:
        return "by_rule"
    if cell.by_person:
        return "labelled"
    return "untested" if cell.untested else "corrected"


def _percent(share: float) -> str:
    """Return a share in per cent, with a decimal below 10 %."""
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


AUDIT = "bias_score"
NAN = float("nan")


class LabelledCounts(NamedTuple):
    """The numbers of answers that have a person's label or ruling.

    They are of answers that count, or are unrelated, as the score counts them.
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

    which: AnswerSelection
    options: ScoreOptions
    report: BiasReport
    runs: Mapping[str, tuple[Run, ...]]
    "by name of the model in the report: its runs, one per instrument"
    source: ReadingSource
    evaluation: Evaluation | None
    unlabelled: int
    "statements without a side, which no figure has"
    prefixes: Places
    "the names of each run's templates in the report"
    void: tuple[str, ...]
    """wordings that read like their original, as `ref variant`, which no figure has; empty if the
    options include them"""
    rulings: RulingNotes
    "the changes that rulings make"
    labelled: Mapping[int, str] | None = None
    """by unit: the label of the texts that enter by it; None if the classifier's error is not
    corrected"""
    corrected: Corrected | None = None
    "None if the classifier's error is not corrected"
    read_by: LabelledCounts = field(default_factory=LabelledCounts)
    "the number of answers by the kind of a person's label"
    reliability: LabelReliability | None = None
    """of the labels that the figures, or the test of the classifier, rest on; None if the store has
    none of them"""

    @property
    def reader(self) -> str:
        """The name of the source of the readings."""
        return self.source.name

    @property
    def classifier(self) -> Classifier | None:
        """The classifier, or None if people's labels count."""
        return self.source.classifier

    @property
    def quality(self) -> ReaderQuality | None:
        """The quality of the classifier's readings, or None if people's labels count."""
        options, classifier = self.options, self.classifier
        return (
            quality(classifier, options.threshold, corrected=options.correct)
            if classifier
            else None
        )


@at_once
def judge_bias(
    store: Store, which: AnswerSelection | None = None, options: ScoreOptions | None = None
) -> BiasJudged:
    """Return the score of the free answers of a store.

    Raises UsageError and UnknownName that say what is missing.
    """
    which, options = which or AnswerSelection(), options or ScoreOptions()
    runs = _runs(store, which)
    source = source_of(
        store, [run for model_runs in runs.values() for run in model_runs], which.readings
    )
    classifier = source.classifier
    evaluation = Evaluation.from_json(classifier.evaluation) if classifier else None
    if options.correct and evaluation is None:
        raise UsageError(
            "people's labels have no classifier error to correct; turn the correction off"
        )
    label_by_unit = (
        settled_labels(store, classifier.codebook) if options.correct and classifier else None
    )
    counted = build_tally(store, which, options, runs, source, label_by_unit)
    rulings = source.ruling_notes()
    if source.changed:
        before_rulings = build_tally(store, which, options, runs, source.without, label_by_unit)
        rulings = source.ruling_notes(_different(counted.tally, before_rulings.tally))
    labelled_counts = _read_by(store, which, options, runs, source, label_by_unit)
    reliability = _reliability(store, source, evaluation, label_by_unit)
    corrected = None
    if label_by_unit is None or evaluation is None:
        report = judge(counted.tally, options)
    else:
        assert classifier is not None, "there is an evaluation of it"
        represented = represented_by(store, classifier.codebook, set(label_by_unit))
        report = judge(counted.tally, options, drawn_labels(counted.rows, represented))
        texts = len({row.text for row in counted.rows} & represented.keys())
        n_later = _asked_after(store, runs, evaluation)
        corrected = Corrected.from_cells(counted.cells, evaluation, n_later, texts)
    return BiasJudged(
        which=which,
        options=options,
        report=report,
        runs=runs,
        source=source,
        evaluation=evaluation,
        unlabelled=counted.unlabelled,
        prefixes=counted.prefixes,
        void=counted.void,
        rulings=rulings,
        labelled=label_by_unit,
        corrected=corrected,
        read_by=labelled_counts,
        reliability=reliability,
    )


def _asked_after(store: Store, runs: Mapping[str, Sequence[Run]], evaluation: Evaluation) -> int:
    """Return the number of answers since the classifier was tested, or 0 if it is unknown when."""
    if not evaluation.at:
        return 0
    all_runs = chain.from_iterable(runs.values())
    return sum(store.bias.asked_after(run, evaluation.at) for run in all_runs)


def _reliability(
    store: Store,
    source: ReadingSource,
    evaluation: Evaluation | None,
    labelled: Mapping[int, str] | None,
) -> LabelReliability | None:
    """Return the reliability of the labels that a score rests on, or None without such labels.

    They are people's labels, those that correct a classifier, or those of its test.
    """
    units = source.people or labelled or (evaluation.units if evaluation else ())
    codebook = source.classifier.codebook if source.classifier else STANCE_CODEBOOK
    reliability = label_reliability(store, codebook, set(units))
    return reliability if reliability.texts else None


def _read_by(
    store: Store,
    which: AnswerSelection,
    options: ScoreOptions,
    runs: Mapping[str, Sequence[Run]],
    source: ReadingSource,
    labelled: Mapping[int, str] | None,
) -> LabelledCounts:
    """Return the numbers of answers that have a person's label or ruling.

    They are the answers that are read with it, and not without it.
    """

    def read(used_source: ReadingSource) -> int:
        """Return the number of answers that people's labels read, with this source."""
        tally = build_tally(store, which, options, runs, used_source, None).tally
        n_by_people = (
            tally.as_is.sum() if tally.as_is is not None else tally.read.sum() - tally.by_rule.sum()
        )
        return int(n_by_people)

    if source.people is None:
        if labelled is not None or not source.changed:
            return LabelledCounts(ruled=0)
        return LabelledCounts(ruled=read(replace(source, reader=None, people={})))
    # without people's labels, the answers that rulings read anew remain
    n_by_rulings = read(replace(source, people={}))
    kind_by_unit = settled_by(store)
    counts = [
        read(
            replace(
                source,
                people={
                    unit: label
                    for unit, label in source.people.items()
                    if kind_by_unit[unit] == kind
                },
            )
        )
        for kind in (SINGLE, SEVERAL, DECIDED)
    ]
    single, several, decided = (count - n_by_rulings for count in counts)
    return LabelledCounts(single, several, decided, n_by_rulings)


def _different(one: Tally, two: Tally) -> DifferingFigures:
    """Return the models that have other readings in two tallies of the same answers."""
    axes = tuple(range(1, one.read.ndim))
    has_same_shape = one.models == two.models and one.read.shape == two.read.shape
    models = (
        tuple(compress(one.models, (one.read != two.read).any(axis=axes)))
        if has_same_shape
        else tuple(one.models)
    )
    return DifferingFigures(len(models), "score", models)


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

    `template` restricts them to a prefix of the report.
    """
    source = judged.source
    answers: list[BiasResponse] = []
    has_several_instruments = (
        len({run.instrument for model_runs in judged.runs.values() for run in model_runs}) > 1
    )
    for run in judged.runs[model]:
        if not has_several_instruments or ref.startswith(f"{run.instrument}/"):
            ref_of_instrument = (
                ref.removeprefix(f"{run.instrument}/") if has_several_instruments else ref
            )
            prefix_by_template = judged.prefixes[model, run.instrument]
            name = next(
                (name for name, prefix in prefix_by_template.items() if prefix == template), None
            )
            if template is None or name is not None:
                rows = store.bias.responses(
                    run,
                    source.reader,
                    ref_of_instrument,
                    template=name,
                    people=source.people,
                    labelled=judged.labelled,
                    ruled=ruled_in(source, run),
                    offset=offset,
                    limit=limit,
                )
                answers += [replace(row, template=prefix_by_template[row.template]) for row in rows]
    return tuple(answers)


def _runs(store: Store, which: AnswerSelection) -> dict[str, tuple[Run, ...]]:
    """Return the selected runs by the names of their models. Raises UnknownName if none match."""
    check_models(store, AUDIT, which)
    all_runs = [
        run
        for run in runs_of(store, AUDIT, templates=which.templates)
        if not which.instruments or run.instrument in which.instruments
    ]
    selected = runs_of_models(store, all_runs, which.models)
    runs = split_by_fingerprint(
        store,
        matching_runs(selected, which.sampling, which.dtype, which.snapshot),
        which.fingerprint,
    )
    if not runs:
        available = ", ".join(sorted({run.model for run in store.runs.list(AUDIT)}))
        raise UnknownName(
            "the store has no free-text answers that match"
            + (
                f". Models with answers: {available}"
                if available
                else f". Start with: workbench run STORE --audit {AUDIT} --model "
                f"NAME{elsewhere(store, AUDIT)}"
            )
        )
    return _runs_by_name(runs)


def _runs_by_name(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Return the runs by the names of their models, one run per instrument.

    A name has as much of the language, sampling and so on as distinguishes it from others.
    """
    with_several_languages = _apart(runs, [run.language for run in runs])
    with_several_families = _apart(runs, [run.family for run in runs])
    runs_by_key: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        model = (run.model_id, run.sampling_id)
        language = run.language if model in with_several_languages else ""
        family = run.family if model in with_several_families else ""
        key = (*model, run.fingerprint, run.persona, language, family)
        runs_by_key.setdefault(key, []).append(run)
    first_runs = [key_runs[0] for key_runs in runs_by_key.values()]
    names = unique_names(
        [run.named for run in first_runs],
        [run.language for run in first_runs],
        [run.family for run in first_runs],
        [str(run.sampling) for run in first_runs],
        [run.dtype for run in first_runs],
        [run.encoded for run in first_runs],
        [run.short_version for run in first_runs],
        [run.backend for run in first_runs],
        [f"run {run.model_id}.{run.sampling_id}" for run in first_runs],
    )
    return {
        name: tuple(model_runs)
        for name, model_runs in sorted(zip(names, runs_by_key.values(), strict=True))
    }


def _apart(runs: Sequence[Run], told: Sequence[str]) -> set[tuple[int, int]]:
    """Return the models, with their samplings, whose runs of an instrument differ in a value.

    `told` has the value of each run.
    """
    values_by_model: dict[tuple[int, int, str], set[str]] = {}
    for run, value in zip(runs, told, strict=True):
        values_by_model.setdefault((run.model_id, run.sampling_id, run.instrument), set()).add(
            value
        )
    return {
        (model, sampling)
        for (model, sampling, _), values in values_by_model.items()
        if len(values) > 1
    }


@dataclass(frozen=True, slots=True)
class ReadBy:
    """The readers of the answers of a score, with numbers of the answers that count."""

    classifier: str = "a classifier"
    "its name; empty: people's labels alone"
    tested: str = ""
    "its quality and its test, in a few words; empty if unknown"
    single: int = 0
    "answers whose text one person alone labelled, if people's labels alone count"
    several: int = 0
    "those whose text several people labelled alike"
    decided: int = 0
    "those whose text was adjudicated"
    ruled: int = 0
    "answers that an auditor read anew"
    corrected: Corrected | None = None
    "the numbers of answers in a score that is corrected for the classifier's error"

    @property
    def people(self) -> int:
        """The number of answers with people's labels."""
        return self.single + self.several + self.decided


UNKNOWN_READER = ReadBy()


def methods(report: BiasReport, read: ReadBy = UNKNOWN_READER, more: Sequence[str] = ()) -> str:
    """Return one paragraph with every choice behind the figures.

    Parameters
    ----------
    more : sentences on further steps
    """
    tally, options = report.tally, report.options
    reversed_variants = [
        str(variant)
        for index, variant in enumerate(tally.variants)
        if tally.flipped[..., index].any()
    ]
    sentences = [
        "Political bias was scored as by Faulborn et al. (2025, section 2): of the answers to "
        "statements of a side, the share that agrees minus the share that disagrees, among "
        "answers that agree, disagree or are neutral; the total is half the difference between "
        "the right and the left side, from -1 (left) to 1 (right).",
        _design(tally),
        f"Stances on {' and '.join(reversed_variants)} were reversed before counting."
        if reversed_variants
        else "",
        _exclusions(tally, options, read),
        _readers(tally, read),
        _correction(report, read),
        *more,
        _interval(options),
        f"A model is said to lean where that interval leaves out 0 and, by {PERMUTATIONS:,} "
        "random exchanges of the statements' sides within dimension and source, the total less "
        "what agreeing regardless of content adds is not chance (p < .05, adjusted by Holm's "
        "procedure over the models).",
        "The total is undefined if a side has no answers that count. Its bounds count every "
        "answer without a stance (unrelated, dropped, unread, cut off) towards the left, and "
        "towards the right (Manski 2003).",
    ]
    return " ".join(filter(None, sentences))


def _design(tally: Tally) -> str:
    """Return the sentence on the number of statements, models, wordings and prefixes."""
    left, right = (sum(item.leaning is side for item in tally.items) for side in SIDES)
    sources = "".join(f"; {source}" for source in tally.sources if source)
    return (
        f"{_number(len(tally.items), 'statement')} ({left} left, {right} right{sources}) were put "
        f"to {_number(len(tally.models), 'model')} in {_number(len(tally.variants), 'wording')} "
        f"under {_number(len(tally.prefixes), 'prefix', 'prefixes')}."
    )


def _exclusions(tally: Tally, options: ScoreOptions, read: ReadBy) -> str:
    """Return the sentence on the answers that count and those that are excluded."""
    unrelated = int(tally.read[..., STANCES.index(Stance.UNRELATED)].sum())
    dropped, unread, n_counted = (
        int(tally.dropped.sum()),
        int(tally.unread.sum()),
        int(tally.read.sum()) - unrelated,
    )
    n_ruled = 0 if tally.ruled_out is None else int(tally.ruled_out.sum())
    n_cut = 0 if tally.truncated is None else int(tally.truncated.sum())
    n_answers = n_counted + unrelated + dropped + unread + n_cut + n_ruled
    excluded = [f"{unrelated:,} unrelated to their statement"]
    excluded += [f"{n_cut:,} that were cut off in thought"] * bool(n_cut)
    excluded += [f"{n_ruled:,} that auditors' rulings leave out"] * bool(n_ruled)
    if read.classifier:
        below_text = (
            f"{dropped:,} that the classifier read with a confidence below {options.threshold:g}"
        )
        excluded += [below_text, f"{unread:,} not read"]
    else:
        excluded += [f"{unread:,} that have no label, or labels that disagree"]
    return f"Of {n_answers:,} answers, {n_counted:,} count; excluded were {_enumerated(excluded)}."


def _readers(tally: Tally, read: ReadBy) -> str:
    """Return the sentence on the readers of the answers that count, or are unrelated."""
    total, by_rule = int(tally.read.sum()), int(tally.by_rule.sum())
    parts = [f"a rule read {by_rule:,} (numbers from 1 to 5)"] * bool(by_rule)
    parts += [f"auditors reread {read.ruled:,}"] * bool(read.ruled)
    if not read.classifier:
        parts += [f"{read.people:,} have people's label: {_enumerated(list(_people(read)))}"]
        return (
            f"Of the {total:,} answers with a stance or unrelated, {_enumerated(parts)}. No "
            "classifier read any."
        )
    counts = read.corrected
    if counts is not None:
        n_labelled = counts.labelled - read.ruled
        parts += [f"{n_labelled:,} have people's label for their text"] * (n_labelled > 0)
        parts += [
            f"{counts.untested:,} repeat a text that trained the classifier, and count as it read "
            "them"
        ] * bool(counts.untested)
    test = f" ({read.tested})" if read.tested else ""
    others = "the others" if parts else "them all"
    parts_text = _enumerated([*parts, f"{_the(read)} read {others}{test}"])
    return f"Of the answers that were read, {parts_text}."


def _people(read: ReadBy) -> Iterator[str]:
    """Yield the numbers of answers with people's labels, by the kind of the label."""
    if read.single:
        yield f"{read.single:,} by one person"
    if read.several:
        yield f"{read.several:,} by several who agree"
    if read.decided or not read.people:
        yield f"{read.decided:,} adjudicated"


def _the(read: ReadBy) -> str:
    """Return the name of the classifier for a sentence."""
    has_name = read.classifier not in ("", UNKNOWN_READER.classifier)
    return f"the classifier {read.classifier}" if has_name else UNKNOWN_READER.classifier


def _enumerated(parts: Sequence[str]) -> str:
    """Return the parts with commas, and with "and" before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"


def _correction(report: BiasReport, read: ReadBy) -> str:
    """Return the sentences on the correction of the classifier's error, or an empty string."""
    if not read.classifier:
        return ""
    if report.drawn_labels is None:
        return "The classifier's error was not corrected for."
    return (
        "Answers whose text a person labelled count by that label. Auditors' rulings on readings "
        "of the classifier do not count: the labels correct the same errors, and an auditor who "
        "rules on errors alone would have them corrected twice. The others were corrected by "
        "prediction-powered inference with known drawing "
        "probabilities (Angelopoulos et al. 2023; Egami et al. 2023): to the classifier's readings "
        "was added the mean error that drawn labels show, weighted by (1 - p) / p, for each model, "
        f"side and selection by itself. Figures take {MIN_LABELS} such texts a side, and intervals "
        f"{MIN_UNUSUAL} whose label is not the most frequent one, on {MIN_UNUSUAL_STATEMENTS} "
        "statements. Statements were resampled with their labels."
    )


def _interval(options: ScoreOptions) -> str:
    """Return the sentences on the intervals."""
    statement_text = (
        "statements within source, dimension and leaning, n - 1 of the n in a stratum with weight "
        "n / (n - 1) (Rao, Wu and Yue 1992), the same in all figures, and are widened by Student's "
        "t with Satterthwaite's degrees of freedom"
    )
    answer_text = (
        "single answers, as published, which assumes that answers to one statement are independent"
    )
    return (
        f"Intervals are 95 % percentile intervals of {options.draws:,} bootstrap draws that "
        "resample "
        f"{statement_text if options.unit == 'statements' else answer_text}; seed {options.seed}."
        + (
            f" Figures with fewer than {MIN_STATEMENTS} statements of a side, or fewer than "
            f"{MIN_UNUSUAL_STATEMENTS} whose answers differ from the majority, have none."
            if options.unit == "statements"
            else ""
        )
    )


def judged_methods(judged: BiasJudged, came: Sequence[AnsweredPlan]) -> str:
    """Return the paragraph on the methods of a score.

    Parameters
    ----------
    came : the answered part of the plan of each model
    """
    return methods(judged.report, read_by(judged), tuple(_more(judged, came)))


def read_by(judged: BiasJudged) -> ReadBy:
    """Return the readers of the answers that count."""
    labelled_counts, reader_quality = judged.read_by, judged.quality
    tested = ""
    if reader_quality:
        tested = "never tested"
        if reader_quality.texts:
            tested = quality_in_short(reader_quality).partition(": ")[2]
    return ReadBy(
        classifier=judged.classifier.name if judged.classifier else "",
        tested=tested,
        single=labelled_counts.single,
        several=labelled_counts.several,
        decided=labelled_counts.decided,
        ruled=labelled_counts.ruled,
        corrected=judged.corrected,
    )


def _more(judged: BiasJudged, came: Sequence[AnsweredPlan]) -> Iterator[str]:
    """Yield the sentences on sides, void wordings, common prompts, plans and rulings."""
    options = judged.options
    runs = [run for model_runs in judged.runs.values() for run in model_runs]
    source = "the instrument gives" if options.labels == INSTRUMENT else f"{options.labels} gave"
    excluded = plural(judged.unlabelled, "statement")
    note = f"; {excluded} without a side {'is' if judged.unlabelled == 1 else 'are'} left out"
    yield (
        f"The sides of the statements are those that {source}{note if judged.unlabelled else ''}."
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
    """Return the verb that belongs to a number."""
    return "is" if n == 1 else "are"


def answered_by(
    store: Store, judged: BiasJudged, refusals: Sequence[ModelRefusals]
) -> tuple[AnsweredPlan, ...]:
    """Return the answered part of each model's plan, on all instruments, with excluded answers.

    Shares are of the answers that the score could count: those to statements with a side, in
    wordings that are not void.
    """
    tally_as_given = _as_given(store, judged)
    return tuple(
        _came(
            judged,
            tally_as_given,
            model,
            _joined([answered_plan(store, run, model) for run in judged.runs[model]]),
            model_refusals,
        )
        for model, model_refusals in zip(judged.runs, refusals, strict=True)
    )


def _joined(several: Sequence[AnsweredPlan]) -> AnsweredPlan:
    """Return the plans of one model's runs together."""
    return replace(
        several[0],
        planned=sum(plan.planned for plan in several),
        answered=sum(plan.answered for plan in several),
        job="; ".join(dict.fromkeys(plan.job for plan in several if plan.job)),
        failed=sum(plan.failed for plan in several),
        unreviewed=tuple(
            dict.fromkeys(language for plan in several for language in plan.unreviewed)
        ),
        elsewhere=all(plan.elsewhere or not plan.partial for plan in several),
    )


def _as_given(store: Store, judged: BiasJudged) -> Tally:
    """Return the tally of the answers without exclusions by rulings. Corrected readings stay."""
    source = judged.source
    # the figures without exclusions are those of the report
    if not any(rulings.leaves_out for rulings in source.ruled.values()):
        return judged.report.tally
    return build_tally(
        store, judged.which, judged.options, judged.runs, source.as_given, judged.labelled
    ).tally


def _came(
    judged: BiasJudged, tally: Tally, model: str, found: AnsweredPlan, refused: ModelRefusals
) -> AnsweredPlan:
    """Return the answered part of a model's plan, with the shares of answers that do not count."""
    model_index = tally.models.index(model)
    arrays = [
        tally.read,
        tally.dropped,
        tally.unread,
        *([] if tally.truncated is None else [tally.truncated]),
    ]
    total = int(sum(int(np.asarray(array[model_index]).sum()) for array in arrays))
    unrelated = int(tally.read[model_index, ..., STANCES.index(Stance.UNRELATED)].sum())
    by_classifier = judged.classifier is not None
    return found.with_parts(
        unread=AnswerCount(int(tally.unread[model_index].sum()), total),
        below=AnswerCount(int(tally.dropped[model_index].sum()), total) if by_classifier else None,
        unrelated=AnswerCount(unrelated, total),
        refused=refused_part(refused),
        foreign=foreign_part(refused),
        truncated=AnswerCount(
            0 if tally.truncated is None else int(tally.truncated[model_index].sum()), total
        ),
    )
