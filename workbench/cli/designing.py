"""The command about designs: what a planned run can show, and what a claim needs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from workbench.audits.reliability import AUDIT
from workbench.audits.reliability.options import DEFAULTS, JUDGING, ONLY, SEEDED, ReliabilityOptions
from workbench.cli.figures import FIGURES
from workbench.cli.verbs import Namespace, Section, verb
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.options.option import Option, Type
from workbench.options.shared import OF_RUN, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.audits.reliability.planning import Known
    from workbench.stats.design_precision import Size

WORDINGS, TEMPLATES, STATEMENTS = 6, 6, 100
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
            Option("templates", "their number", Type.WHOLE, none=f"{AS_RUN}, or {TEMPLATES}", least=1, most=100),
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
    from workbench.audits.reliability.planning import Claim, Planner
    from workbench.audits.reliability.planning_tables import Planned, tables
    from workbench.cli.figures import put_out
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
    return known, Size(STATEMENTS, WORDINGS, TEMPLATES, DEFAULTS.samples), "the given components"


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
