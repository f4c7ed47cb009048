"""The verdicts on exact label probabilities, and the expected verdicts of samples.

Expected verdicts of samples
----------------------------

If a prompt is answered n times, the readable answers that agree are a binomial count. The
probability that the prompt leans clearly (Ceron et al. 2024, section 5.4), and to which side, is a
sum over few outcomes, so nothing is sampled. Answers to different prompts are independent. A
statement's test is thus a product over its wordings, given the original's own outcome, which most
tests share. A wording that repeats the original's prompt has the original's outcome: its test is
void (`counting`), and the product has no factor for it. Two other wordings with one text are one
prompt to a sampler, but count as two here.

By default every answer of such a sample names a label, so that the leaning alone decides. With
unreadable answers, an answer is unreadable as often as the model's next text is no label.

Exact probabilities
-------------------

The leaning of a prompt is p(positive) / (p(positive) + p(negative)): the share of agreement among
answers that begin with a spelling of one of the template's labels (`verbalizers`), in the limit of
ever more samples. Nothing was sampled, so a prompt leans clearly if its leaning lies outside [low,
high], without an interval, and its stance is the side of one half. The tests are those of
`reliability` (Ceron et al. 2024, sections 4.3, 5.2 and 5.4). If the model puts only a small share
of its probability on the labels, their ratio says little about its answer, and the prompt is
insufficient.

Next to such a verdict stands the expected verdict of samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from workbench.audits.codes import Codes
from workbench.audits.reliability.counting import (
    ALL,
    PRINTED,
    SWAPPED,
    TEMPLATE,
    Counts,
    Voids,
    voids,
)
from workbench.audits.reliability.judge import ReliabilityReport, Signs, TemplateShares, VariantRow
from workbench.audits.reliability.options import KIND_OF_TEST, TESTS, ReliabilityOptions
from workbench.domain.statements import VariantId, VariantKind
from workbench.domain.verdicts import MeanSd
from workbench.errors import UnknownName, UsageError
from workbench.readers.verbalizers import VERSION
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.proportions import ReliabilityRule, is_reliable

AGREE: Final = 0
DISAGREE: Final = 1
TIE: Final = 2
FEW: Final = 3
"""the outcomes of a prompt's samples: indices of the last axis of `Expected.stances`; FEW: too few
are readable"""

MOST_SAMPLES = 200
"the largest number of samples; beyond it, the outcomes are too many to be summed for every prompt"
TOGETHER = 2048
"the number of prompts whose outcomes are summed at once, to bound memory"


@dataclass(frozen=True, slots=True)
class TestProbabilities:
    """The probabilities that a test is passed and failed.

    The rest, up to 1, is the probability that it is insufficient or void.
    """

    passed: FloatArray
    failed: FloatArray
    void: BoolArray
    "whether the test cannot fail; both probabilities are 0 then"


@dataclass(frozen=True, eq=False)
class Expected:
    """The probabilities of the outcomes of n samples per prompt.

    Arrays are (T, S, V, 2), as those of a report.
    """

    stances: FloatArray
    "(T, S, V, 2, 4): AGREE, DISAGREE, TIE, FEW"
    clear: FloatArray
    "(T, S, V, 2, 3): probability of AGREE, DISAGREE and TIE together with a clear leaning"
    tests: dict[str, TestProbabilities]
    "by test, each (T, S); (S,) for `template`"

    @property
    def reliable(self) -> FloatArray:
        """The probability that a prompt's samples lean clearly to one side: (T, S, V, 2)."""
        return np.asarray(self.clear.sum(axis=-1))

    def passing(self, test: str) -> FloatArray:
        """Return the expected number of statements that pass, per template.

        It is a single number for the test `template`.
        """
        return np.asarray(np.atleast_2d(self.of(test).passed).sum(axis=1))

    def over_templates(self, test: str) -> FloatArray:
        """Return the probability that a statement passes under all templates that test it: (S,)."""
        probabilities = self.of(test)
        if test == TEMPLATE:
            return probabilities.passed
        return np.asarray(
            np.where(probabilities.void, 1.0, probabilities.passed).prod(axis=0)
            * ~probabilities.void.all(axis=0)
        )

    def of(self, test: str) -> TestProbabilities:
        """Return the probabilities of a test. Raises UnknownName."""
        if test not in self.tests:
            raise UnknownName(f"there is no test {test!r}. Available: {', '.join(self.tests)}")
        return self.tests[test]


def expected(
    counts: Counts,
    positive: FloatArray,
    negative: FloatArray,
    asked: BoolArray,
    options: ReliabilityOptions,
    void: Voids | None = None,
) -> Expected:
    """Return the probabilities of the outcomes of as many answers per prompt as the options set.

    Parameters
    ----------
    counts : names, axes and relations; its numbers are not used
    positive, negative : probabilities of the two labels, (T, S, V, 2)
    asked : which prompts have any answer; the others are certain to be insufficient
    void : which prompts make no test; None: as the counts and options say

    Raises UsageError if there are too many samples to sum, or the options need more readable
    answers than samples.
    """
    if options.beside > MOST_SAMPLES:
        raise UsageError(
            f"found {options.beside} samples to compare with; give 1 to {MOST_SAMPLES}"
        )
    outcomes = _outcomes(options)
    flat = [np.where(asked, side, 0.0).ravel() for side in (positive, negative)]
    probabilities = np.zeros((flat[0].size, 7))
    indices = np.flatnonzero(asked)
    for start in range(0, indices.size, TOGETHER):
        batch = indices[start : start + TOGETHER]
        probabilities[batch, :6] = (
            outcomes.probabilities(flat[0][batch], flat[1][batch]) @ outcomes.says
        )
    probabilities[:, 6] = np.maximum(0.0, 1.0 - probabilities[:, :6].sum(axis=1))
    probabilities = probabilities.reshape(*positive.shape, 7)
    clear = probabilities[..., :3]
    stances = np.concatenate([clear + probabilities[..., 3:6], probabilities[..., 6:]], axis=-1)
    if void is None:
        void = voids(counts, options)
    prompts = _StatementPrompts(counts, stances, clear, void)
    tests = {test: prompts.joint((test,)) for test in TESTS}
    tests[ALL] = prompts.joint(options.tests)
    tests[TEMPLATE] = prompts.template()
    return Expected(stances, clear, tests)


# ── one prompt ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """All pairs of agreeing and rejecting answers among n that are enough to decide something."""

    agree: IntArray
    disagree: IntArray
    log_ways: FloatArray
    "logarithm of the multinomial coefficient"
    says: FloatArray
    """(outcomes, 6): 1 for the meaning of an outcome: clear agree, disagree, tie, then the same
    unclear"""
    samples: int
    given: bool

    def probabilities(self, positive: FloatArray, negative: FloatArray) -> FloatArray:
        """Return n!/(k! j! u!) a^k b^j c^u for every prompt and outcome."""
        mass = positive + negative
        if self.given:
            share = positive / np.where(mass > 0, mass, np.nan)
            sides = [share, negative / np.where(mass > 0, mass, np.nan), np.zeros_like(share)]
        else:
            sides = [positive, negative, np.maximum(0.0, 1.0 - mass)]
        counts = [self.agree, self.disagree, self.samples - self.agree - self.disagree]
        logs = self.log_ways + sum(
            _log_powers(probability, self.samples)[:, powers]
            for probability, powers in zip(sides, counts, strict=True)
        )
        return np.asarray(np.nan_to_num(np.exp(logs)))


def _log_powers(base: FloatArray, most: int) -> FloatArray:
    """Return log(base^n) for n = 0..most, with 0^0 = 1: (prompts, most + 1)."""
    n = np.arange(most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n == 0, 0.0, n * np.log(base)[:, None])


def _outcomes(options: ReliabilityOptions) -> _Outcomes:
    """Return the outcomes of a prompt's samples by the options."""
    samples, is_readable_only = options.beside, not options.with_unreadable
    readable_numbers = (
        [samples] if is_readable_only else range(options.required(samples), samples + 1)
    )
    agree = np.concatenate([np.arange(n_readable + 1) for n_readable in readable_numbers])
    readable = np.concatenate([np.full(readable + 1, readable) for readable in readable_numbers])
    disagree = readable - agree
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    clear = is_reliable(agree, readable, rule, low=options.low, high=options.high)
    sides = np.stack([agree > disagree, agree < disagree, agree == disagree], axis=1)
    says = np.concatenate([sides & clear[:, None], sides & ~clear[:, None]], axis=1).astype(
        np.float64
    )
    # The logarithms of n!.
    factorial = np.array([math.lgamma(n + 1) for n in range(samples + 1)])
    log_ways = (
        factorial[samples] - factorial[agree] - factorial[disagree] - factorial[samples - readable]
    )
    return _Outcomes(agree, disagree, log_ways, says, samples, is_readable_only)


# ── a statement ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _ChosenTests:
    """The tests that are combined."""

    sampling: bool
    label_order: bool
    kinds: tuple[VariantKind, ...]
    "the kinds of wordings whose stance is compared with that of the original"

    @classmethod
    def from_names(cls, names: Sequence[str]) -> _ChosenTests:
        """Return the tests with these names."""
        return cls(
            "sampling" in names,
            "label_order" in names,
            tuple(KIND_OF_TEST[name] for name in names if name in KIND_OF_TEST),
        )


@dataclass(eq=False)
class _StatementPrompts:
    """The outcomes of the prompts of a design, combined to tests."""

    counts: Counts
    stances: FloatArray
    clear: FloatArray
    void: Voids
    sampled: BoolArray = field(init=False)
    "(S, V): whether the wording exists and has a text"
    others: BoolArray = field(init=False)
    "(T, S, V): of these, whether it is not the original's prompt"
    original: int | None = field(init=False)
    has_original: BoolArray = field(init=False)
    "(S,): whether the original exists and has a text"

    def __post_init__(self) -> None:
        self.original = self.void.original_index
        self.sampled = self.counts.exists & ~self.void.blank
        is_blank = self.void.blank[None, :, :, None, None]
        self.clear = np.where(is_blank, 0.0, self.clear)
        self.stances = np.where(is_blank, np.arange(4) == FEW, self.stances)
        has_original_prompt = self._has_original_prompt()
        self.others = self.sampled & ~has_original_prompt
        self.has_original = np.zeros(len(self.counts.statements), dtype=np.bool_)
        if self.original is not None:
            self.others[:, :, self.original] = False
            self.has_original = self.sampled[:, self.original]

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of templates and statements."""
        return self.stances.shape[:2]

    def _has_original_prompt(self) -> BoolArray:
        """Return whether a wording has the original's prompt, and thus its outcome: (T, S, V)."""
        repeats = self.void.repeats[..., PRINTED]
        if self.original is None:
            return repeats
        return np.asarray(repeats & ~self.void.blank[None, :, self.original, None])

    def joint(self, names: Sequence[str]) -> TestProbabilities:
        """Return the probabilities that all tests are passed, and that any fails: two (T, S)."""
        tests = _ChosenTests.from_names(names)
        all_passed = _JointOutcome(self, tests, certain=True).probability()
        none_failed = _JointOutcome(self, tests, certain=False).probability()
        complete, void = self._complete_and_void(tests)
        passed = np.asarray(all_passed * complete, dtype=np.float64)
        return TestProbabilities(
            np.clip(passed, 0.0, 1.0), np.clip(1.0 - none_failed, 0.0, 1.0) * ~void, void
        )

    def compared(self, kinds: Sequence[VariantKind]) -> BoolArray:
        """Return whether wordings of these kinds have an expected stance to miss: (T, S, V)."""
        return np.asarray(self._expected(kinds) & ~self.void.repeats[..., PRINTED])

    def _expected(self, kinds: Sequence[VariantKind]) -> BoolArray:
        """Return whether a stance is expected of the wordings of these kinds: (S, V)."""
        is_of_kind = np.array(
            [variant.kind in kinds for variant in self.counts.variants], dtype=np.bool_
        )
        return np.asarray(self.counts.exists & is_of_kind & (self.counts.signs != 0))

    def has_comparison(self, tests: _ChosenTests) -> BoolArray:
        """Return whether any of the tests compares the original with another prompt: (T, S)."""
        comparisons = self.compared(tests.kinds).any(axis=2)
        if tests.label_order:
            comparisons |= ~self.void.label_order
        return np.asarray(comparisons)

    def _complete_and_void(self, tests: _ChosenTests) -> tuple[BoolArray, BoolArray]:
        """Return whether the tests are complete, and whether all of them are void: two (T, S).

        They are complete if every test that is not void has something to look at.
        """
        complete = np.ones(self.shape, dtype=np.bool_)
        can_fail = self.has_comparison(tests)
        if tests.sampling:
            has_wording = self.counts.exists.any(axis=1)
            complete &= has_wording
            can_fail |= self.sampled.any(axis=1) | ~has_wording
        for kind in tests.kinds:
            has_wording = self._expected((kind,)).any(axis=1) | self.void.missing
            complete &= has_wording
            can_fail |= ~has_wording
        return complete & can_fail, ~can_fail

    def template(self) -> TestProbabilities:
        """Return the probabilities that the original keeps its stance under all templates: (S,).

        The second probability is that it does not keep it.

        It fails if two known prompts have no common stance. A tie has none in common with any known
        prompt.
        """
        size = len(self.counts.statements)
        void = self.void.template
        if self.original is None or len(self.counts.templates) < 2:
            return TestProbabilities(np.zeros(size), np.zeros(size), void)
        agree, disagree, tie, few = np.moveaxis(self.stances[:, :, self.original, PRINTED], -1, 0)
        one_tie = sum(
            tie[template] * np.delete(few, template, axis=0).prod(axis=0)
            for template in range(len(self.counts.templates))
        )
        not_failed = (
            (agree + few).prod(axis=0) + (disagree + few).prod(axis=0) - few.prod(axis=0) + one_tie
        )
        passed = agree.prod(axis=0) + disagree.prod(axis=0)
        return TestProbabilities(passed * ~void, np.clip(1.0 - not_failed, 0.0, 1.0) * ~void, void)


@dataclass(frozen=True, eq=False, slots=True)
class _JointOutcome:
    """The event that none of some tests fails.

    Given the outcome of the original's samples, all other prompts are independent of each other.
    """

    prompts: _StatementPrompts
    tests: _ChosenTests
    certain: bool
    "whether all tests have to be passed; otherwise they may be insufficient"

    def probability(self) -> FloatArray:
        """Return the probability of the event: (T, S)."""
        outcomes = (_OriginalOnSide(AGREE), _OriginalOnSide(DISAGREE), _OriginalTied(), _NoStance())
        return np.asarray(sum(self._together_with(outcome) for outcome in outcomes))

    def _together_with(self, original: _OriginalOutcome) -> FloatArray:
        """Return the probability of the event and of an outcome of the original: (T, S)."""
        wordings = np.where(
            self.prompts.compared(self.tests.kinds), original.wordings(self), self.any_stance
        )
        wordings = np.where(self.prompts.others, wordings, 1.0)
        return np.asarray(
            original.probability(self) * wordings.prod(axis=-1) * self._label_orders(original)
        )

    def _label_orders(self, original: _OriginalOutcome) -> FloatArray:
        """Return the probability that the swapped label order agrees with the original: (T, S).

        It is 1 if the test of label orders is not among the tests, or cannot fail.
        """
        index = self.prompts.original
        if not self.tests.label_order or index is None:
            return np.ones(self.prompts.shape)
        agrees = original.swapped(self, self.prompts.stances[:, :, index, SWAPPED])
        return np.where(self.prompts.void.label_order, 1.0, agrees)

    def of_original(self, outcome: int) -> FloatArray:
        """Return the probability of an outcome of the original: (T, S).

        Only clear outcomes count if `sampling` is among the tests.
        """
        index = self.prompts.original
        if index is None:
            return np.full(self.prompts.shape, float(outcome == FEW))
        is_clear_needed = self.tests.sampling and outcome != FEW
        probabilities = self.prompts.clear if is_clear_needed else self.prompts.stances
        return np.asarray(probabilities[:, :, index, PRINTED, outcome])

    @property
    def sides(self) -> FloatArray:
        """The probabilities of stances that count: (T, S, V, 3)."""
        probabilities = self.prompts.clear if self.tests.sampling else self.prompts.stances
        return probabilities[..., PRINTED, :3]

    @property
    def too_few(self) -> FloatArray:
        """The probability that a wording is insufficient, if it may be: (T, S, V)."""
        if self.certain:
            return np.zeros(self.prompts.stances.shape[:3])
        return self.prompts.stances[..., PRINTED, FEW]

    @property
    def any_stance(self) -> FloatArray:
        """The probability that a wording passes if it is compared with nothing: (T, S, V)."""
        if not self.tests.sampling:
            return np.ones(self.prompts.stances.shape[:3])
        return np.asarray(self.sides.sum(axis=-1) + self.too_few)


class _OriginalOutcome(Protocol):
    """An outcome of the original's samples, on which the other prompts depend."""

    def probability(self, event: _JointOutcome) -> FloatArray:
        """Return the probability of the outcome, 0 if the event rules it out: (T, S)."""

    def wordings(self, event: _JointOutcome) -> FloatArray:
        """Return the probability that a compared wording does not fail: (T, S, V)."""

    def swapped(self, event: _JointOutcome, outcomes: FloatArray, /) -> FloatArray:
        """Return the probability that the swapped label order does not fail: (T, S).

        Parameters
        ----------
        outcomes : the probabilities of its outcomes
        """


@dataclass(frozen=True, slots=True)
class _OriginalOnSide:
    """The original agrees or disagrees."""

    side: int

    def probability(self, event: _JointOutcome) -> FloatArray:
        """Return the probability of the side: (T, S)."""
        return event.of_original(self.side)

    def wordings(self, event: _JointOutcome) -> FloatArray:
        """Return the probability of the side that is expected of a wording: (T, S, V)."""
        is_same, other_side = event.prompts.counts.signs > 0, DISAGREE - self.side
        return np.asarray(
            np.where(is_same, event.sides[..., self.side], event.sides[..., other_side])
            + event.too_few
        )

    def swapped(self, event: _JointOutcome, outcomes: FloatArray, /) -> FloatArray:
        """Return the probability of the same side: (T, S)."""
        if event.certain:
            return outcomes[..., self.side]
        return np.asarray(outcomes[..., self.side] + outcomes[..., FEW])


@dataclass(frozen=True, slots=True)
class _OriginalTied:
    """The original is tied, so every comparison with a stance fails."""

    def probability(self, event: _JointOutcome) -> FloatArray:
        """Return the probability of a tie, 0 where it fails a test that has to be passed."""
        tied = event.of_original(TIE)
        if not event.certain:
            return tied
        return np.where(event.prompts.has_comparison(event.tests), 0.0, tied)

    def wordings(self, event: _JointOutcome) -> FloatArray:
        """Return the probability that a wording is insufficient, so that nothing is compared."""
        return event.too_few

    def swapped(self, event: _JointOutcome, outcomes: FloatArray, /) -> FloatArray:
        """Return the probability that the swapped label order is insufficient."""
        if event.certain:
            return np.zeros(outcomes.shape[:-1])
        return outcomes[..., FEW]


@dataclass(frozen=True, slots=True)
class _NoStance:
    """The original has too few readable answers, so nothing is compared with it."""

    def probability(self, event: _JointOutcome) -> FloatArray:
        """Return the probability of too few answers, 0 where a test needs more."""
        too_few = event.of_original(FEW)
        if not event.certain:
            return too_few
        is_needed = event.prompts.has_comparison(event.tests)
        if event.tests.sampling:
            is_needed = is_needed | event.prompts.has_original
        return np.where(is_needed, 0.0, too_few)

    def wordings(self, event: _JointOutcome) -> FloatArray:
        """Return the probability that a wording passes by itself."""
        return event.any_stance

    def swapped(self, _event: _JointOutcome, outcomes: FloatArray, /) -> FloatArray:
        """Return 1, because nothing is compared."""
        return np.ones(outcomes.shape[:-1])


@dataclass(frozen=True, eq=False)
class LabelMass:
    """The probability of each of a prompt's two labels as the beginning of the answer."""

    statements: tuple[str, ...]
    variants: tuple[VariantId, ...]
    templates: tuple[str, ...]
    positive: FloatArray
    "shape (T, S, V, 2), the last axis the label order: printed, swapped; NaN: not scored"
    negative: FloatArray
    exists: BoolArray
    "shape (S, V)"
    relations: Signs | None = None
    "shape (S, V), as in `Counts`"
    failed: BoolArray | None = None
    "shape (T, S, V, 2), as in `Counts`; so is the next, and the last is (S, V)"
    prompts: IntArray | None = None
    blank: BoolArray | None = None
    version: str = VERSION
    "version of the spellings that are added up, see `verbalizers`"
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    "label -> its spellings in all templates"
    left_out: BoolArray | None = None
    "shape (T, S, V, 2): prompts that an auditor's ruling excludes, which are treated as not scored"

    def __post_init__(self) -> None:
        shape = (len(self.templates), len(self.statements), len(self.variants), 2)
        for side in (self.positive, self.negative):
            if side.shape != shape or (side < 0).any():
                raise ValueError(
                    f"expected probabilities of shape {shape}, found shape {side.shape}"
                )
        if (self.named > 1 + 1e-6).any():
            raise ValueError("the probabilities of the two labels add up to more than 1")

    @property
    def scored(self) -> BoolArray:
        """Whether both labels of a prompt are scored: (T, S, V, 2)."""
        return np.asarray(np.isfinite(self.positive) & np.isfinite(self.negative))

    @property
    def named(self) -> FloatArray:
        """The share of the model's probability on the labels: (T, S, V, 2)."""
        return np.asarray(self.positive + self.negative)

    @property
    def leaning(self) -> FloatArray:
        """The share of agreement among the labels, NaN if neither has any: (T, S, V, 2).

        It is p(positive) / (p(positive) + p(negative)).
        """
        named = self.named
        return np.asarray(self.positive / np.where(named > 0, named, np.nan))


def judge(mass: LabelMass, options: ReliabilityOptions | None = None) -> ExactReport:
    """Return the verdicts on label probabilities.

    Raises UsageError if the options do not fit the samples beside.
    """
    judging_options = options or ReliabilityOptions()
    judging_options.required(judging_options.beside)
    is_scored = mass.scored & mass.exists[None, :, :, None]
    is_known = is_scored & (mass.named >= judging_options.named) & (mass.named > 0)
    sides = [
        (is_known & (probability > other_probability)).astype(np.int32)
        for probability, other_probability in _both_ways(mass.positive, mass.negative)
    ]
    counts = Counts(
        statements=mass.statements,
        variants=mass.variants,
        templates=mass.templates,
        positive=sides[0],
        negative=sides[1],
        unreadable=(is_scored & (sides[0] + sides[1] == 0)).astype(np.int32),
        exists=mass.exists,
        samples=judging_options.beside,
        relations=mass.relations,
        failed=mass.failed,
        left_out=None if mass.left_out is None else mass.left_out.astype(np.int32),
        prompts=mass.prompts,
        blank=mass.blank,
    )
    return ExactReport(counts, judging_options, mass, is_known)


def _both_ways(
    positive: FloatArray, negative: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Return the two pairs of a label's probability and that of the other one."""
    return (positive, negative), (negative, positive)


@dataclass(frozen=True, slots=True)
class ExactRow:
    """The probabilities of one prompt, and the expected outcomes of its samples."""

    row: VariantRow
    "its leaning, stance and tests; its counts are those of one answer"
    positive: float
    "probability of the label that agrees; NaN if the prompt was not scored"
    negative: float
    named: float
    "sum of the two probabilities"
    reliable: float
    "probability that the samples lean clearly"
    agree: float
    "probability that most samples agree; `disagree` and `tie` accordingly"
    disagree: float
    tie: float
    few: float
    "probability that too few samples are readable"


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """The number of statements that are expected to pass a test if prompts are sampled."""

    test: str
    passed: tuple[float, ...]
    "per template; a single number for `template`"
    share: MeanSd
    "share of the statements with a test that is not void: mean and sample deviation over templates"


@dataclass(frozen=True, eq=False)
class ExactReport(ReliabilityReport):
    """The verdicts on exact probabilities, which are read like those on samples.

    `counts` has one answer for each scored prompt. It is the likelier label, or an unreadable
    answer if neither is likelier or both have too little probability.
    """

    mass: LabelMass
    known: BoolArray
    "prompts that are scored and have enough probability on their labels: (T, S, V, 2)"

    @cached_property
    def has_stance_data(self) -> BoolArray:
        """Whether a prompt is scored and has enough probability on its labels: (T, S, V, 2)."""
        return self.known

    @cached_property
    def stances(self) -> Signs:
        """The likelier label, +1 agree, -1 disagree, 0 none: (T, S, V, 2)."""
        return (self.counts.positive - self.counts.negative).astype(np.int8)

    @cached_property
    def leaning(self) -> FloatArray:
        """The share of agreement among the labels: (T, S, V, 2)."""
        return self.mass.leaning

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The leaning itself, twice, because it is known."""
        return self.leaning, self.leaning

    @cached_property
    def clear(self) -> Codes:
        """Whether the leaning lies outside [low, high], as codes: (T, S, V, 2).

        The rule that is chosen for samples has no effect. A prompt is void as for samples.
        """
        return self._of_texts(
            (self.leaning < self.options.low) | (self.leaning > self.options.high)
        )

    @cached_property
    def expected(self) -> Expected:
        """The expected outcomes of samples.

        Prompts without a verdict of their own have none here, unless unreadable answers count.
        """
        asked = (
            self.mass.scored & (self.mass.named > 0) if self.options.with_unreadable else self.known
        )
        asked = asked & self.counts.exists[None, :, :, None]
        return expected(
            self.counts,
            self.mass.positive,
            self.mass.negative,
            asked,
            self.options,
            self.voids,
        )

    def expected_summary(self) -> tuple[ExpectedRow, ...]:
        """Return the expected number of statements that pass each test, as `summary` counts."""
        rows = []
        for row in self.summary():
            passed = self.expected.passing(row.test)
            numbers = tuple(float(number) for number in passed)
            rows.append(ExpectedRow(row.test, numbers, self.share_of(numbers, row.void)))
        return tuple(rows)

    def shares(self) -> tuple[TemplateShares, ...]:
        """Return the mean probability of the labels, and of agreement among them, per template."""
        scored = self.mass.scored
        rows = []
        for template, name in enumerate(self.counts.templates):
            n_scored = int(scored[template].sum())
            positive, named = (
                float(side[template][scored[template]].sum())
                for side in (self.mass.positive, self.mass.named)
            )
            rows.append(
                TemplateShares(
                    name,
                    n_scored,
                    named / n_scored if n_scored else np.nan,
                    positive / named if named else np.nan,
                )
            )
        return tuple(rows)

    def exact_rows(self, statement: str, template: str) -> tuple[ExactRow, ...]:
        """Return one row per wording of a statement, as `variants` does, with its probabilities."""
        index_by_variant = {
            str(variant): index for index, variant in enumerate(self.counts.variants)
        }
        template_index, statement_index = (
            self.counts.template(template),
            self.counts.statement(statement),
        )
        rows = []
        for row in self.variants(statement, template):
            prompt = (
                template_index,
                statement_index,
                index_by_variant[row.variant],
                PRINTED if row.order == "printed" else SWAPPED,
            )
            outcomes = self.expected.stances[prompt]
            rows.append(
                ExactRow(
                    row,
                    float(self.mass.positive[prompt]),
                    float(self.mass.negative[prompt]),
                    float(self.mass.named[prompt]),
                    float(self.expected.reliable[prompt]),
                    float(outcomes[AGREE]),
                    float(outcomes[DISAGREE]),
                    float(outcomes[TIE]),
                    float(outcomes[FEW]),
                )
            )
        return tuple(rows)

    def failed(self, statement: str, variant: str, template: str, order: str) -> bool:
        """Return whether a prompt was asked and could not be scored."""
        template_index, statement_index = (
            self.counts.template(template),
            self.counts.statement(statement),
        )
        variant_index = [str(wording) for wording in self.counts.variants].index(variant)
        return self.counts.has_failed(
            (
                template_index,
                statement_index,
                variant_index,
                SWAPPED if order == "swapped" else PRINTED,
            )
        )

    def side(self, prompt_index: tuple[int, ...]) -> str:
        """Return the likelier side of a prompt and its share, as in `negation agree 93.2 %`."""
        leaning, stance = float(self.leaning[prompt_index]), int(self.stances[prompt_index])
        word = {1: "agree", -1: "disagree", 0: "tie"}[stance]
        return f"{self.counts.prompt_name(prompt_index)} {word} {max(leaning, 1 - leaning):.1%}"

    def lacking(self, prompt_index: tuple[int, ...]) -> str:
        """Return the reason why a prompt has no verdict, or "" if it has one."""
        if self.has_stance_data[prompt_index]:
            return ""
        name = self.counts.prompt_name(prompt_index)
        if self.counts.left_out_at(prompt_index):
            return f"{name}: left out by a ruling"
        if not self.mass.scored[prompt_index]:
            return (
                self.counts.missing(prompt_index)
                if self.counts.has_failed(prompt_index)
                else f"{name} not scored"
            )
        named, needed = self.mass.named[prompt_index], self.options.named
        return f"{name}: only {named:.2%} of the probability on its labels, {needed:.2%} needed"

    def unclear(self, prompt_index: tuple[int, ...]) -> str:
        """Return the reason why a prompt does not lean clearly to one side."""
        low, high = (f"{100 * limit:g} %" for limit in (self.options.low, self.options.high))
        name, leaning = self.counts.prompt_name(prompt_index), self.leaning[prompt_index]
        return f"{name} agree {leaning:.1%}: expected below {low} or above {high}"
