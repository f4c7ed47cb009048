"""What a person typed for a choice among names: all of them, the first so many, or some by their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stores.core.store import Store
from workbench import registry
from workbench.audits.crossing import check_turns, crossed, persona_remarks
from workbench.audits.template_choice import check_readable, chosen_templates, known, language_remarks, left_out
from workbench.domain.designs import Design
from workbench.domain.names import listed_words, parted, plural
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.questionnaires import Role, named_few
from workbench.domain.responses import EXACT, ModelCard, Request
from workbench.domain.statements import Statement, variant_order
from workbench.domain.thinking import split
from workbench.errors import UsageError
from workbench.evidence.settling import Read, Settling, settling_of
from workbench.inference.load import check_chat_format_there
from workbench.inference.served.address import LAUNCHED
from workbench.options.shared import STATEMENTS
from workbench.pipeline.design_checks import check_design, check_ideal, check_script, check_settled, decided_for
from workbench.readers.rules import letter_of
from workbench.readers.verbalizers import forms_by_prompt
from workbench.stats.proportions import is_settled
from workbench.stats.resampling import derive_rng

CAREFUL = 0.9
"of the answers that the share of valid ones so far makes one expect to be needed: rarely more are drawn than needed"


@dataclass(frozen=True, slots=True)
class ValidTally:
    """What is offered in each prompt, and what was drawn."""

    letters: Mapping[bytes, str]
    "prompt key -> letters that it offers"
    valid: dict[bytes, int]
    "prompt key -> answers that are such a letter, when the plan was made"
    drawn: Mapping[bytes, int]
    "prompt key -> all answers"

    def count(self, key: bytes, answers: Iterable[tuple[str, int]]) -> int:
        """Return how many answers to a prompt are offered letters."""
        return valid_count(answers, self.letters[key])

    def to_draw(self, key: bytes, held: int, wanted: int, tries: int) -> int:
        """Return how many answers to draw next for a prompt that has `held` valid ones; 0: it has enough, or no tries
        are left. With none that is valid so far each round is as long as all before it, so that a prompt that nobody
        answers costs few rounds.
        """
        drawn = self.drawn.get(key, 0)
        lacking, left = wanted - held, wanted * tries - drawn
        if lacking <= 0 or left <= 0:
            return 0
        expected = CAREFUL * lacking * drawn / held if held else drawn
        return min(left, max(lacking, int(expected)))


def valid_count(answers: Iterable[tuple[str, int]], letters: str) -> int:
    """Return how many answers, given as (text, how often), name one of the letters."""
    return sum(
        count for text, count in answers if (letter := letter_of(split(text).answer or "")) and letter in letters
    )


def valid_tally(store: Store, design: Design, probes: Sequence[Probe], card: ModelCard | None) -> ValidTally | None:
    """Return which answers count; None where an audit counts all, or nothing is drawn."""
    audit = registry.audit(design.audit)
    if not audit.defaults.until_valid or design.sampling.mode == EXACT:
        return None
    letters = {probe.prompt.key: audit.offered(probe) for probe in probes}
    how = {"dtype": design.dtype, "chat_format": design.chat_format}
    held = store.raw_answers.of_prompts(list(letters), design.model, design.sampling, card, **how)
    return ValidTally(
        letters=letters,
        valid={key: valid_count(counts.items(), letters[key]) for key, counts in held.items()},
        drawn=store.runs.stored(list(letters), design.model, design.sampling, card, **how),
    )


QUICK, QUICK_STATEMENTS, QUICK_SAMPLES = "quick", 8, 5
"the word for a quick look, and of how many statements it is with how many answers to each prompt"
ROLES = {"targets": Role.TARGET, "target": Role.TARGET, "context": Role.CONTEXT}
"words that stand for the questions of a role"


def is_quick(text: str | None) -> bool:
    """Return whether a quick look is asked for."""
    return (text or "").strip().casefold() == QUICK


def quick_look(refs: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the few statements of a quick look, in their order; () where there are no more than these."""
    if len(refs) <= QUICK_STATEMENTS:
        return ()
    drawn = derive_rng(seed, "quick look").permutation(len(refs))[:QUICK_STATEMENTS]
    return tuple(refs[place] for place in sorted(drawn.tolist()))


def chosen(text: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Read `8` as the first eight names and `a,b` or `a b` as these; None, nothing and `all` as all, which is ().

    Raises FieldError for 0.

    Examples
    --------
    >>> chosen("2", ["a", "b", "c"]), chosen("c b", ["a", "b", "c"]), chosen("all", ["a"])
    (('a', 'b'), ('c', 'b'), ())
    """
    typed = (text or "").strip()
    if typed.casefold() in ("", "all"):
        return ()
    if typed.isdecimal() and names and typed not in names:
        if int(typed) < 1:
            raise STATEMENTS.error("found 0; give 1 or more, or names")
        return tuple(names[: int(typed)])
    return tuple(dict.fromkeys(listed_words(typed, names)))


def statements(text: str | None, wanted: Sequence[str], there: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the refs that are asked for, () for all: of those that other options want, where they want any. `quick`
    stands for a few that the seed draws.

    Raises FieldError for one that they do not.
    """
    if is_quick(text) and QUICK not in there:
        return quick_look(wanted or there, seed) or tuple(wanted)
    named = chosen(text, wanted or there)
    others = [ref for ref in named if wanted and ref not in wanted]
    if others:
        raise STATEMENTS.error(f"{named_few(others)}: excluded by the other options")
    return named or tuple(wanted)


def named_statements(store: Store, instrument: str, text: str) -> tuple[str, ...]:
    """Return the refs that are asked for, () for all; `targets` and `context` are the questions of a role.

    A statement whose ref is one of these words is meant by it. Raises FieldError for 0, and UsageError for a role that
    no question has.
    """
    refs = [line.ref for line in store.instruments.lines(instrument)]
    role = None if text.strip() in refs else ROLES.get(text.strip().casefold())
    if role is None:
        return chosen(text, refs)
    found = tuple(question.ref for question in store.questionnaires.questions(instrument) if question.role is role)
    if not found:
        raise UsageError(f"{instrument} has no {role.value} questions; choose another instrument, or give them a role")
    return found


COUNTED = "the two labels are counted among answers, a measure that is never pooled with probabilities"


@dataclass(frozen=True, slots=True)
class Plan:
    """The prompts of a design, and the answers that the store already has."""

    design: Design
    templates: tuple[Template, ...]
    probes: tuple[Probe, ...]
    prompts: dict[bytes, Prompt]
    "distinct prompts by key: two probes with the same text are asked once"
    stored: dict[bytes, int]
    "answers that the store has already, by prompt key"
    remarks: tuple[str, ...] = ()
    "what a person should know before it is asked"
    detects: str = ""
    "what it can show, in a sentence; empty: nobody knows"
    tally: ValidTally | None = None
    "which answers count, and how many were drawn for those in `stored`; None: every answer counts"
    settling: Settling | None = None
    "how far prompts are settled; None: all are asked `design.samples` times"

    @property
    def samples(self) -> int:
        """Answers that the design asks for."""
        return self.design.samples * len(self.prompts)

    @property
    def samples_stored(self) -> int:
        return sum(min(self.stored.get(key, 0), self.design.samples) for key in self.prompts)

    @property
    def samples_needed(self) -> int:
        return self.samples - self.samples_stored - self.samples_given_up - self.samples_spared

    @property
    def samples_spared(self) -> int:
        """Answers that need not be drawn, as the verdicts of their prompts are settled."""
        if self.settling is None:
            return 0
        return sum(self.design.samples - self.stored.get(key, 0) for key in self._lacking() if not self._to_draw(key))

    @property
    def prompts_settled(self) -> int:
        """Prompts that are settled before all their answers are drawn."""
        return 0 if self.settling is None else sum(1 for key in self._lacking() if not self._to_draw(key))

    @property
    def in_rounds(self) -> bool:
        """Whether what came of a round says what the next one asks."""
        return self.tally is not None or self.settling is not None

    @property
    def samples_given_up(self) -> int:
        """Valid answers that prompts still lack after all tries."""
        return sum(self.design.samples - self.stored.get(key, 0) for key in self.given_up)

    @property
    def given_up(self) -> tuple[bytes, ...]:
        """Prompts (keys) that have too few valid answers after all tries."""
        return () if self.tally is None else tuple(k for k in self._lacking() if not self._to_draw(k))

    @property
    def prompts_needed(self) -> int:
        return sum(1 for key in self._lacking() if self._to_draw(key))

    def _lacking(self) -> Iterator[bytes]:
        return (key for key in self.prompts if self.stored.get(key, 0) < self.design.samples)

    def _to_draw(self, key: bytes) -> int:
        """Return how many answers to ask for next; 0: there are enough, or no tries are left."""
        held = self.stored.get(key, 0)
        if self.settling is not None:
            return self.settling.to_draw(key)
        if self.tally is None:
            return max(0, self.design.samples - held)
        return self.tally.to_draw(key, held, self.design.samples, self.design.tries)

    def describe(self) -> str:
        """Return a description of the plan for a person who is about to start it."""
        design = self.design
        statements = len({probe.statement for probe in self.probes})
        variants = len({probe.variant for probe in self.probes})
        orders = len({probe.inverted for probe in self.probes})
        templates = len({probe.template for probe in self.probes})
        axes = [dict(probe.axes) for probe in self.probes]
        people = len({of["respondent"] for of in axes if "respondent" in of})
        conditions = len({of["condition"] for of in axes if "condition" in of})
        same = len(self.probes) - len(self.prompts)
        exact = design.sampling.mode == EXACT
        what_counts = "prompts" if exact else "answers"
        most = "at most " if self.settling is not None and self.samples_needed else ""
        what = (
            f"{plural(statements, 'target')} x {plural(variants, 'wording')}; {plural(people, 'respondent')}, "
            f"{plural(conditions, 'condition')}"
            if conditions
            else f"{plural(statements, 'statement')} x {plural(variants, 'wording')} x "
            f"{plural(templates, 'template')}" + (f" x {orders} orders" if orders > 1 else "")
        )
        what += f" x {len(design.personas) + 1} personas (with none)" if design.personas else ""
        lines = [
            f"{design.audit} audit of {design.model} on {design.instrument}: {what}",
            f"{plural(len(self.probes), 'prompt')} planned"
            + ("" if conditions else self._fewer())
            + (
                f", {len(self.prompts):,} distinct ({same:,} have the same text as another and are asked once)"
                if same
                else ""
            )
            + (
                ""
                if exact
                else f"; {plural(design.samples, f'{self._valid}sample')} each = {plural(self.samples, 'answer')}"
            ),
            f"{self.samples_stored:,} {what_counts} are {'scored' if exact else 'stored'} already; "
            f"{most}{self.samples_needed:,} to {'score' if exact else 'ask'}"
            + ("" if exact else f" ({plural(self.prompts_needed, 'prompt')})"),
            *self._until_settled(),
            *self._edited(),
            *self._tries(),
            f"{self._how()}; seed {design.seed}{self._where()}",
            *filter(None, [self.detects]),
            *self.remarks,
        ]
        return "\n".join(lines)

    def _fewer(self) -> str:
        """Say why the prompts are fewer than the product of what is asked about; "" where they are not."""
        asked = {probe.statement: set[str]() for probe in self.probes}
        orders = {probe.template: set[bool]() for probe in self.probes}
        for probe in self.probes:
            asked[probe.statement].add(probe.variant)
            orders[probe.template].add(probe.inverted)
        wordings, both = len(set().union(*asked.values())), len(set().union(*orders.values()))
        product = len(asked) * wordings * len(orders) * both * (len(self.design.personas) + 1)
        why = [
            "some wordings exist for some statements only" if any(len(a) < wordings for a in asked.values()) else "",
            "some templates have one order only" if any(len(o) < both for o in orders.values()) else "",
        ]
        said = " and ".join(filter(None, why))
        return f" (not {product:,}: {said})" if said and len(self.probes) < product else ""

    @property
    def _valid(self) -> str:
        return "" if self.tally is None else "valid "

    def _edited(self) -> Iterator[str]:
        """Say which templates are not in the first version of their language."""
        edited = dict.fromkeys(f"{t.name} version {t.version}" for t in self.templates if t.edited)
        if edited:
            yield f"edited templates: {named_few(edited)}"

    def _until_settled(self) -> Iterator[str]:
        """Say by which rule prompts are settled, and what was settled already."""
        if self.settling is None:
            return
        by = next(iter(self.settling.by().values()))
        yield (
            "asked until settled: a prompt is left as soon as no further answer can change its verdict "
            f"({by.describe()})"
        )
        if told := self.settling.describe():
            yield f"so far {told}"

    def _tries(self) -> Iterator[str]:
        """Say how answers are drawn until they are valid, and what was given up."""
        if self.tally is not None:
            most = self.design.samples * self.design.tries
            yield f"answers without an offered letter are drawn again: at most {most:,} per prompt"
            if self.given_up:
                yield (
                    f"with fewer than {self.design.samples} valid answers after all tries: "
                    f"{plural(len(self.given_up), 'prompt')}; their answers count"
                )

    def _how(self) -> str:
        defaults = registry.audit(self.design.audit).defaults
        if not defaults.drawn and self.design.sampling.mode == EXACT:
            return "read: probabilities of the next token; no sampling"
        if not defaults.drawn:
            return f"sampling: {self.design.sampling}; {COUNTED}"
        if _next_tokens(self.design):
            return "read: probabilities of the offered letters as the next token; no sampling"
        return f"sampling: {self.design.sampling}"

    def _where(self) -> str:
        """Say in what numbers and on which cluster, where the design says so."""
        design = self.design
        said = {"": design.dtype, "cluster ": design.cluster, "chat format of ": design.chat_format}
        return "".join(f"; {what}{value}" for what, value in said.items() if value)

    def requests(self) -> list[tuple[bytes, Request]]:
        """Return the answers still to ask for, each with its own seed."""
        rules = decided_for(self.templates, self.probes) if self.design.sampling.stop else {}
        return [
            (key, replace(self._request(key, n), decided=rules.get(key)))
            for key in self._lacking()
            if (n := self._to_draw(key))
        ]

    def _request(self, key: bytes, n: int) -> Request:
        """Return the request for n answers more: the next ones of one seed where a prompt is asked until settled, and
        else those of a seed of their own.
        """
        if self.settling is not None:
            return Request(self.prompts[key], n, self.settling.seeds[key], first=self.settling.following.get(key, 0))
        return Request(self.prompts[key], n, derived_seed(self.design.seed, key, self._drawn(key)))

    def _drawn(self, key: bytes) -> int:
        return self.stored.get(key, 0) if self.tally is None else self.tally.drawn.get(key, 0)

    def settled_after(self, came: Mapping[bytes, Read], asked: Mapping[bytes, int]) -> Plan:
        """Return the plan when these prompts have got so many answers more, and those below the numbers `asked` of
        their seeds were asked for.
        """
        assert self.settling is not None
        settling = self.settling.after(came, asked)
        return replace(self, settling=settling, stored={**self.stored, **{key: settling.drawn(key) for key in came}})

    def after(self, answers: Mapping[bytes, tuple[int, int]]) -> Plan:
        """Return the plan when these prompts have got (valid, all) answers more."""
        assert self.tally is not None
        stored, drawn = dict(self.stored), dict(self.tally.drawn)
        for key, (valid, came) in answers.items():
            stored[key] = stored.get(key, 0) + valid
            drawn[key] = drawn.get(key, 0) + came
        return replace(self, stored=stored, tally=replace(self.tally, drawn=drawn))


def derived_seed(seed: int, prompt_key: bytes, held: int) -> int:
    """Return the seed of one prompt's answers from the job's: the order of asking does not matter, and the answers
    that follow `held` stored ones are new draws.
    """
    words = np.frombuffer(prompt_key, dtype="<u4")
    state = np.random.SeedSequence([seed, *map(int, words), held]).generate_state(2, np.uint32)
    return (int(state[0]) << 31) | (int(state[1]) >> 1)


def plan(store: Store, design: Design, *, card: ModelCard | None = None, attempt: int | None = None) -> Plan:
    """Work out what a design asks. Reads only.

    `card` None: answers of the newest model of that name count as stored; with it, those of exactly this model. With
    `attempt` (its rowid) a prompt needs nothing either where another snapshot of the model has all its answers from the
    same job: a served model that changes on the way is not asked everything anew.

    Raises UnknownName for statements, variants or templates that the instrument does not have, UsageError for what
    cannot be asked as the design says.
    """
    check_design(design)
    if card is None:  # otherwise it is loaded
        check_script(design.model, design.cluster)
        check_chat_format_there(design.chat_format, cluster=design.cluster)
    instrument = store.instruments.get(design.instrument)
    design = replace(design, language=design.language or instrument.language)
    templates = chosen_templates(instrument, design)
    known("statement", design.statements, [s.ref for s in instrument.statements], design.instrument)
    statements: Sequence[Statement] = [
        s for s in instrument.statements if not design.statements or s.ref in design.statements
    ]
    audit = registry.audit(design.audit)
    statements, material = audit.asked(store, design, instrument, statements)
    all_variants = {w.variant for s in instrument.statements for w in s.wordings if w.language == design.language}
    known("variant", design.variants, sorted(map(str, all_variants)), design.instrument)
    ordered = sorted(all_variants, key=variant_order)
    variants = [v for v in ordered if str(v) in design.variants] or list(audit.default_variants(ordered))
    probes = tuple(audit.probes(statements, templates, variants, design.language, spoken_name(design.model), material))
    if not probes:
        said = audit.remarks(statements, variants, design.language, material)
        why = "; ".join(said) or audit.why_nothing(instrument, design, statements, material)
        raise UsageError(f"the design has no prompts: {why}")
    alone = probes
    check_turns(design, alone, card)
    probes = crossed(alone, design.personas, design.family)
    prompts = {probe.prompt.key: probe.prompt for probe in probes}
    check_settled(design, templates)
    check_readable(audit, templates)
    check_ideal(design, probes[0].prompt)
    tally = valid_tally(store, design, probes, card)
    stored = _stored(store, design, templates, probes, card) if tally is None else tally.valid
    if card is not None and attempt is not None:
        stored = stored | _settled(store, design, list(prompts), card, attempt, tally)
    refs = audit.may_be_asked(store, design.instrument) or [s.ref for s in instrument.statements]
    quick = bool(design.statements) and design.statements == quick_look(refs, design.seed)
    said = (
        *([f"a quick look: {len(design.statements)} of {len(refs)} statements, drawn by the seed"] if quick else ()),
        *audit.remarks(statements, variants, design.language, material),
        *language_remarks(templates, design.language),
        *left_out(instrument, design, templates),
        *persona_remarks(design),
    )
    shows = audit.detects(statements, alone, 0 if design.sampling.mode == EXACT else design.samples, material)
    seeds = {key: derived_seed(design.seed, key, 0) for key in prompts} if design.until_settled else {}
    settling = settling_of(store, design, templates, probes, card, seeds, audit.verdict_rule(design.samples))
    made = Plan(design, templates, probes, prompts, stored, said, shows, tally, settling)
    return made if settling is None or card is None or attempt is None else _elsewhere(store, made, card, attempt)


def _stored(
    store: Store, design: Design, templates: Sequence[Template], probes: Sequence[Probe], card: ModelCard | None
) -> dict[bytes, int]:
    """Return how many answers each prompt has already; of an exact design, 1 where all label forms are scored."""
    how = {"dtype": design.dtype, "chat_format": design.chat_format}
    if _next_tokens(design):
        return store.scores.stored_next(design.model, card, **how)
    if design.sampling.mode == EXACT:
        return store.scores.stored(forms_by_prompt(templates, probes), design.model, card, **how)
    keys = list(dict.fromkeys(probe.prompt.key for probe in probes))
    return store.runs.stored(keys, design.model, design.sampling, card, **how)


def restocked(store: Store, plan: Plan, card: ModelCard, attempt: int) -> Plan:
    """Return a plan with what is stored by now, for a served model that came to be this one while it was asked."""
    tally = valid_tally(store, plan.design, plan.probes, card)
    stored = _stored(store, plan.design, plan.templates, plan.probes, card) if tally is None else tally.valid
    settled = _settled(store, plan.design, list(plan.prompts), card, attempt, tally)
    if plan.settling is None:
        return replace(plan, stored=stored | settled, tally=tally)
    seeds, rule = plan.settling.seeds, plan.settling.rule
    settling = settling_of(store, plan.design, plan.templates, plan.probes, card, seeds, rule)
    return _elsewhere(store, replace(plan, stored=stored | settled, settling=settling), card, attempt)


def _elsewhere(store: Store, plan: Plan, card: ModelCard, attempt: int) -> Plan:
    """Return a plan that asks nothing of prompts that another snapshot has answered, in the job of an attempt, until
    they were settled.
    """
    assert plan.settling is not None
    settling = plan.settling
    held = store.runs.by_other_snapshots(card, plan.design.sampling, attempt)
    answers = store.raw_answers.of_models({model for _, model, _ in held}, plan.design.sampling, list(plan.prompts))
    there = set()
    for key, model, n in held:
        agree, disagree, _ = (
            settling.read(key, answers[model].get(key, {}).items()) if key in plan.prompts else (0, 0, 0)
        )
        if key in plan.prompts and is_settled(agree, disagree, n - agree - disagree, settling.rule):
            there.add(key)
    return replace(plan, settling=replace(settling, elsewhere=frozenset(there)))


def _settled(
    store: Store, design: Design, keys: Sequence[bytes], card: ModelCard, attempt: int, tally: ValidTally | None
) -> dict[bytes, int]:
    """Return the prompts of which another snapshot has every answer from the job of an attempt, with their number."""
    held = store.runs.by_other_snapshots(card, design.sampling, attempt)
    if tally is None:
        return {key: design.samples for key, _, n in held if n >= design.samples}
    drawn = store.raw_answers.of_models({model for _, model, _ in held}, design.sampling, keys)
    return {
        key: design.samples
        for key, model, _ in held
        if tally.count(key, drawn[model].get(key, {}).items()) >= design.samples
    }


def _next_tokens(design: Design) -> bool:
    """Return whether a prompt is answered by the probabilities of its next token."""
    return design.sampling.mode == EXACT and registry.audit(design.audit).defaults.exact_by == "next tokens"


def spoken_name(model: str) -> str:
    """Return the name by which a prompt calls a model: `Llama-3.1-8B` for `meta-llama/Llama-3.1-8B`, and for that name
    served anywhere.
    """
    if model.startswith(LAUNCHED):
        model, _ = parted(model.removeprefix(LAUNCHED))
    elif model.startswith("openai:"):
        model = model.removeprefix("openai:").partition("@")[0].partition("#")[0]
    elif not Path(model).exists():
        model, _ = parted(model)
    return model.rstrip("/").rpartition("/")[2] or model
