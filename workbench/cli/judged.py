"""Which run a command means, and its verdicts: shared by the commands that judge."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.output import listed
from workbench.cli.verbs import Namespace
from workbench.errors import UsageError
from workbench.options.option import Option

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.reliability.exact import ExactOptions
    from workbench.audits.reliability.judge import Options
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.domain.prompts import TemplateChoice


RELIABILITY = Option("audit", default="reliability", choices=("reliability",))
"of verbs that judge one audit"


def options_of(options: Namespace) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.reliability.judge import TESTS, Options

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
    from workbench.audits.reliability.exact import LEAST_NAMED, ExactOptions
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


def judged(store: Store, options: Namespace) -> ReliabilityJudged:
    """Return the run that the command line means, with its verdicts."""
    from workbench.audits.reliability.judged import judge_reliability
    from workbench.domain.responses import EXACT
    from workbench.evidence.rule_reading import LABEL_WORDS
    from workbench.evidence.runs import find_run

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
        raise UsageError(f"{run.label} has probabilities and no answers that are read; leave out --reader")
    reader = options.reader or LABEL_WORDS
    return judge_reliability(store, run, options_of(options), reader=reader, exact=exact_options(options))


def about(run: Run) -> dict[str, Any]:
    """Return a run as plain values; a prompt that is scored is no response."""
    from workbench.domain.responses import EXACT

    plain = {key: value for key, value in asdict(run).items() if key not in ("model_id", "sampling_id")}
    return plain if run.sampling.mode != EXACT else plain | {"responses": 0, "scored": run.responses}


def told_about(judged: ReliabilityJudged) -> dict[str, Any]:
    """Return a run, with what was asked and is not among its verdicts, and the choices behind them."""
    failures = judged.failures
    missing = {"failed_statements": failures.statements, "failed_because": failures.reason}
    run = about(judged.run) | missing | {"cut_off": judged.report.counts.cut_off}
    return {"run": run, "options": judged.chosen()}
