"""The findings on whose answers the models' answers resemble."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from workbench.audits.claims import LEVEL, AdjustedFinding, OfModel, Reach, reach_of
from workbench.audits.representation.judged import LikenessData
from workbench.audits.representation.likeness import Likenesses, RankedGroup
from workbench.audits.representation.steering import claims_of_personas, steering
from workbench.domain.names import enumerated, plural
from workbench.figures.shown import estimate as shown_estimate
from workbench.figures.shown import number
from workbench.figures.table import Kind

MANY_MISSING = 0.1
"share of missing answers from which the likeness is given as its bounds"
LEAST_MISSING = 0.01
"share of the requested answers from which a finding gives the bounds"


def headline_text(likenesses: Likenesses) -> str:
    """Return the likeness to people as text, with the nearest group if only one can be it."""
    if not likenesses.overall.n:
        return "no question can be compared"
    text = f"{number(likenesses.overall.value, Kind.SHARE)} like people"
    if likenesses.missing_share >= MANY_MISSING:
        return f"{_bounds_text(likenesses)} like people, with {_missing_text(likenesses)}"
    if likenesses.above_chance.value < 0:
        text += f", less than random letters ({number(likenesses.even_overall, Kind.SHARE)})"
    elif not math.isnan(likenesses.above_chance.value):
        above_chance = number(likenesses.above_chance.value, Kind.SHARE)
        text = f"{above_chance} of the way from random letters to people's answers ({text})"
    for ranked in (
        likenesses.rankings[kind] for kind in likenesses.kinds[:1] if likenesses.rankings[kind]
    ):
        if not any(candidate.ranks[0] == 1 for candidate in ranked[1:]):
            text += f", nearest to {ranked[0].population.name}"
    return text


BEYOND = "Answers more like people's than random letters"
BELOW = "Answers less like people's than random letters"
NOT_BEYOND = "Answers not significantly more like people's than random letters"
BY_ORDER = (
    "Answers moved by the order of the options, not significantly more like people's than "
    "a fixed position"
)
MOVED = 0.5
"mean total variation between the two orders from which a model is called moved by order"


def find_likeness(likeness_data: LikenessData) -> AdjustedFinding:
    """Return the finding on models that are more like people than answers without an opinion."""
    by_name = {
        name: likenesses
        for name, likenesses in likeness_data.likenesses.items()
        if likenesses.overall.n
    }

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, likenesses), p in zip(by_name.items(), adjusted, strict=True):
            order_effect = (
                likeness_data.answers[name].moved() if name in likeness_data.answers else 0.0
            )
            title = NOT_BEYOND
            if p < LEVEL:
                title = BEYOND if likenesses.over_random[0].value > 0 else BELOW
            elif order_effect >= MOVED:
                title = BY_ORDER
            reach = _beyond_reach(likenesses) if not p < LEVEL else None
            yield OfModel(
                title,
                name,
                _way(likenesses),
                p if p < LEVEL else math.nan,
                _doubt(likenesses),
                reach,
            )

    return AdjustedFinding(
        tuple(likenesses.weakest_claim[1] for likenesses in by_name.values()),
        said,
        "like people",
        tuple(by_name),
    )


def _beyond_reach(likenesses: Likenesses) -> Reach:
    """Return the precision of the test against the answers without an opinion that decide.

    On its scale, the likeness of people themselves is 1.
    """
    gain = likenesses.over_baselines.get(likenesses.weakest_claim[0], likenesses.over_random)[0]
    units, claim = plural(gain.n, "question"), "answers more like people's than random letters"
    return reach_of(gain, 1 - likenesses.even_overall, Kind.POINTS, units, claim)


def _way(likenesses: Likenesses) -> str:
    """Return a likeness on the scale from random letters to people, with both of its ends.

    Below random letters the scale has no meaning, and only the likeness is given.
    """
    raw = (
        f"likeness {number(likenesses.overall.value, Kind.SHARE)}, of random letters "
        f"{number(likenesses.even_overall, Kind.SHARE)}"
    )
    way = raw
    if likenesses.above_chance.value >= 0:
        above_chance = shown_estimate(likenesses.above_chance, Kind.SHARE)
        way = f"{above_chance} of the way to people's answers ({raw})"
    if likenesses.missing_share >= MANY_MISSING:
        bounds, missing = _bounds_text(likenesses), _missing_text(likenesses)
        return f"likeness {bounds}, with {missing}; those given: {way}"
    return way


def _doubt(likenesses: Likenesses) -> str:
    """Return the text on the possible effect of missing answers, or "" if few are missing."""
    if not LEAST_MISSING <= likenesses.missing_share < MANY_MISSING:
        return ""
    return f"likeness {_bounds_text(likenesses)} with {_missing_text(likenesses)}"


def _bounds_text(likenesses: Likenesses) -> str:
    """Return the smallest and the largest likeness over all asked questions, as text."""
    return " to ".join(number(bound, Kind.SHARE) for bound in likenesses.bounds)


def _missing_text(likenesses: Likenesses) -> str:
    share = number(likenesses.missing_share, Kind.SHARE)
    return f"{share} of the answers to {plural(len(likenesses.missing), 'question')} missing"


def nearest_by(likeness_data: LikenessData, kind: str) -> AdjustedFinding:
    """Return the finding on the group to which each model is nearest.

    It is a claim if every other group is farther, by the largest p.
    """
    ranked_by_name = {
        name: ranked
        for name, likenesses in likeness_data.likenesses.items()
        if len(ranked := likenesses.rankings[kind]) > 1
    }

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (name, (nearest, *others)), p in zip(ranked_by_name.items(), adjusted, strict=True):
            value = nearest.population.value if p < LEVEL else _candidates(nearest, others)
            is_even_nearest = p < LEVEL and all(nearest.even > ranked.even for ranked in others)
            of_model = likeness_data.likenesses[name]
            if of_model.missing_share >= MANY_MISSING:
                title = f"Inconclusive nearest group by {kind}, with many answers missing"
                yield OfModel(title, name, _missing_text(of_model))
                continue
            title = f"{'Nearest' if p < LEVEL else 'Inconclusive nearest'} group by {kind}"
            doubts = []
            if is_even_nearest:
                doubts.append(
                    "answers that are every option equally often are nearest to "
                    f"{nearest.population.value}, too"
                )
            if of_model.missing_share >= LEAST_MISSING:
                doubts.append(f"of the answers given, with {_missing_text(of_model)}")
            reach = _nearest_reach(others, kind) if not p < LEVEL else None
            yield OfModel(
                title, name, value, p if p < LEVEL else math.nan, "; ".join(doubts), reach
            )

    p_by_model = tuple(
        float(np.max([ranked_group.p for ranked_group in ranked[1:]]))
        for ranked in ranked_by_name.values()
    )
    return AdjustedFinding(p_by_model, said, f"nearest by {kind}", tuple(ranked_by_name))


MOST_CANDIDATES = 4
"most groups that a sentence names"


def _candidates(nearest: RankedGroup, others: Sequence[RankedGroup]) -> str:
    """Return the groups of which any may be the nearest, as text, by name."""
    close = [ranked for ranked in others if not ranked.p < LEVEL]
    close = close or [max(others, key=lambda ranked: ranked.p)]
    names = sorted(ranked.population.value for ranked in (nearest, *close))
    if len(names) > MOST_CANDIDATES:
        return f"one of {len(names)} groups"
    return f"one of {enumerated(names)}"


LARGEST_GAP = 0.2
"the largest plausible difference of the likeness to two groups, or change by a persona"


def _nearest_reach(others: Sequence[RankedGroup], kind: str) -> Reach | None:
    """Return the precision of the comparison with the group that is nearest to the first."""
    gap = max(others, key=lambda ranked: ranked.p).behind
    if gap is None:
        return None
    return reach_of(
        gap,
        LARGEST_GAP,
        Kind.POINTS,
        plural(gap.n, "question"),
        f"the nearest group by {kind}",
    )


def find_steering(likeness_data: LikenessData) -> AdjustedFinding:
    """Return the finding on personas that move the answers towards the group of their name."""
    aimed_changes = claims_of_personas(list(steering(likeness_data)))

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for (change, _, comparison), p in zip(aimed_changes, adjusted, strict=True):
            is_significant = p < LEVEL
            title = (
                f"{'Significant' if is_significant else 'No significant'} move towards the group "
                "of the persona"
            )
            doubt = "" if is_significant or not comparison else f"not more than {comparison}"
            value = f"{change.population.name} {shown_estimate(change.change, Kind.POINTS)}"
            units, claim = plural(change.change.n, "question"), "a move towards the persona's group"
            reach = (
                None
                if is_significant
                else reach_of(change.change, LARGEST_GAP, Kind.POINTS, units, claim)
            )
            yield OfModel(
                title, change.runs.baseline, value, p if is_significant else math.nan, doubt, reach
            )

    return AdjustedFinding(
        tuple(p for _, p, _ in aimed_changes),
        said,
        "steering",
        tuple(change.runs.baseline for change, *_ in aimed_changes),
    )
