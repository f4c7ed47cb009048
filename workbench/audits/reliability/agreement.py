"""How well stances on the variants of statements agree, as coefficients with intervals.

Two levels. Over statements: per template, Cohen's κ between the stance on the original and on a
variant (Ceron et al. 2024, section 6.2, Tables 2 and 3). Per statement: over the conditions under
which both were asked, template x label order x paraphrase; samples of one prompt are exchangeable,
so pairing them would mean nothing.

The stance on a negation should be the other one, so perfect consistency there is κ = -1 (raw, as
published for models in the paper's first version); beside it stands κ after flipping the variant's
stances, in which it is 1.

People
------
How consistently people answer a statement and its variants: the upper bound that models are held
against.

"We asked human annotators to answer" the same variants (Ceron et al. 2024, section 6.1): Cohen's κ
between a person's answers to originals and to variants, and its mean over people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from workbench.audits.reliability.counting import PRINTED, SWAPPED
from workbench.domain.findings import folded
from workbench.domain.instruments import Instrument, SurveyAnswer
from workbench.domain.keys import SEED
from workbench.domain.statements import (
    ORIGINAL,
    RELATION_OF,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UsageError
from workbench.stats import contingency
from workbench.stats.agreement import (
    ALL_EQUAL,
    NO_PAIRS,
    PairsEstimates,
    cohen_kappa,
    krippendorff_alpha,
    pairs_estimates,
)
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import mean_sd
from workbench.stats.proportions import wilson_interval
from workbench.stats.resampling import derive_rng, percentile_interval, resampled_sums, widened
from workbench.stats.units import MISSING

if TYPE_CHECKING:
    # For types: a report imports this module on use.
    from workbench.audits.reliability.judge import (
        ReliabilityReport,
    )

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
    """Return what is expected of wordings where that differs from their kind; of two languages this
    one counts.

    Nothing is expected of a wording that repeats its original or has no text: a comparison with it
    cannot fail, see `void`. `judge_void`: it is compared like the others, as published.
    """
    found: dict[tuple[str, VariantId], Relation] = {}
    for statement in statements:
        for wording in sorted(statement.wordings, key=lambda w: w.language == language):
            relation = (
                Relation.FREE
                if _is_void(statement, wording) and not judge_void
                else wording.relation
            )
            if (
                relation is not RELATION_OF[wording.variant.kind]
                or (statement.ref, wording.variant) in found
            ):
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
    """Return the kinds that are compared: the three published ones, and others that were
    answered.
    """
    there = {answer.variant.kind for answer in answers} - {VariantKind.ORIGINAL, *KINDS}
    return (*KINDS, *(kind for kind in VariantKind if kind in there))


def pairs_of(
    answers: Sequence[SurveyAnswer], kind: VariantKind, relations: Relations | None = None
) -> Pairs:
    """Return each respondent's pairs; of several answers to one wording the last counts.

    A wording with no expected stance makes no pair. One that is expected to do other than its kind
    (a negation that should not flip) is turned round, so that a row of figures has one reading.
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

    The interval resamples respondents, and each one's statements within: other people, and other
    statements. The pairs of a statement share its original and are drawn together.
    """
    return tuple(
        _bound(kind, pairs_of(answers, kind, relations), rng, resamples)
        for kind in kinds_of(answers)
        if answers
    )


def bound_of(instrument: Instrument, seed: int, *, judge_void: bool) -> tuple[Bound, ...]:
    """Return the upper bound of an instrument; empty where nobody answered it. `judge_void`: see
    `relations_of`.
    """
    relations = relations_of(instrument.statements, instrument.language, judge_void=judge_void)
    return upper_bound(
        instrument.survey, derive_rng(seed, "survey", instrument.name), relations=relations
    )


def _bound(kind: VariantKind, pairs: Pairs, rng: np.random.Generator, resamples: int) -> Bound:
    by_person = [found for each in pairs.values() if len(found := _tables(each))]
    tables = np.array([found.sum(axis=0) for found in by_person], dtype=np.int64).reshape(-1, 2, 2)
    drawn = _resampled(by_person, rng, resamples)
    relation = RELATION_OF[kind]
    raw = _mean(tables, drawn)
    flipped = _mean(tables[..., ::-1], drawn[..., ::-1]) if relation is Relation.FLIPPED else raw
    return Bound(
        kind.value, relation, len(tables), int(tables.sum()), raw[0], flipped[0], raw[1], flipped[1]
    )


def _tables(pairs: Iterable[AnswerPair]) -> IntArray:
    """Count each statement's complete pairs by (original, variant), disagree first: (statements, 2,
    2).
    """
    complete = [pair for pair in pairs if pair.original != MISSING]
    place = {ref: n for n, ref in enumerate(dict.fromkeys(pair.statement for pair in complete))}
    tables = np.zeros((len(place), 2, 2), dtype=np.int64)
    for pair in complete:
        tables[place[pair.statement], int(pair.original > 0), int(pair.variant > 0)] += 1
    return tables


def _resampled(
    by_person: Sequence[IntArray], rng: np.random.Generator, resamples: int
) -> FloatArray:
    """Return tables of respondents drawn with replacement, their statements drawn within: (R,
    people, 2, 2).
    """
    people = len(by_person)
    who = (
        rng.integers(people, size=(resamples, people))
        if people
        else np.empty((resamples, 0), dtype=np.int64)
    )
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
        return replace(
            alone, few=f"too few for an interval: {found.n} people; {LEAST} are needed"
        ), found
    ends = percentile_interval(_defined_mean(contingency.kappa(drawn)))
    low, high = map(float, widened(np.array(found.mean), *ends, np.array(found.n - 1.0)))
    if np.isnan(low) or high - low < ROUNDING:
        return replace(alone, few="too few for an interval: all people answered alike"), found
    return replace(
        alone, low=max(-1.0, low), high=min(1.0, high), interval="mean-kappa over people"
    ), found


def _defined_mean(values: FloatArray) -> FloatArray:
    """Return the mean of what is defined along the last axis, NaN where nothing is."""
    there = ~np.isnan(values)
    count = there.sum(axis=-1)
    return np.where(
        count > 0, np.where(there, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan
    )


COMPARED = (VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
LABEL_ORDER = "label_order"

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """κ between two versions of every statement, by template or by respondent."""

    name: str
    "paraphrase, negation, opposite, label_order"
    relation: Relation
    by: tuple[str, ...]
    "templates, or respondents"
    raw: tuple[Estimate, ...]
    flipped: tuple[Estimate, ...]
    "with the second stance turned round; the same as `raw` where the stances should be the same"
    raw_mean: MeanSd
    "mean and sample deviation of the defined values"
    flipped_mean: MeanSd
    void: tuple[int, ...] = ()
    "pairs of one and the same prompt, which are no pairs; by template, empty for respondents"


@dataclass(frozen=True, slots=True)
class AcrossTemplates:
    """Agreement of the templates on the original statements, printed label order."""

    alpha: Estimate
    "Krippendorff's, nominal; units are statements, raters are templates"
    same: Estimate
    """share of statements with one stance under all templates, among those with enough readable
    answers under each"""


@dataclass(frozen=True, slots=True)
class ItemAgreementRow:
    """Agreement between the original of one statement and its variants of one kind, over
    conditions.
    """

    kappa: Estimate
    observed: Estimate
    ac1: Estimate
    kappa_flipped: Estimate
    observed_flipped: Estimate
    ac1_flipped: Estimate


def agreement(
    report: ReliabilityReport, only: Only | None = None, *, intervals: bool = True
) -> tuple[AgreementRow, ...]:
    """Return a row for each comparison over statements.

    A pair is a statement's original and one variant of it, both in printed order (for
    `label_order`: the original in both orders). Pairs with a side that has no stance are excluded;
    wordings that do not exist are no pairs. The pairs of all paraphrases are pooled into one κ, so
    that it has one n and one interval; the released code averages the κ of each paraphrase instead.
    A wording of which the opposite of its kind is expected is turned round first; one with no
    expected stance is no pair, and neither is one with the original's own prompt. Intervals
    resample statements: the pairs of one share its original.

    only : refs of the statements that each comparison is over, by its name; None: all
    intervals : False leaves them out, which take nearly all of the time, where means alone are
        wanted
    """
    rows = [
        _row(
            kind.value,
            RELATION_OF[kind],
            report,
            _pairs(report, kind, _among(report, only, kind.value)),
            intervals,
        )
        for kind in COMPARED
    ]
    order = _order_pairs(report, _among(report, only, LABEL_ORDER))
    return (*rows, _row(LABEL_ORDER, Relation.SAME, report, order, intervals))


Only = Mapping[str, Collection[str]]


def _among(report: ReliabilityReport, only: Only | None, name: str) -> BoolArray:
    """Return which statements a comparison is over: (S,)."""
    refs = report.counts.statements
    return np.array([only is None or ref in only.get(name, ()) for ref in refs], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Restricted:
    """How many of a run's statements its kappas are over, where they are over those that people
    answered.
    """

    name: str
    statements: int
    left_out: int


def as_people(
    report: ReliabilityReport, survey: Sequence[SurveyAnswer]
) -> tuple[Only, tuple[Restricted, ...]]:
    """Return the statements that people answered, for each comparison, and how many of the run's
    these are.

    A comparison with a variant is over the statements of which somebody answered the original and
    such a variant, and that of label orders over those of which somebody answered the original.
    Raises UsageError where nobody answered.
    """
    if not survey:
        raise UsageError(
            "nobody has answered the instrument; people answer with: workbench survey STORE"
        )
    only: dict[str, Collection[str]] = {
        kind.value: {
            pair.statement
            for of in pairs_of(survey, kind).values()
            for pair in of
            if pair.original != MISSING
        }
        for kind in COMPARED
    }
    only[LABEL_ORDER] = {answer.statement for answer in survey if answer.variant == ORIGINAL}
    refs = report.counts.statements
    counts = {name: sum(ref in answered for ref in refs) for name, answered in only.items()}
    return only, tuple(Restricted(name, n, len(refs) - n) for name, n in counts.items())


class StancePairs(NamedTuple):
    """Stances on both sides of pairs, under each template, and which statement each pair is
    about.
    """

    first: Sequence[IntArray]
    second: Sequence[IntArray]
    statement: Sequence[IntArray]
    void: tuple[int, ...]
    "under each template the pairs of one prompt with itself, which are left out"

    @classmethod
    def told_apart(
        cls, first: IntArray, second: IntArray, statement: IntArray, void: BoolArray
    ) -> StancePairs:
        """Leave void pairs out: all but `statement` are (T, pairs)."""
        kept = [~of for of in void]
        return cls(
            [stances[k] for stances, k in zip(first, kept, strict=True)],
            [stances[k] for stances, k in zip(second, kept, strict=True)],
            [statement[k] for k in kept],
            tuple(int(of.sum()) for of in void),
        )


def _coded(stances: npt.NDArray[np.int8]) -> IntArray:
    return np.where(stances == 0, MISSING, stances).astype(np.int64)


def _pairs(report: ReliabilityReport, kind: VariantKind, among: BoolArray) -> StancePairs:
    """Return, for each template, the stances on originals and variants that exist."""
    counts = report.counts
    originals, places = counts.places(VariantKind.ORIGINAL), counts.places(kind)
    if not originals or not places:
        nothing = [np.empty(0, dtype=np.int64)] * len(counts.templates)
        return StancePairs(nothing, nothing, nothing, (0,) * len(nothing))
    codes = _coded(report.stances[..., PRINTED] * np.where(counts.turned == 0, 1, counts.turned))
    expected = counts.exists[:, places] & (counts.turned[:, places] != 0) & among[:, None]
    statement, which = np.nonzero(expected & counts.exists[:, originals[:1]])
    variant = np.array(places)[which]
    void = report.voids.repeats[:, statement, variant, PRINTED]
    return StancePairs.told_apart(
        codes[:, statement, originals[0]], codes[:, statement, variant], statement, void
    )


def _order_pairs(report: ReliabilityReport, among: BoolArray) -> StancePairs:
    there = report.counts.exists[:, report.counts.places(VariantKind.ORIGINAL)].any(axis=1) & among
    codes, void = _coded(report.originals[0][:, there]), report.voids.label_order[:, there]
    return StancePairs.told_apart(
        codes[..., PRINTED], codes[..., SWAPPED], np.flatnonzero(there), void
    )


def _row(
    name: str, relation: Relation, report: ReliabilityReport, pairs: StancePairs, intervals: bool
) -> AgreementRow:
    """Return the κ of each template; the generator of each interval belongs to its name."""

    def kappas(sign: int) -> tuple[Estimate, ...]:
        rngs = (
            derive_rng(report.options.seed, "kappa", name, by, sign)
            for by in report.counts.templates
        )
        return tuple(
            cohen_kappa(a, _turned(b, sign), rng if intervals else None, RESAMPLES, of)
            for a, b, of, rng in zip(*pairs[:3], rngs, strict=True)
        )

    return replace(_with_means(name, relation, report.counts.templates, kappas), void=pairs.void)


def _turned(codes: IntArray, sign: int) -> IntArray:
    return np.where(codes == MISSING, MISSING, sign * codes)


def _with_means(
    name: str,
    relation: Relation,
    by: tuple[str, ...],
    kappas: Callable[[int], tuple[Estimate, ...]],
) -> AgreementRow:
    """`kappas` takes the sign to give to the second stance."""
    raw = kappas(1)
    flipped = raw if relation is Relation.SAME else kappas(-1)
    means = [mean_sd([estimate.value for estimate in estimates]) for estimates in (raw, flipped)]
    return AgreementRow(name, relation, by, raw, flipped, means[0], means[1])


def across_templates(report: ReliabilityReport) -> AcrossTemplates:
    """Return Krippendorff's alpha between templates and the share of statements with one stance
    under all.

    A statement that all templates put alike is in neither.
    """
    counts = report.counts
    stances, enough = report.originals[0][..., PRINTED], report.originals[1][..., PRINTED]
    rng = derive_rng(report.options.seed, "alpha")
    alpha = krippendorff_alpha(
        _coded(stances.T[~report.voids.template]), rng=rng, resamples=RESAMPLES
    )
    if len(counts.templates) < 2:
        return AcrossTemplates(alpha, _none("one template", len(counts.statements)))
    known, void = enough.all(axis=0), report.voids.template
    complete = known & ~void
    same = complete & (np.abs(stances.sum(axis=0)) == len(counts.templates))
    return AcrossTemplates(
        alpha, _share(int(same.sum()), int(complete.sum()), int((~known & ~void).sum()))
    )


def _share(k: int, n: int, excluded: int) -> Estimate:
    if n == 0:
        return _none("no statement with enough readable answers under all templates", excluded)
    low, high = wilson_interval(k, n)
    return Estimate(k / n, float(low), float(high), n, excluded, interval="share of items")


def _none(why: str, excluded: int) -> Estimate:
    return Estimate(float("nan"), float("nan"), float("nan"), 0, excluded, why)


class ItemAgreement:
    """Agreement per statement, over its pairs of conditions; each coefficient is computed when it
    is first asked for.

    A condition is a template, a label order and, for paraphrases, a number; a pair is the stance on
    the original and on the variant in the same template and order; a prompt and itself are none.
    Pairs of one template share the original's stances, so intervals are over templates: what other
    templates would give, of this statement in these wordings. κ has none
    (`stats.agreement.pairs_estimates` says why).
    """

    def __init__(self, report: ReliabilityReport, kind: VariantKind) -> None:
        self._report = report
        self.kind = kind
        self.relation = RELATION_OF[kind]
        self._found: dict[tuple[str, bool], PairsEstimates] = {}

    @cached_property
    def tables(self) -> IntArray:
        """Pairs by template and (stance on the original, stance on the variant), disagree first:
        (S, T, 2, 2).
        """
        original, variant = self._sides(self._report.stances)
        variant = variant * self._turned * ~self._void
        signs = (-1, 1)
        cells = [
            [((original == a) & (variant == b)).sum(axis=(2, 3)) for b in signs] for a in signs
        ]
        return np.moveaxis(np.array(cells, dtype=np.int64), (-1, -2), (0, 1))

    @cached_property
    def excluded(self) -> IntArray:
        """Pairs of which both sides were asked and one has no stance: (S,)."""
        original, variant = self._sides(
            self._report.counts.total * self._report.counts.exists[None, :, :, None]
        )
        asked = ((original > 0) & (variant > 0) & (self._turned != 0) & ~self._void).sum(
            axis=(0, 2, 3)
        )
        return np.asarray(asked - self.tables.sum(axis=(1, 2, 3)), dtype=np.int64)

    @property
    def _void(self) -> BoolArray:
        return np.asarray(self._report.voids.pairs[:, :, self._report.counts.places(self.kind)])

    @property
    def _turned(self) -> npt.NDArray[np.int8]:
        """What brings a variant's stance to what its kind expects: (S, places, 1)."""
        counts = self._report.counts
        return np.asarray(counts.turned[:, counts.places(self.kind), None])

    def _sides(self, values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        counts = self._report.counts
        originals, places = counts.places(VariantKind.ORIGINAL)[:1], counts.places(self.kind)
        original = values[:, :, originals] if originals else np.zeros_like(values[:, :, :1])
        return original, values[:, :, places]

    def estimates(
        self, coefficient: Literal["kappa", "observed", "ac1"], flipped: bool = False
    ) -> PairsEstimates:
        """Return one coefficient for every statement, with its interval over templates."""
        key = (coefficient, flipped and self.relation is Relation.FLIPPED)
        if key not in self._found:
            tables = self.tables[..., ::-1] if key[1] else self.tables
            self._found[key] = pairs_estimates(tables, coefficient)
        return self._found[key]

    def of(self, statement: int) -> ItemAgreementRow:
        """Return all coefficients of the statement at a place."""
        excluded = int(self.excluded[statement])
        raw, flipped = (
            [
                self.estimates(name, turned).estimate(statement, excluded)
                for name in ("kappa", "observed", "ac1")
            ]
            for turned in (False, True)
        )
        return ItemAgreementRow(*raw, *flipped)


def survey_agreement(
    answers: Sequence[SurveyAnswer],
    instrument: str,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    relations: Relations | None = None,
) -> tuple[AgreementRow, ...]:
    """Return how consistently people answer, the upper bound for models (section 6.1): κ for each
    respondent.

    Pairs are a respondent's answers to the original and to a variant of the same statement; answers
    without a partner are excluded. Of several answers to one wording the last counts. Intervals
    resample statements, and a respondent's is the same whoever else answered. `relations`: see
    `human_bound.relations_of`.
    """
    respondents = tuple(dict.fromkeys(a.respondent for a in answers))
    place = {ref: n for n, ref in enumerate(dict.fromkeys(a.statement for a in answers))}
    rows = []
    for kind in kinds_of(answers):
        pairs = pairs_of(answers, kind, relations)

        def kappas(
            sign: int, kind: VariantKind = kind, pairs: Pairs = pairs
        ) -> tuple[Estimate, ...]:
            found = []
            for who in respondents:
                coded = [
                    (pair.original, pair.variant, place[pair.statement]) for pair in pairs[who]
                ]
                first, second, statement = np.array(coded, dtype=np.int64).reshape(-1, 3).T
                rng = derive_rng(seed, "survey", instrument, who, kind.value, sign)
                found.append(cohen_kappa(first, sign * second, rng, resamples, statement))
            return tuple(found)

        rows.append(_with_means(kind.value, RELATION_OF[kind], respondents, kappas))
    return tuple(rows)
