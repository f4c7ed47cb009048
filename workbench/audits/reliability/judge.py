"""ProbVAA: the test whether a model keeps its stance however a policy statement is worded.

Source: Ceron et al. 2024 (TACL), sections 5.4 and 6.1. Each statement is presented in several
wordings (original, paraphrases, negation, opposite), each under several templates in two orders of
the answer labels, and every prompt is answered many times. Within a template a statement passes

- `sampling` if every wording leans clearly to one side (printed label order): "both values 0.55 and
  0.45 lie outside the 95% confidence interval" (5.4). Wordings that the statement lacks do not
  count;
- `paraphrase` if the original and each of its paraphrases have the same stance (4.3, 6.1);
- `negation`, `opposite` if the stance is the other one (4.3, 6.1). If a wording states its own
  relation to the original, that relation is expected of it. Nothing is expected of a free wording;
- `label_order` if the original has the same stance with the labels in both orders (5.2);
- `all` if it passes all of these, or those that the options name.

It passes `template` if the original, in printed order, has the same stance under all templates
(5.2).

The stance of a prompt is the side of most of its readable samples. A tie has no stance, so it is
neither the same nor flipped, and the test fails. A prompt needs two thirds of its *planned* answers
to be readable. Answers that failed or were never sampled count as planned. With fewer readable
answers a prompt settles nothing: the test is insufficient, unless another part of it fails. (The
released code lets one readable sample of 30 pass, and missing answers pass four tests of five.) A
test that compares a prompt with itself, or has no wording to compare, cannot fail and is void
(`counting`). A void test takes no part in `all`, and its statement is in none of its denominators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from workbench.audits.codes import (
    FAIL,
    INSUFFICIENT,
    PASS,
    VOID,
    Codes,
    codes,
    conjunction,
    verdict,
)
from workbench.audits.reliability.counting import (
    ALL,
    PRINTED,
    SWAPPED,
    TEMPLATE,
    Counts,
    Voids,
    undecided,
    voids,
)
from workbench.audits.reliability.options import EVERY, KIND_OF_TEST, TESTS, ReliabilityOptions
from workbench.domain.names import in_words, plural
from workbench.domain.readings import Stance
from workbench.domain.statements import Relation, VariantKind
from workbench.domain.verdicts import Estimate, MeanSd, Verdict
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, Int32Array
from workbench.stats.describe import mean_sd
from workbench.stats.proportions import (
    ReliabilityRule,
    is_reliable,
    leaning_interval,
    wilson_of_share,
)

if TYPE_CHECKING:
    from workbench.audits.reliability.agreement import (
        AcrossTemplates,
        AgreementRow,
        ComparedRefs,
        StatementAgreement,
    )

_STANCES = {1: Stance.AGREE, -1: Stance.DISAGREE, 0: None}


@dataclass(frozen=True, slots=True)
class StatementVerdicts:
    """The verdicts on one statement, over all templates or under one."""

    statement: str
    verdicts: Mapping[str, Verdict]
    "the verdict by test; that on `template` is always over all templates"
    passed: int
    "the number of templates under which the statement passes `all`"
    failed: int
    insufficient: int
    void: int
    templates: int
    kappa_paraphrase: Estimate
    "over all conditions, whichever template the other fields are about"

    def verdict(self, test: str) -> Verdict:
        """Return the verdict of a test. Raises UnknownName if there is no such test."""
        if test not in self.verdicts:
            raise UnknownName(f"there is no test {test!r}. Available: {', '.join(self.verdicts)}")
        return self.verdicts[test]


@dataclass(frozen=True, slots=True)
class TestContribution:
    """A test to which the answers to one prompt contribute, and the verdict on them."""

    test: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class VariantRow:
    """The answers to one wording of a statement, in one label order."""

    variant: str
    order: str
    "printed or swapped"
    positive: int
    readable: int
    total: int
    leaning: float
    "share of agreement among the readable answers; NaN without any"
    low: float
    high: float
    stance: Stance | None
    "None if the answers are tied, or too few are readable"
    expected: Stance | None
    """the stance that follows from the original's; None for the original itself, for a wording that
    is free, and if the original has no stance"""
    tests: tuple[TestContribution, ...]
    truncated: int = 0
    left_out: int = 0
    "the number of answers that an auditor's ruling excludes"
    "`truncated` is the number of all answers that were cut off in thought"


def statement_rows(
    report: ReliabilityReport, template: int | None
) -> tuple[StatementVerdicts, ...]:
    """Return one row per statement, over all templates or under one.

    Parameters
    ----------
    template : index of the template; None: over all templates
    """
    columns = {}
    for test in EVERY:
        is_over_templates = template is None or test == TEMPLATE
        columns[test] = (
            report.over_templates(test) if is_over_templates else report.verdicts(test)[template]
        )
    all_codes = report.verdicts(ALL)
    tallies = {code: (all_codes == code).sum(axis=0) for code in (PASS, FAIL, INSUFFICIENT, VOID)}
    agreement = report.item_agreement("paraphrase")
    kappas = agreement.estimates("kappa")
    return tuple(
        StatementVerdicts(
            statement=ref,
            verdicts={test: verdict(codes_of_test[row]) for test, codes_of_test in columns.items()},
            passed=int(tallies[PASS][row]),
            failed=int(tallies[FAIL][row]),
            insufficient=int(tallies[INSUFFICIENT][row]),
            void=int(tallies[VOID][row]),
            templates=len(report.counts.templates),
            kappa_paraphrase=kappas.estimate(row, int(agreement.excluded[row])),
        )
        for row, ref in enumerate(report.counts.statements)
    )


def wording_rows(
    report: ReliabilityReport, statement: int, template: int
) -> tuple[VariantRow, ...]:
    """Return one row per wording of a statement in each label order, under one template.

    All existing wordings in printed order come first, then the prompts that were asked with the
    labels swapped.
    """
    rows = []
    for order in (PRINTED, SWAPPED):
        for variant in np.flatnonzero(report.counts.exists[statement]):
            index = (template, statement, int(variant), order)
            if order == PRINTED or report.counts.total[index] or report.counts.has_failed(index):
                rows.append(_variant_row(report, index))
    return tuple(rows)


def _variant_row(report: ReliabilityReport, prompt_index: tuple[int, int, int, int]) -> VariantRow:
    """Return the row of the prompt with this index in the arrays."""
    template, statement, variant_index, order = prompt_index
    variant = report.counts.variants[variant_index]
    is_reference = variant.kind is VariantKind.ORIGINAL and order == PRINTED
    original = _STANCES[int(report.originals[0][template, statement, PRINTED])]
    sign = int(report.counts.signs[statement, variant_index])
    expected = original.flipped if original is not None and sign < 0 else original if sign else None
    low, high = report.interval
    return VariantRow(
        variant=str(variant),
        order="swapped" if order == SWAPPED else "printed",
        positive=int(report.counts.positive[prompt_index]),
        readable=int(report.counts.readable[prompt_index]),
        total=int(report.counts.total[prompt_index]),
        leaning=float(report.leaning[prompt_index]),
        low=float(low[prompt_index]),
        high=float(high[prompt_index]),
        stance=_STANCES[int(report.stances[prompt_index])],
        expected=None if is_reference else expected,
        tests=tuple(_decides(report, prompt_index)),
        truncated=report.counts.cut_off_at(prompt_index),
        left_out=report.counts.left_out_at(prompt_index),
    )


def _decides(
    report: ReliabilityReport, prompt_index: tuple[int, int, int, int]
) -> Iterator[TestContribution]:
    """Yield the tests to which the answers to one prompt contribute."""
    template, statement, variant_index, order = prompt_index
    kind = report.counts.variants[variant_index].kind
    if order == PRINTED:
        yield TestContribution("sampling", verdict(report.clear[prompt_index]))
        if kind is not VariantKind.ORIGINAL and report.counts.signs[statement, variant_index]:
            yield TestContribution(
                kind.value, verdict(report.related[template, statement, variant_index])
            )
    elif kind is VariantKind.ORIGINAL:
        yield TestContribution(
            "label_order", verdict(report.verdicts("label_order")[template, statement])
        )


def reason(report: ReliabilityReport, statement: int, template: int, test: str) -> str:
    """Return one sentence, with numbers, that explains a statement's verdict under a template."""
    codes_of_test = report.verdicts(test)
    if test == TEMPLATE:
        return _template_reason(report, statement)
    code = int(codes_of_test[template, statement])
    if code == VOID:
        return _void_reason(report, statement, template, test)
    if test == ALL:
        return _all_reason(report, statement, template, code)
    if test == "sampling":
        return _sampling_reason(report, statement, template, code)
    originals = report.counts.variant_indices(VariantKind.ORIGINAL)
    if not originals or not report.counts.exists[statement, originals[0]]:
        return "no original in the instrument"
    if test == "label_order":
        prompts = [(template, statement, originals[0], order) for order in (PRINTED, SWAPPED)]
        return _pair_reason(report, prompts[0], prompts[1], code, Relation.SAME)
    return _wording_reason(report, statement, template, test, code)


def _sampling_reason(report: ReliabilityReport, statement: int, template: int, code: int) -> str:
    """Return the reason for a verdict on sampling, by the first wording that decides it."""
    existing = np.flatnonzero(report.counts.exists[statement])
    if not existing.size:
        return "no wording in the instrument"
    if code == PASS:
        n_tested = int((~report.voids.blank[statement, existing]).sum())
        return f"all {n_tested} wordings lean clearly to one side"
    deciding = next(
        int(variant)
        for variant in existing
        if int(report.clear[template, statement, variant, PRINTED]) == code
    )
    prompt_index = (template, statement, deciding, PRINTED)
    if code == INSUFFICIENT:
        return report.lacking(prompt_index)
    return report.unclear(prompt_index)


def _void_reason(report: ReliabilityReport, statement: int, template: int, test: str) -> str:
    """Return the reason why a test cannot fail under a template."""
    originals = report.counts.variant_indices(VariantKind.ORIGINAL)
    if report.counts.excluded_originals[template, statement]:
        return "rulings leave out all answers to the original"
    if explanation := _nothing_to_compare(report, statement, test):
        return explanation
    excluded = report.counts.excluded | report.counts.excluded_prompts[template].any(axis=-1)
    if test == "label_order" and excluded[statement, originals].any():
        return "rulings leave out all answers to the original in one label order"
    if (
        test in KIND_OF_TEST
        and excluded[statement, report.counts.variant_indices(KIND_OF_TEST[test])].any()
    ):
        return f"rulings leave out all answers to every {in_words(test)} that could be compared"
    if test == ALL:
        return f"no test can fail: {', '.join(report.options.tests)}"
    if test == "sampling":
        return "no wording has a text"
    if report.voids.blank[statement, originals[0]]:
        return "the original has no text"
    if test == "label_order":
        return "both label orders give the same text, so the test cannot fail"
    return (
        f"every {test} is empty or identical to the original, so the test compares a prompt "
        "with itself"
    )


def _nothing_to_compare(report: ReliabilityReport, statement: int, test: str) -> str:
    """Return the reason why a test has no wording to compare with the original.

    It is empty if the test has such a wording, or compares no wordings.
    """
    if test not in KIND_OF_TEST:
        return ""
    counts, kind = report.counts, KIND_OF_TEST[test]
    existing = [
        variant for variant in counts.variant_indices(kind) if counts.exists[statement, variant]
    ]
    if any(counts.signs[statement, variant] for variant in existing):
        return ""
    return (
        "it has no expected stance (free)" if existing else f"no {in_words(kind)} in the instrument"
    )


def _wording_reason(
    report: ReliabilityReport, statement: int, template: int, test: str, code: int
) -> str:
    """Return the reason for a test's verdict, by the first wording that decides it."""
    if explanation := _nothing_to_compare(report, statement, test):
        return explanation
    counts = report.counts
    kind = KIND_OF_TEST[test]
    comparable = [
        variant
        for variant in counts.variant_indices(kind)
        if counts.exists[statement, variant] and counts.signs[statement, variant]
    ]
    original = (template, statement, counts.variant_indices(VariantKind.ORIGINAL)[0], PRINTED)
    tested = [
        variant
        for variant in comparable
        if int(report.related[template, statement, variant]) != VOID
    ]
    deciding = next(
        variant for variant in tested if int(report.related[template, statement, variant]) == code
    )
    relation = Relation.SAME if counts.signs[statement, deciding] > 0 else Relation.FLIPPED
    sentence = _pair_reason(
        report, original, (template, statement, deciding, PRINTED), code, relation
    )
    return (
        f"{sentence} ({plural(len(tested), in_words(kind))})"
        if code == PASS and len(tested) > 1
        else sentence
    )


def _pair_reason(
    report: ReliabilityReport,
    first: tuple[int, ...],
    second: tuple[int, ...],
    code: int,
    relation: Relation,
) -> str:
    """Return the reason for the verdict on two prompts with an expected relation."""
    if code == INSUFFICIENT:
        return "; ".join(filter(None, (report.lacking(prompt) for prompt in (first, second))))
    expectation = "flip" if relation is Relation.FLIPPED else "be the same"
    outcome = (
        ("flips" if relation is Relation.FLIPPED else "the same")
        if code == PASS
        else f"expected to {expectation}"
    )
    return f"{report.side(first)}, {report.side(second)}: {outcome}"


def side(report: ReliabilityReport, prompt_index: tuple[int, ...]) -> str:
    """Return the side of most readable answers and their number, as in `negation agree 29/30`."""
    counts = report.counts
    positive, readable = int(counts.positive[prompt_index]), int(counts.readable[prompt_index])
    n_majority = max(positive, readable - positive)
    # Also of too few answers, which settle nothing.
    stance = _STANCES[int(np.sign(2 * positive - readable))]
    word = stance.value if stance else "tie"
    return f"{counts.prompt_name(prompt_index)} {word} {n_majority}/{readable}"


def lacking(report: ReliabilityReport, prompt_index: tuple[int, ...]) -> str:
    """Return the reason why a prompt has too few answers, or "" if it has enough."""
    if report.has_stance_data[prompt_index]:
        return ""
    counts, name = report.counts, report.counts.prompt_name(prompt_index)
    total, planned = int(counts.total[prompt_index]), int(counts.wanted[prompt_index])
    if total == 0:
        return counts.missing(prompt_index)
    if (excluded := counts.left_out_at(prompt_index)) == total:
        return f"{name}: left out by a ruling"
    details = ""
    if cut_off := counts.cut_off_at(prompt_index):
        details += f" ({cut_off} cut off in thought)"
    if excluded:
        details += f" ({excluded} left out by a ruling)"
    if report.unsettled[prompt_index]:
        agree, disagree = int(counts.positive[prompt_index]), int(counts.negative[prompt_index])
        return (
            f"{name}: {total} of {planned} answers{details} ({agree} agree, {disagree} disagree) "
            "do not settle the verdict by these rules; run again without --until-settled asks "
            "for the rest"
        )
    planned_note = "" if total >= planned else f", {planned} planned"
    readable = int(counts.readable[prompt_index])
    required = int(report.required_by_prompt[prompt_index])
    return f"{name}: only {readable} of {total} readable{details}{planned_note}, {required} needed"


def unclear(report: ReliabilityReport, prompt_index: tuple[int, ...]) -> str:
    """Return the reason why a prompt does not lean clearly, with its interval."""
    low, high = (f"{100 * bound[prompt_index]:.0f}" for bound in report.interval)
    options, name = report.options, report.counts.prompt_name(prompt_index)
    limits = [options.high] if options.rule == "coded" else [options.low, options.high]
    band = "–".join(f"{100 * limit:g}" for limit in limits)
    missed = (
        f"should not include {band} %"
        if len(limits) == 1
        else f"should not reach into the {band} % band"
    )
    positive, readable = report.counts.positive[prompt_index], report.counts.readable[prompt_index]
    return f"{name} agree {positive}/{readable}, 95 % interval {low}-{high} %: {missed}"


def _all_reason(report: ReliabilityReport, statement: int, template: int, code: int) -> str:
    """Return the reason for the verdict over all tests."""
    code_by_test = {
        test: int(report.verdicts(test)[template, statement]) for test in report.options.tests
    }
    deciding = ", ".join(test for test, test_code in code_by_test.items() if test_code == code)
    only_test = ", the only test that can fail here" * (
        sum(test_code != VOID for test_code in code_by_test.values()) == 1
    )
    return (
        f"{ {PASS: 'passes', FAIL: 'fails', INSUFFICIENT: 'insufficient for'}[code] } "
        f"{deciding}{only_test}"
    )


def _template_reason(report: ReliabilityReport, statement: int) -> str:
    """Return the reason for the verdict over templates, with the templates of each stance."""
    counts = report.counts
    if len(counts.templates) < 2:
        return "one template"
    if report.voids.template[statement]:
        return f"the {len(counts.templates)} templates give the same text, so the test cannot fail"
    stances, enough = (array[:, statement, PRINTED] for array in report.originals)
    excluded = counts.excluded_originals[:, statement]
    groups = {
        "agree": enough & (stances == 1),
        "disagree": enough & (stances == -1),
        "tie": enough & (stances == 0),
        "too few readable answers": ~enough & ~excluded,
        "excluded by rulings": excluded,
    }
    parts = []
    for name, members in groups.items():
        group = [
            template
            for template, is_member in zip(counts.templates, members, strict=True)
            if is_member
        ]
        if group:
            parts.append(
                f"{name} under {', '.join(group) if len(group) <= 2 else f'{len(group)} templates'}"
            )
    return "; ".join(parts)


Signs = npt.NDArray[np.int8]


def judge(counts: Counts, options: ReliabilityOptions | None = None) -> ReliabilityReport:
    """Return the verdicts on a model's answers.

    Raises UsageError if the options do not fit the counts.

    Verdicts are computed on first use and cached. So are the coefficients of agreement, whose
    intervals cost more.
    """
    judging_options = options or ReliabilityOptions()
    judging_options.required(counts.sizes[1])
    return ReliabilityReport(counts, judging_options)


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """The numbers of statements that pass, fail or do not decide one test."""

    test: str
    passed: tuple[int, ...]
    "one number per template; a single one for the test `template`. The next two fields are alike"
    failed: tuple[int, ...]
    insufficient: tuple[int, ...]
    share: MeanSd
    """share of the statements with a test that is not void that pass: mean and sample deviation
    over templates. Insufficient is not passed, as published"""
    void: tuple[int, ...] = ()
    "the numbers of statements for which the test cannot fail; one per template, as above"


@dataclass(frozen=True, slots=True)
class TemplateShares:
    """The shares of readable and agreeing answers to one template, over all its prompts."""

    template: str
    answers: int
    "the number of answers that no ruling excludes"
    readable: float
    "share of the answers that are readable; NaN without any"
    agree: float
    "share of the readable answers that agree; NaN without any"


@dataclass(frozen=True, eq=False)
class ReliabilityReport:
    """The verdicts on all statements under all templates, with the numbers behind them.

    There are T templates, S statements and V variants. Arrays have the shape (T, S, V, 2), with
    label orders last, or lack the axes that a name does not have.
    """

    counts: Counts
    options: ReliabilityOptions

    @cached_property
    def required_by_prompt(self) -> Int32Array:
        """The number of readable answers that each prompt needs, by its plan: (T, S, V, 2)."""
        return self.options.required_of(self.counts.wanted)

    @property
    def required(self) -> int:
        """The number of readable answers that the prompt with the largest plan needs."""
        return self.options.required(self.counts.sizes[1])

    @property
    def required_text(self) -> str:
        """The readable answers that a prompt needs, of those planned, as in `20 of 30`."""
        return self.options.required_text(self.counts.sizes)

    @cached_property
    def voids(self) -> Voids:
        """The prompts that make no test, by the options."""
        return voids(self.counts, self.options)

    @cached_property
    def has_stance_data(self) -> BoolArray:
        """Whether a prompt exists, has enough readable samples, and is settled: (T, S, V, 2)."""
        enough = (self.counts.readable >= self.required_by_prompt) & self.counts.exists[
            None, :, :, None
        ]
        return np.asarray(enough & ~self.unsettled)

    @cached_property
    def unsettled(self) -> BoolArray:
        """Whether the missing answers of a prompt could still change its verdict: (T, S, V, 2).

        Only prompts that were asked until settled can be unsettled.
        """
        return undecided(self.counts, self.options)

    @cached_property
    def stances(self) -> Signs:
        """The stance of each prompt, +1 agree, -1 disagree, 0 none: (T, S, V, 2).

        A tie, or too few readable samples, is no stance.
        """
        return np.where(
            self.has_stance_data, np.sign(self.counts.positive - self.counts.negative), 0
        ).astype(np.int8)

    @cached_property
    def leaning(self) -> FloatArray:
        """The share of agreement among the readable samples, or NaN without any: (T, S, V, 2)."""
        readable = self.counts.readable
        return np.asarray(
            self.counts.positive / np.where(readable == 0, np.nan, readable), dtype=np.float64
        )

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The exact 95 % bootstrap interval of the leaning: two arrays (T, S, V, 2).

        It is NaN without readable samples.
        """
        return leaning_interval(self.counts.positive, self.counts.readable)

    @cached_property
    def clear(self) -> Codes:
        """Whether a prompt leans clearly to one side, as codes: (T, S, V, 2).

        It is void if the wording has no text.
        """
        rule: ReliabilityRule = "coded" if self.options.rule == "coded" else "printed"
        limits = {"low": self.options.low, "high": self.options.high}
        return self._of_texts(
            is_reliable(self.counts.positive, self.counts.readable, rule, **limits)
        )

    def _of_texts(self, clear: BoolArray) -> Codes:
        """Return whether prompts lean clearly, as codes: (T, S, V, 2).

        A prompt is void if it is blank, or if rulings exclude its answers.
        """
        void = self.voids.blank[None, :, :, None] | self.counts.excluded_prompts
        return np.where(void, VOID, codes(clear, self.has_stance_data)).astype(np.int8)

    @cached_property
    def related(self) -> Codes:
        """Whether a wording has the stance that the original's stance asks for: (T, S, V).

        It is about printed label order, and void if the wording is the original's own prompt. The
        original's own entry says only whether it has a stance.
        """
        original, is_known = (array[..., PRINTED, None] for array in self.originals)
        related = codes(
            self.stances[..., PRINTED] * original == self.counts.signs,
            self.has_stance_data[..., PRINTED] & is_known,
        )
        return np.where(self.voids.repeats[..., PRINTED], VOID, related).astype(np.int8)

    @cached_property
    def originals(self) -> tuple[Signs, BoolArray]:
        """The stance on the original, and whether enough samples are readable: two (T, S, 2)."""
        indices = self.counts.variant_indices(VariantKind.ORIGINAL)
        if not indices:
            shape = (len(self.counts.templates), len(self.counts.statements), 2)
            return np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=np.bool_)
        return self.stances[:, :, indices[0]], self.has_stance_data[:, :, indices[0]]

    def verdicts(self, test: str) -> Codes:
        """Return the verdicts of a test: (T, S), or (S,) for `template`. Raises UnknownName."""
        if test not in self._verdicts:
            raise UnknownName(f"there is no test {test!r}. Available: {', '.join(self._verdicts)}")
        return self._verdicts[test]

    @cached_property
    def _verdicts(self) -> dict[str, Codes]:
        """The verdicts by test."""
        exists = self.counts.exists
        codes_by_test = {"sampling": conjunction(self.clear[..., PRINTED], 2, exists)}
        for test, kind in KIND_OF_TEST.items():
            variants_of_kind = self.counts.variant_indices(kind)
            expected = exists[:, variants_of_kind] & (self.counts.signs[:, variants_of_kind] != 0)
            tested = conjunction(
                self.related[..., variants_of_kind],
                2,
                expected,
                VOID if self.voids.missing else INSUFFICIENT,
            )
            codes_by_test[test] = np.where(self.counts.excluded_statements, VOID, tested).astype(
                np.int8
            )
        codes_by_test["label_order"] = self._label_order()
        codes_by_test[ALL] = conjunction(
            np.stack([codes_by_test[test] for test in self.options.tests]), 0
        )
        codes_by_test[TEMPLATE] = self._template()
        return codes_by_test

    def _label_order(self) -> Codes:
        """Return whether the original keeps its stance with swapped labels, as codes: (T, S)."""
        stances, enough = self.originals
        order_codes = codes(stances[..., PRINTED] * stances[..., SWAPPED] == 1, enough.all(axis=-1))
        return np.where(self.voids.label_order, VOID, order_codes).astype(np.int8)

    def _template(self) -> Codes:
        """Return whether the original keeps its stance under all templates, as codes: (S,).

        Two decided prompts without a common stance settle the test. Otherwise every template has to
        be decided.
        """
        stances, enough = (array[..., PRINTED] for array in self.originals)
        if len(self.counts.templates) < 2:
            return np.full(len(self.counts.statements), INSUFFICIENT, dtype=np.int8)
        tie = (enough & (stances == 0)).any(axis=0) & (enough.sum(axis=0) > 1)
        contradicted = (stances == 1).any(axis=0) & (stances == -1).any(axis=0)
        excluded = self.counts.excluded_originals
        template_codes = np.where(
            tie | contradicted, FAIL, np.where((enough | excluded).all(axis=0), PASS, INSUFFICIENT)
        )
        is_only_template = excluded.any(axis=0) & ((~excluded).sum(axis=0) < 2)
        return np.where(self.voids.template | is_only_template, VOID, template_codes).astype(
            np.int8
        )

    def over_templates(self, test: str) -> Codes:
        """Return the verdict on each statement of a test under all templates together: (S,)."""
        codes_of_test = self.verdicts(test)
        return codes_of_test if test == TEMPLATE else conjunction(codes_of_test, 0)

    def passing(self, test: str) -> Estimate:
        """Return the share of statements that pass under all templates, of those with a test.

        Statements for which the test is void are not in the denominator. Statements with too few
        answers do not pass, as published.
        """
        statement_codes = self.over_templates(test)
        n_tested = int((statement_codes != VOID).sum())
        if not n_tested:
            return Estimate(
                float("nan"),
                float("nan"),
                float("nan"),
                0,
                len(statement_codes),
                "no test can fail",
            )
        share = int((statement_codes == PASS).sum()) / n_tested
        low, high = wilson_of_share(share, n_tested)
        return Estimate(
            share, low, high, n_tested, len(statement_codes) - n_tested, interval="share of items"
        )

    def summary(self) -> tuple[SummaryRow, ...]:
        """Return how many statements pass each test, per template (section 6.2, Figure 3)."""
        rows = []
        for test in (*TESTS, ALL, TEMPLATE):
            codes_of_test = np.atleast_2d(self.verdicts(test))
            passed, failed, insufficient, void = (
                tuple(int(number) for number in (codes_of_test == code).sum(axis=1))
                for code in (PASS, FAIL, INSUFFICIENT, VOID)
            )
            rows.append(
                SummaryRow(test, passed, failed, insufficient, self.share_of(passed, void), void)
            )
        return tuple(rows)

    def share_of(self, passed: Sequence[float], void: Sequence[int]) -> MeanSd:
        """Return the mean share of statements that pass, over templates.

        Statements for which the test is void are not in the denominator.
        """
        tested = (len(self.counts.statements) - np.array(void)).astype(np.float64)
        return mean_sd(np.array(passed) / np.where(tested > 0, tested, np.nan))

    def shares(self) -> tuple[TemplateShares, ...]:
        """Return the shares of readable and of agreeing answers per template (Figure 6)."""
        counts = self.counts
        totals, readable, positive = (
            array.sum(axis=(1, 2, 3))
            for array in (counts.counted, counts.readable, counts.positive)
        )
        return tuple(
            TemplateShares(
                name,
                int(total),
                float(n_readable / total) if total else np.nan,
                float(n_agree / n_readable) if n_readable else np.nan,
            )
            for name, total, n_readable, n_agree in zip(
                self.counts.templates, totals, readable, positive, strict=True
            )
        )

    def reason(self, statement: str, template: str, test: str) -> str:
        """Return one sentence that explains a verdict. Raises UnknownName."""

        return reason(self, self.counts.statement(statement), self.counts.template(template), test)

    def side(self, prompt_index: tuple[int, ...]) -> str:
        """Return the side of most readable answers to a prompt, as in `negation agree 29/30`."""

        return side(self, prompt_index)

    def lacking(self, prompt_index: tuple[int, ...]) -> str:
        """Return the reason why a prompt has too few answers, or "" if it has enough."""

        return lacking(self, prompt_index)

    def unclear(self, prompt_index: tuple[int, ...]) -> str:
        """Return the reason why a prompt does not lean clearly to one side."""

        return unclear(self, prompt_index)

    def items(self, template: str | None = None) -> tuple[StatementVerdicts, ...]:
        """Return one row per statement: over all templates, or under one."""

        return statement_rows(self, None if template is None else self.counts.template(template))

    def variants(self, statement: str, template: str) -> tuple[VariantRow, ...]:
        """Return one row per wording of a statement in each label order, under one template."""

        return wording_rows(self, self.counts.statement(statement), self.counts.template(template))

    def agreement(self, only: ComparedRefs | None = None) -> tuple[AgreementRow, ...]:
        """Return the κ between originals and variants over statements (section 6.2, Table 2).

        Parameters
        ----------
        only : see `workbench.audits.reliability.agreement.agreement`
        """
        if only is None:
            return self._agreement
        from workbench.audits.reliability.agreement import agreement

        return agreement(self, only)

    @cached_property
    def _agreement(self) -> tuple[AgreementRow, ...]:
        """The κ over all statements."""
        from workbench.audits.reliability.agreement import agreement

        return agreement(self)

    @cached_property
    def across_templates(self) -> AcrossTemplates:
        """Agreement between templates on the originals (section 6.2, Table 3)."""
        from workbench.audits.reliability.agreement import across_templates

        return across_templates(self)

    def item_agreement(self, test: str) -> StatementAgreement:
        """Return the agreement over conditions per statement, for a kind of wording.

        Parameters
        ----------
        test : `paraphrase`, `negation` or `opposite`. Raises UnknownName for another one.
        """
        if test not in KIND_OF_TEST:
            raise UnknownName(
                f"no agreement per statement for {test!r}. Available: {', '.join(KIND_OF_TEST)}"
            )
        return self._item_agreements[test]

    @cached_property
    def _item_agreements(self) -> dict[str, StatementAgreement]:
        """The agreement per statement, by test."""
        from workbench.audits.reliability.agreement import StatementAgreement

        return {test: StatementAgreement(self, kind) for test, kind in KIND_OF_TEST.items()}
