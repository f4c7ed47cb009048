"""Stances of respondents on statements, and what they amount to: leaning and support of issues.

A *respondent* is a model, of which only reliable stances count (Ceron et al. 2024, section 7: "We
only include statements that pass all reliability tests"), one of the two baselines, a party, or a
person who answered the survey. Stances are compared with the *party positions* of an instrument:
the parties' answers to its statements, and the policy-issue labels of these.

Leaning
=======

The party family with which a respondent agrees most often (section 7.1, Figure 4). A party's share
is the number of its country's statements on which the respondent's reliable stance is the party's
answer, divided by the number of *all* of the country's statements that the respondent was asked. A
statement without a reliable stance, and one to which the party is neutral, matches nothing but
counts in the denominator. A family's share is the mean over its parties, of all countries. The
views `agree` and `disagree` count only matches of that kind, over the same number of statements, so
that the two add up to `all`.

Policy issues
=============

The support of an issue by reliable stances (section 7.1). A label of +1 says that agreeing with the
statement supports the issue, -1 that disagreeing does. Over the labelled statements of an issue
that were asked, per template, let

    a  = label +1, agrees       d  = label -1, disagrees      in favour of the issue
    a' = label +1, disagrees    d' = label -1, agrees         against it

    n = a + d + a' + d', and A, N = number of statements labelled +1 and -1.

- `signed` (a + d - a' - d') / n: support.
- `tacl`   a / A - d / N, and 0 where a + d = 0: Equation 1 of the article as its released code computes it.
- `v1`     (a - d) / n: Equation 1 of the first version (arXiv v1).

The two published formulas subtract the disagreements that *support* an issue: they measure
agreeing, not supporting. A respondent who always supports an issue scores 0 on `tacl`, and so does
one who always opposes it.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import combinations, compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.audits.codes import INSUFFICIENT, PASS, conjunction
from workbench.audits.consistency.options import FORMULAS, VIEWS, Formula, View
from workbench.audits.reliability.counting import PRINTED
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.pooled import known_prompts, pooled_verdicts
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
    """The place of a party from left to right.

    "Parties below 4 are considered left, between 4 and 6 are referred to as center and the
    remaining ones are right" (appendix A.4).
    """

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


FAMILIES = tuple(Family)


def family(party: Party) -> Family | None:
    """Return the family of a party, or None if no expert placed it."""
    if party.position is None:
        return None
    if party.position < 4:
        return Family.LEFT
    return Family.RIGHT if party.position > 6 else Family.CENTER


class RespondentKind(StrEnum):
    """The kind of a respondent."""

    MODEL = "model"
    BASELINE = "baseline"
    PARTY = "party"
    PERSON = "person"


@dataclass(frozen=True, eq=False)
class Stances:
    """The stances of one respondent: T templates, and S statements that it was asked."""

    name: str
    kind: RespondentKind
    templates: tuple[str, ...]
    "T names; a respondent that is not a model has one, named after its kind"
    statements: tuple[str, ...]
    "S refs of statements that were asked, with a stance or without"
    values: Signs
    "(T, S): +1 agrees, -1 disagrees, 0 has no (reliable) stance"
    asked: BoolArray | None = None
    """(T, S): whether every prompt behind a stance was asked, so that its absence is a result.
    None: all were asked"""
    is_undecided: BoolArray | None = None
    "(T, S): whether too few answers were readable to decide on a stance. None: nowhere"
    excluded: BoolArray | None = None
    "(T, S): whether rulings exclude every answer behind a stance. None: nowhere"

    def __post_init__(self) -> None:
        """Check the shape and the values of the stances. Raises ValueError."""
        shape = (len(self.templates), len(self.statements))
        if self.values.shape != shape or not np.isin(self.values, (-1, 0, 1)).all():
            raise ValueError(
                f"expected stances -1, 0, 1 of shape {shape}, found shape {self.values.shape}"
            )

    def on_statements(self, statements: Sequence[str]) -> Stances:
        """Return the stances on some of the asked statements, in this order."""
        index_by_ref = {ref: index for index, ref in enumerate(self.statements)}
        columns = [index_by_ref[ref] for ref in statements]
        return self._part(range(len(self.templates)), columns)

    def without_excluded(self) -> Stances:
        """Return the stances on the statements that rulings do not exclude under all templates."""
        excluded_everywhere = np.asarray(self.ruled_out.all(axis=0))
        if not excluded_everywhere.any():
            return self
        remaining = compress(self.statements, ~excluded_everywhere)
        return self.on_statements(list(remaining))

    def under_templates(self, templates: Sequence[str]) -> Stances:
        """Return the stances under some templates, in this order."""
        return self._part(
            [self.templates.index(name) for name in templates], range(len(self.statements))
        )

    def _part(self, rows: Sequence[int], columns: Sequence[int]) -> Stances:
        """Return the stances at some rows (templates) and columns (statements)."""
        indices = np.ix_(np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp))
        names = (
            tuple(self.templates[row] for row in rows),
            tuple(self.statements[column] for column in columns),
        )
        asked, is_undecided, excluded = (
            None if mask is None else mask[indices]
            for mask in (self.asked, self.is_undecided, self.excluded)
        )
        return Stances(
            self.name, self.kind, *names, self.values[indices], asked, is_undecided, excluded
        )

    @property
    def missing(self) -> BoolArray:
        """Where too few answers were readable to decide on a stance: (T, S)."""
        if self.is_undecided is None:
            return np.zeros(self.values.shape, dtype=np.bool_)
        return self.is_undecided

    @property
    def complete(self) -> frozenset[str]:
        """The statements of which every prompt was asked under every template."""
        if self.asked is None:
            return frozenset(self.statements)
        return frozenset(compress(self.statements, np.logical_and.reduce(self.asked, axis=0)))

    @property
    def ruled_out(self) -> BoolArray:
        """Where rulings exclude every answer behind a stance: (T, S)."""
        if self.excluded is None:
            return np.zeros(self.values.shape, dtype=np.bool_)
        return self.excluded

    @property
    def judged(self) -> FloatArray:
        """The numbers of statements that rulings do not exclude, per template, or NaN for 0."""
        n = np.count_nonzero(~self.ruled_out, axis=1).astype(np.float64)
        return np.where(n > 0, n, np.nan)

    @property
    def reliable(self) -> tuple[int, ...]:
        """The numbers of statements with a stance, per template."""
        return tuple(int(n) for n in np.count_nonzero(self.values, axis=1))


@dataclass(frozen=True, slots=True)
class SharedStatements:
    """The statements and templates over which two respondents are compared."""

    statements: int
    "number of compared statements"
    left_out: tuple[int, int]
    """number of each respondent's statements that are not compared, because the other one was not
    asked all of their prompts"""
    templates: tuple[str, ...] = ()
    """templates under which two models are compared; empty if a respondent is a person, a party or
    a baseline, which have their own"""
    without: tuple[str, ...] = ()
    "templates that only one of the two models has"

    def said(self, first: str, second: str) -> str:
        """Return this as text without a full stop, for respondents of these names."""
        counts = [
            f"{name} {n:,}" for name, n in zip((first, second), self.left_out, strict=True) if n
        ]
        text = f"over the {plural(self.statements, 'statement')} asked of both"
        if self.without:
            text += f", under {plural(len(self.templates), 'template')} that both have"
        if not counts:
            return f"{text}; none left out"
        return f"{text}; left out: {', '.join(counts)}"


def restrict_to_shared(
    first: Stances, second: Stances
) -> tuple[Stances, Stances, SharedStatements]:
    """Return two respondents, restricted to the statements of which both were asked all prompts.

    Two models are also restricted to the templates that they share, if there are any.
    """
    templates: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    pair = first, second
    if first.kind is second.kind is RespondentKind.MODEL:
        templates = tuple(name for name in first.templates if name in second.templates)
        without = tuple(
            name for stances in pair for name in stances.templates if name not in templates
        )
        if templates:
            pair = first.under_templates(templates), second.under_templates(templates)
    shared_refs = pair[0].complete & pair[1].complete
    refs = tuple(ref for ref in first.statements if ref in shared_refs)
    n_excluded = len(first.statements) - len(refs), len(second.statements) - len(refs)
    return (
        pair[0].on_statements(refs),
        pair[1].on_statements(refs),
        SharedStatements(len(refs), n_excluded, templates, without),
    )


@dataclass(frozen=True, eq=False)
class PartyPositions:
    """The parties' answers and the policy-issue labels on S statements: P parties, I issues."""

    statements: tuple[str, ...]
    countries: tuple[str | None, ...]
    "country of each statement, or None for a statement on parties of all countries"
    parties: tuple[Party, ...]
    answers: Signs
    "(P, S): +1 agrees, -1 disagrees, 0 neutral, MISSING no opinion or not asked"
    issues: tuple[str, ...]
    labels: Signs
    "(I, S): +1 agreeing supports the issue, -1 disagreeing supports it, 0 unrelated or unlabelled"
    scale: str = ""
    "the instrument's note on the source of party positions, if it is not its own files"

    @cached_property
    def concerns(self) -> BoolArray:
        """Whether a statement concerns the party's country: (P, S)."""
        party_countries = np.array([party.country for party in self.parties], dtype=object)
        statement_countries = np.array(self.countries, dtype=object)
        is_general = np.array([country is None for country in self.countries], dtype=np.bool_)
        return np.asarray(
            (party_countries[:, None] == statement_countries[None, :]) | is_general[None, :],
            dtype=np.bool_,
        )

    @cached_property
    def families(self) -> tuple[Family | None, ...]:
        """The family of each party, or None if it is not placed."""
        return tuple(family(party) for party in self.parties)

    def on_statements(self, statements: Sequence[str]) -> PartyPositions:
        """Return the positions on some statements, in this order.

        Statements that are not here have neither answers nor labels.
        """
        index_by_ref = {ref: index for index, ref in enumerate(self.statements)}
        columns = [column for column, ref in enumerate(statements) if ref in index_by_ref]
        indices = [index_by_ref[statements[column]] for column in columns]
        answers = np.full((len(self.parties), len(statements)), MISSING, dtype=np.int8)
        answers[:, columns] = self.answers[:, indices]
        labels = np.zeros((len(self.issues), len(statements)), dtype=np.int8)
        labels[:, columns] = self.labels[:, indices]
        country_by_ref = dict(zip(self.statements, self.countries, strict=True))
        return PartyPositions(
            tuple(statements),
            tuple(country_by_ref.get(ref) for ref in statements),
            self.parties,
            answers,
            self.issues,
            labels,
            self.scale,
        )

    def party(self, country: str, name: str) -> int:
        """Return the index of a party. Raises UnknownName."""
        for index, party in enumerate(self.parties):
            if (party.country, party.name) == (country, name):
                return index
        available = ", ".join(party.label for party in self.parties[:12])
        raise UnknownName(f"there is no party {country}/{name}. Available: {available or 'none'}")

    def issue(self, name: str) -> int:
        """Return the index of a policy issue. Raises UnknownName."""
        if name not in self.issues:
            raise UnknownName(
                f"there is no policy issue {name!r}. Available: {', '.join(self.issues) or 'none'}"
            )
        return self.issues.index(name)


def party_positions(instrument: Instrument, labels: Labels) -> PartyPositions:
    """Return the party positions on the current statements of an instrument.

    `labels` of statements or issues that the instrument does not have are excluded. Answers of a
    party to a statement of another country are kept, but never counted.
    """
    statements = tuple(statement.ref for statement in instrument.statements)
    column_by_ref = {ref: column for column, ref in enumerate(statements)}
    row_by_party = {
        (party.country, party.name): row for row, party in enumerate(instrument.parties)
    }
    answers = np.full((len(instrument.parties), len(statements)), MISSING, dtype=np.int8)
    for answer in instrument.party_answers:
        index = (
            row_by_party.get((answer.country, answer.party)),
            column_by_ref.get(answer.statement),
        )
        if answer.stance is not None and index[0] is not None and index[1] is not None:
            answers[index[0], index[1]] = answer.stance
    issues = instrument.issues or tuple(
        dict.fromkeys(issue for statement_labels in labels.values() for issue in statement_labels)
    )
    table = np.zeros((len(issues), len(statements)), dtype=np.int8)
    for i, issue in enumerate(issues):
        for ref, column in column_by_ref.items():
            table[i, column] = np.sign(labels.get(ref, {}).get(issue, 0))
    countries = tuple(statement.country for statement in instrument.statements)
    scale = next((note for note in instrument.notes if note.startswith(PLACED)), "")
    return PartyPositions(statements, countries, instrument.parties, answers, issues, table, scale)


def reliable_stances(
    name: str, report: ReliabilityReport, tests: Sequence[str] | None = None
) -> Stances:
    """Return a model's reliable stances on the originals, with labels in printed order.

    A stance is reliable under a template if the statement passes `all` there, that is, every test
    that the report's options name. `tests` names other tests. If it is empty, every stance counts,
    reliable or not (Figure 7, "no tests"). Statements that rulings exclude under every template are
    excluded.
    """
    return _published_stances(name, report, tests).without_excluded()


def _published_stances(
    name: str, report: ReliabilityReport, tests: Sequence[str] | None = None
) -> Stances:
    """Return a model's stances on all statements, including those that rulings exclude."""
    values, has_enough = (array[..., PRINTED] for array in report.originals)
    few = ~np.asarray(has_enough, dtype=np.bool_)
    test_names = report.options.tests if tests is None else tuple(tests)
    if test_names:
        verdicts = conjunction(np.stack([report.verdicts(test) for test in test_names]), 0)
        values, few = np.where(verdicts == PASS, values, 0), verdicts == INSUFFICIENT
    counts = report.counts
    is_answered = counts.total > 0 if counts.failed is None else (counts.total > 0) | counts.failed
    is_asked = np.logical_and.reduce(is_answered | ~counts.exists[None, :, :, None], axis=(2, 3))
    excluded = counts.excluded_originals
    values = np.where(excluded, 0, values).astype(np.int8)
    return Stances(
        name,
        RespondentKind.MODEL,
        counts.templates,
        counts.statements,
        values,
        is_asked,
        few & ~excluded,
        excluded=excluded,
    )


def posterior_stances(name: str, report: ReliabilityReport) -> Stances:
    """Return the stances that a model probably keeps, whatever the number of its answers.

    Under a template a stance counts if the probability that the statement passes every test there
    with this stance is above one half. The probability is estimated by partial pooling
    (`reliability.pooled`).
    """
    published = _published_stances(name, report)
    pooling = pooled_verdicts(report)
    if pooling.sides is None:
        return published.without_excluded()
    agree, disagree = pooling.sides > 0.5
    counts = report.counts
    is_known = known_prompts(report) | ~counts.exists[None, :, :, None] | counts.excluded_prompts
    excluded = counts.excluded_originals
    few = ~is_known[..., PRINTED].all(axis=2) & ~excluded
    values = np.where(excluded, 0, agree.astype(np.int8) - disagree.astype(np.int8)).astype(np.int8)
    is_undecided = few & (values == 0)
    return replace(published, values=values, is_undecided=is_undecided).without_excluded()


def baselines(statements: Sequence[str]) -> tuple[Stances, Stances]:
    """Return the respondents that always agree, and always disagree (section 7.1)."""
    ones = np.ones((1, len(statements)), dtype=np.int8)
    agrees, disagrees = (
        Stances(name, RespondentKind.BASELINE, ("baseline",), tuple(statements), values)
        for name, values in ((ALWAYS_AGREE, ones), (ALWAYS_DISAGREE, -ones))
    )
    return agrees, disagrees


def party_stances(positions: PartyPositions, place: int) -> Stances:
    """Return a party as a respondent, with its own answers on the statements that concern it.

    Neutral is no stance.
    """
    party, columns = positions.parties[place], np.flatnonzero(positions.concerns[place])
    answers = positions.answers[place, columns]
    values = np.where(answers == MISSING, 0, answers).astype(np.int8)
    refs = tuple(positions.statements[column] for column in columns)
    return Stances(party.label, RespondentKind.PARTY, ("party",), refs, values[None, :])


def survey_stances(survey: Sequence[SurveyAnswer]) -> tuple[Stances, ...]:
    """Return the people who answered the survey as respondents, with their answers to originals."""
    stances_by_person: dict[str, dict[str, int]] = {}
    for answer in survey:
        if answer.variant == ORIGINAL:
            stances_by_person.setdefault(answer.respondent, {})[answer.statement] = (
                1 if answer.agrees else -1
            )
    return tuple(
        Stances(
            person,
            RespondentKind.PERSON,
            ("survey",),
            tuple(stance_by_ref),
            np.array([list(stance_by_ref.values())], dtype=np.int8),
        )
        for person, stance_by_ref in stances_by_person.items()
    )


NOTHING_RELIABLE = "no stance is reliable"


@dataclass(frozen=True, slots=True)
class FamilyShare:
    """The share of statements on which a respondent and the parties of one family agree."""

    family: Family
    share: Estimate
    """mean over parties, then over templates; n: statements that were asked in the countries of
    these parties"""
    templates: MeanSd
    "mean and population deviation over templates; no deviation of a single template"
    by_template: tuple[float, ...]
    parties: int
    "number of parties in the mean"


@dataclass(frozen=True, slots=True)
class Leaning:
    """The shares of the three families in one view."""

    view: View
    families: tuple[FamilyShare, ...]
    "the shares of left, center, right"
    unplaced: int
    "number of parties without a left-right position, which are excluded"
    unasked: int
    "number of placed parties from countries without an asked statement, which are excluded"
    reliable: MeanSd
    """share of the asked statements with a reliable stance of this view: mean and deviation over
    templates"""


@dataclass(frozen=True, slots=True)
class PartyShare:
    """The share of statements on which a respondent and one party agree."""

    party: Party
    family: Family | None
    "None if no expert placed the party, which is then in no mean"
    share: MeanSd
    """mean and population deviation over templates; NaN if none of its country's statements was
    asked, or no stance is reliable"""
    by_template: tuple[float, ...]
    agree: float
    "share of statements on which both agree, mean over templates"
    disagree: float
    "share of statements on which both disagree; with `agree` it adds up to the share"
    statements: int
    "number of asked statements of its country: the denominator"
    answered: int
    "number of these to which the party answers agree or disagree"
    neutral: int
    missing: int
    "number of these to which the party has no opinion or no answer"


@dataclass(frozen=True, slots=True)
class PartyStatement:
    """One statement behind a party's share, with both answers."""

    ref: str
    answer: int | None
    "the party's answer: +1, -1, 0 neutral, None no opinion or no answer"
    stances: tuple[int, ...]
    "the respondent's stances, per template; 0: no reliable one"
    matches: int
    "number of templates under which both answer the same"


def leaning(stances: Stances, positions: PartyPositions, view: View, resamples: int) -> Leaning:
    """Return the shares of the three families.

    The interval is over statements within countries, whose numbers the questionnaires fix.
    Templates and parties stay as they are. It is Wilson's at the effective number of statements
    (`stats.clustered`). With `resamples` 0 there is none.

    Without any reliable stance the shares are undefined. Without one of the view alone they are 0,
    and there is no interval. (If no statement of a country is reliable under a template, the
    released code excludes the country's parties from the template's mean. Here they have a share of
    0.)
    """
    own_positions = positions.on_statements(stances.statements)
    contributions = family_contributions(stances, own_positions, view)
    n_counted = _counted(stances, view).sum(axis=1)
    mean_contributions = contributions.mean(axis=0) if resamples and n_counted.any() else None
    nothing = not stances.values.any()
    rows = tuple(
        _family_share(
            party_family,
            contributions[:, index].sum(axis=1),
            own_positions,
            None if mean_contributions is None else mean_contributions[index],
            no_reliable_stance=nothing,
        )
        for index, party_family in enumerate(FAMILIES)
    )
    unplaced = own_positions.families.count(None)
    unasked = len(own_positions.parties) - unplaced - sum(row.parties for row in rows)
    return Leaning(view, rows, unplaced, unasked, _spread(n_counted / stances.judged))


def _members(positions: PartyPositions, family: Family) -> list[int]:
    """Return the indices of the parties of a family that have an asked statement."""
    return [
        p
        for p, party_family in enumerate(positions.families)
        if party_family is family and positions.concerns[p].any()
    ]


def _family_share(
    family: Family,
    by_template: FloatArray,
    positions: PartyPositions,
    contributions: FloatArray | None,
    *,
    no_reliable_stance: bool,
) -> FamilyShare:
    """Return a respondent's agreement with the parties of one family.

    Parameters
    ----------
    by_template : (T,), the share under each template
    positions : positions on exactly the respondent's statements
    contributions : (S,), those of each statement to the mean over templates. None: no interval
    no_reliable_stance : whether no stance is reliable
    """
    members = _members(positions, family)
    n = int(positions.concerns[members].any(axis=0).sum())
    nan = float("nan")
    if no_reliable_stance or not members or not by_template.size:
        reason = _why_no_share(family, positions, members, no_reliable_stance=no_reliable_stance)
        undefined = Estimate(nan, nan, nan, n, 0, reason)
        return FamilyShare(family, undefined, _spread(np.array([])), (), len(members))
    share = Estimate(float(by_template.mean()), nan, nan, n)
    if contributions is not None and n > 1:
        moves = _moves(contributions, positions, members)
        low, high = share_ends(share.value, moves, n, _strata(positions, members))
        share = replace(share, low=low, high=high, interval="family share")
    shares = tuple(map(float, by_template))
    return FamilyShare(family, share, _spread(by_template), shares, len(members))


def _why_no_share(
    family: Family, positions: PartyPositions, members: Sequence[int], *, no_reliable_stance: bool
) -> str:
    """Return the reason why the agreement with a family is undefined."""
    if family not in positions.families:
        return f"no party is placed {family}"
    if members and no_reliable_stance:
        return NOTHING_RELIABLE
    return "no statement from their countries was asked"


def _spread(values: FloatArray) -> MeanSd:
    """Return mean and population deviation over templates. One template has no deviation."""
    summary = mean_sd(values, ddof=0)
    if summary.n > 1:
        return summary
    return MeanSd(summary.mean, float("nan"), summary.n, summary.excluded)


def _matches(stances: Stances, positions: PartyPositions, view: View) -> BoolArray:
    """Return the mask of reliable stances that equal the party's answer, (T, P, S).

    Neutral and missing answers never match.
    """
    counted = _counted(stances, view)[:, None, :]
    return np.asarray(
        (stances.values[:, None, :] == positions.answers) & counted & positions.concerns,
        dtype=np.bool_,
    )


def _counted(stances: Stances, view: View) -> BoolArray:
    """Return where there is a stance that the view counts: (T, S). Raises UnknownName."""
    if view not in VIEWS:
        raise UnknownName(f"view {view!r} is unknown; choose one of {', '.join(VIEWS)}")
    if view == "all":
        return np.asarray(stances.values != 0, dtype=np.bool_)
    return np.asarray(stances.values == (1 if view == "agree" else -1), dtype=np.bool_)


def family_contributions(stances: Stances, positions: PartyPositions, view: View) -> FloatArray:
    """Return the contribution of each statement to the share of each family: (T, 3, S).

    Their sum over S is the share. The share is a mean over parties of sums over statements, so it
    is a sum over statements, and resamples of it need no second look at the parties. `positions`
    has the positions on exactly the respondent's statements.
    """
    n_asked = np.asarray(positions.concerns.sum(axis=1), dtype=np.int64)
    by_party = _matches(stances, positions, view) / np.maximum(n_asked, 1)[:, None]
    contributions = np.zeros((len(stances.templates), len(FAMILIES), len(positions.statements)))
    for index, party_family in enumerate(FAMILIES):
        members = _members(positions, party_family)
        if members:
            contributions[:, index] = by_party[:, members].mean(axis=1)
    return contributions


def missing_contributions(
    stances: Stances, positions: PartyPositions
) -> tuple[FloatArray, FloatArray]:
    """Return the contributions of the missing stances to the share of each family: two (T, 3, S).

    The first are those if all of them agreed, the second if all disagreed. A missing stance may
    also turn out to be unreliable and contribute nothing.
    """
    own_positions, missing = positions.on_statements(stances.statements), stances.missing
    agree, disagree = (
        family_contributions(
            replace(stances, values=(sign * missing).astype(np.int8)), own_positions, "all"
        )
        for sign in (1, -1)
    )
    return agree, disagree


def _strata(positions: PartyPositions, members: Sequence[int]) -> Strata:
    """Return the columns of the statements that concern some parties, by country.

    The questionnaires fix the number of each country's statements.
    """
    columns_by_country: dict[str | None, list[int]] = {}
    for column in np.flatnonzero(positions.concerns[list(members)].any(axis=0)):
        columns_by_country.setdefault(positions.countries[column], []).append(int(column))
    return [np.array(columns, dtype=np.int64) for columns in columns_by_country.values()]


def _moves(
    contributions: FloatArray, positions: PartyPositions, members: Sequence[int]
) -> FloatArray:
    """Return each statement's deviation: its contribution minus the mean of its country."""
    moves = np.zeros(len(contributions))
    for columns in _strata(positions, members):
        moves[columns] = contributions[columns] - contributions[columns].mean()
    return moves


@dataclass(frozen=True, slots=True)
class FamilyDifference:
    """The agreement of two respondents with one party family, on shared statements."""

    family: Family
    first: float
    second: float
    "both shares, or NaN if undefined"
    difference: Estimate
    "first - second, with its paired interval"


def leaning_difference(
    first: Stances, second: Stances, positions: PartyPositions, view: View, resamples: int
) -> tuple[FamilyDifference, ...]:
    """Return the difference in agreement between two respondents, for each party family.

    Shared are the statements that both respondents were asked. The interval is over statements,
    paired.
    """
    pair = restrict_to_shared(first, second)[:2]
    shared_positions = positions.on_statements(pair[0].statements)
    contributions = [
        family_contributions(stances, shared_positions, view).mean(axis=0) for stances in pair
    ]
    no_reliable_stance = not all(stances.values.any() for stances in pair)
    rows = []
    for index, party_family in enumerate(FAMILIES):
        moved = contributions[0][index] - contributions[1][index]
        share = _family_share(
            party_family,
            moved.sum(keepdims=True),
            shared_positions,
            None,
            no_reliable_stance=no_reliable_stance,
        ).share
        values = [float("nan"), float("nan")]
        if share.defined:
            values = [float(own[index].sum()) for own in contributions]
        if share.defined and resamples:
            share = _with_interval(
                share, moved, shared_positions, _members(shared_positions, party_family)
            )
        rows.append(FamilyDifference(party_family, values[0], values[1], share))
    return tuple(rows)


def _with_interval(
    difference: Estimate,
    contributions: FloatArray,
    positions: PartyPositions,
    members: Sequence[int],
) -> Estimate:
    """Return the difference in agreement with a family, with its interval if it has one."""
    moves = _moves(contributions, positions, members)
    low, high = student_interval(difference.value, moves, _strata(positions, members), limit=1.0)
    name = "" if np.isnan(low) else "family difference"
    return replace(difference, low=low, high=high, interval=name)


@dataclass(frozen=True, slots=True)
class FamilyGap:
    """The difference between a respondent's agreement with two party families."""

    first: Family
    second: Family
    value: float
    "share of matches with the first family minus that with the second"
    regardless: float
    "expected gap of a respondent who agrees equally often, but regardless of the statements"
    p: float
    """two-sided p-value of two hypotheses: stances are unrelated to statements, and the gap is 0;
    NaN: no test"""
    error: float = float("nan")
    "standard error over statements"
    statements: int = 0
    "number of statements that concern one of the two families"


def family_gaps(stances: Stances, positions: PartyPositions, seed: int) -> tuple[FamilyGap, ...]:
    """Return the gap of every two families that have parties, over the asked statements.

    p is the larger of two: that of Student's test over statements within countries, and that of a
    permutation test that exchanges the stances of a country's statements at random. It is 1 if the
    gap differs in sign from the gap minus `regardless`.
    """
    if not stances.values.any():
        return ()
    asked_positions = positions.on_statements(stances.statements)
    agree, disagree = (
        family_contributions(
            replace(stances, values=np.full_like(stances.values, sign)), asked_positions, "all"
        ).mean(axis=0)
        for sign in (1, -1)
    )
    test = _GapTest(
        here=asked_positions,
        contributions=family_contributions(stances, asked_positions, "all").mean(axis=0),
        agree=agree,
        disagree=disagree,
        yes=(stances.values == 1).mean(axis=0),
        no=(stances.values == -1).mean(axis=0),
        orders=_orders(asked_positions.countries, seed),
    )
    members = [_members(asked_positions, party_family) for party_family in FAMILIES]
    return tuple(
        test.gap(first, second)
        for first, second in combinations(range(len(FAMILIES)), 2)
        if members[first] and members[second]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _GapTest:
    """The test of a respondent's gaps between two families, by index in `FAMILIES`."""

    here: PartyPositions
    "positions on exactly the respondent's statements"
    contributions: FloatArray
    "(3, S), of each statement to the share of each family"
    agree: FloatArray
    "(3, S), the same if every stance agreed"
    disagree: FloatArray
    "(3, S), the same if every stance disagreed"
    yes: FloatArray
    "(S,), share of templates under which the respondent agrees"
    no: FloatArray
    "(S,), share of templates under which the respondent disagrees"
    orders: npt.NDArray[np.int16]
    "random orders of the statements, see `_orders`"

    def gap(self, first: int, second: int) -> FamilyGap:
        """Return the gap of two families that have parties."""
        contributions = self.contributions[first] - self.contributions[second]
        value = float(contributions.sum())
        concerned = [
            *_members(self.here, FAMILIES[first]),
            *_members(self.here, FAMILIES[second]),
        ]
        moves = _moves(contributions, self.here, concerned)
        strata = _strata(self.here, concerned)
        permuted_gaps = self._permuted_gaps(first, second)
        regardless = float(permuted_gaps.mean())
        is_as_far = np.abs(permuted_gaps - regardless) >= abs(value - regardless) - ROUNDING
        p = 1.0
        if value * (value - regardless) > 0:
            permutation_p = (1 + int(is_as_far.sum())) / (1 + len(permuted_gaps))
            p = max(student_p(value, moves, strata), permutation_p)
        low, high = student_interval(value, moves, strata, 1.0)
        return FamilyGap(
            FAMILIES[first],
            FAMILIES[second],
            value,
            regardless,
            p,
            error=standard_error(low, high),
            statements=sum(map(len, strata)),
        )

    def _permuted_gaps(self, first: int, second: int) -> FloatArray:
        """Return the gaps of the same stances in other orders: (PERMUTATIONS,)."""
        agreeing = self.yes[self.orders] @ (self.agree[first] - self.agree[second])
        disagreeing = self.no[self.orders] @ (self.disagree[first] - self.disagree[second])
        return np.asarray(agreeing + disagreeing)


@lru_cache(8)
def _orders(countries: tuple[str | None, ...], seed: int) -> npt.NDArray[np.int16]:
    """Return random orders of statements, permuted within each country: (PERMUTATIONS, S)."""
    rng, names = derive_rng(seed, "stances of families"), np.array(countries, dtype=np.object_)
    orders = np.tile(np.arange(len(names), dtype=np.int16), (PERMUTATIONS, 1))
    for name in dict.fromkeys(countries):
        columns = np.flatnonzero(names == name)
        orders[:, columns] = rng.permuted(orders[:, columns], axis=1)
    return orders


def party_shares(stances: Stances, positions: PartyPositions) -> tuple[PartyShare, ...]:
    """Return the share of each party, in the order of the parties."""
    own_positions = positions.on_statements(stances.statements)
    n_asked = np.asarray(own_positions.concerns.sum(axis=1), dtype=np.int64)
    denominators = np.where(n_asked == 0, np.nan, n_asked)
    if not stances.values.any():
        denominators = np.full(len(n_asked), np.nan)
    all_, agree, disagree = (
        _matches(stances, own_positions, view).sum(axis=2) / denominators for view in VIEWS
    )
    rows = []
    for p, party in enumerate(own_positions.parties):
        answers = own_positions.answers[p, own_positions.concerns[p]]
        rows.append(
            PartyShare(
                party=party,
                family=own_positions.families[p],
                share=_spread(all_[:, p]),
                by_template=tuple(map(float, all_[:, p])),
                agree=mean_sd(agree[:, p]).mean,
                disagree=mean_sd(disagree[:, p]).mean,
                statements=int(n_asked[p]),
                answered=int(np.isin(answers, (-1, 1)).sum()),
                neutral=int((answers == 0).sum()),
                missing=int((answers == MISSING).sum()),
            )
        )
    return tuple(rows)


def party_statements(
    stances: Stances, positions: PartyPositions, country: str, name: str
) -> tuple[PartyStatement, ...]:
    """Return the statements behind a party's share, in the respondent's order."""
    own_positions = positions.on_statements(stances.statements)
    p = own_positions.party(country, name)
    matches = _matches(stances, own_positions, "all")[:, p].sum(axis=0)
    return tuple(
        PartyStatement(
            ref=own_positions.statements[s],
            answer=None
            if own_positions.answers[p, s] == MISSING
            else int(own_positions.answers[p, s]),
            stances=tuple(int(value) for value in stances.values[:, s]),
            matches=int(matches[s]),
        )
        for s in np.flatnonzero(own_positions.concerns[p])
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
"sentences on what each formula measures"

LEAST: Mapping[str, int] = {"signed": 6, "v1": 6, "tacl": 10, "difference": 10}
"""labelled statements with a reliable stance, below which there is no interval: intervals with
fewer cover less than 92 %"""
TOO_FEW = "too few for an interval:"
FEWEST = 6
"""reliable statements of an issue, on average over templates, below which its stance is marked
(section 7.2, Figure 5)"""


class IssueTally(NamedTuple):
    """The numbers of reliable stances on the labelled statements of an issue, for one template."""

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
        """The number of all these stances."""
        return sum(self)


@dataclass(frozen=True, slots=True)
class IssueStance:
    """The stance of one respondent on one policy issue, by one formula."""

    issue: str
    formula: Formula
    value: Estimate
    """mean over templates; n: labelled statements with a reliable stance under any template,
    excluded: those without"""
    templates: MeanSd
    """mean and population deviation over the templates in which it is defined; no deviation of a
    single template"""
    by_template: tuple[float, ...]
    "NaN for a template under which no labelled statement is reliable"
    tallies: tuple[IssueTally, ...]
    "one for each template"
    supporting: int
    "A: number of asked statements labelled +1"
    opposing: int
    "N: number of asked statements labelled -1"
    reliable: float
    "number of labelled statements with a reliable stance, mean over templates"
    few: bool
    "whether `reliable` is below six"
    zero_by_rule: int
    "number of templates in which `tacl` is 0 only because no stance supports the issue (a + d = 0)"
    regardless: float
    """expected signed support of a respondent who agrees equally often, but regardless of the
    labels; NaN without a stance"""
    p: float
    """two-sided p-value of stances that are unrelated to the labels, from a permutation of these;
    NaN if all labels are equal, or too few stances are reliable"""


@dataclass(frozen=True, slots=True)
class LabelledStatement:
    """One statement behind a stance on an issue, with its label."""

    ref: str
    label: int
    "+1 agreeing supports the issue, -1 disagreeing supports it"
    stances: tuple[int, ...]
    "one for each template; 0: no reliable stance"
    supports: int
    "number of templates under which the stance is in favour of the issue"
    opposes: int
    "number of templates under which the stance is against the issue"


def stance_value(
    tally: FloatArray, supporting: FloatArray, opposing: FloatArray, formula: Formula
) -> FloatArray:
    """Return the stance on an issue from counts, or NaN if n is 0.

    `tacl` is 0 in that case, as in the released code.

    Parameters
    ----------
    tally : (..., 4) in the order of `IssueTally`
    supporting, opposing : (...), numbers of labels +1 and -1. A label that does not occur adds 0 to
        `tacl`.

    Examples
    --------
    >>> perfect = np.array([5.0, 3.0, 0.0, 0.0])
    >>> [round(float(stance_value(perfect, np.array(5), np.array(3), f)), 3) for f in FORMULAS]
    [1.0, 0.0, 0.25]
    """
    a, d, against_a, against_d = np.moveaxis(np.asarray(tally, dtype=np.float64), -1, 0)
    n = a + d + against_a + against_d
    defined_n = np.where(n == 0, np.nan, n)
    if formula == "signed":
        return np.asarray((a + d - against_a - against_d) / defined_n)
    if formula == "v1":
        return np.asarray((a - d) / defined_n)
    if formula == "tacl":
        return np.asarray(
            a / np.where(supporting == 0, 1, supporting) - d / np.where(opposing == 0, 1, opposing)
        )
    raise UnknownName(f"formula {formula!r} is unknown; choose one of {', '.join(FORMULAS)}")


class _Issue(NamedTuple):
    """The labelled statements of one issue that a respondent was asked."""

    refs: tuple[str, ...]
    labels: IntArray
    "(K,), +1 or -1"
    stances: IntArray
    "(T, K), +1, -1 or 0"
    missing: BoolArray
    "(T, K), whether too few answers were readable"

    @property
    def features(self) -> FloatArray:
        """The contributions of each statement to the tallies of all templates, then to A and N.

        They are (K, 4 T + 2).
        """
        products, plus = self.stances * self.labels, self.labels > 0
        supports, opposes = products > 0, products < 0
        # (T, K, 4), in the order of `IssueTally`
        cells = np.stack(
            [supports & plus, supports & ~plus, opposes & plus, opposes & ~plus], axis=-1
        )
        flat = np.moveaxis(cells, 0, 1).reshape(len(self.refs), 4 * len(self.stances))
        return np.hstack([flat, plus[:, None], ~plus[:, None]]).astype(np.float64)


def _labelled(stances: Stances, positions: PartyPositions, issue: str) -> _Issue:
    """Return the labelled statements of an issue, with the respondent's stances."""
    own_positions = positions.on_statements(stances.statements)
    labels = own_positions.labels[own_positions.issue(issue)].astype(np.int64)
    columns = np.flatnonzero(labels)
    refs = tuple(own_positions.statements[column] for column in columns)
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
    """Return the mean of the defined values along the last axis, or NaN without any."""
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

    The interval resamples the labelled statements of the issue. The resamples are the same for
    every formula, and for every respondent who was asked the same statements. With fewer than two
    statements, or with `resamples` 0, there is no interval. Raises UnknownName for an issue or a
    formula that does not exist.
    """
    labelled = _labelled(stances, positions, issue)
    features = labelled.features
    totals = features.sum(axis=0)
    by_template = _values(totals, formula)
    tallies = totals[:-2].reshape(-1, 4).astype(np.int64)
    reliable = float(tallies.sum(axis=1).mean()) if len(tallies) else 0.0
    n_plus, n_minus = (int(n) for n in totals[-2:])
    summary = mean_sd(by_template if labelled.refs else np.full(len(by_template), np.nan), ddof=0)
    if summary.n < 2:
        summary = MeanSd(summary.mean, float("nan"), summary.n, summary.excluded)
    regardless, p = _against_labels(labelled, seed, issue) if resamples else (float("nan"),) * 2
    zero_by_rule = (
        int((tallies[:, :2].sum(axis=1) == 0).sum()) if formula == "tacl" and labelled.refs else 0
    )
    return IssueStance(
        issue=issue,
        formula=formula,
        value=_issue_estimate(
            labelled, features, formula, summary.mean, derive_rng(seed, "issue", issue), resamples
        ),
        templates=summary,
        by_template=tuple(float(value) if labelled.refs else float("nan") for value in by_template),
        tallies=tuple(IssueTally(*map(int, row)) for row in tallies),
        supporting=n_plus,
        opposing=n_minus,
        reliable=reliable,
        few=reliable < FEWEST,
        zero_by_rule=zero_by_rule,
        regardless=regardless,
        p=p,
    )


def issue_bounds(stances: Stances, positions: PartyPositions, issue: str) -> Bounds:
    """Return the signed support for an issue if every missing stance opposed, or supported, it.

    The support is the mean over the templates with a known or missing stance.
    """
    labelled = _labelled(stances, positions, issue)
    n_missing = labelled.missing.sum(axis=1)
    n = (labelled.stances != 0).sum(axis=1) + n_missing
    support = (labelled.stances * labelled.labels).sum(axis=1)
    low, high = (
        float(_mean((support + sign * n_missing) / np.where(n == 0, np.nan, n))) for sign in (-1, 1)
    )
    return Bounds(low, high)


PERMUTATIONS = 4_999
"""random orders: 5,000 with the labels as they are, so that one finding among a hundred can still
be significant"""
LEVEL = 0.05
ROUNDING = 1e-9


def _against_labels(answered_issue: _Issue, seed: int, issue: str) -> tuple[float, float]:
    """Return the expected signed support of the same stances for permuted labels, and the p-value.

    Under the null hypothesis every statement could have any other's label, as with a coin, or with
    a respondent who agrees to most statements. Signed support is a sum over statements of label
    times stance, so its mean over permutations is the mean label times the sum of stances.
    """
    n_stances = (answered_issue.stances != 0).sum(axis=1)
    nan = float("nan")
    if not n_stances.any():
        return nan, nan
    weights = (answered_issue.stances[n_stances > 0] / n_stances[n_stances > 0, None]).mean(axis=0)
    labels = answered_issue.labels.astype(np.float64)
    regardless = float(labels.mean() * weights.sum())
    if np.ptp(labels) == 0 or (weights != 0).sum() < LEAST["signed"]:
        return regardless, nan
    permuted_support = _permuted(tuple(answered_issue.labels.tolist()), seed, issue) @ weights
    distance = abs(float(labels @ weights) - regardless) - ROUNDING
    return regardless, (1 + int((np.abs(permuted_support - regardless) >= distance).sum())) / (
        1 + PERMUTATIONS
    )


@lru_cache(64)
def _permuted(labels: tuple[int, ...], seed: int, issue: str) -> FloatArray:
    """Return the labels in random orders: (PERMUTATIONS, K).

    They are the same for every respondent who was asked the same statements.
    """
    rows = np.tile(np.array(labels, dtype=np.float64), (PERMUTATIONS, 1))
    return derive_rng(seed, "labels", issue).permuted(rows, axis=1)


def sides(stances: Sequence[IssueStance], adjusted: Sequence[float]) -> dict[str, int]:
    """Return the side of a respondent on issues: 1 supports, -1 opposes. Other issues are missing.

    A side needs two tests: the interval excludes 0, and the stances follow the labels by a
    permutation test.

    Parameters
    ----------
    adjusted : p-value of the permutation test for each issue, adjusted over all findings
    """
    side_by_issue = {}
    for stance, p in zip(stances, adjusted, strict=True):
        side = 0
        if stance.value.low > 0:
            side = 1
        elif stance.value.high < 0:
            side = -1
        if p < LEVEL and side * (stance.value.value - stance.regardless) > 0:
            side_by_issue[stance.issue] = side
    return side_by_issue


def _issue_estimate(
    answered_issue: _Issue,
    features: FloatArray,
    formula: Formula,
    value: float,
    rng: np.random.Generator,
    resamples: int,
) -> Estimate:
    """Return the estimate of a stance, with its interval or the reason why it has none."""
    n = int((answered_issue.stances != 0).any(axis=0).sum())
    excluded = len(answered_issue.refs) - n
    nan = float("nan")
    if not answered_issue.refs:
        return Estimate(nan, nan, nan, 0, 0, "no statement asked has a label of this issue")
    if np.isnan(value):
        reason = "no reliable stance on a statement of this issue"
        return Estimate(nan, nan, nan, n, excluded, reason)
    without_interval = Estimate(value, nan, nan, n, excluded)
    mean_n = float((answered_issue.stances != 0).sum(axis=-1).mean())
    if n < LEAST[formula] or mean_n < 1:
        on_average = f" ({mean_n:.1f} on average over templates)" if mean_n < n else ""
        reason = f"{n} with a reliable stance{on_average}; {LEAST[formula]} are needed"
        return replace(without_interval, few=f"{TOO_FEW} {reason}")
    if not resamples:
        return without_interval
    low, high = _issue_interval(features, formula, value, resampled_sums(features, resamples, rng))
    if np.isnan(low) and formula == "signed":
        low, high = (2 * end - 1 for end in wilson_of_share((1 + value) / 2, n))
    if np.isnan(low):
        return replace(without_interval, few=f"{TOO_FEW} all of them are alike")
    return replace(without_interval, low=low, high=high, interval=f"{formula} stance on an issue")


def _issue_interval(
    features: FloatArray, formula: Formula, value: float, sums: FloatArray
) -> tuple[float, float]:
    """Return the interval of a stance from resampled sums of its features."""
    return bca_interval(_mean(_values(sums, formula)), value, _jackknife_values(features, formula))


def _jackknife_values(features: FloatArray, formula: Formula) -> FloatArray:
    """Return the stance without each of the statements: (K,)."""
    return _mean(_values(features.sum(axis=0) - features, formula))


def labelled_statements(
    stances: Stances, positions: PartyPositions, issue: str
) -> tuple[LabelledStatement, ...]:
    """Return the statements behind a stance, in the respondent's order."""
    labelled = _labelled(stances, positions, issue)
    return tuple(
        LabelledStatement(
            ref=ref,
            label=int(label),
            stances=tuple(map(int, column)),
            supports=int((column * label > 0).sum()),
            opposes=int((column * label < 0).sum()),
        )
        for ref, label, column in zip(
            labelled.refs, labelled.labels, labelled.stances.T, strict=True
        )
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

    Each stance is a mean over templates, for two models over shared ones (`restrict_to_shared`).
    Every resample draws the same statements for both (paired).
    """
    pair = [
        _labelled(stances, positions, issue) for stances in restrict_to_shared(first, second)[:2]
    ]
    nan = float("nan")
    if not pair[0].refs:
        reason = "no statement asked of both has a label of this issue"
        return nan, nan, Estimate(nan, nan, nan, 0, 0, reason)
    features = [labelled.features for labelled in pair]
    own, other = (float(_mean(_values(columns.sum(axis=0), formula))) for columns in features)
    has_stance = [(labelled.stances != 0).any(axis=0) for labelled in pair]
    n = int(np.logical_and(*has_stance).sum())
    excluded = len(pair[0].refs) - n
    if np.isnan(own) or np.isnan(other):
        reason = "one of them has no reliable stance on a statement of this issue"
        return own, other, Estimate(nan, nan, nan, n, excluded, reason)
    difference = Estimate(own - other, nan, nan, n, excluded)
    minimum = LEAST["difference"]
    if not resamples:
        return own, other, difference
    if n < minimum:
        few = f"{TOO_FEW} {n} with a stance from both; {minimum} are needed"
        return own, other, replace(difference, few=few)
    sums = resampled_sums(np.hstack(features), resamples, derive_rng(seed, "issue", issue))
    width = features[0].shape[1]
    draws = _mean(_values(sums[:, :width], formula)) - _mean(_values(sums[:, width:], formula))
    left_out = [_jackknife_values(columns, formula) for columns in features]
    low, high = bca_interval(draws, difference.value, left_out[0] - left_out[1])
    name = "" if np.isnan(low) else "difference on an issue"
    return own, other, replace(difference, low=low, high=high, interval=name)
