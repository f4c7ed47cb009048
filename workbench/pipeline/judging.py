"""Readings ─judge→ verdicts: which run is meant, and its readings as the arrays that the audits take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from stores.runs import Run
from stores.store import Store
from workbench.audits.counts import SIGNS, Counts, Int8Array
from workbench.domain.readings import Stance
from workbench.domain.responses import EXACT
from workbench.domain.statements import Relation, VariantId, VariantKind, variant_order
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.stats.arrays import BoolArray


def find_run(
    store: Store,
    audit: str,
    model: str | None = None,
    instrument: str | None = None,
    sampling: str | None = None,
    *,
    answered: bool = False,
) -> Run:
    """Return the one run that matches; `sampling` is a part of how a sampling is described (`T 0.25`); `answered`: of
    those that have answers, not probabilities alone.

    Raises UnknownName where there is none, AmbiguousRun where there are several.
    """
    runs = [
        run
        for run in store.runs.list(audit, instrument, model)
        if (not sampling or sampling in str(run.sampling)) and not (answered and run.sampling.mode == EXACT)
    ]
    if not runs:
        what = f" by {model}" if model else ""
        others = ", ".join(sorted({run.model for run in store.runs.list(audit)}))
        raise UnknownName(
            f"the store holds no {audit} answers{what}"
            + (
                f"; there are answers by: {others}"
                if others
                else f". Start with: workbench run STORE --audit {audit} --model NAME"
            )
        )
    if len(runs) > 1:
        listed = "\n".join(f"  {run.label} ({_size(run)}, revision {run.revision[:12]})" for run in runs)
        raise AmbiguousRun(f"{len(runs)} runs match; say which with --model, --instrument or --sampling:\n{listed}")
    return runs[0]


def _size(run: Run) -> str:
    return f"{run.responses:,} {'prompts scored' if run.sampling.mode == EXACT else 'answers'}"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each probe of a run stands in arrays over template, statement, variant and order."""

    statements: tuple[str, ...]
    variants: tuple[VariantId, ...]
    templates: tuple[str, ...]
    flat: dict[int, int]
    "rowid of a probe -> its place in the flat array"
    exists: BoolArray
    relations: Int8Array

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.templates), len(self.statements), len(self.variants), 2


def layout(store: Store, run: Run, asked: Collection[int]) -> Layout:
    """Return the axes of a run's arrays; a statement has a place where any of its probes was asked."""
    cells = store.runs.cells(run)
    variants = sorted({VariantId(VariantKind(kind), ordinal) for _, kind, ordinal, *_ in cells}, key=variant_order)
    statements = tuple(dict.fromkeys(cell[0] for cell in cells if cell[5] in asked))
    templates = tuple(dict.fromkeys(t.name for t in store.runs.templates(run)))
    at_statement = {ref: i for i, ref in enumerate(statements)}
    at_variant = {(v.kind.value, v.ordinal): i for i, v in enumerate(variants)}
    at_template = {name: i for i, name in enumerate(templates)}
    flat: dict[int, int] = {}
    exists = np.zeros((len(statements), len(variants)), dtype=bool)
    relations = np.zeros(exists.shape, dtype=np.int8)
    for ref, kind, ordinal, template, inverted, probe, relation in cells:
        if ref in at_statement and template in at_template:
            s, v = at_statement[ref], at_variant[kind, ordinal]
            exists[s, v], relations[s, v] = True, SIGNS[Relation(relation)]
            flat[probe] = ((at_template[template] * len(statements) + s) * len(variants) + v) * 2 + inverted
    return Layout(statements, tuple(variants), templates, flat, exists, relations)


def counts(store: Store, run: Run, reader: int) -> Counts:
    """Return a run's readable and unreadable answers as arrays over template, statement, variant and order.

    Raises UsageError where nothing was sampled.
    """
    if run.sampling.mode == EXACT:
        raise UsageError(
            f"{run.label} has no answers that could be counted, only probabilities. Sample the model, or choose "
            "another run with --sampling"
        )
    answered = store.runs.counts(run, [reader])
    places = layout(store, run, {probe for probe, _, _ in answered})
    shape, flat = places.shape, places.flat
    arrays = {label: np.zeros(shape, dtype=np.int32) for label in (Stance.AGREE.value, Stance.DISAGREE.value, None)}
    for label, array in arrays.items():
        rows = [(flat[probe], n) for probe, found, n in answered if found == label and probe in flat]
        if rows:
            where, how_many = np.array(rows, dtype=np.int64).T
            np.add.at(array.reshape(-1), where, how_many.astype(np.int32))
    return Counts(
        statements=places.statements,
        variants=places.variants,
        templates=places.templates,
        positive=arrays[Stance.AGREE.value],
        negative=arrays[Stance.DISAGREE.value],
        unreadable=arrays[None],
        exists=places.exists,
        samples=run.samples,
        relations=places.relations,
    )
