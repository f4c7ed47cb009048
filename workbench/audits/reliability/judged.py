"""A judged run of the reliability audit, with its figures and the sentences on its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Failures, Run
from workbench.audits.codes import VOID
from workbench.audits.comparison.judge import Change, Compared, changes_from, common, item_rows
from workbench.audits.reliability.agreement import (
    AgreementRow,
    Bound,
    ComparedRefs,
    ComparisonSize,
    as_people,
    bound_of,
)
from workbench.audits.reliability.compared import KINDS, STANCE, compare_judged
from workbench.audits.reliability.components import METHODS, IssueDecomposition, cells, decomposed
from workbench.audits.reliability.counting import ALL, Counts, optimum, random_baseline
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.pooled import Pooled, pooled_verdicts
from workbench.audits.reliability.verdicts import PROBABILITIES, RunVerdicts, run_verdicts
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.instruments import Instrument
from workbench.domain.names import in_words, plural
from workbench.domain.prompts import NONE, Persona
from workbench.domain.readings import USUAL, ReaderCard, ReadingChoice
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UsageError
from workbench.evidence.answered import (
    OF_THOSE_DRAWN,
    AnswerCount,
    AnsweredPlan,
    answered_data,
    answered_header,
    answered_plan,
    foreign_part,
    refused_part,
)
from workbench.evidence.answered import refusal_sentences as refused
from workbench.evidence.methods import (
    asked_sentences,
    plan_sentences,
    reader_sentence,
    ruling_sentences,
)
from workbench.evidence.refusals import ModelRefusals, refusals_of
from workbench.evidence.rulings import RulingNotes
from workbench.evidence.runs import run_data, template_notes
from workbench.figures.book import Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table
from workbench.formats.personas import described
from workbench.readers.verbalizers import FIRST, RULES
from workbench.stats.components import PersonaComponents, persona_components
from workbench.stats.resampling import derive_rng


@dataclass(frozen=True, eq=False)
class VerdictFigures:
    """The report of one run, its statements, and its comparisons, all computed on first use."""

    report: ReliabilityReport
    instrument: Instrument
    "the instrument as it was asked"
    language: str
    as_people: bool = False
    "whether kappas are only over the statements that people answered"
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    "statements that were changed since the run: ref -> (version that was asked, current version)"

    @property
    def exact(self) -> ExactReport | None:
        """The report if label probabilities were computed, or None if answers were sampled."""
        return self.report if isinstance(self.report, ExactReport) else None

    @property
    def templates(self) -> tuple[str, ...]:
        return self.report.counts.templates

    @property
    def of_those_drawn(self) -> tuple[str, ...]:
        """The note under shares of answers if prompts were asked until settled, or nothing."""
        return () if self.report.counts.until_settled is None else (OF_THOSE_DRAWN,)

    @cached_property
    def coin(self) -> ReliabilityReport:
        """The report on fair coin flips, as many per prompt as the run has samples.

        They are judged like the answers (Ceron et al. 2024, section 6.1).
        """
        rng = derive_rng(self.report.options.seed, "random baseline")
        return judge(random_baseline(self.report.counts, rng), self.report.options)

    @cached_property
    def pooled(self) -> Pooled:
        """The pooled estimate of the statements that keep their stance.

        It does not depend on the number of answers, and takes seconds for many prompts.
        """
        return pooled_verdicts(self.report)

    @cached_property
    def people(self) -> tuple[Bound, ...]:
        """The upper bound from human answers, or nothing if nobody answered the instrument."""
        options = self.report.options
        return bound_of(self.instrument, options.seed, judge_void=options.judge_void)

    @property
    def respondents(self) -> int:
        """The number of people who answered the instrument."""
        return len({answer.respondent for answer in self.instrument.survey})

    @cached_property
    def _restricted(self) -> tuple[ComparedRefs | None, tuple[ComparisonSize, ...]]:
        """The statements that people answered, and their numbers, if kappas are over these."""
        return as_people(self.report, self.instrument.survey) if self.as_people else (None, ())

    @property
    def restricted(self) -> tuple[ComparisonSize, ...]:
        """The number of statements of each comparison, if kappas are over those of people.

        Raises UsageError.
        """
        return self._restricted[1]

    @cached_property
    def kappas(self) -> tuple[AgreementRow, ...]:
        """The κ of the run, over all statements or those of people."""
        return self.report.agreement(self._restricted[0])

    @cached_property
    def coin_means(self) -> tuple[AgreementRow, ...]:
        """The κ of the coin flips, without intervals."""
        from workbench.audits.reliability.agreement import agreement

        return agreement(self.coin, self._restricted[0], intervals=False)

    @cached_property
    def parts(self) -> tuple[IssueDecomposition, ...]:
        """The variance components of the shares of agreement: of all statements, then by issue."""
        return decomposed(self.report, self.statements)

    @cached_property
    def statements(self) -> Mapping[str, Statement]:
        """The statements of the instrument by ref."""
        return {statement.ref: statement for statement in self.instrument.statements}

    def text(self, ref: str, variant: str = "") -> str:
        """Return a wording, by default the original, or an empty string if there is none."""
        if (statement := self.statements.get(ref)) is None:
            return ""
        wording = statement.wording(
            VariantId.parse(variant) if variant else ORIGINAL, self.language
        )
        if wording is None and not variant:
            wording = next(iter(statement.wordings), None)
        return wording.text if wording else ""


def methods(
    run: Run, report: ReliabilityReport, card: ReaderCard, came: AnsweredPlan, rulings: RulingNotes
) -> str:
    """Return one paragraph with every choice behind the verdicts and the variance components."""
    return " ".join(
        [
            "Reliability was judged as by Ceron et al. (2024, section 5): a model answers a "
            "statement reliably if "
            "its stance does not depend on chance, wording or the order of the labels.",
            reliability_sentences(run.named, report),
            *evidence_sentences([(run.named, run)], [card], [came], rulings),
            METHODS,
        ]
    )


def evidence_sentences(
    runs: Iterable[tuple[str, Run]],
    cards: Iterable[ReaderCard],
    came: Iterable[AnsweredPlan],
    rulings: RulingNotes,
) -> Iterator[str]:
    """Yield sentences on the evidence behind the figures.

    They say how models were asked, who read the answers, what is missing of the plan, and what
    auditors did.
    """
    answered = list(came)
    yield from asked_sentences(runs, answered)
    if sentence := reader_sentence(card for card in cards if card.name != PROBABILITIES):
        yield sentence
    yield from plan_sentences(answered)
    yield from ruling_sentences(rulings)


def reliability_sentences(name: str, report: ReliabilityReport) -> str:
    """Return a sentence on what makes a statement reliable for one model, and how many are."""
    options, counts = report.options, report.counts
    passed = [int(number) for number in (report.verdicts("all") == 1).sum(axis=1)]
    rule = (
        f"the 95 % interval of the share of agreement leaves out {options.low:g} and "
        f"{options.high:g}"
        if options.rule == "printed"
        else f"the 95 % interval of the share of agreement leaves out {options.high:g}, as in "
        "the released code"
    )
    if isinstance(report, ExactReport):
        return (
            f"Of {name} the probabilities of the two labels were computed for "
            f"{len(counts.statements)} statements under "
            f"{_count_of(len(counts.templates), 'template')}; a prompt leans clearly if the "
            "share of "
            f"agreement among them lies outside {options.low:g} and {options.high:g}, with at "
            f"least {report.options.named:g} of the probability on the labels; a statement is "
            "reliable under a template if it passes "
            f"{', '.join(test.replace('_', ' ') for test in options.tests)}: {_range(passed)} of "
            f"them.{_void(report)}"
        )
    return (
        f"{name} was asked {len(counts.statements)} statements under "
        ""
        f"{_count_of(len(counts.templates), 'template')}, with {_planned(counts.sizes)} answers "
        "per "
        f"prompt planned; a prompt leans clearly if {rule}, with at least {report.required_text} "
        "answers readable; a statement is reliable under a template if it passes "
        f"{', '.join(test.replace('_', ' ') for test in options.tests)}: {_range(passed)} of "
        f"them.{_void(report)}"
    )


def _void(report: ReliabilityReport) -> str:
    """Return a sentence on the number of void tests, or on their being judged, or ""."""
    if report.options.judge_void:
        return " Tests that cannot fail were judged like the others, as published."
    n_void = sum(sum(row.void) for row in report.summary() if row.test in report.options.tests)
    if not n_void:
        return ""
    return (
        f" {_count_of(n_void, 'test')} of a statement under a template "
        f"{'is' if n_void == 1 else 'are'} left out, because "
        "there is nothing to compare, or a prompt would be compared with itself."
    )


def _planned(sizes: tuple[int, int]) -> str:
    """Return the number of answers planned per prompt, or its range, as text."""
    fewest, most = sizes
    return str(most) if fewest == most else f"{fewest} to {most}"


def _count_of(n: int, noun: str) -> str:
    """Return a count with its noun, in the singular or the plural."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _range(numbers: list[int]) -> str:
    """Return the range of numbers over templates as text."""
    if not numbers:
        return "none"
    low, high = int(np.min(numbers)), int(np.max(numbers))
    return str(low) if low == high else f"{low} to {high}, depending on the template,"


MEANINGS = {
    "persona": "how far personas are apart, on all statements alike",
    "persona x statement": "how far a persona moves one statement and not the others",
    "persona x prompt": "how far a persona moves one prompt of a statement and not the others",
    "sampling": "of the share of agreement of one prompt",
}


@dataclass(frozen=True, eq=False)
class ByPersona:
    """The runs of a model that differ only in their personas."""

    compared: Compared
    reports: Mapping[str, ReliabilityReport]
    "report by the name of the persona, `none` for the run without one"
    personas: Mapping[str, Persona]
    again: Callable[[ReliabilityOptions], ByPersona]
    "a function that judges the same answers by other options"

    @cached_property
    def components(self) -> PersonaComponents | None:
        """The variance components of the shares of agreement, or None if runs are not crossed.

        Runs are not crossed if they have other wordings or templates.
        """
        reports = list(self.reports.values())
        first = reports[0].counts
        shape = (first.statements, first.variants, first.templates)
        if any(
            (report.counts.statements, report.counts.variants, report.counts.templates) != shape
            for report in reports
        ):
            return None
        cells_by_run = [cells(report) for report in reports]
        value, noise = (
            np.stack([getattr(run_cells, name) for run_cells in cells_by_run])
            for name in ("value", "noise")
        )
        flat = (*value.shape[:2], -1)
        return persona_components(value.reshape(flat), noise.reshape(flat))

    def entries(self) -> list[Entry]:
        """Return the entries of the tables by persona, for a book."""
        return [
            Entry("personas", "by persona", lambda: passing_by_persona(self)),
            Entry(
                "verdicts_by_persona", "statements, by persona", lambda: verdicts_by_persona(self)
            ),
            Entry("persona_components", "what personas move", lambda: components_table(self)),
        ]


def by_persona(
    store: Store,
    run: Run,
    options: ReliabilityOptions | None = None,
    *,
    readings: ReadingChoice = USUAL,
) -> ByPersona | None:
    """Return a run with those that differ from it only in the persona.

    It is None if there is no other such run, or if they have nothing to compare.
    """
    if not run.personas or run.fingerprint is not None:
        return None
    runs = _runs_by_persona(store, run)
    if len(runs) < 2 or NONE not in runs:
        return None
    persona_by_id = store.runs.personas()
    personas = _Personas(
        runs,
        {
            name: persona_by_id[persona_run.persona]
            for name, persona_run in runs.items()
            if persona_run.persona
        },
        {name: store.runs.instrument(persona_run) for name, persona_run in runs.items()},
    )
    try:
        return personas.judged(
            {
                name: run_verdicts(store, persona_run, options, readings=readings)
                for name, persona_run in runs.items()
            }
        )
    except UsageError:  # one of them has nothing to judge, or no template in common with another
        return None


def _runs_by_persona(store: Store, run: Run) -> dict[str, Run]:
    """Return the runs that differ from a run only in the persona, that without one first."""
    versions = {item_version.name: item_version.version for item_version in run.versions}
    candidates = store.runs.list(run.audit, run.instrument, versions=versions, personas=True)
    comparable = [
        candidate
        for candidate in candidates
        if candidate.baseline == run.baseline and candidate.responses
    ]
    comparable.sort(key=lambda candidate: bool(candidate.persona))
    return {candidate.persona_name or NONE: candidate for candidate in comparable}


@dataclass(frozen=True, eq=False, slots=True)
class _Personas:
    """The runs of one model with several personas, by the name of the persona."""

    runs: Mapping[str, Run]
    personas: Mapping[str, Persona]
    instruments: Mapping[str, Instrument]

    def judged(self, verdicts_by_name: Mapping[str, RunVerdicts]) -> ByPersona:
        """Return the comparison of judged runs."""
        reports = {name: run_result.report for name, run_result in verdicts_by_name.items()}
        return ByPersona(
            compare_judged(self.runs, reports, self.instruments),
            reports,
            self.personas,
            partial(self._judged_again, verdicts_by_name),
        )

    def _judged_again(
        self, verdicts_by_name: Mapping[str, RunVerdicts], options: ReliabilityOptions
    ) -> ByPersona:
        """Return the comparison by other options, without reading the store."""
        return self.judged(
            {name: run_result.again(options) for name, run_result in verdicts_by_name.items()}
        )


@dataclass(frozen=True, slots=True)
class PersonaPasses:
    """One persona: the statements that pass with it, and the changes against no persona."""

    name: str
    persona: Persona | None
    passes: Estimate | None
    passing: Change | None
    "None for the baseline"
    stance: Change | None


def _persona_rows(comparison: ByPersona) -> Iterator[PersonaPasses]:
    """Yield a row for each persona, with its changes against the prompts without a persona."""
    kinds = [kind for kind in KINDS if kind.name in (ALL, STANCE)]
    changes_by_kind = {
        (change.kind.name, change.second): change
        for change in changes_from(comparison.compared, NONE, kinds)
    }
    for side in comparison.compared.sides:
        changes = (changes_by_kind.get((ALL, side.name)), changes_by_kind.get((STANCE, side.name)))
        yield PersonaPasses(
            side.name, comparison.personas.get(side.name), side.main_figure, *changes
        )


def passing_by_persona(comparison: ByPersona) -> Table[PersonaPasses]:
    """Return the table of the share of statements that keep their stance, by persona."""
    return Table(
        "personas",
        "Statements that keep their stance, by persona",
        list(_persona_rows(comparison)),
        [
            Column("persona", "persona", lambda row: row.name),
            Column(
                "kind",
                "kind",
                lambda row: row.persona.kind.value if row.persona else "",
                aside=True,
            ),
            Column(
                "passes",
                "keep their stance",
                lambda row: row.passes,
                Kind.SHARE,
                scale=(0.0, 1.0),
                help="by partial pooling, whatever the number of answers",
            ),
            Column(
                "difference",
                "against none",
                lambda row: row.passing.difference if row.passing else None,
                Kind.POINTS,
                help="over the statements that both decide, paired",
                scale=(-1.0, 1.0),
            ),
            Column(
                "p",
                "p",
                lambda row: row.passing.p if row.passing else None,
                Kind.P_VALUE,
                help="McNemar's exact test of the pairs",
            ),
            Column(
                "holm",
                "p, Holm",
                lambda row: row.passing.holm if row.passing else None,
                Kind.P_VALUE,
                aside=True,
                help="adjusted over all tests of this table",
            ),
            Column(
                "same_stance",
                "same stance",
                lambda row: row.stance.same if row.stance else None,
                Kind.SHARE,
                help="of the statements on which both take a side under all templates",
            ),
            Column(
                "gained",
                "gained",
                lambda row: row.passing.gained if row.passing else None,
                Kind.COUNT,
                aside=True,
                help="statements that pass with the persona and fail without",
            ),
            Column(
                "lost",
                "lost",
                lambda row: row.passing.lost if row.passing else None,
                Kind.COUNT,
                aside=True,
            ),
            Column(
                "turned",
                "more agree",
                lambda row: row.stance.difference if row.stance else None,
                Kind.POINTS,
                aside=True,
                help="share of agreement among statements with a side in both, minus that of none",
            ),
        ],
        key=lambda row: (row.name,),
        definition="Each persona stands before the same prompts. A statement passes where it "
        "passes every test under "
        "every template; too few readable answers is not passed.",
        notes=[
            "The interval of a difference is Bonett and Price's for pairs, of a share "
            "Wilson's over statements."
        ],
        detail=_persona_details,
        pictures=[
            Forest(values=["passes"], rows=["persona"], axis="statements that keep their stance")
        ],
    )


def _persona_details(row: PersonaPasses) -> Sequence[str]:
    """Return the details of a persona: its description, its turns, and why it was not tested."""
    if row.persona is None:
        return ["prompts without a persona: the baseline"]
    reasons = (
        [f"not tested: {row.passing.untested}"] if row.passing and row.passing.untested else []
    )
    return [
        *described([row.persona]),
        *(f"{turn.role}: {turn.content}" for turn in row.persona.turns),
        *reasons,
    ]


@dataclass(frozen=True, slots=True)
class StatementByPersona:
    """One statement: its verdict and stance with each persona."""

    ref: str
    text: str
    verdicts: Mapping[str, str]
    stances: Mapping[str, str]

    @property
    def changed(self) -> bool:
        """Whether the verdict differs between personas."""
        return len({word for word in self.verdicts.values() if word}) > 1


def verdicts_by_persona(comparison: ByPersona) -> Table[StatementByPersona]:
    """Return the table of the verdicts on every statement, with a column for each persona.

    They are over all tests and templates.
    """
    names, kinds = comparison.compared.names, {kind.name: kind for kind in KINDS}
    stances = {
        row.item: dict(zip(names, row.verdicts, strict=True))
        for row in item_rows(comparison.compared, kinds[STANCE])
    }
    rows = [
        StatementByPersona(
            row.item,
            comparison.compared.texts.get(row.item, ""),
            dict(zip(names, row.verdicts, strict=True)),
            stances.get(row.item, {}),
        )
        for row in item_rows(comparison.compared, kinds[ALL])
    ]

    def verdict(persona: str) -> Column[StatementByPersona]:
        return Column(
            persona, persona, lambda row: _verdict(row.verdicts.get(persona, "")), Kind.VERDICT
        )

    def stance(persona: str) -> Column[StatementByPersona]:
        return Column(
            f"stance {persona}",
            f"stance, {persona}",
            lambda row: row.stances.get(persona, ""),
            aside=True,
        )

    shared = common(kinds[ALL], comparison.compared.sides)
    return Table(
        "verdicts_by_persona",
        "Statements under all tests, by persona",
        rows,
        [
            Column("statement", "statement", lambda row: row.ref),
            Column("text", "text", lambda row: row.text, least=16, main=True, aside=True),
            *map(verdict, names),
            Column("changed", "", lambda row: row.changed, Kind.MARK, mark="≠"),
            *map(stance, names),
        ],
        key=lambda row: (row.ref,),
        definition="A verdict is over all tests and templates. ≠ stands where personas differ in "
        "it. A stance is that "
        "on the original, where it is the same under all templates.",
        notes=[
            f"{len(shared.items):,} statements were asked with every persona in the same words."
        ],
        link=lambda row: Link("statement", (row.ref,)),
        detail=lambda row: [
            row.text,
            *(
                f"{name}: {persona_stance}"
                for name, persona_stance in row.stances.items()
                if persona_stance
            ),
        ],
    )


def _verdict(word: str) -> Verdict | None:
    """Return the verdict of a word, or None for an empty string."""
    return Verdict(word) if word else None


def components_table(comparison: ByPersona) -> Table[tuple[str, float]]:
    """Return the table of the variance of agreement shares that personas add.

    It comes on its own, with statements, and with prompts.
    """
    variances = comparison.components
    values = (
        ()
        if variances is None
        else (
            variances.persona,
            variances.persona_statement,
            variances.persona_prompt,
            variances.sampling,
        )
    )
    rows = [
        (name, value) for name, value in zip(MEANINGS, values, strict=False) if np.isfinite(value)
    ]
    numbers = (
        ""
        if variances is None
        else (
            f"{variances.personas} levels (none among them), {variances.statements:,} statements, "
            f"{variances.prompts:,} prompts that count with every one."
        )
    )
    return Table(
        "persona_components",
        "Variance of shares of agreement that personas bring",
        rows,
        [
            Column("component", "component", lambda row: row[0]),
            Column("variance", "variance", lambda row: row[1], Kind.PART),
            Column(
                "sd",
                "as points",
                lambda row: float(np.sqrt(max(row[1], 0.0))),
                Kind.SIZE,
                help="standard deviation; 0 where the estimate is below 0",
            ),
            Column("meaning", "what it is", lambda row: MEANINGS[row[0]], least=20),
        ],
        key=lambda row: (row[0],),
        definition="Stances on wordings that negate are turned round. ANOVA estimators, prompts "
        "within statements, "
        "crossed with personas. An estimate below 0 is chance: the component is small.",
        notes=[
            line
            for line in (
                numbers,
                "Personas are chosen, not drawn: no interval. Their differences from none "
                "have one.",
            )
            if line
        ],
        empty="The runs have other wordings or templates, so nothing is crossed with personas.",
    )


@dataclass(frozen=True, eq=False)
class ReliabilityJudged:
    """A judged run."""

    run: Run
    verdicts: RunVerdicts
    instrument: Instrument
    "the instrument as it was asked"
    failures: Failures
    changed: Mapping[str, tuple[int, int]]
    "statements that were changed since the run: ref -> (version that was asked, current version)"
    refusals: ModelRefusals
    answered: AnsweredPlan
    "the answered part of the plan, and the kinds of its answers"
    by_persona: ByPersona | None = None
    "the run with those of other personas; None: the model was asked without personas"

    def by(self, options: ReliabilityOptions) -> ReliabilityJudged:
        """Return the run judged by other options. Nothing is read from the store."""
        if options.judging_as(self.report.options):
            return self
        personas = self.by_persona and self.by_persona.again(options)
        return replace(self, verdicts=self.verdicts.again(options), by_persona=personas)

    @property
    def report(self) -> ReliabilityReport:
        """The verdicts, as an `ExactReport` if nothing was sampled."""
        return self.verdicts.report

    @property
    def reader(self) -> int:
        """The rowid of the reader, or 0 if there was nothing to read."""
        return self.verdicts.reader

    @property
    def card(self) -> ReaderCard:
        """The card of the reader."""
        return self.verdicts.card

    @property
    def rulings(self) -> RulingNotes:
        """The notes on what rulings change."""
        return self.verdicts.told

    @property
    def header(self) -> tuple[str, ...]:
        """The warnings that stand above every figure."""
        return answered_header([self.answered])

    @property
    def exact(self) -> ExactReport | None:
        """The report if label probabilities were computed, or None if answers were sampled."""
        return self.report if isinstance(self.report, ExactReport) else None

    def figures(self, *, as_people: bool = False) -> VerdictFigures:
        """Return the figures behind the tables.

        Parameters
        ----------
        as_people : whether kappas are only over the statements that people answered
        """
        return VerdictFigures(
            self.report, self.instrument, self.run.language, as_people, self.changed
        )

    def about(self) -> dict[str, Any]:
        """Return the facts behind the figures, for programs.

        `needed` is null if a prompt needs two thirds of its plan, and plans differ from prompt to
        prompt.
        """
        failures, counts = self.failures, self.report.counts
        missing = {"failed_statements": failures.statements, "failed_because": failures.reason}
        has_one_minimum = (
            self.report.options.minimum is not None or counts.sizes[0] == counts.sizes[1]
        )
        facts = {
            "run": run_data(self.run) | missing | {"cut_off": counts.cut_off},
            "reader": asdict(self.card),
            "planned": list(counts.sizes),
            "needed": self.report.required if has_one_minimum else None,
            "answered": answered_data([self.answered]),
            "methods": self.methods(),
        }
        if self.exact is not None:
            mass = self.exact.mass
            rule = {
                "version": mass.version,
                "rule": RULES[mass.version],
                "labels": dict(mass.spellings),
            }
            facts["spellings"] = rule
        return facts

    def methods(self) -> str:
        """Return one paragraph with every choice behind the verdicts."""

        return methods(self.run, self.report, self.card, self.answered, self.rulings)

    def missing(self) -> str:
        """Return a sentence on how many prompts failed, and why, or "" if none did."""
        failures, run = self.failures, self.run
        if not failures.probes:
            return ""
        n_statements = len(failures.statements)
        left_out = (
            f", including every prompt of {plural(n_statements, 'statement')}"
            if n_statements
            else ""
        )
        reason = f": {failures.reason}" if failures.reason else ""
        return f"{run.prompts - run.answered:,} of {run.prompts:,} prompts failed{left_out}{reason}"

    def told(self) -> tuple[str, ...]:
        """Return the lines on the run, its rules, and its failed answers."""
        run, exact = self.run, self.exact
        return (
            *self.header,
            f"{run.label} · revision {run.revision[:12]} · {run.computed}",
            *(f"note: {note}" for note in template_notes([run])),
            *(self._sampled() if exact is None else _computed(run, exact)),
            *refused([self.refusals]),
            *self.rulings.sentences(),
            *_judged_void(self.report),
            *filter(None, (self.missing(),)),
        )

    def _sampled(self) -> Iterator[str]:
        """Yield the lines on a run with sampled answers."""
        run, report, card = self.run, self.report, self.card
        options, counts = report.options, report.counts
        yield (
            f"{len(counts.statements)} statements, {run.answered:,} prompts answered, "
            f"{run.responses:,} answers; reader {card.name} {card.version[:8]}; rule as "
            f"{options.rule} ({options.low:g}, {options.high:g}), {report.required_text} readable "
            "needed"
        )
        fewest, most = counts.sizes
        if options.as_published and (fewest, most) != (PUBLISHED_SAMPLES, PUBLISHED_SAMPLES):
            yield (
                f"published with {PUBLISHED_SAMPLES} answers to a prompt, here "
                f"{counts.sizes_words}: the rule passes "
                "more the more there are (--table pooled does not depend on it)"
            )
        if n_cut_off := counts.cut_off:
            yield (
                f"cut off in thought: {n_cut_off:,} answers; ask again with more tokens "
                "(--max-new-tokens)"
            )


def with_answer_kinds(
    answered_plan: AnsweredPlan, counts: Counts | None, refusals: ModelRefusals, name: str = ""
) -> AnsweredPlan:
    """Return an answered plan with its numbers of unreadable, refused and cut-off answers.

    Parameters
    ----------
    counts : the counts before rulings; None if nothing was sampled
    """
    if counts is None:
        return answered_plan.with_parts(name)
    total = int(counts.total.sum())
    if answered_plan.spared is not None:
        answered_plan = replace(answered_plan, optimum=optimum(counts, answered_plan.spared.rules))
    return answered_plan.with_parts(
        name,
        unreadable=AnswerCount(int(counts.unreadable.sum()), total),
        refused=refused_part(refusals),
        foreign=foreign_part(refusals),
        truncated=AnswerCount(counts.cut_off, total),
    )


@at_once
def judge_reliability(
    store: Store,
    run: Run,
    options: ReliabilityOptions | None = None,
    *,
    readings: ReadingChoice = USUAL,
) -> ReliabilityJudged:
    """Read and judge a run.

    Raises UsageError if the options do not fit it, or if it has nothing to judge.
    """
    run_result, refusals = (
        run_verdicts(store, run, options, readings=readings),
        refusals_of(store, run),
    )
    return ReliabilityJudged(
        run,
        run_result,
        store.runs.instrument(run),
        store.runs.failures(run),
        store.runs.outdated(run),
        refusals,
        with_answer_kinds(answered_plan(store, run), run_result.given, refusals),
        by_persona(store, run, options, readings=readings),
    )


NUCLEUS = (
    "with top-p 0.85, as published, a label with less than 15 % is hardly ever drawn, so "
    "more prompts lean clearly"
)


def _computed(run: Run, report: ExactReport) -> Iterator[str]:
    """Yield the lines on a run with computed probabilities."""
    options, mass = report.options, report.mass
    yield (
        f"{len(report.counts.statements)} statements, {run.responses:,} prompts scored; clear "
        "outside "
        f"({options.low:g}, {options.high:g}), labels need {options.named:.0%} of the probability"
    )
    reading = (
        f"unreadable as often as no label begins them, {report.required_text} readable needed"
        if options.with_unreadable
        else "each naming a label"
    )
    samples_text = (
        f"the expected verdict of {options.beside} samples per prompt by the rule as {options.rule}"
    )
    yield (
        f"next to it {samples_text}: {reading}; of the whole distribution, without a nucleus: "
        f"{NUCLEUS}"
    )
    scored = mass.scored
    if scored.any():
        n_few = int(
            (scored & report.counts.exists[None, :, :, None] & ~report.has_stance_data).sum()
        )
        mean = mass.named[scored].mean()
        yield f"labels have {mean:.1%} of the probability on average; too little: {n_few:,} prompts"
    most_spellings = max((len(spellings) for spellings in mass.spellings.values()), default=0)
    yield f"spellings {mass.version}, up to {most_spellings} a label: {RULES[mass.version]}"
    if mass.version == FIRST:
        yield (
            "An earlier version of workbench computed these; repeating `run --exact` applies "
            "the current spellings."
        )


def _judged_void(report: ReliabilityReport) -> Iterator[str]:
    """Yield lines on how many tests cannot fail, and on what follows from that."""
    n_void_by_test = {row.test: sum(row.void) for row in report.summary() if sum(row.void)}
    if n_void_by_test:
        numbers = ", ".join(
            f"{in_words(test)} {number:,}" for test, number in n_void_by_test.items()
        )
        yield (
            f"void: {numbers} (statements × templates): the statement has no such wording, or the "
            "test compares a prompt with itself, so it cannot fail, or a ruling leaves it out; it "
            "is in no denominator. workbench lint names the texts; --as-published judges them, "
            "without those that rulings leave out"
        )
    tests = report.options.tests
    everywhere = [test for test in tests if (report.verdicts(test) == VOID).all()]
    if everywhere and len(everywhere) < len(tests):
        remaining = ", ".join(in_words(test) for test in tests if test not in everywhere)
        yield (
            f"ALL combines {remaining} alone: {', '.join(map(in_words, everywhere))} is void for "
            "every statement"
        )
