"""A run of the reliability audit with all that its figures need, and what these rest on in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from stores.core.store import Store, at_once
from stores.runs.run_rows import Failures, Run
from workbench.audits.codes import VOID
from workbench.audits.reliability.beside import Reliability
from workbench.audits.reliability.counts import Counts
from workbench.audits.reliability.exact import ExactReport
from workbench.audits.reliability.judge import Report
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.persona_tables import ByPersona, by_persona
from workbench.audits.reliability.settled import optimum
from workbench.audits.reliability.verdicts import Verdicts, run_verdicts
from workbench.domain.instruments import Instrument
from workbench.domain.names import in_words, plural
from workbench.domain.readings import USUAL, ReaderCard, Readings
from workbench.evidence.answered import Answered, Part, answered, as_json, foreign_part, header, refused_part
from workbench.evidence.answered import told as refused
from workbench.evidence.refusals import Refusals, refusals_of
from workbench.evidence.rulings import Told
from workbench.evidence.runs import about, template_notes
from workbench.readers.verbalizers import FIRST, RULES


@dataclass(frozen=True, eq=False)
class ReliabilityJudged:
    """A judged run."""

    run: Run
    verdicts: Verdicts
    instrument: Instrument
    "as it was asked"
    failures: Failures
    changed: Mapping[str, tuple[int, int]]
    "statements that were changed since: ref -> (version that was asked, current version)"
    refusals: Refusals
    answered: Answered
    "how much of the plan was answered, and what came of it"
    by_persona: ByPersona | None = None
    "the run beside those with other personas; None: the model was asked with none"

    def by(self, options: ReliabilityOptions) -> ReliabilityJudged:
        """Return the run judged by other options; nothing is read."""
        if options.judging_as(self.report.options):
            return self
        personas = self.by_persona and self.by_persona.again(options)
        return replace(self, verdicts=self.verdicts.again(options), by_persona=personas)

    @property
    def report(self) -> Report:
        """The verdicts, an `ExactReport` where nothing was sampled."""
        return self.verdicts.report

    @property
    def reader(self) -> int:
        """The rowid of the reader; 0 where there was nothing to read."""
        return self.verdicts.reader

    @property
    def card(self) -> ReaderCard:
        return self.verdicts.card

    @property
    def rulings(self) -> Told:
        """What rulings change."""
        return self.verdicts.told

    @property
    def header(self) -> tuple[str, ...]:
        """What one must see before any figure."""
        return header([self.answered])

    @property
    def exact(self) -> ExactReport | None:
        """The report where label probabilities were computed; None where answers were sampled."""
        return self.report if isinstance(self.report, ExactReport) else None

    def figures(self, *, as_people: bool = False) -> Reliability:
        """Return what tables are made of. `as_people`: kappas over the statements that people answered alone."""
        return Reliability(self.report, self.instrument, self.run.language, as_people, self.changed)

    def about(self) -> dict[str, Any]:
        """Return what the figures rest on, for programs: `needed` is null where a prompt needs two thirds of plans that
        differ from prompt to prompt.
        """
        failures, counts = self.failures, self.report.counts
        missing = {"failed_statements": failures.statements, "failed_because": failures.reason}
        same = self.report.options.minimum is not None or counts.sizes[0] == counts.sizes[1]
        found = {
            "run": about(self.run) | missing | {"cut_off": counts.cut_off},
            "reader": asdict(self.card),
            "planned": list(counts.sizes),
            "needed": self.report.needed if same else None,
            "answered": as_json([self.answered]),
            "methods": self.methods(),
        }
        if self.exact is not None:
            mass = self.exact.mass
            rule = {"version": mass.version, "rule": RULES[mass.version], "labels": dict(mass.spellings)}
            found["spellings"] = rule
        return found

    def methods(self) -> str:
        """Say in one paragraph how the verdicts came about, with every choice."""
        from workbench.audits.reliability.methods import methods

        return methods(self.run, self.report, self.card, self.answered, self.rulings)

    def missing(self) -> str:
        """Say how many prompts failed, and why; empty where none did."""
        failures, run = self.failures, self.run
        if not failures.probes:
            return ""
        whole = len(failures.statements)
        left_out = f", including every prompt of {plural(whole, 'statement')}" if whole else ""
        reason = f": {failures.reason}" if failures.reason else ""
        return f"{run.prompts - run.answered:,} of {run.prompts:,} prompts failed{left_out}{reason}"

    def told(self) -> tuple[str, ...]:
        """Say what is judged, by which rules, and what is missing because it failed."""
        run, exact = self.run, self.exact
        return (
            *self.header,
            f"{run.label} · revision {run.revision[:12]} · {run.computed}",
            *(f"note: {note}" for note in template_notes([run])),
            *(self._sampled() if exact is None else _computed(run, exact)),
            *refused([self.refusals]),
            *self.rulings.sentences(),
            *_void(self.report),
            *filter(None, (self.missing(),)),
        )

    def _sampled(self) -> Iterator[str]:
        run, report, card = self.run, self.report, self.card
        options, counts = report.options, report.counts
        yield (
            f"{len(counts.statements)} statements, {run.answered:,} prompts answered, {run.responses:,} answers; "
            f"reader {card.name} {card.version[:8]}; rule as {options.rule} ({options.low:g}, {options.high:g}), "
            f"{report.needed_words} readable needed"
        )
        if cut := counts.cut_off:
            yield f"cut off in thought: {cut:,} answers; ask again with more tokens (--max-new-tokens)"


def came_of(found: Answered, counts: Counts | None, refusals: Refusals, name: str = "") -> Answered:
    """Return how much was answered with what the reader, and the rule of refusals, made of it. `counts`: as given; None
    where nothing was sampled.
    """
    if counts is None:
        return found.with_parts(name)
    total = int(counts.total.sum())
    if found.spared is not None:
        found = replace(found, optimum=optimum(counts, found.spared.rules))
    return found.with_parts(
        name,
        unreadable=Part(int(counts.unreadable.sum()), total),
        refused=refused_part(refusals),
        foreign=foreign_part(refusals),
        truncated=Part(counts.cut_off, total),
    )


@at_once
def judge_reliability(
    store: Store, run: Run, options: ReliabilityOptions | None = None, *, readings: Readings = USUAL
) -> ReliabilityJudged:
    """Read and judge a run. Raises UsageError where the options do not fit it, or nothing of it can be judged."""
    found, refusals = run_verdicts(store, run, options, readings=readings), refusals_of(store, run)
    return ReliabilityJudged(
        run,
        found,
        store.runs.instrument(run),
        store.runs.failures(run),
        store.runs.outdated(run),
        refusals,
        came_of(answered(store, run), found.given, refusals),
        by_persona(store, run, options, readings=readings),
    )


def _computed(run: Run, report: ExactReport) -> Iterator[str]:
    options, mass = report.options, report.mass
    yield (
        f"{len(report.counts.statements)} statements, {run.responses:,} prompts scored; clear outside "
        f"({options.low:g}, {options.high:g}), labels need {options.named:.0%} of the probability"
    )
    reading = (
        f"unreadable as often as no label begins them, {report.needed_words} readable needed"
        if options.with_unreadable
        else "each naming a label"
    )
    beside = f"the expected verdict of {options.beside} samples per prompt by the rule as {options.rule}"
    yield f"next to it {beside}: {reading}"
    scored = mass.scored
    if scored.any():
        few = int((scored & report.counts.exists[None, :, :, None] & ~report.enough).sum())
        mean = mass.named[scored].mean()
        yield f"labels have {mean:.1%} of the probability on average; too little: {few:,} prompts"
    number = max((len(spelled) for spelled in mass.spellings.values()), default=0)
    yield f"spellings {mass.version}, up to {number} a label: {RULES[mass.version]}"
    if mass.version == FIRST:
        yield "An earlier version of workbench computed these; repeating `run --exact` applies the current spellings."


def _void(report: Report) -> Iterator[str]:
    """Say how many tests cannot fail, and what becomes of them."""
    found = {row.test: sum(row.void) for row in report.summary() if sum(row.void)}
    if found:
        counted = ", ".join(f"{in_words(test)} {n:,}" for test, n in found.items())
        yield (
            f"void: {counted} (statements × templates): the statement has no such wording, or the test compares a "
            "prompt with itself, so it cannot fail; it is in no denominator. workbench lint names the texts; "
            "--judge-void judges them as published"
        )
    tests = report.options.tests
    everywhere = [test for test in tests if (report.verdicts(test) == VOID).all()]
    if everywhere and len(everywhere) < len(tests):
        rest = ", ".join(in_words(test) for test in tests if test not in everywhere)
        yield f"ALL combines {rest} alone: {', '.join(map(in_words, everywhere))} is void for every statement"
