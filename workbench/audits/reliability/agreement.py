"""The agreement of stances on the variants of statements, as coefficients with intervals.

There are two levels. Over statements: per template, Cohen's κ between the stance on the original
and on a variant (Ceron et al. 2024, section 6.2, Tables 2 and 3). Per statement: over the
conditions under which both were asked, template x label order x paraphrase. The samples of one
prompt are exchangeable, so pairing them would mean nothing.

The stance on a negation should be the other one, so perfect consistency is κ = -1 (raw, as
published for models in the paper's first version). Next to it stands κ after flipping the variant's
stances, for which perfect consistency is 1.

People
------

The agreement of people between a statement and its variants is the upper bound for models.

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
"fewest people whose mean has an interval"
ROUNDING = 1e-12
KINDS = (VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
Relations = Mapping[tuple[str, VariantId], Relation]


class AnswerPair(NamedTuple):
    """A person's stances on two wordings of a statement, 1 agree and -1 disagree."""

    statement: str
    original: int
    "MISSING if the person did not answer it"
    variant: int


Pairs = dict[str, list[AnswerPair]]
"respondent -> pairs"

RESAMPLES = 1000
"number of draws for an interval"


@dataclass(frozen=True, slots=True)
class Bound:
    """People's κ for one kind of variant: the mean over respondents."""

    name: str
    relation: Relation
    respondents: int
    "number of those who answered such a variant"
    pairs: int
    raw: Estimate
    "its `n` is the number of respondents with a κ; its `excluded` of those whose κ is undefined"
    flipped: Estimate
    "with the answers to the variant turned round if they should be; otherwise the same as `raw`"
    raw_mean: MeanSd
    flipped_mean: MeanSd


def relations_of(
    statements: Iterable[Statement], language: str, *, judge_void: bool = False
) -> dict[tuple[str, VariantId], Relation]:
    """Return the expected relation of the wordings for which it is not that of their kind.

    The wording in this language counts if there are two. Nothing is expected of a wording that
    repeats its original or has no text, because a comparison with it cannot fail (see `counting`).

    Parameters
    ----------
    judge_void : compare such wordings like the others, as published
    """
    relations: dict[tuple[str, VariantId], Relation] = {}
    for statement in statements:
        for wording in sorted(
            statement.wordings, key=lambda candidate: candidate.language == language
        ):
            relation = (
                Relation.FREE
                if _is_void(statement, wording) and not judge_void
                else wording.relation
            )
            if (
                relation is not RELATION_OF[wording.variant.kind]
                or (statement.ref, wording.variant) in relations
            ):
                relations[statement.ref, wording.variant] = relation
    return relations


def _is_void(statement: Statement, wording: Wording) -> bool:
    """Return whether a wording reads like its original, or either has no text."""
    original = statement.wording(ORIGINAL, wording.language)
    if wording.variant == ORIGINAL or original is None:
        return False
    texts = folded(wording.text), folded(original.text)
    return texts[0] == texts[1] or not all(texts)


def kinds_of(answers: Iterable[SurveyAnswer]) -> tuple[VariantKind, ...]:
    """Return the kinds that are compared: the three published ones, and others with answers."""
    other_kinds = {answer.variant.kind for answer in answers} - {VariantKind.ORIGINAL, *KINDS}
    return (*KINDS, *(kind for kind in VariantKind if kind in other_kinds))


def pairs_of(
    answers: Sequence[SurveyAnswer], kind: VariantKind, relations: Relations | None = None
) -> Pairs:
    """Return each respondent's pairs. The last of several answers to one wording counts.

    A wording with no expected stance makes no pair. A wording with another expected relation than
    its kind (a negation that should not flip) is turned round, so that a row of figures has one
    meaning.
    """
    stance_by_wording = {
        (answer.respondent, answer.statement, answer.variant): 1 if answer.agrees else -1
        for answer in answers
    }
    pairs: Pairs = {
        respondent: [] for respondent in dict.fromkeys(answer.respondent for answer in answers)
    }
    for (respondent, statement, variant), stance in stance_by_wording.items():
        expected = (relations or {}).get((statement, variant), RELATION_OF[kind])
        if variant.kind is kind and expected is not Relation.FREE:
            original = stance_by_wording.get((respondent, statement, ORIGINAL), MISSING)
            turned = stance if expected is RELATION_OF[kind] else -stance
            pairs[respondent].append(AnswerPair(statement, original, turned))
    return pairs


def upper_bound(
    answers: Sequence[SurveyAnswer],
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    relations: Relations | None = None,
) -> tuple[Bound, ...]:
    """Return the mean κ over respondents for each kind, with 95 % intervals.

    The interval resamples respondents, and each respondent's statements, so it covers other people
    and other statements. The pairs of a statement share its original and are resampled together.
    """
    return tuple(
        _bound(kind, pairs_of(answers, kind, relations), rng, resamples)
        for kind in kinds_of(answers)
        if answers
    )


def bound_of(instrument: Instrument, seed: int, *, judge_void: bool) -> tuple[Bound, ...]:
    """Return the upper bound of an instrument. It is empty if nobody answered it.

    Parameters
    ----------
    judge_void : see `relations_of`
    """
    relations = relations_of(instrument.statements, instrument.language, judge_void=judge_void)
    return upper_bound(
        instrument.survey, derive_rng(seed, "survey", instrument.name), relations=relations
    )


def _bound(kind: VariantKind, pairs: Pairs, rng: np.random.Generator, resamples: int) -> Bound:
    """Return the mean κ of people for one kind of variant."""
    tables_by_person = [
        person_tables
        for person_pairs in pairs.values()
        if len(person_tables := _tables(person_pairs))
    ]
    tables = np.array(
        [person_tables.sum(axis=0) for person_tables in tables_by_person], dtype=np.int64
    ).reshape(-1, 2, 2)
    resampled = _resampled(tables_by_person, rng, resamples)
    relation = RELATION_OF[kind]
    raw = _mean(tables, resampled)
    flipped = (
        _mean(tables[..., ::-1], resampled[..., ::-1]) if relation is Relation.FLIPPED else raw
    )
    return Bound(
        kind.value, relation, len(tables), int(tables.sum()), raw[0], flipped[0], raw[1], flipped[1]
    )


def _tables(pairs: Iterable[AnswerPair]) -> IntArray:
    """Return each statement's counts of complete pairs by (original, variant): (statements, 2, 2).

    Disagreement comes first.
    """
    complete = [pair for pair in pairs if pair.original != MISSING]
    row_by_ref = {
        ref: row for row, ref in enumerate(dict.fromkeys(pair.statement for pair in complete))
    }
    tables = np.zeros((len(row_by_ref), 2, 2), dtype=np.int64)
    for pair in complete:
        tables[row_by_ref[pair.statement], int(pair.original > 0), int(pair.variant > 0)] += 1
    return tables


def _resampled(
    by_person: Sequence[IntArray], rng: np.random.Generator, resamples: int
) -> FloatArray:
    """Return tables of resampled respondents and statements: (R, people, 2, 2).

    Respondents are drawn with replacement, and the statements of each of them, too.
    """
    n_people = len(by_person)
    drawn_people = (
        rng.integers(n_people, size=(resamples, n_people))
        if n_people
        else np.empty((resamples, 0), dtype=np.int64)
    )
    drawn_tables = np.empty((resamples, n_people, 2, 2))
    for person, tables in enumerate(by_person):
        is_person = drawn_people == person
        if is_person.any():
            drawn_tables[is_person] = resampled_sums(
                tables.reshape(-1, 4), int(is_person.sum()), rng
            ).reshape(-1, 2, 2)
    return drawn_tables


def _mean(tables: IntArray, drawn: FloatArray) -> tuple[Estimate, MeanSd]:
    """Return the mean κ of people with its interval, and with its deviation."""
    kappas = contingency.kappa(tables)
    summary = mean_sd(kappas)
    if math.isnan(summary.mean):
        reason = ALL_EQUAL if len(tables) else NO_PAIRS
        return Estimate(math.nan, math.nan, math.nan, 0, summary.excluded, reason), summary
    without_interval = Estimate(summary.mean, math.nan, math.nan, summary.n, summary.excluded)
    if summary.n < LEAST:
        return replace(
            without_interval, few=f"too few for an interval: {summary.n} people; {LEAST} are needed"
        ), summary
    bounds = percentile_interval(_defined_mean(contingency.kappa(drawn)))
    low, high = map(float, widened(np.array(summary.mean), *bounds, np.array(summary.n - 1.0)))
    if np.isnan(low) or high - low < ROUNDING:
        return replace(
            without_interval, few="too few for an interval: all people answered alike"
        ), summary
    return replace(
        without_interval, low=max(-1.0, low), high=min(1.0, high), interval="mean-kappa over people"
    ), summary


def _defined_mean(values: FloatArray) -> FloatArray:
    """Return the mean of the defined values along the last axis, or NaN if there are none."""
    is_defined = ~np.isnan(values)
    count = is_defined.sum(axis=-1)
    return np.where(
        count > 0, np.where(is_defined, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan
    )


LABEL_ORDER = "label_order"

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The κ between two versions of every statement, by template or by respondent."""

    name: str
    "`paraphrase`, `negation`, `opposite` or `label_order`"
    relation: Relation
    by: tuple[str, ...]
    "names of templates, or of respondents"
    raw: tuple[Estimate, ...]
    flipped: tuple[Estimate, ...]
    "with the second stance turned round; the same as `raw` if the stances should be the same"
    raw_mean: MeanSd
    "mean and sample deviation of the defined values"
    flipped_mean: MeanSd
    void: tuple[int, ...] = ()
    """number of pairs of a prompt with itself, which do not count; by template, empty for
    respondents"""


@dataclass(frozen=True, slots=True)
class AcrossTemplates:
    """The agreement of the templates on the original statements, in printed label order."""

    alpha: Estimate
    "Krippendorff's alpha, nominal; units are statements, raters are templates"
    same: Estimate
    """share of statements with one stance under all templates, among those with enough readable
    answers under each"""


@dataclass(frozen=True, slots=True)
class ItemAgreementRow:
    """The agreement between the original of one statement and its variants of one kind.

    It is over conditions.
    """

    kappa: Estimate
    observed: Estimate
    ac1: Estimate
    kappa_flipped: Estimate
    observed_flipped: Estimate
    ac1_flipped: Estimate


def agreement(
    report: ReliabilityReport, only: ComparedRefs | None = None, *, intervals: bool = True
) -> tuple[AgreementRow, ...]:
    """Return a row for each comparison over statements.

    A pair is a statement's original and one variant of it, both in printed order (for
    `label_order`: the original in both orders). Pairs with a side that has no stance are excluded.
    Wordings that do not exist make no pairs. The pairs of all paraphrases are pooled into one κ, so
    that it has one n and one interval. The released code averages the κ of each paraphrase instead.
    A wording with the opposite relation of its kind is turned round first. A wording with no
    expected stance makes no pair, and neither does one with the original's own prompt. Intervals
    resample statements, because the pairs of a statement share its original.

    Parameters
    ----------
    only : refs of the statements of each comparison, by its name; None: all
    intervals : whether to compute intervals, which take nearly all of the time
    """
    rows = [
        _row(
            kind.value,
            RELATION_OF[kind],
            report,
            _pairs(report, kind, _among(report, only, kind.value)),
            intervals,
        )
        for kind in KINDS
    ]
    order = _order_pairs(report, _among(report, only, LABEL_ORDER))
    return (*rows, _row(LABEL_ORDER, Relation.SAME, report, order, intervals))


ComparedRefs = Mapping[str, Collection[str]]


def _among(report: ReliabilityReport, only: ComparedRefs | None, name: str) -> BoolArray:
    """Return whether a comparison includes a statement: (S,)."""
    refs = report.counts.statements
    return np.array([only is None or ref in only.get(name, ()) for ref in refs], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class ComparisonSize:
    """The number of statements behind a run's κ, if it is over those that people answered."""

    name: str
    statements: int
    left_out: int


def as_people(
    report: ReliabilityReport, survey: Sequence[SurveyAnswer]
) -> tuple[ComparedRefs, tuple[ComparisonSize, ...]]:
    """Return the statements that people answered, for each comparison, and their numbers.

    A comparison with a variant is over the statements of which somebody answered the original and
    such a variant. That of label orders is over those of which somebody answered the original.
    Raises UsageError if nobody answered.
    """
    if not survey:
        raise UsageError(
            "nobody has answered the instrument; people answer with: workbench survey STORE"
        )
    only: dict[str, Collection[str]] = {
        kind.value: {
            pair.statement
            for person_pairs in pairs_of(survey, kind).values()
            for pair in person_pairs
            if pair.original != MISSING
        }
        for kind in KINDS
    }
    only[LABEL_ORDER] = {answer.statement for answer in survey if answer.variant == ORIGINAL}
    refs = report.counts.statements
    counts = {
        name: sum(ref in refs_with_answers for ref in refs)
        for name, refs_with_answers in only.items()
    }
    return only, tuple(
        ComparisonSize(name, n_statements, len(refs) - n_statements)
        for name, n_statements in counts.items()
    )


class StancePairs(NamedTuple):
    """Stances on both sides of pairs, under each template, and the statement of each pair."""

    first: Sequence[IntArray]
    second: Sequence[IntArray]
    statement: Sequence[IntArray]
    void: tuple[int, ...]
    "number of pairs of a prompt with itself under each template, which are excluded"

    @classmethod
    def without_void(
        cls, first: IntArray, second: IntArray, statement: IntArray, void: BoolArray
    ) -> StancePairs:
        """Return the pairs without the void ones. All arrays but `statement` are (T, pairs)."""
        masks = [~is_void for is_void in void]
        return cls(
            [stances[mask] for stances, mask in zip(first, masks, strict=True)],
            [stances[mask] for stances, mask in zip(second, masks, strict=True)],
            [statement[mask] for mask in masks],
            tuple(int(is_void.sum()) for is_void in void),
        )


def _coded(stances: npt.NDArray[np.int8]) -> IntArray:
    """Return stances with MISSING for no stance."""
    return np.where(stances == 0, MISSING, stances).astype(np.int64)


def _pairs(report: ReliabilityReport, kind: VariantKind, among: BoolArray) -> StancePairs:
    """Return, for each template, the stances on originals and variants that exist."""
    counts = report.counts
    originals, variants_of_kind = (
        counts.variant_indices(VariantKind.ORIGINAL),
        counts.variant_indices(kind),
    )
    if not originals or not variants_of_kind:
        empty = [np.empty(0, dtype=np.int64)] * len(counts.templates)
        return StancePairs(empty, empty, empty, (0,) * len(empty))
    codes = _coded(report.stances[..., PRINTED] * np.where(counts.turned == 0, 1, counts.turned))
    expected = (
        counts.exists[:, variants_of_kind]
        & (counts.turned[:, variants_of_kind] != 0)
        & among[:, None]
    )
    statement, variant_number = np.nonzero(expected & counts.exists[:, originals[:1]])
    variant = np.array(variants_of_kind)[variant_number]
    void = report.voids.repeats[:, statement, variant, PRINTED]
    return StancePairs.without_void(
        codes[:, statement, originals[0]], codes[:, statement, variant], statement, void
    )


def _order_pairs(report: ReliabilityReport, among: BoolArray) -> StancePairs:
    """Return, for each template, the stances on originals in both label orders."""
    has_original = (
        report.counts.exists[:, report.counts.variant_indices(VariantKind.ORIGINAL)].any(axis=1)
        & among
    )
    codes, void = (
        _coded(report.originals[0][:, has_original]),
        report.voids.label_order[:, has_original],
    )
    return StancePairs.without_void(
        codes[..., PRINTED], codes[..., SWAPPED], np.flatnonzero(has_original), void
    )


def _row(
    name: str, relation: Relation, report: ReliabilityReport, pairs: StancePairs, intervals: bool
) -> AgreementRow:
    """Return the κ of each template. The random generator of an interval depends on its name."""

    def kappas(stance_sign: int) -> tuple[Estimate, ...]:
        rngs = (
            derive_rng(report.options.seed, "kappa", name, template, stance_sign)
            for template in report.counts.templates
        )
        return tuple(
            cohen_kappa(
                original,
                _turned(variant, stance_sign),
                rng if intervals else None,
                RESAMPLES,
                statement,
            )
            for original, variant, statement, rng in zip(*pairs[:3], rngs, strict=True)
        )

    return replace(_with_means(name, relation, report.counts.templates, kappas), void=pairs.void)


def _turned(codes: IntArray, sign: int) -> IntArray:
    """Return stances times a sign. Missing ones stay missing."""
    return np.where(codes == MISSING, MISSING, sign * codes)


def _with_means(
    name: str,
    relation: Relation,
    subjects: tuple[str, ...],
    kappas: Callable[[int], tuple[Estimate, ...]],
) -> AgreementRow:
    """Return the row of the raw and the flipped κ of a comparison, with their means.

    Parameters
    ----------
    kappas : function of the sign by which the second stance is multiplied
    """
    raw = kappas(1)
    flipped = raw if relation is Relation.SAME else kappas(-1)
    means = [mean_sd([estimate.value for estimate in estimates]) for estimates in (raw, flipped)]
    return AgreementRow(name, relation, subjects, raw, flipped, means[0], means[1])


def across_templates(report: ReliabilityReport) -> AcrossTemplates:
    """Return Krippendorff's alpha between templates, and the share of statements with one stance.

    That share is over statements with enough readable answers under all templates. A statement that
    all templates put into the same text is in neither.
    """
    counts = report.counts
    stances, enough = report.originals[0][..., PRINTED], report.originals[1][..., PRINTED]
    rng = derive_rng(report.options.seed, "alpha")
    alpha = krippendorff_alpha(
        _coded(stances.T[~report.voids.template]), rng=rng, resamples=RESAMPLES
    )
    if len(counts.templates) < 2:
        return AcrossTemplates(alpha, _none("one template", len(counts.statements)))
    is_known, is_void = enough.all(axis=0), report.voids.template
    is_complete = is_known & ~is_void
    has_one_stance = is_complete & (np.abs(stances.sum(axis=0)) == len(counts.templates))
    return AcrossTemplates(
        alpha,
        _share(
            int(has_one_stance.sum()), int(is_complete.sum()), int((~is_known & ~is_void).sum())
        ),
    )


def _share(k: int, n: int, excluded: int) -> Estimate:
    """Return the share k / n with Wilson's interval, or no share if n is 0."""
    if n == 0:
        return _none("no statement with enough readable answers under all templates", excluded)
    low, high = wilson_interval(k, n)
    return Estimate(k / n, float(low), float(high), n, excluded, interval="share of items")


def _none(why: str, excluded: int) -> Estimate:
    """Return an undefined estimate with its reason."""
    return Estimate(float("nan"), float("nan"), float("nan"), 0, excluded, why)


class StatementAgreement:
    """The agreement per statement, over its pairs of conditions. Coefficients are computed on use.

    A condition is a template, a label order and, for paraphrases, a number. A pair is the stance on
    the original and on the variant in the same template and order. A prompt and itself make no
    pair. The pairs of one template share the original's stances, so intervals are over templates:
    they cover other templates, for this statement in these wordings. κ has no interval
    (`stats.agreement.pairs_estimates` says why).
    """

    def __init__(self, report: ReliabilityReport, kind: VariantKind) -> None:
        self._report = report
        self.kind = kind
        self.relation = RELATION_OF[kind]
        self._found: dict[tuple[str, bool], PairsEstimates] = {}

    @cached_property
    def tables(self) -> IntArray:
        """The pairs by template and (stance on the original, stance on the variant): (S, T, 2, 2).

        Disagreement comes first.
        """
        original, variant = self._sides(self._report.stances)
        variant = variant * self._turned * ~self._void
        signs = (-1, 1)
        cells = [
            [
                ((original == original_sign) & (variant == variant_sign)).sum(axis=(2, 3))
                for variant_sign in signs
            ]
            for original_sign in signs
        ]
        return np.moveaxis(np.array(cells, dtype=np.int64), (-1, -2), (0, 1))

    @cached_property
    def excluded(self) -> IntArray:
        """The number of pairs of which both sides were asked and one has no stance: (S,)."""
        original, variant = self._sides(
            self._report.counts.total * self._report.counts.exists[None, :, :, None]
        )
        n_asked = ((original > 0) & (variant > 0) & (self._turned != 0) & ~self._void).sum(
            axis=(0, 2, 3)
        )
        return np.asarray(n_asked - self.tables.sum(axis=(1, 2, 3)), dtype=np.int64)

    @property
    def _void(self) -> BoolArray:
        """Whether a wording and the original make no pair: (T, S, variants, 2)."""
        return np.asarray(
            self._report.voids.pairs[:, :, self._report.counts.variant_indices(self.kind)]
        )

    @property
    def _turned(self) -> npt.NDArray[np.int8]:
        """The sign that turns a variant's stance into what its kind expects: (S, variants, 1)."""
        counts = self._report.counts
        return np.asarray(counts.turned[:, counts.variant_indices(self.kind), None])

    def _sides(self, values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        """Return the values of the original and of the variants of the kind."""
        counts = self._report.counts
        originals, variants_of_kind = (
            counts.variant_indices(VariantKind.ORIGINAL)[:1],
            counts.variant_indices(self.kind),
        )
        original = values[:, :, originals] if originals else np.zeros_like(values[:, :, :1])
        return original, values[:, :, variants_of_kind]

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
        """Return all coefficients of the statement at an index."""
        excluded = int(self.excluded[statement])
        raw, flipped = (
            [
                self.estimates(name, is_flipped).estimate(statement, excluded)
                for name in ("kappa", "observed", "ac1")
            ]
            for is_flipped in (False, True)
        )
        return ItemAgreementRow(*raw, *flipped)


def survey_agreement(
    answers: Sequence[SurveyAnswer],
    instrument: str,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    relations: Relations | None = None,
) -> tuple[AgreementRow, ...]:
    """Return the κ of each respondent, whose mean is the upper bound for models (section 6.1).

    Pairs are a respondent's answers to the original and to a variant of the same statement. Answers
    without a partner are excluded. The last of several answers to one wording counts. Intervals
    resample statements, and a respondent's interval is the same whoever else answered.

    Parameters
    ----------
    relations : see `relations_of`
    """
    respondents = tuple(dict.fromkeys(answer.respondent for answer in answers))
    row_by_ref = {
        ref: row for row, ref in enumerate(dict.fromkeys(answer.statement for answer in answers))
    }
    rows = []
    for kind in kinds_of(answers):
        pairs = pairs_of(answers, kind, relations)

        def kappas(
            stance_sign: int, kind: VariantKind = kind, pairs: Pairs = pairs
        ) -> tuple[Estimate, ...]:
            estimates = []
            for respondent in respondents:
                coded = [
                    (pair.original, pair.variant, row_by_ref[pair.statement])
                    for pair in pairs[respondent]
                ]
                first, second, statement = np.array(coded, dtype=np.int64).reshape(-1, 3).T
                rng = derive_rng(seed, "survey", instrument, respondent, kind.value, stance_sign)
                estimates.append(
                    cohen_kappa(first, stance_sign * second, rng, resamples, statement)
                )
            return tuple(estimates)

        rows.append(_with_means(kind.value, RELATION_OF[kind], respondents, kappas))
    return tuple(rows)
