"""The reliability audit on exact label probabilities instead of samples.

The leaning of a prompt is p(positive) / (p(positive) + p(negative)): the share of agreement among answers that begin
with a spelling of one of the template's labels (`verbalizers`), in the limit of ever more samples. Nothing was sampled,
so a prompt leans clearly where its leaning lies outside [low, high], without an interval, and its stance is the side of
one half. The tests are those of `reliability` (Ceron et al. 2024, sections 4.3, 5.2 and 5.4). Where the model puts less
than a small share of its probability on the labels at all, their ratio says little about what it would answer: the
prompt is insufficient.

Beside the verdict stands what it would have been with samples, in expectation: see `expected`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from workbench.audits.codes import Codes
from workbench.audits.reliability.counts import PRINTED, SWAPPED, Counts
from workbench.audits.reliability.expected import AGREE, DISAGREE, FEW, TIE, Expected, expected
from workbench.audits.reliability.judge import Report, Signs, TemplateShares
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.rows import VariantRow
from workbench.domain.statements import VariantId
from workbench.domain.verdicts import MeanSd
from workbench.readers.verbalizers import VERSION
from workbench.stats.arrays import BoolArray, FloatArray, IntArray


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
                raise ValueError(f"expected probabilities of shape {shape}, found shape {side.shape}")
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
    """Return the verdicts on label probabilities. Raises UsageError where the options do not fit the samples beside."""
    chosen = options or ReliabilityOptions()
    chosen.needed(chosen.beside)
    there = mass.scored & mass.exists[None, :, :, None]
    known = there & (mass.named >= chosen.named) & (mass.named > 0)
    sides = [(known & (a > b)).astype(np.int32) for a, b in _both_ways(mass.positive, mass.negative)]
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


def _both_ways(positive: FloatArray, negative: FloatArray) -> tuple[tuple[FloatArray, FloatArray], ...]:
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
class ExactReport(Report):
    """Verdicts on exact probabilities; read like those on samples.

    `counts` has one answer for each scored prompt: the label that is likelier, or an unreadable one where neither is
    or both have too little probability.
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
        """Whether the leaning lies outside [low, high], whichever rule is chosen for samples; void as for samples."""
        return self._of_texts((self.leaning < self.options.low) | (self.leaning > self.options.high))

    @cached_property
    def expected(self) -> Expected:
        """What samples would have said. Prompts without a verdict of their own have none there, unless unreadable
        ones count.
        """
        asked = self.mass.scored & (self.mass.named > 0) if self.options.with_unreadable else self.known
        asked = asked & self.counts.exists[None, :, :, None]
        return expected(
            self.counts, self.mass.positive, self.mass.negative, asked, self.options, self.voids,
        )  # fmt: skip

    def expected_summary(self) -> tuple[ExpectedRow, ...]:
        """Return how many statements samples would be expected to pass each test, as `summary` counts them."""
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
            positive, named = (float(side[at][scored[at]].sum()) for side in (self.mass.positive, self.mass.named))
            rows.append(TemplateShares(name, n, named / n if n else np.nan, positive / named if named else np.nan))
        return tuple(rows)

    def exact_rows(self, statement: str, template: str) -> tuple[ExactRow, ...]:
        """Return a row for each wording of a statement, as `variants` does, with its probabilities."""
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
        return f"{self.counts.prompt_name(at)} agree {self.leaning[at]:.1%}: expected below {low} or above {high}"
