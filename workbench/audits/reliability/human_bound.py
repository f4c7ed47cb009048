"""How consistently people answer a statement and its variants: the upper bound that models are held against.

"We asked human annotators to answer" the same variants (Ceron et al. 2024, section 6.1): Cohen's κ between a person's
answers to originals and to variants, and its mean over people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.statements import ORIGINAL, RELATION_OF, Relation, Statement, VariantId, VariantKind, Wording
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.stats import contingency
from workbench.stats.agreement import ALL_EQUAL, NO_PAIRS
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import mean_sd
from workbench.stats.resampling import derive_rng, percentile_interval, resampled_sums, widened
from workbench.stats.units import MISSING

LEAST = 3
"people, below which their mean has no interval"
ROUNDING = 1e-12
KINDS = (VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
Relations = Mapping[tuple[str, VariantId], Relation]


class AnswerPair(NamedTuple):
    """A person's stances on two wordings of a statement, 1 agree and -1 disagree."""

    statement: str
    original: int
    "MISSING where the person did not answer it"
    variant: int


Pairs = dict[str, list[AnswerPair]]
"respondent -> pairs"

RESAMPLES = 1000
"draws for an interval"


@dataclass(frozen=True, slots=True)
class Bound:
    """People's κ for one kind of variant: the mean over respondents."""

    name: str
    relation: Relation
    respondents: int
    "who answered such a variant"
    pairs: int
    raw: Estimate
    "n: respondents with a κ; excluded: those whose κ is undefined"
    flipped: Estimate
    "with the answers to the variant turned round, where they should be; else the same as `raw`"
    raw_mean: MeanSd
    flipped_mean: MeanSd


def relations_of(
    statements: Iterable[Statement], language: str, *, judge_void: bool = False
) -> dict[tuple[str, VariantId], Relation]:
    """Return what is expected of wordings where that differs from their kind; of two languages this one counts.

    Nothing is expected of a wording that repeats its original or has no text: a comparison with it cannot fail, see
    `void`. `judge_void`: it is compared like the others, as published.
    """
    found: dict[tuple[str, VariantId], Relation] = {}
    for statement in statements:
        for wording in sorted(statement.wordings, key=lambda w: w.language == language):
            relation = Relation.FREE if _is_void(statement, wording) and not judge_void else wording.relation
            if relation is not RELATION_OF[wording.variant.kind] or (statement.ref, wording.variant) in found:
                found[statement.ref, wording.variant] = relation
    return found


def _is_void(statement: Statement, wording: Wording) -> bool:
    """Return whether a wording reads like its original, or either has no text."""
    original = statement.wording(ORIGINAL, wording.language)
    if wording.variant == ORIGINAL or original is None:
        return False
    texts = folded(wording.text), folded(original.text)
    return texts[0] == texts[1] or not all(texts)


def kinds_of(answers: Iterable[SurveyAnswer]) -> tuple[VariantKind, ...]:
    """Return the kinds that are compared: the three published ones, and others that were answered."""
    there = {answer.variant.kind for answer in answers} - {VariantKind.ORIGINAL, *KINDS}
    return (*KINDS, *(kind for kind in VariantKind if kind in there))


def pairs_of(answers: Sequence[SurveyAnswer], kind: VariantKind, relations: Relations | None = None) -> Pairs:
    """Return each respondent's pairs; of several answers to one wording the last counts.

    A wording with no expected stance makes no pair. One that is expected to do other than its kind (a negation
    that should not flip) is turned round, so that a row of figures has one reading.
    """
    given = {(a.respondent, a.statement, a.variant): 1 if a.agrees else -1 for a in answers}
    pairs: Pairs = {who: [] for who in dict.fromkeys(a.respondent for a in answers)}
    for (who, statement, variant), stance in given.items():
        expected = (relations or {}).get((statement, variant), RELATION_OF[kind])
        if variant.kind is kind and expected is not Relation.FREE:
            original = given.get((who, statement, ORIGINAL), MISSING)
            turned = stance if expected is RELATION_OF[kind] else -stance
            pairs[who].append(AnswerPair(statement, original, turned))
    return pairs


def upper_bound(
    answers: Sequence[SurveyAnswer],
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    relations: Relations | None = None,
) -> tuple[Bound, ...]:
    """Return the mean κ over respondents for each kind, with 95 % intervals.

    The interval resamples respondents, and each one's statements within: other people, and other statements. The pairs
    of a statement share its original and are drawn together.
    """
    return tuple(
        _bound(kind, pairs_of(answers, kind, relations), rng, resamples) for kind in kinds_of(answers) if answers
    )


def bound_of(instrument: Instrument, seed: int, *, judge_void: bool) -> tuple[Bound, ...]:
    """Return the upper bound of an instrument; empty where nobody answered it. `judge_void`: see `relations_of`."""
    relations = relations_of(instrument.statements, instrument.language, judge_void=judge_void)
    return upper_bound(instrument.survey, derive_rng(seed, "survey", instrument.name), relations=relations)


def _bound(kind: VariantKind, pairs: Pairs, rng: np.random.Generator, resamples: int) -> Bound:
    by_person = [found for each in pairs.values() if len(found := _tables(each))]
    tables = np.array([found.sum(axis=0) for found in by_person], dtype=np.int64).reshape(-1, 2, 2)
    drawn = _resampled(by_person, rng, resamples)
    relation = RELATION_OF[kind]
    raw = _mean(tables, drawn)
    flipped = _mean(tables[..., ::-1], drawn[..., ::-1]) if relation is Relation.FLIPPED else raw
    return Bound(kind.value, relation, len(tables), int(tables.sum()), raw[0], flipped[0], raw[1], flipped[1])


def _tables(pairs: Iterable[AnswerPair]) -> IntArray:
    """Count each statement's complete pairs by (original, variant), disagree first: (statements, 2, 2)."""
    complete = [pair for pair in pairs if pair.original != MISSING]
    place = {ref: n for n, ref in enumerate(dict.fromkeys(pair.statement for pair in complete))}
    tables = np.zeros((len(place), 2, 2), dtype=np.int64)
    for pair in complete:
        tables[place[pair.statement], int(pair.original > 0), int(pair.variant > 0)] += 1
    return tables


def _resampled(by_person: Sequence[IntArray], rng: np.random.Generator, resamples: int) -> FloatArray:
    """Return tables of respondents drawn with replacement, their statements drawn within: (R, people, 2, 2)."""
    people = len(by_person)
    who = rng.integers(people, size=(resamples, people)) if people else np.empty((resamples, 0), dtype=np.int64)
    drawn = np.empty((resamples, people, 2, 2))
    for place, tables in enumerate(by_person):
        at = who == place
        if at.any():
            drawn[at] = resampled_sums(tables.reshape(-1, 4), int(at.sum()), rng).reshape(-1, 2, 2)
    return drawn


def _mean(tables: IntArray, drawn: FloatArray) -> tuple[Estimate, MeanSd]:
    kappas = contingency.kappa(tables)
    found = mean_sd(kappas)
    if math.isnan(found.mean):
        why = ALL_EQUAL if len(tables) else NO_PAIRS
        return Estimate(math.nan, math.nan, math.nan, 0, found.excluded, why), found
    alone = Estimate(found.mean, math.nan, math.nan, found.n, found.excluded)
    if found.n < LEAST:
        return replace(alone, few=f"too few for an interval: {found.n} people; {LEAST} are needed"), found
    ends = percentile_interval(_defined_mean(contingency.kappa(drawn)))
    low, high = map(float, widened(np.array(found.mean), *ends, np.array(found.n - 1.0)))
    if np.isnan(low) or high - low < ROUNDING:
        return replace(alone, few="too few for an interval: all people answered alike"), found
    return replace(alone, low=max(-1.0, low), high=min(1.0, high), interval="mean-kappa over people"), found


def _defined_mean(values: FloatArray) -> FloatArray:
    """Return the mean of what is defined along the last axis, NaN where nothing is."""
    there = ~np.isnan(values)
    count = there.sum(axis=-1)
    return np.where(count > 0, np.where(there, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan)
