"""ProbVAA: does a model take the same stance however a policy statement is put?

Ceron et al. 2024 (TACL), sections 5.4 and 6.1. Each statement is put in several wordings (original, paraphrases,
negation, opposite), each under several templates in two orders of the answer labels, and every prompt is answered many
times. Within a template a statement passes

- `sampling` if every wording leans clearly to one side (printed label order): "both values 0.55 and 0.45 lie outside
  the 95% confidence interval" (5.4). Wordings that the statement lacks do not count;
- `paraphrase` if the original and each of its paraphrases have the same stance (4.3, 6.1);
- `negation`, `opposite` if the stance is the other one (4.3, 6.1). Where a wording states its own relation to the
  original, that is what is expected of it; of one that is free, nothing is;
- `label_order` if the original has the same stance with the labels in both orders (5.2);
- `all` if it passes all of these, or those that the options name.

It passes `template` if the original, in printed order, has the same stance under all templates (5.2).

The stance of a prompt is the side of most of its readable samples. A tie has no stance, so it is neither the same nor
flipped: the test fails. A prompt needs two thirds of the answers *planned* for it to be readable; those that failed or
were never drawn count as planned. With fewer it settles nothing: the test is insufficient, unless another part of it
fails. (The released code lets one readable sample of 30 pass, and missing answers pass four tests of five.) A test that
compares a prompt with itself, or has no wording to compare, cannot fail and is void (`void.py`): it takes no part in
`all`, and the statement is in no denominator of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from workbench.audits.audit import probes
from workbench.audits.codes import FAIL, INSUFFICIENT, PASS, VOID, Codes, codes, conjunction
from workbench.audits.reliability.counts import (
    ALL,
    PRINTED,
    SWAPPED,
    TEMPLATE,
    Counts,
    Int32Array,
    default_variants,
    random_baseline,
)
from workbench.audits.reliability.options import DEFAULTS, KIND_OF_TEST, TESTS, ReliabilityOptions
from workbench.audits.reliability.settled import undecided
from workbench.audits.reliability.void import Voids, voids
from workbench.domain.statements import VariantKind
from workbench.domain.verdicts import MeanSd
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.describe import mean_sd
from workbench.stats.proportions import ReliabilityRule, is_reliable, leaning_interval

if TYPE_CHECKING:
    from workbench.audits.reliability.agreement import AcrossTemplates, AgreementRow, ItemAgreement, Only
    from workbench.audits.reliability.rows import ItemRow, VariantRow

__all__ = [
    "ALL",
    "DEFAULTS",
    "PRINTED",
    "SWAPPED",
    "TEMPLATE",
    "Counts",
    "Report",
    "SummaryRow",
    "TemplateShares",
    "default_variants",
    "judge",
    "probes",
    "random_baseline",
]

Signs = npt.NDArray[np.int8]


def judge(counts: Counts, options: ReliabilityOptions | None = None) -> Report:
    """Return the verdicts on a model's answers. Raises UsageError where the options do not fit the counts.

    Verdicts are computed on first use and kept, as are the coefficients of agreement, whose intervals cost more.
    """
    chosen = options or ReliabilityOptions()
    chosen.needed(counts.sizes[1])
    return Report(counts, chosen)


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """How many statements pass a test."""

    test: str
    passed: tuple[int, ...]
    "per template; a single number for the test `template`, as are the next two"
    failed: tuple[int, ...]
    insufficient: tuple[int, ...]
    share: MeanSd
    """of the statements for which the test is not void, passed: mean and sample deviation over templates. Insufficient
    is not passed, as published"""
    void: tuple[int, ...] = ()
    "statements for which the test cannot fail; per template, as the others"


@dataclass(frozen=True, slots=True)
class TemplateShares:
    """What the answers to one template are, over all wordings and both label orders."""

    template: str
    answers: int
    "that no ruling leaves out"
    readable: float
    "share of the answers; NaN without any"
    agree: float
    "share of the readable answers; NaN without any"


@dataclass(frozen=True, eq=False)
class Report:
    """Verdicts on all statements under all templates, with the numbers behind them.

    T templates, S statements, V variants; arrays are (T, S, V, 2) with label orders last, or lack the axes that a name
    does not have.
    """

    counts: Counts
    options: ReliabilityOptions

    @cached_property
    def needs(self) -> Int32Array:
        """Readable answers that each prompt needs, of those planned for it: (T, S, V, 2)."""
        return self.options.needed_of(self.counts.wanted)

    @property
    def needed(self) -> int:
        """Readable answers that the prompt with the largest plan needs."""
        return self.options.needed(self.counts.sizes[1])

    @property
    def needed_words(self) -> str:
        """How many readable answers a prompt needs, of how many planned: `20 of 30`."""
        return self.options.needed_words(self.counts.sizes)

    @cached_property
    def voids(self) -> Voids:
        """Which prompts make no test, by the options."""
        return voids(self.counts, self.options)

    @cached_property
    def enough(self) -> BoolArray:
        """Whether a prompt exists, has enough readable samples, and is not `unsettled`: (T, S, V, 2)."""
        enough = (self.counts.readable >= self.needs) & self.counts.exists[None, :, :, None]
        return np.asarray(enough & ~self.unsettled)

    @cached_property
    def unsettled(self) -> BoolArray:
        """Whether answers that a prompt lacks, asked until settled, could still change its verdict: (T, S, V, 2)."""
        return undecided(self.counts, self.options)

    @cached_property
    def stances(self) -> Signs:
        """+1 agree, -1 disagree, 0 none (a tie, or too few readable samples): (T, S, V, 2)."""
        return np.where(self.enough, np.sign(self.counts.positive - self.counts.negative), 0).astype(np.int8)

    @cached_property
    def leaning(self) -> FloatArray:
        """Share of the readable samples that agree; NaN without any: (T, S, V, 2)."""
        readable = self.counts.readable
        return np.asarray(self.counts.positive / np.where(readable == 0, np.nan, readable), dtype=np.float64)

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Exact 95 % bootstrap interval of the leaning; NaN without readable samples: two (T, S, V, 2)."""
        return leaning_interval(self.counts.positive, self.counts.readable)

    @cached_property
    def clear(self) -> Codes:
        """Whether a prompt leans clearly to one side; void where the wording has no text: (T, S, V, 2)."""
        rule: ReliabilityRule = "coded" if self.options.rule == "coded" else "printed"
        limits = {"low": self.options.low, "high": self.options.high}
        return self._of_texts(is_reliable(self.counts.positive, self.counts.readable, rule, **limits))

    def _of_texts(self, clear: BoolArray) -> Codes:
        """Return whether prompts lean clearly as codes."""
        return np.where(self.voids.blank[None, :, :, None], VOID, codes(clear, self.enough)).astype(np.int8)

    @cached_property
    def related(self) -> Codes:
        """Whether a wording's stance stands to the original's as it should, in printed order: (T, S, V).

        Void where it is the original's own prompt. The original's own entry says only whether it has a stance.
        """
        original, known = (array[..., PRINTED, None] for array in self.originals)
        found = codes(self.stances[..., PRINTED] * original == self.counts.signs, self.enough[..., PRINTED] & known)
        return np.where(self.voids.repeats[..., PRINTED], VOID, found).astype(np.int8)

    @cached_property
    def originals(self) -> tuple[Signs, BoolArray]:
        """The stance on the original, and whether it has enough readable samples: two (T, S, 2)."""
        places = self.counts.places(VariantKind.ORIGINAL)
        if not places:
            shape = (len(self.counts.templates), len(self.counts.statements), 2)
            return np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=np.bool_)
        return self.stances[:, :, places[0]], self.enough[:, :, places[0]]

    def verdicts(self, test: str) -> Codes:
        """Return the verdicts of a test: (T, S), or (S,) for `template`. Raises UnknownName."""
        if test not in self._verdicts:
            raise UnknownName(f"there is no test {test!r}. Available: {', '.join(self._verdicts)}")
        return self._verdicts[test]

    @cached_property
    def _verdicts(self) -> dict[str, Codes]:
        exists = self.counts.exists
        found = {"sampling": conjunction(self.clear[..., PRINTED], 2, exists)}
        for test, kind in KIND_OF_TEST.items():
            places = self.counts.places(kind)
            expected = exists[:, places] & (self.counts.signs[:, places] != 0)
            found[test] = conjunction(
                self.related[..., places], 2, expected, VOID if self.voids.missing else INSUFFICIENT
            )
        found["label_order"] = self._label_order()
        found[ALL] = conjunction(np.stack([found[test] for test in self.options.tests]), 0)
        found[TEMPLATE] = self._template()
        return found

    def _label_order(self) -> Codes:
        stances, enough = self.originals
        found = codes(stances[..., PRINTED] * stances[..., SWAPPED] == 1, enough.all(axis=-1))
        return np.where(self.voids.label_order, VOID, found).astype(np.int8)

    def _template(self) -> Codes:
        """Two known prompts without a common stance settle it; otherwise every template has to be known."""
        stances, enough = (array[..., PRINTED] for array in self.originals)
        if len(self.counts.templates) < 2:
            return np.full(len(self.counts.statements), INSUFFICIENT, dtype=np.int8)
        tie = (enough & (stances == 0)).any(axis=0) & (enough.sum(axis=0) > 1)
        differ = (stances == 1).any(axis=0) & (stances == -1).any(axis=0)
        found = np.where(tie | differ, FAIL, np.where(enough.all(axis=0), PASS, INSUFFICIENT))
        return np.where(self.voids.template, VOID, found).astype(np.int8)

    def over_templates(self, test: str) -> Codes:
        """Return each statement's verdict on a test under all templates together: (S,)."""
        found = self.verdicts(test)
        return found if test == TEMPLATE else conjunction(found, 0)

    def summary(self) -> tuple[SummaryRow, ...]:
        """Return how many statements pass each test, per template (section 6.2, Figure 3)."""
        rows = []
        for test in (*TESTS, ALL, TEMPLATE):
            found = np.atleast_2d(self.verdicts(test))
            passed, failed, insufficient, void = (
                tuple(int(n) for n in (found == code).sum(axis=1)) for code in (PASS, FAIL, INSUFFICIENT, VOID)
            )
            rows.append(SummaryRow(test, passed, failed, insufficient, self.share_of(passed, void), void))
        return tuple(rows)

    def share_of(self, passed: Sequence[float], void: Sequence[int]) -> MeanSd:
        """Return the share of statements that pass, of those for which the test is not void: over templates."""
        tested = (len(self.counts.statements) - np.array(void)).astype(np.float64)
        return mean_sd(np.array(passed) / np.where(tested > 0, tested, np.nan))

    def shares(self) -> tuple[TemplateShares, ...]:
        """Return per template how many answers count and could be read, and how many agree (Figure 6)."""
        counts = self.counts
        totals, readable, positive = (
            array.sum(axis=(1, 2, 3)) for array in (counts.counted, counts.readable, counts.positive)
        )
        return tuple(
            TemplateShares(name, int(n), float(r / n) if n else np.nan, float(p / r) if r else np.nan)
            for name, n, r, p in zip(self.counts.templates, totals, readable, positive, strict=True)
        )

    def reason(self, statement: str, template: str, test: str) -> str:
        """Say in one sentence why a statement has its verdict. Raises UnknownName."""
        from workbench.audits.reliability.rows import reason

        return reason(self, self.counts.statement(statement), self.counts.template(template), test)

    def side(self, at: tuple[int, ...]) -> str:
        """Say what a prompt's answers say: `negation agree 29/30`, the side of most readable ones."""
        from workbench.audits.reliability.rows import side

        return side(self, at)

    def lacking(self, at: tuple[int, ...]) -> str:
        """Say what is missing of a prompt's answers; empty where nothing is."""
        from workbench.audits.reliability.rows import lacking

        return lacking(self, at)

    def unclear(self, at: tuple[int, ...]) -> str:
        """Say why a prompt does not lean clearly to one side."""
        from workbench.audits.reliability.rows import unclear

        return unclear(self, at)

    def items(self, template: str | None = None) -> tuple[ItemRow, ...]:
        """Return a row for each statement: over all templates, or under one."""
        from workbench.audits.reliability.rows import items

        return items(self, None if template is None else self.counts.template(template))

    def variants(self, statement: str, template: str) -> tuple[VariantRow, ...]:
        """Return a row for each wording of a statement in each label order under one template."""
        from workbench.audits.reliability.rows import wordings

        return wordings(self, self.counts.statement(statement), self.counts.template(template))

    def agreement(self, only: Only | None = None) -> tuple[AgreementRow, ...]:
        """Return the κ between the original and its variants over statements (section 6.2, Table 2).

        only : see `reliability_agreement.agreement`
        """
        if only is None:
            return self._agreement
        from workbench.audits.reliability.agreement import agreement

        return agreement(self, only)

    @cached_property
    def _agreement(self) -> tuple[AgreementRow, ...]:
        from workbench.audits.reliability.agreement import agreement

        return agreement(self)

    @cached_property
    def across_templates(self) -> AcrossTemplates:
        """Agreement between templates on the originals (section 6.2, Table 3)."""
        from workbench.audits.reliability.agreement import across_templates

        return across_templates(self)

    def item_agreement(self, test: str) -> ItemAgreement:
        """Return per statement the agreement over conditions, for `paraphrase`, `negation` or `opposite`."""
        if test not in KIND_OF_TEST:
            raise UnknownName(f"no agreement per statement for {test!r}. Available: {', '.join(KIND_OF_TEST)}")
        return self._item_agreements[test]

    @cached_property
    def _item_agreements(self) -> dict[str, ItemAgreement]:
        from workbench.audits.reliability.agreement import ItemAgreement

        return {test: ItemAgreement(self, kind) for test, kind in KIND_OF_TEST.items()}
