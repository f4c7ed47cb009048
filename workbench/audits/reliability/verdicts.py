"""A run ─judge→ its report, whether it was sampled or its label probabilities were computed; and
its readings as arrays over template, statement, variant and order of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, repeat

import numpy as np

from stores.core.contents import Part, kept
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
from workbench.domain.readings import USUAL, ReaderCard, ReaderKind, Readings, Stance
from workbench.domain.responses import EXACT
from workbench.domain.rulings import NOTHING
from workbench.domain.statements import Relation, VariantId, VariantKind, variant_order
from workbench.errors import UsageError
from workbench.evidence.control_sample import control_sample
from workbench.evidence.letters import LabelProbabilities
from workbench.evidence.listed_rulings import reviewed, reviewed_words
from workbench.evidence.readings import Source, source_of
from workbench.evidence.rulings import NO_RULINGS, SAME, Differing, RunRulings, Told
from workbench.evidence.runs import nothing_answered
from workbench.readers.verbalizers import FIRST, VERSION, Verbalizers, forms_of
from workbench.stats.arrays import BoolArray, Int32Array, IntArray


@dataclass(frozen=True, slots=True)
class ProbeLayout:
    """Where each probe of a run stands in arrays over template, statement, variant and order."""

    statements: tuple[str, ...]
    variants: tuple[VariantId, ...]
    templates: tuple[str, ...]
    flat: dict[int, int]
    "rowid of a probe -> its place in the flat array"
    exists: BoolArray
    relations: Int8Array
    prompts: IntArray
    "which prompt stands there, one number for prompts that read alike; -1 for none: (T, S, V, 2)"
    blank: BoolArray
    "wordings without text: (S, V)"

    def marked(self, probes: Collection[int]) -> BoolArray:
        """Return where these probes stand: (T, S, V, 2)."""
        found = np.zeros(self.shape, dtype=bool)
        found.reshape(-1)[[self.flat[probe] for probe in probes if probe in self.flat]] = True
        return found

    def of(self, probes: IntArray) -> IntArray:
        """Return the place of each of these probes in the flat array; -1: none."""
        there = self.flat.get
        return np.fromiter(
            (there(probe, -1) for probe in probes.tolist()), dtype=np.int64, count=len(probes)
        )

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.templates), len(self.statements), len(self.variants), 2


def layout(store: Store, run: Run, asked: Collection[int]) -> ProbeLayout:
    """Return the axes of a run's arrays; a statement has a place where any of its probes was
    asked.
    """
    cells = store.runs.cells(run)
    wordings = {(kind, ordinal) for _, kind, ordinal, *_ in cells}
    variants = sorted(
        (VariantId(VariantKind(kind), ordinal) for kind, ordinal in wordings), key=variant_order
    )
    statements = tuple(dict.fromkeys(cell[0] for cell in cells if cell[5] in asked))
    templates = tuple(dict.fromkeys(t.name for t in store.runs.templates(run)))
    texts = {key: folded(text) for key, text in store.runs.wordings(run).items()}
    forms = {
        key: (folded(system), folded(user)) for key, (system, user) in store.runs.forms(run).items()
    }
    at_statement = {ref: i for i, ref in enumerate(statements)}
    at_variant = {(v.kind.value, v.ordinal): i for i, v in enumerate(variants)}
    at_template = {name: i for i, name in enumerate(templates)}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts.values()), 1)}
    form_numbers = {form: number for number, form in enumerate(dict.fromkeys(forms.values()))}
    signs = {one.value: SIGNS[one] for one in Relation}
    refs, kinds, ordinals, names, inverted, probes, relation = (
        zip(*cells, strict=True) if cells else ((),) * 7
    )

    def column(found: Iterable[int]) -> IntArray:
        return np.fromiter(found, dtype=np.int64, count=len(cells))

    s, t = (
        column(map(at_statement.get, refs, repeat(-1))),
        column(map(at_template.get, names, repeat(-1))),
    )
    v = column(map(at_variant.__getitem__, zip(kinds, ordinals, strict=True)))
    text = column(numbers[texts[key]] for key in zip(refs, kinds, ordinals, strict=True))
    form = column(form_numbers[forms[key]] for key in zip(names, inverted, strict=True))
    slotted = np.array([SLOT in system + user for system, user in form_numbers], dtype=np.bool_)
    text_alike = np.where(slotted[form], text, 0) if len(cells) else text
    exists = np.zeros((len(statements), len(variants)), dtype=bool)
    relations, blank = np.zeros(exists.shape, dtype=np.int8), np.zeros(exists.shape, dtype=bool)
    prompts = np.full(len(templates) * exists.size * 2, -1, dtype=np.int64)
    there = (s >= 0) & (t >= 0)
    place = ((t * len(statements) + s) * len(variants) + v) * 2 + column(inverted)
    exists[s[there], v[there]] = True
    relations[s[there], v[there]] = column(map(signs.__getitem__, relation))[there]
    blank[s[there], v[there]] = text[there] == numbers.get("", 0)
    prompts[place[there]] = (form * (len(numbers) + 1) + text_alike)[there]
    flat = dict(compress(zip(probes, place.tolist(), strict=True), there.tolist()))
    shape = len(templates), *exists.shape, 2
    return ProbeLayout(
        statements,
        tuple(variants),
        templates,
        flat,
        exists,
        relations,
        prompts.reshape(shape),
        blank,
    )


def counts(store: Store, run: Run, reader: int, rulings: RunRulings = NO_RULINGS) -> Counts:
    """Return a run's readable and unreadable answers as arrays over template, statement, variant
    and order.

    `rulings`: what auditors' rulings change. Raises UsageError where nothing was sampled, or all of
    it failed.
    """
    if run.sampling.mode == EXACT:
        raise UsageError(
            f"{run.label} has only probabilities, no answers to count. Sample the model, or choose "
            "another run with --sampling"
        )
    there = store.readings.count(reader)

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
    return kept(
        store, key, (Part.ANSWERS, Part.MATERIAL), made, there, rulings.probes, rulings.answers
    )


def _counted(store: Store, run: Run, reader: int, rulings: RunRulings) -> Counts:
    failures = store.runs.failures(run)
    if not run.responses:
        raise UsageError(nothing_answered(run, failures))
    answered, truncated = store.runs.counts(run, [reader]), store.runs.truncated(run)
    places = layout(store, run, {*truncated, *answered.probes.tolist()})
    shape, flat = places.shape, places.flat
    probes, plans = store.runs.most(run)
    planned, where = np.zeros(shape, dtype=np.int32), places.of(probes)
    planned.reshape(-1)[where[where >= 0]] = plans[where >= 0]
    arrays = {
        label: np.zeros(shape, dtype=np.int32)
        for label in (Stance.AGREE.value, Stance.DISAGREE.value, None)
    }
    cut = np.zeros(shape, dtype=np.int32)
    for probe, n in truncated.items():
        if probe in flat:
            cut.reshape(-1)[flat[probe]] += n
    where = places.of(answered.probes)
    for (label, _), found in zip(answered.kinds, answered.counts, strict=True):
        if label in arrays:
            np.add.at(
                arrays[label].reshape(-1), where[where >= 0], found[where >= 0].astype(np.int32)
            )
    left_out = _ruled(store, run, reader, rulings, arrays, flat)
    until_settled = store.settlements.probes(run)
    return Counts(
        statements=places.statements,
        variants=places.variants,
        templates=places.templates,
        positive=arrays[Stance.AGREE.value],
        negative=arrays[Stance.DISAGREE.value],
        unreadable=arrays[None],
        exists=places.exists,
        samples=max(1, int(planned.max(initial=0))),
        relations=places.relations,
        failed=places.marked(failures.probes) if failures.probes else None,
        planned=planned,
        truncated=cut if truncated else None,
        left_out=left_out,
        prompts=places.prompts,
        blank=places.blank,
        until_settled=places.marked(until_settled) if until_settled else None,
    )


def _ruled(
    store: Store,
    run: Run,
    reader: int,
    rulings: RunRulings,
    arrays: Mapping[str | None, Int32Array],
    flat: Mapping[int, int],
) -> Int32Array | None:
    """Change counts by what auditors ruled; return how many answers are left out, None where
    nothing is ruled on.

    A right reading that is no stance makes an answer unreadable.
    """
    if not rulings.counting:
        return None
    left_out = np.zeros_like(arrays[None])
    for place in (flat[probe] for probe in rulings.probes if probe in flat):
        for array in arrays.values():
            left_out.reshape(-1)[place] += array.reshape(-1)[place]
            array.reshape(-1)[place] = 0
    for probe, text, label, n in store.runs.counts_by_text(
        run, [reader], rulings.answers, rulings.texts
    ):
        effect = rulings.effect(probe, text)
        if probe in flat and effect != NOTHING:
            arrays[label if label in arrays else None].reshape(-1)[flat[probe]] -= n
            to = (
                left_out
                if effect.left_out
                else arrays[effect.label if effect.label in arrays else None]
            )
            to.reshape(-1)[flat[probe]] += n
    return left_out


PROBABILITIES = "label-probabilities"
"stands where a sampled run has its reader, with the version of the spellings"


@dataclass(frozen=True, eq=False)
class RunVerdicts:
    """A report, and who read what it judges."""

    report: ReliabilityReport
    "an `ExactReport` where nothing was sampled"
    reader: int
    "rowid of the reader; 0 where there was nothing to read"
    card: ReaderCard
    told: Told
    "what rulings change"
    given: Counts | None
    "what the model answered, exclusions aside; None: nothing was sampled"
    again: Callable[[ReliabilityOptions], RunVerdicts]
    "judges the same answers by other options; nothing is read"
    error: ReaderError | None = None
    "what the control sample says of the reader; None: none was drawn, or rulings do not count"


@at_once
def run_verdicts(
    store: Store, run: Run, options: ReliabilityOptions | None = None, *, readings: Readings = USUAL
) -> RunVerdicts:
    """Read and judge a run of the reliability audit.

    Raises UsageError where the options do not fit the run, or nothing of it can be judged.
    """
    source = source_of(store, [run], readings)
    refs, rulings, given = reviewed(store, run), source.rulings(run), None
    made: Callable[[RunRulings], Counts | LabelMass]
    if run.sampling.mode == EXACT:
        mass = label_mass(store, run)
        reader, card = 0, ReaderCard(ReaderKind.RULE, PROBABILITIES, mass.version)
        made = partial(without_prompts, store, run, mass)
    else:
        assert source.card is not None, "a rule reads a run that was sampled"
        assert source.reader is not None, "and has its place in the store"
        reader, card = source.reader, source.card
        made = partial(counts, store, run, reader)
        given = counts(store, run, reader, rulings.as_given)
    ruled, plain = made(rulings), None if refs is None else made(NO_RULINGS)
    control = control_sample(store, run, card) if given is not None and readings.rulings else None
    as_read = None if control is None else counts(store, run, reader, rulings.faults)

    def judged(chosen: ReliabilityOptions) -> RunVerdicts:
        report = _judged(ruled, chosen)
        told = (
            source.told()
            if plain is None
            else _told(source, report, _judged(plain, chosen), refs or ())
        )
        error = (
            None
            if as_read is None or control is None
            else ReaderError(judge(as_read, chosen), report, control)
        )
        return RunVerdicts(report, reader, card, told, given, judged, error)

    return judged(options or ReliabilityOptions())


def _judged(of: Counts | LabelMass, options: ReliabilityOptions) -> ReliabilityReport:
    return of_probabilities.judge(of, options) if isinstance(of, LabelMass) else judge(of, options)


def _told(
    source: Source, report: ReliabilityReport, plain: ReliabilityReport, refs: Collection[str]
) -> Told:
    """Say what rulings change, and how much was reviewed; `plain`: verdicts without rulings."""
    statements = plain.counts.statements
    passed = [
        ref
        for ref, verdict in zip(statements, plain.over_templates(ALL), strict=True)
        if verdict == PASS
    ]
    told = source.told(different(report, plain) if source.changed else SAME)
    return replace(told, reviewed=reviewed_words(statements, passed, refs))


def different(one: ReliabilityReport, two: ReliabilityReport) -> Differing:
    """Return the tests (of a statement and, where it has one, a template) and verdicts that differ
    between reports.
    """
    others = [
        np.atleast_2d(one.verdicts(test) != two.verdicts(test))
        for test in (*one.options.tests, TEMPLATE)
    ]
    refs = tuple(
        compress(one.counts.statements, np.any([other.any(axis=0) for other in others], axis=0))
    )
    verdicts = int((one.over_templates(ALL) != two.over_templates(ALL)).sum())
    return Differing(sum(int(other.sum()) for other in others), "test", refs, "statement", verdicts)


def without_prompts(store: Store, run: Run, mass: LabelMass, rulings: RunRulings) -> LabelMass:
    """Return probabilities without those of the prompts that rulings leave out."""
    if not rulings.probes:
        return mass
    out = layout(store, run, store.scores.of_run(run, mass.version).keys()).marked(rulings.probes)
    positive, negative = (np.where(out, np.nan, side) for side in (mass.positive, mass.negative))
    return replace(mass, positive=positive, negative=negative, left_out=out & mass.scored)


def label_mass(store: Store, run: Run) -> LabelMass:
    """Return the probabilities of the two labels of every prompt, summed over their spellings.

    A prompt of which a spelling is not scored counts as not scored. Where a run has probabilities
    of the first version of the spellings alone, they are those. Raises UsageError where nothing is
    scored.
    """
    return kept(
        store, ("label mass", run), (Part.ANSWERS, Part.MATERIAL), lambda: _mass(store, run)
    )


@dataclass(frozen=True, slots=True)
class _Spelled:
    """The labels of a run's templates as they were scored, and the probabilities of their
    spellings.
    """

    version: str
    "of the spellings"
    forms: Mapping[tuple[str, bool], Verbalizers]
    "(name of a template, whether its labels are swapped) -> the spellings of its labels"
    scores: Mapping[int, Mapping[str, float]]
    "rowid of a probe -> spelling -> log-probability in nats"

    @classmethod
    def of_run(cls, store: Store, run: Run) -> _Spelled:
        version = FIRST if store.scores.versions(run) == (FIRST,) else VERSION
        forms = {(t.name, t.inverted): forms_of(t, version) for t in store.runs.templates(run)}
        scores = store.scores.of_run(run, version)
        if not scores and run.failed:
            raise UsageError(nothing_answered(run, store.runs.failures(run)))
        if not scores:
            raise UsageError(f"{run.label} has no probabilities yet; start or resume a job first")
        return cls(version, forms, scores)

    def probabilities(self, store: Store, run: Run) -> Iterator[tuple[int, float, float]]:
        """Yield (rowid of a probe, p of its positive label, p of its negative label) where all
        spellings are scored.
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
    """Yield the probabilities of both labels of each prompt, summed over their spellings; raises as
    `label_mass`.
    """
    for probe, agree, disagree in _Spelled.of_run(store, run).probabilities(store, run):
        yield LabelProbabilities(
            probe, {Stance.AGREE.value: agree, Stance.DISAGREE.value: disagree}
        )


def _mass(store: Store, run: Run) -> LabelMass:
    spelled = _Spelled.of_run(store, run)
    templates, failures = store.runs.templates(run), store.runs.failures(run)
    version, forms = spelled.version, spelled.forms
    places = layout(store, run, spelled.scores.keys())
    positive, negative = (np.full(places.shape, np.nan) for _ in range(2))
    for probe, *labels in spelled.probabilities(store, run):
        if probe in places.flat:
            for side, probability in zip((positive, negative), labels, strict=True):
                side.reshape(-1)[places.flat[probe]] = probability
    axes = (places.statements, places.variants, places.templates)
    spellings = {
        label.strip(): written
        for t in templates
        for label, written in zip(
            (t.positive, t.negative),
            (forms[t.name, t.inverted].positive, forms[t.name, t.inverted].negative),
            strict=True,
        )
    }
    failed = places.marked(failures.probes) if failures.probes else None
    return LabelMass(
        *axes,
        positive,
        negative,
        places.exists,
        places.relations,
        failed,
        places.prompts,
        places.blank,
        version,
        spellings,
    )
