"""Signals for auditors in a run's verdicts: one failing wording, close calls, few answers."""

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
from workbench.domain.readings import ReadingChoice
from workbench.domain.reviews import RunSignals, Signal
from workbench.domain.statements import VariantKind
from workbench.stats.arrays import BoolArray
from workbench.stats.proportions import ReliabilityRule, is_reliable


@dataclass(frozen=True, eq=False, slots=True)
class Limits:
    """The prompts of a report that one answer decides, computed for all at once: (T, S, V, 2)."""

    close: BoolArray
    turns: BoolArray | None
    """prompts that one answer on the other side would make clear or unclear; None: probabilities
    were computed"""

    @classmethod
    def of(cls, report: ReliabilityReport) -> Limits:
        """Return the prompts of a report that one answer decides."""
        counts, options = report.counts, report.options
        swapped = [
            index
            for index, variant in enumerate(counts.variants)
            if variant.kind is not VariantKind.ORIGINAL
        ]
        turns = None
        if isinstance(report, ExactReport):
            gaps = (
                np.abs(report.leaning - limit) <= 1 / options.beside
                for limit in (options.low, options.high)
            )
            is_close = np.logical_or(*gaps) & report.has_stance_data
        else:
            turns = _turns(report)
            is_at_minimum = (counts.readable == report.required_by_prompt) | (
                counts.readable == report.required_by_prompt - 1
            )
            is_close = (
                (turns | is_at_minimum) & (counts.total > 0) & counts.exists[None, :, :, None]
            )
        is_close[:, :, swapped, SWAPPED] = False
        return cls(np.asarray(is_close), turns)


@dataclass(frozen=True, eq=False, slots=True)
class Stakes:
    """The verdicts that one answer more or less to a single prompt near its limit would change.

    They are computed by judging anew.
    """

    tests: Mapping[str, BoolArray]
    "test -> whether it would have another verdict: (T, S)"
    verdict: BoolArray
    "whether a statement would have another verdict over all tests and templates: (S,)"

    @classmethod
    def of(cls, report: ReliabilityReport, limits: Limits) -> Stakes:
        """Return the verdicts of a report that one answer would change."""
        tests = {
            test: np.zeros(report.verdicts(test).shape, dtype=np.bool_)
            for test in report.options.tests
        }
        verdict = np.zeros(len(report.counts.statements), dtype=np.bool_)
        for changed_report in _one_answer_on(report, limits):
            for test, is_changed in tests.items():
                is_changed |= changed_report.verdicts(test) != report.verdicts(test)
            verdict |= changed_report.over_templates(ALL) != report.over_templates(ALL)
        return cls(tests, verdict)


MOVES = ((1, -1), (-1, 1), (-1, 0), (0, -1), (1, 0), (0, 1))
"changes of the answers for and against by one answer: on the other side, removed or added"


def _one_answer_on(report: ReliabilityReport, limits: Limits) -> Iterator[ReliabilityReport]:
    """Yield the report with one answer to a wording, in one label order, moved, added or removed.

    It is so for every statement and template at once, as their tests do not depend on each other.
    """
    for variant, order in np.ndindex(limits.close.shape[2:]):
        is_moved = np.zeros_like(limits.close)
        is_moved[:, :, variant, order] = limits.close[:, :, variant, order]
        if not is_moved.any():
            continue
        if isinstance(report, ExactReport):
            yield from _moved_probabilities(report, is_moved)
        else:
            yield from _moved_answers(report, is_moved)


def _moved_probabilities(report: ExactReport, is_moved: BoolArray) -> Iterator[ReliabilityReport]:
    """Yield the report with the weight of one sample moved to the other side of these prompts."""
    mass = report.mass
    total = mass.positive + mass.negative
    leaning = np.nan_to_num(report.leaning)
    for sign in (1, -1):
        share = np.clip(leaning + sign / report.options.beside, 0, 1)
        positive = np.where(is_moved, share * total, mass.positive)
        negative = np.where(is_moved, (1 - share) * total, mass.negative)
        yield replace(report, mass=replace(mass, positive=positive, negative=negative))


def _moved_answers(report: ReliabilityReport, is_moved: BoolArray) -> Iterator[ReliabilityReport]:
    """Yield the report after each of the moves of one answer to these prompts, where possible."""
    counts = report.counts
    for change, change_against in MOVES:
        positive = counts.positive + change * is_moved
        negative = counts.negative + change_against * is_moved
        is_possible = (positive >= 0) & (negative >= 0) & (positive + negative <= counts.total)
        positive = np.where(is_possible, positive, counts.positive)
        negative = np.where(is_possible, negative, counts.negative)
        moved = replace(
            counts,
            positive=positive.astype(counts.positive.dtype),
            negative=negative.astype(counts.negative.dtype),
        )
        yield replace(report, counts=moved)


def _at_stake(report: ReliabilityReport, stakes: Stakes, statement: int) -> Iterator[Signal]:
    """Yield signals on the verdicts of a statement that one answer would change."""
    templates_by_test = [
        (
            test.replace("_", " "),
            [
                name
                for name, would_change in zip(
                    report.counts.templates, changes[:, statement], strict=True
                )
                if would_change
            ],
        )
        for test, changes in stakes.tests.items()
        if changes.ndim > 1
    ]
    if n_tests := sum(len(names) for _, names in templates_by_test):
        tests_text = ", ".join(
            f"{test} ({len(names)})" if len(names) > 1 else test
            for test, names in templates_by_test
            if names
        )
        yield Signal("tests", f"{plural(n_tests, 'test')}: {tests_text}", size=n_tests)
    if stakes.verdict[statement]:
        yield Signal("verdict", "over all tests")


def failing_tests(report: ReliabilityReport, statement: int) -> int:
    """Return how many tests under a template a statement fails."""
    codes_by_test = (report.verdicts(test) for test in report.options.tests)
    return max(
        1,
        sum(int((codes[:, statement] == FAIL).sum()) for codes in codes_by_test if codes.ndim > 1),
    )


def judged(store: Store, run: Run, readings: ReadingChoice) -> RunSignals:
    """Return the statements of a run with their signals for review. Raises UsageError."""
    return of_report(run_verdicts(store, run, readings=readings).report)


def of_report(report: ReliabilityReport) -> RunSignals:
    """Return the statements of a report with their signals for review."""
    verdicts, limits = report.over_templates(ALL), Limits.of(report)
    statements, stakes = report.counts.statements, Stakes.of(report, limits)
    signals = {
        ref: (
            *_one_wording(report, verdicts, row),
            *_at_stake(report, stakes, row),
            *_near(report, limits, row),
            *_insufficient(report, row),
        )
        for row, ref in enumerate(statements)
    }
    passed = frozenset(ref for row, ref in enumerate(statements) if verdicts[row] == PASS)
    return RunSignals(
        statements,
        passed,
        {ref: statement_signals for ref, statement_signals in signals.items() if statement_signals},
    )


def count_signals(report: ReliabilityReport) -> RunSignals:
    """Return the statements of a report, with one bare signal for those that `of_report` gives any.

    It is for callers that only count them.
    """
    limits, verdicts = Limits.of(report), report.over_templates(ALL)
    stakes = Stakes.of(report, limits)
    has_signal = limits.close.any(axis=(0, 2, 3)) | stakes.verdict | (verdicts == INSUFFICIENT)
    for changes in (changes for changes in stakes.tests.values() if changes.ndim > 1):
        has_signal |= changes.any(axis=0)
    signals = {
        ref: (Signal("near", ""),)
        for row, ref in enumerate(report.counts.statements)
        if has_signal[row] or next(_one_wording(report, verdicts, row), None) is not None
    }
    return RunSignals(report.counts.statements, None, signals)


def _one_wording(
    report: ReliabilityReport, verdicts: Int8Array, statement: int
) -> Iterator[Signal]:
    """Yield a signal if a statement fails by only one wording, under any templates."""
    if verdicts[statement] != FAIL:
        return
    failing: dict[str, list[str]] = {}
    for template, name in enumerate(report.counts.templates):
        for variant in _failing(report, template, statement):
            failing.setdefault(variant, []).append(name)
    if len(failing) == 1:
        ((variant, templates),) = failing.items()
        too_few_variants = dict.fromkeys(
            str(report.counts.variants[index])
            for _, index in np.argwhere(
                ~report.has_stance_data[:, statement, :, PRINTED] & report.counts.exists[statement]
            )
        )
        note = (
            f"; too few answers to test {', '.join(too_few_variants)}" if too_few_variants else ""
        )
        yield Signal(
            "one_wording",
            f"{variant} alone, under {', '.join(templates)}{note}",
            (variant,),
            size=failing_tests(report, statement),
        )


def _failing(report: ReliabilityReport, template: int, statement: int) -> Iterator[str]:
    """Yield the wordings by which a statement fails a test that counts, each once."""
    counts, tests = report.counts, report.options.tests
    kinds = {KIND_OF_TEST[test] for test in tests if test in KIND_OF_TEST}
    for index in np.flatnonzero(counts.exists[statement]):
        variant = counts.variants[index]
        unclear = "sampling" in tests and report.clear[template, statement, index, PRINTED] == FAIL
        is_contrary = (
            variant.kind in kinds
            and counts.signs[statement, index] != 0
            and report.related[template, statement, index] == FAIL
        )
        decides_order = variant.kind is VariantKind.ORIGINAL and "label_order" in tests
        if (
            unclear
            or is_contrary
            or (decides_order and report.verdicts("label_order")[template, statement] == FAIL)
        ):
            yield str(variant)


def near(report: ReliabilityReport) -> BoolArray:
    """Return which prompts one answer decides: (T, S, V, 2).

    One answer decides a prompt if on the other side it would turn clear into unclear or back, or if
    one readable answer more or less would turn enough into too few or back. If probabilities were
    computed, a leaning is near a limit if its distance is at most the weight of one sample (1 /
    30). Prompts with swapped labels count if a test looks at them: those of the original.
    """
    return Limits.of(report).close


def _turns(report: ReliabilityReport) -> BoolArray:
    """Return which prompts one answer on the other side makes clear or unclear: (T, S, V, 2)."""
    counts, options = report.counts, report.options
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    k, n = counts.positive, counts.readable

    def clear(positive: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> BoolArray:
        return is_reliable(np.clip(positive, 0, n), n, rule, options.low, options.high)

    is_clear = clear(k)
    return np.asarray(
        report.has_stance_data & ((clear(k - 1) != is_clear) | (clear(k + 1) != is_clear))
    )


@dataclass(frozen=True, eq=False, slots=True)
class ClosePrompt:
    """A prompt near a limit."""

    report: ReliabilityReport
    limits: Limits
    index: tuple[int, int, int, int]

    @property
    def template(self) -> str:
        """The name of its template."""
        return self.report.counts.templates[self.index[0]]

    @property
    def variant(self) -> str:
        """The name of its wording."""
        return str(self.report.counts.variants[self.index[2]])

    @property
    def is_swapped(self) -> bool:
        """Whether its labels are swapped."""
        return self.index[3] == SWAPPED

    @property
    def name(self) -> str:
        """Its template, wording and label order."""
        return f"{self.template} {self.report.counts.prompt_name(self.index)}"

    @property
    def _is_at_minimum(self) -> bool:
        """Whether only the number of its answers is near a limit."""
        return self.limits.turns is not None and not self.limits.turns[self.index]

    @property
    def has_just_enough(self) -> bool:
        """Whether it is near a limit only because it has just enough answers.

        One answer fewer would be too few, but none is missing.
        """
        readable = self.report.counts.readable[self.index]
        required = self.report.required_by_prompt[self.index]
        return self._is_at_minimum and bool(readable >= required)

    @property
    def reason(self) -> str:
        """Its answers and what it needs, as in `disagree 6/6, 7 needed`."""
        name = self.report.counts.prompt_name(self.index)
        text = self.report.side(self.index).removeprefix(f"{name} ")
        if self.has_just_enough:
            return f"{text}, just enough"
        if self._is_at_minimum:
            return f"{text}, {self.report.required_by_prompt[self.index]} needed"
        return text


def _near(report: ReliabilityReport, limits: Limits, statement: int) -> Iterator[Signal]:
    """Yield a signal on the prompts of a statement near a limit."""
    prompts = [
        ClosePrompt(report, limits, (int(template), statement, int(variant), int(order)))
        for template, variant, order in np.argwhere(limits.close[:, statement])
    ]
    if not prompts:
        return
    prompts.sort(key=lambda prompt: prompt.has_just_enough)
    examples = "; ".join(f"{prompt.name} {prompt.reason}" for prompt in prompts[:2])
    rest_text = f" and {len(prompts) - 2} more" if len(prompts) > 2 else ""
    decided = [prompt for prompt in prompts if not prompt.has_just_enough]
    yield Signal(
        "near",
        f"{plural(len(prompts), 'prompt')}: {examples}{rest_text}",
        tuple(dict.fromkeys(prompt.variant for prompt in prompts)),
        prompts=tuple((prompt.variant, prompt.template, prompt.is_swapped) for prompt in decided),
        prompt_words=tuple(prompt.reason for prompt in decided),
        size=len(prompts),
    )


def _insufficient(report: ReliabilityReport, statement: int) -> Iterator[Signal]:
    """Yield a signal if a statement has too few answers."""
    if report.over_templates(ALL)[statement] == INSUFFICIENT:
        is_insufficient = report.verdicts(ALL)[:, statement] == INSUFFICIENT
        names = [
            name
            for name, is_few in zip(report.counts.templates, is_insufficient, strict=True)
            if is_few
        ]
        yield Signal("insufficient", f"under {', '.join(names)}", size=max(1, len(names)))
