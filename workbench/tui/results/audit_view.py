"""What the audit screens show, as values: a judged run, its lines, and what is filtered. Pure, but for `load`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.audits.reliability import AUDIT
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import ReaderCard
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.domain.verdicts import Estimate, Verdict

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Failures, Run
    from workbench.audits.reliability.exact import ExactReport, ExactRow
    from workbench.audits.reliability.expected import Readable
    from workbench.audits.reliability.judge import Options, Report
    from workbench.audits.reliability.rows import ItemRow, VariantRow
    from workbench.stats.arrays import FloatArray

WITHIN = ("sampling", "paraphrase", "negation", "opposite", "label_order")
TEMPLATE, ALL = "template", "all"
COLUMNS = (*WITHIN, TEMPLATE, ALL)
"every test, as the table shows them"
ANY, INSUFFICIENT, VOID = "any", "insufficient", "void"
FAILED = ("", ANY, *COLUMNS, INSUFFICIENT, VOID)
"what `x` goes through: everything, failed any test, failed this test, insufficient for any, void for any"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose about reading and judging."""

    reader: str = "label-words"
    rule: str = "printed"
    minimum: int | None = None
    "readable answers that a prompt needs; None: two thirds of those planned for it"
    tests: tuple[str, ...] = WITHIN
    "which tests `all` takes together"
    judge_void: bool = False
    "whether tests that cannot fail are judged like the others, as published"
    readable: Readable = "given"
    "of an exact run, what the samples beside are: all readable, or as often as the model names a label"

    templates: TemplateChoice = LATEST
    "under which templates answers count"

    def options(self) -> Options:
        """Return the audit's options. Raises UsageError where they make no sense."""
        from workbench.audits.reliability.judge import Options

        return Options(rule=self.rule, minimum=self.minimum, tests=self.tests, judge_void=self.judge_void)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test of one statement."""

    verdict: Verdict
    passed: int | None = None
    "templates under which it is passed; None where that says nothing"
    templates: int = 0
    "templates under which it can fail"
    void: bool = False
    "whether there is a template under which it cannot"


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One row of the audit table."""

    ref: str
    text: str
    country: str | None
    issues: tuple[tuple[str, int], ...]
    outcomes: Mapping[str, Outcome]
    kappa: Estimate
    sampled: float | None = None
    "probability that samples would pass `all`; None where there are samples"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which statements are shown, and under which template they are judged."""

    failed: str = ""
    issue: str = ""
    country: str = ""
    template: str = ""
    "empty: all templates together"
    find: str = ""

    @property
    def narrows(self) -> bool:
        return bool(self.failed or self.issue or self.country or self.find)

    def admits(self, line: ItemLine) -> bool:
        if self.issue and self.issue not in {issue for issue, _ in line.issues}:
            return False
        if self.country and line.country != self.country:
            return False
        if self.find and self.find.casefold() not in f"{line.ref} {line.text}".casefold():
            return False
        return fails(line, self.failed)


def fails(line: ItemLine, failed: str) -> bool:
    """Return whether a line belongs to what `failed` asks for."""
    if not failed:
        return True
    if failed in COLUMNS:
        return line.outcomes[failed].verdict is Verdict.FAIL
    if failed == VOID:
        return any(outcome.void for outcome in line.outcomes.values())
    wanted = Verdict.FAIL if failed == ANY else Verdict.INSUFFICIENT
    return any(outcome.verdict is wanted for outcome in line.outcomes.values())


@dataclass(frozen=True, slots=True)
class Judged:
    """One run with everything the audit screens say about it."""

    runs: tuple[Run, ...]
    run: Run
    settings: Settings
    reader: int
    "rowid of the reader"
    card: ReaderCard
    instrument: Instrument
    report: Report
    lines: Mapping[str, tuple[ItemLine, ...]]
    "by template; under the empty name over all templates"
    probes: Mapping[tuple[str, str, str, str], int] = field(default_factory=dict)
    "(statement, variant, template, order) -> rowid of the probe"
    outdated: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    "statements that were changed since: ref -> (version that was asked, current version)"
    failures: Failures | None = None
    "what was asked and has no answer"

    @property
    def exact(self) -> ExactReport | None:
        """The report where label probabilities were computed; None where answers were sampled."""
        from workbench.audits.reliability.exact import ExactReport

        return self.report if isinstance(self.report, ExactReport) else None

    @property
    def templates(self) -> tuple[str, ...]:
        return self.report.counts.templates

    @property
    def issues(self) -> tuple[str, ...]:
        used = {issue for line in self.lines[""] for issue, _ in line.issues}
        return tuple(issue for issue in self.instrument.issues if issue in used) or tuple(sorted(used))

    @property
    def has_void(self) -> bool:
        """Whether a test of a statement cannot fail."""
        return any(outcome.void for line in self.lines[""] for outcome in line.outcomes.values())

    @property
    def countries(self) -> tuple[str, ...]:
        return tuple(sorted({line.country for line in self.lines[""] if line.country}))

    @property
    def passing(self) -> int:
        return self.passing_under("")

    def passing_under(self, template: str) -> int:
        return sum(line.outcomes[ALL].verdict is Verdict.PASS for line in self.lines[template])

    def statement(self, ref: str) -> Statement:
        return next(s for s in self.instrument.statements if s.ref == ref)

    def wording(self, ref: str, variant: str) -> str:
        found = self.statement(ref).wording(VariantId.parse(variant), self.run.language)
        return found.text if found else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a statement has its verdict on a test under a template."""

    test: str
    verdict: Verdict
    sentence: str


def findings(judged: Judged, ref: str, template: str) -> tuple[Finding, ...]:
    """Return a sentence for every test that the statement does not pass under the template, void ones among them."""
    line = next(line for line in judged.lines[template] if line.ref == ref)
    return tuple(
        Finding(test, line.outcomes[test].verdict, judged.report.reason(ref, template, test))
        for test in (*WITHIN, TEMPLATE)
        if line.outcomes[test].verdict is not Verdict.PASS
    )


def shown_variants(judged: Judged, ref: str, template: str, *, every: bool) -> tuple[VariantRow, ...]:
    """Return the wordings in printed order and the original swapped: what the tests of one template look at.

    `every` adds the other swapped ones, which take part in the agreement per statement.
    """
    rows = judged.report.variants(ref, template)
    return tuple(row for row in rows if every or row.order == "printed" or row.variant == str(ORIGINAL))


def exact_variants(report: ExactReport, ref: str, template: str, *, every: bool) -> tuple[ExactRow, ...]:
    """Return the rows of `shown_variants` with their probabilities."""
    rows = report.exact_rows(ref, template)
    return tuple(row for row in rows if every or row.row.order == "printed" or row.row.variant == str(ORIGINAL))


def line_of(
    row: ItemRow,
    statement: Statement,
    language: str,
    passed: Mapping[str, int],
    tested: Mapping[str, int],
    templates: int,
    sampled: float | None = None,
) -> ItemLine:
    """Return the line of a statement; under how many of the templates it passes a test and is tested, empty for one."""
    wording = statement.wording(ORIGINAL, language) or (statement.wordings[0] if statement.wordings else None)
    return ItemLine(
        ref=row.statement,
        text=wording.text if wording else "",
        country=statement.country,
        issues=tuple(sorted((issue, label) for issue, label in statement.issues.items() if label)),
        outcomes={
            test: Outcome(
                row.verdict(test),
                passed.get(test),
                tested.get(test, templates),
                row.verdict(test) is Verdict.VOID or tested.get(test, templates) < templates,
            )
            for test in COLUMNS
        },
        kappa=row.kappa_paraphrase,
        sampled=sampled,
    )


def lines_of(report: Report, instrument: Instrument, language: str) -> dict[str, tuple[ItemLine, ...]]:
    """Return the table over all templates and under each."""
    from workbench.audits.codes import PASS, VOID

    statements = {s.ref: s for s in instrument.statements}
    templates = report.counts.templates
    found = {test: report.verdicts(test) for test in (*WITHIN, ALL)}
    tallies = {test: (codes == PASS).sum(axis=0) for test, codes in found.items()}
    possible = {test: (codes != VOID).sum(axis=0) for test, codes in found.items()}

    def table(template: str) -> Iterator[ItemLine]:
        for place, row in enumerate(report.items(template or None)):
            passed = {} if template else {test: int(tally[place]) for test, tally in tallies.items()}
            tested = {} if template else {test: int(tally[place]) for test, tally in possible.items()}
            sampled = None if (chances := _chances(report, template)) is None else float(chances[place])
            yield line_of(row, statements[row.statement], language, passed, tested, len(templates), sampled)

    return {template: tuple(table(template)) for template in ("", *templates)}


def _chances(report: Report, template: str) -> FloatArray | None:
    """Return the probability that samples of each statement would pass `all`; None where there are samples."""
    from workbench.audits.reliability.exact import ExactReport

    if not isinstance(report, ExactReport):
        return None
    if not template:
        return report.expected.over_templates(ALL)
    found: FloatArray = report.expected.of(ALL).passed[report.counts.template(template)]
    return found


def same_run(a: Run, b: Run) -> bool:
    """Return whether two runs are of the same model, sampling, instrument and family of templates, however many answers
    they have.
    """
    return (a.way, a.family) == (b.way, b.family)


def _same(store: Store, known: Judged, runs: tuple[Run, ...], run: Run, settings: Settings) -> bool:
    """Return whether a judgement still holds: the same answers, rules and statements."""
    if (known.runs, known.run, known.settings) != (runs, run, settings):
        return False
    return known.outdated == store.runs.outdated(run) and known.instrument == store.runs.instrument(run)


def chosen(runs: Sequence[Run], wanted: Run | None) -> Run:
    """Return the run that is wanted where it is still there, else the newest of which anything was answered."""
    newest = next((run for run in reversed(runs) if run.responses), runs[-1])
    return next((run for run in runs if wanted is not None and same_run(run, wanted)), newest)


def load(path: Path, wanted: Run | None, settings: Settings, *, known: Judged | None = None) -> Judged | None:
    """Read and judge a run of the store, the newest unless one is wanted; None where there are no answers.

    Returns `known` itself where nothing has changed. Raises WorkbenchError.
    """
    from stores.core.store import Store
    from workbench.audits.reliability.exact import ExactOptions
    from workbench.audits.reliability.verdicts import run_verdicts
    from workbench.evidence.runs import chosen_of

    options = settings.options()
    with Store.open(path) as store:
        every = store.runs.list(AUDIT.name, versions=dict(settings.templates.versions))
        if not every:
            return None
        runs = chosen_of(every, replace(settings.templates, families=tuple({run.family for run in every})))
        run = chosen(runs, wanted)
        if known is not None and _same(store, known, runs, run, settings):
            return known
        exact = ExactOptions(readable=settings.readable)
        found = run_verdicts(store, run, options, reader=settings.reader, exact=exact)
        instrument, outdated = store.runs.instrument(run), store.runs.outdated(run)
        failures = store.runs.failures(run)
        probes = {
            (ref, str(VariantId.parse(f"{kind}-{n}" if n else kind)), template, "swapped" if inverted else "printed"): p
            for ref, kind, n, template, inverted, p, _ in store.runs.cells(run)
        }
    return Judged(
        runs=runs,
        run=run,
        settings=settings,
        reader=found.reader,
        card=found.card,
        instrument=instrument,
        report=found.report,
        lines=lines_of(found.report, instrument, run.language),
        probes=probes,
        outdated=outdated,
        failures=failures,
    )
