"""A run ─judge→ its report, whether it was sampled or its label probabilities were computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.reliability import exact as of_probabilities
from workbench.audits.reliability.arrays import counts, layout
from workbench.audits.reliability.exact import ExactOptions, LabelMass
from workbench.audits.reliability.judge import Options, Report, judge
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.domain.responses import EXACT
from workbench.errors import UsageError
from workbench.evidence.rule_reading import LABEL_WORDS, read
from workbench.evidence.runs import nothing_answered
from workbench.readers.verbalizers import FIRST, VERSION, forms_of

PROBABILITIES = "label-probabilities"
"stands where a sampled run has its reader, with the version of the spellings"


@dataclass(frozen=True, eq=False)
class Verdicts:
    """A report, and who read what it judges."""

    report: Report
    "an `ExactReport` where nothing was sampled"
    reader: int
    "rowid of the reader; 0 where there was nothing to read"
    card: ReaderCard


def run_verdicts(
    store: Store,
    run: Run,
    options: Options | None = None,
    *,
    reader: str = LABEL_WORDS,
    exact: ExactOptions | None = None,
) -> Verdicts:
    """Read and judge a run of the reliability audit. `exact`: what only a run without samples needs.

    Raises UsageError where the options do not fit the run, or nothing of it can be judged.
    """
    if run.sampling.mode == EXACT:
        mass = label_mass(store, run)
        card = ReaderCard(ReaderKind.RULE, PROBABILITIES, mass.version)
        return Verdicts(of_probabilities.judge(mass, options, exact), 0, card)
    rowid, card = read(store, run, reader)
    return Verdicts(judge(counts(store, run, rowid), options), rowid, card)


def label_mass(store: Store, run: Run) -> LabelMass:
    """Return the probabilities of the two labels of every prompt, summed over their spellings.

    A prompt of which a spelling is not scored counts as not scored. Where a run has probabilities of the first version
    of the spellings alone, they are those. Raises UsageError where nothing is scored.
    """
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


__all__ = ["PROBABILITIES", "Verdicts", "label_mass", "run_verdicts"]
