"""Commands that start, watch and stop jobs."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import print_json, say, table
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.jobs import Job
    from stores.store import Store
    from workbench.domain.statements import Statement

NEXT = {
    "reliability": "verdicts {0.store} --model {0.model}",
    "bias_score": "sample {0.store} --name test --purpose test",
    "statement_labels": "sides {0.store} --model {0.model}",
}
WHO = ("model", "name", "classifier", "encoder", "nli")
"keys of a job's specification that say who does it"
UNITS = {"train": "steps", "classify": "responses", "check": "texts", "draft": "prompts"}
"what a kind of jobs counts; every other kind counts answers"
EXIT_CODES = {"done": 0, "cancelled": 3}
DEMO_STATEMENTS, DEMO_TEMPLATES, DEMO_SAMPLES = 8, ("personal-2", "personal-3"), 10
DEMO_A_SIDE, DEMO_BIAS_TOKENS = 3, 40
DEMO_SCREENS = {"reliability": "audit", "bias_score": "annotate"}
DEMO_SAMPLING = Sampling(temperature=0.4)
"at the published temperature of 1 most answers of a model as small as the embedded one are unreadable"


def run(options: Namespace) -> int:
    """Say what a design asks, ask whether to start, start the worker, and watch it."""
    from stores.store import Store
    from workbench import pipeline
    from workbench.jobs import launch

    with Store.open(options.store) as store:
        plan = pipeline.plan(store, requested_design(store, options))
        about = {
            "prompts_planned": len(plan.probes),
            "prompts_distinct": len(plan.prompts),
            "answers": plan.samples,
            "answers_stored": plan.samples_stored,
            "answers_needed": plan.samples_needed,
        }
        if not options.json:
            say(plan.describe())
        if options.dry_run or not plan.samples_needed:
            if options.json:
                print_json(about | {"job": None})
            elif not plan.samples_needed:
                say(f"Everything is stored. Next: workbench {NEXT[options.audit]}".format(options))
            return 0
        if not options.yes and not agreed():
            raise UsageError("not started; give --yes where nobody can answer")
        job_id = launch.start(store, plan.design, plan)
        if options.detach:
            if options.json:
                print_json(about | {"job": job_id})
            else:
                say(f"Job {job_id} runs. Watch it: workbench jobs {options.store} --watch {job_id}")
            return 0
        job = watch(store, job_id, quiet=options.json)
    if options.json:
        print_json(about | {"job": asdict(job)})
    return EXIT_CODES.get(job.state, 1)


def demo(options: Namespace) -> int:
    """Make the demonstration store if need be, start or resume its audit, and open the workbench on it."""
    from stores.store import Store
    from workbench import pipeline
    from workbench.cli.acts import make
    from workbench.jobs import launch

    make(options.store, demo=True)
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
            if options.audit == "reliability":
                return _print_verdicts(options.store, options.model)
            say(f"Next: workbench {NEXT[options.audit]}".format(options))
            return 0
    from workbench.tui.app import run_app

    return run_app(options.store, start="jobs" if job_id is not None else DEMO_SCREENS[options.audit])


def _demo_design(store: Store, audit: str, model: str) -> Design:
    """Return a design that a small model on a laptop answers in minutes."""
    from workbench import registry
    from workbench.cli.acts import SHIPPED

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
            if not job.active:
                launch.resume(store, job.id)
            return job.id
    return None


def _spread(store: Store, name: str, n: int) -> list[Statement]:
    """Return the first statement of each of n topics: every issue is in a short demonstration."""
    statements = store.instruments.get(name).statements
    first = {s.ref.rpartition("-")[0]: s for s in reversed(statements)}
    chosen = {s.ref for s in list(first.values())[:n]}
    return [s for s in statements if s.ref in chosen]


def _print_verdicts(path: Path, model: str) -> int:
    from workbench.cli.main import build_parser
    from workbench.cli.results import verdicts

    return verdicts(build_parser().parse_args(["verdicts", str(path), "--model", model]))


def watch(store: Store, job_id: int, *, quiet: bool = False) -> Job:
    """Show a job's progress until it ends. Ctrl+C asks it to stop, and waits for what it is at to be stored."""
    from workbench.jobs import launch

    asked = False
    shown = ""
    while True:
        try:
            launch.reap()
            job = store.jobs.get(job_id)
            line = progress_line(job)
            if not quiet and line != shown:
                _show(line)
                shown = line
            if not job.active:
                if not quiet:
                    _end(job, store.path)
                return job
            time.sleep(0.5)
        except KeyboardInterrupt:
            if asked:
                raise
            asked = True
            _show("stopping; what has arrived is being stored (Ctrl+C again leaves the job to itself)")
            if store.jobs.get(job_id).active:
                store.jobs.request_stop(job_id)


def progress_line(job: Job) -> str:
    """Return one line about a job."""
    from workbench.jobs import launch

    share = f"{job.done / job.total:.0%}" if job.total else "0%"
    pace = launch.pace(job)
    unit = UNITS.get(job.kind, "answers")
    parts = [f"job {job.id} {job.state}", f"{job.done:,}/{job.total:,} {unit} {share}"]
    if pace.per_second is not None:
        parts.append(f"{pace.per_second:.1f}/s")
    if pace.eta_seconds is not None:
        parts.append(f"about {max(1, round(pace.eta_seconds / 60))} min left" if pace.eta_seconds > 90 else "soon done")
    answers = job.progress.get("answers", 0)
    if "loss" in job.progress:
        parts.append(f"loss {job.progress['loss']:.3f}")
    if answers and job.kind == launch.SAMPLE and job.spec.get("audit") != "bias_score":
        parts.append(f"unreadable {job.progress.get('unreadable', 0) / answers:.0%}")
    if job.message and job.active:
        parts.append(job.message)
    return " · ".join(parts)


def _show(line: str) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[2K{line}", end="", flush=True)
    else:
        print(line, flush=True)


def _end(job: Job, path: Path) -> None:
    if sys.stdout.isatty():
        print()
    say(f"job {job.id} {job.state}: {job.message}")
    if job.state in ("cancelled", "failed", "lost"):
        if job.state == "lost":
            say("its worker is gone; everything that it committed is stored")
        say(f"Go on with: workbench jobs {path} --resume {job.id}")


def jobs(options: Namespace) -> int:
    """List jobs, or act on one."""
    from stores.store import Store
    from workbench.jobs import launch

    with Store.open(options.store) as store:
        if options.log is not None:
            store.jobs.get(options.log)
            say(launch.log_tail(options.store, options.log, lines=1000))
            return 0
        if options.watch is not None:
            return EXIT_CODES.get(watch(store, options.watch).state, 1)
        if options.resume is not None:
            launch.resume(store, options.resume)
            say(f"Job {options.resume} goes on. Watch it: workbench jobs {options.store} --watch {options.resume}")
            return 0
        if options.cancel is not None:
            job = store.jobs.request_stop(options.cancel)
            say(f"Job {job.id} {'is cancelled' if job.state == 'cancelled' else 'stops after the answers at hand'}.")
            return 0
        found = store.jobs.list()
    if options.json:
        print_json(found)
    elif not found:
        say(f"No jobs yet. Start one: workbench run {options.store} --model smollm2")
    else:
        table(
            ["job", "kind", "state", "what", "of", "done", "attempts", "started", "message"],
            [
                (
                    str(job.id),
                    job.kind,
                    job.state,
                    next((str(job.spec[name]) for name in WHO if job.spec.get(name)), ""),
                    str(job.spec.get("instrument") or ""),
                    f"{job.done:,}/{job.total:,}",
                    str(job.attempts),
                    job.started_at or "",
                    job.message,
                )
                for job in found
            ],
        )
    return 0


def requested_design(store: Store, options: Namespace) -> Design:
    """Return what the command line asks for, with the published defaults for the rest."""
    from workbench import registry
    from workbench.data import shipped_templates

    instrument = store.instruments.get(options.instrument or store.instruments.only())
    defaults = registry.audit(options.audit).DEFAULTS
    family = options.family or defaults.family
    of_audit = [t for t in instrument.templates if t.audit == options.audit] or shipped_templates(options.audit)
    names = list(dict.fromkeys(t.name for t in of_audit if t.family == family))
    sampling = _sampling(options, defaults.sampling)
    samples = defaults.samples if options.samples is None else options.samples
    _check_sampling(options, sampling, samples)
    return Design(
        instrument=instrument.name,
        model=options.model,
        audit=options.audit,
        samples=samples,
        sampling=sampling,
        seed=options.seed,
        language=options.language or "",
        family=family,
        statements=_chosen(options.statements, [s.ref for s in instrument.statements]),
        variants=_chosen(options.variants, []),
        templates=_chosen(options.templates, names),
    )


def _sampling(options: Namespace, published: Sampling) -> Sampling:
    """Return the published sampling with what was asked for otherwise."""
    given = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "max_new_tokens": options.max_new_tokens,
    }
    chosen = replace(published, **{name: value for name, value in given.items() if value is not None})
    return chosen if options.top_k is None else replace(chosen, top_k=options.top_k or None)


def _check_sampling(options: Namespace, sampling: Sampling, samples: int) -> None:
    top_k = sampling.top_k
    checks = [
        (samples >= 1, f"--samples is {samples}; give 1 or more"),
        (sampling.temperature > 0, f"--temperature is {sampling.temperature}; give more than 0 (--top-k 1 is greedy)"),
        (0 < sampling.top_p <= 1, f"--top-p is {sampling.top_p}; give more than 0 and at most 1"),
        (top_k is None or top_k >= 1, f"--top-k is {top_k}; give 1 or more, or 0 for the whole vocabulary"),
        (sampling.max_new_tokens >= 1, f"--max-new-tokens is {sampling.max_new_tokens}; give 1 or more"),
        (options.seed >= 0, f"--seed is {options.seed}; give 0 or more"),
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
