"""Let a model, or a rule, draft wordings that a person accepts or rejects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.commands.command import (
    JobCommand,
    OptionChoices,
    Outcome,
    Preview,
    option,
    shared_option,
)
from workbench.domain.drafting import DRAFTED, REWORDED, RULED, DraftPrompt
from workbench.domain.job_kinds import DRAFT
from workbench.domain.names import listed_words, plural
from workbench.domain.responses import MAY_BE_LEFT
from workbench.domain.statements import VariantKind
from workbench.errors import FieldError, UnknownName, UsageError
from workbench.options.option import Type
from workbench.options.shared import (
    INSTRUMENT,
    LANGUAGE,
    MAX_NEW_TOKENS,
    MODEL,
    SEED,
    STATEMENTS,
    TEMPERATURE,
    THINKING,
    TOP_K,
    TOP_P,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.drafting import DraftSpec

RULE = "rule"
"stands for a model: English wordings by rules, at once"
FIRST_MODEL = "smollm2"
FIRST_KINDS = (VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
AS_PROMPT = "the prompt's"
"default of what a prompt may be changed in"
CHANGES = ("calls", "per_call", "keep", *MAY_BE_LEFT, "max_new_tokens", "thinking")
"options that change the shipped prompts"


@dataclass(frozen=True)
class DraftCommand(JobCommand):
    """Draft wordings of statements. A person decides on each draft."""

    KIND = DRAFT
    HEADING = "draft wordings"
    HELP = ("screens-statements", "Drafting")
    FIRST = "model"
    FORM = (
        ("instrument", "language"),
        ("model",),
        ("statements",),
        ("kind",),
        ("calls", "per_call", "keep"),
        ("max_new_tokens", "thinking", "seed"),
        ("temperature", "top_p", "top_k"),
        ("prompt",),
    )
    NEXT = (
        "Next: workbench draft STORE --list (with --state unusable: the lines that cannot be "
        "wordings, and why), or review drafts in the terminal: Statements, r"
    )

    instrument: str | None = shared_option(INSTRUMENT, selected=True, leading=True)
    language: str | None = shared_option(LANGUAGE, selected=True)
    statements: str | None = shared_option(
        STATEMENTS.but(help="the first N, or these, or `targets`")
    )
    kind: tuple[str, ...] = option(
        None,
        "paraphrase, negation, opposite, reformulation, political_opposite, original (from a "
        "question), changed (of multiple-choice questions about acquiescence or allow_forbid)",
        metavar="KIND,…",
        label="drafted",
        ticked=True,
    )
    model: str | None = shared_option(
        MODEL.but(
            help="smollm2, a hub id, a folder, … as for `run`; or `rule`: English, at once",
            none="",
        ),
        leading=True,
    )
    prompt: tuple[Path, ...] = option(
        None,
        "your own prompt instead of the published one of its kind; see data/README.md",
        type=Type.PATH,
        many=True,
    )
    calls: int | None = option(
        None, "to each statement", type=Type.WHOLE, none="as published, 5 or 1", least=1
    )
    per_call: int | None = option(
        None, "wordings a call is asked for", type=Type.WHOLE, none="20", least=1
    )
    keep: int | None = option(
        None, "sample of a statement's drafts; 0: all", type=Type.WHOLE, none="50", least=0
    )
    seed: int = shared_option(SEED.of("the drafts"))
    temperature: float | str | None = shared_option(TEMPERATURE.but(none=AS_PROMPT))
    top_p: float | str | None = shared_option(TOP_P.but(none=AS_PROMPT))
    top_k: int | str | None = shared_option(TOP_K.but(none=AS_PROMPT))
    max_new_tokens: int | None = shared_option(MAX_NEW_TOKENS.but(none=AS_PROMPT))
    thinking: int | str | None = shared_option(THINKING.but(none=AS_PROMPT))

    @classmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:
        from workbench.pipeline.drafting import DraftSpec
        from workbench.pipeline.planning import statements_as_typed

        spec = DraftSpec.from_json(specification)
        refs = [line.ref for line in store.instruments.lines(spec.instrument)]
        return cls(
            instrument=spec.instrument,
            model=spec.model,
            statements=statements_as_typed(spec.statements, refs) or None,
            language=spec.language or None,
            kind=tuple(dict.fromkeys(prompt.kind.value for prompt in spec.prompts)),
            seed=spec.seed,
            **_changes_of(spec.prompts),
        )

    @classmethod
    def choices(cls, store: Store, texts: Mapping[str, Any]) -> Mapping[str, OptionChoices]:
        """Return the instruments, and the languages and kinds of wordings of one."""
        summaries = {summary.name: summary for summary in store.instruments.summaries()}
        if not summaries:
            raise UsageError(
                "The store has no instrument yet. Esc, then 2: make one, or import one."
            )
        name = texts.get("instrument")
        if name not in summaries:
            name = next(iter(summaries))
        own_language = summaries[name].language
        languages = sorted(
            summaries[name].languages, key=lambda language: (language != own_language, language)
        )
        has_changed_forms = any(
            item.bias in REWORDED for item in store.choices.items(name).values()
        )
        kinds = _kinds_for(texts.get("model") or FIRST_MODEL, has_changed_forms=has_changed_forms)
        default = [kind for kind in FIRST_KINDS if kind in kinds]
        if has_changed_forms:
            default = [VariantKind.CHANGED]
        return {
            "instrument": OptionChoices.from_names(summaries, name),
            "language": OptionChoices.from_names(languages, languages[0] if languages else ""),
            "kind": OptionChoices.from_names(kinds, ",".join(default)),
            "model": OptionChoices(default=FIRST_MODEL),
        }

    def kinds(self) -> tuple[VariantKind, ...]:
        """Return the kinds of wordings to draft. Raises UnknownName for one that cannot be."""
        return kinds_of(",".join(self.kind))

    def prompts(self) -> tuple[DraftPrompt, ...]:
        """Return the prompts of the kinds, with the changes that the options make.

        One's own prompts replace the shipped ones of the same kind and bias. Raises FieldError.
        """
        from workbench.data import read_prompt, shipped_drafting

        own_prompts = [read_prompt(Path(path)) for path in self.prompt]
        own = {(prompt.kind, prompt.bias): prompt for prompt in own_prompts}
        kinds = self.kinds() or tuple(dict.fromkeys(kind for kind, _ in own))
        if not kinds:
            raise self._no_kinds(DRAFTED)
        unused = [kind.value for kind, _ in own if kind not in kinds]
        if unused:
            raise UsageError(f"--prompt asks for {', '.join(unused)}, which --kind does not name")
        prompts = {(prompt.kind, prompt.bias): prompt for prompt in shipped_drafting()} | own
        chosen = []
        for wanted in kinds:
            chosen += [prompt for (kind, _), prompt in prompts.items() if kind is wanted]
        changes = {name: getattr(self, name) for name in CHANGES}
        if self.thinking is not None:
            changes["thinking"] = str(self.thinking)
        return tuple(prompt.adjusted(**changes) for prompt in chosen)

    def draft_spec(self, store: Store) -> DraftSpec:
        """Return the specification of the job."""
        from workbench.pipeline.drafting import DraftSpec

        if self.model is None:
            raise self.options()["model"].error(
                "give a model that drafts, such as smollm2, or rule"
            )
        instrument = self.instrument or store.instruments.only()
        return DraftSpec(
            instrument=instrument,
            model=self.model,
            prompts=self.prompts(),
            statements=self._refs(store, instrument),
            language=self.language or "",
            seed=self.seed,
        )

    def preview(self, store: Store) -> Preview:
        """Return the prompts that would be asked, or the drafts that the rule makes.

        Raises UsageError if nothing can be drafted.
        """
        from workbench.pipeline.design_checks import check_there
        from workbench.pipeline.drafting import draw_samples, plan_drafting, unsampled

        if self.model == RULE:
            return self._preview_of_rule(store)
        if self.model is not None:
            check_there(store, self.model)
        plan = plan_drafting(store, self.draft_spec(store))
        data = {"prompts": len(plan.calls), "prompts_needed": len(plan.needed), "left_out": 0}
        if plan.needed:
            return Preview(plan.describe(), len(plan.calls), plan.spec.as_json(), data)
        n_left_out = len(unsampled(store, plan))
        text = (
            f"{plan.describe()}\nThe model has drafted all of this already; another seed gives "
            "other drafts."
        )
        if not n_left_out:
            return Preview(text, 0, data=data)

        def draw_sample(opened: Store) -> Outcome:
            left_out = draw_samples(opened, plan)
            sentence = (
                "The model has drafted all of this already. The sample leaves out "
                f"{plural(left_out, 'draft')}."
            )
            return Outcome(sentence, {"job": None, "left_out": left_out})

        label = f"draws the sample, which leaves out {plural(n_left_out, 'draft')}"
        return Preview(text, 0, data=data, immediate=draw_sample, immediate_label=label)

    def check_start(self, store: Store) -> None:  # noqa: ARG002  of the interface
        """Raise ModelError if the model is not available."""
        from workbench.inference.load import check_reachable

        if self.model is not None:
            check_reachable(self.model)

    def _preview_of_rule(self, store: Store) -> Preview:
        from workbench.pipeline.drafting import draft_by_rule

        kinds = self.kinds()
        if not kinds:
            raise self._no_kinds(RULED)
        instrument = self.instrument or store.instruments.only()
        refs = self._refs(store, instrument)
        language = self.language or ""
        counts = draft_by_rule(store, instrument, kinds, refs, language, dry=True)
        n_drafts = counts.pop("", 0)
        lines = [f"the rule makes {plural(n_drafts, 'draft')} at once"]
        lines += [f"{plural(n, 'statement')} left out: {why}" for why, n in counts.items()]

        def draft(opened: Store) -> Outcome:
            counts = draft_by_rule(opened, instrument, kinds, refs, language)
            n_drafts = counts.pop("", 0)
            wait = "draft waits" if n_drafts == 1 else "drafts wait"
            left_out = "".join(f"; {n:,} left out: {why}" for why, n in counts.items())
            sentence = f"{n_drafts:,} {wait} for review{left_out}."
            return Outcome(sentence, {"drafts": n_drafts, "left_out": dict(counts)})

        label = "makes them" if n_drafts else ""
        return Preview("\n".join(lines), 0, immediate=draft, immediate_label=label)

    def _no_kinds(self, available: Iterable[VariantKind]) -> FieldError:
        return self.options()["kind"].error(f"give kinds to draft: {', '.join(available)}")

    def _refs(self, store: Store, instrument: str) -> tuple[str, ...]:
        from workbench.pipeline.planning import named_statements

        return named_statements(store, instrument, self.statements or "")


def kinds_of(text: str | None) -> tuple[VariantKind, ...]:
    """Return the kinds in a text such as `paraphrase,negation`.

    Raises UnknownName for what cannot be drafted.
    """
    known = {kind.value: kind for kind in DRAFTED}
    names = [name.replace("-", "_") for name in listed_words(text)]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownName(
            f"{', '.join(map(repr, unknown))} cannot be drafted. Available: {', '.join(known)}"
        )
    return tuple(known[name] for name in dict.fromkeys(names))


def _kinds_for(model: str, *, has_changed_forms: bool) -> list[VariantKind]:
    """Return the kinds that a model, or the rule, can draft for an instrument."""
    kinds: list[VariantKind] = [kind for kind in DRAFTED if kind is not VariantKind.CHANGED]
    if has_changed_forms:
        kinds.insert(0, VariantKind.CHANGED)
    return [kind for kind in kinds if kind in RULED] if model == RULE else kinds


def _changes_of(prompts: Sequence[DraftPrompt]) -> dict[str, Any]:
    """Return the options that make these prompts of the shipped ones.

    Raises UsageError if no options do, as for prompts from files.
    """
    from workbench.data import shipped_drafting

    shipped = {(prompt.kind, prompt.bias): prompt for prompt in shipped_drafting()}
    first = prompts[0]
    changes: dict[str, Any] = {
        "calls": first.calls,
        "per_call": first.per_call,
        "keep": first.keep or 0,
        "max_new_tokens": first.sampling.max_new_tokens,
        **{name: first.sampling.told(name) for name in MAY_BE_LEFT},
    }
    if first.sampling.thinking:
        changes["thinking"] = first.sampling.thinking
    for candidate in ({}, changes):
        if all(
            _is_adjusted(prompt, shipped.get((prompt.kind, prompt.bias)), candidate)
            for prompt in prompts
        ):
            return candidate
    raise UsageError(
        "its drafts used prompts from files: give the files again, workbench draft STORE "
        "--prompt FILE"
    )


def _is_adjusted(
    prompt: DraftPrompt, shipped: DraftPrompt | None, changes: Mapping[str, Any]
) -> bool:
    if shipped is None:
        return False
    unchanged = dict.fromkeys(name for name in CHANGES if name != "thinking")
    return shipped.adjusted(**{**unchanged, **changes}) == prompt
