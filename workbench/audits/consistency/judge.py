"""ProbVAA: do a model's reliable stances add up to a worldview?

Ceron et al. 2024 (TACL), section 7. Two analyses of the statements on which a model passes the reliability tests: with
which party family it agrees (`consistency_leaning`), and how far it supports each policy issue (`consistency_issues`).
Two baselines, which always agree and always disagree, go through the same code, and so do parties and people who
answered the survey. What is a stance, and what it is compared with: `consistency_stances`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.audits.consistency.issues import (
    FEWEST,
    FORMULAS,
    MEASURES,
    Formula,
    IssueStance,
    LabelledStatement,
    Tally,
    issue_difference,
    issue_stance,
    labelled_statements,
)
from workbench.audits.consistency.leaning import (
    VIEWS,
    FamilyShare,
    Leaning,
    PartyShare,
    PartyStatement,
    View,
    leaning,
    leaning_difference,
    party_shares,
    party_statements,
)
from workbench.audits.consistency.stances import (
    ALWAYS_AGREE,
    ALWAYS_DISAGREE,
    FAMILIES,
    Family,
    Kind,
    PartyPositions,
    Shared,
    Stances,
    baselines,
    matched,
    party_positions,
    party_stances,
    reliable_stances,
    survey_stances,
)
from workbench.domain.instruments import Party, SurveyAnswer
from workbench.domain.keys import SEED
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName, UsageError

__all__ = [
    "ALWAYS_AGREE",
    "ALWAYS_DISAGREE",
    "FAMILIES",
    "FEWEST",
    "FORMULAS",
    "MEASURES",
    "VIEWS",
    "Consistency",
    "Difference",
    "Family",
    "FamilyShare",
    "Formula",
    "IssueStance",
    "Kind",
    "LabelledStatement",
    "Leaning",
    "Options",
    "PartyPositions",
    "PartyShare",
    "PartyStances",
    "PartyStatement",
    "Stances",
    "Tally",
    "View",
    "baselines",
    "judge",
    "party_positions",
    "party_stances",
    "reliable_stances",
    "survey_stances",
]


@dataclass(frozen=True, slots=True)
class Options:
    """The choices behind the figures; recorded with every result."""

    seed: int = SEED
    resamples: int = 1000
    "of statements, for each interval; 0: no intervals"

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise UsageError(f"found the seed {self.seed}; give 0 or more")
        if self.resamples < 0:
            raise UsageError(f"found {self.resamples} resamples; give 0 or more")


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two respondents differ, on the statements that both were asked."""

    name: str
    "of the policy issue, or of the party family"
    first: float
    second: float
    "both on shared statements alone; NaN where undefined"
    difference: Estimate
    "first - second, with its paired bootstrap interval"
    shared: Shared
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
    options: Options | None = None,
) -> Consistency:
    """Return the analysis of some models, of none, and always of the two baselines.

    The baselines answer the statements that any of the models was asked, so that both stand on the same ground; without
    a model, all statements with positions.
    """
    asked = {ref for model in models for ref in model.statements}
    refs = tuple(ref for ref in positions.statements if ref in asked or not models)
    known = set(positions.statements)
    kept = tuple(model.on([ref for ref in model.statements if ref in known]) for model in models)
    return Consistency(positions, (*kept, *baselines(refs)), survey_stances(survey), options or Options())


@dataclass(frozen=True, eq=False)
class Consistency:
    """Leaning and stance on issues of every respondent. Figures are computed when they are asked for, and kept."""

    positions: PartyPositions
    respondents: tuple[Stances, ...]
    "models, then the two baselines; names are unique"
    people: tuple[Stances, ...]
    "who answered the survey, and only originals"
    options: Options

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
        """Return how often a respondent answers like left, center and right parties. Raises UnknownName."""
        if (name, view) not in self._leanings:
            one, options = self.respondent(name), self.options
            self._leanings[name, view] = leaning(one, self.positions, view, options.resamples)
        return self._leanings[name, view]

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

    def issue_statements(self, name: str, issue: str) -> tuple[LabelledStatement, ...]:
        """Return the statements behind a respondent's stance on an issue. Raises UnknownName."""
        return labelled_statements(self.respondent(name), self.positions, issue)

    def party_stances(self, formula: Formula = "signed") -> tuple[PartyStances, ...]:
        """Return every party taken as a respondent: all of its answers are reliable, neutral ones are no stance."""
        return tuple(
            PartyStances(
                party, self.positions.families[place], self._issues(party_stances(self.positions, place), formula)
            )
            for place, party in enumerate(self.positions.parties)
        )

    def people_stances(self, formula: Formula = "signed") -> tuple[tuple[str, tuple[IssueStance, ...]], ...]:
        """Return (person, stance on every issue) of those who answered the survey."""
        return tuple((one.name, self._issues(one, formula)) for one in self.people)

    def compare_issues(self, first: str, second: str, formula: Formula = "signed") -> tuple[Difference, ...]:
        """Return per policy issue how far two respondents differ. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        seed, resamples = self.options.seed, self.options.resamples
        shared = matched(*pair)[2]
        return tuple(
            Difference(issue, *issue_difference(*pair, self.positions, issue, formula, seed, resamples), shared)
            for issue in self.positions.issues
        )

    def compare_leaning(self, first: str, second: str, view: View = "all") -> tuple[Difference, ...]:
        """Return per party family how far two respondents differ. Raises UnknownName."""
        pair = self.respondent(first), self.respondent(second)
        rows = leaning_difference(*pair, self.positions, view, self.options.resamples)
        shared = matched(*pair)[2]
        return tuple(Difference(of.value, one, other, gap, shared) for of, one, other, gap in rows)

    def _issue(self, one: Stances, issue: str, formula: Formula) -> IssueStance:
        return issue_stance(one, self.positions, issue, formula, self.options.seed, self.options.resamples)

    def _issues(self, one: Stances, formula: Formula) -> tuple[IssueStance, ...]:
        return tuple(self._issue(one, issue, formula) for issue in self.positions.issues)
