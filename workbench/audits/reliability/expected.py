"""What sampling would have said: the probability of each verdict of the reliability audit, from
exact probabilities.

Where a prompt is answered n times, the readable answers that agree are a binomial count; so the
chance that the prompt leans clearly (Ceron et al. 2024, section 5.4), and to which side, is a sum
over few outcomes, and nothing is drawn. Answers to different prompts are independent, so a
statement's test is a product over its wordings, given the original's own outcome, which most tests
share. A wording that repeats the original's prompt has the original's outcome: its test is void
(`counting`), and nothing is multiplied for it. Two other wordings with one text are one prompt to a
sampler; here they count as two.

Every answer of such a sample names a label, so that the leaning alone decides; with unreadable
answers, one is unreadable as often as the model's next text is no label.

Exact probabilities
-------------------
The reliability audit on exact label probabilities instead of samples.

The leaning of a prompt is p(positive) / (p(positive) + p(negative)): the share of agreement among
answers that begin with a spelling of one of the template's labels (`verbalizers`), in the limit of
ever more samples. Nothing was sampled, so a prompt leans clearly where its leaning lies outside
[low, high], without an interval, and its stance is the side of one half. The tests are those of
`reliability` (Ceron et al. 2024, sections 4.3, 5.2 and 5.4). Where the model puts less than a small
share of its probability on the labels at all, their ratio says little about what it would answer:
the prompt is insufficient.

Beside the verdict stands what it would have been with samples, in expectation: see `expected`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

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
from workbench.domain.statements import VariantId
from workbench.domain.verdicts import MeanSd
from workbench.errors import UnknownName, UsageError
from workbench.readers.verbalizers import VERSION
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.proportions import ReliabilityRule, is_reliable

AGREE: Final = 0
DISAGREE: Final = 1
TIE: Final = 2
FEW: Final = 3
"""what a prompt's samples may say: places of the last axis of `Expected.stances`; FEW: too few
readable"""

MOST_SAMPLES = 200
"of more, the outcomes are too many to be summed for every prompt"
TOGETHER = 2048
"prompts whose outcomes are summed at once, to bound memory"


@dataclass(frozen=True, slots=True)
class PassFail:
    """The probabilities that a test is passed and failed; what is missing to 1 is insufficient, or
    void.
    """

    passed: FloatArray
    failed: FloatArray
    void: BoolArray
    "where the test cannot fail: both probabilities are 0"


@dataclass(frozen=True, eq=False)
class Expected:
    """The probabilities of what n samples a prompt would have said. Arrays are (T, S, V, 2) as
    those of a report.
    """

    stances: FloatArray
    "(T, S, V, 2, 4): AGREE, DISAGREE, TIE, FEW"
    clear: FloatArray
    "(T, S, V, 2, 3): probability of AGREE, DISAGREE and TIE together with a clear leaning"
    tests: dict[str, PassFail]
    "each (T, S); (S,) for `template`"

    @property
    def reliable(self) -> FloatArray:
        """The probability that a prompt's samples lean clearly to one side: (T, S, V, 2)."""
        return np.asarray(self.clear.sum(axis=-1))

    def passing(self, test: str) -> FloatArray:
        """Return how many statements are expected to pass, per template; one number for
        `template`.
        """
        return np.asarray(np.atleast_2d(self.of(test).passed).sum(axis=1))

    def over_templates(self, test: str) -> FloatArray:
        """Return the probability that each statement passes under every template under which it is
        tested: (S,).
        """
        of = self.of(test)
        if test == TEMPLATE:
            return of.passed
        return np.asarray(np.where(of.void, 1.0, of.passed).prod(axis=0) * ~of.void.all(axis=0))

    def of(self, test: str) -> PassFail:
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
    """Return what as many answers to each prompt as options say would say.

    Parameters
    ----------
    counts : names, axes and relations; its numbers are not used
    positive, negative : probabilities of the two labels, (T, S, V, 2)
    asked : which prompts have any answer; the others are insufficient for certain
    void : which prompts make no test; None: as the counts and options say

    Raises UsageError where so many samples cannot be summed, or the options ask for more readable
    ones.
    """
    if options.beside > MOST_SAMPLES:
        raise UsageError(
            f"found {options.beside} samples to compare with; give 1 to {MOST_SAMPLES}"
        )
    outcomes = _outcomes(options)
    flat = [np.where(asked, side, 0.0).ravel() for side in (positive, negative)]
    found = np.zeros((flat[0].size, 7))
    places = np.flatnonzero(asked)
    for first in range(0, places.size, TOGETHER):
        at = places[first : first + TOGETHER]
        found[at, :6] = outcomes.probabilities(flat[0][at], flat[1][at]) @ outcomes.says
    found[:, 6] = np.maximum(0.0, 1.0 - found[:, :6].sum(axis=1))
    found = found.reshape(*positive.shape, 7)
    clear = found[..., :3]
    stances = np.concatenate([clear + found[..., 3:6], found[..., 6:]], axis=-1)
    parts = _Parts(counts, stances, clear, voids(counts, options) if void is None else void)
    tests = {test: parts.joint((test,)) for test in TESTS}
    tests[ALL] = parts.joint(options.tests)
    tests[TEMPLATE] = parts.template()
    return Expected(stances, clear, tests)


# ── one prompt ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """All pairs of agreeing and rejecting answers among n that are enough to say something."""

    agree: IntArray
    disagree: IntArray
    log_ways: FloatArray
    "of the multinomial coefficient"
    says: FloatArray
    "(outcomes, 6): 1 for what it says: clear agree, disagree, tie, then the same unclear"
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
            _log_powers(p, self.samples)[:, n] for p, n in zip(sides, counts, strict=True)
        )
        return np.asarray(np.nan_to_num(np.exp(logs)))


def _log_powers(base: FloatArray, most: int) -> FloatArray:
    """Return log(base^n) for n = 0..most, with 0^0 = 1: (prompts, most + 1)."""
    n = np.arange(most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n == 0, 0.0, n * np.log(base)[:, None])


def _outcomes(options: ReliabilityOptions) -> _Outcomes:
    samples, given = options.beside, not options.with_unreadable
    sizes = [samples] if given else range(options.needed(samples), samples + 1)
    agree = np.concatenate([np.arange(size + 1) for size in sizes])
    size = np.concatenate([np.full(size + 1, size) for size in sizes])
    disagree = size - agree
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    clear = is_reliable(agree, size, rule, low=options.low, high=options.high)
    sides = np.stack([agree > disagree, agree < disagree, agree == disagree], axis=1)
    says = np.concatenate([sides & clear[:, None], sides & ~clear[:, None]], axis=1).astype(
        np.float64
    )
    factorial = np.array([math.lgamma(n + 1) for n in range(samples + 1)])
    log_ways = (
        factorial[samples] - factorial[agree] - factorial[disagree] - factorial[samples - size]
    )
    return _Outcomes(agree, disagree, log_ways, says, samples, given)


# ── a statement ───────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class _Parts:
    """The outcomes of prompts, put together to tests."""

    counts: Counts
    stances: FloatArray
    clear: FloatArray
    void: Voids
    sampled: BoolArray = field(init=False)
    "(S, V): wordings that exist and have a text"
    others: BoolArray = field(init=False)
    "(T, S, V): of these, those that are not the original's prompt"
    original: int | None = field(init=False)
    there: BoolArray = field(init=False)
    "(S,): whether the original is one of them"

    def __post_init__(self) -> None:
        self.original = self.void.original
        self.sampled = self.counts.exists & ~self.void.blank
        nothing = self.void.blank[None, :, :, None, None]
        self.clear = np.where(nothing, 0.0, self.clear)
        self.stances = np.where(nothing, np.arange(4) == FEW, self.stances)
        same = self._as_original()
        self.others = self.sampled & ~same
        self.there = np.zeros(len(self.counts.statements), dtype=np.bool_)
        if self.original is not None:
            self.others[:, :, self.original] = False
            self.there = self.sampled[:, self.original]

    def _as_original(self) -> BoolArray:
        """Return which wordings have the original's prompt, so that their outcome is its own: (T,
        S, V).
        """
        repeats = self.void.repeats[..., PRINTED]
        if self.original is None:
            return repeats
        return np.asarray(repeats & ~self.void.blank[None, :, self.original, None])

    def joint(self, tests: Sequence[str]) -> PassFail:
        """Return the probabilities that all of some tests are passed, and that any fails: two (T,
        S).

        Given what the original's samples say, all other prompts are independent of each other.
        """
        ways = {
            certain: sum(
                self._ways(context, tests, certain=certain)
                for context in (AGREE, DISAGREE, TIE, FEW)
            )
            for certain in (True, False)
        }
        complete, void = self._parts(tests)
        passed = np.asarray(ways[True] * complete, dtype=np.float64)
        return PassFail(
            np.clip(passed, 0.0, 1.0), np.clip(1.0 - ways[False], 0.0, 1.0) * ~void, void
        )

    def _ways(self, context: int, tests: Sequence[str], *, certain: bool) -> FloatArray:
        """Return the probability that the original says `context` and no test fails; `certain`: and
        all are passed.
        """
        original = self._original(context, tests, certain=certain)
        others = self._wordings(context, tests, certain=certain)
        return np.asarray(
            original * others.prod(axis=-1) * self._swapped(context, tests, certain=certain)
        )

    def _original(self, context: int, tests: Sequence[str], *, certain: bool) -> FloatArray:
        """Return the probability of what the original says, as far as `sampling` lets it: (T,
        S).
        """
        if self.original is None:
            found = np.full(self.stances.shape[:2], float(context == FEW))
        else:
            says = self.clear if "sampling" in tests and context != FEW else self.stances
            found = says[:, :, self.original, PRINTED, context]
        if not certain or context not in (TIE, FEW):
            return np.asarray(found)
        compared = np.zeros(found.shape, dtype=np.bool_)
        for test in tests:
            compared |= self._live(test) & (test != "sampling")
        needed = compared | (self.there & ("sampling" in tests)) if context == FEW else compared
        return np.where(needed, 0.0, found)

    def _wordings(self, context: int, tests: Sequence[str], *, certain: bool) -> FloatArray:
        """Return the probability that each other wording does what the tests ask, given the
        original: (T, S, V).
        """
        sampled = "sampling" in tests
        says = (self.clear if sampled else self.stances)[..., PRINTED, :3]
        few = np.zeros(says.shape[:-1]) if certain else self.stances[..., PRINTED, FEW]
        anything = says.sum(axis=-1) + few if sampled else np.ones(says.shape[:-1])
        if context in (AGREE, DISAGREE):
            same = self.counts.signs > 0
            related = np.where(same, says[..., context], says[..., DISAGREE - context]) + few
        elif context == TIE:
            related = few
        else:
            related = anything
        found = np.where(self._compared(tests), related, anything)
        return np.where(self.others, found, 1.0)

    def _swapped(self, context: int, tests: Sequence[str], *, certain: bool) -> FloatArray:
        """Return the probability that the swapped label order does not contradict the original: (T,
        S), or 1.
        """
        if "label_order" not in tests or self.original is None or context == FEW:
            return np.ones(self.stances.shape[:2])
        says = self.stances[:, :, self.original, SWAPPED]
        same = says[..., context] if context != TIE else np.zeros(says.shape[:-1])
        return np.where(self.void.label_order, 1.0, same if certain else same + says[..., FEW])

    def _compared(self, tests: Sequence[str]) -> BoolArray:
        """Return of which wordings the tests expect a stance that they can miss: (T, S, V)."""
        return np.asarray(self._expected(tests) & ~self.void.repeats[..., PRINTED])

    def _expected(self, tests: Sequence[str]) -> BoolArray:
        """Return of which wordings the tests expect a stance: (S, V)."""
        kinds = {KIND_OF_TEST[test] for test in tests if test in KIND_OF_TEST}
        of_kind = np.array(
            [variant.kind in kinds for variant in self.counts.variants], dtype=np.bool_
        )
        return np.asarray(self.counts.exists & of_kind & (self.counts.signs != 0))

    def _live(self, test: str) -> BoolArray:
        """Return where a test looks at something that can fail: (T, S)."""
        if test == "sampling":
            return np.broadcast_to(self.sampled.any(axis=1), self.stances.shape[:2])
        if test in KIND_OF_TEST:
            return np.asarray(self._compared((test,)).any(axis=2))
        return ~self.void.label_order

    def _parts(self, tests: Sequence[str]) -> tuple[BoolArray, BoolArray]:
        """Return where every test that is not void has something to look at, and where all are
        void: two (T, S).
        """
        complete = np.ones(self.stances.shape[:2], dtype=np.bool_)
        live = np.zeros_like(complete)
        for test in tests:
            there = (self.counts.exists if test == "sampling" else self._expected((test,))).any(
                axis=1
            )
            there |= test == "label_order" or (test in KIND_OF_TEST and self.void.missing)
            complete &= there
            live |= self._live(test) | ~there
        return complete & live, ~live

    def template(self) -> PassFail:
        """Return the probabilities that the original has one stance under all templates, and that
        it has not: (S,).

        It fails where two known prompts have no common stance; a tie beside anything known has
        none.
        """
        size = len(self.counts.statements)
        void = self.void.template
        if self.original is None or len(self.counts.templates) < 2:
            return PassFail(np.zeros(size), np.zeros(size), void)
        agree, disagree, tie, few = np.moveaxis(self.stances[:, :, self.original, PRINTED], -1, 0)
        one_tie = sum(
            tie[at] * np.delete(few, at, axis=0).prod(axis=0)
            for at in range(len(self.counts.templates))
        )
        open_ = (
            (agree + few).prod(axis=0) + (disagree + few).prod(axis=0) - few.prod(axis=0) + one_tie
        )
        passed = agree.prod(axis=0) + disagree.prod(axis=0)
        return PassFail(passed * ~void, np.clip(1.0 - open_, 0.0, 1.0) * ~void, void)


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
    "shape (S, V), as those of `Counts`"
    failed: BoolArray | None = None
    "shape (T, S, V, 2), as those of `Counts`; so is the next, and the last is (S, V)"
    prompts: IntArray | None = None
    blank: BoolArray | None = None
    version: str = VERSION
    "of the spellings that are added up, see `verbalizers`"
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    "label -> its spellings, of all templates"
    left_out: BoolArray | None = None
    "shape (T, S, V, 2): prompts that an auditor's ruling leaves out; they are as if not scored"

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
        return np.asarray(np.isfinite(self.positive) & np.isfinite(self.negative))

    @property
    def named(self) -> FloatArray:
        """The share of the model's probability on the labels: (T, S, V, 2)."""
        return np.asarray(self.positive + self.negative)

    @property
    def leaning(self) -> FloatArray:
        """p(positive) / (p(positive) + p(negative)); NaN where neither has any: (T, S, V, 2)."""
        named = self.named
        return np.asarray(self.positive / np.where(named > 0, named, np.nan))


def judge(mass: LabelMass, options: ReliabilityOptions | None = None) -> ExactReport:
    """Return the verdicts on label probabilities. Raises UsageError where the options do not fit
    the samples beside.
    """
    chosen = options or ReliabilityOptions()
    chosen.needed(chosen.beside)
    there = mass.scored & mass.exists[None, :, :, None]
    known = there & (mass.named >= chosen.named) & (mass.named > 0)
    sides = [
        (known & (a > b)).astype(np.int32) for a, b in _both_ways(mass.positive, mass.negative)
    ]
    counts = Counts(
        statements=mass.statements,
        variants=mass.variants,
        templates=mass.templates,
        positive=sides[0],
        negative=sides[1],
        unreadable=(there & (sides[0] + sides[1] == 0)).astype(np.int32),
        exists=mass.exists,
        samples=chosen.beside,
        relations=mass.relations,
        failed=mass.failed,
        left_out=None if mass.left_out is None else mass.left_out.astype(np.int32),
        prompts=mass.prompts,
        blank=mass.blank,
    )
    return ExactReport(counts, chosen, mass, known)


def _both_ways(
    positive: FloatArray, negative: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], ...]:
    return (positive, negative), (negative, positive)


@dataclass(frozen=True, slots=True)
class ExactRow:
    """The probabilities of one prompt, and what samples of it would say."""

    row: VariantRow
    "its leaning, stance and tests; the counts in it are of one answer"
    positive: float
    "probability of the label that agrees; NaN where the prompt was not scored"
    negative: float
    named: float
    "their sum"
    reliable: float
    "probability that the samples lean clearly"
    agree: float
    "probability that most samples agree, and so on"
    disagree: float
    tie: float
    few: float
    "probability that too few samples are readable"


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """How many statements would be expected to pass a test if prompts were sampled."""

    test: str
    passed: tuple[float, ...]
    "per template; a single number for `template`"
    share: MeanSd
    "of the statements for which the test is not void: mean and sample deviation over templates"


@dataclass(frozen=True, eq=False)
class ExactReport(ReliabilityReport):
    """Verdicts on exact probabilities; read like those on samples.

    `counts` has one answer for each scored prompt: the label that is likelier, or an unreadable one
    where neither is or both have too little probability.
    """

    mass: LabelMass
    known: BoolArray
    "prompts that are scored and have enough probability on their labels: (T, S, V, 2)"

    @cached_property
    def enough(self) -> BoolArray:
        return self.known

    @cached_property
    def stances(self) -> Signs:
        return (self.counts.positive - self.counts.negative).astype(np.int8)

    @cached_property
    def leaning(self) -> FloatArray:
        return self.mass.leaning

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The leaning itself, twice: it is known."""
        return self.leaning, self.leaning

    @cached_property
    def clear(self) -> Codes:
        """Whether the leaning lies outside [low, high], whichever rule is chosen for samples; void
        as for samples.
        """
        return self._of_texts(
            (self.leaning < self.options.low) | (self.leaning > self.options.high)
        )

    @cached_property
    def expected(self) -> Expected:
        """What samples would have said. Prompts without a verdict of their own have none there,
        unless unreadable ones count.
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
        """Return how many statements samples would be expected to pass each test, as `summary`
        counts them.
        """
        rows = []
        for row in self.summary():
            passed = self.expected.passing(row.test)
            numbers = tuple(float(n) for n in passed)
            rows.append(ExpectedRow(row.test, numbers, self.share_of(numbers, row.void)))
        return tuple(rows)

    def shares(self) -> tuple[TemplateShares, ...]:
        """Return per template the mean probability of the labels, and of agreement among them."""
        scored = self.mass.scored
        rows = []
        for at, name in enumerate(self.counts.templates):
            n = int(scored[at].sum())
            positive, named = (
                float(side[at][scored[at]].sum()) for side in (self.mass.positive, self.mass.named)
            )
            rows.append(
                TemplateShares(
                    name, n, named / n if n else np.nan, positive / named if named else np.nan
                )
            )
        return tuple(rows)

    def exact_rows(self, statement: str, template: str) -> tuple[ExactRow, ...]:
        """Return a row for each wording of a statement, as `variants` does, with its
        probabilities.
        """
        places = {str(variant): at for at, variant in enumerate(self.counts.variants)}
        t, s = self.counts.template(template), self.counts.statement(statement)
        rows = []
        for row in self.variants(statement, template):
            at = (t, s, places[row.variant], PRINTED if row.order == "printed" else SWAPPED)
            says = self.expected.stances[at]
            rows.append(
                ExactRow(
                    row,
                    float(self.mass.positive[at]),
                    float(self.mass.negative[at]),
                    float(self.mass.named[at]),
                    float(self.expected.reliable[at]),
                    float(says[AGREE]),
                    float(says[DISAGREE]),
                    float(says[TIE]),
                    float(says[FEW]),
                )
            )
        return tuple(rows)

    def failed(self, statement: str, variant: str, template: str, order: str) -> bool:
        """Return whether a prompt was asked and could not be scored."""
        t, s = self.counts.template(template), self.counts.statement(statement)
        v = [str(each) for each in self.counts.variants].index(variant)
        return self.counts.has_failed((t, s, v, SWAPPED if order == "swapped" else PRINTED))

    def side(self, at: tuple[int, ...]) -> str:
        """`negation agree 93.2 %`: the side that is likelier and how much."""
        leaning, stance = float(self.leaning[at]), int(self.stances[at])
        word = {1: "agree", -1: "disagree", 0: "tie"}[stance]
        return f"{self.counts.prompt_name(at)} {word} {max(leaning, 1 - leaning):.1%}"

    def lacking(self, at: tuple[int, ...]) -> str:
        if self.enough[at]:
            return ""
        name = self.counts.prompt_name(at)
        if self.counts.left_out_at(at):
            return f"{name}: left out by a ruling"
        if not self.mass.scored[at]:
            return self.counts.missing(at) if self.counts.has_failed(at) else f"{name} not scored"
        found, needed = self.mass.named[at], self.options.named
        return f"{name}: only {found:.2%} of the probability on its labels, {needed:.2%} needed"

    def unclear(self, at: tuple[int, ...]) -> str:
        low, high = (f"{100 * end:g} %" for end in (self.options.low, self.options.high))
        return (
            f"{self.counts.prompt_name(at)} agree {self.leaning[at]:.1%}: expected below "
            f"{low} or above {high}"
        )
