"""Which run a command means, its verdicts, and what stands above them: shared by the commands that judge."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.audits.label_forms import FIRST, RULES
from workbench.cli.output import listed, say
from workbench.domain.counting import plural
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.run_rows import Failures, Run
    from stores.store import Store
    from workbench.audits.exact import ExactOptions, ExactReport
    from workbench.audits.reliability import Options, Report
    from workbench.domain.prompts import TemplateChoice
    from workbench.domain.readings import ReaderCard


def options_of(options: Namespace) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.reliability import TESTS, Options

    return Options(
        rule=options.rule,
        low=options.low,
        high=options.high,
        minimum=options.minimum,
        tests=tuple(t.strip() for t in options.tests.split(",") if t.strip()) if options.tests else TESTS,
        seed=options.seed,
        judge_void=options.judge_void,
    )


def exact_options(options: Namespace) -> ExactOptions:
    """Return what only a run without samples needs from the command line's."""
    from workbench.audits.exact import LEAST_NAMED, ExactOptions
    from workbench.domain.designs import PUBLISHED_SAMPLES

    return ExactOptions(
        named=LEAST_NAMED if options.named is None else options.named,
        samples=PUBLISHED_SAMPLES if options.beside is None else options.beside,
        readable="named" if options.with_unreadable else "given",
    )


def templates_of(options: Namespace) -> TemplateChoice:
    """Return under which templates answers count. Raises UsageError for a version that is no number."""
    from workbench.domain.prompts import TemplateChoice

    versions = []
    for text in listed(options.template_version):
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal():
            raise UsageError(f"found --template-version {text!r}; give a template and its version, as personal-1=2")
        versions.append((name, int(number)))
    return TemplateChoice(families=listed(options.family), versions=tuple(versions))


def say_templates(runs: Iterable[Run]) -> None:
    """Say which families and versions of templates are left out, and how to choose them."""
    from workbench.pipeline.judging import template_notes

    for note in template_notes(runs):
        say(f"note: {note}")


def judged(store: Store, options: Namespace) -> tuple[Run, Report, ReaderCard]:
    """Return the run that the command line means, its verdicts and who read it."""
    from workbench import pipeline
    from workbench.domain.responses import EXACT
    from workbench.pipeline.reading import LABEL_WORDS

    run = pipeline.find_run(
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
        raise UsageError(f"{run.label} has probabilities and no answers that are read; leave out --reader")
    reader = options.reader or LABEL_WORDS
    found = pipeline.verdicts(store, run, options_of(options), reader=reader, exact=exact_options(options))
    return run, found.report, found.card


def exact_report(report: Report) -> ExactReport | None:
    """Return the report as one on probabilities; None where answers were sampled."""
    from workbench.audits.exact import ExactReport

    return report if isinstance(report, ExactReport) else None


def chosen_options(report: Report, card: ReaderCard) -> dict[str, Any]:
    """Return the choices behind a report as plain values; `minimum` is null where it is two thirds of plans that differ
    from prompt to prompt.
    """
    exact = exact_report(report)
    of_exact: dict[str, Any] = {}
    if exact is not None:
        mass = exact.mass
        rule = {"version": mass.version, "rule": RULES[mass.version], "labels": dict(mass.spellings)}
        of_exact = {"exact": asdict(exact.exact), "spellings": rule}
    fewest, most = report.counts.sizes
    same = report.options.minimum is not None or fewest == most
    needs = {"minimum": report.needed if same else None, "planned": [fewest, most]}
    return asdict(report.options) | needs | {"reader": asdict(card)} | of_exact


def about(run: Run) -> dict[str, Any]:
    """Return a run as plain values; a prompt that is scored is no response."""
    from workbench.domain.responses import EXACT

    plain = {key: value for key, value in asdict(run).items() if key not in ("model_id", "sampling_id")}
    return plain if run.sampling.mode != EXACT else plain | {"responses": 0, "scored": run.responses}


def missing(failures: Failures) -> dict[str, Any]:
    """Return what was asked and is not among the verdicts as plain values."""
    return {"failed_statements": failures.statements, "failed_because": failures.reason}


def void_tests(report: Report) -> dict[str, int]:
    """Return for each test how often it is void: pairs of statement and template, of the test `template` statements."""
    return {row.test: sum(row.void) for row in report.summary() if sum(row.void)}


def head(run: Run, report: Report, card: ReaderCard, failures: Failures) -> None:
    """Say what is judged, by which rules, and what is missing because it failed."""
    rule, options = report.options.rule, report.options
    say(f"{run.label} · revision {run.revision[:12]} · {run.computed}")
    say_templates([run])
    exact = exact_report(report)
    if exact is not None:
        _exact_head(run, exact)
        _void(report)
        _missing(run, failures)
        return
    say(
        f"{len(report.counts.statements)} statements, {run.answered:,} prompts answered, {run.responses:,} answers; "
        f"reader {card.name} {card.version[:8]}; rule {rule} ({options.low:g}, {options.high:g}), "
        f"{report.needed_words} readable needed"
    )
    unreadable = int(report.counts.unreadable.sum())
    total = int(report.counts.total.sum())
    if total:
        say(f"unreadable: {unreadable:,} of {total:,} answers ({unreadable / total:.1%})")
        if cut := report.counts.cut_off:
            more = "; ask again with more tokens (--max-new-tokens)"
            say(f"cut off in thought: {cut:,} of {total:,} answers ({cut / total:.1%}), which say nothing{more}")
    _void(report)
    _missing(run, failures)


def _void(report: Report) -> None:
    """Say how many tests cannot fail, and what becomes of them."""
    if found := void_tests(report):
        counted = ", ".join(f"{test} {n:,}" for test, n in found.items())
        say(
            f"void: {counted} (statements × templates): one prompt is compared with itself, so the test cannot fail; "
            "it is in no denominator. workbench lint names the texts; --judge-void judges them as published"
        )


def _missing(run: Run, failures: Failures) -> None:
    """Say what was asked and is not among the verdicts, and why."""
    if failures.probes:
        whole = len(failures.statements)
        left_out = f", with them all of {plural(whole, 'statement')}" if whole else ""
        reason = f": {failures.reason}" if failures.reason else ""
        failed = run.prompts - run.answered
        say(f"failed: {failed:,} of {run.prompts:,} prompts asked{left_out}{reason}")


def _exact_head(run: Run, report: ExactReport) -> None:
    options, exact = report.options, report.exact
    say(
        f"{len(report.counts.statements)} statements, {run.responses:,} prompts scored; clear outside "
        f"({options.low:g}, {options.high:g}), labels need {exact.named:.0%} of the probability"
    )
    reading = (
        "each naming a label"
        if exact.readable == "given"
        else f"unreadable as often as no label begins them, {report.needed_words} readable needed"
    )
    say(f"beside it what {exact.samples} samples a prompt would say by rule {options.rule}: {reading}")
    scored = report.mass.scored
    if scored.any():
        few = int((scored & report.counts.exists[None, :, :, None] & ~report.enough).sum())
        mean = report.mass.named[scored].mean()
        say(f"labels have {mean:.1%} of the probability on average; too little: {few:,} prompts")
    mass = report.mass
    number = max((len(spelled) for spelled in mass.spellings.values()), default=0)
    say(f"spellings {mass.version}, up to {number} a label: {RULES[mass.version]}")
    if mass.version == FIRST:
        say("An earlier workbench computed these; the same `run --exact` computes them with today's spellings.")
