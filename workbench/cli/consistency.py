"""The pilot: which templates a model answers so that its answers can be read."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from workbench import registry
from workbench.audits.consistency.options import FORMULAS, ConsistencyOptions
from workbench.audits.reliability.options import READ_BY
from workbench.cli.figures import FIGURES
from workbench.cli.output import print_json, say, say_wrapped
from workbench.cli.verbs import Namespace, Section, verb
from workbench.errors import UsageError
from workbench.inference.dtypes import DTYPES
from workbench.options.option import Option, Type, flag
from workbench.options.shared import (
    ASKED_WITH,
    DRAWN,
    DTYPE,
    FAMILY,
    INSTRUMENT,
    LANGUAGE,
    MODEL,
    SAMPLES,
    SAMPLING,
    SEED,
    SERVED,
    STARTING,
    STORE,
    TEMPLATE_VERSION,
    TEMPLATES,
    VARIANTS,
    WITHOUT_RULINGS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.consistency.pilot import PilotJudged
    from workbench.domain.designs import Design
    from workbench.domain.instruments import Instrument


FORMULA = ConsistencyOptions.declared()["formula"].option


@verb(
    STORE,
    MODEL.but(help="as for run; with --rank only if several models answered", none=""),
    INSTRUMENT,
    Option(
        "statements",
        "number of statements, drawn evenly over countries",
        Type.WHOLE,
        none="10 per country",
        least=1,
        metavar="N",
    ),
    SEED.of("the draw of statements, the answers and the intervals"),
    FAMILY.but(none="the published family; --rank: the most recently asked", help="of templates", metavar="NAME"),
    TEMPLATES,
    VARIANTS,
    LANGUAGE,
    SAMPLES,
    DRAWN,
    ASKED_WITH,
    Section(
        "Ranking",
        (
            flag("rank", "ask nothing; rank by the stored answers"),
            TEMPLATE_VERSION,
            SAMPLING,
            *SERVED,
            READ_BY,
            WITHOUT_RULINGS,
            FORMULA.but(help="count stances that pass weaker tests", choices=FORMULAS),
        ),
    ),
    DTYPE.but(help="as for run; with --rank only if a model has several", choices=DTYPES),
    STARTING,
    FIGURES,
)
def pilot(options: Namespace) -> int:
    """Ask a sample of statements with every template, then rank the templates by readable answers."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        if options.rank and not _answered(store, options):
            return _unasked(store, options)
        if options.rank:
            refs = drawn(_instrument(store, options), options) if options.statements is not None else ()
            return _show(_ranked(store, options, refs, options.sampling), options, None)
        return _ask(store, options)


def _answered(store: Store, options: Namespace) -> bool:
    """Return whether there are answers to rank by, or an option names some that ought to be there."""
    instrument = options.instrument or store.instruments.only()
    naming = (
        "model",
        "family",
        "template_version",
        "sampling",
        "dtype",
        "snapshot",
        "fingerprint",
        "reader",
        "language",
    )
    named = any(getattr(options, name) is not None for name in naming)
    return named or any(run.instrument == instrument for run in store.runs.list(registry.DEFAULT_AUDIT))


def _unasked(store: Store, options: Namespace) -> int:
    """Print what a pilot tells before any model was asked: how far parties are apart on a coarser scale of answers."""
    from workbench.audits.consistency.pilot import answer_scales, scale_collapse, template_ranks
    from workbench.cli.figures import put_out

    instrument = _instrument(store, options)
    tables = (template_ranks(()), answer_scales(scale_collapse(instrument)))
    about = {"model": None, "instrument": instrument.name, "job": None}
    next_ = f"No model has answered {instrument.name} yet. Ask one: workbench pilot STORE --model MODEL"
    put_out(options, tables, about, title=f"{instrument.name}: pilot", told=[next_])
    return 0


def _instrument(store: Store, options: Namespace) -> Instrument:
    return store.instruments.get(options.instrument or store.instruments.only())


def drawn(instrument: Instrument, options: Namespace) -> tuple[str, ...]:
    """Return the statements of the pilot: the same for the same seed and number."""
    from workbench.audits.consistency.pilot import PER_COUNTRY, draw_statements
    from workbench.stats.resampling import derive_rng

    statements = instrument.statements
    countries = len({statement.country for statement in statements})
    n = min(PER_COUNTRY * countries, len(statements)) if options.statements is None else options.statements
    return draw_statements(statements, n, derive_rng(options.seed, "pilot", instrument.name))


def _ask(store: Store, options: Namespace) -> int:
    from workbench import pipeline
    from workbench.cli.asking import check_agreed
    from workbench.cli.watching import EXIT_CODES, watch
    from workbench.jobs import launch

    design = _design(store, options)
    plan = pipeline.plan(store, design)
    sample = ", ".join(design.statements[:20]) + (", …" if len(design.statements) > 20 else "")
    if not options.json:
        say(f"Pilot on {len(design.statements)} statements, drawn with seed {options.seed}: {sample}")
        say_wrapped(plan.describe())
    if options.dry_run:
        if options.json:
            print_json({"statements": design.statements, "answers_needed": plan.samples_needed, "job": None})
        return 0
    job_id = None
    if plan.samples_needed:
        check_agreed(options)
        job_id = launch.start(store, plan.design, plan, patient=True)
        if options.detach:
            return _detached(options, design, job_id, plan.samples_needed)
        job = watch(store, job_id, quiet=options.json)
        if job.state != "done":
            if options.json:
                print_json({"statements": design.statements, "job": asdict(job)})
            return EXIT_CODES.get(job.state, 1)
    return _show(_ranked(store, options, design.statements, str(design.sampling), plan.design), options, job_id)


def _detached(options: Namespace, design: Design, job_id: int, needed: int) -> int:
    if options.json:
        print_json({"statements": design.statements, "answers_needed": needed, "job": job_id})
        return 0
    again = f"--rank --model {options.model} --statements {len(design.statements)} --seed {options.seed}"
    say(f"Job {job_id} is running. Follow it: workbench jobs STORE follow {job_id}")
    say(f"Then: workbench pilot STORE {again}")
    return 0


def _design(store: Store, options: Namespace) -> Design:
    """Return the design of a run, on the statements of the pilot."""
    from workbench.cli.running import requested_design, run

    if not options.model:
        raise UsageError("a pilot asks a model: give --model NAME, or --rank to use the stored answers")
    refs = drawn(_instrument(store, options), options)
    as_run = run.given(**(vars(options) | {"audit": registry.DEFAULT_AUDIT, "statements": None}))
    return replace(requested_design(store, as_run), statements=refs)


def _ranked(
    store: Store, options: Namespace, refs: tuple[str, ...], sampling: str | None, asked: Design | None = None
) -> PilotJudged:
    from workbench.audits.consistency.pilot import judge_pilot
    from workbench.evidence.runs import Which

    which = replace(Which.of(options), sampling=sampling)
    if asked is not None:
        templates = replace(which.templates, families=(asked.family,), languages=(asked.language,))
        which = replace(which, templates=templates)
    return judge_pilot(store, which, ConsistencyOptions.of(options), refs)


def _show(judged: PilotJudged, options: Namespace, job: int | None) -> int:
    from workbench.audits.consistency.pilot import pilot_tables
    from workbench.cli.figures import put_out
    from workbench.evidence.answered import as_json, header
    from workbench.evidence.runs import template_notes

    about = {
        "model": judged.run.model,
        "instrument": judged.run.instrument,
        "sampling": str(judged.run.sampling),
        "family": judged.run.family,
        "template_versions": judged.run.versions,
        "job": job,
        "statements": judged.statements,
        "formula": options.formula,
        "answered": as_json([judged.answered]),
    }
    tables = tuple(pilot_tables(judged))
    above, title = header([judged.answered]), f"{judged.run.instrument}: pilot of {judged.run.model}"
    said = [*above, f"{judged.run.label}: {len(judged.statements)} statements", *template_notes([judged.run])]
    put_out(options, tables, about, title=title, told=said, header=above)
    return 0
