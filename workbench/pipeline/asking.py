"""Instrument ─plan→ prompts ─collect→ responses: what a design needs, and asking for what is missing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stores.runs import Answered
from stores.store import Store
from workbench import registry
from workbench.audits.base import Material
from workbench.audits.label_forms import forms_by_prompt
from workbench.audits.questionnaire_conditions import IN_ALL_WORDINGS, expanded, remarks
from workbench.data import shipped_templates
from workbench.domain.choices import ChoiceItems
from workbench.domain.designs import Design
from workbench.domain.failures import Reasons
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.questionnaires import Role, Survey
from workbench.domain.responses import EXACT, ModelCard, Request
from workbench.domain.statements import ORIGINAL, Statement, variant_order
from workbench.errors import UnknownName, UsageError
from workbench.inference.base import Metered, Unhurried
from workbench.pipeline.deciding import decided_for
from workbench.pipeline.design_checks import check_design, check_ideal, check_settled
from workbench.pipeline.reading import BatchReader

if TYPE_CHECKING:
    from workbench.inference.base import Model

FLUSH_AFTER_S = 1.0
"answers wait no longer than this before they are committed"


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
    remarks: tuple[str, ...] = ()
    "what a person should know before it is asked"

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
        axes = [dict(probe.axes) for probe in self.probes]
        people = len({of["respondent"] for of in axes if "respondent" in of})
        conditions = len({of["condition"] for of in axes if "condition" in of})
        same = len(self.probes) - len(self.prompts)
        exact = design.sampling.mode == EXACT
        counted = "prompts" if exact else "answers"
        what = (
            f"{_counted(statements, 'target')} x {_counted(variants, 'wording')}; {_counted(people, 'respondent')}, "
            f"{_counted(conditions, 'condition')}"
            if conditions
            else f"{_counted(statements, 'statement')} x {_counted(variants, 'variant')} x "
            f"{_counted(templates, 'template')}" + (f" x {orders} orders" if orders > 1 else "")
        )
        lines = [
            f"{design.audit} audit of {design.model} on {design.instrument}: {what}",
            f"{len(self.probes):,} prompts planned"
            + (
                f", {len(self.prompts):,} distinct ({same:,} have the text of another and are asked once)"
                if same
                else ""
            )
            + ("" if exact else f"; {design.samples} samples each = {self.samples:,} answers"),
            f"{self.samples_stored:,} {counted} are {'scored' if exact else 'stored'} already; {self.samples_needed:,} "
            + ("to score" if exact else "to ask")
            + ("" if exact else f" ({self.prompts_needed:,} prompts)"),
            f"{self._how()}; seed {design.seed}{self._where()}",
            *self.remarks,
        ]
        return "\n".join(lines)

    def _how(self) -> str:
        if not registry.audit(self.design.audit).DEFAULTS.drawn:
            return "read: probabilities of the next token; nothing is sampled"
        return f"sampling: {self.design.sampling}"

    def _where(self) -> str:
        """Say in what numbers and on which cluster, where the design says so."""
        design = self.design
        said = {"": design.dtype, "cluster ": design.cluster, "chat format of ": design.chat_format}
        return "".join(f"; {what}{value}" for what, value in said.items() if value)

    def requests(self) -> list[tuple[bytes, Request]]:
        """Return what is still to be asked, each with the seed of exactly these answers."""
        wanted = self.design.samples
        rules = decided_for(self.templates, self.probes) if self.design.sampling.stop else {}
        return [
            (key, Request(prompt, wanted - held, derived_seed(self.design.seed, key, held), rules.get(key)))
            for key, prompt in self.prompts.items()
            if (held := self.stored.get(key, 0)) < wanted
        ]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


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

    Raises UnknownName for statements, variants or templates that the instrument does not have, UsageError for what
    cannot be asked as the design says.
    """
    check_design(design)
    instrument = store.instruments.get(design.instrument)
    design = replace(design, language=design.language or instrument.language)
    templates = _chosen_templates(instrument, design)
    _known("statement", design.statements, [s.ref for s in instrument.statements], design.instrument)
    statements = [s for s in instrument.statements if not design.statements or s.ref in design.statements]
    material = _material(store, design)
    survey = material if isinstance(material, Survey) else None
    if survey is not None:
        statements = _asked(survey, design, instrument.statements)
    all_variants = {w.variant for s in instrument.statements for w in s.wordings if w.language == design.language}
    _known("variant", design.variants, sorted(map(str, all_variants)), design.instrument)
    audit = registry.audit(design.audit)
    ordered = sorted(all_variants, key=variant_order)
    variants = [v for v in ordered if str(v) in design.variants] or list(audit.default_variants(ordered))
    probes = tuple(audit.probes(statements, templates, variants, design.language, spoken_name(design.model), material))
    if not probes:
        raise UsageError(f"the design has no prompts: {_why_none(instrument, design, statements, survey)}")
    prompts = {probe.prompt.key: probe.prompt for probe in probes}
    check_settled(design, templates)
    check_ideal(design, probes[0].prompt)
    stored = _stored(store, design, templates, probes, card)
    said = (*(remarks(survey.questionnaire) if survey else ()), *_in_other_languages(templates, design.language))
    return Plan(design, templates, probes, prompts, stored, said)


def _in_other_languages(templates: Sequence[Template], language: str) -> tuple[str, ...]:
    """Say where the instruction is in another language than the statements."""
    others = sorted({template.language for template in templates} - {language})
    if not others:
        return ()
    return (f"note: the statements are in {language!r} and the templates in {', '.join(map(repr, others))}",)


def _why_none(instrument: Instrument, design: Design, statements: Sequence[Statement], survey: Survey | None) -> str:
    """Say why a design with these statements asks nothing."""
    targets = {q.ref for q in survey.questionnaire.of_role(Role.TARGET)} if survey else set()
    several = set(expanded(design.contexts.conditions)) & set(IN_ALL_WORDINGS)
    if survey and design.variants and str(ORIGINAL) not in design.variants and not several:
        return f"wordings other than the original are asked under {', '.join(IN_ALL_WORDINGS)} alone"
    if any(s.ref in targets and any(w.language == design.language for w in s.wordings) for s in statements):
        said = remarks(survey.questionnaire) if survey else ()
        return "; ".join(said) or "none of these respondents answered these targets with yes or no"
    languages = sorted({w.language for s in instrument.statements for w in s.wordings})
    return f"{design.instrument} has no wording in {design.language!r} for it. Its languages: {', '.join(languages)}"


def _material(store: Store, design: Design) -> Material:
    """Return what an audit is given beside statements. Raises UsageError where the instrument has nothing of it."""
    wanted = registry.audit(design.audit).DEFAULTS.material
    if wanted == "statements":
        return None
    if wanted == "choices":
        return _choices(store, design)
    questionnaire = store.questionnaires.get(design.instrument)
    if questionnaire is None:
        raise UsageError(
            f"{design.instrument} is no questionnaire: none of its statements has a role. Give the columns `role`, "
            "`form` and `scale` in statements.csv and people's answers in answers.csv (data/README.md), or choose "
            "another --instrument"
        )
    return Survey(questionnaire, design.contexts, design.seed)


def _choices(store: Store, design: Design) -> ChoiceItems:
    """Return which statements are multiple-choice questions. Raises UsageError where none is."""
    items = store.choices.items(design.instrument)
    if not items:
        raise UsageError(
            f"{design.instrument} has no multiple-choice questions. Import some: workbench import STORE --format "
            "choices PATH (data/README.md), or choose another --instrument"
        )
    others = [ref for ref in design.statements if ref not in items]
    if others:
        raise UsageError(f"{named_few(others)} of {design.instrument}: no multiple-choice question")
    return items


def _asked(survey: Survey, design: Design, statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements of a questionnaire without the targets that are not wanted.

    Raises UsageError where a context question is asked for as a target, or there is no target.
    """
    targets = [question.ref for question in survey.questionnaire.of_role(Role.TARGET)]
    if not targets:
        raise UsageError(f"{design.instrument} has no target question; give one the role `target`")
    others = [ref for ref in design.statements if ref not in targets]
    if others:
        raise UsageError(
            f"{', '.join(others[:5])} {'is' if len(others) == 1 else 'are'} not asked: only targets are, after the "
            f"context questions. Targets of {design.instrument}: {', '.join(targets)}"
        )
    unwanted = set(targets) - set(design.statements or targets)
    return [statement for statement in statements if statement.ref not in unwanted]


def _stored(
    store: Store, design: Design, templates: Sequence[Template], probes: Sequence[Probe], card: ModelCard | None
) -> dict[bytes, int]:
    """Return how many answers each prompt has already; of an exact design, 1 where all label forms are scored."""
    how = {"dtype": design.dtype, "chat_format": design.chat_format}
    if design.sampling.mode == EXACT and registry.audit(design.audit).DEFAULTS.exact_by == "next tokens":
        return store.scores.stored_next(design.model, card, **how)
    if design.sampling.mode == EXACT:
        return store.scores.stored(forms_by_prompt(templates, probes), design.model, card, **how)
    keys = list(dict.fromkeys(probe.prompt.key for probe in probes))
    return store.runs.stored(keys, design.model, design.sampling, card, **how)


def spoken_name(model: str) -> str:
    """Return the name by which a prompt calls a model: `Llama-3.1-8B` for `meta-llama/Llama-3.1-8B`, and for that name
    served anywhere.
    """
    if model.startswith("openai:"):
        model = model.removeprefix("openai:").partition("@")[0].partition("#")[0]
    return model.rstrip("/").rpartition("/")[2] or model


def _chosen_templates(instrument: Instrument, design: Design) -> tuple[Template, ...]:
    of_audit = [t for t in instrument.templates if t.audit == design.audit] or list(shipped_templates(design.audit))
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


@dataclass(slots=True)
class Progress:
    """How far a collection is, for people who watch."""

    done: int
    total: int
    answers: int = 0
    unreadable: int = 0
    refused: int = 0
    failed: int = 0
    decided: int = 0
    "answers that were ended because their stance was settled"
    seconds: float = 0.0
    shared: float = 0.0
    "share of prompt tokens that were not computed again"
    merged: float = 0.0
    "share of answer tokens that were not computed again"
    used: Mapping[str, float] = field(default_factory=dict)
    "what a served model's calls came to, see `Metered`"
    reasons: Reasons = field(default_factory=Reasons)
    "why those that failed did"

    def fail(self, reason: str, count: int) -> None:
        """Count what failed for one reason."""
        self.failed += count
        self.reasons.add(reason, count)

    def as_json(self) -> str:
        return json.dumps(
            {
                **self.used,
                "answers": self.answers,
                "unreadable": self.unreadable,
                "refused": self.refused,
                "failed": self.failed,
                "lasting": self.reasons.lasting,
                "reasons": self.reasons.most_frequent(),
                "decided": self.decided,
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
    only: Set[bytes] | None = None,
) -> Progress:
    """Ask what is missing; commit answers, their readings and the job's progress together as they arrive.

    Stops after the answers at hand when `should_stop` says so; what was committed is complete and stays. Calls to a
    served model that are under way then are paid for, so they are waited for. `only`: of these prompts (keys) alone.
    """
    if plan.templates:
        store.runs.add_probes(
            plan.design.audit, plan.design.instrument, plan.design.language, plan.templates, plan.probes
        )
    model_id, sampling_id = store.runs.begin(model.card, plan.design.sampling)
    reading = BatchReader.of(store, plan.templates, plan.probes)
    wanted = [(key, request) for key, request in plan.requests() if only is None or key in only]
    progress = Progress(done=plan.samples_stored, total=plan.samples)
    started = committed = time.monotonic()
    batch: list[Answered] = []

    def commit() -> None:
        readings = reading.read(batch)
        progress.unreadable, progress.refused = reading.unreadable, reading.refused
        progress.seconds = time.monotonic() - started
        work = model.work
        progress.shared = saved(work.prompt_tokens, work.prompt_tokens_computed)
        progress.merged = saved(work.sampled_tokens, work.sampled_tokens_computed)
        progress.used = model.meter() if isinstance(model, Metered) else {}
        state = None if job is None else (job, progress.done, progress.as_json())
        store.runs.add(model_id, sampling_id, attempt, batch, job=state, readings=readings)
        batch.clear()

    answers = model.generate([request for _, request in wanted], plan.design.sampling)
    try:
        for drawn in answers:
            key, request = wanted[drawn.request]
            came = sum(count for _, count in drawn.answers)
            n, failed = came + drawn.failed, drawn.failed
            batch.append(Answered(key, request.seed, n, drawn.answers, failed, drawn.reason, drawn.decided))
            progress.done += came
            progress.answers += came
            if drawn.failed:
                progress.fail(drawn.reason, drawn.failed)
            progress.decided += drawn.decided
            if not drawn.more and time.monotonic() - committed >= FLUSH_AFTER_S:
                commit()
                committed = time.monotonic()
                if should_stop():
                    if not isinstance(model, Unhurried):
                        break
                    model.wind_down()
    finally:
        _close(answers)
        if batch:
            commit()
    return progress


def _close(answers: Iterator[Any]) -> None:
    close = getattr(answers, "close", None)
    if close is not None:
        close()


def saved(naive: int, computed: int) -> float:
    """Return the share of tokens that were not computed again."""
    return 1 - computed / naive if naive else 0.0
