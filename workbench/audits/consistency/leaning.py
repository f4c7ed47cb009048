"""Political leaning: with which party family a respondent agrees most often (Ceron et al. 2024, section 7.1, Figure 4).

A party's share is the number of its country's statements on which the respondent's reliable stance is the party's
answer, divided by *all* of the country's statements that the respondent was asked: a statement without a reliable
stance, and one to which the party is neutral, matches nothing and counts all the same. A family's share is the mean
over its parties, of all countries. The views `agree` and `disagree` count only matches of that kind, over the same
number of statements, so that the two add up to `all`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from workbench.audits.consistency.stances import FAMILIES, Family, PartyPositions, Stances, matched
from workbench.domain.instruments import Party
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import Strata, share_ends, student_interval
from workbench.stats.units import MISSING

View = Literal["all", "agree", "disagree"]
NOTHING_RELIABLE = "no stance is reliable"
VIEWS: tuple[View, ...] = get_args(View)
"matches that count: all, where both agree, where both disagree"


@dataclass(frozen=True, slots=True)
class FamilyShare:
    """How often a respondent and the parties of one family answer alike."""

    family: Family
    share: Estimate
    "mean over parties, then over templates; n: statements that were asked in the countries of these parties"
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
    "share of the statements that were asked with a reliable stance of this view: mean and deviation over templates"


@dataclass(frozen=True, slots=True)
class PartyShare:
    """How often a respondent and one party answer alike."""

    party: Party
    family: Family | None
    "None: no expert placed it, so that it is in no mean"
    share: MeanSd
    """mean and population deviation over templates; NaN where none of its country's statements was asked, or no
    stance is reliable"""
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

    The interval is over statements within countries, whose numbers the questionnaires fix; templates and parties stay
    as they are. It is Wilson's at the effective number of statements (`stats.clustered`); `resamples` 0: none.

    Without any reliable stance the shares are undefined; with none of the view alone they are 0, and there is no
    interval. (The released code leaves the
    parties of a country out of a template's mean where no statement of the country is reliable; here they have a share
    of 0.)
    """
    here = positions.on(stances.statements)
    found = family_contributions(stances, here, view)
    counted = _counted(stances, view).sum(axis=1)
    each = found.mean(axis=0) if resamples and counted.any() else None
    nothing = not stances.values.any()
    rows = tuple(
        _family(of, found[:, place].sum(axis=1), here, None if each is None else each[place], nothing=nothing)
        for place, of in enumerate(FAMILIES)
    )
    unplaced = here.families.count(None)
    unasked = len(here.parties) - unplaced - sum(row.parties for row in rows)
    return Leaning(view, rows, unplaced, unasked, _spread(counted / (len(stances.statements) or np.nan)))


def _members(here: PartyPositions, of: Family) -> list[int]:
    """Return the places of the parties of a family of which some statement was asked."""
    return [p for p, family in enumerate(here.families) if family is of and here.concerns[p].any()]


def _family(
    of: Family, by_template: FloatArray, here: PartyPositions, each: FloatArray | None, *, nothing: bool
) -> FamilyShare:
    """Return a share. each : (S,), what statements add to its mean over templates; None: no interval.

    nothing : whether no stance is reliable.
    """
    members = _members(here, of)
    n = int(here.concerns[members].any(axis=0).sum())
    if nothing or not members or not by_template.size:
        placed = sum(family is of for family in here.families)
        why = f"no party is placed {of}" if not placed else "no statement from their countries was asked"
        why = NOTHING_RELIABLE if placed and members and nothing else why
        undefined = Estimate(float("nan"), float("nan"), float("nan"), n, 0, why)
        return FamilyShare(of, undefined, _spread(np.array([])), (), len(members))
    share = Estimate(float(by_template.mean()), float("nan"), float("nan"), n)
    if each is not None and n > 1:
        low, high = share_ends(share.value, _moves(each, here, members), n, _strata(here, members))
        share = replace(share, low=low, high=high, interval="family share")
    return FamilyShare(of, share, _spread(by_template), tuple(map(float, by_template)), len(members))


def _spread(values: FloatArray) -> MeanSd:
    """Return mean and population deviation over templates; one template tells nothing of a deviation."""
    found = mean_sd(values, ddof=0)
    return found if found.n > 1 else MeanSd(found.mean, float("nan"), found.n, found.excluded)


def _matches(stances: Stances, here: PartyPositions, view: View) -> BoolArray:
    """Return where a reliable stance is the party's answer: (T, P, S). Neutral and missing answers never match."""
    counted = _counted(stances, view)[:, None, :]
    return np.asarray((stances.values[:, None, :] == here.answers) & counted & here.concerns, dtype=np.bool_)


def _counted(stances: Stances, view: View) -> BoolArray:
    """Return where there is a stance that the view counts: (T, S). Raises UnknownName."""
    if view not in VIEWS:
        raise UnknownName(f"view {view!r} is unknown; choose one of {', '.join(VIEWS)}")
    values = stances.values
    return np.asarray(values != 0 if view == "all" else values == (1 if view == "agree" else -1), dtype=np.bool_)


def family_contributions(stances: Stances, here: PartyPositions, view: View) -> FloatArray:
    """Return what each statement adds to the share of each family: (T, 3, S); their sum over S is the share.

    The share is a mean over parties of sums over statements, so it is a sum over statements, and resamples of it need
    no second look at the parties. `here` has the positions on exactly the respondent's statements.
    """
    asked = np.asarray(here.concerns.sum(axis=1), dtype=np.int64)
    each = _matches(stances, here, view) / np.maximum(asked, 1)[:, None]
    parts = np.zeros((len(stances.templates), len(FAMILIES), len(here.statements)))
    for place, of in enumerate(FAMILIES):
        members = _members(here, of)
        if members:
            parts[:, place] = each[:, members].mean(axis=1)
    return parts


def _strata(here: PartyPositions, members: Sequence[int]) -> Strata:
    """Return the statements that concern some parties, by country: the questionnaires fix how many a country has."""
    concerned: BoolArray = np.asarray(here.concerns[list(members)].any(axis=0))
    names = dict.fromkeys(of for of, there in zip(here.countries, concerned, strict=True) if there)
    return [
        np.array([at for at, of in enumerate(here.countries) if of == name and concerned[at]], dtype=np.int64)
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
            low, high = student_interval(share.value, _moves(difference[place], here, members), _strata(here, members))
            name = "" if np.isnan(low) else "family difference"
            share = replace(share, low=max(low, -1.0), high=min(high, 1.0), interval=name)
        values = [float(one[place].sum()) if share.defined else float("nan") for one in both]
        found.append((of, values[0], values[1], share))
    return tuple(found)


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
    """Return the statements behind a party's share, in the order in which the respondent has them."""
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
