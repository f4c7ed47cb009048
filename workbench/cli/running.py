"""Commands that ask a model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from workbench import registry
from workbench.cli.audit_options import AUDIT, RUN, sections, settle
from workbench.cli.output import check_agreed, print_json, say, say_wrapped
from workbench.cli.verbs import Namespace, flat, verb
from workbench.cli.watching import decided, ended, started, watch
from workbench.domain.designs import Design
from workbench.domain.probe_results import PROBED, ProbeWish
from workbench.domain.responses import EXACT, EXACTLY, WHEN_DECIDED, Sampling, sampled
from workbench.errors import UsageError
from workbench.evidence.runs import FIRST
from workbench.formats.personas import given_personas
from workbench.inference.base import DTYPES
from workbench.inference.chat_turns import NO_DEFAULT
from workbench.inference.extra_fields import extra_fields
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import (
    ASKED_WITH,
    BATCH,
    CHAT_FORMAT,
    DEVICE,
    DRAWN,
    DTYPE,
    EXACT_ANSWERS,
    FAMILY,
    INSTRUMENT,
    JSON,
    LANGUAGE,
    MODEL,
    PERSONAS,
    PROBING,
    SAMPLES,
    SEED,
    SERVE,
    STARTING,
    STATEMENTS,
    STORE,
    TEMPLATE_LANGUAGE,
    TEMPLATES,
    VARIANTS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.audits.audit import Audit, Defaults
    from workbench.pipeline.planning import Plan

PROBE_FIRST = (
    f"First a probe: {PROBED} answers, shown with their readings; they count in no "
    "figure; --no-probe skips it"
)
OF_SAMPLING = ("temperature", "top_p", "top_k", "max_new_tokens")
"options on how an answer is sampled"


ASKED = MODEL.but(
    help="smollm2, a hub id, a folder, a .gguf file, openai:NAME[@URL]; scripted or "
    "scripted:FILE.toml, a stand-in",
    none="",
)
DESIGN: tuple[Option | Section, ...] = (
    AUDIT,
    INSTRUMENT,
    STATEMENTS.but(help="the first N, or these, or `quick`; for a questionnaire its targets"),
    flag(
        "quick",
        "a quick look: 8 statements that the seed draws, 5 samples unless --samples says otherwise",
    ),
    VARIANTS,
    TEMPLATES,
    FAMILY.but(
        help="of templates; of response_bias lettered, extended, steering, …",
        none="the published family",
        metavar="NAME",
    ),
    LANGUAGE,
    TEMPLATE_LANGUAGE,
    PERSONAS,
    SAMPLES,
    SEED.of("the answers"),
    *DRAWN,
    *ASKED_WITH,
    flag("until_decided", "end an answer once its label cannot change any more"),
    EXACT_ANSWERS,
    flag(
        "no_default_system",
        "empty the system turn that the model's chat template adds; counts as another model",
    ),
    DTYPE.but(help="of a local model", none="float32, on a GPU bfloat16", choices=DTYPES),
    DEVICE,
    SERVE,
    Option(
        "cluster",
        "answer on a Ray cluster: local (this machine's GPUs), auto, or an address",
        metavar="WHERE",
    ),
    CHAT_FORMAT,
    *sections(RUN),
)
"options on which answers are asked for, except the model"
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


@verb(
    STORE,
    ASKED,
    PLAN,
    AGAIN,
    DESIGN,
    BATCH,
    PROBING,
    STARTING,
    JSON,
)
def run(options: Namespace) -> int:
    """Print the plan of a design, ask whether to start, start the worker, and watch its job."""
    from stores.core.store import Store
    from workbench import pipeline
    from workbench.jobs import launch

    context = click.get_current_context()
    if options.plan is None and options.again is None and not options.model:
        raise click.UsageError(
            "Missing option '--model'; or name a frozen plan with --plan", context
        )
    given_names = [
        name
        for name in vars(options)
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    with Store.open(options.store) as store:
        plan_hash, design = asked_design(store, options, given_names)
        plan = pipeline.plan(store, design)
        batched = pipeline.check_batched(plan.design, wanted=options.batch)
        record: dict[str, object] = {
            "prompts_planned": len(plan.probes),
            "prompts_distinct": len(plan.prompts),
            "answers": plan.samples,
            "answers_stored": plan.samples_stored,
            "answers_needed": plan.samples_needed,
            "detects": plan.detects,
        }
        if plan.samples_needed:
            estimate = pipeline.estimate(plan, store.jobs.list(), batched=batched)
            record["estimate"] = estimate.as_json()
        wish = _probe(store, plan, options)
        record["probe"] = wish is not None
        if not options.json:
            say_wrapped(plan.describe())
            if plan.samples_needed:
                say_wrapped(estimate.describe())
            if wish is not None:
                say_wrapped(PROBE_FIRST)
        if options.dry_run or not plan.samples_needed:
            job = None if options.dry_run else noted(store, plan)
            if job is not None and plan_hash:
                store.plans.follow(job.id, plan_hash)
            if options.json:
                print_json(record | {"job": None if job is None else asdict(job)})
            elif not plan.samples_needed:
                note = "" if job is None else f"; job {job.id} records this request"
                say(
                    f"Everything is stored already{note}. Next: workbench "
                    f"{_next(store, options, plan.design)}"
                )
            return 0
        check_agreed(options)
        job_id = launch.start(store, plan.design, plan, probe=wish, batched=batched)
        if plan_hash:
            store.plans.follow(job_id, plan_hash)
        if options.detach:
            return started(options, job_id, record)
        job = watch(store, job_id, quiet=options.json)
        job = decided(store, job, asks=wish is not None and wish.asks, quiet=options.json)
    return ended(options, job, record)


def _probe(store: Store, plan: Plan, options: Namespace) -> ProbeWish | None:
    """Return the probe that a run begins with, or None if it needs none.

    A person at this terminal decides on it. If nobody waits for it, or --yes says not to ask, the
    share of readable answers decides.
    """
    from workbench.jobs import launch

    if options.no_probe or not launch.wants_probe(store, plan):
        return None
    asks = sys.stdin.isatty() and not (options.yes or options.detach or options.json)
    return ProbeWish(asks=asks, least=options.least_readable)


def noted(store: Store, plan: Plan) -> Job | None:
    """Let stored answers count for a design that has nothing left to ask.

    Return the job that records this, or None if none is needed. One may be needed because all
    prompts of a design can have the texts of another design's prompts.
    """
    from workbench.jobs import launch

    if launch.is_noted(store, plan):
        launch.add_cells(store, plan)
        return None
    return store.jobs.get(launch.note_stored(store, plan))


def next_command(store: Path, model: str, audit: str) -> str:
    """Return the command that continues after a model was asked."""
    definition = registry.audit(audit)
    command = definition.then or f"{definition.command} --model MODEL"
    return command.replace("STORE", str(store)).replace("MODEL", model)


def _next(store: Store, options: Namespace, design: Design) -> str:
    """Return the command that continues from here.

    It has the options that tell these answers from other answers of the model.
    """
    command = next_command(options.store, options.model, options.audit)
    if not registry.audit(options.audit).told_apart:
        return command
    runs = [run for run in store.runs.list(options.audit, None, options.model) if run.responses]
    if len({run.sampling for run in runs}) > 1:
        is_exact = design.sampling == EXACTLY
        command += f" --sampling {EXACT if is_exact else shlex.quote(str(design.sampling))}"
    if any(len(run.families) > 1 for run in runs):
        command += f" --family {design.family}"
    if design.dtype and len({run.dtype for run in runs}) > 1:
        command += f" --dtype {design.dtype}"
    if len({run.snapshot for run in runs}) > 1:
        command += f" --snapshot {shlex.quote(runs[-1].snapshot or 'unknown')}"
    elif len({run.occasion for run in runs}) > 1:
        command += f" --snapshot {shlex.quote(design.occasion or FIRST)}"
    return command


def asked_design(store: Store, options: Namespace, typed: Iterable[str]) -> tuple[str, Design]:
    """Return the hash of the frozen plan that options follow, and the design that they ask for.

    The hash is empty without a plan. `typed` has the names of the options that were given.
    """
    if options.again is None:
        return by_plan(store, options), requested_design(store, options)
    from workbench.commands.again import anew, from_elsewhere

    flag_by_name = {option.name: option.flag for option in flat((ASKED, PLAN, *DESIGN))}
    if refused := [flag_by_name[name] for name in typed if name in flag_by_name]:
        raise UsageError(
            f"--again {options.again} asks what job {options.again} asked, in the same way; leave "
            f"out {', '.join(refused)}, or --again for a run with other settings"
        )
    design = anew(store, options.again)
    if (note := from_elsewhere(store, options.again)) and not options.json:
        say(note)
    options.model, options.audit = design.model, design.audit
    return "", design


def by_plan(store: Store, options: Namespace) -> str:
    """Give options the values of a frozen plan if one is named, and return its hash.

    Options that were given beside the plan keep their values. The hash is empty without a plan.
    Raises UsageError for a file that is no plan, or a model that is not in it.
    """
    if options.plan is None:
        return ""
    from workbench.commands.again import asked_again
    from workbench.formats.plans import read_plan

    frozen_plan, text = read_plan(options.plan)
    defaults = {option.name: option.default for option in flat(DESIGN)}
    for name, value in asked_again(store, frozen_plan.design(options.model)).items():
        if getattr(options, name, None) in (None, False, (), "", defaults.get(name)):
            setattr(options, name, value if value != "" else getattr(options, name, None))
    store.plans.add(frozen_plan.hash, text)
    return frozen_plan.hash


def requested_design(store: Store, options: Namespace) -> Design:
    """Return the design of a command line, with the published defaults for the rest."""
    from workbench.pipeline.design_checks import check_there, served_by
    from workbench.pipeline.planning import chosen, statements

    check_there(store, served_by(str(options.model), options.serve or ""), options.cluster or "")
    settle(options, RUN, options.audit, "--audit")
    audit = registry.audit(options.audit)
    instrument = store.instruments.get(options.instrument or _only(store, audit))
    family = options.family or audit.defaults.family
    language = options.template_language or options.language or instrument.language
    templates = audit.templates_for(instrument, language)
    names = list(
        dict.fromkeys(template.name for template in templates if template.family == family)
    )
    sampling, samples = _drawn(options, audit.defaults, family)
    design = Design(
        instrument=instrument.name,
        model=served_by(str(options.model), options.serve or ""),
        audit=audit.name,
        samples=samples,
        sampling=sampling,
        seed=options.seed,
        language=options.language or "",
        template_language=options.template_language or "",
        family=family,
        variants=chosen(options.variants, []),
        templates=chosen(options.templates, names),
        dtype=options.dtype or "",
        cluster=(options.cluster or "").strip(),
        chat_format=_chat_format(options),
        device=(options.device or "").strip(),
        personas=given_personas(options.personas),
    )
    design = audit.designed(store, design, options)
    available = design.statements or audit.may_be_asked(store, instrument.name) or ()
    text = _quick(options) or options.statements
    return replace(design, statements=statements(text, design.statements, available, design.seed))


def _quick(options: Namespace) -> str:
    """Return the word for a quick look, or an empty text.

    Raises UsageError beside named statements.
    """
    from workbench.pipeline.planning import QUICK, is_quick

    if options.quick and (options.statements or "").strip() not in ("", QUICK):
        raise UsageError("--quick draws the statements; leave --statements out")
    return QUICK if options.quick or is_quick(options.statements) else ""


def _chat_format(options: Namespace) -> str:
    """Return the chat format, with a mark if its default system turn is emptied."""
    chat_format = (options.chat_format or "").strip()
    is_emptied = options.no_default_system and not chat_format.endswith(NO_DEFAULT)
    return chat_format + NO_DEFAULT if is_emptied else chat_format


def _only(store: Store, audit: Audit) -> str:
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


def _drawn(options: Namespace, defaults: Defaults, family: str) -> tuple[Sampling, int]:
    """Return the sampling of answers, and the number of answers to each prompt."""
    if (
        not options.exact
        and defaults.counted is not None
        and options.samples is not None
        and not options.until_decided
    ):
        return _sampling(options, defaults.counted), options.samples
    if defaults.exact_if_local and _is_local(options) and not _says_how_to_draw(options):
        return _asked_with(options, EXACTLY), 1
    if options.exact or not defaults.drawn:
        _check_exact(
            options, "--exact" if options.exact else f"the audit {options.audit}", defaults
        )
        return _asked_with(options, EXACTLY), 1
    sampling = _sampling(options, defaults.sampling_of(family))
    from workbench.pipeline.planning import QUICK_SAMPLES

    default = min(QUICK_SAMPLES, defaults.samples) if _quick(options) else defaults.samples
    samples = default if options.samples is None else options.samples
    return (replace(sampling, stop=WHEN_DECIDED) if options.until_decided else sampling), samples


def _is_local(options: Namespace) -> bool:
    """Return whether the model runs on the local backend, without a cluster.

    Such a model gives the probability of every next token.
    """
    from workbench.inference.load import is_local
    from workbench.pipeline.design_checks import served_by

    return is_local(served_by(str(options.model), options.serve or "")) and not options.cluster


def _says_how_to_draw(options: Namespace) -> bool:
    """Return whether an option was given that has no meaning without sampling."""
    names = ("samples", *registry.audit(options.audit).drawn_again, *OF_SAMPLING, "thinking")
    return options.until_decided or any(
        getattr(options, name) not in (None, False) for name in names
    )


def _check_exact(options: Namespace, what: str, defaults: Defaults) -> None:
    """Raise UsageError if sampling is asked for as well."""
    names = ("samples", *registry.audit(options.audit).drawn_again, *OF_SAMPLING)
    flags = [
        f"--{name.replace('_', '-')}"
        for name in names
        if getattr(options, name) is not None and getattr(options, name) is not False
    ]
    flags += ["--until-decided"] if options.until_decided else []
    if flags:
        advice = (
            ", or draw answers and count the two labels with --samples N"
            if defaults.counted is not None
            else ""
        )
        if options.exact or options.until_decided:
            advice = ""
        raise UsageError(
            f"{what} computes the model's own probabilities and samples nothing; leave out "
            f"{', '.join(flags)}{advice}"
        )


def _sampling(options: Namespace, published: Sampling) -> Sampling:
    """Return the published sampling with the values that were given."""
    sampling = sampled(published, {name: getattr(options, name) for name in OF_SAMPLING})
    return _asked_with(options, sampling)


def _asked_with(options: Namespace, sampling: Sampling) -> Sampling:
    """Return a sampling with the options that apply to sampled and computed answers alike."""
    thinking = "" if options.thinking is None else str(options.thinking)
    return replace(sampling, extra=extra_fields(options.extra_body), thinking=thinking)
