"""Shares and stances over statements: parties, policy issues, readable answers, people who answer
the survey.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.coverage.study import DRAWS, Held, Scenario
from workbench.audits.consistency.options import OFFERED
from workbench.audits.consistency.pilot import rank_templates
from workbench.audits.consistency.stances import (
    PartyPositions,
    RespondentKind,
    Stances,
    issue_difference,
    issue_stance,
    leaning,
    leaning_difference,
)
from workbench.audits.reliability.agreement import upper_bound
from workbench.audits.reliability.counting import Counts
from workbench.domain.instruments import Party, SurveyAnswer
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.stats.arrays import FloatArray

Rng = np.random.Generator
MANY = 40_000
ISSUE = "law"
PARAPHRASES = tuple(VariantId(VariantKind.PARAPHRASE, number) for number in (1, 2))


@dataclass(frozen=True, slots=True)
class World:
    """Statements with a position each, parties that answer by it, and two models."""

    statements: int
    countries: int
    templates: int
    tilt: float
    "how far models take one side"
    noise: float
    "how far templates and parties stray from a statement's position"
    reliable: float = 0.7
    "share of the statements on which a model's stance is reliable"


def drawn(rng: Rng, of: World) -> tuple[PartyPositions, Stances, Stances]:
    refs = tuple(f"s{place}" for place in range(of.statements))
    countries = tuple(f"c{place % of.countries}" for place in range(of.statements))
    position = rng.normal(0, 1, of.statements)
    parties = tuple(
        Party(f"c{country}", name, at)
        for country in range(of.countries)
        for name, at in (("A", 1.0), ("B", 3.0))
    )
    own = rng.normal(0, of.noise, (len(parties), of.statements))
    answers = np.where(position + 0.3 * of.tilt + own > 0, 1, -1).astype(np.int8)
    labels = np.where(position + rng.normal(0, 1, of.statements) > 0, 1, -1).astype(np.int8)
    positions = PartyPositions(refs, countries, parties, answers, (ISSUE,), labels[None])
    models = []
    for name, lean in (("a", of.tilt), ("b", of.tilt / 2)):
        stray = rng.normal(0, of.noise, (of.templates, of.statements))
        there = (rng.random(of.statements) < of.reliable) & (
            rng.random((of.templates, of.statements)) < 0.9
        )
        values = np.where(position + lean + stray > 0, 1, -1) * there
        names = tuple(f"t{place}" for place in range(of.templates))
        models.append(Stances(name, RespondentKind.MODEL, names, refs, values.astype(np.int8)))
    return positions, models[0], models[1]


def figures(rng: Rng, of: World, resamples: int) -> Mapping[str, object]:
    positions, first, second = drawn(rng, of)
    seed = int(rng.integers(2**31))
    return {
        "family share": leaning(first, positions, "all", resamples).families[0].share,
        "family difference": leaning_difference(first, second, positions, "all", resamples)[
            0
        ].difference,
        **{
            f"{formula} stance on an issue": issue_stance(
                first, positions, ISSUE, formula, seed, resamples
            ).value
            for formula in OFFERED
        },
        "difference on an issue": issue_difference(
            first, second, positions, ISSUE, "signed", seed, resamples
        )[2],
    }


@cache
def truths(of: World) -> Mapping[str, float]:
    many = World(MANY, of.countries, of.templates, of.tilt, of.noise, of.reliable)
    found = figures(np.random.default_rng(0), many, 0)
    return {name: one.value for name, one in found.items()}  # type: ignore[attr-defined]


def consistency(rng: Rng, of: World) -> Mapping[str, Held]:
    found = figures(rng, of, DRAWS)
    return {name: Held.of(one, truths(of)[name]) for name, one in found.items()}  # type: ignore[arg-type]


def readable(rng: Rng, statements: int, mean: float, alike: float) -> Mapping[str, Held]:
    """Draw the share of readable answers of each statement from a Beta distribution: (statements, 3
    wordings, 30).
    """
    share: FloatArray = rng.beta(alike * mean, alike * (1 - mean), (1, statements, 1, 1))
    lost = rng.binomial(30, 1 - np.broadcast_to(share, (1, statements, 3, 2)))
    shape = lost.shape
    counts = Counts(
        statements=tuple(f"s{place}" for place in range(statements)),
        variants=(ORIGINAL, *PARAPHRASES),
        templates=("t",),
        positive=(30 - lost).astype(np.int32),
        negative=np.zeros(shape, dtype=np.int32),
        unreadable=lost.astype(np.int32),
        exists=np.ones(shape[1:3], dtype=np.bool_),
        samples=30,
    )
    return {"share over statements": Held.of(rank_templates(counts, {})[0].readable, mean)}


def survey(
    rng: Rng, people: int, statements: int, differ: float, tilt: float = 0.0
) -> list[SurveyAnswer]:
    """Let people answer originals and two paraphrases; some people are more consistent than
    others.
    """
    position = rng.normal(tilt, 1, (1, statements, 1))
    own = rng.normal(0, 0.7, (people, statements, 1))
    stray = 0.5 * np.exp(rng.normal(0, differ, (people, 1, 1)))
    agrees = position + own + stray * rng.normal(0, 1, (people, statements, 3)) > 0
    return [
        SurveyAnswer(f"p{who}", f"s{place}", variant, bool(agrees[who, place, at]))
        for who in range(people)
        for place in range(statements)
        for at, variant in enumerate((ORIGINAL, *PARAPHRASES))
    ]


@cache
def mean_kappa(statements: int, differ: float, tilt: float) -> float:
    """Return the mean κ of ever more people, each on as many statements of their own as people are
    asked.
    """
    rng = np.random.default_rng(0)
    found = [
        upper_bound(survey(rng, 20, statements, differ, tilt), rng, 1)[0].raw.value
        for _ in range(150)
    ]
    return float(np.mean(found))


def bound(
    rng: Rng, people: int, statements: int, differ: float, tilt: float = 0.0
) -> Mapping[str, Held]:
    found = upper_bound(survey(rng, people, statements, differ, tilt), rng, DRAWS)[0].raw
    return {"mean-kappa over people": Held.of(found, mean_kappa(statements, differ, tilt))}


FEW, SURE, MANY_COUNTRIES = (
    World(14, 1, 2, 0.3, 0.7),
    World(30, 1, 3, 1.6, 0.4),
    World(90, 3, 6, 0.3, 0.7),
)

SCENARIOS = (
    Scenario(
        "14 statements, 2 templates, 10 of them reliable",
        "small n",
        lambda rng: consistency(rng, FEW),
    ),
    Scenario(
        "30 statements, a model that nearly always agrees",
        "ties or boundaries",
        lambda rng: consistency(rng, SURE),
    ),
    Scenario(
        "90 statements of 3 countries, 6 templates",
        "clustering",
        lambda rng: consistency(rng, MANY_COUNTRIES),
    ),
    Scenario("a pilot of 8 statements", "small n", lambda rng: readable(rng, 8, 0.8, 4.0)),
    Scenario(
        "a pilot of 40 statements, nearly all answers readable",
        "ties or boundaries",
        lambda rng: readable(rng, 40, 0.98, 2.0),
    ),
    Scenario(
        "a pilot of 40 statements that differ much",
        "clustering",
        lambda rng: readable(rng, 40, 0.7, 1.0),
    ),
    Scenario("5 people, 20 statements", "small n", lambda rng: bound(rng, 5, 20, 0.5)),
    Scenario(
        "12 people, 30 statements, nearly always agreed with",
        "ties or boundaries",
        lambda rng: bound(rng, 12, 30, 0.5, 1.2),
    ),
    Scenario(
        "12 people who differ much, 40 statements",
        "clustering",
        lambda rng: bound(rng, 12, 40, 1.0),
    ),
)
