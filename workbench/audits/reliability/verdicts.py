"""A run ─judge→ its report, whether it was sampled or its label probabilities were computed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress

import numpy as np

from stores.core.contents import Part
from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.codes import PASS
from workbench.audits.reliability import expected as of_probabilities
from workbench.audits.reliability.arrays import counts, layout
from workbench.audits.reliability.counting import ALL, TEMPLATE, Counts
from workbench.audits.reliability.expected import LabelMass
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.readings import USUAL, ReaderCard, ReaderKind, Readings
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.evidence.listed_rulings import reviewed, reviewed_words
from workbench.evidence.readings import Source, kept, source_of
from workbench.evidence.rulings import NO_RULINGS, SAME, Differing, RunRulings, Told
from workbench.evidence.runs import nothing_answered
from workbench.readers.verbalizers import FIRST, VERSION, forms_of

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

    def judged(chosen: ReliabilityOptions) -> RunVerdicts:
        report = _judged(ruled, chosen)
        told = source.told() if plain is None else _told(source, report, _judged(plain, chosen), refs or ())
        return RunVerdicts(report, reader, card, told, given, judged)

    return judged(options or ReliabilityOptions())


def _judged(of: Counts | LabelMass, options: ReliabilityOptions) -> ReliabilityReport:
    return of_probabilities.judge(of, options) if isinstance(of, LabelMass) else judge(of, options)


def _told(source: Source, report: ReliabilityReport, plain: ReliabilityReport, refs: Collection[str]) -> Told:
    """Say what rulings change, and how much was reviewed; `plain`: verdicts without rulings."""
    statements = plain.counts.statements
    passed = [ref for ref, verdict in zip(statements, plain.over_templates(ALL), strict=True) if verdict == PASS]
    told = source.told(different(report, plain) if source.changed else SAME)
    return replace(told, reviewed=reviewed_words(statements, passed, refs))


def different(one: ReliabilityReport, two: ReliabilityReport) -> Differing:
    """Return the tests (of a statement and, where it has one, a template) and verdicts that differ between reports."""
    others = [np.atleast_2d(one.verdicts(test) != two.verdicts(test)) for test in (*one.options.tests, TEMPLATE)]
    refs = tuple(compress(one.counts.statements, np.any([other.any(axis=0) for other in others], axis=0)))
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

    A prompt of which a spelling is not scored counts as not scored. Where a run has probabilities of the first version
    of the spellings alone, they are those. Raises UsageError where nothing is scored.
    """
    return kept(store, ("label mass", run), (Part.ANSWERS, Part.MATERIAL), lambda: _mass(store, run))


def _mass(store: Store, run: Run) -> LabelMass:
    there = store.scores.versions(run)
    version = FIRST if there == (FIRST,) else VERSION
    templates = store.runs.templates(run)
    forms = {(t.name, t.inverted): forms_of(t, version) for t in templates}
    of = {
        probe: forms.get((template, bool(inverted))) for _, _, _, template, inverted, probe, _ in store.runs.cells(run)
    }
    scores = store.scores.of_run(run, version)
    failures = store.runs.failures(run)
    if not scores and run.failed:
        raise UsageError(nothing_answered(run, failures))
    if not scores:
        raise UsageError(f"{run.label} has no probabilities yet; start or resume a job first")
    places = layout(store, run, scores.keys())
    positive, negative = (np.full(places.shape, np.nan) for _ in range(2))
    for probe, found in scores.items():
        wanted = of[probe]
        if probe in places.flat and wanted is not None and all(form in found for form in wanted.all):
            for side, names in ((positive, wanted.positive), (negative, wanted.negative)):
                side.reshape(-1)[places.flat[probe]] = sum(np.exp(found[form]) for form in names)
    axes = (places.statements, places.variants, places.templates)
    spellings = {
        label.strip(): spelled
        for t in templates
        for label, spelled in zip(
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


__all__ = ["PROBABILITIES", "RunVerdicts", "label_mass", "run_verdicts"]
