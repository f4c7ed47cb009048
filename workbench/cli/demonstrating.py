"""`workbench demo`: an audit of the embedded model on an instrument that ships, small enough for a
laptop.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import registry
from workbench.cli.audit_options import AUDIT
from workbench.cli.output import say, say_wrapped
from workbench.cli.running import next_command
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import EXIT_CODES, break_line, done_of, watch
from workbench.domain.designs import Design
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.options.option import flag
from workbench.options.shared import MODEL, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Demonstration
    from workbench.pipeline import Plan

EMBEDDED, PERSON, SCRIPTED = "smollm2", "demo", "scripted:"
"""the model that is asked, who is said to have put typos into questions, and how names of stand-ins
begin"""


@verb(
    STORE.but(required=False, default=Path("veldania.db"), help="made if it does not exist"),
    MODEL.but(default=EMBEDDED, none=""),
    AUDIT.but(
        choices=tuple(one.name for one in registry.asking() if one.demonstration() is not None)
    ),
    flag("personas", "also ask the scripted personas, for something to compare with"),
    flag("no_screen", "wait here and print the verdicts"),
)
def demo(options: Namespace) -> int:
    """Make the demonstration store if need be, start or resume its audit, and open the workbench on
    it.
    """
    from stores.core.store import Store
    from workbench import pipeline
    from workbench.cli.acts import make
    from workbench.cli.showing import of
    from workbench.inference.load import check_reachable
    from workbench.jobs import launch

    audit = registry.audit(options.audit)
    shown = audit.demonstration()
    assert shown is not None
    check_reachable(options.model)  # before anything is made or asked
    make(options.store, demo=True, instrument=shown.instrument)
    with Store.open(options.store) as store:
        _put_errors(store, shown)
        if options.personas:
            _ask_personas(store)
        design = shown.design(store, options.model)
        plan = pipeline.plan(store, design)
        say_wrapped(plan.describe())
        job_id = None
        if not plan.samples_needed:
            say("Everything is stored already.")
        else:
            if shown.takes and design.model == EMBEDDED:
                say(shown.takes)
            job_id = _come_back(store, plan.design) or launch.start(store, design, plan)
        if options.no_screen or not sys.stdout.isatty():
            if job_id is not None:
                job = watch(store, job_id)
                if job.state != "done":
                    return EXIT_CODES.get(job.state, 1)
            if not audit.then:
                figures = of(audit)
                return figures(
                    figures.given(store=options.store, model=options.model, audit=audit.name)
                )
            say(f"Next: workbench {next_command(options.store, options.model, audit.name)}")
            return 0
    from workbench.tui.app import run_app

    there = shown.mode or (audit.place.mode if audit.place is not None else "home")
    return run_app(options.store, start="jobs" if job_id is not None else there)


def _ask_personas(store: Store) -> None:
    """Ask the scripted personas what they have not answered of the audits that they are made for,
    and let invented people label, decide and rule on what they say.
    """
    from workbench import pipeline
    from workbench.cli.acts import make
    from workbench.evidence.runs import runs_of
    from workbench.jobs import demonstration

    for audit in registry.asking():
        shown = audit.demonstration()
        if shown is None or not shown.personas:
            continue
        make(store.path, demo=True, instrument=shown.instrument)
        _put_errors(store, shown)
        models = [f"{SCRIPTED}{name}" for name in shown.personas]
        plans = [pipeline.plan(store, shown.design(store, model)) for model in models]
        if new := [plan for plan in plans if plan.samples_needed]:
            names = ", ".join(plan.design.model.removeprefix(SCRIPTED) for plan in new)
            known = f"{plural(len(new), 'scripted persona')} (no models) with known biases"
            say_wrapped(f"{registry.audit_title(audit.name).capitalize()}: {known}: {names}")
            for place, plan in enumerate(new, start=1):
                _ask(store, plan, f"{place} of {len(new)}")
            break_line()
        if audit.nature.free_text:
            _say(demonstration.label(store, models))
        for run in runs_of(store, audit.name):
            if run.model == f"{SCRIPTED}{shown.reviewed}":
                _say(demonstration.rule(store, run))


def _ask(store: Store, plan: Plan, place: str) -> None:
    """Let a persona answer, with its progress in one line."""
    from workbench.jobs import launch

    job_id = _come_back(store, plan.design) or launch.start(store, plan.design, plan)
    job = watch(store, job_id, told=lambda job: f"{place}, {plan.design.model}: {done_of(job)}")
    if job.state != "done":
        break_line()
        say(f"job {job.id} is {job.state}: {job.message or 'workbench jobs shows its log'}")


def _say(sentence: str) -> None:
    if sentence:
        say_wrapped(sentence)


def _put_errors(store: Store, shown: Demonstration) -> None:
    """Write typos into the questions, once."""
    if not shown.typing_errors:
        return
    from workbench.pipeline.choice_forms import Wanted, accept, propose

    proposals = propose(
        store, shown.instrument, (), Wanted(perturbations=tuple(shown.typing_errors), seed=SEED)
    )
    if any(one.held is None for one in proposals.made):
        done = accept(store, proposals, person=PERSON)
        say_wrapped(
            f"{plural(len(done.refs), 'question')} of {shown.instrument} get forms with typos."
        )


def _come_back(store: Store, design: Design) -> int | None:
    """Return the unfinished job that asks this, resuming it where its worker is gone; None where
    there is none.
    """
    from workbench.jobs import launch

    for job in store.jobs.list():
        if (
            job.kind == launch.SAMPLE
            and job.state != "done"
            and Design.from_json(job.spec) == design
        ):
            if not job.active or job.state == "paused":
                launch.resume(store, job.id)
            return job.id
    return None
