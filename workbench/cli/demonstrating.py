"""`workbench demo`: a small audit of the embedded model on an instrument that ships.

It is small enough for a laptop.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import registry
from workbench.cli.output import say, say_wrapped
from workbench.cli.running import next_command
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import EXIT_CODES, break_line, watch
from workbench.commands.audit_options import AUDIT
from workbench.domain import job_kinds
from workbench.domain.designs import Design
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.jobs.watching import done_text
from workbench.options.option import flag
from workbench.options.shared import MODEL, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Demonstration
    from workbench.pipeline.planning import Plan

EMBEDDED, PERSON, SCRIPTED = "smollm2", "demo", "scripted:"
"the model that is asked, the person of typos in questions, and the prefix of scripted models"


@verb(
    STORE.but(required=False, default=Path("veldania.db"), help="made if it does not exist"),
    MODEL.but(default=EMBEDDED, none=""),
    AUDIT.but(
        choices=tuple(
            audit.name for audit in registry.asking() if audit.demonstration() is not None
        )
    ),
    flag("personas", "also ask the scripted personas, for something to compare with"),
    flag("no_screen", "wait here and print the verdicts"),
)
def demo(options: Namespace) -> int:
    """Make the demonstration store if needed, start or resume its audit, and open the workbench."""
    from stores.core.store import Store
    from workbench.cli.acts import make
    from workbench.cli.showing import of
    from workbench.inference.load import check_reachable
    from workbench.jobs import launch
    from workbench.pipeline import planning

    audit = registry.audit(options.audit)
    demonstration = audit.demonstration()
    assert demonstration is not None
    check_reachable(options.model)  # before anything is made or asked
    make(options.store, demo=True, instrument=demonstration.instrument)
    with Store.open(options.store) as store:
        _put_errors(store, demonstration)
        if options.personas:
            _ask_personas(store)
        design = demonstration.design(store, options.model)
        plan = planning.plan(store, design)
        say_wrapped(plan.describe())
        job_id = None
        if not plan.samples_needed:
            say("Everything is stored already.")
        else:
            if demonstration.takes and design.model == EMBEDDED:
                say(demonstration.takes)
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

    screen = demonstration.mode or (audit.place.mode if audit.place is not None else "home")
    return run_app(options.store, start="jobs" if job_id is not None else screen)


def _ask_personas(store: Store) -> None:
    """Ask the scripted personas what they have not answered of the audits that have personas.

    Invented people label, decide and rule on their answers.
    """
    from workbench.cli.acts import make
    from workbench.evidence.runs import runs_of
    from workbench.jobs import demonstration
    from workbench.pipeline import planning

    for audit in registry.asking():
        audit_demo = audit.demonstration()
        if audit_demo is None or not audit_demo.personas:
            continue
        make(store.path, demo=True, instrument=audit_demo.instrument)
        _put_errors(store, audit_demo)
        models = [f"{SCRIPTED}{name}" for name in audit_demo.personas]
        plans = [planning.plan(store, audit_demo.design(store, model)) for model in models]
        if new_plans := [plan for plan in plans if plan.samples_needed]:
            names = ", ".join(plan.design.model.removeprefix(SCRIPTED) for plan in new_plans)
            description = (
                f"{plural(len(new_plans), 'scripted persona')} (no models) with known biases"
            )
            say_wrapped(f"{registry.audit_title(audit.name).capitalize()}: {description}: {names}")
            for index, plan in enumerate(new_plans, start=1):
                _ask(store, plan, f"{index} of {len(new_plans)}")
            break_line()
        if audit.nature.free_text:
            _say(demonstration.label(store, models))
        for run in runs_of(store, audit.name):
            if run.model == f"{SCRIPTED}{audit_demo.reviewed}":
                _say(demonstration.rule(store, run))


def _ask(store: Store, plan: Plan, place: str) -> None:
    """Let a persona answer, with its progress in one line."""
    from workbench.jobs import launch

    job_id = _come_back(store, plan.design) or launch.start(store, plan.design, plan)
    job = watch(store, job_id, told=lambda job: f"{place}, {plan.design.model}: {done_text(job)}")
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
    from workbench.pipeline.choice_forms import RequestedForms, accept, propose

    proposals = propose(
        store,
        shown.instrument,
        (),
        RequestedForms(perturbations=tuple(shown.typing_errors), seed=SEED),
    )
    if any(proposal.held is None for proposal in proposals.made):
        done = accept(store, proposals, person=PERSON)
        say_wrapped(
            f"{plural(len(done.refs), 'question')} of {shown.instrument} get forms with typos."
        )


def _come_back(store: Store, design: Design) -> int | None:
    """Return the unfinished job of a design, or None if there is none.

    It is resumed if it is paused or its worker is gone.
    """
    from workbench.jobs import launch

    for job in store.jobs.list():
        if (
            job.kind == job_kinds.SAMPLE
            and job.state != "done"
            and Design.from_json(job.spec) == design
        ):
            if not job.active or job.state == "paused":
                launch.resume(store, job.id)
            return job.id
    return None
