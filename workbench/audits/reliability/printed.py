"""What `show` prints of the reliability audit: a verdict per statement and test, and how many pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import SERVED, Run
from workbench.audits.audit import Given, Medium, Printed
from workbench.audits.comparison.printed import printed as printed_side_by_side
from workbench.audits.comparison.values import Compared, meant
from workbench.audits.reliability import tables
from workbench.audits.reliability.beside import Reliability
from workbench.audits.reliability.exact import LEAST_NAMED, ExactOptions
from workbench.audits.reliability.judge import TESTS, Options
from workbench.audits.reliability.judged import ReliabilityJudged, judge_reliability
from workbench.audits.reliability.passing import passing
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.names import parted
from workbench.domain.responses import EXACT, UNKNOWN
from workbench.errors import UsageError
from workbench.evidence.runs import about, chosen_of, find_run, matching, readings_of, split, templates_of
from workbench.figures.table import AnyTable
from workbench.formats.personas import EVERY


def verdicts(store: Store, options: Given, medium: Medium) -> Printed:
    """Return the verdicts of the run that is meant, or runs side by side."""
    if options.compare:
        return printed_side_by_side(compared_runs(store, options), medium)
    found = judged(store, options)
    made = tuple(_for_programs(found, options) if medium.data else _for_people(found, options))
    return Printed(made, told_about(found), f"{found.run.label}: verdicts", found.told(), header=found.header)


def _for_people(found: ReliabilityJudged, options: Given) -> Iterator[AnyTable]:
    of = found.figures()
    yield _verdicts(of, options)
    yield passing(of, baseline=options.baseline)
    if found.by_persona is not None:
        yield from (entry.make() for entry in found.by_persona.entries() if entry.name != "verdicts_by_persona")
    if options.refusals:
        yield from (entry.make() for entry in found.refused())


def _for_programs(found: ReliabilityJudged, options: Given) -> Iterator[AnyTable]:
    """Yield every table of the book; of the verdicts those alone that `--template` and `--failed` leave."""
    if not (options.template or options.failed):
        yield from found.book().every()
        return
    yield _verdicts(found.figures(), options)
    yield from (table for table in found.book().every() if table.name != "verdicts")


def _verdicts(of: Reliability, options: Given) -> AnyTable:
    if options.template:
        of.report.counts.template(options.template)
    return tables.verdicts(of, options.template or "", options.failed or "")


def compared_runs(store: Store, options: Given) -> Compared:
    """Return the comparison of the runs that the command line names, of whatever family and language."""
    from workbench.audits.reliability.compared import compared, named_runs

    templates = templates_of(options)
    versions = dict(templates.versions)
    every = store.runs.list(options.audit, options.instrument, options.model, versions=versions, personas=True)
    if not templates.families:
        templates = replace(templates, families=tuple(dict.fromkeys(run.family for run in every)))
    if not templates.personas:
        templates = replace(templates, personas=(EVERY,))
    there = matching(chosen_of(every, templates), options.sampling, options.dtype, options.snapshot)
    runs = named_runs([run for run in split(store, there, options.fingerprint) if run.responses])
    names = meant(options.compare, {name: run.model for name, run in runs.items()})
    return compared(
        store,
        {name: runs[name] for name in names},
        options_of(options),
        readings=readings_of(options),
        exact=exact_options(options),
    )


def judged(store: Store, options: Given) -> ReliabilityJudged:
    """Return the run that the command line means, with its verdicts."""
    run = find_run(
        store,
        options.audit,
        options.model,
        options.instrument,
        options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
    )
    if run.sampling.mode == EXACT and options.reader is not None:
        raise UsageError(f"{run.label} has probabilities, not answers to read; leave out --reader")
    exact = exact_options(options)
    return judge_reliability(store, run, options_of(options), readings=readings_of(options), exact=exact)


def naming(run: Run) -> dict[str, str | None]:
    """Return the options that mean this run alone."""
    return {
        "model": named if parted(named := f"{run.model}@{run.revision}") == (run.model, run.revision) else run.model,
        "instrument": run.instrument,
        "sampling": str(run.sampling),
        "dtype": run.dtype or None,
        "snapshot": (run.snapshot or UNKNOWN) if run.backend == SERVED else None,
        "language": run.language,
        "family": run.family,
        **({"persona": run.persona_name} if run.persona else {}),
    }


def options_of(options: Given) -> Options:
    """Return the audit's options from the command line's."""
    return Options(
        rule=options.rule,
        low=options.low,
        high=options.high,
        minimum=options.minimum,
        tests=tuple(t.strip() for t in options.tests.split(",") if t.strip()) if options.tests else TESTS,
        seed=options.seed,
        judge_void=options.judge_void,
    )


def exact_options(options: Given) -> ExactOptions:
    """Return what only a run without samples needs from the command line's."""
    return ExactOptions(
        named=LEAST_NAMED if options.named is None else options.named,
        samples=PUBLISHED_SAMPLES if options.beside is None else options.beside,
        readable="named" if options.with_unreadable else "given",
    )


def told_about(judged: ReliabilityJudged) -> dict[str, Any]:
    """Return a run, with what was asked and is not among its verdicts, and the choices behind them."""
    failures = judged.failures
    missing = {"failed_statements": failures.statements, "failed_because": failures.reason}
    run = about(judged.run) | missing | {"cut_off": judged.report.counts.cut_off}
    return {"run": run, **judged.about()}
