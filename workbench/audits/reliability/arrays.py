"""A run's readings as arrays over template, statement, variant and order of labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from stores.core.contents import Part
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.reliability.counting import SIGNS, Counts, Int8Array
from workbench.domain.findings import folded
from workbench.domain.prompts import SLOT
from workbench.domain.readings import Stance
from workbench.domain.responses import EXACT
from workbench.domain.rulings import NOTHING
from workbench.domain.statements import Relation, VariantId, VariantKind, variant_order
from workbench.errors import UsageError
from workbench.evidence.readings import kept
from workbench.evidence.rulings import NO_RULINGS, RunRulings
from workbench.evidence.runs import nothing_answered
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

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.templates), len(self.statements), len(self.variants), 2


def layout(store: Store, run: Run, asked: Collection[int]) -> ProbeLayout:
    """Return the axes of a run's arrays; a statement has a place where any of its probes was asked."""
    cells = store.runs.cells(run)
    there = {(kind, ordinal) for _, kind, ordinal, *_ in cells}
    variants = sorted((VariantId(VariantKind(kind), ordinal) for kind, ordinal in there), key=variant_order)
    statements = tuple(dict.fromkeys(cell[0] for cell in cells if cell[5] in asked))
    templates = tuple(dict.fromkeys(t.name for t in store.runs.templates(run)))
    at_statement = {ref: i for i, ref in enumerate(statements)}
    at_variant = {(v.kind.value, v.ordinal): i for i, v in enumerate(variants)}
    at_template = {name: i for i, name in enumerate(templates)}
    flat: dict[int, int] = {}
    exists = np.zeros((len(statements), len(variants)), dtype=bool)
    relations, blank = np.zeros(exists.shape, dtype=np.int8), np.zeros(exists.shape, dtype=bool)
    of_probe, signs = _prompts(store, run), {one.value: SIGNS[one] for one in Relation}
    prompts = np.full(len(templates) * exists.size * 2, -1, dtype=np.int64)
    for ref, kind, ordinal, template, inverted, probe, relation in cells:
        if ref in at_statement and template in at_template:
            s, v = at_statement[ref], at_variant[kind, ordinal]
            exists[s, v], relations[s, v] = True, signs[relation]
            flat[probe] = place = ((at_template[template] * len(statements) + s) * len(variants) + v) * 2 + inverted
            prompts[place], blank[s, v] = of_probe[probe]
    shape = len(templates), *exists.shape, 2
    return ProbeLayout(statements, tuple(variants), templates, flat, exists, relations, prompts.reshape(shape), blank)


def _prompts(store: Store, run: Run) -> dict[int, tuple[int, bool]]:
    """Return of each probe the number of its prompt, and whether its wording is blank.

    Prompts that differ in case and blanks alone have one number. Each text is folded once.
    """
    folds: dict[str, str] = {}
    numbers: dict[tuple[str, str, str], int] = {}
    found = {}
    for probe, *texts in store.runs.asked(run):
        for text in texts:
            if text not in folds:
                folds[text] = folded(text)
        system, user, wording = (folds[text] for text in texts)
        same = system, user, wording if SLOT in system + user else ""
        found[probe] = numbers.setdefault(same, len(numbers)), not wording
    return found


def counts(store: Store, run: Run, reader: int, rulings: RunRulings = NO_RULINGS) -> Counts:
    """Return a run's readable and unreadable answers as arrays over template, statement, variant and order.

    `rulings`: what auditors' rulings change. Raises UsageError where nothing was sampled, or all of it failed.
    """
    if run.sampling.mode == EXACT:
        raise UsageError(
            f"{run.label} has only probabilities, no answers to count. Sample the model, or choose "
            "another run with --sampling"
        )
    there = store.readings.count(reader)

    def made() -> Counts:
        return _counted(store, run, reader, rulings)

    key = "reliability counts", run, reader, bool(rulings.counting), rulings.leaves_out
    return kept(store, key, (Part.ANSWERS, Part.MATERIAL), made, there, rulings.probes, rulings.answers)


def _counted(store: Store, run: Run, reader: int, rulings: RunRulings) -> Counts:
    failures = store.runs.failures(run)
    if not run.responses:
        raise UsageError(nothing_answered(run, failures))
    answered, truncated = store.runs.counts(run, [reader]), store.runs.truncated(run)
    places = layout(store, run, {*truncated, *(probe for probe, *_ in answered)})
    shape, flat = places.shape, places.flat
    plans = store.runs.planned(run)
    planned = np.zeros(shape, dtype=np.int32)
    for probe, n in plans.items():
        if probe in flat:
            planned.reshape(-1)[flat[probe]] = n
    arrays = {label: np.zeros(shape, dtype=np.int32) for label in (Stance.AGREE.value, Stance.DISAGREE.value, None)}
    cut = np.zeros(shape, dtype=np.int32)
    for probe, n in truncated.items():
        if probe in flat:
            cut.reshape(-1)[flat[probe]] += n
    for label, array in arrays.items():
        rows = [(flat[probe], n) for probe, found, _, n in answered if found == label and probe in flat]
        if rows:
            where, how_many = np.array(rows, dtype=np.int64).T
            np.add.at(array.reshape(-1), where, how_many.astype(np.int32))
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
    """Change counts by what auditors ruled; return how many answers are left out, None where nothing is ruled on.

    A right reading that is no stance makes an answer unreadable.
    """
    if not rulings.counting:
        return None
    left_out = np.zeros_like(arrays[None])
    for place in (flat[probe] for probe in rulings.probes if probe in flat):
        for array in arrays.values():
            left_out.reshape(-1)[place] += array.reshape(-1)[place]
            array.reshape(-1)[place] = 0
    for probe, text, label, n in store.runs.counts_by_text(run, [reader], rulings.answers, rulings.texts):
        effect = rulings.effect(probe, text)
        if probe in flat and effect != NOTHING:
            arrays[label if label in arrays else None].reshape(-1)[flat[probe]] -= n
            to = left_out if effect.left_out else arrays[effect.label if effect.label in arrays else None]
            to.reshape(-1)[flat[probe]] += n
    return left_out
