"""Commands that ask a model."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from workbench.cli.jobs import EXIT_CODES, started, watch
from workbench.cli.output import print_json, say
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts, Role
from workbench.domain.responses import EXACT, EXACTLY, WHEN_DECIDED, Sampling
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.base import Defaults
    from workbench.domain.instruments import Instrument
    from workbench.domain.statements import Statement

NEXT = {
    "reliability": "verdicts {0.store} --model {0.model}",
    "bias_score": "sample {0.store} --name test --purpose test",
    "statement_labels": "sides {0.store} --model {0.model}",
    "questionnaire": "verdicts {0.store} --audit questionnaire --model {0.model}",
}
DEMO_STATEMENTS, DEMO_TEMPLATES, DEMO_SAMPLES = 8, ("personal-2", "personal-3"), 10
DEMO_A_SIDE, DEMO_BIAS_TOKENS = 3, 40
OF_SAMPLING = ("temperature", "top_p", "top_k", "max_new_tokens")
"options that say how an answer is drawn"
OF_CONTEXTS = ("conditions", "respondents", "every", "context_questions")
"options that say what stands before a questionnaire's targets"
DEMO_CONDITIONS, DEMO_RESPONDENTS = ("qm", "zero-shot", "random"), 16
DEMO_SCREENS = {"reliability": "audit", "bias_score": "annotate", "questionnaire": "questionnaire"}
VERDICTS_OF_DEMO = ("reliability", "questionnaire")
"audits of which a demonstration without a screen prints verdicts"
DEMO_SAMPLING = Sampling(temperature=0.4)
"at the published temperature of 1 most answers of a model as small as the embedded one are unreadable"


def run(options: Namespace) -> int:
    """Say what a design asks, ask whether to start, start the worker, and watch it."""
    from stores.store import Store
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
            if options.json:
                print_json(about | {"job": None})
            elif not plan.samples_needed:
                say(f"Everything is stored. Next: workbench {_next(store, options, plan.design)}")
            return 0
        if not options.yes and not agreed():
            raise UsageError("not started; give --yes where nobody can answer")
        job_id = launch.start(store, plan.design, plan)
        if options.detach:
            if options.json:
                print_json(about | {"job": job_id})
            else:
                say(started(options.store, job_id))
            return 0
        job = watch(store, job_id, quiet=options.json)
    if options.json:
        print_json(about | {"job": asdict(job)})
    return EXIT_CODES.get(job.state, 1)


def _next(store: Store, options: Namespace, design: Design) -> str:
    """Return the command that goes on from here, with as much as tells these answers from others of the model."""
    command = NEXT[options.audit].format(options)
    if not command.startswith("verdicts "):
        return command
    runs = [run for run in store.runs.list(options.audit, None, options.model) if run.responses]
    if len({run.sampling for run in runs}) > 1:
        exact = design.sampling == EXACTLY
        command += f" --sampling {EXACT if exact else shlex.quote(str(design.sampling))}"
    if design.dtype and len({run.dtype for run in runs}) > 1:
        command += f" --dtype {design.dtype}"
    return command


def demo(options: Namespace) -> int:
    """Make the demonstration store if need be, start or resume its audit, and open the workbench on it."""
    from stores.store import Store
    from workbench import pipeline
    from workbench.cli.acts import SHIPPED, make
    from workbench.data import SHIPPED_QUESTIONNAIRE
    from workbench.jobs import launch

    questionnaire = options.audit == "questionnaire"
    make(options.store, demo=True, instrument=SHIPPED_QUESTIONNAIRE if questionnaire else SHIPPED)
    with Store.open(options.store) as store:
        design = _demo_design(store, options.audit, options.model)
        plan = pipeline.plan(store, design)
        say(plan.describe())
        job_id = None
        if not plan.samples_needed:
            say("Everything is stored already.")
        else:
            job_id = _come_back(store, plan.design) or launch.start(store, design, plan)
        if options.no_screen or not sys.stdout.isatty():
            if job_id is not None:
                job = watch(store, job_id)
                if job.state != "done":
                    return EXIT_CODES.get(job.state, 1)
            if options.audit in VERDICTS_OF_DEMO:
                return _print_verdicts(options)
            say(f"Next: workbench {NEXT[options.audit]}".format(options))
            return 0
    from workbench.tui.app import run_app

    return run_app(options.store, start="jobs" if job_id is not None else DEMO_SCREENS[options.audit])


def _demo_design(store: Store, audit: str, model: str) -> Design:
    """Return a design that a small model on a laptop answers in minutes."""
    from workbench import registry
    from workbench.cli.acts import SHIPPED
    from workbench.data import SHIPPED_QUESTIONNAIRE

    if audit == "reliability":
        refs = tuple(s.ref for s in _spread(store, SHIPPED, DEMO_STATEMENTS))
        return Design(
            SHIPPED,
            model,
            samples=DEMO_SAMPLES,
            sampling=DEMO_SAMPLING,
            family="user",
            statements=refs,
            templates=DEMO_TEMPLATES,
        )
    defaults = registry.audit(audit).DEFAULTS
    if defaults.material == "questionnaire":
        contexts = Contexts(DEMO_CONDITIONS, respondents=DEMO_RESPONDENTS)
        variants = ("original",)
        return Design(
            SHIPPED_QUESTIONNAIRE,
            model,
            audit,
            1,
            EXACTLY,
            family=defaults.family,
            variants=variants,
            contexts=contexts,
        )
    sampling = replace(defaults.sampling, max_new_tokens=DEMO_BIAS_TOKENS)
    refs = tuple(s.ref for s in _sided(store, SHIPPED, DEMO_A_SIDE))
    return Design(SHIPPED, model, audit, defaults.samples, sampling, family=defaults.family, statements=refs)


def _sided(store: Store, name: str, n: int) -> list[Statement]:
    """Return n statements of every dimension and side."""
    chosen: Counter[object] = Counter()
    found = []
    for statement in store.instruments.get(name).statements:
        side = (statement.dimension, statement.leaning)
        if None not in side and chosen[side] < n:
            chosen[side] += 1
            found.append(statement)
    return found


def _come_back(store: Store, design: Design) -> int | None:
    """Return the unfinished job that asks this, resuming it where its worker is gone; None where there is none."""
    from workbench.jobs import launch

    for job in store.jobs.list():
        if job.kind == launch.SAMPLE and job.state != "done" and Design.from_json(job.spec) == design:
            if not job.active or job.state == "paused":
                launch.resume(store, job.id)
            return job.id
    return None


def _spread(store: Store, name: str, n: int) -> list[Statement]:
    """Return the first statement of each of n topics: every issue is in a short demonstration."""
    statements = store.instruments.get(name).statements
    first = {s.ref.rpartition("-")[0]: s for s in reversed(statements)}
    chosen = {s.ref for s in list(first.values())[:n]}
    return [s for s in statements if s.ref in chosen]


def _print_verdicts(options: Namespace) -> int:
    from workbench.cli.main import build_parser
    from workbench.cli.results import verdicts

    asked = ["--audit", options.audit] if options.audit != "reliability" else []
    return verdicts(build_parser().parse_args(["verdicts", str(options.store), "--model", options.model, *asked]))


def requested_design(store: Store, options: Namespace) -> Design:
    """Return what the command line asks for, with the published defaults for the rest."""
    from workbench import registry
    from workbench.data import shipped_templates

    instrument = store.instruments.get(options.instrument or store.instruments.only())
    defaults = registry.audit(options.audit).DEFAULTS
    family = options.family or defaults.family
    of_audit = [t for t in instrument.templates if t.audit == options.audit] or shipped_templates(options.audit)
    names = list(dict.fromkeys(t.name for t in of_audit if t.family == family))
    contexts = _contexts(options, defaults)
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
        statements=_chosen(options.statements, _asked_of(store, instrument, defaults)),
        variants=_chosen(options.variants, []),
        templates=_chosen(options.templates, names),
        dtype=options.dtype or "",
        cluster=(options.cluster or "").strip(),
        chat_format=(getattr(options, "chat_format", None) or "").strip(),
        contexts=contexts,
    )


def _asked_of(store: Store, instrument: Instrument, defaults: Defaults) -> list[str]:
    """Return the refs of which the first so many may be asked for: of a questionnaire its targets."""
    if defaults.material != "questionnaire":
        return [statement.ref for statement in instrument.statements]
    return [
        question.ref for question in store.questionnaires.questions(instrument.name) if question.role is Role.TARGET
    ]


def _contexts(options: Namespace, defaults: Defaults) -> Contexts:
    """Return what stands before the targets of a questionnaire. Raises UsageError where the audit has no use for it."""
    from workbench.audits.questionnaire_conditions import expanded

    asked: dict[str, Any] = {name: getattr(options, name, None) for name in OF_CONTEXTS}
    given = {name: value for name, value in asked.items() if value is not None}
    if defaults.material != "questionnaire" and given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"the audit {options.audit} shows a model nobody's answers; leave out {named}")
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
    if options.seed < 0:
        raise UsageError(f"--seed is {options.seed}; give 0 or more")
    if options.exact or not defaults.drawn:
        _check_exact(options, "--exact" if options.exact else f"the audit {options.audit}")
        return EXACTLY, 1
    sampling = _sampling(options, defaults.sampling_of(family))
    samples = defaults.samples if options.samples is None else options.samples
    _check_sampling(sampling, samples)
    return (replace(sampling, stop=WHEN_DECIDED) if options.until_decided else sampling), samples


def _check_exact(options: Namespace, what: str) -> None:
    """Raise UsageError where sampling is asked for as well."""
    names = ("samples", *OF_SAMPLING)
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


def _check_sampling(sampling: Sampling, samples: int) -> None:
    top_k = sampling.top_k
    checks = [
        (samples >= 1, f"--samples is {samples}; give 1 or more"),
        (sampling.temperature > 0, f"--temperature is {sampling.temperature}; give more than 0 (--top-k 1 is greedy)"),
        (0 < sampling.top_p <= 1, f"--top-p is {sampling.top_p}; give more than 0 and at most 1"),
        (top_k is None or top_k >= 1, f"--top-k is {top_k}; give 1 or more, or 0 for the whole vocabulary"),
        (sampling.max_new_tokens >= 1, f"--max-new-tokens is {sampling.max_new_tokens}; give 1 or more"),
    ]
    for holds, message in checks:
        if not holds:
            raise UsageError(message)


def _chosen(text: str | None, names: list[str]) -> tuple[str, ...]:
    """Read `8` as the first eight names and `a,b` as these; None as all."""
    if text is None:
        return ()
    if text.isdigit() and names:
        if int(text) < 1:
            raise UsageError("0 were asked for; give 1 or more, or names")
        return tuple(names[: int(text)])
    return tuple(part.strip() for part in text.split(",") if part.strip())


def agreed() -> bool:
    """Ask whether to start; False where nobody can answer."""
    return sys.stdin.isatty() and input("Start? [Y/n] ").strip().lower() in ("", "y", "yes")
