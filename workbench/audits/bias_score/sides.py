"""What a model says a statement is about and which side it reflects, checked against people and the instrument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.bias_score.judged import sides_of_run
from workbench.audits.bias_score.options import SidesOptions
from workbench.audits.bias_score.statement_labels import DIMENSION, LEANING, Pair, SideRow, SidesReport
from workbench.domain.keys import SEED
from workbench.domain.readings import Readings
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.readings import HALVES, source_of
from workbench.evidence.rulings import Differing
from workbench.evidence.runs import Which, answered_instrument, runs_of, template_notes
from workbench.evidence.runs import run_meant as found_run
from workbench.stats.agreement import cohen_kappa
from workbench.stats.resampling import derive_rng
from workbench.stats.units import MISSING

CODES = {
    DIMENSION: {dimension.value: code for code, dimension in enumerate(Dimension)},
    LEANING: {side.value: code for code, side in enumerate(Side)},
}

AUDIT, CODEBOOK = "statement_labels", "side"


@at_once
def judge_sides(store: Store, which: Which | None = None, options: SidesOptions | None = None) -> SidesReport:
    """Return a model's labels with its kappas (Faulborn et al. 2025, section 3.1: .77 and .76 for GPT-4).

    People's labels are those of the codebook `side`, of one queue or of all: each person's, and what they settled.
    """
    which, options = which or Which(), options or SidesOptions()
    run = run_meant(store, which)
    return report_on(store, run, queue=options.queue, seed=options.seed, rulings=which.readings.rulings)


def run_meant(store: Store, which: Which) -> Run:
    """Return the run in which a model labelled statements. Raises UnknownName, AmbiguousRun."""
    which = replace(which, instrument=which.instrument or answered_instrument(store, AUDIT))
    return found_run(store, AUDIT, which, answered=True)


def narrowed(store: Store, which: Which) -> Sequence[Which]:
    """Return a choice of answers for each run in which a model labelled statements."""
    if which.instrument is not None:
        store.instruments.get(which.instrument)
    runs = [
        run
        for run in runs_of(store, AUDIT, which.instrument, templates=which.templates)
        if run.responses and (not which.models or {run.model, run.named} & set(which.models))
    ]
    if which.models and not runs:
        return [which]  # whoever reads the answers says which models there are
    return [
        replace(
            which,
            instrument=run.instrument,
            models=(run.model,),
            templates=replace(which.templates, languages=(run.language,), families=(run.family,)),
        )
        for run in runs
    ]


def report_on(
    store: Store, run: Run, *, queue: str | None = None, seed: int = SEED, rulings: bool = True
) -> SidesReport:
    """Return the labels of one run with their kappas; see `judge_sides`."""
    if queue is not None and (name := store.queues.get(queue).codebook.name) != CODEBOOK:
        raise UsageError(f"people were asked by the codebook {name!r} in the queue {queue!r}; name one of {CODEBOOK!r}")
    instrument = run.instrument
    source = source_of(store, [run], Readings(rulings=rulings))
    found = sides_of_run(store, run, source)
    plain = sides_of_run(store, run, source.without) if source.changed else found
    other = tuple(ref for ref, of in plain.items() if found.get(ref) != of)
    by_model: dict[str, Pair] = {ref: (of[DIMENSION], of[LEANING]) for ref, of in found.items()}
    statements = [s for s in store.instruments.get(instrument).statements if s.ref in by_model]
    given: dict[str, Pair] = {s.ref: (s.dimension, s.leaning) for s in statements}
    people, each = _people(store, instrument, queue)
    others: dict[str, dict[str, Pair]] = {"the instrument": given, "people, settled": people, **each}
    return SidesReport(
        model=run.named,
        instrument=instrument,
        rows=tuple(SideRow(s.ref, *by_model[s.ref], given[s.ref], people.get(s.ref, (None, None))) for s in statements),
        unread=sum(None in pair for pair in by_model.values()),
        kappas={
            name: {
                condition: _kappa(
                    [by_model[s.ref][place] for s in statements],
                    [labels.get(s.ref, (None, None))[place] for s in statements],
                    condition,
                    seed,
                )
                for place, condition in enumerate((DIMENSION, LEANING))
            }
            for name, labels in others.items()
            if labels
        },
        rulings=source.told(Differing(len(other), "statement", other)),
        notes=template_notes([run]),
    )


def _people(store: Store, instrument: str, queue: str | None) -> tuple[dict[str, Pair], dict[str, dict[str, Pair]]]:
    settled: dict[str, Pair] = {}
    each: dict[str, dict[str, Pair]] = {}
    for item in store.labels.judged(CODEBOOK, queue=queue):
        if item.context.instrument != instrument:
            continue
        if item.gold is not None:
            settled[item.context.ref] = _pair(item.gold)
        for label in item.labels:
            each.setdefault(label.annotator, {})[item.context.ref] = _pair(label.label)
    return settled, dict(sorted(each.items()))


def _pair(label: str) -> Pair:
    return HALVES[DIMENSION].get(label), HALVES[LEANING].get(label)


def _kappa(a: Sequence[str | None], b: Sequence[str | None], condition: str, seed: int) -> Estimate:
    codes = CODES[condition]
    first, second = ([MISSING if label is None else codes[label] for label in labels] for labels in (a, b))
    return cohen_kappa(first, second, derive_rng(seed, "judge_sides", condition))
