"""Statements ─plan→ prompts ─ask→ lines ─read→ drafts, which wait for a person: nothing enters an instrument unseen.

A call is one prompt about one text with one seed. It is made once: a job that is resumed asks what is missing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stores.drafts import NewDraft, Source
from stores.store import Store
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Choice, ChoiceItem
from workbench.domain.drafting import REWORDED, CallLabel, DraftPrompt
from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt
from workbench.domain.responses import ModelCard, Request, Sampling
from workbench.domain.statements import ORIGINAL, Statement, VariantKind, Wording
from workbench.errors import UnknownName, UsageError
from workbench.pipeline.design_checks import check_model
from workbench.pipeline.planning import derived_seed
from workbench.workshop.choice_forms import original_faults
from workbench.workshop.draft_lines import drafted
from workbench.workshop.drafting import (
    Fault,
    basis_of,
    fault_in_words,
    left_out,
    read_answer,
)

if TYPE_CHECKING:
    from workbench.inference.base import Model

FLUSH_AFTER_S = 1.0
"drafts wait no longer than this before they are committed"
FIRST_ASKED, ASKING_S = 8, (20.0, 60.0)
"""so many calls are asked together at first, twice as many where that took less than the first number of seconds,
half where it took more than the second: a job with long answers is to be stopped, and seen to go on, meanwhile"""


@dataclass(frozen=True, slots=True)
class DraftSpec:
    """What a drafting job is to ask."""

    instrument: str
    model: str
    prompts: tuple[DraftPrompt, ...]
    statements: tuple[str, ...] = ()
    "refs; empty: all"
    language: str = ""
    "empty: the instrument's"
    seed: int = 1

    def as_json(self) -> dict[str, Any]:
        return {
            "instrument": self.instrument,
            "model": self.model,
            "prompts": [prompt.as_json() for prompt in self.prompts],
            "statements": list(self.statements),
            "language": self.language,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DraftSpec:
        prompts = tuple(DraftPrompt.from_json(prompt) for prompt in value["prompts"])
        return cls(
            value["instrument"], value["model"], prompts, tuple(value["statements"]), value["language"], value["seed"]
        )


@dataclass(frozen=True, slots=True)
class Call:
    """One prompt about one text, asked once."""

    ref: str
    language: str
    basis: str
    prompt: DraftPrompt
    number: int
    "from 1"
    rendered: Prompt
    seed: int

    @property
    def label(self) -> str:
        return str(CallLabel(self.prompt.name, self.number, self.prompt.template.key))

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """What a store knows a call by."""
        return (self.ref, self.prompt.kind.value, self.language, self.label, self.seed)

    @property
    def key(self) -> str:
        """What a job knows a call by."""
        return json.dumps(self.place)


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """What a drafting job asks, and what of that was asked before."""

    spec: DraftSpec
    calls: tuple[Call, ...]
    stored: frozenset[tuple[str, str, str, str, int]]
    skipped: tuple[tuple[str, str, int], ...] = ()
    "(kind, why, how many statements) that cannot be asked about"

    @property
    def needed(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.place not in self.stored)

    def describe(self) -> str:
        """Say what will be asked, for a person who is about to start it."""
        spec = self.spec
        refs = len({call.ref for call in self.calls})
        held = len(self.calls) - len(self.needed)
        before = f" ({held:,} asked already)" if held else ""
        where = f"{_counted(refs, 'statement')} of {spec.instrument} in {spec.language!r}"
        lines = [f"{spec.model} drafts for {where}: {_counted(len(self.needed), 'prompt')} to ask{before}"]
        lines += [self._about(prompt) for prompt in spec.prompts]
        lines += [f"{kind}: {_counted(n, 'statement')} left out, {why}" for kind, why, n in self.skipped]
        lines.append(f"seed {spec.seed}; nothing enters the instrument before a person accepts it")
        return "\n".join(lines)

    def _about(self, prompt: DraftPrompt) -> str:
        calls = [call for call in self.calls if call.prompt == prompt]
        refs = len({call.ref for call in calls})
        each = f" of {prompt.per_call} each" if prompt.per_call > 1 else ""
        keep = f", a sample of {prompt.keep} kept for each" if prompt.keep else ""
        origin = prompt.source or "a prompt of no publication"
        return (
            f"{prompt.kind}: {prompt.name} ({origin}), {_counted(refs, 'statement')} × "
            f"{_counted(prompt.calls, 'call')}{each}{keep}; {prompt.sampling}"
        )


def plan_drafting(store: Store, spec: DraftSpec, *, card: ModelCard | None = None) -> DraftPlan:
    """Work out what a drafting job asks. Reads only.

    `card` None: calls to the newest model of that name count as made; with it, those to exactly this model.

    Raises UnknownName for statements that the instrument does not have, UsageError where nothing can be asked.
    """
    check_model(spec.model)
    instrument = store.instruments.get(spec.instrument)
    spec = replace(spec, language=spec.language or instrument.language)
    if not spec.prompts:
        raise UsageError("no kind of wording was chosen; choose one or more to be drafted")
    if spec.seed < 0:
        raise UsageError(f"the seed is {spec.seed}; give 0 or more")
    chosen = chosen_statements(instrument.statements, spec.statements, spec.instrument)
    items = {item.ref: item for item in instrument.choices}
    calls, skipped = _asked_about(spec, chosen, items)
    left = tuple((kind, why, n) for (kind, why), n in skipped.items())
    if not calls:
        whys = "; ".join(f"{kind}: {why} ({_counted(n, 'statement')})" for kind, why, n in left)
        raise UsageError(f"there is nothing to draft for. {whys or f'{spec.instrument} has no statements'}")
    stored = frozenset[tuple[str, str, str, str, int]]()
    for sampling in dict.fromkeys(prompt.sampling for prompt in spec.prompts):
        stored |= store.drafts.asked(spec.instrument, spec.model, sampling, card)
    return DraftPlan(spec, tuple(calls), stored & {call.place for call in calls}, left)


def _asked_about(
    spec: DraftSpec, statements: Sequence[Statement], items: Mapping[str, ChoiceItem]
) -> tuple[list[Call], Counter[tuple[str, str]]]:
    """Return the calls, and (kind, why) -> how many statements no prompt of the kind asks about."""
    calls: list[Call] = []
    skipped: Counter[tuple[str, str]] = Counter()
    for kind in dict.fromkeys(prompt.kind for prompt in spec.prompts):
        prompts = [prompt for prompt in spec.prompts if prompt.kind is kind]
        for statement in statements:
            item = items.get(statement.ref)
            basis = drafted_from(statement, kind, spec.language, item)
            mine = [prompt for prompt in prompts if prompt.bias in (None, item.bias if item else None)]
            if isinstance(basis, Wording) and not mine:
                basis = f"no prompt asks about {item.bias if item else 'it'}"
            if isinstance(basis, Wording):
                calls += [call for prompt in mine for call in _calls(statement.ref, basis, prompt, spec.seed)]
            else:
                skipped[kind.value, basis] += 1
    return calls, skipped


def drafted_from(
    statement: Statement, kind: VariantKind, language: str, item: ChoiceItem | None = None
) -> Wording | str:
    """Return the wording that a kind is drafted from, or why there is none to draft from.

    `item` says that a statement is a multiple-choice question: only the changed form of one is drafted, because any
    other wording would lose the options.
    """
    basis = basis_of(statement.wordings, kind, language)
    if kind is VariantKind.CHANGED:
        return _reworded_from(basis, language, item)
    if item is not None:
        return "a multiple-choice question, of which only the changed form is drafted"
    if kind is not VariantKind.ORIGINAL:
        return basis or f"no original in {language!r}"
    if statement.wording(ORIGINAL, language) is not None:
        return f"an original in {language!r} is there"
    return basis or f"no question in {language!r}"


def _reworded_from(original: Wording | None, language: str, item: ChoiceItem | None) -> Wording | str:
    """Return the original of a question whose changed form is worded, or why none is."""
    if item is None:
        return "no multiple-choice question of a bias"
    if item.bias not in REWORDED:
        return f"the form under {item.bias} follows from the question: workbench choices forms"
    if original is None:
        return f"no original in {language!r}"
    found = parse_choice(original.text)
    if not isinstance(found, Choice):
        return f"found {found.found}; expected {found.expected}"
    return next(iter(original_faults(item.bias, found)), original)


def chosen_statements(statements: Sequence[Statement], refs: Sequence[str], where: str) -> tuple[Statement, ...]:
    """Return the statements with these refs, or all. Raises UnknownName for refs that are not there."""
    known = {statement.ref: statement for statement in statements}
    missing = [ref for ref in refs if ref not in known]
    if missing:
        raise UnknownName(f"{where} has no statement {', '.join(map(repr, missing))}")
    return tuple(known[ref] for ref in dict.fromkeys(refs)) if refs else tuple(statements)


def _calls(ref: str, basis: Wording, prompt: DraftPrompt, seed: int) -> Iterator[Call]:
    rendered = prompt.render(basis.text)
    for number in range(1, prompt.calls + 1):
        own = derived_seed(seed, rendered.key, number - 1)
        yield Call(ref, basis.language, basis.text, prompt, number, rendered, own)


@dataclass(slots=True)
class Drafted:
    """How far a drafting job is, and what came of it."""

    done: int
    total: int
    calls: int = 0
    failed: int = 0
    reason: str = ""
    seconds: float = 0.0
    failed_calls: list[str] = field(default_factory=list)
    "the calls that failed, see `Call.key`"
    lines: Counter[str] = field(default_factory=Counter)
    "fault -> lines of this attempt; the empty one stands for none"

    def as_json(self) -> str:
        usable = self.lines[""]
        return json.dumps(
            {
                "answers": self.calls,
                "drafts": usable,
                "unusable": self.lines.total() - usable,
                "failed": self.failed,
                "seconds": round(self.seconds, 2),
            }
        )


def run_drafting(
    store: Store,
    plan: DraftPlan,
    model: Model,
    *,
    attempt: int,
    job: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    only: Collection[str] | None = None,
) -> Drafted:
    """Ask what is missing; commit the lines of a call together, and with them the job's progress.

    Stops after the answers at hand when `should_stop` says so; what was committed stays. Once every call is in, the
    sample that a prompt wants is drawn. `only`: of these calls (keys) alone.
    """
    store.drafts.keep_prompts({call.prompt.template.key: call.prompt.template for call in plan.calls}.values())
    progress = Drafted(done=len(plan.calls) - len(plan.needed), total=len(plan.calls))
    started = time.monotonic()
    for sampling in dict.fromkeys(prompt.sampling for prompt in plan.spec.prompts):
        calls = [c for c in plan.needed if c.prompt.sampling == sampling and (only is None or c.key in only)]
        with closing(_answers(store, model, calls, sampling, attempt)) as answers:
            for batch, source in answers:
                progress.seconds = time.monotonic() - started
                _commit(store, plan, batch, source, progress, job)
                if should_stop():
                    return progress
    if progress.done == progress.total:
        draw_samples(store, plan)
    return progress


def _answers(
    store: Store, model: Model, calls: Sequence[Call], sampling: Sampling, attempt: int
) -> Generator[tuple[list[tuple[Call, str | None, str]], Source], None, None]:
    """Yield answers as they may be committed: (call, text or None where it failed, why)."""
    if not calls:
        return
    source = Source(*store.runs.begin(model.card, sampling), attempt)
    asked, size = 0, FIRST_ASKED
    while asked < len(calls):
        begun = time.monotonic()
        for batch in _asked(model, calls[asked : asked + size], sampling):
            yield batch, source
        asked, took = asked + size, time.monotonic() - begun
        size = max(1, size // 2) if took > ASKING_S[1] else size * 2 if took < ASKING_S[0] else size


def _asked(model: Model, calls: Sequence[Call], sampling: Sampling) -> Iterator[list[tuple[Call, str | None, str]]]:
    """Yield the answers to calls that are asked together."""
    batch: list[tuple[Call, str | None, str]] = []
    committed = time.monotonic()
    answers = model.generate([Request(call.rendered, 1, call.seed) for call in calls], sampling)
    try:
        for drawn in answers:
            text = drawn.answers[0][0] if drawn.answers and not drawn.failed else None
            batch.append((calls[drawn.request], text, drawn.reason))
            if not drawn.more and time.monotonic() - committed >= FLUSH_AFTER_S:
                yield batch
                batch, committed = [], time.monotonic()
        if batch:
            yield batch
    finally:
        close = getattr(answers, "close", None)
        if close is not None:
            close()


def _commit(
    store: Store,
    plan: DraftPlan,
    batch: Sequence[tuple[Call, str | None, str]],
    source: Source,
    progress: Drafted,
    job: int | None,
) -> None:
    """Write what a batch of answers holds, line by line."""
    drafts: list[NewDraft] = []
    for call, text, reason in batch:
        if text is None:
            progress.failed, progress.reason = progress.failed + 1, reason
            progress.failed_calls.append(call.key)
            continue
        drafts += _read(store, plan.spec, call, text, drafts)
        progress.done, progress.calls = progress.done + 1, progress.calls + 1
    progress.lines.update(draft.fault for draft in drafts)
    state = None if job is None else (job, progress.done, progress.as_json())
    store.drafts.add(plan.spec.instrument, drafts, source, job=state)


def _read(store: Store, spec: DraftSpec, call: Call, text: str, fresh: Sequence[NewDraft]) -> list[NewDraft]:
    """Return the lines of one answer as drafts; `fresh` are those that are not written yet."""
    kind = call.prompt.kind
    before = store.drafts.earlier(spec.instrument, call.ref, kind, call.language, call.basis)
    also = [d.line for d in fresh if (d.ref, d.kind, d.basis, d.fault) == (call.ref, kind, call.basis, "")]
    wordings = _wordings(store, spec.instrument, call.ref, call.language)
    earlier = [drafted(kind, line) for line in (*before, *also)]
    lines = read_answer(text, call.prompt, call.basis, wordings, earlier)
    return [
        NewDraft(
            call.ref, kind, call.language, call.basis, line.text, spec.model, call.label, call.seed, line.fault
        )
        for line in lines
    ]  # fmt: skip


def _wordings(store: Store, instrument: str, ref: str, language: str) -> tuple[Wording, ...]:
    """Return the wordings that a statement has now; none where it was archived meanwhile."""
    try:
        statement = store.statements.get(instrument, ref)
    except UnknownName:
        return ()
    return tuple(w for w in statement.wordings if w.language == language)


def draw_samples(store: Store, plan: DraftPlan) -> int:
    """Leave out what the sample of each prompt does not keep; return how many drafts that were.

    A sample is drawn once: people may have decided on what it kept.
    """
    groups: dict[tuple[str, DraftPrompt], list[Call]] = {}
    for call in plan.calls:
        if call.prompt.keep is not None:
            groups.setdefault((call.ref, call.prompt), []).append(call)
    total = 0
    for (ref, prompt), calls in groups.items():
        seeds = [call.seed for call in calls]
        labels = {call.label for call in calls}
        drafts = [
            draft
            for draft in store.drafts.list(plan.spec.instrument, kinds=[prompt.kind], refs=[ref], seeds=seeds)
            if draft.label in labels and draft.fault in ("", Fault.UNSAMPLED)
        ]
        if any(draft.fault for draft in drafts):
            continue
        words = np.frombuffer(content_key([ref, prompt.template.key.hex()]), dtype="<u4")
        rng = np.random.default_rng(np.random.SeedSequence([plan.spec.seed, *map(int, words)]))
        out = left_out([d.line for d in drafts], [d.decision is not None for d in drafts], prompt.keep or 0, rng)
        total += len(out)
        store.drafts.leave_out([drafts[place].id for place in out], Fault.UNSAMPLED)
    return total


def outcome(lines: Mapping[str, int]) -> str:
    """Say what lines came to, given how many have each fault: `12 drafts wait for review; 8 lines cannot be wordings (5
    was drafted before, 3 a question)`.
    """
    unsampled = lines.get(Fault.UNSAMPLED, 0)
    bad = {fault: n for fault, n in lines.items() if fault and fault != Fault.UNSAMPLED}
    whys = ", ".join(f"{n:,} {fault_in_words(fault)}" for fault, n in sorted(bad.items(), key=lambda item: -item[1]))
    faulty = f"{_counted(sum(bad.values()), 'line')} cannot be wordings ({whys})" if bad else ""
    good = lines.get("", 0)
    if not good and not unsampled:
        return f"nothing usable came back: {faulty or 'not a line'}. The instrument is as it was."
    parts = [f"{_counted(good, 'draft')} {'waits' if good == 1 else 'wait'} for review"]
    if unsampled:
        parts.append(f"{unsampled:,} left out by the sample")
    return "; ".join([*parts, faulty] if faulty else parts)


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
