"""Commands about political consistency: leaning, stances on policy issues, and the choice of templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from workbench import registry
from workbench.audits.consistency.options import FORMULA, RESULT_OPTIONS, SHOWN
from workbench.audits.reliability.options import JUDGING, ONLY, READ_BY
from workbench.cli.figures import FIGURES
from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, Section, verb
from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.inference.dtypes import DTYPES
from workbench.options.option import Option, Type, flag
from workbench.options.shared import (
    DRAWN,
    DTYPE,
    EXTRA_BODY,
    FAMILY,
    INSTRUMENT,
    LANGUAGE,
    MODEL,
    MODELS,
    OF_RUN,
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
    from workbench.audits.consistency.book import Material
    from workbench.audits.consistency.judge import Consistency, Formula
    from workbench.audits.consistency.judged import ConsistencyJudged
    from workbench.audits.consistency.pilot_judged import PilotJudged
    from workbench.domain.designs import Design
    from workbench.domain.instruments import Instrument
    from workbench.figures.table import AnyTable


@verb(
    STORE,
    ONLY,
    MODELS,
    [one for one in OF_RUN if one is not MODEL],
    JUDGING,
    RESULT_OPTIONS,
    SHOWN,
    FIGURES,
    about="Political leaning by party family, and stance on policy issues, of the models that answered, of baselines, "
    "parties and people.",
)
def consistency(options: Namespace) -> int:
    """Print or write leaning and stances on issues of the models, and what else was asked for."""
    from stores.core.store import Store
    from workbench.audits.consistency.judged import ConsistencyChoice, consistency_material, judge_consistency
    from workbench.audits.reliability.printed import options_of
    from workbench.cli.figures import put_out
    from workbench.evidence.answered_tables import as_json
    from workbench.evidence.run_choice import readings_of, templates_of

    choice = ConsistencyChoice(
        instrument=options.instrument,
        models=listed(options.model) or None,
        sampling=options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        readings=readings_of(options),
        reliability=options_of(options),
        labels=options.labels,
        seed=options.seed,
        resamples=options.resamples,
    )
    with Store.open(options.store) as store:
        judged = judge_consistency(store, choice)
        material = consistency_material(store, judged)
        _check(judged.result, options)
        compared = _compared(store, judged, options)
    if options.methods and not options.json:
        say(judged.methods())
        return 0
    about = {
        "instrument": judged.instrument,
        "choice": asdict(judged.choice),
        "templates": {one.name: {"family": one.run.family, "versions": one.run.versions} for one in judged.runs},
        "labelled_statements": judged.labelled,
        "methods": judged.methods(),
        "rulings": judged.rulings.as_json(),
        "answered": as_json(judged.answered),
    }
    title, tables = f"{judged.instrument}: political consistency", (*_tables(judged, material, options), *compared)
    put_out(options, tables, about, title=title, told=told(judged), header=judged.header)
    return 0


def _tables(judged: ConsistencyJudged, material: Material, options: Namespace) -> Iterator[AnyTable]:
    """Return what was asked for, leaning and policy issues first."""
    from workbench.audits.consistency import tables as tables
    from workbench.cli.figures import as_data
    from workbench.evidence.answered_tables import answered_table
    from workbench.evidence.refusal_tables import entries

    result, formulas, names = judged.result, _formulas(options), _shown(judged.result, options)
    yield tables.respondents(result, names)
    yield tables.leaning(result, names, options.view)
    yield from (tables.issues(result, names, formula, material.definitions) for formula in formulas)
    if as_data(options):
        yield tables.leaning_by_template(result, names, options.view)
        yield from (tables.issues_by_template(result, names, formula) for formula in formulas)
    if options.parties:
        yield from (tables.party_matches(result, name) for name in result.models)
        yield from (tables.party_stances(result, formula) for formula in formulas)
    if options.people:
        yield from (tables.people(result, formula) for formula in formulas)
    if options.issue:
        yield from (tables.issue_statements(result, name, options.issue, material.texts) for name in names)
    if options.party:
        yield from (tables.party_statements(result, name, *party_key(options.party), material.texts) for name in names)
    if as_data(options):
        yield answered_table(material.answered)
    if options.refusals or as_data(options):
        yield from (entry.make() for entry in entries(lambda: material.refusals, judged.choice.seed))


def _compared(store: Store, judged: ConsistencyJudged, options: Namespace) -> Sequence[AnyTable]:
    """Return the tables of the respondents that are to be compared; none where none are named."""
    from workbench.audits.comparison.book import tables
    from workbench.audits.comparison.values import meant
    from workbench.audits.consistency.compared import compared
    from workbench.cli.figures import as_data

    if not options.compare:
        return ()
    there = {one.name: one.name for one in judged.result.respondents} | {one.name: one.run.model for one in judged.runs}
    of = compared(store, judged, meant(options.compare, there), options.view, _formulas(options))
    return tuple(tables(of, data=as_data(options)))


def told(judged: ConsistencyJudged) -> tuple[str, ...]:
    """Say what the figures rest on."""
    from workbench.evidence.refusal_tables import told as refused
    from workbench.evidence.runs import template_notes

    head = f"{judged.instrument}: {len(judged.result.land.statements)} statements, {judged.labelled} with a label."
    if not judged.runs:
        return head, "No model has answered yet: baselines and parties alone."
    tests = {one.name: ", ".join(one.report.options.tests) for one in judged.runs}
    asked = [
        f"{one.name}: answers to templates of {', '.join(one.run.asked_with)}."
        for one in judged.runs
        if one.run.asked_with
    ]
    reliable = [f"{name}: a statement is reliable where it passes {of}." for name, of in tests.items()]
    return (
        *judged.header,
        head,
        *asked,
        *reliable,
        *refused([one.refusals for one in judged.runs]),
        *judged.rulings.sentences(),
        *template_notes(one.run for one in judged.runs),
    )


def _check(result: Consistency, options: Namespace) -> None:
    """Raise UnknownName for a name that is not there, before any table is printed."""
    if options.issue:
        result.land.issue(options.issue)
    if options.party:
        result.land.party(*party_key(options.party))


def party_key(text: str) -> tuple[str, str]:
    """Read `nl/SP`. Raises UsageError."""
    country, slash, name = text.partition("/")
    if not slash or not country or not name:
        raise UsageError(f"found the party {text!r}; give its country and its name, such as nl/SP")
    return country, name


def _formulas(options: Namespace) -> tuple[Formula, ...]:
    from workbench.audits.consistency.judge import FORMULAS

    return FORMULAS if options.formula == "all" else (options.formula,)


def _shown(result: Consistency, options: Namespace) -> tuple[str, ...]:
    """Return the models and, where they are wanted or alone, the baselines."""
    names = tuple(one.name for one in result.respondents)
    return names if options.baselines or not result.models else result.models


@verb(
    STORE,
    MODEL.but(help="as for run; with --rank only where several answered", none=""),
    INSTRUMENT,
    Option(
        "statements", "how many, drawn evenly over countries", Type.WHOLE, none="10 a country", least=1, metavar="N"
    ),
    SEED.of("the draw of statements, the answers and the intervals"),
    FAMILY.but(none="the published one; --rank: the one asked last", help="of templates", metavar="NAME"),
    TEMPLATES,
    VARIANTS,
    LANGUAGE,
    SAMPLES,
    DRAWN,
    EXTRA_BODY,
    Section(
        "Ranking",
        (
            flag("rank", "ask nothing; rank by the answers that are stored"),
            TEMPLATE_VERSION,
            SAMPLING,
            *SERVED,
            READ_BY,
            WITHOUT_RULINGS,
            FORMULA.but(help="under weaker tests", choices=("signed", "tacl", "v1")),
        ),
    ),
    DTYPE.but(help="as for run; with --rank only where a model has several", choices=DTYPES),
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
    from workbench.audits.consistency.pilot import scale_collapse
    from workbench.audits.consistency.pilot_tables import answer_scales, template_ranks
    from workbench.cli.figures import put_out

    instrument = _instrument(store, options)
    tables = (template_ranks(()), answer_scales(scale_collapse(instrument)))
    about = {"model": None, "instrument": instrument.name, "job": None}
    next_ = f"No model has answered {instrument.name} yet. Ask one: workbench pilot {options.store} --model MODEL"
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
        say(plan.describe())
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
    say(f"Job {job_id} runs. Follow it: workbench jobs {options.store} follow {job_id}")
    say(f"Then: workbench pilot {options.store} {again}")
    return 0


def _design(store: Store, options: Namespace) -> Design:
    """Return the design of a run, on the statements of the pilot."""
    from workbench.cli.running import requested_design, run

    if not options.model:
        raise UsageError("a pilot asks a model: give --model NAME, or --rank for the answers that are stored")
    refs = drawn(_instrument(store, options), options)
    as_run = run.given(**(vars(options) | {"audit": ONLY.default, "statements": None}))
    return replace(requested_design(store, as_run), statements=refs)


def _ranked(
    store: Store, options: Namespace, refs: tuple[str, ...], sampling: str | None, asked: Design | None = None
) -> PilotJudged:
    from workbench.audits.consistency.pilot_judged import PilotChoice, judge_pilot
    from workbench.evidence.run_choice import readings_of, templates_of

    templates = templates_of(options)
    if asked is not None:
        templates = replace(templates, families=(asked.family,), languages=(asked.language,))
    choice = PilotChoice(
        model=options.model,
        instrument=options.instrument,
        sampling=sampling,
        dtype=options.dtype,
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        readings=readings_of(options),
        statements=refs,
        templates=templates,
        formula=options.formula,
        seed=options.seed,
    )
    return judge_pilot(store, choice)


def _show(judged: PilotJudged, options: Namespace, job: int | None) -> int:
    from workbench.audits.consistency.pilot_tables import pilot_tables
    from workbench.cli.figures import put_out
    from workbench.evidence.answered_tables import as_json, header
    from workbench.evidence.runs import template_notes

    about = {
        "model": judged.run.model,
        "instrument": judged.run.instrument,
        "sampling": str(judged.run.sampling),
        "family": judged.run.family,
        "template_versions": judged.run.versions,
        "job": job,
        "statements": judged.statements,
        "formula": judged.choice.formula,
        "answered": as_json([judged.answered]),
    }
    tables = tuple(pilot_tables(judged.ranks, judged.templates, judged.types, judged.weaker, judged.scales))
    above, title = header([judged.answered]), f"{judged.run.instrument}: pilot of {judged.run.model}"
    said = [*above, f"{judged.run.label}: {len(judged.statements)} statements", *template_notes([judged.run])]
    put_out(options, tables, about, title=title, told=said, header=above)
    return 0
