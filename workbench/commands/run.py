"""Ask a model the prompts of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from workbench import registry
from workbench.commands.audit_options import AUDIT, RUN, given_values, own_values, sections
from workbench.commands.command import JobCommand, Preview, option, shared_option
from workbench.domain.designs import Design
from workbench.domain.job_kinds import SAMPLE
from workbench.domain.responses import (
    DTYPES,
    EXACT,
    EXACTLY,
    MAY_BE_LEFT,
    WHEN_DECIDED,
    Sampling,
    sampled,
)
from workbench.errors import UsageError
from workbench.formats.personas import as_given, given_personas
from workbench.inference.chat_turns import NO_DEFAULT
from workbench.inference.extra_fields import extra_fields
from workbench.options.option import Option, Type
from workbench.options.shared import (
    BATCH,
    CHAT_FORMAT,
    DEVICE,
    DTYPE,
    EXACT_ANSWERS,
    EXTRA_BODY,
    FAMILY,
    INSTRUMENT,
    LANGUAGE,
    MAX_NEW_TOKENS,
    MODEL,
    PERSONAS,
    SAMPLES,
    SEED,
    SERVE,
    STATEMENTS,
    TEMPERATURE,
    TEMPLATE_LANGUAGE,
    TEMPLATES,
    THINKING,
    TOP_K,
    TOP_P,
    VARIANTS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.audits.audit import Audit, Defaults
    from workbench.domain.probe_results import ProbeWish
    from workbench.pipeline.estimates import PlanEstimate
    from workbench.pipeline.planning import Plan

SAMPLING = ("temperature", "top_p", "top_k", "max_new_tokens")
"options on how an answer is sampled"
NEEDED = ("samples", "temperature", "top_p", "max_new_tokens")
"options whose fields in a form must not be empty"
NOT_OF_DESIGN = ("batch",)
"options that do not change which answers are asked for"
PLAN = Option(
    "plan",
    "ask what a frozen plan says, and record it; options given besides are reported as deviations",
    Type.PATH,
    metavar="PLAN.toml",
)
AGAIN = Option(
    "again",
    "ask anew what this job asked, as it was worded then and in the same way: a run of its own, "
    "named by today's date",
    Type.WHOLE,
    least=1,
    metavar="JOB",
)


@dataclass(frozen=True)
class RunCommand(JobCommand):
    """Ask a model an audit's prompts."""

    KIND = SAMPLE
    VERB = "run"

    model: str | None = shared_option(
        MODEL.but(
            help="smollm2, a hub id, a folder, a .gguf file, openai:NAME[@URL]; scripted or "
            "scripted:FILE.toml, a stand-in",
            none="",
        ),
    )
    audit: str = shared_option(AUDIT)
    instrument: str | None = shared_option(INSTRUMENT)
    statements: str | None = shared_option(
        STATEMENTS.but(help="the first N, or these, or `quick`; for a questionnaire its targets")
    )
    quick: bool = option(
        False,
        "a quick look: 8 statements that the seed draws, 5 samples unless --samples says otherwise",
    )
    variants: str | None = shared_option(VARIANTS)
    templates: str | None = shared_option(TEMPLATES)
    family: str | None = shared_option(
        FAMILY.but(
            help="of templates; of response_bias lettered, extended, steering, …",
            none="the published family",
            metavar="NAME",
        ),
    )
    language: str | None = shared_option(LANGUAGE)
    template_language: str | None = shared_option(TEMPLATE_LANGUAGE)
    personas: str | None = shared_option(PERSONAS)
    samples: int | None = shared_option(SAMPLES)
    seed: int = shared_option(SEED.of("the answers"))
    temperature: float | str | None = shared_option(TEMPERATURE)
    top_p: float | str | None = shared_option(TOP_P)
    top_k: int | str | None = shared_option(TOP_K)
    max_new_tokens: int | None = shared_option(MAX_NEW_TOKENS)
    thinking: int | str | None = shared_option(THINKING)
    extra_body: str | None = shared_option(EXTRA_BODY)
    until_decided: bool = option(False, "end an answer once its label cannot change any more")
    exact: bool = shared_option(EXACT_ANSWERS)
    no_default_system: bool = option(
        False,
        "empty the system turn that the model's chat template adds; counts as another model",
    )
    dtype: str | None = shared_option(
        DTYPE.but(help="of a local model", none="float32, on a GPU bfloat16", choices=DTYPES)
    )
    device: str | None = shared_option(DEVICE)
    serve: str | None = shared_option(SERVE)
    cluster: str | None = option(
        None,
        "answer on a Ray cluster: local (this machine's GPUs), auto, or an address",
        metavar="WHERE",
    )
    chat_format: str | None = shared_option(CHAT_FORMAT)
    batch: bool = shared_option(BATCH)
    own: Mapping[str, Any] = field(default_factory=dict)
    "the audit's own options by name; defaults may be missing"

    @classmethod
    def from_arguments(cls, arguments: SimpleNamespace) -> Self:
        """Return the command of a command line, or of arguments from Python.

        Raises UsageError for an option of another audit, FieldError for an invalid value.
        """
        command = super().from_arguments(arguments)
        return replace(command, own=own_values(arguments, RUN, command.audit, AUDIT.flag))

    @classmethod
    def from_form(cls, texts: Mapping[str, Any]) -> Self:
        """Return the command of a filled form.

        texts : as of any command; `own` has the texts of the audit's own options by name. An empty
            text of an own option stands for its default

        Raises FieldError for a text that its option does not take, and for a list without a tick.
        """
        own_texts = texts.get("own", {})
        options = cls.options()
        values = {}
        for name, text in texts.items():
            if name == "own":
                continue
            values[name] = ",".join(text) if isinstance(text, tuple) and text else text
            if name in NEEDED:
                options[name].needed(text)
        command = super().from_form(values)
        own = {
            option.name: option.read(own_texts[option.name].strip())
            for option in command.audit_definition.run_options
            if own_texts.get(option.name, "").strip()
        }
        return replace(command, own=own)

    @classmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:
        design = Design.from_json(specification)
        if design.occasion:
            raise UsageError(
                "it asks anew what another job asked, and nothing else: workbench run STORE "
                "--again JOB"
            )
        return cls.from_design(store, design)

    @classmethod
    def from_design(cls, store: Store, design: Design) -> Self:
        """Return the command that asks for a design, without options that change nothing."""
        from workbench.pipeline.planning import statements_as_typed

        audit = registry.audit(design.audit)
        available = audit.may_be_asked(store, design.instrument) or ()
        command = cls(
            model=design.model,
            audit=design.audit,
            instrument=design.instrument,
            statements=statements_as_typed(design.statements, available),
            variants=",".join(design.variants),
            templates=",".join(design.templates),
            family=design.family,
            language=design.language,
            template_language=design.template_language,
            personas=as_given(design.personas),
            seed=design.seed,
            thinking=design.sampling.thinking or None,
            extra_body=design.sampling.extra,
            dtype=design.dtype,
            device=design.device,
            cluster=design.cluster,
            chat_format=design.chat_format,
            own=audit.given_in(design),
        )
        if design.sampling.mode == EXACT:
            own = {name: value for name, value in command.own.items() if _is_exact_too(audit, name)}
            return replace(command, exact=audit.defaults.drawn, own=own)
        return replace(
            command,
            samples=design.samples,
            until_decided=bool(design.sampling.stop),
            max_new_tokens=design.sampling.max_new_tokens,
            **{name: design.sampling.told(name) for name in MAY_BE_LEFT},
        )

    def with_arguments(self, arguments: SimpleNamespace, given_names: Iterable[str]) -> Self:
        """Return the command with options of a command line in place of its own.

        given_names : names of the options that were given
        """
        given = set(given_names)
        audit = arguments.audit if "audit" in given else self.audit
        line = type(self).from_arguments(SimpleNamespace(**{**vars(arguments), "audit": audit}))
        own_given = given_values(arguments, {audit: line.audit_definition.run_options})
        own = {**self.own, **{name: line.own[name] for name in own_given}}
        values = {name: getattr(line, name) for name in self.declared() if name in given}
        return replace(self, **values, own=own)

    def all_options(self) -> list[Option]:
        return [*super().all_options(), *self.audit_definition.run_options]

    def values(self) -> dict[str, Any]:
        return {**super().values(), **self.own}

    @property
    def audit_definition(self) -> Audit:
        """The audit that asks."""
        return registry.audit(self.audit)

    @property
    def model_name(self) -> str:
        """The name of the model, with the program that serves it here."""
        from workbench.pipeline.design_checks import served_by

        return served_by((self.model or "").strip(), self.serve or "")

    def design(self, store: Store) -> Design:
        """Return the design that the command asks for, with the published settings for the rest.

        Raises UsageError, naming the option, if it cannot be asked for.
        """
        from workbench.pipeline.design_checks import check_there
        from workbench.pipeline.planning import select_names, select_statements

        if not (self.model or "").strip():
            raise MODEL.error("give a name such as smollm2, a hub id or a folder")
        check_there(store, self.model_name, (self.cluster or "").strip())
        audit = self.audit_definition
        instrument = store.instruments.get(self.instrument or _only_instrument(store, audit))
        family = self.family or audit.defaults.family
        language = self.template_language or self.language or instrument.language
        templates = audit.templates_for(instrument, language)
        names = dict.fromkeys(template.name for template in templates if template.family == family)
        sampling, n_samples = self._sampling(family)
        design = Design(
            instrument=instrument.name,
            model=self.model_name,
            audit=audit.name,
            samples=n_samples,
            sampling=replace(
                sampling,
                extra=extra_fields(self.extra_body),
                thinking="" if self.thinking is None else str(self.thinking),
            ),
            seed=self.seed,
            language=self.language or "",
            template_language=(self.template_language or "").strip(),
            family=family,
            variants=select_names(self.variants, []),
            templates=select_names(self.templates, list(names)),
            dtype=self.dtype or "",
            cluster=(self.cluster or "").strip(),
            chat_format=self._chat_format(),
            device=(self.device or "").strip(),
            personas=given_personas(self.personas),
        )
        defaults = {option.name: option.default for option in audit.run_options}
        design = audit.designed(store, design, SimpleNamespace(**{**defaults, **self.own}))
        available = design.statements or audit.may_be_asked(store, instrument.name) or ()
        text = self._quick_word() or self.statements
        return replace(
            design, statements=select_statements(text, design.statements, available, design.seed)
        )

    def preview(self, store: Store) -> RunPreview:
        """Return what would be asked, and how long it takes and costs."""
        return preview_run(store, self.design(store), batch=self.batch)

    def start(self, store: Store, preview: Preview) -> int:
        assert isinstance(preview, RunPreview)
        return preview.start(store)

    def _quick_word(self) -> str:
        """Return the word for a quick look, or an empty text.

        Raises UsageError beside named statements.
        """
        from workbench.pipeline.planning import QUICK, is_quick

        if self.quick and (self.statements or "").strip() not in ("", QUICK):
            raise UsageError("--quick draws the statements; leave --statements out")
        return QUICK if self.quick or is_quick(self.statements) else ""

    def _chat_format(self) -> str:
        """Return the chat format, with a mark if its default system turn is emptied."""
        chat_format = (self.chat_format or "").strip()
        is_emptied = self.no_default_system and not chat_format.endswith(NO_DEFAULT)
        return chat_format + NO_DEFAULT if is_emptied else chat_format

    # ── sampling ──────────────────────────────────────────────────────────────────────────────────

    def _sampling(self, family: str) -> tuple[Sampling, int]:
        """Return the sampling of answers, and the number of answers to each prompt."""
        defaults = self.audit_definition.defaults
        may_be_counted = not self.exact and not self.until_decided
        if may_be_counted and defaults.counted is not None and self.samples is not None:
            return self._changed(defaults.counted), self.samples
        says_how_to_sample = self._sampling_flags() or self.thinking is not None
        if defaults.exact_if_local and self._is_local() and not says_how_to_sample:
            return EXACTLY, 1
        if self.exact or not defaults.drawn:
            self._check_nothing_sampled()
            return EXACTLY, 1
        sampling = self._changed(defaults.sampling_of(family))
        if self.until_decided:
            sampling = replace(sampling, stop=WHEN_DECIDED)
        return sampling, self._n_samples(defaults)

    def _changed(self, published: Sampling) -> Sampling:
        """Return the published sampling with the values that were given."""
        return sampled(published, {name: getattr(self, name) for name in SAMPLING})

    def _n_samples(self, defaults: Defaults) -> int:
        from workbench.pipeline.planning import QUICK_SAMPLES

        if self.samples is not None:
            return self.samples
        return min(QUICK_SAMPLES, defaults.samples) if self._quick_word() else defaults.samples

    def _is_local(self) -> bool:
        """Return whether the model runs on the local backend, without a cluster.

        Such a model gives the probability of every next token.
        """
        from workbench.inference.load import is_local

        return is_local(self.model_name) and not self.cluster

    def _sampling_flags(self) -> list[str]:
        """Return the flags of options that were given and have no meaning if nothing is sampled."""
        options, audit = self.options(), self.audit_definition
        flags = [options["samples"].flag] if self.samples is not None else []
        flags += [
            option.flag
            for option in audit.run_options
            if option.name in audit.drawn_again and self.own.get(option.name) not in (None, False)
        ]
        flags += [options[name].flag for name in SAMPLING if getattr(self, name) is not None]
        return flags + ([options["until_decided"].flag] if self.until_decided else [])

    def _check_nothing_sampled(self) -> None:
        """Raise UsageError if sampling is asked for although probabilities are computed."""
        flags = self._sampling_flags()
        if not flags:
            return
        what = "--exact" if self.exact else f"the audit {self.audit}"
        counted = self.audit_definition.defaults.counted
        advice = ""
        if counted is not None and not self.exact and not self.until_decided:
            advice = ", or draw answers and count the two labels with --samples N"
        raise UsageError(
            f"{what} computes the model's own probabilities and samples nothing; leave out "
            f"{', '.join(flags)}{advice}"
        )


def run_options() -> list[Option]:
    """Return the options of a run, with those of every audit."""
    own = [option for section in sections(RUN) for option in section.options]
    return [*RunCommand.options().values(), *own]


def design_options() -> list[Option]:
    """Return the options on which answers are asked for, except the model."""
    return [option for option in run_options() if option.name not in ("model", *NOT_OF_DESIGN)]


@dataclass(frozen=True, slots=True)
class RunPreview(Preview):
    """What asking a model would take."""

    plan: Plan = field(kw_only=True)
    estimate: PlanEstimate | None = field(kw_only=True)
    "None if no answer is missing"
    batched: bool = field(kw_only=True)

    def wants_probe(self, store: Store) -> bool:
        """Return whether the run should begin with a few answers that are shown first."""
        from workbench.jobs import launch

        return launch.wants_probe(store, self.plan)

    def start(self, store: Store, probe: ProbeWish | None = None) -> int:
        """Queue the job, start its worker, and return the number of the job.

        Raises ModelError, before anything is queued, if the model is not available.
        """
        from workbench.jobs import launch

        return launch.start(store, self.plan.design, self.plan, probe=probe, batched=self.batched)


def preview_run(store: Store, design: Design, *, batch: bool = False) -> RunPreview:
    """Return what asking for a design would take."""
    from workbench.pipeline import design_checks, estimates, planning

    plan = planning.plan(store, design)
    batched = design_checks.check_batched(plan.design, wanted=batch)
    estimate = None
    if plan.samples_needed:
        estimate = estimates.estimate(plan, store.jobs.list(), batched=batched)
    data = {
        "prompts_planned": len(plan.probes),
        "prompts_distinct": len(plan.prompts),
        "answers": plan.samples,
        "answers_stored": plan.samples_stored,
        "answers_needed": plan.samples_needed,
        "detects": plan.detects,
    }
    text = plan.describe()
    if estimate is not None:
        data["estimate"] = estimate.as_json()
        text = f"{text}\n{estimate.describe()}"
    return RunPreview(
        text,
        plan.samples_needed,
        plan.design.as_json(),
        data,
        plan=plan,
        estimate=estimate,
        batched=batched,
    )


def record_stored(store: Store, plan: Plan) -> Job | None:
    """Let stored answers count for a design that has nothing left to ask.

    Return the job that records this, or None if none is needed. One may be needed because all
    prompts of a design can have the texts of another design's prompts.
    """
    from workbench.jobs import launch

    if launch.is_noted(store, plan):
        launch.add_cells(store, plan)
        return None
    return store.jobs.get(launch.note_stored(store, plan))


def requested_design(
    store: Store, arguments: SimpleNamespace, given_names: Iterable[str]
) -> tuple[Design, str]:
    """Return the design that arguments ask for, and the hash of the frozen plan that they follow.

    The hash is empty without a plan. Arguments beside a plan take precedence over it.

    arguments : the options of the command, with `plan` and `again`
    given_names : names of the options that were given

    Raises UsageError for other options beside `again`, for a file that is no plan, and for a model
    that is not in it.
    """
    if arguments.again is not None:
        return _asked_anew(store, arguments, given_names), ""
    if arguments.plan is None:
        return RunCommand.from_arguments(arguments).design(store), ""
    from workbench.formats.plans import read_plan

    frozen_plan, text = read_plan(arguments.plan)
    command = RunCommand.from_design(store, frozen_plan.design(arguments.model))
    design = command.with_arguments(arguments, given_names).design(store)
    store.plans.add(frozen_plan.hash, text)
    return design, frozen_plan.hash


def _asked_anew(store: Store, arguments: SimpleNamespace, given_names: Iterable[str]) -> Design:
    from workbench.commands.again import anew

    options = {option.name: option for option in (PLAN, *RunCommand.options().values())}
    for own_options in RUN.values():
        options |= {option.name: option for option in own_options}
    excluded = [
        options[name].flag for name in given_names if name in options and name not in NOT_OF_DESIGN
    ]
    if excluded:
        raise UsageError(
            f"--again {arguments.again} asks what job {arguments.again} asked, in the same way; "
            f"leave out {', '.join(excluded)}, or --again for a run with other settings"
        )
    return anew(store, arguments.again)


def _is_exact_too(audit: Audit, name: str) -> bool:
    """Return whether an own option of an audit has a meaning if nothing is sampled."""
    return name not in audit.drawn_again


def _only_instrument(store: Store, audit: Audit) -> str:
    """Return the only instrument that an audit can ask about. Raises UsageError."""
    if not audit.own_material:
        return store.instruments.only()
    names = [name for name in store.instruments.names() if audit.may_be_asked(store, name)]
    if len(names) > 1:
        raise UsageError(
            f"{len(names)} instruments fit the audit {audit.name}: {', '.join(names)}; name one "
            "with --instrument"
        )
    return names[0] if names else store.instruments.only()
