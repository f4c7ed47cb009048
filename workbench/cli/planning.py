"""Commands before a run: a pilot of templates, what a design can show, and a plan that is frozen."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.consistency.options import FORMULAS, ConsistencyOptions
from workbench.audits.reliability import AUDIT
from workbench.audits.reliability.options import DEFAULTS, JUDGING, ONLY, READ_BY, SEEDED, ReliabilityOptions
from workbench.cli.output import FIGURES, as_data, print_json, put_out, say, say_wrapped
from workbench.cli.running import ASKED, DESIGN, requested_design
from workbench.cli.verbs import Namespace, Section, verb
from workbench.domain.designs import CORRECTIONS, SHOWN, FrozenPlan
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.inference.base import DTYPES
from workbench.options.option import Option, Type, flag
from workbench.options.shared import (
    ASKED_WITH,
    COMPARE,
    DRAWN,
    DTYPE,
    FAMILY,
    INSTRUMENT,
    LANGUAGE,
    MODEL,
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
    from workbench.audits.consistency.pilot import PilotJudged
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.audits.reliability.planning import Known
    from workbench.domain.designs import Design
    from workbench.domain.instruments import Instrument
    from workbench.stats.design_precision import Size

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
    from workbench.cli.output import put_out

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
    from workbench.cli.output import check_agreed
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
    from workbench.cli.output import put_out
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


WORDINGS, FORMS, STATEMENTS = 6, 6, 100
"of a design where neither a run nor an option says: wordings and templates as published"
AS_RUN = "as in the run"


@verb(
    STORE,
    ONLY,
    Option(
        "claim",
        "what the run should show: 'kappa >= .7', 'reliable >= .5', '|bias| >= .2', 'g >= .8'",
        many=True,
        metavar="CLAIM",
    ),
    Section(
        "The planned design",
        (
            Option("statements", "their number", Type.WHOLE, none=f"{AS_RUN}, or {STATEMENTS}", least=2, most=10_000),
            Option(
                "wordings", "number for each statement", Type.WHOLE, none=f"{AS_RUN}, or {WORDINGS}", least=2, most=100
            ),
            Option("templates", "their number", Type.WHOLE, none=f"{AS_RUN}, or {FORMS}", least=1, most=100),
            Option(
                "samples", "answers a prompt", Type.WHOLE, none=f"{AS_RUN}, or {DEFAULTS.samples}", least=1, most=1000
            ),
        ),
    ),
    Section(
        "What is known about the model",
        (
            Option(
                "components",
                "variances of shares, instead of a run: statement=.05,wording=.01,template=.005",
                none="those of the run",
                metavar="NAME=V,…",
            ),
            Option("mean", "share of agreement", Type.NUMBER, none=f"{AS_RUN}, or 0.5", least=0, most=1),
            Option("readable", "share of the answers", Type.NUMBER, none=f"{AS_RUN}, or 1", above=0, most=1),
        ),
    ),
    OF_RUN,
    [one for one in JUDGING if one.name != SEEDED.name],
    SEEDED.of("the simulated runs"),
    FIGURES,
    about="Show what a planned design can claim, and how many statements, wordings, templates and samples a "
    "claim needs: a decision study from the variance components of a run (see `verdicts --table components`), or from "
    "components that you give.",
)
def design(options: Namespace) -> int:
    """Print or write what a planned design shows, costs and needs."""
    from stores.core.store import Store
    from workbench.audits.reliability.planning import Claim, Planned, Planner, tables
    from workbench.cli.output import put_out
    from workbench.evidence.runs import Which

    claims = [Claim.parse(text) for text in options.claim]
    rules = ReliabilityOptions.of(options)
    with Store.open(options.store) as store:
        run = None
        if options.components is None:
            result = AUDIT.judge(store, Which.of(options), rules, lambda: nullcontext(store))
            run = result.judged
        rate = _rate(store, run.run.model if run is not None else options.model)
    known, usual, source = _from_run(run) if run is not None else _given(options)
    known = _changed(known, options)
    size = _size(options, usual)
    rules.needed(size.samples)
    of = Planned(Planner(known, rules, options.seed), size, claims, rate)
    about: dict[str, Any] = {
        "source": source,
        "known": {"mean": known.mean, "readable": known.readable, "components": dict(known.components)},
        "claims": [str(claim) for claim in claims],
        "answers_a_second": rate,
        "seed": options.seed,
    }
    told = [f"Planned from {source}."]
    if not claims:
        told.append("--claim, such as --claim 'kappa >= .7', shows what a claim needs.")
    put_out(options, list(tables(of)), about, title="A planned design", told=told)
    return 0


def _from_run(run: ReliabilityJudged) -> tuple[Known, Size, str]:
    """Return what a run shows of its model, its own size, and its name. Raises UsageError where it shows too little."""
    from workbench.audits.reliability.planning import Known
    from workbench.stats.components import SAMPLING
    from workbench.stats.design_precision import Size

    parts = run.figures().parts[0].of
    if parts.statements < 2:
        raise UsageError(
            f"{run.run.label} has {plural(parts.statements, 'statement')} with enough readable answers, too few for "
            "components; ask more, or give --components statement=.05,wording=.01,…"
        )
    counts = run.report.counts
    answers = int(counts.total.sum())
    readable = 1.0 if run.exact is not None or not answers else float(counts.readable.sum() / answers)
    components = {name: value for name, value in parts.variances.items() if name != SAMPLING}
    samples = DEFAULTS.samples if run.exact is not None else counts.samples
    size = Size(parts.statements, max(2, round(parts.wordings)), max(1, parts.templates), samples)
    return Known(parts.mean, components, readable), size, run.run.label


def _given(options: Namespace) -> tuple[Known, Size, str]:
    from workbench.audits.reliability.planning import Known, read_components
    from workbench.stats.design_precision import Size

    known = Known(0.5, read_components(options.components))
    return known, Size(STATEMENTS, WORDINGS, FORMS, DEFAULTS.samples), "the given components"


def _changed(known: Known, options: Namespace) -> Known:
    """Return what is known with what options say otherwise. Raises UsageError where shares cannot vary so much."""
    from dataclasses import replace

    mean = known.mean if options.mean is None else options.mean
    total, most = sum(known.components.values()), mean * (1 - mean)
    if options.components is not None and total > most:
        raise UsageError(
            f"found components with a sum of {total:g}; with a mean of {mean:g} the variance is at most {most:.3g}"
        )
    return replace(known, mean=mean, readable=known.readable if options.readable is None else options.readable)


def _size(options: Namespace, usual: Size) -> Size:
    from workbench.stats.design_precision import Size

    named = {name: getattr(options, name) for name in ("statements", "wordings", "templates", "samples")}
    return Size(**{name: getattr(usual, name) if value is None else value for name, value in named.items()})


def _rate(store: Store, model: str | None) -> float | None:
    """Return the answers a second of the newest finished job that sampled the model for this audit; None: none."""
    for job in store.jobs.list():
        told = job.progress
        asked = job.spec.get("model") == model and job.spec.get("audit") == ONLY.default
        done = job.kind == "sample" and job.state == "done" and not job.exact
        if done and asked and told.get("answers") and told.get("seconds"):
            return float(told["answers"] / told["seconds"])
    return None


JUDGE = Option(
    "judge",
    "how answers will be judged: an option of the audit's figures, such as rule=coded; the other options' defaults are "
    "frozen, too",
    metavar="OPTION=VALUE",
    many=True,
)
AS_PLANNED = "Everything follows the plan."
CORRECTION = Option("correction", "of many tests, in the planned comparison", default="holm", choices=CORRECTIONS)


@verb(
    STORE,
    ASKED.but(many=True, help="model to ask; may be given again", none=""),
    DESIGN,
    JUDGE,
    COMPARE.but(help="runs or models to compare"),
    CORRECTION,
    Option("out", "write the frozen plan to this file", Type.PATH, metavar="PLAN.toml"),
    Option("check", "check what followed this plan, and what was decided later", Type.PATH, metavar="PLAN.toml"),
    FIGURES,
    about="Before the first answer, write what will be asked and how it will be judged, with a hash; or check whether "
    "a plan was followed.",
)
def plan(options: Namespace) -> int:
    """Freeze a plan, or check one. Exit code 1: something was done otherwise."""
    if (options.out is None) == (options.check is None):
        raise UsageError("give --out PLAN.toml to freeze a plan, or --check PLAN.toml to see whether one was followed")
    return _check(options) if options.check is not None else _freeze(options)


def _freeze(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.folder import expanded, put
    from workbench.formats.plans import plan_text
    from workbench.pipeline.plans import frozen, judging

    if not options.model:
        raise UsageError("found no model; give --model for each model to ask")
    judged = judging(registry.audit(options.audit), options.judge or ())
    with Store.open(options.store) as store:
        designs = [requested_design(store, Namespace(**{**vars(options), "model": model})) for model in options.model]
        made = frozen(store, designs, judged, options.compare or (), options.correction)
        text, path = plan_text(made), expanded(options.out)
        put({path.name: text}, path.parent, force=options.force, beside=True)
        store.plans.add(made.hash, text)
    if options.json:
        print_json({"plan": str(path), "hash": made.hash, **_about(made)})
        return 0
    _tell(made, path)
    return 0


def _about(made: FrozenPlan) -> dict[str, object]:
    return {"models": made.models, "audit": made.audit, "judged": made.judged, **made.made}


def _tell(made: FrozenPlan, path: Path) -> None:
    say(f"{path}  plan {made.hash[:SHOWN]} of {', '.join(made.models)}: {made.content['prompts'][0]:,} prompts each")
    before = int(made.made["answers_before"])
    if before:
        say(f"! {plural(before, 'answer')} {'is' if before == 1 else 'are'} stored already, and the plan records this.")
    say(f"Hash: {made.hash}")
    more = f" --model {made.models[0]}" if len(made.models) > 1 else ""
    say(f"Next: workbench run STORE --plan {path}{more}")


def _check(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.plans import read_plan
    from workbench.pipeline.plans import check

    found, _ = read_plan(options.check)
    with Store.open(options.store) as store:
        known = store.plans.get(found.hash)
        tables = list(check(store, found))
    when = f"frozen here {known.at[:16].replace('T', ' ')} UTC" if known else "not recorded in this store"
    told = [f"{found.named} of {', '.join(found.models)}: {when}."]
    if not tables:
        told.append("No answers by this plan yet.")
    off = any(row.followed is False for table in tables for row in table.rows)
    if not as_data(options):
        tables = [
            replace(one, rows=[row for row in one.rows if row.followed is False], empty=AS_PLANNED) for one in tables
        ]
    about = {"hash": found.hash, "known_since": known.at if known else None, **_about(found)}
    put_out(options, tables, about, title=found.named, told=told)
    return 1 if off else 0
