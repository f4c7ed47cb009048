"""`workbench demo`: an audit of the embedded model on an instrument that ships, small enough for a laptop."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.audit_options import AUDIT
from workbench.cli.jobs import EXIT_CODES, watch
from workbench.cli.output import say
from workbench.cli.running import NEXT
from workbench.cli.verbs import Namespace, verb
from workbench.domain.choices import Bias, Perturbation
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, Sampling
from workbench.domain.seeds import SEED
from workbench.options.option import flag
from workbench.options.shared import MODEL, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.statements import Statement

DEMO_STATEMENTS, DEMO_TEMPLATES, DEMO_SAMPLES = 8, ("personal-2", "personal-3"), 10
DEMO_A_SIDE, DEMO_BIAS_TOKENS = 3, 40
DEMO_CONDITIONS, DEMO_RESPONDENTS = ("qm", "zero-shot", "random"), 16
DEMO_ERRORS, DEMO_PERSON = (Perturbation.KEY_TYPO,), "demo"
"errors of typing in questions that have none yet, and who is said to have put them there"
EMBEDDED = "smollm2"
DEMO_A_BIAS = 5
"questions of each bias: 50 answers to each form take about two minutes on two cores that are otherwise idle"
DEMO_SCREENS = {
    "reliability": "audit",
    "bias_score": "annotate",
    "questionnaire": "questionnaire",
    "response_bias": "response_bias",
}
VERDICTS_OF_DEMO = ("reliability", "questionnaire", "response_bias")
"audits of which a demonstration without a screen prints verdicts"
DEMO_SAMPLING = Sampling(temperature=0.4)
"at the published temperature of 1 most answers of a model as small as the embedded one are unreadable"


@verb(
    STORE.but(required=False, default=Path("veldania.db"), help="made where there is none"),
    MODEL.but(default="smollm2", none=""),
    AUDIT.but(choices=tuple(DEMO_SCREENS)),
    flag("no_screen", "wait here and print the verdicts"),
)
def demo(options: Namespace) -> int:
    """Make the demonstration store if need be, start or resume its audit, and open the workbench on it."""
    from stores.core.store import Store
    from workbench import pipeline
    from workbench.cli.acts import make
    from workbench.jobs import launch

    make(options.store, demo=True, instrument=_instrument(options.audit))
    with Store.open(options.store) as store:
        if options.audit == "response_bias":
            _put_errors(store, _instrument(options.audit))
        design = _demo_design(store, options.audit, options.model)
        plan = pipeline.plan(store, design)
        say(plan.describe())
        job_id = None
        if not plan.samples_needed:
            say("Everything is stored already.")
        else:
            if design.audit == "response_bias" and design.model == EMBEDDED:
                say("It takes about two minutes on two cores that are otherwise idle.")
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


def _instrument(audit: str) -> str:
    """Return the instrument that an audit is demonstrated on."""
    from workbench.data import SHIPPED_CHOICES, SHIPPED_INSTRUMENT, SHIPPED_QUESTIONNAIRE

    return {"questionnaire": SHIPPED_QUESTIONNAIRE, "response_bias": SHIPPED_CHOICES}.get(audit, SHIPPED_INSTRUMENT)


def _put_errors(store: Store, instrument: str) -> None:
    """Write one kind of errors of typing into the questions, once: the others take the demonstration as long again."""
    from workbench.pipeline.choice_forms import accept, propose
    from workbench.pipeline.choice_proposals import Wanted

    proposals = propose(store, instrument, (), Wanted(perturbations=DEMO_ERRORS, seed=SEED))
    if any(one.held is None for one in proposals.made):
        say(accept(store, proposals, person=DEMO_PERSON).sentence)


def _demo_design(store: Store, audit: str, model: str) -> Design:
    """Return a design that a small model on a laptop answers in minutes."""
    from workbench import registry

    instrument = _instrument(audit)
    if audit == "reliability":
        refs = tuple(s.ref for s in _spread(store, instrument, DEMO_STATEMENTS))
        return Design(
            instrument,
            model,
            samples=DEMO_SAMPLES,
            sampling=DEMO_SAMPLING,
            family="user",
            statements=refs,
            templates=DEMO_TEMPLATES,
        )
    defaults = registry.audit(audit).defaults
    if defaults.material == "questionnaire":
        contexts = Contexts(DEMO_CONDITIONS, respondents=DEMO_RESPONDENTS)
        variants = ("original",)
        return Design(
            instrument,
            model,
            audit,
            1,
            EXACTLY,
            family=defaults.family,
            variants=variants,
            contexts=contexts,
        )
    if defaults.material == "choices":
        refs = _of_each_bias(store, instrument, DEMO_A_BIAS)
        return Design(
            instrument, model, audit, defaults.samples, defaults.sampling, family=defaults.family, statements=refs
        )
    sampling = replace(defaults.sampling, max_new_tokens=DEMO_BIAS_TOKENS)
    refs = tuple(s.ref for s in _sided(store, instrument, DEMO_A_SIDE))
    return Design(instrument, model, audit, defaults.samples, sampling, family=defaults.family, statements=refs)


def _of_each_bias(store: Store, name: str, n: int) -> tuple[str, ...]:
    """Return the first n multiple-choice questions of each bias: those on scales are the same under both."""
    chosen: Counter[Bias] = Counter()
    found = []
    for ref, item in store.choices.items(name).items():
        if chosen[item.bias] < n:
            chosen[item.bias] += 1
            found.append(ref)
    return tuple(found)


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
    from workbench.cli.results import verdicts

    return verdicts(verdicts.given(store=options.store, model=options.model, audit=options.audit))
