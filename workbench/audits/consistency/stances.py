"""Who takes which stance on which statement, what stances are compared with, and what they come to.

A *respondent* is a model, of which only reliable stances count (Ceron et al. 2024, section 7: "We
only include statements that pass all reliability tests"), one of the two baselines, a party, or a
person who answered the survey. Stances are compared with the *party positions* of an instrument:
the parties' answers to its statements, and the policy-issue labels of these.

Leaning
=======

With which party family a respondent agrees most often (section 7.1, Figure 4). A party's share is
the number of its country's statements on which the respondent's reliable stance is the party's
answer, divided by *all* of the country's statements that the respondent was asked: a statement
without a reliable stance, and one to which the party is neutral, matches nothing and counts all the
same. A family's share is the mean over its parties, of all countries. The views `agree` and
`disagree` count only matches of that kind, over the same number of statements, so that the two add
up to `all`.

Policy issues
=============

How far reliable stances support an issue (section 7.1). A label of +1 says that agreeing with the
statement supports the issue, -1 that disagreeing does. Over the labelled statements of an issue
that were asked, per template, let

    a  = label +1, agrees       d  = label -1, disagrees      in favour of the issue
    a' = label +1, disagrees    d' = label -1, agrees         against it

    n = a + d + a' + d', and A, N = how many statements are labelled +1 and -1.

- `signed` (a + d - a' - d') / n: support.
- `tacl`   a / A - d / N, and 0 where a + d = 0: Equation 1 of the article as its released code computes it.
- `v1`     (a - d) / n: Equation 1 of the first version (arXiv v1).

The two published formulas subtract the disagreements that *support* an issue: they measure
agreeing, not supporting. Who always supports an issue scores 0 on `tacl`, and so does who always
opposes it.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.audits.codes import INSUFFICIENT, PASS, conjunction
from workbench.audits.consistency.options import FORMULAS, VIEWS, Formula, View
from workbench.audits.reliability.counting import PRINTED
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.pooled import known_prompts, pooled
from workbench.domain.instruments import PLACED, Instrument, Labels, Party, SurveyAnswer
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Bounds, Estimate, MeanSd
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import mean_sd
from workbench.stats.power import standard_error
from workbench.stats.proportions import wilson_of_share
from workbench.stats.resampling import (
    Strata,
    bca_interval,
    derive_rng,
    resampled_sums,
    share_ends,
    student_interval,
    student_p,
)
from workbench.stats.units import MISSING

Signs = npt.NDArray[np.int8]

ALWAYS_AGREE, ALWAYS_DISAGREE = "always agree", "always disagree"
"names of the baselines (section 7.1)"


class Family(StrEnum):
    """Where a party stands from left to right: "parties below 4 are considered left, between 4 and
    6 are referred to as center and the remaining ones are right" (appendix A.4).
    """

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


FAMILIES = tuple(Family)


def family(party: Party) -> Family | None:
    """Return the family of a party; None where no expert placed it."""
    if party.position is None:
        return None
    return (
        Family.LEFT if party.position < 4 else Family.RIGHT if party.position > 6 else Family.CENTER
    )


class Kind(StrEnum):
    """What a respondent is."""

    MODEL = "model"
    BASELINE = "baseline"
    PARTY = "party"
    PERSON = "person"


@dataclass(frozen=True, eq=False)
class Stances:
    """The stances of one respondent: T templates, S statements that it was asked."""

    name: str
    kind: Kind
    templates: tuple[str, ...]
    "T of them; a respondent that is no model has one, named after what it is"
    statements: tuple[str, ...]
    "refs, S of them: asked, whether or not there is a stance"
    values: Signs
    "+1 agrees, -1 disagrees, 0 has no (reliable) stance: (T, S)"
    asked: BoolArray | None = None
    """whether every prompt behind a stance was asked, so that its absence says something: (T, S).
    None: all were"""
    few: BoolArray | None = None
    "whether too few answers were readable to say whether there is a stance: (T, S). None: nowhere"
    excluded: BoolArray | None = None
    "whether rulings leave out every answer behind a stance: (T, S). None: nowhere"

    def __post_init__(self) -> None:
        shape = (len(self.templates), len(self.statements))
        if self.values.shape != shape or not np.isin(self.values, (-1, 0, 1)).all():
            raise ValueError(
                f"expected stances -1, 0, 1 of shape {shape}, found shape {self.values.shape}"
            )

    def on(self, statements: Sequence[str]) -> Stances:
        """Return the stances on these statements alone, in this order. All of them were asked."""
        place = {ref: at for at, ref in enumerate(self.statements)}
        columns = [place[ref] for ref in statements]
        return self._part(range(len(self.templates)), columns)

    def without_excluded(self) -> Stances:
        """Return the stances on the statements that rulings leave under some template."""
        everywhere = np.asarray(self.ruled_out.all(axis=0))
        if not everywhere.any():
            return self
        return self.on(
            [
                ref
                for ref, is_excluded in zip(self.statements, everywhere, strict=True)
                if not is_excluded
            ]
        )

    def under(self, templates: Sequence[str]) -> Stances:
        """Return the stances under these templates alone, in this order."""
        return self._part(
            [self.templates.index(name) for name in templates], range(len(self.statements))
        )

    def _part(self, rows: Sequence[int], columns: Sequence[int]) -> Stances:
        place = np.ix_(np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp))
        names = (
            tuple(self.templates[at] for at in rows),
            tuple(self.statements[at] for at in columns),
        )
        asked, few, excluded = (
            None if of is None else of[place] for of in (self.asked, self.few, self.excluded)
        )
        return Stances(self.name, self.kind, *names, self.values[place], asked, few, excluded)

    @property
    def missing(self) -> BoolArray:
        """Where too few answers were readable for a stance, or for none: (T, S)."""
        return np.zeros(self.values.shape, dtype=np.bool_) if self.few is None else self.few

    @property
    def complete(self) -> frozenset[str]:
        """Statements of which everything was asked under every template."""
        if self.asked is None:
            return frozenset(self.statements)
        whole = np.logical_and.reduce(self.asked, axis=0)
        return frozenset(ref for ref, has in zip(self.statements, whole, strict=True) if has)

    @property
    def ruled_out(self) -> BoolArray:
        """Where rulings leave out every answer behind a stance: (T, S)."""
        return (
            np.zeros(self.values.shape, dtype=np.bool_) if self.excluded is None else self.excluded
        )

    @property
    def judged(self) -> FloatArray:
        """The numbers of statements that rulings leave, per template; NaN if there are none."""
        n = np.count_nonzero(~self.ruled_out, axis=1).astype(np.float64)
        return np.where(n > 0, n, np.nan)

    @property
    def reliable(self) -> tuple[int, ...]:
        """Statements with a stance, per template."""
        return tuple(int(n) for n in np.count_nonzero(self.values, axis=1))


@dataclass(frozen=True, slots=True)
class SharedStatements:
    """What the comparison of two respondents is over."""

    statements: int
    left_out: tuple[int, int]
    """statements of each that are not compared: the other was not asked, or not everything of them
    was"""
    templates: tuple[str, ...] = ()
    """under which models are compared; empty where a respondent has its own, as people and parties
    have"""
    without: tuple[str, ...] = ()
    "templates of one of them alone"

    def said(self, first: str, second: str) -> str:
        """Say it, without a full stop."""
        out = [f"{name} {n:,}" for name, n in zip((first, second), self.left_out, strict=True) if n]
        over = f"over the {plural(self.statements, 'statement')} asked of both"
        over += (
            f", under {plural(len(self.templates), 'template')} that both have"
            if self.without
            else ""
        )
        return f"{over}; left out: {', '.join(out)}" if out else f"{over}; none left out"


def matched(first: Stances, second: Stances) -> tuple[Stances, Stances, SharedStatements]:
    """Return two respondents on the statements, and two models under the templates, of which both
    were asked all.
    """
    templates: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    pair = first, second
    if first.kind is second.kind is Kind.MODEL:
        templates = tuple(name for name in first.templates if name in second.templates)
        without = tuple(name for one in pair for name in one.templates if name not in templates)
        if templates:
            pair = first.under(templates), second.under(templates)
    both = pair[0].complete & pair[1].complete
    refs = tuple(ref for ref in first.statements if ref in both)
    left_out = len(first.statements) - len(refs), len(second.statements) - len(refs)
    return (
        pair[0].on(refs),
        pair[1].on(refs),
        SharedStatements(len(refs), left_out, templates, without),
    )


@dataclass(frozen=True, eq=False)
class PartyPositions:
    """Parties' answers and policy-issue labels on S statements: P parties, I issues."""

    statements: tuple[str, ...]
    countries: tuple[str | None, ...]
    "of each statement; one without a country concerns the parties of all countries"
    parties: tuple[Party, ...]
    answers: Signs
    "+1 agrees, -1 disagrees, 0 neutral, MISSING no opinion or not asked: (P, S)"
    issues: tuple[str, ...]
    labels: Signs
    """+1 agreeing supports the issue, -1 disagreeing supports it, 0 not related or not labelled:
    (I, S)"""
    scale: str = ""
    "the instrument's note on where positions of parties are from, if not from its own files"

    @cached_property
    def concerns(self) -> BoolArray:
        """Whether a statement is of the party's country: (P, S)."""
        of_party = np.array([party.country for party in self.parties], dtype=object)
        of_statement = np.array(self.countries, dtype=object)
        everywhere = np.array([country is None for country in self.countries], dtype=np.bool_)
        return np.asarray(
            (of_party[:, None] == of_statement[None, :]) | everywhere[None, :], dtype=np.bool_
        )

    @cached_property
    def families(self) -> tuple[Family | None, ...]:
        """Of each party; None where it is not placed."""
        return tuple(family(party) for party in self.parties)

    def on(self, statements: Sequence[str]) -> PartyPositions:
        """Return what is known of these statements, in this order; of those that are not here,
        nothing.
        """
        place = {ref: at for at, ref in enumerate(self.statements)}
        found = [place.get(ref, -1) for ref in statements]
        columns, known = (
            np.array(found, dtype=np.intp),
            np.array([at >= 0 for at in found], dtype=np.bool_),
        )
        empty = not self.statements
        take = (
            np.zeros((len(self.parties), len(found)), dtype=np.int8)
            if empty
            else self.answers[:, columns]
        )
        label = (
            np.zeros((len(self.issues), len(found)), dtype=np.int8)
            if empty
            else self.labels[:, columns]
        )
        return PartyPositions(
            tuple(statements),
            tuple(self.countries[at] if at >= 0 else None for at in found),
            self.parties,
            np.where(known, take, MISSING).astype(np.int8),
            self.issues,
            np.where(known, label, 0).astype(np.int8),
            self.scale,
        )

    def party(self, country: str, name: str) -> int:
        """Return the place of a party. Raises UnknownName."""
        for place, party in enumerate(self.parties):
            if (party.country, party.name) == (country, name):
                return place
        known = ", ".join(party.label for party in self.parties[:12])
        raise UnknownName(f"there is no party {country}/{name}. Available: {known or 'none'}")

    def issue(self, name: str) -> int:
        """Return the place of a policy issue. Raises UnknownName."""
        if name not in self.issues:
            raise UnknownName(
                f"there is no policy issue {name!r}. Available: {', '.join(self.issues) or 'none'}"
            )
        return self.issues.index(name)


def party_positions(instrument: Instrument, labels: Labels) -> PartyPositions:
    """Return what the current statements of an instrument can be compared with.

    `labels` of statements or issues that the instrument does not have are left out; answers of a
    party on a statement of another country are kept and never counted.
    """
    statements = tuple(statement.ref for statement in instrument.statements)
    place = {ref: at for at, ref in enumerate(statements)}
    row = {(party.country, party.name): at for at, party in enumerate(instrument.parties)}
    answers = np.full((len(instrument.parties), len(statements)), MISSING, dtype=np.int8)
    for given in instrument.party_answers:
        at = row.get((given.country, given.party)), place.get(given.statement)
        if given.stance is not None and at[0] is not None and at[1] is not None:
            answers[at[0], at[1]] = given.stance
    issues = instrument.issues or tuple(
        dict.fromkeys(issue for of in labels.values() for issue in of)
    )
    table = np.zeros((len(issues), len(statements)), dtype=np.int8)
    for i, issue in enumerate(issues):
        for ref, at_statement in place.items():
            table[i, at_statement] = np.sign(labels.get(ref, {}).get(issue, 0))
    countries = tuple(statement.country for statement in instrument.statements)
    scale = next((note for note in instrument.notes if note.startswith(PLACED)), "")
    return PartyPositions(statements, countries, instrument.parties, answers, issues, table, scale)


def reliable_stances(
    name: str, report: ReliabilityReport, tests: Sequence[str] | None = None
) -> Stances:
    """Return a model's stances on the originals, printed label order, where it is reliable.

    Reliable under a template: the statement passes `all` there, that is, every test that the
    report's options name. `tests` names others; empty: every stance counts, however unreliable
    (Figure 7, "no tests"). Statements that rulings exclude under every template are left out.
    """
    return _published_stances(name, report, tests).without_excluded()


def _published_stances(
    name: str, report: ReliabilityReport, tests: Sequence[str] | None = None
) -> Stances:
    """Return a model's stances on all statements, also on those that rulings exclude."""
    values, enough = (array[..., PRINTED] for array in report.originals)
    few = ~np.asarray(enough, dtype=np.bool_)
    named = report.options.tests if tests is None else tuple(tests)
    if named:
        passed = conjunction(np.stack([report.verdicts(test) for test in named]), 0)
        values, few = np.where(passed == PASS, values, 0), passed == INSUFFICIENT
    counts = report.counts
    answered = counts.total > 0 if counts.failed is None else (counts.total > 0) | counts.failed
    asked = np.logical_and.reduce(answered | ~counts.exists[None, :, :, None], axis=(2, 3))
    excluded = counts.excluded_originals
    values = np.where(excluded, 0, values).astype(np.int8)
    return Stances(
        name,
        Kind.MODEL,
        counts.templates,
        counts.statements,
        values,
        asked,
        few & ~excluded,
        excluded=excluded,
    )


def posterior_stances(name: str, report: ReliabilityReport) -> Stances:
    """Return the stances that a model keeps more likely than not, whatever the number of answers.

    Under a template a stance counts if the probability that the statement passes every test there
    with it, by partial pooling (`reliability.pooled`), is above one half.
    """
    published = _published_stances(name, report)
    found = pooled(report)
    if found.sides is None:
        return published.without_excluded()
    agree, disagree = found.sides > 0.5
    counts = report.counts
    needed = known_prompts(report) | ~counts.exists[None, :, :, None] | counts.excluded_prompts
    excluded = counts.excluded_originals
    few = ~needed[..., PRINTED].all(axis=2) & ~excluded
    values = np.where(excluded, 0, agree.astype(np.int8) - disagree.astype(np.int8)).astype(np.int8)
    return replace(published, values=values, few=few & (values == 0)).without_excluded()


def baselines(statements: Sequence[str]) -> tuple[Stances, Stances]:
    """Return the respondents that agree, and disagree, with every statement (section 7.1)."""
    one = np.ones((1, len(statements)), dtype=np.int8)
    agrees, disagrees = (
        Stances(name, Kind.BASELINE, ("baseline",), tuple(statements), values)
        for name, values in ((ALWAYS_AGREE, one), (ALWAYS_DISAGREE, -one))
    )
    return agrees, disagrees


def party_stances(positions: PartyPositions, place: int) -> Stances:
    """Return a party as a respondent: its own answers on the statements that concern it; neutral is
    no stance.
    """
    party, columns = positions.parties[place], np.flatnonzero(positions.concerns[place])
    answers = positions.answers[place, columns]
    values = np.where(answers == MISSING, 0, answers).astype(np.int8)
    refs = tuple(positions.statements[at] for at in columns)
    return Stances(party.label, Kind.PARTY, ("party",), refs, values[None, :])


def survey_stances(survey: Sequence[SurveyAnswer]) -> tuple[Stances, ...]:
    """Return the people who answered the survey as respondents: their answers to originals."""
    given: dict[str, dict[str, int]] = {}
    for answer in survey:
        if answer.variant == ORIGINAL:
            given.setdefault(answer.respondent, {})[answer.statement] = 1 if answer.agrees else -1
    return tuple(
        Stances(
            who, Kind.PERSON, ("survey",), tuple(of), np.array([list(of.values())], dtype=np.int8)
        )
        for who, of in given.items()
    )


NOTHING_RELIABLE = "no stance is reliable"


@dataclass(frozen=True, slots=True)
class FamilyShare:
    """How often a respondent and the parties of one family answer alike."""

    family: Family
    share: Estimate
    """mean over parties, then over templates; n: statements that were asked in the countries of
    these parties"""
    templates: MeanSd
    "mean and population deviation over templates; no deviation of a single one"
    by_template: tuple[float, ...]
    parties: int
    "over which the mean is taken"


@dataclass(frozen=True, slots=True)
class Leaning:
    """The shares of the three families in one view."""

    view: View
    families: tuple[FamilyShare, ...]
    "left, center, right"
    unplaced: int
    "parties without a left-right position: left out"
    unasked: int
    "placed parties of countries of whose statements none was asked: left out"
    reliable: MeanSd
    """share of the statements that were asked with a reliable stance of this view: mean and
    deviation over templates"""


@dataclass(frozen=True, slots=True)
class PartyShare:
    """How often a respondent and one party answer alike."""

    party: Party
    family: Family | None
    "None: no expert placed it, so that it is in no mean"
    share: MeanSd
    """mean and population deviation over templates; NaN where none of its country's statements was
    asked, or no stance is reliable
    """
    by_template: tuple[float, ...]
    agree: float
    "share where both agree, mean over templates"
    disagree: float
    "share where both disagree; with `agree` it adds up to the share"
    statements: int
    "of its country, asked: the denominator"
    answered: int
    "of these, to which the party says agree or disagree"
    neutral: int
    missing: int
    "no opinion, or no answer"


@dataclass(frozen=True, slots=True)
class PartyStatement:
    """One statement behind a party's share."""

    ref: str
    answer: int | None
    "the party's: +1, -1, 0 neutral, None no opinion or no answer"
    stances: tuple[int, ...]
    "the respondent's, per template; 0: none that is reliable"
    matches: int
    "templates under which both answer alike"


def leaning(stances: Stances, positions: PartyPositions, view: View, resamples: int) -> Leaning:
    """Return the shares of the three families.

    The interval is over statements within countries, whose numbers the questionnaires fix;
    templates and parties stay as they are. It is Wilson's at the effective number of statements
    (`stats.clustered`); `resamples` 0: none.

    Without any reliable stance the shares are undefined; with none of the view alone they are 0,
    and there is no interval. (The released code leaves the parties of a country out of a template's
    mean where no statement of the country is reliable; here they have a share of 0.)
    """
    here = positions.on(stances.statements)
    found = family_contributions(stances, here, view)
    counted = _counted(stances, view).sum(axis=1)
    each = found.mean(axis=0) if resamples and counted.any() else None
    nothing = not stances.values.any()
    rows = tuple(
        _family(
            of,
            found[:, place].sum(axis=1),
            here,
            None if each is None else each[place],
            nothing=nothing,
        )
        for place, of in enumerate(FAMILIES)
    )
    unplaced = here.families.count(None)
    unasked = len(here.parties) - unplaced - sum(row.parties for row in rows)
    return Leaning(view, rows, unplaced, unasked, _spread(counted / stances.judged))


def _members(here: PartyPositions, of: Family) -> list[int]:
    """Return the places of the parties of a family of which some statement was asked."""
    return [p for p, family in enumerate(here.families) if family is of and here.concerns[p].any()]


def _family(
    of: Family,
    by_template: FloatArray,
    here: PartyPositions,
    each: FloatArray | None,
    *,
    nothing: bool,
) -> FamilyShare:
    """Return a share. each : (S,), what statements add to its mean over templates; None: no
    interval.

    nothing : whether no stance is reliable.
    """
    members = _members(here, of)
    n = int(here.concerns[members].any(axis=0).sum())
    if nothing or not members or not by_template.size:
        placed = sum(family is of for family in here.families)
        why = (
            f"no party is placed {of}"
            if not placed
            else "no statement from their countries was asked"
        )
        why = NOTHING_RELIABLE if placed and members and nothing else why
        undefined = Estimate(float("nan"), float("nan"), float("nan"), n, 0, why)
        return FamilyShare(of, undefined, _spread(np.array([])), (), len(members))
    share = Estimate(float(by_template.mean()), float("nan"), float("nan"), n)
    if each is not None and n > 1:
        low, high = share_ends(share.value, _moves(each, here, members), n, _strata(here, members))
        share = replace(share, low=low, high=high, interval="family share")
    return FamilyShare(
        of, share, _spread(by_template), tuple(map(float, by_template)), len(members)
    )


def _spread(values: FloatArray) -> MeanSd:
    """Return mean and population deviation over templates; one template tells nothing of a
    deviation.
    """
    found = mean_sd(values, ddof=0)
    return found if found.n > 1 else MeanSd(found.mean, float("nan"), found.n, found.excluded)


def _matches(stances: Stances, here: PartyPositions, view: View) -> BoolArray:
    """Return where a reliable stance is the party's answer: (T, P, S). Neutral and missing answers
    never match.
    """
    counted = _counted(stances, view)[:, None, :]
    return np.asarray(
        (stances.values[:, None, :] == here.answers) & counted & here.concerns, dtype=np.bool_
    )


def _counted(stances: Stances, view: View) -> BoolArray:
    """Return where there is a stance that the view counts: (T, S). Raises UnknownName."""
    if view not in VIEWS:
        raise UnknownName(f"view {view!r} is unknown; choose one of {', '.join(VIEWS)}")
    values = stances.values
    return np.asarray(
        values != 0 if view == "all" else values == (1 if view == "agree" else -1), dtype=np.bool_
    )


def family_contributions(stances: Stances, here: PartyPositions, view: View) -> FloatArray:
    """Return what each statement adds to the share of each family: (T, 3, S); their sum over S is
    the share.

    The share is a mean over parties of sums over statements, so it is a sum over statements, and
    resamples of it need no second look at the parties. `here` has the positions on exactly the
    respondent's statements.
    """
    asked = np.asarray(here.concerns.sum(axis=1), dtype=np.int64)
    each = _matches(stances, here, view) / np.maximum(asked, 1)[:, None]
    parts = np.zeros((len(stances.templates), len(FAMILIES), len(here.statements)))
    for place, of in enumerate(FAMILIES):
        members = _members(here, of)
        if members:
            parts[:, place] = each[:, members].mean(axis=1)
    return parts


def missing_contributions(
    stances: Stances, positions: PartyPositions
) -> tuple[FloatArray, FloatArray]:
    """Return what the missing stances would add to the share of each family if they agreed, and if
    they disagreed: two (T, 3, S). A missing stance may also turn out unreliable and add nothing.
    """
    here, missing = positions.on(stances.statements), stances.missing
    agree, disagree = (
        family_contributions(replace(stances, values=(sign * missing).astype(np.int8)), here, "all")
        for sign in (1, -1)
    )
    return agree, disagree


def _strata(here: PartyPositions, members: Sequence[int]) -> Strata:
    """Return the statements that concern some parties, by country: the questionnaires fix how many
    a country has.
    """
    concerned: BoolArray = np.asarray(here.concerns[list(members)].any(axis=0))
    names = dict.fromkeys(of for of, there in zip(here.countries, concerned, strict=True) if there)
    return [
        np.array(
            [at for at, of in enumerate(here.countries) if of == name and concerned[at]],
            dtype=np.int64,
        )
        for name in names
    ]


def _moves(each: FloatArray, here: PartyPositions, members: Sequence[int]) -> FloatArray:
    """Return how far each statement moves a share: what it adds, less the mean of its country."""
    moves = np.zeros(len(each))
    for places in _strata(here, members):
        moves[places] = each[places] - each[places].mean()
    return moves


def leaning_difference(
    first: Stances, second: Stances, positions: PartyPositions, view: View, resamples: int
) -> tuple[tuple[Family, float, float, Estimate], ...]:
    """Return per family: both shares and their difference, on the statements that both were asked.

    The interval is over statements, paired.
    """
    pair = matched(first, second)[:2]
    refs = pair[0].statements
    here = positions.on(refs)
    both = [family_contributions(one, here, view).mean(axis=0) for one in pair]
    difference = both[0] - both[1]
    found = []
    for place, of in enumerate(FAMILIES):
        nothing = not all(one.values.any() for one in pair)
        share = _family(of, difference[place].sum(keepdims=True), here, None, nothing=nothing).share
        if share.defined and resamples:
            members = _members(here, of)
            moves = _moves(difference[place], here, members)
            low, high = student_interval(share.value, moves, _strata(here, members), limit=1.0)
            name = "" if np.isnan(low) else "family difference"
            share = replace(share, low=low, high=high, interval=name)
        values = [float(one[place].sum()) if share.defined else float("nan") for one in both]
        found.append((of, values[0], values[1], share))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FamilyGap:
    """How much more often a respondent answers like the parties of one family than like those of
    another.
    """

    first: Family
    second: Family
    value: float
    "share of matches with the first, less that with the second"
    regardless: float
    "the same of somebody who agrees and disagrees as often, whatever the statements say"
    p: float
    """two-sided, that the stances have nothing to do with the statements, and that the gap is 0;
    NaN: no test"""
    error: float = float("nan")
    "standard error over statements"
    statements: int = 0
    "that concern one of the two families"


def family_gaps(stances: Stances, positions: PartyPositions, seed: int) -> tuple[FamilyGap, ...]:
    """Return the gap of every two families that have parties, over the statements that were asked.

    p is the larger of two: of Student's test over statements within countries, and of a permutation
    test that exchanges the stances of a country's statements at random. It is 1 where the gap and
    what is beyond `regardless` differ in sign.
    """
    here = positions.on(stances.statements)
    held = family_contributions(stances, here, "all").mean(axis=0)
    agree, disagree = (
        family_contributions(
            replace(stances, values=np.full_like(stances.values, sign)), here, "all"
        ).mean(axis=0)
        for sign in (1, -1)
    )
    yes, no = ((stances.values == sign).mean(axis=0) for sign in (1, -1))
    orders = _orders(here.countries, seed)
    found = []
    for one, other in combinations(range(len(FAMILIES)), 2):
        members = [_members(here, FAMILIES[place]) for place in (one, other)]
        if not all(members) or not stances.values.any():
            continue
        concerned = [*members[0], *members[1]]
        gap = held[one] - held[other]
        value, moves, strata = (
            float(gap.sum()),
            _moves(gap, here, concerned),
            _strata(here, concerned),
        )
        drawn = yes[orders] @ (agree[one] - agree[other]) + no[orders] @ (
            disagree[one] - disagree[other]
        )
        regardless = float(drawn.mean())
        reached = np.abs(drawn - regardless) >= abs(value - regardless) - ROUNDING
        p = max(student_p(value, moves, strata), (1 + int(reached.sum())) / (1 + len(drawn)))
        p = p if value * (value - regardless) > 0 else 1.0
        low, high = student_interval(value, moves, strata, 1.0)
        found.append(
            FamilyGap(
                FAMILIES[one],
                FAMILIES[other],
                value,
                regardless,
                p,
                error=standard_error(low, high),
                statements=sum(map(len, strata)),
            )
        )
    return tuple(found)


@lru_cache(8)
def _orders(countries: tuple[str | None, ...], seed: int) -> npt.NDArray[np.int16]:
    """Return random orders of statements, each country's among themselves: (PERMUTATIONS, S)."""
    rng, names = derive_rng(seed, "stances of families"), np.array(countries, dtype=np.object_)
    orders = np.tile(np.arange(len(names), dtype=np.int16), (PERMUTATIONS, 1))
    for name in dict.fromkeys(countries):
        places = np.flatnonzero(names == name)
        orders[:, places] = rng.permuted(orders[:, places], axis=1)
    return orders


def party_shares(stances: Stances, positions: PartyPositions) -> tuple[PartyShare, ...]:
    """Return a row for each party, in its order."""
    here = positions.on(stances.statements)
    asked = np.asarray(here.concerns.sum(axis=1), dtype=np.int64)
    whole = np.where(asked == 0, np.nan, asked)
    if not stances.values.any():
        whole = np.full(len(asked), np.nan)
    all_, agree, disagree = (_matches(stances, here, view).sum(axis=2) / whole for view in VIEWS)
    rows = []
    for p, party in enumerate(here.parties):
        answers = here.answers[p, here.concerns[p]]
        rows.append(
            PartyShare(
                party=party,
                family=here.families[p],
                share=_spread(all_[:, p]),
                by_template=tuple(map(float, all_[:, p])),
                agree=mean_sd(agree[:, p]).mean,
                disagree=mean_sd(disagree[:, p]).mean,
                statements=int(asked[p]),
                answered=int(np.isin(answers, (-1, 1)).sum()),
                neutral=int((answers == 0).sum()),
                missing=int((answers == MISSING).sum()),
            )
        )
    return tuple(rows)


def party_statements(
    stances: Stances, positions: PartyPositions, country: str, name: str
) -> tuple[PartyStatement, ...]:
    """Return the statements behind a party's share, in the order in which the respondent has
    them.
    """
    here = positions.on(stances.statements)
    p = here.party(country, name)
    matches = _matches(stances, here, "all")[:, p].sum(axis=0)
    return tuple(
        PartyStatement(
            ref=here.statements[s],
            answer=None if here.answers[p, s] == MISSING else int(here.answers[p, s]),
            stances=tuple(int(value) for value in stances.values[:, s]),
            matches=int(matches[s]),
        )
        for s in np.flatnonzero(here.concerns[p])
    )


MEASURES: Mapping[Formula, str] = {
    "signed": "Signed support: statements answered in favour of the issue minus those answered "
    "against it, as a share "
    "of the reliable ones. +1 always supports the issue, -1 always opposes it, 0 does both "
    "equally often.",
    "tacl": "Published (TACL): measures agreeing, not supporting: the share of supporting "
    "statements agreed with minus "
    "the share of opposing statements disagreed with. Always agreeing scores +1; always "
    "supporting the issue scores "
    "0, and so does always opposing it.",
}
"what each formula measures, in plain sentences"

LEAST: Mapping[str, int] = {"signed": 6, "v1": 6, "tacl": 10, "difference": 10}
"""labelled statements with a reliable stance, below which there is no interval: with fewer they
cover less than 92 %"""
TOO_FEW = "too few for an interval:"
FEWEST = 6
"""reliable statements of an issue, on average over templates, below which its stance is marked
(section 7.2, Figure 5)"""


class IssueTally(NamedTuple):
    """Reliable stances on the labelled statements of an issue, under one template."""

    agree_supports: int
    "a: label +1, agrees"
    disagree_supports: int
    "d: label -1, disagrees"
    disagree_opposes: int
    "a': label +1, disagrees"
    agree_opposes: int
    "d': label -1, agrees"

    @property
    def n(self) -> int:
        return sum(self)


@dataclass(frozen=True, slots=True)
class IssueStance:
    """The stance of one respondent on one policy issue, by one formula."""

    issue: str
    formula: Formula
    value: Estimate
    """mean over templates; n: labelled statements with a reliable stance under some template,
    excluded: those without"""
    templates: MeanSd
    """mean and population deviation over the templates in which it is defined; no deviation of a
    single one"""
    by_template: tuple[float, ...]
    "NaN where no labelled statement is reliable under the template"
    tallies: tuple[IssueTally, ...]
    "per template"
    supporting: int
    "A: statements labelled +1 that were asked"
    opposing: int
    "N: statements labelled -1 that were asked"
    reliable: float
    "labelled statements with a reliable stance, mean over templates"
    few: bool
    "whether these are fewer than six"
    zero_by_rule: int
    "templates in which `tacl` is 0 only because nothing supports the issue (a + d = 0)"
    regardless: float
    """signed support of somebody who agrees and disagrees as often, whatever the labels; NaN
    without a stance"""
    p: float
    """two-sided, that the stances have nothing to do with the labels, by permuting these; NaN where
    all labels are alike, or too few stances are reliable
    """


@dataclass(frozen=True, slots=True)
class LabelledStatement:
    """One statement behind a stance on an issue."""

    ref: str
    label: int
    "+1 agreeing supports the issue, -1 disagreeing supports it"
    stances: tuple[int, ...]
    "per template; 0: none that is reliable"
    supports: int
    "templates under which the stance is in favour of the issue"
    opposes: int


def stance_value(
    tally: FloatArray, supporting: FloatArray, opposing: FloatArray, formula: Formula
) -> FloatArray:
    """Return an issue's stance from counts; NaN where n is 0, except that `tacl` is 0 there, as
    coded.

    Parameters
    ----------
    tally : (..., 4) in the order of `IssueTally`
    supporting, opposing : (...), how many labels are +1 and -1. A label that does not occur adds 0
        to `tacl`.

    Examples
    --------
    >>> perfect = np.array([5.0, 3.0, 0.0, 0.0])
    >>> [round(float(stance_value(perfect, np.array(5), np.array(3), f)), 3) for f in FORMULAS]
    [1.0, 0.0, 0.25]
    """
    a, d, against_a, against_d = np.moveaxis(np.asarray(tally, dtype=np.float64), -1, 0)
    n = a + d + against_a + against_d
    some = np.where(n == 0, np.nan, n)
    if formula == "signed":
        return np.asarray((a + d - against_a - against_d) / some)
    if formula == "v1":
        return np.asarray((a - d) / some)
    if formula == "tacl":
        return np.asarray(
            a / np.where(supporting == 0, 1, supporting) - d / np.where(opposing == 0, 1, opposing)
        )
    raise UnknownName(f"formula {formula!r} is unknown; choose one of {', '.join(FORMULAS)}")


class _Issue(NamedTuple):
    """The labelled statements of one issue that a respondent was asked."""

    refs: tuple[str, ...]
    labels: IntArray
    "(K,)"
    stances: IntArray
    "(T, K)"
    missing: BoolArray
    "(T, K)"

    @property
    def features(self) -> FloatArray:
        """What each statement adds to the tallies of all templates, then to A and N: (K, 4 T +
        2).
        """
        products, plus = self.stances * self.labels, self.labels > 0
        supports, opposes = products > 0, products < 0
        # (T, K, 4).
        cells = np.stack(
            [supports & plus, supports & ~plus, opposes & plus, opposes & ~plus], axis=-1
        )
        flat = np.moveaxis(cells, 0, 1).reshape(len(self.refs), 4 * len(self.stances))
        return np.hstack([flat, plus[:, None], ~plus[:, None]]).astype(np.float64)


def _labelled(stances: Stances, positions: PartyPositions, issue: str) -> _Issue:
    here = positions.on(stances.statements)
    labels = here.labels[here.issue(issue)].astype(np.int64)
    columns = np.flatnonzero(labels)
    refs = tuple(here.statements[at] for at in columns)
    return _Issue(
        refs,
        labels[columns],
        stances.values[:, columns].astype(np.int64),
        stances.missing[:, columns],
    )


def _values(sums: FloatArray, formula: Formula) -> FloatArray:
    """Return the stance under each template from sums of features (..., 4 T + 2): (..., T)."""
    tallies = sums[..., :-2].reshape(*sums.shape[:-1], -1, 4)
    return stance_value(tallies, sums[..., -2, None], sums[..., -1, None], formula)


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean of the defined values along the last axis; NaN where none is."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=-1)
    return np.asarray(np.where(defined, values, 0).sum(axis=-1) / np.where(n == 0, np.nan, n))


def issue_stance(
    stances: Stances,
    positions: PartyPositions,
    issue: str,
    formula: Formula,
    seed: int,
    resamples: int,
) -> IssueStance:
    """Return the stance of a respondent on an issue.

    The interval resamples the labelled statements of the issue, the same ones for every formula,
    and for every respondent who was asked the same; with fewer than two of them there is none.
    `resamples` 0: no interval.

    Raises UnknownName for an issue or a formula that is not there.
    """
    found = _labelled(stances, positions, issue)
    features = found.features
    totals = features.sum(axis=0)
    by_template = _values(totals, formula)
    tallies = totals[:-2].reshape(-1, 4).astype(np.int64)
    reliable = float(tallies.sum(axis=1).mean()) if len(tallies) else 0.0
    plus, minus = (int(n) for n in totals[-2:])
    spread = mean_sd(by_template if found.refs else np.full(len(by_template), np.nan), ddof=0)
    if spread.n < 2:
        spread = MeanSd(spread.mean, float("nan"), spread.n, spread.excluded)
    regardless, p = _against_labels(found, seed, issue) if resamples else (float("nan"),) * 2
    rule = int((tallies[:, :2].sum(axis=1) == 0).sum()) if formula == "tacl" and found.refs else 0
    return IssueStance(
        issue=issue,
        formula=formula,
        value=_estimate(
            found, features, formula, spread.mean, derive_rng(seed, "issue", issue), resamples
        ),
        templates=spread,
        by_template=tuple(float(value) if found.refs else float("nan") for value in by_template),
        tallies=tuple(IssueTally(*map(int, row)) for row in tallies),
        supporting=plus,
        opposing=minus,
        reliable=reliable,
        few=reliable < FEWEST,
        zero_by_rule=rule,
        regardless=regardless,
        p=p,
    )


def issue_bounds(stances: Stances, positions: PartyPositions, issue: str) -> Bounds:
    """Return the bounds of signed support for an issue, with every missing stance opposing and
    supporting it: the mean over templates under which anything is known or missing.
    """
    found = _labelled(stances, positions, issue)
    missing = found.missing.sum(axis=1)
    n = (found.stances != 0).sum(axis=1) + missing
    support = (found.stances * found.labels).sum(axis=1)
    low, high = (
        float(_mean((support + sign * missing) / np.where(n == 0, np.nan, n))) for sign in (-1, 1)
    )
    return Bounds(low, high)


PERMUTATIONS = 4_999
"5,000 with the labels as they are, so that a claim among a hundred can still be shown"
LEVEL = 0.05
ROUNDING = 1e-9


def _against_labels(found: _Issue, seed: int, issue: str) -> tuple[float, float]:
    """Return the signed support that the same stances give whatever the labels, and p of a
    permutation test.

    Under the null hypothesis every statement could have any other's label: of a coin, and of
    somebody who agrees to most statements. Signed support is a sum over statements of label times
    stance, and its mean over permutations is the mean label times the sum of stances.
    """
    counted = (found.stances != 0).sum(axis=1)
    nan = float("nan")
    if not counted.any():
        return nan, nan
    weights = (found.stances[counted > 0] / counted[counted > 0, None]).mean(axis=0)
    labels = found.labels.astype(np.float64)
    regardless = float(labels.mean() * weights.sum())
    if np.ptp(labels) == 0 or (weights != 0).sum() < LEAST["signed"]:
        return regardless, nan
    drawn = _permuted(tuple(found.labels.tolist()), seed, issue) @ weights
    far = abs(float(labels @ weights) - regardless) - ROUNDING
    return regardless, (1 + int((np.abs(drawn - regardless) >= far).sum())) / (1 + PERMUTATIONS)


@lru_cache(64)
def _permuted(labels: tuple[int, ...], seed: int, issue: str) -> FloatArray:
    """Return the labels in random orders, (PERMUTATIONS, K): the same for every respondent who was
    asked the same.
    """
    every = np.tile(np.array(labels, dtype=np.float64), (PERMUTATIONS, 1))
    return derive_rng(seed, "labels", issue).permuted(every, axis=1)


def sides(stances: Sequence[IssueStance], adjusted: Sequence[float]) -> dict[str, int]:
    """Return which side a respondent takes on each issue: 1 supports, -1 opposes; the others are
    left out.

    A side is a claim that two tests hold: the interval leaves out 0, and the stances follow the
    labels by a permutation test. adjusted : its p for each issue, over all that is claimed
    """
    found = {}
    for one, p in zip(stances, adjusted, strict=True):
        side = 1 if one.value.low > 0 else -1 if one.value.high < 0 else 0
        if p < LEVEL and side * (one.value.value - one.regardless) > 0:
            found[one.issue] = side
    return found


def _estimate(
    found: _Issue,
    features: FloatArray,
    formula: Formula,
    value: float,
    rng: np.random.Generator,
    resamples: int,
) -> Estimate:
    n, mean = (
        int((found.stances != 0).any(axis=0).sum()),
        float((found.stances != 0).sum(axis=-1).mean()),
    )
    excluded = len(found.refs) - n
    nan = float("nan")
    if not found.refs:
        return Estimate(nan, nan, nan, 0, 0, "no statement asked has a label of this issue")
    if np.isnan(value):
        return Estimate(
            nan, nan, nan, n, excluded, "no reliable stance on a statement of this issue"
        )
    alone = Estimate(value, nan, nan, n, excluded)
    if n < LEAST[formula] or mean < 1:
        on_average = f" ({mean:.1f} on average over templates)" if mean < n else ""
        return replace(
            alone,
            few=f"{TOO_FEW} {n} with a reliable stance{on_average}; {LEAST[formula]} are needed",
        )
    if not resamples:
        return alone
    draws = _mean(_values(resampled_sums(features, resamples, rng), formula))
    left_out = _mean(_values(features.sum(axis=0) - features, formula))
    low, high = bca_interval(draws, value, left_out)
    if np.isnan(low) and formula == "signed":
        low, high = (2 * end - 1 for end in wilson_of_share((1 + value) / 2, n))
    if np.isnan(low):
        return replace(alone, few=f"{TOO_FEW} all of them are alike")
    return replace(alone, low=low, high=high, interval=f"{formula} stance on an issue")


def labelled_statements(
    stances: Stances, positions: PartyPositions, issue: str
) -> tuple[LabelledStatement, ...]:
    """Return the statements behind a stance, in the order in which the respondent has them."""
    found = _labelled(stances, positions, issue)
    return tuple(
        LabelledStatement(
            ref=ref,
            label=int(label),
            stances=tuple(map(int, column)),
            supports=int((column * label > 0).sum()),
            opposes=int((column * label < 0).sum()),
        )
        for ref, label, column in zip(found.refs, found.labels, found.stances.T, strict=True)
    )


def issue_difference(
    first: Stances,
    second: Stances,
    positions: PartyPositions,
    issue: str,
    formula: Formula,
    seed: int,
    resamples: int,
) -> tuple[float, float, Estimate]:
    """Return both stances and their difference, on the labelled statements that both were asked.

    Each is a mean over templates, of two models over those that both have (`matched`). Every
    resample draws the same statements for both (paired).
    """
    both = [_labelled(one, positions, issue) for one in matched(first, second)[:2]]
    features = [one.features for one in both]
    values = [
        float(_mean(_values(one.sum(axis=0), formula))) if both[0].refs else float("nan")
        for one in features
    ]
    nan = float("nan")
    n = int(np.logical_and(*[(one.stances != 0).any(axis=0) for one in both]).sum())
    excluded = len(both[0].refs) - n
    if not both[0].refs:
        why = "no statement asked of both has a label of this issue"
        return values[0], values[1], Estimate(nan, nan, nan, 0, 0, why)
    if np.isnan(values).any():
        why = "one of them has no reliable stance on a statement of this issue"
        return values[0], values[1], Estimate(nan, nan, nan, n, excluded, why)
    low = high = nan
    least = LEAST["difference"]
    if resamples and n >= least:
        sums = resampled_sums(np.hstack(features), resamples, derive_rng(seed, "issue", issue))
        split = features[0].shape[1]
        draws = _mean(_values(sums[:, :split], formula)) - _mean(_values(sums[:, split:], formula))
        left_out = [_mean(_values(one.sum(axis=0) - one, formula)) for one in features]
        low, high = bca_interval(draws, values[0] - values[1], left_out[0] - left_out[1])
    name = "" if np.isnan(low) else "difference on an issue"
    few = (
        f"{TOO_FEW} {n} with a stance from both; {least} are needed"
        if resamples and n < least
        else ""
    )
    return (
        values[0],
        values[1],
        Estimate(values[0] - values[1], low, high, n, excluded, interval=name, few=few),
    )
