"""ProbVAA: do a model's reliable stances add up to a worldview?

Ceron et al. 2024 (TACL), section 7. Two analyses of the statements on which a model passes the
reliability tests: with which party family it agrees, and how far it supports each policy issue (see
`stances`). Two baselines, which always agree and always disagree, go through the same code, and so
do parties and people who answered the survey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench import registry
from workbench.audits.consistency.options import ConsistencyOptions, Formula, View
from workbench.audits.consistency.stances import (
    Family,
    FamilyGap,
    IssueStance,
    Kind,
    LabelledStatement,
    Leaning,
    PartyPositions,
    PartyShare,
    PartyStatement,
    SharedStatements,
    Stances,
    baselines,
    family_gaps,
    issue_bounds,
    issue_difference,
    issue_stance,
    labelled_statements,
    leaning,
    leaning_difference,
    matched,
    party_positions,
    party_shares,
    party_stances,
    party_statements,
    posterior_stances,
    reliable_stances,
    survey_stances,
)
from workbench.audits.reliability.agreement import Bound, bound_of
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import came_of
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument, Party, SurveyAnswer
from workbench.domain.readings import ReaderCard
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Bounds, Estimate
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, answered
from workbench.evidence.refusals import Refusals, refusals_of
from workbench.evidence.rulings import Told
from workbench.evidence.runs import (
    Which,
    answered_instrument,
    matching,
    named_runs,
    of_models,
    runs_of,
    split,
    without_runs,
)

PARTY, PERSON = "party", "person"
"who answers beside models"
ANSWERED_FOR = registry.DEFAULT_AUDIT
"the audit whose answers are judged"


@dataclass(frozen=True, slots=True)
class RespondentDifference:
    """How far two respondents differ, on the statements that both were asked."""

    name: str
    "of the policy issue, or of the party family"
    first: float
    second: float
    "both on shared statements alone; NaN where undefined"
    difference: Estimate
    "first - second, with its paired bootstrap interval"
    shared: SharedStatements
    "what both are compared over, whatever the issue or family"


@dataclass(frozen=True, slots=True)
class PartyStances:
    """A party taken as a respondent."""

    party: Party
    family: Family | None
    issues: tuple[IssueStance, ...]


def judge(
    positions: PartyPositions,
    models: Sequence[Stances] = (),
    survey: Sequence[SurveyAnswer] = (),
    options: ConsistencyOptions | None = None,
) -> Consistency:
    """Return the analysis of some models, of none, and always of the two baselines.

    The baselines answer the statements that any of the models was asked, so that both stand on the
    same ground; without a model, all statements with positions.
    """
    asked = {ref for model in models for ref in model.statements}
    refs = tuple(ref for ref in positions.statements if ref in asked or not models)
    known = set(positions.statements)
    kept = tuple(model.on([ref for ref in model.statements if ref in known]) for model in models)
    return Consistency(
        positions,
        (*kept, *baselines(refs)),
        survey_stances(survey),
        options or ConsistencyOptions(),
    )


@dataclass(frozen=True, eq=False)
class Consistency:
    """Leaning and stance on issues of every respondent. Figures are computed when they are asked
    for, and kept.
    """

    positions: PartyPositions
    respondents: tuple[Stances, ...]
    "models, then the two baselines; names are unique"
    people: tuple[Stances, ...]
    "who answered the survey, and only originals"
    options: ConsistencyOptions

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.respondents if one.kind is Kind.MODEL)

    @cached_property
    def _leanings(self) -> dict[tuple[str, View], Leaning]:
        return {}

    @cached_property
    def _stances(self) -> dict[tuple[str, str, Formula], IssueStance]:
        return {}

    def respondent(self, name: str) -> Stances:
        """Return a model or a baseline. Raises UnknownName."""
        for one in self.respondents:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.respondents)
        raise UnknownName(f"no respondent is named {name!r}. Available: {known}")

    def leaning(self, name: str, view: View = "all") -> Leaning:
        """Return how often a respondent answers like left, center and right parties. Raises
        UnknownName.
        """
        if (name, view) not in self._leanings:
            one, options = self.respondent(name), self.options
            self._leanings[name, view] = leaning(one, self.positions, view, options.resamples)
        return self._leanings[name, view]

    def family_gaps(self, name: str) -> tuple[FamilyGap, ...]:
        """Return how much more often a respondent answers like one family than like another. Raises
        UnknownName.
        """
        return family_gaps(self.respondent(name), self.positions, self.options.seed)

    def parties(self, name: str) -> tuple[PartyShare, ...]:
        """Return how often a respondent answers like each party, in the order of the instrument."""
        return party_shares(self.respondent(name), self.positions)

    def party_statements(self, name: str, country: str, party: str) -> tuple[PartyStatement, ...]:
        """Return the statements behind a respondent's share with one party. Raises UnknownName."""
        return party_statements(self.respondent(name), self.positions, country, party)

    def issue(self, name: str, issue: str, formula: Formula = "signed") -> IssueStance:
        """Return a respondent's stance on one policy issue. Raises UnknownName."""
        if (name, issue, formula) not in self._stances:
            self._stances[name, issue, formula] = self._issue(self.respondent(name), issue, formula)
        return self._stances[name, issue, formula]

    def issues(self, name: str, formula: Formula = "signed") -> tuple[IssueStance, ...]:
        """Return a respondent's stance on every policy issue, in the order of the instrument."""
        self.respondent(name)
        return tuple(self.issue(name, issue, formula) for issue in self.positions.issues)

    def issue_bounds(self, name: str, issue: str) -> Bounds:
        """Return what missing stances could make of a respondent's signed support for an issue.
        Raises UnknownName.
        """
        return issue_bounds(self.respondent(name), self.positions, issue)

    def issue_statements(self, name: str, issue: str) -> tuple[LabelledStatement, ...]:
        """Return the statements behind a respondent's stance on an issue. Raises UnknownName."""
        return labelled_statements(self.respondent(name), self.positions, issue)

    def party_stances(self, formula: Formula = "signed") -> tuple[PartyStances, ...]:
        """Return every party taken as a respondent: all of its answers are reliable, neutral ones
        are no stance.
        """
        return tuple(
            PartyStances(
                party,
                self.positions.families[place],
                self._issues(party_stances(self.positions, place), formula),
            )
            for place, party in enumerate(self.positions.parties)
        )

    def people_stances(
        self, formula: Formula = "signed"
    ) -> tuple[tuple[str, tuple[IssueStance, ...]], ...]:
        """Return (person, stance on every issue) of those who answered the survey."""
        return tuple((one.name, self._issues(one, formula)) for one in self.people)

    def who_answered(self, kind: str, *of: str) -> Stances:
        """Return a party (its country and name) or a person (the name) taken as a respondent.
        Raises UnknownName.
        """
        if kind == PARTY:
            return party_stances(self.positions, self.positions.party(*of))
        people = {one.name: one for one in self.people}
        if kind != PERSON or of[0] not in people:
            named = ", ".join(people) or "nobody"
            raise UnknownName(
                f"there is no {' '.join((kind, *of))}. Available: party COUNTRY NAME; person: "
                f"{named}"
            )
        return people[of[0]]

    def compare_issues(
        self, first: str, second: str, formula: Formula = "signed"
    ) -> tuple[RespondentDifference, ...]:
        """Return per policy issue how far two respondents differ. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        seed, resamples = self.options.seed, self.options.resamples
        shared = matched(*pair)[2]
        return tuple(
            RespondentDifference(
                issue,
                *issue_difference(*pair, self.positions, issue, formula, seed, resamples),
                shared,
            )
            for issue in self.positions.issues
        )

    def compare_leaning(
        self, first: str, second: str, view: View = "all"
    ) -> tuple[RespondentDifference, ...]:
        """Return per party family how far two respondents differ. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        rows = leaning_difference(*pair, self.positions, view, self.options.resamples)
        shared = matched(*pair)[2]
        return tuple(
            RespondentDifference(of.value, one, other, gap, shared) for of, one, other, gap in rows
        )

    def _issue(self, one: Stances, issue: str, formula: Formula) -> IssueStance:
        return issue_stance(
            one, self.positions, issue, formula, self.options.seed, self.options.resamples
        )

    def _issues(self, one: Stances, formula: Formula) -> tuple[IssueStance, ...]:
        return tuple(self._issue(one, issue, formula) for issue in self.positions.issues)


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """One model's answers and their verdicts."""

    name: str
    "the respondent's name in `ConsistencyJudged.result`"
    run: Run
    report: ReliabilityReport
    reader: ReaderCard
    rulings: Told
    refusals: Refusals
    answered: Answered
    "how much of its plan was answered, and what came of it"
    addresses: Mapping[str, str]
    "template -> personal or impersonal"
    outdated: tuple[str, ...] = ()
    "statements that were changed since it was asked: its stances are on the texts of then"


@dataclass(frozen=True, eq=False)
class ConsistencyJudged:
    """The analysis, and what it rests on."""

    which: Which
    options: ConsistencyOptions
    instrument: Instrument
    "as it is now"
    runs: tuple[JudgedRun, ...]
    result: Consistency
    labelled: int
    "statements with a label other than 0 for some issue"
    fewest: int
    "annotators whose labels a policy-issue label needs"

    @property
    def rulings(self) -> Told:
        """What rulings change in the answers of all models."""
        return Told.joined([one.rulings for one in self.runs])

    @property
    def answered(self) -> tuple[Answered, ...]:
        """How much of the plan of each model was answered, and what came of it."""
        return tuple(one.answered for one in self.runs)

    @property
    def reports(self) -> dict[str, ReliabilityReport]:
        """The reliability of each model; baselines have none."""
        return {one.name: one.report for one in self.runs}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The original wording of each statement."""
        of = self.instrument
        return {
            one.ref: text.text
            for one in of.statements
            if (text := one.wording(ORIGINAL, of.language))
        }

    @cached_property
    def people(self) -> tuple[Bound, ...]:
        """How consistently the people who answered the survey answer."""
        return bound_of(self.instrument, self.options.seed, judge_void=self.options.judge_void)

    def run(self, name: str) -> JudgedRun:
        """Return the answers of a model by its name in the figures."""
        return next(one for one in self.runs if one.name == name)


@at_once
def judge_consistency(
    store: Store, which: Which | None = None, options: ConsistencyOptions | None = None
) -> ConsistencyJudged:
    """Return leaning and stances on issues of the models that are meant, of the baselines, of
    parties and of people.

    Raises UsageError where the store has no instrument, several and none is named, or one of
    multiple-choice questions alone; UnknownName for a model that answered nothing.
    """
    which, options = which or Which(), options or ConsistencyOptions()
    instrument = store.instruments.get(which.instrument or answered_instrument(store, ANSWERED_FOR))
    # nobody agrees or disagrees with a multiple-choice question
    questions = {item.ref for item in instrument.choices}
    if questions and all(statement.ref in questions for statement in instrument.statements):
        raise UsageError(
            f"{instrument.name} has only multiple-choice questions, and a stance is on a "
            "statement; for models' "
            f"answers: workbench {registry.audit('response_bias').command}"
        )
    judged = tuple(
        _judged(store, which, options, name, run)
        for name, run in _runs(store, which, instrument.name)
    )
    positions = party_positions(instrument, store.issues.gold(instrument.name, options.labels))
    stances_of = posterior_stances if options.stances == "posterior" else reliable_stances
    models = [stances_of(one.name, one.report) for one in judged]
    result = judge(positions, models, store.surveys.answers(instrument.name), options)
    labelled = int((positions.labels != 0).any(axis=0).sum())
    return ConsistencyJudged(
        which, options, instrument, judged, result, labelled, store.issues.fewest(instrument.name)
    )


def _judged(
    store: Store, which: Which, options: ConsistencyOptions, name: str, run: Run
) -> JudgedRun:
    found = run_verdicts(store, run, options.rules(), readings=which.readings)
    # kept: the reliability of the run has the same.
    refusals = replace(refusals_of(store, run), model=name)
    return JudgedRun(
        name,
        run,
        found.report,
        found.card,
        found.told,
        refusals,
        came_of(answered(store, run), found.given, refusals, name),
        {template.name: template.address for template in store.runs.templates(run)},
        tuple(store.runs.outdated(run)),
    )


def _runs(store: Store, which: Which, instrument: str) -> tuple[tuple[str, Run], ...]:
    """Return the runs that are meant, under names that tell them apart."""
    every = runs_of(store, ANSWERED_FOR, instrument, templates=which.templates)
    runs = split(
        store, matching(every, which.sampling, which.dtype, which.snapshot), which.fingerprint
    )
    if every and not runs:
        described = ", ".join(
            dict.fromkeys(f"{run.sampling} in {run.dtype}, {run.version}" for run in every)
        )
        raise UnknownName(
            f"{instrument} has no reliability answers of this sampling, dtype and snapshot. "
            f"Available: {described}"
        )
    there = {run.model for run in runs}
    missing = without_runs(store, runs, which.models)
    if missing:
        raise UnknownName(
            f"{instrument} has no reliability answers by {', '.join(missing)}. Models with "
            "answers: "
            f"{', '.join(sorted(there)) or 'nobody'}"
        )
    answered = {run.model for run in runs if run.responses}
    wanted = [
        run
        for run in of_models(store, runs, which.models)
        if run.responses or (which.models and run.model not in answered)
    ]
    return tuple(named_runs(wanted).items())
