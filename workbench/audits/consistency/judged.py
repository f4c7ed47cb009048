"""ProbVAA: the analysis of whether a model's reliable stances add up to a worldview.

Ceron et al. 2024 (TACL), section 7. There are two analyses of the statements on which a model
passes the reliability tests: agreement with party families, and support of policy issues (see
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
    LabelledStatement,
    Leaning,
    PartyPositions,
    PartyShare,
    PartyStatement,
    RespondentKind,
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
    party_positions,
    party_shares,
    party_stances,
    party_statements,
    posterior_stances,
    reliable_stances,
    restrict_to_shared,
    survey_stances,
)
from workbench.audits.reliability.agreement import Bound, bound_of
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import with_answer_kinds
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.instruments import Instrument, Party, SurveyAnswer
from workbench.domain.readings import ReaderCard
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Bounds, Estimate
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnsweredPlan, answered_plan
from workbench.evidence.refusals import ModelRefusals, refusals_of
from workbench.evidence.rulings import RulingNotes
from workbench.evidence.runs import (
    AnswerSelection,
    answered_instrument,
    matching_runs,
    named_runs,
    runs_of,
    runs_of_models,
    split_by_fingerprint,
    without_runs,
)

PARTY, PERSON = "party", "person"
"kinds of respondents with given answers"
ANSWERED_FOR = registry.DEFAULT_AUDIT
"the audit whose answers are judged"


@dataclass(frozen=True, slots=True)
class RespondentDifference:
    """The difference between two respondents, on the statements that both were asked."""

    name: str
    "name of the policy issue, or of the party family"
    first: float
    second: float
    "both values are on shared statements alone, or NaN if undefined"
    difference: Estimate
    "first - second, with its paired bootstrap interval"
    shared: SharedStatements
    "the shared statements, which are the same for every issue and family"


@dataclass(frozen=True, slots=True)
class PartyStances:
    """A party as a respondent, with its stances on issues."""

    party: Party
    family: Family | None
    issues: tuple[IssueStance, ...]


def judge(
    positions: PartyPositions,
    models: Sequence[Stances] = (),
    survey: Sequence[SurveyAnswer] = (),
    options: ConsistencyOptions | None = None,
) -> Consistency:
    """Return the analysis of some models, or of none, and always of the two baselines.

    The baselines answer the statements that any of the models was asked, so that they are
    comparable. Without a model they answer all statements with positions.
    """
    asked_refs = {ref for model in models for ref in model.statements}
    refs = tuple(ref for ref in positions.statements if ref in asked_refs or not models)
    known_refs = set(positions.statements)
    known_models = tuple(
        model.on_statements([ref for ref in model.statements if ref in known_refs])
        for model in models
    )
    return Consistency(
        positions,
        (*known_models, *baselines(refs)),
        survey_stances(survey),
        options or ConsistencyOptions(),
    )


@dataclass(frozen=True, eq=False)
class Consistency:
    """The leaning and the stances on issues of every respondent.

    Figures are computed on first use, and kept.
    """

    positions: PartyPositions
    respondents: tuple[Stances, ...]
    "models, then the two baselines; names are unique"
    people: tuple[Stances, ...]
    "people who answered the survey, with their answers to originals"
    options: ConsistencyOptions

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(
            respondent.name
            for respondent in self.respondents
            if respondent.kind is RespondentKind.MODEL
        )

    @cached_property
    def _leanings(self) -> dict[tuple[str, View], Leaning]:
        """The computed leanings, by respondent and view."""
        return {}

    @cached_property
    def _stances(self) -> dict[tuple[str, str, Formula], IssueStance]:
        """The computed stances, by respondent, issue and formula."""
        return {}

    def respondent(self, name: str) -> Stances:
        """Return a model or a baseline. Raises UnknownName."""
        for respondent in self.respondents:
            if respondent.name == name:
                return respondent
        available = ", ".join(respondent.name for respondent in self.respondents)
        raise UnknownName(f"no respondent is named {name!r}. Available: {available}")

    def leaning(self, name: str, view: View = "all") -> Leaning:
        """Return a respondent's agreement with left, center and right parties.

        Raises UnknownName.
        """
        if (name, view) not in self._leanings:
            respondent, options = self.respondent(name), self.options
            self._leanings[name, view] = leaning(
                respondent, self.positions, view, options.resamples
            )
        return self._leanings[name, view]

    def family_gaps(self, name: str) -> tuple[FamilyGap, ...]:
        """Return the gaps between a respondent's agreement with party families.

        Raises UnknownName.
        """
        return family_gaps(self.respondent(name), self.positions, self.options.seed)

    def parties(self, name: str) -> tuple[PartyShare, ...]:
        """Return a respondent's agreement with each party, in the order of the instrument."""
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
        """Return the bounds of signed support for an issue that missing stances leave possible.

        Raises UnknownName.
        """
        return issue_bounds(self.respondent(name), self.positions, issue)

    def issue_statements(self, name: str, issue: str) -> tuple[LabelledStatement, ...]:
        """Return the statements behind a respondent's stance on an issue. Raises UnknownName."""
        return labelled_statements(self.respondent(name), self.positions, issue)

    def party_stances(self, formula: Formula = "signed") -> tuple[PartyStances, ...]:
        """Return the parties as respondents, with their stances on issues.

        All of their answers are reliable. A neutral answer is no stance.
        """
        return tuple(
            PartyStances(
                party,
                self.positions.families[index],
                self._issues(party_stances(self.positions, index), formula),
            )
            for index, party in enumerate(self.positions.parties)
        )

    def people_stances(
        self, formula: Formula = "signed"
    ) -> tuple[tuple[str, tuple[IssueStance, ...]], ...]:
        """Return (person, stance on every issue) for the people who answered the survey."""
        return tuple((person.name, self._issues(person, formula)) for person in self.people)

    def who_answered(self, kind: str, *of: str) -> Stances:
        """Return a party (its country and name) or a person (the name) as a respondent.

        Raises UnknownName.
        """
        if kind == PARTY and len(of) == 2:
            return party_stances(self.positions, self.positions.party(*of))
        people = {person.name: person for person in self.people}
        if kind != PERSON or len(of) != 1 or of[0] not in people:
            available = ", ".join(people) or "nobody"
            raise UnknownName(
                f"there is no {' '.join((kind, *of))}. Available: party COUNTRY NAME; person: "
                f"{available}"
            )
        return people[of[0]]

    def compare_issues(
        self, first: str, second: str, formula: Formula = "signed"
    ) -> tuple[RespondentDifference, ...]:
        """Return the differences between two respondents by policy issue. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        seed, resamples = self.options.seed, self.options.resamples
        shared = restrict_to_shared(*pair)[2]
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
        """Return the differences between two respondents by party family. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        rows = leaning_difference(*pair, self.positions, view, self.options.resamples)
        shared = restrict_to_shared(*pair)[2]
        return tuple(
            RespondentDifference(row.family.value, row.first, row.second, row.difference, shared)
            for row in rows
        )

    def _issue(self, stances: Stances, issue: str, formula: Formula) -> IssueStance:
        """Return the stance of a respondent on one policy issue, without the cache."""
        return issue_stance(
            stances, self.positions, issue, formula, self.options.seed, self.options.resamples
        )

    def _issues(self, stances: Stances, formula: Formula) -> tuple[IssueStance, ...]:
        """Return the stances of a respondent on all policy issues, without the cache."""
        return tuple(self._issue(stances, issue, formula) for issue in self.positions.issues)


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The answers of one run and their verdicts."""

    name: str
    "the respondent's name in `ConsistencyJudged.result`"
    run: Run
    report: ReliabilityReport
    reader: ReaderCard
    rulings: RulingNotes
    refusals: ModelRefusals
    answered: AnsweredPlan
    "the answered part of its plan, and the kinds of its answers"
    addresses: Mapping[str, str]
    "personal or impersonal, by template"
    outdated: tuple[str, ...] = ()
    "statements that were changed since it was asked; its stances are on the earlier texts"


@dataclass(frozen=True, eq=False)
class ConsistencyJudged:
    """The analysis of political consistency, with its runs and options."""

    which: AnswerSelection
    options: ConsistencyOptions
    instrument: Instrument
    "the current version"
    runs: tuple[JudgedRun, ...]
    result: Consistency
    labelled: int
    "number of statements with a label other than 0 for any issue"
    fewest: int
    "number of annotators that a policy-issue label needs"

    @property
    def rulings(self) -> RulingNotes:
        """The changes by rulings in the answers of all models."""
        return RulingNotes.joined([judged_run.rulings for judged_run in self.runs])

    @property
    def answered(self) -> tuple[AnsweredPlan, ...]:
        """The answered part of each model's plan, and the kinds of its answers."""
        return tuple(judged_run.answered for judged_run in self.runs)

    @property
    def reports(self) -> dict[str, ReliabilityReport]:
        """The reliability report of each model. Baselines have none."""
        return {judged_run.name: judged_run.report for judged_run in self.runs}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The original wording of each statement."""
        instrument = self.instrument
        return {
            statement.ref: text.text
            for statement in instrument.statements
            if (text := statement.wording(ORIGINAL, instrument.language))
        }

    @cached_property
    def people(self) -> tuple[Bound, ...]:
        """The consistency of the people who answered the survey."""
        return bound_of(self.instrument, self.options.seed, judge_void=self.options.judge_void)

    def run(self, name: str) -> JudgedRun:
        """Return the answers of a model by its name in the figures. Raises UnknownName."""
        for judged_run in self.runs:
            if judged_run.name == name:
                return judged_run
        available = ", ".join(judged_run.name for judged_run in self.runs) or "none"
        raise UnknownName(f"no model is named {name!r} here. Available: {available}")


@at_once
def judge_consistency(
    store: Store, which: AnswerSelection | None = None, options: ConsistencyOptions | None = None
) -> ConsistencyJudged:
    """Return leaning and stances on issues of models, baselines, parties and people.

    Raises UsageError if the store has no instrument, if it has several and none is named, or if the
    instrument has only multiple-choice questions. Raises UnknownName for a model without answers.
    """
    which, options = which or AnswerSelection(), options or ConsistencyOptions()
    instrument = store.instruments.get(which.instrument or answered_instrument(store, ANSWERED_FOR))
    # A stance is on a statement: nobody agrees or disagrees with a multiple-choice question
    questions = {item.ref for item in instrument.choices}
    if questions and all(statement.ref in questions for statement in instrument.statements):
        raise UsageError(
            f"{instrument.name} has only multiple-choice questions, and a stance is on a "
            f"statement; for models' answers: workbench {registry.audit('response_bias').command}"
        )
    judged_runs = tuple(
        _judged(store, which, options, name, run)
        for name, run in _runs(store, which, instrument.name)
    )
    positions = party_positions(instrument, store.issues.gold(instrument.name, options.labels))
    stances_of = posterior_stances if options.stances == "posterior" else reliable_stances
    models = [stances_of(judged_run.name, judged_run.report) for judged_run in judged_runs]
    result = judge(positions, models, store.surveys.answers(instrument.name), options)
    labelled = int((positions.labels != 0).any(axis=0).sum())
    return ConsistencyJudged(
        which,
        options,
        instrument,
        judged_runs,
        result,
        labelled,
        store.issues.fewest(instrument.name),
    )


def _judged(
    store: Store, which: AnswerSelection, options: ConsistencyOptions, name: str, run: Run
) -> JudgedRun:
    """Return the verdicts of one run."""
    verdicts = run_verdicts(store, run, options.rules(), readings=which.readings)
    # These are cached, since the reliability audit of the run has the same ones
    refusals = replace(refusals_of(store, run), model=name)
    return JudgedRun(
        name,
        run,
        verdicts.report,
        verdicts.card,
        verdicts.told,
        refusals,
        with_answer_kinds(answered_plan(store, run), verdicts.given, refusals, name),
        {template.name: template.address for template in store.runs.templates(run)},
        tuple(store.runs.outdated(run)),
    )


def _runs(store: Store, which: AnswerSelection, instrument: str) -> tuple[tuple[str, Run], ...]:
    """Return the selected runs, under distinct names. Raises UnknownName.

    A run in which all prompts failed is included if its model is named and has no run with answers:
    its verdicts then raise an error that says why. A model that nobody named must not keep the
    others from being judged.
    """
    available = runs_of(store, ANSWERED_FOR, instrument, templates=which.templates)
    runs = split_by_fingerprint(
        store,
        matching_runs(available, which.sampling, which.dtype, which.snapshot),
        which.fingerprint,
    )
    if available and not runs:
        described = ", ".join(
            dict.fromkeys(f"{run.sampling} in {run.dtype}, {run.version}" for run in available)
        )
        raise UnknownName(
            f"{instrument} has no reliability answers of this sampling, dtype and snapshot. "
            f"Available: {described}"
        )
    models = {run.model for run in runs}
    missing_names = without_runs(store, runs, which.models)
    if missing_names:
        raise UnknownName(
            f"{instrument} has no reliability answers by {', '.join(missing_names)}. Models with "
            f"answers: {', '.join(sorted(models)) or 'nobody'}"
        )
    answered_models = {run.model for run in runs if run.responses}
    selected = [
        run
        for run in runs_of_models(store, runs, which.models)
        if run.responses or (which.models and run.model not in answered_models)
    ]
    return tuple(named_runs(selected).items())
