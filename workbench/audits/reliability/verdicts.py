"""The report of a run, from samples or label probabilities, and its readings as arrays.

The axes of the arrays are template, statement, variant and order of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import TypeVar

import numpy as np

from stores.core.contents import StoreSection, cached_result
from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.codes import PASS
from workbench.audits.reliability import expected as of_probabilities
from workbench.audits.reliability.counting import ALL, SIGNS, TEMPLATE, Counts, Int8Array
from workbench.audits.reliability.expected import LabelMass
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.reader_error import ReaderError
from workbench.domain.findings import folded
from workbench.domain.prompts import SLOT
from workbench.domain.readings import USUAL, ReaderCard, ReaderKind, ReadingChoice, Stance
from workbench.domain.responses import EXACT
from workbench.domain.rulings import NOTHING
from workbench.domain.statements import Relation, VariantId, VariantKind, variant_order
from workbench.errors import UsageError
from workbench.evidence.control_sample import RuledControlSample, control_sample
from workbench.evidence.letters import LabelProbabilities
from workbench.evidence.listed_rulings import reviewed_refs, reviewed_summary
from workbench.evidence.readings import ReadingSource, source_of
from workbench.evidence.rulings import NO_RULINGS, SAME, DifferingFigures, RulingNotes, RunRulings
from workbench.evidence.runs import no_answers_message
from workbench.readers.verbalizers import FIRST, VERSION, Verbalizers, forms_of
from workbench.stats.arrays import BoolArray, Int32Array, IntArray


@dataclass(frozen=True, slots=True)
class ProbeLayout:
    """The indices of a run's probes in arrays over template, statement, variant and order."""

    statements: tuple[str, ...]
    variants: tuple[VariantId, ...]
    templates: tuple[str, ...]
    flat: dict[int, int]
    "rowid of a probe -> its index in the flat array"
    exists: BoolArray
    relations: Int8Array
    prompts: IntArray
    "number of the prompt, equal for prompts that read alike; -1 for no prompt: (T, S, V, 2)"
    blank: BoolArray
    "whether a wording has no text: (S, V)"

    def marked(self, probes: Collection[int]) -> BoolArray:
        """Return whether a prompt is among these probes: (T, S, V, 2)."""
        is_marked = np.zeros(self.shape, dtype=bool)
        is_marked.reshape(-1)[[self.flat[probe] for probe in probes if probe in self.flat]] = True
        return is_marked

    def of(self, probes: IntArray) -> IntArray:
        """Return the index of each of these probes in the flat array, or -1 for an unknown one."""
        index_of = self.flat.get
        return np.fromiter(
            (index_of(probe, -1) for probe in probes.tolist()), dtype=np.int64, count=len(probes)
        )

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of the arrays: (T, S, V, 2)."""
        return len(self.templates), len(self.statements), len(self.variants), 2


@dataclass(frozen=True, slots=True)
class _Cells:
    """The planned cells of a run, one list per column."""

    refs: list[str]
    kinds: list[str]
    ordinals: list[int]
    templates: list[str]
    inverted: list[int]
    probes: list[int]
    relations: list[str]

    @classmethod
    def of_run(cls, store: Store, run: Run) -> _Cells:
        """Return the cells of a run."""
        rows = store.runs.cells(run)
        return cls(
            refs=[row[0] for row in rows],
            kinds=[row[1] for row in rows],
            ordinals=[row[2] for row in rows],
            templates=[row[3] for row in rows],
            inverted=[row[4] for row in rows],
            probes=[row[5] for row in rows],
            relations=[row[6] for row in rows],
        )

    @property
    def wordings(self) -> Iterator[tuple[str, int]]:
        """The kind and ordinal of each cell's wording."""
        return zip(self.kinds, self.ordinals, strict=True)

    @property
    def texts(self) -> Iterator[tuple[str, str, int]]:
        """The key of each cell's text."""
        return zip(self.refs, self.kinds, self.ordinals, strict=True)

    @property
    def forms(self) -> Iterator[tuple[str, int]]:
        """The key of each cell's template in its label order."""
        return zip(self.templates, self.inverted, strict=True)


def layout(store: Store, run: Run, asked: Collection[int]) -> ProbeLayout:
    """Return the axes of a run's arrays, with the statements of which any probe was asked."""
    cells = _Cells.of_run(store, run)
    asked_refs = compress(cells.refs, (probe in asked for probe in cells.probes))
    statements = tuple(dict.fromkeys(asked_refs))
    templates = tuple(dict.fromkeys(template.name for template in store.runs.templates(run)))
    variants = tuple(
        sorted(
            (VariantId(VariantKind(kind), ordinal) for kind, ordinal in set(cells.wordings)),
            key=variant_order,
        )
    )
    wordings = [(variant.kind.value, variant.ordinal) for variant in variants]
    statement_index = _column(cells.refs, _numbered(statements))
    template_index = _column(cells.templates, _numbered(templates))
    variant_index = _column(cells.wordings, _numbered(wordings))
    order = np.array(cells.inverted, dtype=np.int64)
    included = (statement_index >= 0) & (template_index >= 0)
    shape = len(templates), len(statements), len(variants), 2
    flat_index = (template_index * len(statements) + statement_index) * len(variants)
    flat_index = (flat_index + variant_index) * 2 + order
    place = statement_index[included], variant_index[included]
    prompt_numbers, is_blank = _prompt_numbers(store, run, cells)
    signs = _column(cells.relations, {relation.value: SIGNS[relation] for relation in Relation})
    exists, blank = np.zeros((2, *shape[1:3]), dtype=np.bool_)
    relations = np.zeros(exists.shape, dtype=np.int8)
    prompts = np.full(math.prod(shape), -1, dtype=np.int64)
    exists[place] = True
    blank[place] = is_blank[included]
    relations[place] = signs[included]
    prompts[flat_index[included]] = prompt_numbers[included]
    flat = dict(compress(zip(cells.probes, flat_index.tolist(), strict=True), included.tolist()))
    return ProbeLayout(
        statements, variants, templates, flat, exists, relations, prompts.reshape(shape), blank
    )


def _prompt_numbers(store: Store, run: Run, cells: _Cells) -> tuple[IntArray, BoolArray]:
    """Return a number for each cell's prompt, and whether its wording has no text.

    The numbers are equal for prompts that read alike.
    """
    texts = {key: folded(text) for key, text in store.runs.wordings(run).items()}
    forms = {
        key: (folded(system), folded(user)) for key, (system, user) in store.runs.forms(run).items()
    }
    text_numbers, form_numbers = _numbered(texts.values(), 1), _numbered(forms.values())
    text = _column((texts[key] for key in cells.texts), text_numbers)
    form = _column((forms[key] for key in cells.forms), form_numbers)
    # A form without a slot for the statement gives one prompt for all texts.
    has_slot = np.array([SLOT in system + user for system, user in form_numbers], dtype=np.bool_)
    text_in_form = np.where(has_slot[form], text, 0)
    is_blank = text == text_numbers.get("", 0)
    return form * (len(text_numbers) + 1) + text_in_form, np.asarray(is_blank)


K = TypeVar("K", bound=Hashable)


def _numbered(values: Iterable[K], start: int = 0) -> dict[K, int]:
    """Return a number for each distinct value, in order."""
    return {value: number for number, value in enumerate(dict.fromkeys(values), start)}


def _column(values: Iterable[K], numbers: Mapping[K, int]) -> IntArray:
    """Return the number of each value, or -1 if it has none."""
    return np.array([numbers.get(value, -1) for value in values], dtype=np.int64)


def counts(store: Store, run: Run, reader: int, rulings: RunRulings = NO_RULINGS) -> Counts:
    """Return the numbers of a run's readable and unreadable answers, as arrays.

    Parameters
    ----------
    rulings : what auditors' rulings change

    Raises UsageError if nothing was sampled, or all of it failed.
    """
    if run.sampling.mode == EXACT:
        raise UsageError(
            f"{run.label} has only probabilities, no answers to count. Sample the model, or choose "
            "another run with --sampling"
        )
    n_readings = store.readings.count(reader)

    def made() -> Counts:
        return _counted(store, run, reader, rulings)

    key = (
        "reliability counts",
        run,
        reader,
        bool(rulings.counting),
        rulings.leaves_out,
        bool(rulings.read_anew),
    )
    return cached_result(
        store,
        key,
        (StoreSection.ANSWERS, StoreSection.MATERIAL),
        made,
        n_readings,
        rulings.probes,
        rulings.answers,
    )


def _counted(store: Store, run: Run, reader: int, rulings: RunRulings) -> Counts:
    """Return the numbers of a run's answers, computed from the store."""
    failures = store.runs.failures(run)
    if not run.responses:
        raise UsageError(no_answers_message(run, failures))
    answered, truncated = store.runs.counts(run, [reader]), store.runs.truncated(run)
    probe_layout = layout(store, run, {*truncated, *answered.probes.tolist()})
    shape, flat = probe_layout.shape, probe_layout.flat
    probes, plans = store.runs.planned_counts(run)
    planned, indices = np.zeros(shape, dtype=np.int32), probe_layout.of(probes)
    planned.reshape(-1)[indices[indices >= 0]] = plans[indices >= 0]
    arrays = {
        label: np.zeros(shape, dtype=np.int32)
        for label in (Stance.AGREE.value, Stance.DISAGREE.value, None)
    }
    cut_off = np.zeros(shape, dtype=np.int32)
    for probe, number in truncated.items():
        if probe in flat:
            cut_off.reshape(-1)[flat[probe]] += number
    indices = probe_layout.of(answered.probes)
    for (label, _), numbers in zip(answered.kinds, answered.counts, strict=True):
        if label in arrays:
            np.add.at(
                arrays[label].reshape(-1),
                indices[indices >= 0],
                numbers[indices >= 0].astype(np.int32),
            )
    left_out = apply_rulings(store, run, reader, rulings, arrays, flat)
    until_settled = store.settlements.probes(run)
    return Counts(
        statements=probe_layout.statements,
        variants=probe_layout.variants,
        templates=probe_layout.templates,
        positive=arrays[Stance.AGREE.value],
        negative=arrays[Stance.DISAGREE.value],
        unreadable=arrays[None],
        exists=probe_layout.exists,
        samples=max(1, int(planned.max(initial=0))),
        relations=probe_layout.relations,
        failed=probe_layout.marked(failures.probes) if failures.probes else None,
        planned=planned,
        truncated=cut_off if truncated else None,
        left_out=left_out,
        prompts=probe_layout.prompts,
        blank=probe_layout.blank,
        until_settled=probe_layout.marked(until_settled) if until_settled else None,
    )


def apply_rulings(
    store: Store,
    run: Run,
    reader: int,
    rulings: RunRulings,
    arrays: Mapping[str | None, Int32Array],
    flat: Mapping[int, int],
) -> Int32Array | None:
    """Apply rulings to the counts. Return how many answers they exclude, or None without rulings.

    An answer becomes unreadable if the right reading is no stance.
    """
    if not rulings.counting:
        return None
    left_out = np.zeros_like(arrays[None])
    for index in (flat[probe] for probe in rulings.probes if probe in flat):
        for array in arrays.values():
            left_out.reshape(-1)[index] += array.reshape(-1)[index]
            array.reshape(-1)[index] = 0
    for probe, text, label, number in store.runs.counts_by_text(
        run, [reader], rulings.answers, rulings.texts
    ):
        effect = rulings.effect(probe, text)
        if probe in flat and effect != NOTHING:
            arrays[label if label in arrays else None].reshape(-1)[flat[probe]] -= number
            target = (
                left_out
                if effect.left_out
                else arrays[effect.label if effect.label in arrays else None]
            )
            target.reshape(-1)[flat[probe]] += number
    return left_out


PROBABILITIES = "label-probabilities"
"name in the place of a sampled run's reader, with the version of the spellings"


@dataclass(frozen=True, eq=False)
class RunVerdicts:
    """A report, and the reader of the answers that it judges."""

    report: ReliabilityReport
    "an `ExactReport` if nothing was sampled"
    reader: int
    "rowid of the reader; 0 if there was nothing to read"
    card: ReaderCard
    told: RulingNotes
    "notes on what rulings change"
    given: Counts | None
    "counts of the answers before exclusions; None: nothing was sampled"
    again: Callable[[ReliabilityOptions], RunVerdicts]
    "judges the same answers by other options, without reading the store"
    error: ReaderError | None = None
    "the reader's error by the control sample; None: there is none, or rulings do not count"


@at_once
def run_verdicts(
    store: Store,
    run: Run,
    options: ReliabilityOptions | None = None,
    *,
    readings: ReadingChoice = USUAL,
) -> RunVerdicts:
    """Read and judge a run of the reliability audit.

    Raises UsageError if the options do not fit the run, or if it has nothing to judge.
    """
    source = source_of(store, [run], readings)
    if run.sampling.mode == EXACT:
        answers = _exact_answers(store, run, source)
    else:
        answers = _sampled_answers(store, run, source, readings)
    return answers.judge(options or ReliabilityOptions())


@dataclass(frozen=True, eq=False)
class _RunAnswers:
    """The answers of a run as they are read and ruled, before they are judged."""

    source: ReadingSource
    reader: int
    card: ReaderCard
    with_rulings: Counts | LabelMass
    without_rulings: Counts | LabelMass | None
    "None: no statement was reviewed"
    reviewed_refs: Collection[str]
    given: Counts | None = None
    "before exclusions; None: nothing was sampled"
    control: RuledControlSample | None = None
    as_read: Counts | None = None
    "the readings that the control sample measures; None: there is no such sample"

    def judge(self, options: ReliabilityOptions) -> RunVerdicts:
        """Return the verdicts by some options."""
        report = _judge_answers(self.with_rulings, options)
        return RunVerdicts(
            report,
            self.reader,
            self.card,
            self._ruling_notes(report, options),
            self.given,
            self.judge,
            self._reader_error(report, options),
        )

    def _ruling_notes(self, report: ReliabilityReport, options: ReliabilityOptions) -> RulingNotes:
        """Return the notes on the verdicts that rulings change."""
        if self.without_rulings is None:
            return self.source.ruling_notes()
        report_before_rulings = _judge_answers(self.without_rulings, options)
        return _notes_on_rulings(self.source, report, report_before_rulings, self.reviewed_refs)

    def _reader_error(
        self, report: ReliabilityReport, options: ReliabilityOptions
    ) -> ReaderError | None:
        """Return the reader's error, or None without a control sample."""
        if self.as_read is None or self.control is None:
            return None
        return ReaderError(judge(self.as_read, options), report, self.control)


def _exact_answers(store: Store, run: Run, source: ReadingSource) -> _RunAnswers:
    """Return the probabilities of a run."""
    refs, rulings = reviewed_refs(store, run), source.rulings(run)
    mass = label_mass(store, run)
    return _RunAnswers(
        source,
        reader=0,
        card=ReaderCard(ReaderKind.RULE, PROBABILITIES, mass.version),
        with_rulings=without_prompts(store, run, mass, rulings),
        without_rulings=None if refs is None else mass,
        reviewed_refs=refs or (),
    )


def _sampled_answers(
    store: Store, run: Run, source: ReadingSource, readings: ReadingChoice
) -> _RunAnswers:
    """Return the counts of a run's sampled answers."""
    refs, rulings = reviewed_refs(store, run), source.rulings(run)
    assert source.card is not None, "a rule reads a run that was sampled"
    assert source.reader is not None, "and has its place in the store"
    reader, card = source.reader, source.card
    given = counts(store, run, reader, rulings.as_given)
    ruled = counts(store, run, reader, rulings)
    unruled = None if refs is None else counts(store, run, reader)
    control = control_sample(store, run, card) if readings.rulings else None
    return _RunAnswers(
        source,
        reader,
        card,
        with_rulings=ruled,
        without_rulings=unruled,
        reviewed_refs=refs or (),
        given=given,
        control=control,
        as_read=None if control is None else counts(store, run, reader, rulings.faults),
    )


def _judge_answers(answers: Counts | LabelMass, options: ReliabilityOptions) -> ReliabilityReport:
    """Return the report on counts of answers or on probabilities of labels."""
    return (
        of_probabilities.judge(answers, options)
        if isinstance(answers, LabelMass)
        else judge(answers, options)
    )


def _notes_on_rulings(
    source: ReadingSource,
    report: ReliabilityReport,
    report_before_rulings: ReliabilityReport,
    refs: Collection[str],
) -> RulingNotes:
    """Return the notes on the verdicts that rulings change, and on the reviewed share.

    Parameters
    ----------
    report_before_rulings : the verdicts without rulings
    """
    statements = report_before_rulings.counts.statements
    passed = [
        ref
        for ref, verdict in zip(statements, report_before_rulings.over_templates(ALL), strict=True)
        if verdict == PASS
    ]
    notes = source.ruling_notes(
        differing_figures(report, report_before_rulings) if source.changed else SAME
    )
    return replace(notes, reviewed=reviewed_summary(statements, passed, refs))


def differing_figures(
    report: ReliabilityReport, other_report: ReliabilityReport
) -> DifferingFigures:
    """Return the numbers of tests and verdicts that differ between two reports.

    A test is of a statement and, unless it is over all of them, a template.
    """
    is_different_by_test = [
        np.atleast_2d(report.verdicts(test) != other_report.verdicts(test))
        for test in (*report.options.tests, TEMPLATE)
    ]
    refs = tuple(
        compress(
            report.counts.statements,
            np.any([is_different.any(axis=0) for is_different in is_different_by_test], axis=0),
        )
    )
    verdicts = int((report.over_templates(ALL) != other_report.over_templates(ALL)).sum())
    return DifferingFigures(
        sum(int(is_different.sum()) for is_different in is_different_by_test),
        "test",
        refs,
        "statement",
        verdicts,
    )


def without_prompts(store: Store, run: Run, mass: LabelMass, rulings: RunRulings) -> LabelMass:
    """Return the probabilities without those of the prompts that rulings exclude."""
    if not rulings.probes:
        return mass
    is_excluded = layout(store, run, store.scores.of_run(run, mass.version).keys()).marked(
        rulings.probes
    )
    positive, negative = (
        np.where(is_excluded, np.nan, side) for side in (mass.positive, mass.negative)
    )
    return replace(mass, positive=positive, negative=negative, left_out=is_excluded & mass.scored)


def label_mass(store: Store, run: Run) -> LabelMass:
    """Return the probabilities of the two labels of every prompt, summed over their spellings.

    A prompt counts as not scored if one of its spellings is not. If a run only has probabilities of
    the first version of the spellings, these are returned. Raises UsageError if nothing is scored.
    """
    return cached_result(
        store,
        ("label mass", run),
        (StoreSection.ANSWERS, StoreSection.MATERIAL),
        lambda: _mass(store, run),
    )


@dataclass(frozen=True, slots=True)
class _Spelled:
    """The scored labels of a run's templates, and the probabilities of their spellings."""

    version: str
    "version of the spellings"
    forms: Mapping[tuple[str, bool], Verbalizers]
    "(name of a template, whether its labels are swapped) -> the spellings of its labels"
    scores: Mapping[int, Mapping[str, float]]
    "rowid of a probe -> spelling -> log-probability in nats"

    @classmethod
    def of_run(cls, store: Store, run: Run) -> _Spelled:
        """Return the spellings and scores of a run. Raises UsageError if nothing is scored."""
        version = FIRST if store.scores.versions(run) == (FIRST,) else VERSION
        forms = {
            (template.name, template.inverted): forms_of(template, version)
            for template in store.runs.templates(run)
        }
        scores = store.scores.of_run(run, version)
        if not scores and run.failed:
            raise UsageError(no_answers_message(run, store.runs.failures(run)))
        if not scores:
            raise UsageError(f"{run.label} has no probabilities yet; start or resume a job first")
        return cls(version, forms, scores)

    def probabilities(self, store: Store, run: Run) -> Iterator[tuple[int, float, float]]:
        """Yield (rowid of a probe, p of its positive label, p of its negative label).

        Probes with a spelling that is not scored are omitted.
        """
        for _, _, _, template, inverted, probe, _ in store.runs.cells(run):
            forms, scored = self.forms.get((template, bool(inverted))), self.scores.get(probe)
            if forms is None or scored is None or not scored.keys() >= set(forms.all):
                continue
            positive, negative = (
                sum(np.exp(scored[form]) for form in side)
                for side in (forms.positive, forms.negative)
            )
            yield probe, float(positive), float(negative)


def label_probabilities(store: Store, run: Run) -> Iterator[LabelProbabilities]:
    """Yield the probabilities of both labels of each prompt, summed over their spellings.

    Raises UsageError if nothing is scored.
    """
    for probe, agree, disagree in _Spelled.of_run(store, run).probabilities(store, run):
        yield LabelProbabilities(
            probe, {Stance.AGREE.value: agree, Stance.DISAGREE.value: disagree}
        )


def _mass(store: Store, run: Run) -> LabelMass:
    """Return the probabilities of the two labels as arrays."""
    spelled = _Spelled.of_run(store, run)
    templates, failures = store.runs.templates(run), store.runs.failures(run)
    version, forms = spelled.version, spelled.forms
    probe_layout = layout(store, run, spelled.scores.keys())
    positive, negative = (np.full(probe_layout.shape, np.nan) for _ in range(2))
    for probe, *labels in spelled.probabilities(store, run):
        if probe in probe_layout.flat:
            for side, probability in zip((positive, negative), labels, strict=True):
                side.reshape(-1)[probe_layout.flat[probe]] = probability
    axes = (probe_layout.statements, probe_layout.variants, probe_layout.templates)
    spellings = {
        label.strip(): label_spellings
        for template in templates
        for label, label_spellings in zip(
            (template.positive, template.negative),
            (
                forms[template.name, template.inverted].positive,
                forms[template.name, template.inverted].negative,
            ),
            strict=True,
        )
    }
    failed = probe_layout.marked(failures.probes) if failures.probes else None
    return LabelMass(
        *axes,
        positive,
        negative,
        probe_layout.exists,
        probe_layout.relations,
        failed,
        probe_layout.prompts,
        probe_layout.blank,
        version,
        spellings,
    )
