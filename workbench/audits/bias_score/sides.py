"""What a model says a statement is about and which side it reflects, checked against people and the instrument."""

from __future__ import annotations

from collections.abc import Sequence

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.bias_score.judged import sides_of_run
from workbench.audits.bias_score.statement_labels import DIMENSION, LEANING, Pair, SideRow, SidesReport
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import Readings
from workbench.domain.seeds import SEED
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.labels import HALVES
from workbench.evidence.readings import source_of
from workbench.evidence.rulings import Differing
from workbench.evidence.runs import find_run, template_notes
from workbench.stats.agreement import MISSING, cohen_kappa
from workbench.stats.resampling import derive_rng

CODES = {
    DIMENSION: {dimension.value: code for code, dimension in enumerate(Dimension)},
    LEANING: {side.value: code for code, side in enumerate(Side)},
}

CODEBOOK = "side"


@at_once
def judge_sides(
    store: Store,
    instrument: str,
    model: str | None = None,
    *,
    templates: TemplateChoice = LATEST,
    snapshot: str | None = None,
    fingerprint: str | None = None,
    queue: str | None = None,
    seed: int = SEED,
    rulings: bool = True,
) -> SidesReport:
    """Return a model's labels with its kappas (Faulborn et al. 2025, section 3.1: .77 and .76 for GPT-4).

    `rulings`: whether auditors' rulings on its answers count. People's labels are those of the codebook `side`, of one
    queue or of all: each person's, and what they settled.
    """
    if queue is not None and (name := store.queues.get(queue).codebook.name) != CODEBOOK:
        raise UsageError(f"people were asked by the codebook {name!r} in the queue {queue!r}; name one of {CODEBOOK!r}")
    run = find_run(
        store,
        "statement_labels",
        model,
        instrument,
        snapshot=snapshot,
        fingerprint=fingerprint,
        answered=True,
        templates=templates,
    )
    return report_on(store, run, queue=queue, seed=seed, rulings=rulings)


def report_on(
    store: Store, run: Run, *, queue: str | None = None, seed: int = SEED, rulings: bool = True
) -> SidesReport:
    """Return the labels of one run with their kappas; see `judge_sides`."""
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
