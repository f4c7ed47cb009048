"""Calls ─ask→ lines ─read→ drafts, which wait for a person: nothing enters an instrument unseen.

Plans
-----
The plan of a drafting job: statements, prompts, and the prompts asked before.

A call is one prompt about one text with one seed. It is made once: a job that is resumed asks what
is missing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stores.core.store import Store
from stores.instruments.drafts import Draft, DrafterRows, NewDraft
from stores.instruments.statements import Changed
from stores.runs.readings import CUT_OFF
from workbench.data import shipped_drafting
from workbench.domain.choices import Choice, ChoiceItem, parse_choice
from workbench.domain.courses import Course
from workbench.domain.drafting import (
    REWORDED,
    RULE,
    RULED,
    SINGLE,
    CallLabel,
    DraftPrompt,
    kind_words,
)
from workbench.domain.keys import SEED, content_key
from workbench.domain.names import plural
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Answerer, Drawn, ModelCard, Request, Sampling
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.domain.thinking import split
from workbench.errors import ConflictError, UnknownName, UsageError, WorkbenchError
from workbench.inference.base import Changing, Interruptible, Unhurried
from workbench.pipeline.asking import changed_words, turns_of
from workbench.pipeline.design_checks import check_model, check_script, served
from workbench.pipeline.planning import derived_seed
from workbench.version import __version__
from workbench.workshop.choice_forms import original_faults, reworded
from workbench.workshop.drafting import (
    DraftFault,
    basis_of,
    compared,
    draft_hints,
    drafted,
    entering,
    excluded_indices,
    fault_in_words,
    form_faults,
    read_answer,
)
from workbench.workshop.edits import next_variant, with_text
from workbench.workshop.english import negate, stated

if TYPE_CHECKING:
    from workbench.inference.base import Model


@dataclass(frozen=True, slots=True)
class DraftSpec:
    """The request for drafts: statements, kinds of variants, model and prompts."""

    instrument: str
    model: str
    prompts: tuple[DraftPrompt, ...]
    statements: tuple[str, ...] = ()
    "refs; empty: all"
    language: str = ""
    "empty: the instrument's"
    seed: int = SEED

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
            value["instrument"],
            value["model"],
            prompts,
            tuple(value["statements"]),
            value["language"],
            value["seed"],
        )


@dataclass(frozen=True, slots=True)
class DraftCall:
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
        """The identity of the call in a store."""
        return (self.ref, self.prompt.kind.value, self.language, self.label, self.seed)

    @property
    def key(self) -> str:
        """The key of the call in a job."""
        return json.dumps(self.place)


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """The prompts of a drafting job, and those asked before."""

    spec: DraftSpec
    calls: tuple[DraftCall, ...]
    stored: frozenset[tuple[str, str, str, str, int]]
    skipped: tuple[tuple[str, str, int], ...] = ()
    "(kind, why, how many statements) that cannot be asked about"

    @property
    def needed(self) -> tuple[DraftCall, ...]:
        return tuple(call for call in self.calls if call.place not in self.stored)

    def describe(self) -> str:
        """Return a description of the plan for a person who is about to start it."""
        spec = self.spec
        refs = len({call.ref for call in self.calls})
        n_asked = len(self.calls) - len(self.needed)
        before = f" ({n_asked:,} asked already)" if n_asked else ""
        where = f"{plural(refs, 'statement')} of {spec.instrument} in {spec.language!r}"
        lines = [
            f"{spec.model} drafts for {where}: {plural(len(self.needed), 'prompt')} to ask{before}"
        ]
        lines += [self._about(prompt) for prompt in spec.prompts]
        lines += [
            f"{kind}: {plural(n, 'statement')} left out, {why}" for kind, why, n in self.skipped
        ]
        lines.append(f"seed {spec.seed}; a draft becomes a wording only when a person accepts it")
        return "\n".join(lines)

    def _about(self, prompt: DraftPrompt) -> str:
        calls = [call for call in self.calls if call.prompt == prompt]
        refs = len({call.ref for call in calls})
        number_each = f" of {prompt.per_call} each" if prompt.per_call > 1 else ""
        keep = f", a sample of {prompt.keep} kept for each" if prompt.keep else ""
        origin = prompt.source or (
            "our own prompt" if prompt in shipped_drafting() else "a prompt of yours"
        )
        return (
            f"{prompt.kind}: {prompt.name} ({origin}), {plural(refs, 'statement')} × "
            f"{plural(prompt.calls, 'call')}{number_each}{keep}; {prompt.sampling}"
        )


def plan_drafting(
    store: Store, spec: DraftSpec, *, card: ModelCard | None = None, job: int | None = None
) -> DraftPlan:
    """Return the plan of a drafting job. Nothing is written.

    Without a `card`, calls to the newest model of that name count as made. With it, only those to
    exactly this model count, and all that a `job` has made.

    Raises UnknownName for statements that the instrument does not have, and UsageError if nothing
    can be asked.
    """
    check_model(spec.model)
    if card is None:  # otherwise it is loaded
        check_script(spec.model)
    instrument = store.instruments.get(spec.instrument)
    spec = replace(spec, language=spec.language or instrument.language)
    if not spec.prompts:
        raise UsageError("no kind of wording chosen; choose one or more to draft")
    if any(prompt.sampling.server for prompt in spec.prompts) and not served(spec.model):
        raise UsageError(
            f"{spec.model} is not a served model, so a server cannot choose: give numbers"
        )
    if spec.seed < 0:
        raise UsageError(f"the seed is {spec.seed}; give 0 or more")
    chosen = chosen_statements(instrument.statements, spec.statements, spec.instrument)
    items = {item.ref: item for item in instrument.choices}
    calls, skipped = _asked_about(spec, chosen, items)
    left = tuple((kind, why, n) for (kind, why), n in skipped.items())
    if not calls:
        whys = "; ".join(f"{kind}: {why} ({plural(n, 'statement')})" for kind, why, n in left)
        raise UsageError(f"nothing to draft. {whys or f'{spec.instrument} has no statements'}")
    stored = frozenset[tuple[str, str, str, str, int]]()
    for sampling in dict.fromkeys(prompt.sampling for prompt in spec.prompts):
        stored |= store.drafts.asked(spec.instrument, spec.model, sampling, card, job)
    return DraftPlan(spec, tuple(calls), stored & {call.place for call in calls}, left)


def _asked_about(
    spec: DraftSpec, statements: Sequence[Statement], items: Mapping[str, ChoiceItem]
) -> tuple[list[DraftCall], Counter[tuple[str, str]]]:
    """Return the calls, and (kind, why) -> how many statements no prompt of the kind asks about."""
    calls: list[DraftCall] = []
    skipped: Counter[tuple[str, str]] = Counter()
    for kind in dict.fromkeys(prompt.kind for prompt in spec.prompts):
        prompts = [prompt for prompt in spec.prompts if prompt.kind is kind]
        for statement in statements:
            item = items.get(statement.ref)
            basis = drafted_from(statement, kind, spec.language, item)
            mine = [
                prompt for prompt in prompts if prompt.bias in (None, item.bias if item else None)
            ]
            if isinstance(basis, Wording) and not mine:
                basis = f"no prompt asks about {item.bias if item else 'it'}"
            if isinstance(basis, Wording):
                calls += [
                    call
                    for prompt in mine
                    for call in _calls(statement.ref, basis, prompt, spec.seed)
                ]
            else:
                skipped[kind.value, basis] += 1
    return calls, skipped


def drafted_from(
    statement: Statement, kind: VariantKind, language: str, item: ChoiceItem | None = None
) -> Wording | str:
    """Return the wording that a kind is drafted from, or why there is none to draft from.

    `item` says that a statement is a multiple-choice question: only the changed form of one is
    drafted, because any other wording would lose the options.
    """
    basis = basis_of(statement.wordings, kind, language)
    if kind is VariantKind.CHANGED:
        return _reworded_from(basis, language, item)
    if item is not None:
        return "a multiple-choice question, for which only the changed form can be drafted"
    if kind is not VariantKind.ORIGINAL:
        return basis or f"no original in {language!r}"
    if statement.wording(ORIGINAL, language) is not None:
        return f"an original in {language!r} exists"
    return basis or f"no question in {language!r}"


def _reworded_from(
    original: Wording | None, language: str, item: ChoiceItem | None
) -> Wording | str:
    """Return the original of a question whose changed form is worded, or why it has none."""
    if item is None:
        return "no multiple-choice question of a bias"
    if item.bias not in REWORDED:
        return (
            f"the changed form for {item.bias} follows from the question: workbench choices "
            "STORE forms"
        )
    if original is None:
        return f"no original in {language!r}"
    choice = parse_choice(original.text)
    if not isinstance(choice, Choice):
        return f"found {choice.found}; expected {choice.expected}"
    return next(iter(original_faults(item.bias, choice)), original)


def chosen_statements(
    statements: Sequence[Statement], refs: Sequence[str], where: str
) -> tuple[Statement, ...]:
    """Return the statements with these refs, or all of them if no refs are given.

    Raises UnknownName for refs that no statement has.
    """
    statement_by_ref = {statement.ref: statement for statement in statements}
    missing = [ref for ref in refs if ref not in statement_by_ref]
    if missing:
        raise UnknownName(f"{where} has no statement {', '.join(map(repr, missing))}")
    return (
        tuple(statement_by_ref[ref] for ref in dict.fromkeys(refs)) if refs else tuple(statements)
    )


def _calls(ref: str, basis: Wording, prompt: DraftPrompt, seed: int) -> Iterator[DraftCall]:
    rendered = prompt.render(basis.text)
    for number in range(1, prompt.calls + 1):
        own = derived_seed(seed, rendered.key, number - 1)
        yield DraftCall(ref, basis.language, basis.text, prompt, number, rendered, own)


def draft_by_rule(
    store: Store,
    instrument: str,
    kinds: Sequence[VariantKind],
    refs: Sequence[str] = (),
    language: str = "",
    *,
    dry: bool = False,
) -> Counter[str]:
    """Draft wordings by rule, at once. Return the number of statements by why they have no draft.

    The reason is "" for statements with a draft. With `dry`, nothing is written.

    Raises UsageError for a kind that no rule drafts and for another language than English.
    """
    stored_instrument = store.instruments.get(instrument)
    language = language or stored_instrument.language
    unruled_kinds = [kind for kind in kinds if kind not in RULED]
    if unruled_kinds or not kinds:
        unruled = ", ".join(unruled_kinds) or "nothing"
        raise UsageError(f"a rule drafts {', '.join(RULED)}, not {unruled}; ask a model")
    if language.split("-")[0] != "en":
        raise UsageError(f"the rules are for English, and {language!r} is not; ask a model")
    count_by_reason: Counter[str] = Counter()
    drafts: list[NewDraft] = []
    items = {item.ref: item for item in stored_instrument.choices}
    for statement in chosen_statements(stored_instrument.statements, refs, instrument):
        for kind in kinds:
            draft = _ruled(store, instrument, statement, kind, language, items.get(statement.ref))
            if isinstance(draft, NewDraft):
                drafts.append(draft)
                count_by_reason[draft.fault and fault_in_words(draft.fault)] += 1
            else:
                count_by_reason[draft] += 1
    if not dry:
        store.drafts.add(instrument, [draft for draft in drafts if not draft.fault])
    return count_by_reason


def _ruled(
    store: Store,
    instrument: str,
    statement: Statement,
    kind: VariantKind,
    language: str,
    item: ChoiceItem | None,
) -> NewDraft | str:
    """Return the draft of the rule for a kind, or the reason for having none."""
    basis = drafted_from(statement, kind, language, item)
    if isinstance(basis, str):
        return basis
    made = _made(basis.text, kind, item)
    if made is None:
        return "no rule fits"
    text, rule = made
    wording_texts = {compared(w.text) for w in statement.wordings if w.language == language}
    earlier = store.drafts.earlier(instrument, statement.ref, kind, language, basis.text)
    same = compared(text)
    before = {compared(drafted(kind, line)) for line in earlier}
    fault = (
        DraftFault.WORDING if same in wording_texts else DraftFault.REPEAT if same in before else ""
    )
    label = str(CallLabel(f"{kind}: {rule}, workbench {__version__}"))
    return NewDraft(statement.ref, kind, language, basis.text, text, RULE, label, fault=fault)


def _made(basis: str, kind: VariantKind, item: ChoiceItem | None) -> tuple[str, str] | None:
    """Return (text, the rule that made it); None if no rule fits."""
    if kind is VariantKind.CHANGED:
        question = parse_choice(basis)
        form = (
            reworded(item.bias, question)
            if item is not None and isinstance(question, Choice)
            else None
        )
        return (form.choice.lettered(), form.rule) if form is not None else None
    made = negate(basis) if kind is VariantKind.NEGATION else stated(basis)
    return (made.text, made.rule) if made is not None else None


FLUSH_AFTER_S = 1.0
"drafts wait no longer than this before they are committed"
FIRST_CALLS = 20
"""Calls of which one must bring a draft before the rest is asked. Drafts have no probe: each is
decided by a person before it enters the instrument, and the first can be reviewed while others are
asked. Of a model that drafts in one call of five, 20 calls bring none with 1.2 %.
"""
EXAMPLES, SHORT = 3, 80
"lines that are shown where nothing can be used, and characters of each"
FIRST_ASKED, ASKING_S = 8, (20.0, 60.0)
"""so many calls are asked together at first, twice as many where that took less than the first
number of seconds, half where it took more than the second: a job with long answers is to be
stopped, and seen to go on, meanwhile
"""


@dataclass(slots=True)
class DraftingProgress:
    """The progress and results of a drafting job."""

    done: int
    total: int
    calls: int = 0
    failed: int = 0
    reason: str = ""
    seconds: float = 0.0
    course: Course = field(default_factory=Course)
    "(seconds, answered prompts) at the commits"
    failed_calls: list[str] = field(default_factory=list)
    "the calls that failed, see `Call.key`"
    waiting: set[str] = field(default_factory=set)
    "the calls that have neither been answered nor failed"
    answerers: Sequence[Answerer] = ()
    "what came from each snapshot of a served model"
    lines: Counter[str] = field(default_factory=Counter)
    "fault -> lines of this attempt; the empty one stands for none"
    examples: list[str] = field(default_factory=list)
    "a few of the first lines"
    hopeless: str = ""
    "why a person should look before the rest is asked: not one of the first calls brought a draft"

    def as_json(self) -> str:
        usable = self.lines[""]
        return json.dumps(
            {
                "answers": self.calls,
                "drafts": usable,
                "unusable": self.lines.total() - usable,
                "failed": self.failed,
                "snapshots": [asdict(answerer) for answerer in self.answerers],
                "seconds": round(self.seconds, 2),
                "course": self.course.points,
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
    say: Callable[[str], None] = lambda _: None,
    patient: bool = True,
) -> DraftingProgress:
    """Ask what is missing; commit the lines of a call together, and with them the job's progress.

    Stops after the answers at hand when `should_stop` says so; what was committed stays. The sample
    that a prompt wants of a statement's drafts is drawn once no call about it is waiting. `only`:
    of these calls (keys) alone. `say` is told where a served model becomes another one on the way.
    Unless it is `patient`, it also stops where not one of the first calls brought a draft.
    """
    store.drafts.keep_prompts(
        {call.prompt.template.key: call.prompt.template for call in plan.calls}.values()
    )
    progress = DraftingProgress(done=len(plan.calls) - len(plan.needed), total=len(plan.calls))
    progress.waiting = {call.key for call in plan.needed}
    _draft(store, plan, model, progress, attempt, job, should_stop, only, say, patient)
    draw_samples(store, plan, progress.waiting)
    return progress


def _draft(
    store: Store,
    plan: DraftPlan,
    model: Model,
    progress: DraftingProgress,
    attempt: int,
    job: int | None,
    should_stop: Callable[[], bool],
    only: Collection[str] | None,
    say: Callable[[str], None],
    patient: bool,
) -> None:
    """Ask what is missing, until it is there or the work has to end."""
    started = time.monotonic()
    if isinstance(model, Interruptible):
        model.stop_when(should_stop)
    for sampling in dict.fromkeys(prompt.sampling for prompt in plan.spec.prompts):
        calls = [
            c
            for c in plan.needed
            if c.prompt.sampling == sampling and (only is None or c.key in only)
        ]
        with closing(_answers(store, model, calls, sampling, attempt, should_stop, say)) as answers:
            for batch, source in answers:
                progress.seconds = time.monotonic() - started
                if isinstance(model, Changing):
                    progress.answerers = model.answerers
                _commit(store, plan, batch, source, progress, job)
                store.check_moved()
                # Else it ends with what is paid for.
                if should_stop() and not isinstance(model, Unhurried):
                    return
                if not patient and progress.calls >= FIRST_CALLS and not progress.lines[""]:
                    progress.hopeless = _no_drafts_message(progress)
                    return


def _no_drafts_message(progress: DraftingProgress) -> str:
    """Describe the answers of the first calls if none gave a draft, with examples."""
    bad = progress.lines.most_common()
    whys = ", ".join(f"{n:,} {fault_in_words(fault, n)}" for fault, n in bad)
    shown = "; ".join(
        f'"{" ".join(line.split())[:SHORT] or "(empty)"}"' for line in progress.examples
    )
    return (
        f"None of the first {progress.calls:,} prompts gave a draft"
        + (f": {plural(progress.lines.total(), 'line')} cannot be wordings ({whys})" if bad else "")
        + (f". Among them: {shown}" if shown else "")
    )


def _answers(
    store: Store,
    model: Model,
    calls: Sequence[DraftCall],
    sampling: Sampling,
    attempt: int,
    should_stop: Callable[[], bool],
    say: Callable[[str], None],
) -> Generator[tuple[list[tuple[DraftCall, Drawn]], DrafterRows], None, None]:
    """Yield answers as they may be committed, with the model that gave them."""
    if not calls:
        return
    left, size = list(calls), FIRST_ASKED
    while left and not should_stop():
        begun, turns, answered = time.monotonic(), turns_of(model), set()
        for batch in _ask_calls(model, left[:size], sampling, should_stop):
            for snapshot in dict.fromkeys(drawn.snapshot for _, drawn in batch):
                card = model.card if snapshot is None else replace(model.card, snapshot=snapshot)
                answers_of_snapshot = [
                    (call, drawn) for call, drawn in batch if drawn.snapshot == snapshot
                ]
                answered |= {call.key for call, _ in answers_of_snapshot}
                yield answers_of_snapshot, DrafterRows(*store.runs.begin(card, sampling), attempt)
        # Calls that were not begun any more are asked of the new snapshot.
        if turns_of(model) != turns:
            say(
                changed_words(
                    model.card.name, turns_of(model), f"{len(left) - len(answered):,} prompts"
                )
            )
            left = [call for call in left if call.key not in answered]
        else:
            left = left[size:]
        took = time.monotonic() - begun
        size = max(1, size // 2) if took > ASKING_S[1] else size * 2 if took < ASKING_S[0] else size


def _ask_calls(
    model: Model, calls: Sequence[DraftCall], sampling: Sampling, should_stop: Callable[[], bool]
) -> Iterator[list[tuple[DraftCall, Drawn]]]:
    """Yield the answers to calls that are asked together, in batches.

    After a stop is requested, only those that are paid for follow.
    """
    batch: list[tuple[DraftCall, Drawn]] = []
    committed = time.monotonic()
    answers = model.generate([Request(call.rendered, 1, call.seed) for call in calls], sampling)
    try:
        for drawn in answers:
            batch.append((calls[drawn.request], drawn))
            if not drawn.more and time.monotonic() - committed >= FLUSH_AFTER_S:
                yield batch
                batch, committed = [], time.monotonic()
            if not drawn.more and should_stop():
                if not isinstance(model, Unhurried):
                    break
                model.wind_down()
        if batch:
            yield batch
    except WorkbenchError:
        if batch:  # what came before the error is paid
            yield batch
        raise
    finally:
        close = getattr(answers, "close", None)
        if close is not None:
            close()


def _commit(
    store: Store,
    plan: DraftPlan,
    batch: Sequence[tuple[DraftCall, Drawn]],
    source: DrafterRows,
    progress: DraftingProgress,
    job: int | None,
) -> None:
    """Write what a batch of answers holds, line by line."""
    drafts: list[NewDraft] = []
    for call, drawn in batch:
        progress.waiting.discard(call.key)
        output = split(drawn.answers[0][0]) if drawn.answers and not drawn.failed else None
        text, reason = (None, drawn.reason) if output is None else (output.answer, CUT_OFF)
        if text is None:
            progress.failed, progress.reason = progress.failed + 1, reason
            progress.failed_calls.append(call.key)
            continue
        drafts += _read(store, plan.spec, call, text, drafts)
        progress.done, progress.calls = progress.done + 1, progress.calls + 1
    progress.lines.update(draft.fault for draft in drafts)
    for line in dict.fromkeys(draft.line for draft in drafts):
        if len(progress.examples) < EXAMPLES and line not in progress.examples:
            progress.examples.append(line)
    progress.course.add(round(progress.seconds, 2), progress.calls)
    state = None if job is None else (job, progress.done, progress.as_json())
    store.keep(lambda: store.drafts.add(plan.spec.instrument, drafts, source, job=state), drafts)


def _read(
    store: Store, spec: DraftSpec, call: DraftCall, text: str, fresh: Sequence[NewDraft]
) -> list[NewDraft]:
    """Return the lines of one answer as drafts; `fresh` are those that are not written yet."""
    kind = call.prompt.kind
    before = store.drafts.earlier(spec.instrument, call.ref, kind, call.language, call.basis)
    also = [
        d.line
        for d in fresh
        if (d.ref, d.kind, d.basis, d.fault) == (call.ref, kind, call.basis, "")
    ]
    wordings = _wordings(store, spec.instrument, call.ref, call.language)
    earlier = [drafted(kind, line) for line in (*before, *also)]
    lines = read_answer(text, call.prompt, call.basis, wordings, earlier)
    return [
        NewDraft(
            call.ref,
            kind,
            call.language,
            call.basis,
            line.text,
            spec.model,
            call.label,
            call.seed,
            line.fault,
        )
        for line in lines
    ]


def _wordings(store: Store, instrument: str, ref: str, language: str) -> tuple[Wording, ...]:
    """Return the current wordings of a statement; none if it has been archived since."""
    try:
        statement = store.statements.get(instrument, ref)
    except UnknownName:
        return ()
    return tuple(w for w in statement.wordings if w.language == language)


def unsampled(store: Store, plan: DraftPlan, waiting: Collection[str] = ()) -> list[int]:
    """Return the ids of the stored drafts that the sample of each prompt does not keep.

    Statements with a `waiting` call, given by its key, are skipped. Drafts that somebody decided on
    stay and count. Drafts that an earlier sample left out stay out, so that drafts of further calls
    compete with those that it kept.
    """
    groups: dict[tuple[str, DraftPrompt], list[DraftCall]] = {}
    for call in plan.calls:
        if call.prompt.keep is not None:
            groups.setdefault((call.ref, call.prompt), []).append(call)
    draft_ids: list[int] = []
    for (ref, prompt), calls in groups.items():
        if any(call.key in waiting for call in calls):
            continue
        seeds = [call.seed for call in calls]
        labels = {call.label for call in calls}
        drafts = [
            draft
            for draft in store.drafts.list(
                plan.spec.instrument, kinds=[prompt.kind], refs=[ref], seeds=seeds
            )
            if draft.label in labels and draft.drafter == plan.spec.model and not draft.fault
        ]
        words = np.frombuffer(content_key([ref, prompt.template.key.hex()]), dtype="<u4")
        rng = np.random.default_rng(np.random.SeedSequence([plan.spec.seed, *map(int, words)]))
        out = excluded_indices(
            [d.line for d in drafts],
            [d.decision is not None for d in drafts],
            prompt.keep or 0,
            rng,
        )
        draft_ids += [drafts[place].id for place in out]
    return draft_ids


def draw_samples(store: Store, plan: DraftPlan, waiting: Collection[str] = ()) -> int:
    """Leave out the drafts that the sample of each prompt does not keep, see `unsampled`.

    Return their number.
    """
    out = unsampled(store, plan, waiting)
    store.drafts.leave_out(out, DraftFault.UNSAMPLED)
    return len(out)


def outcome(lines: Mapping[str, int]) -> str:
    """Return a summary of drafted lines, given their number by fault.

    It is such as `12 drafts wait for review; 8 lines cannot be wordings (5 were drafted before, 3
    are questions)`.
    """
    unsampled = lines.get(DraftFault.UNSAMPLED, 0)
    bad = {fault: n for fault, n in lines.items() if fault and fault != DraftFault.UNSAMPLED}
    whys = ", ".join(
        f"{n:,} {fault_in_words(fault, n)}"
        for fault, n in sorted(bad.items(), key=lambda item: -item[1])
    )
    faulty = f"{plural(sum(bad.values()), 'line')} cannot be wordings ({whys})" if bad else ""
    good = lines.get("", 0)
    if not good and not unsampled:
        return f"no usable drafts: {faulty or 'not a line'}. The instrument has not changed."
    parts = [f"{plural(good, 'draft')} {'waits' if good == 1 else 'wait'} for review"]
    if unsampled:
        parts.append(f"{unsampled:,} left out by the sample")
    return "; ".join([*parts, faulty] if faulty else parts)


def accept(
    store: Store,
    draft: Draft,
    *,
    person: str,
    text: str | None = None,
    note: str = "",
    seen: Sequence[Wording] | None = None,
) -> tuple[Changed, VariantId]:
    """Accept a draft into the instrument, as drafted or as `text`.

    Return the change and the variant of its wording. `seen` are the wordings of the statement that
    the person saw. Raises ConflictError if the draft was decided on meanwhile, or if its basis or
    the wording that it replaces has changed since it was seen. Raises UsageError if the text cannot
    be a wording, or the statement has it already.
    """
    made = drafted(draft.kind, draft.line)
    wording = entering(draft.kind, made if text is None else text)
    edited = wording != made
    item = (
        store.choices.items(draft.instrument).get(draft.ref)
        if draft.kind is VariantKind.CHANGED
        else None
    )
    author = f"{draft.drafter}, edited by {person}" if edited else draft.drafter
    placed: list[VariantId] = []

    def place(statement: Statement) -> Statement:
        variant = (
            VariantId(draft.kind) if draft.kind in SINGLE else next_variant(statement, draft.kind)
        )
        _check_seen(statement, draft, seen)
        _check_new(statement, draft, wording)
        _check_form(statement, draft, wording, item)
        placed.append(variant)
        return with_text(statement, variant, draft.language, wording, author)

    changed = store.drafts.accept(
        draft.id, wording, person=person, place=place, edited=edited, note=note
    )
    return changed, placed[-1]


@dataclass(frozen=True, slots=True)
class AcceptedAll:
    """The result of accepting drafts together."""

    accepted: tuple[int, ...]
    "in the order in which they entered"
    left: Mapping[str, int]
    "why -> how many wait on; a draft with several hints counts for its first"
    versions: tuple[str, ...]
    "statements that were asked about before, and have another version now"

    def summary(self) -> str:
        """Return the result in one line."""
        n, waiting = len(self.accepted), sum(self.left.values())
        parts = [f"{n:,} {'draft' if n == 1 else 'drafts'} accepted"]
        if waiting:
            whys = ", ".join(
                f"{count:,}: {why}" for why, count in sorted(self.left.items(), key=lambda x: -x[1])
            )
            parts.append(f"{waiting:,} {'waits' if waiting == 1 else 'wait'} on ({whys})")
        if self.versions:
            parts.append(f"answered before, so new versions: {', '.join(self.versions)}")
        return "; ".join(parts)


def accept_all(
    store: Store, drafts: Iterable[Draft], *, person: str, note: str = "", with_hints: bool = False
) -> AcceptedAll:
    """Accept drafts into the instrument one after another, each checked in its current state.

    Left to be decided one at a time: drafts with a hint, unless `with_hints`; those that would
    replace a wording; and those that cannot enter any more. Each acceptance is in the store before
    the next one, and undone by itself.
    """
    accepted: list[int] = []
    left: Counter[str] = Counter()
    versions: dict[str, None] = {}
    for draft in drafts:
        why = why_one_by_one(store, draft, with_hints=with_hints)
        if not why:
            try:
                changed, _ = accept(store, draft, person=person, note=note)
            except (ConflictError, UsageError, UnknownName) as error:
                why = str(error)
            else:
                accepted.append(draft.id)
                versions |= dict.fromkeys(changed.versions)
        if why:
            left[why] += 1
    return AcceptedAll(tuple(accepted), dict(left), tuple(versions))


def why_one_by_one(store: Store, draft: Draft, *, with_hints: bool = False) -> str:
    """Return the reason to decide on a draft individually, or an empty string."""
    try:
        wordings = store.statements.get(draft.instrument, draft.ref).wordings
    except UnknownName as error:
        return str(error)
    if draft.kind in SINGLE and any(
        w.variant.kind is draft.kind and w.language == draft.language for w in wordings
    ):
        return f"it would replace the existing {kind_words(draft.kind)}"
    if draft.fault:
        return fault_in_words(draft.fault)
    if with_hints:
        return ""
    item = (
        store.choices.items(draft.instrument).get(draft.ref)
        if draft.kind is VariantKind.CHANGED
        else None
    )
    bias = item.bias if item is not None else None
    return next(
        iter(draft_hints(draft.kind, draft.language, draft.basis, draft.line, wordings, bias)), ""
    )


def _check_seen(statement: Statement, draft: Draft, seen: Sequence[Wording] | None) -> None:
    """Raise ConflictError if the wordings relevant to a draft have changed since they were seen."""
    if seen is None:
        return
    kinds = {VariantKind.ORIGINAL, VariantKind.QUESTION} | (
        {draft.kind} if draft.kind in SINGLE else set()
    )

    def matters(wordings: Sequence[Wording]) -> set[tuple[VariantId, str]]:
        return {
            (w.variant, w.text)
            for w in wordings
            if w.language == draft.language and w.variant.kind in kinds
        }

    if matters(statement.wordings) != matters(seen):
        raise ConflictError(f"{statement.ref} has changed in the meantime; nothing was written")


def _check_form(statement: Statement, draft: Draft, wording: str, item: ChoiceItem | None) -> None:
    """Raise UsageError if a changed form cannot be compared with the original."""
    original = statement.wording(ORIGINAL, draft.language)
    faults = (
        form_faults(item.bias, original.text, wording)
        if item is not None and original is not None
        else ()
    )
    if faults:
        raise UsageError(f"{statement.ref}: {'; '.join(faults)}; nothing was written")


def _check_new(statement: Statement, draft: Draft, wording: str) -> None:
    """Raise UsageError if a statement has the text already, or has an original by now."""
    for existing in statement.wordings:
        if existing.language == draft.language and compared(existing.text) == compared(wording):
            raise UsageError(
                f"{statement.ref} has this text already, as its {existing.variant}; nothing was "
                "written"
            )
    if (
        draft.kind is VariantKind.ORIGINAL
        and statement.wording(ORIGINAL, draft.language) is not None
    ):
        raise UsageError(
            f"{statement.ref} has an original in {draft.language!r} by now; edit that one"
        )
