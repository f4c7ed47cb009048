"""What an auditor should look at in the verdicts of a run: failing by one wording, close calls, too
few answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.codes import FAIL, INSUFFICIENT, PASS
from workbench.audits.reliability.counting import ALL, PRINTED, SWAPPED, Int8Array
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.options import KIND_OF_TEST
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.names import plural
from workbench.domain.readings import Readings
from workbench.domain.reviews import Judged, Signal
from workbench.domain.statements import VariantKind
from workbench.stats.arrays import BoolArray
from workbench.stats.proportions import ReliabilityRule, is_reliable


@dataclass(frozen=True, eq=False, slots=True)
class Limits:
    """Which prompts of a report one answer decides, found for all of them at once: (T, S, V, 2)."""

    close: BoolArray
    turns: BoolArray | None
    """those that one answer on the other side would make clear or unclear; None: probabilities were
    computed"""

    @classmethod
    def of(cls, report: ReliabilityReport) -> Limits:
        counts, options = report.counts, report.options
        swapped = [
            place
            for place, variant in enumerate(counts.variants)
            if variant.kind is not VariantKind.ORIGINAL
        ]
        turns = None
        if isinstance(report, ExactReport):
            gaps = (
                np.abs(report.leaning - limit) <= 1 / options.beside
                for limit in (options.low, options.high)
            )
            found = np.logical_or(*gaps) & report.enough
        else:
            turns = _turns(report)
            few = (counts.readable == report.needs) | (counts.readable == report.needs - 1)
            found = (turns | few) & (counts.total > 0) & counts.exists[None, :, :, None]
        found[:, :, swapped, SWAPPED] = False
        return cls(np.asarray(found), turns)


@dataclass(frozen=True, eq=False, slots=True)
class Stakes:
    """What one answer more or less to a single prompt near its limit would turn, found by judging
    anew.
    """

    tests: Mapping[str, BoolArray]
    "test -> where it would have another verdict: (T, S)"
    verdict: BoolArray
    "statements that would have another verdict over all tests and templates: (S,)"

    @classmethod
    def of(cls, report: ReliabilityReport, limits: Limits) -> Stakes:
        tests = {
            test: np.zeros(report.verdicts(test).shape, dtype=np.bool_)
            for test in report.options.tests
        }
        verdict = np.zeros(len(report.counts.statements), dtype=np.bool_)
        for other in _one_answer_on(report, limits):
            for test, turned in tests.items():
                turned |= other.verdicts(test) != report.verdicts(test)
            verdict |= other.over_templates(ALL) != report.over_templates(ALL)
        return cls(tests, verdict)


def _one_answer_on(report: ReliabilityReport, limits: Limits) -> Iterator[ReliabilityReport]:
    """Yield the report as it were with one answer to a wording, in one order of the labels, on the
    other side, come or gone; of every statement and template at once, as their tests do not rest on
    each other.
    """
    counts = report.counts
    for place in np.ndindex(limits.close.shape[2:]):
        only = np.zeros_like(limits.close)
        only[:, :, place[0], place[1]] = limits.close[:, :, place[0], place[1]]
        if not only.any():
            continue
        for up, down in ((1, -1), (-1, 1), (-1, 0), (0, -1), (1, 0), (0, 1)):
            if isinstance(report, ExactReport):
                if up + down == 0:
                    mass, step = report.mass, up / report.options.beside
                    named = mass.positive + mass.negative
                    share = np.clip(np.nan_to_num(report.leaning) + step, 0, 1)
                    moved = (
                        np.where(only, share * named, mass.positive),
                        np.where(only, (1 - share) * named, mass.negative),
                    )
                    yield replace(report, mass=replace(mass, positive=moved[0], negative=moved[1]))
                continue
            positive, negative = counts.positive + up * only, counts.negative + down * only
            possible = (positive >= 0) & (negative >= 0) & (positive + negative <= counts.total)
            yield replace(
                report,
                counts=replace(
                    counts,
                    positive=np.where(possible, positive, counts.positive).astype(
                        counts.positive.dtype
                    ),
                    negative=np.where(possible, negative, counts.negative).astype(
                        counts.negative.dtype
                    ),
                ),
            )


def _at_stake(report: ReliabilityReport, stakes: Stakes, statement: int) -> Iterator[Signal]:
    """Yield which verdicts of a statement one answer would turn."""
    found = [
        (
            test.replace("_", " "),
            [
                name
                for name, turns in zip(report.counts.templates, at[:, statement], strict=True)
                if turns
            ],
        )
        for test, at in stakes.tests.items()
        if at.ndim > 1
    ]
    if n := sum(len(under) for _, under in found):
        said = ", ".join(
            f"{test} ({len(under)})" if len(under) > 1 else test for test, under in found if under
        )
        yield Signal("tests", f"{plural(n, 'test')}: {said}", size=n)
    if stakes.verdict[statement]:
        yield Signal("verdict", "over all tests")


def failing_tests(report: ReliabilityReport, statement: int) -> int:
    """Return how many tests under a template a statement fails."""
    found = (report.verdicts(test) for test in report.options.tests)
    return max(1, sum(int((of[:, statement] == FAIL).sum()) for of in found if of.ndim > 1))


def judged(store: Store, run: Run, readings: Readings) -> Judged:
    """Return the statements of a run with what speaks for looking at them. Raises UsageError."""
    return of_report(run_verdicts(store, run, readings=readings).report)


def of_report(report: ReliabilityReport) -> Judged:
    """Return the same of a report."""
    verdicts, limits = report.over_templates(ALL), Limits.of(report)
    statements, stakes = report.counts.statements, Stakes.of(report, limits)
    signals = {
        ref: (
            *_one_wording(report, verdicts, place),
            *_at_stake(report, stakes, place),
            *_near(report, limits, place),
            *_insufficient(report, place),
        )
        for place, ref in enumerate(statements)
    }
    passed = frozenset(ref for place, ref in enumerate(statements) if verdicts[place] == PASS)
    return Judged(statements, passed, {ref: found for ref, found in signals.items() if found})


def known(report: ReliabilityReport) -> Judged:
    """Return the statements of a report with one bare signal where `of_report` has any, for who
    counts them alone.
    """
    limits, verdicts = Limits.of(report), report.over_templates(ALL)
    stakes = Stakes.of(report, limits)
    found = limits.close.any(axis=(0, 2, 3)) | stakes.verdict | (verdicts == INSUFFICIENT)
    for at in (at for at in stakes.tests.values() if at.ndim > 1):
        found |= at.any(axis=0)
    signals = {
        ref: (Signal("near", ""),)
        for place, ref in enumerate(report.counts.statements)
        if found[place] or next(_one_wording(report, verdicts, place), None) is not None
    }
    return Judged(report.counts.statements, None, signals)


def _one_wording(
    report: ReliabilityReport, verdicts: Int8Array, statement: int
) -> Iterator[Signal]:
    """Yield that a statement fails by one wording only, under whichever templates."""
    if verdicts[statement] != FAIL:
        return
    failing: dict[str, list[str]] = {}
    for template, name in enumerate(report.counts.templates):
        for variant in _failing(report, template, statement):
            failing.setdefault(variant, []).append(name)
    if len(failing) == 1:
        ((variant, under),) = failing.items()
        few = dict.fromkeys(
            str(report.counts.variants[v])
            for _, v in np.argwhere(
                ~report.enough[:, statement, :, PRINTED] & report.counts.exists[statement]
            )
        )
        too_few = f"; too few answers to test {', '.join(few)}" if few else ""
        yield Signal(
            "one_wording",
            f"{variant} alone, under {', '.join(under)}{too_few}",
            (variant,),
            size=failing_tests(report, statement),
        )


def _failing(report: ReliabilityReport, template: int, statement: int) -> Iterator[str]:
    """Yield the wordings by which a statement fails a test that counts, each once."""
    counts, tests = report.counts, report.options.tests
    kinds = {KIND_OF_TEST[test] for test in tests if test in KIND_OF_TEST}
    for place in np.flatnonzero(counts.exists[statement]):
        variant = counts.variants[place]
        unclear = "sampling" in tests and report.clear[template, statement, place, PRINTED] == FAIL
        contrary = (
            variant.kind in kinds
            and counts.signs[statement, place] != 0
            and report.related[template, statement, place] == FAIL
        )
        first = variant.kind is VariantKind.ORIGINAL and "label_order" in tests
        if (
            unclear
            or contrary
            or (first and report.verdicts("label_order")[template, statement] == FAIL)
        ):
            yield str(variant)


def near(report: ReliabilityReport) -> BoolArray:
    """Return which prompts one answer decides: (T, S, V, 2).

    One answer that says the other side would turn clear into unclear or back, or one readable
    answer more or less would make enough of too few or back. Where probabilities were computed, a
    leaning is near a limit if it is no further off than what one sample weighs (1 / 30). Prompts
    with swapped labels count where a test looks at them: the original's.
    """
    return Limits.of(report).close


def _turns(report: ReliabilityReport) -> BoolArray:
    """Return which prompts one answer that says the other side would make clear or unclear: (T, S,
    V, 2).
    """
    counts, options = report.counts, report.options
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    k, n = counts.positive, counts.readable

    def clear(positive: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> BoolArray:
        return is_reliable(np.clip(positive, 0, n), n, rule, options.low, options.high)

    now = clear(k)
    return np.asarray(report.enough & ((clear(k - 1) != now) | (clear(k + 1) != now)))


def _near(report: ReliabilityReport, limits: Limits, statement: int) -> Iterator[Signal]:
    places = np.argwhere(limits.close[:, statement])
    if not len(places):
        return
    at = [(int(t), statement, int(v), int(order)) for t, v, order in places]
    at.sort(key=lambda one: _just_enough(report, limits, one))
    shown = "; ".join(
        f"{report.counts.templates[one[0]]} {report.counts.prompt_name(one)} "
        f"{_close_by(report, limits, one)}"
        for one in at[:2]
    )
    more = f" and {len(at) - 2} more" if len(at) > 2 else ""
    variants = tuple(dict.fromkeys(str(report.counts.variants[one[2]]) for one in at))
    marked = [one for one in at if not _just_enough(report, limits, one)]
    prompts = tuple(
        (str(report.counts.variants[v]), report.counts.templates[t], order == SWAPPED)
        for t, _, v, order in marked
    )
    close_by = tuple(_close_by(report, limits, one) for one in marked)
    yield Signal(
        "near",
        f"{plural(len(at), 'prompt')}: {shown}{more}",
        variants,
        prompts=prompts,
        prompt_words=close_by,
        size=len(at),
    )


def _close_by(report: ReliabilityReport, limits: Limits, at: tuple[int, ...]) -> str:
    """Say what a prompt's answers say, and what is needed: `disagree 26/30`, `disagree 6/6, 7
    needed`.
    """
    said = report.side(at).removeprefix(f"{report.counts.prompt_name(at)} ")
    if _just_enough(report, limits, at):
        return f"{said}, just enough"
    if limits.turns is not None and not limits.turns[at]:
        return f"{said}, {report.needs[at]} needed"
    return said


def _just_enough(report: ReliabilityReport, limits: Limits, at: tuple[int, ...]) -> bool:
    """Return whether a prompt is near a limit only because one answer fewer would be too few: none
    is missing.
    """
    return (
        limits.turns is not None
        and not limits.turns[at]
        and bool(report.counts.readable[at] >= report.needs[at])
    )


def _insufficient(report: ReliabilityReport, statement: int) -> Iterator[Signal]:
    if report.over_templates(ALL)[statement] == INSUFFICIENT:
        found = report.verdicts(ALL)[:, statement] == INSUFFICIENT
        under = [name for name, few in zip(report.counts.templates, found, strict=True) if few]
        yield Signal("insufficient", f"under {', '.join(under)}", size=max(1, len(under)))
