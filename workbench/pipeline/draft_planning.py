"""The plan of a drafting job: statements, prompts, and the prompts asked before.

A call is one prompt about one text with one seed. It is made once: a job that is resumed asks what is missing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stores.core.store import Store
from stores.instruments.drafts import NewDraft
from workbench import __version__
from workbench.data import shipped_drafting
from workbench.domain.choices import Choice, ChoiceItem, parse_choice
from workbench.domain.drafting import REWORDED, RULE, RULED, CallLabel, DraftPrompt
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.prompts import Prompt
from workbench.domain.responses import ModelCard
from workbench.domain.statements import ORIGINAL, Statement, VariantKind, Wording
from workbench.errors import UnknownName, UsageError
from workbench.pipeline.design_checks import check_model, check_script, served
from workbench.pipeline.planning import derived_seed
from workbench.workshop.choice_forms import original_faults, reworded
from workbench.workshop.drafting import Fault, basis_of, compared, drafted, fault_in_words
from workbench.workshop.english import negate, stated


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
    """The prompts of a drafting job, and those asked before."""

    spec: DraftSpec
    calls: tuple[Call, ...]
    stored: frozenset[tuple[str, str, str, str, int]]
    skipped: tuple[tuple[str, str, int], ...] = ()
    "(kind, why, how many statements) that cannot be asked about"

    @property
    def needed(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.place not in self.stored)

    def describe(self) -> str:
        """Return a description of the plan for a person who is about to start it."""
        spec = self.spec
        refs = len({call.ref for call in self.calls})
        held = len(self.calls) - len(self.needed)
        before = f" ({held:,} asked already)" if held else ""
        where = f"{plural(refs, 'statement')} of {spec.instrument} in {spec.language!r}"
        lines = [f"{spec.model} drafts for {where}: {plural(len(self.needed), 'prompt')} to ask{before}"]
        lines += [self._about(prompt) for prompt in spec.prompts]
        lines += [f"{kind}: {plural(n, 'statement')} left out, {why}" for kind, why, n in self.skipped]
        lines.append(f"seed {spec.seed}; a draft becomes a wording only when a person accepts it")
        return "\n".join(lines)

    def _about(self, prompt: DraftPrompt) -> str:
        calls = [call for call in self.calls if call.prompt == prompt]
        refs = len({call.ref for call in calls})
        each = f" of {prompt.per_call} each" if prompt.per_call > 1 else ""
        keep = f", a sample of {prompt.keep} kept for each" if prompt.keep else ""
        origin = prompt.source or ("our own prompt" if prompt in shipped_drafting() else "a prompt of yours")
        return (
            f"{prompt.kind}: {prompt.name} ({origin}), {plural(refs, 'statement')} × "
            f"{plural(prompt.calls, 'call')}{each}{keep}; {prompt.sampling}"
        )


def plan_drafting(store: Store, spec: DraftSpec, *, card: ModelCard | None = None, job: int | None = None) -> DraftPlan:
    """Work out what a drafting job asks. Reads only.

    `card` None: calls to the newest model of that name count as made; with it, those to exactly this model, and all
    that a `job` has made.

    Raises UnknownName for statements that the instrument does not have, UsageError where nothing can be asked.
    """
    check_model(spec.model)
    if card is None:  # otherwise it is loaded
        check_script(spec.model)
    instrument = store.instruments.get(spec.instrument)
    spec = replace(spec, language=spec.language or instrument.language)
    if not spec.prompts:
        raise UsageError("no kind of wording chosen; choose one or more to draft")
    if any(prompt.sampling.server for prompt in spec.prompts) and not served(spec.model):
        raise UsageError(f"{spec.model} is not a served model, so a server cannot choose: give numbers")
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
        return "a multiple-choice question, for which only the changed form can be drafted"
    if kind is not VariantKind.ORIGINAL:
        return basis or f"no original in {language!r}"
    if statement.wording(ORIGINAL, language) is not None:
        return f"an original in {language!r} exists"
    return basis or f"no question in {language!r}"


def _reworded_from(original: Wording | None, language: str, item: ChoiceItem | None) -> Wording | str:
    """Return the original of a question whose changed form is worded, or why none is."""
    if item is None:
        return "no multiple-choice question of a bias"
    if item.bias not in REWORDED:
        return f"the changed form for {item.bias} follows from the question: workbench choices STORE forms"
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


def draft_by_rule(
    store: Store,
    instrument: str,
    kinds: Sequence[VariantKind],
    refs: Sequence[str] = (),
    language: str = "",
    *,
    dry: bool = False,
) -> Counter[str]:
    """Draft by rule, at once; return how many statements have a draft ("") or why not. `dry` writes nothing.

    Raises UsageError for a kind that no rule drafts and for another language than English.
    """
    found = store.instruments.get(instrument)
    language = language or found.language
    odd = [kind for kind in kinds if kind not in RULED]
    if odd or not kinds:
        raise UsageError(f"a rule drafts {', '.join(RULED)}, not {', '.join(odd) or 'nothing'}; ask a model")
    if language.split("-")[0] != "en":
        raise UsageError(f"the rules are for English, and {language!r} is not; ask a model")
    said: Counter[str] = Counter()
    drafts: list[NewDraft] = []
    items = {item.ref: item for item in found.choices}
    for statement in chosen_statements(found.statements, refs, instrument):
        for kind in kinds:
            draft = _ruled(store, instrument, statement, kind, language, items.get(statement.ref))
            if isinstance(draft, NewDraft):
                drafts.append(draft)
                said[draft.fault and fault_in_words(draft.fault)] += 1
            else:
                said[draft] += 1
    if not dry:
        store.drafts.add(instrument, [draft for draft in drafts if not draft.fault])
    return said


def _ruled(
    store: Store, instrument: str, statement: Statement, kind: VariantKind, language: str, item: ChoiceItem | None
) -> NewDraft | str:
    """Return the draft of the rule for a kind, or the reason for having none."""
    basis = drafted_from(statement, kind, language, item)
    if isinstance(basis, str):
        return basis
    made = _made(basis.text, kind, item)
    if made is None:
        return "no rule fits"
    text, rule = made
    known = {compared(w.text) for w in statement.wordings if w.language == language}
    earlier = store.drafts.earlier(instrument, statement.ref, kind, language, basis.text)
    same = compared(text)
    before = {compared(drafted(kind, line)) for line in earlier}
    fault = Fault.WORDING if same in known else Fault.REPEAT if same in before else ""
    label = str(CallLabel(f"{kind}: {rule}, workbench {__version__}"))
    return NewDraft(statement.ref, kind, language, basis.text, text, RULE, label, fault=fault)


def _made(basis: str, kind: VariantKind, item: ChoiceItem | None) -> tuple[str, str] | None:
    """Return (text, the rule that made it); None if no rule fits."""
    if kind is VariantKind.CHANGED:
        question = parse_choice(basis)
        form = reworded(item.bias, question) if item is not None and isinstance(question, Choice) else None
        return (form.choice.lettered(), form.rule) if form is not None else None
    made = negate(basis) if kind is VariantKind.NEGATION else stated(basis)
    return (made.text, made.rule) if made is not None else None
