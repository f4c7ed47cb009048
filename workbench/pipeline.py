"""Instrument ─plan→ prompts ─collect→ responses ─read→ readings ─judge→ verdicts: what the terminal, the command line
and the worker have in common. It names no audit; the registry does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from stores.rule_readings import RuleReading
from stores.runs import Answered, Run
from stores.store import Store
from workbench import registry
from workbench.audits.reliability import Counts
from workbench.data import lexicon
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.readings import ReaderCard, Stance
from workbench.domain.responses import ModelCard, Request
from workbench.domain.statements import VariantId, VariantKind, variant_order
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.readers.label_words import LabelWords

if TYPE_CHECKING:
    from workbench.inference.base import Model

FLUSH_AFTER_S = 1.0
"answers wait no longer than this before they are committed"


# ── plan ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Plan:
    """What a design needs, and what the store has of it."""

    design: Design
    templates: tuple[Template, ...]
    probes: tuple[Probe, ...]
    prompts: dict[bytes, Prompt]
    "distinct prompts by key: two probes with the same text are asked once"
    stored: dict[bytes, int]
    "answers that the store holds already, by prompt key"

    @property
    def samples(self) -> int:
        """Answers that the design asks for."""
        return self.design.samples * len(self.prompts)

    @property
    def samples_stored(self) -> int:
        return sum(min(self.stored.get(key, 0), self.design.samples) for key in self.prompts)

    @property
    def samples_needed(self) -> int:
        return self.samples - self.samples_stored

    @property
    def prompts_needed(self) -> int:
        return sum(self.stored.get(key, 0) < self.design.samples for key in self.prompts)

    def describe(self) -> str:
        """Say what will be asked, for a person who is about to start it."""
        design = self.design
        statements = len({probe.statement for probe in self.probes})
        variants = len({probe.variant for probe in self.probes})
        orders = len({probe.inverted for probe in self.probes})
        templates = len({probe.template for probe in self.probes})
        same = len(self.probes) - len(self.prompts)
        lines = [
            f"{design.audit} audit of {design.model} on {design.instrument}: {statements} statements x {variants} "
            f"variants x {templates} templates x {orders} orders",
            f"{len(self.probes):,} prompts planned"
            + (
                f", {len(self.prompts):,} distinct ({same:,} have the text of another and are asked once)"
                if same
                else ""
            )
            + f"; {design.samples} samples each = {self.samples:,} answers",
            f"{self.samples_stored:,} answers are stored already; {self.samples_needed:,} to ask "
            f"({self.prompts_needed:,} prompts)",
            f"sampling: {design.sampling}; seed {design.seed}",
        ]
        return "\n".join(lines)

    def requests(self) -> list[tuple[bytes, Request]]:
        """Return what is still to be asked, each with the seed of exactly these answers."""
        wanted = self.design.samples
        return [
            (key, Request(prompt, wanted - held, derived_seed(self.design.seed, key, held)))
            for key, prompt in self.prompts.items()
            if (held := self.stored.get(key, 0)) < wanted
        ]


def derived_seed(seed: int, prompt_key: bytes, held: int) -> int:
    """Return the seed of one prompt's answers from the job's: the order of asking does not matter, and the answers
    that follow `held` stored ones are new draws.
    """
    words = np.frombuffer(prompt_key, dtype="<u4")
    state = np.random.SeedSequence([seed, *map(int, words), held]).generate_state(2, np.uint32)
    return (int(state[0]) << 31) | (int(state[1]) >> 1)


def plan(store: Store, design: Design, *, card: ModelCard | None = None) -> Plan:
    """Work out what a design asks. Reads only.

    `card` None: answers of the newest model of that name count as stored; with it, those of exactly this model.

    Raises UnknownName for statements, variants or templates that the instrument does not have.
    """
    if design.samples < 1:
        raise UsageError(f"{design.samples} samples a prompt were asked for; ask for at least 1")
    instrument = store.instruments.get(design.instrument)
    design = replace(design, language=design.language or instrument.language)
    templates = _chosen_templates(instrument, design)
    statements = [s for s in instrument.statements if not design.statements or s.ref in design.statements]
    _known("statement", design.statements, [s.ref for s in instrument.statements], design.instrument)
    all_variants = {w.variant for s in instrument.statements for w in s.wordings if w.language == design.language}
    _known("variant", design.variants, sorted(map(str, all_variants)), design.instrument)
    variants = [v for v in sorted(all_variants, key=variant_order) if not design.variants or str(v) in design.variants]
    probes = tuple(registry.audit(design.audit).probes(statements, templates, variants, design.language))
    if not probes:
        languages = sorted({w.language for s in instrument.statements for w in s.wordings})
        raise UsageError(
            f"the design has no prompts: {design.instrument} has no wording in {design.language!r} for it. "
            f"Its languages: {', '.join(languages)}"
        )
    prompts = {probe.prompt.key: probe.prompt for probe in probes}
    stored = store.runs.stored(list(prompts), design.model, design.sampling, card)
    return Plan(design, templates, probes, prompts, stored)


def _chosen_templates(instrument: Instrument, design: Design) -> tuple[Template, ...]:
    of_audit = [t for t in instrument.templates if t.audit == design.audit]
    families = sorted({t.family for t in of_audit})
    family = [t for t in of_audit if t.family == design.family]
    if not family:
        raise UnknownName(
            f"{design.instrument} has no templates of the family {design.family!r} for the audit {design.audit!r}. "
            f"There is: {', '.join(families) or 'none'}"
        )
    _known("template", design.templates, sorted({t.name for t in family}), design.instrument)
    return tuple(t for t in family if not design.templates or t.name in design.templates)


def _known(what: str, wanted: Sequence[str], known: Sequence[str], where: str) -> None:
    missing = [name for name in wanted if name not in known]
    if missing:
        shown = ", ".join(known[:20]) + (f", and {len(known) - 20} more" if len(known) > 20 else "")
        raise UnknownName(f"{where} has no {what} {', '.join(map(repr, missing))}. It has: {shown}")


# ── collect ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Progress:
    """How far a collection is, for people who watch."""

    done: int
    total: int
    answers: int = 0
    unreadable: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0
    shared: float = 0.0
    "share of prompt tokens that were not computed again"
    merged: float = 0.0
    "share of answer tokens that were not computed again"

    def as_json(self) -> str:
        return json.dumps(
            {
                "answers": self.answers,
                "unreadable": self.unreadable,
                "refused": self.refused,
                "failed": self.failed,
                "seconds": round(self.seconds, 2),
                "shared": round(self.shared, 4),
                "merged": round(self.merged, 4),
            }
        )


def collect(
    store: Store,
    plan: Plan,
    model: Model,
    *,
    attempt: int,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Progress:
    """Ask what is missing; commit answers, their readings and the job's progress together as they arrive.

    Stops after the answers at hand when `should_stop` says so; what was committed is complete and stays.
    """
    if plan.templates:
        store.runs.add_probes(
            plan.design.audit, plan.design.instrument, plan.design.language, plan.templates, plan.probes
        )
    model_id, sampling_id = store.runs.begin(model.card, plan.design.sampling)
    reading = _Reading.of(store, plan)
    wanted = plan.requests()
    progress = Progress(done=plan.samples_stored, total=plan.samples)
    started = committed = time.monotonic()
    batch: list[Answered] = []

    def commit() -> None:
        readings = reading.read(batch, progress)
        progress.seconds = time.monotonic() - started
        work = model.work
        progress.shared = _saved(work.prompt_tokens, work.prompt_tokens_computed)
        progress.merged = _saved(work.sampled_tokens, work.sampled_tokens_computed)
        state = None if job is None else (job, progress.done, progress.as_json())
        store.runs.add(model_id, sampling_id, attempt, batch, job=state, reader=reading.reader, readings=readings)
        batch.clear()

    answers = model.generate([request for _, request in wanted], plan.design.sampling)
    try:
        for drawn in answers:
            key, request = wanted[drawn.request]
            batch.append(Answered(key, request.seed, request.n, drawn.answers, drawn.failed, drawn.reason))
            progress.done += request.n - drawn.failed
            progress.answers += request.n - drawn.failed
            progress.failed += drawn.failed
            if not drawn.more and time.monotonic() - committed >= FLUSH_AFTER_S:
                commit()
                committed = time.monotonic()
                if should_stop():
                    break
    finally:
        _close(answers)
        if batch:
            commit()
    return progress


def _close(answers: Iterator[Any]) -> None:
    close = getattr(answers, "close", None)
    if close is not None:
        close()


def _saved(naive: int, computed: int) -> float:
    return 1 - computed / naive if naive else 0.0


# ── read ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=256)
def label_reader(positive: str, negative: str, language: str, name: str) -> LabelWords:
    """Return the rule that reads answers to a template with these labels. Raises UnknownName."""
    if name not in registry.READERS:
        raise UnknownName(f"no reader is named {name!r}. There is: {', '.join(registry.READERS)}")
    return LabelWords(positive, negative, lexicon(language), rule="coded" if name == "label-words-coded" else "ours")


def template_reader(template: Template, name: str) -> LabelWords:
    return label_reader(template.positive, template.negative, template.language, name)


@dataclass(slots=True)
class _Reading:
    """Reads answers as they arrive, so that progress can say how many are readable."""

    reader: int
    templates: dict[bytes, list[Template]]
    "prompt key -> templates that lead to it: with the same labels, or it would be another prompt"

    @classmethod
    def of(cls, store: Store, plan: Plan, name: str = "label-words") -> _Reading:
        by_name = {(t.name, t.inverted): t for t in plan.templates}
        templates: dict[bytes, list[Template]] = {}
        for probe in plan.probes:
            template = by_name[probe.template, probe.inverted]
            held = templates.setdefault(probe.prompt.key, [])
            if template not in held:
                held.append(template)
        card = template_reader(plan.templates[0], name).card
        return cls(store.readings.reader(card), templates)

    def read(self, batch: Iterable[Answered], progress: Progress) -> list[RuleReading]:
        readings = []
        for item in batch:
            for number, template in enumerate(self.templates[item.prompt_key]):
                rule = template_reader(template, "label-words")
                for text, count in item.answers:
                    reading = rule.read(text)
                    readings.append(RuleReading(text, template.key, reading))
                    if reading.label is None and not number:
                        progress.unreadable += count
                        progress.refused += count if reading.reason == "refusal" else 0
        return readings


def read(store: Store, run: Run, name: str = "label-words") -> tuple[int, ReaderCard]:
    """Let a rule read every answer of a run that it has not read; return its rowid and who it is.

    Readings are stored, so this costs one query a template once they are there.
    """
    templates = store.runs.templates(run)
    if not templates:
        raise UsageError(f"{run.label} has no answers yet; start a job first")
    cards = {template_reader(t, name).card for t in templates}
    readers = {card: store.readings.reader(card) for card in cards}
    for template in templates:
        rule = template_reader(template, name)
        while texts := store.readings.unread(run, template, readers[rule.card]):
            store.readings.add(readers[rule.card], [RuleReading(t, template.key, rule.read(t)) for t in texts])
    card = next(iter(cards))
    return readers[card], card


# ── judge ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_run(
    store: Store, audit: str, model: str | None = None, instrument: str | None = None, sampling: str | None = None
) -> Run:
    """Return the one run that matches; `sampling` is a part of how a sampling is described (`T 0.25`).

    Raises UnknownName where there is none, AmbiguousRun where there are several.
    """
    runs = [run for run in store.runs.list(audit, instrument, model) if not sampling or sampling in str(run.sampling)]
    if not runs:
        what = f" by {model}" if model else ""
        others = ", ".join(sorted({run.model for run in store.runs.list(audit)}))
        raise UnknownName(
            f"the store holds no {audit} answers{what}"
            + (f"; there are answers by: {others}" if others else ". Start with: workbench run STORE --model NAME")
        )
    if len(runs) > 1:
        listed = "\n".join(f"  {run.label} ({run.responses:,} answers, revision {run.revision[:12]})" for run in runs)
        raise AmbiguousRun(f"{len(runs)} runs match; say which with --model, --instrument or --sampling:\n{listed}")
    return runs[0]


def counts(store: Store, run: Run, reader: int) -> Counts:
    """Return a run's readable and unreadable answers as arrays over template, statement, variant and order."""
    cells = store.runs.cells(run)
    variants = sorted({VariantId(VariantKind(kind), ordinal) for _, kind, ordinal, *_ in cells}, key=variant_order)
    answered = store.runs.counts(run, [reader])
    asked = {probe for probe, _, _ in answered}
    statements = tuple(dict.fromkeys(cell[0] for cell in cells if cell[5] in asked))
    templates = tuple(dict.fromkeys(t.name for t in store.runs.templates(run)))
    at_statement = {ref: i for i, ref in enumerate(statements)}
    at_variant = {(v.kind.value, v.ordinal): i for i, v in enumerate(variants)}
    at_template = {name: i for i, name in enumerate(templates)}
    shape = (len(templates), len(statements), len(variants), 2)
    flat: dict[int, int] = {}
    exists = np.zeros(shape[1:3], dtype=bool)
    for ref, kind, ordinal, template, inverted, probe in cells:
        if ref in at_statement and template in at_template:
            s, v = at_statement[ref], at_variant[kind, ordinal]
            exists[s, v] = True
            flat[probe] = ((at_template[template] * shape[1] + s) * shape[2] + v) * 2 + inverted
    arrays = {label: np.zeros(shape, dtype=np.int32) for label in (Stance.AGREE.value, Stance.DISAGREE.value, None)}
    for label, array in arrays.items():
        rows = [(flat[probe], n) for probe, found, n in answered if found == label and probe in flat]
        if rows:
            where, how_many = np.array(rows, dtype=np.int64).T
            np.add.at(array.reshape(-1), where, how_many.astype(np.int32))
    return Counts(
        statements=statements,
        variants=tuple(variants),
        templates=templates,
        positive=arrays[Stance.AGREE.value],
        negative=arrays[Stance.DISAGREE.value],
        unreadable=arrays[None],
        exists=exists,
        samples=run.samples,
    )
