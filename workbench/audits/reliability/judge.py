"""ProbVAA: does a model take the same stance however a policy statement is put?

Ceron et al. 2024 (TACL), sections 5.4 and 6.1. Each statement is put in several wordings (original,
paraphrases, negation, opposite), each under several templates in two orders of the answer labels,
and every prompt is answered many times. Within a template a statement passes

- `sampling` if every wording leans clearly to one side (printed label order): "both values 0.55 and
  0.45 lie outside the 95% confidence interval" (5.4). Wordings that the statement lacks do not
  count;
- `paraphrase` if the original and each of its paraphrases have the same stance (4.3, 6.1);
- `negation`, `opposite` if the stance is the other one (4.3, 6.1). Where a wording states its own
  relation to the original, that is what is expected of it; of one that is free, nothing is;
- `label_order` if the original has the same stance with the labels in both orders (5.2);
- `all` if it passes all of these, or those that the options name.

It passes `template` if the original, in printed order, has the same stance under all templates
(5.2).

The stance of a prompt is the side of most of its readable samples. A tie has no stance, so it is
neither the same nor flipped: the test fails. A prompt needs two thirds of the answers *planned* for
it to be readable; those that failed or were never drawn count as planned. With fewer it settles
nothing: the test is insufficient, unless another part of it fails. (The released code lets one
readable sample of 30 pass, and missing answers pass four tests of five.) A test that compares a
prompt with itself, or has no wording to compare, cannot fail and is void (`counting`): it takes no
part in `all`, and the statement is in no denominator of it.
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
        ItemAgreement,
        Only,
    )

_STANCES = {1: Stance.AGREE, -1: Stance.DISAGREE, 0: None}


@dataclass(frozen=True, slots=True)
class StatementVerdicts:
    """One statement's verdicts, over all templates or under one."""

    statement: str
    verdicts: Mapping[str, Verdict]
    "of each test; on `template` always over all templates"
    passed: int
    "templates under which `all` is passed"
    failed: int
    insufficient: int
    void: int
    templates: int
    kappa_paraphrase: Estimate
    "over all conditions, whichever template is shown"

    def verdict(self, test: str) -> Verdict:
        """Return the verdict of a test by name. Raises UnknownName."""
        if test not in self.verdicts:
            raise UnknownName(f"there is no test {test!r}. Available: {', '.join(self.verdicts)}")
        return self.verdicts[test]


@dataclass(frozen=True, slots=True)
class Decides:
    """A test to which one prompt's answers contribute, and what they contribute."""

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
    "share of the readable answers that agree; NaN without any"
    low: float
    high: float
    stance: Stance | None
    "None: a tie, or too few readable answers"
    expected: Stance | None
    """what the stance on the original asks for; None for the original itself and where that has no
    stance"""
    tests: tuple[Decides, ...]
    truncated: int = 0
    left_out: int = 0
    "answers that an auditor's ruling leaves out"
    "of all answers, those that were cut off in thought"


def items(report: ReliabilityReport, template: int | None) -> tuple[StatementVerdicts, ...]:
    """Return a row for each statement."""
    columns = {}
    for test in EVERY:
        single = template is None or test == TEMPLATE
        columns[test] = report.over_templates(test) if single else report.verdicts(test)[template]
    every = report.verdicts(ALL)
    tallies = {code: (every == code).sum(axis=0) for code in (PASS, FAIL, INSUFFICIENT, VOID)}
    agreement = report.item_agreement("paraphrase")
    kappas = agreement.estimates("kappa")
    return tuple(
        StatementVerdicts(
            statement=ref,
            verdicts={test: verdict(column[place]) for test, column in columns.items()},
            passed=int(tallies[PASS][place]),
            failed=int(tallies[FAIL][place]),
            insufficient=int(tallies[INSUFFICIENT][place]),
            void=int(tallies[VOID][place]),
            templates=len(report.counts.templates),
            kappa_paraphrase=kappas.estimate(place, int(agreement.excluded[place])),
        )
        for place, ref in enumerate(report.counts.statements)
    )


def wordings(report: ReliabilityReport, statement: int, template: int) -> tuple[VariantRow, ...]:
    """Return a row for each wording that exists, first all in printed order, then all that were
    asked swapped.
    """
    rows = []
    for order in (PRINTED, SWAPPED):
        for place in np.flatnonzero(report.counts.exists[statement]):
            at = (template, statement, int(place), order)
            if order == PRINTED or report.counts.total[at] or report.counts.has_failed(at):
                rows.append(_variant_row(report, at))
    return tuple(rows)


def _variant_row(report: ReliabilityReport, at: tuple[int, int, int, int]) -> VariantRow:
    template, statement, place, order = at
    variant = report.counts.variants[place]
    is_reference = variant.kind is VariantKind.ORIGINAL and order == PRINTED
    original = _STANCES[int(report.originals[0][template, statement, PRINTED])]
    sign = int(report.counts.signs[statement, place])
    expected = original.flipped if original is not None and sign < 0 else original if sign else None
    low, high = report.interval
    return VariantRow(
        variant=str(variant),
        order="swapped" if order == SWAPPED else "printed",
        positive=int(report.counts.positive[at]),
        readable=int(report.counts.readable[at]),
        total=int(report.counts.total[at]),
        leaning=float(report.leaning[at]),
        low=float(low[at]),
        high=float(high[at]),
        stance=_STANCES[int(report.stances[at])],
        expected=None if is_reference else expected,
        tests=tuple(_decides(report, at)),
        truncated=report.counts.cut_off_at(at),
        left_out=report.counts.left_out_at(at),
    )


def _decides(report: ReliabilityReport, at: tuple[int, int, int, int]) -> Iterator[Decides]:
    template, statement, place, order = at
    kind = report.counts.variants[place].kind
    if order == PRINTED:
        yield Decides("sampling", verdict(report.clear[at]))
        if kind is not VariantKind.ORIGINAL and report.counts.signs[statement, place]:
            yield Decides(kind.value, verdict(report.related[template, statement, place]))
    elif kind is VariantKind.ORIGINAL:
        yield Decides("label_order", verdict(report.verdicts("label_order")[template, statement]))


def reason(report: ReliabilityReport, statement: int, template: int, test: str) -> str:
    """Say in one sentence, with numbers, why a statement has its verdict under a template."""
    found = report.verdicts(test)
    if test == TEMPLATE:
        return _template_reason(report, statement)
    code = int(found[template, statement])
    if code == VOID:
        return _void_reason(report, statement, template, test)
    if test == ALL:
        return _all_reason(report, statement, template, code)
    if test == "sampling":
        places = np.flatnonzero(report.counts.exists[statement])
        if not places.size:
            return "no wording in the instrument"
        if code == PASS:
            tested = int((~report.voids.blank[statement, places]).sum())
            return f"all {tested} wordings lean clearly to one side"
        deciding = next(
            int(p) for p in places if int(report.clear[template, statement, p, PRINTED]) == code
        )
        at = (template, statement, deciding, PRINTED)
        return report.lacking(at) if code == INSUFFICIENT else report.unclear(at)
    original = report.counts.places(VariantKind.ORIGINAL)
    if not original or not report.counts.exists[statement, original[0]]:
        return "no original in the instrument"
    if test == "label_order":
        ends = [(template, statement, original[0], order) for order in (PRINTED, SWAPPED)]
        return _pair_reason(report, ends[0], ends[1], code, Relation.SAME)
    return _wording_reason(report, statement, template, test, code)


def _void_reason(report: ReliabilityReport, statement: int, template: int, test: str) -> str:
    """Say why a test cannot fail under a template."""
    places = report.counts.places(VariantKind.ORIGINAL)
    if report.counts.excluded_originals[template, statement]:
        return "rulings leave out all answers to the original"
    if nothing := _nothing_to_compare(report, statement, test):
        return nothing
    excluded = report.counts.excluded | report.counts.excluded_prompts[template].any(axis=-1)
    if test == "label_order" and excluded[statement, places].any():
        return "rulings leave out all answers to the original in one label order"
    if test in KIND_OF_TEST and excluded[statement, report.counts.places(KIND_OF_TEST[test])].any():
        return f"rulings leave out all answers to every {in_words(test)} that could be compared"
    if test == ALL:
        return f"no test can fail: {', '.join(report.options.tests)}"
    if test == "sampling":
        return "no wording has a text"
    if report.voids.blank[statement, places[0]]:
        return "the original has no text"
    if test == "label_order":
        return "both label orders give the same text, so the test cannot fail"
    return (
        f"every {test} is empty or identical to the original, so the test compares a prompt "
        "with itself"
    )


def _nothing_to_compare(report: ReliabilityReport, statement: int, test: str) -> str:
    """Say that a test has no wording to compare with the original; empty where it has one, or looks
    at others.
    """
    if test not in KIND_OF_TEST:
        return ""
    counts, kind = report.counts, KIND_OF_TEST[test]
    there = [p for p in counts.places(kind) if counts.exists[statement, p]]
    if any(counts.signs[statement, p] for p in there):
        return ""
    return "it has no expected stance (free)" if there else f"no {in_words(kind)} in the instrument"


def _wording_reason(
    report: ReliabilityReport, statement: int, template: int, test: str, code: int
) -> str:
    """Explain by the first wording that decides."""
    if nothing := _nothing_to_compare(report, statement, test):
        return nothing
    counts = report.counts
    kind = KIND_OF_TEST[test]
    places = [
        p for p in counts.places(kind) if counts.exists[statement, p] and counts.signs[statement, p]
    ]
    first = (template, statement, counts.places(VariantKind.ORIGINAL)[0], PRINTED)
    tested = [p for p in places if int(report.related[template, statement, p]) != VOID]
    deciding = next(p for p in tested if int(report.related[template, statement, p]) == code)
    relation = Relation.SAME if counts.signs[statement, deciding] > 0 else Relation.FLIPPED
    sentence = _pair_reason(report, first, (template, statement, deciding, PRINTED), code, relation)
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
    if code == INSUFFICIENT:
        return "; ".join(filter(None, (report.lacking(at) for at in (first, second))))
    wanted = "flip" if relation is Relation.FLIPPED else "be the same"
    outcome = (
        ("flips" if relation is Relation.FLIPPED else "the same")
        if code == PASS
        else f"expected to {wanted}"
    )
    return f"{report.side(first)}, {report.side(second)}: {outcome}"


def side(report: ReliabilityReport, at: tuple[int, ...]) -> str:
    """`negation agree 29/30`: the side of most readable answers and how many they are."""
    positive, readable = int(report.counts.positive[at]), int(report.counts.readable[at])
    # Also of too few answers, which settle nothing.
    stance = _STANCES[int(np.sign(2 * positive - readable))]
    word = stance.value if stance else "tie"
    return f"{report.counts.prompt_name(at)} {word} {max(positive, readable - positive)}/{readable}"


def lacking(report: ReliabilityReport, at: tuple[int, ...]) -> str:
    """Say what is missing of a prompt's answers; empty where nothing is."""
    if report.enough[at]:
        return ""
    counts, name = report.counts, report.counts.prompt_name(at)
    total, planned = int(counts.total[at]), int(counts.wanted[at])
    if total == 0:
        return counts.missing(at)
    if (out := counts.left_out_at(at)) == total:
        return f"{name}: left out by a ruling"
    drawn = "" if total >= planned else f", {planned} planned"
    cut = f" ({cut_off} cut off in thought)" if (cut_off := counts.cut_off_at(at)) else ""
    cut += f" ({out} left out by a ruling)" if out else ""
    if report.unsettled[at]:
        return (
            f"{name}: {total} of {planned} answers{cut} ({int(counts.positive[at])} agree, "
            f"{int(counts.negative[at])} "
            "disagree) do not settle the verdict by these rules; run again without "
            "--until-settled asks for the rest"
        )
    return (
        f"{name}: only {int(counts.readable[at])} of {total} readable{cut}{drawn}, "
        f"{int(report.needs[at])} needed"
    )


def unclear(report: ReliabilityReport, at: tuple[int, ...]) -> str:
    """Say with which interval a prompt does not lean clearly."""
    low, high = (f"{100 * end[at]:.0f}" for end in report.interval)
    options, name = report.options, report.counts.prompt_name(at)
    limits = [options.high] if options.rule == "coded" else [options.low, options.high]
    band = "–".join(f"{100 * limit:g}" for limit in limits)
    missed = (
        f"should not include {band} %"
        if len(limits) == 1
        else f"should not reach into the {band} % band"
    )
    return (
        f"{name} agree {report.counts.positive[at]}/{report.counts.readable[at]}, 95 % interval"
        f" {low}-{high} %: {missed}"
    )


def _all_reason(report: ReliabilityReport, statement: int, template: int, code: int) -> str:
    codes = {test: int(report.verdicts(test)[template, statement]) for test in report.options.tests}
    deciding = ", ".join(test for test, found in codes.items() if found == code)
    alone = ", the only test that can fail here" * (
        sum(found != VOID for found in codes.values()) == 1
    )
    return (
        f"{ {PASS: 'passes', FAIL: 'fails', INSUFFICIENT: 'insufficient for'}[code] } "
        f"{deciding}{alone}"
    )


def _template_reason(report: ReliabilityReport, statement: int) -> str:
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
        under = [
            template for template, member in zip(counts.templates, members, strict=True) if member
        ]
        if under:
            parts.append(
                f"{name} under {', '.join(under) if len(under) <= 2 else f'{len(under)} templates'}"
            )
    return "; ".join(parts)


Signs = npt.NDArray[np.int8]


def judge(counts: Counts, options: ReliabilityOptions | None = None) -> ReliabilityReport:
    """Return the verdicts on a model's answers. Raises UsageError where the options do not fit the
    counts.

    Verdicts are computed on first use and kept, as are the coefficients of agreement, whose
    intervals cost more.
    """
    chosen = options or ReliabilityOptions()
    chosen.needed(counts.sizes[1])
    return ReliabilityReport(counts, chosen)


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """How many statements pass a test."""

    test: str
    passed: tuple[int, ...]
    "per template; a single number for the test `template`, as are the next two"
    failed: tuple[int, ...]
    insufficient: tuple[int, ...]
    share: MeanSd
    """of the statements for which the test is not void, passed: mean and sample deviation over
    templates. Insufficient is not passed, as published
    """
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
class ReliabilityReport:
    """Verdicts on all statements under all templates, with the numbers behind them.

    T templates, S statements, V variants; arrays are (T, S, V, 2) with label orders last, or lack
    the axes that a name does not have.
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
        """Whether a prompt exists, has enough readable samples, and is not `unsettled`: (T, S, V,
        2).
        """
        enough = (self.counts.readable >= self.needs) & self.counts.exists[None, :, :, None]
        return np.asarray(enough & ~self.unsettled)

    @cached_property
    def unsettled(self) -> BoolArray:
        """Whether answers that a prompt lacks, asked until settled, could still change its verdict:
        (T, S, V, 2).
        """
        return undecided(self.counts, self.options)

    @cached_property
    def stances(self) -> Signs:
        """+1 agree, -1 disagree, 0 none (a tie, or too few readable samples): (T, S, V, 2)."""
        return np.where(
            self.enough, np.sign(self.counts.positive - self.counts.negative), 0
        ).astype(np.int8)

    @cached_property
    def leaning(self) -> FloatArray:
        """Share of the readable samples that agree; NaN without any: (T, S, V, 2)."""
        readable = self.counts.readable
        return np.asarray(
            self.counts.positive / np.where(readable == 0, np.nan, readable), dtype=np.float64
        )

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Exact 95 % bootstrap interval of the leaning; NaN without readable samples: two (T, S, V,
        2).
        """
        return leaning_interval(self.counts.positive, self.counts.readable)

    @cached_property
    def clear(self) -> Codes:
        """Whether a prompt leans clearly to one side; void where the wording has no text: (T, S, V,
        2).
        """
        rule: ReliabilityRule = "coded" if self.options.rule == "coded" else "printed"
        limits = {"low": self.options.low, "high": self.options.high}
        return self._of_texts(
            is_reliable(self.counts.positive, self.counts.readable, rule, **limits)
        )

    def _of_texts(self, clear: BoolArray) -> Codes:
        """Return whether prompts lean clearly as codes."""
        void = self.voids.blank[None, :, :, None] | self.counts.excluded_prompts
        return np.where(void, VOID, codes(clear, self.enough)).astype(np.int8)

    @cached_property
    def related(self) -> Codes:
        """Whether a wording's stance stands to the original's as it should, in printed order: (T,
        S, V).

        Void where it is the original's own prompt. The original's own entry says only whether it
        has a stance.
        """
        original, known = (array[..., PRINTED, None] for array in self.originals)
        found = codes(
            self.stances[..., PRINTED] * original == self.counts.signs,
            self.enough[..., PRINTED] & known,
        )
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
            tested = conjunction(
                self.related[..., places], 2, expected, VOID if self.voids.missing else INSUFFICIENT
            )
            found[test] = np.where(self.counts.excluded_statements, VOID, tested).astype(np.int8)
        found["label_order"] = self._label_order()
        found[ALL] = conjunction(np.stack([found[test] for test in self.options.tests]), 0)
        found[TEMPLATE] = self._template()
        return found

    def _label_order(self) -> Codes:
        stances, enough = self.originals
        found = codes(stances[..., PRINTED] * stances[..., SWAPPED] == 1, enough.all(axis=-1))
        return np.where(self.voids.label_order, VOID, found).astype(np.int8)

    def _template(self) -> Codes:
        """Two known prompts without a common stance settle it; otherwise every template has to be
        known.
        """
        stances, enough = (array[..., PRINTED] for array in self.originals)
        if len(self.counts.templates) < 2:
            return np.full(len(self.counts.statements), INSUFFICIENT, dtype=np.int8)
        tie = (enough & (stances == 0)).any(axis=0) & (enough.sum(axis=0) > 1)
        differ = (stances == 1).any(axis=0) & (stances == -1).any(axis=0)
        excluded = self.counts.excluded_originals
        found = np.where(
            tie | differ, FAIL, np.where((enough | excluded).all(axis=0), PASS, INSUFFICIENT)
        )
        alone = excluded.any(axis=0) & ((~excluded).sum(axis=0) < 2)
        return np.where(self.voids.template | alone, VOID, found).astype(np.int8)

    def over_templates(self, test: str) -> Codes:
        """Return each statement's verdict on a test under all templates together: (S,)."""
        found = self.verdicts(test)
        return found if test == TEMPLATE else conjunction(found, 0)

    def passing(self, test: str) -> Estimate:
        """Return the share of statements that pass under all templates, of those for which the test
        is not void. Those of which too little is known do not pass, as published.
        """
        found = self.over_templates(test)
        tested = int((found != VOID).sum())
        if not tested:
            return Estimate(
                float("nan"), float("nan"), float("nan"), 0, len(found), "no test can fail"
            )
        share = int((found == PASS).sum()) / tested
        low, high = wilson_of_share(share, tested)
        return Estimate(share, low, high, tested, len(found) - tested, interval="share of items")

    def summary(self) -> tuple[SummaryRow, ...]:
        """Return how many statements pass each test, per template (section 6.2, Figure 3)."""
        rows = []
        for test in (*TESTS, ALL, TEMPLATE):
            found = np.atleast_2d(self.verdicts(test))
            passed, failed, insufficient, void = (
                tuple(int(n) for n in (found == code).sum(axis=1))
                for code in (PASS, FAIL, INSUFFICIENT, VOID)
            )
            rows.append(
                SummaryRow(test, passed, failed, insufficient, self.share_of(passed, void), void)
            )
        return tuple(rows)

    def share_of(self, passed: Sequence[float], void: Sequence[int]) -> MeanSd:
        """Return the share of statements that pass, of those for which the test is not void: over
        templates.
        """
        tested = (len(self.counts.statements) - np.array(void)).astype(np.float64)
        return mean_sd(np.array(passed) / np.where(tested > 0, tested, np.nan))

    def shares(self) -> tuple[TemplateShares, ...]:
        """Return per template how many answers count and could be read, and how many agree (Figure
        6).
        """
        counts = self.counts
        totals, readable, positive = (
            array.sum(axis=(1, 2, 3))
            for array in (counts.counted, counts.readable, counts.positive)
        )
        return tuple(
            TemplateShares(
                name, int(n), float(r / n) if n else np.nan, float(p / r) if r else np.nan
            )
            for name, n, r, p in zip(self.counts.templates, totals, readable, positive, strict=True)
        )

    def reason(self, statement: str, template: str, test: str) -> str:
        """Say in one sentence why a statement has its verdict. Raises UnknownName."""

        return reason(self, self.counts.statement(statement), self.counts.template(template), test)

    def side(self, at: tuple[int, ...]) -> str:
        """Say what a prompt's answers say: `negation agree 29/30`, the side of most readable
        ones.
        """

        return side(self, at)

    def lacking(self, at: tuple[int, ...]) -> str:
        """Say what is missing of a prompt's answers; empty where nothing is."""

        return lacking(self, at)

    def unclear(self, at: tuple[int, ...]) -> str:
        """Say why a prompt does not lean clearly to one side."""

        return unclear(self, at)

    def items(self, template: str | None = None) -> tuple[StatementVerdicts, ...]:
        """Return a row for each statement: over all templates, or under one."""

        return items(self, None if template is None else self.counts.template(template))

    def variants(self, statement: str, template: str) -> tuple[VariantRow, ...]:
        """Return a row for each wording of a statement in each label order under one template."""

        return wordings(self, self.counts.statement(statement), self.counts.template(template))

    def agreement(self, only: Only | None = None) -> tuple[AgreementRow, ...]:
        """Return the κ between the original and its variants over statements (section 6.2, Table
        2).

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
        """Return per statement the agreement over conditions, for `paraphrase`, `negation` or
        `opposite`.
        """
        if test not in KIND_OF_TEST:
            raise UnknownName(
                f"no agreement per statement for {test!r}. Available: {', '.join(KIND_OF_TEST)}"
            )
        return self._item_agreements[test]

    @cached_property
    def _item_agreements(self) -> dict[str, ItemAgreement]:
        from workbench.audits.reliability.agreement import ItemAgreement

        return {test: ItemAgreement(self, kind) for test, kind in KIND_OF_TEST.items()}
