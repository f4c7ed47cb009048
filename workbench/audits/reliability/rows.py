"""A reliability report as rows and sentences, for screens, tables and exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.audits.codes import FAIL, INSUFFICIENT, PASS, VOID, verdict
from workbench.audits.reliability.counts import ALL, PRINTED, SWAPPED, TEMPLATE
from workbench.audits.reliability.options import EVERY
from workbench.domain.readings import Stance
from workbench.domain.statements import Relation, VariantKind
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UnknownName

if TYPE_CHECKING:
    from workbench.audits.reliability.judge import Report  # for types: a report imports this module on use

_STANCES = {1: Stance.AGREE, -1: Stance.DISAGREE, 0: None}
_NOTHING_TO_COMPARE = {
    "paraphrase": "no paraphrase in the instrument",
    "negation": "no negation in the instrument",
    "opposite": "no opposite in the instrument",
}


@dataclass(frozen=True, slots=True)
class ItemRow:
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
    "what the stance on the original asks for; None for the original itself and where that has no stance"
    tests: tuple[Decides, ...]
    truncated: int = 0
    left_out: int = 0
    "answers that an auditor's ruling leaves out"
    "of all answers, those that were cut off in thought"


def items(report: Report, template: int | None) -> tuple[ItemRow, ...]:
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
        ItemRow(
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


def wordings(report: Report, statement: int, template: int) -> tuple[VariantRow, ...]:
    """Return a row for each wording that exists, first all in printed order, then all that were asked swapped."""
    rows = []
    for order in (PRINTED, SWAPPED):
        for place in np.flatnonzero(report.counts.exists[statement]):
            at = (template, statement, int(place), order)
            if order == PRINTED or report.counts.total[at] or report.counts.has_failed(at):
                rows.append(_variant_row(report, at))
    return tuple(rows)


def _variant_row(report: Report, at: tuple[int, int, int, int]) -> VariantRow:
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


def _decides(report: Report, at: tuple[int, int, int, int]) -> Iterator[Decides]:
    template, statement, place, order = at
    kind = report.counts.variants[place].kind
    if order == PRINTED:
        yield Decides("sampling", verdict(report.clear[at]))
        if kind is not VariantKind.ORIGINAL and report.counts.signs[statement, place]:
            yield Decides(kind.value, verdict(report.related[template, statement, place]))
    elif kind is VariantKind.ORIGINAL:
        yield Decides("label_order", verdict(report.verdicts("label_order")[template, statement]))


def reason(report: Report, statement: int, template: int, test: str) -> str:
    """Say in one sentence, with numbers, why a statement has its verdict under a template."""
    found = report.verdicts(test)
    if test == TEMPLATE:
        return _template_reason(report, statement)
    code = int(found[template, statement])
    if code == VOID:
        return _void_reason(report, statement, test)
    if test == ALL:
        return _all_reason(report, statement, template, code)
    if test == "sampling":
        return _sampling_reason(report, statement, template, code)
    original = report.counts.places(VariantKind.ORIGINAL)
    if not original or not report.counts.exists[statement, original[0]]:
        return "no original in the instrument"
    if test == "label_order":
        ends = [(template, statement, original[0], order) for order in (PRINTED, SWAPPED)]
        return _pair_reason(report, ends[0], ends[1], code, Relation.SAME)
    return _wording_reason(report, statement, template, test, code)


def _void_reason(report: Report, statement: int, test: str) -> str:
    """Say why a test cannot fail."""
    if nothing := _nothing_to_compare(report, statement, test):
        return nothing
    places = report.counts.places(VariantKind.ORIGINAL)
    if test == ALL:
        return f"no test can fail: {', '.join(report.options.tests)}"
    if test == "sampling":
        return "no wording has a text"
    if report.voids.blank[statement, places[0]]:
        return "the original has no text"
    if test == "label_order":
        return "both label orders give the same text, so the test cannot fail"
    return f"every {test} is empty or identical to the original, so the test compares a prompt with itself"


def _nothing_to_compare(report: Report, statement: int, test: str) -> str:
    """Say that a test has no wording to compare with the original; empty where it has one, or looks at others."""
    if test not in _NOTHING_TO_COMPARE:
        return ""
    counts = report.counts
    there = [p for p in counts.places(VariantKind(test)) if counts.exists[statement, p]]
    if any(counts.signs[statement, p] for p in there):
        return ""
    return "it has no expected stance (free)" if there else _NOTHING_TO_COMPARE[test]


def _wording_reason(report: Report, statement: int, template: int, test: str, code: int) -> str:
    """Explain by the first wording that decides."""
    if nothing := _nothing_to_compare(report, statement, test):
        return nothing
    counts = report.counts
    places = [p for p in counts.places(VariantKind(test)) if counts.exists[statement, p] and counts.signs[statement, p]]
    first = (template, statement, counts.places(VariantKind.ORIGINAL)[0], PRINTED)
    tested = [p for p in places if int(report.related[template, statement, p]) != VOID]
    deciding = next(p for p in tested if int(report.related[template, statement, p]) == code)
    relation = Relation.SAME if counts.signs[statement, deciding] > 0 else Relation.FLIPPED
    sentence = _pair_reason(report, first, (template, statement, deciding, PRINTED), code, relation)
    return f"{sentence} ({len(tested)} paraphrases)" if code == PASS and len(tested) > 1 else sentence


def _pair_reason(report: Report, first: tuple[int, ...], second: tuple[int, ...], code: int, relation: Relation) -> str:
    if code == INSUFFICIENT:
        return "; ".join(filter(None, (report.lacking(at) for at in (first, second))))
    wanted = "flip" if relation is Relation.FLIPPED else "be the same"
    outcome = ("flips" if relation is Relation.FLIPPED else "the same") if code == PASS else f"expected to {wanted}"
    return f"{report.side(first)}, {report.side(second)}: {outcome}"


def side(report: Report, at: tuple[int, ...]) -> str:
    """`negation agree 29/30`: the side of most readable answers and how many they are."""
    positive, readable = int(report.counts.positive[at]), int(report.counts.readable[at])
    stance = _STANCES[int(np.sign(2 * positive - readable))]  # also of too few answers, which settle nothing
    word = stance.value if stance else "tie"
    return f"{report.counts.prompt_name(at)} {word} {max(positive, readable - positive)}/{readable}"


def lacking(report: Report, at: tuple[int, ...]) -> str:
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
            f"{name}: {total} of {planned} answers{cut} ({int(counts.positive[at])} agree, {int(counts.negative[at])} "
            "disagree) do not settle the verdict by these rules; run again without --until-settled asks for the rest"
        )
    return f"{name}: only {int(counts.readable[at])} of {total} readable{cut}{drawn}, {int(report.needs[at])} needed"


def _sampling_reason(report: Report, statement: int, template: int, code: int) -> str:
    places = np.flatnonzero(report.counts.exists[statement])
    if not places.size:
        return "no wording in the instrument"
    if code == PASS:
        tested = int((~report.voids.blank[statement, places]).sum())
        return f"all {tested} wordings lean clearly to one side"
    deciding = next(int(p) for p in places if int(report.clear[template, statement, p, PRINTED]) == code)
    at = (template, statement, deciding, PRINTED)
    return report.lacking(at) if code == INSUFFICIENT else report.unclear(at)


def unclear(report: Report, at: tuple[int, ...]) -> str:
    """Say with which interval a prompt does not lean clearly."""
    low, high = (f"{100 * end[at]:.0f}" for end in report.interval)
    options, name = report.options, report.counts.prompt_name(at)
    limits = [options.high] if options.rule == "coded" else [options.low, options.high]
    band = "–".join(f"{100 * limit:g}" for limit in limits)
    missed = f"should not include {band} %" if len(limits) == 1 else f"should not reach into the {band} % band"
    return (
        f"{name} agree {report.counts.positive[at]}/{report.counts.readable[at]}, 95 % interval"
        f" {low}-{high} %: {missed}"
    )


def _all_reason(report: Report, statement: int, template: int, code: int) -> str:
    codes = {test: int(report.verdicts(test)[template, statement]) for test in report.options.tests}
    deciding = ", ".join(test for test, found in codes.items() if found == code)
    alone = ", the only test that can fail here" * (sum(found != VOID for found in codes.values()) == 1)
    return f"{ {PASS: 'passes', FAIL: 'fails', INSUFFICIENT: 'insufficient for'}[code] } {deciding}{alone}"


def _template_reason(report: Report, statement: int) -> str:
    counts = report.counts
    if len(counts.templates) < 2:
        return "one template"
    if report.voids.template[statement]:
        return f"the {len(counts.templates)} templates give the same text, so the test cannot fail"
    stances, enough = (array[:, statement, PRINTED] for array in report.originals)
    groups = {
        "agree": enough & (stances == 1),
        "disagree": enough & (stances == -1),
        "tie": enough & (stances == 0),
        "too few readable answers": ~enough,
    }
    parts = []
    for name, members in groups.items():
        under = [template for template, member in zip(counts.templates, members, strict=True) if member]
        if under:
            parts.append(f"{name} under {', '.join(under) if len(under) <= 2 else f'{len(under)} templates'}")
    return "; ".join(parts)
