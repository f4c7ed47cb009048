"""Commands that ask a model."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from workbench.audits.response_bias.names import find_kind
from workbench.cli.asking import check_agreed
from workbench.cli.audit_options import AUDIT, RUN, sections, settle
from workbench.cli.jobs import EXIT_CODES, started, watch
from workbench.cli.output import listed, print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.domain.choices import over_biases
from workbench.domain.designs import TRIES, Design
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.questionnaires import Contexts, Role
from workbench.domain.responses import EXACT, EXACTLY, WHEN_DECIDED, Sampling
from workbench.errors import UsageError
from workbench.inference.chat_formats import NO_DEFAULT
from workbench.inference.dtypes import DTYPES
from workbench.options.option import Option, flag
from workbench.options.shared import (
    DRAWN,
    DTYPE,
    FAMILY,
    INSTRUMENT,
    JSON,
    LANGUAGE,
    MODEL,
    SAMPLES,
    SEED,
    STARTING,
    STATEMENTS,
    STORE,
    TEMPLATES,
    VARIANTS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.jobs.job_rows import Job
    from workbench.audits.audit import Defaults
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.planning import Plan

NEXT = {
    "reliability": "verdicts {0.store} --model {0.model}",
    "bias_score": "sample {0.store} --name test --purpose test",
    "statement_labels": "sides {0.store} --model {0.model}",
    "questionnaire": "verdicts {0.store} --audit questionnaire --model {0.model}",
    "response_bias": "verdicts {0.store} --audit response_bias --model {0.model}",
}
OF_SAMPLING = ("temperature", "top_p", "top_k", "max_new_tokens")
"options that say how an answer is drawn"
OF_CONTEXTS = ("conditions", "respondents", "every", "context_questions")
"options that say what stands before a questionnaire's targets"


@verb(
    STORE,
    AUDIT,
    MODEL.but(help="smollm2, a hub id, a folder, a .gguf file, openai:NAME[@URL], scripted", required=True, none=""),
    INSTRUMENT,
    STATEMENTS.but(help="the first N, or these; of a questionnaire its targets"),
    VARIANTS,
    TEMPLATES,
    FAMILY.but(
        help="of templates; of response_bias lettered, extended, steering, …", none="the published one", metavar="NAME"
    ),
    LANGUAGE,
    SAMPLES,
    SEED.of("the answers"),
    DRAWN,
    flag("until_decided", "end an answer once nothing after it can change its label"),
    flag("exact", "compute the probabilities of the two labels, or of the offered letters; nothing is sampled"),
    flag(
        "no_default_system",
        "leave a system turn empty that the model's chat template adds by itself; this makes another model",
    ),
    DTYPE.but(help="of a local model", none="float32, on a GPU bfloat16", choices=DTYPES),
    Option("cluster", "answer on a Ray cluster: local (this machine's GPUs), auto, or an address", metavar="WHERE"),
    Option(
        "chat_format",
        "chat template of another model, or a .jinja file: for base models, which have none",
        metavar="MODEL|FILE",
    ),
    sections(RUN),
    STARTING,
    JSON,
)
def run(options: Namespace) -> int:
    """Say what a design asks, ask whether to start, start the worker, and watch it."""
    from stores.core.store import Store
    from workbench import pipeline
    from workbench.jobs import launch

    with Store.open(options.store) as store:
        plan = pipeline.plan(store, requested_design(store, options))
        about: dict[str, object] = {
            "prompts_planned": len(plan.probes),
            "prompts_distinct": len(plan.prompts),
            "answers": plan.samples,
            "answers_stored": plan.samples_stored,
            "answers_needed": plan.samples_needed,
        }
        if plan.samples_needed:
            estimate = pipeline.estimate(plan, store.jobs.list())
            about["estimate"] = estimate.as_json()
        if not options.json:
            say(plan.describe())
            if plan.samples_needed:
                say(estimate.describe())
        if options.dry_run or not plan.samples_needed:
            noted = None if options.dry_run else _noted(store, plan)
            if options.json:
                print_json(about | {"job": None if noted is None else asdict(noted)})
            elif not plan.samples_needed:
                what = "" if noted is None else f"; job {noted.id} notes that it was asked for"
                say(f"Everything is stored{what}. Next: workbench {_next(store, options, plan.design)}")
            return 0
        check_agreed(options)
        job_id = launch.start(store, plan.design, plan)
        if options.detach:
            return started(options, job_id, about)
        job = watch(store, job_id, quiet=options.json)
    if options.json:
        print_json(about | {"job": asdict(job)})
    return EXIT_CODES.get(job.state, 1)


def _noted(store: Store, plan: Plan) -> Job | None:
    """Let stored answers count for a design that has nothing left to ask, and return the job that says so, if one has
    to: somebody's prompts may all have the texts of others'.
    """
    from workbench.jobs import launch

    if launch.is_noted(store, plan):
        launch.add_cells(store, plan)
        return None
    return store.jobs.get(launch.note_stored(store, plan))


def _next(store: Store, options: Namespace, design: Design) -> str:
    """Return the command that goes on from here, with as much as tells these answers from others of the model."""
    command = NEXT[options.audit].format(options)
    if not command.startswith("verdicts ") or design.audit == "response_bias":  # whose ways of asking stand together
        return command
    runs = [run for run in store.runs.list(options.audit, None, options.model) if run.responses]
    if len({run.sampling for run in runs}) > 1:
        exact = design.sampling == EXACTLY
        command += f" --sampling {EXACT if exact else shlex.quote(str(design.sampling))}"
    if any(len(run.families) > 1 for run in runs):
        command += f" --family {design.family}"
    if design.dtype and len({run.dtype for run in runs}) > 1:
        command += f" --dtype {design.dtype}"
    if len({run.snapshot for run in runs}) > 1:
        command += f" --snapshot {shlex.quote(runs[-1].snapshot or 'unknown')}"
    return command


def requested_design(store: Store, options: Namespace) -> Design:
    """Return what the command line asks for, with the published defaults for the rest."""
    from workbench import registry
    from workbench.data import shipped_templates

    settle(options, RUN, options.audit, "--audit")
    defaults = registry.audit(options.audit).defaults
    instrument = store.instruments.get(options.instrument or _only(store, defaults))
    family = options.family or defaults.family
    of_audit = [t for t in instrument.templates if t.audit == options.audit] or shipped_templates(options.audit)
    names = list(dict.fromkeys(t.name for t in of_audit if t.family == family))
    contexts = _contexts(options)
    sampling, samples = _drawn(options, defaults, family)
    return Design(
        instrument=instrument.name,
        model=options.model,
        audit=options.audit,
        samples=samples,
        sampling=sampling,
        seed=options.seed,
        language=options.language or "",
        family=family,
        statements=_statements(store, options, instrument, defaults),
        variants=_chosen(options.variants, []),
        templates=_chosen(options.templates, names),
        dtype=options.dtype or "",
        cluster=(options.cluster or "").strip(),
        chat_format=_chat_format(options),
        contexts=contexts,
        tries=TRIES if options.tries is None else options.tries,
    )


def _chat_format(options: Namespace) -> str:
    named = (options.chat_format or "").strip()
    emptied = options.no_default_system and not named.endswith(NO_DEFAULT)
    return named + NO_DEFAULT if emptied else named


def _only(store: Store, defaults: Defaults) -> str:
    """Return the only instrument; of multiple-choice questions the only one that has any. Raises UsageError."""
    if defaults.material != "choices":
        return store.instruments.only()
    found = [name for name in store.instruments.names() if store.choices.items(name)]
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} instruments have multiple-choice questions: {', '.join(found)}; say which with --instrument"
        )
    return found[0] if found else store.instruments.only()


def _statements(store: Store, options: Namespace, instrument: Instrument, defaults: Defaults) -> tuple[str, ...]:
    """Return the refs that are asked for; of some biases alone where these are named."""
    there = _asked_of(store, instrument, defaults)
    if options.bias is not None and not listed(options.bias):
        raise UsageError("found nothing after --bias; name one or more, or leave it out")
    items = store.choices.items(instrument.name) if options.bias else {}
    if not items:
        return _chosen(options.statements, there)
    known = [(item.bias, item.variant) for item in items.values()]
    wanted = [find_kind(name, known) for name in listed(options.bias)]
    of_these = [ref for ref, item in items.items() if (item.bias, item.variant) in wanted]
    chosen = _chosen(options.statements, of_these) or tuple(of_these)
    others = [ref for ref in chosen if ref in items and ref not in of_these]
    if others:
        raise UsageError(f"{named_few(others)}: not asked for {options.bias}; leave out --bias, or these")
    return chosen


def _asked_of(store: Store, instrument: Instrument, defaults: Defaults) -> list[str]:
    """Return the refs of which the first so many may be asked for: of a questionnaire its targets, where an audit is
    about multiple-choice questions those, one of every bias first.
    """
    if defaults.material == "choices":
        return list(over_biases(store.choices.items(instrument.name).values()))
    if defaults.material != "questionnaire":
        return [statement.ref for statement in instrument.statements]
    return [
        question.ref for question in store.questionnaires.questions(instrument.name) if question.role is Role.TARGET
    ]


def _contexts(options: Namespace) -> Contexts:
    """Return what stands before the targets of a questionnaire."""
    from workbench.audits.questionnaire.conditions import expanded

    asked: dict[str, Any] = {name: getattr(options, name) for name in OF_CONTEXTS}
    given = {name: value for name, value in asked.items() if value is not None}
    usual = Contexts()
    names = tuple(name.strip() for name in given.get("conditions", ",".join(usual.conditions)).split(","))
    if not expanded(filter(None, names)):
        raise UsageError("--conditions names none; give qm, zero-shot, random, permuted, reduced, or all")
    return Contexts(
        conditions=tuple(filter(None, names)),
        respondents=given.get("respondents", usual.respondents),
        every=given.get("every", usual.every),
        questions=given.get("context_questions", usual.questions),
    )


def _drawn(options: Namespace, defaults: Defaults, family: str) -> tuple[Sampling, int]:
    """Return how answers are drawn, and how many to each prompt."""
    if options.exact or not defaults.drawn:
        _check_exact(options, "--exact" if options.exact else f"the audit {options.audit}")
        return EXACTLY, 1
    sampling = _sampling(options, defaults.sampling_of(family))
    samples = defaults.samples if options.samples is None else options.samples
    return (replace(sampling, stop=WHEN_DECIDED) if options.until_decided else sampling), samples


def _check_exact(options: Namespace, what: str) -> None:
    """Raise UsageError where sampling is asked for as well."""
    names = ("samples", "tries", *OF_SAMPLING)
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is not None]
    given += ["--until-decided"] if options.until_decided else []
    if given:
        raise UsageError(
            f"{what} computes the model's own probabilities and samples nothing; leave out {', '.join(given)}"
        )


def _sampling(options: Namespace, published: Sampling) -> Sampling:
    """Return the published sampling with what was asked for otherwise."""
    given = {name: getattr(options, name) for name in OF_SAMPLING if name != "top_k"}
    chosen = replace(published, **{name: value for name, value in given.items() if value is not None})
    return chosen if options.top_k is None else replace(chosen, top_k=options.top_k or None)


def _chosen(text: str | None, names: list[str]) -> tuple[str, ...]:
    """Read `8` as the first eight names and `a,b` as these; None as all."""
    if text is None:
        return ()
    if text.isdigit() and names:
        if int(text) < 1:
            raise UsageError("0 were asked for; give 1 or more, or names")
        return tuple(names[: int(text)])
    return tuple(part.strip() for part in text.split(",") if part.strip())
